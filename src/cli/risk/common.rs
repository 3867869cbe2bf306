//! Lists of numbers on the command line, and rows of tables, as all questions of risk have them.

use anyhow::{Context, Result, bail};
use dp_assay::numeric::{Enclosure, rational};
use rug::Rational;

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

/// The prior, checked under the name of its argument.
pub fn prior(text: &str) -> Result<Rational> {
    let prior = number("--prior", text)?;
    dp_assay::risk::check_prior(&prior).context("--prior")?;
    Ok(prior)
}

/// A number to its proven digits, or both ends if there are none.
pub fn shown(value: &Enclosure, digits: u32) -> String {
    let (lower, upper) = output::ends(value);
    match value.agreed_digits(40) {
        0 => format!("{lower} to {upper}"),
        _ => value.shown(digits.min(40) as usize),
    }
}

/// A row of a two-column table.
pub fn row(name: &str, value: &Enclosure, digits: u32) -> Vec<String> {
    vec![name.to_string(), shown(value, digits)]
}
