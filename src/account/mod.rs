//! Privacy accounting: what a composition of noisy counts reveals, exactly and by the usual conversions.

pub mod allocate;
pub mod calibrate;
pub mod composition;
pub mod conversions;
pub mod crossing;
pub mod ledger;
pub mod paths;
pub mod profile;
pub mod tradeoff;
mod vector;

pub use composition::{Composition, Counts};
pub use profile::Epsilon;
