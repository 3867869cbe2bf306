//! `assay risk sampler`: the Gibbs sampler of Kazan & Reiter, compared with the exact posterior.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::outputs,
    replication::gibbs::{GibbsConstraint, GibbsSampler},
    risk::hierarchical::{Hierarchy, Upper},
};
use serde_json::json;

use super::super::{
    drawn::Drawn,
    exit::Exit,
    output::{self, exact},
    subject::Format,
};
use super::common::{count, counts, numbers, prior, row};

/// The Gibbs sampler of Kazan & Reiter (2023, Section 3.2): its limit, compared with the exact posterior
///
/// X1 is the count of the target's group, X2 = X1 + Y1 that of the higher group, Y1 the sum over the D other groups. The sampler
/// uses one discrete Gaussian for the noise of that sum, (3.7).
#[derive(clap::Args)]
pub struct Args {
    /// The rho of the two levels, lowest first
    #[arg(long, value_name = "RHO1,RHO2", allow_hyphen_values = true)]
    rho: String,
    /// The number of other groups besides the target's
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    others: String,
    /// The prior probability that the target counts, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    prior: String,
    /// The released counts
    #[arg(long, value_name = "X1,X2,Y1", allow_hyphen_values = true)]
    noisy: String,
    /// Draw X1 without the constraint that it is at most X2: this fault gives the paper's printed results
    #[arg(long)]
    as_printed: bool,
    /// Also run it, for this number of draws after a tenth as many that are discarded
    #[arg(long, value_name = "N", requires = "insecure_seed", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    draws: Option<u32>,
    /// The seed of the run
    #[arg(long, value_name = "S", requires = "draws")]
    insecure_seed: Option<u64>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

pub fn run(args: &Args) -> Result<Exit> {
    let (prior, digits) = (prior(&args.prior)?, args.format.digits);
    let Ok(rhos) = <[rug::Rational; 2]>::try_from(numbers("--rho", &args.rho)?) else {
        bail!("--rho: {:?}: expected the rho of two levels, as in 0.099,0.246", args.rho);
    };
    let others = count("--others", &args.others)?;
    let others = u64::try_from(others).ok().with_context(|| format!("--others: {others} is below 0"))?;
    let Ok(noisy) = <[i64; 3]>::try_from(counts("--noisy", &args.noisy)?) else {
        bail!("--noisy: {:?}: expected X1,X2,Y1", args.noisy);
    };
    let constraint = if args.as_printed { GibbsConstraint::LeftOut } else { GibbsConstraint::Kept };
    let sampler = GibbsSampler { prior: prior.clone(), rhos: rhos.clone(), others, constraint };
    let limit = sampler.limit(noisy, digits).context("--rho, --others, --noisy")?;
    let attack = Hierarchy::new(prior.clone(), rhos.to_vec(), vec![others], Upper::Uniform)?;
    let truth = attack.posterior(&noisy[..2], &noisy[2..], digits).context("--noisy")?;
    let run = match (args.draws, args.insecure_seed) {
        (Some(draws), Some(seed)) => Some((draws, seed, sampler.run(noisy, draws, seed)?)),
        _ => None,
    };
    let mut page = args.drawn.page(&args.format)?;
    let exact_share = |value: usize| truth.upper.iter().find(|(known, _)| *known == value as i64).map(|(_, s)| s);
    let values: Vec<usize> = (0..limit.upper.len())
        .filter(|value| *limit.upper[*value].upper() > 1e-12 || exact_share(*value).is_some())
        .collect();
    let records = values.iter().map(|value| {
        json!({
            "x2": value,
            "limit": limit.upper[*value].to_json(),
            "posterior": output::enclosure(exact_share(*value)),
            "share_approximate": run.as_ref().map(|(_, _, (_, shares))| shares[*value]),
        })
    });
    let records: Vec<_> = records.collect();
    page.object(json!({
        "rho": rhos.iter().map(exact).collect::<Vec<_>>(),
        "others": others,
        "prior": exact(&prior),
        "noisy": noisy,
        "as_printed": args.as_printed,
        "limit": limit.present.to_json(),
        "posterior": truth.present.to_json(),
        "draws": run.as_ref().map(|run| run.0),
        "insecure_seed": run.as_ref().map(|run| run.1),
        "share_approximate": run.as_ref().map(|(_, _, (share, _))| share),
        "x2": records,
    }));
    page.records(records);
    let kind = if args.as_printed { "without its constraint, as printed" } else { "with its constraint" };
    page.text(format!("Gibbs sampler {kind}: rho = {}, {others} other groups, prior = {prior}\n\n", args.rho));
    let mut rows = vec![
        row("share of draws with X1 = 1, in the limit", &limit.present, digits),
        row("posterior probability that the target counts", &truth.present, digits),
    ];
    if let Some((draws, seed, (share, _))) = &run {
        rows.push(vec![format!("share in {draws} draws (simulated, insecure seed {seed})"), format!("{share:.6}")]);
    }
    page.table(&["", "probability"], rows);
    page.text("\n");
    let of = |value: &usize| {
        let truth = exact_share(*value).map_or("-".to_string(), |share| share.shown(8));
        vec![value.to_string(), limit.upper[*value].shown(8), truth]
    };
    let shown = values.iter().filter(|value| *limit.upper[**value].upper() > 1e-6).map(of).collect();
    page.table(&["X2", "the sampler's limit", "posterior"], shown);
    args.drawn.write(|| {
        let limits = values.iter().map(|value| (*value as f64, limit.upper[*value].approximate())).collect();
        let truths =
            (values.iter()).filter_map(|value| Some((*value as f64, exact_share(*value)?.approximate()))).collect();
        let title = format!("X2 by the Gibbs sampler {kind}, and its posterior");
        outputs::masses(&title, "X2", vec![("the sampler's limit", limits), ("posterior", truths)])
    })?;
    page.print()?;
    Ok(Exit::Done)
}
