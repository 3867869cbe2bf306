//! `assay audit`: draws of any program against a law, as a process.

use std::{fs, path::Path};

use serde_json::Value;

use crate::common::program::{assay, json, refusal};

/// A file of seeded draws of the discrete Gaussian 5, changed one by one.
fn draws(folder: &Path, count: &str, change: impl Fn(usize, i64) -> i64) -> String {
    let args = ["sample", "--discrete-gaussian", "5", "--count", count, "--insecure-seed", "4"];
    let text = String::from_utf8(assay(&args).assert().success().get_output().stdout.clone()).unwrap();
    let changed = text.lines().enumerate().map(|(at, line)| format!("{}\n", change(at, line.parse().unwrap())));
    let path = folder.join("draws.txt");
    fs::write(&path, changed.collect::<String>()).unwrap();
    path.display().to_string()
}

const LAW: [&str; 2] = ["--law", "discrete-gaussian:5"];

fn audit(file: &str, law: [&str; 2], status: i32) -> Value {
    let output =
        assay(&[&["audit", "--draws", file, "--json"], &law[..]].concat()).assert().code(status).get_output().clone();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn true_draws_are_consistent_and_others_deviate() {
    let folder = tempfile::tempdir().unwrap();
    let file = draws(folder.path(), "60000", |_, x| x);
    let answer = audit(&file, LAW, 0);
    assert_eq!((answer["verdict"].as_str(), answer["draws"].as_u64()), (Some("consistent"), Some(60_000)));
    let tests = answer["tests"].as_array().unwrap();
    for test in tests {
        assert!(
            ["test", "draws", "statistic", "p_value", "corrected_p_value", "what"]
                .iter()
                .all(|key| !test[key].is_null())
        );
    }
    assert!(tests.len() == 17 && answer["false_alarm_rate"] == serde_json::json!(0.001));
    let (lower, upper) = (&answer["parameter_factor"]["lower"], &answer["parameter_factor"]["upper"]);
    assert!(lower.as_f64().unwrap() < 1.0 && upper.as_f64().unwrap() > 1.0);
    let other = audit(&file, ["--law", "discrete-gaussian:5.5"], 1);
    assert_eq!(other["verdict"], "deviates");
    assert!(other["verdict_in_words"].as_str().unwrap().contains("sum of squares"));
    assert_eq!(audit(&file, ["--law", "discrete-laplace:0.6"], 1)["verdict"], "deviates");
    let moved = draws(folder.path(), "60000", |at, x| x + i64::from(at % 10 == 0));
    assert_eq!(audit(&moved, LAW, 1)["verdict"], "deviates");
    let alternating = draws(folder.path(), "60000", |at, x| if at % 2 == 0 { x.abs() } else { -x.abs() });
    let tests = &audit(&alternating, LAW, 1)["tests"];
    let lag = tests.as_array().unwrap().iter().find(|test| test["test"] == "lag 1").unwrap();
    assert!(lag["p_value"].to_string().parse::<f64>().unwrap() < 1e-100);
}

/// A truncated law: its own draws are consistent, a draw beyond the bound has probability zero, and so does no other law's tail.
#[test]
fn truncated_laws_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truncated.txt");
    let mut drawn = assay(&["sample", "--truncated-gaussian", "5:4", "--count", "20000", "--insecure-seed", "5"]);
    let mut text = drawn.unwrap().stdout;
    fs::write(&path, &text).unwrap();
    let (file, law) = (path.display().to_string(), ["--law", "truncated-gaussian:5:4"]);
    let answer = audit(&file, law, 0);
    assert!(answer["verdict"] == "consistent" && answer["bound"] == 4 && answer["sigma2"] == 5);
    assert_eq!(audit(&file, LAW, 1)["verdict"], "deviates");
    text.extend(b"5\n");
    fs::write(&path, &text).unwrap();
    let tests = audit(&file, law, 1)["tests"].clone();
    let largest = tests.as_array().unwrap().iter().find(|test| test["test"] == "largest").unwrap();
    assert_eq!(largest["p_value"], 0);
}

/// Staircase noise: its own draws are consistent, and those of a discrete Laplace law of the same variance are not.
#[test]
fn staircase_noise_is_audited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stairs.txt");
    let mut drawn = assay(&["sample", "--staircase", "1:4:2", "--count", "50000", "--insecure-seed", "6"]);
    fs::write(&path, drawn.unwrap().stdout).unwrap();
    let file = path.display().to_string();
    let answer = audit(&file, ["--law", "staircase:1:4:2"], 0);
    assert!(answer["verdict"] == "consistent" && answer["period"] == 4 && answer["first"] == 2, "{answer}");
    assert_eq!(audit(&file, ["--law", "staircase:1:4:3"], 1)["verdict"], "deviates");
    assert_eq!(audit(&file, ["--law", "discrete-laplace:0.2602"], 1)["verdict"], "deviates");
}

/// A draw that is beyond the last interval has the score of that one, and is named; the moments that are printed beside have it.
#[test]
fn draws_that_are_cut_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for far in [30, 100] {
        let file = draws(folder.path(), "10000", move |at, x| if at == 0 { far } else { x });
        let tests = audit(&file, LAW, 1)["tests"].clone();
        let mean = tests.as_array().unwrap().iter().find(|test| test["test"] == "mean").unwrap().to_string();
        assert!(mean.contains("(1 of them beyond 21 or its negative, taken as 21 or its negative)"), "{mean}");
    }
}

#[test]
fn draws_come_through_a_pipe_and_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = draws(folder.path(), "5000", |_, x| x);
    let svg = folder.path().join("masses.svg").display().to_string();
    let mut piped = assay(&["audit", "--draws", "-", "--law", "discrete-gaussian:5", "--svg", &svg]);
    let text = piped.write_stdin(fs::read(&file).unwrap()).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("consistent: none of 17 tests rejects"), "{text}");
    assert!(text.contains("With probability 0.99 such draws show (approximately)"));
    assert!(fs::read_to_string(svg).unwrap().contains("observed"));
}

#[test]
fn the_power_is_stated_without_draws() {
    let answer = json(&["audit", "--power", "--draws", "1e8", "--law", "discrete-gaussian:5"]);
    let faults = answer["faults_approx"].as_array().unwrap();
    let thousandth = faults.iter().find(|fault| fault["fault"] == "sigma2 larger by 0.100 %").unwrap();
    let needed = thousandth["draws_for_99_percent"].as_u64().unwrap();
    assert!((80_000_000..110_000_000).contains(&needed), "{needed}");
    assert_eq!(thousandth["test"], "variance");
    assert!(!answer["provenance"].to_string().contains("not hashed"), "a number is no input");
}

/// A claim that a law breaks, one that it keeps, and one that no number of runs would break; and what was drawn.
#[test]
fn the_power_against_claims_is_stated_without_runs() {
    let claims = ["--claim", "1", "--claim", "1.2", "--claim", "1.06:0.1"];
    let answer = json(&[&["audit", "--power", "--draws", "4e3", "--law", "pure:1.2"], &claims[..]].concat());
    let [broken, kept, hardly] = [0, 1, 2].map(|at| &answer["claims"][at]);
    let power = broken["power_lower"].as_f64().unwrap();
    assert!(power > 0.9 && power < 1.0, "{power}");
    assert!((broken["type_i_error"].as_f64().unwrap() - 0.231475).abs() < 1e-5, "{broken}");
    assert!((2e3..4e3).contains(&broken["runs_for_90_percent"].as_f64().unwrap()), "{broken}");
    assert!(kept["power_lower"].is_null() && kept["runs_for_90_percent"].is_null(), "{kept}");
    // The law has 1.0606 at a delta of 0.1.
    assert!(hardly["power_lower"].as_f64().unwrap() < 0.05, "{hardly}");
    let text = ["audit", "--power", "--draws", "4e3", "--law", "pure:1.2", "--claim", "1"];
    let text = String::from_utf8(assay(&text).assert().success().get_output().stdout.clone()).unwrap();
    assert!(text.contains("proven for an event of these errors"), "{text}");
    for (words, expected) in [
        (&["--draws", "1e10"][..], "1000000000"),
        (&["--draws", "2"], "from 3"),
        (&["--draws", "100", "--errors", "1"], "--errors"),
        (&["--draws", "100", "--false-alarm-rate", "0.1"], "--errors"),
    ] {
        let message = refusal(&[&["audit", "--power", "--law", "pure:1.2", "--claim", "1"], words].concat());
        assert!(message.contains(expected), "{message}");
    }
    let message = refusal(&["audit", "--draws", "x.txt", "--law", "discrete-gaussian:5", "--claim", "1"]);
    assert!(message.contains("--with"), "{message}");
}

#[test]
fn bounds_from_outputs_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::write(file("with.txt"), "1\n".repeat(400)).unwrap();
    fs::write(file("without.txt"), "0\n".repeat(400)).unwrap();
    let (with, without, svg) = (file("with.txt"), file("without.txt"), file("bounds.svg"));
    let words = ["audit", "--with", &with, "--without", &without, "--claim", "1", "--law", "pure:1", "--svg", &svg];
    assay(&words).assert().code(1);
    let svg = fs::read_to_string(&svg).unwrap();
    for name in ["claim (1, 0), refuted", "declared law", "at most, by the runs", "no privacy loss"] {
        assert!(svg.contains(name), "{name}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.txt");
    let file = path.display().to_string();
    for (content, expected) in [
        ("", "no draws"),
        ("1\n2.5\n", "line 2, column 2"),
        ("noise\nx\n", "line 2, column 1"),
        ("1\n\n", "line 2"),
        ("99999999999999999999\n", "64 bits"),
    ] {
        fs::write(&path, content).unwrap();
        let message = refusal(&["audit", "--draws", &file, "--law", "discrete-gaussian:5"]);
        assert!(message.contains(expected) && message.contains("--draws"), "{message}");
    }
    for (law, expected) in [
        ("gaussian:5", "cannot be drawn exactly"),
        ("discrete-gaussian", "LAW:PARAMETER"),
        ("nosuch:5", "discrete-laplace"),
        ("discrete-gaussian:0", "sigma2"),
        ("discrete-gaussian:1e12", "2.3e7"),
        ("discrete-laplace:x", "number"),
        ("truncated-laplace:1", "EPSILON:BOUND"),
        ("randomized-response:1", "not a list of masses"),
    ] {
        let message = refusal(&["audit", "--draws", &file, "--law", law]);
        assert!(message.contains(expected), "{message}");
    }
    for rate in ["0", "1", "-1", "x"] {
        let message = refusal(&["audit", "--draws", &file, "--law", "discrete-gaussian:5", "--false-alarm-rate", rate]);
        assert!(message.contains("--false-alarm-rate"), "{message}");
    }
    assert!(refusal(&["audit", "--power", "--draws", "many", "--law", "discrete-gaussian:5"]).contains("not a count"));
}

/// Moments without a draw far away say so, in text and JSON.
#[test]
fn draws_beyond_the_reach_are_counted_where_they_are_left_out() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("draws.txt");
    let draws: Vec<String> = (0..300).map(|k| (k % 7 - 3).to_string()).chain(["100".to_string()]).collect();
    std::fs::write(&file, draws.join("\n")).unwrap();
    let words = ["audit", "--draws", file.to_str().unwrap(), "--law", "discrete-gaussian:5"];
    let text = String::from_utf8(assay(&words).output().unwrap().stdout).unwrap();
    assert!(text.contains("without 1 of the draws, beyond"), "{text}");
    let answer = assay(&[&words[..], &["--json"]].concat()).output().unwrap().stdout;
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["approximations"]["left_out"], 1, "{answer}");
    let of_sum =
        answer["tests"].as_array().unwrap().iter().find(|test| test["name"] == "mean" || test["test"] == "mean");
    assert!(of_sum.unwrap().to_string().contains("1 of them beyond"), "{answer}");
}
