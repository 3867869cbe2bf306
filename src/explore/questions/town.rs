//! What does it mean for my town? The error of a noisy count, level by level and query by query, before and after.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::{Axis, Ink, Series},
    document::Table,
    numeric::{parallel, rational},
    release::subject::{QueryPart, Resolved, SINGLES},
};
use rug::Rational;

use super::super::{
    ask::{Question, read_args},
    exports::{Export, text as quoted},
    parts::{Parts, chart, table, tables_of},
    store::Store,
};
use crate::cli::{
    calibrate::{self, Row},
    errors,
    report::{charts::of_levels, words::shown},
};

/// The request about counts.
#[derive(clap::Args)]
struct Counts {
    #[command(flatten)]
    calibrate: calibrate::Args,
    /// The level of the count.
    #[arg(long)]
    place: Option<String>,
    /// Its query.
    #[arg(long)]
    query: Option<String>,
    /// Its true value.
    #[arg(long, default_value_t = 100, allow_hyphen_values = true, value_parser = crate::cli::arguments::count)]
    count: u64,
    /// The release that was opened, if the present one was made from it.
    #[arg(long)]
    before: Option<String>,
}

/// A query with its noise before and after.
struct Before {
    level: String,
    /// Its name in the release.
    query: String,
    /// The same, with the number of queries like it.
    name: String,
    sigma2: Rational,
    least: Rational,
    margins: [i64; 2],
}

/// Every query with its present margin, and with that of the least noise of its level.
fn before_and_after(store: &Store, subject: &Resolved, rows: &[Row]) -> Result<Vec<Before>> {
    let factor = |level: &str| {
        let row = rows.iter().find(|row| row.name == level).or(rows.first().filter(|_| rows.len() == 1));
        row.map_or(Rational::from(1), |row| row.factor.clone())
    };
    let before = |query: &QueryPart| -> Result<Option<Before>> {
        let Some(sigma2) = query.counts.law.discrete_sigma2() else { return Ok(None) };
        let level = query.level.as_deref().unwrap_or(SINGLES).to_string();
        let least = sigma2 * factor(&level);
        let margins = [store.margin(sigma2)?, store.margin(&least)?];
        Ok(Some(Before {
            level,
            query: query.name.clone(),
            name: query.shown(),
            sigma2: sigma2.clone(),
            least,
            margins,
        }))
    };
    Ok(parallel::try_map_any(&subject.queries, before)?.into_iter().flatten().collect())
}

/// The errors of the count with the present noise and with the least, in a notebook.
fn cell(one: &Before, count: u64, digits: u32) -> Export {
    let noises = [&one.sigma2, &one.least].map(|sigma2| quoted(&rational::display(sigma2))).join(", ");
    Export::script(&format!(
        "from dp_assay import DiscreteGaussian\n\n\
         [DiscreteGaussian(sigma2).errors({count}, digits={digits}) for sigma2 in ({noises})]\n"
    ))
}

/// Margins of error of all queries, and the errors of one.
pub fn margins(store: &Store, question: &Question) -> Result<Parts> {
    let args: Counts = question.args()?;
    let known = store.subject(question.subject(), &args.calibrate.subject)?;
    let (request, found) = args.calibrate.find_with(&known.subject.until(&question.stop), false)?;
    question.stop.check()?;
    let all = before_and_after(store, &known.subject, &found.rows)?;
    let is_asked = |one: &&Before| Some(&one.level) == args.place.as_ref() && Some(&one.query) == args.query.as_ref();
    let Some(one) = all.iter().find(is_asked).or(all.last()) else {
        bail!("--release: no count has discrete Gaussian noise, whose margins are known");
    };
    let row = found.rows.iter().find(|row| row.name == one.level).or(found.rows.first());
    let kept = row.and_then(|row| row.compared.as_ref()).map_or_else(
        || "the target epsilon".to_string(),
        |compared| format!("the epsilon that {} gives", compared.by.name()),
    );
    // The same output as `assay errors` for both.
    let options = [
        format!("--discrete-gaussian={}", one.sigma2),
        format!("--discrete-gaussian={}", one.least),
        format!("--count={}", args.count),
        format!("--digits={}", request.digits),
    ];
    let errors = read_args::<errors::Args>(&options)?.answer().context(one.name.clone())?.into_shown();
    let (mut tables, _) = tables_of(errors.tables);
    if let Some(first) = tables.first_mut() {
        for (row, sigma2) in [&one.sigma2, &one.least].into_iter().enumerate() {
            first["rows"][row][0] = shown(sigma2, SHOWN).into();
        }
        let (level, name, count) = (&one.level, &one.name, args.count);
        let caption = format!(
            "{level}, {name}: a true count of {count}, published with noise; \"clamped\" means that negative counts become 0."
        );
        first["caption"] = caption.into();
    }
    tables.push(table(&table_of(&all)));
    Ok(Parts {
        answer: errors.object,
        records: errors.records,
        exports: vec![cell(one, args.count, request.digits)],
        said: said(one, args.count, &kept).into_iter().chain(opened(store, &args, one)?).collect(),
        charts: vec![chart(
            &figure(&all),
            "margins",
            "The margin of error of the noisiest count of each level, before and after",
            "The margin of error of the noisiest count of each level: squares with the present noise, circles with the least. The axis is logarithmic.",
        )?],
        tables,
        assumed: ASSUMED.map(String::from).to_vec(),
        command: Some(question.command_line_of(&options)),
        ..Parts::default()
    })
}

/// Significant digits of a variance proxy in tables.
const SHOWN: usize = 6;

/// The margin of the same count in the release that was opened.
fn opened(store: &Store, args: &Counts, one: &Before) -> Result<Option<String>> {
    let Some(name) = &args.before else { return Ok(None) };
    let release = store.release(name).context("--before")?;
    let queries = release.levels.iter().filter(|level| level.name == one.level).flat_map(|level| &level.queries);
    let Some(query) = queries.into_iter().find(|query| query.name == one.query) else { return Ok(None) };
    let margin = store.margin(query.sigma2().context("--before")?)?;
    Ok(Some(format!("In {name}, the release that was opened, the margin of error of this count is {margin}.")))
}

const ASSUMED: [&str; 4] = [
    "A margin is that of one noisy count as measured: 95 of 100 such counts have no larger error.",
    "Published tables are estimates from many noisy counts at once, and can have smaller errors. `assay estimate` has the exact variance of every estimate.",
    "Invariants, which are published without noise, have no margin.",
    "Each level meets its own target, the epsilon with which its present noise is compared.",
];

fn said(one: &Before, count: u64, kept: &str) -> Vec<String> {
    let [was, least] = one.margins;
    vec![
        format!(
            "Instead of {count}, a number between {} and {} is published in 95 of 100 cases.",
            below(count, was),
            above(count, was)
        ),
        format!(
            "The margin of error of one count of {} ({}) is {was}. With the least noise that meets {kept} it would be {least}.",
            one.level, one.name
        ),
    ]
}

fn below(count: u64, margin: i64) -> i128 {
    i128::from(count) - i128::from(margin)
}

fn above(count: u64, margin: i64) -> i128 {
    i128::from(count) + i128::from(margin)
}

fn table_of(all: &[Before]) -> Table {
    let row = |one: &Before| {
        let [was, is] = one.margins;
        let change = 100.0 * (is as f64 / was.max(1) as f64 - 1.0);
        let change = if was == 0 || change == 0.0 { "0 %".to_string() } else { format!("{change:+.1} %") };
        vec![
            format!("{}, {}", one.level, one.name),
            shown(&one.sigma2, SHOWN),
            was.to_string(),
            shown(&one.least, SHOWN),
            is.to_string(),
            change,
        ]
    };
    Table::numbers(
        "Margins of error of one count at 95 %, by level and query: with the present noise, and with the least.",
        &["", "present sigma2", "margin", "sigma2, least", "margin then", "change"],
        all.iter().map(row).collect(),
    )
}

/// The noisiest count of each level.
fn figure(all: &[Before]) -> dp_assay::chart::Figure {
    let mut levels: Vec<&Before> = Vec::new();
    for one in all {
        match levels.iter_mut().find(|known| known.level == one.level) {
            Some(known) if known.sigma2 < one.sigma2 => *known = one,
            Some(_) => {}
            None => levels.push(one),
        }
    }
    let margins = |side: usize| levels.iter().map(move |one| one.margins[side].max(1) as f64);
    let most = levels.iter().flat_map(|one| one.margins).max().unwrap_or(1).max(1) as f64;
    let end = libm::pow(10_f64, libm::log10(most).ceil().max(1.0));
    let series = vec![
        Series::of_rows("present noise", Ink::Vermillion, margins(0)),
        Series::of_rows("with the least noise", Ink::Blue, margins(1)),
    ];
    of_levels(levels.iter().map(|one| one.level.as_str()), Axis::log("margin of error, 95 %", 1.0, end), series)
}
