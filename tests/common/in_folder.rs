//! The program run in a folder.

// Each test uses only a part.
#![allow(dead_code)]

use std::{path::Path, process::Command};

/// Exit status, standard output and standard error.
fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(folder).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Whether it succeeds, and all of its output with single blanks between words.
pub fn said(folder: &Path, words: &[&str]) -> (bool, String) {
    let (status, out, err) = run(folder, words);
    (status == Some(0), flat(&(out + &err)))
}

/// Whether it ends with status 0 or 1, and all of its output.
pub fn answered(folder: &Path, words: &[&str]) -> (bool, String) {
    let (status, out, err) = run(folder, words);
    (matches!(status, Some(0 | 1)), flat(&(out + &err)))
}

/// Its standard output; it must succeed.
pub fn done(folder: &Path, words: &[&str]) -> String {
    let (status, out, err) = run(folder, words);
    assert!(status == Some(0), "{words:?}: {err}");
    out
}

/// Its message on standard error with single blanks between words; it must fail.
pub fn refusal(folder: &Path, words: &[&str]) -> String {
    let (status, _, err) = run(folder, words);
    assert!(status == Some(2), "{words:?}: {err}");
    flat(&err)
}

/// It must fail with this message.
pub fn refused(folder: &Path, words: &[&str], expected: &str) {
    let err = refusal(folder, words);
    assert!(err.contains(expected), "{words:?}: {err}");
}

/// Text with single blanks between words, regardless of line breaks.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
