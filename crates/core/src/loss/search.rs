//! The search for a contour in doubles: its real part, its period and where the main lobe is cut.
//!
//! Nothing here needs a proof: every real part, spacing and height gives a true enclosure, because [`bounds`](super::bounds) bounds the errors of
//! each choice. A bad choice costs time only.

use std::{cell::OnceCell, f64::consts::PI};

use rug::Rational;

use super::{
    plan::{MOST_NODES, MOST_ON_LINE, Plan, unsweepable},
    question::{Kernel, Question},
    sieve::{self, SumSieve},
    sum::LossSum,
    theta,
};
use crate::{
    error::{Error, Result},
    numeric::{
        halving::{bisect, golden_section},
        rational,
    },
};

/// The facts about the sum and the request from which a plan is made, in doubles.
pub(crate) struct ContourSearch<'a> {
    sum: &'a LossSum,
    sieve: &'a SumSieve,
    kernel: Kernel,
    /// Whether some losses are bounded, so that the bound for M has factors other than a Gaussian's.
    bounded: bool,
    /// Whether M itself is used where a Gaussian's is far above it: for this sum alone, not for all sums of its rho.
    coarse: bool,
    rho: f64,
    /// The lattice step, for a lattice contour.
    step: Option<f64>,
    exact_step: Option<Rational>,
    /// The threshold z of the request.
    at: f64,
    /// The first lattice value that counts.
    first: f64,
    /// first - threshold, in (0, h].
    gap: f64,
    /// See [`Plan::far`].
    far: f64,
    /// The largest number of windows that a sweep may examine, and of nodes beyond the main lobe that an unbounded contour sums.
    budget: u64,
    most_on_line: usize,
    /// The real part of every contour, found on first use.
    saddle: OnceCell<f64>,
}

impl<'a> ContourSearch<'a> {
    pub(crate) fn new(sum: &'a LossSum, sieve: &'a SumSieve, question: &Question) -> Self {
        ContourSearch {
            sum,
            sieve,
            kernel: question.kernel,
            bounded: sum.groups().iter().any(|group| group.law.has_bounded_loss()),
            coarse: false,
            rho: sum.rho().to_f64(),
            step: question.step.as_ref().map(Rational::to_f64),
            exact_step: question.step.clone(),
            at: question.threshold.to_f64(),
            first: question.first.to_f64(),
            gap: question.gap.to_f64(),
            far: f64::INFINITY,
            budget: sieve::BUDGET,
            most_on_line: MOST_ON_LINE,
            saddle: OnceCell::new(),
        }
    }

    /// For this sum alone: the aliasing error is bounded by M, not by a Gaussian's for all sums of this rho.
    pub(crate) fn of_itself(self) -> Self {
        ContourSearch { coarse: self.sum.groups().iter().any(theta::is_coarse), ..self }
    }

    /// For an approximation: an unbounded contour considers only the nearest side lobes.
    pub(crate) fn unproven(self) -> Self {
        ContourSearch { far: 1e4, ..self }
    }

    /// The same with sweeps that stop after this number of windows.
    pub(crate) fn within(self, budget: u64) -> Self {
        ContourSearch { budget, ..self }
    }

    /// The same with at most this many nodes beyond the main lobe on an unbounded contour.
    pub(crate) fn with_nodes(self, most_on_line: usize) -> Self {
        ContourSearch { most_on_line, ..self }
    }

    /// The largest number of windows that its sweeps may examine.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// The relative truncation error of a hockey stick on a lattice that is evaluated on an unbounded contour with only the nearest side lobes: the
    /// images of the main lobe 2 pi k / h above it, k not zero, which weigh |c (c + 1)| / (2 pi k / h)^2 each.
    pub(crate) fn images(&self) -> f64 {
        self.step.map_or(0.0, |h| h * h * (self.saddle_point() * (self.saddle_point() + 1.0)).abs() / 12.0)
    }

    /// The terms that single groups add to ln of exp(rho (x + x^2)), and to its derivative: bounded losses, and coarse ones where their own M is
    /// used.
    fn own(&self, x: f64) -> (f64, f64) {
        let mut own = (0.0, 0.0);
        for outlined in self.sum.outlined() {
            let bounded = outlined.ln_bounded_mgf_approx(x);
            let coarse = if self.coarse { theta::ln_coarse_mgf_approx(outlined.group, x) } else { (0.0, 0.0) };
            own = (own.0 + bounded.0 + coarse.0, own.1 + bounded.1 + coarse.1);
        }
        own
    }

    /// Whether there are no such terms.
    fn is_plain(&self) -> bool {
        !self.bounded && !self.coarse
    }

    /// The derivative of `ln_size`: increasing in x.
    fn slope(&self, x: f64) -> f64 {
        let own = if self.is_plain() { 0.0 } else { self.own(x).1 };
        self.rho * (1.0 + 2.0 * x) + own
    }

    /// ln of M(x) exp(-x z), or of that bound.
    pub(crate) fn ln_size_at(&self, x: f64) -> f64 {
        self.ln_size(x) - x * self.at
    }

    /// ln of M(x), or of the bound exp(rho (x + x^2)) prod m(x) for it, m the bounded laws'.
    fn ln_size(&self, x: f64) -> f64 {
        let own = if self.is_plain() { 0.0 } else { self.own(x).0 };
        self.rho * (x + x * x) + own
    }

    /// The saddle point of M(s) kappa(s) on the real axis, without thetas other than those of coarse groups: the root of an increasing function in
    /// the strip in which the kernel converges.
    fn saddle(&self) -> f64 {
        let (low, high) = self.kernel.strip();
        let slope = |c: f64| self.slope(c) + self.kernel_slope(c);
        let c = few_bits(increasing_root(slope, low, high, 48));
        match self.kernel {
            Kernel::Complement => c.clamp(-0.9999, -0.0001),
            // At the largest of bounded losses there is no saddle point: the answer is reached at infinity. Where
            // exp(-c h) is below e^-100, one loss decides already.
            _ => match self.step {
                Some(step) if self.rho == 0.0 => c.max(low + f64::MIN_POSITIVE.sqrt()).min(100.0 / step),
                _ => c.max(low + f64::MIN_POSITIVE.sqrt()),
            },
        }
    }

    /// The derivative of ln of |kappa(c)|: minus the threshold and the poles, which on a lattice repeat.
    fn kernel_slope(&self, c: f64) -> f64 {
        let (Some(h), both) = (self.step, matches!(self.kernel, Kernel::HockeyStick | Kernel::Complement)) else {
            return -self.at - 1.0 / c - 1.0 / (c + 1.0);
        };
        let pole = |c: f64| h / libm::expm1(c * h);
        if both {
            let n1 = -libm::expm1(-self.gap);
            let n2 = -libm::exp(-self.gap - c * h) * libm::expm1(self.gap - h);
            let numerator = if n2.is_finite() { n2 / (n1 + n2) } else { 1.0 };
            return -self.first - pole(c) - pole(c + 1.0) - h * numerator;
        }
        -self.first - if self.kernel == Kernel::UpperTail { pole(c) } else { pole(c + 1.0) }
    }

    /// ln of |kappa(c)| / h, or of |kappa(c)| on an unbounded contour.
    fn ln_kernel(&self, c: f64) -> f64 {
        let Some(h) = self.step else { return -c * self.at - libm::log((c * (c + 1.0)).abs()) };
        let bracket = match self.kernel {
            Kernel::HockeyStick | Kernel::Complement => {
                let numerator = -libm::expm1(-self.gap) - libm::exp(-self.gap - c * h) * libm::expm1(self.gap - h);
                numerator / (libm::expm1(-c * h) * libm::expm1(-(c + 1.0) * h))
            }
            Kernel::UpperTail => -1.0 / libm::expm1(-c * h),
            Kernel::TiltedTail => -1.0 / libm::expm1(-(c + 1.0) * h),
        };
        libm::log(bracket.abs()) - c * self.first - self.extra()
    }

    /// The tilted tail carries a factor exp(-first) from exp(-L).
    fn extra(&self) -> f64 {
        if self.kernel == Kernel::TiltedTail { self.first } else { 0.0 }
    }

    /// ln of the answer by the saddle point method.
    pub(crate) fn ln_estimate(&self) -> f64 {
        self.ln_answer(self.saddle_point())
    }

    /// ln of the answer by the saddle point method at c; the size of M includes the thetas, its curvature does not.
    fn ln_answer(&self, c: f64) -> f64 {
        let poles = match self.kernel {
            Kernel::HockeyStick | Kernel::Complement => c.powi(-2) + (c + 1.0).powi(-2),
            Kernel::UpperTail => c.powi(-2),
            Kernel::TiltedTail => (c + 1.0).powi(-2),
        };
        let nudge = 1e-4 * (1.0 + c.abs());
        let curvature = ((self.slope(c + nudge) - self.slope(c - nudge)) / (2.0 * nudge)).max(0.0) + poles;
        // (1 / 2 pi) integral of M kappa = M kappa / sqrt(2 pi curvature); on a coarse lattice at most one period.
        let width = 1.0 / (2.0 * PI * curvature).sqrt();
        let (width, unit) = self.step.map_or((width, 1.0), |h| (width.min(1.0 / h), h));
        let groups = self.sum.outlined();
        let ln_mgf = self.rho * (c + c * c) + groups.map(|group| group.ln_mgf_approx(c)).sum::<f64>();
        ln_mgf + self.ln_kernel(c) + libm::log(unit) + libm::log(width)
    }

    /// ln of the bound on the terms that the trapezoid rule adds on one side, with the point x at which it is taken: the sum over k >= 1 is at most
    /// exp(ln_size(x) - x z) / (exp(period |x - c|) - 1).
    fn ln_alias(&self, x: f64, c: f64, period: f64) -> f64 {
        let power = period * (x - c).abs();
        let denominator = if power > 30.0 { power } else { libm::log(libm::expm1(power)) };
        self.ln_size(x) - x * self.at - self.extra() - denominator
    }

    /// The best points for both bounds: the stationary ones, kept in the strip and away from c.
    fn alias_points(&self, c: f64, period: f64) -> (f64, f64) {
        let (low, high) = self.kernel.strip();
        let stationary = |sign: f64| match self.is_plain() {
            // The root of rho (1 + 2 x) = at + sign period.
            true => (self.at + sign * period - self.rho) / (2.0 * self.rho),
            false => increasing_root(|x| self.slope(x) - self.at - sign * period, low, high, 40),
        };
        // Bounded losses shorter than the period have no stationary point: the bound falls without end, so a distant point is enough.
        let far = c + 1000.0 / self.step.unwrap_or(1.0);
        let endless = self.rho == 0.0 && self.at + period >= self.sum.offset().to_f64();
        let above = if endless { far } else { stationary(1.0) };
        let above = if above > 1e200 { far } else { above };
        let below = stationary(-1.0).max(low).min(c - (1.0 / period).min((c - low) / 2.0));
        let above = above.min(high).max(c + (1.0 / period).min((high - c) / 2.0));
        (below, above)
    }

    /// The points on both sides of c where the bounds on aliasing, which are convex, are least: also where moments explode.
    pub(crate) fn alias_points_by_moments(&self, c: f64, period: f64) -> [f64; 2] {
        let (low, high) = self.kernel.strip();
        let bound = |x: f64| {
            let ln = self.ln_alias(x, c, period);
            if ln.is_nan() { f64::INFINITY } else { ln }
        };
        let widest = |side: f64| if side.is_finite() { libm::log(side) } else { 40.0 };
        let point = |sign: f64, side: f64| {
            let away = golden_section([-40.0, widest(side)], 60, |ln| bound(c + sign * libm::exp(ln)));
            c + sign * libm::exp(away)
        };
        [point(-1.0, c - low).max(low), point(1.0, high - c).min(high)]
    }

    /// The shortest period for which they are below exp(target), to a few percent.
    pub(crate) fn period_by_moments(&self, c: f64, target: f64) -> f64 {
        let is_too_short = |ln_period: f64| {
            let period = libm::exp(ln_period);
            let [below, above] = self.alias_points_by_moments(c, period).map(|x| self.ln_alias(x, c, period));
            let ln = below.max(above) + std::f64::consts::LN_2;
            ln.is_nan() || ln > target
        };
        libm::exp(bisect([-60.0, 60.0], 14, is_too_short)[1])
    }

    fn ln_aliases(&self, c: f64, period: f64) -> f64 {
        let (below, above) = self.alias_points(c, period);
        let (p, q) = (self.ln_alias(below, c, period), self.ln_alias(above, c, period));
        p.max(q) + libm::log1p(libm::exp(-(p - q).abs()))
    }

    /// A plan whose errors are about exp(ln_share) of the answer; `ln_answer` is ln of the answer where that is known better than by the saddle point
    /// method.
    pub(crate) fn plan(&self, ln_share: f64, ln_answer: Option<f64>) -> Result<Plan> {
        let (c, period, cut) = self.measures(ln_share, ln_answer);
        self.plan_through(c, period, cut)
    }

    /// The real part of every contour of this search.
    pub(crate) fn saddle_point(&self) -> f64 {
        *self.saddle.get_or_init(|| self.saddle())
    }

    /// The period and the cut of a contour through another point, for errors of about exp(ln_share) of the answer.
    pub(crate) fn measures_through(&self, c: f64, ln_share: f64) -> (f64, f64) {
        let (_, period, cut) = self.at(c, ln_share + self.ln_estimate());
        (period, cut)
    }

    /// The main lobe of an unbounded contour through a point, with this period and cut.
    pub(crate) fn main_lobe_through(&self, c: f64, period: f64, cut: f64) -> Result<Plan> {
        self.main_lobe_on_line(c, period, cut)
    }

    /// The plan of a contour through a point, with this period and cut.
    pub(crate) fn plan_through(&self, c: f64, period: f64, cut: f64) -> Result<Plan> {
        match self.step {
            Some(step) => self.on_lattice(c, period, step, cut),
            None => self.on_line(c, period, cut),
        }
    }

    /// A plan of another request, with the bounds on aliasing taken where this request has them smallest.
    pub(crate) fn plan_with_aliases(&self, plan: &Plan) -> Plan {
        let (below, above) = self.alias_points(plan.c, plan.period.to_f64());
        Plan { below, above, ..plan.clone() }
    }

    /// The losses after which a contour repeats itself whose errors are about exp(ln_share) of the answer. It needs no sweep.
    pub(crate) fn period(&self, ln_share: f64) -> f64 {
        self.measures(ln_share, None).1
    }

    /// An approximate lower bound on the number of nodes of a whole period, for any error bounds: it is longer than the standard deviation of the
    /// losses. Quick, as no equation is solved; infinite for an unbounded contour.
    pub(crate) fn least_period_nodes(&self) -> f64 {
        const NUDGE: f64 = 1e-4;
        let variance = || (self.slope(NUDGE) - self.slope(-NUDGE)) / (2.0 * NUDGE);
        self.step.map_or(f64::INFINITY, |step| variance().max(0.0).sqrt() / step)
    }

    /// The approximate number of nodes of a whole period, for errors of exp(ln_share) of the answer; infinite for an unbounded contour. It needs no
    /// sweep.
    pub(crate) fn period_nodes(&self, ln_share: f64) -> f64 {
        self.step.map_or(f64::INFINITY, |step| self.period(ln_share) / step)
    }

    /// The plan of an unbounded contour before any side lobes, and before the sieve.
    pub(crate) fn plan_of_main_lobe(&self, ln_share: f64) -> Result<Plan> {
        let (c, period, cut) = self.measures(ln_share, None);
        self.main_lobe_on_line(c, period, cut)
    }

    /// The real part, the period and the cut for errors of about exp(ln_share) of the answer.
    fn measures(&self, ln_share: f64, ln_answer: Option<f64>) -> (f64, f64, f64) {
        self.at(self.saddle_point(), ln_answer.unwrap_or_else(|| self.ln_estimate()) + ln_share)
    }

    /// The same through c, for errors of about exp(target).
    fn at(&self, c: f64, target: f64) -> (f64, f64, f64) {
        // The shortest period whose aliases are below the target.
        let mut long = self.step.unwrap_or(1e-3);
        // On an unbounded contour no period is too short; losses may be far below a thousandth.
        while self.step.is_none() && long > 1e-300 && self.ln_aliases(c, long) <= target {
            long /= 2.0;
        }
        while self.ln_aliases(c, long) > target && long < 1e300 {
            long *= 2.0;
        }
        let long = bisect([long / 2.0, long], 12, |period| self.ln_aliases(c, period) > target)[1];
        // The approximate truncation error for a cut of zero: see `truncation_error` of the bounds.
        let ln_left_out = match (self.kernel, self.step) {
            (Kernel::HockeyStick | Kernel::Complement, _) | (_, None) => 2.0 - c * self.at,
            (_, Some(h)) => 1.0 + libm::log(PI / h) - c * self.first - self.extra(),
        };
        let cut = (self.ln_size(c) + ln_left_out - target).max(1.0);
        // Up to the end of a long period the truncation errors of a hockey stick add up to ln (N / 2 J), and those of dropped nodes to two.
        let of_period = match (self.kernel, self.step) {
            (Kernel::HockeyStick | Kernel::Complement, Some(h)) => {
                let lobes = PI / h / (cut / self.rho).sqrt();
                libm::log(2.0 + libm::log(lobes.max(1.0)))
            }
            _ => 0.0,
        };
        (c, long, cut + of_period)
    }

    fn on_lattice(&self, c: f64, period: f64, step: f64, cut: f64) -> Result<Plan> {
        let nodes = (period / step).ceil();
        if !nodes.is_finite() || nodes >= 2f64.powi(61) {
            return Err(self.unsweepable(format!("a period of {nodes:.1e} steps"), "2e18".to_string()));
        }
        let nodes = (nodes as i64) | 1;
        let period = nodes as f64 * step;
        let (below, above) = self.alias_points(c, period);
        let spacing = 2.0 * PI / period;
        let last = (nodes - 1) / 2;
        let reach = self.reach(cut, spacing);
        let Some(exact_step) = &self.exact_step else { return Err(Error::EmptyComposition) };
        let exact = Rational::from(exact_step * nodes);
        let mut plan = Plan {
            c,
            exact_c: rational::from_f64(c)?,
            period: exact,
            nodes: Some(nodes),
            lobes: vec![(0, last)],
            below,
            above,
            cut,
            decay: if matches!(self.kernel, Kernel::UpperTail | Kernel::TiltedTail) { 1 } else { 2 },
            dropped: 0.0,
            last,
            exhausted: false,
            beyond: 1.0,
            far: self.far,
        };
        if reach * 1.25 + 16.0 >= last as f64 {
            plan.cut = f64::INFINITY;
            return if last > MOST_NODES { Err(self.too_many(last)) } else { Ok(plan) };
        }
        plan.lobes = vec![(0, reach as i64)];
        let plan = self.sieve.also_sieved(plan, self.most_on_line, self.budget)?;
        if plan.last < last {
            let needed = format!("more windows up to height {:.1e}", last as f64 * spacing);
            return Err(self.unsweepable(needed, format!("{} windows", self.budget)));
        }
        Ok(plan)
    }

    fn on_line(&self, c: f64, period: f64, cut: f64) -> Result<Plan> {
        self.sieve.also_sieved(self.main_lobe_on_line(c, period, cut)?, self.most_on_line, self.budget)
    }

    fn main_lobe_on_line(&self, c: f64, period: f64, cut: f64) -> Result<Plan> {
        // Rounded up to few bits, so that the angles are fractions of moderate denominators.
        let period = few_bits(period) * (1.0 + 2f64.powi(-11));
        let period = few_bits(period);
        let (below, above) = self.alias_points(c, period);
        let spacing = 2.0 * PI / period;
        let reach = self.reach(cut, spacing);
        if reach > MOST_NODES as f64 {
            return Err(self.too_many(reach as i64));
        }
        let reach = reach as i64;
        let plan = Plan {
            c,
            exact_c: rational::from_f64(c)?,
            period: rational::from_f64(period)?,
            nodes: None,
            lobes: vec![(0, reach)],
            below,
            above,
            cut,
            decay: 2,
            dropped: 0.0,
            last: reach,
            exhausted: false,
            beyond: 1.0,
            far: self.far,
        };
        Ok(plan)
    }

    /// The node at which the main lobe has decayed to the cut.
    fn reach(&self, cut: f64, spacing: f64) -> f64 {
        ((cut / self.rho).sqrt() / spacing).ceil().max(1.0).min(2f64.powi(61))
    }

    fn too_many(&self, nodes: i64) -> Error {
        self.unsweepable(format!("{nodes} nodes"), format!("{MOST_NODES} nodes"))
    }

    fn unsweepable(&self, needed: String, budget: String) -> Error {
        unsweepable(self.step, needed, budget)
    }
}

/// The root of an increasing function in (low, high), an end where there is none: after widening, to the precision of this number of rounds of
/// bisection. Rounds of bisection alternate with two of regula falsi, where an end that stays twice has its value halved.
fn increasing_root(f: impl Fn(f64) -> f64, low: f64, high: f64, rounds: u32) -> f64 {
    let (mut left, mut right) = (low, if high.is_finite() { high } else { low + 1.0 });
    let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
    while high.is_infinite() && right < 1e300 {
        let value = f(right);
        if value >= 0.0 || value.is_nan() {
            above = value;
            break;
        }
        (left, below) = (right, value);
        right = low + (right - low) * 2.0;
    }
    let enough = (right - left) * 2f64.powi(-(rounds as i32));
    for round in 0..rounds {
        if right - left <= enough {
            break;
        }
        let middle = left + (right - left) / 2.0;
        let chord = left - below * ((right - left) / (above - below));
        // Two steps away from the last end, so that the other end moves as well.
        let chord = if -below < above { chord + enough / 2.0 } else { chord - enough / 2.0 };
        let at = if round % 3 > 0 && left < chord && chord < right { chord } else { middle };
        let value = f(at);
        if value < 0.0 {
            (left, below) = (at, value);
            above /= 2.0;
        } else {
            (right, above) = (at, value);
            below /= 2.0;
        }
    }
    right
}

/// The number rounded to a mantissa of 12 bits: exact products with it stay short.
pub(super) fn few_bits(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1_u64 << 40) - 1))
}

#[cfg(test)]
mod tests {
    use super::increasing_root;

    /// Smooth functions, one with poles at both ends, a staircase, and functions without a root.
    #[test]
    fn roots_of_increasing_functions_are_found() {
        type Function = fn(f64) -> f64;
        let functions: [(Function, f64, f64, f64); 6] = [
            (|x| 3.0 * x - 1.0, 0.0, f64::INFINITY, 1.0 / 3.0),
            (|x| x * x * x - 1e9, 0.0, f64::INFINITY, 1000.0),
            (|x| 1e6 * (1.0 + 2.0 * x) - 1e6 - 1.0 / x, 0.0, f64::INFINITY, 0.5e-6_f64.sqrt()),
            (|x| -1.0 / x - 1.0 / (x + 1.0), -1.0, 0.0, -0.5),
            (|x| (10.0 * x).floor() - 6.5 + 1e-3 * x, 0.0, 1.0, 0.7),
            (|x| -1.0 / (x + 1e-3), 0.0, 1.0, 1.0),
        ];
        for (f, low, high, root) in functions {
            let evaluations = std::cell::Cell::new(0);
            let counted = |x: f64| {
                evaluations.set(evaluations.get() + 1);
                f(x)
            };
            let found = increasing_root(counted, low, high, 48);
            assert!((found - root).abs() <= 1e-11 * root.abs().max(1e-3), "{found} {root}");
            assert!(evaluations.get() <= 64, "{}", evaluations.get());
        }
        assert!(increasing_root(|_| -1.0, 0.0, f64::INFINITY, 48) > 1e299);
    }
}
