//! What is known of a mechanism beside its account: where the account is an upper bound, the ends between which the mechanism's own numbers lie.

use rug::Rational;

use super::{
    account_claims::Question,
    verdict::{Bounded, Computed},
};
use crate::{
    account::{Account, Composition, Rho, conversions, paths::Whole},
    error::Result,
    law::Law,
    numeric::Enclosure,
    release::{Neighbors, subject::Resolved},
    risk::{bound, events},
};

/// A number that is computed of the account, or what is known of the mechanism's own: where the mechanism is known by an upper bound alone, its risk may be
/// smaller; and where there are several paths, the trade-off function is a convex hull that no test need attain.
pub(super) fn known(question: &Question, subject: &Resolved, value: Enclosure, digits: u32) -> Result<Computed> {
    let is_hull = matches!(&subject.whole, Whole::WorstPath(_));
    let may_be_less = subject.may_be_more_private().is_some();
    if let Question::Tradeoff(alpha) = question {
        let most = Rational::from(1 - alpha);
        return Ok(match (may_be_less, is_hull) {
            (true, _) => {
                let rest = subject.without_guarantees()?.map(|rest| rest.tradeoff(alpha, digits)).transpose()?;
                let rest = rest.and_then(|found| found.value.upper_rational());
                Computed::Bounded(Bounded::AtLeast { bound: value, most: rest.unwrap_or(most) })
            }
            (false, true) => Computed::Bounded(Bounded::AtLeast { bound: value, most }),
            (false, false) => Computed::Value(value),
        });
    }
    if is_reduction(question) {
        return Ok(reduction(question, subject, value));
    }
    if !may_be_less || matches!(question, Question::Sigma2) {
        return Ok(Computed::Value(value));
    }
    let trivial = match question {
        Question::CorrectDecision(prior) => prior.clone().max(Rational::from(1 - prior)),
        Question::Posterior(prior, _) => prior.clone(),
        _ => Rational::new(),
    };
    let rest = subject.without_guarantees()?;
    let least = rest.map(|rest| of_rest(question, &rest, subject.neighbors, digits)).transpose()?.flatten();
    let least = least.map_or_else(|| trivial.clone(), |least| least.max(trivial.clone()));
    Ok(Computed::Bounded(Bounded::AtMost { least, bound: value }))
}

/// The lower end of the same number of the mechanisms that are known: what is released beside them only adds to it, and may add nothing.
fn of_rest(question: &Question, rest: &Composition, neighbors: Neighbors, digits: u32) -> Result<Option<Rational>> {
    let value = match question {
        Question::Epsilon(delta) => rest.epsilon(delta, digits)?.value,
        Question::Delta(epsilon) => rest.delta(epsilon, digits)?.value,
        Question::RenyiEpsilon(delta) => conversions::renyi_epsilon(rest, delta)?.epsilon,
        Question::CorrectDecision(prior) => bound::most_correct(rest, prior, neighbors, digits)?.value,
        Question::Advantage => rest.delta(Rational::new(), digits)?.value,
        Question::Posterior(prior, delta) => events::posterior_of_events(rest, prior, delta, digits)?.value,
        _ => return Ok(None),
    };
    Ok(value.lower().to_rational())
}

/// Whether the question is how much less epsilon or noise suffices than zCDP gives, or at which noise.
fn is_reduction(question: &Question) -> bool {
    matches!(
        question,
        Question::EpsilonReduction(_)
            | Question::NoiseReduction(_)
            | Question::MatchedSigma2(_)
            | Question::OverallReduction(_)
            | Question::OverallReductionOneTerm(..)
    )
}

/// A reduction compares two bounds. Of a mechanism with less loss both fall, the one or the other by more, and only this stays: its epsilon is at most what its
/// rho gives, so that a reduction is from 0 to 100 percent, and the noise that matches is at most its own. Where only its rho is an upper bound, a smaller rho
/// makes the reduction smaller.
fn reduction(question: &Question, subject: &Resolved, value: Enclosure) -> Computed {
    let most = match question {
        Question::MatchedSigma2(_) => subject.queries.first().and_then(|one| one.counts.law.discrete_sigma2().cloned()),
        _ => Some(Rational::from(100)),
    };
    let least = Rational::new();
    let has_target = matches!(question, Question::OverallReductionOneTerm(_, Some(_)));
    match most {
        Some(most) if subject.may_be_more_private().is_some() => {
            Computed::Bounded(Bounded::OfAccount { least, value, most })
        }
        _ if has_target || has_exact_rho(subject) => Computed::Value(value),
        _ => Computed::Bounded(Bounded::AtMost { least, bound: value }),
    }
}

/// Whether rho is the mechanism's own, and not an upper bound: that of Gaussian noise, of which every order of Renyi divergence (of the discrete one, every
/// whole order) attains it.
fn has_exact_rho(subject: &Resolved) -> bool {
    let is_gaussian = |law: &Law| matches!(law, Law::DiscreteGaussian { .. } | Law::Gaussian { .. });
    subject.may_be_more_private().is_none() && subject.total.counts().iter().all(|counts| is_gaussian(&counts.law))
}

/// A lower bound on the mechanism's own rho, or zero where there is none above it; `None` where the rho of the account is its own.
pub(super) fn least_rho(subject: &Resolved) -> Result<Option<Rational>> {
    if has_exact_rho(subject) {
        return Ok(None);
    }
    let known = match (subject.may_be_more_private(), &subject.whole) {
        (None, Whole::Composition(whole)) => Some(whole.clone()),
        _ => subject.without_guarantees()?,
    };
    Ok(Some(known.map_or_else(Rational::new, |known| known.least_rho())))
}

/// What follows from the rho of a subject alone, between what a smaller rho gives and its own value.
pub(super) fn between(
    subject: Option<&Resolved>,
    value: Enclosure,
    of_rho: impl Fn(&Rho) -> Result<Enclosure>,
) -> Result<Computed> {
    let Some(least) = subject.map(least_rho).transpose()?.flatten() else { return Ok(Computed::Value(value)) };
    // Every conversion increases with rho.
    let least = match Rho::new(least) {
        Ok(least) => of_rho(&least)?.lower().to_rational().unwrap_or_default().max(Rational::new()),
        Err(_) => Rational::new(),
    };
    Ok(Computed::Bounded(Bounded::AtMost { least, bound: value }))
}
