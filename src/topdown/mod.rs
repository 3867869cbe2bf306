//! Measuring and estimating on a spine: noisy counts of every unit, and estimates from all of them together.
//!
//! Cumings-Menon et al. (2024) describe it for the TopDown algorithm of the 2020 Census; [`estimate::top_down`] lists
//! the further steps of that algorithm. In the order of the work:
//!
//! | file | content |
//! | --- | --- |
//! | [`histograms`] | the confidential counts of all blocks |
//! | `cell_columns` | the attribute columns of a file of true counts |
//! | `leaves` | the unit of the lowest level in each line of a file |
//! | [`measure`] | the noise of every query group of every unit, its privacy, and the drawing |
//! | [`spending`] | the budget of all noisy counts together |
//! | [`measurement`] | a job: from confidential counts to a folder of noisy counts, by the protocol of draws |
//! | [`jobs`] | what jobs share: the input that an error is about, progress |
//! | [`measurement_files`] | the files of noisy counts, written and read back |
//! | [`estimate`] | least squares over the tree for one number a unit, and the rounding to non-negative integers |
//! | [`determined`] | which queries of which units the noisy counts determine, before any is drawn |
//! | [`variance`] | the variance of the least-squares estimate of any unit and of any set of blocks |
//! | [`gls`] | least squares of all queries, recodes and constraints, with exact covariances |
//! | [`precise`] | the same in long floating-point numbers, if variances of noise are far apart |
//! | [`nmf`] | the Bureau's noisy measurement files |
//! | [`whole`] | non-negative integer counts that satisfy all constraints |
//! | [`level_variances`] | summaries of these variances by level, for one query group: the accuracy of a spine |
//! | [`estimation`] | a job: from a folder of noisy counts to a folder of estimates |
//! | `requested` | the queries and levels of an estimation, by name |
//! | [`estimates_file`] | estimates from the files of noisy counts, and their own files |
//! | [`spine_survey`] | any query of any unit or area, recodes included |
//!
//! [`release::schema`](crate::release::schema) has the schemas of the queries.

mod cell_columns;
pub mod determined;
pub mod estimate;
pub mod estimates_file;
pub mod estimation;
pub mod gls;
pub mod histograms;
pub mod jobs;
mod leaves;
pub mod level_variances;
pub mod measure;
pub mod measurement;
pub mod measurement_files;
pub mod nmf;
pub mod precise;
mod requested;
pub mod spending;
pub mod spine_survey;
pub mod variance;
pub mod whole;
