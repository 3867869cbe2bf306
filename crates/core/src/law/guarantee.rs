//! Any mechanism with a guarantee, by the pair that dominates all of them: outcomes of loss epsilon and -epsilon, and with probability delta an outcome
//! that the neighbor cannot have (Kairouz, Oh & Viswanath 2015, Theorem 3.3; Murtagh & Vadhan 2016, Lemma 3.2).
//!
//! Every (epsilon, delta)-DP mechanism is a function of the outcome of this pair, so the pair bounds every composition with it, adaptive ones too; and
//! randomized response with that guarantee attains it.

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    finite::{Finite, Infinite, Mass},
};
use crate::{
    error::{Error, Result},
    law::parameter::Delta,
    numeric::rational,
};

/// The names in files.
pub(super) const PURE: &str = "pure";
pub(super) const APPROXIMATE: &str = "approximate";

/// The range of epsilon in an account.
const LEAST: (u32, u32) = (1, 1_000_000);
const MOST: u64 = 1000;
/// The largest group that leaves or enters together.
const MOST_SHIFT: u64 = 1000;

/// epsilon-DP, or (epsilon, delta)-DP.
pub(super) struct Guarantee<'a> {
    pub epsilon: &'a Rational,
    pub delta: Option<&'a Rational>,
}

/// An error unless epsilon is in range.
pub(super) fn check_epsilon(epsilon: &Rational, what: &str) -> Result<()> {
    if *epsilon >= Rational::from(LEAST) && *epsilon <= MOST {
        return Ok(());
    }
    Err(Error::out_of_range(what, rational::display(epsilon), "a parameter above 0, from 1e-6 to 1e3"))
}

/// Of every guarantee by its epsilon.
pub(super) fn growth() -> Option<(Growth, Range)> {
    Some((Growth::Inverse, Range::new(LEAST, MOST)))
}

impl<'a> Facts<'a> for Guarantee<'a> {
    fn names(&self) -> [&'static str; 2] {
        if self.delta.is_some() { ["approximate DP", APPROXIMATE] } else { ["pure DP", PURE] }
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("epsilon", self.epsilon)
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        self.delta.iter().map(|delta| ("delta", (*delta).clone())).collect()
    }

    fn is_guarantee(&self) -> bool {
        true
    }

    fn has_infinite_loss(&self) -> bool {
        self.delta.is_some()
    }

    fn check(&self) -> Result<()> {
        self.delta.map_or(Ok(()), |delta| Delta::try_from(delta).map(|_| ()))?;
        check_epsilon(self.epsilon, "epsilon of a guarantee")
    }

    /// k people who change together have k times the epsilon of one; the delta of a group is larger, by how much depends on the mechanism.
    fn most_shift(&self) -> u64 {
        if self.delta.is_some() { 1 } else { MOST_SHIFT }
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        growth()
    }

    fn finite(&self, shift: u64) -> Option<Finite> {
        let largest = Rational::from(self.epsilon * shift);
        Some(Finite {
            step: Rational::from(&largest * 2_u32),
            masses: vec![Mass::exp(Rational::new()), Mass::exp(largest.clone())],
            places: None,
            infinite: self.delta.map_or(Infinite::Never, |delta| Infinite::Exactly(delta.clone())),
            largest,
        })
    }

    /// That of the continuous Laplace of scale 1 / epsilon, which has the guarantee.
    fn precision_approx(&self) -> Rational {
        self.epsilon.clone().square() / 2_u32
    }
}
