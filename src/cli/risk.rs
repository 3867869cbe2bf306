//! `assay risk`: what an adversary learns from noisy counts, and bounds for all adversaries.

pub mod bound;
mod hierarchical;
mod postprocess;
mod sampler;
pub mod single;

use anyhow::{Context, Result, bail};
use dp_assay::numeric::{Enclosure, rational};
use rug::Rational;
use serde_json::Value;

use super::{Exit, number, output};

/// Disclosure risk: what an adversary learns from noisy counts, and the limit for any adversary
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(clap::Subcommand)]
enum Question {
    Single(single::Args),
    Hierarchical(hierarchical::Args),
    Bound(bound::Args),
    Postprocess(postprocess::Args),
    Sampler(sampler::Args),
}

pub fn run(args: &Args) -> Result<Exit> {
    match &args.question {
        Question::Single(args) => single::run(args),
        Question::Hierarchical(args) => hierarchical::run(args),
        Question::Bound(args) => bound::run(args),
        Question::Postprocess(args) => postprocess::run(args),
        Question::Sampler(args) => sampler::run(args),
    }
}

/// A list of exact numbers, separated by commas.
fn numbers(name: &str, text: &str) -> Result<Vec<Rational>> {
    text.split(',').map(|part| number(name, part)).collect()
}

/// A list of whole numbers, separated by commas.
fn counts(name: &str, text: &str) -> Result<Vec<i64>> {
    text.split(',').map(|part| count(name, part)).collect()
}

fn count(name: &str, text: &str) -> Result<i64> {
    let value = number(name, text)?;
    if !value.is_integer() {
        bail!("{name}: {} is not a count: expected a whole number", rational::display(&value));
    }
    let small = value.numer().to_i64().filter(|value| value.abs() <= 1_000_000_000_000_000);
    small.with_context(|| format!("{name}: {} is out of range: a count up to 10^15", rational::display(&value)))
}

/// The prior, checked under the name of its argument.
fn prior(text: &str) -> Result<Rational> {
    let prior = number("--prior", text)?;
    dp_assay::risk::check_prior(&prior).context("--prior")?;
    Ok(prior)
}

/// A number to its proven digits, or both ends if there are none.
fn shown(value: &Enclosure, digits: u32) -> String {
    let (lower, upper) = output::ends(value);
    match value.agreed_digits(40) {
        0 => format!("{lower} to {upper}"),
        _ => value.shown(digits.min(40) as usize),
    }
}

/// A row of a two-column table.
fn row(name: &str, value: &Enclosure, digits: u32) -> Vec<String> {
    vec![name.to_string(), shown(value, digits)]
}

/// Columns of a series as JSON arrays of numbers.
fn arrays<S: AsRef<str>>(object: &mut Value, columns: &[S], rows: &[Vec<String>]) {
    for (k, column) in columns.iter().enumerate() {
        object[column.as_ref()] = rows.iter().map(|row| output::json_number(&row[k])).collect();
    }
}
