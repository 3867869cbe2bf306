//! The DHC's persons: 42 x 2 x 116 x 2 x 63 cells, recodes over one and over several attributes, measured and read.

use std::{collections::BTreeMap, fs, path::Path};

use dp_assay::{
    release::Release,
    topdown::{
        gls::{basis::Part, problem::Problem},
        nmf::{
            folder::NmfFolder,
            names::{Names, parts_of},
            rows,
            units::RootConstraints,
        },
    },
};

use crate::common::{
    estimates,
    in_folder::{done, flat},
    nmf_rows::{self, Row},
};

/// A man of 37 in a prison (relgq 20), not Hispanic, of the sixth combination of races: the index of his count in each query, by the groups
/// of the production code, with attributes in the order of the histogram.
#[test]
fn a_record_is_in_the_counts_of_the_production_run() {
    for name in ["dhc-persons-us", "dhc-persons-pr"] {
        let release = Release::find(name).unwrap();
        let schema = release.schema.clone().unwrap();
        assert_eq!(schema.cells(), 1_227_744);
        let cell = schema.cell([20, 0, 37, 0, 5].into_iter()) as usize;
        // relgq: 18-32 is the third of 4 groups; 18-22 the third of the groups of constraints; 18-23 the nineteenth of 25.
        // age: 18-64 is the second of 3; 37 the tenth of 10; 35-39 is group 20 of 38 and 22 of 40.
        let expected = [
            ("age_18_64_116 * relgq_4_groups", 12, 2 * 3 + 1),
            ("age_18_64_116 * sex", 6, 1),
            ("age_38_groups * sex", 76, 20),
            ("hispanic * sex", 4, 0),
            ("sex * relgq_4_groups", 8, 2 * 2),
            ("gq_constr_groups * age_10_groups", 60, 2 * 10 + 9),
            ("popSehsdTargetsRelship", 19, 18),
            (
                "hispanic * sex * age_40_groups * relship_and_eight_level_GQ * cenrace",
                252_000,
                ((18 * 2 * 40 + 22) * 2) * 63 + 5,
            ),
            ("relgq * age_40_groups * hispanic * cenrace * sex", 423_360, ((20 * 2 * 40 + 22) * 2) * 63 + 5),
            ("detailed", 1_227_744, cell as u32),
        ];
        for level in &release.levels {
            let names: Vec<&str> = level.queries.iter().map(|query| query.name.as_str()).collect();
            assert_eq!(names, expected.map(|(name, ..)| name), "{name} {}", level.name);
        }
        for (query, counts, at) in expected {
            let group = schema.group(query).unwrap();
            assert_eq!((group.counts(), group.cell_of[cell]), (counts, at), "{name} {query}");
        }
    }
}

/// The matrices of least squares have far fewer rows than the 1160 combinations of groups of relationships and ages, because groups of one
/// size that all queries treat alike share their rows.
#[test]
fn its_matrices_are_small() {
    for name in ["dhc-persons-us", "dhc-persons-pr"] {
        let release = Release::find(name).unwrap();
        let schema = release.schema.clone().unwrap();
        let parts = |name: &str| parts_of(&schema, name).unwrap();
        let queries: Vec<Vec<Part>> = release.levels[0].queries.iter().map(|query| parts(&query.name)).collect();
        let levels = vec![queries; release.levels.len()];
        let sizes = [42, 2, 116, 2, 63];
        let apart = vec![Part::Total; 5];
        let rows = |answers: &[&str]| {
            let answers: Vec<Vec<Part>> = answers.iter().map(|name| parts(name)).collect();
            let problem = Problem::for_answers(&sizes, &levels, &answers, &apart).unwrap();
            (problem.basis.rows().max().unwrap(), problem.basis.coordinates())
        };
        // 13 classes of relationships and 12 of ages; the total needs one sector of them.
        assert_eq!(rows(&["total"]), (156, 156));
        // Separate sexes add one sector; single ages add those of differences between and within groups of ages.
        assert_eq!(rows(&["sex"]), (156, 312));
        assert_eq!(rows(&["age"]), (156, 13 * 116));
        assert_eq!(rows(&["sex * age_38_groups"]), (156, 2 * 13 * 38));
        assert_eq!(rows(&["detailed"]), (156, 1_227_744));
    }
}

/// The 32 constraints of every unit: relationships or types of group quarters, and the ages that they exclude.
const ZEROS: [(&[usize], &str); 13] = [
    (&[0, 1, 2, 3, 4, 5, 18, 19, 20, 21, 22], "age_lessthan15"),
    (&[6, 7, 8], "age_greaterthan89"),
    (&[10, 12], "age_lessthan30"),
    (&[11], "age_gt74"),
    (&[13], "age_lt15_gt89"),
    (&[16], "age_gt20"),
    (&[23, 31, 34, 35], "age_lt17gt65"),
    (&[24, 25, 26], "age_greaterthan25"),
    (&[27], "age_lessthan20"),
    (&[32], "age_lt3_gt30"),
    (&[33], "age_lt16gt65"),
    (&[37, 38], "age_lt16"),
    (&[39], "age_lt16_gt75"),
];

/// The constraints of a unit in the published files: the 32 zeros, and bounds by type of group quarters.
fn constraints(code: &str, lower: Vec<i32>, upper: Vec<i32>) -> Vec<Row> {
    let row = |name: &str, sign, relgq: &str, age: &str, values: Vec<i32>| {
        let shape = [values.len() as i32, 1, 1, 1, 1];
        Row::constraint(code, name, sign, &[relgq, "*", age, "*", "*"], &shape, values)
    };
    let mut rows = Vec::new();
    for (relationships, ages) in ZEROS {
        for relgq in relationships {
            rows.push(row(&format!("relgq{relgq}_{ages}"), "=", &format!("relgq{relgq}"), ages, vec![0]));
        }
    }
    rows.push(row("hhgq_total_lb", ">=", "gqlevels", "*", lower));
    rows.push(row("hhgq_total_ub", "<=", "gqlevels", "*", upper));
    rows
}

/// With the zeros of the published files matrices are larger, because the zeros distinguish relationships and ages; but not relationships
/// that are zero at the same ages.
#[test]
fn its_zeros_distinguish_few_relationships_and_ages() {
    let release = Release::find("dhc-persons-us").unwrap();
    let axes = ["relgq", "sex", "age", "hispanic", "cenrace"];
    let rows = constraints("", vec![0; 25], vec![99_999; 25]);
    assert_eq!(rows.len(), 32 + 2);
    let folder = tempfile::tempdir().unwrap();
    let names = Names::new(&release).unwrap();
    for level in &names.levels {
        nmf_rows::write(&folder.path().join(format!("{level}.parquet/Constraint/part.parquet")), &axes, &rows);
    }
    let files = NmfFolder::open(folder.path(), &names.levels).unwrap();
    let root = RootConstraints::read(&files, &names).unwrap();
    let queries: Vec<Vec<Part>> = names.queries(0).iter().map(|query| query.parts.clone()).collect();
    let total = vec![vec![Part::Total; 5]];
    let problem = Problem::for_answers(&names.sizes, &vec![queries; 8], &total, &root.zeros.apart).unwrap();
    // 7 groups of relationships and 24 types of group quarters, 14 groups of ages.
    assert_eq!(problem.point_cells().len(), 31 * 14);
    // 32 classes of these and 24 of ages.
    assert_eq!(problem.basis.rows().collect::<Vec<_>>(), [768]);
    // For each relationship the years of age that it excludes, and the remaining ones of 42 x 116.
    let years = [15 * 11, 26 * 3, 30 * 2, 41, 41, 95, 67 * 4, 90 * 3, 20, 88, 66, 16 * 2, 56];
    assert_eq!(root.zeros.cells(&problem), years.iter().sum::<usize>() * 252);
    let free = root.zeros.free(&problem);
    let left = (0..31 * 14).filter(|point| free.has(*point)).count();
    assert!(left < 31 * 14 && root.structural.len() == 32, "{left}");
}

/// Drawn in the Bureau's layout, read back, certified and estimated.
#[test]
fn it_is_measured_certified_and_estimated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("blocks.csv", "block\n440010001001000\n440030001001000\n");
    put("plan.toml", "settings = \"dhc\"\nrelease = \"dhc-persons-us\"\n");
    put("counts.csv", "block,relgq,sex,age,hispanic,cenrace,count\n440010001001000,20,male,37,not-hispanic,5,900000\n");
    done(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"]);
    let release = ["--release", "dhc-persons-us"];
    let measure = ["measure", "--spine", "spine", "--counts", "counts.csv", "--files", "nmf", "--out", "US_DHCP_PROD"];
    done(at, &[&measure[..], &release, &["--insecure-seed", "2"]].concat());
    let said = done(at, &[&["nmf", "check", "US_DHCP_PROD"][..], &release].concat());
    assert!(said.contains("1903289") && said.contains("epsilon"), "{said}");
    let estimate = ["nmf", "estimate", ".", "--out", "out.csv", "--level", "US", "County", "--queries"];
    let queries = ["total", "sex * age_38_groups", "hispanic * cenrace"];
    done(at, &[&estimate[..], &queries, &release].concat());
    let text = fs::read_to_string(at.join("out.csv")).unwrap();
    let rows = estimates::rows(&text);
    assert_eq!(rows.len(), 3 * (1 + 76 + 126));
    let sum_of = |level: &str, query: &str| -> f64 {
        let own = rows.iter().filter(|row| row.get("level") == level && row.get("query") == query);
        own.map(|row| row.number("estimate")).sum()
    };
    for query in queries {
        // Counties sum to the nation, whose total is exact; so do the counts of every query.
        for level in ["US", "County"] {
            approx::assert_abs_diff_eq!(sum_of(level, query), 900_000.0, epsilon = 1e-4);
        }
    }
    let is_exact = |row: &estimates::Row| row.key(&["level", "query"]) == "US,total" && row.number("variance") == 0.0;
    assert!(rows.iter().any(is_exact));
    // The man of 37, among 900,000 equal records: within five standard deviations.
    let own = rows.iter().find(|row| {
        row.key(&["level", "query", "sex", "age_38_groups"]) == "County,sex * age_38_groups,male,35-39"
            && row.get("geocode").starts_with("04410001")
    });
    let own = own.unwrap();
    let (estimate, deviation) = (own.number("estimate"), own.number("std_dev"));
    assert!((estimate - 900_000.0).abs() < 5.0 * deviation && deviation < 10.0 && own.cell() == 20, "{estimate}");
    variables_are_sums_of_cells(at, &rows, own);
}

/// Census variables of the DHC are the sums of the cells of its marginals, with the same margins where they are one cell.
fn variables_are_sums_of_cells(at: &Path, rows: &[estimates::Row], man_of_37: &estimates::Row) {
    let estimate = ["nmf", "estimate", ".", "--out", "codes.csv", "--level", "County", "--release", "dhc-persons-us"];
    done(at, &[&estimate[..], &["--variables", "P12,P5,P1_001N,P12F_013N,P15,P17_029N"]].concat());
    let text = fs::read_to_string(at.join("codes.csv")).unwrap();
    let codes = estimates::rows(&text);
    assert_eq!(codes.len(), 2 * (49 + 17 + 1 + 1 + 3 + 1));
    let geocode = man_of_37.get("geocode").to_string();
    let variable = |name: &str| {
        let row = codes.iter().find(|row| row.get("variable") == name && row.get("geocode") == geocode).unwrap();
        (row.number("estimate"), row.number("moe_95"))
    };
    let cells = |query: &str, holds: &dyn Fn(&estimates::Row) -> bool| -> f64 {
        let own = rows.iter().filter(|row| row.get("query") == query && row.get("geocode") == geocode);
        own.filter(|row| holds(row)).map(|row| row.number("estimate")).sum()
    };
    // A single cell: men of 35 to 39.
    let (men, margin) = variable("P12_013N");
    approx::assert_abs_diff_eq!(men, man_of_37.number("estimate"), epsilon = 1e-6);
    approx::assert_relative_eq!(margin, man_of_37.number("margin_95"), max_relative = 1e-8);
    let by_age = "sex * age_38_groups";
    let girls = |row: &estimates::Row| {
        row.get("sex") == "female" && ["0", "1", "2", "3", "4"].contains(&row.get("age_38_groups"))
    };
    approx::assert_abs_diff_eq!(variable("P12_027N").0, cells(by_age, &girls), epsilon = 1e-5);
    approx::assert_abs_diff_eq!(
        variable("P12_026N").0,
        cells(by_age, &|row| row.get("sex") == "female"),
        epsilon = 1e-5
    );
    let races = "hispanic * cenrace";
    let hispanic = |row: &estimates::Row| row.get("hispanic") == "hispanic";
    approx::assert_abs_diff_eq!(variable("P5_010N").0, cells(races, &hispanic), epsilon = 1e-4);
    for total in ["P1_001N", "P5_001N", "P12_001N"] {
        approx::assert_abs_diff_eq!(variable(total).0, cells("total", &|_| true), epsilon = 1e-4);
    }
    let (adults, households) = (variable("P15_003N").0, variable("P15_001N").0);
    approx::assert_abs_diff_eq!(variable("P15_002N").0 + adults, households, epsilon = 1e-4);
    approx::assert_abs_diff_eq!(variable("P17_029N").0 + households, variable("P1_001N").0, epsilon = 1e-4);
    // All men are in one class, so that their median is in its middle; the other county has as much noise as people.
    let median =
        ["nmf", "estimate", ".", "--out", "median.csv", "--tabulation", "County", "--release", "dhc-persons-us"];
    let said = done(at, &[&median[..], &["--variables", "P12", "--median", "age"]].concat());
    for counts in ["P12_003N to P12_025N", "P12_003N to P12_049N"] {
        assert!(said.contains(&format!("median age of 44001 ({counts}): 37.5, 37.5 to 37.5 (95 %)")), "{said}");
    }
    // His race is the sixth alone.
    let (some_other_race, margin) = variable("P12F_013N");
    assert!((some_other_race - 900_000.0).abs() < 3.0 * margin && margin < 20.0, "{some_other_race} {margin}");
}

/// Writes the constraints of the published files instead of those of `assay measure`: the 32 zeros, and bounds by type of group quarters.
/// There are no facilities except the prisons (relgq 20, the fourth group) of one block.
fn put_constraints(product: &Path, release: &Release, prison: &str) -> usize {
    let names = Names::new(release).unwrap();
    let folder = NmfFolder::open(product, &names.levels).unwrap();
    let axes = ["relgq", "sex", "age", "hispanic", "cenrace"];
    let (mut blocks, mut written) = (Vec::new(), 0);
    for level in folder.levels.iter().rev() {
        for file in &level.constraints {
            let mut codes: Vec<String> = Vec::new();
            rows::read(&file.path, &names.axes, |row| {
                codes.push(String::from_utf8(row.geocode.to_vec()).unwrap());
                Ok(())
            })
            .unwrap();
            codes.dedup();
            if level.name == "Block" {
                blocks.extend(codes.clone());
            }
            let mut all = Vec::new();
            for code in &codes {
                let below = || blocks.iter().filter(|block| block.starts_with(code.as_str()));
                let with = below().filter(|block| block.ends_with(prison)).count() as i32;
                let bounds = |households: i32, each: i32| {
                    let mut bounds = vec![0; 25];
                    (bounds[0], bounds[3]) = (households, each * with);
                    bounds
                };
                let households = 99_999 * below().count() as i32;
                all.extend(constraints(code, bounds(0, 1), bounds(households, 99_999)));
            }
            written += all.len();
            nmf_rows::write(&file.path, &axes, &all);
        }
    }
    written
}

/// Whole counts of a marginal, with the constraints of the published files.
#[test]
fn whole_counts_of_a_marginal_keep_its_constraints() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("blocks.csv", "block\n440010001001000\n440010001001001\n440030001001000\n440030001001001\n");
    put("plan.toml", "settings = \"dhc\"\nrelease = \"dhc-persons-us\"\n");
    put(
        "counts.csv",
        "block,relgq,sex,age,hispanic,cenrace,count\n440010001001000,20,male,37,not-hispanic,5,40000\n\
         440010001001000,0,female,71,not-hispanic,0,30000\n440010001001001,6,female,4,hispanic,1,25000\n\
         440030001001000,1,male,52,not-hispanic,0,55000\n440030001001001,2,male,33,hispanic,3,18000\n",
    );
    put("totals.csv", "state,total\n44,168000\n");
    done(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"]);
    let release = ["--release", "dhc-persons-us"];
    let measure = ["measure", "--spine", "spine", "--counts", "counts.csv", "--files", "nmf", "--out", "US_DHCP_PROD"];
    done(at, &[&measure[..], &release, &["--insecure-seed", "2"]].concat());
    let bundled = Release::find("dhc-persons-us").unwrap();
    assert_eq!(put_constraints(&at.join("US_DHCP_PROD"), &bundled, "4400100010011000"), 34 * 16);
    let levels: Vec<&str> = bundled.levels.iter().map(|level| level.name.as_str()).collect();
    let estimate = ["nmf", "estimate", ".", "--out", "out.csv", "--state-totals", "totals.csv", "--level"];
    let queries = ["--queries", "total", "sex * age_38_groups", "relgq", "--whole", "sex"];
    let said = flat(&done(at, &[&estimate[..], &levels, &queries, &release].concat()));
    // 42 relationships, both sexes, and 45 groups of ages: the 38, split by the zeros.
    assert!(said.contains("Made of the 3780 cells"), "{said}");
    let text = fs::read_to_string(at.join("out.csv")).unwrap();
    let mut sums: BTreeMap<(&str, &str, &str), BTreeMap<&str, i64>> = BTreeMap::new();
    let mut of_units: BTreeMap<(&str, &str, &str), i64> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        // The count, and the margin of its unbiased estimate.
        let ([level, code, _, _, query, cell, ..], [.., count, _]) = (&cells[..], &cells[..]) else { panic!("{line}") };
        let (level, code, query, cell) = (*level, *code, *query, *cell);
        let count: i64 = count.parse().unwrap();
        assert!(count > 0, "{line}");
        *sums.entry((level, query, cell)).or_default().entry("all").or_default() += count;
        *of_units.entry((level, code, query)).or_default() += count;
        if let ("relgq", Ok(kind @ 18..)) = (query, cell.parse::<usize>()) {
            // No group quarters except the prison, which is in one block.
            let is_above = level != "Block" || code.ends_with("4400100010011000");
            assert!(kind == 20 && is_above, "{line}");
        }
        if query == "relgq" && cell == "20" && level == "Block" {
            assert!((39_000..41_000).contains(&count), "{line}");
        }
    }
    // Every query sums to the exact total at every level, and every cell to its count in the nation.
    for ((level, query, cell), sum) in &sums {
        assert_eq!(sum, &sums[&("US", *query, *cell)], "{level} {query} {cell}");
    }
    for ((level, code, query), sum) in &of_units {
        assert_eq!(*sum, of_units[&(*level, *code, "total")], "{level} {code} {query}");
    }
    assert_eq!(of_units[&("State", "044", "total")], 168_000);
}
