//! `assay prove`: a certificate of epsilon or delta, which another program checks.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    certificate::{Certificate, FormalClaim, Hints, Kernel, Question},
    numeric::rational,
};
use serde_json::{Value, json};

use super::{
    Exit,
    output::{self, exact, exact_text},
    quantity,
    subject::Subject,
};

/// A certificate of epsilon at a delta, or of delta at an epsilon, which proofs/check.py proves again
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("question").required(true).args(["delta", "epsilon"]))]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is certified, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Option<String>,
    /// The epsilon at which delta is certified, in nats, at least 0
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The certificate, a file of JSON; one that is there is replaced
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The upper end as a theorem for Rocq too, a file that proofs/rocq/check compiles; one that is there is replaced
    #[arg(long, value_name = "FILE.v")]
    rocq: Option<PathBuf>,
    /// Both ends of the claim within a relative distance of 10^-D; a check of more digits takes longer
    #[arg(long, value_name = "D", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=100))]
    digits: u32,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let question = match (&args.delta, &args.epsilon) {
        (Some(delta), _) => Question::Epsilon { delta: quantity("--delta", delta)? },
        (None, epsilon) => Question::Delta { epsilon: quantity("--epsilon", epsilon.as_deref().unwrap_or_default())? },
    };
    let subject = args.subject.resolve()?;
    let certificate = Certificate::prove(&subject, &question, args.digits)?;
    let formal = args.rocq.as_deref().map(|path| formal_claim(&certificate, path)).transpose()?;
    certificate.write(&args.out)?;
    if let (Some(formal), Some(path)) = (&formal, &args.rocq) {
        formal.write(path)?;
    }
    let claim = &certificate.claim;
    let (what, given, at) = match &claim.question {
        Question::Epsilon { delta } => ("epsilon", "delta", &**delta),
        Question::Delta { epsilon } => ("delta", "epsilon", &**epsilon),
    };
    let (lower, upper) = (rational::display(&claim.ends.lower), rational::display(&claim.ends.upper));
    if args.json {
        output::json(&json!({
            what: { "lower": exact(&claim.ends.lower), "upper": exact(&claim.ends.upper) },
            given: exact(at),
            "neighbors": claim.neighbors.name(),
            "units": claim.units().len(),
            "file": args.out,
            "rocq": formal.as_ref().map(|formal| json!({
                "file": args.rocq,
                "epsilon": exact(&formal.epsilon),
                "delta": exact(&formal.delta),
            })),
            "proofs": {
                "lower": certificate.lower.as_ref().map(in_json),
                "upper": in_json(&certificate.upper),
            },
        }))?;
        return Ok(Exit::Done);
    }
    let units = match claim.units().len() {
        1 => String::new(),
        many => format!(", the worst of {many} {}", if claim.pairs { "pairs of block paths" } else { "block paths" }),
    };
    let lower_proof = certificate.lower.as_ref().map_or_else(|| "nothing to prove".to_string(), in_words);
    let theorem = match (&formal, &args.rocq) {
        (Some(formal), Some(path)) => format!(
            "
The theorem {} is in {file}. To check it: proofs/rocq/check {file}
",
            formal.in_words(),
            file = path.display()
        ),
        _ => String::new(),
    };
    output::text(&format!(
        "{title}
{neighbors} neighbors, {given} = {at}{units}

  {what} >= {lower}
    {lower_proof}
  {what} <= {upper}
    {upper_proof}

Written to {file}. To prove it again: python3 proofs/check.py {file}
{theorem}",
        title = claim.subject,
        neighbors = claim.neighbors.name(),
        at = exact_text(at),
        upper_proof = in_words(&certificate.upper),
        file = args.out.display(),
    ))?;
    Ok(Exit::Done)
}

/// The claim of the Rocq file, whose name has to be that of a module.
fn formal_claim(certificate: &Certificate, path: &Path) -> Result<FormalClaim> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let letters = stem.starts_with(|c: char| c.is_ascii_alphabetic())
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !letters || path.extension().is_none_or(|extension| extension != "v") {
        bail!(
            "--rocq {}: the file's name becomes that of a module: it has to begin with a letter, have letters, digits and _ only, and end in .v",
            path.display()
        );
    }
    FormalClaim::new(&certificate.claim).context("--rocq")
}

/// What a checker has to do.
fn in_words(hints: &Hints) -> String {
    let (nodes, c, bits) = (hints.nodes(), hints.contour.to_f64(), hints.bits);
    match &hints.kernel {
        Kernel::Lattice { nodes: period } => {
            format!("{nodes} nodes to evaluate of {period} in the period of the lattice, at Re s = {c}, {bits} bits")
        }
        Kernel::Line { last, .. } => {
            format!("{nodes} nodes to evaluate of {last} on the line, and a bound beyond, at Re s = {c}, {bits} bits")
        }
    }
}

fn in_json(hints: &Hints) -> Value {
    let (period_nodes, last) = match &hints.kernel {
        Kernel::Lattice { nodes } => (Some(*nodes), None),
        Kernel::Line { last, .. } => (None, Some(*last)),
    };
    json!({
        "contour": hints.contour.to_f64(),
        "period_nodes": period_nodes,
        "last_node": last,
        "evaluated_nodes": hints.nodes(),
        "cut": hints.cut,
        "bits": hints.bits,
    })
}
