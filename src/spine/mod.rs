//! Geographic spines: the hierarchy of geounits that a release is drawn on (Cumings-Menon et al., 2024).
//!
//! A spine is built from blocks, in this order:
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`plan`] | what a spine is built from, as a TOML file, and the building itself |
//! | [`blocks`] | the blocks, and the geographic entities that they lie in |
//! | [`hierarchy`] | the tree of geounits over the blocks |
//! | [`osed`] | how far an entity is from a tree: its off-spine entity distance |
//! | [`optimize`] | block groups that follow the entities, and the levels above them |
//! | `tract_groups` | tract groups that follow the entities |
//! | [`bypass`] | budget moved away from the units that do not pay for themselves, and the paths to blocks that remain |
//! | [`geoids`] | the GEOIDs of the units of a tree |
//! | [`own`] | a hierarchy that is not the census's, with its own ids |
//! | [`spine_files`] | the files of a spine, written and read back |
//!
//! Nothing here draws noise: [`topdown`](crate::topdown) measures and estimates on a spine.
//!
//! # Where the paper differs from what it proves
//!
//! - (3.3) has lost a transpose: the estimate is (S'S)^-1 S'z. Theorem 1 means shares that sum to one.
//! - (4.1) and (4.2) write level l for the level L of the children: see [`osed`], where the minimum is proven.
//! - Theorem 2's proof: the block D is of diag(gamma_1^2 - gamma_0^2), not of its negative, and the reduced matrix is T'DT;
//!   TDT' has no meaning for T of b\[l, 1\] rows and c columns. The statement stands: see [`bypass`].
//! - S in section 3 is rescaled by gamma alpha epsilon, which loses the factor 1/2 of section 2.4; comparisons stand.
//! - Remark 1's variances are in units of 4/epsilon^2 (a scale of 2/(epsilon gamma) has variance 8/(epsilon gamma)^2).
//! - Theorem 3's proof takes units u < U\[l\]; the last unit u = U\[l\] belongs to T\[l\] as well.
//! - Section 4 says "up to sqrt(n) + fanout_cutoff" blocks in a block group; the production code allows
//!   int(sqrt(n) + fanout_cutoff) + 1, and so does [`optimize`].

pub mod blocks;
pub mod bypass;
pub(crate) mod csv_table;
pub mod geoids;
pub mod hierarchy;
pub mod optimize;
pub mod osed;
pub mod own;
pub mod plan;
pub mod spine_files;
mod tract_groups;
