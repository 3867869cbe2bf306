//! Groups of equal counts, the terms of a sum of privacy losses.

use rug::Rational;

use super::kinds::Law;

/// `copies` independent terms of one law, each moved by an integer `shift` between the two hypotheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The law of the noise.
    pub law: Law,
    /// The integer by which one count moves.
    pub shift: u64,
    /// The number of independent terms.
    pub copies: u64,
}

impl Group {
    /// The change of the loss of one term when the noise changes by one, where that is linear: shift / sigma2 for Gaussian laws, twice the parameter
    /// for the discrete Laplace.
    pub(crate) fn weight(&self) -> Rational {
        self.law.weight(self.shift)
    }

    /// The least distance of two losses of one term.
    pub(crate) fn spacing(&self) -> Rational {
        let finite = self.law.is_listed().then(|| self.law.finite(self.shift)).flatten();
        finite.map_or_else(|| self.weight(), |finite| finite.spacing())
    }

    /// copies shift^2 / (2 sigma2) for Gaussian laws, else zero.
    pub(crate) fn rho(&self) -> Rational {
        if self.law.has_bounded_loss() { Rational::new() } else { self.zcdp() }
    }

    /// The rho of zero-concentrated differential privacy of all copies.
    pub(crate) fn zcdp(&self) -> Rational {
        self.law.rho(self.shift) * self.copies
    }

    /// The largest size of a loss of all copies of a bounded law, else zero.
    pub(crate) fn size(&self) -> Rational {
        self.law.finite(self.shift).map_or_else(Rational::new, |finite| finite.size() * self.copies)
    }

    /// The largest loss of all copies of a bounded law, else zero.
    pub(crate) fn largest(&self) -> Rational {
        self.law.largest_loss(self.shift).map_or_else(Rational::new, |loss| loss * self.copies)
    }
}
