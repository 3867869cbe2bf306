//! Whole counts of a histogram that is too large for single cells: those of the marginal that queries and constraints distinguish.

use std::{collections::BTreeMap, fs, path::Path};

use dp_assay::release::Release;
use rug::Rational;

use crate::common::{
    in_folder,
    nmf_rows::{self, Row, described, variance},
    numbers::Numbers,
};

/// 700 x 2 x 50 = 70,000 cells; the groups of codes are neither in order nor contiguous.
fn release() -> String {
    let groups = [3_u32, 1, 0, 2].map(|group| {
        let own = (0..700).filter(|code| (code / 100 + code % 3) % 4 == group).map(|code| format!("\"{code}\""));
        format!("[{}]", own.collect::<Vec<_>>().join(", "))
    });
    let values = |range: std::ops::Range<u32>| {
        format!("[{}]", range.map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(", "))
    };
    let (low, middle, high) = (values(0..20), values(20..40), values(40..50));
    let mut text = format!(
        "name = \"large\"\ntitle = \"Large\"\nsource = \"made up\"\nneighbors = \"bounded\"\n\
         [[attribute]]\nname = \"code\"\nsize = 700\n[[attribute]]\nname = \"sex\"\nsize = 2\n\
         [[attribute]]\nname = \"kind\"\nsize = 50\n\
         [[recode]]\nname = \"code_groups\"\nattribute = \"code\"\ngroups = [{}]\n\
         [[recode]]\nname = \"kinds\"\nattribute = \"kind\"\ngroups = [{low}, {middle}, {high}]\n\
         [[selection]]\nname = \"woman\"\nattribute = \"sex\"\nvalues = [\"1\"]\n\
         [[selection]]\nname = \"highest\"\nattribute = \"kind\"\nvalues = {high}\n",
        groups.join(", ")
    );
    for level in LEVELS {
        text += &format!("[[level]]\nname = \"{level}\"\n");
        for (query, sigma2) in [("code_groups * sex", "3"), ("kinds", "2"), ("detailed", "4")] {
            text += &format!("[[level.query]]\nname = \"{query}\"\nsigma2 = {sigma2}\n");
        }
    }
    text
}

const LEVELS: [&str; 4] = ["US", "State", "County", "Block"];
/// Level, code, blocks, and the number of levels whose shares it carries: the second county has a single block, which has the same counts.
const UNITS: [(usize, &str, std::ops::Range<usize>, usize); 13] = [
    (0, "", 0..6, 1),
    (1, "009", 0..1, 3),
    (1, "044", 1..5, 1),
    (1, "144", 5..6, 3),
    (2, "009100011", 0..1, 0),
    (2, "044100011", 1..4, 1),
    (2, "044100031", 4..5, 2),
    (2, "144100011", 5..6, 0),
    (3, "0091000110900100010011001", 0..1, 0),
    (3, "0441000114400100010011001", 1..2, 1),
    (3, "0441000114400100010011002", 2..3, 1),
    (3, "0441000114400100010011003", 3..4, 1),
    (3, "0441000314400300010011001", 4..5, 0),
];
const LAST: (usize, &str, std::ops::Range<usize>, usize) = (3, "1441000114400100020011001", 5..6, 0);

/// People of the highest kinds are in the third block and the last; there is no woman among them anywhere.
fn truth(numbers: &mut Numbers) -> Vec<Vec<i64>> {
    let block = |block: usize| {
        let mut cells = vec![0; 70_000];
        for _ in 0..12 {
            let (code, sex) = (numbers.below(700) as usize, numbers.below(2) as usize);
            let most = if block == 2 || block == 5 { 50 } else { 40 };
            let kind = numbers.below(most) as usize;
            let sex = if kind >= 40 { 0 } else { sex };
            cells[(code * 2 + sex) * 50 + kind] += 1 + numbers.below(30) as i64;
        }
        cells
    };
    (0..6).map(block).collect()
}

/// Writes the product and the exact totals of states; returns the true counts.
fn product(at: &Path) -> Vec<Vec<i64>> {
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    let schema = release.schema.as_ref().unwrap();
    let mut numbers = Numbers(3);
    let truth = truth(&mut numbers);
    let totals = [0..1, 1..6].map(|blocks: std::ops::Range<usize>| truth[blocks].iter().flatten().sum::<i64>());
    fs::write(at.join("totals.csv"), format!("state,total\n09,{}\n44,{}\n", totals[0], totals[1])).unwrap();
    for (number, level) in release.levels.iter().enumerate() {
        let mut files: BTreeMap<String, (Vec<Row>, Vec<Row>)> = BTreeMap::new();
        for (_, code, blocks, carried) in UNITS.iter().chain([&LAST]).filter(|(of, ..)| *of == number) {
            let part = if number == 0 { String::new() } else { format!("State={}/", &code[..3]) };
            let (rows, constraints) = files.entry(part).or_default();
            let shares: Rational = release.levels[number..number + carried].iter().map(|level| &level.rho).sum();
            for query in level.queries.iter().filter(|_| *carried > 0) {
                let group = schema.group(&query.name).unwrap();
                let mut values = vec![0_i32; group.counts()];
                for cells in &truth[blocks.clone()] {
                    cells.iter().zip(&group.cell_of).for_each(|(count, of)| values[*of as usize] += *count as i32);
                }
                values.iter_mut().for_each(|value| *value += numbers.below(4) as i32 + numbers.below(4) as i32 - 3);
                let sigma2 = Rational::from(query.sigma2().unwrap() * &level.rho) / &shares;
                rows.push(Row::query(code, &query.name, described(schema, &query.name), values, variance(&sigma2)));
            }
            let mut put = |name: &str, sign, axes: [&str; 3], values: Vec<i32>| {
                let shape = [1, 1, values.len() as i32];
                constraints.push(Row::constraint(code, name, sign, &axes, &shape, values));
            };
            // From one to ninety of the highest kinds in each block that has any; the bounds of other blocks do not bind.
            let with = blocks.clone().filter(|block| *block == 2 || *block == 5).count() as i32;
            let many = 99_999 * blocks.len() as i32;
            let axes = ["*", "*", "kinds"];
            put("kinds_lb", ">=", axes, vec![0, 0, with]);
            put("kinds_ub", "<=", axes, vec![many, many, 90 * with]);
            put("no_woman", "=", ["*", "woman", "highest"], vec![0]);
        }
        for (part, (rows, constraints)) in files {
            let place = |kind: &str| at.join(format!("product/{}.parquet/{kind}/{part}part.parquet", level.name));
            if !rows.is_empty() {
                nmf_rows::write(&place("DPQuery"), &["code", "sex", "kind"], &rows);
            }
            nmf_rows::write(&place("Constraint"), &["code", "sex", "kind"], &constraints);
        }
    }
    truth
}

fn run(at: &Path, words: &[&str]) -> (bool, String) {
    let given = ["nmf", "estimate", "product", "--release", "release.toml", "--out", "out.csv"];
    in_folder::said(at, &[&given, words].concat())
}

/// By level, geocode and query: the values of all cells.
type Found = BTreeMap<(usize, String, String), BTreeMap<usize, f64>>;

fn found(at: &Path, words: &[&str]) -> (Found, String) {
    let (success, said) = run(at, words);
    assert!(success, "{words:?}: {said}");
    let mut found = Found::new();
    let mut reader = csv::Reader::from_path(at.join("out.csv")).unwrap();
    let is_count = |heading: &str| heading.starts_with("estimate") || heading.starts_with("count");
    let column = reader.headers().unwrap().iter().position(is_count).unwrap();
    for record in reader.records().map(Result::unwrap) {
        let level = LEVELS.iter().position(|level| *level == &record[0]).unwrap();
        let key = (level, record[1].to_string(), record[4].to_string());
        let count = record[column].parse().unwrap();
        let cell = found.entry(key).or_default().insert(record[5].parse().unwrap(), count);
        assert!(cell.is_none());
    }
    (found, said)
}

fn units(level: usize) -> impl Iterator<Item = &'static str> {
    UNITS.iter().chain([&LAST]).filter(move |(of, ..)| *of == level).map(|(_, code, ..)| *code)
}

const QUERIES: [&str; 4] = ["total", "code_groups * sex", "kinds", "sex * kinds"];

/// Counts of a unit.
fn of<'f>(found: &'f Found, level: usize, code: &str, query: &str) -> &'f BTreeMap<usize, f64> {
    static NOTHING: BTreeMap<usize, f64> = BTreeMap::new();
    found.get(&(level, code.to_string(), query.to_string())).unwrap_or(&NOTHING)
}

/// Checks all guarantees: whole, non-negative, children sum to parents in every query, and queries agree.
fn check_sums(found: &Found) {
    assert!(found.values().flat_map(BTreeMap::values).all(|count| *count > 0.0 && count.fract() == 0.0));
    for level in 0..4 {
        for code in units(level) {
            for query in QUERIES {
                let own = of(found, level, code, query);
                let total = of(found, level, code, "total").get(&0).copied().unwrap_or(0.0);
                assert_eq!(own.values().sum::<f64>(), total, "{code} {query}");
                if level < 3 {
                    let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
                    for child in units(level + 1).filter(|child| child.starts_with(code)) {
                        let child = of(found, level + 1, child, query);
                        child.iter().for_each(|(cell, count)| *sum.entry(*cell).or_default() += count);
                    }
                    assert_eq!(*own, sum, "{code} {query}");
                }
            }
            // The kinds of both sexes sum to the kinds.
            let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
            let both = of(found, level, code, "sex * kinds");
            both.iter().for_each(|(cell, count)| *sum.entry(cell % 3).or_default() += count);
            assert_eq!(*of(found, level, code, "kinds"), sum, "{code}");
        }
    }
}

#[test]
fn marginals_are_whole_and_keep_every_sum_total_zero_and_bound() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let truth = product(at);
    let levels = [&["--queries"][..], &QUERIES, &["--level"], &LEVELS, &["--state-totals", "totals.csv"]].concat();
    let mut all = Vec::new();
    for order in [&[][..], &["kinds"], &["sex", "code_groups"]] {
        let (whole, said) = found(at, &[&levels[..], &["--whole"], order].concat());
        // 4 groups of codes, 2 sexes, 3 kinds.
        assert!(said.contains("Made of the 24 cells that these queries and the constraints distinguish"), "{said}");
        check_sums(&whole);
        let total = |blocks: std::ops::Range<usize>| truth[blocks].iter().flatten().sum::<i64>() as f64;
        assert_eq!(of(&whole, 0, "", "total")[&0], total(0..6));
        assert_eq!(of(&whole, 1, "009", "total")[&0], total(0..1));
        for (level, code, blocks, _) in UNITS.iter().chain([&LAST]) {
            let highest = of(&whole, *level, code, "kinds").get(&2).copied().unwrap_or(0.0);
            let with = blocks.clone().filter(|block| *block == 2 || *block == 5).count() as f64;
            assert!((with..=90.0 * with).contains(&highest), "{code}: {highest}");
            assert!(!of(&whole, *level, code, "sex * kinds").contains_key(&5), "{code}");
        }
        all.push(whole);
    }
    // Without an order, queries are processed by increasing number of counts: 1, 3, 6 and 8.
    let plain = [&["--queries"][..], &QUERIES, &["--level"], &LEVELS, &["--constraints", "none", "--whole"]].concat();
    let (unordered, _) = found(at, &plain);
    check_sums(&unordered);
    let fewest_first = ["total", "kinds", "sex * kinds", "code_groups * sex"];
    assert!(found(at, &[&plain[..], &fewest_first].concat()).0 == unordered);
    assert!(found(at, &[&plain[..], &["code_groups * kinds"]].concat()).0 != unordered);
    // A single level has the same counts as with others.
    let words = ["--queries", "total", "code_groups * sex", "kinds", "sex * kinds", "--level", "County"];
    let (alone, _) = found(at, &[&words[..], &["--state-totals", "totals.csv", "--whole"]].concat());
    let beside: Found =
        all[0].iter().filter(|((level, ..), _)| *level == 2).map(|(a, b)| (a.clone(), b.clone())).collect();
    assert_eq!(alone, beside);
}

/// Totals only, without binding constraints: estimates rounded to nearest, plus the effect of rounding above.
#[test]
fn whole_counts_are_near_the_estimates() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    product(at);
    let words = [&["--constraints", "none", "--queries", "total", "--level"][..], &LEVELS].concat();
    let (estimates, _) = found(at, &words);
    let (whole, said) = found(at, &[&words[..], &["--whole"]].concat());
    assert!(said.contains("Made of the 1 cells"), "{said}");
    assert_eq!(estimates.len(), 14);
    for ((level, code, query), estimate) in &estimates {
        let (estimate, whole) = (estimate[&0], of(&whole, *level, code, query)[&0]);
        // One half for its own rounding, and a share for those above.
        assert!((estimate - whole).abs() <= 0.5 + 0.5 * *level as f64, "{code}: {estimate} {whole}");
    }
    let root = (estimates[&(0, String::new(), "total".to_string())][&0], of(&whole, 0, "", "total")[&0]);
    assert_eq!(root.0.round(), root.1);
}

#[test]
fn histograms_that_are_too_large_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    product(at);
    for queries in [&["detailed"][..], &["code", "kind"], &["total", "--whole", "code * kind"]] {
        let (success, said) =
            run(at, &[&["--queries"][..], queries, &["--whole"][..usize::from(queries.len() < 3)]].concat());
        let expected =
            "at most 65536 cells that queries and constraints distinguish together: ask for coarser or fewer queries";
        assert!(!success && said.contains(expected) && said.contains("700 x"), "{said}");
        assert!(!at.join("out.csv").exists());
    }
}
