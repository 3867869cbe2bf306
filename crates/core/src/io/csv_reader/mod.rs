//! The CSV reader of the whole program: strict and streaming, with the line and the column of every cell.
//!
//! A lenient reader can lose rows silently: a quote that is never closed swallows the remaining file. Here a file is either read exactly or
//! refused, with the place and the remedy.
//!
//! - **Separators.** Comma, semicolon, tab or bar: the one in the header outside of quotes. A header with two of them is an error, unless a
//!   first line such as `sep=;`, which Excel writes, decides.
//! - **Line ends.** LF or CRLF, or CR only, in the whole file. Blank lines are no rows.
//! - **Quotes.** A cell is quoted as a whole or not at all, a quote inside is doubled, and the closing quote is followed by a separator or
//!   the end of the line. A line break inside quotes can hide a row, so confidential input may have one only if the caller allows it
//!   ([`Reading::line_breaks`]).
//! - **Rows.** Each has as many cells as the header. Each heading occurs once, except empty ones.
//! - **Text.** UTF-8, with or without a byte order mark. Headings, and cells that serve as keys, must be valid UTF-8; a NUL byte is an
//!   error anywhere.
//! - **Files of other forms.** Gzip is read, all members of a file and nothing after them. UTF-16, Excel, zip, Parquet, zstd and others are recognized by their first bytes, and the
//!   error names them.
//! - **Numbers.** A decimal comma is read if it is declared ([`Reading::decimal_comma`]). Otherwise `1,234` is an error: it may be a
//!   thousand or a fraction.

mod dialect;
mod gzip;
mod rows;
mod source;
mod table;

pub(crate) use rows::Rows;
#[doc(hidden)]
pub use source::{Text, is_gzip, open, plain};
pub use table::{CsvTable, Reading};
pub(crate) use table::{ambiguity, no_column};
