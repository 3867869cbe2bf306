//! The account and accuracy of a level of a plan: margins, sizes, suppression, and the epsilons of a person.

use rug::{Integer, Rational};

use super::{
    epsilons::{PersonEpsilons, person_epsilons},
    level::{Stage, TableMargins, if_in_range, margin_level},
    plan::{PlannedLevel, TuningPlan},
};
use crate::{
    account::Stop,
    error::Result,
    numeric::Enclosure,
    release::Neighbors,
    safetab::{suppression::Suppression, tables::PublishedTable},
};

/// The request for every level.
#[derive(Clone, Debug)]
pub struct TuningQuestion {
    /// The probability with which an empty group is suppressed if its total alone is published.
    pub suppress: Rational,
    /// The target ratio of the margin of a cell to the cell.
    pub target_error: Rational,
    /// The neighbor relation.
    pub neighbors: Neighbors,
    /// The delta of epsilons.
    pub delta: Rational,
    /// Sizes of groups whose suppression is reported, in addition to those that the rule suggests.
    pub sizes: Vec<u64>,
    /// The relative width of enclosures: 10^-digits.
    pub digits: u32,
    /// The signal that ends the computation.
    pub stop: Stop,
}

/// The results for a level.
#[derive(Clone, Debug)]
pub struct TunedLevel {
    /// The total of a group whose total only is published.
    pub total_only: Stage,
    /// The total that chooses the table.
    pub stage_1: Stage,
    /// A cell of the table.
    pub stage_2: Stage,
    /// Each table.
    pub tables: Vec<TableMargins>,
    /// For each threshold, the smallest group that reaches it with probability 95 %; `None` if no thresholds are given.
    pub reached: Option<Vec<(PublishedTable, i64, Integer)>>,
    /// The suppression of small totals; `None` if none are suppressed.
    pub suppressed: Option<SuppressionEffect>,
    /// The epsilons of a person.
    pub epsilons: PersonEpsilons,
}

/// The suppression of small totals.
///
/// Only a group that stage 1 gives the total only can be suppressed. Probabilities are given that, except those in two stages.
#[derive(Clone, Debug)]
pub struct SuppressionEffect {
    /// The rule.
    pub rule: Suppression,
    /// `P[X <= T]`, the probability that an empty group is suppressed if its total alone is published.
    pub of_zero: Enclosure,
    /// The probability that an empty group is suppressed in two stages; `None` if no thresholds are given.
    pub of_zero_in_two_stages: Option<Enclosure>,
    /// `P[X < T]`, the same for the rule in the text of the paper.
    pub of_zero_below: Enclosure,
    /// The smallest group that is published with probability 95 % if its total alone is published, and with at least that otherwise.
    pub published_from: u64,
    /// Groups of some sizes.
    pub sizes: Vec<GroupSuppression>,
    /// The expected number of suppressed groups among the planned ones, in two stages; `None` if no groups or no thresholds are given.
    pub expected: Option<Enclosure>,
}

/// The suppression of a group of one size.
#[derive(Clone, Debug)]
pub struct GroupSuppression {
    /// The number of people.
    pub size: u64,
    /// The probability that it is suppressed if its total alone is published.
    pub probability: Enclosure,
    /// The probability that it is suppressed in two stages; `None` if no thresholds are given.
    pub in_two_stages: Option<Enclosure>,
    /// The bias of its count given that it is published; `None` if the noise is too wide for summation.
    pub bias: Option<Enclosure>,
    /// The bias by the paper's formula (13).
    pub formula: Option<Enclosure>,
}

impl PlannedLevel {
    /// All results for the level.
    pub fn tuned(&self, question: &TuningQuestion) -> Result<TunedLevel> {
        let (total_only, stage_1, stage_2) = (self.level.total_only()?, self.level.stage_1()?, self.level.stage_2()?);
        let reached = self.thresholds.map(|thresholds| -> Result<_> {
            // P[n + X >= threshold] = P[X <= n - threshold].
            let room = stage_1.noise.quantile(&margin_level())?;
            let least = |threshold: i64| (Integer::from(threshold) + room).max(Integer::new());
            Ok(PublishedTable::ALL[1..].iter().zip(thresholds).map(|(table, at)| (*table, at, least(at))).collect())
        });
        let suppressed = if self.suppressed { Some(self.suppression(&stage_1, &stage_2, question)?) } else { None };
        Ok(TunedLevel {
            tables: self.level.tables(&question.target_error)?,
            reached: reached.transpose()?,
            suppressed,
            epsilons: person_epsilons(
                &[(&self.level, self.total_only)],
                question.neighbors,
                &question.delta,
                question.digits,
                &question.stop,
            )?,
            total_only,
            stage_1,
            stage_2,
        })
    }

    fn suppression(&self, stage_1: &Stage, stage_2: &Stage, question: &TuningQuestion) -> Result<SuppressionEffect> {
        let digits = question.digits;
        let rule = Suppression::new(stage_2.noise.clone(), question.suppress.clone())?;
        let in_two_stages = |size: u64| -> Result<Option<Enclosure>> {
            let Some([first, ..]) = self.thresholds else { return Ok(None) };
            rule.probability_in_two_stages(size, (&stage_1.noise, first), digits).map(Some)
        };
        let threshold = rule.threshold().max(0).unsigned_abs();
        let mut sizes = [&[0, threshold / 2, threshold, 2 * threshold], &question.sizes[..]].concat();
        sizes.sort_unstable();
        sizes.dedup();
        let of_size = |size: &u64| -> Result<GroupSuppression> {
            Ok(GroupSuppression {
                size: *size,
                probability: rule.probability(*size, digits)?,
                in_two_stages: in_two_stages(*size)?,
                bias: if_in_range(rule.bias(*size, digits))?,
                formula: rule.bias_by_formula(*size, digits)?,
            })
        };
        let mut expected: Option<Enclosure> = None;
        for (size, number) in &self.groups {
            let Some(probability) = in_two_stages(*size)? else { break };
            let bits = probability.lower().prec();
            let own = probability.mul(&Enclosure::rational(&Rational::from(*number), bits));
            expected = Some(expected.map_or(own.clone(), |sum| sum.add(&own)));
        }
        Ok(SuppressionEffect {
            of_zero: rule.probability(0, digits)?,
            of_zero_in_two_stages: in_two_stages(0)?,
            of_zero_below: rule.probability_below(0, digits)?,
            published_from: rule.published_from(&margin_level())?,
            sizes: sizes.iter().map(of_size).collect::<Result<_>>()?,
            expected,
            rule,
        })
    }
}

impl TuningPlan {
    /// The epsilons of a person at all levels together.
    pub fn epsilons(&self, question: &TuningQuestion) -> Result<PersonEpsilons> {
        let levels: Vec<_> = self.levels.iter().map(|planned| (&planned.level, planned.total_only)).collect();
        person_epsilons(&levels, question.neighbors, &question.delta, question.digits, &question.stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::rational::parse, safetab::cell_noise::CellNoise};

    /// The first threshold of the plan.
    const THRESHOLD: i64 = 20;

    const PLAN: &str = r#"title = "one level"
[[level]]
name = "County"
rho = "0.159"
thresholds = [20, 60, 120]
groups = [[0, 1000], [21, 40], [1000, 7]]
"#;

    #[test]
    fn expected_numbers_are_sums_over_groups_and_thresholds_are_reached() {
        let plan = TuningPlan::parse(PLAN, "plan.toml").unwrap();
        let question = TuningQuestion {
            suppress: plan.suppress.clone(),
            target_error: plan.target_error.clone(),
            neighbors: plan.neighbors,
            delta: parse("1e-10").unwrap(),
            sizes: vec![7, 21, 7],
            digits: 10,
            stop: Stop::default(),
        };
        let tuned = plan.levels[0].tuned(&question).unwrap();
        let suppressed = tuned.suppressed.unwrap();
        let sizes: Vec<u64> = suppressed.sizes.iter().map(|row| row.size).collect();
        assert_eq!(sizes, [0, 7, 10, 21, 42]);
        // By the masses of both stages: below the first threshold at stage 1, and up to the suppression threshold at stage 2.
        let below = |noise: &CellNoise, from: i64| (-600..from).map(|x| noise.mass(x, 15).approximate()).sum::<f64>();
        let of = |size: i64| {
            let last = suppressed.rule.threshold() + 1 - size;
            below(&tuned.stage_1.noise, THRESHOLD - size) * below(&tuned.stage_2.noise, last)
        };
        let sum = 1000.0 * of(0) + 40.0 * of(21) + 7.0 * of(1000);
        assert!((suppressed.of_zero_in_two_stages.unwrap().approximate() - of(0)).abs() < 1e-9);
        // An empty group reaches the first threshold by noise with probability 0.12.
        assert!((of(0) - 0.8768).abs() < 1e-3);
        assert!((suppressed.expected.unwrap().approximate() - sum).abs() < 1e-6);
        for (_, threshold, size) in tuned.reached.unwrap() {
            let size = size.to_i64().unwrap();
            let chance = |size: i64| tuned.stage_1.noise.survival(threshold - size, 15).unwrap();
            assert!(*chance(size).lower() >= margin_level() && *chance(size - 1).upper() < margin_level());
        }
        let no_thresholds = PlannedLevel { thresholds: None, ..plan.levels[0].clone() }.tuned(&question).unwrap();
        let unknown = no_thresholds.suppressed.unwrap();
        assert!(unknown.expected.is_none() && unknown.of_zero_in_two_stages.is_none());
        assert_eq!(plan.epsilons(&question).unwrap().budget, tuned.epsilons.budget);
    }
}
