//! SafeTab: counts of detailed race and ethnicity groups (Tumult Labs and the Census Bureau, 2021 and 2024). SafeTab-P counts persons, for
//! the Detailed DHC-A, and SafeTab-H households, for the Detailed DHC-B.
//!
//! | file | subject |
//! | --- | --- |
//! | [`schema`] | the bureau's files: their rules, and readers that check them |
//! | [`groups`] | population groups, and the groups that a person belongs to |
//! | `memberships` | the groups that one record can be in, of several kinds together |
//! | `places` | the places where a record can be |
//! | [`synthetic`] | synthetic persons and geographies, for rehearsals |
//! | [`cell_noise`] | the noise of one cell and of sums of cells, their margins of error and coverage |
//! | [`tables`] | the published tables, and their marginals as sums of noisy cells |
//! | [`suppression`] | the suppression of small totals, and the bias of the published counts |
//! | [`published`] | intervals for the true counts behind published ones |
//! | [`tuning`] | from a budget to margins of error and back, for a level and for a plan of levels |
//! | [`household_tables`] | the published tables of households, and their marginals |
//! | [`country`] | SafeTab-P with a country's own codes, groups and geography |
//! | `csv_file` | CSV files while they are written |
//! | `counting` | the exact counts of all groups |
//! | [`tabulate`] | a release from persons or households |
//! | [`rehearsal`] | many runs on records that are not confidential, compared with the truth |
//! | [`verification`] | whether the tables of a release agree with each other and with the inputs |
//!
//! ```
//! use dp_assay::safetab::{
//!     groups::Specification,
//!     schema::{Granularity, IterationLevel, SafeTabConfig, ValidationReport},
//! };
//!
//! let folder = std::path::Path::new("data/examples/safetab");
//! let mut report = ValidationReport::new();
//! if let Some(config) = SafeTabConfig::read(&folder.join("config.json"), &mut report)
//!     && let Some(specification) = Specification::read(folder, &config, &mut report)
//! {
//!     // Upper bound on the number of groups of one level that a person belongs to, to which noise is scaled.
//!     assert_eq!(specification.stability(Granularity::Coarse, IterationLevel::Two), 9);
//! }
//! report.into_result()?;
//! # Ok::<(), dp_assay::Error>(())
//! ```

pub mod cell_noise;
mod counting;
pub mod country;
mod csv_file;
pub mod groups;
pub mod household_tables;
mod memberships;
mod places;
pub mod published;
pub mod rehearsal;
pub mod schema;
pub mod suppression;
pub mod synthetic;
pub mod tables;
pub mod tabulate;
pub mod tuning;
pub mod verification;
