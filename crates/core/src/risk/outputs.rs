//! The posterior of single outputs, with few exceptions.
//!
//! The posterior odds after an output are the prior odds times the likelihood ratio exp(L). Gaussian noise leaves L unbounded, so no posterior below 1 holds for
//! every output. What can be said is which posterior outputs exceed with at most probability delta: from the tail of L over every change that a record can
//! make ([`account::outputs`](crate::account::outputs)). It says nothing about what is computed from the outputs; [`events`](super::events) does.
//!
//! `P[L > l]` is the larger of the two probabilities: `Q[L > l] = E_P[exp(-L); L > l]` is at most exp(-l) times it. delta(l) = E_P[(1 - exp(l - L))_+] is below it:
//! epsilon at delta bounds no posterior of outputs. A later point of the profile does, and so does rho.

use rug::{Float, Rational, float::Round};

use super::{bound::Bound, odds, posterior_at};
use crate::{
    account::{
        Account, Composition, Delta,
        compared::pure_epsilon,
        conversions,
        outputs::{Exceeded, changes, least_exceeded},
    },
    error::{Error, Result},
    numeric::{Enclosure, enclosure, rational},
};

/// A loss that the privacy loss exceeds with probability at most delta, whichever change a record makes, and whether or not it is there:
/// `P[L > epsilon] <= delta`, proven.
///
/// `counts` are those that a record can change; `None` where they are not the same for all records. If their tails can be computed for every change, the
/// result is the least. Otherwise it is the smallest of four bounds: the posterior after events, a later point of the profile, zCDP and the largest loss;
/// `bound` has those of this prior and delta; without it, the largest loss alone is one.
pub fn exceeded_epsilon(
    account: &impl Account,
    counts: Option<&Composition>,
    prior: &Rational,
    delta: &Delta,
    bound: Option<&Bound>,
) -> Result<Exceeded> {
    if let Some(changes) = counts.map(changes).transpose()?.flatten() {
        match least_exceeded(&changes, delta) {
            Err(Error::NoLattice) => {}
            Err(error) if error.is_beyond_reach() => {}
            other => return other,
        }
    }
    // No finite loss is larger than the largest. Where some losses are infinite, there is none of these for all.
    let largest = pure_epsilon(account)?.map(|largest| Float::with_val_round(128, &largest, Round::Up).0);
    // A profile and a rho that leave infinite losses out are those of other laws, of which neither is that of the outputs.
    let by_profile = match (bound, account.infinite_loss()) {
        (Some(bound), None) => Some(by_profile(account, delta, &bound.epsilon)?),
        _ => None,
    };
    let by_events = bound.map(|bound| by_events(prior, bound.posterior_of_events.value.upper()));
    let all = [largest, by_profile, by_events].into_iter().flatten();
    let none = Float::with_val(64, f64::INFINITY);
    let epsilon = all.fold(none, |least, next| if next < least { next } else { least });
    Ok(Exceeded { epsilon, by_tail: false, is_least: false })
}

/// An upper bound on it from the posterior after events of at least this probability. Where outputs of a posterior above t have a larger probability, they are
/// such an event, and the posterior after it is above t.
fn by_events(prior: &Rational, posterior: &Float) -> Float {
    if *posterior >= 1 {
        return Float::with_val(64, f64::INFINITY);
    }
    let bits = posterior.prec().max(128);
    let posterior = Enclosure::new(posterior.clone(), posterior.clone());
    let rest = Enclosure::double(1.0, bits).sub(&posterior);
    // The posterior odds are the prior odds times exp(epsilon).
    posterior.div(&rest).mul(&Enclosure::rational(&odds(prior).recip(), bits)).ln().upper().clone()
}

/// An upper bound on it from the profile and rho alone, where no loss is infinite; `exact` is the epsilon at delta.
fn by_profile(account: &impl Account, delta: &Delta, exact: &Enclosure) -> Result<Float> {
    // Markov's inequality for exp(s L) with ln E[exp(s L)] <= rho (s + s^2), at the best s:
    // P[L > epsilon] <= exp(-(epsilon - rho)^2 / (4 rho)) = delta.
    let rho = account.rho();
    let epsilon = conversions::zcdp_epsilon(&rho, delta, 20).upper().clone();
    // (1 - exp(e - epsilon)) P[L > epsilon] <= delta(e) for e < epsilon, so P is at most delta for epsilon = e - ln(1 -
    // delta(e) / delta). At delta(e) = delta / 4, about, both terms have similar size. There the profile falls by
    // exp(-c) per unit, c = (epsilon - rho) / (2 rho).
    let near = exact.upper().to_f64();
    let fall = ((near - rho.to_f64()) / (2.0 * rho.to_f64())).max(0.05);
    let later = rational::from_f64(near + libm::log(4_f64) / fall)?;
    let ratio = account.delta(&later, 6)?.value.div(&Enclosure::rational(delta, 64));
    if *ratio.upper() >= 1 {
        return Ok(epsilon);
    }
    let rest = Enclosure::double(1.0, 64).sub(&ratio);
    let by_later = Enclosure::rational(&later, 64).sub(&rest.ln());
    Ok(enclosure::smaller(&epsilon, by_later.upper()))
}

/// The posterior of this prior that goes with it, which outputs exceed with at most that probability: 1 for an infinite loss.
pub fn posterior_of_outputs(prior: &Rational, exceeded: &Exceeded) -> Enclosure {
    match exceeded.epsilon.is_finite() {
        true => posterior_at(prior, &Enclosure::new(exceeded.epsilon.clone(), exceeded.epsilon.clone())),
        false => Enclosure::double(1.0, 64),
    }
}

/// Encloses the least posterior of this prior that outputs exceed with at most that probability.
pub(super) fn least_posterior_of_outputs(prior: &Rational, exceeded: &Exceeded) -> Enclosure {
    let upper = posterior_of_outputs(prior, exceeded);
    // A loss that is not proven to be the least bounds it from above; the least is at least zero, which leaves the prior as it is.
    if exceeded.is_least { upper } else { Enclosure::rational(prior, upper.upper().prec()).hull(&upper) }
}
