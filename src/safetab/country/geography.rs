//! The areas of a country and the regions of each, from a table with a row for each area.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use super::specification::{CountrySpecification, RegionLevel};
use crate::{
    error::Result,
    io::csv_reader::CsvTable,
    safetab::schema::{Rule, ValidationReport, validation::Location},
};

/// The areas, and the regions that contain each.
#[derive(Clone, Debug, Default)]
pub(in crate::safetab) struct Areas {
    /// The codes of the areas, in the order of the file.
    pub(super) codes: Vec<String>,
    place: HashMap<Vec<u8>, u32>,
    /// The atom of each area. An atom is a set of areas in the same regions.
    pub(super) atom_of: Vec<u32>,
    /// The region of every level of each atom.
    pub(super) atoms: Vec<Vec<Option<u32>>>,
    /// The regions of every level, ascending.
    pub(super) regions: Vec<Vec<String>>,
}

/// A row: the region of each level, by its code; `None` if there is none.
type Row = Vec<Option<String>>;

impl Areas {
    /// Reads and checks a file. Rows that break a rule are reported and left out. An error if the file is malformed.
    pub(in crate::safetab) fn read(
        path: &Path,
        of: &CountrySpecification,
        report: &mut ValidationReport,
    ) -> Result<Areas> {
        let mut table = CsvTable::open(path)?;
        let area = table.column(&[&of.area])?;
        let columns = of.levels.iter().map(|level| level.column.as_ref().map(|name| table.column(&[name])).transpose());
        let columns: Vec<Option<usize>> = columns.collect::<Result<_>>()?;
        let mut rows = Rows {
            of,
            columns,
            file: path.display().to_string(),
            areas: Areas::default(),
            rows: Vec::new(),
            lines: Vec::new(),
        };
        while table.next()? {
            rows.add(&table, area, report)?;
        }
        rows.check_nesting(report);
        if rows.rows.is_empty() {
            let at = Location { file: &rows.file, ..Location::default() };
            report.add(at, Rule::Empty, "", "at least one area");
        }
        Ok(rows.finish())
    }

    /// The area with a code.
    #[inline]
    pub(super) fn find(&self, code: &[u8]) -> Option<u32> {
        self.place.get(code).copied()
    }
}

/// The rows of a file while they are read.
struct Rows<'a> {
    of: &'a CountrySpecification,
    columns: Vec<Option<usize>>,
    file: String,
    areas: Areas,
    rows: Vec<Row>,
    lines: Vec<u64>,
}

impl Rows<'_> {
    fn add(&mut self, table: &CsvTable, area: usize, report: &mut ValidationReport) -> Result<()> {
        let line = table.line();
        let (file, headings) = (&self.file, table.headings());
        let at = |column: usize| Location { file, line, column: column as u32 + 1, field: &headings[column] };
        let code = table.text(area)?;
        let known = self.areas.place.get(code.as_bytes()).map(|known| self.lines[*known as usize]);
        let mut right = true;
        if code.is_empty() {
            report.add(at(area), Rule::Value, "", "the code of an area");
            right = false;
        } else if let Some(first) = known {
            report.add(at(area), Rule::Duplicate, code, &format!("every area once; this one is in line {first}, too"));
            right = false;
        }
        let mut row: Row = Vec::with_capacity(self.columns.len());
        for (column, level) in self.columns.iter().zip(&self.of.levels) {
            let region = match column {
                None => level.name.as_str(),
                Some(column) => table.text(*column)?,
            };
            if let Some(column) = column.filter(|_| region.is_empty() && !level.partial) {
                let allowed = format!("a region of {}: an area may be in none if the level is partial", level.name);
                report.add(at(column), Rule::Value, "", &allowed);
                right = false;
            }
            row.push((!region.is_empty()).then(|| region.to_string()));
        }
        if right {
            self.areas.place.insert(code.as_bytes().to_vec(), self.rows.len() as u32);
            self.areas.codes.push(code.to_string());
            self.rows.push(row);
            self.lines.push(line);
        }
        Ok(())
    }

    /// Each region of a level within another one lies in one region of that.
    fn check_nesting(&self, report: &mut ValidationReport) {
        let levels = self.of.levels.iter().enumerate();
        for (level, RegionLevel { name, within, .. }) in levels {
            let Some(above) = *within else { continue };
            let upper = &self.of.levels[above].name;
            let mut known: HashMap<&str, (Option<&str>, u64)> = HashMap::new();
            for (row, line) in self.rows.iter().zip(&self.lines) {
                let Some(region) = row[level].as_deref() else { continue };
                let parent = row[above].as_deref();
                let at = Location { file: &self.file, line: *line, column: 0, field: name };
                match known.get(region) {
                    None if parent.is_none() => {
                        report.add(at, Rule::Contradiction, region, &format!("a region within one of {upper}"));
                    }
                    Some((first, line)) if *first != parent => {
                        let allowed = format!(
                            "a region within one region of {upper}: in line {line} it is in {:?}, here in {:?}",
                            first.unwrap_or_default(),
                            parent.unwrap_or_default()
                        );
                        report.add(at, Rule::Contradiction, region, &allowed);
                    }
                    _ => {}
                }
                known.entry(region).or_insert((parent, *line));
            }
        }
    }

    fn finish(mut self) -> Areas {
        let mut numbers: Vec<BTreeMap<&str, u32>> = vec![BTreeMap::new(); self.columns.len()];
        for row in &self.rows {
            for (numbers, region) in numbers.iter_mut().zip(row) {
                numbers.extend(region.as_deref().map(|region| (region, 0)));
            }
        }
        for numbers in &mut numbers {
            (0..).zip(numbers.values_mut()).for_each(|(place, number)| *number = place);
        }
        let mut known: HashMap<Vec<Option<u32>>, u32> = HashMap::new();
        for row in &self.rows {
            let regions = numbers.iter().zip(row).map(|(numbers, region)| numbers.get(region.as_deref()?).copied());
            let regions: Vec<Option<u32>> = regions.collect();
            let atoms = &mut self.areas.atoms;
            let atom = *known.entry(regions).or_insert_with_key(|regions| {
                atoms.push(regions.clone());
                atoms.len() as u32 - 1
            });
            self.areas.atom_of.push(atom);
        }
        self.areas.regions = numbers.iter().map(|numbers| numbers.keys().map(ToString::to_string).collect()).collect();
        self.areas
    }
}
