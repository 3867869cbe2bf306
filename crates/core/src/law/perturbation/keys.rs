//! The published value of a cell from its count and its key: the same cell has the same value wherever it is published.

use std::{collections::BTreeMap, path::Path};

use rug::Rational;

use super::{PerturbationTable, layouts};
use crate::{
    error::Result,
    io::csv_reader::{CsvTable, Reading},
    law::file_options::FileOptions,
    numeric::rational,
};

/// A perturbation table with the keys that lead to its values.
#[derive(Clone, Debug)]
pub struct CellKeys {
    table: PerturbationTable,
    /// The published value of every key of each count, of a table by keys; `None` where a key is a number from 0 to 1, of which the probabilities are shares.
    values: Option<BTreeMap<u64, Vec<u64>>>,
}

/// The key of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellKey {
    /// One of the keys of a table, numbered from 0.
    Numbered(u64),
    /// A number of at least 0 and below 1.
    Share(Rational),
}

impl CellKeys {
    /// Reads a file as [`PerturbationTable::read`] does.
    pub fn read(path: &Path, options: impl Into<FileOptions>) -> Result<Self> {
        let options = options.into();
        let mut file = CsvTable::read(path, Reading::default())?;
        if !layouts::is_keyed(&file) {
            return Ok(CellKeys { table: PerturbationTable::read(path, options)?, values: None });
        }
        let (table, values) = layouts::of_keys(&mut file, &crate::error::shown(path), options.period)?;
        Ok(CellKeys { table, values: Some(values) })
    }

    /// The table.
    pub fn table(&self) -> &PerturbationTable {
        &self.table
    }

    /// The keys that cells can have, in words.
    pub fn expected(&self) -> String {
        match self.values.as_ref().and_then(|values| values.values().next_back()) {
            Some(last) => format!("a whole number from 0 to {}, a key of the table", last.len() - 1),
            None => "a number of at least 0 and below 1, such as 0.3719".to_string(),
        }
    }

    /// The key of a text; `None` if the table has none like it.
    pub fn key(&self, text: &str) -> Option<CellKey> {
        match self.values.as_ref().and_then(|values| values.values().next_back()) {
            Some(last) => text.parse().ok().filter(|key| *key < last.len() as u64).map(CellKey::Numbered),
            None => rational::parse(text).ok().filter(|key| *key >= 0 && *key < 1).map(CellKey::Share),
        }
    }

    /// The value that is published for a count whose cell has this key: of a number from 0 to 1 the first value, in increasing order, at which the sum of
    /// the probabilities is above it, as in the lookup of the R package cellKey.
    pub fn published(&self, count: u64, key: &CellKey) -> u64 {
        let (row, moved) = self.table.row(count);
        let own = match (key, &self.values) {
            (CellKey::Numbered(key), Some(values)) => {
                // A count without a row in the file is 0, and is published as it is.
                values.get(&(count - moved)).and_then(|of_key| of_key.get(*key as usize)).copied().unwrap_or_default()
            }
            (CellKey::Numbered(_), None) => count - moved,
            (CellKey::Share(share), _) => {
                let mut sum = Rational::new();
                let above = row.iter().find(|(_, p)| {
                    sum += *p;
                    sum > *share
                });
                above.or_else(|| row.last_key_value()).map_or(count - moved, |(value, _)| *value)
            }
        };
        own + moved
    }
}
