//! Non-negative whole counts that keep every constraint: from the top down, the children of a unit share out its counts.
//!
//! Least squares says what the counts of the children are if those of their parent are known: its conditional mean, which sums to the
//! parent in every cell but may be negative and broken. The nearest whole counts are taken, weighted by the variances, that are
//! not negative, sum to the parent in every cell, are zero where constraints say so, and lie between the bounds that are given
//! (group quarters: at least a person in each, none where there is none).
//!
//! The Bureau's TopDown algorithm does this in passes, from coarse queries to fine ones, each keeping what those before have
//! settled; so is it done here. Each pass is one or several problems of a flow in a network: the total of a child flows into the
//! groups that bounds are about, and from there into cells, whose sums over the children are the parent's. Such a flow has a whole
//! optimum wherever it has any, and it is found, not approximated: no rounding is needed that could fail.
//!
//! A histogram of more than 65,536 cells is too large for that. Then the cells are those of a marginal: what the queries that are asked for
//! and the constraints tell apart together. The mean is not conditional on the parent's whole counts then, which say less than the
//! estimate that they were made from, but on that estimate; all sums, bounds and zeros are kept alike.
//!
//! What is made is biased, as all counts that cannot be negative are: use the estimates themselves for inference.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`flow`] | the nearest whole flow in a network |
//! | [`family`] | the children of a unit: the passes, and the network of each |
//! | [`descend`] | from the top of a tree to its leaves |

pub mod descend;
pub mod family;
pub mod flow;
