//! Calibration: the least noise on a grid that meets a target, certified from both sides.

use rug::{Integer, Rational, ops::Pow};

use super::{Composition, profile::check_delta};
use crate::{
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational},
};

/// The least point of a grid at which a family of compositions meets a target.
#[derive(Clone, Debug)]
pub struct Least {
    /// The grid point, proven to meet the target.
    pub value: Rational,
    /// The grid point before it, proven not to; nothing where the grid starts at `value`.
    pub before: Option<Rational>,
}

/// Does the composition have delta(epsilon) <= delta at the target epsilon, itself known within an enclosure?
///
/// epsilon(delta) <= E if and only if delta(E) <= delta, so one point of the profile decides: at the lower end of E
/// for yes and at the upper end for no.
pub fn meets(composition: &Composition, epsilon: &Enclosure, delta: &Rational) -> Result<Certainty> {
    let (low, high) = (end(epsilon.lower()), end(epsilon.upper()));
    for digits in [10, 20, 40] {
        if composition.delta(&low, digits)?.value.at_most(delta) == Certainty::Yes {
            return Ok(Certainty::Yes);
        }
        if composition.delta(&high, digits)?.value.at_most(delta) == Certainty::No {
            return Ok(Certainty::No);
        }
    }
    Ok(Certainty::Undecided)
}

fn end(value: &rug::Float) -> Rational {
    let value = value.to_rational().unwrap_or_default();
    if value < 0 { Rational::new() } else { value }
}

/// The least multiple g > 0 of 10^-decimals at which `family(g)` meets (epsilon, delta), searched from `guess`.
///
/// The family is expected to get more private as g grows (sigma2, or a common factor of all sigma2). The answer does
/// not rest on it: `value` is proven to meet the target and `before` is proven not to.
pub fn least_on_grid(
    family: impl Fn(&Rational) -> Result<Composition>,
    epsilon: &Enclosure,
    delta: &Rational,
    decimals: u32,
    guess: f64,
) -> Result<Least> {
    check_delta(delta)?;
    let scale = Integer::from(10).pow(decimals);
    let point = |index: &Integer| Rational::from((index.clone(), scale.clone()));
    let holds = |index: &Integer| -> Result<bool> {
        match meets(&family(&point(index))?, epsilon, delta)? {
            Certainty::Yes => Ok(true),
            Certainty::No => Ok(false),
            Certainty::Undecided => Err(Error::out_of_range(
                "the target epsilon",
                epsilon.shown(17),
                "one that differs from the epsilon of every grid point by more than 10^-40 of itself",
            )),
        }
    };
    let start = (rational::from_f64(guess) * &scale).ceil().into_numer_denom().0.max(Integer::from(1));
    // Bracket by growing steps, then halve.
    let (mut below, mut at) = (Integer::new(), start.clone());
    let mut step = Integer::from(&start >> 10_u32) + 1_u32;
    if holds(&start)? {
        loop {
            let next = Integer::from(&at - &step);
            if next <= 0 {
                break;
            }
            if !holds(&next)? {
                below = next;
                break;
            }
            at = next;
            step *= 2;
        }
    } else {
        below = start.clone();
        at = start + &step;
        while !holds(&at)? {
            below = at.clone();
            step *= 2;
            at += &step;
        }
    }
    while Integer::from(&at - &below) > 1 {
        let middle = (Integer::from(&at + &below)) >> 1;
        if holds(&middle)? { at = middle } else { below = middle }
    }
    Ok(Least { value: point(&at), before: (below > 0).then(|| point(&below)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Counts, conversions},
        numeric::rational::parse,
    };

    #[test]
    fn the_least_noise_is_proven_and_its_neighbor_is_disproved() {
        let delta = parse("1e-11").unwrap();
        let rho = parse("1.0001").unwrap();
        let target = conversions::zcdp_epsilon(&rho, &delta, 30);
        let family = |sigma2: &Rational| Composition::new([Counts::discrete_gaussian(sigma2.clone(), 10, 1)?]);
        let least = least_on_grid(family, &target, &delta, 2, 5.0).unwrap();
        let again = least_on_grid(family, &target, &delta, 2, 0.01).unwrap();
        assert_eq!((&least.value, &least.before), (&again.value, &again.before));
        let before = least.before.unwrap();
        assert_eq!(Rational::from(&least.value - &before), parse("0.01").unwrap());
        let epsilon = |sigma2| family(sigma2).unwrap().epsilon(&delta, 12).unwrap().value;
        assert!(epsilon(&least.value).upper() <= target.lower() && epsilon(&before).lower() >= target.upper());
    }
}
