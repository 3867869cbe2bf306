//! Su, Su & Wang (2025): the residual of Theorem A.11, the error budget of Section A.6, and the statements of the paper's
//! appendices.

mod budget;
pub mod claims;
mod curves;
mod rule;
mod simulated;

pub(super) use claims::prepare;
pub(super) use rule::Sum;
