//! The choice of a contour: its real part, its spacing, how far it goes and which windows survive beyond.
//!
//! Everything here is searched in doubles. None of it needs a proof but the sieve's, which keeps its own margins: every
//! real part, spacing and height gives a true enclosure, because [`contour`](super::contour) bounds what each choice
//! leaves out. A bad choice costs time only.

use std::f64::consts::PI;

use rug::Rational;

use super::{
    contour::{Kernel, Question},
    rational,
    sieve::{self, Survivor},
    sum::{Law, LossSum},
    theta,
};
use crate::error::{Error, Result};

/// How many nodes a sum may have before the question is refused.
const MOST_NODES: i64 = 2_000_000;

/// How many nodes of surviving windows are summed on the line: a second's worth.
const MOST_ON_LINE: usize = 10_000;

/// The half period of a lattice up to which a sweep is not worth remembering.
const SHORT: f64 = 1e5;

/// How many are looked at.
const MOST_CANDIDATES: i64 = 50_000;

/// The contour and the nodes on it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The real part, a dyadic number of few bits.
    pub c: f64,
    /// The losses after which the rule repeats itself: the heights are 2 pi j / period. On a lattice a multiple of h.
    pub period: Rational,
    /// The number N of nodes of one period of the integrand on a lattice, odd where the sum is alone; nothing on the
    /// line. The node N / 2 of an even N is its own conjugate.
    pub nodes: Option<i64>,
    /// Ranges of nodes j >= 0 that are summed, both ends included; the first starts at 0. Negative nodes are their
    /// conjugates.
    pub lobes: Vec<(i64, i64)>,
    /// Where the bound for the term below c, and for the one above, is taken.
    pub below: f64,
    pub above: f64,
    /// Nodes j left out of the lobes, up to `last`, have |product of the factors| <= exp(-cut) j / reach, where
    /// `reach` is the end of the first lobe; infinite where none is left out.
    pub cut: f64,
    /// What of the kernel falls with the height: 1/j^2 for hockey sticks and on the line, 1/j for tails on a lattice.
    pub decay: i32,
    /// Nodes dropped beside those below the cut: an upper bound for the sum of |product of the factors| / j^decay.
    pub dropped: f64,
    /// The last node that the sieve covers.
    pub last: i64,
    /// Beyond it, on the line, the sum of |product of the factors| / j^2 is at most beyond / last.
    pub beyond: f64,
    /// How far up the sweep goes at most, as a multiple of the height of the main lobe: all that is needed, or less where
    /// no proof is asked for.
    pub far: f64,
    /// Whether the sieve stopped at its budget: more digits are not to be had on the line.
    pub spent: bool,
}

impl Plan {
    /// How many nodes are summed.
    pub(crate) fn evaluated(&self) -> i64 {
        self.lobes.iter().map(|(from, to)| to - from + 1).sum()
    }

    /// The nodes j >= 0 that are summed.
    pub(crate) fn summed(&self) -> impl Iterator<Item = i64> {
        self.lobes.iter().flat_map(|&(from, to)| from..=to)
    }

    /// Of nodes beyond the first lobe, each with a bound for ln |product of the factors|, sums those that matter: the
    /// others are dropped while their bounds add up to no more than what the cut leaves out anyway, and so is what is
    /// beyond `last` or more than `most`.
    pub(crate) fn keep(&mut self, candidates: Vec<(i64, f64)>, most: usize) {
        let weight = |(node, ln_bound): (i64, f64)| (ln_bound - f64::from(self.decay) * (node as f64).ln()).exp();
        let mut nodes: Vec<(f64, i64)> = (candidates.into_iter().filter(|(node, _)| *node <= self.last))
            .map(|candidate| (weight(candidate) * (1.0 + 1e-9), candidate.0))
            .collect();
        nodes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let left_out = self.left_out(self.last);
        let surplus = nodes.len().saturating_sub(most);
        let mut dropped = 0.0;
        let mut kept = 0;
        while kept < nodes.len() && (kept < surplus || dropped + nodes[kept].0 <= left_out) {
            dropped += nodes[kept].0;
            kept += 1;
        }
        // Fewer than 2^53 terms: the roundings of their sum are a 10^-6th part at most.
        self.dropped += dropped * (1.0 + 1e-6);
        self.spent |= dropped > left_out;
        let mut nodes: Vec<i64> = nodes[kept..].iter().map(|(_, node)| *node).collect();
        nodes.sort_unstable();
        for node in nodes {
            match self.lobes.last_mut() {
                // The first lobe keeps its end, which the bounds refer to.
                Some(lobe) if lobe.0 > 0 && lobe.1 + 1 == node => lobe.1 = node,
                _ => self.lobes.push((node, node)),
            }
        }
    }

    /// About the sum of |product of the factors| / j^decay that the cut leaves out anyway.
    fn left_out(&self, last: i64) -> f64 {
        (-self.cut).exp() / self.lobes[0].1 as f64 * if self.decay == 2 { 1.0 } else { last as f64 }
    }

    /// What the rule divides by: the number of nodes on a lattice, the period on the line.
    pub(crate) fn divisor(&self) -> Rational {
        self.nodes.map_or_else(|| self.period.clone(), Rational::from)
    }

    /// The same contour and cut with another period, on a lattice whose step divides it. Nothing where the main lobe
    /// would nearly fill the period.
    pub(crate) fn on_lattice(&self, period: &Rational, step: &Rational, rho: f64) -> Option<Plan> {
        let nodes = Rational::from(period / step);
        let nodes = (*nodes.denom() == 1).then(|| nodes.numer().to_i64()).flatten().filter(|nodes| *nodes < 1 << 61)?;
        let plan = Plan { nodes: Some(nodes), ..self.with_period(period, rho) };
        (plan.last as f64 * 1.25 + 16.0 < nodes as f64 / 2.0).then_some(plan)
    }

    /// The same contour and cut with another period, before any side lobes.
    pub(crate) fn with_period(&self, period: &Rational, rho: f64) -> Plan {
        let reach = ((self.cut / rho).sqrt() * period.to_f64() / (2.0 * PI)).ceil().max(1.0) as i64;
        Plan { period: period.clone(), lobes: vec![(0, reach)], last: reach, ..self.clone() }
    }

    /// Im s at a node, approximately.
    pub(crate) fn height(&self, node: i64) -> f64 {
        2.0 * PI * node as f64 / self.period.to_f64()
    }
}

/// What the plan needs to know of the sum and the question, in doubles.
pub(crate) struct Sketch<'a> {
    sum: &'a LossSum,
    kernel: Kernel,
    /// Whether some losses are bounded, so that the bound for M is not a Gaussian's alone.
    bounded: bool,
    rho: f64,
    /// The lattice step, where the lattice kernel is asked for.
    step: Option<f64>,
    exact_step: Option<Rational>,
    /// The threshold z of the question.
    at: f64,
    /// The first lattice value that counts.
    first: f64,
    /// first - threshold, in (0, h].
    gap: f64,
    /// See [`Plan::far`].
    far: f64,
}

impl<'a> Sketch<'a> {
    pub(crate) fn new(sum: &'a LossSum, question: &Question) -> Self {
        Sketch {
            sum,
            kernel: question.kernel,
            bounded: sum.groups().iter().any(|group| matches!(group.law, Law::DiscreteLaplace { .. })),
            rho: sum.rho().to_f64(),
            step: question.step.as_ref().map(Rational::to_f64),
            exact_step: question.step.clone(),
            at: question.threshold.to_f64(),
            first: question.first.to_f64(),
            gap: question.gap.to_f64(),
            far: f64::INFINITY,
        }
    }

    /// For an approximation: on the line only the nearest side lobes are looked for.
    pub(crate) fn unproven(self) -> Self {
        Sketch { far: 1e4, ..self }
    }

    /// The derivative of ln of the bound exp(rho (x + x^2)) prod m(x) for M(x): increasing in x.
    fn slope(&self, x: f64) -> f64 {
        if !self.bounded {
            return self.rho * (1.0 + 2.0 * x);
        }
        let bounded: f64 = self.sum.groups().iter().map(|group| theta::ln_bounded_mgf_approx(group, x).1).sum();
        self.rho * (1.0 + 2.0 * x) + bounded
    }

    /// ln of that bound.
    fn ln_bound(&self, x: f64) -> f64 {
        if !self.bounded {
            return self.rho * (x + x * x);
        }
        let bounded: f64 = self.sum.groups().iter().map(|group| theta::ln_bounded_mgf_approx(group, x).0).sum();
        self.rho * (x + x * x) + bounded
    }

    /// The saddle point of M(s) kappa(s) on the real axis, thetas neglected: the root of an increasing function in
    /// the strip in which the kernel converges.
    pub(crate) fn saddle(&self) -> f64 {
        let (low, high) = self.kernel.strip();
        let slope = |c: f64| self.slope(c) + self.kernel_slope(c);
        let c = few_bits(increasing_root(slope, low, high, 48));
        match self.kernel {
            Kernel::Complement => c.clamp(-0.9999, -0.0001),
            _ => c.max(low + f64::MIN_POSITIVE.sqrt()),
        }
    }

    /// The derivative of ln of |kappa(c)|: minus the threshold and the poles, which on a lattice repeat.
    fn kernel_slope(&self, c: f64) -> f64 {
        let (Some(h), both) = (self.step, matches!(self.kernel, Kernel::HockeyStick | Kernel::Complement)) else {
            return -self.at - 1.0 / c - 1.0 / (c + 1.0);
        };
        let pole = |c: f64| h / (c * h).exp_m1();
        if both {
            let n1 = -(-self.gap).exp_m1();
            let n2 = -(-self.gap - c * h).exp() * (self.gap - h).exp_m1();
            let numerator = if n2.is_finite() { n2 / (n1 + n2) } else { 1.0 };
            return -self.first - pole(c) - pole(c + 1.0) - h * numerator;
        }
        -self.first - if self.kernel == Kernel::UpperTail { pole(c) } else { pole(c + 1.0) }
    }

    /// ln of |kappa(c)| / h, or of |kappa(c)| on the line.
    fn ln_kernel(&self, c: f64) -> f64 {
        let Some(h) = self.step else { return -c * self.at - (c * (c + 1.0)).abs().ln() };
        let bracket = match self.kernel {
            Kernel::HockeyStick | Kernel::Complement => {
                let numerator = -(-self.gap).exp_m1() - (-self.gap - c * h).exp() * (self.gap - h).exp_m1();
                numerator / ((-c * h).exp_m1() * (-(c + 1.0) * h).exp_m1())
            }
            Kernel::UpperTail => -1.0 / (-c * h).exp_m1(),
            Kernel::TiltedTail => -1.0 / (-(c + 1.0) * h).exp_m1(),
        };
        bracket.abs().ln() - c * self.first - self.extra()
    }

    /// The tilted tail carries a factor exp(-first) from exp(-L).
    fn extra(&self) -> f64 {
        if self.kernel == Kernel::TiltedTail { self.first } else { 0.0 }
    }

    /// ln of the answer by the saddle point method.
    pub(crate) fn ln_estimate(&self) -> f64 {
        self.ln_answer(self.saddle())
    }

    /// ln of the answer by the saddle point method at c, thetas included in the size of M but not in its curvature.
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
        let groups = self.sum.groups().iter();
        let ln_mgf = self.rho * (c + c * c) + groups.map(|group| theta::ln_mgf_approx(group, c)).sum::<f64>();
        ln_mgf + self.ln_kernel(c) + unit.ln() + width.ln()
    }

    /// ln of the bound for the terms that the trapezoid rule adds on one side, with the point x at which it is taken:
    /// the sum over k >= 1 is at most exp(ln_bound(x) - x z) / (exp(period |x - c|) - 1).
    fn ln_alias(&self, x: f64, c: f64, period: f64) -> f64 {
        let power = period * (x - c).abs();
        let denominator = if power > 30.0 { power } else { power.exp_m1().ln() };
        self.ln_bound(x) - x * self.at - self.extra() - denominator
    }

    /// The best points for both bounds: the stationary ones, kept in the strip and away from c.
    fn alias_points(&self, c: f64, period: f64) -> (f64, f64) {
        let (low, high) = self.kernel.strip();
        let stationary = |sign: f64| match self.bounded {
            // The root of rho (1 + 2 x) = at + sign period.
            false => (self.at + sign * period - self.rho) / (2.0 * self.rho),
            true => increasing_root(|x| self.slope(x) - self.at - sign * period, low, high, 40),
        };
        // Bounded losses shorter than the period have no stationary point: the bound falls for ever, so far is enough.
        let far = c + 1000.0 / self.step.unwrap_or(1.0);
        let above = stationary(1.0);
        let above = if above > 1e200 { far } else { above };
        let below = stationary(-1.0).max(low).min(c - (1.0 / period).min((c - low) / 2.0));
        let above = above.min(high).max(c + (1.0 / period).min((high - c) / 2.0));
        (below, above)
    }

    fn ln_aliases(&self, c: f64, period: f64) -> f64 {
        let (below, above) = self.alias_points(c, period);
        let (p, q) = (self.ln_alias(below, c, period), self.ln_alias(above, c, period));
        p.max(q) + (-(p - q).abs()).exp().ln_1p()
    }

    /// A plan whose errors are about exp(ln_share) of the answer; `ln_answer` is the answer where it is known better
    /// than by the saddle point method.
    pub(crate) fn plan(&self, ln_share: f64, ln_answer: Option<f64>) -> Result<Plan> {
        let (c, period, cut) = self.measures(ln_share, ln_answer);
        match self.step {
            Some(step) => self.on_lattice(c, period, step, cut),
            None => self.on_line(c, period, cut),
        }
    }

    /// The plan on the line before any side lobes, and before the sieve.
    pub(crate) fn plan_of_main_lobe(&self, ln_share: f64) -> Result<Plan> {
        let (c, period, cut) = self.measures(ln_share, None);
        self.main_lobe_on_line(c, period, cut)
    }

    /// The real part, the period and the cut for errors of about exp(ln_share) of the answer.
    fn measures(&self, ln_share: f64, ln_answer: Option<f64>) -> (f64, f64, f64) {
        let c = self.saddle();
        let target = ln_answer.unwrap_or_else(|| self.ln_answer(c)) + ln_share;
        // The shortest period whose aliases are below the target.
        let mut long = self.step.unwrap_or(1e-3);
        while self.ln_aliases(c, long) > target && long < 1e300 {
            long *= 2.0;
        }
        let mut short = long / 2.0;
        for _ in 0..12 {
            let middle = (short + long) / 2.0;
            if self.ln_aliases(c, middle) > target {
                short = middle;
            } else {
                long = middle;
            }
        }
        // The size of what is left out for a cut of zero, more or less: see `truncation_error` of the bounds.
        let ln_left_out = match (self.kernel, self.step) {
            (Kernel::HockeyStick | Kernel::Complement, _) | (_, None) => 2.0 - c * self.at,
            (_, Some(h)) => 1.0 + (PI / h).ln() - c * self.first - self.extra(),
        };
        (c, long, (self.ln_bound(c) + ln_left_out - target).max(1.0))
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
            period: exact,
            nodes: Some(nodes),
            lobes: vec![(0, last)],
            below,
            above,
            cut,
            decay: if matches!(self.kernel, Kernel::UpperTail | Kernel::TiltedTail) { 1 } else { 2 },
            dropped: 0.0,
            last,
            spent: false,
            beyond: 1.0,
            far: self.far,
        };
        if reach * 1.25 + 16.0 >= last as f64 {
            plan.cut = f64::INFINITY;
            return if last > MOST_NODES { Err(self.too_many(last)) } else { Ok(plan) };
        }
        plan.lobes = vec![(0, reach as i64)];
        let plan = self.sum.also_sieved(plan, MOST_ON_LINE)?;
        if plan.last < last {
            let needed = format!("more windows up to height {:.1e}", last as f64 * spacing);
            return Err(self.unsweepable(needed, format!("{} windows", sieve::BUDGET)));
        }
        Ok(plan)
    }

    fn on_line(&self, c: f64, period: f64, cut: f64) -> Result<Plan> {
        self.sum.also_sieved(self.main_lobe_on_line(c, period, cut)?, MOST_ON_LINE)
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
        let exact = rational::from_f64(period);
        let plan = Plan {
            c,
            period: exact,
            nodes: None,
            lobes: vec![(0, reach)],
            below,
            above,
            cut,
            decay: 2,
            dropped: 0.0,
            last: reach,
            spent: false,
            beyond: 1.0,
            far: self.far,
        };
        Ok(plan)
    }

    /// The node at which the main lobe has fallen to the cut.
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

fn unsweepable(step: Option<f64>, needed: String, budget: String) -> Error {
    Error::Unsweepable { step: step.map_or("0".to_string(), |step| format!("{step:.3e}")), needed, budget }
}

impl LossSum {
    /// The plan with the lobes of this sum that survive beyond its first lobe, and with the height up to which the
    /// sieve of this sum came. On the line at most `most_on_line` of their nodes are summed.
    pub(crate) fn also_sieved(&self, mut plan: Plan, most_on_line: usize) -> Result<Plan> {
        if plan.cut.is_infinite() {
            return Ok(plan);
        }
        let most = if plan.nodes.is_some() { MOST_NODES } else { MOST_CANDIDATES };
        let survivors = self.survivors(&mut plan, most, sieve::BUDGET)?;
        let bound = self.ln_bounds();
        let height = plan.height(1);
        let candidates =
            survivors.into_iter().flat_map(|(from, to)| from..=to).map(|node| (node, bound(node as f64 * height)));
        let most = if plan.nodes.is_some() { usize::MAX } else { most_on_line };
        plan.keep(candidates.collect(), most);
        if plan.nodes.is_none() {
            plan.beyond = self.beyond(height, plan.last as f64);
        }
        Ok(plan)
    }

    /// The ranges of nodes beyond the first lobe that this sum's sieve cannot rule out, up to where it came, which
    /// becomes the plan's `last`. At most about `most` of them on the line; more are refused on a lattice.
    pub(crate) fn survivors(&self, plan: &mut Plan, most: i64, budget: u64) -> Result<Vec<(i64, i64)>> {
        let reach = plan.lobes[0].1;
        let spacing = plan.height(1);
        let start = reach as f64 * spacing;
        let (end, top) = match plan.nodes {
            Some(nodes) => (nodes / 2, nodes as f64 / 2.0 * spacing * (1.0 + 1e-12)),
            // Where all that is beyond adds no more than what the cut leaves out.
            None => (1 << 61, (start * plan.cut.min(600.0).exp() * self.beyond(spacing, 1e18)).min(start * plan.far)),
        };
        // On the line other questions will go further.
        let ahead = if plan.nodes.is_some() { top } else { 4.0 * top };
        let swept = match plan.nodes {
            // Quickly swept: the answer depends on the question alone, and not on what was asked before.
            Some(_) if ahead < SHORT => self.sweep((start, ahead), plan.cut, 2.0 * spacing, budget),
            _ => self.swept((start, ahead), plan.cut, 2.0 * spacing, budget),
        };
        // An approximation stays near, however far another question made the sweep go.
        let reached = if plan.far.is_finite() { swept.reached.min(top) } else { swept.reached };
        let covered = reached / spacing * (1.0 - 2f64.powi(-40)) - 1.0;
        let mut spent = swept.reached < top;
        let complete = plan.nodes.is_some() && !spent;
        let last = if complete { end } else { (covered.max(reach as f64) as i64).min(end) };
        // The same share that `truncation_error` of the bounds has for the cut.
        let left_out = plan.left_out(last);
        let range = |part: &Survivor| {
            // More nodes on each side than the interval holds, for the roundings of its ends and of the quotients.
            let margin = 1.0 + part.to / spacing * 2f64.powi(-48);
            let from = ((part.from / spacing - margin).floor() as i64).max(reach + 1);
            (from, ((part.to / spacing + margin).ceil() as i64).min(last))
        };
        // Those that weigh most, until the rest may be left out.
        let (mut needed, mut enough) = (0, swept.survivors.len());
        while needed < enough {
            let middle = needed.midpoint(enough);
            if swept.weight_from(middle, spacing, plan.decay) > left_out {
                needed = middle + 1;
            } else {
                enough = middle;
            }
        }
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        let (mut count, mut taken) = (0, 0);
        for part in &swept.survivors[..needed] {
            let (from, to) = range(part);
            let nodes = (to - from + 1).max(0);
            if plan.nodes.is_some() && count + nodes > most {
                let step = self.step().map(Rational::to_f64);
                return Err(unsweepable(step, format!("{} nodes", count + nodes), format!("{most} nodes")));
            }
            if count + nodes > most {
                spent = true;
                break;
            }
            taken += 1;
            if nodes > 0 && part.matters(start, plan.cut) {
                count += nodes;
                ranges.push((from, to));
            }
        }
        plan.dropped += swept.weight_from(taken, spacing, plan.decay);
        ranges.sort_unstable();
        // Each node once.
        let mut after = reach;
        for range in &mut ranges {
            range.0 = range.0.max(after + 1);
            after = after.max(range.1);
        }
        ranges.retain(|(from, to)| from <= to);
        plan.last = last;
        plan.spent |= spent;
        Ok(ranges)
    }
}

/// The root of an increasing function in (low, high), by widening and bisection; an end where there is none.
fn increasing_root(f: impl Fn(f64) -> f64, low: f64, high: f64, rounds: u32) -> f64 {
    let (mut left, mut right) = (low, if high.is_finite() { high } else { low + 1.0 });
    while high.is_infinite() && f(right) < 0.0 && right < 1e300 {
        left = right;
        right = low + (right - low) * 2.0;
    }
    for _ in 0..rounds {
        let middle = left + (right - left) / 2.0;
        if f(middle) < 0.0 {
            left = middle;
        } else {
            right = middle;
        }
    }
    right
}

/// The number rounded to a mantissa of 12 bits: exact products with it stay short.
fn few_bits(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1_u64 << 40) - 1))
}
