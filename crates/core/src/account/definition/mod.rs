//! A mechanism by its definition: a second way from the question to delta(epsilon), which shares only [`numeric`](crate::numeric) with the engines.
//!
//! It starts at the parameters as they were given: which counts a record changes, by how much, under which relation, for how many records and releases. From these it
//! lists the outcomes of each count under both hypotheses (`listed`), chooses the direction and the changes, and adds up losses on a grid (`grid`). A fault in how
//! counts are composed, in an infinite mass or a direction shows where the answer lies outside.
//!
//! It says nothing of more than a few dozen ways in which the data can choose, nor of ledgers, and on samples with few counts it is wide.

mod bundled;
mod ends;
mod grid;
mod kept;
mod listed;
mod routes;

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use rug::Rational;

use self::{
    grid::{OnGrid, Terms},
    kept::Kept,
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
/// Points of the grid of a sum: of few ways with few terms, and of more.
const POINTS: [f64; 2] = [600.0, 200.0];
/// More ways than these are many.
const FEW_WAYS: usize = 4;
/// More different counts than these are many.
const FEW_TERMS: usize = 6;

/// What differs between neighbors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The counts that one record changes.
    pub counts: Vec<Counts>,
    /// Those that differ between neighbors as they are given, under either relation.
    pub given: Vec<Counts>,
    /// Counts that records of some routes enter.
    pub blocks: Vec<Vec<Counts>>,
    /// The routes of a record, of which the worst counts, or the worst pair of them where a record changes: each enters these blocks, by their numbers. None where all
    /// records enter the same counts.
    pub routes: Vec<Vec<usize>>,
    /// Whether a record changes, so that it leaves these counts and enters as many others; guarantees and pairs are about either relation.
    pub is_changed: bool,
    /// The number of records that differ.
    pub group: u64,
    /// The number of releases of these counts.
    pub repeat: u64,
}

/// A definition with the losses that follow from it, computed once they are requested.
#[derive(Clone, Debug)]
pub struct Defined {
    definition: Definition,
    /// For each way to choose, a record that is removed and one that is added; `None` where it says nothing.
    ways: Ways,
}

impl PartialEq for Defined {
    fn eq(&self, other: &Self) -> bool {
        self.definition == other.definition
    }
}

impl Eq for Defined {}

/// The losses of a record that is removed, and of one that is added.
type Both = [Arc<OnGrid>; 2];

/// A choice for all counts: their pairs, whether the record enters them while others leave, and how many there are.
type Way = Vec<(Arc<Listed>, bool, u64)>;

/// The pairs of equal counts, under their choice of changes: how many counts have each pair.
type Choice = Vec<(Arc<Listed>, u64)>;

impl Defined {
    /// The mechanism of this definition.
    pub fn new(definition: Definition) -> Self {
        Defined { ways: ways(&definition), definition }
    }

    /// delta(epsilon) where a record is removed, and where it is added: the largest over all choices. `None` where it says nothing.
    pub fn delta_of_directions(&self, epsilon: &Rational) -> Option<[Enclosure; 2]> {
        let ways = self.ways()?;
        let largest = |direction: usize| {
            let all = ways.iter().map(|way| way[direction].delta(epsilon).enclosure());
            all.reduce(|most, next| most.max(&next)).unwrap_or_else(|| Enclosure::double(0.0, 64))
        };
        let remove = largest(0);
        let is_same = ways.iter().all(|[remove, add]| Arc::ptr_eq(remove, add));
        let add = if is_same { remove.clone() } else { largest(1) };
        Some([remove, add])
    }

    /// delta(epsilon), of the worse direction.
    pub fn delta(&self, epsilon: &Rational) -> Option<Enclosure> {
        self.delta_of_directions(epsilon).map(|[remove, add]| remove.max(&add))
    }

    /// The smallest type II error at the type I error alpha, of tests of each direction. `None` where it says nothing.
    pub fn tradeoff_of_directions(&self, alpha: &Rational) -> Option<[Enclosure; 2]> {
        let ways = self.ways()?;
        let least = |direction: usize| {
            let all = ways.iter().map(|way| way[direction].tradeoff(alpha).enclosure());
            all.reduce(|least, next| least.min(&next)).unwrap_or_else(|| Enclosure::double(1.0, 64))
        };
        Some([least(0), least(1)])
    }

    /// That of the better direction; `None` too where a record has several routes, of which the account takes the hull.
    pub fn tradeoff(&self, alpha: &Rational) -> Option<Enclosure> {
        let both = if self.definition.routes.is_empty() { self.tradeoff_of_directions(alpha) } else { None };
        both.map(|[remove, add]| remove.min(&add))
    }

    /// An answer about delta(epsilon): refused where it is excluded, and narrowed where it has fewer digits than requested.
    pub fn confirmed_delta(&self, epsilon: &Rational, answer: Answer, digits: u32) -> Result<Answer> {
        narrowed(self.delta(epsilon), answer, digits, OF_DELTA)
    }

    /// An answer about delta(epsilon) of one direction, refused or narrowed likewise.
    pub fn confirmed_delta_of(
        &self,
        direction: Direction,
        epsilon: &Rational,
        answer: Answer,
        digits: u32,
    ) -> Result<Answer> {
        narrowed(self.delta_of_directions(epsilon).map(|both| direction.pick(both)), answer, digits, OF_DELTA)
    }

    /// An answer about the trade-off function, refused or narrowed likewise.
    pub fn confirmed_tradeoff(&self, alpha: &Rational, answer: Answer, digits: u32) -> Result<Answer> {
        narrowed(self.tradeoff(alpha), answer, digits, OF_TRADEOFF)
    }

    /// An answer about the trade-off function of one direction, refused or narrowed likewise.
    pub fn confirmed_tradeoff_of(
        &self,
        direction: Direction,
        alpha: &Rational,
        answer: Answer,
        digits: u32,
    ) -> Result<Answer> {
        narrowed(self.tradeoff_of_directions(alpha).map(|both| direction.pick(both)), answer, digits, OF_TRADEOFF)
    }

    /// Refuses an answer about epsilon at delta that it excludes: delta(lower) is at least delta, and delta(upper) at most.
    pub fn confirms_epsilon(&self, delta: &Rational, answer: &Answer) -> Result<()> {
        self.confirms_epsilon_by(|epsilon| self.delta(epsilon), delta, answer)
    }

    /// Refuses an answer about the epsilon of one direction that it excludes.
    pub fn confirms_epsilon_of(&self, direction: Direction, delta: &Rational, answer: &Answer) -> Result<()> {
        let own = |epsilon: &Rational| self.delta_of_directions(epsilon).map(|both| direction.pick(both));
        self.confirms_epsilon_by(own, delta, answer)
    }

    fn confirms_epsilon_by(
        &self,
        own: impl Fn(&Rational) -> Option<Enclosure>,
        delta: &Rational,
        answer: &Answer,
    ) -> Result<()> {
        const WHAT: &str = "an epsilon (by an engine and by the definition of the mechanism)";
        let ends = [answer.value.lower_rational(), answer.value.upper_rational()];
        let [lower, upper] = ends;
        // Below an epsilon of zero nothing is claimed.
        if let Some(lower) = lower.filter(|lower| *lower > 0)
            && let Some(own) = own(&lower)
            && *own.upper() < *delta
        {
            return Err(Error::Contradiction { what: WHAT });
        }
        if let Some(upper) = upper
            && let Some(own) = own(&upper)
            && *own.lower() > *delta
        {
            return Err(Error::Contradiction { what: WHAT });
        }
        Ok(())
    }

    fn ways(&self) -> Option<&[Both]> {
        self.ways.get_or_init(|| self.definition.computed()).as_deref()
    }
}

impl Definition {
    /// The definition of counts that are given one by one, for one record and one release: what differs in them.
    pub fn of_counts(counts: Vec<Counts>, is_changed: bool) -> Self {
        Definition { counts, is_changed, group: 1, repeat: 1, ..Definition::default() }
    }

    /// Both directions of every way.
    fn computed(&self) -> Option<Vec<Both>> {
        if !self.routes.is_empty() {
            return self.of_routes();
        }
        if let Some([more, less]) = self.bundled() {
            // The steps of noise on samples, each between the corners of its cell of rate and noise.
            let both = more.computed()?.into_iter().zip(less.computed()?);
            let between = |more: &OnGrid, less: &OnGrid| Arc::new(OnGrid::between(more, less));
            let of = |(more, less): (Both, Both)| [between(&more[0], &less[0]), between(&more[1], &less[1])];
            return Some(both.map(of).collect());
        }
        let all = self.choices()?;
        let is_large = all.len() > FEW_WAYS || all.first().is_some_and(|way| way.len() > FEW_TERMS);
        let points = POINTS[usize::from(is_large)];
        let of = |way: &Way| -> Option<Both> {
            let of_direction = |is_added: bool| {
                let of_count = |(listed, is_opposite, copies): &(Arc<Listed>, bool, u64)| {
                    // A symmetric pair is the same one, exchanged.
                    let is_exchanged = *is_opposite != is_added && !listed.is_symmetric;
                    (if is_exchanged { Arc::new(listed.exchanged()) } else { Arc::clone(listed) }, *copies)
                };
                let terms: Terms = way.iter().map(of_count).collect();
                OnGrid::of_terms(&terms, points).map(Arc::new)
            };
            let remove = of_direction(false)?;
            let is_symmetric = way.iter().all(|(listed, ..)| listed.is_symmetric);
            let add = if is_symmetric { Arc::clone(&remove) } else { of_direction(true)? };
            Some([remove, add])
        };
        all.iter().map(of).collect()
    }

    /// Every way to choose the changes: the pairs of all counts, whether the record enters where others are left, and how many there are. `None` where they are not listed.
    fn choices(&self) -> Option<Vec<Way>> {
        let own = self.counts.iter().map(|counts| (counts, self.is_changed && !is_of_either_relation(&counts.law)));
        let mut ways: Vec<Way> = vec![Vec::new()];
        for (counts, is_twice) in own.chain(self.given.iter().map(|counts| (counts, false))) {
            let own = self.choices_of(counts)?;
            let sides = if is_twice { vec![false, true] } else { vec![false] };
            for is_opposite in sides {
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
        let has_choice =
            matches!(counts.law, Law::Table(_) | Law::Perturbation(_) | Law::UnknownKey(_) | Law::Staircase { .. });
        // Of log-concave noise all records in the same counts are the worst way; a group's guarantee is another one.
        if self.group > 1 && (is_of_either_relation(&counts.law) || counts.law.is_sampled() || has_choice && is_exact) {
            return None;
        }
        let shift = counts.shift.checked_mul(self.group)?;
        let pairs = kept_pairs(&counts.law, shift, counts.shift, is_exact)?;
        if !has_choice {
            return Some(pairs.iter().map(|(_, listed)| vec![(Arc::clone(listed), copies)]).collect());
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

const OF_DELTA: &str = "a delta (by an engine and by the definition of the mechanism)";
const OF_TRADEOFF: &str = "a point of the trade-off function (by an engine and by the definition of the mechanism)";

/// An answer that what follows from the definition does not exclude; the intersection of both where it has fewer digits than requested.
fn narrowed(own: Option<Enclosure>, answer: Answer, digits: u32, what: &'static str) -> Result<Answer> {
    let Some(own) = own else { return Ok(answer) };
    let both = own.meet(&answer.value).ok_or(Error::Contradiction { what })?;
    if answer.met { Ok(answer) } else { Ok(Answer { met: both.is_tight(digits), value: both, ..answer }) }
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

/// The pairs of a count, each with the number of records that make the change; `None` where they are not listed.
type Pairs = Option<Arc<Vec<(u64, Arc<Listed>)>>>;

static PAIRS: Kept<(Law, u64, u64, bool), Pairs> = Kept::new(64);

/// As [`listed::pairs`], remembered.
fn kept_pairs(law: &Law, shift: u64, one: u64, is_exact: bool) -> Pairs {
    let is_it = |key: &(Law, u64, u64, bool)| (key.1, key.2, key.3) == (shift, one, is_exact) && key.0 == *law;
    PAIRS.found(is_it).unwrap_or_else(|| {
        let all = listed::pairs(law, shift, one, is_exact);
        let all =
            all.map(|all| Arc::new(all.into_iter().map(|(records, listed)| (records, Arc::new(listed))).collect()));
        PAIRS.keep((law.clone(), shift, one, is_exact), all.clone());
        all
    })
}

/// What follows from a definition, computed once it is requested.
type Ways = Arc<OnceLock<Option<Vec<Both>>>>;

static WAYS: Kept<Definition, Ways> = Kept::new(32);

/// That of an equal definition, if there was one. What follows from many routes is not remembered: it would take much memory.
fn ways(definition: &Definition) -> Ways {
    if !definition.routes.is_empty() {
        return Ways::default();
    }
    WAYS.found(|key| key == definition).unwrap_or_else(|| {
        let ways = Ways::default();
        WAYS.keep(definition.clone(), Arc::clone(&ways));
        ways
    })
}
