//! A law on a Poisson sample of the records: the rate and the law. What follows from both is in [`on_samples`](super::on_samples).

use rug::Rational;

/// Noise of a law on the counts of a Poisson sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sampled<L> {
    rate: Rational,
    law: L,
}

impl<L> Sampled<L> {
    /// Both, unchecked.
    pub(super) fn of(rate: Rational, law: L) -> Self {
        Sampled { rate, law }
    }

    /// The probability of each record to be in the sample.
    pub fn rate(&self) -> &Rational {
        &self.rate
    }

    /// The law of the noise.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The same samples with other noise.
    pub(super) fn with_law(&self, law: L) -> Self {
        Sampled { rate: self.rate.clone(), law }
    }
}
