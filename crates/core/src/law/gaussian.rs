//! Gaussian noise: N_Z(0, sigma2), whose mass is proportional to exp(-x^2 / (2 sigma2)) at every integer (Canonne, Kamath & Steinke 2020); N(0, sigma2) on the real
//! line; and the same on a Poisson sample of the records, in which every record is with probability `rate`, independently.
//!
//! Accounts take noise on samples as what it is ([`SampledSum`](crate::loss::sampled)). Its facts here are those of the same noise without sampling, which is
//! at most as private: rho is an upper bound.

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    shape::Exponent,
};
use crate::{
    error::{Error, Result},
    law::parameter::Sigma2,
    numeric::rational,
};

/// The names in files.
pub(super) const DISCRETE: &str = "discrete-gaussian";
pub(super) const CONTINUOUS: &str = "gaussian";
pub(super) const SAMPLED: &str = "sampled-gaussian";

/// The largest shift of an account.
const MOST_SHIFT: u64 = 1_000_000;
/// The range of sigma2 in which a calibration searches.
const LEAST_SIGMA2: (u32, u32) = (1, 1_000_000);
const MOST_SIGMA2: u64 = 1_000_000_000_000;

pub(super) struct Gaussian<'a> {
    sigma2: &'a Rational,
    kind: Kind<'a>,
}

#[derive(PartialEq)]
enum Kind<'a> {
    Discrete,
    Continuous,
    Sampled { rate: &'a Rational },
}

impl<'a> Gaussian<'a> {
    pub(super) fn discrete(sigma2: &'a Rational) -> Self {
        Gaussian { sigma2, kind: Kind::Discrete }
    }

    pub(super) fn continuous(sigma2: &'a Rational) -> Self {
        Gaussian { sigma2, kind: Kind::Continuous }
    }

    pub(super) fn sampled(rate: &'a Rational, sigma2: &'a Rational) -> Self {
        Gaussian { sigma2, kind: Kind::Sampled { rate } }
    }
}

impl<'a> Facts<'a> for Gaussian<'a> {
    fn names(&self) -> [&'static str; 2] {
        match self.kind {
            Kind::Discrete => ["discrete Gaussian", DISCRETE],
            Kind::Continuous => ["Gaussian", CONTINUOUS],
            Kind::Sampled { .. } => ["Poisson-sampled Gaussian", SAMPLED],
        }
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("sigma2", self.sigma2)
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        match self.kind {
            Kind::Sampled { rate } => vec![("rate", rate.clone())],
            Kind::Discrete | Kind::Continuous => Vec::new(),
        }
    }

    fn is_sampled(&self) -> bool {
        matches!(self.kind, Kind::Sampled { .. })
    }

    fn sigma2(&self) -> Option<&'a Rational> {
        (!self.is_sampled()).then_some(self.sigma2)
    }

    fn is_continuous(&self) -> bool {
        self.kind != Kind::Discrete
    }

    fn check(&self) -> Result<()> {
        if let Kind::Sampled { rate } = self.kind
            && (*rate < Rational::from((1, 1_000_000_000_u64)) || *rate > 1)
        {
            return Err(Error::out_of_range("rate", rational::display(rate), "a probability from 10^-9 to 1"));
        }
        Sigma2::try_from(self.sigma2).map(|_| ())
    }

    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        Some((Growth::Variance, Range::new(LEAST_SIGMA2, MOST_SIGMA2)))
    }

    /// shift^2 / (2 sigma2) (Canonne, Kamath & Steinke 2020, Theorem 4; Bun & Steinke 2016, Proposition 1.6).
    fn rho(&self, shift: u64) -> Rational {
        Rational::from(shift).square() / self.sigma2 / 2_u32
    }

    fn precision_approx(&self) -> Rational {
        self.sigma2.clone().recip()
    }

    fn exponent(&self) -> Option<Exponent> {
        let slope = Rational::from(self.sigma2 * 2_u32).recip();
        (self.kind == Kind::Discrete).then(|| Exponent { slope, curvature: self.sigma2.clone().recip() })
    }

    /// Noise on the real line is not drawn at all.
    fn check_sampled(&self) -> Result<()> {
        if self.kind == Kind::Continuous { Ok(()) } else { self.check() }
    }

    fn weight(&self, shift: u64) -> Rational {
        Rational::from(shift) / self.sigma2
    }
}
