//! `assay nmf audit`: the pure noise in noisy measurement files, true and with planted faults, as a process.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::common::{
    nmf_rows::{self, Row},
    program::{assay, json, refusal},
};

const AXES: [&str; 4] = ["hhgq", "votingage", "hispanic", "cenrace"];
const RELEASE: [&str; 2] = ["--release", "pl94-persons-us"];
const LEVELS: [&str; 6] = ["US", "State", "County", "Tract", "Block_Group", "Block"];
const TYPES: [&str; 8] = [
    "household",
    "correctional",
    "juvenile",
    "nursing",
    "other-institutional",
    "college",
    "military",
    "other-noninstitutional",
];

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/nmf")
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

/// The Parquet files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(files(&entry)) } else { found.push(entry) }
    }
    found
}

/// The bundled example with upper bounds as in the Bureau's files: zero for types without anyone in the block, summed up the hierarchy.
struct Product {
    folder: tempfile::TempDir,
    /// The number of zeros of `detailed` in all units with counts.
    zeros: u64,
}

impl Product {
    fn new() -> Product {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("US_Person_PL_PROD");
        copy(&example().join("US_Person_PL_PROD"), &path);
        let mut present: BTreeSet<(String, usize)> = BTreeSet::new();
        for line in fs::read_to_string(example().join("counts.csv")).unwrap().lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            present.insert((cells[0].to_string(), TYPES.iter().position(|name| *name == cells[1]).unwrap()));
        }
        // The last sixteen digits of a block's code have the digit of the group twice.
        let geoid = |code: &str| format!("{}{}", &code[15..26], &code[27..]);
        let mut sums: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for file in files(&path.join("Block.parquet/Constraint")) {
            for code in nmf_rows::read(&file, &AXES).into_iter().map(|row| row.code).collect::<BTreeSet<_>>() {
                let bounds: Vec<i32> =
                    (0..8).map(|kind| i32::from(present.contains(&(geoid(&code), kind))) * 99_999).collect();
                for width in [0, 3, 9, 13, 15, 31] {
                    let sum = sums.entry(code[..width].to_string()).or_insert_with(|| vec![0; 8]);
                    sum.iter_mut().zip(&bounds).for_each(|(sum, bound)| *sum += bound);
                }
            }
        }
        let mut zeros = 0;
        for level in LEVELS {
            for file in files(&path.join(format!("{level}.parquet/Constraint"))) {
                let mut rows = nmf_rows::read(&file, &AXES);
                for code in rows.iter().map(|row| row.code.clone()).collect::<BTreeSet<_>>() {
                    let axes = ["detailed", "*", "*", "*"];
                    rows.push(Row::constraint(&code, "hhgq_total_ub", "<=", &axes, &[8, 1, 1, 1], sums[&code].clone()));
                }
                nmf_rows::write(&file, &AXES, &rows);
            }
            // Upper bounds of the nation are not used: no type is empty there.
            let queries =
                if level == "US" { Vec::new() } else { files(&path.join(format!("{level}.parquet/DPQuery"))) };
            for file in queries {
                let rows = nmf_rows::read(&file, &AXES);
                let detailed = rows.iter().filter(|row| row.name == "detailed_dpq");
                zeros += detailed
                    .map(|row| 252 * sums[&row.code].iter().filter(|bound| **bound == 0).count() as u64)
                    .sum::<u64>();
            }
        }
        Product { folder, zeros }
    }

    fn path(&self) -> String {
        self.folder.path().join("US_Person_PL_PROD").display().to_string()
    }

    /// Changes the noisy counts of blocks, row by row.
    fn change(&self, change: impl FnMut(&mut Row)) {
        self.change_level("Block", change);
    }

    fn change_level(&self, level: &str, mut change: impl FnMut(&mut Row)) {
        for file in files(&self.folder.path().join(format!("US_Person_PL_PROD/{level}.parquet/DPQuery"))) {
            nmf_rows::change(&file, &AXES, &mut change);
        }
    }

    fn audit(&self, more: &[&str], code: i32) -> Value {
        let path = self.path();
        let words = [&["nmf", "audit", &path, "--json"], &RELEASE[..], more].concat();
        let output = assay(&words).assert().code(code).get_output().stdout.clone();
        serde_json::from_slice(&output).unwrap()
    }
}

/// The tests of an answer that reject, as level, query, kind and test.
fn rejected(answer: &Value) -> Vec<String> {
    let tests = answer["tests"].as_array().unwrap().iter();
    let is_small = |test: &&Value| test["corrected_p_value"].to_string().parse::<f64>().unwrap() <= 0.001;
    let name =
        |test: &Value| ["level", "query", "kind", "test"].map(|key| test[key].as_str().unwrap().to_string()).join("/");
    tests.filter(is_small).map(name).collect()
}

#[test]
fn true_noise_is_consistent_and_all_of_it_is_used() {
    let product = Product::new();
    let folder = product.folder.path();
    let (out, svg) = (folder.join("tests.csv").display().to_string(), folder.join("audit.svg").display().to_string());
    let answer = product.audit(&["--out", &out, "--svg", &svg], 0);
    assert_eq!((answer["verdict"].as_str(), rejected(&answer).len()), (Some("consistent"), 0));
    let of = |query: &str| {
        let own = answer["sources"].as_array().unwrap().iter();
        let own = own.filter(|source| source["query"] == query && source["kind"] == "zeros");
        own.map(|source| source["draws"].as_u64().unwrap()).sum::<u64>()
    };
    assert!(product.zeros > 50_000);
    assert_eq!(of("detailed"), product.zeros);
    assert_eq!(of("hhgq"), product.zeros / 252);
    // No other query distinguishes types; hhinstlevels joins several.
    assert!(of("hhinstlevels") > 0 && of("total") == 0 && of("cenrace") == 0);
    let tests = answer["tests"].as_array().unwrap();
    for key in ["level", "query", "kind", "draws", "statistic", "p_value", "what"] {
        assert!(tests.iter().all(|test| !test[key].is_null()), "{key}");
    }
    for name in ["neighbors in a row", "neighboring units", "parent and child", "other query", "other count", "repeats"]
    {
        assert!(tests.iter().any(|test| test["test"] == name), "{name}");
    }
    assert_eq!(fs::read_to_string(out).unwrap().lines().count(), tests.len() + 1);
    assert!(fs::read_to_string(svg).unwrap().contains("Block detailed"));
    let blocks = answer["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|source| source["level"] == "Block" && source["query"] == "detailed");
    let factor = &blocks.unwrap()["sigma2_factor"];
    assert!(factor["lower"].as_f64().unwrap() > 0.9 && factor["upper"].as_f64().unwrap() < 1.1, "{factor}");
}

#[test]
fn planted_faults_are_found() {
    let product = Product::new();
    let detailed = |row: &Row| row.name == "detailed_dpq";
    let is_zero = |at: usize| at >= 6 * 252;
    let original = product.path();
    let keep = tempfile::tempdir().unwrap();
    copy(Path::new(&original), keep.path());
    let with = |fault: &mut dyn FnMut(&mut Row), level: &str, expected: &str| {
        copy(keep.path(), Path::new(&original));
        product.change_level(level, fault);
        let found = rejected(&product.audit(&[], 1));
        assert!(found.iter().any(|name| name.ends_with(expected)), "{expected}: {found:?}");
    };
    // Counts that were cut at zero after the noise.
    with(
        &mut |row| row.values.iter_mut().for_each(|value| *value = (*value).max(0)),
        "Block",
        "Block/detailed/zeros/mean",
    );
    // Military and other cells are zero nearly everywhere: noise of one sign, even noise, and noise that is too small or wide.
    let zeros = |row: &mut Row, change: &dyn Fn(i32) -> i32| {
        if detailed(row) {
            row.values
                .iter_mut()
                .enumerate()
                .filter(|(at, _)| is_zero(*at))
                .for_each(|(_, value)| *value = change(*value));
        }
    };
    with(&mut |row| zeros(row, &|x| x.abs()), "Block", "Block/detailed/zeros/sign");
    with(&mut |row| zeros(row, &|x| x / 2 * 2), "Block", "Block/detailed/zeros/parity");
    with(&mut |row| zeros(row, &|x| x + x.signum()), "Block", "Block/detailed/zeros/variance");
    with(
        &mut |row| row.values.iter_mut().for_each(|value| *value = (*value).clamp(-7, 7)),
        "Block",
        "Block/detailed/zeros/largest",
    );
    // The noise of one block in all others.
    let mut first: Option<Vec<i32>> = None;
    with(
        &mut |row| {
            if detailed(row) {
                let first = first.get_or_insert_with(|| row.values[6 * 252..].to_vec());
                row.values[6 * 252..].copy_from_slice(first);
            }
        },
        "Block",
        "Block/detailed/zeros/neighboring units",
    );
    // A count that leaks into a neighbor query.
    let mut totals: BTreeMap<String, i32> = BTreeMap::new();
    for file in files(&keep.path().join("Block.parquet/DPQuery")) {
        let rows = nmf_rows::read(&file, &AXES).into_iter().filter(|row| row.name == "total_dpq");
        totals.extend(rows.map(|row| (row.code, row.values[0])));
    }
    with(
        &mut |row| {
            if let (true, Some(total)) = (detailed(row), totals.get(&row.code)) {
                let sign = total.signum();
                row.values[252..].iter_mut().for_each(|value| *value = value.abs() * sign);
            }
        },
        "Block",
        "Block/detailed/zeros/other count",
    );
    // The noise of another level: the files of a level with other values, the variances as declared.
    with(&mut |row| row.values.iter_mut().for_each(|value| *value *= 3), "State", "consistency/residuals");
}

#[test]
fn repeated_rows_are_found() {
    let product = Product::new();
    let mut known: Option<Vec<i32>> = None;
    let mut at = 0;
    product.change(|row| {
        if row.name == "detailed_dpq" {
            at += 1;
            if at == 3 {
                known = Some(row.values.clone());
            }
            if let (4.., Some(values)) = (at, &known) {
                row.values.clone_from(values);
            }
        }
    });
    let found = rejected(&product.audit(&[], 1));
    assert!(found.iter().any(|name| name == "Block/detailed/zeros/repeats"), "{found:?}");
}

#[test]
fn some_states_can_be_audited_and_the_power_is_stated() {
    let product = Product::new();
    let path = product.path();
    let answer = product.audit(&["--states", "44"], 0);
    assert_eq!(answer["parts"], serde_json::json!(["044", "144"]));
    for (states, expected) in
        [("10", "not in the folder"), ("4", "two digits"), ("RI", "two digits"), ("99", "two digits")]
    {
        let message = refusal(&[&["nmf", "audit", &path, "--states", states], &RELEASE[..]].concat());
        assert!(message.contains(expected), "{message}");
    }
    // From footers and constraints as many draws as are read, but for the nation's.
    let whole = product.audit(&[], 0);
    let of = |answer: &Value, key: &str, level: &str| {
        let own =
            answer[key].as_array().unwrap().iter().filter(|row| row["query"] == "detailed" && row["level"] == level);
        own.map(|row| row["draws"].as_u64().unwrap()).sum::<u64>()
    };
    let power = json(&[&["nmf", "audit", &path, "--power"], &RELEASE[..]].concat());
    let (counted, stated) = (of(&whole, "sources", "Block"), of(&power, "shows_approx", "Block"));
    assert!(stated > 0 && stated.abs_diff(counted) * 10 < counted, "{stated} {counted}");
    let many = json(&[&["nmf", "audit", "--power", "--draws", "1e10"], &RELEASE[..]].concat());
    let row = many["shows_approx"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["level"] == "Block" && row["query"] == "detailed");
    let smallest = row.unwrap()["sigma2_larger"].as_f64().unwrap();
    assert!(smallest > 5e-5 && smallest < 2e-4, "{smallest}");
    let one = json(&["nmf", "audit", "--power", "--draws", "1e8", "--law", "discrete-gaussian:10"]);
    assert_eq!(one["shows_approx"].as_array().unwrap().len(), 1);
    for words in [
        &["nmf", "audit", "--power"][..],
        &["nmf", "audit", "--release", "pl94-persons-us"],
        &["nmf", "audit", &path],
        &["nmf", "audit", "--power", "--draws", "1e8", "--law", "discrete-laplace:1"],
    ] {
        refusal(words);
    }
}

/// Files without zeros have no pure noise but residuals, and the verdict says so.
#[test]
fn files_without_pure_noise_are_said_to_have_none() {
    let path = example().join("US_Person_PL_PROD").display().to_string();
    let answer = json(&[&["nmf", "audit", &path], &RELEASE[..]].concat());
    assert!(answer["draws"]["zeros"].as_u64() == Some(0));
    // The exact total of the nation is a constraint: one sum of each query, whose law is enumerated unless it is too wide.
    assert!(answer["draws"]["totals"].as_u64() == Some(10));
    let totals = answer["sources"].as_array().unwrap().iter().filter(|source| source["kind"] == "totals");
    assert!(totals.clone().all(|source| source["level"] == "US") && totals.count() == 10);
    let squares = answer["tests"].as_array().unwrap().iter().filter(|test| test["test"] == "squares");
    assert!(squares.count() > 0);
    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("audit.svg").display().to_string();
    let message = refusal(&[&["nmf", "audit", &path, "--svg", &svg], &RELEASE[..]].concat());
    assert!(message.contains("no count in the files is noise alone"), "{message}");
    assert!(answer["tests"].as_array().unwrap().iter().any(|test| test["kind"] == "consistency"));
}

/// Adds the exact totals of all units to the files, as the Bureau's have them.
fn add_exact_totals(product: &Path, geoids: &[String]) {
    let total_of = |number: usize| 20 + number as i32 + (number % 7) as i32;
    let mut totals: BTreeMap<String, i32> = BTreeMap::new();
    let block_files = files(&product.join("Block.parquet/Constraint"));
    let mut widths: BTreeSet<usize> = BTreeSet::new();
    for level in LEVELS {
        for file in files(&product.join(format!("{level}.parquet/Constraint"))) {
            widths.extend(nmf_rows::read(&file, &["h1"]).iter().map(|row| row.code.len()));
        }
    }
    for file in &block_files {
        for code in nmf_rows::read(file, &["h1"]).into_iter().map(|row| row.code).collect::<BTreeSet<_>>() {
            let tail = &code[code.len() - 16..];
            let geoid = format!("{}{}", &tail[..11], &tail[12..]);
            let number = geoids.iter().position(|own| *own == geoid).unwrap();
            for width in &widths {
                *totals.entry(code[..*width].to_string()).or_default() += total_of(number);
            }
        }
    }
    for level in &LEVELS[1..] {
        for file in files(&product.join(format!("{level}.parquet/Constraint"))) {
            let mut rows = nmf_rows::read(&file, &["h1"]);
            for code in rows.iter().map(|row| row.code.clone()).collect::<BTreeSet<_>>() {
                rows.push(Row::constraint(&code, "total", "=", &["*"], &[1], vec![totals[&code]]));
            }
            nmf_rows::write(&file, &["h1"], &rows);
        }
    }
}

/// Exact totals of housing units: the sum of both counts less the total is the sum of two draws.
#[test]
fn exact_totals_are_sums_of_two_draws() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let run = |args: &[&str]| assay(args).current_dir(at).assert().success();
    let geoids: Vec<String> =
        (0..90).map(|block| format!("44001000{}{}{:03}", 100 + block / 30, 1 + block / 15 % 2, block)).collect();
    let lines = |line: &dyn Fn(usize, &String) -> String| {
        geoids.iter().enumerate().map(|(at, geoid)| line(at, geoid)).collect::<String>()
    };
    fs::write(at.join("blocks.csv"), format!("block\n{}", lines(&|_, geoid| format!("{geoid}\n")))).unwrap();
    let counts = lines(&|number, geoid| format!("{geoid},occupied,{}\n{geoid},vacant,{}\n", 20 + number, number % 7));
    fs::write(at.join("counts.csv"), format!("block,h1,count\n{counts}")).unwrap();
    fs::write(at.join("plan.toml"), "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n").unwrap();
    run(&["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"]);
    let measure =
        ["measure", "--spine", "spine", "--counts", "counts.csv", "--release", "pl94-units-us", "--files", "nmf"];
    run(&[&measure[..], &["--insecure-seed", "5", "--out", "US_Unit_PL_PROD"]].concat());
    let product = at.join("US_Unit_PL_PROD");
    add_exact_totals(&product, &geoids);
    let words = ["nmf", "audit", "US_Unit_PL_PROD", "--release", "pl94-units-us", "--json"];
    let output = assay(&words).current_dir(at).assert().success().get_output().stdout.clone();
    let answer: Value = serde_json::from_slice(&output).unwrap();
    let block = answer["sources"].as_array().unwrap().iter().find(|source| source["level"] == "Block").unwrap();
    assert_eq!((block["kind"].as_str(), block["draws"].as_u64()), (Some("totals"), Some(90)));
    // Twice the variance of one count.
    let (declared, one) = (&block["approximations"]["declared_variance"], &block["sigma2"]);
    assert!((declared.as_f64().unwrap() / one.as_f64().unwrap() - 2.0).abs() < 1e-3, "{declared} {one}");
    // A vacant home more in every block than was counted.
    for file in files(&product.join("Block.parquet/DPQuery")) {
        nmf_rows::change(&file, &["h1"], |row| row.values[0] += 40);
    }
    let output = assay(&words).current_dir(at).assert().code(1).get_output().stdout.clone();
    let found = rejected(&serde_json::from_slice(&output).unwrap());
    assert!(found.iter().any(|name| name == "Block/detailed/totals/mean"), "{found:?}");
}
