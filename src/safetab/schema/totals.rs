//! The published totals T1 of SafeTab-P, which choose the detail of the tables of households.
//!
//! One file may hold rows of both passes and of states that are not run: these are omitted. Checks that the bureau's program lacks: the
//! regions are those of the geography, the iterations are those of the specification, and every nation and state of the geography has
//! totals, because SafeTab-P never suppresses them.

use std::path::{Path, PathBuf};

use super::{
    Geography, IterationCode, IterationLevel, Pass, RegionType, RunScope,
    record_files::text_files,
    rows::{OtherColumns, Row, digits, name_of, read_rows},
    validation::{Location, Rule, ValidationReport},
};
use crate::safetab::groups::{Specification, TabulatedIteration};

/// The columns of T1.
pub const TOTALS_HEADINGS: [&str; 4] = ["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT"];

/// How far totals must agree with the geography.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalsCheck {
    /// All regions are those of the geography, and every nation and state has totals: both are of one vintage.
    SameVintage,
    /// As in the bureau's program: groups of other regions have no households, and groups without a total get no counts.
    AsGiven,
}

/// The total of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedTotal {
    /// The region, by its index among [`PublishedTotals::regions`].
    pub region: u32,
    /// The iteration, by its index in the key set of the level and the granularity.
    pub iteration: u32,
    /// The published count, which may be negative.
    pub count: i64,
}

/// The totals of the passes that are run.
#[derive(Clone, Debug, Default)]
pub struct PublishedTotals {
    /// Indexed by region type and level, in ascending order of region and iteration.
    groups: Vec<[Vec<PublishedTotal>; 2]>,
    /// By region type: the regions of the geography, then the others that were accepted.
    regions: Vec<Vec<String>>,
    /// Omitted rows.
    pub left_out: LeftOut,
}

/// Numbers of omitted rows, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Regions of states that are not run.
    pub other_states: u64,
    /// Areas that cross no block of the geography that is run.
    pub other_areas: u64,
    /// Regions without a housing unit, if the geography is reduced to blocks that have one.
    pub without_units: u64,
    /// Iterations that are not tabulated for the type of region, because a coterminous region of another type gave its counts.
    pub not_tabulated: u64,
}

/// A correct row.
struct Total {
    region_type: RegionType,
    level: IterationLevel,
    group: PublishedTotal,
    line: u32,
    file: u32,
}

/// The state of the reader.
struct Reader<'a> {
    scope: &'a RunScope,
    specification: &'a Specification,
    geography: &'a Geography,
    whole: &'a Geography,
    check: TotalsCheck,
    /// Indexed by granularity and level.
    key_sets: [[Vec<TabulatedIteration>; 2]; 2],
    totals: Vec<Total>,
    /// Regions that are not in the geography, by region type, with their future indices.
    others: Vec<Vec<String>>,
    left_out: LeftOut,
    file: (String, u32),
}

impl PublishedTotals {
    /// Reads and checks a file of totals, or all files `*.txt` and `*.csv` of a folder. `None` if one cannot be read.
    pub fn read(
        path: &Path,
        scope: &RunScope,
        specification: &Specification,
        geography: &Geography,
        check: TotalsCheck,
        report: &mut ValidationReport,
    ) -> Option<PublishedTotals> {
        PublishedTotals::read_of_cut(path, scope, specification, (geography, geography), check, report)
    }

    /// The same if the geography was reduced from a whole one: totals of regions that only the whole one has are omitted, except for nation
    /// and states.
    pub(in crate::safetab) fn read_of_cut(
        path: &Path,
        scope: &RunScope,
        specification: &Specification,
        (geography, whole): (&Geography, &Geography),
        check: TotalsCheck,
        report: &mut ValidationReport,
    ) -> Option<PublishedTotals> {
        let files = text_files(path, report);
        let key_sets = super::Granularity::ALL
            .map(|granularity| IterationLevel::ALL.map(|level| specification.key_set(granularity, level)));
        let mut reader = Reader {
            scope,
            specification,
            geography,
            whole,
            check,
            key_sets,
            totals: Vec::new(),
            others: vec![Vec::new(); RegionType::ALL.len()],
            left_out: LeftOut::default(),
            file: (String::new(), 0),
        };
        for (number, file) in (0..).zip(&files) {
            reader.file = (name_of(file), number);
            read_rows(file, &TOTALS_HEADINGS, OtherColumns::Refused, report, |row, report| reader.row(row, report))?;
        }
        let totals = reader.finish(&files, report);
        totals.check(path, scope, geography, check, report);
        Some(totals)
    }

    /// Totals for the regions of a geography only, for rehearsals: `of` gives those of a region type and level, in ascending order of
    /// region and iteration.
    pub(in crate::safetab) fn made_up(
        geography: &Geography,
        mut of: impl FnMut(RegionType, IterationLevel) -> Vec<PublishedTotal>,
    ) -> PublishedTotals {
        PublishedTotals {
            groups: RegionType::ALL.map(|kind| IterationLevel::ALL.map(|level| of(kind, level))).to_vec(),
            regions: RegionType::ALL.map(|kind| geography.entities(kind).to_vec()).to_vec(),
            left_out: LeftOut::default(),
        }
    }

    /// The totals of a region type and level, in ascending order of region and iteration.
    pub fn groups(&self, region_type: RegionType, level: IterationLevel) -> &[PublishedTotal] {
        &self.groups[region_type.index()][level as usize]
    }

    /// The regions of a type: those of the geography, then those that only the totals have.
    pub fn regions(&self, region_type: RegionType) -> &[String] {
        &self.regions[region_type.index()]
    }

    /// Reports passes without totals, and nations and states of the geography without any.
    fn check(
        &self,
        path: &Path,
        scope: &RunScope,
        geography: &Geography,
        check: TotalsCheck,
        report: &mut ValidationReport,
    ) {
        let file = name_of(path);
        let at = Location { file: &file, ..Location::default() };
        for pass in Pass::ALL.into_iter().filter(|pass| scope.runs(*pass)) {
            let is_empty = |kind: &RegionType| self.groups[kind.index()].iter().all(Vec::is_empty);
            if pass.region_types().iter().all(is_empty) {
                let kinds: Vec<&str> = pass.region_types().iter().map(|kind| kind.name()).collect();
                let allowed = format!("totals of the pass that is run over {}", kinds.join(", "));
                report.add(at, Rule::Empty, "", &allowed);
                continue;
            }
            if check == TotalsCheck::AsGiven {
                continue;
            }
            let never_suppressed = [RegionType::Usa, RegionType::State, RegionType::PrState];
            for kind in pass.region_types().iter().filter(|kind| never_suppressed.contains(kind)) {
                let mut seen = vec![false; geography.entities(*kind).len()];
                for total in self.groups[kind.index()].iter().flatten() {
                    seen.get_mut(total.region as usize).into_iter().for_each(|seen| *seen = true);
                }
                // A type without any total was not tabulated.
                for (region, _) in geography.entities(*kind).iter().zip(&seen).filter(|(_, seen)| !**seen) {
                    if seen.contains(&true) {
                        let allowed = format!("totals of every {kind} of the geography, which are never suppressed");
                        let at = Location { field: "REGION_ID", ..at };
                        report.add(at, Rule::Contradiction, region, &allowed);
                    }
                }
            }
        }
    }
}

impl Reader<'_> {
    fn row(&mut self, row: &Row<4>, report: &mut ValidationReport) {
        let region_type = std::str::from_utf8(row.fields[1]).ok().and_then(|text| text.parse::<RegionType>().ok());
        let Some(region_type) = region_type else {
            let names = RegionType::ALL.map(RegionType::name).join(", ");
            return self.wrong(row, 1, Rule::Value, &format!("one of {names}"), report);
        };
        if !self.scope.runs(region_type.pass()) {
            self.left_out.other_states += 1;
            return;
        }
        let iteration = IterationCode::read_padded(row.fields[2]);
        let count = std::str::from_utf8(row.fields[3]).ok().and_then(|text| text.parse::<i64>().ok());
        if iteration.is_none() {
            self.wrong(row, 2, Rule::Value, "1 to 4 digits", report);
        }
        if count.is_none() {
            self.wrong(row, 3, Rule::Value, "a whole number of 64 bits", report);
        }
        let (Some(iteration), Some(count)) = (iteration, count) else { return };
        let Some(region) = self.region(region_type, row, report) else { return };
        let known = self.specification.all_iterations();
        let Ok(place) = known.binary_search_by_key(&iteration, |known| known.code) else {
            return self.wrong(row, 2, Rule::UnknownCode, "the iterations of levels 1 and 2", report);
        };
        let level = known[place].level;
        let keys = &self.key_sets[region_type.granularity() as usize][level as usize];
        match keys.binary_search_by_key(&iteration, |key| key.iteration) {
            Err(_) => self.left_out.not_tabulated += 1,
            Ok(place) => {
                let group = PublishedTotal { region, iteration: place as u32, count };
                let line = u32::try_from(row.line).unwrap_or(u32::MAX);
                self.totals.push(Total { region_type, level, group, line, file: self.file.1 });
            }
        }
    }

    fn wrong(&self, row: &Row<4>, column: usize, rule: Rule, allowed: &str, report: &mut ValidationReport) {
        let at = Location {
            file: &self.file.0,
            line: row.line,
            column: row.columns[column],
            field: TOTALS_HEADINGS[column],
        };
        report.add(at, rule, row.fields[column], allowed);
    }

    /// The index of a region; `None` if the row is omitted or wrong.
    fn region(&mut self, region_type: RegionType, row: &Row<4>, report: &mut ValidationReport) -> Option<u32> {
        let id = row.fields[0];
        let entities = self.geography.entities(region_type);
        if let Ok(place) = entities.binary_search_by(|known| known.as_bytes().cmp(id)) {
            return Some(place as u32);
        }
        if self.whole.entities(region_type).binary_search_by(|known| known.as_bytes().cmp(id)).is_ok() {
            self.left_out.without_units += 1;
            return None;
        }
        match region_type {
            RegionType::Usa => {}
            RegionType::Aiannh if digits::<4>(id).is_some() => {
                self.left_out.other_areas += 1;
                return None;
            }
            RegionType::Aiannh => {}
            _ => {
                let state = id.get(..2).and_then(digits::<2>);
                if state.is_some_and(|state| self.scope.pass_of(state) != Some(region_type.pass())) {
                    self.left_out.other_states += 1;
                    return None;
                }
            }
        }
        let text = std::str::from_utf8(id).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        match text {
            Some(text) if self.check == TotalsCheck::AsGiven => {
                let others = &mut self.others[region_type.index()];
                let place = others.iter().position(|known| known == text).unwrap_or_else(|| {
                    others.push(text.to_string());
                    others.len() - 1
                });
                Some((entities.len() + place) as u32)
            }
            _ => {
                let allowed = format!("a {region_type} of the geography: both must be of one vintage");
                self.wrong(row, 0, Rule::UnknownRegion, &allowed, report);
                None
            }
        }
    }

    /// Sorts the totals and reports duplicates.
    fn finish(mut self, files: &[PathBuf], report: &mut ValidationReport) -> PublishedTotals {
        let key = |total: &Total| (total.region_type, total.level, total.group.region, total.group.iteration);
        self.totals.sort_by_key(|total| (key(total), total.file, total.line));
        for pair in self.totals.windows(2).filter(|pair| key(&pair[0]) == key(&pair[1])) {
            let file = name_of(&files[pair[1].file as usize]);
            let at = Location { file: &file, line: pair[1].line.into(), column: 0, field: "group" };
            let keys = &self.key_sets[pair[1].region_type.granularity() as usize][pair[1].level as usize];
            let iteration = keys[pair[1].group.iteration as usize].iteration;
            let mut regions =
                self.geography.entities(pair[1].region_type).iter().chain(&self.others[pair[1].region_type.index()]);
            let region = regions.nth(pair[1].group.region as usize).map_or("", String::as_str);
            let value = format!("{region}|{}|{iteration}", pair[1].region_type);
            let allowed = format!("every group once; this one is in line {}, too", pair[0].line);
            report.add(at, Rule::Duplicate, value, &allowed);
        }
        let mut groups = vec![[Vec::new(), Vec::new()]; RegionType::ALL.len()];
        for total in self.totals {
            groups[total.region_type.index()][total.level as usize].push(total.group);
        }
        let regions = RegionType::ALL.into_iter().zip(self.others);
        let regions = regions.map(|(kind, others)| [self.geography.entities(kind), &others].concat()).collect();
        PublishedTotals { groups, regions, left_out: self.left_out }
    }
}
