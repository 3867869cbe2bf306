//! The parameters of Kazan & Reiter's figures, as data (`data/published/kazan-reiter-2023-settings.toml`).

use rug::Rational;
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    replication::bundled,
    risk::hierarchical::{Hierarchy, Upper},
};

/// The parameters of the figures of Kazan & Reiter, as exact numbers, and the histogram of Table 3.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveSettings {
    /// The place in the paper.
    pub source: String,
    /// The prior probabilities of the adversaries.
    #[serde(deserialize_with = "bundled::exact_each")]
    pub priors: Vec<Rational>,
    /// The prior probability of the adversary who also uses the counts above.
    #[serde(deserialize_with = "bundled::exact")]
    pub prior: Rational,
    /// The rho of each level, lowest first.
    #[serde(deserialize_with = "bundled::exact_each")]
    pub rhos: Vec<Rational>,
    /// The number of other groups of the lowest level.
    pub others: u64,
    /// The true counts above for the curves over rho.
    pub uppers: Vec<i64>,
    /// The greatest count of the bounded prior.
    pub most: i64,
    /// The counts of the point priors.
    pub points: Vec<i64>,
    /// The sums of noise.
    pub sums: Vec<NoiseSum>,
    /// The nonzero cells of the histogram of Table 3.
    pub histogram: Vec<HistogramCell>,
}

/// A sum of independent noise.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseSum {
    /// The rho of each term.
    #[serde(deserialize_with = "bundled::exact")]
    pub rho: Rational,
    /// The number of terms.
    pub count: u64,
}

impl CurveSettings {
    /// The rho of a level, counted from 0, the lowest.
    pub fn rho(&self, level: usize) -> Result<Rational> {
        let expected = format!("1 to {}, the levels whose rho is given", self.rhos.len());
        self.rhos.get(level).cloned().ok_or_else(|| Error::out_of_range("the level", level + 1, &expected))
    }

    pub(super) fn hierarchy(&self, rho2: &Rational, upper: Upper) -> Result<Hierarchy> {
        Hierarchy::new(self.prior.clone(), vec![self.rho(0)?, rho2.clone()], vec![self.others], upper)
    }
}

/// A cell of a histogram.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistogramCell {
    /// Household or group quarters.
    pub hhgq: String,
    /// Whether of voting age.
    pub votingage: String,
    /// Whether Hispanic.
    pub hispanic: String,
    /// The race.
    pub cenrace: String,
    /// The number of people.
    pub count: u64,
}

/// The bundled settings.
pub fn settings() -> Result<CurveSettings> {
    let text = include_str!("../../../data/published/kazan-reiter-2023-settings.toml");
    bundled::read("kazan-reiter-2023-settings", text)
}
