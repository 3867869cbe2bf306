//! Noise on -bound, ..., bound: a discrete Laplace or a discrete Gaussian law, restricted to that range and renormalized.
//!
//! A count that moves by the shift moves the range with it, so the outcomes at one end of it are possible for one neighbor only: their loss is infinite.
//! Both neighbors can have the noise x from shift - bound to bound, with the loss ln f(x) / f(x - shift).

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    finite::{Finite, Infinite, Mass},
    shape::Shape,
};
use crate::error::{Error, Result};

/// The names in files.
pub(super) const LAPLACE: &str = "truncated-laplace";
pub(super) const GAUSSIAN: &str = "truncated-gaussian";

/// The largest bound.
const MOST_BOUND: u64 = 100_000;
/// The largest shift of an account.
const MOST_SHIFT: u64 = 1000;

/// The law that is truncated, with its facts.
pub(super) struct Truncated<L> {
    pub of: L,
    pub names: [&'static str; 2],
    pub bound: u64,
}

impl<L> Truncated<L> {
    fn check_bound(&self) -> Result<()> {
        match (1..=MOST_BOUND).contains(&self.bound) {
            true => Ok(()),
            false => Err(Error::out_of_range("the bound of truncated noise", self.bound, "1 to 100000")),
        }
    }

    /// The exponent of the mass at x.
    fn exponent<'a>(&self, x: u64) -> Rational
    where
        L: Facts<'a>,
    {
        // slope |x| + curvature |x| (|x| - 1) / 2
        let of_law = self.of.exponent();
        let quadratic = Rational::from(x) * x.saturating_sub(1) / 2_u32;
        of_law.map_or_else(Rational::new, |law| law.slope * x + law.curvature * quadratic)
    }

    /// For a discrete Laplace, whose mass between two integers from..=to of one sign is a geometric sum: up to the factor 1 / (1 - q) of all,
    /// q^from (1 - q^(to - from + 1)).
    fn geometric<'a>(&self, from: u64, to: u64) -> Mass
    where
        L: Facts<'a>,
    {
        Mass::one_minus_exp(self.exponent(from), self.exponent(to - from + 1))
    }

    fn laplace<'a>(&self, shift: u64) -> Finite
    where
        L: Facts<'a>,
    {
        let bound = self.bound;
        let epsilon = self.exponent(1);
        // Noise x at most 0 has the largest loss, x of at least the shift its negative.
        let (first, last) = (shift.saturating_sub(bound), bound.min(shift));
        let mass = |x: u64| match x {
            0 => self.geometric(0, bound - shift),
            x if x == shift => self.geometric(shift, bound),
            x => self.geometric(x, x),
        };
        // Of the noise below shift - bound: below zero, and where the shift exceeds the bound also zero and above it.
        let infinite = match first {
            0 => vec![self.geometric(bound - shift + 1, bound)],
            first => [
                vec![self.geometric(0, bound)],
                (first > 1).then(|| self.geometric(1, first - 1)).into_iter().collect(),
            ]
            .concat(),
        };
        Finite {
            largest: Rational::from(&epsilon * (shift - 2 * first)),
            step: epsilon * 2_u32,
            masses: (first..=last).map(mass).collect(),
            places: None,
            infinite: Infinite::Masses(infinite),
        }
    }

    fn gaussian<'a>(&self, shift: u64) -> Finite
    where
        L: Facts<'a>,
    {
        let (bound, step) = (self.bound as i64, self.of.weight(shift));
        let first = shift as i64 - bound;
        let mass = |x: i64| Mass::exp(self.exponent(x.unsigned_abs()));
        // The loss shift (shift - 2 x) / (2 sigma2), at x = shift - bound.
        let largest = Rational::from(&step * (2 * bound - shift as i64)) / 2_u32;
        Finite {
            largest,
            step,
            masses: (first..=bound).map(mass).collect(),
            places: None,
            infinite: Infinite::Masses((-bound..first).map(mass).collect()),
        }
    }
}

impl<'a, L: Facts<'a>> Facts<'a> for Truncated<L> {
    fn names(&self) -> [&'static str; 2] {
        self.names
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        self.of.parameter()
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        vec![("bound", Rational::from(self.bound))]
    }

    fn has_infinite_loss(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        self.check_bound()?;
        self.of.check()
    }

    fn shape(&self) -> Option<Shape> {
        self.of.exponent().map(|exponent| Shape::Exponential { exponent, bound: Some(self.bound) })
    }

    fn check_sampled(&self) -> Result<()> {
        self.check_bound()?;
        self.of.check_sampled()
    }

    /// At twice the bound neighbors share one outcome, which is as likely under both; beyond that they share none.
    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        self.of.growth()
    }

    /// Losses are in proportion to one over the scale of a Laplace, or the variance of a Gaussian; their rho is that of a largest loss.
    fn rho_divisor(&self, factor: &Rational) -> Rational {
        factor.clone().square()
    }

    fn finite(&self, shift: u64) -> Option<Finite> {
        if shift > 2 * self.bound {
            return Some(Finite::none());
        }
        Some(if self.of.sigma2().is_some() { self.gaussian(shift) } else { self.laplace(shift) })
    }

    /// That of the law that is truncated.
    fn precision_approx(&self) -> Rational {
        self.of.precision_approx()
    }
}
