//! The power of an audit of outputs: how probably it refutes a false claim, stated before anything is drawn.
//!
//! An event of probability p with the record and q without it occurs in A and in B of the n runs of each that test it, both binomial and independent. Whatever the claim, the audit
//! refutes it where A is at least a number a(B) that does not fall with B. Over cells of the values of B, each with the a of its last one,
//!
//! ```text
//! P[refuted] >= sum over cells of P[B in the cell] P[A >= a],
//! ```
//!
//! and masses that are rounded down, over the values that matter, leave a lower bound. The event itself is found by a search in doubles: another might do better.

use rug::{
    Float, Rational,
    float::Round,
    ops::{AddAssignRound, DivAssignRound, MulAssignRound},
};

use super::{
    battery::at_most,
    black_box::{Seen, exceeds, probability_lower, probability_upper},
    proven::binomial_at_least,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, normal::upper_quantile_approx},
};

/// The most runs of each data set.
pub const MOST_RUNS: u64 = 1_000_000_000;
const BITS: u32 = 128;
/// Masses farther from the mean than this number of standard deviations, and a few more values, are left out.
const REACH: f64 = 6.5;
/// Cells of the values of B in a standard deviation.
const CELLS: f64 = 8.0;

/// A test of the record's presence: the errors of the event that it reports.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The probability of the event without the record, its type I error.
    pub alpha: Rational,
    /// An enclosure of its type II error: the event does not occur, with the record.
    pub beta: Enclosure,
}

/// The probability, rounded down, that an audit refutes a claim by an event of these errors.
#[derive(Clone, Debug)]
pub struct Power {
    /// The event.
    pub tested: Tested,
    /// A lower bound on that probability.
    pub lower: f64,
}

/// The number of runs that test an event, of this number in a file without a heading.
pub fn testing(runs: u64) -> u64 {
    runs.div_ceil(2).saturating_sub(1)
}

/// A claim that runs are to refute, at this level for each of both bounds.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The epsilon of the claim.
    pub epsilon: Rational,
    /// Its delta.
    pub delta: Rational,
    /// Half of the errors, shared with other claims.
    pub level: Rational,
}

/// The least type II error of a law's tests at a type I error.
pub type Tradeoff<'a> = dyn FnMut(&Rational) -> Result<Enclosure> + 'a;

impl Plan {
    /// The power of this number of runs of each data set, by the best event that a search finds; `tradeoff` is the law's least type II error at a type I error.
    pub fn power(&self, runs: u64, tradeoff: &mut Tradeoff) -> Result<Power> {
        if !(3..=MOST_RUNS).contains(&runs) {
            return Err(Error::out_of_range("runs", runs, &format!("a number from 3 to {MOST_RUNS}")));
        }
        let tests = testing(runs);
        let tested = self.best(tests, tradeoff)?;
        let lower = self.power_of(&tested, tests);
        Ok(Power { tested, lower })
    }

    /// A number of runs of each data set that refutes the claim with at least this probability, as a bound proves; `None` if more than can be stated are needed.
    pub fn enough(&self, power: f64, tradeoff: &mut Tradeoff) -> Result<Option<u64>> {
        let z = upper_quantile_approx(libm::log1p(-power));
        let mut runs = 1000_u64;
        for _ in 0..4 {
            let tested = self.best(testing(runs), tradeoff)?;
            let most = self.excesses(&tested).into_iter().map(|excess| excess.needed(self.z(), z));
            runs = rounded_up(2.0 * most.fold(f64::INFINITY, f64::min) + 4.0);
            if runs > MOST_RUNS {
                return Ok(None);
            }
        }
        while runs <= MOST_RUNS {
            if self.power(runs, tradeoff)?.lower >= power {
                return Ok(Some(runs));
            }
            runs = rounded_up(runs as f64 * 1.02 + 2.0);
        }
        Ok(None)
    }

    /// The distance, in standard deviations, of a bound from what was seen.
    fn z(&self) -> f64 {
        upper_quantile_approx(libm::log(self.level.to_f64()))
    }

    /// The type I error whose event exceeds the claim by the most standard deviations, by a search.
    fn best(&self, tests: u64, tradeoff: &mut Tradeoff) -> Result<Tested> {
        const EACH_SIDE: i32 = 24;
        let mut at = |place: f64| -> Result<(f64, Tested)> {
            // From 1 / (1 + e^40) to its complement.
            let alpha = 1.0 / (1.0 + libm::exp(-place));
            let alpha = Rational::from_f64(alpha).unwrap_or_default();
            let beta = tradeoff(&alpha)?;
            let tested = Tested { alpha, beta };
            let z = self.excesses(&tested).into_iter().map(|excess| excess.above(self.z(), tests));
            Ok((z.fold(f64::NEG_INFINITY, f64::max), tested))
        };
        let step = libm::log(tests.max(8) as f64) / f64::from(EACH_SIDE);
        let mut best = (0.0, at(0.0)?);
        for place in (-EACH_SIDE..=EACH_SIDE).map(|place| f64::from(place) * step) {
            let next = at(place)?;
            if next.0 > best.1.0 {
                best = (place, next);
            }
        }
        let mut width = step;
        for _ in 0..30 {
            width /= 2.0;
            for place in [best.0 - width, best.0 + width] {
                let next = at(place)?;
                if next.0 > best.1.0 {
                    best = (place, next);
                }
            }
        }
        Ok(best.1.1)
    }

    /// The event, and its complement with both data sets exchanged, in doubles.
    fn excesses(&self, tested: &Tested) -> [Excess; 2] {
        let (q, beta) = (tested.alpha.to_f64(), tested.beta.approximate());
        let factor = libm::exp(self.epsilon.to_f64());
        let delta = self.delta.to_f64();
        let of = |own: f64, other: f64| Excess {
            mean: own - factor * other - delta,
            spreads: [own, other].map(|p| (p * (1.0 - p)).max(0.0).sqrt()),
            factor,
        };
        [of(1.0 - beta, q), of(1.0 - q, beta)]
    }

    /// A lower bound on the probability that an event refutes the claim.
    fn power_of(&self, tested: &Tested, tests: u64) -> f64 {
        // More often with the record and less often without it refutes sooner.
        let with = Float::with_val_round(BITS, 1 - tested.beta.upper(), Round::Down).0;
        let with = Masses::of_binomial(tests, &with).tails();
        let without = Masses::of_binomial(tests, &Float::with_val_round(BITS, &tested.alpha, Round::Up).0);
        let step = ((without.all.len() as f64 / (2.0 * REACH * CELLS)) as usize).max(1);
        let mut sum = Float::with_val(64, 0);
        for (at, cell) in without.all.chunks(step).enumerate() {
            let last = without.first + (at * step + cell.len() - 1) as u64;
            let Some(least) = self.least(last, tests) else { break };
            let tail = match least.checked_sub(with.first) {
                None => &with.all[0],
                Some(at) => match with.all.get(at as usize) {
                    Some(tail) => tail,
                    None => break,
                },
            };
            for mass in cell {
                let mut part = Float::with_val_round(64, mass, Round::Down).0;
                part.mul_assign_round(tail, Round::Down);
                sum.add_assign_round(part, Round::Down);
            }
        }
        sum.to_f64_round(Round::Down).clamp(0.0, 1.0)
    }

    /// The fewest occurrences with the record, or a few more, that refute the claim beside this number without it.
    fn least(&self, without: u64, tests: u64) -> Option<u64> {
        // A bound from here on would refute, in doubles.
        let q = probability_upper(Seen { hits: without, runs: tests }, &self.level);
        let (factor, delta) = (libm::exp(self.epsilon.to_f64()), self.delta.to_f64());
        let above = (factor * q.to_f64() + delta).min(1.0 - (1.0 - q.to_f64() - delta) / factor);
        let above = Float::with_val(64, above.clamp(0.0, 1.0));
        let (mut low, mut high) = (0, tests);
        while low < high {
            let middle = low.midpoint(high);
            let is_rejected = at_most(binomial_at_least(tests, middle, &above), &self.level);
            if is_rejected { high = middle } else { low = middle + 1 }
        }
        // The bound of more occurrences is no smaller, so all larger numbers refute as well.
        const MORE: u64 = 3;
        (high..=tests.min(high + MORE)).find(|hits| {
            let p = probability_lower(Seen { hits: *hits, runs: tests }, &self.level);
            exceeds(&p, &q, &self.epsilon, &self.delta)
        })
    }
}

/// By how much own - factor other - delta exceeds zero, and the standard deviations of one run of each.
struct Excess {
    mean: f64,
    spreads: [f64; 2],
    factor: f64,
}

impl Excess {
    /// The standard deviations, of all runs, by which the excess is above the distance of the bounds.
    fn above(&self, z: f64, tests: u64) -> f64 {
        let root = (tests as f64).sqrt();
        let [own, other] = self.spreads;
        let both = libm::hypot(own, self.factor * other) / root + 1.0 / tests as f64;
        (self.mean - z * (own + self.factor * other) / root - (1.0 + self.factor) * z / tests as f64) / both
    }

    /// The runs that test, if bounds are z and the power another z away.
    fn needed(&self, z: f64, power: f64) -> f64 {
        let [own, other] = self.spreads;
        if self.mean <= 0.0 {
            return f64::INFINITY;
        }
        let root = (z * (own + self.factor * other) + power * libm::hypot(own, self.factor * other)) / self.mean;
        (root * root).max(z * z * self.factor.min(1e12))
    }
}

/// Up to three digits.
fn rounded_up(number: f64) -> u64 {
    let unit = libm::pow(10.0, (libm::log10(number.max(1.0)).floor() - 2.0).max(0.0));
    ((number / unit).ceil() * unit).min(2.0 * MOST_RUNS as f64) as u64
}

/// Lower bounds on masses of whole numbers from the first on, or on their tails.
struct Masses {
    first: u64,
    all: Vec<Float>,
}

impl Masses {
    /// The masses of a binomial law around its mean, rounded down.
    fn of_binomial(n: u64, p: &Float) -> Masses {
        if *p <= 0 || *p >= 1 {
            let first = if *p <= 0 { 0 } else { n };
            return Masses { first, all: vec![Float::with_val(BITS, 1)] };
        }
        let mean = n as f64 * p.to_f64();
        let reach = REACH * (mean * (1.0 - p.to_f64())).sqrt() + 40.0;
        let mode = (mean as u64).min(n);
        let first = (mean - reach).max(0.0) as u64;
        let last = ((mean + reach) as u64).min(n);
        let center = mass_lower(n, mode, p);
        let odds_down = Float::with_val_round(BITS, p / Float::with_val_round(BITS, 1 - p, Round::Up).0, Round::Down).0;
        let inverse_down =
            Float::with_val_round(BITS, Float::with_val_round(BITS, 1 - p, Round::Down).0 / p, Round::Down).0;
        let next = |from: &Float, ratio: &Float, over: u64, under: u64| {
            let mut own = from.clone();
            own.mul_assign_round(ratio, Round::Down);
            own.mul_assign_round(over, Round::Down);
            own.div_assign_round(under, Round::Down);
            own
        };
        let mut below = vec![center.clone()];
        for k in (first..mode).rev() {
            // P[k] = P[k + 1] (k + 1) / (n - k) (1 - p) / p.
            below.push(next(&below[below.len() - 1], &inverse_down, k + 1, n - k));
        }
        below.reverse();
        for k in mode..last {
            below.push(next(&below[below.len() - 1], &odds_down, n - k, k + 1));
        }
        Masses { first, all: below }
    }

    /// The sums of the masses from each number on.
    fn tails(mut self) -> Masses {
        let mut sum = Float::with_val(BITS, 0);
        for mass in self.all.iter_mut().rev() {
            sum.add_assign_round(&*mass, Round::Down);
            mass.clone_from(&sum);
        }
        self
    }
}

/// A lower bound on C(n, k) p^k (1 - p)^(n - k), for 0 < p < 1.
fn mass_lower(n: u64, k: u64, p: &Float) -> Float {
    let ln_factorial = |m: u64, round| {
        let mut ln = Float::with_val(BITS, m) + 1_u32;
        ln.ln_gamma_round(round);
        ln
    };
    let mut ln = ln_factorial(n, Round::Down);
    ln.add_assign_round(-ln_factorial(k, Round::Up), Round::Down);
    ln.add_assign_round(-ln_factorial(n - k, Round::Up), Round::Down);
    let mut hit = Float::with_val_round(BITS, p.ln_ref(), Round::Down).0;
    hit.mul_assign_round(k, Round::Down);
    ln.add_assign_round(hit, Round::Down);
    let mut miss = Float::with_val(BITS, -p);
    miss.ln_1p_round(Round::Down);
    miss.mul_assign_round(n - k, Round::Down);
    ln.add_assign_round(miss, Round::Down);
    ln.exp_round(Round::Down);
    ln
}

#[cfg(test)]
mod tests {
    use rug::{Integer, ops::Pow};

    use super::*;
    use crate::numeric::rational::parse;

    fn plan(epsilon: &str, delta: &str, level: &str) -> Plan {
        let [epsilon, delta, level] = [epsilon, delta, level].map(|text| parse(text).unwrap());
        Plan { epsilon, delta, level }
    }

    /// The least type II error of a pair of two outputs, the first with probability p with the record and q without it.
    fn of_two(p: f64, q: f64) -> impl FnMut(&Rational) -> Result<Enclosure> {
        move |alpha| {
            let alpha = alpha.to_f64();
            let beta = if alpha <= q { 1.0 - alpha * p / q } else { (1.0 - alpha) * (1.0 - p) / (1.0 - q) };
            Ok(Enclosure::new(Float::with_val(53, beta), Float::with_val(53, beta)))
        }
    }

    /// All outcomes of few runs, each decided as an audit does.
    #[test]
    fn power_is_just_below_the_sum_over_all_outcomes() {
        let mass = |n: u32, k: u32, p: &Rational| {
            Rational::from(Integer::from(n).binomial(k)) * p.clone().pow(k) * Rational::from(1 - p).pow(n - k)
        };
        for (plan, [p, q], n) in [
            (plan("1/2", "0", "1/10"), ["3/4", "1/4"], 24_u32),
            (plan("1", "1/100", "1/40"), ["19/20", "1/20"], 30),
            (plan("0", "0", "1/40"), ["1/2", "3/8"], 40),
            // By the complement alone.
            (plan("2", "0", "1/20"), ["99/100", "1/2"], 40),
        ] {
            let [p, q] = [p, q].map(|text| parse(text).unwrap());
            let seen = |hits: u32| Seen { hits: hits.into(), runs: n.into() };
            let mut exact = Rational::new();
            let lowers: Vec<Rational> = (0..=n).map(|a| probability_lower(seen(a), &plan.level)).collect();
            for b in 0..=n {
                let upper = probability_upper(seen(b), &plan.level);
                let refutes = |a: &u32| exceeds(&lowers[*a as usize], &upper, &plan.epsilon, &plan.delta);
                exact += (0..=n).filter(refutes).map(|a| mass(n, a, &p)).sum::<Rational>() * mass(n, b, &q);
            }
            let beta = Enclosure::rational(&Rational::from(1 - &p), 128);
            let lower = plan.power_of(&Tested { alpha: q, beta }, n.into());
            assert!(
                lower <= exact.to_f64() && lower > exact.to_f64() - 1e-9 && exact > 0,
                "{lower} {}",
                exact.to_f64()
            );
        }
    }

    /// A claim of 1 about randomized response of 1.2: the search finds its event, and the runs that are enough are.
    #[test]
    fn a_search_finds_the_event_and_enough_runs() {
        let truth = libm::exp(1.2) / (1.0 + libm::exp(1.2));
        let plan = plan("1", "0", "1/40");
        let many = plan.power(1_000_000, &mut of_two(truth, 1.0 - truth)).unwrap();
        assert!((many.tested.alpha.to_f64() - (1.0 - truth)).abs() < 1e-6 && many.lower > 0.999_999, "{many:?}");
        let enough = plan.enough(0.9, &mut of_two(truth, 1.0 - truth)).unwrap().unwrap();
        let at = |runs: u64| plan.power(runs, &mut of_two(truth, 1.0 - truth)).unwrap().lower;
        assert!(at(enough) >= 0.9 && at(enough * 3 / 4) < 0.9, "{enough}");
        // A true claim takes more runs than there are, and is hardly refuted.
        let true_claim = Plan { epsilon: parse("1.2").unwrap(), ..plan };
        assert_eq!(true_claim.enough(0.9, &mut of_two(truth, 1.0 - truth)).unwrap(), None);
        assert!(true_claim.power(10_000, &mut of_two(truth, 1.0 - truth)).unwrap().lower < 0.05);
        for runs in [0, 2, MOST_RUNS + 1] {
            assert!(true_claim.power(runs, &mut of_two(truth, 1.0 - truth)).is_err());
        }
    }

    /// With 5,000 runs, against simulated audits of one event.
    #[test]
    fn power_is_the_share_of_simulated_audits() {
        let plan = plan("1", "0", "1/40");
        let (p, q, n) = (0.77, 0.23, 2_000_u64);
        let beta = Enclosure::rational(&Rational::from_f64(1.0 - p).unwrap(), 128);
        let lower = plan.power_of(&Tested { alpha: Rational::from_f64(q).unwrap(), beta }, n);
        let mut state = 5_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / 9_007_199_254_740_992.0
        };
        let mut hits = |p: f64| Seen { hits: (0..n).filter(|_| uniform() < p).count() as u64, runs: n };
        let all = 400;
        let refuted = (0..all).filter(|_| {
            let (with, without) = (hits(p), hits(q));
            let q = probability_upper(without, &plan.level);
            exceeds(&probability_lower(with, &plan.level), &q, &plan.epsilon, &plan.delta)
        });
        let share = refuted.count() as f64 / f64::from(all);
        // Four standard deviations, and what the cells of B lose.
        assert!(share > lower - 0.1 && share < lower + 0.15 && lower > 0.2, "{share} {lower}");
    }
}
