//! `assay explain`: how the number was certified.

use anyhow::{Context, Result};
use dp_assay::{account::profile::check_delta, numeric::rational};
use serde_json::json;

use super::{
    Answer, number,
    output::{self, bound, ends, exact, exact_text},
    subject::{Format, Subject},
};

/// How the number was certified: contour, nodes, precision, each error bound
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is asked for, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Answer> {
    let delta = number("--delta", &args.delta)?;
    check_delta(&delta).context("--delta")?;
    let subject = args.subject.resolve()?;
    let (total, digits) = (&subject.total, args.format.digits);
    let epsilon = total.epsilon(&delta, digits)?;
    let (lower, upper) = ends(&epsilon.value);
    let loss = total.loss();
    let groups = loss.groups().len();
    let copies: u64 = loss.groups().iter().map(|group| group.copies).sum();
    // The proof of the upper end: delta there is at most the target.
    let at = epsilon.value.upper().to_rational().unwrap_or_default();
    let proof = total.delta(&at, digits)?;
    let how = &proof.certificate;
    if args.format.json {
        output::json(&json!({
            "epsilon": epsilon.value.to_json(),
            "delta": exact(&delta),
            "rho": exact(total.rho()),
            "groups": groups,
            "counts": copies,
            "lattice_step": exact(loss.step()),
            "lattice_step_exact": loss.step().to_string(),
            "kernel": "lattice",
            "delta_at_upper": proof.value.to_json(),
            "contour": how.contour,
            "period_nodes": how.period_nodes,
            "evaluated_nodes": how.evaluated_nodes,
            "side_lobes": how.side_lobes,
            "bits": how.bits,
            "alias_error_upper": output::json_number(&bound(&how.alias_error)),
            "truncation_error_upper": output::json_number(&bound(&how.truncation_error)),
            "rounding_error_upper": output::json_number(&bound(&how.rounding_error)),
            "status": output::status(epsilon.met),
        }))?;
        return Ok(Answer::Done);
    }
    let (delta_lower, delta_upper) = ends(&proof.value);
    let text = format!(
        "{title}
{neighbors} neighbors, delta = {delta}

The question
  {copies} counts in {groups} groups of equal noise, rho = {rho}
  The privacy loss lies on the lattice rho + h Z with h = {step} nats.

The answer
  epsilon >= {lower}
  epsilon <= {upper}
  because delta(epsilon) is at most {delta} at the upper end, and at least {delta} at the lower.

The proof at the upper end
  delta(epsilon) = (1 / 2 pi i) integral of M(s) kappa(s) ds over one period of Re s = {contour}
  kernel       exact on the lattice, both terms of the profile{complement}
  nodes        {evaluated} evaluated of {period} in the period; {lobes} side lobes survived the sieve
  precision    {bits} bits, balls
  aliasing     at most {alias} (what the trapezoid rule adds: never negative)
  truncation   at most {truncation} (the nodes left out, by the sieve)
  rounding     at most {rounding} (the width of the sum itself)
  so           {delta_lower} <= delta <= {delta_upper}
",
        title = subject.title,
        neighbors = subject.neighbors.name(),
        delta = exact_text(&delta),
        rho = rational::display(total.rho()),
        step = rational::display(loss.step()),
        contour = how.contour,
        complement = if how.complement { "; left of the pole at 0, for one minus delta" } else { "" },
        evaluated = how.evaluated_nodes,
        period = how.period_nodes,
        lobes = how.side_lobes,
        bits = how.bits,
        alias = bound(&how.alias_error),
        truncation = bound(&how.truncation_error),
        rounding = bound(&how.rounding_error),
    );
    output::text(&text)?;
    Ok(Answer::Done)
}
