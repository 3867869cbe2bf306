//! A hierarchy that is not the census's: the same spine, noise, estimates and epsilon, with the ids of its own file.

use std::{fs, path::Path};

use serde_json::Value;

use crate::common::in_folder::{done, refused};

const UNITS: &str = "region,district,municipality\nNorth,Fjord,Sund\nNorth,Fjord,Vik\nNorth,Fjord,Nes\nNorth,Highland,Sund\n\
                     South,Coast,Haven\nSouth,Coast,Marsh\nSouth,Capital,Capital\n";

const RELEASE: &str = r#"
name = "norland"
title = "Persons by sex and age"
source = "made up"
neighbors = "add-remove"
rho = "1/4"
attribute = [{ name = "sex", values = ["f", "m"] }, { name = "age", values = ["0-17", "18-64", "65+"] }]
recode = [{ name = "adult", attribute = "age", groups = [["0-17"], ["18-64", "65+"]] }]
level = [
  { name = "country", proportion = "1/10", query = [{ name = "total", proportion = "1/2" }, { name = "detailed", proportion = "1/2" }] },
  { name = "region", proportion = "1/5", query = [{ name = "total", proportion = "1/2" }, { name = "detailed", proportion = "1/2" }] },
  { name = "district", proportion = "3/10", query = [{ name = "adult", proportion = "1/2" }, { name = "detailed", proportion = "1/2" }] },
  { name = "municipality", proportion = "2/5", query = [{ name = "adult", proportion = "1/2" }, { name = "detailed", proportion = "1/2" }] },
]
"#;

fn counts() -> String {
    let mut text = "region,district,municipality,sex,age,count\n".to_string();
    for (row, unit) in UNITS.lines().skip(1).enumerate() {
        for (column, cell) in ["f,0-17", "f,18-64", "f,65+", "m,0-17", "m,18-64", "m,65+"].iter().enumerate() {
            text += &format!("{unit},{cell},{}\n", 7 * row * row + 31 * column);
        }
    }
    text
}

fn country() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("units.csv", UNITS);
    put("release.toml", RELEASE);
    put("plan.toml", "release = \"release.toml\"\n");
    put("counts.csv", &counts());
    folder
}

const SPINE: [&str; 7] = ["spine", "--hierarchy", "units.csv", "--plan", "plan.toml", "--out", "spine"];
const MEASURE: [&str; 11] = [
    "measure",
    "--spine",
    "spine",
    "--counts",
    "counts.csv",
    "--release",
    "release.toml",
    "--out",
    "noisy",
    "--insecure-seed",
    "5",
];
const ESTIMATE: [&str; 9] =
    ["estimate", "--spine", "spine", "--measurements", "noisy", "--release", "release.toml", "--out", "estimates"];

/// The rows of a CSV, without its heading.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.records().map(|record| record.unwrap().iter().map(String::from).collect()).collect()
}

/// Writes the inputs of the same tree twice: with GEOIDs as census-*, with ids as own-*.
fn write_both(folder: &Path) {
    let (mut own, mut blocks) =
        ("nation,state,county,tract,group,block,place\n".to_string(), "block,place\n".to_string());
    let mut census_counts = "block,h1,count\n".to_string();
    let mut own_counts = "block,h1,count\n".to_string();
    for (at, (county, tract, block)) in
        [(1, 1, 1000), (1, 1, 1001), (1, 1, 1002), (1, 1, 1003), (1, 2, 1000), (1, 2, 1001), (3, 1, 1000)]
            .iter()
            .enumerate()
    {
        let geoid = format!("44{county:03}{tract:06}{block}");
        blocks += &format!("{geoid},1\n");
        own += &format!("here,RI,c{county},c{county}t{tract},g{county}{tract},b{geoid},x\n");
        for (h1, count) in [("occupied", 17 * at + 3), ("vacant", at)] {
            census_counts += &format!("{geoid},{h1},{count}\n");
            own_counts += &format!("b{geoid},{h1},{count}\n");
        }
    }
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let release = done(folder, &["releases", "--show", "pl94-units-us"]);
    let mut renamed = release.clone();
    for (from, to) in [
        ("US", "nation"),
        ("State", "state"),
        ("County", "county"),
        ("Tract", "tract"),
        ("Block_Group", "group"),
        ("Block", "block"),
    ] {
        renamed = renamed.replace(&format!("\"{from}\""), &format!("\"{to}\""));
    }
    put("own.csv", &own);
    put("blocks.csv", &blocks);
    put("census-release.toml", &release);
    put("own-release.toml", &renamed);
    put("census-counts.csv", &census_counts);
    put("own-counts.csv", &own_counts);
    put("census-plan.toml", "settings = \"redistricting-units\"\nrelease = \"census-release.toml\"\n");
    put("own-plan.toml", "release = \"own-release.toml\"\n");
}

/// The same tree with GEOIDs and with ids: the same shares, epsilon, noise under one seed, estimates and variances.
#[test]
fn a_hierarchy_of_ones_own_is_measured_as_the_census_is() {
    let folder = tempfile::tempdir().unwrap();
    write_both(folder.path());
    let run = |kind: &str, units: [&str; 2]| {
        let name = |what: &str| format!("{kind}-{what}");
        let (plan, release) = (name("plan.toml"), name("release.toml"));
        let (spine, noisy, out) = (name("spine"), name("noisy"), name("estimates"));
        let built = ["spine", units[0], units[1], "--plan", &plan, "--out", &spine, "--delta", "1e-10", "--json"];
        let built: Value = serde_json::from_str(&done(folder.path(), &built)).unwrap();
        let counts = name("counts.csv");
        let measure = ["measure", "--spine", &spine, "--counts", &counts, "--release", &release, "--out", &noisy];
        done(folder.path(), &[&measure[..], &["--insecure-seed", "9"]].concat());
        let estimate = ["estimate", "--spine", &spine, "--measurements", &noisy, "--release", &release, "--out", &out];
        done(folder.path(), &[&estimate[..], &["--queries", "detailed"]].concat());
        built
    };
    let census = run("census", ["--blocks", "blocks.csv"]);
    let own = run("own", ["--hierarchy", "own.csv"]);
    assert_eq!(census["epsilon"], own["epsilon"]);
    let variances = |built: &Value| -> Vec<Value> {
        built["levels"].as_array().unwrap().iter().map(|level| level["variance"].clone()).collect()
    };
    assert_eq!(variances(&census), variances(&own));
    // All columns except the level and the id: level, unit, id, estimate, variance, margin, count.
    let without = |file: String, from: usize| -> Vec<Vec<String>> {
        rows(&folder.path().join(file)).into_iter().map(|row| row[from..].to_vec()).collect()
    };
    assert_eq!(without("census-estimates/totals.csv".into(), 3), without("own-estimates/totals.csv".into(), 3));
    let (census, own) =
        (without("census-estimates/estimates.csv".into(), 3), without("own-estimates/estimates.csv".into(), 3));
    assert!(census == own && census.len() == 20);
}

/// Counts of a query that has no recode: the sum over `detailed` by one estimator, and the total by the other.
#[test]
fn estimates_with_recodes_answer_every_query_and_hold_the_truth() {
    let folder = country();
    let at = folder.path();
    done(at, &SPINE);
    done(at, &MEASURE);
    let queries =
        ["--queries", "total", "sex * adult", "--level", "country", "region", "district", "municipality", "--json"];
    let said: Value =
        serde_json::from_str(&done(at, &[&ESTIMATE[..], &queries, &["--truth", "counts.csv"]].concat())).unwrap();
    // Every level and query, with errors as large as the margins predict.
    let errors = said["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 8);
    for row in errors {
        let (error, deviation) = (row["mean_absolute_error"].as_f64().unwrap(), row["mean_std_dev"].as_f64().unwrap());
        assert!(error > 0.0 && error < 3.0 * deviation, "{row}");
    }
    let found = rows(&at.join("estimates/estimates.csv"));
    let number = |row: &[String], at: usize| row[at].parse::<f64>().unwrap();
    // Children sum to their parents, in each cell.
    let sum = |level: &str, query: &str, cell: &str| -> f64 {
        let same = found.iter().filter(|row| row[0] == level && row[3] == query && row[4] == cell);
        same.map(|row| number(row, row.len() - 4)).sum()
    };
    for (query, cell) in [("total", "0"), ("sex * adult", "0"), ("sex * adult", "3")] {
        let root = sum("country", query, cell);
        for level in ["region", "district", "municipality"] {
            assert!((sum(level, query, cell) - root).abs() < 1e-6, "{level} {query} {cell}");
        }
    }
    // An area of one whole district has the estimate and variance of the district; an area of all units has those of the country.
    let areas = "area,district,municipality\nF,Fjord,Sund\nF,Fjord,Vik\nF,Fjord,Nes\n";
    let everything: String = UNITS.lines().skip(1).map(|unit| format!("all,{}\n", &unit[6..])).collect();
    fs::write(at.join("areas.csv"), format!("{areas}{everything}")).unwrap();
    let mut words = ESTIMATE.to_vec();
    words[8] = "sums";
    done(at, &[&words[..], &["--areas", "areas.csv"]].concat());
    let areas = rows(&at.join("sums/areas.csv"));
    for (area, id) in [(&areas[0], "Fjord"), (&areas[1], "")] {
        let unit = found.iter().find(|row| row[2] == id && row[3] == "total").unwrap();
        for column in 0..4 {
            let (a, b) = (number(area, area.len() - 4 + column), number(unit, unit.len() - 4 + column));
            assert!((a - b).abs() < 1e-7 * b.abs().max(1.0), "{area:?} {unit:?}");
        }
    }
    // Written files can be read again.
    let mut again = MEASURE.to_vec();
    (again[4], again[8]) = ("estimates/counts.csv", "again");
    done(at, &again);
}

/// Both estimators agree if no recode is requested.
#[test]
fn both_estimators_agree_without_recodes() {
    let folder = country();
    let at = folder.path();
    let release = RELEASE.replace("query = [{ name = \"adult\"", "query = [{ name = \"age\"");
    fs::write(at.join("release.toml"), release).unwrap();
    for (privacy, epsilon) in [("", &[][..]), ("pure", &["--epsilon", "2"][..])] {
        let plan = match privacy {
            "" => "release = \"release.toml\"\n".to_string(),
            _ => {
                let levels = [("country", "1/10"), ("region", "1/5"), ("district", "3/10"), ("municipality", "2/5")];
                let level =
                    |(name, share): &(&str, &str)| format!("[[level]]\nname = \"{name}\"\nproportion = \"{share}\"\n");
                let levels: String = levels.iter().map(level).collect();
                format!("privacy = \"pure\"\nbypass_cutoff = 5\n{levels}")
            }
        };
        fs::write(at.join("plan.toml"), plan).unwrap();
        let named = |words: &[&'static str], out: usize, names: [&'static str; 3]| {
            let mut words = words.to_vec();
            words[2] = names[0];
            words[out] = names[1];
            if out == 8 && words[0] == "estimate" {
                words[4] = names[2];
            }
            words
        };
        let mut spine = SPINE.to_vec();
        let names = if privacy.is_empty() { ["s", "m", "e"] } else { ["ps", "pm", "pe"] };
        spine[6] = names[0];
        done(at, &spine);
        done(at, &[&named(&MEASURE, 8, [names[0], names[1], ""]), epsilon].concat());
        let estimate = named(&ESTIMATE, 8, [names[0], names[2], names[1]]);
        let levels = ["--level", "country", "region", "district", "municipality"];
        done(at, &[&estimate, epsilon, &levels[..]].concat());
        let totals = rows(&at.join(names[2]).join("totals.csv"));
        let mut found = rows(&at.join(names[2]).join("estimates.csv"));
        let order = |row: &Vec<String>| {
            let level = levels.iter().position(|level| *level == row[0]).unwrap();
            (level, row[1].parse::<usize>().unwrap())
        };
        found.sort_by_key(order);
        // Under pure differential privacy units are split into parts with one id.
        let units = if privacy.is_empty() { 14 } else { 20 };
        assert_eq!((totals.len(), found.len()), (units, units), "{privacy}");
        for (total, own) in totals.iter().zip(&found) {
            let number = |text: &String| text.parse::<f64>().unwrap();
            assert_eq!(total[..3], own[..3]);
            // One estimator weights by the proxies of the noise, the other by its variances, which are nearly equal for Gaussian noise.
            let apart = if privacy.is_empty() { 1e-3 } else { 0.05 * number(&own[7]) };
            assert!((number(&total[3]) - number(&own[5])).abs() < apart, "{total:?} {own:?}");
            // The certified variance is that of the proxies, slightly above the true one.
            let deviation = number(&own[7]);
            let (upper, own) = (number(&total[4]), number(&own[6]));
            assert!(
                (number(&total[5]) - upper.sqrt()).abs() <= 5e-4 && number(&total[5]) + 5e-4 >= deviation,
                "{total:?}"
            );
            assert!(own <= upper * (1.0 + 1e-6) && own > 0.9 * upper, "{own} {upper}");
        }
    }
}

#[test]
fn without_bypassing_every_unit_has_its_own_share() {
    let folder = country();
    let at = folder.path();
    done(at, &SPINE);
    let carried = |file: &str, column: usize| -> Vec<String> {
        rows(&at.join("spine").join(file)).into_iter().map(|row| row[column].clone()).collect()
    };
    assert_eq!(carried("units.csv", 5), ["1", "1", "1", "1", "2", "1", "2"]);
    fs::write(at.join("plan.toml"), "release = \"release.toml\"\nbypass = false\n").unwrap();
    done(at, &SPINE);
    assert_eq!(carried("units.csv", 5), ["1"; 7]);
    assert_eq!(carried("blocks.csv", 2), ["1"; 7]);
    assert_eq!(carried("units.csv", 7), ["", "North", "South", "Fjord", "Highland", "Coast", "Capital"]);
    done(at, &MEASURE);
    // Ids that occur under several units are shown with these units.
    let text = fs::read_to_string(at.join("noisy/3-municipality/1-detailed.csv")).unwrap();
    assert!(text.contains("\n0,North/Fjord/Sund,") && text.contains("\n3,North/Highland/Sund,"), "{text}");
}

#[test]
fn inconsistent_files_are_refused_with_their_place() {
    let folder = country();
    let at = folder.path();
    let with = |name: &str, text: &str, words: &[&str], says: &str| {
        let kept = fs::read(at.join(name)).unwrap();
        fs::write(at.join(name), text).unwrap();
        refused(at, words, says);
        fs::write(at.join(name), kept).unwrap();
    };
    with(
        "units.csv",
        "region,distrikt,municipality\n",
        &SPINE,
        "unknown column \"district\", did you mean \"distrikt\"?",
    );
    with(
        "units.csv",
        &UNITS.replace("region,", "country,region,").replace("South,Coast,H", "B,South,Coast,H"),
        &SPINE,
        "line 2",
    );
    let two_roots = "country,region,district,municipality\nA,r,d,m\nB,r,d,n\n";
    with("units.csv", two_roots, &SPINE, "units.csv, line 3, column 1: the second \"B\" beside \"A\"");
    with(
        "units.csv",
        &format!("{UNITS}North,Fjord,Vik\n"),
        &SPINE,
        "units.csv, line 9, column 3: the municipality \"Vik\" occurs twice",
    );
    with("units.csv", "region,district,municipality\nNorth,,Vik\n", &SPINE, "is no id of a district");
    with("units.csv", "region,district,municipality\n", &SPINE, "the file has no unit");
    with("plan.toml", "settings = \"dhc\"\n", &SPINE, "settings");
    let own = |text: &str| {
        format!(
            "{text}\n[[level]]\nname = \"country\"\nproportion = 0.5\n[[level]]\nname = \"region\"\nproportion = 0.5\n"
        )
    };
    with("plan.toml", &own("privacy = \"pure\""), &SPINE, "needs bypass_cutoff");
    with("plan.toml", &own("bypass_cutoff = 3"), &SPINE, "goes with privacy = \"pure\"");
    with("plan.toml", &own("").replace("region", "country"), &SPINE, "occurs twice");
    with("plan.toml", &own("").replacen("0.5", "0.6", 1), &SPINE, "exactly 1");
    refused(at, &[&SPINE[..], &["--blocks", "units.csv"]].concat(), "cannot be used with");
    done(at, &SPINE);
    let first = "region,district,municipality,sex,age,count\n";
    with("counts.csv", "municipality,sex,age,count\nVik,f,0-17,1\n", &MEASURE, "columns of region or district");
    with(
        "counts.csv",
        &format!("{first}North,Fjord,Vyk,f,0-17,1\n"),
        &MEASURE,
        "\"North/Fjord/Vyk\" is not on the spine",
    );
    let twice = format!("{first}North,Fjord,Vik,f,0-17,1\nNorth,Fjord,Vik,f,0-17,2\n");
    with("counts.csv", &twice, &MEASURE, "this cell of the unit North/Fjord/Vik occurs twice: first in line 2");
    let confused = RELEASE.replace("name = \"sex\"", "name = \"region\"");
    with("release.toml", &confused, &MEASURE, "\"region\" is a level and an attribute");
    refused(at, &[&MEASURE[..], &["--files", "nmf"]].concat(), "digits of census blocks");
    assert!(!at.join("noisy").exists());
    // Inconsistent files of the spine.
    let units = fs::read_to_string(at.join("spine/blocks.csv")).unwrap();
    with("spine/blocks.csv", &units.replace("1,Vik", "1,Sund"), &MEASURE, "the unit 1 has the ids of unit 0");
    with("spine/blocks.csv", &units.replace("id", "block"), &MEASURE, "unknown column \"id\"");
    done(at, &MEASURE);
    refused(at, &[&ESTIMATE[..], &["--queries", "income"]].concat(), "income");
    refused(at, &[&ESTIMATE[..], &["--level", "parish"]].concat(), "parish");
    refused(at, &[&ESTIMATE[..], &["--constraints", "none"]].concat(), "--constraints goes with `assay nmf estimate`");
    assert!(!at.join("estimates").exists());
}
