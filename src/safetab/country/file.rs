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
    pub output: Option<OutputForm>,
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
    pub none: Option<Spanned<String>>,
    pub codes: Option<Spanned<Texts>>,
    pub codes_from: Option<Spanned<ColumnOfFile>>,
    pub numbers: Option<Numbers>,
}

/// A column of a file in the folder of the specification.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnOfFile {
    pub file: Spanned<String>,
    pub column: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GeographyForm {
    pub area: Option<Spanned<String>>,
    pub area_columns: Option<Spanned<Texts>>,
    #[serde(default)]
    pub same_places: bool,
    #[serde(default, rename = "land")]
    pub land: Vec<LandForm>,
    #[serde(default, rename = "part")]
    pub parts: Vec<PartForm>,
    #[serde(default, rename = "level")]
    pub levels: Vec<LevelForm>,
}

/// A column of the geography file that marks areas without land.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LandForm {
    pub column: Spanned<String>,
    pub water: Spanned<Texts>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartForm {
    pub name: Spanned<String>,
    pub column: Spanned<String>,
    pub codes: Spanned<Texts>,
    pub file: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelForm {
    pub name: Spanned<String>,
    pub column: Option<Spanned<String>>,
    pub columns: Option<Spanned<Texts>>,
    pub within: Option<Spanned<String>>,
    #[serde(default)]
    pub partial: bool,
    pub none: Option<Spanned<String>>,
    pub region: Option<Spanned<String>>,
    pub part: Option<Spanned<String>>,
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
    pub stability: Option<Spanned<Exact>>,
    #[serde(default, rename = "group")]
    pub groups: Vec<GroupForm>,
    #[serde(default, rename = "from")]
    pub tables: Vec<GroupTableForm>,
}

/// Groups with one rule each from a file in the folder of the specification.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupTableForm {
    pub file: Spanned<String>,
    pub code: Spanned<String>,
    #[serde(default, rename = "where")]
    pub chosen: BTreeMap<String, Spanned<Texts>>,
    #[serde(default)]
    pub total_only: BTreeMap<String, Spanned<Texts>>,
    pub any: Option<Spanned<String>>,
    pub only: Option<Spanned<String>>,
    pub members: MembersForm,
}

/// A file with a row for each group and each code of its rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MembersForm {
    pub file: Spanned<String>,
    pub group: Spanned<String>,
    pub code: Spanned<String>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputForm {
    pub separator: Option<Spanned<String>>,
    pub totals: TotalsForm,
    pub cells: CellsForm,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TotalsForm {
    pub file: Spanned<String>,
    pub columns: Spanned<Vec<ColumnForm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellsForm {
    pub file: Spanned<String>,
    pub columns: Spanned<Vec<ColumnForm>>,
    pub sums_over: Option<Spanned<Texts>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnForm {
    pub heading: Spanned<String>,
    pub show: Spanned<String>,
    pub end: Option<Spanned<String>>,
}
