//! The quantity of a claim, with its conditions.

use rug::Rational;
use serde_json::{Value, json};

use crate::account::{
    Delta, Epsilon,
    promise::{Grid, GridOf},
};

/// The claimed quantity, with its conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// epsilon at a delta.
    Epsilon {
        /// The delta.
        delta: Delta,
    },
    /// delta at an epsilon.
    Delta {
        /// The epsilon.
        epsilon: Epsilon,
    },
    /// The trade-off function: the least type II error at a type I error.
    Beta {
        /// The type I error, above 0 and below 1.
        alpha: Rational,
    },
    /// The largest probability of a correct decision between the two data sets.
    Decision {
        /// The prior probability, of the direction's first data set.
        prior: Rational,
    },
    /// The largest posterior probability after events that have at least a probability if what it is about is true.
    Events {
        /// The prior probability, of the direction's first data set.
        prior: Rational,
        /// The least probability of the events.
        probability: Delta,
    },
    /// A posterior probability that outputs exceed with at most a probability if what it is about is true.
    Outputs {
        /// The prior probability, of the direction's first data set.
        prior: Rational,
        /// The largest probability of the outputs that exceed it.
        probability: Delta,
    },
    /// The factor on all noise that is enough for an epsilon at a delta: the upper end is enough, and the lower end, the next smaller
    /// one of a grid, is not.
    Scale {
        /// The delta.
        delta: Delta,
        /// The target epsilon.
        target: Target,
        /// The noise among which it is the least.
        grid: Grid,
    },
    /// The epsilon that the largest rho of a unit implies at a delta: rho + 2 sqrt(rho ln(1 / delta)).
    Zcdp {
        /// The delta.
        delta: Delta,
    },
    /// The epsilon that the largest rho of a unit implies at a delta by the best order.
    Orders {
        /// The delta.
        delta: Delta,
    },
    /// The posterior probability of a record that is in the data, averaged over the outputs of one path.
    Marginal {
        /// The prior probability.
        prior: Rational,
    },
    /// The posterior probability that the record is in the data, after one output of discrete Gaussian counts.
    Posterior {
        /// The prior probability.
        prior: Rational,
        /// For each group the sum of its noisy counts, less the counts without the record.
        noisy: Vec<i64>,
    },
}

/// The target epsilon of calibrated noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// This one.
    Epsilon(Epsilon),
    /// The one that the rho of the unscaled noise implies, by the conversion of Bun & Steinke.
    Zcdp,
}

/// The value of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// An exact number.
    Number(Rational),
    /// A word of the format.
    Word(&'static str),
    /// Whole numbers, one for each group.
    Counts(Vec<i64>),
}

impl Question {
    /// The claimed quantity, by its key in a certificate.
    pub fn about(&self) -> &'static str {
        match self {
            Question::Epsilon { .. } => "epsilon",
            Question::Delta { .. } => "delta",
            Question::Beta { .. } => "beta",
            Question::Decision { .. } => "decision",
            Question::Events { .. } => "events",
            Question::Outputs { .. } => "outputs",
            Question::Scale { .. } => "scale",
            Question::Zcdp { .. } => "zcdp",
            Question::Orders { .. } => "orders",
            Question::Marginal { .. } => "marginal",
            Question::Posterior { .. } => "posterior",
        }
    }

    /// The conditions, in the order of names.
    pub fn given(&self) -> Vec<(&'static str, Given)> {
        let number = |value: &Rational| Given::Number(value.clone());
        match self {
            Question::Epsilon { delta } | Question::Zcdp { delta } | Question::Orders { delta } => {
                vec![("delta", number(delta))]
            }
            Question::Marginal { prior } | Question::Decision { prior } => vec![("prior", number(prior))],
            Question::Events { prior, probability } | Question::Outputs { prior, probability } => {
                vec![("prior", number(prior)), ("probability", number(probability))]
            }
            Question::Delta { epsilon } => vec![("epsilon", number(epsilon))],
            Question::Beta { alpha } => vec![("alpha", number(alpha))],
            Question::Scale { delta, target, grid: Grid { of, decimals } } => {
                let epsilon = match target {
                    Target::Epsilon(epsilon) => number(epsilon),
                    Target::Zcdp => Given::Word(ZCDP),
                };
                vec![
                    ("decimals", Given::Number(Rational::from(*decimals))),
                    ("delta", number(delta)),
                    ("epsilon", epsilon),
                    ("grid", Given::Word(name_of(*of))),
                ]
            }
            Question::Posterior { prior, noisy } => {
                vec![("noisy", Given::Counts(noisy.clone())), ("prior", number(prior))]
            }
        }
    }

    /// Whether a claim can be about one direction, and about tables and infinite losses.
    pub(super) fn has_directions(&self) -> bool {
        matches!(
            self,
            Question::Epsilon { .. }
                | Question::Delta { .. }
                | Question::Beta { .. }
                | Question::Decision { .. }
                | Question::Events { .. }
                | Question::Outputs { .. }
        )
    }
}

impl Given {
    pub(super) fn json(&self) -> Value {
        match self {
            Given::Number(value) => json!(fraction(value)),
            Given::Word(word) => json!(word),
            Given::Counts(counts) => json!(counts),
        }
    }
}

/// The value of the key for a calibration to the epsilon of zCDP.
pub(super) const ZCDP: &str = "zcdp";

/// The kind of a grid, as in a certificate.
pub(super) fn name_of(grid: GridOf) -> &'static str {
    match grid {
        GridOf::Factor => "factor",
        GridOf::SmallestSigma2 => "sigma2",
    }
}

/// An exact number: "a" or "a/b", reduced.
pub(super) fn fraction(value: &Rational) -> String {
    value.to_string()
}
