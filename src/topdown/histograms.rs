//! The histograms of all blocks, sparse: the true counts before any noise. Confidential.

use std::path::Path;

use super::{cell_columns::CellColumns, leaves::Leaves};
use crate::{
    error::{Error, Result},
    io::csv_reader::Reading,
    release::schema::{NOWHERE, QueryGroup, Schema},
    spine::{csv_table::CsvTable, own::UnitIds, spine_files::SavedSpine},
};

/// Maximum of the sum of all counts: then no sum of counts, and no count with noise, exceeds 64 bits.
pub const MOST: u64 = 1_000_000_000_000_000;

/// The nonzero cells of blocks.
#[derive(Clone, Debug, Default)]
pub struct Histograms {
    /// By place of the block in the tree, then by cell.
    entries: Vec<Entry>,
    total: u64,
}

/// Refuses an attribute, or a count column, with the heading of a level: one column would be read as both.
fn check_headings(table: &CsvTable, saved: &SavedSpine, schema: &Schema, count: &str) -> Result<()> {
    if let UnitIds::Census(_) = saved.ids {
        return Ok(());
    }
    let beside = schema.beside.iter().flat_map(|beside| &beside.schema.attributes);
    let attributes = schema.attributes.iter().chain(beside);
    let mut others = attributes.map(|attribute| attribute.name.as_str()).chain([count]);
    others.find(|other| saved.names.iter().any(|name| name == other)).map_or(Ok(()), |other| {
        Err(table.refuse(0, &format!("{other:?} is a level and an attribute, or the count: headings must differ")))
    })
}

/// A cell of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The place of the block in the tree.
    pub place: u32,
    /// The cell of its histogram.
    pub cell: u32,
    /// The number of records in it.
    pub count: u64,
}

impl Histograms {
    /// Reads a CSV with a header: a column `block` (or `BLOCKID`, `GEOID`), a column for each attribute of the schema
    /// with the names of its values, and `column` with the count. For a custom hierarchy the columns of its levels
    /// replace the block: the lowest level, and the levels above it that are needed to distinguish units. There is a
    /// line for each nonzero cell of a block, in any order; other cells and blocks are zero. With two histograms a line
    /// leaves the attributes of one of them empty. Other columns are ignored. A block that the spine does not have, an
    /// unknown value, a repeated cell and a count that is not an integer are refused with their position. Counts are
    /// confidential: `reading` says whether cells in quotes may contain line breaks, which can hide rows.
    pub fn read(
        path: &Path,
        saved: &SavedSpine,
        schema: &Schema,
        column: &str,
        reading: Reading,
    ) -> Result<Histograms> {
        let mut table = CsvTable::read(path, reading)?;
        let mut leaves = Leaves::new(&table, saved)?;
        let count = table.column(&[column])?;
        check_headings(&table, saved, schema, column)?;
        let cells = CellColumns::new(&table, schema)?;
        let (mut entries, mut lines) = (Vec::new(), Vec::new());
        let mut total: u64 = 0;
        while table.next()? {
            let place = leaves.place(&table)?;
            let cell = cells.cell(&table)?;
            let records = table.whole(count, MOST)?;
            total += records;
            if total > MOST {
                return Err(table.refuse(count + 1, &format!("all counts together are more than {MOST}")));
            }
            entries.push(Entry { place, cell, count: records });
            lines.push(table.line() as u32);
        }
        let mut rows: Vec<u32> = (0..entries.len() as u32).collect();
        let key = |row: u32| (entries[row as usize].place, entries[row as usize].cell, row);
        if !rows.is_sorted_by_key(|row| key(*row)) {
            rows.sort_unstable_by_key(|row| key(*row));
        }
        let same = |pair: &&[u32]| (key(pair[0]).0, key(pair[0]).1) == (key(pair[1]).0, key(pair[1]).1);
        if let Some(pair) = rows.windows(2).find(same) {
            let (first, again) = (lines[pair[0] as usize], lines[pair[1] as usize] as usize);
            let leaf = saved.ids.unit(saved.names.len() - 1, entries[pair[0] as usize].place as usize);
            let what = if saved.ids.geoids().is_empty() { "unit" } else { "block" };
            let why = format!("this cell of the {what} {leaf} occurs twice: first in line {first}");
            return Err(Error::DataFile { file: table.file, line: again, column: leaves.column + 1, why });
        }
        let entries = rows.into_iter().map(|row| entries[row as usize]).collect();
        Ok(Histograms { entries, total })
    }

    /// Histograms from entries in any order, each cell of a block at most once.
    pub fn new(mut entries: Vec<Entry>) -> Result<Histograms> {
        entries.sort_unstable_by_key(|entry| (entry.place, entry.cell));
        if let Some(pair) =
            entries.windows(2).find(|pair| (pair[0].place, pair[0].cell) == (pair[1].place, pair[1].cell))
        {
            return Err(Error::conflict(format!("cell {} of a block is given twice: give each once", pair[0].cell)));
        }
        let total = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.count));
        if total > MOST {
            return Err(Error::out_of_range("the sum of all counts", total, &format!("at most {MOST}")));
        }
        Ok(Histograms { entries, total })
    }

    /// The number of blocks, of `blocks`, that have no line: as confidential as the counts.
    pub fn blocks_without(&self, blocks: usize) -> usize {
        let with = self.entries.chunk_by(|a, b| a.place == b.place).count();
        blocks - with.min(blocks)
    }

    /// The number of lines: one for each given cell of a block.
    pub fn lines(&self) -> usize {
        self.entries.len()
    }

    /// The number of all records.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds the cells of some places, each with its weight, to `out`.
    pub fn add_cells(&self, places: impl Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        for (place, weight) in places {
            let from = self.entries.partition_point(|entry| (entry.place as usize) < place);
            let own = self.entries[from..].iter().take_while(|entry| entry.place as usize == place);
            own.for_each(|entry| out[entry.cell as usize] += weight * entry.count as f64);
        }
    }

    /// Adds the counts of a query group in a range of places to `out`: Q x.
    pub fn add_answers(&self, group: &QueryGroup, places: std::ops::Range<usize>, out: &mut [i64]) {
        let from = self.entries.partition_point(|entry| (entry.place as usize) < places.start);
        for entry in self.entries[from..].iter().take_while(|entry| (entry.place as usize) < places.end) {
            // All counts together are at most 10^15.
            let count = group.cell_of[entry.cell as usize];
            if count != NOWHERE {
                out[count as usize] += entry.count as i64;
            }
        }
    }
}
