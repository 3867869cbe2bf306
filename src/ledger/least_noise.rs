//! The least noise of a release that keeps a promise beside what a ledger has spent, where the release has one number to search.

use rug::Rational;

use super::{population::Population, promise::Basis, request::Limit};
use crate::{
    account::{
        Whole,
        calibrate::Multiples,
        ledger::Ledger,
        promise::Promise,
        sought::{Found, Outcome, Question},
    },
    error::{Error, Result},
    law::Law,
    numeric::Certainty,
};

/// The largest number of ways of a record, single or in pairs, that are searched: each step of the search composes all of them.
const MOST_WAYS: usize = 2_000;

/// The number of a release with which everything keeps a promise.
#[derive(Clone, Debug)]
pub struct LeastNoise {
    /// The name of the number, as in JSON: "sigma2", "epsilon", "scale".
    pub number: &'static str,
    /// The number of the release as it is.
    pub present: Rational,
    /// The number that spends most of the promise; `None` if none was found.
    pub value: Option<Rational>,
    /// Its neighbor on the grid on the less private side.
    pub not_enough: Option<Rational>,
    /// Whether that neighbor breaks the promise by the account; without a number, whether it is proven that no number of the grid keeps it.
    pub breaks: bool,
    /// Whether what was spent before breaks the promise, so that there is no number.
    pub is_spent: bool,
    /// Whether numbers beyond one that does not keep the promise may keep it: of discrete Gaussian noise, and of noise with a bound.
    pub may_keep_beyond: bool,
    /// The decimals of the grid.
    pub decimals: u32,
    /// Why everything may be more private than the account, which then proves neither.
    pub may_be_more_private: Option<&'static str>,
}

/// The least noise of the last entry of a population, of a grid: `None` where its noise has no single number, or is searched in too many ways.
pub(super) fn of_last(population: &Population, limit: &Limit, is_by_rho: bool) -> Result<Option<LeastNoise>> {
    let ledger = population.ledger()?;
    let Some(law) = ledger.law_of_last() else { return Ok(None) };
    let Some(question) = question(&law)? else { return Ok(None) };
    let (number, present) = (question.number.name, law.parameter().clone());
    let may_be_more_private = population.may_be_more_private(&ledger);
    let may_keep_beyond = !is_by_rho && !question.is_monotone(&law);
    let nothing = |breaks| LeastNoise {
        number,
        is_spent: false,
        may_keep_beyond,
        decimals: question.number.decimals,
        present: present.clone(),
        value: None,
        not_enough: None,
        breaks,
        may_be_more_private,
    };
    if spends_all(population, limit, is_by_rho)? {
        return Ok(Some(LeastNoise { is_spent: true, ..nothing(true) }));
    }
    let with = |value: &Rational| ledger.with_law_of_last(&law.with_parameter(value.clone()));
    if is_by_rho {
        return by_rho(&with, (&law, &question), limit, nothing(false)).map(Some);
    }
    match ledger.whole() {
        Ok(whole) if is_searched(&whole) => {}
        Err(error) if error.is_fatal() => return Err(error),
        _ => return Ok(None),
    }
    let promise = Promise::Epsilon { delta: limit.delta.clone(), epsilon: limit.epsilon.clone() };
    let family = |value: &Rational| with(value)?.whole();
    Ok(Some(match question.answer(family, &promise, question.number.decimals)? {
        Outcome::Found(Found { value, not_enough, is_neighbor_disproved, .. }) => {
            LeastNoise { value: Some(value), not_enough, breaks: is_neighbor_disproved, ..nothing(false) }
        }
        Outcome::None { is_proven, .. } => nothing(is_proven),
    }))
}

fn is_searched(whole: &Whole) -> bool {
    match whole {
        Whole::Composition(_) => true,
        Whole::WorstPath(worst) => worst.count() <= MOST_WAYS,
        Whole::ManyWays(_) => false,
    }
}

/// Whether the account of everything but the last entry breaks the promise: so does that of everything with it, whatever its noise.
fn spends_all(population: &Population, limit: &Limit, is_by_rho: bool) -> Result<bool> {
    let mut before = population.clone();
    before.entries.pop();
    if before.entries.is_empty() {
        return Ok(false);
    }
    let before = before.ledger()?;
    match is_by_rho {
        true => Ok(breaks(&before, limit)?),
        false => Ok(before.keeps(&limit.epsilon, &limit.delta)? == Certainty::No),
    }
}

/// Whether the sums are proven to give more than the promise.
fn breaks(ledger: &Ledger, limit: &Limit) -> Result<bool> {
    Ok(kept_by_sums(ledger, limit)? == Certainty::No)
}

/// Whether the sums that decide keep the promise.
fn kept_by_sums(ledger: &Ledger, limit: &Limit) -> Result<Certainty> {
    match limit.basis {
        Basis::SumOfRho => ledger.adaptive_keeps(&limit.epsilon, &limit.delta, limit.digits),
        Basis::Composition => ledger.rho_keeps(&limit.epsilon, &limit.delta, limit.digits),
    }
}

/// The number by the sum of rho, which falls with more noise.
fn by_rho(
    with: &impl Fn(&Rational) -> Result<Ledger>,
    (law, question): (&Law, &Question),
    limit: &Limit,
    nothing: LeastNoise,
) -> Result<LeastNoise> {
    let (number, present) = (question.number, &nothing.present);
    let decimals = question.decimals(None)?;
    let range = law.factors();
    let (least, most) = match number.is_more_private_above {
        true => (Rational::from(present * &range.least), Rational::from(present * &range.most)),
        false => (Rational::from(present / &range.most), Rational::from(present / &range.least)),
    };
    let grid = Multiples { decimals, least, most };
    let keeps = |value: &Rational| Ok::<_, Error>(kept_by_sums(&with(value)?, limit)? == Certainty::Yes);
    let found = match number.is_more_private_above {
        true => grid.least_where(present.to_f64(), keeps)?.map(|least| (least.value, least.before)),
        false => match grid.least_where(present.to_f64(), |value| Ok(!keeps(value)?))? {
            Some(least) => least.before.map(|before| (before, Some(least.value))),
            None => Some((grid.most.clone(), None)),
        },
    };
    let Some((value, not_enough)) = found else { return Ok(nothing) };
    let breaks = not_enough.as_ref().map_or(Ok(false), |other| breaks(&with(other)?, limit))?;
    Ok(LeastNoise { value: Some(value), not_enough, breaks, ..nothing })
}

/// The first parameter of a law as the number that is sought; `None` for tables, pairs, cell keys and keys with a threshold.
fn question(law: &Law) -> Result<Option<Question>> {
    let (key, text) = match law {
        Law::SampledGaussian { rate, .. } => ("sampled", format!("{rate}:gaussian:?")),
        _ if !law.has_scale() || law.is_listed() => return Ok(None),
        _ => {
            let others = law.other_parameters().into_iter().map(|(_, value)| format!(":{value}"));
            (law.key(), format!("?{}", others.collect::<String>()))
        }
    };
    if matches!(law, Law::UnknownKey(_)) {
        return Ok(None);
    }
    Question::of_text(key, &text, false)
}
