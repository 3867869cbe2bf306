//! Statements of Cumings-Menon et al. (2024) about geographic spines, recomputed.
//!
//! A statement about all trees is evaluated exactly, in fractions, on all trees and shares of a bounded size, which the
//! functions document. The proofs for all others are beside the code that uses them ([`crate::spine::bypass`],
//! [`crate::spine::osed`], [`crate::topdown::measure`]).

mod algorithm_2;
mod bypassing;
pub mod claims;
pub(super) mod figure_2;
mod neighbors;
mod proofs;
mod remarks;
mod trees;
