//! The laws of noise, one file each, with the facts that other rooms use; and groups of equal counts, the terms of a sum of privacy losses.
//!
//! | file | law |
//! | --- | --- |
//! | `kinds` | [`Law`]: all of them |
//! | `facts` | what every law of noise provides |
//! | `file_options` | how the file of a law is understood |
//! | `accounted` | a law as a text, with everything that decides its losses |
//! | `group` | [`Group`]: equal counts |
//! | `gaussian` | N_Z(0, sigma2), mass proportional to exp(-x^2 / (2 sigma2)) at every integer; N(0, sigma2) on the real line; the same on a Poisson sample of the records |
//! | `discrete_laplace` | mass proportional to exp(-epsilon \|x\|) at every integer |
//! | `laplace` | density proportional to exp(-\|x\| / scale) on the real line |
//! | `bounded_range` | any mechanism of bounded range, as the exponential mechanism |
//! | `uniform` | the common part of both: losses that are uniform once they are tilted |
//! | `truncated` | a discrete Laplace or discrete Gaussian law on -bound, ..., bound |
//! | `staircase` | noise whose masses are equal on stairs and fall from stair to stair |
//! | `randomized_response` | the true one of K answers, or with some probability another |
//! | `table` | noise by its masses |
//! | `pair` | two hypotheses by the probabilities of their outcomes |
//! | `perturbation` | a table of the cell-key method: the published value of every true count |
//! | `random_rounding` | counts rounded to one of both multiples of a base around them |
//! | `unknown_key` | keys that are shown if their noisy count reaches a threshold |
//! | `sampled`, `on_samples` | noise of another law on the counts of a Poisson sample of the records |
//! | `changes` | the changes of one count of which the data decide |
//! | `likelihoods` | the likelihood ratios of two hypotheses, exactly; [`Direction`] |
//! | `outcomes` | one direction of a pair that is not symmetric |
//! | `responses` | mixtures of randomized responses: between two of these lie laws whose losses have no common lattice |
//! | `guarantee` | any mechanism that is epsilon-DP or (epsilon, delta)-DP |
//! | `shape` | [`Shape`]: the masses of one draw, for samplers |
//! | `finite` | the common part of all laws of finitely many losses |
//! | `named` | the table of laws: [`Entry`] by its name in options and files, [`Number`] |
//! | `replaced` | laws in place of a law: rounded, symmetric, without sampling |
//! | [`theta`] | the factor of a group in the moment generating function, and its bounds |
//! | [`parameter`] | epsilon, delta, rho and sigma2, checked once when they are made |
//!
//! `facts` lists the properties that a law provides: its name and its parameter for files, options and certificates; the ranges of an account; how much it
//! spends; the form of its exponent for samplers. No other room matches on a law, so that a new law is a new file and a row of `of_law!`.

mod accounted;
mod bounded_range;
mod changes;
mod discrete_laplace;
mod facts;
mod file_options;
mod finite;
mod gaussian;
mod group;
mod guarantee;
mod kinds;
mod laplace;
mod likelihoods;
mod named;
mod on_samples;
mod outcomes;
mod pair;
pub mod parameter;
mod perturbation;
mod random_rounding;
mod randomized_response;
mod replaced;
mod responses;
mod sampled;
mod shape;
mod staircase;
mod table;
pub mod theta;
mod truncated;
mod uniform;
mod unknown_key;

pub use changes::Changes;
#[doc(hidden)]
pub use facts::Range;
pub use file_options::FileOptions;
pub(crate) use finite::{Cumulants, Finite, InDoubles};
pub use group::Group;
pub use kinds::Law;
pub use likelihoods::Direction;
pub use named::{ENTRIES, Entry, Number};
pub use outcomes::Outcomes;
pub use pair::Pair;
pub use perturbation::PerturbationTable;
#[cfg(feature = "mechanisms")]
pub use perturbation::keys::{CellKey, CellKeys};
pub(crate) use replaced::Alternative;
pub use responses::Responses;
pub(crate) use responses::Rounding;
pub use sampled::Sampled;
pub use shape::{Exponent, Shape};
pub use table::NoiseTable;
pub(crate) use uniform::Uniform;
pub use unknown_key::{KeyNoise, UnknownKey};
