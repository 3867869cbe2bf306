//! `assay tabulate`: SafeTab-P from persons to a release with its certificate.

use std::path::PathBuf;

use anyhow::Result;

use super::Exit;

/// Tabulates persons by detailed race and ethnicity with SafeTab-P, and certifies what the release spends
///
/// Writes a folder with the tables t1 and t2 in the bureau's format and a certificate, whole or not at all. Beside it
/// stays a log of every draw of noise; a draw that was not completed is repeated or discarded, never drawn again silently.
#[derive(clap::Args)]
#[cfg_attr(not(feature = "tabulate"), allow(dead_code))]
pub struct Args {
    /// The configuration: budgets, thresholds, what is run
    #[arg(long, value_name = "config.json")]
    config: PathBuf,
    /// The folder of the four files of races, ethnicities and iterations
    #[arg(long, value_name = "DIR")]
    spec: PathBuf,
    /// A file of person records, or a folder of such: text (*.txt, *.csv) or Parquet (*.parquet)
    #[arg(long, value_name = "FILE|DIR")]
    persons: PathBuf,
    /// The blocks and their regions
    #[arg(long, value_name = "GRF-C.txt")]
    geography: PathBuf,
    /// The folder of the release: a new one
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
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

#[cfg(not(feature = "tabulate"))]
pub fn run(_: &Args) -> Result<Exit> {
    anyhow::bail!(
        "this build has no query engine: build it with `cargo build --release --features tabulate` (Rust 1.94 or newer)"
    )
}

#[cfg(feature = "tabulate")]
pub fn run(args: &Args) -> Result<Exit> {
    use dp_assay::{
        account::Delta,
        safetab::tabulate::{Job, Outcome, release_folder::UnfinishedDraw},
    };
    use serde_json::json;

    use super::{output, quantity};

    let delta: Delta = quantity("--delta", &args.delta)?;
    let job = Job {
        config: args.config.clone(),
        specification: args.spec.clone(),
        persons: args.persons.clone(),
        geography: args.geography.clone(),
        out: args.out.clone(),
        delta,
        insecure_seed: args.insecure_seed,
        unfinished: match (args.resume, args.discard) {
            (true, _) => UnfinishedDraw::Resume,
            (_, true) => UnfinishedDraw::Discard,
            _ => UnfinishedDraw::Refuse,
        },
    };
    let mut bar = bar::Bar::new();
    let outcome = job.run(&mut |progress| bar.show(progress));
    bar.clear();
    let out = args.out.display();
    let outcome = match outcome {
        Err(error @ dp_assay::Error::Draw { .. }) => anyhow::bail!(
            "{error}\n--resume repeats a draw that was begun, with the same noise, for the same inputs; --discard counts the \
             budgets of all earlier draws as spent, and draws afresh"
        ),
        other => other?,
    };
    match outcome {
        Outcome::Released { certificate, .. } if args.json => output::json(&certificate)?,
        Outcome::Released { page, records, .. } => {
            output::text(&format!("{page}\nThe release is in {out}.\n"))?;
            bar.tell(&format!("{records} records were tabulated (confidential: not in the release)"));
        }
        Outcome::WasComplete if args.json => {
            output::json(&json!({ "out": out.to_string(), "status": "was complete" }))?
        }
        Outcome::WasComplete => output::text(&format!("The release in {out} was complete; now its log is as well.\n"))?,
    }
    Ok(Exit::Done)
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
