//! Records counted by a cluster: by atoms of blocks, classes of codes, and cells of ages and sexes or of types and tenures. Only these
//! counts come back, and they are compared with control totals before they are used.

use std::{collections::HashMap, fs, path::Path};

use super::{
    cluster::Cluster,
    control_totals::{ControlTotals, Counties},
    counter::Counter,
    inputs::PublicInputs,
    job::Job,
    program::BureauProgram,
    queries::{self, classify_codes, count_marginals, count_records, make_blocks},
    record_files::{RecordFiles, changed},
    spark::SparkCounter,
    workload::OLDEST,
};
use crate::{
    error::Result,
    io::files::file_error,
    safetab::{
        counting::{Counted, Counting},
        schema::{Combination, RaceEthCode, RecordKind, RunScope, ValidationReport},
    },
    topdown::jobs::Progress,
};

/// Checks all records here and has them counted on a cluster; also returns their number. The folder is for sums made here.
pub(super) fn count_on_cluster<'a, P: BureauProgram>(
    job: &Job,
    cluster: &Cluster,
    inputs: &'a P,
    files: &RecordFiles,
    report: ValidationReport,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Counted<'a>, u64)> {
    // Errors come before any record is read.
    let counter = SparkCounter::connect(cluster)?;
    let staged = counter.folder().join("records.txt");
    let checked = inputs.see_records(job.source(files, Some(&staged)), report, progress, &mut |_| Ok(()))?;
    let files = match &inputs.public().cef {
        None => files.decompressed(counter.folder())?,
        Some(_) => RecordFiles { text: vec![staged], parquet: Vec::new() },
    };
    progress(Progress { stage: "counting", done: 0, of: 0 });
    let scope = inputs.scope();
    let states = states_of(scope);
    // Of households only those of states that are run are counted.
    let (states, expected) = match P::KIND {
        RecordKind::Persons => (None, checked.records),
        RecordKind::Households => (Some(states.as_slice()), checked.tabulated),
    };
    let counted = queries::Counted { kind: P::KIND, races: scope.max_race_codes(), states };
    let records = CountedRecords { files: &files, counted, expected };
    let counts = count(inputs.public(), &counter, &records, folder)?;
    // Files written only for the cluster are deleted.
    for own in files.text.iter().filter(|path| path.starts_with(counter.folder())) {
        fs::remove_file(own).map_err(|why| file_error(own, why))?;
    }
    Ok((counts, checked.records))
}

/// The states that are run.
fn states_of(scope: &RunScope) -> Vec<u8> {
    (1..=99).filter(|state| scope.pass_of((*state).into()).is_some()).collect()
}

/// A part of the records.
struct CountedRecords<'a> {
    /// Their files.
    files: &'a RecordFiles,
    /// Which records are counted, and the keys.
    counted: queries::Counted<'a>,
    /// The number of checked records that must be counted.
    expected: u64,
}

/// Has all records counted, and checks that the counts add up.
fn count<'a>(
    public: &'a PublicInputs,
    counter: &dyn Counter,
    records: &CountedRecords,
    folder: &Path,
) -> Result<Counted<'a>> {
    let counted = records.counted;
    let mut counting = Counting::new(counted.kind, &public.specification, &public.geography, folder)?;
    counter.read_records(records.files, counted.kind.headings())?;
    let counties = Counties::new(&public.geography, counting.atom_of());
    make_blocks(counter, public.geography.geoids(), counting.atom_of().iter().map(|atom| *atom as i32).collect())?;
    let mut totals = ControlTotals::default();
    classify_codes(counter, counted, &mut |texts, counts| {
        let class = |text: &&str| {
            let combination = combination(text).ok_or_else(|| changed("a record has other codes"))?;
            counting.classes().classify(&combination).map(|class| class as i32)
        };
        let classes = texts.iter().map(class).collect::<Result<Vec<i32>>>()?;
        totals.add_codes(&classes, counts)?;
        Ok(classes)
    })?;
    let cells = cells(counted.kind);
    let (keys, numbers) = cells.iter().copied().unzip();
    counter.make_integers("cells", &[("key", keys), ("cell", numbers)])?;
    count_records(counter, counted, &mut |tally| {
        totals.add_count(&counties, tally)?;
        counting.add_counted((tally.atom, tally.class, tally.cell), tally.n)
    })?;
    totals.check(records.expected)?;
    let cells: HashMap<i32, i32> = cells.into_iter().collect();
    let mut rows = Vec::new();
    count_marginals(counter, counted, &mut |county, key, n| {
        let cell = cells.get(&key).ok_or_else(|| changed("a record has a cell that none had"))?;
        rows.push((county, *cell, n));
        Ok(())
    })?;
    totals.check_marginals(&counties, &rows)?;
    counting.finish()
}

/// The keys of cells with their cells.
fn cells(kind: RecordKind) -> Vec<(i32, i32)> {
    match kind {
        RecordKind::Persons => {
            let people = (0..=OLDEST).flat_map(|age| [1, 2].map(|sex| (age, sex)));
            people.map(|(age, sex)| (i32::from(age) * 2 + i32::from(sex), kind.cell([sex, age]) as i32)).collect()
        }
        // The key is four times the type plus the tenure; the first key is 5.
        RecordKind::Households => (0..kind.cells() as i32).map(|cell| (cell + 5, cell)).collect(),
    }
}

/// The combination in a text of codes of four characters: race codes, nulls, and last the ethnicity code.
fn combination(text: &str) -> Option<Combination> {
    let bytes = text.as_bytes();
    let (races, ethnicity) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    let races: Vec<RaceEthCode> = races.chunks(4).map_while(RaceEthCode::read).collect();
    Some(Combination::new(races, RaceEthCode::read(ethnicity)?))
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeMap, path::Path, sync::Arc};

    use arrow::{
        array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray},
        datatypes::{Int32Type, Int64Type},
        record_batch::RecordBatch,
    };
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::safetab::schema::{HEADINGS, IterationLevel, RegionType, RowCheck, SafeTabConfig};

    /// Answers the queries about the persons of the example without SQL; some answers are modified.
    struct Fake<'a> {
        folder: &'a Path,
        /// The fields of each row, and the number of race codes.
        rows: Vec<Vec<String>>,
        races: usize,
        tables: RefCell<BTreeMap<String, RecordBatch>>,
        /// A word that identifies the query to modify.
        query: &'a str,
        change: &'a dyn Fn(&mut Vec<ArrayRef>),
    }

    impl Fake<'_> {
        fn field(&self, row: &[String], heading: &str) -> String {
            row[HEADINGS.iter().position(|name| *name == heading).unwrap()].clone()
        }

        fn codes(&self, row: &[String]) -> String {
            let races = (1..=self.races).map(|number| self.field(row, &format!("QRACE{number}")));
            races.collect::<String>() + &self.field(row, "QSPAN")
        }

        fn key(&self, row: &[String]) -> i32 {
            self.field(row, "QAGE").parse::<i32>().unwrap() * 2 + self.field(row, "QSEX").parse::<i32>().unwrap()
        }

        fn place(&self, row: &[String], columns: &[&str]) -> i64 {
            columns.iter().map(|name| self.field(row, name)).collect::<String>().parse().unwrap()
        }

        /// The numbers that a table has for the values of its first column.
        fn looked_up<K: Ord>(&self, table: &str, key: impl Fn(&ArrayRef, usize) -> K) -> BTreeMap<K, i32> {
            let batch = &self.tables.borrow()[table];
            let values = batch.column(1).as_primitive::<Int32Type>();
            (0..batch.num_rows()).map(|row| (key(batch.column(0), row), values.value(row))).collect()
        }

        fn answered(&self, sql: &str) -> Vec<ArrayRef> {
            if sql.contains("GROUP BY codes") {
                let mut counts: BTreeMap<String, i64> = BTreeMap::new();
                self.rows.iter().for_each(|row| *counts.entry(self.codes(row)).or_default() += 1);
                let (texts, counts): (Vec<String>, Vec<i64>) = counts.into_iter().unzip();
                return vec![Arc::new(StringArray::from(texts)), Arc::new(Int64Array::from(counts))];
            }
            let mut counts: BTreeMap<Vec<i32>, i64> = BTreeMap::new();
            if sql.contains("GROUP BY county") {
                for row in &self.rows {
                    let county = self.place(row, &["TABBLKST", "TABBLKCOU"]) as i32;
                    *counts.entry(vec![county, self.key(row)]).or_default() += 1;
                }
            } else {
                let blocks = self.looked_up("blocks", |column, row| column.as_primitive::<Int64Type>().value(row));
                let classes = self.looked_up("classes", |column, row| column.as_string::<i32>().value(row).to_string());
                let cells = self.looked_up("cells", |column, row| column.as_primitive::<Int32Type>().value(row));
                for row in &self.rows {
                    let block = self.place(row, &["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"]);
                    let class = classes.get(&self.codes(row)).copied().unwrap_or(i32::MIN);
                    *counts.entry(vec![blocks[&block], class, cells[&self.key(row)]]).or_default() += 1;
                }
            }
            let width = counts.keys().next().unwrap().len();
            let column = |place: usize| -> ArrayRef {
                let values = counts.keys().map(|key| Some(key[place]).filter(|value| *value != i32::MIN));
                Arc::new(values.collect::<Int32Array>())
            };
            let n: ArrayRef = Arc::new(Int64Array::from(counts.values().copied().collect::<Vec<i64>>()));
            (0..width).map(column).chain([n]).collect()
        }
    }

    impl Counter for Fake<'_> {
        fn folder(&self) -> &Path {
            self.folder
        }

        fn read_records(&self, _: &RecordFiles, headings: &[&str]) -> Result<()> {
            assert_eq!(headings, HEADINGS);
            Ok(())
        }

        fn make_table(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
            self.tables.borrow_mut().insert(name.to_string(), RecordBatch::try_from_iter(columns).unwrap());
            Ok(())
        }

        fn read_table(&self, name: &str, file: &Path) -> Result<()> {
            let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(file).unwrap()).unwrap();
            let reader = reader.with_batch_size(1 << 20).build().unwrap();
            let batches: Vec<RecordBatch> = reader.map(std::result::Result::unwrap).collect();
            let schema = batches[0].schema();
            let whole = arrow::compute::concat_batches(&schema, &batches).unwrap();
            self.tables.borrow_mut().insert(name.to_string(), whole);
            Ok(())
        }

        /// Answers in one batch, so that the modification sees all rows.
        fn answer(&self, sql: &str, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
            let mut columns = self.answered(sql);
            if sql.contains(self.query) {
                (self.change)(&mut columns);
            }
            let named = ["a", "b", "c", "d"].into_iter().zip(columns).map(|(name, column)| (name, column, true));
            see(RecordBatch::try_from_iter_with_nullable(named).unwrap())
        }
    }

    /// Every count of a level.
    fn counts_of(counted: &Counted, region_type: RegionType, level: IterationLevel) -> Vec<(u32, u32, usize, i64)> {
        let mut all = Vec::new();
        let mut see = |region, iteration, cell, n| {
            all.push((region, iteration, cell, n));
            Ok(())
        };
        counted.each_count(region_type, level, &mut see).unwrap();
        all
    }

    /// Counts the persons of the example, and compares accepted counts with those of the same records counted here.
    fn count_example(query: &str, change: &dyn Fn(&mut Vec<ArrayRef>)) -> std::result::Result<(), String> {
        let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab"));
        let mut report = ValidationReport::new();
        let config = SafeTabConfig::read(&example.join("config.json"), &mut report).unwrap();
        let scope: &RunScope = config.scope();
        let geography = example.join("GRF-C.txt");
        let read = PublicInputs::read((example, &geography), None, scope, RecordKind::Persons, &mut report);
        let (public, _) = read.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = example.join("person-records.txt");
        let files = RecordFiles::find(&path).unwrap();
        let races = scope.max_race_codes();
        let counted = queries::Counted { kind: RecordKind::Persons, races, states: None };
        let records = CountedRecords { files: &files, counted, expected: 500 };
        let text = fs::read_to_string(&path).unwrap();
        let rows = text.lines().skip(1).map(|line| line.split('|').map(str::to_string).collect()).collect();
        let tables = RefCell::default();
        let counter = Fake { folder: folder.path(), rows, races: races as usize, tables, query, change };
        let found = count(&public, &counter, &records, folder.path()).map_err(|error| error.to_string())?;

        let mut here =
            Counting::new(RecordKind::Persons, &public.specification, &public.geography, folder.path()).unwrap();
        let rules = RowCheck::new("persons", scope, &public.specification, &public.geography);
        for row in &counter.rows {
            let fields: Vec<&[u8]> = row.iter().map(String::as_bytes).collect();
            here.add(&crate::safetab::schema::RecordRules::check_row(&rules, 1, &fields, &mut report).unwrap())
                .unwrap();
        }
        let here = here.finish().unwrap();
        for region_type in RegionType::ALL {
            for level in IterationLevel::ALL {
                assert!(counts_of(&found, region_type, level) == counts_of(&here, region_type, level));
            }
        }
        Ok(())
    }

    const TALLY: &str = "GROUP BY atom";

    /// Modifies a column of 32-bit integers.
    fn edit(columns: &mut [ArrayRef], place: usize, edit: impl Fn(&mut Vec<i32>)) {
        let mut values = columns[place].as_primitive::<Int32Type>().values().to_vec();
        edit(&mut values);
        columns[place] = Arc::new(Int32Array::from(values));
    }

    /// Modifies the counts, which are in the last column.
    fn edit_counts(columns: &mut [ArrayRef], edit: impl Fn(&mut Vec<i64>)) {
        let last = columns.len() - 1;
        let mut values = columns[last].as_primitive::<Int64Type>().values().to_vec();
        edit(&mut values);
        columns[last] = Arc::new(Int64Array::from(values));
    }

    #[test]
    fn counts_that_add_up_are_accepted_and_equal_those_counted_here() {
        count_example("nothing", &|_| unreachable!()).unwrap();
        count_example(TALLY, &|columns| assert_eq!(columns.len(), 4)).unwrap();
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let refused = |change: &dyn Fn(&mut Vec<ArrayRef>), expected: &str| {
            let error = count_example(TALLY, change).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        refused(&|columns| edit_counts(columns, |n| n[0] += 1), "500 records were checked and 501 counted");
        refused(
            &|columns| columns.iter_mut().for_each(|column| *column = column.slice(1, column.len() - 1)),
            "counted",
        );
        // Every count twice, as if a part had been repeated.
        refused(&|columns| edit_counts(columns, |n| n.iter_mut().for_each(|n| *n *= 2)), "1000 counted");
        refused(&|columns| edit_counts(columns, |n| n[0] = 0), "not positive");
        refused(&|columns| edit_counts(columns, |n| n[0] = -n[0]), "not positive");
        let another = |values: &mut Vec<i32>| values[0] = *values.iter().find(|value| **value != values[0]).unwrap();
        refused(&|columns| edit(columns, 1, another), "disagree about 2 classes");
        refused(&|columns| edit(columns, 2, another), "disagree about 2 cells");
        // The first and the last atom are in different states.
        let far = |values: &mut Vec<i32>| {
            let (least, most) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
            values[0] = if values[0] == least { most } else { least };
        };
        refused(&|columns| edit(columns, 0, far), "disagree about 2 counties");
        refused(&|columns| edit(columns, 0, |values| values[0] = 1 << 30), "an atom of no block");
        refused(&|columns| edit(columns, 1, |values| values[0] = -1), "a class is negative");
        for place in 0..3 {
            let null = |columns: &mut Vec<ArrayRef>| {
                let values = columns[place].as_primitive::<Int32Type>().iter().skip(1);
                columns[place] = Arc::new([None].into_iter().chain(values).collect::<Int32Array>());
            };
            refused(&null, "that none had");
        }
    }

    #[test]
    fn another_count_that_disagrees_is_refused() {
        let refused = |query: &str, change: &dyn Fn(&mut Vec<ArrayRef>), expected: &str| {
            let error = count_example(query, change).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        refused("GROUP BY codes", &|columns| edit_counts(columns, |n| n[0] += 1), "disagree about 1 classes");
        refused("GROUP BY county", &|columns| edit_counts(columns, |n| n[0] += 1), "disagree about 1 counties");
        let cut = |columns: &mut Vec<ArrayRef>| {
            columns.iter_mut().for_each(|column| *column = column.slice(1, column.len() - 1))
        };
        refused("GROUP BY county", &cut, "disagree about");
        refused("GROUP BY county", &|columns| edit(columns, 0, |codes| codes[0] = 99_999), "a county of no block");
        // Without the first text its records have no class.
        refused("GROUP BY codes", &cut, "that none had");
    }
}
