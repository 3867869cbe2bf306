//! Kazan & Reiter (2023) on disclosure risk.

pub mod claims;
mod compute;
pub mod curves;
pub mod settings;

pub(super) use compute::{Basis, basis, basis_of, by_basis, compute};
