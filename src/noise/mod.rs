//! The noise itself: the distributions that are added to counts.

mod discrete_gaussian;
pub mod error;
pub mod off_center;

pub use discrete_gaussian::DiscreteGaussian;
pub(crate) use discrete_gaussian::check_sigma2;
