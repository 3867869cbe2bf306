//! Checks the certificate of a release: both its files exist and agree, and its numbers of rows are those of the tables. If the public
//! inputs are given, everything that follows from them is recomputed.
//!
//! Values that depend on the run are not recomputed: the draw, earlier draws, the program's version and commit, and the numbers of rows
//! written, which are compared with the tables.

use std::{collections::BTreeSet, path::Path};

use rug::Rational;
use serde_json::Value;

use super::rows::Tables;
use crate::{
    draws::EarlierBudgets,
    error::Result,
    io::files::file_error,
    numeric::rational,
    safetab::{
        schema::{Rule, ValidationReport, rows::name_of, validation::Location},
        tabulate::{Program, PublicJob},
    },
};

/// The names of both files.
pub(super) const FILES: [&str; 2] = ["certificate.json", "certificate.md"];

/// Keys that depend on the run and not on the inputs.
const OF_THE_RUN: [&str; 13] = [
    "program",
    "commit",
    "seed",
    "insecure_seed",
    "draw",
    "earlier_draws",
    "earlier_budgets_exact",
    "earlier_draws_of_another_unit",
    "earlier_budgets_of_other_units",
    "earlier_draws_into_other_folders",
    "all_draws",
    "draws_of_this_unit",
    "coterminous_groups_replaced",
];

/// A difference in a certificate: the key, the stated value and the expected one.
struct Difference {
    key: String,
    stated: String,
    expected: String,
}

/// Checks the certificate in the folder of a release.
pub(super) fn check<P: Program>(
    folder: &Path,
    tables: &Tables,
    job: Option<(&PublicJob, &P)>,
    report: &mut ValidationReport,
) -> Result<()> {
    let [json_path, page_path] = FILES.map(|name| folder.join(name));
    let (file, page_file) = (name_of(&json_path), name_of(&page_path));
    let (json, page) = (read(&json_path, report)?, read(&page_path, report)?);
    let Some(json) = json else { return Ok(()) };
    let at = Location { file: &file, ..Location::default() };
    let Ok(stated) = serde_json::from_str::<Value>(&json) else {
        report.add(at, Rule::Syntax, "", "the certificate of a release, in JSON");
        return Ok(());
    };
    tables.check_rows(&stated, at, report);
    let mut add = |file: &str, differences: Vec<Difference>| {
        for Difference { key, stated, expected } in differences {
            let at = Location { file, field: &key, ..Location::default() };
            report.add(at, Rule::Contradiction, stated, &expected);
        }
    };
    add(&file, of_draws(&stated));
    if let Some(page) = &page {
        add(&page_file, page_against(page, &stated));
    }
    let Some((job, inputs)) = job else { return Ok(()) };
    match job.certificate_again(inputs, &stated)? {
        None => add(&file, vec![difference("delta", &stated["delta"], "a number between 0 and 1")]),
        Some((computed, computed_page)) => {
            let mut differences = Vec::new();
            compare("", &stated, &computed, &mut differences);
            add(&file, differences);
            if let Some(page) = &page {
                add(&page_file, lines_against(page, &computed_page));
            }
        }
    }
    Ok(())
}

/// The text of a file of the certificate; a violation if it is missing.
fn read(path: &Path, report: &mut ValidationReport) -> Result<Option<String>> {
    let file = name_of(path);
    let at = Location { file: &file, ..Location::default() };
    match std::fs::read(path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
            report.add(at, Rule::Unreadable, "not there", "the certificate of the release");
            Ok(None)
        }
        Err(why) => Err(file_error(path, why)),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => {
                report.add(at, Rule::Encoding, "", "the certificate of a release, in UTF-8");
                Ok(None)
            }
        },
    }
}

fn difference(key: &str, stated: &Value, expected: impl ToString) -> Difference {
    let stated = match stated {
        Value::Null => "nothing".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Difference { key: key.to_string(), stated, expected: expected.to_string() }
}

/// The unit of the budgets of a certificate.
fn unit(stated: &Value) -> &'static str {
    if stated.get("rho").is_some() { "rho" } else { "pure_epsilon" }
}

/// Checks that the draw is numbered, and that the total of all draws is between their maximum and their sum.
fn of_draws(stated: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    if stated["draw"].as_u64().is_none_or(|draw| draw == 0) {
        found.push(difference("draw", &stated["draw"], "the number of the draw, from 1"));
    }
    let unit = unit(stated);
    let own = stated[format!("{unit}_exact")].as_str().and_then(|text| rational::parse(text).ok());
    match (EarlierBudgets::from_json(stated, unit), own) {
        (Some(earlier), Some(own)) if earlier.draws() > 0 => {
            let most = earlier.same.iter().chain([&own]).max().cloned().unwrap_or_default();
            let sum = earlier.same.iter().fold(own, |sum, budget| sum + budget);
            if earlier.together < most || earlier.together > sum {
                let expected = format!("from {} to {}", rational::display(&most), rational::display(&sum));
                found.push(difference("all_draws", &stated["all_draws"][unit], expected));
            }
            if stated["earlier_draws"].as_u64() != Some(earlier.draws()) {
                found.push(difference("earlier_draws", &stated["earlier_draws"], earlier.draws()));
            }
        }
        (Some(_), _) => {}
        (None, _) => {
            found.push(difference("earlier_draws", &stated["earlier_draws"], "the budgets of these draws beside it"))
        }
    }
    found
}

/// An exact number in JSON, or in a cell of a page.
fn number(text: &str) -> Option<Rational> {
    rational::parse(text.trim()).ok()
}

fn number_of(value: &Value) -> Option<Rational> {
    value.is_number().then(|| number(&value.to_string())).flatten()
}

/// Both ends of an enclosure.
fn ends(value: &Value) -> Option<(Rational, Rational)> {
    let object = value.as_object().filter(|object| object.len() == 2)?;
    Some((number_of(object.get("lower")?)?, number_of(object.get("upper")?)?))
}

/// A millionth of a number: enclosures of the same value by two versions are closer to each other.
fn nearly(value: &Rational) -> Rational {
    Rational::from(value.abs_ref()) / 1_000_000_u32
}

/// Whether two enclosures can be of the same number: they overlap, and both are narrow.
fn same_enclosure(a: &(Rational, Rational), b: &(Rational, Rational)) -> bool {
    let narrow =
        |(lower, upper): &(Rational, Rational)| lower <= upper && Rational::from(upper - lower) <= nearly(upper);
    (a == b) || (a.0 <= b.1 && b.0 <= a.1 && narrow(a) && narrow(b))
}

/// Finds every key whose stated value is not the computed one.
fn compare(key: &str, stated: &Value, computed: &Value, found: &mut Vec<Difference>) {
    if let (Some(a), Some(b)) = (ends(stated), ends(computed)) {
        if !same_enclosure(&a, &b) {
            found.push(difference(key, stated, computed));
        }
        return;
    }
    match (stated, computed) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in keys.into_iter().filter(|name| !OF_THE_RUN.contains(&name.as_str()) && *name != "rows") {
                let place = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                compare(&place, &stated[name], &computed[name], found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{key}[{at}]"), a, b, found);
            }
        }
        (a, b) => {
            let equal = a == b || number_of(a).is_some_and(|a| number_of(b) == Some(a));
            if !equal {
                let expected = if b.is_null() { "nothing".to_string() } else { b.to_string() };
                found.push(difference(key, a, expected));
            }
        }
    }
}

/// Compares budgets, epsilons, inputs and the draw on the page with the certificate in JSON.
fn page_against(page: &str, stated: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut parts: Vec<(String, &Value)> = Vec::new();
    for pass in stated["passes"].as_array().into_iter().flatten() {
        for level in pass["levels"].as_array().into_iter().flatten() {
            let (kind, number) = (level["region_type"].as_str().unwrap_or_default(), &level["level"]);
            parts.push((format!("{kind} level {number}"), level));
        }
        parts.push((format!("**{}**", pass["pass"].as_str().unwrap_or_default()), pass));
    }
    parts.push(("**Whole run**".to_string(), stated));
    let unit = unit(stated);
    // The first table of the page has a line for each of these, in the same order.
    let rows: Vec<Vec<&str>> =
        page.lines().filter_map(cells).skip_while(|row| row.first() != Some(&"---")).skip(1).collect();
    for (at, (name, part)) in parts.iter().enumerate() {
        let row = rows.get(at).cloned().unwrap_or_default();
        let mut wanted = vec![Value::from(name.as_str()), part[format!("{unit}_exact")].clone()];
        for guarantee in [part, &&part["bounded"]] {
            wanted.push(guarantee["epsilon"].clone());
            if unit == "rho" {
                wanted.push(guarantee["zcdp_epsilon"].clone());
            }
        }
        let differs = row.len() != wanted.len() || row.iter().zip(&wanted).any(|(cell, value)| !shows(cell, value));
        if differs {
            let wanted: Vec<String> = wanted.iter().map(Value::to_string).collect();
            found.push(difference(
                name,
                &Value::from(row.join(" | ")),
                format!("{}, as in {}", wanted.join(" | "), FILES[0]),
            ));
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for (role, hash) in stated["sha256"].as_object().into_iter().flatten() {
        lines.push(format!("- {role}: `{}`", hash.as_str().unwrap_or_default()));
    }
    for line in lines.iter().filter(|line| !page.lines().any(|known| known == *line)) {
        found.push(difference("sha256", &Value::Null, format!("the line {line}")));
    }
    let end = format!(", draw {}.", stated["draw"]);
    if !page.lines().any(|line| line.starts_with("Made by assay ") && line.ends_with(&end)) {
        found.push(difference("draw", &Value::Null, format!("Made by assay VERSION{end}")));
    }
    found
}

/// The cells of a line of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.trim_end().strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().trim_end_matches(':')).map(str::trim).collect())
}

/// Whether a cell shows a value: a name or an exact number unchanged, an enclosure by a number within one unit of its last digit.
fn shows(cell: &str, value: &Value) -> bool {
    // An upper bound, rounded up.
    if let (Some(Value::Null), Some(Value::Number(upper))) = (value.get("lower"), value.get("upper")) {
        let shown = cell.strip_prefix("at most ").and_then(|cell| Some((number(cell)?, last_digit(cell))));
        let upper = number(&upper.to_string());
        return shown.zip(upper).is_some_and(|((shown, unit), upper)| upper <= shown && shown <= upper + unit);
    }
    if let Some((lower, upper)) = ends(value) {
        let Some(shown) = number(cell) else { return false };
        let unit = last_digit(cell);
        return Rational::from(&lower - &unit) <= shown && shown <= Rational::from(&upper + &unit);
    }
    match value {
        Value::Null => cell == "-",
        Value::String(text) => cell == text || number(text).is_some_and(|exact| number(cell) == Some(exact)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// One unit of the last digit of a decimal.
fn last_digit(text: &str) -> Rational {
    let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i64);
    let exponent = power.parse::<i64>().unwrap_or(0).clamp(-400, 400) - decimals;
    let power = Rational::from(rug::Integer::from(rug::Integer::u_pow_u(10, exponent.unsigned_abs() as u32)));
    if exponent < 0 { power.recip() } else { power }
}

/// Compares the lines of the page with those of the same certificate recomputed; the last line names the program that made it.
fn lines_against(page: &str, computed: &str) -> Vec<Difference> {
    let of_the_run = |line: &&str| !line.starts_with("Made by assay ");
    let (stated, expected): (Vec<&str>, Vec<&str>) =
        (page.lines().filter(of_the_run).collect(), computed.lines().filter(of_the_run).collect());
    let mut found = Vec::new();
    for at in 0..stated.len().max(expected.len()) {
        let (a, b) = (stated.get(at).copied().unwrap_or_default(), expected.get(at).copied().unwrap_or_default());
        if !same_line(a, b) {
            found.push(difference("page", &Value::from(a), b));
        }
    }
    found
}

/// Whether two lines are equal, up to the last digits of numbers in a table.
fn same_line(a: &str, b: &str) -> bool {
    let (Some(left), Some(right)) = (cells(a), cells(b)) else { return a == b };
    let same = |(a, b): (&&str, &&str)| {
        let near = || number(a).zip(number(b)).is_some_and(|(a, b)| Rational::from(&a - &b).abs() <= nearly(&b));
        a == b || near()
    };
    left.len() == right.len() && left.iter().zip(&right).all(same)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_by_value_and_enclosures_by_where_they_are() {
        let stated = json!({ "rho": 7.25, "program": "assay 9", "passes": [{ "rows": { "t1": 3 }, "epsilon": { "lower": 1.0, "upper": 1.0000001 } }] });
        let differing = |change: &dyn Fn(&mut Value)| {
            let (mut other, mut found) = (stated.clone(), Vec::new());
            change(&mut other);
            compare("", &stated, &other, &mut found);
            found.into_iter().map(|found| found.key).collect::<Vec<_>>()
        };
        assert_eq!(differing(&|_| {}), Vec::<String>::new());
        assert_eq!(differing(&|other| other["program"] = json!("assay 8")), Vec::<String>::new());
        assert_eq!(differing(&|other| other["passes"][0]["rows"]["t1"] = json!(4)), Vec::<String>::new());
        assert_eq!(differing(&|other| other["rho"] = json!(1.25)), ["rho"]);
        assert_eq!(differing(&|other| other["delta"] = json!(0.5)), ["delta"]);
        let epsilon = |lower: f64, upper: f64| {
            move |other: &mut Value| {
                other["passes"][0]["epsilon"] = json!({ "lower": lower, "upper": upper });
            }
        };
        assert_eq!(differing(&epsilon(1.00000005, 1.0000002)), Vec::<String>::new());
        // An enclosure elsewhere, and one too wide to be useful.
        for (lower, upper) in [(0.9, 0.91), (0.5, 2.0), (2.0, 1.0)] {
            assert_eq!(differing(&epsilon(lower, upper)), ["passes[0].epsilon"]);
        }
        assert_eq!(differing(&|other| other["passes"] = json!([])), ["passes"]);
    }

    #[test]
    fn a_cell_shows_an_enclosure_up_to_its_last_digit() {
        let epsilon = json!({ "lower": 14.8410685, "upper": 14.8410692 });
        for (cell, is_shown) in [
            ("14.841069", true),
            ("14.84107", true),
            ("14.85", true),
            ("14.841075", false),
            ("4.841069", false),
            ("-", false),
        ] {
            assert_eq!(shows(cell, &epsilon), is_shown, "{cell}");
        }
        let bound = json!({ "lower": null, "upper": 4.49222935 });
        for (cell, is_shown) in [
            ("at most 4.4922294", true),
            ("at most 4.5", true),
            ("4.4922294", false),
            ("at most 4.4922293", false),
            ("at most 4.7", false),
        ] {
            assert_eq!(shows(cell, &bound), is_shown, "{cell}");
        }
        assert!(shows("-", &Value::Null) && !shows("3", &Value::Null));
        assert!(shows("7.25", &json!("29/4")) && !shows("7.2", &json!("29/4")));
        assert!(same_line("| a | 1.0000001 |", "| a | 1.0000002 |") && !same_line("| a | 1.1 |", "| a | 1.2 |"));
        assert!(!same_line("Budget: rho = 7.25.", "Budget: rho = 1.25."));
    }
}
