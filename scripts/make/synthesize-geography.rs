//! Generates a synthetic GRF-C of the size of the United States and Puerto Rico:
//!
//! ```sh
//! cargo run --release --example synthesize-geography -- --out GRF-C.txt
//! ```
//!
//! In 2020 there were 8,132,968 blocks in 84,414 tracts of 3,221 counties, about 32,000 places and 700 American Indian, Alaska
//! Native and Native Hawaiian areas. Here all 52 are equal: 8,047,104 blocks in 83,824 tracts of 3,224 counties, 32,240 places and
//! 663 areas.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
};

use anyhow::{Context, Result};
use clap::Parser;

/// The codes of the fifty states, the District of Columbia and Puerto Rico.
const STATES: [u64; 52] = [
    1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
    34, 35, 36, 37, 38, 39, 40, 41, 42, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54, 55, 56, 72,
];
/// Tracts of a county and blocks of a tract.
const TRACTS: u64 = 26;
const BLOCKS: u64 = 96;
/// Places of a county, and areas of a state; one block in four is in no place, and one in twenty-six in an area.
const PLACES: u64 = 10;
const AREAS: u64 = 13;

/// Generates synthetic blocks with their places and areas
#[derive(Parser)]
struct Args {
    /// Number of counties of each state
    #[arg(long, value_name = "N", default_value_t = 62, value_parser = clap::value_parser!(u64).range(1..=499))]
    counties: u64,
    /// Output file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let file = File::create_new(&args.out).with_context(|| args.out.display().to_string())?;
    let mut out = BufWriter::new(file);
    writeln!(out, "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE")?;
    for (number, state) in (0..).zip(STATES) {
        for county in 0..args.counties {
            for tract in 0..TRACTS {
                for block in 0..BLOCKS {
                    // A place has two or three neighboring tracts, without their last blocks.
                    let in_place = block < BLOCKS * 3 / 4;
                    let place = if in_place { 1 + county * PLACES + tract * PLACES / TRACTS } else { 99_999 };
                    // An area has one tract of each of some counties. Puerto Rico has none.
                    let in_area = tract == 7 && state != 72;
                    let area = if in_area { 1 + number * AREAS + county % AREAS } else { 9999 };
                    writeln!(
                        out,
                        "{state:02}|{:03}|{:06}|{:04}|{place:05}|{area:04}",
                        2 * county + 1,
                        100 * (tract + 1),
                        1000 * (1 + block / 32) + block % 32
                    )?;
                }
            }
        }
    }
    out.into_inner()?.sync_all()?;
    Ok(())
}
