//! Numbers as Rocq reads them, and the refusal of a claim.

use rug::{Integer, Rational, ops::Pow};

use crate::error::Error;

/// A rational as Rocq reads it: a decimal if it terminates, and its numerator and denominator in that form, which are not reduced.
pub(super) struct Number {
    num: Integer,
    den: Integer,
    places: Option<u32>,
}

impl Number {
    pub(super) fn new(value: &Rational) -> Number {
        let (rest, twos) = value.denom().clone().remove_factor(&Integer::from(2));
        let (rest, fives) = rest.remove_factor(&Integer::from(5));
        if rest != 1 {
            return Number { num: value.numer().clone(), den: value.denom().clone(), places: None };
        }
        // One or more places, so that the number is a quotient for Rocq.
        let places = twos.max(fives).max(1);
        let den = Integer::from(10).pow(places);
        let num = Rational::from(value * &den).numer().clone();
        Number { num, den, places: Some(places) }
    }

    /// As two fields of a certificate.
    pub(super) fn fields(&self) -> String {
        format!("({}) ({})", self.num, self.den)
    }
}

/// As in a theorem.
impl std::fmt::Display for Number {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Number { num, den, places } = self;
        let Some(places) = *places else { return write!(out, "({num} / {den})") };
        let digits = num.to_string();
        let places = places as usize;
        match digits.len().checked_sub(places) {
            Some(0) => write!(out, "0.{digits}"),
            Some(point) => write!(out, "{}.{}", &digits[..point], &digits[point..]),
            None if places - digits.len() < 3 => write!(out, "0.{digits:0>places$}"),
            None => write!(out, "{digits}e-{places}"),
        }
    }
}

/// Equal counts for Rocq: `name` is that of their noise.
pub(super) fn repeated(name: &str, parameter: &Rational, shift: u64, copies: u64) -> String {
    equal_counts(&format!("{name} {} {shift}", quotient(parameter)), copies)
}

/// Equal counts for Rocq.
pub(super) fn equal_counts(count: &str, copies: u64) -> String {
    format!("repeat ({count}) {copies}")
}

/// A quotient for Rocq.
pub(super) fn quotient(value: &Rational) -> String {
    format!("({} / {})", value.numer(), value.denom())
}

pub(super) fn unprovable(why: &str) -> Error {
    Error::Unprovable { why: format!("formal proofs {why}") }
}
