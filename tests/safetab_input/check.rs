//! `assay tabulate --check` and `--dry-run`: without a draw.

use std::process::Command;

use serde_json::Value;

use super::*;

/// The program on the example, with its persons or its households, and with files of a folder instead of its own.
fn run(households: bool, own: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let example = |name: &str, folder: &str| {
        let own = own.join(name);
        if own.exists() { own } else { Path::new(folder).join(name) }
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("tabulate").args(["--spec", EXAMPLE]).arg("--geography").arg(example("GRF-C.txt", EXAMPLE));
    if households {
        command.arg("--config").arg(example("config.json", HOUSEHOLD_EXAMPLE));
        command.arg("--households").arg(example("household-records.txt", HOUSEHOLD_EXAMPLE));
        command.arg("--totals").arg(example("pop-group-totals.txt", HOUSEHOLD_EXAMPLE));
    } else {
        command.arg("--config").arg(example("config.json", EXAMPLE));
        command.arg("--persons").arg(example("person-records.txt", EXAMPLE));
    }
    let output = command.args(more).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_examples_are_checked_without_a_draw() {
    let folder = tempfile::tempdir().unwrap();
    for (households, count) in [(false, 500), (true, 300)] {
        let (status, stdout, stderr) = run(households, folder.path(), &["--check", "--json"]);
        assert_eq!(status, Some(0), "{stderr}");
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert!(answer["records"] == count && answer["status"] == "no rule is broken");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_dry_run_is_the_account_and_the_key_set() {
    let folder = tempfile::tempdir().unwrap();
    let account = |households: bool| -> Value {
        let (status, stdout, stderr) = run(households, folder.path(), &["--dry-run", "--json"]);
        assert_eq!(status, Some(0), "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    };
    // The records are not read, so none need to exist.
    fs::write(folder.path().join("person-records.txt"), "nothing").unwrap();
    fs::write(folder.path().join("household-records.txt"), "nothing").unwrap();
    let persons = account(false);
    assert_eq!(persons["rho_exact"], "29/4");
    assert!(persons["draw"].is_null() && persons["passes"][0].get("rows").is_none());
    let all = read_all(Path::new(EXAMPLE));
    let nation = &persons["passes"][0]["levels"][1];
    let key_set = all.1.key_set(Granularity::Detailed, IterationLevel::Two);
    assert_eq!(nation["iterations"], key_set.len());
    assert_eq!(nation["stability"], all.1.stability(Granularity::Detailed, IterationLevel::Two));

    let households = account(true);
    // Nation and states: 0.25 + 2; counties, tracts and places: 0.25 + 0.5; areas: 0.5. Twice, for T3 and T4.
    assert_eq!(households["rho_exact"], "29/2");
    let totals = fs::read_to_string(Path::new(HOUSEHOLD_EXAMPLE).join("pop-group-totals.txt")).unwrap();
    let levels = |pass: usize| households["passes"][pass]["levels"].as_array().unwrap().iter();
    let groups: u64 = levels(0).chain(levels(1)).map(|level| level["groups"].as_u64().unwrap()).sum();
    // Groups of AIANNH level 1 have no budget.
    let without_budget = totals.lines().filter(|row| row.contains("AIANNH")).count() as u64;
    let rows = totals.lines().count() as u64 - 1;
    assert!(groups < rows && groups >= rows - without_budget, "{groups} {rows}");
    for level in levels(0) {
        let selected: u64 = level["groups_t3"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(selected, level["groups"].as_u64().unwrap());
    }
}

#[test]
fn faults_are_reported_before_anything_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let spoil = |example: &str, name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(Path::new(example).join(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(folder.path().join(name), text.replacen(from, to, 1)).unwrap();
    };
    for (households, example, name, from, to, expected) in [
        (false, EXAMPLE, "person-records.txt", "|1|False|", "|3|False|", "QSEX"),
        (false, EXAMPLE, "config.json", "0.25", "-1", "value not allowed"),
        (true, HOUSEHOLD_EXAMPLE, "household-records.txt", "|16|4000", "|64|4000", "value not allowed"),
        (true, HOUSEHOLD_EXAMPLE, "config.json", "[50, 150, 300]", "[50, 150]", "three whole numbers"),
        (true, HOUSEHOLD_EXAMPLE, "config.json", "\": [50]", "\": [50, 60]", "one whole number"),
        (
            true,
            HOUSEHOLD_EXAMPLE,
            "config.json",
            "privacy_budget_h_t4_level_2_usa",
            "privacy_budget_p_level_2_usa",
            "unknown key",
        ),
        (true, HOUSEHOLD_EXAMPLE, "config.json", "[50, 150, 300]", "[50, 350, 300]", "do not descend"),
        (true, HOUSEHOLD_EXAMPLE, "pop-group-totals.txt", "COUNT", "TOTAL", "wrong headings"),
        (true, HOUSEHOLD_EXAMPLE, "pop-group-totals.txt", "|USA|", "|USA|x", "1 to 4 digits"),
    ] {
        spoil(example, name, from, to);
        for what in ["--check", "--dry-run"] {
            let (status, stdout, stderr) = run(households, folder.path(), &[what]);
            if what == "--dry-run" && name.contains("records") {
                assert_eq!(status, Some(0), "{stderr}");
                continue;
            }
            assert!(status == Some(2) && stdout.is_empty(), "{name} {to}: {stdout}");
            assert!(stderr.contains(expected) && stderr.contains(name), "{name} {to}: {stderr}");
        }
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    // Contradictory options are refused before anything is read.
    for more in [&[][..], &["--check", "--dry-run"], &["--check", "--out", "x"], &["--dry-run", "--resume"]] {
        let (status, _, stderr) = run(true, folder.path(), more);
        assert_eq!(status, Some(2), "{more:?}: {stderr}");
    }
}
