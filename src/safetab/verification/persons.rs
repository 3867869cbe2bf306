//! T1 and T2: totals, and cells of sex by age with their sums.

use std::collections::HashMap;

use super::{
    rows::{GroupKey, TableForm, TableRow, Tables},
    verified::Verified,
};
use crate::{
    error::Result,
    safetab::{
        schema::{IterationCode, RecordKind, RegionType, Rule, ValidationReport},
        tables::PublishedTable,
        tabulate::{PersonInputs, Program, coterminous, levels::TabulatedLevel, workload::bounds},
    },
};

const TABLES: [TableForm; 2] = [
    TableForm { name: "t1", folder: "t1", columns: &[], cell: |_| Ok(0) },
    TableForm { name: "t2", folder: "t2", columns: &["AGESTART", "AGEEND", "SEX"], cell },
];
/// The age of a sum over all ages.
const ALL_AGES: u8 = 127;

/// A cell of T2: its first and last age and its sex.
fn cell_of(first: u8, last: u8, sex: u8) -> u16 {
    u16::from(first) << 9 | u16::from(last) << 2 | u16::from(sex)
}

fn cell(fields: &[&[u8]]) -> std::result::Result<u16, &'static str> {
    let age = |field: &[u8]| match field {
        b"*" => Some(ALL_AGES),
        digits => std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u8>().ok()).filter(|age| *age <= 115),
    };
    match (age(fields[0]), age(fields[1]), fields[2]) {
        (Some(first), Some(last), b"1") if first <= last => Ok(cell_of(first, last, 1)),
        (Some(first), Some(last), b"2") if first <= last => Ok(cell_of(first, last, 2)),
        _ => Err("ages from 0 to 115 that ascend, or * twice; sex 1 or 2"),
    }
}

/// The cells of a group with ages, in order.
fn cells_of(table: PublishedTable) -> Vec<u16> {
    let bins = (0..table.ages().len()).map(|bin| bounds(table, bin)).chain([(ALL_AGES, ALL_AGES)]);
    let mut cells: Vec<u16> = bins.flat_map(|(first, last)| [1, 2].map(|sex| cell_of(first, last, sex))).collect();
    cells.sort_unstable();
    cells
}

impl Verified for PersonInputs {
    const ALGORITHM: &'static str = RecordKind::Persons.program();

    const TABLES: &'static [TableForm] = &TABLES;

    const FOLDERS: [&'static str; 2] = ["t1", "t2"];

    fn check(tables: &Tables, inputs: Option<&Self>, report: &mut ValidationReport) -> Result<u64> {
        check(tables, inputs, report)
    }
}

/// Checks both tables and returns the number of groups.
fn check(tables: &Tables, inputs: Option<&PersonInputs>, report: &mut ValidationReport) -> Result<u64> {
    let mut detail: HashMap<GroupKey, PublishedTable> = HashMap::new();
    for (group, rows) in tables.groups(1) {
        let found: Vec<u16> = rows.iter().map(|row| row.cell).collect();
        let table = PublishedTable::ALL.into_iter().skip(1).find(|table| cells_of(*table) == found);
        let Some(table) = table else {
            let allowed = "the cells of sex by 4, 9 or 23 ages and the two sexes, all of them";
            tables.wrong(&rows[0], "group", Rule::Cells, group.shown(), allowed, report);
            continue;
        };
        detail.insert(group, table);
        check_sums(tables, group, rows, report);
    }
    let mut groups = 0;
    let known = inputs.map(Known::new).transpose()?;
    for (group, rows) in tables.groups(0) {
        groups += 1;
        if let Some(known) = &known {
            known.check(tables, group, &rows[0], detail.get(&group).copied(), report);
        }
    }
    if let Some(known) = &known {
        known.check_complete(tables, report);
        if !known.inputs.config.scope().allow_negative_counts() {
            for (_, rows) in tables.groups(0).chain(tables.groups(1)) {
                for row in rows.iter().filter(|row| row.count < 0) {
                    tables.wrong(row, "COUNT", Rule::Value, row.count.to_string(), "0 or more, as configured", report);
                }
            }
        }
    }
    Ok(groups)
}

/// Checks that each sex is the sum of its ages, and that the total of T1 is the sum of both.
fn check_sums(tables: &Tables, group: GroupKey, rows: &[TableRow], report: &mut ValidationReport) {
    let mut both = 0;
    for sex in [1, 2] {
        let all = cell_of(ALL_AGES, ALL_AGES, sex);
        let of_sex = || rows.iter().filter(|row| row.cell & 3 == u16::from(sex));
        let sum: i128 = of_sex().filter(|row| row.cell != all).map(|row| i128::from(row.count)).sum();
        if let Some(row) = of_sex().find(|row| row.cell == all && i128::from(row.count) != sum) {
            let allowed = format!("{sum}, the sum over ages of {}", group.shown());
            tables.wrong(row, "COUNT", Rule::Sum, row.count.to_string(), &allowed, report);
        }
        both += sum;
    }
    match tables.total(0, group) {
        Some(total) if i128::from(total) == both => {}
        Some(total) => {
            let allowed = format!("a total in T1 of {both}, the sum over ages and sexes");
            let value = format!("{}|{total}", group.shown());
            tables.wrong(&rows[0], "group", Rule::Sum, value, &allowed, report);
        }
        None => tables.wrong(&rows[0], "group", Rule::MissingGroup, group.shown(), "a total in T1", report),
    }
}

/// The properties of groups according to the inputs.
struct Known<'a> {
    inputs: &'a PersonInputs,
    /// The levels that are run, by type and iteration.
    levels: Vec<TabulatedLevel>,
    of_group: HashMap<(RegionType, u16), usize>,
    /// Whether each region shares its blocks with another.
    coterminous: Vec<Vec<bool>>,
}

impl<'a> Known<'a> {
    fn new(inputs: &'a PersonInputs) -> Result<Known<'a>> {
        let (mut levels, mut of_group) = (Vec::new(), HashMap::new());
        let geography = &inputs.public.geography;
        let mut shared: Vec<Vec<bool>> =
            RegionType::ALL.iter().map(|kind| vec![false; geography.entities(*kind).len()]).collect();
        for (pass, of_pass) in inputs.passes()? {
            for level in of_pass {
                for key in &level.iterations {
                    of_group.insert((level.region_type, key.iteration.number()), levels.len());
                }
                levels.push(level);
            }
            let types = inputs.order.region_types(pass);
            for (place, region) in coterminous::sets(geography, types).into_iter().flatten() {
                shared[types[place].index()][region as usize] = true;
            }
        }
        Ok(Known { inputs, levels, of_group, coterminous: shared })
    }

    /// Checks that a published group is tabulated, and has a possible detail.
    fn check(
        &self,
        tables: &Tables,
        group: GroupKey,
        row: &TableRow,
        detail: Option<PublishedTable>,
        report: &mut ValidationReport,
    ) {
        let region_type = group.region_type();
        let entities = self.inputs.public.geography.entities(region_type);
        let Ok(region) = entities.binary_search(&group.region_id()) else {
            let allowed = format!("a {region_type} of the geography");
            return tables.wrong(row, "REGION_ID", Rule::UnknownRegion, group.region_id(), &allowed, report);
        };
        // A region that shares its blocks may have the counts of a region of another type.
        if self.coterminous[region_type.index()][region] {
            return;
        }
        let Some(&place) = self.of_group.get(&(region_type, group.iteration())) else {
            let known = self.inputs.public.specification.all_iterations();
            let code = group.iteration();
            let is_known = known.binary_search_by_key(&code, |known| known.code.number()).is_ok();
            let (rule, allowed) = match is_known {
                true => (Rule::UnexpectedGroup, format!("an iteration that is tabulated for {region_type}")),
                false => (Rule::UnknownCode, "the iterations of levels 1 and 2".to_string()),
            };
            return tables.wrong(row, "ITERATION_CODE", rule, group.shown(), &allowed, report);
        };
        let level = &self.levels[place];
        let only = is_detailed_only(level, group.iteration());
        if let Some(detail) = detail.filter(|_| only) {
            let value = format!("{} {}", group.shown(), detail.name());
            return tables.wrong(
                row,
                "group",
                Rule::Cells,
                value,
                "a total only, of a detailed-only iteration",
                report,
            );
        }
        let threshold = level.suppression.map(|both| both[usize::from(!only)]).filter(|_| detail.is_none());
        if let Some(threshold) = threshold.filter(|threshold| row.count <= *threshold) {
            let allowed = format!("a total above {threshold}; smaller ones are suppressed");
            tables.wrong(row, "COUNT", Rule::UnexpectedGroup, row.count.to_string(), &allowed, report);
        }
    }

    /// Checks that no group of the nation and the states is missing; they are never suppressed.
    fn check_complete(&self, tables: &Tables, report: &mut ValidationReport) {
        for level in self.levels.iter().filter(|level| level.suppression.is_none()) {
            for region in &level.regions {
                let Ok(number) = region.parse() else { continue };
                for key in &level.iterations {
                    let group = GroupKey::new(level.region_type, number, key.iteration.number());
                    if tables.total(0, group).is_none() {
                        tables.missing(0, group, "every group of a level that is not suppressed", report);
                    }
                }
            }
        }
    }
}

fn is_detailed_only(level: &TabulatedLevel, code: u16) -> bool {
    let place = level.iterations.binary_search_by_key(&code, |key| IterationCode::number(key.iteration));
    place.is_ok_and(|place| level.iterations[place].detailed_only)
}
