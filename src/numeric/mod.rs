//! Certified numerics: exact rationals in, enclosures out. Nothing here knows of privacy.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`rational`] | exact numbers as people type them |
//! | [`enclosure`] | intervals with directed ends: how a proven number leaves the house |
//! | [`field`], [`ball`] | the complex field in which formulas are written once, in doubles and in balls |
//! | [`sum`] | weighted sums of noise terms and the lattice of their values |
//! | [`theta`] | their moment generating function by both sides of Jacobi's identity |
//! | [`contour`] | probabilities and hockey-stick sums by the trapezoid rule, with every error bounded |
//! | [`family`] | the same for all pairs of a family of sums at once |
//! | [`sieve`] | where on the period the integrand is provably negligible |
//! | [`root`] | certified minima of convex functions and bracketing search |
//! | [`boole`] | the same probabilities by the rule of the paper, with its error budget term by term |
//! | [`convolve`] | exact convolution in fixed point: the independent path that the tests hold against the contour |

pub mod ball;
pub mod enclosure;
pub mod field;
pub mod precision;
pub mod rational;
pub mod root;

pub use enclosure::{Certainty, Enclosure};
