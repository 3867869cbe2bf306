//! Non-negative integer counts that satisfy every constraint: from the top down, the counts of a unit are distributed
//! among its children.
//!
//! Given the counts of a parent, least squares gives the conditional mean of the counts of its children, which sums to
//! the parent in every cell but may be negative and fractional. This module computes the nearest integer counts,
//! weighted by the variances, that are non-negative, sum to the parent in every cell, are zero where constraints
//! require it, and lie within given bounds (group quarters: at least one person in each, none where there are none).
//!
//! Like the Bureau's TopDown algorithm it works in passes from coarse queries to fine ones, each of which keeps the
//! results of those before. Each pass consists of one or several network flow problems: the total of a child flows into
//! the groups of the bounds, and from there into cells, whose sums over the children are the parent's. Such a problem
//! has an integer optimum whenever it is feasible, and the optimum is found, not approximated: there is no rounding
//! step that could fail.
//!
//! A histogram of more than 65,536 cells is too large. Then the cells are those of a marginal: the values that the
//! requested queries and the constraints together distinguish. In this case the mean is not conditional on the parent's
//! integer counts, which have less information than its estimate, but on that estimate. All sums, bounds and zeros are
//! satisfied in both cases.
//!
//! The counts are biased, like all counts that cannot be negative: use the estimates themselves for inference.
//!
//! | file | content |
//! | --- | --- |
//! | [`flow`] | the nearest integer flow in a network |
//! | [`family`] | the children of a unit: the passes, and the network of each |
//! | [`descend`] | from the top of a tree to its leaves |

pub mod descend;
pub mod family;
pub mod flow;
