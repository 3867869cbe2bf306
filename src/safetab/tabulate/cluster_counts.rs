//! Records counted by a cluster: by atoms of blocks, classes of codes, and cells of ages and sexes or of types and tenures. Only these
//! counts come back, and they are held against control totals before anything follows from them.

use std::{collections::HashMap, fs, path::Path};

use super::{
    cluster::Cluster,
    control_totals::{ControlTotals, Counties},
    counter::Counter,
    inputs::PublicInputs,
    job::{Inputs, Job, Progress},
    queries::{self, classify_codes, count_marginals, count_records, make_blocks},
    record_files::{RecordFiles, changed},
    spark::SparkCounter,
    workload::OLDEST,
};
use crate::{
    error::Result,
    files::file_error,
    safetab::{
        counting::{Counted, Counting, RecordKind},
        schema::{Combination, RaceEthCode, RunScope, ValidationReport},
    },
};

/// Checks all records here, and has them counted on a cluster; returns their number, too. The folder is for what is added up here.
pub(super) fn count_on_cluster<'a>(
    job: &Job,
    cluster: &Cluster,
    inputs: &'a Inputs,
    files: &RecordFiles,
    report: ValidationReport,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Counted<'a>, u64)> {
    // What is refused is refused before a record is read.
    let counter = SparkCounter::connect(cluster)?;
    let staged = counter.folder().join("records.txt");
    let checked = job.each_record(inputs, (files, Some(&staged)), report, progress, &mut |_| Ok(()))?;
    let files = match &inputs.public().cef {
        None => files.decompressed(counter.folder())?,
        Some(_) => RecordFiles { text: vec![staged], parquet: Vec::new() },
    };
    progress(Progress { stage: "counting", done: 0, of: 0 });
    let (scope, states);
    let (counted, expected) = match inputs {
        Inputs::Persons(inputs) => {
            scope = inputs.config.scope();
            (
                queries::Counted { kind: RecordKind::Persons, races: scope.max_race_codes(), states: None },
                checked.records,
            )
        }
        Inputs::Households(inputs) => {
            scope = inputs.config.scope();
            states = states_of(scope);
            let kind = RecordKind::Households;
            (queries::Counted { kind, races: scope.max_race_codes(), states: Some(&states) }, checked.tabulated)
        }
    };
    let records = CountedRecords { files: &files, counted, expected };
    let counts = count(inputs.public(), &counter, &records, folder)?;
    // What was written for the cluster alone is not kept.
    for own in files.text.iter().filter(|path| path.starts_with(counter.folder())) {
        fs::remove_file(own).map_err(|why| file_error(own, why))?;
    }
    Ok((counts, checked.records))
}

/// The states that are run.
fn states_of(scope: &RunScope) -> Vec<u8> {
    (1..=99).filter(|state| scope.pass_of((*state).into()).is_some()).collect()
}

/// What is counted of some records.
struct CountedRecords<'a> {
    /// Their files.
    files: &'a RecordFiles,
    /// Which of them, and by what.
    counted: queries::Counted<'a>,
    /// How many records were checked that are counted.
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

/// The keys of cells, and the cell of each.
fn cells(kind: RecordKind) -> Vec<(i32, i32)> {
    match kind {
        RecordKind::Persons => {
            let people = (0..=OLDEST).flat_map(|age| [1, 2].map(|sex| (age, sex)));
            people.map(|(age, sex)| (i32::from(age) * 2 + i32::from(sex), kind.cell([sex, age]) as i32)).collect()
        }
        // The key is four times the type plus the tenure, and 5 the first.
        RecordKind::Households => (0..kind.cells() as i32).map(|cell| (cell + 5, cell)).collect(),
    }
}

/// The combination in a text of codes of four characters: race codes, nulls, and the ethnicity code last.
fn combination(text: &str) -> Option<Combination> {
    let bytes = text.as_bytes();
    let (races, ethnicity) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    let races: Vec<RaceEthCode> = races.chunks(4).map_while(RaceEthCode::read).collect();
    Some(Combination::new(races, RaceEthCode::read(ethnicity)?))
}
