//! The noise on the counts of a folder.

/// The noise on a count: its variance, and the parameter sigma^2 that bounds its tails, rounded up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The variance.
    pub variance: f64,
    /// The parameter.
    pub proxy: f64,
}

impl Noise {
    pub(super) fn plus(self, other: Noise) -> Noise {
        Noise { variance: self.variance + other.variance, proxy: self.proxy + other.proxy }
    }

    pub(super) fn times(self, factor: f64) -> Noise {
        Noise { variance: self.variance * factor, proxy: self.proxy * factor }
    }
}

pub(super) const NO_NOISE: Noise = Noise { variance: 0.0, proxy: 0.0 };
