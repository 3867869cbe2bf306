//! The worst path of a record: its place in the geographic hierarchy decides which counts it moves.
//!
//! Under the relation that changes one record, it leaves the counts on path p and enters those on path q, so a pair of
//! paths composes both; when a record is added, it enters one path alone.

use std::sync::Arc;

use rug::Rational;

use super::{
    Composition,
    profile::Account,
    supporting::{self, TRADEOFF},
    tradeoff,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Method, Pair},
        evaluator::{Evaluator, FamilyEvaluator},
        family::{Family, Units},
        parameter::{Epsilon, Rho},
        stop::Stop,
    },
    numeric::{Enclosure, precision, rational},
};

/// One composition, or the worst of many paths.
#[derive(Clone, Debug)]
pub enum Whole {
    /// Every record moves the same counts.
    Composition(Composition),
    /// Which counts a record moves depends on its path.
    WorstPath(WorstPath),
}

impl Whole {
    /// The same, whose questions end with [`Error::Stopped`] once `stop` is set, and those of what is derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        match self {
            Whole::Composition(one) => Whole::Composition(one.until(stop)),
            Whole::WorstPath(worst) => Whole::WorstPath(worst.until(stop)),
        }
    }
}

impl Account for Whole {
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

    fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Answer> {
        match self {
            Whole::Composition(one) => one.tradeoff(alpha, digits),
            Whole::WorstPath(worst) => worst.tradeoff(alpha, digits),
        }
    }

    fn tradeoff_curve(&self, alphas: &[Rational], digits: u32) -> Result<Vec<Answer>> {
        match self {
            Whole::Composition(one) => one.tradeoff_curve(alphas, digits),
            Whole::WorstPath(worst) => worst.tradeoff_curve(alphas, digits),
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

/// The privacy of a release in which the counts that a record moves depend on its place: the largest delta over all pairs of
/// paths, or over all paths, at every epsilon. Path numbers start at 0; a path alone is the pair (p, p).
#[derive(Clone, Debug)]
pub struct WorstPath {
    paths: Arc<Vec<Composition>>,
    family: Arc<Family>,
    units: Units,
    rho: Rho,
    stop: Stop,
}

impl WorstPath {
    /// All paths, each the composition of what one record enters, in pairs or alone.
    pub fn new(paths: Vec<Composition>, units: Units) -> Result<Self> {
        let family = Arc::new(Family::new(paths.iter().map(Composition::shared_loss).collect(), units)?);
        let largest = paths.iter().map(Composition::rho).max().ok_or(Error::EmptyComposition)?;
        let rho = if units == Units::Pairs { Rho::new(Rational::from(&**largest * 2_u32))? } else { largest.clone() };
        let stop = paths.iter().map(Composition::stop).find(|stop| stop.is_given()).cloned().unwrap_or_default();
        Ok(WorstPath { paths: Arc::new(paths), family, units, rho, stop })
    }

    /// The same, whose questions end with [`Error::Stopped`] once `stop` is set, and those of what is derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        let paths = Arc::new(self.paths.iter().map(|path| path.until(stop)).collect());
        WorstPath { paths, stop: stop.clone(), ..self.clone() }
    }

    /// How many pairs there are, each unordered and with repetition; or how many paths.
    pub fn count(&self) -> usize {
        let n = self.family.len();
        if self.units == Units::Pairs { n * (n + 1) / 2 } else { n }
    }

    /// What one record enters on each path.
    pub fn paths(&self) -> &[Composition] {
        &self.paths
    }

    /// Whether paths come in pairs.
    pub fn in_pairs(&self) -> bool {
        self.units == Units::Pairs
    }

    /// What a pair composes, or the path alone.
    pub fn composition(&self, (p, q): Pair) -> Result<Composition> {
        match self.units {
            Units::Pairs => self.paths[p].compose(&self.paths[q]),
            Units::Single => Ok(self.paths[p].clone()),
        }
    }

    /// The largest delta(epsilon) for more than twelve digits, where many pairs may be near the largest: each of them is
    /// answered by itself.
    pub fn delta_one_by_one(&self, epsilon: &Epsilon, digits: u32) -> Result<Answer> {
        self.family_evaluator().hockey_stick_one_by_one(epsilon, digits)
    }

    fn family_evaluator(&self) -> FamilyEvaluator {
        FamilyEvaluator::new(Arc::clone(&self.family)).until(&self.stop)
    }
}

impl Account for WorstPath {
    /// The largest zCDP rho of a pair, or of a path alone.
    fn rho(&self) -> Rho {
        self.rho.clone()
    }

    /// The largest hockey stick of all pairs; the answers name the pair that attains it.
    fn evaluator(&self) -> Evaluator {
        Evaluator::Family(Box::new(self.family_evaluator()))
    }

    fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        let paths: Result<Vec<Composition>> = self.paths.iter().map(|path| path.with_noise_times(factor)).collect();
        WorstPath::new(paths?, self.units)
    }

    /// ln M of a pair is the sum of those of its paths, and so the mean of ln M of (p, p) and (q, q): at most the larger of both. So
    /// is the largest loss.
    fn extremes(&self) -> Result<Vec<Composition>> {
        (0..self.paths.len()).map(|path| self.composition((path, path))).collect()
    }

    fn representative(&self, epsilon: &Epsilon) -> Result<Composition> {
        self.composition(self.delta(epsilon, 3)?.pair().unwrap_or_default())
    }

    /// The trade-off function of the release: the largest one that no pair of paths falls below (the convex hull of the
    /// least, whose profile is the largest delta), and a pair that comes near it.
    ///
    /// Every line 1 - delta(eps) - exp(eps) alpha, or its mirror image, is a bound from below, and every pair's own
    /// trade-off function one from above.
    fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Answer> {
        tradeoff::check_alpha(alpha)?;
        let evaluator = self.evaluator();
        let mut pair = (0, 0);
        let mut value = Enclosure::double(0.0, precision::bits(digits, 64)).hull(&Enclosure::double(1.0, 64));
        // The supporting line of a first pair tells at which eps to look for the worst one.
        for _ in 0..2 {
            let own = self.composition(pair)?;
            let upper = own.tradeoff(alpha, digits)?.value;
            let epsilon = rational::from_f64(supporting::epsilon(&own, alpha)?)?;
            // Slopes are exp(l) for lattice values l: the nearest.
            let half = own.loss().step().map(|step| Rational::from(step / 2_u32)).unwrap_or_default();
            let epsilon = own.loss().at_most(&(epsilon + half));
            let worst = evaluator.hockey_stick(&epsilon.clone().abs(), digits)?;
            let bits = upper.lower().prec();
            let (one, target) = (Enclosure::double(1.0, bits), Enclosure::rational(alpha, bits));
            let exp = Enclosure::rational(&epsilon.clone().abs(), bits).exp();
            let rest = one.sub(&worst.value);
            let line = if epsilon >= 0 { rest.sub(&exp.mul(&target)) } else { rest.sub(&target).div(&exp) };
            // The line is below f, and f is below the pair's own function.
            let bracket = line
                .clamp(0.0, 1.0)
                .hull(&Enclosure::double(1.0, bits))
                .meet(&Enclosure::double(0.0, bits).hull(&upper));
            value = bracket.and_then(|bracket| value.meet(&bracket)).ok_or(Error::Contradiction { what: TRADEOFF })?;
            pair = worst.pair().unwrap_or_default();
        }
        let method = Method::Worst { pair, contenders: 1, method: Box::new(Method::Lines) };
        Ok(Answer { met: value.is_tight(digits), value, method })
    }
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

    /// Every kind of question of every kind of account, and whatever is derived from the account.
    #[test]
    fn nothing_is_evaluated_after_a_stop() {
        let stop = Stop::new();
        let one = Composition::new(["5x10".parse().unwrap()]).unwrap();
        let other = Composition::new(["2x4".parse().unwrap()]).unwrap();
        let (half, two) = (parse("1/2").unwrap(), Rational::from(2));
        let composition = one.until(&stop);
        assert_eq!(composition, one);
        let worst = WorstPath::new(vec![one.clone(), other], Units::Pairs).unwrap().until(&stop);
        // Begun before, it still answers the same.
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

    /// A curve of many points ends at the first that is asked for after the stop.
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
