//! Published counts of units and areas, to compare estimates with.

use std::{collections::HashMap, path::Path};

use crate::{
    error::{Error, Result},
    spine::{codes, csv_table::CsvTable},
    topdown::nmf::{matched::Keys, totals::refuse_others},
};

/// Published counts, by the code of their subject.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// The counts, each with its line.
    counts: HashMap<String, (f64, u64)>,
    file: String,
    /// The code as written in the file, if it differs.
    written: HashMap<String, String>,
}

/// The accepted headings of GEOIDs.
pub(in crate::topdown::nmf) const GEOIDS: [&str; 4] = ["geoid", "GEOID", "GEOID20", "GEOID10"];

impl Published {
    /// Reads a CSV with the columns `geoid` (or `geocode`, `area`) and `count`. GEOIDs may have the prefix of
    /// data.census.gov, or the form of NHGIS.
    pub fn read(path: &Path) -> Result<Published> {
        let mut table = CsvTable::open(path)?;
        let named = table.find(&["geocode"]).or(table.find(&["area"]));
        let of = table.find(&GEOIDS).or(named).map_or_else(|| table.column(&["geoid", "geocode", "area"]), Ok)?;
        let count = table.column(&["count"])?;
        let heading = table.headings()[of].clone();
        refuse_others(&table, &[&heading, "count"])?;
        let mut published = Published { file: table.file.clone(), ..Published::default() };
        while table.next()? {
            let written = table.text(of)?.to_string();
            if written.is_empty() {
                return Err(table.refuse(of + 1, "no code: a line is about a unit or area"));
            }
            let number = table.whole(count, 1 << 50)? as f64;
            let name = codes::digits(&written).unwrap_or_else(|| written.clone());
            if published.counts.insert(name.clone(), (number, table.line())).is_some() {
                return Err(table.refuse(of + 1, &format!("{written:?} occurs twice")));
            }
            if written != name {
                published.written.insert(name, written);
            }
        }
        Ok(published)
    }

    /// The number of lines: one for each unit or area.
    pub fn lines(&self) -> usize {
        self.counts.len()
    }

    /// The published count of a unit or area.
    pub fn count(&self, name: &str) -> Option<f64> {
        self.counts.get(name).map(|(count, _)| *count)
    }

    /// The message about counts that belong to none of the given units or areas. A code without its leading zero is
    /// refused.
    pub fn held_against<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Option<String>> {
        let known: std::collections::HashSet<&str> = names.collect();
        let written = |name: &String| self.written.get(name).unwrap_or(name).clone();
        let mut keys = Keys { file: self.file.clone(), all: self.counts.len(), ..Keys::default() };
        let mut lost: Vec<(&String, u64)> = self
            .counts
            .iter()
            .filter(|(name, _)| !known.contains(name.as_str()))
            .map(|(n, (_, at))| (n, *at))
            .collect();
        lost.sort_by_key(|(_, line)| *line);
        for (name, line) in lost {
            let likely = format!("0{name}");
            if known.contains(likely.as_str()) {
                let why = format!("{:?} lacks its leading zero: {likely} is likely", written(name));
                return Err(Error::DataFile { file: self.file.clone(), line: line as usize, column: 0, why });
            }
            keys.lost.push((line, written(name)));
        }
        keys.judged("published counts", "belong to no unit or area that was estimated")
    }
}
