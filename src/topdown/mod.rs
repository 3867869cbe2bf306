//! On a spine: measuring and estimating.

pub mod estimate;
pub mod estimated;
pub mod histograms;
pub mod kronecker;
pub mod measure;
pub mod measurements;
pub mod spread;
pub mod variance;
