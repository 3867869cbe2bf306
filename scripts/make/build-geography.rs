//! Builds a GRF-C from the census block assignment files of a state, which are public downloads:
//!
//! ```sh
//! cargo run --release --example build-geography -- --places BlockAssign_ST44_RI_INCPLACE_CDP.txt \
//!     --areas BlockAssign_ST44_RI_AIANNH.txt --out GRF-C.txt
//! ```

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Parser;
use dp_assay::{
    safetab::synthetic::write_geography,
    spine::blocks::{Blocks, EntityKind},
};

/// Builds a GRF-C from block assignment files
#[derive(Parser)]
struct Args {
    /// Blocks with their places (BLOCKID|PLACEFP)
    #[arg(long, value_name = "FILE")]
    places: PathBuf,
    /// Blocks with their AIANNH areas (BLOCKID|AIANNHCE)
    #[arg(long, value_name = "FILE")]
    areas: PathBuf,
    /// Output file, written completely or not at all
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut blocks = Blocks::read(&args.places)?;
    for (kind, path, code) in
        [(EntityKind::Place, &args.places, "PLACEFP"), (EntityKind::Aian, &args.areas, "AIANNHCE")]
    {
        let mismatch = blocks.attach(kind, path, None, code)?;
        if let Some(block) = mismatch.without_entity.first().or(mismatch.unknown.first()) {
            bail!("{}: the block {block:015} is in one of the two files only", path.display());
        }
    }
    write_geography(&blocks, &args.out)?;
    Ok(())
}
