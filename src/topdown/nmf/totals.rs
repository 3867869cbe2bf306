//! Exact totals of states, which are published without noise.

use std::{collections::BTreeMap, path::Path};

use super::{folder::NmfFolder, names::Names, rows, units::Meanings};
use crate::{
    error::{Error, Result},
    spine::csv_table::CsvTable,
};

/// Reads a CSV with the columns `state` (its two digits) and `total`.
pub fn read(path: &Path) -> Result<BTreeMap<u32, i64>> {
    let mut table = CsvTable::open(path)?;
    let (state, total) = (table.column(&["state"])?, table.column(&["total"])?);
    let mut totals = BTreeMap::new();
    while table.next()? {
        let number = table.whole(state, 99)? as u32;
        let people = table.whole(total, 1 << 50)? as i64;
        if totals.insert(number, people).is_some() {
            return Err(table.refuse(state + 1, &format!("the state {number:02} occurs twice")));
        }
    }
    Ok(totals)
}

/// The exact totals of states that the constraints of their level give, for states all of whose parts have one.
pub fn of_files(
    folder: &NmfFolder,
    names: &Names,
    level: usize,
    states: &BTreeMap<u32, Vec<String>>,
) -> Result<BTreeMap<u32, i64>> {
    let mut of_part: BTreeMap<String, i64> = BTreeMap::new();
    let mut meanings = Meanings::default();
    for file in &folder.levels[level].constraints {
        rows::read(&file.path, &names.constraint_columns(), |row| {
            let wrong = |why: String| rows::refuse(&file.path, row, &why);
            let meaning = meanings.of(names, row).map_err(wrong)?;
            let Some(total) = names.exact_total(&meanings.known[meaning].constraint, row.values) else { return Ok(()) };
            let part = String::from_utf8_lossy(row.geocode).to_string();
            match of_part.insert(part, total) {
                Some(other) if other != total => {
                    Err(wrong(format!("adds up to {total}, and another constraint of the unit to {other}")))
                }
                _ => Ok(()),
            }
        })?;
    }
    let of_state = |parts: &Vec<String>| parts.iter().map(|part| of_part.get(part)).sum::<Option<i64>>();
    Ok(states.iter().filter_map(|(state, parts)| Some((*state, of_state(parts)?))).collect())
}

/// Totals that were given beside those of the files, which have to be the same where both have one.
pub fn joined(given: BTreeMap<u32, i64>, of_files: &BTreeMap<u32, i64>) -> Result<BTreeMap<u32, i64>> {
    let mut joined = of_files.clone();
    for (state, total) in given {
        if let Some(other) = joined.insert(state, total).filter(|other| *other != total) {
            let expected = format!("{other}, as the constraints of its level have it");
            return Err(Error::out_of_range(&format!("the exact total of the state {state:02}"), total, &expected));
        }
    }
    Ok(joined)
}
