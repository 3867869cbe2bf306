//! The command line: each subcommand, in a file of its own, reads arguments, calls the library and prints tables or JSON. No mathematics.
//!
//! | file | content |
//! | --- | --- |
//! | `epsilon`, `delta`, `curve`, `tradeoff`, `compare`, `explain`, `prove`, `ledger`, `calibrate`, `allocate`, `report`, `memo` | the commands of these names: accounts |
//! | `noise`, `sample`, `audit`, `errors`, `simulate` | noise |
//! | `laws`, `releases`, `schema`, `spine`, `measure`, `estimate`, `published_counts`, `nmf`, `tabulate`, `tune`, `rehearse` | releases and mechanisms |
//! | `risk`, `verify`, `deployments`, `figures` | risk and evidence |
//! | `completions`, `man`, `help` | the program itself |
//! | `subject`, `of_ledger`, `mechanism`, `multiline`, `risk_goal`, `estimates` | arguments that several commands share |
//! | `arguments`, `said` | numbers of the command line, read exactly, and its words in messages |
//! | `page`, `output`, `drawn`, `wrap`, `terminal` | the forms of an answer: tables, CSV, JSON, Markdown, LaTeX, drawings |
//! | `compared`, `queries`, `epsilon_together`, `certificates` | parts of answers that are files of their own |
//! | `outputs`, `invocation`, `exit` | names of outputs, the provenance of an answer, the status of the process |
//! | `application`, `definition` | the page that the program starts beside its commands, and the command line as a whole |
//! | `progress`, `interrupt`, `threads` | long work: progress, Ctrl-C, threads |

pub mod allocate;
pub mod application;
pub mod arguments;
pub mod audit;
pub mod calibrate;
mod certificates;
mod compare;
mod compared;
mod completions;
mod curve;
mod definition;
mod delta;
mod deployments;
mod drawn;
pub mod epsilon;
mod epsilon_together;
pub mod errors;
mod estimate;
mod estimates;
pub mod exit;
mod explain;
mod figures;
mod help;
mod interrupt;
mod invocation;
mod laws;
mod ledger;
mod man;
mod measure;
mod mechanism;
mod memo;
mod multiline;
mod nmf;
mod noise;
mod of_ledger;
pub mod output;
mod outputs;
pub mod page;
pub mod progress;
mod prove;
mod published_counts;
mod queries;
mod rehearse;
mod releases;
pub mod report;
pub mod risk;
mod risk_goal;
mod said;
mod sample;
mod schema;
mod simulate;
mod spine;
pub mod subject;
mod tabulate;
mod terminal;
pub mod threads;
mod tradeoff;
pub mod tune;
mod verify;
mod wrap;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dp_assay::provenance::VERSION_AND_COMMIT;
use serde_json::json;

use self::{application::Application, exit::Exit};

/// How private is this release, or this training run, really? A certified privacy accountant for published noise: counts with integer noise, DP-SGD, and other mechanisms.
///
/// Every number is proven: lower <= truth <= upper. Exit status: 0 success; 1 a check failed; 2 invalid input.
#[derive(Parser)]
#[command(name = "assay", version = VERSION_AND_COMMIT, propagate_version = true, max_term_width = help::WIDEST)]
pub struct Cli<A: Subcommand> {
    #[command(subcommand)]
    command: Command<A>,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, made once")]
enum Command<A: Subcommand> {
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
    Report(report::Args),
    Memo(memo::Args),
    #[command(flatten)]
    Application(A),
    Sample(sample::Args),
    Noise(noise::Args),
    Audit(audit::Args),
    Errors(errors::Args),
    Simulate(simulate::Args),
    Laws(laws::Args),
    Releases(releases::Args),
    Schema(schema::Args),
    Spine(spine::Args),
    Measure(measure::Args),
    Estimate(estimate::Args),
    Nmf(nmf::Args),
    Tabulate(tabulate::Args),
    Tune(tune::Args),
    Rehearse(rehearse::Args),
    Risk(risk::Args),
    Verify(verify::Args),
    Deployments(deployments::Args),
    Figures(figures::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl<A: Subcommand> Cli<A> {
    /// Reads the command line.
    fn from_command_line() -> std::result::Result<Self, clap::Error> {
        Cli::from_arg_matches(&definition::command().try_get_matches()?)
    }
}

/// Reads the command line, runs the command, and turns the outcome into an exit status.
pub fn main<A: Application>() -> ExitCode {
    // Panics of the Parquet reader are caught and reported as errors of the file.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !dp_assay::is_decoding() {
            hook(info);
        }
    }));
    forbid_core_files();
    definition::set(Cli::<A>::command);
    let outcome = match Cli::<A>::from_command_line() {
        Ok(cli) => {
            interrupt::watch();
            threads::start().and_then(|()| {
                progress::begin(&invocation::command_name());
                run(cli)
            })
        }
        // Help and the version are requested output; everything else is an error.
        Err(error) if !error.use_stderr() => error.print().map(|()| Exit::Done).map_err(Into::into),
        Err(error) if invocation::wants_json() => {
            Err(anyhow::Error::msg(error.render().to_string().trim_end().trim_start_matches("error: ").to_string()))
        }
        Err(error) => {
            // Standard error may be closed; then the message is lost. Colours are left out where they would be escapes.
            let _ = match said::has_invisible_words() {
                true => io::stderr().write_all(said::message(&error.render().to_string()).as_bytes()),
                false => error.print(),
            };
            return ExitCode::from(2);
        }
    };
    progress::end();
    // Buffered output is written now, while an error can still be reported.
    let outcome = outcome.and_then(|exit| io::stdout().flush().context("standard output").map(|()| exit));
    if let Some(message) = stopped() {
        // Standard error may be closed; then the message is lost.
        let _ = io::stderr().write_all(message.as_bytes());
    }
    status(outcome)
}

/// The exit status of an outcome; an error is reported.
fn status(outcome: Result<Exit>) -> ExitCode {
    match outcome {
        Ok(Exit::Done) if dp_assay::numeric::clock::has_stopped() => ExitCode::from(1),
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        // A search without a result is an answer: No.
        Err(error) if is_not_found(&error) => {
            if invocation::wants_json() {
                let _ = writeln!(
                    io::stdout(),
                    "{:#}",
                    json!({ "found": null, "proven": false, "reason": format!("{error:#}") })
                );
            } else {
                report(&error);
            }
            ExitCode::from(1)
        }
        // That no epsilon is finite is an answer too.
        Err(error) if has_infinite_loss(&error) => {
            report(&error);
            ExitCode::from(1)
        }
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

/// A crash leaves no core file, which would hold the program's memory and perhaps confidential counts.
#[cfg(unix)]
fn forbid_core_files() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // Every process may lower a limit; if it fails, the program is no worse off.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

#[cfg(not(unix))]
fn forbid_core_files() {}

/// The processor time of this process.
#[cfg(unix)]
fn processor_time() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    std::time::Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// The message about an answer that the clock ended.
fn stopped() -> Option<String> {
    dp_assay::numeric::clock::has_stopped().then(|| {
        format!(
            "stopped: the answer used more than {} times the processor time of its effort; what is printed is proven, but a faster machine may \
             give more digits\n",
            dp_assay::numeric::clock::TIMES
        )
    })
}

/// Whether nothing was found, where the request is as it should be.
fn is_not_found(error: &anyhow::Error) -> bool {
    let is =
        |one: &dp_assay::Error| matches!(one, dp_assay::Error::NotFound { .. } | dp_assay::Error::OutOfReach { .. });
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is))
}

/// Whether no epsilon is finite at the delta of the request.
fn has_infinite_loss(error: &anyhow::Error) -> bool {
    let is = |one: &dp_assay::Error| matches!(one, dp_assay::Error::InfiniteLoss { .. });
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is))
}

/// Reports the error on standard error, as JSON if the answer was to be JSON.
fn report(error: &anyhow::Error) {
    let message = match invocation::wants_json() {
        true => format!("{:#}\n", json!({ "error": format!("{error:#}"), "exit_status": 2 })),
        false => format!("{} {}\n", terminal::before_error(), said::message(&format!("{error:#}"))),
    };
    // Standard error may be closed as well; then the message is lost.
    let _ = io::stderr().write_all(message.as_bytes());
}

fn run<A: Application>(cli: Cli<A>) -> Result<Exit> {
    outputs::check()?;
    #[cfg(unix)]
    if !matches!(cli.command, Command::Application(_)) {
        dp_assay::numeric::clock::set(processor_time);
    }
    match cli.command {
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
        Command::Report(args) => report::run(&args),
        Command::Memo(args) => memo::run(&args),
        Command::Application(application) => application.run(),
        Command::Sample(args) => sample::run(&args),
        Command::Noise(args) => noise::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Errors(args) => errors::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Laws(args) => laws::run(&args),
        Command::Releases(args) => releases::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Spine(args) => spine::run(&args),
        Command::Measure(args) => measure::run(&args),
        Command::Estimate(args) => estimate::run(&args),
        Command::Nmf(args) => nmf::run(&args),
        Command::Tabulate(args) => tabulate::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Rehearse(args) => rehearse::run(&args),
        Command::Risk(args) => risk::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Deployments(args) => deployments::run(&args),
        Command::Figures(args) => figures::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// A reader that closes the pipe early, such as `head`, is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |io: &io::Error| io.kind() == io::ErrorKind::BrokenPipe;
    let in_csv = |cause: &csv::Error| matches!(cause.kind(), csv::ErrorKind::Io(io) if is_broken(io));
    error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(is_broken) || cause.downcast_ref::<csv::Error>().is_some_and(in_csv)
    })
}
