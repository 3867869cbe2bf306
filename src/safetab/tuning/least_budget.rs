//! The least budget of a level for which a cell has a given margin of error.

use rug::{Integer, Rational, ops::Pow};

use super::{
    formulas,
    level::{check_shares, margin_level},
};
use crate::{
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational},
    safetab::cell_noise::{CellNoise, NoiseKind},
};

/// The least budget on a grid for which a cell of stage 2 has a given margin.
#[derive(Clone, Debug)]
pub struct LeastBudget {
    /// The least multiple of the grid's step whose margin is at most the target, proven.
    pub value: Rational,
    /// The previous multiple, proven to have a larger margin; `None` if that would be 0.
    pub before: Option<Rational>,
}

/// The largest margin that can be requested.
const MOST_MARGIN: u32 = 100_000_000;
/// The largest number of decimals of a budget.
pub const MOST_DECIMALS: u32 = 40;

/// The least budget of a level, a multiple of 10^-decimals, for which the margin of a cell of stage 2 is at most `margin`. An error for a
/// margin above 10^8, more than [`MOST_DECIMALS`] decimals, or gamma or stability out of range.
///
/// A larger budget never has a larger margin: |X| has a likelihood ratio that is monotone in |x|, so it is stochastically larger for a
/// smaller budget. So bisection finds the least budget, and two certified comparisons prove it.
pub fn least_budget(
    noise_kind: NoiseKind,
    margin: u32,
    gamma: &Rational,
    stability: u32,
    decimals: u32,
) -> Result<LeastBudget> {
    check_shares(gamma, stability)?;
    let guess = formulas::budget(noise_kind, margin.max(1), gamma, stability)?;
    least(noise_kind, margin, Rational::from(1 - gamma) / stability, &guess, decimals)
}

/// The least budget of a level that is spent in one stage, such as a table of households, for which the margin of a cell is at most
/// `margin`; otherwise like [`least_budget`].
pub fn least_whole_budget(noise_kind: NoiseKind, margin: u32, stability: u32, decimals: u32) -> Result<LeastBudget> {
    let half = Rational::from((1, 2));
    check_shares(&half, stability)?;
    // Twice the need of a stage with half of the budget, which is close enough as a starting point.
    let guess = formulas::budget(noise_kind, margin.max(1), &half, stability)?;
    least(noise_kind, margin, Rational::from((1, stability)), &guess, decimals)
}

/// The least budget of a level whose cells have the share `cell_share`, searched from `guess`.
fn least(
    noise_kind: NoiseKind,
    margin: u32,
    cell_share: Rational,
    guess: &Enclosure,
    decimals: u32,
) -> Result<LeastBudget> {
    if margin > MOST_MARGIN {
        return Err(Error::out_of_range("the margin of error", margin, "0 to 1e8 people"));
    }
    if decimals > MOST_DECIMALS {
        return Err(Error::out_of_range("decimals", decimals, "0 to 40"));
    }
    let step = Rational::from((1, Integer::from(10).pow(decimals)));
    let meets = |multiple: &Integer| -> Result<bool> {
        let noise = CellNoise::new(noise_kind, &(Rational::from(&step * multiple) * &cell_share))?;
        covers(&noise, i64::from(margin))
    };
    // The grid begins where the noise is within the accountant's range.
    let mut below = (least_cell_budget(noise_kind) / &cell_share / &step).ceil().into_numer_denom().0 - 1_u32;
    let first = first_guess(guess)?;
    let mut at = (first / &step).ceil().into_numer_denom().0.max(Integer::from(&below + 1_u32));
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

/// The starting point of the search, from a formula: any number would do, this one is close. An error if it is not finite.
fn first_guess(formula: &Enclosure) -> Result<Rational> {
    let refused = || Error::unsuitable("the budget by formula is infinite: use a smaller share of stage 1");
    formula.upper().to_rational().ok_or_else(refused)
}

/// The least budget of a cell with noise within the range of [`crate::noise`], with some margin.
fn least_cell_budget(noise_kind: NoiseKind) -> Rational {
    match noise_kind {
        // sigma2 = 1 / (2 rho) up to 10^18.
        NoiseKind::DiscreteGaussian => Rational::from((1, 2_000_000_000_000_000_000_u64)),
        NoiseKind::Geometric => Rational::from((1, 1_000_000_000_u64)),
    }
}

/// Whether `P[|X| <= m]` >= 95 %, decided by enclosures with as many digits as needed.
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
            let apart = "its tail must differ from 2.5 % by more than 10^-500";
            return Err(Error::undecided("the budget of a cell", rational::display(noise.parameter()), apart));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::level::GroupLevel;
    use super::*;
    use crate::numeric::rational::parse;

    const BOTH: [NoiseKind; 2] = [NoiseKind::DiscreteGaussian, NoiseKind::Geometric];

    #[test]
    fn budget_and_margin_invert_each_other_and_are_monotone() {
        for noise_kind in BOTH {
            let mut last: Option<Rational> = None;
            for margin in [1, 2, 3, 6, 11, 12, 50, 200] {
                let gamma = parse("1/10").unwrap();
                let least = least_budget(noise_kind, margin, &gamma, 9, 7).unwrap();
                let at = GroupLevel::new("", noise_kind, least.value.clone(), gamma.clone(), 9).unwrap();
                assert_eq!(at.stage_2().unwrap().margin, i64::from(margin), "{noise_kind:?}");
                let before = least.before.unwrap();
                assert_eq!(Rational::from(&least.value - &before), parse("1e-7").unwrap());
                let before = GroupLevel::new("", noise_kind, before, gamma, 9).unwrap();
                assert_eq!(before.stage_2().unwrap().margin, i64::from(margin) + 1, "{noise_kind:?}");
                assert!(last.is_none_or(|last| last > least.value), "less error takes more budget");
                last = Some(least.value);
            }
        }
    }

    #[test]
    fn an_infinite_formula_is_refused_and_never_zero() {
        let end = |value: f64| rug::Float::with_val(53, value);
        let infinite = Enclosure::new(end(1.0), end(f64::INFINITY));
        assert!(first_guess(&infinite).unwrap_err().to_string().contains("infinite"));
        assert_eq!(first_guess(&Enclosure::double(0.25, 53)).unwrap(), parse("1/4").unwrap());
        // A number beyond the range of doubles is still finite.
        let gamma = Rational::from(1) - parse("1e-400").unwrap();
        assert!(formulas::budget(NoiseKind::Geometric, 5, &gamma, 9).and_then(|formula| first_guess(&formula)).is_ok());
    }

    #[test]
    fn a_coarse_grid_and_a_margin_of_zero_have_answers() {
        let gamma = parse("1/10").unwrap();
        let coarse = least_budget(NoiseKind::DiscreteGaussian, 5000, &gamma, 9, 3).unwrap();
        assert_eq!((coarse.value, coarse.before), (parse("0.001").unwrap(), None));
        // The noise is zero with probability 95 %.
        let none = least_budget(NoiseKind::Geometric, 0, &gamma, 9, 3).unwrap();
        let level = GroupLevel::new("", NoiseKind::Geometric, none.value, gamma.clone(), 9).unwrap();
        assert_eq!(level.stage_2().unwrap().margin, 0);
        for (margin, decimals) in [(MOST_MARGIN + 1, 3), (5, MOST_DECIMALS + 1)] {
            assert!(least_budget(NoiseKind::Geometric, margin, &gamma, 9, decimals).is_err());
        }
        let far = least_budget(NoiseKind::DiscreteGaussian, MOST_MARGIN, &gamma, 9, 20).unwrap();
        assert!(far.value < parse("1e-14").unwrap());
    }
}
