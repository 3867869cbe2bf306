//! Records that enter counts on different routes, such as the block paths of a spine: what follows from the worst route, or the worst pair of them.

use std::sync::Arc;

use super::{
    Both, Choice, Definition, POINTS,
    grid::{OnGrid, Terms},
    is_of_either_relation,
};
use crate::account::Counts;

/// The points of a grid where there are more pairs of routes than these: fewer, because each pair is a sum of its own.
const MANY_PAIRS: usize = 200;
const FEW_POINTS: f64 = 140.0;
/// Pairs of routes, up to this number.
const MOST_PAIRS: usize = 5_000;

impl Definition {
    /// Of every route, or pair of routes. `None` where the data choose other things than the route, and where noise is not symmetric: then it matters which of two routes is
    /// left.
    pub(super) fn of_routes(&self) -> Option<Vec<Both>> {
        let count = self.routes.len();
        let pairs = if self.is_changed { count * (count + 1) / 2 } else { count };
        if pairs > MOST_PAIRS {
            return None;
        }
        let points = if pairs > MANY_PAIRS { FEW_POINTS } else { POINTS[1] };
        let blocks: Vec<OnGrid> =
            self.blocks.iter().map(|counts| self.of_block(counts, 1, points)).collect::<Option<_>>()?;
        let of_route = |route: &Vec<usize>| {
            let own: Vec<OnGrid> = route.iter().map(|block| blocks.get(*block).cloned()).collect::<Option<_>>()?;
            OnGrid::sum(own, points)
        };
        let routes: Vec<OnGrid> = self.routes.iter().map(of_route).collect::<Option<_>>()?;
        let of_counts = self.of_block(&self.counts, if self.is_changed { 2 } else { 1 }, points);
        let beside: Vec<OnGrid> = [(&self.counts, of_counts), (&self.given, self.of_block(&self.given, 1, points))]
            .into_iter()
            .filter(|(counts, _)| !counts.is_empty())
            .map(|(_, sum)| sum)
            .collect::<Option<_>>()?;
        let whole = |own: Vec<OnGrid>| {
            let sum = Arc::new(OnGrid::sum(own.into_iter().chain(beside.iter().cloned()).collect(), points)?);
            Some([Arc::clone(&sum), sum])
        };
        if !self.is_changed {
            return routes.into_iter().map(|one| whole(vec![one])).collect();
        }
        let pairs = (0..count).flat_map(|p| (p..count).map(move |q| (p, q)));
        pairs.map(|(p, q)| whole(vec![routes[p].clone(), routes[q].clone()])).collect()
    }

    /// The sum of these counts, each with its number of times.
    fn of_block(&self, counts: &[Counts], times: u64, points: f64) -> Option<OnGrid> {
        if times > 1 && counts.iter().any(|counts| is_of_either_relation(&counts.law)) {
            return None;
        }
        let mut all: Vec<Choice> = Vec::new();
        for counts in counts {
            let [only] = &self.choices_of(counts)?[..] else { return None };
            all.push(only.clone());
        }
        let terms: Terms = all.iter().flatten().map(|(listed, copies)| (Arc::clone(listed), copies * times)).collect();
        if terms.iter().any(|(listed, _)| !listed.is_symmetric) {
            return None;
        }
        OnGrid::of_terms(&terms, points)
    }
}
