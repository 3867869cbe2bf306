//! A decreasing function, and the bounds on its root by its enclosures.

use rug::{Float, Rational};

use super::super::{
    enclosure::{Certainty, Enclosure},
    precision,
};
use crate::error::{Error, Result};

/// A positive decreasing function on [0, infinity): an approximation and certified values.
#[derive(Clone, Copy, Debug)]
pub struct Decreasing<A, E> {
    /// ln of the function, in doubles: for the search only.
    pub ln_approx: A,
    /// An enclosure of the function at a number of digits, of relative width 10^-digits if that can be reached.
    pub enclose: E,
}

/// The root of a decreasing function, proven: f(lower) >= target >= f(upper).
#[derive(Clone, Debug)]
pub struct Root {
    /// The interval that contains the root; [0, 0] if f(0) <= target.
    pub value: Enclosure,
    /// Whether the relative width 10^-digits was reached.
    pub met: bool,
}

/// Additional knowledge about a function.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hints<'a> {
    /// Start and step of the search, if the function is faster to evaluate there than far from its root.
    pub(crate) around: Option<(f64, f64)>,
    /// Two points around the root, with proof, in a stretch about which more is known than the values at its ends; `None` if that does not
    /// help.
    pub(crate) within: Option<Within<'a>>,
}

pub(super) type Within<'a> = &'a dyn Fn(&Stretch) -> Result<Option<(Rational, Rational)>>;

/// From a point with a known value to another point beyond the root.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) from: (&'a Rational, &'a Enclosure),
    pub(crate) to: &'a Rational,
    /// The required distance of the two points from the root, and the digits of the function that this needs.
    pub(crate) half_width: &'a Rational,
    pub(crate) digits: u32,
    /// The number of bits of the middle between the two points.
    pub(crate) bits: u32,
}

/// The bounds on the root by all enclosures so far: `lower` <= root <= `upper`.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    pub(super) lower: Rational,
    pub(super) upper: Rational,
}

impl Sides {
    /// Updates the bounds by an enclosure of the function at x.
    pub(super) fn learn(&mut self, x: &Rational, value: &Enclosure, target: &Rational) {
        match value.at_most(target) {
            Certainty::Yes if *x < self.upper => self.upper.clone_from(x),
            Certainty::No if *x > self.lower => self.lower.clone_from(x),
            Certainty::Yes | Certainty::No | Certainty::Undecided => {}
        }
    }

    /// Whether both bounds come from evaluations.
    pub(super) fn are_found(&self, ceiling: f64) -> bool {
        self.lower > 0 && self.upper < ceiling
    }

    /// The given point, or the middle if it is outside of the bounds by more than `slack`.
    pub(super) fn inside(&self, x: Float, slack: &Float) -> Float {
        let reach = Float::with_val(x.prec(), slack);
        if Float::with_val(x.prec(), &x + &reach) >= self.lower && Float::with_val(x.prec(), &x - &reach) <= self.upper
        {
            return x;
        }
        Float::with_val(x.prec(), Rational::from(&self.lower + &self.upper) / 2_u32)
    }

    /// The interval between the bounds; an error if they exclude each other.
    pub(super) fn root(&self, digits: u32) -> Result<Root> {
        if self.lower > self.upper {
            return Err(Error::Contradiction { what: "the root of a decreasing function" });
        }
        let bits = precision::bits(digits, 40);
        let value = Enclosure::rational(&self.lower, bits).hull(&Enclosure::rational(&self.upper, bits));
        Ok(Root { met: value.is_tight(digits), value })
    }
}

/// The exact value of a float.
pub(super) fn exact(value: &Float) -> Result<Rational> {
    value.to_rational().ok_or(Error::NotFinite { value: value.to_f64() })
}

/// (upper - lower) / lower, approximately.
pub(super) fn relative_width(value: &Enclosure) -> f64 {
    (Float::with_val(64, value.upper() - value.lower()) / value.lower()).to_f64().abs()
}
