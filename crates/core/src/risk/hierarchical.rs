//! The exact joint posterior that the paper samples: what counts of the groups above and beside the target's reveal.
//!
//! The count X_1 of the target's group is m or m + 1. At each level above, X_(i+1) = X_i + Y_i, where Y_i >= 0 counts
//! the d_i other groups of level i. The release consists of the X_i with noise N_Z(0, 1 / (2 rho_i)) and of the sums
//! over the d_i other noisy counts, Y_i with the noise of [`OtherGroups`]. The adversary's prior for X_(i+1) given X_i
//! is an [`Upper`]. With g and h the masses of the noises (S3.3),
//!
//! `P[X_1 = k_1, X_2 = k_2 | D]` is proportional to
//! `P[k_1] g_1(x_1 - k_1) P[k_2 | k_1] g_2(x_2 - k_2) h(y_1 - (k_2 - k_1))`,
//!
//! and so on upwards: a chain, summed from the top. The constraint k_2 >= k_1 is part of it (S3.4).

use std::ops::Range;

use rug::{Float, Rational, float::Round};

use super::{
    check_prior, check_rho, exp, odds,
    others::{MassTable, OtherGroups, SumLaw, check_count},
    plus_at_most,
};
use crate::{
    error::{Error, Result},
    loss::theta,
    numeric::{Enclosure, precision::bits},
};

/// Probabilities proven to be at most this are not listed.
const LEAST_LISTED: f64 = 1e-12;
/// Refuse an output as too improbable if it needs more bits than this.
const MOST_BITS: u32 = 16_000;
/// Floating-point numbers lie between exp of minus this and exp of this: their binary exponent is below 2^30.
const MOST_EXPONENT: u32 = 744_000_000;

/// The adversary's prior for the count one level up, given the count k_1 below it.
#[derive(Clone, Debug, PartialEq)]
pub enum Upper {
    /// All of k_1, k_1 + 1, ... with equal weight: the limit of [`Upper::UpTo`] for a growing end (Section 3.2). It is
    /// improper, and gives k_1 and k_1 + 1 equal weight.
    Uniform,
    /// All of k_1, ..., K with equal probability 1 / (K - k_1 + 1) (S4.2).
    UpTo(i64),
    /// K with probability 1.
    Point(i64),
    /// Proportional to the weights of first, first + 1, ..., restricted to k_1 and above.
    Listed {
        /// The count of the first weight.
        first: i64,
        /// The weights, not negative.
        weights: Vec<Rational>,
    },
}

/// An adversary who uses the counts of several levels.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{numeric::rational::parse, risk::hierarchical::{Hierarchy, Upper}};
/// let rhos = vec![parse("0.099")?, parse("0.246")?];
/// let attack = Hierarchy::new(parse("1/2")?, rhos, vec![27], Upper::Uniform)?;
/// let posterior = attack.posterior(&[2, 1], &[-1], 12)?;
/// assert_eq!(posterior.present.shown(6), "0.503131");
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hierarchy {
    pub(super) prior: Rational,
    pub(super) rhos: Vec<Rational>,
    pub(super) others: Vec<OtherGroups>,
    pub(super) upper: Upper,
    pub(super) known: i64,
}

/// The posterior of a hierarchy after an output.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// `P[X_1 = m + 1 | D]`.
    pub present: Enclosure,
    /// `P[X_1 = k_1, X_2 = k_2 | D]` wherever it may exceed 10^-12: (k_1, k_2, probability).
    pub joint: Vec<(i64, i64, Enclosure)>,
    /// `P[X_2 = k_2 | D]` wherever it may exceed 10^-12, in the order of k_2.
    pub upper: Vec<(i64, Enclosure)>,
    /// Whether the requested precision was reached.
    pub met: bool,
}

impl Hierarchy {
    /// The attack with the rho of each level, lowest first, and the number of other groups at each level but the last.
    pub fn new(prior: Rational, rhos: Vec<Rational>, others: Vec<u64>, upper: Upper) -> Result<Self> {
        check_prior(&prior)?;
        if rhos.len() < 2 {
            let expected = "at least 2: give the rho of each, lowest first";
            return Err(Error::out_of_range("the number of levels", rhos.len(), expected));
        }
        rhos.iter().try_for_each(check_rho)?;
        if others.len() + 1 != rhos.len() {
            let (given, needed) = (others.len(), rhos.len() - 1);
            let why = format!(
                "{given} numbers of other groups for {} levels: give {needed}, one for each level but the last",
                rhos.len()
            );
            return Err(Error::conflict(why));
        }
        if rhos.len() > 2 && upper != Upper::Uniform {
            return Err(Error::unsuitable("with more than two levels the prior of X2 must be uniform"));
        }
        let others: Vec<OtherGroups> = rhos
            .iter()
            .zip(others)
            .map(|(rho, count)| OtherGroups::new(rho.clone(), count, SumLaw::Exact))
            .collect::<Result<_>>()?;
        let attack = Hierarchy { prior, rhos, others, upper, known: 0 };
        attack.check_upper()?;
        Ok(attack)
    }

    /// This attack by an adversary who knows of m other members of the target's group (Section S1.1).
    pub fn with_known(mut self, known: i64) -> Result<Self> {
        if known < 0 {
            return Err(Error::out_of_range("the known count", known, "0 or more"));
        }
        check_count("the known count", known)?;
        self.known = known;
        self.check_upper()?;
        Ok(self)
    }

    /// This attack with the approximation (3.7) for the noise of the other groups.
    pub fn with_one_gaussian(mut self) -> Result<Self> {
        let replace = |(rho, others): (&Rational, &OtherGroups)| {
            OtherGroups::new(rho.clone(), others.count(), SumLaw::OneGaussian)
        };
        self.others = self.rhos.iter().zip(&self.others).map(replace).collect::<Result<_>>()?;
        Ok(self)
    }

    /// The number of levels.
    pub fn levels(&self) -> usize {
        self.rhos.len()
    }

    /// The count of the target's group without the target.
    pub fn known(&self) -> i64 {
        self.known
    }

    /// Refuses a prior without a possible X_2 for either value of X_1.
    fn check_upper(&self) -> Result<()> {
        let least = self.known + 1;
        let refuse = |value: String, expected: &str| Err(Error::out_of_range("the prior of X2", value, expected));
        match &self.upper {
            Upper::UpTo(most) | Upper::Point(most) if *most < least => refuse(
                most.to_string(),
                &format!("a count of at least {least}, which the target's group alone can have"),
            ),
            Upper::UpTo(most) | Upper::Point(most) => check_count("the prior of X2", *most),
            Upper::Listed { first, weights } => {
                check_count("the prior of X2", *first)?;
                if weights.iter().any(|weight| *weight < 0) {
                    return Err(Error::unsuitable("the prior of X2 has a negative weight: weights are 0 or more"));
                }
                let above = (*first..).zip(weights).filter(|(k, _)| *k >= least);
                if above.fold(Rational::new(), |sum, (_, weight)| sum + weight) == 0 {
                    return Err(Error::unsuitable(format!("the prior of X2 needs some weight at {least} or above")));
                }
                Ok(())
            }
            Upper::Uniform => Ok(()),
        }
    }

    /// The prior of Y_1 = j given X_1 = known + k, up to a factor common to all j and k; `None` if it is zero.
    pub(super) fn upper_weight(&self, k: i64, j: i64) -> Option<Rational> {
        let below = self.known + k;
        let above = below + j;
        match &self.upper {
            _ if j < 0 => None,
            Upper::Uniform => Some(Rational::from(1)),
            Upper::UpTo(most) => (above <= *most).then(|| Rational::from((1, most - below + 1))),
            Upper::Point(most) => (above == *most).then(|| Rational::from(1)),
            Upper::Listed { first, weights } => {
                let weight = weights.get(usize::try_from(above.checked_sub(*first)?).ok()?)?;
                let possible = (*first..).zip(weights).filter(|(count, _)| *count >= below);
                let total = possible.fold(Rational::new(), |sum, (_, weight)| sum + weight);
                (*weight > 0).then(|| weight / total)
            }
        }
    }

    /// The least and the greatest Y_1 that the prior allows given X_1 = known + k.
    pub(super) fn upper_range(&self, k: i64) -> (i64, i64) {
        let below = self.known + k;
        match &self.upper {
            Upper::Uniform => (0, i64::MAX / 4),
            Upper::UpTo(most) => (0, most - below),
            Upper::Point(most) => (most - below, most - below),
            Upper::Listed { first, weights } => ((first - below).max(0), first + weights.len() as i64 - 1 - below),
        }
    }

    /// The posterior after the published noisy counts X_1, X_2, ... and noisy sums Y_1, ... over the other groups;
    /// relative width 10^-digits.
    pub fn posterior(&self, noisy: &[i64], noisy_others: &[i64], digits: u32) -> Result<Posterior> {
        if noisy.len() != self.rhos.len() || noisy_others.len() != self.others.len() {
            let given = format!("{} noisy counts and {} noisy sums", noisy.len(), noisy_others.len());
            let needed = format!("{} levels and {} sums", self.rhos.len(), self.others.len());
            return Err(Error::conflict(format!("{given} for {needed}: give one for each")));
        }
        for count in noisy.iter().chain(noisy_others) {
            check_count("the noisy count", *count)?;
        }
        self.check_probable(noisy, noisy_others)?;
        let mut bits = bits(digits, 72);
        loop {
            let posterior = self.attempt(noisy, noisy_others, bits, digits)?;
            // More bits do not help if the evidence is below or above every floating-point number.
            let representable = self.ln_evidence(noisy[0]).abs() < MOST_EXPONENT;
            if posterior.met || bits >= MOST_BITS || !representable {
                return Ok(posterior);
            }
            bits *= 2;
        }
    }

    /// Refuses impossible outputs, and outputs whose best explanation is too improbable for tables of at most
    /// [`MOST_BITS`] bits. For each level this is the minimum of rho_2 (x_2 - x_1 - j)^2 + (y - j)^2 / (2 sigma2) over
    /// real j >= 0, with x_1 as published.
    fn check_probable(&self, noisy: &[i64], noisy_others: &[i64]) -> Result<()> {
        let most = f64::from(MOST_BITS) * std::f64::consts::LN_2;
        // Without other groups Y is published without noise: the excess of the count above over the count below.
        let alone = noisy_others.iter().zip(&self.others).enumerate().filter(|(_, (_, others))| others.count() == 0);
        for (level, (&y, _)) in alone {
            let allows = |k: i64| {
                let (least, most) = self.upper_range(k);
                (least..=most).contains(&y)
            };
            if y < 0 || level == 0 && !(0..=1).any(allows) {
                let why = "is impossible: a sum over no other groups has no noise, and the prior does not allow it";
                return Err(Error::unsuitable(format!("the noisy sum Y beside = {y} {why}")));
            }
        }
        for (level, (&y, others)) in noisy_others.iter().zip(&self.others).enumerate() {
            let (rho, rho_below) = (self.rhos[level + 1].to_f64(), self.rhos[level].to_f64());
            let sigma2 = others.sigma2().to_f64().max(1e-9);
            let (y, above) = (y as f64, noisy[level + 1] as f64);
            // Above the lowest level, the count below is known only up to its noise.
            let (below, rho) = match level {
                0 => (self.known as f64, rho),
                _ => (noisy[level] as f64, 1.0 / (1.0 / rho + 1.0 / rho_below)),
            };
            let apart = above - below - y;
            let together = apart * apart / (1.0 / rho + 2.0 * sigma2);
            let cut = (y.min(0.0).powi(2)) / (2.0 * sigma2);
            let nats = together.max(if above - below < 0.0 { cut } else { 0.0 });
            if nats > most {
                let shown = format!("{}, {}, {}", noisy[level], noisy[level + 1], noisy_others[level]);
                let why = format!("have a probability of about exp(-{nats:.0}): give counts that agree better");
                return Err(Error::unsuitable(format!("the noisy counts X, X above and Y beside, {shown}, {why}")));
            }
        }
        Ok(())
    }

    /// The log-likelihood ratio of x_1 for X_1 = known + 1: ln of g_1(x_1 - known - 1) / g_1(x_1 - known).
    fn ln_evidence(&self, x1: i64) -> Rational {
        (Rational::from(x1 - self.known) * 2_u32 - 1_u32) * &self.rhos[0]
    }

    fn attempt(&self, noisy: &[i64], noisy_others: &[i64], bits: u32, digits: u32) -> Result<Posterior> {
        let above = self.likelihood_above(noisy, noisy_others, bits)?;
        let table = self.others[0].table(bits)?;
        let y = noisy_others[0];
        // P[X_1 = known + k] g_1(x_1 - known - k), up to their common factor.
        let evidence = exp(&self.ln_evidence(noisy[0]), bits);
        let weight = [Enclosure::double(1.0, bits), evidence.mul(&Enclosure::rational(&odds(&self.prior), bits))];
        let stored = [0, 1].map(|k| self.stored_counts(k, y, &above, &table));
        let listed = stored[0].start.min(stored[1].start)..stored[0].end.max(stored[1].end);
        let mut joint: Vec<(i64, i64, Enclosure)> = Vec::new();
        let mut totals = Vec::new();
        let mut unlisted = Enclosure::double(0.0, bits);
        for (k, weight) in (0_i64..).zip(&weight) {
            let mut sum = Enclosure::double(0.0, bits);
            for count in listed.clone() {
                let j = count - self.known - k;
                let Some(prior) = self.upper_weight(k, j) else { continue };
                let rest = above.at(count).mul(&Enclosure::rational(&prior, bits)).mul(weight);
                if stored[k as usize].contains(&count) {
                    sum = sum.add(&table.stored(y - j).mul(&rest));
                }
                joint.push((self.known + k, count, table.mass(y - j).mul(&rest)));
            }
            // Truncation error. Masses of Y beyond the table and below the stored values contribute at most `slack`:
            // the factors they are multiplied by, prior weights and the summed likelihood, are at most 1. Likewise the
            // likelihood beyond its window, multiplied by masses of at most 1.
            let left_out = table.slack().add(&above.beyond).mul(weight);
            totals.push(plus_at_most(&sum, &left_out));
            unlisted = unlisted.add(&left_out);
        }
        let total = totals[0].add(&totals[1]);
        if *total.lower() <= 0 {
            let met = false;
            return Ok(Posterior { present: unit(bits), joint: Vec::new(), upper: Vec::new(), met });
        }
        // t1 / (t0 + t1) = 1 / (1 + t0 / t1), so that each total occurs once.
        let present = Enclosure::double(1.0, bits).add(&totals[0].div(&totals[1])).recip().clamp(0.0, 1.0);
        let inverse = total.recip();
        joint.iter_mut().for_each(|(_, _, mass)| *mass = mass.mul(&inverse).clamp(0.0, 1.0));
        let upper = sums_by_count(&joint, listed);
        joint.retain(|(_, _, mass)| is_listed(mass));
        // Counts outside `listed` have no entry.
        let complete = *unlisted.mul(&inverse).upper() <= LEAST_LISTED;
        let tight = |mass: &Enclosure| mass.is_tight(digits.min(12)) || is_small(mass);
        let met = complete && present.is_tight(digits) && upper.iter().all(|(_, mass)| tight(mass));
        Ok(Posterior { present, joint, upper, met })
    }

    /// The likelihood of all counts above the lowest level as a function of X_2, summed from the top.
    fn likelihood_above(&self, noisy: &[i64], noisy_others: &[i64], bits: u32) -> Result<Likelihood> {
        let top = self.rhos.len() - 1;
        let mut above = Likelihood::of_count(&self.rhos[top], noisy[top], self.known, bits)?;
        for level in (1..top).rev() {
            let table = self.others[level].table(bits)?;
            let own = Likelihood::of_count(&self.rhos[level], noisy[level], self.known, bits)?;
            above = own.times_sum_over(&table, noisy_others[level], &above, bits)?;
        }
        Ok(above)
    }

    /// The X_2, given X_1 = known + k, that the prior allows and for which both the likelihood above and the mass of
    /// Y_1 are stored.
    fn stored_counts(&self, k: i64, y: i64, above: &Likelihood, table: &MassTable) -> Range<i64> {
        let (least, most) = self.upper_range(k);
        let below = self.known + k;
        let from = (below + least).max(above.first).max(below + y.saturating_sub(table.last()));
        let to = (below + most).min(above.last()).min(below + y.saturating_sub(table.first()));
        from..(to + 1).max(from)
    }
}

/// The probability of each X_2: the sum over the joint posterior, including its small entries. Only sums that are
/// certain to be small are dropped.
fn sums_by_count(joint: &[(i64, i64, Enclosure)], counts: Range<i64>) -> Vec<(i64, Enclosure)> {
    let mut sums: Vec<Option<Enclosure>> = vec![None; counts.clone().count()];
    for (_, count, mass) in joint {
        let sum = &mut sums[(count - counts.start) as usize];
        *sum = Some(sum.as_ref().map_or_else(|| mass.clone(), |sum| sum.add(mass).clamp(0.0, 1.0)));
    }
    let sums = counts.zip(sums).filter_map(|(count, sum)| Some((count, sum?)));
    sums.filter(|(_, sum)| is_listed(sum)).collect()
}

fn is_listed(mass: &Enclosure) -> bool {
    *mass.upper() > LEAST_LISTED
}

fn unit(bits: u32) -> Enclosure {
    Enclosure::double(0.0, bits).hull(&Enclosure::double(1.0, bits))
}

fn is_small(mass: &Enclosure) -> bool {
    let width = Float::with_val_round(64, mass.upper() - mass.lower(), Round::Up).0;
    width < 1e-15
}

/// A likelihood as a function of a count >= 0, stored on a window; over all other counts it sums to at most `beyond`.
struct Likelihood {
    first: i64,
    values: Vec<Enclosure>,
    beyond: Enclosure,
}

impl Likelihood {
    /// g(noisy - count), for counts from `least` on.
    fn of_count(rho: &Rational, noisy: i64, least: i64, bits: u32) -> Result<Self> {
        const MOST: i64 = 4_000_000;
        // Beyond the reach both tails weigh at most exp(-rho reach^2), as in `others::one_gaussian`.
        let reach = (f64::from(bits) * std::f64::consts::LN_2 / rho.to_f64()).sqrt();
        if reach > MOST as f64 {
            let expected = "a rho of at least 1e-9 or so where counts of several levels are used";
            return Err(Error::out_of_range("rho", crate::numeric::rational::display(rho), expected));
        }
        let reach = reach.ceil() as i64 + 1;
        let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
        let inverse = theta::gaussian_sum(&sigma2, bits + 16).recip();
        let first = (noisy - reach).max(least);
        let mass = |count: i64| exp(&-(Rational::from(noisy - count).square() * rho), bits + 16).mul(&inverse);
        let values: Vec<Enclosure> = (first..=noisy + reach).map(mass).collect();
        let beyond = exp(&-(Rational::from(reach).square() * rho), 64);
        Ok(Likelihood { first, values, beyond })
    }

    fn last(&self) -> i64 {
        self.first + self.values.len() as i64 - 1
    }

    fn at(&self, count: i64) -> Enclosure {
        let index = usize::try_from(count - self.first).ok();
        index.and_then(|index| self.values.get(index)).cloned().unwrap_or_else(|| Enclosure::double(0.0, 64))
    }

    /// self(k) times the sum over j >= 0 of h(y - j) above(k + j).
    fn times_sum_over(&self, table: &MassTable, y: i64, above: &Likelihood, bits: u32) -> Result<Self> {
        let pairs = self.values.len() as f64 * above.values.len() as f64;
        if pairs > 4e7 {
            let expected = "at most 4e7: use larger rho with three levels or more";
            return Err(Error::out_of_range("the number of pairs of counts", format!("{pairs:.1e}"), expected));
        }
        let value = |(count, own): (i64, &Enclosure)| {
            let from = 0.max(above.first - count).max(y.saturating_sub(table.last()));
            let to = (above.last() - count).min(y.saturating_sub(table.first()));
            let terms = (from..=to).map(|j| table.stored(y - j).mul(&above.at(count + j)));
            let sum = terms.fold(Enclosure::double(0.0, bits), |sum, term| sum.add(&term));
            // As in `attempt`: the likelihood above sums to at most 1 over all counts.
            let sum = plus_at_most(&plus_at_most(&sum, &table.slack()), &above.beyond);
            own.mul(&sum)
        };
        let values = (self.first..).zip(&self.values).map(value).collect();
        // The inner sum is at most 1, so the product beyond the window is at most the likelihood of the count itself.
        Ok(Likelihood { first: self.first, values, beyond: self.beyond.clone() })
    }
}
