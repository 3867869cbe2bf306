//! Estimates in parts, by several machines or after an interruption: identical to those of a single run, byte by byte.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::common::program::{assay, json, refusal};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/nmf")
}

/// A command line of an estimate into a file of a folder.
fn words(folder: &Path, out: &str, more: &[&str]) -> Vec<String> {
    let (nmf, out) = (example().display().to_string(), folder.join(out).display().to_string());
    let first = ["nmf", "estimate", &nmf, "--release", "pl94-persons-us", "--out", &out];
    first.iter().chain(more).map(|word| word.to_string()).collect()
}

fn run(words: &[String], more: &[&str]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let output = assay(&words).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn parts_together_are_the_whole_to_the_last_byte() {
    let folder = tempfile::tempdir().unwrap();
    let totals = example().join("state-totals.csv").display().to_string();
    let towns = folder.path().join("towns.csv");
    fs::write(&towns, "area,block\nMill,440030001001001\nMill,440010002001001\nOld,090010001001001\n").unwrap();
    let towns = towns.display().to_string();
    // A town in both states, of which no state knows all blocks.
    let across = folder.path().join("across.csv");
    fs::write(&across, "area,block\nBoth,440030001001001\nBoth,090010001001001\nMill,440010002001001\n").unwrap();
    let across = across.display().to_string();
    let truth = example().join("counts.csv").display().to_string();
    let questions: [&[&str]; 10] = [
        &["--state-totals", &totals, "--queries", "all", "--level", "US", "State", "Tract", "Block"],
        &["--whole", "votingage", "--queries", "total", "detailed", "--level", "US", "County", "Block"],
        &["--files", "bureau"],
        &["--areas", &towns, "--queries", "votingage"],
        &["--states", "44,09", "--queries", "hhgq"],
        &["--level", "US"],
        &["--areas", &across, "--queries", "votingage", "total"],
        &["--areas", &across, "--states", "09,44", "--truth", &truth],
        &["--files", "parquet", "--queries", "hhgq", "--level", "County", "Block"],
        &["--whole", "--queries", "detailed", "--level", "County", "Tract", "--truth", &truth],
    ];
    for (at, question) in questions.into_iter().enumerate() {
        let end = if question.contains(&"parquet") { "parquet" } else { "csv" };
        let name = |kind: &str| format!("{at}-{kind}.{end}");
        let said = run(&words(folder.path(), &name("one"), question), &[]);
        let one = fs::read(folder.path().join(name("one"))).unwrap();
        assert!(one.iter().filter(|byte| **byte == b'\n').count() > 1);
        let work = folder.path().join(format!("work-{at}")).display().to_string();
        let parts = words(folder.path(), &name("parts"), question);
        for _ in 0..2 {
            for part in ["2/2", "1/2"] {
                run(&parts, &["--work", &work, "--part", part]);
            }
        }
        assert!(!folder.path().join(name("parts")).exists());
        // The same for errors of rehearsals.
        let combined = run(&parts, &["--work", &work, "--combine"]);
        assert_eq!(combined, said.replace(&name("one"), &name("parts")));
        assert!(fs::read(folder.path().join(name("parts"))).unwrap() == one, "{question:?}");
        // The state after a kill: one state without rows, another without its upward pass.
        let down = Path::new(&work).join("down-44.txt");
        fs::remove_file(&down).unwrap();
        let up = Path::new(&work).join("up-09.json");
        let _ = fs::remove_file(&up);
        run(&words(folder.path(), &name("again"), question), &["--work", &work]);
        assert!(fs::read(folder.path().join(name("again"))).unwrap() == one, "{question:?}");
    }
}

/// An area of blocks of two states.
const ACROSS: &str = "area,block\nx,440030001001001\nx,090010001001001\n";

/// A work that is refused with a message, and writes no file.
fn refused(folder: &Path, more: &[&str], says: &str) {
    let words = words(folder, "out.csv", more);
    let message = refusal(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let flat = message.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(says), "{flat}");
    assert!(!folder.join("out.csv").exists());
}

#[test]
fn parts_say_how_far_they_are_and_refuse_what_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work").display().to_string();
    let says = |more: &[&str], says: &str| refused(folder.path(), &[&["--work", &work], more].concat(), says);
    for part in ["0/2", "3/2", "1", "a/b", "1/0"] {
        says(&["--part", part], "expected a part and how many there are");
    }
    let first = words(folder.path(), "out.csv", &["--work", &work, "--part", "1/2"]);
    let said = json(&first.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        (&said["without_up"], &said["without_rows"]),
        (&serde_json::json!(["44"]), &serde_json::json!(["09", "44"]))
    );
    says(&["--combine"], "the state 09 is not finished");
    says(&["--level", "County"], "another job");
    says(&["--state-totals", example().join("state-totals.csv").to_str().unwrap()], "another job");
    says(&["--part", "1/2", "--combine"], "cannot be used with");
    says(&["--truth", example().join("counts.csv").to_str().unwrap()], "another job");
    let other = folder.path().join("other").display().to_string();
    let towns = example().join("towns.csv").display().to_string();
    let across = folder.path().join("across.csv");
    fs::write(&across, ACROSS).unwrap();
    let refuse = |more: &[&str], says: &str| refused(folder.path(), &[&["--work", &other], more].concat(), says);
    refuse(
        &["--areas", across.to_str().unwrap(), "--states", "09"],
        "1 block of areas outside the states that are read",
    );
    refuse(&["--areas", &towns, "--states", "09"], "16 blocks of areas outside the states that are read");
}

#[test]
fn damaged_files_of_a_work_are_refused_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work").display().to_string();
    let given = words(folder.path(), "out.csv", &["--work", &work]);
    let says = |says: &str| refused(folder.path(), &["--work", &work], says);
    let first = words(folder.path(), "out.csv", &["--work", &work, "--part", "1/2"]);
    run(&first, &[]);
    // A truncated or modified file of a state.
    let up = Path::new(&work).join("up-09.json");
    let kept = fs::read_to_string(&up).unwrap();
    for damaged in [&kept[..kept.len() / 2], "{}", &kept.replacen("\"x\":[", "\"x\":[1,", 1)] {
        fs::write(&up, damaged).unwrap();
        says("up-09.json");
    }
    // The same for answers, and for the part of areas across states.
    fs::write(&up, &kept).unwrap();
    let other = folder.path().join("other").display().to_string();
    let across = folder.path().join("across.csv");
    fs::write(&across, ACROSS).unwrap();
    let across = across.to_str().unwrap();
    let other =
        words(folder.path(), "out.csv", &["--work", other.as_str(), "--areas", across, "--queries", "total", "hhgq"]);
    run(&other, &[]);
    fs::remove_file(folder.path().join("out.csv")).unwrap();
    let other_words: Vec<&str> = other.iter().map(String::as_str).collect();
    for (name, from, to) in [
        ("across-44.json", "\"0\":[[", "\"0\":[[1,"),
        ("across-44.json", "\"parts\":{\"0\"", "\"parts\":{\"1\""),
        ("across-09.json", "}", ""),
    ] {
        let path = folder.path().join("other").join(name);
        let kept = fs::read_to_string(&path).unwrap();
        let damaged = kept.replacen(from, to, 1);
        assert!(damaged != kept, "{name} {from}: {}", &kept[..200.min(kept.len())]);
        fs::write(&path, damaged).unwrap();
        let message = refusal(&other_words);
        assert!(message.contains(name), "{message}");
        fs::write(&path, kept).unwrap();
    }
    assert!(!folder.path().join("out.csv").exists());
    run(&given, &[]);
    let down = Path::new(&work).join("down-44.txt");
    let kept = fs::read_to_string(&down).unwrap();
    fs::remove_file(folder.path().join("out.csv")).unwrap();
    for damaged in [&kept[..kept.len() / 2], "x\n", &kept.replacen("\"unit\":[", "\"unit\":[9", 1)] {
        fs::write(&down, damaged).unwrap();
        says("down-44.txt");
    }
}
