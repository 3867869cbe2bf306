//! The noise itself: the distributions that are added to counts, and exact samplers of them.
//!
//! A [`Sampler`] draws from a law on the integers exactly: every probability is the law's own real number, not a nearby
//! double. Random words come from [`Streams`], ChaCha20 keyed by the operating system; under an insecure seed the
//! samples are the same on every platform and for every number of threads. The proofs: [`table`] (inversion with
//! refinement) and [`rejection`] (blocks, for wide laws); both compare random binary digits only with proven bounds.
//!
//! What is not covered: the time that a sample takes depends a little on its value, as in every table look-up. Who can
//! time single samples on the machine that draws them learns something about them. Keys and words that were used are not
//! wiped from memory.

#[cfg(feature = "mechanisms")]
mod column;
mod discrete_gaussian;
mod discrete_laplace;
pub mod error;
mod magnitude;
pub mod off_center;
mod quantile;
mod random;
pub mod regression;
pub mod rejection;
mod sampler;
mod stream;
pub mod table;
mod vector;

pub use discrete_gaussian::DiscreteGaussian;
pub(crate) use discrete_gaussian::check_sigma2;
pub use discrete_laplace::DiscreteLaplace;
pub(crate) use discrete_laplace::check_epsilon;
#[cfg(feature = "mechanisms")]
pub(crate) use quantile::{depth_approx, quantile};
pub use random::{Source, Streams};
pub use sampler::Sampler;
pub use vector::VectorMechanism;
