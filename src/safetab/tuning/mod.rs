//! From a budget to margins of error, sizes and privacy, and back: what the SafeTEx tool does (2024, Section 6.3), exactly.
//!
//! | file | what it is about |
//! | --- | --- |
//! | this one | one level: the noise of its stages, their margins, and the least budget for a margin |
//! | [`formulas`] | the closed formulas of both papers for the same, to be compared with |
//! | [`plan`] | a file of levels |
//! | [`spent`] | what one person's data reveal, for a level and for a plan |
//! | [`tuned`] | all answers about a level of a plan |
//!
//! A level of budget B and stability s gives every population group B / s. A group that is published by its total only has
//! it all in one count; another has gamma B / s for the total of stage 1, which chooses the table, and the rest for each
//! cell of the table, of stage 2 (2021 and 2024, Algorithms 1 and 2). Margins are at the papers' level of 95 %.

pub mod formulas;
pub mod plan;
pub mod spent;
pub mod tuned;

use rug::{Integer, Rational, ops::Pow};

use super::{
    cell::{CellNoise, Mechanism},
    postprocess::Table,
};
use crate::{
    account::Counts,
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational},
};

/// The level of all margins of error: 95 %.
pub fn margin_level() -> Rational {
    Rational::from((19, 20))
}

/// One level of population groups: a type of region with a level of iterations.
///
/// ```
/// use dp_assay::{numeric::rational::parse, safetab::{cell::Mechanism, tuning::Level}};
/// let budget = parse("0.159")?;
/// let county = Level::new("County, Detailed", Mechanism::DiscreteGaussian, budget, parse("1/10")?, 9)?;
/// assert_eq!(county.stage_2()?.noise.parameter().to_string(), "5000/159");
/// assert_eq!((county.stage_2()?.margin, county.stage_2()?.formula), (11, 10));
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Level {
    name: String,
    mechanism: Mechanism,
    budget: Rational,
    gamma: Rational,
    stability: u32,
}

/// One of the counts that a group can get.
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

/// What a table takes.
#[derive(Clone, Debug)]
pub struct TableError {
    /// The table.
    pub table: Table,
    /// The margin of error of one cell.
    pub cell: i64,
    /// That of the sum of all cells of one sex; nothing for a total, or where the sum is too wide to be known.
    pub sex: Option<i64>,
    /// That of the sum of all cells; nothing where it is too wide to be known.
    pub total: Option<i64>,
    /// The least size of a group whose average cell has a margin of at most the target error times the cell.
    pub size: Integer,
}

/// Digits of coverage.
const DIGITS: u32 = 12;

impl Level {
    /// A level: budget above 0, 0 < gamma < 1, stability from 1 to 1000.
    pub fn new(name: &str, mechanism: Mechanism, budget: Rational, gamma: Rational, stability: u32) -> Result<Self> {
        if budget <= 0 {
            let shown = rational::display(&budget);
            return Err(Error::out_of_range(mechanism.budget_name(), shown, "a budget above 0"));
        }
        check_shares(&gamma, stability)?;
        Ok(Level { name: name.to_string(), mechanism, budget, gamma, stability })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its noise.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// rho, or epsilon.
    pub fn budget(&self) -> &Rational {
        &self.budget
    }

    /// The share of stage 1.
    pub fn gamma(&self) -> &Rational {
        &self.gamma
    }

    /// How many groups of the level a person can be in.
    pub fn stability(&self) -> u32 {
        self.stability
    }

    /// The noise of a count that has a share of what a group has.
    fn noise(&self, share: &Rational) -> Result<CellNoise> {
        CellNoise::new(self.mechanism, &(Rational::from(&self.budget * share) / self.stability))
    }

    /// The noise of the total of a group that gets nothing else.
    pub fn total_only_noise(&self) -> Result<CellNoise> {
        self.noise(&Rational::from(1))
    }

    /// The noise of the total of stage 1, and of a cell of stage 2.
    pub fn stage_noises(&self) -> Result<[CellNoise; 2]> {
        Ok([self.noise(&self.gamma)?, self.noise(&Rational::from(1 - &self.gamma))?])
    }

    /// The total of a group that gets nothing else.
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

    /// What a person in `total_only` groups of the one kind and `two_stage` of the other moves.
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

    /// The margins of every table, and the sizes from which the average cell meets a target error, a share of the cell
    /// above 0: with k cells of margin m that is from k m / target on.
    pub fn tables(&self, target_error: &Rational) -> Result<Vec<TableError>> {
        if *target_error <= 0 {
            let expected = "a share above 0, as 1/10";
            return Err(Error::out_of_range("the target error", rational::display(target_error), expected));
        }
        let [_, noise] = self.stage_noises()?;
        let margin = |copies| tuned::within(noise.margin(copies, &margin_level()));
        let cell = noise.margin(1, &margin_level())?;
        (Table::ALL.into_iter())
            .map(|table| {
                let cells = table.noisy_cells();
                let size = (Rational::from(cell) * cells / target_error).ceil().into_numer_denom().0;
                let sex = if table == Table::Total { None } else { margin(cells / 2)? };
                Ok(TableError { table, cell, sex, total: margin(cells)?, size })
            })
            .collect()
    }
}

fn check_shares(gamma: &Rational, stability: u32) -> Result<()> {
    if *gamma <= 0 || *gamma >= 1 {
        let expected = "the share of stage 1, between 0 and 1";
        return Err(Error::out_of_range("gamma", rational::display(gamma), expected));
    }
    if !(1..=1000).contains(&stability) {
        return Err(Error::out_of_range("stability", stability, "1 to 1000 groups"));
    }
    Ok(())
}

/// The stability of a level (census specification, and 2024, Section 2.3): a person has at most max(2, race_codes) race
/// iterations, alone and in combination, where every code is in one, and one of its ethnicity. Race multiplicity is from 1
/// to 8.
pub fn stability(race_codes: u32) -> Result<u32> {
    if !(1..=8).contains(&race_codes) {
        return Err(Error::out_of_range("the number of race codes", race_codes, "1 to 8"));
    }
    Ok(race_codes.max(2) + 1)
}

impl Stage {
    fn new(noise: CellNoise) -> Result<Self> {
        let (margin, formula) = (noise.margin(1, &margin_level())?, formulas::margin(&noise)?);
        let coverage = noise.coverage(1, margin, DIGITS)?;
        let formula_coverage = noise.coverage(1, formula, DIGITS)?;
        Ok(Stage { noise, margin, coverage, formula, formula_coverage })
    }
}

/// The least budget on a grid with which a cell of stage 2 has a margin.
#[derive(Clone, Debug)]
pub struct LeastBudget {
    /// The least multiple of the grid's step whose margin is at most the target, proven.
    pub value: Rational,
    /// The multiple before, proven to have a larger margin; nothing where that would be 0.
    pub before: Option<Rational>,
}

/// The greatest margin that can be asked for.
const MOST_MARGIN: u32 = 100_000_000;
/// The greatest number of decimals of a budget.
pub const MOST_DECIMALS: u32 = 40;

/// The least budget of a level, a multiple of 10^-decimals, with which the margin of a cell of stage 2 is at most `margin`.
///
/// More budget is never a larger margin: |X| has a likelihood ratio that is monotone in |x|, so it is stochastically
/// larger for a smaller budget. So halving finds the least, and two certified comparisons prove it.
pub fn least_budget(
    mechanism: Mechanism,
    margin: u32,
    gamma: &Rational,
    stability: u32,
    decimals: u32,
) -> Result<LeastBudget> {
    check_shares(gamma, stability)?;
    if margin > MOST_MARGIN {
        return Err(Error::out_of_range("the margin of error", margin, "0 to 1e8 people"));
    }
    if decimals > MOST_DECIMALS {
        return Err(Error::out_of_range("decimals", decimals, "0 to 40"));
    }
    let step = Rational::from((1, Integer::from(10).pow(decimals)));
    let cell_share = Rational::from(1 - gamma) / stability;
    let meets = |multiple: &Integer| -> Result<bool> {
        let noise = CellNoise::new(mechanism, &(Rational::from(&step * multiple) * &cell_share))?;
        covers(&noise, i64::from(margin))
    };
    // The grid begins where the noise is within the accountant's range.
    let mut below = (least_cell_budget(mechanism) / &cell_share / &step).ceil().into_numer_denom().0 - 1_u32;
    let guess = formulas::budget(mechanism, margin.max(1), gamma, stability)?.approximate();
    let guess = (Rational::from_f64(guess).unwrap_or_default() / &step).ceil().into_numer_denom().0;
    let mut at = guess.max(Integer::from(&below + 1_u32));
    while !meets(&at)? {
        below.clone_from(&at);
        at *= 2_u32;
    }
    while Integer::from(&at - &below) > 1 {
        let middle = Integer::from(&at + &below) / 2_u32;
        if meets(&middle)? { at = middle } else { below = middle }
    }
    let before = (below > 0).then(|| Rational::from(&step * &below));
    Ok(LeastBudget { value: Rational::from(&step * &at), before })
}

/// The least budget of a cell that has noise within the range of [`crate::noise`], with room.
fn least_cell_budget(mechanism: Mechanism) -> Rational {
    match mechanism {
        // sigma2 = 1 / (2 rho) up to 10^18.
        Mechanism::DiscreteGaussian => Rational::from((1, 2_000_000_000_000_000_000_u64)),
        Mechanism::Geometric => Rational::from((1, 1_000_000_000_u64)),
    }
}

/// Whether `P[|X| <= m]` >= 95 %, decided by enclosures as sharp as it takes.
fn covers(noise: &CellNoise, m: i64) -> Result<bool> {
    let most = (1 - margin_level()) / 2_u32;
    let mut digits = 15;
    loop {
        match noise.survival(m + 1, digits)?.at_most(&most) {
            Certainty::Yes => return Ok(true),
            Certainty::No => return Ok(false),
            Certainty::Undecided => digits *= 2,
        }
        if digits > 1000 {
            let expected = "a budget whose tail differs from 2.5 % by more than 10^-500";
            return Err(Error::out_of_range("the budget of a cell", rational::display(noise.parameter()), expected));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn level(mechanism: Mechanism, budget: &str) -> Level {
        Level::new("test", mechanism, parse(budget).unwrap(), parse("1/10").unwrap(), 9).unwrap()
    }

    const BOTH: [Mechanism; 2] = [Mechanism::DiscreteGaussian, Mechanism::Geometric];

    /// The smallest m by adding masses in doubles.
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
        for mechanism in BOTH {
            for budget in ["40", "4.27", "2.134", "0.534", "0.159", "0.05"] {
                let level = level(mechanism, budget);
                for stage in [level.total_only(), level.stage_1(), level.stage_2()] {
                    let stage = stage.unwrap();
                    assert_eq!(stage.margin, margin_by_sums(&stage.noise), "{mechanism:?} {budget}");
                    assert!(*stage.coverage.lower() >= margin_level());
                }
            }
        }
    }

    #[test]
    fn budget_and_margin_invert_each_other_and_are_monotone() {
        for mechanism in BOTH {
            let mut last: Option<Rational> = None;
            for margin in [1, 2, 3, 6, 11, 12, 50, 200] {
                let gamma = parse("1/10").unwrap();
                let least = least_budget(mechanism, margin, &gamma, 9, 7).unwrap();
                let at = Level::new("", mechanism, least.value.clone(), gamma.clone(), 9).unwrap();
                assert_eq!(at.stage_2().unwrap().margin, i64::from(margin), "{mechanism:?}");
                let before = least.before.unwrap();
                assert_eq!(Rational::from(&least.value - &before), parse("1e-7").unwrap());
                let before = Level::new("", mechanism, before, gamma, 9).unwrap();
                assert_eq!(before.stage_2().unwrap().margin, i64::from(margin) + 1, "{mechanism:?}");
                assert!(last.is_none_or(|last| last > least.value), "less error takes more budget");
                last = Some(least.value);
            }
        }
    }

    #[test]
    fn a_coarse_grid_and_a_margin_of_zero_have_answers() {
        let gamma = parse("1/10").unwrap();
        let coarse = least_budget(Mechanism::DiscreteGaussian, 5000, &gamma, 9, 3).unwrap();
        assert_eq!((coarse.value, coarse.before), (parse("0.001").unwrap(), None));
        // All of the noise is zero with probability 95 %.
        let none = least_budget(Mechanism::Geometric, 0, &gamma, 9, 3).unwrap();
        let level = Level::new("", Mechanism::Geometric, none.value, gamma.clone(), 9).unwrap();
        assert_eq!(level.stage_2().unwrap().margin, 0);
        for (margin, decimals) in [(MOST_MARGIN + 1, 3), (5, MOST_DECIMALS + 1)] {
            assert!(least_budget(Mechanism::Geometric, margin, &gamma, 9, decimals).is_err());
        }
        let far = least_budget(Mechanism::DiscreteGaussian, MOST_MARGIN, &gamma, 9, 20).unwrap();
        assert!(far.value < parse("1e-14").unwrap());
    }

    #[test]
    fn the_stages_share_the_budget_of_a_group() {
        let level = level(Mechanism::DiscreteGaussian, "0.159");
        let spent = |counts: Vec<Counts>| counts.iter().fold(Rational::new(), |sum, counts| sum + counts.rho());
        for total_only in 0..=9 {
            assert_eq!(spent(level.counts(total_only, 9 - total_only).unwrap()), *level.budget());
        }
        assert_eq!([1, 2, 3, 8].map(|codes| stability(codes).unwrap()), [3, 3, 4, 9]);
        assert!(stability(0).is_err() && stability(9).is_err());
    }

    #[test]
    fn sizes_are_those_at_which_the_average_cell_meets_the_target() {
        let level = level(Mechanism::DiscreteGaussian, "0.159");
        let target = parse("1/10").unwrap();
        let tables = level.tables(&target).unwrap();
        for row in &tables {
            let cells = row.table.noisy_cells();
            // The margin over the average cell.
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
        let gaussian = Mechanism::DiscreteGaussian;
        for (budget, gamma, stability, says) in
            [("0", "1/10", 9, "rho"), ("1", "0", 9, "gamma"), ("1", "1", 9, "gamma"), ("1", "0.5", 0, "stability")]
        {
            let refused = Level::new("", gaussian, parse(budget).unwrap(), parse(gamma).unwrap(), stability);
            assert!(refused.unwrap_err().to_string().contains(says));
        }
    }
}
