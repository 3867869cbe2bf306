//! A small product with the attributes, recodes and constraints of the DHC, against dense least squares over all its cells.

#[path = "common/nmf_rows.rs"]
mod nmf_rows;
#[path = "common/numbers.rs"]
mod numbers;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    process::Command,
};

use dp_assay::{noise::DiscreteGaussian, release::Release};
use nmf_rows::Row;
use numbers::Numbers;

/// Relationships 0 to 2 and three types of group quarters; single years and two groups of ages. The recodes of relgq are neither
/// nested nor in order, as in the DHC; 1 and 2 may change places but for the constraints, and so may ages 0 and 1.
const RELEASE: &str = r#"
name = "small-dhc"
title = "Persons"
source = "made up"
neighbors = "bounded"
rho = "2"

[[attribute]]
name = "relgq"
size = 6
[[attribute]]
name = "sex"
values = ["male", "female"]
[[attribute]]
name = "age"
size = 7
[[attribute]]
name = "cenrace"
size = 3

[[recode]]
name = "relgq_groups"
attribute = "relgq"
groups = [["0"], ["1", "2"], ["3", "4", "5"]]
[[recode]]
name = "relship_and_GQ"
attribute = "relgq"
groups = [["0"], ["1"], ["2"], ["3", "4"], ["5"]]
[[recode]]
name = "gq_constr_groups"
attribute = "relgq"
groups = [["0", "1", "2"], ["3", "5"], ["4"]]
[[recode]]
name = "gqlevels"
attribute = "relgq"
groups = [["0", "1", "2"], ["3"], ["4"], ["5"]]
[[recode]]
name = "age_groups"
attribute = "age"
groups = [["0"], ["1"], ["2"], ["3", "4"], ["5", "6"]]
[[recode]]
name = "age_halves"
attribute = "age"
groups = [["0", "1", "2"], ["3", "4", "5", "6"]]

[[selection]]
name = "relgq0"
attribute = "relgq"
values = ["0"]
[[selection]]
name = "relgq1"
attribute = "relgq"
values = ["1"]
[[selection]]
name = "relgq4"
attribute = "relgq"
values = ["4"]
[[selection]]
name = "age_lessthan2"
attribute = "age"
values = ["0", "1"]
[[selection]]
name = "age_greaterthan4"
attribute = "age"
values = ["5", "6"]
"#;

const AXES: [&str; 4] = ["relgq", "sex", "age", "cenrace"];
const SIZES: [usize; 4] = [6, 2, 7, 3];
const CELLS: usize = 252;
const QUERIES: [&str; 7] = [
    "age_halves * relgq_groups",
    "age_groups * sex",
    "gq_constr_groups * age_groups",
    "relship_and_GQ",
    "sex * age_groups * relship_and_GQ * cenrace",
    "relgq * age_groups * cenrace * sex",
    "detailed",
];
/// What is asked besides: sums over attributes, recodes and single values.
const MARGINALS: [&str; 5] = ["total", "age", "sex * cenrace", "relgq * sex", "age_halves * cenrace"];
/// Relationship, ages: the constraints that make cells zero. The first two are zero at the same ages.
const ZEROS: [(&str, &str, [usize; 2]); 3] =
    [("relgq0", "age_lessthan2", [0, 1]), ("relgq1", "age_lessthan2", [0, 1]), ("relgq4", "age_greaterthan4", [5, 6])];

/// The code of a unit and which blocks it has.
type Unit = (&'static str, std::ops::Range<usize>);

/// What is done to the constraints of a level.
type Spoil<'a> = &'a dyn Fn(&mut Vec<Row>);

/// Levels, and their units.
const UNITS: [(&str, &[Unit]); 4] = [
    ("US", &[("", 0..4)]),
    ("State", &[("044", 0..4)]),
    ("County", &[("044100011", 0..2), ("044100031", 2..4)]),
    (
        "Block",
        &[
            ("0441000114400100010011001", 0..1),
            ("0441000114400100010011002", 1..2),
            ("0441000314400300010011001", 2..3),
            ("0441000314400300010011002", 3..4),
        ],
    ),
];
/// Facilities of the three types of group quarters by block.
const FACILITIES: [[i32; 3]; 4] = [[0, 0, 0], [1, 0, 2], [0, 1, 0], [0, 0, 0]];
const TOTAL: f64 = 7000.0;

fn release() -> String {
    let mut text = RELEASE.to_string();
    for (level, (share, first)) in UNITS.iter().zip([("1/10", 2), ("2/5", 1), ("3/10", 4), ("1/5", 3)]) {
        let all = 6 + first;
        text.push_str(&format!("\n[[level]]\nname = \"{}\"\nproportion = \"{share}\"\n", level.0));
        for (at, query) in QUERIES.iter().enumerate() {
            let own = if at == 0 { first } else { 1 };
            text.push_str(&format!("[[level.query]]\nname = \"{query}\"\nproportion = \"{own}/{all}\"\n"));
        }
    }
    text
}

/// For each cell its count of a query; and how the query treats each attribute.
fn query(release: &Release, name: &str) -> (Vec<usize>, Vec<String>, Vec<i32>) {
    let schema = release.schema.as_ref().unwrap();
    let kept = schema.keeps(name).unwrap();
    let (mut count_of, mut axes, mut shape) = (vec![0; CELLS], Vec::new(), Vec::new());
    for (axis, kept) in kept.iter().enumerate() {
        let group: Vec<usize> = match kept {
            None => vec![0; SIZES[axis]],
            Some(dp_assay::release::schema::Kept::Whole) => (0..SIZES[axis]).collect(),
            Some(dp_assay::release::schema::Kept::Recode(recode)) => {
                schema.recodes[*recode].group_of.iter().map(|group| *group as usize).collect()
            }
        };
        let groups = group.iter().max().unwrap() + 1;
        let inner: usize = SIZES[axis + 1..].iter().product();
        count_of.iter_mut().enumerate().for_each(|(cell, count)| {
            *count = *count * groups + group[cell / inner % SIZES[axis]];
        });
        axes.push(match kept {
            None => "*".to_string(),
            Some(dp_assay::release::schema::Kept::Whole) => "detailed".to_string(),
            Some(dp_assay::release::schema::Kept::Recode(recode)) => schema.recodes[*recode].name.clone(),
        });
        shape.push(groups as i32);
    }
    (count_of, axes, shape)
}

/// A unit's answer to a query, as it stands in the files: level, blocks, the count of each cell, variance, noisy counts.
struct Measured {
    blocks: std::ops::Range<usize>,
    count_of: Vec<usize>,
    variance: f32,
    counts: Vec<i32>,
}

/// Writes the product and says what is in it.
fn product(folder: &Path, release: &Release) -> Vec<Measured> {
    spoilt_product(folder, release, &|_| ())
}

/// The same, after something was done to the constraints of each level.
fn spoilt_product(folder: &Path, release: &Release, spoil: Spoil) -> Vec<Measured> {
    let mut numbers = Numbers(7);
    let mut all = Vec::new();
    for (at, (level, units)) in UNITS.iter().enumerate() {
        let (mut rows, mut constraints) = (Vec::new(), Vec::new());
        for (code, blocks) in *units {
            for asked in &release.levels[at].queries {
                let (count_of, axes, shape) = query(release, &asked.name);
                let law = DiscreteGaussian::new(asked.sigma2().unwrap().clone()).unwrap();
                let variance = law.variance(12).approximate() as f32;
                let many = shape.iter().product::<i32>();
                let counts: Vec<i32> = (0..many).map(|_| numbers.below(90) as i32 - 20).collect();
                let (code, name) = ((*code).to_string(), format!("{}_dpq", asked.name));
                rows.push(Row { code, name, sign: "", axes, shape, values: counts.clone(), variance });
                all.push(Measured { blocks: blocks.clone(), count_of, variance, counts });
            }
            constraints.extend(of_unit(at, code, blocks.clone()));
        }
        let place = |kind: &str| {
            let state = if at == 0 { "" } else { "State=044/" };
            folder.join(format!("{level}.parquet/{kind}/{state}part.parquet"))
        };
        spoil(&mut constraints);
        nmf_rows::write(&place("DPQuery"), &AXES, &rows);
        nmf_rows::write(&place("Constraint"), &AXES, &constraints);
    }
    all
}

/// The constraints of a unit: those of the DHC, and the published table, which nothing is to be made of.
fn of_unit(level: usize, code: &str, blocks: std::ops::Range<usize>) -> Vec<Row> {
    let row = |name: &str, sign, axes: [&str; 4], shape: [i32; 4], values: Vec<i32>| Row {
        code: code.to_string(),
        name: format!("{name}_con"),
        sign,
        axes: axes.map(str::to_string).to_vec(),
        shape: shape.to_vec(),
        values,
        variance: 0.0,
    };
    let sum = |scale: i32, first: i32| {
        let facilities = (0..3).map(|kind| blocks.clone().map(|block| FACILITIES[block][kind] * scale).sum());
        std::iter::once(first * blocks.len() as i32).chain(facilities).collect::<Vec<i32>>()
    };
    let gq = ["gqlevels", "*", "*", "*"];
    let published = (0..18).map(|at| blocks.clone().map(|block| (at * 7 + block as i32) % 5).sum()).collect();
    let mut rows = vec![
        row("hhgq_total_lb", ">=", gq, [4, 1, 1, 1], sum(1, 0)),
        row("hhgq_total_ub", "<=", gq, [4, 1, 1, 1], sum(99_999, 99_999)),
        row("pl94", "=", ["detailed", "*", "*", "cenrace"], [6, 1, 1, 3], published),
    ];
    for (relationship, ages, _) in ZEROS {
        let name = format!("{relationship}_{}", ages.trim_start_matches("age_"));
        rows.push(row(&name, "=", [relationship, "*", ages, "*"], [1, 1, 1, 1], vec![0]));
    }
    if level == 0 {
        rows.push(row("total", "=", ["*", "*", "*", "*"], [1, 1, 1, 1], vec![TOTAL as i32]));
    }
    rows
}

/// Whether constraints make a cell of a block zero.
fn is_zero(block: usize, cell: usize) -> bool {
    let (relgq, age) = (cell / (2 * 7 * 3), cell / 3 % 7);
    let structural =
        [(0, [0, 1]), (1, [0, 1]), (4, [5, 6])].iter().any(|(own, ages)| *own == relgq && ages.contains(&age));
    structural || (relgq >= 3 && FACILITIES[block][relgq - 3] == 0)
}

/// The estimates of all free cells of all leaves, the units of the lowest level, and their covariance.
struct Dense {
    place: HashMap<(usize, usize), usize>,
    x: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

fn dense(measured: &[Measured], leaves: &[Unit], with_zeros: bool) -> Dense {
    let mut place = HashMap::new();
    for (leaf, (_, blocks)) in leaves.iter().enumerate() {
        let is_zero = |cell: usize| blocks.clone().all(|block| is_zero(block, cell));
        for cell in (0..CELLS).filter(|cell| !with_zeros || !is_zero(*cell)) {
            place.insert((leaf, cell), place.len());
        }
    }
    let n = place.len();
    let (mut normal, mut right) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    // Units below the leaves are not there.
    let is_there = |own: &&Measured| own.blocks.len() >= leaves[0].1.len();
    for own in measured.iter().filter(is_there) {
        let weight = f64::from(own.variance).recip();
        let mut of_count: Vec<Vec<usize>> = vec![Vec::new(); own.counts.len()];
        for leaf in leaves_in(leaves, &own.blocks) {
            for cell in 0..CELLS {
                of_count[own.count_of[cell]].extend(place.get(&(leaf, cell)));
            }
        }
        for (places, value) in of_count.iter().zip(&own.counts) {
            for row in places {
                right[*row] += weight * f64::from(*value);
                places.iter().for_each(|column| normal[*row][*column] += weight);
            }
        }
    }
    let mut covariance = inverse(&normal);
    let apply = |matrix: &[Vec<f64>], x: &[f64]| -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    };
    let mut x = apply(&covariance, &right);
    for _ in 0..2 {
        let rest: Vec<f64> = apply(&normal, &x).iter().zip(&right).map(|(a, b)| b - a).collect();
        x.iter_mut().zip(apply(&covariance, &rest)).for_each(|(x, step)| *x += step);
    }
    if with_zeros {
        // The exact total: an answer without noise.
        let column: Vec<f64> = covariance.iter().map(|row| row.iter().sum()).collect();
        let (variance, has): (f64, f64) = (column.iter().sum(), x.iter().sum());
        x.iter_mut().zip(&column).for_each(|(x, c)| *x += c * (TOTAL - has) / variance);
        for (row, c) in covariance.iter_mut().zip(&column) {
            row.iter_mut().zip(&column).for_each(|(entry, d)| *entry -= c * d / variance);
        }
    }
    Dense { place, x, covariance }
}

/// The leaves among some blocks.
fn leaves_in<'a>(leaves: &'a [Unit], blocks: &'a std::ops::Range<usize>) -> impl Iterator<Item = usize> + 'a {
    let inside = |(_, (_, own)): &(usize, &Unit)| blocks.start <= own.start && own.end <= blocks.end;
    leaves.iter().enumerate().filter(inside).map(|(leaf, _)| leaf)
}

/// By Cholesky: L, its inverse, and their product.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for row in 0..n {
        for column in 0..=row {
            let (own, other) = (&lower[row][..column], &lower[column][..column]);
            let rest = matrix[row][column] - own.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            lower[row][column] = if row == column { rest.sqrt() } else { rest / lower[column][column] };
        }
    }
    // The columns of the inverse of L, each from its diagonal on.
    let mut columns = vec![vec![0.0; n]; n];
    for (at, column) in columns.iter_mut().enumerate() {
        for row in at..n {
            let sum: f64 = lower[row][at..row].iter().zip(&column[at..row]).map(|(a, b)| a * b).sum();
            column[row] = (f64::from(u8::from(row == at)) - sum) / lower[row][row];
        }
    }
    let dot = |a: usize, b: usize| columns[a].iter().zip(&columns[b]).skip(a.max(b)).map(|(a, b)| a * b).sum::<f64>();
    (0..n).map(|a| (0..n).map(|b| dot(a, b)).collect()).collect()
}

fn done(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(folder).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Estimates and variances by level, code, query and cell.
fn estimates(
    folder: &Path,
    constraints: &str,
    queries: &[&str],
) -> BTreeMap<(String, String, String, usize), (f64, f64)> {
    let estimate = ["estimate", "--nmf", "product", "--release", "release.toml", "--constraints", constraints];
    // All levels that are there.
    let there = ["US", "State", "County", "Block"];
    let there = there.iter().filter(|level| folder.join(format!("product/{level}.parquet")).is_dir()).copied();
    let levels: Vec<&str> = ["--out", "out.csv", "--level"].into_iter().chain(there).chain(["--queries"]).collect();
    done(folder, &[&estimate[..], &levels, queries].concat());
    let text = fs::read_to_string(folder.join("out.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let key = (cells[0].to_string(), cells[1].to_string(), cells[3].to_string(), cells[4].parse().unwrap());
        (key, (cells[5].parse().unwrap(), cells[6].parse().unwrap()))
    };
    text.lines().skip(1).map(row).collect()
}

type Found = BTreeMap<(String, String, String, usize), (f64, f64)>;

/// Holds estimates of units of some levels, of which the last has the leaves, against dense ones.
fn assert_like(found: &Found, dense: &Dense, (release, names): (&Release, &[&str]), levels: &[(&str, &[Unit])]) {
    let leaves = levels[levels.len() - 1].1;
    let (mut compared, mut worst) = (0, (0.0_f64, 0.0_f64));
    for (level, units) in levels {
        for (code, blocks) in *units {
            for name in names {
                let (count_of, _, shape) = query(release, name);
                for count in 0..shape.iter().product::<i32>() as usize {
                    let cells = (0..CELLS).filter(|cell| count_of[*cell] == count);
                    let places: Vec<usize> = cells
                        .flat_map(|cell| leaves_in(leaves, blocks).map(move |leaf| (leaf, cell)))
                        .filter_map(|key| dense.place.get(&key).copied())
                        .collect();
                    let estimate: f64 = places.iter().map(|place| dense.x[*place]).sum();
                    let terms = places.iter().flat_map(|row| places.iter().map(|other| dense.covariance[*row][*other]));
                    let variance: f64 = terms.sum();
                    let key = (level.to_string(), (*code).to_string(), (*name).to_string(), count);
                    let (own, own_variance) = found[&key];
                    if variance < 1e-7 {
                        assert!(own_variance == 0.0 && (own - estimate).abs() < 1e-7, "{key:?}: {own} {own_variance}");
                    } else {
                        worst.0 = worst.0.max((own - estimate).abs() / variance.sqrt());
                        worst.1 = worst.1.max((own_variance / variance - 1.0).abs());
                    }
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} counts, at most {:.1e} deviations, {:.1e} of a variance", worst.0, worst.1);
    assert!(compared == found.len() && worst.0 < 1e-9 && worst.1 < 1e-9, "{worst:?}");
}

/// Whoever has the files of some levels alone estimates from these.
#[test]
fn a_folder_that_ends_above_blocks_is_estimated_from_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    let measured = product(&at.join("product"), &release);
    fs::remove_dir_all(at.join("product/Block.parquet")).unwrap();
    let all: Vec<&str> = QUERIES.iter().chain(&MARGINALS).copied().collect();
    for (constraints, with_zeros) in [("none", false), ("all", true)] {
        let found = estimates(at, constraints, &all);
        assert_like(&found, &dense(&measured, UNITS[2].1, with_zeros), (&release, &all), &UNITS[..3]);
    }
    let words = ["estimate", "--nmf", "product", "--release", "release.toml", "--out", "all.csv"];
    assert!(done(at, &words).contains("Not in the folder, and without a part in this: Block"));
    let text = fs::read_to_string(at.join("all.csv")).unwrap();
    assert!(text.lines().any(|line| line.starts_with("County,044100031,44003,total,0,")), "{text}");
    fs::write(at.join("areas.csv"), "area,block\nx,440010001001001\n").unwrap();
    fs::write(at.join("truth.csv"), "block,relgq,sex,age,cenrace,count\n").unwrap();
    for (options, expected) in [
        (["--level", "Block"], "the level Block = without its files"),
        (["--areas", "areas.csv"], "Block.parquet in the folder, which has US, State, County"),
        (["--truth", "truth.csv"], "Block.parquet in the folder"),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(at).args(words).args(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && said.contains(expected), "{said}");
    }
}

#[test]
fn estimates_are_those_of_dense_least_squares_over_all_cells() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    let measured = product(&at.join("product"), &release);
    let all: Vec<&str> = QUERIES.iter().chain(&MARGINALS).copied().collect();
    for (constraints, with_zeros) in [("none", false), ("all", true)] {
        let found = estimates(at, constraints, &all);
        assert_like(&found, &dense(&measured, UNITS[3].1, with_zeros), (&release, &all), &UNITS);
        // Alone, a query is answered from its own sectors: the same.
        for name in ["total", "sex * cenrace", "gq_constr_groups * age_groups"] {
            for (key, (own, variance)) in estimates(at, constraints, &[name]) {
                let (both, both_variance) = found[&key];
                let tolerance = if both_variance == 0.0 { 1e-7 } else { 1e-9 * both_variance.sqrt() };
                assert!((own - both).abs() < tolerance, "{key:?}: {own} for {both}");
                assert!((variance - both_variance).abs() <= 1e-9 * both_variance, "{key:?}");
            }
        }
    }
}

/// What `check` says of a product whose constraints were spoilt.
fn checked(spoil: Spoil) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    spoilt_product(&at.join("product"), &release, spoil);
    let words = ["nmf", "check", "product", "--release", "release.toml"];
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(at).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_check_holds_zeros_tables_and_bounds_against_each_other() {
    let (well, said) = checked(&|_| ());
    // Two relationships below 2, of both sexes and three races, and one type of group quarters above 4.
    assert!(well && said.contains("3 constraints of every unit make 36 cells zero"), "{said}");
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

/// The exact totals of states that the files have: those of a table that says so, or rows of totals.
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
            let (code, axes) = (row.code.clone(), vec!["*".to_string(); 4]);
            let (name, shape, values) = ("total_con".to_string(), vec![1; 4], vec![7000]);
            rows.push(Row { code, name, sign: "=", axes, shape, values, variance: 0.0 });
        }
    };
    let estimated = |text: &str, spoil: Spoil, options: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::write(at.join("release.toml"), text).unwrap();
        fs::write(at.join("totals.csv"), "state,total\n44,7000\n").unwrap();
        fs::write(at.join("others.csv"), "state,total\n44,7001\n").unwrap();
        let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
        spoilt_product(&at.join("product"), &release, spoil);
        let words = [
            "estimate",
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
        let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(at).args(words).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        (fs::read_to_string(at.join("out.csv")).unwrap_or_default(), said)
    };
    // Given, from a table, and from a row.
    let (given, said) = estimated(&text[0], &without_total, &["--state-totals", "totals.csv"]);
    let is_exact = |text: &str| {
        let row = text.lines().find(|line| line.starts_with("State,044,44,total,0,")).unwrap();
        let numbers: Vec<f64> = row.split(',').skip(5).map(|number| number.parse().unwrap()).collect();
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
    // Nothing is kept, and the table that does not say so is not used.
    let (nothing, said) = estimated(&text[1], &exact, &["--constraints", "none"]);
    assert!(nothing != given && !said.contains("Exact totals"), "{said}");
    let (nothing, said) = estimated(&text[0], &exact, &[]);
    assert!(!is_exact(&nothing) && !said.contains("Exact totals"), "{said}");
    // Contradictions: with what was given, between two constraints of a unit, and with the root.
    let (_, said) = estimated(&text[1], &exact, &["--state-totals", "others.csv"]);
    assert!(
        said.contains("the exact total of the state 44 = 7001 is out of range: 7000, as the constraints"),
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
