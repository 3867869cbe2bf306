//! What `check.py --signed` promises of a memo's folder, under attack: proofs/test_folder.py changes one in a thousand ways.

use std::{path::Path, process::Command};

use crate::common::program::{assay, json};

#[test]
fn a_signed_folder_cannot_be_changed_unnoticed() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("memo");
    let of = ["memo", "--discrete-gaussian", "5x10", "--delta", "1e-9", "--prior", "0.2", "--alpha", "0.05"];
    let args = [&of[..], &["--date", "2026-01-02", "--out"]].concat();
    assay(&[&args[..], &[out.to_str().unwrap()]].concat()).assert().success();
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/test_folder.py");
    let run = Command::new("python3").arg("-B").arg(test).env("ASSAY_MEMO", &out).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    // The sentence of outputs, in place of those of events.
    let outputs = folder.path().join("outputs");
    let of = [&args[..], &[outputs.to_str().unwrap(), "--of", "outputs"]].concat();
    let said = json(&of)["statement"].to_string();
    assert!(said.contains("has a posterior probability above") && !said.contains("after every event"), "{said}");
    let one = "Folder.test_a_sentence_that_no_certificate_bears_is_refused";
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/test_folder.py");
    let run = Command::new("python3").arg("-B").arg(test).arg(one).env("ASSAY_MEMO", &outputs).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn a_ledger_speaks_in_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger.toml");
    let claim = "At delta = 1e-6, the least epsilon is at most 0.2.\\\" And it is \\\"small";
    let text = format!(
        "name='l'\ntitle='Two'\nsource='made up'\nrule=\"{claim}\"\n[[population]]\nname='per\"sons'\nneighbors='add-remove'\nreleases=['su-su-wang-2025']\n"
    );
    std::fs::write(&ledger, text).unwrap();
    let out = folder.path().join("memo");
    let args = ["memo", "--ledger", ledger.to_str().unwrap(), "--delta", "1e-6", "--out", out.to_str().unwrap()];
    assay(&args).assert().success();
    let markdown = std::fs::read_to_string(out.join("memo.md")).unwrap();
    let statement = markdown.split("## Statement").nth(1).unwrap().trim_start();
    assert!(
        statement
            .starts_with("The ledger says: \"At delta = 1e-6, the least epsilon is at most 0.2.' And it is 'small\""),
        "{statement}"
    );
    // The name of a population ends no quotation either, and the checker finds the certificate of the population by it.
    assert!(
        statement.contains("for which 1 of 1 releases about \"per'sons\" composed are (epsilon, delta)"),
        "{statement}"
    );
    let check = ["-I", "check.py", "--quiet", "statement.txt", "certificates/per-sons-all.json"];
    if let Ok(run) = Command::new("python3").current_dir(&out).args(check).output() {
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status.success() && said.contains("by certificates/per-sons-all.json: At delta = 1e-6"), "{said}");
    }
}
