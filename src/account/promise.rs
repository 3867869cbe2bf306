//! Privacy promises, and the least noise that keeps one.
//!
//! All noise of an account is scaled by one factor. The search uses a grid of the factor itself or of the smallest sigma2. The result is
//! proven from both sides: the noise found keeps the promise, and the next smaller noise of the grid does not.

use rug::{Integer, Rational, ops::Pow};

use super::{
    Composition,
    calibrate::{self, Grid, Least},
    conversions, crossing,
    profile::Account,
};
use crate::{
    error::{Error, Result},
    law::Range,
    loss::parameter::{Delta, Epsilon},
    numeric::{Certainty, Enclosure, rational},
};

/// A promise that calibrated noise has to keep.
#[derive(Clone, Debug)]
pub enum Promise {
    /// This epsilon at delta.
    Epsilon {
        /// The delta.
        delta: Delta,
        /// The epsilon.
        epsilon: Epsilon,
    },
    /// The epsilon at delta that zCDP gives for the noise before calibration, with the conversion of Bun & Steinke.
    ZcdpEpsilon {
        /// The delta.
        delta: Delta,
    },
    /// The reference epsilon of the noise before calibration: see [`Promise::known`].
    Known {
        /// The delta.
        delta: Delta,
        /// The epsilon, a single number.
        epsilon: Enclosure,
    },
    /// The zCDP curve of the noise before calibration, by the same conversion, at every delta of a range.
    ZcdpCurve {
        /// The least delta.
        from: Delta,
        /// The greatest delta, above `from` and at most one.
        to: Rational,
    },
}

/// The numbers that form the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridOf {
    /// Multiples of 10^-decimals of the smallest sigma2 of the account.
    SmallestSigma2,
    /// Multiples of 10^-decimals of the common factor of all noise.
    Factor,
}

/// The least noise of a grid that keeps a promise.
#[derive(Clone, Debug)]
pub struct Calibrated<A> {
    /// The account with that noise.
    pub account: A,
    /// The factor on all variances, proven to suffice.
    pub factor: Rational,
    /// The factor of the previous grid point, proven not to suffice; `None` if the grid starts here.
    pub before: Option<Rational>,
    /// The variance proxies of the Gaussian noise before calibration, each once, in increasing order; empty if there is no such noise.
    pub variances: Vec<Rational>,
}

impl Promise {
    /// The zCDP curve of the noise before calibration, from one delta to another: 0 < from < to <= 1. Anything else is an error.
    pub fn zcdp_curve(from: Rational, to: Rational) -> Result<Self> {
        if from <= 0 || from >= to || to > 1 {
            let shown = format!("{}..{}", rational::display(&from), rational::display(&to));
            return Err(Error::out_of_range("the range of delta", shown, "FROM..TO with 0 < FROM < TO <= 1"));
        }
        Ok(Promise::ZcdpCurve { from: Delta::new(from)?, to })
    }

    /// The promise of an epsilon that is known within an enclosure: its upper end, which is a valid bound on its own. A single number is
    /// decisive even if the account is practically exact and its enclosure would contain the epsilon of a grid point.
    pub fn known(delta: Delta, epsilon: &Enclosure) -> Self {
        let upper = epsilon.upper().clone();
        Promise::Known { delta, epsilon: Enclosure::new(upper.clone(), upper) }
    }

    /// The delta of the promised epsilon: the least of a range.
    pub fn delta(&self) -> &Delta {
        match self {
            Promise::Epsilon { delta, .. }
            | Promise::Known { delta, .. }
            | Promise::ZcdpEpsilon { delta }
            | Promise::ZcdpCurve { from: delta, .. } => delta,
        }
    }

    /// The promised epsilon at a delta of the promise, for the account before calibration.
    pub fn target(&self, account: &impl Account, delta: &Delta) -> Enclosure {
        match self {
            Promise::Epsilon { epsilon, .. } => Enclosure::rational(epsilon, 160),
            Promise::Known { epsilon, .. } => epsilon.clone(),
            Promise::ZcdpEpsilon { .. } | Promise::ZcdpCurve { .. } => {
                conversions::zcdp_epsilon(&account.rho(), delta, 40)
            }
        }
    }
}

/// The variance proxies of the Gaussian noise of a composition, each once, in increasing order. An error if there is no such noise.
pub fn variances(composition: &Composition) -> Result<Vec<Rational>> {
    let mut all: Vec<Rational> =
        composition.counts().iter().filter_map(|counts| counts.law.sigma2().cloned()).collect();
    all.sort();
    all.dedup();
    if all.is_empty() {
        let why = "noise other than Gaussian has no sigma2 to calibrate: calibrate Gaussian noise, or find a common factor on all noise";
        return Err(Error::unsuitable(why));
    }
    Ok(all)
}

/// The least and the greatest factor for which all noise stays in the range with an account.
fn range_of_factors(composition: &Composition) -> Option<Range> {
    let all = composition.counts().iter().map(|counts| counts.law.factors());
    all.reduce(|one, other| Range { least: one.least.max(other.least), most: one.most.min(other.most) })
}

/// The least noise of a grid with which an account keeps a promise. `whole` is the composition whose variances define the grid: the account
/// itself, or all counts of which it takes the worst case.
///
/// Only the two proofs matter for correctness. The account's representative at the promised epsilon and the start of the search are
/// guesses, and a wrong guess only costs time. An error if no noise of the grid keeps the promise, if the grid has no point in the range
/// with an account, or if the curves of a grid point touch within the range of delta.
pub fn calibrate<A: Account>(
    account: &A,
    whole: &Composition,
    promise: &Promise,
    (grid_of, decimals): (GridOf, u32),
) -> Result<Calibrated<A>> {
    if let (Promise::ZcdpEpsilon { .. } | Promise::ZcdpCurve { .. }, Some(_)) = (promise, account.infinite_loss()) {
        let why = "a promise by rho is about losses that are finite, and some outputs here have an infinite loss: give an epsilon";
        return Err(Error::unsuitable(why));
    }
    let (variances, unit) = match (variances(whole), grid_of) {
        (found, GridOf::Factor) => (found.unwrap_or_default(), Rational::from(1)),
        (found, GridOf::SmallestSigma2) => {
            let found = found?;
            let smallest = found.first().cloned().unwrap_or_default();
            (found, smallest)
        }
    };
    if let Some(counts) = whole.counts().iter().find(|counts| !counts.law.has_scale()) {
        counts.with_noise_times(&Rational::from(2))?;
    }
    let factor = |point: &Rational| Rational::from(point / &unit);
    // The grid on which all noise stays in the range with an account.
    let Range { least, most } = range_of_factors(whole).ok_or(Error::EmptyComposition)?;
    let grid = Grid { decimals, least: least * &unit, most: most * &unit };
    if grid.most < Rational::from((1, Integer::from(10).pow(decimals))) {
        let why = "the grid has no point on which every sigma2 is at most 1e12: use more decimals than";
        return Err(Error::unsuitable(format!("{why} {decimals}")));
    }
    let family = |point: &Rational| account.with_noise_times(&factor(point));
    let delta = promise.delta();
    let target = promise.target(account, delta);
    let near = target.lower_rational().ok_or(Error::Unbounded { what: "the target epsilon" })?;
    let representative = account.representative(&Epsilon::new(near)?)?;
    let range = (grid.least.to_f64() * 1.01, unit.to_f64() * 0.87, grid.most.to_f64() * 0.99);
    // If doubles give no starting point, the search starts from the noise before calibration.
    let guess = calibrate::guess(|point| representative.with_noise_times(&factor(point)), &target, delta, range)
        .unwrap_or(unit.to_f64());
    let least = match promise {
        Promise::Epsilon { .. } | Promise::Known { .. } | Promise::ZcdpEpsilon { .. } => {
            calibrate::least_in(&grid, family, &target, delta, guess)?
        }
        Promise::ZcdpCurve { from, to } => grid.least_where(guess, |point| {
            match crossing::within_everywhere(&family(point)?, &account.rho(), from, to)? {
                Certainty::Yes => Ok(true),
                Certainty::No => Ok(false),
                Certainty::Undecided => {
                    let shown = format!("{}..{}", rational::display(from), rational::display(to));
                    let apart = "the curve of some grid point touches that of zCDP within it";
                    Err(Error::undecided("the range of delta", shown, apart))
                }
            }
        })?,
    };
    let Some(Least { value, before }) = least else {
        return Err(Error::OutOfReach { epsilon: target.shown(12), delta: rational::display(delta) });
    };
    let calibrated = family(&value)?;
    Ok(Calibrated { account: calibrated, factor: factor(&value), before: before.as_ref().map(factor), variances })
}
