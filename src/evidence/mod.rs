//! Evidence: published values as data, recomputed and judged.

pub mod published;
pub mod risk;
pub mod verify;
