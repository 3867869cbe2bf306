//! The DHC's households: 2 x 9 x 2 x 7 x 4 x 3 x 522 cells and a second histogram of 35 beside them, in one product.

use std::{fs, path::Path};

use dp_assay::{
    release::{Release, schema::NOWHERE},
    topdown::{
        gls::{basis::Part, problem::Problem},
        nmf::names::parts_of,
    },
};
use rug::Rational;

use crate::common::{
    estimates,
    in_folder::{answered, done, flat, refused},
    nmf_rows::{self, Row, described, variance},
    numbers::Numbers,
};

/// A woman of 45 to 54 (group 3), Hispanic, of the third race, in a home of the third kind of tenure; a household of type 290, which is in
/// the third of the groups of couples (282-391) and the ninth of those of partners and children (172-188, 282-298).
#[test]
fn a_household_is_in_the_counts_of_the_production_run() {
    for name in ["dhc-units-us", "dhc-units-pr"] {
        let release = Release::find(name).unwrap();
        let schema = release.schema.clone().unwrap();
        assert_eq!((schema.cells(), schema.all_cells()), (1_578_528, 1_578_563));
        let cell = schema.cell([1, 3, 1, 2, 0, 2, 290].into_iter()) as usize;
        let group_of = |recode: &str| {
            let recode = schema.recodes.iter().find(|own| own.name == recode).unwrap();
            recode.group_of[290]
        };
        let (generations, children) = (group_of("multig"), group_of("DetailedCoupleTypeMultGenDetOwnChildSize"));
        // The attributes in the order of the histogram, regardless of the name's order.
        let expected = [
            ("multig * hisp * hhtenshort_2lev", 8, 3 * 2 + generations),
            ("hisp * hhtenshort_2lev", 4, 3),
            ("hisp * hhtenshort_2lev * race", 28, (7 + 2) * 2 + 1),
            ("partner_type_detailed_own_child_status * sex * hhtenshort_2lev", 48, 3 * 12 + 8),
            ("coupled_hh_type * hisp * hhtenshort_2lev", 20, 3 * 5 + 2),
            (
                "sex * hisp * hhtenshort_3lev * race * DetailedCoupleTypeMultGenDetOwnChildSize",
                15_372,
                (((2 + 1) * 7 + 2) * 3 + 2) * 183 + children,
            ),
            (
                "sex * hisp * hhtenshort_3lev * race * hhage * DetailedCoupleTypeMultGenDetOwnChildSize",
                138_348,
                ((((9 + 3) * 2 + 1) * 7 + 2) * 3 + 2) * 183 + children,
            ),
            ("hhtenshort_3lev * hhage * DetailedCoupleTypeMultGenDetOwnChildSize", 4941, (3 * 3 + 2) * 183 + children),
            ("detailed", 1_578_528, cell as u32),
            ("tenvacgq", 35, NOWHERE),
        ];
        for level in &release.levels {
            let names: Vec<&str> = level.queries.iter().map(|query| query.name.as_str()).collect();
            assert_eq!(names, expected.map(|(name, ..)| name), "{name} {}", level.name);
        }
        for (query, counts, at) in expected {
            let group = schema.group(query).unwrap();
            assert_eq!((group.counts(), group.cell_of[cell]), (counts, at), "{name} {query}");
            // A vacant home is in no count of households.
            let vacant = if query == "tenvacgq" { 4 } else { NOWHERE };
            assert_eq!(group.cell_of[1_578_528 + 4], vacant, "{name} {query}");
        }
    }
}

#[test]
fn its_matrices_are_small() {
    let release = Release::find("dhc-units-us").unwrap();
    let schema = release.schema.clone().unwrap();
    let parts = |name: &str| parts_of(&schema, name).unwrap();
    let households = release.levels[0].queries.iter().filter(|query| query.name != "tenvacgq");
    let queries: Vec<Vec<Part>> = households.map(|query| parts(&query.name)).collect();
    let sizes = [2, 9, 2, 7, 4, 3, 522];
    let apart = vec![Part::Total; 7];
    let rows = |answer: &str| {
        let answers = [parts(answer)];
        let problem = Problem::for_answers(&sizes, &vec![queries.clone(); 8], &answers, &apart).unwrap();
        (problem.basis.rows().max().unwrap(), problem.basis.coordinates())
    };
    assert_eq!(rows("total"), (MOST, MOST));
    assert_eq!(rows("detailed"), (MOST, 1_578_528));
    assert_eq!(rows("hisp * race"), (MOST, 14 * MOST));
}

/// The number of rows of the largest matrix: types of household whose groups are not interchangeable, twice for tenure.
const MOST: usize = 130;

/// Drawn in the Bureau's layout, read back, certified and estimated.
#[test]
fn it_is_measured_certified_and_estimated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("blocks.csv", "block\n440010001001000\n440030001001000\n");
    put("plan.toml", "settings = \"dhc\"\nrelease = \"dhc-units-us\"\n");
    let header = "block,sex,hhage,hisp,race,elderly,hhtenshort_3lev,hhtype_dhch,tenvacgq,count\n";
    let household = "440010001001000,male,35-44,not-hispanic,3,0,1,390,,900000\n";
    let units = "440010001001000,,,,,,,,1,900000\n440030001001000,,,,,,,,4,70000\n";
    put("counts.csv", &[header, household, units].concat());
    put("both.csv", &[header, "440010001001000,male,35-44,not-hispanic,3,0,1,390,1,900000\n"].concat());
    put("totals.csv", "state,total\n44,900000\n");
    done(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"]);
    let release = ["--release", "dhc-units-us"];
    let measure = ["measure", "--spine", "spine", "--insecure-seed", "2", "--files", "nmf", "--counts"];
    refused(at, &[&measure[..], &["both.csv", "--out", "x"], &release].concat(), "a line is about one histogram");
    done(at, &[&measure[..], &["counts.csv", "--out", "US_DHCH_PROD"], &release].concat());
    let said = flat(&done(at, &[&["nmf", "check", "US_DHCH_PROD"][..], &release].concat()));
    // 1,737,297 counts of households and 35 of units.
    assert!(said.contains("1737332") && said.contains("epsilon"), "{said}");
    let estimate = ["nmf", "estimate", ".", "--out", "out.csv", "--level", "US", "County", "--queries"];
    let numbers = |queries: &[&str]| -> Vec<(String, f64, f64)> {
        done(at, &[&estimate[..], queries, &release].concat());
        let text = fs::read_to_string(at.join("out.csv")).unwrap();
        let row = |row: &estimates::Row| {
            let key = row.key(&["level", "geoid", "query", "cell"]).replace(',', " ");
            (key, row.number("estimate"), row.number("std_dev"))
        };
        estimates::rows(&text).iter().map(row).collect()
    };
    let households = numbers(&["total", "hisp * race", "coupled_hh_type"]);
    assert_eq!(households.len(), 3 * (1 + 14 + 5));
    let units = numbers(&["tenvacgq"]);
    assert_eq!(units.len(), 3 * 35);
    let all: Vec<_> = households.iter().chain(&units).collect();
    for (key, truth) in [
        ("US  total 0", 900_000.0),
        ("US  hisp * race 3", 900_000.0),
        ("County 44001 coupled_hh_type 2", 900_000.0),
        ("County 44003 total 0", 0.0),
        ("US  tenvacgq 1", 900_000.0),
        ("County 44003 tenvacgq 4", 70_000.0),
        ("County 44003 tenvacgq 1", 0.0),
    ] {
        let (_, estimate, deviation) = all.iter().find(|(own, ..)| own == key).unwrap();
        // No total is exact, because a household may be a vacant home in a neighboring data set.
        let is_near = *deviation > 0.5 && *deviation < 4.0 && (estimate - truth).abs() < 5.0 * deviation;
        assert!(is_near, "{key}: {estimate} {deviation}");
    }
    refused(at, &[&estimate[..], &["tenvacgq", "total"], &release].concat(), "so estimate each separately");
    variables_are_of_one_histogram(at, &release);
    let with_totals = [&estimate[..], &["total", "--state-totals", "totals.csv"], &release].concat();
    refused(at, &with_totals, "no total of households is exact");
    let csv = ["measure", "--spine", "spine", "--insecure-seed", "2", "--counts", "counts.csv", "--out", "csv"];
    done(at, &[&csv[..], &release].concat());
    let on_spine = ["estimate", "--spine", "spine", "--measurements", "csv", "--out", "y"];
    refused(at, &[&on_spine[..], &release].concat(), "two are estimated from noisy measurement files");
}

/// Census variables of both histograms, each separately. Type 390 is an unmarried same-sex couple of six persons without
/// relatives of the householder.
fn variables_are_of_one_histogram(at: &Path, release: &[&str]) {
    let base = ["nmf", "estimate", ".", "--out", "codes.csv", "--level", "County", "--variables"];
    let found = |variables: &[&str]| -> Vec<(String, f64, f64)> {
        done(at, &[&base[..], variables, release].concat());
        let row = |row: &estimates::Row| {
            (row.key(&["GEOID", "variable"]), row.number("estimate"), row.number("moe_95") / 1.96)
        };
        estimates::rows(&fs::read_to_string(at.join("codes.csv")).unwrap()).iter().map(row).collect()
    };
    let households = found(&["PCT15,P16,H4"]);
    assert_eq!(households.len(), 2 * (12 + 9 + 4));
    let units = found(&["H5", "H3_002N"]);
    assert_eq!(units.len(), 2 * (8 + 1));
    for (key, truth) in [
        ("44001,PCT15_010N", 900_000.0),
        ("44001,PCT15_011N", 0.0),
        ("44001,P16_009N", 900_000.0),
        ("44001,P16_002N", 0.0),
        ("44001,H4_003N", 900_000.0),
        ("44003,H4_001N", 0.0),
        ("44001,H3_002N", 900_000.0),
        ("44003,H5_001N", 70_000.0),
        ("44003,H5_002N", 70_000.0),
    ] {
        let (_, estimate, deviation) = households.iter().chain(&units).find(|(own, ..)| own == key).unwrap();
        assert!(*deviation > 0.5 && (estimate - truth).abs() < 5.0 * deviation, "{key}: {estimate} {deviation}");
    }
    refused(at, &[&base[..], &["H3,H4"], release].concat(), "\"H3\" and \"H4\" are of two histograms");
    refused(at, &[&base[..], &["P12"], release].concat(), "US_DHCP_PROD");
}

/// Two attributes, a recode, and a second histogram of three cells.
const RELEASE: &str = r#"
name = "two-histograms"
title = "Households and homes"
source = "made up"
neighbors = "bounded"

[[attribute]]
name = "sex"
size = 2
[[attribute]]
name = "kind"
size = 4
[[attribute]]
name = "tenure"
size = 3
histogram = "homes"
[[recode]]
name = "pairs"
attribute = "kind"
groups = [["0", "2"], ["1", "3"]]

[[level]]
name = "State"
[[level.query]]
name = "pairs"
sigma2 = 2
[[level.query]]
name = "tenure"
sigma2 = 3
[[level.query]]
name = "detailed"
sigma2 = 5
[[level]]
name = "County"
[[level.query]]
name = "sex * pairs"
sigma2 = 1.5
[[level.query]]
name = "detailed"
sigma2 = 4
[[level.query]]
name = "tenure"
sigma2 = 2
[[level]]
name = "Block"
[[level.query]]
name = "tenure"
sigma2 = 7
[[level.query]]
name = "detailed"
sigma2 = 6
"#;

/// Level, code and blocks.
const UNITS: [(usize, &str, std::ops::Range<usize>); 6] = [
    (0, "044", 0..3),
    (1, "044100011", 0..2),
    (1, "044100031", 2..3),
    (2, "0441000114400100010011001", 0..1),
    (2, "0441000114400100010011002", 1..2),
    (2, "0441000314400300010011001", 2..3),
];
const CELLS: usize = 8;

/// A modification of the rows of the second histogram.
type SecondRow<'a> = &'a dyn Fn(&mut Row);

/// Writes the product and returns for each histogram the dense normal equations over the cells of all blocks.
fn product(folder: &Path, release: &Release, second: SecondRow<'_>, with_joint: bool) -> [Normal; 2] {
    let schema = release.schema.as_ref().unwrap();
    let beside = &schema.beside.as_ref().unwrap().schema;
    let mut normals = [Normal::new(3 * CELLS), Normal::new(3 * 3)];
    let mut numbers = Numbers(11);
    for (at, level) in release.levels.iter().enumerate() {
        let (mut rows, mut constraints) = (Vec::new(), Vec::new());
        for (_, code, blocks) in UNITS.iter().filter(|(of, ..)| *of == at) {
            for query in &level.queries {
                let variance = variance(query.sigma2().unwrap());
                let group = schema.group(&query.name).unwrap();
                let values: Vec<i32> = (0..group.counts()).map(|_| numbers.below(60) as i32 - 9).collect();
                let is_second = schema.asks_beside(&query.name).is_some();
                let (own, cells) = if is_second { (1, CELLS..CELLS + 3) } else { (0, 0..CELLS) };
                let width = cells.len();
                for (count, value) in values.iter().enumerate() {
                    let of_count = cells.clone().filter(|cell| group.cell_of[*cell] as usize == count);
                    let of_count: Vec<usize> = of_count.map(|cell| cell - cells.start).collect();
                    let places = blocks.clone().flat_map(|block| of_count.iter().map(move |cell| block * width + cell));
                    normals[own].add(&places.collect::<Vec<_>>(), f64::from(*value), f64::from(variance));
                }
                let described = described(if is_second { beside } else { schema }, &query.name);
                let mut row = Row::query(code, &query.name, described, values, variance);
                if is_second {
                    row.axes = vec![String::new(); 2];
                    second(&mut row);
                }
                rows.push(row);
            }
            constraints.push(Row::constraint(code, "sex_lb", ">=", &["detailed", "*"], &[2, 1], vec![0; 2]));
            if with_joint {
                constraints.push(Row::constraint(code, "owned", "=", &["*", "some_kinds"], &[1, 1, 2], vec![0, 0]));
            }
        }
        let place = |kind: &str| folder.join(format!("{}.parquet/{kind}/State=044/part.parquet", level.name));
        nmf_rows::write(&place("DPQuery"), &["sex", "kind"], &rows);
        nmf_rows::write(&place("Constraint"), &["sex", "kind"], &constraints);
    }
    normals
}

/// Normal equations.
struct Normal {
    matrix: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl Normal {
    fn new(unknowns: usize) -> Normal {
        Normal { matrix: vec![vec![0.0; unknowns]; unknowns], right: vec![0.0; unknowns] }
    }

    fn add(&mut self, places: &[usize], value: f64, variance: f64) {
        for row in places {
            self.right[*row] += value / variance;
            places.iter().for_each(|column| self.matrix[*row][*column] += variance.recip());
        }
    }

    /// The estimate of a sum of unknowns and its variance: by elimination with the sum as the right-hand side.
    fn sum(&self, places: &[usize]) -> (f64, f64) {
        let mut functional = vec![0.0; self.right.len()];
        places.iter().for_each(|place| functional[*place] = 1.0);
        let solved = self.solve(&functional);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        (dot(&solved, &self.right), dot(&solved, &functional))
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (mut a, mut x, n) = (self.matrix.clone(), right.to_vec(), right.len());
        for pivot in 0..n {
            for row in pivot + 1..n {
                let factor = a[row][pivot] / a[pivot][pivot];
                let above = a[pivot].clone();
                a[row].iter_mut().zip(&above).for_each(|(own, above)| *own -= factor * above);
                x[row] -= factor * x[pivot];
            }
        }
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n).map(|column| a[row][column] * x[column]).sum();
            x[row] = (x[row] - known) / a[row][row];
        }
        x
    }
}

/// For every form of the rows of the second histogram, both histograms are estimated separately, as by dense least squares.
#[test]
fn both_histograms_are_estimated_as_by_dense_least_squares() {
    let seconds: [SecondRow; 3] = [&|_| (), &|row| row.shape = vec![1, 1, 3], &|row| {
        (row.axes, row.shape) = (vec!["*".to_string(); 2], vec![3, 1])
    }];
    for second in seconds {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::write(at.join("release.toml"), RELEASE).unwrap();
        let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
        let schema = release.schema.clone().unwrap();
        let normals = product(&at.join("product"), &release, second, false);
        // The noisy counts are artificial and inconsistent.
        let (_, said) = answered(at, &["nmf", "check", "product", "--release", "release.toml"]);
        assert!(said.contains("every variance is one of two-histograms"), "{said}");
        for (own, names) in [(0, &["total", "sex * pairs", "kind", "detailed"][..]), (1, &["tenure"])] {
            let words =
                ["estimate", "--despite-misfit", "--nmf", "product", "--release", "release.toml", "--out", "out.csv"];
            let levels = ["--level", "State", "County", "Block", "--queries"];
            done(at, &[&words[..], &levels, names].concat());
            let text = fs::read_to_string(at.join("out.csv")).unwrap();
            let mut compared = 0;
            for row in estimates::rows(&text) {
                let (_, _, blocks) = UNITS.iter().find(|(_, code, _)| *code == row.get("geocode")).unwrap();
                let (group, count) = (schema.group(row.get("query")).unwrap(), row.cell() as u32);
                let own_cells = if own == 0 { 0..CELLS } else { CELLS..CELLS + 3 };
                let of_count = own_cells.clone().filter(|cell| group.cell_of[*cell] == count);
                let of_count: Vec<usize> = of_count.map(|cell| cell - own_cells.start).collect();
                let width = own_cells.len();
                let places = blocks.clone().flat_map(|block| of_count.iter().map(move |cell| block * width + cell));
                let (estimate, variance) = normals[own].sum(&places.collect::<Vec<_>>());
                approx::assert_abs_diff_eq!(row.number("estimate"), estimate, epsilon = 1e-9);
                approx::assert_relative_eq!(row.number("variance"), variance, max_relative = 1e-9);
                compared += 1;
            }
            assert_eq!(compared, 6 * if own == 0 { 1 + 4 + 4 + 8 } else { 3 });
        }
    }
}

#[test]
fn unknown_parts_of_a_product_are_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), RELEASE).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    product(&at.join("product"), &release, &|_| (), true);
    let (_, said) = answered(at, &["nmf", "check", "product", "--release", "release.toml"]);
    assert!(said.contains("of two histograms or of unknown groups, and not understood: owned"), "{said}");
    let estimate = [
        "estimate",
        "--despite-misfit",
        "--nmf",
        "product",
        "--release",
        "release.toml",
        "--out",
        "out.csv",
        "--queries",
    ];
    for query in ["total", "tenure"] {
        refused(at, &[&estimate[..], &[query]].concat(), "they join two histograms");
        let said = flat(&done(at, &[&estimate[..], &[query, "--constraints", "state-totals"]].concat()));
        assert!(said.contains("Not used, because they are of two histograms or of unknown groups: owned"), "{said}");
    }
    // A row of the second histogram with the wrong shape, the wrong variance, none at all, and with the noise of a county that also has its
    // block's share, unlike in the first histogram.
    let tenure = release.levels[1].queries.iter().find(|query| query.name == "tenure").unwrap();
    let shares = Rational::from(&release.levels[1].rho + &release.levels[2].rho);
    let of_both = variance(&(Rational::from(tenure.sigma2().unwrap() * &release.levels[1].rho) / shares));
    let carries_more = |row: &mut Row| {
        if row.code == "044100031" {
            row.variance = of_both;
        }
    };
    let spoilt: [(SecondRow, &str); 4] = [
        (&|row| row.shape = vec![1, 3, 2], "query_shape is [1, 3, 2]: expected [3]"),
        (&|row| row.variance = 1.0, "the variance of tenure of the "),
        (&|row| row.name = "pairs_dpq".to_string(), "pairs"),
        (
            &carries_more,
            "the County \"044100031\" carries the shares of 2 levels by tenure, and of 1 by its other queries",
        ),
    ];
    for (second, expected) in spoilt {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::write(at.join("release.toml"), RELEASE).unwrap();
        product(&at.join("product"), &release, second, false);
        refused(at, &["nmf", "check", "product", "--release", "release.toml"], expected);
    }
}
