//! The reduction of groups of nearly the same step to one group, before all engines.

use std::sync::OnceLock;

use rug::Rational;

use super::{
    Cost, Engine, Tolerance,
    request::{Prepared, Request},
    scheduler,
    session::Session,
};
use crate::{
    error::{Error, Result},
    loss::{answer::Answer, evaluator::SumEvaluator, merged::Merged, sum::LossSum},
};

/// The sum in which fine groups of nearly the same step are one, and its evaluator.
#[derive(Debug)]
pub(crate) struct CommonStep {
    sum: LossSum,
    /// `None` inside if no groups can be merged.
    reduced: OnceLock<Option<Box<(Merged, SumEvaluator)>>>,
}

impl CommonStep {
    pub(crate) fn new(sum: &LossSum) -> Self {
        CommonStep { sum: sum.clone(), reduced: OnceLock::new() }
    }

    fn get(&self) -> Option<&(Merged, SumEvaluator)> {
        let make = || {
            let merged = Merged::new(&self.sum)?;
            let evaluator = SumEvaluator::new(merged.sum().clone());
            Some(Box::new((merged, evaluator)))
        };
        self.reduced.get_or_init(make).as_deref()
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
        let (Some((merged, evaluator)), Some(epsilon)) = (self.get(), request.epsilon()) else {
            return Err(Error::NoLattice);
        };
        let digits = request.digits();
        let of_reduced = Request { at: epsilon.clone(), ..request.request.to(Merged::needed(digits)) };
        let answer = scheduler::enclose(evaluator, &of_reduced, session.of_reduced())?;
        let between = |from: &Rational, to: &Rational, ln_error, most| {
            evaluator.with_noise().between(from, to, ln_error, most, session)
        };
        merged.hockey_stick(&answer, epsilon, digits, between)?.ok_or(Error::NoLattice)
    }

    fn approximate(&self, request: &Prepared, session: &Session, tolerance: Tolerance) -> Result<Option<f64>> {
        /// With a deviation of the remaining loss below this, the merged sum agrees with the groups in doubles.
        const DEVIATION: f64 = 1e-14;
        let Some((_, evaluator)) = self.get().filter(|(merged, _)| merged.deviation() < DEVIATION) else {
            return Ok(None);
        };
        Ok(Some(scheduler::approximate(evaluator, &request.request.at, session.of_reduced(), tolerance)?))
    }
}
