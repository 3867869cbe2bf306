//! One supporting line of the trade-off function.

use rug::{Float, Rational};

use crate::numeric::Enclosure;

/// A line below the trade-off function.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The loss exactly, and as a float.
    pub(super) exact: Rational,
    pub(super) eps: Float,
    /// The requested digits of the profile, and whether they were reached.
    pub(super) digits: u32,
    pub(super) met: bool,
    /// exp(eps), minus the slope.
    pub(super) slope: Enclosure,
    /// The height at alpha.
    pub(super) height: Enclosure,
}

impl Line {
    /// Whether its height is no more precise than a value between lines, and the profile cannot be evaluated to more digits.
    pub(super) fn limits(&self, value: &Enclosure) -> bool {
        !self.met && width(&self.height) * 4_u32 >= width(value)
    }

    /// The relative width of the height.
    pub(super) fn noise(&self) -> Float {
        width(&self.height) / Float::with_val(64, self.height.upper())
    }
}

/// The width of an enclosure, rounded.
pub(super) fn width(value: &Enclosure) -> Float {
    Float::with_val(64, value.upper() - value.lower())
}
