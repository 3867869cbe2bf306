//! Bisections with a proof at each step: slow, but correct where a function is a staircase.

use std::cell::RefCell;

use rug::{Float, Rational};

use super::{
    super::{
        enclosure::{Certainty, Enclosure},
        precision,
    },
    function::{Decreasing, Root, Sides, exact},
};
use crate::error::Result;

/// The root by bisection between the bounds, with a proof at each step: slow, but correct where the function is a staircase.
pub(super) fn bisect<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Root> {
    let bits = precision::bits(digits, 40);
    for _ in 0..bits + 20 {
        let known = sides.borrow().clone();
        if known.root(digits)?.met {
            break;
        }
        let middle = exact(&(Float::with_val(bits, known.lower + known.upper) / 2_u32))?;
        let mut side = Certainty::Undecided;
        for accuracy in [6, digits.max(12), 3 * digits.max(12)] {
            side = match (f.enclose)(&middle, accuracy) {
                Ok(value) => value.at_most(target),
                Err(error) if error.is_beyond_reach() => break,
                Err(error) => return Err(error),
            };
            if side != Certainty::Undecided {
                break;
            }
        }
        if side == Certainty::Undecided {
            break;
        }
    }
    sides.borrow().root(digits)
}

/// An interval around the root from a few more enclosures of the function, which may be wide: between the last point proven to be above the
/// target and the first proven to be at most the target.
pub(super) fn bracket<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Root> {
    const EVALUATIONS: usize = 5;
    // No point between these was decided.
    let mut undecided: Option<(Rational, Rational)> = None;
    for round in 0..EVALUATIONS {
        let known = sides.borrow().clone();
        let (from, to) = match &undecided {
            None => (&known.lower, &known.upper),
            Some((first, _)) if round % 2 == 0 => (&known.lower, first),
            Some((_, last)) => (last, &known.upper),
        };
        let middle = exact(&Float::with_val(64, Rational::from(from + to) / 2_u32))?;
        let side = match (f.enclose)(&middle, digits.min(3)) {
            Ok(value) => value.at_most(target),
            Err(error) if error.is_beyond_reach() => Certainty::Undecided,
            Err(error) => return Err(error),
        };
        if side == Certainty::Undecided {
            let (first, last) = undecided.unwrap_or_else(|| (middle.clone(), middle.clone()));
            undecided = Some((first.min(middle.clone()), last.max(middle)));
        }
    }
    sides.borrow().root(digits)
}
