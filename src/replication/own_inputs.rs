//! The inputs that a user's file may give to the methods of the papers, the kinds `safetab`, `spine` and `own`.
//!
//! These methods were written for the numbers of the papers. A user's row may name a claim that a bundled row makes, with numbers ten times
//! smaller to ten times larger than those of all bundled rows that make it (twice as large for whole numbers, on which the effort depends), and
//! within what the methods are defined for. Everything else is refused, with the range.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::OnceLock};

use rug::Rational;
use serde_json::Value;
use toml::Value as Toml;

use super::{bundled::PAPERS, registry::KINDS};
use crate::numeric::rational::{display, parse};

/// The field that names the claim, of a kind that is one of methods of the papers.
fn tag_of(kind: &str) -> Option<&'static str> {
    KINDS.iter().find(|known| known.is_of_papers && known.name == kind).map(|kind| kind.tag)
}

/// The most numbers of a list.
const MOST_NUMBERS: usize = 64;

/// For each field of a claim, as `kind/claim/field`, the least and the largest number of the bundled rows.
type Ranges = BTreeMap<String, (Rational, Rational)>;

/// Whether a computation, as its kind and fields by name, has inputs that the methods take; otherwise the reason.
pub(super) fn check(asked: &serde_json::Map<String, Value>) -> Result<(), String> {
    let Some(kind) = asked.get("kind").and_then(Value::as_str) else { return Ok(()) };
    let Some(tag) = tag_of(kind) else { return Ok(()) };
    Inputs { ranges: ranges(), kind, tag }.check_fields(asked)
}

/// The inputs of a claim of this kind, whose name is in the field `tag`.
struct Inputs<'a> {
    ranges: &'a Ranges,
    kind: &'a str,
    tag: &'a str,
}

/// The ranges of all bundled rows.
fn ranges() -> &'static Ranges {
    static RANGES: OnceLock<Ranges> = OnceLock::new();
    RANGES.get_or_init(|| {
        let mut ranges = Ranges::new();
        let tables = PAPERS.iter().filter_map(|(_, text)| text.parse::<toml::Table>().ok());
        for table in tables {
            collect(&mut ranges, None, None, "", &Toml::Table(table));
        }
        ranges
    })
}

/// Adds the numbers below a node; `claim` is the kind and the name of the claim around it.
fn collect(ranges: &mut Ranges, kind: Option<&str>, claim: Option<&str>, field: &str, node: &Toml) {
    let mut add = |number: Rational| {
        let (Some(kind), Some(claim)) = (kind, claim) else { return };
        let range = ranges.entry(format!("{kind}/{claim}/{field}")).or_insert_with(|| (number.clone(), number.clone()));
        if number < range.0 {
            range.0 = number;
        } else if number > range.1 {
            range.1 = number;
        }
    };
    match node {
        Toml::Integer(whole) => add(Rational::from(*whole)),
        Toml::Float(float) => parse(&float.to_string()).map_or((), add),
        Toml::String(text) => exact_parts(text).for_each(add),
        Toml::Array(list) => list.iter().for_each(|node| collect(ranges, kind, claim, field, node)),
        Toml::Table(table) => {
            let own = table.get("kind").and_then(Toml::as_str);
            let kind = own.or(kind);
            let claim = kind.and_then(tag_of).and_then(|name| table.get(name)).and_then(Toml::as_str).or(claim);
            for (field, node) in table {
                collect(ranges, kind, claim, field, node);
            }
        }
        Toml::Boolean(_) | Toml::Datetime(_) => {}
    }
}

/// The numbers of a text, such as `5`, or `5@2` for a count and its shift; none of a name.
fn exact_parts(text: &str) -> impl Iterator<Item = Rational> {
    text.split('@').filter_map(|part| parse(part).ok()).collect::<Vec<_>>().into_iter()
}

impl Inputs<'_> {
    fn check_fields(&self, fields: &serde_json::Map<String, Value>) -> Result<(), String> {
        let claim = fields.get(self.tag).and_then(Value::as_str);
        let mut inputs = fields.iter().filter(|(field, _)| *field != "kind" && *field != self.tag);
        inputs.try_for_each(|(field, value)| self.check_value(claim, field, value))
    }

    fn check_value(&self, claim: Option<&str>, field: &str, value: &Value) -> Result<(), String> {
        match (value, claim) {
            (Value::Object(fields), _) => self.check_fields(fields),
            (Value::Array(list), _) if list.len() > MOST_NUMBERS => {
                Err(format!("{field}: at most {MOST_NUMBERS} numbers, and {} are given", list.len()))
            }
            (Value::Array(list), _) => list.iter().try_for_each(|value| self.check_value(claim, field, value)),
            (Value::Number(number), Some(claim)) => match parse(&number.to_string()) {
                Ok(number) => self.check_number(claim, field, &number, 2),
                Err(_) => Ok(()),
            },
            (Value::String(text), Some(claim)) => {
                exact_parts(text).try_for_each(|number| self.check_number(claim, field, &number, 10))
            }
            _ => Ok(()),
        }
    }

    fn check_number(&self, claim: &str, field: &str, number: &Rational, times: u32) -> Result<(), String> {
        let Some((least, most)) = self.ranges.get(&format!("{}/{claim}/{field}", self.kind)) else {
            return Err(format!("{field}: no row of the bundled papers has a number there, for the claim {claim:?}"));
        };
        let allowed = widened(least, most, field, times);
        if allowed.contains(number) {
            return Ok(());
        }
        let (low, high) = (display(allowed.start()), display(allowed.end()));
        Err(format!("{field}: {} is out of range: this claim takes {low} to {high}", display(number)))
    }
}

/// The range of a field around those of the bundled rows. Orders stay above 1, and ratios, priors and deltas below 1, where the methods are
/// defined.
fn widened(least: &Rational, most: &Rational, field: &str, times: u32) -> RangeInclusive<Rational> {
    let spread = |end: &Rational, is_low: bool| match (*end > 0, is_low) {
        (true, true) | (false, false) => Rational::from(end / times),
        (true, false) | (false, true) => Rational::from(end * times),
    };
    let (mut low, mut high) = (spread(least, true), spread(most, false));
    let near = |numerator: u32| Rational::from((numerator, 1_000_u32));
    if matches!(field, "order" | "orders") && times == 10 {
        low = low.max(near(1_001));
    }
    if (field == "order" && times == 2) || field == "tracts" {
        // The order of a moment, and not one of a divergence; a number of tracts of which all groupings are tried.
        (low, high) = (least.clone(), most.clone());
    }
    if matches!(field, "ratios" | "prior" | "priors" | "delta" | "deltas") {
        high = high.min(near(999));
    }
    low..=high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        check(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap())
    }

    #[test]
    fn inputs_near_those_of_the_papers_are_taken_and_others_refused_with_the_range() {
        let coverage =
            |budget: &str| format!(r#"{{"kind": "safetab", "of": "suppressed", "rho": "{budget}", "below": true}}"#);
        assert_eq!(checked(&coverage("0.2")), Ok(()));
        let why = checked(&coverage("0")).unwrap_err();
        assert!(why.starts_with("rho: 0 is out of range: this claim takes 0.0008 to 5.43"), "{why}");
        assert!(checked(&coverage("-1")).is_err() && checked(&coverage("1e9")).is_err());
        let order = |order: &str| {
            format!(r#"{{"kind": "safetab", "of": "lemma-holds", "order": "{order}", "epsilon": "0.4"}}"#)
        };
        assert_eq!(checked(&order("2")), Ok(()));
        assert!(checked(&order("1")).is_err() && checked(&order("1/2")).is_err());
        assert!(checked(r#"{"kind": "spine", "of": "race-combinations", "races": 70}"#).is_err());
        let own = r#"{"kind": "own", "method": {"name": "residual-integral", "sigma2": "0", "copies": 10}}"#;
        assert!(checked(own).unwrap_err().starts_with("sigma2: 0 is out of range"));
        assert_eq!(checked(&own.replace("\"0\"", "\"4\"")), Ok(()));
        // Other kinds have their own limits.
        assert_eq!(checked(r#"{"kind": "formula", "formula": "1e9"}"#), Ok(()));
    }
}
