//! The profile of the smoothing noise, by polynomials: many values of one function.
//!
//! With v = y / s and F(v) = D(s v) / s, F'' = s F' + exp(-(v - s/2)^2 / 2) / sqrt(2 pi), because D'(y) = -exp(y) P[Y' > y] with Y' of
//! mean -s^2 / 2. So the Taylor coefficients f_n of F around a point follow from F, F' and those of the Gaussian, c_n, there:
//!
//! ```text
//! (n + 1) c_(n+1) = -((v - s/2) c_n + c_(n-1)),    (n + 2) (n + 1) f_(n+2) = s (n + 1) f_(n+1) + c_n / sqrt(2 pi).
//! ```
//!
//! The terms after the first N are bounded by Cauchy's estimate. D(y) is the integral of (1 - exp(-t)) times the density of Y at y + t over t > 0,
//! also for complex y; there the density is at most exp(w^2 / 2) times that at the real part, w the imaginary part of v. D decreases, so |F| <=
//! exp(R^2 / 2) F(v - R) on the circle of radius R, and at a distance of r < R the remainder is at most exp(R^2 / 2) F(v - R) (r / R)^N / (1 - r /
//! R).

use std::sync::Arc;

use rug::{Float, Rational};

use crate::{
    loss::{gaussian, memo::Memo},
    numeric::{
        Enclosure,
        ball::Ball,
        field::Real,
        precision,
        twofold::{self, TwofoldBall},
    },
};

/// The number of cells of a unit of v; a point is at most half a cell from the middle of its own.
const CELLS: i64 = 8;
/// Beyond this v the closed form serves: few points are there.
const FARTHEST: i64 = 30;
/// The largest number of terms.
const MOST_TERMS: usize = 400;

/// D for one scale s = 2^-k, to at most a fixed number of digits.
#[derive(Debug)]
pub(super) struct Profile {
    k: i32,
    digits: u32,
    cells: Memo<i64, Arc<Cell>>,
}

/// The Taylor polynomial of F in a cell: in sums of two doubles, and to all digits.
#[derive(Debug)]
struct Cell {
    quick: Polynomial<TwofoldBall>,
    full: Polynomial<Ball>,
}

/// Coefficients, and an upper bound on the distance of the function from their polynomial.
#[derive(Debug)]
struct Polynomial<R> {
    coefficients: Vec<R>,
    rest: Float,
}

impl<R: Real> Polynomial<R> {
    /// The value at a distance h from the middle, by Horner's rule.
    fn at(&self, h: &R) -> Option<R> {
        let mut coefficients = self.coefficients.iter().rev();
        let last = coefficients.next()?.clone();
        Some(coefficients.fold(last, |sum, coefficient| sum.mul(h).add(coefficient)))
    }
}

impl Profile {
    /// For noise of scale 2^-k, with no cell computed yet.
    pub(super) fn new(k: i32, digits: u32) -> Self {
        Profile { k, digits, cells: Memo::default() }
    }

    /// Encloses D(y) for y >= 0, to about this number of digits.
    pub(super) fn at(&self, y: &Rational, digits: u32) -> Enclosure {
        let v = if self.k >= 0 { y.clone() << self.k as u32 } else { y.clone() >> self.k.unsigned_abs() };
        let index = Rational::from(&v * CELLS).round().into_numer_denom().0.to_i64().filter(|j| *j <= FARTHEST * CELLS);
        let of_cell = index.filter(|_| digits <= self.digits).and_then(|index| {
            let h = v - Rational::from((index, CELLS));
            let cell = self.cell(index);
            let (value, rest) = if digits <= twofold::ball::MOST_DIGITS {
                (cell.quick.at(&TwofoldBall::rational(&h, ()))?.enclosure(), &cell.quick.rest)
            } else {
                let bits = precision::bits(digits, 24);
                (cell.full.at(&Ball::rational(&h, bits))?.enclosure(), &cell.full.rest)
            };
            Some(value.add(&Enclosure::new(Float::with_val(rest.prec(), -rest), rest.clone())))
        });
        match of_cell {
            Some(value) => value.mul(&scale(self.k, value.lower().prec())),
            None => gaussian::hockey_stick(&rho(self.k), y, digits),
        }
    }

    fn cell(&self, index: i64) -> Arc<Cell> {
        self.cells.get_or_make(index, |index| Arc::new(Cell::new(self.k, *index, self.digits)))
    }
}

/// s = 2^-k, exactly.
fn scale(k: i32, bits: u32) -> Enclosure {
    let s = Float::with_val(bits, Float::i_exp(1, -k));
    Enclosure::new(s.clone(), s)
}

/// s^2 / 2.
fn rho(k: i32) -> Rational {
    if k >= 0 { Rational::from(1) >> (2 * k as u32 + 1) } else { (Rational::from(1) << (2 * k.unsigned_abs())) / 2_u32 }
}

impl Cell {
    /// Around v = index / CELLS, where F is known to this number of digits.
    fn new(k: i32, index: i64, digits: u32) -> Self {
        let middle = Rational::from((index, CELLS));
        let full = precision::bits(digits, 24);
        let terms = |bits: u32| Rest::choose(k, index as f64 / CELLS as f64, bits);
        let (of_quick, of_full) = (terms(precision::bits(twofold::ball::MOST_DIGITS, 24)), terms(full));
        // The rounding errors of the n-th coefficient grow as the n-th of exp(v h + h^2 / 2) at most, and h is at most 1 / (2 CELLS).
        let most = of_full.terms.max(of_quick.terms);
        let coefficients = taylor(k, &middle, most, full + 64);
        let quick = coefficients[..of_quick.terms].iter().map(TwofoldBall::of_enclosure).collect();
        let balls = coefficients[..of_full.terms].iter().map(|x| Ball::of_enclosure(x, full)).collect();
        Cell {
            quick: Polynomial { coefficients: quick, rest: of_quick.bound(k, &middle) },
            full: Polynomial { coefficients: balls, rest: of_full.bound(k, &middle) },
        }
    }
}

/// The Taylor coefficients of F around v.
fn taylor(k: i32, v: &Rational, terms: usize, bits: u32) -> Vec<Enclosure> {
    let real = |x: &Rational| Enclosure::rational(x, bits);
    let whole = |n: usize| Enclosure::rational(&Rational::from(n), bits);
    let s = if k >= 0 { Rational::from(1) >> k as u32 } else { Rational::from(1) << k.unsigned_abs() };
    let y = Rational::from(v * &s);
    let digits = (f64::from(bits) * std::f64::consts::LOG10_2) as u32;
    let two = whole(2);
    // F, and F' = -exp(y) P[Y' > y] = -exp(y) erfc((v + s / 2) / sqrt(2)) / 2.
    let value = gaussian::hockey_stick(&rho(k), &y, digits).div(&scale(k, bits));
    let above = real(&(Rational::from(&s / 2_u32) + v)).div(&two.sqrt());
    let slope = real(&y).exp().mul(&above.erfc()).div(&two).negate();
    let mut f = vec![value, slope];
    let off = v - Rational::from(&s / 2_u32);
    let density = Enclosure::pi(bits).mul(&two).sqrt().recip();
    let first = real(&-(off.clone().square() / 2_u32)).exp().mul(&density);
    let (s, off) = (real(&s), real(&off));
    // The c_n with the factor 1 / sqrt(2 pi); none before the first.
    let (mut before, mut c) = (Enclosure::double(0.0, bits), first);
    for n in 0..terms.saturating_sub(2) {
        let next = s.mul(&f[n + 1]).mul(&whole(n + 1)).add(&c).div(&whole((n + 2) * (n + 1)));
        f.push(next);
        let following = off.mul(&c).add(&before).div(&whole(n + 1)).negate();
        before = std::mem::replace(&mut c, following);
    }
    f.truncate(terms);
    f
}

/// The number of terms, and the radius of the circle on which the remainder is bounded.
struct Rest {
    terms: usize,
    radius: i64,
}

impl Rest {
    /// The smallest number of terms after which the remainder is below about 2^-bits of F.
    fn choose(k: i32, v: f64, bits: u32) -> Self {
        let s = 2f64.powi(-k);
        let terms = |radius: i64| {
            let r = radius as f64;
            // F falls about as exp(-(v - s / 2)^2 / 2) beyond s / 2.
            let fall = |v: f64| (v - s / 2.0).max(0.0).powi(2) / 2.0 + libm::log(1.0 + v.max(0.0));
            let nats = r * r / 2.0 + fall(v) - fall(v - r) + f64::from(bits) * std::f64::consts::LN_2;
            ((nats / libm::log(r * 2.0 * CELLS as f64)).ceil() as usize).saturating_add(2)
        };
        let choices = (1..=8).map(|radius| Rest { terms: terms(radius).min(MOST_TERMS), radius });
        choices.min_by_key(|rest| rest.terms).unwrap_or(Rest { terms: MOST_TERMS, radius: 1 })
    }

    /// Upper bound on exp(R^2 / 2) F(v - R) (r / R)^N / (1 - r / R) for the half width r of a cell.
    fn bound(&self, k: i32, v: &Rational) -> Float {
        const BITS: u32 = 64;
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let s = scale(k, BITS);
        let at = Rational::from(v - self.radius);
        let y = if k >= 0 { at.clone() >> k as u32 } else { at.clone() << k.unsigned_abs() };
        // D(-y) = 1 - exp(-y) + exp(-y) D(y)
        let profile = gaussian::hockey_stick(&rho(k), &y.clone().abs(), 6);
        let below_zero = || real(&y).exp().mul(&profile).sub(&real(&y).exp_m1());
        let profile = if at >= 0 { profile } else { below_zero() };
        let ratio = Rational::from((1, 2 * CELLS * self.radius));
        let power = real(&ratio).ln().mul(&real(&Rational::from(self.terms))).exp();
        let size = real(&Rational::from((self.radius * self.radius, 2))).exp().mul(&profile).div(&s);
        size.mul(&power).div(&real(&(1 - ratio))).upper().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// In the middle of cells, on their borders and beyond all, for large and small noise: agrees with the closed form, at the requested precision.
    #[test]
    fn polynomials_are_the_closed_form() {
        for k in [-1, 0, 3, 20, 300] {
            for most in [12, 45, 80] {
                let profile = Profile::new(k, most);
                for v in ["0", "1e-30", "1/16", "0.0624999", "1/7", "2.71828", "9.9375", "15.3", "31", "39.99", "41"] {
                    let y = parse(v).unwrap();
                    let y = if k >= 0 { y >> k as u32 } else { y << 1_u32 };
                    let truth = gaussian::hockey_stick(&rho(k), &y, most + 10);
                    for digits in [2, 12, 20, 30, 45, 80] {
                        let value = profile.at(&y, digits);
                        assert!(value.overlaps(&truth), "{k} {v} {digits}: {value} {truth}");
                        assert!(value.is_tight(digits), "{k} {v} {digits} of {most}: {value}");
                    }
                }
            }
        }
    }
}
