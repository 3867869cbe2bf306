//! The counts that change with a record: of every person that the rules allow, or of every mix of groups.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use rug::Rational;

use super::levels::TabulatedLevel;
use crate::{
    law::Law,
    safetab::{
        memberships::{Bits, Memberships, Person, are_disjoint},
        places::Places,
        schema::Privacy,
    },
};

/// The largest number of ways in which the persons of a part change counts; with more of them all mixes are taken.
const MOST_WAYS: usize = 40;

/// The number of counts of each law that change by one.
pub(in crate::safetab) type Mix = BTreeMap<Law, u64>;

/// Levels of one pass together: their budget, and every way in which one record can change their counts.
#[derive(Clone)]
pub(in crate::safetab) struct Part {
    pub(super) budget: Rational,
    pub(super) ways: Vec<Way>,
    /// The groups of all persons, if they are enumerated.
    pub(super) people: Option<Arc<Memberships>>,
    /// Whether two records can be in different regions of every level.
    are_apart: bool,
}

/// A way in which a record changes counts.
#[derive(Clone)]
pub(super) struct Way {
    mix: Mix,
    /// At each level the number of its groups that publish one count of it, and of all others, if they are enumerated.
    pub(super) numbers: Vec<[u64; 2]>,
    /// The groups of records that change all of these counts; empty if none is known.
    examples: Vec<Bits>,
}

/// Counts that change together, and the groups of the records that change them, by name; `None` if no such record is known.
pub(super) type Change = (Mix, Option<Vec<Vec<String>>>);

impl Part {
    /// The part of levels: by the persons who are enumerated, or by all mixes.
    pub(in crate::safetab) fn of_levels(
        budget: Rational,
        levels: &[LevelFacts],
        privacy: Privacy,
        places: Places,
    ) -> Part {
        let people: Option<Vec<_>> = levels.iter().map(|level| level.people.as_ref()).collect();
        let people = people.unwrap_or_default();
        let Some((all, _)) = people.first() else { return Part::of_mixes(budget, mixes_of(levels, privacy)) };
        let kinds: Vec<usize> = people.iter().map(|(_, kind)| *kind).collect();
        let way = |person: &Person| {
            let numbers = levels.iter().zip(&kinds).map(|(level, kind)| {
                let [only, others] = person.numbers.get(*kind).copied().unwrap_or_default();
                if level.is_single() { [only + others, 0] } else { [only, others] }
            });
            let numbers: Vec<[u64; 2]> = numbers.collect();
            let examples = person.examples.iter().filter(|_| places.everywhere);
            let examples = examples.map(|groups| all.of_kinds(&kinds, groups)).collect();
            Way { mix: mix_of(levels, &numbers), numbers, examples }
        };
        let ways = largest_ways(all.persons().iter().map(way).collect());
        if ways.len() > MOST_WAYS {
            return Part::of_mixes(budget, mixes_of(levels, privacy));
        }
        Part { budget, ways, people: Some(Arc::clone(all)), are_apart: places.apart }
    }

    /// The part of mixes that nobody is known to have.
    pub(super) fn of_mixes(budget: Rational, mixes: Vec<Mix>) -> Part {
        let way = |mix| Way { mix, numbers: Vec::new(), examples: Vec::new() };
        Part { budget, ways: mixes.into_iter().map(way).collect(), people: None, are_apart: false }
    }

    fn names(&self, groups: &Bits) -> Vec<String> {
        self.people.as_ref().map_or_else(Vec::new, |people| people.names(groups))
    }

    /// A record of this way more or less.
    pub(super) fn change(&self, way: &Way) -> Change {
        (way.mix.clone(), way.examples.first().map(|groups| vec![self.names(groups)]))
    }

    /// A record of a way changed into one of another way, of this part or of another one.
    pub(super) fn change_into(&self, way: &Way, (other_part, other): (&Part, &Way)) -> Change {
        let mut mix = way.mix.clone();
        other.mix.iter().for_each(|(law, count)| counted(&mut mix, law, *count));
        let pairs = way.examples.iter().flat_map(|one| other.examples.iter().map(move |other| (one, other)));
        let is_free = !std::ptr::eq(self, other_part) || self.are_apart;
        let pair = pairs.into_iter().find(|(one, other)| is_free || are_disjoint(one, other));
        (mix, pair.map(|(one, other)| vec![self.names(one), other_part.names(other)]))
    }
}

/// The ways whose counts are not contained in those of another one, each once, with the examples of all of them.
fn largest_ways(mut ways: Vec<Way>) -> Vec<Way> {
    ways.sort_by(|a, b| a.mix.cmp(&b.mix));
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        match kept.last_mut().filter(|known| known.mix == way.mix) {
            Some(known) => known.examples.extend(way.examples),
            None => kept.push(way),
        }
    }
    let is_within = |way: &Way| kept.iter().any(|larger| larger.mix != way.mix && within(&way.mix, &larger.mix));
    kept.iter().filter(|way| !is_within(way)).cloned().collect()
}

/// Whether a mix has at most the counts of another one: publishing fewer counts is post-processing of publishing more.
fn within(small: &Mix, large: &Mix) -> bool {
    small.iter().all(|(law, count)| large.get(law).is_some_and(|larger| larger >= count))
}

/// The facts on which the mixes of a person depend at one level.
pub(in crate::safetab) struct LevelFacts {
    /// The kind of its groups: a person is in the same of them at every level of one kind. For the bureau the granularity, and the number
    /// of the level of iterations.
    pub(in crate::safetab) kind: (u64, u64),
    /// The largest number of groups that a person enters.
    pub(in crate::safetab) stability: u64,
    /// The number of iterations.
    pub(in crate::safetab) iterations: u64,
    /// The number of those that publish one count of a person alone.
    pub(in crate::safetab) detailed_only: u64,
    /// The noise of that count, and of the two counts of any other group.
    pub(in crate::safetab) laws: [Law; 3],
    /// The groups of all persons, and the number of the kind of this level among theirs, if they are enumerated.
    pub(in crate::safetab) people: Option<(Arc<Memberships>, usize)>,
    /// The largest numbers of groups of both kinds of persons at a level of this kind alone, if those are enumerated.
    pub(in crate::safetab) alone: Option<Arc<Vec<[u64; 2]>>>,
}

impl LevelFacts {
    /// The numbers of detailed-only groups of a person for which mixes are made. The largest is enough under pure differential privacy, and
    /// where there are no other groups: fewer counts are post-processing of more.
    pub(in crate::safetab) fn detailed_only_choices(&self, privacy: Privacy) -> RangeInclusive<u64> {
        let most = self.detailed_only.min(self.stability);
        if privacy == Privacy::Pure || self.detailed_only >= self.iterations { most..=most } else { 0..=most }
    }

    /// Whether all groups publish one count of a person.
    pub(in crate::safetab) fn is_single(&self) -> bool {
        self.detailed_only >= self.iterations
    }

    /// The numbers of groups of both kinds that a person may have.
    fn choices(&self, privacy: Privacy) -> Vec<[u64; 2]> {
        if let Some(alone) = &self.alone {
            return alone.to_vec();
        }
        let others = self.iterations.saturating_sub(self.detailed_only);
        let choice = |only| [only, others.min(self.stability.saturating_sub(only))];
        self.detailed_only_choices(privacy).map(choice).collect()
    }

    pub(super) fn of_level(level: &TabulatedLevel) -> LevelFacts {
        LevelFacts {
            people: level.known.people.clone(),
            alone: level.known.alone.clone(),
            kind: (level.region_type.granularity() as u64, level.level.number().into()),
            stability: level.stability.into(),
            iterations: level.iterations.len() as u64,
            detailed_only: level.detailed_only() as u64,
            laws: [&level.total_only, &level.stage_1, &level.stage_2].map(|noise| noise.law.clone()),
        }
    }
}

/// Adds counts of a law to a mix.
pub(super) fn counted(mix: &mut Mix, law: &Law, count: u64) {
    if count > 0 {
        let number = mix.entry(law.clone()).or_default();
        *number = number.saturating_add(count);
    }
}

/// The counts that a record in these numbers of groups of each level changes.
pub(in crate::safetab) fn mix_of(levels: &[LevelFacts], numbers: &[[u64; 2]]) -> Mix {
    let mut mix = Mix::new();
    for (level, [only, others]) in levels.iter().zip(numbers) {
        for (law, count) in level.laws.iter().zip([only, others, others]) {
            counted(&mut mix, law, *count);
        }
    }
    mix
}

/// Every mix of detailed-only and other groups that a person of a pass may have, from the facts of the levels.
pub(in crate::safetab) fn mixes_of(levels: &[LevelFacts], privacy: Privacy) -> Vec<Mix> {
    let mut kinds: Vec<&LevelFacts> = Vec::new();
    for level in levels {
        if !kinds.iter().any(|known| known.kind == level.kind) {
            kinds.push(level);
        }
    }
    let mut choices: Vec<Vec<[u64; 2]>> = vec![Vec::new()];
    for kind in &kinds {
        let own = kind.choices(privacy);
        let longer = |choice: Vec<[u64; 2]>| own.iter().map(move |own| [choice.clone(), vec![*own]].concat());
        choices = choices.into_iter().flat_map(longer).collect();
    }
    let mix = |choice: Vec<[u64; 2]>| {
        // The kind of every level is among them.
        let place = |level: &LevelFacts| kinds.iter().position(|known| known.kind == level.kind);
        let numbers: Vec<[u64; 2]> =
            levels.iter().map(|level| place(level).map_or([0; 2], |place| choice[place])).collect();
        mix_of(levels, &numbers)
    };
    choices.into_iter().map(mix).collect()
}

/// The changes that are contained in no other one, each once, with an example if there is one.
pub(super) fn largest(mut changes: Vec<Change>) -> Vec<Change> {
    // Of equal counts the example stands last.
    changes.sort();
    let mut kept: Vec<Change> = Vec::new();
    for change in changes {
        match kept.last_mut().filter(|known| known.0 == change.0) {
            Some(known) => *known = change,
            None => kept.push(change),
        }
    }
    let is_within = |mix: &Mix| kept.iter().any(|(larger, _)| larger != mix && within(mix, larger));
    kept.iter().filter(|(mix, _)| !is_within(mix)).cloned().collect()
}
