//! The decision threshold of the adversary who uses two levels: the least noisy count at which they decide for the target,
//! at one output of the counts above and beside.
//!
//! The comparison exp(rho_1 (2 n - 1)) (p / (1 - p)) W_1 > W_0 of [`decision`](super::decision) is made in doubles with
//! outward bounds. If they do not decide it, exact ratios do where they exist, and otherwise balls of growing
//! precision.

use rug::Rational;

use super::{
    enumeration::{CLOSE_CALL_BITS, Enumeration},
    exp, first_true,
    hierarchical::Upper,
    others::MassTable,
    plus_at_most,
};
use crate::{
    error::Result,
    numeric::{Certainty, Enclosure},
};

/// The summands of W_0 and W_1 without the factor h, for one x_2: (j, lower bound, upper bound), and upper bounds on
/// the truncation errors.
pub(super) struct RowSums {
    x2: i64,
    sums: [Vec<(i64, f64, f64)>; 2],
    left_out: [f64; 2],
}

impl Enumeration<'_> {
    /// The summands of W_0 and W_1 at x_2 = m + `x2`.
    pub(super) fn row(&self, x2: i64) -> RowSums {
        let mut row = RowSums { x2, sums: [Vec::new(), Vec::new()], left_out: [0.0; 2] };
        let decay = |j: i64, k: i64| {
            let index = (x2 - k - j).unsigned_abs() as usize;
            // Below the smallest entry of the table exp(-rho_2 a^2) is at most that entry.
            self.decays.get(index).copied().unwrap_or((0.0, self.decays.last().map_or(1.0, |last| last.1)))
        };
        let floor = 0.5_f64.powi(self.drop.min(1000) as i32);
        for k in [0, 1] {
            let (least, most) = self.attack.upper_range(k);
            let (sum, left_out) = (&mut row.sums[k as usize], &mut row.left_out[k as usize]);
            if least > most {
                continue;
            }
            if matches!(self.attack.upper, Upper::Point(_)) {
                // The same factor g_2(x_2 - K) appears in both sums.
                sum.push((least, 1.0, 1.0));
                continue;
            }
            let start = (x2 - k).clamp(least, most);
            let peak = decay(start, k).1;
            for direction in [1, -1] {
                let mut j = if direction == 1 { start } else { start - 1 };
                while (least..=most).contains(&j) {
                    let (low, high) = decay(j, k);
                    if high <= peak * floor || (x2 - k - j).unsigned_abs() as usize >= self.decays.len() {
                        // From here on each step falls by a factor exp(-rho_2) at least, weights are at most 1, and 1 /
                        // (1 - exp(-x)) <= 1 + 1 / x.
                        *left_out += high * (1.0 + 1.0 / self.attack.rhos[1].to_f64()) * (1.0 + 1e-6);
                        break;
                    }
                    if let Some(weight) = self.attack.upper_weight(k, j) {
                        let (w_low, w_high) = Enclosure::rational(&weight, 64).doubles();
                        sum.push((j, low * w_low * (1.0 - 1e-15), high * w_high * (1.0 + 1e-15)));
                    }
                    j += direction;
                }
            }
        }
        row
    }

    /// Bounds in doubles on W_k at the output y.
    ///
    /// A sum of n products of non-negative doubles has relative error at most (n + 1) 2^-53 (1 + 2^-20) for n < 2^30,
    /// and absolute error of at most the least normal double for each product that underflows.
    fn bounds(&self, row: &RowSums, k: usize, y: i64) -> (f64, f64) {
        let (mut low, mut high) = (0.0, row.left_out[k]);
        for &(j, below, above) in &row.sums[k] {
            let index = usize::try_from(y - j - self.others.first()).ok();
            let (least, most) = index.and_then(|index| self.masses.get(index)).copied().unwrap_or((0.0, 0.0));
            low += below * least;
            high += above * (most + self.slack);
        }
        let terms = row.sums[k].len() as f64 + 4.0;
        let relative = terms * 2.5e-16;
        (low * (1.0 - relative) - terms * f64::MIN_POSITIVE, high * (1.0 + relative) + terms * f64::MIN_POSITIVE)
    }

    /// The range of the threshold n at an output, from `first_n` (then the threshold may be lower) to one beyond the
    /// window (then it may be higher).
    pub(super) fn threshold(&self, row: &RowSums, y: i64) -> Result<(i64, i64)> {
        let (none, some) = (self.bounds(row, 0, y), self.bounds(row, 1, y));
        let end = self.against.len();
        // Certain decisions: for the target if W_1 > against(n) W_0, against it if W_1 <= against(n) W_0.
        let surely_for = |n: usize| some.0 > self.against[n].1 * none.1 * (1.0 + 1e-15) + f64::MIN_POSITIVE;
        let surely_against = |n: usize| some.1 <= self.against[n].0 * none.0 * (1.0 - 1e-15) - f64::MIN_POSITIVE;
        // `against` falls with n, so both are monotone in n.
        let low = first_true(end, |n| !surely_against(n));
        let high = first_true(end, surely_for);
        let at = |index: usize| self.first_n + index as i64;
        if low == high { Ok((at(low), at(high))) } else { self.close_call(row.x2, y, at(low), at(high)) }
    }

    /// The same where doubles do not decide, for thresholds from `low` to `high`.
    fn close_call(&self, x2: i64, y: i64, mut low: i64, mut high: i64) -> Result<(i64, i64)> {
        if let Some((exponent, ratio)) = self.exact_ratio(x2, y) {
            // W_1 p / (W_0 (1 - p)) = ratio exp(exponent): the comparison is exact, also for ties.
            let at_least = |n: i64| {
                let exponent = (Rational::from(2 * n) - 1_u32) * &self.attack.rhos[0] + &exponent;
                is_above_one(&exponent, &ratio)
            };
            while low < high {
                let middle = low + (high - low).div_euclid(2);
                match at_least(middle) {
                    Some(true) => high = middle,
                    Some(false) => low = middle + 1,
                    // The call stays open: the threshold is one of those left.
                    None => break,
                }
            }
            return Ok((low, high));
        }
        for (bits, cell) in CLOSE_CALL_BITS.into_iter().zip(&self.precise) {
            if cell.get().is_none() {
                // If a table would be too large the call stays open.
                let Ok(table) = self.attack.others[0].table(bits) else { break };
                let _ = cell.set(table);
            }
            let Some(table) = cell.get() else { break };
            let [none, some] = [0, 1].map(|k| self.precise_sum(table, x2, y, k, bits));
            let odds = Enclosure::rational(&super::odds(&self.attack.prior), bits);
            let compare = |n: i64| {
                let evidence = exp(&((Rational::from(2 * n) - 1_u32) * &self.attack.rhos[0]), bits);
                none.below(&some.mul(&odds).mul(&evidence))
            };
            while low < high {
                let middle = low + (high - low).div_euclid(2);
                match compare(middle) {
                    Certainty::Yes => high = middle,
                    Certainty::No => low = middle + 1,
                    Certainty::Undecided => break,
                }
            }
            if low == high {
                break;
            }
        }
        Ok((low, high))
    }

    /// An enclosure of W_k.
    fn precise_sum(&self, table: &MassTable, x2: i64, y: i64, k: i64, bits: u32) -> Enclosure {
        let rho = &self.attack.rhos[1];
        let (least, most) = self.attack.upper_range(k);
        let point = matches!(self.attack.upper, Upper::Point(_));
        let nearest = (x2 - k).clamp(least, most.max(least));
        let reach = (f64::from(bits) * std::f64::consts::LN_2 / rho.to_f64()).sqrt().ceil() as i64 + 1;
        // The factor exp(-rho_2 a^2) of the nearest j for k = 0 is divided out of both sums.
        let (least0, most0) = self.attack.upper_range(0);
        let common = Rational::from(x2 - x2.clamp(least0, most0)).square();
        let (from, to) = if point { (least, most) } else { (least.max(nearest - reach), most.min(nearest + reach)) };
        let mut sum = Enclosure::double(0.0, bits);
        let mut largest = Enclosure::double(1.0, 64);
        for j in from..=to {
            let Some(weight) = self.attack.upper_weight(k, j) else { continue };
            let exponent = (Rational::from(&common) - Rational::from(x2 - k - j).square()) * rho;
            let decay = if point { Enclosure::double(1.0, bits) } else { exp(&exponent, bits) };
            largest = largest.max(&decay);
            sum = sum.add(&decay.mul(&Enclosure::rational(&weight, bits)).mul(&table.stored(y - j)));
        }
        if point {
            return plus_at_most(&sum, &table.slack());
        }
        // Slack times the largest factor, and both tails of the decay beyond the reach: away from the nearest j the
        // exponent falls by rho_2 (2 a + 1) per step, so each tail is at most exp(-rho_2 reach^2) (1 + sqrt(pi /
        // rho_2)).
        let nearest_square = Rational::from(x2 - k - nearest).square();
        let tail = exp(&((common - nearest_square - Rational::from(reach).square()) * rho), 64);
        let width = Enclosure::double(2.0 + 4.0 / rho.to_f64().sqrt(), 64);
        plus_at_most(&plus_at_most(&sum, &table.slack().mul(&largest)), &tail.mul(&width))
    }

    /// Exponent and factor of W_1 p / (W_0 (1 - p)) if both sums have one summand of known Gaussian form.
    fn exact_ratio(&self, x2: i64, y: i64) -> Option<(Rational, Rational)> {
        let others = &self.attack.others[0];
        let rho = &self.attack.rhos[1];
        let one = |k: i64| -> Option<(Rational, Rational)> {
            let (least, most) = self.attack.upper_range(k);
            if others.count() == 0 {
                // Y_1 = 0 without noise: both sums vanish unless y = 0.
                let weight = self.attack.upper_weight(k, 0).filter(|_| y == 0)?;
                let square = Rational::from(x2 - k).square();
                return Some((-(square * rho), weight));
            }
            let rate = others.as_one().filter(|_| least == most)?;
            let square = |a: i64| Rational::from(a).square();
            Some((-(square(y - least) * rate) - square(x2 - k - least) * rho, Rational::from(1)))
        };
        if let (Upper::Point(_), None, true) = (&self.attack.upper, others.as_one(), others.count() > 0) {
            // W_1 / W_0 = h(a + 1) / h(a). Replacing each of the d summands x by c - x shows h(d c - a) = exp(-rho_1 (d
            // c^2 - 2 c a)) h(a), which for 2 a + 1 = d c is h(a + 1) = exp(-rho_1 c) h(a).
            let twice = Rational::from(y - self.attack.upper_range(0).0) * 2_u32 + 1_u32;
            let c = twice / Rational::from(others.count());
            let exponent = -Rational::from(&c * &self.attack.rhos[0]);
            return c.is_integer().then(|| (exponent, super::odds(&self.attack.prior)));
        }
        let ((e0, w0), (e1, w1)) = (one(0)?, one(1)?);
        Some((e1 - e0, w1 / w0 * super::odds(&self.attack.prior)))
    }
}

/// Decides ratio exp(exponent) > 1. For a rational exponent other than zero the exponential is transcendental, so
/// enough precision decides; `None` where 2^20 bits are not enough.
fn is_above_one(exponent: &Rational, ratio: &Rational) -> Option<bool> {
    const MOST_BITS: u32 = 1 << 20;
    if *exponent == 0 {
        return Some(*ratio > 1);
    }
    let mut bits = 128;
    while bits <= MOST_BITS {
        let value = exp(exponent, bits).mul(&Enclosure::rational(ratio, bits));
        if *value.lower() > 1 || *value.upper() < 1 {
            return Some(*value.lower() > 1);
        }
        bits *= 2;
    }
    None
}
