//! The bureau's edited files: persons (CEF20_PER) and units (CEF20_UNIT), lines of fixed width that are joined to blocks.
//!
//! A person belongs to the unit with the same MAFID, a unit to the block whose OIDTABBLK is its OIDTB. A household is an occupied housing
//! unit with its householder: RTYPE 2, HHT not 0, RELSHIP 20. The bureau's reader drops lines that join nothing; here they are errors, with
//! their file and line.
//!
//! Unit files are read twice: once for the blocks that hold a unit, and once more, file by file, with the persons of the same state. So
//! only the units of one state are in memory at a time, about 30 bytes each.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use foldhash::fast::FixedState;

use super::{
    CheckedRecord, RecordKind, RecordRules,
    lines::Lines,
    rows::{OtherColumns, digits, geoid, name_of, read_rows},
    validation::{Location, Rule, ValidationReport},
};
use crate::error::Result;

/// A field of a line: its name, its first character and its width.
struct Field(&'static str, usize, usize);

/// The length of a line of units and of persons, in characters.
const UNIT_WIDTH: usize = 76;
const PERSON_WIDTH: usize = 91;

const UNIT_TYPE: Field = Field("RTYPE", 0, 1);
const UNIT_ID: Field = Field("MAFID", 1, 9);
const HHRACE: Field = Field("HHRACE", 27, 2);
const TENURE: Field = Field("TEN", 29, 1);
const BLOCK_ID: Field = Field("OIDTB", 37, 22);
const HHT: Field = Field("HHT", 59, 1);

const PERSON_TYPE: Field = Field("RTYPE", 0, 1);
const PERSON_UNIT: Field = Field("MAFID", 1, 9);
const SEX: Field = Field("QSEX", 22, 1);
const AGE: Field = Field("QAGE", 23, 3);
const ETHNICITY: Field = Field("QSPAN", 42, 4);
const FIRST_RACE: Field = Field("QRACE1", 48, 4);
const CENRACE: Field = Field("CENRACE", 81, 2);
const RELATION: Field = Field("RELSHIP", 85, 2);
/// The number of race codes of a person.
const RACES: usize = 8;
/// The code of a householder, and the smallest and the largest code of a relation.
const HOUSEHOLDER: u64 = 20;
const RELATIONS: std::ops::RangeInclusive<u64> = 20..=38;
/// The fields of a person's line that are fields of a record in the simple form.
const PLACES: [Field; 5] = [AGE, SEX, CENRACE, ETHNICITY, RELATION];

impl Field {
    /// The field of a line that is long enough, trimmed of blanks.
    fn bytes<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        line[self.1..self.1 + self.2].trim_ascii()
    }

    /// The number in the field.
    fn number(&self, line: &[u8]) -> Option<u64> {
        let text = self.bytes(line);
        let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
    }

    fn at<'f>(&self, file: &'f str, line: u64) -> Location<'f> {
        Location { file, line, column: self.1 as u32 + 1, field: self.0 }
    }
}

/// A callback for a record: its fields in the simple form, and its counted values.
pub(in crate::safetab) type SeeRecord<'a> = dyn FnMut(&[&[u8]], CheckedRecord) -> Result<()> + 'a;

/// Person and unit files, and the blocks that they refer to.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct CefFiles {
    persons: Vec<PathBuf>,
    units: Vec<PathBuf>,
    /// The GEOID for each OIDTABBLK.
    blocks: HashMap<u64, u64, FixedState>,
}

/// The properties of a unit.
#[derive(Clone, Copy)]
struct Unit {
    geoid: u64,
    /// 2 for a housing unit, 4 for group quarters.
    kind: u8,
    /// 0 if nobody lives there.
    household_type: u8,
    tenure: u8,
    /// Two digits, or `None`.
    race: Option<[u8; 2]>,
    has_householder: bool,
}

/// A file, or the files of a folder whose names begin with `prefix`, sorted by name.
fn files(path: &Path, prefix: &str, report: &mut ValidationReport) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let file = name_of(path);
    let at = Location { file: &file, ..Location::default() };
    let is_own = |path: &PathBuf| {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        name.starts_with(prefix) && path.is_file()
    };
    let read = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>());
    let mut found: Vec<PathBuf> = match read {
        Ok(paths) => paths.into_iter().filter(is_own).collect(),
        Err(why) => {
            report.add(at, Rule::Unreadable, why.to_string(), "a folder of files");
            return Vec::new();
        }
    };
    found.sort();
    if found.is_empty() {
        report.add(at, Rule::Empty, "", &format!("a folder with a file {prefix}* of each state"));
    }
    found
}

/// The state of a file CEF20_PER_06.txt or CEF20_UNIT_06.txt: the text between the last `_` and the first dot after it.
fn state_of(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let last = name.rsplit('_').next().unwrap_or_default();
    last.split('.').next().unwrap_or_default().to_string()
}

impl CefFiles {
    /// The files at these paths, each a file or a folder, and the blocks of a GRF-C with OIDTABBLK. `None` if that cannot be read.
    pub(in crate::safetab) fn find(
        persons: &Path,
        units: &Path,
        geography: &Path,
        report: &mut ValidationReport,
    ) -> Option<CefFiles> {
        let units = files(units, "CEF20_UNIT_", report);
        // Public inputs are checked without the records.
        let persons = if persons.as_os_str().is_empty() { units.clone() } else { files(persons, "CEF20_PER_", report) };
        let is_paired = persons.len() == 1 && units.len() == 1;
        let states = |files: &[PathBuf]| files.iter().map(|path| state_of(path)).collect::<Vec<String>>();
        if !is_paired && states(&persons) != states(&units) {
            let file = units.first().map_or_else(String::new, |path| name_of(path));
            let at = Location { file: &file, line: 0, column: 0, field: "state" };
            let allowed = format!("a unit file of each state of the person files: {}", states(&persons).join(", "));
            report.add(at, Rule::Contradiction, states(&units).join(", "), &allowed);
            return None;
        }
        let mut blocks = HashMap::default();
        let file = name_of(geography);
        let headings = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "OIDTABBLK"];
        let read = read_rows(geography, &headings, OtherColumns::Ignored, report, |row, report| {
            let parts = [
                digits::<2>(row.fields[0]),
                digits::<3>(row.fields[1]),
                digits::<6>(row.fields[2]),
                digits::<4>(row.fields[3]),
            ];
            // Violations in these are reported by the reader of the geography.
            let [Some(state), Some(county), Some(tract), Some(block)] = parts else { return };
            let at = Location { file: &file, line: row.line, column: row.columns[4], field: headings[4] };
            let id = std::str::from_utf8(row.fields[4]).ok().and_then(|text| text.parse::<u64>().ok());
            match id {
                None => report.add(at, Rule::Value, row.fields[4], "a whole number"),
                Some(id) => {
                    if blocks.insert(id, geoid(state, county, tract, block)).is_some() {
                        report.add(at, Rule::Duplicate, row.fields[4], "every OIDTABBLK once");
                    }
                }
            }
        });
        read.map(|()| CefFiles { persons, units, blocks })
    }

    /// All files, for their hash.
    pub(in crate::safetab) fn all(&self) -> Vec<PathBuf> {
        self.persons.iter().chain(&self.units).cloned().collect()
    }

    /// Checks all units, and returns the GEOIDs of the blocks that hold one: any unit for persons, a housing unit for households.
    pub(in crate::safetab) fn blocks_with_units(
        &self,
        records: RecordKind,
        report: &mut ValidationReport,
    ) -> HashSet<u64, FixedState> {
        let mut found = HashSet::default();
        for path in &self.units {
            each_line(path, UNIT_WIDTH, report, &mut |line, text, report| {
                if let Some((_, unit)) = self.unit(&name_of(path), (line, text), report)
                    && (records == RecordKind::Persons || unit.kind == b'2')
                {
                    found.insert(unit.geoid);
                }
            });
        }
        found
    }

    /// The unit of a line, with its MAFID; `None` if it breaks a rule, which is reported.
    fn unit(&self, file: &str, (line, text): (u64, &[u8]), report: &mut ValidationReport) -> Option<(u64, Unit)> {
        let id = UNIT_ID.number(text);
        let kind = match UNIT_TYPE.bytes(text) {
            b"2" => Some(b'2'),
            b"4" => Some(b'4'),
            _ => None,
        };
        let block = BLOCK_ID.number(text);
        let geoid = block.and_then(|id| self.blocks.get(&id).copied());
        let household_type = HHT.bytes(text).first().copied().filter(|digit| (b'0'..=b'7').contains(digit));
        let tenure = TENURE.bytes(text).first().copied().filter(|digit| (b'0'..=b'4').contains(digit));
        let race = HHRACE.bytes(text);
        let checks = [
            (&UNIT_TYPE, kind.is_some(), "2, a housing unit, or 4, group quarters"),
            (&UNIT_ID, id.is_some(), "a number of up to 9 digits"),
            (&TENURE, tenure.is_some(), "0 to 4"),
            (&BLOCK_ID, block.is_some(), "a number of up to 19 digits"),
            (&HHT, household_type.is_some(), "0 to 7"),
        ];
        for (field, _, allowed) in checks.iter().filter(|(_, holds, _)| !holds) {
            report.add(field.at(file, line), Rule::Value, field.bytes(text), allowed);
        }
        if block.is_some() && geoid.is_none() {
            let allowed = "the OIDTABBLK of a block of the GRF-C";
            report.add(BLOCK_ID.at(file, line), Rule::UnknownBlock, BLOCK_ID.bytes(text), allowed);
        }
        let unit = Unit {
            geoid: geoid?,
            kind: kind?,
            household_type: household_type? - b'0',
            tenure: tenure?,
            race: race.try_into().ok(),
            has_householder: false,
        };
        Some((id?, unit))
    }

    /// Calls `see` with every record that breaks no rule, with its fields in the simple form. `rules` makes the rules for the name of a
    /// file; their violations have the place in the person's line.
    pub(in crate::safetab) fn each_record<R: RecordRules>(
        &self,
        records: RecordKind,
        rules: impl Fn(&str) -> R,
        report: &mut ValidationReport,
        see: &mut SeeRecord,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let (mut done, mut outcome) = (0, Ok(()));
        for (persons, units) in self.persons.iter().zip(&self.units) {
            let mut units = self.units_of(units, report);
            let file = name_of(persons);
            let rules = rules(&file);
            each_line(persons, PERSON_WIDTH, report, &mut |line, text, report| {
                done += 1;
                if done % 100_000 == 0 {
                    progress(done);
                }
                let mut person = Person { file: &file, line, text };
                if outcome.is_ok()
                    && let Some(unit) = person.unit(&mut units.units, records, report)
                {
                    outcome = person.record(unit, records, &rules, report, see);
                }
            });
            if records == RecordKind::Households {
                units.check_householders(report);
            }
        }
        outcome
    }

    /// The units of a file by MAFID. Violations of single units were reported before.
    fn units_of(&self, path: &Path, report: &mut ValidationReport) -> StateUnits {
        let file = name_of(path);
        let mut units: HashMap<u64, Unit, FixedState> = HashMap::default();
        let mut ignored = ValidationReport::new();
        each_line(path, UNIT_WIDTH, &mut ignored, &mut |line, text, ignored| {
            if let Some((id, unit)) = self.unit(&file, (line, text), ignored)
                && units.insert(id, unit).is_some()
            {
                report.add(UNIT_ID.at(&file, line), Rule::Duplicate, UNIT_ID.bytes(text), "every unit once");
            }
        });
        StateUnits { file, units }
    }
}

/// The units of a state.
struct StateUnits {
    file: String,
    units: HashMap<u64, Unit, FixedState>,
}

impl StateUnits {
    /// Reports occupied housing units without a householder.
    fn check_householders(&self, report: &mut ValidationReport) {
        let lacks = |unit: &&Unit| unit.kind == b'2' && unit.household_type > 0 && !unit.has_householder;
        let lacking = self.units.values().filter(lacks).count();
        if lacking > 0 {
            let at = Location { file: &self.file, line: 0, column: 0, field: "householder" };
            let allowed = "a person with RELSHIP 20 in every housing unit whose HHT is not 0";
            report.add(at, Rule::Contradiction, format!("{lacking} units without one"), allowed);
        }
    }
}

/// A line of a person file.
struct Person<'a> {
    file: &'a str,
    line: u64,
    text: &'a [u8],
}

impl Person<'_> {
    /// The unit of a person who is to be counted, `None` for others; reports violations of the line.
    fn unit(
        &mut self,
        units: &mut HashMap<u64, Unit, FixedState>,
        records: RecordKind,
        report: &mut ValidationReport,
    ) -> Option<Unit> {
        let wrong = |field: &Field, rule, allowed: &str, report: &mut ValidationReport| {
            report.add(field.at(self.file, self.line), rule, field.bytes(self.text), allowed);
        };
        if !matches!(PERSON_TYPE.bytes(self.text), b"3" | b"5") {
            wrong(&PERSON_TYPE, Rule::Value, "3, in a housing unit, or 5, in group quarters", report);
            return None;
        }
        let relation = RELATION.number(self.text).filter(|relation| RELATIONS.contains(relation));
        if relation.is_none() {
            wrong(&RELATION, Rule::Value, "20 to 38", report);
        }
        let Some(id) = PERSON_UNIT.number(self.text) else {
            wrong(&PERSON_UNIT, Rule::Value, "a number of up to 9 digits", report);
            return None;
        };
        let Some(unit) = units.get_mut(&id) else {
            wrong(&PERSON_UNIT, Rule::UnknownUnit, "the MAFID of a unit of the same state", report);
            return None;
        };
        let is_householder = relation? == HOUSEHOLDER && unit.kind == b'2';
        if records == RecordKind::Persons {
            return Some(*unit);
        }
        if !is_householder || unit.household_type == 0 {
            return None;
        }
        if std::mem::replace(&mut unit.has_householder, true) {
            wrong(&PERSON_UNIT, Rule::Duplicate, "one person with RELSHIP 20 in a housing unit", report);
            return None;
        }
        Some(*unit)
    }

    /// Builds the record in the simple form, checks it by its rules and passes it on.
    fn record<R: RecordRules>(
        &self,
        unit: Unit,
        records: RecordKind,
        rules: &R,
        report: &mut ValidationReport,
        see: &mut SeeRecord,
    ) -> Result<()> {
        let block = format!("{:015}", unit.geoid);
        let block = block.as_bytes();
        let or_null = |field: &[u8]| if field.is_empty() { b"Null".as_slice() } else { field }.to_vec();
        let race = |place: usize| or_null(Field("", FIRST_RACE.1 + 4 * place, 4).bytes(self.text));
        let races: Vec<Vec<u8>> = (0..RACES).map(race).collect();
        let (age, ethnicity) = (AGE.bytes(self.text), ETHNICITY.bytes(self.text));
        let householder: &[u8] = if RELATION.number(self.text) == Some(HOUSEHOLDER) { b"True" } else { b"False" };
        let household_type =
            [b'0' + if unit.household_type > 5 { unit.household_type - 2 } else { unit.household_type }];
        let (tenure, household_race) =
            ([unit.tenure], unit.race.map_or_else(|| b"Null".to_vec(), |race| race.to_vec()));
        let mut fields: Vec<&[u8]> = Vec::with_capacity(17);
        if records == RecordKind::Persons {
            fields.extend([age, SEX.bytes(self.text), householder]);
        }
        fields.extend([&block[..2], &block[2..5], &block[5..11], &block[11..]]);
        match records {
            RecordKind::Persons => fields.push(CENRACE.bytes(self.text)),
            RecordKind::Households => fields.push(&household_race),
        }
        fields.extend(races.iter().map(Vec::as_slice));
        fields.push(ethnicity);
        if records == RecordKind::Households {
            fields.extend([&household_type[..], &tenure]);
        }
        let mut found = ValidationReport::new();
        let record = rules.check_row(self.line, &fields, &mut found);
        if !found.is_empty() {
            found.place_columns(column_of);
            report.append(found, 0);
        }
        record.map_or(Ok(()), |record| see(&fields, record))
    }
}

/// The place in a person's line of a field of the simple form; 0 if the field belongs to the unit.
fn column_of(field: &str) -> u32 {
    let race = field.strip_prefix("QRACE").and_then(|number| number.parse::<u32>().ok());
    match race {
        Some(number @ 1..=8) => FIRST_RACE.1 as u32 + 4 * (number - 1) + 1,
        _ => PLACES.iter().find(|known| known.0 == field).map_or(0, |known| known.1 as u32 + 1),
    }
}

/// Calls `see` with every line of a file that has the right length; reports others.
fn each_line(
    path: &Path,
    width: usize,
    report: &mut ValidationReport,
    see: &mut dyn FnMut(u64, &[u8], &mut ValidationReport),
) {
    let file = name_of(path);
    let mut lines = match Lines::open(path) {
        Ok(lines) => lines,
        Err(why) => {
            let at = Location { file: &file, ..Location::default() };
            return report.add(at, Rule::Unreadable, why.to_string(), "a file of lines of fixed width");
        }
    };
    loop {
        let number = lines.number() + 1;
        let at = Location { file: &file, line: number, ..Location::default() };
        match lines.next() {
            Ok(None) => break,
            Ok(Some(line)) if line.len() == width => see(number, line, report),
            Ok(Some(line)) => {
                let allowed = format!("{width} characters; this line has {}", line.len());
                report.add(at, Rule::LineLength, line, &allowed);
            }
            Err(why) => return report.add(at, Rule::Unreadable, why.to_string(), "a file of lines of fixed width"),
        }
    }
    if lines.number() == 0 {
        let at = Location { file: &file, ..Location::default() };
        report.add(at, Rule::Empty, "", &format!("lines of {width} characters"));
    }
}
