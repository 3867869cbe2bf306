//! The tables of a release: `totals.csv` with the total of every published group, and `cells.csv` with the cells of groups with a finer table.
//!
//! The total of a group with a finer table is the sum of its noisy cells, so both files agree; this is post-processing, which costs no privacy.

use std::path::{Path, PathBuf};

use super::{
    levels::CountryLevel,
    specification::{COLUMNS, CountrySpecification},
};
use crate::{
    error::Result,
    safetab::{csv_file::CsvFile, tabulate::two_stage::GroupBatch},
};

/// The tables of a release by the names of their files without `.csv`.
pub(in crate::safetab) const TABLES: [&str; 2] = ["totals", "cells"];

/// The paths of both tables in a folder.
pub(in crate::safetab) fn paths(folder: &Path) -> [PathBuf; 2] {
    TABLES.map(|name| folder.join(format!("{name}.csv")))
}

/// The tables while they are written.
pub(in crate::safetab) struct CountryTables<'a> {
    totals: CsvFile<'a>,
    cells: CsvFile<'a>,
}

impl<'a> CountryTables<'a> {
    /// Two empty tables with their headings, of which the last shows an insecure seed.
    pub(in crate::safetab) fn create(
        [totals, cells]: &'a [PathBuf; 2],
        of: &CountrySpecification,
        insecure_seed: Option<u64>,
    ) -> Result<CountryTables<'a>> {
        let mark = insecure_seed.map_or_else(String::new, |seed| format!(" (INSECURE seed {seed})"));
        let [level, region, grouping, group, table, count] = COLUMNS.map(str::to_string);
        let count = count + &mark;
        let group = vec![level, region, grouping, group];
        let by = of.tables.by.iter().map(|attribute| of.attributes[*attribute].name.clone());
        let of_cells = [group.clone(), vec![table], by.collect(), vec![count.clone()]].concat();
        Ok(CountryTables {
            totals: CsvFile::create(totals, group.iter().chain([&count]))?,
            cells: CsvFile::create(cells, of_cells)?,
        })
    }

    /// Writes the groups of a batch.
    pub(in crate::safetab) fn write(&mut self, level: &CountryLevel, batch: &GroupBatch<usize>) -> Result<()> {
        for (number, table) in batch.tables.iter().enumerate() {
            if let Some(table) = *table {
                self.group(level, batch.first + number as u64, table, batch.counts(number))?;
            }
        }
        Ok(())
    }

    /// Writes a group with a table: its total, and its cells if there are several.
    pub(in crate::safetab) fn group(
        &mut self,
        level: &CountryLevel,
        group: u64,
        table: usize,
        counts: &[i64],
    ) -> Result<()> {
        // Sums of 64-bit counts need more bits.
        self.total(level, group, counts.iter().map(|count| i128::from(*count)).sum())?;
        self.cells(level, group, table, counts)
    }

    /// Writes the total of a group.
    pub(in crate::safetab) fn total(&mut self, level: &CountryLevel, group: u64, total: i128) -> Result<()> {
        let total = total.to_string();
        self.totals.row(names(level, group).into_iter().chain([total.as_str()]))
    }

    /// Writes the cells of a group, if the table has several.
    pub(in crate::safetab) fn cells(
        &mut self,
        level: &CountryLevel,
        group: u64,
        table: usize,
        counts: &[i64],
    ) -> Result<()> {
        let table = &level.table_set.tables[table];
        if table.is_total {
            return Ok(());
        }
        for (labels, count) in table.labels.iter().zip(counts) {
            let labels = labels.iter().map(String::as_str);
            let own = [table.name.as_str()].into_iter().chain(labels);
            let count = count.to_string();
            self.cells.row(names(level, group).into_iter().chain(own).chain([count.as_str()]))?;
        }
        Ok(())
    }

    /// Syncs both tables to the disk; returns their numbers of rows.
    pub(in crate::safetab) fn finish(self) -> Result<[u64; 2]> {
        Ok([self.totals.finish()?, self.cells.finish()?])
    }
}

/// The first cells of a row.
fn names(level: &CountryLevel, group: u64) -> [&str; 4] {
    let width = level.groups.len() as u64;
    let (region, group) = (&level.regions[(group / width) as usize], &level.groups[(group % width) as usize].0);
    [&level.level_name, region, &level.grouping_name, group]
}
