//! The number with which an epsilon is compared, as it is written: a column of a table, an object, and the notes below.

use dp_assay::account::compared::{Compared, Conversion};
use serde_json::{Value, json};

use super::output;

/// Significant digits of a bound in tables.
const SHOWN: usize = 6;

/// The comparison as an object.
pub fn json(compared: &Compared) -> Value {
    let figure = compared.published.as_ref();
    json!({
        "name": compared.by.name(),
        "epsilon": compared.epsilon.to_json(),
        "printed": figure.map(|figure| &figure.printed),
        "source": figure.map(|figure| &figure.source),
    })
}

/// A bound as it is shown: rounded up, so that the shown number is still a bound.
pub fn bound(compared: &Compared) -> String {
    compared.epsilon.upper_text(SHOWN)
}

/// The conversion that all have in common.
pub fn common<'c>(mut all: impl Iterator<Item = &'c Compared>) -> Option<Conversion> {
    let first = all.next()?.by;
    all.all(|compared| compared.by == first).then_some(first)
}

/// The columns of a comparison in a table: one under its name, or two if rows have different accounts.
pub struct Columns {
    common: Option<Conversion>,
}

impl Columns {
    /// The columns for these rows.
    pub fn of_compared<'c>(all: impl Iterator<Item = &'c Compared>) -> Columns {
        Columns { common: common(all) }
    }

    /// The headings.
    pub fn heading(&self) -> Vec<&'static str> {
        match self.common {
            Some(by) => vec![by.name()],
            None => vec!["compared with", "by"],
        }
    }

    /// The cells of a row.
    pub fn cells(&self, compared: &Compared) -> Vec<String> {
        match self.common {
            Some(_) => vec![bound(compared)],
            None => vec![bound(compared), compared.by.name().to_string()],
        }
    }
}

/// The meaning of the columns: each account by its formula, and published figures row by row. `usual` is true if the accounts were
/// chosen by the default rule (published figure, otherwise the smallest account), false if they were requested.
pub fn notes<'c>(rows: impl Iterator<Item = (&'c str, &'c Compared)>, usual: bool) -> Vec<String> {
    let rows: Vec<(&str, &Compared)> = rows.collect();
    let mut notes = Vec::new();
    for by in Conversion::ALL {
        if rows.iter().any(|(_, compared)| compared.by == by) {
            notes.push(format!("{}: {}.", by.name(), by.formula()));
        }
    }
    let mut published: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, compared) in rows.iter().copied() {
        let Some(said) = compared.about_published() else { continue };
        match published.iter_mut().find(|(other, _)| *other == said) {
            Some((_, names)) => names.push(name),
            None => published.push((said, vec![name])),
        }
    }
    let published_rows = rows.iter().filter(|(_, compared)| compared.published.is_some()).count();
    notes.extend(published.into_iter().map(|(said, names)| format!("{}: {said}", names.join(", "))));
    if usual && published_rows < rows.len() {
        notes.push(match published_rows {
            0 => format!("Compared with the smallest of {SMALLEST}."),
            _ => format!(
                "Where nothing was published for the same at this delta, compared with the smallest of {SMALLEST}."
            ),
        });
    }
    notes
}

/// The standard accounts, of which the smallest is used.
const SMALLEST: &str = "pure DP, zCDP (best order) and RDP";

/// By how much an epsilon is below the number with which it is compared.
pub fn percent_below(epsilon: &dp_assay::numeric::Enclosure, compared: &Compared) -> String {
    output::percent_below(epsilon, &compared.epsilon)
}
