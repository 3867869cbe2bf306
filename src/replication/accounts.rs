//! The privacy account of a release, as papers state it: epsilon, the gain over zCDP, and the noise that matches.

use crate::numeric::Certainty;
use rug::{Integer, Rational, ops::Pow};

use super::verdict::{Computed, percent_below};
use crate::{
    account::{Account, Composition, Counts, Delta, calibrate, conversions},
    error::Result,
    numeric::{
        Enclosure,
        root::{self, Decreasing},
    },
    release::Release,
};

/// The digits of exact values.
pub(super) const DIGITS: u32 = 12;

/// The grid on which matching noise is bracketed: this many decimals.
const MATCH_DECIMALS: u32 = 7;

/// The composition of a level, or of all.
fn part(release: &Release, level: Option<&String>) -> Result<Composition> {
    release.composition(level.as_slice(), None)
}

/// The exact epsilon of a level, or of all.
pub(super) fn epsilon(release: &Release, level: Option<&String>, delta: &str) -> Result<Enclosure> {
    Ok(part(release, level)?.epsilon(delta, DIGITS)?.value)
}

/// epsilon = rho + 2 sqrt(rho ln(1 / delta)) of a level, or of all.
pub(super) fn zcdp_epsilon(release: &Release, level: Option<&String>, delta: &str) -> Result<Enclosure> {
    Ok(conversions::zcdp_epsilon(part(release, level)?.rho(), &delta.parse()?, DIGITS))
}

/// By how many percent the exact epsilon of a level is below the zCDP one.
pub(super) fn epsilon_reduction(release: &Release, level: &str, delta: &str) -> Result<Enclosure> {
    let (composition, delta) = (release.composition(&[level], None)?, delta.parse::<Delta>()?);
    let exact = composition.epsilon(&delta, DIGITS)?.value;
    Ok(percent_below(&exact, &conversions::zcdp_epsilon(composition.rho(), &delta, DIGITS)))
}

/// Whether the exact epsilon is below the zCDP one at every delta, for each level and for all together.
pub(super) fn below_zcdp(release: &Release, deltas: &[String]) -> Result<Computed> {
    let mut parts: Vec<Composition> =
        release.levels.iter().map(|level| release.composition(&[&level.name], None)).collect::<Result<_>>()?;
    parts.push(release.composition(&[] as &[&str], None)?);
    let cases = parts.iter().flat_map(|composition| deltas.iter().map(move |delta| (composition, delta)));
    Computed::all_hold(cases.map(|(composition, delta)| is_below_zcdp(composition, &delta.parse()?, DIGITS)))
}

/// Is the exact curve below the zCDP curve at this delta? Compares enclosures of both epsilons.
fn is_below_zcdp(composition: &Composition, delta: &Delta, digits: u32) -> Result<Certainty> {
    Ok(composition.epsilon(delta, digits)?.value.below(&conversions::zcdp_epsilon(composition.rho(), delta, digits)))
}

/// The epsilon by the optimal order that the rho of some levels and queries implies.
pub(super) fn optimal_order_epsilon(
    release: &Release,
    levels: Option<&[String]>,
    queries: Option<&[String]>,
    delta: &str,
) -> Result<Enclosure> {
    let rho = rho_of(release, levels, queries)?;
    Ok(conversions::zcdp_epsilon_optimal(&rho.try_into()?, &delta.parse()?)?.epsilon)
}

/// The rho of the queries of these names at the levels of these names.
fn rho_of(release: &Release, levels: Option<&[String]>, queries: Option<&[String]>) -> Result<Rational> {
    let mut rho = Rational::new();
    for name in levels.into_iter().flatten() {
        release.level(name)?;
    }
    let named = |names: Option<&[String]>, name: &String| names.is_none_or(|names| names.contains(name));
    for level in release.levels.iter().filter(|level| named(levels, &level.name)) {
        for query in level.queries.iter().filter(|query| named(queries, &query.name)) {
            rho += Rational::from(&query.rho * query.times);
        }
    }
    Ok(rho)
}

/// By how many percent the matching variance proxy of a level is below its own.
pub(super) fn noise_reduction(release: &Release, level: &str, delta: &Delta) -> Result<Enclosure> {
    let own = Enclosure::rational(&sigma2_of(release, level)?, 100);
    Ok(percent_below(&matched_sigma2(release, level, delta)?, &own))
}

/// The variance proxy of a level whose queries all have the same noise.
pub(super) fn sigma2_of(release: &Release, level: &str) -> Result<Rational> {
    Ok(release.level(level)?.queries[0].sigma2()?.clone())
}

/// The variance proxy at which the exact epsilon of a level meets the zCDP epsilon of its own noise.
pub(super) fn matched_sigma2(release: &Release, level: &str, delta: &Delta) -> Result<Enclosure> {
    let composition = release.composition(&[level], None)?;
    let target = conversions::zcdp_epsilon(composition.rho(), delta, 30);
    let count = composition.counts().iter().map(|counts| counts.count).sum();
    let family = |sigma2: &Rational| Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, 1)?]);
    let guess = sigma2_of(release, level)?.to_f64() * 0.83;
    Ok(bracket(calibrate::least_on_grid(family, &target, delta, MATCH_DECIMALS, guess)?))
}

/// 100 (1 - factor) for the least common factor of all variances that meets the zCDP epsilon of the whole.
pub(super) fn overall_reduction(release: &Release, delta: &Delta) -> Result<Enclosure> {
    let whole = release.composition(&[] as &[&str], None)?;
    let target = conversions::zcdp_epsilon(whole.rho(), delta, 30);
    let family = |factor: &Rational| scaled(&whole, factor);
    let factor = bracket(calibrate::least_on_grid(family, &target, delta, MATCH_DECIMALS, 0.88)?);
    Ok(percent_below(&factor, &Enclosure::double(1.0, 100)))
}

/// The same for the bound P[L > epsilon]: the factor is bracketed by the epsilons of one-term bounds.
pub(super) fn overall_reduction_one_term(
    release: &Release,
    delta: &Delta,
    target: Option<&Rational>,
) -> Result<Enclosure> {
    let whole = release.composition(&[] as &[&str], None)?;
    let target = target
        .map_or_else(|| conversions::zcdp_epsilon(whole.rho(), delta, 30), |target| Enclosure::rational(target, 100));
    let ceiling = target.upper().to_f64() * 2.0;
    let step = Rational::from((1, Integer::from(10).pow(5)));
    let (mut below, mut at) = (Rational::from((1, 2)), Rational::from(1));
    while Rational::from(&at - &below) > step {
        let middle = Rational::from(&at + &below) / 2_u32;
        let scaled = scaled(&whole, &middle)?;
        let profile = Decreasing {
            ln_approx: |epsilon: &Rational| Ok(one_term(&scaled, epsilon, 12)?.ln().approximate()),
            enclose: |epsilon: &Rational, digits| one_term(&scaled, epsilon, digits),
        };
        let epsilon = root::decreasing_root(&profile, delta, ceiling, 10)?.value;
        if epsilon.upper() <= target.lower() {
            at = middle;
        } else if epsilon.lower() > target.upper() {
            below = middle;
        } else {
            break;
        }
    }
    let factor = Enclosure::rational(&below, 100).hull(&Enclosure::rational(&at, 100));
    Ok(percent_below(&factor, &Enclosure::double(1.0, 100)))
}

/// P[L > epsilon], the first term of the privacy profile alone.
fn one_term(composition: &Composition, epsilon: &Rational, digits: u32) -> Result<Enclosure> {
    let loss = composition.loss();
    Ok(loss.evaluator().upper_tail(&loss.above(epsilon), digits)?.value)
}

/// The composition with all variances multiplied by a factor.
pub(super) fn scaled(composition: &Composition, factor: &Rational) -> Result<Composition> {
    let counts: Result<Vec<Counts>> =
        composition.counts().iter().map(|counts| counts.with_noise_times(factor)).collect();
    Composition::new(counts?)
}

/// Between the last value of the grid that fails and the first that is enough.
pub(super) fn bracket(least: calibrate::Least) -> Enclosure {
    let at = Enclosure::rational(&least.value, 100);
    least.before.map_or_else(|| at.clone(), |before| Enclosure::rational(&before, 100).hull(&at))
}
