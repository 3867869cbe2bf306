//! Certified numerics: from exact rationals to enclosures. This module is independent of privacy.
//!
//! | file | subject |
//! | --- | --- |
//! | [`rational`] | exact numbers as people type them |
//! | [`precision`] | the number of bits that a number of digits needs |
//! | [`enclosure`] | intervals with directed rounding: the form of every proven number |
//! | `upper_bound` | upper bounds on non-negative numbers, for error terms |
//! | `decimal` | enclosures as decimal text, rounded outward |
//! | [`notation`] | the same with fixed decimals, exponents or percent |
//! | `complex_double` | elementary functions of complex doubles, the same on every machine |
//! | [`field`], [`ball`] | the complex field in which formulas are written once, in doubles and in balls over MPFR |
//! | `twofold` | numbers of 32 digits as sums of two doubles, their elementary functions and balls: fast, for few digits |
//! | `phase` | angles that advance by an exact fraction of a full turn |
//! | `lattice` | enumeration of the integer vectors near a point, by a reduced basis |
//! | [`root`] | certified roots of decreasing functions |
//! | [`parallel`] | one function for each of many items, on all threads |
//! | `effort`, [`clock`] | the priced steps that an answer takes, and the clock of last resort |
//! | `halving` | bisection and golden section in doubles |
//! | [`extremum`] | certified minima of convex functions, and searches for extrema in doubles |
//! | `normal` | the standard normal law in doubles, an approximation |

pub mod ball;
pub mod clock;
pub(crate) mod complex_double;
#[doc(hidden)]
pub mod decimal;
pub mod effort;
pub mod enclosure;
pub mod extremum;
pub mod field;
#[doc(hidden)]
pub mod halving;
pub(crate) mod lattice;
#[doc(hidden)]
pub mod normal;
pub mod notation;
pub mod parallel;
pub(crate) mod phase;
pub mod precision;
pub mod rational;
pub mod root;
pub(crate) mod twofold;
pub(crate) mod upper_bound;

pub use enclosure::{Certainty, Enclosure};
