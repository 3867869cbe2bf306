//! The tree of geounits: one array of child ranges for each geolevel, over blocks in tree order.
//!
//! Unit `u` of level `l` has the children `starts[l][u] .. starts[l][u + 1]` of level `l + 1`; the last level is the blocks.
//! A nation of eight million blocks takes about 32 MB for a dense level. By construction the tree has no cycles.

use super::blocks::Blocks;

/// Maximum number of geolevels: the share that a level carries is stored in four bits of a word.
pub const MOST_LEVELS: usize = 15;

/// A hierarchy of geounits over blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// For each level but the blocks: the start of each unit's children in the next level, and the end.
    starts: Vec<Vec<u32>>,
    /// The row of the block at each place of the tree.
    order: Vec<u32>,
}

impl Tree {
    /// The tree of `levels` levels over at least one block in the given order. `first_difference` returns the highest
    /// level (from 1) in which two adjacent blocks lie in different units: at most the block level, `levels - 1`.
    pub(super) fn over(order: Vec<u32>, levels: usize, first_difference: impl Fn(u32, u32) -> usize) -> Tree {
        let mut starts: Vec<Vec<u32>> = vec![Vec::new(); levels - 1];
        for place in 0..order.len() {
            let highest = if place == 0 { 0 } else { first_difference(order[place - 1], order[place]) };
            for level in highest..levels - 1 {
                // The unit's first child is the next unit opened in the level below.
                let child = starts.get(level + 1).map_or(place, Vec::len) as u32;
                starts[level].push(child);
            }
        }
        for level in 0..levels - 1 {
            // The end that closes the level above counts all units here, without the end of this level itself.
            let children = starts.get(level + 1).map_or(order.len(), Vec::len) as u32;
            starts[level].push(children);
        }
        Tree { starts, order }
    }

    /// A tree from its arrays, which the caller has checked: each level's starts ascend strictly from 0 to the number of
    /// units of the next level, and the order is a permutation of the rows.
    pub(crate) fn from_parts(starts: Vec<Vec<u32>>, order: Vec<u32>) -> Tree {
        Tree { starts, order }
    }

    /// The standard census spine: nation, state, county, tract, block group, block, by the digits of GEOIDs.
    pub fn census(blocks: &Blocks) -> Tree {
        let geoids = blocks.geoids();
        Tree::over((0..geoids.len() as u32).collect(), 6, |a, b| {
            let (a, b) = (geoids[a as usize], geoids[b as usize]);
            let digits = [10_u64.pow(13), 10_u64.pow(10), 10_u64.pow(4), 1000];
            1 + digits.iter().position(|unit| a / unit != b / unit).unwrap_or(4)
        })
    }

    /// The number of levels, including the blocks.
    pub fn levels(&self) -> usize {
        self.starts.len() + 1
    }

    /// The number of units of a level.
    pub fn units(&self, level: usize) -> usize {
        self.starts.get(level).map_or(self.order.len(), |starts| starts.len() - 1)
    }

    /// The children of a unit above the blocks, as units of the next level.
    pub fn children(&self, level: usize, unit: usize) -> std::ops::Range<usize> {
        self.starts[level][unit] as usize..self.starts[level][unit + 1] as usize
    }

    /// The unit of a level that has a given child; the search starts at `from`.
    pub(crate) fn unit_of(&self, level: usize, from: usize, child: usize) -> usize {
        let ends = &self.starts[level][from + 1..];
        // The unit is usually one of the next few.
        let near = ends.iter().take(8).position(|end| child < *end as usize);
        from + near.unwrap_or_else(|| ends.partition_point(|end| *end as usize <= child))
    }

    /// The places of the blocks in a unit.
    pub fn blocks(&self, level: usize, unit: usize) -> std::ops::Range<usize> {
        let down = |end: usize| (level..self.starts.len()).fold(end, |end, level| self.starts[level][end] as usize);
        down(unit)..down(unit + 1)
    }

    /// The rows of the blocks in tree order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The largest fan-out of the level; 0 for blocks.
    pub fn max_fanout(&self, level: usize) -> usize {
        let widths = self.starts.get(level).into_iter().flat_map(|starts| starts.windows(2));
        widths.map(|ends| (ends[1] - ends[0]) as usize).max().unwrap_or(0)
    }

    /// The parent of each unit of a level below the root.
    pub(crate) fn parents(&self, level: usize) -> Vec<u32> {
        let mut parents = Vec::with_capacity(self.units(level));
        for (parent, ends) in self.starts[level - 1].windows(2).enumerate() {
            parents.resize(ends[1] as usize, parent as u32);
        }
        parents
    }

    /// Inserts a level between `level` and its children: `groups` fills one list with the children of a unit in their
    /// new order, and one with the sizes of the groups that they form.
    pub(super) fn insert(&mut self, level: usize, mut groups: impl FnMut(&Tree, usize, &mut Vec<u32>, &mut Vec<u32>)) {
        let mut order = Vec::with_capacity(self.units(level + 1));
        let (mut upper, mut between) = (vec![0], vec![0]);
        let mut sizes = Vec::new();
        for unit in 0..self.units(level) {
            sizes.clear();
            groups(self, unit, &mut order, &mut sizes);
            for size in &sizes {
                between.push(between[between.len() - 1] + size);
            }
            upper.push(between.len() as u32 - 1);
        }
        self.permute(level + 1, order);
        self.starts[level] = upper;
        self.starts.insert(level + 1, between);
    }

    /// The same without the root, which must have one child.
    pub(crate) fn without_root(mut self) -> Tree {
        self.starts.remove(0);
        self
    }

    /// Reorders the units of a level, together with everything below them.
    fn permute(&mut self, level: usize, mut order: Vec<u32>) {
        for starts in &mut self.starts[level..] {
            let mut moved = Vec::with_capacity(starts.len());
            let mut children = Vec::with_capacity(starts[starts.len() - 1] as usize);
            for unit in order {
                moved.push(children.len() as u32);
                children.extend(starts[unit as usize]..starts[unit as usize + 1]);
            }
            moved.push(children.len() as u32);
            *starts = moved;
            order = children;
        }
        self.order = order.into_iter().map(|place| self.order[place as usize]).collect();
    }

    /// Splits each marked unit of a level above the blocks into one unit for each of its children.
    pub(super) fn split(&mut self, level: usize, marked: &[bool]) {
        let mut split = Vec::with_capacity(self.starts[level].len());
        // The new position of each old unit.
        let mut places = Vec::with_capacity(self.starts[level].len());
        for (unit, ends) in self.starts[level].windows(2).enumerate() {
            places.push(split.len() as u32);
            if marked[unit] {
                split.extend(ends[0]..ends[1]);
            } else {
                split.push(ends[0]);
            }
        }
        places.push(split.len() as u32);
        split.push(self.units(level + 1) as u32);
        self.starts[level] = split;
        if level > 0 {
            for end in &mut self.starts[level - 1] {
                *end = places[*end as usize];
            }
        }
    }
}
