//! The highest line where losses can be enumerated: between two lines phi is known from its kinks.

use std::f64::consts::LN_10;

use rug::{Float, Rational};

use super::{Line, Lines, OF_DOUBLES, Top};
use crate::{
    account::kinks::{Between, End},
    error::{Error, Result},
    loss::{
        evaluator::SumEvaluator,
        smoothed::{Crowd, Interval},
    },
    numeric::{Enclosure, precision},
};

/// The largest number of losses between two lines, if lines can be placed closer together; the largest otherwise; a sufficient number; and
/// the number to which a place may be widened.
const MANY_LOSSES: f64 = 3e4;
const MOST_LOSSES: f64 = 1e6;
const ENOUGH_LOSSES: usize = 300;
const FEW_LOSSES: f64 = 2e4;
/// For few digits three lines suffice and are faster than enumerating more losses than this.
const MOST_FOR_FEW_DIGITS: f64 = 3e4;
/// Upper limit of the losses found by an enumeration, as a multiple of the predicted number.
const CROWDED: f64 = 3.0;
/// The factor on the distance of the next lines if their scale is right; the number of rounds, and of attempts.
const CLOSER: f64 = 1e-4;
const MOST_ROUNDS: usize = 4;
const MOST_ATTEMPTS: usize = 2;
/// The factor on the distance of the lines if the maximum is not between them, or there are too few losses.
const FURTHER: f64 = 30.0;

/// The place where the maximum is searched.
#[derive(Clone, Debug)]
struct Place {
    eps: Float,
    /// The distance of the two lines on either side, in units of the scale of the maximum.
    apart: f64,
}

/// The largest number of losses to enumerate for this number of digits: if lines can be placed closer together, and otherwise.
fn most_losses(digits: u32) -> (f64, f64) {
    if digits <= OF_DOUBLES { (MOST_FOR_FEW_DIGITS, MOST_FOR_FEW_DIGITS) } else { (MANY_LOSSES, MOST_LOSSES) }
}

impl Lines<'_> {
    /// f(alpha) from two lines and the kinks between them; `None` where these cannot be enumerated.
    pub(super) fn between_kinks(&self, top: Top, digits: u32) -> Result<Option<Enclosure>> {
        let Some(evaluator) = self.source.sum().filter(|evaluator| evaluator.sum().step().is_some()) else {
            return Ok(None);
        };
        let Some(mut place) = self.place_of_few(evaluator, top, digits)? else { return Ok(None) };
        for _ in 0..MOST_ATTEMPTS {
            let Some(interval) = self.enough_losses(evaluator, &mut place, top, digits) else { break };
            let [a, b] = self.lines_at(&place, top, digits + 1 + top.lost.ceil() as u32)?;
            if let Some(value) = Between::new(a.end(), b.end(), &interval, digits).highest() {
                return Ok(Some(value));
            }
            let (_, most) = most_losses(digits);
            let is_further = shift(&a, &b, place.apart).abs() > FURTHER * place.apart;
            if interval.found as f64 * FURTHER > most || is_further && digits > OF_DOUBLES {
                break;
            }
            place.apart *= FURTHER;
        }
        Ok(None)
    }

    /// The place of the maximum, so narrow that the losses there can be enumerated. Lines on both sides locate it better than doubles.
    /// `None` if they do not narrow it.
    fn place_of_few(&self, evaluator: &SumEvaluator, top: Top, digits: u32) -> Result<Option<Place>> {
        let eps = Float::with_val(precision::bits(2 * digits, 64), top.eps);
        let mut place = Place { eps, apart: (top.distance * 1e-3 * libm::pow(10_f64, top.lost) / top.scale).min(1.0) };
        let finest = libm::pow(10_f64, -f64::from(digits) / 2.0);
        for _ in 0..=MOST_ROUNDS {
            let apart = place.apart;
            let Some(crowd) = self.crowd(evaluator, &place, top, digits) else { return Ok(None) };
            // The precision of the next place: by doubles, by the deviation from a parabola, and by the deviation of the kinks from it.
            let of_kinks = 10.0 * apart / crowd.heavy.sqrt();
            let closer = (CLOSER * apart).max(16.0 * apart * apart).max(of_kinks);
            let (many, most) = most_losses(digits);
            if crowd.points <= many || crowd.points <= most && closer > apart / 4.0 {
                // A few thousand more losses cost less than a second attempt.
                place.apart *= (FEW_LOSSES / crowd.points).clamp(1.0, FURTHER);
                return Ok(Some(place));
            }
            // For few digits three lines are as good as two rounds of two.
            if apart < finest || closer > apart / 2.0 || digits <= OF_DOUBLES {
                return Ok(None);
            }
            let wanted = (1.0 - libm::log10(apart * closer)).clamp(1.0, f64::from(digits)) + top.lost;
            let [a, b] = self.lines_at(&place, top, wanted.ceil() as u32)?;
            let shift = shift(&a, &b, apart);
            if !shift.is_finite() || shift.abs() > 1.0 {
                return Ok(None);
            }
            place.eps += shift * top.scale;
            // If doubles were less precise than they claim, the same again farther out.
            place.apart = if shift.abs() > apart { 4.0 * shift.abs() } else { closer };
        }
        Ok(None)
    }

    /// The losses around a place, which is widened until they are enough.
    fn enough_losses(&self, evaluator: &SumEvaluator, place: &mut Place, top: Top, digits: u32) -> Option<Interval> {
        let (many, most) = most_losses(digits);
        loop {
            let (from, to) = place.around(top)?;
            let interval =
                evaluator.losses_between(&from, &to, place.ln_error(top, digits), CROWDED * most, &self.session)?;
            let (losses, found) = (interval.losses.len(), interval.found as f64);
            if losses >= ENOUGH_LOSSES || place.apart >= 1.0 || found > many / 2.0 {
                return Some(interval);
            }
            let further = 2.0 * ENOUGH_LOSSES as f64 / (losses as f64).max(1.0);
            let apart = place.apart * further.clamp(2.0, FURTHER).min(many / found.max(1.0));
            // Far from the bulk of the losses, a slightly wider place may have far too many.
            let wider = Place { apart, ..place.clone() };
            if self.crowd(evaluator, &wider, top, digits).is_none_or(|crowd| crowd.points > most) {
                return Some(interval);
            }
            *place = wider;
        }
    }

    /// The predicted number of losses.
    fn crowd(&self, evaluator: &SumEvaluator, place: &Place, top: Top, digits: u32) -> Option<Crowd> {
        let (from, to) = place.around(top)?;
        evaluator.predicted_between(&from, &to, place.ln_error(top, digits))
    }

    /// The lines on both sides.
    fn lines_at(&self, place: &Place, top: Top, digits: u32) -> Result<[Line; 2]> {
        let (from, to) = place.around(top).ok_or(Error::NotFinite { value: place.eps.to_f64() })?;
        Ok([self.line(from, digits)?, self.line(to, digits)?])
    }
}

/// The position of the maximum relative to the middle between two lines, in units of its scale: that of a parabola that is lower by its own
/// height at distance 1.
fn shift(a: &Line, b: &Line, apart: f64) -> f64 {
    let rise = Float::with_val(64, b.height.lower() - a.height.lower()) / a.height.upper();
    rise.to_f64() / (4.0 * apart)
}

impl Line {
    fn end(&self) -> End<'_> {
        End { loss: &self.exact, value: &self.height }
    }
}

impl Place {
    /// The exact losses of the two lines.
    fn around(&self, top: Top) -> Option<(Rational, Rational)> {
        let (eps, distance) = (self.eps.to_rational()?, Rational::from_f64(self.apart * top.scale)?);
        Some((Rational::from(&eps - &distance), eps + distance))
    }

    /// ln of the precision that masses between them need: a mass m adds at most m (E_b - E_a) / 4 to a height.
    fn ln_error(&self, top: Top, digits: u32) -> f64 {
        top.ln_height - f64::from(digits + 1) * LN_10 - top.eps - libm::log(2.0 * self.apart * top.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Composition, supporting::Source},
        numeric::rational,
    };

    /// Two lines and the kinks between them against an enumeration of all losses: of fine noise, on a lattice and not, beside coarse noise,
    /// and for maxima at positive and negative eps.
    #[test]
    fn kinks_and_enumerations_agree() {
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
                let lines = Lines::new(Source::Sum(&evaluator), rho, &alpha, digits);
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
