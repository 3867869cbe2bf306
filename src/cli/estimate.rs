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
    estimates::{RequestArgs, put_errors},
    exit::Exit,
    invocation,
    measure::epsilon_context,
    multiline,
    nmf::estimate::{Call, SurveyArgs, Written},
    output,
    page::{FormOrFiles, Page},
    progress, published_counts,
};

/// Least squares over the counts of `assay measure`: estimates with variances, and whole counts that add up
///
/// Totals with their variance, and, if the noisy counts determine every cell, non-negative whole counts in which children sum to their parents;
/// with --queries or --areas also any query of any unit or area. `assay nmf estimate` reads the Bureau's noisy measurement files.
#[derive(clap::Args)]
#[command(mut_args(SurveyArgs::hidden()))]
pub struct Args {
    /// The folder that `assay spine --out` wrote
    #[arg(long, value_name = "DIR", required_unless_present_any = ["nmf", "published_counts"], conflicts_with_all = ["nmf", "published_counts"])]
    spine: Option<PathBuf>,
    /// The folder that `assay measure --out` wrote
    #[arg(long, value_name = "DIR", required_unless_present_any = ["nmf", "published_counts"], conflicts_with_all = ["nmf", "published_counts"])]
    measurements: Option<PathBuf>,
    /// The release that was measured
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// The pure epsilon of the measurements, for a spine of privacy "pure"
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true, conflicts_with_all = ["nmf", "published_counts"])]
    epsilon: Option<String>,
    /// The folder for totals and counts, which must be empty or not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// As `assay nmf estimate DIR`, with its options
    ///
    /// Then --out is the file for the estimates.
    #[arg(long, value_name = "DIR")]
    nmf: Option<PathBuf>,
    /// Published counts of the Detailed DHC-A or -B, a CSV: an interval for each true count
    ///
    /// Columns region_type, geoid, group, variable (as T02001_003N), count, and where the file has no finer rows of a group, finest (as T01001). --release is ddhca-us, ddhca-pr, ddhcb-us or
    /// ddhcb-pr; --out is the CSV of intervals, of --confidence 95 percent or another.
    #[arg(long, value_name = "FILE", conflicts_with = "nmf")]
    published_counts: Option<PathBuf>,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    survey: SurveyArgs,
    /// The form of the answer [default: table]
    #[arg(long, value_name = "table|csv|json|md|latex", value_parser = FormOrFiles::<Written>::parse)]
    format: Option<FormOrFiles<Written>>,
    /// One JSON object, as --format json
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    if let Some(file) = &args.published_counts {
        return published(args, file);
    }
    match (&args.nmf, &args.spine, &args.measurements) {
        (Some(folder), _, _) => files_of_bureau(args, folder).run(),
        (None, Some(spine), Some(measurements)) => run_measurements(args, spine, measurements),
        _ => bail!("--spine and --measurements: give both, for the noisy counts"),
    }
}

/// Intervals for the true counts behind published ones.
fn published(args: &Args, file: &Path) -> Result<Exit> {
    let page = Page::new(FormOrFiles::form(args.format.as_ref(), args.json, false)?);
    let is_files = FormOrFiles::files(args.format.as_ref()).is_some();
    if let Some(option) = args.survey.given_but_confidence().or(args.request.given()).or(is_files.then_some("--format"))
    {
        bail!(
            "{option} goes with --nmf or --spine: beside --published-counts only --release, --confidence and --out are of use"
        );
    }
    published_counts::run(file, &args.release, args.survey.one_confidence()?, &args.out, page)
}

/// The call of `assay nmf estimate` that has this meaning.
fn files_of_bureau<'a>(args: &'a Args, folder: &'a Path) -> Call<'a> {
    Call {
        folder,
        folder_option: Some("--nmf"),
        release: &args.release,
        out: &args.out,
        request: &args.request,
        survey: &args.survey,
        format: args.format.as_ref(),
        json: args.json,
    }
}

fn run_measurements(args: &Args, spine: &Path, measurements: &Path) -> Result<Exit> {
    let page = Page::new(FormOrFiles::form(args.format.as_ref(), args.json, false)?);
    if FormOrFiles::files(args.format.as_ref()).is_some() {
        bail!("--format parquet or bureau goes with `assay nmf estimate`");
    }
    if let Some(option) = args.survey.given() {
        let why = if option == "--whole" { ": with --spine, counts.csv has whole counts anyway" } else { "" };
        bail!("{option} goes with `assay nmf estimate`{why}");
    }
    args.request.check_level()?;
    let job = Job {
        spine: spine.to_path_buf(),
        measurements: measurements.to_path_buf(),
        release: ReleaseInput::Named(args.release.clone()),
        pure_epsilon: args.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?,
        out: args.out.clone(),
        request: args.request.is_given().then(|| args.request.of_spine()),
        caller: invocation::words(),
    };
    let estimated = job.run(&mut |at| {
        progress::show(at);
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
    let rows = estimated.levels.iter().map(row);
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
