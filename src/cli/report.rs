//! `assay report`: the answers that a policymaker asks for, as one page of HTML.

mod answers;
mod charts;
mod document;
mod words;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use self::answers::{Answers, Asked, Line, reduction};
use super::{
    Exit, invocation, number,
    output::{self, exact, named},
    quantity,
    subject::{Format, Subject},
};

/// One page of HTML to mail or print: how private, what an adversary learns, how much noise could be spared
///
/// The page has each answer in words, its chart, what was assumed, and the certified numbers. It loads nothing and needs no script.
/// A file of that name is replaced.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is meant, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    /// What an adversary believes beforehand, 0 < P < 1
    #[arg(long, value_name = "P", default_value = "1/2", allow_hyphen_values = true)]
    prior: String,
    /// The page to write
    #[arg(long, value_name = "FILE.html")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Exit> {
    let prior = number("--prior", &args.prior)?;
    dp_assay::risk::check_prior(&prior).context("--prior")?;
    let asked = Asked { delta: quantity("--delta", &args.delta)?, prior, digits: args.format.digits };
    if args.out.is_dir() {
        bail!("--out: {}: is a folder: give the name of a file", args.out.display());
    }
    let subject = args.subject.resolve()?;
    let provenance = invocation::provenance()?;
    let answers = asked.of(&subject)?;
    let html = document::page(&asked, &subject, &answers, &provenance)?;
    dp_assay::chart::write_page(&args.out, &html).context("--out")?;
    let mut page = args.format.page();
    page.object(object(args, &asked, subject.neighbors.name(), &answers));
    page.records(answers.lines().map(json_of));
    page.provenance(provenance);
    page.text(format!("{}\n\n", subject.title));
    let said = [
        words::how_private(&asked, &answers),
        words::what_is_learned(&asked, subject.neighbors, &answers),
        words::what_could_be_spared(&answers),
    ];
    for sentence in said.concat() {
        page.text(format!("{sentence}\n"));
    }
    page.say_wider(answers.lines().map(|line| (line.name.as_str(), &line.epsilon)));
    page.text(format!("\nwritten to {}\n", args.out.display()));
    page.print()?;
    Ok(Exit::Done)
}

/// The numbers of the page.
fn object(args: &Args, asked: &Asked, neighbors: &str, answers: &Answers) -> Value {
    let mut object = json_of(&answers.total);
    object["delta"] = exact(&asked.delta);
    object["prior"] = exact(&asked.prior);
    object["neighbors"] = json!(neighbors);
    if let Some(pair) = &answers.pair {
        object["worst_pair"] = json!(pair);
    }
    if let Some(factor) = &answers.common_factor {
        object["factor"] = exact(factor);
        object["reduction_percent"] = exact(&reduction(factor));
    }
    output::add_levels(&mut object, answers.levels.iter().map(|line| (line.name.as_str(), json_of(line))));
    object["out"] = json!(args.out.display().to_string());
    object
}

fn json_of(line: &Line) -> Value {
    let bound = &line.bound;
    let mut object = json!({
        "epsilon": line.epsilon.value.to_json(),
        "rho": exact(&line.rho),
        "zcdp_epsilon": line.zcdp.to_json(),
        "method": line.epsilon.method.to_string(),
        "status": line.epsilon.status(),
        "correct_decision_upper": bound.correct.value.to_json(),
        "posterior_upper": bound.posterior.to_json(),
        "advantage": bound.advantage.to_json(),
    });
    if let Some(noise) = &line.noise {
        object["sigma2"] = exact(&noise.sigma2);
        object["calibrated_sigma2"] = exact(&noise.calibrated);
        object["reduction_percent"] = exact(&reduction(&noise.factor));
    }
    named(&line.name, object)
}
