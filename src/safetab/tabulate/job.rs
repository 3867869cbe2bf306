//! A release job: its inputs and output, and its account before anything is counted.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    certificate::{self, CertifiedLevel, CertifiedPass, TabulationCertificate, WrittenRows},
    cluster::Cluster,
    guarantees::RunGuarantees,
    household_levels::HouseholdLevel,
    inputs::{CefUnits, Checked, HouseholdInputs, InputPaths, PersonInputs, RecordSource, SeeRecord},
    levels::TabulatedLevel,
    record_files::RecordFiles,
};
use crate::{
    account::{Delta, Stop},
    draws::{EarlierBudgets, UnfinishedDraw},
    error::{Error, Result},
    safetab::{
        counting::RecordKind,
        schema::{LandColumn, LeftOut, Pass, SummaryOrder, TotalsCheck, ValidationReport},
    },
    topdown::jobs::Progress,
};

/// The tables of both programs as named in certificates, in the order of their pages.
const TABLES: [&str; 8] = ["t1", "t2", "T03001", "T03002", "T03003", "T03004", "T04001", "T04002"];

/// The records to tabulate.
#[derive(Clone, Debug)]
pub enum Records {
    /// Persons, by SafeTab-P: a file, or a folder of files: `*.txt` and `*.csv` as text, `*.parquet`.
    Persons(PathBuf),
    /// Households, by SafeTab-H.
    Households {
        /// A file, or a folder of files, as for persons.
        records: PathBuf,
        /// The published totals T1 of SafeTab-P: a file, or a folder of text files.
        totals: PathBuf,
        /// How far they must agree with the geography.
        check: TotalsCheck,
    },
}

/// A release job: its inputs and output.
#[derive(Clone, Debug)]
pub struct Job {
    /// config.json.
    pub config: PathBuf,
    /// The folder of the specification files.
    pub specification: PathBuf,
    /// The records to tabulate.
    pub records: Records,
    /// GRF-C.txt.
    pub geography: PathBuf,
    /// The unit files, if the records are persons of edited files of fixed width (CEF): a file, or a folder with CEF20_PER_* of each state.
    pub units: Option<CefUnits>,
    /// The order of summary levels, for persons.
    pub order: SummaryOrder,
    /// The folder of the release, which must not exist yet.
    pub out: PathBuf,
    /// The delta of the certificate.
    pub delta: Delta,
    /// A public seed, for tests; `None` for noise that protects.
    pub insecure_seed: Option<u64>,
    /// What to do about a draw that was not completed.
    pub unfinished: UnfinishedDraw,
    /// A cluster that counts instead of this machine.
    pub cluster: Option<Cluster>,
}

/// The account of a run: its certificate without a draw.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// As JSON; as public as the release would be.
    pub account: Value,
    /// As a page in Markdown.
    pub page: String,
}

/// The public inputs of a job.
pub(in crate::safetab) enum Inputs {
    Persons(PersonInputs),
    Households(HouseholdInputs),
}

/// The passes that are run, with their levels.
pub(super) enum Passes {
    Persons(Vec<(Pass, Vec<TabulatedLevel>)>),
    Households(Vec<(Pass, Vec<HouseholdLevel>)>),
}

impl Records {
    /// The path of the records.
    pub fn path(&self) -> &Path {
        match self {
            Records::Persons(path) | Records::Households { records: path, .. } => path,
        }
    }
}

impl Job {
    pub(super) fn paths(&self) -> InputPaths<'_> {
        let totals = match &self.records {
            Records::Persons(_) => None,
            Records::Households { totals, check, .. } => Some((totals.as_path(), *check)),
        };
        let cef = self.units.as_ref().map(|units| (self.records.path(), units));
        InputPaths { config: &self.config, specification: &self.specification, geography: &self.geography, cef, totals }
    }

    /// Reads the public inputs; `None` if the values are missing that others are checked against, with the reason in the report.
    pub(in crate::safetab) fn inputs(&self, report: &mut ValidationReport) -> Option<Inputs> {
        match &self.records {
            Records::Persons(_) => self.paths().persons(&self.order, report).map(Inputs::Persons),
            Records::Households { .. } => self.paths().households(report).map(Inputs::Households),
        }
    }

    /// Checks all inputs to the last record and draws nothing. Returns the number of records, which is confidential; an error contains the
    /// whole report.
    pub fn check(&self, progress: &mut dyn FnMut(Progress)) -> Result<u64> {
        let files = self.record_files()?;
        let mut report = ValidationReport::new();
        let Some(inputs) = self.inputs(&mut report) else { return refuse(report) };
        self.each_record(&inputs, (&files, None), report, progress, &mut |_| Ok(())).map(|checked| checked.records)
    }

    /// The files of records; empty for edited files, which are found with the public inputs.
    pub(super) fn record_files(&self) -> Result<RecordFiles> {
        match self.units {
            None => RecordFiles::find(self.records.path()),
            Some(_) => Ok(RecordFiles::default()),
        }
    }

    /// Checks all records and passes them on. Those of edited files are written in the simple form into a file, if one is given. An error
    /// contains the whole report, which may have earlier violations.
    pub(super) fn each_record(
        &self,
        inputs: &Inputs,
        (files, stage): (&RecordFiles, Option<&Path>),
        mut report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
        see: &mut SeeRecord,
    ) -> Result<Checked> {
        let from = RecordSource { path: self.records.path(), files, stage };
        let report_done = &mut |done, of| progress(Progress { stage: "checking records", done, of });
        let checked = match inputs {
            Inputs::Persons(inputs) => inputs.each_record(from, &mut report, report_done, see)?,
            Inputs::Households(inputs) => inputs.each_record(from, &mut report, report_done, see)?,
        };
        report.into_result()?;
        Ok(checked)
    }

    /// The account of a run and its groups, from the public inputs only. Reads no record and draws nothing.
    pub fn dry_run(&self) -> Result<DryRun> {
        let mut report = ValidationReport::new();
        let Some(inputs) = self.inputs(&mut report) else { return refuse(report) };
        report.into_result()?;
        let passes = inputs.passes()?;
        let guarantees = passes.guarantees(&inputs, &self.delta)?;
        let hashes = self.paths().hashes()?;
        let certificate = self.certificate(&inputs, &passes, guarantees, &hashes);
        Ok(DryRun { account: certificate.json(), page: certificate.page() })
    }

    /// The certificate of a release recomputed from the public inputs, for the delta and the draw that it states: as JSON and as a page.
    /// `None` if it states no delta.
    pub(in crate::safetab) fn certificate_again(
        &self,
        inputs: &Inputs,
        stated: &Value,
    ) -> Result<Option<(Value, String)>> {
        let Ok(delta) = stated["delta"].to_string().parse::<Delta>() else { return Ok(None) };
        let job = Job { delta, insecure_seed: stated["insecure_seed"].as_u64(), ..self.clone() };
        let passes = inputs.passes()?;
        let guarantees = passes.guarantees(inputs, &job.delta)?;
        let hashes = job.paths().hashes()?;
        let mut certificate = job.certificate(inputs, &passes, guarantees, &hashes);
        certificate.draw = stated["draw"].as_u64();
        certificate.earlier = EarlierBudgets::from_json(stated, inputs.unit()).unwrap_or_default();
        for (pass, said) in certificate.passes.iter_mut().zip(stated["passes"].as_array().into_iter().flatten()) {
            let rows = TABLES.map(|table| Some((table, said["rows"][table].as_u64()?)));
            let coterminous = said["coterminous_groups_replaced"].as_u64();
            pass.written = Some(WrittenRows { rows: rows.into_iter().flatten().collect(), coterminous });
        }
        Ok(Some((certificate.json(), certificate.page())))
    }

    /// The entry of a certificate about the blocks, if records are edited files.
    pub(super) fn note_of_blocks(&self) -> Vec<(&'static str, Value)> {
        let cut = match (&self.units, &self.records) {
            (None, _) => return Vec::new(),
            (Some(CefUnits { all_blocks: true, .. }), _) => "all blocks, whether they hold a unit or not",
            (Some(_), Records::Persons(_)) => {
                "cut to blocks that hold a unit, as the bureau's reader does: which these are is taken from the unit files, \
                 is no secret here, and is not part of the guarantee"
            }
            (Some(_), Records::Households { .. }) => {
                "cut to blocks that hold a housing unit, as the bureau's reader does: which these are is taken from the unit \
                 files, is no secret here, and is not part of the guarantee"
            }
        };
        vec![("blocks", json!(cut))]
    }

    /// A certificate without a draw.
    pub(super) fn certificate<'a>(
        &'a self,
        inputs: &'a Inputs,
        passes: &'a Passes,
        guarantees: RunGuarantees,
        hashes: &'a [(String, String)],
    ) -> TabulationCertificate<'a> {
        let certified = passes.certified().into_iter().zip(guarantees.passes);
        let certified = certified.map(|((pass, levels), guarantees)| CertifiedPass {
            pass,
            guarantees: guarantees.pass,
            levels: levels.into_iter().zip(guarantees.levels).collect(),
            written: None,
        });
        let (scope, gamma) = match inputs {
            Inputs::Persons(inputs) => (inputs.config.scope(), Some(inputs.config.gamma())),
            Inputs::Households(inputs) => (inputs.config.scope(), None),
        };
        TabulationCertificate {
            privacy: scope.privacy(),
            delta: &self.delta,
            gamma,
            allow_negative_counts: scope.allow_negative_counts(),
            insecure_seed: self.insecure_seed,
            draw: None,
            earlier: EarlierBudgets::default(),
            inputs: hashes,
            notes: [inputs.notes(&self.records), self.note_of_blocks()].concat(),
            passes: certified.collect(),
            total: guarantees.run,
        }
    }
}

impl Inputs {
    /// The passes that are run, with their levels.
    pub(super) fn passes(&self) -> Result<Passes> {
        Ok(match self {
            Inputs::Persons(inputs) => Passes::Persons(inputs.passes()?),
            Inputs::Households(inputs) => Passes::Households(inputs.passes()?),
        })
    }

    /// The entries of a certificate about the inputs beside their hashes.
    fn notes(&self, records: &Records) -> Vec<(&'static str, Value)> {
        let (inputs, check) = match (self, records) {
            (Inputs::Persons(inputs), _) => {
                let by = match inputs.public.geography.land_column() {
                    Some(LandColumn::Area) => "blocks with land, by AREALAND",
                    Some(LandColumn::BlockType) => "blocks with land, by LWBLKTYP",
                    None => "all blocks: the geography does not tell water",
                };
                return vec![
                    ("coterminous_regions_share", json!(by)),
                    ("summary_levels", json!(inputs.order.to_string())),
                ];
            }
            (Inputs::Households(inputs), Records::Households { check, .. }) => (inputs, check),
            _ => return Vec::new(),
        };
        let LeftOut { other_states, other_areas, without_units, not_tabulated } = inputs.totals.left_out;
        let given = match check {
            TotalsCheck::SameVintage => {
                "every region is one of the geography, and no nation or state is without totals"
            }
            TotalsCheck::AsGiven => {
                "taken as given: groups of regions that the geography does not have are noise alone"
            }
        };
        vec![
            ("totals", json!(given)),
            ("totals_of_other_states", json!(other_states)),
            ("totals_of_other_areas", json!(other_areas)),
            ("totals_without_units", json!(without_units)),
            ("totals_not_tabulated", json!(not_tabulated)),
        ]
    }

    /// The unit of the budgets.
    pub(super) fn unit(&self) -> &'static str {
        let scope = match self {
            Inputs::Persons(inputs) => inputs.config.scope(),
            Inputs::Households(inputs) => inputs.config.scope(),
        };
        certificate::unit(scope.privacy())
    }

    /// The kind of the records.
    pub(super) fn kind(&self) -> RecordKind {
        match self {
            Inputs::Persons(_) => RecordKind::Persons,
            Inputs::Households(_) => RecordKind::Households,
        }
    }

    /// The public inputs of both programs.
    pub(super) fn public(&self) -> &super::inputs::PublicInputs {
        match self {
            Inputs::Persons(inputs) => &inputs.public,
            Inputs::Households(inputs) => &inputs.public,
        }
    }
}

impl Passes {
    /// The guarantees of the passes.
    pub(super) fn guarantees(&self, inputs: &Inputs, delta: &Delta) -> Result<RunGuarantees> {
        let privacy = match inputs {
            Inputs::Persons(inputs) => inputs.config.scope().privacy(),
            Inputs::Households(inputs) => inputs.config.scope().privacy(),
        };
        match self {
            Passes::Persons(passes) => RunGuarantees::new(privacy, delta, passes, &Stop::default()),
            Passes::Households(passes) => RunGuarantees::of_households(privacy, delta, passes, &Stop::default()),
        }
    }

    /// The passes with their levels, for a certificate.
    fn certified(&self) -> Vec<(Pass, Vec<CertifiedLevel<'_>>)> {
        match self {
            Passes::Persons(passes) => passes
                .iter()
                .map(|(pass, levels)| (*pass, levels.iter().map(CertifiedLevel::Persons).collect()))
                .collect(),
            Passes::Households(passes) => passes
                .iter()
                .map(|(pass, levels)| (*pass, levels.iter().map(CertifiedLevel::Households).collect()))
                .collect(),
        }
    }
}

pub(super) fn refuse<T>(report: ValidationReport) -> Result<T> {
    report.into_result()?;
    Err(Error::Input { report: "an input could not be read".to_string() })
}
