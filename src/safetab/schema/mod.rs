//! The bureau's files: their rules, and readers that check every row before any confidential data is used.
//!
//! | file | subject |
//! | --- | --- |
//! | `validation` | [`ValidationReport`]: every broken rule, with its place |
//! | `codes` | [`RaceEthCode`] and [`IterationCode`] |
//! | `combination` | the codes of races and ethnicity of one record, packed into one number |
//! | `regions` | [`Pass`], [`RegionType`], [`IterationLevel`], [`Granularity`], [`Privacy`] |
//! | `rows` | rows of fields separated by `|`, read in bounded memory |
//! | `config` | [`RunScope`], [`SafeTabConfig`], [`HouseholdConfig`]: the contents of config.json for persons and for households |
//! | `config_keys` | reads and checks config.json key by key |
//! | `config_file`, `household_config` | the keys of SafeTab-P and of SafeTab-H |
//! | `geography` | GRF-C.txt: [`Geography`], the blocks and their regions |
//! | `kind` | [`RecordKind`]: persons or households |
//! | `records` | [`Combination`], [`RecordRules`]: common properties of all records |
//! | `persons`, `households` | the rules of a row of person-records.txt and household-records.txt: [`RowCheck`], [`HouseholdCheck`] |
//! | `record_files` | checks whole files of records on all threads: [`check_persons`], [`check_households`] |
//! | `lines`, `parquet_records` | text files, line by line; records in Parquet, row group by row group |
//! | `cef` | edited person and unit files of fixed width, joined and read as records |
//! | `totals` | [`PublishedTotals`]: the T1 of SafeTab-P that chooses the detail of households |
//!
//! race-characteristic-iterations.txt, ethnicity-characteristic-iterations.txt, race-and-ethnicity-codes.txt and
//! race-and-ethnicity-code-to-iteration.txt are read by [`Specification::read`](super::groups::Specification::read).
//!
//! All files except config.json are rows of fields separated by `|`, in UTF-8, below a line of headings. A byte order mark, line ends of
//! two bytes and blank lines are accepted, because the bureau's own files have them. Every other deviation breaks a rule and goes into the
//! [`ValidationReport`]; look there before using what was read.
//!
//! Sources: the public code of the production (uscensusbureau/DAS_2020_DDHCA_Production_Code, the schemas in
//! `safetab_p/tmlt/safetab_p/resources/config/input` and the rules of its input validation).

pub(super) mod cef;
mod codes;
mod combination;
mod config;
mod config_file;
pub(super) mod config_keys;
mod geography;
mod household_config;
mod households;
mod kind;
pub(super) mod lines;
pub(super) mod parquet_records;
mod persons;
pub(super) mod record_files;
mod records;
mod regions;
pub(super) mod rows;
mod totals;
pub(super) mod validation;

pub use codes::{IterationCode, RaceEthCode};
pub use combination::Combination;
pub use config::{HouseholdConfig, RunScope, SafeTabConfig};
pub use geography::{Geography, LandColumn};
pub use households::{HOUSEHOLD_HEADINGS, HouseholdCheck};
pub use kind::RecordKind;
pub use persons::{HEADINGS, RowCheck};
pub use record_files::{CheckedRecords, check_households, check_persons, text_files};
pub use records::{CheckedRecord, RecordRules};
pub use regions::{Granularity, IterationLevel, Pass, Privacy, RegionType, SummaryOrder};
pub use totals::{LeftOut, PublishedTotal, PublishedTotals, TOTALS_HEADINGS, TotalsCheck};
pub use validation::{Rule, ValidationReport, Violation};
