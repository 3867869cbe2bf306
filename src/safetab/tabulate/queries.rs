//! The counting, in SQL.
//!
//! 1. Every distinct text of race and ethnicity codes is mapped once to the iterations that it belongs to; texts with the
//!    same iterations are of one class. Blocks with the same regions are of one atom.
//! 2. Records are joined with blocks, codes and cells and counted by (atom, class, cell). The counts are written to a
//!    temporary file, far smaller than the records.
//! 3. For each population group level these counts are joined with the regions of the atoms and the iterations of the
//!    classes and added up by (region, iteration, cell), in ascending order.
//!
//! Beside these the texts of codes are counted, and for a cluster counties and cells, without a join (`control_totals`).
//!
//! In a join the small table is held in memory and the records stream past it; codes that are too many for that are sorted,
//! and groups and sorted runs beyond the memory limit are spilled to disk. Beside the limit there are the lists of
//! iterations, some hundred bytes for each class. Sums of integers do not depend on the order of records, threads or files.
//! All of it is plain SQL over tables, one text for the embedded engine and for a cluster. A cluster is asked what is asked of
//! records (1 and 2); 3 is left to the embedded engine.

use std::sync::Arc;

use datafusion::arrow::{
    array::{Array, ArrayRef, AsArray, Int32Array, Int64Array},
    datatypes::{DataType, Int32Type, Int64Type},
};

use super::{
    counter::{Counter, column, keep_answer},
    record_files::changed,
};
use crate::{
    error::Result,
    safetab::schema::{HEADINGS, HOUSEHOLD_HEADINGS},
};

/// Bytes that a hash table holds beside each text.
const HASHED: usize = 64;

/// A kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// Persons, whose cells are ages and sexes.
    Persons,
    /// Households, whose cells are types and tenures.
    Households,
}

impl RecordKind {
    /// The columns.
    pub fn headings(self) -> &'static [&'static str] {
        match self {
            RecordKind::Persons => &HEADINGS,
            RecordKind::Households => &HOUSEHOLD_HEADINGS,
        }
    }

    /// The key of the cell of a record, in SQL.
    fn key(self) -> &'static str {
        match self {
            RecordKind::Persons => "CAST(`QAGE` AS INT) * 2 + CAST(`QSEX` AS INT)",
            RecordKind::Households => "CAST(`HOUSEHOLD_TYPE` AS INT) * 4 + CAST(`TEN` AS INT)",
        }
    }
}

/// Makes the table `blocks` of the blocks and the atom of each.
pub fn make_blocks(counter: &dyn Counter, geoids: &[u64], atoms: Vec<i32>) -> Result<()> {
    let geoids: ArrayRef = Arc::new(geoids.iter().map(|&geoid| geoid as i64).collect::<Int64Array>());
    counter.make_table("blocks", vec![("block", geoids), ("atom", Arc::new(Int32Array::from(atoms)))])
}

/// Some records of one atom, class and cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The atom of their blocks.
    pub atom: i32,
    /// The class of their codes.
    pub class: i32,
    /// Their cell.
    pub cell: i32,
    /// How many they are.
    pub n: i64,
}

/// Which records are counted, and by what.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// What they are.
    pub kind: RecordKind,
    /// How many race codes are taken.
    pub races: u32,
    /// The states that are counted; all if `None`.
    pub states: Option<&'a [u8]>,
}

/// Says the classes of texts of codes, given these and how many records have each.
pub type ClassOf<'a> = dyn FnMut(&[&str], &[i64]) -> Result<Vec<i32>> + 'a;

/// Makes the table `classes` of the distinct texts of codes of the records: the first race codes, then the ethnicity code. `class_of`
/// says the classes of a batch of texts; it is told how many records have each.
pub fn classify_codes(counter: &dyn Counter, counted: Counted, class_of: &mut ClassOf) -> Result<()> {
    let columns = [("codes", DataType::Utf8), ("class", DataType::Int32)];
    let mut bytes = 0;
    keep_answer((counter, counter), "classes", &columns, &counted.distinct_codes(), &mut |batch| {
        let (texts, counts) = (column(&batch, 0, &DataType::Utf8)?, column(&batch, 1, &DataType::Int64)?);
        let found: Vec<&str> = texts.as_string::<i32>().iter().flatten().collect();
        if found.len() < batch.num_rows() {
            return Err(changed("a record has no codes"));
        }
        bytes += found.iter().map(|text| text.len() + HASHED).sum::<usize>();
        let classes = class_of(&found, counts.as_primitive::<Int64Type>().values())?;
        Ok(vec![texts, Arc::new(Int32Array::from(classes))])
    })?;
    counter.expect_codes(bytes)
}

/// Counts records by atom, class and cell, from the tables `records`, `blocks`, `classes` and `cells` of the first counter, into the
/// table `tallies` of the second. `see` is shown each count.
pub fn count_records(
    counters: (&dyn Counter, &dyn Counter),
    counted: Counted,
    see: &mut dyn FnMut(Tally) -> Result<()>,
) -> Result<()> {
    let columns =
        [("atom", DataType::Int32), ("class", DataType::Int32), ("cell", DataType::Int32), ("n", DataType::Int64)];
    keep_answer(counters, "tallies", &columns, &counted.tally(), &mut |batch| {
        let answered = columns.iter().enumerate().map(|(place, (_, kind))| column(&batch, place, kind));
        let answered = answered.collect::<Result<Vec<ArrayRef>>>()?;
        if answered.iter().any(|column| column.null_count() > 0) {
            return Err(changed("a record has codes, a block or a cell that none had"));
        }
        let [atoms, classes, cells] = [0, 1, 2].map(|place| answered[place].as_primitive::<Int32Type>());
        let counts = answered[3].as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            see(Tally {
                atom: atoms.value(row),
                class: classes.value(row),
                cell: cells.value(row),
                n: counts.value(row),
            })?;
        }
        Ok(answered)
    })
}

/// How many records each county and key of a cell has, counted without a join: `see` is shown the code of the county, the key and
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

/// The counts of a population group level: `see` gets the region, the iteration, the cell and the count of all that
/// are not zero, in ascending order. `regions` is the table of an atom's region, `iterations` of a class's list of
/// iterations.
pub fn each_count(
    counter: &dyn Counter,
    regions: &str,
    iterations: &str,
    see: &mut dyn FnMut(u32, u32, usize, i64) -> Result<()>,
) -> Result<()> {
    let sql = sum_up(regions, iterations);
    counter.answer(&sql, &mut |batch| {
        let [regions, iterations, cells] = [0, 1, 2].map(|column| batch.column(column).as_primitive::<Int32Type>());
        let counts = batch.column(3).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            see(regions.value(row) as u32, iterations.value(row) as u32, cells.value(row) as usize, counts.value(row))?;
        }
        Ok(())
    })
}

impl Counted<'_> {
    /// Every text of codes, and how many records have it.
    fn distinct_codes(&self) -> String {
        let codes = codes(self.races);
        format!(
            "SELECT codes, count(*) AS n FROM (SELECT {codes} AS codes FROM records{}) AS record GROUP BY codes",
            self.where_counted()
        )
    }

    /// Records by atom, class and cell; every record is kept, whether it has them or not. The left side of a join is the one
    /// that is held in memory, and the engine puts outer joins in no other order.
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

/// Tallies by region, iteration and cell.
fn sum_up(regions: &str, iterations: &str) -> String {
    format!(
        "SELECT region, iteration, cell, CAST(sum(n) AS BIGINT) AS n FROM \
             (SELECT region, unnest(iterations) AS iteration, cell, n FROM \
              {iterations} JOIN \
              (SELECT region, class, cell, sum(n) AS n FROM {regions} JOIN tallies ON {regions}.atom = tallies.atom \
               GROUP BY region, class, cell) AS tally \
              ON {iterations}.class = tally.class) \
             GROUP BY region, iteration, cell ORDER BY region, iteration, cell"
    )
}

/// The text of a record's codes. Every code has four characters, so it can be split again.
fn codes(races: u32) -> String {
    let columns = (1..=races).map(|number| format!("`QRACE{number}`"));
    columns.chain(["`QSPAN`".to_string()]).collect::<Vec<String>>().join(" || ")
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fmt::Write, path::Path};

    use datafusion::arrow::util::pretty::pretty_format_batches;

    use super::super::{
        engine::{Engine, MEMORY},
        record_files::RecordFiles,
    };
    use super::*;

    const RECORDS: u64 = 120_000;
    const PERSONS: Counted = Counted { kind: RecordKind::Persons, races: 1, states: None };

    /// The i-th record: codes, of which there are `texts` different ones, block, age and sex.
    fn record(i: u64, texts: u64) -> (String, u64, u64, u64) {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20;
        let (codes, mixed) = (mixed % texts, mixed / texts);
        let codes = format!("{:04}{:04}", 1000 + codes % 9000, 2000 + codes / 9000);
        (codes, mixed % 7, mixed / 7 % 116, 1 + mixed / 812 % 2)
    }

    fn class_of(codes: &str) -> i32 {
        codes.bytes().fold(7, |sum: i32, byte| (sum * 31 + i32::from(byte)) % 10_007)
    }

    fn write_persons(file: &Path, texts: u64) {
        let mut text = HEADINGS.join("|") + "\n";
        for i in 0..RECORDS {
            let (codes, block, age, sex) = record(i, texts);
            let (race, ethnicity) = codes.split_at(4);
            writeln!(text, "{age}|{sex}|1|44|001|000100|100{block}|01|{race}{}|{ethnicity}", "|Null".repeat(7))
                .unwrap();
        }
        std::fs::write(file, text).unwrap();
    }

    /// The counts of the level with every block its own region, and every class its own iteration and one in common.
    fn counts(engine: &Engine, persons: &Path) -> Vec<(u32, u32, usize, i64)> {
        let files = RecordFiles { text: vec![persons.to_path_buf()], parquet: Vec::new() };
        engine.read_records(&files, &HEADINGS).unwrap();
        let blocks: Vec<u64> = (0..7).map(|block| 440_010_001_001_000 + block).collect();
        make_blocks(engine, &blocks, (0..7).collect()).unwrap();
        let (keys, cells) = (0..=232).map(|key| (key, key / 10)).unzip();
        engine.make_integers("cells", &[("key", keys), ("cell", cells)]).unwrap();
        let (mut texts_of, mut counted) = (0, 0);
        let mut classify = |texts: &[&str], counts: &[i64]| {
            texts_of += counts.iter().sum::<i64>();
            Ok(texts.iter().map(|text| class_of(text)).collect())
        };
        classify_codes(engine, PERSONS, &mut classify).unwrap();
        let mut count = |tally: Tally| {
            counted += tally.n;
            Ok(())
        };
        count_records((engine, engine), PERSONS, &mut count).unwrap();
        assert_eq!((texts_of, counted), (RECORDS as i64, RECORDS as i64));
        engine.make_integers("regions", &[("atom", (0..7).collect()), ("region", (10..17).collect())]).unwrap();
        let lists: Vec<[i32; 2]> = (0..10_007).map(|class| [class, 20_000]).collect();
        engine.register_lists("iterations", (0..).zip(lists.iter().map(|list| &list[..])).collect()).unwrap();
        let mut seen = Vec::new();
        let mut see = |region, iteration, cell, count| {
            seen.push((region, iteration, cell, count));
            Ok(())
        };
        each_count(engine, "regions", "iterations", &mut see).unwrap();
        seen
    }

    fn expected(texts: u64) -> Vec<(u32, u32, usize, i64)> {
        let mut counts = BTreeMap::new();
        for i in 0..RECORDS {
            let (codes, block, age, sex) = record(i, texts);
            for iteration in [class_of(&codes) as u32, 20_000] {
                *counts.entry((10 + block as u32, iteration, (age * 2 + sex) as usize / 10)).or_insert(0) += 1;
            }
        }
        counts.into_iter().map(|((region, iteration, cell), n)| (region, iteration, cell, n)).collect()
    }

    /// What the engine did to count the persons, as it says.
    fn explanation(engine: &Engine, sql: &str) -> String {
        let mut batches = Vec::new();
        let mut see = |batch| {
            batches.push(batch);
            Ok(())
        };
        engine.answer(&format!("EXPLAIN ANALYZE {sql}"), &mut see).unwrap();
        pretty_format_batches(&batches).unwrap().to_string()
    }

    #[test]
    fn what_exceeds_the_memory_is_spilled_and_counted_all_the_same() {
        // Many different codes in little memory are sorted, and groups are spilled. A table of all records would take more
        // than the 8 MiB of the last case.
        for (texts, memory, spills) in [(400_000, MEMORY, false), (400_000, 24 << 20, true), (90, 8 << 20, false)] {
            let folder = tempfile::tempdir().unwrap();
            let persons = folder.path().join("persons");
            write_persons(&persons, texts);
            let engine = Engine::with_limits(folder.path(), memory, 2).unwrap();
            assert!(counts(&engine, &persons) == expected(texts), "{texts} texts in {memory} bytes");
            let plan = explanation(&engine, &PERSONS.tally());
            let spilled = plan.split("spill_count=").skip(1).any(|rest| !rest.starts_with('0'));
            assert_eq!((spilled, plan.contains("SortMergeJoin")), (spills, spills), "{plan}");
        }
    }
}
