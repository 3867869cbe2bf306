//! Complex numbers in doubles, or in sums of two doubles, each with a bound on its error.

use num_complex::Complex64;
use rug::{Float, float::Round};

use crate::numeric::{
    complex_double::modulus_upper,
    enclosure::Enclosure,
    field::{Field, Real},
    twofold::{ComplexTwofold, Twofold, TwofoldBall},
};

/// A complex number with a bound on its error.
pub(crate) trait Near: Copy + Send + Sync {
    /// Sums of the real parts of products.
    type Sum: NearSum<Self>;

    /// A real number.
    fn real(value: &Enclosure) -> Self;
    /// z w.
    fn mul(self, other: Self) -> Self;
    /// z + w.
    fn add(self, other: Self) -> Self;
}

/// The sum of the real parts of products, with its error.
pub(crate) trait NearSum<N>: Default {
    /// Adds Re(a b).
    fn add(&mut self, a: N, b: N);
    /// The sum, and an upper bound on its error.
    fn total(&self) -> (Twofold, f64);
}

/// The ends of an enclosure of a sum with an error of at most `error`.
///
/// Adding the error to it may add 2^-102 of |value| + error; four times that is allowed for.
pub(crate) fn ends(value: Twofold, error: f64) -> (Twofold, Twofold) {
    let off = error * (1.0 + 1e-9) + value.hi().abs() * (4.0 * Twofold::ERROR) + f64::MIN_POSITIVE;
    (value.add(Twofold::double(-off)), value.add(Twofold::double(off)))
}

/// Upper bound on the error of a product, of factors given by size and error; `rounding` is relative to the product of the sizes.
fn error_of_product(a: (f64, f64), b: (f64, f64), rounding: f64) -> f64 {
    // With |a'| <= |a| + e_a: |a' b' - a b| <= |a| e_b + |b| e_a + e_a e_b. The last term covers underflow.
    let error = a.0 * b.1 + b.0 * a.1 + a.1 * b.1 + a.0 * b.0 * rounding;
    error * (1.0 + 1e-12) + f64::MIN_POSITIVE
}

/// A midpoint in doubles: 15 digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearDouble {
    pub(crate) value: Complex64,
    pub(crate) error: f64,
}

impl NearDouble {
    /// A ball in doubles: each part of the midpoint is rounded by at most half a unit in its last place.
    pub(crate) fn of_ball(ball: &ComplexTwofold) -> Self {
        let (re, im) = ball.middle();
        let value = Complex64::new(re.hi(), im.hi());
        NearDouble { value, error: (ball.radius() + ball.size() * f64::EPSILON) * (1.0 + 1e-12) + f64::MIN_POSITIVE }
    }
}

impl Near for NearDouble {
    type Sum = SumOfDoubles;

    fn real(value: &Enclosure) -> Self {
        let middle = value.approximate();
        let width = Float::with_val_round(53, value.upper() - value.lower(), Round::Up).0.to_f64_round(Round::Up);
        // The last term covers a middle that underflows.
        let error = (width + middle.abs() * f64::EPSILON) * (1.0 + 1e-12) + f64::MIN_POSITIVE;
        NearDouble { value: Complex64::new(middle, 0.0), error }
    }

    /// The error of the product of doubles is less than sqrt(5) 2^-53 |a||b| (Brent, Percival & Zimmermann 2007).
    fn mul(self, other: Self) -> Self {
        let (a, b) = ((modulus_upper(self.value), self.error), (modulus_upper(other.value), other.error));
        NearDouble { value: self.value * other.value, error: error_of_product(a, b, 1.2 * f64::EPSILON) }
    }

    /// Each part of the sum has an error of at most half a unit in its last place.
    fn add(self, other: Self) -> Self {
        let value = self.value + other.value;
        let error =
            (self.error + other.error + modulus_upper(value) * f64::EPSILON) * (1.0 + 1e-12) + f64::MIN_POSITIVE;
        NearDouble { value, error }
    }
}

/// A sum in doubles.
#[derive(Default)]
pub(crate) struct SumOfDoubles {
    value: f64,
    error: f64,
    size: f64,
    terms: f64,
}

impl NearSum<NearDouble> for SumOfDoubles {
    fn add(&mut self, a: NearDouble, b: NearDouble) {
        let (size_a, size_b) = (a.value.re.abs() + a.value.im.abs(), b.value.re.abs() + b.value.im.abs());
        self.value += a.value.re * b.value.re - a.value.im * b.value.im;
        self.error += (size_a + a.error) * b.error + a.error * size_b;
        self.size += size_a * size_b;
        self.terms += 1.0;
    }

    /// The error of each term is at most 2 units of 2^-53 of |a||b|, and that of each addition one unit of the partial sum.
    fn total(&self) -> (Twofold, f64) {
        let rounding = self.size * (self.terms + 4.0) * f64::EPSILON;
        (Twofold::double(self.value), (self.error + rounding) * (1.0 + 1e-6) + f64::MIN_POSITIVE)
    }
}

/// A midpoint in sums of two doubles: 30 digits.
impl Near for ComplexTwofold {
    type Sum = SumOfTwofolds;

    fn real(value: &Enclosure) -> Self {
        ComplexTwofold::new(TwofoldBall::of_enclosure(value), TwofoldBall::ratio(0, 1, ()))
    }

    fn mul(self, other: Self) -> Self {
        Field::mul(&self, &other)
    }

    fn add(self, other: Self) -> Self {
        Field::add(&self, &other)
    }
}

/// The powers P^j of a number, of which those for j = 2^k are computed once.
pub(crate) struct Powers {
    squares: Vec<ComplexTwofold>,
}

impl Powers {
    /// The powers of a number up to the exponent `last`.
    pub(crate) fn new(of: ComplexTwofold, last: i64) -> Self {
        let count = (i64::BITS - last.max(1).leading_zeros()) as usize;
        let squares = std::iter::successors(Some(of), |square| Some(Near::mul(*square, *square)));
        Powers { squares: squares.take(count).collect() }
    }

    /// P.
    pub(crate) fn first(&self) -> ComplexTwofold {
        self.squares[0]
    }

    /// P^exponent, for an exponent from 1 to the last; `None` for zero, whose power is one.
    pub(crate) fn at(&self, exponent: i64) -> Option<ComplexTwofold> {
        let bits = self.squares.iter().enumerate().filter(|(bit, _)| exponent >> bit & 1 == 1);
        bits.map(|(_, square)| *square).reduce(Near::mul)
    }
}

/// A sum in sums of two doubles.
#[derive(Default)]
pub(crate) struct SumOfTwofolds {
    value: Twofold,
    error: f64,
    size: f64,
    terms: f64,
}

impl NearSum<ComplexTwofold> for SumOfTwofolds {
    fn add(&mut self, a: ComplexTwofold, b: ComplexTwofold) {
        let parts = |z: &ComplexTwofold| z.middle().0.hi().abs() + z.middle().1.hi().abs();
        let (size_a, size_b) = (parts(&a), parts(&b));
        self.value = self.value.add(a.re_of_product(&b));
        self.error += (size_a + a.radius()) * b.radius() + a.radius() * size_b;
        self.size += size_a * size_b;
        self.terms += 1.0;
    }

    /// The error of each term is at most 3 units of |a||b|, and that of each addition one unit of the partial sum.
    fn total(&self) -> (Twofold, f64) {
        let rounding = self.size * (self.terms + 8.0) * Twofold::ERROR;
        (self.value, (self.error + rounding) * (1.0 + 1e-6) + f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;
    use crate::numeric::field::{Field, Real};

    /// Products and sums of hundreds of numbers against exact arithmetic.
    fn sums_are_within_their_error_bounds<N: Near>(of: impl Fn(&ComplexTwofold) -> N, near: f64) {
        let number =
            |k: i64| (Rational::from((k * 7919 % 1000 - 500, 997)), Rational::from((k * 104_729 % 1000 - 500, 991)));
        let ball =
            |(re, im): &(Rational, Rational)| ComplexTwofold::new(Real::rational(re, ()), Real::rational(im, ()));
        let third = Rational::from((1, 3));
        let mut sum = N::Sum::default();
        let mut exact = Rational::new();
        for k in 1..500 {
            let (a, b, c) = (number(k), number(3 * k + 1), number(k * k + 2));
            // Re(a b c) / 3
            let re = Rational::from(&a.0 * &b.0) - Rational::from(&a.1 * &b.1);
            let im = Rational::from(&a.0 * &b.1) + Rational::from(&a.1 * &b.0);
            exact += (re * &c.0 - im * &c.1) * &third;
            let third = N::real(&Enclosure::rational(&third, 130));
            sum.add(of(&ball(&a)).mul(of(&ball(&b))).mul(third), of(&ball(&c)));
        }
        let (value, error) = sum.total();
        let off = (value.float().to_rational().unwrap() - exact).abs().to_f64();
        assert!(off <= error && error < near, "{off} {error}");
    }

    /// Powers of a point of the unit circle, exactly: (3 + 4 i) / 5.
    #[test]
    fn powers_are_within_their_error_bounds() {
        let fifth = |n: i64| Real::ratio(n, 5, ());
        let powers = Powers::new(ComplexTwofold::new(fifth(3), fifth(4)), 1000);
        assert!(powers.at(0).is_none());
        let (mut re, mut im) = (Rational::from(1), Rational::new());
        for exponent in 1..=1000 {
            (re, im) = (
                (Rational::from(&re * 3_u32) - Rational::from(&im * 4_u32)) / 5_u32,
                (Rational::from(&re * 4_u32) + Rational::from(&im * 3_u32)) / 5_u32,
            );
            let power = powers.at(exponent).unwrap();
            let off = |near: Twofold, exact: &Rational| (near.float().to_rational().unwrap() - exact).to_f64();
            let off = off(power.middle().0, &re).hypot(off(power.middle().1, &im));
            assert!(off <= power.radius() && power.radius() < 1e-26, "{exponent}: {off} {}", power.radius());
            let double = NearDouble::of_ball(&power);
            let off = (double.value - Complex64::new(re.to_f64(), im.to_f64())).norm();
            assert!(off <= double.error && double.error < 1e-15, "{exponent}: {off}");
        }
    }

    #[test]
    fn doubles_are_within_their_error_bounds() {
        sums_are_within_their_error_bounds(NearDouble::of_ball, 1e-10);
    }

    #[test]
    fn sums_of_two_doubles_are_within_their_error_bounds() {
        sums_are_within_their_error_bounds(|z| *z, 1e-25);
    }
}
