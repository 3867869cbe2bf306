//! Privacy promises, and the least noise that keeps one.
//!
//! All noise of an account is scaled by one factor. The search uses a grid of the factor itself or of the smallest sigma2. The result is
//! proven from both sides: the noise found keeps the promise, and the next smaller noise of the grid does not.

use rug::{Integer, Rational, ops::Pow};

use super::{
    Composition,
    calibrate::{self, Least, Multiples, Sought},
    conversions, crossing, exact, inside, outputs,
    profile::Account,
    stretches,
};
use crate::{
    error::{Error, Result},
    law::{Direction, Law, Range},
    loss::parameter::{Delta, Epsilon},
    numeric::{Certainty, Enclosure, normal::quantile_approx, rational},
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
    /// An epsilon that is known within an enclosure, such as a logarithm, or the reference epsilon of the noise before calibration
    /// ([`Promise::known`]).
    Known {
        /// The delta.
        delta: Delta,
        /// The epsilon.
        epsilon: Enclosure,
        /// exp(epsilon), where the epsilon is the logarithm of a fraction.
        ratio: Option<Rational>,
    },
    /// A point of the privacy profile of one direction; where the pair of neighbors is symmetric, of the profile.
    OneWay {
        /// The delta.
        delta: Delta,
        /// The epsilon, within an enclosure.
        epsilon: Enclosure,
        /// exp(epsilon), where the epsilon is the logarithm of a fraction.
        ratio: Option<Rational>,
        /// Whether a record is removed, or added.
        direction: Direction,
    },
    /// Outputs whose likelihood ratio exceeds this one have at most this probability, whichever change a record makes, and in both directions.
    Outputs {
        /// The probability.
        delta: Delta,
        /// The likelihood ratio, above one.
        ratio: Rational,
    },
    /// A point of the trade-off function: every test of type I error alpha has a type II error of beta or more.
    Tradeoff {
        /// The type I error.
        alpha: Rational,
        /// The type II error.
        beta: Rational,
    },
    /// The zCDP curve of the noise before calibration, by the same conversion, at every delta of a range.
    ZcdpCurve {
        /// The least delta.
        from: Delta,
        /// The greatest delta, above `from` and at most one.
        to: Rational,
    },
}

/// The number that is a multiple of 10^-decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridOf {
    /// The smallest sigma2 of the account.
    SmallestSigma2,
    /// The common factor of all noise.
    Factor,
}

/// The noise among which a calibration searches: all noise is scaled by one factor, and the factor or the smallest sigma2 is a multiple of 10^-decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number that is a multiple of 10^-decimals.
    pub of: GridOf,
    /// Its decimals.
    pub decimals: u32,
}

impl Grid {
    /// Noise whose smallest sigma2 has this number of decimals.
    pub fn sigma2(decimals: u32) -> Self {
        Grid { of: GridOf::SmallestSigma2, decimals }
    }

    /// Noise whose common factor, on all sigma2, has this number of decimals.
    pub fn factor(decimals: u32) -> Self {
        Grid { of: GridOf::Factor, decimals }
    }
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
    /// For a promise about outputs: the factor from which on all larger noise keeps the promise, if that was found.
    pub steady: Option<Rational>,
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
        Promise::Known { delta, epsilon: Enclosure::new(upper.clone(), upper), ratio: None }
    }

    /// The promise of a point of the trade-off function: errors of 1e-300 or more with alpha + beta < 1. Anything else is an error: no noise is needed for beta = 0,
    /// no noise reaches alpha + beta = 1, and the search starts from doubles.
    pub fn tradeoff(alpha: Rational, beta: Rational) -> Result<Self> {
        for (what, error) in [("alpha", &alpha), ("beta", &beta)] {
            let least = Rational::from((1, Integer::from(10).pow(300)));
            if *error < least || *error >= 1 {
                return Err(Error::out_of_range(what, rational::display(error), "an error from 1e-300 and below 1"));
            }
        }
        if Rational::from(&alpha + &beta) >= 1 {
            let sum = format!("alpha + beta = {}", rational::display(&Rational::from(&alpha + &beta)));
            return Err(Error::out_of_range(
                "beta",
                sum,
                "a sum below 1: with 1 the outputs would reveal nothing at all",
            ));
        }
        Ok(Promise::Tradeoff { alpha, beta })
    }

    /// The delta of the promised epsilon, the least of a range; `None` if the promise is about no epsilon.
    pub fn delta(&self) -> Option<&Delta> {
        match self {
            Promise::Epsilon { delta, .. }
            | Promise::Known { delta, .. }
            | Promise::ZcdpEpsilon { delta }
            | Promise::ZcdpCurve { from: delta, .. } => Some(delta),
            Promise::Tradeoff { .. } | Promise::OneWay { .. } | Promise::Outputs { .. } => None,
        }
    }

    /// The promised epsilon at a delta of the promise, for the account before calibration; `None` if the promise is about no epsilon.
    pub fn target(&self, account: &impl Account, delta: &Delta) -> Option<Enclosure> {
        match self {
            Promise::Epsilon { epsilon, .. } => Some(Enclosure::rational(epsilon, 160)),
            Promise::Known { epsilon, .. } => Some(epsilon.clone()),
            Promise::ZcdpEpsilon { .. } | Promise::ZcdpCurve { .. } => {
                Some(conversions::zcdp_epsilon(&account.rho(), delta, 40))
            }
            Promise::Tradeoff { .. } | Promise::OneWay { .. } | Promise::Outputs { .. } => None,
        }
    }

    /// A point of the privacy profile that noise keeping the promise has, or nearly has: where the search starts.
    fn point(&self, account: &impl Account) -> Result<(Enclosure, Delta)> {
        Ok(match self {
            Promise::Epsilon { delta, epsilon } => (Enclosure::rational(epsilon, 160), delta.clone()),
            Promise::Known { delta, epsilon, .. } | Promise::OneWay { delta, epsilon, .. } => {
                (epsilon.clone(), delta.clone())
            }
            Promise::ZcdpEpsilon { delta } | Promise::ZcdpCurve { from: delta, .. } => {
                (conversions::zcdp_epsilon(&account.rho_of_all()?, delta, 40), delta.clone())
            }
            Promise::Outputs { delta, ratio } => (Enclosure::rational(ratio, 256).ln(), delta.clone()),
            Promise::Tradeoff { alpha, beta } => tangent(alpha, beta)?,
        })
    }

    /// Whether it is about the account before calibration.
    #[cfg(feature = "mechanisms")]
    pub(super) fn is_relative(&self) -> bool {
        matches!(self, Promise::ZcdpEpsilon { .. } | Promise::ZcdpCurve { .. })
    }

    /// By how much an account misses the promise, an approximation; minus infinity where it is proven to keep it.
    pub(super) fn missed_or_kept(&self, account: &impl Account, before: &impl Account) -> Result<f64> {
        match self.kept_by(account, before)? {
            Certainty::Yes => Ok(f64::NEG_INFINITY),
            _ => self.missed_by_approx(account, before),
        }
    }

    /// Whether an account keeps the promise; `before` is the account before calibration.
    pub fn kept_by(&self, account: &impl Account, before: &impl Account) -> Result<Certainty> {
        match self {
            Promise::Epsilon { epsilon, delta } => calibrate::meets_at(account, &Sought::Exactly(epsilon), delta),
            Promise::Known { epsilon, ratio, delta } => calibrate::meets_at(account, &sought(epsilon, ratio), delta),
            Promise::ZcdpEpsilon { .. } => {
                let (epsilon, delta) = self.point(before)?;
                calibrate::meets(account, &epsilon, &delta)
            }
            Promise::OneWay { delta, epsilon, ratio, direction } => {
                calibrate::meets_in(*direction, account, &sought(epsilon, ratio), delta)
            }
            Promise::Outputs { delta, ratio } => outputs::keeps(&changes(account)?, ratio, delta),
            Promise::Tradeoff { alpha, beta } => has_type_two(account, alpha, beta),
            Promise::ZcdpCurve { from, to } => crossing::within_everywhere(account, &before.rho(), from, to),
        }
    }

    /// By how much an account misses the promise: ln of its delta at the epsilon of the promise over the delta there, an approximation for searches. `before` is the
    /// account before calibration.
    pub(super) fn missed_by_approx(&self, account: &impl Account, before: &impl Account) -> Result<f64> {
        let (epsilon, delta) = self.point(before)?;
        let at = epsilon.lower_rational().unwrap_or_default().max(Rational::new());
        let value = account.evaluator().hockey_stick(&at, 4)?.value;
        let ln = |value: &Enclosure| value.ln().approximate();
        let missed = ln(&value) - ln(&Enclosure::rational(&delta, 100));
        Ok(if missed.is_nan() { f64::MAX } else { missed })
    }

    /// The error if no noise of the grid keeps the promise.
    fn out_of_reach(&self, target: &Enclosure, delta: &Delta) -> Error {
        match self {
            Promise::Tradeoff { alpha, beta } => {
                let point = format!("beta = {} at alpha = {}", rational::display(beta), rational::display(alpha));
                let why =
                    format!("no noise of the grid was found that has a type II error of {point}; the largest has not");
                Error::NotFound { why }
            }
            _ => Error::OutOfReach { epsilon: target.shown(12), delta: rational::display(delta) },
        }
    }

    /// The error for a grid point that neither provably keeps nor provably breaks the promise.
    fn undecided(&self, target: &Enclosure) -> Error {
        const APART: &str = "of every grid point by more than a relative 10^-40";
        match self {
            Promise::ZcdpCurve { from, to } => {
                let shown = format!("{}..{}", rational::display(from), rational::display(to));
                Error::undecided(
                    "the range of delta",
                    shown,
                    "the curve of some grid point touches that of zCDP within it",
                )
            }
            Promise::Tradeoff { beta, .. } => {
                let apart = format!("it must differ from the type II error {APART}");
                Error::undecided("the target beta", rational::display(beta), &apart)
            }
            Promise::Outputs { delta, .. } => {
                let apart = format!("it must differ from the probability of outputs above the posterior {APART}");
                Error::undecided("delta", delta.to_string(), &apart)
            }
            Promise::Epsilon { .. } | Promise::Known { .. } | Promise::OneWay { .. } | Promise::ZcdpEpsilon { .. } => {
                let apart = format!("it must differ from the epsilon {APART}");
                Error::undecided("the target epsilon", target.shown(17), &apart)
            }
        }
    }
}

/// Every change of an account whose outputs are known.
pub(crate) fn changes(account: &impl Account) -> Result<Vec<Composition>> {
    let all = account.single().map(outputs::changes).transpose()?.flatten();
    all.ok_or_else(|| {
        Error::unsuitable(
            "the posterior of outputs needs discrete Gaussian, discrete Laplace or truncated noise, tables or pairs, with at most 250 possible changes, the same for all \
             records, and no groups: use that of events",
        )
    })
}

/// An epsilon within an enclosure, of which exp may be known exactly.
fn sought<'a>(epsilon: &'a Enclosure, ratio: &'a Option<Rational>) -> Sought<'a> {
    match ratio {
        Some(ratio) => Sought::Ln(ratio, epsilon),
        None => Sought::Within(epsilon),
    }
}

/// Whether every test of type I error alpha has a type II error of beta or more: f(alpha) >= beta.
fn has_type_two(account: &impl Account, alpha: &Rational, beta: &Rational) -> Result<Certainty> {
    for digits in [4, 7, 10, 20, 40] {
        let value = account.tradeoff(alpha, digits)?.value;
        // lower <= f(alpha) <= upper
        if *value.lower() >= *beta {
            return Ok(Certainty::Yes);
        }
        if *value.upper() < *beta {
            return Ok(Certainty::No);
        }
    }
    Ok(match account.single().and_then(|composition| exact::type_two(composition, alpha)) {
        Some(value) if value >= *beta => Certainty::Yes,
        Some(_) => Certainty::No,
        None => Certainty::Undecided,
    })
}

/// The point of the profile whose line 1 - delta - exp(epsilon) alpha supports the trade-off function of continuous Gaussian noise at (alpha, beta): an
/// approximation in doubles.
///
/// With z = Phi^-1(1 - alpha) and mu = z - Phi^-1(beta) the slope there is -exp(z mu - mu^2 / 2) (Dong, Roth & Su 2022, Section 2.2). As the function
/// is its own inverse, alpha is taken as the smaller of the two errors, so that epsilon >= 0.
pub(crate) fn tangent(alpha: &Rational, beta: &Rational) -> Result<(Enclosure, Delta)> {
    let (alpha, beta) = if alpha <= beta { (alpha, beta) } else { (beta, alpha) };
    let z = -quantile_approx(alpha.to_f64());
    // By the complement: an error close to 1 has no double beside 1.
    let power = Rational::from(1 - beta).to_f64();
    let mu = z + quantile_approx(power);
    let epsilon = (z * mu - mu * mu / 2.0).max(0.0);
    let delta = (power - libm::exp(epsilon) * alpha.to_f64()).clamp(1e-300, 0.999_999);
    Ok((Enclosure::double(epsilon, 64), Delta::new(rational::from_f64(delta)?)?))
}

/// The variance proxies of the Gaussian noise of a composition, each once, in increasing order. An error if there is no such noise.
pub fn variances(composition: &Composition) -> Result<Vec<Rational>> {
    let sigma2 = |law: &Law| match law {
        Law::SampledGaussian { sigma2, .. } => Some(sigma2.clone()),
        other => other.sigma2().cloned(),
    };
    let mut all: Vec<Rational> = composition.counts().iter().filter_map(|counts| sigma2(&counts.law)).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { Err(without_sigma2()) } else { Ok(all) }
}

/// The smallest of them.
fn smallest_sigma2(composition: &Composition) -> Result<Rational> {
    Ok(variances(composition)?.swap_remove(0))
}

fn without_sigma2() -> Error {
    Error::unsuitable(
        "noise other than Gaussian has no sigma2 to calibrate: calibrate Gaussian noise, or find a common factor on all noise",
    )
}

/// The least and the greatest factor for which all noise stays in the range with an account.
fn range_of_factors(composition: &Composition) -> Option<Range> {
    let all = composition.counts().iter().map(|counts| counts.law.factors());
    all.reduce(|one, other| Range { least: one.least.max(other.least), most: one.most.min(other.most) })
}

/// The grid of multiples of `unit` on which all noise stays in the range with an account. An error for noise without a scale, and if the grid has no
/// point.
fn points(whole: &Composition, unit: &Rational, decimals: u32) -> Result<Multiples> {
    if let Some(counts) = whole.counts().iter().find(|counts| !counts.law.has_scale()) {
        counts.with_noise_times(&Rational::from(2))?;
    }
    let Range { least, most } = range_of_factors(whole).ok_or(Error::EmptyComposition)?;
    let grid = Multiples { decimals, least: least * unit, most: most * unit };
    if grid.most < Rational::from((1, Integer::from(10).pow(decimals))) {
        let why = "the grid has no point on which every sigma2 is at most 1e12: use more decimals than";
        return Err(Error::unsuitable(format!("{why} {decimals}")));
    }
    Ok(grid)
}

/// The least noise of a grid with which a composition keeps a promise, proven from both sides.
///
/// An error if no noise of the grid was found that keeps the promise, if the grid has no point in the range with an account, or if the curves of a grid
/// point touch within the range of delta.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::prelude::*;
///
/// let counts = Composition::new([Counts::discrete_gaussian("5", 10, 1)?])?;
/// let promise = Promise::Epsilon { delta: "1e-9".parse()?, epsilon: "4".parse()? };
/// let least = calibrate(&counts, &promise, Grid::sigma2(2))?;
/// assert!(least.before.is_some());
/// # Ok::<(), dp_assay::Error>(())
/// ```
pub fn calibrate(composition: &Composition, promise: &Promise, grid: Grid) -> Result<Calibrated<Composition>> {
    calibrate_worst(composition, composition, promise, grid)
}

/// The least noise of a grid with which the worst case over several compositions keeps a promise, as that over paths of blocks. `whole` is the composition
/// of all counts of which the account takes the worst case: its variances define the grid.
///
/// Only the two proofs matter for correctness. The account's representative at the promised epsilon and the start of the search are
/// guesses, and a wrong guess only costs time. An error if no noise of the grid was found that keeps the promise, if the grid has no point in the range
/// with an account, or if the curves of a grid point touch within the range of delta.
pub fn calibrate_worst<A: Account>(
    account: &A,
    whole: &Composition,
    promise: &Promise,
    grid: Grid,
) -> Result<Calibrated<A>> {
    if let (Promise::ZcdpEpsilon { .. } | Promise::ZcdpCurve { .. }, Some(_)) = (promise, account.infinite_loss()) {
        let why = "a promise by rho is about losses that are finite, and some outputs here have an infinite loss: give an epsilon";
        return Err(Error::unsuitable(why));
    }
    let unit = match grid.of {
        GridOf::Factor => Rational::from(1),
        GridOf::SmallestSigma2 => smallest_sigma2(whole)?,
    };
    let points = points(whole, &unit, grid.decimals)?;
    let factor = |point: &Rational| Rational::from(point / &unit);
    let family = |point: &Rational| account.with_noise_times(&factor(point));
    let (target, delta) = promise.point(account)?;
    let near = target.lower_rational().ok_or(Error::Unbounded { what: "the target epsilon" })?.max(Rational::new());
    let representative = account.representative(&Epsilon::new(near)?)?;
    let range = (points.least.to_f64() * 1.01, unit.to_f64() * 0.87, points.most.to_f64() * 0.99);
    // If doubles give no starting point, the search starts from the noise before calibration.
    let guess = calibrate::guess(|point| representative.with_noise_times(&factor(point)), &target, &delta, range)
        .unwrap_or(unit.to_f64());
    let keeps = |point: &Rational| match promise.kept_by(&family(point)?, account)? {
        Certainty::Yes => Ok(true),
        Certainty::No => Ok(false),
        Certainty::Undecided => Err(promise.undecided(&target)),
    };
    let (least, steady) = match promise {
        Promise::Outputs { .. } => one_by_one(&points, guess, &family, &keeps, (&target, &delta))?,
        Promise::Epsilon { .. } | Promise::Known { .. } | Promise::ZcdpEpsilon { .. } | Promise::OneWay { .. } => {
            let found = points.least_where(guess, &keeps)?;
            let below = |least: &Least| stretches::below(&least.value, &points, family, (&target, &delta), keeps);
            (found.as_ref().map(below).transpose()?.flatten().or(found), None)
        }
        Promise::Tradeoff { .. } | Promise::ZcdpCurve { .. } => (points.least_where(guess, &keeps)?, None),
    };
    // The largest noise of the grid breaks the promise. With a bound or a threshold less noise may keep it.
    let least = match least {
        None if account.infinite_loss().is_some() => {
            let inside = inside::kept_within(&points, &family, |own| promise.missed_or_kept(own, account))?;
            inside.map(|inside| points.least_where(points.guess_at(&inside), &keeps)).transpose()?.flatten()
        }
        least => least,
    };
    let Some(Least { value, before }) = least else { return Err(promise.out_of_reach(&target, &delta)) };
    let calibrated = family(&value)?;
    let (before, steady) = (before.as_ref().map(factor), steady.as_ref().map(factor));
    let variances = variances(whole).unwrap_or_default();
    Ok(Calibrated { account: calibrated, factor: factor(&value), before, steady, variances })
}

/// The first point of the grid that keeps a promise about outputs, whose tails rise and fall with the noise, and the point from which on all keep it.
///
/// Noise with delta(l) above delta breaks the promise, because outputs of a loss above l are more probable than that: the search starts where this ends, and
/// goes up one point at a time, to noise whose rho alone keeps the promise. Beyond some number of points it is given up: then the point is any that keeps the
/// promise, and the one before does not.
fn one_by_one<A: Account>(
    grid: &Multiples,
    guess: f64,
    family: &impl Fn(&Rational) -> Result<A>,
    keeps: &impl Fn(&Rational) -> Result<bool>,
    (loss, delta): (&Enclosure, &Delta),
) -> Result<(Option<Least>, Option<Rational>)> {
    const MOST_POINTS: usize = 3000;
    let unit = Rational::from((1, Integer::from(10).pow(grid.decimals)));
    let may_keep = |point: &Rational| Ok(calibrate::meets(&family(point)?, loss, delta)? != Certainty::No);
    let Some(start) = grid.least_where(guess, may_keep)? else { return Ok((None, None)) };
    let low = loss.lower_rational().ok_or(Error::Unbounded { what: "the target loss" })?;
    // P[L > l] <= exp(-(l - rho)^2 / (4 rho)) for l > rho, which falls with the noise.
    let is_kept_by_rho = |point: &Rational| -> Result<bool> {
        let account = family(point)?;
        Ok(account.infinite_loss().is_none() && *conversions::zcdp_epsilon(&account.rho(), delta, 20).upper() <= low)
    };
    let (mut first, mut last_broken) = (None, start.before.clone());
    let mut point = start.value;
    for _ in 0..MOST_POINTS {
        if point > grid.most {
            return Ok((first.map(|value: Rational| least_at(value, &unit, grid)), None));
        }
        if is_kept_by_rho(&point)? {
            let value = first.unwrap_or_else(|| point.clone());
            let steady =
                last_broken.map_or_else(|| value.clone(), |last| Rational::from(&last + &unit).max(value.clone()));
            return Ok((Some(least_at(value, &unit, grid)), Some(steady)));
        }
        match keeps(&point)? {
            true => first = first.or_else(|| Some(point.clone())),
            false => last_broken = Some(point.clone()),
        }
        point += &unit;
    }
    match first {
        Some(value) => Ok((Some(least_at(value, &unit, grid)), None)),
        None => Ok((grid.least_where(point.to_f64(), keeps)?, None)),
    }
}

/// A point before which none keeps the promise as far as was searched.
fn least_at(value: Rational, unit: &Rational, grid: &Multiples) -> Least {
    let before = Rational::from(&value - unit);
    Least { before: (before >= grid.least && before > 0).then_some(before), value }
}
