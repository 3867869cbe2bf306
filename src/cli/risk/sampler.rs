//! `assay risk sampler`: the Gibbs sampler of Kazan & Reiter, compared with the exact posterior.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::{Figure, outputs},
    document::fields::{self, Fields, certified, said},
    numeric::Enclosure,
    replication::gibbs::{GibbsConstraint, GibbsSampler, SamplerLimit},
    risk::hierarchical::{Hierarchy, Posterior, Upper},
};
use serde_json::{Value, json};

use super::super::{arguments::prior, drawn::Drawn, exit::Exit, output::exact, page::Page, subject::Format};
use super::common::{counts, groups, numbers, proven};

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
    let (rows, answer) = (sampled.rows(), sampled.answer());
    page.object(answer.clone().with("x2", &rows));
    page.records(rows.iter().map(Fields::object));
    sampled.put_text(&mut page, &answer, &rows);
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
        let others = groups(&args.others)?;
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

    /// A row for each value of X2.
    fn rows(&self) -> Vec<Fields> {
        let row = |&value: &usize| {
            let (limit, exact) = (&self.limit.upper[value], self.exact_share(value));
            Fields::new()
                .shown("x2", "X2", value)
                .shown("limit", "the sampler's limit", certified(limit, 8))
                .shown("posterior", "posterior", said(exact, exact.map_or("-".to_string(), |share| share.shown(8))))
                .with("share_approximate", self.run.as_ref().map(|(_, _, (_, shares))| shares[value]))
        };
        self.values.iter().map(row).collect()
    }

    fn answer(&self) -> Fields {
        let digits = self.args.format.digits;
        let about_limit = "share of draws with X1 = 1, in the limit";
        let about_posterior = "posterior probability that the target counts";
        let answer = Fields::new()
            .with("rho", self.sampler.rhos.iter().map(exact).collect::<Value>())
            .with("others", self.sampler.others)
            .with("prior", exact(&self.sampler.prior))
            .with("noisy", self.noisy)
            .with("as_printed", self.args.as_printed)
            .shown("limit", about_limit, proven(&self.limit.present, digits))
            .shown("posterior", about_posterior, proven(&self.truth.present, digits));
        match &self.run {
            Some((draws, seed, (share, _))) => {
                let about = format!("share in {draws} draws (simulated, insecure seed {seed})");
                let answer = answer.with("draws", draws).with("insecure_seed", seed);
                answer.shown("share_approximate", about, said(share, format!("{share:.6}")))
            }
            None => answer.and(json!({ "draws": null, "insecure_seed": null, "share_approximate": null })),
        }
    }

    fn put_text(&self, page: &mut Page, answer: &Fields, rows: &[Fields]) {
        let GibbsSampler { others, prior, .. } = &self.sampler;
        let (kind, rhos) = (self.kind(), &self.args.rho);
        page.text(format!("Gibbs sampler {kind}: rho = {rhos}, {others} other groups, prior = {prior}\n\n"));
        page.push(answer.table("probability"));
        page.text("\n");
        let is_likely = |value: usize| *self.limit.upper[value].upper() > 1e-6;
        let likely = self.values.iter().zip(rows).filter(|(value, _)| is_likely(**value));
        page.push(fields::table(&likely.map(|(_, row)| row.clone()).collect::<Vec<_>>()));
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
