//! The common part of SafeTab-P and SafeTab-H: a run reads public inputs, checks and counts records, adds noise to the groups of levels and
//! writes tables.

use std::path::Path;

use rug::Rational;
use serde_json::Value;

use super::{
    certificate::WrittenRows,
    certified_level::CertifiedLevel,
    guarantees::AccountedLevel,
    inputs::{Checked, InputPaths, PublicInputs, RecordSource, SeeRecord},
};
use crate::{
    error::{Error, Result},
    noise::Streams,
    safetab::{
        counting::Counted,
        schema::{Pass, RecordKind, RunScope, ValidationReport},
    },
};

/// The passes that are run, with their levels.
pub(in crate::safetab) type Passes<P> = Vec<(Pass, Vec<<P as Program>::Level>)>;

/// A program with its public inputs.
pub(in crate::safetab) trait Program: Sized {
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

    /// The passes that are run, with their levels; at least one.
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
}
