//! Sums over sets of leaves: their estimates and variances, with all correlations.
//!
//! Given the final estimate z of a unit, the sum of an area's leaves in it has mean A z + k and covariance R, in every
//! sector. A leaf that belongs to the area with the weight w has A = w, k = 0 and R = 0, and so has a unit all of
//! whose leaves have this weight. From the children, with sums over the children that the area touches and V, S over all children,
//!
//! T = sum of A_c C_c,   A = T V^-,   k = sum of (k_c + A_c x_c) - A S,
//! R = sum of (R_c + A_c C_c A_c') - T V^- T'.
//!
//! With a child o without an estimate, which gets the remainder, A = A_o, and R = sum of (R_c + A_c C_c A_c') - T A' -
//! A T' + A V A'. All of this is known on the way up; at the root the estimate is A z + k with covariance A F A' + R.
//!
//! The sums of two areas i and j have the covariance A_i F A_j' + R_ij, where in the same way
//!
//! R_ij = sum of (R_cij + A_ci C_c A_cj') - T_i V^- T_j',
//!
//! or, with a child o without an estimate, R_oij + sum of (R_cij + A_ci C_c A_cj') - T_i A_oj' - A_oi T_j' + A_oi V A_oj'.

mod pairs;
mod part;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

pub use pairs::{Pairs, Rests, covariance};
pub use part::{AreaPart, Linear, Touched};
use rug::{Float, Rational};

use self::pairs::TouchedPair;
use super::{
    belief::{Belief, Below},
    matrix::Matrix,
    number::Number,
    problem::Shape,
};
use crate::spine::hierarchy::Tree;

/// The share that an area has of a leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafShare {
    /// The number of the area.
    pub area: u32,
    /// The part of the leaf that belongs to it, from 0 to 1.
    pub weight: f64,
}

impl LeafShare {
    /// All of the leaf.
    pub fn whole(area: u32) -> LeafShare {
        LeafShare { area, weight: 1.0 }
    }

    /// An exact part of the leaf, rounded to the nearest double.
    pub fn of_weight(area: u32, weight: &Rational) -> LeafShare {
        LeafShare { area, weight: Float::with_val(f64::MANTISSA_DIGITS, weight).to_f64() }
    }

    pub(in crate::topdown) fn part<N: Number>(self) -> AreaPart<N> {
        AreaPart::Multiple(self.weight)
    }
}

/// The parts of areas in the children of a unit that all have estimates.
#[derive(Debug)]
pub struct Gathered<N = f64> {
    shape: Arc<Shape>,
    pairs: Pairs,
    touched: BTreeMap<u32, Touched<N>>,
    squares: BTreeMap<(u32, u32), TouchedPair<N>>,
}

impl<N: Number> Gathered<N> {
    /// No children yet, of a unit of this shape.
    pub fn new(shape: Arc<Shape>, pairs: Pairs) -> Self {
        Gathered { shape, pairs, touched: BTreeMap::new(), squares: BTreeMap::new() }
    }

    /// Adds the parts of the areas in a child.
    pub fn add(&mut self, child: &Belief<N>, parts: &BTreeMap<u32, AreaPart<N>>, rests: &Rests<N>) {
        for (area, part) in parts {
            let new = || Touched::new(self.shape.clone());
            self.touched.entry(*area).or_insert_with(new).add(part, child);
        }
        for pair in self.pairs.among(parts.keys().copied().collect()) {
            let squares = self.squares.entry(pair).or_insert_with(|| TouchedPair::new(self.shape.clone()));
            squares.add(child, &parts[&pair.0], &parts[&pair.1], rests.get(&pair));
        }
    }

    /// The part of each area in the unit, which has this number of children.
    pub fn join(mut self, below: &Below<N>, children: usize) -> (BTreeMap<u32, AreaPart<N>>, Rests<N>) {
        let mut rests = Rests::new();
        for pair in self.pairs.among(self.touched.keys().copied().collect()) {
            let (first, second) = (&self.touched[&pair.0], &self.touched[&pair.1]);
            let squares = self.squares.remove(&pair);
            if first.as_multiple(children).is_none() && second.as_multiple(children).is_none() {
                let squares = squares.unwrap_or_else(|| TouchedPair::new(self.shape.clone()));
                rests.insert(pair, squares.join(below, first, second, false));
            }
        }
        let join = |(area, touched): (u32, Touched<N>)| (area, touched.join(below, children, false));
        (self.touched.into_iter().map(join).collect(), rests)
    }
}

/// The rests of pairs of areas, by unit.
type RestsByUnit<N> = BTreeMap<(usize, (u32, u32)), Vec<Matrix<N>>>;

/// The areas of a tree during its pass upwards.
#[derive(Debug)]
pub struct AreaSums<N = f64> {
    /// The shares of each leaf of which any area has one.
    of_leaf: HashMap<usize, Vec<LeafShare>>,
    /// By unit and area, at the level whose children are being added.
    touched: BTreeMap<(usize, u32), Touched<N>>,
    /// By unit and area, at the level that was joined last.
    parts: BTreeMap<(usize, u32), AreaPart<N>>,
    /// The parts in units without an estimate.
    open: BTreeMap<(usize, u32), AreaPart<N>>,
    pairs: Pairs,
    /// The same for pairs.
    squares: BTreeMap<(usize, (u32, u32)), TouchedPair<N>>,
    rests: RestsByUnit<N>,
    open_rests: RestsByUnit<N>,
}

/// The areas of each unit, from keys in order.
fn by_unit<'k>(keys: impl Iterator<Item = &'k (usize, u32)>) -> BTreeMap<usize, Vec<u32>> {
    let mut units: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    keys.for_each(|(unit, area)| units.entry(*unit).or_default().push(*area));
    units
}

impl<N> Default for AreaSums<N> {
    fn default() -> Self {
        AreaSums::new(HashMap::new())
    }
}

impl<N> AreaSums<N> {
    /// Areas given by the shares of each leaf of which any area has one.
    pub fn new(of_leaf: HashMap<usize, Vec<LeafShare>>) -> Self {
        AreaSums {
            of_leaf,
            touched: BTreeMap::new(),
            parts: BTreeMap::new(),
            open: BTreeMap::new(),
            pairs: Pairs::None,
            squares: BTreeMap::new(),
            rests: BTreeMap::new(),
            open_rests: BTreeMap::new(),
        }
    }
}

impl<N: Number> AreaSums<N> {
    /// With the covariances of pairs of areas.
    pub fn with_pairs(self, pairs: Pairs) -> Self {
        AreaSums { pairs, ..self }
    }

    /// Adds a leaf with its own estimate; `parent` is its parent, with the parent's shape.
    pub(super) fn leaf(&mut self, unit: usize, parent: Option<(usize, &Arc<Shape>)>, belief: &Belief<N>) {
        let shares = self.of_leaf.get(&unit).map_or(&[][..], Vec::as_slice);
        let Some((parent, shape)) = parent else {
            self.parts.extend(shares.iter().map(|share| ((unit, share.area), share.part())));
            return;
        };
        for share in shares {
            let touched = self.touched.entry((parent, share.area)).or_insert_with(|| Touched::new(shape.clone()));
            touched.add(&share.part(), belief);
        }
        let parts: BTreeMap<u32, AreaPart<N>> = shares.iter().map(|share| (share.area, share.part())).collect();
        for pair in self.pairs.among(parts.keys().copied().collect()) {
            let squares = self.squares.entry((parent, pair)).or_insert_with(|| TouchedPair::new(shape.clone()));
            squares.add(belief, &parts[&pair.0], &parts[&pair.1], None);
        }
    }

    /// Joins a level after all its children were added; `leaves` means that they are leaves.
    pub(super) fn join(&mut self, tree: &Tree, level: usize, leaves: bool, below: &[Below<N>], open: &[Option<u32>]) {
        if self.of_leaf.is_empty() {
            return;
        }
        for (unit, child) in open.iter().enumerate().filter_map(|(unit, open)| Some((unit, (*open)? as usize))) {
            let own: Vec<(u32, AreaPart<N>)> = if leaves {
                self.of_leaf.get(&child).into_iter().flatten().map(|share| (share.area, share.part())).collect()
            } else {
                let own = self.open.range((child, 0)..=(child, u32::MAX));
                own.map(|((_, area), part)| (*area, part.clone())).collect()
            };
            for (area, part) in own {
                let shape = || Touched::new(below[unit].shape.clone());
                self.touched.entry((unit, area)).or_insert_with(shape).add_open(&part);
            }
        }
        self.open.clear();
        let touched = std::mem::take(&mut self.touched);
        self.join_pairs(tree, level, below, open, &touched);
        let join = |((unit, area), touched): ((usize, u32), Touched<N>)| {
            let children = tree.children(level, unit).len();
            ((unit, area), touched.join(&below[unit], children, open[unit].is_some()))
        };
        self.parts = touched.into_iter().map(join).collect();
    }

    fn join_pairs(
        &mut self,
        tree: &Tree,
        level: usize,
        below: &[Below<N>],
        open: &[Option<u32>],
        touched: &BTreeMap<(usize, u32), Touched<N>>,
    ) {
        let mut squares = std::mem::take(&mut self.squares);
        let mut open_rests = std::mem::take(&mut self.open_rests);
        for (unit, areas) in by_unit(touched.keys()) {
            let children = tree.children(level, unit).len();
            for pair in self.pairs.among(areas) {
                let (first, second) = (&touched[&(unit, pair.0)], &touched[&(unit, pair.1)]);
                if first.as_multiple(children).is_some() || second.as_multiple(children).is_some() {
                    continue;
                }
                let new = || TouchedPair::new(below[unit].shape.clone());
                let mut own = squares.remove(&(unit, pair)).unwrap_or_else(new);
                // A child without an estimate has the shape of its parent.
                if let Some(rest) = open[unit].and_then(|child| open_rests.remove(&(child as usize, pair))) {
                    own.squares.iter_mut().zip(&rest).for_each(|(sum, rest)| sum.add(1.0, rest));
                }
                let rest = own.join(&below[unit], first, second, open[unit].is_some());
                self.rests.insert((unit, pair), rest);
            }
        }
    }

    fn hand_up_pairs(&mut self, beliefs: &[Option<Belief<N>>], parents: &[u32], shapes: &[Arc<Shape>]) {
        let mut rests = std::mem::take(&mut self.rests);
        for (unit, areas) in by_unit(self.parts.keys()) {
            let parent = parents[unit] as usize;
            for pair in self.pairs.among(areas) {
                let rest = rests.remove(&(unit, pair));
                match (&beliefs[unit], rest) {
                    (None, Some(rest)) => {
                        self.open_rests.insert((unit, pair), rest);
                    }
                    (None, None) => {}
                    (Some(belief), rest) => {
                        let new = || TouchedPair::new(shapes[parent].clone());
                        let (first, second) = (&self.parts[&(unit, pair.0)], &self.parts[&(unit, pair.1)]);
                        let squares = self.squares.entry((parent, pair)).or_insert_with(new);
                        squares.add(belief, first, second, rest.as_ref());
                    }
                }
            }
        }
    }

    /// Passes the areas' parts in the units of a level, which have their estimates, to the parents with these shapes.
    pub(super) fn hand_up(&mut self, beliefs: &[Option<Belief<N>>], parents: &[u32], shapes: &[Arc<Shape>]) {
        self.hand_up_pairs(beliefs, parents, shapes);
        for ((unit, area), part) in std::mem::take(&mut self.parts) {
            let parent = parents[unit] as usize;
            match &beliefs[unit] {
                None => {
                    self.open.insert((unit, area), part);
                }
                Some(belief) => {
                    let shape = || Touched::new(shapes[parent].clone());
                    self.touched.entry((parent, area)).or_insert_with(shape).add(&part, belief);
                }
            }
        }
    }

    /// The part of each area, of those with leaves in the tree, in its root; and R of each pair.
    pub fn of_root_with_pairs(self) -> (BTreeMap<u32, AreaPart<N>>, Rests<N>) {
        let rests = self.rests.into_iter().map(|((_, pair), rest)| (pair, rest)).collect();
        (self.parts.into_iter().map(|((_, area), part)| (area, part)).collect(), rests)
    }

    /// The part of each area, of those with leaves in the tree, in its root.
    pub fn of_root(self) -> Vec<(u32, AreaPart<N>)> {
        self.parts.into_iter().map(|((_, area), part)| (area, part)).collect()
    }
}
