//! The comparison of two files of estimates.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use crate::{
    error::Result, io::files::file_error, spine::csv_table::CsvTable, topdown::nmf::codes::confidence::Confidence,
};

/// The heading of the estimates.
pub(super) const ESTIMATE: &str = "estimate";

/// The differences between two files of estimates, over the rows that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of rows that both have.
    pub rows: usize,
    /// The number of rows that only the first has, and of those that only the second has.
    pub alone: (usize, usize),
    /// Rows that both files declare exact but with different numbers.
    pub different_exact: usize,
    /// (a - b) / standard deviation of b, ascending, if that is not zero.
    pub scores: Vec<f64>,
    /// The standard deviation of a over that of b, ascending, if that is not zero.
    pub ratios: Vec<f64>,
    /// The row with the largest difference in standard deviations: its key, both estimates.
    pub largest: Option<(String, f64, f64)>,
}

/// The quantile of ascending numbers, by linear interpolation; `None` if there are none.
pub fn quantile(ascending: &[f64], level: f64) -> Option<f64> {
    let place = level * ascending.len().checked_sub(1)? as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    Some(ascending[low] + (ascending[high] - ascending[low]) * (place - place.floor()))
}

/// Compares two files of estimates in any of the text forms.
pub fn compare(first: &Path, second: &Path) -> Result<Comparison> {
    let mut known: HashMap<String, (f64, f64)> = HashMap::new();
    read_estimates(second, |key, own| known.insert(key, own).is_none())?;
    let total = known.len();
    let mut found = Comparison {
        rows: 0,
        alone: (0, 0),
        different_exact: 0,
        scores: Vec::new(),
        ratios: Vec::new(),
        largest: None,
    };
    let mut most = -1.0;
    let mut seen = std::collections::HashSet::new();
    read_estimates(first, |key, (estimate, deviation)| {
        if !seen.insert(key.clone()) {
            return false;
        }
        let Some((other, other_deviation)) = known.get(&key).copied() else {
            found.alone.0 += 1;
            return true;
        };
        found.rows += 1;
        if other_deviation == 0.0 {
            found.different_exact += usize::from((estimate - other).abs() > 1e-6 * other.abs().max(1.0));
            return true;
        }
        let score = (estimate - other) / other_deviation;
        found.scores.push(score);
        found.ratios.push(deviation / other_deviation);
        if score.abs() > most {
            most = score.abs();
            found.largest = Some((key, estimate, other));
        }
        true
    })?;
    found.alone.1 = total - found.rows;
    if found.rows == 0 {
        let why = format!("no row of the same area, query and cell as in {}", crate::error::shown(second));
        return Err(file_error(first, why));
    }
    found.scores.sort_by(f64::total_cmp);
    found.ratios.sort_by(f64::total_cmp);
    Ok(found)
}

/// The rows of a file, or of all files of a folder in the form of the Bureau's own estimates
/// (`us/Tract/State=44/County=003/.../part-*.csv`, with a header in each, and empty files of other names beside them).
/// A row has a key of unit or area, query and cell, with estimate and standard deviation. `each` returns whether the
/// key is new.
fn read_estimates(path: &Path, mut each: impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    if !path.is_dir() {
        return read_file(path, &mut each);
    }
    let mut files = Vec::new();
    collect(path, &mut files)?;
    if files.is_empty() {
        return Err(file_error(path, "no file of estimates in the folder: expected part-*.csv in it or below it"));
    }
    files.iter().try_for_each(|file| read_file(file, &mut each))
}

/// The files of estimates in a folder and its subfolders, by name. Names that begin with `_` or a dot are skipped.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let wrong = |why: std::io::Error| file_error(folder, why);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        entries.push(entry.map_err(wrong)?.path());
    }
    entries.sort();
    for entry in entries {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_estimates = name.ends_with(".csv") || (name.starts_with("part-") && !name.contains('.'));
        match entry.is_dir() {
            _ if name.starts_with(['_', '.']) => {}
            true => collect(&entry, files)?,
            false if is_estimates => files.push(entry),
            false => {
                let why = "is no file of estimates: expected part-*.csv, beside what begins with _ or a dot";
                return Err(file_error(&entry, why));
            }
        }
    }
    Ok(())
}

fn read_file(path: &Path, each: &mut impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    let mut table = CsvTable::open(path)?;
    if table.find(&["variable"]).is_some() {
        return read_variables(&mut table, each);
    }
    let of = table.column(&["geocode", "area"])?;
    let query = table.column(&["query"])?;
    let estimate = match table.find_start("estimate (") {
        Some(at) => at,
        None => table.column(&[ESTIMATE])?,
    };
    let deviation = table.column(&["std_dev"])?;
    let key = [table.find(&["level"]), Some(of), Some(query), table.find(&["cell"])];
    read_rows(&mut table, &key, estimate, (deviation, 1.0), each)
}

/// Estimates of census variables, in long form: the standard deviation follows from the first margin.
fn read_variables(table: &mut CsvTable, each: &mut impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    let (of, variable) = (table.column(&["GEOID"])?, table.column(&["variable"])?);
    let estimate = match table.find_start("estimate (") {
        Some(at) => at,
        None => table.column(&[ESTIMATE])?,
    };
    let margin = table.find_start("moe_").map_or_else(|| table.column(&["moe_95"]), Ok)?;
    let level: Confidence = table.headings()[margin].trim_start_matches("moe_").parse()?;
    let key = [table.find(&["level"]), Some(of), table.find(&["geocode"]), Some(variable)];
    read_rows(table, &key, estimate, (margin, level.quantile()), each)
}

/// Rows with these columns as key, the column of the estimate, and that of a number of standard deviations.
fn read_rows(
    table: &mut CsvTable,
    key: &[Option<usize>],
    estimate: usize,
    (deviation, number): (usize, f64),
    each: &mut impl FnMut(String, (f64, f64)) -> bool,
) -> Result<()> {
    while table.next()? {
        let both = (table.double(estimate)?, table.double(deviation)? / number);
        if both.1 < 0.0 {
            return Err(table.refuse(deviation + 1, "a standard deviation below 0"));
        }
        let key = key.iter().flatten().map(|at| table.text(*at)).collect::<Result<Vec<_>>>()?.join(" ");
        if !each(key.clone(), both) {
            return Err(table.refuse(0, &format!("the row of {key} occurs twice")));
        }
    }
    Ok(())
}
