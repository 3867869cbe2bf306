//! Double-double numbers: sums of two doubles with about 32 digits, for a few dozen operations of doubles and without heap memory.
//!
//! The algorithms are those of Dekker (1971) and Knuth, with the error bounds of Joldes, Muller & Popescu (2017). They prove relative
//! errors of at most 3 u^2 / (1 - 4 u) for the sum (their algorithm 6) and 7 u^2 for the product (their algorithm 10, here without a fused
//! multiplication), u = 2^-53. [`Twofold::ERROR`] is twice the larger. Both bounds hold without overflow and underflow: parts must stay
//! below 2^990, and an underflow has an error of at most a few times 2^-1074, which callers cover by adding [`f64::MIN_POSITIVE`].

use rug::Float;

/// hi + lo, exactly, with |lo| at most half a unit in the last place of hi, so the lexicographic order of the parts is the order of the
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Twofold {
    pub(super) hi: f64,
    pub(super) lo: f64,
}

/// a + b = sum + error exactly, for any order of magnitude of a and b (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The same for |a| >= |b| or a = 0 (Dekker).
fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Splits a into two halves of at most 26 bits each.
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// a b = product + error exactly, except for underflow (Dekker).
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a1, a2), (b1, b2)) = (split(a), split(b));
    (product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2))
}

impl Twofold {
    /// Upper bound on the relative error of a sum of two numbers, and of a product: 14 u^2 < 2^-102.
    pub(crate) const ERROR: f64 = 1.0 / (1_u128 << 102) as f64;

    /// The number of bits of both parts.
    pub(crate) const BITS: u32 = 106;

    /// The nearest such number, with a relative error of at most 2^-106.
    pub(crate) fn nearest(value: &Float) -> Self {
        let hi = value.to_f64();
        // Exact: the difference has at most as many bits as the value.
        let rest = Float::with_val(value.prec().max(64), value - hi);
        Twofold { hi, lo: rest.to_f64() }
    }

    /// The exact value of a double.
    pub(crate) fn double(value: f64) -> Self {
        Twofold { hi: value, lo: 0.0 }
    }

    /// The first part, which is the nearest double.
    pub(crate) fn hi(self) -> f64 {
        self.hi
    }

    /// The value, exactly.
    pub(crate) fn float(self) -> Float {
        // The exponents of doubles span fewer bits than this, so both parts fit.
        Float::with_val(2200, self.hi) + self.lo
    }

    /// The integer, with a relative error of at most 2^-106; below 2^126 in size.
    pub(crate) fn of_integer(value: i128) -> Self {
        let hi = value as f64;
        Twofold { hi, lo: value.wrapping_sub(hi as i128) as f64 }
    }

    /// The integer within two of x 2^bits, for bits up to 120; `None` where |x| is above two, or x is no number.
    pub(crate) fn to_fixed(self, bits: i32) -> Option<i128> {
        let scale = libm::ldexp(1.0, bits);
        // Each part times a power of two is exact, and less than one above an integer.
        let whole = |part: f64| (part * scale) as i128;
        (self.hi.abs() <= 2.0 && self.lo.is_finite()).then(|| whole(self.hi) + whole(self.lo))
    }

    /// x times a power of two; exact but for an underflow.
    pub(crate) fn times(self, power: f64) -> Self {
        Twofold { hi: self.hi * power, lo: self.lo * power }
    }

    /// x + y.
    pub(crate) fn add(self, other: Self) -> Self {
        let (high, low) = two_sum(self.hi, other.hi);
        let (middle, lowest) = two_sum(self.lo, other.lo);
        let (high, low) = fast_two_sum(high, low + middle);
        let (hi, lo) = fast_two_sum(high, low + lowest);
        Twofold { hi, lo }
    }

    /// -x.
    pub(crate) fn neg(self) -> Self {
        Twofold { hi: -self.hi, lo: -self.lo }
    }

    /// x y.
    pub(crate) fn mul(self, other: Self) -> Self {
        let (high, low) = two_product(self.hi, other.hi);
        let (hi, lo) = fast_two_sum(high, low + (self.hi * other.lo + self.lo * other.hi));
        Twofold { hi, lo }
    }
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;

    fn exact(x: Twofold) -> Rational {
        Rational::from_f64(x.hi).unwrap() + Rational::from_f64(x.lo).unwrap()
    }

    fn relative(got: Twofold, truth: &Rational) -> f64 {
        if *truth == 0 { exact(got).to_f64().abs() } else { ((exact(got) - truth) / truth).to_f64().abs() }
    }

    #[test]
    fn integers_are_near_and_parts_are_exact() {
        for value in [0_i128, 1, -7, (1 << 125) + 12_345, -(1 << 100) - 1, (1 << 110) + (1 << 57) + 1] {
            let near = Twofold::of_integer(value);
            let truth = Rational::from(value);
            assert!(relative(near, &truth) <= 2_f64.powi(-106), "{value}");
        }
        for (top, bottom) in [(1, 3), (-2, 7), (1, 1), (0, 1), (-1999, 1000)] {
            let truth = Rational::from((top, bottom));
            let fixed = Twofold::nearest(&Float::with_val(200, &truth)).to_fixed(108).unwrap();
            let off = Rational::from(fixed) - (truth << 108_u32);
            assert!(off.abs() <= 6, "{top} {bottom}");
        }
        assert_eq!(Twofold::double(0.75).times(4.0).to_fixed(3), None);
        assert_eq!(Twofold::double(0.75).times(0.5).to_fixed(3), Some(3));
        assert_eq!(Twofold::double(f64::NAN).to_fixed(3), None);
    }

    /// Sums, differences and products of numbers of all sizes, also with cancellation, compared with exact fractions.
    #[test]
    fn sums_and_products_are_within_their_error_bounds() {
        let number = |k: i64| {
            let value = Rational::from((k * 7919 % 10_007 - 5000, 997 + k % 13));
            let float = Float::with_val(200, &value) * Float::with_val(200, 2).recip().sqrt();
            let scaled = float * 2f64.powi((k * 31 % 200) as i32 - 100);
            let near = Twofold::nearest(&scaled);
            let off = (exact(near) - scaled.to_rational().unwrap()).abs();
            assert!(off <= scaled.to_rational().unwrap().abs() * Rational::from_f64(2f64.powi(-106)).unwrap(), "{k}");
            assert_eq!(near.float().to_rational().unwrap(), exact(near));
            near
        };
        let mut worst = 0.0_f64;
        for k in 1..4000 {
            let (a, b) = (number(k), number(3 * k + 1));
            // Nearly -a, so that nearly everything cancels in the sum.
            let near = a.neg().add(Twofold::double(a.hi * f64::EPSILON * (k % 7) as f64));
            for (x, y) in [(a, b), (b, a), (a, near), (a, a), (a, a.neg())] {
                worst = worst.max(relative(x.add(y), &(exact(x) + exact(y))));
                worst = worst.max(relative(x.mul(y), &(exact(x) * exact(y))));
            }
        }
        assert!(worst <= Twofold::ERROR && worst > Twofold::ERROR / 1000.0, "{worst:e}");
    }
}
