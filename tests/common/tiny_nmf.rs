//! Tiny noisy measurement files: 6 cells, five queries, three levels, two parts of a state and a state whose only block is bypassed.

// Each test uses only a part.
#![allow(dead_code)]

use std::path::Path;

use dp_assay::{
    noise::{DiscreteGaussian, Source, Streams},
    release::Release,
};
use rug::Rational;

use super::nmf_rows::{self, Row};

pub const AXES: [&str; 2] = ["hhgq", "votingage"];
pub const LEVELS: [&str; 3] = ["US", "State", "Block"];
/// The cells of a count: hhgq * 2 + votingage.
pub const CELLS: usize = 6;

/// A query: its name, how it treats the attributes, its shape, and the count of each cell.
pub struct Query {
    pub name: &'static str,
    axes: [&'static str; 2],
    shape: [i32; 2],
    pub count_of: [usize; CELLS],
    /// Its share of the budget of a level, in tenths.
    tenths: u32,
}

impl Query {
    pub fn counts(&self) -> usize {
        (self.shape[0] * self.shape[1]) as usize
    }

    /// The counts of the query for these cells.
    pub fn answer(&self, cells: &[i64; CELLS]) -> Vec<i64> {
        let mut counts = vec![0; self.counts()];
        cells.iter().zip(self.count_of).for_each(|(cell, count)| counts[count] += cell);
        counts
    }
}

pub const QUERIES: [Query; 5] = [
    Query { name: "total", axes: ["*", "*"], shape: [1, 1], count_of: [0; CELLS], tenths: 2 },
    Query { name: "hhgq", axes: ["detailed", "*"], shape: [3, 1], count_of: [0, 0, 1, 1, 2, 2], tenths: 3 },
    Query { name: "inst", axes: ["inst", "*"], shape: [2, 1], count_of: [0, 0, 1, 1, 1, 1], tenths: 1 },
    Query { name: "votingage", axes: ["*", "detailed"], shape: [1, 2], count_of: [0, 1, 0, 1, 0, 1], tenths: 1 },
    Query { name: "detailed", axes: ["detailed", "detailed"], shape: [3, 2], count_of: [0, 1, 2, 3, 4, 5], tenths: 3 },
];

/// The shares of the levels, in quarters of rho = 2.
const QUARTERS: [u32; 3] = [1, 1, 2];

/// sigma2 of a query of a unit that carries the shares of some levels.
pub fn sigma2(level: usize, carried: usize, query: usize) -> Rational {
    let quarters: u32 = QUARTERS[level..level + carried].iter().sum();
    Rational::from((40, 2 * quarters * QUERIES[query].tenths))
}

/// The release as TOML.
pub fn release_text() -> String {
    let levels = LEVELS.iter().zip(QUARTERS).map(|(level, quarters)| {
        let queries = QUERIES
            .iter()
            .map(|query| format!("[[level.query]]\nname = \"{}\"\nproportion = \"{}/10\"\n", query.name, query.tenths));
        format!("[[level]]\nname = \"{level}\"\nproportion = \"{quarters}/4\"\n{}", queries.collect::<String>())
    });
    format!(
        "name = \"tiny-audit\"\ntitle = \"Tiny\"\nsource = \"made up\"\nneighbors = \"bounded\"\nrho = \"2\"\nsigma2_times_rho = \"1\"\n\
         [[attribute]]\nname = \"hhgq\"\nsize = 3\n[[attribute]]\nname = \"votingage\"\nsize = 2\n\
         [[recode]]\nname = \"inst\"\nattribute = \"hhgq\"\ngroups = [[\"0\"], [\"1\", \"2\"]]\n{}",
        levels.collect::<String>()
    )
}

/// A unit.
#[derive(Clone, Debug)]
pub struct Unit {
    pub level: usize,
    pub code: String,
    /// The number of levels whose shares it carries; 0 if it is bypassed.
    pub carried: usize,
    pub cells: [i64; CELLS],
    /// Upper bounds of each type; those of 0 make cells zero.
    pub bounds: [i32; 3],
}

impl Unit {
    /// Whether all cells of a count are zero by the bounds.
    pub fn is_zero(&self, query: &Query, count: usize) -> bool {
        (0..CELLS).filter(|cell| query.count_of[*cell] == count).all(|cell| self.bounds[cell / 2] == 0)
    }

    /// The part of a state.
    pub fn part(&self) -> &str {
        self.code.get(..3).unwrap_or_default()
    }
}

/// The units of the files, level by level in the order of their codes.
pub struct Tiny {
    pub units: Vec<Unit>,
    /// The exact totals of states, as `state,total` of 09, whose parts have none in the files; 44 has one in its rows.
    pub total_of_09: i64,
}

impl Tiny {
    /// Parts with these numbers of blocks; a part with one block takes its share.
    pub fn new(blocks_of: &[(&str, usize)]) -> Tiny {
        let sum = |level: usize, code: &str, carried: usize, below: &[Unit]| {
            let mut unit = Unit { level, code: code.to_string(), carried, cells: [0; CELLS], bounds: [0; 3] };
            for other in below {
                unit.cells.iter_mut().zip(other.cells).for_each(|(own, other)| *own += other);
                unit.bounds.iter_mut().zip(other.bounds).for_each(|(own, other)| *own += other);
            }
            unit
        };
        let (mut states, mut blocks) = (Vec::new(), Vec::new());
        for (part, many) in blocks_of {
            let own: Vec<Unit> = (0..*many)
                .map(|at| {
                    // Type 2 exists nowhere, type 1 in every third block.
                    let has = at % 3 == 0;
                    let at = at as i64;
                    let cells =
                        [3 + at % 7, 5 + at % 4, if has { 2 } else { 0 }, if has { 1 + at % 2 } else { 0 }, 0, 0];
                    let bounds = [99_999, if has { 50 } else { 0 }, 0];
                    let carried = usize::from(*many > 1);
                    Unit { level: 2, code: format!("{part}{at:04}"), carried, cells, bounds }
                })
                .collect();
            states.push(sum(1, part, if *many > 1 { 1 } else { 2 }, &own));
            blocks.extend(own);
        }
        let nation = sum(0, "", 1, &states);
        let total_of_09 = states.iter().filter(|unit| &unit.code[1..] == "09").flat_map(|unit| unit.cells).sum();
        Tiny { units: [nation].into_iter().chain(states).chain(blocks).collect(), total_of_09 }
    }

    /// Two parts of state 09 and the bypassed block of state 44.
    pub fn usual() -> Tiny {
        Tiny::new(&[("009", 9), ("044", 1), ("109", 5)])
    }

    /// Writes the constraints: upper bounds of all units, and exact totals of the nation and of state 44.
    pub fn write_constraints(&self, folder: &Path) {
        self.files("Constraint", folder, |unit| {
            let mut rows = vec![Row::constraint(
                &unit.code,
                "hhgq_total_ub",
                "<=",
                &["detailed", "*"],
                &[3, 1],
                unit.bounds.to_vec(),
            )];
            if unit.level == 0 || unit.code == "044" {
                let total = unit.cells.iter().sum::<i64>() as i32;
                rows.push(Row::constraint(&unit.code, "total", "=", &["*", "*"], &[1, 1], vec![total]));
            }
            rows
        });
    }

    /// Writes noisy counts: the true ones plus the noise of each unit, query and count.
    pub fn write_counts(&self, folder: &Path, mut noise: impl FnMut(&Unit, usize, usize) -> i64) {
        self.files("DPQuery", folder, |unit| {
            if unit.carried == 0 {
                return Vec::new();
            }
            let row = |(at, query): (usize, &Query)| {
                let counts = query.answer(&unit.cells).into_iter().enumerate();
                let values = counts.map(|(count, value)| (value + noise(unit, at, count)) as i32).collect();
                let described = (query.axes.map(String::from).to_vec(), query.shape.to_vec());
                let variance = nmf_rows::variance(&sigma2(unit.level, unit.carried, at));
                Row::query(&unit.code, query.name, described, values, variance)
            };
            QUERIES.iter().enumerate().map(row).collect()
        });
    }

    fn files(&self, kind: &str, folder: &Path, mut rows: impl FnMut(&Unit) -> Vec<Row>) {
        for (level, name) in LEVELS.iter().enumerate() {
            let mut parts: Vec<&str> =
                self.units.iter().filter(|unit| unit.level == level).map(|unit| unit.part()).collect();
            parts.dedup();
            for part in parts {
                let own = self.units.iter().filter(|unit| unit.level == level && unit.part() == part);
                let rows: Vec<Row> = own.flat_map(&mut rows).collect();
                let state = if level == 0 { String::new() } else { format!("State={part}/") };
                if !rows.is_empty() {
                    let path = folder.join(format!("{name}.parquet/{kind}/{state}part-0.parquet"));
                    nmf_rows::write(&path, &AXES, &rows);
                }
            }
        }
    }
}

/// The release.
pub fn release(folder: &Path) -> Release {
    let path = folder.join("tiny-audit.toml");
    std::fs::write(&path, release_text()).unwrap();
    Release::find(path.to_str().unwrap()).unwrap()
}

/// True noise of the declared laws from a seed.
pub struct Noise {
    samplers: Vec<(Rational, dp_assay::noise::Sampler)>,
    source: Source,
}

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise { samplers: Vec::new(), source: Streams::with_insecure_seed(seed).take() }
    }

    /// The next draw for a unit and query.
    pub fn draw(&mut self, unit: &Unit, query: usize) -> i64 {
        let sigma2 = sigma2(unit.level, unit.carried, query);
        let at = self.samplers.iter().position(|(own, _)| *own == sigma2).unwrap_or_else(|| {
            let sampler = DiscreteGaussian::new(sigma2.clone()).unwrap().sampler().unwrap();
            self.samplers.push((sigma2, sampler));
            self.samplers.len() - 1
        });
        self.samplers[at].1.sample(&mut self.source)
    }
}
