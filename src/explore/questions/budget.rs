//! Allocation: the budget divided among the levels of a release, and the best allocation under the exact account.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Delta, Stop, allocate::weighted_error},
    chart::{Axis, Ink, Series},
    document::Table,
    numeric::{Enclosure, parallel},
    release::{Neighbors, Release, subject},
};
use rug::Rational;

use super::super::{
    ask::Question,
    exports::{Export, file_name, from_toml},
    parts::{Parts, chart, table, wider},
    store::Store,
};
use super::learned::cell_of_risk;
use crate::cli::{
    allocate,
    arguments::{number, quantity},
    output::{self, exact_text, percent_above},
    report::{
        charts::of_levels,
        words::{command_line, in_hundred, shown, upper},
    },
    risk::bound::{self, Found},
    subject::Relation,
};

/// Significant digits of the factor on a budget.
const FACTOR_DIGITS: u32 = 6;

/// The request about budgets.
#[derive(clap::Args)]
pub struct Args {
    #[arg(long)]
    release: String,
    /// The release that was opened, if the present one was made from it: the state before.
    #[arg(long)]
    before: Option<String>,
    #[arg(long)]
    level: Vec<String>,
    #[arg(long, value_parser = Relation)]
    neighbors: Option<Neighbors>,
    /// LEVEL=WEIGHT: the budget of a level times a weight; 1 for those that are not named.
    #[arg(long)]
    budget: Vec<String>,
    /// All budgets are scaled so that their sum stays.
    #[arg(long)]
    keep_total: bool,
    #[arg(long)]
    delta: String,
    #[arg(long)]
    prior: String,
    #[arg(long, default_value_t = 12)]
    digits: u32,
}

/// A release, and the results for its noise.
struct Side {
    release: Release,
    found: Arc<Found>,
    error: Enclosure,
    /// The least and the greatest margin of each level.
    margins: Vec<(i64, i64)>,
}

impl Args {
    fn weights(&self, release: &Release) -> Result<Vec<Rational>> {
        let mut weights = vec![Rational::from(1); release.levels.len()];
        for text in &self.budget {
            let (name, weight) =
                text.rsplit_once('=').with_context(|| format!("--budget {text}: expected LEVEL=WEIGHT"))?;
            release.level(name).context("--budget")?;
            let at = release.levels.iter().position(|level| level.name == name).unwrap_or_default();
            weights[at] = number("--budget", weight)?;
        }
        Ok(weights)
    }

    fn side(store: &Store, release: Release, request: &bound::Request, stop: &Stop) -> Result<Side> {
        let ask = || -> Result<Found> {
            let subject = subject::Subject { release: Some(release.clone()), ..subject::Subject::default() };
            bound::find(&subject.resolve()?.until(stop), request)
        };
        let bound::Request { prior, delta, digits, .. } = request;
        let key = format!(
            "{delta:?} {prior} {digits} {:?}
{}",
            release.neighbors,
            release.to_toml()
        );
        let found = store.remembered(&key, ask)?;
        let targets = release.query_targets(None)?;
        let queries = release.levels.iter().flat_map(|level| &level.queries);
        let sigma2: Vec<Rational> = queries.map(|query| query.sigma2().cloned()).collect::<dp_assay::Result<_>>()?;
        let margins: Vec<i64> = parallel::try_map_any(&sigma2, |sigma2| store.margin(sigma2))?;
        let mut rest = &margins[..];
        let of_level = |count: usize| {
            let (own, others) = rest.split_at(count);
            rest = others;
            (own.iter().copied().min().unwrap_or(0), own.iter().copied().max().unwrap_or(0))
        };
        let counts: Vec<usize> = release.levels.iter().map(|level| level.queries.len()).collect();
        let margins = counts.into_iter().map(of_level).collect();
        let error = weighted_error(&targets, &sigma2)?;
        Ok(Side { release, found, error, margins })
    }
}

/// Epsilon, errors and risk with the changed budgets.
pub fn budget(store: &Store, question: &Question) -> Result<Parts> {
    let args: Args = question.args()?;
    let prior = number("--prior", &args.prior)?;
    dp_assay::risk::check_prior(&prior).context("--prior")?;
    // The exceeded posterior is not shown here, and takes long if the noise has no common grid.
    let delta = quantity("--delta", &args.delta)?;
    let request = bound::Request { prior, delta, digits: args.digits, with_exceeded: false };
    let release = store.release(&args.release).context("--release")?.only(&args.level).context("--level")?;
    if release.levels.is_empty() {
        bail!("--release: {} has no levels", release.name);
    }
    let neighbors = args.neighbors.unwrap_or(release.neighbors);
    // Noise of another law is refused here.
    release.query_targets(Some(neighbors)).context("--release")?;
    let factors = release.budget_factors(&args.weights(&release)?, args.keep_total).context("--budget")?;
    let ones = vec![Rational::from(1); factors.len()];
    let side = |factors: &[Rational]| -> Result<Side> {
        let about = about(&release);
        let moved = release.with_budgets_times(factors, FACTOR_DIGITS, neighbors, [&about.0, &about.1, SOURCE])?;
        Args::side(store, moved, &request, &question.stop)
    };
    let before = match &args.before {
        None => side(&ones)?,
        Some(name) => Args::side(store, opened(store, name, &release, neighbors)?, &request, &question.stop)?,
    };
    let after = side(&factors)?;
    let file = file_name(&after.release.name);
    let digits = format!("--digits={}", args.digits);
    let options = [format!("--prior={}", args.prior), format!("--delta={}", args.delta), digits, "--json".to_string()];
    let words =
        ["assay", "risk", "bound"].map(String::from).into_iter().chain([format!("--release={file}")]).chain(options);
    let command = command_line(&words.collect::<Vec<_>>());
    let subject = subject::Subject { release: Some(after.release.clone()), ..subject::Subject::default() }.resolve()?;
    let answer = after.found.object(&subject, &request);
    let decided = after.found.total.decided_by.iter();
    let decided = decided.map(|ways| format!("The probability that an adversary is right is that of {ways}."));
    let lines = after.found.lines().map(|line| (line.name.as_str(), line.bound.correct.met));
    Ok(Parts {
        answer,
        records: after.found.records(),
        said: said(&request.delta, args.before.as_deref(), &before, &after),
        charts: charts_of(&before, &after)?,
        tables: vec![table(&table_of(&before, &after))],
        notes: decided.chain(wider(lines)).collect(),
        assumed: vec![
            format!(
                "The factor on a budget is rounded down to {FACTOR_DIGITS} digits, so that no level spends more than its budget."
            ),
            how_composed(&after.release).to_string(),
            "Error is the expected squared error, summed over all queries, each with the same weight.".to_string(),
            "A margin holds in 95 of 100 cases, for one noisy count.".to_string(),
        ],
        exports: match question.is_moving {
            true => Vec::new(),
            false => exports(&args, &after.release, &command),
        },
        command: Some(command),
        file: Some((file, after.release.to_toml())),
    })
}

/// The release with the moved budgets, and a notebook cell with its bounds.
fn exports(args: &Args, release: &Release, command: &str) -> Vec<Export> {
    let expression = cell_of_risk(Some(&args.prior), Some(&args.delta), args.digits);
    vec![Export::release(release, command), Export::cell(&from_toml(release, None), &expression)]
}

/// The release that was opened, with the levels of the one that was made from it.
fn opened(store: &Store, name: &str, now: &Release, neighbors: Neighbors) -> Result<Release> {
    let names: Vec<&str> = now.levels.iter().map(|level| level.name.as_str()).collect();
    let release = store.release(name).context("--before")?.only(&names).context("--before")?;
    release.query_targets(Some(neighbors)).context("--before")?;
    let ones = vec![Rational::from(1); release.levels.len()];
    let about = about(&release);
    Ok(release.with_budgets_times(&ones, FACTOR_DIGITS, neighbors, [&about.0, &about.1, SOURCE])?)
}

const SOURCE: &str = concat!("assay explore ", env!("CARGO_PKG_VERSION"), ": budgets changed by hand");

/// The composition, in a sentence.
fn how_composed(release: &Release) -> &'static str {
    match release.paths {
        Some(_) => {
            "The whole is the worst of all block paths. On a path that drops a level, its budget, changed as here, goes to the next kept level \
             above."
        }
        None => "All levels are composed, as for a record that enters a count of every level.",
    }
}

fn about(release: &Release) -> (String, String) {
    (format!("{}-moved", release.name), format!("{}, budgets changed", release.title))
}

fn said(delta: &Delta, opened: Option<&str>, before: &Side, after: &Side) -> Vec<String> {
    let (was, is) = (&before.found.total.bound, &after.found.total.bound);
    let right = |side: &Side| in_hundred(&upper(&side.found.total.bound.correct.value));
    let opened =
        opened.map(|name| format!("\"Before\" is {name}, the release that was opened. Reset goes back to it."));
    let now = vec![
        format!(
            "With these budgets everything that is published has an epsilon of {} at delta = {}; before it was {}.",
            is.epsilon.upper_text(6),
            exact_text(delta),
            was.epsilon.upper_text(6)
        ),
        format!("An adversary is right at most {} % of the time; before it was {} %.", right(after), right(before)),
        format!(
            "The expected squared error is {}; before it was {} ({}).",
            after.error.shown(6),
            before.error.shown(6),
            percent_above(&after.error, &before.error)
        ),
    ];
    now.into_iter().chain(opened).collect()
}

fn charts_of(before: &Side, after: &Side) -> Result<Vec<serde_json::Value>> {
    let names = || after.release.levels.iter().map(|level| level.name.as_str());
    // A release of one level has one line, that of the whole.
    let epsilons = |side: &Side| -> Vec<f64> {
        side.found.lines().take(side.release.levels.len()).map(|line| line.bound.epsilon.approximate()).collect()
    };
    let margins = |side: &Side| -> Vec<f64> { side.margins.iter().map(|(_, most)| *most as f64).collect() };
    let figure = |label: &str, was: Vec<f64>, is: Vec<f64>| {
        let most = was.iter().chain(&is).copied().fold(0.0, f64::max);
        let series =
            vec![Series::of_rows("before", Ink::Vermillion, was), Series::of_rows("with these budgets", Ink::Blue, is)];
        of_levels(names(), Axis::linear(label, 0.0, 1.05 * most.max(1e-9)), series)
    };
    Ok(vec![
        chart(
            &figure("epsilon of the level alone", epsilons(before), epsilons(after)),
            "budget-epsilon",
            "Epsilon of each level, before and with these budgets",
            "Epsilon of each level alone: squares before, circles with these budgets.",
        )?,
        chart(
            &figure("margin of error, 95 %", margins(before), margins(after)),
            "budget-margin",
            "The largest margin of error of each level, before and with these budgets",
            "The margin of error of the noisiest query of each level: squares before, circles with these budgets.",
        )?,
    ])
}

fn table_of(before: &Side, after: &Side) -> Table {
    let range =
        |(least, most): (i64, i64)| if least == most { least.to_string() } else { format!("{least} to {most}") };
    let mut rows = Vec::new();
    for (at, level) in after.release.levels.iter().enumerate() {
        let Some(line) = after.found.lines().nth(at) else { continue };
        rows.push(vec![
            level.name.clone(),
            shown(&Rational::from(&level.rho / &before.release.levels[at].rho), 4),
            shown(&level.rho, 6),
            line.bound.epsilon.shown(6),
            in_hundred(&upper(&line.bound.correct.value)),
            range(after.margins[at]),
            range(before.margins[at]),
        ]);
    }
    let has_whole = !after.found.levels.is_empty();
    if has_whole {
        let bound = &after.found.total.bound;
        rows.push(vec![
            after.found.total.name.clone(),
            shown(&Rational::from(&after.release.rho / &before.release.rho), 4),
            shown(&after.release.rho, 6),
            bound.epsilon.shown(6),
            in_hundred(&upper(&bound.correct.value)),
            String::new(),
            String::new(),
        ]);
    }
    Table::numbers(
        "The results of these budgets, level by level.",
        &["", "budget, times", "rho", "epsilon", "right, in 100", "margin, 95 %", "margin before"],
        rows,
    )
    .with_whole(has_whole)
}

/// The noise with the least error that was found for an epsilon.
pub fn allocate(store: &Store, question: &Question) -> Result<Parts> {
    let args: allocate::Args = question.args()?;
    let request = args.question(&|name| store.release(name))?;
    let found = args.find(&request)?;
    let release = request.allocated(&found.best)?;
    let above = found
        .above
        .as_ref()
        .map(|above| format!(" No allocation has less than that by more than {} %.", above.upper_text(3)));
    let less = found.zcdp.as_ref().map(|zcdp| {
        let less = output::less_or_more(&found.best.error, &zcdp.error);
        format!(
            "Allocated by zCDP (Bun-Steinke) it would be {}: with the exact account it is {less}.",
            zcdp.error.shown(6)
        )
    });
    let said = format!(
        "Epsilon <= {} at delta = {} can be met with an expected squared error of {}.{}",
        exact_text(&request.epsilon),
        exact_text(&request.delta),
        found.best.error.shown(6),
        above.unwrap_or_default()
    );
    let worst = found
        .worst
        .as_ref()
        .map(|(epsilon, pair)| format!("On the worst block path its epsilon is {}: {pair}.", epsilon.value.shown(8)));
    let row = |(k, target): (usize, &dp_assay::account::allocate::QueryTarget)| {
        vec![
            target.name.clone(),
            target.count.to_string(),
            exact_text(&found.best.sigma2[k]),
            found.margins[k].to_string(),
            found.zcdp.as_ref().map_or("none".to_string(), |zcdp| exact_text(&zcdp.sigma2[k])),
        ]
    };
    let allocated = Table::numbers(
        "The noise of each query with the least error that was found.",
        &["", "counts", "sigma2", "margin, 95 %", "sigma2 by zCDP (Bun-Steinke)"],
        request.targets.iter().enumerate().map(row).collect(),
    );
    Ok(Parts {
        answer: found.object(&request),
        records: found.records(&request),
        said: [said].into_iter().chain(less).chain(worst).collect(),
        tables: vec![table(&allocated)],
        file: Some((format!("{}.toml", release.name), release.to_toml())),
        ..Parts::default()
    })
}
