//! config.json, read and checked key by key.

use std::{fmt, fs::File, io::Read, path::Path};

use rug::Rational;
use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    config::SafeTabConfig,
    regions::{IterationLevel, Pass, Privacy, RegionType},
    rows::{self, name_of},
    validation::{Location, Rule, ValidationReport},
};
use crate::numeric::rational;

/// The longest configuration that is read, in bytes. The bureau's has two thousand.
const LONGEST: u64 = 1 << 16;
/// A budget of this size has noise that can be drawn: from 10^-12 to 10^9. 0 means that a level is not run.
const LEAST_BUDGET: (u64, u64) = (1, 1_000_000_000_000);
const MOST_BUDGET: u64 = 1_000_000_000;
/// State codes that are not in use, between 01 and 56 (FIPS 5-2).
const NO_STATES: [u64; 5] = [3, 7, 14, 43, 52];

const BUDGET: &str = "privacy_budget_p_level_";
const GAMMA: &str = "privacy_budget_p_stage_1_fraction";
const THRESHOLDS: &str = "thresholds_p";
const SUPPRESSION: &str = "zero_suppression_chance";
const STATES: &str = "state_filter_us";
/// The other keys.
const MAX_RACES: &str = "max_race_codes";
const RUNS: [&str; 2] = ["run_us", "run_pr"];
const PLAIN: [&str; 6] = [MAX_RACES, RUNS[0], RUNS[1], "allow_negative_counts", "reader", "privacy_defn"];

impl SafeTabConfig {
    /// Reads and checks a config.json. `None` if it does not say what the other files are checked against: which states are
    /// run, and how many race codes are taken. Other values that break a rule become 0, so look at the report first.
    pub fn read(path: &Path, report: &mut ValidationReport) -> Option<SafeTabConfig> {
        let file = name_of(path);
        let at = Location { file: &file, ..Location::default() };
        // The length that a device states is not its end.
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| match file.take(LONGEST + 1).read_to_end(&mut bytes)? {
            length if length as u64 > LONGEST => Err(std::io::Error::other("it is longer")),
            _ => Ok(bytes),
        });
        match read {
            Ok(bytes) => SafeTabConfig::from_bytes(rows::without_mark(&bytes), &file, report),
            Err(why) => {
                report.add(at, Rule::Unreadable, why.to_string(), &format!("a file of at most {LONGEST} bytes"));
                None
            }
        }
    }

    fn from_bytes(bytes: &[u8], file: &str, report: &mut ValidationReport) -> Option<SafeTabConfig> {
        let at = Location { file, ..Location::default() };
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(wrong) => {
                let line = 1 + memchr::memchr_iter(b'\n', &bytes[..wrong.valid_up_to()]).count() as u64;
                report.add(Location { line, ..at }, Rule::Encoding, &bytes[wrong.valid_up_to()..], "text in UTF-8");
                return None;
            }
        };
        let pairs = match serde_json::from_str::<Pairs>(text) {
            Ok(Pairs(pairs)) => pairs,
            Err(wrong) => {
                let at = Location { line: wrong.line() as u64, column: wrong.column() as u32, ..at };
                let line = text.lines().nth(wrong.line().saturating_sub(1)).unwrap_or_default();
                report.add(at, Rule::Syntax, line, &format!("one JSON object ({wrong})"));
                return None;
            }
        };
        let mut keys = Keys { file, text, pairs, report, complete: true };
        let config = keys.config();
        keys.complete.then_some(config)
    }
}

/// The key of a budget.
fn budget_key(region_type: RegionType, level: IterationLevel) -> String {
    format!("{BUDGET}{level}_{}", region_type.name().to_lowercase().replace('-', "_"))
}

/// The key of thresholds.
fn threshold_key(region_type: RegionType, level: IterationLevel) -> String {
    format!("({region_type}, {level})")
}

/// The pairs of an object in their order, duplicate keys included.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Pairs, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;

            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        input.deserialize_map(Object)
    }
}

/// The thresholds again, duplicate keys included.
#[derive(Deserialize)]
struct Inner {
    thresholds_p: Pairs,
}

/// The keys of the file while they are read.
struct Keys<'a> {
    file: &'a str,
    text: &'a str,
    pairs: Vec<(String, Value)>,
    report: &'a mut ValidationReport,
    /// Whether all values are there that the other files are checked against.
    complete: bool,
}

impl Keys<'_> {
    fn config(&mut self) -> SafeTabConfig {
        let thresholds = self.threshold_pairs();
        let known: Vec<String> = RegionType::ALL
            .into_iter()
            .flat_map(|region_type| IterationLevel::ALL.map(|level| budget_key(region_type, level)))
            .chain([GAMMA, THRESHOLDS, SUPPRESSION, STATES].into_iter().chain(PLAIN).map(String::from))
            .collect();
        let pairs: Vec<String> = self.pairs.iter().map(|(key, _)| key.clone()).collect();
        self.check_keys(&pairs, &known);
        let [run_us, run_pr] = RUNS.map(|key| self.boolean(key));
        if self.complete && !run_us && !run_pr {
            self.wrong(RUNS[0], Rule::Contradiction, "false", "true, or run_pr true");
        }
        let before = self.report.count();
        let mut budgets = Vec::new();
        for region_type in RegionType::ALL {
            budgets.push(IterationLevel::ALL.map(|level| self.budget(&budget_key(region_type, level))));
        }
        if self.report.count() == before {
            for pass in Pass::ALL.into_iter().filter(|pass| if *pass == Pass::PuertoRico { run_pr } else { run_us }) {
                if pass.region_types().iter().all(|kind| budgets[kind.index()].iter().all(Rational::is_zero)) {
                    let key = budget_key(pass.region_types()[0], IterationLevel::One);
                    self.wrong(&key, Rule::Contradiction, "0", "a budget above 0 at some level of a pass that is run");
                }
            }
        }
        let state_filter_us = self.states(run_us);
        SafeTabConfig {
            budgets,
            thresholds: self.thresholds(&thresholds, run_us, run_pr),
            gamma: self.rational(GAMMA, "a number above 0 and below 1", |gamma| *gamma > 0 && *gamma < 1),
            max_race_codes: self.max_race_codes(),
            zero_suppression_chance: self.get(SUPPRESSION).is_some().then(|| {
                self.rational(SUPPRESSION, "a number from 0 and below 1", |chance| *chance >= 0 && *chance < 1)
            }),
            allow_negative_counts: self.boolean("allow_negative_counts"),
            run_us,
            run_pr,
            state_filter_us,
            privacy: self.privacy(),
        }
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Line and column of a key, where it is found as it is written.
    fn place(&self, key: &str, occurrence: usize) -> (u64, u32) {
        let quoted = format!("\"{key}\"");
        let is_key = |place: &usize| self.text[place + quoted.len()..].trim_start().starts_with(':');
        let place = self.text.match_indices(&quoted).map(|(place, _)| place).filter(is_key).nth(occurrence);
        place.map_or((0, 0), |place| {
            let before = &self.text[..place];
            let begin = before.rfind('\n').map_or(0, |end| end + 1);
            (1 + before.matches('\n').count() as u64, before[begin..].chars().count() as u32 + 1)
        })
    }

    /// A finding at a key.
    fn wrong(&mut self, key: &str, rule: Rule, value: impl AsRef<[u8]>, allowed: &str) {
        let (line, column) = self.place(key, usize::from(rule == Rule::Duplicate));
        // Unknown keys are reported as values, so that together they are one kind of violation.
        let field = if rule == Rule::UnknownKey { "" } else { key };
        self.report.add(Location { file: self.file, line, column, field }, rule, value, allowed);
        self.complete &= ![MAX_RACES, RUNS[0], RUNS[1], STATES].contains(&key);
    }

    fn check_keys(&mut self, given: &[String], known: &[String]) {
        for (place, key) in given.iter().enumerate() {
            if !known.contains(key) {
                self.wrong(key, Rule::UnknownKey, key, "the keys of the bureau's config.json for SafeTab-P");
            } else if given[..place].contains(key) {
                self.wrong(key, Rule::Duplicate, key, "every key once");
            }
        }
    }

    /// A value that has to be there.
    fn value(&mut self, key: &str) -> Option<Value> {
        let found = self.get(key).cloned();
        if found.is_none() {
            self.wrong(key, Rule::MissingKey, "", "every key of the bureau's config.json for SafeTab-P");
        }
        found
    }

    fn boolean(&mut self, key: &str) -> bool {
        match self.value(key) {
            Some(Value::Bool(value)) => value,
            Some(other) => {
                self.wrong(key, Rule::Value, other.to_string(), "true or false");
                false
            }
            None => false,
        }
    }

    fn rational(&mut self, key: &str, allowed: &str, is_allowed: impl Fn(&Rational) -> bool) -> Rational {
        let Some(value) = self.value(key) else { return Rational::new() };
        let read = match &value {
            Value::Number(number) => rational::parse(&number.to_string()).ok(),
            _ => None,
        };
        read.filter(is_allowed).unwrap_or_else(|| {
            self.wrong(key, Rule::Value, value.to_string(), allowed);
            Rational::new()
        })
    }

    fn budget(&mut self, key: &str) -> Rational {
        let least = Rational::from(LEAST_BUDGET);
        let is_allowed = |budget: &Rational| budget.is_zero() || (*budget >= least && *budget <= MOST_BUDGET);
        self.rational(key, "0, or a number from 1e-12 to 1e9", is_allowed)
    }

    fn max_race_codes(&mut self) -> u32 {
        let one_to_eight = |count: &Rational| count.is_integer() && *count >= 1 && *count <= 8;
        let count = self.rational(MAX_RACES, "a whole number from 1 to 8", one_to_eight);
        count.numer().to_u32().unwrap_or_default()
    }

    fn privacy(&mut self) -> Privacy {
        if let Some(reader) = self.value("reader").filter(|reader| *reader != "csv" && *reader != "cef") {
            self.wrong(
                "reader",
                Rule::Value,
                reader.to_string(),
                "\"csv\" or \"cef\"; either way the files named are read",
            );
        }
        match self.value("privacy_defn") {
            Some(Value::String(name)) if name == "zcdp" => Privacy::ZeroConcentrated,
            Some(Value::String(name)) if name == "puredp" => Privacy::Pure,
            Some(other) => {
                self.wrong("privacy_defn", Rule::Value, other.to_string(), "\"zcdp\" or \"puredp\"");
                Privacy::Pure
            }
            None => Privacy::Pure,
        }
    }

    fn states(&mut self, run_us: bool) -> Vec<u8> {
        let allowed = "a list of the codes of states, each once, such as [\"01\", \"56\"]";
        let states = match self.value(STATES) {
            Some(Value::Array(states)) => states,
            Some(other) => {
                self.wrong(STATES, Rule::Value, other.to_string(), allowed);
                return Vec::new();
            }
            None => return Vec::new(),
        };
        if states.is_empty() && run_us {
            self.wrong(STATES, Rule::Contradiction, "[]", "at least one state where run_us is true");
        }
        let mut codes = Vec::new();
        for state in states {
            let number = state.as_str().and_then(|text| rows::digits::<2>(text.as_bytes()));
            match number.filter(|number| (1..=56).contains(number) && !NO_STATES.contains(number)) {
                Some(number) if !codes.contains(&(number as u8)) => codes.push(number as u8),
                Some(_) => self.wrong(STATES, Rule::Value, state.to_string(), "every state once"),
                None => self.wrong(STATES, Rule::Value, state.to_string(), allowed),
            }
        }
        codes.sort_unstable();
        codes
    }

    /// The thresholds under their keys.
    fn threshold_pairs(&mut self) -> Vec<(String, Value)> {
        match self.value(THRESHOLDS) {
            // A duplicate of this key is reported with the other keys.
            Some(Value::Object(map)) => match serde_json::from_str::<Inner>(self.text) {
                Ok(Inner { thresholds_p: Pairs(pairs) }) => pairs,
                Err(_) => map.into_iter().collect(),
            },
            Some(other) => {
                self.wrong(
                    THRESHOLDS,
                    Rule::Value,
                    other.to_string(),
                    "an object of lists such as \"(USA, 1)\": [5, 20, 150]",
                );
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn thresholds(&mut self, pairs: &[(String, Value)], run_us: bool, run_pr: bool) -> Vec<[[i64; 3]; 2]> {
        let given: Vec<String> = pairs.iter().map(|(key, _)| key.clone()).collect();
        let known: Vec<String> = RegionType::ALL
            .into_iter()
            .flat_map(|region_type| IterationLevel::ALL.map(|level| threshold_key(region_type, level)))
            .collect();
        self.check_keys(&given, &known);
        let mut thresholds = Vec::new();
        for region_type in RegionType::ALL {
            let needed = if region_type.pass() == Pass::PuertoRico { run_pr } else { run_us };
            thresholds.push(IterationLevel::ALL.map(|level| {
                let key = threshold_key(region_type, level);
                let never = [i64::MAX; 3];
                let Some((_, value)) = pairs.iter().find(|(name, _)| *name == key) else {
                    if needed {
                        self.wrong(
                            &key,
                            Rule::MissingKey,
                            "",
                            "thresholds for every region type of a pass that is run",
                        );
                    }
                    return never;
                };
                let list = value.as_array().filter(|list| list.len() == 3);
                let numbers: Option<Vec<i64>> = list.and_then(|list| list.iter().map(Value::as_i64).collect());
                match numbers.as_deref() {
                    Some(&[one, two, three]) if one <= two && two <= three => [one, two, three],
                    Some(_) => {
                        self.wrong(&key, Rule::Order, value.to_string(), "three thresholds that do not descend");
                        never
                    }
                    None => {
                        self.wrong(
                            &key,
                            Rule::Value,
                            value.to_string(),
                            "a list of three whole numbers that do not descend",
                        );
                        never
                    }
                }
            }));
        }
        thresholds
    }
}
