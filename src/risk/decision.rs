//! How often the adversary who uses two levels decides rightly: a sum over all outputs.
//!
//! Given the noisy counts x_2 and y_1 above and beside, the adversary decides for m + 1 where the released n = x_1 - m has
//! exp(rho_1 (2 n - 1)) (p / (1 - p)) W_1 > W_0, with W_k = sum over j of P(Y_1 = j given m + k) g_2(x_2 - m - k - j) h(y_1 - j).
//! So there is a threshold n(x_2, y_1), and the probability of a right decision is a sum over x_2 and y_1 of tails of
//! x_1. A tie, where the posterior is exactly 1/2, is a decision against the target, as in (3.6).
//!
//! For the priors other than a list the threshold does not fall as y_1 grows. The ratio of the summands of W_1 and W_0
//! falls with j: for alike priors it is proportional to exp(-2 rho_2 j) up to the end of the range, and zero beyond; a
//! point prior has one summand each, that of W_1 at the smaller j. And h is log-concave, as a convolution of log-concave
//! masses, so h(y' - j) / h(y - j) grows with j for y' > y: a larger y moves the weight of W_0 to larger j. So between
//! two outputs of equal threshold all have it, and few outputs are looked at.
//!
//! Thresholds are found in doubles with outward bounds, and in balls where doubles do not tell. Probabilities are then
//! summed in balls, and all mass that was not visited widens the answer.

use std::cell::OnceCell;

use rug::Rational;

use super::{
    bits_for, exp,
    hierarchical::{Hierarchy, Upper},
    others::{Table, check_count},
    plus_at_most,
};
use crate::{
    error::{Error, Result},
    numeric::{Certainty, Enclosure},
};

/// Precisions at which a close call is looked at again.
const CLOSE_CALL_BITS: [u32; 4] = [256, 512, 1024, 2048];
/// Refuse what would take more products of doubles than this.
const MOST_WORK: f64 = 4e10;

/// The true counts behind the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The target's group: m or m + 1.
    pub x1: i64,
    /// The group above.
    pub x2: i64,
}

/// How often the adversary decides rightly.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The probability of the right decision.
    pub correct: Enclosure,
    /// The probability that the other counts turn a wrong decision by x_1 alone into the right one.
    pub gained: Enclosure,
    /// The probability that they turn a right one into a wrong one.
    pub lost: Enclosure,
    /// Whether the asked width was met.
    pub met: bool,
}

/// The region of a table of decisions.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// The noisy count of the group above.
    pub x2: i64,
    /// The noisy sum over the other groups.
    pub y1: i64,
}

impl Hierarchy {
    /// The probability that the decision by the larger posterior is right, over all outputs, for two levels; relative
    /// width 10^-digits.
    pub fn correct_decision(&self, truth: Truth, digits: u32) -> Result<Decision> {
        self.check_truth(truth)?;
        let mut share = (f64::from(digits) * 3.33) as u32 + 6;
        loop {
            let decision = Enumeration::new(self, truth, share)?.decision(digits)?;
            if decision.met || share > 400 {
                return Ok(decision);
            }
            share = share * 2 + 16;
        }
    }

    /// The least n = x_1 - m at which the adversary decides for the target, at each of the given outputs above and beside.
    /// The answer is a range where even the most precise look does not tell a tie from a near one.
    pub fn thresholds(&self, outputs: &[Output]) -> Result<Vec<(i64, i64)>> {
        self.check_two_levels()?;
        let spread = outputs.iter().map(|output| output.x2.abs().max(output.y1.abs())).max().unwrap_or(0);
        check_count("the noisy count", spread)?;
        let truth = Truth { x1: self.known + 1, x2: self.known + 1 };
        let enumeration = Enumeration::new(self, truth, 60)?;
        let rows = outputs.iter().map(|output| {
            let row = enumeration.row(output.x2 - self.known);
            let (low, high) = enumeration.threshold(&row, output.y1)?;
            Ok((low, high))
        });
        rows.collect()
    }

    fn check_two_levels(&self) -> Result<()> {
        if self.rhos.len() != 2 {
            let expected = "two; the outputs of more levels are too many to sum over";
            return Err(Error::out_of_range("the number of levels", self.rhos.len(), expected));
        }
        Ok(())
    }

    fn check_truth(&self, truth: Truth) -> Result<()> {
        self.check_two_levels()?;
        check_count("the true x1", truth.x1)?;
        check_count("the true x2", truth.x2)?;
        if truth.x1 != self.known && truth.x1 != self.known + 1 {
            let expected = format!("the known count {} or one more", self.known);
            return Err(Error::out_of_range("the true x1", truth.x1, &expected));
        }
        if truth.x2 < truth.x1 {
            return Err(Error::out_of_range("the true x2", truth.x2, "at least x1, of which it is a part"));
        }
        if self.others[0].count() == 0 && truth.x2 != truth.x1 {
            return Err(Error::out_of_range("the true x2", truth.x2, "x1 itself where there are no other groups"));
        }
        Ok(())
    }
}

/// Everything about two levels that does not depend on the output. Counts are relative to m.
struct Enumeration<'a> {
    attack: &'a Hierarchy,
    present: bool,
    truth: Truth,
    own: Table,
    upper: Table,
    others: Table,
    /// How far the outputs are visited.
    reach: [i64; 3],
    /// Doubles below and above the masses of `others`, from its first.
    masses: Vec<(f64, f64)>,
    slack: f64,
    /// Doubles around exp(-rho_2 a^2) at a = 0, 1, ...
    decays: Vec<(f64, f64)>,
    /// Doubles around (1 - p) / p exp(-rho_1 (2 n - 1)) for n from `first_n`.
    against: Vec<(f64, f64)>,
    first_n: i64,
    /// exp(-rho_2 a^2) is followed down to 2^-drop of the largest in a sum.
    drop: u32,
    precise: [OnceCell<Table>; CLOSE_CALL_BITS.len()],
}

/// The summands of W_0 and W_1 but for h, for one x_2: (j, below, above), and a bound for all that is left out.
struct Row {
    x2: i64,
    sums: [Vec<(i64, f64, f64)>; 2],
    left_out: [f64; 2],
}

/// Outputs y from `from` to `to` have thresholds between `low` and `high`.
struct Run {
    from: i64,
    to: i64,
    low: i64,
    high: i64,
}

impl<'a> Enumeration<'a> {
    /// `share`: about 2^-share of the probability is left unvisited.
    fn new(attack: &'a Hierarchy, truth: Truth, share: u32) -> Result<Self> {
        let bits = 2 * share + 60;
        let drop = 2 * share + 40;
        let (rho1, rho2) = (&attack.rhos[0], &attack.rhos[1]);
        let nats = f64::from(share) * std::f64::consts::LN_2;
        let reach = |rate: f64| (nats / rate).sqrt().ceil() + 1.0;
        let sigma2 = attack.others[0].sigma2().to_f64();
        let reach_y = if sigma2 == 0.0 { 0.0 } else { reach(0.5 / sigma2) };
        let (reach1, reach2) = (reach(rho1.to_f64()), reach(rho2.to_f64()));
        let window = 2.0 * (f64::from(drop) * std::f64::consts::LN_2 / rho2.to_f64()).sqrt();
        let work = 2.0 * reach2 * window.min(4.0 * reach_y + 2.0) * 4.0 * thresholds_looked_at(attack, reach_y);
        if work > MOST_WORK || reach1.max(window) > 1e7 {
            return Err(Error::out_of_range(
                "the number of outputs to sum over",
                format!("{work:.1e} terms"),
                "at most 4e10: a larger rho or fewer other groups",
            ));
        }
        let others = attack.others[0].table(bits)?;
        let n1 = truth.x1 - attack.known;
        let first_n = n1 - reach1 as i64;
        let prior = Enclosure::rational(&(Rational::from(1) / super::odds(&attack.prior)), 96);
        let against = (first_n..=n1 + reach1 as i64 + 1).map(|n| {
            let exponent = (Rational::from(1) - Rational::from(2 * n)) * rho1;
            exp(&exponent, 96).mul(&prior).doubles()
        });
        // Arguments of g_2 that a row can need: x_2 - k - j for the nearest possible j, and the window around it.
        let nearest = [0, 1].map(|k| {
            let (least, most) = attack.upper_range(k);
            let centre = truth.x2 - attack.known - k;
            (centre - centre.clamp(least, most)).abs()
        });
        let longest = (nearest[0].max(nearest[1]) as f64 + 2.0 * reach2 + window + 3.0).min(2e5) as i64;
        let decays = (0..=longest).map(|a| exp(&-(Rational::from(a).square() * rho2), 96).doubles()).collect();
        Ok(Enumeration {
            attack,
            present: n1 == 1,
            truth,
            own: Table::of_one(rho1, bits)?,
            upper: Table::of_one(rho2, bits)?,
            masses: (others.first()..=others.last()).map(|y| others.stored(y).doubles()).collect(),
            slack: others.slack().doubles().1,
            others,
            reach: [reach1 as i64, reach2 as i64, reach_y as i64],
            decays,
            against: against.collect(),
            first_n,
            drop,
            precise: Default::default(),
        })
    }

    fn decision(&self, digits: u32) -> Result<Decision> {
        let [_, reach2, reach_y] = self.reach;
        let bits = bits_for(digits) + 40;
        let nought = || Enclosure::double(0.0, bits);
        let (mut visited, mut correct, mut gained, mut lost) = (nought(), nought(), nought(), nought());
        let y_true = self.truth.x2 - self.truth.x1;
        let alone = self.threshold_alone()?;
        for noise in -reach2..=reach2 {
            let row = self.row(self.truth.x2 - self.attack.known + noise);
            let weight = self.upper.stored(noise);
            for run in self.runs(&row, y_true - reach_y, y_true + reach_y)? {
                let beside = self.others.stored_between(run.from - y_true, run.to - y_true);
                let mass = weight.mul(&beside);
                visited = visited.add(&mass);
                let decided = self.decided_for(run.low).hull(&self.decided_for(run.high));
                let right = if self.present { decided } else { complement(&decided) };
                correct = correct.add(&mass.mul(&right));
                let before = self.decided_for(alone);
                let before = if self.present { before } else { complement(&before) };
                if run.low != alone || run.high != alone {
                    let change = right.sub(&before);
                    let zero = nought();
                    gained = gained.add(&mass.mul(&change.max(&zero)));
                    lost = lost.add(&mass.mul(&change.negate().max(&zero)));
                }
            }
        }
        // The masses are at least what was stored of them, so what was not visited is at most one minus it.
        let rest = complement(&visited);
        let close = |value: &Enclosure| plus_at_most(value, &rest).clamp(0.0, 1.0);
        let correct = close(&correct);
        let met = correct.is_tight(digits);
        Ok(Decision { correct, gained: close(&gained), lost: close(&lost), met })
    }

    /// `P[n >= threshold]` for the released n.
    fn decided_for(&self, threshold: i64) -> Enclosure {
        let last = self.first_n + self.against.len() as i64 - 1;
        let noise = |n: i64| n - (self.truth.x1 - self.attack.known);
        if threshold > last {
            return Enclosure::double(0.0, 64).hull(&self.own.between(noise(last), i64::MAX));
        }
        if threshold <= self.first_n {
            return self.own.between(noise(self.first_n), i64::MAX).hull(&Enclosure::double(1.0, 64));
        }
        self.own.between(noise(threshold), i64::MAX)
    }

    /// The threshold of the adversary who sees x_1 alone, within the window of n.
    fn threshold_alone(&self) -> Result<i64> {
        let alone = super::single::Attack::new(self.attack.prior.clone(), vec![self.attack.rhos[0].clone()])?;
        Ok(alone.threshold()?.clamp(self.first_n, self.first_n + self.against.len() as i64))
    }

    /// The summands of both W at x_2 = m + `x2`.
    fn row(&self, x2: i64) -> Row {
        let mut row = Row { x2, sums: [Vec::new(), Vec::new()], left_out: [0.0; 2] };
        let decay = |j: i64, k: i64| {
            let index = (x2 - k - j).unsigned_abs() as usize;
            // Below the table exp(-rho_2 a^2) is at most its last entry.
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
                // The same factor g_2(x_2 - K) stands in both sums.
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
                        // From here on each step falls by exp(-rho_2) at least, weights are at most 1, and
                        // 1 / (1 - exp(-x)) <= 1 + 1 / x.
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

    /// Doubles below and above W_k at the output y.
    ///
    /// A sum of n products of non-negative doubles errs by at most (n + 1) 2^-53 (1 + 2^-20) of itself for n < 2^30, and
    /// by the least normal double for each product that underflows.
    fn bounds(&self, row: &Row, k: usize, y: i64) -> (f64, f64) {
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

    /// The range of the threshold n at an output: from `first_n` (so low or lower) to one beyond the window (so high or
    /// higher).
    fn threshold(&self, row: &Row, y: i64) -> Result<(i64, i64)> {
        let (none, some) = (self.bounds(row, 0, y), self.bounds(row, 1, y));
        let end = self.against.len();
        // For the target for certain: W_1 > against(n) W_0; against it for certain: W_1 <= against(n) W_0.
        let surely_for = |n: usize| some.0 > self.against[n].1 * none.1 * (1.0 + 1e-15) + f64::MIN_POSITIVE;
        let surely_against = |n: usize| some.1 <= self.against[n].0 * none.0 * (1.0 - 1e-15) - f64::MIN_POSITIVE;
        // `against` falls with n, so both are monotone in n.
        let low = first_true(end, |n| !surely_against(n));
        let high = first_true(end, surely_for);
        let at = |index: usize| self.first_n + index as i64;
        if low == high { Ok((at(low), at(high))) } else { self.close_call(row.x2, y, at(low), at(high)) }
    }

    /// The same where doubles do not tell, for thresholds from `low` to `high`.
    fn close_call(&self, x2: i64, y: i64, mut low: i64, mut high: i64) -> Result<(i64, i64)> {
        if let Some((exponent, ratio)) = self.exact_ratio(x2, y) {
            // W_1 p / (W_0 (1 - p)) = ratio exp(exponent): a tie is seen exactly, and there is no other.
            let at_least = |n: i64| {
                let exponent = (Rational::from(2 * n) - 1_u32) * &self.attack.rhos[0] + &exponent;
                is_above_one(&exponent, &ratio)
            };
            while low < high {
                let middle = low + (high - low).div_euclid(2);
                if at_least(middle) { high = middle } else { low = middle + 1 }
            }
            return Ok((low, high));
        }
        for (bits, cell) in CLOSE_CALL_BITS.into_iter().zip(&self.precise) {
            if cell.get().is_none() {
                // A table that is too large to make leaves the call open.
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

    /// W_k in balls.
    fn precise_sum(&self, table: &Table, x2: i64, y: i64, k: i64, bits: u32) -> Enclosure {
        let rho = &self.attack.rhos[1];
        let (least, most) = self.attack.upper_range(k);
        let point = matches!(self.attack.upper, Upper::Point(_));
        let nearest = (x2 - k).clamp(least, most.max(least));
        let reach = (f64::from(bits) * std::f64::consts::LN_2 / rho.to_f64()).sqrt().ceil() as i64 + 1;
        // The factor exp(-rho_2 a^2) of the nearest j for k = 0 is taken out of both sums.
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
        // Slack against the largest factor; and both tails of the decay beyond the reach: away from the nearest the
        // exponent falls by rho_2 (2 a + 1) a step, so each tail is at most exp(-rho_2 reach^2) (1 + sqrt(pi / rho_2)).
        let nearest_square = Rational::from(x2 - k - nearest).square();
        let tail = exp(&((common - nearest_square - Rational::from(reach).square()) * rho), 64);
        let width = Enclosure::double(2.0 + 4.0 / rho.to_f64().sqrt(), 64);
        plus_at_most(&plus_at_most(&sum, &table.slack().mul(&largest)), &tail.mul(&width))
    }

    /// ln and factor of W_1 p / (W_0 (1 - p)) where both sums have one summand of known Gaussian form.
    fn exact_ratio(&self, x2: i64, y: i64) -> Option<(Rational, Rational)> {
        let others = &self.attack.others[0];
        let rho = &self.attack.rhos[1];
        let one = |k: i64| -> Option<(Rational, Rational)> {
            let (least, most) = self.attack.upper_range(k);
            if others.count() == 0 {
                // Y_1 = 0 and no noise: both sums vanish unless y = 0.
                let weight = self.attack.upper_weight(k, 0).filter(|_| y == 0)?;
                let square = Rational::from(x2 - k).square();
                return Some((-(square * rho), weight));
            }
            let rate = others.as_one().filter(|_| least == most)?;
            let square = |a: i64| Rational::from(a).square();
            Some((-(square(y - least) * rate) - square(x2 - k - least) * rho, Rational::from(1)))
        };
        if let (Upper::Point(_), None, true) = (&self.attack.upper, others.as_one(), others.count() > 0) {
            // W_1 / W_0 = h(a + 1) / h(a). Turning each of the d summands x into c - x shows h(d c - a) =
            // exp(-rho_1 (d c^2 - 2 c a)) h(a), which for 2 a + 1 = d c is h(a + 1) = exp(-rho_1 c) h(a).
            let twice = Rational::from(y - self.attack.upper_range(0).0) * 2_u32 + 1_u32;
            let c = twice / Rational::from(others.count());
            let exponent = -Rational::from(&c * &self.attack.rhos[0]);
            return c.is_integer().then(|| (exponent, super::odds(&self.attack.prior)));
        }
        let ((e0, w0), (e1, w1)) = (one(0)?, one(1)?);
        Some((e1 - e0, w1 / w0 * super::odds(&self.attack.prior)))
    }

    /// The outputs y from `from` to `to` as runs of equal threshold.
    fn runs(&self, row: &Row, from: i64, to: i64) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        if matches!(self.attack.upper, Upper::Listed { .. }) {
            for y in from..=to {
                let (low, high) = self.threshold(row, y)?;
                runs.push(Run { from: y, to: y, low, high });
            }
            return Ok(runs);
        }
        let (first, last) = (self.threshold(row, from)?, self.threshold(row, to)?);
        self.split(row, (from, first), (to, last), &mut runs)?;
        runs.push(Run { from: to, to, low: last.0, high: last.1 });
        Ok(runs)
    }

    /// The runs from one looked at output up to, but not including, another.
    fn split(&self, row: &Row, a: (i64, (i64, i64)), b: (i64, (i64, i64)), runs: &mut Vec<Run>) -> Result<()> {
        if a.0 >= b.0 {
            return Ok(());
        }
        // The threshold does not fall in between.
        if a.1.0 == b.1.1 || b.0 - a.0 == 1 {
            let to = if a.1.0 == b.1.1 { b.0 - 1 } else { a.0 };
            runs.push(Run { from: a.0, to, low: a.1.0, high: a.1.1.min(b.1.1) });
            return Ok(());
        }
        let middle = a.0 + (b.0 - a.0) / 2;
        let at = (middle, self.threshold(row, middle)?);
        self.split(row, a, at, runs)?;
        self.split(row, at, b, runs)
    }
}

fn complement(value: &Enclosure) -> Enclosure {
    Enclosure::double(1.0, value.lower().prec()).sub(value).clamp(0.0, 1.0)
}

/// About how many outputs y are looked at for one x_2.
fn thresholds_looked_at(attack: &Hierarchy, reach: f64) -> f64 {
    if matches!(attack.upper, Upper::Listed { .. }) {
        return 2.0 * reach + 1.0;
    }
    // The threshold moves by 1 / (2 d) a step of y and lies within some tens.
    (2.0 * reach + 1.0).min(20.0 * (2.0 + reach).log2())
}

/// The least index below `end` at which a monotone condition holds, or `end`.
fn first_true(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// ratio exp(exponent) > 1? For a rational exponent other than zero the exponential is transcendental, so precision tells.
fn is_above_one(exponent: &Rational, ratio: &Rational) -> bool {
    if *exponent == 0 {
        return *ratio > 1;
    }
    let mut bits = 128;
    loop {
        let value = exp(exponent, bits).mul(&Enclosure::rational(ratio, bits));
        if *value.lower() > 1 || *value.upper() < 1 || bits > 1 << 20 {
            return *value.lower() > 1;
        }
        bits *= 2;
    }
}
