//! Geographic spines: the hierarchy of geounits on which a release is drawn (Cumings-Menon et al., 2024).
//!
//! A spine is built from blocks, in this order:
//!
//! | file | content |
//! | --- | --- |
//! | [`plan`] | the plan of a spine, a TOML file, and building from it |
//! | [`blocks`] | the blocks and the geographic entities that contain them |
//! | `csv_table` | tables that identify blocks: which columns hold the GEOIDs |
//! | [`codes`] | GEOIDs in all forms that people use |
//! | [`hierarchy`] | the tree of geounits over the blocks |
//! | [`osed`] | the off-spine entity distance: how far an entity is from a tree |
//! | [`optimize`] | block groups that follow the entities, and the levels above them |
//! | `tract_groups` | tract groups that follow the entities |
//! | [`bypass`] | removal of units that cost more precision than they add, and the remaining paths to blocks |
//! | [`records`] | the privacy of all noisy counts, by the records that can change on the spine |
//! | [`geoids`] | the GEOIDs of the units of a tree |
//! | [`own`] | custom hierarchies with their own ids |
//! | [`spine_files`] | the files of a spine, written and read back |
//!
//! This module draws no noise: [`topdown`](crate::topdown) measures and estimates on a spine.
//!
//! # Errata of the paper
//!
//! - (3.3) lacks a transpose: the estimate is (S'S)^-1 S'z. Theorem 1 requires shares that sum to 1.
//! - (4.1) and (4.2) write level l for the level L of the children: see [`osed`], which proves the minimum.
//! - Theorem 2's proof: the block D is of diag(gamma_1^2 - gamma_0^2), not of its negative, and the reduced matrix is
//!   T'DT; TDT' is undefined for T of b\[l, 1\] rows and c columns. The statement holds: see [`bypass`].
//! - Section 3 rescales S by gamma alpha epsilon, which loses the factor 1/2 of section 2.4; comparisons are not
//!   affected.
//! - Remark 1's variances are in units of 4/epsilon^2 (a scale of 2/(epsilon gamma) has variance 8/(epsilon gamma)^2).
//! - Theorem 3's proof takes units u < U\[l\]; the last unit u = U\[l\] belongs to T\[l\] as well.
//! - Section 4 says "up to sqrt(n) + fanout_cutoff" blocks in a block group; the production code allows
//!   int(sqrt(n) + fanout_cutoff) + 1, and so does [`optimize`].

pub mod blocks;
pub mod bypass;
pub mod codes;
pub(crate) mod csv_table;
pub mod geoids;
pub mod hierarchy;
pub mod optimize;
pub mod osed;
pub mod own;
pub mod plan;
pub mod records;
pub mod spine_files;
mod tract_groups;
