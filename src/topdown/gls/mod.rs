//! Least squares of all queries of all units of a tree, recodes and constraints included, with exact covariances.
//!
//! Cumings-Menon and Zhuravlev (2024) describe the two passes, with an inverse of a matrix over all cells for each
//! unit. Here the cells are first split into sectors with small matrices, and units with the same measurements share
//! theirs.
//!
//! | file | content |
//! | --- | --- |
//! | [`number`] | doubles and long numbers |
//! | [`matrix`] | small dense matrices, also singular ones |
//! | `axis` | an attribute: the values that queries and constraints distinguish, and those that are exchangeable |
//! | [`basis`] | the sectors: coordinates in which all queries have small blocks |
//! | [`query`] | a query in these coordinates: its contribution, and its answers |
//! | [`classes`] | the variances of its counts |
//! | [`problem`] | the queries of all levels, and the cells that constraints make zero |
//! | [`belief`] | an estimate with its covariance; how those of children, parents and own counts are combined |
//! | [`areas`] | sums over any set of blocks, with all correlations |
//! | `patterns` | matrices shared by units with the same measurements |
//! | [`pass`] | the two passes over a tree that is read unit by unit |
//!
//! Computations are in doubles, or in [long numbers](super::precise): estimates and variances are approximations, which
//! tests compare with dense least squares in exact fractions.

pub mod areas;
mod axis;
pub mod basis;
pub mod belief;
pub mod classes;
pub mod matrix;
pub mod number;
pub mod pass;
mod patterns;
pub mod problem;
pub mod query;

#[cfg(test)]
mod coverage_tests;
#[cfg(test)]
mod exact_tests;
