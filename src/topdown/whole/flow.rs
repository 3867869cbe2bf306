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

mod network;
mod relaxed;
#[cfg(test)]
mod tests;

pub use network::{Arc, NoFlow};
use network::{MOST, Network, Start};
use relaxed::relaxed;

/// The nearest integer flow in a network with this supply at each node; a negative supply is a demand.
pub fn nearest(supply: &[i64], arcs: &[Arc]) -> Result<Vec<i64>, NoFlow> {
    let arcs = &scaled(arcs)?;
    checked(supply, arcs)?;
    let most = most_above(supply, arcs)?;
    let start = relaxed(supply, arcs).unwrap_or_else(|| from_targets(supply, arcs));
    carried(supply, arcs, most, start)
}

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
