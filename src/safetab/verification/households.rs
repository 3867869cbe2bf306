//! T3 and T4: the tables of households at all details.

use std::collections::HashMap;

use super::{
    rows::{GroupKey, TableForm, TableRow, Tables},
    verified::Verified,
};
use crate::{
    error::Result,
    safetab::{
        household_tables::HouseholdTopic,
        schema::{RecordKind, Rule, ValidationReport},
        tabulate::{HouseholdInputs, Program},
    },
};

const fn form(name: &'static str, folder: &'static str, column: &'static [&'static str]) -> TableForm {
    TableForm { name, folder, columns: column, cell }
}

const TABLES: [TableForm; 6] = [
    form("T03001", "t3/T03001", &["T3_DATA_CELL"]),
    form("T03002", "t3/T03002", &["T3_DATA_CELL"]),
    form("T03003", "t3/T03003", &["T3_DATA_CELL"]),
    form("T03004", "t3/T03004", &["T3_DATA_CELL"]),
    form("T04001", "t4/T04001", &["T4_DATA_CELL"]),
    form("T04002", "t4/T04002", &["T4_DATA_CELL"]),
];

fn cell(fields: &[&[u8]]) -> std::result::Result<u16, &'static str> {
    match fields[0] {
        [digit @ b'0'..=b'8'] => Ok(u16::from(digit - b'0')),
        _ => Err("0 to 8"),
    }
}

/// The topic and the detail of a table.
fn topic_of(table: usize) -> (HouseholdTopic, usize) {
    let first = HouseholdTopic::Type.tables().len();
    if table < first { (HouseholdTopic::Type, table) } else { (HouseholdTopic::Tenure, table - first) }
}

impl Verified for HouseholdInputs {
    const ALGORITHM: &'static str = RecordKind::Households.program();

    const TABLES: &'static [TableForm] = &TABLES;

    const FOLDERS: [&'static str; 2] = ["t3", "t4"];

    fn check(tables: &Tables, inputs: Option<&Self>, report: &mut ValidationReport) -> Result<u64> {
        check(tables, inputs, report)
    }
}

/// Checks all tables and returns the number of groups.
fn check(tables: &Tables, inputs: Option<&HouseholdInputs>, report: &mut ValidationReport) -> Result<u64> {
    // The detail of each group in T3 and T4.
    let mut found: HashMap<GroupKey, [Option<usize>; 2]> = HashMap::new();
    for number in 0..TABLES.len() {
        let (topic, detail) = topic_of(number);
        for (group, rows) in tables.groups(number) {
            check_group(tables, topic, detail, (group, rows), report);
            let known = &mut found.entry(group).or_default()[topic as usize];
            if let Some(other) = known.replace(detail) {
                let allowed = format!("one table of {}; it is in {}, too", topic.name(), topic.tables()[other].name);
                tables.wrong(&rows[0], "group", Rule::Duplicate, group.shown(), &allowed, report);
            }
            if inputs.is_some_and(|inputs| !inputs.config.scope().allow_negative_counts()) {
                for row in rows.iter().filter(|row| row.count < 0) {
                    tables.wrong(row, "COUNT", Rule::Value, row.count.to_string(), "0 or more, as configured", report);
                }
            }
        }
    }
    if let Some(inputs) = inputs {
        check_groups(tables, inputs, &found, report)?;
    }
    Ok(found.len() as u64)
}

/// Checks that the cells of a group are those of its table, and that all sums agree.
fn check_group(
    tables: &Tables,
    topic: HouseholdTopic,
    detail: usize,
    (group, rows): (GroupKey, &[TableRow]),
    report: &mut ValidationReport,
) {
    let table = &topic.tables()[detail];
    if !rows.iter().map(|row| row.cell).eq(table.printed.iter().map(|cell| u16::from(*cell))) {
        let allowed = format!("the cells {:?} of {}, all of them", table.printed, table.name);
        return tables.wrong(&rows[0], "group", Rule::Cells, group.shown(), &allowed, report);
    }
    let is_measured = |row: &&TableRow| table.measured.iter().any(|cell| u16::from(*cell) == row.cell);
    let measured: Vec<i64> = rows.iter().filter(is_measured).map(|row| row.count).collect();
    let mut sums = Vec::new();
    if topic.printed(table, &measured, &mut sums).is_err() {
        let value = group.shown();
        return tables.wrong(&rows[0], "group", Rule::Sum, value, "sums within 64 bits", report);
    }
    for (row, sum) in rows.iter().zip(sums).filter(|(row, sum)| row.count != *sum) {
        let allowed = format!("{sum}, the sum of its cells in {}", group.shown());
        tables.wrong(row, "COUNT", Rule::Sum, row.count.to_string(), &allowed, report);
    }
}

/// Checks that the groups are those of the totals, each with the detail for its total.
fn check_groups(
    tables: &Tables,
    inputs: &HouseholdInputs,
    found: &HashMap<GroupKey, [Option<usize>; 2]>,
    report: &mut ValidationReport,
) -> Result<()> {
    let mut expected: HashMap<GroupKey, [Option<usize>; 2]> = HashMap::new();
    for level in inputs.passes()?.iter().flat_map(|(_, levels)| levels) {
        for group in &level.groups {
            let Ok(region) = level.regions[group.region as usize].parse() else { continue };
            let iteration = level.iterations[group.iteration as usize].iteration.number();
            let detail = HouseholdTopic::ALL.map(|topic| {
                let place = topic as usize;
                level.tables[place].as_ref().map(|_| usize::from(group.detail[place]))
            });
            expected.insert(GroupKey::new(level.region_type, region, iteration), detail);
        }
    }
    let mut all: Vec<&GroupKey> = expected.keys().chain(found.keys()).collect();
    all.sort_unstable();
    all.dedup();
    for group in all {
        let [expected, found] = [&expected, found].map(|details| details.get(group).copied().unwrap_or_default());
        for topic in HouseholdTopic::ALL {
            let first = if topic == HouseholdTopic::Type { 0 } else { HouseholdTopic::Type.tables().len() };
            match (expected[topic as usize], found[topic as usize]) {
                (expected, found) if expected == found => {}
                (Some(detail), None) => {
                    let allowed = format!("every group of the totals, this one in {}", topic.tables()[detail].name);
                    tables.missing(first + detail, *group, &allowed, report);
                }
                (None, Some(detail)) => {
                    let allowed = "a group that has a total and a budget";
                    tables.unexpected(first + detail, *group, Rule::UnexpectedGroup, allowed, report);
                }
                (Some(called_for), Some(detail)) => {
                    let allowed = format!("{}, as its total calls for", topic.tables()[called_for].name);
                    tables.unexpected(first + detail, *group, Rule::Cells, &allowed, report);
                }
                (None, None) => {}
            }
        }
    }
    Ok(())
}
