//! Algorithm 2 run on one county, as printed and with the assignment that is missing in print.

use crate::spine::{blocks::EntityColumn, hierarchy::Tree, osed};

/// A county with one entity that consists of some of its tracts, each with one block.
struct County<'a> {
    entity: &'a EntityColumn,
    /// The maximum number of tracts of a group: sqrt(n) + fanout_cutoff.
    most: usize,
}

/// Tract groups, each a list of tracts.
type Groups = Vec<Vec<u32>>;

impl County<'_> {
    /// The distance of the only entity.
    fn distance(&self, groups: &Groups) -> u32 {
        let mut ends = vec![0];
        groups.iter().for_each(|group| ends.push(ends[ends.len() - 1] + group.len() as u32));
        let tree = Tree::from_parts(vec![vec![0, groups.len() as u32], ends], groups.concat());
        osed::distances(&tree, self.entity)[1]
    }

    /// `Combine_Siblings`, if the groups together have few enough tracts.
    fn combined(&self, groups: &Groups, u: usize, v: usize) -> Option<Groups> {
        let fits = groups[u].len() + groups[v].len() <= self.most;
        fits.then(|| {
            let mut combined = groups.clone();
            let absorbed = combined.remove(v);
            combined[u].extend(absorbed);
            combined
        })
    }

    /// The result of the algorithm; `None` if it does not end, because a round changes nothing and requests another.
    fn algorithm_2(&self, start: &Groups, assigns: bool) -> Option<Groups> {
        let mut g = start.clone();
        let mut current = self.distance(&g);
        loop {
            let (before, mut changed) = ((g.clone(), current), false);
            for (u, v) in pairs(g.len()) {
                // A group that was combined with another one is no longer a child of the county.
                let test = if v < g.len() { self.combined(&g, u, v) } else { None };
                let Some(test) = test else { continue };
                let distance = self.distance(&test);
                if distance <= current {
                    current = distance;
                    changed = true;
                    if assigns {
                        g = test;
                    }
                }
            }
            if !changed {
                return Some(g);
            }
            if before == (g.clone(), current) {
                return None;
            }
        }
    }

    /// The distances before and after; `None` if it does not end.
    fn outcome(&self, tracts: u32, assigns: bool) -> Option<(u32, u32)> {
        let start: Groups = (0..tracts).map(|tract| vec![tract]).collect();
        let after = self.algorithm_2(&start, assigns)?;
        Some((self.distance(&start), self.distance(&after)))
    }
}

/// All u < v < n.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |u| (u + 1..n).map(move |v| (u, v)))
}

/// Whether the algorithm ends with distances that are no larger for every entity of a county with `tracts` tracts, and
/// smaller for some. `assigns` adds `g <- g'` to `current_OSEDs <- test_OSEDs`.
pub(super) fn redefines(tracts: u32, fanout_cutoff: usize, assigns: bool) -> bool {
    let outcome = |bits: u32| {
        let codes = (0..tracts).map(|tract| bits >> tract & 1).collect();
        let entity = EntityColumn { codes, names: vec![String::new(), "in".into()] };
        let most = tracts.isqrt() as usize + fanout_cutoff;
        County { entity: &entity, most }.outcome(tracts, assigns)
    };
    let outcomes: Vec<Option<(u32, u32)>> = (1..1_u32 << tracts).map(outcome).collect();
    outcomes.iter().all(|one| one.is_some_and(|(before, after)| after <= before))
        && outcomes.iter().flatten().any(|(before, after)| after < before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_ends_only_with_its_assignment() {
        let entity = EntityColumn { codes: vec![1, 1, 0, 0, 0], names: vec![String::new(), "in".into()] };
        let county = County { entity: &entity, most: 2 };
        let start: Groups = (0..5).map(|tract| vec![tract]).collect();
        assert_eq!(county.distance(&start), 2);
        assert_eq!(county.algorithm_2(&start, false), None);
        let found = county.algorithm_2(&start, true).unwrap();
        assert!(county.distance(&found) == 1 && found.iter().all(|group| group.len() <= 2), "{found:?}");
        assert!(redefines(5, 0, true) && !redefines(5, 0, false));
        // If no two groups may be combined it ends at once, with or without the assignment.
        let narrow = County { entity: &entity, most: 1 };
        assert_eq!(narrow.algorithm_2(&start, false), Some(start));
    }
}
