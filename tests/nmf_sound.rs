//! Incomplete or inconsistent noisy measurement files: missing parts are named, damaged ones refused.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::common::{
    estimates::{self, Row},
    facts, nmf_rows,
    program::{assay, json, refusal},
};

const AXES: [&str; 4] = ["hhgq", "votingage", "hispanic", "cenrace"];
const RELEASE: [&str; 2] = ["--release", "pl94-persons-us"];

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/nmf")
}

/// A product that may be damaged, in its own folder.
struct Product {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

impl Product {
    /// The bundled example.
    fn new() -> Product {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("US_Person_PL_PROD");
        copy(&example().join("US_Person_PL_PROD"), &path);
        Product { folder, path }
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Removes all files of a part.
    fn without(self, part: &str) -> Product {
        for level in ["State", "County", "Tract", "Block_Group", "Block"] {
            for kind in ["DPQuery", "Constraint"] {
                let _ = fs::remove_dir_all(self.path.join(format!("{level}.parquet/{kind}/State={part}")));
            }
        }
        self
    }

    /// The only file of noisy counts of a part of a level.
    fn file(&self, level: &str, part: &str) -> PathBuf {
        let place = self.path.join(format!("{level}.parquet/DPQuery/State={part}"));
        fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).next().unwrap()
    }

    fn check(&self, code: i32) -> Value {
        let words = ["nmf", "check", &self.shown(), "--json"];
        let output = assay(&[&words[..], &RELEASE].concat()).assert().code(code).get_output().stdout.clone();
        serde_json::from_slice(&output).unwrap()
    }

    /// The error message of an estimate, which must write nothing.
    fn refused(&self, options: &[&str]) -> String {
        let out = self.at("no.csv");
        let words = ["nmf", "estimate", &self.shown(), "--out", out.to_str().unwrap()];
        let message = refusal(&[&words[..], &RELEASE, options].concat());
        assert!(!out.exists(), "{message}");
        message.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The answer of an estimate, and its rows.
    fn estimate(&self, options: &[&str]) -> (Value, Vec<Row>) {
        let out = self.at("out.csv");
        let words = ["nmf", "estimate", &self.shown(), "--out", out.to_str().unwrap()];
        let said = json(&[&words[..], &RELEASE, options].concat());
        (said, estimates::rows(&fs::read_to_string(out).unwrap()))
    }
}

fn total_of<'a>(rows: &'a [Row], geocode: &str) -> &'a Row {
    let is = |row: &&Row| row.get("query") == "total" && [row.get("geocode"), row.get("area")].contains(&geocode);
    rows.iter().find(is).unwrap()
}

fn says(message: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(message.contains(word), "{word}: {message}"));
}

#[test]
fn a_download_of_one_state_is_estimated_without_the_nation() {
    let product = Product::new().without("009");
    let report = product.check(0);
    assert_eq!(report["missing"]["states"], serde_json::json!(["09"]));
    let (said, rows) = product.estimate(&["--tabulation", "State", "County"]);
    assert_eq!((&said["uses_nation"], &said["missing_states"]), (&Value::Bool(false), &serde_json::json!(["09"])));
    says(
        said["notes"][0].as_str().unwrap(),
        &["Without the counts of the nation", "1 state of nmf.json is not in the folder (09)"],
    );
    // The true value is 2624; the nation's total was spread over the state before.
    let state = total_of(&rows, "44");
    let error = (state.number("estimate") - 2624.0).abs();
    assert!(error < 5.0 * state.number("std_dev") && state.number("std_dev") > 0.5, "{error}");
    // The same without the nation's files, and for a single state.
    fs::remove_dir_all(product.path.join("US.parquet")).unwrap();
    assert_eq!(product.check(0)["missing"]["nation"], true);
    for options in [&["--states", "44", "--tabulation", "State"][..], &["--tabulation", "State"]] {
        let (_, alone) = product.estimate(options);
        let alone = total_of(&alone, "44").number("estimate");
        assert!((alone - state.number("estimate")).abs() < 1e-9, "{alone}");
    }
    says(&product.refused(&["--states", "09"]), &["unknown state \"09\"", "the folder has 44"]);
    says(&product.refused(&["--states", "3"]), &["unknown state", "no state has this code"]);
    says(&product.refused(&["--level", "US"]), &["levels of states"]);
}

#[test]
fn a_state_without_its_other_part_is_refused_unless_that_is_allowed() {
    let product = Product::new().without("144");
    let report = product.check(1);
    assert_eq!((&report["missing"]["parts"], &report["sound"]), (&serde_json::json!(["144"]), &Value::Bool(false)));
    says(&product.refused(&[]), &["State=144", "nmf.json", "two parts"]);
    // The other state is complete.
    product.estimate(&["--states", "09"]);
    let totals = example().join("state-totals.csv").display().to_string();
    let (said, rows) = product.estimate(&["--incomplete", "--level", "State", "--state-totals", &totals]);
    let notes = said["notes"].to_string();
    says(&notes, &["Without people of a part of a state: State=144", "states with a missing part are not used: 44"]);
    // 2415 of the 2624 are outside of the missing areas.
    let part = total_of(&rows, "044");
    assert!((part.number("estimate") - 2415.0).abs() < 10.0 && part.get("part") == "non-AIAN", "{notes}");
}

/// Without nmf.json the release's lists of parts count: in the files of 2020 Rhode Island has one part, in those of 2010 two.
#[test]
fn a_state_alone_is_judged_by_the_files_of_2020() {
    let product = Product::new().without("144").without("009");
    fs::remove_file(product.path.join("nmf.json")).unwrap();
    let report = product.check(0);
    assert_eq!(report["missing"]["parts"], serde_json::json!([]));
    let (said, rows) = product.estimate(&["--level", "State"]);
    assert_eq!(said["missing_parts"], serde_json::json!([]));
    let state = total_of(&rows, "044");
    assert!(state.get("part").is_empty() && (state.number("estimate") - 2415.0).abs() < 10.0, "{said}");
}

#[test]
fn of_a_bundled_release_the_states_are_known_and_of_another_the_fit_decides() {
    let product = Product::new();
    fs::remove_file(product.path.join("nmf.json")).unwrap();
    let folder = product.folder.path();
    // Connecticut has a part 109, and there are 49 more states.
    says(&product.refused(&[]), &["State=109", "pl94-persons-us"]);
    let (said, _) = product.estimate(&["--states", "44"]);
    assert_eq!(said["missing_states"].as_array().unwrap().len(), 49);
    fs::create_dir_all(product.path.join("State.parquet/Constraint/State=072")).unwrap();
    let source =
        fs::read_dir(product.path.join("State.parquet/Constraint/State=044")).unwrap().next().unwrap().unwrap();
    fs::copy(source.path(), product.path.join("State.parquet/Constraint/State=072/p.parquet")).unwrap();
    says(&product.refused(&[]), &["State=072", "no part of the release pl94-persons-us"]);
    fs::remove_dir_all(product.path.join("State.parquet/Constraint/State=072")).unwrap();
    // For a release with another name the set of states is unknown.
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/releases/pl94-persons-us.toml")).unwrap();
    let own = folder.join("own.toml").display().to_string();
    fs::write(&own, text.replacen("name = \"pl94-persons-us\"", "name = \"own\"", 1)).unwrap();
    let out = folder.join("own.csv").display().to_string();
    let words = ["nmf", "estimate", &product.shown(), "--release", &own, "--out", &out, "--level", "State"];
    let said = json(&words);
    assert_eq!(said["uses_nation"], true);
    says(&said["notes"].to_string(), &["It is not known which states the nation"]);
    // A missing state is found from the counts.
    let product = product.without("009");
    let words = ["nmf", "estimate", &product.shown(), "--release", &own, "--out", &out, "--level", "State"];
    fs::remove_file(&out).unwrap();
    let message = refusal(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    says(&message, &["do not fit each other", "US"]);
    assert!(!Path::new(&out).exists());
}

#[test]
fn files_of_noisy_counts_that_are_missing_are_named() {
    let damages: [fn(&Path); 4] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::rename(file, file.with_extension("parquet.part")).unwrap(),
        |file| fs::rename(file, file.with_file_name("data")).unwrap(),
        |file| {
            let level = file.ancestors().nth(3).unwrap();
            fs::rename(level.join("DPQuery"), level.join("dpquery")).unwrap();
        },
    ];
    for (at, damage) in damages.into_iter().enumerate() {
        let product = Product::new();
        damage(&product.file("Tract", "044"));
        let message = product.refused(&["--level", "County"]);
        let missing =
            ["of the budget is found: Tract", "no noisy counts", "No Parquet file in Tract.parquet/DPQuery/State="];
        says(&message, &missing);
        assert!(at == 0 || message.contains("not read: Tract.parquet/"), "{message}");
        let checked = refusal(&[&["nmf", "check", &product.shown()][..], &RELEASE].concat());
        says(&checked.split_whitespace().collect::<Vec<_>>().join(" "), &["of the budget is found: Tract"]);
        let (said, rows) = product.estimate(&["--incomplete", "--level", "County"]);
        assert!(!rows.is_empty() && said["without_noisy_counts"][0]["level"] == "Tract", "{said}");
        // With `--work` the message is the same.
        let work = product.at("work").display().to_string();
        let (parts, again) = product.estimate(&["--incomplete", "--level", "County", "--work", &work]);
        assert_eq!((&parts["without_noisy_counts"], again.len()), (&said["without_noisy_counts"], rows.len()));
    }
    // No counts of the nation, although it takes part.
    let product = Product::new();
    fs::remove_dir_all(product.path.join("US.parquet/DPQuery")).unwrap();
    says(&product.refused(&[]), &["US has no noisy counts"]);
    // Units of a level that are not listed.
    let product = Product::new();
    fs::remove_dir_all(product.path.join("Tract.parquet/Constraint/State=044")).unwrap();
    says(&product.refused(&[]), &["no units of the part 044 in Tract.parquet/Constraint"]);
}

/// An inconsistency is found, named with its place, and estimated from only with an option.
fn misfit(product: &Product, place: &[&str]) {
    let report = product.check(1);
    let fit = &report["fit"][0];
    assert!(fit["fits"] == false && fit["p_bound_corrected"].as_f64().unwrap() < 1e-9, "{fit}");
    let shown = assay(&[&["nmf", "check", &product.shown()][..], &RELEASE].concat()).assert().code(1);
    let shown = String::from_utf8(shown.get_output().stdout.clone()).unwrap();
    says(&shown.split_whitespace().collect::<Vec<_>>().join(" "), &[&["MISFIT"], place].concat());
    for options in
        [&["--level", "County"][..], &["--states", "44"], &["--work", &product.at("w").display().to_string()]]
    {
        says(
            &product.refused(options),
            &["do not fit each other", "probability below 1", "residuals with a mean square of", "(1 expected)"],
        );
    }
    let (said, _) = product.estimate(&["--despite-misfit", "--level", "County"]);
    assert_eq!(said["fit"]["fits"], false);
    let text = fs::read_to_string(product.at("out.csv")).unwrap();
    says(text.lines().next().unwrap(), &["estimate (insecure seed 2020; misfit: p below 1e-"]);
    let beside = fs::read_to_string(product.at("out.csv.provenance.json")).unwrap();
    says(&beside, &["\"misfit\": \"noisy counts that do not fit each other"]);
    let work = product.at("work").display().to_string();
    product.estimate(&["--despite-misfit", "--level", "County", "--work", &work]);
    assert_eq!(fs::read_to_string(product.at("out.csv")).unwrap(), text, "in parts");
}

#[test]
fn a_level_a_hundred_times_too_large_and_one_count_that_is_off_do_not_fit() {
    let product = Product::new();
    for part in ["044", "009"] {
        nmf_rows::change(&product.file("Tract", part), &AXES, |row| row.values.iter_mut().for_each(|own| *own *= 100));
    }
    misfit(&product, &["standard deviations", "bound"]);
    for (query, cell) in [("total_dpq", 0), ("detailed_dpq", 1777), ("hispanic * cenrace_dpq", 3)] {
        let product = Product::new();
        let mut unit = String::new();
        nmf_rows::change(&product.file("Block", "044"), &AXES, |row| {
            if row.name == query && unit.is_empty() {
                unit.clone_from(&row.code);
                row.values[cell] += 1_000_000;
            }
        });
        // The unit above the block is named.
        misfit(&product, &["largest residual: ", query.trim_end_matches("_dpq"), " 044"]);
    }
}

#[test]
fn two_vintages_in_one_folder_do_not_fit() {
    let product = Product::new();
    let own = |name: &str| example().join(name).display().to_string();
    let at = |name: &str| product.at(name).display().to_string();
    let (blocks, plan) = (own("blocks.csv"), own("plan.toml"));
    assay(&["spine", "--blocks", &blocks, "--plan", &plan, "--out", &at("spine")]).assert().success();
    // Different people in the same blocks: five more of every kind that occurs.
    let text = fs::read_to_string(own("counts.csv")).unwrap();
    let more = |(at, line): (usize, &str)| match (at, line.rsplit_once(',')) {
        (1.., Some((start, count))) => format!("{start},{}\n", count.parse::<u64>().unwrap() + 5),
        _ => format!("{line}\n"),
    };
    fs::write(at("other.csv"), text.lines().enumerate().map(more).collect::<String>()).unwrap();
    let measure = |counts: &str, seed: &str, out: &str| {
        let draw = ["measure", "--spine", &at("spine"), "--counts", counts, "--files", "nmf", "--out", &at(out)];
        assay(&[&draw[..], &RELEASE, &["--insecure-seed", seed]].concat()).assert().success();
    };
    // Drawn files fit for any seed.
    for seed in ["1", "2", "3"] {
        measure(&own("counts.csv"), seed, seed);
        let report = json(&[&["nmf", "check", &at(seed)][..], &RELEASE].concat());
        let fit = &report["fit"][0];
        assert!(report["sound"] == true && fit["p_bound_corrected"].as_f64().unwrap() > 1e-6, "{fit}");
        for row in fit["levels"].as_array().unwrap() {
            let (chi_square, df) = (row["chi_square"].as_f64().unwrap(), row["degrees_of_freedom"].as_f64().unwrap());
            assert!((chi_square - df).abs() < 5.0 * (2.0 * df).sqrt(), "{row}");
        }
    }
    measure(&at("other.csv"), "4", "other");
    fs::remove_dir_all(product.path.join("Tract.parquet")).unwrap();
    copy(&product.at("other/Tract.parquet"), &product.path.join("Tract.parquet"));
    misfit(&product, &["Tract"]);
}

/// The fixtures were drawn by another program with another generator.
#[test]
fn fixtures_fit() {
    let Some(facts) = facts::folder("nmf") else { return };
    for (name, nursing) in [("mini", "3"), ("tiny", "2"), ("tiny-pr", "2")] {
        let folder = facts.join(name);
        let mut text = fs::read_to_string(folder.join("release.toml")).unwrap();
        for (selection, attribute, value) in [("gqNursingTotal", "hhgq", nursing), ("nonvoting", "votingage", "0")] {
            text += &format!(
                "\n[[selection]]\nname = \"{selection}\"\nattribute = \"{attribute}\"\nvalues = [\"{value}\"]\n"
            );
        }
        let own = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        fs::write(own.path(), text).unwrap();
        let (product, release) = (folder.display().to_string(), own.path().display().to_string());
        let report = json(&["nmf", "check", &product, "--release", &release]);
        let fit = &report["fit"][0];
        assert!(fit["fits"] == true && fit["p_bound_corrected"].as_f64().unwrap() > 1e-3, "{name}: {fit}");
        for row in fit["rows"].as_array().unwrap() {
            assert!(row["p_asymptotic"].as_f64().unwrap() > 1e-5, "{name}: {row}");
        }
        assert!(fit["rows"].as_array().unwrap().iter().any(|row| row["query"] == "exact total") || name == "tiny-pr");
    }
}

/// The total of a root that is a state is one residual: twice the same would halve the bound on its logarithm.
#[test]
fn the_exact_total_of_puerto_rico_is_compared_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let blocks: Vec<String> = (0..10).map(|n| format!("72{:03}950{}0010{:02}", 1 + 2 * (n / 5), n / 5, n)).collect();
    fs::write(at("blocks.csv"), format!("block\n{}\n", blocks.join("\n"))).unwrap();
    let count = |block: &String| format!("{block},household,18-and-over,not-hispanic,0,7\n");
    let counts: String = blocks.iter().map(count).collect();
    fs::write(at("counts.csv"), format!("block,hhgq,votingage,hispanic,cenrace,count\n{counts}")).unwrap();
    fs::write(at("plan.toml"), "settings = \"redistricting-persons\"\nrelease = \"pl94-persons-pr\"\n").unwrap();
    assay(&["spine", "--blocks", &at("blocks.csv"), "--plan", &at("plan.toml"), "--out", &at("spine")])
        .assert()
        .success();
    let draw = ["measure", "--spine", &at("spine"), "--counts", &at("counts.csv"), "--release", "pl94-persons-pr"];
    let more = ["--files", "nmf", "--out", &at("prn"), "--insecure-seed", "3"];
    assay(&[&draw[..], &more].concat()).assert().success();
    let check = json(&["nmf", "check", &at("prn"), "--release", "pl94-persons-pr"]);
    let estimate = json(&[
        "estimate",
        "--nmf",
        &at("prn"),
        "--release",
        "pl94-persons-pr",
        "--out",
        &at("out.csv"),
        "--level",
        "State",
    ]);
    for fit in [&check["fit"][0], &estimate["fit"]] {
        let rows = fit["rows"].as_array().unwrap();
        let exact: Vec<&Value> = rows.iter().filter(|row| row["query"] == "exact total").collect();
        assert_eq!(exact.len(), 1, "{fit}");
        assert_eq!(exact[0]["degrees_of_freedom"], 1, "{fit}");
    }
}
