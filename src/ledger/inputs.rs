//! The files that an account of a ledger reads, for the provenance of answers.

use std::path::{Path, PathBuf};

use super::{
    file::LedgerFile,
    log::log_path,
    new_entry::{file_in, kind_of},
};
use crate::release::bundled_text;

impl LedgerFile {
    /// Everything that decides an account beside the text of the ledger, each once: its log, and of each entry the file that describes it and those that the
    /// description rests on. A bundled release has its name. `own` is the name or path of the ledger.
    pub fn read_beside(&self, own: &str) -> Vec<String> {
        // The log stands beside the file itself, which a symbolic link may name.
        let logs = [PathBuf::from(format!("{own}.log")), log_path(Path::new(own))];
        let log = logs.iter().find(|log| bundled_text(own).is_none() && log.is_file());
        let log = log.map(|log| log.display().to_string());
        let entries = self.populations.iter().flat_map(|population| &population.entries);
        let mut names: Vec<String> = Vec::new();
        for name in log.iter().chain(entries.flat_map(|entry| std::iter::once(&entry.place).chain(&entry.beside))) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}

/// The file that decides what a release spends that is to be added: a bundled name, or a path; of a folder its certificate or its manifest.
pub fn description_of(release: &str) -> String {
    match bundled_text(release) {
        Some(_) => release.to_string(),
        None => file_in(kind_of(release).0, Path::new(release)).display().to_string(),
    }
}
