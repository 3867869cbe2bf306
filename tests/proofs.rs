//! The table of preconditions in src/proofs.md: every test and every function that it names exists.

use std::{fs, path::Path};

/// The text of all Rust files below a folder, with their paths.
fn sources(folder: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            sources(&entry, all);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            all.push((entry.to_string_lossy().into_owned(), fs::read_to_string(&entry).expect("a source file")));
        }
    }
}

#[test]
fn every_row_of_the_table_of_preconditions_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    sources(&root.join("src"), &mut all);
    sources(&root.join("crates"), &mut all);
    sources(&root.join("tests"), &mut all);
    let text = fs::read_to_string(root.join("src/proofs.md")).expect("the proofs");
    let section = text.split("# 11.").nth(1).and_then(|rest| rest.split("# 12.").next()).expect("section 11");
    let mut rows = 0;
    for row in section.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        let test = cells[3].trim_matches('`');
        assert!(all.iter().any(|(_, text)| text.contains(&format!("fn {test}("))), "no test named {test}");
        // `file`: `name` pairs.
        for place in cells[2].split(", ") {
            let (file, name) = place.split_once(": ").unwrap_or_else(|| panic!("file: name in {place}"));
            let (file, name) = (file.trim_matches('`'), name.trim_matches('`'));
            let name = name.rsplit("::").next().unwrap_or(name);
            let here = all.iter().any(|(path, text)| path.ends_with(file) && text.contains(name));
            assert!(here, "no {name} in {file}");
        }
        rows += 1;
    }
    assert!(rows >= 20, "{rows}");
}
