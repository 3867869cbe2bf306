//! The privacy loss and its sums.

pub mod answer;
pub mod atoms;
mod bounds;
pub mod contour;
pub mod convolve;
mod factor_bound;
pub mod family;
mod integrand;
pub mod law;
mod phase;
mod plan;
pub mod question;
mod search;
mod sieve;
pub mod sum;
pub mod theta;
