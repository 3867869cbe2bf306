//! SafeTab-P: counts of detailed race and ethnicity groups, the Detailed DHC-A (Tumult Labs and the Census Bureau, 2021
//! and 2024).
//!
//! [`cell`] is the noise of one cell and of sums of cells, [`postprocess`] what is done to noisy counts before they are
//! published, and [`tuning`] the way from a budget to margins of error and back, for a whole plan of levels.

pub mod cell;
pub mod postprocess;
pub mod tuning;
