//! Staircase noise on the integers (Geng & Viswanath 2014): masses, tails and moments in closed form, and exact sampling.
//!
//! With q = exp(-epsilon), a period P and a first stair of r values the mass at x is q^level(|x|) / Z, level(m) = floor((m + P - r) / P). A size k P + j, 0 <= j < P, has
//! the weight q^k if j < r, else q^(k + 1), so all sizes of one k have together q^k A with A = r + (P - r) q, and Z = 2 A / (1 - q) - 1, because zero has one sign.
//!
//! # Sampling
//!
//! A sign is fair. j is uniform on 0, ..., P - 1, and from r on accepted with probability q, else drawn again; k has mass (1 - q) q^k. Of the two zeros the negative one
//! is rejected. So a size k P + j has mass in proportion to q^k or q^(k + 1), as it should. A two-sided geometric law, drawn exactly, gives both: restricted to 0, 1, ... it is
//! that of k, and k >= 1 has the probability q. No other step has an error: the samples are exact.

use rug::{Float, Integer, Rational, float::Round};

use super::{Source, discrete_gaussian::GUARD, folded::TailBounds, quantile::quantile};
use crate::{
    error::Result,
    numeric::{Enclosure, precision},
};

/// The distribution of staircase noise.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{law::{Changes, Law}, noise::Distribution, numeric::rational::parse};
/// let law = Law::Staircase { epsilon: parse("1")?, period: 4, first: 2, changes: Changes::Exactly };
/// let noise = Distribution::of_law(&law)?;
/// // Z = 2 (2 + 2 / e) / (1 - 1 / e) - 1
/// assert!((noise.mass(1, 15).approximate() - 0.1306197).abs() < 1e-7);
/// assert_eq!(noise.quantile(&parse("0.975")?)?, 12);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StaircaseNoise {
    epsilon: Rational,
    period: u64,
    first: u64,
}

impl StaircaseNoise {
    /// With epsilon above zero and a first stair of 1 to `period` values: the law has checked it.
    pub(super) fn new(epsilon: Rational, period: u64, first: u64) -> Self {
        StaircaseNoise { epsilon, period, first }
    }

    /// q^n, to a relative width of about 2^-bits.
    fn power(&self, n: u64, bits: u32) -> Enclosure {
        let exponent = -Rational::from(&self.epsilon * n);
        // exp turns the relative error of the exponent into an absolute one.
        let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
        Enclosure::rational(&exponent, bits + size).exp()
    }

    /// 1 - q.
    fn gap(&self, bits: u32) -> Enclosure {
        Enclosure::rational(&-self.epsilon.clone(), bits).exp_m1().negate()
    }

    /// The sum of f(j) over the values j of a period from some j on, times q from the first stair on.
    fn of_period(&self, from: u64, bits: u32, f: impl Fn(u64) -> u64) -> Enclosure {
        let sum = |range: std::ops::Range<u64>| {
            let sum: Rational = range.map(|j| Rational::from(f(j))).sum();
            Enclosure::rational(&sum, bits)
        };
        let upper = sum(from.max(self.first)..self.period).mul(&self.power(1, bits));
        sum(from..self.first.max(from)).add(&upper)
    }

    /// Z: the sum of the weights of all values.
    fn total(&self, bits: u32) -> Enclosure {
        let one_side = self.of_period(0, bits, |_| 1).div(&self.gap(bits));
        one_side.times_power_of_two(1).sub(&Enclosure::double(1.0, bits))
    }

    /// `P[X = x]`, to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        let level = (x.unsigned_abs() + self.period - self.first) / self.period;
        self.power(level, bits).div(&self.total(bits))
    }

    /// `P[X <= x]`, to a relative width of 10^-digits, far into the lower tail.
    pub fn cdf(&self, x: i64, digits: u32) -> Enclosure {
        self.upper_tail(-i128::from(x), digits)
    }

    /// `P[X >= x]`, to a relative width of 10^-digits, far into the upper tail.
    pub fn survival(&self, x: i64, digits: u32) -> Enclosure {
        self.upper_tail(i128::from(x), digits)
    }

    fn upper_tail(&self, x: i128, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        if x <= 0 {
            // 1 - P[X >= 1 - x], which is at most 1/2, so that no digits cancel.
            return Enclosure::double(1.0, bits).sub(&self.upper_tail(1 - x, digits));
        }
        // Of the period of x what is left, and all that follow.
        let x = u64::try_from(x).unwrap_or(u64::MAX);
        let (periods, from) = (x / self.period, x % self.period);
        let rest = self.of_period(from, bits, |_| 1);
        let beyond = self.of_period(0, bits, |_| 1).mul(&self.power(1, bits)).div(&self.gap(bits));
        rest.add(&beyond).mul(&self.power(periods, bits)).div(&self.total(bits))
    }

    /// Encloses `P[|X| > m]` for every m for which it is above about 2^-wanted, each to within about 2^-(wanted + 32).
    pub(super) fn tails(&self, wanted: u32) -> TailBounds {
        let bits = wanted + 128;
        let beyond = self.of_period(0, bits, |_| 1).mul(&self.power(1, bits)).div(&self.gap(bits));
        let rest: Vec<Enclosure> =
            (0..self.period).map(|from| self.of_period(from, bits, |_| 1).add(&beyond)).collect();
        let mut tails = TailBounds { bits, lower: Vec::new(), upper: Vec::new() };
        let q = self.power(1, bits);
        // 2 q^k / Z, of the values k P + j.
        let mut each = Enclosure::double(2.0, bits).div(&self.total(bits));
        let scaled = |end: &Float, round| Float::with_val_round(2 * bits, end << bits, round).0.to_integer_round(round);
        let mut from = 1;
        loop {
            for rest in rest.iter().skip(from) {
                let tail = rest.mul(&each);
                let [low, high] = [scaled(tail.lower(), Round::Down), scaled(tail.upper(), Round::Up)]
                    .map(|end| end.map(|(end, _)| end).unwrap_or_default());
                let is_last = high < (Integer::from(1) << (bits - wanted));
                tails.lower.push(low);
                tails.upper.push(high);
                if is_last {
                    return tails;
                }
            }
            (each, from) = (each.mul(&q), 0);
        }
    }

    /// The smallest integer x with `P[X <= x]` >= p, proven. For 0 < p < 1.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        // P[X > k P] <= q^k.
        let stairs = super::quantile::depth_approx(p) / self.epsilon.to_f64() + 2.0;
        quantile(p, (stairs * self.period as f64).max(2.0), |x, digits| Ok(self.survival(x, digits)))
    }

    /// `Var[X]`, to a relative width of 10^-digits: the sum of (k P + j)^2 over all sizes, with sum of q^k, k q^k and k^2 q^k in closed form.
    pub fn variance(&self, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        let [a, b, c] = [0, 1, 2].map(|power| self.of_period(0, bits, |j| j.pow(power)));
        let (q, gap) = (self.power(1, bits), self.gap(bits));
        let period = Enclosure::rational(&Rational::from(self.period), bits);
        let per_gap = |value: Enclosure, times: u32| (0..times).fold(value, |value, _| value.div(&gap));
        let squares = q.mul(&q.add(&Enclosure::double(1.0, bits))).mul(&period).mul(&period).mul(&a);
        let mixed = q.mul(&period).mul(&b).times_power_of_two(1);
        let all = per_gap(squares, 3).add(&per_gap(mixed, 2)).add(&per_gap(c, 1));
        all.times_power_of_two(1).div(&self.total(bits))
    }
}

/// Draws from stairs by a geometric law.
#[derive(Debug)]
pub(super) struct Stairs {
    period: u64,
    first: u64,
}

impl Stairs {
    pub(super) fn new(period: u64, first: u64) -> Self {
        Stairs { period, first }
    }

    /// One exact sample, by draws of mass proportional to q^|x|.
    pub(super) fn draw(&self, geometric: impl Fn(&mut Source) -> i64, source: &mut Source) -> i64 {
        let stairs = |source: &mut Source| loop {
            let k = geometric(source);
            if k >= 0 {
                return k;
            }
        };
        loop {
            let value = self.uniform(source);
            // Above the first stair with probability q.
            if value >= self.first && stairs(source) == 0 {
                continue;
            }
            // Periods are at most 1000, and a geometric number beyond 2^53 has no weight that a source could show.
            let size = stairs(source).saturating_mul(self.period as i64).saturating_add(value as i64);
            let is_negative = source.word() & 1 == 1;
            if size > 0 || !is_negative {
                return if is_negative { -size } else { size };
            }
        }
    }

    /// Uniform on 0, ..., period - 1: leading digits of a word, drawn again where they are too large.
    fn uniform(&self, source: &mut Source) -> u64 {
        let most = (self.period - 1) as u32;
        let unused = u32::BITS - (u32::BITS - most.leading_zeros());
        loop {
            let digits = source.word().checked_shr(unused).unwrap_or(0);
            if digits <= most {
                return u64::from(digits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        law::{Changes, Law},
        noise::{Sampler, Streams},
        numeric::rational::parse,
    };

    const CASES: [(&str, u64, u64); 5] = [("1", 4, 2), ("1/3", 1, 1), ("2", 5, 5), ("1/7", 3, 1), ("5/2", 1000, 1)];

    fn noise((epsilon, period, first): (&str, u64, u64)) -> StaircaseNoise {
        StaircaseNoise::new(parse(epsilon).unwrap(), period, first)
    }

    /// Sums of masses, term by term.
    #[test]
    fn tails_and_moments_are_sums_of_masses() {
        for case in CASES {
            let noise = noise(case);
            let reach = (90.0 / noise.epsilon.to_f64()) as i64 * noise.period as i64;
            let masses: Vec<f64> = (0..=reach).map(|x| noise.mass(x, 15).approximate()).collect();
            let above = |from: usize| masses[from..].iter().rev().sum::<f64>();
            assert!((2.0 * above(1) + masses[0] - 1.0).abs() < 1e-12, "{case:?}");
            for x in [1, 2, 3, 7, noise.period as usize, 3 * noise.period as usize + 1] {
                let (own, sum) = (noise.survival(x as i64, 15).approximate(), above(x));
                assert!((own / sum - 1.0).abs() < 1e-11, "{case:?} {x}: {own} and {sum}");
                assert!(noise.cdf(-(x as i64), 15).overlaps(&noise.survival(x as i64, 15)));
                assert!((noise.cdf(x as i64 - 1, 15).approximate() + own - 1.0).abs() < 1e-12, "{case:?} {x}");
            }
            let squares = masses.iter().enumerate().map(|(x, mass)| 2.0 * mass * (x * x) as f64).sum::<f64>();
            assert!((noise.variance(15).approximate() / squares - 1.0).abs() < 1e-10, "{case:?}");
            let x = noise.quantile(&parse("0.975").unwrap()).unwrap();
            assert!(noise.cdf(x, 15).approximate() >= 0.975 && noise.cdf(x - 1, 15).approximate() < 0.975, "{case:?}");
        }
    }

    /// Frequencies within five deviations of their masses.
    #[test]
    fn samples_have_the_masses_of_the_law() {
        const DRAWS: usize = 200_000;
        for case @ (epsilon, period, first) in CASES {
            let law = Law::Staircase { epsilon: parse(epsilon).unwrap(), period, first, changes: Changes::Exactly };
            let (sampler, noise) = (Sampler::new(law).unwrap(), noise(case));
            let mut source = Streams::with_insecure_seed(7).take();
            let mut drawn = vec![0; DRAWS];
            sampler.fill(&mut drawn, &mut source);
            let is_far = |p: f64, times: usize| {
                let mean = p * DRAWS as f64;
                (times as f64 - mean).abs() > 5.0 * (mean * (1.0 - p)).sqrt() + 1.0
            };
            let edge = period as i64;
            for x in [0, 1, -1, first as i64 - 1, first as i64, -(first as i64), edge, -edge, 2 * edge - 1] {
                let times = drawn.iter().filter(|value| **value == x).count();
                assert!(!is_far(noise.mass(x, 15).approximate(), times), "{case:?} {x}: {times}");
                let times = drawn.iter().filter(|value| **value >= x).count();
                assert!(!is_far(noise.survival(x, 15).approximate(), times), "{case:?} from {x}: {times}");
            }
        }
    }
}
