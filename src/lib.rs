//! A certified privacy accountant for counts published with lattice noise.

pub mod account;
pub mod error;
pub mod evidence;
pub mod noise;
pub mod numeric;
pub mod release;

pub use error::{Error, Result};
