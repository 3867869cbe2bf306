//! Names of places by GEOID: states from public codes, others from a file of the user, and tracts, block groups and
//! blocks from their digits if their county has a name.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use crate::{
    error::{Error, Result},
    spine::{codes, csv_table::CsvTable},
    topdown::nmf::{tables::GEOIDS, totals::refuse_others},
};

/// The states, the District of Columbia and Puerto Rico.
const STATES: &str = include_str!("../../../../data/tables/states.csv");

/// Names of places.
#[derive(Clone, Debug)]
pub struct Places {
    states: BTreeMap<String, String>,
    given: HashMap<String, String>,
    file: String,
}

impl Places {
    /// The names of states.
    pub fn of_states() -> Result<Places> {
        let mut table = CsvTable::of_text(STATES, "data/tables/states.csv")?;
        let mut states = BTreeMap::new();
        while table.next()? {
            states.insert(table.text(0)?.to_string(), table.text(1)?.to_string());
        }
        Ok(Places { states, given: HashMap::new(), file: String::new() })
    }

    /// Also those of a CSV with the columns `GEOID` (or `area`) and `NAME`. GEOIDs may have the prefix of
    /// data.census.gov, or the form of NHGIS.
    pub fn read(path: &Path) -> Result<Places> {
        let mut places = Places::of_states()?;
        let mut table = CsvTable::open(path)?;
        let of = table.find(&GEOIDS).map_or_else(|| table.column(&["GEOID", "area"]), Ok)?;
        let name = table.column(&["NAME", "name"])?;
        places.file = table.file.clone();
        let heading = table.headings()[of].clone();
        refuse_others(&table, &[&heading, "NAME"])?;
        while table.next()? {
            let written = table.name(of)?.to_string();
            let key = codes::digits(&written).unwrap_or_else(|| written.clone());
            if let Some(likely) = [2, 5, 11, 15].into_iter().find_map(|digits| codes::with_zero(&key, digits)) {
                let why =
                    format!("{written:?} has {} digits: its leading zero is missing, {likely} is likely", key.len());
                return Err(table.refuse(of + 1, &why));
            }
            let name = table.name(name)?.to_string();
            if places.given.insert(key, name).is_some() {
                return Err(table.refuse(of + 1, &format!("{written:?} occurs twice")));
            }
        }
        Ok(places)
    }

    /// The number of names that were given.
    pub fn given(&self) -> usize {
        self.given.len()
    }

    /// The note on given names, of which `named` places of `all` have one; refused if none has.
    pub fn note(&self, named: usize, all: usize) -> Result<Option<String>> {
        if self.given.is_empty() {
            return Ok(None);
        }
        let places = if all == 1 { "place" } else { "places" };
        if named == 0 {
            let why = format!(
                "none of its {} names is that of one of the {all} {places}, or of its county",
                self.given.len()
            );
            return Err(Error::DataFile { file: self.file.clone(), line: 0, column: 0, why });
        }
        Ok(Some(format!("the file of names has {named} of {all} {places}")))
    }

    /// Whether the name of a place was given, or that of its county.
    pub fn is_given(&self, geoid: &str) -> bool {
        self.given.contains_key(geoid) || (!self.name(geoid).is_empty() && geoid.len() > 2)
    }

    /// The name of a place; empty if it is not known.
    pub fn name(&self, geoid: &str) -> String {
        if let Some(name) = self.given.get(geoid) {
            return name.clone();
        }
        if !geoid.bytes().all(|byte| byte.is_ascii_digit()) {
            return String::new();
        }
        match geoid.len() {
            2 => self.states.get(geoid).cloned().unwrap_or_default(),
            11 => self.within(&geoid[..5], &format!("Census Tract {}", tract(&geoid[5..]))),
            12 => self.within(&geoid[..11], &format!("Block Group {}", &geoid[11..])),
            15 => self.within(&geoid[..12], &format!("Block {}", &geoid[11..])),
            _ => String::new(),
        }
    }

    /// A name with that of the place around it; empty if that is not known.
    fn within(&self, around: &str, name: &str) -> String {
        match self.name(around).as_str() {
            "" => String::new(),
            around => format!("{name}, {around}"),
        }
    }
}

/// The number of a tract from its six digits: 301 of 030100, 301.02 of 030102.
fn tract(digits: &str) -> String {
    let whole = digits[..4].trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    match &digits[4..] {
        "00" => whole.to_string(),
        rest => format!("{whole}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<Places, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Places::read(file.path()).map_err(|why| why.to_string())
    }

    #[test]
    fn names_follow_from_those_of_counties() {
        let places = read("GEOID,NAME\n0500000US44001,\"Bristol County, Rhode Island\"\nNorth,The North\n").unwrap();
        assert_eq!((places.given(), places.name("44").as_str()), (2, "Rhode Island"));
        assert_eq!(places.name("44001"), "Bristol County, Rhode Island");
        assert_eq!(places.name("44001030100"), "Census Tract 301, Bristol County, Rhode Island");
        assert_eq!(places.name("44001030602"), "Census Tract 306.02, Bristol County, Rhode Island");
        let group = "Block Group 1, Census Tract 301, Bristol County, Rhode Island";
        assert_eq!(places.name("440010301001"), group);
        assert_eq!(places.name("440010301001008"), format!("Block 1008, {group}"));
        assert_eq!((places.name("44003").as_str(), places.name("44003030100").as_str()), ("", ""));
        assert_eq!(
            (places.name("North").as_str(), places.name("South").as_str(), places.name("99").as_str()),
            ("The North", "", "")
        );
        assert!(places.is_given("44001030100") && !places.is_given("44") && !places.is_given("44003"));
    }

    #[test]
    fn the_states_are_those_of_the_bureaus_releases() {
        let places = Places::of_states().unwrap();
        // 50 states, the District of Columbia and Puerto Rico.
        assert_eq!(places.states.len(), 52);
        assert!(places.states.keys().all(|state| state.len() == 2));
        assert_eq!((places.name("11").as_str(), places.name("56").as_str()), ("District of Columbia", "Wyoming"));
    }

    #[test]
    fn files_of_names_are_read_exactly_or_refused() {
        let says = |text: &str, words: &[&str]| {
            let why = read(text).unwrap_err();
            words.iter().for_each(|word| assert!(why.contains(word), "{word}: {why}"));
        };
        says("GEOID,NAME\n44001,A\n44001,B\n", &["line 3", "twice"]);
        says("GEOID,NAME\n1001,A\n", &["line 2", "01001 is likely"]);
        says("GEOID,NAME,people\n44001,A,3\n", &["people", "not understood"]);
        says("GEOID,NAME\n44001,\n", &["line 2, column 2", "empty"]);
        says("code,NAME\n44001,A\n", &["GEOID"]);
    }
}
