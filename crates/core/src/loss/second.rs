//! A second enclosure of every certified value, by means that share no code with the engines: if both exclude each other, one of them is
//! wrong, and that is an error instead of an answer.
//!
//! It has a few digits, or hardly any, but it always holds. There are two ways, and where both are taken the answer is their intersection:
//!
//! | file | content |
//! | --- | --- |
//! | `moments` | ln E[exp(s L)] at real s, by closed forms |
//! | `bounds` | hockey sticks and trade-off functions from these moments, on both sides |
//! | `comparison` | the same by comparison of discrete with continuous Gaussian noise |
//! | `normal` | profile, tail and quantile of the normal distribution |
//! | `binomial` | Poisson-sampled Gaussian noise by moments of integer order |
//! | `between` | doubles with a bound for their roundings |
//!
//! # Doubles
//!
//! Sums, products, exp, ln, exp_m1 and ln_1p of doubles are taken to err by less than a relative 2^-50. Every bound is widened: by 10^-12 of
//! the sizes of all terms of it, which pays for a thousand roundings; by more where there are more than a thousand groups; and by 2 10^-14 for
//! the logarithm of one count, which takes a few dozen roundings. A bound that is not a number says nothing. Parameters outside of
//! 10^-60 to 10^60 are refused, so that no sum or product of them leaves the range of doubles unnoticed.

mod between;
pub(super) mod binomial;
mod bounds;
mod comparison;
mod moments;
mod normal;
#[cfg(test)]
mod tests;

use std::fmt;

use rug::{Float, Rational, float::Round};

use self::{comparison::Comparison, moments::Moments};
use super::{answer::Answer, infinite::InfiniteLoss, sum::LossSum};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// The second way to enclose a sum's hockey sticks and trade-off function.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    /// `None` where a parameter is out of range.
    moments: Option<Moments>,
    /// `None` where some noise is not Gaussian, or is too small to be compared.
    continuous: Option<Comparison>,
}

/// By which means a second enclosure was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Moments of the loss, from both sides.
    Moments,
    /// Comparison of discrete with continuous Gaussian noise.
    Comparison,
    /// Both, where the comparison alone is wide.
    Both,
    /// The trade-off function of every pair is 1 - alpha at alpha = 0 and 1.
    Closed,
    /// The same noise without sampling of the records, which is at most as private.
    Unsampled,
    /// The outcomes of every count as they are defined.
    Definition,
    /// The bound by zCDP alone.
    Zcdp,
    /// None: a parameter is out of their range.
    Nothing,
}

impl fmt::Display for Means {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Means::Moments => "moments of the loss",
            Means::Comparison => "comparison with continuous Gaussian noise",
            Means::Both => "comparison with continuous Gaussian noise, and moments of the loss",
            Means::Closed => "1 - alpha, which every pair has at alpha = 0 and 1",
            Means::Unsampled => "the same noise without sampling, which is at most as private",
            Means::Definition => "the outcomes as the mechanism defines them, added up on a grid",
            Means::Zcdp => "the bound by zCDP",
            Means::Nothing => "nothing independent",
        })
    }
}

/// A second enclosure, and its means.
#[derive(Clone, Debug)]
pub struct SecondEnclosure {
    /// The enclosure; from 0 to 1 where nothing is known.
    pub value: Enclosure,
    /// By which means.
    pub by: Means,
    /// Why an end is missing, where one is; or that it was not compared with the definition of the mechanism.
    pub note: Option<&'static str>,
}

impl SecondEnclosure {
    /// The note where the definition of the mechanism was not listed; no end is missing.
    pub const NOT_COMPARED: &'static str = "not compared with the outcomes as the mechanism defines them";

    /// An enclosure, with the reason where it says nothing.
    fn new(value: Enclosure, by: Means) -> Self {
        let note = match by {
            Means::Nothing => Some("a parameter of the noise is outside of 1e-60 to 1e60"),
            _ if *value.lower() <= 0 && *value.upper() >= 1 => Some("these means are too weak here"),
            _ => None,
        };
        SecondEnclosure { value, by, note }
    }

    /// The note for readers: why an end is missing, or that the enclosure is wide.
    pub fn leaves_open(&self) -> Option<&'static str> {
        const WIDE: &str = "wider than a hundredth: it confirms no more than that the answer is inside";
        let is_wide = || {
            let width = Float::with_val_round(64, self.value.upper() - self.value.lower(), Round::Up).0;
            width * 100_u32 > *self.value.upper()
        };
        self.note.or_else(|| is_wide().then_some(WIDE))
    }

    /// The trade-off function at alpha = 0 and 1; `None` between.
    pub(crate) fn at_ends(alpha: &Rational) -> Result<Option<Self>> {
        if *alpha < 0 || *alpha > 1 {
            return Err(Error::out_of_range("alpha", rational::display(alpha), "a type I error from 0 to 1"));
        }
        let is_end = *alpha == 0 || *alpha == 1;
        let value = || Enclosure::rational(&Rational::from(1 - alpha), 64);
        Ok(is_end.then(|| SecondEnclosure { value: value(), by: Means::Closed, note: None }))
    }

    /// From 0 to 1 - alpha, between which every trade-off function lies.
    pub(crate) fn trivial_tradeoff(alpha: &Rational) -> Self {
        let most = Float::with_val_round(64, &Rational::from(1 - alpha), Round::Up).0;
        SecondEnclosure {
            value: Enclosure::new(Float::new(64), most),
            by: Means::Closed,
            note: Some("these means are too weak here"),
        }
    }

    /// The enclosure [0, 1] of a hockey stick, where these means know nothing.
    pub(crate) fn trivial() -> Self {
        SecondEnclosure::new(Enclosure::new(Float::new(64), Float::with_val(64, 1)), Means::Closed)
    }

    /// The delta of all losses, where this is that of the finite ones.
    pub(crate) fn with_infinite_loss(self, infinite: &InfiniteLoss) -> Self {
        const DIGITS: u32 = 15;
        SecondEnclosure { value: infinite.delta(&self.value, DIGITS), ..self }
    }

    /// The enclosure of a number between this one's and another's.
    pub(crate) fn or(self, other: Self) -> Self {
        SecondEnclosure { value: self.value.hull(&other.value), ..other }
    }

    /// The larger of two numbers.
    pub(crate) fn larger(self, other: Self) -> Self {
        SecondEnclosure { value: self.value.max(&other.value), ..other }
    }

    /// The intersection with an enclosure that follows from the definition of the mechanism. `None` where that was not listed, so that it was not compared with it.
    pub(crate) fn compared(self, own: Option<&Enclosure>) -> Result<Self> {
        const WHAT: &str = "a second enclosure, by moments of the loss and by the definition of the mechanism";
        let Some(own) = own else {
            return Ok(SecondEnclosure { note: Some(self.note.unwrap_or(Self::NOT_COMPARED)), ..self });
        };
        let value = self.value.meet(own).ok_or(Error::Contradiction { what: WHAT })?;
        Ok(SecondEnclosure { value, by: Means::Definition, note: None })
    }

    /// Refuses a certified value that it excludes.
    pub(crate) fn confirms(&self, value: &Enclosure, what: &'static str) -> Result<()> {
        if self.value.overlaps(value) { Ok(()) } else { Err(Error::Contradiction { what }) }
    }

    /// A value that it does not exclude; of one below the requested precision, the intersection of both.
    pub(crate) fn met_with(&self, answer: Answer, digits: u32, what: &'static str) -> Result<Answer> {
        let value = answer.value.meet(&self.value).ok_or(Error::Contradiction { what })?;
        if answer.met { Ok(answer) } else { Ok(Answer { met: value.is_tight(digits), value, ..answer }) }
    }
}

impl Second {
    pub(crate) fn new(sum: &LossSum) -> Self {
        let moments = Moments::new(sum);
        let continuous = moments.as_ref().and_then(|_| Comparison::new(sum));
        Second { moments, continuous }
    }

    /// That of the sum of two independent losses.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let moments = self.moments.as_ref().zip(other.moments.as_ref()).map(|(one, other)| one.and(other));
        let continuous = self.continuous.as_ref().zip(other.continuous.as_ref()).map(|(one, other)| one.and(other));
        Second { moments, continuous }
    }

    /// Encloses E[(1 - exp(epsilon - L))_+] for epsilon >= 0.
    pub(crate) fn hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        let epsilon = epsilon.to_f64();
        self.by(|continuous| continuous.hockey_stick(epsilon).exp(), |moments| moments.hockey_stick(epsilon))
    }

    /// Encloses f(alpha) for 0 < alpha < 1.
    pub(crate) fn tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        // alpha may be below every double, its logarithm is not.
        let ln_alpha = Float::with_val(64, alpha).ln().to_f64();
        let of_tests =
            self.by(|continuous| continuous.tradeoff(ln_alpha).exp(), |moments| moments.tradeoff(ln_alpha))?;
        // 0 <= f(alpha) <= 1 - alpha for every pair.
        let most = Float::with_val_round(64, &Rational::from(1 - alpha), Round::Up).0;
        let value = of_tests.value.meet(&Enclosure::new(Float::new(64), most)).ok_or(INNER)?;
        Ok(SecondEnclosure { value, ..of_tests })
    }

    /// The comparison where it can be made and is narrow enough, else its intersection with the bounds from moments.
    fn by(
        &self,
        compare: impl Fn(&Comparison) -> Enclosure,
        bound: impl Fn(&Moments) -> Result<Enclosure>,
    ) -> Result<SecondEnclosure> {
        /// Between both ends: about three nats.
        const ENOUGH: u32 = 20;
        let Some(moments) = &self.moments else {
            return Ok(SecondEnclosure::new(
                Enclosure::double(0.0, 64).hull(&Enclosure::double(1.0, 64)),
                Means::Nothing,
            ));
        };
        let Some(continuous) = &self.continuous else {
            return Ok(SecondEnclosure::new(bound(moments)?, Means::Moments));
        };
        let compared = compare(continuous);
        if *compared.upper() <= Float::with_val(64, compared.lower() * ENOUGH) {
            return Ok(SecondEnclosure::new(compared, Means::Comparison));
        }
        let value = compared.meet(&bound(moments)?).ok_or(INNER)?;
        Ok(SecondEnclosure::new(value, Means::Both))
    }
}

/// Where the bounds of this module exclude each other.
const INNER: Error = Error::Contradiction { what: "a second enclosure, whose own ends" };
