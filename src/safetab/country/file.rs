//! The form of a specification file.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::io::toml_reader::Exact;

/// Texts with their places.
pub(super) type Texts = Vec<Spanned<String>>;

/// A list of numbers with the place of the list and of each.
pub(super) type Numbers = Spanned<Vec<Spanned<Exact>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountryFile {
    pub title: Spanned<String>,
    pub privacy: Spanned<String>,
    pub stage_1_fraction: Option<Spanned<Exact>>,
    #[serde(default = "yes")]
    pub allow_negative_counts: bool,
    #[serde(default, rename = "attribute")]
    pub attributes: Vec<AttributeForm>,
    pub geography: GeographyForm,
    #[serde(default, rename = "table")]
    pub tables: Vec<TableForm>,
    #[serde(default, rename = "grouping")]
    pub groupings: Vec<GroupingForm>,
    #[serde(default, rename = "tabulate")]
    pub entries: Vec<EntryForm>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttributeForm {
    pub name: Spanned<String>,
    pub column: Option<Spanned<String>>,
    pub columns: Option<Spanned<Texts>>,
    pub codes: Option<Spanned<Texts>>,
    pub numbers: Option<Numbers>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GeographyForm {
    pub area: Spanned<String>,
    #[serde(default, rename = "level")]
    pub levels: Vec<LevelForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelForm {
    pub name: Spanned<String>,
    pub column: Option<Spanned<String>>,
    pub within: Option<Spanned<String>>,
    #[serde(default)]
    pub partial: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableForm {
    pub name: Spanned<String>,
    #[serde(default)]
    pub by: Vec<ByForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByForm {
    pub attribute: Spanned<String>,
    pub from: Option<Numbers>,
    pub cells: Option<Spanned<Vec<Texts>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupingForm {
    pub name: Spanned<String>,
    pub each: Option<Spanned<String>>,
    pub at_most: Option<Spanned<Exact>>,
    #[serde(default, rename = "group")]
    pub groups: Vec<GroupForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupForm {
    pub code: Spanned<String>,
    #[serde(default)]
    pub any: BTreeMap<String, Spanned<Texts>>,
    #[serde(default)]
    pub only: BTreeMap<String, Spanned<Texts>>,
    #[serde(default)]
    pub total_only: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryForm {
    pub level: Spanned<String>,
    pub grouping: Spanned<String>,
    pub budget: Spanned<Exact>,
    pub tables: Option<Spanned<Texts>>,
    pub thresholds: Option<Numbers>,
    pub suppress_empty: Option<Spanned<Exact>>,
}
