//! The settings printed in the papers on SafeTab, as data (`data/published/*-settings.toml`).

use rug::{Integer, Rational, ops::Pow};
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    numeric::rational::display,
    replication::bundled,
    safetab::{
        cell_noise::NoiseKind,
        tuning::{GroupLevel, formulas, least_budget},
    },
};

const FILES: [(&str, &str); 2] = [
    ("safetab-2021", include_str!("../../../data/published/safetab-2021-settings.toml")),
    ("safetab-p-2024", include_str!("../../../data/published/safetab-p-2024-settings.toml")),
];

/// The settings of one paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedSettings {
    /// Their places in the paper.
    pub source: String,
    /// The share of stage 1.
    #[serde(deserialize_with = "bundled::exact")]
    pub gamma: Rational,
    /// The number of groups of a level that contain a person.
    pub stability: u32,
    /// The delta of the epsilons.
    #[serde(deserialize_with = "bundled::exact")]
    pub delta: Rational,
    /// The probability that an empty group is suppressed.
    #[serde(deserialize_with = "bundled::exact")]
    pub chance: Rational,
    /// The budgets of the table of thresholds.
    #[serde(default, deserialize_with = "bundled::exact_each")]
    pub suppressed: Vec<Rational>,
    /// The levels.
    #[serde(rename = "level")]
    pub planned: Vec<PrintedLevel>,
}

/// A level as printed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedLevel {
    /// Its name.
    pub name: String,
    /// The target margin of error.
    pub moe: u32,
    /// The total budget of geometric noise, if one is printed.
    #[serde(default, deserialize_with = "bundled::exact_or_none")]
    pub epsilon: Option<Rational>,
    /// The total budget of discrete Gaussian noise.
    #[serde(deserialize_with = "bundled::exact")]
    pub rho: Rational,
    /// Whether some of its groups are published by their total only.
    pub total_only: bool,
}

/// The choice of budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budgets {
    /// As printed.
    Printed,
    /// The least budgets, with this number of decimals, whose exact margins are the targets.
    Least(u32),
}

/// The kinds of population groups that contain a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersonGroups {
    /// Only groups published in two stages.
    TwoStage,
    /// Groups published by their totals at the levels that have such groups, nation and state.
    NationAndState,
    /// Groups published by their totals at any level, as Algorithm 1 allows.
    Any,
}

impl PersonGroups {
    /// Whether groups of a level can be published by their totals only.
    pub(super) fn total_only(self, of_level: bool) -> bool {
        match self {
            PersonGroups::TwoStage => false,
            PersonGroups::NationAndState => of_level,
            PersonGroups::Any => true,
        }
    }
}

/// The kind of count of a level.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountKind {
    /// The total of a group of which only the total is published.
    TotalOnly,
    /// A cell of step 2.
    Step2,
}

impl PrintedSettings {
    /// The settings of a paper.
    pub fn of_paper(paper: &str) -> Result<PrintedSettings> {
        let Some((name, text)) = FILES.iter().find(|(name, _)| *name == paper) else {
            let has = "settings are bundled of";
            return Err(Error::unknown("paper", paper, has, FILES.map(|(name, _)| name)));
        };
        bundled::read(&format!("{name}-settings"), text)
    }

    /// The same with custom levels instead of the printed ones: for target margins of error, for budgets, or for pairs
    /// of both. A missing budget is computed by the formula, rounded up to two decimals of epsilon and three of rho; a
    /// missing margin is the exact margin of a cell. Without either, the levels are as printed.
    pub(in crate::replication) fn with_own(self, margins: &[u32], rhos: &[Rational]) -> Result<PrintedSettings> {
        if margins.is_empty() && rhos.is_empty() {
            return Ok(self);
        }
        if !margins.is_empty() && !rhos.is_empty() && margins.len() != rhos.len() {
            let (rhos, margins) = (rhos.len(), margins.len());
            return Err(Error::conflict(format!("{rhos} rho for {margins} margins: give one for each, or none")));
        }
        let level = |k: usize| -> Result<PrintedLevel> {
            let rho = match rhos.get(k) {
                Some(rho) => rho.clone(),
                None => self.by_formula(NoiseKind::DiscreteGaussian, margins[k], 3)?,
            };
            let name = match (margins.get(k), rhos.get(k)) {
                (Some(moe), None) => format!("margin {moe}"),
                (Some(moe), Some(_)) => format!("margin {moe}, ρ = {}", display(&rho)),
                (None, _) => format!("ρ = {}", display(&rho)),
            };
            let moe = match margins.get(k) {
                Some(moe) => *moe,
                None => self.margin(&name, &rho)?,
            };
            let epsilon = Some(self.by_formula(NoiseKind::Geometric, moe, 2)?);
            Ok(PrintedLevel { name, moe, epsilon, rho, total_only: true })
        };
        let planned = (0..margins.len().max(rhos.len())).map(level).collect::<Result<_>>()?;
        Ok(PrintedSettings { planned, ..self })
    }

    /// The budget by the formula, rounded up.
    fn by_formula(&self, mechanism: NoiseKind, moe: u32, decimals: u32) -> Result<Rational> {
        let formula = formulas::budget(mechanism, moe, &self.gamma, self.stability)?;
        let upper = formula.upper_rational().ok_or(Error::Unbounded { what: "the budget of the formula" })?;
        let scale = Integer::from(10).pow(decimals);
        Ok((upper * &scale).ceil() / scale)
    }

    /// The exact margin of a cell, as a target margin: at least 1.
    fn margin(&self, name: &str, rho: &Rational) -> Result<u32> {
        let level =
            GroupLevel::new(name, NoiseKind::DiscreteGaussian, rho.clone(), self.gamma.clone(), self.stability)?;
        let margin = level.stage_2()?.margin.max(1);
        u32::try_from(margin)
            .map_err(|_| Error::out_of_range("the margin of error", margin, "at most 2^32: a larger rho"))
    }

    /// The sum of the printed rho.
    pub fn total_rho(&self) -> Rational {
        self.planned.iter().fold(Rational::new(), |sum, level| sum + &level.rho)
    }

    /// The levels with one kind of noise, and whether they have groups of which only the total is published.
    pub fn levels(&self, mechanism: NoiseKind, budgets: Budgets) -> Result<Vec<(GroupLevel, bool)>> {
        let level = |planned: &PrintedLevel| -> Result<(GroupLevel, bool)> {
            let budget = match (budgets, mechanism) {
                (Budgets::Least(decimals), _) => {
                    least_budget(mechanism, planned.moe, &self.gamma, self.stability, decimals)?.value
                }
                (Budgets::Printed, NoiseKind::DiscreteGaussian) => planned.rho.clone(),
                (Budgets::Printed, NoiseKind::Geometric) => planned.epsilon.clone().ok_or_else(|| {
                    Error::missing(format!("no epsilon of geometric noise is printed for the level {:?}", planned.name))
                })?,
            };
            let level = GroupLevel::new(&planned.name, mechanism, budget, self.gamma.clone(), self.stability)?;
            Ok((level, planned.total_only))
        };
        self.planned.iter().map(level).collect()
    }

    /// The levels of the geometric mechanism as printed: budget, and whether they have groups of which only the total
    /// is published.
    pub(in crate::replication) fn geometric(&self) -> Result<Vec<(Rational, bool)>> {
        let levels = self.levels(NoiseKind::Geometric, Budgets::Printed)?;
        Ok(levels.into_iter().map(|(level, total_only)| (level.budget().clone(), total_only)).collect())
    }
}
