//! The facts that every law of noise provides.

use rug::Rational;

use crate::error::Result;

/// The exponent of a law on the integers with mass proportional to exp(-(slope |x| + curvature |x| (|x| - 1) / 2)).
///
/// N_Z(0, sigma2) has slope 1 / (2 sigma2) and curvature 1 / sigma2, since m + m (m - 1) = m^2; the discrete Laplace has slope epsilon and
/// curvature 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exponent {
    /// The slope at zero, above 0.
    pub slope: Rational,
    /// By how much the slope grows with each step, at least 0.
    pub curvature: Rational,
}

/// Both ends of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub least: Rational,
    pub most: Rational,
}

/// The facts that every law provides. Shifts are the integers by which neighbors move a count.
pub(super) trait Facts<'a> {
    /// In words, as in "discrete Gaussian noise".
    fn name(&self) -> &'static str;

    /// In files, options and certificates.
    fn key(&self) -> &'static str;

    /// The name and the value of its parameter.
    fn parameter(&self) -> (&'static str, &'a Rational);

    /// The variance proxy of Gaussian noise, discrete or continuous.
    fn sigma2(&self) -> Option<&'a Rational> {
        None
    }

    /// Whether the noise is on the real line.
    fn is_continuous(&self) -> bool {
        false
    }

    /// An error unless the parameter is in the range of an account.
    fn check(&self) -> Result<()>;

    /// The largest shift of an account.
    fn most_shift(&self) -> u64;

    /// The parameter with which the noise is `factor` times as large: of a Gaussian its variance, of a Laplace its scale.
    fn parameter_times(&self, factor: &Rational) -> Rational;

    /// The factors for which the noise stays in the range of an account.
    fn factors(&self) -> Range;

    /// By what rho is divided where the noise is `factor` times as large.
    fn rho_divisor(&self, factor: &Rational) -> Rational;

    /// The rho of zero-concentrated differential privacy that one count spends.
    fn rho(&self, shift: u64) -> Rational;

    /// The largest loss of one count; `None` where losses are unbounded.
    fn largest_loss(&self, shift: u64) -> Option<Rational>;

    /// 1 / variance of the noise, or of the continuous noise of the same shape: an approximation for weights.
    #[cfg_attr(not(feature = "mechanisms"), allow(dead_code, reason = "estimation is in the feature mechanisms"))]
    fn precision_approx(&self) -> Rational;

    /// The exponent; `None` for noise that is not on the integers.
    fn exponent(&self) -> Option<Exponent>;

    /// An error unless the parameter is in the range of the exact samplers.
    fn check_sampled(&self) -> Result<()>;

    /// The change of the loss of one count when its noise changes by one, where the loss is linear; the step between losses where it is not.
    fn weight(&self, shift: u64) -> Rational;
}
