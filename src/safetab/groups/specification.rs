//! Population groups: characteristic iterations, the persons in them, and how many one person can belong to.
//!
//! A population group is a region and an iteration. A person belongs to
//!
//! - the *alone* iterations that all race codes of the record have in common,
//! - the *alone or in any combination* iterations of any of its race codes,
//! - the iterations of its ethnicity code,
//!
//! each counted once, at levels 1 and 2 (2024 paper, Section 2.2; level 0 is tabulated elsewhere).
//!
//! # The number of groups that one person changes
//!
//! The noise is scaled to the stability s: the largest number of iterations that any record, not only those of the data, can have at one
//! level and granularity. The production program computes
//!
//! ```text
//! s = h_r max(2, m) + h_e,
//! ```
//!
//! where m is the largest number of race codes used, h_r the largest number of *alone* iterations of one race code, and h_e the largest
//! number of iterations of one ethnicity code. It assumes that the alone iterations and the in-combination iterations have the same
//! structure. Under this assumption the formula is a bound: k codes with c alone iterations in common have c in-combination iterations in
//! common, so they have at most c + c + k (h_r - c) <= h_r max(2, k) race iterations. But the program does not check the assumption, and
//! without it the formula is not a bound: let m codes have one alone iteration in common and m different in-combination iterations; then
//! h_r = 1, and a record with all of them has m + 1 race iterations.
//!
//! So [`Specification::stability`] is the larger of the formula and a bound that holds for every specification. For a record with the set R
//! of race codes, at most m, let C be the alone iterations that they have in common.
//!
//! - If C is empty, R has at most the sum of the m largest numbers of in-combination iterations of single codes.
//! - If C contains an iteration A, R is a subset of the codes of A. Each of them has all of C, so C is no larger than the number of alone
//!   iterations of any of them. The number of in-combination iterations is at most the sum of the m largest numbers among the codes of A,
//!   and at most the number of different ones that all codes of A have.
//!
//! The maximum of the first and, over all A, the second is an upper bound on the race iterations; h_e is one on those of ethnicity. In the
//! specification of the production both are 9 at every level and granularity.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, OnceLock},
};

use crate::{
    error::{Error, Result},
    safetab::{
        memberships::{Condition, MemberGroup, Memberships},
        schema::{Combination, Granularity, IterationCode, IterationLevel, RaceEthCode},
    },
};

/// The persons that an iteration counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IterationKind {
    /// Persons all of whose race codes belong to it.
    Alone,
    /// Persons with at least one race code that belongs to it.
    InCombination,
    /// Persons whose ethnicity code belongs to it.
    Ethnicity,
}

/// A characteristic iteration of level 1 or 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Its code.
    pub code: IterationCode,
    /// Its name.
    pub name: String,
    /// The persons it counts.
    pub kind: IterationKind,
    /// Its level.
    pub level: IterationLevel,
    /// Whether it is tabulated only for nation and states, and only by its total there.
    pub detailed_only: bool,
    /// Whether it is tabulated only below the states.
    pub coarse_only: bool,
}

impl Iteration {
    /// Whether it is tabulated for regions of the granularity.
    pub fn is_tabulated(&self, granularity: Granularity) -> bool {
        match granularity {
            Granularity::Detailed => !self.coarse_only,
            Granularity::Coarse => !self.detailed_only,
        }
    }
}

/// An iteration of a key set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TabulatedIteration {
    /// The iteration.
    pub iteration: IterationCode,
    /// Whether only its total is counted, with the whole budget.
    pub detailed_only: bool,
}

/// The four files of races, ethnicities and iterations.
#[derive(Clone, Debug)]
pub struct Specification {
    max_race_codes: u32,
    /// In ascending order.
    codes: Vec<RaceEthCode>,
    /// The iterations of levels 1 and 2, by ascending code.
    iterations: Vec<Iteration>,
    /// Indexed by granularity and level.
    members: [[Members; 2]; 2],
    people: OnceLock<People>,
}

/// The groups of all persons, of which a record can be one.
#[derive(Clone, Debug, Default)]
struct People {
    /// Over all granularities and levels at once; `None` if it would take too long.
    together: Option<Arc<Memberships>>,
    /// By granularity and level, the largest numbers of groups of persons; `None` if it would take too long.
    alone: [Option<Arc<Vec<[u64; 2]>>>; 4],
}

/// The iterations of one granularity and level that each code belongs to, in ascending lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    pub(super) alone: HashMap<RaceEthCode, Vec<IterationCode>>,
    pub(super) in_combination: HashMap<RaceEthCode, Vec<IterationCode>>,
    pub(super) ethnicity: HashMap<RaceEthCode, Vec<IterationCode>>,
    stability: u32,
}

impl Specification {
    /// A specification from its parts, in any order: the iterations, each once, and the codes that belong to them.
    pub fn new(
        max_race_codes: u32,
        codes: impl IntoIterator<Item = RaceEthCode>,
        mut iterations: Vec<Iteration>,
        pairs: &[(IterationCode, RaceEthCode)],
    ) -> Specification {
        iterations.sort_by_key(|iteration| iteration.code);
        iterations.dedup_by_key(|iteration| iteration.code);
        let mut codes: Vec<RaceEthCode> = codes.into_iter().collect();
        codes.sort_unstable();
        codes.dedup();
        let members = Granularity::ALL.map(|granularity| {
            IterationLevel::ALL.map(|level| {
                let chosen = iterations.iter().filter(|it| it.level == level && it.is_tabulated(granularity));
                let kinds: HashMap<IterationCode, IterationKind> = chosen.map(|it| (it.code, it.kind)).collect();
                Members::new(max_race_codes, &kinds, pairs)
            })
        });
        Specification { max_race_codes, codes, iterations, members, people: OnceLock::new() }
    }

    /// The codes of races and ethnicities, ascending.
    pub fn codes(&self) -> impl Iterator<Item = RaceEthCode> {
        self.codes.iter().copied()
    }

    /// The iterations of levels 1 and 2, by ascending code.
    pub fn all_iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// Whether a code belongs to an iteration of level 1 or 2 of a kind.
    pub fn has_iteration(&self, code: RaceEthCode, kind: IterationKind) -> bool {
        self.members.iter().flatten().any(|members| match kind {
            IterationKind::Alone => members.alone.contains_key(&code),
            IterationKind::InCombination => members.in_combination.contains_key(&code),
            IterationKind::Ethnicity => members.ethnicity.contains_key(&code),
        })
    }

    /// The largest number of race codes used of a record.
    pub fn max_race_codes(&self) -> u32 {
        self.max_race_codes
    }

    /// The iterations of a person at a granularity and level, each once, ascending; never more than [`Specification::stability`]. An error
    /// if the combination has no race code, or more than are used of a record: the certified privacy would not hold for it.
    pub fn iterations(
        &self,
        combination: &Combination,
        granularity: Granularity,
        level: IterationLevel,
    ) -> Result<Vec<IterationCode>> {
        let races = combination.races();
        if races.is_empty() || races.len() > self.max_race_codes as usize {
            let allowed = format!("1 to {} race codes, for which the stability is computed", self.max_race_codes);
            return Err(Error::out_of_range("number of race codes of a person", races.len(), &allowed));
        }
        let members = self.members(granularity, level);
        let mut all = members.iterations(races, combination.ethnicity());
        all.sort_unstable();
        all.dedup();
        if all.len() > members.stability as usize {
            let allowed = format!("at most {}, the stability that the noise is scaled to", members.stability);
            return Err(Error::out_of_range("number of iterations of a person", all.len(), &allowed));
        }
        Ok(all)
    }

    /// All iterations that are tabulated for regions of a granularity at a level, ascending. They do not depend on the data.
    pub fn key_set(&self, granularity: Granularity, level: IterationLevel) -> Vec<TabulatedIteration> {
        let chosen = self.iterations.iter().filter(|it| it.level == level && it.is_tabulated(granularity));
        chosen.map(|it| TabulatedIteration { iteration: it.code, detailed_only: it.detailed_only }).collect()
    }

    /// Upper bound on the number of iterations of a record at a granularity and level, for any codes; see the [module](self) for the proof.
    pub fn stability(&self, granularity: Granularity, level: IterationLevel) -> u32 {
        self.members(granularity, level).stability
    }

    /// The number of a granularity and level among the kinds of groups.
    pub(in crate::safetab) fn kind(&self, granularity: Granularity, level: IterationLevel) -> usize {
        2 * granularity as usize + level as usize
    }

    /// The groups of all persons, by kind; `None` if the enumeration would take too long.
    pub(in crate::safetab) fn people(&self) -> Option<Arc<Memberships>> {
        self.people.get_or_init(|| self.enumerated()).together.clone()
    }

    /// The largest numbers of groups of persons of a granularity and level alone; `None` if the enumeration would take too long.
    pub(in crate::safetab) fn alone(
        &self,
        granularity: Granularity,
        level: IterationLevel,
    ) -> Option<Arc<Vec<[u64; 2]>>> {
        self.people.get_or_init(|| self.enumerated()).alone[self.kind(granularity, level)].clone()
    }

    fn enumerated(&self) -> People {
        // Attribute 0 is race, with several codes of a person, and attribute 1 ethnicity, with one.
        let columns = [self.max_race_codes as usize, 1];
        let all: Vec<MemberGroup> = self.member_groups();
        let together = Memberships::enumerated(&all, &columns).map(Arc::new);
        let alone = [0, 1, 2, 3].map(|kind| {
            let own: Vec<MemberGroup> = all.iter().filter(|group| group.kind == kind).cloned().collect();
            let numbers = |found: Memberships| found.persons().iter().map(|person| person.numbers[kind]).collect();
            Memberships::enumerated(&own, &columns).map(|found| Arc::new(numbers(found)))
        });
        People { together, alone }
    }

    /// The groups of all granularities and levels, with conditions on the codes of a person.
    fn member_groups(&self) -> Vec<MemberGroup> {
        let mut groups = Vec::new();
        for granularity in Granularity::ALL {
            for level in IterationLevel::ALL {
                let members = self.members(granularity, level);
                let tabulated = |it: &&Iteration| it.level == level && it.is_tabulated(granularity);
                for iteration in self.iterations.iter().filter(tabulated) {
                    let (map, attribute, only) = match iteration.kind {
                        IterationKind::Alone => (&members.alone, 0, true),
                        IterationKind::InCombination => (&members.in_combination, 0, false),
                        IterationKind::Ethnicity => (&members.ethnicity, 1, false),
                    };
                    let has = |code| map.get(code).is_some_and(|own| own.contains(&iteration.code));
                    let listed = self.codes.iter().map(has).collect();
                    groups.push(MemberGroup {
                        kind: self.kind(granularity, level),
                        total_only: iteration.detailed_only,
                        name: iteration.name.clone(),
                        conditions: vec![Condition { attribute, only, listed }],
                    });
                }
            }
        }
        groups
    }

    pub(super) fn members(&self, granularity: Granularity, level: IterationLevel) -> &Members {
        &self.members[granularity as usize][level as usize]
    }
}

impl Members {
    fn new(
        max_race_codes: u32,
        kinds: &HashMap<IterationCode, IterationKind>,
        pairs: &[(IterationCode, RaceEthCode)],
    ) -> Members {
        let mut members = Members::default();
        for (iteration, code) in pairs {
            let map = match kinds.get(iteration) {
                Some(IterationKind::Alone) => &mut members.alone,
                Some(IterationKind::InCombination) => &mut members.in_combination,
                Some(IterationKind::Ethnicity) => &mut members.ethnicity,
                None => continue,
            };
            map.entry(*code).or_default().push(*iteration);
        }
        for map in [&mut members.alone, &mut members.in_combination, &mut members.ethnicity] {
            for iterations in map.values_mut() {
                iterations.sort_unstable();
                iterations.dedup();
            }
        }
        members.stability = members.bound(max_race_codes);
        members
    }

    /// The iterations of a record, possibly with duplicates.
    fn iterations(&self, races: &[RaceEthCode], ethnicity: RaceEthCode) -> Vec<IterationCode> {
        let of = |map: &'_ HashMap<RaceEthCode, Vec<IterationCode>>, code: &RaceEthCode| {
            map.get(code).cloned().unwrap_or_default()
        };
        let mut all: Vec<IterationCode> = races.iter().flat_map(|race| of(&self.in_combination, race)).collect();
        if let Some((first, others)) = races.split_first() {
            let common = of(&self.alone, first).into_iter();
            let has =
                |race: &RaceEthCode, it: &IterationCode| self.alone.get(race).is_some_and(|known| known.contains(it));
            all.extend(common.filter(|iteration| others.iter().all(|race| has(race, iteration))));
        }
        all.extend(of(&self.ethnicity, &ethnicity));
        all
    }

    /// The larger of the production formula and the bound proven in the module documentation.
    fn bound(&self, max_race_codes: u32) -> u32 {
        let most = |map: &HashMap<RaceEthCode, Vec<IterationCode>>| map.values().map(Vec::len).max().unwrap_or(0);
        let formula = most(&self.alone) * (max_race_codes.max(2) as usize) + most(&self.ethnicity);
        let width = |code: &RaceEthCode| self.in_combination.get(code).map_or(0, Vec::len);
        let largest = |mut widths: Vec<usize>| -> usize {
            widths.sort_unstable_by(|a, b| b.cmp(a));
            widths.iter().take(max_race_codes as usize).sum()
        };
        // Records whose codes have no alone iteration in common.
        let mut race = largest(self.in_combination.values().map(Vec::len).collect());
        // Records whose codes all belong to one alone iteration.
        let mut codes_of: HashMap<IterationCode, Vec<RaceEthCode>> = HashMap::new();
        for (code, iterations) in &self.alone {
            iterations.iter().for_each(|iteration| codes_of.entry(*iteration).or_default().push(*code));
        }
        for codes in codes_of.values() {
            let common = codes.iter().filter_map(|code| self.alone.get(code)).map(Vec::len).max().unwrap_or(0);
            let different: BTreeSet<_> =
                codes.iter().filter_map(|code| self.in_combination.get(code)).flatten().collect();
            race = race.max(common + largest(codes.iter().map(width).collect()).min(different.len()));
        }
        formula.max(race + most(&self.ethnicity)) as u32
    }
}
