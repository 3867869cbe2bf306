//! The tables of a release: the total of every published group, and the cells of groups with a finer table, in the form of the
//! layout.
//!
//! The total of a group with a finer table is the sum of its noisy cells, so both files agree, and so are sums over attributes. This is
//! post-processing, which costs no privacy.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use super::{
    layout::{Column, Layout, Shown},
    levels::CountryLevel,
    specification::CountrySpecification,
    tables::Table,
};
use crate::{
    error::Result,
    io::files::file_error,
    safetab::{csv_file::CsvFile, tabulate::two_stage::GroupBatch},
};

/// The names of both tables in certificates.
pub(in crate::safetab) const TABLES: [&str; 2] = ["totals", "cells"];

/// The paths of both tables of a part in a folder.
pub(in crate::safetab) fn paths(folder: &Path, of: &CountrySpecification, part: usize) -> [PathBuf; 2] {
    of.layout.files[part].each_ref().map(|name| folder.join(name))
}

/// The tables of a part while they are written.
pub(in crate::safetab) struct CountryTables<'a> {
    layout: &'a Layout,
    totals: CsvFile<'a>,
    cells: CsvFile<'a>,
}

/// A row, for its columns.
struct RowOf<'a> {
    level: &'a CountryLevel,
    group: u64,
    table: &'a str,
    cell: CellOf<'a>,
    count: String,
}

/// A cell by attribute: its texts, and the ends of its numbers.
#[derive(Default, PartialEq, Eq)]
struct CellOf<'a> {
    labels: Vec<&'a str>,
    ends: Vec<Option<(u32, u32)>>,
}

impl<'a> CellOf<'a> {
    /// A cell of a table, summed over some attributes.
    fn new(table: &'a Table, cell: usize, summed: &[usize]) -> Self {
        let is_summed = |place: usize| summed.contains(&place);
        let labels = table.labels[cell].iter().enumerate();
        let ends = table.ends[cell].iter().enumerate();
        CellOf {
            labels: labels.map(|(place, label)| if is_summed(place) { "*" } else { label }).collect(),
            ends: ends.map(|(place, ends)| ends.filter(|_| !is_summed(place))).collect(),
        }
    }
}

impl<'a> CountryTables<'a> {
    /// Two empty tables with their headings, of which that of counts shows an insecure seed.
    pub(in crate::safetab) fn create(
        paths: &'a [PathBuf; 2],
        of: &'a CountrySpecification,
        insecure_seed: Option<u64>,
    ) -> Result<CountryTables<'a>> {
        let mark = insecure_seed.map_or_else(String::new, |seed| format!(" (INSECURE seed {seed})"));
        let layout = &of.layout;
        let create = |path: &'a PathBuf, columns: &[Column]| {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(|why| file_error(folder, why))?;
            }
            let heading = |Column { heading, shown }: &Column| match shown {
                Shown::Count => heading.clone() + &mark,
                _ => heading.clone(),
            };
            CsvFile::with_separator(path, layout.separator, columns.iter().map(heading))
        };
        let [totals, cells] = paths;
        Ok(CountryTables { layout, totals: create(totals, &layout.totals)?, cells: create(cells, &layout.cells)? })
    }

    /// Writes a group with a table: its total, and its cells if there are several.
    pub(in crate::safetab) fn group(
        &mut self,
        level: &CountryLevel,
        group: u64,
        table: usize,
        counts: &[i64],
    ) -> Result<()> {
        self.total(level, group, sum(counts))?;
        self.cells(level, group, table, counts)
    }

    /// Writes the groups of a batch that are published, of those that `is_own` chooses by their regions.
    pub(in crate::safetab) fn write(
        &mut self,
        level: &CountryLevel,
        batch: &GroupBatch<usize>,
        is_own: impl Fn(u32) -> bool,
    ) -> Result<()> {
        for (number, table) in batch.tables.iter().enumerate() {
            let group = batch.first + number as u64;
            if let Some(table) = *table
                && is_own(level.place_of(group).0)
            {
                self.group(level, group, table, batch.counts(number))?;
            }
        }
        Ok(())
    }

    /// Writes the total of a group.
    pub(in crate::safetab) fn total(&mut self, level: &CountryLevel, group: u64, total: i128) -> Result<()> {
        let row = RowOf { level, group, table: "", cell: CellOf::default(), count: total.to_string() };
        self.totals.row(row.texts(&self.layout.totals))
    }

    /// Writes the cells of a group, if the table has several, and their sums over the attributes of the layout.
    pub(in crate::safetab) fn cells(
        &mut self,
        level: &CountryLevel,
        group: u64,
        table: usize,
        counts: &[i64],
    ) -> Result<()> {
        let (table, by) = (&level.table_set.tables[table], &level.table_set.by);
        if table.is_total {
            return Ok(());
        }
        let summed = |place: &usize| table.attributes.contains(&by[*place]);
        let summed: Vec<usize> = self.layout.sums_over.iter().copied().filter(summed).collect();
        let name = &table.name;
        let mut begin = 0;
        for (place, count) in counts.iter().enumerate() {
            let cell = CellOf::new(table, place, &[]);
            let row = RowOf { level, group, table: name, cell, count: count.to_string() };
            self.cells.row(row.texts(&self.layout.cells))?;
            let cell = CellOf::new(table, place, &summed);
            let continues = place + 1 < counts.len() && CellOf::new(table, place + 1, &summed) == cell;
            if !summed.is_empty() && !continues {
                let row = RowOf { level, group, table: name, cell, count: sum(&counts[begin..=place]).to_string() };
                self.cells.row(row.texts(&self.layout.cells))?;
                begin = place + 1;
            }
        }
        Ok(())
    }

    /// Syncs both tables to the disk; returns their numbers of rows.
    pub(in crate::safetab) fn finish(self) -> Result<[u64; 2]> {
        Ok([self.totals.finish()?, self.cells.finish()?])
    }
}

/// The sum of counts. Sums of 64-bit counts need more bits.
fn sum(counts: &[i64]) -> i128 {
    counts.iter().map(|count| i128::from(*count)).sum()
}

impl RowOf<'_> {
    /// The cells of the row.
    fn texts(&self, columns: &[Column]) -> Vec<Vec<u8>> {
        columns.iter().map(|column| self.text(column.shown).into_owned().into_bytes()).collect()
    }

    fn text(&self, shown: Shown) -> Cow<'_, str> {
        let (region, group) = self.level.place_of(self.group);
        let end = |place: usize, of: fn((u32, u32)) -> u32| -> Cow<'_, str> {
            self.cell.ends[place].map_or("*".into(), |ends| of(ends).to_string().into())
        };
        match shown {
            Shown::Level => self.level.level_name.as_str().into(),
            Shown::Region => self.level.regions[region as usize].as_str().into(),
            Shown::Grouping => self.level.grouping_name.as_str().into(),
            Shown::Group => self.level.groups[group as usize].0.as_str().into(),
            Shown::Table => self.table.into(),
            Shown::Count => self.count.as_str().into(),
            Shown::Attribute(place) => self.cell.labels[place].into(),
            Shown::First(place) => end(place, |(first, _)| first),
            Shown::Last(place) => end(place, |(_, last)| last),
        }
    }
}
