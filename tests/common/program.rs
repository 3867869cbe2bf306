//! The program run like by its users.

use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;

/// The program with these arguments, without environment variables that could change its answer.
pub fn assay(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("assay"));
    command.env_remove("ASSAY_FACTS").args(args);
    command
}

/// Its answer as JSON.
pub fn json(args: &[&str]) -> Value {
    let output = assay(args).arg("--json").assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("one JSON object")
}

/// The error message: it must be prompt, on standard error only, and no panic.
pub fn refusal(args: &[&str]) -> String {
    ended(args, 2)
}

/// What a search says that found nothing: an answer, with exit status 1, where a refusal of bad input has 2.
pub fn found_nothing(args: &[&str]) -> String {
    ended(args, 1)
}

/// What is said where there is no answer, for this reason: with exit status 1 where no epsilon is finite, else with 2.
pub fn unanswered(args: &[&str], why: &str) -> String {
    let message = if why.starts_with("no epsilon is finite") { found_nothing(args) } else { refusal(args) };
    assert!(message.contains(why), "{args:?}: {message}");
    message
}

fn ended(args: &[&str], status: i32) -> String {
    let output = assay(args).timeout(Duration::from_secs(60)).assert().code(status).get_output().clone();
    assert!(output.stdout.is_empty(), "{args:?} printed an answer and refused");
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!message.contains("panicked") && !message.trim().is_empty(), "{args:?}: {message}");
    message
}
