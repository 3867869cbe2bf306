//! Estimates by census variable codes: the same as those of the tables, sums that add up, forms, names, and refusals.

use std::{collections::BTreeMap, fs};

use dp_assay::topdown::nmf::codes::book::{CodeBook, Product};

use crate::common::{
    estimates::{self, Row},
    nmf_desk::{Desk, example},
    program::{assay, json, refusal},
};

/// The estimate and the margin of each place and variable.
fn by_variable(rows: &[Row]) -> BTreeMap<String, (f64, f64)> {
    let row = |row: &Row| (row.key(&["GEOID", "variable"]), (row.number("estimate"), row.number("moe_95")));
    let found: BTreeMap<_, _> = rows.iter().map(row).collect();
    assert_eq!(found.len(), rows.len());
    found
}

#[test]
fn all_variables_are_the_lines_of_the_bureaus_tables_and_add_up() {
    let desk = Desk::new();
    let all = desk.run("all.csv", &["--variables", "all"]);
    assert!(all.starts_with("GEOID,NAME,variable,label,estimate (insecure seed 2020),moe_95,level\n"));
    let rows = estimates::rows(&all);
    let found = by_variable(&rows);
    let bureau = desk.run("bureau.csv", &["--files", "bureau"]);
    let lines: Vec<Vec<&str>> = bureau.lines().skip(1).map(|line| line.split('|').collect()).collect();
    assert_eq!(lines.len(), rows.len());
    for line in &lines {
        let (table, number) = (&line[1][3..4], &line[1][5..]);
        let own = found[&format!("{},P{table}_{number}N", line[0])];
        let (estimate, deviation): (f64, f64) = (line[2].parse().unwrap(), line[3].parse().unwrap());
        assert!((own.0 - estimate).abs() < 1e-9, "{line:?}");
        assert!((own.1 - 1.959_963_984_540_054 * deviation).abs() <= 1e-12 * own.1, "{line:?}");
    }
    let book = CodeBook::of_product(Product::Persons).unwrap();
    let mut compared = 0;
    for geoid in ["09", "44", "44003", "44001000100"] {
        for code in &book.codes {
            let below = book.codes.iter().filter(|below| below.parent == code.name);
            let parts: Vec<f64> = below.map(|below| found[&format!("{geoid},{}", below.name)].0).collect();
            if !parts.is_empty() {
                let whole = found[&format!("{geoid},{}", code.name)].0;
                assert!((parts.iter().sum::<f64>() - whole).abs() < 1e-7, "{geoid} {}", code.name);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 4 * 37);
}

#[test]
fn wide_form_and_confidence_levels_hold_the_same_numbers() {
    let desk = Desk::new();
    let towns = example("towns.csv");
    for options in [&["--tabulation", "County", "Block_Group"][..], &["--level", "US", "Tract"], &["--areas", &towns]] {
        let variables = ["--variables", "P1_001N,P2_005N", "P5_008N", "--confidence", "95,90", "--confidence", "99.9"];
        let long = desk.rows("long.csv", &[&variables[..], options].concat());
        let text = desk.run("wide.csv", &[&variables[..], &["--wide"], options].concat());
        let heading = text.lines().next().unwrap();
        assert!(
            heading.ends_with("P5_008N (insecure seed 2020),P5_008N_moe_95,P5_008N_moe_90,P5_008N_moe_99.9"),
            "{heading}"
        );
        let wide = estimates::rows(&text);
        assert_eq!(long.len(), 3 * wide.len());
        for (at, row) in long.iter().enumerate() {
            let (place, code) = (&wide[at / 3], row.get("variable"));
            let about = ["GEOID", "NAME", "level", "geocode", "part"];
            assert_eq!(row.key(&about), place.key(&about));
            assert_eq!(row.get("estimate"), place.get(code));
            for level in ["moe_95", "moe_90", "moe_99.9"] {
                assert_eq!(row.get(level), place.get(&format!("{code}_{level}")));
            }
            let (usual, ninety) = (row.number("moe_95"), row.number("moe_90"));
            // 1.6448536 / 1.9599640, and 3.2905267 / 1.9599640.
            assert!((ninety - 0.839_226_455 * usual).abs() <= 1e-8 * usual, "{ninety} {usual}");
            assert!((row.number("moe_99.9") - 1.678_871_019 * usual).abs() <= 1e-8 * usual);
        }
    }
}

/// Intervals that respect that no count is negative: those of the margins far from zero, else from zero on, and never empty.
#[test]
fn intervals_without_negative_counts_stand_beside_the_margins() {
    let desk = Desk::new();
    let options = ["--variables", "P5", "P1_001N", "--tabulation", "Block", "--confidence", "95,90", "--non-negative"];
    let text = desk.run("own.csv", &options);
    assert!(text.contains(",moe_95,lower_95,upper_95,moe_90,lower_90,upper_90,level"), "{text}");
    let (mut far, mut negative) = (0, 0);
    for row in estimates::rows(&text) {
        let (estimate, margin) = (row.number("estimate"), row.number("moe_95"));
        let (lower, upper) = (row.number("lower_95"), row.number("upper_95"));
        assert!(
            0.0 <= lower && lower <= upper && (margin == 0.0 || lower < upper),
            "{}",
            row.key(&["GEOID", "variable"])
        );
        if margin == 0.0 {
            continue;
        }
        assert!(row.number("upper_90") < upper && row.number("lower_90") >= lower);
        if estimate >= 2.0 * margin {
            far += 1;
            approx::assert_relative_eq!(lower, estimate - margin, max_relative = 1e-9);
            approx::assert_relative_eq!(upper, estimate + margin, max_relative = 1e-9);
        } else if estimate < 0.0 {
            negative += 1;
            assert!(lower == 0.0 && upper < margin);
        }
    }
    assert!(far > 5 && negative > 10, "{far} {negative}");
}

/// A block group of tabulation is the set of its blocks, not a block group of the optimized spine.
#[test]
fn block_groups_of_tabulation_are_their_blocks() {
    let desk = Desk::new();
    let blocks = fs::read_to_string(example("counts.csv")).unwrap();
    let mut own: Vec<&str> =
        blocks.lines().filter_map(|line| line.get(..15)).filter(|id| id.starts_with("440010001002")).collect();
    own.dedup();
    assert!(own.len() > 1, "{own:?}");
    let lines: String = own.iter().map(|block| format!("Own,{block}\n")).collect();
    let areas = desk.file("areas.csv", &format!("area,block\n{lines}"));
    let area = by_variable(&desk.rows("area.csv", &["--variables", "P2_002N", "--areas", &areas]));
    let group = by_variable(&desk.rows("group.csv", &["--variables", "P2_002N", "--tabulation", "Block_Group"]));
    let (area, group) = (area["Own,P2_002N"], group["440010001002,P2_002N"]);
    assert!((area.0 - group.0).abs() < 1e-8 && (area.1 - group.1).abs() < 1e-9 * group.1, "{area:?} {group:?}");
}

#[test]
fn places_have_the_names_that_are_known() {
    let desk = Desk::new();
    let names = desk.file("names.csv", "GEOID,NAME\n44003,\"Kent County, Rhode Island\"\nMillbridge,Millbridge town\n");
    let tracts = ["--variables", "P1_001N", "--names", &names, "--tabulation", "State", "County", "Tract"];
    let rows = desk.rows("tracts.csv", &tracts);
    let name =
        |rows: &[Row], geoid: &str| rows.iter().find(|row| row.get("GEOID") == geoid).unwrap().get("NAME").to_string();
    assert_eq!(name(&rows, "09"), "Connecticut");
    assert_eq!(name(&rows, "44003000100"), "Census Tract 1, Kent County, Rhode Island");
    assert_eq!((name(&rows, "44001").as_str(), name(&rows, "44001000100").as_str()), ("", ""));
    let towns =
        desk.rows("towns.csv", &["--variables", "P1_001N", "--names", &names, "--areas", &example("towns.csv")]);
    assert_eq!((name(&towns, "Millbridge").as_str(), name(&towns, "Old Harbor").as_str()), ("Millbridge town", ""));
    let nation = desk.rows("nation.csv", &["--variables", "P1_001N", "--level", "US"]);
    assert_eq!((nation[0].get("GEOID"), nation[0].get("NAME")), ("1", "United States"));
    // The parts of a state have one GEOID, and columns that tell them apart.
    let parts = desk.rows("parts.csv", &["--variables", "P1_001N", "--level", "State"]);
    let parts: Vec<String> = parts.iter().map(|row| row.key(&["GEOID", "geocode", "part"])).collect();
    assert_eq!(parts, ["09,009,", "44,044,non-AIAN", "44,144,AIAN"]);
    let others = desk.file("others.csv", "GEOID,NAME\n36001,Albany County\n");
    assert!(desk.refused(&["--variables", "P1_001N", "--names", &others]).contains("none of its 1 names"));
}

#[test]
fn housing_units_come_from_their_own_product() {
    let mut desk = Desk::new();
    let blocks = fs::read_to_string(example("counts.csv")).unwrap();
    let mut own: Vec<&str> = blocks.lines().skip(1).filter_map(|line| line.get(..15)).collect();
    own.dedup();
    let count = |(at, block): (usize, &&str)| format!("{block},occupied,{}\n{block},vacant,{}\n", 20 + at % 7, at % 4);
    let lines: String = own.iter().enumerate().map(count).collect();
    let counts = desk.file("counts.csv", &format!("block,h1,count\n{lines}"));
    let plan = fs::read_to_string(example("plan.toml")).unwrap().replace("persons", "units");
    let plan = desk.file("plan.toml", &plan);
    let (spine, out) = (desk.path("spine").display().to_string(), desk.path("US_Unit_PL_PROD").display().to_string());
    assay(&["spine", "--blocks", &example("blocks.csv"), "--plan", &plan, "--out", &spine]).assert().success();
    desk.release = "pl94-units-us";
    let draw = ["measure", "--spine", &spine, "--counts", &counts, "--files", "nmf", "--release", desk.release];
    assay(&[&draw[..], &["--out", &out, "--insecure-seed", "59"]].concat()).assert().success();
    desk.nmf = out;
    let rows = desk.rows("units.csv", &["--variables", "H1", "--tabulation", "State", "County"]);
    let found = by_variable(&rows);
    assert_eq!(rows[1].get("label"), "Total:!!Occupied");
    let truth = |state: &str, kind: &str| -> f64 {
        let own = lines.lines().filter(|line| line.starts_with(state) && line.contains(kind));
        own.map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    for state in ["09", "44"] {
        let of = |code: &str| found[&format!("{state},{code}")];
        let (all, occupied, vacant) = (of("H1_001N"), of("H1_002N"), of("H1_003N"));
        assert!((all.0 - occupied.0 - vacant.0).abs() < 1e-8);
        for ((estimate, margin), kind) in [(occupied, ",occupied,"), (vacant, ",vacant,")] {
            assert!((estimate - truth(state, kind)).abs() <= 2.5 * margin, "{state} {kind} {estimate} {margin}");
        }
    }
    assert!(desk.refused(&["--variables", "P1_001N"]).contains("pl94-persons-us"));
    assert!(desk.refused(&["--files", "bureau"]).contains("housing units"));
}

#[test]
fn parts_and_comparisons_understand_the_form() {
    let desk = Desk::new();
    let options = ["--variables", "P1,P5", "--tabulation", "County", "--confidence", "90"];
    let one = desk.run("one.csv", &options);
    let work = desk.path("work").display().to_string();
    for _ in 0..2 {
        for part in ["1/2", "2/2"] {
            let words = desk.words("parts.csv", &[&options[..], &["--work", &work, "--part", part]].concat());
            assay(&words.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
        }
    }
    assert_eq!(desk.run("parts.csv", &[&options[..], &["--work", &work, "--combine"]].concat()), one);
    let other = ["--variables", "P1", "--tabulation", "County", "--work", &work, "--combine"];
    assert!(desk.refused(&other).contains("another job"));
    // Margins of another level are other numbers of the same standard deviations.
    desk.run("usual.csv", &["--variables", "P5", "--tabulation", "State", "County"]);
    let [one, usual] = ["one.csv", "usual.csv"].map(|name| desk.path(name).display().to_string());
    let answer = json(&["nmf", "compare", &one, &usual]);
    assert_eq!(answer["rows"], 30);
    let ratios = answer["std_dev_ratio"].as_array().unwrap();
    assert!(ratios.iter().all(|ratio| (ratio["value"].as_f64().unwrap() - 1.0).abs() < 1e-12), "{ratios:?}");
}

#[test]
fn what_is_not_understood_is_refused_and_leaves_no_file() {
    let desk = Desk::new();
    let says = |options: &[&str], words: &[&str]| {
        let why = desk.refused(options);
        words.iter().for_each(|word| assert!(why.contains(word), "{options:?}: {word} not in {why}"));
    };
    says(&["--variables", "P1_003"], &["--variables", "did you mean \"P1_003N\""]);
    says(&["--variables", "P1_001N,P1_099N"], &["unknown variable \"P1_099N\""]);
    says(&["--variables", "P12_003N"], &["cannot be formed", "DHC"]);
    says(&["--variables", "H1_001N"], &["pl94-units-us"]);
    says(&["--variables", "P1_001N", "--queries", "total"], &["--queries"]);
    says(&["--variables", "P1_001N", "--files", "bureau"], &["--files"]);
    says(&["--variables", "P1_001N", "--format", "bureau"], &["csv"]);
    says(&["--variables", "P1_001N", "--whole"], &["--whole"]);
    says(&["--variables", "P1_001N", "--tabulation", "Tracts"], &["--tabulation", "did you mean \"Tract\""]);
    says(&["--variables", "P1_001N", "--confidence", "100"], &["--confidence", "below 100"]);
    says(&["--variables", "P1_001N", "--confidence", "90,90.0"], &["--confidence", "twice"]);
    says(&["--confidence", "90"], &["--variables"]);
    says(&["--wide"], &["--variables"]);
    let spine = ["estimate", "--spine", "s", "--measurements", "m", "--release", "pl94-persons-us", "--out", "o"];
    assert!(
        refusal(&[&spine[..], &["--variables", "P1"]].concat()).contains("--variables goes with `assay nmf estimate`")
    );
    let why = refusal(&["nmf", "codes", "P1_0033N"]);
    assert!(why.contains("did you mean"), "{why}");
    let listed = json(&["nmf", "codes", "all"]);
    // P.L. 94-171, and all of the DHC's 9,067 but urban and rural, medians, and races counted more than once.
    assert_eq!(listed["variables"].as_array().unwrap().len(), 301 + 9067 - 42);
    assert!(json(&["nmf", "codes"])["not_formed"].as_array().unwrap().len() > 5);
}

/// Covariances of areas and variables: the diagonal has the margins of the estimates, sums of counties have the variance of their sum, and differences and shares
/// follow from the matrix.
/// A matrix is symmetric, and none of its entries is above the product of two standard deviations.
fn assert_covariances(counts: usize, number: &dyn Fn(usize, usize) -> f64) {
    for row in 0..counts {
        assert!(number(row, row) >= 0.0);
        for column in 0..counts {
            assert_eq!(number(row, column), number(column, row));
            let most = (number(row, row) * number(column, column)).sqrt();
            assert!(number(row, column).abs() <= most * (1.0 + 1e-9));
        }
    }
}

#[test]
fn differences_and_shares_follow_from_the_written_covariances() {
    let desk = Desk::new();
    let matrix = desk.path("covariance.csv").display().to_string();
    let base = ["--variables", "P1_001N", "P2_002N", "--tabulation", "County"];
    let options = ["--covariance", &matrix, "--difference", "P1_001N,P2_002N", "--share", "P2_002N/P1_001N"];
    let words = desk.words("codes.csv", &[&base[..], &options[..]].concat());
    let answer = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let text = fs::read_to_string(&matrix).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let number = |row: usize, column: usize| lines[row + 1][column + 3].parse::<f64>().unwrap();
    let counts = lines.len() - 1;
    assert!(counts >= 4 && lines.iter().all(|line| line.len() == counts + 3));
    assert_covariances(counts, &number);
    // The margins of the estimates are those of the diagonal.
    let estimates = fs::read_to_string(desk.path("codes.csv")).unwrap();
    let heading: Vec<&str> = estimates.lines().next().unwrap().split(',').collect();
    let place = |name: &str| heading.iter().position(|own| own.starts_with(name)).unwrap();
    let (variable, moe) = (place("variable"), place("moe_95"));
    for (row, line) in lines[1..].iter().enumerate() {
        let mut own = estimates.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let own = own.find(|own| own[0] == line[0] && own.contains(&line[1])).unwrap();
        assert_eq!(own[variable], line[1]);
        let margin: f64 = own.iter().rev().nth(heading.len() - 1 - moe).unwrap().parse().unwrap();
        let deviation = number(row, row).sqrt();
        assert!(
            (margin - 1.959_963_984_540_054 * deviation).abs() < 1e-3 * (1.0 + margin),
            "{line:?} {margin} {deviation}"
        );
    }
    for (key, of) in [("differences", 0), ("shares", 1)] {
        let all = answer[key].as_array().unwrap();
        assert_eq!(all.len(), counts / 2);
        for (area, own) in all.iter().enumerate() {
            let (first, second) = if of == 0 { (2 * area, 2 * area + 1) } else { (2 * area + 1, 2 * area) };
            assert_eq!(own["within"], lines[first + 1][0]);
            let estimate = |row: usize| lines[row + 1][2].parse::<f64>().unwrap();
            let share = estimate(first) / estimate(second);
            let slope = if of == 0 { 1.0 } else { share };
            let sum = number(first, first) + slope * slope * number(second, second);
            let variance = sum - 2.0 * slope * number(first, second);
            let (value, deviation) = match of {
                0 => (estimate(first) - estimate(second), variance.sqrt()),
                _ => (share, variance.sqrt() / estimate(second)),
            };
            let [found, std_dev] = [["difference", "std_dev"], ["share", "std_dev_delta"]][of];
            let near = |found: &serde_json::Value, expected: f64| {
                let found = found.to_string().parse::<f64>().unwrap();
                assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{key} {found} {expected}");
            };
            near(&own[found], value);
            near(&own[std_dev], deviation);
        }
    }
}

#[test]
fn comparisons_that_name_nothing_or_two_things_are_refused() {
    let desk = Desk::new();
    let base = ["--variables", "P1_001N", "P2_002N"];
    let matrix = desk.path("refused.csv").display().to_string();
    for (options, says) in [
        (&["--tabulation", "County", "--difference", "P1_001N"][..], "expected A,B"),
        (&["--tabulation", "County", "--difference", "P1_001N,P9_001N"], "two variables of P1_001N"),
        (&["--tabulation", "County", "--difference", "P1_001N,P1_001N"], "both are the same"),
        (&["--tabulation", "County", "--share", "P1_001N,P2_002N"], "PART/WHOLE"),
        (&["--tabulation", "County", "--covariance", &matrix], "name another"),
        (&["--level", "County", "--difference", "P1_001N,P2_002N"], "--level"),
    ] {
        let why = desk.refused(&[&base[..], options].concat());
        assert!(why.contains(says), "{options:?}: {why}");
    }
}
