//! A certified privacy accountant for counts published with lattice noise.

pub mod account;
pub mod error;
pub mod noise;
pub mod numeric;

pub use error::{Error, Result};
