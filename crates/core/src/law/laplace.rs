//! Continuous Laplace noise on the real line, of density exp(-|x| / scale) / (2 scale).
//!
//! Of a count that moves by the shift the loss is shift / scale or its opposite beyond both counts, and linear between them ([`uniform`](super::uniform)).

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    finite::Finite,
    responses::{Responses, Rounding},
    uniform::Uniform,
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// The name in files and options.
pub(super) const KEY: &str = "laplace";

/// The largest shift of an account.
const MOST_SHIFT: u64 = 1000;
/// The range of the scale in an account.
const LEAST: (u32, u32) = (1, 1000);
const MOST: u64 = 1_000_000;

pub(super) struct Laplace<'a> {
    pub scale: &'a Rational,
}

impl Laplace<'_> {
    fn losses(&self, shift: u64) -> Uniform {
        Uniform { largest: Rational::from(shift) / self.scale, has_ends: true }
    }
}

impl<'a> Facts<'a> for Laplace<'a> {
    fn names(&self) -> [&'static str; 2] {
        ["Laplace", KEY]
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("scale", self.scale)
    }

    fn is_continuous(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        if *self.scale >= Rational::from(LEAST) && *self.scale <= MOST {
            return Ok(());
        }
        Err(Error::out_of_range("scale of the Laplace", rational::display(self.scale), "a scale from 1e-3 to 1e6"))
    }

    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        Some((Growth::Scale, Range::new(LEAST, MOST)))
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        Some(self.losses(shift).largest)
    }

    /// Those of a pair that is at most as private.
    fn finite(&self, shift: u64) -> Option<Finite> {
        (&Responses::of_uniform(&self.losses(shift), Rounding::Up)).finite(1)
    }

    fn uniform(&self, shift: u64) -> Option<Uniform> {
        Some(self.losses(shift))
    }

    /// 1 / (2 scale^2).
    fn precision_approx(&self) -> Rational {
        (self.scale.clone().square() * 2_u32).recip()
    }
}
