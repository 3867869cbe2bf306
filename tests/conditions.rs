//! Every answer about Poisson samples, and about counts that change by exactly a number, states the condition under which it holds: in words and in JSON.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::common::program::assay;

/// The text that a mechanism's answers have.
const LAWS: [(&[&str], &str); 2] = [
    (&["--sampled", "0.1:gaussian:4x10"], "samples are fresh and secret Poisson samples"),
    (&["--discrete-gaussian", "20x3@=2"], "change by exactly 2"),
];

/// The commands that account for such mechanisms, without the mechanism.
const COMMANDS: [&[&str]; 9] = [
    &["epsilon", "--delta", "1e-6"],
    &["delta", "--epsilon", "1"],
    &["curve", "--from", "0.5", "--to", "1", "--points", "2"],
    &["tradeoff", "--alpha", "0.1"],
    &["compare", "--delta", "1e-6"],
    &["explain", "--delta", "1e-6"],
    &["calibrate", "--scale-all", "--decimals", "1", "--advantage", "0.1"],
    &["risk", "bound", "--prior", "1/2", "--delta", "1e-6"],
    &["risk", "curve", "--prior", "1/2", "--alpha", "0.1"],
];

/// What the program prints, with line breaks as spaces.
fn printed(args: &[&str]) -> String {
    let out = assay(args).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(out).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_states_the_condition_in_words_and_in_json() {
    for (law, condition) in LAWS {
        for command in COMMANDS {
            let args = [command, law].concat();
            assert!(printed(&args).contains(condition), "{args:?}");
            let json: Value = serde_json::from_str(&printed(&[&args[..], &["--json"]].concat())).unwrap();
            let stated = json["conditions"].as_array().unwrap_or_else(|| panic!("{args:?}: no conditions in {json}"));
            assert!(stated.iter().any(|stated| stated.as_str().unwrap().contains(condition)), "{args:?}: {stated:?}");
        }
    }
    assert!(!printed(&["epsilon", "--discrete-gaussian", "20x3@2", "--delta", "1e-6"]).contains("exactly 2"));
}

#[test]
fn reports_and_memos_state_it_too() {
    for (law, condition) in LAWS {
        let folder = tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let text = |name: &str| {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assay(&[&["report", "--delta", "1e-6", "--out", &path("report.html")], law].concat()).assert().success();
        assert!(text("report.html").contains(condition), "{law:?}");
        assay(&[&["memo", "--delta", "1e-6", "--out", &path("memo")], law].concat()).assert().success();
        let memo = text("memo/memo.md");
        let statement = memo.split("## Statement").nth(1).unwrap().split("## ").next().unwrap();
        assert!(statement.contains(condition), "{law:?}: {statement}");
    }
}

#[test]
fn a_ledger_of_samples_states_it() {
    let folder = tempdir().unwrap();
    let release = "name = \"dp-sgd\"\ntitle = \"A run\"\nsource = \"made up\"\nneighbors = \"add-remove\"\n\n[[level]]\nname = \"run\"\n[[level.query]]\n\
                   name = \"steps\"\nlaw = \"sampled-gaussian\"\nrate = \"0.01\"\nsigma2 = 1\ntimes = 100\n";
    let ledger = "name = \"runs\"\ntitle = \"Runs\"\nsource = \"made up\"\nrule = \"Every record.\"\n\n[[population]]\nname = \"records\"\n\
                  neighbors = \"add-remove\"\nreleases = [\"dp-sgd.toml\"]\n";
    fs::write(folder.path().join("dp-sgd.toml"), release).unwrap();
    fs::write(folder.path().join("runs.toml"), ledger).unwrap();
    let path = folder.path().join("runs.toml").display().to_string();
    let condition = LAWS[0].1;
    let args = ["ledger", &path, "--delta", "1e-6"];
    assert!(printed(&args).contains(condition));
    let json: Value = serde_json::from_str(&printed(&[&args[..], &["--json"]].concat())).unwrap();
    let stated = &json["populations"][0]["composed"]["conditions"][0];
    assert!(stated.as_str().unwrap().contains(condition), "{json}");
}
