//! The exact counts of all population groups, from records that are read once.
//!
//! Blocks that lie in the same regions form one *atom*; combinations of codes with the same iterations form one *class*. Records are
//! counted by atom, class and cell (`tallies`: sorted, and spilled to disk beyond a buffer). For each population group level, the counts of
//! the atoms of one region after the other are summed by iteration and cell. Sums of integers do not depend on the order of records,
//! threads or files.
//!
//! The tallies and their sums (`sums`) know no census; a country's own specification uses them, too.
//!
//! Memory: the buffer, 16 bytes for each block of the geography, about a hundred bytes for each different combination of codes, and the
//! iterations times cells of the largest region.

mod classes;
pub(super) mod keys;
pub(super) mod sums;
pub(super) mod tallies;

use std::path::Path;

use self::{
    classes::{Classes, Lists},
    keys::ATOM_BITS,
    sums::{LevelSums, SeeCount},
    tallies::{Tallies, Tally, TallyWriter},
};
use super::{
    groups::Specification,
    schema::{CheckedRecord, Geography, IterationLevel, Pass, RecordKind, RegionType},
    tabulate::{
        household_counts::HOUSEHOLD_CELLS,
        workload::{CELLS, cell_of},
    },
};
use crate::error::{Error, Result};

impl RecordKind {
    /// The number of cells.
    pub(in crate::safetab) fn cells(self) -> usize {
        match self {
            RecordKind::Persons => CELLS,
            RecordKind::Households => HOUSEHOLD_CELLS,
        }
    }

    /// The cell of the counted values of a record.
    pub(in crate::safetab) fn cell(self, [first, second]: [u8; 2]) -> usize {
        match self {
            RecordKind::Persons => cell_of(first, second),
            RecordKind::Households => usize::from(first - 1) * 4 + usize::from(second - 1),
        }
    }
}

/// The exact counts in progress.
pub(in crate::safetab) struct Counting<'a> {
    kind: RecordKind,
    geography: &'a Geography,
    specification: &'a Specification,
    atom_of: Vec<u32>,
    atoms: Vec<[Option<u32>; 10]>,
    classes: Classes<'a>,
    tallies: TallyWriter,
    read: u64,
    tabulated: [u64; 2],
}

/// The exact counts of all groups.
pub(in crate::safetab) struct Counted<'a> {
    kind: RecordKind,
    specification: &'a Specification,
    atoms: Vec<[Option<u32>; 10]>,
    lists: Vec<Lists>,
    tallies: Tallies,
    /// The number of records that were read.
    pub read: u64,
    /// The number of records that each pass tabulates.
    pub tabulated: [u64; 2],
}

impl<'a> Counting<'a> {
    /// No counts yet. Counts beyond the buffer are spilled into files of the folder, which only their owner can read.
    pub fn new(
        kind: RecordKind,
        specification: &'a Specification,
        geography: &'a Geography,
        folder: &Path,
    ) -> Result<Self> {
        let (atom_of, atoms) = geography.atoms();
        if atoms.len() as u64 > 1 << ATOM_BITS {
            let allowed = format!("at most {} kinds of blocks", 1_u64 << ATOM_BITS);
            return Err(Error::out_of_range("the geography", atoms.len(), &allowed));
        }
        Ok(Counting {
            kind,
            geography,
            specification,
            atom_of,
            atoms,
            classes: Classes::new(specification),
            tallies: TallyWriter::new(folder),
            read: 0,
            tabulated: [0; 2],
        })
    }

    /// Counts a record.
    pub fn add(&mut self, record: &CheckedRecord) -> Result<()> {
        self.read += 1;
        let placed = record.block.and_then(|block| Some((block, self.geography.pass(block)?)));
        let Some((block, pass)) = placed else { return Ok(()) };
        self.tabulated[usize::from(pass == Pass::PuertoRico)] += 1;
        let class = self.classes.class(record.combination)?;
        let cell = self.kind.cell(record.counted) as u32;
        self.tallies.add(Tally { atom: self.atom_of[block as usize], class, cell, n: 1 })
    }

    /// The atom of each block.
    #[cfg(feature = "cluster")]
    pub fn atom_of(&self) -> &[u32] {
        &self.atom_of
    }

    /// The classes of codes.
    #[cfg(feature = "cluster")]
    pub fn classes(&mut self) -> &mut Classes<'a> {
        &mut self.classes
    }

    /// Adds counts from elsewhere, by atom, class and cell.
    #[cfg(feature = "cluster")]
    pub fn add_counted(&mut self, (atom, class, cell): (i32, i32, i32), n: i64) -> Result<()> {
        let number = |what: &str, number: i64, end: usize| {
            let fits = usize::try_from(number).is_ok_and(|number| number < end);
            let why = || Error::out_of_range(what, number, &format!("0 to {}", end.saturating_sub(1)));
            if fits { Ok(number as u32) } else { Err(why()) }
        };
        let atom = number("the atom of a count", atom.into(), self.atoms.len())?;
        let class = number("the class of a count", class.into(), self.classes.len())?;
        let cell = number("the cell of a count", cell.into(), self.kind.cells())?;
        let n = u64::try_from(n).map_err(|_| Error::out_of_range("a count", n, "0 or more"))?;
        let pass = self.atoms[atom as usize].iter().zip(RegionType::ALL).find(|(region, _)| region.is_some());
        self.read += n;
        if let Some((_, region_type)) = pass {
            self.tabulated[usize::from(region_type.pass() == Pass::PuertoRico)] += n;
        }
        self.tallies.add(Tally { atom, class, cell, n })
    }

    /// The counts.
    pub fn finish(self) -> Result<Counted<'a>> {
        Ok(Counted {
            kind: self.kind,
            specification: self.specification,
            tallies: self.tallies.finish(self.atoms.len())?,
            atoms: self.atoms,
            lists: self.classes.into_lists(),
            read: self.read,
            tabulated: self.tabulated,
        })
    }
}

impl Counted<'_> {
    /// Calls `see` with the nonzero counts of a population group level in ascending order of region, iteration and cell.
    pub fn each_count(&self, region_type: RegionType, level: IterationLevel, see: &mut SeeCount) -> Result<()> {
        let granularity = region_type.granularity();
        let inside = |(atom, regions): (u32, &[Option<u32>; 10])| Some((regions[region_type.index()]?, atom));
        let mut inside: Vec<(u32, u32)> = (0..).zip(&self.atoms).filter_map(inside).collect();
        inside.sort_unstable();
        let groups_of =
            |tally: &Tally| (self.lists[tally.class as usize].list(granularity, level), tally.cell as usize);
        let (groups, cells) = (self.specification.key_set(granularity, level).len(), self.kind.cells());
        LevelSums { tallies: &self.tallies, inside, groups, cells, groups_of }.each_count(see)
    }
}
