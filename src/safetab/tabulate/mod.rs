//! From records to a release: SafeTab-P for persons (2024 paper, Algorithms 1 to 4), SafeTab-H for households.
//!
//! A [`Job`] checks all input, computes the privacy guarantees of the run, counts, logs the coming draw, adds noise, and publishes tables
//! with a certificate. Nothing appears under the name of the release until all of it is on the disk. A second draw of the same records is
//! an error unless the curator allows it ([`draws`](crate::draws)).
//!
//! A cluster of Apache Spark may count instead of this machine: the files marked * (feature `cluster`).
//!
//! | file | subject |
//! | --- | --- |
//! | [`record_files`] | the files of records, and their hash |
//! | `program` | what SafeTab-P and SafeTab-H have in common, as a trait |
//! | `persons`, `households` | the two programs |
//! | `inputs` | reads and checks all inputs: the public ones, and the number of records |
//! | [`levels`] | the population group levels of persons: their noise, thresholds and key sets |
//! | [`household_levels`] | the levels of households: their noise, and the groups selected by the published totals |
//! | [`guarantees`] | the certified privacy of all levels together |
//! | `cluster` | the address of a cluster that counts, and the conditions for sending data to it |
//! | `counter` * | the interface for SQL queries |
//! | `spark` * | its implementation by Spark, through Spark Connect |
//! | `queries` * | the counting, in SQL |
//! | `control_totals` * | the sums that the counts must agree with |
//! | `cluster_counts` * | the keys of the counts: atoms of blocks, classes of codes, cells |
//! | [`workload`] | the counts of each published table, as sums of the finest cells |
//! | [`two_stage`] | Algorithms 1 and 2: the noisy counts of all groups of a level |
//! | [`household_counts`] | the noisy counts of all groups of a level of households |
//! | [`coterminous`] | entities that consist of the same blocks publish the same counts |
//! | [`output`], [`household_output`] | the tables T1 and T2, T3 and T4 |
//! | [`certificate`], [`certified_level`], `certificate_page` | the certificate, as JSON and as a page |
//! | `certified_ways` | from a certificate to the counts that one record can change |
//! | `changes` | the counts that one record can change: of all persons, or of all mixes of groups |
//! | [`config_account`] | the privacy and accuracy of a configuration; changes of its budgets |
//! | `job` | a release job: its check, and its account without a draw |
//! | `run` | the run from beginning to end |

pub mod certificate;
mod certificate_page;
pub mod certified_level;
mod certified_ways;
pub(in crate::safetab) mod changes;
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_counts;
pub mod config_account;
#[cfg(feature = "cluster")]
mod control_totals;
pub mod coterminous;
#[cfg(feature = "cluster")]
mod counter;
pub mod guarantees;
pub mod household_counts;
pub mod household_levels;
pub mod household_output;
mod households;
mod inputs;
mod job;
pub mod levels;
pub mod output;
mod persons;
mod program;
#[cfg(feature = "cluster")]
mod queries;
pub mod record_files;
mod run;
#[cfg(feature = "cluster")]
mod spark;
pub mod two_stage;
pub mod workload;

pub use crate::topdown::jobs::Progress;
pub use certified_ways::CertifiedWays;
pub use cluster::{Cluster, ClusterAddress, ClusterToken};
pub use inputs::CefUnits;
pub(super) use inputs::{Checked, HouseholdInputs, InputPaths, PersonInputs, PublicInputs, RecordSource};
pub use job::{DryRun, EditedFiles, Job, ProgramInputs, PublicJob};
pub(super) use program::{Passes, Program};
pub use run::Outcome;
