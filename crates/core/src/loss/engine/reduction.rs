//! The reduction of groups of nearly the same step to one group, before all engines.

use std::{fmt, sync::OnceLock};

use rug::Rational;

use super::{
    Cost, Engine, Tolerance,
    request::{Prepared, Request},
    session::Session,
};
use crate::{
    error::{Error, Result},
    loss::{answer::Answer, merged::Merged, smoothed::Interval, sum::LossSum},
};

/// The sum in which groups are merged, by whichever engines answer about it.
pub(crate) trait Reduced: fmt::Debug + Send + Sync {
    /// Encloses a number of it.
    fn enclose(&self, request: &Request, session: &Session) -> Result<Answer>;
    /// ln of its hockey stick in doubles, an approximation without proof.
    fn approximate(&self, epsilon: &Rational, session: &Session, tolerance: Tolerance) -> Result<f64>;
    /// The losses strictly between two with their masses under Q, known to about exp(ln_error) in all; `None` where that would take too long, or
    /// more than `most` are found.
    fn between(&self, from: &Rational, to: &Rational, ln_error: f64, most: f64, session: &Session) -> Option<Interval>;
}

/// The sum in which fine groups of nearly the same step are one.
#[derive(Debug)]
pub(crate) struct CommonStep {
    sum: LossSum,
    /// Makes the evaluator of the merged sum.
    of_merged: fn(LossSum) -> Box<dyn Reduced>,
    /// `None` inside if no groups can be merged.
    found: OnceLock<Option<(Merged, Box<dyn Reduced>)>>,
}

impl CommonStep {
    pub(crate) fn new(sum: &LossSum, of_merged: fn(LossSum) -> Box<dyn Reduced>) -> Self {
        CommonStep { sum: sum.clone(), of_merged, found: OnceLock::new() }
    }

    fn get(&self) -> Option<&(Merged, Box<dyn Reduced>)> {
        let make = || {
            let merged = Merged::new(&self.sum)?;
            let reduced = (self.of_merged)(merged.sum().clone());
            Some((merged, reduced))
        };
        self.found.get_or_init(make).as_ref()
    }
}

impl Engine for CommonStep {
    fn name(&self) -> &'static str {
        "common-step reduction"
    }

    fn is_reduction(&self) -> bool {
        true
    }

    /// Nothing where there is one that proves as many digits, but for a short period of a contour, which takes less.
    fn cost(&self, request: &Prepared, _: &Session, _: f64) -> Cost {
        let serves = || self.get().is_some_and(|(merged, _)| merged.suffices_for(request.digits()));
        if request.epsilon().is_some() && !request.period().is_short() && serves() {
            Cost::NOTHING
        } else {
            Cost::NotServed
        }
    }

    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        let (Some((merged, reduced)), Some(epsilon)) = (self.get(), request.epsilon()) else {
            return Err(Error::NoLattice);
        };
        let digits = request.digits();
        let of_reduced = Request { at: epsilon.clone(), ..request.request.to(Merged::needed(digits)) };
        let answer = reduced.enclose(&of_reduced, session.of_reduced())?;
        let between =
            |from: &Rational, to: &Rational, ln_error, most| reduced.between(from, to, ln_error, most, session);
        merged.hockey_stick(&answer, epsilon, digits, between)?.ok_or(Error::NoLattice)
    }

    fn approximate(&self, request: &Prepared, session: &Session, tolerance: Tolerance) -> Result<Option<f64>> {
        /// With a deviation of the remaining loss below this, the merged sum agrees with the groups in doubles.
        const DEVIATION: f64 = 1e-14;
        let Some((_, reduced)) = self.get().filter(|(merged, _)| merged.deviation() < DEVIATION) else {
            return Ok(None);
        };
        Ok(Some(reduced.approximate(&request.request.at, session.of_reduced(), tolerance)?))
    }
}
