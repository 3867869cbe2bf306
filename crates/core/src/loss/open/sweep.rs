//! The sweep of heights in doubles: which nodes may matter, and how much all of them weigh. Every bound has the rounding errors of its doubles added.

use rug::Rational;

use crate::{
    loss::{engine::machine, law::Group},
    numeric::effort::{self, Effort},
};

/// The most nodes of the first lobe.
pub(super) const MOST_OF_LOBE: i64 = 4_096;
/// Masses below this share of all are added up instead of turned.
const NEGLIGIBLE: f64 = 1e-5;
/// A node is dropped at once if this many of its weight add no more than the truncation error of the cut.
const SMALL: f64 = 1e6;
const MOST_CANDIDATES: usize = 1_000_000;
/// Relative rounding errors of a sum of doubles that are not negative, with room: below 10^4 terms.
const ROUNDED: f64 = 1e-12;

/// Where a contour runs, in steps, so that close requests have the same.
pub(super) struct Course {
    pub c: f64,
    pub period: f64,
    /// The points of the bounds on aliasing.
    pub below: f64,
    pub above: f64,
    pub cut: f64,
    /// The height up to which it is swept for all digits.
    pub height: f64,
}

/// The losses of one copy of a group under its law tilted by c, less their mean, in doubles.
#[derive(Debug)]
pub(super) struct Spread {
    /// In turns for each unit of height, with the masses, from the likeliest down.
    turns: Vec<(f64, f64)>,
    /// The largest loss among these in size, in turns.
    size: f64,
    /// Upper bound on the masses that are not turned, and on all rounding errors that do not grow with the height.
    rest: f64,
    /// Upper bound on the mean distance from the center, and the center, in units of losses.
    mean_distance: f64,
    center: f64,
    pub variance_approx: f64,
    pub copies: f64,
    /// 2 floor(copies / 2).
    even: f64,
}

impl Spread {
    /// `None` for noise of which no bound is taken: that is one copy, or unbounded.
    pub(super) fn new(group: &Group, c: &Rational) -> Option<Spread> {
        const BITS: u32 = 80;
        if group.copies < 2 {
            return None;
        }
        let finite = group.law.finite(group.shift)?;
        let weights = finite.weights::<crate::numeric::ball::Ball>(c, BITS);
        let masses: Vec<f64> = weights.iter().map(|weight| weight.enclosure().approximate()).collect();
        let losses: Vec<Rational> = (0..masses.len()).map(|k| finite.loss(k)).collect();
        let mean: f64 = losses.iter().zip(&masses).map(|(loss, mass)| loss.to_f64() * mass).sum();
        let center = Rational::from_f64(mean)?;
        // The difference is exact, and rounded once.
        let mut all: Vec<(f64, f64)> =
            losses.iter().zip(&masses).map(|(loss, mass)| (Rational::from(loss - &center).to_f64(), *mass)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let of = |f: &dyn Fn(f64) -> f64| all.iter().map(|(away, mass)| f(*away) * mass).sum::<f64>();
        let (mean_distance, variance_approx) = (of(&f64::abs), of(&|away| away * away));
        let likely = all.iter().take_while(|(_, mass)| *mass > NEGLIGIBLE).count().max(1);
        let rest: f64 = all[likely..].iter().map(|(_, mass)| mass).sum();
        all.truncate(likely);
        let size = all.iter().map(|(away, _)| away.abs()).fold(0.0, f64::max) / std::f64::consts::TAU;
        let turns = all.into_iter().map(|(away, mass)| (away / std::f64::consts::TAU, mass)).collect();
        let copies = group.copies as f64;
        Some(Spread {
            turns,
            size,
            rest: rest * (1.0 + ROUNDED) + ROUNDED + OF_CIS,
            mean_distance: mean_distance * (1.0 + ROUNDED) + f64::MIN_POSITIVE,
            center: mean,
            variance_approx,
            copies,
            even: 2.0 * (copies / 2.0).floor(),
        })
    }

    fn sum(&self, t: f64, cis: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
        self.turns.iter().fold((0.0, 0.0), |(re, im), (turns, mass)| {
            let (cos, sin) = cis(t * turns);
            (re + mass * cos, im + mass * sin)
        })
    }

    /// Upper bound on |phi| at a height: the product with the turns, and these, each have a relative error of 2^-52 at most, so that an angle errs by less than
    /// 2 pi times 2^-50 of the turns.
    fn modulus_above(&self, t: f64) -> f64 {
        let (re, im) = self.sum(t, quick_cis);
        let angles = t * self.size * 6.3 * 2f64.powi(-50);
        (libm::sqrt(re * re + im * im) * (1.0 + 1e-15) + self.rest + angles).min(1.0)
    }

    /// ln |phi| and its argument in doubles, with all likely masses: an approximation.
    pub(super) fn polar(&self, t: f64) -> (f64, f64) {
        let precise_cis = |turns: f64| {
            let (sin, cos) = libm::sincos((turns - turns.round()) * std::f64::consts::TAU);
            (cos, sin)
        };
        let (re, im) = self.sum(t, precise_cis);
        (libm::log(re * re + im * im) / 2.0, libm::atan2(im, re) + t * self.center)
    }
}

/// Upper bound on the error of a sum of such numbers with masses that add up to one.
const OF_CIS: f64 = 2e-11;

/// Cosine and sine of this number of turns, up to 2^50 of them, each with an error below 10^-11: by Taylor's series up to an eighth of a turn, of which the terms
/// left out are at most (pi / 4)^13 / 13! = 7 10^-12.
fn quick_cis(turns: f64) -> (f64, f64) {
    // To add this rounds to an integer.
    const TO_WHOLE: f64 = 6_755_399_441_055_744.0;
    let quarters = turns * 4.0;
    let whole = (quarters + TO_WHOLE) - TO_WHOLE;
    let x = (quarters - whole) * std::f64::consts::FRAC_PI_2;
    let y = x * x;
    let sin = x
        * (1.0 + y * (-1.0 / 6.0 + y * (1.0 / 120.0 + y * (-1.0 / 5040.0 + y * (1.0 / 362_880.0 - y / 39_916_800.0)))));
    let cos = 1.0
        + y * (-0.5
            + y * (1.0 / 24.0
                + y * (-1.0 / 720.0 + y * (1.0 / 40_320.0 + y * (-1.0 / 3_628_800.0 + y / 479_001_600.0)))));
    match whole as i64 & 3 {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

/// The nodes that a sweep found, and bounds on all others.
#[derive(Debug)]
pub(super) struct Sweep {
    c: f64,
    period: f64,
    cut: f64,
    height: f64,
    /// The last node of the first lobe.
    pub reach: i64,
    /// The nodes beyond it that may matter, each with an upper bound on ln G.
    pub nodes: Vec<(i64, f64)>,
    /// Upper bound on the sum of G_k / k^2 over nodes that are looked at one by one and too small to be among these, in units of exp(-cut).
    pub dropped: f64,
    /// The last node that was looked at: even.
    pub last: i64,
    /// Upper bound on the sum of a_k over all nodes up to that, on both sides.
    pub weight: f64,
    /// Whether the height was reached.
    pub is_complete: bool,
}

impl Sweep {
    /// Seconds of a sweep up to a height.
    pub(super) fn seconds(spreads: &[Spread], height: f64) -> f64 {
        let turns: usize = spreads.iter().map(|spread| spread.turns.len()).sum();
        let distance: f64 = spreads.iter().map(|spread| spread.mean_distance).sum();
        (2.0 * height * distance + 200.0) * turns as f64 * machine::PER_TURN
    }

    /// Whether it serves a contour.
    pub(super) fn serves(&self, course: &Course) -> bool {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        same(self.c, course.c)
            && same(self.period, course.period)
            && self.cut >= course.cut
            && self.height >= course.height
    }

    /// By at most as many seconds.
    pub(super) fn new(spreads: &[Spread], course: &Course, seconds: f64) -> Sweep {
        let turns: usize = spreads.iter().map(|spread| spread.turns.len()).sum();
        let most = (seconds / (turns.max(1) as f64 * machine::PER_TURN)) as u64;
        let share = spreads.iter().map(|spread| spread.even / spread.copies).fold(1.0, f64::min);
        let h = std::f64::consts::TAU / course.period;
        // Of a node in a cell, with its conjugate.
        let of_cell = 2.0 * libm::exp(-course.cut * share) * (1.0 + ROUNDED);
        let mut walk = Walk::new(spreads, h, course.cut);
        let mut sweep = Sweep {
            c: course.c,
            period: course.period,
            cut: course.cut,
            height: course.height,
            reach: 0,
            nodes: Vec::new(),
            dropped: 0.0,
            last: 0,
            weight: 1.0,
            is_complete: true,
        };
        let end = ((course.height / h).ceil().min(1e17) as i64).max(16);
        let (mut node, mut is_in_lobe) = (1, true);
        let mut radius = h;
        while node <= end {
            if node > 2 && (walk.steps > most || sweep.nodes.len() > MOST_CANDIDATES) {
                sweep.is_complete = false;
                break;
            }
            if is_in_lobe || radius < h {
                // One by one.
                let (ln_all, ln_even, free) = walk.at(node);
                sweep.weight += 2.0 * libm::exp(ln_even) * (1.0 + ROUNDED);
                if is_in_lobe && (ln_all <= -course.cut || node > MOST_OF_LOBE) {
                    (is_in_lobe, sweep.reach) = (false, (node - 1).max(1));
                }
                if !is_in_lobe && ln_all > -course.cut && node > sweep.reach {
                    let weight = libm::exp(ln_all + course.cut - 2.0 * libm::log(node as f64)) * (1.0 + ROUNDED);
                    match weight * SMALL < 1.0 / sweep.reach as f64 {
                        true => sweep.dropped += weight,
                        false => sweep.nodes.push((node, ln_all)),
                    }
                }
                radius = free;
                node += 1;
                continue;
            }
            // The next cell begins half a step before its first node.
            let from = h * (node as f64 - 0.5);
            let (to, next) = walk.cell(from, radius);
            radius = next;
            // One node fewer at its end, for the rounding of heights.
            let after = ((to / h - 0.5).floor() as i64).max(node).min(end + 1);
            let nodes = (after - node) as f64;
            sweep.weight += nodes * of_cell;
            if after == node {
                radius = 0.0;
            }
            node = after;
        }
        // At least two nodes were looked at, and none beyond the last one counts as that.
        sweep.last = (node - 1) & !1;
        sweep.reach = if is_in_lobe { sweep.last } else { sweep.reach.min(sweep.last) };
        // Rounding errors of the sum.
        sweep.weight *= 1.0 + 1e-6;
        sweep.dropped *= 1.0 + 1e-6;
        sweep.is_complete &= sweep.last >= end - 1;
        effort::spend(Effort::of_steps(walk.steps as f64 * turns as f64, machine::PER_TURN));
        sweep
    }
}

/// The values of all groups along the heights.
struct Walk<'a> {
    spreads: &'a [Spread],
    h: f64,
    /// -cut, with room for the rounding errors of logarithms.
    enough: f64,
    /// Of one group alone: |phi| below which ln G is at most -cut.
    most: f64,
    steps: u64,
}

impl<'a> Walk<'a> {
    fn new(spreads: &'a [Spread], h: f64, cut: f64) -> Self {
        let enough = -cut * (1.0 + 1e-9) - 1e-9;
        let most = spreads.first().map_or(0.0, |spread| libm::exp(enough / spread.copies) * (1.0 - 1e-12));
        Walk { spreads, h, enough, most, steps: 0 }
    }

    /// Upper bounds on ln G and on ln a at a node, and the radius of a cell around it, if there is one.
    fn at(&mut self, node: i64) -> (f64, f64, f64) {
        let moduli = self.moduli(self.h * node as f64, self.h * node as f64 * 2f64.powi(-50));
        let ln = |of: &dyn Fn(&Spread) -> f64| {
            let terms = self.spreads.iter().zip(&moduli).map(|(spread, modulus)| of(spread) * libm::log(*modulus));
            // Logarithms err by less than 2^-51 of themselves, and of the copies at a modulus near one.
            terms.sum::<f64>() * (1.0 - 1e-12)
        };
        (ln(&|spread| spread.copies), ln(&|spread| spread.even), self.radius(&moduli))
    }

    /// Upper bounds on |phi| of each group within a distance of a height.
    fn moduli(&mut self, t: f64, within: f64) -> Vec<f64> {
        self.steps += 1;
        let of = |spread: &Spread| (spread.modulus_above(t) + within * spread.mean_distance).min(1.0);
        self.spreads.iter().map(of).collect()
    }

    /// A radius around a height with these moduli within which ln G is at most -cut; zero where there is none.
    fn radius(&self, moduli: &[f64]) -> f64 {
        let ln_at = |radius: f64| -> f64 {
            let of = |(spread, modulus): (&Spread, &f64)| {
                spread.copies * libm::log((modulus + radius * spread.mean_distance).min(1.0))
            };
            self.spreads.iter().zip(moduli).map(of).sum()
        };
        if let ([spread], [modulus]) = (self.spreads, moduli) {
            return ((self.most - modulus) / spread.mean_distance * (1.0 - 1e-12)).max(0.0);
        }
        if ln_at(0.0) > self.enough {
            return 0.0;
        }
        let widest = self.spreads.iter().map(|spread| 1.0 / spread.mean_distance).fold(0.0, f64::max);
        let [radius, _] = crate::numeric::halving::bisect([0.0, widest], 12, |radius| ln_at(radius) <= self.enough);
        radius * (1.0 - 1e-9)
    }

    /// The end of a cell that begins at a height, and the radius of the next one. It ends where it begins if there is none.
    fn cell(&mut self, from: f64, guess: f64) -> (f64, f64) {
        let mut distance = guess;
        for _ in 0..4 {
            let center = from + distance;
            let moduli = self.moduli(center, center * 2f64.powi(-50));
            let radius = self.radius(&moduli) * (1.0 - 1e-9);
            if radius >= distance {
                return (center + radius, radius);
            }
            if radius < self.h {
                distance *= 0.5;
            } else {
                distance = radius * 0.9;
            }
            if distance < self.h {
                break;
            }
        }
        (from, 0.0)
    }
}
