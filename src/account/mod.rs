//! Privacy accounting: what a composition of noisy counts reveals, exactly and by the usual conversions.
//!
//! | file | question |
//! | --- | --- |
//! | [`composition`] | which counts are published, with which noise, and by how much one person moves them |
//! | [`conversions`] | what others report: zCDP by two conversions, Renyi, Gaussian and pure differential privacy |
//! | [`compared`] | what an exact epsilon is compared with: a published figure, or the smallest standard account |
//! | [`profile`] | the questions to every account: epsilon, delta, the curve between them, the trade-off function |
//! | [`tradeoff`] | how the trade-off function of a composition is found |
//! | `supporting` | the same from supporting lines of the profile, where losses are on no lattice that can be swept |
//! | `kinks` | the profile between two points, from the losses between them |
//! | [`paths`] | the worst over all paths that a record may take through the counts |
//! | [`ledger`] | several releases about the same people |
//! | [`crossing`] | at which deltas one account is within another's bound |
//! | [`calibrate`] | the least point of a grid of noise that meets a target |
//! | [`promise`] | promises, and the least noise that keeps one |
//! | [`allocate`] | the noise of each query with the least weighted error |

pub mod allocate;
pub mod calibrate;
pub mod compared;
pub mod composition;
pub mod conversions;
pub mod crossing;
mod epsilon;
mod kinks;
pub mod ledger;
pub mod paths;
pub mod profile;
pub mod promise;
pub(crate) mod supporting;
pub mod tradeoff;
mod vector;

pub use crate::loss::{
    answer::Answer,
    parameter::{Delta, Epsilon, Rho, Sigma2},
    stop::Stop,
};
pub use composition::{Composition, Counts};
pub use paths::Whole;
pub use profile::{Account, Point};
