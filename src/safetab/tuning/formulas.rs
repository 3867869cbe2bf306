//! The formulas of both papers for margins of error, as printed: for comparison only, because they are not exact.
//!
//! They are for the level 95 %: 1.96 is the quantile of the standard normal at 97.5 %, 1.92 is half its square, and 20 is 1 / 0.05.

use rug::{Integer, Rational, ops::Pow};

use crate::{
    error::{Error, Result},
    numeric::Enclosure,
    safetab::cell_noise::{CellNoise, NoiseKind},
};

/// The margin of error by formula: floor(1.96 sigma) for the discrete Gaussian (2021, Section E.2; 2024, Section 6.1), and the larger of 0
/// and floor(b ln(40 / (1 + exp(1 / b)))), b = 1 / epsilon, for the geometric (2021, equation (36)).
///
/// The text derives both from a tail of at most 2.5 % on each side beyond the number inside the floor. The floor is below that number, so a
/// coverage of 95 % is not guaranteed.
pub fn margin(noise: &CellNoise) -> Result<i64> {
    let floor = match noise {
        // floor(sqrt(q)) is the integer square root of floor(q).
        CellNoise::Gaussian(noise) => {
            let square = Rational::from((49, 25)).square() * noise.sigma2();
            square.floor().into_numer_denom().0.sqrt()
        }
        CellNoise::Geometric(noise) => floor_of(|bits| {
            let epsilon = Enclosure::rational(noise.epsilon(), bits);
            let inside = epsilon.exp().add(&Enclosure::double(1.0, bits));
            Enclosure::double(40.0, bits).div(&inside).ln().div(&epsilon)
        })?,
    };
    Ok(floor.max(Integer::new()).to_i64().unwrap_or(i64::MAX))
}

/// The integer part of a value that can be enclosed with any precision.
fn floor_of(value: impl Fn(u32) -> Enclosure) -> Result<Integer> {
    let mut bits = 100;
    while bits < 10_000 {
        let at = value(bits);
        let ends = [at.lower(), at.upper()].map(|end| end.clone().floor().to_integer());
        if let [Some(low), Some(high)] = ends
            && low == high
        {
            return Ok(low);
        }
        bits *= 2;
    }
    Err(Error::undecided("the margin by formula", "the floor of a logarithm", "another epsilon of a cell is needed"))
}

/// The budget of a level by formula, for a margin of a cell of stage 2: the cell's rho = 1.92 / floor(margin)^2 (Corollary 4
/// of 2021, 2 of 2024), or its epsilon = ln 20 / (floor(margin) + 1) (Corollary 2 of 2021), times stability / (1 - gamma).
pub fn budget(noise_kind: NoiseKind, margin: u32, gamma: &Rational, stability: u32) -> Result<Enclosure> {
    const BITS: u32 = 200;
    if margin == 0 {
        return Err(Error::out_of_range("the margin of error", 0, "at least 1 for the formula"));
    }
    let factor = Rational::from(stability) / Rational::from(1 - gamma);
    Ok(match noise_kind {
        NoiseKind::DiscreteGaussian => {
            let cell = Rational::from((48, 25)) / Rational::from(margin).square();
            Enclosure::rational(&(cell * factor), BITS)
        }
        NoiseKind::Geometric => {
            let scale = factor / Rational::from(u64::from(margin) + 1);
            Enclosure::double(20.0, BITS).ln().mul(&Enclosure::rational(&scale, BITS))
        }
    })
}

/// The budget of a level as in the production settings: half the square of 1.96 in place of 1.92, and the result rounded to this number of
/// decimals.
pub fn rounded_budget(margin: u32, gamma: &Rational, stability: u32, decimals: u32) -> Result<Rational> {
    if margin == 0 {
        return Err(Error::out_of_range("the margin of error", 0, "at least 1 for the formula"));
    }
    let cell = Rational::from((49, 25)).square() / 2_u32 / Rational::from(margin).square();
    let exact = cell * stability / Rational::from(1 - gamma);
    let power = Rational::from(Integer::from(10).pow(decimals));
    Ok((exact * &power).round() / power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn noise(noise_kind: NoiseKind, budget: &str) -> CellNoise {
        CellNoise::new(noise_kind, &parse(budget).unwrap()).unwrap()
    }

    #[test]
    fn formulas_agree_with_doubles() {
        for budget in ["0.0001", "0.0159", "0.3", "1", "2"] {
            let value = parse(budget).unwrap().to_f64();
            let gaussian = (1.96 * (1.0 / (2.0 * value)).sqrt()).floor() as i64;
            assert_eq!(margin(&noise(NoiseKind::DiscreteGaussian, budget)).unwrap(), gaussian);
            let geometric = ((40.0 / (1.0 + value.exp())).ln() / value).floor() as i64;
            assert_eq!(margin(&noise(NoiseKind::Geometric, budget)).unwrap(), geometric);
        }
        // exp(epsilon) > 39: the logarithm is negative.
        assert_eq!(margin(&noise(NoiseKind::Geometric, "5")).unwrap(), 0);
        // Exactly an integer: sigma = 25, 1.96 sigma = 49.
        assert_eq!(margin(&noise(NoiseKind::DiscreteGaussian, "1/1250")).unwrap(), 49);
    }

    #[test]
    fn budgets_by_formula_have_the_margin_by_formula() {
        let gamma = parse("1/10").unwrap();
        for target in [1_u32, 3, 6, 11, 50, 400] {
            for noise_kind in [NoiseKind::DiscreteGaussian, NoiseKind::Geometric] {
                let level = budget(noise_kind, target, &gamma, 9).unwrap().upper().to_rational().unwrap();
                let cell = level / 10_u32;
                assert_eq!(margin(&CellNoise::new(noise_kind, &cell).unwrap()).unwrap(), i64::from(target));
            }
        }
        assert!(budget(NoiseKind::Geometric, 0, &gamma, 9).is_err());
    }

    #[test]
    fn production_budgets_are_rounded_to_three_decimals() {
        let gamma = parse("1/10").unwrap();
        for (target, rho) in [(3, "2.134"), (6, "0.534"), (11, "0.159"), (50, "0.008")] {
            assert_eq!(rounded_budget(target, &gamma, 9, 3).unwrap(), parse(rho).unwrap());
        }
    }
}
