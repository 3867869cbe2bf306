//! The nearest integer flow: integers on the arcs of a network that satisfy the balance of every node and the bounds of
//! every arc, with the minimum sum of weight (number - target)^2.
//!
//! With potentials pi of the nodes, a step of d on an arc u -> v has the price w (2 (x - z) + d) + pi_v - pi_u per
//! unit, and a step back has w (d - 2 (x - z)) + pi_u - pi_v. If no step that the bounds allow has a negative price, no
//! change of the flow that keeps all balances reduces the cost. The algorithm has two independent parts:
//!
//! - The search carries excess to deficits at nodes along shortest paths, which keeps prices non-negative (Ahuja,
//!   Magnanti and Orlin, Network Flows, 1993, section 14.5): first in large steps, which are halved, and at the end in
//!   steps of 1. It ends from any start, in integers: with all balances and bounds satisfied, or with a set of nodes
//!   that cannot lose its excess, which proves that no flow exists (`cut`).
//! - The start comes from the continuous relaxation, a quadratic program solved by Clarabel (an interior-point method
//!   for sparse cone programs). Its multipliers are the potentials, and rounding its flow leaves little excess. The
//!   result of that solver is only a start: negative prices are repaired first, and if it returns non-finite numbers,
//!   the search starts from the targets.

use std::{cmp::Reverse, collections::BinaryHeap};

use clarabel::{
    algebra::CscMatrix,
    solver::{
        DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT, ZeroConeT,
    },
};

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
const MOST: i64 = 1 << 52;

/// The nearest integer flow in a network with this supply at each node; a negative supply is a demand.
pub fn nearest(supply: &[i64], arcs: &[Arc]) -> Result<Vec<i64>, NoFlow> {
    let arcs = &scaled(arcs)?;
    checked(supply, arcs)?;
    let most = most_above(supply, arcs)?;
    let start = relaxed(supply, arcs).unwrap_or_else(|| from_targets(supply, arcs));
    carried(supply, arcs, most, start)
}

/// A real-valued flow, and the potentials of the nodes.
type Start = (Vec<f64>, Vec<f64>);

/// The start without a solver: every arc at its own minimum.
fn from_targets(supply: &[i64], arcs: &[Arc]) -> Start {
    (arcs.iter().map(|arc| arc.target).collect(), vec![0.0; supply.len()])
}

/// The nearest integer flow from any start.
fn carried(supply: &[i64], arcs: &[Arc], most: i64, start: Start) -> Result<Vec<i64>, NoFlow> {
    let mut network = Network::new(supply, arcs, most, start);
    let mut step = network.first_step();
    loop {
        network.fill(step);
        network.level(step);
        network.mend(step);
        while network.carry(step)? {}
        if step == 1 {
            break;
        }
        step /= 2;
    }
    // True by construction; the check is cheap.
    if keeps(supply, arcs, &network.flow) { Ok(network.flow) } else { Err(NoFlow::Unsolved) }
}

/// Whether any flow satisfies all balances and bounds, at any cost.
pub fn exists(supply: &[i64], arcs: &[Arc]) -> Result<(), NoFlow> {
    let free: Vec<Arc> = arcs.iter().map(|arc| Arc { target: arc.lower as f64, weight: 0.0, ..*arc }).collect();
    checked(supply, &free)?;
    carried(supply, &free, most_above(supply, &free)?, from_targets(supply, &free)).map(|_| ())
}

/// Refuses obviously infeasible inputs.
fn checked(supply: &[i64], arcs: &[Arc]) -> Result<(), NoFlow> {
    let sum: i128 = supply.iter().copied().map(i128::from).sum();
    if sum != 0 || arcs.iter().any(|arc| arc.upper.is_some_and(|upper| upper < arc.lower)) {
        return Err(NoFlow::Contradiction);
    }
    Ok(())
}

/// Whether a flow satisfies all balances and bounds, in integers.
fn keeps(supply: &[i64], arcs: &[Arc], flow: &[i64]) -> bool {
    let mut rest: Vec<i128> = supply.iter().copied().map(i128::from).collect();
    for (arc, flow) in arcs.iter().zip(flow) {
        rest[arc.from] -= i128::from(*flow);
        rest[arc.to] += i128::from(*flow);
    }
    let inside = |(arc, flow): (&Arc, &i64)| *flow >= arc.lower && arc.upper.is_none_or(|upper| *flow <= upper);
    rest.iter().all(|rest| *rest == 0) && arcs.iter().zip(flow).all(inside)
}

/// Whether a set of nodes must lose more than can leave it under any flow: its supply and the flow that must enter
/// exceed the flow that may leave.
fn cut(supply: &[i64], arcs: &[Arc], inside: &[bool]) -> bool {
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

/// The arcs with weights scaled to at most 1; refuses non-finite numbers.
fn scaled(arcs: &[Arc]) -> Result<Vec<Arc>, NoFlow> {
    let is_number = |arc: &Arc| arc.target.abs() <= MOST as f64 && arc.weight.is_finite() && arc.weight >= 0.0;
    if !arcs.iter().all(is_number) {
        return Err(NoFlow::OutOfRange);
    }
    let most = arcs.iter().map(|arc| arc.weight).fold(0.0, f64::max);
    let scaled = |arc: &Arc| Arc { weight: if most > 0.0 { arc.weight / most } else { 0.0 }, ..*arc };
    Ok(arcs.iter().map(scaled).collect())
}

/// An upper bound, over all arcs, on the flow above the lower bound of an arc in some nearest flow. The flow above the
/// lower bounds is a sum of paths from excess to deficit nodes, and of cycles. The paths together carry at most the sum
/// of all supplies and all lower bounds, which shift the balance. A cycle on which every arc is above its lower bound
/// and its target can be reduced without cost. So each cycle contains an arc that is at most one above the larger of
/// both, which bounds the number of cycles through that arc.
fn most_above(supply: &[i64], arcs: &[Arc]) -> Result<i64, NoFlow> {
    let paths: i128 = supply.iter().chain(arcs.iter().map(|arc| &arc.lower)).map(|own| i128::from(*own).abs()).sum();
    // No target exceeds 2^52.
    let cycle = |arc: &Arc| (arc.target.ceil() as i128 - i128::from(arc.lower)).max(0) + 1;
    let most = paths + arcs.iter().map(cycle).sum::<i128>();
    i64::try_from(most).ok().filter(|most| *most <= MOST).ok_or(NoFlow::OutOfRange)
}

/// The start from Clarabel: the real-valued flow, and the multipliers of the nodes. `None` if it has none, whatever its
/// status: only the integer search decides whether there is a flow.
fn relaxed(supply: &[i64], arcs: &[Arc]) -> Option<Start> {
    // As differences from the target rounded into the bounds, which are small even for populations of millions.
    let base: Vec<f64> = (arcs.iter())
        .map(|arc| arc.target.round().max(arc.lower as f64).min(arc.upper.map_or(f64::INFINITY, |upper| upper as f64)))
        .collect();
    let mut right_side: Vec<f64> = supply.iter().map(|supply| -(*supply as f64)).collect();
    for (arc, base) in arcs.iter().zip(&base) {
        right_side[arc.to] -= base;
        right_side[arc.from] += base;
    }
    let (nodes, count) = (supply.len(), arcs.len());
    let capped: Vec<usize> = (0..count).filter(|at| arcs[*at].upper.is_some()).collect();
    // The rows: inflow minus outflow of a node; then - x <= - lower, then x <= upper.
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut next_cap = 0;
    for (at, arc) in arcs.iter().enumerate() {
        let mut ends = [(arc.from, -1.0), (arc.to, 1.0)];
        ends.sort_unstable_by_key(|end| end.0);
        rows.extend(ends.map(|end| end.0));
        values.extend(ends.map(|end| end.1));
        rows.push(nodes + at);
        values.push(-1.0);
        if capped.get(next_cap) == Some(&at) {
            rows.push(nodes + count + next_cap);
            values.push(1.0);
            next_cap += 1;
        }
        starts.push(rows.len());
    }
    let matrix = CscMatrix::new(nodes + count + capped.len(), count, starts, rows, values);
    right_side.extend(arcs.iter().zip(&base).map(|(arc, base)| base - arc.lower as f64));
    right_side.extend(capped.iter().map(|at| arcs[*at].upper.unwrap_or(0) as f64 - base[*at]));
    let costs: Vec<f64> = arcs.iter().map(|arc| 2.0 * arc.weight).collect();
    let cost = CscMatrix::new(count, count, (0..=count).collect(), (0..count).collect(), costs);
    let slope: Vec<f64> = arcs.iter().zip(&base).map(|(arc, base)| 2.0 * arc.weight * (base - arc.target)).collect();
    let cones: [SupportedConeT<f64>; 2] = [ZeroConeT(nodes), NonnegativeConeT(count + capped.len())];
    let settings = DefaultSettingsBuilder::default().verbose(false).max_threads(1).build().ok()?;
    let mut solver = DefaultSolver::new(&cost, &slope, &matrix, &right_side, &cones, settings).ok()?;
    solver.solve();
    match solver.solution.status {
        // The result is near an optimum; any distance is acceptable for a start.
        SolverStatus::Solved
        | SolverStatus::AlmostSolved
        | SolverStatus::MaxIterations
        | SolverStatus::MaxTime
        | SolverStatus::NumericalError
        | SolverStatus::InsufficientProgress
        | SolverStatus::CallbackTerminated => {}
        // A certificate in doubles is neither a proof nor a flow.
        SolverStatus::PrimalInfeasible
        | SolverStatus::DualInfeasible
        | SolverStatus::AlmostPrimalInfeasible
        | SolverStatus::AlmostDualInfeasible
        | SolverStatus::Unsolved => return None,
    }
    let flow: Vec<f64> = solver.solution.x.iter().zip(&base).map(|(x, base)| x + base).collect();
    let potentials = solver.solution.z[..nodes].to_vec();
    let is_number = |value: &f64| value.abs() <= MOST as f64;
    (flow.iter().all(is_number) && potentials.iter().all(is_number)).then_some((flow, potentials))
}

/// A network during the search.
struct Network<'a> {
    supply: &'a [i64],
    arcs: &'a [Arc],
    /// The arcs at each node.
    at_node: Vec<Vec<u32>>,
    /// The upper bound of each arc.
    upper: Vec<i64>,
    flow: Vec<i64>,
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
    fn new(supply: &'a [i64], arcs: &'a [Arc], most: i64, (flow, potentials): Start) -> Network<'a> {
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
    fn fill(&mut self, step: i64) {
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
    fn level(&mut self, step: i64) {
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
    fn first_step(&self) -> i64 {
        let all: i64 = self.excess.iter().map(|excess| (*excess).max(0)).sum();
        let each = all / (4 * self.excess.len() as i64).max(1);
        if each < 2 { 1 } else { 1 << each.ilog2() }
    }

    /// Moves each arc with a cost to its minimum under the potentials, in steps of this size: then no step has a
    /// negative price.
    fn mend(&mut self, step: i64) {
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
    fn carry(&mut self, step: i64) -> Result<bool, NoFlow> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    fn cost(arcs: &[Arc], flow: &[i64]) -> f64 {
        arcs.iter().zip(flow).map(|(arc, flow)| arc.weight * (*flow as f64 - arc.target).powi(2)).sum()
    }

    /// Enumerates all flows with numbers from 0 to 3: the minimum cost of the feasible ones.
    fn brute_force(supply: &[i64], arcs: &[Arc]) -> Option<f64> {
        let mut best: Option<f64> = None;
        for code in 0..4_u32.pow(arcs.len() as u32) {
            let flow: Vec<i64> = (0..arcs.len() as u32).map(|at| i64::from(code >> (2 * at) & 3)).collect();
            let mut excess = supply.to_vec();
            for (arc, flow) in arcs.iter().zip(&flow) {
                excess[arc.to] += flow;
                excess[arc.from] -= flow;
            }
            let inside = |(arc, flow): (&Arc, &i64)| *flow >= arc.lower && arc.upper.is_none_or(|upper| *flow <= upper);
            if excess.iter().all(|rest| *rest == 0) && arcs.iter().zip(&flow).all(inside) {
                let own = cost(arcs, &flow);
                best = Some(best.map_or(own, |best| best.min(own)));
            }
        }
        best
    }

    /// A random network, and the balance of a flow within its bounds, or one slightly different.
    fn network(numbers: &mut Numbers) -> (Vec<i64>, Vec<Arc>) {
        let nodes = 3 + numbers.below(3) as usize;
        let arcs: Vec<Arc> = (0..3 + numbers.below(5))
            .map(|_| {
                let from = numbers.below(nodes as u64) as usize;
                let to = (from + 1 + numbers.below(nodes as u64 - 1) as usize) % nodes;
                let target = numbers.below(400) as f64 / 100.0 - 0.7;
                let weight = [0.0, 0.5, 1.0, 4.0, 1e-6][numbers.below(5) as usize];
                let lower = numbers.below(2) as i64;
                Arc { from, to, target, weight, lower, upper: Some(lower + numbers.below(3) as i64) }
            })
            .collect();
        let mut supply = vec![0; nodes];
        for arc in &arcs {
            let flow = arc.lower + numbers.below(1 + (arc.upper.unwrap() - arc.lower) as u64) as i64;
            supply[arc.from] += flow;
            supply[arc.to] -= flow;
        }
        if numbers.below(3) == 0 {
            supply[0] += 1;
            supply[nodes - 1] -= 1;
        }
        (supply, arcs)
    }

    #[test]
    fn integer_flows_are_optimal_from_any_start() {
        let mut numbers = Numbers(5);
        let (mut solved, mut refused) = (0, 0);
        for _ in 0..400 {
            let (supply, arcs) = network(&mut numbers);
            let best = brute_force(&supply, &arcs);
            let own = scaled(&arcs).unwrap();
            let most = most_above(&supply, &own).unwrap();
            // A solver that did not converge may return anything.
            let mut wild = |reach: u64| numbers.below(2 * reach + 1) as f64 / 7.0 - reach as f64 / 7.0;
            let start = (arcs.iter().map(|_| wild(90)).collect(), supply.iter().map(|_| wild(60)).collect());
            let starts = [from_targets(&supply, &own), start];
            let others = starts.map(|start| carried(&supply, &own, most, start));
            for flow in others.into_iter().chain([nearest(&supply, &arcs)]) {
                match (flow, best) {
                    (Ok(flow), Some(best)) => {
                        assert!(keeps(&supply, &arcs, &flow));
                        assert!(cost(&arcs, &flow) <= best + 1e-7, "{supply:?} {arcs:?} {flow:?}");
                        solved += 1;
                    }
                    (Err(NoFlow::Contradiction), None) => refused += 1,
                    other => panic!("{supply:?} {arcs:?} {other:?}"),
                }
            }
        }
        assert!(solved > 600 && refused > 60, "{solved} {refused}");
    }

    #[test]
    fn a_start_far_away_takes_large_steps_first() {
        // A table of 30 rows and 20 columns with entries of some hundred thousands, from targets that are all far off.
        let mut numbers = Numbers(11);
        let mut supply = vec![0; 50];
        let mut arcs = Vec::new();
        for at in 0..600 {
            let (from, to) = (at / 20, 30 + at % 20);
            let flow = numbers.below(200_000) as i64;
            supply[from] += flow;
            supply[to] -= flow;
            let target = numbers.below(400_000) as f64 - 100_000.5;
            arcs.push(Arc { from, to, target, weight: 1.0 / (1 + at % 7) as f64, lower: 0, upper: None });
        }
        let cold = carried(&supply, &arcs, most_above(&supply, &arcs).unwrap(), from_targets(&supply, &arcs)).unwrap();
        let warm = nearest(&supply, &arcs).unwrap();
        assert!((cost(&arcs, &cold) / cost(&arcs, &warm) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn infeasibility_is_proven_and_invalid_numbers_are_refused() {
        let arc = |from, to, upper| Arc { from, to, target: 0.0, weight: 1.0, lower: 0, upper };
        // The flow from the first node must pass through the second, whose capacity is too small.
        let arcs = [arc(0, 1, None), arc(1, 2, Some(6)), arc(2, 0, None)];
        assert_eq!(nearest(&[7, 0, -7], &arcs), Err(NoFlow::Contradiction));
        assert!(cut(&[7, 0, -7], &arcs, &[true, true, false]) && !cut(&[7, 0, -7], &arcs, &[true, false, false]));
        assert_eq!(nearest(&[6, 0, -6], &arcs), Ok(vec![6, 6, 0]));
        assert_eq!((exists(&[6, 0, -6], &arcs), exists(&[7, 0, -7], &arcs)), (Ok(()), Err(NoFlow::Contradiction)));
        for target in [f64::NAN, f64::INFINITY, 1e18] {
            assert_eq!(nearest(&[0, 0], &[Arc { target, ..arc(0, 1, None) }]), Err(NoFlow::OutOfRange));
        }
        assert_eq!(nearest(&[i64::MAX, -i64::MAX], &[arc(0, 1, None)]), Err(NoFlow::OutOfRange));
    }

    #[test]
    fn tables_keep_their_sums_beside_large_numbers() {
        // Two rows of millions, and three columns.
        let targets = [3_000_000.4, 17.3, -2.6, 1_999_999.7, 5.2, 0.4];
        let mut arcs = Vec::new();
        for (at, target) in targets.into_iter().enumerate() {
            arcs.push(Arc { from: at / 3, to: 2 + at % 3, target, weight: 1.0, lower: 0, upper: None });
        }
        let supply = [3_000_015, 2_000_005, -5_000_000, -20, 0];
        let flow = nearest(&supply, &arcs).unwrap();
        assert_eq!(flow[2] + flow[5], 0);
        assert_eq!((flow[0] + flow[1], flow[3] + flow[4], flow[1] + flow[4]), (3_000_015, 2_000_005, 20));
        assert!((15..=16).contains(&flow[1]), "{flow:?}");
        assert_eq!(nearest(&[1, 0], &[]), Err(NoFlow::Contradiction));
    }
}
