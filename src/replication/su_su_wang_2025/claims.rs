//! Claims that only Su, Su & Wang (2025) make: their residual, their error budget, and statements of their appendices.

use std::sync::OnceLock;

use rug::{Float, Rational};

use super::{
    budget::{
        RESIDUAL_DIGITS, approximation_by_residuals, approximation_of_groups, beyond_six_times, sieved_by, sieved_from,
    },
    curves,
    rule::{Sum, groups, threshold},
    simulated,
};
use crate::{
    account::{Account, Composition, Counts, conversions::zcdp_epsilon},
    error::{Error, Result},
    noise::{DiscreteGaussian, published_error::absolute_error},
    numeric::{Certainty, Enclosure, parallel},
    release::Release,
    replication::{
        boole::Boole,
        claims::{Context, claims},
        closed_forms::{SumOfCopies, two_fold_total_as_printed},
        residual::{self, Residual, approximation},
        verdict::{Computed, percent_below},
    },
};

/// Bits of the bounds here.
const BITS: u32 = 120;
const DIGITS: u32 = 12;
/// The release of the paper.
const PAPER: &str = "su-su-wang-2025";

claims! {
    /// The claims. A level is a geolevel, `sigma2` a variance proxy and `reduced` a smaller one, `epsilon` the one behind the threshold, and the residual is
    /// that of Theorem A.11, of the sum of this many copies.
    // sup over y of the residual; Appendix C's bound on it; one of the three parts of that bound, 1 to 3.
    "residual-supremum" (sigma2, copies) => Residual::new(sigma2, *copies, DIGITS)?.supremum;
    "residual-bound" (sigma2, copies) => Residual::new(sigma2, *copies, DIGITS)?.bound();
    "residual-omega" (sigma2, copies, index) => omega(Residual::new(sigma2, *copies, DIGITS)?, *index)?;
    // One of the two parts of Omega_2, 4 or 5, by its bound; Omega_5 itself, the integral.
    "residual-part" (sigma2, copies, index) => residual::part_of_omega_2(sigma2, *copies, *index, RESIDUAL_DIGITS)?;
    "residual-integral" (sigma2, copies) => residual::omega_5(sigma2, *copies, RESIDUAL_DIGITS)?;
    // Whether (A.8) holds at every level, at the exact epsilon of a delta: with the limits of the sums as (A.8) prints them, or those of Theorem A.11.
    "approximation-holds" (delta, as_printed) [sum] => approximation_holds(sum.release, delta, *as_printed)?;
    // The total of the masses of Theorem A.8 with the coefficients as printed.
    "two-fold-total" (sigma2) => two_fold_total_as_printed(sigma2, 30)?;
    // The ratio of the masses at n and 0 by (A.5) as printed, divided by the true ratio, for n copies.
    "sum-exponent" (sigma2, copies) => sum_exponent(sigma2, *copies)?;
    // The reduction of the expected squared or absolute error of a level's counts with less noise, in percent.
    "squared-error-reduction" (level: String, reduced) [sum] => {
        let [noise, less] = both(sum.release, level, reduced)?;
        percent_below(&less.variance(DIGITS + 5), &noise.variance(DIGITS + 5))
    };
    "absolute-error-reduction" (level: String, reduced) [sum] => {
        let [noise, less] = both(sum.release, level, reduced)?;
        percent_below(&absolute_error(&less, DIGITS + 5), &absolute_error(&noise, DIGITS + 5))
    };
    // The number of draws at which a printed reduction, of absolute or of squared errors, lies one standard deviation from the expected one.
    "draws-of-deviation" (level: String, reduced, printed, absolute) [sum] => {
        let [noise, less] = both(sum.release, level, reduced)?;
        simulated::draws_of_deviation([&noise, &less], printed, *absolute)?
    };
    // Whether the gain of a level, its zCDP epsilon minus the exact one, grows with delta along these; whether the gain grows with the number of counts
    // with the same noise. The gain is in percent or in nats.
    "gain-grows" (level: String, deltas: Vec<_>, percent) [sum] => {
        let composition = sum.release.composition(&[level], None)?;
        grows(deltas.iter().map(|delta| gain(&composition, delta, *percent)))?
    };
    "gain-grows-with-counts" (sigma2: Rational, counts: Vec<_>, delta, percent) => grows(counts.iter().map(|count| {
        let counts = Counts::discrete_gaussian(sigma2.clone(), *count, 1)?;
        gain(&Composition::new([counts])?, delta, *percent)
    }))?;
    // The error of replacing all masses by densities, Proposition A.12, and the part of it from the residuals, E2^(0); the variance proxies are exact
    // or rounded to these decimals.
    "budget-e0" (decimals) [sum] => approximation_of_groups(sum.release, *decimals)?;
    "budget-windows" (decimals) [sum] => approximation_by_residuals(sum.release, *decimals)?;
    // The measure beyond six times the threshold, Proposition A.13: the sum over all groups, or only the largest group's part.
    "budget-e1" (epsilon, largest: Option<bool>) [sum] => beyond_six_times(sum.release, epsilon, *largest == Some(true))?;
    // The bound on the integral beyond 1/100, Fact A.14.
    "budget-e2" (epsilon) [sum] =>
        Enclosure::new(Float::new(BITS), sum.first_term(epsilon, 40)?.budget()?.truncation);
    // The bound on the error of Boole's rule, Fact A.15.
    "budget-e3" (epsilon, panels) [sum] => end(sum.first_term(epsilon, *panels)?.budget()?.discretisation);
    // All errors of the first term: E0 + E1 + E2 + E3.
    "budget-total" (epsilon, panels, decimals) [sum] => {
        let rule = sum.first_term(epsilon, *panels)?.budget()?;
        let e0 = approximation_of_groups(sum.release, *decimals)?;
        let all = e0.add(&beyond_six_times(sum.release, epsilon, false)?);
        all.add(&end(rule.truncation)).add(&end(rule.discretisation))
    };
    // All errors of a sum from `first` to `last`: E0, the measure beyond, E2, E3.
    "sum-total" (first, last, panels) [sum] => {
        let rule = Boole::new(sum.terms.clone(), (*first, *last), Rational::from((1, 100)), *panels)?.budget()?;
        let all = approximation_of_groups(sum.release, None)?.add(&end(rule.beyond));
        all.add(&end(rule.truncation)).add(&end(rule.discretisation))
    };
    // The bounds of D.4: on an absolute moment of the sum, of an order from 1 to 6; on the sixth derivative, and pi times that.
    "moment" (order) [sum] => sum.first_term(&Rational::from(20), 40)?.moment(*order);
    "sixth-derivative" (epsilon) [sum] => sum.first_term(epsilon, 40)?.sixth_derivative();
    "sixth-derivative-sum" (epsilon) [sum] =>
        sum.first_term(epsilon, 40)?.sixth_derivative().mul(&Enclosure::pi(BITS));
    // Whether the characteristic function is below a level from some t to pi, and the factor of one geolevel alone on an interval.
    "sieved-from" (from, level) [sum] => sieved_from(sum, from, level)?;
    "sieved-by" (level_of: String, from, to, level) [sum] => sieved_by(sum, level_of, from, to, level)?;
    // `P[|S| > w B]` of the sum of copies.
    "two-sided-tail" (sigma2, copies, widths) => two_sided_tail(sigma2, *copies, *widths)?;
    // Whether each level, and all levels together, are within their own zCDP curve at every delta of a range.
    "own-within" (from, to) [sum] => curves::own_within(sum.release, from, to)?;
    // Whether levels with reduced noise are within the zCDP curve of their own noise, or beyond it, at every delta of a range.
    "reduced-within" (reduced: Vec<_>, from, to) [sum] => curves::reduced_within(sum.release, reduced, from, to)?;
    "reduced-beyond" (reduced: Vec<_>, from, to) [sum] => curves::reduced_beyond(sum.release, reduced, from, to)?;
    // The delta at which a level with reduced noise crosses the zCDP curve of its own noise: the crossing nearest to this delta.
    "reduced-crossing" (level: String, reduced, near) [sum] =>
        curves::crossing_of_reduced(sum.release, level, reduced, near)?;
    // Whether a level with its noise reduced by a percentage crosses the zCDP curve of its own noise on a range; whether all levels together are within
    // theirs.
    "scaled-crosses" (level: String, percent, from, to) [sum] =>
        curves::scaled_crosses(sum.release, level, percent, from, to)?;
    "whole-scaled-within" (percent, from, to) [sum] =>
        curves::whole_scaled_within(sum.release, percent, from, to)?;
    // exp(x), 1 / x, delta / exp(epsilon), 100 (1 - value / whole).
    "exponential" (x) => exact(x).exp();
    "reciprocal" (x) => exact(x).recip();
    "second-term-limit" (delta, epsilon) => exact(delta).div(&exact(epsilon).exp());
    "percent-below" (value, whole) => percent_below(&exact(value), &exact(whole));
    // 5 t_epsilon L, the number of cosines of the kernel.
    "kernel-terms" (epsilon) [sum] => threshold(sum.release, epsilon, false) * 5_u32;
    // Upper bound on the excess of a group's total measure over 1.
    "measure-excess" () [sum] => measure_excess(sum.release)?;
    // The share of the budget of a group of Table 3, from 1, in percent; its number of counts, or that of all groups; the sum over all counts of their
    // group's share.
    "share" (group) [sum] => group_of(sum.release, *group)?.2 * 100_u32;
    "group-copies" (group: Option<_>) [sum] => match group {
        Some(group) => group_of(sum.release, *group)?.1,
        None => groups(sum.release)?.iter().map(|group| group.1).sum(),
    };
    "shares-total" () [sum] =>
        groups(sum.release)?.iter().fold(Rational::new(), |sum, group| sum + Rational::from(&group.2 * group.1));
    "needs-data" (needed: String) => Computed::NeedsData(needed.clone());
}

/// The paper's sum. Its moments are computed once; [`prepare`] does so before threads need them.
fn context(_: &Context) -> Result<&'static Sum<'static>> {
    sum()
}

fn sum() -> Result<&'static Sum<'static>> {
    static RELEASE: OnceLock<Release> = OnceLock::new();
    static SUM: OnceLock<Sum> = OnceLock::new();
    if let Some(sum) = SUM.get() {
        return Ok(sum);
    }
    let release = Release::find(PAPER)?;
    let sum = Sum::of_release(RELEASE.get_or_init(|| release))?;
    Ok(SUM.get_or_init(|| sum))
}

/// Computes what the claims have in common.
pub(in crate::replication) fn prepare() -> Result<()> {
    sum().map(drop)
}

fn exact(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

/// A bound as a number.
fn end(bound: Float) -> Enclosure {
    Enclosure::new(bound.clone(), bound)
}

/// A group of Table 3: its variance proxy, number of counts and share. The paper lists the groups in the order of Table
/// 1.
fn group_of(release: &Release, group: usize) -> Result<(Rational, u64, Rational)> {
    let groups = groups(release)?;
    let expected = format!("one of the groups 1 to {}", groups.len());
    let found = group.checked_sub(1).and_then(|place| groups.get(place)).cloned();
    found.ok_or_else(|| Error::out_of_range("group", group, &expected))
}

/// The largest excess over 1 of a group's measure of all integers. By Poisson summation it is twice the sum over k >= 1
/// of exp(-2 pi^2 n sigma2 k^2), whose later terms are at most the first times its geometric series.
fn measure_excess(release: &Release) -> Result<Enclosure> {
    let two_pi_squared = Enclosure::pi(BITS).mul(&Enclosure::pi(BITS)).mul(&Enclosure::double(-2.0, BITS));
    let (one, two) = (Enclosure::double(1.0, BITS), Enclosure::double(2.0, BITS));
    let excess = |(sigma2, copies, _): &(Rational, u64, Rational)| {
        let first = two_pi_squared.mul(&Enclosure::rational(&Rational::from(sigma2 * *copies), BITS)).exp();
        let least = first.mul(&two);
        least.hull(&least.div(&one.sub(&first)))
    };
    let all = groups(release)?.iter().map(excess).reduce(|most, one| most.max(&one));
    all.ok_or_else(|| Error::missing("the release has no group of counts"))
}

/// One of the three parts of Appendix C's bound.
fn omega(residual: Residual, index: u8) -> Result<Enclosure> {
    match index {
        1 => Ok(residual.omega_1),
        2 => Ok(residual.omega_2),
        3 => Ok(residual.omega_3),
        _ => Err(Error::out_of_range("index", index, "1, 2 or 3")),
    }
}

/// The difference between the zCDP epsilon and the exact one, in percent or in nats.
fn gain(composition: &Composition, delta: &Rational, percent: bool) -> Result<Enclosure> {
    let epsilon = composition.epsilon(delta, DIGITS)?.value;
    let bound = zcdp_epsilon(composition.rho(), &delta.try_into()?, DIGITS);
    Ok(if percent { percent_below(&epsilon, &bound) } else { bound.sub(&epsilon) })
}

/// Whether each number is below the next.
fn grows(values: impl Iterator<Item = Result<Enclosure>>) -> Result<Computed> {
    let values: Vec<Enclosure> = values.collect::<Result<_>>()?;
    Computed::all_hold(values.windows(2).map(|pair| Ok(pair[0].below(&pair[1]))))
}

/// The noise of a level, and the reduced noise.
fn both(release: &Release, level: &str, reduced: &Rational) -> Result<[DiscreteGaussian; 2]> {
    let own = release.level(level)?.queries[0].sigma2()?.clone();
    Ok([DiscreteGaussian::new(own)?, DiscreteGaussian::new(reduced.clone())?])
}

/// The ratio of the masses at n and 0 by (A.5) as printed, divided by the true ratio.
fn sum_exponent(sigma2: &Rational, copies: u64) -> Result<Enclosure> {
    let n = copies as i64;
    let sum = SumOfCopies::new(sigma2.clone(), copies, 30)?;
    let printed = Enclosure::rational(&(-Rational::from(n * n) / Rational::from(sigma2 * 2_u32)), BITS).exp();
    Ok(printed.div(&sum.mass(n).div(&sum.mass(0))))
}

/// `P[|S| > w B]` = 2 `P[S > w B]` of the sum of copies.
fn two_sided_tail(sigma2: &Rational, copies: u64, widths: u32) -> Result<Enclosure> {
    let sum = SumOfCopies::new(sigma2.clone(), copies, 20)?;
    let square = Rational::from(sigma2 * copies) * Rational::from(widths).square();
    let reach = square.floor().into_numer_denom().0.sqrt();
    let expected = "a multiple of the standard deviation within 2^63";
    let reach = reach.to_i64().ok_or_else(|| Error::out_of_range("widths", widths, expected))?;
    Ok(sum.above(reach).mul(&Enclosure::double(2.0, BITS)))
}

/// Whether (A.8) holds: |delta - approximation| <= the error, at every level, at the epsilon of the given delta.
fn approximation_holds(release: &Release, delta: &Rational, as_printed: bool) -> Result<Computed> {
    let verdicts = parallel::try_map(&release.levels, |level| {
        let composition = release.composition(&[&level.name], None)?;
        let (sigma2, copies) = (level.queries[0].sigma2()?.clone(), composition.counts().iter().map(|c| c.count).sum());
        let near = composition.epsilon(delta, DIGITS)?.value.approximate();
        let epsilon = Rational::from_f64(near).ok_or_else(|| {
            Error::unsuitable(format!("the level {} has no finite epsilon at this delta", level.name))
        })?;
        let bound = residual::bound(&sigma2, copies, RESIDUAL_DIGITS)?;
        let by_a8 = approximation(&sigma2, copies, &epsilon, &bound)?;
        let value = if as_printed { &by_a8.value_as_printed } else { &by_a8.value };
        let truth = composition.delta(&epsilon, 90)?.value;
        let difference = truth.sub(value);
        let size = difference.max(&difference.clone().negate());
        Ok(match (size.upper() <= by_a8.error.lower(), size.lower() > by_a8.error.upper()) {
            (true, _) => Certainty::Yes,
            (_, true) => Certainty::No,
            _ => Certainty::Undecided,
        })
    })?;
    Computed::all_hold(verdicts.into_iter().map(Ok))
}
