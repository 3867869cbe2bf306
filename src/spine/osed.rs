//! Off-spine entity distance: the minimum number of geounits to add to or subtract from one another to form an entity.
//!
//! With c the distance of the entity inside a unit, and c' that of its complement there, a block has c = 1, c' = 0 if
//! the entity contains it and c = 0, c' = 1 otherwise. A unit above has
//!
//! c = min(sum c, 1 + sum c'),   c' = min(sum c', 1 + sum c),
//!
//! the sums over its children (Cumings-Menon et al., equations (4.1)-(4.4)). This is the true minimum. Let s be the sum
//! of the coefficients of all ancestors. A unit may choose any integer, but a sum t outside {0, 1} can be clamped to
//! {0, 1} without increasing any coefficient, since clamping never increases the distance between two sums. So two
//! states are enough: c (s = 0) and c' (s = 1). The paper's (4.1) and (4.2) write c\[k, l, v\] where the children are
//! of level L: read l as L there. Levels of only children do not change any off-spine distance, since c <= 1 + c'.
//!
//! A unit that the entity does not touch has c = 0 and c' = 1 (if c' = 1 for its children, then sum c' >= 1 = 1 + sum
//! c). So only units that an entity touches are visited: the time is linear in the number of blocks that the entities
//! touch, times the number of levels.

use super::{blocks::EntityColumn, hierarchy::Tree};
use crate::numeric::parallel;

/// The distances of all entities of a column, `c[k, 1, 1]` (Algorithm 1 before its reduction); 0 for "none", which is
/// not an entity, and for entities without blocks.
pub fn distances(tree: &Tree, column: &EntityColumn) -> Vec<u32> {
    let parents: Vec<Vec<u32>> = (1..tree.levels()).map(|level| tree.parents(level)).collect();
    distances_under(tree, &parents, column)
}

/// The distances of all entities of several columns on one tree.
pub fn all_distances(tree: &Tree, columns: &[&EntityColumn]) -> Vec<Vec<u32>> {
    let parents = parallel::map_indices(tree.levels().saturating_sub(1), |index| tree.parents(index + 1));
    parallel::map(columns, |column| distances_under(tree, &parents, column))
}

/// The number of blocks of each entity; 0 for "none".
pub fn sizes(column: &EntityColumn) -> Vec<u32> {
    let mut sizes = vec![0; column.names.len()];
    for code in column.codes.iter().filter(|code| **code > 0) {
        sizes[*code as usize] += 1;
    }
    sizes
}

fn distances_under(tree: &Tree, parents: &[Vec<u32>], column: &EntityColumn) -> Vec<u32> {
    let mut distances = Vec::with_capacity(column.names.len());
    climb(tree, parents, column, 0, |touched| distances.push(touched.first().map_or(0, |root| root.c[0])));
    distances
}

/// For each entity of a column ("none" has no units), the units of a level that it touches, with c and c' there.
pub(super) fn touched_at(tree: &Tree, column: &EntityColumn, level: usize) -> Vec<Vec<(u32, [u32; 2])>> {
    let parents: Vec<Vec<u32>> = (1..tree.levels()).map(|level| tree.parents(level)).collect();
    let mut all = Vec::with_capacity(column.names.len());
    climb(tree, &parents, column, level, |touched| all.push(touched.iter().map(|at| (at.unit, at.c)).collect()));
    all
}

/// Propagates each entity from its blocks up to a level.
fn climb(tree: &Tree, parents: &[Vec<u32>], column: &EntityColumn, to: usize, mut found: impl FnMut(&[Touched])) {
    let (places, ends) = places(tree, column);
    let mut start = 0;
    let mut touched = Vec::new();
    for end in ends {
        touched.clear();
        let blocks = &places[start..end];
        start = end;
        touched.extend(blocks.iter().map(|place| Touched { unit: *place, c: [1, 0] }));
        for level in (to..tree.levels() - 1).rev() {
            step_up(tree, &parents[level], level, &mut touched);
        }
        found(&touched);
    }
}

/// The places of each entity's blocks, ascending, entity by entity, and the end of each entity's range.
pub(crate) fn places(tree: &Tree, column: &EntityColumn) -> (Vec<u32>, Vec<usize>) {
    let sizes = sizes(column);
    let mut ends = vec![0_usize; sizes.len()];
    for entity in 1..sizes.len() {
        ends[entity] = ends[entity - 1] + sizes[entity - 1] as usize;
    }
    let mut places = vec![0_u32; sizes.iter().map(|size| *size as usize).sum()];
    for (place, row) in tree.order().iter().enumerate() {
        let entity = column.codes[*row as usize] as usize;
        if entity > 0 {
            places[ends[entity]] = place as u32;
            ends[entity] += 1;
        }
    }
    (places, ends)
}

/// A unit that the entity touches, with c and c' there.
struct Touched {
    unit: u32,
    c: [u32; 2],
}

/// Replaces the touched units of the next level by those of this level, in place: there are at most as many.
fn step_up(tree: &Tree, parents: &[u32], level: usize, touched: &mut Vec<Touched>) {
    let (mut read, mut write) = (0, 0);
    while read < touched.len() {
        let unit = parents[touched[read].unit as usize];
        let first = read;
        let mut sums = [0_u32; 2];
        while read < touched.len() && parents[touched[read].unit as usize] == unit {
            sums = [sums[0] + touched[read].c[0], sums[1] + touched[read].c[1]];
            read += 1;
        }
        // Children that are not touched have c' = 1.
        sums[1] += (tree.children(level, unit as usize).len() - (read - first)) as u32;
        touched[write] = Touched { unit, c: step(sums) };
        write += 1;
    }
    touched.truncate(write);
}

/// c and c' of a unit from the sums over its children: equations (4.3) and (4.4).
pub(super) fn step([inside, outside]: [u32; 2]) -> [u32; 2] {
    [inside.min(outside + 1), outside.min(inside + 1)]
}
