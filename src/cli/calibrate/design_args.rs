//! The arguments of a perturbation table that is designed.

use std::path::PathBuf;

/// The aims of a perturbation table that is designed.
#[derive(clap::Args)]
pub struct DesignArgs {
    /// Of --p-table "?", a table that is designed: the largest variance of its noise [default: the least of the grid that keeps --epsilon at --delta]
    #[arg(long, value_name = "V", requires = "bound", allow_hyphen_values = true)]
    pub variance: Option<String>,
    /// Of --p-table "?": the largest absolute value of its noise, from 1 to 100
    #[arg(long, value_name = "D", requires = "p-table")]
    pub bound: Option<u64>,
    /// Of --p-table "?": values from 1 to J are never published [default: 0, none]
    #[arg(long, value_name = "J", requires = "bound")]
    pub blocked: Option<u64>,
    /// Of --p-table "?": a table of K keys for each of 750 counts, in the layout of the Office for National Statistics, in place of probabilities
    #[arg(long, value_name = "K", requires = "bound", value_parser = clap::value_parser!(u64).range(2..=65536))]
    pub key_count: Option<u64>,
    /// Of --p-table "?": write the table, as --p-table reads it
    #[arg(long, value_name = "FILE.csv", requires = "bound")]
    pub table_out: Option<PathBuf>,
}
