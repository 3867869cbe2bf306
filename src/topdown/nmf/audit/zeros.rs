//! The counts of a query that are zero by constraints, so that their noisy values are noise alone.

use std::{collections::HashMap, sync::Arc};

use crate::topdown::{
    gls::{
        basis::Part,
        problem::{Free, Problem},
    },
    nmf::names::NamedQuery,
};

/// The most counts of a query that are taken from one unit. A unit of the DHC has a million.
pub const MOST: usize = 4096;

/// Along an attribute, the points of each group of a query.
type Along = Vec<Vec<u32>>;

/// The zero counts of queries, each list made once.
pub(super) struct ZeroCounts {
    apart: Vec<Part>,
    sizes: Vec<usize>,
    points: Vec<usize>,
    queries: HashMap<Vec<Part>, Vec<Along>>,
    known: HashMap<(Vec<Part>, Free), Arc<[u32]>>,
}

impl ZeroCounts {
    pub(super) fn new(problem: &Problem, sizes: &[usize]) -> ZeroCounts {
        let apart = problem.apart();
        let points = apart.iter().zip(sizes).map(|(part, size)| part.groups(*size)).collect();
        ZeroCounts { apart, sizes: sizes.to_vec(), points, queries: HashMap::new(), known: HashMap::new() }
    }

    /// The first counts of a query, at most [`MOST`], all of whose cells are zero where only `free` points may be above zero.
    pub(super) fn counts(&mut self, query: &NamedQuery, free: &Free) -> Arc<[u32]> {
        let key = (query.parts.clone(), free.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let along = self.queries.entry(query.parts.clone()).or_insert_with(|| {
            let axes = query.parts.iter().zip(&self.apart).zip(&self.sizes);
            axes.map(|((part, apart), size)| along(part, apart, *size)).collect()
        });
        let found: Arc<[u32]> = zero_counts(along, &self.points, free).into();
        self.known.insert(key, found.clone());
        found
    }
}

fn along(part: &Part, apart: &Part, size: usize) -> Along {
    let mut groups = vec![Vec::new(); part.groups(size)];
    for value in 0..size {
        let (group, point) = (&mut groups[part.group_of(value)], apart.group_of(value) as u32);
        if !group.contains(&point) {
            group.push(point);
        }
    }
    groups
}

fn zero_counts(along: &[Along], points: &[usize], free: &Free) -> Vec<u32> {
    let mut found = Vec::new();
    let counts: usize = along.iter().map(Vec::len).product();
    let mut place = vec![0_usize; along.len()];
    for count in 0..counts {
        if !any_free(along, points, free, &place, 0, 0) {
            found.push(count as u32);
            if found.len() == MOST {
                break;
            }
        }
        // The next count, the last attribute fastest.
        for (at, groups) in place.iter_mut().zip(along).rev() {
            *at += 1;
            if *at < groups.len() {
                break;
            }
            *at = 0;
        }
    }
    found
}

/// Whether a cell of the count at `place` may be above zero.
fn any_free(along: &[Along], points: &[usize], free: &Free, place: &[usize], axis: usize, before: usize) -> bool {
    match along.get(axis) {
        None => free.has(before),
        Some(groups) => groups[place[axis]]
            .iter()
            .any(|point| any_free(along, points, free, place, axis + 1, before * points[axis] + *point as usize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_zero_if_all_their_cells_are() {
        // 4 x 3 cells; the constraints distinguish the first attribute, and the first value of the second one.
        let (whole, two, total) = (Part::Whole, Part::Groups(vec![0, 1, 1, 1]), Part::Total);
        let apart = [Part::Whole, Part::Groups(vec![0, 1, 1])];
        let problem = Problem::for_answers(&[4, 3], &[], &[], &apart).unwrap();
        let mut free = problem.all_free();
        // All cells of the values 2 and 3, and the first cell of value 1.
        let (points, _) = problem.points_with(|axis, value| axis == 1 || value >= 2);
        points.into_iter().for_each(|point| free.remove(point));
        let (points, _) = problem.points_with(|axis, value| if axis == 0 { value == 1 } else { value == 0 });
        points.into_iter().for_each(|point| free.remove(point));
        let own = problem.apart();
        let points: Vec<usize> = own.iter().zip([4, 3]).map(|(part, size)| part.groups(size)).collect();
        let zero = |parts: [&Part; 2]| {
            let axes: Vec<Along> =
                parts.iter().zip(&own).zip([4, 3]).map(|((part, apart), size)| along(part, apart, size)).collect();
            zero_counts(&axes, &points, &free)
        };
        assert_eq!(zero([&whole, &whole]), [3, 6, 7, 8, 9, 10, 11]);
        assert_eq!(zero([&whole, &total]), [2, 3]);
        // The first cells of the values 1, 2 and 3 together.
        assert_eq!(zero([&two, &whole]), [3]);
        assert_eq!(zero([&two, &total]), [0_u32; 0]);
        assert_eq!(zero([&total, &whole]), [0_u32; 0]);
    }
}
