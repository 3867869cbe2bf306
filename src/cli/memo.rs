//! `assay memo`: what an auditor signs, as a folder.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    memo::{self, Date, Memo},
    release::Release,
};
use serde_json::{Value, json};

use super::{
    arguments::{number, prior, quantity},
    exit::Exit,
    invocation,
    output::{self, count_of},
    page::{Form, Page},
    progress,
    risk_goal::Of,
    subject::{self, Subject},
};

/// A folder for an auditor to sign: a statement in words, its certificates and how to check them
///
/// Of a release or a mechanism, of the published values of a paper or a file (--verify), or of a ledger. The folder has memo.html, which prints well, memo.md with the same
/// text, the certificates, the checkers (check.html, check.py), copies of the inputs, and SHA256SUMS, whose hash stands above the signature. It is written completely or not at all. The same
/// input gives the same bytes apart from the date.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The published values of a paper, or of a file of the same form, recomputed and judged; exit status 1 if one differs without an explanation
    #[arg(long, value_name = "PAPER|FILE", conflicts_with_all = subject::ids())]
    verify: Option<String>,
    /// Several releases about the same people: a bundled ledger or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "verify", conflicts_with_all = subject::ids())]
    ledger: Option<String>,
    /// The delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true, conflicts_with = "verify")]
    delta: String,
    /// Also state the largest probability of a correct decision with this prior probability of presence (of either answer under bounded neighbors), and the largest
    /// posterior probability after events of at least probability DELTA, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true, conflicts_with_all = ["verify", "ledger"])]
    prior: Option<String>,
    /// With --prior: posteriors after events; or the posterior that outputs exceed with at most probability DELTA, which also holds for all that is computed from them
    #[arg(long, value_enum, default_value_t = Of::Events, requires = "prior", conflicts_with_all = ["verify", "ledger"])]
    of: Of,
    /// Also state the largest power of tests with this type I error, 0 < ALPHA < 1
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true, conflicts_with_all = ["verify", "ledger"])]
    alpha: Option<String>,
    /// The date of the memo [default: today, in universal time]
    #[arg(long, value_name = "YYYY-MM-DD", allow_hyphen_values = true)]
    date: Option<String>,
    /// The folder to write; one that holds files is refused
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Both ends of every number within a relative distance of 10^-D; a check of more digits takes longer
    #[arg(long, value_name = "D", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=100))]
    digits: u32,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let date = match &args.date {
        Some(text) => text.parse::<Date>().context("--date")?,
        None => Date::today(),
    };
    dp_assay::memo::check_folder(&args.out).context("--out")?;
    let prior = args.prior.as_deref().map(prior).transpose()?;
    let alpha = args.alpha.as_deref().map(|text| number("--alpha", text)).transpose()?;
    if alpha.as_ref().is_some_and(|alpha| *alpha <= 0 || *alpha >= 1) {
        bail!("--alpha {}: expected a type I error above 0 and below 1", args.alpha.as_deref().unwrap_or_default());
    }
    let provenance = invocation::provenance()?;
    let request = memo::Request {
        delta: quantity("--delta", &args.delta)?,
        digits: args.digits,
        prior,
        of_outputs: args.of == Of::Outputs,
        alpha,
        date,
        command: without(&provenance.command_line, &["--out", "--date"]),
        inputs: provenance.inputs,
    };
    progress::stage("numbers and certificates of the memo");
    let memo = args.memo(&request)?;
    memo.write(&args.out).context("--out")?;
    if args.json {
        output::json(&args.object(&memo, &request))?;
    } else {
        let mut page = Page::new(Form::Table);
        page.text(args.words(&memo));
        page.print()?;
    }
    Ok(if memo.agrees { Exit::Done } else { Exit::No })
}

impl Args {
    fn memo(&self, request: &memo::Request) -> Result<Memo> {
        if let Some(name) = &self.verify {
            return memo::of_published(name, request).context("--verify");
        }
        if let Some(name) = &self.ledger {
            return memo::of_ledger(name, request).context("--ledger");
        }
        let name = self.subject.release_name();
        let text = name.map(Release::text).transpose().context("--release")?;
        let subject = self.subject.resolve()?;
        let files = self.subject.files()?;
        Ok(memo::of_release(&subject, name.zip(text.as_deref()), &files, request)?)
    }

    fn object(&self, memo: &Memo, request: &memo::Request) -> Value {
        let file = |file: &memo::File| json!({ "name": file.name, "sha256": file.sha256(), "content": file.about });
        let reason = |(number, reason): &(String, String)| json!({ "number": number, "reason": reason });
        json!({
            "title": memo.document.title,
            "date": request.date.to_string(),
            "statement": memo.statement,
            "certificates": memo.certificates().count(),
            "without_certificate": memo.without_certificate.iter().map(reason).collect::<Value>(),
            "agrees": memo.agrees,
            "out": self.out.display().to_string(),
            "files": memo.all_files().iter().map(file).collect::<Value>(),
        })
    }

    fn words(&self, memo: &Memo) -> String {
        let mut text = format!("{}\n\n", memo.document.title);
        for sentence in &memo.statement {
            text += &format!("{sentence}\n");
        }
        let (certificates, without) = (memo.certificates().count() as u64, memo.without_certificate.len() as u64);
        text +=
            &format!("\nWritten to {}: {}", dp_assay::error::shown(&self.out), count_of(certificates, "certificate"));
        if without > 0 {
            text += &format!("; {} without one, with the reason", count_of(without, "number"));
        }
        text + ". memo.html is the page to print and sign; SHA256SUMS has the hashes.\n"
    }
}

/// A command line without these options, each of which has a value.
fn without(words: &[String], options: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut is_value = false;
    for word in words {
        if std::mem::take(&mut is_value) {
            continue;
        }
        is_value = options.contains(&word.as_str());
        let is_joined =
            options.iter().any(|option| word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')));
        if !is_value && !is_joined && word != "--json" {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn a_command_is_recorded_without_the_options_that_change_no_number() {
        let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
        let of = |line: &str| without(&words(line), &["--out", "--date"]).join(" ");
        let plain = "assay memo --release r --delta 1e-9";
        assert_eq!(of("assay memo --release r --out a --delta 1e-9 --date=2026-01-01 --json"), plain);
        assert_eq!(of("assay memo --date 2026-01-01 --release r --delta 1e-9 --out=b"), plain);
        assert_eq!(of("assay memo --release --outer --delta 1e-9"), "assay memo --release --outer --delta 1e-9");
    }
}
