//! The engine that conditions on the losses of the coarse groups.

use std::sync::{Arc, OnceLock};

use super::{Cost, Engine, Tolerance, machine, request::Prepared, session::Session};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        split::{self, Rest, Split},
        sum::LossSum,
    },
};

/// The ways to divide a sum into coarse groups and remaining ones: where the groups are furthest apart first.
#[derive(Debug)]
pub(crate) struct Splits {
    sum: LossSum,
    /// Makes the evaluator of the remaining groups of a way.
    rest_of: fn(LossSum) -> Box<dyn Rest>,
    found: OnceLock<Vec<Split>>,
}

impl Splits {
    pub(crate) fn new(sum: &LossSum, rest_of: fn(LossSum) -> Box<dyn Rest>) -> Arc<Self> {
        Arc::new(Splits { sum: sum.clone(), rest_of, found: OnceLock::new() })
    }

    fn all(&self) -> &[Split] {
        self.found.get_or_init(|| Split::all(&self.sum, self.rest_of))
    }

    /// Whether it is known that there is none.
    pub(crate) fn is_known_to_have_none(&self) -> bool {
        self.found.get().is_some_and(Vec::is_empty)
    }

    /// Those whose groups are far apart: they enumerate few losses.
    fn far_apart(&self, request: &Prepared) -> Vec<&Split> {
        let Some(epsilon) = request.epsilon() else { return Vec::new() };
        self.all().iter().filter(|split| split.serves(epsilon, request.digits())).collect()
    }

    /// Those that enumerate not too many, with the seconds of a request: the quickest first.
    fn affordable(&self, request: &Prepared) -> Vec<(&Split, f64)> {
        let Some(epsilon) = request.epsilon() else { return Vec::new() };
        let seconds = |split| Some((split, Split::seconds(split, epsilon, request.digits())?));
        let mut serving: Vec<_> = self.all().iter().filter_map(seconds).collect();
        serving.sort_by(|a, b| a.1.total_cmp(&b.1));
        serving
    }

    /// The seconds of a request by groups that are far apart; `None` where none are.
    pub(crate) fn seconds_far_apart(&self, request: &Prepared) -> Option<f64> {
        let epsilon = request.epsilon()?;
        let seconds = |split: &&Split| split.seconds(epsilon, request.digits());
        self.far_apart(request).iter().filter_map(seconds).min_by(f64::total_cmp)
    }

    /// Whether some serve whose groups are far apart.
    pub(crate) fn has_far_apart(&self, request: &Prepared) -> bool {
        !self.far_apart(request).is_empty()
    }
}

/// Coarse groups that are far apart from the remaining ones: hardly any of their losses is near the threshold.
#[derive(Debug)]
pub(crate) struct FarApart(pub Arc<Splits>);

/// Any division into coarse and remaining groups: more losses are enumerated, and the remaining groups are evaluated at more of them.
#[derive(Debug)]
pub(crate) struct Conditioning(pub Arc<Splits>);

impl Engine for FarApart {
    fn name(&self) -> &'static str {
        "conditioning on groups far apart"
    }

    /// Nothing where it serves, but for a short period of a contour, which takes less.
    fn cost(&self, request: &Prepared, _: &Session, _: f64) -> Cost {
        let serves = !request.period().is_short() && self.0.has_far_apart(request);
        if serves { Cost::NOTHING } else { Cost::NotServed }
    }

    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        enclose(&self.0.far_apart(request), request, session)
    }

    fn approximate(&self, request: &Prepared, session: &Session, _: Tolerance) -> Result<Option<f64>> {
        let (Some(epsilon), splits) = (request.epsilon(), self.0.far_apart(request)) else { return Ok(None) };
        let by = |most: &f64| splits.iter().find_map(|split| split.ln_hockey_stick_approx(epsilon, *most, session));
        Ok(patience(&splits).iter().find_map(by))
    }
}

impl Engine for Conditioning {
    fn name(&self) -> &'static str {
        "conditioning"
    }

    fn cost(&self, request: &Prepared, _: &Session, _: f64) -> Cost {
        // Not quick even where it is predicted to be: the engines that are quick are more certain of it.
        let late = |seconds: f64| Cost::Seconds { alone: seconds.max(machine::QUICK.next_up()), shared: seconds };
        self.0.affordable(request).first().map_or(Cost::NotServed, |(_, seconds)| late(*seconds))
    }

    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        let splits: Vec<&Split> = self.0.affordable(request).into_iter().map(|(split, _)| split).collect();
        enclose(&splits, request, session)
    }

    fn approximate(&self, request: &Prepared, session: &Session, _: Tolerance) -> Result<Option<f64>> {
        let (Some(epsilon), Some((split, _))) = (request.epsilon(), self.0.affordable(request).into_iter().next())
        else {
            return Ok(None);
        };
        let is_staircase = split::has_steps(&self.0.sum);
        let most = if is_staircase { machine::FINER_LIST } else { machine::FINER_LIST_AT_FIRST };
        Ok(split.ln_hockey_stick_approx(epsilon, most, session))
    }
}

/// The answer of the first split that meets the goal, quick ones before one that takes long; else of the first one.
///
/// Where the threshold lies in a gap between clusters of losses, no tilt puts masses there: a list of the other groups needs ever more bits, and
/// one of fewer groups does not.
fn enclose(splits: &[&Split], request: &Prepared, session: &Session) -> Result<Answer> {
    let Some(epsilon) = request.epsilon() else { return Err(Error::NoLattice) };
    let goal = request.goal();
    let mut best: Option<Answer> = None;
    for most_seconds in patience(splits) {
        for split in splits {
            match split.hockey_stick(epsilon, goal.digits, *most_seconds, session) {
                // Where the complement does not matter, the value alone is to be as narrow as requested.
                Ok(answer) if answer.met || !goal.complement && answer.value.is_tight(goal.digits) => {
                    return Ok(Answer { met: true, ..answer });
                }
                Ok(answer) => best = Some(best.unwrap_or(answer)),
                Err(error) if error.is_fatal() => return Err(error),
                Err(_) => {}
            }
        }
    }
    best.ok_or(Error::NoLattice)
}

/// How many seconds a finer list may take, as often as all are tried: less at first where there are others.
fn patience(splits: &[&Split]) -> &'static [f64] {
    if splits.len() > 1 { &[machine::FINER_LIST_AT_FIRST, machine::FINER_LIST] } else { &[machine::FINER_LIST] }
}
