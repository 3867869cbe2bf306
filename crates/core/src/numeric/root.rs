//! Certified inverses of decreasing functions: found by any search, proven at the points where it ends.

use std::cell::RefCell;

use rug::Rational;

use self::{
    bisection::{bisect, bracket},
    function::Sides,
    newton::narrow,
};
use super::{enclosure::Enclosure, rational};
use crate::error::Result;

mod bisection;
mod function;
mod newton;
mod search;

pub use self::function::{Decreasing, Root};
pub(crate) use self::function::{Hints, Stretch};

/// Roots that may be larger are not bracketed: a single enclosure of the function can take minutes there.
const HIGHEST: f64 = 1e6;

/// Encloses inf { x >= 0 : f(x) <= target } for a decreasing f and a `ceiling` beyond which f is known to be below the target. An error if
/// the enclosures of f contradict each other.
pub fn decreasing_root<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    decreasing_root_with(f, target, ceiling, Hints::default(), digits)
}

/// The same with additional knowledge about the function.
pub(crate) fn decreasing_root_with<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    hints: Hints,
    digits: u32,
) -> Result<Root> {
    one_decreasing_root(&Decreasing { ln_approx: &f.ln_approx, enclose: &f.enclose }, target, ceiling, hints, digits)
}

/// The function in doubles, ln f(x).
type Approximation<'a> = &'a dyn Fn(&Rational) -> Result<f64>;
/// Its enclosure to a number of digits.
type Enclosing<'a> = &'a dyn Fn(&Rational, u32) -> Result<Enclosure>;

/// The same, compiled once for all functions.
fn one_decreasing_root(
    f: &Decreasing<Approximation, Enclosing>,
    target: &Rational,
    ceiling: f64,
    hints: Hints,
    digits: u32,
) -> Result<Root> {
    let sides = RefCell::new(Sides { lower: Rational::new(), upper: rational::from_f64(ceiling)? });
    let enclose = |x: &Rational, digits: u32| {
        let value = (f.enclose)(x, digits)?;
        sides.borrow_mut().learn(x, &value, target);
        Ok(value)
    };
    let f = Decreasing { ln_approx: &f.ln_approx, enclose };
    let narrowed = match narrow(&f, target, (ceiling, hints), &sides, digits) {
        // At some point not even an approximation could be computed. Bisection continues between two evaluated points; otherwise the result
        // is a wide interval.
        Err(error) if error.is_beyond_reach() && sides.borrow().are_found(ceiling) => None,
        Err(error) if error.is_beyond_reach() && ceiling < HIGHEST => return bracket(&f, target, &sides, digits),
        narrowed => narrowed?,
    };
    narrowed.map_or_else(|| bisect(&f, target, &sides, digits), Ok)
}

#[cfg(test)]
mod tests;
