//! The name of the program, in certificates.

/// The name of SafeTab-P with a country's own specification.
pub(in crate::safetab) const ALGORITHM: &str = "SafeTab-P (own specification)";
