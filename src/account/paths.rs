//! The worst path of a record: its place in the geographic hierarchy decides which counts it changes.
//!
//! A record that changes leaves the counts on path p and enters those on path q, so a pair of paths composes both. A record that is added
//! enters one path only.

use std::sync::Arc;

use rug::{Float, Rational};

use super::{
    Composition,
    profile::Account,
    supporting::{self, TRADEOFF},
    tradeoff,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Pair, Proof},
        evaluator::{Evaluator, FamilyEvaluator},
        family::{Family, Units},
        infinite::InfiniteLoss,
        parameter::{Epsilon, Rho},
        stop::Stop,
        sum::LossSum,
    },
    numeric::{Enclosure, precision, rational},
};

/// The largest number of pairs of paths that are answered one by one, beside counts as they differ between two neighbors.
pub(super) const MOST_PAIRS: usize = 200;

/// One composition, or the worst case of many paths.
#[derive(Clone, Debug)]
pub enum Whole {
    /// Every record changes the same counts.
    Composition(Composition),
    /// The counts that a record changes depend on its path.
    WorstPath(WorstPath),
}

impl Whole {
    /// The same account, whose requests end with [`Error::Stopped`] once `stop` is set; so do those of accounts derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        match self {
            Whole::Composition(one) => Whole::Composition(one.until(stop)),
            Whole::WorstPath(worst) => Whole::WorstPath(worst.until(stop)),
        }
    }
}

impl Account for Whole {
    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        match self {
            Whole::Composition(one) => one.infinite_loss(),
            Whole::WorstPath(worst) => worst.infinite_loss(),
        }
    }

    fn rho(&self) -> Rho {
        match self {
            Whole::Composition(one) => Account::rho(one),
            Whole::WorstPath(worst) => worst.rho(),
        }
    }

    fn evaluator(&self) -> Evaluator {
        match self {
            Whole::Composition(one) => one.evaluator(),
            Whole::WorstPath(worst) => worst.evaluator(),
        }
    }

    fn tradeoff_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        match self {
            Whole::Composition(one) => one.tradeoff_by(evaluator, alpha, digits),
            Whole::WorstPath(worst) => worst.tradeoff_by(evaluator, alpha, digits),
        }
    }

    fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        Ok(match self {
            Whole::Composition(one) => Whole::Composition(one.with_noise_times(factor)?),
            Whole::WorstPath(worst) => Whole::WorstPath(worst.with_noise_times(factor)?),
        })
    }

    fn extremes(&self) -> Result<Vec<Composition>> {
        match self {
            Whole::Composition(one) => one.extremes(),
            Whole::WorstPath(worst) => worst.extremes(),
        }
    }

    fn representative(&self, epsilon: &Epsilon) -> Result<Composition> {
        match self {
            Whole::Composition(one) => one.representative(epsilon),
            Whole::WorstPath(worst) => worst.representative(epsilon),
        }
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
}

impl WorstPath {
    /// The worst case of all paths, in pairs or single. Each path is the composition of what one record enters.
    ///
    /// An error where paths differ in the probability of an infinite loss, or in pairs of paths with a guarantee, which is about both paths of a
    /// pair at once: see [`WorstPath::pairs_beside`].
    pub fn new(paths: Vec<Composition>, units: Units) -> Result<Self> {
        WorstPath::of(paths, units, None)
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
        WorstPath::of(paths, Units::Pairs, Some(beside))
    }

    fn of(paths: Vec<Composition>, units: Units, beside: Option<Composition>) -> Result<Self> {
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
        Ok(WorstPath { paths: Arc::new(paths), beside, infinite, family: own, below, units, rho, stop })
    }

    /// The same account, whose requests end with [`Error::Stopped`] once `stop` is set; so do those of accounts derived from it.
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
        self.family_evaluator().hockey_stick_one_by_one(epsilon, digits)
    }

    /// The losses that are finite.
    fn evaluator_of_finite(&self) -> Evaluator {
        let of = |family: &Arc<Family>| FamilyEvaluator::new(Arc::clone(family)).until(&self.stop);
        let own = Evaluator::Family(Box::new(of(&self.family)));
        match &self.below {
            Some(below) => Evaluator::Between(Box::new([Evaluator::Family(Box::new(of(below))), own])),
            None => own,
        }
    }

    fn family_evaluator(&self) -> FamilyEvaluator {
        FamilyEvaluator::new(Arc::clone(&self.family)).until(&self.stop)
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

    /// The largest hockey stick of all pairs; answers name the pair that attains it.
    fn evaluator(&self) -> Evaluator {
        let finite = self.evaluator_of_finite();
        match self.infinite_loss() {
            Some(infinite) => Evaluator::Infinite(Box::new(finite), infinite),
            None => finite,
        }
    }

    fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        let paths: Result<Vec<Composition>> = self.paths.iter().map(|path| path.with_noise_times(factor)).collect();
        let beside = self.beside.as_ref().map(|beside| beside.with_noise_times(factor)).transpose()?;
        WorstPath::of(paths?, self.units, beside)
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

impl WorstPath {
    fn tradeoff_of_finite(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        const ROUNDS: usize = 2;
        /// Enclosures wider than this many times the line and the function of a pair leave room between the two.
        const WIDER: u32 = 4;
        if let Some(known) = tradeoff::at_ends(alpha, digits) {
            return Ok(known);
        }
        let (family, first, bits) = (family_of(evaluator)?, (0, 0), precision::bits(digits, 64));
        // The highest line of a first pair gives the eps at which to look for the worst pair. Lines of all type I errors share contours.
        let near = self.highest_line(family, first, alpha)?;
        let mut pair = family.leader_near(&near.clone().abs(), digits)?;
        let (mut lower, mut pairs) = (Enclosure::double(0.0, bits), vec![first]);
        for _ in 0..ROUNDS {
            pairs.push(pair);
            let epsilon = if pair == first { near.clone() } else { self.highest_line(family, pair, alpha)? };
            let worst = evaluator.hockey_stick_of_many(&epsilon.clone().abs(), digits)?;
            lower = lower.max(&line(&worst.value, &epsilon, alpha, bits));
            let leader = worst.pair().unwrap_or_default();
            if std::mem::replace(&mut pair, leader) == leader {
                break;
            }
        }
        pairs.push(pair);
        // Every line is below f, and f is below every pair's own function: that of the worst pair, and where this leaves room, those of the others.
        let (zero, mut value) = (Enclosure::double(0.0, 64), lower.clone().clamp(0.0, 1.0));
        value = value.hull(&Enclosure::double(1.0, 64));
        while let Some(next) = pairs.pop() {
            pairs.retain(|other| *other != next);
            let upper = self.tradeoff_of_pair(family, next, alpha, digits)?;
            value = value.meet(&zero.hull(&upper)).ok_or(Error::Contradiction { what: TRADEOFF })?;
            let width = |value: &Enclosure| Float::with_val(64, value.upper() - value.lower());
            if width(&value) <= (width(&lower) + width(&upper)) * WIDER {
                break;
            }
        }
        evaluator.second_tradeoff(alpha, Some(pair))?.confirms(&value, tradeoff::SECOND)?;
        let proof = Proof::lines().of_pair(pair, 1);
        Ok(Answer { met: value.is_tight(digits), value, proof })
    }

    /// The eps of the supporting line of a pair that is highest at alpha, in doubles. Where losses have a lattice it is the nearest of them: there lines meet.
    fn highest_line(&self, family: &FamilyEvaluator, pair: Pair, alpha: &Rational) -> Result<Rational> {
        let (unit, [p, q]) = (family.unit(pair)?, [pair.0, pair.1].map(|path| self.paths[path].rho().to_f64()));
        let beside = self.beside.as_ref().map_or(0.0, |beside| beside.rho().to_f64());
        let rho = if self.in_pairs() { p + q + beside } else { p };
        let epsilon = rational::from_f64(supporting::epsilon_by(&unit, rho, alpha)?)?;
        let half = unit.sum().step().map(|step| Rational::from(step / 2_u32)).unwrap_or_default();
        Ok(unit.sum().at_most(&(epsilon + half)))
    }

    /// f(alpha) of one pair.
    fn tradeoff_of_pair(
        &self,
        family: &FamilyEvaluator,
        pair: Pair,
        alpha: &Rational,
        digits: u32,
    ) -> Result<Enclosure> {
        let own = self.composition(pair)?;
        if !own.is_uniform() && own.below().is_none() {
            return Ok(tradeoff::of_sum(&*family.unit(pair)?, &own, alpha, digits)?.value);
        }
        // In place of some losses the family has those of a pair that is at most as private.
        let evaluator = own.evaluator();
        let finite = if let Evaluator::Infinite(finite, _) = &evaluator { finite } else { &evaluator };
        Ok(tradeoff::of_finite(&own, finite, alpha, digits)?.value)
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

/// The evaluator of all pairs; of losses on no common lattice, that of those rounded up.
fn family_of(evaluator: &Evaluator) -> Result<&FamilyEvaluator> {
    match evaluator {
        Evaluator::Family(family) => Ok(family),
        Evaluator::Between(both) => family_of(&both[1]),
        _ => Err(tradeoff::of_another_account()),
    }
}

/// The height at alpha of the line of slope -exp(epsilon) that supports every function with this largest delta(|epsilon|).
fn line(delta: &Enclosure, epsilon: &Rational, alpha: &Rational, bits: u32) -> Enclosure {
    let rest = Enclosure::double(1.0, bits).sub(delta);
    let (exp, alpha) = (Enclosure::rational(&epsilon.clone().abs(), bits).exp(), Enclosure::rational(alpha, bits));
    // 1 - delta(eps) - exp(eps) alpha; or exp(-eps) (1 - delta(eps) - alpha).
    if *epsilon >= 0 { rest.sub(&exp.mul(&alpha)) } else { rest.sub(&alpha).div(&exp) }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{
        account::{Stop, calibrate, crossing},
        numeric::rational::parse,
    };

    fn stopped<T>(answer: Result<T>) -> bool {
        matches!(answer, Err(Error::Stopped))
    }

    /// Every kind of request to every kind of account, and to accounts derived from them.
    #[test]
    fn nothing_is_evaluated_after_a_stop() {
        let stop = Stop::new();
        let one = Composition::new(["5x10".parse().unwrap()]).unwrap();
        let other = Composition::new(["2x4".parse().unwrap()]).unwrap();
        let (half, two) = (parse("1/2").unwrap(), Rational::from(2));
        let composition = one.until(&stop);
        assert_eq!(composition, one);
        let worst = WorstPath::new(vec![one.clone(), other], Units::Pairs).unwrap().until(&stop);
        // A request before the stop gives the same answer.
        assert_eq!(composition.delta("3", 9).unwrap().value, one.delta("3", 9).unwrap().value);
        let begun = worst.evaluator();
        assert!(begun.hockey_stick(&two, 6).is_ok());
        stop.set();
        fn all(account: &(impl Account + Clone), half: &Rational) {
            assert!(stopped(account.delta("3", 6)) && stopped(account.ln_delta_approx("3")));
            assert!(stopped(account.epsilon("1e-9", 6)) && stopped(account.tradeoff(half, 6)));
            assert!(
                stopped(account.curve(&["1", "2"], 6))
                    && stopped(account.tradeoff_curve(std::slice::from_ref(half), 6))
            );
            let target = Enclosure::double(3.0, 64);
            let family = |factor: &Rational| account.with_noise_times(factor);
            assert!(stopped(calibrate::least_on_grid(family, &target, &"1e-9".parse().unwrap(), 2, 1.0)));
            assert!(stopped(crossing::stretches(account, &account.rho(), &parse("1e-9").unwrap(), half)));
        }
        all(&composition, &half);
        all(&worst, &half);
        for derived in [composition.compose(&one), one.compose(&composition), composition.repeated(2)] {
            all(&derived.unwrap(), &half);
        }
        all(&composition.for_groups_of(2).unwrap(), &half);
        all(&worst.composition((0, 1)).unwrap(), &half);
        assert!(stopped(composition.knot(&two, 6)) && stopped(begun.hockey_stick(&two, 6)));
        let Evaluator::Family(family) = begun else { panic!("a family") };
        assert!(
            stopped(family.all(&two, 6))
                && stopped(family.leader(&two))
                && stopped(worst.delta_one_by_one(&"3".parse().unwrap(), 6))
        );
        assert!(one.delta("3", 6).is_ok(), "others go on");
    }

    /// Contours that type I errors share, against every pair by itself and lines by contours of their own, next to 0 and 1 and between: of one lattice, of several, and of
    /// pairs that share no contour because their rho differ.
    #[test]
    fn a_family_is_between_lines_and_functions_evaluated_one_by_one() {
        for paths in [["5x10", "2x4", "3x3 5x5"], ["5x100", "2x40", "50x700 2x26"], ["5x10", "5x9", "2x3"]] {
            let worst = family(&paths);
            let (evaluator, alone) = (worst.evaluator(), worst.evaluator());
            let at = |eps: i32| Rational::from((eps, 8));
            let delta = |eps: i32| (at(eps), alone.hockey_stick(&at(eps.abs()), 14).unwrap().value);
            let deltas: Vec<(Rational, Enclosure)> = (-60..=60).map(delta).collect();
            for alpha in ["0", "1e-12", "0.003", "0.3", "1/2", "0.9", "0.999999", "1"] {
                let alpha = parse(alpha).unwrap();
                let shared = worst.tradeoff_by(&evaluator, &alpha, 12).unwrap().value;
                for pair in (0..3).flat_map(|p| (p..3).map(move |q| (p, q))) {
                    let own = worst.composition(pair).unwrap().tradeoff(&alpha, 14).unwrap().value;
                    assert!(shared.lower() <= own.upper(), "{paths:?} {alpha} {pair:?}: {shared:?} {own:?}");
                }
                for (eps, delta) in &deltas {
                    let line = line(delta, eps, &alpha, 128);
                    assert!(shared.upper() >= line.lower(), "{paths:?} {alpha} {eps}: {shared:?} {line:?}");
                }
                let is_end = alpha == 0 || alpha == 1;
                assert!(!is_end || shared.contains(&Rational::from(1 - &alpha)), "{paths:?} {alpha}: {shared:?}");
            }
        }
    }

    /// The same bytes after any earlier requests, beside any concurrent ones, and on any number of threads.
    #[test]
    fn type_ii_errors_of_a_family_do_not_depend_on_others_or_threads() {
        let worst = family(&["5x10", "2x4", "3x3 5x5"]);
        let alphas: Vec<Rational> = (0..=24).map(|k| Rational::from((k, 24))).collect();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| worst.tradeoff_curve(&alphas, 12)).unwrap()
        };
        let bytes = |answer: &Answer| format!("{:?}", (&answer.value, answer.pair(), answer.met));
        let alone: Vec<String> = alphas.iter().map(|alpha| bytes(&worst.tradeoff(alpha, 12).unwrap())).collect();
        for threads in [1, 2, 5] {
            assert_eq!(on(threads).iter().map(bytes).collect::<Vec<_>>(), alone, "{threads} threads");
        }
        let backwards = worst.evaluator();
        for (alpha, alone) in alphas.iter().zip(&alone).rev() {
            assert_eq!(bytes(&worst.tradeoff_by(&backwards, alpha, 12).unwrap()), *alone, "{alpha}");
        }
    }

    fn family(paths: &[&str]) -> WorstPath {
        let path = |text: &&str| Composition::new(text.split(' ').map(|counts| counts.parse().unwrap())).unwrap();
        WorstPath::new(paths.iter().map(path).collect(), Units::Pairs).unwrap()
    }

    /// An evaluator of an account of another kind is refused.
    #[test]
    fn the_evaluator_of_another_account_is_refused() {
        let (one, half) = (Composition::new(["5x10".parse().unwrap()]).unwrap(), parse("1/2").unwrap());
        let worst = family(&["5x10", "2x4"]);
        assert!(worst.tradeoff_by(&one.evaluator(), &half, 6).is_err());
        assert!(one.tradeoff_by(&worst.evaluator(), &half, 6).is_err());
    }

    /// A curve of many points ends at the first point requested after the stop.
    #[test]
    fn a_curve_ends_where_it_is() {
        let stop = Stop::new();
        let account = Composition::new(["5x10".parse().unwrap()]).unwrap().until(&stop);
        let (evaluator, answered) = (account.evaluator(), Cell::new(0));
        let points = (0..1000).map(|k| {
            if k == 7 {
                stop.set();
            }
            let point = account.point_by(&evaluator, Rational::from((k, 100)).try_into()?, 6);
            answered.set(answered.get() + usize::from(point.is_ok()));
            point
        });
        assert!(stopped(points.collect::<Result<Vec<_>>>()));
        assert_eq!(answered.get(), 7);
    }
}
