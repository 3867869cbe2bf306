use super::{network::cut, *};
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
