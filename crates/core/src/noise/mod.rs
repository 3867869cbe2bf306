//! Noise for counts: distributions, and exact samplers of them.
//!
//! A [`Sampler`] draws from a law on the integers exactly: every probability is the exact real number of the law, not a nearby
//! double. Random words come from [`Streams`], ChaCha20 with a key from the operating system. Under an insecure seed the
//! samples are the same on every platform and for any number of threads.
//!
//! | file | content |
//! | --- | --- |
//! | `discrete_gaussian` | [`DiscreteGaussian`]: masses, tails, quantiles, moments |
//! | `discrete_laplace` | [`DiscreteLaplace`], the two-sided geometric law, in closed form |
//! | `bounded` | [`BoundedNoise`]: truncated laws, and tables of masses |
//! | `distribution` | [`Distribution`]: that of any law on the integers |
//! | `margin` | [`Margin`]: the margin of error of one count |
//! | `quantile` | quantiles of both, by certified comparisons |
//! | [`shifted_gaussian`] | discrete Gaussians with a center between the integers |
//! | [`published_error`] | expected errors of a count published with noise, unclamped or clamped at zero |
//! | `streams` | secure random words: [`Streams`] and [`Source`] |
//! | `tails` | the tails of the size of noise of any symmetric law |
//! | `folded` | the law of \|X\| and certified bounds of its tails, which both samplers use |
//! | [`inversion`] | sampling by a table, and the proof that it is exact |
//! | [`rejection`] | sampling of laws that are too wide for a table, and the proof |
//! | [`listed`] | sampling of a list of rational probabilities, and the proof |
//! | [`response`] | sampling of randomized response |
//! | [`staircase`] | [`StaircaseNoise`]: masses, tails and moments in closed form, and exact sampling |
//! | `sampler` | [`Sampler`]: the best method for a law |
//! | `bulk` | noise for whole slices, on all cores |
//! | `vector` | [`VectorMechanism`]: noise on every coordinate of a vector of counts |
//! | `table` | noise on columns of a table: [`TableSource`], [`TableSink`] (feature `mechanisms`) |
//! | `table_options` | the options of such a table, and the report on it |
//! | `column`, `parquet_columns` | the same in CSV and in Parquet |
//! | `keyed` | counts of a CSV perturbed by the keys of their cells: [`perturb_by_keys`] (feature `mechanisms`) |
//! | `designed` | perturbation tables of the largest entropy: [`Design`] (feature `mechanisms`) |
//! | [`regression`] | the effect of noise on a regression on shares of counts |
//!
//! Not covered: the time that a sample takes depends slightly on its value, as with every table look-up. An observer who
//! can time single samples on the machine that draws them learns something about them. Keys and random words are not
//! wiped from memory after use.

mod bounded;
mod bulk;
#[cfg(feature = "mechanisms")]
mod column;
#[cfg(feature = "mechanisms")]
mod designed;
mod discrete_gaussian;
mod discrete_laplace;
mod distribution;
mod folded;
pub mod inversion;
#[cfg(feature = "mechanisms")]
mod keyed;
pub mod listed;
mod margin;
#[cfg(feature = "mechanisms")]
mod parquet_columns;
pub mod published_error;
mod quantile;
pub mod regression;
pub mod rejection;
pub mod response;
mod sampler;
pub mod shifted_gaussian;
pub mod staircase;
mod streams;
#[cfg(feature = "mechanisms")]
mod table;
#[cfg(feature = "mechanisms")]
mod table_options;
mod tails;
mod vector;

pub use bounded::BoundedNoise;
#[cfg(feature = "mechanisms")]
pub use designed::{Design, DesignedRow};
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use distribution::Distribution;
#[cfg(feature = "mechanisms")]
pub use keyed::{KeyedColumns, KeyedDone, perturb_by_keys};
pub use margin::Margin;
#[cfg(feature = "mechanisms")]
#[doc(hidden)]
pub use quantile::{depth_approx, quantile};
pub use sampler::Sampler;
pub use staircase::StaircaseNoise;
pub use streams::{Source, Streams};
#[cfg(feature = "mechanisms")]
pub use table::{TableSink, TableSource};
#[cfg(feature = "mechanisms")]
pub use table_options::{TableDone, TableOptions};
pub(crate) use tails::magnitude_tails;
pub use vector::VectorMechanism;

/// The quantile of the normal law at 97.5 %: the factor from a standard deviation to a margin at 95 %, approximately.
pub const NORMAL_975: f64 = 1.959_963_984_540_054;
