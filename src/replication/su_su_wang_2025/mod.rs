//! Su, Su & Wang (2025): the residual of Theorem A.11, the error budget of Section A.6, and the statements of the paper's
//! appendices.

mod budget;
pub mod claims;
mod compute;
mod curves;
mod rule;
mod simulated;

/// The key of the paper, and of its release.
pub(super) const PAPER: &str = "su-su-wang-2025";

pub(super) use compute::compute;
pub(super) use rule::Sum;
