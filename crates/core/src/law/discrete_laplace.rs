//! Two-sided geometric noise: mass proportional to exp(-epsilon |x|) at every integer (Ghosh, Roughgarden & Sundararajan 2009).

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    finite::{Finite, Infinite, Mass},
    shape::Exponent,
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// The name in files.
pub(super) const KEY: &str = "discrete-laplace";

/// The largest shift of an account, whose losses are listed.
const MOST_SHIFT: u64 = 1000;
/// The range of epsilon in an account, and that of the samplers.
const LEAST: (u32, u32) = (1, 1_000_000);
const MOST: u64 = 1000;
const LEAST_SAMPLED: (u32, u32) = (1, 1_000_000_000);
const MOST_SAMPLED: u64 = 1_000_000;

pub(super) struct DiscreteLaplace<'a> {
    pub epsilon: &'a Rational,
}

impl DiscreteLaplace<'_> {
    fn within(&self, least: (u32, u32), most: u64, expected: &str) -> Result<()> {
        if *self.epsilon >= Rational::from(least) && *self.epsilon <= most {
            return Ok(());
        }
        Err(Error::out_of_range("epsilon of the discrete Laplace", rational::display(self.epsilon), expected))
    }
}

impl<'a> Facts<'a> for DiscreteLaplace<'a> {
    fn names(&self) -> [&'static str; 2] {
        ["discrete Laplace", KEY]
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("epsilon", self.epsilon)
    }

    fn check(&self) -> Result<()> {
        self.within(LEAST, MOST, "a parameter above 0, from 1e-6 to 1e3")
    }

    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        Some((Growth::Inverse, Range::new(LEAST, MOST)))
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        Some(Rational::from(self.epsilon * shift))
    }

    /// With q = exp(-epsilon) the loss epsilon (shift - 2 x) has mass 1 / (1 + q) at x = 0, q^shift / (1 + q) at x = shift, and (1 - q) q^x / (1 + q)
    /// between: the mass beyond an end has the end's loss.
    fn finite(&self, shift: u64) -> Option<Finite> {
        let exponent = |x: u64| Rational::from(self.epsilon * x);
        let mass = |x: u64| match x {
            0 => Mass::exp(Rational::new()),
            x if x == shift => Mass::exp(exponent(x)),
            x => Mass::one_minus_exp(exponent(x), self.epsilon.clone()),
        };
        Some(Finite {
            largest: exponent(shift),
            step: exponent(2),
            masses: (0..=shift).map(mass).collect(),
            places: None,
            infinite: Infinite::Never,
        })
    }

    fn losses(&self, shift: u64) -> Option<u64> {
        Some(shift + 1)
    }

    /// That of the continuous Laplace of scale 1 / epsilon.
    fn precision_approx(&self) -> Rational {
        self.epsilon.clone().square() / 2_u32
    }

    fn exponent(&self) -> Option<Exponent> {
        Some(Exponent { slope: self.epsilon.clone(), curvature: Rational::new() })
    }

    fn check_sampled(&self) -> Result<()> {
        self.within(LEAST_SAMPLED, MOST_SAMPLED, "a parameter above 0, from 1e-9 to 1e6")
    }

    fn weight(&self, _: u64) -> Rational {
        Rational::from(self.epsilon * 2_u32)
    }
}
