//! The common part of all programs: a run reads public inputs, checks and counts records, adds noise to the groups of levels and writes
//! tables. [`Program`] is any of them, [`BureauProgram`] SafeTab-P and SafeTab-H with the bureau's files.

use std::path::{Path, PathBuf};

use rug::Rational;
use serde_json::Value;

use super::{
    certificate::{self, WrittenRows},
    certified_level::CertifiedLevel,
    guarantees::AccountedLevel,
    inputs::{Checked, InputPaths, PublicInputs, RecordSource, SeeRecord},
};
use crate::{
    error::{Error, Result},
    noise::Streams,
    safetab::{
        counting::{Counted, Counting},
        schema::{Pass, Privacy, RecordKind, RunScope, ValidationReport, cef::CefFiles},
    },
    topdown::jobs::Progress,
};

/// The passes that are run, with their levels.
pub(in crate::safetab) type Passes<P> = Vec<(<P as Program>::Pass, Vec<<P as Program>::Level>)>;

/// The stage of the work while records are read.
const CHECKING: &str = "checking records";

/// A program with its public inputs.
pub(in crate::safetab) trait Program: Sized {
    /// A population group level.
    type Level: CertifiedLevel + AccountedLevel;

    /// One run over the records, with a budget of its own; a record is in at most one.
    type Pass: Copy;

    /// The exact counts of all groups.
    type Counts<'a>
    where
        Self: 'a;

    /// The entry of a certificate about a geography that was reduced to blocks with units.
    const CUT_BLOCKS: &'static str;

    /// Reads the public inputs; `None` if the values are missing that others are checked against, with the reason in the report.
    fn read(paths: &InputPaths, report: &mut ValidationReport) -> Result<Option<Self>>;

    /// The public files, by their roles.
    fn files(paths: &InputPaths) -> Result<Vec<(String, PathBuf)>>;

    /// The name of the program.
    fn algorithm(&self) -> &'static str;

    /// Whether its records are households, and not persons.
    fn is_of_households(&self) -> bool;

    /// The privacy guarantee.
    fn privacy(&self) -> Privacy;

    /// Whether negative counts are published.
    fn allow_negative_counts(&self) -> bool;

    /// The share of stage 1, if the program has two stages.
    fn gamma(&self) -> Option<&Rational>;

    /// The entries of a certificate about the inputs beside their hashes.
    fn notes(&self) -> Vec<(&'static str, Value)>;

    /// The edited files of fixed width, if the records are in such files.
    fn edited(&self) -> Option<&CefFiles>;

    /// The passes that are run, with their levels; at least one.
    fn passes(&self) -> Result<Passes<Self>>;

    /// The name of a pass.
    fn pass_name(&self, pass: Self::Pass) -> String;

    /// The definition of the passes, from the hashes of the public files by their roles: equal only where every record is
    /// in the pass of the same name.
    fn parts(&self, files: &[(String, String)]) -> String;

    /// Checks all records. An error contains the whole report, which may have earlier violations.
    fn check_records(
        &self,
        from: RecordSource,
        report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Checked>;

    /// Checks and counts all records. The folder is for counts beyond the memory.
    fn count<'a>(
        &'a self,
        from: RecordSource,
        folder: &Path,
        report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Self::Counts<'a>, Checked)>;

    /// Adds noise to all levels of a pass and writes its tables. Calls `progress` with the number of further groups that have noise.
    fn write(
        &self,
        of_pass: (Self::Pass, &[Self::Level]),
        counted: &Self::Counts<'_>,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<WrittenRows>;
}

/// A program with the bureau's files.
pub(in crate::safetab) trait BureauProgram: Sized {
    /// A population group level.
    type Level: CertifiedLevel + AccountedLevel;

    /// The kind of its records.
    const KIND: RecordKind;

    /// The entry of a certificate about a geography that was reduced to blocks with units.
    const CUT_BLOCKS: &'static str;

    /// Reads the public inputs; `None` if the values are missing that others are checked against, with the reason in the report.
    fn read(paths: &InputPaths, report: &mut ValidationReport) -> Option<Self>;

    /// The settings common to both programs.
    fn scope(&self) -> &RunScope;

    /// The public inputs common to both programs.
    fn public(&self) -> &PublicInputs;

    /// The share of stage 1, if the program has two stages.
    fn gamma(&self) -> Option<&Rational>;

    /// The entries of a certificate about the inputs beside their hashes.
    fn notes(&self) -> Vec<(&'static str, Value)>;

    /// Checks all records and passes them on, as [`inputs::each_record`](super::inputs::each_record) does.
    fn each_record(
        &self,
        from: RecordSource,
        report: &mut ValidationReport,
        progress: &mut dyn FnMut(u64, u64),
        see: &mut SeeRecord,
    ) -> Result<Checked>;

    /// The levels of a pass, in the order of tabulation.
    fn levels(&self, pass: Pass) -> Result<Vec<Self::Level>>;

    /// Adds noise to all levels of a pass and writes its tables. Calls `progress` with the number of further groups that have noise.
    fn write(
        &self,
        of_pass: (Pass, &[Self::Level]),
        counted: &Counted,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<WrittenRows>;

    /// Checks all records and passes them on. Those of edited files are written in the simple form into a file, if the source names one. An
    /// error contains the whole report, which may have earlier violations.
    fn see_records(
        &self,
        from: RecordSource,
        mut report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
        see: &mut SeeRecord,
    ) -> Result<Checked> {
        let report_done = &mut |done, of| progress(Progress { stage: CHECKING, done, of });
        let checked = self.each_record(from, &mut report, report_done, see)?;
        report.into_result()?;
        Ok(checked)
    }
}

impl<P: BureauProgram> Program for P {
    type Level = P::Level;
    type Pass = Pass;
    type Counts<'a>
        = Counted<'a>
    where
        P: 'a;

    const CUT_BLOCKS: &'static str = <P as BureauProgram>::CUT_BLOCKS;

    fn read(paths: &InputPaths, report: &mut ValidationReport) -> Result<Option<Self>> {
        Ok(<P as BureauProgram>::read(paths, report))
    }

    fn files(paths: &InputPaths) -> Result<Vec<(String, PathBuf)>> {
        paths.files()
    }

    fn algorithm(&self) -> &'static str {
        P::KIND.program()
    }

    fn is_of_households(&self) -> bool {
        P::KIND == RecordKind::Households
    }

    fn privacy(&self) -> Privacy {
        self.scope().privacy()
    }

    fn allow_negative_counts(&self) -> bool {
        self.scope().allow_negative_counts()
    }

    fn gamma(&self) -> Option<&Rational> {
        BureauProgram::gamma(self)
    }

    fn notes(&self) -> Vec<(&'static str, Value)> {
        BureauProgram::notes(self)
    }

    fn edited(&self) -> Option<&CefFiles> {
        self.public().cef.as_ref()
    }

    fn passes(&self) -> Result<Passes<Self>> {
        let mut passes = Vec::new();
        for pass in Pass::ALL.into_iter().filter(|pass| self.scope().runs(*pass)) {
            let levels = self.levels(pass)?;
            if !levels.is_empty() {
                passes.push((pass, levels));
            }
        }
        if passes.is_empty() {
            return Err(Error::missing(
                "nothing to tabulate: no level of a pass that is run has groups and a budget above 0",
            ));
        }
        Ok(passes)
    }

    fn pass_name(&self, pass: Pass) -> String {
        certificate::name(pass).to_string()
    }

    /// The state of a record decides, in every file of geography.
    fn parts(&self, _: &[(String, String)]) -> String {
        "Puerto Rico: records of state 72. United States: records of the other states".to_string()
    }

    fn check_records(
        &self,
        from: RecordSource,
        report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Checked> {
        self.see_records(from, report, progress, &mut |_| Ok(()))
    }

    fn count<'a>(
        &'a self,
        from: RecordSource,
        folder: &Path,
        report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Counted<'a>, Checked)> {
        let PublicInputs { specification, geography, .. } = self.public();
        let mut counting = Counting::new(P::KIND, specification, geography, folder)?;
        let checked = self.see_records(from, report, progress, &mut |record| counting.add(record))?;
        progress(Progress { stage: "counting", done: 0, of: 0 });
        Ok((counting.finish()?, checked))
    }

    fn write(
        &self,
        of_pass: (Pass, &[P::Level]),
        counted: &Counted<'_>,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<WrittenRows> {
        BureauProgram::write(self, of_pass, counted, folder, streams, progress)
    }
}
