//! A small product with the attributes, recodes and constraints of the DHC.

// Each test uses only a part.
#![allow(dead_code)]

use std::path::Path;

use dp_assay::release::{Release, schema::Kept};

pub use crate::common::nmf_rows::Row;
use crate::common::{nmf_rows, numbers::Numbers};

/// Relationships 0 to 2 and three types of group quarters; single years and two groups of ages. The recodes of relgq are neither nested nor
/// in order, as in the DHC. Without constraints 1 and 2 would be interchangeable, and so would ages 0 and 1.
pub const RELEASE: &str = r#"
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

pub const AXES: [&str; 4] = ["relgq", "sex", "age", "cenrace"];
pub const SIZES: [usize; 4] = [6, 2, 7, 3];
pub const CELLS: usize = 252;
pub const QUERIES: [&str; 7] = [
    "age_halves * relgq_groups",
    "age_groups * sex",
    "gq_constr_groups * age_groups",
    "relship_and_GQ",
    "sex * age_groups * relship_and_GQ * cenrace",
    "relgq * age_groups * cenrace * sex",
    "detailed",
];
/// Additional queries: sums over attributes, recodes and single values.
pub const MARGINALS: [&str; 5] = ["total", "age", "sex * cenrace", "relgq * sex", "age_halves * cenrace"];
/// The constraints that make cells zero: relationship and ages. The first two are zero at the same ages.
pub const ZEROS: [(&str, &str, [usize; 2]); 3] =
    [("relgq0", "age_lessthan2", [0, 1]), ("relgq1", "age_lessthan2", [0, 1]), ("relgq4", "age_greaterthan4", [5, 6])];

/// The code of a unit and its blocks.
pub type Unit = (&'static str, std::ops::Range<usize>);

/// A modification of the constraints of a level.
pub type Spoil<'a> = &'a dyn Fn(&mut Vec<Row>);

/// Levels, and their units.
pub const UNITS: [(&str, &[Unit]); 4] = [
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
pub const FACILITIES: [[i32; 3]; 4] = [[0, 0, 0], [1, 0, 2], [0, 1, 0], [0, 0, 0]];
pub const TOTAL: f64 = 7000.0;

pub fn release() -> String {
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

/// The index of a query's count for each cell.
pub fn count_of(release: &Release, name: &str) -> Vec<usize> {
    let schema = release.schema.as_ref().unwrap();
    let mut count_of = vec![0; CELLS];
    for (axis, kept) in schema.keeps(name).unwrap().iter().enumerate() {
        let group: Vec<usize> = match kept {
            None => vec![0; SIZES[axis]],
            Some(Kept::Whole) => (0..SIZES[axis]).collect(),
            Some(Kept::Recode(recode)) => {
                schema.recodes[*recode].group_of.iter().map(|group| *group as usize).collect()
            }
        };
        let groups = group.iter().max().unwrap() + 1;
        let inner: usize = SIZES[axis + 1..].iter().product();
        count_of.iter_mut().enumerate().for_each(|(cell, count)| {
            *count = *count * groups + group[cell / inner % SIZES[axis]];
        });
    }
    count_of
}

/// A unit's answer to a query, as in the files: level, blocks, the count of each cell, variance, noisy counts.
pub struct Measured {
    pub blocks: std::ops::Range<usize>,
    pub count_of: Vec<usize>,
    pub variance: f32,
    pub counts: Vec<i32>,
}

/// Writes the product and returns its contents.
pub fn product(folder: &Path, release: &Release) -> Vec<Measured> {
    spoilt_product(folder, release, &|_| ())
}

/// The same after a modification of the constraints of each level.
pub fn spoilt_product(folder: &Path, release: &Release, spoil: Spoil) -> Vec<Measured> {
    let mut numbers = Numbers(7);
    let mut all = Vec::new();
    for (at, (level, units)) in UNITS.iter().enumerate() {
        let (mut rows, mut constraints) = (Vec::new(), Vec::new());
        for (code, blocks) in *units {
            for query in &release.levels[at].queries {
                let count_of = count_of(release, &query.name);
                let variance = nmf_rows::variance(query.sigma2().unwrap());
                let described = nmf_rows::described(release.schema.as_ref().unwrap(), &query.name);
                let many = described.1.iter().product::<i32>();
                let counts: Vec<i32> = (0..many).map(|_| numbers.below(90) as i32 - 20).collect();
                rows.push(Row::query(code, &query.name, described, counts.clone(), variance));
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

/// The constraints of a unit: those of the DHC, and the published table, which must be ignored.
pub fn of_unit(level: usize, code: &str, blocks: std::ops::Range<usize>) -> Vec<Row> {
    let row = |name: &str, sign, axes: [&str; 4], shape: [i32; 4], values| {
        Row::constraint(code, name, sign, &axes, &shape, values)
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
