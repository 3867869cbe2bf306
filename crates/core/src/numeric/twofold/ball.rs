//! Balls whose midpoints are sums of two doubles: the arithmetic of [`ball`](crate::numeric::ball) for up to about 25 digits, several times
//! as fast and without heap memory.
//!
//! Radii are doubles. Each is computed from non-negative numbers by at most about a hundred operations. [`outward`] covers their roundings
//! and the difference between the size of a midpoint and that of its first part. An overflow or NaN makes the midpoint infinite or NaN, and
//! with it every result computed from it; its enclosure is the whole line.

use rug::{Float, Rational, float::Round};

use super::{
    functions::{self, EXP_ERROR, EXP_RANGE, MOST_ANGLE, NEAR_ZERO, SIN_COS_ERROR},
    pair::Twofold,
};
use crate::numeric::{
    enclosure::Enclosure,
    field::{Field, Real},
};

/// The largest number of digits; more are computed with balls over MPFR. About eight digits remain for accumulated roundings.
pub(crate) const MOST_DIGITS: u32 = 20;

/// Bits that are worth computing, and bits of enclosures.
const WORKING_BITS: u32 = 100;
const BITS: u32 = 128;

/// A real number that lies within `radius` of a midpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwofoldBall {
    mid: Twofold,
    radius: f64,
}

/// A complex number that lies within `radius` of a midpoint, in the Euclidean distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComplexTwofold {
    re: Twofold,
    im: Twofold,
    radius: f64,
}

/// Upper bound on the exact value of `error`, which was computed in doubles: a factor of 1 + 10^-12 covers thousands of roundings, and the
/// smallest normal double covers the underflows of a few dozen products.
fn outward(error: f64) -> f64 {
    error * (1.0 + 1e-12) + f64::MIN_POSITIVE
}

/// Upper bound on exp(x), with the assumption of [`ball`](crate::numeric::ball) on elementary functions of doubles.
fn exp_up(x: f64) -> f64 {
    outward(libm::exp(x) * (1.0 + 1e-12))
}

/// sqrt(x^2 + y^2) up to a few roundings: from the squares, unless these leave the range of doubles.
fn length(x: f64, y: f64) -> f64 {
    const SAFE: std::ops::Range<f64> = 1e-290..1e290;
    let squares = x * x + y * y;
    if SAFE.contains(&squares) { squares.sqrt() } else { libm::hypot(x, y) }
}

/// The propagated error of a product of numbers with given size and radius, before roundings:
/// `|z w - a b| <= |a| |w - b| + |b| |z - a| + |z - a| |w - b|`.
fn moved((a, r): (f64, f64), (b, s): (f64, f64)) -> f64 {
    a * s + b * r + r * s
}

/// Upper bound on |1/x - 1/a| for |x - a| <= r, before roundings: r / (|a| (|a| - r)), if r < |a|.
fn moved_inverse(size: f64, radius: f64) -> f64 {
    let gap = size * (1.0 - 1e-12) - radius * (1.0 + 1e-12);
    // The rounding error of a subnormal product exceeds what `outward` covers.
    if radius == 0.0 {
        0.0
    } else if gap > 0.0 && size * gap >= f64::MIN_POSITIVE {
        radius / (size * gap)
    } else {
        f64::INFINITY
    }
}

impl TwofoldBall {
    /// An exact number.
    fn exact(mid: Twofold) -> Self {
        TwofoldBall { mid, radius: 0.0 }
    }

    /// An integer: its double and the difference to it, at most 2^10, are exact.
    fn integer(n: i64) -> Self {
        let hi = n as f64;
        TwofoldBall::exact(Twofold { hi, lo: (i128::from(n) - hi as i128) as f64 })
    }

    /// The nearest midpoint, with a relative error of 2^-106.
    fn near(value: &Float, radius: f64) -> Self {
        let mid = Twofold::nearest(value);
        TwofoldBall { mid, radius: outward(radius + mid.hi.abs() * Twofold::ERROR) }
    }

    /// A double, exactly.
    pub(crate) fn double(value: f64) -> Self {
        TwofoldBall::exact(Twofold::double(value))
    }

    /// A ball that contains an enclosure.
    pub(crate) fn of_enclosure(value: &Enclosure) -> Self {
        let bits = value.lower().prec().max(value.upper().prec()) + 2;
        let middle = Float::with_val(bits, value.lower() + value.upper()) / 2;
        TwofoldBall::near(&middle, Float::with_val_round(53, value.upper() - value.lower(), Round::Up).0.to_f64())
    }

    /// The enclosure of the ball, rounded outward.
    pub(crate) fn enclosure(&self) -> Enclosure {
        if !(self.mid.hi.is_finite() && self.mid.lo.is_finite() && self.radius.is_finite()) {
            return Enclosure::whole_line(BITS);
        }
        let end = |radius: f64, round| {
            let mid = Float::with_val_round(BITS, &Float::with_val(53, self.mid.hi) + self.mid.lo, round).0;
            Float::with_val_round(BITS, &mid + radius, round).0
        };
        Enclosure::new(end(-self.radius, Round::Down), end(self.radius, Round::Up))
    }
}

impl Real for TwofoldBall {
    /// There is only one precision.
    type Precision = ();

    fn rational(value: &Rational, (): ()) -> Self {
        if let (Some(top), Some(bottom)) = (value.numer().to_i64(), value.denom().to_i64()) {
            return TwofoldBall::ratio(top, bottom, ());
        }
        // Rounded twice; the second rounding error is far larger.
        TwofoldBall::near(&Float::with_val(200, value), 0.0)
    }

    fn pi((): ()) -> Self {
        let pi = Twofold { hi: std::f64::consts::PI, lo: 1.2246467991473532e-16 };
        TwofoldBall { mid: pi, radius: 3e-33 }
    }

    fn ratio(top: i64, bottom: i64, (): ()) -> Self {
        if bottom == 1 {
            return TwofoldBall::integer(top);
        }
        TwofoldBall::integer(top).mul(&TwofoldBall::integer(bottom).recip())
    }

    fn add(&self, other: &Self) -> Self {
        // |(x + y) - (a + b)| <= |x - a| + |y - b|
        let mid = self.mid.add(other.mid);
        TwofoldBall { mid, radius: outward(self.radius + other.radius + mid.hi.abs() * Twofold::ERROR) }
    }

    fn mul(&self, other: &Self) -> Self {
        let mid = self.mid.mul(other.mid);
        let moved = moved((self.mid.hi.abs(), self.radius), (other.mid.hi.abs(), other.radius));
        TwofoldBall { mid, radius: outward(moved + mid.hi.abs() * Twofold::ERROR) }
    }

    fn mul_int(&self, factor: i64) -> Self {
        self.mul(&TwofoldBall::integer(factor))
    }

    fn neg(self) -> Self {
        TwofoldBall { mid: self.mid.neg(), ..self }
    }

    fn recip(&self) -> Self {
        // For every q, |q - 1/a| = |1 - a q| / |a|. The product, which is close to 1, has the relative error E, and so has the difference.
        let first = 1.0 / self.mid.hi;
        let rest = |q: Twofold| Twofold::double(1.0).add(self.mid.mul(q).neg());
        let q = Twofold::double(first).add(Twofold::double(first * rest(Twofold::double(first)).hi));
        let off = (rest(q).hi.abs() * (1.0 + Twofold::ERROR) + 1.01 * Twofold::ERROR) / self.mid.hi.abs();
        TwofoldBall { mid: q, radius: outward(off + moved_inverse(self.mid.hi.abs(), self.radius)) }
    }

    fn exp(&self) -> Self {
        let (low, high) = EXP_RANGE;
        if self.mid.hi < low {
            // Between zero and exp(a + r), which is tiny.
            return TwofoldBall {
                mid: Twofold::default(),
                radius: exp_up(outward(self.radius) + self.mid.hi.next_up()),
            };
        }
        if self.mid.hi > high || self.mid.hi.is_nan() {
            return TwofoldBall { mid: self.mid, radius: f64::INFINITY };
        }
        // |e^x - e^a| <= e^a (e^r - 1)
        let mid = functions::exp(self.mid);
        let moved = outward(libm::expm1(self.radius) * (1.0 + 1e-12));
        TwofoldBall { mid, radius: outward(mid.hi * (EXP_ERROR + moved * (1.0 + EXP_ERROR))) }
    }

    fn exp_m1(&self) -> Self {
        if self.mid.hi.abs() > NEAR_ZERO {
            return self.exp().add(&TwofoldBall::exact(Twofold::double(-1.0)));
        }
        // As for exp, with e^a < 1.42.
        let mid = functions::exp_m1_near_zero(self.mid);
        let moved = 1.42 * libm::expm1(self.radius) * (1.0 + 1e-12);
        TwofoldBall { mid, radius: outward(mid.hi.abs() * EXP_ERROR + moved) }
    }

    fn sin_cos(&self) -> (Self, Self) {
        if self.mid.hi.abs() > MOST_ANGLE || self.mid.hi.is_nan() {
            let unknown = TwofoldBall { mid: Twofold::default(), radius: 1.0 };
            return (unknown, unknown);
        }
        // |sin x - sin a| <= |x - a|, and the same for the cosine.
        let (sin, cos) = functions::sin_cos(self.mid);
        let of_sin = if self.mid.hi.abs() < 0.785 { 2.0 * Twofold::ERROR * sin.hi.abs() } else { SIN_COS_ERROR };
        let ball = |mid, error| TwofoldBall { mid, radius: outward(self.radius + error) };
        (ball(sin, of_sin), ball(cos, SIN_COS_ERROR))
    }

    fn approximate(&self) -> f64 {
        self.mid.hi
    }
}

impl ComplexTwofold {
    /// The complex twofold of these parts of the midpoint, and this radius.
    pub(crate) fn of_parts(re: Twofold, im: Twofold, radius: f64) -> Self {
        ComplexTwofold { re, im, radius: outward(radius) }
    }

    /// The real and the imaginary part of the midpoint.
    pub(crate) fn middle(&self) -> (Twofold, Twofold) {
        (self.re, self.im)
    }

    /// Upper bound on the distance from the midpoint.
    pub(crate) fn radius(&self) -> f64 {
        self.radius
    }

    /// The absolute value, up to the roundings that [`outward`] covers.
    pub(crate) fn size(&self) -> f64 {
        length(self.re.hi, self.im.hi)
    }

    /// Re(z w) for the midpoints, with an error of at most 3 E (|re re| + |im im|) <= 3 E |z||w|: each product has the relative error E,
    /// and so has their sum.
    pub(crate) fn re_of_product(&self, other: &Self) -> Twofold {
        self.re.mul(other.re).add(self.im.mul(other.im).neg())
    }
}

impl Field for ComplexTwofold {
    type Real = TwofoldBall;
    const PRICE: f64 = 2e-6;

    fn new(re: TwofoldBall, im: TwofoldBall) -> Self {
        // Euclidean distance of two points whose coordinates differ by at most r and s.
        ComplexTwofold { re: re.mid, im: im.mid, radius: outward(length(re.radius, im.radius)) }
    }

    fn re(&self) -> TwofoldBall {
        TwofoldBall { mid: self.re, radius: self.radius }
    }

    fn conj(&self) -> Self {
        ComplexTwofold { im: self.im.neg(), ..*self }
    }

    fn add(&self, other: &Self) -> Self {
        // Each part has the relative error E.
        let sum = ComplexTwofold { re: self.re.add(other.re), im: self.im.add(other.im), radius: 0.0 };
        ComplexTwofold { radius: outward(self.radius + other.radius + sum.size() * Twofold::ERROR), ..sum }
    }

    fn mul(&self, other: &Self) -> Self {
        // Each part has an error of at most 3 E |z||w|, see `re_of_product`, and sqrt(2) 3 < 5.
        let (a, b) = (self.size(), other.size());
        ComplexTwofold {
            re: self.re_of_product(other),
            im: self.re.mul(other.im).add(self.im.mul(other.re)),
            radius: outward(moved((a, self.radius), (b, other.radius)) + 5.0 * Twofold::ERROR * a * b),
        }
    }

    fn scale(&self, factor: &TwofoldBall) -> Self {
        // A product with a complex number whose imaginary part is zero; each part has the relative error E.
        let (a, b) = (self.size(), factor.mid.hi.abs());
        ComplexTwofold {
            re: self.re.mul(factor.mid),
            im: self.im.mul(factor.mid),
            radius: outward(moved((a, self.radius), (b, factor.radius)) + Twofold::ERROR * a * b),
        }
    }

    fn recip(&self) -> Self {
        // 1/a = conj(a) / |a|^2 for the midpoint, with its roundings tracked by balls: both squares and their sum are non-negative.
        let norm = self.re.mul(self.re).add(self.im.mul(self.im));
        let inverse = TwofoldBall { mid: norm, radius: outward(norm.hi * 2.0 * Twofold::ERROR) }.recip();
        let exact = ComplexTwofold { im: self.im.neg(), radius: 0.0, ..*self };
        let result = exact.scale(&inverse);
        ComplexTwofold { radius: outward(result.radius + moved_inverse(self.size(), self.radius)), ..result }
    }

    fn with_error(self, ln_bound: f64) -> Self {
        // |z + e - a| <= r + exp(ln_bound)
        ComplexTwofold { radius: outward(self.radius + exp_up(ln_bound)), ..self }
    }

    fn with_relative_error(self, ln_bound: f64) -> Self {
        // |z (1 + e) - z| <= (|a| + r) exp(ln_bound)
        let grown = (self.size() + self.radius) * exp_up(ln_bound);
        ComplexTwofold { radius: outward(self.radius + grown), ..self }
    }

    fn working_bits((): ()) -> u32 {
        WORKING_BITS
    }
}

#[cfg(test)]
mod tests {
    use rug::float::Constant;

    use super::*;
    use crate::numeric::ball::{Ball, ComplexBall};

    const PRECISION: u32 = 400;

    fn exact(x: Twofold) -> Float {
        Float::with_val(PRECISION, x.hi) + x.lo
    }

    fn ball(mid: f64, radius: f64) -> TwofoldBall {
        // With a nonzero second part.
        TwofoldBall { mid: Twofold::nearest(&Float::with_val(200, Float::with_val(200, mid) * (1.0 + 1e-18))), radius }
    }

    /// Whether the image of every sampled point of a ball lies in the ball of the image.
    fn maps_into(x: &TwofoldBall, image: &TwofoldBall, f: impl Fn(Float) -> Float) {
        let target = image.enclosure();
        for k in -8..=8 {
            let point = exact(x.mid) + x.radius * f64::from(k) / 8.0;
            let value = f(point);
            assert!(*target.lower() <= value && value <= *target.upper(), "{x:?} {image:?} {value}");
        }
    }

    #[test]
    fn functions_contain_the_image_of_every_point() {
        let mids = [0.3, -0.34, 0.35, -2.5, 40.0, -300.0, -599.9, -601.0, 690.0, 1e-9, 1e-300, 785.3, 1.9e7, -1.9e7];
        for (mid, radius) in mids.into_iter().flat_map(|mid| [0.0, 1e-30, 1e-9, 0.4].map(|radius| (mid, radius))) {
            let x = ball(mid, radius);
            maps_into(&x, &x.exp(), |v| v.exp());
            maps_into(&x, &x.exp_m1(), |v| v.exp_m1());
            if mid.abs() > radius {
                maps_into(&x, &x.recip(), |v| v.recip());
            }
            maps_into(&x, &x.sin_cos().0, |v| v.sin());
            maps_into(&x, &x.sin_cos().1, |v| v.cos());
            maps_into(&x, &x.mul(&x), |v| v.square());
            maps_into(&x, &x.add(&x.mul_int(3)), |v| v * 4);
            maps_into(&x, &x.mul_int(i64::MAX), |v| v * i64::MAX);
        }
        let pi = TwofoldBall::pi(()).enclosure();
        let truth = Float::with_val(PRECISION, Constant::Pi);
        assert!(*pi.lower() <= truth && truth <= *pi.upper() && pi.is_tight(31));
    }

    #[test]
    fn fractions_are_near() {
        let large = (Rational::from((1, 3)) << 100_u32) + Rational::from((1, 7));
        for value in [(1, 3), (-5, 1), (i64::MAX, 7), (1, i64::MAX), (i64::MIN, 3)]
            .map(Rational::from)
            .into_iter()
            .chain([large])
        {
            let near = TwofoldBall::rational(&value, ()).enclosure();
            assert!(near.contains(&value) && near.is_tight(30), "{value}: {near:?}");
            let of = TwofoldBall::of_enclosure(&Enclosure::rational(&value, 90)).enclosure();
            assert!(of.contains(&value) && of.is_tight(26), "{value}: {of:?}");
        }
    }

    /// A formula with every operation, in both arithmetics.
    fn formula<F: Field>(k: i64, precision: <F::Real as Real>::Precision) -> F {
        let real = |top: i64, bottom: i64| F::Real::ratio(top, bottom, precision);
        let z = F::new(real(k * 7919 % 1000 - 500, 997), real(k * 104_729 % 1000 - 499, 991));
        let w = F::cis(&real(k, 13)).scale(&real(-k, 700).exp()).add(&z.conj());
        // |z w| is below 2, so nothing cancels.
        let inverse = z.mul(&w).add(&F::new(real(3, 1), real(0, 1))).recip();
        inverse.pow(3).with_relative_error(-70.0).with_error(-72.0).scale(&real(k, 5000).exp_m1())
    }

    #[test]
    fn both_arithmetics_agree_on_a_formula_of_all_operations() {
        for k in 1..400 {
            let (quick, slow) = (formula::<ComplexTwofold>(k, ()), formula::<ComplexBall>(k, 200));
            let (quick, slow): (Enclosure, Enclosure) = (quick.re().enclosure(), Ball::enclosure(&slow.re()));
            assert!(quick.overlaps(&slow), "{k}: {quick:?} {slow:?}");
            // The errors added on purpose dominate both widths.
            let width = |value: &Enclosure| Float::with_val(53, value.upper() - value.lower()).to_f64();
            assert!(width(&quick) < 1.01 * width(&slow) + 1e-26 * slow.approximate().abs(), "{k}: {quick:?} {slow:?}");
        }
    }

    /// An undefined result is the whole line, and stays so.
    #[test]
    fn beyond_the_range_nothing_is_claimed() {
        let huge = ball(1e300, 0.0);
        let zero = TwofoldBall::exact(Twofold::default());
        let unknown = [huge.mul(&huge), huge.exp(), zero.recip(), ball(0.1, 0.2).recip(), ball(f64::NAN, 0.0)];
        for x in unknown {
            for y in [x, x.add(&zero), x.neg(), x.exp(), x.exp_m1(), x.mul_int(3)] {
                let value = y.enclosure();
                assert!(value.lower().is_infinite() || value.upper().is_infinite(), "{x:?} {y:?}");
            }
        }
        for z in [
            ComplexTwofold::new(zero, zero).recip(),
            ComplexTwofold::new(huge, huge).mul(&ComplexTwofold::new(huge, zero)),
        ] {
            assert!(z.re().enclosure().upper().is_infinite(), "{z:?}");
        }
        // Angles that are too large to reduce.
        let (sin, cos) = huge.sin_cos();
        assert!(sin.enclosure().contains(&Rational::from(1)) && cos.enclosure().contains(&Rational::from(-1)));
        // Products below the smallest double.
        let small = ball(1e-200, 0.0);
        assert!(*small.mul(&small).enclosure().upper() > 0 && small.mul(&small).enclosure().contains(&Rational::new()));
    }
}
