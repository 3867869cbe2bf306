//! Records in Parquet: read in every build, with the same rules as text.

use super::*;

use crate::common::parquet_records;

fn persons() -> String {
    fs::read_to_string(Path::new(EXAMPLE).join("person-records.txt")).unwrap()
}

/// The essential fields of each violation, with the number of the row from 1.
fn said(report: &ValidationReport, headings: u64) -> Vec<(Rule, u64, u32, String)> {
    report.iter().map(|one| (one.rule, one.line.saturating_sub(headings), one.column, one.value.clone())).collect()
}

#[test]
fn parquet_is_checked_as_text_is() {
    let folder = tempfile::tempdir().unwrap();
    let all = read_all(Path::new(EXAMPLE));
    let good = persons();
    // Five rows in different row groups are wrong.
    let bad: String = good
        .lines()
        .enumerate()
        .map(|(number, line)| match number {
            3 | 120 => line.replacen("|False|", "|Maybe|", 1).replacen("|True|", "|Maybe|", 1) + "\n",
            250 => format!("x{line}\n"),
            499 | 500 => line.replacen('|', "|9", 1) + "\n",
            _ => format!("{line}\n"),
        })
        .collect();
    for (text, wrong) in [(&good, false), (&bad, true)] {
        let plain = folder.path().join("persons.txt");
        fs::write(&plain, text).unwrap();
        let (expected, report) = check(&plain, &all);
        let violations = said(&report, 1);
        assert_eq!(!violations.is_empty(), wrong);
        for group in [1, 7, 100, 499, 500, 10_000] {
            let path = folder.path().join("persons.parquet");
            parquet_records::write(&path, text, group);
            let (found, report) = check(&path, &all);
            assert_eq!((found.records, found.united_states), (expected.records, expected.united_states), "{group}");
            assert!(found.combinations == expected.combinations && found.puerto_rico == expected.puerto_rico);
            assert_eq!(said(&report, 0), violations, "{group}");
        }
    }
}

#[test]
fn a_folder_may_hold_both() {
    let folder = tempfile::tempdir().unwrap();
    let all = read_all(Path::new(EXAMPLE));
    let text = persons();
    fs::write(folder.path().join("b.txt"), &text).unwrap();
    parquet_records::write(&folder.path().join("a.parquet"), &text, 64);
    fs::write(folder.path().join("c.md"), "not read").unwrap();
    let (found, report) = check(folder.path(), &all);
    report.into_result().unwrap();
    assert_eq!(found.records, 1000);
}

#[test]
fn damaged_and_other_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let all = read_all(Path::new(EXAMPLE));
    let path = folder.path().join("persons.parquet");
    let refused = |expected: &str| {
        let (_, report) = check(&path, &all);
        let error = report.into_result().unwrap_err().to_string();
        assert!(error.contains("persons.parquet") && error.contains(expected), "{expected}: {error}");
    };
    let text = persons();
    parquet_records::write(&path, &text.replacen("QSPAN", "SPAN", 1), 100);
    refused("no column QSPAN");
    parquet_records::write(&path, &text.replacen("QSPAN", "other_x", 1).replacen("QAGE", "QSPAN", 1), 100);
    refused("no column QAGE");
    let only_headings = text.lines().next().unwrap().to_string();
    parquet_records::write(&path, &only_headings, 100);
    refused("at least one correct record");
    for no in ["", "PAR1", "no Parquet at all"] {
        fs::write(&path, no).unwrap();
        refused("cannot be read");
    }
    parquet_records::write(&path, &text, 100);
    let whole = fs::read(&path).unwrap();
    for end in (0..whole.len()).step_by(whole.len() / 40) {
        fs::write(&path, &whole[..end]).unwrap();
        refused("cannot be read");
    }
    // A modified byte is an error, or changes only a value; never a panic.
    for at in (0..whole.len()).step_by(whole.len() / 400) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&path, bytes).unwrap();
        let (found, report) = check(&path, &all);
        assert!(found.records == 500 || report.into_result().is_err(), "byte {at}: {}", found.records);
    }
}

#[test]
fn the_program_checks_parquet_in_every_build() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("persons.parquet");
    parquet_records::write(&path, &persons(), 90);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["tabulate", "--check", "--spec", EXAMPLE, "--persons"]).arg(&path);
    command.arg("--config").arg(Path::new(EXAMPLE).join("config.json"));
    command.arg("--geography").arg(Path::new(EXAMPLE).join("GRF-C.txt"));
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && stdout.contains("500 records"), "{stdout}");
}
