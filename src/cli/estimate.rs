//! `assay estimate`: least squares over the noisy counts of a spine.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dp_assay::{
    numeric::Enclosure,
    release::input::ReleaseInput,
    topdown::{
        estimation::{Estimated, EstimatedLevel, Job, JobInput},
        jobs::InputError,
    },
};

use super::{
    arguments::number,
    estimate_nmf::{Written, check_level, put_errors},
    exit::Exit,
    invocation,
    measure::epsilon_context,
    multiline, output,
    page::{FormOrFiles, Page},
    progress,
};

/// Least squares over noisy counts: estimates with their variances, and whole counts that add up
///
/// From a folder of the Bureau's noisy measurement files (--nmf): the best linear unbiased estimate of any query of any unit or
/// area, with its variance and margin. From the folder of `assay measure` (--spine, --measurements): totals with their variance,
/// and, if the noisy counts determine every cell, non-negative whole counts in which children sum to their parents; with --queries or --areas also any query of any unit or area.
#[derive(clap::Args)]
pub struct Args {
    /// The folder that `assay spine --out` wrote
    #[arg(long, value_name = "DIR", required_unless_present = "nmf", conflicts_with = "nmf")]
    spine: Option<PathBuf>,
    /// The folder that `assay measure --out` wrote
    #[arg(long, value_name = "DIR", required_unless_present = "nmf", conflicts_with = "nmf")]
    measurements: Option<PathBuf>,
    /// The release that was measured
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// The pure epsilon of the measurements, for a spine of privacy "pure"
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true, conflicts_with = "nmf")]
    epsilon: Option<String>,
    /// The folder for totals and counts, which must be empty or not exist; with --nmf the file for the estimates
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// A folder of noisy measurement files in the Bureau's layout: the product, or the folder that holds it
    #[arg(long, value_name = "DIR")]
    nmf: Option<PathBuf>,
    #[command(flatten)]
    survey: super::estimate_nmf::SurveyArgs,
    /// The form of the answer [default: table]; or parquet or bureau, as --files
    #[arg(long, value_name = "table|csv|json|md|latex", value_parser = FormOrFiles::<Written>::parse)]
    format: Option<FormOrFiles<Written>>,
    /// One JSON object, as --format json
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let page = Page::new(FormOrFiles::form(args.format.as_ref(), args.json, false)?);
    let files = FormOrFiles::files(args.format.as_ref()).copied();
    match (&args.nmf, &args.spine, &args.measurements) {
        (Some(nmf), _, _) => super::estimate_nmf::run(&args.survey, files, nmf, &args.release, &args.out, page),
        (None, Some(_), Some(_)) if files.is_some() => bail!("--format parquet or bureau goes with --nmf"),
        (None, Some(spine), Some(measurements)) => run_measurements(args, spine, measurements, page),
        _ => bail!("--nmf, or --spine and --measurements: give one of them, for the noisy counts"),
    }
}

fn run_measurements(args: &Args, spine: &Path, measurements: &Path, page: Page) -> Result<Exit> {
    if let Some(option) = args.survey.given() {
        let why = if option == "--whole" { ": with --spine, counts.csv has whole counts anyway" } else { "" };
        bail!("{option} goes with --nmf{why}");
    }
    check_level(&args.survey)?;
    let job = Job {
        spine: spine.to_path_buf(),
        measurements: measurements.to_path_buf(),
        release: ReleaseInput::Named(args.release.clone()),
        pure_epsilon: args.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?,
        out: args.out.clone(),
        request: args.survey.asks().then(|| args.survey.request()),
        caller: invocation::words(),
    };
    let estimated = job.run(&mut |at| {
        progress::see(at);
        Ok(())
    });
    put(estimated.map_err(explained)?, page).print()?;
    Ok(Exit::Done)
}

/// The error of a job, with the options that it is about.
fn explained(error: InputError<JobInput>) -> anyhow::Error {
    let InputError { input, error } = error;
    let option = match input {
        None => return error.into(),
        Some(JobInput::Truth) => return multiline::hint(error).context("--truth"),
        Some(JobInput::Plan { is_pure, has_epsilon }) => epsilon_context(is_pure, has_epsilon),
        Some(JobInput::Out) => "--out",
        Some(JobInput::Release) => "--release",
        Some(JobInput::Spine) => "--spine",
        Some(JobInput::Measurements) => "--measurements",
        Some(JobInput::Queries) => "--queries",
        Some(JobInput::Levels) => "--level",
        Some(JobInput::Recodes) => "--recodes",
        Some(JobInput::Areas) => "--areas",
    };
    anyhow::Error::from(error).context(option)
}

/// The answer on a page.
fn put(estimated: Estimated, mut page: Page) -> Page {
    page.records(estimated.levels.iter().map(EstimatedLevel::to_json));
    page.object(estimated.to_json());
    let shown = |value: &Enclosure| value.shown(6);
    let row = |level: &EstimatedLevel| {
        let variances = [&level.variances.least, &level.variances.mean, &level.variances.most].map(shown);
        let counts = format!("{:.1}", level.margin_95_approx());
        [vec![level.name.clone(), level.units.to_string()], variances.to_vec(), vec![counts]].concat()
    };
    let rows = estimated.levels.iter().map(row).collect();
    page.table(&["level", "units", "least variance", "mean", "largest", "95 % margin"], rows);
    let more = estimated.requested.map_or_else(String::new, |file| format!(", {file}"));
    if let Some(errors) = &estimated.errors {
        page.text("\n");
        put_errors(&mut page, errors);
    }
    if !estimated.taken_as_exact.is_empty() {
        page.text(format!(
            "\nTaken as exact, because the variance of their noise is below 1e-18, which is invisible beside counts in doubles: {}\n",
            estimated.taken_as_exact.join(", ")
        ));
    }
    page.text(format!(
        "\nvariances of units' totals by least squares; the margin is 1.96 standard deviations of the level's mean variance, which no single unit need have, in counts\n\
         {}\n{}",
        written(&estimated, &more),
        output::insecure(estimated.insecure_seed),
    ));
    page.provenance(estimated.provenance);
    page
}

/// The files that were written, in words.
fn written(estimated: &Estimated, more: &str) -> String {
    let out = dp_assay::error::shown(&estimated.out);
    match (&estimated.records, more) {
        (Ok(records), _) => format!("{records} records after rounding; totals.csv{more} and counts.csv in {out}"),
        (Err(why), "") => format!("totals.csv in {out}; no counts.csv: {why}"),
        (Err(why), more) => format!("totals.csv{more} in {out}; no counts.csv: {why}"),
    }
}
