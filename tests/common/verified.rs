//! All published values verified once, for all tests that read what is printed: it takes a minute of a core.

use std::{fs, sync::OnceLock};

use super::program::assay;

/// The answer of `assay verify`.
pub struct Verified {
    /// What is printed; `--out` prints nothing more.
    pub summary: String,
    /// results/REPORT.md.
    pub report: String,
}

/// All published values verified, as in scripts/reproduce.
pub fn verified() -> &'static Verified {
    static VERIFIED: OnceLock<Verified> = OnceLock::new();
    VERIFIED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        // The command is part of the report: in a separate folder it is that of scripts/reproduce.
        let words = ["verify", "--out", "results", "--reproducible"];
        let verified = assay(&words).current_dir(folder.path()).assert().success();
        let summary = String::from_utf8(verified.get_output().stdout.clone()).expect("UTF-8");
        let report = fs::read_to_string(folder.path().join("results/REPORT.md")).expect("a report");
        Verified { summary, report }
    })
}
