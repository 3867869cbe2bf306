//! The interval of the parameter of a law that the draws do not reject.

use rug::{Rational, float::Round};

use super::{
    battery::{Audited, at_most},
    declared::scaled_law,
    proven,
    tally::Tally,
};
use crate::error::Result;

/// Factors on the declared parameter, of a Laplace law on its scale: those outside are rejected at the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The smallest factor that may be true; smaller ones are rejected.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
}

impl Interval {
    /// Both ends as changes of the parameter in percent, rounded outward.
    pub fn words(&self) -> (String, String) {
        let written = |factor: f64, up: bool| {
            let percent = 100.0 * (factor - 1.0);
            let decimals = (2.0 - libm::log10(percent.abs().max(1e-9)).floor()).clamp(0.0, 9.0) as usize;
            let unit = 10_f64.powi(decimals as i32);
            // The subtraction and the product err by less than 10^-13.
            let rounded = if up { ((percent + 1e-12) * unit).ceil() } else { ((percent - 1e-12) * unit).floor() };
            format!("{:+.decimals$} %", rounded / unit)
        };
        (written(self.lower, false), written(self.upper, true))
    }

    /// The interval that holds the true factor with a probability of at least 1 - level. `None` without draws, for a sum of draws, or if the
    /// interval reaches beyond a hundredth or a hundred times the declared parameter.
    ///
    /// The sum of the draws' scores, whole numbers that increase with the magnitude, increases stochastically with the parameter: the laws have
    /// a monotone likelihood ratio in the magnitude. So if a Chernoff bound rejects one factor on one side at half the level, all factors
    /// beyond it are rejected, too.
    pub fn of_tally(audited: &Audited, tally: &Tally, level: &Rational) -> Result<Option<Interval>> {
        let Some(named) = &audited.named else { return Ok(None) };
        if tally.draws() == 0 {
            return Ok(None);
        }
        let scores = audited.bins.scores(audited.linear()[1].score);
        let counts = audited.bins.counts(tally);
        let sum: i128 = scores.iter().zip(&counts).map(|(score, count)| i128::from(*score) * i128::from(*count)).sum();
        let half_level = Rational::from(level / 2_u32);
        let half_ln = rug::Float::with_val_round(64, &half_level, Round::Down).0.ln().to_f64();
        // Whether the law with this factor is rejected because the sum is too large (for small factors) or too small.
        let is_rejected = |factor: f64, too_large: bool| -> Result<bool> {
            let Some(law) = scaled_law(named, factor) else { return Ok(false) };
            let other = super::declared::Declared::of_law(&law)?;
            let (upper, approx) = audited.bins.of_law(&other);
            let s = super::battery::tilt(&approx, &scores, sum as f64 / tally.draws() as f64);
            if (s > 0.0) != too_large {
                return Ok(false);
            }
            Ok(at_most(proven::chernoff(&upper, &scores, tally.draws(), sum, s), &half_level))
        };
        // The first guess by the normal law, then outward until the rejection is proven.
        let mean: f64 = audited.bins.approx().iter().zip(&scores).map(|(mass, score)| mass * *score as f64).sum();
        let square: f64 =
            audited.bins.approx().iter().zip(&scores).map(|(mass, score)| mass * (*score as f64).powi(2)).sum();
        let n = tally.draws() as f64;
        let center = (sum as f64 / n / mean).max(1e-6);
        let spread = ((square - mean * mean).max(0.0) / n).sqrt() / mean;
        let first = (-2.0 * half_ln).sqrt() * spread;
        let mut ends = [0.0; 2];
        for (end, too_large) in ends.iter_mut().zip([true, false]) {
            let factor = |step: f64| if too_large { center / (1.0 + step) } else { center * (1.0 + step) };
            let steps = std::iter::successors(Some(first), |step| Some(step * 1.02));
            let factors: Vec<f64> =
                steps.map(factor).take_while(|factor| (0.01..=100.0).contains(factor)).take(MOST_STEPS).collect();
            let Some(found) = first_rejected(factors.len(), |at| is_rejected(factors[at], too_large))? else {
                return Ok(None);
            };
            *end = factors[found];
        }
        Ok(Some(Interval { lower: ends[0], upper: ends[1] }))
    }
}

/// From no step at all to a hundred times the parameter are fewer.
const MOST_STEPS: usize = 10_000;

/// The first of `all` places that is rejected, where all places beyond a rejected one are; `None` if none is. Few are evaluated: the last one, and those
/// of a search that doubles its steps from the first, where most answers are.
fn first_rejected(all: usize, is_rejected: impl Fn(usize) -> Result<bool>) -> Result<Option<usize>> {
    if all == 0 || !is_rejected(all - 1)? {
        return Ok(None);
    }
    let (mut below, mut at) = (None, 0);
    while !is_rejected(at)? {
        (below, at) = (Some(at), (2 * at + 1).min(all - 1));
    }
    // Not rejected at `below`, rejected at `at`.
    let mut next = below.map_or(0, |below: usize| below + 1);
    while next < at {
        let middle = next.midpoint(at);
        if is_rejected(middle)? { at = middle } else { next = middle + 1 }
    }
    Ok(Some(at))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_first_rejected_place_is_found_with_few_evaluations() {
        for all in [0, 1, 2, 3, 10, 500] {
            for first in 0..=all {
                let asked = Cell::new(0);
                let found = first_rejected(all, |at| {
                    asked.set(asked.get() + 1);
                    Ok(at >= first)
                });
                assert_eq!(found.unwrap(), (first < all).then_some(first), "{all} {first}");
                assert!(asked.get() <= 3 + 2 * (first + 1).ilog2(), "{all} {first}: {}", asked.get());
            }
        }
    }
}
