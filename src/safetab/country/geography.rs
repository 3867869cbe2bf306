//! The areas of a country and the regions of each, from a table with a row for each area.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use super::{geography_rules::RegionLevel, specification::CountrySpecification};
use crate::{
    error::Result,
    io::csv_reader::CsvTable,
    safetab::{
        schema::{Rule, ValidationReport, validation::Location},
        tabulate::coterminous::{Entity, sets_of},
    },
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
    /// Whether an area of each atom has land.
    has_land: Vec<bool>,
    /// The regions of every level, ascending.
    pub(super) regions: Vec<Vec<String>>,
    /// The column of the geography file that distinguishes areas without land, if it is used.
    pub(super) land_column: Option<String>,
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
        let columns = Columns::new(&table, of)?;
        let areas = Areas { land_column: columns.land_name.clone(), ..Areas::default() };
        let file = crate::error::shown(path);
        let joined = vec![HashMap::new(); of.geography.levels.len()];
        let mut rows = Rows { of, columns, file, areas, rows: Vec::new(), land: Vec::new(), lines: Vec::new(), joined };
        while table.next()? {
            rows.add(&table, report)?;
        }
        rows.check_nesting(report);
        if rows.rows.is_empty() {
            let at = Location { file: &rows.file, ..Location::default() };
            report.add(at, Rule::Empty, "", "at least one area");
        }
        Ok(rows.finish())
    }

    /// The area with a key, see [`area_key`].
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        self.place.get(key).copied()
    }

    /// Whether an area is in a region of a level.
    pub(super) fn is_tabulated(&self, area: u32) -> bool {
        self.atoms[self.atom_of[area as usize] as usize].iter().any(Option::is_some)
    }

    /// The sets of regions of these levels that are made of the same areas, or of the same areas with land: each region by the place of its
    /// level among them and its index.
    pub(super) fn same_places(&self, levels: &[usize]) -> Vec<Vec<Entity>> {
        let counts: Vec<usize> = levels.iter().map(|level| self.regions[*level].len()).collect();
        // An atom lies as a whole in a region or outside, so regions have the same areas if they have the same atoms.
        let region = |atom: u32, place: usize| self.atoms[atom as usize][levels[place]];
        sets_of(&counts, self.atoms.len() as u32, region, |atom| self.has_land[atom as usize])
    }
}

/// The key of an area, from the cells of its columns: no two lists of cells have the same one, since no cell of a table has a NUL byte.
pub(super) fn area_key<'a>(cells: impl Iterator<Item = &'a [u8]>, key: &mut Vec<u8>) {
    key.clear();
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            key.push(0);
        }
        key.extend_from_slice(cell);
    }
}

/// The columns of a geography file.
struct Columns {
    area: Vec<usize>,
    levels: Vec<Vec<usize>>,
    /// The columns of the parts.
    parts: Vec<Option<usize>>,
    land: Option<(usize, Vec<String>)>,
    land_name: Option<String>,
}

impl Columns {
    fn new(table: &CsvTable, of: &CountrySpecification) -> Result<Columns> {
        let rules = &of.geography;
        let all = |names: &[String]| names.iter().map(|name| table.column(&[name])).collect::<Result<Vec<usize>>>();
        let part =
            |chosen: &Option<(String, Vec<String>)>| chosen.as_ref().map(|(name, _)| table.column(&[name])).transpose();
        let mut land = rules.land.iter().filter_map(|land| Some((table.find(&[&land.column])?, land)));
        let land = land.next();
        Ok(Columns {
            area: all(&rules.area)?,
            levels: rules.levels.iter().map(|level| all(&level.columns)).collect::<Result<_>>()?,
            parts: rules.parts.iter().map(|own| part(&own.chosen)).collect::<Result<_>>()?,
            land_name: land.map(|(_, land)| land.column.clone()),
            land: land.map(|(column, land)| (column, land.water.clone())),
        })
    }
}

/// The region of a level in a row.
enum Found {
    /// Its code.
    Region(String),
    /// None.
    Nowhere,
    /// The row breaks a rule.
    Wrong,
}

/// The rows of a file while they are read.
struct Rows<'a> {
    of: &'a CountrySpecification,
    columns: Columns,
    file: String,
    areas: Areas,
    rows: Vec<Row>,
    /// Whether the area of each row has land.
    land: Vec<bool>,
    lines: Vec<u64>,
    /// For every level the codes that are joined from several columns, with the lengths of their cells.
    joined: Vec<HashMap<String, Vec<usize>>>,
}

impl Rows<'_> {
    fn add(&mut self, table: &CsvTable, report: &mut ValidationReport) -> Result<()> {
        let line = table.line();
        let file = self.file.clone();
        let at =
            |column: usize| Location { file: &file, line, column: column as u32 + 1, field: &table.headings()[column] };
        let area = &self.columns.area;
        let cells = area.iter().map(|column| table.text(*column)).collect::<Result<Vec<&str>>>()?;
        let mut key = Vec::new();
        area_key(cells.iter().map(|cell| cell.as_bytes()), &mut key);
        let known = self.areas.place.get(&key).map(|known| self.lines[*known as usize]);
        let mut right = true;
        if let Some(empty) = cells.iter().position(|cell| cell.is_empty()) {
            report.add(at(area[empty]), Rule::Value, "", "the code of an area");
            right = false;
        } else if let Some(first) = known {
            let allowed = format!("every area once; this one is in line {first}, too");
            report.add(at(area[0]), Rule::Duplicate, cells.concat(), &allowed);
            right = false;
        }
        let part = self.part(table, &at, report)?;
        let mut row: Row = Vec::with_capacity(self.columns.levels.len());
        for level in 0..self.columns.levels.len() {
            let is_inside = part == Some(self.of.geography.levels[level].part);
            let found = if is_inside { self.region(table, level, &at, report)? } else { Found::Nowhere };
            right &= !matches!(found, Found::Wrong);
            row.push(if let Found::Region(code) = found { Some(code) } else { None });
        }
        if right {
            self.areas.place.insert(key, self.rows.len() as u32);
            self.areas.codes.push(cells.concat());
            let is_water = match &self.columns.land {
                None => false,
                Some((column, water)) => {
                    let text = table.text(*column)?;
                    water.iter().any(|known| known == text)
                }
            };
            self.land.push(!is_water);
            self.rows.push(row);
            self.lines.push(line);
        }
        Ok(())
    }

    /// The part of the country of a row; `None` if it is in none.
    fn part<'l>(
        &self,
        table: &CsvTable,
        at: &dyn Fn(usize) -> Location<'l>,
        report: &mut ValidationReport,
    ) -> Result<Option<usize>> {
        let mut found: Option<usize> = None;
        for (place, (part, column)) in self.of.geography.parts.iter().zip(&self.columns.parts).enumerate() {
            let (Some((_, codes)), Some(column)) = (&part.chosen, column) else { return Ok(Some(place)) };
            let text = table.text(*column)?;
            if !codes.iter().any(|code| code == text) {
                continue;
            }
            if let Some(first) = found {
                let first = &self.of.geography.parts[first].name;
                let allowed = format!("an area in one part; this one is in {first} and in {}", part.name);
                report.add(at(*column), Rule::Contradiction, text, &allowed);
            }
            found.get_or_insert(place);
        }
        Ok(found)
    }

    /// The region of a level. A broken rule is reported.
    fn region<'l>(
        &mut self,
        table: &CsvTable,
        level: usize,
        at: &dyn Fn(usize) -> Location<'l>,
        report: &mut ValidationReport,
    ) -> Result<Found> {
        let rule: &RegionLevel = &self.of.geography.levels[level];
        let columns = &self.columns.levels[level];
        let Some(last) = columns.last().copied() else { return Ok(Found::Region(rule.region.clone())) };
        let cells = columns.iter().map(|column| table.text(*column)).collect::<Result<Vec<&str>>>()?;
        let is_none = cells.last().is_none_or(|text| text.is_empty() || rule.none.as_deref() == Some(text));
        if is_none && rule.partial {
            return Ok(Found::Nowhere);
        }
        if let Some(empty) = cells.iter().position(|cell| cell.is_empty()) {
            let allowed = format!("a region of {}: an area may be in none if the level is partial", rule.name);
            report.add(at(columns[empty]), Rule::Value, "", &allowed);
            return Ok(Found::Wrong);
        }
        let code = cells.concat();
        if cells.len() > 1 {
            let lengths: Vec<usize> = cells.iter().map(|cell| cell.len()).collect();
            let known = self.joined[level].entry(code.clone()).or_insert_with(|| lengths.clone());
            if *known != lengths {
                let allowed =
                    format!("codes of {} whose columns together are different for different regions", rule.name);
                report.add(at(last), Rule::Contradiction, code, &allowed);
                return Ok(Found::Wrong);
            }
        }
        Ok(Found::Region(code))
    }

    /// Each region of a level within another one lies in one region of that.
    fn check_nesting(&self, report: &mut ValidationReport) {
        let levels = self.of.geography.levels.iter().enumerate();
        for (level, RegionLevel { name, within, .. }) in levels {
            let Some(above) = *within else { continue };
            let upper = &self.of.geography.levels[above].name;
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
        let mut numbers: Vec<BTreeMap<&str, u32>> = vec![BTreeMap::new(); self.columns.levels.len()];
        for row in &self.rows {
            for (numbers, region) in numbers.iter_mut().zip(row) {
                numbers.extend(region.as_deref().map(|region| (region, 0)));
            }
        }
        for numbers in &mut numbers {
            (0..).zip(numbers.values_mut()).for_each(|(place, number)| *number = place);
        }
        let mut known: HashMap<Vec<Option<u32>>, u32> = HashMap::new();
        for (row, has_land) in self.rows.iter().zip(&self.land) {
            let regions = numbers.iter().zip(row).map(|(numbers, region)| numbers.get(region.as_deref()?).copied());
            let regions: Vec<Option<u32>> = regions.collect();
            let (atoms, land) = (&mut self.areas.atoms, &mut self.areas.has_land);
            let atom = *known.entry(regions).or_insert_with_key(|regions| {
                atoms.push(regions.clone());
                land.push(false);
                atoms.len() as u32 - 1
            });
            land[atom as usize] |= has_land;
            self.areas.atom_of.push(atom);
        }
        self.areas.regions = numbers.iter().map(|numbers| numbers.keys().map(ToString::to_string).collect()).collect();
        self.areas
    }
}
