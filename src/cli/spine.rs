//! `assay spine`: a geographic spine built, optimized and measured.

use std::path::PathBuf;

use anyhow::{Context, Result};
use dp_assay::{
    account::Delta,
    chart::spine::spine_drawings,
    document::fields::{self, Fields, certified, said},
    numeric::Enclosure,
    spine::{
        blocks::Blocks,
        bypass::Privacy,
        own::Hierarchy,
        plan::{BuiltSpine, OwnPlan, SpinePlan},
        records::{RecordAccount, RecordEpsilon},
        spine_files,
    },
    topdown::{
        determined,
        level_variances::{self, LevelVariances, margin_95_approx},
    },
};
use serde_json::{Value, json};

use super::{
    arguments::optional,
    exit::Exit,
    invocation, measure, output,
    page::{FormArgs, Page},
    progress,
};

/// A geographic spine: optimized block groups, bypassed units, block paths and their exact epsilon
#[derive(clap::Args)]
pub struct Args {
    /// Blocks with their entities: CSV or a block assignment file
    #[arg(long, value_name = "FILE", required_unless_present = "hierarchy")]
    blocks: Option<PathBuf>,
    /// A hierarchy of your own instead: CSV with a column for each level of the plan, and a line for each unit of the lowest one
    #[arg(long, value_name = "FILE", conflicts_with = "blocks")]
    hierarchy: Option<PathBuf>,
    /// The plan: settings, levels and entity files (TOML); for a hierarchy of your own a release, or levels with their shares
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The folder for levels, units, blocks, entities, paths, mismatches and pictures
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Also the exact epsilon of the plan's release on this spine, at this delta
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Option<String>,
    #[command(flatten)]
    form: FormArgs,
    /// Comma-separated values: a line for each level
    #[arg(long, conflicts_with_all = ["json", "format"])]
    csv: bool,
    /// With --delta: an enclosure of relative width at most 10^-D
    #[arg(long, value_name = "D", requires = "delta", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=250))]
    digits: u32,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Option<Delta> = optional("--delta", &args.delta)?;
    let mut provenance = invocation::provenance()?;
    let (built, inputs) = build(args)?;
    for name in inputs {
        provenance.inputs.push(invocation::public_input(&name)?);
    }
    let epsilon = match (&delta, &built.release) {
        (None, _) => None,
        (Some(_), None) => anyhow::bail!("--delta: the plan names no release, so there is no noise to account for"),
        (Some(delta), Some(release)) => {
            let epsilon = RecordAccount::of_release(&built.spine, release)?.epsilon(delta, args.digits)?;
            let worst = epsilon.kinds.iter().map(|path| release.dropped_names(*path).join(" ")).collect();
            Some(Worst { epsilon: epsilon.value, reason: epsilon.reason, paths: worst })
        }
    };
    progress::stage("variances of the units");
    let on_spine = level_variances::on_spine(&built.spine, built.privacy)?;
    let census = level_variances::on_census_spine(&built)?;
    let of_entities = level_variances::of_entities_approx(&built)?;
    progress::stage("writing the spine");
    let written = spine_files::write_with(&built, &of_entities, &args.out, |folder| {
        for (name, drawing) in spine_drawings(&built, &on_spine, census.as_deref()) {
            drawing.write(folder, name)?;
        }
        provenance.write_into(folder)
    });
    written.context("--out")?;
    let margins = Margins::of_spine(&built);
    progress::stage("the queries that noisy counts determine");
    // A design too large for least squares, or a query that is not of the attributes, is for `assay measure` to say.
    let open = determined::on_built(&built).unwrap_or_default();
    let ids = built.ids();
    let unit = |level: usize, unit: usize| ids.unit(level, unit).into_owned();
    let mut page = Page::new(args.form.form_or_csv(args.csv));
    page.provenance(provenance);
    page.records(records(&built, &on_spine, &margins));
    let levels = levels(&built, &on_spine, &margins);
    let answer = object(&built, &levels, &margins, delta.as_deref(), epsilon.as_ref())?
        .with_any("undetermined", open.iter().map(|open| open.to_json(&built.names, &unit)))
        .object();
    put_table(&mut page, &built, &levels, &margins, &answer, args)?;
    page.object(answer);
    if let (Some(worst), Some(delta)) = (&epsilon, &delta) {
        let said = measure::said_epsilon(&worst.epsilon, worst.reason, (delta, args.digits), &worst.paths);
        page.text(format!("{said}\n"));
    }
    page.text(measure::not_determined(open.iter().map(|open| open.described(&built.names, &unit))));
    page.done()
}

/// The spine, and the files that its plan reads.
fn build(args: &Args) -> Result<(BuiltSpine, Vec<String>)> {
    if let Some(units) = &args.hierarchy {
        let plan = OwnPlan::read(&args.plan).context("--plan, which for --hierarchy has shares and no settings")?;
        progress::stage("building the spine");
        let hierarchy = Hierarchy::read(units, &plan.levels()).context("--hierarchy")?;
        return Ok((plan.build(&hierarchy)?, plan.inputs()));
    }
    let Some(blocks) = &args.blocks else { anyhow::bail!("--blocks or --hierarchy is needed") };
    let plan = SpinePlan::read(&args.plan).context("--plan")?;
    progress::stage("building the spine");
    Ok((plan.build(Blocks::read(blocks).context("--blocks")?)?, plan.inputs()))
}

/// The epsilon of the plan's release.
struct Worst {
    epsilon: Enclosure,
    /// Why it is an upper bound; `None` if it is exact.
    reason: Option<&'static str>,
    /// The levels that the worst path drops, or each of the worst pair.
    paths: Vec<String>,
}

/// The unit of the variances.
fn unit(built: &BuiltSpine) -> &'static str {
    if built.privacy == Privacy::Concentrated { "1 / rho" } else { "8 / epsilon^2" }
}

/// The margins at 95 % of the estimates of units' totals, if one query has the whole budget.
struct Margins {
    /// The factor from the units of the variances to the units of a margin.
    scale: f64,
    unit: &'static str,
}

impl Margins {
    /// In counts if the plan's release gives rho, otherwise in the square root of the units of the variances.
    fn of_spine(built: &BuiltSpine) -> Margins {
        match (built.counts_per_root_approx(), built.privacy) {
            (Some(scale), _) => Margins { scale, unit: "counts" },
            (None, Privacy::Concentrated) => Margins { scale: 1.0, unit: "1 / sqrt(rho)" },
            (None, Privacy::Pure { .. }) => Margins { scale: 1.0, unit: "sqrt(8) / epsilon" },
        }
    }

    fn approx(&self, variance: &LevelVariances) -> f64 {
        self.scale * margin_95_approx(variance.mean.approximate())
    }
}

/// The numbers of a level.
fn numbers(built: &BuiltSpine, level: usize) -> Fields {
    let spine = &built.spine;
    Fields::new()
        .shown("units", "units", spine.tree.units(level))
        .shown("max_fanout", "max fan-out", spine.tree.max_fanout(level))
        .shown("bypassed", "bypassed", spine.bypassed[level])
}

/// A row for each level: its numbers, and the variances of its units' totals, from their own answers and by estimates.
fn levels(built: &BuiltSpine, variances: &[LevelVariances], margins: &Margins) -> Vec<Fields> {
    let row = |(level, (name, variance)): (usize, (&String, &LevelVariances))| {
        let (alone, margin) = (variance.alone.as_ref(), margins.approx(variance));
        Fields::new()
            .shown("name", "level", name)
            .and(numbers(built, level))
            .with("measured", variance.measured)
            .shown("variance_alone", "own variance", said(alone, alone.map_or("-".to_string(), |value| value.shown(6))))
            .shown("variance", "estimated", certified(&variance.mean, 6))
            .with("variance_least", &variance.least)
            .with("variance_most", &variance.most)
            .shown("margin_95_approx", "95 % margin", said(margin, shown_margin(margin)))
    };
    built.names.iter().zip(variances).enumerate().map(row).collect()
}

/// A record of CSV for each level.
fn records(built: &BuiltSpine, variances: &[LevelVariances], margins: &Margins) -> Vec<Value> {
    let record = |(level, (name, variance)): (usize, (&String, &LevelVariances))| {
        let (alone_lower, alone_upper) = variance.alone.as_ref().map_or_else(Default::default, output::ends);
        let (lower, upper) = output::ends(&variance.mean);
        Fields::new()
            .with("level", name)
            .and(numbers(built, level))
            .with("alone_lower", alone_lower)
            .with("alone_upper", alone_upper)
            .with("variance_lower", lower)
            .with("variance_upper", upper)
            .with("margin_95_approx", shown_margin(margins.approx(variance)))
            .object()
    };
    built.names.iter().zip(variances).enumerate().map(record).collect()
}

fn shown_margin(margin: f64) -> String {
    Enclosure::double(margin, 53).shown(6)
}

/// The distances of entities from the spine, before and after it was optimized.
fn distances_object(distances: &[(u32, u32)]) -> Value {
    let mean = |pick: fn(&(u32, u32)) -> u32| {
        let sum: u64 = distances.iter().map(|pair| u64::from(pick(pair))).sum();
        // Absent if there is no entity. An average for the reader, not a certified number.
        (!distances.is_empty()).then(|| sum as f64 / distances.len() as f64)
    };
    let max = |pick: fn(&(u32, u32)) -> u32| distances.iter().map(pick).max();
    json!({
        "entities": distances.len(),
        "mean_before": mean(|pair| pair.0),
        "mean_after": mean(|pair| pair.1),
        "max_before": max(|pair| pair.0),
        "max_after": max(|pair| pair.1),
    })
}

fn object(
    built: &BuiltSpine,
    levels: &[Fields],
    margins: &Margins,
    delta: Option<&rug::Rational>,
    epsilon: Option<&Worst>,
) -> Result<Fields> {
    let spine = &built.spine;
    let paths: Vec<Value> = (spine.paths()?.iter())
        .map(|path| {
            let names: Vec<&str> = path.dropped.iter().map(|level| built.names[*level].as_str()).collect();
            json!({ "dropped": names, "blocks": path.blocks })
        })
        .collect();
    let mismatches: Vec<Value> = (built.mismatches.iter())
        .map(|mismatch| {
            json!({
                "kind": mismatch.kind.name(),
                "blocks_without_entity": mismatch.without_entity.len(),
                "unknown_blocks": mismatch.unknown.len(),
            })
        })
        .collect();
    let answer = json!({
        "blocks": spine.tree.order().len(),
        "levels": levels,
        "variance_unit": unit(built),
        "margin_unit": margins.unit,
        "osed": distances_object(&built.distances()),
        "paths": paths,
        "mismatches": mismatches,
        "unused_entities": built.unused.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
    });
    let epsilon = delta.zip(epsilon).map(|(delta, worst)| {
        Fields::new()
            .with("delta", output::exact(delta))
            .with("epsilon", RecordEpsilon::json(&worst.epsilon, worst.reason))
            .with("worst_paths", &worst.paths)
    });
    Ok(Fields::from(answer).and(epsilon.unwrap_or_default()))
}

fn put_table(
    page: &mut Page,
    built: &BuiltSpine,
    levels: &[Fields],
    margins: &Margins,
    object: &Value,
    args: &Args,
) -> Result<()> {
    let spine = &built.spine;
    page.push(fields::table(levels));
    page.text(format!(
        "\nMean variance of a unit's total, from its own noisy answer and from least squares over the spine, in units of {}\n",
        unit(built)
    ));
    let budget = built.release.as_ref().filter(|_| margins.unit == "counts").map_or_else(
        || format!("in units of {}", margins.unit),
        |release| format!("in counts, if one query has the whole rho of {}", output::exact_text(&release.rho)),
    );
    page.text(format!("margin of the estimate, 1.96 standard deviations of the level's mean variance, which no single unit need have, {budget}\n"));
    if !built.unused.is_empty() {
        let kinds: Vec<&str> = built.unused.iter().map(|kind| kind.name()).collect();
        page.text(format!("the plan names entities that its settings do not use: {}\n", kinds.join(", ")));
    }
    let osed = &object["osed"];
    if osed["entities"] != 0 {
        let mean = |key: &str| osed[key].as_f64().unwrap_or(f64::NAN);
        page.text(format!(
            "{}; {}, units to make one: mean {:.3} on the census spine, {:.3} on this; at most {} and {}\n",
            output::count_of(object["blocks"].as_u64().unwrap_or_default(), "block"),
            if osed["entities"] == 1 { "1 entity".to_string() } else { format!("{} entities", osed["entities"]) },
            mean("mean_before"),
            mean("mean_after"),
            osed["max_before"],
            osed["max_after"],
        ));
    }
    for mismatch in built.mismatches.iter().filter(|m| m.without_entity.len() + m.unknown.len() > 0) {
        page.text(format!(
            "{}: blocks that are not in its file: {}; blocks of the file that are not in the spine: {} (mismatches.csv)\n",
            mismatch.kind.name(),
            mismatch.without_entity.len(),
            mismatch.unknown.len(),
        ));
    }
    let paths = spine.paths()?.len();
    let out = dp_assay::error::shown(&args.out);
    page.text(format!(
        "{}, each summing to exactly one; files in {out}\n",
        output::count_of(paths as u64, "different block path")
    ));
    Ok(())
}
