//! The accountant of [dp-assay](https://docs.rs/dp-assay): exact numbers, laws of noise, privacy losses, accounts and releases.
//!
//! Programs depend on the crate `dp-assay`, which has these modules under the same names, and the mechanisms above them. Without its default
//! features it has little more than this crate. Its documentation describes the rooms, and its chapter `proofs` has the proofs.
//!
//! Items that the documentation does not show are for the rooms of `dp-assay`, and are no interface for others.
//!
//! From the bottom up; a lower room never calls a higher one: [`numeric`], [`law`], [`loss`], [`noise`], [`audit`], [`account`],
//! [`release`], [`risk`]. The feature `mechanisms` adds `document`, `draws` and `certificate`, and readers and writers of files.

// Tests compare with the functions of the C library as well.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod account;
pub mod audit;
#[cfg(feature = "mechanisms")]
pub mod certificate;
#[cfg(feature = "mechanisms")]
pub mod document;
#[cfg(feature = "mechanisms")]
pub mod draws;
pub mod error;
// For the readers and writers of the crate `dp-assay` above; users have the parts that are named below.
#[doc(hidden)]
pub mod io;
pub mod law;
pub mod loss;
pub mod noise;
pub mod numeric;
pub mod prelude;
pub mod release;
pub mod risk;

pub use error::{Error, Result};
#[cfg(feature = "mechanisms")]
pub use io::{csv_reader, files::remove_unfinished, foreign::is_decoding, provenance, remote::interrupt_remote};
pub use io::{reading, threads};
/// The exact numbers and floats of this library's arguments and results, in the version that it uses.
pub use rug;

/// Exact numbers from their texts, in unit tests.
#[cfg(test)]
mod numbers {
    pub(crate) fn number(text: &str) -> rug::Rational {
        crate::numeric::rational::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }
}
