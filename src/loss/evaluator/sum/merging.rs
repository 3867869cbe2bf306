//! Answers by the sum in which fine groups of nearly the same step are taken as one.

use rug::Rational;

use super::{SumEvaluator, engines::Asked};
use crate::{
    error::Result,
    loss::{answer::Answer, limit::Limit, merged::Merged, neighbors::Neighbors},
};

impl SumEvaluator {
    /// A hockey stick by the sum in which fine groups of nearly the same step are taken as one, whatever else would do: for comparing engines. `None` where
    /// there is none, or where it tells nothing.
    pub fn hockey_stick_by_merging(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        self.by_merged(epsilon, digits, Asked::ONCE.until(Limit::of(digits)), None)
    }

    /// The same by the sum in which groups are merged; `None` where there is none, or where it tells nothing.
    pub(super) fn by_merged(
        &self,
        epsilon: &Rational,
        digits: u32,
        asked: Asked,
        neighbors: Option<&Neighbors>,
    ) -> Result<Option<Answer>> {
        let Some((merged, evaluator)) = self.merged().filter(|(merged, _)| merged.tells(digits)) else {
            return Ok(None);
        };
        let neighbors = neighbors.map(Neighbors::merged);
        let answer = match evaluator.answer_as_asked(epsilon, Merged::needed(digits), asked, neighbors) {
            Err(error) if error.is_beyond_reach() => return Ok(None),
            answer => answer?,
        };
        let between = |from: &Rational, to: &Rational, ln_error, most| {
            evaluator.smoothed()?.between(from, to, ln_error, most, &self.stop)
        };
        merged.hockey_stick(&answer, epsilon, digits, between)
    }

    /// The sum in which groups are merged, and its evaluator.
    pub(super) fn merged(&self) -> Option<&(Merged, SumEvaluator)> {
        let make = || {
            let merged = Merged::new(self.sum())?;
            let evaluator = SumEvaluator::new(merged.sum().clone()).until(&self.stop);
            Some(Box::new((merged, evaluator)))
        };
        self.merged.get_or_init(make).as_deref()
    }
}
