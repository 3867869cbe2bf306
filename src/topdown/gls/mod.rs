//! Least squares of all queries of all units of a tree, recodes and constraints included, with exact covariances.
//!
//! Cumings-Menon and Zhuravlev (2024) describe the two passes; they invert a matrix over all cells for each unit. Here the
//! cells are split into sectors first, in which the matrices are small, and units that measure alike share theirs.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`matrix`] | small dense matrices, also singular ones |
//! | `axis` | an attribute: which values queries and constraints tell apart, and which may change places |
//! | [`basis`] | the sectors: coordinates in which all queries fall into small blocks |
//! | [`query`] | a query in these coordinates: what it adds, and its answers |
//! | [`classes`] | the variances of its counts |
//! | [`problem`] | the queries of all levels, and the cells that constraints make zero |
//! | [`belief`] | an estimate with its covariance; how those of children, parents and own counts are put together |
//! | [`areas`] | sums over any set of blocks, with all correlations |
//! | `patterns` | matrices of units that measure alike |
//! | [`pass`] | the two passes over a tree that is read unit by unit |
//!
//! Everything is in doubles: estimates and variances are approximations, which tests hold against dense least squares in
//! exact fractions.

pub mod areas;
mod axis;
pub mod basis;
pub mod belief;
pub mod classes;
pub mod matrix;
pub mod pass;
mod patterns;
pub mod problem;
pub mod query;

#[cfg(test)]
mod coverage_tests;
#[cfg(test)]
mod exact_tests;
