//! The likelihood ratios of single outputs, over every change that a record can make.
//!
//! A record changes at most COUNT counts, each by at most SHIFT. Delta is largest where it changes all of them by all of that, for noise whose best tests are
//! thresholds. Tails of the privacy loss are not: 9 counts of discrete Laplace noise can have a larger one than 10. So every change is listed, each as a
//! composition of fewer counts with smaller shifts, and the outputs of one change are known by the tail of its loss on a lattice, or one by one.

use std::{cell::Cell, collections::BTreeMap};

use rug::{Float, Rational, float::Round};

use super::{Composition, Counts, Delta, conversions};
use crate::{
    error::{Error, Result},
    law::{Changes, Direction, Law},
    loss::infinite::Target,
    numeric::{Certainty, Enclosure, parallel, rational},
};

/// Changes are listed up to this number.
const MOST_CHANGES: usize = 250;
/// Outputs are listed up to this number of likelihood ratios.
const MOST_RATIOS: usize = 20_000;
/// Bits of a loss.
const BITS: u32 = 128;

/// A loss that outputs exceed with at most probability delta.
#[derive(Clone, Debug)]
pub struct Exceeded {
    /// The loss, in nats; infinite where outputs of more than that probability are impossible for the other neighbor.
    pub epsilon: Float,
    /// Whether it comes from the tails themselves; otherwise from the profile or zCDP.
    pub by_tail: bool,
    /// Whether it is proven that no smaller loss has the property, up to the rounding of a logarithm.
    pub is_least: bool,
}

/// Every change of the counts of a composition, but none at all; `None` where they are too many, or where the law of the outputs is not known or chosen by
/// the data.
pub fn changes(composition: &Composition) -> Result<Option<Vec<Composition>>> {
    let mut all: Vec<Vec<Counts>> = vec![Vec::new()];
    for counts in composition.counts() {
        let Some(own) = changes_of(counts)? else { return Ok(None) };
        if all.len().saturating_mul(own.len()) > MOST_CHANGES + 1 {
            return Ok(None);
        }
        all = all.iter().flat_map(|before| own.iter().map(move |next| [&before[..], &next[..]].concat())).collect();
    }
    let changed = all.into_iter().filter(|counts| !counts.is_empty());
    changed.map(Composition::new).collect::<Result<Vec<_>>>().map(Some)
}

/// The same for equal counts: every number of them that change by 1, every number by 2, up to the shift; none of them comes first.
fn changes_of(counts: &Counts) -> Result<Option<Vec<Vec<Counts>>>> {
    let is_known = match counts.law {
        Law::DiscreteGaussian { .. }
        | Law::DiscreteLaplace { .. }
        | Law::TruncatedLaplace { .. }
        | Law::TruncatedGaussian { .. }
        | Law::Staircase { .. }
        | Law::RandomizedResponse { .. }
        | Law::Table(_)
        | Law::Pair(_) => !counts.free_rows,
        _ => false,
    };
    if !is_known || counts.count.saturating_mul(counts.shift) > MOST_CHANGES as u64 {
        return Ok(None);
    }
    let shifts = match counts.changes {
        Changes::Exactly => counts.shift..=counts.shift,
        Changes::UpTo { one } if one >= counts.shift => 1..=counts.shift,
        // How a group shares out its changes is not listed.
        Changes::UpTo { .. } => return Ok(None),
    };
    let mut all: Vec<(u64, Vec<Counts>)> = vec![(0, Vec::new())];
    for shift in shifts {
        let mut next = Vec::new();
        for (used, before) in &all {
            for count in 0..=counts.count - used {
                let with = (count > 0).then(|| Counts::new(counts.law.clone(), count, shift)?.exactly()).transpose()?;
                next.push((used + count, before.iter().cloned().chain(with).collect()));
            }
        }
        if next.len() > MOST_CHANGES + 1 {
            return Ok(None);
        }
        all = next;
    }
    Ok(Some(all.into_iter().map(|(_, counts)| counts).collect()))
}

/// Whether outputs whose likelihood ratio exceeds `ratio` have at most probability delta, for each of these changes and in both directions.
pub(crate) fn keeps(changes: &[Composition], ratio: &Rational, delta: &Delta) -> Result<Certainty> {
    let mut all = Certainty::Yes;
    for change in changes {
        match keeps_one(change, ratio, delta)? {
            Certainty::No => return Ok(Certainty::No),
            Certainty::Undecided => all = Certainty::Undecided,
            Certainty::Yes => {}
        }
    }
    Ok(all)
}

fn keeps_one(change: &Composition, ratio: &Rational, delta: &Delta) -> Result<Certainty> {
    keeps_in(change, ratio, delta, None)
}

/// The same of one change, in one direction or in both.
pub(crate) fn keeps_in(
    change: &Composition,
    ratio: &Rational,
    delta: &Delta,
    direction: Option<Direction>,
) -> Result<Certainty> {
    if let Some([remove, add]) = Listed::of_change(change) {
        let above = |one: &Listed| one.above(ratio) <= **delta;
        let all = match direction {
            Some(Direction::Remove) => above(&remove),
            Some(Direction::Add) => above(&add),
            None => above(&remove) && above(&add),
        };
        return Ok(if all { Certainty::Yes } else { Certainty::No });
    }
    let tail = Tail::of_composition(change)?;
    let [least, most] = match tail.target(delta)? {
        Finite::Delta(ends) => ends,
        Finite::Impossible => return Ok(Certainty::No),
        Finite::Largest(largest) => {
            let loss = Enclosure::rational(ratio, BITS).ln();
            return Ok(if *loss.lower() >= largest { Certainty::Yes } else { Certainty::Undecided });
        }
    };
    let loss = Enclosure::rational(ratio, 2 * BITS).ln();
    let ends = loss.lower_rational().zip(loss.upper_rational());
    let (low, high) = ends.ok_or(Error::Unbounded { what: "the logarithm of a likelihood ratio" })?;
    for digits in [6, 12, 24, 40] {
        // The tail falls: at the lower end of the loss it is not below that at the loss, at the upper end not above.
        if tail.above(&low, digits)?.at_most(&least) == Certainty::Yes {
            return Ok(Certainty::Yes);
        }
        // More than the most that may be left for finite losses.
        if tail.above(&high, digits)?.at_most(&most) == Certainty::No {
            return Ok(Certainty::No);
        }
    }
    Ok(Certainty::Undecided)
}

/// The least loss that outputs exceed with at most probability delta, whichever of these changes a record makes, and in both directions; at least zero, which
/// is that of no change. [`Error::NoLattice`] where a tail cannot be computed.
pub fn least_exceeded(changes: &[Composition], delta: &Delta) -> Result<Exceeded> {
    let none = Exceeded { epsilon: Float::new(BITS), by_tail: true, is_least: true };
    let each = parallel::try_map(changes, |change| least_of_one(change, delta))?;
    Ok(each.into_iter().fold(none, |most, next| if next.epsilon > most.epsilon { next } else { most }))
}

fn least_of_one(change: &Composition, delta: &Delta) -> Result<Exceeded> {
    let infinite = || Float::with_val(BITS, rug::float::Special::Infinity);
    if let Some(listed) = Listed::of_change(change) {
        let ln = |ratio: Option<Rational>| {
            ratio.map_or_else(infinite, |ratio| Enclosure::rational(&ratio, BITS).ln().upper().clone())
        };
        let [remove, add] = listed.map(|one| ln(one.least(delta)));
        return Ok(Exceeded { epsilon: remove.max(&add), by_tail: true, is_least: true });
    }
    let tail = Tail::of_composition(change)?;
    match tail.target(delta)? {
        Finite::Delta(ends) => tail.least(&ends),
        Finite::Impossible => Ok(Exceeded { epsilon: infinite(), by_tail: true, is_least: true }),
        Finite::Largest(largest) => {
            let epsilon = Float::with_val_round(BITS, &largest, Round::Up).0;
            Ok(Exceeded { epsilon, by_tail: true, is_least: false })
        }
    }
}

/// The outputs of tables and pairs, in one direction: their likelihood ratios with the probability of each, and that of outputs that the other hypothesis
/// cannot have.
pub(super) struct Listed {
    /// The probability of outputs with each ratio.
    pub(super) ratios: BTreeMap<Rational, Rational>,
    /// That of outputs that the other hypothesis cannot have.
    pub(super) infinite: Rational,
}

impl Listed {
    /// Both directions of a change; `None` where an output is not of a table or a pair, or where they are too many.
    pub(super) fn of_change(change: &Composition) -> Option<[Listed; 2]> {
        // The ratios of common outputs, with their probabilities under both hypotheses.
        let mut all = BTreeMap::from([(Rational::from(1), [Rational::from(1), Rational::from(1)])]);
        for counts in change.counts() {
            let own = outcomes(counts)?;
            for _ in 0..counts.count {
                if all.len().saturating_mul(own.len()) > MOST_RATIOS * 50 {
                    return None;
                }
                let mut next: BTreeMap<Rational, [Rational; 2]> = BTreeMap::new();
                for (ratio, [p, q]) in &all {
                    for (a, b) in own.iter().filter(|(a, b)| *a > 0 && *b > 0) {
                        let of_both = Rational::from(a / b) * ratio;
                        let sum = next.entry(of_both).or_default();
                        sum[0] += Rational::from(p * a);
                        sum[1] += Rational::from(q * b);
                    }
                }
                if next.len() > MOST_RATIOS {
                    return None;
                }
                all = next;
            }
        }
        let sum = |at: usize| -> Rational { all.values().map(|masses| &masses[at]).sum() };
        let infinite = [0, 1].map(|at| Rational::from(1) - sum(at));
        let [remove, add] = infinite;
        let own = all.iter().map(|(ratio, [p, _])| (ratio.clone(), p.clone())).collect();
        let opposite = all.iter().map(|(ratio, [_, q])| (Rational::from(ratio.recip_ref()), q.clone())).collect();
        Some([Listed { ratios: own, infinite: remove }, Listed { ratios: opposite, infinite: add }])
    }

    /// The probability of outputs with a ratio above this one.
    fn above(&self, ratio: &Rational) -> Rational {
        let finite: Rational = self.ratios.iter().rev().take_while(|(own, _)| *own > ratio).map(|(_, p)| p).sum();
        finite + &self.infinite
    }

    /// The least ratio of an output that outputs exceed with at most this probability; `None` where outputs that the other hypothesis cannot have are more
    /// probable.
    fn least(&self, delta: &Delta) -> Option<Rational> {
        let mut above = self.infinite.clone();
        if above > **delta {
            return None;
        }
        for (ratio, p) in self.ratios.iter().rev() {
            above += p;
            if above > **delta {
                return Some(ratio.clone());
            }
        }
        Some(Rational::from(1))
    }
}

/// The outcomes of a table whose count moves by the shift, or of a pair, with their probabilities under both hypotheses.
fn outcomes(counts: &Counts) -> Option<Vec<(Rational, Rational)>> {
    match &counts.law {
        Law::Pair(pair) => Some(pair.outcomes()),
        Law::Table(table) => {
            let masses: BTreeMap<i64, &Rational> = table.masses().collect();
            let shift = i64::try_from(counts.shift).ok()?;
            let at = |value: Option<i64>| {
                value.and_then(|value| masses.get(&value)).map_or_else(Rational::new, |p| (*p).clone())
            };
            let with = masses.iter().map(|(value, p)| ((*p).clone(), at(value.checked_add(shift))));
            let is_common = |value: i64| value.checked_sub(shift).is_some_and(|before| masses.contains_key(&before));
            let without = masses.iter().filter(|(value, _)| !is_common(**value));
            Some(with.chain(without.map(|(_, q)| (Rational::new(), (*q).clone()))).collect())
        }
        _ => None,
    }
}

/// The losses of a change on a lattice.
struct Tail<'c> {
    composition: &'c Composition,
}

/// What is left of delta for the losses that are finite.
enum Finite {
    /// This much of them: the least and the most that it can be.
    Delta([Delta; 2]),
    /// Nothing: infinite losses are more probable.
    Impossible,
    /// Nothing but zero: the largest finite loss.
    Largest(Rational),
}

impl<'c> Tail<'c> {
    /// [`Error::NoLattice`] where there is none: losses that are rounded up have no tail that is a bound, because their masses are moved as well, and pairs that
    /// are not symmetric have other losses.
    fn of_composition(composition: &'c Composition) -> Result<Self> {
        let is_rounded = composition.below().is_some() || !composition.is_symmetric();
        // Where every common output is equally likely for both neighbors, there is no lattice: the one finite loss is zero.
        let has_lattice = composition.loss().step().is_some() && !composition.loss().groups().is_empty();
        if is_rounded || !has_lattice { Err(Error::NoLattice) } else { Ok(Tail { composition }) }
    }

    fn target(&self, delta: &Delta) -> Result<Finite> {
        // As many as a tail has at the most.
        const DIGITS: u32 = 40;
        let exactly = |delta: Delta| Finite::Delta([delta.clone(), delta]);
        let Some(infinite) = self.composition.loss().infinite_loss() else {
            return Ok(exactly(delta.clone()));
        };
        match infinite.target(delta, DIGITS) {
            Ok(Target::At(delta)) => Ok(exactly(delta)),
            Ok(Target::Between { least, most }) => Ok(Finite::Delta([least, most])),
            Ok(Target::Zero) => {
                let largest = self.composition.largest_finite_loss();
                largest.map(Finite::Largest).ok_or(Error::Unbounded { what: "the largest finite loss" })
            }
            Err(Error::InfiniteLoss { .. }) => Ok(Finite::Impossible),
            Err(error) => Err(error),
        }
    }

    /// `P[L > loss]` of the finite losses.
    fn above(&self, loss: &Rational, digits: u32) -> Result<Enclosure> {
        let evaluator = self.composition.loss_evaluator();
        Ok(evaluator.upper_tail(&self.composition.loss().above(loss), digits)?.value)
    }

    /// The least lattice loss l with `P[L > l] <= delta`, for a delta between both ends.
    fn least(&self, [delta, most]: &[Delta; 2]) -> Result<Exceeded> {
        let (loss, evaluator, rho) =
            (self.composition.loss(), self.composition.loss_evaluator(), self.composition.rho());
        let step = loss.step().ok_or(Error::NoLattice)?;
        let certainty = |l: &Rational| -> Result<Certainty> {
            for digits in [6, 12, 24] {
                let tail = evaluator.upper_tail(&loss.above(l), digits)?.value;
                match (tail.at_most(delta), tail.at_most(most)) {
                    (Certainty::Yes, _) => return Ok(Certainty::Yes),
                    (_, Certainty::No) => return Ok(Certainty::No),
                    _ => {}
                }
            }
            Ok(Certainty::Undecided)
        };
        // An undecided point counts as not satisfying the inequality: the result still satisfies it, but is not proven to
        // be the least.
        let is_least = Cell::new(true);
        let holds = |l: &Rational| -> Result<bool> {
            let certainty = certainty(l)?;
            if certainty == Certainty::Undecided {
                is_least.set(false);
            }
            Ok(certainty == Certainty::Yes)
        };
        // L is sub-Gaussian about rho with variance proxy 2 rho: at rho + 2 sqrt(rho ln(1 / delta)) the tail is below delta.
        let ceiling = conversions::zcdp_epsilon(rho, delta, 15).upper().to_f64().next_up();
        let (mut below, mut at) =
            (loss.at_most(&-Rational::from(rho.clone())), loss.above(&rational::from_f64(ceiling)?));
        // Far below, the tail is close to 1; a delta close to 1 may exceed it.
        let mut is_bracketed = false;
        for _ in 0..60 {
            if !holds(&below)? {
                is_bracketed = true;
                break;
            }
            at = below.clone();
            below = loss.at_most(&(Rational::from(&below * 2_u32) - step));
        }
        while Rational::from(&at - &below) > *step {
            let middle = loss.at_most(&(Rational::from(&at + &below) / 2_u32));
            if holds(&middle)? { at = middle } else { below = middle }
        }
        // If the bisection never evaluates `at` itself, the result is the ceiling, which the zCDP bound proves.
        let epsilon = Float::with_val_round(BITS, &at, Round::Up).0;
        Ok(Exceeded { epsilon, by_tail: true, is_least: is_least.get() && is_bracketed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn composition(counts: &str) -> Composition {
        Composition::new([counts.parse().unwrap()]).unwrap()
    }

    #[test]
    fn changes_are_all_fewer_counts_and_smaller_shifts() {
        // (n1, n2) with n1 + n2 <= 3, without (0, 0).
        assert_eq!(changes(&composition("5x3@2")).unwrap().unwrap().len(), 9);
        assert_eq!(changes(&composition("5x10")).unwrap().unwrap().len(), 10);
        assert!(changes(&composition("5x1000000")).unwrap().is_none());
        assert!(changes(&Composition::new([Counts::parse("pure", "1").unwrap()]).unwrap()).unwrap().is_none());
    }

    /// For a delta closer to a tail than the digits computed resolve, the loss satisfies the inequality but is not
    /// proven to be the least.
    #[test]
    fn an_undecided_tail_is_not_reported_as_least() {
        let composition = composition("5x3");
        let loss = composition.loss();
        let of = |delta: &Rational| {
            let delta = Delta::new(delta.clone()).unwrap();
            Tail::of_composition(&composition).unwrap().least(&[delta.clone(), delta]).unwrap()
        };
        let plain = of(&parse("0.001").unwrap());
        assert!(plain.by_tail && plain.is_least);
        let at = loss.at_most(&parse("2").unwrap());
        let tail = composition.loss_evaluator().upper_tail(&loss.above(&at), 60).unwrap().value;
        let between = (tail.lower_rational().unwrap() + tail.upper_rational().unwrap()) / 2_u32;
        let next_to = of(&between);
        assert!(next_to.by_tail && !next_to.is_least && next_to.epsilon > at, "{next_to:?}");
    }
}
