//! `assay risk hierarchical`: counts of the higher levels and of the other groups.

use anyhow::{Context, Result, anyhow, bail};
use dp_assay::{
    chart::{
        Figure, outputs,
        ranks::{self, Ranks},
    },
    numeric::{Enclosure, rational},
    risk::{
        hierarchical::{Hierarchy, Upper},
        others::error_of_one_gaussian,
        single::Attack,
    },
};
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    drawn::Drawn,
    exit::Exit,
    output::{self, ends, exact},
    subject::Format,
};
use super::common::{count, counts, numbers, prior, row};

/// The additional information in counts of higher levels and of other groups: the exact joint posterior
///
/// X1 is the count of the target's group, X2 = X1 + Y1 that of the higher group, Y1 the sum over the D other groups. For more
/// levels give RHO3, D2 and then X3, Y2 after X1,X2,Y1, and so on.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("counts").required(true).args(["noisy", "truth"]))]
pub struct Args {
    /// The rho of each level, lowest first
    #[arg(long, value_name = "RHO1,RHO2[,...]", allow_hyphen_values = true)]
    rho: String,
    /// The number of other groups besides the target's
    #[arg(long, value_name = "D[,...]", allow_hyphen_values = true)]
    others: String,
    /// The prior probability that the target counts, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    prior: String,
    /// The released counts: the posterior after them
    #[arg(long, value_name = "X1,X2,Y1", allow_hyphen_values = true)]
    noisy: Option<String>,
    /// The true counts: the probability of a correct decision over all outputs
    #[arg(long, value_name = "X1,X2,Y1", allow_hyphen_values = true)]
    truth: Option<String>,
    /// The adversary's prior of X2, given that it is at least X1: uniform, upto:K or point:K
    #[arg(long, value_name = "PRIOR", default_value = UNIFORM)]
    prior_x2: String,
    /// The count of the target's group without the target
    #[arg(long, value_name = "M", default_value = "0", allow_hyphen_values = true)]
    known: String,
    /// Take one discrete Gaussian for the noise of the sum over the other groups, as (3.7) of the paper does
    #[arg(long)]
    one_gaussian: bool,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

/// The default prior.
const UNIFORM: &str = "uniform";

pub fn run(args: &Args) -> Result<Exit> {
    let prior = prior(&args.prior)?;
    let rhos = numbers("--rho", &args.rho)?;
    let others: Vec<u64> = (counts("--others", &args.others)?.into_iter())
        .map(|d| u64::try_from(d).map_err(|_| anyhow!("--others: {d} is out of range: 0 or more other groups")))
        .collect::<Result<_>>()?;
    if rhos.len() < 2 {
        bail!("--rho: {} is the rho of one level: give those of two or more, as in 0.099,0.246", args.rho);
    }
    let mut attack = Hierarchy::new(prior.clone(), rhos.clone(), others.clone(), upper(&args.prior_x2)?)
        .context(if args.prior_x2 == UNIFORM { "--rho, --others" } else { "--rho, --others, --prior-x2" })?
        .with_known(count("--known", &args.known)?)
        .context("--known")?;
    if args.one_gaussian {
        attack = attack.with_one_gaussian()?;
    }
    let base = json!({
        "rho": rhos.iter().map(exact).collect::<Value>(),
        "others": if others.len() == 1 { json!(others[0]) } else { json!(others) },
        "prior": exact(&prior),
        "prior_exact": prior.to_string(),
        "prior_x2": args.prior_x2,
        "known": attack.known(),
    });
    let shown: Vec<String> = rhos.iter().map(|rho| Enclosure::rational(rho, 64).shown(6)).collect();
    let shown_others: Vec<String> = others.iter().map(ToString::to_string).collect();
    let title = format!(
        "rho = {}, {} other groups, prior = {}, prior of X2 {}\n\n",
        shown.join(", "),
        shown_others.join(", "),
        rational::display(&prior),
        args.prior_x2
    );
    match (&args.noisy, &args.truth) {
        (Some(noisy), _) => posterior(args, &attack, &counts("--noisy", noisy)?, base, &title),
        (None, Some(truth)) => {
            decision(args, &attack, &counts("--truth", truth)?, &rhos, &others, &prior, base, &title)
        }
        (None, None) => bail!("give --noisy X1,X2,Y1 or --truth X1,X2,Y1"),
    }
}

fn upper(text: &str) -> Result<Upper> {
    let wrong = || format!("--prior-x2 {text:?}: expected uniform, upto:K or point:K with a count K");
    match text.split_once(':') {
        None if text == UNIFORM => Ok(Upper::Uniform),
        Some(("upto", most)) => Ok(Upper::UpTo(count("--prior-x2", most).with_context(wrong)?)),
        Some(("point", point)) => Ok(Upper::Point(count("--prior-x2", point).with_context(wrong)?)),
        _ => bail!(wrong()),
    }
}

/// X1, X2, Y1, X3, Y2, ... as the counts of the levels and the sums over the others.
fn levels(name: &str, values: &[i64], levels: usize) -> Result<(Vec<i64>, Vec<i64>)> {
    if values.len() != 2 * levels - 1 {
        let expected =
            if levels == 2 { "X1,X2,Y1".to_string() } else { format!("X1,X2,Y1,...: {} counts", 2 * levels - 1) };
        bail!("{name}: {} counts were given for {levels} levels: expected {expected}", values.len());
    }
    let own = std::iter::once(values[0]).chain(values[1..].iter().step_by(2).copied()).collect();
    Ok((own, values[2..].iter().step_by(2).copied().collect()))
}

fn posterior(args: &Args, attack: &Hierarchy, noisy: &[i64], mut object: Value, title: &str) -> Result<Exit> {
    let digits = args.format.digits;
    let (own, others) = levels("--noisy", noisy, attack.levels())?;
    let posterior = attack.posterior(&own, &others, digits).context("--noisy")?;
    let mut page = args.drawn.page(&args.format)?;
    object["noisy"] = json!(noisy);
    object["posterior"] = posterior.present.to_json();
    object["x2"] = (posterior.upper.iter())
        .map(|(value, probability)| json!({ "value": value, "probability": probability.to_json() }))
        .collect();
    object["joint"] = (posterior.joint.iter())
        .map(|(x1, x2, probability)| json!({ "x1": x1, "x2": x2, "probability": probability.to_json() }))
        .collect();
    object["status"] = json!(output::status(posterior.met));
    page.object(object);
    page.records((posterior.upper.iter()).map(|(value, probability)| {
        let (lower, upper) = ends(probability);
        json!({ "x2": value, "probability_lower": lower, "probability_upper": upper })
    }));
    page.text(title);
    let mut rows = vec![row("posterior probability that the target counts", &posterior.present, digits)];
    let visible = posterior.upper.iter().filter(|(_, probability)| *probability.upper() > 1e-6);
    rows.extend(visible.map(|(value, probability)| {
        row(&format!("posterior probability of X2 = {value}"), probability, digits.min(8))
    }));
    page.table(&["", "probability"], rows);
    if !posterior.met {
        page.text("\nThe enclosures are below the requested precision: the output is too improbable.\n");
    }
    let points = || posterior.upper.iter().map(|(value, share)| (*value as f64, share.approximate())).collect();
    args.drawn.write(|| outputs::masses(title.trim(), "X2", vec![("posterior probability of X2", points())]))?;
    page.done()
}

#[allow(clippy::too_many_arguments)]
fn decision(
    args: &Args,
    attack: &Hierarchy,
    truth: &[i64],
    rhos: &[Rational],
    others: &[u64],
    prior: &Rational,
    mut object: Value,
    title: &str,
) -> Result<Exit> {
    let digits = args.format.digits;
    let (own, beside) = levels("--truth", truth, attack.levels())?;
    for (k, (pair, y)) in own.windows(2).zip(&beside).enumerate() {
        if pair[0].checked_add(*y) != Some(pair[1]) {
            let (i, j) = (k + 1, k + 2);
            bail!("--truth: X{i} + Y{i} must be X{j}, and {} + {y} is not {}", pair[0], pair[1]);
        }
    }
    let decision = attack.correct_decision_at(&own, digits).context("--truth")?;
    let x1 = own[0];
    let alone = Attack::new(prior.clone(), vec![rhos[0].clone()])?;
    let present = attack.known() < x1;
    let alone = if present { alone.correct_decision(digits)? } else { alone.correct_if_absent(digits)? };
    // If that table is too large, the answer has no such row.
    let error = error_of_one_gaussian(&rhos[0], others[0].max(1), 3).ok();
    let mut page = args.drawn.page(&args.format)?;
    object["truth"] = json!(truth);
    object["correct_decision"] = decision.correct.to_json();
    object["gained"] = decision.gained.to_json();
    object["lost"] = decision.lost.to_json();
    object["correct_decision_alone"] = alone.to_json();
    object["one_gaussian_error"] = output::enclosure(error.as_ref());
    object["status"] = json!(output::status(decision.met));
    page.answer(object);
    page.text(title);
    let mut rows = vec![
        row("probability of a correct decision", &decision.correct, digits),
        row("with the lowest level alone", &alone, digits),
        row("wrong decisions corrected by the other counts", &decision.gained, 6),
        row("correct decisions made wrong by them", &decision.lost, 6),
    ];
    rows.extend(error.map(|error| row("total variation of (3.7), one Gaussian for the sum", &error, 3)));
    page.table(&["", "probability"], rows);
    if !decision.met {
        page.text("\nThe enclosure is below the requested precision; --json gives both ends.\n");
    }
    let bars = [
        ("correct, with the counts above", &decision.correct),
        ("correct, with the lowest level alone", &alone),
        ("corrected by the other counts", &decision.gained),
        ("made wrong by them", &decision.lost),
    ];
    args.drawn.write(|| bars_of(title, &bars))?;
    page.done()
}

/// Probabilities as bars, drawn from approximations.
fn bars_of(title: &str, bars: &[(&str, &Enclosure)]) -> Figure {
    let ranks = Ranks {
        title: String::new(),
        label: "probability".to_string(),
        names: bars.iter().map(|(name, _)| name.to_string()).collect(),
        series: vec![("exact".to_string(), bars.iter().map(|(_, value)| Some(value.approximate())).collect())],
    };
    ranks::figure(title.trim(), &[ranks])
}
