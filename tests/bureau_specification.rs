//! The Bureau's SafeTab-P as a specification: on the same input and the same insecure seed it gives the same bytes as the Bureau's program, and
//! the same guarantees; and refusals of what a specification says about files, parts of a country and the form of tables.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dp_assay::safetab::{
    country::CountrySpecification,
    groups::{FILES, Specification},
    schema::{Combination, Granularity, IterationLevel, RaceEthCode, SafeTabConfig, ValidationReport},
};
use serde_json::{Value, json};

use crate::common::{
    facts,
    numbers::Numbers,
    program::{assay, json, refusal},
};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/safetab").join(name)
}

/// A folder with the Bureau's files, a configuration, a specification that says the same, and records.
struct Both {
    folder: tempfile::TempDir,
}

impl Both {
    /// The example, with a configuration, a geography and a number of copies of its records.
    fn new(config: &Value, geography: &str, copies: usize) -> Both {
        let both = Both { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(both.path("spec")).unwrap();
        for name in FILES {
            fs::copy(example(name), both.path("spec").join(name)).unwrap();
        }
        let persons = fs::read_to_string(example("person-records.txt")).unwrap();
        let (header, rows) = persons.split_once('\n').unwrap();
        for (name, text) in [
            ("config.json", config.to_string()),
            ("spec/safetab-p.toml", specification(config)),
            ("GRF-C.txt", geography.to_string()),
            ("persons.txt", format!("{header}\n{}", rows.repeat(copies))),
        ] {
            fs::write(both.path(name), text).unwrap();
        }
        both
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Draws a release by the configuration, or by the specification; returns its certificate.
    fn release(&self, by_specification: bool, seed: &str) -> Value {
        let out = self.path(if by_specification { "own" } else { "bureau" });
        let text = |name: &str| self.path(name).display().to_string();
        let inputs = match by_specification {
            true => vec!["--spec".to_string(), text("spec/safetab-p.toml")],
            false => ["--config", "config.json", "--spec", "spec"]
                .iter()
                .map(|word| if word.starts_with("--") { word.to_string() } else { text(word) })
                .collect(),
        };
        let (geography, persons, out_text) = (text("GRF-C.txt"), text("persons.txt"), out.display().to_string());
        let mut args: Vec<&str> =
            vec!["tabulate", "--geography", &geography, "--persons", &persons, "--out", &out_text];
        args.extend(["--insecure-seed", seed, "--discard"]);
        args.extend(inputs.iter().map(String::as_str));
        assay(&args).assert().success();
        serde_json::from_str(&fs::read_to_string(out.join("certificate.json")).unwrap()).unwrap()
    }

    /// The bytes of a table of both releases.
    fn tables(&self, name: &str) -> [String; 2] {
        ["bureau", "own"].map(|release| fs::read_to_string(self.path(release).join(name)).unwrap())
    }
}

/// The example's configuration with changes.
fn config(changes: &[(&str, Value)]) -> Value {
    let mut config: Value = serde_json::from_str(&fs::read_to_string(example("config.json")).unwrap()).unwrap();
    for (key, value) in changes {
        config[*key] = value.clone();
    }
    config
}

/// The bundled specification with the budgets, thresholds, states and guarantee of a configuration.
fn specification(config: &Value) -> String {
    let (mut level, mut number) = (String::new(), String::new());
    let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_string();
    let mut lines: Vec<String> = Vec::new();
    let mut in_states = false;
    for line in CountrySpecification::template().lines() {
        let key = line.split(" = ").next().unwrap_or_default();
        let changed = match key {
            "level" => {
                level = quoted(line);
                line.to_string()
            }
            "grouping" => {
                number = quoted(line)["level ".len()..][..1].to_string();
                line.to_string()
            }
            "budget" => {
                let kind = level.to_lowercase().replace('-', "_");
                format!("budget = {}", config[format!("privacy_budget_p_level_{number}_{kind}")])
            }
            "thresholds" => format!("thresholds = {}", config["thresholds_p"][format!("({level}, {number})")]),
            "suppress_empty" => format!("suppress_empty = {}", config["zero_suppression_chance"]),
            "stage_1_fraction" => format!("stage_1_fraction = {}", config["privacy_budget_p_stage_1_fraction"]),
            "allow_negative_counts" => format!("allow_negative_counts = {}", config["allow_negative_counts"]),
            "privacy" => format!("privacy = {}", config["privacy_defn"]),
            "codes" if line.ends_with('[') => {
                in_states = true;
                format!("codes = {}", config["state_filter_us"])
            }
            _ if in_states => {
                in_states = line != "]";
                continue;
            }
            _ => line.to_string(),
        };
        lines.push(changed);
    }
    lines.join("\n") + "\n"
}

/// The example's geography with a column of land: `land` gives it by the number of the row.
fn with_land(column: &str, land: impl Fn(usize) -> &'static str) -> String {
    let text = fs::read_to_string(example("GRF-C.txt")).unwrap();
    let rows = text.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line}|{column}\n"),
        _ => format!("{line}|{}\n", land(row)),
    });
    rows.collect()
}

/// Compares the tables and the guarantees of both programs; returns the certificate of the specification.
fn compare(both: &Both, seed: &str) -> Value {
    let (bureau, own) = (both.release(false, seed), both.release(true, seed));
    for name in ["t1/us.csv", "t1/pr.csv", "t2/us.csv", "t2/pr.csv"] {
        let [bureau, own] = both.tables(name);
        assert!(bureau.lines().count() > 10, "{name} is too short");
        let differs = bureau.lines().zip(own.lines()).position(|(a, b)| a != b);
        assert!(bureau == own, "{name} differs in line {:?}", differs.map(|line| line + 1));
    }
    for key in ["epsilon", "bounded", "stage_1_fraction", "noise", "rho_exact", "pure_epsilon_exact"] {
        assert_eq!(bureau[key], own[key], "{key}");
    }
    let passes = |certificate: &Value| certificate["passes"].as_array().unwrap().clone();
    assert_eq!(passes(&own).len(), 2);
    for (bureau, own) in passes(&bureau).iter().zip(passes(&own)) {
        for key in ["pass", "epsilon", "bounded", "coterminous_groups_replaced"] {
            assert_eq!(bureau[key], own[key], "{key}");
        }
        assert_eq!([&bureau["rows"]["t1"], &bureau["rows"]["t2"]], [&own["rows"]["totals"], &own["rows"]["cells"]]);
        let levels = |pass: &Value| pass["levels"].as_array().unwrap().clone();
        assert_eq!(levels(bureau).len(), levels(&own).len());
        for (bureau, own) in levels(bureau).iter().zip(levels(&own)) {
            let same = ["region_type", "stability", "regions", "epsilon", "thresholds", "suppression_threshold"];
            let noise = ["total_only", "stage1", "stage2"]
                .iter()
                .flat_map(|stage| ["sigma2", "laplace_epsilon"].map(|parameter| format!("{parameter}_{stage}_exact")));
            for key in same.map(str::to_string).into_iter().chain(noise) {
                // The specification states only noise that is drawn.
                assert!(bureau[&key] == own[&key] || own[&key].is_null(), "{key}: {bureau} {own}");
            }
            assert_eq!(bureau["iterations"], own["groups_of_a_region"]);
            assert_eq!(bureau["detailed_only_iterations"], own["groups_with_one_table"]);
        }
    }
    own
}

#[test]
fn the_bundled_specification_gives_the_bytes_of_the_bureaus_program() {
    let geography = fs::read_to_string(example("GRF-C.txt")).unwrap();
    let both = Both::new(&config(&[]), &geography, 1);
    let certificate = compare(&both, "1");
    assert_eq!(certificate["algorithm"], "SafeTab-P (own specification)");
    let hashed: Vec<&String> = certificate["sha256"].as_object().unwrap().keys().collect();
    assert!(FILES.iter().all(|name| hashed.contains(&&name.to_string())), "{hashed:?}");
    // Puerto Rico and its county are the same blocks there, and give the same counts.
    assert!(certificate["passes"][1]["coterminous_groups_replaced"].as_u64() > Some(0));
}

#[test]
fn it_does_so_with_land_and_water_and_more_records() {
    let land = with_land("AREALAND", |row| if row % 3 == 0 { "0" } else { "77" });
    let changes = [("allow_negative_counts", json!(true)), ("zero_suppression_chance", json!(0.9))];
    let certificate = compare(&Both::new(&config(&changes), &land, 7), "2");
    assert_eq!(certificate["coterminous_regions_share"], "areas with land, by AREALAND");
    assert!(certificate["passes"][0]["coterminous_groups_replaced"].as_u64() > Some(0));
}

#[test]
fn it_does_so_with_pure_differential_privacy() {
    let land = with_land("LWBLKTYP", |row| if row % 4 == 0 { "W" } else { "L" });
    let both = Both::new(&config(&[("privacy_defn", json!("puredp"))]), &land, 3);
    compare(&both, "3");
}

/// Whether the groups of a specification file in a folder are the iterations of the four files there, for random records.
fn compare_groups(folder: &Path, config: &Path, records: usize) {
    let mut report = ValidationReport::new();
    let config = SafeTabConfig::read(config, &mut report).unwrap();
    let bureau = Specification::read(folder, &config, &mut report).unwrap();
    assert!(report.is_empty(), "{report}");
    let file = folder.join("safetab-p.toml").display().to_string();
    let own = CountrySpecification::parse(CountrySpecification::template(), &file).unwrap();
    // Both files are in ascending order of codes, so a code has the same place here as in the specification.
    let codes: Vec<RaceEthCode> = bureau.codes().collect();
    let mut numbers = Numbers(5);
    for (place, (level, granularity)) in (IterationLevel::ALL.into_iter())
        .flat_map(|level| Granularity::ALL.map(|granularity| (level, granularity)))
        .enumerate()
    {
        let grouping = &own.groupings[place];
        let keys = bureau.key_set(granularity, level);
        assert_eq!(grouping.groups.len(), keys.len(), "{}", grouping.name);
        for (group, key) in grouping.groups.iter().zip(&keys) {
            assert_eq!((&group.code, group.total_only), (&key.iteration.to_string(), key.detailed_only));
        }
        assert_eq!((grouping.stability, bureau.stability(granularity, level)), (9, 9), "{}", grouping.name);
        for _ in 0..records {
            let mut races: Vec<u32> =
                (0..1 + numbers.below(8)).map(|_| numbers.below(codes.len() as u64) as u32).collect();
            races.sort_unstable();
            races.dedup();
            let ethnicity = numbers.below(codes.len() as u64) as u32;
            let of_codes: Vec<RaceEthCode> = races.iter().map(|place| codes[*place as usize]).collect();
            let combination = Combination::new(of_codes, codes[ethnicity as usize]);
            let expected = bureau.iterations(&combination, granularity, level).unwrap();
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            let found = grouping.groups_of(&[races, vec![ethnicity], Vec::new(), Vec::new()]).unwrap();
            let found: Vec<String> = found.iter().map(|group| grouping.groups[*group as usize].code.clone()).collect();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn its_groups_are_the_iterations_of_the_bureaus_files() {
    compare_groups(&example(""), &example("config.json"), 500);
    if let Some(production) = facts::folder("safetab/production") {
        compare_groups(&production, &production.join("config.json"), 20);
    }
}

/// A small specification with parts, joined codes and tables in a form of its own.
const SMALL: &str = r#"
title = "small"
privacy = "zcdp"
stage_1_fraction = 0.5
[[attribute]]
name = "tongue"
columns = ["t1", "t2"]
none = "-"
codes_from = { file = "codes.csv", column = "code" }
[[attribute]]
name = "sex"
column = "sex"
codes = ["w", "m"]
[[attribute]]
name = "age"
column = "age"
numbers = [0, 99]
[geography]
area_columns = ["region", "hamlet"]
same_places = true
[[geography.land]]
column = "land"
water = ["no"]
[[geography.part]]
name = "The mainland"
file = "main"
column = "isle"
codes = ["0"]
[[geography.part]]
name = "The isles"
file = "isles"
column = "isle"
codes = ["1", "2"]
[[geography.level]]
name = "country"
region = "C"
part = "The mainland"
[[geography.level]]
name = "region"
column = "region"
within = "country"
part = "The mainland"
[[geography.level]]
name = "quarter"
columns = ["region", "quarter"]
none = "x"
partial = true
part = "The mainland"
[[geography.level]]
name = "isle"
column = "isle"
part = "The isles"
[[table]]
name = "all"
[[table]]
name = "by sex and age"
by = [{ attribute = "sex" }, { attribute = "age", from = [0, 18] }]
[[grouping]]
name = "tongues"
stability = 4
[[grouping.from]]
file = "groups.csv"
code = "group"
where = { kind = ["a", "b"] }
total_only = { kind = ["b"] }
any = "tongue"
members = { file = "members.csv", group = "group", code = "code" }
[[tabulate]]
level = "country"
grouping = "tongues"
budget = 1e6
thresholds = [2]
[[tabulate]]
level = "region"
grouping = "tongues"
budget = 1e6
thresholds = [2]
suppress_empty = 0.9
[[tabulate]]
level = "quarter"
grouping = "tongues"
budget = 1e6
thresholds = [2]
suppress_empty = 0.9
[[tabulate]]
level = "isle"
grouping = "tongues"
budget = 1e6
thresholds = [2]
[output]
separator = ";"
[output.totals]
file = "sums/{part}.txt"
columns = [
    { heading = "N", show = "count" },
    { heading = "G", show = "group" },
    { heading = "R", show = "region" },
    { heading = "L", show = "level" },
]
[output.cells]
file = "{part}-cells.txt"
columns = [
    { heading = "L", show = "level" },
    { heading = "R", show = "region" },
    { heading = "G", show = "group" },
    { heading = "sex", show = "sex" },
    { heading = "from", show = "age", end = "first" },
    { heading = "to", show = "age", end = "last" },
    { heading = "N", show = "count" },
]
sums_over = ["sex", "age"]
"#;

/// The files beside it, its areas and its records.
const BESIDE: [(&str, &str); 5] = [
    ("codes.csv", "code,name\np,P\nq,Q\nr,R\n"),
    ("groups.csv", "group,kind\nB,b\nA,a\nC,c\n"),
    ("members.csv", "group,code\nA,p\nA,q\nB,r\nC,z\n"),
    (
        "areas.csv",
        "region,hamlet,quarter,isle,land\n1,1,1,0,yes\n1,2,2,0,yes\n2,1,1,0,yes\n2,9,x,0,no\n3,1,x,1,yes\n3,2,x,2,yes\n4,1,x,9,yes\n",
    ),
    (
        "persons.csv",
        "region|hamlet|t1|t2|sex|age\n1|1|p|-|w|5\n1|1|q|p|m|50\n1|1|p||m|51\n1|2|r|-|w|18\n3|2|p|r|w|0\n4|1|p|-|w|1\n",
    ),
];

/// The folder of the small specification, with a change of one of its files.
fn small(name: &str, from: &str, to: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in BESIDE.into_iter().chain([("spec.toml", SMALL)]) {
        assert!(name != file || text.contains(from), "{file} has no {from:?}");
        let text = if name == file { text.replacen(from, to, 1) } else { text.to_string() };
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn arguments(folder: &Path, last: &[&str]) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let (spec, areas, persons) = (file("spec.toml"), file("areas.csv"), file("persons.csv"));
    let first = ["tabulate", "--spec", &spec, "--geography", &areas, "--persons", &persons];
    first.iter().chain(last).map(ToString::to_string).collect()
}

#[test]
fn parts_joined_codes_and_own_columns_without_noise() {
    let folder = small("", "", "");
    let out = folder.path().join("out");
    let args = arguments(folder.path(), &["--insecure-seed", "1", "--out", out.to_str().unwrap()]);
    assay(&args.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    // Groups ascend, though B comes before A in their file. Region 1 is quarters 11 and 12; region 2, whose other hamlet has no land, is
    // quarter 21, and both are empty: nobody gives a count.
    let expected = "N (INSECURE seed 1);G;R;L\n3;A;C;country\n1;B;C;country\n3;A;1;region\n1;B;1;region\n3;A;11;quarter\n1;B;12;quarter\n";
    assert_eq!(text("sums/main.txt"), expected);
    let cells = |level: &str, region: &str| {
        format!("{level};{region};A;w;0;17;1\n{level};{region};A;w;18;99;0\n{level};{region};A;m;0;17;0\n")
            + &format!("{level};{region};A;m;18;99;2\n{level};{region};A;*;*;*;3\n")
    };
    let heading = "L;R;G;sex;from;to;N (INSECURE seed 1)\n";
    assert_eq!(
        text("main-cells.txt"),
        heading.to_string() + &cells("country", "C") + &cells("region", "1") + &cells("quarter", "11")
    );
    // One person of the second isle is in both groups; isle 9 is in no part.
    assert_eq!(text("sums/isles.txt"), "N (INSECURE seed 1);G;R;L\n0;A;1;isle\n0;B;1;isle\n1;A;2;isle\n1;B;2;isle\n");
    let certificate: Value = serde_json::from_str(&text("certificate.json")).unwrap();
    let passes: Vec<&Value> = certificate["passes"].as_array().unwrap().iter().map(|pass| &pass["pass"]).collect();
    assert_eq!(passes, ["The mainland", "The isles"]);
    // A person is in one part: three levels there, and one here.
    assert_eq!(certificate["rho_exact"], "3000000");
    assert_eq!(certificate["passes"][0]["levels"][0]["stability"], 4);
    let said = refusal(&["tabulate", "--verify-output", out.to_str().unwrap()]);
    assert!(said.contains("only releases in the bureau's format can be verified"), "{said}");
}

/// Changes of a file of the small specification, and what is said.
const WRONG: [(&str, &str, &str, &str); 42] = [
    ("spec.toml", "codes.csv", "../codes.csv", "is no file in the folder of the specification"),
    ("spec.toml", "codes.csv", "/etc/passwd", "is no file in the folder of the specification"),
    ("spec.toml", "codes.csv", "none.csv", "none.csv"),
    ("spec.toml", "column = \"code\"", "column = \"cod\"", "column"),
    ("spec.toml", "codes_from = {", "codes = [\"p\"]\ncodes_from = {", "needs either codes or numbers"),
    ("spec.toml", "none = \"-\"", "none = \"p\"", "is a code of the attribute"),
    ("spec.toml", "column = \"sex\"", "column = \"sex\"\nnone = \"-\"", "every person has a value"),
    ("codes.csv", "q,Q", "p,Q", "the code \"p\" occurs twice"),
    ("codes.csv", "q,Q", "*,Q", "stands for a sum"),
    ("codes.csv", "q,Q", ",Q", "is empty"),
    ("spec.toml", "area_columns", "area = \"hamlet\"\narea_columns", "not both"),
    ("spec.toml", "area_columns = [\"region\", \"hamlet\"]", "", "area_columns"),
    ("spec.toml", "same_places = true", "", "land decides"),
    ("spec.toml", "name = \"The isles\"", "name = \"The mainland\"", "occurs twice"),
    ("spec.toml", "file = \"isles\"", "file = \"main\"", "occurs twice"),
    ("spec.toml", "part = \"The mainland\"", "part = \"The mainlan\"", "did you mean \"The mainland\""),
    ("spec.toml", "part = \"The mainland\"", "", "needs part"),
    (
        "spec.toml",
        "within = \"country\"\npart = \"The mainland\"",
        "within = \"country\"\npart = \"The isles\"",
        "another part",
    ),
    ("spec.toml", "partial = true", "", "so add partial = true"),
    ("spec.toml", "column = \"region\"", "column = \"region\"\nregion = \"1\"", "leave region out"),
    ("spec.toml", "codes = [\"1\", \"2\"]", "codes = [\"0\", \"2\"]", "an area in one part"),
    ("spec.toml", "stability = 4", "stability = 1", "a person can be in 2 groups of \"tongues\" by its rules"),
    ("spec.toml", "stability = 4", "stability = 4000000000", "at most 1000000"),
    ("spec.toml", "any = \"tongue\"", "", "one rule"),
    ("spec.toml", "any = \"tongue\"", "any = \"age\"", "is a number"),
    ("spec.toml", "kind = [\"a\", \"b\"]", "kind = []", "is empty"),
    ("spec.toml", "kind = [\"a\", \"b\"]", "kind = [\"d\"]", "has no group"),
    ("spec.toml", "kind = [\"a\", \"b\"]", "sort = [\"a\"]", "sort"),
    ("groups.csv", "C,c", "A,c", "the group \"A\" is in line 3, too"),
    ("members.csv", "A,q", "A,p", "has the code \"p\" already"),
    ("members.csv", "A,q", "A,z", "\"z\" is no code of tongue"),
    ("members.csv", "B,r", "D,r", "the group \"B\" has no code"),
    ("spec.toml", "separator = \";\"", "separator = \"::\"", "a comma, a semicolon, a bar or a tab"),
    ("spec.toml", "sums/{part}.txt", "sums.txt", "in the place of another one"),
    ("spec.toml", "sums/{part}.txt", "../{part}.txt", "not in the folder of the release"),
    ("spec.toml", "sums/{part}.txt", "{part}-cells.txt/{part}", "in the place of another one"),
    ("spec.toml", "sums/{part}.txt", "certificate.json", "in the place of another one"),
    ("spec.toml", "{ heading = \"L\", show = \"level\" },\n]", "]", "show level, too"),
    ("spec.toml", "{ heading = \"sex\", show = \"sex\" },", "", "cells are of \"sex\", so show it"),
    ("spec.toml", "show = \"sex\" }", "show = \"sex\", end = \"last\" }", "has codes"),
    ("spec.toml", "sums_over = [\"sex\", \"age\"]", "sums_over = [\"sex\"]", "name these last"),
    (
        "spec.toml",
        "heading = \"R\", show = \"region\"",
        "heading = \"R\", show = \"place\"",
        "unknown content of a column",
    ),
];

#[test]
fn what_is_wrong_in_these_files_is_refused_with_its_place() {
    for (name, from, to, why) in WRONG {
        let folder = small(name, from, to);
        let args = arguments(folder.path(), &["--check"]);
        let said = refusal(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let place = said.contains(", line ") || said.contains(&format!("{name}: ")) || said.contains("areas.csv");
        assert!(said.contains(why) && (place || why.ends_with(".csv")), "{name}: {from} -> {to}: {said}");
    }
    // Codes that are joined from different cells are not confused: 1 and 12 are not 11 and 2.
    let folder = small("areas.csv", "2,1,1,0,yes", "11,1,2,0,yes\n1,3,12,0,yes");
    let said = refusal(&arguments(folder.path(), &["--check"]).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("\"112\"; allowed: codes of quarter whose columns together"), "{said}");
    for (from, to) in
        [("1|2|r|-|w|18", "1|22|r|-|w|18"), ("1|2|r|-|w|18", "1|2|r|x|w|18"), ("1|1|p||m|51", "1|1|-||m|51")]
    {
        let folder = small("persons.csv", from, to);
        let said = refusal(&arguments(folder.path(), &["--check"]).iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains("persons.csv") && said.contains("not shown"), "{said}");
    }
}

#[test]
fn the_bundled_specification_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("safetab-p.toml");
    let name = file.to_str().unwrap();
    assert_eq!(json(&["tabulate", "--new", name])["status"], "written");
    assert_eq!(fs::read_to_string(&file).unwrap(), CountrySpecification::template());
    assert!(refusal(&["tabulate", "--new", name]).contains("is there already"));
    assert!(refusal(&["tabulate", "--new", &name.replace(".toml", ".json")]).contains("toml"));
    // Its lists of codes are the Bureau's files, which are not here.
    assert!(refusal(&["tune", "--spec", name]).contains("race-and-ethnicity-codes.txt"));
}
