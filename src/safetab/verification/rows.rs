//! The rows of the tables of a release, read and sorted.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use serde_json::Value;

use crate::safetab::schema::{
    IterationCode, RegionType, Rule, ValidationReport,
    rows::{OtherColumns, Row, name_of, read_rows},
    text_files,
    validation::Location,
};

/// The longest line of headings that is examined.
const LONGEST: u64 = 1 << 12;

/// The form of a table of a release: its folder, the columns after those of the group, and the cell of a row.
pub(super) struct TableForm {
    pub name: &'static str,
    pub folder: &'static str,
    pub columns: &'static [&'static str],
    /// The cell for the fields between the group and the count; an error with the allowed values if there is none.
    pub cell: fn(&[&[u8]]) -> Result<u16, &'static str>,
}

/// A group: a region and an iteration, ordered by type, region and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupKey(u64);

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableRow {
    pub group: GroupKey,
    pub count: i64,
    line: u32,
    pub cell: u16,
    file: u16,
}

/// All rows of a release.
pub(super) struct Tables {
    forms: &'static [TableForm],
    /// Indexed by table.
    rows: Vec<Vec<TableRow>>,
    files: Vec<String>,
}

impl GroupKey {
    /// The key of a group; a region has at most 11 digits.
    pub(super) fn new(region_type: RegionType, region: u64, iteration: u16) -> GroupKey {
        GroupKey((region_type.index() as u64) << 52 | region << 14 | u64::from(iteration))
    }

    /// The type of region.
    pub(super) fn region_type(self) -> RegionType {
        RegionType::ALL[(self.0 >> 52) as usize]
    }

    /// The region, as the number of its id.
    pub(super) fn region(self) -> u64 {
        self.0 >> 14 & ((1 << 38) - 1)
    }

    /// The iteration.
    pub(super) fn iteration(self) -> u16 {
        (self.0 & ((1 << 14) - 1)) as u16
    }

    /// The id of the region.
    pub(super) fn region_id(self) -> String {
        let width = width(self.region_type());
        format!("{:0width$}", self.region())
    }

    /// The group in words.
    pub(super) fn shown(self) -> String {
        format!("{}|{}|{:04}", self.region_id(), self.region_type(), self.iteration())
    }
}

/// The digits of the ids of a type.
fn width(region_type: RegionType) -> usize {
    match region_type {
        RegionType::Usa => 1,
        RegionType::State | RegionType::PrState => 2,
        RegionType::Aiannh => 4,
        RegionType::County | RegionType::PrCounty => 5,
        RegionType::Place | RegionType::PrPlace => 7,
        RegionType::Tract | RegionType::PrTract => 11,
    }
}

impl Tables {
    /// Reads all tables; reports those that cannot be read.
    pub(super) fn read(folder: &Path, forms: &'static [TableForm], report: &mut ValidationReport) -> Tables {
        let mut tables = Tables { forms, rows: Vec::new(), files: Vec::new() };
        for form in forms {
            let mut rows = Vec::new();
            let path = folder.join(form.folder);
            if path.is_dir() {
                for file in text_files(&path, report) {
                    tables.files.push(name_of(&file));
                    let number = (tables.files.len() - 1) as u16;
                    read_table(&file, form, number, &mut rows, report);
                }
            } else {
                let file = name_of(&path);
                let at = Location { file: &file, ..Location::default() };
                report.add(at, Rule::Unreadable, form.name, "a folder of files of the table");
            }
            tables.rows.push(rows);
        }
        tables
    }

    /// Sorts the rows and reports duplicates.
    pub(super) fn sort(&mut self, report: &mut ValidationReport) {
        for rows in &mut self.rows {
            rows.sort_unstable_by_key(|row| (row.group, row.cell, row.file, row.line));
            for pair in rows.windows(2).filter(|pair| (pair[0].group, pair[0].cell) == (pair[1].group, pair[1].cell)) {
                let at = place(&self.files, &pair[1]);
                let allowed = format!("every row once; this one is in line {}, too", pair[0].line);
                report.add(at, Rule::Duplicate, pair[1].group.shown(), &allowed);
            }
            rows.dedup_by_key(|row| (row.group, row.cell));
        }
    }

    /// The number of rows by table.
    pub(super) fn lengths(&self) -> Vec<(&'static str, u64)> {
        self.forms.iter().zip(&self.rows).map(|(form, rows)| (form.name, rows.len() as u64)).collect()
    }

    /// Checks the number of rows of each table in a certificate.
    pub(super) fn check_rows(&self, certificate: &Value, at: Location, report: &mut ValidationReport) {
        let passes = certificate["passes"].as_array().cloned().unwrap_or_default();
        for (name, length) in self.lengths() {
            let stated: Option<u64> = passes.iter().map(|pass| pass["rows"][name].as_u64()).sum();
            if stated != Some(length) {
                let stated = stated.map_or("no number of rows".to_string(), |rows| format!("{rows} rows"));
                let expected = format!("{length} rows, which the table has");
                report.add(Location { field: name, ..at }, Rule::Contradiction, stated, &expected);
            }
        }
    }

    /// The groups of a table with their rows, in order.
    pub(super) fn groups(&self, table: usize) -> impl Iterator<Item = (GroupKey, &[TableRow])> {
        self.rows[table].chunk_by(|one, next| one.group == next.group).map(|rows| (rows[0].group, rows))
    }

    /// The count of the total of a group in a table whose groups have a single cell 0.
    pub(super) fn total(&self, table: usize, group: GroupKey) -> Option<i64> {
        let rows = &self.rows[table];
        rows.binary_search_by_key(&(group, 0), |row| (row.group, row.cell)).ok().map(|place| rows[place].count)
    }

    /// Reports a missing group.
    pub(super) fn missing(&self, table: usize, group: GroupKey, allowed: &str, report: &mut ValidationReport) {
        let at = Location { file: self.forms[table].name, line: 0, column: 0, field: "group" };
        report.add(at, Rule::MissingGroup, group.shown(), allowed);
    }

    /// Reports a group that must not be in the table.
    pub(super) fn unexpected(
        &self,
        table: usize,
        group: GroupKey,
        rule: Rule,
        allowed: &str,
        report: &mut ValidationReport,
    ) {
        let place = self.rows[table].partition_point(|row| row.group < group);
        if let Some(row) = self.rows[table].get(place) {
            self.wrong(row, "group", rule, group.shown(), allowed, report);
        }
    }

    /// Reports a violation in a row.
    pub(super) fn wrong(
        &self,
        row: &TableRow,
        field: &str,
        rule: Rule,
        value: impl AsRef<[u8]>,
        allowed: &str,
        report: &mut ValidationReport,
    ) {
        report.add(Location { field, ..place(&self.files, row) }, rule, value, allowed);
    }
}

fn place<'a>(files: &'a [String], row: &TableRow) -> Location<'a> {
    Location { file: &files[usize::from(row.file)], line: row.line.into(), column: 0, field: "" }
}

/// Reads a file of a table.
fn read_table(path: &Path, form: &TableForm, file: u16, rows: &mut Vec<TableRow>, report: &mut ValidationReport) {
    // The heading of a release with a public seed has a mark in its last column.
    let first = File::open(path).and_then(|file| {
        let mut line = String::new();
        BufReader::new(file.take(LONGEST)).read_line(&mut line).map(|_| line)
    });
    let first = first.unwrap_or_default();
    let last = first.trim_end().rsplit('|').next().filter(|last| last.starts_with("COUNT (INSECURE seed "));
    let last = last.unwrap_or("COUNT");
    let name = name_of(path);
    let [first, second, third] = ["REGION_ID", "REGION_TYPE", "ITERATION_CODE"];
    let mut see = |line: u64, columns: &[u32], fields: &[&[u8]], report: &mut ValidationReport| {
        let wrong = |column: usize, rule: Rule, allowed: &str, report: &mut ValidationReport| {
            let field = [first, second, third].into_iter().chain(form.columns.iter().copied()).nth(column);
            let at = Location { file: &name, line, column: columns[column], field: field.unwrap_or("COUNT") };
            report.add(at, rule, fields[column], allowed);
        };
        let count = std::str::from_utf8(fields[fields.len() - 1]).ok().and_then(|text| text.parse::<i64>().ok());
        let group = match read_group(fields) {
            Ok(group) => Some(group),
            Err((column, allowed)) => {
                wrong(column, Rule::Value, &allowed, report);
                None
            }
        };
        let cell = (form.cell)(&fields[3..fields.len() - 1]);
        if let Err(allowed) = cell {
            wrong(3, Rule::Value, allowed, report);
        }
        if count.is_none() {
            wrong(fields.len() - 1, Rule::Value, "a whole number", report);
        }
        if let (Some(group), Ok(cell), Some(count)) = (group, cell, count) {
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            rows.push(TableRow { group, count, line, cell, file });
        }
    };
    let refused = OtherColumns::Refused;
    match form.columns {
        [] => {
            let see = |row: &Row<4>, report: &mut ValidationReport| see(row.line, &row.columns, &row.fields, report);
            read_rows(path, &[first, second, third, last], refused, report, see)
        }
        [cell] => {
            let see = |row: &Row<5>, report: &mut ValidationReport| see(row.line, &row.columns, &row.fields, report);
            read_rows(path, &[first, second, third, cell, last], refused, report, see)
        }
        [start, end, sex, ..] => {
            let see = |row: &Row<7>, report: &mut ValidationReport| see(row.line, &row.columns, &row.fields, report);
            read_rows(path, &[first, second, third, start, end, sex, last], refused, report, see)
        }
        // No table has two columns of cells.
        [_, _] => None,
    };
}

/// The group of a row; an error with the wrong column and the allowed values.
fn read_group(fields: &[&[u8]]) -> Result<GroupKey, (usize, String)> {
    let text = |column: usize| std::str::from_utf8(fields[column]).unwrap_or_default();
    let names = || RegionType::ALL.map(RegionType::name).join(", ");
    let region_type: RegionType = text(1).parse().map_err(|_| (1, format!("one of {}", names())))?;
    let width = width(region_type);
    let is_id = text(0).len() == width && text(0).bytes().all(|byte| byte.is_ascii_digit());
    let region =
        text(0).parse().ok().filter(|_| is_id).ok_or_else(|| (0, format!("{width} digits for {region_type}")))?;
    let iteration = IterationCode::read_padded(fields[2]).ok_or((2, "1 to 4 digits".to_string()))?;
    Ok(GroupKey::new(region_type, region, iteration.number()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_returns_its_parts() {
        for (region_type, region) in
            [(RegionType::Tract, 99_999_999_999), (RegionType::PrPlace, 7_200_001), (RegionType::Usa, 1)]
        {
            let key = GroupKey::new(region_type, region, 9999);
            assert_eq!((key.region_type(), key.region(), key.iteration()), (region_type, region, 9999));
        }
        assert_eq!(GroupKey::new(RegionType::County, 1001, 12).shown(), "01001|COUNTY|0012");
        assert!(read_group(&[b"0101", b"COUNTY", b"0012"]).is_err() && read_group(&[b"1", b"USA", b"00012"]).is_err());
    }
}
