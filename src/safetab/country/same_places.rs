//! Regions of different levels that are made of the same areas publish the same counts, so that no two noisy counts of the same
//! persons contradict each other. See [`coterminous`](crate::safetab::tabulate::coterminous) for the algorithm; it uses only noisy counts and public
//! geography.
//!
//! Groups of two groupings count the same persons of a region if they have the same code and the same rules. The first in the order of
//! `[[tabulate]]` that is not suppressed gives its counts to the others.

use std::collections::HashMap;

use super::{
    geography::Areas, levels::CountryLevel, output::CountryTables, rules::Condition,
    specification::CountrySpecification,
};
use crate::{
    error::Result,
    safetab::tabulate::{
        coterminous::{Coterminous, Entity, Published},
        two_stage::{GroupBatch, StagedLevel},
    },
};

/// The regions of a part that are made of the same areas as others, and the counts that their groups have published so far. A region is
/// named by the place of its level among those that are tabulated.
pub(super) struct SamePlaces<'a> {
    levels: &'a [CountryLevel],
    coterminous: Coterminous<usize>,
    /// For every level the numbers of its groups: groups with the same code and rules have the same number.
    numbers: Vec<Vec<u32>>,
    /// For every level the index of each number among its groups.
    places: Vec<HashMap<u32, u32>>,
}

impl<'a> SamePlaces<'a> {
    /// Without counts so far. No region is the same as another if the specification does not say so.
    pub(super) fn new(of: &CountrySpecification, areas: &Areas, levels: &'a [CountryLevel]) -> Self {
        let sets = if of.geography.same_places { sets(areas, levels) } else { Vec::new() };
        let mut known: HashMap<(&str, &[Condition]), u32> = HashMap::new();
        let mut numbers: Vec<Vec<u32>> = Vec::new();
        for level in levels.iter().filter(|_| !sets.is_empty()) {
            let groups = of.groupings[level.grouping].groups.iter().map(|group| {
                let next = known.len() as u32;
                *known.entry((group.code.as_str(), group.conditions.as_slice())).or_insert(next)
            });
            numbers.push(groups.collect());
        }
        let place = |numbers: &Vec<u32>| numbers.iter().copied().zip(0..).collect();
        let places = numbers.iter().map(place).collect();
        SamePlaces { levels, coterminous: Coterminous::new(sets), numbers, places }
    }

    /// Whether a region is made of the same areas as another.
    pub(super) fn holds(&self, level: usize, region: u32) -> bool {
        self.coterminous.holds((level, region))
    }

    /// Writes the groups of such regions of a batch.
    pub(super) fn write(&mut self, place: usize, batch: &GroupBatch<usize>, tables: &mut CountryTables) -> Result<()> {
        if self.coterminous.is_empty() {
            return Ok(());
        }
        let level = &self.levels[place];
        for (number, table) in batch.tables.iter().enumerate() {
            let (region, group) = level.place_of(batch.first + number as u64);
            if !self.holds(place, region) {
                continue;
            }
            let margin = level.margin(level.sole_table(group as usize).is_some());
            let own = table.map(|table| Published { table, counts: batch.counts(number).to_vec(), margin });
            let key = self.numbers[place][group as usize];
            for ((place, region), published) in self.coterminous.publish((place, region), key, own) {
                let level = &self.levels[place];
                let Some(group) = self.places[place].get(&key) else { continue };
                let group = u64::from(region) * level.width() as u64 + u64::from(*group);
                tables.group(level, group, published.table, &published.counts)?;
            }
        }
        Ok(())
    }

    /// The number of groups that publish the counts of another one.
    pub(super) fn replaced(&self) -> u64 {
        self.coterminous.replaced()
    }
}

/// The sets of regions made of the same areas, each with the place of every level that tabulates it.
fn sets(areas: &Areas, levels: &[CountryLevel]) -> Vec<Vec<Entity>> {
    let mut different: Vec<usize> = Vec::new();
    for level in levels {
        if !different.contains(&level.level) {
            different.push(level.level);
        }
    }
    let of_level = |(kind, region): Entity| {
        let own = levels.iter().enumerate().filter(|(_, level)| level.level == different[kind]);
        own.map(|(place, _)| (place, region)).collect::<Vec<Entity>>()
    };
    areas.same_places(&different).into_iter().map(|set| set.into_iter().flat_map(of_level).collect()).collect()
}
