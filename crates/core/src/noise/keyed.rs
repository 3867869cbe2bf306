//! Cells of a CSV file that are perturbed by their keys: nothing is drawn, so that the same cell has the same value in every table.
//!
//! The keys are secret: who has the key of a cell and its published value can find its count. So the column of keys is left out of what is written.

use std::{collections::BTreeSet, io::Read, path::Path};

use super::{
    table::{TableSink, TableSource, write_compressed},
    table_options::TableDone,
};
use crate::{
    error::{Error, Result},
    io::csv_reader::{self, Rows, Text, no_column},
    law::CellKeys,
};

/// The columns of a file with keys.
pub struct KeyedColumns<'a> {
    /// That of the true counts.
    pub counts: &'a str,
    /// That of the keys of the cells.
    pub keys: &'a str,
    /// Whether a cell in quotes may hold line breaks, which can hide rows.
    pub line_breaks: bool,
}

/// The result for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyedDone {
    /// The rows.
    pub rows: u64,
    /// The number of different pairs of a count and its key: rows that have both in common have one draw.
    pub draws: u64,
}

/// Writes a CSV whose counts are perturbed by the keys of their cells, without the column of keys. An error for a count that is no whole number of at least 0, and for a key
/// that the table does not have, which names the line and the column.
pub fn perturb_by_keys(
    table: &CellKeys,
    source: TableSource,
    columns: &KeyedColumns,
    sink: TableSink,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<KeyedDone> {
    sink.check(&source)?;
    match source {
        TableSource::File(path) => perturb(table, csv_reader::open(path)?, path, columns, sink, progress),
        TableSource::Stream(stream, name) => {
            perturb(table, csv_reader::plain(stream, 0, name)?, name, columns, sink, progress)
        }
    }
}

fn perturb<R: Read>(
    table: &CellKeys,
    Text { input, bytes }: Text<R>,
    name: &Path,
    columns: &KeyedColumns,
    sink: TableSink,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<KeyedDone> {
    let mut file = Keyed::open(Rows::open(input, name, columns.line_breaks)?, columns)?;
    let mut done = KeyedDone::default();
    sink.write(|out, name| {
        done = write_compressed(out, name, |put| file.run(table, put, &mut |read| progress(read, bytes)))?;
        Ok(TableDone { rows: done.rows, ..TableDone::default() })
    })?;
    Ok(done)
}

/// A file after its heading was read.
struct Keyed<'a, R> {
    rows: Rows<R>,
    columns: &'a KeyedColumns<'a>,
    count_at: usize,
    key_at: usize,
}

impl<'a, R: Read> Keyed<'a, R> {
    fn open(rows: Rows<R>, columns: &'a KeyedColumns) -> Result<Self> {
        let at = |column: &str| {
            let at = rows.header().iter().position(|name| name == column);
            at.ok_or_else(|| rows.refused(rows.header_line(), 0, no_column(&[column], rows.header())))
        };
        let (count_at, key_at) = (at(columns.counts)?, at(columns.keys)?);
        if count_at == key_at {
            return Err(Error::conflict(format!("the column {:?} cannot hold both counts and keys", columns.keys)));
        }
        Ok(Keyed { rows, columns, count_at, key_at })
    }

    /// The bytes of the row, with another count if one is given, and without the key and the separator beside it.
    fn without_key(&self, count: Option<u64>) -> Vec<u8> {
        let raw = self.rows.raw();
        let (count_from, count_to) = self.rows.place(self.count_at);
        let key = match self.key_at.checked_sub(1) {
            Some(before) => (self.rows.place(before).1, self.rows.place(self.key_at).1),
            None => (self.rows.place(0).0, self.rows.place(1).0),
        };
        let text = count.map_or_else(|| raw[count_from..count_to].to_vec(), |count| count.to_string().into_bytes());
        let mut parts = [(key.0, key.1, Vec::new()), (count_from, count_to, text)];
        parts.sort();
        let (mut line, mut from) = (Vec::new(), 0);
        for (begin, end, text) in parts {
            line.extend(&raw[from..begin]);
            line.extend(text);
            from = end;
        }
        line.extend(&raw[from..]);
        line
    }

    fn run(
        &mut self,
        table: &CellKeys,
        put: &mut dyn FnMut(&[u8]) -> Result<()>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<KeyedDone> {
        /// A count whose published value is far below 2^63.
        const MOST: u64 = 1_000_000_000_000_000_000;
        put(&self.without_key(None))?;
        let (mut rows, mut draws) = (0, BTreeSet::new());
        while self.rows.next()? {
            // Cells may be confidential: only their places are named.
            let text = |at: usize| std::str::from_utf8(self.rows.cell(at)).unwrap_or_default().trim();
            let count = text(self.count_at).parse::<u64>().ok().filter(|count| *count <= MOST);
            let count = count.ok_or_else(|| {
                let why = format!(
                    "the cell of column {:?} is no count: a whole number from 0 to 10^18 is needed",
                    self.columns.counts
                );
                self.rows.refused_at(self.count_at, why)
            })?;
            let key = table.key(text(self.key_at)).ok_or_else(|| {
                let why = format!(
                    "the cell of column {:?} is no key of a cell: expected {}",
                    self.columns.keys,
                    table.expected()
                );
                self.rows.refused_at(self.key_at, why)
            })?;
            put(&self.without_key(Some(table.published(count, &key))))?;
            rows += 1;
            draws.insert((count, key));
            if rows % 4096 == 0 {
                progress(self.rows.bytes());
            }
        }
        // The bytes after the last row are blank, but they are copied.
        put(self.rows.raw())?;
        Ok(KeyedDone { rows, draws: draws.len() as u64 })
    }
}
