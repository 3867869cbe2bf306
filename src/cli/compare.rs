//! `assay compare`: every accountant side by side.

use anyhow::Result;
use dp_assay::{
    account::{
        Account, Delta,
        conversions::{self, GaussianProfile},
    },
    numeric::Enclosure,
};
use serde_json::json;

use super::{
    Exit,
    output::{self, enclosure, exact_text},
    quantity,
    subject::{Format, Subject},
};

/// Every accountant side by side: exact, zCDP, RDP, GDP, pure DP
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

/// An accountant's answer; `None` if it is infinite.
struct Row {
    name: &'static str,
    epsilon: Option<Enclosure>,
    is_bound: bool,
    note: String,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let subject = args.subject.resolve()?;
    let (total, digits) = (&subject.total, args.format.digits);
    let row = |name, epsilon, is_bound, note: &str| Row { name, epsilon, is_bound, note: note.to_string() };
    let exact = subject.whole.epsilon(&delta, digits)?;
    let exact_epsilon = exact.value.clone();
    let renyi = conversions::renyi_epsilon(total, &delta)?;
    let optimal = conversions::zcdp_epsilon_optimal(total.rho(), &delta)?;
    let order = |order: f64| format!("best order alpha = {order:.4}");
    let rows = [
        row("exact", Some(exact_epsilon.clone()), true, "the privacy profile itself"),
        row("RDP", Some(renyi.epsilon), true, &order(renyi.order)),
        row("zCDP (optimal order)", Some(optimal.epsilon), true, &order(optimal.order)),
        row(
            "zCDP (Bun-Steinke)",
            Some(conversions::zcdp_epsilon(total.rho(), &delta, digits)),
            true,
            "rho + 2 sqrt(rho ln(1/delta)), as the bureau published",
        ),
        row(
            "GDP",
            Some(GaussianProfile::new(total.rho().clone()).epsilon(&delta, digits)?),
            false,
            "continuous noise of the same rho: an approximation for integers",
        ),
        match total.pure_epsilon() {
            Some(epsilon) => {
                row("pure DP", Some(Enclosure::rational(&epsilon, 100)), true, "the largest loss, at delta = 0")
            }
            None => row("pure DP", None, true, "the loss of Gaussian noise is unbounded"),
        },
    ];
    if args.format.json {
        let accountants: Vec<_> = (rows.iter())
            .map(|row| {
                json!({ "name": row.name, "epsilon": enclosure(row.epsilon.as_ref()), "is_bound": row.is_bound, "note": row.note })
            })
            .collect();
        output::json(&json!({
            "delta": output::exact(&delta),
            "rho": output::exact(total.rho()),
            "neighbors": subject.neighbors.name(),
            "accountants": accountants,
            "status": exact.status(),
        }))?;
        return Ok(Exit::Done);
    }
    output::text(&format!(
        "{}\n{} neighbors, delta = {}\n\n",
        subject.title,
        subject.neighbors.name(),
        exact_text(&delta)
    ))?;
    let rows: Vec<Vec<String>> = (rows.iter())
        .map(|row| {
            let over = row.epsilon.as_ref().map_or_else(String::new, |epsilon| {
                let percent = 100.0 * (epsilon.approximate() / exact_epsilon.approximate() - 1.0);
                format!("{percent:+.2} %")
            });
            vec![
                row.name.to_string(),
                row.epsilon.as_ref().map_or_else(|| "infinite".to_string(), |epsilon| epsilon.shown(10)),
                over,
                if row.is_bound { "yes" } else { "no" }.to_string(),
                row.note.clone(),
            ]
        })
        .collect();
    output::table(&["accountant", "epsilon", "over exact", "a bound", "note"], &rows)?;
    output::say_wider([("exact", &exact)])?;
    Ok(Exit::Done)
}
