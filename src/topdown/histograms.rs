//! The histograms of all blocks, sparse: who is where, before any noise. Confidential.

use std::path::Path;

use crate::{
    error::{Error, Result},
    release::schema::{QueryGroup, Schema},
    spine::{
        csv_table::{BLOCK_NAMES, CsvTable},
        spine_files::SavedSpine,
    },
};

/// All counts together are at most so many: no sum of them and no noise added to one leaves 64 bits.
pub const MOST: u64 = 1_000_000_000_000_000;

/// The cells of blocks that are not zero.
#[derive(Clone, Debug, Default)]
pub struct Histograms {
    /// By place of the block in the tree, then by cell.
    entries: Vec<Entry>,
    total: u64,
}

/// A cell of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The place of the block in the tree.
    pub place: u32,
    /// The cell of its histogram.
    pub cell: u32,
    /// How many records are in it.
    pub count: u64,
}

impl Histograms {
    /// Reads a CSV with a header: a column `block` (or `BLOCKID`, `GEOID`), one for each attribute of the schema, with its
    /// values' names, and `column` with the count. A line for each cell of a block, in any order; cells without a line are
    /// zero, and so are blocks. Other columns are left alone. A block that the spine does not have, an unknown value, a
    /// cell twice and a count that is no whole number are refused with their place.
    pub fn read(path: &Path, saved: &SavedSpine, schema: &Schema, column: &str) -> Result<Histograms> {
        let mut table = CsvTable::open(path)?;
        let (block, count) = (table.column(&BLOCK_NAMES)?, table.column(&[column])?);
        let attributes: Vec<usize> =
            schema.attributes.iter().map(|attribute| table.column(&[&attribute.name])).collect::<Result<_>>()?;
        let values: Vec<std::collections::HashMap<&[u8], u32>> = (schema.attributes.iter())
            .map(|attribute| attribute.values.iter().zip(0..).map(|(name, value)| (name.as_bytes(), value)).collect())
            .collect();
        let mut by_geoid: Vec<(u64, u32)> = saved.geoids.iter().copied().zip(0..).collect();
        by_geoid.sort_unstable();
        let (mut entries, mut lines, mut next) = (Vec::new(), Vec::new(), 0);
        let mut total: u64 = 0;
        while table.next()? {
            let geoid = table.geoid(block)?;
            // Lines come sorted as a rule: the block before, or the next one.
            let guess =
                [next, next + 1].into_iter().find(|at| by_geoid.get(*at).is_some_and(|(known, _)| *known == geoid));
            let found = guess.map_or_else(|| by_geoid.binary_search_by_key(&geoid, |(known, _)| *known), Ok);
            next = found.map_err(|_| {
                table
                    .refuse(block + 1, &format!("the block {geoid:015} is not on the spine: its records would be lost"))
            })?;
            let mut cell = Vec::with_capacity(attributes.len());
            for ((at, values), attribute) in attributes.iter().zip(&values).zip(&schema.attributes) {
                let value = values.get(table.cell(*at)).ok_or_else(|| {
                    let (first, last) = (&attribute.values[0], &attribute.values[attribute.values.len() - 1]);
                    let why = format!(
                        "{:?} is no value of {:?}, which has {first:?} to {last:?}",
                        table.shown(*at),
                        attribute.name
                    );
                    table.refuse(at + 1, &why)
                })?;
                cell.push(*value);
            }
            let records = table.whole(count, MOST)?;
            total += records;
            if total > MOST {
                return Err(table.refuse(count + 1, &format!("all counts together are more than {MOST}")));
            }
            entries.push(Entry { place: by_geoid[next].1, cell: schema.cell(cell.into_iter()), count: records });
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
            let geoid = saved.geoids[entries[pair[0] as usize].place as usize];
            let why = format!("this cell of the block {geoid:015} occurs twice: first in line {first}");
            return Err(Error::DataFile { file: table.file, line: again, column: block + 1, why });
        }
        let entries = rows.into_iter().map(|row| entries[row as usize]).collect();
        Ok(Histograms { entries, total })
    }

    /// Histograms of entries in any order, each cell of a block at most once.
    pub fn new(mut entries: Vec<Entry>) -> Result<Histograms> {
        entries.sort_unstable_by_key(|entry| (entry.place, entry.cell));
        if let Some(pair) =
            entries.windows(2).find(|pair| (pair[0].place, pair[0].cell) == (pair[1].place, pair[1].cell))
        {
            return Err(Error::out_of_range("the cell", pair[0].cell, "each cell of a block once"));
        }
        let total = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.count));
        if total > MOST {
            return Err(Error::out_of_range("the sum of all counts", total, &format!("at most {MOST}")));
        }
        Ok(Histograms { entries, total })
    }

    /// How many of so many blocks have no line: a number that is as confidential as the counts.
    pub fn blocks_without(&self, blocks: usize) -> usize {
        let with = self.entries.chunk_by(|a, b| a.place == b.place).count();
        blocks - with.min(blocks)
    }

    /// All records.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The counts of a query group in a range of places, added to `out`: Q x.
    pub fn add_answers(&self, group: &QueryGroup, places: std::ops::Range<usize>, out: &mut [i64]) {
        let from = self.entries.partition_point(|entry| (entry.place as usize) < places.start);
        for entry in self.entries[from..].iter().take_while(|entry| (entry.place as usize) < places.end) {
            // All counts together are at most 10^15.
            out[group.cell_of[entry.cell as usize] as usize] += entry.count as i64;
        }
    }
}
