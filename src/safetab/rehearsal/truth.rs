//! The exact counts of all population groups, from records that are read once.
//!
//! Blocks that lie in the same regions are one atom, combinations of codes with the same iterations one class. Records are
//! counted by atom, class and cell; then the counts of each level are added up by group and cell, where they are not 0. Beside
//! these lists there are the geography, 4 bytes for each of its blocks, and some hundred bytes for each different combination
//! of codes.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::sorted_counts::SortedCounts;
use crate::{
    error::{Error, Result},
    safetab::{
        groups::Specification,
        schema::{CheckedRecord, Combination, Geography, Granularity, IterationLevel, Pass, RegionType},
    },
};

/// Bits of a cell and of a class in a key; the atom is above them.
const CELL_BITS: u32 = 6;
const CLASS_BITS: u32 = 32;

/// The positions of the iterations of a combination in the key sets: by granularity and level.
type Lists = [[Vec<u32>; 2]; 2];

/// Records while they are counted.
pub(super) struct Counting<'a> {
    specification: &'a Specification,
    geography: &'a Geography,
    atom_of: Vec<u32>,
    atoms: Vec<[Option<u32>; 10]>,
    class_of: HashMap<u128, u32, FixedState>,
    classes: HashMap<Lists, u32, FixedState>,
    lists: Vec<Lists>,
    counts: SortedCounts,
    /// Cells that a group has.
    cells: usize,
    read: u64,
    tabulated: [u64; 2],
}

/// The exact counts of a level.
#[derive(Clone, Debug, Default)]
pub(super) struct LevelCounts {
    cells: u64,
    /// By group times cells plus cell, ascending: those that are not 0.
    counts: Vec<(u64, u64)>,
}

/// The exact counts of all groups.
pub(super) struct Truth {
    /// By region type and level.
    levels: Vec<[LevelCounts; 2]>,
    /// How many records were read.
    pub read: u64,
    /// How many of them each pass tabulates.
    pub tabulated: [u64; 2],
}

impl<'a> Counting<'a> {
    /// Nothing counted yet; records fall into so many cells.
    pub(super) fn new(specification: &'a Specification, geography: &'a Geography, cells: usize) -> Self {
        let (atom_of, atoms) = geography.atoms();
        Counting {
            specification,
            geography,
            atom_of,
            atoms,
            class_of: HashMap::default(),
            classes: HashMap::default(),
            lists: Vec::new(),
            counts: SortedCounts::default(),
            cells,
            read: 0,
            tabulated: [0; 2],
        }
    }

    /// Counts a record in a cell.
    pub(super) fn add(&mut self, record: &CheckedRecord, cell: usize) -> Result<()> {
        self.read += 1;
        let placed = record.block.and_then(|block| Some((block, self.geography.pass(block)?)));
        let Some((block, pass)) = placed else { return Ok(()) };
        self.tabulated[usize::from(pass == Pass::PuertoRico)] += 1;
        let class = match self.class_of.get(&record.combination) {
            Some(class) => *class,
            None => self.classify(record.combination)?,
        };
        let atom = u64::from(self.atom_of[block as usize]);
        self.counts.add((atom << CLASS_BITS | u64::from(class)) << CELL_BITS | cell as u64, 1)
    }

    /// The class of a combination that is new.
    #[cold]
    fn classify(&mut self, packed: u128) -> Result<u32> {
        let combination = Combination::unpack(packed);
        let mut lists = Lists::default();
        for granularity in Granularity::ALL {
            for level in IterationLevel::ALL {
                let keys = self.specification.key_set(granularity, level);
                let place = |code| keys.binary_search_by_key(code, |key| key.iteration).ok().map(|place| place as u32);
                let codes = self.specification.iterations(&combination, granularity, level)?;
                lists[granularity as usize][level as usize] = codes.iter().filter_map(place).collect();
            }
        }
        let next = self.lists.len() as u32;
        let class = *self.classes.entry(lists.clone()).or_insert(next);
        if class == next {
            self.lists.push(lists);
        }
        self.class_of.insert(packed, class);
        Ok(class)
    }

    /// The counts of all groups of the region types of these passes.
    pub(super) fn finish(self, passes: &[Pass]) -> Result<Truth> {
        let atoms_fit = (self.atoms.len() as u64) < 1 << (64 - CLASS_BITS - CELL_BITS);
        if !atoms_fit {
            let allowed = "at most 67 million kinds of blocks";
            return Err(Error::out_of_range("the geography of a rehearsal", self.atoms.len(), allowed));
        }
        let tallies = self.counts.finish()?;
        let mut truth = Truth {
            levels: vec![Default::default(); RegionType::ALL.len()],
            read: self.read,
            tabulated: self.tabulated,
        };
        for &region_type in passes.iter().flat_map(|pass| pass.region_types()) {
            for level in IterationLevel::ALL {
                let granularity = region_type.granularity();
                let width = self.specification.key_set(granularity, level).len() as u64;
                let mut counts = SortedCounts::default();
                for &(key, count) in &tallies {
                    let (cell, class) = (key % (1 << CELL_BITS), key >> CELL_BITS & ((1 << CLASS_BITS) - 1));
                    let atom = (key >> (CELL_BITS + CLASS_BITS)) as usize;
                    let Some(region) = self.atoms[atom][region_type.index()] else { continue };
                    for &iteration in &self.lists[class as usize][granularity as usize][level as usize] {
                        let group = u64::from(region) * width + u64::from(iteration);
                        counts.add(group * self.cells as u64 + cell, count)?;
                    }
                }
                let counts = LevelCounts { cells: self.cells as u64, counts: counts.finish()? };
                truth.levels[region_type.index()][level as usize] = counts;
            }
        }
        Ok(truth)
    }
}

impl Truth {
    /// The counts of a level.
    pub(super) fn level(&self, region_type: RegionType, level: IterationLevel) -> &LevelCounts {
        &self.levels[region_type.index()][level as usize]
    }
}

impl LevelCounts {
    /// Every count that is not 0: its group, cell and count, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, usize, i64)> {
        self.counts.iter().map(|(key, count)| (key / self.cells, (key % self.cells) as usize, *count as i64))
    }

    /// In how many groups there is anybody.
    pub(super) fn inhabited(&self) -> u64 {
        self.counts.chunk_by(|(a, _), (b, _)| a / self.cells == b / self.cells).count() as u64
    }

    /// Adds the counts of a group to its cells.
    pub(super) fn add_to(&self, group: u64, cells: &mut [i64]) {
        let begin = self.counts.partition_point(|(key, _)| *key < group * self.cells);
        for (key, count) in self.counts[begin..].iter().take_while(|(key, _)| *key / self.cells == group) {
            cells[(key % self.cells) as usize] += *count as i64;
        }
    }

    /// The counts of groups that are asked for in ascending order.
    pub(super) fn in_order(&self) -> InOrder<'_> {
        InOrder { level: self, next: 0 }
    }
}

/// The counts of groups in ascending order.
pub(super) struct InOrder<'a> {
    level: &'a LevelCounts,
    next: usize,
}

impl InOrder<'_> {
    /// The cells of a group. Whether anybody is in it; the cells are 0 before and, if nobody is, after.
    pub(super) fn cells(&mut self, group: u64, cells: &mut [i64]) -> bool {
        let (counts, width) = (&self.level.counts, self.level.cells);
        while counts.get(self.next).is_some_and(|(key, _)| *key < group * width) {
            self.next += 1;
        }
        let begin = self.next;
        while let Some((key, count)) = counts.get(self.next).filter(|(key, _)| *key / width == group) {
            cells[(key % width) as usize] += *count as i64;
            self.next += 1;
        }
        self.next > begin
    }
}
