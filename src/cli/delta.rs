//! `assay delta`: the exact delta at an epsilon.

use anyhow::Result;
use dp_assay::{
    account::{
        Account, DecidingRows, Epsilon,
        compared::{GaussianNoise, gaussian_noise},
        conversions::GaussianProfile,
    },
    document::fields::Fields,
};

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
    let rows = subject.whole.deciding_rows(&epsilon)?;
    let pair = subject.deciding_pair(&exact_delta).or_else(|| rows.as_ref().and_then(DecidingRows::in_words));
    let second = subject.whole.second_delta(&evaluator, &epsilon, exact_delta.pair())?;
    let directions = subject.whole.delta_of_directions(&epsilon, digits)?;
    let zcdp = total.zcdp_delta(&epsilon, digits);
    let noise = gaussian_noise(&subject.whole)?;
    let gdp = noise.map(|_| GaussianProfile::new(total.rho().clone()).delta(&epsilon, digits));
    let mut page = args.format.page();
    let answer = Fields::new()
        .with("delta", &exact_delta.value)
        .with("epsilon", exact(&epsilon))
        .with("rho", exact(total.rho()))
        .with("rho_exact", output::rho_exact(total.rho(), subject.whole.has_exact_rho()))
        .with("zcdp_delta", &zcdp)
        .with("gdp_delta", &gdp)
        .with("status", exact_delta.status())
        .with("second_enclosure", output::second_json(&second))
        .with("worst_pair", &pair)
        .with_some("deciding_rows", rows.as_ref().map(output::rows_json))
        .and(subject::of_infinite_loss(subject.whole.infinite_loss(), digits))
        .and(subject::of_directions(directions.as_ref()));
    page.answer(answer.and(subject::of_relation(&subject)));
    let (lower, upper) = output::ends(&exact_delta.value);
    page.text(subject::heading(&subject, &format!(", epsilon = {}", exact_text(&epsilon))));
    let about = if noise == Some(GaussianNoise::Continuous) { "the same law" } else { "an approximation" };
    let gdp = gdp.map(|gdp| vec!["continuous Gaussian of the same rho".into(), gdp.shown(6), about.into()]);
    let of = if subject.may_be_more_private().is_some() { "account" } else { "exact" };
    let rows = vec![
        vec![format!("{of}, at least"), lower, String::new()],
        vec![format!("{of}, at most"), upper, String::new()],
        vec!["zCDP (Bun-Steinke)".into(), zcdp.shown(6), "a bound".into()],
    ];
    page.table(&["", "delta", ""], rows.into_iter().chain(gdp));
    page.lines(&subject::law_notes(&subject));
    if let Some(pair) = pair {
        page.text(format!("\nThis delta is that of {pair}.\n"));
    }
    page.note(subject.note());
    page.note(subject::more_private_note(&subject));
    page.say_wider([("the exact delta", &exact_delta)]);
    page.done()
}
