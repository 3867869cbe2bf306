//! SafeTab's input: the valid forms of the bureau's files, errors and their messages, and the groups of a person.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use dp_assay::{
    numeric::rational::parse,
    release::Release,
    safetab::{
        groups::{FILES, Iteration, IterationKind, Specification},
        schema::{
            CheckedRecords, Combination, Geography, Granularity, HEADINGS, IterationCode, IterationLevel, Pass,
            Privacy, RaceEthCode, RegionType, Rule, SafeTabConfig, ValidationReport, check_persons,
        },
        synthetic::{Population, write_geography},
    },
    spine::blocks::{Blocks, EntityKind as Entity},
};
use tempfile::TempDir;

use crate::common::numbers::Numbers;

#[path = "../../scripts/make/make-examples.rs"]
mod make_examples;

mod broken;
mod check;
mod groups;
mod in_parquet;
mod rehearsal;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab");
const HOUSEHOLD_EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab-h");

impl Numbers {
    fn shuffle<T>(&mut self, all: &mut [T]) {
        (1..all.len()).for_each(|place| all.swap(place, self.below(place as u64 + 1) as usize));
    }
}

/// The folder of public data; prints a note if it does not exist.
fn facts(folder: &str) -> Option<PathBuf> {
    let found =
        std::env::var_os("ASSAY_FACTS").filter(|path| !path.is_empty()).map(|path| Path::new(&path).join(folder));
    let found = found.filter(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: ASSAY_FACTS does not name a folder of public data with {folder}");
    }
    found
}

/// A copy of the example that may be damaged.
fn copy() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(EXAMPLE).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn read_settings(folder: &Path) -> SafeTabConfig {
    let mut report = ValidationReport::new();
    let config = SafeTabConfig::read(&folder.join("config.json"), &mut report).unwrap();
    report.into_result().unwrap();
    config
}

fn read_specification(folder: &Path, config: &SafeTabConfig) -> Specification {
    let mut report = ValidationReport::new();
    let specification = Specification::read(folder, config, &mut report).unwrap();
    report.into_result().unwrap();
    specification
}

fn read_geography(path: &Path, config: &SafeTabConfig) -> Geography {
    let mut report = ValidationReport::new();
    let geography = Geography::read(path, config, &mut report).unwrap();
    report.into_result().unwrap();
    geography
}

/// All files of a folder except the persons, which must be without violations.
fn read_all(folder: &Path) -> (SafeTabConfig, Specification, Geography) {
    let config = read_settings(folder);
    let specification = read_specification(folder, &config);
    let geography = read_geography(&folder.join("GRF-C.txt"), &config);
    (config, specification, geography)
}

fn check(path: &Path, all: &(SafeTabConfig, Specification, Geography)) -> (CheckedRecords, ValidationReport) {
    let mut report = ValidationReport::new();
    let persons = check_persons(path, &all.0, &all.1, &all.2, &mut report, |_| {});
    (persons, report)
}

fn classes() -> impl Iterator<Item = (Granularity, IterationLevel)> {
    Granularity::ALL.into_iter().flat_map(|granularity| IterationLevel::ALL.map(|level| (granularity, level)))
}

fn code(number: u16) -> RaceEthCode {
    RaceEthCode::new(number).unwrap()
}

#[test]
fn the_example_is_what_its_script_writes() {
    let folder = tempfile::tempdir().unwrap();
    let [persons, households] = ["safetab", "safetab-h"].map(|name| folder.path().join(name));
    make_examples::write_examples(&persons).unwrap();
    make_examples::write_household_examples(&persons, &households).unwrap();
    let names =
        |folder: &Path| -> BTreeSet<_> { fs::read_dir(folder).unwrap().map(|at| at.unwrap().file_name()).collect() };
    for (made, stored) in [(persons, EXAMPLE), (households, HOUSEHOLD_EXAMPLE)] {
        let stored = Path::new(stored);
        assert_eq!(names(&made), names(stored));
        for name in names(&made) {
            assert_eq!(fs::read(made.join(&name)).unwrap(), fs::read(stored.join(&name)).unwrap(), "{name:?}");
        }
    }
}

#[test]
fn the_example_is_without_fault() {
    let folder = Path::new(EXAMPLE);
    let all = read_all(folder);
    let (persons, report) = check(&folder.join("person-records.txt"), &all);
    assert!(report.is_empty(), "{report}");
    assert_eq!(persons.records, 500);
    assert_eq!(persons.united_states + persons.puerto_rico, 500);
    assert!(persons.puerto_rico > 10 && persons.combinations.len() > 30);
    let (config, specification, geography) = all;
    assert_eq!(config.scope().privacy(), Privacy::ZeroConcentrated);
    assert_eq!(config.scope().state_filter_us(), [1, 2]);
    assert_eq!(config.gamma(), &parse("1/10").unwrap());
    assert_eq!(config.budget(RegionType::PrTract, IterationLevel::One), &parse("1/4").unwrap());
    assert_eq!(config.thresholds(RegionType::Aiannh, IterationLevel::Two), [20, 60, 120]);
    for (granularity, level) in classes() {
        assert_eq!(specification.stability(granularity, level), 9);
    }
    // Coarse-only iterations only below the states, detailed-only ones only above.
    let keys = |granularity| {
        let keys = specification.key_set(granularity, IterationLevel::Two);
        keys.iter().map(|key| (key.iteration.number(), key.detailed_only)).collect::<Vec<_>>()
    };
    assert!(
        keys(Granularity::Coarse).contains(&(1022, false)) && !keys(Granularity::Detailed).contains(&(1022, false))
    );
    assert!(keys(Granularity::Detailed).contains(&(1021, true)) && !keys(Granularity::Coarse).contains(&(1021, true)));
    assert_eq!(geography.entities(RegionType::Usa), ["1"]);
    assert_eq!(geography.entities(RegionType::PrPlace), ["7210001"]);
    assert_eq!(geography.entities(RegionType::Aiannh), ["0040", "2415"]);
}

/// Regions by their definition, from the text of a GRF-C.
fn expected_regions(row: &str, region_type: RegionType) -> Option<String> {
    let fields: Vec<&str> = row.split('|').collect();
    let [state, county, tract, _, place, area] = fields[..] else { panic!("{row}") };
    let is_puerto_rico = state == "72";
    let region = match region_type.name().trim_start_matches("PR-") {
        "USA" => "1".to_string(),
        "STATE" => state.to_string(),
        "COUNTY" => format!("{state}{county}"),
        "TRACT" => format!("{state}{county}{tract}"),
        "PLACE" if place == "99999" => return None,
        "PLACE" => format!("{state}{place}"),
        _ if area == "9999" => return None,
        _ => area.to_string(),
    };
    (is_puerto_rico == region_type.name().starts_with("PR-")).then_some(region)
}

#[test]
fn blocks_lie_in_their_regions() {
    let (config, _, geography) = read_all(Path::new(EXAMPLE));
    let text = fs::read_to_string(Path::new(EXAMPLE).join("GRF-C.txt")).unwrap();
    for region_type in RegionType::ALL {
        let mut all = BTreeSet::new();
        for row in text.lines().skip(1) {
            let geoid: u64 = row.split('|').take(4).collect::<String>().parse().unwrap();
            let block = geography.find(geoid).unwrap();
            assert_eq!(geography.geoids()[block as usize], geoid);
            let region = geography.region(block, region_type);
            let region = region.map(|region| geography.entities(region_type)[region as usize].clone());
            assert_eq!(region, expected_regions(row, region_type), "{row} {region_type}");
            all.extend(region);
        }
        assert!(all.iter().eq(geography.entities(region_type)));
        assert_eq!(region_type.name().parse::<RegionType>().unwrap(), region_type);
    }
    assert!(geography.find(10_010_001_001_009).is_none() && geography.find(0).is_none());
    assert!(config.scope().runs(Pass::PuertoRico));
    // States that are not run have blocks but no regions.
    let folder = copy();
    let config = fs::read_to_string(folder.path().join("config.json")).unwrap();
    let config = config.replace("\"01\", \"02\"", "\"02\"").replace("\"run_pr\": true", "\"run_pr\": false");
    fs::write(folder.path().join("config.json"), config).unwrap();
    let all = read_all(folder.path());
    assert_eq!(all.2.len(), geography.len());
    assert_eq!(all.2.entities(RegionType::State), ["02"]);
    assert!(all.2.entities(RegionType::PrTract).is_empty());
    let persons = check(&folder.path().join("person-records.txt"), &all).0;
    assert!(persons.records == 500 && persons.united_states < 300 && persons.puerto_rico == 0);
}

#[test]
fn neither_order_nor_files_nor_line_ends_change_the_combinations() {
    let folder = copy();
    let all = read_all(folder.path());
    let path = folder.path().join("person-records.txt");
    let expected = check(&path, &all).0;
    let text = fs::read_to_string(&path).unwrap();
    let (headings, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    let same = |path: &Path| {
        let (persons, report) = check(path, &all);
        assert!(report.is_empty(), "{report}");
        assert_eq!((persons.records, &persons.combinations), (expected.records, &expected.combinations));
    };
    let mut numbers = Numbers(9);
    for end in ["\n", "\r\n"] {
        numbers.shuffle(&mut rows);
        fs::write(&path, format!("{headings}{end}{}", rows.join(end))).unwrap();
        same(&path);
    }
    fs::write(&path, format!("\u{feff}{headings}\r\n\n{}\r\n\r\n", rows.join("\n\n"))).unwrap();
    same(&path);
    let parts = tempfile::tempdir().unwrap();
    fs::write(parts.path().join("b.csv"), format!("{headings}\n{}\n", rows[..123].join("\n"))).unwrap();
    fs::write(parts.path().join("a.txt"), format!("{headings}\n{}\n", rows[123..].join("\n"))).unwrap();
    fs::write(parts.path().join("notes.md"), "no persons").unwrap();
    same(parts.path());
    // The other files, too.
    for name in ["GRF-C.txt", "config.json"].into_iter().chain(FILES) {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("\u{feff}{}\r\n", text.replace('\n', "\r\n"))).unwrap();
    }
    let again = read_all(folder.path());
    assert_eq!(again.2.geoids(), all.2.geoids());
    assert_eq!(again.1.all_iterations(), all.1.all_iterations());
}

#[test]
fn only_the_first_codes_are_taken_where_fewer_are_allowed() {
    let folder = copy();
    let path = folder.path().join("config.json");
    let config = fs::read_to_string(&path).unwrap().replace("\"max_race_codes\": 8", "\"max_race_codes\": 3");
    fs::write(&path, config).unwrap();
    let all = read_all(folder.path());
    let persons = folder.path().join("one.txt");
    let row = "030|1|False|72|031|050901|2041|02|3010|1010|3010|1020|2010|Null|Null|Null|9990";
    fs::write(&persons, format!("{}\n{row}\n", HEADINGS.join("|"))).unwrap();
    let (found, report) = check(&persons, &all);
    assert!(report.is_empty(), "{report}");
    assert_eq!(found.combinations, [Combination::new([code(1010), code(3010)], code(9990))]);
}
