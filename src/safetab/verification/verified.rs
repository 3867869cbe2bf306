//! The tables of a program, as they are verified.

use super::rows::{TableForm, Tables};
use crate::{
    error::Result,
    safetab::{schema::ValidationReport, tabulate::Program},
};

/// A program whose tables are verified.
pub(super) trait Verified: Program {
    /// The name of the program.
    const ALGORITHM: &'static str;

    /// The forms of its tables.
    const TABLES: &'static [TableForm];

    /// The folders that have them.
    const FOLDERS: [&'static str; 2];

    /// Checks all tables, also against the public inputs if they are given, and returns the number of groups.
    fn check(tables: &Tables, inputs: Option<&Self>, report: &mut ValidationReport) -> Result<u64>;
}
