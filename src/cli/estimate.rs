//! `assay estimate`: what the noisy counts of a spine say together.

use std::path::PathBuf;

use anyhow::{Context, Result};
use dp_assay::{
    numeric::Enclosure,
    release::Release,
    spine::{bypass::Privacy, spine_files::SavedSpine},
    topdown::{
        estimates_file::{self, Estimates},
        measure::MeasurementPlan,
        measurement_files,
    },
};
use serde_json::{Value, json};

use super::{Exit, number, output};

/// Least squares over noisy counts: totals with their variance, and non-negative whole counts that add up
#[derive(clap::Args)]
pub struct Args {
    /// The folder that `assay spine --out` wrote
    #[arg(long, value_name = "DIR")]
    spine: PathBuf,
    /// The folder that `assay measure --out` wrote
    #[arg(long, value_name = "DIR")]
    measurements: PathBuf,
    /// The release that was measured
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// The pure epsilon that was measured with, for a spine of privacy "pure"
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The folder for totals and counts; it must be empty or not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    measurement_files::check_free(&args.out).context("--out")?;
    let release = Release::find(&args.release).context("--release")?;
    let saved = SavedSpine::read(&args.spine).context("--spine")?;
    let epsilon = args.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?;
    let is_pure = matches!(saved.privacy, Privacy::Pure { .. });
    let context = if is_pure || epsilon.is_some() { "--release, --epsilon" } else { "--release" };
    let plan = MeasurementPlan::on_saved(&saved, &release, epsilon.as_ref()).context(context)?;
    let schema = release.schema.clone().unwrap_or_default();
    let estimated = Estimates::read(&plan, &schema, &args.measurements).context("--measurements")?;
    estimates_file::write(&estimated, &saved, &schema, &args.out).context("--out")?;
    let shown = |value: &Enclosure| value.shown(6);
    let tree = &saved.spine.tree;
    if args.json {
        let levels: Vec<Value> = (saved.names.iter().zip(&estimated.level_variances).enumerate())
            .map(|(level, (name, variance))| {
                json!({
                    "name": name,
                    "units": tree.units(level),
                    "variance_of_total": variance.mean.to_json(),
                    "variance_least": variance.least.to_json(),
                    "variance_most": variance.most.to_json(),
                })
            })
            .collect();
        output::json(&json!({
            "release": release.name,
            "levels": levels,
            "left_out": estimated.left_out,
            "records": estimated.records(),
            "out": args.out.display().to_string(),
        }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = (saved.names.iter().zip(&estimated.level_variances).enumerate())
        .map(|(level, (name, variance))| {
            let variances = [&variance.least, &variance.mean, &variance.most].map(shown);
            [vec![name.clone(), tree.units(level).to_string()], variances.to_vec()].concat()
        })
        .collect();
    output::table(&["level", "units", "least variance", "mean", "largest"], &rows)?;
    let left = match &estimated.left_out[..] {
        [] => String::new(),
        names => format!("Not used, because recodes do not fit the Kronecker structure: {}\n", names.join(", ")),
    };
    output::text(&format!(
        "\nvariances of units' totals by least squares\n{left}{} records after rounding; totals.csv and counts.csv in {}\n",
        estimated.records(),
        args.out.display()
    ))?;
    Ok(Exit::Done)
}
