//! `assay tabulate`: SafeTab from records to a release with its certificate.

use std::path::PathBuf;

use anyhow::{Result, bail};
use dp_assay::{
    account::Delta,
    safetab::{
        schema::TotalsCheck,
        tabulate::{DryRun, Job, Records, UnfinishedDraw},
    },
};
use serde_json::json;

use super::{Exit, output, quantity};

/// Tabulates persons or households by detailed race and ethnicity with SafeTab, and certifies what the release spends
///
/// Writes a folder with tables in the bureau's format (t1 and t2 of persons, t3 and t4 of households) and a certificate, whole
/// or not at all. Beside it stays a log of every draw of noise; a draw that was not completed is repeated or discarded, never
/// drawn again silently. --check and --dry-run draw nothing.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("records").required(true).args(["persons", "households"]))]
pub struct Args {
    /// The configuration of SafeTab-P or SafeTab-H: budgets, thresholds, what is run
    #[arg(long, value_name = "config.json")]
    config: PathBuf,
    /// The folder of the four files of races, ethnicities and iterations
    #[arg(long, value_name = "DIR")]
    spec: PathBuf,
    /// A file of person records, or a folder of such: text (*.txt, *.csv) or Parquet (*.parquet)
    #[arg(long, value_name = "FILE|DIR")]
    persons: Option<PathBuf>,
    /// A file of household records, or a folder of such
    #[arg(long, value_name = "FILE|DIR", requires = "totals")]
    households: Option<PathBuf>,
    /// For households: the published totals t1 of SafeTab-P, a file or a folder of such
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "persons")]
    totals: Option<PathBuf>,
    /// Take the totals as they are: groups of regions that the geography does not have are noise alone, and states may be
    /// without totals
    #[arg(long, requires = "totals")]
    totals_as_given: bool,
    /// The blocks and their regions
    #[arg(long, value_name = "GRF-C.txt")]
    geography: PathBuf,
    /// The folder of the release: a new one
    #[arg(long, value_name = "DIR", required_unless_present_any = ["check", "dry_run"])]
    out: Option<PathBuf>,
    /// Only check all inputs, to the last record
    #[arg(long, conflicts_with_all = ["dry_run", "out", "resume", "discard", "insecure_seed"])]
    check: bool,
    /// Only say what a run would spend and on which groups, from the public inputs
    #[arg(long, conflicts_with_all = ["out", "resume", "discard", "insecure_seed"])]
    dry_run: bool,
    /// The delta of the certificate, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    /// For tests only: noise that follows from a number; whoever knows the number can subtract it
    #[arg(long, value_name = "S")]
    insecure_seed: Option<u64>,
    /// Complete a draw that was begun, with the same noise, for the same inputs
    #[arg(long, conflicts_with = "discard")]
    resume: bool,
    /// Give up the draws that were begun here, count their budgets as spent, and draw afresh
    #[arg(long)]
    discard: bool,
    /// One JSON object: the certificate
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let records = match (&args.persons, &args.households, &args.totals) {
        (Some(persons), None, None) => Records::Persons(persons.clone()),
        (None, Some(records), Some(totals)) => Records::Households {
            records: records.clone(),
            totals: totals.clone(),
            check: if args.totals_as_given { TotalsCheck::AsGiven } else { TotalsCheck::SameVintage },
        },
        _ => bail!("give --persons, or --households with --totals"),
    };
    let job = Job {
        config: args.config.clone(),
        specification: args.spec.clone(),
        records,
        geography: args.geography.clone(),
        out: args.out.clone().unwrap_or_default(),
        delta,
        insecure_seed: args.insecure_seed,
        unfinished: match (args.resume, args.discard) {
            (true, _) => UnfinishedDraw::Resume,
            (_, true) => UnfinishedDraw::Discard,
            _ => UnfinishedDraw::Refuse,
        },
    };
    match (args.check, args.dry_run) {
        (true, _) => check(&job, args.json)?,
        (_, true) => dry_run(&job, args.json)?,
        _ => release(&job, args.json)?,
    }
    Ok(Exit::Done)
}

/// Checks all inputs.
fn check(job: &Job, json: bool) -> Result<()> {
    let records = job.check(&mut |_| {})?;
    match json {
        true => output::json(&json!({ "status": "no rule is broken", "records": records })),
        false => output::text(&format!("No rule is broken in {records} records (their number is confidential).\n")),
    }
}

/// Says what a run would spend.
fn dry_run(job: &Job, json: bool) -> Result<()> {
    let DryRun { account, page } = job.dry_run()?;
    match json {
        true => output::json(&account),
        false => output::text(&page),
    }
}

#[cfg(not(feature = "tabulate"))]
fn release(_: &Job, _: bool) -> Result<()> {
    bail!(
        "this build has no query engine, so it can only --check and --dry-run: build it with `cargo build --release \
         --features tabulate` (Rust 1.94 or newer)"
    )
}

#[cfg(feature = "tabulate")]
fn release(job: &Job, json: bool) -> Result<()> {
    use dp_assay::safetab::tabulate::Outcome;

    let mut bar = bar::Bar::new();
    let outcome = job.run(&mut |progress| bar.show(progress));
    bar.clear();
    let out = job.out.display();
    let outcome = match outcome {
        Err(error @ dp_assay::Error::Draw { .. }) => bail!(
            "{error}\n--resume repeats a draw that was begun, with the same noise, for the same inputs; --discard counts the \
             budgets of all earlier draws as spent, and draws afresh"
        ),
        other => other?,
    };
    match outcome {
        Outcome::Released { certificate, .. } if json => output::json(&certificate)?,
        Outcome::Released { page, records, .. } => {
            output::text(&format!("{page}\nThe release is in {out}.\n"))?;
            bar.tell(&format!("{records} records were tabulated (confidential: not in the release)"));
        }
        Outcome::WasComplete if json => output::json(&json!({ "out": out.to_string(), "status": "was complete" }))?,
        Outcome::WasComplete => output::text(&format!("The release in {out} was complete; now its log is as well.\n"))?,
    }
    Ok(())
}

#[cfg(feature = "tabulate")]
mod bar {
    //! How far a run is, on standard error where that is a terminal.

    use std::io::{IsTerminal, Write};

    use dp_assay::safetab::tabulate::Progress;
    use indicatif::{ProgressBar, ProgressStyle};

    pub struct Bar {
        bar: ProgressBar,
        stage: &'static str,
    }

    impl Bar {
        pub fn new() -> Self {
            let bar = if std::io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
            Bar { bar, stage: "" }
        }

        pub fn show(&mut self, progress: Progress) {
            if progress.stage != self.stage {
                self.stage = progress.stage;
                let form = match progress.of {
                    0 => "{spinner} {msg} {elapsed}",
                    _ => "{spinner} {msg:18} {wide_bar} {percent:>3} % {elapsed}",
                };
                self.bar.set_style(ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar()));
                self.bar.reset();
                self.bar.set_message(progress.stage);
                self.bar.enable_steady_tick(std::time::Duration::from_millis(200));
            }
            self.bar.set_length(progress.of);
            self.bar.set_position(progress.done);
        }

        pub fn clear(&self) {
            self.bar.finish_and_clear();
        }

        /// A line for whoever sits at the terminal.
        pub fn tell(&self, text: &str) {
            if std::io::stderr().is_terminal() {
                let _ = writeln!(std::io::stderr(), "{text}");
            }
        }
    }
}
