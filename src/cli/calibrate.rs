//! `assay calibrate`: the least noise that keeps a promise.

mod answer;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    account::{
        Composition,
        calibrate::{self, Grid, Least},
        conversions,
        crossing::{self, Profile},
        paths::WorstPath,
        profile::{check_delta, check_epsilon},
    },
    loss::law::Law,
    numeric::{Certainty, Enclosure},
};
use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use self::answer::Row;
use super::{
    Answer, number,
    output::exact_text,
    subject::{Format, Resolved, Subject},
};

/// The least noise that is as private as asked: proven, and the next smaller on the grid disproved
///
/// With --per-level each part alone, with --scale-all all of it by one factor. Where the queries of a level have different
/// noise, all of it is scaled and its smallest sigma2 is put on the grid.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("promise").required(true).args(["epsilon", "match_", "match_curve"]))]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is meant, 0 < delta < 1; not needed with --match-curve
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true, required_unless_present = "match_curve")]
    delta: Option<String>,
    /// The epsilon to reach at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// Reach the epsilon at delta that was published for the noise as it is: zcdp, by zCDP (Bun-Steinke)
    #[arg(long = "match", value_enum)]
    match_: Option<Match>,
    /// Be as private as the zCDP curve of the noise as it is, at every delta of this range
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    match_curve: Option<String>,
    /// Decimals of the grid: of sigma2, or of the common factor [default: 2, or 4 with --scale-all]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(0..=12))]
    decimals: Option<u32>,
    /// Each level, or what is given, by itself; the default
    #[arg(long, conflicts_with = "scale_all")]
    per_level: bool,
    /// One factor on all noise, for everything composed
    #[arg(long)]
    scale_all: bool,
    /// Also say at which delta the calibrated noise is within the published zCDP curve, from 1e-40 to 1
    #[arg(long)]
    crossings: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Match {
    Zcdp,
}

/// The smallest and the largest noise that is considered.
const LEAST_SIGMA2: (u32, u32) = (1, 1_000_000);
const MOST_SIGMA2: u64 = 1_000_000_000_000;

/// What the calibrated noise has to keep.
enum Promise {
    /// This epsilon at delta; the one that zCDP publishes where none is given.
    At { delta: Rational, epsilon: Option<Rational> },
    /// The zCDP curve over a range of delta.
    Curve { from: Rational, to: Rational, delta: Rational },
}

/// Anything whose noise can be scaled and whose privacy can be told.
trait Account: Profile + Sized {
    fn scaled(&self, factor: &Rational) -> Result<Self, dp_assay::Error>;
    fn rho(&self) -> Rational;
    fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Enclosure, dp_assay::Error>;
    /// One composition that is about as private, for a first guess.
    fn representative(&self, epsilon: &Rational) -> Result<Composition, dp_assay::Error>;
}

impl Account for Composition {
    fn scaled(&self, factor: &Rational) -> Result<Self, dp_assay::Error> {
        self.with_noise_times(factor)
    }

    fn rho(&self) -> Rational {
        Composition::rho(self).clone()
    }

    fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Enclosure, dp_assay::Error> {
        Ok(Composition::epsilon(self, delta, digits)?.value)
    }

    fn representative(&self, _: &Rational) -> Result<Composition, dp_assay::Error> {
        Ok(self.clone())
    }
}

impl Account for WorstPath {
    fn scaled(&self, factor: &Rational) -> Result<Self, dp_assay::Error> {
        self.with_noise_times(factor)
    }

    fn rho(&self) -> Rational {
        WorstPath::rho(self)
    }

    fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Enclosure, dp_assay::Error> {
        Ok(WorstPath::epsilon(self, delta, digits)?.0.value)
    }

    fn representative(&self, epsilon: &Rational) -> Result<Composition, dp_assay::Error> {
        self.composition(self.delta(epsilon, 3)?.pair)
    }
}

pub fn run(args: &Args) -> Result<Answer> {
    let promise = args.promise()?;
    let subject = args.subject.resolve()?;
    let decimals = args.decimals.unwrap_or(if args.scale_all { 4 } else { 2 });
    let rows = if args.scale_all {
        let variances = variances(&subject.total, "--scale-all");
        let name = if subject.levels.is_empty() { "composition" } else { "all composed" };
        let row = match &subject.worst {
            Some((worst, _)) => args.calibrate(name, worst, variances?, &promise, decimals, true),
            None => args.calibrate(name, &subject.total, variances?, &promise, decimals, true),
        };
        vec![row?]
    } else {
        let parts = parts(&subject);
        (parts.par_iter())
            .map(|(name, part)| {
                let variances = variances(part, "--per-level")?;
                args.calibrate(name, part, variances, &promise, decimals, false).with_context(|| name.clone())
            })
            .collect::<Result<Vec<Row>>>()?
    };
    if args.format.json {
        args.print_json(&subject, &promise, &rows)?;
    } else {
        args.print_table(&subject, &promise, &rows, decimals)?;
    }
    Ok(Answer::Done)
}

/// The parts that are calibrated one by one.
fn parts(subject: &Resolved) -> Vec<(String, Composition)> {
    if subject.levels.is_empty() {
        vec![("composition".to_string(), subject.total.clone())]
    } else {
        subject.levels.clone()
    }
}

/// The variances of the Gaussian counts, of which there must be some.
fn variances(part: &Composition, argument: &str) -> Result<Vec<Rational>> {
    let mut all: Vec<Rational> = (part.counts().iter())
        .filter_map(|counts| match &counts.law {
            Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => Some(sigma2.clone()),
            Law::DiscreteLaplace { .. } => None,
        })
        .collect();
    all.sort();
    all.dedup();
    if all.is_empty() {
        bail!("{argument}: discrete Laplace noise has no sigma2 to calibrate; give Gaussian counts or a release");
    }
    Ok(all)
}

impl Args {
    fn promise(&self) -> Result<Promise> {
        let delta = self.delta.as_deref().map(|text| number("--delta", text)).transpose()?;
        if let Some(delta) = &delta {
            check_delta(delta).context("--delta")?;
        }
        if let Some(range) = &self.match_curve {
            let (from, to) = range
                .split_once("..")
                .with_context(|| format!("--match-curve {range}: expected FROM..TO, as in 1e-12..1e-5"))?;
            let (from, to) = (number("--match-curve", from)?, number("--match-curve", to)?);
            if from <= 0 || from >= to || to > 1 {
                bail!("--match-curve {range}: expected FROM..TO with 0 < FROM < TO <= 1");
            }
            let delta = delta.unwrap_or_else(|| from.clone());
            return Ok(Promise::Curve { from, to, delta });
        }
        let epsilon = self.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?;
        if let Some(epsilon) = &epsilon {
            check_epsilon(epsilon).context("--epsilon")?;
        }
        Ok(Promise::At { delta: delta.context("--delta is missing")?, epsilon })
    }

    /// The least noise of one part. `common`: the grid is that of the factor, else that of the smallest sigma2.
    fn calibrate<A: Account>(
        &self,
        name: &str,
        part: &A,
        variances: Vec<Rational>,
        promise: &Promise,
        decimals: u32,
        common: bool,
    ) -> Result<Row> {
        let unit = if common { Rational::from(1) } else { variances[0].clone() };
        let factor = |point: &Rational| Rational::from(point / &unit);
        // The grid where all sigma2 stay in the range that is accounted for.
        let (smallest, largest) = (&variances[0], &variances[variances.len() - 1]);
        let grid = Grid {
            decimals,
            least: &unit * Rational::from(LEAST_SIGMA2) / smallest,
            most: &unit * Rational::from(MOST_SIGMA2) / largest,
        };
        if grid.most < Rational::from((1, Integer::from(10).pow(decimals))) {
            bail!("--decimals {decimals}: no point of this grid keeps every sigma2 up to 1e12; more decimals would");
        }
        let family = |point: &Rational| part.scaled(&factor(point));
        let (delta, target) = match promise {
            Promise::At { delta, epsilon: Some(epsilon) } => (delta, Enclosure::rational(epsilon, 160)),
            Promise::At { delta, epsilon: None } => (delta, conversions::zcdp_epsilon(&part.rho(), delta, 40)),
            Promise::Curve { from, .. } => (from, conversions::zcdp_epsilon(&part.rho(), from, 40)),
        };
        let near = target.lower().to_rational().unwrap_or_default();
        let representative = part.representative(&near)?;
        // Where no doubles are to be had the search starts from the noise as it is.
        let guess = calibrate::guess(
            |point| representative.with_noise_times(&factor(point)),
            &target,
            delta,
            (grid.least.to_f64() * 1.01, unit.to_f64() * 0.87, grid.most.to_f64() * 0.99),
        )
        .unwrap_or(unit.to_f64());
        let least = match promise {
            Promise::At { .. } => calibrate::least_in(&grid, family, &target, delta, guess)?,
            Promise::Curve { from, to, .. } => grid.least_where(guess, |point| {
                match crossing::within_everywhere(&family(point)?, &part.rho(), from, to)? {
                    Certainty::Yes => Ok(true),
                    Certainty::No => Ok(false),
                    Certainty::Undecided => Err(dp_assay::Error::OutOfRange {
                        what: "--match-curve".to_string(),
                        value: format!("{}..{}", exact_text(from), exact_text(to)),
                        expected: "a range in which the curves of no grid point touch".to_string(),
                    }),
                }
            })?,
        };
        let Some(Least { value, before }) = least else {
            bail!(
                "epsilon {} at delta {} is out of reach: no noise up to sigma2 = 1e12 has it; ask for a larger epsilon or delta",
                target.shown(12),
                exact_text(delta)
            );
        };
        let calibrated = family(&value)?;
        let shown_delta = promise.delta();
        let target = match promise {
            Promise::Curve { .. } => conversions::zcdp_epsilon(&part.rho(), shown_delta, 40),
            Promise::At { .. } => target,
        };
        let stretches = self
            .crossings
            .then(|| {
                let from = Rational::from((1, Integer::from(10).pow(40)));
                crossing::stretches(&calibrated, &part.rho(), &from, &Rational::from(1))
            })
            .transpose()?;
        Ok(Row {
            name: name.to_string(),
            factor: factor(&value),
            before: before.as_ref().map(factor),
            variances,
            epsilon: calibrated.epsilon(shown_delta, self.format.digits)?,
            target,
            stretches,
        })
    }
}

impl Promise {
    fn delta(&self) -> &Rational {
        match self {
            Promise::At { delta, .. } | Promise::Curve { delta, .. } => delta,
        }
    }
}
