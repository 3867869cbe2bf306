//! `assay measure`: the mechanism on a spine, with exact noise, and what it spends.

use std::path::PathBuf;

use anyhow::{Context, Result};
use dp_assay::{
    account::profile::check_delta,
    numeric::Enclosure,
    release::Release,
    spine::spine_files::SavedSpine,
    topdown::{histograms::Histograms, measure::MeasurementPlan, measurement_files},
};
use serde_json::{Value, json};

use super::{
    Answer,
    mechanism::Randomness,
    number,
    output::{self, exact, exact_text},
};

/// Exact noise on every query of every unit of a spine, and the exact epsilon of it all
#[derive(clap::Args)]
pub struct Args {
    /// The folder that `assay spine --out` wrote
    #[arg(long, value_name = "DIR")]
    spine: PathBuf,
    /// The counts: CSV with a column block, one for each attribute of the release, and the count; a line for each cell of a
    /// block that is not zero
    #[arg(long, value_name = "FILE")]
    counts: PathBuf,
    /// The heading of the counts
    #[arg(long, value_name = "NAME", default_value = "count")]
    column: String,
    /// A bundled release that has attributes, or a TOML file of the same form: levels, queries, budget
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// The folder for the noisy counts; it must be empty or not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The delta of the exact epsilon
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    randomness: Randomness,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Comma-separated values: a line for each query of each level
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Ask for enclosures of relative width 10^-D
    #[arg(long, value_name = "D", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=250))]
    digits: u32,
}

pub fn run(args: &Args) -> Result<Answer> {
    let delta = number("--delta", &args.delta)?;
    check_delta(&delta).context("--delta")?;
    measurement_files::check_free(&args.out).context("--out")?;
    let release = Release::find(&args.release).context("--release")?;
    let saved = SavedSpine::read(&args.spine).context("--spine")?;
    let plan = MeasurementPlan::of_release(&saved.spine, &release).context("--release")?;
    // What it spends is known before anything is drawn.
    let worst = plan.worst_path()?;
    let (epsilon, (p, q)) = worst.epsilon(&delta, args.digits)?;
    let schema = release.schema.clone().unwrap_or_default();
    let histograms = Histograms::read(&args.counts, &saved, &schema, &args.column).context("--counts")?;
    let mut streams = args.randomness.resolve()?;
    let paths = saved.spine.paths()?;
    let names =
        |path: usize| -> Vec<&str> { paths[path].dropped.iter().map(|level| saved.names[*level].as_str()).collect() };
    let pair = if worst.in_pairs() { vec![p, q] } else { vec![p] };
    let privacy = json!({
        "neighbors": release.neighbors.name(),
        "rho": exact(&worst.rho()),
        "delta": exact(&delta),
        "epsilon": epsilon.value.to_json(),
        "worst_paths": pair.iter().map(|path| json!(names(*path).join(" "))).collect::<Value>(),
    });
    let said = (release.name.as_str(), privacy.clone());
    let manifest =
        measurement_files::write(&plan, &saved.names, said, &histograms, &mut streams, &args.out).context("--out")?;
    let rows: Vec<Vec<String>> = (manifest.files.iter())
        .map(|file| {
            let asked = plan.levels()[file.level].iter().find(|asked| asked.group.name == file.query);
            let law = asked.and_then(|asked| (1..=saved.names.len()).find_map(|carried| asked.law(carried)));
            let sigma2 = law.map(|law| Enclosure::rational(parameter(law), 64).shown(6)).unwrap_or_default();
            let numbers = [file.counts, file.units].map(|number| number.to_string());
            [vec![file.level_name.clone(), file.query.clone()], numbers.to_vec(), vec![sigma2]].concat()
        })
        .collect();
    if args.csv {
        output::csv(&["level", "query", "counts", "units", "largest_sigma2_approx"], rows)?;
        return Ok(Answer::Done);
    }
    let without = histograms.blocks_without(saved.geoids.len());
    if args.json {
        let files: Vec<Value> = manifest.files.iter().map(|file| json!(file)).collect();
        let mut object = json!({ "release": release.name });
        if let (Some(object), Value::Object(privacy)) = (object.as_object_mut(), privacy) {
            object.extend(privacy);
        }
        let rest = json!({
            "noisy_counts": plan.counts(),
            "files": files,
            "confidential": { "records": histograms.total(), "blocks_without_counts": without },
            "out": args.out.display().to_string(),
        });
        if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
            object.extend(rest);
        }
        if let Some(seed) = streams.insecure_seed() {
            object["insecure_seed"] = json!(seed);
        }
        output::json(&object)?;
        return Ok(Answer::Done);
    }
    output::table(&["level", "query", "counts", "units", "sigma2"], &rows)?;
    let named: Vec<String> =
        pair.iter().map(|path| format!("the path that drops [{}]", names(*path).join(" "))).collect();
    output::text(&format!(
        "\n{} noisy counts in {}; sigma2 is that of the units that carry least\n\
         rho {}, epsilon {} at delta {}, of {}\n\
         Confidential: {} records; {without} of {} blocks have no line and count as empty.\n",
        plan.counts(),
        args.out.display(),
        exact_text(&worst.rho()),
        epsilon.value.shown(args.digits.min(40) as usize),
        exact_text(&delta),
        named.join(" and "),
        histograms.total(),
        saved.geoids.len(),
    ))?;
    if let Some(seed) = streams.insecure_seed() {
        output::text(&format!("INSECURE: the noise follows from seed {seed}\n"))?;
    }
    Ok(Answer::Done)
}

fn parameter(law: &dp_assay::loss::law::Law) -> &rug::Rational {
    use dp_assay::loss::law::Law;
    match law {
        Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => sigma2,
        Law::DiscreteLaplace { epsilon } => epsilon,
    }
}
