//! Least squares through a tree in long floating-point numbers, for noise of very different sizes side by side.
//!
//! A discrete Gaussian of sigma2 = 0.0136 has a variance of 2e-16. Beside one of variance 1.7 a covariance has entries of the size of the
//! larger one, and doubles hold nothing of the smaller. The sectors of [`gls`](super::gls) are too small to part the two. So where
//! variances are far apart, everything is computed in numbers of [`BITS`] bits, with the true variances of the noise, by the same two
//! passes. Attributes are split without square roots, so that all that is put together is exact but for roundings of that size:
//!
//! - an attribute of d values falls into cells, which are what the queries tell apart beside single values; the *coarse* part of a
//!   histogram along it is its mean on each cell, and the rest are differences from that mean;
//! - a sector is a set of attributes of which the differences are taken, and of all others the means. A query acts on the means as a small
//!   matrix of whole numbers, and on differences as the identity, if it keeps every value of the attribute, or as zero.
//!
//! Noise whose variance is below [`EXACT`] is taken as none: its standard deviation is a billionth of a count, which doubles do not show
//! beside counts of millions. Its counts are then measurements of the variance `NOTHING`, which no answer can be told from zero in, and
//! they are checked to be kept.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`algebra`] | small dense matrices of long numbers |
//! | [`space`] | sectors, and queries in them |
//! | [`passes`] | upwards and downwards |
//! | `areas` | sums over sets of leaves |

pub mod algebra;
mod areas;
pub mod passes;
pub mod space;

#[cfg(test)]
mod tests;

use rug::Float;

/// The bits of all numbers. Variances from `NOTHING` to 10^18 are 2^260 apart, which inverting a sum of matrices may lose of them.
pub const BITS: u32 = 640;
/// The exponent of the variance of a count without noise.
const NOTHING: i32 = -200;
/// Below this variance noise is taken as none.
pub const EXACT: f64 = 1e-18;
/// Variances up to so far apart are left to doubles, of whose sixteen digits an estimate loses one and a half times as many as that has,
/// in standard deviations of its own.
const NEAR: f64 = 1e4;
/// And up to so far apart where there are too many numbers for long ones.
pub const FAR: f64 = 1e8;

/// Whether long numbers are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Doubles do.
    No,
    /// Doubles lose many digits, and keep some.
    Better,
    /// Doubles may keep none.
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

/// Whether noise of this variance is taken as none.
pub fn is_exact(variance: &Float) -> bool {
    *variance < EXACT
}

/// The variance to compute with.
pub fn kept(variance: &Float) -> Float {
    if is_exact(variance) { long(1.0) << NOTHING } else { Float::with_val(BITS, variance) }
}

/// A variance as a double; what comes from counts without noise alone is zero.
fn shown(variance: &Float) -> f64 {
    // Sums over millions of counts without noise are below this, and all others above it.
    let nothing = long(1.0) << (NOTHING + 60);
    if *variance < nothing { 0.0 } else { variance.to_f64() }
}
