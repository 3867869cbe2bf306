//! Writes data/examples/safetab: a synthetic nation of two states and Puerto Rico, synthetic groups, and 500 synthetic persons.
//!
//! ```sh
//! cargo run --release --example make-examples -- data/examples/safetab
//! ```

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use dp_assay::safetab::{
    groups::Specification,
    schema::{
        Combination, Geography, Granularity, HouseholdConfig, IterationCode, IterationLevel, RaceEthCode, RegionType,
        SafeTabConfig, ValidationReport,
    },
    synthetic::Population,
};

const PERSONS: u64 = 500;
const HOUSEHOLDS: u64 = 300;
const SEED: u64 = 2020;

/// Codes and their names. Those of the coast are ethnicities.
const CODES: [(u16, &str); 19] = [
    (1000, "Lowland (checkbox)"),
    (1010, "Marsh"),
    (1011, "Eastern marsh"),
    (1020, "Fen"),
    (1030, "Other wetland"),
    (1040, "Dune"),
    (2000, "Highland (checkbox)"),
    (2010, "Ridge"),
    (2020, "Summit"),
    (2021, "Northern summit"),
    (3010, "Reef"),
    (3020, "Atoll"),
    (3030, "Lagoon"),
    (3040, "Skerry"),
    (4000, "Coast (checkbox)"),
    (4010, "Old harbor"),
    (4011, "New harbor"),
    (4020, "Ferry"),
    (9990, "Not of the coast (checkbox)"),
];

/// The levels at which a group is tabulated.
#[derive(Clone, Copy)]
enum Where {
    Everywhere,
    Detailed,
    Coarse,
}
use Where::{Coarse, Detailed, Everywhere};

/// Race groups: the code of the iteration alone (500 more in combination), name, level, granularity, codes.
const RACES: [(u16, &str, u8, Where, &[u16]); 16] = [
    (1001, "Lowland", 0, Everywhere, &[1000, 1010, 1011, 1020, 1030, 1040]),
    (1002, "Highland", 0, Everywhere, &[2000, 2010, 2020, 2021]),
    (1003, "Island", 0, Everywhere, &[3010, 3020, 3030, 3040]),
    (1010, "Wetland", 1, Everywhere, &[1010, 1011, 1020, 1030]),
    (1011, "Sand", 1, Detailed, &[1040]),
    (1012, "Mountain", 1, Everywhere, &[2010, 2020, 2021]),
    (1013, "Archipelago", 1, Everywhere, &[3010, 3020, 3030, 3040]),
    (1020, "Marsh", 2, Everywhere, &[1010, 1011]),
    (1021, "Fen", 2, Detailed, &[1020]),
    (1022, "Other wetland", 2, Coarse, &[1020, 1030]),
    (1023, "Dune", 2, Detailed, &[1040]),
    (1024, "Ridge", 2, Everywhere, &[2010]),
    (1025, "Summit", 2, Everywhere, &[2020, 2021]),
    (1026, "Reef", 2, Everywhere, &[3010]),
    (1027, "Atoll", 2, Everywhere, &[3020]),
    (1028, "Lagoon or skerry", 2, Detailed, &[3030, 3040]),
];

/// Ethnicity groups.
const ETHNICITIES: [(u16, &str, u8, Where, &[u16]); 7] = [
    (1801, "Not of the coast", 0, Everywhere, &[1000, 2000, 9990]),
    (1802, "Of the coast", 0, Everywhere, &[4000, 4010, 4011, 4020]),
    (1810, "Harbor", 1, Everywhere, &[4010, 4011]),
    (1811, "Crossing", 1, Detailed, &[4020]),
    (1820, "Old harbor", 2, Everywhere, &[4010]),
    (1821, "New harbor", 2, Detailed, &[4011]),
    (1822, "Ferry", 2, Everywhere, &[4020]),
];

fn flags(level: u8, place: Where) -> &'static str {
    match place {
        _ if level == 0 => "Null|Null",
        Everywhere => "False|False",
        Detailed => "True|False",
        Coarse => "False|True",
    }
}

/// Two states of two counties each, the last with a single tract, and two tracts of Puerto Rico.
fn geography() -> String {
    let mut text = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE\n".to_string();
    let tracts = [
        (1, 1, 100, 5),
        (1, 1, 201, 4),
        (1, 3, 100, 6),
        (1, 3, 200, 3),
        (2, 1, 100, 5),
        (2, 1, 301, 4),
        (2, 3, 100, 6),
    ];
    for (state, county, tract, blocks) in tracts {
        for block in 0..blocks {
            let place = match (county, block) {
                // A place that is equal to a tract.
                (1, _) if tract == 201 => 22_800,
                (1, 0..=2) => 10_100,
                (3, 1) => 30_500,
                _ => 99_999,
            };
            // An area in both states, and one that is neither a tract nor a county.
            let area = match (tract, block) {
                (200 | 301, _) => 40,
                (100, 4) => 2415,
                _ => 9999,
            };
            text += &format!("{state:02}|{county:03}|{tract:06}|{:04}|{place:05}|{area:04}\n", 1000 + block);
        }
    }
    for (tract, block, place) in [(50_901, 2040, 99_999), (50_901, 2041, 10_001), (50_902, 1000, 10_001)] {
        text += &format!("72|031|{tract:06}|{block:04}|{place:05}|9999\n");
    }
    text
}

fn config() -> String {
    let mut text = "{\n  \"max_race_codes\": 8,\n".to_string();
    for region_type in RegionType::ALL {
        let key = region_type.name().to_lowercase().replace('-', "_");
        let (one, two) = match region_type {
            RegionType::Aiannh => ("0", "0.5"),
            RegionType::Usa | RegionType::State | RegionType::PrState => ("0.25", "2"),
            _ => ("0.25", "0.5"),
        };
        text +=
            &format!("  \"privacy_budget_p_level_1_{key}\": {one},\n  \"privacy_budget_p_level_2_{key}\": {two},\n");
    }
    text += "  \"privacy_budget_p_stage_1_fraction\": 0.1,\n  \"thresholds_p\": {\n";
    let thresholds: Vec<String> = RegionType::ALL
        .iter()
        .flat_map(|region_type| [1, 2].map(|level| format!("    \"({region_type}, {level})\": [20, 60, 120]")))
        .collect();
    text += &thresholds.join(",\n");
    text += "\n  },\n  \"zero_suppression_chance\": 0.9999,\n  \"allow_negative_counts\": false,\n  \"run_us\": true,\n  \
             \"run_pr\": true,\n  \"reader\": \"csv\",\n  \"state_filter_us\": [\"01\", \"02\"],\n  \"privacy_defn\": \"zcdp\"\n}\n";
    text
}

/// Writes all files of the example into a folder.
pub fn write_examples(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).with_context(|| name.to_string());
    let mut races = "ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY\n".to_string();
    let mut map = "ITERATION_CODE|RACE_ETH_CODE\n".to_string();
    for (more, alone, name_end) in [(0, "True", "alone"), (500, "False", "alone or in any combination")] {
        for (code, name, level, place, codes) in RACES {
            races += &format!("{}|{name} {name_end}|{level}|{alone}|{}\n", code + more, flags(level, place));
            codes.iter().for_each(|race| map += &format!("{}|{race}\n", code + more));
        }
    }
    let mut ethnicities = "ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY\n".to_string();
    for (code, name, level, place, codes) in ETHNICITIES {
        ethnicities += &format!("{code}|{name}|{level}|{}\n", flags(level, place));
        codes.iter().for_each(|ethnicity| map += &format!("{code}|{ethnicity}\n"));
    }
    let codes: String = CODES.iter().map(|(code, name)| format!("{code}|{name}\n")).collect();
    put("race-characteristic-iterations.txt", &races)?;
    put("ethnicity-characteristic-iterations.txt", &ethnicities)?;
    put("race-and-ethnicity-codes.txt", &format!("RACE_ETH_CODE|RACE_ETH_NAME\n{codes}"))?;
    put("race-and-ethnicity-code-to-iteration.txt", &map)?;
    put("GRF-C.txt", &geography())?;
    put("config.json", &config())?;

    let mut report = ValidationReport::new();
    let read = SafeTabConfig::read(&folder.join("config.json"), &mut report).and_then(|config| {
        let specification = Specification::read(folder, &config, &mut report);
        specification.zip(Geography::read(&folder.join("GRF-C.txt"), &config, &mut report))
    });
    report.into_result()?;
    let (specification, geography) = read.context("the example is not read")?;
    Population::new(&geography, &specification, SEED)?.write(PERSONS, &folder.join("person-records.txt"), |_| {})?;
    Ok(())
}

/// The configuration of households: both tables have the same budgets and thresholds.
fn household_config() -> String {
    let mut text = "{\n  \"max_race_codes\": 8,\n".to_string();
    for table in ["t3", "t4"] {
        for region_type in RegionType::ALL {
            let key = region_type.name().to_lowercase().replace('-', "_");
            let (one, two) = match region_type {
                RegionType::Aiannh => ("0", "0.5"),
                RegionType::Usa | RegionType::State | RegionType::PrState => ("0.25", "2"),
                _ => ("0.25", "0.5"),
            };
            for (level, budget) in [(1, one), (2, two)] {
                text += &format!("  \"privacy_budget_h_{table}_level_{level}_{key}\": {budget},\n");
            }
        }
    }
    for (table, list) in [("t3", "[50, 150, 300]"), ("t4", "[50]")] {
        let of_type = |kind: &RegionType| [1, 2].map(|level| format!("    \"({kind}, {level})\": {list}"));
        let lines: Vec<String> = RegionType::ALL.iter().flat_map(of_type).collect();
        text += &format!("  \"thresholds_h_{table}\": {{\n{}\n  }},\n", lines.join(",\n"));
    }
    text += "  \"allow_negative_counts\": true,\n  \"run_us\": true,\n  \"run_pr\": true,\n  \"reader\": \"csv\",\n  \
             \"state_filter_us\": [\"01\", \"02\"],\n  \"privacy_defn\": \"zcdp\"\n}\n";
    text
}

/// Synthetic totals T1: three persons for each household of a group, and no total for small groups below the states.
fn totals(records: &str, specification: &Specification, geography: &Geography) -> Result<String> {
    let mut text = "REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT\n".to_string();
    let fields = |row: &str| -> Vec<String> { row.split('|').map(str::to_string).collect() };
    let code = |field: &String| RaceEthCode::read(field.as_bytes());
    let mut households = Vec::new();
    for row in records.lines().skip(1).map(fields) {
        let block = geography.find(row[..4].concat().parse()?).context("a block")?;
        let races: Vec<RaceEthCode> = row[5..13].iter().filter_map(code).collect();
        households.push((block, Combination::new(races, code(&row[13]).context("an ethnicity")?)));
    }
    for region_type in RegionType::ALL {
        let granularity = region_type.granularity();
        for level in IterationLevel::ALL {
            let mut counts: BTreeMap<(u32, IterationCode), i64> = BTreeMap::new();
            let never_suppressed = granularity == Granularity::Detailed;
            for key in specification.key_set(granularity, level).iter().filter(|_| never_suppressed) {
                (0..geography.entities(region_type).len() as u32).for_each(|region| {
                    counts.insert((region, key.iteration), 0);
                });
            }
            for (block, combination) in &households {
                let Some(region) = geography.region(*block, region_type) else { continue };
                for iteration in specification.iterations(combination, granularity, level)? {
                    *counts.entry((region, iteration)).or_default() += 3;
                }
            }
            for ((region, iteration), count) in counts {
                if never_suppressed || count > 9 {
                    let region = &geography.entities(region_type)[region as usize];
                    text += &format!("{region}|{region_type}|{iteration}|{count}\n");
                }
            }
        }
    }
    Ok(text)
}

/// Writes the files of households into a folder; the other files are those of the example of persons.
pub fn write_household_examples(persons: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).with_context(|| name.to_string());
    put("config.json", &household_config())?;
    let mut report = ValidationReport::new();
    let read = HouseholdConfig::read(&folder.join("config.json"), &mut report).and_then(|config| {
        let specification = Specification::read(persons, &config, &mut report);
        specification.zip(Geography::read(&persons.join("GRF-C.txt"), &config, &mut report))
    });
    report.into_result()?;
    let (specification, geography) = read.context("the example is not read")?;
    let records = folder.join("household-records.txt");
    Population::new(&geography, &specification, SEED)?.write_households(HOUSEHOLDS, &records, |_| {})?;
    let records = fs::read_to_string(&records)?;
    put("pop-group-totals.txt", &totals(&records, &specification, &geography)?)
}

#[allow(dead_code)]
fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).context("which folder? For example data/examples/safetab")?;
    let folder = Path::new(&folder);
    write_examples(folder)?;
    write_household_examples(folder, &folder.with_file_name("safetab-h"))
}
