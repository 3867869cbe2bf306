//! `assay rehearse`: the truth by definition, the bureau's expected tables, reports that agree with each other, and errors.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::common::{
    parquet_records,
    program::{assay, json, refusal},
};

const EXAMPLE: &str = "data/examples/safetab";
const HOUSEHOLDS: &str = "data/examples/safetab-h";

/// The arguments of a rehearsal of the example, of persons or of households.
fn example(of: &str, more: &[&str]) -> Vec<String> {
    let all = [
        "rehearse".to_string(),
        "--config".to_string(),
        format!("{of}/config.json"),
        "--spec".to_string(),
        EXAMPLE.to_string(),
        "--geography".to_string(),
        format!("{EXAMPLE}/GRF-C.txt"),
    ];
    all.into_iter().chain(more.iter().map(|word| word.to_string())).collect()
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

fn rows(path: &Path, bar: char) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.lines().skip(1).map(|row| row.split(bar).map(str::to_string).collect()).collect()
}

/// Every file of a folder, by its relative path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => drop(found.insert(path.strip_prefix(folder).unwrap().to_path_buf(), fs::read(path).unwrap())),
            }
        }
    }
    found
}

/// An iteration of level 1 or 2, read independently.
struct Iteration {
    code: String,
    /// `True` alone, `False` in combination, `None` for ethnicity.
    alone: Option<bool>,
    members: BTreeSet<String>,
}

fn iterations() -> Vec<Iteration> {
    let read = |name: &str| rows(&Path::new(EXAMPLE).join(name), '|');
    let pairs = read("race-and-ethnicity-code-to-iteration.txt");
    let members = |code: &str| pairs.iter().filter(|pair| pair[0] == code).map(|pair| pair[1].clone()).collect();
    let races = read("race-characteristic-iterations.txt");
    let ethnicities = read("ethnicity-characteristic-iterations.txt");
    let of_race = races.iter().map(|row| (row, Some(row[3] == "True")));
    let all = of_race.chain(ethnicities.iter().map(|row| (row, None)));
    all.filter(|(row, _)| row[2] != "0")
        .map(|(row, alone)| Iteration { code: row[0].clone(), alone, members: members(&row[0]) })
        .collect()
}

impl Iteration {
    fn has(&self, person: &[String]) -> bool {
        let mut races = person[8..16].iter().filter(|code| *code != "Null");
        match self.alone {
            Some(true) => races.all(|code| self.members.contains(code)),
            Some(false) => races.any(|code| self.members.contains(code)),
            None => self.members.contains(&person[16]),
        }
    }
}

/// Whether a person lives in a region.
fn lives_in(person: &[String], (id, kind): (&str, &str), grf_c: &BTreeMap<String, (String, String)>) -> bool {
    let block = person[3..7].concat();
    let (place, area) = &grf_c[&block];
    let is_pr = &person[3] == "72";
    is_pr == kind.starts_with("PR-")
        && match kind.trim_start_matches("PR-") {
            "USA" => true,
            "PLACE" => format!("{}{place}", person[3]) == id,
            "AIANNH" => area == id,
            _ => block.starts_with(id),
        }
}

#[test]
fn the_truth_of_persons_is_that_of_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let persons = format!("{EXAMPLE}/person-records.txt");
    let more = ["--persons", &persons, "--trials", "1", "--insecure-seed", "4", "--out", out.to_str().unwrap()];
    let answer = json(&words(&example(EXAMPLE, &more)));
    assert_eq!((answer["records"].as_u64(), answer["made_up"].as_bool()), (Some(500), Some(false)));

    let people = rows(Path::new(&persons), '|');
    let blocks = rows(&Path::new(EXAMPLE).join("GRF-C.txt"), '|');
    let grf_c: BTreeMap<String, (String, String)> =
        blocks.iter().map(|row| (row[..4].concat(), (row[4].clone(), row[5].clone()))).collect();
    let iterations = iterations();
    let count = |group: &[String], is_counted: &dyn Fn(&[String]) -> bool| {
        let iteration = iterations.iter().find(|known| known.code == group[2]).expect("an iteration");
        let inside = people.iter().filter(|person| {
            lives_in(person, (&group[0], &group[1]), &grf_c) && iteration.has(person) && is_counted(person)
        });
        inside.count().to_string()
    };
    let mut groups = BTreeMap::new();
    for pass in ["us.csv", "pr.csv"] {
        for row in rows(&out.join("truth/t1").join(pass), '|') {
            assert_eq!(row[3], count(&row, &|_| true), "{row:?}");
            assert!(groups.insert(row[..3].to_vec(), (row[3].clone(), 0)).is_none(), "twice: {row:?}");
        }
        let mut seen = BTreeSet::new();
        for row in rows(&out.join("truth/t2").join(pass), '|') {
            assert!(seen.insert(row.clone()), "twice: {row:?}");
            let ages = row[3].parse::<u32>().ok().zip(row[4].parse::<u32>().ok()).unwrap_or((0, 115));
            let is_counted = |person: &[String]| {
                person[1] == row[5] && (ages.0..=ages.1).contains(&person[0].parse::<u32>().expect("an age"))
            };
            assert_eq!(row[6], count(&row, &is_counted), "{row:?}");
            groups.get_mut(&row[..3]).expect("a group of T1").1 += 1;
        }
    }
    assert!(groups.len() > 150);
    // The report of the one run has the groups of the truth with their sizes, and the workload given by the rows of T2.
    let report = rows(&out.join("error_report.csv"), ',');
    let workloads = BTreeMap::from([(0, "Total"), (10, "Sex x Age(4)"), (28, "Sex x Age(9)"), (72, "Sex x Age(23)")]);
    let reported: BTreeMap<Vec<String>, (String, &str)> =
        report.iter().map(|row| (row[..3].to_vec(), (row[5].clone(), row[6].as_str()))).collect();
    let expected: BTreeMap<Vec<String>, (String, &str)> =
        groups.into_iter().map(|(group, (total, rows))| (group, (total, workloads[&rows]))).collect();
    assert_eq!(reported, expected);
}

#[test]
fn the_truth_of_households_is_the_bureaus() {
    let facts = std::env::var_os("ASSAY_FACTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts"), PathBuf::from);
    let toy = facts.join("safetab-h/toy");
    if !toy.is_dir() {
        eprintln!("skipped: ASSAY_FACTS does not name a folder of public data with safetab-h");
        return;
    }
    let case = toy.join("expected/complex");
    let file = |name: &str| {
        let own = case.join(name);
        if own.exists() { own } else { toy.join(name) }.display().to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let (config, spec) = (file("config.json"), case.display().to_string());
    let (records, totals) = (file("household-records.txt"), file("pop-group-totals.txt"));
    let (geography, out_name) = (file("GRF-C.txt"), out.display().to_string());
    let inputs =
        ["rehearse", "--config", &config, "--spec", &spec, "--geography", &geography, "--households", &records];
    let more = ["--totals", &totals, "--totals-as-given", "--trials", "2", "--out", &out_name];
    assay(&[&inputs[..], &more].concat()).assert().success();
    let mut found = 0;
    for table in ["t3/T03001", "t3/T03002", "t3/T03003", "t3/T03004", "t4/T04001", "t4/T04002"] {
        let mut own: Vec<String> = Vec::new();
        for pass in ["us.csv", "pr.csv"] {
            let text = fs::read_to_string(out.join("truth").join(table).join(pass)).unwrap_or_default();
            own.extend(text.lines().skip(1).map(str::to_string));
        }
        let text = fs::read_to_string(case.join("out").join(&table[3..]).with_extension("csv")).unwrap_or_default();
        let mut expected: Vec<String> = text.lines().skip(1).map(str::to_string).collect();
        own.sort_unstable();
        expected.sort_unstable();
        assert_eq!(own, expected, "{table}");
        found += own.len();
    }
    assert!(found > 0);
}

fn number(row: &[String], column: usize) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("column {column} of {row:?}"))
}

#[test]
fn reports_agree_with_each_other_and_stated_margins_hold() {
    let folder = tempfile::tempdir().unwrap();
    for (config, households) in [(EXAMPLE, false), (HOUSEHOLDS, true)] {
        let out = folder.path().join(if households { "h" } else { "p" });
        let (out_name, trials) = (out.display().to_string(), 12);
        let more = ["--made-up", "3000", "--trials", "12", "--insecure-seed", "9", "--out", &out_name];
        let answer = json(&words(&example(config, &more)));
        assert_eq!((answer["holds"].as_bool(), answer["tabulated"].as_u64()), (Some(true), Some(3000)));
        let levels = answer["levels"].as_array().unwrap();
        assert!(levels.len() > 15, "{}", levels.len());
        // Margins: observed coverage is close to the certified one; all measured cells of all groups and trials are present.
        let margins = rows(&out.join("margins.csv"), ',');
        let kinds: BTreeSet<&str> = margins.iter().map(|row| row[3].as_str()).collect();
        match households {
            false => assert_eq!(kinds, BTreeSet::from(["cell or total", "detailed-only total"])),
            true => assert!(kinds.contains("T3 sum of 5") && kinds.contains("T4 sum of 3") && kinds.len() == 7),
        }
        for row in &margins {
            let (lower, upper): (f64, f64) = (row[5].parse().unwrap(), row[6].parse().unwrap());
            assert!(0.95 <= lower && lower <= upper && upper - lower < 1e-9 && row[13] == "true", "{row:?}");
            assert!(number(row, 8) <= number(row, 7));
        }
        // Every group is drawn in every trial, and it is published in one table or not at all.
        let errors = rows(&out.join("errors.csv"), ',');
        for level in levels {
            let name = [level["region_type"].as_str().unwrap(), &level["level"].to_string()];
            let groups: u64 =
                level["sizes"].as_array().unwrap().iter().map(|size| size["groups"].as_u64().unwrap()).sum();
            assert_eq!(groups, level["groups"].as_u64().unwrap() * trials, "{name:?}");
            let of_level = |row: &&Vec<String>| row[1] == name[0] && row[2] == name[1];
            let published: u64 = errors.iter().filter(of_level).map(|row| number(row, 9)).sum();
            let topics = if households { 2 } else { 1 };
            assert!(published > 0 && published <= groups * topics, "{name:?}: {published} of {groups}");
            if !households {
                let suppressed = level["suppressed"].as_u64().unwrap();
                let filled = level["coterminous"]["filled"].as_u64().unwrap();
                assert_eq!(published + suppressed - filled, groups, "{name:?}");
            }
        }
        if !households {
            let suppression = rows(&out.join("suppression.csv"), ',');
            assert!(suppression.len() > 20 && suppression.iter().all(|row| row[10] == "true"));
            // Few groups of size 1 are published (those that stage 1 sends on), and nearly all of size 40.
            let rate = |size: &str| {
                let of_size = || suppression.iter().filter(|row| row[4] == size);
                of_size().map(|row| number(row, 6)).sum::<u64>() as f64
                    / of_size().map(|row| number(row, 5)).sum::<u64>() as f64
            };
            assert!(rate("1") > 0.9 && rate("40") < 0.01, "{} {}", rate("1"), rate("40"));
            let effects = rows(&out.join("coterminous.csv"), ',');
            assert!(effects.iter().map(|row| number(row, 4)).sum::<u64>() > 100);
        }
        let many = rows(&out.join("multi_run_error_report.csv"), ',');
        assert!(many.len() > 20);
        let page = fs::read_to_string(out.join("rehearsal.html")).unwrap();
        assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("http-equiv=\"refresh\""));
        assert!(page.contains("made up") && page.contains("insecure seed 9"));
    }
}

#[test]
fn sums_of_cells_have_the_margins_that_are_stated_of_them() {
    // If negative counts are allowed, sexes and totals are sums of independent noise.
    let folder = tempfile::tempdir().unwrap();
    let config = fs::read_to_string(format!("{EXAMPLE}/config.json")).unwrap();
    let config = config.replace("\"allow_negative_counts\": false", "\"allow_negative_counts\": true");
    fs::write(folder.path().join("config.json"), config).unwrap();
    for privacy in ["zcdp", "puredp"] {
        let path = folder.path().join("config.json");
        let text = fs::read_to_string(&path).unwrap().replace("\"zcdp\"", &format!("\"{privacy}\""));
        fs::write(&path, text).unwrap();
        let out = folder.path().join(privacy).display().to_string();
        let more = ["--made-up", "4000", "--trials", "30", "--insecure-seed", "2", "--out", &out];
        let of = folder.path().display().to_string();
        let answer = json(&words(&example(&of, &more)));
        assert_eq!(answer["holds"].as_bool(), Some(true), "{privacy}");
        let margins = rows(&Path::new(&out).join("margins.csv"), ',');
        let kinds: BTreeSet<&str> = margins.iter().map(|row| row[3].as_str()).collect();
        assert_eq!(kinds.len(), 8, "{kinds:?}");
        // Without suppression and replacement noise has no bias: five standard errors, over about 60 means.
        for row in &margins {
            let (bias, error): (f64, f64) = (row[10].parse().unwrap(), row[11].parse().unwrap_or(0.0));
            assert!(number(row, 7) < 30 || bias.abs() <= 5.0 * error, "{row:?}");
        }
    }
}

#[test]
fn a_seed_repeats_every_byte_and_without_one_noise_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &[&str]| {
        let out = folder.path().join(name).display().to_string();
        let args = [&["--made-up", "500", "--trials", "2", "--out", &out], more].concat();
        assay(&words(&example(EXAMPLE, &args))).assert().success();
        let mut found = files(Path::new(&out));
        // The page names the folder.
        assert!(found.remove(Path::new("rehearsal.html")).is_some());
        found
    };
    let first = run("a", &["--insecure-seed", "1"]);
    assert!(first == run("b", &["--insecure-seed", "1"]) && first != run("c", &["--insecure-seed", "2"]));
    let report = Path::new("error_report.csv");
    assert!(run("d", &[])[report] != run("e", &[])[report]);
    let other = run("f", &["--insecure-seed", "1", "--population-seed", "2"]);
    assert!(first[Path::new("truth/t1/us.csv")] != other[Path::new("truth/t1/us.csv")]);
}

#[test]
fn invalid_rehearsals_are_refused_and_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let bad = folder.path().join("bad.txt");
    let persons = fs::read_to_string(format!("{EXAMPLE}/person-records.txt")).unwrap();
    fs::write(&bad, persons.replacen("030|1|", "130|1|", 1)).unwrap();
    let bad = bad.display().to_string();
    let good = format!("{EXAMPLE}/person-records.txt");
    let parquet = folder.path().join("x.parquet").display().to_string();
    fs::write(&parquet, "no").unwrap();
    let totals = format!("{HOUSEHOLDS}/pop-group-totals.txt");
    for (of, more, expected) in [
        (EXAMPLE, vec!["--persons", &bad, "--trials", "1"], "line 2, column 1, \"130\""),
        (EXAMPLE, vec!["--households", &good, "--trials", "1"], "is one of SafeTab-P"),
        (HOUSEHOLDS, vec!["--persons", &good, "--trials", "1"], "is one of SafeTab-H"),
        (HOUSEHOLDS, vec!["--households", &good, "--trials", "1"], "wrong headings"),
        (EXAMPLE, vec!["--made-up", "10", "--totals", &totals, "--trials", "1"], "no published totals"),
        (EXAMPLE, vec!["--persons", &parquet, "--trials", "1"], "x.parquet"),
        (EXAMPLE, vec!["--made-up", "10", "--trials", "0"], "--trials"),
        (EXAMPLE, vec!["--made-up", "0", "--trials", "1"], "--made-up"),
        (EXAMPLE, vec!["--made-up", "10", "--trials", "1", "--summary-levels", "USA"], "--summary-levels"),
        (EXAMPLE, vec!["--made-up", "10", "--persons", &good, "--trials", "1"], "--persons"),
        (EXAMPLE, vec!["--trials", "1"], "--made-up"),
    ] {
        let all = [more, vec!["--out", &out]].concat();
        let message = refusal(&words(&example(of, &all)));
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(!Path::new(&out).exists());
    }
    let full = folder.path().display().to_string();
    let message = refusal(&words(&example(EXAMPLE, &["--made-up", "10", "--trials", "1", "--out", &full])));
    assert!(message.contains("holds files"), "{message}");
    let left: Vec<Value> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned().into())
        .filter(|name: &Value| name.as_str().is_some_and(|name| name.contains(".part")))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn compressed_records_and_parquet_are_those_that_they_hold_and_truncated_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plain = fs::read(format!("{EXAMPLE}/person-records.txt")).unwrap();
    let compressed = {
        use std::io::Write;
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        out.write_all(&plain).unwrap();
        out.finish().unwrap()
    };
    let path = folder.path().join("person-records.txt.gz");
    let name = path.display().to_string();
    let run = |persons: &str, out: &str| {
        let out = folder.path().join(out).display().to_string();
        let more = ["--persons", persons, "--trials", "1", "--insecure-seed", "6", "--out", &out];
        (example(EXAMPLE, &more), PathBuf::from(&out))
    };
    fs::write(&path, &compressed).unwrap();
    let truth = |persons: &str, out: &str| {
        let (args, out) = run(persons, out);
        assay(&words(&args)).assert().success();
        fs::read(out.join("truth/t2/us.csv")).unwrap()
    };
    let expected = truth(&format!("{EXAMPLE}/person-records.txt"), "plain");
    assert!(truth(&name, "gz") == expected);
    let parquet = folder.path().join("persons.parquet");
    parquet_records::write(&parquet, std::str::from_utf8(&plain).unwrap(), 77);
    assert!(truth(parquet.to_str().unwrap(), "parquet") == expected);
    let check = |persons: &str| {
        let (config, geography) = (format!("{EXAMPLE}/config.json"), format!("{EXAMPLE}/GRF-C.txt"));
        let args = ["tabulate", "--check", "--config", &config, "--spec", EXAMPLE, "--geography", &geography];
        [&args[..], &["--persons", persons]].concat().iter().map(|word| word.to_string()).collect::<Vec<String>>()
    };
    let output = assay(&words(&check(&name))).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8_lossy(&output).contains("500 records"));
    for length in [20, compressed.len() / 2, compressed.len() - 1] {
        fs::write(&path, &compressed[..length]).unwrap();
        let message = refusal(&words(&check(&name)));
        assert!(message.contains("person-records.txt.gz") && message.contains("truncated"), "{message}");
        let (args, out) = run(&name, "broken");
        assert!(refusal(&words(&args)).contains("truncated") && !out.exists());
    }
}
