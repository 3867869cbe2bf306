//! Evidence: published values as data, recomputed and judged; published tables and figures drawn again.

pub mod figures;
pub mod plot;
pub mod published;
pub mod verify;
pub mod write;
