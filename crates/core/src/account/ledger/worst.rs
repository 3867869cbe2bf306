//! The worst of several accounts: ways that are composed, those that no other one contains, and what bounds all of them.

use std::collections::BTreeMap;

use crate::{
    account::{
        Composition, conversions,
        paths::{Whole, WorstPath},
        profile::Account,
    },
    error::{Error, Result},
    law::Law,
    loss::{
        answer::Answer,
        family::Units,
        infinite::{InfiniteLoss, Target},
        parameter::{Delta, Epsilon, Rho},
    },
    numeric::{Certainty, Enclosure},
};

/// Whether an account has delta(epsilon) <= delta, at exactly this epsilon.
pub(super) fn has_delta(account: &Whole, epsilon: &Epsilon, delta: &Delta) -> Result<Certainty> {
    let evaluator = account.evaluator();
    for digits in [4, 10, 20, 40] {
        match evaluator.hockey_stick(epsilon, digits)?.value.at_most(delta) {
            Certainty::Undecided => {}
            decided => return Ok(decided),
        }
    }
    Ok(Certainty::Undecided)
}

/// Whether every loss of an account is bounded.
pub(super) fn is_bounded(account: &Whole) -> bool {
    match account {
        Whole::Composition(one) => one.pure_epsilon().is_some(),
        Whole::WorstPath(worst) => worst.paths().iter().chain(worst.beside()).all(|path| path.pure_epsilon().is_some()),
        // Known by a bound that has no largest loss.
        Whole::ManyWays(_) => false,
    }
}

/// The worst of all pairs of ways with what a change changes as a whole, where one contour serves all pairs; `None` elsewhere.
pub(super) fn beside(ways: &[Composition], change: &Composition) -> Result<Option<WorstPath>> {
    // Losses on no common lattice are long lists at every node: with them pairs are answered one by one.
    if change.has_rounded_losses() || !ways.iter().chain([change]).all(Composition::is_symmetric) {
        return Ok(None);
    }
    let infinite = ways.first().and_then(Account::infinite_loss);
    if ways.iter().any(|way| way.infinite_loss() != infinite) {
        return Ok(None);
    }
    Ok(Some(WorstPath::pairs_beside(ways.to_vec(), change.clone())?).filter(WorstPath::shares_a_contour))
}

/// An answer that is no wider than other upper bounds on the same epsilon, of the worst of the same accounts.
pub(super) fn within<'e>(answer: Answer, bounds: impl Iterator<Item = &'e Enclosure>) -> Result<Answer> {
    let mut answer = answer;
    for bound in bounds {
        if bound.upper() < answer.value.lower() {
            return Err(Error::Contradiction { what: "the epsilon of a ledger" });
        }
        // epsilon <= bound.upper().
        if bound.upper() < answer.value.upper() {
            answer.value = Enclosure::new(answer.value.lower().clone(), bound.upper().clone());
        }
    }
    Ok(answer)
}

/// The larger of two answers: its enclosure holds the larger of both truths.
pub(super) fn larger(one: Answer, other: Answer) -> Answer {
    let (value, met) = (one.value.max(&other.value), one.met && other.met);
    let proof = if one.value.upper() >= other.value.upper() { one.proof } else { other.proof };
    Answer { value, proof, met }
}

/// Each way composed with each other way; all of the second if there is nothing before.
pub(super) fn together(before: Vec<Composition>, ways: &[Composition]) -> Result<Vec<Composition>> {
    match (before.is_empty(), ways.is_empty()) {
        (true, _) => Ok(ways.to_vec()),
        (false, true) => Ok(before),
        (false, false) => before.iter().flat_map(|before| ways.iter().map(|way| before.compose(way))).collect(),
    }
}

/// The number of counts of each law and shift, with rows that move freely or not.
type Numbers = BTreeMap<(Law, u64, bool), u64>;

/// The ways that are contained in no other one.
pub(super) fn largest(ways: Vec<Composition>) -> Vec<Composition> {
    let numbers = |way: &Composition| {
        let mut numbers = Numbers::new();
        for counts in way.each_counts() {
            let number = numbers.entry((counts.law.clone(), counts.shift, counts.free_rows)).or_default();
            *number = number.saturating_add(counts.count);
        }
        numbers
    };
    let mut all: Vec<_> = ways.into_iter().map(|way| (numbers(&way), way)).collect();
    let within = |small: &Numbers, large: &Numbers| {
        small.iter().all(|(law, number)| large.get(law).is_some_and(|larger| larger >= number))
    };
    let mut kept: Vec<(Numbers, Composition)> = Vec::new();
    for (own, way) in all.drain(..) {
        if kept.iter().any(|(other, _)| within(&own, other)) {
            continue;
        }
        kept.retain(|(other, _)| !within(other, &own));
        kept.push((own, way));
    }
    kept.into_iter().map(|(_, way)| way).collect()
}

/// Accounts of which the worst is that of all ways, each single. Those that differ in the probability of an infinite loss, and those of pairs that are not
/// symmetric, are accounts of their own.
pub(super) fn classes(ways: Vec<Composition>) -> Result<Vec<Whole>> {
    let mut classes: Vec<Vec<Composition>> = Vec::new();
    for way in ways {
        let like = |class: &&mut Vec<Composition>| {
            let first = class.first().filter(|first| first.is_symmetric() && way.is_symmetric());
            first.is_some_and(|first| first.infinite_loss() == way.infinite_loss())
        };
        match classes.iter_mut().find(like) {
            Some(class) => class.push(way),
            None => classes.push(vec![way]),
        }
    }
    let account = |mut class: Vec<Composition>| match class.len() {
        1 => Ok(class.pop().map(Whole::Composition)),
        _ => WorstPath::new(class, Units::Single).map(|worst| Some(Whole::WorstPath(worst))),
    };
    classes.into_iter().filter_map(|class| account(class).transpose()).collect()
}

/// The epsilon that rho implies by the best order, beside the infinite losses of the worst of some accounts.
pub(super) fn zcdp_epsilon(accounts: &[Whole], rho: &Rho, delta: &Delta, digits: u32) -> Result<Enclosure> {
    // A bound may be negative at a large delta; then epsilon is 0.
    let at = |delta: &Delta| {
        conversions::zcdp_epsilon_best_order(rho, delta).map(|epsilon| epsilon.clamp(0.0, f64::INFINITY))
    };
    let beside = |infinite: InfiniteLoss| match infinite.target(delta, digits) {
        // Outputs of infinite loss are more probable than delta.
        Err(Error::InfiniteLoss { .. }) => Ok(Enclosure::double(f64::INFINITY, 64)),
        Err(error) => Err(error),
        Ok(Target::At(delta)) => at(&delta),
        Ok(Target::Between { least, most }) => Ok(at(&most)?.hull(&at(&least)?)),
        // Losses that are finite have no largest one that rho would give.
        Ok(Target::Zero) => Ok(Enclosure::double(f64::INFINITY, 64)),
    };
    let mut worst: Option<Enclosure> = None;
    for infinite in accounts.iter().filter_map(Account::infinite_loss) {
        let own = beside(infinite)?;
        worst = Some(match worst {
            None => own,
            Some(before) => before.max(&own),
        });
    }
    worst.map_or_else(|| Ok(conversions::zcdp_epsilon_optimal(rho, delta)?.epsilon), Ok)
}
