//! The counting in SQL, for a cluster.
//!
//! 1. Every distinct text of race and ethnicity codes is mapped once to its iterations; texts with the same iterations form one class.
//!    Blocks in the same regions form one atom.
//! 2. Records are joined with blocks, codes and cells and counted by (atom, class, cell). These counts come back; they are far fewer than
//!    the records.
//!
//! In addition, counties and cells are counted without a join (`control_totals`). Sums of integers do not depend on the order of records,
//! workers or files. Everything that follows from the counts is computed here, as for records that are counted here.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, AsArray, Int32Array, Int64Array},
    datatypes::{DataType, Int32Type, Int64Type},
};

use super::{
    counter::{Counter, column, keep_answer},
    record_files::changed,
};
use crate::{
    error::Result,
    safetab::schema::{HEADINGS, HOUSEHOLD_HEADINGS, RecordKind},
};

impl RecordKind {
    /// The columns.
    pub(super) fn headings(self) -> &'static [&'static str] {
        match self {
            RecordKind::Persons => &HEADINGS,
            RecordKind::Households => &HOUSEHOLD_HEADINGS,
        }
    }

    /// The key of a record's cell, in SQL.
    fn key(self) -> &'static str {
        match self {
            RecordKind::Persons => "CAST(`QAGE` AS INT) * 2 + CAST(`QSEX` AS INT)",
            RecordKind::Households => "CAST(`HOUSEHOLD_TYPE` AS INT) * 4 + CAST(`TEN` AS INT)",
        }
    }
}

/// Creates the table `blocks` of the blocks with the atom of each.
pub fn make_blocks(counter: &dyn Counter, geoids: &[u64], atoms: Vec<i32>) -> Result<()> {
    let geoids: ArrayRef = Arc::new(geoids.iter().map(|&geoid| geoid as i64).collect::<Int64Array>());
    counter.make_table("blocks", vec![("block", geoids), ("atom", Arc::new(Int32Array::from(atoms)))])
}

/// A number of records with the same atom, class and cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The atom of their blocks.
    pub atom: i32,
    /// The class of their codes.
    pub class: i32,
    /// Their cell.
    pub cell: i32,
    /// Their number.
    pub n: i64,
}

/// Which records are counted, and the keys.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The kind of records.
    pub kind: RecordKind,
    /// The number of race codes used.
    pub races: u32,
    /// The states that are counted; all if `None`.
    pub states: Option<&'a [u8]>,
}

/// A callback for the classes of texts of codes, given these and the number of records of each.
pub type ClassOf<'a> = dyn FnMut(&[&str], &[i64]) -> Result<Vec<i32>> + 'a;

/// Creates the table `classes` of the distinct texts of codes in the records: first the race codes, then the ethnicity code. `class_of`
/// gives the classes of a batch of texts from these and the number of records of each.
pub fn classify_codes(counter: &dyn Counter, counted: Counted, class_of: &mut ClassOf) -> Result<()> {
    let columns = [("codes", DataType::Utf8), ("class", DataType::Int32)];
    keep_answer(counter, "classes", &columns, &counted.distinct_codes(), &mut |batch| {
        let (texts, counts) = (column(&batch, 0, &DataType::Utf8)?, column(&batch, 1, &DataType::Int64)?);
        let found: Vec<&str> = texts.as_string::<i32>().iter().flatten().collect();
        if found.len() < batch.num_rows() {
            return Err(changed("a record has no codes"));
        }
        let classes = class_of(&found, counts.as_primitive::<Int64Type>().values())?;
        Ok(vec![texts, Arc::new(Int32Array::from(classes))])
    })
}

/// Counts records by atom, class and cell, from the tables `records`, `blocks`, `classes` and `cells`. Calls `see` with each count.
pub fn count_records(counter: &dyn Counter, counted: Counted, see: &mut dyn FnMut(Tally) -> Result<()>) -> Result<()> {
    let kinds = [DataType::Int32, DataType::Int32, DataType::Int32, DataType::Int64];
    counter.answer(&counted.tally(), &mut |batch| {
        let answered = kinds.iter().enumerate().map(|(place, kind)| column(&batch, place, kind));
        let answered = answered.collect::<Result<Vec<ArrayRef>>>()?;
        if answered.iter().any(|column| column.null_count() > 0) {
            return Err(changed("a record has codes, a block or a cell that none had"));
        }
        let [atoms, classes, cells] = [0, 1, 2].map(|place| answered[place].as_primitive::<Int32Type>());
        let counts = answered[3].as_primitive::<Int64Type>();
        (0..batch.num_rows()).try_for_each(|row| {
            let (atom, class, cell) = (atoms.value(row), classes.value(row), cells.value(row));
            see(Tally { atom, class, cell, n: counts.value(row) })
        })
    })
}

/// The number of records for each county and key of a cell, counted without a join. Calls `see` with the code of the county, the key and
/// the count.
pub fn count_marginals(
    counter: &dyn Counter,
    counted: Counted,
    see: &mut dyn FnMut(i32, i32, i64) -> Result<()>,
) -> Result<()> {
    counter.answer(&counted.marginals(), &mut |batch| {
        let [counties, keys] = [0, 1].map(|place| column(&batch, place, &DataType::Int32));
        let (counties, keys, counts) = (counties?, keys?, column(&batch, 2, &DataType::Int64)?);
        if [&counties, &keys].iter().any(|column| column.null_count() > 0) {
            return Err(changed("a record has no county or no cell"));
        }
        let [counties, keys] = [&counties, &keys].map(|column| column.as_primitive::<Int32Type>());
        let counts = counts.as_primitive::<Int64Type>();
        (0..batch.num_rows()).try_for_each(|row| see(counties.value(row), keys.value(row), counts.value(row)))
    })
}

impl Counted<'_> {
    /// Every text of codes with its number of records.
    fn distinct_codes(&self) -> String {
        let codes = codes(self.races);
        format!(
            "SELECT codes, count(*) AS n FROM (SELECT {codes} AS codes FROM records{}) AS record GROUP BY codes",
            self.where_counted()
        )
    }

    /// Records by atom, class and cell; every record is kept, even without one of them. The left side of a join is the one held in memory.
    fn tally(&self) -> String {
        format!(
            "SELECT atom, class, cell, count(*) AS n FROM \
             cells RIGHT JOIN (classes RIGHT JOIN (blocks RIGHT JOIN \
             (SELECT CAST(`TABBLKST` || `TABBLKCOU` || `TABTRACTCE` || `TABBLK` AS BIGINT) AS block, {} AS codes, \
              {} AS key FROM records{}) AS record \
             ON blocks.block = record.block) ON classes.codes = record.codes) ON cells.key = record.key \
             GROUP BY atom, class, cell",
            codes(self.races),
            self.kind.key(),
            self.where_counted()
        )
    }

    /// Records by county and key of a cell, without a join.
    fn marginals(&self) -> String {
        format!(
            "SELECT county, key, count(*) AS n FROM (SELECT CAST(`TABBLKST` || `TABBLKCOU` AS INT) AS county, {} AS key \
             FROM records{}) AS record GROUP BY county, key",
            self.kind.key(),
            self.where_counted()
        )
    }

    fn where_counted(&self) -> String {
        self.states.map_or_else(String::new, |states| {
            let quoted: Vec<String> = states.iter().map(|state| format!("'{state:02}'")).collect();
            format!(" WHERE `TABBLKST` IN ({})", quoted.join(", "))
        })
    }
}

/// The text of a record's codes. Every code has four characters, so it can be split again.
fn codes(races: u32) -> String {
    let columns = (1..=races).map(|number| format!("`QRACE{number}`"));
    columns.chain(["`QSPAN`".to_string()]).collect::<Vec<String>>().join(" || ")
}
