//! Enumeration of all sums of multiples of a few steps that come close to a target, among those near a center: points of a lattice between two planes
//! and inside an ellipsoid.
//!
//! With x the multiples, m their center, T the target, W the width and E the energy, they lie in one ellipsoid of the quadratic form
//!
//! ```text
//! sum (x_j - m_j)^2 / (2 v_j) + s E (T - sum of step_j x_j)^2 / W^2 <= (1 + s) E,    any s > 0,
//! ```
//!
//! whose vectors are enumerated by a reduced basis ([`lattice`](crate::numeric::lattice)): about as many as there are points, however fine the steps.

use std::sync::atomic::{AtomicU64, Ordering};

use rug::{Float, Integer, Rational};

use crate::{loss::stop::Stop, numeric::lattice::Form};

/// The largest number of points and attempts.
const MOST_STEPS: u64 = 20_000_000;

/// The binary logarithm of the width in units: steps are rounded to half of one.
const WIDTH_BITS: u32 = 46;
/// Multiples of a step are at most this far from the center, so that the rounding errors of the steps stay a thousandth of the width.
const FARTHEST: f64 = 1e9;

/// Multiples of a step, around a center.
#[derive(Clone, Debug)]
pub(super) struct Rung {
    /// The step, exactly.
    pub(super) step: Rational,
    /// The center of the multiples.
    pub(super) center: Rational,
    /// A multiple z away from the center counts z^2 / (2 variance) towards the energy.
    pub(super) variance: f64,
}

/// A rung, and its numbers rounded.
#[derive(Debug)]
struct Rounded {
    /// In units, rounded by at most half a unit.
    step: i128,
    /// The integer that is nearest to the center, and the distance of the center above it.
    nearest: i64,
    above: f64,
    variance: f64,
}

/// The search for points.
#[derive(Debug)]
pub(super) struct Close {
    rungs: Vec<Rounded>,
    /// One unit is 2^-shift.
    shift: i32,
    /// Upper bound on the width, in units, including the rounding errors of all steps.
    width: i128,
    energy: f64,
    /// The sum of the steps at the nearest integers.
    at_nearest: Rational,
    ellipsoid: Ellipsoid,
}

/// The ellipsoid around the points of a target.
#[derive(Debug)]
struct Ellipsoid {
    form: Form,
    bits: u32,
    /// (1 + s) E.
    most: f64,
    /// The sum of the steps at the centers.
    at_centers: Rational,
    /// s E / W^2, and the sum of step^2 variance.
    weight: Float,
    spread: Float,
    /// Of each rung the center, and step times variance.
    centers: Vec<Float>,
    slopes: Vec<Float>,
}

/// There are too many points, or the search was stopped.
#[derive(Debug)]
pub(super) struct TooMany;

impl Ellipsoid {
    fn new(rungs: &[Rung], width: &Rational, energy: f64) -> Option<Self> {
        // (1 + s)^(d / 2) / sqrt(s), to which the volume is proportional, is least there.
        let share = 1.0 / (rungs.len() as f64 - 1.0).max(1.0);
        let in_widths = |rung: &Rung| Rational::from(&rung.step / width).to_f64();
        let steepest = rungs.iter().map(in_widths).fold(1.0, f64::max);
        let widest = rungs.iter().map(|rung| rung.variance).fold(1.0, f64::max);
        // The binary digits between the largest and the smallest value on vectors of length one; twice that for the basis.
        let apart = 2.0 * libm::log2(steepest) + libm::log2(widest) + libm::log2(energy).abs() + 4.0;
        if !apart.is_finite() || apart > 2000.0 {
            return None;
        }
        let bits = 160 + 2 * apart as u32;
        let real = |x: &Rational| Float::with_val(bits, x);
        let weight = Float::with_val(bits, share * energy) / real(&width.clone().square());
        let steps: Vec<Float> = rungs.iter().map(|rung| real(&rung.step)).collect();
        let entry = |i: usize, j: usize| {
            let along = Float::with_val(bits, &steps[i] * &steps[j]) * &weight;
            if i == j { along + Float::with_val(bits, 0.5) / rungs[i].variance } else { along }
        };
        let gram: Vec<Vec<Float>> = (0..rungs.len()).map(|i| (0..rungs.len()).map(|j| entry(i, j)).collect()).collect();
        let slopes: Vec<Float> =
            steps.iter().zip(rungs).map(|(step, rung)| Float::with_val(bits, step * rung.variance)).collect();
        let terms = steps.iter().zip(&slopes).map(|(step, slope)| Float::with_val(bits, step * slope));
        Some(Ellipsoid {
            form: Form::new(&gram, None)?,
            bits,
            most: (1.0 + share) * energy,
            at_centers: rungs.iter().map(|rung| Rational::from(&rung.step * &rung.center)).sum(),
            spread: terms.fold(Float::new(bits), |sum, term| sum + term),
            weight,
            centers: rungs.iter().map(|rung| real(&rung.center)).collect(),
            slopes,
        })
    }

    /// The point where the form of a target is least, and the part of its bound that is left there.
    ///
    /// With r the distance of the target from the centers, w = s E / W^2 and S the sum of step^2 v: at m + 2 w v step r / (1 + 2 w S) it
    /// is w r^2 / (1 + 2 w S).
    fn around(&self, target: &Rational) -> (Vec<Float>, f64) {
        let real = |x: &Float| Float::with_val(self.bits, x);
        let distance = Float::with_val(self.bits, &Rational::from(target - &self.at_centers));
        let scale = real(&self.weight) * 2_u32 * &self.spread + 1_u32;
        let least = real(&distance).square() * &self.weight / &scale;
        let pull = distance * 2_u32 * &self.weight / scale;
        let place = |(center, slope): (&Float, &Float)| real(slope) * &pull + center;
        // The last factor covers the rounding.
        let left = self.most - least.to_f64() * (1.0 - 1e-12);
        (self.centers.iter().zip(&self.slopes).map(place).collect(), left)
    }
}

impl Close {
    /// The points with a sum at most `width` from a target and an energy of at most `energy`; `None` where numbers would not fit.
    pub(super) fn new(rungs: &[Rung], width: &Rational, energy: f64) -> Option<Self> {
        // If no double holds the width, no double holds the numbers that follow.
        let exponent = Some(libm::log2(width.to_f64()).floor()).filter(|exponent| exponent.is_finite())?;
        let shift = WIDTH_BITS as i32 - exponent as i32;
        let far = |rung: &Rung| (2.0 * energy * rung.variance).sqrt() + 2.0;
        let rounded = |rung: &Rung| {
            let (nearest, above) = nearest(&rung.center)?;
            let step = scaled(&rung.step, shift)?;
            // Sums of products with a multiple stay below 2^126.
            let fits = step >= 1 && far(rung) < FARTHEST && far(rung) * (step as f64) < 2f64.powi(120);
            fits.then_some(Rounded { step, nearest, above, variance: rung.variance })
        };
        let energy = energy * (1.0 + 1e-9) + 1e-9;
        let off = rungs.iter().map(|rung| far(rung) as i128 + 2).sum::<i128>();
        let rounded: Vec<Rounded> = rungs.iter().map(rounded).collect::<Option<_>>()?;
        Some(Close {
            at_nearest: rungs.iter().zip(&rounded).map(|(rung, own)| Rational::from(&rung.step * own.nearest)).sum(),
            rungs: rounded,
            shift,
            width: scaled(width, shift)? + off + 2,
            energy,
            ellipsoid: Ellipsoid::new(rungs, &(Rational::from((1001, 1000)) * width), energy)?,
        })
    }

    /// The variances of the rungs.
    pub(super) fn variances(&self) -> impl Iterator<Item = f64> {
        self.rungs.iter().map(|rung| rung.variance)
    }

    /// Calls `found` with the multiples of every point whose sum is close to the target, once each, and possibly with a few that are a little further
    /// away. Counts the steps.
    pub(super) fn each(
        &self,
        target: &Rational,
        looked_at: &mut u64,
        stop: &Stop,
        found: &mut impl FnMut(Vec<i64>),
    ) -> Result<(), TooMany> {
        // A target out of reach, or so far that it does not fit, has no points.
        let rest = scaled(&Rational::from(target - &self.at_nearest), self.shift);
        let Some(rest) = rest.filter(|rest| rest.unsigned_abs() < 1 << 124) else { return Ok(()) };
        let (place, left) = self.ellipsoid.around(target);
        if left < 0.0 {
            return Ok(());
        }
        let mut count = || {
            *looked_at += 1;
            let stopped = looked_at.is_multiple_of(65_536) && stop.is_set();
            if stopped || *looked_at > MOST_STEPS { Err(TooMany) } else { Ok(()) }
        };
        self.ellipsoid.form.each(&place, left, &mut count, &mut |multiples| {
            if let Some(multiples) = self.close(multiples, rest) {
                found(multiples);
            }
            Ok(())
        })
    }

    /// The same where targets are searched in parallel, with a common count: whether there are too many in all does not depend on their order.
    pub(super) fn each_within(
        &self,
        target: &Rational,
        looked_at: &AtomicU64,
        stop: &Stop,
        found: &mut impl FnMut(Vec<i64>),
    ) -> Result<(), TooMany> {
        let before = looked_at.load(Ordering::Relaxed);
        let mut count = before;
        self.each(target, &mut count, stop, found)?;
        let own = count - before;
        if looked_at.fetch_add(own, Ordering::Relaxed) + own > MOST_STEPS { Err(TooMany) } else { Ok(()) }
    }

    /// The multiples, if they are close to the remaining target and have no more energy.
    fn close(&self, multiples: &[i128], rest: i128) -> Option<Vec<i64>> {
        let (mut rest, mut energy) = (rest, self.energy);
        for (rung, &multiple) in self.rungs.iter().zip(multiples) {
            let away = multiple - i128::from(rung.nearest);
            energy -= (away as f64 - rung.above).powi(2) / (2.0 * rung.variance);
            if energy < 0.0 {
                return None;
            }
            rest -= rung.step * away;
        }
        let whole = |multiple: &i128| i64::try_from(*multiple).ok();
        if rest.abs() > self.width { None } else { multiples.iter().map(whole).collect() }
    }
}

/// A number times 2^shift, to the nearest integer.
fn scaled(x: &Rational, shift: i32) -> Option<i128> {
    let scaled = if shift >= 0 { x.clone() << shift as u32 } else { x.clone() >> shift.unsigned_abs() };
    scaled.round().into_numer_denom().0.to_i128()
}

/// The integer nearest to a center, and the distance of the center above it.
fn nearest(center: &Rational) -> Option<(i64, f64)> {
    let nearest: Integer = center.clone().round().into_numer_denom().0;
    let above = Rational::from(center - &nearest).to_f64();
    Some((nearest.to_i64()?, above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn rung(step: &str, center: &str, variance: f64) -> Rung {
        Rung { step: parse(step).unwrap(), center: parse(center).unwrap(), variance }
    }

    /// Against all points of a box, for one to four rungs: all are found, none twice, and few are too far away.
    #[test]
    fn the_points_are_those_of_trying_all() {
        let rungs = [
            rung("1/3", "17/4", 1.5),
            rung("1/700", "-1003/7", 40.0),
            rung("1/40003", "1000000", 30.0),
            rung("2/99991", "0.4", 25.0),
        ];
        let (energy, mut all) = (4.0, 0);
        for count in 1..=4 {
            for (target, width) in [("0", "1/100"), ("26/1000", "1/5000"), ("0.00113", "1/30000"), ("1/7", "1/9")] {
                let (rungs, width) = (rungs[..count].to_vec(), parse(width).unwrap());
                let near = |rung: &Rung| nearest(&rung.center).unwrap();
                let centers: Rational = rungs.iter().map(|rung| Rational::from(&rung.step * near(rung).0)).sum();
                let target = parse(target).unwrap() + centers;
                let close = Close::new(&rungs, &width, energy).unwrap();
                let mut found = Vec::new();
                let mut looked_at = 0;
                close.each(&target, &mut looked_at, &Stop::default(), &mut |multiples| found.push(multiples)).unwrap();
                let unique: std::collections::BTreeSet<Vec<i64>> = found.iter().cloned().collect();
                assert_eq!(unique.len(), found.len(), "none twice");
                let mut boxed = vec![(Vec::<i64>::new(), target.clone(), energy)];
                for rung in &rungs {
                    let (nearest, above) = near(rung);
                    let far = (2.0 * energy * rung.variance).sqrt() as i64 + 2;
                    let next = |(chosen, rest, energy): &(Vec<i64>, Rational, f64)| {
                        let of = |k: i64| {
                            let left = energy - (k as f64 - above).powi(2) / (2.0 * rung.variance);
                            let multiple = nearest + k;
                            let chosen = [&chosen[..], &[multiple]].concat();
                            (left >= 0.0).then(|| (chosen, rest - &rung.step * Rational::from(multiple), left))
                        };
                        (-far..=far).filter_map(of).collect::<Vec<_>>()
                    };
                    boxed = boxed.iter().flat_map(next).collect();
                }
                let within = boxed.iter().filter(|(_, rest, _)| rest.clone().abs() <= width);
                let within: Vec<&Vec<i64>> = within.map(|(chosen, ..)| chosen).collect();
                assert!(within.iter().all(|chosen| unique.contains(*chosen)), "{count} {target}: one is missing");
                assert!(found.len() <= within.len() + within.len() / 50 + 2, "{} {}", found.len(), within.len());
                all += within.len();
            }
        }
        assert!(all > 5_000, "{all}");
    }
}
