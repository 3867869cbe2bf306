//! Constraints of a small product like the DHC's: compared with each other, and exact totals among them.

use std::fs;

use dp_assay::release::Release;

use crate::common::{
    in_folder,
    small_dhc::{Row, Spoil, release, spoilt_product},
};

/// The output of `check` for a product with modified constraints.
fn checked(spoil: Spoil) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    spoilt_product(&at.join("product"), &release, spoil);
    // The noisy counts are artificial and inconsistent.
    in_folder::answered(at, &["nmf", "check", "product", "--release", "release.toml"])
}

#[test]
fn a_check_holds_zeros_tables_and_bounds_against_each_other() {
    let (well, said) = checked(&|_| ());
    // Two relationships below 2, for both sexes and three races, and one type of group quarters above 4.
    assert!(well && said.contains("3 constraints, the same for every unit, fix 36 cells at zero"), "{said}");
    assert!(said.contains("published after the noise, and not used in estimates: pl94"), "{said}");
    let of = |row: &Row, name: &str, code: &str| row.name == format!("{name}_con") && row.code == code;
    let block = "0441000114400100010011002";
    let change = |name: &'static str, code: &'static str, by: i32| {
        move |rows: &mut Vec<Row>| rows.iter_mut().filter(|row| of(row, name, code)).for_each(|row| row.values[0] += by)
    };
    let spoilt: [(Spoil, &[&str]); 6] = [
        (&|rows| rows.retain(|row| !of(row, "relgq1_lessthan2", block)), &[block, "2 equalities", "relgq1_lessthan2"]),
        (&change("relgq4_greaterthan4", block, 1), &[block, "relgq4_greaterthan4", "the value 1: expected 0"]),
        (&change("pl94", block, 1), &["044100011", "pl94_con", "value 0", "units of Block"]),
        (&change("pl94", "044", 1), &["geocode 044,", "pl94_con", "units of County"]),
        (&change("hhgq_total_ub", "044100031", 1), &["044100031", "hhgq_total_ub", "units of Block"]),
        (&change("hhgq_total_lb", block, 100_000), &[block, "contradicts", "at least 100000 and at most 99999"]),
    ];
    for (spoil, expected) in spoilt {
        let (well, said) = checked(spoil);
        assert!(!well && expected.iter().all(|text| said.contains(text)), "{expected:?}: {said}");
    }
}

/// Estimates from a product that was modified: the file of estimates, if any, and what the program says.
fn estimated(text: &str, spoil: Spoil, options: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), text).unwrap();
    fs::write(at.join("totals.csv"), "state,total\n44,7000\n").unwrap();
    fs::write(at.join("others.csv"), "state,total\n44,7001\n").unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    spoilt_product(&at.join("product"), &release, spoil);
    let words = [
        "estimate",
        "--despite-misfit",
        "--nmf",
        "product",
        "--release",
        "release.toml",
        "--out",
        "out.csv",
        "--level",
        "State",
        "Block",
    ];
    let queries = ["--queries", "total", "sex * cenrace"];
    let words = [&words[..], &queries, options].concat();
    let (_, said) = in_folder::said(at, &words);
    (fs::read_to_string(at.join("out.csv")).unwrap_or_default(), said)
}

/// The exact totals of states in the files: those of a table that declares them, or rows of totals.
#[test]
fn totals_of_states_are_read_from_the_files() {
    let with = "rho = \"2\"\nexact_total = \"pl94\"\n";
    let text = [release(), release().replace("rho = \"2\"\n", with)];
    assert!(text[1].contains("exact_total"));
    let without_total = |rows: &mut Vec<Row>| rows.retain(|row| row.name != "total_con");
    let exact = |rows: &mut Vec<Row>| {
        without_total(rows);
        for row in rows.iter_mut().filter(|row| row.name == "pl94_con" && row.code.len() < 4) {
            row.values[0] += 7000 - row.values.iter().sum::<i32>();
        }
    };
    let row_of_total = |rows: &mut Vec<Row>| {
        without_total(rows);
        if let Some(row) = rows.iter().find(|row| row.code == "044") {
            rows.push(Row::constraint(&row.code, "total", "=", &["*"; 4], &[1; 4], vec![7000]));
        }
    };
    // Given by the option, from a table, and from a row.
    let (given, said) = estimated(&text[0], &without_total, &["--state-totals", "totals.csv"]);
    let is_exact = |text: &str| {
        let row = text.lines().find(|line| line.starts_with("State,044,44,,total,0,")).unwrap();
        let numbers: Vec<f64> =
            row.split(',').skip(6).filter(|cell| !cell.is_empty()).map(|number| number.parse().unwrap()).collect();
        (numbers[0] - 7000.0).abs() < 1e-8 && numbers[1] == 0.0
    };
    assert!(is_exact(&given) && !said.contains("Exact totals"), "{given} {said}");
    for constraints in ["all", "state-totals"] {
        let options = ["--constraints", constraints];
        let (given, _) =
            estimated(&text[0], &without_total, &[&options[..], &["--state-totals", "totals.csv"]].concat());
        for (text, spoil) in [(&text[1], &exact as Spoil), (&text[0], &row_of_total)] {
            let (found, said) = estimated(text, spoil, &options);
            assert_eq!(found, given);
            assert!(said.contains("Exact totals that the files have: states 44"), "{said}");
        }
    }
    // No constraint is used, nor the table that does not declare totals.
    let (nothing, said) = estimated(&text[1], &exact, &["--constraints", "none"]);
    assert!(nothing != given && !said.contains("Exact totals"), "{said}");
    let (nothing, said) = estimated(&text[0], &exact, &[]);
    assert!(!is_exact(&nothing) && !said.contains("Exact totals"), "{said}");
    // Contradictions: with the given totals, between two constraints of a unit, and with the root.
    let (_, said) = estimated(&text[1], &exact, &["--state-totals", "others.csv"]);
    assert!(
        said.contains("the exact total of the state 44 is given as 7001, and is 7000 by the constraints"),
        "{said}"
    );
    let both = |rows: &mut Vec<Row>| {
        row_of_total(rows);
        rows.iter_mut().filter(|row| row.name == "pl94_con").for_each(|row| row.values[0] += 1);
    };
    let (_, said) = estimated(&text[1], &both, &[]);
    assert!(said.contains("geocode 044, total_con: adds up to 7000, and another constraint of the unit to"), "{said}");
    let (_, said) = estimated(&text[1], &|_| (), &[]);
    assert!(said.contains("adds up to another total than a constraint of the root"), "{said}");
}
