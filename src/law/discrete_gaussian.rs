//! N_Z(0, sigma2): mass proportional to exp(-x^2 / (2 sigma2)) at every integer (Canonne, Kamath & Steinke 2020).

use rug::Rational;

use super::{
    facts::{Facts, Range},
    finite::Finite,
    gaussian,
    shape::Exponent,
};
use crate::{error::Result, law::parameter::Sigma2};

/// The name in files.
pub(super) const KEY: &str = "discrete-gaussian";

pub(super) struct DiscreteGaussian<'a> {
    pub sigma2: &'a Rational,
}

impl<'a> Facts<'a> for DiscreteGaussian<'a> {
    fn name(&self) -> &'static str {
        "discrete Gaussian"
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

    fn check(&self) -> Result<()> {
        Sigma2::try_from(self.sigma2).map(|_| ())
    }

    fn most_shift(&self) -> u64 {
        gaussian::MOST_SHIFT
    }

    fn parameter_times(&self, factor: &Rational) -> Rational {
        Rational::from(self.sigma2 * factor)
    }

    fn factors(&self) -> Range {
        gaussian::factors(self.sigma2)
    }

    fn rho_divisor(&self, factor: &Rational) -> Rational {
        factor.clone()
    }

    /// shift^2 / (2 sigma2) (Canonne, Kamath & Steinke 2020, Theorem 4).
    fn rho(&self, shift: u64) -> Rational {
        gaussian::rho(self.sigma2, shift)
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
        let slope = Rational::from(self.sigma2 * 2_u32).recip();
        Some(Exponent { slope, curvature: self.sigma2.clone().recip() })
    }

    fn check_sampled(&self) -> Result<()> {
        self.check()
    }

    fn weight(&self, shift: u64) -> Rational {
        Rational::from(shift) / self.sigma2
    }
}
