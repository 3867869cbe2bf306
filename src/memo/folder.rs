//! A memo as a folder of files, and its request.

use std::path::Path;

use rug::Rational;

use crate::{
    account::Delta,
    document::{Document, html, markdown},
    error::Result,
    io::{
        date::Date,
        files::{check_free, fill_folder, write_text},
        provenance::{Input, sha256_of_text},
    },
};

/// The request of a memo.
#[derive(Clone, Debug)]
pub struct Request {
    /// The delta of every epsilon.
    pub delta: Delta,
    /// Both ends of a number are within a relative distance of 10^-digits.
    pub digits: u32,
    /// The prior probability of presence for decisions and posteriors of events, where the memo of a release states them; of either answer under bounded neighbors.
    pub prior: Option<Rational>,
    /// With a prior: the posterior that outputs exceed with at most probability delta, in place of posteriors after events.
    pub of_outputs: bool,
    /// The type I error of tests, where the memo of a release states their power.
    pub alpha: Option<Rational>,
    /// The date of the memo.
    pub date: Date,
    /// The words of a command that writes the same memo.
    pub command: Vec<String>,
    /// Inputs that are not copied into the folder.
    pub inputs: Vec<Input>,
}

/// A file of a memo's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the folder.
    pub name: String,
    /// Its content.
    pub text: String,
    /// Its content in a few words.
    pub about: String,
}

impl File {
    /// The SHA-256 of its content.
    pub fn sha256(&self) -> String {
        sha256_of_text(&self.text)
    }
}

/// A memo, with everything that it refers to.
#[derive(Clone, Debug)]
pub struct Memo {
    /// The text.
    pub document: Document,
    /// The statement, in sentences.
    pub statement: Vec<String>,
    /// The files beside it: the certificates, the checker, and copies of the inputs.
    pub files: Vec<File>,
    /// The numbers that have no certificate, each with the reason.
    pub without_certificate: Vec<(String, String)>,
    /// Whether no printed value differs without an explanation; true for memos that judge none.
    pub agrees: bool,
}

/// The file with the hashes of all files of a folder but the two forms of the memo, which have its own hash.
pub(super) const SUMS: &str = "SHA256SUMS";

/// The text of [`SUMS`] for these files, in the form of `sha256sum`.
pub(super) fn sums(files: &[File]) -> String {
    let mut lines: Vec<String> = files.iter().map(|file| format!("{}  {}\n", file.sha256(), file.name)).collect();
    lines.sort_by(|a, b| a.split_once("  ").map(|(_, name)| name).cmp(&b.split_once("  ").map(|(_, name)| name)));
    lines.concat()
}

/// Refuses a folder that a memo cannot fill, before its numbers are computed.
pub fn check_folder(folder: &Path) -> Result<()> {
    check_free(folder)
}

impl Memo {
    /// The certificates.
    pub fn certificates(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.name.starts_with("certificates/"))
    }

    /// All files of the folder: the two forms of the memo, the files beside it, and `SHA256SUMS`, which lists these files beside it.
    pub fn all_files(&self) -> Vec<File> {
        let form = |name: &str, text: String| File { name: name.to_string(), text, about: "this memo".to_string() };
        let mut all = vec![
            form("memo.html", html::document(&self.document)),
            form("memo.md", markdown::document(&self.document)),
        ];
        all.extend(self.files.iter().cloned());
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let about = "the SHA-256 of all files but the memo".to_string();
        all.push(File { name: SUMS.to_string(), text: sums(&self.files), about });
        all
    }

    /// Writes the folder: complete, or not at all. A folder that holds files is refused.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fill_folder(folder, |folder| {
            self.all_files().iter().try_for_each(|file| write_text(&folder.join(&file.name), &file.text))
        })
    }
}
