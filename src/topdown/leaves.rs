//! The unit of the lowest level in each line of a file: a block by its GEOID, or a unit by the ids of a custom
//! hierarchy.

use std::collections::HashMap;

use crate::{
    error::Result,
    spine::{
        csv_table::{BLOCK_NAMES, BlockTable, CsvTable},
        own::{OwnIds, UnitIds},
        spine_files::SavedSpine,
    },
};

/// Finds the places of units of the lowest level.
pub(super) struct Leaves {
    /// The column that error messages point at.
    pub(super) column: usize,
    known: Known,
}

enum Known {
    Geoids {
        by_geoid: Vec<(u64, u32)>,
        /// Lines are usually sorted: the block is the previous or the next one.
        next: usize,
    },
    Own {
        columns: Vec<usize>,
        /// By the ids of these columns, one after the other.
        places: HashMap<Vec<u8>, u32>,
    },
}

/// A separator that no id contains.
const BETWEEN: u8 = 0;

impl Leaves {
    /// For a file whose header has a column `block` (or `BLOCKID`, `GEOID`); or, for a custom hierarchy, that of the
    /// lowest level and those of the levels above it that are needed to distinguish units.
    pub(super) fn new(table: &CsvTable, saved: &SavedSpine) -> Result<Leaves> {
        match &saved.ids {
            UnitIds::Census(geoids) => {
                let mut by_geoid: Vec<(u64, u32)> = geoids.blocks().iter().copied().zip(0..).collect();
                by_geoid.sort_unstable();
                Ok(Leaves { column: table.column(&BLOCK_NAMES)?, known: Known::Geoids { by_geoid, next: 0 } })
            }
            UnitIds::Own(ids) => Leaves::own(table, saved, ids),
        }
    }

    fn own(table: &CsvTable, saved: &SavedSpine, ids: &OwnIds) -> Result<Leaves> {
        let last = saved.names.len() - 1;
        let column = table.column(&[&saved.names[last]])?;
        let named: Vec<(usize, usize)> =
            (1..=last).filter_map(|level| Some((level, table.find(&[&saved.names[level]])?))).collect();
        let mut places = HashMap::with_capacity(saved.blocks());
        for place in 0..saved.blocks() {
            let path = ids.path(last, place);
            let parts: Vec<&[u8]> = named.iter().map(|(level, _)| path[level - 1].as_bytes()).collect();
            if places.insert(parts.join(&BETWEEN), place as u32).is_some() {
                let missing: Vec<&str> = (1..last)
                    .filter(|level| named.iter().all(|(known, _)| known != level))
                    .map(|level| saved.names[level].as_str())
                    .collect();
                let why = format!(
                    "{} {:?} occurs under several units: columns of {} are needed to distinguish them",
                    saved.names[last],
                    path[last - 1],
                    missing.join(" or ")
                );
                return Err(table.refuse(0, &why));
            }
        }
        let columns = named.into_iter().map(|(_, column)| column).collect();
        Ok(Leaves { column, known: Known::Own { columns, places } })
    }

    /// The place of the unit of a line.
    pub(super) fn place(&mut self, table: &CsvTable) -> Result<u32> {
        match &mut self.known {
            Known::Geoids { by_geoid, next } => {
                let geoid = table.geoid(self.column)?;
                let mut near = [*next, *next + 1].into_iter();
                let guess = near.find(|at| by_geoid.get(*at).is_some_and(|(known, _)| *known == geoid));
                let found = guess.map_or_else(|| by_geoid.binary_search_by_key(&geoid, |(known, _)| *known), Ok);
                *next = found.map_err(|_| {
                    let why = format!("the block {geoid:015} is not on the spine: its records would be lost");
                    table.refuse(self.column + 1, &why)
                })?;
                Ok(by_geoid[*next].1)
            }
            Known::Own { columns, places } => {
                let parts: Vec<&[u8]> = columns.iter().map(|at| table.cell(*at)).collect();
                places.get(&parts.join(&BETWEEN)).copied().ok_or_else(|| {
                    let shown: Vec<String> = columns.iter().map(|at| table.shown(*at)).collect();
                    let why = format!("the unit {:?} is not on the spine: its records would be lost", shown.join("/"));
                    table.refuse(self.column + 1, &why)
                })
            }
        }
    }
}
