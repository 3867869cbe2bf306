//! `assay memo`: a folder that an auditor can check with the checker beside it, and sign.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::program::{assay, json, refusal};

const OWN: &str = r#"
name = "own"
title = "A <b>table</b> | of `a` *town* & more"
source = "made up for a test"
neighbors = "add-remove"
[[level]]
name = "Town"
[[level.query]]
name = "total"
sigma2 = 40
[[level]]
name = "Block/../Group"
[[level.query]]
name = "by age"
sigma2 = 2.5
cells = 2
"#;

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// All files below a folder, by their relative paths.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(folder.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let name = below.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(name);
            } else {
                all.insert(name.to_str().unwrap().to_string(), fs::read(entry.path()).unwrap());
            }
        }
    }
    all
}

/// Checks SHA256SUMS against all files but the memo, which has its hash, and returns all others.
fn checked(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = files(folder);
    let sums = String::from_utf8(all.remove("SHA256SUMS").expect("SHA256SUMS")).unwrap();
    let line = |(name, bytes): (&String, &Vec<u8>)| {
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hash}  {name}")
    };
    let listed = all.iter().filter(|(name, _)| !["memo.html", "memo.md"].contains(&name.as_str()));
    assert_eq!(sums.lines().map(String::from).collect::<Vec<_>>(), listed.map(line).collect::<Vec<_>>());
    let own: String = Sha256::digest(&sums).iter().map(|byte| format!("{byte:02x}")).collect();
    for form in ["memo.html", "memo.md"] {
        let whole = text(&all, form);
        let (before, _) = whole.rsplit_once("Certificates checked on").expect("the fields to sign");
        let (_, above) = before.rsplit_once("Signature").expect("the section of the signature");
        assert!(above.contains(&own), "{form} has the hash of SHA256SUMS above the signature");
    }
    all
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

/// Proves all certificates with the checker of the folder; the number of those that it proves.
fn proven(folder: &Path) -> Option<usize> {
    let mut certificates: Vec<String> =
        files(folder).into_keys().filter(|name| name.starts_with("certificates/")).collect();
    certificates.sort();
    let run =
        Command::new("python3").current_dir(folder).args(["-I", "check.py", "--quiet"]).args(&certificates).output();
    let run = run.ok()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let count = String::from_utf8_lossy(&run.stdout).lines().filter(|line| line.ends_with(": proven")).count();
    assert_eq!(count, certificates.len());
    Some(count)
}

/// The number of sentences of the Statement that the certificates bear, as check.py reads it; every other one has to say that it has none.
fn borne_by(folder: &Path) -> Option<usize> {
    let names = files(folder).into_keys().filter(|name| name.starts_with("certificates/"));
    let mut run = Command::new("python3");
    run.current_dir(folder).args(["-I", "check.py", "--quiet", "--json", "statement.txt"]).args(names);
    let run = run.output().ok()?;
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let statement =
        answers.iter().find(|answer| answer["file"] == "statement.txt").expect("an answer about the Statement");
    assert_eq!(statement["verdict"], "proven", "{statement}");
    let sentences = statement["statements"].as_array().unwrap();
    Some(sentences.iter().filter(|one| one.as_str().unwrap().starts_with("by certificates/")).count())
}

/// The answers of `check.py --signed` with the hash of the folder: the number of those that are proven; an error where one is not.
fn signed(folder: &Path) -> Option<usize> {
    let hash: String =
        Sha256::digest(fs::read(folder.join("SHA256SUMS")).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
    let run = Command::new("python3")
        .current_dir(folder)
        .args(["-I", "check.py", "--quiet", "--json", "--signed"])
        .arg(hash)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    let refused = said.lines().find(|line| !line.contains("\"verdict\": \"proven\""));
    assert_eq!(run.status.success(), refused.is_none(), "{said}");
    if let Some(refused) = refused {
        eprintln!("{refused}");
    }
    Some(said.lines().filter(|line| line.contains("\"verdict\": \"proven\"")).count())
}

#[test]
fn a_statement_that_says_nothing_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let cells = put(
        folder.path(),
        "cells.csv",
        "i,j,p\n0,0,1\n1,0,1/2\n1,2,1/2\n2,0,1/6\n2,2,1/2\n2,3,1/3\n3,2,1/4\n3,3,1/2\n3,4,1/4\n",
    );
    let out = folder.path().join("memo");
    let statement = |more: &[&str]| {
        let args = ["memo", "--out", out.to_str().unwrap()];
        let answer = json(&[&args[..], more].concat());
        let sentences = answer["statement"].as_array().unwrap().clone();
        let all = checked(&out);
        assert_eq!(text(&all, "statement.txt").lines().count(), sentences.len());
        assert!(!answer["statement"].to_string().contains("at least 0 and at most 0"), "{answer}");
        let borne = all.contains_key("check.py").then(|| borne_by(&out)).flatten();
        fs::remove_dir_all(&out).unwrap();
        (sentences.iter().map(|one| one.as_str().unwrap().to_string()).collect::<Vec<_>>(), borne)
    };
    let given = format!("{cells}x3");
    // A single person's count is 2 with probability 1/2, which a zero never is: of three cells 1 - (1/2)^3, and (1 + 0.875) / 2.
    let right = "is right with a probability of at most 0.937500000001: at most 93.8 times in 100.";
    let (sentences, _) = statement(&["--p-table", &given]);
    let first = "Without a certificate: At delta = 1e-10, no epsilon is finite: with probability 0.875 an output occurs that only one of two neighbors can have.";
    assert!(sentences[1] == first && sentences[2].ends_with(right), "{sentences:?}");
    let neighbors =
        "Without a certificate: Neighbors are two data sets of which one has a record that the other has not.";
    assert_eq!(sentences[0], neighbors);
    let (sentences, _) = statement(&["--p-table", &given, "--delta", "0.97"]);
    assert!(sentences[1].starts_with("Without a certificate: At delta = 0.97, epsilon = 0 is enough"), "{sentences:?}");
    assert!(sentences[2].starts_with("Without a certificate: An adversary") && sentences[2].ends_with(right));
    // The same with certificates: a tiny change of much noise.
    let (sentences, borne) = statement(&["--discrete-gaussian", "1e6", "--delta", "0.5"]);
    assert!(sentences[1].starts_with("At delta = 0.5, epsilon = 0 is enough: "), "{sentences:?}");
    assert_eq!((sentences.len(), borne.unwrap_or(3)), (4, 3));
    // Of guarantees nothing is said to exist.
    let (sentences, _) = statement(&["--approximate", "1:1e-5", "--delta", "1e-6"]);
    let first = "Without a certificate: At delta = 1e-6, no finite epsilon follows from the inputs: they allow outputs that only one of two neighbors can have, with \
                 probability 0.00001.";
    assert!(sentences[1] == first && sentences.iter().all(|one| !one.contains("at least")), "{sentences:?}");
    let (sentences, borne) = statement(&["--approximate", "0.5:1e-6x10", "--delta", "1e-4"]);
    assert!(
        sentences.iter().all(|one| !one.contains("at least") && !one.contains("no epsilon below")),
        "{sentences:?}"
    );
    assert_eq!(borne.unwrap_or(3), 3);
}

#[test]
fn a_release_gives_a_folder_that_its_own_checker_proves() {
    let folder = tempfile::tempdir().unwrap();
    let own = put(folder.path(), "own.toml", OWN);
    let out = folder.path().join("memo");
    let args = ["memo", "--release", &own, "--delta", "1e-6", "--date", "2026-02-28", "--out"];
    let answer = json(&[&args[..], &[out.to_str().unwrap()]].concat());
    assert_eq!((&answer["certificates"], &answer["date"]), (&Value::from(4), &Value::from("2026-02-28")));
    let all = checked(&out);
    assert_eq!(text(&all, "inputs/own.toml"), OWN);
    assert_eq!(text(&all, "check.py"), include_str!("../proofs/check.py"));
    assert_eq!(text(&all, "check.html"), include_str!("../proofs/check.html"));
    assert_eq!(proven(&out).unwrap_or(4), 4);
    let (html, markdown) = (text(&all, "memo.html"), text(&all, "memo.md"));
    // The ends in both forms are those of the certificate.
    let certificate: Value = serde_json::from_str(&text(&all, "certificates/epsilon-all.json")).unwrap();
    let epsilon = json(&["epsilon", "--release", &own, "--delta", "1e-6", "--digits", "12"]);
    let middle = epsilon["epsilon"]["lower"].to_string();
    for form in [&html, &markdown] {
        assert!(form.contains(&middle[..9]) && form.contains("certificates/epsilon-2-block-group.json"), "{form}");
        assert!(form.contains("Date of this memo: 2026-02-28") && form.contains("Signature"));
        let checker: String = Sha256::digest(&all["check.py"]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(form.contains(&checker));
    }
    assert!(certificate["claim"].to_string().contains("own"));
    // The Statement is a file of its own, which the checkers compare with the certificates.
    let sentences: Vec<&str> =
        answer["statement"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(text(&all, "statement.txt").lines().collect::<Vec<_>>(), sentences);
    let borne = sentences.iter().filter(|sentence| !sentence.starts_with("Without a certificate: ")).count();
    assert_eq!((borne, borne_by(&out)), (4, Some(4)), "{sentences:?}");
    // Nothing of an input is markup.
    assert!(!html.contains("<b>") && html.contains("&lt;b&gt;table") && !html.contains("<script"));
    assert!(!markdown.contains("<b>") && markdown.contains("\\| of \\`a\\` \\*town\\* \\& more"));
}

#[test]
fn the_same_input_gives_the_same_bytes_apart_from_the_date() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, date: &str| {
        let out = folder.path().join(name);
        let args = ["memo", "--discrete-gaussian", "5x10", "--delta", "1e-9", "--date", date, "--out"];
        assay(&[&args[..], &[out.to_str().unwrap()]].concat()).assert().success();
        checked(&out)
    };
    let (first, again, later) = (written("a", "2026-01-02"), written("b", "2026-01-02"), written("c", "2026-01-03"));
    assert_eq!(first, again);
    for (name, bytes) in &first {
        assert_eq!(*bytes == later[name], !name.starts_with("memo."), "{name}");
    }
    let changed = |name: &str| text(&later, name).replace("2026-01-03", "2026-01-02") == text(&first, name);
    assert!(changed("memo.html") && changed("memo.md"));
}

#[test]
fn a_number_without_a_certificate_has_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("memo");
    let answer = json(&["memo", "--randomized-response", "1:3x3", "--delta", "1e-6", "--out", out.to_str().unwrap()]);
    assert_eq!(answer["certificates"], 0);
    let without = answer["without_certificate"].as_array().unwrap();
    assert_eq!(without.len(), 2);
    let all = checked(&out);
    // The folder is checked all the same: the hash above the signature, every file, and that each sentence says that it has none.
    assert!(all.contains_key("check.py") && all.contains_key("check.html"));
    assert_eq!(signed(&out).unwrap_or_default(), 2);
    let markdown = text(&all, "memo.md");
    assert!(
        markdown.contains("No certificate was written") && markdown.contains(without[0]["reason"].as_str().unwrap())
    );
    assert!(
        markdown.contains("How to check") && markdown.contains("Without certificates the checks compare the files")
    );
    fs::write(out.join("statement.txt"), "another\n").unwrap();
    assert_eq!(signed(&out).unwrap_or_default(), 0);
}

#[test]
fn a_ledger_has_a_certificate_of_all_where_nothing_is_a_worst_case() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "one.toml", &OWN.replace("\"own\"", "\"one\""));
    put(folder.path(), "two.toml", &OWN.replace("\"own\"", "\"two\"").replace("40", "9"));
    let ledger = put(
        folder.path(),
        "ledger.toml",
        "name='l'\ntitle='Two'\nsource='made up'\nrule='Both.'\n[[population]]\nname='persons'\nneighbors='add-remove'\nreleases=['one.toml', 'two.toml']\n",
    );
    let out = folder.path().join("memo");
    let answer = json(&["memo", "--ledger", &ledger, "--delta", "1e-6", "--out", out.to_str().unwrap()]);
    assert_eq!(
        (&answer["certificates"], answer["without_certificate"].as_array().unwrap().len()),
        (&Value::from(3), 0)
    );
    let all = checked(&out);
    assert!(["inputs/ledger.toml", "inputs/one.toml", "inputs/two.toml"].iter().all(|name| all.contains_key(*name)));
    assert_eq!(proven(&out).unwrap_or(3), 3);
    let of = json(&["ledger", &ledger, "--delta", "1e-6"]);
    let composed = of["populations"][0]["composed"]["epsilon"]["lower"].to_string();
    assert!(text(&all, "memo.md").contains(&composed[..9]), "{composed}");
    assert_eq!(borne_by(&out).unwrap_or(1), 1);
    assert!(
        text(&all, "statement.txt")
            .contains("for which 2 of 2 releases about \"persons\" composed are (epsilon, delta)")
    );
    // A certificate names the ledger, and the text of it.
    let hash: String = Sha256::digest(&all["inputs/ledger.toml"]).iter().map(|byte| format!("{byte:02x}")).collect();
    for (name, part) in [("persons-all", "2 of 2 releases composed"), ("persons-one", "one")] {
        let certificate: Value = serde_json::from_str(&text(&all, &format!("certificates/{name}.json"))).unwrap();
        // With the numbers of counts of each noise and the name of the file, which a checker compares.
        let subject = certificate["claim"]["subject"].as_str().unwrap();
        let (start, end) = (format!("ledger l (SHA-256 {hash}), persons: {part}: "), format!(" counts [{name}.json]"));
        assert!(subject.starts_with(&start) && subject.ends_with(&end), "{subject}");
    }
}

/// Bounded neighbors and block paths: the worst of all ways is certified where they are few, and no lower end is stated that no record may attain.
#[test]
fn a_ledger_of_block_paths_has_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let paths = include_str!("../proofs/examples/two-paths.toml");
    put(folder.path(), "one.toml", &OWN.replace("\"own\"", "\"one\"").replace("add-remove", "bounded"));
    put(folder.path(), "two.toml", paths);
    put(folder.path(), "three.toml", &paths.replace("\"two-paths\"", "\"three\""));
    let of = |releases: &str| {
        let toml = format!(
            "name='l'\ntitle='Two'\nsource='made up'\nrule='Both.'\n[[population]]\nname='persons'\nneighbors='bounded'\nreleases=[{releases}]\n"
        );
        let ledger = put(folder.path(), "ledger.toml", &toml);
        let out = folder.path().join("memo");
        let answer =
            json(&["memo", "--ledger", &ledger, "--delta", "1e-6", "--digits", "5", "--out", out.to_str().unwrap()]);
        assert_eq!(answer["without_certificate"].as_array().unwrap().len(), 0, "{answer}");
        assert_eq!(borne_by(&out).unwrap_or(1), 1);
        let said = text(&checked(&out), "statement.txt");
        fs::remove_dir_all(&out).unwrap();
        said
    };
    // A changed record may leave no count of the first and enter none; and which path of one goes with which of the other is not known.
    assert!(of("'one.toml', 'two.toml'").contains("under bounded neighbors is at most "));
    assert!(of("'two.toml', 'three.toml'").contains("under bounded neighbors is at most "));
}

/// Beside epsilon: a decision at a prior, the posterior after events, and the power of tests, of the mechanism in both relations, of a table and of guarantees.
#[test]
fn decisions_posteriors_and_tests_are_stated_with_their_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let table = put(folder.path(), "odd.csv", include_str!("../proofs/examples/odd.csv"));
    let table = format!("{table}x2");
    let cases: [(&[&str], usize, usize); 5] = [
        (&["--discrete-gaussian", "5x10", "--delta", "1e-6"], 6, 12),
        (&["--discrete-gaussian", "5x10", "--group", "2", "--delta", "1e-6"], 6, 12),
        // Neither order of both records is the first: lower ends of one direction are left out.
        (&["--discrete-gaussian", "5x10", "--neighbors", "bounded", "--delta", "1e-6"], 5, 8),
        // Presence and absence differ.
        (&["--table", &table, "--delta", "0.3"], 7, 14),
        // Of guarantees nothing is said to exist.
        (&["--approximate", "0.5:1e-3x2", "--delta", "0.1"], 6, 7),
    ];
    for (args, certificates, borne) in cases {
        let out = folder.path().join("memo");
        let more = ["--prior", "0.2", "--alpha", "0.05", "--out", out.to_str().unwrap()];
        let answer = json(&[&["memo"], args, &more].concat());
        assert_eq!(answer["certificates"], certificates, "{args:?}: {answer}");
        assert_eq!(borne_by(&out).unwrap_or(borne), borne, "{args:?}: {answer}");
        assert!(!answer["statement"].to_string().contains(",,"), "{answer}");
        fs::remove_dir_all(&out).unwrap();
    }
    // Without a certificate every sentence says so.
    let out = folder.path().join("memo");
    let more = ["--prior", "0.2", "--alpha", "0.05", "--out", out.to_str().unwrap()];
    let answer = json(&[&["memo", "--randomized-response", "1:3x3"], &more[..]].concat());
    let said = answer["statement"].as_array().unwrap();
    assert!(said.iter().all(|one| one.as_str().unwrap().starts_with("Without a certificate: ")), "{said:?}");
    assert!(answer["statement"].to_string().contains("finds presence wrongly"), "{said:?}");
}

/// Of a table whose two directions differ: posteriors of outputs and the power of tests, of each direction where both together have none or say less.
#[test]
fn directions_that_differ_have_numbers_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let table = put(folder.path(), "a.csv", "value,mass\n0,9/10\n1,1/10\n");
    let out = folder.path().join("memo");
    let more = ["--prior", "0.3", "--of", "outputs", "--alpha", "0.05", "--out", out.to_str().unwrap()];
    let answer = json(&[&["memo", "--table", &table, "--delta", "0.3"], &more[..]].concat());
    assert_eq!((answer["certificates"].as_u64(), borne_by(&out).unwrap_or(9)), (Some(5), 9), "{answer}");
    let said = answer["statement"].to_string();
    // The outputs 1 and 2 have 9/10 and 1/10 with the record, and 1/10 and 0 without it: the second exceeds with 1/10 in 3/10, so 27/34 is the truth, and 0.8526 what delta proves.
    assert!(said.contains("0.3 for presence, has a posterior probability above 0.85263157896 for it"), "{said}");
    assert!(said.contains("No posterior probability below 1 is proven in 36 digits"), "{said}");
    assert!(said.contains("0.3 for absence"), "{said}");
    // Half of the outputs 1 without the record, and all outputs 2: 1/20 of 1/10. Absence is the output 0, 9/10, and of the output 1 a share of 1/18.
    assert!(said.contains(
        "finds presence wrongly with a probability of at most 0.05 finds it rightly with a probability above 0.55"
    ));
    assert!(said.contains(
        "finds absence wrongly with a probability of at most 0.05 finds it rightly with a probability above 0.9055"
    ));
}

#[test]
fn files_of_masses_are_copied_and_hashed_whatever_count_follows() {
    let folder = tempfile::tempdir().unwrap();
    let noise = "value,mass\n-2,1/20\n-1,1/5\n0,1/2\n1,1/5\n2,1/20\n";
    let table = put(folder.path(), "noise.csv", noise);
    let pair = put(folder.path(), "pair.csv", "p,q\n9/10,1/2\n1/10,1/2\n");
    let cells = put(
        folder.path(),
        "cells.csv",
        "i,j,p\n0,0,1\n1,0,1/2\n1,2,1/2\n2,0,1/6\n2,2,1/2\n2,3,1/3\n3,2,1/4\n3,3,1/2\n3,4,1/4\n",
    );
    let hash = |text: &str| Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (option, file, name, end) in [
        ("--table", &table, "noise.csv", "x3"),
        ("--table", &table, "noise.csv", "x2@=2"),
        ("--pair", &pair, "pair.csv", "x2"),
        ("--p-table", &cells, "cells.csv", "x3"),
        ("--table", &table, "noise.csv", ""),
    ] {
        let out = folder.path().join("memo");
        let given = format!("{file}{end}");
        let content = fs::read_to_string(file).unwrap();
        assay(&["memo", option, &given, "--delta", "0.97", "--out", out.to_str().unwrap()]).assert().success();
        let all = checked(&out);
        assert_eq!(text(&all, &format!("inputs/{name}")), content, "{given}");
        assert!(!text(&all, "memo.md").contains("not hashed"), "{given}");
        // In the provenance of other answers as well.
        let inputs = &json(&["delta", option, &given, "--epsilon", "0"])["provenance"]["inputs"];
        assert_eq!(inputs, &serde_json::json!([{ "name": file, "sha256": hash(&content) }]), "{given}");
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn a_memo_of_a_ledger_with_parts_has_their_rule_and_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let one = put(folder.path(), "one.toml", &OWN.replace("\"own\"", "\"one\""));
    let entry = |name: &str, more: &str| {
        format!("[[entry]]\nname='{name}'\nrelease='one.toml'\npartition='day'\npart='{name}'\n{more}\n")
    };
    let head = "name='l'\ntitle='Days'\nsource='made up'\nrule='All.'\n[[population]]\nname='persons'\nneighbors='add-remove'\n";
    let partition = "[[partition]]\nname='day'\nrule='The day of the visit.'\n";
    let parts = entry("all", "") + &entry("day 1", "times=2") + &entry("day-1", "");
    let ledger = put(folder.path(), "ledger.toml", &format!("{head}{partition}{parts}"));
    let delta = ["--delta", "1e-6"];
    assay(&[&["ledger", &ledger, "--add", &one, "--promise", "99"][..], &delta].concat()).assert().success();
    let out = folder.path().join("memo");
    let answer = json(&[&["memo", "--ledger", &ledger, "--out", out.to_str().unwrap()][..], &delta].concat());
    // Of the parts one contains the others, so everything is one composition.
    assert_eq!((&answer["certificates"], answer["without_certificate"].as_array().unwrap().len()), (&5.into(), 0));
    let all = checked(&out);
    for name in [
        "inputs/ledger-toml.log",
        "certificates/persons-all.json",
        "certificates/persons-all-2.json",
        "certificates/persons-day-1-2.json",
    ] {
        assert!(all.contains_key(name), "{name}: {:?}", all.keys());
    }
    let markdown = text(&all, "memo.md");
    assert!(
        markdown.contains("The day of the visit.") && markdown.contains("day 1, 2 times (day day 1)"),
        "{markdown}"
    );
    assert_eq!(proven(&out).unwrap_or(5), 5);
    let of = json(&[&["ledger", &ledger][..], &delta].concat());
    let composed = of["populations"][0]["composed"]["epsilon"]["lower"].to_string();
    assert!(markdown.contains(&composed[..9]), "{composed}");
}

#[test]
fn a_wrong_printed_value_is_in_the_memo_and_in_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: &str, printed: &str| {
        format!(
            "[[value]]\nid = \"{id}\"\nplace = \"Table 1\"\nprinted = \"{printed}\"\nunit = \"nats\"\ncompute = {{ kind = \"epsilon\", discrete-gaussian = \"5x10\", delta = 1e-11 }}\n"
        )
    };
    let head = "paper = \"mine\"\ntitle = \"Mine\"\n";
    let file = put(folder.path(), "mine.toml", &format!("{head}{}{}", row("right", "10.12"), row("wrong", "9.12")));
    let out = folder.path().join("memo");
    assay(&["memo", "--verify", &file, "--out", out.to_str().unwrap()]).assert().code(1);
    let all = checked(&out);
    let markdown = text(&all, "memo.md");
    assert!(markdown.contains("Of 2 printed values that were recomputed: 1 agrees, 1 differs."), "{markdown}");
    assert!(markdown.contains("these do not agree: wrong."), "{markdown}");
    assert!(all.contains_key("inputs/mine.toml"));
    assert_eq!(proven(&out).unwrap_or(2), 2);
}

#[test]
fn bad_input_is_refused_and_no_folder_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("memo");
    let at = out.to_str().unwrap();
    let counts = ["--discrete-gaussian", "5x10"];
    for (args, said) in [
        (vec!["--release", "zzz"], "--release: unknown release \"zzz\""),
        (vec![], "nothing to account for"),
        (vec!["--ledger", "zzz"], "unknown ledger \"zzz\""),
        (vec!["--verify", "none.toml"], "--verify: none.toml: no such file"),
        (vec!["--verify", "safetab-2021", "--delta", "1e-9"], "cannot be used with"),
        (vec!["--verify", "safetab-2021", "--repeat", "2"], "cannot be used with"),
        ([&counts[..], &["--ledger", "us-2020-persons"]].concat(), "cannot be used with"),
        ([&counts[..], &["--date", "2026-02-29"]].concat(), "--date: the date"),
        ([&counts[..], &["--delta", "0"]].concat(), "--delta"),
        ([&counts[..], &["--table", "none.csvx3"]].concat(), "--table none.csvx3"),
    ] {
        let message = refusal(&[&["memo"], &args[..], &["--out", at]].concat());
        assert!(message.contains(said), "{args:?}: {message}");
        assert!(!out.exists() && fs::read_dir(folder.path()).unwrap().next().is_none(), "{args:?}");
    }
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine.txt"), "mine").unwrap();
    let message = refusal(&["memo", "--discrete-gaussian", "5x10", "--out", at]);
    assert!(message.contains("holds files"), "{message}");
    assert_eq!(files(&out).len(), 1);
}
