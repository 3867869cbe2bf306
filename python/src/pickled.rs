//! Counts whose law has no text of the command line, as text for pickles: noise by its masses, and unknown keys.

use std::sync::Arc;

use dp_assay::{
    account::Counts,
    law::{Law, NoiseTable, Pair, PerturbationTable},
    numeric::rational,
};

/// What stands before the period of a perturbation table, if that is not one.
const PERIOD: &str = "period";

/// Counts with noise by its masses, or unknown keys, as text that [`parsed`] reads: count, shift and name in lines of their own, and then the rows; `None` for other laws.
pub(crate) fn in_words(counts: &Counts) -> Option<String> {
    let rows: Vec<String> = match &counts.law {
        Law::Table(table) => table.masses().map(|(value, mass)| format!("{value} {mass}")).collect(),
        Law::Perturbation(table) if table.base().is_none() => {
            let period = (table.period() != 1).then(|| format!("{PERIOD} {}", table.period()));
            period.into_iter().chain(table.entries().map(|(i, j, p)| format!("{i} {j} {p}"))).collect()
        }
        Law::Pair(pair) => pair.outcomes().iter().map(|(p, q)| format!("{p} {q}")).collect(),
        Law::UnknownKey(keys) => {
            let others: String = counts.law.other_parameters().iter().map(|(_, value)| format!(":{value}")).collect();
            let (law, parameter) = (Law::from(keys.noise()).key(), counts.law.parameter());
            return Some(format!("{law}:{parameter}{others}x{}@{}", counts.count, counts.shift));
        }
        _ => return None,
    };
    let name = match &counts.law {
        Law::Table(table) => table.title(),
        Law::Perturbation(table) => table.title(),
        Law::Pair(pair) => pair.title(),
        _ => "",
    };
    Some(format!("{}\n{}\n{}\n{}", counts.count, counts.shift, name.replace('\n', " "), rows.join("\n")))
}

/// The counts of a text that [`in_words`] wrote, by the name of their law in files; `None` for other laws.
pub(crate) fn parsed(key: &str, text: &str) -> Option<dp_assay::Result<Counts>> {
    let counts = || -> dp_assay::Result<Option<Counts>> {
        let number = |row: &[&str], place: usize| rational::parse(row.get(place).copied().unwrap_or_default());
        let whole = |row: &[&str], place: usize| -> dp_assay::Result<i64> {
            let number = number(row, place)?;
            number.numer().to_i64().filter(|_| number.is_integer()).ok_or_else(|| broken(key))
        };
        let count = |row: &[&str], place| whole(row, place).map(i64::unsigned_abs);
        if key == "unknown-key" {
            return Counts::parse_unknown_key(text).map(Some);
        }
        let mut lines = text.split('\n');
        let head: Vec<&str> = lines.by_ref().take(3).collect();
        let name = head.get(2).copied().unwrap_or_default();
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
        let law = match key {
            "table" => {
                let rows = rows.iter().map(|row| Ok((whole(row, 0)?, number(row, 1)?)));
                Law::Table(Arc::new(NoiseTable::new(name, rows.collect::<dp_assay::Result<Vec<_>>>()?)?))
            }
            "p-table" => {
                let (period, rows) = match rows.split_first() {
                    Some((first, rest)) if first.first() == Some(&PERIOD) => (count(first, 1)?, rest),
                    _ => (1, &rows[..]),
                };
                let rows = rows.iter().map(|row| Ok((count(row, 0)?, count(row, 1)?, number(row, 2)?)));
                let table = PerturbationTable::new(name, rows.collect::<dp_assay::Result<Vec<_>>>()?)?;
                Law::Perturbation(Arc::new(table.with_period(period)?))
            }
            "pair" => {
                let rows = rows.iter().map(|row| Ok((number(row, 0)?, number(row, 1)?)));
                Law::Pair(Arc::new(Pair::new(name, rows.collect::<dp_assay::Result<Vec<_>>>()?)?))
            }
            _ => return Ok(None),
        };
        Counts::new(law, count(&head, 0)?, count(&head, 1)?).map(Some)
    };
    counts().transpose()
}

fn broken(key: &str) -> dp_assay::Error {
    dp_assay::Error::Fault { what: format!("a pickled {key} with a number that is none") }
}
