//! What the engine counts by: atoms of blocks, classes of codes, and cells of ages and sexes or of types and tenures.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{
    control_totals::{ControlTotals, Counties},
    counter::Counter,
    engine::Engine,
    household_counts::HOUSEHOLD_CELLS,
    inputs::PublicInputs,
    queries::{Counted, RecordKind, classify_codes, count_marginals, count_records, make_blocks},
    record_files::{RecordFiles, changed},
    workload::{OLDEST, cell_of},
};
use crate::{
    error::Result,
    safetab::schema::{Combination, Granularity, IterationLevel, RaceEthCode, RegionType},
};

/// The iterations of a combination at each granularity and level, by their positions in the key sets, one list after the other.
#[derive(Default, PartialEq, Eq, Hash)]
struct Lists {
    all: Vec<i32>,
    ends: Vec<usize>,
}

impl Lists {
    fn push(&mut self, list: impl Iterator<Item = usize>) {
        self.all.extend(list.map(|place| place as i32));
        self.ends.push(self.all.len());
    }

    fn get(&self, place: usize) -> &[i32] {
        let from = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.all[from..self.ends[place]]
    }
}

/// What is counted of some records.
pub(super) struct CountedRecords<'a> {
    /// Their files.
    pub files: &'a RecordFiles,
    /// Which of them, and by what.
    pub counted: Counted<'a>,
    /// How many records were checked that are counted.
    pub expected: u64,
}

/// Has all records counted, makes the tables of the engine from which the counts of each level follow, and checks that the counts
/// add up.
pub(super) fn count(
    public: &PublicInputs,
    counter: &dyn Counter,
    engine: &Engine,
    records: &CountedRecords,
) -> Result<()> {
    let counted = records.counted;
    counter.read_records(records.files, counted.kind.headings())?;
    let counties = register_geography(public, counter, engine)?;
    let mut totals = ControlTotals::default();
    register_classes(public, counter, engine, counted, &mut totals)?;
    let cells = cells(counted.kind);
    let (keys, numbers) = cells.iter().copied().unzip();
    counter.make_integers("cells", &[("key", keys), ("cell", numbers)])?;
    count_records((counter, engine), counted, &mut |count| totals.add_count(&counties, count))?;
    totals.check(records.expected)?;
    if counter.may_lose_parts() {
        let cells: HashMap<i32, i32> = cells.into_iter().collect();
        let mut rows = Vec::new();
        count_marginals(counter, counted, &mut |county, key, n| {
            let cell = cells.get(&key).ok_or_else(|| changed("a record has a cell that none had"))?;
            rows.push((county, *cell, n));
            Ok(())
        })?;
        totals.check_marginals(&counties, &rows)?;
    }
    Ok(())
}

/// The keys of cells, and the cell of each.
fn cells(kind: RecordKind) -> Vec<(i32, i32)> {
    match kind {
        RecordKind::Persons => {
            let people = (0..=OLDEST).flat_map(|age| [1, 2].map(|sex| (age, sex)));
            people.map(|(age, sex)| (i32::from(age) * 2 + i32::from(sex), cell_of(sex, age) as i32)).collect()
        }
        // The key is four times the type plus the tenure, and 5 the first.
        RecordKind::Households => (0..HOUSEHOLD_CELLS as i32).map(|cell| (cell + 5, cell)).collect(),
    }
}

/// Blocks that lie in the same regions are one atom; the table `blocks` has the atom of each block, `regions_N` the
/// region of type N of each atom. Returns the counties of the atoms.
fn register_geography(public: &PublicInputs, counter: &dyn Counter, engine: &Engine) -> Result<Counties> {
    let (of_block, atoms) = public.geography.atoms();
    let counties = Counties::new(&public.geography, &of_block);
    make_blocks(counter, public.geography.geoids(), of_block.into_iter().map(|atom| atom as i32).collect())?;
    for region_type in RegionType::ALL {
        let inside = |(atom, regions): (i32, &[Option<u32>; 10])| Some((atom, regions[region_type.index()]? as i32));
        let (atoms, regions) = (0..).zip(&atoms).filter_map(inside).unzip();
        engine.make_integers(&regions_table(region_type), &[("atom", atoms), ("region", regions)])?;
    }
    Ok(counties)
}

/// Combinations with the same iterations are one class; the table `classes` has the class of each text of codes, and a
/// table for each granularity and level the iterations of each class, by their positions in the key set.
fn register_classes(
    public: &PublicInputs,
    counter: &dyn Counter,
    engine: &Engine,
    counted: Counted,
    totals: &mut ControlTotals,
) -> Result<()> {
    let kinds =
        Granularity::ALL.into_iter().flat_map(|granularity| IterationLevel::ALL.map(|level| (granularity, level)));
    let kinds: Vec<_> = kinds.map(|(g, level)| (g, level, public.specification.key_set(g, level))).collect();
    let lists = |text: &&str| {
        let combination = combination(text).ok_or_else(|| changed("a record has other codes"))?;
        let mut lists = Lists::default();
        for (granularity, level, keys) in &kinds {
            let codes = public.specification.iterations(&combination, *granularity, *level)?;
            let place = |code| keys.binary_search_by_key(code, |key| key.iteration).ok();
            lists.push(codes.iter().filter_map(place));
        }
        Ok(lists)
    };
    let mut classes: HashMap<Lists, i32> = HashMap::new();
    classify_codes(counter, counted, &mut |texts, counts| {
        let lists = texts.par_iter().map(lists).collect::<Result<Vec<_>>>()?;
        let class = |lists| {
            let next = classes.len() as i32;
            *classes.entry(lists).or_insert(next)
        };
        let classes: Vec<i32> = lists.into_iter().map(class).collect();
        totals.add_codes(&classes, counts)?;
        Ok(classes)
    })?;
    for (place, &(granularity, level, _)) in kinds.iter().enumerate() {
        let lists = classes.iter().map(|(lists, class)| (*class, lists.get(place)));
        let lists = lists.filter(|(_, list)| !list.is_empty()).collect();
        engine.register_lists(&iterations_table(granularity, level), lists)?;
    }
    Ok(())
}

/// The name of the table of an atom's region.
pub(super) fn regions_table(region_type: RegionType) -> String {
    format!("regions_{}", region_type.index())
}

/// The name of the table of a class's iterations.
pub(super) fn iterations_table(granularity: Granularity, level: IterationLevel) -> String {
    format!("iterations_{}_{level}", granularity as usize)
}

/// The combination in a text of codes of four characters: race codes, nulls, and the ethnicity code last.
fn combination(text: &str) -> Option<Combination> {
    let bytes = text.as_bytes();
    let (races, ethnicity) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    let races: Vec<RaceEthCode> = races.chunks(4).map_while(RaceEthCode::read).collect();
    Some(Combination::new(races, RaceEthCode::read(ethnicity)?))
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use datafusion::arrow::{
        array::{Array, ArrayRef, AsArray, Int32Array, Int64Array},
        datatypes::{Int32Type, Int64Type},
        record_batch::RecordBatch,
    };

    use super::*;
    use crate::safetab::{
        schema::{RunScope, ValidationReport, cef::CefRecords},
        tabulate::record_files::RecordFiles,
    };

    /// The embedded engine, whose answers to some questions are changed on their way, as one that may lose parts.
    struct Faulty<'a> {
        engine: &'a Engine,
        /// A word of the questions.
        asked: &'a str,
        change: &'a dyn Fn(&mut Vec<ArrayRef>),
    }

    impl Counter for Faulty<'_> {
        fn folder(&self) -> &Path {
            self.engine.folder()
        }

        fn read_records(&self, files: &RecordFiles, headings: &[&str]) -> Result<()> {
            self.engine.read_records(files, headings)
        }

        fn make_table(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
            self.engine.make_table(name, columns)
        }

        fn read_table(&self, name: &str, file: &Path) -> Result<()> {
            self.engine.read_table(name, file)
        }

        fn may_lose_parts(&self) -> bool {
            true
        }

        /// Answers in one batch, so that the change knows all rows.
        fn answer(&self, sql: &str, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
            let mut batches = Vec::new();
            self.engine.answer(sql, &mut |batch| {
                batches.push(batch);
                Ok(())
            })?;
            let whole = datafusion::arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap();
            let mut columns = whole.columns().to_vec();
            if sql.contains(self.asked) {
                (self.change)(&mut columns);
            }
            see(RecordBatch::try_from_iter_with_nullable(
                ["a", "b", "c", "d"].into_iter().zip(columns).map(|(n, c)| (n, c, true)),
            )
            .unwrap())
        }
    }

    /// Counts the persons of the example.
    fn count_example(asked: &str, change: &dyn Fn(&mut Vec<ArrayRef>)) -> std::result::Result<(), String> {
        let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab"));
        let mut report = ValidationReport::new();
        let config = crate::safetab::schema::SafeTabConfig::read(&example.join("config.json"), &mut report).unwrap();
        let scope: &RunScope = config.scope();
        let geography = example.join("GRF-C.txt");
        let read = PublicInputs::read((example, &geography), None, scope, CefRecords::Persons, &mut report);
        let (public, _) = read.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::new(folder.path()).unwrap();
        let files = RecordFiles::find(&example.join("person-records.txt")).unwrap();
        let counted = Counted { kind: RecordKind::Persons, races: scope.max_race_codes(), states: None };
        let records = CountedRecords { files: &files, counted, expected: 500 };
        let counter = Faulty { engine: &engine, asked, change };
        count(&public, &counter, &engine, &records).map_err(|error| error.to_string())
    }

    const TALLY: &str = "GROUP BY atom";

    /// Changes a column of numbers of 32 bits.
    fn edit(columns: &mut [ArrayRef], place: usize, edit: impl Fn(&mut Vec<i32>)) {
        let mut values = columns[place].as_primitive::<Int32Type>().values().to_vec();
        edit(&mut values);
        columns[place] = Arc::new(Int32Array::from(values));
    }

    /// Changes the counts, which are in the last column.
    fn edit_counts(columns: &mut [ArrayRef], edit: impl Fn(&mut Vec<i64>)) {
        let last = columns.len() - 1;
        let mut values = columns[last].as_primitive::<Int64Type>().values().to_vec();
        edit(&mut values);
        columns[last] = Arc::new(Int64Array::from(values));
    }

    #[test]
    fn counts_that_add_up_are_taken() {
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
        // Every count twice, as if a part was done again.
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
        let refused = |asked: &str, change: &dyn Fn(&mut Vec<ArrayRef>), expected: &str| {
            let error = count_example(asked, change).unwrap_err();
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
