//! Reads and checks the keys of a config.json one by one; and the keys common to the programs for persons and households.

use std::{fmt, fs::File, io::Read, path::Path};

use rug::Rational;
use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    config::RunScope,
    regions::{IterationLevel, Pass, Privacy, RegionType},
    rows::{self, name_of},
    validation::{Location, Rule, ValidationReport},
};
use crate::numeric::rational;

/// The longest configuration that is read, in bytes. The bureau's have 2,000 and 5,000.
const LONGEST: u64 = 1 << 16;
/// The range of budgets with noise that can be drawn: from 10^-12 to 10^9. 0 means that a level is not run.
const LEAST_BUDGET: (u64, u64) = (1, 1_000_000_000_000);
const MOST_BUDGET: u64 = 1_000_000_000;
/// Unused state codes between 01 and 56 (FIPS 5-2).
const NO_STATES: [u64; 5] = [3, 7, 14, 43, 52];

const STATES: &str = "state_filter_us";
const MAX_RACES: &str = "max_race_codes";
const RUNS: [&str; 2] = ["run_us", "run_pr"];
/// The keys common to both programs.
const COMMON: [&str; 7] = [MAX_RACES, RUNS[0], RUNS[1], "allow_negative_counts", "reader", "privacy_defn", STATES];

/// The text of a configuration. `None` with a violation in the report if there is none.
pub(in crate::safetab) fn read_text(path: &Path, report: &mut ValidationReport) -> Option<String> {
    let file = name_of(path);
    let at = Location { file: &file, ..Location::default() };
    // The length that a device states may not be its end.
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| match file.take(LONGEST + 1).read_to_end(&mut bytes)? {
        length if length as u64 > LONGEST => Err(std::io::Error::other("it is longer")),
        _ => Ok(bytes),
    });
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(why) => {
            report.add(at, Rule::Unreadable, why.to_string(), &format!("a file of at most {LONGEST} bytes"));
            return None;
        }
    };
    let bytes = rows::without_mark(&bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.to_string()),
        Err(wrong) => {
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..wrong.valid_up_to()]).count() as u64;
            report.add(Location { line, ..at }, Rule::Encoding, &bytes[wrong.valid_up_to()..], "text in UTF-8");
            None
        }
    }
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

/// An object of objects, with duplicate keys of both; other values are omitted.
struct Inner(Vec<(String, Pairs)>);

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Inner, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Object(Pairs),
            Other(serde::de::IgnoredAny),
        }
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Inner;

            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Inner, A::Error> {
                let mut objects = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Any>()? {
                    if let Any::Object(pairs) = value {
                        objects.push((key, pairs));
                    }
                }
                Ok(Inner(objects))
            }
        }
        input.deserialize_map(Object)
    }
}

/// The keys of a file while they are read.
pub(super) struct Keys<'a> {
    file: &'a str,
    text: &'a str,
    /// The kind of configuration, for messages.
    program: &'static str,
    pairs: Vec<(String, Value)>,
    report: &'a mut ValidationReport,
    /// Whether all values are present that the other files are checked against.
    complete: bool,
}

impl<'a> Keys<'a> {
    /// The keys of a text, for a configuration of `program`. `None` with a violation in the report if it is no JSON object.
    pub(super) fn new(
        file: &'a str,
        text: &'a str,
        program: &'static str,
        report: &'a mut ValidationReport,
    ) -> Option<Keys<'a>> {
        match serde_json::from_str::<Pairs>(text) {
            Ok(Pairs(pairs)) => Some(Keys { file, text, program, pairs, report, complete: true }),
            Err(wrong) => {
                let (line, column) = (wrong.line() as u64, wrong.column() as u32);
                let value = text.lines().nth(wrong.line().saturating_sub(1)).unwrap_or_default();
                let at = Location { file, line, column, ..Location::default() };
                report.add(at, Rule::Syntax, value, &format!("one JSON object ({wrong})"));
                None
            }
        }
    }

    /// Whether all values are present that the other files are checked against.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The settings common to both programs. `budgets` and `own` are the additional keys of this one.
    pub(super) fn scope(&mut self, budgets: &[String], own: &[&str]) -> RunScope {
        let known: Vec<String> =
            budgets.iter().cloned().chain(own.iter().chain(&COMMON).map(|key| key.to_string())).collect();
        let given: Vec<String> = self.pairs.iter().map(|(key, _)| key.clone()).collect();
        self.check_keys(&given, &known);
        let [run_us, run_pr] = RUNS.map(|key| self.boolean(key));
        if self.complete && !run_us && !run_pr {
            self.wrong(RUNS[0], Rule::Contradiction, "false", "true, or run_pr true");
        }
        RunScope {
            max_race_codes: self.max_race_codes(),
            allow_negative_counts: self.boolean("allow_negative_counts"),
            run_us,
            run_pr,
            state_filter_us: self.states(run_us),
            privacy: self.privacy(),
        }
    }

    /// The budgets of all region types and levels under the keys with this prefix, see [`Keys::budget_keys`].
    pub(super) fn budgets(&mut self, prefix: &str) -> Vec<[Rational; 2]> {
        let of_type = |keys: &mut Self, region_type| {
            IterationLevel::ALL.map(|level| keys.budget(&Keys::budget_key(prefix, region_type, level)))
        };
        RegionType::ALL.into_iter().map(|region_type| of_type(self, region_type)).collect()
    }

    /// Checks that every pass that is run has a budget above 0 at some level. Call it only if the budgets break no rule.
    pub(super) fn check_passes(&mut self, scope: &RunScope, prefix: &str, budgets: &[&[[Rational; 2]]]) {
        for pass in Pass::ALL.into_iter().filter(|pass| scope.runs(*pass)) {
            let is_zero = |kind: &RegionType| budgets.iter().all(|all| all[kind.index()].iter().all(Rational::is_zero));
            if pass.region_types().iter().all(is_zero) {
                let key = Keys::budget_key(prefix, pass.region_types()[0], IterationLevel::One);
                self.wrong(&key, Rule::Contradiction, "0", "a budget above 0 at some level of a pass that is run");
            }
        }
    }

    /// The number of violations so far.
    pub(super) fn violations(&self) -> u64 {
        self.report.count()
    }

    /// The key of a budget.
    pub(super) fn budget_key(prefix: &str, region_type: RegionType, level: IterationLevel) -> String {
        format!("{prefix}{level}_{}", region_type.name().to_lowercase().replace('-', "_"))
    }

    /// The keys of the budgets of all region types and levels.
    pub(super) fn budget_keys(prefix: &str) -> Vec<String> {
        let of_type = |kind: RegionType| IterationLevel::ALL.map(|level| Keys::budget_key(prefix, kind, level));
        RegionType::ALL.into_iter().flat_map(of_type).collect()
    }

    /// Whether the key exists.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Line and column of a key, if it is found as it is written.
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

    /// Reports a violation at a key.
    fn wrong(&mut self, key: &str, rule: Rule, value: impl AsRef<[u8]>, allowed: &str) {
        let (line, column) = self.place(key, usize::from(rule == Rule::Duplicate));
        // Unknown keys are reported as values, so that together they form one kind of violation.
        let field = if rule == Rule::UnknownKey { "" } else { key };
        self.report.add(Location { file: self.file, line, column, field }, rule, value, allowed);
        self.complete &= ![MAX_RACES, RUNS[0], RUNS[1], STATES].contains(&key);
    }

    fn check_keys(&mut self, given: &[String], known: &[String]) {
        for (place, key) in given.iter().enumerate() {
            if !known.contains(key) {
                self.wrong(
                    key,
                    Rule::UnknownKey,
                    key,
                    &format!("the keys of the bureau's config.json for {}", self.program),
                );
            } else if given[..place].contains(key) {
                self.wrong(key, Rule::Duplicate, key, "every key once");
            }
        }
    }

    /// A required value.
    fn value(&mut self, key: &str) -> Option<Value> {
        let found = self.get(key).cloned();
        if found.is_none() {
            self.wrong(
                key,
                Rule::MissingKey,
                "",
                &format!("every key of the bureau's config.json for {}", self.program),
            );
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

    /// A required number.
    pub(super) fn rational(&mut self, key: &str, allowed: &str, is_allowed: impl Fn(&Rational) -> bool) -> Rational {
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

    /// The thresholds under their keys, `count` for each region type and level; `i64::MAX`, which no count reaches, if a pass that is not
    /// run has none.
    pub(super) fn thresholds<const N: usize>(
        &mut self,
        key: &str,
        scope: &RunScope,
        example: &str,
    ) -> Vec<[[i64; N]; 2]> {
        let pairs = self.threshold_pairs(key, example);
        let given: Vec<String> = pairs.iter().map(|(key, _)| key.clone()).collect();
        let keys = |kind: RegionType| IterationLevel::ALL.map(|level| threshold_key(kind, level));
        let known: Vec<String> = RegionType::ALL.into_iter().flat_map(keys).collect();
        self.check_keys(&given, &known);
        let of_type = |keys: &mut Self, region_type: RegionType| {
            let needed = scope.runs(region_type.pass());
            IterationLevel::ALL.map(|level| keys.threshold(&pairs, region_type, level, needed))
        };
        RegionType::ALL.into_iter().map(|region_type| of_type(self, region_type)).collect()
    }

    fn threshold_pairs(&mut self, key: &str, example: &str) -> Vec<(String, Value)> {
        match self.value(key) {
            // A duplicate of this key is reported with the other keys.
            Some(Value::Object(map)) => match serde_json::from_str::<Inner>(self.text) {
                Ok(Inner(objects)) => {
                    objects.into_iter().find(|(name, _)| name == key).map_or_else(Vec::new, |(_, Pairs(pairs))| pairs)
                }
                Err(_) => map.into_iter().collect(),
            },
            Some(other) => {
                let allowed = format!("an object of lists such as \"(USA, 1)\": {example}");
                self.wrong(key, Rule::Value, other.to_string(), &allowed);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn threshold<const N: usize>(
        &mut self,
        pairs: &[(String, Value)],
        region_type: RegionType,
        level: IterationLevel,
        needed: bool,
    ) -> [i64; N] {
        let key = threshold_key(region_type, level);
        let never = [i64::MAX; N];
        let Some((_, value)) = pairs.iter().find(|(name, _)| *name == key) else {
            if needed {
                let allowed = "thresholds for every region type of a pass that is run";
                self.wrong(&key, Rule::MissingKey, "", allowed);
            }
            return never;
        };
        let numbers: Option<Vec<i64>> = value.as_array().and_then(|list| list.iter().map(Value::as_i64).collect());
        let numbers: Option<[i64; N]> = numbers.and_then(|numbers| numbers.try_into().ok());
        let (count, end) = match N {
            1 => ("one whole number", ""),
            3 => ("three whole numbers", " that do not descend"),
            _ => ("whole numbers", " that do not descend"),
        };
        match numbers {
            Some(numbers) if numbers.is_sorted() => numbers,
            Some(_) => {
                let allowed = format!("{} thresholds{end}", if N == 3 { "three" } else { "the" });
                self.wrong(&key, Rule::Order, value.to_string(), &allowed);
                never
            }
            None => {
                self.wrong(&key, Rule::Value, value.to_string(), &format!("a list of {count}{end}"));
                never
            }
        }
    }
}
