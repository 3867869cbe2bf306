//! The privacy theorems on small spines, by changing every record; Lemma 2 by exact Renyi divergences.

use std::ops::Range;

use rug::Rational;

use super::trees::{binary_tree, uneven_tree};
use crate::{
    account::{Composition, Counts},
    error::Result,
    numeric::Enclosure,
    release::{
        Neighbors,
        schema::{QueryGroup, Schema},
    },
    replication::verdict::Computed,
    spine::{
        bypass::{Privacy, Spine},
        hierarchy::Tree,
    },
    topdown::{
        histograms::{Entry, Histograms},
        measure::MeasurementPlan,
    },
};

/// Whether the largest privacy loss over all changes of one record to another place and cell equals the budget. The
/// queries distinguish both attributes, so a change is fully visible even at units that contain both places.
pub(super) fn privacy(bypassed: bool, pure: bool) -> Result<bool> {
    let tree = if bypassed { uneven_tree()? } else { binary_tree()? };
    let shares: Vec<Rational> = [3, 1, 4, 1, 5, 2].map(|part| Rational::from((part, 16))).to_vec();
    let spine = Spine::new(tree, shares, if pure { Privacy::Pure { cutoff: 150 } } else { Privacy::Concentrated })?;
    let schema = Schema::numbered([("a", 2), ("b", 3)]);
    let budget = Rational::from((7, 3));
    let part = |name: &str, of: u32| (name.to_string(), Rational::from((of, 10)));
    let queries = vec![vec![part("detailed", 5), part("a", 3), part("b", 2)]; 6];
    let laplace = MeasurementPlan::pure(&spine, &schema, Neighbors::Bounded, &budget, &queries)?;
    let mut most = Rational::new();
    let (blocks, cells) = (spine.tree.order().len() as u32, schema.cells() as u32);
    let one = |place: u32, cell: u32| Histograms::new(vec![Entry { place, cell, count: 1 }]);
    // By symmetry the first cell represents all, and so does the first block if no unit is bypassed.
    let from = if bypassed { 0..blocks } else { 0..1 };
    for (before, after) in from.flat_map(|before| (0..blocks).map(move |after| (before, after))) {
        for cell in 0..cells {
            let (x, y) = (one(before, 0)?, one(after, cell)?);
            let mut spent = Rational::new();
            for (level, asked) in laplace.levels().iter().enumerate() {
                for unit in 0..spine.tree.units(level) {
                    for asked in asked {
                        // epsilon gamma alpha / 2; sigma2 of the Gaussian mechanism is 1 / (rho gamma alpha).
                        let Some(law) = asked.law(spine.carried(level, unit)) else { continue };
                        let epsilon = law.parameter();
                        let difference = difference(&asked.group, spine.tree.blocks(level, unit), [&x, &y]);
                        // |d| / b = |d| epsilon; d^2 / (2 sigma2) = d^2 rho gamma alpha / 2: the same number for d = 1.
                        let changed: i64 = difference.iter().map(|d| if pure { d.abs() } else { d * d }).sum();
                        spent += Rational::from(epsilon * changed);
                    }
                }
            }
            most = most.max(spent);
        }
    }
    Ok(most == budget)
}

/// The change of the answers of a unit from one histogram to another.
fn difference(group: &QueryGroup, blocks: Range<usize>, [x, y]: [&Histograms; 2]) -> Vec<i64> {
    let mut difference = vec![0; group.counts()];
    x.add_answers(group, blocks.clone(), &mut difference);
    difference.iter_mut().for_each(|value| *value = -*value);
    y.add_answers(group, blocks, &mut difference);
    difference
}

/// The effect of every changed record on the answers to the queries of a small schema: calls `visit` with the
/// differences of the answers to one query at all units of one level.
pub(super) fn each_change(tree: &Tree, mut visit: impl FnMut(&[i64])) -> Result<()> {
    let schema = Schema::numbered([("a", 2), ("b", 3)]);
    let (blocks, cells) = (tree.order().len() as u32, schema.cells() as u32);
    let one = |place: u32, cell: u32| Histograms::new(vec![Entry { place, cell, count: 1 }]);
    for (before, after) in (0..blocks).flat_map(|before| (0..blocks).map(move |after| (before, after))) {
        for cell in 0..cells {
            let (x, y) = (one(before, 0)?, one(after, cell)?);
            for name in ["total", "a", "b", "detailed"] {
                let group = schema.group(name)?;
                for level in 0..tree.levels() {
                    let mut all = Vec::new();
                    for unit in 0..tree.units(level) {
                        all.extend(difference(&group, tree.blocks(level, unit), [&x, &y]));
                    }
                    visit(&all);
                }
            }
        }
    }
    Ok(())
}

/// Whether a count changed by `shift` with noise N_Z(0, shift^2 / (2 rho)) has Renyi divergences of at most rho times
/// the order, for all these rho, shifts and orders.
pub(super) fn lemma_2(rhos: &[Rational], shifts: &[u64], orders: &[Rational]) -> Result<Computed> {
    let pairs = rhos.iter().flat_map(|rho| shifts.iter().map(move |shift| (rho, *shift)));
    let cases = pairs.flat_map(|(rho, shift)| orders.iter().map(move |order| (rho, shift, order)));
    Computed::all_hold(cases.map(|(rho, shift, order)| {
        let sigma2 = Rational::from(shift * shift) / Rational::from(rho * 2_u32);
        let count = Composition::new([Counts::discrete_gaussian(sigma2, 1, shift)?])?;
        let above = Rational::from(order - 1_u32);
        // D = ln E[exp((order - 1) L)] / (order - 1).
        let divergence = count.loss().ln_mgf(&above, 400).div(&Enclosure::rational(&above, 400));
        Ok(divergence.at_most(&Rational::from(rho * order)))
    }))
}
