//! The two passes over a tree whose counts are read unit by unit: upwards once, and downwards to a requested level.
//!
//! Leaves are read, added to their parents and freed. Between the passes only the units above the lowest requested
//! level are kept. The sums over children are taken in the order in which the units are read, so that the result has
//! the same bits for any number of cores.

use std::{collections::HashMap, sync::Arc};

use rayon::prelude::*;

use super::{
    areas::AreaSums,
    belief::{Belief, Below, Descent, Measured},
    matrix::{Factor, Matrix},
    number::Number,
    patterns::{Matrices, Patterns},
    problem::{Problem, Shape, undetermined},
};
use crate::{
    error::{Error, Result},
    numeric::parallel,
    spine::hierarchy::Tree,
};

/// The noisy counts of a unit.
#[derive(Clone, Debug)]
pub struct UnitCounts<N: Number = f64> {
    /// The unit, by its index in its level.
    pub unit: usize,
    /// The variance of the counts of each query of the level.
    pub variances: Arc<[N::Variance]>,
    /// The counts of all queries of the level, one query after the other.
    pub counts: Vec<N>,
}

/// The source of counts: every unit of a level at most once, always in the same order.
pub trait Measurements<N: Number = f64>: Sync {
    /// Passes the units of a level to `take`, in batches.
    fn read(&self, level: usize, take: &mut dyn FnMut(Vec<UnitCounts<N>>) -> Result<()>) -> Result<()>;

    /// The name of a unit, for messages.
    fn name(&self, level: usize, unit: usize) -> String;
}

/// A tree with its counts.
pub struct Pass<'a, N: Number = f64> {
    /// The queries.
    pub problem: &'a Problem<N>,
    /// The units.
    pub tree: &'a Tree,
    /// The level of the problem at the root of the tree.
    pub first: usize,
    /// For each level, the shapes of its units.
    pub shapes: &'a [Vec<Arc<Shape>>],
    /// The counts.
    pub measurements: &'a dyn Measurements<N>,
}

/// The kept results of the pass upwards.
pub struct Risen<N = f64> {
    /// For each level down to the lowest kept one, the estimates from the subtrees alone; `None` if nothing is known.
    beliefs: Vec<Vec<Option<Belief<N>>>>,
    /// For each level above it, the sums over the children.
    below: Vec<Vec<Option<Below<N>>>>,
    /// The child without an estimate.
    open: Vec<Vec<Option<u32>>>,
}

impl<N> Risen<N> {
    /// The estimate of the root from all counts of the tree; `None` if nothing is known.
    pub fn root(&self) -> Option<&Belief<N>> {
        self.beliefs[0][0].as_ref()
    }

    /// The estimate of a unit from its subtree alone; `None` if nothing is known of it or kept.
    pub fn belief(&self, level: usize, unit: usize) -> Option<&Belief<N>> {
        self.beliefs[level].get(unit)?.as_ref()
    }

    /// The sum over the children of a unit; `None` if it was not kept.
    pub fn below(&self, level: usize, unit: usize) -> Option<&Below<N>> {
        self.below[level].get(unit)?.as_ref()
    }

    /// The child of a unit without an estimate.
    pub fn open(&self, level: usize, unit: usize) -> Option<u32> {
        self.open[level][unit]
    }
}

/// The levels down to which final estimates are needed.
#[derive(Clone, Copy)]
struct Reach {
    /// The lowest level above the leaves.
    keep: usize,
    to_leaves: bool,
}

/// The results of a walk downwards, and the steps from units above the leaves to their children.
struct Walked<N, T> {
    made: Vec<T>,
    descents: Vec<(usize, Descent<N>)>,
}

impl<N: Number> Pass<'_, N> {
    fn last(&self) -> usize {
        self.tree.levels() - 1
    }

    fn information(&self, level: usize, unit: &UnitCounts<N>) -> Vec<Matrix<N>> {
        self.problem.information(self.first + level, &unit.variances, &self.shapes[level][unit.unit])
    }

    /// Refuses information that alone has to determine a unit and does not.
    fn check(&self, level: usize, unit: usize, information: &[Matrix<N>]) -> Result<()> {
        match self.problem.is_determined(information) {
            true => Ok(()),
            false => Err(undetermined(&self.measurements.name(level, unit))),
        }
    }

    /// The own estimates of leaves, in their order.
    fn leaves(&self, patterns: &mut Patterns<N>, units: Vec<UnitCounts<N>>) -> Result<Vec<(usize, Belief<N>)>> {
        let level = self.last();
        let with_pattern = |unit: UnitCounts<N>| {
            let shape = &self.shapes[level][unit.unit];
            let covariance = patterns.matrices((level, &unit.variances), shape, true, || {
                let mut information = self.information(level, &unit);
                self.problem.add_prior(&mut information);
                self.check(level, unit.unit, &information)?;
                Ok(information.iter().map(|matrix| Factor::new(matrix).inverse().symmetric()).collect())
            })?;
            Ok((unit, covariance))
        };
        let units = units.into_iter().map(with_pattern).collect::<Result<Vec<_>>>()?;
        let cells = self.problem.basis.coordinates();
        let belief = |scratch: &mut Vec<N>, (mut unit, covariance): (UnitCounts<N>, Matrices<N>)| {
            let shape = self.shapes[level][unit.unit].clone();
            let (first, variances) = (self.first + level, unit.variances.clone());
            let right_side = self.problem.right_side(first, &variances, &mut unit.counts, scratch, &shape);
            (unit.unit, Belief::alone(shape, covariance, &right_side))
        };
        Ok(units.into_par_iter().map_init(|| vec![N::of(0.0); cells], belief).collect())
    }

    /// Passes the own estimate of every leaf with counts to `take`, as they are read.
    pub fn each_leaf(&self, take: &mut dyn FnMut(usize, Belief<N>) -> Result<()>) -> Result<()> {
        let mut patterns = Patterns::new();
        self.measurements.read(self.last(), &mut |units| {
            self.leaves(&mut patterns, units)?.into_iter().try_for_each(|(leaf, belief)| take(leaf, belief))
        })
    }

    /// The pass upwards. Its result allows descending to the level `deepest`. `areas` are accumulated on the way.
    pub fn up(&self, deepest: usize, areas: &mut AreaSums<N>) -> Result<Risen<N>> {
        let (levels, last) = (self.tree.levels(), self.last());
        let keep = deepest.min(last.saturating_sub(1));
        let mut risen = Risen { beliefs: vec![Vec::new(); levels], below: vec![Vec::new(); levels], open: vec![] };
        risen.open = (0..levels).map(|level| vec![None; self.tree.units(level)]).collect();
        let mut patterns = Patterns::new();
        if last == 0 {
            risen.beliefs[0].push(None);
            self.measurements.read(0, &mut |units| {
                for (_, belief) in self.leaves(&mut patterns, units)? {
                    areas.leaf(0, None, &belief);
                    risen.beliefs[0][0] = Some(belief);
                }
                Ok(())
            })?;
            return Ok(risen);
        }
        let parents = self.tree.parents(last);
        let mut below = self.no_children(last - 1);
        let mut seen = vec![false; self.tree.units(last)];
        self.measurements.read(last, &mut |units| {
            for (unit, belief) in self.leaves(&mut patterns, units)? {
                let parent = parents[unit] as usize;
                below[parent].add(&belief);
                seen[unit] = true;
                areas.leaf(unit, Some((parent, &self.shapes[last - 1][parent])), &belief);
            }
            Ok(())
        })?;
        self.mark_open(last, &parents, |unit| seen[unit], &mut risen.open[last - 1])?;
        for level in (0..last).rev() {
            areas.join(self.tree, level, level + 1 == last, &below, &risen.open[level]);
            let mut beliefs = self.estimates(level, &mut patterns, &below, &risen.open[level])?;
            if level < deepest {
                risen.below[level] = below.into_iter().map(Some).collect();
            }
            if level > 0 {
                let parents = self.tree.parents(level);
                below = self.no_children(level - 1);
                self.mark_open(level, &parents, |unit| beliefs[unit].is_some(), &mut risen.open[level - 1])?;
                areas.hand_up(&beliefs, &parents, &self.shapes[level - 1]);
                for (belief, parent) in beliefs.iter_mut().zip(&parents) {
                    if let Some(own) = belief {
                        below[*parent as usize].add(own);
                    }
                    if level > keep {
                        *belief = None;
                    }
                }
            } else {
                below = Vec::new();
            }
            if level <= keep {
                risen.beliefs[level] = beliefs;
            }
        }
        Ok(risen)
    }

    fn no_children(&self, level: usize) -> Vec<Below<N>> {
        self.shapes[level].iter().map(|shape| Below::new(shape.clone())).collect()
    }

    /// Records the children of a level without an estimate; two with the same parent cannot be distinguished.
    fn mark_open(
        &self,
        level: usize,
        parents: &[u32],
        known: impl Fn(usize) -> bool,
        open: &mut [Option<u32>],
    ) -> Result<()> {
        for (unit, parent) in parents.iter().enumerate().filter(|(unit, _)| !known(*unit)) {
            let (own, whole) = (&self.shapes[level][unit], &self.shapes[level - 1][*parent as usize]);
            let other = open[*parent as usize].replace(unit as u32);
            if other.is_some() || own != whole {
                let beside = other.map_or_else(
                    || "its siblings with other zeros".to_string(),
                    |other| self.measurements.name(level, other as usize),
                );
                return Err(Error::missing(format!(
                    "{} has no noisy counts, nor have its parts: it cannot be separated from {beside} under {}",
                    self.measurements.name(level, unit),
                    self.measurements.name(level - 1, *parent as usize)
                )));
            }
        }
        Ok(())
    }

    /// The estimates of the units of a level above the leaves from their subtrees.
    fn estimates(
        &self,
        level: usize,
        patterns: &mut Patterns<N>,
        below: &[Below<N>],
        open: &[Option<u32>],
    ) -> Result<Vec<Option<Belief<N>>>> {
        let mut beliefs: Vec<Option<Belief<N>>> = vec![None; below.len()];
        let mut seen = vec![false; below.len()];
        let cells = self.problem.basis.coordinates();
        self.measurements.read(level, &mut |units| {
            let with_pattern = |unit: UnitCounts<N>| {
                let shape = &self.shapes[level][unit.unit];
                let information =
                    patterns.matrices((level, &unit.variances), shape, false, || Ok(self.information(level, &unit)))?;
                // Children with estimates determine the unit, whatever it counts itself.
                if open[unit.unit].is_some() || below[unit.unit].is_empty() {
                    self.check(level, unit.unit, &information)?;
                }
                Ok((unit, information))
            };
            let units = units.into_iter().map(with_pattern).collect::<Result<Vec<_>>>()?;
            let belief = |scratch: &mut Vec<N>, (mut unit, information): (UnitCounts<N>, Matrices<N>)| {
                let shape = &self.shapes[level][unit.unit];
                let (first, variances) = (self.first + level, unit.variances.clone());
                let right_side = self.problem.right_side(first, &variances, &mut unit.counts, scratch, shape);
                let measured = Measured { information, right_side };
                (unit.unit, below[unit.unit].estimate(open[unit.unit].is_some(), Some(&measured)))
            };
            let done: Vec<_> = units.into_par_iter().map_init(|| vec![N::of(0.0); cells], belief).collect();
            for (unit, belief) in done {
                beliefs[unit] = belief;
                seen[unit] = true;
            }
            Ok(())
        })?;
        for (unit, belief) in beliefs.iter_mut().enumerate().filter(|(unit, _)| !seen[*unit]) {
            *belief = below[unit].estimate(open[unit].is_some(), None);
        }
        Ok(beliefs)
    }

    /// The pass downwards, from the final estimate of the root to the level `keep` of the pass upwards and, if
    /// `to_leaves`, to the leaves, which are read once more. `each` computes a result from every final estimate, on all
    /// cores. `take` receives the results in order: a unit before those below it, and leaves at the end, as they are
    /// read.
    pub fn down<T: Send>(
        &self,
        risen: &Risen<N>,
        root: Belief<N>,
        to_leaves: bool,
        each: impl Fn(usize, usize, &Belief<N>) -> Result<T> + Sync,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let last = self.last();
        let keep = (0..last).rev().find(|level| !risen.beliefs[*level].is_empty()).unwrap_or(0);
        take(each(0, 0, &root)?)?;
        if last == 0 {
            return Ok(());
        }
        let mut finals = vec![(0, root)];
        let mut leaves: Vec<Option<Descent<N>>> = (0..self.tree.units(last - 1)).map(|_| None).collect();
        // Level by level while levels are small, then branch by branch.
        let mut level = 0;
        while level < keep && self.tree.units(level + 1) <= 256 {
            let mut below = Vec::new();
            for (unit, last) in finals {
                below.extend(self.children(risen, level, unit, &last));
            }
            finals = below;
            level += 1;
            let made = parallel::try_map(&finals, |(unit, belief)| each(level, *unit, belief))?;
            made.into_iter().try_for_each(&mut take)?;
        }
        let reach = Reach { keep, to_leaves };
        for branches in finals.chunks(16) {
            let walked = parallel::try_map(branches, |(unit, belief)| {
                let mut walked = Walked { made: Vec::new(), descents: Vec::new() };
                self.walk(risen, (level, *unit, belief), reach, &each, &mut walked)?;
                Ok(walked)
            })?;
            for walked in walked {
                walked.made.into_iter().try_for_each(&mut take)?;
                walked.descents.into_iter().for_each(|(unit, descent)| leaves[unit] = Some(descent));
            }
        }
        if to_leaves { self.down_to_leaves(risen, &leaves, &each, &mut take) } else { Ok(()) }
    }

    /// The final estimates of the children of a unit.
    fn children(&self, risen: &Risen<N>, level: usize, unit: usize, last: &Belief<N>) -> Vec<(usize, Belief<N>)> {
        let (Some(Some(below)), open) = (risen.below[level].get(unit), risen.open[level][unit].is_some()) else {
            return Vec::new();
        };
        let descent = Descent::new(last, below, open);
        let child = |child: usize| (child, descent.estimate(risen.beliefs[level + 1][child].as_ref()));
        self.tree.children(level, unit).map(child).collect()
    }

    /// The results for everything below a unit, without the unit.
    fn walk<T>(
        &self,
        risen: &Risen<N>,
        (level, unit, belief): (usize, usize, &Belief<N>),
        reach: Reach,
        each: &(impl Fn(usize, usize, &Belief<N>) -> Result<T> + Sync),
        walked: &mut Walked<N, T>,
    ) -> Result<()> {
        if level == self.last() - 1
            && reach.to_leaves
            && let Some(Some(below)) = risen.below[level].get(unit)
        {
            let descent = Descent::new(belief, below, risen.open[level][unit].is_some());
            walked.descents.push((unit, descent));
        }
        if level < reach.keep {
            for (child, last) in self.children(risen, level, unit, belief) {
                walked.made.push(each(level + 1, child, &last)?);
                self.walk(risen, (level + 1, child, &last), reach, each, walked)?;
            }
        }
        Ok(())
    }

    fn down_to_leaves<T: Send>(
        &self,
        risen: &Risen<N>,
        descents: &[Option<Descent<N>>],
        each: &(impl Fn(usize, usize, &Belief<N>) -> Result<T> + Sync),
        take: &mut impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let last = self.last();
        let parents = self.tree.parents(last);
        let mut patterns = Patterns::new();
        // Siblings with the same measurements have the same final covariance.
        let mut known: HashMap<(u32, *const Vec<Matrix<N>>), Matrices<N>> = HashMap::new();
        self.measurements.read(last, &mut |units| {
            let mut batch = Vec::with_capacity(units.len());
            for (unit, own) in self.leaves(&mut patterns, units)? {
                let parent = parents[unit];
                if let Some(descent) = &descents[parent as usize] {
                    let key = (parent, Arc::as_ptr(&own.covariance));
                    let covariance = known.entry(key).or_insert_with(|| Arc::new(descent.covariance(&own))).clone();
                    batch.push((unit, own, descent, covariance));
                }
            }
            let made: Vec<T> = (batch.into_par_iter())
                .map(|(unit, own, descent, covariance)| {
                    let x = descent.mean(&own);
                    each(last, unit, &Belief { shape: own.shape, x, covariance })
                })
                .collect::<Result<_>>()?;
            made.into_iter().try_for_each(&mut *take)
        })?;
        for (parent, open) in risen.open[last - 1].iter().enumerate() {
            if let (Some(leaf), Some(descent)) = (open, &descents[parent]) {
                take(each(last, *leaf as usize, &descent.estimate(None))?)?;
            }
        }
        Ok(())
    }
}
