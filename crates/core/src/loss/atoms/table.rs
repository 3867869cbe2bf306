//! Tables of one sum at one tilt, in the arithmetic that their digits require.

use rug::{Float, Integer, Rational, float::Round};

use super::{
    super::sum::LossSum,
    column::{self, Column},
    cost,
    key::{Key, Long, Middle},
    knot,
    lists::{Half, Lists},
    masses::{Fineness, TiltedMasses},
    plan::Plan,
    terms, tilt,
    tilted::{Side, Tilted, Under},
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// The answers of a table, in any arithmetic.
pub(super) trait Table: Send + Sync {
    /// E[(1 - exp(epsilon - L))_+], for c >= 0.
    fn hockey_stick(&self, epsilon: &Rational) -> Enclosure;
    /// The complement of that, for -1 <= c <= 0.
    fn complement(&self, epsilon: &Rational) -> Enclosure;
    /// The probability of one side of z under P. The tilt must be in the range where exp(-c d) is at
    /// most one on that side.
    fn tail(&self, z: &Rational, side: Side) -> Enclosure;
    /// The trade-off function, or `None` where the masses are too coarse to place alpha.
    fn tradeoff(&self, alpha: &Rational) -> Option<Enclosure>;
    /// The number of losses of the two lists.
    fn lengths(&self) -> (usize, usize);
    /// The memory of the lists, in bytes.
    fn bytes(&self) -> usize;
    /// The tilt.
    fn tilt(&self) -> &Rational;
    /// The bits of a number's mantissa.
    fn bits(&self) -> u32;
    /// Upper bound on the truncated tilted mass.
    fn missing(&self) -> &Float;
}

/// Bits of a mantissa beyond those at which masses are cut: for the distance of adjacent losses and the lengths.
const GUARD_BITS: u32 = 26;

/// The longest mantissa.
pub(super) const MOST_WORDS: u32 = 40;

/// The number of words of a mantissa for the digits at which masses are first cut at 2^-cut.
pub(super) fn mantissa_words(cut: u32) -> u32 {
    (cut + GUARD_BITS).div_ceil(64).max(2)
}

/// Makes the lists of a sum at a tilt, with masses cut at 2^-cut and mantissas of at least `words` words.
pub(super) fn build(sum: &LossSum, c: f64, cut: u32, words: u32) -> Result<Box<dyn Table>> {
    match words {
        0..=2 => fitting::<2>(sum, c, cut),
        3 => fitting::<3>(sum, c, cut),
        4 => fitting::<4>(sum, c, cut),
        5..=6 => fitting::<6>(sum, c, cut),
        7..=10 => fitting::<10>(sum, c, cut),
        11..=20 => fitting::<20>(sum, c, cut),
        21..=40 => fitting::<40>(sum, c, cut),
        words => {
            let (needed, most) = (format!("{words} words"), MOST_WORDS.to_string());
            Err(Error::TooLong { what: "a mantissa of a listed loss", needed, most })
        }
    }
}

fn fitting<const N: usize>(sum: &LossSum, c: f64, cut: u32) -> Result<Box<dyn Table>> {
    let parts = Parts::new(sum, c, cut)?;
    if let Some(table) = parts.table::<i64, N>(sum) {
        return Ok(Box::new(table));
    }
    if let Some(table) = parts.table::<Middle, N>(sum) {
        return Ok(Box::new(table));
    }
    match parts.table::<Long, N>(sum) {
        Some(table) => Ok(Box::new(table)),
        None => Err(Error::unsuitable(
            "the losses cannot be listed: they span more than 1e8 nats in one part, 7e8 in all, or 2^252 steps of their common lattice",
        )),
    }
}

/// The convolved groups of a sum.
struct Parts {
    c: Rational,
    parts: Vec<TiltedMasses>,
    plan: Plan,
}

impl Parts {
    fn new(sum: &LossSum, c: f64, cut: u32) -> Result<Self> {
        let c = tilt::exact(c);
        // Each of the groups, and each merger, is cut.
        let groups = cost::pieces(sum.groups()).len() as u32;
        let fineness = Fineness::of_sum(sum, cut + groups.max(1).ilog2() + 3);
        let pieces = cost::pieces(sum.groups());
        let single = pieces.iter().map(|(_, group)| terms::of_group(group, &c, fineness));
        let single: Vec<TiltedMasses> = single.collect::<Result<_>>()?;
        let plan = Plan::new(single.iter().enumerate().map(|(k, masses)| masses.part(k)).collect());
        let joined = plan.parts.iter().map(|part| TiltedMasses::joined(&single, &part.groups, fineness));
        let parts: Vec<TiltedMasses> = joined.collect::<Result<_>>()?;
        // Stored masses are lower bounds on masses that sum to 1: a larger sum is a fault, and no bound.
        if parts.iter().any(|part| part.missing() < 0) {
            return Err(Error::Contradiction { what: "the masses of a list, which add up to more than one" });
        }
        Ok(Parts { parts, c, plan })
    }

    /// The lists, or `None` where a key does not fit.
    fn table<K: Key, const N: usize>(&self, sum: &LossSum) -> Option<Tilted<K, N>> {
        let h = self.parts.iter().map(|part| part.step.clone()).reduce(|a, b| rational::gcd(&a, &b))?;
        let nats: f64 = self.parts.iter().map(TiltedMasses::span_approx).sum();
        if nats.is_nan() || nats > column::MOST_NATS_OF_ALL {
            return None;
        }
        let mut reach = Integer::new();
        let mut column = |parts: &[usize]| -> Option<Column<K, N>> {
            let mut product: Option<Column<K, N>> = None;
            for &part in parts {
                let next = Column::of_part(&self.parts[part], &self.c, &h)?;
                reach += next.reach();
                if reach.significant_bits() > K::BITS {
                    return None;
                }
                product = Some(match product {
                    None => next,
                    Some(product) => product.product(&next),
                });
            }
            Some(product.unwrap_or_else(Column::unit))
        };
        let mut half = |[a, b]: &[Vec<usize>; 2]| Some(Half::new([column(a)?, column(b)?]));
        let lists = Lists::new(half(&self.plan.halves[0])?, half(&self.plan.halves[1])?, &h);
        let zero = Enclosure::double(0.0, 64);
        Some(Tilted {
            lists,
            reference: self.parts.iter().map(column::reference).sum(),
            ln_mgf: self.parts.iter().fold(zero, |sum, part| sum.add(&part.ln_mgf)),
            // Each term is rounded up, and so is the sum.
            missing: self.parts.iter().fold(Float::new(64), |sum, part| {
                let missing = part.missing();
                Float::with_val_round(64, &sum + &missing, Round::Up).0
            }),
            largest: (*sum.rho() == 0 && sum.is_symmetric()).then(|| sum.offset().clone()),
            c: self.c.clone(),
            h,
        })
    }
}

impl<K: Key, const N: usize> Table for Tilted<K, N> {
    fn hockey_stick(&self, epsilon: &Rational) -> Enclosure {
        self.hockey_stick(epsilon)
    }

    fn complement(&self, epsilon: &Rational) -> Enclosure {
        self.complement(epsilon)
    }

    fn tail(&self, z: &Rational, side: Side) -> Enclosure {
        self.tail(z, side, Under::P)
    }

    fn tradeoff(&self, alpha: &Rational) -> Option<Enclosure> {
        knot::tradeoff(self, alpha)
    }

    fn lengths(&self) -> (usize, usize) {
        self.lists.lengths()
    }

    fn bytes(&self) -> usize {
        self.lists.bytes()
    }

    fn tilt(&self) -> &Rational {
        &self.c
    }

    fn bits(&self) -> u32 {
        64 * N as u32
    }

    fn missing(&self) -> &Float {
        &self.missing
    }
}
