//! `assay estimate`: least squares over the noisy counts of a spine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    numeric::Enclosure,
    release::Release,
    spine::{bypass::Privacy, spine_files::SavedSpine},
    topdown::{
        estimates_file::{self, Estimates},
        level_variances::{LevelVariances, margin_95_approx},
        measure::MeasurementPlan,
        measurement_files,
        nmf::{
            answers::{Answer, Subject},
            truth::ErrorTable,
        },
    },
};
use serde_json::{Value, json};

use super::{
    arguments::number,
    estimate_nmf::{ErrorRow, Written, error_rows, put_errors},
    exit::Exit,
    invocation, output,
    page::{FormOrFiles, Page},
};

/// Least squares over noisy counts: estimates with their variances, and whole counts that add up
///
/// From a folder of the Bureau's noisy measurement files (--nmf): the best linear unbiased estimate of any query of any unit or
/// area, with its variance and margin. From the folder of `assay measure` (--spine, --measurements): totals with their variance,
/// and non-negative whole counts in which children sum to their parents; with --queries or --areas also any query of any unit or area.
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

fn run_measurements(args: &Args, spine: &Path, measurements: &Path, mut page: Page) -> Result<Exit> {
    if let Some(option) = args.survey.given() {
        let why = if option == "--whole" { ": with --spine, counts.csv has whole counts anyway" } else { "" };
        bail!("{option} goes with --nmf{why}");
    }
    measurement_files::check_free(&args.out).context("--out")?;
    let mut provenance = invocation::provenance()?;
    let release = Release::find(&args.release).context("--release")?;
    let saved = SavedSpine::read(spine).context("--spine")?;
    let epsilon = args.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?;
    let context = super::measure::epsilon_context(matches!(saved.privacy, Privacy::Pure { .. }), epsilon.is_some());
    let plan = MeasurementPlan::on_saved(&saved, &release, epsilon.as_ref()).context(context)?;
    let schema = release.schema.clone().unwrap_or_default();
    let estimated = Estimates::read(&plan, &schema, measurements).context("--measurements")?;
    provenance.insecure_seed = estimated.insecure_seed;
    let request = if args.survey.asks() { Some(args.survey.on_spine(&saved, &release)?) } else { None };
    let survey = request.as_ref().map(|request| estimated.survey(&plan, &saved, &schema, request)).transpose()?;
    let (mut errors, rehearsal) = (ErrorTable::default(), args.survey.is_rehearsal());
    let see = |subject: &Subject, answers: &[Answer]| {
        if rehearsal {
            errors.add(subject, answers);
        }
    };
    let written = estimates_file::write(&estimated, &saved, &schema, &args.out, &provenance, survey.as_ref(), see);
    written.context("--out")?;
    let errors = survey.as_ref().map_or_else(Vec::new, |survey| error_rows(&saved.names, &survey.answers, &errors));
    let shown = |value: &Enclosure| value.shown(6);
    let margin = |variance: &LevelVariances| margin_95_approx(variance.mean.approximate());
    let tree = &saved.spine.tree;
    let levels: Vec<Value> = (saved.names.iter().zip(&estimated.level_variances).enumerate())
        .map(|(level, (name, variance))| {
            json!({
                "name": name,
                "units": tree.units(level),
                "variance_of_total": variance.mean.to_json(),
                "variance_least": variance.least.to_json(),
                "variance_most": variance.most.to_json(),
                "margin_95_approx": margin(variance),
            })
        })
        .collect();
    page.records(levels.clone());
    let mut object = json!({
        "release": release.name,
        "levels": levels,
        "left_out": estimated.left_out,
        "records": estimated.records(),
        "out": args.out.display().to_string(),
    });
    if let Some(seed) = estimated.insecure_seed {
        object["insecure_seed"] = json!(seed);
    }
    let exact = survey.as_ref().map_or(&[][..], |survey| survey.exact());
    if !exact.is_empty() {
        object["taken_as_exact"] = json!(exact);
    }
    if rehearsal {
        object["errors"] = errors.iter().map(ErrorRow::json).collect();
    }
    page.object(object);
    page.provenance(provenance);
    let rows: Vec<Vec<String>> = (saved.names.iter().zip(&estimated.level_variances).enumerate())
        .map(|(level, (name, variance))| {
            let variances = [&variance.least, &variance.mean, &variance.most].map(shown);
            let counts = format!("{:.1}", margin(variance));
            [vec![name.clone(), tree.units(level).to_string()], variances.to_vec(), vec![counts]].concat()
        })
        .collect();
    page.table(&["level", "units", "least variance", "mean", "largest", "95 % margin"], rows);
    let more = survey.as_ref().map_or("", |survey| if survey.has_areas() { ", areas.csv" } else { ", estimates.csv" });
    let left = match &estimated.left_out[..] {
        [] => String::new(),
        names if survey.is_some() => {
            format!("Recodes are used for estimates of queries, not for counts.csv: {}\n", names.join(", "))
        }
        names => format!("Not used, because recodes do not fit the Kronecker structure: {}\n", names.join(", ")),
    };
    if rehearsal {
        page.text("\n");
        put_errors(&mut page, &errors);
    }
    if !exact.is_empty() {
        page.text(format!(
            "\nTaken as exact, because the variance of their noise is below 1e-18, which is invisible beside counts in doubles: {}\n",
            exact.join(", ")
        ));
    }
    page.text(format!(
        "\nvariances of units' totals by least squares; the margin is 1.96 standard deviations of the mean variance, in counts\n\
         {left}{} records after rounding; totals.csv{more} and counts.csv in {}\n{}",
        estimated.records(),
        args.out.display(),
        output::insecure(estimated.insecure_seed),
    ));
    page.print()?;
    Ok(Exit::Done)
}
