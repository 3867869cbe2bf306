//! The pieces of a page.

/// A table, and the columns that are set right.
pub(super) struct Table {
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) right: fn(usize) -> bool,
}

/// The pieces of a page, from top to bottom.
pub(super) enum Piece {
    Text(String),
    Table(Table),
}
