//! Lists of numbers on the command line, and rows of tables, as all questions of risk have them.

use anyhow::{Context, Result, bail};
use dp_assay::{
    document::fields::{Shown, said},
    numeric::{Enclosure, rational},
};
use rug::Rational;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{arguments::number, output};

/// A list of exact numbers, separated by commas.
pub fn numbers(name: &str, text: &str) -> Result<Vec<Rational>> {
    text.split(',').map(|part| number(name, part)).collect()
}

/// A list of whole numbers, separated by commas.
pub fn counts(name: &str, text: &str) -> Result<Vec<i64>> {
    text.split(',').map(|part| count(name, part)).collect()
}

pub fn count(name: &str, text: &str) -> Result<i64> {
    let value = number(name, text)?;
    if !value.is_integer() {
        bail!("{name}: {} is not a count: expected a whole number", rational::display(&value));
    }
    let small = value.numer().to_i64().filter(|value| value.abs() <= 1_000_000_000_000_000);
    small.with_context(|| format!("{name}: {} is out of range: a count up to 10^15", rational::display(&value)))
}

/// A number to its proven digits, or both ends if there are none.
pub fn shown(value: &Enclosure, digits: u32) -> String {
    let (lower, upper) = output::ends(value);
    match value.agreed_digits(40) {
        0 => format!("{lower} to {upper}"),
        _ => value.shown(digits.min(40) as usize),
    }
}

/// A certified number: both ends, and its proven digits in tables.
pub fn proven(value: &Enclosure, digits: u32) -> Shown {
    said(value, shown(value, digits))
}

/// The value of a list of one; the list, if there are others.
pub fn alone_or_all(values: &[impl Serialize]) -> Value {
    match values {
        [one] => json!(one),
        all => json!(all),
    }
}

/// The number of groups besides the target's.
pub fn groups(text: &str) -> Result<u64> {
    let others = count("--others", text)?;
    u64::try_from(others).ok().with_context(|| format!("--others: {others} is below 0"))
}
