//! Least squares through a tree in long floating-point numbers, for variances of noise that differ by many orders of
//! magnitude.
//!
//! A discrete Gaussian of sigma2 = 0.0136 has a variance of 2e-16. Together with one of variance 1.7, a covariance has
//! entries of the size of the larger one, and doubles lose the smaller completely. The sectors of [`gls`](super::gls)
//! do not separate the two. So if variances are far apart, everything is computed in numbers of [`BITS`] bits, with the
//! true variances of the noise, by the same two passes in the same sectors.
//!
//! Noise with variance below [`EXACT`] is treated as zero: its standard deviation is a billionth of a count, which
//! doubles do not show beside counts of millions. Its counts are then measurements with the variance `NOTHING`, which
//! no answer distinguishes from zero, and the estimates are checked to reproduce them.
//!
//! The same numbers serve designs whose lowest level does not determine every sum of cells. Then each number of each leaf has
//! a weak prior, a normal law around 0 with 2^100 times the largest variance of the noise. An estimate that the counts
//! determine moves by at most some 2^-100 of its size, far less than a double shows; one that they do not determine has a
//! variance of the size of the prior's, and is reported as infinite.
//!
//! | file | content |
//! | --- | --- |
//! | `number` | long numbers as those of least squares |
//! | [`survey`] | estimates and variances of the counts of queries |

mod number;
pub mod survey;

#[cfg(test)]
mod tests;

use rug::Float;

/// The bits of all numbers. Variances from `NOTHING` to 10^18 are 2^260 apart; inverting a sum of matrices may lose
/// that many bits.
pub const BITS: u32 = 640;
/// The binary exponent of the variance of a count without noise.
const NOTHING: i32 = -200;
/// The binary exponent of the prior's variance, in units of the largest variance of noise.
const PRIOR: i32 = 100;
/// The same of the largest variance of an estimate that the counts determine: sums over millions of counts are far below,
/// and a part of the prior far above.
const DETERMINED: i32 = 50;
/// Noise with a variance below this is treated as zero.
pub const EXACT: f64 = 1e-18;
/// Largest ratio of variances always computed in doubles: an estimate then loses 1.5 times the digits of this ratio, of
/// sixteen digits, relative to its own standard deviation.
const NEAR: f64 = 1e4;
/// Largest ratio of variances computed in doubles if a problem is too large for long numbers.
pub const FAR: f64 = 1e8;

/// Whether long numbers are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Doubles suffice.
    No,
    /// Doubles lose many digits and keep some.
    Better,
    /// Doubles may lose all digits.
    Must,
}

/// A number of [`BITS`] bits.
pub fn long(value: f64) -> Float {
    Float::with_val(BITS, value)
}

/// Whether variances are too far apart, or too small, for doubles.
pub fn need<'a>(variances: impl IntoIterator<Item = &'a Float>) -> Need {
    let ends = variances.into_iter().fold(None, |ends: Option<(&Float, &Float)>, own| {
        let (least, most) = ends.unwrap_or((own, own));
        Some((if own < least { own } else { least }, if own > most { own } else { most }))
    });
    let Some((least, most)) = ends else { return Need::No };
    let apart = |times: f64| Float::with_val(BITS, least * times) < *most;
    match (*least < 1e-12 || apart(FAR), apart(NEAR)) {
        (true, _) => Need::Must,
        (_, true) => Need::Better,
        _ => Need::No,
    }
}

/// Whether noise of this variance is treated as zero.
pub fn is_exact(variance: &Float) -> bool {
    *variance < EXACT
}

/// The variance used in the computation.
pub fn kept(variance: &Float) -> Float {
    if is_exact(variance) { long(1.0) << NOTHING } else { Float::with_val(BITS, variance) }
}

/// A variance as a double; a variance that comes only from counts without noise is zero.
fn shown(variance: &Float) -> f64 {
    // Sums over millions of counts without noise are below this bound, and all other variances above it.
    let nothing = long(1.0) << (NOTHING + 60);
    if *variance < nothing { 0.0 } else { variance.to_f64() }
}
