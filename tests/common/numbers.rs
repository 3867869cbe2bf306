//! Numbers for tests: exact ones from their text, and pseudo-random ones from a seed.

// Each test uses only a part.
#![allow(dead_code)]

use dp_assay::numeric::rational::parse;
use rug::Rational;

/// An exact number from its text.
pub fn number(text: &str) -> Rational {
    parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// A generator for tests: its output depends only on the seed.
pub struct Numbers(pub u64);

impl Numbers {
    /// An integer from 0 to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}
