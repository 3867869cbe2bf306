//! Reads and checks all inputs: the public ones, and the number of records.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::record_files::{RecordFiles, hash_file};
use crate::{
    error::Result,
    io::files::{create_private, file_error},
    safetab::{
        groups::{self, Specification},
        schema::{
            CheckedRecord, CheckedRecords, Geography, HouseholdConfig, Pass, PublishedTotals, RecordKind, RecordRules,
            RunScope, SafeTabConfig, SummaryOrder, TotalsCheck, ValidationReport,
            cef::CefFiles,
            lines::is_compressed,
            record_files::{report_if_none, see_records},
        },
    },
};

/// The paths of the public inputs.
pub(in crate::safetab) struct InputPaths<'a> {
    /// config.json.
    pub config: &'a Path,
    /// The folder of the specification files.
    pub specification: &'a Path,
    /// GRF-C.txt.
    pub geography: &'a Path,
    /// The paths of persons and units, if these are edited files of fixed width.
    pub cef: Option<(&'a Path, &'a CefUnits)>,
    /// The order of summary levels, for persons.
    pub order: &'a SummaryOrder,
    /// The path of T1, for households, and how far it must agree with the geography.
    pub totals: Option<(&'a Path, TotalsCheck)>,
}

/// The public inputs of both programs.
pub(in crate::safetab) struct PublicInputs {
    /// The four files of races, ethnicities and iterations.
    pub specification: Specification,
    /// GRF-C.txt, or those of its blocks that hold a unit.
    pub geography: Geography,
    /// The edited person and unit files, if the records are in such files.
    pub cef: Option<CefFiles>,
}

/// The units of edited files of fixed width (CEF), if the records are persons of such files.
#[derive(Clone, Debug)]
pub struct CefUnits {
    /// The unit files: a file, or a folder with CEF20_UNIT_* of each state.
    pub path: PathBuf,
    /// Whether blocks without a unit stay in the geography. The bureau's reader removes them.
    pub all_blocks: bool,
}

/// The public inputs of SafeTab-P.
pub(in crate::safetab) struct PersonInputs {
    /// config.json.
    pub config: SafeTabConfig,
    /// The order of summary levels.
    pub order: SummaryOrder,
    /// The other public inputs.
    pub public: PublicInputs,
}

/// The public inputs of SafeTab-H.
pub(in crate::safetab) struct HouseholdInputs {
    /// config.json.
    pub config: HouseholdConfig,
    /// T1.
    pub totals: PublishedTotals,
    /// How far it must agree with the geography.
    pub check: TotalsCheck,
    /// The other public inputs.
    pub public: PublicInputs,
}

/// The numbers of records that were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::safetab) struct Checked {
    /// All of them.
    pub records: u64,
    /// The records of states that are run.
    pub tabulated: u64,
}

/// The source of the records.
#[derive(Clone, Copy)]
pub(in crate::safetab) struct RecordSource<'a> {
    /// The path given by the user.
    pub path: &'a Path,
    /// The files there; empty for edited files, which are found with the public inputs.
    pub files: &'a RecordFiles,
    /// The file for records of edited files in the simple form, if they are written.
    pub stage: Option<&'a Path>,
}

/// A callback for every record that breaks no rule.
pub(in crate::safetab) type SeeRecord<'a> = dyn FnMut(&CheckedRecord) -> Result<()> + 'a;

impl PublicInputs {
    /// Reads the inputs of both programs; also returns the whole geography, if it was reduced.
    pub(in crate::safetab) fn read(
        (specification, geography): (&Path, &Path),
        cef: Option<(&Path, &CefUnits)>,
        scope: &RunScope,
        records: RecordKind,
        report: &mut ValidationReport,
    ) -> Option<(PublicInputs, Option<Geography>)> {
        let specification = Specification::read(specification, scope, report);
        let whole = Geography::read(geography, scope, report);
        let (specification, whole) = specification.zip(whole)?;
        let Some((persons, units)) = cef else {
            return Some((PublicInputs { specification, geography: whole, cef: None }, None));
        };
        let cef = CefFiles::find(persons, &units.path, geography, report)?;
        let blocks = cef.blocks_with_units(records, report);
        if units.all_blocks {
            return Some((PublicInputs { specification, geography: whole, cef: Some(cef) }, None));
        }
        let mut said = report.empty_copy();
        let cut = Geography::read_where(geography, scope, |geoid| blocks.contains(&geoid), &mut said);
        // Violations of the file are reported once; that no block is left is a new one.
        if cut.as_ref().is_none_or(|cut| !cut.is_tabulated()) {
            report.append(said, 0);
        }
        Some((PublicInputs { specification, geography: cut?, cef: Some(cef) }, Some(whole)))
    }
}

impl InputPaths<'_> {
    pub(super) fn public(
        &self,
        scope: &RunScope,
        records: RecordKind,
        report: &mut ValidationReport,
    ) -> Option<(PublicInputs, Option<Geography>)> {
        PublicInputs::read((self.specification, self.geography), self.cef, scope, records, report)
    }

    /// The files of the bureau's programs, by their roles.
    pub(super) fn files(&self) -> Result<Vec<(String, PathBuf)>> {
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
        Ok(others.into_iter().chain(files).collect())
    }
}

/// SHA-256 of public inputs, by their roles.
pub(super) fn hashes(files: Vec<(String, PathBuf)>) -> Result<Vec<(String, String)>> {
    let hash = |(role, path): (String, PathBuf)| {
        let mut hasher = Sha256::new();
        hash_file(&path, &mut hasher, &mut |_| {})?;
        let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((role, digest))
    };
    files.into_iter().map(hash).collect()
}

/// Checks records of any source, calls `see` with those that break no rule, and returns their numbers. Calls `progress` with the number of
/// bytes or rows checked, and their total; zero if the total is not known.
pub(super) fn each_record<R: RecordRules>(
    cef: Option<&CefFiles>,
    kind: RecordKind,
    from: RecordSource,
    rules: impl Fn(&str) -> R,
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(u64, u64),
    see: &mut SeeRecord,
) -> Result<Checked> {
    let RecordSource { path, files, stage } = from;
    let found = match cef {
        Some(cef) => {
            let staged = stage.map(|stage| Staged::create(stage, rules("").headings())).transpose()?;
            see_edited(cef, kind, rules, staged, report, progress, see)?
        }
        None => {
            let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
            // The content length of compressed files is not known.
            let of = if files.text.iter().any(|path| is_compressed(path)) { 0 } else { files.all().map(size).sum() };
            see_records(
                path,
                rules,
                report,
                |done| progress(done, of),
                |records| records.iter().try_for_each(&mut *see),
            )?
        }
    };
    report_if_none(path, &found, report);
    Ok(Checked { records: found.records, tabulated: found.united_states + found.puerto_rico })
}

/// Checks records of edited files, passes them on and writes them in the simple form.
fn see_edited<R: RecordRules>(
    cef: &CefFiles,
    kind: RecordKind,
    rules: impl Fn(&str) -> R,
    mut staged: Option<Staged>,
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(u64, u64),
    see: &mut SeeRecord,
) -> Result<CheckedRecords> {
    let (mut found, own) = (CheckedRecords::default(), rules(""));
    let mut each = |fields: &[&[u8]], record: CheckedRecord| {
        found.records += 1;
        match record.block.and_then(|block| own.geography().pass(block)) {
            Some(Pass::UnitedStates) => found.united_states += 1,
            Some(Pass::PuertoRico) => found.puerto_rico += 1,
            None => {}
        }
        see(&record)?;
        staged.as_mut().map_or(Ok(()), |staged| staged.put(&fields.join(&b'|')))
    };
    cef.each_record(kind, rules, report, &mut each, &mut |done| progress(done, 0))?;
    staged.map_or(Ok(()), Staged::finish)?;
    Ok(found)
}

/// A file of records in the simple form, which only its owner can read.
struct Staged<'a> {
    path: &'a Path,
    out: BufWriter<File>,
}

impl<'a> Staged<'a> {
    fn create(path: &'a Path, headings: &[&str]) -> Result<Self> {
        let mut staged = Staged { path, out: create_private(path)? };
        staged.put(headings.join("|").as_bytes())?;
        Ok(staged)
    }

    fn put(&mut self, row: &[u8]) -> Result<()> {
        self.out.write_all(row).and_then(|()| self.out.write_all(b"\n")).map_err(|why| file_error(self.path, why))
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|why| file_error(self.path, why))
    }
}
