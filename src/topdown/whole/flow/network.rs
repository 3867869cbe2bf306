//! A network during the search for the nearest integer flow.

use std::{cmp::Reverse, collections::BinaryHeap};

/// An arc of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// The node that it leaves.
    pub from: usize,
    /// The node that it enters.
    pub to: usize,
    /// The value that its flow should be near.
    pub target: f64,
    /// The cost of a squared difference; 0 for none.
    pub weight: f64,
    /// Lower bound on its flow.
    pub lower: i64,
    /// Upper bound on its flow, if any.
    pub upper: Option<i64>,
}

/// The reason why there is no flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFlow {
    /// No flow satisfies all balances and bounds: proven in integers.
    Contradiction,
    /// The bounds are feasible, but not together with the counts settled above.
    Settled,
    /// Numbers that doubles do not represent exactly, or not finite.
    OutOfRange,
    /// The search ended with neither a flow nor a proof of infeasibility: a bug.
    Unsolved,
}

/// Larger integers are not all doubles.
pub(super) const MOST: i64 = 1 << 52;

/// A real-valued flow, and the potentials of the nodes.
pub(super) type Start = (Vec<f64>, Vec<f64>);

/// Whether a set of nodes must lose more than can leave it under any flow: its supply and the flow that must enter
/// exceed the flow that may leave.
pub(super) fn cut(supply: &[i64], arcs: &[Arc], inside: &[bool]) -> bool {
    let mut rest: i128 =
        supply.iter().zip(inside).filter(|(_, inside)| **inside).map(|(own, _)| i128::from(*own)).sum();
    for arc in arcs {
        match (inside[arc.from], inside[arc.to], arc.upper) {
            (true, false, None) => return false,
            (true, false, Some(upper)) => rest -= i128::from(upper),
            (false, true, _) => rest += i128::from(arc.lower),
            _ => {}
        }
    }
    rest > 0
}

/// A network during the search.
pub(super) struct Network<'a> {
    supply: &'a [i64],
    arcs: &'a [Arc],
    /// The arcs at each node.
    at_node: Vec<Vec<u32>>,
    /// The upper bound of each arc.
    upper: Vec<i64>,
    pub(super) flow: Vec<i64>,
    potentials: Vec<f64>,
    /// Inflow and supply of a node minus its outflow.
    excess: Vec<i64>,
}

/// An ordered distance; never NaN.
#[derive(PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The direction of a step on an arc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Along,
    Against,
}

impl<'a> Network<'a> {
    /// A network with an upper bound on the flow of an arc above its lower bound, and a start.
    pub(super) fn new(supply: &'a [i64], arcs: &'a [Arc], most: i64, (flow, potentials): Start) -> Network<'a> {
        let upper: Vec<i64> = arcs.iter().map(|arc| arc.upper.unwrap_or(arc.lower + most)).collect();
        // No number exceeds 2^52.
        let whole = |(flow, (arc, upper)): (&f64, (&Arc, &i64))| (flow.round() as i64).clamp(arc.lower, *upper);
        let flow: Vec<i64> = flow.iter().zip(arcs.iter().zip(&upper)).map(whole).collect();
        let mut excess = supply.to_vec();
        let mut at_node: Vec<Vec<u32>> = vec![Vec::new(); supply.len()];
        for (number, (arc, flow)) in arcs.iter().zip(&flow).enumerate() {
            excess[arc.to] += flow;
            excess[arc.from] -= flow;
            at_node[arc.from].push(number as u32);
            at_node[arc.to].push(number as u32);
        }
        Network { supply, arcs, at_node, upper, flow, potentials, excess }
    }

    /// The remaining capacity of an arc in a direction.
    fn room(&self, number: usize, way: Way) -> i64 {
        match way {
            Way::Along => self.upper[number] - self.flow[number],
            Way::Against => self.flow[number] - self.arcs[number].lower,
        }
    }

    /// The price per unit of a step on an arc.
    fn price(&self, number: usize, way: Way, step: i64) -> f64 {
        let arc = &self.arcs[number];
        let slope = 2.0 * arc.weight * (self.flow[number] as f64 - arc.target);
        let across = self.potentials[arc.to] - self.potentials[arc.from];
        match way {
            Way::Along => arc.weight * step as f64 + (slope + across),
            Way::Against => arc.weight * step as f64 - (slope + across),
        }
    }

    fn push(&mut self, number: usize, amount: i64) {
        let arc = &self.arcs[number];
        self.flow[number] += amount;
        self.excess[arc.to] += amount;
        self.excess[arc.from] -= amount;
    }

    /// Moves arcs without cost to their bounds if they have room for exactly one step of this size at a negative price:
    /// larger steps had no room there.
    pub(super) fn fill(&mut self, step: i64) {
        for number in (0..self.arcs.len()).filter(|at| self.arcs[*at].weight == 0.0) {
            for (way, sign) in [(Way::Along, 1), (Way::Against, -1)] {
                let room = self.room(number, way);
                if room >= step && room < 2 * step && self.price(number, way, step) < -1e-9 {
                    self.push(number, sign * step);
                }
            }
        }
    }

    /// Raises potentials until no step on an arc without cost has a negative price. They are raised only to those of
    /// other nodes, so the number of rounds is at most the number of nodes, and two except for chains of such arcs.
    pub(super) fn level(&mut self, step: i64) {
        let free: Vec<usize> = (0..self.arcs.len()).filter(|at| self.arcs[*at].weight == 0.0).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for number in &free {
                let (from, to) = (self.arcs[*number].from, self.arcs[*number].to);
                if self.room(*number, Way::Along) >= step && self.potentials[to] < self.potentials[from] {
                    self.potentials[to] = self.potentials[from];
                    changed = true;
                }
                if self.room(*number, Way::Against) >= step && self.potentials[from] < self.potentials[to] {
                    self.potentials[from] = self.potentials[to];
                    changed = true;
                }
            }
        }
    }

    /// The largest power of two with at least a few steps' worth of excess for each node.
    pub(super) fn first_step(&self) -> i64 {
        let all: i64 = self.excess.iter().map(|excess| (*excess).max(0)).sum();
        let each = all / (4 * self.excess.len() as i64).max(1);
        if each < 2 { 1 } else { 1 << each.ilog2() }
    }

    /// Moves each arc with a cost to its minimum under the potentials, in steps of this size: then no step has a
    /// negative price.
    pub(super) fn mend(&mut self, step: i64) {
        for number in (0..self.arcs.len()).filter(|at| self.arcs[*at].weight > 0.0) {
            let (arc, flow) = (self.arcs[number], self.flow[number]);
            let size = self.potentials[arc.to].abs() + self.potentials[arc.from].abs();
            let rounding = 1e-9 * arc.weight + 1e-14 * size;
            let pays = |way| self.room(number, way) >= step && self.price(number, way, step) < -rounding;
            let (way, sign) = match (pays(Way::Along), pays(Way::Against)) {
                (true, _) => (Way::Along, 1),
                (_, true) => (Way::Against, -1),
                _ => continue,
            };
            let across = self.potentials[arc.to] - self.potentials[arc.from];
            let away = (arc.target - across / (2.0 * arc.weight) - flow as f64).abs();
            // A double outside the range of integers saturates.
            let steps = ((away / step as f64).round() as i64).clamp(1, self.room(number, way) / step);
            self.push(number, sign * steps * step);
        }
    }

    /// Carries a step from a node with enough excess to the nearest node with enough deficit. False if there is no such
    /// node, or, for a step above 1, no path between them.
    pub(super) fn carry(&mut self, step: i64) -> Result<bool, NoFlow> {
        let nodes = self.excess.len();
        let mut distance = vec![f64::INFINITY; nodes];
        let mut came_by: Vec<Option<u32>> = vec![None; nodes];
        let mut heap = BinaryHeap::new();
        for node in (0..nodes).filter(|node| self.excess[*node] >= step) {
            distance[node] = 0.0;
            heap.push((Reverse(Distance(0.0)), node));
        }
        if heap.is_empty() {
            return Ok(false);
        }
        let mut found = None;
        while let Some((Reverse(Distance(at)), node)) = heap.pop() {
            if at > distance[node] {
                continue;
            }
            if self.excess[node] <= -step {
                found = Some((node, at));
                break;
            }
            for number in &self.at_node[node] {
                let number = *number as usize;
                let arc = &self.arcs[number];
                let (way, next) = if arc.from == node { (Way::Along, arc.to) } else { (Way::Against, arc.from) };
                if self.room(number, way) < step {
                    continue;
                }
                // Negative only by rounding errors.
                let reached = at + self.price(number, way, step).max(0.0);
                if reached < distance[next] {
                    distance[next] = reached;
                    came_by[next] = Some(number as u32);
                    heap.push((Reverse(Distance(reached)), next));
                }
            }
        }
        let Some((end, length)) = found else {
            if step > 1 {
                return Ok(false);
            }
            // The reached nodes have excess and no capacity to lose it.
            let inside: Vec<bool> = distance.iter().map(|distance| distance.is_finite()).collect();
            return Err(if cut(self.supply, self.arcs, &inside) { NoFlow::Contradiction } else { NoFlow::Unsolved });
        };
        for (potential, distance) in self.potentials.iter_mut().zip(&distance) {
            *potential -= distance.min(length);
        }
        let mut node = end;
        while let Some(number) = came_by[node] {
            let number = number as usize;
            let along = self.arcs[number].to == node;
            self.push(number, if along { step } else { -step });
            node = if along { self.arcs[number].from } else { self.arcs[number].to };
        }
        Ok(true)
    }
}
