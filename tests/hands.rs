//! The program in its users' hands: what it says of itself, errors as JSON, Ctrl-C, closed pipes, full disks, and what a terminal
//! shows. A terminal is made by the tool `script`; where that is not installed, these tests say so and are skipped.

#![cfg(unix)]

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

#[path = "common/program.rs"]
mod program;

use program::{assay, json, refusal};
use serde_json::Value;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const FIVE: [&str; 2] = ["--discrete-gaussian", "5x10"];

fn text(args: &[&str]) -> String {
    String::from_utf8(assay(args).assert().success().get_output().stdout.clone()).expect("UTF-8")
}

/// A command in a terminal of so many columns, and all that it shows; `None`, with a note, where there is no tool for it.
fn in_terminal(columns: u32, command: &str) -> Option<String> {
    let script = format!("stty cols {columns} rows 50; {command}");
    let output = Command::new("script").args(["-qec", &script, "/dev/null"]).stdin(Stdio::null()).output();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(_) => {
            println!("skipped: the tool script is not installed");
            None
        }
    }
}

fn sha256(path: &Path) -> String {
    dp_assay::provenance::sha256(path).expect("a readable file")
}

#[test]
fn every_json_object_says_where_it_comes_from() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let answer = json(&["epsilon", "--release", "su-su-wang-2025", "--delta", "1e-11", "--digits", "9"]);
    let said = &answer["provenance"];
    assert_eq!((&said["program"], &said["version"]), (&"assay".into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(said["commit"], dp_assay::provenance::COMMIT);
    let words = ["assay", "epsilon", "--release", "su-su-wang-2025", "--delta", "1e-11", "--digits", "9", "--json"];
    assert_eq!(said["command_line"], serde_json::json!(words));
    assert_eq!(said["digits"], 9);
    let bundled = sha256(&root.join("data/releases/su-su-wang-2025.toml"));
    assert_eq!(said["inputs"], serde_json::json!([{ "name": "su-su-wang-2025", "sha256": bundled }]));
    // A file of one's own, by its path.
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.toml");
    fs::copy(root.join("data/releases/su-su-wang-2025.toml"), &own).expect("copied");
    let own = own.to_str().expect("UTF-8");
    let answer = json(&["epsilon", "--release", own, "--level", "State", "--delta", "1e-11"]);
    assert_eq!(answer["provenance"]["inputs"], serde_json::json!([{ "name": own, "sha256": bundled }]));
    for args in [
        &["releases"][..],
        &["curve", FIVE[0], FIVE[1], "--points", "2"],
        &["sample", FIVE[0], "5", "--count", "2"],
        &["tune", "--rho", "0.159"],
        &["figures", "--list"],
        &["risk", "single", "--rho", "0.099", "--prior", "1/2"],
    ] {
        let answer = json(args);
        assert_eq!(answer["provenance"]["version"], env!("CARGO_PKG_VERSION"), "{args:?}");
    }
}

#[test]
fn the_version_has_the_commit_under_every_command() {
    let expected = format!("assay {} (commit {})\n", env!("CARGO_PKG_VERSION"), dp_assay::provenance::COMMIT);
    assert_eq!(text(&["--version"]), expected);
    let after = expected.strip_prefix("assay ").expect("the name");
    for (args, name) in [(&["epsilon", "--version"][..], "epsilon"), (&["risk", "single", "-V"], "single")] {
        let shown = text(args);
        assert!(shown.ends_with(after) && shown.contains(name), "{shown}");
    }
}

#[test]
fn numbers_are_strings_where_that_is_asked() {
    let args = ["epsilon", FIVE[0], FIVE[1], "--delta", "1e-11", "--digits", "40"];
    let as_strings: Value = serde_json::from_str(&text(&[&args[..], &["--json-strings"]].concat())).expect("JSON");
    let as_numbers = json(&args);
    for end in ["lower", "upper"] {
        let shown = as_strings["epsilon"][end].as_str().expect("a string");
        assert_eq!(shown, as_numbers["epsilon"][end].to_string());
        assert!(shown.len() > 40, "{shown}");
    }
    assert_eq!(as_strings["rho"], "1");
    assert_eq!(as_strings["status"], as_numbers["status"]);
    let sample = text(&["sample", "--discrete-gaussian", "5", "--count", "3", "--json-strings"]);
    let sample: Value = serde_json::from_str(&sample).expect("JSON");
    assert!(sample["values"].as_array().expect("values").iter().all(Value::is_string));
    refusal(&["curve", FIVE[0], FIVE[1], "--csv", "--json-strings"]);
}

#[test]
fn with_json_an_error_is_json() {
    for args in [
        &["epsilon", "--release", "nosuch", "--delta", "1e-5", "--json"][..],
        &["epsilon", "--release", "nosuch", "--delta", "1e-5", "--json-strings"],
        &["epsilon", FIVE[0], FIVE[1], "--json"],
        &["nosuch", "--json"],
    ] {
        let error: Value = serde_json::from_str(&refusal(args)).unwrap_or_else(|why| panic!("{args:?}: {why}"));
        assert_eq!(error["exit_status"], 2);
        let message = error["error"].as_str().expect("a message");
        assert!(message.len() > 20 && !message.contains('\u{1b}'), "{message}");
    }
    assert!(
        refusal(&["epsilon", "--release", "nosuch", "--delta", "1e-5"]).starts_with("assay: --release: no release")
    );
}

#[test]
fn a_missing_file_is_said_and_a_near_name_is_offered() {
    let missing = refusal(&["epsilon", "--release", "my/own.toml", "--delta", "1e-5"]);
    assert!(missing.contains("my/own.toml: no such file") && !missing.contains("bundled"), "{missing}");
    for (args, offered) in [
        (&["epsilon", "--release", "pl94-person-us", "--delta", "1e-5"][..], "\"pl94-persons-us\""),
        (&["epsilon", "--release", "su-su-wang-2025", "--level", "Sate", "--delta", "1e-5"], "\"State\""),
        (&["ledger", "us-2020-person", "--delta", "1e-5"], "\"us-2020-persons\""),
        (&["verify", "su-su-wang-2024"], "\"su-su-wang-2025\""),
        (&["figures", "su-su-wang-2025/figur-2"], "\"su-su-wang-2025/figure-2\""),
        (&["epsilom"], "'epsilon'"),
    ] {
        let message = refusal(args);
        let expected = format!("did you mean {offered}");
        assert!(message.contains(&expected) || message.contains(offered) && message.contains("similar"), "{message}");
    }
}

/// Reads one line of what a command prints, and leaves.
fn first_line(args: &[&str]) -> (Output, String) {
    let mut child = spawned(args);
    let mut first = [0_u8; 16];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("some output");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

fn spawned(args: &[&str]) -> Child {
    Command::new(ASSAY)
        .args(args)
        .env_remove("ASSAY_FACTS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for args in [
        &["curve", FIVE[0], FIVE[1], "--points", "3000", "--csv"][..],
        &["tradeoff", FIVE[0], FIVE[1], "--points", "3000", "--csv"],
        &["tradeoff", FIVE[0], FIVE[1], "--points", "3000", "--json"],
        &["sample", "--discrete-gaussian", "5", "--count", "3000000", "--csv"],
        &["completions", "zsh"],
        &["man"],
        &["--help"],
    ] {
        let (output, errors) = first_line(args);
        assert!(output.status.success() && errors.is_empty(), "{args:?}: {} {errors}", output.status);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_even_for_help() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["epsilon", "--help"],
        &["completions", "bash"],
        &["epsilon", FIVE[0], FIVE[1], "--delta", "1e-5"],
        &["curve", FIVE[0], FIVE[1], "--points", "3", "--csv"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let output = Command::new(ASSAY).args(args).stdout(full).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains("No space"), "{args:?}: {errors}");
    }
}

#[test]
fn help_is_as_wide_as_the_terminal() {
    for columns in [60, 80, 200] {
        for command in ["--help", "tabulate --help", "help estimate"] {
            let Some(shown) = in_terminal(columns, &format!("{ASSAY} {command}")) else { return };
            let plain = without_styles(&shown);
            let widest = plain.lines().map(|line| line.trim_end().chars().count()).max().expect("lines");
            assert!(widest <= columns.min(110) as usize, "{command} at {columns}: {widest}\n{plain}");
            assert!(plain.contains("Options:") && widest > 45, "{plain}");
        }
    }
}

/// Text without the sequences that set colors, move the cursor and erase.
fn without_styles(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if rest.next() == Some('[') {
            rest.by_ref().find(|c| c.is_ascii_alphabetic());
        }
    }
    plain
}

#[test]
fn tables_fit_a_hundred_columns() {
    for args in [
        &["releases"][..],
        &["compare", "--release", "su-su-wang-2025", "--delta", "1e-10"],
        &["explain", "--release", "su-su-wang-2025", "--delta", "1e-10"],
        &["calibrate", "--release", "su-su-wang-2025", "--delta", "1e-11", "--match", "zcdp"],
        &["tune", "--rho", "0.159"],
        &["figures", "--list"],
        &["verify", "safetab-p-2024"],
    ] {
        let shown = text(args);
        let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{args:?}: {wide:#?}");
    }
}

#[test]
fn percentages_and_digits_are_true() {
    let shown = text(&["compare", "--discrete-gaussian", "1e11", "--delta", "0.3"]);
    assert!(!shown.contains("NaN") && !shown.contains("inf %") && !shown.contains("-0.35"), "{shown}");
    let shown = text(&["compare", "--discrete-laplace", "1000", "--delta", "1e-10"]);
    assert!(shown.contains("x 506.8") && !shown.contains("50578"), "{shown}");
    let answer = text(&["delta", "--discrete-gaussian", "199/60", "--epsilon", "1", "--json"]);
    assert!(answer.contains("\"rho\": 0.1507537688442211055276382,"), "{answer}");
}

#[test]
fn progress_is_shown_after_two_seconds_and_only_on_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("noise.txt");
    // Wide noise takes a microsecond a sample.
    let command = format!("{ASSAY} sample --discrete-gaussian 1e18 --count 20000000 > {}", out.display());
    let began = Instant::now();
    let shown = in_terminal(80, &command);
    let seconds = began.elapsed().as_secs_f64();
    if let Some(shown) = shown.filter(|_| seconds > 3.5) {
        assert!(shown.contains("drawing") && shown.contains('%'), "after {seconds:.1} s: {shown:?}");
        // The line is taken away.
        assert!(without_styles(&shown).lines().last().is_none_or(|line| !line.contains('\n')), "{shown:?}");
    } else {
        println!("skipped: it took {seconds:.1} s, too short for a bar, or there is no terminal");
    }
    if let Some(shown) = in_terminal(80, &format!("{ASSAY} epsilon --discrete-gaussian 5x10 --delta 1e-11")) {
        assert!(!shown.contains("working") && shown.contains("10.124"), "{shown:?}");
    }
    let output = Command::new(ASSAY)
        .args(["sample", "--discrete-gaussian", "1e18", "--count", "6000000"])
        .stdout(Stdio::null())
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty());
}

/// Sends a signal as soon as an unfinished file is there; what is left then.
fn interrupted(signal: &str, args: &[&str], folder: &Path) -> (Option<i32>, Vec<String>) {
    let mut child = spawned(args);
    let names = || -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let began = Instant::now();
    while !names().iter().any(|name| name.ends_with(".part")) && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().expect("its status").is_none(), "{args:?} ended before it was interrupted");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().expect("kill").success());
    let status = child.wait().expect("it ends").code();
    (status, names())
}

#[test]
fn ctrl_c_leaves_nothing_unfinished() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("in.csv"), format!("count\n{}", "5\n".repeat(6_000_000))).expect("written");
    let noise = ["noise", &at("in.csv"), "--column", "count", "--discrete-gaussian", "5", "--out", &at("out.csv")];
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let (code, names) = interrupted(signal, &noise, folder.path());
        assert_eq!((code, &names[..]), (Some(status), &["in.csv".to_string()][..]));
    }
}

#[test]
fn ctrl_c_removes_the_folder_of_measurements() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (mut blocks, mut counts) = (String::from("block,place\n"), String::from("block,h1,count\n"));
    for n in 0..40_000_u64 {
        let (county, tract, group, block) = (1 + 2 * (n / 10_000), n / 100 % 100, n / 10 % 10, n % 10);
        let id = format!("44{county:03}{:06}{group}00{block}", 100 * (tract + 1));
        blocks += &format!("{id},{}\n", n / 700 % 5);
        counts += &format!("{id},occupied,{}\n", n * 37 % 90);
    }
    fs::write(at("blocks.csv"), blocks).expect("written");
    fs::write(at("counts.csv"), counts).expect("written");
    fs::write(at("plan.toml"), "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n").expect("written");
    text(&["spine", "--blocks", &at("blocks.csv"), "--plan", &at("plan.toml"), "--out", &at("spine")]);
    let release = ["--release", "pl94-units-us", "--out", &at("noisy")];
    let args = [&["measure", "--spine", &at("spine"), "--counts", &at("counts.csv")], &release[..]].concat();
    let (code, names) = interrupted("-INT", &args, folder.path());
    assert_eq!(
        (code, names),
        (Some(130), ["blocks.csv", "counts.csv", "plan.toml", "spine"].map(String::from).to_vec())
    );
}
