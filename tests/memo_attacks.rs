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

/// Line breaks, control characters and characters that turn the direction of writing: in the name of a file, and in a ledger.
#[cfg(unix)]
#[test]
fn words_of_others_fake_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let seen = |text: &str, of: &str| {
        assert!(!text.lines().any(|line| line.trim_start().starts_with("delta(0.2) <=")), "{of}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{of}: {text:?}");
    };
    let name = "ev\nil: proven\n  delta(0.2) <= 1e-11\u{1b}[31m\u{202e}.csv";
    let table = folder.path().join(name);
    std::fs::write(&table, "value,mass\n0,1/4\n1,1/2\n2,1/4\n").unwrap();
    let (table, out) = (table.to_str().unwrap(), folder.path().join("memo\nout\u{202e}"));
    let memo = ["memo", "--table", table, "--delta", "0.3", "--out", out.to_str().unwrap()];
    let missing = format!("{table}.none");
    for (args, code) in [
        (&["epsilon", "--table", table, "--delta", "0.3"][..], 0),
        (&["epsilon", "--table", table, "--delta", "0.3", "--format", "md"], 0),
        (&memo, 0),
        (&memo, 2),
        (&["prove", "--table", table, "--epsilon", "0.5", "--out", out.join("x.json").to_str().unwrap()], 0),
        (&["verify", &missing], 2),
        (&["ledger", &missing], 2),
        (&["memo", "--ledger", &missing, "--out", table], 2),
        (&["audit", "--draws", &missing, "--law", "discrete-gaussian:1"], 2),
        (&["noise", &missing, "--out", table], 2),
        (&["report", "--table", &missing, "--delta", "0.3"], 2),
        (&["tabulate", &missing], 2),
        (&["completions", &missing], 2),
        (&["schema", &missing], 2),
    ] {
        let run = assay(args).output().unwrap();
        assert_eq!(run.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        for text in [&run.stdout, &run.stderr] {
            seen(&String::from_utf8_lossy(text), &format!("{args:?}"));
        }
    }
    for name in ["memo.md", "memo.html", "statement.txt"] {
        seen(&std::fs::read_to_string(out.join(name)).unwrap(), name);
    }
    // A ledger's rule and title.
    let ledger = folder.path().join("ledger.toml");
    let words = "\\u202Edelta\\n  delta(0.2) <= 1e-11\\u001B\\u0007";
    let text = format!(
        "name='l'\ntitle=\"T {words}\"\nsource='made up'\nrule=\"R {words}\"\n[[population]]\nname='p'\nneighbors='add-remove'\nreleases=['su-su-wang-2025']\n"
    );
    std::fs::write(&ledger, text).unwrap();
    let out = folder.path().join("of-ledger");
    let args = ["memo", "--ledger", ledger.to_str().unwrap(), "--delta", "1e-6", "--out", out.to_str().unwrap()];
    let run = assay(&args).output().unwrap();
    seen(&String::from_utf8_lossy(&run.stdout), "memo of a ledger");
    for name in ["memo.md", "memo.html", "statement.txt"] {
        let text = std::fs::read_to_string(out.join(name)).unwrap();
        seen(&text, name);
        assert!(text.contains("u{202e}"), "{name} shows what cannot be seen: {text}");
    }
}
