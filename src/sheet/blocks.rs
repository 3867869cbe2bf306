//! Parts of a sheet: open points, and numbers as text.

use rug::Rational;

use super::{figures::SHOWN, open::Point};
use crate::{
    document::{Block, text},
    numeric::{Enclosure, rational},
};

/// A point that the file cannot answer.
pub(super) fn missing(point: Point) -> Block {
    text(point.sentence())
}

/// A number of things, in words.
pub(super) fn plural(count: u128, one: &str, many: &str) -> String {
    if count == 1 { format!("one {one}") } else { format!("{count} {many}") }
}

/// A number as text: exactly if that is short, otherwise rounded up.
pub(super) fn upper(value: &Rational) -> String {
    let exact = rational::display(value);
    match exact.len() <= SHOWN + 4 && !exact.contains('/') {
        true => exact,
        false => Enclosure::rational(value, 128).upper_text(SHOWN),
    }
}
