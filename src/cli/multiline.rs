//! `--multiline`: whether cells of confidential input may hold line breaks.

use dp_assay::{Error, csv_reader::Reading};

/// Whether cells in quotes may hold line breaks.
#[derive(clap::Args)]
pub struct Multiline {
    /// Allow line breaks inside quotes: such a cell can hide rows, so check the number of rows
    #[arg(long)]
    pub multiline: bool,
}

impl Multiline {
    /// How confidential input is read.
    pub fn reading(&self) -> Reading {
        reading(self.multiline)
    }
}

/// How confidential input is read, with or without line breaks in quotes.
pub fn reading(line_breaks: bool) -> Reading {
    Reading { line_breaks, is_confidential: true, ..Reading::default() }
}

/// Names the option in the error that it would avoid.
pub fn hint(error: Error) -> anyhow::Error {
    match error {
        Error::OpenQuote { .. } => anyhow::anyhow!("{error} by --multiline"),
        other => other.into(),
    }
}
