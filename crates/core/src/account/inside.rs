//! Noise that keeps a promise where the largest does not: with a bound or a threshold, more noise becomes less private in the end.

use rug::{Integer, Rational, ops::Pow};

use super::{calibrate::Multiples, profile::Account};
use crate::{error::Result, numeric::rational};

/// A number of the grid that keeps the promise, where it is kept within an interval of numbers only: of numbers over the whole range, each a quarter larger than the one
/// X
pub(super) fn kept_within<A: Account>(
    grid: &Multiples,
    family: &impl Fn(&Rational) -> Result<A>,
    missed_by: impl Fn(&A) -> Result<f64>,
) -> Result<Option<Rational>> {
    const RATIO: f64 = 1.25;
    const NARROWED: usize = 40;
    let scale = Integer::from(10).pow(grid.decimals);
    let unit = Rational::from((1, scale.clone()));
    let rounded = |number: f64| -> Result<Rational> {
        let index = (rational::from_f64(number)? * &scale).round().into_numer_denom().0;
        Ok(Rational::from((index, scale.clone())).clamp(&grid.least, &grid.most))
    };
    let missed = |ln: f64| missed_by(&family(&rounded(libm::exp(ln))?)?);
    let (first, last) = (libm::log(grid.least.clone().max(unit).to_f64()), libm::log(grid.most.to_f64()));
    let points = ((last - first) / libm::log(RATIO)).ceil().clamp(1.0, 400.0) as usize;
    let step = (last - first) / points as f64;
    let mut best = (f64::INFINITY, first);
    for k in 0..=points {
        let ln = first + step * k as f64;
        let value = missed(ln)?;
        if value == f64::NEG_INFINITY {
            return Ok(Some(rounded(libm::exp(ln))?));
        }
        if value < best.0 {
            best = (value, ln);
        }
    }
    // By thirds around the most private.
    let (mut low, mut high) = ((best.1 - step).max(first), (best.1 + step).min(last));
    for _ in 0..NARROWED {
        let third = (high - low) / 3.0;
        let two = [low + third, high - third];
        let values = [missed(two[0])?, missed(two[1])?];
        if let Some(at) = values.iter().position(|value| *value == f64::NEG_INFINITY) {
            return Ok(Some(rounded(libm::exp(two[at]))?));
        }
        if rounded(libm::exp(low))? == rounded(libm::exp(high))? {
            break;
        }
        if values[0] < values[1] { high = two[1] } else { low = two[0] }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::{
        Composition, Counts,
        promise::{Grid, Promise, calibrate},
    };
    use crate::numeric::rational::parse;

    /// With a bound the largest noise has many outputs that only one neighbor can have: only some noise between keeps these targets, and it was not found. The ends are
    /// those of all factors of the grid, by sums in doubles.
    #[test]
    fn bounded_noise_is_found_within_an_interval() {
        for (key, text, epsilon, delta, least, before) in [
            ("truncated-gaussian", "5:8", "1", "0.00165554", "1.3", "1.29"),
            ("truncated-gaussian", "5:12", "0.5", "0.00293667", "3.4", "3.39"),
            ("truncated-gaussian", "2:6", "0.8", "0.00990835", "2.81", "2.8"),
            ("truncated-laplace", "1:10", "0.3", "0.00816261", "3.33", "3.32"),
        ] {
            let account = Composition::new([Counts::parse(key, text).unwrap()]).unwrap();
            let promise = Promise::Epsilon { delta: delta.parse().unwrap(), epsilon: epsilon.parse().unwrap() };
            let found = calibrate(&account, &promise, Grid::factor(2)).unwrap();
            assert_eq!((found.factor, found.before), (parse(least).unwrap(), Some(parse(before).unwrap())), "{text}");
        }
        // A little less than the delta of every factor of the grid.
        let account = Composition::new([Counts::parse("truncated-gaussian", "5:8").unwrap()]).unwrap();
        let promise = Promise::Epsilon { delta: "0.00165306".parse().unwrap(), epsilon: "1".parse().unwrap() };
        assert!(calibrate(&account, &promise, Grid::factor(2)).is_err());
    }
}
