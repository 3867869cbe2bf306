//! The engine that lists the losses of some groups and asks another evaluator about the rest.

use rug::Rational;

use super::{
    SumEvaluator,
    engines::{QUICK_SECONDS, SECONDS_PER_LISTED},
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        atoms::{Atoms, Query},
        contour::Period,
        split::{Rest, Split},
    },
    numeric::Enclosure,
};

impl SumEvaluator {
    /// The same from a list of the coarse losses and the profile of the rest, whatever else would do: for comparing engines.
    /// `None` where the groups are not far enough apart, or the list would be too long.
    pub fn hockey_stick_by_split(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        self.split_that_serves(epsilon, digits).map_or(Ok(None), |split| by_split(split, epsilon, digits))
    }

    /// The same from a longer list, whatever else would do: for where no other engine serves, and for comparing engines.
    pub fn hockey_stick_by_long_split(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        self.long_split(epsilon, digits).map_or(Ok(None), |(split, _)| by_split(split, epsilon, digits))
    }

    /// The split of a sum whose groups are far apart, where neither all nodes of a period nor all atoms are quickly gone through.
    pub(super) fn split_for(&self, epsilon: &Rational, digits: u32, period: Period) -> Option<&Split> {
        if period.is_short() {
            return None;
        }
        let listed = |atoms: &Atoms| atoms.cost(&Query::HockeyStick(epsilon.clone()), digits).seconds;
        let split = self.split_that_serves(epsilon, digits)?;
        let quick = self.atoms.as_ref().is_some_and(|atoms| listed(atoms) <= QUICK_SECONDS);
        (!quick).then_some(split)
    }

    /// The split of a sum whose groups are far apart.
    pub(super) fn split_that_serves(&self, epsilon: &Rational, digits: u32) -> Option<&Split> {
        self.splits().iter().find(|split| split.serves(epsilon, digits))
    }

    /// The split with the shortest list, and the seconds that a question takes, about, without what the rest takes; `None` where all
    /// are too long.
    pub(super) fn long_split(&self, epsilon: &Rational, digits: u32) -> Option<(&Split, f64)> {
        let splits = if self.is_rest { &[][..] } else { self.splits() };
        let serving = splits.iter().filter_map(|split| Some((split, split.serves_alone(epsilon, digits)?)));
        let shortest = serving.min_by(|a, b| a.1.total_cmp(&b.1));
        shortest.map(|(split, losses)| (split, losses * SECONDS_PER_LISTED))
    }

    fn splits(&self) -> &[Split] {
        self.splits.get_or_init(|| {
            let rest = |rest| SumEvaluator { is_rest: true, ..SumEvaluator::new(rest).until(&self.stop) };
            Split::all(self.sum(), rest)
        })
    }
}

/// The rest of a split is asked as any sum.
impl Rest for SumEvaluator {
    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<(Enclosure, bool)> {
        let Answer { value, met, .. } = self.hockey_stick_of_many(epsilon, digits)?;
        Ok((value, met))
    }

    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_hockey_stick_approx(epsilon)
    }
}

/// The answer of a split; `None` where its list would be too long.
pub(super) fn by_split(split: &Split, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
    match split.hockey_stick(epsilon, digits) {
        Ok(answer) => Ok(Some(answer)),
        Err(error @ (Error::Contradiction { .. } | Error::Stopped)) => Err(error),
        Err(_) => Ok(None),
    }
}
