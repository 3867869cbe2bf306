//! A release job: its inputs and output, and its account before anything is counted.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    certificate::{self, CertifiedPass, TabulationCertificate, WrittenRows},
    certified_level::CertifiedLevel,
    cluster::Cluster,
    guarantees::RunGuarantees,
    inputs::{CefUnits, InputPaths, RecordSource, hashes},
    program::{Passes, Program},
    record_files::RecordFiles,
};
use crate::{
    account::{Delta, Stop},
    document::{Block, markdown},
    draws::{EarlierBudgets, UnfinishedDraw},
    error::{Error, Result},
    safetab::schema::{SummaryOrder, TotalsCheck, ValidationReport},
    topdown::jobs::Progress,
};

/// The tables of all programs as named in certificates, in the order of their pages.
const TABLES: [&str; 10] = ["t1", "t2", "T03001", "T03002", "T03003", "T03004", "T04001", "T04002", "totals", "cells"];

/// A release job: its public inputs, the records, and the output.
#[derive(Clone, Debug)]
pub struct Job {
    /// The public inputs.
    pub public: PublicJob,
    /// The records: a file, or a folder of files: `*.txt` and `*.csv` as text, `*.parquet`. The person files, if they are edited files.
    pub records: PathBuf,
    /// The folder of the release, which must not exist yet.
    pub out: PathBuf,
    /// A public seed, for tests; `None` for noise that protects.
    pub insecure_seed: Option<u64>,
    /// How to treat a draw that was not completed.
    pub unfinished: UnfinishedDraw,
    /// A cluster that counts instead of this machine.
    pub cluster: Option<Cluster>,
}

/// The public side of a job: all that its account and its certificate depend on, besides the draw.
#[derive(Clone, Debug)]
pub struct PublicJob {
    /// config.json; not read for a country's own specification.
    pub config: PathBuf,
    /// The folder of the specification files; the specification file of a country.
    pub specification: PathBuf,
    /// GRF-C.txt; the areas of a country.
    pub geography: PathBuf,
    /// The program, with its own inputs.
    pub program: ProgramInputs,
    /// The edited files of fixed width (CEF), if the records are in such files: their blocks with units are public here.
    pub edited: Option<EditedFiles>,
    /// The delta of the certificate.
    pub delta: Delta,
}

/// The program that tabulates.
#[derive(Clone, Debug)]
pub enum ProgramInputs {
    /// Persons, by SafeTab-P.
    Persons {
        /// The order of summary levels.
        order: SummaryOrder,
    },
    /// Households, by SafeTab-H.
    Households {
        /// The published totals T1 of SafeTab-P: a file, or a folder of text files.
        totals: PathBuf,
        /// How far they must agree with the geography.
        check: TotalsCheck,
    },
    /// Persons, by SafeTab-P with a country's own specification.
    Country,
}

/// Edited files of fixed width.
#[derive(Clone, Debug)]
pub struct EditedFiles {
    /// The person files: a file, or a folder with CEF20_PER_* of each state.
    pub persons: PathBuf,
    /// The unit files.
    pub units: CefUnits,
}

/// The account of a run: its certificate without a draw.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// As JSON; as public as the release would be.
    pub account: Value,
    /// As a text.
    pub page: Vec<Block>,
}

/// Calls a generic function for the program of a job.
macro_rules! for_program {
    ($job:expr, $function:ident($($argument:expr),*)) => {
        match &$job.program {
            $crate::safetab::tabulate::ProgramInputs::Persons { .. } => {
                $function::<$crate::safetab::tabulate::PersonInputs>($($argument),*)
            }
            $crate::safetab::tabulate::ProgramInputs::Households { .. } => {
                $function::<$crate::safetab::tabulate::HouseholdInputs>($($argument),*)
            }
            $crate::safetab::tabulate::ProgramInputs::Country => {
                $function::<$crate::safetab::country::program::CountryInputs>($($argument),*)
            }
        }
    };
}
impl PublicJob {
    /// The order of summary levels; the usual one for households, where none is chosen.
    pub(super) fn order(&self) -> SummaryOrder {
        match &self.program {
            ProgramInputs::Persons { order } => order.clone(),
            ProgramInputs::Households { .. } | ProgramInputs::Country => SummaryOrder::default(),
        }
    }

    fn paths<'a>(&'a self, order: &'a SummaryOrder) -> InputPaths<'a> {
        let totals = match &self.program {
            ProgramInputs::Persons { .. } | ProgramInputs::Country => None,
            ProgramInputs::Households { totals, check } => Some((totals.as_path(), *check)),
        };
        let cef = self.edited.as_ref().map(|edited| (edited.persons.as_path(), &edited.units));
        let (config, specification, geography) = (&self.config, &self.specification, &self.geography);
        InputPaths { config, specification, geography, cef, order, totals }
    }

    /// Reads the public inputs; `None` if the values are missing that others are checked against, with the reason in the report.
    pub(in crate::safetab) fn inputs<P: Program>(&self, report: &mut ValidationReport) -> Result<Option<P>> {
        P::read(&self.paths(&self.order()), report)
    }

    /// The settings of a draw beside its files, by name: if a draw is repeated they must be the same.
    pub(super) fn settings<P: Program>(&self) -> Vec<(String, String)> {
        let order = match self.program {
            ProgramInputs::Country => None,
            _ => Some(("order of summary levels".to_string(), self.order().to_string())),
        };
        let of_blocks = self.note_of_blocks::<P>();
        order
            .into_iter()
            .chain(of_blocks.into_iter().map(|(name, said)| (name.to_string(), said.to_string())))
            .collect()
    }

    /// SHA-256 of each public input, by its role.
    pub(super) fn hashes<P: Program>(&self) -> Result<Vec<(String, String)>> {
        hashes(P::files(&self.paths(&self.order()))?)
    }

    /// The account of a run and its groups, from the public inputs only. Reads no record and draws nothing.
    pub fn dry_run(&self) -> Result<DryRun> {
        for_program!(self, dry_run(self))
    }

    /// The certificate of a release recomputed from the public inputs, for the delta and the draw that it states: as JSON and as Markdown.
    /// `None` if it states no delta.
    pub(in crate::safetab) fn certificate_again<P: Program>(
        &self,
        inputs: &P,
        stated: &Value,
    ) -> Result<Option<(Value, String)>> {
        let Ok(delta) = stated["delta"].to_string().parse::<Delta>() else { return Ok(None) };
        let job = PublicJob { delta, ..self.clone() };
        let passes = inputs.passes()?;
        let guarantees = job.guarantees(inputs, &passes)?;
        let hashes = job.hashes::<P>()?;
        let seed = stated["insecure_seed"].as_u64();
        let mut certificate = job.certificate(inputs, &passes, guarantees, &hashes, seed);
        certificate.draw = stated["draw"].as_u64();
        certificate.earlier = EarlierBudgets::from_json(stated, unit_of(inputs)).unwrap_or_default();
        for (pass, said) in certificate.passes.iter_mut().zip(stated["passes"].as_array().into_iter().flatten()) {
            let rows = TABLES.map(|table| Some((table, said["rows"][table].as_u64()?)));
            let coterminous = said["coterminous_groups_replaced"].as_u64();
            pass.written = Some(WrittenRows { rows: rows.into_iter().flatten().collect(), coterminous });
        }
        Ok(Some((certificate.json(), markdown::of_markdown(&certificate.page()))))
    }

    /// The entry of a certificate about the blocks, if records are edited files.
    pub(super) fn note_of_blocks<P: Program>(&self) -> Vec<(&'static str, Value)> {
        let cut = match &self.edited {
            None => return Vec::new(),
            Some(EditedFiles { units: CefUnits { all_blocks: true, .. }, .. }) => {
                "all blocks, whether they hold a unit or not"
            }
            Some(_) => P::CUT_BLOCKS,
        };
        vec![("blocks", json!(cut))]
    }

    /// The guarantees of the passes.
    pub(super) fn guarantees<P: Program>(&self, inputs: &P, passes: &Passes<P>) -> Result<RunGuarantees> {
        RunGuarantees::new(inputs.privacy(), &self.delta, passes, &Stop::default())
    }

    /// A certificate without a draw.
    pub(super) fn certificate<'a, P: Program>(
        &'a self,
        inputs: &'a P,
        passes: &'a Passes<P>,
        guarantees: RunGuarantees,
        hashes: &'a [(String, String)],
        insecure_seed: Option<u64>,
    ) -> TabulationCertificate<'a> {
        let certified = passes.iter().zip(guarantees.passes);
        let certified = certified.map(|((pass, levels), guarantees)| CertifiedPass {
            name: inputs.pass_name(*pass),
            guarantees: guarantees.pass,
            ways: guarantees.ways,
            levels: levels.iter().map(|level| level as &dyn CertifiedLevel).zip(guarantees.levels).collect(),
            written: None,
        });
        TabulationCertificate {
            algorithm: inputs.algorithm(),
            of_households: inputs.is_of_households(),
            privacy: inputs.privacy(),
            delta: &self.delta,
            gamma: inputs.gamma(),
            allow_negative_counts: inputs.allow_negative_counts(),
            insecure_seed,
            draw: None,
            earlier: EarlierBudgets::default(),
            inputs: hashes,
            notes: [inputs.notes(), self.note_of_blocks::<P>()].concat(),
            passes: certified.collect(),
            total: guarantees.run,
        }
    }
}

impl Job {
    /// Checks all inputs to the last record and draws nothing. Returns the number of records, which is confidential; an error contains the
    /// whole report.
    pub fn check(&self, progress: &mut dyn FnMut(Progress)) -> Result<u64> {
        for_program!(self.public, check(self, progress))
    }

    /// The files of records; empty for edited files, which are found with the public inputs.
    pub(super) fn record_files(&self) -> Result<RecordFiles> {
        match self.public.edited {
            None => RecordFiles::find(&self.records),
            Some(_) => Ok(RecordFiles::default()),
        }
    }

    /// The source of the records. Those of edited files are written in the simple form into the file `stage`, if there is one.
    pub(super) fn source<'a>(&'a self, files: &'a RecordFiles, stage: Option<&'a Path>) -> RecordSource<'a> {
        RecordSource { path: &self.records, files, stage }
    }
}

fn check<P: Program>(job: &Job, progress: &mut dyn FnMut(Progress)) -> Result<u64> {
    let files = job.record_files()?;
    let mut report = ValidationReport::new();
    let Some(inputs) = job.public.inputs::<P>(&mut report)? else { return refuse(report) };
    inputs.check_records(job.source(&files, None), report, progress).map(|checked| checked.records)
}

fn dry_run<P: Program>(job: &PublicJob) -> Result<DryRun> {
    let mut report = ValidationReport::new();
    let Some(inputs) = job.inputs::<P>(&mut report)? else { return refuse(report) };
    report.into_result()?;
    let passes = inputs.passes()?;
    let guarantees = job.guarantees(&inputs, &passes)?;
    let hashes = job.hashes::<P>()?;
    let certificate = job.certificate(&inputs, &passes, guarantees, &hashes, None);
    Ok(DryRun { account: certificate.json(), page: certificate.page() })
}

/// The unit of the budgets.
pub(super) fn unit_of(inputs: &impl Program) -> &'static str {
    certificate::unit(inputs.privacy())
}

pub(super) fn refuse<T>(report: ValidationReport) -> Result<T> {
    report.into_result()?;
    Err(Error::Input { report: "an input could not be read".to_string() })
}
