//! The exact counts of all groups of a country, from records that are read once.

use std::{collections::HashMap, path::Path, sync::Arc};

use super::{
    geography::Areas,
    levels::CountryLevel,
    records::{PersonRecord, values_of},
    specification::CountrySpecification,
};
use crate::{
    error::{Error, Result},
    safetab::counting::{
        keys::ATOM_BITS,
        sums::{LevelSums, SeeCount},
        tallies::{Tallies, Tally, TallyWriter},
    },
};

/// The groups of a record in each grouping, ascending.
type GroupLists = Arc<Vec<Vec<u32>>>;

/// The exact counts in progress.
pub(in crate::safetab) struct CountryCounting<'a> {
    of: &'a CountrySpecification,
    areas: &'a Areas,
    /// The class of each combination of values: records in the same groups and the same cell are of one class.
    of_values: HashMap<(Vec<u32>, u32), u32>,
    classes: Vec<(GroupLists, u32)>,
    known: HashMap<(GroupLists, u32), u32>,
    tallies: TallyWriter,
    read: u64,
    tabulated: u64,
}

/// The exact counts of all groups.
pub(in crate::safetab) struct CountryCounts<'a> {
    areas: &'a Areas,
    classes: Vec<(GroupLists, u32)>,
    tallies: Tallies,
    /// The number of records, and of those in a region that is tabulated.
    pub(in crate::safetab) read: u64,
    pub(in crate::safetab) tabulated: u64,
}

impl<'a> CountryCounting<'a> {
    /// No counts yet. Counts beyond the memory are spilled into files of the folder, which only their owner can read.
    pub(in crate::safetab) fn new(of: &'a CountrySpecification, areas: &'a Areas, folder: &Path) -> Result<Self> {
        if areas.atoms.len() as u64 > 1 << ATOM_BITS {
            let allowed = format!("at most {} kinds of areas", 1_u64 << ATOM_BITS);
            return Err(Error::out_of_range("the geography", areas.atoms.len(), &allowed));
        }
        Ok(CountryCounting {
            of,
            areas,
            of_values: HashMap::new(),
            classes: Vec::new(),
            known: HashMap::new(),
            tallies: TallyWriter::new(folder),
            read: 0,
            tabulated: 0,
        })
    }

    /// Counts a record.
    pub(in crate::safetab) fn add(&mut self, record: &PersonRecord) -> Result<()> {
        self.read += 1;
        if !self.areas.is_tabulated(record.area) {
            return Ok(());
        }
        self.tabulated += 1;
        let class = self.class(record)?;
        self.tallies.add(Tally { atom: self.areas.atom_of[record.area as usize], class, cell: 0, n: 1 })
    }

    fn class(&mut self, record: &PersonRecord) -> Result<u32> {
        let key = (record.values.clone(), record.cell);
        if let Some(class) = self.of_values.get(&key) {
            return Ok(*class);
        }
        let values = values_of(self.of, &record.values);
        let lists = self.of.groupings.iter().map(|grouping| grouping.groups_of(&values)).collect::<Result<Vec<_>>>()?;
        let own = (Arc::new(lists), record.cell);
        let next = self.classes.len() as u32;
        let class = *self.known.entry(own.clone()).or_insert(next);
        if class == next {
            self.classes.push(own);
        }
        self.of_values.insert(key, class);
        Ok(class)
    }

    /// The counts.
    pub(in crate::safetab) fn finish(self) -> Result<CountryCounts<'a>> {
        let tallies = self.tallies.finish(self.areas.atoms.len())?;
        let (read, tabulated) = (self.read, self.tabulated);
        Ok(CountryCounts { areas: self.areas, classes: self.classes, tallies, read, tabulated })
    }
}

impl CountryCounts<'_> {
    /// Calls `see` with the nonzero counts of a level in ascending order of region, group and finest cell.
    pub(in crate::safetab) fn each_count(&self, level: &CountryLevel, see: &mut SeeCount) -> Result<()> {
        let (of_level, grouping) = (level.level, level.grouping);
        let inside = |(atom, regions): (u32, &Vec<Option<u32>>)| Some((regions[of_level]?, atom));
        let mut inside: Vec<(u32, u32)> = (0..).zip(&self.areas.atoms).filter_map(inside).collect();
        inside.sort_unstable();
        let groups_of = |tally: &Tally| {
            let (lists, cell) = &self.classes[tally.class as usize];
            (lists[grouping].as_slice(), *cell as usize)
        };
        let (groups, cells) = (level.groups.len(), level.table_set.cells());
        LevelSums { tallies: &self.tallies, inside, groups, cells, groups_of }.each_count(see)
    }
}
