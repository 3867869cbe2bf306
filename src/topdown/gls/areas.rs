//! Sums over sets of leaves: their estimates and variances, with all correlations.
//!
//! Given the final estimate z of a unit, the sum of an area's leaves in it has mean A z + k and covariance R, in every
//! sector. A leaf of the area has A = 1, k = 0 and R = 0, and so has a unit that lies entirely in the area. From the
//! children, with sums over the children that the area touches and V, S over all children,
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

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    belief::{Belief, Below, add_part, apply},
    matrix::{Factor, Matrix},
    problem::Shape,
};
use crate::spine::hierarchy::Tree;

/// The part of an area in a unit, given the unit's final estimate.
#[derive(Clone, Debug)]
pub enum AreaPart {
    /// All of the unit.
    Whole,
    /// A part of the unit.
    Some(Box<Linear>),
}

/// A z + k with the covariance R, on the shape of the unit.
#[derive(Clone, Debug)]
pub struct Linear {
    factors: Vec<Matrix>,
    rest: Vec<Matrix>,
    constant: Vec<f64>,
}

impl AreaPart {
    /// Its numbers: A and R sector by sector, and k; `None` for all of the unit.
    pub fn numbers(&self) -> Option<[Vec<f64>; 3]> {
        let AreaPart::Some(linear) = self else { return None };
        let all = |matrices: &[Matrix]| matrices.iter().flat_map(|matrix| matrix.entries.iter().copied()).collect();
        Some([all(&linear.factors), all(&linear.rest), linear.constant.clone()])
    }

    /// From its numbers on the shape of the unit; `None` if their number is wrong.
    pub fn of_numbers(shape: &Shape, numbers: Option<[Vec<f64>; 3]>) -> Option<AreaPart> {
        let Some([factors, rest, constant]) = numbers else { return Some(AreaPart::Whole) };
        let entries: usize = shape.sizes().map(|size| size * size).sum();
        if factors.len() != entries || rest.len() != entries || constant.len() != shape.len() {
            return None;
        }
        let matrices = |mut entries: &[f64]| {
            let next = |size: usize| {
                let (own, others) = entries.split_at(size * size);
                entries = others;
                Matrix { rows: size, columns: size, entries: own.to_vec() }
            };
            shape.sizes().map(next).collect()
        };
        let (factors, rest) = (matrices(&factors), matrices(&rest));
        Some(AreaPart::Some(Box::new(Linear { factors, rest, constant })))
    }

    /// The estimate of the area's sum, from the unit's final estimate.
    pub fn estimate(&self, last: &Belief) -> Belief {
        let AreaPart::Some(linear) = self else { return last.clone() };
        let mut x = apply(&last.shape, &linear.factors, &last.x);
        x.iter_mut().zip(&linear.constant).for_each(|(x, k)| *x += k);
        let covariance = (linear.factors.iter().zip(&linear.rest).zip(last.covariance.iter()))
            .map(|((a, r), f)| {
                let mut sum = a.times(f).times(&a.transposed());
                sum.add(1.0, r);
                sum.symmetric()
            })
            .collect();
        Belief { shape: last.shape.clone(), x, covariance: Arc::new(covariance) }
    }
}

/// The accumulated parts of an area in the children of a unit.
#[derive(Clone, Debug)]
pub struct Touched {
    shape: Arc<Shape>,
    /// The number of children that lie entirely in the area.
    whole: usize,
    /// T.
    products: Vec<Matrix>,
    /// The sum of R_c + A_c C_c A_c'.
    squares: Vec<Matrix>,
    /// The sum of k_c + A_c x_c.
    means: Vec<f64>,
    /// A of the child without an estimate.
    open: Option<Vec<Matrix>>,
}

impl Touched {
    /// No children yet, of a unit of this shape.
    pub fn new(shape: Arc<Shape>) -> Touched {
        let zeros = || shape.rows.iter().map(|rows| Matrix::zero(rows.len(), rows.len())).collect::<Vec<_>>();
        Touched { whole: 0, products: zeros(), squares: zeros(), means: vec![0.0; shape.len], open: None, shape }
    }

    /// Adds the part of the area in a child with an estimate.
    pub fn add(&mut self, part: &AreaPart, child: &Belief) {
        let places = child.shape.places_in(&self.shape);
        match part {
            AreaPart::Whole => {
                self.whole += 1;
                add_part(&self.shape, &mut self.means, &child.shape, &child.x);
                for (sector, places) in places.iter().enumerate() {
                    self.products[sector].add_at(1.0, &child.covariance[sector], places);
                    self.squares[sector].add_at(1.0, &child.covariance[sector], places);
                }
            }
            AreaPart::Some(linear) => {
                let mut mean = apply(&child.shape, &linear.factors, &child.x);
                mean.iter_mut().zip(&linear.constant).for_each(|(mean, k)| *mean += k);
                add_part(&self.shape, &mut self.means, &child.shape, &mean);
                for (sector, places) in places.iter().enumerate() {
                    let product = linear.factors[sector].times(&child.covariance[sector]);
                    self.squares[sector].add_at(1.0, &product.times(&linear.factors[sector].transposed()), places);
                    self.squares[sector].add_at(1.0, &linear.rest[sector], places);
                    self.products[sector].add_at(1.0, &product, places);
                }
            }
        }
    }

    /// Adds the part of the area in the child without an estimate, which has the shape of its parent.
    pub fn add_open(&mut self, part: &AreaPart) {
        match part {
            AreaPart::Whole => {
                self.whole += 1;
                self.open = Some(self.shape.rows.iter().map(|rows| Matrix::identity(rows.len())).collect());
            }
            AreaPart::Some(linear) => {
                self.means.iter_mut().zip(&linear.constant).for_each(|(mean, k)| *mean += k);
                self.squares.iter_mut().zip(&linear.rest).for_each(|(sum, rest)| sum.add(1.0, rest));
                self.open = Some(linear.factors.clone());
            }
        }
    }

    /// A: of the child without an estimate, if there is one.
    fn factors(&self, below: &Below, open: bool) -> Vec<Matrix> {
        if open {
            let zeros = || self.squares.iter().map(|rest| Matrix::zero(rest.rows, rest.rows)).collect();
            return self.open.clone().unwrap_or_else(zeros);
        }
        let factor = |(v, t): (Matrix, &Matrix)| {
            // A' = V^- T', as V is symmetric.
            let mut transposed = t.transposed();
            Factor::new(&v).solve(&mut transposed.entries, t.rows);
            transposed.transposed()
        };
        below.covariance().into_iter().zip(&self.products).map(factor).collect()
    }

    /// The part of the area in the unit with this number of children; `open` means that one of them has no estimate.
    pub fn join(self, below: &Below, children: usize, open: bool) -> AreaPart {
        if self.whole == children {
            return AreaPart::Whole;
        }
        let factors = self.factors(below, open);
        let mut rest = self.squares;
        let all = below.covariance();
        for (sector, rest) in rest.iter_mut().enumerate() {
            let (a, t) = (&factors[sector], &self.products[sector]);
            let across = t.times(&a.transposed());
            rest.add(-1.0, &across);
            if open {
                rest.add(-1.0, &across.transposed());
                rest.add(1.0, &a.times(&all[sector]).times(&a.transposed()));
            }
        }
        let mut constant = self.means;
        let shared = apply(&self.shape, &factors, &below.x);
        constant.iter_mut().zip(&shared).for_each(|(k, s)| *k -= s);
        let rest = rest.into_iter().map(Matrix::symmetric).collect();
        AreaPart::Some(Box::new(Linear { factors, rest, constant }))
    }
}

/// The pairs of areas whose covariances are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pairs {
    /// None.
    #[default]
    None,
    /// These, the smaller number first.
    Listed(BTreeSet<(u32, u32)>),
    /// All.
    All,
}

impl Pairs {
    /// Those among some areas.
    fn among(&self, mut areas: Vec<u32>) -> Vec<(u32, u32)> {
        areas.sort_unstable();
        match self {
            Pairs::None => Vec::new(),
            Pairs::Listed(listed) => {
                let is_there = |area: &u32| areas.binary_search(area).is_ok();
                listed.iter().filter(|(first, second)| is_there(first) && is_there(second)).copied().collect()
            }
            Pairs::All => {
                let with = |(at, first): (usize, &u32)| {
                    let first = *first;
                    areas[at + 1..].iter().map(move |second| (first, *second)).collect::<Vec<_>>()
                };
                areas.iter().enumerate().flat_map(with).collect()
            }
        }
    }
}

/// R of each pair of areas; zero for the others.
pub type Rests = BTreeMap<(u32, u32), Vec<Matrix>>;

/// The covariance of the parts of two areas in a unit whose estimate has this covariance.
pub fn covariance(unit: &Belief, first: &AreaPart, second: &AreaPart, rest: Option<&Vec<Matrix>>) -> Vec<Matrix> {
    let of_sector = |(sector, own): (usize, &Matrix)| {
        let left = match first {
            AreaPart::Whole => own.clone(),
            AreaPart::Some(linear) => linear.factors[sector].times(own),
        };
        let mut product = match second {
            AreaPart::Whole => left,
            AreaPart::Some(linear) => left.times(&linear.factors[sector].transposed()),
        };
        if let Some(rest) = rest {
            product.add(1.0, &rest[sector]);
        }
        product
    };
    unit.covariance.iter().enumerate().map(of_sector).collect()
}

/// The sum of R_cij + A_ci C_c A_cj' over children.
#[derive(Clone, Debug)]
struct TouchedPair {
    shape: Arc<Shape>,
    squares: Vec<Matrix>,
}

impl TouchedPair {
    fn new(shape: Arc<Shape>) -> TouchedPair {
        let squares = shape.rows.iter().map(|rows| Matrix::zero(rows.len(), rows.len())).collect();
        TouchedPair { shape, squares }
    }

    /// Adds a child with an estimate.
    fn add(&mut self, child: &Belief, first: &AreaPart, second: &AreaPart, rest: Option<&Vec<Matrix>>) {
        let places = child.shape.places_in(&self.shape);
        let products = covariance(child, first, second, rest);
        for ((sum, own), places) in self.squares.iter_mut().zip(&products).zip(&places) {
            sum.add_at(1.0, own, places);
        }
    }

    /// R of the pair in the unit, of which neither area has all.
    fn join(self, below: &Below, first: &Touched, second: &Touched, open: bool) -> Vec<Matrix> {
        let (a, b) = (first.factors(below, open), second.factors(below, open));
        let all = below.covariance();
        let mut rest = self.squares;
        for (sector, rest) in rest.iter_mut().enumerate() {
            rest.add(-1.0, &first.products[sector].times(&b[sector].transposed()));
            if open {
                rest.add(-1.0, &a[sector].times(&second.products[sector].transposed()));
                rest.add(1.0, &a[sector].times(&all[sector]).times(&b[sector].transposed()));
            }
        }
        rest
    }
}

/// The parts of areas in the children of a unit that all have estimates.
#[derive(Debug)]
pub struct Gathered {
    shape: Arc<Shape>,
    pairs: Pairs,
    touched: BTreeMap<u32, Touched>,
    squares: BTreeMap<(u32, u32), TouchedPair>,
}

impl Gathered {
    /// No children yet, of a unit of this shape.
    pub fn new(shape: Arc<Shape>, pairs: Pairs) -> Gathered {
        Gathered { shape, pairs, touched: BTreeMap::new(), squares: BTreeMap::new() }
    }

    /// Adds the parts of the areas in a child.
    pub fn add(&mut self, child: &Belief, parts: &BTreeMap<u32, AreaPart>, rests: &Rests) {
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
    pub fn join(mut self, below: &Below, children: usize) -> (BTreeMap<u32, AreaPart>, Rests) {
        let mut rests = Rests::new();
        for pair in self.pairs.among(self.touched.keys().copied().collect()) {
            let (first, second) = (&self.touched[&pair.0], &self.touched[&pair.1]);
            let squares = self.squares.remove(&pair);
            if first.whole < children && second.whole < children {
                let squares = squares.unwrap_or_else(|| TouchedPair::new(self.shape.clone()));
                rests.insert(pair, squares.join(below, first, second, false));
            }
        }
        let join = |(area, touched): (u32, Touched)| (area, touched.join(below, children, false));
        (self.touched.into_iter().map(join).collect(), rests)
    }
}

/// The areas of a tree during its pass upwards.
#[derive(Debug, Default)]
pub struct AreaSums {
    /// The areas of each leaf that lies in at least one.
    of_leaf: HashMap<usize, Vec<u32>>,
    /// By unit and area, at the level whose children are being added.
    touched: BTreeMap<(usize, u32), Touched>,
    /// By unit and area, at the level that was joined last.
    parts: BTreeMap<(usize, u32), AreaPart>,
    /// The parts in units without an estimate.
    open: BTreeMap<(usize, u32), AreaPart>,
    pairs: Pairs,
    /// The same for pairs.
    squares: BTreeMap<(usize, (u32, u32)), TouchedPair>,
    rests: BTreeMap<(usize, (u32, u32)), Vec<Matrix>>,
    open_rests: BTreeMap<(usize, (u32, u32)), Vec<Matrix>>,
}

/// The areas of each unit, from keys in order.
fn by_unit<'k>(keys: impl Iterator<Item = &'k (usize, u32)>) -> BTreeMap<usize, Vec<u32>> {
    let mut units: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    keys.for_each(|(unit, area)| units.entry(*unit).or_default().push(*area));
    units
}

impl AreaSums {
    /// Areas given by the areas of each leaf that lies in at least one.
    pub fn new(of_leaf: HashMap<usize, Vec<u32>>) -> AreaSums {
        AreaSums { of_leaf, ..AreaSums::default() }
    }

    /// With the covariances of pairs of areas.
    pub fn with_pairs(self, pairs: Pairs) -> AreaSums {
        AreaSums { pairs, ..self }
    }

    /// Adds a leaf with its own estimate; `parent` is its parent, with the parent's shape.
    pub(super) fn leaf(&mut self, unit: usize, parent: Option<(usize, &Arc<Shape>)>, belief: &Belief) {
        for area in self.of_leaf.get(&unit).into_iter().flatten() {
            let Some((parent, shape)) = parent else {
                self.parts.insert((unit, *area), AreaPart::Whole);
                continue;
            };
            let touched = self.touched.entry((parent, *area)).or_insert_with(|| Touched::new(shape.clone()));
            touched.add(&AreaPart::Whole, belief);
        }
        let Some((parent, shape)) = parent else { return };
        for pair in self.pairs.among(self.of_leaf.get(&unit).cloned().unwrap_or_default()) {
            let squares = self.squares.entry((parent, pair)).or_insert_with(|| TouchedPair::new(shape.clone()));
            squares.add(belief, &AreaPart::Whole, &AreaPart::Whole, None);
        }
    }

    /// Joins a level after all its children were added; `leaves` means that they are leaves.
    pub(super) fn join(&mut self, tree: &Tree, level: usize, leaves: bool, below: &[Below], open: &[Option<u32>]) {
        if self.of_leaf.is_empty() {
            return;
        }
        for (unit, child) in open.iter().enumerate().filter_map(|(unit, open)| Some((unit, (*open)? as usize))) {
            let own: Vec<(u32, AreaPart)> = if leaves {
                self.of_leaf.get(&child).into_iter().flatten().map(|area| (*area, AreaPart::Whole)).collect()
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
        let join = |((unit, area), touched): ((usize, u32), Touched)| {
            let children = tree.children(level, unit).len();
            ((unit, area), touched.join(&below[unit], children, open[unit].is_some()))
        };
        self.parts = touched.into_iter().map(join).collect();
    }

    fn join_pairs(
        &mut self,
        tree: &Tree,
        level: usize,
        below: &[Below],
        open: &[Option<u32>],
        touched: &BTreeMap<(usize, u32), Touched>,
    ) {
        let mut squares = std::mem::take(&mut self.squares);
        let mut open_rests = std::mem::take(&mut self.open_rests);
        for (unit, areas) in by_unit(touched.keys()) {
            let children = tree.children(level, unit).len();
            for pair in self.pairs.among(areas) {
                let (first, second) = (&touched[&(unit, pair.0)], &touched[&(unit, pair.1)]);
                if first.whole == children || second.whole == children {
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

    fn hand_up_pairs(&mut self, beliefs: &[Option<Belief>], parents: &[u32], shapes: &[Arc<Shape>]) {
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
    pub(super) fn hand_up(&mut self, beliefs: &[Option<Belief>], parents: &[u32], shapes: &[Arc<Shape>]) {
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
    pub fn of_root_with_pairs(self) -> (BTreeMap<u32, AreaPart>, Rests) {
        let rests = self.rests.into_iter().map(|((_, pair), rest)| (pair, rest)).collect();
        (self.parts.into_iter().map(|((_, area), part)| (area, part)).collect(), rests)
    }

    /// The part of each area, of those with leaves in the tree, in its root.
    pub fn of_root(self) -> Vec<(u32, AreaPart)> {
        self.parts.into_iter().map(|((_, area), part)| (area, part)).collect()
    }
}
