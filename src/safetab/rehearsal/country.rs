//! Trials of SafeTab-P with a country's own specification, against the truth.

use std::path::{Path, PathBuf};

use super::{
    reports::{OneRun, written},
    results::Rehearsed,
    staged::{self, CountKind, RehearsedStages, StagedErrors},
    trials::{self, Trials, check_trials},
    truth::LevelCounts,
};
use crate::{
    error::{Error, Result},
    io::files::{check_free, file_error},
    noise::Streams,
    safetab::{
        country::{
            ALGORITHM,
            counts::CountryCounting,
            levels::{self, CountryLevel},
            made_up,
            output::{self, CountryTables},
            program::CountryInputs,
            records::{PersonRecord, each_record},
        },
        schema::ValidationReport,
        tabulate::{Progress, record_files::RecordFiles, two_stage::StagedLevel},
    },
};

/// A rehearsal of a country's own specification.
#[derive(Clone, Debug)]
pub struct CountryRehearsal {
    /// The specification file.
    pub specification: PathBuf,
    /// The areas.
    pub geography: PathBuf,
    /// The files of records; `None` for made-up ones.
    pub records: Option<PathBuf>,
    /// The number and the seed of made-up records.
    pub made_up: (u64, u64),
    /// The number of trials.
    pub trials: u32,
    /// The folder of the reports, which must not exist, or be empty.
    pub out: PathBuf,
}

impl RehearsedStages for CountryLevel {
    fn count_kinds(&self) -> Vec<CountKind> {
        let cell = |name: &str, of_sole| CountKind { name: name.to_string(), cells: 1, of_sole };
        let total = |table: usize| {
            let name = format!("total of {}", self.table_set.tables[table].name);
            CountKind { name, cells: self.cells_of(table) as u32, of_sole: false }
        };
        let cells = [cell("cell", false), cell("one-table cell", true)];
        cells.into_iter().chain((0..self.table_set.tables.len()).map(total)).collect()
    }

    fn sums_of(&self, table: usize) -> Vec<(usize, usize)> {
        let cells = self.cells_of(table);
        if cells > 1 { vec![(2 + table, cells)] } else { Vec::new() }
    }

    fn number_of(&self, table: usize) -> usize {
        table
    }

    fn first_threshold(&self) -> Option<i64> {
        self.thresholds.first().copied()
    }
}

/// The levels with the truth.
struct CountryTrials<'a> {
    levels: Vec<(&'a CountryLevel, &'a LevelCounts, StagedErrors<'a, CountryLevel>)>,
    allow_negative_counts: bool,
}

impl Trials for CountryTrials<'_> {
    fn groups(&self) -> u64 {
        self.levels.iter().map(|(plan, ..)| StagedLevel::groups(*plan)).sum()
    }

    fn draw(&mut self, streams: &mut Streams, _: Option<&mut OneRun>, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let allow = self.allow_negative_counts;
        for (plan, truth, errors) in &mut self.levels {
            staged::draw((*plan, *truth), allow, streams, progress, &mut |drawn| {
                errors.measure(&drawn, allow);
                if let Some(table) = drawn.table {
                    let margin = StagedLevel::margin(*plan, drawn.sole);
                    errors.publish((drawn.sole, drawn.cells), (table, drawn.measured, margin));
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl CountryRehearsal {
    /// Runs it and writes the folder completely or not at all. `more` may add to the folder before it gets its name. Calls `progress` with
    /// the state of the work. An error contains the whole report if an input breaks a rule.
    pub fn run(
        &self,
        streams: &mut Streams,
        progress: &mut dyn FnMut(Progress),
        more: &mut dyn FnMut(&Rehearsed, &Path) -> Result<()>,
    ) -> Result<Rehearsed> {
        check_trials(self.trials)?;
        check_free(&self.out)?;
        let mut report = ValidationReport::new();
        let inputs = CountryInputs::read_files(&self.specification, &self.geography, &mut report)?;
        report.into_result()?;
        let plans = levels::levels(&inputs.specification, Some(&inputs.areas))?;
        let (truth, records) = self.count(&inputs, &plans, progress)?;
        written(&self.out, self.records.is_none(), more, |folder| {
            let found = self.trials(&inputs, &plans, (&truth, records), streams, progress)?;
            write_truth(&inputs, &plans, &truth, &folder.join("truth"))?;
            Ok(found)
        })
    }

    /// The exact counts of all levels, and the numbers of all records and of those in a region that is tabulated.
    fn count(
        &self,
        inputs: &CountryInputs,
        plans: &[CountryLevel],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<LevelCounts>, [u64; 2])> {
        let folder = tempfile::tempdir().map_err(|why| file_error(&std::env::temp_dir(), why))?;
        let of = (&inputs.specification, &inputs.areas);
        let mut counting = CountryCounting::new(of.0, of.1, folder.path())?;
        let mut count = |record: &PersonRecord| counting.add(record);
        match &self.records {
            None => made_up::each_record(of, self.made_up, progress, &mut count)?,
            Some(path) => {
                let mut report = ValidationReport::new();
                each_record(path, &RecordFiles::find(path)?, of, &mut report, progress, &mut count)?;
                report.into_result()?;
            }
        }
        let counted = counting.finish()?;
        let level = |plan: &CountryLevel| {
            let (width, cells) = (plan.width() as u64, StagedLevel::cells(plan) as u64);
            LevelCounts::new(width, cells, |see| counted.each_count(plan, see))
        };
        let truth = plans.iter().map(level).collect::<Result<Vec<_>>>()?;
        match counted.read {
            0 => Err(Error::missing("nothing to rehearse: there is no record")),
            read => Ok((truth, [read, counted.tabulated])),
        }
    }

    fn trials(
        &self,
        inputs: &CountryInputs,
        plans: &[CountryLevel],
        (truth, [records, tabulated]): (&[LevelCounts], [u64; 2]),
        streams: &mut Streams,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Rehearsed> {
        let tables = inputs.specification.table_names();
        let level = |(plan, truth)| (plan, truth, StagedErrors::new(plan, truth, tables.len()));
        let levels = plans.iter().zip(truth).map(level).collect();
        let allow_negative_counts = inputs.specification.allow_negative_counts;
        let mut all = [CountryTrials { levels, allow_negative_counts }];
        trials::run(&mut all, self.trials, None, streams, progress)?;
        let levels = all.into_iter().flat_map(|all| all.levels);
        let finish = |(plan, _, errors): (&CountryLevel, _, StagedErrors<CountryLevel>)| {
            errors.finish(plan.part_name.clone(), plan.grouping)
        };
        let levels = levels.map(finish).collect::<Result<Vec<_>>>()?;
        Ok(Rehearsed {
            algorithm: ALGORITHM,
            trials: self.trials,
            insecure_seed: streams.insecure_seed(),
            made_up: self.records.is_none(),
            records,
            tabulated,
            of_households: false,
            tables,
            kinds: inputs.specification.groupings.iter().map(|grouping| grouping.name.clone()).collect(),
            levels: levels.into_iter().filter(|level| level.groups > 0).collect(),
        })
    }
}

/// Writes the exact totals of all groups, and the cells of all tables that their levels may choose.
fn write_truth(inputs: &CountryInputs, plans: &[CountryLevel], truth: &[LevelCounts], folder: &Path) -> Result<()> {
    std::fs::create_dir(folder).map_err(|why| file_error(folder, why))?;
    let mut parts: Vec<usize> = plans.iter().map(|plan| plan.part).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let of_part = plans.iter().zip(truth).filter(|(plan, _)| plan.part == part);
        write_truth_of_part(inputs, part, of_part, folder)?;
    }
    Ok(())
}

/// The same for the levels of a part of the country.
fn write_truth_of_part<'t>(
    inputs: &CountryInputs,
    part: usize,
    levels: impl Iterator<Item = (&'t CountryLevel, &'t LevelCounts)>,
    folder: &Path,
) -> Result<()> {
    let paths = output::paths(folder, &inputs.specification, part);
    let mut out = CountryTables::create(&paths, &inputs.specification, None)?;
    for (plan, truth) in levels {
        let mut exact = truth.in_order();
        for group in 0..StagedLevel::groups(plan) {
            let mut cells = vec![0; StagedLevel::cells(plan)];
            exact.cells(group, &mut cells);
            out.total(plan, group, cells.iter().map(|count| i128::from(*count)).sum())?;
            let only = plan.sole_table((group % plan.width() as u64) as usize);
            for table in plan.tables.iter().filter(|table| only.is_none_or(|only| only == **table)) {
                let mut counts = Vec::new();
                plan.sums(*table, &cells, &mut counts);
                out.cells(plan, group, *table, &counts)?;
            }
        }
    }
    out.finish().map(drop)
}
