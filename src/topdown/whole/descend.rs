//! Integer counts from the root of a tree to its leaves: level by level, with the families of a level on all cores;
//! leaves are read once more.

use rayon::prelude::*;

use super::family::{Bound, Child, Counts, Passes, Settled, no_counts};
use crate::{
    error::Result,
    numeric::parallel,
    topdown::gls::{
        belief::{Belief, Descent},
        pass::{Pass, Risen},
        problem::Free,
    },
};

/// The constraints on the units of a tree.
pub struct Limits<'a> {
    /// The points of a unit that may be above zero.
    pub free: &'a (dyn Fn(usize, usize) -> &'a Free + Sync),
    /// The bounds of a unit; empty for none.
    pub bounds: &'a (dyn Fn(usize, usize) -> &'a [Bound] + Sync),
    /// The name of a unit, for messages.
    pub name: &'a (dyn Fn(usize, usize) -> String + Sync),
}

/// A tree after the pass upwards, during the descent.
pub struct WholePass<'a> {
    /// Its units and counts.
    pub pass: &'a Pass<'a>,
    /// The kept results of the pass upwards, which must reach down to the requested level.
    pub risen: &'a Risen,
    /// The passes of each family.
    pub passes: &'a Passes,
    /// Constraints.
    pub limits: Limits<'a>,
}

/// A family whose leaves are being read.
struct Waiting {
    unit: usize,
    descent: Descent,
    /// For each leaf: its cells given the parent's counts, and its own estimate without them.
    leaves: Vec<(usize, Vec<f64>, Belief)>,
}

/// The number of families of leaves that are processed together.
const FAMILIES: usize = 64;

impl WholePass<'_> {
    /// From the integer counts of the root to the level `deepest`. `take` receives every unit, level by level.
    pub fn down(
        &self,
        root: Settled,
        deepest: usize,
        take: &mut dyn FnMut(usize, usize, &Counts) -> Result<()>,
    ) -> Result<()> {
        take(0, 0, &root.counts)?;
        let last = self.pass.tree.levels() - 1;
        let mut above = vec![root];
        for level in 0..deepest.min(last.saturating_sub(1)) {
            let families = parallel::try_map_indices(above.len(), |unit| self.family(level, unit, &above[unit]))?;
            // Children are stored in order, parent by parent.
            above = families.concat();
            above.iter().enumerate().try_for_each(|(unit, own)| take(level + 1, unit, &own.counts))?;
        }
        if deepest < last || last == 0 { Ok(()) } else { self.leaves(&above, take) }
    }

    fn descent(&self, level: usize, unit: usize, own: &Settled) -> Option<Descent> {
        let below = self.risen.below(level, unit)?;
        let like = Belief { shape: below.shape.clone(), x: Vec::new(), covariance: Default::default() };
        let fixed = self.passes.fixed(self.pass.problem, &like, own);
        Some(Descent::new(&fixed, below, self.risen.open(level, unit).is_some()))
    }

    /// The children of a unit above the lowest two levels.
    fn family(&self, level: usize, unit: usize, parent: &Settled) -> Result<Vec<Settled>> {
        let children = self.pass.tree.children(level, unit);
        let Some(descent) = self.descent(level, unit, parent) else {
            return Ok(vec![Settled::default(); children.len()]);
        };
        let own: Vec<(usize, Vec<f64>, Belief)> = children
            .map(|child| match self.risen.belief(level + 1, child) {
                Some(belief) => {
                    let x = descent.mean(belief);
                    let (shape, covariance) = (belief.shape.clone(), belief.covariance.clone());
                    (child, self.passes.cells_of(self.pass.problem, belief, &x), Belief { shape, x, covariance })
                }
                None => self.open(child, &descent),
            })
            .collect();
        let shared = self.share(level, unit, &parent.counts, &own)?;
        Ok(shared.into_iter().zip(own).map(|(counts, (_, _, belief))| self.passes.settled(counts, belief.x)).collect())
    }

    /// The child without an estimate, which gets the remainder.
    fn open(&self, child: usize, descent: &Descent) -> (usize, Vec<f64>, Belief) {
        let belief = descent.estimate(None);
        (child, self.passes.cells_of(self.pass.problem, &belief, &belief.x), belief)
    }

    fn share(
        &self,
        level: usize,
        unit: usize,
        counts: &Counts,
        children: &[(usize, Vec<f64>, Belief)],
    ) -> Result<Vec<Counts>> {
        let views: Vec<Child> = (children.iter())
            .map(|(child, cells, belief)| Child {
                cells,
                belief,
                free: (self.limits.free)(level + 1, *child),
                bounds: (self.limits.bounds)(level + 1, *child),
                total: None,
            })
            .collect();
        let shared = self.passes.share(self.pass.problem, counts, (self.limits.bounds)(level, unit), &views);
        shared.map_err(|why| no_counts(&format!("what lies in {}", (self.limits.name)(level, unit)), why))
    }

    /// The leaves, family by family as they are read.
    fn leaves(&self, above: &[Settled], take: &mut dyn FnMut(usize, usize, &Counts) -> Result<()>) -> Result<()> {
        let (tree, last) = (self.pass.tree, self.pass.tree.levels() - 1);
        let parents = tree.parents(last);
        let mut waiting: Vec<Option<Box<Waiting>>> = (0..above.len()).map(|_| None).collect();
        let mut ready: Vec<Waiting> = Vec::new();
        self.pass.each_leaf(&mut |leaf, belief| {
            let unit = parents[leaf] as usize;
            if waiting[unit].is_none() {
                let Some(descent) = self.descent(last - 1, unit, &above[unit]) else { return Ok(()) };
                waiting[unit] = Some(Box::new(Waiting { unit, descent, leaves: Vec::new() }));
            }
            let Some(family) = &mut waiting[unit] else { return Ok(()) };
            let cells = self.passes.cells_of(self.pass.problem, &belief, &family.descent.mean(&belief));
            family.leaves.push((leaf, cells, Belief { x: Vec::new(), ..belief }));
            let open = usize::from(self.risen.open(last - 1, unit).is_some());
            if family.leaves.len() + open == tree.children(last - 1, unit).len() {
                ready.extend(waiting[unit].take().map(|family| *family));
            }
            if ready.len() < FAMILIES { Ok(()) } else { self.finish(above, std::mem::take(&mut ready), take) }
        })?;
        self.finish(above, ready, take)?;
        // Families with a single leaf without an estimate: the leaf equals its parent.
        for (unit, own) in above.iter().enumerate() {
            if let (1, Some(leaf)) = (tree.children(last - 1, unit).len(), self.risen.open(last - 1, unit)) {
                take(last, leaf as usize, &own.counts)?;
            }
        }
        Ok(())
    }

    fn finish(
        &self,
        above: &[Settled],
        families: Vec<Waiting>,
        take: &mut dyn FnMut(usize, usize, &Counts) -> Result<()>,
    ) -> Result<()> {
        let last = self.pass.tree.levels() - 1;
        let shared: Vec<(Vec<usize>, Vec<Counts>)> = (families.into_par_iter())
            .map(|family| {
                let Waiting { unit, descent, mut leaves } = family;
                if let Some(open) = self.risen.open(last - 1, unit) {
                    leaves.push(self.open(open as usize, &descent));
                }
                // In the order of the tree, independent of the order in the file.
                leaves.sort_by_key(|leaf| leaf.0);
                let places = leaves.iter().map(|leaf| leaf.0).collect();
                Ok((places, self.share(last - 1, unit, &above[unit].counts, &leaves)?))
            })
            .collect::<Result<_>>()?;
        for (places, counts) in shared {
            places.iter().zip(&counts).try_for_each(|(leaf, counts)| take(last, *leaf, counts))?;
        }
        Ok(())
    }
}
