//! A folder with files of estimates from the bundled noisy measurement files.

// Each test uses only a part.
#![allow(dead_code)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    estimates::{self, Row},
    program::{assay, refusal},
};

/// The path of a bundled example.
pub fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/nmf").join(name).display().to_string()
}

/// A folder for estimates from noisy measurement files.
pub struct Desk {
    pub folder: tempfile::TempDir,
    pub nmf: String,
    pub release: &'static str,
}

impl Desk {
    /// On the bundled example.
    pub fn new() -> Desk {
        Desk { folder: tempfile::tempdir().unwrap(), nmf: example("US_Person_PL_PROD"), release: "pl94-persons-us" }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    /// The words of the command.
    pub fn words(&self, out: &str, options: &[&str]) -> Vec<String> {
        let out = self.path(out).display().to_string();
        let first = ["nmf", "estimate", &self.nmf, "--release", self.release, "--out", &out];
        first.iter().chain(options).map(|word| (*word).to_string()).collect()
    }

    /// The text of the file of estimates.
    pub fn run(&self, name: &str, options: &[&str]) -> String {
        let words = self.words(name, options);
        assay(&words.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Its rows.
    pub fn rows(&self, name: &str, options: &[&str]) -> Vec<Row> {
        estimates::rows(&self.run(name, options))
    }

    /// The message of a refusal, after which there is no file.
    pub fn refused(&self, options: &[&str]) -> String {
        let words = self.words("refused.csv", options);
        let why = refusal(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!self.path("refused.csv").exists(), "{why}");
        why
    }
}
