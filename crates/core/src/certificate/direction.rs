//! Delta of one direction, or the larger of both.

use rug::Rational;

use crate::{error::Result, law::Direction, loss::evaluator::Evaluator, numeric::Enclosure};

/// The direction in which the two data sets change places.
pub(super) fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Remove => Direction::Add,
        Direction::Add => Direction::Remove,
    }
}

/// delta(epsilon) of one direction, or the larger of both.
pub(super) fn delta_of(
    evaluator: &Evaluator,
    direction: Option<Direction>,
    epsilon: &Rational,
    digits: u32,
) -> Result<Enclosure> {
    let of_one = |direction| evaluator.of_direction(direction, |one| Ok(one.hockey_stick(epsilon, digits)?.value));
    match direction.map(of_one).transpose()?.flatten() {
        Some(value) => Ok(value),
        None => Ok(evaluator.hockey_stick(epsilon, digits)?.value),
    }
}

/// Its logarithm in doubles.
pub(super) fn ln_delta_of(evaluator: &Evaluator, direction: Option<Direction>, epsilon: &Rational) -> Result<f64> {
    let of_one = |direction| evaluator.of_direction(direction, |one| one.ln_hockey_stick_approx(epsilon));
    match direction.map(of_one).transpose()?.flatten() {
        Some(value) => Ok(value),
        None => evaluator.ln_hockey_stick_approx(epsilon),
    }
}
