//! The complex field in which formulas are written once, and its arithmetic in doubles.
//!
//! There are three implementations: [`num_complex::Complex64`] here, for searches and charts; and balls for every reported number, as sums
//! of two doubles (`twofold`) for few digits and over MPFR ([`ComplexBall`](super::ball::ComplexBall)) for any number of digits. All three
//! evaluate the same formula.

use std::fmt::Debug;

use num_complex::Complex64;
use rug::Rational;

/// The real numbers of an arithmetic.
pub trait Real: Clone + Debug + Send + Sync {
    /// The precision needed to represent a number: bits for balls, nothing for doubles.
    type Precision: Copy + Debug + Send + Sync;

    /// An exact rational, rounded or enclosed.
    fn rational(value: &Rational, precision: Self::Precision) -> Self;
    /// The number pi.
    fn pi(precision: Self::Precision) -> Self;
    /// The fraction top / bottom.
    fn ratio(top: i64, bottom: i64, precision: Self::Precision) -> Self;
    /// x + y.
    fn add(&self, other: &Self) -> Self;
    /// x y.
    fn mul(&self, other: &Self) -> Self;
    /// x n for an integer n.
    fn mul_int(&self, factor: i64) -> Self;
    /// -x.
    fn neg(self) -> Self;
    /// 1 / x.
    fn recip(&self) -> Self;
    /// exp(x).
    fn exp(&self) -> Self;
    /// exp(x) - 1, without cancellation near zero.
    fn exp_m1(&self) -> Self;
    /// (sin x, cos x).
    fn sin_cos(&self) -> (Self, Self);
    /// A double near x, for decisions that need no proof.
    fn approximate(&self) -> f64;
}

/// A complex field over its real numbers.
pub trait Field: Clone + Debug + Send + Sync {
    /// The real numbers of the field.
    type Real: Real;
    /// The price of a factor at a node of a contour, in seconds: a fixed number, whatever the machine.
    const PRICE: f64;

    /// x + i y.
    fn new(re: Self::Real, im: Self::Real) -> Self;
    /// The real part.
    fn re(&self) -> Self::Real;
    /// The complex conjugate.
    fn conj(&self) -> Self;
    /// z + w.
    fn add(&self, other: &Self) -> Self;
    /// z w.
    fn mul(&self, other: &Self) -> Self;
    /// z x for a real x.
    fn scale(&self, factor: &Self::Real) -> Self;
    /// 1 / z.
    fn recip(&self) -> Self;
    /// A number that contains z + e for every |e| <= exp(ln_bound), for the truncation error of a series. Arithmetic without error bounds
    /// ignores it.
    fn with_error(self, ln_bound: f64) -> Self;
    /// A number that contains z (1 + e) for every |e| <= exp(ln_bound); arithmetic without error bounds ignores it.
    fn with_relative_error(self, ln_bound: f64) -> Self;
    /// The bits of the mantissa that are worth computing.
    fn working_bits(precision: <Self::Real as Real>::Precision) -> u32;

    /// cos x + i sin x.
    fn cis(angle: &Self::Real) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self::new(cos, sin)
    }

    /// z^n for n >= 1, by repeated squaring.
    fn pow(&self, n: u64) -> Self {
        let mut result = self.clone();
        for bit in (0..u64::BITS - 1 - n.max(1).leading_zeros()).rev() {
            result = result.mul(&result);
            if n >> bit & 1 == 1 {
                result = result.mul(self);
            }
        }
        result
    }
}

impl Real for f64 {
    type Precision = ();

    fn rational(value: &Rational, (): ()) -> Self {
        value.to_f64()
    }
    fn pi((): ()) -> Self {
        std::f64::consts::PI
    }
    fn ratio(top: i64, bottom: i64, (): ()) -> Self {
        top as f64 / bottom as f64
    }
    fn add(&self, other: &Self) -> Self {
        self + other
    }
    fn mul(&self, other: &Self) -> Self {
        self * other
    }
    fn mul_int(&self, factor: i64) -> Self {
        self * factor as f64
    }
    fn neg(self) -> Self {
        -self
    }
    fn recip(&self) -> Self {
        1.0 / self
    }
    fn exp(&self) -> Self {
        libm::exp(*self)
    }
    fn exp_m1(&self) -> Self {
        libm::expm1(*self)
    }
    fn sin_cos(&self) -> (Self, Self) {
        libm::sincos(*self)
    }
    fn approximate(&self) -> f64 {
        *self
    }
}

impl Field for Complex64 {
    type Real = f64;
    const PRICE: f64 = 1e-7;

    fn new(re: f64, im: f64) -> Self {
        Complex64::new(re, im)
    }
    fn re(&self) -> f64 {
        self.re
    }
    fn conj(&self) -> Self {
        Complex64::conj(self)
    }
    fn add(&self, other: &Self) -> Self {
        self + other
    }
    fn mul(&self, other: &Self) -> Self {
        self * other
    }
    fn scale(&self, factor: &f64) -> Self {
        Complex64::scale(self, *factor)
    }
    fn recip(&self) -> Self {
        self.inv()
    }
    fn with_error(self, _ln_bound: f64) -> Self {
        self
    }
    fn with_relative_error(self, _ln_bound: f64) -> Self {
        self
    }
    fn working_bits((): ()) -> u32 {
        60
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_products() {
        let z = Complex64::new(0.9, -0.3);
        let mut product = Complex64::new(1.0, 0.0);
        for n in 1..40 {
            product *= z;
            approx::assert_relative_eq!(Field::pow(&z, n).re, product.re, max_relative = 1e-12);
            approx::assert_relative_eq!(Field::pow(&z, n).im, product.im, max_relative = 1e-12);
        }
    }
}
