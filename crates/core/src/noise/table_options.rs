//! Options of a table whose columns get noise, and the report on it.

/// Options for adding noise to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// Whether a cell of a CSV in quotes may hold line breaks. Such a cell may hide rows, whose counts then have no noise.
    pub line_breaks: bool,
    /// Whether the key-value metadata of a Parquet file are copied. Programs store anything there: attributes of a data frame,
    /// true totals among them.
    pub keep_metadata: bool,
}

/// The result for a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDone {
    /// The rows, each of which has a noisy count in every column.
    pub rows: u64,
    /// The keys of the metadata that were copied.
    pub kept_metadata: Vec<String>,
    /// The keys of the metadata that were left out.
    pub dropped_metadata: Vec<String>,
}
