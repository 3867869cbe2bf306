//! `assay measure`: the mechanism on a spine, with exact noise, and its privacy account.

use std::path::PathBuf;

use anyhow::{Result, bail};
use dp_assay::{
    account::Delta,
    numeric::{Enclosure, rational},
    release::input::ReleaseInput,
    topdown::{
        jobs::InputError,
        measurement::{Job, JobInput, Layout, Measured, MeasuredFile, Outcome},
        spending::Spending,
    },
};
use serde_json::json;

use super::{
    arguments::{number, quantity},
    exit::Exit,
    invocation,
    mechanism::{self, Randomness, Unfinished},
    multiline::{self, Multiline},
    output::{self, exact_text},
    page::{self, Form, FormOrFiles, Page},
    progress,
};

/// Exact noise on every query of every unit of a spine, and the exact epsilon of all noisy counts
#[derive(clap::Args)]
pub struct Args {
    /// The folder that `assay spine --out` wrote
    #[arg(long, value_name = "DIR")]
    spine: PathBuf,
    /// The counts: CSV with a column block, one for each attribute of the release, and the count; a line for each cell of a
    /// block that is not zero. With two histograms a line is about one, and leaves the attributes of the other empty
    #[arg(long, value_name = "FILE")]
    counts: PathBuf,
    /// The heading of the counts
    #[arg(long, value_name = "NAME", default_value = "count")]
    column: String,
    #[command(flatten)]
    multiline: Multiline,
    /// A bundled release that has attributes, or a TOML file of the same form: levels, queries, budget
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// For a spine of privacy "pure": the pure epsilon of all noisy counts together, divided as the release divides its rho
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The folder for the noisy counts; it must be empty or not exist. Beside it remains DIR.log, the log of every draw of noise, and
    /// beside the counts FILE.draws, for draws into other folders
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The form of the answer [default: table]; or nmf, as --files nmf
    #[arg(long, value_name = "table|csv|json|md|latex|nmf", value_parser = FormOrFiles::<Files>::parse)]
    format: Option<FormOrFiles<Files>>,
    /// The format of the noisy counts: csv, a file for each query, or nmf, the Parquet files of the Bureau's noisy
    /// measurements, zCDP only [default: csv]
    #[arg(long, value_enum, value_name = "csv|nmf", hide_possible_values = true)]
    files: Option<Files>,
    /// The delta of the exact epsilon
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    randomness: Randomness,
    #[command(flatten)]
    unfinished: Unfinished,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Comma-separated values: a line for each query of each level
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Enclosures of relative width at most 10^-D
    #[arg(long, value_name = "D", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=250))]
    digits: u32,
}

/// The form of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Files {
    /// A CSV for each query of each level
    Csv,
    /// The layout of the Bureau's noisy measurement files: `assay nmf estimate` reads it
    Nmf,
}

pub fn run(args: &Args) -> Result<Exit> {
    let job = job(args)?;
    let form = FormOrFiles::form(args.format.as_ref(), args.json, args.csv)?;
    let outcome = job.run(&mut |at| {
        progress::show(at);
        Ok(())
    });
    match outcome.map_err(explained)? {
        Outcome::WasComplete => was_complete(args, form),
        Outcome::Measured(measured) => {
            measured.unlogged.iter().for_each(|why| mechanism::warn_unlogged(why));
            put(*measured, &job, Page::new(form)).print()?;
            Ok(Exit::Done)
        }
    }
}

/// The draw that the arguments request.
fn job(args: &Args) -> Result<Job> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let files = match (args.files, FormOrFiles::files(args.format.as_ref())) {
        (Some(files), Some(named)) if files != *named => bail!("--format and --files name different files: give one"),
        (files, named) => files.or(named.copied()).unwrap_or(Files::Csv),
    };
    Ok(Job {
        spine: args.spine.clone(),
        counts: args.counts.clone(),
        column: args.column.clone(),
        reading: args.multiline.reading(),
        release: ReleaseInput::Named(args.release.clone()),
        pure_epsilon: args.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?,
        out: args.out.clone(),
        layout: match files {
            Files::Csv => Layout::Csv,
            Files::Nmf => Layout::Nmf,
        },
        delta,
        digits: args.digits,
        insecure_seed: args.randomness.seed(),
        unfinished: args.unfinished.choice(),
        caller: invocation::words().into_iter().filter(|word| word != "--resume").collect(),
    })
}

/// The error of a job, with the options that it is about.
fn explained(error: InputError<JobInput>) -> anyhow::Error {
    let InputError { input, error } = error;
    match input {
        None => error.into(),
        Some(JobInput::Out) => mechanism::explained(error).context("--out"),
        Some(JobInput::Counts) => multiline::hint(error).context("--counts"),
        Some(JobInput::Release) => anyhow::Error::from(error).context("--release"),
        Some(JobInput::Spine) => anyhow::Error::from(error).context("--spine"),
        Some(JobInput::Layout) => anyhow::Error::from(error).context("--files nmf"),
        Some(JobInput::Plan { is_pure, has_epsilon }) => {
            anyhow::Error::from(error).context(epsilon_context(is_pure, has_epsilon))
        }
    }
}

/// The answer on a page.
fn put(measured: Measured, job: &Job, mut page: Page) -> Page {
    let rows: Vec<Vec<String>> = measured.files.iter().map(row).collect();
    let (parameter, least) = match measured.spending.pure_epsilon {
        Some(_) => ("epsilon", "least_epsilon_approx"),
        None => ("sigma2", "largest_sigma2_approx"),
    };
    let (leaf, leaves) = match &measured.lowest_level {
        Some(level) => (level.as_str(), format!("units of the level {level}")),
        None => ("block", "blocks".to_string()),
    };
    let empty = match (measured.units_without_counts, measured.units) {
        (0, _) => format!("every {leaf} has counts"),
        (1, all) => format!("1 {leaf} of {all} has no line and counts as empty"),
        (without, all) => format!("{without} of {all} {leaves} have no line and count as empty"),
    };
    page.object(measured.to_json());
    page.records(rows.iter().map(|row| page::words(&["level", "query", "counts", "units", least, "margin_95"], row)));
    page.table(&["level", "query", "counts", "units", parameter, "95 % margin"], rows);
    page.text(format!(
        "\n{} noisy counts in {}; {parameter} and the margin of a count are those of the units that carry least\n\
         {}\n\
         Confidential: {} records; {empty}.\n",
        measured.counts,
        dp_assay::error::shown(&job.out),
        spent(&measured.spending, &job.delta, job.digits),
        measured.records,
    ));
    if let Some(said) = measured.earlier.in_words(measured.unit, Some(measured.relation.name())) {
        let number = measured.draw;
        page.text(format!("This is draw {number} in this folder; the line above is about this draw alone. {said}\n"));
    }
    page.text(not_determined(measured.undetermined.iter().map(|(said, _)| said.clone())));
    if let Some(why) = &measured.undecided {
        page.text(format!("Which queries the counts determine is not known: {why}\n"));
    }
    page.text(output::insecure(measured.insecure_seed));
    let mut provenance = measured.provenance;
    provenance.command_line = invocation::words();
    page.provenance(provenance);
    page
}

/// The lines about queries that the noisy counts do not determine at some level; empty if there are none.
pub fn not_determined(said: impl Iterator<Item = String>) -> String {
    said.map(|said| format!("No estimate: {said}\n")).collect()
}

/// A release whose draw was complete: only the end of its log was missing.
fn was_complete(args: &Args, form: Form) -> Result<Exit> {
    let out = args.out.display().to_string();
    let mut page = Page::new(form);
    page.text(format!("The noisy counts in {out} were complete; now their log is as well.\n"));
    page.object(json!({ "out": out, "status": "was complete" }));
    page.done()
}

/// The options that an error of a plan is about: the given ones, and one that is missing.
pub fn epsilon_context(is_pure: bool, is_given: bool) -> &'static str {
    match (is_pure, is_given) {
        (_, true) => "--release, --epsilon",
        (true, false) => "--epsilon is missing",
        (false, false) => "--release",
    }
}

/// The budget that all noisy counts together spend, in words.
fn spent(spending: &Spending, delta: &Delta, digits: u32) -> String {
    let whole = match &spending.pure_epsilon {
        Some(epsilon) => format!("pure epsilon {}", rational::display(epsilon)),
        None => format!("rho {}", exact_text(&spending.rho)),
    };
    let epsilon = said_epsilon(&spending.epsilon, spending.reason, (delta, digits), &spending.worst_paths);
    format!("{whole}, {epsilon}")
}

/// The epsilon of all noisy counts on a spine, in words.
pub fn said_epsilon(
    epsilon: &Enclosure,
    reason: Option<&str>,
    (delta, digits): (&Delta, u32),
    worst_paths: &[String],
) -> String {
    let (digits, delta) = (digits.min(40) as usize, exact_text(delta));
    match (reason, worst_paths) {
        (_, []) => {
            format!("epsilon 0 at delta {delta}: a changed record stays in each unit, and changes no total of one")
        }
        (None, worst) => format!("epsilon {} at delta {delta}, {}", epsilon.shown(digits), worst_case(worst)),
        (Some(why), worst) => {
            let worst = worst_case(worst);
            format!("epsilon at most {} at delta {delta}, {worst}; an upper bound: {why}", epsilon.upper_text(digits))
        }
    }
}

/// The record with the largest epsilon, from the levels that the worst path drops, or each of the worst pair.
fn worst_case(dropped: &[String]) -> String {
    let measured =
        |names: &String| match names.split(' ').filter(|name| !name.is_empty()).collect::<Vec<_>>().as_slice() {
            [] => "measured at every level".to_string(),
            [one] => format!("measured at every level but {one}"),
            [first @ .., last] => format!("measured at every level but {} and {last}", first.join(", ")),
        };
    let mut paths: Vec<String> = dropped.iter().map(measured).collect();
    paths.dedup();
    format!("the worst case: a record {}", paths.join(", changed into one "))
}

/// The row of a file: the level, the query, the numbers of its counts and units, and the parameter and the margin of the noise of the
/// units with the smallest share.
fn row(measured: &MeasuredFile) -> Vec<String> {
    let file = &measured.file;
    let parameter = measured.least_law.as_ref().map(|law| Enclosure::rational(law.parameter(), 64).shown(6));
    let margin = measured.margin_95.map_or_else(String::new, |margin| margin.to_string());
    let numbers = [file.counts, file.units].map(|number| number.to_string());
    [vec![file.level_name.clone(), file.query.clone()], numbers.to_vec(), vec![parameter.unwrap_or_default(), margin]]
        .concat()
}
