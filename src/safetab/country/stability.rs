//! The largest number of groups of a grouping that a record can be in, from the rules alone.
//!
//! A record has a set of values of every attribute: one value, or one to m of an attribute with m columns. A group counts it if all conditions
//! of the group hold; each is about one attribute. All records that the attributes allow count, not only those of the data.
//!
//! **By enumeration.** For an attribute, values that are in the same lists are alike, and a second one of them changes nothing. So the sets of
//! up to m values that are not alike give every outcome of the conditions on that attribute: for each set, the groups whose conditions on it
//! hold. Values of different attributes are free of each other. So the largest number of groups in the intersection of one such outcome per
//! attribute is the stability, exactly. A branch whose groups are not more than the best number so far is left out: further attributes only
//! remove groups.
//!
//! **By a bound**, if there are too many sets or intersections. Let each group belong to the attribute of its first condition, and let a record
//! have the values R of that attribute. A group whose condition is `any` has a value of R in its list, so the record is in at most the sum over
//! R of the number of such lists with the value. A group whose condition is `only` has all of R in its list.
//!
//! - If the record is in no group by `only`, it is in at most the sum of the m largest numbers of `any` lists with one value.
//! - If it is in a group A by `only`, R is within the list of A. Then it is in at most as many groups by `only` as any of the values of A is in
//!   lists of; and by `any` in at most the sum of the m largest numbers among the values of A, and in no more groups than have one of them.
//!
//! The larger of the first and, over all A, the second bounds the groups of one attribute. The sum over all attributes is at least the number of
//! groups of any record.

use std::collections::{BTreeSet, HashSet};

use super::rules::{Condition, Group};
use crate::safetab::memberships::{Bits, count, full, has, outcomes};

/// The largest number of intersected words of 64 groups.
const MOST_WORDS: u64 = 100_000_000;

/// The stability of a grouping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stability {
    /// Upper bound on the number of groups of any record.
    pub most: u32,
    /// Groups that a record is in, as many as `most`, if the bound is attained by enumeration; else empty.
    pub example: Vec<usize>,
}

/// The stability of groups; `columns` is the number of columns of every attribute.
pub(super) fn of_groups(groups: &[Group], columns: &[usize]) -> Stability {
    enumerated(groups, columns).unwrap_or_else(|| Stability { most: bound(groups, columns), example: Vec::new() })
}

/// By enumeration; `None` if it would take too long.
fn enumerated(groups: &[Group], columns: &[usize]) -> Option<Stability> {
    let used: BTreeSet<usize> = groups.iter().flat_map(|group| &group.conditions).map(|own| own.attribute).collect();
    let conditions: Vec<&[Condition]> = groups.iter().map(|group| &group.conditions[..]).collect();
    let mut outcomes: Vec<Vec<Bits>> =
        used.iter().map(|attribute| outcomes(&conditions, *attribute, columns[*attribute])).collect::<Option<_>>()?;
    // Attributes with few outcomes first: their branches are large.
    outcomes.sort_by_key(Vec::len);
    let mut search = Search { outcomes: &outcomes, most: 0, best: Vec::new(), words: 0 };
    let all = full(groups.len());
    search.visit(0, &all).then(|| {
        let example = (0..groups.len()).filter(|group| has(&search.best, *group)).collect();
        Stability { most: search.most, example }
    })
}

/// The search for the largest intersection.
struct Search<'a> {
    outcomes: &'a [Vec<Bits>],
    most: u32,
    best: Bits,
    words: u64,
}

impl Search<'_> {
    /// Continues from the groups that are left after `depth` attributes; false if it takes too long.
    fn visit(&mut self, depth: usize, left: &Bits) -> bool {
        let number = count(left);
        if number <= self.most {
            return true;
        }
        let Some(outcomes) = self.outcomes.get(depth) else {
            (self.most, self.best) = (number, left.clone());
            return true;
        };
        for held in outcomes {
            self.words += left.len() as u64;
            if self.words > MOST_WORDS {
                return false;
            }
            if !self.visit(depth + 1, &left.iter().zip(held).map(|(a, b)| a & b).collect()) {
                return false;
            }
        }
        true
    }
}

/// The bound of the module documentation.
fn bound(groups: &[Group], columns: &[usize]) -> u32 {
    let of_attribute = |(attribute, columns): (usize, &usize)| {
        let first = |only: bool| {
            let own = groups.iter().filter_map(|group| group.conditions.first());
            own.filter(|own| own.attribute == attribute && own.only == only).collect::<Vec<&Condition>>()
        };
        bound_of_attribute(&first(false), &first(true), *columns)
    };
    let all: usize = columns.iter().enumerate().map(of_attribute).sum();
    // No record is in more groups than there are.
    all.min(groups.len()) as u32
}

/// The bound for the groups of one attribute, by their first conditions.
fn bound_of_attribute(any: &[&Condition], only: &[&Condition], columns: usize) -> usize {
    let values = any.first().or(only.first()).map_or(0, |own| own.listed.len());
    // Of each value the `any` lists that have it, and the number of `only` lists.
    let lists: Vec<Vec<usize>> =
        (0..values).map(|value| (0..any.len()).filter(|list| any[*list].listed[value]).collect()).collect();
    let numbers: Vec<usize> = (0..values).map(|value| only.iter().filter(|own| own.listed[value]).count()).collect();
    let largest = |within: &[usize]| -> usize {
        let mut sizes: Vec<usize> = within.iter().map(|value| lists[*value].len()).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.iter().take(columns).sum()
    };
    // groups by `any` of a record in no group by `only` <= the sum of the largest numbers of lists
    let none = largest(&(0..values).collect::<Vec<usize>>());
    let with = only.iter().map(|own| {
        let within: Vec<usize> = (0..values).filter(|value| own.listed[*value]).collect();
        let different: HashSet<usize> = within.iter().flat_map(|value| lists[*value].iter().copied()).collect();
        // groups of a record within this list <= groups by `only` of one value + the smaller bound on those by `any`
        within.iter().map(|value| numbers[*value]).max().unwrap_or(0) + largest(&within).min(different.len())
    });
    with.max().unwrap_or(0).max(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    fn condition(attribute: usize, only: bool, listed: &[bool]) -> Condition {
        Condition { attribute, only, listed: listed.to_vec() }
    }

    /// The largest number of groups over all records, one by one.
    fn by_records(groups: &[Group], columns: &[usize], values: &[usize]) -> u32 {
        let mut records: Vec<Vec<Vec<u32>>> = vec![Vec::new()];
        for (&columns, &values) in columns.iter().zip(values) {
            let sets = (1_u32..1 << values).filter(|set| set.count_ones() as usize <= columns);
            let sets: Vec<Vec<u32>> =
                sets.map(|set| (0..values as u32).filter(|v| set >> v & 1 == 1).collect()).collect();
            records = records
                .into_iter()
                .flat_map(|before| sets.iter().map(move |set| [before.clone(), vec![set.clone()]].concat()))
                .collect();
        }
        let all = groups.len() as u32;
        let grouping = super::super::groupings::Grouping::of_groups(String::new(), groups.to_vec(), all);
        let number = |record: &Vec<Vec<u32>>| {
            let scanned = groups.iter().filter(|group| group.conditions.iter().all(|own| own.holds(record))).count();
            assert_eq!(grouping.groups_of(record).unwrap().len(), scanned);
            scanned as u32
        };
        records.iter().map(number).max().unwrap()
    }

    #[test]
    fn the_stability_is_the_largest_number_over_all_records() {
        let mut draws = Numbers(7);
        let (mut exact, mut above) = (0, 0);
        for round in 0..300 {
            let count = 1 + draws.below(3) as usize;
            let columns: Vec<usize> = (0..count).map(|_| 1 + draws.below(3) as usize).collect();
            let values: Vec<usize> = (0..count).map(|_| 1 + draws.below(4) as usize).collect();
            let groups: Vec<Group> = (0..1 + draws.below(9))
                .map(|code| Group {
                    code: code.to_string(),
                    total_only: false,
                    conditions: (0..1 + draws.below(3))
                        .map(|_| {
                            let attribute = draws.below(count as u64) as usize;
                            let listed: Vec<bool> = (0..values[attribute]).map(|_| draws.below(2) == 1).collect();
                            condition(attribute, draws.below(2) == 1, &listed)
                        })
                        .collect(),
                })
                .collect();
            let expected = by_records(&groups, &columns, &values);
            let found = of_groups(&groups, &columns);
            assert_eq!(found.most, expected, "{round}");
            assert_eq!(found.example.len() as u32, expected, "{round}");
            let bound = bound(&groups, &columns);
            assert!(bound >= expected, "{round}: {bound} {expected}");
            exact += u32::from(bound == expected);
            above += u32::from(bound > expected);
        }
        assert!(exact > 20 && above > 20, "{exact} {above}");
    }

    #[test]
    fn large_groupings_get_a_bound_quickly() {
        // 400 languages of which a person has up to five, each alone and in any combination.
        let one = |value: usize| (0..400).map(|v| v == value).collect::<Vec<bool>>();
        let group = |value: usize, only| Group {
            code: format!("{value}{only}"),
            total_only: false,
            conditions: vec![condition(0, only, &one(value))],
        };
        let groups: Vec<Group> = (0..400).flat_map(|value| [group(value, false), group(value, true)]).collect();
        // In no group of one language alone it is in at most five; in such a group it has one language, so it is in two.
        assert_eq!(of_groups(&groups, &[5]), Stability { most: 5, example: Vec::new() });
        // One column: it is exact, in both groups of the only value.
        assert_eq!(of_groups(&groups, &[1]).most, 2);
        // Two attributes crossed: 200 times 200 groups, and a person is in one.
        let pair = |a: usize, b: usize| {
            let list = |value: usize| (0..200).map(|v| v == value).collect::<Vec<bool>>();
            Group {
                code: format!("{a} {b}"),
                total_only: false,
                conditions: vec![condition(0, false, &list(a)), condition(1, false, &list(b))],
            }
        };
        let groups: Vec<Group> = (0..60).flat_map(|a| (0..60).map(move |b| pair(a, b))).collect();
        assert_eq!(of_groups(&groups, &[1, 1]).most, 1);
    }
}
