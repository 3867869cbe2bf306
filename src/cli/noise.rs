//! `assay noise`: noise on one column of a table.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    Exit,
    mechanism::{self, Noise, Randomness},
    output::{self, exact, exact_text},
};

/// Adds exact noise to one column of a CSV file
#[derive(clap::Args)]
pub struct Args {
    /// A CSV file with a header line
    #[arg(value_name = "IN.csv")]
    input: PathBuf,
    /// The column of counts, by its name in the header
    #[arg(long, value_name = "NAME")]
    column: String,
    #[command(flatten)]
    noise: Noise,
    /// Where the table with noise is written: whole, or not at all
    #[arg(long, value_name = "OUT.csv")]
    out: PathBuf,
    #[command(flatten)]
    randomness: Randomness,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let mechanism = args.noise.resolve()?;
    let mut streams = args.randomness.resolve()?;
    let rows = streams.add_noise_to_column(mechanism.sampler(), &args.input, &args.column, &args.out)?;
    // What one count spends that differs by one between neighbors, where the accountant's range holds the parameter.
    let spent = mechanism.counts(1, 1).ok();
    let (rho, pure) = (spent.as_ref().map(|counts| counts.rho()), spent.and_then(|counts| counts.pure_epsilon()));
    if args.json {
        let mut object = Value::Object(mechanism::keys(mechanism.law(), &streams));
        object["column"] = json!(args.column);
        object["rows"] = json!(rows);
        object["rho"] = rho.as_ref().map_or(Value::Null, exact);
        object["pure_epsilon"] = pure.as_ref().map_or(Value::Null, exact);
        object["out"] = json!(args.out.display().to_string());
        output::json(&object)?;
        return Ok(Exit::Done);
    }
    let insecure = match streams.insecure_seed() {
        Some(seed) => format!("INSECURE: the noise follows from seed {seed}\n"),
        None => String::new(),
    };
    let mut spends = String::new();
    if let Some(rho) = rho {
        spends += &format!("a count that differs by one spends rho = {}", exact_text(&rho));
        spends += &pure.map_or_else(String::new, |epsilon| format!(" and epsilon = {}", exact_text(&epsilon)));
        spends += "\n";
    }
    let (column, law, out) = (&args.column, mechanism::title(mechanism.law()), args.out.display());
    output::text(&format!("{rows} counts of column {column:?} with noise ({law}) in {out}\n{spends}{insecure}"))?;
    Ok(Exit::Done)
}
