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
    /// The probability with which an empty group is suppressed.
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
#[derive(Clone, Debug)]
pub struct SuppressionEffect {
    /// The rule.
    pub rule: Suppression,
    /// `P[X <= T]`, the probability that an empty group is suppressed.
    pub of_zero: Enclosure,
    /// `P[X < T]`, the same for the rule in the text of the paper.
    pub of_zero_below: Enclosure,
    /// The smallest group that is published with probability 95 %.
    pub published_from: u64,
    /// Groups of some sizes.
    pub sizes: Vec<GroupSuppression>,
    /// The expected number of suppressed groups among the planned ones; `None` if no groups are planned.
    pub expected: Option<Enclosure>,
}

/// The suppression of a group of one size.
#[derive(Clone, Debug)]
pub struct GroupSuppression {
    /// The number of people.
    pub size: u64,
    /// The probability that it is suppressed.
    pub probability: Enclosure,
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
        let suppressed = if self.suppressed { Some(self.suppression(&stage_2, question)?) } else { None };
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

    fn suppression(&self, stage_2: &Stage, question: &TuningQuestion) -> Result<SuppressionEffect> {
        let digits = question.digits;
        let rule = Suppression::new(stage_2.noise.clone(), question.suppress.clone())?;
        let threshold = rule.threshold().max(0).unsigned_abs();
        let mut sizes = [&[0, threshold / 2, threshold, 2 * threshold], &question.sizes[..]].concat();
        sizes.sort_unstable();
        sizes.dedup();
        let of_size = |size: &u64| -> Result<GroupSuppression> {
            Ok(GroupSuppression {
                size: *size,
                probability: rule.probability(*size, digits)?,
                bias: if_in_range(rule.bias(*size, digits))?,
                formula: rule.bias_by_formula(*size, digits)?,
            })
        };
        let mut expected: Option<Enclosure> = None;
        for (size, number) in &self.groups {
            let probability = rule.probability(*size, digits)?;
            let bits = probability.lower().prec();
            let own = probability.mul(&Enclosure::rational(&Rational::from(*number), bits));
            expected = Some(expected.map_or(own.clone(), |sum| sum.add(&own)));
        }
        Ok(SuppressionEffect {
            of_zero: rule.probability(0, digits)?,
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
    use crate::numeric::rational::parse;

    const PLAN: &str = r#"title = "one level"
[[level]]
name = "County"
rho = "0.159"
thresholds = [971, 4971, 19971]
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
        let of = |size: u64| suppressed.rule.probability(size, 15).unwrap().approximate();
        let sum = 1000.0 * of(0) + 40.0 * of(21) + 7.0 * of(1000);
        assert!((suppressed.expected.unwrap().approximate() - sum).abs() < 1e-6);
        for (_, threshold, size) in tuned.reached.unwrap() {
            let size = size.to_i64().unwrap();
            let chance = |size: i64| tuned.stage_1.noise.survival(threshold - size, 15).unwrap();
            assert!(*chance(size).lower() >= margin_level() && *chance(size - 1).upper() < margin_level());
        }
        assert_eq!(plan.epsilons(&question).unwrap().budget, tuned.epsilons.budget);
    }
}
