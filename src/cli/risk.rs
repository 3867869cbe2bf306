//! `assay risk`: what an adversary learns from noisy counts, and bounds for all adversaries.

pub mod bound;
mod common;
mod curve;
mod hierarchical;
mod postprocess;
mod sampler;
pub mod single;

use anyhow::Result;

use super::exit::Exit;

/// Disclosure risk: what an adversary learns from noisy counts, and the limit for any adversary
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(clap::Subcommand)]
enum Question {
    Single(single::Args),
    Hierarchical(hierarchical::Args),
    Bound(bound::Args),
    Curve(curve::Args),
    Postprocess(postprocess::Args),
    Sampler(sampler::Args),
}

pub fn run(args: &Args) -> Result<Exit> {
    match &args.question {
        Question::Single(args) => single::run(args),
        Question::Hierarchical(args) => hierarchical::run(args),
        Question::Bound(args) => bound::run(args),
        Question::Curve(args) => curve::run(args),
        Question::Postprocess(args) => postprocess::run(args),
        Question::Sampler(args) => sampler::run(args),
    }
}
