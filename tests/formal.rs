//! `assay prove --rocq` writes the files of proofs/rocq that its check compiles, or gives the reason why not and writes nothing.

use std::{fs, path::Path};

use crate::common::program::{json, unanswered};

#[test]
fn the_compiled_files_are_what_the_program_writes() {
    let folder = tempfile::tempdir().unwrap();
    let state = ["--release", "su-su-wang-2025", "--level", "State"];
    let all = |release, levels: &[&'static str]| -> Vec<&'static str> {
        let levels = levels.iter().chain(&["County", "Tract", "Block_Group", "Block"]);
        ["--release", release].into_iter().chain(levels.flat_map(|level| ["--level", level])).collect()
    };
    let two = ["--discrete-gaussian", "124926712180/1130346459", "--discrete-gaussian", "33386663830105/214035098186"];
    let boxes = ["--approximate", "1/2:1e-7x10", "--discrete-gaussian", "20x10"];
    let mixed = ["--approximate", "1/2:1e-7x10", "--pure", "3/10x5", "--discrete-laplace", "1/10x5"];
    let truncated =
        ["--truncated-gaussian", "20:30x5", "--truncated-laplace", "1/2:40x5", "--randomized-response", "1/2:4x5"];
    let fine = ["--discrete-gaussian", "3.14159265", "--discrete-gaussian", "2.71828183"];
    let claims: [(&str, &[&str], &[&str]); 19] = [
        ("OneCount.v", &["--discrete-gaussian", "50000/10001"], &["--epsilon", "1"]),
        ("State.v", &state, &["--delta", "1e-11"]),
        ("Release.v", &["--release", "su-su-wang-2025"], &["--delta", "1e-10"]),
        ("LaplaceCounts.v", &["--discrete-gaussian", "5x10", "--discrete-laplace", "0.3x10"], &["--delta", "1e-6"]),
        ("Responses.v", &["--randomized-response", "1/10:2x100"], &["--delta", "1e-6"]),
        ("Boxes.v", &boxes, &["--delta", "1e-5"]),
        ("BoxesDelta.v", &mixed, &["--epsilon", "3"]),
        ("Truncated.v", &truncated, &["--delta", "1e-6"]),
        (
            "TruncatedCalibration.v",
            &truncated[..2],
            &["--calibrate", "--scale-all", "--epsilon", "2", "--delta", "1e-6"],
        ),
        ("BoxesPoint.v", &["--approximate", "1/2:1e-5x10"], &["--alpha", "0.05"]),
        ("Calibration.v", &state, &["--calibrate", "--epsilon", "10", "--delta", "1e-11"]),
        ("TradeoffPoint.v", &state, &["--alpha", "0.05"]),
        ("TwoCounts.v", &two, &["--delta", "1e-6"]),
        ("TwoCountsDelta.v", &fine, &["--epsilon", "2"]),
        (
            "TwoCountsCalibration.v",
            &fine,
            &["--calibrate", "--scale-all", "--decimals", "2", "--epsilon", "2", "--delta", "1e-5"],
        ),
        ("TwoCountsPoint.v", &fine, &["--alpha", "0.05"]),
        ("UnitsPairs.v", &["--release", "pl94-units-pr"], &["--delta", "1e-10"]),
        ("UnitsPath.v", &all("pl94-units-pr", &["State"]), &["--delta", "1e-10"]),
        ("PersonsPath.v", &all("pl94-persons-us", &["US", "State"]), &["--delta", "1e-10"]),
    ];
    for (name, subject, request) in claims {
        let file = folder.path().join(name);
        let out = folder.path().join("claim.json");
        let mut args = vec!["prove", "--rocq", file.to_str().unwrap()];
        // With a certificate the theorem is the same; these have none.
        if !name.starts_with("Truncated") {
            args.extend(["--out", out.to_str().unwrap()]);
        }
        args.extend(subject.iter().chain(request));
        assert_eq!(json(&args)["rocq"]["file"], file.to_str().unwrap());
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/rocq").join(name);
        assert_eq!(fs::read_to_string(&file).unwrap(), fs::read_to_string(kept).unwrap(), "{name}");
    }
}

/// The sentence that `proofs/rocq/check` prints is read from Rocq's own answer; without Rocq on answers that it gave.
#[test]
fn what_rocq_answers_is_read_whole_or_refused() {
    let Some(test) = python_test("proofs/rocq/test_statement.py") else { return };
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stderr));
}

/// A test in Python, or nothing without Python.
fn python_test(path: &str) -> Option<std::process::Output> {
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    match std::process::Command::new("python3").arg("-B").arg(test).output() {
        Ok(output) => Some(output),
        Err(why) => {
            eprintln!("skipped: no python3: {why}");
            None
        }
    }
}

#[test]
fn the_numbers_of_a_theorem_are_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("State.v"), folder.path().join("claim.json"));
    let theorem = |request: &[&str]| {
        let mut args = vec!["prove", "--out", out.to_str().unwrap(), "--rocq", file.to_str().unwrap()];
        args.extend(["--release", "su-su-wang-2025", "--level", "State"].iter().chain(request));
        json(&args)["rocq"].clone()
    };
    let epsilon = theorem(&["--delta", "1e-11"]);
    assert_eq!(epsilon["epsilon"]["lower"].to_string(), "10.125415", "{epsilon}");
    assert_eq!(epsilon["epsilon"]["upper"].to_string(), "10.1254175", "{epsilon}");
    assert_eq!(epsilon["delta"].to_string(), "1e-11", "{epsilon}");
    let beta = theorem(&["--alpha", "0.05"]);
    assert_eq!(beta["beta"]["lower"].to_string(), "0.591311", "{beta}");
}

/// Claims that have no formal proof: the file, the claim, and a part of the reason.
const REFUSED: &[(&str, &[&str], &str)] = &[
    ("Continuous.v", &["--gaussian", "5x10", "--epsilon", "1"], "not about continuous Gaussian noise"),
    ("Zero.v", &["--discrete-gaussian", "5", "--delta", "1/2"], "above zero"),
    ("Formula.v", &["--discrete-gaussian", "5x10", "--match", "zcdp", "--calibrate", "--delta", "1e-6"], "irrational"),
    ("Paths.v", &["--release", "proofs/examples/two-paths.toml", "--epsilon", "1"], "one composition"),
    (
        "Long.v",
        &["--discrete-gaussian", "5000000x10", "--delta", "1e-9"],
        "million products; 600 million are the limit",
    ),
    (
        "Fine.v",
        &["--discrete-gaussian", "5000000x10", "--epsilon", "0.006"],
        "million products; 600 million are the limit",
    ),
    ("Pairs.v", &["--release", "pl94-persons-us", "--delta", "1e-10"], "million products"),
    (
        "FineLaplace.v",
        &["--discrete-gaussian", "5000000x3", "--discrete-laplace", "0.0001x3", "--delta", "1e-9"],
        "only for discrete Gaussian noise, not for",
    ),
    (
        "Close.v",
        &[
            "--discrete-gaussian",
            "3.14159265",
            "--discrete-gaussian",
            "2.71828183",
            "--calibrate",
            "--scale-all",
            "--epsilon",
            "2",
            "--delta",
            "1e-5",
        ],
        "a larger step between the two factors",
    ),
    ("Infinite.v", &["--approximate", "1/2:1e-5x10", "--delta", "5e-5"], "no epsilon is finite at delta = 5e-5"),
    (
        "FineBox.v",
        &["--approximate", "0.50001:1e-9", "--discrete-gaussian", "7.000001x2", "--delta", "1e-5"],
        "not for approximate DP",
    ),
    ("two-words.v", &["--discrete-gaussian", "5", "--epsilon", "1"], "letters, digits and _"),
    ("Text.txt", &["--discrete-gaussian", "5", "--epsilon", "1"], "give a name in .v"),
];

#[test]
fn claims_without_a_formal_proof_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("claim.json");
    for &(name, subject, why) in REFUSED {
        let file = folder.path().join(name);
        let mut args = vec!["prove", "--out", out.to_str().unwrap(), "--rocq", file.to_str().unwrap()];
        args.extend(subject);
        unanswered(&args, why);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "{name} left something");
    }
}

#[test]
fn a_theorem_alone_is_about_laws_without_a_certificate_too() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("Alone.v"), folder.path().join("claim.json"));
    for (subject, why) in [
        (&["--truncated-gaussian", "20:5000", "--delta", "1e-6"][..], "list all outputs"),
        (&["--truncated-gaussian", "20:10x5", "--delta", "1e-6"], "no epsilon is finite at delta = 1e-6"),
        (&["--truncated-gaussian", "20:30", "--delta", "1e-6", "--out", out.to_str().unwrap()], "a theorem for Rocq"),
        (&["--laplace", "5", "--delta", "1e-6"], "not about continuous Laplace noise"),
        (&["--discrete-gaussian", "5", "--alpha", "2"], "--alpha"),
    ] {
        let mut args: Vec<&str> = vec!["prove", "--rocq", file.to_str().unwrap()];
        args.extend(subject);
        unanswered(&args, why);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "{subject:?} left something");
    }
    let answer =
        json(&["prove", "--rocq", file.to_str().unwrap(), "--truncated-gaussian", "20:30x5", "--delta", "1e-6"]);
    assert!(answer["file"].is_null(), "{answer}");
    assert_eq!(answer["rocq"]["epsilon"]["lower"].to_string(), "2.25506848", "{answer}");
    assert_eq!(answer["rocq"]["epsilon"]["upper"].to_string(), "2.2550691", "{answer}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
