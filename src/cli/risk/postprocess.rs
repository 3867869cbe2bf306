//! `assay risk postprocess`: the risk after counts are made consistent with the count of the higher group.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::outputs,
    document::fields::{self, Fields},
    numeric::{Enclosure, parallel, rational},
    risk::{
        postprocess::{Outcome, Postprocessed},
        single::Attack,
    },
};

use super::super::{
    arguments::{number, prior},
    drawn::Drawn,
    exit::Exit,
    output::{arrays, cells_of_ends, columns_of_ends, exact},
    subject::Format,
};
use super::common::{count, groups, proven, shown};

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
    let others = groups(&args.others)?;
    let upper = count("--upper", &args.upper)?;
    let own = Attack::new(prior.clone(), vec![rho.clone()]).context("--rho")?.marginal(args.format.digits)?;
    let attack = Postprocessed::new(prior.clone(), rho.clone(), others, upper).context("--rho, --others, --upper")?;
    let before = Before { all: attack.marginal_before(args.format.digits)?, own };
    let head = format!(
        "rho = {}, {others} other groups, prior = {}, true count above {upper}",
        rational::display(&rho),
        rational::display(&prior)
    );
    let base = Fields::new()
        .with("rho", exact(&rho))
        .with("others", others)
        .with("prior", exact(&prior))
        .with("upper", upper)
        .with("marginal_posterior_before", &before.all)
        .with("marginal_posterior_of_own_count", &before.own);
    match args.published.split_once("..") {
        None => outcomes(args, &attack, &before, &head, base),
        Some((from, to)) => {
            range(args, &attack, &before, (count("--published", from)?, count("--published", to)?), &head, base)
        }
    }
}

/// The posterior probability, averaged over the noisy counts that are post-processed.
struct Before {
    /// Of the target's group and the sum of the other groups; `None` where too many pairs of counts would be summed over.
    all: Option<Enclosure>,
    /// Of the target's group alone.
    own: Enclosure,
}

/// Every outcome under one published count.
fn outcomes(args: &Args, attack: &Postprocessed, before: &Before, head: &str, base: Fields) -> Result<Exit> {
    let digits = args.format.digits;
    let published = count("--published", &args.published)?;
    let found = attack.outcomes(published, digits).context("--published")?;
    let marginal = attack.marginal(published, digits)?;
    let mut page = args.drawn.page(&args.format)?;
    let row = |outcome: &Outcome| {
        let [absent, present] = &outcome.probability;
        Fields::new()
            .shown("value", "outcome", outcome.value)
            .shown("probability", "if the target counts", proven(present, 8))
            .shown("probability_if_absent", "if not", proven(absent, 8))
            .shown("posterior", "posterior", proven(&outcome.posterior, 8))
    };
    let about = "posterior if the target counts, averaged over outcomes";
    let answer = base
        .with("published", published)
        .shown("marginal_posterior", about, proven(&marginal, digits))
        .cell("the same before post-processing, from both noisy counts", before.shown(digits))
        .cell("from the noisy count of the target's group alone", shown(&before.own, digits))
        .with("outcomes", found.iter().map(row).collect::<Vec<_>>());
    page.object(answer.object());
    page.records(found.iter().map(|outcome| row(outcome).object()));
    page.text(format!("{head}, published as {published}\n\n"));
    page.push(answer.table("probability"));
    page.text("\n");
    let (likely, rare): (Vec<&Outcome>, Vec<&Outcome>) =
        found.iter().partition(|outcome| *outcome.probability[1].upper() > 1e-6);
    page.push(fields::table(&likely.into_iter().map(row).collect::<Vec<_>>()));
    if !rare.is_empty() {
        let zero = Enclosure::double(0.0, 64);
        let sum = rare.iter().fold(zero, |sum, outcome| sum.add(&outcome.probability[1]));
        page.text(format!(
            "\nNot in the table: {} of {} outcomes, each with a probability of at most 1e-6 if the target counts, and of at most {} together.\n",
            rare.len(),
            found.len(),
            sum.upper_text(2)
        ));
    }
    args.drawn.write(|| {
        let points = |k: usize| {
            found.iter().map(|outcome| (outcome.value as f64, outcome.probability[k].approximate())).collect()
        };
        let title = format!("Post-processed count of the target's group: {head}, published as {published}");
        let series = vec![("if the target counts", points(1)), ("if it does not", points(0))];
        outputs::masses(&title, "post-processed count", series)
    })?;
    page.done()
}

/// The average over the outcomes, for a range of published counts.
fn range(
    args: &Args,
    attack: &Postprocessed,
    before: &Before,
    (from, to): (i64, i64),
    head: &str,
    base: Fields,
) -> Result<Exit> {
    const MOST: i64 = 10_000;
    if to < from || to - from >= MOST {
        bail!("--published {from}..{to}: give a range from the smaller to the larger, of at most {MOST} counts");
    }
    let digits = args.format.digits;
    let published: Vec<i64> = (from..=to).collect();
    let marginals = parallel::try_map(&published, |count| attack.marginal(*count, digits)).context("--published")?;
    let columns = columns_of_ends("published", &["marginal"]);
    let cells = |(count, marginal): (&i64, &Enclosure)| cells_of_ends(count.to_string(), [marginal]);
    let rows: Vec<Vec<String>> = published.iter().zip(&marginals).map(cells).collect();
    let mut page = args.drawn.page(&args.format)?;
    page.object(base.and(arrays(&columns, &rows)));
    page.text(format!(
        "{head}\n\nbefore post-processing {}; from the noisy count of the target's group alone {}\n\n",
        before.shown(digits),
        shown(&before.own, digits)
    ));
    page.table(&columns, rows);
    args.drawn.write(|| {
        let points = published.iter().zip(&marginals).map(|(count, value)| (*count as f64, value.approximate()));
        let level = |value: &Enclosure| published.iter().map(|count| (*count as f64, value.approximate())).collect();
        let title = format!("Posterior probability after post-processing: {head}");
        outputs::lines(
            &title,
            ["published count above", "marginal posterior probability"],
            [("post-processed", points.collect()), ("target's count alone", level(&before.own))]
                .into_iter()
                .chain(before.all.as_ref().map(|all| ("before", level(all))))
                .collect(),
        )
    })?;
    page.done()
}

impl Before {
    /// Of the counts that are post-processed.
    fn shown(&self, digits: u32) -> String {
        self.all.as_ref().map_or("too many counts to sum over".to_string(), |all| shown(all, digits))
    }
}
