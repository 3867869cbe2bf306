//! `assay tabulate --households`: the bureau's expected tables without noise, its toy data, both noises, and one budget per draw.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dp_assay::{
    draws::UnfinishedDraw,
    safetab::{
        schema::TotalsCheck,
        tabulate::{Job, ProgramInputs, PublicJob},
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const TABLES: [&str; 6] = ["t3/T03001", "t3/T03002", "t3/T03003", "t3/T03004", "t4/T04001", "t4/T04002"];

/// The folder of the bureau's toy data; prints a note if it does not exist.
fn toy() -> Option<PathBuf> {
    let facts = std::env::var_os("ASSAY_FACTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts"), PathBuf::from);
    let toy = facts.join("safetab-h/toy");
    if !toy.is_dir() {
        eprintln!("skipped: ASSAY_FACTS does not name a folder of public data with safetab-h");
        return None;
    }
    Some(toy)
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A job over the files of a folder, or of the toy data for missing ones, with its own configuration.
struct Case {
    work: TempDir,
    toy: PathBuf,
    folder: PathBuf,
    specification: PathBuf,
}

impl Case {
    fn new(toy: &Path, folder: &Path, specification: &Path, config: &Value) -> Case {
        let work = tempfile::tempdir().unwrap();
        fs::write(work.path().join("config.json"), config.to_string()).unwrap();
        let [toy, folder, specification] = [toy, folder, specification].map(Path::to_path_buf);
        Case { work, toy, folder, specification }
    }

    fn file(&self, name: &str) -> PathBuf {
        let own = self.folder.join(name);
        if own.exists() { own } else { self.toy.join(name) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn job(&self, check: TotalsCheck) -> Job {
        Job {
            public: PublicJob {
                config: self.path("config.json"),
                specification: self.specification.clone(),
                geography: self.file("GRF-C.txt"),
                program: ProgramInputs::Households { totals: self.file("pop-group-totals.txt"), check },
                edited: None,
                delta: "1e-10".parse().unwrap(),
            },
            records: self.file("household-records.txt"),
            out: self.path("release"),
            insecure_seed: None,
            unfinished: UnfinishedDraw::Refuse,
            cluster: None,
        }
    }

    /// The tables without noise, by name.
    fn exact(&self) -> BTreeMap<&'static str, Vec<String>> {
        let out = self.path("exact");
        self.job(TotalsCheck::AsGiven).write_exact_households(&out).unwrap();
        tables(&out)
    }

    /// Runs the program on the case.
    fn run(&self, out: &str, more: &[&str]) -> (Option<i32>, String, String) {
        // A copy, because the log of the draws stays beside the records.
        let records = self.path("household-records.txt");
        fs::copy(self.file("household-records.txt"), &records).unwrap();
        let totals = self.file("pop-group-totals.txt");
        let mut command = Command::new(ASSAY);
        command.arg("tabulate").arg("--config").arg(self.path("config.json")).arg("--spec").arg(&self.specification);
        command.arg("--households").arg(records).arg("--totals").arg(totals);
        command.arg("--geography").arg(self.file("GRF-C.txt"));
        if !out.is_empty() {
            command.arg("--out").arg(self.path(out));
        }
        let output = command.args(more).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn done(&self, out: &str, more: &[&str]) -> String {
        let (status, stdout, stderr) = self.run(out, more);
        assert_eq!(status, Some(0), "{more:?}: {stderr}");
        stdout
    }

    fn refusal(&self, out: &str, more: &[&str]) -> String {
        let (status, stdout, stderr) = self.run(out, more);
        assert!(status == Some(2) && stdout.is_empty() && !stderr.contains("panicked"), "{more:?}: {stdout} {stderr}");
        stderr
    }
}

/// The rows of all tables of a release, sorted, without headings.
fn tables(folder: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let rows = |table: &&'static str| {
        let mut rows = Vec::new();
        for pass in ["us.csv", "pr.csv"] {
            let Ok(text) = fs::read_to_string(folder.join(table).join(pass)) else { continue };
            let cell = &table[1..2];
            assert!(text.starts_with(&format!("REGION_ID|REGION_TYPE|ITERATION_CODE|T{cell}_DATA_CELL|COUNT")));
            rows.extend(text.lines().skip(1).map(str::to_string));
        }
        rows.sort();
        (*table, rows)
    };
    TABLES.iter().map(rows).collect()
}

fn count(row: &str) -> i64 {
    row.rsplit('|').next().unwrap().parse().unwrap()
}

/// The configuration of the toy data with these thresholds everywhere and these states.
fn config(toy: &Path, noise: &str, t3: [i64; 3], t4: i64, states: &[&str]) -> Value {
    let mut config = read_json(&toy.join(format!("input_dir_{noise}/config.json")));
    for (key, value) in [("thresholds_h_t3", json!(t3)), ("thresholds_h_t4", json!([t4]))] {
        config[key].as_object_mut().unwrap().values_mut().for_each(|own| *own = value.clone());
    }
    config["state_filter_us"] = json!(states);
    config
}

#[test]
fn the_bureaus_expected_tables_without_noise_are_reproduced() {
    let Some(toy) = toy() else { return };
    let specification = toy.join("input_dir_zcdp");
    let expected = toy.join("expected");
    for (name, states) in [
        ("smallinput", Some(&["01", "02"][..])),
        ("aiannhinputsimple", Some(&["01"])),
        ("aiannhinputmultistate", Some(&["01"])),
        ("complex", None),
    ] {
        let folder = expected.join(name);
        let case = match states {
            Some(states) => Case::new(&toy, &folder, &specification, &config(&toy, "zcdp", [1, 2, 3], 1, states)),
            None => Case::new(&toy, &folder, &folder, &read_json(&folder.join("config.json"))),
        };
        let found = case.exact();
        let mut rows = 0;
        for (table, found) in found {
            let text =
                fs::read_to_string(folder.join("out").join(&table[3..]).with_extension("csv")).unwrap_or_default();
            let mut expected: Vec<&str> = text.lines().skip(1).collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{name} {table}");
            rows += found.len();
        }
        assert!(rows > 0, "{name}");
    }
}

#[test]
fn the_toy_has_all_groups_and_its_known_sums() {
    let Some(toy) = toy() else { return };
    for (run_pr, rows, sum) in [(false, 493, 82), (true, 583, 85)] {
        let mut config = read_json(&toy.join("input_dir_zcdp/config.json"));
        config["run_pr"] = run_pr.into();
        let case = Case::new(&toy, &toy, &toy.join("input_dir_zcdp"), &config);
        for (table, found) in case.exact() {
            let is_level_0 = table.ends_with("001");
            assert_eq!(found.len(), if is_level_0 { rows } else { 0 }, "{table}");
            assert_eq!(found.iter().map(|row| count(row)).sum::<i64>(), if is_level_0 { sum } else { 0 });
        }
    }
}

#[test]
fn faults_that_the_production_does_not_check_are_refused() {
    let Some(toy) = toy() else { return };
    let mut settings = read_json(&toy.join("input_dir_zcdp/config.json"));
    settings["run_pr"] = true.into();
    let case = Case::new(&toy, &toy, &toy.join("input_dir_zcdp"), &settings);
    // PR-PLACE 7299999 is no place, and the geography has no such region.
    let why = case.refusal("release", &[]);
    assert!(why.contains("unknown region") && why.contains("7299999"), "{why}");
    assert!(case.refusal("", &["--check"]).contains("7299999"));
    assert!(case.done("", &["--check", "--totals-as-given"]).contains("6 records"));
    assert!(!case.path("release").exists() && !case.path("release.log").exists());

    // A copy that may be damaged.
    let folder = tempfile::tempdir().unwrap();
    let original = |name: &str| fs::read_to_string(toy.join(name)).unwrap();
    let spoilt = Case::new(&toy, folder.path(), &toy.join("input_dir_zcdp"), &settings);
    let rows = original("pop-group-totals.txt");
    let totals: String = rows.lines().filter(|row| !row.starts_with("7299999")).map(|row| format!("{row}\n")).collect();
    let last = totals.lines().last().unwrap().to_string();
    let without_state: String =
        totals.lines().filter(|row| !row.starts_with("02|STATE")).map(|row| format!("{row}\n")).collect();
    let only_pr: String = totals
        .lines()
        .filter(|row| row.contains("PR-") || row.ends_with("COUNT"))
        .map(|row| format!("{row}\n"))
        .collect();
    for (name, text, expected) in [
        ("pop-group-totals.txt", format!("{totals}{last}\n"), "every group once"),
        ("pop-group-totals.txt", format!("{totals}1|USA|9999|4\n"), "unknown code"),
        ("pop-group-totals.txt", format!("{totals}1|USA|x|4\n"), "1 to 4 digits"),
        ("pop-group-totals.txt", format!("{totals}1|USA|3080|4.5\n"), "whole number"),
        ("pop-group-totals.txt", format!("{totals}1|NATION|3080|4\n"), "PR-PLACE"),
        ("pop-group-totals.txt", format!("{totals}01999|COUNTY|3080|4\n"), "vintage"),
        ("pop-group-totals.txt", without_state, "never suppressed"),
        ("pop-group-totals.txt", only_pr, "totals of the pass that is run over USA"),
        (
            "household-records.txt",
            original("household-records.txt").replace("01|001|000001|0002", "01|001|000001|0099"),
            "unknown block",
        ),
        (
            "household-records.txt",
            original("household-records.txt").replace("|1|4\n", "|6|4\n").replace("|1|2\n", "|1|0\n"),
            "1 to 5",
        ),
        ("household-records.txt", original("household-records.txt").replace("|63|", "|Null|"), "01 to 63"),
        ("GRF-C.txt", format!("{}01|001|000001|0001|22800|0001\n", original("GRF-C.txt")), "every block once"),
    ] {
        fs::write(folder.path().join("pop-group-totals.txt"), &totals).unwrap();
        fs::write(folder.path().join(name), text).unwrap();
        let why = spoilt.refusal("", &["--check", "--json"]);
        assert!(why.contains(expected) && why.contains(name), "{expected}: {why}");
        fs::remove_file(folder.path().join(name)).unwrap();
    }
}

/// The cells of a table, and those of them that are sums of others.
fn cells_of_table(name: &str) -> (&'static [u8], &'static [(u8, &'static [u8])]) {
    match name {
        "T03001" | "T04001" => (&[0], &[]),
        "T03002" => (&[0, 1, 6], &[(0, &[1, 6])]),
        "T03003" => (&[0, 1, 2, 3, 6, 7, 8], &[(0, &[1, 6]), (1, &[2, 3]), (6, &[7, 8])]),
        "T03004" => (&[0, 1, 2, 3, 4, 5, 6, 7, 8], &[(0, &[1, 6]), (1, &[2, 3]), (3, &[4, 5]), (6, &[7, 8])]),
        _ => (&[0, 1, 2, 3], &[(0, &[1, 2, 3])]),
    }
}

#[test]
fn a_release_has_its_sums_its_noise_and_a_certificate() {
    let Some(toy) = toy() else { return };
    for (noise, parameter, value) in [("zcdp", "sigma2_t3", "1125/2"), ("puredp", "laplace_epsilon_t3", "1/1125")] {
        let mut settings = config(&toy, noise, [-50, 0, 20], 0, &["01", "02", "11"]);
        settings["run_pr"] = true.into();
        settings["privacy_budget_h_t4_level_2_usa"] = 0.into();
        let case = Case::new(&toy, &toy, &toy.join(format!("input_dir_{noise}")), &settings);
        let more = ["--totals-as-given", "--json"];
        let mut certificate: Value = serde_json::from_str(&case.done("release", &more)).unwrap();
        assert!(certificate.as_object_mut().unwrap().remove("provenance").is_some());
        let stored = read_json(&case.path("release/certificate.json"));
        assert!(certificate == stored && certificate["algorithm"] == "SafeTab-H" && certificate["draw"] == 1);
        let nation = &certificate["passes"][0]["levels"][0];
        // Stability 9: 9 / (2 * 0.008), 0.008 / 9.
        assert_eq!((&nation["stability"], &nation[format!("{parameter}_exact")]), (&json!(9), &json!(value)));
        assert_eq!(nation["budget_t3"], json!(0.008));
        let sum = |key: &str| {
            let keys = settings.as_object().unwrap().iter().filter(|(name, _)| name.starts_with(key));
            keys.filter(|(name, _)| !name.contains("_pr_")).map(|(_, value)| value.as_f64().unwrap()).sum::<f64>()
        };
        let unit = if noise == "zcdp" { "rho" } else { "pure_epsilon" };
        let spent: f64 = certificate["passes"][0][unit].to_string().parse().unwrap();
        assert!((spent - sum("privacy_budget")).abs() < 1e-9, "{spent}");

        let found = tables(&case.path("release"));
        let rows = &certificate["passes"][0]["rows"];
        let of_pr = &certificate["passes"][1]["rows"];
        let mut groups = [BTreeSet::new(), BTreeSet::new()];
        for (table, rows_found) in &found {
            let name = &table[3..];
            assert_eq!(rows_found.len() as u64, rows[name].as_u64().unwrap() + of_pr[name].as_u64().unwrap());
            let mut cells: BTreeMap<&str, BTreeMap<u8, i64>> = BTreeMap::new();
            for row in rows_found {
                let (head, _) = row.rsplit_once('|').unwrap();
                let (group, cell) = head.rsplit_once('|').unwrap();
                assert!(cells.entry(group).or_default().insert(cell.parse().unwrap(), count(row)).is_none());
            }
            for (group, cells) in cells {
                assert!(groups[usize::from(table.starts_with("t4"))].insert(group.to_string()), "{group} twice");
                let sum = |parts: &[u8]| parts.iter().map(|part| cells[part]).sum::<i64>();
                let (printed, sums) = cells_of_table(name);
                assert!(cells.keys().eq(printed), "{name} {group}");
                sums.iter().for_each(|(cell, parts)| assert_eq!(cells[cell], sum(parts), "{name} {group} {cell}"));
            }
        }
        // T3 has all groups of T1; T4 has all except those of the level without a budget.
        assert_eq!(groups[0].len(), 583);
        let not_run = groups[0].difference(&groups[1]).collect::<Vec<_>>();
        assert!(!not_run.is_empty() && not_run.iter().all(|group| group.starts_with("1|USA|")));
        assert!(found.values().flatten().any(|row| count(row) < 0));

        if noise == "puredp" {
            continue;
        }
        settings["allow_negative_counts"] = false.into();
        let case = Case::new(&toy, &toy, &toy.join(format!("input_dir_{noise}")), &settings);
        case.done("release", &more);
        assert!(tables(&case.path("release")).values().flatten().all(|row| count(row) >= 0));
    }
}

#[test]
fn one_budget_is_drawn_once() {
    let Some(toy) = toy() else { return };
    let settings = read_json(&toy.join("input_dir_zcdp/config.json"));
    let case = Case::new(&toy, &toy, &toy.join("input_dir_zcdp"), &settings);
    let account: Value = serde_json::from_str(&case.done("", &["--dry-run", "--json"])).unwrap();
    let released: Value = serde_json::from_str(&case.done("a", &["--insecure-seed", "5", "--json"])).unwrap();
    for key in ["rho_exact", "epsilon", "bounded", "sha256", "totals_of_other_states"] {
        assert!(account[key] == released[key] && !released[key].is_null(), "{key}");
    }
    assert!(account["draw"].is_null());
    // The same seed gives the same noise, and the heading shows the seed.
    case.done("b", &["--insecure-seed", "5"]);
    for table in TABLES {
        let file = |out: &str| fs::read_to_string(case.path(out).join(table).join("us.csv")).unwrap();
        assert!(file("a") == file("b") && file("a").lines().next().unwrap().contains("INSECURE seed 5"));
    }
    case.done("c", &[]);
    assert_ne!(tables(&case.path("a")), tables(&case.path("c")));
    // A release is never overwritten, nor drawn again without a flag.
    assert!(case.refusal("c", &[]).contains("is there already"));
    fs::remove_dir_all(case.path("c")).unwrap();
    assert!(case.refusal("c", &[]).contains("its budget is spent"));
    let second: Value = serde_json::from_str(&case.done("c", &["--discard", "--json"])).unwrap();
    assert_eq!((&second["draw"], &second["earlier_draws"]), (&json!(2), &json!(1)));
    let log = fs::read_to_string(case.path("c.log")).unwrap();
    assert!(log.contains("totals pop-group-totals.txt") && log.matches("released").count() == 2, "{log}");
    assert!(!case.path("c.key").exists());
}

/// A release of the examples in the repository, and the arguments of its inputs.
fn released_example(folder: &Path, households: bool) -> Vec<String> {
    let example = |name: &str| format!("{}/data/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut inputs: Vec<String> =
        ["--spec", &example("safetab"), "--geography", &example("safetab/GRF-C.txt")].map(str::to_string).to_vec();
    let kind = if households { "safetab-h" } else { "safetab" };
    inputs.extend(["--config".to_string(), example(&format!("{kind}/config.json"))]);
    let mut records = vec!["--persons".to_string(), example("safetab/person-records.txt")];
    if households {
        inputs.extend(["--totals".to_string(), example("safetab-h/pop-group-totals.txt")]);
        records = vec!["--households".to_string(), example("safetab-h/household-records.txt")];
    }
    let status = Command::new(ASSAY)
        .arg("tabulate")
        .args(&inputs)
        .args(&records)
        .arg("--out")
        .arg(folder)
        .args(["--insecure-seed", "3", "--json"])
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    inputs
}

/// The result of checking a release: exit status and answer.
fn verify(folder: &Path, inputs: &[String]) -> (Option<i32>, Value) {
    let output =
        Command::new(ASSAY).args(["tabulate", "--json", "--verify-output"]).arg(folder).args(inputs).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), serde_json::from_str(&text).unwrap_or_default())
}

/// A modification of the lines of a file.
type Change = fn(Vec<String>) -> Vec<String>;

/// Changes of one file, each of which breaks a rule: a part of the message, and whether it is noticed only against the inputs.
fn changes(households: bool) -> [(&'static str, Change, &'static str, bool); 7] {
    let [table, cell, alone] = match households {
        false => ["t2/us.csv", "t1/us.csv", "t1/us.csv"],
        true => ["t3/T03002/us.csv", "t3/T03001/us.csv", "t4/T04001/us.csv"],
    };
    let add_one: Change = |mut rows| {
        let (head, count) = rows[1].rsplit_once('|').unwrap();
        rows[1] = format!("{head}|{}", count.parse::<i64>().unwrap() + 1);
        rows
    };
    let rename_region: Change = |mut rows| {
        rows[1] = rows[1].replace("|USA|", "|NATION|");
        rows
    };
    let add_county: Change = |mut rows| {
        rows.push(rows[1].replacen("1|USA|", "01999|COUNTY|", 1));
        rows
    };
    [
        (table, |rows| [rows.clone(), vec![rows[1].clone()]].concat(), "every row once", false),
        (table, |rows| [&rows[..1], &rows[2..]].concat(), "all of them", false),
        (table, add_one, "the sum", false),
        (cell, rename_region, "one of USA", false),
        (cell, |rows| rows[..rows.len() - 1].to_vec(), "rows", false),
        (alone, |rows| [&rows[..1], &rows[2..]].concat(), "every group of", true),
        (alone, add_county, "", true),
    ]
}

#[test]
fn a_release_is_verified_with_and_without_its_inputs() {
    for households in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let release = folder.path().join("release");
        let inputs = released_example(&release, households);
        for inputs in [&[][..], &inputs] {
            let (status, found) = verify(&release, inputs);
            assert_eq!((status, &found["violations"]), (Some(0), &json!(0)), "{households}: {found}");
        }
        // Without a certificate, which states the number of rows.
        let certificate = fs::read(release.join("certificate.json")).unwrap();
        for (number, (file, change, expected, needs_inputs)) in changes(households).into_iter().enumerate() {
            let path = release.join(file);
            let before = fs::read_to_string(&path).unwrap();
            let rows = change(before.lines().map(str::to_string).collect());
            fs::write(&path, rows.join("\n") + "\n").unwrap();
            if number != 4 {
                fs::remove_file(release.join("certificate.json")).unwrap();
            }
            let (status, found) = verify(&release, &inputs);
            assert_eq!(status, Some(1), "{households} {number}");
            assert!(
                found["violations"].as_u64() > Some(0) && found.to_string().contains(expected),
                "{number}: {found}"
            );
            let (alone, _) = verify(&release, &[]);
            // A missing total of a group with ages is found without inputs, too.
            assert!(alone == Some(1) || needs_inputs, "{households} {number}");
            fs::write(&path, before).unwrap();
            fs::write(release.join("certificate.json"), &certificate).unwrap();
        }
        fs::write(release.join("notes.txt"), "").unwrap();
        assert_eq!(verify(&release, &[]).0, Some(1));
        fs::remove_file(release.join("notes.txt")).unwrap();
    }
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(verify(nothing.path(), &[]).0, Some(2));
}
