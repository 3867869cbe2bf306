//! The engine that integrates along a contour.

use std::sync::Arc;

use super::{Cost, Engine, Tolerance, machine, request::Prepared, session::Session};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        contour::Contours,
        question::{Kernel, Question},
        sieve,
    },
    numeric::twofold,
};

/// Its name.
pub(crate) const NAME: &str = "contour";

/// The trapezoid rule on a contour of the sum.
#[derive(Debug)]
pub(crate) struct Contour {
    contours: Arc<Contours>,
}

impl Contour {
    pub(crate) fn new(contours: &Arc<Contours>) -> Self {
        Contour { contours: Arc::clone(contours) }
    }

    /// Nodes that a budget of windows finds to be enough, of the contour that the request takes; `None` where it does not settle that.
    fn nodes_within(&self, request: &Prepared, budget: u64) -> Option<i64> {
        let question = &request.question;
        if request.epsilon().is_none() {
            return self.contours.nodes(question, request.digits(), budget);
        }
        let search = self.contours.search(question).within(budget);
        let choice = self.contours.choose(question.clone(), &search, request.digits()).ok()?;
        self.contours.nodes_of(&choice, request.digits(), budget)
    }

    /// On its lattice, or unbounded where that has no end that is worth reaching.
    fn rough(
        &self,
        mut question: Question,
        mut search: Option<crate::loss::search::ContourSearch>,
        session: &Session,
        most_seconds: f64,
    ) -> Result<Option<(crate::loss::rough::Rough, crate::loss::rough::RoughContour)>> {
        loop {
            let begun = search.take().unwrap_or_else(|| self.contours.search(&question));
            let swept = self.contours.rough(&question, begun, session.is_shared(), most_seconds);
            if question.step.is_none() || !matches!(swept, Err(Error::Unsweepable { .. })) {
                return swept;
            }
            question = question.on_line();
        }
    }
}

/// The seconds of a contour of a number of nodes.
pub(crate) fn seconds(nodes: f64, groups: usize, digits: u32) -> f64 {
    let is_quick = digits <= twofold::ball::MOST_DIGITS;
    nodes * groups as f64 * if is_quick { machine::PER_FACTOR } else { machine::PER_FACTOR_OF_MANY_BITS }
}

impl Engine for Contour {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Nothing where the session holds a contour that serves, or where all nodes of a short period are summed at once. Else what a limited
    /// sweep finds.
    fn cost(&self, request: &Prepared, session: &Session, worth: f64) -> Cost {
        if request.epsilon().is_some_and(|epsilon| session.holds(None, epsilon, request.digits())) {
            return Cost::NOTHING;
        }
        if request.period().is_short() {
            return Cost::NOTHING;
        }
        let groups = self.contours.sum().groups();
        // The windows of one Gaussian group are not intersected with others: a few of them settle it.
        let is_simple = matches!(groups, [group] if !group.law.has_bounded_loss());
        let (groups, worth) = (groups.len(), if is_simple { worth.max(machine::QUICK) } else { worth });
        if worth <= 0.0 {
            return Cost::Unknown;
        }
        let budget = (worth / 2.0 / machine::PER_WINDOW).min(sieve::BUDGET as f64) as u64;
        match self.nodes_within(request, budget).map(|nodes| seconds(nodes as f64, groups, request.digits())) {
            Some(seconds) if seconds <= worth => Cost::seconds(seconds),
            _ => Cost::Unknown,
        }
    }

    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        let digits = request.digits();
        let Some(epsilon) = request.epsilon() else {
            return Ok(self.contours.by_question(&request.question, digits)?.clamp(0.0, 1.0));
        };
        if let Some(answer) = session.hockey_stick(&self.contours, None, epsilon, digits) {
            return Ok(answer);
        }
        let choice = self.contours.choose(request.question.clone(), &request.search, digits)?;
        match session.first(&self.contours, None, &choice, digits)? {
            Some(answer) => Ok(answer),
            None => self.contours.hockey_stick(choice, digits),
        }
    }

    fn approximate(&self, request: &Prepared, session: &Session, tolerance: Tolerance) -> Result<Option<f64>> {
        /// Upper bound on the relative contribution of the images of the main lobe that are omitted.
        const LEFT_OUT: f64 = 1e-13;
        let complement = self.contours.small_rest(&request.question).filter(|_| tolerance.negligible < 1.0);
        let mut question = complement.unwrap_or_else(|| request.question.clone());
        let mut search = self.contours.search(&question);
        if question.step.is_some() && (request.period().is_long() || search.images() < LEFT_OUT) {
            question = question.on_line();
            search = self.contours.search(&question);
        }
        let swept = self.rough(question.clone(), Some(search), session, tolerance.most_seconds)?;
        let Some((rough, contour)) = swept else { return Ok(None) };
        let kernel: Kernel = question.kernel;
        if rough.is_resolved {
            session.keep(contour);
        }
        Ok(rough.is_resolved.then(|| rough.ln_hockey_stick(kernel)))
    }
}
