//! `assay tabulate` from files to files: exact counts if the noise is zero, for any order and form of the input; one budget per draw; only
//! complete releases.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::parquet_records;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// The first ages of bins, by the number of thresholds reached.
const BINS: [&[u32]; 4] = [
    &[],
    &[0, 18, 45, 65],
    &[0, 5, 18, 25, 35, 45, 55, 65, 75],
    &[0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85],
];
const THRESHOLDS: [i64; 3] = [10, 40, 100];
const TYPES: [&str; 10] =
    ["USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH", "PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE"];

/// An iteration of the synthetic specification.
#[derive(Clone)]
struct Iteration {
    code: u32,
    level: u32,
    /// Alone, in combination, or of ethnicity.
    kind: char,
    detailed_only: bool,
    coarse_only: bool,
    members: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Person {
    age: u32,
    sex: u32,
    block: usize,
    races: Vec<u32>,
    ethnicity: u32,
}

struct Block {
    state: u32,
    county: u32,
    tract: u32,
    number: u32,
    place: u32,
    area: u32,
}

/// A synthetic world with its files in a folder.
struct World {
    folder: TempDir,
    iterations: Vec<Iteration>,
    blocks: Vec<Block>,
    persons: Vec<Person>,
    /// The states that are tabulated.
    states: Vec<u32>,
}

/// A pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

fn iterations() -> Vec<Iteration> {
    let mut all = Vec::new();
    let mut add = |code, level, kind, detailed_only, coarse_only, members: &[u32]| {
        all.push(Iteration { code, level, kind, detailed_only, coarse_only, members: members.to_vec() });
    };
    for (base, kind) in [(3000, 'a'), (4000, 'c')] {
        add(base + 1, 1, kind, false, false, &[1010, 1011, 1020, 1030]);
        add(base + 2, 1, kind, false, false, &[1040, 1050]);
        add(base + 3, 1, kind, true, false, &[1060]);
        add(base + 11, 2, kind, false, false, &[1010, 1011]);
        add(base + 12, 2, kind, true, false, &[1020]);
        add(base + 13, 2, kind, true, false, &[1030]);
        add(base + 14, 2, kind, false, true, &[1020, 1030]);
        add(base + 15, 2, kind, false, false, &[1040]);
        add(base + 16, 2, kind, true, false, &[1050, 1060]);
    }
    add(5001, 1, 'e', false, false, &[2010, 2020, 2021]);
    add(5011, 2, 'e', false, false, &[2010]);
    add(5012, 2, 'e', true, false, &[2020, 2021]);
    all
}

impl World {
    fn new(seed: u64, count: usize) -> World {
        let mut random = Random(seed);
        let mut blocks = Vec::new();
        // Two states, a third outside of the filter, and Puerto Rico. County 3 of state 44 has only one tract.
        for (state, counties) in [(44, 3), (25, 2), (36, 1), (72, 2)] {
            for county in 1..=counties {
                for tract in 1..=if state == 44 && county == 3 { 1 } else { 3 } {
                    for number in 1..=4 {
                        let place = [99_999, 100, 200][random.below(3)];
                        let area = if state == 72 { 9999 } else { [9999, 9999, 17, 18][random.below(4)] };
                        blocks.push(Block { state, county, tract, number, place, area });
                    }
                }
            }
        }
        let codes = [1010, 1011, 1020, 1030, 1040, 1050, 1060];
        let persons = (0..count)
            .map(|_| {
                // Skewed, so that all workloads occur.
                let many = if random.below(4) == 0 { 1 + random.below(3) } else { 1 };
                let code = |random: &mut Random| {
                    if random.below(2) == 0 { codes[0] } else { codes[random.below(codes.len())] }
                };
                Person {
                    age: random.below(116) as u32,
                    sex: 1 + random.below(2) as u32,
                    block: if random.below(3) == 0 { random.below(4) } else { random.below(blocks.len()) },
                    races: (0..many).map(|_| code(&mut random)).collect(),
                    ethnicity: [2000, 2000, 2010, 2020, 2021][random.below(5)],
                }
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let world = World { folder, iterations: iterations(), blocks, persons, states: vec![25, 44, 72] };
        world.write_specification();
        world.write_geography();
        world.write_config(&world.config("100000", "0.9999"));
        world.write("persons.txt", &world.text(&world.persons));
        world
    }

    /// The world of the files in a folder, each of which is read by its columns only.
    fn of_files(source: &Path) -> World {
        let rows = |name: &str| -> Vec<Vec<String>> {
            let text = fs::read_to_string(source.join(name)).unwrap();
            text.lines().skip(1).map(|row| row.split('|').map(str::to_string).collect()).collect()
        };
        let number = |text: &String| text.parse::<u32>().unwrap();
        let pairs = rows("race-and-ethnicity-code-to-iteration.txt");
        let iteration = |row: &Vec<String>, kind: char| Iteration {
            code: number(&row[0]),
            level: number(&row[2]),
            kind,
            detailed_only: row[row.len() - 2] == "True",
            coarse_only: row[row.len() - 1] == "True",
            members: pairs.iter().filter(|pair| pair[0] == row[0]).map(|pair| number(&pair[1])).collect(),
        };
        let race = rows("race-characteristic-iterations.txt");
        let race = race.iter().map(|row| iteration(row, if row[3] == "True" { 'a' } else { 'c' }));
        let ethnicity = rows("ethnicity-characteristic-iterations.txt");
        let all = race.chain(ethnicity.iter().map(|row| iteration(row, 'e')));
        let geography = rows("GRF-C.txt");
        let block = |row: &Vec<String>| {
            let [state, county, tract, number, place, area] = std::array::from_fn(|i| number(&row[i]));
            Block { state, county, tract, number, place, area }
        };
        let person = |row: Vec<String>| Person {
            age: number(&row[0]),
            sex: number(&row[1]),
            block: geography.iter().position(|block| block[..4] == row[3..7]).unwrap(),
            races: row[8..16].iter().filter(|code| *code != "Null").map(number).collect(),
            ethnicity: number(&row[16]),
        };
        let world = World {
            folder: tempfile::tempdir().unwrap(),
            iterations: all.filter(|it| it.level > 0).collect(),
            blocks: geography.iter().map(block).collect(),
            persons: rows("person-records.txt").into_iter().map(person).collect(),
            states: vec![1, 2, 11],
        };
        fs::create_dir(world.path("spec")).unwrap();
        for name in fs::read_dir(source).unwrap().map(|entry| entry.unwrap().file_name()) {
            let name = name.to_str().unwrap();
            let to =
                if name.starts_with("race") || name.starts_with("eth") { format!("spec/{name}") } else { name.into() };
            fs::copy(source.join(name), world.path(&to)).unwrap();
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn write_specification(&self) {
        let mut race = "ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY\n".to_string();
        race += "3000|All alone|0|True|Null|Null\n";
        let mut ethnicity = "ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY\n".to_string();
        ethnicity += "5000|Not|0|Null|Null\n";
        let mut map = "ITERATION_CODE|RACE_ETH_CODE\n3000|1010\n5000|2000\n".to_string();
        let flag = |value: bool| if value { "True" } else { "False" };
        for it in &self.iterations {
            let rest = format!("{}|{}\n", flag(it.detailed_only), flag(it.coarse_only));
            match it.kind {
                'e' => ethnicity += &format!("{}|Name {}|{}|{rest}", it.code, it.code, it.level),
                kind => race += &format!("{}|Name {}|{}|{}|{rest}", it.code, it.code, it.level, flag(kind == 'a')),
            }
            it.members.iter().for_each(|code| map += &format!("{}|{code}\n", it.code));
        }
        let codes = [1010, 1011, 1020, 1030, 1040, 1050, 1060, 2000, 2010, 2020, 2021];
        let codes: String = codes.iter().map(|code| format!("{code}|Name\n")).collect();
        fs::create_dir(self.path("spec")).unwrap();
        self.write("spec/race-characteristic-iterations.txt", &race);
        self.write("spec/ethnicity-characteristic-iterations.txt", &ethnicity);
        self.write("spec/race-and-ethnicity-codes.txt", &format!("RACE_ETH_CODE|RACE_ETH_NAME\n{codes}"));
        self.write("spec/race-and-ethnicity-code-to-iteration.txt", &map);
    }

    fn write_geography(&self) {
        let mut text = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE\n".to_string();
        for Block { state, county, tract, number, place, area } in &self.blocks {
            text += &format!("{state:02}|{county:03}|{tract:06}|{number:04}|{place:05}|{area:04}\n");
        }
        self.write("GRF-C.txt", &text);
    }

    /// The same budget and thresholds for all levels.
    fn config(&self, budget: &str, chance: &str) -> Value {
        let mut config = serde_json::json!({
            "max_race_codes": 3,
            "privacy_budget_p_stage_1_fraction": 0.1,
            "allow_negative_counts": true,
            "run_us": true,
            "run_pr": true,
            "reader": "csv",
            "state_filter_us": ["25", "44"],
            "privacy_defn": "zcdp",
            "thresholds_p": {},
        });
        config["zero_suppression_chance"] = serde_json::from_str(chance).unwrap();
        for region_type in TYPES {
            for level in ["1", "2"] {
                let name = region_type.to_lowercase().replace('-', "_");
                config[format!("privacy_budget_p_level_{level}_{name}")] = serde_json::from_str(budget).unwrap();
                config["thresholds_p"][format!("({region_type}, {level})")] = THRESHOLDS.to_vec().into();
            }
        }
        config
    }

    fn write_config(&self, config: &Value) {
        self.write("config.json", &config.to_string());
    }

    fn fields(&self, person: &Person) -> Vec<String> {
        let block = &self.blocks[person.block];
        let mut fields = vec![format!("{:03}", person.age), person.sex.to_string(), "True".to_string()];
        fields.push(format!("{:02}", block.state));
        fields.push(format!("{:03}", block.county));
        fields.push(format!("{:06}", block.tract));
        fields.push(format!("{:04}", block.number));
        fields.push("01".to_string());
        fields.extend((0..8).map(|i| person.races.get(i).map_or("Null".to_string(), u32::to_string)));
        fields.push(person.ethnicity.to_string());
        fields
    }

    fn text(&self, persons: &[Person]) -> String {
        let rows: String = persons.iter().map(|person| self.fields(person).join("|") + "\n").collect();
        HEADINGS.join("|") + "\n" + &rows
    }

    /// The region of a type that contains a block.
    fn region(&self, block: usize, region_type: &str) -> Option<String> {
        let Block { state, county, tract, place, area, .. } = self.blocks[block];
        if (region_type.starts_with("PR-") != (state == 72)) || !self.states.contains(&state) {
            return None;
        }
        match region_type.trim_start_matches("PR-") {
            "USA" => Some("1".to_string()),
            "STATE" => Some(format!("{state:02}")),
            "COUNTY" => Some(format!("{state:02}{county:03}")),
            "TRACT" => Some(format!("{state:02}{county:03}{tract:06}")),
            "PLACE" => (place != 99_999).then(|| format!("{state:02}{place:05}")),
            _ => (area != 9999).then(|| format!("{area:04}")),
        }
    }

    fn is_member(it: &Iteration, person: &Person) -> bool {
        match it.kind {
            'a' => person.races.iter().all(|race| it.members.contains(race)),
            'c' => person.races.iter().any(|race| it.members.contains(race)),
            _ => it.members.contains(&person.ethnicity),
        }
    }

    /// Both tables by definition, without noise: rows of T1 and of T2, and the number of groups by workload.
    fn tables(&self, types: &[&str]) -> (BTreeSet<String>, BTreeSet<String>, [usize; 4]) {
        let (mut totals, mut cells, mut workloads) = (BTreeSet::new(), BTreeSet::new(), [0; 4]);
        // The blocks and the iteration of all groups published so far.
        let mut published = BTreeSet::new();
        for region_type in types {
            let detailed = ["USA", "STATE", "PR-STATE"].contains(region_type);
            let mut regions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for block in 0..self.blocks.len() {
                if let Some(region) = self.region(block, region_type) {
                    regions.entry(region).or_default().push(block);
                }
            }
            for it in &self.iterations {
                if if detailed { it.coarse_only } else { it.detailed_only } {
                    continue;
                }
                let mut of_region: BTreeMap<&str, Vec<&Person>> =
                    regions.keys().map(|region| (region.as_str(), Vec::new())).collect();
                for person in self.persons.iter().filter(|person| World::is_member(it, person)) {
                    if let Some(region) = self.region(person.block, region_type) {
                        of_region.get_mut(region.as_str()).unwrap().push(person);
                    }
                }
                for (region, persons) in of_region {
                    let total = persons.len() as i64;
                    let reached = THRESHOLDS.iter().filter(|&&threshold| total >= threshold).count();
                    let workload = if it.detailed_only { 0 } else { reached };
                    workloads[workload] += 1;
                    // The quantile of zero noise is zero: an empty group is suppressed below the states, unless one with the same blocks is
                    // published.
                    let group = (regions[region].clone(), it.code);
                    if workload == 0 && !detailed && total == 0 && !published.contains(&group) {
                        continue;
                    }
                    published.insert(group);
                    let head = format!("{region}|{region_type}|{:04}", it.code);
                    totals.insert(format!("{head}|{total}"));
                    let bins = BINS[workload];
                    for &sex in if bins.is_empty() { &[][..] } else { &[1, 2][..] } {
                        let of_sex: Vec<u32> = persons.iter().filter(|p| p.sex == sex).map(|p| p.age).collect();
                        cells.insert(format!("{head}|*|*|{sex}|{}", of_sex.len()));
                        for (bin, &first) in bins.iter().enumerate() {
                            let last = bins.get(bin + 1).map_or(115, |next| next - 1);
                            let count = of_sex.iter().filter(|age| (first..=last).contains(*age)).count();
                            cells.insert(format!("{head}|{first}|{last}|{sex}|{count}"));
                        }
                    }
                }
            }
        }
        (totals, cells, workloads)
    }

    fn arguments(&self, persons: &str, out: &str) -> Vec<String> {
        let path = |name: &str| self.path(name).to_str().unwrap().to_string();
        let pairs = [
            ("--config", path("config.json")),
            ("--spec", path("spec")),
            ("--persons", path(persons)),
            ("--geography", path("GRF-C.txt")),
            ("--out", path(out)),
        ];
        let pairs = pairs.into_iter().flat_map(|(name, value)| [name.to_string(), value]);
        ["tabulate".to_string()].into_iter().chain(pairs).collect()
    }

    fn run(&self, persons: &str, out: &str, more: &[&str]) -> Outcome {
        let output = Command::new(ASSAY).args(self.arguments(persons, out)).args(more).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Outcome { status: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    fn done(&self, persons: &str, out: &str, more: &[&str]) -> Outcome {
        let outcome = self.run(persons, out, more);
        assert_eq!(outcome.status, Some(0), "{more:?}: {}", outcome.stderr);
        outcome
    }

    fn refusal(&self, persons: &str, out: &str, more: &[&str]) -> String {
        let outcome = self.run(persons, out, more);
        assert_eq!(outcome.status, Some(2), "{more:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("panicked"), "{more:?}: {}", outcome.stderr);
        outcome.stderr
    }

    /// The names in the folder that begin like a release, including hidden ones.
    fn beside(&self, out: &str) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.trim_start_matches('.').starts_with(out)).collect();
        names.sort();
        names
    }
}

struct Outcome {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

const HEADINGS: [&str; 17] = [
    "QAGE",
    "QSEX",
    "HOUSEHOLDER",
    "TABBLKST",
    "TABBLKCOU",
    "TABTRACTCE",
    "TABBLK",
    "CENRACE",
    "QRACE1",
    "QRACE2",
    "QRACE3",
    "QRACE4",
    "QRACE5",
    "QRACE6",
    "QRACE7",
    "QRACE8",
    "QSPAN",
];

/// The rows of a table without its heading; there must be no duplicates.
fn rows(path: PathBuf) -> BTreeSet<String> {
    let text = fs::read_to_string(&path).unwrap();
    let rows: BTreeSet<String> = text.lines().skip(1).map(str::to_string).collect();
    assert_eq!(rows.len(), text.lines().count() - 1, "{path:?}");
    rows
}

/// All files of a release.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = ["certificate.json", "certificate.md", "t1/pr.csv", "t1/us.csv", "t2/pr.csv", "t2/us.csv"];
    names.iter().map(|name| (name.to_string(), fs::read(folder.join(name)).unwrap())).collect()
}

#[test]
fn without_noise_the_counts_are_exact_for_any_order_and_form_of_the_input() {
    let world = World::new(1, 3000);
    // Seeded: only the headings of the tables show it, because the noise is zero.
    let seed = &["--insecure-seed", "7"];
    world.done("persons.txt", "plain", seed);
    let (us, pr) = (&TYPES[..6], &TYPES[6..]);
    for (types, file) in [(us, "us.csv"), (pr, "pr.csv")] {
        let (totals, cells, workloads) = world.tables(types);
        assert!(workloads.iter().all(|&count| count > 0), "{workloads:?}");
        assert_eq!(rows(world.path("plain/t1").join(file)), totals, "{file}");
        assert_eq!(rows(world.path("plain/t2").join(file)), cells, "{file}");
    }
    let heading = fs::read_to_string(world.path("plain/t1/us.csv")).unwrap();
    assert!(heading.starts_with("REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT (INSECURE seed 7)\n"));
    let plain = files(&world.path("plain"));

    // Another order, in a folder of three files with names that are patterns or escapes elsewhere.
    let mut persons = world.persons.clone();
    Random(5).shuffle(&mut persons);
    fs::create_dir(world.path("part?s %2A")).unwrap();
    for (i, part) in persons.chunks(1100).enumerate() {
        world.write(&format!("part?s %2A/{i} [a-b]*.txt"), &world.text(part));
    }
    world.done("part?s %2A", "parts", seed);
    assert_eq!(files(&world.path("parts")), plain);

    // Line ends of two bytes and a byte order mark.
    world.write("crlf.txt", &format!("\u{feff}{}", world.text(&persons).replace('\n', "\r\n")));
    world.done("crlf.txt", "crlf", seed);
    assert_eq!(files(&world.path("crlf")), plain);

    // Parquet, with other columns between, and nulls as nulls.
    parquet_records::write(&world.path("p.parquet"), &world.text(&persons), 700);
    world.done("p.parquet", "parquet", seed);
    assert_eq!(files(&world.path("parquet")), plain);

    // Another order of the summary levels: other groups give their counts to coterminous ones.
    let order = "AIANNH,PLACE,TRACT,COUNTY,STATE,USA";
    world.done("persons.txt", "order", &["--insecure-seed", "7", "--summary-levels", order]);
    let types: Vec<&str> = order.split(',').collect();
    let (totals, _, _) = world.tables(&types);
    assert_eq!(rows(world.path("order/t1/us.csv")), totals);
    let why = world.refusal("persons.txt", "other", &["--summary-levels", "USA,STATE"]);
    assert!(why.contains("each once, in any order"), "{why}");

    // Without a seed the heading is the bureau's own.
    world.done("persons.txt", "secret", &[]);
    let heading = fs::read_to_string(world.path("secret/t2/pr.csv")).unwrap();
    assert!(heading.starts_with("REGION_ID|REGION_TYPE|ITERATION_CODE|AGESTART|AGEEND|SEX|COUNT\n"));
    assert_eq!(rows(world.path("secret/t2/us.csv")), rows(world.path("plain/t2/us.csv")));
    assert_eq!(world.beside("secret"), ["secret", "secret.log"]);
}

#[test]
fn the_bureaus_toy_data_give_the_counts_by_definition() {
    let facts = std::env::var_os("ASSAY_FACTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts"), PathBuf::from);
    let toy = facts.join("safetab/toy");
    if !toy.exists() {
        println!("skipped: the toy data are not there");
        return;
    }
    let mut world = World::of_files(&toy);
    let mut config = world.config("100000", "0.9999");
    config["max_race_codes"] = 8.into();
    config["run_pr"] = false.into();
    config["state_filter_us"] = serde_json::json!(["01", "02", "11"]);
    world.write_config(&config);
    // Unchanged, and with each person repeated up to 40 times by its number, at other ages.
    for (name, times) in [("person-records.txt", 1), ("many.txt", 4)] {
        if times > 1 {
            let again = |(i, person): (usize, &Person)| -> Vec<Person> {
                let aged = |year: usize| Person { age: (person.age + 7 * year as u32) % 116, ..person.clone() };
                (0..times * (i + 1)).map(aged).collect()
            };
            world.persons = world.persons.iter().enumerate().flat_map(again).collect();
            world.write(name, &world.text(&world.persons));
        }
        let out = format!("of {}", name.replace(".txt", ""));
        world.done(name, &out, &["--insecure-seed", "7"]);
        let (totals, cells, workloads) = world.tables(&TYPES[..6]);
        assert!(workloads[0] > 0 && (workloads[2] > 0) == (times > 1), "{workloads:?}");
        assert_eq!(rows(world.path(&out).join("t1/us.csv")), totals, "{name}");
        assert_eq!(rows(world.path(&out).join("t2/us.csv")), cells, "{name}");
    }
}

#[test]
fn the_certificate_says_what_is_spent_and_nothing_of_the_persons() {
    let world = World::new(2, 300);
    world.write_config(&world.config("0.5", "0.9999"));
    let outcome = world.done("persons.txt", "out", &["--json"]);
    let mut certificate: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let saved: Value = serde_json::from_slice(&fs::read(world.path("out/certificate.json")).unwrap()).unwrap();
    // Printed answers also name their command line.
    assert!(certificate.as_object_mut().unwrap().remove("provenance").is_some());
    assert_eq!(certificate, saved);
    assert_eq!((certificate["rho"].as_f64(), certificate["bounded"]["rho"].as_f64()), (Some(6.0), Some(12.0)));
    // s = 3 codes with one iteration each, and an ethnicity.
    let level = &certificate["passes"][0]["levels"][5];
    assert_eq!((level["region_type"].as_str(), level["stability"].as_u64()), (Some("COUNTY"), Some(4)));
    assert_eq!(level["sigma2_stage1_exact"].as_str(), Some("40"));
    assert_eq!(level["sigma2_stage2_exact"].as_str(), Some("40/9"));
    assert_eq!(level["sigma2_total_only_exact"].as_str(), Some("4"));
    let upper = |value: &Value| value["upper"].as_f64().unwrap();
    for part in [&certificate, level, &certificate["bounded"], &certificate["passes"][1]] {
        assert!(upper(&part["epsilon"]) < upper(&part["zcdp_epsilon"]) && upper(&part["epsilon"]) > 1.0, "{part}");
        // Both ends where somebody has the epsilon.
        assert_eq!(part["epsilon"]["lower"].is_number(), part["epsilon_is"] == "exact", "{part}");
    }
    let hash = certificate["sha256"]["configuration"].as_str().unwrap();
    let sha256 = Command::new("sha256sum").arg(world.path("config.json")).output().unwrap().stdout;
    assert!(String::from_utf8(sha256).unwrap().starts_with(hash));
    assert!(!certificate.to_string().contains("persons"));
    let page = fs::read_to_string(world.path("out/certificate.md")).unwrap();
    assert!(page.contains("Whole run") && !page.contains("INSECURE"));

    // Pure differential privacy, and non-negative counts.
    let mut config = world.config("0.5", "0.9999");
    config["privacy_defn"] = "puredp".into();
    config["allow_negative_counts"] = false.into();
    world.write_config(&config);
    let outcome = world.done("persons.txt", "pure", &["--json", "--insecure-seed", "3"]);
    let certificate: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(certificate["pure_epsilon"].as_f64(), Some(6.0));
    assert!(certificate["zcdp_epsilon"].is_null() && certificate["seed"].as_str().unwrap().contains("INSECURE"));
    let level = &certificate["passes"][0]["levels"][5];
    assert_eq!(level["laplace_epsilon_stage1_exact"].as_str(), Some("1/80"));
    assert_eq!(level["laplace_epsilon_total_only_exact"].as_str(), Some("1/8"));
    for table in ["t1/us.csv", "t2/us.csv", "t1/pr.csv", "t2/pr.csv"] {
        assert!(rows(world.path("pure").join(table)).iter().all(|row| !row.contains("|-")), "{table}");
    }
}

#[test]
fn one_budget_is_drawn_once_unless_the_curator_says_otherwise() {
    let world = World::new(3, 200);
    world.write_config(&world.config("0.5", "0.9999"));
    assert!(world.refusal("persons.txt", "out", &["--resume"]).contains("nothing to resume"));
    assert_eq!(world.beside("out"), [""; 0]);
    world.done("persons.txt", "out", &[]);
    assert!(world.refusal("persons.txt", "out", &[]).contains("is there already"));
    assert!(world.refusal("persons.txt", "out", &["--discard"]).contains("is there already"));
    fs::rename(world.path("out"), world.path("moved")).unwrap();
    assert!(world.refusal("persons.txt", "out", &[]).contains("its budget is spent"));
    assert!(world.refusal("persons.txt", "out", &["--resume"]).contains("nothing to resume"));
    assert!(world.refusal("persons.txt", "out", &["--resume", "--discard"]).contains("cannot be used with"));
    let outcome = world.done("persons.txt", "out", &["--discard", "--json"]);
    let certificate: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((certificate["draw"].as_u64(), certificate["earlier_draws"].as_u64()), (Some(2), Some(1)));
    let (first, second) = (files(&world.path("moved")), files(&world.path("out")));
    assert_ne!(first["t1/us.csv"], second["t1/us.csv"], "fresh noise");
    fs::remove_dir_all(world.path("out")).unwrap();
    world.write("out.log", "{\"event\":\"drawn\"}\n");
    assert!(world.refusal("persons.txt", "out", &[]).contains("out.log, line 1"));
}

/// A draw from the same records into another folder spends its budget again: the log beside the records shows the first, and the
/// certificate has the sum of all.
#[test]
fn a_second_draw_into_another_folder_is_noticed() {
    let world = World::new(3, 200);
    world.write_config(&world.config("0.5", "0.9999"));
    // Noise that anyone can subtract protects nobody, so it is not logged for the records.
    world.done("persons.txt", "test", &["--insecure-seed", "4"]);
    assert!(!world.path("persons.txt.draws").exists());
    world.done("persons.txt", "first", &[]);
    let log = fs::read_to_string(world.path("persons.txt.draws")).unwrap();
    assert!(log.lines().count() == 1 && log.contains("first.log") && !log.contains("records"), "{log}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(world.path("persons.txt.draws")).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
    world.write_config(&world.config("0.25", "0.9999"));
    let refused = world.refusal("persons.txt", "second", &[]);
    for said in ["drawn from before, once", "first.log", "United States: 6", "--discard", "persons.txt.draws"] {
        assert!(refused.contains(said), "{said}: {refused}");
    }
    assert!(!world.path("second").exists() && !world.path("second.log").exists());
    // Under another name they are the same records.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(world.path("persons.txt"), world.path("people.txt")).unwrap();
        assert!(world.refusal("people.txt", "second", &[]).contains("drawn from before"));
    }
    let outcome = world.done("persons.txt", "second", &["--discard", "--json"]);
    let certificate: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((certificate["draw"].as_u64(), certificate["earlier_draws"].as_u64()), (Some(1), Some(1)));
    assert_eq!(certificate["earlier_draws_into_other_folders"].as_u64(), Some(1));
    assert_eq!(
        (certificate["all_draws"]["rho"].as_f64(), certificate["all_draws"]["bounded"]["rho"].as_f64()),
        (Some(9.0), Some(18.0))
    );
    let page = fs::read_to_string(world.path("second/certificate.md")).unwrap();
    for said in [
        "One earlier draw spent its own budget (rho = 6)",
        "together up to 9, and 18 where",
        "1 went into other folders",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // Without the folder and its log, the log of the records still shows the draw.
    for gone in ["first", "second"] {
        fs::remove_dir_all(world.path(gone)).unwrap();
        fs::remove_file(world.path(&format!("{gone}.log"))).unwrap();
    }
    assert!(world.refusal("persons.txt", "first", &[]).contains("drawn from before, 2 times"));
    let log = fs::read_to_string(world.path("persons.txt.draws")).unwrap();
    world.write("persons.txt.draws", &log.replace("United", "x").replacen('{', "[", 1));
    assert!(world.refusal("persons.txt", "third", &[]).contains("persons.txt.draws, line 1"));
}

/// Every number of the certificate follows from the public inputs, and both its files exist and agree.
#[test]
fn a_forged_or_missing_certificate_is_refused_with_the_difference() {
    let world = World::new(3, 200);
    world.write_config(&world.config("0.5", "0.9999"));
    world.done("persons.txt", "out", &["--insecure-seed", "4"]);
    let inputs = |config: &str| {
        let path = |name: &str| world.path(name).to_str().unwrap().to_string();
        ["--config", &path(config), "--spec", &path("spec"), "--geography", &path("GRF-C.txt")].map(String::from)
    };
    let verify = |with: &[String]| {
        let mut command = Command::new(ASSAY);
        let output = command.args(["tabulate", "--verify-output"]).arg(world.path("out")).args(with).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (own, alone) = (inputs("config.json"), Vec::new());
    for with in [&own[..], &alone] {
        let (status, said) = verify(with);
        assert!(status == Some(0) && said.contains("No rule is broken"), "{said}");
    }
    let [json, page] = ["certificate.json", "certificate.md"]
        .map(|name| (world.path("out").join(name), files(&world.path("out"))[name].clone()));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (certificate, shown) = (text(&json.1), text(&page.1));
    let epsilon = certificate.lines().find(|line| line.contains("\"lower\"")).unwrap();
    let hash =
        serde_json::from_str::<Value>(&certificate).unwrap()["sha256"]["geography"].as_str().unwrap().to_string();
    let cases: [(&PathBuf, String, &[&str], bool); 6] = [
        (
            &json.0,
            certificate.replacen("\"rho_exact\": \"6\"", "\"rho_exact\": \"1\"", 1),
            &["rho_exact", "certificate.md"],
            true,
        ),
        (&json.0, certificate.replacen(epsilon, "\"lower\": 0.25,", 1), &["epsilon"], false),
        (&json.0, certificate.replace(&hash, &hash.replace(['a', '1'], "b")), &["sha256"], true),
        (&json.0, certificate.replacen("\"moe_stage1\": ", "\"moe_stage1\": 1", 1), &["moe_stage1"], false),
        (&page.0, shown.replace("| 6 |", "| 1 |"), &["certificate.md", "Whole run"], true),
        (&page.0, shown.replace("rho = 6.", "rho = 1."), &["certificate.md", "Budget"], false),
    ];
    for (path, forged, names, alone_too) in cases {
        let before = fs::read(path).unwrap();
        assert_ne!(forged.as_bytes(), before, "{names:?}");
        fs::write(path, &forged).unwrap();
        let (status, said) = verify(&own);
        assert!(status == Some(1) && names.iter().all(|name| said.contains(name)), "{names:?}: {said}");
        let (status, said) = verify(&alone);
        assert!(!alone_too || status == Some(1), "{names:?}: {said}");
        fs::write(path, before).unwrap();
    }
    for (path, bytes) in [&json, &page] {
        fs::remove_file(path).unwrap();
        for with in [&own[..], &alone] {
            let (status, said) = verify(with);
            assert!(status == Some(1) && said.contains("the certificate of the release"), "{said}");
        }
        fs::write(path, bytes).unwrap();
    }
    // Another budget: its hash and its numbers differ.
    fs::write(world.path("other.json"), world.config("0.25", "0.9999").to_string()).unwrap();
    let (status, said) = verify(&inputs("other.json"));
    assert!(status == Some(1) && said.contains("sha256.configuration") && said.contains("rho"), "{said}");
}

/// A run with a long time between its first noise and its end.
fn long_world() -> World {
    let mut world = World::new(4, 50);
    for county in 10..=70 {
        for tract in 1..=400 {
            world.blocks.push(Block { state: 44, county, tract, number: 1, place: 99_999, area: 9999 });
        }
    }
    world.write_geography();
    world.write_config(&world.config("0.5", "0"));
    world
}

/// Kills a run once it has begun to write its tables. Returns whether it was still running.
fn kill_in_the_middle(world: &World, out: &str, more: &[&str]) -> bool {
    let mut child = Command::new(ASSAY)
        .args(world.arguments("persons.txt", out))
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let tables = world.path(&format!(".{out}.part/release/t1/us.csv"));
    while fs::metadata(&tables).map_or(0, |found| found.len()) == 0 && child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(2));
    }
    let running = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    running && !world.path(out).exists()
}

#[test]
fn a_run_that_was_killed_is_resumed_bit_by_bit_or_discarded() {
    let world = long_world();
    let seed = ["--insecure-seed", "11"];
    world.done("persons.txt", "whole", &seed);
    assert!(kill_in_the_middle(&world, "out", &seed), "the run was over before it could be killed");
    assert_eq!(world.beside("out"), [".out.part", "out.key", "out.log"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(world.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(".out.part"), mode("out.key")), (0o700, 0o600));
    }
    // Neither flag, another seed, other persons, another configuration.
    assert!(world.refusal("persons.txt", "out", &seed).contains("--resume"));
    assert!(world.refusal("persons.txt", "out", &["--insecure-seed", "12", "--resume"]).contains("insecure seed"));
    let resume = [seed[0], seed[1], "--resume"];
    world.write("others.txt", &world.text(&world.persons[1..]));
    assert!(world.refusal("others.txt", "out", &resume).contains("not those that the draw was begun with"));
    let config = fs::read_to_string(world.path("config.json")).unwrap();
    world.write("config.json", &format!("{config}\n"));
    assert!(world.refusal("persons.txt", "out", &resume).contains("another configuration"));
    world.write("config.json", &config);
    assert_eq!(world.beside("out"), ["out.key", "out.log"]);
    // A line truncated by a crash is no event.
    let log = fs::read_to_string(world.path("out.log")).unwrap();
    world.write("out.log", &format!("{log}{{\"event\":\"rel"));
    world.done("persons.txt", "out", &resume);
    assert_eq!(files(&world.path("out")), files(&world.path("whole")));
    assert_eq!(world.beside("out"), ["out", "out.log"]);
    let log = fs::read_to_string(world.path("out.log")).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["intent", "resumed", "released"]);
    assert!(!log.contains("key"));

    // With secret noise; the lock of a dead run does not hold.
    assert!(kill_in_the_middle(&world, "secret", &[]), "the run was over before it could be killed");
    let outcome = world.done("persons.txt", "secret", &["--discard", "--json"]);
    let certificate: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((certificate["draw"].as_u64(), certificate["earlier_draws"].as_u64()), (Some(2), Some(1)));
    assert!(fs::read_to_string(world.path("secret/certificate.md")).unwrap().contains("This is draw 2"));
    assert_eq!(world.beside("secret"), ["secret", "secret.log"]);
}

/// Killed at moments spread over the run, then resumed or begun again: the same bytes, drawn once. `ASSAY_ATTACK` multiplies the number of
/// kills, and `ASSAY_ATTACK_TABLE` names a file for the statistics, which `scripts/soak` reads.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_at_any_moment_ends_in_the_same_bytes() {
    use std::{io::Write, os::unix::process::ExitStatusExt};
    let times: u32 = std::env::var("ASSAY_ATTACK").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let world = World::new(3, 200);
    world.write_config(&world.config("0.5", "0"));
    let seed = ["--insecure-seed", "11"];
    // The faster of two runs: a busy machine must not move the kills beyond the end.
    let timed = |out: &str| {
        let began = Instant::now();
        world.done("persons.txt", out, &seed);
        began.elapsed().as_secs_f64()
    };
    let seconds = timed("whole").min(timed("again"));
    let whole = files(&world.path("whole"));
    let (kills, mut checks, mut running, mut resumed, mut slowest) = (8 * times, 0, 0, 0, 0_f64);
    for kill in 0..kills {
        let (out, began) = (format!("out{kill}"), Instant::now());
        let after = seconds * 1.1 * (f64::from(kill) + 0.5) / f64::from(kills);
        let what = format!("killed after {:.1} ms", after * 1e3);
        let mut child = Command::new(ASSAY)
            .args(world.arguments("persons.txt", &out))
            .args(seed)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_secs_f64(after));
        let _ = child.kill();
        running += u32::from(child.wait().unwrap().signal() == Some(9));
        // Complete or missing, and nothing beside it that a reader would mistake for it.
        let there = world.path(&out).exists();
        assert!(!there || files(&world.path(&out)) == whole, "{what}: the release is incomplete");
        let known = [format!(".{out}.part"), out.clone(), format!("{out}.key"), format!("{out}.log")];
        assert!(world.beside(&out).iter().all(|name| known.contains(name)), "{what}: {:?}", world.beside(&out));
        // A draw that was begun or published is not repeated without a flag.
        let begun = fs::read_to_string(world.path(&format!("{out}.log"))).is_ok_and(|log| log.contains("\"intent\""));
        if there || begun {
            world.refusal("persons.txt", &out, &seed);
            checks += 1;
        }
        if !there {
            let more: &[&str] = if begun { &[seed[0], seed[1], "--resume"] } else { &seed };
            world.done("persons.txt", &out, more);
            resumed += u32::from(begun);
        }
        assert!(files(&world.path(&out)) == whole, "{what}: other bytes");
        let log = fs::read_to_string(world.path(&format!("{out}.log"))).unwrap();
        let events = |event: &str| log.matches(&format!("\"event\":\"{event}\"")).count();
        assert_eq!((events("intent"), events("released")), (1, 1), "{what}: one budget, one release: {log}");
        checks += 4;
        slowest = slowest.max(began.elapsed().as_secs_f64());
        fs::remove_dir_all(world.path(&out)).unwrap();
    }
    assert!(running > kills / 2, "only {running} of {kills} runs were still running");
    assert!(times == 1 || resumed > 0, "no run was killed between its first noise and its end");
    if let Ok(table) = std::env::var("ASSAY_ATTACK_TABLE") {
        let mut table = fs::OpenOptions::new().create(true).append(true).open(table).unwrap();
        let row = format!("row\tkill tabulate\tkill tabulate\t{kills}\t{checks}\t0\t0\t0\t0\t{running}\t{slowest}\t0");
        writeln!(table, "{row}").unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_the_draw_stays_open() {
    let world = long_world();
    // Files limited to 400 kilobytes, with the signal for it ignored: the tables need more.
    let script = r#"trap "" XFSZ; ulimit -f 800; exec "$@""#;
    let mut arguments = vec!["-c".to_string(), script.to_string(), "sh".to_string(), ASSAY.to_string()];
    arguments.extend(world.arguments("persons.txt", "out"));
    let outcome = Command::new("sh").args(&arguments).output().unwrap();
    let message = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert_eq!(outcome.status.code(), Some(2), "{message}");
    assert!(message.contains("us.csv"), "{message}");
    assert_eq!(world.beside("out"), ["out.key", "out.log"]);
    assert!(world.refusal("persons.txt", "out", &[]).contains("--discard"));
    world.done("persons.txt", "out", &["--resume"]);
    assert_eq!(world.beside("out"), ["out", "out.log"]);
}

#[test]
fn bad_input_is_refused_by_place_and_leaves_nothing() {
    let world = World::new(6, 20);
    let good = world.text(&world.persons);
    for (from, to, why) in [
        ("|True|", "|Maybe|", "line 2"),
        ("QSPAN", "QSPANISH", "line 1"),
        ("|44|", "|45|", "line"),
        ("Null|2", "1010|2", "line"),
    ] {
        world.write("bad.txt", &good.replacen(from, to, 1));
        let message = world.refusal("bad.txt", "out", &[]);
        assert!(message.contains("bad.txt") && message.contains(why), "{message}");
    }
    world.write("bad.parquet", &good);
    assert!(world.refusal("bad.parquet", "out", &[]).contains("bad.parquet"));
    parquet_records::write(&world.path("i.parquet"), &good.replacen("QAGE", "AGE", 1), 1000);
    let message = world.refusal("i.parquet", "out", &[]);
    assert!(message.contains("QAGE") && message.contains("text"), "{message}");
    assert!(world.refusal("missing.txt", "out", &[]).contains("missing.txt"));
    assert!(world.refusal("spec", "out", &[]).contains("spec"));
    assert!(world.refusal("persons.txt", "no/such/folder", &[]).contains("no/such/folder"));
    assert!(world.refusal("persons.txt", "out", &["--delta", "0"]).contains("--delta"));
    assert!(world.refusal("persons.txt", "spec", &[]).contains("is there already"));
    // Noise that would be too narrow to draw, and a budget of zero.
    world.write_config(&world.config("1000000000", "0.9999"));
    assert!(world.refusal("persons.txt", "out", &[]).contains("sigma2"));
    world.write_config(&world.config("0", "0.9999"));
    assert!(world.refusal("persons.txt", "out", &[]).contains("budget"));
    assert_eq!(world.beside("out"), [""; 0]);
}

#[test]
fn nothing_is_sent_to_a_cluster_that_must_not_be() {
    let world = World::new(6, 20);
    let root = world.folder.path().to_str().unwrap();
    let refused = |shared: &str, address: &str, more: &[&str], why: &str| {
        let more = [&["--cluster", address, "--shared", shared], more].concat();
        let message = world.refusal("persons.txt", "out", &more);
        assert!(message.contains(why), "{message}");
        assert_eq!(world.beside("out"), [""; 0]);
    };
    refused(root, "sc://10.0.0.7:15002", &[], "in clear");
    let token = world.path("token");
    fs::write(&token, "hunter2\n").unwrap();
    fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let token = token.to_str().unwrap();
    let plain = ["--cluster-plain", "--cluster-token", token];
    refused(root, "sc://10.0.0.7:15002", &plain, "a token is not sent over a plain connection");
    // The folder of the workers does not have the persons, or does not exist.
    refused(world.path("spec").to_str().unwrap(), "sc://localhost:1", &[], "put it there");
    refused(world.path("none").to_str().unwrap(), "sc://localhost:1", &[], "not a folder");
    let nobody = if cfg!(feature = "cluster") { "nobody answers" } else { "build it with the feature cluster" };
    refused(root, "sc://localhost:1", &[], nobody);
}
