//! Whole counts of noisy measurement files: non-negative, with every constraint satisfied, from the nation to the blocks.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dp_assay::{
    release::Release,
    topdown::nmf::{folder::NmfFolder, names::Names, names::Sign, rows},
};
use serde_json::Value;

use crate::common::facts;

fn assay(words: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of noisy measurements, with its release and exact totals.
struct Case {
    name: String,
    folder: PathBuf,
    release: PathBuf,
    totals: PathBuf,
    _kept: tempfile::TempDir,
}

/// The bundled example, and the fixtures if available.
fn cases() -> Vec<Case> {
    let kept = tempfile::tempdir().unwrap();
    let release = kept.path().join("release.toml");
    fs::write(&release, Release::find("pl94-persons-us").unwrap().to_toml()).unwrap();
    let example = root().join("data/examples/nmf");
    let totals = example.join("state-totals.csv");
    let mut cases = vec![Case { name: "example".into(), folder: example, release, totals, _kept: kept }];
    for name in ["mini", "tiny", "tiny-pr"] {
        let Some(folder) = facts::folder(&format!("nmf/{name}")) else { continue };
        let kept = tempfile::tempdir().unwrap();
        let mut text = fs::read_to_string(folder.join("release.toml")).unwrap();
        let nursing = if name == "mini" { "3" } else { "2" };
        for (selection, attribute, value) in [("gqNursingTotal", "hhgq", nursing), ("nonvoting", "votingage", "0")] {
            text += &format!(
                "\n[[selection]]\nname = \"{selection}\"\nattribute = \"{attribute}\"\nvalues = [\"{value}\"]\n"
            );
        }
        let release = kept.path().join("release.toml");
        fs::write(&release, text).unwrap();
        let totals = folder.join("state-totals.csv");
        cases.push(Case { name: name.into(), folder, release, totals, _kept: kept });
    }
    cases
}

/// The nonzero cells by level and geocode.
type Counts = BTreeMap<(String, String), HashMap<usize, i64>>;

fn whole(case: &Case, order: &[&str], out: &Path) -> Counts {
    let release = Release::find(case.release.to_str().unwrap()).unwrap();
    let levels: Vec<&str> = release.levels.iter().map(|level| level.name.as_str()).collect();
    let path = |path: &Path| path.to_str().unwrap().to_string();
    let (folder, file, totals, to) = (path(&case.folder), path(&case.release), path(&case.totals), path(out));
    let mut words = vec!["nmf", "estimate", &folder, "--release", &file, "--state-totals", &totals, "--out", &to];
    words.extend(["--queries", "detailed", "--whole"]);
    words.extend(order);
    words.push("--level");
    words.extend(&levels);
    let (success, _, err) = assay(&words);
    assert!(success, "{}: {err}", case.name);
    let mut counts = Counts::new();
    let mut reader = csv::Reader::from_path(out).unwrap();
    for record in reader.records().map(Result::unwrap) {
        let unit = counts.entry((record[0].to_string(), record[1].to_string())).or_default();
        // Before the margin of its unbiased estimate.
        let count: i64 = record.iter().nth_back(1).unwrap().parse().unwrap();
        assert!(count > 0 && unit.insert(record[5].parse().unwrap(), count).is_none());
    }
    counts
}

/// Checks every row of every Constraint file, and every sum.
fn check(case: &Case, counts: &Counts) -> usize {
    let release = Release::find(case.release.to_str().unwrap()).unwrap();
    let names = Names::new(&release).unwrap();
    let folder = NmfFolder::open(&case.folder, &names.levels).unwrap();
    let nothing = HashMap::new();
    let values = |cell: usize| -> Vec<usize> {
        let inner = |axis: usize| names.sizes[axis + 1..].iter().product::<usize>();
        (0..names.sizes.len()).map(|axis| cell / inner(axis) % names.sizes[axis]).collect()
    };
    let mut rows_checked = 0;
    let mut units: Vec<Vec<String>> = Vec::new();
    for level in &folder.levels {
        let mut codes: Vec<String> = Vec::new();
        for file in &level.constraints {
            rows::read(&file.path, &names.axes, |row| {
                let code = String::from_utf8(row.geocode.to_vec()).unwrap();
                let own = counts.get(&(level.name.clone(), code.clone())).unwrap_or(&nothing);
                let constraint = names.constraint(row).unwrap();
                for (count, value) in row.values.iter().enumerate() {
                    let selected = |cell: usize| {
                        values(cell).into_iter().enumerate().all(|(axis, value)| constraint.selects(count, axis, value))
                    };
                    let sum: i64 = own.iter().filter(|(cell, _)| selected(**cell)).map(|(_, count)| count).sum();
                    let holds = match constraint.sign {
                        Sign::Equal => sum == *value,
                        Sign::AtMost => sum <= *value,
                        Sign::AtLeast => sum >= *value,
                    };
                    assert!(holds, "{} {} {code} {}: {sum} and {value}", case.name, level.name, constraint.name);
                    rows_checked += 1;
                }
                if codes.last() != Some(&code) {
                    codes.push(code);
                }
                Ok(())
            })
            .unwrap();
        }
        codes.sort();
        codes.dedup();
        units.push(codes);
    }
    check_sums_of_children(case, counts, (&names.levels, &units));
    check_totals_of_states(case, counts, (&names.levels, &units));
    rows_checked
}

/// Children sum to their parents, cell by cell.
fn check_sums_of_children(case: &Case, counts: &Counts, (levels, units): (&[String], &[Vec<String>])) {
    let nothing = HashMap::new();
    for (at, pair) in units.windows(2).enumerate() {
        for parent in &pair[0] {
            let mut sum: HashMap<usize, i64> = HashMap::new();
            for child in pair[1].iter().filter(|child| child.starts_with(parent.as_str())) {
                let own = counts.get(&(levels[at + 1].clone(), child.clone())).unwrap_or(&nothing);
                own.iter().for_each(|(cell, count)| *sum.entry(*cell).or_default() += count);
            }
            let own = counts.get(&(levels[at].clone(), parent.clone())).unwrap_or(&nothing);
            assert_eq!(*own, sum, "{} {} {parent}", case.name, levels[at]);
        }
    }
}

/// The exact totals of states tie both parts together.
fn check_totals_of_states(case: &Case, counts: &Counts, (levels, units): (&[String], &[Vec<String>])) {
    let state = usize::from(levels[0] == "US");
    for line in fs::read_to_string(&case.totals).unwrap().lines().skip(1) {
        let (number, total) = line.split_once(',').unwrap();
        let of_state = units[state].iter().filter(|code| code[1..] == *number);
        let cells = of_state.filter_map(|code| counts.get(&(levels[state].clone(), code.clone())));
        let sum: i64 = cells.flat_map(HashMap::values).sum();
        assert_eq!(sum, total.parse::<i64>().unwrap(), "{} {number}", case.name);
    }
}

#[test]
fn every_constraint_and_every_sum_is_kept_in_any_order_of_passes() {
    let folder = tempfile::tempdir().unwrap();
    for case in cases() {
        let mut all = Vec::new();
        for (at, order) in
            [&[][..], &["votingage * hispanic", "hispanic * cenrace"], &["total"]].into_iter().enumerate()
        {
            let counts = whole(&case, order, &folder.path().join(format!("{}-{at}.csv", case.name)));
            assert!(check(&case, &counts) > 50);
            all.push(counts);
        }
        // The order matters, except for an entry that adds nothing.
        assert_eq!(all[0], all[2]);
        assert!(case.name != "mini" || all[0] != all[1]);
    }
}

/// A rehearsal: in cells, whole counts have smaller errors than estimates, because they use constraints; they have no margins.
#[test]
fn errors_are_smaller_than_those_of_estimates_in_cells() {
    let folder = tempfile::tempdir().unwrap();
    let example = root().join("data/examples/nmf");
    let (nmf, truth) = (example.to_str().unwrap(), example.join("counts.csv"));
    let errors = |whole: &[&str]| -> Value {
        let out = folder.path().join(format!("{}.csv", whole.len()));
        let mut words = vec!["nmf", "estimate", nmf, "--release", "pl94-persons-us", "--out", out.to_str().unwrap()];
        words.extend([
            "--truth",
            truth.to_str().unwrap(),
            "--level",
            "Tract",
            "Block",
            "--queries",
            "total",
            "detailed",
            "--json",
        ]);
        words.extend(whole);
        let (success, text, err) = assay(&words);
        assert!(success, "{err}");
        serde_json::from_str::<Value>(&text).unwrap()["errors"].clone()
    };
    let (estimates, whole) = (errors(&[]), errors(&["--whole"]));
    let row = |errors: &Value, level: &str, query: &str| {
        let found = errors.as_array().unwrap().iter().find(|row| row["level"] == level && row["query"] == query);
        found.unwrap().clone()
    };
    for level in ["Tract", "Block"] {
        let error = |errors: &Value| row(errors, level, "detailed")["mean_absolute_error"].as_f64().unwrap();
        assert!(error(&whole) < 0.5 * error(&estimates), "{level} {} {}", error(&whole), error(&estimates));
    }
    assert!(row(&whole, "Tract", "total")["coverage_95"].is_null());
    assert_eq!(row(&whole, "Tract", "total")["counts"], row(&estimates, "Tract", "total")["counts"]);
}

#[test]
fn contradictory_files_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |case: &Case, totals: &str, more: &[&str], says: &str| {
        let (file, out) = (folder.path().join("totals.csv"), folder.path().join("whole.csv"));
        fs::write(&file, totals).unwrap();
        let (nmf, release) = (case.folder.to_str().unwrap(), case.release.to_str().unwrap());
        let mut words = vec!["nmf", "estimate", nmf, "--release", release, "--whole", "--out", out.to_str().unwrap()];
        words.extend(["--state-totals", file.to_str().unwrap()]);
        words.extend(more);
        let (success, _, err) = assay(&words);
        let flat = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!success && flat.contains(says) && !out.exists(), "{flat}");
    };
    for case in cases() {
        if case.name == "mini" {
            // Fewer people than group quarters in Rhode Island, which is read separately.
            refused(
                &case,
                "state,total\n44,3\n",
                &["--states", "44"],
                "the constraints on the whole counts of the state 44",
            );
        }
        if case.name == "example" {
            let totals = fs::read_to_string(&case.totals).unwrap();
            refused(&case, &totals, &["--areas", "data/examples/nmf/towns.csv"], "cannot be used with");
            refused(&case, &totals, &["--format", "parquet"], "written as csv");
            refused(&case, &totals, &["--whole", "income"], "income");
        }
    }
}
