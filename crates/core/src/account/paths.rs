//! The worst path of a record: its place in the geographic hierarchy decides which counts it changes.
//!
//! A record that changes leaves the counts on path p and enters those on path q, so a pair of paths composes both. A record that is added
//! enters one path only.

mod lines;
mod many;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rug::Rational;

pub use self::many::ManyWays;
use super::{
    Composition, DecidingRows,
    definition::{Defined, Definition},
    profile::Account,
    tradeoff,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Pair},
        evaluator::{Evaluator, FamilyEvaluator},
        family::{Family, Units},
        infinite::InfiniteLoss,
        parameter::{Epsilon, Rho},
        stop::Stop,
        sum::LossSum,
    },
};

/// The largest number of pairs of paths that are answered one by one, beside counts as they differ between two neighbors.
#[doc(hidden)]
pub const MOST_PAIRS: usize = 200;

/// One composition, or the worst case of many paths.
#[derive(Clone, Debug)]
pub enum Whole {
    /// Every record changes the same counts.
    Composition(Composition),
    /// The counts that a record changes depend on its path.
    WorstPath(WorstPath),
    /// They depend on more ways than can be composed.
    ManyWays(Box<ManyWays<Whole>>),
}

impl Whole {
    /// The rows of perturbation tables with the largest delta at epsilon ([`Composition::deciding_rows`]).
    pub fn deciding_rows(&self, epsilon: &Epsilon) -> Result<Option<DecidingRows>> {
        match self {
            Whole::Composition(one) => one.deciding_rows(epsilon),
            Whole::WorstPath(_) | Whole::ManyWays(_) => Ok(None),
        }
    }

    /// This account, whose requests end with [`Error::Stopped`] once `stop` is set; so do those of accounts derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        match self {
            Whole::Composition(one) => Whole::Composition(one.until(stop)),
            Whole::WorstPath(worst) => Whole::WorstPath(worst.until(stop)),
            Whole::ManyWays(_) => self.clone(),
        }
    }

    /// This account with the question of which it is the account, where that is known ([`Composition::defined_by`]).
    pub fn compared_with(self, definition: Option<Definition>) -> Self {
        match (self, definition) {
            (Whole::Composition(one), Some(definition)) => Whole::Composition(one.defined_by(definition)),
            (Whole::WorstPath(worst), Some(definition)) => Whole::WorstPath(worst.defined_by(definition)),
            // Of more ways than can be composed there is no list to compare with.
            (Whole::ManyWays(many), Some(_)) => Whole::ManyWays(many),
            (whole, None) => whole,
        }
    }
}

impl Whole {
    /// Whether rho is a formula of the parameters of all noise, and no upper bound on logarithms.
    pub fn has_exact_rho(&self) -> bool {
        match self {
            Whole::Composition(one) => one.has_exact_rho(),
            Whole::WorstPath(worst) => worst.paths.iter().chain(&worst.beside).all(Composition::has_exact_rho),
            Whole::ManyWays(many) => many.some().has_exact_rho(),
        }
    }
}

/// An expression about the account of a release.
macro_rules! of_whole {
    ($whole:expr, $account:ident => $value:expr) => {
        match $whole {
            Whole::Composition($account) => $value,
            Whole::WorstPath($account) => $value,
            Whole::ManyWays($account) => $value,
        }
    };
}

impl Account for Whole {
    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        of_whole!(self, account => account.infinite_loss())
    }

    fn rho(&self) -> Rho {
        match self {
            Whole::Composition(one) => Account::rho(one),
            Whole::WorstPath(worst) => worst.rho(),
            Whole::ManyWays(many) => many.rho(),
        }
    }

    fn evaluator(&self) -> Evaluator {
        of_whole!(self, account => account.evaluator())
    }

    fn tradeoff_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        of_whole!(self, account => account.tradeoff_by(evaluator, alpha, digits))
    }

    fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        Ok(match self {
            Whole::Composition(one) => Whole::Composition(one.with_noise_times(factor)?),
            Whole::WorstPath(worst) => Whole::WorstPath(worst.with_noise_times(factor)?),
            Whole::ManyWays(many) => Whole::ManyWays(Box::new(many.with_noise_times(factor)?)),
        })
    }

    fn extremes(&self) -> Result<Vec<Composition>> {
        of_whole!(self, account => account.extremes())
    }

    fn single(&self) -> Option<&Composition> {
        of_whole!(self, account => account.single())
    }

    fn defined(&self) -> Option<&Defined> {
        of_whole!(self, account => account.defined())
    }

    fn representative(&self, epsilon: &Epsilon) -> Result<Composition> {
        of_whole!(self, account => account.representative(epsilon))
    }
}

/// The privacy of a release in which the counts that a record changes depend on its place: at every epsilon the largest delta over all
/// pairs of paths, or over all paths. Paths are numbered from 0; a single path p is the pair (p, p).
#[derive(Clone, Debug)]
pub struct WorstPath {
    paths: Arc<Vec<Composition>>,
    /// The counts that every pair enters as a whole, beside its paths.
    beside: Option<Composition>,
    family: Arc<Family>,
    /// The outcomes that only one of two neighbors can have: the same for all units.
    infinite: Option<InfiniteLoss>,
    /// That of losses rounded down, where those of `family` are rounded up.
    below: Option<Arc<Family>>,
    units: Units,
    rho: Rho,
    stop: Stop,
    /// The question of which it is the account, where it is known.
    defined: Option<Box<Defined>>,
}

impl WorstPath {
    /// The worst case of all paths, in pairs or single. Each path is the composition of what one record enters.
    ///
    /// An error where paths differ in the probability of an infinite loss, or in pairs of paths with a guarantee, which is about both paths of a
    /// pair at once: see [`WorstPath::pairs_beside`].
    pub fn new(paths: Vec<Composition>, units: Units) -> Result<Self> {
        WorstPath::of_paths(paths, units, None)
    }

    /// The worst case of all pairs of paths, each together with the same counts beside them: guarantees, and counts as they differ between two
    /// neighbors. The same errors as of [`WorstPath::new`], and one where a pair of hypotheses beside them is not symmetric.
    pub fn pairs_beside(paths: Vec<Composition>, beside: Composition) -> Result<Self> {
        let pairs = paths.len() * (paths.len() + 1) / 2;
        // Losses on no common lattice are long lists at every node: pairs are answered one by one.
        if beside.has_rounded_losses() && pairs > MOST_PAIRS {
            let expected =
                format!("at most {MOST_PAIRS} beside continuous Laplace noise, a bounded range, or a table of masses");
            return Err(Error::out_of_range("the number of pairs of paths", pairs, &expected));
        }
        WorstPath::of_paths(paths, Units::Pairs, Some(beside))
    }

    fn of_paths(paths: Vec<Composition>, units: Units, beside: Option<Composition>) -> Result<Self> {
        paths.iter().chain(&beside).try_for_each(|path| path.check_symmetric("a worst case of block paths"))?;
        let first = paths.first().ok_or(Error::EmptyComposition)?;
        let infinite = first.infinite_loss();
        if paths.iter().any(|path| path.infinite_loss() != infinite) {
            let why =
                "the ways of a record differ in the probability of outputs that only one of two neighbors can have";
            return Err(Error::unsuitable(why));
        }
        let guarantee = paths.iter().flat_map(Composition::each_counts).find(|counts| counts.law.is_guarantee());
        if let (Units::Pairs, Some(counts)) = (units, guarantee) {
            let what = counts.law.name();
            let why = format!(
                "{what} is taken as given for two neighbors, and each path of a pair counts what one record enters: give it once beside all pairs"
            );
            return Err(Error::unsuitable(why));
        }
        let infinite = match (units, &beside) {
            (Units::Single, _) => infinite,
            (Units::Pairs, None) => infinite.map(|of_path| of_path.twice()),
            (Units::Pairs, Some(beside)) => first.compose(first)?.compose(beside)?.infinite_loss(),
        };
        let stop = paths.iter().chain(&beside).map(Composition::stop).find(|stop| stop.is_given()).cloned();
        let (rho, stop) = (largest_rho(&paths, units, beside.as_ref())?, stop.unwrap_or_default());
        let own = Arc::new(family(paths.iter().map(Composition::shared_loss), units, beside.as_ref())?);
        let below = match paths.iter().chain(&beside).any(|path| path.below().is_some()) {
            false => None,
            true => {
                let down = |path: &Composition| path.below().unwrap_or_else(|| path.clone());
                let sums = paths.iter().map(|path| down(path).shared_loss());
                Some(Arc::new(family(sums, units, beside.as_ref().map(down).as_ref())?))
            }
        };
        Ok(WorstPath { paths: Arc::new(paths), beside, infinite, family: own, below, units, rho, stop, defined: None })
    }

    /// This account with the question of which it is the account: answers about delta and epsilon are compared with what follows from that alone.
    pub fn defined_by(self, definition: Definition) -> Self {
        WorstPath { defined: Some(Box::new(Defined::new(definition))), ..self }
    }

    /// This account, whose requests end with [`Error::Stopped`] once `stop` is set; so do those of accounts derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        let paths = Arc::new(self.paths.iter().map(|path| path.until(stop)).collect());
        let beside = self.beside.as_ref().map(|beside| beside.until(stop));
        WorstPath { paths, beside, stop: stop.clone(), ..self.clone() }
    }

    /// The number of unordered pairs with repetition, or of single paths.
    pub fn count(&self) -> usize {
        let n = self.family.len();
        if self.units == Units::Pairs { n * (n + 1) / 2 } else { n }
    }

    /// All pairs of paths, in order; single paths as pairs of themselves.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.family.units().into_iter()
    }

    /// The composition of what one record enters on each path.
    pub fn paths(&self) -> &[Composition] {
        &self.paths
    }

    /// The counts that every pair enters as a whole, beside its paths.
    pub fn beside(&self) -> Option<&Composition> {
        self.beside.as_ref()
    }

    /// Whether one contour serves all pairs, so that there may be very many.
    pub(super) fn shares_a_contour(&self) -> bool {
        self.family.is_alike()
    }

    /// Whether paths are taken in pairs.
    pub fn in_pairs(&self) -> bool {
        self.units == Units::Pairs
    }

    /// The composition of a pair, or of the single path. Refused for the number of a path that does not exist.
    pub fn composition(&self, (p, q): Pair) -> Result<Composition> {
        let (largest, count) = (p.max(q), self.paths.len());
        if largest >= count {
            return Err(Error::out_of_range("path", largest, &format!("a number from 0 to {}", count - 1)));
        }
        match (self.units, &self.beside) {
            (Units::Pairs, None) => self.paths[p].compose(&self.paths[q]),
            (Units::Pairs, Some(beside)) => self.paths[p].compose(&self.paths[q])?.compose(beside),
            (Units::Single, _) => Ok(self.paths[p].clone()),
        }
    }

    /// The largest delta(epsilon) for more than twelve digits, where many pairs may be close to the largest: each of these pairs is
    /// evaluated separately.
    pub fn delta_one_by_one(&self, epsilon: &Epsilon, digits: u32) -> Result<Answer> {
        self.family_evaluator(&self.family).hockey_stick_one_by_one(epsilon, digits)
    }

    /// The losses that are finite.
    fn evaluator_of_finite(&self) -> Evaluator {
        let of = |family| Evaluator::Family(Box::new(self.family_evaluator(family)));
        let own = of(&self.family);
        match &self.below {
            Some(below) => Evaluator::Between(Box::new([of(below), own])),
            None => own,
        }
    }

    fn family_evaluator(&self, family: &Arc<Family>) -> FamilyEvaluator {
        FamilyEvaluator::new(Arc::clone(family)).until(&self.stop)
    }
}

impl Account for WorstPath {
    /// That of a pair, or of a single path: the same for all.
    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        self.infinite.clone()
    }

    /// The largest zCDP rho of a pair, or of a single path.
    fn rho(&self) -> Rho {
        self.rho.clone()
    }

    fn defined(&self) -> Option<&Defined> {
        self.defined.as_deref()
    }

    /// The largest hockey stick of all pairs; answers name the pair that attains it.
    fn evaluator(&self) -> Evaluator {
        self.evaluator_of_finite().beside(self.infinite_loss())
    }

    fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        let paths: Result<Vec<Composition>> = self.paths.iter().map(|path| path.with_noise_times(factor)).collect();
        let beside = self.beside.as_ref().map(|beside| beside.with_noise_times(factor)).transpose()?;
        WorstPath::of_paths(paths?, self.units, beside)
    }

    /// ln M of a pair (p, q) is the sum of those of its paths, that is the mean of ln M of (p, p) and (q, q), and so at most the larger of
    /// both. The same holds for the largest loss.
    fn extremes(&self) -> Result<Vec<Composition>> {
        (0..self.paths.len()).map(|path| self.composition((path, path))).collect()
    }

    fn representative(&self, epsilon: &Epsilon) -> Result<Composition> {
        self.composition(self.delta(epsilon, 3)?.pair().unwrap_or_default())
    }

    /// The trade-off function of the release, and a pair that comes close to it. It is the largest convex function that no pair of paths
    /// falls below: the convex hull of the pointwise minimum, whose profile is the largest delta.
    ///
    /// Every line 1 - delta(eps) - exp(eps) alpha, and its mirror image, is a lower bound. Every pair's own trade-off function is an upper
    /// bound.
    fn tradeoff_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        tradeoff::check_alpha(alpha)?;
        match evaluator {
            Evaluator::Infinite(finite, infinite) => {
                tradeoff::with_infinite(infinite, alpha, digits, |alpha| self.tradeoff_of_finite(finite, alpha, digits))
            }
            finite => self.tradeoff_of_finite(finite, alpha, digits),
        }
    }
}

/// The family of all paths, with what is beside their pairs.
fn family(paths: impl Iterator<Item = Arc<LossSum>>, units: Units, beside: Option<&Composition>) -> Result<Family> {
    match beside {
        None => Family::new(paths.collect(), units),
        Some(beside) => Family::pairs_beside(paths.collect(), beside.loss()),
    }
}

/// The largest zCDP rho of a pair, or of a single path.
fn largest_rho(paths: &[Composition], units: Units, beside: Option<&Composition>) -> Result<Rho> {
    let largest = paths.iter().map(Composition::rho).max().ok_or(Error::EmptyComposition)?;
    match units {
        Units::Single => Ok(largest.clone()),
        Units::Pairs => {
            let of_pair = Rational::from(&**largest * 2_u32);
            Rho::new(beside.map_or(of_pair.clone(), |beside| of_pair.clone() + &**beside.rho()))
        }
    }
}
