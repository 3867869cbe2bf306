//! What a page is made of.

/// A table, and which of its columns are set right.
pub(super) struct Table {
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) right: fn(usize) -> bool,
}

/// What stands on a page, from top to bottom.
pub(super) enum Piece {
    Text(String),
    Table(Table),
}
