//! SafeTab-P with a country's own specification: exact counts if the noise is zero, its privacy by another way, and refusals that name the place
//! and no value of a record.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use dp_assay::{
    account::{Account, Composition},
    numeric::rational,
    safetab::country::CountrySpecification,
};
use serde_json::Value;

use crate::common::{
    numbers::Numbers,
    program::{assay, json, refusal},
};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/safetab-aldria").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(example(name)).unwrap()
}

/// A country in a folder: its specification, areas and records.
/// Aldria in one part, one grouping and rho 2.
const ONE_PART: &str = r#"title = "Aldria"
privacy = "zcdp"
stage_1_fraction = 0.1
allow_negative_counts = true
attribute = [{ name = "sex", column = "sex", codes = ["w", "m", "x"] }]
table = [{ name = "total" }]
grouping = [{ name = "sex", each = "sex" }]
tabulate = [{ level = "country", grouping = "sex", budget = 2 }]
[geography]
area = "hamlet"
part = [{ name = "Aldria", column = "province", codes = ["Midt", "Nord", "Øst"] }]
level = [{ name = "country", part = "Aldria" }]
"#;

struct Country {
    folder: tempfile::TempDir,
}

impl Country {
    fn new(specification: &str, areas: &str, persons: &str) -> Country {
        let country = Country { folder: tempfile::tempdir().unwrap() };
        for (name, text) in [("country.toml", specification), ("areas.csv", areas), ("persons.csv", persons)] {
            fs::write(country.path(name), text).unwrap();
        }
        country
    }

    /// The example, with a change of each file.
    fn changed(
        specification: &dyn Fn(String) -> String,
        areas: &dyn Fn(String) -> String,
        persons: &dyn Fn(String) -> String,
    ) -> Country {
        Country::new(
            &specification(text("specification.toml")),
            &areas(text("hamlets.csv")),
            &persons(text("persons.csv")),
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments of `assay tabulate` with these others.
    fn tabulate(&self, others: &[&str]) -> Vec<String> {
        let own = ["--spec", "country.toml", "--geography", "areas.csv", "--persons", "persons.csv"];
        let own = own.iter().map(|word| match word.starts_with("--") {
            true => word.to_string(),
            false => self.path(word).display().to_string(),
        });
        ["tabulate".to_string()].into_iter().chain(own).chain(others.iter().map(ToString::to_string)).collect()
    }

    fn refusal(&self) -> String {
        let args = self.tabulate(&["--check"]);
        refusal(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The tables of a release and its certificate.
    fn release(&self, seed: &str) -> (Vec<Vec<String>>, Vec<Vec<String>>, Value) {
        let out = self.path("release");
        let args = self.tabulate(&["--insecure-seed", seed, "--out", out.to_str().unwrap()]);
        assay(&args.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
        let certificate = serde_json::from_str(&fs::read_to_string(out.join("certificate.json")).unwrap()).unwrap();
        (rows(&out.join("totals.csv")), rows(&out.join("cells.csv")), certificate)
    }
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect()
}

fn same(text: String) -> String {
    text
}

/// The specification with large budgets, whose noise is zero but with a probability below 10^-1000.
fn without_noise(specification: String) -> String {
    let budgets = ["budget = 0.5", "budget = 0.25", "budget = 0.1"];
    budgets.iter().fold(specification, |text, budget| text.replace(budget, "budget = 1e5"))
}

/// Persons of the example's codes.
fn persons(count: usize, seed: u64) -> Vec<[String; 6]> {
    let mut numbers = Numbers(seed);
    let hamlets: Vec<String> =
        text("hamlets.csv").lines().skip(1).map(|row| row.split(',').next().unwrap().to_string()).collect();
    let tongues = ["ald", "ald-N", "ves", "ves-K", "ør", "Σ"];
    let mut draw = |from: &[&str]| from[numbers.below(from.len() as u64) as usize].to_string();
    (0..count)
        .map(|_| {
            let hamlet = draw(&hamlets.iter().map(String::as_str).collect::<Vec<_>>());
            let (first, second) = (draw(&tongues), draw(&["", "", "ald", "ves", "Σ"]));
            let age = draw(&["0", "14", "15", "39", "40", "64", "65", "120", "007"]);
            [hamlet, first, second, draw(&["1", "2", "9"]), draw(&["w", "m", "x"]), age]
        })
        .collect()
}

/// The total and the cells of a group with a table, by the rules of the example, written here once more.
fn direct(persons: &[&[String; 6]], table: &str) -> BTreeMap<Vec<String>, i64> {
    let mut cells = BTreeMap::new();
    for sex in ["w", "m", "x"] {
        for age in ["0-14", "15-39", "40-64", "65-120"] {
            let labels = match table {
                "total" => continue,
                "sex" => vec![sex.to_string(), "*".to_string()],
                _ => vec![if sex == "w" { "w" } else { "m+x" }.to_string(), age.to_string()],
            };
            let count = persons.iter().filter(|person| {
                let years: u32 = person[5].parse().unwrap();
                let own = match years {
                    0..15 => "0-14",
                    15..40 => "15-39",
                    40..65 => "40-64",
                    _ => "65-120",
                };
                let sexes: &[&str] = if table == "sex" {
                    &[sex]
                } else if sex == "w" {
                    &["w"]
                } else {
                    &["m", "x"]
                };
                sexes.contains(&person[4].as_str()) && (table == "sex" || own == age)
            });
            cells.insert(labels, count.count() as i64);
        }
    }
    cells
}

fn is_in(person: &[String; 6], grouping: &str, group: &str) -> bool {
    let tongues: BTreeSet<&str> = person[1..3].iter().map(String::as_str).filter(|tongue| !tongue.is_empty()).collect();
    let has = |list: &[&str]| tongues.iter().any(|tongue| list.contains(tongue));
    match (grouping, group) {
        ("family", "ALD") => has(&["ald", "ald-N"]),
        ("family", "VES") => has(&["ves", "ves-K"]),
        ("family", _) => has(&["ør", "Σ"]),
        ("tongue", code) => has(&[code]),
        ("weavers", "W-ALD") => person[3] == "2" && !has(&["ves", "ves-K", "ør", "Σ"]),
        _ => person[3] == "2" && has(&["ves", "ves-K", "ør", "Σ"]),
    }
}

#[test]
fn without_noise_every_table_is_a_direct_count() {
    let seen: BTreeSet<String> =
        [(1500, 3), (200, 4), (60, 5)].into_iter().flat_map(compare_with_direct_counts).collect();
    assert!(seen.len() > 10, "too few kinds of tables: {seen:?}");
}

/// A level, the place of its column (9 for none), a grouping, its groups, the tables with the totals from which a group gets them, and whether
/// totals of empty groups are suppressed.
type Tabulated = (&'static str, usize, &'static str, &'static [&'static str], &'static [(&'static str, i64)], bool);

const FAMILY: &[&str] = &["ALD", "VES", "OTHER"];
const TONGUE: &[&str] = &["ald", "ald-N", "ves", "ves-K", "ør", "Σ"];
const WEAVERS: &[&str] = &["W-ALD", "W-MIXED"];
const ALL: &[(&str, i64)] = &[("total", i64::MIN), ("sex", 20), ("sex by age", 100)];

const TABULATED: [Tabulated; 6] = [
    ("country", 9, "family", FAMILY, ALL, false),
    ("country", 9, "weavers", WEAVERS, &[("total", i64::MIN), ("sex", 30)], false),
    ("province", 1, "family", FAMILY, ALL, false),
    ("province", 1, "tongue", TONGUE, ALL, true),
    ("shire", 2, "family", FAMILY, &[("total", i64::MIN), ("sex by age", 60)], true),
    ("diocese", 3, "family", FAMILY, &[("sex", i64::MIN)], false),
];

/// Compares a release without noise of some made-up persons with direct counts; returns the levels with the tables that their groups got.
fn compare_with_direct_counts((count, seed): (usize, u64)) -> BTreeSet<String> {
    let people = persons(count, seed);
    let header = "tongue_2,hamlet,remark,tongue_1,age,calling,sex\n";
    let row = |[hamlet, first, second, calling, sex, age]: &[String; 6]| {
        format!("{second},{hamlet},\"any, text\",{first},{age},{calling},{sex}\n")
    };
    let csv = |_| header.to_string() + &people.iter().map(row).collect::<String>();
    let country = Country::changed(&without_noise, &same, &csv);
    let (totals, cells, certificate) = country.release("1");

    let regions: BTreeMap<String, Vec<String>> = text("hamlets.csv")
        .lines()
        .skip(1)
        .map(|row| row.split(',').map(str::to_string).collect::<Vec<_>>())
        .map(|row| (row[0].clone(), row))
        .collect();
    let (mut expected_totals, mut expected_cells) = (Vec::new(), Vec::new());
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (level, column, grouping, groups, tables, suppressed) in TABULATED {
        let of = |hamlet: &str| if column == 9 { "country".to_string() } else { regions[hamlet][column].clone() };
        let names: BTreeSet<String> = regions.keys().map(|hamlet| of(hamlet)).filter(|name| !name.is_empty()).collect();
        for region in &names {
            for group in groups {
                let members: Vec<&[String; 6]> = people
                    .iter()
                    .filter(|person| of(&person[0]) == *region && is_in(person, grouping, group))
                    .collect();
                let total = members.len() as i64;
                let only = grouping == "weavers" && *group == "W-MIXED";
                let table =
                    tables.iter().rfind(|(_, least)| total >= *least && (!only || *least == i64::MIN)).unwrap().0;
                if suppressed && table == "total" && total <= 0 {
                    continue;
                }
                seen.insert(format!("{level}, {grouping}: {table}"));
                let head = vec![level.to_string(), region.clone(), grouping.to_string(), group.to_string()];
                expected_totals.push([head.clone(), vec![total.to_string()]].concat());
                for (labels, count) in direct(&members, table) {
                    expected_cells
                        .push([head.clone(), vec![table.to_string()], labels, vec![count.to_string()]].concat());
                }
            }
        }
    }
    let sorted = |mut rows: Vec<Vec<String>>| {
        rows.sort();
        rows
    };
    assert_eq!(totals, expected_totals);
    assert_eq!(sorted(cells), sorted(expected_cells));
    assert_eq!(certificate["passes"][0]["rows"]["totals"], totals.len());
    assert_eq!(certificate["algorithm"], "SafeTab-P (own specification)");
    seen
}

#[test]
fn the_order_of_records_and_files_changes_no_byte() {
    let people = persons(300, 8);
    let header = "hamlet,tongue_1,tongue_2,calling,sex,age\n";
    let all: Vec<String> = people.iter().map(|person| person.join(",") + "\n").collect();
    let one = Country::changed(&same, &same, &|_| header.to_string() + &all.concat());
    let (totals, cells, _) = one.release("5");
    let two = Country::changed(&same, &same, &same);
    fs::remove_file(two.path("persons.csv")).unwrap();
    fs::create_dir(two.path("persons.csv")).unwrap();
    let part = |rows: &[String]| header.to_string() + &rows.iter().rev().cloned().collect::<String>();
    fs::write(two.path("persons.csv").join("a.csv"), part(&all[100..])).unwrap();
    fs::write(two.path("persons.csv").join("b.csv"), part(&all[..100])).unwrap();
    let (again, cells_again, _) = two.release("5");
    assert!(totals == again && cells == cells_again);
}

/// A specification with one level, whose privacy is computed by other means.
const SMALL: &str = r#"
title = "Small"
privacy = "zcdp"
stage_1_fraction = "1/4"
[[attribute]]
name = "a"
columns = ["a1", "a2", "a3"]
codes = ["p", "q", "r", "s"]
[[attribute]]
name = "sex"
column = "sex"
codes = ["w", "m"]
[geography]
area = "area"
[[geography.level]]
name = "all"
[[table]]
name = "total"
[[table]]
name = "sex"
by = [{ attribute = "sex" }]
[[grouping]]
name = "groups"
at_most = 3
[[grouping.group]]
code = "P"
any = { a = ["p"] }
[[grouping.group]]
code = "only P"
only = { a = ["p"] }
[[grouping.group]]
code = "Q or R"
any = { a = ["q", "r"] }
total_only = true
[[grouping.group]]
code = "S, woman"
any = { a = ["s"], sex = ["w"] }
[[tabulate]]
level = "all"
grouping = "groups"
budget = 0.6
thresholds = [10]
"#;

#[test]
fn the_certified_epsilon_is_that_of_the_counts_that_a_person_changes() {
    let country = Country::new(SMALL, "area\nx\n", "area,a1,a2,a3,sex\nx,p,s,q,w\n");
    let (totals, _, certificate) = country.release("1");
    assert_eq!(totals.len(), 4);
    let level = &certificate["passes"][0]["levels"][0];
    // p, q or r, and s of a woman: three, and the group of p only is free only of others.
    assert_eq!((level["stability"].as_u64(), level["groups_with_one_table"].as_u64()), (Some(3), Some(1)));
    // A third of the budget 0.6 for each group: sigma2 = 1 / (2 rho) for rho = 0.2, 0.05 and 0.15.
    for (key, sigma2) in [("total_only", "5/2"), ("stage1", "10"), ("stage2", "10/3")] {
        let stated = level[format!("sigma2_{key}_exact")].as_str().unwrap();
        assert_eq!(rational::parse(stated).unwrap(), rational::parse(sigma2).unwrap(), "{key}");
    }
    // Two groups in two stages and one with its total only: p, s and q of a woman. Nobody is in three with two stages, as P alone excludes S.
    let epsilon = |counts: &[&str]| {
        let own = Composition::new(counts.iter().map(|count| count.parse().unwrap())).unwrap();
        own.epsilon("1e-10", 12).unwrap().value
    };
    let mixed = epsilon(&["5/2x1", "10x2", "10/3x2"]);
    let stated = |end: &str| certificate["epsilon"][end].as_f64().unwrap();
    let largest = mixed.upper().to_f64();
    assert_eq!(certificate["example"][0], serde_json::json!(["groups P", "groups Q or R", "groups S, woman"]));
    assert!((stated("lower") - largest).abs() < 1e-6 && (stated("upper") - largest).abs() < 1e-6, "{largest}");
    assert_eq!(certificate["rho_exact"], "3/5");
}

/// Women and men are two groupings with rho 1 each, and nobody is in both: one count of rho 1, which is 8.9985 at 1e-10 (`--discrete-gaussian 1/2`).
/// A woman who becomes a man leaves one count and enters another, 13.985; the largest numbers of groups of every grouping at once would be
/// 13.985 and 21.760. A ledger has the counts of the certificate.
#[test]
fn the_certified_epsilon_is_that_of_somebody() {
    let (head, rest) = ONE_PART.split_once("grouping = ").unwrap();
    let (_, geography) = rest.split_once("[geography]").unwrap();
    let own = |code: &str| {
        format!("{{ name = \"{code}\", group = [{{ code = \"{code}\", any = {{ sex = [\"{code}\"] }} }}] }}")
    };
    let tabulated = |code: &str| format!("{{ level = \"country\", grouping = \"{code}\", budget = 1 }}");
    let specification = format!(
        "{head}grouping = [{}, {}]\ntabulate = [{}, {}]\n[geography]{geography}",
        own("w"),
        own("m"),
        tabulated("w"),
        tabulated("m")
    );
    let country = Country::new(&specification, &text("hamlets.csv"), &text("persons.csv"));
    let out = country.path("release").display().to_string();
    let args = country.tabulate(&["--out", &out]);
    assay(&args.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
    let certificate: Value =
        serde_json::from_str(&fs::read_to_string(format!("{out}/certificate.json")).unwrap()).unwrap();
    let ends = |value: &Value| ["lower", "upper"].map(|end| value["epsilon"][end].as_f64().unwrap());
    for part in [&certificate, &certificate["passes"][0]] {
        for (guarantee, truth) in [(part, 8.998_530_470_41), (&part["bounded"], 13.984_925_332_8)] {
            assert!(ends(guarantee).iter().all(|end| (end - truth).abs() < 1e-7), "{guarantee}");
            assert_eq!(guarantee["epsilon_is"], "exact");
        }
    }
    assert_eq!(certificate["passes"][0]["groups_of_a_record"], serde_json::json!([[[1, 0], [0, 0]]]));
    assert_eq!(certificate["example"].as_array().unwrap().len(), 1);
    let pair = certificate["bounded_example"].as_array().unwrap();
    assert!(pair.len() == 2 && pair[0] != pair[1], "{pair:?}");
    let page = fs::read_to_string(format!("{out}/certificate.md")).unwrap();
    assert!(page.contains("| **Whole run** | 2 | 8.9985305 | 15.572281 | 13.984925 |"), "{page}");
    // Of the women alone no pair is known that leaves the group and enters it: who stays in it changes nothing.
    assert!(page.contains("| country, w | 1 | 8.9985305 | 10.597052 | at most 13.984926 |"), "{page}");
    let ledger = "name = \"l\"\ntitle = \"t\"\nsource = \"s\"\nrule = \"all compose\"\n[[population]]\nname = \"people\"\nneighbors = \"add-remove\"\n[[entry]]\nsafetab = \"release\"\n";
    fs::write(country.path("l.toml"), ledger).unwrap();
    let answer = json(&["ledger", country.path("l.toml").to_str().unwrap(), "--delta", "1e-10"]);
    let upper = answer["populations"][0]["composed"]["epsilon"]["upper"].as_f64();
    assert!(upper.is_some_and(|upper| (upper - 8.998_530_470_41).abs() < 1e-7), "{answer}");
}

#[test]
fn a_pure_guarantee_shares_its_budget_among_the_groups_of_a_person() {
    let country = Country::new(&SMALL.replace("zcdp", "puredp"), "area\nx\n", "area,a1,a2,a3,sex\nx,p,s,q,w\n");
    let (_, _, certificate) = country.release("1");
    let level = &certificate["passes"][0]["levels"][0];
    for (key, epsilon) in [("total_only", "1/5"), ("stage1", "1/20"), ("stage2", "3/20")] {
        assert_eq!(level[format!("laplace_epsilon_{key}_exact")], epsilon);
    }
    assert_eq!(certificate["pure_epsilon_exact"], "3/5");
    assert!(certificate["epsilon"]["upper"].as_f64() <= Some(0.6));
}

#[test]
fn a_draw_is_logged_and_a_second_one_is_refused() {
    let country = Country::new(SMALL, "area\nx\n", "area,a1,a2,a3,sex\nx,p,s,q,w\n");
    let out = country.path("out");
    let args = country.tabulate(&["--out", out.to_str().unwrap()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assay(&args).assert().success();
    let log = fs::read_to_string(country.path("out.log")).unwrap();
    assert!(log.contains("\"specification\"") && log.contains("\"geography\"") && !log.contains("summary levels"));
    assert!(fs::read_to_string(out.join("certificate.json")).unwrap().contains("secret, from the operating system"));
    let other = country.path("other");
    let again = country.tabulate(&["--out", other.to_str().unwrap()]);
    let said = refusal(&again.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("discard"), "{said}");
    assert!(!other.exists());
}

/// Six draws of the same people under six names of the same part: everybody spends all six budgets.
#[test]
fn budgets_of_parts_under_other_names_add_up() {
    let country = Country::new(ONE_PART, &text("hamlets.csv"), &text("persons.csv"));
    let draw = |out: &str, more: &[&str]| {
        let out = country.path(out).display().to_string();
        let args = country.tabulate(&[&["--out", &out][..], more].concat());
        assay(&args.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
        let certificate = fs::read_to_string(format!("{out}/certificate.json")).unwrap();
        let page = fs::read_to_string(format!("{out}/certificate.md")).unwrap();
        (serde_json::from_str::<Value>(&certificate).unwrap(), page)
    };
    draw("r1", &[]);
    for at in 2..=6 {
        let name = format!("\"K{at}\"");
        let specification = ONE_PART.replace("\"Aldria\", column", &format!("{name}, column"));
        let specification = specification.replace("part = \"Aldria\"", &format!("part = {name}"));
        assert_eq!(specification.matches(&name).count(), 2);
        fs::write(country.path("country.toml"), specification).unwrap();
        let (certificate, page) = draw(&format!("r{at}"), &["--discard"]);
        let spent = 2 * at;
        let all = &certificate["all_draws"];
        let exact = |value: &Value| value["rho_exact"].as_str().unwrap().to_string();
        assert_eq!((exact(all), exact(&all["bounded"])), (spent.to_string(), (2 * spent).to_string()));
        assert!(page.contains(&format!("together up to {spent}, and {} where", 2 * spent)), "{page}");
    }
    // A ledger takes the sum of all draws from the certificate of the last.
    let ledger = "name = \"l\"\ntitle = \"t\"\nsource = \"s\"\nrule = \"all compose\"\n[[population]]\nname = \"people\"\nneighbors = \"add-remove\"\n[[entry]]\nsafetab = \"r6\"\n";
    fs::write(country.path("l.toml"), ledger).unwrap();
    let answer = json(&["ledger", country.path("l.toml").to_str().unwrap(), "--delta", "1e-10"]);
    assert_eq!(answer["populations"][0]["zcdp_total"]["rho"], 12, "{answer}");
    // The same part under the same name again: in both draws it has the same people, who spend 2 more, and no more.
    let (certificate, _) = draw("r7", &["--discard"]);
    assert_eq!(certificate["all_draws"]["rho_exact"], "14");
    // Equal names of other areas: whoever is in Midt can be in the larger part of each draw.
    let two = |north: &str, south: &str| {
        let parts = format!(
            "part = [{{ name = \"N\", column = \"province\", codes = [{north}] }}, {{ name = \"S\", column = \"province\", codes = [{south}] }}]\n"
        );
        let levels = "level = [{ name = \"n\", part = \"N\" }, { name = \"s\", part = \"S\" }]\n";
        let (head, _) = ONE_PART.split_once("tabulate = ").unwrap();
        let tabulate = "tabulate = [{ level = \"n\", grouping = \"sex\", budget = 2 }, { level = \"s\", grouping = \"sex\", budget = 0.125 }]\n";
        format!("{head}{tabulate}[geography]\narea = \"hamlet\"\n{parts}{levels}")
    };
    let (midt, others) = ("\"Midt\"", "\"Nord\", \"Øst\"");
    for (specification, all) in [(two(midt, others), "16"), (two(midt, others), "18"), (two(others, midt), "20")] {
        fs::write(country.path("country.toml"), specification).unwrap();
        let (certificate, _) = draw(&format!("of{all}"), &["--discard"]);
        assert_eq!(certificate["all_draws"]["rho_exact"], all);
    }
}

/// A second draw is noticed by each name of the records: the folder of a file, a file of a folder, and links.
#[cfg(unix)]
#[test]
fn records_are_recognized_by_each_of_their_names() {
    use std::os::unix::fs::symlink;
    let row = "area,a1,a2,a3,sex\nx,p,s,q,w\n";
    let draw = |country: &Country, records: &str, out: &str, more: &[&str]| {
        let (records, out) = (country.path(records).display().to_string(), country.path(out).display().to_string());
        let mut args = country.tabulate(&[&["--out", &out][..], more].concat());
        let place = args.iter().position(|word| word == "--persons").unwrap();
        args[place + 1] = records;
        let output = assay(&args.iter().map(String::as_str).collect::<Vec<_>>()).assert().get_output().clone();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let made = || {
        let country = Country::new(SMALL, "area\nx\n", row);
        for folder in ["cef", "elsewhere"] {
            fs::create_dir(country.path(folder)).unwrap();
        }
        for file in ["cef/44.csv", "cef/09.csv", "elsewhere/real.csv"] {
            fs::write(country.path(file), row).unwrap();
        }
        fs::hard_link(country.path("cef/44.csv"), country.path("cef/same.csv.bak")).unwrap();
        symlink(country.path("elsewhere/real.csv"), country.path("cef/link.csv")).unwrap();
        symlink(country.path("cef"), country.path("other-name")).unwrap();
        country
    };
    for (first, second) in [
        ("cef", "cef/44.csv"),
        ("cef/44.csv", "cef"),
        ("cef", "other-name/09.csv"),
        ("other-name", "cef"),
        ("cef", "elsewhere/real.csv"),
        ("elsewhere/real.csv", "cef"),
        ("cef/link.csv", "elsewhere/real.csv"),
        ("cef/same.csv.bak", "cef/44.csv"),
    ] {
        let country = made();
        assert_eq!(draw(&country, first, "d1", &[]), (0, String::new()), "{first}");
        let (code, said) = draw(&country, second, "d2", &[]);
        assert!(code == 2 && said.contains("drawn from before, once"), "{first}, {second}: {said}");
        assert_eq!(draw(&country, second, "d2", &["--discard"]), (0, String::new()), "{first}, {second}");
        let text = fs::read_to_string(country.path("d2/certificate.json")).unwrap();
        let certificate: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&certificate["draw"], &certificate["earlier_draws"]), (&1.into(), &1.into()), "{first}, {second}");
        // By any name both draws count now, each once.
        let (code, said) = draw(&country, "cef", "d3", &[]);
        assert!(code == 2 && said.contains("drawn from before, 2 times"), "{first}, {second}: {said}");
    }
    // Another file of the same folder has other people.
    let country = made();
    assert_eq!(draw(&country, "cef/44.csv", "d1", &[]).0, 0);
    assert_eq!(draw(&country, "cef/09.csv", "d2", &[]), (0, String::new()));
    // A file or a folder that was renamed: the log of the old name is beside it, and what it is about is gone.
    for (first, new) in
        [("cef/44.csv", "cef/people.csv"), ("elsewhere/real.csv", "elsewhere/new.csv"), ("cef", "records")]
    {
        let country = made();
        assert_eq!(draw(&country, first, "d1", &[]).0, 0);
        fs::rename(country.path(first), country.path(new)).unwrap();
        let (code, said) = draw(&country, new, "d2", &[]);
        assert!(code == 2 && said.contains("drawn from before, once"), "{first}, {new}: {said}");
    }
    // A hard link in another folder cannot be found, and the warning says so.
    fs::hard_link(country.path("cef/09.csv"), country.path("elsewhere/09.csv")).unwrap();
    let (code, said) = draw(&country, "elsewhere/09.csv", "d3", &[]);
    assert!(code == 0 && said.contains("is a hard link of a file in another"), "{said}");
}

#[test]
fn a_record_that_breaks_a_rule_is_named_by_its_place_only() {
    let header = "hamlet,tongue_1,tongue_2,calling,sex,age\n";
    let right = "01a,ald,ves,1,w,31\n";
    for (row, line, column, field) in [
        ("secret77,ald,,1,w,31\n", 3, 1, "hamlet"),
        (",ald,,1,w,31\n", 3, 1, "hamlet"),
        ("01a,secret77,,1,w,31\n", 3, 2, "tongue_1"),
        ("01a,,ald,1,w,31\n", 3, 2, "tongue_1"),
        ("01a,ald,secret77,1,w,31\n", 3, 3, "tongue_2"),
        ("01a,ald,,secret77,w,31\n", 3, 4, "calling"),
        ("01a,ald,,1,W,31\n", 3, 5, "sex"),
        ("01a,ald,,1,w,121\n", 3, 6, "age"),
        ("01a,ald,,1,w,-1\n", 3, 6, "age"),
        ("01a,ald,,1,w,1.5\n", 3, 6, "age"),
        ("01a,ald,,1,w,4294967297\n", 3, 6, "age"),
        ("01a,ald,,1,w,\n", 3, 6, "age"),
    ] {
        let country = Country::changed(&same, &same, &|_| header.to_string() + right + row + right);
        let said = country.refusal();
        let place = format!("line {line}, column {column}, \"not shown\"");
        assert!(said.contains(&place) && said.contains(&format!("persons.csv, {field}:")), "{row}: {said}");
        for value in row.trim().split(',').filter(|value| value.len() > 3) {
            assert!(!said.contains(value), "{row}: {said}");
        }
    }
    for (persons, why) in [
        (String::new(), "is empty"),
        (header.to_string(), "at least one record"),
        (right.repeat(2), "the header has no column \"hamlet\""),
        (header.to_string() + "01a,ald\n", "line 2"),
        (header.replace("tongue_2,", "") + "01a,ald,1,w,31\n", "the header has no column \"tongue_2\""),
    ] {
        let country = Country::changed(&same, &same, &|_| persons.clone());
        let said = country.refusal();
        assert!(said.contains(why) && !said.contains("01a"), "{why}: {said}");
    }
}

#[test]
fn areas_that_do_not_nest_or_repeat_are_refused() {
    for (from, to, why) in [
        ("02b,Nord,N-1,", "02b,Midt,N-1,", "line 3, \"N-1\"; allowed: a region within one region of province"),
        ("02b,Nord,N-1,", "01a,Nord,N-1,", "every area once; this one is in line 2, too"),
        ("02b,Nord,N-1,", "02b,,N-1,", "a region of province"),
        ("02b,Nord,N-1,", ",Nord,N-1,", "the code of an area"),
        ("hamlet,province", "hamlet,provinces", "province"),
    ] {
        let country = Country::changed(&same, &|areas| areas.replacen(from, to, 1), &same);
        let said = country.refusal();
        assert!(said.contains("areas.csv") && said.contains(why), "{from} {to}: {said}");
    }
    let country = Country::changed(&same, &|_| "hamlet,province,shire,diocese\n".to_string(), &same);
    assert!(country.refusal().contains("at least one area"));
    let country = Country::changed(&same, &|_| String::new(), &same);
    assert!(country.refusal().contains("is empty"));
}

/// Changes of the example's specification, and what is said.
const WRONG: [(&str, &str, &str); 46] = [
    ("privacy = \"zcdp\"", "privacy = \"zcpd\"", "\"zcdp\", with budgets rho"),
    ("title = ", "titel = ", "did you mean \"title\""),
    ("partial = true", "partly = true", "unknown field \"partly\""),
    ("total_only = true", "total = true", "unknown field \"total\""),
    ("suppress_empty = 0.999", "suppress = 0.999", "unknown field \"suppress\""),
    ("stage_1_fraction = 0.1 ", "# ", "stage_1_fraction = 0.1 at the top"),
    ("stage_1_fraction = 0.1 ", "stage_1_fraction = 1 ", "above 0 and below 1"),
    ("stage_1_fraction = 0.1 ", "stage_1_fraction = nan ", "finite"),
    ("\"ald\", \"ald-N\", \"ves\"", "\"ald\", \"ald\", \"ves\"", "the code \"ald\" occurs twice"),
    ("codes = [\"1\", \"2\", \"9\"]", "codes = []", "the list is empty"),
    ("codes = [\"1\", \"2\", \"9\"]", "codes = [1, 2, 9]", "expected a string"),
    ("codes = [\"1\", \"2\", \"9\"]", "codes = [\"1 \", \"2\", \"9\"]", "has blanks around it"),
    ("codes = [\"1\", \"2\", \"9\"]", "codes = [\"\", \"2\", \"9\"]", "is empty"),
    ("codes = [\"1\", \"2\", \"9\"]", "numbers = [1, 9]", "is a number, and rules and cells list codes"),
    ("codes = [\"1\", \"2\", \"9\"]", "", "needs either codes or numbers"),
    ("numbers = [0, 120]", "numbers = [120, 0]", "must ascend"),
    ("numbers = [0, 120]", "numbers = [0, 99999]", "at most 10000"),
    ("numbers = [0, 120]", "numbers = [-1, 120]", "whole number, at least 0"),
    ("column = \"calling\"", "column = \"sex\"", "the column \"sex\" occurs twice"),
    ("column = \"calling\"", "column = \"hamlet\"", "is one of the attribute"),
    ("name = \"calling\"", "name = \"sex\"", "the attribute \"sex\" occurs twice"),
    ("name = \"calling\"", "name = \"count\"", "have a column \"count\" already"),
    ("within = \"province\"", "within = \"diocese\"", "unknown level before this one"),
    ("name = \"diocese\"", "name = \"shire\"", "the level \"shire\" occurs twice"),
    ("by = [{ attribute = \"sex\" }]", "by = [{ attribute = \"gender\" }]", "attribute"),
    ("by = [{ attribute = \"sex\" }]", "by = [{ attribute = \"tongue\" }]", "may have several values"),
    ("by = [{ attribute = \"sex\" }]", "by = [{ attribute = \"age\" }]", "the first number of each cell"),
    ("by = [{ attribute = \"sex\" }]", "by = [{ attribute = \"sex\" }, { attribute = \"sex\" }]", "occurs twice"),
    ("[[\"w\"], [\"m\", \"x\"]]", "[[\"w\"], [\"m\"]]", "the code \"x\" of sex is in no cell"),
    ("[[\"w\"], [\"m\", \"x\"]]", "[[\"w\", \"m\"], [\"m\", \"x\"]]", "is in two cells"),
    ("from = [0, 15, 40, 65]", "from = [1, 15, 40, 65]", "from must begin with 0"),
    ("from = [0, 15, 40, 65]", "from = [0, 15, 15]", "ascend"),
    ("from = [0, 15, 40, 65]", "from = [0, 15, 121]", "end at 120"),
    ("at_most = 2", "at_most = 1", "a person can be in 2 groups of \"family\" by its rules, for example"),
    ("at_most = 2", "at_most = 0", "whole number, at least 1"),
    ("code = \"VES\"", "code = \"ALD\"", "the group \"ALD\" occurs twice"),
    ("any = { tongue = [\"ves\", \"ves-K\"] }\n\n", "\n", "the group \"VES\" has no rule"),
    ("any = { tongue = [\"ves\", \"ves-K\"] }\n\n", "any = { tongue = [] }\n\n", "no person would be in the group"),
    ("any = { tongue = [\"ves\", \"ves-K\"] }\n\n", "any = { tongue = [\"vess\"] }\n\n", "did you mean \"ves\""),
    ("any = { tongue = [\"ves\", \"ves-K\"] }\n\n", "any = { tung = [\"ves\"] }\n\n", "attribute"),
    ("each = \"tongue\"", "each = \"age\"", "groups are made of codes"),
    ("thresholds = [20, 100]", "", "thresholds are missing"),
    ("thresholds = [20, 100]", "thresholds = [20]", "3 tables need 2 thresholds"),
    ("thresholds = [20, 100]", "thresholds = [100, 20]", "not below the one before it"),
    ("thresholds = [20, 100]", "thresholds = [-20, 100]", "whole number, at least 0"),
    ("budget = 0.5", "budget = 0", "from 1e-12 to 1e9"),
];

#[test]
fn a_wrong_specification_is_refused_with_its_place() {
    let right = text("specification.toml");
    for (from, to, why) in WRONG {
        assert!(right.contains(from), "{from}");
        let said = CountrySpecification::parse(&right.replacen(from, to, 1), "country.toml").unwrap_err().to_string();
        let place = said.starts_with("country.toml, line ") || why.starts_with("did you mean \"title\"");
        assert!(said.contains(why) && place, "{from} -> {to}: {said}");
    }
    // Every part that is missing as a whole, and every beginning of the file.
    for part in ["[[attribute]]", "[[geography.level]]", "[[table]]", "[[grouping]]", "[[tabulate]]"] {
        let begin = right.find(part).unwrap();
        assert!(CountrySpecification::parse(&right[..begin], "country.toml").is_err(), "{part}");
    }
    for end in (0..right.len()).step_by(97).filter(|end| right.is_char_boundary(*end)) {
        let cut = &right[..end];
        // Only whole entries may be left out.
        if let Ok(read) = CountrySpecification::parse(cut, "country.toml") {
            assert!(cut.contains("[[tabulate]]") && !read.groupings.is_empty());
        }
    }
    assert!(CountrySpecification::parse(&right, "country.toml").is_ok());
    let twice =
        right.clone() + "\n[[tabulate]]\nlevel = \"diocese\"\ngrouping = \"family\"\nbudget = 1\ntables = [\"sex\"]\n";
    let said = CountrySpecification::parse(&twice, "country.toml").unwrap_err().to_string();
    assert!(said.contains("is tabulated twice"), "{said}");
    for (tables, more, why) in [
        ("[\"sex\", \"total\"]", "thresholds = [3]", "so it comes first"),
        ("[\"sex\"]", "suppress_empty = 0.9", "is not one: begin with a table without by"),
        ("[\"sexes\"]", "", "unknown table \"sexes\""),
        ("[]", "", "the list is empty"),
    ] {
        let with = right.clone()
            + &format!(
                "\n[[tabulate]]\nlevel = \"diocese\"\ngrouping = \"tongue\"\nbudget = 1\ntables = {tables}\n{more}\n"
            );
        let said = CountrySpecification::parse(&with, "country.toml").unwrap_err().to_string();
        assert!(said.contains(why), "{tables}: {said}");
    }
    // Ten groupings of three groups with their total only beside another one: too many mixes.
    let mut many = right.clone();
    for place in 0..10 {
        many += &format!("[[grouping]]\nname = \"g{place}\"\n");
        for (code, total_only) in [("ald", false), ("ves", true), ("ør", true)] {
            many += &format!(
                "[[grouping.group]]\ncode = \"{code}\"\nany = {{ tongue = [\"{code}\"] }}\ntotal_only = {total_only}\n"
            );
        }
        many += &format!("[[tabulate]]\nlevel = \"shire\"\ngrouping = \"g{place}\"\nbudget = 1\nthresholds = [1, 2]\n");
    }
    let said = CountrySpecification::parse(&many, "country.toml").unwrap_err().to_string();
    assert!(said.contains("mixes of groups"), "{said}");
    let weavers = right.replacen("tables = [\"total\", \"sex\"]\nthresholds = [30]", "tables = [\"sex\"]", 1);
    let said = CountrySpecification::parse(&weavers, "country.toml").unwrap_err().to_string();
    assert!(said.contains("only the total is published"), "{said}");
}

#[test]
fn what_is_the_bureaus_is_refused_beside_a_specification() {
    let country = Country::changed(&same, &same, &same);
    for (options, why) in [
        (&["--households", "x", "--totals", "y"][..], "cannot be used with"),
        (&["--units", "x", "--check"], "--units goes with the bureau's files"),
        (&["--summary-levels", "USA,STATE,COUNTY,TRACT,AIANNH,PLACE", "--check"], "--summary-levels goes with"),
    ] {
        let args = country.tabulate(options);
        let said = refusal(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains(why), "{options:?}: {said}");
    }
    let folder = country.folder.path().display().to_string();
    let said = refusal(&["tabulate", "--spec", &folder, "--geography", &folder, "--persons", &folder, "--check"]);
    assert!(said.contains("--config is missing"), "{said}");
    let said = refusal(&["tune", "--spec", &folder]);
    assert!(said.contains("--config is missing"), "{said}");
    country.release("1");
    let said = refusal(&["tabulate", "--verify-output", country.path("release").to_str().unwrap()]);
    assert!(said.contains("only releases in the bureau's format can be verified"), "{said}");
}

#[test]
fn rehearsals_agree_with_the_certified_margins() {
    let country = Country::changed(&same, &same, &same);
    let out = country.path("rehearsal");
    let [spec, areas, persons] =
        ["country.toml", "areas.csv", "persons.csv"].map(|name| country.path(name).display().to_string());
    let begin = ["rehearse", "--spec", &spec, "--geography", &areas, "--trials", "20", "--insecure-seed", "4"];
    let found = json(&[&begin[..], &["--persons", &persons, "--out", out.to_str().unwrap()]].concat());
    assert_eq!((found["holds"].as_bool(), found["records"].as_u64()), (Some(true), Some(600)));
    let levels = found["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 6);
    assert!(levels.iter().any(|level| level["suppressed"].as_u64() > Some(0)));
    for name in
        ["rehearsal.html", "margins.csv", "errors.csv", "suppression.csv", "truth/totals.csv", "truth/cells.csv"]
    {
        assert!(out.join(name).is_file(), "{name}");
    }
    // The truth is the release without noise.
    let exact = Country::changed(&without_noise, &same, &same);
    let truth: BTreeSet<Vec<String>> = rows(&out.join("truth/totals.csv")).into_iter().collect();
    let (totals, cells, _) = exact.release("1");
    assert!(totals.iter().all(|row| truth.contains(row)));
    let truth: BTreeSet<Vec<String>> = rows(&out.join("truth/cells.csv")).into_iter().collect();
    assert!(cells.iter().all(|row| truth.contains(row)));
    // Made-up records are the same for the same seed, and others for another one.
    let made = |seed: &str, name: &str| {
        let out = country.path(name);
        let others = ["--made-up", "500", "--population-seed", seed, "--out", out.to_str().unwrap()];
        json(&[&begin[..], &others].concat());
        fs::read_to_string(out.join("truth/totals.csv")).unwrap()
    };
    let first = made("1", "a");
    assert!(first == made("1", "b") && first != made("2", "c"));
}

#[test]
fn budgets_are_tuned_to_a_margin_and_all_else_stays() {
    let country = Country::changed(&same, &same, &same);
    let (spec, out) = (country.path("country.toml"), country.path("changed.toml"));
    let args = ["tune", "--spec", spec.to_str().unwrap()];
    let before = json(&args);
    let changes = ["--set", "shire,family=moe:4", "--set", "country,weavers=1/3", "--out", out.to_str().unwrap()];
    let after = json(&[&args[..], &changes].concat());
    let level = |answer: &Value, place: usize| answer["passes"][0]["levels"][place].clone();
    assert_eq!(level(&after, 4)["moe_stage2"], 4);
    assert_eq!((level(&before, 0), level(&before, 5)), (level(&after, 0), level(&after, 5)));
    let changed = fs::read_to_string(&out).unwrap();
    assert!(changed.contains("budget = \"1/3\"\ntables = [\"total\", \"sex\"]"), "{changed}");
    let lines =
        |text: &str| text.lines().filter(|line| !line.starts_with("budget")).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(lines(&changed), lines(&text("specification.toml")));
    // The account is that of a dry run with the geography.
    let planned = json(&country.tabulate(&["--dry-run"]).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(planned["epsilon"], before["epsilon"]);
    for (change, why) in [
        ("shire,weavers=1", "there are \"country, family\""),
        ("shire=1", "LEVEL,GROUPING=BUDGET"),
        ("shire,family=moe:x", "LEVEL,GROUPING=BUDGET"),
        ("shire,family=0", "from 1e-12 to 1e9"),
        ("shire,family=moe:200000000", "1e8"),
    ] {
        let said = refusal(&[&args[..], &["--set", change]].concat());
        assert!(said.contains(why), "{change}: {said}");
    }
}
