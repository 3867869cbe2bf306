//! An upper bound on a profile of which no sum is known.

use std::fmt::Debug;

use rug::Rational;

use super::{
    answer::{Answer, Proof},
    parameter::Delta,
};
use crate::{error::Result, numeric::Enclosure};

/// A bound from above on the profile of every one of many pairs.
pub trait UpperProfile: Debug + Send + Sync {
    /// An enclosure of the bound at epsilon >= 0: no profile exceeds its upper end.
    fn hockey_stick(&self, epsilon: &Rational) -> Result<Enclosure>;

    /// An enclosure of a bound on the epsilon at delta: none exceeds its upper end.
    fn epsilon(&self, delta: &Delta) -> Result<Enclosure>;

    /// The logarithm of a profile close to the bound, in doubles.
    fn ln_approx(&self, epsilon: &Rational) -> f64;

    /// By what it is a bound, in words.
    fn proof(&self) -> &'static str;
}

/// The bound as an answer.
pub(crate) fn answer(bound: Enclosure, proof: &'static str, digits: u32) -> Answer {
    Answer { met: bound.is_tight(digits) || *bound.upper() == 0, value: bound, proof: Proof::bound(proof) }
}
