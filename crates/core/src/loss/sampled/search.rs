//! The choice of a contour in doubles: where it runs, how far, and how dense its nodes are. No choice can make an answer false.

use super::{
    Direction, Strand,
    line::Grid,
    phase::Ratio,
    sum::{SampledSum, power},
    table::{MOST_POINTS, Table},
};
use crate::numeric::halving::golden_section;

/// Which of two complementary numbers the contour encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// delta: Re s > 0.
    Delta,
    /// 1 - delta: -1 < Re s < 0.
    Complement,
}

/// The contour of one request.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// What does not depend on epsilon but by steps, so that requests close to one another share it.
    pub(super) course: Course,
    /// Re s of the bounds on what the trapezoid rule adds on either side.
    pub(super) left: f64,
    pub(super) right: f64,
    /// ln of the answer, an estimate.
    pub(super) ln_estimate: f64,
}

/// Where a contour runs, and how closely the moments there are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Course {
    /// Re s.
    pub(super) c: f64,
    /// The distance of nodes.
    pub(super) h: f64,
    /// The number of nodes with Im s > 0.
    pub(super) nodes: i64,
    /// ln of the error of a moment.
    pub(super) ln_small: f64,
}

/// The lines of a strand.
#[derive(Clone, Debug)]
pub(super) struct StrandPlan {
    pub(super) grid: Grid,
    pub(super) ln_norm: f64,
    /// The line of the bound beyond the last node.
    pub(super) beyond: Grid,
}

/// From one contour to the next Re s, distance and number of nodes are this many steps for a factor of two.
const STEPS_OF_TWO: f64 = 8.0;

/// The least power of 2^(1/8) that is at least x > 0, in few bits.
fn stepped_up(x: f64) -> f64 {
    libm::exp2((libm::log2(x) * STEPS_OF_TWO).ceil() / STEPS_OF_TWO)
}

/// In few bits, so that multiples are exact.
fn short(x: f64) -> f64 {
    f64::from(x as f32)
}

/// The facts about a request that the search uses.
pub(super) struct Search<'a> {
    pub(super) sum: &'a SampledSum,
    pub(super) direction: Direction,
    pub(super) side: Side,
    pub(super) epsilon: f64,
}

impl Search<'_> {
    /// ln of M(c) exp(-c eps).
    fn ln_psi(&self, c: f64) -> f64 {
        let p = power(self.direction, c);
        let of = |(strand, table): (&Strand, &Table)| strand.least.steps as f64 * table.ln_moment(p);
        let beside = self.sum.beside.as_ref().map_or(0.0, |beside| beside.ln_mgf_approx(c));
        self.sum.strands.iter().zip(&*self.sum.tables).map(of).sum::<f64>()
            + beside
            + self.sum.rho.to_f64() * (c + c * c)
            - c * self.epsilon
    }

    /// The same with the kernel 1 / |s (s + 1)| at the real axis.
    fn ln_height(&self, c: f64) -> f64 {
        self.ln_psi(c) - libm::log((c * (c + 1.0)).abs())
    }

    /// Re s by a parameter without bounds.
    fn place(&self, u: f64) -> f64 {
        match self.side {
            Side::Delta => libm::exp(u),
            Side::Complement => -1.0 / (1.0 + libm::exp(u)),
        }
    }

    /// The saddle point: the lowest of the heights, which are convex in c.
    pub(super) fn saddle(&self) -> f64 {
        let height = |u: f64| {
            let height = self.ln_height(self.place(u));
            if height.is_nan() { f64::INFINITY } else { height }
        };
        // To 0.02 in u.
        let (range, rounds) = match self.side {
            Side::Delta => ([-9.0, 12.0], 15),
            Side::Complement => ([-30.0, 30.0], 17),
        };
        self.place(golden_section(range, rounds, height))
    }

    /// ln of the answer, by the saddle point: integral of the height over t as of a Gaussian.
    fn ln_estimate(&self, c: f64) -> f64 {
        let e = 1e-2
            * match self.side {
                Side::Delta => c,
                Side::Complement => c.abs().min(1.0 + c),
            };
        let [before, at, after] = [c - e, c, c + e].map(|c| self.ln_height(c));
        let curvature = ((before - 2.0 * at + after) / (e * e)).max(1e-6 / (e * e));
        at - libm::log(std::f64::consts::TAU * curvature) / 2.0
    }

    /// 2 pi / h for which both sums of what the trapezoid rule adds are about exp(ln_target), with the Re s of their bounds.
    fn period(&self, c: f64, ln_target: f64) -> (f64, f64, f64) {
        let approaching = (1..=8).map(|k| 1.0 - 0.5_f64.powi(k));
        let shares = [0.25].into_iter().chain(approaching.clone()).chain([1.0]);
        let (left, left_at) = match self.side {
            Side::Delta => self.shortest_period(c, ln_target, shares.map(|share| (c - share * c).max(0.0))),
            Side::Complement => {
                self.shortest_period(c, ln_target, shares.map(|share| (c - share * (1.0 + c)).max(-1.0)))
            }
        };
        let (right, right_at) = match self.side {
            Side::Delta => self.shortest_period(c, ln_target, (-4..=10).map(|k| c + c * 2_f64.powi(k))),
            Side::Complement => {
                let places = approaching.map(|share| c - c * share).chain([0.0]);
                self.shortest_period(c, ln_target, places)
            }
        };
        (left.max(right).max(1e-9), left_at, right_at)
    }

    /// The shortest of the periods that bounds at some Re s on one side of c allow, and that Re s. The places run away from c. ln of the moment is convex in
    /// them, so the periods fall and then rise: the first that is not shorter ends the search.
    fn shortest_period(&self, c: f64, ln_target: f64, places: impl Iterator<Item = f64>) -> (f64, f64) {
        let mut best = (f64::INFINITY, c);
        for place in places {
            let psi = if place == 0.0 && self.side == Side::Delta { 0.0 } else { self.ln_psi(place) };
            let period = (psi - ln_target) / (c - place).abs();
            if period.is_nan() || period >= best.0 {
                break;
            }
            best = (period, place);
        }
        best
    }

    /// Re s and the period there. Where moments of slightly higher order explode, a lower Re s has a much shorter period; but the terms of its sum cancel.
    fn place_of_short_period(&self, saddle: f64, ln_estimate: f64, ln_target: f64) -> (f64, (f64, f64, f64)) {
        const MOST_CANCELLED: f64 = 16.0;
        let of = |c: f64| (c, self.period(c, ln_target));
        let mut best = of(saddle);
        let is_long = best.1.0 > 3.0 * (-ln_target).max(1.0) / saddle.abs();
        if self.side != Side::Delta || !is_long {
            return best;
        }
        for share in [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3] {
            let c = saddle * share;
            if self.ln_psi(c) - ln_estimate > MOST_CANCELLED {
                break;
            }
            let next = of(c);
            if next.1.0 < best.1.0 {
                best = next;
            }
        }
        best
    }

    /// ln of the answer by the saddle point alone: to a factor of about two where losses are smooth.
    pub(super) fn rough(&self) -> f64 {
        self.ln_estimate(self.saddle())
    }

    /// The saddle point in steps.
    pub(super) fn stepped_saddle(&self) -> f64 {
        self.stepped(self.saddle())
    }

    /// Re s in steps.
    fn stepped(&self, c: f64) -> f64 {
        match self.side {
            Side::Delta => short(libm::exp2((libm::log2(c) * STEPS_OF_TWO).round() / STEPS_OF_TWO)),
            Side::Complement => {
                const STEP: f64 = 0.1;
                short(self.place((libm::log(-1.0 / c - 1.0) / STEP).round() * STEP))
            }
        }
    }

    /// The contour whose errors are about 10^-digits of the answer; `None` where doubles find none.
    pub(super) fn plan(&self, digits: f64) -> Option<Plan> {
        let saddle = self.saddle();
        let ln_estimate = self.ln_estimate(saddle);
        let ln_target = ln_estimate - digits * std::f64::consts::LN_10 - 2.0;
        let (c, (period, left, right)) = self.place_of_short_period(self.stepped(saddle), ln_estimate, ln_target);
        let ln_psi = self.ln_psi(c);
        if !(ln_estimate.is_finite() && ln_psi.is_finite() && period.is_finite()) {
            return None;
        }
        let h = short(std::f64::consts::TAU / stepped_up(period));
        let p = power(self.direction, c);
        let steps = self.steps();
        // Errors of a moment count as often as there are steps.
        let ln_small =
            -digits * std::f64::consts::LN_10 - libm::log(steps as f64) - 6.0 + (ln_estimate - ln_psi).min(0.0);
        let height = self.height(p, ln_target - ln_psi)?;
        let nodes = stepped_up((height / h).max(1.0)).ceil();
        if nodes.is_nan() || nodes >= 1e12 {
            return None;
        }
        let course = Course { c, h, nodes: nodes as i64, ln_small: (ln_small / 2.0).floor() * 2.0 };
        Some(Plan { course, left, right, ln_estimate })
    }

    fn steps(&self) -> u64 {
        self.sum.strands.iter().fold(0, |sum, strand| sum.saturating_add(strand.least.steps))
    }

    /// The lines of all strands on this course.
    pub(super) fn strands(&self, course: &Course) -> Vec<StrandPlan> {
        let p = power(self.direction, course.c);
        let height = course.h * course.nodes as f64;
        let steps = self.steps();
        let of = |(strand, table): (&Strand, &Table)| {
            let ln_norm = table.ln_moment(p);
            let end = End::least(&Line::all(strand, p, ln_norm, steps), height);
            // Its error counts once a step, beside a modulus that may be small.
            let ln_relative = end.ln_modulus - libm::log(steps as f64) - 5.0;
            let beyond = Grid::choose(strand, p, ln_norm, [end.theta; 2], ln_relative);
            StrandPlan { grid: quickest(strand, p, ln_norm, course.ln_small), ln_norm, beyond }
        };
        self.sum.strands.iter().zip(&*self.sum.tables).map(of).collect()
    }

    /// How far the contour runs, so that what lies beyond is about exp(ln_target) of the height.
    fn height(&self, p: f64, ln_target: f64) -> Option<f64> {
        let (rho, steps) = (self.sum.rho.to_f64(), self.steps());
        let lines = |(strand, table): (&Strand, &Table)| Line::all(strand, p, table.ln_moment(p), steps);
        let lines: Vec<Vec<Line>> = self.sum.strands.iter().zip(&*self.sum.tables).map(lines).collect();
        let beyond = |t: f64| -> f64 {
            let all = self.sum.strands.iter().zip(&lines);
            let ln: f64 = all.map(|(strand, lines)| strand.least.steps as f64 * End::least(lines, t).ln_modulus).sum();
            ln - rho * t * t - libm::log(std::f64::consts::PI * t)
        };
        let (mut low, mut high) = (-10.0_f64, 35.0_f64);
        if beyond(libm::exp(high)) > ln_target {
            return None;
        }
        while high - low > 0.02 {
            let middle = (low + high) / 2.0;
            if beyond(libm::exp(middle)) > ln_target { low = middle } else { high = middle }
        }
        Some(libm::exp(high))
    }
}

/// The line of integration that takes the fewest nodes, among those whose cancellation costs at most five digits.
fn quickest(strand: &Strand, p: f64, ln_norm: f64, ln_small: f64) -> Grid {
    const MOST_CANCELLED: f64 = 12.0;
    let s2 = strand.most.to_f64();
    let most = (2.0 * MOST_CANCELLED / s2).sqrt().min(1.45) / strand.least.turns();
    let grid = |theta: f64| Grid::choose(strand, p, ln_norm, [theta; 2], ln_small);
    let grids = (0..12).map(|k| grid(most * 0.75_f64.powi(k)));
    grids.min_by(|a, b| a.len().total_cmp(&b.len())).unwrap_or_else(|| grid(0.1))
}

/// A bound on the modulus of one step's moment beyond the last node: its line, and ln of it relative to the norm.
struct End {
    theta: f64,
    ln_modulus: f64,
}

impl End {
    /// That of the line where it is least.
    fn least(lines: &[Line], t: f64) -> End {
        let all = lines.iter().map(|line| End { ln_modulus: line.ln_modulus(t), theta: line.theta });
        let least = all.min_by(|a, b| a.ln_modulus.total_cmp(&b.ln_modulus));
        least.unwrap_or(End { theta: 0.1, ln_modulus: 0.0 })
    }
}

/// The modulus along one line, in doubles.
struct Line {
    theta: f64,
    /// ln of the modulus of each node at height 0, and arg r there.
    nodes: Vec<(f64, f64)>,
}

impl Line {
    fn all(strand: &Strand, p: f64, ln_norm: f64, steps: u64) -> Vec<Line> {
        const MOST: f64 = 1.5;
        let s2 = strand.most.to_f64();
        let most = MOST.min((60.0 / s2).sqrt()) / strand.least.turns();
        // A record that is sampled once in very many steps needs small angles.
        (0..16).filter_map(|k| Line::new(strand, p, ln_norm, most * 0.6_f64.powi(k), steps)).collect()
    }

    fn new(strand: &Strand, p: f64, ln_norm: f64, theta: f64, steps: u64) -> Option<Line> {
        /// ln of how much smaller the modulus may be where it is bounded.
        const FURTHER: f64 = 40.0;
        let (s2, g) = (strand.least.sigma2.to_f64(), strand.rate().to_f64());
        let (turns, ratio) = (strand.least.turns(), Ratio::new(&strand.least));
        // Coarser than the line of the proof, whose step serves a strip of width theta: along the line itself the modulus is smooth.
        // The modulus of one of few steps has to be small itself.
        let steps = steps as f64;
        let ln_relative = -libm::log(steps) - 5.0 - 35.0 / steps;
        let fine = Grid::choose(strand, p, ln_norm, [theta, 1.0_f64.min((8.0 / s2).sqrt()) / turns], ln_relative);
        // The line of the proof serves a strip of width theta, where the modulus is small.
        let proof = Grid::choose(strand, p, ln_norm, [theta; 2], ln_relative - FURTHER);
        let is_short = |grid: &Grid| grid.len() <= MOST_POINTS;
        if !is_short(&fine) || !is_short(&proof) {
            return None;
        }
        let node = |k: i64| {
            let u = fine.step * k as f64;
            let (v, b) = (u + 1.0 / (2.0 * s2), g * libm::exp(u));
            let (sin, cos) = libm::sincos(theta);
            // |r|^2 = (1 - g + b)^2 - 2 (1 - g) b (1 - cos)
            let size = if b < 1e150 {
                libm::log1p((b - g) * (2.0 + b - g) - 2.0 * (1.0 - g) * b * (1.0 - cos)) / 2.0
            } else {
                libm::log(b)
            };
            let arg = libm::atan2(b * sin, 1.0 - g + b * cos);
            let (size, arg) = if turns > 1.0 { ratio.polar(u, theta) } else { (size, arg) };
            let density = fine.step * (s2 / std::f64::consts::TAU).sqrt();
            ((theta * theta - v * v) * s2 / 2.0 + p * size + libm::log(density) - ln_norm, arg)
        };
        Some(Line { theta, nodes: (fine.from..=fine.to).map(node).collect() })
    }

    fn ln_modulus(&self, t: f64) -> f64 {
        let exponents = || self.nodes.iter().map(|(ln, arg)| ln - t * arg);
        let most = exponents().fold(f64::NEG_INFINITY, f64::max);
        most + libm::log(exponents().map(|ln| libm::exp(ln - most)).sum::<f64>())
    }
}
