//! A mechanism by its definition: a second way from the question to delta(epsilon), which shares only [`numeric`](crate::numeric) with the engines.
//!
//! It starts at the parameters as they were given: which counts a record changes, by how much, under which relation, for how many records and releases. From these it
//! lists the outcomes of each count under both hypotheses (`listed`), chooses the direction and the changes, and adds up losses on a grid (`grid`). A fault in how
//! counts are composed, in an infinite mass or a direction shows where the answer lies outside.
//!
//! It says nothing of more than a few hundred counts, of more than a few dozen ways in which the data can choose, of a bounded range, and of releases with paths.

mod ends;
mod grid;
mod listed;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use rug::Rational;

use self::{
    grid::{OnGrid, Terms},
    listed::Listed,
};
use super::{Answer, Counts};
use crate::{
    error::{Error, Result},
    law::{Changes, Direction, Law},
    numeric::Enclosure,
};

/// Ways to choose the changes of all counts, up to this number.
const MOST_WAYS: usize = 40;

/// What differs between neighbors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The counts that one record changes.
    pub counts: Vec<Counts>,
    /// Whether a record changes, so that it leaves these counts and enters as many others; guarantees and pairs are about either relation.
    pub is_changed: bool,
    /// The number of records that differ.
    pub group: u64,
    /// The number of releases of these counts.
    pub repeat: u64,
}

/// A definition with the losses that follow from it.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    definition: Definition,
    /// For each way to choose, a record that is removed and one that is added; `None` where it says nothing.
    ways: Arc<OnceLock<Option<Vec<[OnGrid; 2]>>>>,
}

impl PartialEq for Defined {
    fn eq(&self, other: &Self) -> bool {
        self.definition == other.definition
    }
}

impl Eq for Defined {}

/// A choice for all counts: their pairs, whether the record enters them while others leave, and how many there are.
type Way = Vec<(Arc<Listed>, bool, u64)>;

/// The pairs of equal counts, under their choice of changes: how many counts have each pair.
type Choice = Vec<(Arc<Listed>, u64)>;

impl Defined {
    pub fn new(definition: Definition) -> Self {
        Defined { definition, ways: Arc::default() }
    }

    /// delta(epsilon) where a record is removed, and where it is added: the largest over all choices. `None` where it says nothing.
    pub fn delta_of_directions(&self, epsilon: &Rational) -> Option<[Enclosure; 2]> {
        let ways = self.ways()?;
        let largest = |direction: usize| {
            let all = ways.iter().map(|way| way[direction].delta(epsilon).enclosure());
            all.reduce(|most, next| most.max(&next)).unwrap_or_else(|| Enclosure::double(0.0, 64))
        };
        Some([largest(0), largest(1)])
    }

    /// delta(epsilon), of the worse direction.
    pub fn delta(&self, epsilon: &Rational) -> Option<Enclosure> {
        self.delta_of_directions(epsilon).map(|[remove, add]| remove.max(&add))
    }

    /// Refuses an answer about delta(epsilon) that it excludes.
    pub fn confirms_delta(&self, epsilon: &Rational, answer: &Answer) -> Result<()> {
        overlapping(self.delta(epsilon).as_ref(), answer)
    }

    /// The same about one direction.
    pub fn confirms_delta_of(&self, direction: Direction, epsilon: &Rational, answer: &Answer) -> Result<()> {
        overlapping(self.delta_of_directions(epsilon).map(|both| direction.of(both)).as_ref(), answer)
    }

    /// Refuses an answer about epsilon at delta that it excludes: delta(lower) is at least delta, and delta(upper) at most.
    pub fn confirms_epsilon(&self, delta: &Rational, answer: &Answer) -> Result<()> {
        const WHAT: &str = "an epsilon (by an engine and by the definition of the mechanism)";
        let ends = [answer.value.lower_rational(), answer.value.upper_rational()];
        let [lower, upper] = ends;
        // Below an epsilon of zero nothing is claimed.
        if let Some(lower) = lower.filter(|lower| *lower > 0)
            && let Some(own) = self.delta(&lower)
            && *own.upper() < *delta
        {
            return Err(Error::Contradiction { what: WHAT });
        }
        if let Some(upper) = upper
            && let Some(own) = self.delta(&upper)
            && *own.lower() > *delta
        {
            return Err(Error::Contradiction { what: WHAT });
        }
        Ok(())
    }

    fn ways(&self) -> Option<&[[OnGrid; 2]]> {
        self.ways.get_or_init(|| self.definition.computed()).as_deref()
    }
}

impl Definition {
    /// Both directions of every way.
    fn computed(&self) -> Option<Vec<[OnGrid; 2]>> {
        let of = |way: &Way| -> Option<[OnGrid; 2]> {
            let of_direction = |is_added: bool| {
                let of_count = |(listed, is_opposite, copies): &(Arc<Listed>, bool, u64)| {
                    (if *is_opposite != is_added { listed.exchanged() } else { (**listed).clone() }, *copies)
                };
                let all: Vec<(Listed, u64)> = way.iter().map(of_count).collect();
                let terms: Terms = all.iter().map(|(listed, copies)| (listed, *copies)).collect();
                OnGrid::of(&terms)
            };
            Some([of_direction(false)?, of_direction(true)?])
        };
        self.choices()?.iter().map(of).collect()
    }

    /// Every way to choose the changes: the pairs of all counts, whether the record enters where others are left, and how many there are. `None` where they are not listed.
    fn choices(&self) -> Option<Vec<Way>> {
        let mut ways: Vec<Way> = vec![Vec::new()];
        for counts in &self.counts {
            let is_twice = self.is_changed && !is_of_either_relation(&counts.law);
            for is_opposite in if is_twice { vec![false, true] } else { vec![false] } {
                let own = self.choices_of(counts)?;
                if ways.len().saturating_mul(own.len()) > MOST_WAYS {
                    return None;
                }
                let with = |way: &Way, choice: &Choice| -> Way {
                    let own = choice.iter().map(|(listed, copies)| (Arc::clone(listed), is_opposite, *copies));
                    way.iter().cloned().chain(own).collect()
                };
                ways = ways.iter().flat_map(|way| own.iter().map(move |choice| with(way, choice))).collect();
            }
        }
        Some(ways)
    }

    /// The ways to choose the changes of equal counts.
    fn choices_of(&self, counts: &Counts) -> Option<Vec<Choice>> {
        let copies = counts.count.checked_mul(self.repeat)?;
        let is_exact = counts.changes == Changes::Exactly;
        let has_choice = matches!(counts.law, Law::Table(_) | Law::Perturbation(_) | Law::UnknownKey(_));
        // Of log-concave noise all records in the same counts are the worst way; a group's guarantee is another one.
        if self.group > 1 && (is_of_either_relation(&counts.law) || counts.law.is_sampled() || has_choice && is_exact) {
            return None;
        }
        let shift = counts.shift.checked_mul(self.group)?;
        let pairs = listed::pairs(&counts.law, shift, counts.shift, is_exact)?;
        let pairs: Vec<(u64, Arc<Listed>)> =
            pairs.into_iter().map(|(records, listed)| (records, Arc::new(listed))).collect();
        if !has_choice {
            return Some(pairs.into_iter().map(|(_, listed)| vec![(listed, copies)]).collect());
        }
        // The largest number of changes by one record: each record changes up to all of these counts.
        let changes = copies.checked_mul(self.group)?;
        let mut ways: Vec<(u64, Choice)> = vec![(changes, Vec::new())];
        for (at, (records, listed)) in pairs.iter().enumerate() {
            let is_last = at + 1 == pairs.len();
            let mut next = Vec::new();
            for (left, before) in &ways {
                let most = left / records;
                // The last one takes all that is left: fewer changes are at most as private.
                for taken in if is_last { most..=most } else { 0..=most } {
                    let own = (taken > 0).then(|| (Arc::clone(listed), taken));
                    next.push((left - taken * records, before.iter().cloned().chain(own).collect()));
                }
                if next.len() > 4 * MOST_WAYS {
                    return None;
                }
            }
            ways = next;
        }
        let choices: Vec<Choice> =
            ways.into_iter().map(|(_, choice)| choice).filter(|choice| !choice.is_empty()).collect();
        (choices.len() <= MOST_WAYS && !choices.is_empty()).then_some(choices)
    }
}

fn overlapping(own: Option<&Enclosure>, answer: &Answer) -> Result<()> {
    match own {
        Some(own) if !own.overlaps(&answer.value) => {
            Err(Error::Contradiction { what: "a delta (by an engine and by the definition of the mechanism)" })
        }
        _ => Ok(()),
    }
}

/// Whether it is about a record that changes as it is about one that is added or removed.
fn is_of_either_relation(law: &Law) -> bool {
    matches!(
        law,
        Law::Pure { .. }
            | Law::Approximate { .. }
            | Law::Pair(_)
            | Law::RandomizedResponse { .. }
            | Law::BoundedRange { .. }
    )
}
