//! One level of population groups: the noise of its stages, and their margins of error.

use rug::{Integer, Rational};

use super::formulas;
use crate::{
    account::Counts,
    error::{Error, Result},
    numeric::{Enclosure, rational},
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        tables::PublishedTable,
    },
};

/// The probability level of all margins of error: 95 %.
pub fn margin_level() -> Rational {
    Rational::from((19, 20))
}

/// One level of population groups: a type of region with a level of iterations.
///
/// ```
/// use dp_assay::{numeric::rational::parse, safetab::{cell_noise::NoiseKind, tuning::GroupLevel}};
/// let budget = parse("0.159")?;
/// let county = GroupLevel::new("County, Detailed", NoiseKind::DiscreteGaussian, budget, parse("1/10")?, 9)?;
/// assert_eq!(county.stage_2()?.noise.parameter().to_string(), "5000/159");
/// assert_eq!((county.stage_2()?.margin, county.stage_2()?.formula), (11, 10));
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupLevel {
    name: String,
    noise_kind: NoiseKind,
    budget: Rational,
    gamma: Rational,
    stability: u32,
}

/// One of the noisy counts of a group.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its noise.
    pub noise: CellNoise,
    /// The smallest m with `P[|X| <= m]` >= 95 %, proven from both sides.
    pub margin: i64,
    /// `P[|X| <= margin]`.
    pub coverage: Enclosure,
    /// The margin by the papers' formula: [`formulas::margin`].
    pub formula: i64,
    /// `P[|X| <= formula]`.
    pub formula_coverage: Enclosure,
}

/// The margins of error of a table, and the size of a group for which it is suitable.
#[derive(Clone, Debug)]
pub struct TableMargins {
    /// The table.
    pub table: PublishedTable,
    /// The margin of error of one cell.
    pub cell: i64,
    /// The margin of the sum of all cells of one sex; `None` for a total, or if the sum is too wide to compute.
    pub sex: Option<i64>,
    /// The margin of the sum of all cells; `None` if it is too wide to compute.
    pub total: Option<i64>,
    /// The smallest group for which the margin of the average cell is at most the target error times the cell.
    pub size: Integer,
}

/// The digits of coverage.
const DIGITS: u32 = 12;

impl GroupLevel {
    /// A level with budget above 0, 0 < gamma < 1 and stability from 1 to 1000; anything else is an error.
    pub fn new(name: &str, noise_kind: NoiseKind, budget: Rational, gamma: Rational, stability: u32) -> Result<Self> {
        if budget <= 0 {
            let shown = rational::display(&budget);
            return Err(Error::out_of_range(noise_kind.budget_name(), shown, "a budget above 0"));
        }
        check_shares(&gamma, stability)?;
        Ok(GroupLevel { name: name.to_string(), noise_kind, budget, gamma, stability })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its noise.
    pub fn noise_kind(&self) -> NoiseKind {
        self.noise_kind
    }

    /// rho, or epsilon.
    pub fn budget(&self) -> &Rational {
        &self.budget
    }

    /// The share of stage 1.
    pub fn gamma(&self) -> &Rational {
        &self.gamma
    }

    /// Upper bound on the number of groups of the level that a person belongs to.
    pub fn stability(&self) -> u32 {
        self.stability
    }

    /// The noise of a count that spends a share of a group's budget.
    fn noise(&self, share: &Rational) -> Result<CellNoise> {
        CellNoise::new(self.noise_kind, &(Rational::from(&self.budget * share) / self.stability))
    }

    /// The noise of the total of a group whose total only is published.
    pub fn total_only_noise(&self) -> Result<CellNoise> {
        self.noise(&Rational::from(1))
    }

    /// The noise of the total of stage 1, and of a cell of stage 2.
    pub fn stage_noises(&self) -> Result<[CellNoise; 2]> {
        Ok([self.noise(&self.gamma)?, self.noise(&Rational::from(1 - &self.gamma))?])
    }

    /// The total of a group whose total only is published.
    pub fn total_only(&self) -> Result<Stage> {
        Stage::new(self.total_only_noise()?)
    }

    /// The total that chooses the table.
    pub fn stage_1(&self) -> Result<Stage> {
        let [noise, _] = self.stage_noises()?;
        Stage::new(noise)
    }

    /// A cell of the table.
    pub fn stage_2(&self) -> Result<Stage> {
        let [_, noise] = self.stage_noises()?;
        Stage::new(noise)
    }

    /// The counts that change with a person in `total_only` groups of the first kind and `two_stage` of the other.
    pub fn counts(&self, total_only: u64, two_stage: u64) -> Result<Vec<Counts>> {
        let mut counts = Vec::new();
        if total_only > 0 {
            counts.push(self.total_only_noise()?.counts(total_only)?);
        }
        if two_stage > 0 {
            for noise in self.stage_noises()? {
                counts.push(noise.counts(two_stage)?);
            }
        }
        Ok(counts)
    }

    /// The margins of every table, and the smallest group whose average cell meets a target error, a positive share of the cell: with k
    /// cells of margin m its size is k m / target.
    pub fn tables(&self, target_error: &Rational) -> Result<Vec<TableMargins>> {
        if *target_error <= 0 {
            let expected = "a share above 0, such as 1/10";
            return Err(Error::out_of_range("the target error", rational::display(target_error), expected));
        }
        let [_, noise] = self.stage_noises()?;
        let margin = |copies| if_in_range(noise.margin(copies, &margin_level()));
        let cell = noise.margin(1, &margin_level())?;
        (PublishedTable::ALL.into_iter())
            .map(|table| {
                let cells = table.noisy_cells();
                let size = (Rational::from(cell) * cells / target_error).ceil().into_numer_denom().0;
                let sex = if table == PublishedTable::Total { None } else { margin(cells / 2)? };
                Ok(TableMargins { table, cell, sex, total: margin(cells)?, size })
            })
            .collect()
    }
}

pub(super) fn check_shares(gamma: &Rational, stability: u32) -> Result<()> {
    if *gamma <= 0 || *gamma >= 1 {
        let expected = "the share of stage 1, between 0 and 1";
        return Err(Error::out_of_range("gamma", rational::display(gamma), expected));
    }
    if !(1..=1000).contains(&stability) {
        return Err(Error::out_of_range("stability", stability, "1 to 1000 groups"));
    }
    Ok(())
}

/// The stability of a level (census specification, and 2024, Section 2.3): a person has at most max(2, race_codes) race iterations, alone
/// and in combination, if every code belongs to one of each, and one ethnicity iteration. `race_codes` is from 1 to 8; anything else is an
/// error.
pub fn stability(race_codes: u32) -> Result<u32> {
    if !(1..=8).contains(&race_codes) {
        return Err(Error::out_of_range("the number of race codes", race_codes, "1 to 8"));
    }
    Ok(race_codes.max(2) + 1)
}

/// The result, or `None` if a quantity is out of range.
pub(super) fn if_in_range<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Err(Error::OutOfRange { .. } | Error::Undecided { .. }) => Ok(None),
        other => other.map(Some),
    }
}

impl Stage {
    fn new(noise: CellNoise) -> Result<Self> {
        let (margin, formula) = (noise.margin(1, &margin_level())?, formulas::margin(&noise)?);
        let coverage = noise.coverage(1, margin, DIGITS)?;
        let formula_coverage = noise.coverage(1, formula, DIGITS)?;
        Ok(Stage { noise, margin, coverage, formula, formula_coverage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn level(noise_kind: NoiseKind, budget: &str) -> GroupLevel {
        GroupLevel::new("test", noise_kind, parse(budget).unwrap(), parse("1/10").unwrap(), 9).unwrap()
    }

    const BOTH: [NoiseKind; 2] = [NoiseKind::DiscreteGaussian, NoiseKind::Geometric];

    /// The smallest m by summing masses in doubles.
    fn margin_by_sums(noise: &CellNoise) -> i64 {
        let mut covered = noise.mass(0, 17).approximate();
        let mut m = 0;
        while covered < 0.95 {
            m += 1;
            covered += 2.0 * noise.mass(m, 17).approximate();
        }
        m
    }

    #[test]
    fn margins_agree_with_sums_of_masses() {
        for noise_kind in BOTH {
            for budget in ["40", "4.27", "2.134", "0.534", "0.159", "0.05"] {
                let level = level(noise_kind, budget);
                for stage in [level.total_only(), level.stage_1(), level.stage_2()] {
                    let stage = stage.unwrap();
                    assert_eq!(stage.margin, margin_by_sums(&stage.noise), "{noise_kind:?} {budget}");
                    assert!(*stage.coverage.lower() >= margin_level());
                }
            }
        }
    }

    #[test]
    fn the_stages_share_the_budget_of_a_group() {
        let level = level(NoiseKind::DiscreteGaussian, "0.159");
        let sum_of_rhos = |counts: Vec<Counts>| counts.iter().fold(Rational::new(), |sum, counts| sum + counts.rho());
        for total_only in 0..=9 {
            assert_eq!(sum_of_rhos(level.counts(total_only, 9 - total_only).unwrap()), *level.budget());
        }
        assert_eq!([1, 2, 3, 8].map(|codes| stability(codes).unwrap()), [3, 3, 4, 9]);
        assert!(stability(0).is_err() && stability(9).is_err());
    }

    #[test]
    fn sizes_are_those_at_which_the_average_cell_meets_the_target() {
        let level = level(NoiseKind::DiscreteGaussian, "0.159");
        let target = parse("1/10").unwrap();
        let tables = level.tables(&target).unwrap();
        for row in &tables {
            let cells = row.table.noisy_cells();
            // The ratio of the margin to the average cell.
            let error = |n: Integer| Rational::from((Integer::from(row.cell) * cells, n));
            assert!(error(row.size.clone()) <= target && error(row.size.clone() - 1_u32) > target);
            let (sex, total) = (row.sex.unwrap_or(row.cell), row.total.unwrap());
            assert!(total >= sex && sex >= row.cell);
        }
        assert_eq!(tables[0].size, 110);
        assert!(level.tables(&Rational::new()).is_err());
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let gaussian = NoiseKind::DiscreteGaussian;
        for (budget, gamma, stability, says) in
            [("0", "1/10", 9, "rho"), ("1", "0", 9, "gamma"), ("1", "1", 9, "gamma"), ("1", "0.5", 0, "stability")]
        {
            let refused = GroupLevel::new("", gaussian, parse(budget).unwrap(), parse(gamma).unwrap(), stability);
            assert!(refused.unwrap_err().to_string().contains(says));
        }
    }
}
