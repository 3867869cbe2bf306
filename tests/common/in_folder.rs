//! The program run in a folder.

// Each test takes what it needs.
#![allow(dead_code)]

use std::{path::Path, process::Command};

/// Its exit status, what it prints, and what it says on standard error.
fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(folder).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Whether it succeeds, and all that it says, with one blank between words.
pub fn said(folder: &Path, words: &[&str]) -> (bool, String) {
    let (status, out, err) = run(folder, words);
    (status == Some(0), flat(&(out + &err)))
}

/// Whether it answers, if only to say no, and what it says.
pub fn answered(folder: &Path, words: &[&str]) -> (bool, String) {
    let (status, out, err) = run(folder, words);
    (matches!(status, Some(0 | 1)), flat(&(out + &err)))
}

/// What it prints; it has to succeed.
pub fn done(folder: &Path, words: &[&str]) -> String {
    let (status, out, err) = run(folder, words);
    assert!(status == Some(0), "{words:?}: {err}");
    out
}

/// What it says on standard error when it refuses, as it has to, with one blank between words.
pub fn refusal(folder: &Path, words: &[&str]) -> String {
    let (status, _, err) = run(folder, words);
    assert!(status == Some(2), "{words:?}: {err}");
    flat(&err)
}

/// It has to refuse, and to say this.
pub fn refused(folder: &Path, words: &[&str], expected: &str) {
    let err = refusal(folder, words);
    assert!(err.contains(expected), "{words:?}: {err}");
}

/// With one blank between words, however lines were broken.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
