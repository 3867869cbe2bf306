//! All inputs, read and checked: what is public, and how many records of persons there are.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{
    engine::Engine,
    levels::{self, TabulatedLevel},
    person_files::{PersonFiles, hash_file},
};
use crate::{
    error::{Error, Result},
    safetab::{
        groups::{self, Specification},
        schema::{Geography, Pass, RowCheck, SafeTabConfig, ValidationReport, check_persons},
    },
};

/// Where the inputs are.
pub(super) struct InputPaths<'a> {
    /// config.json.
    pub config: &'a Path,
    /// The folder of the specification files.
    pub specification: &'a Path,
    /// A file of persons, or a folder of such.
    pub persons: &'a Path,
    /// GRF-C.txt.
    pub geography: &'a Path,
}

/// The public inputs, read.
pub(super) struct PublicInputs {
    /// config.json.
    pub config: SafeTabConfig,
    /// The four files of races, ethnicities and iterations.
    pub specification: Specification,
    /// GRF-C.txt.
    pub geography: Geography,
}

impl InputPaths<'_> {
    /// Reads and checks all inputs: what is public, and how many records there are. `progress` is told how many bytes or
    /// rows are checked, and of how many; zero if that is not known.
    pub(super) fn read(
        &self,
        files: &PersonFiles,
        engine: &Engine,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(PublicInputs, u64)> {
        let mut report = ValidationReport::new();
        let Some(config) = SafeTabConfig::read(self.config, &mut report) else { return refuse(report) };
        let specification = Specification::read(self.specification, &config, &mut report);
        let geography = Geography::read(self.geography, &config, &mut report);
        let (Some(specification), Some(geography)) = (specification, geography) else { return refuse(report) };
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
        let of = files.text.iter().map(size).sum();
        let mut records = 0;
        if !files.text.is_empty() {
            let tell = |done| progress(done, of);
            let persons = check_persons(self.persons, &config, &specification, &geography, &mut report, tell);
            records += persons.records;
        }
        for file in &files.parquet {
            let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let check = RowCheck::new(&name, &config, &specification, &geography);
            engine.each_record(file, &mut |number, fields| {
                records += u64::from(check.check(number, fields, &mut report).is_some());
                if number % 100_000 == 0 {
                    progress(number, 0);
                }
            })?;
        }
        report.into_result()?;
        Ok((PublicInputs { config, specification, geography }, records))
    }

    /// SHA-256 of each public input, by its role.
    pub(super) fn hashes(&self) -> Result<Vec<(String, String)>> {
        let files = groups::FILES.map(|name| (name.to_string(), self.specification.join(name)));
        let others = [
            ("configuration".to_string(), self.config.to_path_buf()),
            ("geography".to_string(), self.geography.to_path_buf()),
        ];
        let hash = |(role, path): (String, PathBuf)| {
            let mut hasher = Sha256::new();
            hash_file(&path, &mut hasher, &mut |_| {})?;
            let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((role, digest))
        };
        others.into_iter().chain(files).map(hash).collect()
    }
}

fn refuse<T>(report: ValidationReport) -> Result<T> {
    report.into_result()?;
    Err(Error::Input { report: "an input could not be read".to_string() })
}

impl PublicInputs {
    /// The passes that are run, with their levels.
    pub(super) fn passes(&self) -> Result<Vec<(Pass, Vec<TabulatedLevel>)>> {
        let mut passes = Vec::new();
        for pass in Pass::ALL {
            if self.config.runs(pass) {
                let levels = levels::levels(pass, &self.config, &self.specification, &self.geography)?;
                if !levels.is_empty() {
                    passes.push((pass, levels));
                }
            }
        }
        if passes.is_empty() {
            return Err(Error::out_of_range(
                "the budget",
                0,
                "a pass that is run and a level of it with a budget above 0",
            ));
        }
        Ok(passes)
    }
}
