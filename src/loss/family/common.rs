//! The contour that all pairs of a family share: the largest of their hockey sticks, and which pairs may attain it.

use std::sync::Arc;

use num_complex::Complex64;
use rug::{Float, Rational};

use super::{
    Family,
    kinds::Kind,
    sieved::{BITS, SievedFamily},
    sums::{Near, PairSum, Sums},
};
use crate::{
    error::Result,
    loss::answer::{ContourProof, Pair},
    numeric::Enclosure,
};

/// The contour that the pairs of a family share.
#[derive(Debug)]
pub(crate) struct CommonContour {
    sieved: SievedFamily,
}

/// The largest hockey stick of a family by the common contour.
#[derive(Clone, Debug)]
pub(crate) struct Largest {
    /// Encloses the maximum.
    pub value: Enclosure,
    /// A unit at which it is attained, as far as the enclosures tell.
    pub pair: Pair,
    /// How it was certified.
    pub proof: ContourProof,
}

impl CommonContour {
    /// The contour of a family, with nothing swept yet.
    pub(crate) fn new(family: Arc<Family>) -> Self {
        CommonContour { sieved: SievedFamily::new(family) }
    }

    /// Every unit's hockey stick by the common contour, to about the asked digits; `None` if no contour serves all.
    pub(crate) fn all_by_one_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<Vec<(Pair, Enclosure)>>> {
        let Some((kinds, sums)) = self.sums(epsilon, digits, 0)? else { return Ok(None) };
        let of_kind = |(kind, of_kind): (&Kind, &Vec<PairSum>)| {
            let certify = |sum: &PairSum| {
                let (value, _) = self.certify(kind, &sums.scale, sum.value - sum.error, sum.value + sum.error);
                (sum.pair, value.clamp(0.0, 1.0))
            };
            of_kind.iter().map(certify).collect::<Vec<_>>()
        };
        Ok(Some(kinds.iter().zip(&sums.of_kind).flat_map(of_kind).collect()))
    }

    /// ln of the largest of all units in doubles, an approximation without proof; `None` if no contour serves all.
    pub(crate) fn ln_largest_approx(&self, epsilon: &Rational) -> Result<Option<f64>> {
        let Some(kinds) = self.sieved.kinds(epsilon, 1e-13_f64.ln(), false)? else { return Ok(None) };
        let double = |value: &Complex64| Near { value: *value, error: 0.0 };
        let sums = self.sieved.trapezoid::<Complex64>(&kinds, (), double);
        let ln_best = |(kind, of_kind): (&Kind, &Vec<PairSum>)| {
            let best = of_kind.iter().fold(0.0, |best, sum| f64::max(best, sum.value));
            let size = self.sieved.family.doubles[0]
                .ln_size(&kind.question, &kind.plan.exact_c, kind.question.start())
                .to_f64();
            size + best.ln() - kind.plan.divisor().to_f64().ln()
        };
        let best = kinds.iter().zip(&sums.of_kind).map(ln_best).fold(f64::NEG_INFINITY, f64::max);
        Ok(Some(best + sums.scale.approximate()))
    }

    /// The largest hockey stick by the common contour, and the units that may attain it; `None` if no contour serves all.
    pub(crate) fn by_one_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<(Largest, Vec<Pair>)>> {
        const ATTEMPTS: u32 = 3;
        // More than doubles can give.
        let asked = digits.min(12);
        for attempt in 0..ATTEMPTS {
            let Some((kinds, sums)) = self.sums(epsilon, asked, attempt)? else { return Ok(None) };
            let of_kind =
                kinds.iter().zip(&sums.of_kind).map(|(kind, of_kind)| self.largest_of_kind(kind, of_kind, &sums.scale));
            let of_kind: Vec<OfKind> = of_kind.collect();
            let lower = |of_kind: &OfKind| of_kind.largest.value.lower().clone();
            let Some(best) = of_kind.iter().max_by(|a, b| lower(a).total_cmp(&lower(b))) else { return Ok(None) };
            let value = of_kind.iter().fold(best.largest.value.clone(), |value, other| value.max(&other.largest.value));
            let exhausted = kinds.iter().any(|kind| kind.plan.exhausted);
            let met = value.is_tight(digits);
            if met || attempt + 1 == ATTEMPTS || exhausted || value.is_tight(asked) {
                let contenders: Vec<Pair> = of_kind.iter().flat_map(|of_kind| of_kind.above(value.lower())).collect();
                return Ok(Some((Largest { value, ..best.largest.clone() }, contenders)));
            }
        }
        Ok(None)
    }

    fn largest_of_kind<'a>(&self, kind: &Kind, sums: &'a [PairSum], scale: &Enclosure) -> OfKind<'a> {
        let (mut low, mut high, mut pair) = (f64::NEG_INFINITY, f64::NEG_INFINITY, (0, 0));
        for sum in sums {
            if sum.value - sum.error > low {
                (low, pair) = (sum.value - sum.error, sum.pair);
            }
            high = high.max(sum.value + sum.error);
        }
        let (value, proof) = self.certify(kind, scale, low, high);
        let unit = Float::with_val(64, value.upper() / Float::with_val(64, high));
        OfKind { largest: Largest { value: value.clamp(0.0, 1.0), pair, proof }, sums, unit }
    }

    fn sums(&self, epsilon: &Rational, digits: u32, attempt: u32) -> Result<Option<(Vec<Kind>, Sums)>> {
        let guard = 2.3 + 9.0 * f64::from(attempt);
        let kinds = self.sieved.kinds(epsilon, -(f64::from(digits) * std::f64::consts::LN_10 + guard), true)?;
        Ok(kinds.map(|kinds| {
            let sums = self.sieved.trapezoid(&kinds, BITS, Near::of);
            (kinds, sums)
        }))
    }

    /// From an interval for a trapezoid sum to the answer: all pairs have the same rho and no bounded terms, so one
    /// speaks for all.
    fn certify(&self, kind: &Kind, scale: &Enclosure, low: f64, high: f64) -> (Enclosure, ContourProof) {
        let sum = &self.sieved.family.doubles[0];
        let errors = sum.errors(&kind.question, &kind.plan);
        let interval = Enclosure::new(Float::with_val(53, low), Float::with_val(53, high));
        sum.certify(&kind.question, &kind.plan, interval, scale, BITS, &errors)
    }
}

/// The largest of a kind.
struct OfKind<'a> {
    largest: Largest,
    sums: &'a [PairSum],
    /// What a trapezoid sum of one stands for, about.
    unit: Float,
}

impl OfKind<'_> {
    /// The pairs that may be as large as `lower`.
    fn above(&self, lower: &Float) -> impl Iterator<Item = Pair> {
        let value = &self.largest.value;
        // What was left out for all may speak for either of two pairs, in units of the sums.
        let slack = (Float::with_val(64, value.upper() - value.lower()) / &self.unit).to_f64() * 2.0;
        let lower = Float::with_val(64, lower / &self.unit).to_f64();
        let may_be = move |sum: &&PairSum| sum.value + sum.error + slack >= lower * (1.0 - 1e-15);
        self.sums.iter().filter(may_be).map(|sum| sum.pair)
    }
}
