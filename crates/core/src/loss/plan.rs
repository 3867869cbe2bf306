//! A contour and the nodes that are summed on it: the main lobe, and the windows that survive beyond.
//!
//! [`contour`](super::contour) bounds the truncation error from the fields of the plan; the sieve that finds the windows keeps its own margins.

use std::f64::consts::PI;

use rayon::prelude::*;
use rug::Rational;

use super::engine::machine;
use super::{
    sieve::{SumSieve, Target},
    survivors::{Survivor, Swept},
};
use crate::{
    error::{Error, Result},
    numeric::effort::{self, Effort},
};

/// The largest number of nodes of a sum; a request that needs more is refused.
pub(super) const MOST_NODES: i64 = 2_000_000;

/// The largest number of nodes of surviving windows on an unbounded contour: a second's worth.
pub(super) const MOST_ON_LINE: usize = 10_000;

/// The half period of a lattice up to which a sweep is not worth keeping.
const SHORT: f64 = 1e5;

/// One processor examines at least this many nodes.
const PART: usize = 1_000;

/// The number of nodes examined, as a multiple of those to be found.
const CANDIDATES: i64 = 5;

/// The contour and the nodes on it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The real part, a dyadic number of few bits.
    pub c: f64,
    /// The same, exactly.
    pub exact_c: Rational,
    /// The losses after which the rule repeats itself: the heights are 2 pi j / period. On a lattice a multiple of h.
    pub period: Rational,
    /// The number N of nodes of one period of the integrand on a lattice, odd for a single sum; `None` on an unbounded contour. The node N / 2 of an
    /// even N is its own conjugate.
    pub nodes: Option<i64>,
    /// Ranges of nodes j >= 0 that are summed, both ends included; the first starts at 0. Negative nodes are their
    /// conjugates.
    pub lobes: Vec<(i64, i64)>,
    /// The points where the bounds for the terms below c and above c are taken.
    pub below: f64,
    pub above: f64,
    /// Nodes j outside of the lobes, up to `last`, have |product of the factors| <= exp(-cut) j / reach, where `reach` is the end of the first lobe;
    /// infinite where no node is omitted.
    pub cut: f64,
    /// The decay of the kernel with the height: 1/j^2 for hockey sticks and on an unbounded contour, 1/j for tails on a lattice.
    pub decay: i32,
    /// Upper bound on the sum of |product of the factors| / j^decay over the nodes that were dropped in addition to those below the cut, in units of
    /// exp(-cut).
    pub dropped: f64,
    /// The last node that the sieve covers.
    pub last: i64,
    /// Beyond it, on an unbounded contour, the sum of |product of the factors| / j^2 is at most beyond / last.
    pub beyond: f64,
    /// The largest height of the sweep, as a multiple of the height of the main lobe: all that is needed, or less where no proof is requested.
    pub far: f64,
    /// Whether the sieve stopped at its budget: then an unbounded contour gives no more digits.
    pub exhausted: bool,
}

impl Plan {
    /// The number of nodes that are summed.
    pub(crate) fn evaluated(&self) -> i64 {
        self.lobes.iter().map(|(from, to)| to - from + 1).sum()
    }

    /// The nodes j >= 0 that are summed.
    pub(crate) fn summed(&self) -> impl Iterator<Item = i64> {
        self.lobes.iter().flat_map(|&(from, to)| from..=to)
    }

    /// Of nodes beyond the first lobe, each with an upper bound on ln |product of the factors|, sums those that matter: the others are dropped while
    /// their bounds add up to no more than the truncation error of the cut, and so are nodes beyond `last` or beyond the heaviest `most`.
    pub(crate) fn keep(&mut self, candidates: Vec<(i64, f64)>, most: usize) {
        // In units of exp(-cut), so that a product far below the smallest double keeps its weight.
        let weight = |(node, ln_bound): (i64, f64)| {
            libm::exp(ln_bound + self.cut - f64::from(self.decay) * libm::log(node as f64))
        };
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
        // Fewer than 2^53 terms: the rounding errors of their sum are at most a 10^-6th part.
        self.dropped += dropped * (1.0 + 1e-6);
        self.exhausted |= dropped > left_out;
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

    /// The approximate sum of |product of the factors| / j^decay that the cut omits anyway, in units of exp(-cut).
    fn left_out(&self, last: i64) -> f64 {
        if self.decay == 2 { 1.0 / self.lobes[0].1 as f64 } else { last as f64 / self.lobes[0].1 as f64 }
    }

    /// The divisor of the rule: the number of nodes on a lattice, the period on an unbounded contour.
    pub(crate) fn divisor(&self) -> Rational {
        self.nodes.map_or_else(|| self.period.clone(), Rational::from)
    }

    /// The same contour and cut with another period, on a lattice whose step divides it. `None` where the main lobe would nearly fill the period.
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

    /// The refusal of a sweep that would take more than its budget.
    pub(crate) fn unsweepable(&self, needed: String, budget: String) -> Error {
        unsweepable(self.nodes.map(|nodes| Rational::from(&self.period / nodes).to_f64()), needed, budget)
    }

    /// Im s at a node, approximately.
    pub(crate) fn height(&self, node: i64) -> f64 {
        2.0 * PI * node as f64 / self.period.to_f64()
    }
}

/// The refusal of a sweep on a lattice of the given step, or on an unbounded contour.
pub(super) fn unsweepable(step: Option<f64>, needed: String, budget: String) -> Error {
    Error::Unsweepable { step: step.map_or("0".to_string(), |step| format!("{step:.3e}")), needed, budget }
}

impl SumSieve {
    /// The plan with the lobes of this sum that survive beyond its first lobe, and with the height that the sieve reached, after at most `budget`
    /// windows, and nodes on a lattice. On an unbounded contour at most `most_on_line` of their nodes are summed.
    pub(crate) fn also_sieved(&self, mut plan: Plan, most_on_line: usize, budget: u64) -> Result<Plan> {
        if plan.cut.is_infinite() {
            return Ok(plan);
        }
        // To examine a node takes about as long as to examine a window.
        let most = if plan.nodes.is_some() { MOST_NODES.min(budget as i64) } else { most_on_line as i64 * CANDIDATES };
        let survivors = self.survivors(&mut plan, most, budget)?;
        let height = plan.height(1);
        let nodes: Vec<i64> = survivors.into_iter().flat_map(|(from, to)| from..=to).collect();
        effort::spend(Effort::of_steps(nodes.len() as f64, machine::PER_WINDOW));
        let bounded = nodes.par_iter().with_min_len(PART).map(|&node| (node, self.ln_bound(node as f64 * height)));
        let candidates = bounded.collect();
        plan.keep(candidates, if plan.nodes.is_some() { usize::MAX } else { most_on_line });
        if plan.nodes.is_none() {
            plan.beyond = self.beyond(height, plan.last as f64);
        }
        Ok(plan)
    }

    /// The height beyond which all nodes add no more than the truncation error of the cut, to a few percent.
    fn enough(&self, start: f64, spacing: f64, cut: f64) -> f64 {
        // The weight of all nodes beyond a height decreases with the height.
        let suffices =
            |height: f64| start * libm::exp(cut.min(600.0)) * self.beyond(spacing, height / spacing) <= height;
        let (mut low, mut high) = (start, (start * 2f64.powi(900)).min(f64::MAX));
        while high / low > 1.05 {
            let middle = low.sqrt() * high.sqrt();
            if suffices(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// The ranges of nodes beyond the first lobe that this sum's sieve cannot rule out, up to the height that it reached, which becomes the plan's
    /// `last`. At most about `most` of them on an unbounded contour; more are refused on a lattice.
    pub(crate) fn survivors(&self, plan: &mut Plan, most: i64, budget: u64) -> Result<Vec<(i64, i64)>> {
        let reach = plan.lobes[0].1;
        let spacing = plan.height(1);
        let start = reach as f64 * spacing;
        let (end, top) = match plan.nodes {
            Some(nodes) => (nodes / 2, nodes as f64 / 2.0 * spacing * (1.0 + 1e-12)),
            None => (1 << 61, self.enough(start, spacing, plan.cut).min(start * plan.far)),
        };
        let target = Target { from: start, to: top, cut: plan.cut, resolution: 2.0 * spacing, budget };
        let swept = match plan.nodes {
            Some(_) if top < SHORT => self.sweep(&target),
            // The same end for every request on the lattice, although its half period is rounded differently.
            Some(_) => self.remembered_sweep(&target, half_period(plan) * (1.0 + 1e-9)),
            None => self.remembered_sweep(&target, f64::INFINITY),
        };
        effort::spend(Effort::of_steps(swept.windows as f64, machine::PER_WINDOW));
        // An approximation does not go further up.
        let reached = if plan.far.is_finite() { swept.reached.min(top) } else { swept.reached };
        let covered = reached / spacing * (1.0 - 2f64.powi(-40)) - 1.0;
        let mut exhausted = swept.reached < top;
        let complete = plan.nodes.is_some() && !exhausted;
        let last = if complete { end } else { (covered.max(reach as f64) as i64).min(end) };
        let (taken, weight) = heaviest(&swept, plan, spacing, last);
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        let (mut count, mut used) = (0, taken);
        for (index, part) in swept.survivors[..taken].iter().enumerate() {
            let (from, to) = nodes_of(part, spacing, (reach + 1, last));
            let nodes = (to - from + 1).max(0);
            if count + nodes > most {
                if plan.nodes.is_some() {
                    return Err(plan.unsweepable(format!("{} nodes", count + nodes), format!("{most} nodes")));
                }
                (exhausted, used) = (true, index);
                break;
            }
            if nodes > 0 && part.matters(start, plan.cut) {
                count += nodes;
                ranges.push((from, to));
            }
        }
        plan.dropped += if used == taken { weight } else { swept.weight_from(used, spacing, plan.decay, plan.cut) };
        plan.last = last;
        plan.exhausted |= exhausted;
        Ok(each_once(ranges, reach))
    }
}

/// Half the period of a lattice in Im s: pi / h.
fn half_period(plan: &Plan) -> f64 {
    plan.nodes.map_or(f64::INFINITY, |nodes| PI / Rational::from(&plan.period / nodes).to_f64())
}

/// The number of survivors, the heaviest first, that have to be summed so that the remaining ones weigh no more than the truncation error of the cut;
/// and the weight of the remaining ones. The share is that of `truncation_error` of the bounds.
fn heaviest(swept: &Swept, plan: &Plan, spacing: f64, last: i64) -> (usize, f64) {
    let left_out = plan.left_out(last);
    let weight_from = |index: usize| swept.weight_from(index, spacing, plan.decay, plan.cut);
    let (mut needed, mut enough) = (0, swept.survivors.len());
    while needed < enough {
        let middle = needed.midpoint(enough);
        if weight_from(middle) > left_out {
            needed = middle + 1;
        } else {
            enough = middle;
        }
    }
    (needed, weight_from(needed))
}

/// The nodes of an interval of heights, and more on each side for the rounding errors of its ends and of the quotients.
fn nodes_of(part: &Survivor, spacing: f64, (first, last): (i64, i64)) -> (i64, i64) {
    let margin = 1.0 + part.to / spacing * 2f64.powi(-48);
    let from = ((part.from / spacing - margin).floor() as i64).max(first);
    (from, ((part.to / spacing + margin).ceil() as i64).min(last))
}

/// The ranges in order, each node once and none up to `reach`.
fn each_once(mut ranges: Vec<(i64, i64)>, reach: i64) -> Vec<(i64, i64)> {
    ranges.sort_unstable();
    let mut after = reach;
    for range in &mut ranges {
        range.0 = range.0.max(after + 1);
        after = after.max(range.1);
    }
    ranges.retain(|(from, to)| from <= to);
    ranges
}
