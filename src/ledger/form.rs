//! The fields of a ledger file.

use serde::Deserialize;
use toml::Spanned;

use super::promise::RawPromise;
use crate::io::toml_reader::Exact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLedger {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: Spanned<String>,
    pub(super) rule: Spanned<String>,
    pub(super) promise: Option<RawPromise>,
    #[serde(rename = "population")]
    pub(super) populations: Vec<Spanned<RawPopulation>>,
    #[serde(rename = "partition", default)]
    pub(super) partitions: Vec<RawPartition>,
    #[serde(rename = "entry", default)]
    pub(super) entries: Vec<Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPopulation {
    pub(super) name: Spanned<String>,
    pub(super) neighbors: Spanned<String>,
    pub(super) releases: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPartition {
    pub(super) name: Spanned<String>,
    pub(super) rule: Spanned<String>,
    pub(super) parts: Option<Vec<Spanned<String>>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEntry {
    pub(super) population: Option<Spanned<String>>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) release: Option<Spanned<String>>,
    pub(super) safetab: Option<Spanned<String>>,
    pub(super) measurements: Option<Spanned<String>>,
    pub(super) spine: Option<Spanned<String>>,
    pub(super) times: Option<Spanned<Exact>>,
    pub(super) partition: Option<Spanned<String>>,
    pub(super) part: Option<Spanned<String>>,
    pub(super) sha256: Option<Spanned<String>>,
    pub(super) account: Option<Spanned<String>>,
    pub(super) log: Option<Spanned<String>>,
}

/// The entries alone, as a line of the log has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEntries {
    #[serde(rename = "entry")]
    pub(super) entries: Vec<Spanned<RawEntry>>,
}
