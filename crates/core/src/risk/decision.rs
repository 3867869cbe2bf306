//! How often the adversary who uses two levels decides correctly: a sum over all outputs.
//!
//! Given the noisy counts x_2 and y_1 above and beside, the adversary decides for m + 1 if the released n = x_1 - m has
//! exp(rho_1 (2 n - 1)) (p / (1 - p)) W_1 > W_0, with W_k = sum over j of P(Y_1 = j given m + k) g_2(x_2 - m - k - j)
//! h(y_1 - j). So there is a threshold n(x_2, y_1), and the probability of a correct decision is a sum over x_2 and y_1
//! of tails of x_1. A tie, where the posterior is exactly 1/2, is a decision against the target, as in (3.6).
//!
//! For all priors but [`Upper::Listed`] the threshold does not fall as y_1 grows. The ratio of the summands of W_1 and
//! W_0 falls with j: for the uniform priors it is proportional to exp(-2 rho_2 j) up to the end of the range, and zero
//! beyond; a point prior has one summand in each, that of W_1 at the smaller j. And h is log-concave, as a convolution
//! of log-concave masses, so h(y' - j) / h(y - j) grows with j for y' > y: a larger y moves the weight of W_0 to larger
//! j. So if two outputs have the same threshold, every output between them has it, and few outputs need evaluation.
//!
//! Thresholds are computed in doubles with outward bounds, and in balls where doubles do not decide. Probabilities are
//! then summed in balls, and the enclosure is widened by the mass of all outputs that were not visited.

pub use super::enumeration::TrueCounts;
use super::{
    enumeration::Enumeration,
    hierarchical::{Hierarchy, Upper},
    others::check_count,
    plus_at_most,
    threshold::RowSums,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, precision::bits},
};

/// How often the adversary decides correctly.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The probability of the correct decision.
    pub correct: Enclosure,
    /// The probability that the other counts correct a decision that is wrong from x_1 alone.
    pub gained: Enclosure,
    /// The probability that they spoil a decision that is correct from x_1 alone.
    pub lost: Enclosure,
    /// Whether the requested precision was reached.
    pub met: bool,
}

/// The noisy counts above and beside the target's group.
#[derive(Clone, Copy, Debug)]
pub struct NoisyOutput {
    /// The noisy count of the group above.
    pub x2: i64,
    /// The noisy sum over the other groups.
    pub y1: i64,
}

impl Hierarchy {
    /// The probability, over all outputs of two levels, that the decision for the larger posterior is correct; relative
    /// width 10^-digits.
    pub fn correct_decision(&self, truth: TrueCounts, digits: u32) -> Result<Decision> {
        self.check_truth(truth)?;
        let mut share = bits(digits, 6);
        loop {
            let decision = Enumeration::new(self, truth, share)?.decision(digits)?;
            if decision.met || share > 400 {
                return Ok(decision);
            }
            share = share * 2 + 16;
        }
    }

    /// The least n = x_1 - m at which the adversary decides for the target, at each of the given outputs above and
    /// beside. The result is a range if even the highest precision does not distinguish a tie from a close call.
    pub fn thresholds(&self, outputs: &[NoisyOutput]) -> Result<Vec<(i64, i64)>> {
        self.check_two_levels()?;
        let spread = outputs.iter().map(|output| output.x2.abs().max(output.y1.abs())).max().unwrap_or(0);
        check_count("the noisy count", spread)?;
        let truth = TrueCounts { x1: self.known + 1, x2: self.known + 1 };
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
            let expected = "exactly 2: more are summed over by their true counts, X_1, X_2, ...";
            return Err(Error::out_of_range("the number of levels", self.rhos.len(), expected));
        }
        Ok(())
    }

    fn check_truth(&self, truth: TrueCounts) -> Result<()> {
        self.check_two_levels()?;
        check_count("the true x1", truth.x1)?;
        check_count("the true x2", truth.x2)?;
        if truth.x1 != self.known && truth.x1 != self.known + 1 {
            let expected = format!("exactly {} or {}: the known count or one more", self.known, self.known + 1);
            return Err(Error::out_of_range("the true x1", truth.x1, &expected));
        }
        if truth.x2 < truth.x1 {
            return Err(Error::out_of_range(
                "the true x2",
                truth.x2,
                &format!("at least x1 = {}, which is a part of it", truth.x1),
            ));
        }
        // The distance of the true Y_1 from all values that the prior allows, in the exponent of its noise.
        let y = truth.x2 - truth.x1;
        let far = [0, 1].map(|k| {
            let (least, most) = self.upper_range(k);
            (y - y.clamp(least, most.max(least))) as f64
        });
        let nats = far[0].abs().max(far[1].abs()).powi(2) / (2.0 * self.others[0].sigma2().to_f64().max(0.5));
        if nats > 1000.0 {
            let why = "is too far from all that the prior of X2 allows: no table resolves noise so improbable";
            return Err(Error::unsuitable(format!("the true x2 = {} {why}", truth.x2)));
        }
        if self.others[0].count() == 0 && truth.x2 != truth.x1 {
            return Err(Error::out_of_range(
                "the true x2",
                truth.x2,
                &format!("exactly {}, as x1: there are no other groups", truth.x1),
            ));
        }
        Ok(())
    }
}

/// Outputs y from `from` to `to`, whose thresholds lie between `low` and `high`.
struct Run {
    from: i64,
    to: i64,
    low: i64,
    high: i64,
}

impl Enumeration<'_> {
    fn decision(&self, digits: u32) -> Result<Decision> {
        let [_, reach2, reach_y] = self.reach;
        let bits = bits(digits, 64);
        let zero = || Enclosure::double(0.0, bits);
        let (mut visited, mut correct, mut gained, mut lost) = (zero(), zero(), zero(), zero());
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
                    gained = gained.add(&mass.mul(&change.max(&zero())));
                    lost = lost.add(&mass.mul(&change.negate().max(&zero())));
                }
            }
        }
        // The stored masses are lower bounds, so the mass that was not visited is at most 1 minus their sum.
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

    /// The threshold of the adversary who sees x_1 alone, clamped to the window of n.
    fn threshold_alone(&self) -> Result<i64> {
        let alone = super::single::Attack::new(self.attack.prior.clone(), vec![self.attack.rhos[0].clone()])?;
        Ok(alone.threshold()?.clamp(self.first_n, self.first_n + self.against.len() as i64))
    }

    /// The outputs y from `from` to `to`, as runs of equal threshold.
    fn runs(&self, row: &RowSums, from: i64, to: i64) -> Result<Vec<Run>> {
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

    /// The runs from the evaluated output `a` up to, but not including, the evaluated output `b`.
    fn split(&self, row: &RowSums, a: (i64, (i64, i64)), b: (i64, (i64, i64)), runs: &mut Vec<Run>) -> Result<()> {
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
