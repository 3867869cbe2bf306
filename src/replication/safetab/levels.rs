//! The levels of the papers' settings: their noise, suppression, budgets by the formula, and exact epsilon.

use rug::{Float, Integer, Rational, ops::Pow};

use super::settings::{Budgets, CountKind, PersonGroups, PrintedSettings};
use crate::{
    account::{Account, Composition},
    error::{Error, Result},
    numeric::Enclosure,
    replication::verdict::finite,
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        suppression::Suppression,
        tuning::{GroupLevel, formulas},
    },
};

const DIGITS: u32 = 12;

impl PrintedSettings {
    /// All counts of a person, by these budgets.
    pub(super) fn composition(
        &self,
        mechanism: NoiseKind,
        budgets: Budgets,
        groups: PersonGroups,
    ) -> Result<Composition> {
        let mut counts = Vec::new();
        for (level, total_only) in self.levels(mechanism, budgets)? {
            let all = u64::from(level.stability());
            let own = if groups.total_only(total_only) { all } else { 0 };
            counts.extend(level.counts(own, all - own)?);
        }
        Composition::new(counts)
    }

    /// The noise of a count of a level.
    pub(super) fn noise(&self, mechanism: NoiseKind, budget: Rational, count: CountKind) -> Result<CellNoise> {
        let level = GroupLevel::new("", mechanism, budget, self.gamma.clone(), self.stability)?;
        match count {
            CountKind::TotalOnly => level.total_only_noise(),
            CountKind::Step2 => level.stage_noises().map(|[_, noise]| noise),
        }
    }

    /// The suppression of the totals of a level.
    pub(in crate::replication) fn suppression(&self, rho: &Rational) -> Result<Suppression> {
        Suppression::new(self.noise(NoiseKind::DiscreteGaussian, rho.clone(), CountKind::Step2)?, self.chance.clone())
    }

    /// The total budget of a level by the formula, rounded to `decimals` or, if `cut`, truncated.
    pub(super) fn rounded(&self, mechanism: NoiseKind, moe: u32, decimals: u32, cut: bool) -> Result<Rational> {
        let power = Rational::from(Integer::from(10).pow(decimals));
        let total = match mechanism {
            NoiseKind::DiscreteGaussian if !cut => {
                return formulas::rounded_budget(moe, &self.gamma, self.stability, decimals);
            }
            other => formulas::budget(other, moe, &self.gamma, self.stability)?,
        };
        // Both ends of the enclosure must give the same multiple of the last decimal; otherwise the rounding is
        // undecided.
        let at = |end: &Float| -> Result<Rational> {
            let scaled = finite(end, "the budget by formula")? * &power;
            Ok(if cut { scaled.floor() } else { scaled.round() })
        };
        let (lower, upper) = (at(total.lower())?, at(total.upper())?);
        if lower != upper {
            let apart = "the value of its formula must differ from a boundary of rounding by more than 10^-50";
            return Err(Error::undecided("moe", moe, apart));
        }
        Ok(lower / power)
    }

    /// The coverage of a margin with the cell's budget by the formula. It lies between the coverages at the ends of the
    /// budget's enclosure, since coverage grows with the budget.
    pub(in crate::replication) fn formula_coverage(&self, mechanism: NoiseKind, moe: u32) -> Result<Enclosure> {
        let total = formulas::budget(mechanism, moe, &self.gamma, self.stability)?;
        let at = |end: &Float| -> Result<Enclosure> {
            let noise = self.noise(mechanism, finite(end, "the budget by formula")?, CountKind::Step2)?;
            noise.coverage(1, i64::from(moe), DIGITS)
        };
        Ok(at(total.lower())?.hull(&at(total.upper())?))
    }

    /// The coverage of a margin, that of the formula if none is given, with a given budget or with the budget by the formula for a target,
    /// not rounded: the coverages at the ends of its enclosure, between which it lies.
    pub(super) fn coverage(
        &self,
        mechanism: NoiseKind,
        (budget, target): (Option<&Rational>, Option<u32>),
        count: CountKind,
        moe: Option<i64>,
    ) -> Result<Enclosure> {
        let total = match (budget, target) {
            (Some(budget), None) => Enclosure::rational(budget, 200),
            (None, Some(target)) => formulas::budget(mechanism, target, &self.gamma, self.stability)?,
            _ => return Err(Error::conflict("give the budget of a coverage, or the target of its formula")),
        };
        let at = |end: &Float| -> Result<(i64, Enclosure)> {
            let budget = budget.cloned().map_or_else(|| finite(end, "the budget by formula"), Ok)?;
            let noise = self.noise(mechanism, budget, count)?;
            let moe = moe.map_or_else(|| formulas::margin(&noise), Ok)?;
            Ok((moe, noise.coverage(1, moe, DIGITS)?))
        };
        let ((low, least), (high, most)) = (at(total.lower())?, at(total.upper())?);
        if low != high {
            let apart = "the formula's margin must not be on a boundary of its floor";
            return Err(Error::undecided("target", target.unwrap_or_default(), apart));
        }
        Ok(least.hull(&most))
    }
}

/// The exact epsilon of a person whose groups are all published in two stages, or of one whose groups are published by
/// their totals wherever possible. For geometric noise this is the largest over all mixes.
pub(in crate::replication) fn exact_epsilon(
    settings: &PrintedSettings,
    mechanism: NoiseKind,
    budgets: Budgets,
    groups: PersonGroups,
) -> Result<Enclosure> {
    Ok(settings.composition(mechanism, budgets, groups)?.epsilon(&settings.delta, 8)?.value)
}
