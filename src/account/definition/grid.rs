//! The privacy loss of many counts on a grid: two measures, one that is at least as private as the mechanism, and one that is at most as private.

use rug::Rational;

use super::{ends::Ends, listed::Listed};
use crate::numeric::Enclosure;

/// Points of the grid within `WIDE` standard deviations on each side of the mean loss.
const POINTS: f64 = 1_200.0;
const WIDE: f64 = 13.0;
/// Losses are listed up to this number of grid points.
const MOST_POINTS: usize = 6_000;
/// Probabilities beyond either end of the grid are given up to this much, as infinite losses or none.
const GIVEN_UP: f64 = 1e-42;
/// More counts than these say nothing: what the rounding of a loss adds to its variance is a part of that of the sum.
const MOST_COUNTS: f64 = 500.0;
/// A loss this close to a point of the grid, in steps, is on it; what this adds to the sum is taken from epsilon.
const ON_POINT: f64 = 1e-9;

/// Outcomes, and the number of counts that have them.
pub(super) type Terms<'a> = Vec<(&'a Listed, u64)>;

/// A measure of losses on a grid.
#[derive(Clone, Debug)]
struct Measure {
    /// Of `first`, `first + 1`, ... steps.
    masses: Vec<f64>,
    first: i64,
    infinite: f64,
    is_above: bool,
}

/// Both measures of one direction, with their grid: the offset and whole multiples of the step.
#[derive(Clone, Debug)]
pub(super) struct OnGrid {
    /// At least as private, and at most as private.
    both: [Measure; 2],
    step: f64,
    /// The sum of the offsets of all counts.
    offset: Ends,
    /// The largest loss that is added where a loss close to a point of the grid is taken to be on it.
    slack: f64,
}

/// Mean and variance of the finite loss of one count, and its range, approximately.
fn outline(listed: &Listed) -> (f64, [f64; 2]) {
    let middle = |ends: Ends| (ends.lower + ends.upper) / 2.0;
    let all = || listed.common.iter().map(|one| (one.p.upper, middle(one.loss)));
    let mass: f64 = all().map(|(p, _)| p).sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = all().map(|(p, loss)| p * loss).sum::<f64>() / mass;
    let variance = all().map(|(p, loss)| p * (loss - mean).powi(2)).sum::<f64>() / mass;
    let range = all().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], (_, loss)| [a.min(loss), b.max(loss)]);
    (variance, range)
}

/// The distance of losses that all lie on a lattice from the least, if they do; approximately.
fn lattice(listed: &Listed) -> Option<f64> {
    let mut losses: Vec<f64> = listed.common.iter().map(|one| one.loss.lower).collect();
    losses.sort_by(f64::total_cmp);
    let gaps = losses.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-9 * losses[0].abs().max(1e-9));
    let least = gaps.fold(f64::INFINITY, f64::min);
    let is_on = |loss: &f64| {
        let steps = (loss - losses[0]) / least;
        (steps - steps.round()).abs() < ON_POINT / 4.0
    };
    (least.is_finite() && losses.iter().all(is_on)).then_some(least)
}

impl OnGrid {
    /// Of these counts; `None` where the grid would be too coarse to say something, or too long.
    pub fn of(terms: &Terms) -> Option<Self> {
        let step = step_of(terms)?;
        let count: f64 = terms.iter().map(|(_, copies)| *copies as f64).sum();
        if count > MOST_COUNTS {
            return None;
        }
        let mut offset = Ends::default();
        let mut both: [Option<Measure>; 2] = [None, None];
        for (listed, copies) in terms {
            let least = listed.common.iter().map(|one| one.loss.lower).fold(f64::INFINITY, f64::min);
            let least = if least.is_finite() { least } else { 0.0 };
            offset = offset.plus(Ends { lower: least, upper: least }.scaled(*copies as f64));
            for (all, is_above) in both.iter_mut().zip([false, true]) {
                let own = Measure::of(listed, least, step, is_above)?.repeated(*copies)?;
                *all = Some(match all.take() {
                    Some(all) => all.and(&own)?,
                    None => own,
                });
            }
        }
        let [below, above] = both;
        Some(OnGrid { both: [below?, above?], step, offset, slack: count * ON_POINT * step * 2.0 })
    }

    /// delta(epsilon), between that of both measures.
    pub fn delta(&self, epsilon: &Rational) -> Ends {
        let epsilon = Ends::of_rational(epsilon);
        let [below, above] = &self.both;
        // A larger epsilon is at most as large a delta.
        let (least, most) =
            (epsilon.upper - self.offset.lower + self.slack, epsilon.lower - self.offset.upper - self.slack);
        let rounding = 1e-13 * (epsilon.upper.abs() + self.offset.lower.abs() + self.offset.upper.abs());
        let lower = below.beyond(least + rounding, self.step);
        let upper = above.beyond(most - rounding, self.step);
        Ends { lower: lower.clamp(0.0, 1.0), upper: upper.clamp(0.0, 1.0) }
    }
}

fn step_of(terms: &Terms) -> Option<f64> {
    let (mut variance, mut range) = (0.0, 0.0);
    let (mut most_copies, mut of_most) = (0, None);
    for (listed, copies) in terms {
        let (own, [least, most]) = outline(listed);
        variance += own * *copies as f64;
        if most > least {
            range += (most - least) * *copies as f64;
            if *copies > most_copies {
                (most_copies, of_most) = (*copies, lattice(listed));
            }
        }
    }
    let wide = range.min(2.0 * WIDE * variance.sqrt());
    let step = if wide > 0.0 { wide / POINTS } else { 1e-6 };
    let step = match of_most {
        // A whole part of the lattice's, or the lattice itself where that is not much finer.
        Some(own) if own >= step => own / (own / step).floor(),
        Some(own) if own * 4.0 >= step => own,
        _ => step,
    };
    (step.is_normal() && step > 1e-250 && step < 1e6).then_some(step)
}

impl Measure {
    /// Of one count, with `least` as the origin. Rounded up, the probability of an outcome is divided among both neighboring points so that both hypotheses keep
    /// theirs: the outcome is a function of which point it is (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). Rounded down, it moves to the lower point.
    fn of(listed: &Listed, least: f64, step: f64, is_above: bool) -> Option<Self> {
        let mut masses: Vec<f64> = Vec::new();
        let mut put = |k: f64, p: f64| -> Option<()> {
            if k > MOST_POINTS as f64 {
                return None;
            }
            let k = k.max(0.0) as usize;
            masses.resize(masses.len().max(k + 1), 0.0);
            masses[k] = if is_above { (masses[k] + p).next_up() } else { (masses[k] + p).next_down().max(0.0) };
            Some(())
        };
        for one in &listed.common {
            if !is_above {
                // Merged with all like it, an interval has a loss between ln(p / q) at its ends: at least the least, and at least that of its probabilities.
                let of_masses =
                    Ends::of(&Enclosure::rational(&Rational::from_f64(one.p.lower)?, 64).div(&one.q.enclosure()).ln());
                let loss =
                    if of_masses.lower.is_finite() { one.loss.lower.max(of_masses.lower) } else { one.loss.lower };
                let steps = ((loss - least) / step) * (1.0 - 4.0 * f64::EPSILON) + ON_POINT / 2.0;
                put(steps.floor(), one.p.lower)?;
                continue;
            }
            // Ratios between both ends, of which those of the probabilities are the mean: all of them are between two points of the grid.
            let of_masses = if one.q.lower > 0.0 {
                one.p.enclosure().div(&one.q.enclosure()).ln().upper().to_f64().next_up()
            } else {
                f64::INFINITY
            };
            let steps_of = |loss: f64| ((loss - least) / step).max(0.0);
            let low = (steps_of(one.loss.lower) * (1.0 - 4.0 * f64::EPSILON) + ON_POINT / 4.0).floor();
            let high = steps_of(one.loss.upper) * (1.0 + 4.0 * f64::EPSILON);
            let mean = steps_of(one.loss.upper.min(of_masses)) * (1.0 + 4.0 * f64::EPSILON);
            let high = (high - ON_POINT / 2.0).ceil();
            if high <= low {
                put(low, one.p.upper)?;
                continue;
            }
            // (1 - e^-(mean - low)) / (1 - e^-(high - low)) of it at the upper point.
            let less =
                |steps: f64| Rational::from_f64(-steps * step).map(|x| Enclosure::rational(&x, 64).exp_m1().negate());
            let share = Ends::of(&less((mean - low).clamp(0.0, high - low))?.div(&less(high - low)?));
            put(high, one.p.share(share.upper))?;
            put(low, one.p.share(1.0 - share.lower))?;
        }
        let infinite = if is_above {
            (listed.alone[0].upper + listed.beyond[0]).next_up().min(1.0)
        } else {
            listed.alone[0].lower
        };
        Some(Measure { masses, first: 0, infinite, is_above })
    }

    /// The sum of this loss and an independent one; `None` where it takes too many points.
    fn and(&self, other: &Self) -> Option<Self> {
        let (one, two) = (&self.masses, &other.masses);
        let first = self.first + other.first;
        let infinite = {
            // 1 - (1 - a) (1 - b) = a + (1 - a) b
            let (a, b) = (self.infinite, other.infinite);
            let sum = a + (1.0 - a) * b;
            if self.is_above { (sum * (1.0 + 8.0 * f64::EPSILON)).min(1.0) } else { sum * (1.0 - 8.0 * f64::EPSILON) }
        };
        if one.is_empty() || two.is_empty() {
            return Some(Measure { masses: Vec::new(), first, infinite, is_above: self.is_above });
        }
        let length = one.len() + two.len() - 1;
        if length > 4 * MOST_POINTS {
            return None;
        }
        let mut masses = vec![0.0; length];
        for (i, a) in one.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            for (sum, b) in masses[i..].iter_mut().zip(two) {
                *sum += a * b;
            }
        }
        // Every sum has at most `terms` products and as many sums, each with an error below a relative 2^-53, or below the least double.
        let terms = one.len().min(two.len()) as f64;
        let error = (2.0 * terms + 4.0) * f64::EPSILON;
        for mass in &mut masses {
            *mass = if self.is_above { *mass * (1.0 + error) + f64::MIN_POSITIVE } else { *mass * (1.0 - error) };
            if !self.is_above && *mass < f64::MIN_POSITIVE * 1e20 {
                *mass = 0.0;
            }
        }
        let mut all = Measure { masses, first, infinite, is_above: self.is_above };
        all.give_up();
        (all.masses.len() <= MOST_POINTS).then_some(all)
    }

    /// Leaves out the ends, of little probability.
    fn give_up(&mut self) {
        let mut top = 0.0;
        while let Some(last) = self.masses.last()
            && top + last <= GIVEN_UP
        {
            top += last;
            self.masses.pop();
        }
        let (mut bottom, mut left) = (0.0, 0);
        while left + 1 < self.masses.len() && bottom + self.masses[left] <= GIVEN_UP {
            bottom += self.masses[left];
            left += 1;
        }
        self.masses.drain(..left);
        self.first += left as i64;
        if self.is_above {
            // Larger losses are at most as private: those above become infinite, those below the least.
            self.infinite = (self.infinite + 2.0 * top).next_up().min(1.0);
            if let Some(least) = self.masses.first_mut() {
                *least = (*least + 2.0 * bottom).next_up();
            }
        }
    }

    /// That of this number of independent counts.
    fn repeated(self, copies: u64) -> Option<Self> {
        let (mut power, mut rest) = (self, copies);
        let mut all: Option<Measure> = None;
        while rest > 0 {
            if rest % 2 == 1 {
                all = Some(match all {
                    Some(all) => all.and(&power)?,
                    None => power.clone(),
                });
            }
            rest /= 2;
            if rest > 0 {
                power = power.and(&power)?;
            }
        }
        all
    }

    /// The sum of the masses times 1 - e^(epsilon - loss) of losses above epsilon, which is measured from the offset, and all infinite ones.
    fn beyond(&self, epsilon: f64, step: f64) -> f64 {
        // At or just below it; what is not above counts as zero.
        let from = ((epsilon / step).floor() - self.first as f64).max(0.0);
        if from >= self.masses.len() as f64 {
            return self.infinite;
        }
        let from = from as usize;
        let exp = |x: f64| Rational::from_f64(x).map_or(0.0, |x| Enclosure::rational(&x, 64).exp().approximate());
        let (mut rest, factor) = (exp(epsilon - (self.first as f64 + from as f64) * step), exp(-step));
        let mut sum = self.infinite;
        // Products of the factor err by a relative (k + 4) 2^-52, and the exponent by 2^-50 of its parts.
        let error = 1e-12 + 4.0 * f64::EPSILON * (epsilon.abs() + (self.first as f64 * step).abs());
        for mass in &self.masses[from..] {
            let rest_end = if self.is_above { rest * (1.0 - error) } else { rest * (1.0 + error) };
            sum += mass * (1.0 - rest_end).max(0.0);
            rest *= factor;
        }
        if self.is_above { sum * (1.0 + 1e-11) } else { sum * (1.0 - 1e-11) }
    }
}
