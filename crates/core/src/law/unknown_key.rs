//! Keys that the data decide: a noisy count is shown if it is at least a threshold, and a key without any record is not considered.
//!
//! # The pairs
//!
//! Let a record change the count of a key by at most `shift`.
//!
//! - *A new key* has no other record. Without the record nothing is shown; with it the noisy count is shown with probability d = P[noise >= threshold - shift],
//!   which proves the record, and hidden with probability 1 - d. A smaller count is shown more rarely, and is a function of this pair: the shown is hidden again
//!   with some probability.
//! - *A known key* has other records. Its count moves by the shift, and hiding small noisy counts is a function of the noisy count: the pair is at most that of
//!   the noise alone, which it approaches for large counts.
//!
//! Every key is one or the other, so the account is the worst over all numbers of new ones. d and r = 1 - d are enclosed, each relative to itself, and the
//! pairs for both ends enclose that for d, because a pair of a larger d is at most as private. Each of both has its own probability of an infinite loss.

use std::cmp::Ordering;

use rug::{Float, Rational, float::Round};

use super::{
    changes::Changes,
    discrete_laplace::{self, DiscreteLaplace},
    facts::Facts,
    gaussian::{self, Gaussian},
    laplace::{self, Laplace},
    likelihoods::Likelihoods,
    pair::Pair,
    responses::Rounding,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// The name in files and options.
pub(super) const KEY: &str = "unknown-key";

/// Bits of a tail relative to itself: more than the largest number of digits needs.
const BITS: u32 = 1024;
/// A tail below 2^-LEAST is refused.
const LEAST: i32 = 4000;
/// The largest sigma2 of a discrete Gaussian, whose tail is summed.
const MOST_SIGMA2: u32 = 1_000_000;

/// The noise on the counts of keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyNoise {
    /// Mass proportional to exp(-epsilon |x|) at every integer x.
    DiscreteLaplace(Rational),
    /// N_Z(0, sigma2) on the integers.
    DiscreteGaussian(Rational),
    /// Density exp(-|x| / scale) / (2 scale) on the real line.
    Laplace(Rational),
    /// N(0, sigma2) on the real line.
    Gaussian(Rational),
}

/// Keys that are shown if their noisy count is at least a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownKey {
    noise: KeyNoise,
    threshold: Rational,
    /// Whether the two directions are exchanged.
    is_reversed: bool,
    /// By how much records change the count of a key.
    changes: Changes,
    /// For texts.
    label: String,
}

impl PartialOrd for UnknownKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UnknownKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |one: &Self| (one.noise.clone(), one.threshold.clone(), one.is_reversed, one.changes);
        key(self).cmp(&key(other))
    }
}

impl KeyNoise {
    fn facts<'a>(&'a self) -> Box<dyn Facts<'a> + 'a> {
        match self {
            KeyNoise::DiscreteLaplace(epsilon) => Box::new(DiscreteLaplace { epsilon }),
            KeyNoise::DiscreteGaussian(sigma2) => Box::new(Gaussian::discrete(sigma2)),
            KeyNoise::Laplace(scale) => Box::new(Laplace { scale }),
            KeyNoise::Gaussian(sigma2) => Box::new(Gaussian::continuous(sigma2)),
        }
    }
}

impl UnknownKey {
    /// Keys with noise of the law of this name and parameter, shown from this threshold on. An error for other names.
    pub fn new(key: &str, parameter: Rational, threshold: Rational) -> Result<Self> {
        let known = [discrete_laplace::KEY, gaussian::DISCRETE, laplace::KEY, gaussian::CONTINUOUS];
        let label = format!("{key}:{}:{}", rational::display(&parameter), rational::display(&threshold));
        let noise = match key {
            discrete_laplace::KEY => KeyNoise::DiscreteLaplace(parameter),
            gaussian::DISCRETE => KeyNoise::DiscreteGaussian(parameter),
            laplace::KEY => KeyNoise::Laplace(parameter),
            gaussian::CONTINUOUS => KeyNoise::Gaussian(parameter),
            other => return Err(Error::unknown("law of keys", other, "there are", known)),
        };
        Ok(UnknownKey { noise, threshold, is_reversed: false, changes: Changes::Exactly, label })
    }

    /// The noise.
    pub fn noise(&self) -> &KeyNoise {
        &self.noise
    }

    /// The threshold from which on a noisy count is shown.
    pub fn threshold(&self) -> &Rational {
        &self.threshold
    }

    /// Whether the two directions are exchanged.
    pub(super) fn is_reversed(&self) -> bool {
        self.is_reversed
    }

    /// The same with the two directions exchanged: that of a key which a changed record enters, beside one that it leaves.
    pub(crate) fn reversed(&self) -> Self {
        UnknownKey { is_reversed: !self.is_reversed, ..self.clone() }
    }

    /// The same for these changes of the count of a key by up to `shift`. Of those that take as many records the largest is the worst.
    pub(crate) fn with_changes(&self, changes: Changes, shift: u64) -> Self {
        let changes = match changes {
            Changes::UpTo { one } if one < shift => changes,
            _ => Changes::Exactly,
        };
        UnknownKey { changes, ..self.clone() }
    }

    /// The largest change by each number of records.
    pub(super) fn largest_changes(&self, shift: u64) -> Vec<(u64, u64)> {
        let mut largest: Vec<(u64, u64)> = Vec::new();
        for (change, records) in self.changes.up_to(shift) {
            match largest.last_mut() {
                Some(last) if last.1 == records => last.0 = change,
                _ => largest.push((change, records)),
            }
        }
        largest
    }

    /// Keys that are at most as private as `changes` changes by one record, however they are shared among keys, new ones and known ones: the pairs of some new keys,
    /// each with their number, and the number of known ones.
    ///
    /// - *New keys.* All that their outputs reveal is whether one is shown, so the worst way is that which leaves all hidden with the smallest probability. A key
    ///   changed by w records takes w of the changes; with h(w) the probability that it stays hidden, no way has less than the smallest h(w)^(1/w) to the power
    ///   `changes`.
    /// - *Known ones.* All records in as few keys as possible are the worst ([`group`](crate::account)).
    pub(super) fn of_every_sharing(&self, shift: u64, changes: u64) -> Result<(Vec<(Pair, u64)>, u64)> {
        let largest = self.largest_changes(shift);
        let each: Vec<(u64, u64, Enclosure)> = (largest.iter())
            .map(|(change, records)| {
                let ln = self.hidden(*change).ln().div(&Enclosure::rational(&Rational::from(*records), BITS));
                (*change, *records, ln)
            })
            .collect();
        let least = each.iter().map(|(_, _, ln)| ln.upper()).min_by(|a, b| a.total_cmp(b)).cloned();
        // Those of which another is not proven to be smaller: one, but for ties.
        let kept = each.iter().filter(|(_, _, ln)| least.as_ref().is_none_or(|least| ln.lower() <= least));
        let of_new = |(change, records, _): &(u64, u64, Enclosure)| {
            Ok((self.new_key(*change, Rounding::Up)?, changes.div_ceil(*records)))
        };
        let new = kept.map(of_new).collect::<Result<Vec<_>>>()?;
        let records = largest.last().map_or(1, |(_, records)| *records);
        Ok((new, changes.div_ceil(records)))
    }

    /// Encloses P[noise >= threshold - shift], the probability that a new key is shown, relative to itself.
    pub fn shown(&self, shift: u64) -> Enclosure {
        self.tail(&Rational::from(&self.threshold - shift))
    }

    /// Encloses P[noise < threshold - shift], the probability that it stays hidden, relative to itself.
    pub fn hidden(&self, shift: u64) -> Enclosure {
        // By symmetry P[noise > shift - threshold]; on the integers that is from the next one on.
        let at = Rational::from(shift - &self.threshold);
        self.tail(&if self.is_of_integers() { at.floor() + 1_u32 } else { at })
    }

    fn is_of_integers(&self) -> bool {
        matches!(self.noise, KeyNoise::DiscreteLaplace(_) | KeyNoise::DiscreteGaussian(_))
    }

    /// P[noise >= at].
    fn tail(&self, at: &Rational) -> Enclosure {
        match &self.noise {
            KeyNoise::Gaussian(sigma2) => {
                // P[N >= x] = erfc(x / sqrt(2 sigma2)) / 2
                let twice = Enclosure::rational(&Rational::from(sigma2 * 2_u32), BITS).sqrt();
                Enclosure::rational(at, BITS).div(&twice).erfc().times_power_of_two(-1)
            }
            KeyNoise::Laplace(scale) => {
                // P[X >= x] = exp(-x / scale) / 2 for x >= 0, and 1 - exp(x / scale) / 2 below.
                let size = Rational::from(at.abs_ref()) / scale;
                let beyond = Enclosure::rational(&-size, BITS).exp().times_power_of_two(-1);
                if *at >= 0 { beyond } else { Enclosure::double(1.0, BITS).sub(&beyond) }
            }
            KeyNoise::DiscreteLaplace(epsilon) => of_integers(at, |k| {
                // The masses from k >= 0 on are a geometric series: exp(-epsilon k) / (1 + exp(-epsilon)).
                let falling = |k: &Rational| Enclosure::rational(&-Rational::from(epsilon * k), BITS).exp();
                falling(k).div(&falling(&Rational::from(1)).add(&Enclosure::double(1.0, BITS)))
            }),
            KeyNoise::DiscreteGaussian(sigma2) => of_integers(at, |k| gaussian_tail(sigma2, k)),
        }
        .clamp(0.0, 1.0)
    }

    /// The probabilities that a new key is shown and hidden, for the larger end of the first or the smaller one: the smaller of both is an end of its own
    /// enclosure, and the other what is left of one.
    fn shown_and_hidden(&self, shift: u64, rounding: Rounding) -> Result<[Rational; 2]> {
        let [shown, hidden] = [self.shown(shift), self.hidden(shift)];
        let end = |one: &Enclosure, is_upper: bool| {
            let end = if is_upper { one.upper_rational() } else { one.lower_rational() };
            end.filter(|_| one.lower().get_exp().is_some_and(|exponent| exponent > -LEAST))
        };
        const WHAT: &str = "the threshold of an unknown key";
        let threshold = || rational::display(&self.threshold);
        let rest = |end: &Rational| Rational::from(1 - end);
        let is_up = rounding == Rounding::Up;
        if shown.upper() <= hidden.upper() {
            let shown = end(&shown, is_up).ok_or_else(|| {
                Error::out_of_range(
                    WHAT,
                    threshold(),
                    "one that a new key reaches with a probability of at least 10^-1200",
                )
            })?;
            return Ok([shown.clone(), rest(&shown)]);
        }
        let hidden = end(&hidden, !is_up).ok_or_else(|| {
            Error::out_of_range(
                WHAT,
                threshold(),
                "one below which a new key stays with a probability of at least 10^-1200",
            )
        })?;
        Ok([rest(&hidden), hidden])
    }

    /// The pair of a new key, for the larger end of its probability or the smaller one.
    pub(super) fn new_key(&self, shift: u64, rounding: Rounding) -> Result<Pair> {
        let [shown, hidden] = self.shown_and_hidden(shift, rounding)?;
        let outcomes = Likelihoods::of_outcomes([(shown, Rational::new()), (hidden, Rational::from(1))]);
        Pair::of_likelihoods(&self.label, if self.is_reversed { outcomes.reversed() } else { outcomes })
    }
}

/// P[X >= x] of a law on the integers that is symmetric about zero, from that of integers above zero.
fn of_integers(x: &Rational, from: impl Fn(&Rational) -> Enclosure) -> Enclosure {
    let k = x.clone().ceil();
    if k >= 1 {
        return from(&k);
    }
    // 1 - P[X <= k - 1] = 1 - P[X >= 1 - k]
    Enclosure::double(1.0, BITS).sub(&from(&(1 - k)))
}

/// P[N_Z(0, sigma2) >= k] for an integer k >= 1: the weights from k on over all weights, 1 and twice those from 1 on.
fn gaussian_tail(sigma2: &Rational, k: &Rational) -> Enclosure {
    let one = Enclosure::double(1.0, BITS);
    let all = weights_from(sigma2, &Rational::from(1)).times_power_of_two(1).add(&one);
    weights_from(sigma2, k).div(&all)
}

/// The sum of exp(-x^2 / (2 sigma2)) over the integers from k >= 1 on. The terms fall, each by a ratio that falls too, so what is left after some of them is
/// at most the last one times r / (1 - r), r its ratio.
fn weights_from(sigma2: &Rational, k: &Rational) -> Enclosure {
    let bits = BITS + 64;
    let twice = Rational::from(sigma2 * 2_u32);
    let exp = |exponent: &Rational| Enclosure::rational(&-Rational::from(exponent / &twice), bits).exp();
    let (mut term, mut sum) = (exp(&k.clone().square()), Enclosure::double(0.0, bits));
    // From x to x + 1 the exponent rises by (2 x + 1) / (2 sigma2), and that by 1 / sigma2 a step.
    let mut ratio = exp(&(Rational::from(k * 2_u32) + 1_u32));
    let fall = exp(&Rational::from(2));
    let one = Enclosure::double(1.0, bits);
    loop {
        sum = sum.add(&term);
        let rest = term.mul(&ratio).div(&one.sub(&ratio));
        if *rest.upper() <= Float::with_val(64, sum.lower() >> BITS) {
            let upper = Float::with_val_round(bits, sum.upper() + rest.upper(), Round::Up).0;
            return Enclosure::new(sum.lower().clone(), upper);
        }
        term = term.mul(&ratio);
        ratio = ratio.mul(&fall);
    }
}

impl<'a> Facts<'a> for &'a UnknownKey {
    fn names(&self) -> [&'static str; 2] {
        ["thresholded", KEY]
    }

    fn label(&self) -> Option<&'a str> {
        Some(&self.label)
    }

    /// It does not grow: with more noise a key is shown at another rate, which a threshold of its own would have to make up for.
    fn parameter(&self) -> (&'static str, &'a Rational) {
        self.noise.facts().parameter()
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        vec![("threshold", self.threshold.clone())]
    }

    /// Never: a new key can be shown with the record only.
    fn is_symmetric(&self) -> bool {
        false
    }

    fn has_infinite_loss(&self) -> bool {
        true
    }

    fn is_continuous(&self) -> bool {
        self.noise.facts().is_continuous()
    }

    fn check(&self) -> Result<()> {
        if let KeyNoise::DiscreteGaussian(sigma2) = &self.noise
            && *sigma2 > MOST_SIGMA2
        {
            let expected = "at most 10^6 for unknown keys, whose tail is summed";
            return Err(Error::out_of_range("sigma2", rational::display(sigma2), expected));
        }
        self.noise.facts().check()
    }

    fn most_shift(&self) -> u64 {
        self.noise.facts().most_shift()
    }

    /// The larger of a new key's and a known one's.
    fn has_exact_rho(&self) -> bool {
        false
    }

    fn rho(&self, shift: u64) -> Rational {
        let of = |(change, records)| {
            let known = self.noise.facts().rho(change);
            let new = self.new_key(change, Rounding::Up).map(|new| new.likelihoods().rho());
            new.map_or_else(|_| known.clone(), |new| new.max(known.clone())) / records
        };
        self.largest_changes(shift).into_iter().map(of).max().unwrap_or_default()
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        let of = |(change, records)| {
            let known = self.noise.facts().largest_loss(change)?;
            let new = self.new_key(change, Rounding::Up).ok().and_then(|new| new.likelihoods().largest_loss())?;
            Some(new.max(known) / records)
        };
        self.largest_changes(shift).into_iter().try_fold(Rational::new(), |most, change| Some(most.max(of(change)?)))
    }

    fn is_bounded(&self) -> bool {
        self.noise.facts().is_bounded()
    }

    fn precision_approx(&self) -> Rational {
        self.noise.facts().precision_approx()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// Tails by their definition, in doubles; at the threshold itself a key is shown.
    #[test]
    fn a_new_key_is_shown_with_the_mass_of_the_tail() {
        let sum = |weight: &dyn Fn(i64) -> f64, from: i64| {
            let all: f64 = (-400..=400).map(weight).sum();
            (from..=400).map(weight).sum::<f64>() / all
        };
        for (threshold, shift) in [("5", 1_u64), ("5/2", 1), ("1", 1), ("-3", 2), ("20", 3)] {
            let from = parse(threshold).unwrap().to_f64().ceil() as i64 - shift as i64;
            let of = |key: &str, parameter: &str| {
                let shown =
                    UnknownKey::new(key, parse(parameter).unwrap(), parse(threshold).unwrap()).unwrap().shown(shift);
                assert!(shown.is_tight(60), "{shown}");
                shown.approximate()
            };
            let laplace = sum(&|x| (-0.5 * x.abs() as f64).exp(), from);
            assert!((of("discrete-laplace", "1/2") / laplace - 1.0).abs() < 1e-12, "{threshold} {shift}");
            let gaussian = sum(&|x| (-(x * x) as f64 / 14.0).exp(), from);
            assert!((of("discrete-gaussian", "7") / gaussian - 1.0).abs() < 1e-12, "{threshold} {shift}");
            // By the trapezoid rule with fine steps.
            let at = parse(threshold).unwrap().to_f64() - shift as f64;
            let density = |x: f64| (-x * x / 14.0).exp() / (14.0 * std::f64::consts::PI).sqrt();
            let steps = (0..200_000).map(|k| density(at + (f64::from(k) + 0.5) * 2e-4) * 2e-4).sum::<f64>();
            assert!((of("gaussian", "7") / steps - 1.0).abs() < 1e-7, "{threshold} {shift}");
        }
    }
}
