//! The start of the search from the continuous relaxation.

use clarabel::{
    algebra::CscMatrix,
    solver::{
        DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT, ZeroConeT,
    },
};

use super::network::{Arc, MOST, Start};

/// The start from Clarabel: the real-valued flow, and the multipliers of the nodes. `None` if it has none, whatever its
/// status: only the integer search decides whether there is a flow.
pub(super) fn relaxed(supply: &[i64], arcs: &[Arc]) -> Option<Start> {
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
