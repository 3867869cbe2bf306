//! Upper bounds on probabilities. Every operation rounds so that the result is no smaller than the exact number.

use std::cmp::Ordering;

use rug::{
    Float,
    float::Round::{Down, Up},
    ops::{AddAssignRound, MulAssignRound, PowAssignRound},
};

use crate::numeric::Enclosure;

/// Bits of sums of logarithms: n ln n of 2^64 draws leaves 120 bits after the point.
const BITS: u32 = 192;
/// Bits of factors whose relative error alone matters.
const FACTOR: u32 = 64;

/// An upper bound on a probability, by its natural logarithm: at most 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct ProvenP {
    ln: f64,
}

impl ProvenP {
    /// The bound that always holds.
    pub const ONE: ProvenP = ProvenP { ln: 0.0 };

    /// From an upper bound on the logarithm; no bound becomes 1.
    pub fn of_ln(ln: &Float) -> ProvenP {
        let ln = ln.to_f64_round(Up);
        ProvenP { ln: if ln < 0.0 { ln } else { 0.0 } }
    }

    /// From a double that is such a bound; NaN and positive numbers become 1.
    pub fn of_bound(ln: f64) -> ProvenP {
        ProvenP { ln: if ln < 0.0 { ln } else { 0.0 } }
    }

    /// Upper bound on the natural logarithm.
    pub fn ln(self) -> f64 {
        self.ln
    }

    /// The bound times a number of tests, at most 1.
    pub fn times(self, tests: u64) -> ProvenP {
        let mut ln = Float::with_val_round(BITS, tests.max(1), Up).0;
        ln.ln_round(Up);
        ln.add_assign_round(self.ln, Up);
        ProvenP::of_ln(&ln)
    }

    /// Upper bound on the sum of two probabilities.
    pub fn plus(self, other: ProvenP) -> ProvenP {
        let (large, small) = if self.ln >= other.ln { (self, other) } else { (other, self) };
        // ln(a + b) = ln a + ln(1 + b / a), and b / a <= 1.
        let mut ratio = Float::with_val(BITS, small.ln) - large.ln;
        ratio.exp_round(Up);
        ratio.ln_1p_round(Up);
        ratio.add_assign_round(large.ln, Up);
        ProvenP::of_ln(&ratio)
    }

    /// The bound as a number, rounded up; tiny ones have a wide range of exponents.
    pub fn value(self) -> Float {
        let mut value = Float::with_val(FACTOR, self.ln);
        value.exp_round(Up);
        value
    }

    /// The smaller of two.
    pub fn min(self, other: ProvenP) -> ProvenP {
        if other.ln < self.ln { other } else { self }
    }

    /// The order of two.
    pub fn order(self, other: ProvenP) -> Ordering {
        self.ln.total_cmp(&other.ln)
    }
}

/// Two-sided exact binomial test: bound on twice `P[B >= k]` or twice `P[B <= k]`, whichever side of the mean k lies on. The test
/// that rejects where this is at most a has level a: each side is rejected with probability at most a / 2.
pub fn binomial(n: u64, k: u64, p: &Enclosure) -> ProvenP {
    let mean = n as f64 * p.approximate();
    let one_side = if k as f64 >= mean {
        binomial_at_least(n, k, p.upper())
    } else {
        // n - B counts the complement.
        let complement = Float::with_val_round(BITS, 1 - p.lower(), Up).0;
        binomial_at_least(n, n - k.min(n), &complement)
    };
    one_side.times(2)
}

/// An upper bound on `P[B >= k]` for B binomial of n trials with probability at most `p`: the probability increases with p.
///
/// The first term is exp(ln C(n, k) + k ln p + (n - k) ln(1 - p)); later ones follow by the ratios r_j = (n - j) p / ((j + 1) (1 - p)),
/// which decrease in j. The ratios of `block` steps are replaced by the first of them, which is the largest; at the end the remaining
/// terms are bounded by a geometric series.
pub fn binomial_at_least(n: u64, k: u64, p: &Float) -> ProvenP {
    if k == 0 || *p >= 1 {
        return ProvenP::ONE;
    }
    if k > n || *p <= 0 {
        return ProvenP { ln: f64::NEG_INFINITY };
    }
    let p = Float::with_val_round(BITS, p, Up).0;
    let odds = Float::with_val_round(BITS, &p / Float::with_val_round(BITS, 1 - &p, Down).0, Up).0;
    let ratio = |j: u64| -> Float {
        let mut ratio = Float::with_val_round(FACTOR, &odds, Up).0;
        ratio.mul_assign_round(n - j, Up);
        let below = Float::with_val_round(FACTOR, j + 1, Down).0;
        Float::with_val_round(FACTOR, ratio / below, Up).0
    };
    if ratio(k) >= 1 {
        return ProvenP::ONE;
    }
    let spread = (n as f64 * p.to_f64() * (1.0 - p.to_f64())).sqrt();
    let block = (spread / 64.0).max(1.0) as u64;
    let zero = || Float::with_val(FACTOR, 0);
    let (mut sum, mut term, mut j) = (zero(), Float::with_val(FACTOR, 1), k);
    loop {
        let first = ratio(j);
        // The gap 1 - r, rounded down, is above 0: ratios decrease from one below 1.
        let gap = Float::with_val_round(FACTOR, 1 - &first, Down).0;
        let geometric = |share: &Float| Float::with_val_round(FACTOR, share / &gap, Up).0;
        let is_last = j + block > n || term < 1e-12;
        if is_last {
            // All further terms: term (1 + r + r^2 + ...).
            sum.add_assign_round(geometric(&term), Up);
            break;
        }
        let mut power = first.clone();
        power.pow_assign_round(u32::try_from(block).unwrap_or(u32::MAX), Up);
        // term (1 - r^block) / (1 - r), with r^block rounded down.
        let mut below = first.clone();
        below.pow_assign_round(u32::try_from(block).unwrap_or(u32::MAX), Down);
        let share = Float::with_val_round(FACTOR, 1 - below, Up).0;
        let mut part = geometric(&share);
        part.mul_assign_round(&term, Up);
        sum.add_assign_round(part, Up);
        term.mul_assign_round(power, Up);
        j += block;
    }
    let mut ln = ln_first(n, k, &p);
    ln.add_assign_round(Float::with_val_round(FACTOR, sum.ln_ref(), Up).0, Up);
    ProvenP::of_ln(&ln)
}

/// An upper bound on ln(C(n, k) p^k (1 - p)^(n - k)).
fn ln_first(n: u64, k: u64, p: &Float) -> Float {
    let ln_factorial = |m: u64, round| {
        let mut ln = Float::with_val(BITS, m) + 1_u32;
        ln.ln_gamma_round(round);
        ln
    };
    let mut ln = ln_factorial(n, Up);
    ln.add_assign_round(-ln_factorial(k, Down), Up);
    ln.add_assign_round(-ln_factorial(n - k, Down), Up);
    let mut hit = Float::with_val_round(BITS, p.ln_ref(), Up).0;
    hit.mul_assign_round(k, Up);
    ln.add_assign_round(hit, Up);
    let mut miss = Float::with_val(BITS, -p);
    miss.ln_1p_round(Up);
    miss.mul_assign_round(n - k, Up);
    ln.add_assign_round(miss, Up);
    ln
}

/// `P[at least one of n draws]` of an event of probability at most `p`: at most n p.
pub fn at_least_one(n: u64, p: &Float) -> ProvenP {
    let mut bound = Float::with_val_round(BITS, p, Up).0;
    bound.mul_assign_round(n, Up);
    bound.ln_round(Up);
    ProvenP::of_ln(&bound)
}

/// `P[none of n draws]` of an event of probability at least `p`: (1 - p)^n.
pub fn none(n: u64, p: &Float) -> ProvenP {
    let mut ln = Float::with_val_round(BITS, p, Down).0;
    ln *= -1;
    ln.ln_1p_round(Up);
    ln.mul_assign_round(n, Up);
    ProvenP::of_ln(&ln)
}

/// A Chernoff bound: `P[S >= t]` <= M(s)^n exp(-s t) for a sum S of n independent scores and any s, where M(s) is the sum of
/// `masses` (upper bounds) times exp(s score). Scores and t are whole numbers, so that S is exact. For negative s it bounds
/// `P[S <= t]`.
pub fn chernoff(masses: &[Float], scores: &[i64], n: u64, t: i128, s: f64) -> ProvenP {
    let mut moment = Float::with_val(BITS, 0);
    for (mass, score) in masses.iter().zip(scores) {
        // Exact: 53 bits times 63.
        let mut power = Float::with_val(BITS, s) * *score;
        power.exp_round(Up);
        power.mul_assign_round(mass, Up);
        moment.add_assign_round(power, Up);
    }
    moment.ln_round(Up);
    moment.mul_assign_round(n, Up);
    // Exact: 53 bits times 127.
    let shift = Float::with_val(BITS, s) * Float::with_val(128, t);
    moment.add_assign_round(-shift, Up);
    ProvenP::of_ln(&moment)
}

/// Two-sided bound for a sum of numbers with independent fair signs: `P[|T| >= t]` <= 2 exp(-t^2 / (2 sum of squares)) (Hoeffding).
pub fn fair_signs(t: i128, squares: u128) -> ProvenP {
    if squares == 0 {
        return ProvenP::ONE;
    }
    let t = Float::with_val_round(BITS, t.unsigned_abs(), Down).0;
    let mut ln = Float::with_val_round(BITS, t.square_ref(), Down).0;
    // -t^2 / (2 squares), no smaller than exact.
    ln = Float::with_val_round(BITS, ln / Float::with_val_round(BITS, squares, Up).0, Down).0 / 2_u32;
    ProvenP::of_ln(&-ln).times(2)
}

#[cfg(test)]
mod tests {
    use rug::{Integer, Rational, ops::Pow};

    use super::*;

    /// `P[B >= k]` as an exact fraction.
    fn exact(n: u32, k: u32, p: &Rational) -> Rational {
        let miss = Rational::from(1 - p);
        let term = |j: u32| Rational::from(Integer::from(n).binomial(j)) * p.clone().pow(j) * miss.clone().pow(n - j);
        (k..=n).map(term).sum()
    }

    #[test]
    fn binomial_tails_are_just_above_the_exact_fractions() {
        for (n, p) in [(1, (1, 3)), (7, (1, 2)), (40, (1, 10)), (300, (9, 10)), (400, (1, 1000))] {
            let p = Rational::from(p);
            let up = Float::with_val_round(128, &p, Up).0;
            for k in 0..=n {
                let (truth, bound) = (exact(n, k, &p), binomial_at_least(n.into(), k.into(), &up));
                assert!(bound.value() >= truth, "{n} {k}");
                if f64::from(k) > f64::from(n) * p.to_f64() {
                    let ln = Float::with_val(128, &truth).ln().to_f64();
                    assert!(bound.ln() < ln + 1e-3 + 1e-9 * ln.abs(), "{n} {k}: {} {ln}", bound.ln());
                }
            }
        }
        assert_eq!(binomial_at_least(5, 6, &Float::with_val(64, 0.5)).value(), 0);
    }

    /// With many trials against the normal law, whose relative error there is below (n p q)^(-1/2) times a few.
    #[test]
    fn binomial_tails_of_many_trials_agree_with_the_normal_law() {
        let p = Float::with_val(64, 0.25);
        for (n, z) in [(10_000_000_000_u64, 1.0_f64), (10_000_000_000, 5.0), (1 << 40, 3.0)] {
            let spread = (n as f64 * 0.1875).sqrt();
            let k = (n as f64 * 0.25 + z * spread) as u64;
            let normal = Float::with_val(64, z / 2_f64.sqrt()).erfc() / 2_u32;
            let ratio = Float::with_val(64, binomial_at_least(n, k, &p).value() / normal).to_f64();
            assert!((0.999..1.08).contains(&ratio), "{n} {z}: {ratio}");
        }
    }

    #[test]
    fn a_two_sided_test_keeps_its_level_exactly() {
        let p = Rational::from((3, 10));
        let about = Enclosure::rational(&p, 128);
        for n in [1_u32, 9, 25] {
            for level in [0.5, 0.1, 0.01, 1e-4] {
                let is_rejected = |k: &u32| binomial(n.into(), (*k).into(), &about).value() <= level;
                let mass = |k: u32| exact(n, k, &p) - exact(n, k + 1, &p);
                let rate: Rational = (0..=n).filter(is_rejected).map(mass).sum();
                assert!(rate <= level, "{n} {level} {rate}");
            }
        }
    }

    #[test]
    fn other_bounds_are_above_what_they_bound() {
        // Two coins with scores of -1 and 1: P[S >= 2] = 1/4, and the bound at s = ln 3 is (5/3)^2 / 9.
        let halves = [Float::with_val(64, 0.5), Float::with_val(64, 0.5)];
        let bound = chernoff(&halves, &[-1, 1], 2, 2, 3_f64.ln()).value().to_f64();
        assert!((bound - 25.0 / 81.0).abs() < 1e-12);
        assert_eq!(chernoff(&halves, &[-1, 1], 2, 2, 0.0), ProvenP::ONE);
        assert!((fair_signs(-6, 9).value().to_f64() - 2.0 * (-2_f64).exp()).abs() < 1e-15);
        assert_eq!(fair_signs(0, 0), ProvenP::ONE);
        let p = Float::with_val(64, 1e-3);
        assert!((none(1000, &p).value().to_f64() - 0.999_f64.powi(1000)).abs() < 1e-13);
        assert!((at_least_one(10, &p).value().to_f64() - 0.01).abs() < 1e-15 && at_least_one(2000, &p) == ProvenP::ONE);
        let (a, b) = (ProvenP { ln: -3.0 }, ProvenP { ln: -2.0 });
        assert!((a.plus(b).value().to_f64() - ((-3_f64).exp() + (-2_f64).exp())).abs() < 1e-15);
        assert_eq!(a.times(3).order(a.min(b)), Ordering::Greater);
    }
}
