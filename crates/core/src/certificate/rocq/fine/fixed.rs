//! Exponentials in fixed point, in the integers of `proofs/rocq/Fixed.v`: from 1 - z <= exp(-z) <= 1 / (1 + z) and repeated squaring.

use rug::{Integer, Rational};

/// The numbers of a certificate: bits after the point, and squarings of an exponential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fixed {
    pub(super) bits: u32,
    pub(super) squarings: u32,
}

impl Fixed {
    pub(super) fn one(self) -> Integer {
        Integer::from(1) << self.bits
    }

    /// The product of two of these numbers, rounded up: an upper bound, at most one unit too large.
    pub(super) fn scale_up(self, product: Integer) -> Integer {
        (product >> self.bits) + 1_u32
    }

    /// The same rounded down.
    pub(super) fn scale_down(self, product: Integer) -> Integer {
        product >> self.bits
    }

    /// An upper bound on exp(-y), for y >= 0.
    pub(super) fn exp_up(self, y: &Rational) -> Integer {
        let scaled = Integer::from(y.denom() << self.squarings);
        let whole = Integer::from(&scaled + y.numer());
        let first: Integer = (scaled << self.bits) / whole + 1_u32;
        (0..self.squarings).fold(first, |value, _| self.scale_up(value.square()))
    }

    /// A lower bound on exp(-y), for y >= 0.
    pub(super) fn exp_down(self, y: &Rational) -> Integer {
        let scaled = Integer::from(y.denom() << self.squarings);
        let rest = Integer::from(&scaled - y.numer()).max(Integer::new());
        let first: Integer = (rest << self.bits) / scaled;
        (0..self.squarings).fold(first, |value, _| self.scale_down(value.square()))
    }

    /// An upper bound on exp(-y), for any y; nothing if the bits do not suffice.
    pub(super) fn exp_up_signed(self, y: &Rational) -> Option<Integer> {
        if *y >= 0 {
            return Some(self.exp_up(y));
        }
        let inverse = self.exp_down(&Rational::from(-y));
        (inverse > 0).then(|| (Integer::from(1) << (2 * self.bits)) / inverse + 1_u32)
    }

    /// A lower bound on exp(-y), for any y.
    pub(super) fn exp_down_signed(self, y: &Rational) -> Integer {
        if *y >= 0 {
            self.exp_down(y)
        } else {
            (Integer::from(1) << (2 * self.bits)) / self.exp_up(&Rational::from(-y))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn exponentials_are_enclosed() {
        let fixed = Fixed { bits: 64, squarings: 22 };
        for text in ["0", "1/3", "1", "7.25", "30", "-1/3", "-2", "-20"] {
            let y = parse(text).unwrap();
            let exact = (-y.to_f64()).exp();
            let double = |value: Integer| value.to_f64() / 64_f64.exp2();
            let (low, high) = (double(fixed.exp_down_signed(&y)), double(fixed.exp_up_signed(&y).unwrap()));
            let close = 1e-12 + y.to_f64().powi(2) * 3e-7;
            assert!(low <= exact * (1.0 + 1e-14) && high >= exact * (1.0 - 1e-14), "{text}: {low} {exact} {high}");
            assert!(high - low <= close * exact + 1e-17, "{text}: {low} {exact} {high}");
        }
        // exp(-50) is below the last of 64 bits.
        assert_eq!(fixed.exp_up_signed(&parse("-50").unwrap()), None);
    }
}
