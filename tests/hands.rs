//! The program in interactive use: `--help`, errors as JSON, Ctrl-C, closed pipes, full disks, and terminal output.
//! Terminals are simulated by the tool `script`; without it these tests print a note and are skipped.

#![cfg(unix)]

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::common::program::{assay, json, refusal};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const FIVE: [&str; 2] = ["--discrete-gaussian", "5x10"];

fn text(args: &[&str]) -> String {
    String::from_utf8(assay(args).assert().success().get_output().stdout.clone()).expect("UTF-8")
}

/// The output of a command in a terminal of `columns` columns; `None`, with a note, without the tool.
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
    // A file of the user, by its path.
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

/// `assay help laws` lists the laws: the help of a command that takes them fits on a screen.
#[test]
fn the_help_of_epsilon_is_short() {
    let lines = text(&["epsilon", "--help"]).lines().count();
    assert!((30..=60).contains(&lines), "{lines} lines");
}

#[test]
fn numbers_are_strings_on_request() {
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
        refusal(&["epsilon", "--release", "nosuch", "--delta", "1e-5"])
            .starts_with("assay: --release: unknown release")
    );
}

#[test]
fn a_missing_file_is_named_and_a_similar_name_suggested() {
    let missing = refusal(&["epsilon", "--release", "my/own.toml", "--delta", "1e-5"]);
    assert!(missing.contains("my/own.toml: no such file") && !missing.contains("bundled"), "{missing}");
    for (args, offered) in [
        (&["epsilon", "--release", "pl94-person-us", "--delta", "1e-5"][..], "\"pl94-persons-us\""),
        (&["epsilon", "--release", "su-su-wang-2025", "--level", "Sate", "--delta", "1e-5"], "\"State\""),
        (&["ledger", "us-2020-person", "--delta", "1e-5"], "\"us-2020-persons\""),
        (&["verify", "su-su-wang-2024"], "\"su-su-wang-2025\""),
        (&["figures", "su-su-wang-2025/figur-2"], "\"figure-2\""),
        (&["epsilom"], "'epsilon'"),
    ] {
        let message = refusal(args);
        let expected = format!("did you mean {offered}");
        assert!(message.contains(&expected) || message.contains(offered) && message.contains("similar"), "{message}");
    }
}

/// Reads one line of a command's output, and closes the pipe.
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
    for (columns, commands) in [
        (60, &["--help", "epsilon --help", "noise --help", "risk hierarchical --help"][..]),
        (80, &["--help", "tabulate --help", "help estimate", "tune --help"]),
        (200, &["--help", "tabulate --help", "help estimate"]),
    ] {
        for command in commands {
            let Some(shown) = in_terminal(columns, &format!("{ASSAY} {command}")) else { return };
            let plain = without_styles(&shown);
            let widest = plain.lines().map(|line| line.trim_end().chars().count()).max().expect("lines");
            assert!(widest <= columns.min(110) as usize, "{command} at {columns}: {widest}\n{plain}");
            assert!(plain.contains("Options:") && widest > 45, "{plain}");
        }
    }
}

/// Text without the escape sequences that set colors, move the cursor and erase.
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
    // Wide noise takes a microsecond per sample.
    let command = format!("{ASSAY} sample --discrete-gaussian 1e18 --count 20000000 > {}", out.display());
    let began = Instant::now();
    let shown = in_terminal(80, &command);
    let seconds = began.elapsed().as_secs_f64();
    if let Some(shown) = shown.filter(|_| seconds > 3.5) {
        assert!(
            shown.contains("integers drawn") && shown.contains(" of 20,000,000"),
            "after {seconds:.1} s: {shown:?}"
        );
        // The progress line is removed.
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

/// The program with Ctrl-C enabled as in a terminal: background jobs of a script inherit that it is ignored, and `env` reverts that before
/// it becomes the program.
fn heeding(args: &[&str]) -> Child {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // Signal 2, counted from the lowest bit.
    let is_ignored = mask >> 1 & 1 == 1;
    if !is_ignored {
        return spawned(args);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", ASSAY]).args(args).env_remove("ASSAY_FACTS");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Sends a signal as soon as an unfinished file exists, and returns the remaining files. A command that ended before the signal is run
/// again, after `reset`.
fn interrupted(signal: &str, args: &[&str], folder: &Path, reset: impl Fn()) -> (Option<i32>, Vec<String>) {
    const ATTEMPTS: u32 = 8;
    let names = || -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    for attempt in 1.. {
        reset();
        let mut child = heeding(args);
        let began = Instant::now();
        while !names().iter().any(|name| name.ends_with(".part")) && began.elapsed() < Duration::from_secs(30) {
            if child.try_wait().expect("its status").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let id = child.id().to_string();
        // The process may have ended.
        Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status().expect("kill");
        let status = child.wait().expect("it ends").code();
        if status != Some(0) || attempt == ATTEMPTS {
            return (status, names());
        }
    }
    unreachable!("the last attempt returns")
}

#[test]
fn ctrl_c_leaves_nothing_unfinished() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("in.csv"), format!("count\n{}", "5\n".repeat(6_000_000))).expect("written");
    let noise = ["noise", &at("in.csv"), "--column", "count", "--discrete-gaussian", "5", "--out", &at("out.csv")];
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let reset = || ["out.csv", "out.csv.provenance.json"].iter().for_each(|name| drop(fs::remove_file(at(name))));
        let (code, names) = interrupted(signal, &noise, folder.path(), reset);
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
    let inputs = ["measure", "--spine", &at("spine"), "--counts", &at("counts.csv"), "--release", "pl94-units-us"];
    let out = at("noisy");
    let args = [&inputs[..], &["--out", &out]].concat();
    let reset = || {
        drop(fs::remove_dir_all(at("noisy")));
        ["noisy.log", "noisy.key"].iter().for_each(|name| drop(fs::remove_file(at(name))));
    };
    let (code, mut names) = interrupted("-INT", &args, folder.path(), reset);
    // The log of the draw and its key stay, with which it can be resumed.
    names.retain(|name| !["noisy.log", "noisy.key"].contains(&name.as_str()));
    assert_eq!(
        (code, names),
        (Some(130), ["blocks.csv", "counts.csv", "plan.toml", "spine"].map(String::from).to_vec())
    );
}

/// An interrupted run leaves the log of its draw and its key, with which it can be resumed, and nothing of the records.
#[test]
fn ctrl_c_removes_the_unfinished_folder_of_a_tabulation() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let own = |name: &str| format!("{}/data/examples/safetab/{name}", env!("CARGO_MANIFEST_DIR"));
    let [config, spec, persons, geography] = ["config.json", "", "person-records.txt", "GRF-C.txt"].map(own);
    let out = at("release");
    let inputs = ["--config", &config, "--spec", &spec, "--persons", &persons, "--geography", &geography];
    let args = [&["tabulate"], &inputs[..], &["--out", &out]].concat();
    let reset = || {
        drop(fs::remove_dir_all(at("release")));
        ["release.log", "release.key"].iter().for_each(|name| drop(fs::remove_file(at(name))));
    };
    let (code, names) = interrupted("-INT", &args, folder.path(), reset);
    assert_eq!(code, Some(130));
    let (release, rest): (Vec<_>, Vec<_>) = names.iter().partition(|name| *name == "release");
    assert!(rest.iter().all(|name| ["release.log", "release.key"].contains(&name.as_str())), "{names:?}");
    // If interrupted in its last moments, it may have renamed the release.
    assert!(release.is_empty() || folder.path().join("release/certificate.json").exists());
}

/// A small spine with counts, in a folder; returns the arguments that measure it.
fn small_spine(folder: &Path, plan: &str) {
    let blocks = "block,mcd\n440010301001000,1\n440010301001001,2\n440010302001000,1\n440030101001000,\n";
    fs::write(folder.join("blocks.csv"), blocks).expect("written");
    fs::write(folder.join("counts.csv"), "block,h1,count\n440010301001000,occupied,31\n440030101001000,vacant,5\n")
        .expect("written");
    fs::write(folder.join("plan.toml"), plan).expect("written");
}

fn in_folder(folder: &Path, args: &[&str]) -> String {
    let output = assay(args).current_dir(folder).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("UTF-8")
}

#[test]
fn files_of_spines_have_geoids_margins_and_provenance() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    small_spine(at, "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n");
    let run = |args: &[&str]| in_folder(at, args);
    let object: Value =
        serde_json::from_str(&run(&["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "s", "--json"]))
            .expect("JSON");
    assert_eq!(object["margin_unit"], "counts");
    let (variance, rho) = (&object["levels"][0]["variance"]["upper"], 0.074_943_664_622_423_9);
    let margin = 1.959_963_984_540_054 * (variance.to_string().parse::<f64>().expect("a number") / rho).sqrt();
    assert!((object["levels"][0]["margin_95_approx"].as_f64().expect("a number") - margin).abs() < 1e-6);
    let read = |name: &str| fs::read_to_string(at.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    let units = read("s/units.csv");
    for (start, end) in [("US,0,", ","), ("State,0,", ",44"), ("County,1,", ",44003"), ("Tract,0,", ",44001030100")] {
        let row = units.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {units}"));
        assert!(row.ends_with(end), "{row}");
    }
    assert!(read("s/entities.csv").contains("\narea,44001:1,440011,2,"), "{}", read("s/entities.csv"));
    let said: Value = serde_json::from_str(&read("s/provenance.json")).expect("JSON");
    let names: Vec<&Value> = said["inputs"].as_array().expect("inputs").iter().map(|input| &input["name"]).collect();
    assert_eq!(names, ["blocks.csv", "plan.toml", "pl94-units-us"]);
    assert_eq!(said["inputs"][0]["sha256"], sha256(&at.join("blocks.csv")));

    let measure =
        ["measure", "--spine", "s", "--counts", "counts.csv", "--release", "pl94-units-us", "--insecure-seed", "4"];
    run(&[&measure[..], &["--out", "m"]].concat());
    let said: Value = serde_json::from_str(&read("m/measurements.json")).expect("JSON");
    let inputs = said["provenance"]["inputs"].as_array().expect("inputs");
    // The true counts are named but not hashed.
    let counts = inputs.iter().find(|input| input["name"] == "counts.csv").expect("named");
    assert_eq!((&counts["sha256"], &counts["confidential"]), (&Value::Null, &true.into()));
    let spine = inputs.iter().find(|input| input["name"] == "s").expect("named");
    assert_eq!(spine["sha256"], sha256(&at.join("s")));
    assert_eq!(said["provenance"]["insecure_seed"], 4);
    let county = read("m/2-county/0-detailed.csv");
    assert!(county.starts_with("unit (insecure seed 4),geoid,sigma2,") && county.contains("\n1,44003,"), "{county}");

    // Files written without GEOIDs by an earlier version can still be read.
    let estimate = |from: &str, out: &str| {
        let spine = ["estimate", "--spine", "s", "--measurements", from, "--release", "pl94-units-us"];
        let object = run(&[&spine[..], &["--out", out, "--json"]].concat());
        let object: Value = serde_json::from_str(&object).expect("JSON");
        assert_eq!(object["insecure_seed"], 4);
        assert!(object["levels"][0]["margin_95_approx"].as_f64().is_some_and(|margin| margin > 1.0));
        read(&format!("{out}/totals.csv"))
    };
    let totals = estimate("m", "e");
    let heading =
        "level,unit (insecure seed 4),geoid,estimate_approx,variance_upper,std_dev_approx,margin_95_approx,count\n";
    assert!(totals.starts_with(heading) && totals.contains("\nCounty,1,44003,"), "{totals}");
    let said: Value = serde_json::from_str(&read("e/provenance.json")).expect("JSON");
    assert_eq!(said["insecure_seed"], 4);
    for file in said_files(&read("m/measurements.json")) {
        let path = at.join("m").join(file);
        let without: Vec<String> = (fs::read_to_string(&path).expect("a file").lines())
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                [&cells[..1], &cells[2..]].concat().join(",") + "\n"
            })
            .collect();
        fs::write(&path, without.concat()).expect("written");
    }
    assert_eq!(estimate("m", "old"), totals);
}

fn said_files(manifest: &str) -> Vec<String> {
    let manifest: Value = serde_json::from_str(manifest).expect("JSON");
    let files = manifest["files"].as_array().expect("files").iter();
    files.map(|file| file["file"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn a_plan_that_names_what_is_not_used_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let entities = "\n[[entities]]\nkind = \"gq\"\nfile = \"gq.csv\"\ncolumn = \"gq\"\n";
    small_spine(folder.path(), &format!("settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n{entities}"));
    fs::write(folder.path().join("gq.csv"), "block,gq\n440010301001000,1\n").expect("written");
    let spine = ["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "s"];
    let shown = in_folder(folder.path(), &spine);
    assert!(shown.contains("names entities that its settings do not use: gq"), "{shown}");
    let object: Value =
        serde_json::from_str(&in_folder(folder.path(), &[&spine[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(object["unused_entities"], serde_json::json!(["gq"]));
    // The settings for persons do use them.
    small_spine(
        folder.path(),
        &format!("settings = \"redistricting-persons\"\nrelease = \"pl94-persons-us\"\n{entities}"),
    );
    assert!(!in_folder(folder.path(), &spine).contains("do not use"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_spine_that_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    small_spine(folder.path(), "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n");
    let spine = ["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "s"];
    let full = || {
        // No file may grow beyond one block of 512 or 1024 bytes, and the signal for it is ignored: the pictures are larger.
        let script = r#"trap "" XFSZ; ulimit -f 1; exec "$@""#;
        let output = Command::new("sh")
            .args(["-c", script, "sh", ASSAY])
            .args(spine)
            .current_dir(folder.path())
            .output()
            .expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    };
    full();
    assert!(!folder.path().join("s").exists());
    in_folder(folder.path(), &spine);
    let before = sha256(&folder.path().join("s"));
    full();
    assert_eq!(sha256(&folder.path().join("s")), before);
    let names = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(names, 4, "blocks, counts, plan and spine");
}

#[path = "../crates/core/build.rs"]
#[allow(dead_code)]
mod build_script;

#[test]
fn the_commit_is_found_in_a_checkout_in_a_package_and_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let run = Command::new("git").args(who).args(args).current_dir(root).output();
        run.is_ok_and(|output| output.status.success())
    };
    assert_eq!(build_script::commit(root), None, "no git, no package");
    fs::write(root.join(".cargo_vcs_info.json"), r#"{ "git": { "sha1": "0123abc" }, "path_in_vcs": "" }"#)
        .expect("written");
    assert_eq!(build_script::commit(root).as_deref(), Some("0123abc"));
    fs::create_dir(root.join("src")).expect("made");
    fs::write(root.join("src/lib.rs"), "one").expect("written");
    if !git(&["init", "-q"]) || !git(&["add", "-A"]) || !git(&["commit", "-qm", "one"]) {
        println!("skipped: git is not installed");
        return;
    }
    let clean = build_script::commit(root).expect("a commit");
    assert!(clean.len() == 40 && clean.chars().all(|c| c.is_ascii_hexdigit()), "{clean}");
    fs::write(root.join("src/lib.rs"), "two").expect("written");
    assert_eq!(build_script::commit(root), Some(format!("{clean}-modified")));
    // Unpacked inside of another checkout, whose commit is unrelated.
    let inside = root.join("unpacked");
    fs::create_dir(&inside).expect("made");
    assert_eq!(build_script::commit(&inside), None);
}
