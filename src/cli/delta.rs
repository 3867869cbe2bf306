//! `assay delta`: the exact delta at an epsilon.

use anyhow::Result;
use dp_assay::account::{
    Account, Epsilon,
    compared::{GaussianNoise, gaussian_noise},
    conversions::GaussianProfile,
};
use serde_json::json;

use super::{
    arguments::quantity,
    exit::Exit,
    output::{self, exact, exact_text},
    subject::{self, Format, Subject},
};

/// The exact delta at an epsilon
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The epsilon at which delta is computed, in nats, at least 0
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: String,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Exit> {
    let epsilon: Epsilon = quantity("--epsilon", &args.epsilon)?;
    let subject = args.subject.resolve()?;
    let (total, digits) = (&subject.total, args.format.digits);
    let evaluator = subject.whole.evaluator();
    let exact_delta = subject.whole.delta_by(&evaluator, &epsilon, digits)?;
    let pair = subject.deciding_pair(&exact_delta);
    let second = subject.whole.second_delta(&evaluator, &epsilon, exact_delta.pair())?;
    let directions = subject.whole.delta_of_directions(&epsilon, digits)?;
    let zcdp = total.zcdp_delta(&epsilon, digits);
    let noise = gaussian_noise(&subject.whole)?;
    let gdp = noise.map(|_| GaussianProfile::new(total.rho().clone()).delta(&epsilon, digits));
    let mut page = args.format.page();
    let mut object = json!({
        "delta": exact_delta.value.to_json(),
        "epsilon": exact(&epsilon),
        "rho": exact(total.rho()),
        "rho_exact": output::rho_exact(total.rho(), subject.whole.has_exact_rho()),
        "zcdp_delta": zcdp.to_json(),
        "gdp_delta": output::enclosure(gdp.as_ref()),
        "status": exact_delta.status(),
        "second_enclosure": output::second_json(&second),
        "worst_pair": pair,
    });
    subject::put_infinite_loss(&mut object, subject.whole.infinite_loss().as_ref(), digits);
    subject::put_directions(&mut object, directions.as_ref());
    subject::put_relation(&mut object, &subject);
    page.answer(object);
    let (lower, upper) = output::ends(&exact_delta.value);
    page.text(format!(
        "{}\n{} neighbors, epsilon = {}\n\n",
        subject.title,
        subject.neighbors.name(),
        exact_text(&epsilon)
    ));
    let about = if noise == Some(GaussianNoise::Continuous) { "the same law" } else { "an approximation" };
    let gdp = gdp.map(|gdp| vec!["continuous Gaussian of the same rho".into(), gdp.shown(6), about.into()]);
    let of = if subject.may_be_more_private().is_some() { "account" } else { "exact" };
    let rows = vec![
        vec![format!("{of}, at least"), lower, String::new()],
        vec![format!("{of}, at most"), upper, String::new()],
        vec!["zCDP (Bun-Steinke)".into(), zcdp.shown(6), "a bound".into()],
    ];
    page.table(&["", "delta", ""], rows.into_iter().chain(gdp).collect());
    page.lines(&subject::law_notes(&subject));
    if let Some(pair) = pair {
        page.text(format!("\nThis delta is that of {pair}.\n"));
    }
    page.note(subject.note());
    page.note(subject::more_private_note(&subject));
    page.say_wider([("the exact delta", &exact_delta)]);
    page.done()
}
