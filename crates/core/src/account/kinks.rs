//! A concave function of E = exp(eps) between two points, from the losses between them.
//!
//! Let delta be the privacy profile. phi(E) = -delta, or the height phi(E) = 1 - delta - E alpha of a line below the trade-off function, is
//! concave and piecewise linear: at E_i = exp(l_i), with l_i a loss, its slope decreases by m_i = Q[L = l_i]. Between two points a and b it
//! is therefore their chord plus one tent for each kink,
//!
//! ```text
//! phi(E) = ((E_b - E) phi(E_a) + (E - E_a) phi(E_b)) / (E_b - E_a) + sum of m_i G(E, E_i), G(E, E_i) = (min(E, E_i) - E_a) (E_b - max(E,
//! E_i)) / (E_b - E_a) <= (E_b - E_a) / 4.
//! ```
//!
//! phi is known as precisely as at the two points: nothing is extrapolated beyond them, and fewer digits suffice for the masses. Losses
//! that were not enumerated only add to phi, at most their mass times (E_b - E_a) / 4.

use rug::{Float, Rational};

use crate::{
    loss::smoothed::Interval,
    numeric::{Enclosure, enclosure, precision},
};

/// phi at a loss.
pub(super) struct End<'a> {
    pub(super) loss: &'a Rational,
    pub(super) value: &'a Enclosure,
}

/// phi between two points a and b, without the losses that were not enumerated.
pub(super) struct Between<'a> {
    a: End<'a>,
    b: End<'a>,
    interval: &'a Interval,
    bits: u32,
    /// E_a, and E_b - E_a.
    start: Enclosure,
    apart: Enclosure,
    kinks: Vec<Kink>,
    /// The sums over all kinks.
    total: Sums,
    /// The sum of all m_i (E_b - E_i).
    tents: Enclosure,
}

/// A kink at E_i.
struct Kink {
    /// E_i - E_a.
    way: Enclosure,
    before: Sums,
}

/// The sums of m_j and of m_j (E_j - E_a) over the first kinks.
#[derive(Clone)]
struct Sums {
    mass: Enclosure,
    moment: Enclosure,
}

impl<'a> Between<'a> {
    /// From the losses strictly between a and b.
    pub(super) fn new(a: End<'a>, b: End<'a>, interval: &'a Interval, digits: u32) -> Self {
        let bits = precision::bits(digits, 96);
        let start = Enclosure::rational(a.loss, bits).exp();
        let zero = || Enclosure::double(0.0, bits);
        let mut total = Sums { mass: zero(), moment: zero() };
        let mut kinks = Vec::with_capacity(interval.losses.len());
        for (loss, own) in &interval.losses {
            let kink = Kink { way: way(&start, a.loss, loss), before: total.clone() };
            total = Sums { mass: total.mass.add(own), moment: total.moment.add(&own.mul(&kink.way)) };
            kinks.push(kink);
        }
        let apart = way(&start, a.loss, b.loss);
        let tents = total.mass.mul(&apart).sub(&total.moment);
        Between { a, b, interval, bits, start, apart, kinks, total, tents }
    }

    /// phi at the distance `way` from a, given the sums of the kinks before it.
    fn value(&self, way: &Enclosure, before: &Sums) -> Enclosure {
        let share = way.div(&self.apart);
        let rest = Enclosure::double(1.0, self.bits).sub(&share);
        let chord = self.a.value.mul(&rest).add(&self.b.value.mul(&share));
        chord.add(&share.mul(&self.tents).sub(&before.mass.mul(way)).add(&before.moment))
    }

    fn at_kink(&self, kink: &Kink) -> Enclosure {
        self.value(&kink.way, &kink.before)
    }

    /// Encloses what losses that were not enumerated add to phi: from zero to their largest contribution.
    fn missing(&self) -> Enclosure {
        let missing = Enclosure::new(Float::new(self.bits), self.interval.missing.clone());
        missing.mul(&self.apart).times_power_of_two(-2)
    }

    /// phi at a loss between a and b.
    fn at(&self, loss: &Rational) -> Enclosure {
        let place = self.interval.losses.partition_point(|(other, _)| other < loss);
        let before = self.kinks.get(place).map_or(&self.total, |kink| &kink.before);
        self.value(&way(&self.start, self.a.loss, loss), before).add(&self.missing())
    }

    fn middle(&self, value: &Enclosure) -> Float {
        Float::with_val(self.bits, value.lower() + value.upper()) / 2_u32
    }

    /// The slope of the chord and the tents before the first kink; each kink reduces it.
    fn steepest(&self) -> Float {
        let rise = self.middle(self.b.value) - self.middle(self.a.value) + self.middle(&self.tents);
        rise / self.middle(&self.apart)
    }

    /// The maximum of phi; `None` where it is not proven to lie between a and b.
    ///
    /// It is attained at a kink: phi is linear between neighboring kinks, and beyond two points that are proven to be lower, one on each
    /// side, concave phi is lower still.
    pub(super) fn highest(&self) -> Option<Enclosure> {
        let slope = self.steepest();
        // The last kink before which phi does not decrease, approximately.
        let rising = self.kinks.partition_point(|kink| self.middle(&kink.before.mass) < slope);
        let top = rising.saturating_sub(1);
        let at_top = self.at_kink(self.kinks.get(top)?);
        let missing = self.missing();
        let (mut lower, mut upper) = (at_top.lower().clone(), at_top.upper().clone());
        // On each side, move out to a kink, or to a or b, where phi is proven to be lower.
        let mut is_lower = |value: &Enclosure| {
            let most = value.add(&missing).upper().clone();
            lower = enclosure::larger(&lower, value.lower());
            upper = enclosure::larger(&upper, &most);
            most <= *at_top.lower()
        };
        let left = self.kinks[..top].iter().rev().any(|kink| is_lower(&self.at_kink(kink))) || is_lower(self.a.value);
        let right = self.kinks[top + 1..].iter().any(|kink| is_lower(&self.at_kink(kink))) || is_lower(self.b.value);
        // Between enumerated kinks phi is at most the larger of both values plus the contribution of the other losses.
        let upper = Enclosure::new(Float::new(self.bits), upper).add(&missing).upper().clone();
        let value = Enclosure::new(lower, upper);
        // Masses known to too few digits give no useful bound.
        (left && right && width(&value) < *value.upper()).then_some(value)
    }

    /// The loss at which phi, which increases, crosses `level`: two losses `half` on either side of a number of `bits` bits; `None` where
    /// the crossing is not proven to lie between them.
    pub(super) fn crossing(&self, level: &Rational, half: &Rational, bits: u32) -> Option<(Rational, Rational)> {
        let rest = Float::with_val(self.bits, level) - self.middle(self.a.value);
        let place = self.kinks.partition_point(|kink| *self.at_kink(kink).lower() <= *level);
        let before = match place {
            0 => None,
            _ => Some(self.kinks.get(place).map_or(&self.total, |kink| &kink.before)),
        };
        let way = match before {
            None => rest / self.steepest(),
            Some(before) => (rest - self.middle(&before.moment)) / (self.steepest() - self.middle(&before.mass)),
        };
        let loss = (way / self.middle(&self.start)).ln_1p().to_rational()? + self.a.loss;
        let loss = Float::with_val(bits, loss).to_rational()?;
        let (lower, upper) = (Rational::from(&loss - half), loss + half);
        let is_between = lower > *self.a.loss && upper < *self.b.loss;
        let is_proven = is_between && *self.at(&lower).upper() <= *level && *self.at(&upper).lower() >= *level;
        is_proven.then_some((lower, upper))
    }
}

/// E - E_a in full relative precision, however close they are.
fn way(start: &Enclosure, from: &Rational, to: &Rational) -> Enclosure {
    start.mul(&Enclosure::rational(&Rational::from(to - from), start.lower().prec()).exp_m1())
}

/// The width of an enclosure.
fn width(value: &Enclosure) -> Float {
    Float::with_val(64, value.upper() - value.lower())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_10;

    use rug::{Integer, ops::Pow};

    use super::*;
    use crate::{account::Composition, numeric::rational};

    /// The profile between two points from the kinks, against the engines' values there; and its root against the level.
    #[test]
    fn a_profile_between_two_points_is_what_engines_answer() {
        const DIGITS: u32 = 30;
        for (groups, at, apart) in [
            (vec!["3001/7x3", "4099/5x2", "1/3x2"], "4", "1e-4"),
            (vec!["100003/7x3", "2001/5x2@2"], "0.2", "1e-3"),
            (vec!["401/9x2@3", "1/20x2", "307/3x1"], "41", "1e-2"),
        ] {
            let composition = Composition::new(groups.iter().map(|counts| counts.parse().unwrap())).unwrap();
            let evaluator = composition.loss_evaluator();
            let [a, apart] = [at, apart].map(|number| rational::parse(number).unwrap());
            let b = Rational::from(&a + &apart);
            let delta = |loss: &Rational| evaluator.hockey_stick(loss, DIGITS + 10).unwrap().value.negate();
            let (of_a, of_b) = (delta(&a), delta(&b));
            let ln_error = of_b.clone().negate().ln().approximate() - f64::from(DIGITS) * LN_10 - b.to_f64();
            let interval = evaluator
                .losses_between(&a, &b, ln_error, 1e6, &evaluator.session(crate::loss::limit::Limit::NONE))
                .unwrap();
            assert!(interval.losses.len() > 10, "{groups:?}: {}", interval.losses.len());
            let end = |loss, value| End { loss, value };
            let between = Between::new(end(&a, &of_a), end(&b, &of_b), &interval, DIGITS);
            for share in [1, 20, 50, 77, 99] {
                let loss = &a + Rational::from(&apart * share) / 100_u32;
                let (interpolated, truth) = (between.at(&loss), delta(&loss));
                assert!(
                    interpolated.overlaps(&truth) && interpolated.is_tight(DIGITS - 1),
                    "{groups:?} {share}: {interpolated:?} {truth:?}"
                );
                // Its middle is a level that phi crosses here.
                let level = Float::with_val(200, truth.lower() + truth.upper()).to_rational().unwrap() / 2_u32;
                let half = &apart / Rational::from(Integer::from(10).pow(20));
                let (lower, upper) = between.crossing(&level, &half, 200).unwrap();
                assert!(lower <= loss && loss <= upper, "{groups:?} {share}: {lower} {upper}");
                assert_eq!(Rational::from(&upper - &lower), half * 2_u32);
            }
            // A level beyond both ends is not crossed between them.
            for beyond in [of_a.lower_rational().unwrap() * 2_u32, Rational::new()] {
                assert!(between.crossing(&beyond, &Rational::from(&apart / 1000_u32), 200).is_none());
            }
        }
    }
}
