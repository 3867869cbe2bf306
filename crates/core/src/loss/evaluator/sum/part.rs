//! A sum as a part of another: the remaining groups of a conditioning, and the sum to which groups are merged.

use rug::Rational;

use super::SumEvaluator;
use crate::{
    error::Result,
    loss::{
        answer::Answer,
        engine::{
            Tolerance, machine,
            reduction::Reduced,
            request::{Prepared, Request},
            scheduler,
            session::Session,
        },
        smoothed::Interval,
        split::Rest,
    },
    numeric::{Enclosure, twofold},
};

/// The remaining groups of a conditioning are evaluated as any sum.
impl Rest for SumEvaluator {
    fn enclose(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<(Enclosure, bool)> {
        let Answer { value, met, .. } = self.one_of_many(epsilon, digits, session)?;
        Ok((value, met))
    }

    fn ln_approx(&self, epsilon: &Rational, session: &Session) -> Result<f64> {
        let single = Session::single(session.deadline(), session.stop());
        self.ln_hockey_stick_approx_together(epsilon, &single, Tolerance::OF_VALUE)
    }

    fn seconds(&self, epsilon: &Rational, digits: u32) -> f64 {
        let request = Request::hockey_stick(epsilon, digits);
        let Ok(prepared) = Prepared::new(self.contours(), &request) else { return f64::INFINITY };
        if self.sum().is_continuous() || prepared.period().is_short() {
            let is_quick = digits <= twofold::ball::MOST_DIGITS;
            return if is_quick { machine::OF_SHORT_PERIOD } else { machine::OF_SHORT_PERIOD_OF_MANY_BITS };
        }
        if self.is_conditioned(&prepared)
            && let Some(seconds) = self.splits.seconds_far_apart(&prepared)
        {
            return machine::LEAST_OF_REMAINING + seconds;
        }
        let listed = self.atoms.as_ref().map(|atoms| atoms.cost(&request.query(), digits).seconds);
        let listed = listed.filter(|seconds| *seconds <= machine::MOST_OF_ENUMERATION);
        let smoothed = self.with_noise.seconds(&prepared);
        machine::LEAST_OF_REMAINING + listed.into_iter().chain(smoothed).fold(machine::MOST_OF_ENUMERATION, f64::min)
    }
}

/// So is the sum to which groups are merged.
impl Reduced for SumEvaluator {
    fn enclose(&self, request: &Request, session: &Session) -> Result<Answer> {
        scheduler::enclose(&self.engines, request, session)
    }

    fn approximate(&self, epsilon: &Rational, session: &Session, tolerance: Tolerance) -> Result<f64> {
        self.ln_hockey_stick_approx_together(epsilon, session, tolerance)
    }

    fn between(&self, from: &Rational, to: &Rational, ln_error: f64, most: f64, session: &Session) -> Option<Interval> {
        self.losses_between(from, to, ln_error, most, session)
    }
}
