//! The largest hockey stick of a family: E[(1 - exp(eps - L))_+] for L = L_p + L_q with p and q from a family of sums, or
//! for each L_p alone. Beside every pair there may be one sum that is the same for all.
//!
//! Where members have the same rho and only Gaussian terms, one contour serves all pairs: the same real part, the same heights of the nodes and the
//! same cut. The sum beside them may have any terms: its factors multiply the kernel. A group that occurs in several members is evaluated once for each node, in balls. All later steps are in doubles with bounds on their
//! errors, so a pair costs a few additions a node: ten digits for hundreds of thousands of pairs. The few pairs that may be the largest are summed
//! again in sums of two doubles, which give more than twenty digits (`near`).
//!
//! Pairs of one lattice step are of one kind: they share the kernel and the nodes. Where every step divides a period that is not too long, each kind
//! keeps its own lattice; otherwise all take the kernel of the unbounded contour.
//!
//! Only the pairs (p, p) are sieved: |F_p F_q| <= (|F_p|^2 + |F_q|^2) / 2, so bounds that hold for the doubles of two members hold for the pair. If
//! more digits are requested than this gives, the [`evaluator`](super::evaluator) answers the pairs that may be the largest one by one.
//!
//! | file | content |
//! | --- | --- |
//! | `members`, `pairs` | the members, their pairs and the lattices of these |
//! | `sieved` | the sieves of members and of pairs |
//! | `kinds` | the pairs that share a kernel, and their nodes |
//! | `sums` | the sums of all pairs over these nodes |
//! | `shared` | contours that requests close to one another share |
//! | `common` | the largest, and which pairs may attain it |

mod common;
mod kinds;
mod members;
mod pairs;
mod shared;
mod sieved;
mod sums;

pub(crate) use common::CommonContour;
pub use members::{Family, Units};
