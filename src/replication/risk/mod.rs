//! Kazan & Reiter (2023) on disclosure risk.

pub mod claims;
pub mod curves;
pub mod settings;
