//! The privacy loss of many counts on grids: two measures, one that is at least as private as the mechanism, and one that is at most as private.
//!
//! Each count has a grid of its own, its losses' lattice where they have one. Sums grow, and where one has more points than it needs it moves to a grid of twice the step, so
//! that what the rounding adds to the variance of a sum is a small part of it however many counts there are.
//!
//! A measure has an origin in doubles, and a bound on what its losses may differ from those that it stands for by roundings of doubles; both are added up, and epsilon
//! is moved by the bound in the end.

mod place;

use std::sync::Arc;

use rug::Rational;

use self::place::{Mass, place_above, place_below};
use super::{ends::Ends, kept::Kept, listed::Listed};
use crate::numeric::Enclosure;

/// The standard deviations of the sum on each side of its mean in which almost all of it lies.
const WIDE: f64 = 13.0;
/// Probabilities beyond either end of the grid are given up to this much, as infinite losses or none.
const GIVEN_UP: f64 = 1e-42;
/// The step of a count is this part of the standard deviation of its loss, or finer.
const OF_DEVIATION: f64 = 0.05;
/// A bound on the roundings of a few sums and products of doubles, relative to the largest of them.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Counts of more points than this say nothing.
const MOST_POINTS: usize = 40_000;

/// Outcomes, and the number of counts that have them.
pub(super) type Terms = Vec<(Arc<Listed>, u64)>;

/// A measure of losses on a grid.
#[derive(Clone, Debug)]
struct Measure {
    /// Of `start`, `start + step`, ...
    masses: Vec<f64>,
    start: f64,
    step: f64,
    /// The largest difference of a loss from the one that it stands for, in the direction that would be wrong.
    drift: f64,
    infinite: f64,
    is_above: bool,
}

/// Both measures of one direction.
#[derive(Clone, Debug)]
pub(super) struct OnGrid {
    /// At least as private, and at most as private.
    both: [Measure; 2],
}

/// How fine the grids are.
struct Goal {
    /// No finer than this.
    finest: f64,
    /// No coarser, where that is possible.
    coarsest: f64,
    points: f64,
}

/// Variance of the finite loss of one count, and its range, approximately.
fn outline(listed: &Listed) -> (f64, [f64; 2]) {
    *listed.outline.get_or_init(|| outline_of(listed))
}

fn outline_of(listed: &Listed) -> (f64, [f64; 2]) {
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
    *listed.lattice.get_or_init(|| lattice_of(listed))
}

fn lattice_of(listed: &Listed) -> Option<f64> {
    let mut losses: Vec<f64> = listed.common.iter().map(|one| one.loss.lower).collect();
    losses.sort_by(f64::total_cmp);
    let size = losses.first()?.abs().max(losses.last()?.abs());
    let gaps = losses.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-9 * size);
    let least = gaps.fold(f64::INFINITY, f64::min);
    let is_on = |loss: &f64| {
        let steps = (loss - losses[0]) / least;
        (steps - steps.round()).abs() < place::ON_POINT / 4.0
    };
    (least.is_finite() && losses.iter().all(is_on)).then_some(least)
}

impl Goal {
    fn of_terms(terms: &Terms, points: f64) -> Self {
        let (mut variance, mut count) = (0.0, 0.0);
        for (listed, copies) in terms {
            variance += outline(listed).0 * *copies as f64;
            count += *copies as f64;
        }
        let coarsest = 2.0 * WIDE * variance.sqrt() / points;
        Goal { finest: coarsest.min(OF_DEVIATION * (variance / count).sqrt()), coarsest, points }
    }

    /// The step of a count.
    fn step(&self, listed: &Listed) -> Option<f64> {
        let (_, [least, most]) = outline(listed);
        let shortest = (most - least) / (2.0 * self.points);
        // Where a count needs almost as coarse a step as all of them, the same: its sums need no coarser one.
        let finest =
            if shortest >= self.coarsest / 4.0 { shortest.max(self.coarsest) } else { self.finest.max(shortest) };
        let step = match lattice(listed) {
            Some(own) if own >= self.coarsest.max(shortest) => own / (own / self.coarsest.max(shortest)).floor(),
            Some(own) if own * 4.0 >= finest => own,
            _ => finest,
        };
        // Of one loss alone.
        let step = if step > 0.0 && step.is_finite() { step } else { 1e-6 };
        (step > 1e-250 && step < 1e6).then_some(step)
    }
}

impl OnGrid {
    /// The sum of these counts on a grid of about `points` points; `None` where a grid would be too long.
    pub fn of_terms(terms: &Terms, points: f64) -> Option<Self> {
        let goal = Goal::of_terms(terms, points);
        let mut all = Vec::new();
        for (listed, copies) in terms {
            let step = goal.step(listed)?;
            let of = |is_above| Measure::of_listed(listed, step, is_above)?.repeated(*copies, points);
            all.push(power(listed, (step, points), *copies, || Some(OnGrid { both: [of(false)?, of(true)?] }))?);
        }
        OnGrid::sum(all, points)
    }

    /// Between the loss of a pair that is at least as private, and that of one that is at most as private.
    pub fn between(more: &OnGrid, less: &OnGrid) -> Self {
        OnGrid { both: [more.both[0].clone(), less.both[1].clone()] }
    }

    /// The number of points of both measures.
    pub fn points(&self) -> usize {
        self.both.iter().map(|measure| measure.masses.len()).sum()
    }

    /// The sum of independent losses, those on the finest grids first. A sum with more than twice `points` points moves to a coarser grid.
    pub fn sum(all: Vec<OnGrid>, points: f64) -> Option<Self> {
        let (below, above): (Vec<Measure>, Vec<Measure>) =
            all.into_iter().map(|one| <(Measure, Measure)>::from(one.both)).unzip();
        Some(OnGrid { both: [Measure::sum(below, points)?, Measure::sum(above, points)?] })
    }

    /// delta(epsilon), between that of both measures.
    pub fn delta(&self, epsilon: &Rational) -> Ends {
        let epsilon = Ends::of_rational(epsilon);
        let [below, above] = &self.both;
        // A larger epsilon is at most as large a delta.
        let lower = below.beyond(epsilon.upper + below.drift);
        let upper = above.beyond(epsilon.lower - above.drift);
        Ends { lower: lower.clamp(0.0, 1.0), upper: upper.clamp(0.0, 1.0) }
    }

    /// The trade-off function at alpha: the largest of all lines 1 - delta(epsilon) - e^epsilon alpha, over all epsilon from -infinity on. Any of them bounds it from below;
    /// with a delta that is linear in e^epsilon between the points of a grid, those at the points are enough for the other end.
    pub fn tradeoff(&self, alpha: &Rational) -> Ends {
        let alpha = Ends::of_rational(alpha);
        let [below, above] = &self.both;
        let (lower, upper) = (above.highest_line(alpha.upper), below.highest_line(alpha.lower));
        Ends { lower: lower.clamp(0.0, 1.0), upper: upper.clamp(0.0, 1.0) }
    }
}

impl Measure {
    /// The measure of one count.
    fn of_listed(listed: &Listed, step: f64, is_above: bool) -> Option<Self> {
        let least = listed.common.iter().map(|one| one.loss.lower).fold(f64::INFINITY, f64::min);
        let start = if least.is_finite() { least } else { 0.0 };
        let size = listed.common.iter().map(|one| one.loss.upper.abs()).fold(start.abs(), f64::max);
        // Positions are differences of losses in steps.
        let drift = ROUNDING * size;
        let infinite = if is_above {
            (listed.alone[0].upper + listed.beyond[0]).next_up().min(1.0)
        } else {
            listed.alone[0].lower
        };
        let most = listed.common.iter().map(|one| one.loss.upper).fold(start, f64::max);
        if (most - start) / step > MOST_POINTS as f64 {
            return None;
        }
        let all: Vec<Mass> = listed.common.iter().map(|one| Mass::of_outcome(one, start, step, is_above)).collect();
        let (masses, added) = if is_above { (place_above(&all, step), 0.0) } else { place_below(all, step) };
        let mut all = Measure { masses, start, step, drift: drift + added, infinite, is_above };
        all.give_up();
        Some(all)
    }

    /// The same on a coarser grid.
    fn coarser(&self, step: f64) -> Self {
        let at = |(k, p): (usize, &f64)| Mass::at(*p, k as f64 * (self.step / step));
        let all: Vec<Mass> = self.masses.iter().enumerate().filter(|(_, p)| **p > 0.0).map(at).collect();
        let (masses, added) = if self.is_above { (place_above(&all, step), 0.0) } else { place_below(all, step) };
        let rounding = ROUNDING * self.masses.len() as f64 * self.step;
        Measure { masses, step, drift: self.drift + added + rounding, ..self.clone() }
    }

    /// The sum of independent losses.
    fn sum(mut all: Vec<Measure>, points: f64) -> Option<Self> {
        while all.len() > 1 {
            // The two of the finest grids, at the end.
            all.sort_by(|one, other| other.step.total_cmp(&one.step));
            let (one, two) = (all.pop()?, all.pop()?);
            all.push(two.and(&one, points));
        }
        all.pop()
    }

    /// The sum of this loss and an independent one.
    fn and(&self, other: &Self, points: f64) -> Self {
        match self.step.total_cmp(&other.step) {
            std::cmp::Ordering::Less => return self.coarser(other.step).and(other, points),
            std::cmp::Ordering::Greater => return self.and(&other.coarser(self.step), points),
            std::cmp::Ordering::Equal => {}
        }
        let (one, two) = (&self.masses, &other.masses);
        let start = self.start + other.start;
        // The sum of the origins is rounded.
        let drift = (self.drift + other.drift) * (1.0 + ROUNDING) + ROUNDING * (self.start.abs() + other.start.abs());
        let infinite = {
            // 1 - (1 - a) (1 - b) = a + (1 - a) b
            let (a, b) = (self.infinite, other.infinite);
            let sum = a + (1.0 - a) * b;
            if self.is_above { (sum * (1.0 + 8.0 * f64::EPSILON)).min(1.0) } else { sum * (1.0 - 8.0 * f64::EPSILON) }
        };
        let masses = products(one, two, self.is_above);
        let mut all = Measure { masses, start, step: self.step, drift, infinite, is_above: self.is_above };
        all.give_up();
        while all.masses.len() as f64 > 2.0 * points {
            all = all.coarser(2.0 * all.step);
        }
        all
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
        let moved = left as f64 * self.step;
        self.drift += ROUNDING * (self.start.abs() + moved);
        self.start += moved;
        if self.is_above {
            // Larger losses are at most as private: those above become infinite, those below the least.
            self.infinite = (self.infinite + 2.0 * top).next_up().min(1.0);
            if let Some(least) = self.masses.first_mut() {
                *least = (*least + 2.0 * bottom).next_up();
            }
        }
    }

    /// That of this number of independent counts.
    fn repeated(self, copies: u64, points: f64) -> Option<Self> {
        let (mut power, mut rest) = (self, copies);
        let mut all: Option<Measure> = None;
        while rest > 0 {
            if rest % 2 == 1 {
                all = Some(match all {
                    Some(all) => all.and(&power, points),
                    None => power.clone(),
                });
            }
            rest /= 2;
            if rest > 0 {
                power = power.and(&power, points);
            }
        }
        all
    }

    /// The sum of the masses times 1 - e^(epsilon - loss) of losses above epsilon, and all infinite ones.
    fn beyond(&self, epsilon: f64) -> f64 {
        let rounding = ROUNDING * (epsilon.abs() + self.start.abs());
        let epsilon = if self.is_above { epsilon - self.start - rounding } else { epsilon - self.start + rounding };
        // At or just below it; what is not above counts as zero.
        let from = (epsilon / self.step).floor().max(0.0);
        if from >= self.masses.len() as f64 {
            return self.infinite;
        }
        let exp = |x: f64| Rational::from_f64(x).map_or(0.0, |x| Enclosure::rational(&x, 64).exp().approximate());
        let (mut rest, factor) = (exp(epsilon - from * self.step), exp(-self.step));
        let mut sum = self.infinite;
        // Products of the factor err by a relative (k + 4) 2^-52, and the exponent by 2^-50 of its parts.
        let error = f64::EPSILON * (4.0 * self.masses.len() as f64 + 16.0 + 4.0 * epsilon.abs());
        for mass in &self.masses[from as usize..] {
            let rest_end = if self.is_above { rest * (1.0 - error) } else { rest * (1.0 + error) };
            sum += mass * (1.0 - rest_end).max(0.0);
            rest *= factor;
        }
        // As many sums as points.
        let error = f64::EPSILON * (self.masses.len() as f64 + 16.0);
        if self.is_above { sum * (1.0 + error) } else { sum * (1.0 - error) }
    }

    /// The largest of 1 - delta(l) - e^l alpha over the points l, and of 1 - delta(-infinity), rounded to the outside.
    fn highest_line(&self, alpha: f64) -> f64 {
        // From the largest loss down: the masses from here on, and the same times e^(l - loss).
        let (mut sum, mut weighted, factor) = (0.0, 0.0, libm::exp(-self.step));
        let mut most = f64::NEG_INFINITY;
        // Of the end e^l of a loss that bounds the truth in the right direction.
        let end = |loss: f64| {
            let loss = if self.is_above { loss + self.drift } else { loss - self.drift };
            if alpha > 0.0 { libm::exp(loss) * alpha } else { 0.0 }
        };
        for (k, mass) in self.masses.iter().enumerate().rev() {
            sum += mass;
            weighted = weighted * factor + mass;
            most = most.max(1.0 - self.infinite - sum + weighted - end(self.start + k as f64 * self.step));
        }
        most = most.max(1.0 - self.infinite - sum);
        if self.masses.is_empty() {
            most = 1.0 - self.infinite;
        }
        // Up to twice as many sums and products as points, of numbers up to one where the line is not below zero.
        let error = f64::EPSILON * (8.0 * self.masses.len() as f64 + 64.0 * (1.0 + self.start.abs()));
        if self.is_above { most - error } else { most + error }
    }
}

/// The masses of the sum of two losses.
fn products(one: &[f64], two: &[f64], is_above: bool) -> Vec<f64> {
    if one.is_empty() || two.is_empty() {
        return Vec::new();
    }
    let mut masses = vec![0.0; one.len() + two.len() - 1];
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    for (i, a) in short.iter().enumerate().filter(|(_, a)| **a > 0.0) {
        for (sum, b) in masses[i..].iter_mut().zip(long) {
            *sum += a * b;
        }
    }
    // Every sum has at most `terms` products and as many sums, each with an error below a relative 2^-53, or below the least double.
    let terms = short.len() as f64;
    let error = (2.0 * terms + 4.0) * f64::EPSILON;
    for mass in &mut masses {
        *mass = if is_above { *mass * (1.0 + error) + f64::MIN_POSITIVE } else { *mass * (1.0 - error) };
        if !is_above && *mass < f64::MIN_POSITIVE * 1e20 {
            *mass = 0.0;
        }
    }
    masses
}

/// Outcomes, the bits of the step of their grid and of the number of points, and the number of counts.
type PowerKey = (Arc<Listed>, u64, u64, u64);

static POWERS: Kept<PowerKey, Option<OnGrid>> = Kept::new(128);
/// Sums of more points are not remembered: they would take much memory.
const MOST_KEPT: usize = 5_000;

/// The sum of equal counts on a grid of this step, made if need be.
fn power(
    listed: &Arc<Listed>,
    (step, points): (f64, f64),
    copies: u64,
    make: impl Fn() -> Option<OnGrid>,
) -> Option<OnGrid> {
    // The key holds the outcomes, so that no others have their address.
    let is_it = |key: &PowerKey| {
        Arc::ptr_eq(&key.0, listed) && (key.1, key.2, key.3) == (step.to_bits(), points.to_bits(), copies)
    };
    POWERS.found(is_it).unwrap_or_else(|| {
        let made = make();
        if made.as_ref().is_some_and(|made| made.points() > MOST_KEPT) {
            return made;
        }
        POWERS.keep((Arc::clone(listed), step.to_bits(), points.to_bits(), copies), made.clone());
        made
    })
}
