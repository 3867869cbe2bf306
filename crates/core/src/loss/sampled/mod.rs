//! Poisson sampling: Gaussian noise on a random part of the records, as in DP-SGD.
//!
//! # The pair
//!
//! A step samples every record with probability g, adds N(0, sigma2) to the sum, and one record changes the sum by `shift`. In units of the loss,
//! v = (shift / sigma2) x, the density of the noise has variance 1/s2 with s2 = sigma2 / shift^2, and the ratio of the two hypotheses is
//!
//! ```text
//! r(v) = 1 - g + g exp(v - 1 / (2 s2)),      L = ln r(v) where a record was removed (v ~ the mixture),  L = -ln r(v) where it was added (v ~ the noise).
//! ```
//!
//! The pair is not symmetric: every number is that of the direction in which it is larger, for the whole composition.
//!
//! # The moments
//!
//! With F(p) = E[r(v)^p] over the noise, E[exp(s L)] is F(1 + s) for a removed record and F(-s) for an added one. For p = a + i tau it is an integral of
//! phi(w) r(w)^p along any line Im w = theta, 0 <= theta < pi, because r has no zeros there. On that line, for tau >= 0,
//!
//! ```text
//! |r^(i tau)| = exp(-tau arg r) <= 1,    since arg r lies between 0 and pi,
//! |r|^a <= r(v)^a (a >= 0),  (cos(theta / 2) r(v))^a (a < 0),    since |A + B exp(i theta)|^2 - (A + B)^2 cos(theta / 2)^2 = (A - B)^2 sin(theta / 2)^2.
//! ```
//!
//! So the integral of the modulus, N(tau), falls as tau grows, and bounds all that lies beyond. Both integrals are taken by the trapezoid rule: its error
//! is at most 2 B / (exp(2 pi a / d) - 1) for a step d and a strip of half width a, with B a bound on the integral of the modulus on both edges (`line`).
//!
//! # The profile
//!
//! For n steps, delta(eps) = (1 / 2 pi i) times the integral of F^n exp(-s eps) / (s (s + 1)) along Re s = c > 0, again by the trapezoid rule, whose error
//! is a sum of positive terms: the profile at eps - 2 pi m / h, times exp(-2 pi m c / h) (`contour`). Between -1 and 0 the same integral is -(1 - delta).
//!
//! # Other noise
//!
//! Noise that sees every record multiplies the moment at every node (`beside`). Beside few losses samples with a closed form are added up (`outcomes`).

mod apart;
mod arithmetic;
mod beside;
mod central;
mod closed;
mod contour;
mod fixed;
mod kept;
mod line;
mod outcomes;
pub(in crate::loss) mod phase;
mod search;
mod sum;
mod table;

use rug::Rational;

use super::{
    answer::{self, Answer, Proof},
    stop::Stop,
};
pub use crate::law::Direction;
use crate::{error::Result, numeric::Enclosure};
pub(crate) use phase::{Phase, Strand};
pub(crate) use search::Side;
pub(crate) use sum::SampledSum;

impl SampledSum {
    /// The hockey stick of one direction, for epsilon >= 0, or its complement.
    pub(crate) fn hockey_stick(
        &self,
        direction: Direction,
        side: Side,
        epsilon: &Rational,
        digits: u32,
        stop: &Stop,
    ) -> Result<Answer> {
        if let Some(beside) = &self.beside {
            let delta = match self.by_outcomes(beside, direction, epsilon, digits)? {
                Some(answer) if answer.met => answer,
                Some(answer) => answer::both(
                    contour::enclose(self, direction, Side::Delta, epsilon, digits, stop),
                    Ok(answer),
                    digits,
                )?,
                None => contour::enclose(self, direction, Side::Delta, epsilon, digits, stop)?,
            };
            let value = match side {
                Side::Delta => delta.value,
                Side::Complement => {
                    Enclosure::double(1.0, delta.value.lower().prec()).sub(&delta.value).clamp(0.0, 1.0)
                }
            };
            return Ok(Answer { met: value.is_tight(digits), value, proof: delta.proof });
        }
        if let Some(value) = closed::hockey_stick(self, direction, epsilon, digits) {
            let value = match side {
                Side::Delta => value,
                Side::Complement => Enclosure::double(1.0, value.lower().prec()).sub(&value).clamp(0.0, 1.0),
            };
            let proof =
                Proof::new("closed form", "closed form of one sampled step, or of losses that end before epsilon");
            return Ok(Answer { met: value.is_tight(digits), value, proof });
        }
        let apart = self.apart(direction, side, epsilon, digits);
        match apart {
            Some(answer) if answer.met => Ok(answer),
            Some(answer) => {
                answer::both(contour::enclose(self, direction, side, epsilon, digits, stop), Ok(answer), digits)
            }
            None => contour::enclose(self, direction, side, epsilon, digits, stop),
        }
    }

    /// ln of a hockey stick in doubles: an approximation without proof. Where it is close to 1, the logarithm has the relative precision of its
    /// complement. Where it is far from `near`, if there is such a number, an estimate.
    pub(crate) fn ln_hockey_stick_approx(
        &self,
        direction: Direction,
        epsilon: &Rational,
        near: Option<f64>,
        stop: &Stop,
    ) -> Result<f64> {
        const DIGITS: u32 = 15;
        const FEW_DIGITS: u32 = 6;
        /// Closer to 1 the complement is computed.
        const NEAR: f64 = -0.1;
        if let Some(beside) = &self.beside {
            return match self.by_outcomes(beside, direction, epsilon, FEW_DIGITS)? {
                Some(answer) if answer.met => Ok(answer.value.ln().approximate()),
                _ => contour::ln_approx(self, direction, Side::Delta, epsilon, near, stop),
            };
        }
        if let Some(value) = closed::hockey_stick(self, direction, epsilon, DIGITS) {
            return Ok(if *value.lower() > 0 { value.ln().approximate() } else { f64::NEG_INFINITY });
        }
        // As precise as the search needs, or the best there is.
        let apart = self.apart(direction, Side::Delta, epsilon, FEW_DIGITS);
        if let Some(answer) = &apart
            && answer.met
        {
            return Ok(answer.value.ln().approximate());
        }
        // No approximation is outside of what is proven.
        let within = |ln: f64| match &apart {
            Some(Answer { value, .. }) => {
                let [least, most] = [value.lower(), value.upper()].map(|end| libm::log(end.to_f64()));
                ln.max(least).min(most)
            }
            None => ln,
        };
        let ln = within(contour::ln_approx(self, direction, Side::Delta, epsilon, near, stop)?);
        if ln < NEAR || near.is_some_and(|near| near < 4.0 * NEAR) {
            return Ok(ln);
        }
        Ok(within(libm::log1p(-libm::exp(contour::ln_approx(self, direction, Side::Complement, epsilon, None, stop)?))))
    }
}
