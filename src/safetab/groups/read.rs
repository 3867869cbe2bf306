//! Reads and checks the four files of a specification.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use super::specification::{Iteration, IterationKind, Specification};
use crate::safetab::schema::{
    Granularity, IterationCode, IterationLevel, RaceEthCode, Rule, RunScope, ValidationReport,
    rows::{OtherColumns, Row, name_of, read_rows},
    validation::Location,
};

const RACE_ITERATIONS: &str = "race-characteristic-iterations.txt";
const ETHNICITY_ITERATIONS: &str = "ethnicity-characteristic-iterations.txt";
const CODES: &str = "race-and-ethnicity-codes.txt";
const MAP: &str = "race-and-ethnicity-code-to-iteration.txt";

/// The files of a specification, in the order of reading.
pub const FILES: [&str; 4] = [RACE_ITERATIONS, ETHNICITY_ITERATIONS, CODES, MAP];

impl Specification {
    /// Reads and checks the four files of a folder. The result follows the correct rows; `None` if a file cannot be read.
    pub fn read(folder: &Path, scope: impl AsRef<RunScope>, report: &mut ValidationReport) -> Option<Specification> {
        let mut all = Iterations::default();
        let race = read_race_iterations(&folder.join(RACE_ITERATIONS), &mut all, report);
        let ethnicity = read_ethnicity_iterations(&folder.join(ETHNICITY_ITERATIONS), &mut all, report);
        let codes = read_codes(&folder.join(CODES), report);
        let (Some(()), Some(()), Some(codes)) = (race, ethnicity, codes) else { return None };
        let pairs = read_map(&folder.join(MAP), &all, &codes, report)?;
        let with_code: BTreeSet<IterationCode> = pairs.iter().map(|(iteration, _)| *iteration).collect();
        for (code, (file, line)) in all.places.iter().filter(|(code, _)| !with_code.contains(code)) {
            let at = Location { file, line: *line, column: 1, field: "ITERATION_CODE" };
            report.add(at, Rule::NoCode, code.to_string(), &format!("an iteration with a code in {MAP}"));
        }
        let iterations: Vec<Iteration> = all.iterations.into_values().collect();
        let specification = Specification::new(scope.as_ref().max_race_codes(), codes, iterations, &pairs);
        specification.check_hierarchy(&name_of(&folder.join(MAP)), report);
        Some(specification)
    }

    /// A code belongs to at most one iteration of each kind, level and granularity.
    fn check_hierarchy(&self, file: &str, report: &mut ValidationReport) {
        for (granularity, level) in
            Granularity::ALL.into_iter().flat_map(|g| IterationLevel::ALL.map(|level| (g, level)))
        {
            let members = self.members(granularity, level);
            for (map, kind) in [
                (&members.alone, "alone"),
                (&members.in_combination, "alone or in any combination"),
                (&members.ethnicity, "of ethnicity"),
            ] {
                let sorted: BTreeMap<_, _> = map.iter().filter(|(_, iterations)| iterations.len() > 1).collect();
                for (code, iterations) in sorted {
                    let at = Location { file, line: 0, column: 2, field: "RACE_ETH_CODE" };
                    let names: Vec<String> = iterations.iter().map(ToString::to_string).collect();
                    let where_ = match granularity {
                        Granularity::Detailed => "nation and states",
                        Granularity::Coarse => "regions below the states",
                    };
                    let value = format!("{code}: {}", names.join(", "));
                    let allowed = format!("one iteration {kind} of level {level} for {where_}");
                    report.add(at, Rule::Hierarchy, value, &allowed);
                }
            }
        }
    }
}

/// The iterations of both files while they are read.
#[derive(Default)]
struct Iterations {
    /// The iterations of levels 1 and 2.
    iterations: BTreeMap<IterationCode, Iteration>,
    /// File and line of every code, including those of level 0.
    places: BTreeMap<IterationCode, (String, u64)>,
}

impl Iterations {
    /// Adds a row; `alone` is its ALONE column, if the file has one.
    fn add<const N: usize>(
        &mut self,
        file: &str,
        headings: &[&str; N],
        row: &Row<N>,
        alone: Option<usize>,
        report: &mut ValidationReport,
    ) {
        let mut wrong = |column: usize, rule: Rule, allowed: &str| {
            let at = Location { file, line: row.line, column: row.columns[column], field: headings[column] };
            report.add(at, rule, row.fields[column], allowed);
        };
        let code = IterationCode::read(row.fields[0]);
        if code.is_none() {
            wrong(0, Rule::Value, "4 digits");
        }
        let level = read_level(row.fields[2]);
        if level.is_none() {
            wrong(2, Rule::Value, "0, 1 or 2");
        }
        let kind = match alone {
            None => Some(IterationKind::Ethnicity),
            Some(column) => {
                let kind = read_race_kind(row.fields[column]);
                if kind.is_none() {
                    wrong(column, Rule::Value, "True or False");
                }
                kind
            }
        };
        let flags = read_flags(row, level, &mut wrong);
        let Some(code) = code else { return };
        if let Some((file, line)) = self.places.get(&code) {
            let allowed = format!("every iteration once; this one is in {file}, line {line}, too");
            return wrong(0, Rule::Duplicate, &allowed);
        }
        self.places.insert(code, (file.to_string(), row.line));
        let (Some(Some(level)), Some(kind), [Some(Some(detailed_only)), Some(Some(coarse_only))]) =
            (level, kind, flags)
        else {
            return;
        };
        let name = String::from_utf8_lossy(row.fields[1]).into_owned();
        self.iterations.insert(code, Iteration { code, name, kind, level, detailed_only, coarse_only });
    }
}

/// The level of an iteration, `Some(None)` for level 0.
fn read_level(field: &[u8]) -> Option<Option<IterationLevel>> {
    match field {
        b"0" => Some(None),
        b"1" => Some(Some(IterationLevel::One)),
        b"2" => Some(Some(IterationLevel::Two)),
        _ => None,
    }
}

/// The kind of a race iteration by its field ALONE.
fn read_race_kind(field: &[u8]) -> Option<IterationKind> {
    match field {
        b"True" => Some(IterationKind::Alone),
        b"False" => Some(IterationKind::InCombination),
        _ => None,
    }
}

/// The fields DETAILED_ONLY and COARSE_ONLY, the last two of a row; `wrong` receives their violations.
fn read_flags<const N: usize>(
    row: &Row<N>,
    level: Option<Option<IterationLevel>>,
    wrong: &mut dyn FnMut(usize, Rule, &str),
) -> [Option<Option<bool>>; 2] {
    let (detailed, coarse) = (N - 2, N - 1);
    let flags = [detailed, coarse].map(|column| {
        let flag = read_flag(row.fields[column]);
        if flag.is_none() {
            wrong(column, Rule::Value, "True or False, or Null at level 0");
        }
        flag
    });
    if let Some(level) = level {
        for (column, flag) in [(detailed, flags[0]), (coarse, flags[1])] {
            if flag.is_some_and(|flag| flag.is_some() != level.is_some()) {
                let allowed = if level.is_some() { "True or False at levels 1 and 2" } else { "Null at level 0" };
                wrong(column, Rule::Contradiction, allowed);
            }
        }
    }
    if flags == [Some(Some(true)); 2] {
        wrong(coarse, Rule::Contradiction, "False where DETAILED_ONLY is True");
    }
    flags
}

/// A truth value, `Some(None)` for Null.
fn read_flag(field: &[u8]) -> Option<Option<bool>> {
    match field {
        b"True" => Some(Some(true)),
        b"False" => Some(Some(false)),
        b"Null" => Some(None),
        _ => None,
    }
}

fn read_race_iterations(path: &Path, all: &mut Iterations, report: &mut ValidationReport) -> Option<()> {
    const HEADINGS: [&str; 6] = ["ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY"];
    let file = name_of(path);
    let add = |row: &Row<6>, report: &mut ValidationReport| all.add(&file, &HEADINGS, row, Some(3), report);
    read_rows(path, &HEADINGS, OtherColumns::Refused, report, add)
}

fn read_ethnicity_iterations(path: &Path, all: &mut Iterations, report: &mut ValidationReport) -> Option<()> {
    const HEADINGS: [&str; 5] = ["ITERATION_CODE", "ITERATION_NAME", "LEVEL", "DETAILED_ONLY", "COARSE_ONLY"];
    let file = name_of(path);
    let add = |row: &Row<5>, report: &mut ValidationReport| all.add(&file, &HEADINGS, row, None, report);
    read_rows(path, &HEADINGS, OtherColumns::Refused, report, add)
}

fn read_codes(path: &Path, report: &mut ValidationReport) -> Option<BTreeSet<RaceEthCode>> {
    const HEADINGS: [&str; 2] = ["RACE_ETH_CODE", "RACE_ETH_NAME"];
    let file = name_of(path);
    let mut codes: BTreeSet<RaceEthCode> = BTreeSet::new();
    read_rows(path, &HEADINGS, OtherColumns::Refused, report, |row, report| {
        let at = Location { file: &file, line: row.line, column: 1, field: HEADINGS[0] };
        match RaceEthCode::read(row.fields[0]) {
            None => report.add(at, Rule::Value, row.fields[0], "a code of four digits, the first not 0"),
            Some(code) if !codes.insert(code) => report.add(at, Rule::Duplicate, row.fields[0], "every code once"),
            Some(_) => {}
        }
    })?;
    if codes.is_empty() {
        report.add(Location { file: &file, ..Location::default() }, Rule::Empty, "", "at least one code");
    }
    Some(codes)
}

fn read_map(
    path: &Path,
    all: &Iterations,
    codes: &BTreeSet<RaceEthCode>,
    report: &mut ValidationReport,
) -> Option<Vec<(IterationCode, RaceEthCode)>> {
    const HEADINGS: [&str; 2] = ["ITERATION_CODE", "RACE_ETH_CODE"];
    let file = name_of(path);
    let mut pairs: HashMap<(IterationCode, RaceEthCode), u64> = HashMap::new();
    read_rows(path, &HEADINGS, OtherColumns::Refused, report, |row, report| {
        let mut wrong = |column: usize, rule: Rule, allowed: &str| {
            let at = Location { file: &file, line: row.line, column: row.columns[column], field: HEADINGS[column] };
            report.add(at, rule, row.fields[column], allowed);
        };
        let iteration = IterationCode::read(row.fields[0]);
        let code = RaceEthCode::read(row.fields[1]);
        match iteration {
            None => wrong(0, Rule::Value, "4 digits"),
            Some(iteration) if !all.places.contains_key(&iteration) => {
                wrong(0, Rule::UnknownCode, "the iterations of the two files of iterations");
            }
            Some(_) => {}
        }
        match code {
            None => wrong(1, Rule::Value, "a code of four digits, the first not 0"),
            Some(code) if !codes.contains(&code) => wrong(1, Rule::UnknownCode, &format!("the codes of {CODES}")),
            Some(_) => {}
        }
        if let (Some(iteration), Some(code)) = (iteration, code) {
            match pairs.get(&(iteration, code)) {
                Some(line) => {
                    wrong(1, Rule::Duplicate, &format!("every code once in an iteration; it is in line {line}, too"));
                }
                None => {
                    pairs.insert((iteration, code), row.line);
                }
            }
        }
    })?;
    let mut pairs: Vec<(IterationCode, RaceEthCode)> = pairs.into_keys().collect();
    pairs.sort_unstable();
    Some(pairs)
}
