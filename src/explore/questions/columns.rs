//! The margins of a table of the user's own: its release, its epsilon, and the noise of each cell. Only names and sizes of columns are known here.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::{Axis, Ink, Series},
    document::Table,
    loss::law::Law,
    noise::Distribution,
    numeric::{Enclosure, rational},
    release::{
        Neighbors, Release,
        columns::{Amount, Column, Kind, Margin, Table as OwnTable},
        subject::Subject,
    },
};
use rug::Rational;
use serde::Deserialize;

use super::super::{
    ask::{Question, checked_name, read_args},
    exports::{Export, epsilon_line, file_name, from_toml, text},
    parts::{Parts, chart, table, wider},
};
use crate::cli::{
    arguments::number,
    epsilon,
    report::{
        assumed,
        charts::of_levels,
        tables,
        words::{self, command_line, shown},
    },
};

/// The options of the request.
#[derive(clap::Args)]
struct Args {
    /// The name of the text.
    #[arg(long)]
    columns: String,
    #[arg(long)]
    delta: String,
    #[arg(long, default_value_t = 12)]
    digits: u32,
}

/// The text of the request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    name: String,
    neighbors: String,
    rho: String,
    columns: Vec<FormColumn>,
    levels: Vec<String>,
    queries: Vec<FormQuery>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormColumn {
    name: String,
    size: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormQuery {
    level: String,
    columns: Vec<String>,
    /// The law, by its name in release files.
    law: String,
    /// The noise is given by the parameter of the law, or by a share.
    by_share: bool,
    amount: String,
}

/// Limits of a page: more is not read by eye, and takes long.
const MOST_QUERIES: usize = 300;

impl Form {
    fn table(&self) -> Result<OwnTable> {
        if self.queries.len() > MOST_QUERIES {
            bail!("{} queries: at most {MOST_QUERIES} are accounted for on this page", self.queries.len());
        }
        let column = |column: &FormColumn| -> Result<Column> {
            let size = number("the size", &column.size).with_context(|| format!("the column {:?}", column.name))?;
            let whole = size.is_integer().then(|| size.numer().to_u64()).flatten();
            let size = whole.with_context(|| {
                format!(
                    "the column {:?}: the size {}: expected a whole number of values, 1 or more",
                    column.name, column.size
                )
            })?;
            Ok(Column { name: column.name.clone(), size })
        };
        let shares = self.queries.iter().any(|query| query.by_share);
        let names = self.columns.iter().map(|column| &column.name).chain(&self.levels);
        names.into_iter().try_for_each(|name| {
            checked_name(name).map(|_| ()).with_context(|| format!("the column or level {name:?}"))
        })?;
        Ok(OwnTable {
            columns: self.columns.iter().map(column).collect::<Result<_>>()?,
            levels: self.levels.clone(),
            margins: self.queries.iter().map(FormQuery::margin).collect::<Result<_>>()?,
            rho: if shares { Some(number("--spend", &self.rho)?) } else { None },
            neighbors: self.neighbors.parse::<Neighbors>().context("--relation")?,
        })
    }
}

impl FormQuery {
    fn margin(&self) -> Result<Margin> {
        let [gaussian, laplace] = ["discrete-gaussian", "discrete-laplace"];
        let kind = match self.law.as_str() {
            law if law == gaussian => Kind::Gaussian,
            law if law == laplace => Kind::Laplace,
            other => bail!("law = {other:?}: expected {gaussian} or {laplace}"),
        };
        let columns = if self.columns.is_empty() { "total".to_string() } else { self.columns.join(" * ") };
        let amount = number("the number", &self.amount).with_context(|| format!("{}: {columns}", self.level))?;
        let amount = if self.by_share { Amount::Share(amount) } else { Amount::Parameter(amount) };
        Ok(Margin { level: self.level.clone(), columns: self.columns.clone(), kind, amount })
    }
}

/// A query with the noise of its cells.
struct Cell {
    name: String,
    cells: String,
    noise: String,
    rho: Rational,
    deviation: Enclosure,
    margin: i64,
}

/// The release of the table, its epsilon, and the noise of each cell.
pub fn columns(question: &Question) -> Result<Parts> {
    let args: Args = question.args()?;
    let (_, body) = question.file.as_ref().context("file: expected the columns and queries")?;
    let form: Form =
        serde_json::from_str(body).with_context(|| format!("{}: not the form of columns and queries", args.columns))?;
    let own = form.table()?;
    let source =
        concat!("assay explore ", env!("CARGO_PKG_VERSION"), ": columns, queries and noise as chosen on the page");
    let release = own.release(checked_name(&form.name).context("--called")?, source)?;
    let options = [format!("--delta={}", args.delta), format!("--digits={}", args.digits)];
    let epsilon: epsilon::Args = read_args(&options)?;
    let subject = Subject { release: Some(release.clone()), ..Subject::default() }.resolve()?;
    let (delta, found) = epsilon.find(&subject.until(&question.stop), !question.is_moving)?;
    let cells = cells(&own, &release)?;
    let mut said = words::how_private(&delta, &subject, &found);
    said.insert(1, in_words(&cells));
    let line = epsilon_line(&release, &[options.as_slice(), &["--json".to_string()]].concat());
    let expression = format!("release.epsilon({}, digits={})", text(&args.delta), args.digits);
    let file = (file_name(&release.name), release.to_toml());
    let wide = wider(found.lines().map(|line| (line.name.as_str(), line.epsilon.met)));
    let too_large = release.schema.is_none().then(|| {
        "The file has no histogram, because the cross product of all columns has too many cells: it can be accounted for, and not drawn."
            .to_string()
    });
    Ok(Parts {
        answer: found.object(&subject, &delta),
        records: found.records(),
        said,
        charts: vec![drawn(&cells)?],
        tables: vec![
            table(&table_of(&cells)),
            table(&tables::of_epsilon(&delta, &found, subject.may_be_more_private().is_some())),
        ],
        notes: wide.into_iter().chain(too_large).chain(subject.note()).collect(),
        assumed: of_table(&release).into_iter().chain(assumed::of_epsilon(&delta, &found)).collect(),
        exports: vec![
            Export::alone(&without_file(&release, &options)),
            Export::release(&release, &line),
            Export::cell(&from_toml(&release, None), &expression),
        ],
        command: Some(line),
        file: Some(file),
    })
}

fn of_table(release: &Release) -> Vec<String> {
    let mut all = vec![
        "Each record is in one unit of every level and has one value in every column, so that it is in one cell of each query.".to_string(),
        "The sizes are public: they do not depend on the records. Epsilon does not depend on the sizes.".to_string(),
    ];
    if release.neighbors == Neighbors::Bounded {
        all.push("A changed record leaves one cell of each query and enters another.".to_string());
    }
    all
}

fn cells(own: &OwnTable, release: &Release) -> Result<Vec<Cell>> {
    const DIGITS: u32 = 10;
    let mut cells = Vec::new();
    let queries = release.levels.iter().flat_map(|level| level.queries.iter().map(move |query| (level, query)));
    for (level, query) in queries {
        let kept: Vec<String> = query.name.split(" * ").map(String::from).collect();
        let noise = Distribution::of_law(&query.law).with_context(|| format!("{}: {}", level.name, query.name))?;
        cells.push(Cell {
            name: format!("{}: {}", level.name, query.name),
            cells: own.cells(&kept).to_string(),
            noise: format!("{}, {} {}", query.law.name(), query.law.parameter_name(), shown(query.law.parameter(), 6)),
            rho: query.rho.clone(),
            deviation: noise.variance(DIGITS).sqrt(),
            margin: noise.quantile(&Rational::from((39, 40)))?,
        });
    }
    Ok(cells)
}

/// The least and the most noise, in a sentence.
fn in_words(cells: &[Cell]) -> String {
    let by = |one: &&Cell, other: &&Cell| one.deviation.approximate().total_cmp(&other.deviation.approximate());
    let of = |cell: &Cell| format!("{} ({})", cell.deviation.shown(4), cell.name);
    match (cells.iter().min_by(by), cells.iter().max_by(by)) {
        (Some(least), Some(most)) if least.deviation.shown(4) != most.deviation.shown(4) => {
            format!("The noise of a cell has a standard deviation from {} to {}.", of(least), of(most))
        }
        (Some(one), _) => format!("The noise of a cell has a standard deviation of {}.", one.deviation.shown(4)),
        _ => String::new(),
    }
}

fn table_of(cells: &[Cell]) -> Table {
    let row = |cell: &Cell| {
        vec![
            cell.name.clone(),
            cell.cells.clone(),
            cell.noise.clone(),
            shown(&cell.rho, 6),
            cell.deviation.shown(8),
            cell.margin.to_string(),
        ]
    };
    Table::numbers(
        "The noise of one cell of each query; a margin holds in 95 of 100 cases.",
        &["", "cells in a unit", "noise", "rho", "standard deviation", "margin, 95 %"],
        cells.iter().map(row).collect(),
    )
}

fn drawn(cells: &[Cell]) -> Result<serde_json::Value> {
    let deviations = || cells.iter().map(|cell| cell.deviation.approximate());
    let most = deviations().fold(0.0, f64::max);
    let series = vec![Series::of_rows("standard deviation", Ink::Blue, deviations())];
    let axis = Axis::linear("standard deviation of the noise of a cell", 0.0, 1.05 * most.max(1e-9));
    chart(
        &of_levels(cells.iter().map(|cell| cell.name.as_str()), axis, series),
        "cells",
        "The standard deviation of the noise of a cell, query by query",
        "The standard deviation of the noise of one cell of each query.",
    )
}

/// The command line with the same epsilon that needs no file: each law with the number of its counts that one record enters.
fn without_file(release: &Release, options: &[String]) -> String {
    let mut laws: Vec<(&Law, u64)> = Vec::new();
    for query in release.levels.iter().flat_map(|level| &level.queries) {
        match laws.iter_mut().find(|(law, _)| **law == query.law) {
            Some((_, count)) => *count += 1,
            None => laws.push((&query.law, 1)),
        }
    }
    let of_law = |(law, count): &(&Law, u64)| {
        let count = if *count == 1 { String::new() } else { format!("x{count}") };
        format!("--{}={}{count}", law.key(), rational::display(law.parameter()))
    };
    let relation = (release.neighbors == Neighbors::Bounded).then(|| "--neighbors=bounded".to_string());
    let first = ["assay", "epsilon"].map(String::from).into_iter();
    let words = first.chain(laws.iter().map(of_law)).chain(relation).chain(options.iter().cloned());
    command_line(&words.chain(["--json".to_string()]).collect::<Vec<_>>())
}
