//! The truth in the form of a release: the tables without noise. As confidential as the records.
//!
//! For persons it contains exactly the groups that some trial published, each at the finest detail that any trial chose: the total in T1,
//! and in T2 also the cells of all coarser tables, each row once. For households the detail follows the published totals.

use std::path::Path;

use super::{
    households::tabulate,
    truth::{LevelCounts, Truth},
};
use crate::{
    error::Result,
    safetab::{
        schema::Pass,
        tables::PublishedTable,
        tabulate::{
            household_counts::HouseholdTabulation,
            household_levels::HouseholdLevel,
            household_output::HouseholdTables,
            levels::TabulatedLevel,
            output::{TableFile, number},
            workload::{CELLS, bounds, sums},
        },
    },
};

/// Rows are written when their text reaches this length.
const PART: usize = 1 << 20;

/// Writes T1 and T2 of a pass. For each level and group, `most_detail` is one more than its most detailed table; 0 omits the group.
pub(super) fn persons<'a>(
    folder: &Path,
    pass: Pass,
    levels: impl Iterator<Item = (&'a TabulatedLevel, &'a [u8])>,
    truth: &Truth,
) -> Result<()> {
    let group = "REGION_ID|REGION_TYPE|ITERATION_CODE";
    let mut totals = TableFile::create(&folder.join("t1"), pass, &format!("{group}|COUNT"), None)?;
    let mut cells = TableFile::create(&folder.join("t2"), pass, &format!("{group}|AGESTART|AGEEND|SEX|COUNT"), None)?;
    for (plan, most_detail) in levels {
        level((&mut totals, &mut cells), plan, most_detail, truth.level(plan.region_type, plan.level))?;
    }
    totals.finish()?;
    cells.finish()?;
    Ok(())
}

fn level(
    (totals, cells): (&mut TableFile, &mut TableFile),
    plan: &TabulatedLevel,
    most_detail: &[u8],
    truth: &LevelCounts,
) -> Result<()> {
    let mut exact = truth.in_order();
    let width = plan.iterations.len();
    let (mut t1, mut t2) = (Vec::new(), Vec::new());
    for (group, detail) in most_detail.iter().enumerate().filter(|(_, detail)| **detail > 0) {
        let mut counts = [0; CELLS];
        exact.cells(group as u64, &mut counts);
        let (region, code) = (&plan.regions[group / width], plan.iterations[group % width].iteration);
        let head = format!("{region}|{}|{code}|", plan.region_type);
        t1.extend_from_slice(head.as_bytes());
        number(&mut t1, counts.iter().map(|count| i128::from(*count)).sum(), 1);
        t1.push(b'\n');
        ages(&head, &PublishedTable::ALL[..usize::from(*detail)], &counts, &mut t2);
        if t2.len() + t1.len() > PART {
            totals.write(&t1, 0)?;
            cells.write(&t2, 0)?;
            t1.clear();
            t2.clear();
        }
    }
    totals.write(&t1, 0)?;
    cells.write(&t2, 0)
}

/// The rows of T2 of a group in these tables, without repeating rows that tables share: common bins and the two sexes.
fn ages(head: &str, tables: &[PublishedTable], cells: &[i64; CELLS], out: &mut Vec<u8>) {
    let mut seen: Vec<(u8, u8)> = Vec::new();
    let mut row = |bin: &str, sex: usize, count: i64| {
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(bin.as_bytes());
        out.extend_from_slice(format!("|{sex}|{count}\n").as_bytes());
    };
    for table in tables.iter().filter(|table| !table.ages().is_empty()) {
        let mut counts = Vec::with_capacity(CELLS);
        sums(*table, cells, &mut counts);
        let bins = table.ages().len();
        for bin in 0..bins {
            let (first, last) = bounds(*table, bin);
            if seen.contains(&(first, last)) {
                continue;
            }
            seen.push((first, last));
            (1..=2).for_each(|sex| row(&format!("{first}|{last}"), sex, counts[(sex - 1) * bins + bin]));
        }
    }
    if !seen.is_empty() {
        let sexes = cells.chunks_exact(CELLS / 2).map(|sex| sex.iter().sum());
        (1..).zip(sexes).for_each(|(sex, count)| row("*|*", sex, count));
    }
}

/// Writes the tables of a pass over households.
pub(super) fn households(folder: &Path, pass: Pass, levels: &[HouseholdLevel], truth: &Truth) -> Result<()> {
    let mut tables = HouseholdTables::create(folder, pass, None)?;
    for plan in levels {
        let exact = truth.level(plan.region_type, plan.level);
        tabulate(HouseholdTabulation::exact(plan), plan, exact, &mut |batch| tables.write(plan, &batch))?;
    }
    tables.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_two_tables_share_are_there_once() {
        let mut cells = [0; CELLS];
        // Five males of 0 to 4 years, two females of 85 and above.
        (cells[0], cells[CELLS - 1]) = (5, 2);
        let rows = |tables: usize| {
            let mut out = Vec::new();
            ages("1|USA|1011|", &PublishedTable::ALL[..tables], &cells, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(rows(1), "");
        // 8 cells and 2 sexes; 18 more; 46 more, 2 of which are already there.
        assert_eq!([2, 3, 4].map(|tables| rows(tables).lines().count()), [10, 28, 72]);
        let all = rows(4);
        let of = |bin: &str| all.lines().filter(|row| row.starts_with(&format!("1|USA|1011|{bin}|"))).count();
        assert_eq!([of("0|4"), of("0|17"), of("85|115"), of("*|*")], [2, 2, 2, 2]);
        for row in ["0|4|1|5", "0|17|1|5", "*|*|1|5", "*|*|2|2", "85|115|2|2", "75|115|2|2", "65|115|2|2"] {
            assert!(all.contains(&format!("1|USA|1011|{row}\n")), "{row}");
        }
    }
}
