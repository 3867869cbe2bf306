//! The search for hints, in doubles: contour, period, cut and the nodes to evaluate, such that the bounds of a checker are below a
//! share of delta. Nothing here is a proof: a bad hint makes a check fail, and then the certificate is of no use.

use std::collections::BTreeSet;

use rug::Rational;

use super::{
    claim::Claim,
    cover::{self, Cover},
    hints::{Hints, Kernel},
};
use crate::{
    error::Result,
    loss::{
        law::{Group, Law},
        theta,
    },
    numeric::rational,
};

/// What a lattice may cost before the line is looked at, in microseconds of a checker.
const BEARABLE: f64 = 2e6;
/// What a check may cost at most.
const MOST: f64 = 2e8;

/// The size of a unit's moment generating function on the real axis: units of the same size share bounds.
#[derive(Clone, Debug, PartialEq)]
struct Size {
    rho: Rational,
    /// The largest loss of the bounded terms.
    reach: Rational,
    bounded: Vec<Group>,
}

impl Size {
    /// ln of the bound for M(x).
    fn ln_mgf(&self, x: f64) -> f64 {
        let bounded: f64 = self.bounded.iter().map(|group| theta::ln_bounded_mgf_approx(group, x).0).sum();
        self.rho.to_f64() * (x + x * x) + bounded
    }

    /// ln of the same with the largest losses in place of the bounded terms.
    fn ln_crude(&self, c: f64) -> f64 {
        self.rho.to_f64() * (c + c * c) + c * self.reach.to_f64()
    }
}

/// A rule: period and cut.
#[derive(Clone)]
struct Rule {
    period: Rational,
    kernel: Kernel,
    cut: u32,
    /// The cost of a check, about, in microseconds.
    cost: f64,
    orders: Vec<Vec<usize>>,
}

pub(super) struct Search<'a> {
    claim: &'a Claim,
    sizes: Vec<Size>,
    step: Rational,
}

impl<'a> Search<'a> {
    pub(super) fn new(claim: &'a Claim) -> Self {
        let mut sizes: Vec<Size> = Vec::new();
        for unit in claim.units() {
            let size = size_of(claim, &unit);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        Search { claim, sizes, step: claim.step() }
    }

    /// Hints for bounds of delta(epsilon) that are off by at most exp(ln_share) of delta; `unit` is the only one that matters, if
    /// there is one.
    pub(super) fn hints(
        &self,
        epsilon: &Rational,
        ln_delta: f64,
        ln_share: f64,
        unit: Option<Vec<usize>>,
    ) -> Result<Hints> {
        let target = ln_delta + ln_share;
        let c = self.contour(epsilon.to_f64());
        let period = self.period(c, epsilon.to_f64(), target);
        let used: BTreeSet<usize> = match &unit {
            Some(unit) => unit.iter().copied().collect(),
            None => (0..self.claim.paths.len()).collect(),
        };
        let rule = self.rule(epsilon.to_f64(), c, period, target, &used)?;
        let mut nodes = BTreeSet::from([0]);
        for &path in &used {
            let last = match &rule.kernel {
                Kernel::Lattice { nodes } => nodes / 2,
                Kernel::Line { last, .. } => *last,
            };
            self.cover(path, &rule.period, rule.cut).survivors(last, &rule.orders[path], &mut nodes)?;
        }
        let divisor = match &rule.kernel {
            Kernel::Lattice { nodes } => *nodes as f64,
            Kernel::Line { period, .. } => period.to_f64(),
        };
        // The sum of the nodes in units of 2^-bits: delta times the divisor over the prefactor.
        let ln_sum = ln_delta + divisor.ln() - self.ln_prefactor(c, epsilon.to_f64());
        let copies: u64 = self.claim.paths.iter().flatten().map(|group| group.copies).max().unwrap_or(1);
        let lost = (nodes.len() as f64 * copies as f64).ln() + self.step.to_f64().min(1.0).recip().ln().max(0.0);
        let bits = (lost - ln_sum.min(0.0) - ln_share) / std::f64::consts::LN_2 + 32.0;
        Ok(Hints {
            contour: rational::from_f64(c)?,
            kernel: rule.kernel,
            evaluated: ranges(&nodes),
            cut: rule.cut,
            sieve: rule.orders,
            bits: ((bits / 16.0).ceil() * 16.0).clamp(64.0, 4096.0) as u32,
            unit,
        })
    }

    fn cover(&self, path: usize, period: &Rational, cut: u32) -> Cover {
        Cover::new(&self.claim.paths[path], if self.claim.pairs { 2 } else { 1 }, period, cut)
    }

    fn largest(&self, of: impl Fn(&Size) -> f64) -> f64 {
        self.sizes.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The saddle point of M(s) exp(-s epsilon) / (s (s + 1)), to a few bits: a convex function of c.
    fn contour(&self, epsilon: f64) -> f64 {
        let at = |ln_c: f64| {
            let c = ln_c.exp();
            self.largest(|size| size.ln_mgf(c)) - c * epsilon - (c * (c + 1.0)).ln()
        };
        let (mut low, mut high) = (-9.0, 9.0);
        for _ in 0..80 {
            let third = (high - low) / 3.0;
            if at(low + third) < at(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        few_bits(f64::midpoint(low, high).exp())
    }

    /// The shortest period whose aliases are below exp(target), about.
    fn period(&self, c: f64, epsilon: f64, target: f64) -> f64 {
        let ln_alias = |period: f64| {
            self.largest(|size| {
                let rho = size.rho.to_f64();
                let side = |side: f64| {
                    let far = if side < 0.0 { 0.0 } else { c + 2000.0 / period };
                    let x = if rho > 0.0 { (epsilon + side * period - rho) / (2.0 * rho) } else { far };
                    let x = if side < 0.0 {
                        x.min(c - (1.0 / period).min(c / 2.0)).max(0.0)
                    } else {
                        x.max(c + 1.0 / period)
                    };
                    let power = period * (x - c).abs();
                    size.ln_mgf(x) - x * epsilon - if power > 30.0 { power } else { power.exp_m1().ln() }
                };
                side(-1.0).max(side(1.0)) + std::f64::consts::LN_2
            })
        };
        let mut long = 1e-3;
        while ln_alias(long) > target && long < 1e15 {
            long *= 2.0;
        }
        let mut short = long / 2.0;
        for _ in 0..12 {
            let middle = f64::midpoint(short, long);
            if ln_alias(middle) > target { short = middle } else { long = middle }
        }
        long
    }

    /// ln of what the sum of the nodes is multiplied by, but for the divisor and what is known of bounded terms.
    fn ln_prefactor(&self, c: f64, epsilon: f64) -> f64 {
        self.largest(|size| size.ln_crude(c)) - c * epsilon
    }

    /// On the lattice if that is bearable or cheaper than on the line.
    fn rule(&self, epsilon: f64, c: f64, period: f64, target: f64, used: &BTreeSet<usize>) -> Result<Rule> {
        let lattice = self.on_lattice(epsilon, c, period, target, used);
        if let Some(rule) = lattice.as_ref().filter(|rule| rule.cost < BEARABLE) {
            return Ok(rule.clone());
        }
        let line = self.on_line(epsilon, c, period, target, used)?;
        let rule = match lattice {
            Some(lattice) if lattice.cost <= line.cost => lattice,
            _ => line,
        };
        if rule.cost > MOST {
            return Err(cover::too_much(format!("windows and nodes for about {:.0e} seconds", rule.cost / 1e6)));
        }
        Ok(rule)
    }

    /// `None` where a period has too many nodes.
    fn on_lattice(&self, epsilon: f64, c: f64, period: f64, target: f64, used: &BTreeSet<usize>) -> Option<Rule> {
        let h = self.step.to_f64();
        let nodes = (period / h).ceil().max(3.0);
        if nodes.is_nan() || nodes > 1e15 {
            return None;
        }
        let nodes = nodes as u64 | 1;
        let around = nodes as f64 * h / 2.0 * (1.0 + 0.694 * (nodes as f64).log2());
        let cut = (self.ln_prefactor(c, epsilon) + around.ln() - target).ceil().clamp(1.0, 1e6) as u32;
        let period = Rational::from(&self.step * nodes);
        let (orders, cost) = self.orders(&period, cut, used);
        let cost = cost * (nodes / 2) as f64;
        Some(Rule { period, kernel: Kernel::Lattice { nodes }, cut, cost, orders })
    }

    fn on_line(&self, epsilon: f64, c: f64, period: f64, target: f64, used: &BTreeSet<usize>) -> Result<Rule> {
        let period = few_bits(period * (1.0 + 2f64.powi(-10)));
        let ln_prefactor = self.ln_prefactor(c, epsilon);
        let exact = rational::from_f64(period)?;
        let (mut far, mut last) = (vec![None; self.claim.paths.len()], 1.0_f64);
        for &path in used {
            let evenest = self.cover(path, &exact, 1).evenest();
            let (mean, turns) = evenest.map_or((1.0, 1.0), |(_, mean, turns)| (mean, turns));
            // (period / 19) mean (1 + 2 / (turns last)) / last, where the bracket is at most 1.02.
            let needed = (ln_prefactor - target).exp() * period / 19.0 * mean * 1.03;
            last = last.max(needed).max(100.0 / turns);
            far[path] = evenest.map(|(group, ..)| group);
        }
        if last.is_nan() || last > 1e13 {
            return Err(cover::too_much(format!("heights up to node {last:.0e}")));
        }
        let last = last.ceil();
        let around = period / 19.0 * (1.0 + 0.694 * (last.log2() + 1.0));
        let cut = (ln_prefactor + around.ln() - target).ceil().clamp(1.0, 1e6) as u32;
        let (orders, cost) = self.orders(&exact, cut, used);
        let kernel = Kernel::Line { period: exact.clone(), last: last as u64, far };
        Ok(Rule { period: exact, kernel, cut, cost: cost * last, orders })
    }

    /// The order of windows for each path that is used, and the cost of a node for all of them.
    fn orders(&self, period: &Rational, cut: u32, used: &BTreeSet<usize>) -> (Vec<Vec<usize>>, f64) {
        let mut orders = vec![Vec::new(); self.claim.paths.len()];
        let mut total = 0.0;
        for &path in used {
            let (order, cost) = self.cover(path, period, cut).order();
            orders[path] = order;
            total += cost;
        }
        (orders, total)
    }
}

fn size_of(claim: &Claim, unit: &[usize]) -> Size {
    let groups = || unit.iter().flat_map(|&path| &claim.paths[path]);
    let bounded = groups().filter(|group| matches!(group.law, Law::DiscreteLaplace { .. })).cloned().collect();
    let sum = |of: fn(&Group) -> Rational| groups().map(of).fold(Rational::new(), |sum, one| sum + one);
    Size { rho: sum(Group::rho), reach: sum(Group::largest), bounded }
}

/// The nodes as ranges.
fn ranges(nodes: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &node in nodes {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == node => range.1 = node,
            _ => ranges.push((node, node)),
        }
    }
    ranges
}

/// The number rounded to a mantissa of 12 bits: products with it stay short.
fn few_bits(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1_u64 << 40) - 1))
}
