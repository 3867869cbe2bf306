//! Reads and checks the records of persons: tables in CSV with a row for each person.
//!
//! Columns are found by their headings; further columns are ignored. No message quotes a value of a record.

use std::path::Path;

use super::{
    attributes::Attribute,
    geography::{Areas, area_key},
    specification::CountrySpecification,
};
use crate::{
    error::{Error, Result},
    io::csv_reader::{CsvTable, Reading},
    safetab::{
        schema::{Rule, ValidationReport, validation::Location},
        tabulate::record_files::RecordFiles,
    },
    topdown::jobs::Progress,
};

/// Shown in place of a value of a record.
const HIDDEN: &str = "not shown";
/// The number of records between two calls of `progress`.
const PART: u64 = 1 << 14;
/// A value that is not there, in the values of an attribute with several columns.
const NONE: u32 = u32::MAX;

/// A record that breaks no rule.
#[derive(Clone, Debug, Default)]
pub(in crate::safetab) struct PersonRecord {
    /// Its area.
    pub(super) area: u32,
    /// The values of the attributes of rules, one attribute after the other with as many places as columns: ascending, each once,
    /// then `NONE`.
    pub(super) values: Vec<u32>,
    /// Its finest cell.
    pub(super) cell: u32,
}

/// A callback for every record.
pub(in crate::safetab) type SeePerson<'a> = dyn FnMut(&PersonRecord) -> Result<()> + 'a;

/// Reads and checks all files at a path, calls `see` with every record that breaks no rule, and returns the number of records.
pub(in crate::safetab) fn each_record(
    path: &Path,
    files: &RecordFiles,
    (of, areas): (&CountrySpecification, &Areas),
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(Progress),
    see: &mut SeePerson,
) -> Result<u64> {
    if let Some(file) = files.parquet.first() {
        let why = format!(
            "{} is Parquet; for a country's specification records are read from CSV",
            crate::error::shown(file)
        );
        return Err(Error::unsuitable(why));
    }
    let mut records = 0;
    for file in files.all() {
        let table = CsvTable::read(file, Reading::default())?;
        let mut rows = PersonRows::new(table, file, of, areas)?;
        while rows.next(report)? {
            records += 1;
            if let Some(record) = &rows.record {
                see(record)?;
            }
            if records % PART == 0 {
                progress(Progress { stage: "checking records", done: records, of: 0 });
            }
        }
    }
    if records == 0 {
        let file = crate::error::shown(path);
        report.add(Location { file: &file, ..Location::default() }, Rule::Empty, "", "at least one record");
    }
    Ok(records)
}

/// The record of an area and the values of all attributes, each ascending and once.
pub(super) fn record_of(of: &CountrySpecification, area: u32, values: &[Vec<u32>]) -> PersonRecord {
    let mut record = PersonRecord { area, ..PersonRecord::default() };
    for &attribute in &of.grouped_by {
        let own = &values[attribute];
        record.values.extend(own);
        record.values.extend(std::iter::repeat_n(NONE, of.attributes[attribute].columns.len() - own.len()));
    }
    record.cell = of.tables.cell(of.tables.by.iter().map(|attribute| values[*attribute][0]));
    record
}

/// The values of all attributes of a record, from those that it keeps; empty for an attribute that no rule uses.
pub(super) fn values_of(of: &CountrySpecification, kept: &[u32]) -> Vec<Vec<u32>> {
    let mut values = vec![Vec::new(); of.attributes.len()];
    let mut begin = 0;
    for &attribute in &of.grouped_by {
        let end = begin + of.attributes[attribute].columns.len();
        values[attribute] = kept[begin..end].iter().copied().filter(|value| *value != NONE).collect();
        begin = end;
    }
    values
}

/// The columns that records need, in words.
fn needed(of: &CountrySpecification) -> String {
    let columns = of.attributes.iter().flat_map(|attribute| &attribute.columns);
    of.geography.area.iter().chain(columns).map(String::as_str).collect::<Vec<&str>>().join(", ")
}

/// The rows of a file.
struct PersonRows<'a> {
    table: CsvTable,
    file: String,
    of: &'a CountrySpecification,
    areas: &'a Areas,
    /// The columns of the area, and its key.
    area: Vec<usize>,
    key: Vec<u8>,
    /// The columns of each attribute.
    columns: Vec<Vec<usize>>,
    /// The record of the current row; `None` if it breaks a rule.
    record: Option<PersonRecord>,
    values: Vec<Vec<u32>>,
}

impl<'a> PersonRows<'a> {
    fn new(table: CsvTable, path: &Path, of: &'a CountrySpecification, areas: &'a Areas) -> Result<Self> {
        // A file without a header begins with a record, so that its first line is not quoted either.
        let column = |name: &String| {
            let place = table.headings().iter().position(|heading| heading == name);
            place.ok_or_else(|| Error::DataFile {
                file: crate::error::shown(path),
                line: 1,
                column: 0,
                why: format!("the header has no column {name:?}: needed are {}", needed(of)),
            })
        };
        let columns = |attribute: &Attribute| attribute.columns.iter().map(column).collect();
        let area = of.geography.area.iter().map(column).collect::<Result<_>>()?;
        let columns = of.attributes.iter().map(columns).collect::<Result<_>>()?;
        let (values, file) = (vec![Vec::new(); of.attributes.len()], path.display().to_string());
        Ok(PersonRows { file, table, of, areas, area, key: Vec::new(), columns, record: None, values })
    }

    /// Reads the next row; false at the end.
    fn next(&mut self, report: &mut ValidationReport) -> Result<bool> {
        if !self.table.next()? {
            return Ok(false);
        }
        area_key(self.area.iter().map(|column| self.table.cell(*column)), &mut self.key);
        let area = self.areas.find(&self.key);
        if area.is_none() {
            self.wrong(self.area[0], Rule::UnknownArea, "the areas of the geography", report);
        }
        let mut right = area.is_some();
        for place in 0..self.columns.len() {
            right &= self.read_attribute(place, report);
        }
        self.record = area.filter(|_| right).map(|area| record_of(self.of, area, &self.values));
        Ok(true)
    }

    /// Reads the values of an attribute; false if they break a rule, which is reported.
    fn read_attribute(&mut self, place: usize, report: &mut ValidationReport) -> bool {
        let attribute = &self.of.attributes[place];
        let mut values = std::mem::take(&mut self.values[place]);
        values.clear();
        let (mut right, mut ended) = (true, false);
        for (number, &column) in self.columns[place].iter().enumerate() {
            let cell = self.table.cell(column);
            if number > 0 && attribute.is_none(cell) {
                ended = true;
                continue;
            }
            match attribute.find(cell) {
                Some(_) if ended => {
                    let allowed = format!("{}, since one before it is empty", attribute.none_in_words());
                    self.wrong(column, Rule::Contradiction, &allowed, report);
                    right = false;
                }
                Some(value) => values.push(value),
                None => {
                    let or_empty =
                        if number > 0 { format!(", or {}", attribute.none_in_words()) } else { String::new() };
                    let rule = if attribute.range().is_some() { Rule::Value } else { Rule::UnknownCode };
                    self.wrong(column, rule, &format!("{}{or_empty}", attribute.allowed()), report);
                    right = false;
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        self.values[place] = values;
        right
    }

    /// Reports a violation in a column, without the value.
    fn wrong(&self, column: usize, rule: Rule, allowed: &str, report: &mut ValidationReport) {
        let field = &self.table.headings()[column];
        let at = Location { file: &self.file, line: self.table.line(), column: column as u32 + 1, field };
        report.add(at, rule, HIDDEN, allowed);
    }
}
