//! Few losses of other noise beside samples that have a closed form: the sum over these losses, each with the samples alone.
//!
//! ```text
//! delta(eps) = sum over a of P[A = a] d(eps - a),    d(-x) = 1 - exp(-x) + exp(-x) d'(x) for x > 0,
//! ```
//!
//! with the profile d of the samples and d' that of the other direction: for y = -x, E[(1 - exp(y - L))_+] = 1 - exp(y) + E[(exp(y - L) - 1)_+], since no loss of samples is
//! infinite, and the last is exp(y) times the hockey stick of the reversed pair at x. Losses that are not listed add at most their probability, because d <= 1.

use std::cmp::Ordering;

use rug::{Float, Rational, float::Round};

use super::{Direction, closed, search::Side, sum::SampledSum};
use crate::{
    error::Result,
    loss::{
        answer::{Answer, Proof},
        uniform::{self, UniformSum},
    },
    numeric::{Enclosure, precision},
};

/// The most losses that are listed.
const MOST_LOSSES: f64 = 150.0;

impl SampledSum {
    /// The hockey stick of one direction beside few other losses; `None` where these are many, or the samples have no closed form.
    pub(super) fn by_outcomes(
        &self,
        beside: &UniformSum,
        direction: Direction,
        epsilon: &Rational,
        digits: u32,
    ) -> Result<Option<Answer>> {
        const GUARD: u32 = 3;
        let Some(others) = beside.others.as_ref().filter(|_| beside.parts.is_empty()) else { return Ok(None) };
        let alone = self.alone();
        if !alone.has_closed_form(direction, epsilon) {
            return Ok(None);
        }
        let bits = precision::bits(digits + GUARD, 128);
        if uniform::predicted(others, 0.0, bits) > MOST_LOSSES {
            return Ok(None);
        }
        let (losses, missing) = uniform::listed(others, &Rational::new(), bits, bits)?;
        let opposite = direction.pick([Direction::Add, Direction::Remove]);
        let one = Enclosure::double(1.0, bits);
        let mut sum = Enclosure::double(0.0, bits);
        for (loss, p) in losses {
            let y = epsilon - loss;
            let value = match y.cmp0() {
                Ordering::Less => {
                    let exp = Enclosure::rational(&y, bits).exp();
                    let reversed = alone.in_closed_form(opposite, &Rational::from(-&y), digits + GUARD);
                    reversed.map(|reversed| one.sub(&exp).add(&exp.mul(&reversed)))
                }
                _ => alone.in_closed_form(direction, &y, digits + GUARD),
            };
            let Some(value) = value else { return Ok(None) };
            sum = sum.add(&p.mul(&value));
        }
        let upper = Float::with_val_round(bits, sum.upper() + &missing.into_float(), Round::Up).0;
        let value = Enclosure::new(sum.lower().clone(), upper).clamp(0.0, 1.0);
        let why = "closed forms of samples, for each loss of the other noise";
        Ok(Some(Answer { met: value.is_tight(digits), value, proof: Proof::new("closed form", why) }))
    }

    /// Whether there may be a closed form for samples alone: of one step, or of outputs that show which steps had the record.
    fn has_closed_form(&self, direction: Direction, epsilon: &Rational) -> bool {
        const FEW_DIGITS: u32 = 3;
        self.in_closed_form(direction, &Rational::from(epsilon.abs_ref()), FEW_DIGITS).is_some()
    }

    /// The hockey stick of samples alone for epsilon >= 0, without a contour.
    fn in_closed_form(&self, direction: Direction, epsilon: &Rational, digits: u32) -> Option<Enclosure> {
        let closed = closed::hockey_stick(self, direction, epsilon, digits);
        closed.or_else(|| self.apart(direction, Side::Delta, epsilon, digits).map(|answer| answer.value))
    }
}
