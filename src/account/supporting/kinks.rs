//! The highest line where losses can be listed: between two lines phi is known from its kinks.
//!
//! phi is concave and linear but for its kinks: at E_i = exp(l_i), l_i a loss, its slope falls by m_i = Q[L = l_i]. So between two lines
//! a and b it is their chord and a tent for each kink,
//!
//! ```text
//! phi(E) = ((E_b - E) phi(E_a) + (E - E_a) phi(E_b)) / (E_b - E_a) + sum of m_i G(E, E_i),
//! G(E, E_i) = (min(E, E_i) - E_a) (E_b - max(E, E_i)) / (E_b - E_a) <= (E_b - E_a) / 4,
//! ```
//!
//! known as well as the two lines, because nothing is drawn on beyond them, and masses known to fewer digits do. Losses that are not listed
//! only add, at most their mass times (E_b - E_a) / 4. The top of phi is one of the kinks: where two others beside it are proven
//! to be lower, phi is lower beyond them, and between neighbors it is linear.

use std::f64::consts::LN_10;

use rug::{Float, Rational};

use super::{Line, Lines, OF_DOUBLES, Top, peak::width};
use crate::{
    error::{Error, Result},
    loss::smoothed::{Crowd, Interval},
    numeric::{Enclosure, enclosure, precision},
};

/// So many losses are found between two lines at most, if lines can be placed closer together; else more. So many are enough.
const MANY_LOSSES: f64 = 2e5;
const MOST_LOSSES: f64 = 1e6;
const ENOUGH_LOSSES: usize = 300;
const FEW_LOSSES: f64 = 2e4;
/// How much closer lines place the next ones, if their scale is right; how often.
const CLOSER: f64 = 1e-4;
const MOST_ROUNDS: usize = 4;
const MOST_ATTEMPTS: usize = 2;
/// How much further out the lines are where the top is not between them, or too few losses.
const FURTHER: f64 = 30.0;

/// Where the top is looked for.
#[derive(Clone, Debug)]
struct Place {
    eps: Float,
    /// In units of the scale of the top: the two lines are so far on either side.
    apart: f64,
}

impl Lines<'_> {
    /// f(alpha) from two lines and the kinks between them; `None` where these cannot be listed.
    pub(super) fn between_kinks(&self, top: Top, digits: u32) -> Result<Option<Enclosure>> {
        if self.evaluator.sum().step().is_none() {
            return Ok(None);
        }
        let Some(mut place) = self.place_of_few(top, digits)? else { return Ok(None) };
        for _ in 0..MOST_ATTEMPTS {
            let Some(interval) = self.enough_losses(&mut place, top, digits) else { break };
            let [a, b] = self.lines_at(&place, top, digits + 1 + top.lost.ceil() as u32)?;
            if let Some(value) = Between::new(&a, &b, &interval, digits).highest(&interval.missing) {
                return Ok(Some(value));
            }
            let most = if digits <= OF_DOUBLES { MANY_LOSSES } else { MOST_LOSSES };
            if interval.found as f64 * FURTHER > most {
                break;
            }
            place.apart *= FURTHER;
        }
        Ok(None)
    }

    /// Where the top is, so closely that the losses there can be listed: lines on both sides tell better than doubles. `None` where that
    /// does not come closer.
    fn place_of_few(&self, top: Top, digits: u32) -> Result<Option<Place>> {
        let eps = Float::with_val(precision::bits(2 * digits, 64), top.eps);
        let mut place = Place { eps, apart: (top.distance * 1e-3 * 10_f64.powf(top.lost) / top.scale).min(1.0) };
        let finest = 10_f64.powf(-f64::from(digits) / 2.0);
        for _ in 0..=MOST_ROUNDS {
            let apart = place.apart;
            let Some(crowd) = self.crowd(&place, top, digits) else { return Ok(None) };
            // What doubles say of the curve, what it is no parabola, and what the kinks are off from it.
            let of_kinks = 10.0 * apart / crowd.heavy.sqrt();
            let closer = (CLOSER * apart).max(16.0 * apart * apart).max(of_kinks);
            if crowd.points <= MANY_LOSSES || crowd.points <= MOST_LOSSES && closer > apart / 4.0 {
                // A few thousand losses more take less than a second attempt.
                place.apart *= (FEW_LOSSES / crowd.points).clamp(1.0, FURTHER);
                return Ok(Some(place));
            }
            // For few digits three lines do as well as two rounds of two.
            if apart < finest || closer > apart / 2.0 || digits <= OF_DOUBLES {
                return Ok(None);
            }
            let asked = (1.0 - (apart * closer).log10()).clamp(1.0, f64::from(digits)) + top.lost;
            let [a, b] = self.lines_at(&place, top, asked.ceil() as u32)?;
            let rise = Float::with_val(64, b.height.lower() - a.height.lower()) / a.height.upper();
            // Of a parabola that is lower by its height at a distance of one.
            let shift = rise.to_f64() / (4.0 * apart);
            if !shift.is_finite() || shift.abs() > 1.0 {
                return Ok(None);
            }
            place.eps += shift * top.scale;
            // Where doubles were further off than they say, the same again further out.
            place.apart = if shift.abs() > apart { 4.0 * shift.abs() } else { closer };
        }
        Ok(None)
    }

    /// The losses around a place, which is made wider until they are enough.
    fn enough_losses(&self, place: &mut Place, top: Top, digits: u32) -> Option<Interval> {
        loop {
            let (from, to) = place.around(top)?;
            let interval = self.evaluator.losses_between(&from, &to, place.ln_error(top, digits))?;
            let (losses, found) = (interval.losses.len(), interval.found as f64);
            if losses >= ENOUGH_LOSSES || place.apart >= 1.0 || found > MANY_LOSSES / 2.0 {
                return Some(interval);
            }
            let further = 2.0 * ENOUGH_LOSSES as f64 / (losses as f64).max(1.0);
            place.apart *= further.clamp(2.0, FURTHER).min(MANY_LOSSES / found.max(1.0));
        }
    }

    /// About how many losses are there.
    fn crowd(&self, place: &Place, top: Top, digits: u32) -> Option<Crowd> {
        let (from, to) = place.around(top)?;
        self.evaluator.predicted_between(&from, &to, place.ln_error(top, digits))
    }

    /// The lines on both sides.
    fn lines_at(&self, place: &Place, top: Top, digits: u32) -> Result<[Line; 2]> {
        let (from, to) = place.around(top).ok_or(Error::NotFinite { value: place.eps.to_f64() })?;
        Ok([self.line(from, digits)?, self.line(to, digits)?])
    }
}

impl Place {
    /// Where the two lines are, exactly.
    fn around(&self, top: Top) -> Option<(Rational, Rational)> {
        let (eps, distance) = (self.eps.to_rational()?, Rational::from_f64(self.apart * top.scale)?);
        Some((Rational::from(&eps - &distance), eps + distance))
    }

    /// ln of how well masses have to be known between them: a mass m adds at most m (E_b - E_a) / 4 to a height.
    fn ln_error(&self, top: Top, digits: u32) -> f64 {
        top.ln_height - f64::from(digits + 1) * LN_10 - top.eps - (2.0 * self.apart * top.scale).ln()
    }
}

/// phi between two lines a and b, but for the losses that are not listed.
struct Between<'a> {
    a: &'a Line,
    b: &'a Line,
    bits: u32,
    /// E_b - E_a.
    apart: Enclosure,
    kinks: Vec<Kink>,
    /// The sum of all m_i (E_b - E_i).
    tents: Enclosure,
}

/// A kink at E_i.
struct Kink {
    /// E_i - E_a.
    way: Enclosure,
    /// Of the kinks before it the sums of m_j, and of m_j (E_j - E_a).
    mass: Enclosure,
    moment: Enclosure,
}

impl<'a> Between<'a> {
    fn new(a: &'a Line, b: &'a Line, interval: &Interval, digits: u32) -> Self {
        let bits = precision::bits(digits, 96);
        // In full relative precision, however close they are.
        let way = |loss: &Rational| a.slope.mul(&Enclosure::rational(&Rational::from(loss - &a.exact), bits).exp_m1());
        let zero = || Enclosure::double(0.0, bits);
        let (mut kinks, mut mass, mut moment) = (Vec::with_capacity(interval.losses.len()), zero(), zero());
        for (loss, own) in &interval.losses {
            let kink = Kink { way: way(loss), mass: mass.clone(), moment: moment.clone() };
            mass = mass.add(own);
            moment = moment.add(&own.mul(&kink.way));
            kinks.push(kink);
        }
        let apart = way(&b.exact);
        let tents = mass.mul(&apart).sub(&moment);
        Between { a, b, bits, apart, kinks, tents }
    }

    /// The height at a kink.
    fn height(&self, kink: &Kink) -> Enclosure {
        let share = kink.way.div(&self.apart);
        let rest = Enclosure::double(1.0, self.bits).sub(&share);
        let chord = self.a.height.mul(&rest).add(&self.b.height.mul(&share));
        chord.add(&share.mul(&self.tents).sub(&kink.mass.mul(&kink.way)).add(&kink.moment))
    }

    /// The kink beyond which phi falls, about: the last one before which it does not.
    fn top_approx(&self) -> usize {
        let middle = |value: &Enclosure| Float::with_val(self.bits, value.lower() + value.upper()) / 2_u32;
        let rise = middle(&self.b.height) - middle(&self.a.height) + middle(&self.tents);
        let slope = rise / middle(&self.apart);
        self.kinks.partition_point(|kink| middle(&kink.mass) < slope).saturating_sub(1)
    }

    /// The height of the top, with losses of this mass that are not listed; `None` where it is not proven to be between the lines.
    fn highest(&self, missing: &Float) -> Option<Enclosure> {
        let top = self.top_approx();
        let at_top = self.height(self.kinks.get(top)?);
        let missing = Enclosure::new(Float::new(self.bits), missing.clone()).mul(&self.apart).times_power_of_two(-2);
        let (mut lower, mut upper) = (at_top.lower().clone(), at_top.upper().clone());
        // Out to where phi is proven to be lower, on each side: to a kink, or to one of the two lines.
        let mut is_lower = |height: &Enclosure| {
            let most = height.add(&missing).upper().clone();
            lower = enclosure::larger(&lower, height.lower());
            upper = enclosure::larger(&upper, &most);
            most <= *at_top.lower()
        };
        let left = self.kinks[..top].iter().rev().any(|kink| is_lower(&self.height(kink))) || is_lower(&self.a.height);
        let right = self.kinks[top + 1..].iter().any(|kink| is_lower(&self.height(kink))) || is_lower(&self.b.height);
        // Between kinks that are listed phi is below the larger of both, but for the others.
        let upper = Enclosure::new(Float::new(self.bits), upper).add(&missing).upper().clone();
        let value = Enclosure::new(lower, upper);
        // Masses that are known too coarsely say little.
        (left && right && width(&value) < *value.upper()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{account::Composition, numeric::rational};

    /// Two lines and the kinks between them against lists of all losses: of fine noise, on a lattice and not, beside coarse noise, and
    /// for tops above and below zero.
    #[test]
    fn kinks_tell_what_lists_answer() {
        for (groups, digits) in [
            (vec!["3001/7x3", "4099/5x2", "1/3x2"], 40),
            (vec!["100003/7x3", "2001/5x2@2"], 30),
            (vec!["401/9x2@3", "1/20x2", "307/3x1"], 20),
            (vec!["5x10", "40/3x1"], 17),
        ] {
            let counts = groups.iter().map(|counts| counts.parse().unwrap());
            let composition = Composition::new(counts).unwrap();
            let (evaluator, rho) = (composition.loss_evaluator(), composition.rho().to_f64());
            let (mut above, mut below) = (false, false);
            for alpha in ["1/2", "0.01", "0.99", "1e-12", "0.734"] {
                let alpha = rational::parse(alpha).unwrap();
                let lines = Lines::new(&evaluator, rho, &alpha);
                let top = lines.top_approx().unwrap();
                let value = lines.between_kinks(top, digits).unwrap().unwrap();
                let listed = evaluator.tradeoff(&alpha, digits, false).unwrap().unwrap().value;
                assert!(
                    value.overlaps(&listed) && listed.is_tight(digits - 1),
                    "{groups:?} {alpha}: {value:?} {listed:?}"
                );
                assert!(value.is_tight(digits), "{groups:?} {alpha}: {value:?}");
                (above, below) = (above || top.eps > 0.0, below || top.eps < 0.0);
            }
            assert!(above && below);
        }
    }
}
