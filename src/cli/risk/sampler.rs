//! `assay risk sampler`: the Gibbs sampler of Kazan & Reiter, compared with the exact posterior.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::{Figure, outputs},
    numeric::Enclosure,
    replication::gibbs::{GibbsConstraint, GibbsSampler, SamplerLimit},
    risk::hierarchical::{Hierarchy, Posterior, Upper},
};
use serde_json::{Value, json};

use super::super::{
    drawn::Drawn,
    exit::Exit,
    output::{self, exact},
    page::Page,
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
    let sampled = Sampled::of_args(args)?;
    let mut page = args.drawn.page(&args.format)?;
    let records = sampled.records();
    page.object(sampled.to_json(&records));
    page.records(records);
    sampled.put_text(&mut page);
    args.drawn.write(|| sampled.figure())?;
    page.done()
}

/// A sampler's limit beside the exact posterior.
struct Sampled<'a> {
    args: &'a Args,
    sampler: GibbsSampler,
    noisy: [i64; 3],
    limit: SamplerLimit,
    truth: Posterior,
    /// The draws, the seed and the shares of a run.
    run: Option<(u32, u64, (f64, Vec<f64>))>,
    /// The values of X2 that are shown.
    values: Vec<usize>,
}

impl<'a> Sampled<'a> {
    fn of_args(args: &'a Args) -> Result<Self> {
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
        let attack = Hierarchy::new(prior, rhos.to_vec(), vec![others], Upper::Uniform)?;
        let truth = attack.posterior(&noisy[..2], &noisy[2..], digits).context("--noisy")?;
        let run = match (args.draws, args.insecure_seed) {
            (Some(draws), Some(seed)) => Some((draws, seed, sampler.run(noisy, draws, seed)?)),
            _ => None,
        };
        let mut sampled = Sampled { args, sampler, noisy, limit, truth, run, values: Vec::new() };
        let is_shown =
            |value: &usize| *sampled.limit.upper[*value].upper() > 1e-12 || sampled.exact_share(*value).is_some();
        sampled.values = (0..sampled.limit.upper.len()).filter(is_shown).collect();
        Ok(sampled)
    }

    /// The exact posterior probability of a value of X2.
    fn exact_share(&self, value: usize) -> Option<&Enclosure> {
        self.truth.upper.iter().find(|(known, _)| *known == value as i64).map(|(_, share)| share)
    }

    fn kind(&self) -> &'static str {
        if self.args.as_printed { "without its constraint, as printed" } else { "with its constraint" }
    }

    /// One record for each value of X2.
    fn records(&self) -> Vec<Value> {
        let record = |&value: &usize| {
            json!({
                "x2": value,
                "limit": self.limit.upper[value].to_json(),
                "posterior": output::enclosure(self.exact_share(value)),
                "share_approximate": self.run.as_ref().map(|(_, _, (_, shares))| shares[value]),
            })
        };
        self.values.iter().map(record).collect()
    }

    fn to_json(&self, records: &[Value]) -> Value {
        json!({
            "rho": self.sampler.rhos.iter().map(exact).collect::<Vec<_>>(),
            "others": self.sampler.others,
            "prior": exact(&self.sampler.prior),
            "noisy": self.noisy,
            "as_printed": self.args.as_printed,
            "limit": self.limit.present.to_json(),
            "posterior": self.truth.present.to_json(),
            "draws": self.run.as_ref().map(|run| run.0),
            "insecure_seed": self.run.as_ref().map(|run| run.1),
            "share_approximate": self.run.as_ref().map(|(_, _, (share, _))| share),
            "x2": records,
        })
    }

    fn put_text(&self, page: &mut Page) {
        let (kind, rhos, digits) = (self.kind(), &self.args.rho, self.args.format.digits);
        let GibbsSampler { others, prior, .. } = &self.sampler;
        page.text(format!("Gibbs sampler {kind}: rho = {rhos}, {others} other groups, prior = {prior}\n\n"));
        let mut rows = vec![
            row("share of draws with X1 = 1, in the limit", &self.limit.present, digits),
            row("posterior probability that the target counts", &self.truth.present, digits),
        ];
        if let Some((draws, seed, (share, _))) = &self.run {
            rows.push(vec![format!("share in {draws} draws (simulated, insecure seed {seed})"), format!("{share:.6}")]);
        }
        page.table(&["", "probability"], rows);
        page.text("\n");
        let of = |&value: &usize| {
            let truth = self.exact_share(value).map_or("-".to_string(), |share| share.shown(8));
            vec![value.to_string(), self.limit.upper[value].shown(8), truth]
        };
        let is_likely = |value: &&usize| *self.limit.upper[**value].upper() > 1e-6;
        page.table(&["X2", "the sampler's limit", "posterior"], self.values.iter().filter(is_likely).map(of).collect());
    }

    fn figure(&self) -> Figure {
        let limit = |&value: &usize| (value as f64, self.limit.upper[value].approximate());
        let truth = |&value: &usize| Some((value as f64, self.exact_share(value)?.approximate()));
        let series = vec![
            ("the sampler's limit", self.values.iter().map(limit).collect()),
            ("posterior", self.values.iter().filter_map(truth).collect()),
        ];
        outputs::masses(&format!("X2 by the Gibbs sampler {}, and its posterior", self.kind()), "X2", series)
    }
}
