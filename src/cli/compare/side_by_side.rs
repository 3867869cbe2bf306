//! Several releases side by side: every accountant, and every level by its name.

use anyhow::{Result, bail};
use dp_assay::{
    account::{Account, Answer, Delta},
    chart::{
        Figure,
        ranks::{self, Ranks},
    },
    document::fields::Fields,
    numeric::{Enclosure, parallel},
    release::subject::Part,
};
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    drawn::Drawn,
    exit::Exit,
    output::{exact, exact_text, percent_above, rho_exact},
    page::Page,
    progress::{self, Steps},
    subject::{Format, Resolved, of_relation},
};
use super::accountants::{Accountants, label, shown};

/// A release with its answers.
struct Column<'s> {
    name: &'s str,
    subject: &'s Resolved,
    accountants: Accountants,
    levels: Vec<Level>,
}

/// Name and rho of a level, whether that is no upper bound on logarithms, and epsilon.
type Level = (String, Rational, bool, Answer);

impl Column<'_> {
    fn of_subject<'s>(name: &'s str, subject: &'s Resolved, delta: &Delta, digits: u32) -> Result<Column<'s>> {
        progress::stage(&format!("accounts of {name}"));
        let accountants = Accountants::of_subject(subject, delta, digits)?;
        let steps = Steps::of_stage(&format!("epsilon of the levels of {name}"), subject.levels.len() as u64);
        let level = |part: &Part| {
            let epsilon = part.whole.epsilon(delta, digits)?;
            steps.step();
            Ok((part.name.clone(), part.rho().into(), part.whole.has_exact_rho(), epsilon))
        };
        let levels = parallel::try_map(&subject.levels, level)?;
        Ok(Column { name, subject, accountants, levels })
    }

    fn json(&self) -> Value {
        let level = |(name, rho, is_exact, epsilon): &Level| {
            json!({
                "name": name,
                "rho": exact(rho),
                "rho_exact": rho_exact(rho, *is_exact),
                "epsilon": epsilon.value.to_json(),
                "status": epsilon.status(),
            })
        };
        let total = self.subject.total.rho();
        let release = json!({
            "release": self.name,
            "rho": exact(total),
            "rho_exact": rho_exact(total, self.subject.whole.has_exact_rho()),
            "accountants": self.accountants.rows(),
            "levels": self.levels.iter().map(level).collect::<Vec<_>>(),
            "status": self.accountants.exact.status(),
            "worst_pair": self.subject.deciding_pair(&self.accountants.exact),
        });
        Fields::from(release).and(of_relation(self.subject)).into()
    }

    /// A record for each accountant and each level.
    fn records(&self) -> Vec<Value> {
        let object = self.json();
        let of = |key: &'static str, kind: &'static str| {
            let rows = object[key].as_array().cloned().unwrap_or_default();
            rows.into_iter()
                .map(move |row| Fields::new().with("release", self.name).with("kind", kind).and(row).object())
        };
        of("accountants", "accountant").chain(of("levels", "level")).collect()
    }
}

pub(super) fn run(subjects: &[(String, Resolved)], delta: &Delta, format: &Format, drawing: &Drawn) -> Result<Exit> {
    let most = ranks::INKS.len();
    if drawing.svg.is_some() && subjects.len() > most {
        bail!("--svg draws up to {most} releases side by side: {} are named", subjects.len());
    }
    let columns: Vec<Column> = (subjects.iter())
        .map(|(name, subject)| Column::of_subject(name, subject, delta, format.digits))
        .collect::<Result<_>>()?;
    let mut page = drawing.page(format)?;
    page.object(json!({
        "delta": exact(delta),
        "releases": columns.iter().map(Column::json).collect::<Vec<_>>(),
    }));
    page.records(columns.iter().flat_map(Column::records));
    for column in &columns {
        page.text(format!("{}; {} neighbors\n", column.subject.title, column.subject.neighbors.name()));
    }
    page.text(format!("delta = {}\n\n", exact_text(delta)));
    put_accountants(&mut page, &columns);
    put_levels(&mut page, &columns);
    let relations = |column: &Column| column.subject.neighbors;
    if columns.iter().any(|column| relations(column) != relations(&columns[0])) {
        page.text("\nThe neighbor relations differ, so these epsilons are about different guarantees; --neighbors sets one for all.\n");
    }
    let mut notes: Vec<String> = columns.iter().filter_map(|column| column.subject.note()).collect();
    notes.dedup();
    notes.into_iter().for_each(|note| page.note(Some(note)));
    page.say_wider(columns.iter().map(|column| (column.name, &column.accountants.exact)));
    drawing.write(|| drawn(&columns, delta))?;
    page.done()
}

/// A mark for each release: in a row for each accountant, and in one for each level.
fn drawn(columns: &[Column], delta: &Delta) -> Figure {
    let names = level_names(columns);
    let rows = account_names(columns);
    let accountants = Ranks {
        title: "accountants".to_string(),
        label: label(delta),
        names: rows.iter().map(ToString::to_string).collect(),
        series: columns.iter().map(|column| (column.name.to_string(), column.accountants.drawn(&rows))).collect(),
    };
    let of_level = |column: &Column, name: &str| {
        let level = column.levels.iter().find(|level| level.0 == name);
        level.map(|(.., epsilon)| epsilon.value.approximate())
    };
    let series = (columns.iter())
        .map(|column| (column.name.to_string(), names.iter().map(|name| of_level(column, name)).collect()));
    let levels = Ranks {
        title: "each level alone, exactly".to_string(),
        label: label(delta),
        names: names.iter().map(ToString::to_string).collect(),
        series: series.collect(),
    };
    let panels = if names.is_empty() { vec![accountants] } else { vec![accountants, levels] };
    ranks::figure("Accountants and levels side by side", &panels)
}

/// How much less or more than the first column, in percent.
fn beside(first: Option<&Enclosure>, value: Option<&Enclosure>) -> String {
    let (Some(first), Some(value)) = (first, value) else { return String::new() };
    percent_above(value, first)
}

fn put_accountants(page: &mut Page, columns: &[Column]) {
    let mut heading = vec!["epsilon".to_string()];
    for (k, column) in columns.iter().enumerate() {
        heading.push(column.name.to_string());
        heading.extend((k > 0).then(|| "to the first".to_string()));
    }
    let row = |name: &str| {
        let mut cells = vec![name.to_string()];
        let first = columns[0].accountants.row(name).and_then(|row| row.epsilon.as_ref());
        for (k, column) in columns.iter().enumerate() {
            let row = column.accountants.row(name);
            cells.push(row.map_or("-".to_string(), shown));
            cells.extend((k > 0).then(|| beside(first, row.and_then(|row| row.epsilon.as_ref()))));
        }
        cells
    };
    page.table(&heading, account_names(columns).into_iter().map(row));
}

/// The accounts of all releases, in the order of first occurrence: some are about some laws of noise alone.
fn account_names(columns: &[Column]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for name in columns.iter().flat_map(|column| column.accountants.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The levels of all releases, in the order of first occurrence.
fn level_names<'a>(columns: &'a [Column]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, ..) in columns.iter().flat_map(|column| &column.levels) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// The levels of all releases; a release without a level has empty cells.
fn put_levels(page: &mut Page, columns: &[Column]) {
    let names = level_names(columns);
    if names.is_empty() {
        return;
    }
    let mut heading = vec!["level".to_string()];
    for column in columns {
        heading.extend([format!("rho, {}", column.name), "epsilon".to_string()]);
    }
    let real = |rho: &Rational| Enclosure::rational(rho, 64).shown(6);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for name in names {
        let mut cells = vec![name.to_string()];
        for column in columns {
            match column.levels.iter().find(|level| level.0 == name) {
                Some((_, rho, _, epsilon)) => cells.extend([real(rho), epsilon.value.shown(8)]),
                None => cells.extend(["-".to_string(), "-".to_string()]),
            }
        }
        rows.push(cells);
    }
    let mut last = vec!["all composed".to_string()];
    for column in columns {
        last.extend([real(column.subject.total.rho()), column.accountants.exact.value.shown(8)]);
    }
    rows.push(last);
    page.text("\n");
    page.table(&heading, rows);
}
