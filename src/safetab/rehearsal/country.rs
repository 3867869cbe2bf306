//! Trials of SafeTab-P with a country's own specification, against the truth.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{
    counter::{check_groups, check_trials, counter},
    errors::{Errors, StatedMargin, SuppressedSize},
    reports,
    results::{Rehearsed, RehearsedLevel, SIZES, Strata},
    truth::LevelCounts,
};
use crate::{
    error::{Error, Result},
    io::files::{check_free, file_error, fill_folder, fill_private_folder},
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
        tabulate::{
            Progress,
            certified_level::CertifiedLevel,
            record_files::RecordFiles,
            two_stage::{GroupBatch, StagedLevel, Tabulation},
        },
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

/// The statistics of a level.
struct Gathered<'a> {
    plan: &'a CountryLevel,
    truth: &'a LevelCounts,
    /// The errors of cells: of a sole table, and of stage 2.
    cells: [Errors; 2],
    /// The errors of totals of finer tables, by table.
    totals: Vec<Errors>,
    strata: Strata,
    /// By size, the number of groups and of suppressed groups; groups with a sole table are last.
    sizes: [[(u64, u64); SIZES + 1]; 2],
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
        let fill = |folder: &Path| {
            let found = self.trials(&inputs, &plans, (&truth, records), streams, progress)?;
            write_truth(&inputs, &plans, &truth, &folder.join("truth"))?;
            reports::write(&found, folder)?;
            more(&found, folder)?;
            Ok(found)
        };
        // Reports beside the truth of real records are as confidential as the records.
        match self.records {
            None => fill_folder(&self.out, fill),
            Some(_) => fill_private_folder(&self.out, fill),
        }
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
        let of = u64::from(self.trials) * plans.iter().map(StagedLevel::groups).sum::<u64>();
        check_groups(of)?;
        let mut count = counter(of, progress);
        let tables = inputs.specification.table_names();
        let mut all: Vec<Gathered> =
            plans.iter().zip(truth).map(|(plan, truth)| Gathered::new(plan, truth, tables.len())).collect();
        let allow = inputs.specification.allow_negative_counts;
        for _ in 0..self.trials {
            for gathered in &mut all {
                gathered.draw(allow, streams, &mut count)?;
            }
        }
        let levels = all.into_iter().map(|gathered| gathered.finish(&tables)).collect::<Result<Vec<_>>>()?;
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

impl<'a> Gathered<'a> {
    fn new(plan: &'a CountryLevel, truth: &'a LevelCounts, tables: usize) -> Self {
        Gathered {
            plan,
            truth,
            cells: Default::default(),
            totals: vec![Errors::default(); tables],
            strata: Strata::new(tables),
            sizes: [[(0, 0); SIZES + 1]; 2],
        }
    }

    /// Draws noise for all groups once. Calls `progress` with the number of groups.
    fn draw(&mut self, allow: bool, streams: &mut Streams, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let (plan, truth) = (self.plan, self.truth);
        let width = plan.width() as u64;
        let mut exact = truth.in_order();
        let mut tabulation = Tabulation::new(plan, allow)?;
        let mut publish = |batch: GroupBatch<usize>| {
            progress(batch.tables.len() as u64);
            for number in 0..batch.tables.len() {
                let group = batch.first + number as u64;
                let mut cells = vec![0; StagedLevel::cells(plan)];
                exact.cells(group, &mut cells);
                let only = plan.sole_table((group % width) as usize);
                self.record(only, &cells, (batch.tables[number], batch.measured(number)), allow);
            }
            Ok(())
        };
        for (group, cell, count) in truth.iter() {
            let key = ((group / width) as u32, (group % width) as u32);
            tabulation.count(key, cell, count, streams, &mut publish)?;
        }
        tabulation.finish(streams, &mut publish)
    }

    /// Adds a group with its exact cells, its table (`None` if it is suppressed) and its noisy counts. Totals of tables are added only if
    /// they have the stated noise, that is, if negative counts are allowed.
    fn record(
        &mut self,
        only: Option<usize>,
        cells: &[i64],
        (table, noisy): (Option<usize>, &[i64]),
        with_totals: bool,
    ) {
        let size: i64 = cells.iter().sum();
        let sole = usize::from(only.is_some());
        // What is suppressed has the first table, a total.
        let measured = table.unwrap_or(self.plan.tables[0]);
        let mut exact = Vec::with_capacity(noisy.len());
        self.plan.sums(measured, cells, &mut exact);
        let errors: Vec<i128> = noisy.iter().zip(&exact).map(|(a, b)| i128::from(*a) - i128::from(*b)).collect();
        errors.iter().for_each(|error| self.cells[1 - sole].add(*error));
        if with_totals && errors.len() > 1 && only.is_none() {
            self.totals[measured].add(errors.iter().sum());
        }
        if let Some((groups, suppressed)) = self.sizes[sole].get_mut(size.unsigned_abs() as usize) {
            *groups += 1;
            *suppressed += u64::from(table.is_none());
        }
        let stratum = self.strata.stratum(only.is_some(), size.unsigned_abs());
        stratum.groups += 1;
        stratum.suppressed += u64::from(table.is_none());
        if let Some(table) = table {
            stratum.tables[table].add(noisy, &exact, self.plan.margin(only.is_some()));
        }
    }

    fn finish(self, tables: &[String]) -> Result<RehearsedLevel> {
        let [whole, _, stage_2] = self.plan.noise();
        let [of_sole, of_cells] = self.cells;
        let mut margins = Vec::new();
        for (of, noise, errors) in [("cell", stage_2, of_cells), ("one-table cell", whole, of_sole)] {
            if errors.count() > 0 {
                margins.push(StatedMargin::new(of.to_string(), noise, 1, errors)?);
            }
        }
        for ((table, errors), name) in
            self.totals.into_iter().enumerate().zip(tables).filter(|((_, e), _)| e.count() > 0)
        {
            let cells = self.plan.cells_of(table) as u32;
            margins.push(StatedMargin::new(format!("total of {name}"), stage_2, cells, errors)?);
        }
        let mut suppression = Vec::new();
        for (sole, noise) in [(false, stage_2), (true, whole)] {
            let Some(threshold) = self.plan.suppressed_to(sole) else { continue };
            let stage_1 = self.plan.first_threshold().filter(|_| !sole).map(|first| (self.plan.noise()[1], first));
            let sizes = (0..).zip(self.sizes[usize::from(sole)]).filter(|(_, (groups, _))| *groups > 0);
            for (size, (groups, suppressed)) in sizes {
                suppression.push((sole, SuppressedSize::new((size, groups, suppressed), noise, threshold, stage_1)?));
            }
        }
        Ok(RehearsedLevel {
            pass: self.plan.part_name.clone(),
            name: self.plan.name(),
            region_type: self.plan.level_name.clone(),
            level: json!(self.plan.grouping_name),
            kind: self.plan.grouping,
            groups: StagedLevel::groups(self.plan),
            empty: StagedLevel::groups(self.plan) - self.truth.inhabited(),
            margins,
            strata: self.strata.finish(),
            suppression,
            coterminous: None,
        })
    }
}
