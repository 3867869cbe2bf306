//! Symmetric laws of finitely many losses that lie on no common lattice, between two that do.
//!
//! # Mixtures of randomized responses
//!
//! In a symmetric pair a loss l > 0 of mass p has a partner -l of mass p exp(-l). Given that the loss is one of these two, the output is a randomized
//! response of epsilon l. So every symmetric pair is a mixture: with probability w_l = p (1 + exp(-l)), which is the same under both hypotheses, it is that
//! response. A response of a larger epsilon can be turned into one of a smaller epsilon by further randomization, without knowing the data. So a mixture
//! with larger losses and the same weights is at most as private, alone and in every composition: its profile is nowhere
//! lower, and its trade-off function nowhere higher.
//!
//! Losses such as ln(3/2), of which no two have a common multiple, are rounded to multiples of 2^-BITS: up for a mixture that is at most as private, down
//! for one that is at least as private. The truth lies between the answers for both.

use std::cmp::Ordering;

use rug::{Float, Integer, Rational, float::Round};

use super::{
    facts::Facts,
    finite::{Factor, Finite, Infinite, Mass},
    uniform::Uniform,
};
use crate::numeric::Enclosure;

/// Losses are rounded to multiples of 2^-BITS.
pub(super) const BITS: u32 = 96;
/// The number of parts of the largest loss to which losses with a density are rounded, and the bits of their probabilities.
const PARTS: u32 = 64;
const WEIGHT_BITS: u32 = 128;

/// The direction in which losses are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To a pair that is at least as private.
    Down,
    /// To a pair that is at most as private.
    Up,
}

/// A mixture of randomized responses whose losses are multiples of 2^-BITS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Responses {
    /// Each loss as a multiple, from the largest down to at least zero, with the probability of a response of this loss. They add up to one.
    weights: Vec<(Integer, Rational)>,
    /// The probability of outputs that only one of two neighbors can have.
    infinite: Rational,
}

impl PartialOrd for Responses {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Responses {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weights.cmp(&other.weights).then_with(|| self.infinite.cmp(&other.infinite))
    }
}

impl Responses {
    /// The mixture with these likelihood ratios, at least one each, and their weights, which add up to one; rounded.
    pub(super) fn new(ratios: &[(Rational, Rational)], infinite: Rational, rounding: Rounding) -> Responses {
        let mut weights: Vec<(Integer, Rational)> = Vec::with_capacity(ratios.len());
        for (ratio, weight) in ratios {
            let multiple = multiple_of_ln(ratio, rounding);
            match weights.iter_mut().find(|(other, _)| *other == multiple) {
                Some((_, sum)) => *sum += weight,
                None => weights.push((multiple, weight.clone())),
            }
        }
        weights.sort_by(|a, b| b.0.cmp(&a.0));
        Responses { weights, infinite }
    }
}

impl Responses {
    /// The multiples of the losses with their probabilities, and the probability of an infinite loss.
    pub(super) fn parts(&self) -> (&[(Integer, Rational)], &Rational) {
        (&self.weights, &self.infinite)
    }

    /// The responses of losses that are uniform once they are tilted: a mixture that is at most as private, or at least: losses are rounded to the next part of the grid, and so are the probabilities
    /// of all losses from a part on.
    pub(super) fn of_uniform(uniform: &Uniform, rounding: Rounding) -> Responses {
        let at = |part: u32| Rational::from(&uniform.largest * part) / PARTS;
        let at_least = |part: u32| uniform.at_least(&at(part), 2 * WEIGHT_BITS);
        let end = |part: u32| -> Integer {
            // Within a unit of the largest loss, which has far more than one.
            let scaled = at(part) << BITS;
            let floor = Integer::from(scaled.floor_ref());
            match rounding {
                Rounding::Down => floor,
                Rounding::Up if scaled == floor => floor,
                Rounding::Up => floor + 1_u32,
            }
        };
        let units = |value: &Float, round| {
            let scaled = Float::with_val(4 * WEIGHT_BITS, value) << WEIGHT_BITS;
            scaled.to_integer_round(round).map_or_else(Integer::new, |(units, _)| units)
        };
        // The probability of a loss of at least that part, in units: more for the one, less for the other, and never above one.
        let most = Integer::from(1) << WEIGHT_BITS;
        let from = |part: u32| match (rounding, part) {
            (Rounding::Down, 0) | (Rounding::Up, 0 | 1) => most.clone(),
            (Rounding::Down, part) => units(at_least(part).lower(), Round::Down).max(Integer::new()),
            (Rounding::Up, part) => units(at_least(part - 1).upper(), Round::Up).min(most.clone()),
        };
        let mut weights = Vec::with_capacity(PARTS as usize + 1);
        let mut above = Integer::new();
        for part in (0..=PARTS).rev() {
            let all = from(part).max(above.clone());
            let weight = Integer::from(&all - &above);
            if weight > 0 {
                weights.push((end(part), Rational::from(weight) >> WEIGHT_BITS));
            }
            above = all;
        }
        Responses { weights, infinite: Rational::new() }
    }

    /// One response of the least loss above zero.
    pub(super) fn of_least_loss(infinite: Rational) -> Responses {
        Responses { weights: vec![(Integer::from(1), Rational::from(1))], infinite }
    }
}

/// ln of a ratio of at least one as a multiple of 2^-BITS, rounded.
pub(super) fn multiple_of_ln(ratio: &Rational, rounding: Rounding) -> Integer {
    if *ratio == 1 {
        return Integer::new();
    }
    // A logarithm of a rational other than one is no rational, so more bits decide.
    let mut bits = 2 * BITS + 64;
    loop {
        let scaled = Enclosure::rational(ratio, bits).ln().times_power_of_two(i64::from(BITS));
        let (down, up) = (floor(scaled.lower()), floor(scaled.upper()));
        if down == up || bits > 1 << 16 {
            // The lower end for the one, and above the upper end for the other, hold even if they are still apart.
            return match rounding {
                Rounding::Down => down.max(Integer::new()),
                Rounding::Up => up + 1_u32,
            };
        }
        bits *= 2;
    }
}

fn floor(value: &Float) -> Integer {
    value.to_integer_round(Round::Down).map_or_else(Integer::new, |(floor, _)| floor)
}

impl<'a> Facts<'a> for &'a Responses {
    fn names(&self) -> [&'static str; 2] {
        ["a mixture of randomized responses", "responses"]
    }

    fn is_guarantee(&self) -> bool {
        true
    }

    fn is_listed(&self) -> bool {
        true
    }

    /// Zero where no outcome is common to both, so that every loss is infinite.
    fn largest_loss(&self, _: u64) -> Option<Rational> {
        Some(self.weights.first().map(|(multiple, _)| Rational::from(multiple) >> BITS).unwrap_or_default())
    }

    fn weight(&self, _: u64) -> Rational {
        Rational::from(1) >> BITS
    }

    fn losses(&self, _: u64) -> Option<u64> {
        let zero = self.weights.iter().filter(|(multiple, _)| *multiple == 0).count();
        Some((2 * self.weights.len() - zero) as u64)
    }

    fn has_infinite_loss(&self) -> bool {
        self.infinite > 0
    }

    fn most_shift(&self) -> u64 {
        1
    }

    /// A loss l of weight w has mass w / (1 + exp(-l)), and -l has exp(-l) times that; a loss of zero has all its weight.
    fn finite(&self, _: u64) -> Option<Finite> {
        let loss = |multiple: &Integer| Rational::from(multiple) >> BITS;
        let positive = || self.weights.iter().filter(|(multiple, _)| *multiple > 0);
        let mass = |exponent: Rational, (multiple, weight): &(Integer, Rational)| Mass {
            exponent,
            factor: Factor::Response { weight: weight.clone(), loss: loss(multiple) },
        };
        let zero = self.weights.iter().filter(|(multiple, _)| *multiple == 0);
        let zero = zero.map(|(_, weight)| Mass { exponent: Rational::new(), factor: Factor::Exactly(weight.clone()) });
        let above = positive().map(|own| mass(Rational::new(), own));
        let below = positive().rev().map(|own| mass(loss(&own.0), own));
        let places = positive().map(|(multiple, _)| multiple.clone());
        let at_zero = self.weights.iter().filter(|(multiple, _)| *multiple == 0).map(|_| Integer::new());
        let negative = positive().rev().map(|(multiple, _)| Integer::from(-multiple));
        Some(Finite {
            largest: self.weights.first().map(|(multiple, _)| loss(multiple)).unwrap_or_default(),
            step: Rational::from(1) >> BITS,
            masses: above.chain(zero).chain(below).collect(),
            places: Some(places.chain(at_zero).chain(negative).collect()),
            infinite: Infinite::Exactly(self.infinite.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn logarithms_are_rounded_outward_by_one_unit() {
        for ratio in [(3_u32, 2_u32), (1_000_001, 1_000_000), (7, 1), (1, 1)] {
            let ratio = Rational::from(ratio);
            let truth = Enclosure::rational(&ratio, 600).ln().times_power_of_two(i64::from(BITS));
            let (down, up) = (multiple_of_ln(&ratio, Rounding::Down), multiple_of_ln(&ratio, Rounding::Up));
            assert!(*truth.lower() >= down && *truth.upper() <= up, "{ratio}");
            assert_eq!(Integer::from(&up - &down), u32::from(ratio != 1), "{ratio}");
        }
    }

    /// The masses of both grids enclose the moments in closed form.
    #[test]
    fn moments_lie_between_those_of_both_grids() {
        for (largest, has_ends) in [("1/100", true), ("1", true), ("7", true), ("1/3", false), ("5", false)] {
            let uniform = Uniform { largest: parse(largest).unwrap(), has_ends };
            let x = uniform.largest.to_f64();
            for s in [0.5, 1.0, 4.0_f64] {
                let (up, down) = ((s * x).exp(), (-(1.0 + s) * x).exp());
                let truth = match has_ends {
                    true => ((1.0 + s) * up + s * down) / (1.0 + 2.0 * s),
                    false => (up - down) / ((1.0 + 2.0 * s) * (1.0 - (-x).exp())),
                };
                let [below, above] = [Rounding::Down, Rounding::Up].map(|rounding| {
                    let one = (&Responses::of_uniform(&uniform, rounding)).finite(1).unwrap();
                    one.ln_mgf(&Rational::from_f64(s).unwrap(), 128).exp().approximate()
                });
                assert!(below <= truth && truth <= above, "{largest} {s}: {below} {truth} {above}");
                assert!(above - below < 0.1 * x * s * truth, "{largest} {s}: {below} {truth} {above}");
            }
        }
    }
}
