//! Rehearsals: many runs of SafeTab on records that are not confidential, compared with the truth.
//!
//! The records are synthetic ([`synthetic`](super::synthetic)) or read from files. They are counted once, exactly. Every trial draws new
//! noise for all groups of all levels, with the exact samplers and the steps of a release: two stages, suppression and coterminous regions
//! for persons, the detail chosen by published totals for households. The results are compared with the truth: stated margins with their
//! observed coverage, suppression with its probability, and errors by the size of the groups.
//!
//! Memory: the nonzero counts of all levels, 16 bytes each and at most 67 million per level; two bytes for each group of the specification
//! and the geography; 4 bytes and the regions of each block; and about a hundred bytes for each combination of codes. Trials are not kept.
//!
//! | file | subject |
//! | --- | --- |
//! | `truth` | the exact counts of all groups |
//! | `errors` | [`Errors`], [`StatedMargin`], [`SuppressedSize`]: error statistics, and whether they agree with the stated properties |
//! | `results` | [`Rehearsed`]: the results, level by level |
//! | `trials` | their number, and progress |
//! | `staged` | the trials of a level in one or two stages |
//! | `persons`, `households` | those of SafeTab-P and SafeTab-H |
//! | `country` | those of a country's own specification |
//! | `truth_tables` | the tables without noise |
//! | `reports` | the reports as CSV |

mod country;
mod errors;
mod households;
mod persons;
mod reports;
mod results;
mod staged;
mod trials;
mod truth;
mod truth_tables;

use std::path::{Path, PathBuf};

pub use self::{
    country::CountryRehearsal,
    errors::{Errors, StatedMargin, SuppressedSize},
    results::{CoterminousEffect, Rehearsed, RehearsedLevel, Stratum, TableErrors},
    trials::MOST_TRIALS,
};
use self::{
    households::{HouseholdPass, made_up_totals},
    persons::PersonPass,
    reports::{OneRun, written},
    trials::check_trials,
    truth::Truth,
};
use super::{
    counting::Counting,
    household_tables::HouseholdTopic,
    schema::{
        CheckedRecord, Geography, HouseholdCheck, HouseholdConfig, IterationLevel, Pass, PublishedTotals, RecordKind,
        RecordRules, RowCheck, SafeTabConfig, SummaryOrder, TotalsCheck, ValidationReport, record_files::see_records,
    },
    synthetic::Population,
    tables::PublishedTable,
    tabulate::{
        CefUnits, Progress, PublicInputs, config_account::Configuration, household_levels::household_levels, levels,
        record_files::RecordFiles,
    },
};
use crate::{error::Result, io::files::file_error, noise::Streams, numeric::parallel};

/// The records of a rehearsal.
#[derive(Clone, Debug)]
pub enum RehearsalRecords {
    /// Synthetic records.
    MadeUp {
        /// The number of records.
        count: u64,
        /// The seed.
        seed: u64,
    },
    /// Text files of person records: a file, or a folder of files.
    Persons(PathBuf),
    /// Text files of household records.
    Households(PathBuf),
}

/// A rehearsal.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// config.json, of SafeTab-P or SafeTab-H.
    pub config: PathBuf,
    /// The folder of the specification files.
    pub specification: PathBuf,
    /// GRF-C.txt.
    pub geography: PathBuf,
    /// The records.
    pub records: RehearsalRecords,
    /// The unit files, if the records are persons of edited files of fixed width (CEF).
    pub units: Option<CefUnits>,
    /// The published totals for households, and how far they must agree with the geography. `None` for synthetic totals.
    pub totals: Option<(PathBuf, TotalsCheck)>,
    /// The order of summary levels, for persons.
    pub order: SummaryOrder,
    /// The number of trials.
    pub trials: u32,
    /// The folder of the reports, which must not exist, or be empty.
    pub out: PathBuf,
}

impl Rehearsal {
    /// Runs it and writes the folder completely or not at all. `more` may add to the folder before it gets its name. Calls `progress` with
    /// the state of the work. An error contains the whole report if an input breaks a rule.
    pub fn run(
        &self,
        streams: &mut Streams,
        progress: &mut dyn FnMut(Progress),
        more: &mut dyn FnMut(&Rehearsed, &Path) -> Result<()>,
    ) -> Result<Rehearsed> {
        check_trials(self.trials)?;
        let (config, _) = Configuration::read_with_text(&self.config)?;
        match (&config, &self.records) {
            (Configuration::Persons(_), RehearsalRecords::Households(path)) => {
                return Err(file_error(path, "has households, but the configuration is one of SafeTab-P, for persons"));
            }
            (Configuration::Households(_), RehearsalRecords::Persons(path)) => {
                return Err(file_error(path, "has persons, but the configuration is one of SafeTab-H, for households"));
            }
            (Configuration::Persons(_), _) if self.totals.is_some() => {
                let why = "is one of SafeTab-P, which takes no published totals: these are for SafeTab-H";
                return Err(file_error(&self.config, why));
            }
            _ => {}
        }
        crate::io::files::check_free(&self.out)?;
        let (public, whole) = self.public(&config)?;
        let truth = self.count(&config, &public, progress)?;
        let is_made_up = matches!(self.records, RehearsalRecords::MadeUp { .. });
        written(&self.out, is_made_up, more, |folder| match &config {
            Configuration::Persons(config) => self.persons(config, &public, &truth, streams, folder, progress),
            Configuration::Households(config) => {
                self.households(config, (&public, whole.as_ref()), &truth, streams, folder, progress)
            }
        })
    }

    /// The inputs of the passes; also the whole geography, if it was reduced to blocks with units.
    fn public(&self, config: &Configuration) -> Result<(PublicInputs, Option<Geography>)> {
        let mut report = ValidationReport::new();
        let cef = match (&self.units, &self.records) {
            (Some(units), RehearsalRecords::Persons(path) | RehearsalRecords::Households(path)) => {
                Some((path.as_path(), units))
            }
            _ => None,
        };
        let read =
            PublicInputs::read((&self.specification, &self.geography), cef, config.scope(), config.kind(), &mut report);
        report.into_result()?;
        read.ok_or_else(|| file_error(&self.geography, "or the specification could not be read"))
    }

    /// Counts all records.
    fn count(
        &self,
        config: &Configuration,
        public: &PublicInputs,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Truth> {
        let PublicInputs { specification, geography, .. } = public;
        let scope = config.scope();
        let passes: Vec<Pass> = Pass::ALL.into_iter().filter(|pass| scope.runs(*pass)).collect();
        let mut report = ValidationReport::new();
        let folder = tempfile::tempdir().map_err(|why| file_error(&std::env::temp_dir(), why))?;
        let kind = config.kind();
        let mut counting = Counting::new(kind, specification, geography, folder.path())?;
        let mut count = |record: &CheckedRecord| counting.add(record);
        match kind {
            RecordKind::Persons => {
                let rules = |file: &str| RowCheck::new(file, scope, specification, geography);
                self.each_record((public, kind), rules, &mut report, progress, &mut count)?;
            }
            RecordKind::Households => {
                let rules = |file: &str| HouseholdCheck::new(file, scope, specification, geography);
                self.each_record((public, kind), rules, &mut report, progress, &mut count)?;
            }
        }
        report.into_result()?;
        let truth = Truth::of_counts(&counting.finish()?, kind, specification, &passes)?;
        if truth.tabulated == [0, 0] {
            let why = "no record is in a state of a pass that is run: there is nothing to rehearse";
            return Err(file_error(&self.config, why));
        }
        Ok(truth)
    }

    /// Calls `see` with every record that breaks no rule.
    fn each_record<R: RecordRules>(
        &self,
        (PublicInputs { specification, geography, cef }, kind): (&PublicInputs, RecordKind),
        rules: impl Fn(&str) -> R,
        report: &mut ValidationReport,
        progress: &mut dyn FnMut(Progress),
        see: &mut dyn FnMut(&CheckedRecord) -> Result<()>,
    ) -> Result<()> {
        let stage = "counting records";
        let path = match &self.records {
            RehearsalRecords::MadeUp { count, seed } => {
                let population = Population::new(geography, specification, *seed)?;
                let rules = rules("made-up records");
                let mut each = |parts: &[Vec<u8>], done: u64| {
                    let read = parallel::map(parts, |text| records_of(text, &rules));
                    for (records, found) in read {
                        report.append(found, 0);
                        records.iter().try_for_each(&mut *see)?;
                    }
                    progress(Progress { stage, done, of: *count });
                    Ok(())
                };
                return match kind {
                    RecordKind::Persons => population.each_part_of_persons(*count, &mut each),
                    RecordKind::Households => population.each_part_of_households(*count, &mut each),
                };
            }
            RehearsalRecords::Persons(path) | RehearsalRecords::Households(path) => path,
        };
        if let Some(cef) = cef {
            let report_done = &mut |done| progress(Progress { stage, done, of: 0 });
            return cef.each_record(kind, rules, report, &mut |_, record| see(&record), report_done);
        }
        let files = RecordFiles::find(path)?;
        let of = files.all().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum();
        let report_done = |done| progress(Progress { stage, done, of });
        see_records(path, rules, report, report_done, |records| records.iter().try_for_each(&mut *see)).map(drop)
    }

    fn persons(
        &self,
        config: &SafeTabConfig,
        PublicInputs { specification, geography, .. }: &PublicInputs,
        truth: &Truth,
        streams: &mut Streams,
        folder: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Rehearsed> {
        let allow = config.scope().allow_negative_counts();
        let mut plans = Vec::new();
        for pass in Pass::ALL.into_iter().filter(|pass| config.scope().runs(*pass)) {
            let types = self.order.region_types(pass);
            plans.push((pass, types, levels::levels(types, config, specification, geography)?));
        }
        let mut passes: Vec<PersonPass> = plans
            .iter()
            .map(|(pass, types, levels)| PersonPass::new((*pass, *types), levels, geography, truth, allow))
            .collect();
        let report = folder.join("error_report.csv");
        let one_run = OneRun::create(&report, specification, false)?;
        trials::run(&mut passes, self.trials, Some(one_run), streams, progress)?;
        let mut found = Vec::new();
        for (pass, (number, _, plans)) in passes.into_iter().zip(&plans) {
            let (levels, most_detail): (Vec<RehearsedLevel>, Vec<Vec<u8>>) = pass.finish()?.into_iter().unzip();
            let detail = plans.iter().zip(most_detail.iter().map(Vec::as_slice));
            truth_tables::persons(&folder.join("truth"), *number, detail, truth)?;
            found.extend(levels);
        }
        let tables = PublishedTable::ALL.map(PublishedTable::name);
        Ok(self.rehearsed(RecordKind::Persons, &tables, found, truth, streams))
    }

    fn households(
        &self,
        config: &HouseholdConfig,
        (PublicInputs { specification, geography, .. }, whole): (&PublicInputs, Option<&Geography>),
        truth: &Truth,
        streams: &mut Streams,
        folder: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Rehearsed> {
        let scope = config.scope();
        let totals = match &self.totals {
            None => PublishedTotals::made_up(geography, |kind, level| {
                made_up_totals(specification, truth, (kind, level), geography.entities(kind).len())
            }),
            Some((path, check)) => {
                let mut report = ValidationReport::new();
                let both = (geography, whole.unwrap_or(geography));
                let totals = PublishedTotals::read_of_cut(path, scope, specification, both, *check, &mut report);
                report.into_result()?;
                totals.ok_or_else(|| file_error(path, "could not be read"))?
            }
        };
        let mut plans = Vec::new();
        for pass in Pass::ALL.into_iter().filter(|pass| scope.runs(*pass)) {
            plans.push((pass, household_levels(pass, config, specification, &totals)?));
        }
        let allow = scope.allow_negative_counts();
        let mut passes: Vec<HouseholdPass> =
            plans.iter().map(|(pass, levels)| HouseholdPass::new(*pass, levels, truth, allow)).collect();
        let report = folder.join("error_report.csv");
        let one_run = OneRun::create(&report, specification, true)?;
        trials::run(&mut passes, self.trials, Some(one_run), streams, progress)?;
        for (pass, levels) in &plans {
            truth_tables::households(&folder.join("truth"), *pass, levels, truth)?;
        }
        let found = passes.into_iter().map(HouseholdPass::finish).collect::<Result<Vec<_>>>()?.concat();
        let tables = HouseholdTopic::ALL.into_iter().flat_map(HouseholdTopic::tables).map(|table| table.name);
        let tables: Vec<&str> = tables.collect();
        Ok(self.rehearsed(RecordKind::Households, &tables, found, truth, streams))
    }

    fn rehearsed(
        &self,
        kind: RecordKind,
        tables: &[&str],
        mut levels: Vec<RehearsedLevel>,
        truth: &Truth,
        streams: &Streams,
    ) -> Rehearsed {
        // A geography without Puerto Rico has no groups there.
        levels.retain(|level| level.groups > 0);
        Rehearsed {
            algorithm: kind.program(),
            trials: self.trials,
            insecure_seed: streams.insecure_seed(),
            made_up: matches!(self.records, RehearsalRecords::MadeUp { .. }),
            records: truth.read,
            tabulated: truth.tabulated.iter().sum(),
            of_households: kind == RecordKind::Households,
            tables: tables.iter().map(ToString::to_string).collect(),
            kinds: IterationLevel::ALL.map(|level| format!("level {level}")).to_vec(),
            levels,
        }
    }
}

/// The records of a text of whole lines, and its violations.
fn records_of<R: RecordRules>(text: &[u8], rules: &R) -> (Vec<CheckedRecord>, ValidationReport) {
    let mut report = ValidationReport::new();
    let mut records = Vec::new();
    for (line, row) in (1..).zip(text.split(|byte| *byte == b'\n').filter(|row| !row.is_empty())) {
        let fields: Vec<&[u8]> = row.split(|byte| *byte == b'|').collect();
        records.extend(rules.check_row(line, &fields, &mut report));
    }
    (records, report)
}
