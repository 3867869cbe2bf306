//! The population groups that one record can be in, of several kinds of groups together.
//!
//! A record has a set of values of every attribute: one value, or one to m of an attribute with m columns. A group counts it if all conditions
//! of the group hold; each is about one attribute. All records that the attributes allow count, not only those of the data.
//!
//! For an attribute, values that are in the same lists are alike, and a second one of them changes nothing. So the sets of up to m values that
//! are not alike give every outcome of the conditions on that attribute: for each set, the groups whose conditions on it hold. Values of
//! different attributes are free of each other, so the groups of the records are the intersections of one such outcome per attribute.
//!
//! Of those intersections only the numbers of groups of each kind matter for the privacy, and only the largest: a record in fewer groups of
//! every kind changes fewer counts. A branch whose groups are no more than those of a known record in every kind is left out, because further
//! attributes only remove groups.

use std::collections::{BTreeSet, HashSet};

/// The largest number of sets of values of an attribute that are enumerated, of sets times groups or conditions, and of words of 64 groups that
/// a search reads.
const MOST_SETS: u64 = 50_000;
const MOST_STEPS: u64 = 200_000_000;
const MOST_WORDS: u64 = 40_000_000;
/// The largest number of records that are in a largest number of groups, and of examples of each.
const MOST_PERSONS: usize = 300;
const MOST_EXAMPLES: usize = 16;

/// A condition on the values of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::safetab) struct Condition {
    pub(in crate::safetab) attribute: usize,
    /// Whether all values of a person must be in the list, and not only one.
    pub(in crate::safetab) only: bool,
    /// Whether each value of the attribute is in the list.
    pub(in crate::safetab) listed: Vec<bool>,
}

/// A set of groups or conditions, 64 in a word.
pub(in crate::safetab) type Bits = Vec<u64>;

/// A group of one kind.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct MemberGroup {
    /// The number of its kind, from 0.
    pub(in crate::safetab) kind: usize,
    /// Whether only its total is published.
    pub(in crate::safetab) total_only: bool,
    /// Its name in examples.
    pub(in crate::safetab) name: String,
    /// The conditions on its records.
    pub(in crate::safetab) conditions: Vec<Condition>,
}

/// Records in a largest number of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::safetab) struct Person {
    /// The number of groups of each kind: those that publish only their total, and all others.
    pub(in crate::safetab) numbers: Vec<[u64; 2]>,
    /// Groups of such records.
    pub(in crate::safetab) examples: Vec<Bits>,
}

/// All records in a largest number of groups.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct Memberships {
    /// The kind and the name of each group.
    groups: Vec<(usize, String)>,
    persons: Vec<Person>,
}

impl Memberships {
    /// By enumeration; `None` if it would take too long, or there are too many records in a largest number of groups. `columns` is the number
    /// of columns of every attribute.
    pub(in crate::safetab) fn enumerated(groups: &[MemberGroup], columns: &[usize]) -> Option<Memberships> {
        let kinds = groups.iter().map(|group| group.kind + 1).max()?;
        let conditions: Vec<&[Condition]> = groups.iter().map(|group| &group.conditions[..]).collect();
        let used: BTreeSet<usize> = conditions.iter().flat_map(|own| own.iter()).map(|own| own.attribute).collect();
        let of_attribute = |attribute: &usize| outcomes(&conditions, *attribute, *columns.get(*attribute)?);
        let mut outcomes: Vec<Vec<Bits>> = used.iter().map(of_attribute).collect::<Option<_>>()?;
        // Attributes with few outcomes first: their branches are large.
        outcomes.sort_by_key(Vec::len);
        let mut masks = vec![[none(groups.len()), none(groups.len())]; kinds];
        for (place, group) in groups.iter().enumerate() {
            set(&mut masks[group.kind][usize::from(!group.total_only)], place);
        }
        let mut search = Search { outcomes: &outcomes, masks, found: Vec::new(), words: 0 };
        let groups: Vec<(usize, String)> = groups.iter().map(|group| (group.kind, group.name.clone())).collect();
        search.visit(0, &full(groups.len())).then_some(Memberships { groups, persons: search.found })
    }

    /// The records in a largest number of groups.
    pub(in crate::safetab) fn persons(&self) -> &[Person] {
        &self.persons
    }

    /// The groups of these kinds among some.
    pub(in crate::safetab) fn of_kinds(&self, kinds: &[usize], groups: &Bits) -> Bits {
        let mut kept = groups.clone();
        let others = self.groups.iter().enumerate().filter(|(_, (kind, _))| !kinds.contains(kind));
        others.for_each(|(place, _)| kept[place / 64] &= !(1 << (place % 64)));
        kept
    }

    /// The names of some groups.
    pub(in crate::safetab) fn names(&self, groups: &Bits) -> Vec<String> {
        let named = self.groups.iter().enumerate().filter(|(place, _)| has(groups, *place));
        named.map(|(_, (_, name))| name.clone()).collect()
    }
}

/// The search for the records in a largest number of groups.
struct Search<'a> {
    outcomes: &'a [Vec<Bits>],
    /// Of each kind the groups that publish only their total, and all others.
    masks: Vec<[Bits; 2]>,
    found: Vec<Person>,
    words: u64,
}

impl Search<'_> {
    /// Continues from the groups that are left after `depth` attributes; false if it takes too long.
    fn visit(&mut self, depth: usize, left: &Bits) -> bool {
        self.words += left.len() as u64 * (1 + 2 * self.masks.len() as u64);
        if self.words > MOST_WORDS {
            return false;
        }
        let number = |mask: &Bits| left.iter().zip(mask).map(|(a, b)| u64::from((a & b).count_ones())).sum();
        let numbers: Vec<[u64; 2]> = self.masks.iter().map(|masks| masks.each_ref().map(number)).collect();
        let known = self.found.iter().find(|person| covers(&person.numbers, &numbers));
        if known.is_some_and(|known| known.numbers != numbers || known.examples.len() >= MOST_EXAMPLES) {
            return true;
        }
        let Some(outcomes) = self.outcomes.get(depth) else {
            self.keep(numbers, left);
            return self.found.len() <= MOST_PERSONS;
        };
        outcomes.iter().all(|held| self.visit(depth + 1, &left.iter().zip(held).map(|(a, b)| a & b).collect()))
    }

    /// Keeps a record that no known one covers with more groups.
    fn keep(&mut self, numbers: Vec<[u64; 2]>, groups: &Bits) {
        match self.found.iter_mut().find(|person| person.numbers == numbers) {
            Some(known) if known.examples.contains(groups) => {}
            Some(known) => known.examples.push(groups.clone()),
            None => {
                self.found.retain(|person| !covers(&numbers, &person.numbers));
                self.found.push(Person { numbers, examples: vec![groups.clone()] });
            }
        }
    }
}

/// Whether a record is in at least as many groups of every kind.
fn covers(large: &[[u64; 2]], small: &[[u64; 2]]) -> bool {
    large.iter().flatten().zip(small.iter().flatten()).all(|(large, small)| large >= small)
}

/// Whether two sets have no group in common.
pub(in crate::safetab) fn are_disjoint(one: &Bits, other: &Bits) -> bool {
    one.iter().zip(other).all(|(a, b)| a & b == 0)
}

/// The sets of groups whose conditions on an attribute hold together, each once; `None` if there are too many.
pub(in crate::safetab) fn outcomes(groups: &[&[Condition]], attribute: usize, columns: usize) -> Option<Vec<Bits>> {
    let own: Vec<(usize, &Condition)> = groups
        .iter()
        .enumerate()
        .flat_map(|(group, conditions)| conditions.iter().map(move |condition| (group, condition)))
        .filter(|(_, condition)| condition.attribute == attribute)
        .collect();
    let values = own.first().map_or(0, |(_, condition)| condition.listed.len());
    // Of each kind of value, the conditions whose lists have it.
    let mut alike: BTreeSet<Bits> = BTreeSet::new();
    for value in 0..values {
        let mut lists = none(own.len());
        own.iter().enumerate().filter(|(_, (_, own))| own.listed[value]).for_each(|(place, _)| set(&mut lists, place));
        alike.insert(lists);
    }
    let alike: Vec<Bits> = alike.into_iter().collect();
    let sets = sets(alike.len() as u64, columns as u64);
    if sets > MOST_SETS || sets.saturating_mul(own.len().max(groups.len()) as u64) > MOST_STEPS {
        return None;
    }
    let mut found: HashSet<Bits> = HashSet::new();
    let mut open: Vec<(usize, usize, Bits, Bits)> = vec![(0, 0, none(own.len()), full(own.len()))];
    while let Some((next, size, some, all)) = open.pop() {
        if size > 0 {
            let mut held = full(groups.len());
            for (place, (group, condition)) in own.iter().enumerate() {
                if !has(if condition.only { &all } else { &some }, place) {
                    held[group / 64] &= !(1 << (group % 64));
                }
            }
            found.insert(held);
        }
        if size < columns {
            for (place, lists) in alike.iter().enumerate().skip(next) {
                let some = some.iter().zip(lists).map(|(a, b)| a | b).collect();
                let all = all.iter().zip(lists).map(|(a, b)| a & b).collect();
                open.push((place + 1, size + 1, some, all));
            }
        }
    }
    let mut found: Vec<Bits> = found.into_iter().collect();
    found.sort_by_key(|held| (std::cmp::Reverse(count(held)), held.clone()));
    Some(found)
}

/// The number of sets of 1 to `most` of n things.
fn sets(n: u64, most: u64) -> u64 {
    let mut of_size = 1_u64;
    (1..=most.min(n)).fold(0_u64, |all, size| {
        of_size = of_size.saturating_mul(n - size + 1) / size;
        all.saturating_add(of_size)
    })
}

fn none(length: usize) -> Bits {
    vec![0; length.div_ceil(64)]
}

pub(in crate::safetab) fn full(length: usize) -> Bits {
    let mut bits = vec![u64::MAX; length.div_ceil(64)];
    if let (Some(last), 1..) = (bits.last_mut(), length % 64) {
        *last = (1 << (length % 64)) - 1;
    }
    bits
}

fn set(bits: &mut Bits, place: usize) {
    bits[place / 64] |= 1 << (place % 64);
}

pub(in crate::safetab) fn has(bits: &Bits, place: usize) -> bool {
    bits.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
}

pub(in crate::safetab) fn count(bits: &Bits) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    /// The numbers of groups of every record, one by one, and their groups.
    fn by_records(
        groups: &[MemberGroup],
        kinds: usize,
        columns: &[usize],
        values: &[usize],
    ) -> Vec<(Vec<[u64; 2]>, Bits)> {
        let mut records: Vec<Vec<u32>> = vec![Vec::new()];
        for (&columns, &values) in columns.iter().zip(values) {
            let sets: Vec<u32> = (1_u32..1 << values).filter(|set| set.count_ones() as usize <= columns).collect();
            let longer = |before: Vec<u32>| {
                sets.iter().map(move |set| [before.clone(), vec![*set]].concat()).collect::<Vec<_>>()
            };
            records = records.into_iter().flat_map(longer).collect();
        }
        let holds = |record: &[u32], own: &Condition| {
            let listed = |value: &usize| own.listed[*value];
            let mut had = (0..own.listed.len()).filter(|value| record[own.attribute] >> value & 1 == 1);
            if own.only { had.all(|value| listed(&value)) } else { had.any(|value| listed(&value)) }
        };
        let of_record = |record: Vec<u32>| {
            let (mut numbers, mut bits) = (vec![[0; 2]; kinds], none(groups.len()));
            for (place, group) in groups.iter().enumerate() {
                if group.conditions.iter().all(|own| holds(&record, own)) {
                    numbers[group.kind][usize::from(!group.total_only)] += 1;
                    set(&mut bits, place);
                }
            }
            (numbers, bits)
        };
        records.into_iter().map(of_record).collect()
    }

    #[test]
    fn the_largest_numbers_of_groups_are_those_of_all_records() {
        let mut draws = Numbers(11);
        let mut several = 0;
        for round in 0..200 {
            let count = 1 + draws.below(3) as usize;
            let columns: Vec<usize> = (0..count).map(|_| 1 + draws.below(2) as usize).collect();
            let values: Vec<usize> = (0..count).map(|_| 1 + draws.below(4) as usize).collect();
            let kinds = 1 + draws.below(3) as usize;
            let group = |draws: &mut Numbers, number: u64| MemberGroup {
                kind: if number < kinds as u64 { number as usize } else { draws.below(kinds as u64) as usize },
                total_only: draws.below(3) == 0,
                name: number.to_string(),
                conditions: (0..1 + draws.below(2))
                    .map(|_| {
                        let attribute = draws.below(count as u64) as usize;
                        let listed = (0..values[attribute]).map(|_| draws.below(2) == 1).collect();
                        Condition { attribute, only: draws.below(2) == 1, listed }
                    })
                    .collect(),
            };
            let number = kinds as u64 + draws.below(7);
            let groups: Vec<MemberGroup> = (0..number).map(|number| group(&mut draws, number)).collect();
            let all = by_records(&groups, kinds, &columns, &values);
            let largest =
                |numbers: &Vec<[u64; 2]>| !all.iter().any(|(other, _)| other != numbers && covers(other, numbers));
            let mut expected: Vec<Vec<[u64; 2]>> =
                all.iter().map(|(numbers, _)| numbers.clone()).filter(largest).collect();
            expected.sort();
            expected.dedup();
            let found = Memberships::enumerated(&groups, &columns).unwrap();
            let mut numbers: Vec<_> = found.persons().iter().map(|person| person.numbers.clone()).collect();
            numbers.sort();
            assert_eq!(numbers, expected, "{round}");
            several += u32::from(expected.len() > 1);
            for person in found.persons() {
                assert!(!person.examples.is_empty());
                let exists = |example| all.iter().any(|(numbers, bits)| *numbers == person.numbers && bits == example);
                assert!(person.examples.iter().all(exists), "{round}");
            }
        }
        assert!(several > 30, "{several}");
    }

    #[test]
    fn too_many_sets_are_not_enumerated() {
        let one = |value: usize| (0..400).map(|v| v == value).collect::<Vec<bool>>();
        let group = |value: usize| MemberGroup {
            kind: 0,
            total_only: false,
            name: value.to_string(),
            conditions: vec![Condition { attribute: 0, only: false, listed: one(value) }],
        };
        let groups: Vec<MemberGroup> = (0..400).map(group).collect();
        assert!(Memberships::enumerated(&groups, &[5]).is_none());
        let alone = Memberships::enumerated(&groups, &[1]).unwrap();
        assert_eq!(alone.persons()[0].numbers, [[0, 1]]);
        let [first, second] = [0, 1].map(|example| alone.persons()[0].examples[example].clone());
        assert!(are_disjoint(&first, &second) && !are_disjoint(&first, &first));
        assert_eq!(alone.names(&first).len(), 1);
        assert!(alone.of_kinds(&[], &first).iter().all(|word| *word == 0) && alone.of_kinds(&[0], &first) == first);
    }
}
