//! Evidence: published values as data, recomputed and judged; published tables and figures drawn again.

pub mod block_paths;
pub mod figures;
pub mod pipeline;
pub mod plot;
pub mod published;
pub mod report;
pub mod risk;
pub mod safetab;
pub mod spine;
mod su_su_wang_2025;
pub mod verify;
pub mod write;
