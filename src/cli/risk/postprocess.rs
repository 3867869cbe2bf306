//! `assay risk postprocess`: the risk after counts are made consistent with the count of the higher group.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::outputs,
    numeric::{Enclosure, parallel, rational},
    risk::{postprocess::Postprocessed, single::Attack},
};
use serde_json::{Value, json};

use super::super::{
    arguments::number,
    drawn::Drawn,
    exit::Exit,
    output::{ends, exact},
    subject::Format,
};
use super::common::{arrays, count, prior, row, shown};

/// Disclosure by noisy counts after they are made consistent with a published count of the higher group
///
/// The noisy count of the target's group and those of D other groups are fitted by least squares to the published count Z of
/// the higher group, clamped to 0 and Z, and rounded (Kazan & Reiter, Section S6). The adversary sees the outcome and Z, knows the
/// true count of the higher group, and only the target has the characteristics.
#[derive(clap::Args)]
pub struct Args {
    /// The rho of one count of the lowest level
    #[arg(long, value_name = "RHO", allow_hyphen_values = true)]
    rho: String,
    /// The number of other groups besides the target's
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    others: String,
    /// The prior probability that the target counts, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    prior: String,
    /// The published count of the higher group; or a range of it, as in 1..100, for the average over the outcomes
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    published: String,
    /// The true count of the higher group
    #[arg(long, value_name = "X2", default_value = "1", allow_hyphen_values = true)]
    upper: String,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

pub fn run(args: &Args) -> Result<Exit> {
    let (prior, rho) = (prior(&args.prior)?, number("--rho", &args.rho)?);
    let others = count("--others", &args.others)?;
    let others = u64::try_from(others).ok().with_context(|| format!("--others: {others} is below 0"))?;
    let upper = count("--upper", &args.upper)?;
    let before = Attack::new(prior.clone(), vec![rho.clone()]).context("--rho")?.marginal(args.format.digits)?;
    let attack = Postprocessed::new(prior.clone(), rho.clone(), others, upper).context("--rho, --others, --upper")?;
    let head = format!(
        "rho = {}, {others} other groups, prior = {}, true count above {upper}",
        rational::display(&rho),
        rational::display(&prior)
    );
    let object = json!({
        "rho": exact(&rho),
        "others": others,
        "prior": exact(&prior),
        "upper": upper,
        "marginal_posterior_before": before.to_json(),
    });
    match args.published.split_once("..") {
        None => outcomes(args, &attack, &before, &head, object),
        Some((from, to)) => {
            range(args, &attack, &before, (count("--published", from)?, count("--published", to)?), &head, object)
        }
    }
}

/// Every outcome under one published count.
fn outcomes(args: &Args, attack: &Postprocessed, before: &Enclosure, head: &str, mut object: Value) -> Result<Exit> {
    let digits = args.format.digits;
    let published = count("--published", &args.published)?;
    let found = attack.outcomes(published, digits).context("--published")?;
    let marginal = attack.marginal(published, digits)?;
    let mut page = args.drawn.page(&args.format)?;
    let records: Vec<Value> = (found.iter())
        .map(|outcome| {
            json!({
                "value": outcome.value,
                "probability": outcome.probability[1].to_json(),
                "probability_if_absent": outcome.probability[0].to_json(),
                "posterior": outcome.posterior.to_json(),
            })
        })
        .collect();
    object["published"] = json!(published);
    object["marginal_posterior"] = marginal.to_json();
    object["outcomes"] = json!(records);
    page.object(object);
    page.records(records);
    page.text(format!("{head}, published as {published}\n\n"));
    page.table(
        &["", "probability"],
        vec![
            row("posterior probability, averaged over outcomes", &marginal, digits),
            row("the same for the counts before post-processing", before, digits),
        ],
    );
    page.text("\n");
    let rows = found.iter().filter(|outcome| *outcome.probability[1].upper() > 1e-6);
    let rows = rows.map(|outcome| {
        let [absent, present] = &outcome.probability;
        let cells = [present, absent, &outcome.posterior].map(|value| shown(value, 8));
        std::iter::once(outcome.value.to_string()).chain(cells).collect()
    });
    page.table(&["outcome", "if the target counts", "if not", "posterior"], rows.collect());
    args.drawn.write(|| {
        let points = |k: usize| {
            found.iter().map(|outcome| (outcome.value as f64, outcome.probability[k].approximate())).collect()
        };
        let title = format!("Post-processed count of the target's group: {head}, published as {published}");
        let series = vec![("if the target counts", points(1)), ("if it does not", points(0))];
        outputs::masses(&title, "post-processed count", series)
    })?;
    page.print()?;
    Ok(Exit::Done)
}

/// The average over the outcomes, for a range of published counts.
fn range(
    args: &Args,
    attack: &Postprocessed,
    before: &Enclosure,
    (from, to): (i64, i64),
    head: &str,
    mut object: Value,
) -> Result<Exit> {
    const MOST: i64 = 10_000;
    if to < from || to - from >= MOST {
        bail!("--published {from}..{to}: give a range from the smaller to the larger, of at most {MOST} counts");
    }
    let digits = args.format.digits;
    let published: Vec<i64> = (from..=to).collect();
    let marginals = parallel::try_map(&published, |count| attack.marginal(*count, digits)).context("--published")?;
    let columns = ["published", "marginal_lower", "marginal_upper"];
    let rows: Vec<Vec<String>> = (published.iter().zip(&marginals))
        .map(|(count, marginal)| {
            let (lower, upper) = ends(marginal);
            vec![count.to_string(), lower, upper]
        })
        .collect();
    let mut page = args.drawn.page(&args.format)?;
    arrays(&mut object, &columns, &rows);
    page.object(object);
    page.text(format!("{head}; as drawn {}\n\n", shown(before, digits)));
    page.table(&columns, rows);
    args.drawn.write(|| {
        let points = published.iter().zip(&marginals).map(|(count, value)| (*count as f64, value.approximate()));
        let level = published.iter().map(|count| (*count as f64, before.approximate())).collect();
        let title = format!("Posterior probability after post-processing: {head}");
        outputs::lines(
            &title,
            ["published count above", "marginal posterior probability"],
            vec![("post-processed", points.collect()), ("as drawn", level)],
        )
    })?;
    page.print()?;
    Ok(Exit::Done)
}
