//! Calibration: the least noise on a grid that meets a target, proven from both sides.

use std::cmp::Ordering;

use rug::{Integer, Rational, ops::Pow};

use super::{exact, profile::Account};
use crate::{
    error::{Error, Result},
    law::Direction,
    loss::{evaluator::Evaluator, parameter::Delta},
    numeric::{Certainty, Enclosure, rational},
};

/// The least point of a grid at which a family of compositions meets a target.
#[derive(Clone, Debug)]
pub struct Least {
    /// The grid point, proven to meet the target.
    pub value: Rational,
    /// The grid point before it, proven to miss the target; `None` if the grid starts at `value`.
    pub before: Option<Rational>,
}

/// An epsilon that is a target: exactly, or the logarithm of a ratio, or known within an enclosure alone.
#[derive(Clone, Debug)]
pub(super) enum Sought<'a> {
    /// This number.
    Exactly(&'a Rational),
    /// The logarithm of the ratio, with an enclosure of it.
    Ln(&'a Rational, &'a Enclosure),
    /// A number within the enclosure.
    Within(&'a Enclosure),
}

impl Sought<'_> {
    fn ends(&self) -> Result<(Rational, Rational)> {
        match self {
            Sought::Exactly(epsilon) => Ok(((*epsilon).clone(), (*epsilon).clone())),
            Sought::Ln(_, epsilon) | Sought::Within(epsilon) => ends(epsilon),
        }
    }

    /// exp(epsilon) where it is known to be rational.
    fn ratio(&self) -> Option<Rational> {
        match self {
            Sought::Exactly(epsilon) => (**epsilon == 0).then(|| Rational::from(1)),
            Sought::Ln(ratio, _) => Some((*ratio).clone()),
            Sought::Within(_) => None,
        }
    }
}

/// Whether the account has delta(epsilon) <= delta at the target epsilon, which is known within an enclosure.
///
/// epsilon(delta) <= E if and only if delta(E) <= delta, so one point of the profile decides: at the lower end of E for yes and at the
/// upper end for no. An error if an end of the target is infinite.
pub fn meets(account: &impl Account, epsilon: &Enclosure, delta: &Delta) -> Result<Certainty> {
    meets_at(account, &Sought::Within(epsilon), delta)
}

/// The same, where the target may be known exactly: then a delta that is just reached is decided too, as far as deltas are known exactly.
pub(super) fn meets_at(account: &impl Account, epsilon: &Sought, delta: &Delta) -> Result<Certainty> {
    let listed = || exact::delta(account.single()?, &epsilon.ratio()?).and_then(|both| both.into_iter().max());
    meets_by(&account.evaluator(), epsilon, delta, listed)
}

/// The same of one direction alone, where the pair of neighbors is not symmetric.
pub(super) fn meets_in(
    direction: Direction,
    account: &impl Account,
    epsilon: &Sought,
    delta: &Delta,
) -> Result<Certainty> {
    let evaluator = account.evaluator();
    let listed = || Some(direction.pick(exact::delta(account.single()?, &epsilon.ratio()?)?));
    match evaluator.of_direction(direction, |one| meets_by(one, epsilon, delta, listed))? {
        Some(certainty) => Ok(certainty),
        None => meets_at(account, epsilon, delta),
    }
}

/// `listed`: delta(epsilon) from all outcomes, if it is a fraction that is known.
fn meets_by(
    evaluator: &Evaluator,
    epsilon: &Sought,
    delta: &Delta,
    listed: impl Fn() -> Option<Rational>,
) -> Result<Certainty> {
    let (low, high) = epsilon.ends()?;
    // A few digits nearly always decide, and with many unequal variances no more are available.
    for digits in [4, 7, 10, 20, 40] {
        let at_low = evaluator.is_at_most(&low, delta, digits)?;
        if at_low == Certainty::Yes {
            return Ok(Certainty::Yes);
        }
        let at_high = if low == high { at_low } else { evaluator.is_at_most(&high, delta, digits)? };
        if at_high == Certainty::No {
            return Ok(Certainty::No);
        }
    }
    Ok(match listed() {
        Some(value) if value <= **delta => Certainty::Yes,
        Some(_) => Certainty::No,
        None => Certainty::Undecided,
    })
}

/// Both ends of a target, which is not negative.
fn ends(epsilon: &Enclosure) -> Result<(Rational, Rational)> {
    let unbounded = || Error::Unbounded { what: "the target epsilon" };
    let ends = epsilon.lower_rational().zip(epsilon.upper_rational()).ok_or_else(unbounded)?;
    let zero = Rational::new();
    Ok((ends.0.max(zero.clone()), ends.1.max(zero)))
}

/// The grid to search: multiples of 10^-decimals from `least` to `most`.
#[derive(Clone, Debug)]
pub struct Multiples {
    /// Decimals of a grid point.
    pub decimals: u32,
    /// Lower end of the search.
    pub least: Rational,
    /// Upper end of the search.
    pub most: Rational,
}

impl Multiples {
    /// A guess from which the search of [`Multiples::least_where`] starts at this point: below it by less than a step, so that rounding up gives the point.
    pub(super) fn guess_at(&self, point: &Rational) -> f64 {
        (point - Rational::from((1, 4)) / Integer::from(10).pow(self.decimals)).to_f64()
    }

    /// The least grid point that `holds`, searched from `guess`; `None` if the largest point does not hold.
    ///
    /// The property is expected to hold from some point on. The result does not rely on that: `value` was found to hold and `before` not
    /// to. Errors are those of `holds`.
    pub fn least_where(&self, guess: f64, mut holds: impl FnMut(&Rational) -> Result<bool>) -> Result<Option<Least>> {
        let scale = Integer::from(10).pow(self.decimals);
        let point = |index: &Integer| Rational::from((index.clone(), scale.clone()));
        let first = Rational::from(&self.least * &scale).ceil().into_numer_denom().0.max(Integer::from(1));
        let last = Rational::from(&self.most * &scale).floor().into_numer_denom().0;
        if last < first {
            return Ok(None);
        }
        let guess = if guess.is_finite() { guess } else { self.most.to_f64() };
        let start = (rational::from_f64(guess)? * &scale).ceil().into_numer_denom().0.clamp(&first, &last);
        // Bracket by growing steps, then halve.
        let (mut below, mut at) = (Integer::from(&first - 1), start.clone());
        let mut step = Integer::from(1);
        if holds(&point(&start))? {
            while at > first {
                let next = Integer::from(&at - &step).max(first.clone());
                if !holds(&point(&next))? {
                    below = next;
                    break;
                }
                at = next;
                step *= 8;
            }
        } else {
            loop {
                below = at.clone();
                if at == last {
                    return Ok(None);
                }
                at = Integer::from(&at + &step).min(last.clone());
                step *= 8;
                if holds(&point(&at))? {
                    break;
                }
            }
        }
        while Integer::from(&at - &below) > 1 {
            let middle = (Integer::from(&at + &below)) >> 1;
            if holds(&point(&middle))? { at = middle } else { below = middle }
        }
        Ok(Some(Least { value: point(&at), before: (below >= first).then(|| point(&below)) }))
    }
}

/// The least point g of a grid at which `family(g)` meets (epsilon, delta), searched from `guess`; `None` if the largest point does not.
///
/// The family is expected to get more private as g grows (sigma2, or a common factor of all sigma2). The result does not rely on that:
/// `value` is proven to meet the target and `before` to miss it. An error if the target is within a relative 10^-40 of the epsilon of a
/// grid point.
pub fn least_in<A: Account>(
    grid: &Multiples,
    family: impl Fn(&Rational) -> Result<A>,
    epsilon: &Enclosure,
    delta: &Delta,
    guess: f64,
) -> Result<Option<Least>> {
    grid.least_where(guess, |point| match meets(&family(point)?, epsilon, delta)? {
        Certainty::Yes => Ok(true),
        Certainty::No => Ok(false),
        Certainty::Undecided => Err(Error::undecided(
            "the target epsilon",
            epsilon.shown(17),
            "it must differ from the epsilon of every grid point by more than a relative 10^-40",
        )),
    })
}

/// [`least_in`] on all multiples g > 0 of 10^-decimals. An error if no noise up to 10^18 was found that meets the target.
pub fn least_on_grid<A: Account>(
    family: impl Fn(&Rational) -> Result<A>,
    epsilon: &Enclosure,
    delta: &Delta,
    decimals: u32,
    guess: f64,
) -> Result<Least> {
    let grid = Multiples { decimals, least: Rational::new(), most: Rational::from(1_000_000_000_000_000_000_u64) };
    least_in(&grid, family, epsilon, delta, guess)?.ok_or_else(|| {
        let shown = epsilon.shown(17);
        Error::NotFound {
            why: format!("no noise up to 10^18 was found that has the target epsilon {shown}: use a larger epsilon"),
        }
    })
}

/// A starting point for the searches above, in doubles: the noise with delta(epsilon) = delta, found by secants in logarithms from `start`
/// between `least` and `most`. A wrong value only makes the search slower.
pub fn guess<A: Account>(
    family: impl Fn(&Rational) -> Result<A>,
    epsilon: &Enclosure,
    delta: &Delta,
    (least, start, most): (f64, f64, f64),
) -> Result<f64> {
    if least.partial_cmp(&most) != Some(Ordering::Less) {
        return Err(Error::unsuitable("no range of noise in which a start could be searched for"));
    }
    let at = ends(epsilon)?.0;
    let ln_delta = Enclosure::rational(delta, 100).ln().approximate();
    let excess = |ln: f64| -> Result<f64> {
        Ok(family(&rational::from_f64(libm::exp(ln).clamp(least, most))?)?.evaluator().ln_hockey_stick_approx(&at)?
            - ln_delta)
    };
    let (mut low, mut high) = (libm::log(least), libm::log(most));
    let (mut x, mut previous) = (libm::log(start.clamp(least, most)), None::<(f64, f64)>);
    for _ in 0..60 {
        let value = excess(x)?;
        // Too little noise: delta is above its target, or so far above that the value is NaN.
        if value.is_nan() || value > 0.0 {
            low = low.max(x)
        } else {
            high = high.min(x)
        }
        if value.abs() < 1e-11 || high - low < 1e-14 {
            break;
        }
        let secant = match previous {
            Some((x0, value0)) => x - value * (x - x0) / (value - value0),
            // Steps of 0.1 until two values are known.
            None => x + if value > 0.0 { 0.1 } else { -0.1 },
        };
        // From the second step on, a step is at most four times the one before.
        let reach = previous.map_or(0.1, |(x0, _)| 4.0 * (x - x0).abs().max(1e-13));
        let next = secant.clamp(x - reach, x + reach);
        let next = if next > low && next < high { next } else { low + (high - low) / 2.0 };
        if next == x || !next.is_finite() {
            break;
        }
        previous = Some((x, value));
        x = next;
    }
    Ok(libm::exp(x).clamp(least, most))
}

#[cfg(test)]
mod tests {
    use super::super::{Composition, Counts, conversions};
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn the_least_noise_is_proven_and_its_neighbor_is_disproved() {
        let delta: Delta = "1e-11".parse().unwrap();
        let target = conversions::zcdp_epsilon(&"1.0001".parse().unwrap(), &delta, 30);
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
