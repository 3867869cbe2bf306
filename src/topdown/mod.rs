//! Measuring and estimating on a spine: noisy counts of every unit, and what they say together.
//!
//! Cumings-Menon et al. (2024) describe it for the TopDown algorithm of the 2020 Census; what that algorithm does besides is
//! in [`estimate::top_down`]. In the order of the work:
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`histograms`] | who is where: the confidential counts of all blocks |
//! | `leaves` | which unit of the lowest level a line of a file is about |
//! | [`measure`] | which noise every query group of every unit gets, what it spends, and the drawing |
//! | [`measurement_files`] | the files of noisy counts, written and read back |
//! | [`estimate`] | least squares over the tree for one number a unit, and the rounding to non-negative integers |
//! | [`kronecker`] | least squares for all query groups at once |
//! | [`variance`] | the variance of the least-squares estimate of any unit and of any set of blocks |
//! | [`gls`] | least squares of all queries, recodes and constraints, with exact covariances |
//! | [`precise`] | the same in long numbers, where variances of noise are far apart |
//! | [`nmf`] | the Bureau's noisy measurement files |
//! | [`whole`] | non-negative whole counts that keep all constraints |
//! | [`level_variances`] | the same summed up by level, for one query group: how well a spine serves its units |
//! | [`estimates_file`] | estimates from the files of noisy counts, and their own files |
//! | [`spine_survey`] | any query of any unit or area, recodes included |
//!
//! The schemas that queries are asked of are in [`release::schema`](crate::release::schema).

mod cell_columns;
pub mod estimate;
pub mod estimates_file;
pub mod gls;
pub mod histograms;
pub mod kronecker;
mod leaves;
pub mod level_variances;
pub mod measure;
pub mod measurement_files;
pub mod nmf;
pub mod precise;
pub mod spine_survey;
pub mod variance;
pub mod whole;
