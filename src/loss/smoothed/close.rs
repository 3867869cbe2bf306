//! All sums of multiples of a few steps that come close to a target, among those near a center: points of a lattice between two
//! planes and inside an ellipsoid.

use rug::{Integer, Rational};

use super::first_hit::first_hit;
use crate::loss::stop::Stop;

/// More points or attempts than this are not looked at.
const MOST_STEPS: u64 = 20_000_000;

/// The width is so many units: steps are rounded to half of one.
const WIDTH_BITS: u32 = 46;
/// Multiples of a step are at most this far from the center, so that the roundings of the steps stay a thousandth of the width.
const FARTHEST: f64 = 1e9;

/// Multiples of a step, around a center.
#[derive(Clone, Debug)]
pub(super) struct Rung {
    /// The step, exactly.
    pub(super) step: Rational,
    /// The integer that is nearest to the center of the multiples, and how far the center is above.
    pub(super) nearest: i64,
    pub(super) above: f64,
    /// A multiple z away from the center counts z^2 / (2 variance) towards the energy.
    pub(super) variance: f64,
}

/// Which points are looked for.
#[derive(Debug)]
pub(super) struct Close {
    /// The coarsest step first.
    rungs: Vec<Rung>,
    /// The steps in units, to half a unit.
    steps: Vec<i128>,
    /// One unit is 2^-shift.
    shift: i32,
    /// At least the width, in units, with what all steps are off.
    width: i128,
    energy: f64,
    /// Of each rung and those that follow, the sum of step^2 variance.
    spread: Vec<f64>,
}

/// A point that was found.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// How many steps, in the order of the rungs.
    pub(super) multiples: Vec<i64>,
}

/// There are too many points, or the search was stopped.
#[derive(Debug)]
pub(super) struct TooMany;

impl Close {
    /// The points with a sum at most `width` from a target and an energy of at most `energy`; `None` where numbers would not fit.
    pub(super) fn new(mut rungs: Vec<Rung>, width: &Rational, energy: f64) -> Option<Self> {
        rungs.sort_by(|a, b| b.step.cmp(&a.step));
        let shift = WIDTH_BITS as i32 - width.to_f64().log2().floor() as i32;
        let units = |x: &Rational| scaled(x, shift);
        let steps: Vec<i128> = rungs.iter().map(|rung| units(&rung.step)).collect::<Option<_>>()?;
        // Products with a multiple stay below 2^126, those of the last step below 2^94.
        let far = |rung: &Rung| (2.0 * energy * rung.variance).sqrt() + 2.0;
        let fits = |(rung, step): (&Rung, &i128)| far(rung) < FARTHEST && far(rung) * (*step as f64) < 2f64.powi(120);
        let finest = *steps.last()? as f64;
        if finest < 1.0 || finest >= 2f64.powi(90) || !rungs.iter().zip(&steps).all(fits) {
            return None;
        }
        let off = rungs.iter().map(|rung| far(rung) as i128 + 2).sum::<i128>();
        let width = units(width)? + off + 2;
        let terms = rungs.iter().map(|rung| rung.step.to_f64().powi(2) * rung.variance);
        let terms: Vec<f64> = terms.collect();
        let spread = (0..=terms.len()).map(|from| terms[from..].iter().sum()).collect();
        Some(Close { rungs, steps, shift, width, energy: energy * (1.0 + 1e-9) + 1e-9, spread })
    }

    /// The rungs, in the order of the multiples.
    pub(super) fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// Calls `found` with every point whose sum is close to the target, once each, and perhaps with a few that are a little further
    /// away. Counts what is looked at.
    pub(super) fn each(
        &self,
        target: &Rational,
        looked_at: &mut u64,
        stop: &Stop,
        found: &mut impl FnMut(Point),
    ) -> Result<(), TooMany> {
        let at_centers: Rational = self.rungs.iter().map(|rung| Rational::from(&rung.step * rung.nearest)).sum();
        let rest = target - at_centers;
        // A target out of reach, or so far that it does not fit, has no points.
        let Some(rest) = scaled(&rest, self.shift).filter(|rest| rest.unsigned_abs() < 1 << 124) else {
            return Ok(());
        };
        let mut search = Search { close: self, looked_at, stop, chosen: Vec::with_capacity(self.rungs.len()), found };
        search.level(rest, self.energy)
    }
}

/// A number times 2^shift, to the nearest integer.
fn scaled(x: &Rational, shift: i32) -> Option<i128> {
    let scaled = if shift >= 0 { x.clone() << shift as u32 } else { x.clone() >> shift.unsigned_abs() };
    scaled.round().into_numer_denom().0.to_i128()
}

/// The search for the points of one target.
struct Search<'a, F> {
    close: &'a Close,
    looked_at: &'a mut u64,
    stop: &'a Stop,
    /// Multiples from the nearest integer to the center of each rung so far.
    chosen: Vec<i64>,
    found: &'a mut F,
}

impl<F: FnMut(Point)> Search<'_, F> {
    fn count(&mut self) -> Result<(), TooMany> {
        *self.looked_at += 1;
        let stopped = self.looked_at.is_multiple_of(65_536) && self.stop.is_set();
        if stopped || *self.looked_at > MOST_STEPS { Err(TooMany) } else { Ok(()) }
    }

    /// The multiples of a rung that the energy allows and from which the following rungs can reach the rest. By Cauchy & Schwarz
    /// these add at most sqrt(2 energy spread).
    fn range(&self, rung: usize, rest: i128, energy: f64) -> (i64, i64) {
        let Rung { step, above, variance, .. } = &self.close.rungs[rung];
        let unit = 2f64.powi(-self.close.shift);
        let step = step.to_f64();
        // The following rungs have centers beside their integers.
        let beside: f64 =
            self.close.rungs[rung + 1..].iter().map(|later| later.step.to_f64() * later.above.abs()).sum();
        let reach = (2.0 * energy * self.close.spread[rung + 1]).sqrt() + beside + self.close.width as f64 * unit;
        let (middle, around) = (rest as f64 * unit / step, reach / step);
        let far = (2.0 * energy * variance).sqrt();
        // For the roundings of these few operations.
        let margin = 1e-9 * (1.0 + far + around + middle.abs());
        let low = (above - far).max(middle - around) - margin;
        let high = (above + far).min(middle + around) + margin;
        (low.ceil() as i64, high.floor() as i64)
    }

    /// What is left of the energy after so many multiples of a rung.
    fn left(&self, rung: usize, multiple: i64, energy: f64) -> f64 {
        let Rung { above, variance, .. } = self.close.rungs[rung];
        energy - (multiple as f64 - above).powi(2) / (2.0 * variance)
    }

    /// Chooses the multiples of the next rung and of all that follow.
    fn level(&mut self, rest: i128, energy: f64) -> Result<(), TooMany> {
        self.count()?;
        let rung = self.chosen.len();
        let remaining = self.close.rungs.len() - rung;
        if energy < 0.0 {
            return Ok(());
        }
        if remaining <= 1 {
            return self.last(rest, energy);
        }
        let (low, high) = self.range(rung, rest, energy);
        if remaining == 2 {
            return self.last_two(rest, energy, (low, high));
        }
        for multiple in low..=high {
            self.chosen.push(multiple);
            let rest = rest - self.close.steps[rung] * i128::from(multiple);
            self.level(rest, self.left(rung, multiple, energy))?;
            self.chosen.pop();
        }
        Ok(())
    }

    /// The multiples of the last rung but one after which a multiple of the last one is close: those for which what is left, and the
    /// width, is at most twice the width modulo the last step.
    fn last_two(&mut self, rest: i128, energy: f64, (low, high): (i64, i64)) -> Result<(), TooMany> {
        let rung = self.chosen.len();
        let (step, last, width) = (self.close.steps[rung], self.close.steps[rung + 1], self.close.width);
        let window = (2 * width).unsigned_abs();
        let modulus = last.unsigned_abs();
        let mut from = low;
        while from <= high {
            let start = (rest + width - step * i128::from(from)).rem_euclid(last).unsigned_abs();
            let hit = if window >= modulus {
                Some(0)
            } else {
                let back = (-step).rem_euclid(last).unsigned_abs();
                first_hit(start, back, modulus, window, (high - from).unsigned_abs().into())
            };
            self.count()?;
            let Some(multiple) = hit.and_then(|hit| from.checked_add_unsigned(u64::try_from(hit).ok()?)) else { break };
            self.chosen.push(multiple);
            self.last(rest - step * i128::from(multiple), self.left(rung, multiple, energy))?;
            self.chosen.pop();
            from = multiple + 1;
        }
        Ok(())
    }

    /// The multiples of the last rung that are close.
    fn last(&mut self, rest: i128, energy: f64) -> Result<(), TooMany> {
        let rung = self.chosen.len();
        let (step, width) = (self.close.steps[rung], self.close.width);
        let far = (2.0 * energy.max(0.0) * self.close.rungs[rung].variance).sqrt() + 2.0;
        let (first, end) = ((rest - width).div_euclid(step) + 1, (rest + width).div_euclid(step));
        let first = if (rest - width).rem_euclid(step) == 0 { first - 1 } else { first };
        let (first, end) = (first.max(-(far as i128) - 1), end.min(far as i128 + 1));
        for multiple in first..=end {
            self.count()?;
            let multiple = multiple as i64;
            if self.left(rung, multiple, energy) < 0.0 {
                continue;
            }
            let whole = |(chosen, rung): (&i64, &Rung)| chosen + rung.nearest;
            let multiples = self.chosen.iter().chain([&multiple]).zip(&self.close.rungs).map(whole).collect();
            (self.found)(Point { multiples });
        }
        Ok(())
    }
}

/// The integer nearest to a center, and how far the center is above it.
pub(super) fn nearest(center: &Rational) -> Option<(i64, f64)> {
    let nearest: Integer = center.clone().round().into_numer_denom().0;
    let above = Rational::from(center - &nearest).to_f64();
    Some((nearest.to_i64()?, above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn rung(step: &str, center: &str, variance: f64) -> Rung {
        let center = parse(center).unwrap();
        let (nearest, above) = nearest(&center).unwrap();
        Rung { step: parse(step).unwrap(), nearest, above, variance }
    }

    /// Against all points of a box, for one to four rungs: none is missing, none is found twice, and few are too far away.
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
                let centers: Rational = rungs.iter().map(|rung| Rational::from(&rung.step * rung.nearest)).sum();
                let target = parse(target).unwrap() + centers;
                let close = Close::new(rungs, &width, energy).unwrap();
                let mut found = Vec::new();
                let mut looked_at = 0;
                close
                    .each(&target, &mut looked_at, &Stop::default(), &mut |point| found.push(point.multiples))
                    .unwrap();
                let unique: std::collections::BTreeSet<Vec<i64>> = found.iter().cloned().collect();
                assert_eq!(unique.len(), found.len(), "none twice");
                let mut boxed = vec![(Vec::<i64>::new(), target.clone(), energy)];
                for rung in close.rungs() {
                    let far = (2.0 * energy * rung.variance).sqrt() as i64 + 2;
                    let next = |(chosen, rest, energy): &(Vec<i64>, Rational, f64)| {
                        let of = |k: i64| {
                            let left = energy - (k as f64 - rung.above).powi(2) / (2.0 * rung.variance);
                            let multiple = rung.nearest + k;
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
