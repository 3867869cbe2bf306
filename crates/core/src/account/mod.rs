//! Privacy accounting: the exact privacy of a composition of noisy counts, and the values of the usual conversions.
//!
//! | file | subject |
//! | --- | --- |
//! | [`counts`] | the counts that are published, their noise, and by how much one person changes them |
//! | `constructors` | counts of every law by typed parameters |
//! | [`composition`] | the privacy losses of all counts together |
//! | `joined` | lists that are joined by reference, for the counts of many releases |
//! | `conditions` | the conditions under which an account holds |
//! | `vector` | the privacy cost of a vector of counts with independent noise |
//! | `directions` | both directions of a composition that is not symmetric |
//! | [`free_rows`] | rows that move freely among the cells of a query: all in one cell is the worst |
//! | `group` | groups of records: the worst way in which they share out what they change |
//! | [`conversions`] | the usual conversions: zCDP in two ways, Renyi, Gaussian and pure differential privacy |
//! | [`compared`] | the reference for an exact epsilon: a published figure, or the smallest standard account |
//! | [`profile`] | the queries of every account: epsilon, delta, the privacy profile, the trade-off function |
//! | `epsilon` | epsilon from delta: the root of the privacy profile, proven from both sides |
//! | [`tradeoff`] | the trade-off function of a composition |
//! | `supporting` | the trade-off function from supporting lines, where losses lie on no lattice that can be summed over |
//! | `kinks` | the profile between two points, from the losses between them |
//! | [`paths`] | the worst case over all paths that a record may take through the counts |
//! | [`definition`] | delta by the definition of the mechanism: a second way, from the question on |
//! | `exact` | values that are fractions, where all outcomes are listed |
//! | `rows` | the rows of perturbation tables that decide an answer |
//! | [`outputs`] | the likelihood ratios of single outputs, over every change that a record can make |
//! | [`ledger`] | the composition of several releases about the same people |
//! | [`crossing`] | the deltas at which one account is within another's bound |
//! | [`calibrate`] | the least point of a grid of noise that meets a target |
//! | [`training`] | a training run as engineers describe it: noise multiplier, batches, epochs |
//! | [`promise`] | privacy promises, and the least noise that keeps one |
//! | `stretches` | less noise that is more private, where losses lie on a lattice |
//! | `inside` | noise that keeps a promise where the largest does not |
//! | [`sought`] | one number of a mechanism, written as a question mark, that a promise decides |
//! | [`allocate`] | the noise of each query with the least weighted error |
//!
//! Every request may end with [`Error::Stopped`](crate::Error::Stopped) after its stop signal was set, with
//! [`Error::OutOfTime`](crate::Error::OutOfTime) or another error beyond reach if nothing could be proven, or with
//! [`Error::Contradiction`](crate::Error::Contradiction) if two proofs exclude each other, which is a fault of the program. The functions
//! name only their other errors. Epsilons and losses are in nats.

pub mod allocate;
pub mod calibrate;
pub mod compared;
pub mod composition;
pub mod conditions;
mod constructors;
pub mod conversions;
pub mod counts;
pub mod crossing;
pub mod definition;
mod directions;
mod epsilon;
mod exact;
pub mod free_rows;
mod group;
mod inside;
mod joined;
mod kinks;
pub mod ledger;
pub mod outputs;
pub mod paths;
pub mod profile;
pub mod promise;
mod rows;
#[cfg(feature = "mechanisms")]
pub mod sought;
mod stretches;
pub(crate) mod supporting;
pub mod tradeoff;
pub mod training;
mod vector;

pub use crate::loss::{
    answer::Answer,
    parameter::{Delta, Epsilon, Rho, Sigma2},
    stop::Stop,
};
pub use composition::Composition;
pub use counts::Counts;
pub use directions::Rows;
pub use paths::Whole;
pub use profile::{Account, Point};
pub use rows::DecidingRows;
