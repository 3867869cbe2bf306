//! Balls over MPFR: a midpoint and an upper bound on the distance to the true value.
//!
//! Midpoints are rounded to nearest, with an error of at most half a unit in the last place. Every such error and every propagated radius
//! is added to the radius, with its inequality on the line above. Radii are doubles that are only ever rounded up: each operation on them
//! is followed by a step to the next larger double, which covers its rounding.

use std::{cmp::Ordering, sync::LazyLock};

use rug::{
    Float, Rational,
    float::{Constant, Round},
    ops::{AssignRound, NegAssign},
};

use super::{
    enclosure::Enclosure,
    field::{Field, Real},
};

/// A real number that lies within `radius` of a midpoint.
#[derive(Clone, Debug)]
pub struct Ball {
    mid: Float,
    radius: f64,
}

/// A complex number that lies within `radius` of a midpoint, in the Euclidean distance.
#[derive(Clone, Debug)]
pub struct ComplexBall {
    re: Float,
    im: Float,
    radius: f64,
}

// ---- radii: non-negative doubles, rounded up ----------------------------------------------------------------------

/// Upper bound on the exact result of an operation that was rounded to nearest: the next larger double.
fn up(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x.next_up() }
}

fn add_up(a: f64, b: f64) -> f64 {
    // `max` would ignore a NaN.
    if (a == 0.0 || b == 0.0) && !(a.is_nan() || b.is_nan()) { a.max(b) } else { up(a + b) }
}

/// Upper bound on r / (floor gap), for r > 0 and lower bounds floor and gap. Infinite unless the product is a normal double, because the
/// rounding error of a subnormal product exceeds one unit in its last place.
fn over_product_up(radius: f64, floor: f64, gap: f64) -> f64 {
    let product = (floor * gap).next_down();
    if gap > 0.0 && product >= f64::MIN_POSITIVE { up(radius / product) } else { f64::INFINITY }
}

fn mul_up(a: f64, b: f64) -> f64 {
    // A product with an exact zero is exact; infinity times zero is undefined and stays infinite.
    if (a == 0.0 && b.is_finite()) || (b == 0.0 && a.is_finite()) { 0.0 } else { up(a * b) }
}

/// Upper bound on |x|: the conversion to a double rounds away from zero.
fn magnitude_up(x: &Float) -> f64 {
    x.to_f64_round(if x.is_sign_negative() { Round::Down } else { Round::Up }).abs()
}

/// Lower bound on |x|.
fn magnitude_down(x: &Float) -> f64 {
    x.to_f64_round(Round::Zero).abs()
}

/// Upper bound on the rounding error of a result that was rounded to nearest, half a unit in the last place: for x in [2^(e-1), 2^e) and p
/// bits, the error is at most 2^(e-p-1). An exact result has none.
fn rounding_error(x: &Float, ordering: Ordering) -> f64 {
    if !is_in_range(x) {
        return f64::INFINITY;
    }
    if ordering == Ordering::Equal {
        return 0.0;
    }
    match x.get_exp() {
        Some(exponent) => power_of_two_up(i64::from(exponent) - i64::from(x.prec()) - 1),
        // An inexact zero is an underflow of MPFR's exponent range, far below the smallest double.
        None if x.is_zero() => f64::MIN_POSITIVE,
        None => f64::INFINITY,
    }
}

/// Whether x is zero, infinite, NaN, or a float within MPFR's default exponent range of 30 bits. A fused sum of two products of which one
/// is exactly zero may leave that range without a reported overflow or underflow, and its exponent cannot be read; comparisons still hold
/// for it.
fn is_in_range(x: &Float) -> bool {
    static ENDS: LazyLock<[Float; 2]> =
        LazyLock::new(|| [-(1 << 30) + 2, (1 << 30) - 2].map(|exponent: i32| Float::with_val(2, 1) << exponent));
    x.is_zero()
        || !x.is_finite()
        || (x.cmp_abs(&ENDS[0]) != Some(Ordering::Less) && x.cmp_abs(&ENDS[1]) != Some(Ordering::Greater))
}

/// Upper bound on 2^k.
fn power_of_two_up(k: i64) -> f64 {
    match k {
        ..-1022 => f64::MIN_POSITIVE,
        -1022..=1023 => f64::from_bits(((k + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}

/// Upper bound on exp(x) - 1, for x >= 0. The elementary functions of doubles are assumed correct to a relative 2^-40, a thousand times the
/// error of any current implementation.
fn exp_m1_up(x: f64) -> f64 {
    mul_up(libm::expm1(x), 1.0 + 1e-12)
}

/// Upper bound on exp(x) for an exact x, with the same assumption.
fn exp_up(x: f64) -> f64 {
    up(libm::exp(x) * (1.0 + 1e-12))
}

/// Upper bound on sqrt(a^2 + b^2): from the squares, or, if a square would leave the range of doubles, from the larger one times sqrt(1 +
/// ratio^2). The square root is correctly rounded.
fn hypot_up(a: f64, b: f64) -> f64 {
    const SAFE: std::ops::Range<f64> = 1e-290..1e290;
    let squares = add_up(mul_up(a, a), mul_up(b, b));
    if SAFE.contains(&squares) {
        return up(squares.sqrt());
    }
    let (large, small) = (a.max(b), a.min(b));
    if small == 0.0 || large.is_infinite() {
        return large;
    }
    let ratio = up(small / large);
    mul_up(large, up(add_up(1.0, mul_up(ratio, ratio)).sqrt()))
}

/// A midpoint rounded to nearest, and an upper bound on the rounding error.
fn nearest<T>(bits: u32, value: T) -> (Float, f64)
where
    Float: AssignRound<T, Round = Round, Ordering = Ordering>,
{
    let (mid, ordering) = Float::with_val_round(bits, value, Round::Nearest);
    let error = rounding_error(&mid, ordering);
    (mid, error)
}

// ---- the real ball ------------------------------------------------------------------------------------------------

impl Ball {
    /// A ball that contains an enclosure.
    pub(crate) fn of_enclosure(value: &Enclosure, bits: u32) -> Self {
        // Half the width plus the rounding error of the middle.
        let (mid, error) = nearest(bits, value.lower() + value.upper());
        let half = Float::with_val_round(53, value.upper() - value.lower(), Round::Up).0 / 2_u32;
        Ball { mid: mid / 2_u32, radius: add_up(error, magnitude_up(&half)) }
    }

    /// The enclosure of the ball, rounded outward.
    pub fn enclosure(&self) -> Enclosure {
        if !self.mid.is_finite() || !self.radius.is_finite() {
            return Enclosure::new(Float::with_val(53, f64::NEG_INFINITY), Float::with_val(53, f64::INFINITY));
        }
        let bits = self.mid.prec() + 2;
        Enclosure::new(
            Float::with_val_round(bits, &self.mid - self.radius, Round::Down).0,
            Float::with_val_round(bits, &self.mid + self.radius, Round::Up).0,
        )
    }

    fn bits(&self, other: &Self) -> u32 {
        self.mid.prec().max(other.mid.prec())
    }
}

impl Real for Ball {
    type Precision = u32;

    fn rational(value: &Rational, bits: u32) -> Self {
        let (mid, radius) = nearest(bits, value);
        Ball { mid, radius }
    }

    fn pi(bits: u32) -> Self {
        let (mid, radius) = nearest(bits, Constant::Pi);
        Ball { mid, radius }
    }

    fn ratio(top: i64, bottom: i64, bits: u32) -> Self {
        // Both are exact in 64 bits, so the quotient is rounded only once.
        let (top, bottom) = (Float::with_val(64, top), Float::with_val(64, bottom));
        let (mid, radius) = nearest(bits, &top / &bottom);
        Ball { mid, radius }
    }

    fn add(&self, other: &Self) -> Self {
        // |(x + y) - (a + b)| <= |x - a| + |y - b|
        let (mid, error) = nearest(self.bits(other), &self.mid + &other.mid);
        Ball { mid, radius: add_up(error, add_up(self.radius, other.radius)) }
    }

    fn mul(&self, other: &Self) -> Self {
        // |x y - a b| <= |a| |y - b| + |b| |x - a| + |x - a| |y - b|
        let (mid, error) = nearest(self.bits(other), &self.mid * &other.mid);
        let cross = add_up(
            mul_up(magnitude_up(&self.mid), other.radius),
            mul_up(add_up(magnitude_up(&other.mid), other.radius), self.radius),
        );
        Ball { mid, radius: add_up(error, cross) }
    }

    fn mul_int(&self, factor: i64) -> Self {
        // |x n - a n| = |n| |x - a|
        let (mid, error) = nearest(self.mid.prec(), &self.mid * factor);
        Ball { mid, radius: add_up(error, mul_up(self.radius, up(factor.unsigned_abs() as f64))) }
    }

    fn neg(mut self) -> Self {
        self.mid.neg_assign();
        self
    }

    fn recip(&self) -> Self {
        // |1/x - 1/a| = |x - a| / (|x| |a|) <= r / (|a| (|a| - r)), for r < |a|
        let (mid, error) = nearest(self.mid.prec(), self.mid.recip_ref());
        let floor = magnitude_down(&self.mid);
        let gap = (floor - self.radius).next_down();
        let moved = if self.radius == 0.0 { 0.0 } else { over_product_up(self.radius, floor, gap) };
        Ball { mid, radius: add_up(error, moved) }
    }

    fn exp(&self) -> Self {
        // |e^x - e^a| <= e^a (e^r - 1)
        let (mid, error) = nearest(self.mid.prec(), self.mid.exp_ref());
        let moved = mul_up(add_up(magnitude_up(&mid), error), exp_m1_up(self.radius));
        Ball { mid, radius: add_up(error, moved) }
    }

    fn exp_m1(&self) -> Self {
        // As for exp; e^a is below 1 for negative a, so it is bounded separately.
        let (mid, error) = nearest(self.mid.prec(), self.mid.exp_m1_ref());
        let moved = mul_up(exp_up(self.mid.to_f64_round(Round::Up)), exp_m1_up(self.radius));
        Ball { mid, radius: add_up(error, moved) }
    }

    fn sin_cos(&self) -> (Self, Self) {
        // |sin x - sin a| <= |x - a|, and the same for the cosine.
        let bits = self.mid.prec();
        let (mut sin, mut cos) = (Float::new(bits), Float::new(bits));
        let (sin_order, cos_order) = (&mut sin, &mut cos).assign_round(self.mid.sin_cos_ref(), Round::Nearest);
        let sin_error = add_up(self.radius, rounding_error(&sin, sin_order));
        let cos_error = add_up(self.radius, rounding_error(&cos, cos_order));
        (Ball { mid: sin, radius: sin_error }, Ball { mid: cos, radius: cos_error })
    }

    fn approximate(&self) -> f64 {
        self.mid.to_f64()
    }
}

// ---- the complex ball ---------------------------------------------------------------------------------------------

impl ComplexBall {
    /// The imaginary part.
    #[cfg(feature = "mechanisms")]
    #[doc(hidden)]
    pub fn im(&self) -> Ball {
        Ball { mid: self.im.clone(), radius: self.radius }
    }

    fn magnitude_up(&self) -> f64 {
        hypot_up(magnitude_up(&self.re), magnitude_up(&self.im))
    }
}

impl Field for ComplexBall {
    type Real = Ball;
    const PRICE: f64 = 2e-5;

    fn new(re: Ball, im: Ball) -> Self {
        // Euclidean distance of two points whose coordinates differ by at most r and s.
        ComplexBall { radius: hypot_up(re.radius, im.radius), re: re.mid, im: im.mid }
    }

    fn re(&self) -> Ball {
        Ball { mid: self.re.clone(), radius: self.radius }
    }

    fn conj(&self) -> Self {
        ComplexBall { re: self.re.clone(), im: -self.im.clone(), radius: self.radius }
    }

    fn add(&self, other: &Self) -> Self {
        // Triangle inequality; the errors of the two coordinates are orthogonal.
        let bits = self.re.prec().max(other.re.prec());
        let (re, re_error) = nearest(bits, &self.re + &other.re);
        let (im, im_error) = nearest(bits, &self.im + &other.im);
        let radius = add_up(hypot_up(re_error, im_error), add_up(self.radius, other.radius));
        ComplexBall { re, im, radius }
    }

    fn mul(&self, other: &Self) -> Self {
        // |z w - a b| <= |a| |w - b| + (|b| + |w - b|) |z - a|; each coordinate is a fused sum of two products and is rounded only once.
        let bits = self.re.prec().max(other.re.prec());
        let (re, re_error) = nearest(bits, &self.re * &other.re - &self.im * &other.im);
        let (im, im_error) = nearest(bits, &self.re * &other.im + &self.im * &other.re);
        let cross = add_up(
            mul_up(self.magnitude_up(), other.radius),
            mul_up(add_up(other.magnitude_up(), other.radius), self.radius),
        );
        ComplexBall { re, im, radius: add_up(hypot_up(re_error, im_error), cross) }
    }

    fn scale(&self, factor: &Ball) -> Self {
        // A product with a complex number whose imaginary part is zero.
        let bits = self.re.prec().max(factor.mid.prec());
        let (re, re_error) = nearest(bits, &self.re * &factor.mid);
        let (im, im_error) = nearest(bits, &self.im * &factor.mid);
        let cross = add_up(
            mul_up(self.magnitude_up(), factor.radius),
            mul_up(add_up(magnitude_up(&factor.mid), factor.radius), self.radius),
        );
        ComplexBall { re, im, radius: add_up(hypot_up(re_error, im_error), cross) }
    }

    fn recip(&self) -> Self {
        // 1/a = conj(a) / |a|^2 for the midpoint, with its roundings tracked by real balls. Then |1/z - 1/a| <= r / (|a| (|a| - r)), with a
        // lower bound in place of |a|.
        let bits = self.re.prec();
        let (norm, norm_error) = nearest(bits, &self.re * &self.re + &self.im * &self.im);
        let inverse = Ball { mid: norm, radius: norm_error }.recip();
        let exact = |mid: Float| Ball { mid, radius: 0.0 };
        let mut result = ComplexBall::new(exact(self.re.clone()).mul(&inverse), exact(-self.im.clone()).mul(&inverse));
        if self.radius > 0.0 {
            let (x, y) = (magnitude_down(&self.re), magnitude_down(&self.im));
            let floor = ((x * x).next_down() + (y * y).next_down()).next_down().max(0.0).sqrt().next_down();
            let gap = (floor - self.radius).next_down();
            result.radius = add_up(result.radius, over_product_up(self.radius, floor, gap));
        }
        result
    }

    fn with_error(mut self, ln_bound: f64) -> Self {
        // |z + e - a| <= r + exp(ln_bound)
        self.radius = add_up(self.radius, exp_up(ln_bound));
        self
    }

    fn with_relative_error(mut self, ln_bound: f64) -> Self {
        // |z (1 + e) - z| <= (|a| + r) exp(ln_bound)
        let grown = mul_up(add_up(self.magnitude_up(), self.radius), exp_up(ln_bound));
        self.radius = add_up(self.radius, grown);
        self
    }

    fn working_bits(bits: u32) -> u32 {
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(mid: f64, radius: f64) -> Ball {
        Ball { mid: Float::with_val(60, mid), radius }
    }

    /// Whether the image of every sampled point of a ball lies in the ball of the image.
    fn maps_into(x: &Ball, image: &Ball, f: impl Fn(Float) -> Float) {
        let target = image.enclosure();
        for k in -8..=8 {
            let point = Float::with_val(200, &x.mid + x.radius * f64::from(k) / 8.0);
            let value = f(point);
            assert!(*target.lower() <= value && value <= *target.upper(), "{x:?} {image:?} {value}");
        }
    }

    /// Divisions of a radius by a product that is no normal double, and numbers whose exponents leave MPFR's range, which MPFR does not
    /// report for a fused sum with an exact zero: both have the whole line as their enclosure.
    #[test]
    fn what_leaves_the_range_is_unbounded() {
        let whole = |x: &Ball| x.enclosure().upper().is_infinite() && x.enclosure().lower().is_infinite();
        for (mid, radius) in [(1e-200, 1e-201), (1e-160, 1e-161), (3e-308, 1e-308), (1e-154, 0.99e-154)] {
            let ball = Ball { mid: Float::with_val(64, mid), radius };
            assert!(whole(&ball.recip()), "{mid}");
            let complex = ComplexBall { re: Float::with_val(64, mid), im: Float::new(64), radius };
            assert!(whole(&complex.recip().re()), "{mid}");
        }
        assert!(!whole(&Ball { mid: Float::with_val(64, 1e-150), radius: 1e-160 }.recip()));
        for exponent in [(1_i32 << 30) - 20, -(1 << 30) + 20] {
            let far = Float::with_val(64, 1) << exponent;
            let z = ComplexBall { re: far, im: Float::new(64), radius: 0.0 };
            assert!(whole(&z.mul(&z).re()) && whole(&z.mul(&z).mul(&z).re()), "{exponent}");
        }
        assert!(add_up(0.0, f64::NAN).is_infinite() && add_up(f64::NAN, 0.0).is_infinite());
    }

    #[test]
    fn functions_contain_the_image_of_every_point() {
        for (mid, radius) in [(0.3, 0.0), (0.3, 0.01), (-2.5, 0.4), (40.0, 1e-9), (-300.0, 0.5), (1e-9, 1e-10)] {
            let x = ball(mid, radius);
            maps_into(&x, &x.exp(), |v| v.exp());
            maps_into(&x, &x.exp_m1(), |v| v.exp_m1());
            maps_into(&x, &x.recip(), |v| v.recip());
            maps_into(&x, &x.sin_cos().0, |v| v.sin());
            maps_into(&x, &x.sin_cos().1, |v| v.cos());
            maps_into(&x, &x.mul(&x), |v| v.square());
            maps_into(&x, &x.add(&x.clone().mul_int(3)), |v| v * 4);
        }
        assert!(ball(0.1, 0.2).recip().enclosure().upper().is_infinite());
    }

    #[test]
    fn complex_operations_contain_the_image_and_stay_tight() {
        let third = Ball::rational(&Rational::from((1, 3)), 120);
        let seventh = Ball::rational(&Rational::from((-1, 7)), 120);
        let z = ComplexBall::new(third, seventh);
        // |z|^2 = 1/9 + 1/49 and z / z = 1, with a loss of a few units in the last place.
        let norm = z.mul(&z.conj()).re().enclosure();
        assert!(norm.contains(&Rational::from((58, 441))) && norm.is_tight(34), "{norm:?}");
        let one = z.mul(&z.recip()).re().enclosure();
        assert!(one.contains(&Rational::from(1)) && one.is_tight(34), "{one:?}");
        // z^5 by powers and by products.
        let product = z.mul(&z).mul(&z).mul(&z).mul(&z).re().enclosure();
        assert!(z.pow(5).re().enclosure().overlaps(&product));
        let widened = z.clone().with_relative_error(-3.0).re().enclosure();
        assert!(!widened.is_tight(1) && widened.contains(&Rational::from((1, 3))));
    }

    #[test]
    fn radii_never_shrink_below_the_truth_at_the_ends_of_the_range() {
        assert_eq!(power_of_two_up(-3), 0.125);
        assert!(power_of_two_up(-5000) > 0.0 && power_of_two_up(5000).is_infinite());
        assert_eq!(mul_up(0.0, f64::INFINITY), f64::INFINITY);
        assert_eq!(mul_up(0.0, 3.0), 0.0);
        assert!(mul_up(1e-300, 1e-300) > 0.0);
        let huge = Ball { mid: Float::with_val(60, 1e300).exp(), radius: 0.0 };
        assert!(huge.mul(&huge).enclosure().upper().is_infinite());
    }
}
