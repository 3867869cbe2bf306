//! The steps whose losses are composed.

use rug::Rational;

/// Steps of equal sampling and noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// The probability g of each record to be in the sample, between 0 and 1 exclusive.
    pub(crate) rate: Rational,
    /// The variance of the noise over the square of the change of a sampled sum.
    pub(crate) sigma2: Rational,
    /// How many steps.
    pub(crate) steps: u64,
}
