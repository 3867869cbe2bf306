//! Parts of the error budget of Section A.6 beyond those of the rule itself: E0, E1 as printed, and the sieve of D.3.

use rug::{Integer, Rational, ops::Pow};

use super::rule::{L, Sum, groups, threshold, whole_above};
use crate::{
    error::Result,
    numeric::{Certainty, Enclosure, parallel},
    release::Release,
    replication::{
        boole::{Boole, SieveStep, Term},
        residual::{self, density},
        verdict::Computed,
    },
};

/// Bits of the bounds here.
const BITS: u32 = 120;
/// The decimal places of residuals in error budgets.
pub(super) const RESIDUAL_DIGITS: u32 = 130;

/// E^(0)_0 + E^(0)_1 + E^(0)_2 of Proposition A.12 with Appendix C's residuals; sigma2 rounded to `decimals`.
pub(super) fn approximation_of_groups(release: &Release, decimals: Option<u32>) -> Result<Enclosure> {
    let count = groups(release)?.len() as f64;
    let tails = Enclosure::double(-72.0, BITS).exp().mul(&Enclosure::double(2.0 * count, BITS));
    Ok(approximation_by_residuals(release, decimals)?.add(&tails))
}

/// E^(0)_2 alone.
pub(super) fn approximation_by_residuals(release: &Release, decimals: Option<u32>) -> Result<Enclosure> {
    let mut groups = groups(release)?;
    if let Some(decimals) = decimals {
        let scale = Integer::from(10).pow(decimals);
        groups.iter_mut().for_each(|group| group.0 = Rational::from(&group.0 * &scale).round() / &scale);
    }
    let number = |value: f64| Enclosure::double(value, BITS);
    let root = |square: Rational| Enclosure::rational(&square, BITS).sqrt();
    let width = |group: &(Rational, u64, Rational)| root(Rational::from(&group.0 * group.1));
    let residual = |(sigma2, copies, _): &(Rational, u64, Rational)| residual::bound(sigma2, *copies, RESIDUAL_DIGITS);
    let residuals = parallel::try_map(&groups, residual)?;
    // c_j <= 1 / (sqrt(2 pi) B_j) + r_j and b_j <= 1 / (sqrt(2 pi) B_j)
    let two_pi = Enclosure::pi(BITS).mul(&number(2.0)).sqrt();
    let flat: Vec<Enclosure> = groups.iter().map(|group| two_pi.mul(&width(group)).recip()).collect();
    let windows = groups.iter().fold(number(1.0), |product, group| product.mul(&number(24.0)).mul(&width(group)));
    let mut sum = number(0.0);
    for (i, residual) in residuals.iter().enumerate() {
        let mut product = residual.clone();
        for (j, flat) in flat.iter().enumerate().filter(|(j, _)| *j != i) {
            product = product.mul(&if j < i { flat.add(&residuals[j]) } else { flat.clone() });
        }
        sum = sum.add(&product);
    }
    Ok(windows.mul(&sum))
}

/// E^(1): the sum over all groups of the measure beyond six times the threshold, or only the largest group's part.
pub(super) fn beyond_six_times(release: &Release, epsilon: &Rational, largest: bool) -> Result<Enclosure> {
    let parts = beyond_six_times_each(release, epsilon)?;
    let zero = Enclosure::double(0.0, BITS);
    Ok(parts.iter().fold(zero, |sum, part| if largest { sum.max(part) } else { sum.add(part) }))
}

/// nu(X_i > 6 t_epsilon / (k a_i)) for every group.
fn beyond_six_times_each(release: &Release, epsilon: &Rational) -> Result<Vec<Enclosure>> {
    let groups = groups(release)?;
    let t = threshold(release, epsilon, false) / L;
    let mut parts = Vec::new();
    for (sigma2, copies, share) in &groups {
        let mut sum = Enclosure::double(0.0, BITS);
        let from = Rational::from(&t * 6_u32) / (Rational::from(share * groups.len() as u64));
        let from = whole_above(&from)?;
        let first = density(sigma2, *copies, from, 30);
        for x in from.. {
            let mass = density(sigma2, *copies, x, 30);
            sum = sum.add(&mass);
            // Later masses fall faster than from this one to the next, so by at least the ratio exp(-x / B^2).
            let fall = Rational::from(-x) / Rational::from(sigma2 * *copies);
            let ratio = Enclosure::rational(&fall, BITS).exp();
            let rest = mass.mul(&ratio).div(&Enclosure::double(1.0, BITS).sub(&ratio));
            // Computed in floats whose exponents do not underflow.
            if rest.upper().get_exp() < first.lower().get_exp().map(|exponent| exponent - 50) {
                parts.push(sum.add(&Enclosure::double(0.0, BITS).hull(&rest)));
                break;
            }
        }
    }
    Ok(parts)
}

/// Whether the factor of one level alone is below `level` on all of [from, to]: D.3, interval by interval.
pub(super) fn sieved_by(sum: &Sum, name: &str, from: &Rational, to: &Rational, level: &Rational) -> Result<Computed> {
    let sigma2 = sum.release.level(name)?.queries[0].sigma2()?.clone();
    let own: Vec<Term> = sum.terms.iter().filter(|term| term.sigma2 == sigma2).cloned().collect();
    // The reach must be within [0, 3 / weight] for the rule, not for the sieve.
    let boole = Boole::new(own, (0, 1), Rational::from((1, 100_000)), 4)?;
    Ok(Computed::Statement(nothing_left(&boole.sieve_between(from, to, level)?)))
}

/// Whether the characteristic function is below `level` from some t to pi.
pub(super) fn sieved_from(sum: &Sum, from: &Rational, level: &Rational) -> Result<Computed> {
    let boole = sum.first_term(&Rational::from(20), 40)?.with_reach(from.clone())?;
    Ok(Computed::Statement(nothing_left(&boole.sieve(level)?)))
}

/// Yes if no part remains; on remaining parts the function may still be below the level.
fn nothing_left(steps: &[SieveStep]) -> Certainty {
    match steps.last() {
        Some(step) if step.left.is_empty() => Certainty::Yes,
        _ => Certainty::Undecided,
    }
}
