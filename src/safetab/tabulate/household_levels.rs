//! The population group levels of a run over households: their noise, and the groups selected by the published totals.

use rug::Rational;

use super::levels::CountNoise;
use crate::{
    error::Result,
    safetab::{
        cell_noise::CellNoise,
        groups::{Specification, TabulatedIteration},
        household_tables::HouseholdTopic,
        schema::{HouseholdConfig, IterationLevel, Pass, PublishedTotal, PublishedTotals, RegionType},
    },
};

/// The noise of a table, T3 or T4, at a level.
#[derive(Clone, Debug)]
pub struct HouseholdNoise {
    /// The budget: rho, or epsilon under pure differential privacy.
    pub budget: Rational,
    /// The noise of a measured cell.
    pub noise: CountNoise,
}

/// A group with a published total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedGroup {
    /// The region, by its index among those of the level.
    pub region: u32,
    /// The iteration, by its index among those of the level.
    pub iteration: u32,
    /// The detail of T3 and of T4, by its index among [`HouseholdTopic::tables`].
    pub detail: [u8; 2],
}

/// A population group level of households: one type of region with one level of characteristic iterations.
#[derive(Clone, Debug)]
pub struct HouseholdLevel {
    /// The type of region.
    pub region_type: RegionType,
    /// The level of the iterations.
    pub level: IterationLevel,
    /// Upper bound on the number of groups of the level that a household belongs to.
    pub stability: u32,
    /// T3 and T4; `None` for a table without a budget, which is not run.
    pub tables: [Option<HouseholdNoise>; 2],
    /// The totals from which T3 has 3, 7 and 9 rows.
    pub thresholds_t3: [i64; 3],
    /// The total from which T4 has 4 rows.
    pub threshold_t4: i64,
    /// The iterations in ascending order.
    pub iterations: Vec<TabulatedIteration>,
    /// The regions: those of the geography in ascending order, then those that only the totals have.
    pub regions: Vec<String>,
    /// The groups with a total, in ascending order of region and iteration.
    pub groups: Vec<SelectedGroup>,
}

impl HouseholdLevel {
    /// The level without its groups; `None` if it has no budget.
    pub(super) fn of_config(
        region_type: RegionType,
        level: IterationLevel,
        config: &HouseholdConfig,
        specification: &Specification,
    ) -> Result<Option<Self>> {
        let budgets = config.budgets(region_type, level);
        if budgets.iter().all(|budget| **budget == 0) {
            return Ok(None);
        }
        let granularity = region_type.granularity();
        let stability = specification.stability(granularity, level);
        let kind = CountNoise::kind(config.scope().privacy());
        let mut tables = [None, None];
        for (table, budget) in tables.iter_mut().zip(budgets).filter(|(_, budget)| **budget > 0) {
            // Each of the groups that a household can be in gets an equal share: sigma2 = s / (2 rho), or epsilon / s.
            let noise = CellNoise::new(kind, &Rational::from(budget / stability))?;
            *table = Some(HouseholdNoise { budget: budget.clone(), noise: CountNoise::new(&noise)? });
        }
        Ok(Some(HouseholdLevel {
            region_type,
            level,
            stability,
            tables,
            thresholds_t3: config.thresholds_t3(region_type, level),
            threshold_t4: config.threshold_t4(region_type, level),
            iterations: specification.key_set(granularity, level),
            regions: Vec::new(),
            groups: Vec::new(),
        }))
    }

    /// The level with the groups that have a total; `None` if it has no budget or no group: then it measures and spends nothing.
    fn new(
        region_type: RegionType,
        level: IterationLevel,
        config: &HouseholdConfig,
        specification: &Specification,
        totals: &PublishedTotals,
    ) -> Result<Option<Self>> {
        let published = totals.groups(region_type, level);
        let without_groups = HouseholdLevel::of_config(region_type, level, config, specification)?;
        let Some(mut own) = without_groups.filter(|_| !published.is_empty()) else { return Ok(None) };
        let detail = |count| [reached(count, &own.thresholds_t3), reached(count, &[own.threshold_t4])];
        let select = |total: &PublishedTotal| SelectedGroup {
            region: total.region,
            iteration: total.iteration,
            detail: detail(total.count),
        };
        own.groups = published.iter().map(select).collect();
        own.regions = totals.regions(region_type).to_vec();
        Ok(Some(own))
    }

    /// The sum of the budgets of both tables.
    pub fn budget(&self) -> Rational {
        self.tables.iter().flatten().fold(Rational::new(), |sum, table| sum + &table.budget)
    }

    /// The number of groups with each table of a topic, coarsest first.
    pub fn selected(&self, topic: HouseholdTopic) -> Vec<u64> {
        let mut counts = vec![0; topic.tables().len()];
        self.groups.iter().for_each(|group| counts[usize::from(group.detail[topic as usize])] += 1);
        counts
    }

    #[cfg(test)]
    pub(super) fn for_tests(
        privacy: crate::safetab::schema::Privacy,
        region_type: RegionType,
        level: IterationLevel,
        budgets: [&str; 2],
        stability: u32,
        iterations: usize,
    ) -> HouseholdLevel {
        use crate::{numbers::number, safetab::schema::IterationCode};
        let table = |budget: &str| {
            let budget = number(budget);
            let noise = (budget > 0)
                .then(|| CellNoise::new(CountNoise::kind(privacy), &Rational::from(&budget / stability)).unwrap());
            noise.map(|noise| HouseholdNoise { budget, noise: CountNoise::new(&noise).unwrap() })
        };
        let code = |number: usize| IterationCode::read(format!("{number:04}").as_bytes()).unwrap();
        let key = |number| TabulatedIteration { iteration: code(number), detailed_only: false };
        HouseholdLevel {
            region_type,
            level,
            stability,
            tables: budgets.map(table),
            thresholds_t3: [10, 20, 30],
            threshold_t4: 20,
            iterations: (0..iterations).map(key).collect(),
            regions: vec!["1".to_string()],
            groups: Vec::new(),
        }
    }
}

/// The number of thresholds that a total reaches.
fn reached(total: i64, thresholds: &[i64]) -> u8 {
    thresholds.iter().filter(|&&threshold| total >= threshold).count() as u8
}

/// The levels of a pass in the order of tabulation: from large regions to small, first level first. A level without a budget or without
/// totals is not run.
pub fn household_levels(
    pass: Pass,
    config: &HouseholdConfig,
    specification: &Specification,
    totals: &PublishedTotals,
) -> Result<Vec<HouseholdLevel>> {
    let mut levels = Vec::new();
    for &region_type in pass.region_types() {
        for level in IterationLevel::ALL {
            levels.extend(HouseholdLevel::new(region_type, level, config, specification, totals)?);
        }
    }
    Ok(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_that_is_reached_gives_more_detail() {
        let thresholds = [10, 20, 30];
        let expected = [(i64::MIN, 0), (9, 0), (10, 1), (19, 1), (20, 2), (29, 2), (30, 3), (i64::MAX, 3)];
        expected.iter().for_each(|(total, detail)| assert_eq!(reached(*total, &thresholds), *detail));
        assert_eq!([reached(19, &[20]), reached(20, &[20])], [0, 1]);
    }
}
