//! Parts of a sheet: paragraphs, tables, and numbers as text.

use rug::Rational;

use super::{figures::SHOWN, open::Point};
use crate::{
    memo::document::{Block, Table},
    numeric::{Enclosure, rational},
};

/// A paragraph.
pub(super) fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

/// A point that the file cannot answer.
pub(super) fn missing(point: Point) -> Block {
    text(point.sentence())
}

pub(super) fn table(
    caption: impl Into<String>,
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    words: &[usize],
) -> Block {
    Block::Table(Table { caption: caption.into(), heading, rows, words: words.to_vec() })
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
