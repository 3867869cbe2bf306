//! All inputs, read and checked: what is public, and how many records there are.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{
    household_levels::{HouseholdLevel, household_levels},
    levels::{self, TabulatedLevel},
    record_files::{RecordFiles, hash_file},
};
use crate::{
    error::{Error, Result},
    safetab::{
        groups::{self, Specification},
        schema::{
            CheckedRecords, Geography, HouseholdCheck, HouseholdConfig, Pass, PublishedTotals, RecordRules, RowCheck,
            RunScope, SafeTabConfig, SummaryOrder, TotalsCheck, ValidationReport, check_households, check_persons,
        },
    },
};

/// Where the public inputs are.
pub(super) struct InputPaths<'a> {
    /// config.json.
    pub config: &'a Path,
    /// The folder of the specification files.
    pub specification: &'a Path,
    /// GRF-C.txt.
    pub geography: &'a Path,
    /// T1, for households: how far it must agree with the geography, and where it is.
    pub totals: Option<(&'a Path, TotalsCheck)>,
}

/// What both programs are run on.
pub(in crate::safetab) struct PublicInputs {
    /// The four files of races, ethnicities and iterations.
    pub specification: Specification,
    /// GRF-C.txt.
    pub geography: Geography,
}

/// The public inputs of SafeTab-P.
pub(in crate::safetab) struct PersonInputs {
    /// config.json.
    pub config: SafeTabConfig,
    /// The order of summary levels.
    pub order: SummaryOrder,
    /// The rest.
    pub public: PublicInputs,
}

/// The public inputs of SafeTab-H.
pub(in crate::safetab) struct HouseholdInputs {
    /// config.json.
    pub config: HouseholdConfig,
    /// T1.
    pub totals: PublishedTotals,
    /// The rest.
    pub public: PublicInputs,
}

/// How many records were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Checked {
    /// All of them.
    pub records: u64,
    /// Those of states that are run.
    pub tabulated: u64,
}

/// Shows every record of a Parquet file, its number from 1 and its fields in the order of the headings.
pub(super) type ReadParquet<'a> =
    &'a dyn Fn(&Path, &'static [&'static str], &mut dyn FnMut(u64, &[&[u8]])) -> Result<()>;

impl InputPaths<'_> {
    fn public(&self, scope: &RunScope, report: &mut ValidationReport) -> Option<PublicInputs> {
        let specification = Specification::read(self.specification, scope, report);
        let geography = Geography::read(self.geography, scope, report);
        specification.zip(geography).map(|(specification, geography)| PublicInputs { specification, geography })
    }

    /// Reads the public inputs of SafeTab-P; `None` if what others are checked against is not there.
    pub(super) fn persons(&self, order: &SummaryOrder, report: &mut ValidationReport) -> Option<PersonInputs> {
        let config = SafeTabConfig::read(self.config, report)?;
        let public = self.public(config.scope(), report)?;
        Some(PersonInputs { config, order: order.clone(), public })
    }

    /// Reads the public inputs of SafeTab-H; `None` if what others are checked against is not there.
    pub(super) fn households(&self, report: &mut ValidationReport) -> Option<HouseholdInputs> {
        let config = HouseholdConfig::read(self.config, report)?;
        let public = self.public(config.scope(), report)?;
        let (path, check) = self.totals?;
        let PublicInputs { specification, geography } = &public;
        let totals = PublishedTotals::read(path, config.scope(), specification, geography, check, report)?;
        Some(HouseholdInputs { config, totals, public })
    }

    /// SHA-256 of each public input, by its role.
    pub(super) fn hashes(&self) -> Result<Vec<(String, String)>> {
        let files = groups::FILES.map(|name| (name.to_string(), self.specification.join(name)));
        let mut others = vec![
            ("configuration".to_string(), self.config.to_path_buf()),
            ("geography".to_string(), self.geography.to_path_buf()),
        ];
        if let Some((path, _)) = self.totals {
            let totals = RecordFiles::find(path)?;
            others.extend(totals.text.into_iter().map(|path| {
                let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                (format!("totals {name}"), path)
            }));
        }
        let hash = |(role, path): (String, PathBuf)| {
            let mut hasher = Sha256::new();
            hash_file(&path, &mut hasher, &mut |_| {})?;
            let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((role, digest))
        };
        others.into_iter().chain(files).map(hash).collect()
    }
}

impl PersonInputs {
    /// Checks all records, and returns how many there are. `progress` is told how many bytes or rows are checked, and of how
    /// many; zero if that is not known.
    pub(super) fn check_records(
        &self,
        path: &Path,
        files: &RecordFiles,
        parquet: ReadParquet,
        report: &mut ValidationReport,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Checked> {
        let PublicInputs { specification, geography } = &self.public;
        let text = |report: &mut ValidationReport, tell: &mut dyn FnMut(u64)| {
            check_persons(path, &self.config, specification, geography, report, tell)
        };
        let rules = |name: &str| RowCheck::new(name, &self.config, specification, geography);
        check(files, text, rules, parquet, report, progress)
    }

    /// The passes that are run, with their levels.
    pub(in crate::safetab) fn passes(&self) -> Result<Vec<(Pass, Vec<TabulatedLevel>)>> {
        let PublicInputs { specification, geography } = &self.public;
        let levels = |pass| levels::levels(self.order.region_types(pass), &self.config, specification, geography);
        passes(self.config.scope(), levels)
    }
}

impl HouseholdInputs {
    /// Checks all records, as [`PersonInputs::check_records`] does.
    pub(super) fn check_records(
        &self,
        path: &Path,
        files: &RecordFiles,
        parquet: ReadParquet,
        report: &mut ValidationReport,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Checked> {
        let PublicInputs { specification, geography } = &self.public;
        let scope = self.config.scope();
        let text = |report: &mut ValidationReport, tell: &mut dyn FnMut(u64)| {
            check_households(path, scope, specification, geography, report, tell)
        };
        let rules = |name: &str| HouseholdCheck::new(name, scope, specification, geography);
        check(files, text, rules, parquet, report, progress)
    }

    /// The passes that are run, with their levels.
    pub(in crate::safetab) fn passes(&self) -> Result<Vec<(Pass, Vec<HouseholdLevel>)>> {
        let specification = &self.public.specification;
        passes(self.config.scope(), |pass| household_levels(pass, &self.config, specification, &self.totals))
    }
}

/// Checks records as text and as Parquet, and returns how many there are.
fn check<R: RecordRules>(
    files: &RecordFiles,
    text: impl FnOnce(&mut ValidationReport, &mut dyn FnMut(u64)) -> CheckedRecords,
    rules: impl Fn(&str) -> R,
    parquet: ReadParquet,
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Checked> {
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
    let of = files.text.iter().map(size).sum();
    let mut checked = Checked::default();
    if !files.text.is_empty() {
        let found = text(report, &mut |done| progress(done, of));
        checked = Checked { records: found.records, tabulated: found.united_states + found.puerto_rico };
    }
    for file in &files.parquet {
        let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let rules = rules(&name);
        parquet(file, rules.headings(), &mut |number, fields| {
            if let Some(record) = rules.check_row(number, fields, report) {
                let pass = record.block.and_then(|block| rules.geography().pass(block));
                checked.records += 1;
                checked.tabulated += u64::from(pass.is_some());
            }
            if number % 100_000 == 0 {
                progress(number, 0);
            }
        })?;
    }
    Ok(checked)
}

/// The passes that are run, with their levels; one at least.
fn passes<L>(scope: &RunScope, levels: impl Fn(Pass) -> Result<Vec<L>>) -> Result<Vec<(Pass, Vec<L>)>> {
    let mut passes = Vec::new();
    for pass in Pass::ALL.into_iter().filter(|pass| scope.runs(*pass)) {
        let levels = levels(pass)?;
        if !levels.is_empty() {
            passes.push((pass, levels));
        }
    }
    if passes.is_empty() {
        let expected = "a pass that is run and a level of it with groups and a budget above 0";
        return Err(Error::out_of_range("the budget", 0, expected));
    }
    Ok(passes)
}
