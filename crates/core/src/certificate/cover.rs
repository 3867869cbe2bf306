//! The nodes to evaluate, and the groups that make all others small.
//!
//! A discrete Gaussian of variance V has |F(b)| <= exp(-V (1 - cos b)) (theorem C). So a node is small if the sum of count V
//! (1 - cos b) over the groups is at least the cut. A group that reaches the cut alone, outside of windows around the whole
//! turns of its angle, excludes all nodes there at once; the windows of some groups are intersected, and the remaining nodes
//! are checked one by one. A checker does this in integers. Here it is done in doubles, with margins that evaluate a node
//! in case of doubt.

use std::{collections::BTreeSet, f64::consts::PI};

use rug::{Integer, Rational};

use crate::{
    error::{Error, Result},
    loss::law::Group,
};

/// The parts of a turn in the checker's table of cosines.
const STEPS: usize = 4096;
/// A checker refuses more than 40 million windows and nodes for both ends together; it predicts them from a sample.
const MOST_LOOKED_AT: u64 = 36_000_000;
/// A checker evaluates no more nodes than 30,000.
const MOST_EVALUATED: usize = 29_000;
/// The cost of a window, and of a node alone and for each group, in about microseconds of the checker.
const WINDOW: f64 = 2.0;
const NODE: f64 = 0.4;
const NODE_AND_GROUP: f64 = 0.25;

/// A group in the cover.
#[derive(Clone, Copy, Debug)]
struct Turning {
    /// Turns of its angle from node to node.
    turns: f64,
    /// Their fraction, in units of 2^-128.
    fraction: u128,
    /// count times a lower bound for the variance; zero if nothing is known of its decay.
    weight: f64,
    /// The number of steps from a whole turn beyond which it is small alone, if any.
    reach: Option<usize>,
}

/// The factors of one path, or of its pair with itself.
#[derive(Debug)]
pub(super) struct Cover {
    groups: Vec<Turning>,
    /// Lower bounds on 1 - cos at the steps of half a turn.
    table: Vec<f64>,
    cut: f64,
}

/// The reduction of the cut that suffices if a node's number doubles: slightly less than ln 2.
const OCTAVE: f64 = 0.693;

impl Cover {
    /// `multiplicity` times the groups, for a rule with the heights 2 pi j / period. Node j is small below
    /// j exp(-cut), because the kernel falls as 1 / j^2.
    pub(super) fn new(groups: &[Group], multiplicity: u64, period: &Rational, cut: u32) -> Cover {
        let table: Vec<f64> =
            (0..=STEPS / 2).map(|k| (1.0 - libm::cos(2.0 * PI * k as f64 / STEPS as f64) - 3e-9).max(0.0)).collect();
        // The margin covers the rounding errors of this file and of the checker.
        let cut = f64::from(cut) * (1.0 + 1e-6) + 1e-6;
        let of = |group: &Group| {
            let turns = group.weight() / period;
            let of_copies = |sigma2: &Rational| (group.copies * multiplicity) as f64 * least_variance(sigma2.to_f64());
            let weight = group.law.discrete_sigma2().map_or(0.0, of_copies);
            let reach = table.iter().position(|value| weight * value >= cut).filter(|reach| 2 * reach < STEPS);
            Turning { turns: turns.to_f64(), fraction: fraction(&turns), weight, reach }
        };
        Cover { groups: groups.iter().map(of).collect(), table, cut }
    }

    /// The best order for intersecting windows, and the cost of a node.
    ///
    /// Groups are in the order of their windows' rarity: within the windows of one, which are a part r of all nodes, come those
    /// of a later one, or single nodes. Each window of the former contains at least one of the latter or a piece of one.
    pub(super) fn order(&self) -> (Vec<usize>, f64) {
        let mut usable: Vec<(usize, f64, f64)> = (self.groups.iter().enumerate())
            .filter_map(|(number, group)| Some((number, group.turns, 2.0 * group.reach? as f64 / STEPS as f64)))
            .collect();
        usable.sort_by(|a, b| a.1.total_cmp(&b.1));
        let each = NODE + NODE_AND_GROUP * self.groups.len() as f64;
        // For each group, and at the end for none: the best following group, and the cost of a node within its windows.
        let mut best: Vec<(Option<usize>, f64)> = vec![(None, each); usable.len() + 1];
        for at in (0..=usable.len()).rev() {
            // `at` counts from one; zero means no group yet.
            let pieces = at.checked_sub(1).map_or(0.0, |at| usable[at].1 / usable[at].2.max(1e-9));
            for next in at..usable.len() {
                let (_, turns, part) = usable[next];
                let cost = (turns + pieces) * WINDOW + part * best[next + 1].1;
                if cost < best[at].1 {
                    best[at] = (Some(next), cost);
                }
            }
        }
        let (mut order, mut at) = (Vec::new(), best[0].0);
        while let Some(next) = at.filter(|_| order.len() < 8) {
            order.push(usable[next].0);
            at = best[next + 1].0;
        }
        (order, best[0].1)
    }

    /// Adds the nodes from 1 to `last` that may not be small. Returns the number of windows and nodes that were looked at, `before` of them
    /// in the covers before this one.
    pub(super) fn survivors(&self, last: u64, order: &[usize], into: &mut BTreeSet<u64>, before: u64) -> Result<u64> {
        let mut sweep = Sweep { cover: self, order, into, looked_at: before };
        sweep.windows(0, 1, last)?;
        Ok(sweep.looked_at)
    }

    fn is_small(&self, node: u64) -> bool {
        let mut total = OCTAVE * f64::from(node.max(1).ilog2());
        for group in &self.groups {
            let turn = group.fraction.wrapping_mul(u128::from(node));
            let distance = turn.min(turn.wrapping_neg());
            // One step less, for the error of the fraction.
            let step = (distance >> 116) as usize;
            total += group.weight * self.table[step.saturating_sub(1)];
        }
        total >= self.cut
    }

    /// Of the groups with windows, the one with the least sum of its mean factor and its turns per node, both of
    /// which bound the sum beyond a node; that sum, and its turns.
    pub(super) fn evenest(&self) -> Option<(usize, f64, f64)> {
        let slow = self.groups.iter().enumerate().filter(|(_, group)| group.turns <= 1.0 && group.reach.is_some());
        let means = slow.map(|(number, group)| (number, self.mean(group.weight) + group.turns, group.turns));
        means.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The mean of exp(-weight (1 - cos)), by a sum at left ends.
    fn mean(&self, weight: f64) -> f64 {
        let half = &self.table[..STEPS / 2];
        half.iter().map(|value| libm::exp(-weight * value)).sum::<f64>() * 2.0 / STEPS as f64
    }
}

/// The intersection of windows.
struct Sweep<'a> {
    cover: &'a Cover,
    order: &'a [usize],
    into: &'a mut BTreeSet<u64>,
    looked_at: u64,
}

impl Sweep<'_> {
    fn windows(&mut self, level: usize, first: u64, last: u64) -> Result<()> {
        let Some(&number) = self.order.get(level) else { return self.each(first, last) };
        let group = &self.cover.groups[number];
        // Rounding errors of a product of the turns are 2^-52 of it; the windows are wider by a step and by that.
        let reach = (group.reach.unwrap_or(STEPS) + 1) as f64 / STEPS as f64 + last as f64 * group.turns * 1e-15;
        let mut whole = (first as f64 * group.turns - reach).ceil();
        loop {
            self.look(1)?;
            let start = ((whole - reach) / group.turns).floor().max(0.0);
            if start > last as f64 {
                return Ok(());
            }
            let end = ((whole + reach) / group.turns).ceil().max(0.0);
            let (from, to) = (first.max(start as u64), last.min(end as u64));
            if from <= to {
                self.windows(level + 1, from, to)?;
            }
            whole += 1.0;
        }
    }

    fn each(&mut self, first: u64, last: u64) -> Result<()> {
        self.look(last - first)?;
        for node in first..=last {
            if !self.cover.is_small(node) {
                self.into.insert(node);
                if self.into.len() > MOST_EVALUATED {
                    return Err(too_much(format!("more than {MOST_EVALUATED} nodes")));
                }
            }
        }
        Ok(())
    }

    fn look(&mut self, more: u64) -> Result<()> {
        self.looked_at += more;
        check_looked_at(self.looked_at)
    }
}

/// Refuses more windows and nodes than a checker looks at.
pub(super) fn check_looked_at(number: u64) -> Result<()> {
    if number > MOST_LOOKED_AT {
        Err(too_much(format!("more than {MOST_LOOKED_AT} windows and nodes")))
    } else {
        Ok(())
    }
}

pub(super) fn too_much(what: String) -> Error {
    Error::Unprovable {
        why: format!("too long to check: a checker would have to visit {what}; fewer digits or more groups need less"),
    }
}

/// The fraction of a positive number, in units of 2^-128, rounded down.
fn fraction(value: &Rational) -> u128 {
    let whole = value.clone().floor();
    let scaled: Integer = ((value - whole) << 128_u32).floor().into_numer_denom().0;
    scaled.to_u128().unwrap_or(u128::MAX)
}

/// A lower bound for the variance of N_Z(0, sigma2), the same as the checker's.
fn least_variance(sigma2: f64) -> f64 {
    let lost = 80.0 * sigma2 * libm::exp(-19.7 * sigma2.min(4.0));
    if sigma2 >= 0.1 && lost < 1.0 { sigma2 * (1.0 - lost) * (1.0 - 1e-9) } else { 0.0 }
}
