//! The difference of the masses of fine noise from a Gaussian: a few cosines.
//!
//! In the proof of [`fine`](super) Poisson's formula gives more than a bound. A vector of integers z and z plus a multiple of (1, ..., 1) have one
//! projection, so the w are those of the z whose sum s has -n/2 < s <= n/2, each once. With X = x the translate of that lattice is by x in one
//! coordinate, up to the projection, so the term of w turns by s x / n:
//!
//! ```text
//! P[X = x] = exp(-x^2 / (2 v)) / sqrt(2 pi v) T(x) / theta(q)^n,
//! T(x)     = sum over s of cos(2 pi s x / n) q^(-s^2 / n) N(s),    N(s) = sum of q^(|z|^2) over the z whose sum is s,
//! ```
//!
//! with theta(q) the sum of q^(k^2), as sqrt(2 pi sigma2) theta(q) is the normaliser of one. T is even and has the period n.
//!
//! For s >= 0 an entry k adds k^2 - k >= 0, an even number, to |z|^2 = s + d. There are
//!
//! ```text
//! d = 0:  C(n, s), of s ones;
//! d = 2:  C(n, s + 1) (n - s - 1), of one -1 and s + 1 ones, and C(n, s - 2) (n - s + 2), of one 2 and s - 2 ones.
//! ```
//!
//! # The remaining terms
//!
//! All sums over z that follow reduce to the same one, n^(-|z|^2) summed over all z, which is (sum over j of n^(-j^2))^n <= 10 for n >= 2. For n = 1
//! only z = 0 counts.
//!
//! - d >= 4 and 0 <= s <= n/2. Then q^(s - s^2 / n) <= q^(s / 2) <= n^(-s), because n sqrt(q) <= 1, and q^d <= (n q)^4 n^(-d), because n q <= 1;
//!   and s + d = |z|^2. They add at most 10 (n q)^4, and those of s < 0 no more than that again.
//! - |s| > m. There |w|^2 >= |z|^2 / 2 and |z|^2 >= |s| >= m + 1, and sqrt(q)^(|z|^2) <= (n sqrt(q))^(m + 1) n^(-|z|^2). They add at most
//!   10 (n sqrt(q))^(m + 1).

use std::f64::consts::{LN_10, PI};

use rug::{Integer, Rational};

use super::ln_off;
use crate::{
    loss::law::Group,
    numeric::{Enclosure, precision},
};

/// Longer periods have no table.
const MOST_COPIES: u64 = 4096;
/// Upper bound on |s|.
const MOST_TERMS: u64 = 16;

/// T(x) / theta(q)^n of a group of fine noise.
#[derive(Debug)]
pub(in crate::loss) struct Ripple {
    copies: u64,
    /// At x = 0, ..., n/2.
    values: Vec<Enclosure>,
}

/// The terms of a ripple.
#[derive(Clone, Copy, Debug)]
pub(in crate::loss) struct Shape {
    /// Upper bound on |s|.
    terms: u64,
    /// Upper bound on ln of the error of P[X = x], relative to the Gaussian.
    pub(in crate::loss) ln_rest: f64,
}

impl Shape {
    /// The ripple with an error below 10^-digits; `None` if there is none, or the noise is not fine.
    pub(in crate::loss) fn new(group: &Group, digits: u32) -> Option<Self> {
        ln_off(group).filter(|_| group.copies <= MOST_COPIES)?;
        let n = group.copies as f64;
        // As in `ln_off`, the last factor covers the rounding errors.
        let ln_q = -2.0 * PI * PI * group.law.parameter().to_f64() * (1.0 - 1e-9);
        let ln_beyond = libm::log(20_f64) + 4.0 * (libm::log(n) + ln_q);
        let ln_rest = |terms: u64| {
            let ln_left = libm::log(10_f64) + (terms + 1) as f64 * (libm::log(n) + ln_q / 2.0);
            let (small, large) = (ln_left.min(ln_beyond), ln_left.max(ln_beyond));
            large + libm::log1p(libm::exp(small - large)) + 1e-9
        };
        let shapes = (1..=MOST_TERMS).map(|terms| Shape { terms, ln_rest: ln_rest(terms) });
        shapes.into_iter().find(|shape| shape.ln_rest <= -f64::from(digits) * LN_10)
    }
}

impl Ripple {
    /// To about this number of digits.
    pub(in crate::loss) fn new(group: &Group, shape: Shape, digits: u32) -> Option<Self> {
        let sigma2 = group.law.discrete_sigma2()?;
        let (n, bits) = (group.copies, precision::bits(digits, 64));
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let two_pi = Enclosure::pi(bits).mul(&real(&Rational::from(2)));
        // -ln q
        let curvature = Enclosure::pi(bits).mul(&two_pi).mul(&real(sigma2));
        let power = |exponent: &Rational| curvature.mul(&real(exponent)).negate().exp();
        let q2 = power(&Rational::from(2));
        let last = shape.terms.min(n / 2);
        let coefficients: Vec<Enclosure> = (0..=last)
            .map(|s| {
                let count = |count: Integer| real(&Rational::from(count));
                let further = count(of_two_more(n, s)).mul(&q2);
                let both = if s == 0 || 2 * s == n { 1 } else { 2 };
                let exponent = Rational::from(s) - Rational::from((s * s, n));
                power(&exponent).mul(&count(binomial(n, s)).add(&further)).mul(&real(&Rational::from(both)))
            })
            .collect();
        let cosines: Vec<Enclosure> = (0..=n / 2).map(|x| two_pi.mul(&real(&Rational::from((x, n)))).cos()).collect();
        let theta = theta(power, bits).ln().mul(&real(&Rational::from(n))).exp();
        let value = |x: u64| {
            let terms = coefficients.iter().zip(0..).map(|(own, s)| own.mul(&cosines[folded(s * x, n)]));
            terms.fold(Enclosure::double(0.0, bits), |sum, term| sum.add(&term)).div(&theta)
        };
        Some(Ripple { copies: n, values: (0..=n / 2).map(value).collect() })
    }

    /// The value at x.
    pub(in crate::loss) fn at(&self, x: i128) -> &Enclosure {
        &self.values[folded(x.rem_euclid(i128::from(self.copies)) as u64, self.copies)]
    }
}

/// The smallest absolute value of the numbers that are x or -x up to multiples of n.
fn folded(x: u64, n: u64) -> usize {
    let rest = x % n;
    rest.min(n - rest) as usize
}

fn binomial(n: u64, k: u64) -> Integer {
    (0..k).fold(Integer::from(1), |all, j| all * (n - j) / (j + 1))
}

/// The number of vectors of sum s whose sum of squares is s + 2, for 0 <= s <= n/2.
fn of_two_more(n: u64, s: u64) -> Integer {
    let opposite = if s + 2 <= n { binomial(n, s + 1) * (n - s - 1) } else { Integer::new() };
    let double = if s >= 2 { binomial(n, s - 2) * (n - s + 2) } else { Integer::new() };
    opposite + double
}

/// theta(q) = 1 + 2 q + 2 q^4 + ..., where q < e^-39: the terms after one are together less than it.
fn theta(power: impl Fn(&Rational) -> Enclosure, bits: u32) -> Enclosure {
    /// A lower bound on -log2 q.
    const LEAST: u32 = 56;
    let last = (bits / LEAST).isqrt() + 1;
    let twice = |k: u32| power(&Rational::from(k * k)).times_power_of_two(1);
    let sum = (1..=last).fold(Enclosure::double(1.0, bits), |sum, k| sum.add(&twice(k)));
    sum.add(&Enclosure::double(0.0, bits).hull(&twice(last)))
}

#[cfg(test)]
mod tests {
    use rug::{Float, float::Constant};

    use super::*;
    use crate::{loss::testing::group, numeric::rational::parse};

    const BITS: u32 = 700;

    /// P[X = x] over the Gaussian for 0 <= x < 12, by convolution in 700 bits.
    fn by_convolution(sigma2: &str, copies: u64) -> Vec<Float> {
        let sigma2 = parse(sigma2).unwrap();
        let reach = 130;
        let half = |x: i32, v: &Rational| Float::with_val(BITS, -Rational::from(x * x) / v / 2_u32).exp();
        let one: Vec<Float> = (-reach..=reach).map(|x| half(x, &sigma2)).collect();
        let normaliser = one.iter().fold(Float::new(BITS), |sum, mass| sum + mass);
        let mut masses = vec![Float::with_val(BITS, 1)];
        for _ in 0..copies {
            let mut next = vec![Float::new(BITS); masses.len() + one.len() - 1];
            for (i, mass) in masses.iter().enumerate() {
                for (j, other) in one.iter().enumerate() {
                    next[i + j] += Float::with_val(BITS, mass * other) / &normaliser;
                }
            }
            // Masses far from the middle are not compared.
            let spare = next.len().saturating_sub(one.len()) / 2;
            masses = next[spare..next.len() - spare].to_vec();
        }
        let variance = Rational::from(&sigma2 * copies);
        let root = (Float::with_val(BITS, Constant::Pi) * Rational::from(&variance * 2_u32)).sqrt();
        let middle = masses.len() / 2;
        (0..12).map(|x| Float::with_val(BITS, &masses[middle + x as usize] * &root) / half(x, &variance)).collect()
    }

    /// Masses of convolutions against the cosines: the error is below its bound, and nearly reaches it.
    #[test]
    fn masses_are_within_their_error_bound() {
        let mut nearest = f64::INFINITY;
        for (sigma2, copies) in [("4", 1), ("2", 2), ("2", 3), ("3", 4), ("9/4", 5), ("2", 6), ("2", 7), ("5/2", 16)] {
            let group = group(&format!("{sigma2}x{copies}"));
            let truth = by_convolution(sigma2, copies);
            for digits in [8, 20, 40] {
                let shape = Shape::new(&group, digits).unwrap();
                assert!(shape.ln_rest <= -f64::from(digits) * LN_10);
                let ripple = Ripple::new(&group, shape, 120).unwrap();
                for (x, truth) in (0_i128..).zip(&truth) {
                    let rest = Float::with_val(64, shape.ln_rest).exp();
                    for x in [x, -x, x + 3 * i128::from(copies)] {
                        let off = Float::with_val(BITS, truth - ripple.at(x).lower()).abs();
                        assert!(off <= rest, "{sigma2} x {copies} at {x}, {digits}: {off} {rest}");
                        assert!(ripple.at(x).is_tight(100));
                        let spare = shape.ln_rest - off.ln().to_f64();
                        nearest = nearest.min(spare);
                    }
                }
            }
        }
        assert!(nearest < 6.0, "{nearest}");
    }

    /// The counts of vectors against an enumeration.
    #[test]
    fn vectors_of_a_sum_are_counted() {
        for n in 2..=7_u32 {
            let mut counts = std::collections::BTreeMap::<(i64, i64), u64>::new();
            for code in 0..5_i64.pow(n) {
                let entries = (0..n).map(|place| code / 5_i64.pow(place) % 5 - 2);
                let (sum, squares) = entries.fold((0, 0), |(sum, squares), x| (sum + x, squares + x * x));
                *counts.entry((sum, squares)).or_default() += 1;
            }
            for s in 0..=u64::from(n / 2) {
                let known = |more: i64| counts.get(&(s as i64, s as i64 + more)).copied().unwrap_or(0);
                assert_eq!(binomial(u64::from(n), s), known(0), "{n} {s}");
                assert_eq!(of_two_more(u64::from(n), s), known(2), "{n} {s}");
            }
        }
    }

    #[test]
    fn long_periods_and_coarse_noise_have_no_ripple() {
        assert!(Shape::new(&group("3x4097"), 20).is_none());
        assert!(Shape::new(&group("19/10x5"), 20).is_none());
        assert!(Shape::new(&group("2x1000"), 60).is_none());
        assert!(Shape::new(&group("2x1000"), 50).is_some());
    }
}
