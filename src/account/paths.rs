//! The worst pair of paths: a changed record leaves the counts on one path and enters those on another.

use rayon::prelude::*;
use rug::Rational;

use super::{
    Composition, conversions,
    profile::{Epsilon, Point, check_delta, check_epsilon},
};
use crate::{
    error::Result,
    numeric::{
        Enclosure,
        contour::Certificate,
        family::Family,
        root::{self, Decreasing},
        sum::Group,
    },
};

/// The privacy of a release in which a record's counts depend on where it is: the largest delta over all pairs of
/// paths, at every epsilon.
///
/// A path is the composition of all counts that one record enters or leaves. Under the relation that changes one
/// record, it leaves path p and enters path q, so the pair composes both. All paths must spend the same rho.
#[derive(Clone, Debug)]
pub struct WorstPair {
    family: Family,
}

/// The largest delta of all pairs.
#[derive(Clone, Debug)]
pub struct WorstDelta {
    /// Encloses the maximum.
    pub value: Enclosure,
    /// A pair at which it is attained, as far as the enclosures tell; path numbers start at 0.
    pub pair: (usize, usize),
    /// Pairs whose enclosures overlap the maximum.
    pub contenders: usize,
    /// How all pairs were certified.
    pub certificate: Certificate,
    /// Whether the asked relative width was met.
    pub met: bool,
}

impl WorstPair {
    /// All pairs of the given paths, each the composition of what one record enters.
    pub fn new(paths: &[Composition]) -> Result<Self> {
        let groups = |path: &Composition| -> Vec<Group> { path.loss().groups().to_vec() };
        Ok(WorstPair { family: Family::new(paths.iter().map(groups).collect())? })
    }

    /// How many pairs there are, each unordered and with repetition.
    pub fn pairs(&self) -> usize {
        self.family.len() * (self.family.len() + 1) / 2
    }

    /// The rho of every pair.
    pub fn rho(&self) -> &Rational {
        self.family.rho()
    }

    /// max over pairs of delta(epsilon), each certified.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<WorstDelta> {
        check_epsilon(epsilon)?;
        let (answers, certificate, met) = self.family.hockey_sticks(epsilon, digits)?;
        let mut answers = answers.into_iter();
        let (mut pair, mut value) = answers.next().unwrap_or(((0, 0), Enclosure::double(0.0, 53)));
        let mut all = vec![value.clone()];
        let mut highest = value.clone();
        for (candidate, delta) in answers {
            if delta.lower() > highest.lower() {
                (pair, highest) = (candidate, delta.clone());
            }
            value = value.max(&delta);
            all.push(delta);
        }
        let contenders = all.iter().filter(|delta| delta.upper() >= value.lower()).count();
        let met = met || value.is_tight(digits);
        Ok(WorstDelta { value, pair, contenders, certificate, met })
    }

    /// The smallest epsilon >= 0 at which every pair has delta(epsilon) <= delta, proven from both sides.
    pub fn epsilon(&self, delta: &Rational, digits: u32) -> Result<(Epsilon, (usize, usize))> {
        check_delta(delta)?;
        let ceiling = conversions::zcdp_epsilon(self.rho(), delta, 15).upper().to_f64().next_up();
        let root = root::decreasing_root(self, delta, ceiling, digits)?;
        let upper = root.value.upper().to_rational().unwrap_or_default();
        let worst = self.delta(&upper, digits)?;
        Ok((Epsilon { value: root.value, met: root.met, certificate: Some(worst.certificate) }, worst.pair))
    }

    /// The profile at the given points with the worst pair of each, on all cores.
    pub fn curve(&self, epsilons: &[Rational], digits: u32) -> Result<Vec<(Point, (usize, usize))>> {
        let point = |epsilon: &Rational| {
            let worst = self.delta(epsilon, digits)?;
            let zcdp_delta = conversions::zcdp_delta(self.rho(), epsilon, digits);
            Ok((Point { epsilon: epsilon.clone(), delta: worst.value, zcdp_delta }, worst.pair))
        };
        epsilons.par_iter().map(point).collect()
    }
}

impl Decreasing for WorstPair {
    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        Ok(self.family.ln_largest_approx(epsilon)?.0)
    }

    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<Enclosure> {
        Ok(self.delta(epsilon, digits)?.value)
    }
}
