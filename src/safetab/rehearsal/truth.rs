//! The exact counts of all groups, held in memory.

use crate::{
    error::{Error, Result},
    safetab::{
        counting::{Counted, sums::SeeCount},
        groups::Specification,
        schema::{IterationLevel, Pass, RecordKind, RegionType},
    },
};

/// The largest number of counts of one level, 16 bytes each.
const MOST: usize = 1 << 26;

/// The exact counts of a level.
#[derive(Clone, Debug, Default)]
pub(super) struct LevelCounts {
    cells: u64,
    /// The nonzero counts, keyed by group times cells plus cell, ascending.
    counts: Vec<(u64, u64)>,
}

/// The exact counts of all groups.
pub(super) struct Truth {
    /// Indexed by region type and level.
    levels: Vec<[LevelCounts; 2]>,
    /// The number of records that were read.
    pub read: u64,
    /// The number of records that each pass tabulates.
    pub tabulated: [u64; 2],
}

impl Truth {
    /// The counts of all groups of the region types of these passes.
    pub(super) fn of_counts(
        counted: &Counted,
        kind: RecordKind,
        specification: &Specification,
        passes: &[Pass],
    ) -> Result<Truth> {
        let mut truth = Truth {
            levels: vec![Default::default(); RegionType::ALL.len()],
            read: counted.read,
            tabulated: counted.tabulated,
        };
        let cells = kind.cells() as u64;
        for &region_type in passes.iter().flat_map(|pass| pass.region_types()) {
            for level in IterationLevel::ALL {
                let width = specification.key_set(region_type.granularity(), level).len() as u64;
                truth.levels[region_type.index()][level as usize] =
                    LevelCounts::new(width, cells, |see| counted.each_count(region_type, level, see))?;
            }
        }
        Ok(truth)
    }

    /// The counts of a level.
    pub(super) fn level(&self, region_type: RegionType, level: IterationLevel) -> &LevelCounts {
        &self.levels[region_type.index()][level as usize]
    }
}

impl LevelCounts {
    /// The counts that `each` passes on in ascending order of region, group and cell; there are `width` groups in a region.
    pub(super) fn new(width: u64, cells: u64, each: impl FnOnce(&mut SeeCount) -> Result<()>) -> Result<LevelCounts> {
        let mut counts = Vec::new();
        each(&mut |region, iteration, cell, count| {
            let group = u64::from(region) * width + u64::from(iteration);
            counts.push((group * cells + cell as u64, count as u64));
            match counts.len() > MOST {
                true => {
                    let allowed =
                        format!("at most {MOST} of a level: rehearse with fewer records or a smaller geography");
                    Err(Error::out_of_range("the counts of a rehearsal", counts.len(), &allowed))
                }
                false => Ok(()),
            }
        })?;
        counts.shrink_to_fit();
        Ok(LevelCounts { cells, counts })
    }

    /// Every nonzero count with its group and cell, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, usize, i64)> {
        self.counts.iter().map(|(key, count)| (key / self.cells, (key % self.cells) as usize, *count as i64))
    }

    /// The number of groups that are not empty.
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

    /// The counts of groups, for access in ascending order.
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
    /// Fills in the cells of a group, which must be 0 before, and returns whether it has any count; if not, they stay 0.
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
