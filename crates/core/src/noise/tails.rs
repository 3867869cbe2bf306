//! The tails of the size of noise, for every law that is symmetric on the integers.

use super::{
    StaircaseNoise,
    folded::{FoldedLaw, TailBounds},
};
use crate::{
    error::Result,
    law::{Law, Shape},
};

/// Enclosures of `P[|X| > m]` for m = 0, 1, ... for noise X of a law on the integers, until they are below about 2^-wanted.
pub(crate) fn magnitude_tails(law: &Law, wanted: u32) -> Result<TailBounds> {
    match law.shape()? {
        Shape::Staircase { epsilon, period, first } => Ok(StaircaseNoise::new(epsilon, period, first).tails(wanted)),
        _ => Ok(FoldedLaw::of_law(law)?.tails(wanted)),
    }
}
