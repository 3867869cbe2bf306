//! The parameters of Kazan & Reiter's figures, as data (`data/published/kazan-reiter-2023-settings.toml`).

use rug::Rational;
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    numeric::rational::parse,
    replication::bundled,
    risk::hierarchical::{Hierarchy, Upper},
};

/// The parameters of the figures of Kazan & Reiter, as exact numbers.
#[derive(Clone, Debug)]
pub struct CurveSettings {
    /// The prior probabilities of the adversaries.
    pub priors: Vec<Rational>,
    /// The prior probability of the adversary who also uses the counts above.
    pub prior: Rational,
    /// The rho of each level, lowest first.
    pub rhos: Vec<Rational>,
    /// The number of other groups of the lowest level.
    pub others: u64,
    /// The true counts above for the curves over rho.
    pub uppers: Vec<i64>,
    /// The greatest count of the bounded prior.
    pub most: i64,
    /// The counts of the point priors.
    pub points: Vec<i64>,
    /// The rho and the number of terms of each sum of noise.
    pub sums: Vec<(Rational, u64)>,
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

/// The settings as printed, with the histogram of Table 3.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KazanReiterSettings {
    /// The place in the paper.
    pub source: String,
    priors: Vec<String>,
    rhos: Vec<String>,
    others: u64,
    uppers: Vec<i64>,
    most: i64,
    points: Vec<i64>,
    sums: Vec<PrintedSum>,
    /// The nonzero cells of the histogram of Table 3.
    pub histogram: Vec<HistogramCell>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintedSum {
    rho: String,
    count: u64,
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

impl KazanReiterSettings {
    /// The settings as exact numbers, for [`super::curves`].
    pub fn curves(&self) -> Result<CurveSettings> {
        let numbers = |texts: &[String]| texts.iter().map(|text| parse(text)).collect::<Result<Vec<Rational>>>();
        Ok(CurveSettings {
            priors: numbers(&self.priors)?,
            prior: Rational::from((1, 2)),
            rhos: numbers(&self.rhos)?,
            others: self.others,
            uppers: self.uppers.clone(),
            most: self.most,
            points: self.points.clone(),
            sums: self.sums.iter().map(|sum| Ok((parse(&sum.rho)?, sum.count))).collect::<Result<_>>()?,
        })
    }
}

/// The bundled settings.
pub fn settings() -> Result<KazanReiterSettings> {
    let text = include_str!("../../../data/published/kazan-reiter-2023-settings.toml");
    bundled::read("kazan-reiter-2023-settings", text)
}
