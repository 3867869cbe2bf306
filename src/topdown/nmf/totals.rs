//! Exact totals of states, which are published without noise.

use std::{collections::BTreeMap, path::Path};

use super::{
    complete::{Missing, is_state},
    folder::NmfFolder,
    matched::Keys,
    names::Names,
    rows,
    units::Meanings,
};
use crate::{
    error::{Error, Result},
    spine::{codes, csv_table::CsvTable},
};

/// Exact totals of states, from a file.
#[derive(Clone, Debug, Default)]
pub struct GivenTotals {
    /// By the number of the state: its total, and the line of the file.
    pub of_state: BTreeMap<u32, (i64, u64)>,
    file: String,
}

/// Ignored columns beside those that are read.
const NAMES: [&str; 2] = ["name", "NAME"];

impl GivenTotals {
    /// Reads a CSV with the columns `state` (its two digits, also with the prefix of data.census.gov or in the form of NHGIS) and `total`.
    pub fn read(path: &Path) -> Result<GivenTotals> {
        let mut table = CsvTable::open(path)?;
        let (state, total) = (table.column(&["state"])?, table.column(&["total"])?);
        refuse_others(&table, &["state", "total"])?;
        let mut totals = GivenTotals { of_state: BTreeMap::new(), file: table.file.clone() };
        while table.next()? {
            // 44, 0400000US44 or G440; of a table of numbers also 9 for 09.
            let written = codes::digits(table.text(state)?).filter(|digits| digits.len() == 2);
            let number = written
                .and_then(|digits| digits.parse().ok())
                .map_or_else(|| table.whole(state, 99).map(|n| n as u32), Ok)?;
            if !is_state(number) {
                return Err(table.refuse(state + 1, &format!("there is no state {number:02}")));
            }
            let people = table.whole(total, 1 << 50)? as i64;
            if totals.of_state.insert(number, (people, table.line())).is_some() {
                return Err(table.refuse(state + 1, &format!("the state {number:02} occurs twice")));
            }
        }
        Ok(totals)
    }

    /// The totals.
    pub fn totals(&self) -> BTreeMap<u32, i64> {
        self.of_state.iter().map(|(state, (total, _))| (*state, *total)).collect()
    }

    /// The message about totals of states that are not in a folder, which has the states `here`; a state of another
    /// release is refused.
    pub fn held_against(&self, here: &[u32], missing: &Missing) -> Result<Option<String>> {
        let lost = |state: &&u32| !here.contains(state);
        let lost: Vec<u32> = self.of_state.keys().filter(lost).copied().collect();
        let line = |state: &u32| self.of_state.get(state).map_or(0, |(_, line)| *line);
        if let Some(by) = &missing.declared_by {
            if let Some(foreign) = lost.iter().find(|state| !missing.states.contains(state)) {
                let (file, line) = (self.file.clone(), line(foreign) as usize);
                let why = format!("the state {foreign:02} is no part of {by}");
                return Err(Error::DataFile { file, line, column: 0, why });
            }
            // For a download of some states, the totals of the others are unused, which is not an error.
            if lost.len() < self.of_state.len() {
                let many = lost.len();
                return Ok(
                    (many > 0).then(|| format!("exact totals of {many} states that are not in the folder: not used"))
                );
            }
        }
        let lost = lost.iter().map(|state| (line(state), format!("{state:02}"))).collect();
        let keys = Keys { file: self.file.clone(), all: self.of_state.len(), lost };
        keys.judged("exact totals", "are of states that are not in the folder")
    }
}

/// Refuses columns that are not understood, except names.
pub(super) fn refuse_others(table: &CsvTable, used: &[&str]) -> Result<()> {
    let known = |heading: &String| heading.is_empty() || used.iter().chain(&NAMES).any(|name| heading == name);
    match table.headings().iter().enumerate().find(|(_, heading)| !known(heading)) {
        None => Ok(()),
        Some((at, heading)) => {
            let why = format!("the column {heading:?} is not understood: the file has {}", used.join(" and "));
            Err(Error::DataFile { file: table.file.clone(), line: 1, column: at + 1, why })
        }
    }
}

/// The exact totals of states from the constraints of their level, for states all of whose parts have one.
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
            let meaning = meanings.meaning(names, row).map_err(wrong)?;
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

/// Given totals together with those of the files; they must agree where both have one.
pub fn joined(given: BTreeMap<u32, i64>, of_files: &BTreeMap<u32, i64>) -> Result<BTreeMap<u32, i64>> {
    let mut joined = of_files.clone();
    for (state, total) in given {
        if let Some(other) = joined.insert(state, total).filter(|other| *other != total) {
            return Err(Error::conflict(format!(
                "the exact total of the state {state:02} is given as {total}, and is {other} by the constraints of its level"
            )));
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_in_every_form_of_their_code() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("totals.csv");
        std::fs::write(&file, "state,total\n9,895\n0400000US44,2624\nG720,1\n01,2\n").unwrap();
        let read = GivenTotals::read(&file).unwrap().totals();
        assert_eq!(read, BTreeMap::from([(1, 2), (9, 895), (44, 2624), (72, 1)]));
        for wrong in ["440", "0500000US44001", "US44", "Rhode Island", ""] {
            std::fs::write(&file, format!("state,total\n{wrong},1\n")).unwrap();
            let why = GivenTotals::read(&file).unwrap_err().to_string();
            assert!(why.contains("line 2, column 1"), "{wrong}: {why}");
        }
    }
}
