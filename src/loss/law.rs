//! The law of the noise of one count, and groups of equal counts: the terms of a sum of privacy losses.

use rug::Rational;

/// The law of the noise of one term, and with it the law of ln p(X) / p(X - shift).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// N_Z(0, sigma2) on the integers.
    DiscreteGaussian {
        /// The variance proxy.
        sigma2: Rational,
    },
    /// N(0, sigma2) on the real line.
    Gaussian {
        /// The variance.
        sigma2: Rational,
    },
    /// Mass proportional to exp(-epsilon |x|) at every integer x: two-sided geometric noise.
    DiscreteLaplace {
        /// The parameter in the exponent: the privacy loss of a change by one.
        epsilon: Rational,
    },
}

impl Law {
    pub(super) fn parameter(&self) -> &Rational {
        match self {
            Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => sigma2,
            Law::DiscreteLaplace { epsilon } => epsilon,
        }
    }
}

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
        match &self.law {
            Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => Rational::from(self.shift) / sigma2,
            Law::DiscreteLaplace { epsilon } => Rational::from(epsilon * 2_u32),
        }
    }

    /// copies shift^2 / (2 sigma2) for Gaussian laws, else zero.
    pub(crate) fn rho(&self) -> Rational {
        match &self.law {
            Law::DiscreteGaussian { .. } | Law::Gaussian { .. } => self.weight() * self.shift * self.copies / 2_u32,
            Law::DiscreteLaplace { .. } => Rational::new(),
        }
    }

    /// The largest loss of all copies of a bounded law, else zero.
    pub(crate) fn largest(&self) -> Rational {
        match &self.law {
            Law::DiscreteLaplace { epsilon } => Rational::from(epsilon * self.shift) * self.copies,
            _ => Rational::new(),
        }
    }
}
