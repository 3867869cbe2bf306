//! The engine that lists the losses of some groups and asks another evaluator about the rest.

use rug::Rational;

use super::{SumEvaluator, engines::MOST_SECONDS};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        atoms::Query,
        contour::{Contours, Period},
        limit::Limit,
        neighbors::Neighbors,
        question::Question,
        split::{self, Rest, Split},
    },
    numeric::{Enclosure, twofold},
};

impl SumEvaluator {
    /// The same from a list of the coarse losses and the profile of the rest, whatever else would do: for comparing engines.
    /// `None` where the groups are not far enough apart, or the list would be too long.
    pub fn hockey_stick_by_split(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        by_splits(&self.splits_that_serve(epsilon, digits), epsilon, digits, Limit::of(digits))
    }

    /// The same from a longer list, whatever else would do: for where no other engine serves, and for comparing engines.
    pub fn hockey_stick_by_long_split(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        by_splits(&self.quickest_splits(epsilon, digits), epsilon, digits, Limit::of(digits))
    }

    /// The splits whose lists are not too long, the quickest first.
    pub(super) fn quickest_splits(&self, epsilon: &Rational, digits: u32) -> Vec<&Split> {
        self.long_splits(epsilon, digits).into_iter().map(|(split, _)| split).collect()
    }

    /// The splits of a sum whose groups are far apart, where neither all nodes of a period nor all atoms are quickly gone through.
    pub(super) fn splits_for(&self, epsilon: &Rational, digits: u32, period: Period) -> Vec<&Split> {
        let splits = if period.is_short() { Vec::new() } else { self.splits_that_serve(epsilon, digits) };
        let is_quick = || self.is_quick(&Query::HockeyStick(epsilon.clone()), digits, period);
        if splits.is_empty() || is_quick() { Vec::new() } else { splits }
    }

    /// The splits of a sum whose groups are far apart.
    pub(super) fn splits_that_serve(&self, epsilon: &Rational, digits: u32) -> Vec<&Split> {
        self.splits().iter().filter(|split| split.serves(epsilon, digits)).collect()
    }

    /// The splits whose lists are not too long, and the seconds that a question takes, about: the quickest first.
    fn long_splits(&self, epsilon: &Rational, digits: u32) -> Vec<(&Split, f64)> {
        let splits = if self.is_rest { &[][..] } else { self.splits() };
        let serving = splits.iter().filter_map(|split| Some((split, split.seconds(epsilon, digits)?)));
        let mut serving: Vec<_> = serving.collect();
        serving.sort_by(|a, b| a.1.total_cmp(&b.1));
        serving
    }

    /// The quickest of them.
    pub(super) fn long_split(&self, epsilon: &Rational, digits: u32) -> Option<(&Split, f64)> {
        self.long_splits(epsilon, digits).into_iter().next()
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
    fn enclose(&self, epsilon: &Rational, digits: u32, neighbors: &Neighbors) -> Result<(Enclosure, bool)> {
        let Answer { value, met, .. } = self.one_of_many(epsilon, digits, Some(neighbors))?;
        Ok((value, met))
    }

    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_hockey_stick_approx(epsilon)
    }

    fn seconds(&self, epsilon: &Rational, digits: u32) -> f64 {
        /// Of a short period; with more digits than two doubles hold; and in any case else.
        const OF_SHORT: f64 = 2e-4;
        const OF_SHORT_TO_MANY_DIGITS: f64 = 4e-3;
        const AT_LEAST: f64 = 1e-3;
        let question = Question::hockey_stick(self.sum(), epsilon);
        let period = Contours::period(&self.contours.search(&question), digits);
        if self.is_gaussian() || period.is_short() {
            return if digits > twofold::ball::MOST_DIGITS { OF_SHORT_TO_MANY_DIGITS } else { OF_SHORT };
        }
        let splits = self.splits_for(epsilon, digits, period);
        if let Some(seconds) = splits.iter().filter_map(|split| split.seconds(epsilon, digits)).min_by(f64::total_cmp) {
            return AT_LEAST + seconds;
        }
        let listed = self.atoms.as_ref().map(|atoms| atoms.cost(&Query::HockeyStick(epsilon.clone()), digits));
        let listed = listed.map(|cost| cost.seconds).filter(|seconds| *seconds <= MOST_SECONDS);
        let smoothed = self.smoothed().and_then(|smoothed| smoothed.seconds(epsilon, digits));
        AT_LEAST + listed.into_iter().chain(smoothed).fold(MOST_SECONDS, f64::min)
    }
}

/// The answer of the first of some splits that meets the width, quick ones before one that takes long; else of the first one. `None` where their
/// lists would be too long.
///
/// Where the threshold lies in a gap between clusters of losses, no tilt puts masses there: a list of the other groups needs ever more bits, and
/// one of fewer groups does not.
pub(super) fn by_splits(splits: &[&Split], epsilon: &Rational, digits: u32, limit: Limit) -> Result<Option<Answer>> {
    let mut best: Option<Answer> = None;
    for most_seconds in patience(splits) {
        for split in splits {
            match split.hockey_stick(epsilon, digits, *most_seconds, limit) {
                Ok(answer) if answer.met => return Ok(Some(answer)),
                Ok(answer) => best = Some(best.unwrap_or(answer)),
                Err(error @ (Error::Contradiction { .. } | Error::Stopped)) => return Err(error),
                Err(_) => {}
            }
        }
    }
    Ok(best)
}

/// ln of it in doubles, from the first one that tells.
pub(super) fn ln_approx_by_splits(splits: &[&Split], epsilon: &Rational, limit: Limit) -> Option<f64> {
    let by = |most: &f64| splits.iter().find_map(|split| split.ln_hockey_stick_approx(epsilon, *most, limit));
    patience(splits).iter().find_map(by)
}

/// How many seconds a finer list may take, as often as all are tried: less at first where there are others.
fn patience(splits: &[&Split]) -> &'static [f64] {
    if splits.len() > 1 { &[split::QUICK_SECONDS, split::MOST_SECONDS] } else { &[split::MOST_SECONDS] }
}
