//! The worst path of a record: where it is decides which counts it moves.
//!
//! Under the relation that changes one record, it leaves the counts on path p and enters those on path q, so a pair of
//! paths composes both; when a record is added, it enters one path alone.

use std::sync::Arc;

use rayon::prelude::*;
use rug::Rational;

use super::{
    Composition, conversions,
    profile::{Epsilon, Point, check_delta, check_epsilon},
};
use crate::{
    error::Result,
    loss::{
        family::{Family, Largest, Pair, Units},
        law::Group,
    },
    numeric::{
        Enclosure, rational,
        root::{self, Decreasing},
    },
};

/// The privacy of a release in which a record's counts depend on where it is: the largest delta over all pairs of
/// paths, or over all paths, at every epsilon. Path numbers start at 0; a path alone is the pair (p, p).
#[derive(Clone, Debug)]
pub struct WorstPath {
    paths: Arc<Vec<Composition>>,
    family: Arc<Family>,
    units: Units,
}

impl WorstPath {
    /// All paths, each the composition of what one record enters, in pairs or alone.
    pub fn new(paths: Vec<Composition>, units: Units) -> Result<Self> {
        let groups = |path: &Composition| -> Vec<Group> { path.loss().groups().to_vec() };
        let family = Arc::new(Family::new(paths.iter().map(groups).collect(), units)?);
        Ok(WorstPath { paths: Arc::new(paths), family, units })
    }

    /// The same paths with all noise multiplied by `factor`.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        let paths: Result<Vec<Composition>> = self.paths.iter().map(|path| path.with_noise_times(factor)).collect();
        WorstPath::new(paths?, self.units)
    }

    /// How many pairs there are, each unordered and with repetition; or how many paths.
    pub fn count(&self) -> usize {
        let n = self.family.len();
        if self.units == Units::Pairs { n * (n + 1) / 2 } else { n }
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

    /// The largest zCDP rho.
    pub fn rho(&self) -> Rational {
        let largest = self.paths.iter().map(Composition::rho).max().cloned().unwrap_or_default();
        if self.in_pairs() { largest * 2_u32 } else { largest }
    }

    /// The largest delta(epsilon), certified, and where it is attained.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<Largest> {
        check_epsilon(epsilon)?;
        self.family.largest(epsilon, digits)
    }

    /// The same for more than twelve digits, where many pairs may be near the largest: each of them is answered by itself.
    pub fn delta_sharply(&self, epsilon: &Rational, digits: u32) -> Result<Largest> {
        check_epsilon(epsilon)?;
        self.family.largest_sharply(epsilon, digits)
    }

    /// The smallest epsilon >= 0 at which every pair has delta(epsilon) <= delta, proven from both sides, and the pair
    /// that decides it.
    pub fn epsilon(&self, delta: &Rational, digits: u32) -> Result<(Epsilon, Pair)> {
        check_delta(delta)?;
        let ceiling = conversions::zcdp_epsilon(&self.rho(), delta, 15).upper().to_f64().next_up();
        let root = root::decreasing_root(self, delta, ceiling, digits)?;
        let upper = root.value.upper().to_rational().unwrap_or_default();
        let worst = self.delta(&upper, digits)?;
        Ok((Epsilon { value: root.value, met: root.met, certificate: Some(worst.certificate) }, worst.pair))
    }

    /// The profile at the given points with the worst pair of each, on all cores.
    pub fn curve(&self, epsilons: &[Rational], digits: u32) -> Result<Vec<(Point, Pair)>> {
        let rho = self.rho();
        let point = |epsilon: &Rational| {
            let worst = self.delta(epsilon, digits)?;
            let zcdp_delta = conversions::zcdp_delta(&rho, epsilon, digits);
            Ok((Point { epsilon: epsilon.clone(), delta: worst.value, zcdp_delta }, worst.pair))
        };
        epsilons.par_iter().map(point).collect()
    }

    /// The trade-off function of the release: the largest one that no pair of paths falls below (the convex hull of the
    /// least, whose profile is the largest delta), and a pair that comes near it.
    ///
    /// Every line 1 - delta(eps) - exp(eps) alpha, or its mirror image, is a bound from below, and every pair's own
    /// trade-off function one from above.
    pub fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<(Enclosure, Pair)> {
        let mut pair = (0, 0);
        let mut value: Option<Enclosure> = None;
        // The supporting line of a first pair tells at which eps to look for the worst one.
        for _ in 0..2 {
            let own = self.composition(pair)?;
            let upper = own.tradeoff(alpha, digits)?;
            let epsilon = rational::from_f64(own.supporting_epsilon(alpha)?);
            // Slopes are exp(l) for lattice values l: the nearest.
            let half = own.loss().step().map(|step| Rational::from(step / 2_u32)).unwrap_or_default();
            let epsilon = own.loss().at_most(&(epsilon + half));
            let worst = self.delta(&epsilon.clone().abs(), digits)?;
            let bits = upper.lower().prec();
            let (one, target) = (Enclosure::double(1.0, bits), Enclosure::rational(alpha, bits));
            let exp = Enclosure::rational(&epsilon.clone().abs(), bits).exp();
            let rest = one.sub(&worst.value);
            let line = if epsilon >= 0 { rest.sub(&exp.mul(&target)) } else { rest.sub(&target).div(&exp) };
            let line = line.clamp(0.0, 1.0);
            let bracket = Enclosure::new(line.lower().clone().min(upper.upper()), upper.upper().clone());
            value = Some(match value {
                None => bracket,
                Some(known) => Enclosure::new(
                    known.lower().clone().max(bracket.lower()),
                    known.upper().clone().min(bracket.upper()),
                ),
            });
            pair = worst.pair;
        }
        Ok((value.unwrap_or_else(|| Enclosure::double(0.0, 53)), pair))
    }
}

impl Decreasing for WorstPath {
    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.family.ln_largest_approx(epsilon)
    }

    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<Enclosure> {
        Ok(self.delta(epsilon, digits)?.value)
    }
}
