//! From records to a release: SafeTab-P for persons (2024 paper, Algorithms 1 to 4), SafeTab-H for households.
//!
//! A [`Job`] checks all input, computes the privacy guarantees of the run, counts, writes down what it is about to draw,
//! adds noise, and publishes tables with a certificate. Nothing appears under the name of the release until all of it
//! is on the disk, and a second draw of the same records is refused unless the curator says so ([`draws`](crate::draws)).
//!
//! A cluster of Apache Spark may count in place of this machine: the files marked * (feature `cluster`).
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`record_files`] | the files of records, and their hash |
//! | `inputs` | all inputs read and checked: what is public, and how many records there are |
//! | [`levels`] | the population group levels of persons: their noise, thresholds and key sets |
//! | [`household_levels`] | those of households: their noise, and the groups that the published totals select |
//! | [`guarantees`] | what they reveal together, certified |
//! | `cluster` | where a cluster is that counts, and what may be sent there |
//! | `counter` * | what answers questions in SQL |
//! | `spark` * | that is Spark, through Spark Connect |
//! | `queries` * | the counting, in SQL |
//! | `control_totals` * | what the counts must add up to |
//! | `cluster_counts` * | what is counted by: atoms of blocks, classes of codes, cells |
//! | [`workload`] | the counts of each published table, as sums of the finest cells |
//! | [`two_stage`] | Algorithms 1 and 2: the noisy counts of all groups of a level |
//! | [`household_counts`] | the noisy counts of all groups of a level of households |
//! | [`coterminous`] | entities made of the same blocks publish the same counts |
//! | [`output`], [`household_output`] | the tables T1 and T2, T3 and T4 |
//! | [`certificate`], `certificate_page` | what the run spends, in JSON and on a page |
//! | [`config_account`] | what a configuration spends and how accurate it is; its budgets changed |
//! | `job` | what is to be released; its check, and its account without a draw |
//! | `run` | the run from beginning to end |

pub mod certificate;
mod certificate_page;
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
mod inputs;
mod job;
pub mod levels;
pub mod output;
#[cfg(feature = "cluster")]
mod queries;
pub mod record_files;
mod run;
#[cfg(feature = "cluster")]
mod spark;
pub mod two_stage;
pub mod workload;

pub use cluster::{Cluster, ClusterAddress, ClusterToken};
pub use inputs::CefUnits;
pub(super) use inputs::{HouseholdInputs, PersonInputs, PublicInputs};
pub(super) use job::Inputs;
pub use job::{DryRun, Job, Progress, Records};
pub use run::Outcome;
