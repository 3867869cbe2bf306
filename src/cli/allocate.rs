//! `assay allocate`: where the budget should go.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{
        Delta, Epsilon,
        allocate::{self, QueryTarget},
    },
    numeric::Enclosure,
    release::{Release, query_targets},
};
use rug::{Rational, float::Round};
use serde_json::{Value, json};

use super::{
    Exit,
    output::{self, exact, exact_text},
    quantity,
};

/// The noise per query that keeps a total promise with the least weighted error, by the exact account
///
/// Minimizes the sum of weight times expected squared error, and says how far from optimal the answer can be at most.
#[derive(clap::Args)]
pub struct Args {
    /// A TOML file of queries, each with name, count, weight, least_sigma2, most_sigma2, most_squared_error, most_margin
    #[arg(value_name = "FILE", conflicts_with = "release")]
    file: Option<PathBuf>,
    /// All queries of a release, each of weight 1, in place of a file
    #[arg(long, value_name = "NAME|FILE")]
    release: Option<String>,
    /// The epsilon to keep at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: String,
    /// The delta at which epsilon is meant, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    /// Decimals of every sigma2
    #[arg(long, value_name = "D", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=12))]
    decimals: u32,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let epsilon: Epsilon = quantity("--epsilon", &args.epsilon)?;
    let delta: Delta = quantity("--delta", &args.delta)?;
    let targets = args.targets()?;
    let found = allocate::allocate(&targets, &epsilon, &delta, args.decimals)?;
    let bound = allocate::least_possible(&targets, &epsilon, &delta)?;
    let zcdp = allocate::allocate_by_zcdp(&targets, &epsilon, &delta, args.decimals)?;
    // 100 (found / bound - 1), rounded up: at most so far from optimal.
    let above = found.error.upper_rational().filter(|_| bound > 0).map(|most| {
        let ratio = most / &bound;
        Enclosure::rational(&((ratio - 1_u32) * 100_u32), 64)
    });
    if args.json {
        let query = |(k, target): (usize, &QueryTarget)| {
            json!({
                "name": target.name,
                "count": target.count,
                "weight": exact(&target.weight),
                "least_sigma2": exact(&target.least),
                "most_sigma2": target.most.as_ref().map_or(Value::Null, exact),
                "sigma2": exact(&found.sigma2[k]),
                "zcdp_sigma2": zcdp.as_ref().map_or(Value::Null, |zcdp| exact(&zcdp.sigma2[k])),
            })
        };
        output::json(&json!({
            "epsilon": exact(&epsilon),
            "delta": exact(&delta),
            "delta_reached": found.delta.to_json(),
            "status": output::status(found.met),
            "weighted_squared_error": found.error.to_json(),
            "least_possible_weighted_squared_error": lower_json(&bound),
            "at_most_percent_above_optimum": above.as_ref().map_or(Value::Null, upper_json),
            "zcdp_weighted_squared_error": zcdp.as_ref().map_or(Value::Null, |zcdp| zcdp.error.to_json()),
            "queries": targets.iter().enumerate().map(query).collect::<Vec<Value>>(),
        }))?;
        return Ok(Exit::Done);
    }
    output::text(&format!("epsilon <= {} at delta = {}\n\n", exact_text(&epsilon), exact_text(&delta)))?;
    let row = |(k, target): (usize, &QueryTarget)| {
        vec![
            target.name.clone(),
            target.count.to_string(),
            exact_text(&target.weight),
            exact_text(&found.sigma2[k]),
            zcdp.as_ref().map_or_else(|| "none".to_string(), |zcdp| exact_text(&zcdp.sigma2[k])),
        ]
    };
    let rows: Vec<Vec<String>> = targets.iter().enumerate().map(row).collect();
    output::table(&["", "counts", "weight", "sigma2", "by zCDP"], &rows)?;
    output::text(&format!("\nweighted squared error {}", found.error.shown(8)))?;
    match &zcdp {
        Some(zcdp) => {
            let less = output::percent_below(&found.error, &zcdp.error);
            output::text(&format!("; allocated by zCDP (Bun-Steinke) {}: {less} less\n", zcdp.error.shown(8)))?;
        }
        None => output::text("; by zCDP (Bun-Steinke) no noise allowed keeps the promise\n")?,
    }
    output::text(&format!("delta({}) = {} is proven\n", exact_text(&epsilon), found.delta.shown(6)))?;
    match above {
        Some(above) => output::text(&format!(
            "no allocation within these bounds has less than {}: at most {} % above the optimum\n",
            Enclosure::rational(&bound, 64).lower_text(8),
            above.upper_text(3)
        ))?,
        None => output::text("no useful bound on the optimum: it needs every least_sigma2 to be 1/2 or more\n")?,
    }
    Ok(Exit::Done)
}

/// An exact number rounded down to a JSON number.
fn lower_json(value: &Rational) -> Value {
    Enclosure::rational(value, 84).to_json()["lower"].clone()
}

fn upper_json(value: &Enclosure) -> Value {
    let top = rug::Float::with_val_round(64, value.upper(), Round::Up).0;
    Enclosure::new(top.clone(), top).to_json()["upper"].clone()
}

impl Args {
    fn targets(&self) -> Result<Vec<QueryTarget>> {
        if let Some(name) = &self.release {
            return Release::find(name).and_then(|release| release.query_targets(None)).context("--release");
        }
        let Some(path) = &self.file else { bail!("give a FILE of queries or --release NAME") };
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        Ok(query_targets::parse(&text, &name)?)
    }
}
