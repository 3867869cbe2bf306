//! The papers on SafeTab: Haney and others (2021) on both mechanisms, Haney and others (2024) on SafeTab-P.

pub mod claims;
pub(super) mod levels;
pub mod renyi;
pub mod settings;
mod statements;
mod tails;
