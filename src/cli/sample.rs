//! `assay sample`: noise alone, one integer per line.

use std::{
    fmt::Write as _,
    io::{IsTerminal, Write},
};

use anyhow::{Context, Result};

use super::{
    exit::Exit,
    invocation,
    mechanism::{self, Noise, Randomness},
    output, progress,
};

/// Samples that are drawn and written together.
const BATCH: u64 = 1 << 19;
const STDOUT: &str = "standard output";

/// Exact noise alone, one integer per line
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    noise: Noise,
    /// The number of samples
    #[arg(long, value_name = "N")]
    count: u64,
    #[command(flatten)]
    randomness: Randomness,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Comma-separated values: a header line, then one integer per line
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let sampler = args.noise.resolve()?;
    let mut streams = args.randomness.resolve()?;
    // Samples on a terminal show progress themselves; for a file, there is a bar.
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        progress::end();
    }
    progress::stage("noise, integers drawn");
    let (mut text, end, between) = if args.json {
        let answer = mechanism::fields(sampler.law(), &streams).with("count", args.count);
        let object = output::with_provenance(&answer.object(), &invocation::provenance()?);
        // The values follow as they are drawn, as the last key of the object.
        let head = format!("{object:#}");
        (format!("{},\n  \"values\": [", head.strip_suffix("\n}").unwrap_or(&head)), "\n  ]\n}\n", ",")
    } else if args.csv {
        let mark = streams.insecure_seed().map_or_else(String::new, |seed| format!(" (insecure seed {seed})"));
        (format!("noise{mark}\n"), "", "")
    } else {
        (String::new(), "", "")
    };
    let strings = invocation::wants_strings();
    let mut left = args.count;
    let mut samples = vec![0; left.min(BATCH) as usize];
    while left > 0 {
        samples.truncate(left.min(BATCH) as usize);
        streams.fill(&sampler, &mut samples);
        for (i, sample) in samples.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = if args.json {
                let between = if i == 0 && left == args.count { "" } else { between };
                let quote = if strings { "\"" } else { "" };
                write!(text, "{between}\n    {quote}{sample}{quote}")
            } else {
                writeln!(text, "{sample}")
            };
        }
        left -= samples.len() as u64;
        progress::at(args.count - left, args.count);
        out.write_all(text.as_bytes()).context(STDOUT)?;
        text.clear();
    }
    text.push_str(end);
    out.write_all(text.as_bytes()).context(STDOUT)?;
    out.flush().context(STDOUT)?;
    Ok(Exit::Done)
}
