//! Whole counts of random folders. Each folder has whole counts that satisfy every constraint, namely those that it was made from, so
//! each must be solved. Bounds are tight in half of them, and interact with the exact totals of states.
//!
//! ASSAY_FOLDERS=2000 makes that many instead of a hundred: scripts/tests/whole-folders.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use dp_assay::{
    release::Release,
    topdown::nmf::{
        answers::Subject,
        survey::{AreaSource, Settings, Survey, Wanted},
        units::Constraints,
    },
};

use crate::common::{
    nmf_rows::{self, Row, described, variance},
    numbers::Numbers,
};

const AXES: [&str; 3] = ["hhgq", "votingage", "race"];
const LEVELS: [&str; 4] = ["US", "State", "County", "Block"];

/// A random folder.
struct Made {
    release: Release,
    totals: BTreeMap<u32, i64>,
    order: Vec<String>,
    types: usize,
    cells: usize,
    /// The units by level: codes with their blocks.
    units: Vec<Vec<(String, Vec<usize>)>>,
    /// The bounds by block and type of quarters.
    bounds: Vec<Vec<(i64, i64)>>,
}

fn below(numbers: &mut Numbers, end: usize) -> usize {
    numbers.below(end as u64) as usize
}

fn release(numbers: &mut Numbers, types: usize, races: usize) -> Release {
    let mut text = format!(
        "name = \"chance\"\ntitle = \"t\"\nsource = \"made up for a test\"\nneighbors = \"bounded\"\n\
         [[attribute]]\nname = \"hhgq\"\nsize = {types}\n[[attribute]]\nname = \"votingage\"\nsize = 2\n\
         [[attribute]]\nname = \"race\"\nsize = {races}\n\
         [[selection]]\nname = \"nursing\"\nattribute = \"hhgq\"\nvalues = [\"1\"]\n\
         [[selection]]\nname = \"nonvoting\"\nattribute = \"votingage\"\nvalues = [\"0\"]\n"
    );
    for level in LEVELS {
        text += &format!("[[level]]\nname = \"{level}\"\n");
        for query in ["total", "hhgq", "votingage * race", "detailed"] {
            if query == "detailed" || numbers.below(2) == 0 {
                let sigma2 = ["1/4", "1", "5", "60", "1000"][below(numbers, 5)];
                text += &format!("[[level.query]]\nname = \"{query}\"\nsigma2 = \"{sigma2}\"\n");
            }
        }
    }
    Release::parse(&text, "chance.toml").unwrap()
}

/// The units of each level: their ids, and the indices of their blocks.
type Levels = Vec<Vec<(String, Vec<usize>)>>;

/// The units of states, each with one or two parts, and the number of blocks.
fn units(numbers: &mut Numbers) -> (Levels, usize) {
    let mut units = vec![vec![(String::new(), Vec::new())], Vec::new(), Vec::new(), Vec::new()];
    let (mut blocks, many) = (0, 1 + below(numbers, 3));
    for (state, parts) in ["09", "44", "53"][..many].iter().map(|state| (state, ["0", "1"])) {
        for part in &parts[..1 + below(numbers, 2)] {
            let of_part = format!("{part}{state}");
            let first = blocks;
            for county in 0..1 + numbers.below(2) {
                let of_county = format!("{of_part}100{}11", 1 + 2 * county);
                let start = blocks;
                for block in 0..1 + numbers.below(4) {
                    units[3]
                        .push((format!("{of_county}0{state}00{}100010011{block:03}", 1 + 2 * county), vec![blocks]));
                    blocks += 1;
                }
                units[2].push((of_county, (start..blocks).collect()));
            }
            units[1].push((of_part, (first..blocks).collect()));
        }
    }
    units[0][0].1 = (0..blocks).collect();
    (units, blocks)
}

/// The true counts of the cells of a block, and for each type of quarters the number of homes and the largest number of people.
fn block(numbers: &mut Numbers, (types, races): (usize, usize), is_tight: bool) -> (Vec<i64>, Vec<(i64, i64)>) {
    let (mut own, mut of_types) = (vec![0_i64; types * 2 * races], Vec::new());
    for kind in 0..types {
        let homes = if kind == 0 { 0 } else { [0, 0, 0, 1, 2][below(numbers, 5)] };
        let people = if kind == 0 { numbers.below(40) } else { homes * (1 + numbers.below(12)) };
        for _ in 0..people {
            // No minors in nursing facilities.
            let age = if kind == 1 { 1 } else { below(numbers, 2) };
            own[(kind * 2 + age) * races + below(numbers, races)] += 1;
        }
        let (people, homes) = (people as i64, homes as i64);
        let most = if is_tight { people + numbers.below(3) as i64 * homes.min(1) } else { 99_999 * homes };
        of_types.push((homes, if kind == 0 { 99_999 } else { most }));
    }
    (own, of_types)
}

/// The exact totals of states, from the parts of each.
fn totals_of_states(parts: &[(String, Vec<usize>)], truth: &[Vec<i64>]) -> BTreeMap<u32, i64> {
    let mut totals = BTreeMap::new();
    for (code, within) in parts {
        let total: i64 = within.iter().flat_map(|block| &truth[*block]).sum();
        *totals.entry(code[1..].parse().unwrap()).or_insert(0) += total;
    }
    totals
}

/// Writes the folder.
fn make(at: &Path, seed: u64) -> Made {
    let mut numbers = Numbers(seed * 7919 + 1);
    let (types, races) = (2 + below(&mut numbers, 3), 1 + below(&mut numbers, 3));
    let (release, cells) = (release(&mut numbers, types, races), types * 2 * races);
    let schema = release.schema.clone().unwrap();
    let (units, blocks) = units(&mut numbers);
    let is_tight = numbers.below(2) == 0;
    let (truth, bounds): (Vec<_>, Vec<_>) = (0..blocks).map(|_| block(&mut numbers, (types, races), is_tight)).unzip();
    for (number, level) in release.levels.iter().enumerate() {
        let mut files: BTreeMap<String, (Vec<Row>, Vec<Row>)> = BTreeMap::new();
        for (code, within) in &units[number] {
            let part = if number == 0 { String::new() } else { format!("State={}/", &code[..3]) };
            let (rows, constraints) = files.entry(part).or_default();
            for query in &level.queries {
                let group = schema.group(&query.name).unwrap();
                let mut values = vec![0_i32; group.counts()];
                for block in within {
                    truth[*block]
                        .iter()
                        .zip(&group.cell_of)
                        .for_each(|(count, of)| values[*of as usize] += *count as i32);
                }
                let sigma2 = query.sigma2().unwrap().clone();
                let reach = sigma2.to_f64().sqrt();
                for value in &mut values {
                    let noise = (0..6).map(|_| numbers.below(1001) as f64 / 500.0 - 1.0).sum::<f64>() * reach / 1.41;
                    *value += noise.round() as i32;
                }
                rows.push(Row::query(code, &query.name, described(&schema, &query.name), values, variance(&sigma2)));
            }
            let sums = |of: &dyn Fn(&(i64, i64)) -> i64| -> Vec<i32> {
                (0..types)
                    .map(|kind| within.iter().map(|block| of(&bounds[*block][kind])).sum::<i64>() as i32)
                    .collect()
            };
            let mut put = |name: &str, sign, axes: [&str; 3], values: Vec<i32>| {
                let shape = [values.len() as i32, 1, 1];
                constraints.push(Row::constraint(code, name, sign, &axes, &shape, values));
            };
            put("hhgq_lb", ">=", ["detailed", "*", "*"], sums(&|own| own.0));
            put("hhgq_ub", "<=", ["detailed", "*", "*"], sums(&|own| own.1));
            put("nurse_nva_0", "=", ["nursing", "nonvoting", "*"], vec![0]);
            if number == 0 {
                let all: i64 = truth.iter().flatten().sum();
                put("total", "=", ["*", "*", "*"], vec![all as i32]);
            }
        }
        for (part, (rows, constraints)) in files {
            let place = |kind: &str| at.join(format!("{}.parquet/{kind}/{part}part.parquet", level.name));
            nmf_rows::write(&place("DPQuery"), &AXES, &rows);
            nmf_rows::write(&place("Constraint"), &AXES, &constraints);
        }
    }
    let totals = totals_of_states(&units[1], &truth);
    let orders: [&[&str]; 3] = [&[], &["race"], &["votingage * race", "hhgq"]];
    let order = orders[below(&mut numbers, 3)].iter().map(ToString::to_string).collect();
    Made { release, totals, order, types, cells, units, bounds }
}

/// The whole counts of all units, or the error.
fn solve(at: &Path, made: &Made) -> Result<HashMap<(usize, String), Vec<i64>>, String> {
    let settings = Settings {
        constraints: Constraints::All,
        totals: made.totals.clone(),
        states: None,
        wanted: Wanted::Queries(vec!["detailed".to_string()]),
        levels: (0..4).collect(),
        areas: AreaSource::None,
        truth: None,
        whole: Some(made.order.clone()),
        incomplete: false,
        // The noisy counts are artificial.
        despite_misfit: true,
    };
    let survey = Survey::open(at, &made.release, settings).map_err(|why| why.to_string())?;
    let mut found = HashMap::new();
    let run = survey.run(
        &mut |subject, answers| {
            if let Subject::Unit { level, code, .. } = subject {
                assert!(answers[0].estimates.iter().all(|count| count.fract() == 0.0));
                found.insert((level, code), answers[0].estimates.iter().map(|count| *count as i64).collect());
            }
            Ok(())
        },
        &|_, _| {},
    );
    run.map(|()| found).map_err(|why| why.to_string())
}

/// Checks every bound, zero, total and sum.
fn check(made: &Made, found: &HashMap<(usize, String), Vec<i64>>, seed: u64) {
    let each = made.cells / made.types;
    for (level, units) in made.units.iter().enumerate() {
        for (code, within) in units {
            let own = &found[&(level, code.clone())];
            assert!(own.len() == made.cells && own.iter().all(|count| *count >= 0), "{seed}: {code}");
            for (kind, cells) in own.chunks(each).enumerate() {
                let sum: i64 = cells.iter().sum();
                let bound = |of: &dyn Fn(&(i64, i64)) -> i64| {
                    within.iter().map(|block| of(&made.bounds[*block][kind])).sum::<i64>()
                };
                let (least, most) = (bound(&|own| own.0), bound(&|own| own.1));
                assert!((least..=most).contains(&sum), "{seed}: {code} {kind}: {sum} of {least} to {most}");
                assert!(kind != 1 || cells[..each / 2].iter().all(|count| *count == 0), "{seed}: {code}: minors");
            }
            if level < 3 {
                let children = made.units[level + 1].iter().filter(|(child, _)| child.starts_with(code.as_str()));
                let mut sum = vec![0; made.cells];
                children.for_each(|(child, _)| {
                    sum.iter_mut().zip(&found[&(level + 1, child.clone())]).for_each(|(sum, own)| *sum += own);
                });
                assert_eq!(*own, sum, "{seed}: {code}");
            }
        }
    }
    for (state, total) in &made.totals {
        let parts = made.units[1].iter().filter(|(code, _)| code[1..] == format!("{state:02}"));
        let sum: i64 = parts.flat_map(|(code, _)| &found[&(1, code.clone())]).sum();
        assert_eq!(sum, *total, "{seed}: state {state}");
    }
}

#[test]
fn every_feasible_folder_made_by_chance_is_solved() {
    let many = std::env::var("ASSAY_FOLDERS").ok().and_then(|many| many.parse().ok()).unwrap_or(100);
    let mut unsolved = Vec::new();
    for seed in 0..many {
        let folder = tempfile::tempdir().unwrap();
        let made = make(folder.path(), seed);
        match solve(folder.path(), &made) {
            Ok(found) => check(&made, &found, seed),
            Err(why) => unsolved.push(format!("{seed}: {why}")),
        }
    }
    println!("{many} folders, {} not solved", unsolved.len());
    assert!(unsolved.is_empty(), "{} of {many}:\n{}", unsolved.len(), unsolved.join("\n"));
}
