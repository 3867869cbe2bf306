//! Generates synthetic persons or households in the bureau's format for a geography and a specification:
//!
//! ```sh
//! cargo run --release --example synthesize-records -- --config config.json --spec DIR --geography GRF-C.txt \
//!     --persons 1000000 --seed 7 --out person-records.txt
//! ```
//!
//! The extension determines the format: `.txt`, `.txt.gz` or `.parquet`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use dp_assay::safetab::{
    groups::Specification,
    schema::{Geography, SafeTabConfig, ValidationReport},
    synthetic::Population,
};

/// Generates synthetic records in the format of person-records.txt or household-records.txt, reproducible by the seed
#[derive(Parser)]
struct Args {
    /// The bureau's config.json of persons
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The folder of the four files of races, ethnicities and iterations
    #[arg(long, value_name = "DIR")]
    spec: PathBuf,
    /// The blocks
    #[arg(long, value_name = "GRF-C.txt")]
    geography: PathBuf,
    /// Number of persons
    #[arg(long, value_name = "N", required_unless_present = "households", conflicts_with = "households")]
    persons: Option<u64>,
    /// Number of households
    #[arg(long, value_name = "N")]
    households: Option<u64>,
    /// Seed of the generator
    #[arg(long, value_name = "SEED")]
    seed: u64,
    /// Output file, written completely or not at all: text, compressed text (.gz) or Parquet (.parquet)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut report = ValidationReport::new();
    let config = SafeTabConfig::read(&args.config, &mut report);
    let read = config.as_ref().and_then(|config| {
        let specification = Specification::read(&args.spec, config, &mut report);
        let geography = Geography::read(&args.geography, config, &mut report);
        specification.zip(geography)
    });
    report.into_result()?;
    let Some((specification, geography)) = read else { return Ok(()) };
    let population = Population::new(&geography, &specification, args.seed)?;
    match (args.persons, args.households) {
        (_, Some(households)) => population.write_households(households, &args.out, |_| {})?,
        (persons, None) => population.write(persons.unwrap_or(0), &args.out, |_| {})?,
    }
    Ok(())
}
