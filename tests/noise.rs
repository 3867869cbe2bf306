//! The contract of `assay sample` and `assay noise`: output, errors, and files that are complete or missing.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

struct Outcome {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn assay(args: &[&str]) -> Outcome {
    let output = Command::new(ASSAY).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Outcome { status: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn done(args: &[&str]) -> Outcome {
    let outcome = assay(args);
    assert_eq!(outcome.status, Some(0), "{args:?}: {}", outcome.stderr);
    outcome
}

/// The error message for bad input.
fn refusal(args: &[&str]) -> String {
    let outcome = assay(args);
    assert_eq!(outcome.status, Some(2), "{args:?}: {}", outcome.stderr);
    assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("panicked"), "{args:?}: {}", outcome.stderr);
    outcome.stderr
}

fn integers(text: &str) -> Vec<i64> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

const FIVE: [&str; 2] = ["--discrete-gaussian", "5"];

/// A folder with a table of counts, and the path of an output that does not exist yet.
fn table(text: &str) -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (input, output) = (path("in.csv"), path("out.csv"));
    fs::write(&input, text).unwrap();
    (folder, input, output)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn samples_are_integers_one_a_line() {
    let outcome = done(&["sample", FIVE[0], FIVE[1], "--count", "1000"]);
    assert_eq!(integers(&outcome.stdout).len(), 1000);
    assert!(outcome.stderr.is_empty());
    let again = done(&["sample", FIVE[0], FIVE[1], "--count", "1000"]);
    assert_ne!(outcome.stdout, again.stdout, "without a seed two runs differ");
    assert!(done(&["sample", FIVE[0], FIVE[1], "--count", "0"]).stdout.is_empty());
    for law in [["--discrete-gaussian", "1e18"], ["--discrete-laplace", "1/1000000"], ["--discrete-gaussian", "1e-6"]] {
        assert_eq!(integers(&done(&["sample", law[0], law[1], "--count", "3"]).stdout).len(), 3);
    }
    // More samples than are drawn at a time.
    assert_eq!(done(&["sample", FIVE[0], FIVE[1], "--count", "600000"]).stdout.lines().count(), 600_000);
}

#[test]
fn an_insecure_seed_reproduces_and_is_marked_in_every_output() {
    let seeded =
        |more: &[&str]| done(&[&["sample", FIVE[0], FIVE[1], "--count", "50", "--insecure-seed", "7"], more].concat());
    let plain = seeded(&[]);
    let csv = seeded(&["--csv"]);
    let json = seeded(&["--json"]);
    assert_eq!(integers(&plain.stdout), integers(&seeded(&[]).stdout));
    let (heading, rest) = csv.stdout.split_once('\n').unwrap();
    assert_eq!(rest, plain.stdout);
    assert!(heading.contains("insecure seed 7"), "{heading}");
    let object: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(object["insecure_seed"], 7);
    assert!(object["randomness"].as_str().unwrap().contains("INSECURE"));
    let values: Vec<i64> = object["values"].as_array().unwrap().iter().map(|x| x.as_i64().unwrap()).collect();
    assert_eq!(values, integers(&plain.stdout));
    for outcome in [plain, csv, json] {
        assert!(outcome.stderr.contains("insecure seed 7"), "{}", outcome.stderr);
    }
    let secure = done(&["sample", FIVE[0], FIVE[1], "--count", "2", "--json"]);
    let object: Value = serde_json::from_str(&secure.stdout).unwrap();
    assert!(object.get("insecure_seed").is_none() && object["values"].as_array().unwrap().len() == 2);
    assert!(done(&["sample", FIVE[0], FIVE[1], "--count", "2", "--csv"]).stdout.starts_with("noise\n"));
}

#[test]
fn seeded_output_does_not_depend_on_the_number_of_threads() {
    let rows: String = (0..200_000).map(|row| format!("{row},{}\n", row % 1000)).collect();
    let (_folder, input, output) = table(&format!("id,count\n{rows}"));
    let mut seen = Vec::new();
    for threads in ["1", "2", "5"] {
        let args = ["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", &output, "--insecure-seed", "3"];
        let args = [&args[..], &["--force"]].concat();
        assert!(Command::new(ASSAY).args(args).env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
        seen.push(fs::read(&output).unwrap());
    }
    assert!(seen[0] == seen[1] && seen[1] == seen[2]);
}

#[test]
fn noise_is_added_to_one_column_and_nothing_else() {
    let text = "geo,count,name\r\n\"01\",120,\"Ada, \"\"Countess\"\"\"\r\n02,-3, x \r\n";
    let (folder, input, output) = table(text);
    let args = ["noise", &input, "--column", "count", "--discrete-laplace", "40", "--out", &output];
    let outcome = done(&args);
    assert!(outcome.stdout.contains("2 counts") && outcome.stdout.contains("rho = 800"), "{}", outcome.stdout);
    // P[X != 0] is below 10^-16 per row.
    assert_eq!(fs::read_to_string(&output).unwrap(), text);
    assert_eq!(names(folder.path()), ["in.csv", "out.csv", "out.csv.provenance.json"]);
    // A table of cell keys has no noise to draw here, and the refusal names who draws it.
    let cells = ["noise", &input, "--column", "count", "--p-table", "cells.csv", "--out", &output];
    assert!(refusal(&cells).contains("needs the keys of the cells"), "{}", refusal(&cells));
    // Drawing again spends the budget again.
    let message = refusal(&args);
    assert!(message.contains("is there already") && message.contains("--force"), "{message}");
    assert_eq!(fs::read_to_string(&output).unwrap(), text);
    let args = [&args[..], &["--force"]].concat();
    let json = done(&[&args[..], &["--json", "--insecure-seed", "9"]].concat());
    let object: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&object["rows"], &object["insecure_seed"]), (&Value::from(2), &Value::from(9)));
    assert_eq!(object["pure_epsilon"].to_string(), "40");
    assert!(fs::read_to_string(&output).unwrap().starts_with("geo,count (insecure seed 9),name\r\n"));
    assert!(json.stderr.contains("insecure seed 9"));
    let human = done(&[&args[..], &["--insecure-seed", "9"]].concat());
    assert!(human.stdout.contains("INSECURE"), "{}", human.stdout);
}

#[test]
fn noise_has_its_variance_in_the_table() {
    let rows = "1000\n".repeat(100_000);
    let (_folder, input, output) = table(&format!("count\n{rows}"));
    done(&["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", &output, "--insecure-seed", "1"]);
    let noisy = fs::read_to_string(&output).unwrap();
    let noise: Vec<f64> = noisy.lines().skip(1).map(|line| line.parse::<f64>().unwrap() - 1000.0).collect();
    let mean = noise.iter().sum::<f64>() / 1e5;
    let variance = noise.iter().map(|x| x * x).sum::<f64>() / 1e5;
    // 4.9 standard errors of mean and variance: one false alarm in 10^6 seeds.
    assert!(mean.abs() < 4.9 * (5.0_f64 / 1e5).sqrt() && (variance - 5.0).abs() < 4.9 * 5.0 * (2.0_f64 / 1e5).sqrt());
}

#[test]
fn bad_input_is_refused_by_name_and_leaves_no_file() {
    for (text, column, why) in [
        ("id,count\n1,2\n3,4.5\n", "count", "in.csv, line 3, column 2"),
        ("id,count\n1,\n", "count", "line 2, column 2"),
        ("id,count\n1\n", "count", "line 2"),
        ("id,count\n1,2\n", "number", "the header has id, count"),
        ("", "count", "empty"),
        ("id,count\n1,12345678901234567890\n", "count", "64 bits"),
    ] {
        let (folder, input, output) = table(text);
        let message = refusal(&["noise", &input, "--column", column, FIVE[0], FIVE[1], "--out", &output]);
        assert!(message.contains(why) && !message.contains("4.5") && !message.contains("345678"), "{message}");
        assert_eq!(names(folder.path()), ["in.csv"]);
    }
    let (folder, input, output) = table(&format!("count\n{}", format!("{}\n", i64::MAX).repeat(100)));
    let message = refusal(&["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", &output]);
    assert!(message.contains("in.csv, line") && message.contains("column 1"), "{message}");
    // The number may be confidential: a message names its place.
    assert!(message.contains("64-bit") && !message.contains(&i64::MAX.to_string()), "{message}");
    let message = refusal(&["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", &input]);
    assert!(message.contains("input itself"), "{message}");
    let other_name = folder.path().join(".").join("in.csv");
    refusal(&["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", other_name.to_str().unwrap()]);
    for args in [
        &["sample", FIVE[0], FIVE[1]][..],
        &["sample", "--count", "3"],
        &["sample", "--count", "-3", FIVE[0], FIVE[1]],
        &["sample", "--count", "3", FIVE[0], FIVE[1], "--discrete-laplace", "1"],
        &["sample", "--count", "3", FIVE[0], FIVE[1], "--insecure-seed", "x"],
        &["sample", "--count", "3", FIVE[0], FIVE[1], "--csv", "--json"],
        &["sample", "--count", "3", "--discrete-gaussian", "0"],
        &["sample", "--count", "3", "--discrete-gaussian", "1e19"],
        &["sample", "--count", "3", "--discrete-gaussian", "5x10"],
        &["sample", "--count", "3", "--discrete-laplace", "-1"],
        &["sample", "--count", "3", "--discrete-laplace", "NaN"],
        &["noise", &input, "--column", "count", FIVE[0], FIVE[1]],
        &["noise", "no-such.csv", "--column", "count", FIVE[0], FIVE[1], "--out", &output],
        &["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", "no/such/folder/out.csv"],
        &["noise", folder.path().to_str().unwrap(), "--column", "count", FIVE[0], FIVE[1], "--out", &output],
    ] {
        refusal(args);
    }
    assert_eq!(names(folder.path()), ["in.csv"]);
}

/// Truncated noise, tables and randomized response: their draws, what a count spends, and what is refused.
#[test]
fn other_laws_are_drawn() {
    let (folder, input, output) = table("count,x\n1,0\n2,1\n0,1\n");
    let rows = folder.path().join("rows.csv").to_str().unwrap().to_string();
    fs::write(&rows, "value,mass\n-3,1\n4,1\n").unwrap();
    for (law, more, within) in [
        (["--truncated-gaussian", "1e6:2"], &[][..], -2..=2),
        (["--truncated-laplace", "1/10:3"], &[], -3..=3),
        (["--table", &rows], &["--normalize"], -3..=4),
        (["--randomized-response", "1/10:4"], &[], 0..=3),
        (["--randomized-response", "0.1"], &[], 0..=1),
    ] {
        let args = [&["sample", law[0], law[1], "--count", "200"], more].concat();
        let drawn = integers(&done(&args).stdout);
        assert!(drawn.len() == 200 && drawn.iter().all(|x| within.contains(x)), "{law:?}: {drawn:?}");
        assert!(drawn.contains(within.start()) && drawn.contains(within.end()), "{law:?}: {drawn:?}");
        let object: Value = serde_json::from_str(&done(&[&args[..], &["--json"]].concat()).stdout).unwrap();
        let named = if law[0] == "--table" { "table" } else { "law" };
        assert!(object[named].is_string() && object["values"].as_array().unwrap().len() == 200, "{object}");
    }
    let noise = |column: &str, law: &str, value: &str, more: &[&str]| {
        let args =
            ["noise", &input, "--column", column, law, value, "--out", &output, "--insecure-seed", "3", "--force"];
        [&args[..], more].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let words = |args: Vec<String>| done(&args.iter().map(String::as_str).collect::<Vec<_>>()).stdout;
    let said = words(noise("count", "--truncated-laplace", "1/2:7", &[]));
    assert!(
        said.contains("epsilon = 0.5, bound = 7") && said.contains("no pure epsilon") && !said.contains("rho ="),
        "{said}"
    );
    let said = words(noise("x", "--randomized-response", "1", &[]));
    assert!(said.contains("an answer that changes spends at most rho = 0.5 and epsilon = 1"), "{said}");
    let answers = fs::read_to_string(&output).unwrap();
    assert!(answers.lines().skip(1).all(|line| line.ends_with(",0") || line.ends_with(",1")), "{answers}");
    let object: Value =
        serde_json::from_str(&words(noise("count", "--table", &rows, &["--normalize", "--json"]))).unwrap();
    assert!(object["rho"].is_null() && object["pure_epsilon"].is_null() && object["rows"] == 3, "{object}");

    let refused = |args: Vec<String>| refusal(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let message = refused(noise("count", "--randomized-response", "1", &[]));
    assert!(
        message.contains("line 3, column 1: the number is no answer") && message.contains("from 0 to 1"),
        "{message}"
    );
    for (law, value, expected) in [
        ("--table", rows.as_str(), "add up"),
        ("--table", "no-such.csv", "no-such.csv"),
        ("--truncated-gaussian", "5", "SIGMA2:BOUND"),
        ("--truncated-gaussian", "5:0", "1 to 100000"),
        ("--truncated-gaussian", "0:3", "sigma2"),
        ("--truncated-laplace", "1/2:7:2", "no more"),
        ("--truncated-laplace", "1/2:7x3", "number"),
        ("--randomized-response", "1:1", "2 to 10^12"),
        ("--randomized-response", "0", "epsilon"),
    ] {
        let message = refused(noise("count", law, value, &[]));
        assert!(message.contains(expected) && message.contains(law), "{law} {value}: {message}");
    }
    refused(noise("count", "--discrete-gaussian", "5", &["--normalize"]));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = Command::new(ASSAY)
        .args(["sample", FIVE[0], FIVE[1], "--count", "20000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.trim_end().parse::<i64>().is_ok());
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(child.wait().unwrap().success() && message.is_empty(), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_leaves_no_file() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(ASSAY)
        .args(["sample", FIVE[0], FIVE[1], "--count", "100000"])
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    // A file limited to a few kilobytes, with the signal for it ignored.
    let (folder, input, output) = table(&format!("count\n{}", "5\n".repeat(2_000_000)));
    fs::write(&output, "as it was").unwrap();
    let script = r#"trap "" XFSZ; ulimit -f 8; exec "$@""#;
    let outcome = Command::new("sh")
        .args(["-c", script, "sh", ASSAY, "noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", &output])
        .arg("--force")
        .output()
        .unwrap();
    assert_eq!(outcome.status.code(), Some(2), "{}", String::from_utf8_lossy(&outcome.stderr));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("out.csv"));
    assert_eq!(names(folder.path()), ["in.csv", "out.csv"]);
    assert_eq!(fs::read_to_string(&output).unwrap(), "as it was");
    let message = refusal(&["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", "/dev/full"]);
    assert!(message.contains("device"), "{message}");
}

#[test]
fn a_kill_in_the_middle_leaves_no_half_file() {
    let rows = 3_000_000;
    let (folder, input, output) = table(&format!("count\n{}", "5\n".repeat(rows)));
    fs::write(&output, "as it was").unwrap();
    let is_partial = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "part");
    let written = || -> u64 {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(is_partial).filter_map(|path| fs::metadata(path).ok()).map(|found| found.len()).sum()
    };
    let mut killed_in_the_middle = false;
    for _ in 0..20 {
        let mut child = Command::new(ASSAY)
            .args(["noise", &input, "--column", "count", FIVE[0], FIVE[1], "--out", &output, "--force"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while written() == 0 && child.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let found = fs::read_to_string(&output).unwrap();
        if found == "as it was" {
            killed_in_the_middle = true;
            break;
        }
        // It ended before the signal, so the file is complete.
        assert_eq!(found.lines().count(), rows + 1);
        fs::write(&output, "as it was").unwrap();
    }
    assert!(killed_in_the_middle);
}

#[test]
fn several_columns_have_noise_of_their_own() {
    let rows: String = (0..50_000).map(|row| format!("{row},1000,x,1000\n")).collect();
    let (_folder, input, output) = table(&format!("id,b,name,a\n{rows}"));
    let seed = ["--insecure-seed", "1", "--json"];
    let args = ["noise", &input, "--column", "a", "--column", "b", FIVE[0], FIVE[1], "--out", &output];
    let json: Value = serde_json::from_str(&done(&[&args[..], &seed].concat()).stdout).unwrap();
    assert_eq!(json["columns"], serde_json::json!(["a", "b"]));
    assert_eq!(json["rows"], 50_000);
    let text = fs::read_to_string(&output).unwrap();
    assert_eq!(text.lines().next(), Some("id,b (insecure seed 1),name,a (insecure seed 1)"));
    let noise: Vec<(f64, f64)> = (text.lines().skip(1).enumerate())
        .map(|(row, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!((cells[0], cells[2]), (row.to_string().as_str(), "x"));
            (cells[1].parse::<f64>().unwrap() - 1000.0, cells[3].parse::<f64>().unwrap() - 1000.0)
        })
        .collect();
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| noise.iter().map(value).sum::<f64>() / 50_000.0;
    // 4.9 standard errors: two variances of 5, and no covariance.
    let variance_error = 4.9 * 5.0 * (2.0_f64 / 50_000.0).sqrt();
    assert!(
        (mean(&|(b, _)| b * b) - 5.0).abs() < variance_error && (mean(&|(_, a)| a * a) - 5.0).abs() < variance_error
    );
    assert!(mean(&|(b, a)| a * b).abs() < 4.9 * 5.0 / 50_000.0_f64.sqrt());
    let message = refusal(&["noise", &input, "--column", "nam", FIVE[0], FIVE[1], "--out", "other.csv"]);
    assert!(message.contains("did you mean \"name\""), "{message}");
    let twice = refusal(&["noise", &input, "--column", "a", "--column", "a", FIVE[0], FIVE[1], "--out", "other.csv"]);
    assert!(twice.contains("twice"), "{twice}");
}

#[test]
fn a_pipe_gets_the_table_whole_or_not_at_all() {
    let through = |text: &str| {
        let mut child = Command::new(ASSAY)
            .args(["noise", "-", "--column", "count", "--discrete-laplace", "40", "--out", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let text = "id,count\n1,120\n2,-3\n";
    assert_eq!(through(text), (Some(0), text.to_string(), String::new()));
    let (status, out, message) = through("id,count\n1,120\n2,x\n");
    assert_eq!((status, out.as_str()), (Some(2), ""));
    assert!(message.contains("standard input, line 3, column 2"), "{message}");
    let message = refusal(&["noise", "-", "--column", "c", FIVE[0], FIVE[1], "--out", "-", "--json"]);
    assert!(message.contains("--json"), "{message}");
    let message = refusal(&["noise", "in.parquet", "--column", "c", FIVE[0], FIVE[1], "--out", "-"]);
    assert!(message.contains(".parquet"), "{message}");
}
