//! The command line: one file per subcommand. Arguments in, the library called, tables or JSON out; no mathematics.

mod allocate;
mod calibrate;
mod compare;
mod completions;
mod curve;
mod delta;
mod epsilon;
mod errors;
mod estimate;
mod estimate_nmf;
mod explain;
mod figures;
mod help;
mod ledger;
mod man;
mod measure;
mod mechanism;
mod nmf;
mod noise;
mod output;
mod page;
mod prove;
mod queries;
mod releases;
mod risk;
mod sample;
mod schema;
mod simulate;
mod spine;
mod subject;
mod tabulate;
mod tradeoff;
mod tune;
mod verify;

use std::{io, process::ExitCode};

use anyhow::Result;
use clap::{FromArgMatches, Parser, Subcommand};

/// How private is this release really? A certified privacy accountant for counts published with lattice noise.
///
/// Every number is proven: lower <= truth <= upper. Exit status: 0 done, 1 the answer is no, 2 bad input.
#[derive(Parser)]
#[command(name = "assay", version, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Epsilon(epsilon::Args),
    Delta(delta::Args),
    Curve(curve::Args),
    Tradeoff(tradeoff::Args),
    Compare(compare::Args),
    Explain(explain::Args),
    Prove(prove::Args),
    Ledger(ledger::Args),
    Calibrate(calibrate::Args),
    Allocate(allocate::Args),
    Sample(sample::Args),
    Noise(noise::Args),
    Errors(errors::Args),
    Simulate(simulate::Args),
    Releases(releases::Args),
    Schema(schema::Args),
    Spine(spine::Args),
    Measure(measure::Args),
    Estimate(estimate::Args),
    Nmf(nmf::Args),
    Tabulate(tabulate::Args),
    Tune(tune::Args),
    Risk(risk::Args),
    Verify(verify::Args),
    Figures(figures::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// Reads the command line; prints help, or what is wrong with it, and ends the program where there is no command to run.
    pub fn from_command_line() -> Cli {
        Cli::from_arg_matches(&help::command().get_matches()).unwrap_or_else(|error| error.exit())
    }
}

/// What a command that ran has to say to the shell.
enum Exit {
    Done,
    No,
}

/// Runs the program and turns its outcome into an exit status.
pub fn run(cli: Cli) -> ExitCode {
    let outcome = match cli.command {
        Command::Epsilon(args) => epsilon::run(&args),
        Command::Delta(args) => delta::run(&args),
        Command::Curve(args) => curve::run(&args),
        Command::Tradeoff(args) => tradeoff::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Prove(args) => prove::run(&args),
        Command::Ledger(args) => ledger::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Allocate(args) => allocate::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Noise(args) => noise::run(&args),
        Command::Errors(args) => errors::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Releases(args) => releases::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Spine(args) => spine::run(&args),
        Command::Measure(args) => measure::run(&args),
        Command::Estimate(args) => estimate::run(&args),
        Command::Nmf(args) => nmf::run(&args),
        Command::Tabulate(args) => tabulate::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Risk(args) => risk::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Figures(args) => figures::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match outcome {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed as well; there is nobody left to tell then.
            let _ = io::Write::write_all(&mut io::stderr(), format!("assay: {error:#}\n").as_bytes());
            ExitCode::from(2)
        }
    }
}

/// A reader that has seen enough, such as `head`, is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|io| io.kind() == io::ErrorKind::BrokenPipe)
}

/// A quantity on the command line, such as a delta: exact, and in its range.
fn quantity<Q: std::str::FromStr<Err = dp_assay::Error>>(name: &str, text: &str) -> Result<Q> {
    use anyhow::Context;
    text.parse().with_context(|| name.to_string())
}

/// An exact number on the command line.
fn number(name: &str, text: &str) -> Result<rug::Rational> {
    use anyhow::Context;
    dp_assay::numeric::rational::parse(text).with_context(|| name.to_string())
}
