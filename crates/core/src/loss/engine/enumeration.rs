//! The engine that enumerates all losses with their masses.

use std::sync::Arc;

use rug::Rational;

use super::{
    Cost, Engine, Tolerance, contour, machine,
    request::{Functional, Prepared},
    session::Session,
};
use crate::{
    error::Result,
    loss::{answer::Answer, atoms::Atoms, sum::LossSum},
    numeric::effort::{self, Effort},
};

/// Its name.
pub(crate) const NAME: &str = "enumeration";

/// Lists of all losses.
#[derive(Debug)]
pub(crate) struct Enumeration {
    atoms: Arc<Atoms>,
}

impl Enumeration {
    pub(crate) fn new(atoms: &Arc<Atoms>) -> Self {
        Enumeration { atoms: Arc::clone(atoms) }
    }
}

/// Whether losses are so far apart that few of them make up an answer: enumeration then finds it at once, and a contour loses it among the others.
pub(crate) fn is_coarse(sum: &LossSum) -> bool {
    const COARSE: u32 = 2;
    sum.step().is_some_and(|step| *step > COARSE)
}

impl Engine for Enumeration {
    fn name(&self) -> &'static str {
        NAME
    }

    /// From the lengths of the lists. Lists that would take too long or do not fit into memory cost more than a contour of unknown cost.
    fn cost(&self, request: &Prepared, session: &Session, _: f64) -> Cost {
        let cost = self.atoms.cost(&request.request.query(), request.digits());
        if cost.seconds.is_nan() || !cost.seconds.is_finite() {
            return Cost::NotServed;
        }
        let (alone, shared) =
            (cost.seconds, (cost.seconds - cost.seconds_each) / request.request.amortized_over + cost.seconds_each);
        if cost.seconds > machine::MOST_OF_ENUMERATION || !self.atoms.holds(&cost) {
            let late = alone.max(machine::MOST_OF_ENUMERATION.next_up());
            return Cost::Seconds { alone: late, shared: late };
        }
        // The lists of a request close to this one are there already.
        if session.has_prepared(self.name(), request.digits()) {
            return Cost::Seconds { alone: 0.0, shared };
        }
        // A period that is not much longer than a short one is summed before long lists are made.
        let half_period = contour::seconds(request.period().nodes / 2.0, request.sum.groups().len(), request.digits());
        if alone <= machine::QUICK && alone > half_period {
            return Cost::Seconds { alone: machine::QUICK.next_up(), shared };
        }
        Cost::Seconds { alone, shared }
    }

    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        let (at, digits) = (&request.request.at, request.digits());
        let listed = match request.request.functional {
            Functional::HockeyStick => self.atoms.hockey_stick(at, digits),
            Functional::UpperTail => self.atoms.upper_tail(at, digits),
            Functional::TiltedTail => self.atoms.tilted_tail(at, digits),
        };
        // Lists that do not fit are refused before they are made.
        let listed = listed?;
        let cost = self.atoms.cost(&request.request.query(), digits);
        // The lists of an earlier request of the same answer serve this one.
        let makes_lists = session.makes_lists(self.atoms.place_of(&request.request.query(), digits));
        effort::spend(Effort::of_seconds(if makes_lists { cost.seconds } else { cost.seconds_each }));
        Ok(listed.into())
    }

    fn approximate(&self, request: &Prepared, _: &Session, tolerance: Tolerance) -> Result<Option<f64>> {
        let Some(epsilon) = request.epsilon() else { return Ok(None) };
        match self.atoms.ln_hockey_stick_approx(epsilon, tolerance.most_seconds) {
            Err(error) if error.is_fatal() => Err(error),
            found => Ok(found.ok().flatten()),
        }
    }

    fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Option<Answer>> {
        match self.atoms.tradeoff(alpha, digits) {
            Ok(listed) => Ok(Some(listed.into())),
            Err(error) if error.is_beyond_reach() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::Error, loss::testing::sum, numeric::rational::parse};

    /// Lists that turn out not to fit leave the answer to others; an alpha that is no probability stays an error.
    #[test]
    fn lists_that_do_not_fit_are_no_error() {
        let sum = sum(&["40x30"]);
        let by = |most_bytes, alpha| {
            let atoms = Arc::new(Atoms::within(&sum, most_bytes).unwrap());
            Enumeration::new(&atoms).tradeoff(&parse(alpha).unwrap(), 12)
        };
        assert!(by(1e8, "0.01").unwrap().unwrap().met);
        assert!(by(1e3, "0.01").unwrap().is_none());
        assert!(matches!(by(1e3, "1.01"), Err(Error::OutOfRange { .. })));
    }
}
