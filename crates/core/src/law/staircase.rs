//! Staircase noise on the integers (Geng & Viswanath 2014, "The optimal mechanism in differential privacy"): stairs that fall by exp(-epsilon) once in every
//! `period` values, the first of them after `first` values on each side of zero.
//!
//! With q = exp(-epsilon), a period P and a first stair of r values, 1 <= r <= P, the mass at x is in proportion to q^level(|x|), level(m) = floor((m + P - r) / P). A count that
//! changes by at most P has a loss of -epsilon, 0 or epsilon. A period of 1 is discrete Laplace noise.
//!
//! # The largest change is the worst
//!
//! The noise is not log-concave. But its losses, for each change, are multiples of epsilon, so that for each change s the function M_s(c) = sum over x of min(f(x - s), c f(x)) is
//! linear between the c = exp(k epsilon), and concave. By Blackwell's theorem it is enough that M_s falls with s at these; both hypotheses are mirror images, so k >= 0 is enough. There
//! c f(x) = f(0) q^(level(|x|) - k), which is f(|x| - k P) from |x| = k P on, and at least f(0), which is the largest mass, below. So with y = x - s
//!
//! ```text
//! M_s = sum over y of f(max(|y|, |y + s| - k P)),
//! ```
//!
//! because f does not rise with the size of its argument. |y + s| - k P is beyond |y| only where y + s > 0 (for y + s <= 0 it is |y| - s - k P), and there it rises with s. So no term rises
//! with s: at every epsilon and in every composition the largest change of a count is the worst. For records of a group, which may share out their changes among counts
//! in several ways, all ways are compared.

use std::collections::BTreeMap;

use rug::{Integer, Rational};

use super::{
    changes::Changes,
    discrete_laplace::DiscreteLaplace,
    facts::{Facts, Growth, Range},
    finite::{Factor, Finite, Infinite, Mass},
    shape::Shape,
};
use crate::error::{Error, Result};

/// The name in files.
pub(super) const KEY: &str = "staircase";

/// The largest period, and the largest shift of an account.
const MOST: u64 = 1000;

pub(super) struct Staircase<'a> {
    pub epsilon: &'a Rational,
    pub period: u64,
    pub first: u64,
    /// Whether several records may change a count, each by as much: then there are several ways.
    pub changes: Changes,
}

/// How often each mass up to a common factor occurs among the outputs of one loss: by its level, and whether it is of one output, not of all that follow at the distance
/// of a period.
type Outputs = BTreeMap<(u64, bool), u64>;

impl Staircase<'_> {
    /// The number of stairs from zero to a value of this size.
    fn level(&self, size: u64) -> u64 {
        (size + self.period - self.first) / self.period
    }

    /// The losses of a change, in multiples of epsilon, with their outputs.
    ///
    /// Noise y of the first hypothesis is y + s for the second: the loss is level(|y + s|) - level(|y|). For y >= 0 and y <= -s it recurs with every period, at which the mass falls
    /// by q: in units of 1 / (1 - q) all of one remainder have the mass of the first. Between are s - 1 single outputs.
    fn outputs(&self, shift: u64) -> BTreeMap<i64, Outputs> {
        let mut all: BTreeMap<i64, Outputs> = BTreeMap::new();
        let mut add = |from: u64, to: u64, is_single: bool| {
            let outputs = all.entry(to as i64 - from as i64).or_default();
            *outputs.entry((from, is_single)).or_default() += 1;
        };
        for near in 0..self.period {
            let (near, far) = (self.level(near), self.level(near + shift));
            add(near, far, false);
            add(far, near, false);
        }
        (1..shift).for_each(|size| add(self.level(size), self.level(shift - size), true));
        all
    }

    /// The mass of some outputs: a sum of numbers times q^level, or times q^level (1 - q) for single ones.
    fn mass(&self, outputs: &Outputs) -> Mass {
        let least = outputs.keys().map(|(level, _)| *level).min().unwrap_or_default();
        let part = |(&(level, is_single), &count): (&(u64, bool), &u64)| {
            let exponent = Rational::from(self.epsilon * (level - least));
            let each =
                if is_single { Mass::one_minus_exp(exponent, self.epsilon.clone()) } else { Mass::exp(exponent) };
            (count, each)
        };
        Mass { exponent: Rational::from(self.epsilon * least), factor: Factor::Sum(outputs.iter().map(part).collect()) }
    }
}

impl<'a> Facts<'a> for Staircase<'a> {
    fn names(&self) -> [&'static str; 2] {
        ["staircase", KEY]
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("epsilon", self.epsilon)
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        vec![("period", Rational::from(self.period)), ("first", Rational::from(self.first))]
    }

    /// Where the data decide how several records share out their changes, all ways are compared.
    fn is_symmetric(&self) -> bool {
        self.changes == Changes::Exactly
    }

    fn check(&self) -> Result<()> {
        if !(1..=MOST).contains(&self.period) {
            return Err(Error::out_of_range("the period of staircase noise", self.period, "1 to 1000"));
        }
        if !(1..=self.period).contains(&self.first) {
            let expected = format!("1 to {}, the period", self.period);
            return Err(Error::out_of_range("the first stair of staircase noise", self.first, &expected));
        }
        DiscreteLaplace { epsilon: self.epsilon }.check()
    }

    fn most_shift(&self) -> u64 {
        MOST
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        DiscreteLaplace { epsilon: self.epsilon }.growth()
    }

    /// As many stairs as there can be within the shift, as from the last value of the first one.
    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        Some(Rational::from(self.epsilon * shift.div_ceil(self.period)))
    }

    fn finite(&self, shift: u64) -> Option<Finite> {
        let outputs = self.outputs(shift);
        let losses: Vec<i64> = outputs.keys().rev().copied().collect();
        let apart = losses.windows(2).map(|two| two[0] - two[1]).collect::<Vec<_>>();
        let is_even = apart.windows(2).all(|two| two[0] == two[1]);
        let step = if is_even { apart.first().copied().unwrap_or(1) } else { 1 };
        Some(Finite {
            largest: Rational::from(self.epsilon * losses.first().copied().unwrap_or_default()),
            step: Rational::from(self.epsilon * step),
            masses: outputs.values().rev().map(|outputs| self.mass(outputs)).collect(),
            places: (!is_even).then(|| losses.into_iter().map(Integer::from).collect()),
            infinite: Infinite::Never,
        })
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Staircase { epsilon: self.epsilon.clone(), period: self.period, first: self.first })
    }

    /// That of the continuous Laplace of scale period / epsilon.
    fn precision_approx(&self) -> Rational {
        (Rational::from(self.epsilon) / self.period).square() / 2_u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Enclosure, rational::parse};

    fn staircase(epsilon: &Rational, period: u64, first: u64) -> Staircase<'_> {
        Staircase { epsilon, period, first, changes: Changes::Exactly }
    }

    /// ln f(x) in units of epsilon.
    fn level(x: i64, period: u64, first: u64) -> i64 {
        ((x.unsigned_abs() + period - first) / period) as i64
    }

    /// The masses of each loss by listing outputs, far into both tails.
    #[test]
    fn the_masses_of_losses_are_those_of_the_outputs() {
        let epsilon = parse("1/2").unwrap();
        for (period, first, shift) in [(1, 1, 3), (2, 1, 2), (2, 2, 3), (4, 2, 3), (4, 3, 4), (5, 1, 12), (3, 3, 7)] {
            let finite = staircase(&epsilon, period, first).finite(shift).unwrap();
            let mut listed: BTreeMap<i64, f64> = BTreeMap::new();
            let mass = |x: i64| (-0.5 * level(x, period, first) as f64).exp();
            let reach = 100 * period as i64;
            let total: f64 = (-reach..=reach).map(mass).sum();
            for y in -reach..=reach {
                let loss = level(y + shift as i64, period, first) - level(y, period, first);
                *listed.entry(loss).or_default() += mass(y) / total;
            }
            let masses = finite.masses(100);
            assert_eq!(masses.len(), listed.len(), "{period} {first} {shift}");
            for (k, (loss, expected)) in listed.iter().rev().enumerate() {
                assert_eq!(finite.loss(k), Rational::from((*loss, 2)), "{period} {first} {shift}");
                let own = masses[k].approximate();
                assert!((own - expected).abs() < 1e-13, "{period} {first} {shift}, {loss}: {own} and {expected}");
            }
        }
    }

    /// M_s at every c, from outputs: the pair of a larger change is nowhere more private.
    #[test]
    fn a_larger_change_is_never_more_private() {
        for q in [0.2_f64, 0.7, 0.95] {
            for (period, first) in [(1, 1), (2, 1), (3, 2), (5, 1), (5, 3), (5, 5), (7, 2)] {
                let reach = 40 * period as i64 + (60.0 / -q.ln()) as i64 * period as i64;
                let mass = |x: i64| q.powi(level(x, period, first) as i32);
                let stays =
                    |shift: i64, c: f64| (-reach..=reach).map(|x| mass(x - shift).min(c * mass(x))).sum::<f64>();
                for k in 0..4 {
                    let mut last = f64::INFINITY;
                    for shift in 1..4 * period as i64 {
                        let own = stays(shift, q.powi(-k));
                        assert!(own <= last * (1.0 + 1e-12), "{q} {period} {first} {k} {shift}: {own} after {last}");
                        last = own;
                    }
                }
            }
        }
    }

    #[test]
    fn a_period_of_one_is_the_discrete_laplace() {
        let epsilon = parse("3/4").unwrap();
        let (own, laplace) = (staircase(&epsilon, 1, 1), DiscreteLaplace { epsilon: &epsilon });
        for shift in [1, 2, 5] {
            let [own, known] = [own.finite(shift).unwrap(), laplace.finite(shift).unwrap()];
            assert_eq!((&own.largest, &own.step, own.places.is_none()), (&known.largest, &known.step, true));
            let close = |(a, b): (&Enclosure, &Enclosure)| a.overlaps(b);
            assert!(own.masses(120).iter().zip(&known.masses(120)).all(close), "{shift}");
            assert!(own.ln_mgf(&parse("7/3").unwrap(), 120).overlaps(&known.ln_mgf(&parse("7/3").unwrap(), 120)));
        }
    }

    #[test]
    fn the_largest_loss_is_that_of_the_list() {
        let epsilon = parse("1/3").unwrap();
        for period in 1..6 {
            for (first, shift) in (1..=period).flat_map(|first| (1..17).map(move |shift| (first, shift))) {
                let own = staircase(&epsilon, period, first);
                assert_eq!(own.largest_loss(shift).unwrap(), own.finite(shift).unwrap().largest);
            }
        }
    }
}
