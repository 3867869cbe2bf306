//! The options that name a target in the terms of risk.

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::Delta,
    document::fields::Fields,
    release::{Neighbors, Unit},
    risk::promise::RiskPromise,
};
use rug::Rational;

use super::{arguments::number, output::exact};

/// A target in the terms of risk, in place of an epsilon.
#[derive(clap::Args)]
pub struct RiskGoal {
    /// The advantage of every adversary is at most A: true positives less false positives, at any prior
    #[arg(long, value_name = "A", allow_hyphen_values = true, conflicts_with = "delta")]
    advantage: Option<String>,
    /// With --alpha: every test with that type I error has a type II error of B or more
    #[arg(long, value_name = "B", allow_hyphen_values = true, requires = "alpha", conflicts_with = "delta")]
    beta: Option<String>,
    /// The type I error that goes with --beta, 0 < A < 1
    #[arg(long, value_name = "A", allow_hyphen_values = true, requires = "beta", conflicts_with_all = ["delta", "epsilon", "advantage", "posterior", "prior"])]
    alpha: Option<String>,
    /// With --prior: every adversary decides correctly with probability P or less ("right at most 60 times in 100"); with --delta as well:
    /// no event that has at least that probability if the record is there lifts the posterior above P
    #[arg(long, value_name = "P", allow_hyphen_values = true, requires = "prior")]
    posterior: Option<String>,
    /// The adversary's prior probability, 0 < Q < 1, that goes with --posterior
    #[arg(long, value_name = "Q", allow_hyphen_values = true, requires = "posterior", conflicts_with_all = ["epsilon", "advantage", "beta"])]
    prior: Option<String>,
    /// With --posterior and --delta: of all events, and so of everything that is computed from the outputs; or of single outputs of the noisy counts, except
    /// some of total probability DELTA
    #[arg(long, value_enum, default_value_t = Of::Events, requires = "posterior", conflicts_with_all = ["epsilon", "advantage", "alpha", "beta"])]
    of: Of,
}

/// What a posterior is promised of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Of {
    /// Events that have at least probability DELTA if the record is there
    Events,
    /// Outputs, except some of total probability DELTA
    Outputs,
}

impl RiskGoal {
    /// Whether a target is given.
    pub fn is_given(&self) -> bool {
        self.advantage.is_some() || self.beta.is_some() || self.posterior.is_some()
    }

    /// The target, if one is given.
    pub fn promise(&self, delta: Option<&Delta>, neighbors: Neighbors) -> Result<Option<RiskPromise>> {
        let given = |flag: &str, text: &Option<String>| -> Result<Option<Rational>> {
            text.as_deref().map(|text| number(flag, text)).transpose()
        };
        if let Some(most) = given("--advantage", &self.advantage)? {
            return Ok(Some(RiskPromise::advantage(most).context("--advantage")?));
        }
        if let (Some(alpha), Some(beta)) = (given("--alpha", &self.alpha)?, given("--beta", &self.beta)?) {
            return Ok(Some(RiskPromise::type_two_error(alpha, beta).context("--alpha, --beta")?));
        }
        let (Some(most), Some(prior)) = (given("--posterior", &self.posterior)?, given("--prior", &self.prior)?) else {
            return Ok(None);
        };
        let risk = match (delta, self.of) {
            (Some(delta), Of::Events) => RiskPromise::posterior(prior, most, delta.clone()),
            (Some(delta), Of::Outputs) => RiskPromise::posterior_of_outputs(prior, most, delta.clone()),
            (None, Of::Outputs) => {
                bail!("--of outputs: give --delta, the probability of the outputs that are excepted")
            }
            (None, Of::Events) => RiskPromise::correct_decision(prior, most, neighbors),
        };
        Ok(Some(risk.context("--posterior, --prior")?))
    }
}

/// A promise in the terms of risk, as an object.
pub fn json(risk: &RiskPromise, unit: Unit) -> Fields {
    let bound = if matches!(risk, RiskPromise::TypeTwoError { .. }) { "least" } else { "most" };
    let goal = Fields::new()
        .with("measure", risk.key())
        .with("in_words", risk.in_words(&unit))
        .with(bound, exact(risk.target()));
    let of = |of: &str, delta: &Delta| Fields::new().with("of", of).with("delta", exact(delta));
    match risk {
        RiskPromise::Advantage(_) => goal,
        RiskPromise::TypeTwoError { alpha, .. } => goal.with("alpha", exact(alpha)),
        RiskPromise::CorrectDecision { prior, .. } => goal.with("prior", exact(prior)),
        RiskPromise::Posterior { prior, delta, .. } => goal.with("prior", exact(prior)).and(of("events", delta)),
        RiskPromise::PosteriorOfOutputs { prior, delta, .. } => {
            goal.with("prior", exact(prior)).and(of("outputs", delta))
        }
    }
}
