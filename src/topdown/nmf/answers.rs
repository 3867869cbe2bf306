//! Which counts are asked for, of which units or areas, and the answers.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use super::names::parts_of;
use crate::{
    error::{Error, Result},
    release::schema::Schema,
    spine::csv_table::{BLOCK_NAMES, CsvTable},
    topdown::gls::{
        basis::Part,
        belief::Belief,
        problem::Problem,
        query::{CountClass, SectorQuery},
    },
};

/// The queries that are answered.
#[derive(Debug)]
pub struct Answers {
    queries: Vec<AnsweredQuery>,
}

#[derive(Debug)]
struct AnsweredQuery {
    name: String,
    query: SectorQuery,
    class_of: Vec<u32>,
    classes: Vec<CountClass>,
}

/// Estimates of one query of one unit or area, with their variances: a number for each count.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The number of the query.
    pub query: usize,
    /// The estimates.
    pub estimates: Vec<f64>,
    /// Their variances; 0 where constraints fix a count.
    pub variances: Vec<f64>,
}

/// The parts of queries by name.
pub fn named_parts(schema: &Schema, names: &[String]) -> Result<Vec<Vec<Part>>> {
    names.iter().map(|name| parts_of(schema, name)).collect()
}

impl Answers {
    /// The queries of these names and parts.
    pub fn new(problem: &Problem, names: &[String], parts: &[Vec<Part>]) -> Answers {
        let answered = |(name, parts): (&String, &Vec<Part>)| {
            let query = SectorQuery::new(&problem.basis, parts);
            let (class_of, classes) = query.classes(&problem.basis);
            AnsweredQuery { name: name.clone(), query, class_of, classes }
        };
        Answers { queries: names.iter().zip(parts).map(answered).collect() }
    }

    /// The names of the queries.
    pub fn names(&self) -> Vec<&str> {
        self.queries.iter().map(|answered| answered.name.as_str()).collect()
    }

    /// What an estimate says of each query.
    pub fn of(&self, problem: &Problem, belief: &Belief) -> Vec<Answer> {
        let x = problem.expand(&belief.shape, &belief.x);
        let answer = |(query, answered): (usize, &AnsweredQuery)| {
            let variance = |class: &CountClass| problem.variance(class, &belief.shape, &belief.covariance);
            let by_class: Vec<f64> = answered.classes.iter().map(variance).collect();
            let variances = answered.class_of.iter().map(|class| by_class[*class as usize]).collect();
            Answer { query, estimates: answered.query.answer(&problem.basis, &x), variances }
        };
        self.queries.iter().enumerate().map(answer).collect()
    }
}

/// The GEOID of a block in 15 digits, from a spine code or from 16 digits, which have the digit of the block group twice.
pub fn geoid_of(code: &[u8]) -> Option<u64> {
    if !code.iter().all(u8::is_ascii_digit) || code.len() < 15 {
        return None;
    }
    let digits = |text: &[u8]| text.iter().fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    if code.len() == 15 {
        return Some(digits(code));
    }
    let tail = &code[code.len() - 16..];
    (tail[11] == tail[12]).then(|| digits(&tail[..11]) * 10_000 + digits(&tail[12..]))
}

/// Areas, each a set of blocks.
#[derive(Clone, Debug, Default)]
pub struct Areas {
    /// What they are called.
    pub names: Vec<String>,
    /// The areas of each block, by its GEOID.
    pub of_block: HashMap<u64, Vec<u32>>,
    /// The states that each area has blocks in.
    pub states: Vec<BTreeSet<u32>>,
}

impl Areas {
    /// Reads a CSV with the columns `area` and `block`, where a block is a spine code or a GEOID.
    pub fn read(path: &Path) -> Result<Areas> {
        let mut table = CsvTable::open(path)?;
        let (area, block) = (table.column(&["area"])?, table.column(&BLOCK_NAMES)?);
        let mut areas = Areas::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        while table.next()? {
            let name = String::from_utf8_lossy(table.cell(area)).to_string();
            let geoid = geoid_of(table.cell(block)).ok_or_else(|| {
                let why = format!(
                    "{:?} is no block: expected a GEOID of 15 digits, or a spine code that ends in 16 digits with the block \
                     group twice",
                    table.shown(block)
                );
                table.refuse(block + 1, &why)
            })?;
            let number = areas.number(&mut numbers, name);
            if !areas.add(number, geoid) {
                return Err(table.refuse(block + 1, "the block is in its area twice"));
            }
        }
        if areas.names.is_empty() {
            return Err(table.refuse(0, "no area: a header and a line for each block of each area are needed"));
        }
        Ok(areas)
    }

    /// The areas that share the first digits of the GEOIDs of some blocks: tabulation units.
    pub fn by_digits(digits: u32, blocks: impl Iterator<Item = u64>) -> Areas {
        let mut names: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for geoid in blocks {
            names.entry(geoid / 10_u64.pow(15 - digits)).or_default().push(geoid);
        }
        let mut areas = Areas::default();
        for (prefix, blocks) in names {
            let number = areas.names.len() as u32;
            areas.names.push(format!("{prefix:0width$}", width = digits as usize));
            areas.states.push(BTreeSet::new());
            blocks.into_iter().for_each(|geoid| {
                areas.add(number, geoid);
            });
        }
        areas
    }

    fn number(&mut self, numbers: &mut HashMap<String, u32>, name: String) -> u32 {
        if let Some(number) = numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.states.push(BTreeSet::new());
        numbers.insert(name, number);
        number
    }

    fn add(&mut self, area: u32, geoid: u64) -> bool {
        self.states[area as usize].insert((geoid / 10_u64.pow(13)) as u32);
        let areas = self.of_block.entry(geoid).or_default();
        let new = !areas.contains(&area);
        if new {
            areas.push(area);
        }
        new
    }

    /// Refuses blocks that were not found among those that were read.
    pub fn check_found(&self, found: impl Fn(u64) -> bool) -> Result<()> {
        let lost = self.of_block.keys().filter(|geoid| !found(**geoid)).min();
        let Some(lost) = lost else { return Ok(()) };
        let area = self.of_block[lost].first().map_or("", |area| self.names[*area as usize].as_str());
        let expected = "a block of the states that are read; the files of noisy measurements list only blocks with housing \
                        units or group quarters";
        Err(Error::out_of_range(&format!("a block of the area {area:?}"), format!("{lost:015}"), expected))
    }
}
