//! Two doubles with a number between them.

use rug::{Float, Rational};

use crate::numeric::Enclosure;

/// Bits of a number that is rounded to doubles afterwards.
const BITS: u32 = 80;

/// lower <= number <= upper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ends {
    pub lower: f64,
    pub upper: f64,
}

impl Ends {
    pub fn of_enclosure(enclosure: &Enclosure) -> Self {
        let (lower, upper) = enclosure.doubles();
        Ends { lower, upper }
    }

    pub fn of_rational(value: &Rational) -> Self {
        Ends::of_enclosure(&Enclosure::rational(value, BITS))
    }

    /// A number above zero that errs by at most this much of itself.
    pub fn around(value: f64, error: f64) -> Self {
        // One double further on both sides pays for these two products, and for a number so small that it has few digits.
        Ends { lower: (value * (1.0 - error)).next_down().max(0.0), upper: (value * (1.0 + error)).next_up() }
    }

    pub fn enclosure(self) -> Enclosure {
        Enclosure::new(Float::with_val(64, self.lower), Float::with_val(64, self.upper))
    }

    /// The sum. Doubles are rounded to the nearest, so that the next one is beyond the sum.
    pub fn plus(self, other: Ends) -> Self {
        Ends { lower: (self.lower + other.lower).next_down(), upper: (self.upper + other.upper).next_up() }
    }

    /// The product of numbers that are not negative.
    pub fn times(self, other: Ends) -> Self {
        Ends { lower: (self.lower * other.lower).next_down().max(0.0), upper: (self.upper * other.upper).next_up() }
    }

    /// The quotient of a number that is not negative and one above zero.
    pub fn over(self, other: Ends) -> Self {
        Ends { lower: (self.lower / other.upper).next_down().max(0.0), upper: (self.upper / other.lower).next_up() }
    }

    /// The product of a number above zero with a double.
    pub fn scaled(self, factor: f64) -> Self {
        let [a, b] = [self.lower * factor, self.upper * factor];
        Ends { lower: a.min(b).next_down(), upper: a.max(b).next_up() }
    }

    /// One less a probability.
    pub fn complement(self) -> Self {
        Ends { lower: (1.0 - self.upper).next_down().max(0.0), upper: (1.0 - self.lower).next_up() }
    }

    pub fn negated(self) -> Self {
        Ends { lower: -self.upper, upper: -self.lower }
    }
}
