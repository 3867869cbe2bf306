//! `assay explain`: how the number was certified.

use anyhow::{Context, Result};
use dp_assay::{
    account::{Account, Delta},
    loss::answer::ContourProof,
    numeric::rational,
};
use rug::{Float, Rational};
use serde_json::json;

use super::{
    Exit,
    output::{self, bound, ends, exact, exact_text},
    progress, quantity,
    subject::{self, Format, Subject},
};

/// How the number was certified: contour, nodes, precision, each error bound
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let subject = args.subject.resolve()?;
    progress::stage("epsilon of the whole");
    let digits = args.format.digits;
    let epsilon = subject.whole.epsilon(&delta, digits)?;
    let total = &subject.deciding_composition(&epsilon)?;
    let pair = subject.deciding_pair(&epsilon);
    let (lower, upper) = ends(&epsilon.value);
    let loss = total.loss();
    let groups = loss.groups().len();
    let copies: u64 = loss.groups().iter().map(|group| group.copies).sum();
    // The proof of the upper end: delta there is at most the target.
    let at = epsilon.value.upper_rational().context("epsilon has no finite bound")?;
    progress::stage("proof of its upper end, in two ways");
    let evaluator = subject.whole.evaluator();
    let proof = subject.whole.delta_by(&evaluator, &at, digits)?;
    let second = evaluator.second_hockey_stick(&at, proof.pair())?;
    let how = proof.method.contour();
    let step = loss.step();
    let mut page = args.format.page();
    let upper_of = |error: fn(&ContourProof) -> &Float| how.map(|how| output::json_number(&bound(error(how))));
    let mut object = json!({
            "epsilon": epsilon.value.to_json(),
            "delta": exact(&delta),
            "rho": exact(total.rho()),
            "groups": groups,
            "counts": copies,
            "lattice_step": step.map(exact),
            "lattice_step_exact": step.map(ToString::to_string),
            "kernel": how.map(|how| if how.period_nodes.is_some() { "lattice" } else { "line" }),
            "lattice_refused": how.and_then(|how| how.lattice_refused.as_ref()),
            "swept_height": how.map(|how| how.swept_height),
            "delta_at_upper": proof.value.to_json(),
            "second_delta_at_upper": output::second_json(&second),
            "method": proof.method.to_string(),
            "contour": how.map(|how| how.contour),
            "period_nodes": how.and_then(|how| how.period_nodes),
            "evaluated_nodes": how.map(|how| how.evaluated_nodes),
            "side_lobes": how.map(|how| how.side_lobes),
            "bits": how.map(|how| how.bits),
            "alias_error_upper": upper_of(|how| &how.alias_error),
            "truncation_error_upper": upper_of(|how| &how.truncation_error),
            "rounding_error_upper": upper_of(|how| &how.rounding_error),
            "status": epsilon.status(),
            "worst_pair": pair,
    });
    subject::put_relation(&mut object, &subject);
    page.records([object.clone()]);
    page.object(object);
    let lattice = step.map_or_else(
        || "The privacy loss has a density: some noise is continuous.".to_string(),
        |step| format!("The privacy loss lies on a lattice of step h = {} nats.", short(step)),
    );
    let lattice = pair.map_or(lattice.clone(), |pair| format!("{lattice}\n  All at once; that of {pair}."));
    let (delta_lower, delta_upper) = ends(&proof.value);
    let (counts, in_groups) = (output::count_of(copies, "count"), output::count_of(groups as u64, "group"));
    page.text(format!(
        "{title}
{neighbors} neighbors, delta = {delta}

The question
  {counts} in {in_groups} of equal noise, rho = {rho}
  {lattice}

The answer
  epsilon >= {lower}
  epsilon <= {upper}
  because delta(epsilon) is at most {delta} at the upper end, and at least {delta} at the lower.

The proof at the upper end
{proof}  so           {delta_lower} <= delta <= {delta_upper}

A second enclosure of that delta, which shares no code with the first
  {second}
",
        title = subject.title,
        neighbors = subject.neighbors.name(),
        delta = exact_text(&delta),
        rho = short(total.rho()),
        second = output::second_text(&second),
        proof = how.map_or_else(|| format!("  {}\n", proof.method), by_contour),
    ));
    page.lines(&subject.note().map(String::from).into_iter().collect::<Vec<_>>());
    page.say_wider([("epsilon", &epsilon)]);
    page.print()?;
    Ok(Exit::Done)
}

/// The proof by a contour, line by line.
fn by_contour(how: &ContourProof) -> String {
    let kernel = match (how.period_nodes, &how.lattice_refused) {
        (Some(_), _) => "that of the lattice, over one period".to_string(),
        (None, Some(why)) => format!("1 / (s (s + 1)) on the whole line; not the lattice's: {why}"),
        (None, None) => "1 / (s (s + 1)) on the whole line".to_string(),
    };
    let nodes = match how.period_nodes {
        Some(period) => format!("{} evaluated of {period} in the period", how.evaluated_nodes),
        None => format!("{} evaluated; swept up to Im s = {:.3e}", how.evaluated_nodes, how.swept_height),
    };
    format!(
        "  delta(epsilon) = (1 / 2 pi i) integral of M(s) kappa(s) ds along Re s = {contour}, both terms of the profile
  kernel       {kernel}{complement}
  nodes        {nodes}; {lobes} side lobes survived the sieve
  precision    {bits} bits, balls
  aliasing     at most {alias} (what the trapezoid rule adds: never negative)
  truncation   at most {truncation} (the nodes left out, by the sieve)
  rounding     at most {rounding} (the width of the sum itself)
",
        contour = how.contour,
        complement = if how.complement { "; left of the pole at 0, for 1 - delta" } else { "" },
        lobes = how.side_lobes,
        bits = how.bits,
        alias = bound(&how.alias_error),
        truncation = bound(&how.truncation_error),
        rounding = bound(&how.rounding_error),
    )
}

/// An exact number, or its first digits if the fraction is long.
fn short(value: &Rational) -> String {
    let text = rational::display(value);
    if text.len() <= 40 { text } else { format!("{} (a fraction of {} digits)", output::exact_text(value), text.len()) }
}
