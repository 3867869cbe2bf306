//! The nearest whole flow: whole numbers on the arcs of a network that keep what flows in and out of every node and the bounds of every
//! arc, with the least sum of weight (number - target)^2.
//!
//! The problem in real numbers is a quadratic program, which Clarabel solves (an interior-point method for sparse cone programs). Its
//! multipliers nu of the nodes give every arc u -> v the reduced slope r = 2 w (x - z) + nu_v - nu_u, which is 0 between the bounds,
//! at least 0 at the lower one and at most 0 at the upper one. Round every arc to the nearest whole number q. One more on it costs
//! w (2 (q - z) + 1) + nu_v - nu_u = r + w (2 (q - x) + 1) >= 0, and one less not less than 0 either, because |q - x| <= 1/2: no change of an
//! arc pays. What is missing or too much at nodes is then carried along shortest paths, one by one, which keeps that so (Ahuja, Magnanti
//! and Orlin, Network Flows, 1993, section 14.5). So the end is an optimum over whole numbers, up to the accuracy of the program.

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
    /// What its flow should be near.
    pub target: f64,
    /// How much a square of the difference costs; 0 for nothing.
    pub weight: f64,
    /// Its flow is at least this.
    pub lower: i64,
    /// And at most this, if anything.
    pub upper: Option<i64>,
}

/// Why there is no flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFlow {
    /// No flow keeps all sums and bounds.
    Contradiction,
    /// The solver did not come to an end.
    Unsolved,
}

/// The nearest whole flow in a network in which so much is `supply`-ed at each node (taken, where it is negative).
pub fn nearest(supply: &[i64], arcs: &[Arc]) -> Result<Vec<i64>, NoFlow> {
    if supply.iter().sum::<i64>() != 0 || arcs.iter().any(|arc| arc.upper.is_some_and(|upper| upper < arc.lower)) {
        return Err(NoFlow::Contradiction);
    }
    let most = arcs.iter().map(|arc| arc.weight).fold(0.0, f64::max);
    let scaled: Vec<Arc> =
        (arcs.iter()).map(|arc| Arc { weight: if most > 0.0 { arc.weight / most } else { 0.0 }, ..*arc }).collect();
    let (flow, potentials) = relaxed(supply, &scaled)?;
    let mut network = Network::new(supply, &scaled, &flow, potentials);
    while network.carry_one()? {}
    Ok(network.flow)
}

/// The flow in real numbers, and the multipliers of the nodes.
fn relaxed(supply: &[i64], arcs: &[Arc]) -> Result<(Vec<f64>, Vec<f64>), NoFlow> {
    // As differences from the target rounded into the bounds: small numbers beside populations of millions.
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
    // The rows: what enters a node less what leaves it; then - x <= - lower, then x <= upper.
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
    let settings =
        DefaultSettingsBuilder::default().verbose(false).max_threads(1).build().map_err(|_| NoFlow::Unsolved)?;
    let solver = DefaultSolver::new(&cost, &slope, &matrix, &right_side, &cones, settings);
    let mut solver = solver.map_err(|_| NoFlow::Unsolved)?;
    solver.solve();
    match solver.solution.status {
        SolverStatus::Solved | SolverStatus::AlmostSolved => {}
        SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => return Err(NoFlow::Contradiction),
        _ => return Err(NoFlow::Unsolved),
    }
    let flow = solver.solution.x.iter().zip(&base).map(|(x, base)| x + base).collect();
    Ok((flow, solver.solution.z[..nodes].to_vec()))
}

/// A network while what is missing at its nodes is carried there.
struct Network<'a> {
    arcs: &'a [Arc],
    /// The arcs at each node.
    at_node: Vec<Vec<u32>>,
    flow: Vec<i64>,
    potentials: Vec<f64>,
    /// What enters a node or is supplied there, less what leaves it.
    excess: Vec<i64>,
}

/// A distance, ordered; never NaN.
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

impl<'a> Network<'a> {
    fn new(supply: &[i64], arcs: &'a [Arc], flow: &[f64], potentials: Vec<f64>) -> Network<'a> {
        let whole = |(arc, flow): (&Arc, &f64)| {
            // A double beyond the range of whole numbers becomes the end of that range.
            let nearest = (flow.round() as i64).max(arc.lower);
            arc.upper.map_or(nearest, |upper| nearest.min(upper))
        };
        let flow: Vec<i64> = arcs.iter().zip(flow).map(whole).collect();
        let mut excess = supply.to_vec();
        let mut at_node: Vec<Vec<u32>> = vec![Vec::new(); supply.len()];
        for (number, (arc, flow)) in arcs.iter().zip(&flow).enumerate() {
            excess[arc.to] += flow;
            excess[arc.from] -= flow;
            at_node[arc.from].push(number as u32);
            at_node[arc.to].push(number as u32);
        }
        Network { arcs, at_node, flow, potentials, excess }
    }

    /// What it costs to go along an arc from a node, and where that leads: one more on the arc, or one less against its direction.
    fn step(&self, number: usize, node: usize) -> Option<(usize, f64)> {
        let (arc, flow) = (&self.arcs[number], self.flow[number]);
        let slope = 2.0 * arc.weight * (flow as f64 - arc.target);
        let across = self.potentials[arc.to] - self.potentials[arc.from];
        // Below zero by roundings alone.
        if arc.from == node {
            (arc.upper != Some(flow)).then(|| (arc.to, (slope + arc.weight + across).max(0.0)))
        } else {
            (flow > arc.lower).then(|| (arc.from, (arc.weight - slope - across).max(0.0)))
        }
    }

    /// Carries one from a node with too much to the nearest one that lacks some. False if none has too much.
    fn carry_one(&mut self) -> Result<bool, NoFlow> {
        let nodes = self.excess.len();
        let mut distance = vec![f64::INFINITY; nodes];
        let mut came_by: Vec<Option<u32>> = vec![None; nodes];
        let mut heap = BinaryHeap::new();
        for node in (0..nodes).filter(|node| self.excess[*node] > 0) {
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
            if self.excess[node] < 0 {
                found = Some((node, at));
                break;
            }
            for number in &self.at_node[node] {
                if let Some((next, cost)) = self.step(*number as usize, node)
                    && at + cost < distance[next]
                {
                    distance[next] = at + cost;
                    came_by[next] = Some(*number);
                    heap.push((Reverse(Distance(at + cost)), next));
                }
            }
        }
        let (end, length) = found.ok_or(NoFlow::Contradiction)?;
        for (potential, distance) in self.potentials.iter_mut().zip(&distance) {
            *potential -= distance.min(length);
        }
        self.excess[end] += 1;
        let mut node = end;
        while let Some(number) = came_by[node] {
            let arc = &self.arcs[number as usize];
            let forward = arc.to == node;
            self.flow[number as usize] += if forward { 1 } else { -1 };
            node = if forward { arc.from } else { arc.to };
        }
        self.excess[node] -= 1;
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

    /// All flows with numbers from 0 to 3, by trying: the least cost of those that keep sums and bounds.
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

    #[test]
    fn whole_flows_are_the_best_of_all_whole_flows() {
        let mut numbers = Numbers(5);
        let (mut solved, mut refused) = (0, 0);
        for _ in 0..400 {
            let nodes = 3 + numbers.below(3) as usize;
            let arcs: Vec<Arc> = (0..3 + numbers.below(5))
                .map(|_| {
                    let from = numbers.below(nodes as u64) as usize;
                    let to = (from + 1 + numbers.below(nodes as u64 - 1) as usize) % nodes;
                    let target = numbers.below(400) as f64 / 100.0 - 0.7;
                    let weight = [0.0, 0.5, 1.0, 4.0][numbers.below(4) as usize];
                    let lower = numbers.below(2) as i64;
                    Arc { from, to, target, weight, lower, upper: Some(lower + numbers.below(3) as i64) }
                })
                .collect();
            // What some flow in the bounds leaves at the nodes, or a little beside it.
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
            match (nearest(&supply, &arcs), brute_force(&supply, &arcs)) {
                (Ok(flow), Some(best)) => {
                    assert!(cost(&arcs, &flow) <= best + 1e-6, "{supply:?} {arcs:?} {flow:?}");
                    solved += 1;
                }
                (Err(NoFlow::Contradiction), None) => refused += 1,
                other => panic!("{supply:?} {arcs:?} {other:?}"),
            }
        }
        assert!(solved > 200 && refused > 20, "{solved} {refused}");
    }

    #[test]
    fn tables_keep_their_sums_beside_large_numbers() {
        // Two rows of millions and three columns.
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
