//! N(0, sigma2) on the real line, and what the discrete Gaussian has in common with it.

use rug::Rational;

use super::{
    facts::{Facts, Range},
    finite::Finite,
    shape::Exponent,
};
use crate::{error::Result, law::parameter::Sigma2};

/// The name in files.
pub(super) const KEY: &str = "gaussian";

/// The largest shift of an account.
pub(super) const MOST_SHIFT: u64 = 1_000_000;
/// The range of sigma2 in which a calibration searches.
const LEAST_SIGMA2: (u32, u32) = (1, 1_000_000);
const MOST_SIGMA2: u64 = 1_000_000_000_000;

pub(super) struct Gaussian<'a> {
    pub sigma2: &'a Rational,
}

pub(super) fn factors(sigma2: &Rational) -> Range {
    Range { least: Rational::from(LEAST_SIGMA2) / sigma2, most: Rational::from(MOST_SIGMA2) / sigma2 }
}

pub(super) fn rho(sigma2: &Rational, shift: u64) -> Rational {
    Rational::from(shift).square() / sigma2 / 2_u32
}

impl<'a> Facts<'a> for Gaussian<'a> {
    fn name(&self) -> &'static str {
        "Gaussian"
    }

    fn key(&self) -> &'static str {
        KEY
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("sigma2", self.sigma2)
    }

    fn sigma2(&self) -> Option<&'a Rational> {
        Some(self.sigma2)
    }

    fn is_continuous(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        Sigma2::try_from(self.sigma2).map(|_| ())
    }

    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn parameter_times(&self, factor: &Rational) -> Rational {
        Rational::from(self.sigma2 * factor)
    }

    fn factors(&self) -> Range {
        factors(self.sigma2)
    }

    fn rho_divisor(&self, factor: &Rational) -> Rational {
        factor.clone()
    }

    /// shift^2 / (2 sigma2) (Bun & Steinke 2016, Proposition 1.6).
    fn rho(&self, shift: u64) -> Rational {
        rho(self.sigma2, shift)
    }

    fn largest_loss(&self, _: u64) -> Option<Rational> {
        None
    }

    fn is_bounded(&self) -> bool {
        false
    }

    fn finite(&self, _: u64) -> Option<Finite> {
        None
    }

    fn precision_approx(&self) -> Rational {
        self.sigma2.clone().recip()
    }

    fn exponent(&self) -> Option<Exponent> {
        None
    }

    fn check_sampled(&self) -> Result<()> {
        Ok(())
    }

    fn weight(&self, shift: u64) -> Rational {
        Rational::from(shift) / self.sigma2
    }
}
