//! From persons to a release: SafeTab-P as a program (2024 paper, Algorithms 1 to 4).
//!
//! A [`Job`] checks all input, computes the privacy guarantees of the run, counts, writes down what it is about to draw,
//! adds noise, and publishes two tables with a certificate. Nothing appears under the name of the release until all of it
//! is on the disk, and no budget is drawn twice unless the curator says so ([`release_folder`]).
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`person_files`] | the files of persons, and their hash |
//! | `inputs` | all inputs read and checked: what is public, and how many records there are |
//! | [`levels`] | the population group levels: their noise, thresholds and key sets |
//! | [`guarantees`] | what they reveal together, certified |
//! | [`engine`] | tables in an embedded query engine |
//! | [`queries`] | the counting, in SQL |
//! | `counting` | what is counted by: atoms of blocks, classes of codes, cells of ages and sexes |
//! | [`workload`] | the counts of each published table, as sums of the finest cells |
//! | `draw_log` | what is written down of every draw of noise |
//! | `noise_key` | the key that the noise follows from, until the release is complete |
//! | [`release_folder`] | one draw for one budget: the folder of a release, whole or not there |
//! | [`two_stage`] | Algorithms 1 and 2: the noisy counts of all groups of a level |
//! | [`coterminous`] | entities made of the same blocks publish the same counts |
//! | [`output`] | the tables T1 and T2 |
//! | [`certificate`], `certificate_page` | what the run spends, in JSON and on a page |
//! | `job` | the run from beginning to end |

pub mod certificate;
mod certificate_page;
pub mod coterminous;
mod counting;
mod draw_log;
pub mod engine;
pub mod guarantees;
mod inputs;
mod job;
pub mod levels;
mod noise_key;
pub mod output;
pub mod person_files;
pub mod queries;
pub mod release_folder;
pub mod two_stage;
pub mod workload;

pub use job::{Job, Outcome, Progress};
