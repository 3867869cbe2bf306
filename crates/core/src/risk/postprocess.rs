//! The risk that remains when the counts of the target's level are made consistent with a published count above them
//! (Section S6).
//!
//! With z the published count above, d other groups and the noisy x and y, the least-squares solution of z = x~ + sum
//! of the y~ is (d x + z - y) / (d + 1) (S6.2); it is clipped to [0, z] and rounded (S6.3). The adversary sees only z
//! and x~, knows the true count above, and has prior probability p that the target is in the group; the target is then
//! unique (m = 0).

use rug::Rational;

use super::{
    check_prior,
    others::{MassTable, OtherGroups, SumLaw, check_count},
    plus_at_most,
    single::Attack,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, parallel, precision::bits},
};

/// The attack on post-processed counts.
#[derive(Clone, Debug)]
pub struct Postprocessed {
    prior: Rational,
    rho: Rational,
    others: OtherGroups,
    upper: i64,
}

/// One value of the post-processed count.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// x~.
    pub value: i64,
    /// Its probability if the target is not in the group, and if it is (S6.6).
    pub probability: [Enclosure; 2],
    /// The posterior probability that the target is in the group (S6.7).
    pub posterior: Enclosure,
}

impl Postprocessed {
    /// The attack with a prior, the rho of the lowest level, d other groups, and the true count above, which is at
    /// least 1.
    pub fn new(prior: Rational, rho: Rational, others: u64, upper: i64) -> Result<Self> {
        check_prior(&prior)?;
        if others == 0 {
            return Err(Error::out_of_range(
                "the number of other groups",
                0,
                "1 or more: without other groups the count is the one above",
            ));
        }
        if upper < 1 {
            return Err(Error::out_of_range("the true count above", upper, "1 or more, the target among them"));
        }
        check_count("the true count above", upper)?;
        Ok(Postprocessed { prior, others: OtherGroups::new(rho.clone(), others, SumLaw::Exact)?, rho, upper })
    }

    /// The posterior probability averaged over the noisy counts themselves, if the target is in the group: that of x and of y, the noisy sum over
    /// the other groups, whose true sum is the count above less X_1. The outcome is a function of both, so by Jensen's inequality no average over
    /// outcomes is larger. `None` if there are too many pairs of counts to be summed over.
    pub fn marginal_before(&self, digits: u32) -> Result<Option<Enclosure>> {
        const MOST_PAIRS: f64 = 2_000_000.0;
        if self.others.count() == 1 {
            // The noise of y has the law of that of x, and y moves by one as well.
            let both = Attack::new(self.prior.clone(), vec![self.rho.clone(), self.rho.clone()])?;
            return both.marginal(digits).map(Some);
        }
        for extra in [2, 6, 18] {
            let bits = bits(digits + extra, 24);
            // sqrt(rho) times the distance up to which masses are stored, about.
            let reach = (f64::from(bits) * std::f64::consts::LN_2).sqrt();
            let (own, beside) = (1.0 / self.rho.to_f64(), self.others.count() as f64 / self.rho.to_f64());
            if 4.0 * reach.powi(2) * (own * beside).sqrt() > MOST_PAIRS {
                return Ok(None);
            }
            let (own, beside) = (MassTable::of_one(&self.rho, bits)?, self.others.table(bits)?);
            let value = self.marginal_of_pairs(&own, &beside, bits);
            if value.is_tight(digits) || extra == 18 {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The sum over all stored pairs of noisy counts of b / (1 + a / (b odds)), b and a their probabilities with the target and without.
    fn marginal_of_pairs(&self, own: &MassTable, beside: &MassTable, bits: u32) -> Enclosure {
        let odds = Enclosure::rational(&super::odds(&self.prior), bits);
        let one = Enclosure::double(1.0, bits);
        let zero = || Enclosure::double(0.0, bits);
        // a / (b odds) by the noise of both counts if the target is there: without it x has one more of noise, and y one less.
        let ratio = |table: &MassTable, from: i64, to: i64| table.stored(to).div(&table.stored(from));
        // Masses that may be zero are left out, and counted as not stored.
        let (xs, ys) = (surely_above_zero(own), surely_above_zero(beside));
        let beside_at: Vec<(Enclosure, Enclosure)> =
            ys.iter().map(|y| (beside.stored(*y), ratio(beside, *y, y - 1).div(&odds))).collect();
        let rows = parallel::map_indices(xs.len(), |at| {
            let against = ratio(own, xs[at], xs[at] + 1);
            let terms = beside_at.iter().map(|(mass, other)| mass.div(&one.add(&against.mul(other))));
            own.stored(xs[at]).mul(&terms.fold(zero(), |sum, term| sum.add(&term)))
        });
        let sum = rows.iter().fold(zero(), |sum, row| sum.add(row));
        let kept = |table: &MassTable, at: &[i64]| at.iter().fold(zero(), |sum, y| sum.add(&table.stored(*y)));
        let beyond = |table: &MassTable, at: &[i64]| one.sub(&kept(table, at)).clamp(0.0, 1.0);
        // The term grows with b by at most the growth of b, and falls with a by at most that of a over the odds: as derivatives, 1 - a^2 / (b odds +
        // a)^2 <= 1 and b^2 odds / (b odds + a)^2 <= 1 / odds. All pairs that are left out have a probability of at most the complements of both sums.
        let left_out = beyond(own, &xs).add(&beyond(beside, &ys));
        let below = zero().hull(&left_out.div(&odds));
        plus_at_most(&sum, &left_out).sub(&below).clamp(0.0, 1.0)
    }

    /// Every x~ from 0 to z with its probabilities and posterior, to an absolute error of about 10^-digits.
    pub fn outcomes(&self, published: i64, digits: u32) -> Result<Vec<Outcome>> {
        if !(0..=1_000_000).contains(&published) {
            return Err(Error::out_of_range("the published count above", published, "0 to 10^6"));
        }
        let bits = 2 * bits(digits, 24);
        let (own, beside) = (MassTable::of_one(&self.rho, bits)?, self.others.table(bits)?);
        let probabilities: Vec<[Enclosure; 2]> = {
            let [absent, present] = [0, 1].map(|k| self.distribution(&own, &beside, published, k, bits));
            absent.into_iter().zip(present).map(|(a, b)| [a, b]).collect()
        };
        let odds = Enclosure::rational(&super::odds(&self.prior), bits);
        let one = Enclosure::double(1.0, bits);
        let outcome = |(value, probability): (i64, [Enclosure; 2])| {
            let against = probability[0].div(&probability[1].mul(&odds));
            let posterior = match *probability[1].lower() > 0 {
                true => one.add(&against).recip().clamp(0.0, 1.0),
                false => Enclosure::double(0.0, bits).hull(&one),
            };
            Outcome { value, probability, posterior }
        };
        Ok((0..).zip(probabilities).map(outcome).collect())
    }

    /// `P[x~ | X_1 = k]` for x~ = 0, ..., z.
    fn distribution(&self, own: &MassTable, beside: &MassTable, z: i64, k: i64, bits: u32) -> Vec<Enclosure> {
        let d = self.others.count() as i64;
        let y_true = self.upper - k;
        let mut masses = vec![Enclosure::double(0.0, bits); z as usize + 1];
        for noise in own.first()..=own.last() {
            let x = k + noise;
            let weight = own.stored(noise);
            // x~ is non-increasing in y: x~ = v for the y up to `last(v)` and above `last(v + 1)`.
            let (first_y, last_y) = (beside.first() + y_true, beside.last() + y_true);
            let lowest = self.rounded(d, x, last_y, z);
            let highest = self.rounded(d, x, first_y, z);
            let mut from = first_y;
            for value in (lowest..=highest).rev() {
                let to = last_with_at_least(from - 1, last_y, |y| self.rounded(d, x, y, z) >= value);
                let mass = weight.mul(&beside.stored_between(from - y_true, to - y_true));
                masses[value as usize] = masses[value as usize].add(&mass);
                from = to + 1;
            }
        }
        // Mass that is not stored in a table can fall on any value.
        let left_out = own.slack().add(&beside.slack());
        masses.iter().map(|mass| plus_at_most(mass, &left_out).clamp(0.0, 1.0)).collect()
    }

    /// x~ of (S6.3), with halves rounded to even.
    fn rounded(&self, d: i64, x: i64, y: i64, z: i64) -> i64 {
        let numerator = i128::from(d) * i128::from(x) + i128::from(z) - i128::from(y);
        let groups = i128::from(d) + 1;
        let (floor, twice) = (numerator.div_euclid(groups), 2 * numerator.rem_euclid(groups));
        let up = twice > groups || (twice == groups && floor % 2 != 0);
        (floor + i128::from(up)).clamp(0, i128::from(z)) as i64
    }

    /// The posterior averaged over the outcomes if the target is in the group (S6.8).
    pub fn marginal(&self, published: i64, digits: u32) -> Result<Enclosure> {
        let mut extra = 2;
        loop {
            let outcomes = self.outcomes(published, digits + extra)?;
            // With a and b the two probabilities, b times the posterior is b / (1 + a / (b odds)). If b may be zero the
            // posterior is not known, and lies between 0 and b.
            let zero = Enclosure::double(0.0, bits(digits + extra, 24));
            let sum =
                outcomes.iter().fold(zero, |sum, outcome| sum.add(&outcome.probability[1].mul(&outcome.posterior)));
            let sum = sum.clamp(0.0, 1.0);
            if sum.is_tight(digits) || extra > 40 {
                return Ok(sum);
            }
            extra *= 3;
        }
    }
}

/// The counts whose stored mass is proven to be above zero.
fn surely_above_zero(table: &MassTable) -> Vec<i64> {
    (table.first()..=table.last()).filter(|y| *table.stored(*y).lower() > 0).collect()
}

/// The last y from `low` to `high` at which a condition holds that holds up to some point; it is assumed to hold at
/// `low`.
fn last_with_at_least(mut low: i64, mut high: i64, holds: impl Fn(i64) -> bool) -> i64 {
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}
