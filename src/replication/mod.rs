//! Evidence: published values as data, recomputed and judged; published tables and figures drawn again.

pub mod block_paths;
pub mod boole;
pub mod closed_forms;
pub mod figures;
pub mod gibbs;
pub mod pipeline;
pub mod published;
pub mod report;
pub mod residual;
pub mod risk;
pub mod safetab;
pub mod series;
pub mod spine;
mod su_su_wang_2025;
pub mod verify;
