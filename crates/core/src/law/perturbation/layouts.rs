//! The layouts of files of perturbation tables: probabilities, as the R package ptable exports them, and keys, as the programs of the Office for National Statistics have them.

use std::{collections::BTreeMap, path::Path};

use rug::Rational;

use super::{MOST_ROW, PerturbationTable};
use crate::{
    error::{Error, Result},
    io::csv_reader::{CsvTable, Reading},
    law::{file_options::FileOptions, likelihoods::MOST_VALUES},
    numeric::rational,
};

/// The columns of a table by keys: true count, key, and published value less the count.
const KEYED: [&str; 3] = ["pcv", "ckey", "pvalue"];
/// The most keys of a row.
const MOST_KEYS: u64 = 65_536;
/// The most keys of all rows.
const MOST_CELLS: usize = 10_000_000;
/// The last row of the tables of the Office for National Statistics, whose programs repeat the last 250 rows.
const LAST_ROW: u64 = 750;
const PERIOD: u64 = 250;

impl PerturbationTable {
    /// Reads a CSV file of one of two layouts.
    ///
    /// - `i`, the true count, `j`, the published value, and `p`, its exact probability. The exports of the R package ptable for tau-Argus and SAS are read as
    ///   they are, where a further column `v` has to be j - i. With [`FileOptions::normalize`] the probabilities of each count are divided by their sum.
    /// - `pcv`, the true count, `ckey`, the key of a cell, and `pvalue`, the published value less the count: each count has all keys from 0 to the last, which are
    ///   equally likely. Where the count 0 has no row, it is published as it is. The last 250 of 750 rows are repeated for larger counts; other tables
    ///   need [`FileOptions::period`].
    ///
    /// An error for other values, with their line, and as in [`PerturbationTable::new`].
    pub fn read(path: &Path, options: impl Into<FileOptions>) -> Result<Self> {
        let FileOptions { normalize, period } = options.into();
        let (mut file, name) = (CsvTable::read(path, Reading::default())?, crate::error::shown(path));
        if is_keyed(&file) {
            return of_keys(&mut file, &name, period).map(|(table, _)| table);
        }
        let table = of_probabilities(&mut file, &name, normalize)?;
        period.map_or(Ok(table.clone()), |period| table.with_period(period))
    }
}

/// Whether a file is a table by keys.
pub(super) fn is_keyed(file: &CsvTable) -> bool {
    file.find(&["i"]).is_none() && KEYED.iter().any(|column| file.find(&[column]).is_some())
}

/// An error about a cell of a column, counted from zero.
fn refused(file: &CsvTable, at: usize, why: &str) -> Error {
    file.refuse(at + 1, why)
}

/// The number of a count, of a value or of a key.
fn whole(file: &CsvTable, column: usize, most: u64) -> Result<u64> {
    let value = file.text(column)?.trim().parse::<u64>().ok().filter(|value| *value <= most);
    value.ok_or_else(|| refused(file, column, &format!("expected a whole number from 0 to {most}")))
}

fn of_probabilities(file: &mut CsvTable, name: &str, normalize: bool) -> Result<PerturbationTable> {
    let at = [file.column(&["i"])?, file.column(&["j"])?, file.column(&["p"])?];
    let (difference, kind) = (file.find(&["v"]), file.find(&["type"]));
    let mut entries: BTreeMap<(u64, u64), Rational> = BTreeMap::new();
    while file.next()? {
        let (i, j) = (whole(file, at[0], MOST_ROW)?, whole(file, at[1], MOST_ROW)?);
        let p = rational::parse(file.text(at[2])?.trim()).map_err(|error| refused(file, at[2], &error.to_string()))?;
        if p < 0 || p > 1 && !normalize {
            return Err(refused(file, at[2], "expected a probability from 0 to 1"));
        }
        if let Some(column) = difference
            && file.text(column)?.trim().parse::<i64>().ok() != Some(j as i64 - i as i64)
        {
            return Err(refused(file, column, "expected the difference j - i of the published value and the count"));
        }
        if let Some(column) = kind
            && !matches!(file.text(column)?.trim(), "all" | "")
        {
            let why = "a table for even or odd numbers of contributors is one for magnitudes, and not for counts";
            return Err(refused(file, column, why));
        }
        if entries.len() == MOST_VALUES {
            return Err(refused(file, at[0], &format!("a perturbation table has at most {MOST_VALUES} entries")));
        }
        if entries.insert((i, j), p).is_some() {
            return Err(refused(file, at[1], "the published value occurs in an earlier line of this count as well"));
        }
    }
    if normalize {
        let mut sums: BTreeMap<u64, Rational> = BTreeMap::new();
        entries.iter().for_each(|((i, _), p)| *sums.entry(*i).or_default() += p);
        for ((i, _), p) in &mut entries {
            if let Some(sum) = sums.get(i).filter(|sum| **sum > 0) {
                *p /= sum;
            }
        }
    }
    PerturbationTable::new(name, entries.into_iter().map(|((i, j), p)| (i, j, p)))
}

/// The published value of every key of each count.
type ValuesOfKeys = BTreeMap<u64, Vec<u64>>;

/// A table by keys, and the published value of every key of each count.
pub(super) fn of_keys(
    file: &mut CsvTable,
    name: &str,
    period: Option<u64>,
) -> Result<(PerturbationTable, ValuesOfKeys)> {
    let [count_at, key_at, noise_at] = KEYED.map(|column| file.column(&[column]));
    let (count_at, key_at, noise_at) = (count_at?, key_at?, noise_at?);
    let mut rows: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    let mut cells = 0;
    while file.next()? {
        let (i, key) = (whole(file, count_at, MOST_ROW)?, whole(file, key_at, MOST_KEYS - 1)?);
        let noise = file.text(noise_at)?.trim().parse::<i64>().ok();
        let j = noise.and_then(|noise| i.checked_add_signed(noise)).filter(|j| *j <= MOST_ROW);
        let j = j.ok_or_else(|| {
            let expected = format!("expected the published value less the count, a whole number of at least -{i}");
            refused(file, noise_at, &expected)
        })?;
        let (row, at) = (rows.entry(i).or_default(), key as usize);
        if row.len() <= at {
            cells += at + 1 - row.len();
            if cells > MOST_CELLS {
                return Err(refused(
                    file,
                    key_at,
                    &format!("a table by keys has at most {MOST_CELLS} keys of all counts"),
                ));
            }
            row.resize(at + 1, None);
        }
        if row[at].replace(j).is_some() {
            return Err(refused(file, key_at, "the key occurs in an earlier line of this count as well"));
        }
    }
    let refused = |why: String| Error::unsuitable(format!("{name}: {why}"));
    let keys = rows.values().map(Vec::len).max().unwrap_or(0);
    let mut values = ValuesOfKeys::new();
    for (i, row) in rows {
        let own: Vec<u64> = row.iter().map_while(|value| *value).collect();
        if own.len() < keys {
            let why = format!("every count needs each key from 0 to {} once", keys - 1);
            return Err(refused(format!("the count {i} has no key {}: {why}", own.len())));
        }
        values.insert(i, own);
    }
    // The programs of the Office for National Statistics publish a count of 0, which has no records and no key, as it is.
    let is_zero_added = values.first_key_value().is_some_and(|(first, _)| *first == 1);
    let zero = is_zero_added.then(|| (0, 0, Rational::from(1)));
    let last = values.last_key_value().map_or(0, |(last, _)| *last);
    let probabilities = values.iter().flat_map(|(i, row)| {
        let mut of_value: BTreeMap<u64, u64> = BTreeMap::new();
        row.iter().for_each(|j| *of_value.entry(*j).or_default() += 1);
        of_value.into_iter().map(|(j, of_value)| (*i, j, Rational::from((of_value, keys as u64))))
    });
    let table = PerturbationTable::new(name, zero.into_iter().chain(probabilities))?;
    let period = period.or((last == LAST_ROW).then_some(PERIOD)).ok_or_else(|| {
        refused(format!(
            "a table by keys needs a period, the number of its last rows that are repeated for larger counts: only of {LAST_ROW} rows it is known to be {PERIOD}"
        ))
    })?;
    Ok((PerturbationTable { is_zero_added, ..table }.with_period(period)?, values))
}
