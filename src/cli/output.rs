//! The forms of answers: aligned tables, JSON objects and CSV, on standard output.

use std::io::{self, Write};

use anyhow::Result;
use dp_assay::{
    account::{DecidingRows, Rows},
    document::{Table, fields::Fields},
    law::Direction,
    loss::second::SecondEnclosure,
    numeric::Enclosure,
    provenance::Provenance,
};
use rug::{Float, Rational, float::Round};
use serde_json::{Value, json};

pub use dp_assay::numeric::notation::{exact_json as exact, exact_text};

use super::{
    exit::Exit,
    invocation, progress,
    terminal::{self, Layout},
    wrap::wrapped,
};

/// Standard output, with nothing else on the terminal's line.
pub fn out() -> io::StdoutLock<'static> {
    progress::end();
    io::stdout().lock()
}

/// Writes a JSON object with its provenance, and ends the line.
pub fn json(value: &Value) -> Result<()> {
    json_of(value, &invocation::provenance()?)
}

/// Writes a JSON object with a known provenance, and ends the line.
pub fn json_of(value: &Value, provenance: &Provenance) -> Result<()> {
    let value = with_provenance(value, provenance);
    writeln!(out(), "{value:#}")?;
    Ok(())
}

/// An object with its provenance, in the requested form.
pub fn with_provenance(value: &Value, provenance: &Provenance) -> Value {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        object.insert("provenance".to_string(), provenance.to_json());
    }
    if invocation::wants_strings() { numbers_as_strings(value) } else { value }
}

/// Every number as the string of its digits: for readers whose numbers are doubles.
fn numbers_as_strings(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Array(values) => values.into_iter().map(numbers_as_strings).collect(),
        Value::Object(keys) => keys.into_iter().map(|(key, value)| (key, numbers_as_strings(value))).collect(),
        other => other,
    }
}

/// Writes an answer as one JSON object, if that is requested, or else in words; the command is done.
pub fn object_or_words(is_json: bool, object: impl Into<Value>, words: &str) -> Result<Exit> {
    if is_json {
        json(&object.into())?
    } else {
        text(words)?
    }
    Ok(Exit::Done)
}

/// Writes text as it is.
pub fn text(text: &str) -> Result<()> {
    out().write_all(text.as_bytes())?;
    Ok(())
}

/// Writes a table, each column as wide as its widest cell.
pub fn aligned(table: &Table, layout: Layout) -> Result<()> {
    let lines = aligned_text(table, layout);
    if layout.has_colour {
        // The stream of clap's help: it also translates colour for terminals that know no escape sequences.
        progress::end();
        anstream::stdout().lock().write_all(lines.as_bytes())?;
        return Ok(());
    }
    text(&lines)
}

/// No column is made wider for a single word than this.
const MOST_WORD: usize = 24;

/// The widths of the columns of a table, and the columns whose text is wrapped.
///
/// If the table is too wide, text is wrapped and set left: first that of the last column, then of the widest ones with text,
/// until it fits. On a terminal columns of names, which have no blanks, are made narrower as well; numbers never are.
fn widths(Table { heading, rows, .. }: &Table, layout: Layout) -> (Vec<usize>, Vec<bool>) {
    // No column becomes narrower than this.
    let narrow = if layout.may_cut { 12 } else { 24 };
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let width = |column: usize| {
        let all = cells(column).map(String::as_str).chain(heading.get(column).map(String::as_str));
        all.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut broken = vec![false; heading.len()];
    let has_words = |column: &usize| cells(*column).any(|cell| cell.contains(' ') && !is_number(cell));
    let mut words: Vec<usize> = (0..heading.len()).filter(has_words).collect();
    words.sort_by_key(|column| (*column + 1 < heading.len(), std::cmp::Reverse(widths[*column])));
    let mut names: Vec<usize> = (0..heading.len())
        .filter(|column| layout.may_cut && !has_words(column) && !cells(*column).any(|cell| is_number(cell)))
        .collect();
    names.sort_by_key(|column| std::cmp::Reverse(widths[*column]));
    // A word is cut only if it is long, and no column of text is narrower than its words.
    let longest_word = |column: usize| {
        cells(column)
            .flat_map(|cell| cell.split_whitespace())
            .map(|word| word.chars().count())
            .max()
            .unwrap_or(0)
            .min(MOST_WORD)
    };
    let floors =
        words.into_iter().map(|column| (column, narrow.max(if layout.may_cut { longest_word(column) } else { 0 })));
    for (column, floor) in floors.chain(names.into_iter().map(|column| (column, narrow))).collect::<Vec<_>>() {
        let whole = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
        if whole <= layout.width {
            break;
        }
        if widths[column] > floor {
            widths[column] = (layout.width + widths[column]).saturating_sub(whole).max(floor);
            broken[column] = true;
        }
    }
    (widths, broken)
}

/// Whether a cell is a number, perhaps with a sign, a percent sign or a comparison before it: such cells are never cut.
fn is_number(cell: &str) -> bool {
    let bare = cell.trim_start_matches(['<', '>', '=', '~', ' ']).trim_end_matches(['%', ' ']);
    bare == "-"
        || bare.parse::<f64>().is_ok()
        || bare.split_once('/').is_some_and(|(p, q)| is_number(p) && is_number(q))
}

/// The lines of a table.
fn aligned_text(table: &Table, layout: Layout) -> String {
    let (widths, broken) = widths(table, layout);
    let mut out = String::new();
    for (number, row) in std::iter::once(&table.heading).chain(&table.rows).enumerate() {
        let lines = |(column, cell): (usize, &String)| match broken.get(column) == Some(&true) {
            true => wrapped(cell, widths[column]),
            false => vec![cell.clone()],
        };
        let cells: Vec<Vec<String>> = row.iter().enumerate().map(lines).collect();
        let style = |column: usize| match number {
            _ if !layout.has_colour => None,
            0 => Some(terminal::heading()),
            _ => row.get(column).and_then(|cell| terminal::verdict(cell)),
        };
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                line += if column == 0 { "" } else { "  " };
                let cell = cell.get(at).map_or("", String::as_str);
                let cell = if layout.may_cut && broken[column] { cut(cell, *width) } else { cell.to_string() };
                let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
                let is_right = table.is_right(column) && broken.get(column) != Some(&true);
                let shown = terminal::styled(&cell, style(column).filter(|_| !cell.is_empty()));
                line += &if is_right { format!("{padding}{shown}") } else { format!("{shown}{padding}") };
            }
            out += line.trim_end();
            out.push('\n');
        }
    }
    out
}

/// A word that is wider than its column, ending in an ellipsis.
fn cut(word: &str, width: usize) -> String {
    match word.chars().count() > width && !is_number(word) {
        true => word.chars().take(width.saturating_sub(1)).chain(['\u{2026}']).collect(),
        false => word.to_string(),
    }
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

/// The columns of a series over an axis: its values, and both ends of each of these numbers.
pub fn columns_of_ends(axis: &str, names: &[&str]) -> Vec<String> {
    let ends = names.iter().flat_map(|name| ["lower", "upper"].map(|end| format!("{name}_{end}")));
    std::iter::once(axis.to_string()).chain(ends).collect()
}

/// A point of it.
pub fn cells_of_ends<'v>(at: String, values: impl IntoIterator<Item = &'v Enclosure>) -> Vec<String> {
    std::iter::once(at).chain(values.into_iter().flat_map(|value| <[String; 2]>::from(ends(value)))).collect()
}

/// Columns of a series as JSON arrays of numbers.
pub fn arrays<C: AsRef<str>, R: AsRef<[String]>>(columns: &[C], rows: &[R]) -> Fields {
    let numbers = |k: usize| rows.iter().map(|row| json_number(&row.as_ref()[k])).collect::<Value>();
    columns.iter().enumerate().fold(Fields::new(), |fields, (k, column)| fields.with(column.as_ref(), numbers(k)))
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
            // Three digits of the mantissa, the last one rounded up by hand.
            Some((mantissa, exponent)) => format!("{:.2}e{exponent}", up_to_hundredths(mantissa)),
            None => format!("{:.2e}", up_to_hundredths(&text)),
        },
    )
}

fn up_to_hundredths(text: &str) -> f64 {
    let value: f64 = text.parse().unwrap_or(f64::INFINITY);
    if value >= 1.0 { (value * 100.0).ceil() / 100.0 } else { value * 1.01 }
}

/// A rho as a fraction; null where it is an upper bound on logarithms.
pub fn rho_exact(rho: &Rational, is_exact: bool) -> Value {
    if is_exact { json!(rho.to_string()) } else { Value::Null }
}

/// A name before other fields.
pub fn named(name: &str, fields: impl Into<Fields>) -> Fields {
    Fields::new().with("name", name).and(fields)
}

/// A number of things: "1 count", "2 counts".
pub fn count_of(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// By how much a number is proven to be below another, from its upper end, in percent with two decimals, for tables; a dash if it is not
/// proven to be below.
pub fn percent_below(value: &Enclosure, whole: &Enclosure) -> String {
    // Below an infinite number by no share of it.
    if whole.lower().is_infinite() {
        return "-".to_string();
    }
    match percent(1.0 - value.upper().to_f64() / whole.lower().to_f64()).map(|percent| format!("{percent:.2} %")) {
        // Equal to two decimals.
        Some(same) if same == "-0.00 %" => "0.00 %".to_string(),
        Some(less) if !less.starts_with('-') => less,
        _ => "-".to_string(),
    }
}

/// By how much a number is below or above another, in words: "3.94 % less", "2.10 % more".
pub fn less_or_more(value: &Enclosure, whole: &Enclosure) -> String {
    let share = value.approximate() / whole.approximate() - 1.0;
    match percent(share) {
        Some(percent) if percent > 0.0 => format!("{percent:.2} % more"),
        Some(percent) => format!("{:.2} % less", percent.abs()),
        None => percent_above(value, whole),
    }
}

/// The change of noise that is multiplied by a factor, in percent with a sign: "-13.25 %", "+168.55 %".
pub fn change(factor: &Rational, digits: usize) -> String {
    let change = Rational::from(factor - 1_u32) * 100_u32;
    let shown = Enclosure::rational(&change, 64).shown(digits);
    if change > 0 { format!("+{shown} %") } else { format!("{shown} %") }
}

/// The change of noise that is multiplied by a factor, in words: "13.25 % less noise", "168.55 % more noise", "as much noise".
pub fn change_in_words(factor: &Rational, digits: usize) -> String {
    let change = Rational::from(factor - 1_u32) * 100_u32;
    let shown = Enclosure::rational(&change.clone().abs(), 64).shown(digits);
    match change.cmp0() {
        std::cmp::Ordering::Less => format!("{shown} % less noise"),
        std::cmp::Ordering::Equal => "as much noise".to_string(),
        std::cmp::Ordering::Greater => format!("{shown} % more noise"),
    }
}

/// By how much a number is above another, with its sign.
pub fn percent_above(value: &Enclosure, whole: &Enclosure) -> String {
    let share = value.approximate() / whole.approximate() - 1.0;
    match percent(share) {
        Some(percent) => {
            let shown = format!("{percent:+.2} %");
            if shown.starts_with("-0.00") { "+0.00 %".to_string() } else { shown }
        }
        // More than a hundred times as much.
        None if share.is_finite() && share > 0.0 => format!("x {}", Enclosure::double(share + 1.0, 53).shown(4)),
        None => "-".to_string(),
    }
}

/// A share in percent, if it is finite and of a readable size.
fn percent(share: f64) -> Option<f64> {
    (share.is_finite() && share.abs() < 100.0).then_some(100.0 * share)
}

/// A line with a list of names after these words; nothing if there is none.
pub fn line_of(words: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{words} {}\n", names.join(", ")) }
}

/// A warning that noise can be subtracted, if there is a seed.
pub fn insecure(seed: Option<u64>) -> String {
    seed.map_or_else(String::new, |seed| format!("INSECURE: the noise follows from seed {seed}\n"))
}

/// The status: whether the requested precision was reached.
pub fn status(met: bool) -> &'static str {
    dp_assay::loss::answer::status(met)
}

/// A second enclosure, its methods, and what it leaves open: for JSON.
pub fn second_json(second: &SecondEnclosure) -> Value {
    let ends = Fields::from(second.value.to_json());
    ends.with("by", second.by.to_string()).with("note", second.leaves_open()).into()
}

/// The rows of perturbation tables that decide an answer: for JSON.
pub fn rows_json(deciding: &DecidingRows) -> Value {
    let of = |rows: &Rows| {
        let Rows { table, counts, cells, is_entered } = rows;
        json!({ "table": table, "counts": counts, "cells": cells, "entered": is_entered })
    };
    let direction = match deciding.direction {
        Direction::Remove => "remove",
        Direction::Add => "add",
    };
    let rows: Vec<Value> = deciding.rows.iter().map(of).collect();
    json!({ "direction": direction, "rows": rows, "all_choices": deciding.are_all_compared })
}

/// The JSON of a second enclosure that is missing, with the reason.
pub fn no_second(note: &str) -> Value {
    json!({ "lower": null, "upper": null, "by": null, "note": note })
}

/// Those of many points: an array for each key.
pub fn second_arrays(all: &[SecondEnclosure]) -> Value {
    let rows: Vec<Value> = all.iter().map(second_json).collect();
    let column = |key: &str| rows.iter().map(|row| row.get(key).cloned().unwrap_or_default()).collect::<Value>();
    json!({ "lower": column("lower"), "upper": column("upper"), "by": column("by"), "note": column("note") })
}

/// A second enclosure in a sentence.
pub fn second_text(second: &SecondEnclosure) -> String {
    let (lower, upper) = (second.value.lower_text(4), second.value.upper_text(4));
    let note = second.leaves_open().map_or_else(String::new, |note| format!(" ({note})"));
    format!("{lower} to {upper}, by {}{note}", second.by)
}

#[cfg(test)]
mod tests {
    use dp_assay::numeric::rational;

    use super::*;

    #[test]
    fn exact_numbers_have_no_digit_that_is_wrong() {
        for (top, bottom) in [(30, 199), (1, 3), (-2, 3), (12_500, 10_001), (1, 999_983)] {
            let value = Rational::from((top, bottom));
            let shown = rational::parse(&exact_text(&value)).unwrap();
            let above = Rational::from(&shown - &value) / value.clone().abs();
            // Rounded up, by less than one unit in the 25th digit.
            assert!(above > 0 && above < rational::parse("1e-24").unwrap(), "{}", exact_text(&value));
        }
        assert_eq!(exact_text(&Rational::from((30, 199))), "0.1507537688442211055276382");
        assert_eq!(exact_text(&Rational::from((1, 8))), "0.125");
    }

    #[test]
    fn a_wide_table_breaks_the_words_of_its_last_column() {
        let long = ["word"; 40].join(" ");
        let rows = [vec!["a".to_string(), long.clone()], vec!["bb".to_string(), "short".to_string()]];
        let piped =
            |rows: &[Vec<String>]| aligned_text(&Table::numbers("", &["name", "what"], rows.to_vec()), Layout::PIPED);
        let table = piped(&rows);
        assert!(table.lines().all(|line| line.chars().count() <= Layout::PIPED.width), "{table}");
        assert!(table.lines().count() > 3 && table.contains("\n      word"), "{table}");
        assert_eq!(piped(&rows[1..]), "name   what\nbb    short\n");
    }

    #[test]
    fn a_table_fits_a_terminal_and_keeps_its_numbers() {
        let row = |cells: [&str; 4]| cells.map(String::from).to_vec();
        let rows = vec![
            row(["pl94-persons-us-total-rounded-with-a-long-name", "16.4677511843", "-8.00 %", "agrees"]),
            row(["b", "17849145/1041158", "-", "disproved"]),
        ];
        let table = Table::numbers("", &["id", "epsilon", "change", "verdict"], rows).with_words([0, 3]);
        let on = |width, has_colour| aligned_text(&table, Layout { width, may_cut: true, has_colour });
        let narrow = on(60, false);
        assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
        for whole in ["16.4677511843", "17849145/1041158", "-8.00 %", "\u{2026}"] {
            assert!(narrow.contains(whole), "{whole}: {narrow}");
        }
        // If even the numbers do not fit, they are still not cut.
        assert!(on(40, false).contains("17849145/1041158"));
        // Wide enough: as in a pipe.
        assert_eq!(on(200, false), aligned_text(&table, Layout::PIPED));
        let coloured = on(200, true);
        assert!(
            coloured.starts_with("\u{1b}[1mid\u{1b}[0m") && coloured.contains("\u{1b}[31mdisproved\u{1b}[0m"),
            "{coloured}"
        );
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string().replace(" \n", "\n"), on(200, false));
    }

    #[test]
    fn percents_are_of_a_size_that_people_read() {
        let number = |value: f64| Enclosure::double(value, 53);
        assert_eq!(percent_below(&number(0.75), &number(1.0)), "25.00 %");
        assert_eq!(percent_below(&number(3.1831e10), &number(1.0)), "-");
        // From the upper end, not from the middle; nothing where that is not lower.
        let wide = Enclosure::new(rug::Float::new(53), rug::Float::with_val(53, 52_000));
        assert_eq!(percent_below(&wide, &number(51_512.3)), "-");
        assert_eq!(percent_below(&wide, &number(104_000.0)), "50.00 %");
        assert_eq!(percent_above(&number(1.5), &number(1.0)), "+50.00 %");
        assert_eq!(percent_above(&number(500.0), &number(1.0)), "x 500");
        assert_eq!(percent_above(&number(1.0), &number(0.0)), "-");
        assert_eq!(percent_above(&number(0.0), &number(0.0)), "-");
        assert_eq!(percent_above(&number(1.0 - 1e-9), &number(1.0)), "+0.00 %");
        assert_eq!(percent_below(&number(1.0 + 1e-9), &number(1.0)), "0.00 %");
        assert_eq!(less_or_more(&number(0.9), &number(1.0)), "10.00 % less");
        assert_eq!(less_or_more(&number(1.25), &number(1.0)), "25.00 % more");
    }

    #[test]
    fn more_noise_is_called_more() {
        let of = |text: &str| rational::parse(text).unwrap();
        let words = |text: &str| change_in_words(&of(text), 8);
        assert_eq!((words("0.8675"), change(&of("0.8675"), 6)), ("13.25 % less noise".into(), "-13.25 %".into()));
        assert_eq!((words("2.6855"), change(&of("2.6855"), 6)), ("168.55 % more noise".into(), "+168.55 %".into()));
        assert_eq!((words("1"), change(&of("1"), 6)), ("as much noise".into(), "0 %".into()));
    }

    #[test]
    fn all_numbers_are_strings_on_request() {
        let value = json!({ "epsilon": { "lower": 1.5, "upper": 2 }, "counts": [1, null, "x"], "met": true });
        let shown = json!({ "epsilon": { "lower": "1.5", "upper": "2" }, "counts": ["1", null, "x"], "met": true });
        assert_eq!(numbers_as_strings(value), shown);
    }
}
