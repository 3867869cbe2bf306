//! Noisy measurement files in the Bureau's layout: reading them, and estimates compared with dense least squares.

use std::{collections::BTreeMap, fs, path::Path};

use dp_assay::{
    release::Release,
    topdown::nmf::{
        answers::{Answer, Areas, Subject},
        survey::{AreaSource, Settings, Survey, Wanted},
        units::Constraints,
    },
};

use crate::common::facts;

const FIXTURES: [(&str, &str); 3] =
    [("mini", "US_Person_PL_PROD"), ("tiny", "US_Person_PL_PROD"), ("tiny-pr", "PR_Person_PL_PROD")];

/// The release of a fixture, with the selections named by its constraints.
fn release_of(folder: &Path, name: &str) -> Release {
    let file = folder.join("release.toml");
    let mut text = fs::read_to_string(&file).unwrap();
    let nursing = if name == "mini" { "3" } else { "2" };
    for (selection, attribute, value) in [("gqNursingTotal", "hhgq", nursing), ("nonvoting", "votingage", "0")] {
        text +=
            &format!("\n[[selection]]\nname = \"{selection}\"\nattribute = \"{attribute}\"\nvalues = [\"{value}\"]\n");
    }
    Release::parse(&text, "release.toml").unwrap()
}

fn totals(folder: &Path) -> BTreeMap<u32, i64> {
    let text = fs::read_to_string(folder.join("state-totals.csv")).unwrap();
    let line = |line: &str| {
        let (state, total) = line.split_once(',').unwrap();
        (state.parse().unwrap(), total.parse().unwrap())
    };
    text.lines().skip(1).map(line).collect()
}

/// All queries of all levels.
fn all_queries(release: &Release) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for query in release.levels.iter().flat_map(|level| &level.queries) {
        if !names.contains(&query.name) {
            names.push(query.name.clone());
        }
    }
    names
}

/// Every answer by constraint set, level (or `area`), code or name, query and cell.
type Found = BTreeMap<(String, String, String, usize), (f64, f64)>;

fn estimate(folder: &Path, release: &Release, constraints: Constraints, areas: AreaSource) -> Found {
    let with_areas = !matches!(areas, AreaSource::None);
    let settings = Settings {
        constraints,
        totals: totals(folder),
        states: None,
        wanted: Wanted::Queries(all_queries(release)),
        levels: if with_areas { Vec::new() } else { (0..release.levels.len()).collect() },
        areas,
        truth: None,
        whole: None,
        incomplete: false,
        despite_misfit: false,
    };
    let survey = Survey::open(folder, release, settings).unwrap();
    let names: Vec<String> = survey.answers.names().iter().map(|name| (*name).to_string()).collect();
    let mut found = Found::new();
    let mut take = |subject: Subject, answers: Vec<Answer>| {
        let (level, code) = match subject {
            Subject::Unit { level, code, .. } => (release.levels[level].name.clone(), code),
            Subject::Area(name) => (String::new(), name),
        };
        for answer in answers {
            let both = answer.estimates.iter().zip(&answer.variances).enumerate();
            for (cell, (estimate, variance)) in both {
                let key = (level.clone(), code.clone(), names[answer.query].clone(), cell);
                assert!(found.insert(key, (*estimate, *variance)).is_none());
            }
        }
        Ok(())
    };
    survey.run(&mut take, &|_, _| ()).unwrap();
    found
}

const SETS: [(&str, Constraints); 3] =
    [("none", Constraints::None), ("state-totals", Constraints::Totals), ("all", Constraints::All)];

/// Estimates within 1e-9 standard deviations and variances within 1e-9 of the dense ones.
fn compare(found: &Found, expected: &str, set: &str, columns: usize) -> usize {
    let (mut compared, mut worst) = (0, (0.0_f64, 0.0_f64));
    for line in expected.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] != set {
            continue;
        }
        let at = columns;
        let level = if at == 2 { cells[1] } else { "" };
        let key = (level.to_string(), cells[at].to_string(), cells[at + 1].to_string(), cells[at + 2].parse().unwrap());
        let (estimate, variance): (f64, f64) = (cells[at + 4].parse().unwrap(), cells[at + 5].parse().unwrap());
        let (own, own_variance) = found.get(&key).unwrap_or_else(|| panic!("{set}: no {key:?}"));
        if variance < 1e-9 {
            assert!(*own_variance == 0.0, "{set} {key:?}: {own_variance}");
            assert!((own - estimate).abs() < 1e-7, "{set} {key:?}: {own} for {estimate}");
        } else {
            worst.0 = worst.0.max((own - estimate).abs() / variance.sqrt());
            worst.1 = worst.1.max((own_variance / variance - 1.0).abs());
        }
        compared += 1;
    }
    println!("{set}: {compared} rows, at most {:.1e} standard deviations and {:.1e} of a variance", worst.0, worst.1);
    assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{set}: {worst:?}");
    compared
}

#[test]
fn estimates_are_those_of_dense_least_squares_on_all_fixtures() {
    let Some(facts) = facts::folder("nmf") else { return };
    for (name, _) in FIXTURES {
        let folder = facts.join(name);
        let release = release_of(&folder, name);
        let expected = fs::read_to_string(folder.join("expected-gls.csv")).unwrap();
        let mut compared = 0;
        for (set, constraints) in SETS {
            println!("{name}");
            let found = estimate(&folder, &release, constraints, AreaSource::None);
            compared += compare(&found, &expected, set, 2);
        }
        assert_eq!(compared, expected.lines().count() - 1);
    }
}

#[test]
fn areas_have_the_variances_of_dense_least_squares() {
    let Some(facts) = facts::folder("nmf") else { return };
    for (name, _) in FIXTURES {
        let folder = facts.join(name);
        let release = release_of(&folder, name);
        let expected = fs::read_to_string(folder.join("expected-areas.csv")).unwrap();
        let areas = Areas::read(&folder.join("areas.csv")).unwrap();
        let mut compared = 0;
        for (set, constraints) in SETS {
            println!("{name}");
            let found = estimate(&folder, &release, constraints, AreaSource::Given(areas.clone()));
            compared += compare(&found, &expected, set, 1);
        }
        assert_eq!(compared, expected.lines().count() - 1);
    }
}
