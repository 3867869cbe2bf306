//! Guarantees under another relation than their own: a record that changes is two, one that leaves and one that enters; of a guarantee about a change nothing
//! follows for one record more or less.

use std::{fs, path::PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::program::{assay, json};

/// A release file with one query.
fn release(folder: &TempDir, neighbors: &str, query: &str) -> String {
    let path: PathBuf = folder.path().join("release.toml");
    let text = format!(
        "name = 'r'\ntitle = 'r'\nsource = 'r'\nneighbors = '{neighbors}'\n[[level]]\nname = 'all'\nquery = [{{ name = 'q', {query} }}]\n"
    );
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn ends(answer: &Value) -> [f64; 2] {
    ["lower", "upper"].map(|end| answer["epsilon"][end].as_f64().unwrap())
}

#[test]
fn a_guarantee_about_a_change_says_nothing_about_one_record_more() {
    let folder = TempDir::new().unwrap();
    for query in [
        "law = 'pure', epsilon = '1'",
        "law = 'approximate', epsilon = '1', delta = '1e-9'",
        "law = 'exponential', epsilon = '1'",
        "law = 'randomized-response', epsilon = '1', answers = 2",
    ] {
        let file = release(&folder, "bounded", query);
        for command in [
            &["epsilon", "--delta", "1e-6"][..],
            &["delta", "--epsilon", "1"],
            &["tradeoff", "--alpha", "0.1"],
            &["risk", "bound", "--prior", "1/2"],
        ] {
            let words = [command, &["--release", &file, "--neighbors", "add-remove"]].concat();
            let output = assay(&words).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                output.status.code() == Some(2) && error.contains("nothing about one record more or less"),
                "{query}: {error}"
            );
            assert!(assay(&[command, &["--release", &file]].concat()).output().unwrap().status.success(), "{query}");
        }
    }
}

/// Against the same mechanism given one by one: two bits, a group of two, twice the range.
#[test]
fn a_changed_record_is_two_records_for_a_guarantee() {
    let folder = TempDir::new().unwrap();
    for (query, same) in [
        ("law = 'randomized-response', epsilon = '1', answers = 2", &["--randomized-response", "1x2"][..]),
        ("law = 'randomized-response', epsilon = '1', answers = 3, cells = 2", &["--randomized-response", "1:3x4"]),
        ("law = 'pure', epsilon = '1'", &["--pure", "2"]),
        ("law = 'approximate', epsilon = '1', delta = '1e-6'", &["--approximate", "1:1e-6", "--group", "2"]),
    ] {
        let file = release(&folder, "add-remove", query);
        let delta = ["--delta", "1e-4"];
        let ours = json(&[&["epsilon", "--release", &file, "--neighbors", "bounded"][..], &delta].concat());
        let theirs = json(&[&["epsilon"][..], same, &delta].concat());
        let [ours, theirs] = [ends(&ours), ends(&theirs)];
        // Both enclose the same number.
        assert!(
            ours[0] <= theirs[1] && theirs[0] <= ours[1] && ours[1] - ours[0] < 1e-9,
            "{query}: {ours:?} {theirs:?}"
        );
    }
}

/// The ledger of a bounded population takes it likewise, and says that its epsilon is an upper bound.
#[test]
fn a_ledger_of_changed_records_takes_responses_twice() {
    let folder = TempDir::new().unwrap();
    let file = release(&folder, "add-remove", "law = 'randomized-response', epsilon = '1', answers = 2");
    let ledger = folder.path().join("l.toml").display().to_string();
    fs::write(
        &ledger,
        format!("name = 'l'\ntitle = 'l'\nsource = 'l'\nrule = 'all compose'\n[[population]]\nname = 'p'\nneighbors = 'bounded'\nreleases = ['{file}']\n"),
    )
    .unwrap();
    let answer = json(&["ledger", &ledger, "--delta", "1e-4"]);
    let composed = &answer["populations"][0]["composed"];
    // Two bits that flip: by enumeration 1.99981287 at 1e-4.
    let [lower, upper] = ends(composed);
    assert!(lower < 1.999_812_88 && upper > 1.999_812_86 && upper - lower < 1e-7, "{answer}");
    assert!(composed["may_be_more_private"].as_str().is_some_and(|why| why.contains("twice")), "{answer}");
}
