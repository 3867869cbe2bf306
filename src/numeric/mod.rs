//! Certified numerics: exact rationals in, enclosures out. Nothing here knows of privacy.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`rational`] | exact numbers as people type them |
//! | [`precision`] | how many bits a number of digits takes |
//! | [`enclosure`] | intervals with directed ends: the form of every proven number |
//! | `decimal` | enclosures as decimal text, rounded outward |
//! | [`notation`] | the same with fixed decimals, exponents or percent |
//! | [`field`], [`ball`] | the complex field in which formulas are written once, in doubles and in balls over MPFR |
//! | `twofold` | numbers of 32 digits as sums of two doubles, their elementary functions and balls: quick, for few digits |
//! | `lattice` | all integer vectors near a place, by a reduced basis |
//! | [`root`] | certified roots of decreasing functions |
//! | [`extremum`] | certified minima of convex functions, and searches for extrema in doubles |

pub(crate) mod above;
pub mod ball;
pub(crate) mod decimal;
pub mod enclosure;
pub mod extremum;
pub mod field;
pub(crate) mod lattice;
pub mod notation;
pub mod precision;
pub mod rational;
pub mod root;
pub(crate) mod twofold;

pub use enclosure::{Certainty, Enclosure};
