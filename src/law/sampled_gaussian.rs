//! Gaussian noise on a Poisson sample of the records: every record is in the sample with probability `rate`, independently.
//!
//! Accounts take it as what it is ([`SampledSum`](crate::loss::sampled)). Its facts here are those of the same noise without sampling, which is at most as
//! private: rho is an upper bound.

use rug::Rational;

use super::{
    facts::{Facts, Range},
    finite::Finite,
    gaussian,
};
use crate::{
    error::{Error, Result},
    law::parameter::Sigma2,
    numeric::rational,
};

/// The name in files.
pub(super) const KEY: &str = "sampled-gaussian";

pub(super) struct SampledGaussian<'a> {
    pub rate: &'a Rational,
    pub sigma2: &'a Rational,
}

impl<'a> Facts<'a> for SampledGaussian<'a> {
    fn name(&self) -> &'static str {
        "Poisson-sampled Gaussian"
    }

    fn key(&self) -> &'static str {
        KEY
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("sigma2", self.sigma2)
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        vec![("rate", self.rate.clone())]
    }

    fn is_sampled(&self) -> bool {
        true
    }

    fn is_continuous(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        let least = Rational::from((1, 1_000_000_000_u64));
        if *self.rate < least || *self.rate > 1 {
            return Err(Error::out_of_range("rate", rational::display(self.rate), "a probability from 10^-9 to 1"));
        }
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

    fn weight(&self, shift: u64) -> Rational {
        Rational::from(shift) / self.sigma2
    }
}
