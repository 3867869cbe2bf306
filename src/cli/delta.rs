//! `assay delta`: the exact delta at an epsilon.

use anyhow::{Context, Result};
use dp_assay::account::{
    conversions::{self, GaussianProfile},
    profile::check_epsilon,
};
use serde_json::json;

use super::{
    Answer, number,
    output::{self, exact, exact_text},
    subject::{Format, Subject},
};

/// The exact delta at an epsilon
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The epsilon at which delta is asked for, in nats, at least 0
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: String,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Answer> {
    let epsilon = number("--epsilon", &args.epsilon)?;
    check_epsilon(&epsilon).context("--epsilon")?;
    let subject = args.subject.resolve()?;
    let (total, digits) = (&subject.total, args.format.digits);
    let worst = subject.delta(&epsilon, digits)?;
    let (exact_delta, pair) = (worst.value, worst.pair);
    let zcdp = conversions::zcdp_delta(total.rho(), &epsilon, digits);
    let gdp = GaussianProfile::new(total.rho().clone()).delta(&epsilon, digits);
    if args.format.json {
        output::json(&json!({
            "delta": exact_delta.value.to_json(),
            "epsilon": exact(&epsilon),
            "rho": exact(total.rho()),
            "rho_exact": total.rho().to_string(),
            "zcdp_delta": zcdp.to_json(),
            "gdp_delta": gdp.to_json(),
            "neighbors": subject.neighbors.name(),
            "status": output::status(exact_delta.met),
            "worst_pair": pair,
        }))?;
        return Ok(Answer::Done);
    }
    let (lower, upper) = output::ends(&exact_delta.value);
    output::text(&format!(
        "{}\n{} neighbors, epsilon = {}\n\n",
        subject.title,
        subject.neighbors.name(),
        exact_text(&epsilon)
    ))?;
    output::table(
        &["", "delta", ""],
        &[
            vec!["exact, at least".into(), lower, String::new()],
            vec!["exact, at most".into(), upper, String::new()],
            vec!["zCDP (Bun-Steinke)".into(), zcdp.shown(6), "a bound".into()],
            vec!["continuous Gaussian of the same rho".into(), gdp.shown(6), "an approximation".into()],
        ],
    )?;
    if let Some(pair) = pair {
        output::text(&format!("\nThe exact delta is that of {pair}.\n"))?;
    }
    Ok(Answer::Done)
}
