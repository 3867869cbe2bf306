//! `assay risk hierarchical`: counts of the higher levels and of the other groups.

use anyhow::{Context, Result, anyhow, bail};
use dp_assay::{
    chart::{
        Figure, outputs,
        ranks::{self, Ranks},
    },
    document::fields::Fields,
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
    arguments::prior,
    drawn::Drawn,
    exit::Exit,
    output::{self, ends, exact},
    subject::Format,
};
use super::common::{alone_or_all, count, counts, numbers, proven, shown};

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
    let base = Fields::new()
        .with("rho", rhos.iter().map(exact).collect::<Value>())
        .with("others", alone_or_all(&others))
        .with("prior", exact(&prior))
        .with("prior_exact", prior.to_string())
        .with("prior_x2", &args.prior_x2)
        .with("known", attack.known());
    let shown_rhos: Vec<String> = rhos.iter().map(|rho| Enclosure::rational(rho, 64).shown(6)).collect();
    let shown_others: Vec<String> = others.iter().map(ToString::to_string).collect();
    let title = format!(
        "rho = {}, {} other groups, prior = {}, prior of X2 {}\n\n",
        shown_rhos.join(", "),
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

fn posterior(args: &Args, attack: &Hierarchy, noisy: &[i64], base: Fields, title: &str) -> Result<Exit> {
    let digits = args.format.digits;
    let (own, others) = levels("--noisy", noisy, attack.levels())?;
    let posterior = attack.posterior(&own, &others, digits).context("--noisy")?;
    let mut page = args.drawn.page(&args.format)?;
    let of_x2 = |(value, probability): &(i64, Enclosure)| json!({ "value": value, "probability": probability });
    let joint = posterior.joint.iter();
    let joint = joint.map(|(x1, x2, probability)| json!({ "x1": x1, "x2": x2, "probability": probability }));
    let about = "posterior probability that the target counts";
    let answer = base
        .with("noisy", noisy)
        .shown("posterior", about, proven(&posterior.present, digits))
        .with("x2", posterior.upper.iter().map(of_x2).collect::<Value>())
        .with("joint", joint.collect::<Value>())
        .with("status", output::status(posterior.met));
    let visible = posterior.upper.iter().filter(|(_, probability)| *probability.upper() > 1e-6);
    let answer = visible.fold(answer, |answer, (value, probability)| {
        answer.cell(format!("posterior probability of X2 = {value}"), shown(probability, digits.min(8)))
    });
    page.object(answer.object());
    page.records((posterior.upper.iter()).map(|(value, probability)| {
        let (lower, upper) = ends(probability);
        json!({ "x2": value, "probability_lower": lower, "probability_upper": upper })
    }));
    page.text(title);
    page.push(answer.table("probability"));
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
    base: Fields,
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
    let answer = base
        .with("truth", truth)
        .shown("correct_decision", "probability of a correct decision", proven(&decision.correct, digits))
        .cell("with the lowest level alone", shown(&alone, digits))
        .shown("gained", "wrong decisions corrected by the other counts", proven(&decision.gained, 6))
        .shown("lost", "correct decisions made wrong by them", proven(&decision.lost, 6))
        .with("correct_decision_alone", &alone);
    let about_error = "total variation of (3.7), one Gaussian for the sum";
    let answer = match &error {
        Some(error) => answer.shown("one_gaussian_error", about_error, proven(error, 3)),
        None => answer.with("one_gaussian_error", Value::Null),
    };
    let answer = answer.with("status", output::status(decision.met));
    page.answer(answer.object());
    page.text(title);
    page.push(answer.table("probability"));
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
