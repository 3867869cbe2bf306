//! How answers are written: aligned tables, JSON objects and CSV, on standard output.

use std::io::{self, Write};

use anyhow::Result;
use dp_assay::numeric::{Enclosure, rational};
use rug::{Float, Rational, float::Round};
use serde_json::{Value, json};

/// Writes a JSON object and ends the line.
pub fn json(value: &Value) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value:#}")?;
    Ok(())
}

/// Writes text as it is.
pub fn text(text: &str) -> Result<()> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Writes rows under a heading, each column as wide as its widest cell; all but the first column are set right.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> Result<()> {
    aligned(heading, rows, |column| column > 0)
}

/// The same where `right` says which columns are set right.
pub fn aligned(heading: &[&str], rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut out = String::new();
    let heading = heading.iter().map(ToString::to_string).collect();
    for row in std::iter::once(&heading).chain(rows) {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            line += if column == 0 { "" } else { "  " };
            line += &if right(column) { format!("{padding}{cell}") } else { format!("{cell}{padding}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    text(&out)
}

/// Writes rows as CSV under a header line.
pub fn csv(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Result<()> {
    let mut writer = csv::Writer::from_writer(io::stdout().lock());
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}

/// An exact rational as a JSON number: itself where its decimal ends, else its upper decimal to 25 digits.
pub fn exact(value: &Rational) -> Value {
    serde_json::from_str(&exact_text(value)).unwrap_or(Value::Null)
}

/// The same as text.
pub fn exact_text(value: &Rational) -> String {
    let text = rational::display(value);
    if !text.contains('/') {
        return text;
    }
    let (_, upper) = Enclosure::rational(value, 84).decimals();
    upper.unwrap_or(text)
}

/// An end of an enclosure as a JSON number or text.
pub fn ends(value: &Enclosure) -> (String, String) {
    let (lower, upper) = value.decimals();
    (lower.unwrap_or_else(|| "-inf".to_string()), upper.unwrap_or_else(|| "inf".to_string()))
}

/// The text of a number as a JSON number; `null` for infinities.
pub fn json_number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// A bound to three significant digits, rounded up.
pub fn bound(value: &Float) -> String {
    if value.is_zero() {
        return "0".to_string();
    }
    let upper = Float::with_val_round(64, value, Round::Up).0;
    Enclosure::new(upper.clone(), upper).decimals().1.map_or_else(
        || "infinite".to_string(),
        |text| match text.split_once('e') {
            // Three digits of the mantissa, rounded up by hand in the last one.
            Some((mantissa, exponent)) => format!("{:.2}e{exponent}", up_to_hundredths(mantissa)),
            None => format!("{:.2e}", up_to_hundredths(&text)),
        },
    )
}

fn up_to_hundredths(text: &str) -> f64 {
    let value: f64 = text.parse().unwrap_or(f64::INFINITY);
    if value >= 1.0 { (value * 100.0).ceil() / 100.0 } else { value * 1.01 }
}

/// A certified number as JSON: an object with both ends, or `null` for one that is infinite.
pub fn enclosure(value: Option<&Enclosure>) -> Value {
    value.map_or(Value::Null, Enclosure::to_json)
}

/// An object with a name before its own keys.
pub fn named(name: &str, keys: Value) -> Value {
    let mut named = json!({ "name": name });
    if let (Some(named), Value::Object(keys)) = (named.as_object_mut(), keys) {
        named.extend(keys);
    }
    named
}

/// Gives an answer its levels: each with a name before its own keys; none where there are no levels.
pub fn add_levels<'a>(answer: &mut Value, levels: impl Iterator<Item = (&'a str, Value)>) {
    let named: Vec<Value> = levels.map(|(name, keys)| named(name, keys)).collect();
    if !named.is_empty() {
        answer["levels"] = named.into();
    }
}

/// The relative difference of two numbers in percent with two decimals, for tables.
pub fn percent_below(value: &Enclosure, whole: &Enclosure) -> String {
    format!("{:.2} %", 100.0 * (1.0 - value.approximate() / whole.approximate()))
}

/// A word for whether the asked width was met.
pub fn status(met: bool) -> &'static str {
    if met { "met" } else { "wider than asked" }
}
