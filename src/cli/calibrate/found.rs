//! The request of a calibration, and its result.

use anyhow::{Context, Result};
use dp_assay::{
    account::{
        Account, Answer, Delta,
        compared::{Against, Compared},
        crossing::Stretch,
        promise::{Grid, GridOf, Promise},
    },
    chart::curves::CalibratedCurves,
    numeric::{Certainty, Enclosure},
    release::{Unit, subject::Part},
    risk::promise::RiskPromise,
};
use rug::Rational;

use crate::cli::{
    queries::CalibratedQuery,
    subject::{self, Resolved},
};

/// The target of the noise.
pub enum Goal {
    /// The same for every part.
    Promise(Promise),
    /// For each part the number with which it is compared, at the delta that is shown.
    Compared(Against),
    /// The same for every part, in the terms of risk.
    Risk(RiskPromise),
}

impl Goal {
    /// Whether it is about the posterior of outputs, which rises and falls with the noise.
    pub fn is_of_outputs(&self) -> bool {
        matches!(self, Goal::Risk(RiskPromise::PosteriorOfOutputs { .. }))
    }

    /// The value that the goal bounds: its heading, and its key in JSON.
    pub fn measure(&self) -> [&'static str; 2] {
        match self {
            Goal::Promise(_) | Goal::Compared(_) => ["epsilon", "epsilon"],
            Goal::Risk(risk) => [risk.name(), risk.key()],
        }
    }

    /// The value in a sentence: "have epsilon 3", "have an advantage of 0.1".
    pub fn noun(&self) -> &'static str {
        match self {
            Goal::Promise(_) | Goal::Compared(_) => "epsilon",
            Goal::Risk(RiskPromise::Advantage(_)) => "an advantage of",
            Goal::Risk(RiskPromise::TypeTwoError { .. }) => "a type II error of",
            Goal::Risk(RiskPromise::CorrectDecision { .. }) => "a probability of a correct decision of",
            Goal::Risk(RiskPromise::Posterior { .. } | RiskPromise::PosteriorOfOutputs { .. }) => "a posterior of",
        }
    }

    /// The value of an account in the terms of the goal; of an epsilon that at `delta`.
    pub fn value(&self, account: &impl Account, delta: Option<&Delta>, digits: u32) -> Result<Answer> {
        match self {
            Goal::Risk(risk) => Ok(risk.value(account, digits)?),
            Goal::Promise(_) | Goal::Compared(_) => Ok(account.epsilon(delta.context("--delta is missing")?, digits)?),
        }
    }

    /// Whether a value keeps a target.
    pub fn kept_by(&self, value: &Enclosure, target: &Enclosure) -> Certainty {
        match self {
            Goal::Risk(risk) => risk.kept_by(value),
            Goal::Promise(_) | Goal::Compared(_) => value.below(target),
        }
    }
}

/// The request, the same for every part.
pub struct Request {
    /// The target of the noise.
    pub goal: Goal,
    /// The delta at which epsilons are shown; `None` if the goal is about no epsilon.
    pub delta: Option<Delta>,
    /// Whom the target is about.
    pub unit: Unit,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether to find the deltas at which the calibrated noise is within the published curve.
    pub crossings: bool,
    /// Whether the profiles are drawn.
    pub curves: bool,
}

/// All levels with their calibrated noise, composed.
pub struct Together {
    /// The value that the goal bounds, such as epsilon.
    pub reached: Answer,
    /// The bound that the goal means for the whole with the present noise.
    pub target: Enclosure,
    /// Whether it is kept.
    pub keeps: Certainty,
    /// The account or figure of that target, unless the goal is the same for all.
    pub compared: Option<Compared>,
}

/// All results.
pub struct Found {
    /// Each level; or all composed, with one factor.
    pub rows: Vec<Row>,
    /// All calibrated levels composed, if there are several.
    pub together: Option<Together>,
    /// Empty unless queries were requested.
    pub queries: Vec<CalibratedQuery>,
}

/// A grid with the default decimals if none are given.
pub fn grid_with(grid_of: GridOf, decimals: Option<u32>) -> Grid {
    let usual = if grid_of == GridOf::Factor { FACTOR_DECIMALS } else { DECIMALS };
    Grid { of: grid_of, decimals: decimals.unwrap_or(usual) }
}

/// The parts that are calibrated one by one.
pub fn parts(subject: &Resolved) -> Vec<Part> {
    subject.parts_or(subject::whole_name(subject))
}

/// Default decimals of a calibrated sigma2, and of a common factor.
pub const DECIMALS: u32 = 2;

pub const FACTOR_DECIMALS: u32 = 4;

/// The variances before and after, and the resulting privacy.
#[derive(Clone)]
pub struct Row {
    /// The name of the level or part.
    pub name: String,
    /// The factor on the grid, or the factor that puts the smallest sigma2 on the grid.
    pub factor: Rational,
    /// The factor of the next smaller grid point, disproved.
    pub before: Option<Rational>,
    /// For a posterior of outputs: the factor from which on all larger noise of the grid keeps the target, if it was found.
    pub steady: Option<Rational>,
    /// Every sigma2, smallest first.
    pub variances: Vec<Rational>,
    /// The value that the goal bounds, such as epsilon.
    pub reached: Answer,
    /// Its target.
    pub target: Enclosure,
    /// The name of that value in JSON.
    pub key: &'static str,
    /// The account or figure of the target, unless the target was given.
    pub compared: Option<Compared>,
    pub stretches: Option<Vec<Stretch>>,
    /// The profiles before and after, if they are drawn.
    pub curves: Option<CalibratedCurves>,
}
