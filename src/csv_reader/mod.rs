//! The one reader of CSV: strict, streaming, with the line and the column of every cell.
//!
//! A lenient reader can lose rows without a word: a quote that is never closed swallows the rest of a file. Here a file is understood
//! exactly or refused, with the place and the remedy.
//!
//! - **Separators.** Comma, semicolon, tab or bar: the one that the header has outside of quotes. A header with two of them is refused;
//!   a first line such as `sep=;`, which Excel writes, settles it.
//! - **Line ends.** LF or CRLF, or CR alone in the whole file. Blank lines are no rows.
//! - **Quotes.** A cell is in quotes as a whole or not at all, a quote in it is written twice, and after the closing quote comes a
//!   separator or the end of the line. A line break inside quotes can hide a row, so that confidential input may have one only where the
//!   caller allows it ([`Reading::line_breaks`]).
//! - **Rows.** Each has as many cells as the header. Each heading occurs once, except empty ones.
//! - **Text.** UTF-8, with or without a byte order mark. Headings and cells that serve as keys are refused where they are not; a NUL
//!   byte is refused anywhere.
//! - **Files of other forms.** Gzip is read. UTF-16, Excel, zip, Parquet, zstd and others are known by their first bytes, and the
//!   error names them.
//! - **Numbers.** A decimal comma is read where it is declared ([`Reading::decimal_comma`]). `1,234` is refused elsewhere: it may be
//!   a thousand or a fraction.

mod dialect;
mod rows;
mod source;
mod table;

pub(crate) use rows::Rows;
pub(crate) use source::{Text, is_gzip, open, plain};
pub use table::{CsvTable, Reading};
pub(crate) use table::{ambiguity, no_column};
