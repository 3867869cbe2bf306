//! A certificate agrees with the program's answers, and another program proves it: proofs/check.py, if Python is available.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::common::program::{assay, json, refusal, unanswered};

/// A release of which only the budget is known.
const BUDGET_ONLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/budget-only.toml");

fn proofs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs")
}

/// The output of a Python program of the folder proofs; `None`, with a note, without Python.
fn python(program: &str, args: &[&str]) -> Option<Output> {
    python_with(program, args, &[])
}

fn python_with(program: &str, args: &[&str], variables: &[(&str, &str)]) -> Option<Output> {
    let known = Command::new("python3").args(["-c", "import math; math.lcm(1, 2)"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 of version 3.9 or newer");
        return None;
    }
    // Do not write compiled modules beside the source.
    let mut command = Command::new("python3");
    command.args(["-I", "-B"]).arg(proofs().join(program)).args(args).envs(variables.iter().copied());
    let output = command.output();
    Some(output.expect("python3 runs"))
}

/// Subjects: compositions that cover every branch of the checker and are fast.
const SUBJECTS: &[(&str, &[&str])] = &[
    ("ten-counts", &["--discrete-gaussian", "5x10", "--delta", "1e-11"]),
    ("whole-release", &["--release", "su-su-wang-2025", "--delta", "1e-10", "--digits", "12"]),
    ("laplace", &["--discrete-laplace", "0.3x10@2", "--epsilon", "2"]),
    ("both-laws", &["--discrete-laplace", "1/3x4@3", "--discrete-gaussian", "5x3@2", "--delta", "1e-6"]),
    ("little-noise", &["--discrete-gaussian", "0.05x3", "--discrete-gaussian", "1/8", "--epsilon", "1"]),
    ("side-lobes", &["--discrete-gaussian", "500/73x10", "--discrete-gaussian", "2500/137x6", "--delta", "1e-10"]),
    (
        "line",
        &[
            "--discrete-gaussian",
            "5.00001x10",
            "--discrete-gaussian",
            "37.123457x60",
            "--delta",
            "1e-8",
            "--digits",
            "5",
        ],
    ),
    ("bounded", &["--discrete-gaussian", "5x10", "--neighbors", "bounded", "--group", "2", "--delta", "1e-5"]),
    ("small-delta", &["--discrete-gaussian", "5x10", "--epsilon", "40"]),
    ("tradeoff", &["--release", "su-su-wang-2025", "--alpha", "0.05"]),
    ("tradeoff-mirrored", &["--discrete-gaussian", "5x10", "--alpha", "0.7"]),
    ("tradeoff-atoms", &["--discrete-laplace", "0.3x10@2", "--alpha", "0.5"]),
    (
        "atoms",
        &[
            "--discrete-gaussian",
            "5.00001x10",
            "--discrete-gaussian",
            "37.123457x60",
            "--delta",
            "1e-8",
            "--digits",
            "15",
        ],
    ),
    ("continuous", &["--gaussian", "5x10", "--gaussian", "40@3", "--delta", "1e-11", "--digits", "20"]),
    ("continuous-delta", &["--gaussian", "5x10", "--epsilon", "9"]),
    ("continuous-tradeoff", &["--gaussian", "5x10", "--alpha", "0.2"]),
    ("no-epsilon", &["--discrete-gaussian", "5000000", "--delta", "1/100"]),
    ("table", &["--table", "proofs/examples/odd.csvx10", "--delta", "1/4", "--digits", "12"]),
    ("table-bounded", &["--table", "proofs/examples/odd.csvx2", "--neighbors", "bounded", "--epsilon", "3"]),
    ("table-group", &["--table", "proofs/examples/odd.csvx3", "--group", "2", "--epsilon", "1/2"]),
    ("table-tradeoff", &["--table", "proofs/examples/odd.csvx2", "--alpha", "0.2", "--digits", "5"]),
    ("two-tables", &["--table", "proofs/examples/odd.csvx2", "--table", "proofs/examples/odd.csv@2", "--epsilon", "1"]),
    ("pure", &["--pure", "0.5x48", "--delta", "1e-9"]),
    // Close to the largest loss, beyond which delta is zero.
    ("near-largest-loss", &["--pure", "1x5", "--delta", "1e-3"]),
    ("near-largest-loss-of-laplace", &["--discrete-laplace", "1x5", "--delta", "1e-3"]),
    ("pure-group", &["--pure", "0.5x4", "--group", "2", "--epsilon", "1"]),
    ("responses", &["--pure", "1", "--randomized-response", "1x2", "--epsilon", "1"]),
    ("approximate", &["--approximate", "1:1e-9x30", "--delta", "1e-6"]),
    (
        "approximate-tradeoff",
        &["--approximate", "1:1e-3x5", "--discrete-gaussian", "5x3", "--alpha", "0.1", "--digits", "6"],
    ),
    (
        "beside-pairs-of-paths",
        &["--release", "tests/common/two-paths.toml", "--approximate", "0.1:1e-8", "--delta", "1e-6", "--digits", "4"],
    ),
    (
        "all-laws",
        &[
            "--table",
            "proofs/examples/odd.csvx2",
            "--approximate",
            "1/2:1e-5x2",
            "--pure",
            "1/3",
            "--discrete-gaussian",
            "5x3",
            "--discrete-laplace",
            "1/3@2",
            "--delta",
            "1/5",
        ],
    ),
];

fn prove(args: &[&str], out: &Path) -> serde_json::Value {
    let mut all = vec!["prove", "--reproducible", "--out", out.to_str().unwrap()];
    all.extend(args);
    json(&all)
}

#[test]
fn certified_claims_are_proven_again() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args) in SUBJECTS {
        let file = folder.path().join(format!("{name}.json"));
        let answer = prove(args, &file);
        // The ends contain those of the other commands.
        let about = ["--delta", "--epsilon", "--alpha"].iter().position(|flag| args.contains(flag)).unwrap();
        let (about, command) = [("epsilon", "epsilon"), ("delta", "delta"), ("beta", "tradeoff")][about];
        let plain: Vec<&str> = args.iter().copied().take_while(|arg| *arg != "--digits").collect();
        let said = json(&[&[command, "--digits", "18"], &plain[..]].concat());
        let number = |value: &serde_json::Value| value.to_string().parse::<f64>().unwrap();
        // Without a direction the hull of both, where they differ.
        let own = if answer["hull"].is_object() { "hull" } else { about };
        let (lower, upper) = (number(&answer[own]["lower"]), number(&answer[own]["upper"]));
        let (below, above) = match own {
            "hull" => (&said["hull_lower"][0], &said["hull_upper"][0]),
            "beta" => (&said["beta_lower"][0], &said["beta_upper"][0]),
            about => (&said[about]["lower"], &said[about]["upper"]),
        };
        assert!(lower <= number(below) && number(above) <= upper, "{name}: {answer} {said}");
        let digits = args.iter().position(|arg| *arg == "--digits").map_or(9, |at| args[at + 1].parse().unwrap());
        assert!(upper == 0.0 || upper - lower <= 10_f64.powi(-digits) * upper, "{name}: {answer}");
        // The same bytes again.
        let text = fs::read(&file).unwrap();
        prove(args, &file);
        assert_eq!(fs::read(&file).unwrap(), text, "{name}");
        let Some(output) = python("check.py", &[file.to_str().unwrap()]) else { continue };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.contains("proven"),
            "{name}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The checker's own tests: arithmetic and theorems.
#[test]
fn the_checker_keeps_its_bounds() {
    let Some(output) = python("test_check.py", &[]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = fs::read_to_string(proofs().join("check.py")).unwrap().lines().count();
    // 700 for certificates, and 180 for the Statement of a memo, which they bear, and its folder.
    assert!(lines <= 880, "{lines} lines");
}

/// Forged certificates are refused, planted faults of the checker are found, and long checks are refused at once.
#[test]
fn forged_certificates_are_refused() {
    let Some(output) = python_with("test_forger.py", &[], &[("ASSAY_FORGE", "200")]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Certificates with thousands of different changes.
#[test]
fn changed_certificates_are_refused() {
    changed(1_500);
}

#[test]
#[ignore = "more than ten thousand changes: one minute"]
fn ten_thousand_changed_certificates_are_refused() {
    changed(11_500);
}

/// Changes certificates about this often; a few changes leave a certificate as it was.
fn changed(times: u32) {
    let Some(output) = python_with("test_tampering.py", &[], &[("ASSAY_TAMPER", &times.to_string())]) else { return };
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{wrong}");
    let many = said.lines().find_map(|line| line.strip_suffix(" changed certificates, sealed again"));
    println!("{said}");
    assert!(many.and_then(|many| many.parse::<u32>().ok()) >= Some(times / 10 * 9), "{said}");
}

/// Two counts of a table that is not symmetric.
const ODD: &str = "proofs/examples/odd.csvx2";

/// The certificates of proofs/examples by their names, and the options of their claims.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("ten-counts", &["--discrete-gaussian", "5x10", "--delta", "1e-11"]),
    ("laplace", &["--discrete-laplace", "0.3x10@2", "--epsilon", "2", "--digits", "6"]),
    ("whole-release", &["--release", "su-su-wang-2025", "--delta", "1e-10"]),
    (
        "line",
        &[
            "--discrete-gaussian",
            "5.00001x10",
            "--discrete-gaussian",
            "37.123457x60",
            "--discrete-gaussian",
            "11.7x9",
            "--discrete-gaussian",
            "13.30003x9",
            "--delta",
            "1e-8",
            "--digits",
            "4",
        ],
    ),
    ("two-paths", &["--release", "proofs/examples/two-paths.toml", "--delta", "1e-6", "--digits", "5"]),
    (
        "events-paths",
        &["--release", "proofs/examples/two-paths.toml", "--prior", "1/5", "--delta", "1/3", "--digits", "4"],
    ),
    ("tradeoff", &["--discrete-gaussian", "5x10", "--alpha", "0.05", "--digits", "6"]),
    ("tradeoff-atoms", &["--discrete-laplace", "0.3x4@2", "--alpha", "0.25", "--digits", "6"]),
    (
        "calibration",
        &["--discrete-gaussian", "5x10", "--calibrate", "--delta", "1e-11", "--epsilon", "10", "--decimals", "6"],
    ),
    (
        "match-zcdp",
        &["--discrete-gaussian", "5x10", "--calibrate", "--delta", "1e-11", "--match", "zcdp", "--decimals", "6"],
    ),
    ("posterior", &["--row", "kazan-reiter-2023/section-4.3-posterior-alone"]),
    ("zcdp", &["--row", "su-su-wang-2025/figure-3-state-bureau-1e-5"]),
    ("continuous", &["--gaussian", "5x10", "--delta", "1e-11"]),
    ("orders", &["--row", "census-2020/pl94-persons-us-total-rounded"]),
    ("marginal", &["--row", "kazan-reiter-2023/table-5-posterior-prior-1-10"]),
    ("table", &["--table", "proofs/examples/odd.csvx3", "--epsilon", "1"]),
    (
        "table-mixed",
        &[
            "--discrete-gaussian",
            "5x3",
            "--table",
            "proofs/examples/odd.csvx2@2",
            "--approximate",
            "1:1e-6",
            "--delta",
            "0.3",
            "--digits",
            "6",
        ],
    ),
    (
        "guarantees",
        &[
            "--approximate",
            "1:1e-6x2",
            "--pure",
            "1/2",
            "--discrete-gaussian",
            "5x3",
            "--delta",
            "1e-5",
            "--digits",
            "6",
        ],
    ),
    ("decision-presence", &["--table", ODD, "--prior", "0.3", "--direction", "with"]),
    ("decision-absence", &["--table", ODD, "--prior", "0.3", "--direction", "without"]),
    ("decision-both", &["--table", ODD, "--prior", "0.3"]),
    ("decision-gaussian", &["--discrete-gaussian", "5x10", "--prior", "0.1"]),
    ("events-presence", &["--table", ODD, "--prior", "0.2", "--delta", "0.1", "--direction", "with"]),
    ("events-absence", &["--table", ODD, "--prior", "0.2", "--delta", "0.1", "--direction", "without"]),
    ("events-gaussian", &["--discrete-gaussian", "5x10", "--prior", "0.1", "--delta", "1e-6"]),
    ("events-continuous", &["--gaussian", "5x10", "--prior", "0.1", "--delta", "0.01"]),
    (
        "outputs-presence",
        &["--table", ODD, "--prior", "0.2", "--delta", "0.2", "--of", "outputs", "--direction", "with"],
    ),
    (
        "outputs-absence",
        &["--table", ODD, "--prior", "0.2", "--delta", "0.2", "--of", "outputs", "--direction", "without"],
    ),
    ("outputs-both", &["--table", ODD, "--prior", "0.2", "--delta", "0.2", "--of", "outputs"]),
    ("outputs-gaussian", &["--discrete-gaussian", "5x10", "--prior", "0.1", "--delta", "1e-6", "--of", "outputs"]),
    ("outputs-continuous", &["--gaussian", "5x10", "--prior", "0.1", "--delta", "0.01", "--of", "outputs"]),
    ("power-presence", &["--table", ODD, "--alpha", "0.1", "--direction", "with"]),
    ("power-absence", &["--table", ODD, "--alpha", "0.1", "--direction", "without"]),
    ("power-gaussian", &["--discrete-gaussian", "5x10", "--alpha", "0.01", "--direction", "with"]),
    ("delta-presence", &["--table", ODD, "--epsilon", "1/2", "--direction", "with"]),
    ("delta-absence", &["--table", ODD, "--epsilon", "1/2", "--direction", "without"]),
    (
        "two-groups",
        &["--discrete-gaussian", "5.00001x2", "--discrete-gaussian", "7.123457x3", "--delta", "1e-8", "--digits", "6"],
    ),
];

/// Claims of one direction, decisions and posteriors of events against their definition; and false ones, which the program itself refutes as well.
#[test]
fn false_claims_of_directions_decisions_and_events_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let Some(output) = python_with("test_claims.py", &[], &[("ASSAY_FORGED", path)]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assay(&["verify", "--certificates", proofs().join("examples").to_str().unwrap()]).assert().success();
    let said = assay(&["verify", "--json", "--certificates", path]).assert().code(1).get_output().stdout.clone();
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    let rows = said["certificates"].as_array().unwrap();
    assert!(rows.len() > 300, "{}", rows.len());
    for row in rows {
        let found = row["recomputed"].as_str().unwrap();
        assert!(["refused", "the lower end is wrong", "the upper end is wrong"].contains(&found), "{row}");
    }
}

/// The certificates of proofs/examples, which those tests modify, are what the program writes.
#[test]
fn examples_are_written_again_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let release = fs::read_to_string(proofs().join("examples/two-paths.toml")).unwrap();
    assert!(release.contains("droppable"));
    for (name, args) in EXAMPLES {
        let file = folder.path().join(format!("{name}.json"));
        prove(args, &file);
        let kept = proofs().join(format!("examples/{name}.json"));
        assert!(fs::read(&file).unwrap() == fs::read(&kept).unwrap(), "{} is not what is written", kept.display());
    }
}

/// The list of results/certificates: a name and the arguments of `assay prove`.
fn listed() -> Vec<(String, Vec<String>)> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/certificates/list.txt");
    let text = fs::read_to_string(list).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let words = lines.map(|line| line.split(' ').map(String::from).collect::<Vec<String>>());
    words.map(|mut words| (words.remove(0), words)).collect()
}

/// Every certificate of results/certificates exists; the fast ones are written again and proven again.
#[test]
fn kept_certificates_are_written_and_proven_again() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("results/certificates/{name}.json"));
    let listed = listed();
    assert!(listed.len() >= 50);
    let mut quick = Vec::new();
    for (name, args) in &listed {
        assert!(kept(name).is_file(), "{name}");
        let is_quick =
            ["su-su-wang", "ddhca", "row-su-su-wang", "row-sieve-quadrature-2026-main-pair", "row-kazan", "row-census"];
        if !is_quick.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let file = folder.path().join(format!("{name}.json"));
        prove(&args.iter().map(String::as_str).collect::<Vec<&str>>(), &file);
        assert!(fs::read(&file).unwrap() == fs::read(kept(name)).unwrap(), "{name} is not what is written");
        quick.push(file.to_str().unwrap().to_string());
    }
    let answer = json(&["verify", "--certificates", folder.path().to_str().unwrap()]);
    let rows = answer["certificates"].as_array().unwrap();
    assert_eq!(rows.len(), quick.len());
    assert!(rows.iter().all(|row| row["recomputed"] == "both ends hold" && row["seal"] == "whole"), "{answer}");
    if let Some(output) = python("check.py", &quick.iter().map(String::as_str).collect::<Vec<&str>>()) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.matches(": proven").count() == quick.len(), "{said}");
    }
}

/// `scripts/certificates --check` has proven all of them, each within the two minutes that the guide states.
#[test]
fn kept_certificates_were_all_proven_in_two_minutes_each() {
    let times = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/certificates/times.csv");
    let text = fs::read_to_string(times).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let mut listed: Vec<String> = listed().into_iter().map(|(name, _)| name).collect();
    listed.sort();
    let mut named: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    named.sort_unstable();
    assert_eq!(named, listed);
    for row in rows {
        assert!(row[3] == "proven" && row[1].parse::<f64>().unwrap() < 120.0, "{row:?}");
    }
}

/// The calibrated noise is that of `assay calibrate`, and both statements about it are proven; so is a row of a paper.
#[test]
fn calibrations_and_rows_are_proven_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(format!("{name}.json"));
    let level = ["--release", "su-su-wang-2025", "--level", "State", "--delta", "1e-11", "--match", "zcdp"];
    let answer = prove(&[&["--calibrate"], &level[..]].concat(), &file("state"));
    let said = json(&[&["calibrate"], &level[..]].concat());
    let number = |value: &serde_json::Value| value.to_string().parse::<f64>().unwrap();
    let (before, after) = (number(&said["levels"][0]["sigma2"]), number(&said["levels"][0]["calibrated_sigma2"]));
    let enough = number(&answer["factor"]["upper"]) * before;
    assert!((enough - after).abs() < 1e-9, "{answer} {said}");
    assert!((enough - number(&answer["factor"]["lower"]) * before - 0.01).abs() < 1e-9, "{answer}");
    prove(
        &["--discrete-gaussian", "5x10", "--calibrate", "--scale-all", "--delta", "1e-5", "--epsilon", "6"],
        &file("factor"),
    );
    let pair = prove(&["--row", "sieve-quadrature-2026/main-pair-1e-10", "--digits", "6"], &file("row"));
    assert!(pair["delta"]["lower"].is_number(), "{pair}");
    let names = ["state", "factor", "row"].map(|name| file(name).to_str().unwrap().to_string());
    let answer = json(&["verify", "--certificates", folder.path().to_str().unwrap()]);
    assert!(
        answer["certificates"].as_array().unwrap().iter().all(|row| row["recomputed"] == "both ends hold"),
        "{answer}"
    );
    if let Some(output) = python("check.py", &names.each_ref().map(String::as_str)) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.matches(": proven").count() == 3, "{said}");
    }
}

#[test]
fn a_folder_without_certificates_and_a_broken_seal_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();
    assert!(refusal(&["verify", "--certificates", at]).contains(".json"));
    assert!(refusal(&["verify", "--certificates", "/no/such/folder"]).contains("--certificates"));
    let file = folder.path().join("one.json");
    prove(&["--discrete-gaussian", "5x10", "--delta", "1e-5"], &file);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"count\":10", "\"count\":11", 1)).unwrap();
    // The row has its own certificate; the exit status is that of a failed check.
    let output = assay(&["verify", "--certificates", at]).assert().code(1).get_output().stdout.clone();
    let shown = String::from_utf8(output).unwrap();
    assert!(shown.contains("one.json") && shown.contains("SHA-256") && shown.contains("refused"), "{shown}");
}

/// Options of claims without a certificate, and a part of the message.
const UNSUPPORTED: &[(&[&str], &str)] = &[
    (&["--gaussian", "5", "--discrete-gaussian", "5", "--delta", "1e-5"], "continuous"),
    (&["--gaussian", "1e-4", "--delta", "1e-5"], "100 standard deviations"),
    (&["--discrete-laplace", "0.1", "--epsilon", "3"], "delta is zero"),
    (&["--discrete-gaussian", "5", "--epsilon", "200"], "fractions of more than"),
    (&["--approximate", "1:1e-6", "--delta", "1e-6"], "the probability of the outputs of infinite loss"),
    (&["--approximate", "1:1e-6x2", "--delta", "0.000001999999"], "the probability of the outputs of infinite loss"),
    (&["--truncated-laplace", "1:5", "--delta", "1/2"], "irrational"),
    (&["--truncated-gaussian", "5:9", "--delta", "1/2"], "irrational"),
    (&["--randomized-response", "1:3", "--delta", "1e-3"], "irrational"),
    (&["--laplace", "4", "--delta", "1e-3"], "density"),
    (&["--exponential", "1", "--delta", "1e-3"], "density"),
    (&["--sampled", "1/10:gaussian:5", "--delta", "1e-3"], "Poisson"),
    (&["--table", "proofs/examples/odd.csvx10", "--delta", "1e-3"], "no epsilon is finite"),
    (&["--table", "proofs/examples/odd.csvx500", "--epsilon", "1"], "enumerating all outcomes"),
    (&["--table", "proofs/examples/odd.csvx1001", "--epsilon", "1"], "1000 counts with one table"),
    (
        &["--table", "proofs/examples/odd.csv", "--calibrate", "--scale-all", "--delta", "1/2", "--epsilon", "1"],
        "no scale",
    ),
    (
        &["--approximate", "1:1e-9", "--calibrate", "--scale-all", "--delta", "1e-6", "--epsilon", "1/2"],
        "there is no scale",
    ),
    (&["--approximate", "1:1e-9x1001", "--delta", "1e-3"], "1000 guarantees"),
    (&["--pure", "1e-5", "--delta", "1e-6"], "from 1e-4"),
    (
        &[
            "--discrete-gaussian",
            "5.00001x10",
            "--discrete-gaussian",
            "37.123457x60",
            "--discrete-gaussian",
            "11.70003x9",
            "--discrete-gaussian",
            "13.30007x9",
            "--discrete-gaussian",
            "900.10009x9",
            "--discrete-gaussian",
            "401.30011x9",
            "--delta",
            "1e-8",
            "--digits",
            "15",
        ],
        "checker",
    ),
    (&["--discrete-gaussian", "5", "--delta", "2"], "--delta"),
    (&["--discrete-gaussian", "5", "--alpha", "1"], "--alpha"),
    (&["--discrete-gaussian", "5", "--alpha", "0.1", "--delta", "1e-5"], "--alpha"),
    (&["--discrete-gaussian", "5", "--calibrate", "--epsilon", "1"], "--calibrate"),
    (&["--discrete-gaussian", "5", "--calibrate", "--delta", "1e-5"], "--match"),
    (&["--discrete-gaussian", "5", "--match", "zcdp", "--delta", "1e-5"], "--calibrate"),
    (&["--row", "su-su-wang-2025"], "PAPER/ID"),
    (&["--row", "su-su-wang-2025/no-such-value"], "no-such-value"),
    (&["--row", "su-su-wang-2025/x", "--delta", "1e-5"], "--row"),
    (&["--discrete-gaussian", "5"], "--delta"),
    (&["--discrete-gaussian", "5", "--delta", "1e-5", "--epsilon", "1"], "--epsilon"),
    (&["--release", BUDGET_ONLY, "--delta", "1e-5"], "budget"),
];

#[test]
fn unsupported_claims_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("certificate.json");
    let out = out.to_str().unwrap();
    for (args, said) in UNSUPPORTED {
        unanswered(&[&["prove", "--out", out], *args].concat(), said);
        assert!(!Path::new(out).exists());
    }
    let folder = folder.path().to_str().unwrap();
    let message = refusal(&["prove", "--discrete-gaussian", "5x10", "--delta", "1e-5", "--out", folder]);
    assert!(message.contains("folder"), "{message}");
}

/// A certificate names the program, its version and the release file; the checker prints them as labels. The commit is null on request.
#[test]
fn a_certificate_names_the_program_and_the_release_file() {
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("own.toml");
    // A title with a line that the checker could print, and a blank that is none in ASCII: a label is shown in one line.
    let text = fs::read_to_string(proofs().join("examples/two-paths.toml")).unwrap();
    let title = text.lines().find(|line| line.starts_with("title")).unwrap();
    let text = text.replace(title, "title = \"own\\u00a0release\\u202e\"");
    fs::write(&release, &text).unwrap();
    let file = folder.path().join("own.json");
    let answer = prove(&["--release", release.to_str().unwrap(), "--delta", "1e-6", "--digits", "5"], &file);
    let source = &answer["source"];
    assert_eq!(
        (source["program"].as_str(), source["version"].as_str()),
        (Some("assay"), Some(env!("CARGO_PKG_VERSION")))
    );
    assert!(source["commit"].is_null());
    assert_eq!(source["release_sha256"], dp_assay::provenance::sha256(&release).unwrap());
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((&written["source"], written["certificate"].as_str()), (source, Some("assay 4")));
    for reserved in ["direction", "infinite", "laws"] {
        assert!(written["claim"].as_object().unwrap()[reserved].is_null());
    }
    let counts = prove(&["--discrete-gaussian", "5x10", "--delta", "1e-6"], &file.with_file_name("counts.json"));
    assert!(counts["source"]["release_sha256"].is_null());
    let Some(output) = python("check.py", &[file.to_str().unwrap()]) else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    let sha256 = source["release_sha256"].as_str().unwrap();
    assert!(output.status.success() && said.contains(&format!("release_sha256: {sha256}")), "{said}");
    assert!(said.contains("own\\u{a0}release\\u{202e}") && said.contains("program: assay"), "{said}");
}

/// Certificates of the format before are read, by this program and by the checker.
#[test]
fn certificates_of_the_old_format_are_still_read() {
    let old = proofs().join("old/assay-3.json");
    let folder = tempfile::tempdir().unwrap();
    fs::copy(&old, folder.path().join("old.json")).unwrap();
    let answer = json(&["verify", "--certificates", folder.path().to_str().unwrap()]);
    assert_eq!(answer["certificates"][0]["recomputed"], "both ends hold", "{answer}");
    let Some(output) = python("check.py", &[old.to_str().unwrap()]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// An installed program has no folder `proofs`: it writes the checker beside the certificate, and over no other file.
#[test]
fn the_checker_is_written_beside_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (out, beside) = (file("certificate.json"), file("check.py"));
    let counts = ["--discrete-gaussian", "5x10", "--delta", "1e-11"];
    let args = [&["prove"][..], &counts, &["--out", &out, "--checker"]].concat();
    let said = String::from_utf8(assay(&args).assert().success().get_output().stdout.clone()).unwrap();
    assert!(said.contains(&format!("python3 -I {beside} {out}")), "{said}");
    let checker = fs::read(proofs().join("check.py")).unwrap();
    assert_eq!(fs::read(&beside).unwrap(), checker);
    // Without a certificate, under another name; an older one is replaced.
    let other = file("verify.py");
    fs::write(&other, &checker[..500]).unwrap();
    assert_eq!(json(&["prove", "--checker", &other])["checker"], other);
    assert_eq!(fs::read(&other).unwrap(), checker);
    let (mine, fresh) = (file("mine.py"), file("fresh"));
    fs::write(&mine, "print('mine')\n").unwrap();
    for (args, said) in [
        (&["--checker", &mine][..], "no checker"),
        (&["--checker", &out, "--out", &out], "Python is written here"),
        (&["--checker", &fresh, "--out", &fresh], "for two outputs"),
        (&["--checker", &other, "--discrete-gaussian", "5"], "--out is missing"),
        (&["--checker", &other, "--delta", "1e-5"], "--out is missing"),
    ] {
        let given: &[&str] = if args.contains(&"--out") { &counts } else { &[] };
        let message = refusal(&[&["prove"][..], given, args].concat());
        assert!(message.contains(said), "{args:?}: {message}");
    }
    assert_eq!(fs::read_to_string(&mine).unwrap(), "print('mine')\n");
    assert!(!Path::new(&fresh).exists());
    let Some(output) = python(&beside, &[&out]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_table_says_what_is_claimed_and_how_to_check_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("certificate.json");
    let args = ["prove", "--discrete-gaussian", "5x10", "--delta", "1e-11", "--out", out.to_str().unwrap()];
    let output = assay(&args).assert().success().get_output().stdout.clone();
    let said = String::from_utf8(output).unwrap();
    for part in ["epsilon >= 10.1248309", "epsilon <= 10.1248309", "nodes to evaluate", "python3 -I proofs/check.py"] {
        assert!(said.contains(part), "{said}");
    }
}

/// A posterior of outputs is certified from above, and not below what the tails of all changes have.
#[test]
fn outputs_are_certified_from_above() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for counts in [["--discrete-gaussian", "5x10"], ["--discrete-laplace", "0.3x9@2"], ["--approximate", "1:1e-9x3"]] {
        let at = ["--prior", "0.1", "--delta", "1e-6"];
        let out = file("outputs.json");
        let args = [&["prove"][..], &counts, &at, &["--of", "outputs", "--out", &out]].concat();
        let claimed = json(&args);
        let (lower, upper) = (&claimed["outputs"]["lower"], claimed["outputs"]["upper"].as_f64().unwrap());
        let bound = json(&[&["risk", "bound"][..], &counts, &at].concat());
        let exceeded = bound["posterior_upper"]["upper"].as_f64().unwrap_or_else(|| panic!("{bound}"));
        assert!(*lower == 0 && upper < 1.0, "{claimed}");
        assert!(upper >= exceeded - 1e-6 || counts[0] == "--approximate", "{upper} {exceeded}");
        let recomputed = json(&["verify", "--certificates", folder.path().to_str().unwrap()]);
        assert_eq!(recomputed["certificates"][0]["recomputed"], "both ends hold", "{recomputed}");
        if let Some(output) = python("check.py", &[&out]) {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }
    let counts = ["prove", "--discrete-gaussian", "5x10", "--prior", "0.1"];
    let rocq = file("Outputs.v");
    for (more, said) in [
        (&["--delta", "1e-6", "--of", "outputs", "--rocq", &rocq][..], "not about outputs"),
        (&["--of", "outputs", "--out", "a.json"], "--delta"),
        (&["--delta", "1e-6", "--of", "outputs", "--epsilon", "1", "--out", "a.json"], "--epsilon"),
    ] {
        let message = refusal(&[&counts[..], more].concat());
        assert!(message.contains(said), "{more:?}: {message}");
    }
    assert!(!Path::new(&rocq).exists());
}

/// Where the largest delta changes from one pair of block paths to another, three lines about one pair prove less, and those about all pairs bound a posterior from
/// above alone.
#[test]
fn claims_about_block_paths_are_proven_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let release = ["--release", "proofs/examples/two-paths.toml"];
    let number = |value: &serde_json::Value| value.to_string().parse::<f64>().unwrap();
    for at in ["1/2", "1/3", "1/50", "1e-3", "1e-6"] {
        for (kind, options) in [
            ("beta", &["--alpha", at][..]),
            ("decision", &["--prior", at]),
            ("events", &["--prior", "1/5", "--delta", at]),
            ("outputs", &["--prior", "1/5", "--delta", at, "--of", "outputs"]),
        ] {
            let file = folder.path().join(format!("{kind}-{}.json", at.replace('/', "-")));
            let answer = prove(&[&release[..], options, &["--digits", "6"]].concat(), &file);
            if kind == "events" {
                let said = json(&[&["risk", "bound"], &release[..], options].concat());
                let (least, most) =
                    (number(&said["posterior_events"]["lower"]), number(&said["posterior_events"]["upper"]));
                let (lower, upper) = (number(&answer[kind]["lower"]), number(&answer[kind]["upper"]));
                assert!(lower <= most && least <= upper && upper <= most + 1e-3, "{at}: {answer} {said}");
            }
            files.push(file.to_str().unwrap().to_string());
        }
    }
    assert_eq!(files.len(), 20);
    let Some(output) = python("check.py", &files.iter().map(String::as_str).collect::<Vec<_>>()) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
