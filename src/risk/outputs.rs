//! The posterior of single outputs, with few exceptions.
//!
//! The posterior odds after an output are the prior odds times the likelihood ratio exp(L). Gaussian noise leaves L unbounded, so no posterior below 1 holds for
//! every output. What can be said is which posterior outputs exceed with at most probability delta: from the tail of L over every change that a record can
//! make ([`account::outputs`](crate::account::outputs)). It says nothing about what is computed from the outputs; [`events`](super::events) does.
//!
//! `P[L > l]` is the larger of the two probabilities: `Q[L > l] = E_P[exp(-L); L > l]` is at most exp(-l) times it. delta(l) = E_P[(1 - exp(l - L))_+] is below it:
//! epsilon at delta bounds no posterior of outputs. A later point of the profile does, and so does rho.

use rug::{Float, Rational, float::Round};

use super::posterior_at;
use crate::{
    account::{
        Account, Composition, Delta,
        compared::pure_epsilon,
        conversions,
        outputs::{Exceeded, changes, least_exceeded},
    },
    error::{Error, Result},
    loss::{evaluator::Evaluator, infinite::Target},
    numeric::{Enclosure, enclosure, rational},
};

/// A loss that the privacy loss exceeds with probability at most delta, whichever change a record makes, and whether or not it is there:
/// `P[L > epsilon] <= delta`, proven.
///
/// `counts` are those that a record can change; `None` where they are not the same for all records. If their tails can be computed for every change, the
/// result is the least. Otherwise a later point of the profile gives a bound, and so do zCDP and the largest loss; `exact` is the epsilon at delta.
pub fn exceeded_epsilon(
    account: &impl Account,
    counts: Option<&Composition>,
    delta: &Delta,
    exact: &Enclosure,
) -> Result<Exceeded> {
    if let Some(changes) = counts.map(changes).transpose()?.flatten() {
        match least_exceeded(&changes, delta) {
            Err(Error::NoLattice) => {}
            Err(error) if error.is_beyond_reach() => {}
            other => return other,
        }
    }
    let exceeded = by_profile(account, delta, exact)?;
    // No finite loss is larger than the largest. Where some losses are infinite, there is none of these for all.
    let largest = pure_epsilon(account)?.map(|largest| Float::with_val_round(128, &largest, Round::Up).0);
    Ok(match largest {
        Some(largest) if largest < exceeded.epsilon => Exceeded { epsilon: largest, ..exceeded },
        _ => exceeded,
    })
}

/// An upper bound on it from the profile and rho alone.
fn by_profile(account: &impl Account, delta: &Delta, exact: &Enclosure) -> Result<Exceeded> {
    let bounded = |epsilon| Exceeded { epsilon, by_tail: false, is_least: false };
    // Given that no loss is infinite, the loss exceeds the result with at most the probability that is left of delta.
    let infinite = account.infinite_loss();
    let delta = &match infinite.as_ref().map(|infinite| infinite.target(delta, 12)).transpose()? {
        None => delta.clone(),
        Some(Target::At(delta) | Target::Between { least: delta, .. }) => delta,
        Some(Target::Zero) => return Ok(bounded(exact.upper().clone())),
    };
    // Markov's inequality for exp(s L) with ln E[exp(s L)] <= rho (s + s^2), at the best s:
    // P[L > epsilon] <= exp(-(epsilon - rho)^2 / (4 rho)) = delta.
    let rho = account.rho();
    let mut epsilon = conversions::zcdp_epsilon(&rho, delta, 20).upper().clone();
    // (1 - exp(e - epsilon)) P[L > epsilon] <= delta(e) for e < epsilon, so P is at most delta for epsilon = e - ln(1 -
    // delta(e) / delta). At delta(e) = delta / 4, about, both terms have similar size. There the profile falls by
    // exp(-c) per unit, c = (epsilon - rho) / (2 rho).
    let near = exact.upper().to_f64();
    let fall = ((near - rho.to_f64()) / (2.0 * rho.to_f64())).max(0.05);
    let later = rational::from_f64(near + 4_f64.ln() / fall)?;
    let at_later = match account.evaluator() {
        Evaluator::Infinite(finite, _) => finite.delta(&later, 6)?,
        _ => account.delta(&later, 6)?,
    };
    let ratio = at_later.value.div(&Enclosure::rational(delta, 64));
    if *ratio.upper() < 1 {
        let rest = Enclosure::double(1.0, 64).sub(&ratio);
        let by_profile = Enclosure::rational(&later, 64).sub(&rest.ln());
        epsilon = enclosure::smaller(&epsilon, by_profile.upper());
    }
    Ok(bounded(epsilon))
}

/// The posterior of this prior that goes with it: 1 for an infinite loss.
pub fn posterior_of_outputs(prior: &Rational, exceeded: &Exceeded) -> Enclosure {
    match exceeded.epsilon.is_finite() {
        true => posterior_at(prior, &Enclosure::new(exceeded.epsilon.clone(), exceeded.epsilon.clone())),
        false => Enclosure::double(1.0, 64),
    }
}
