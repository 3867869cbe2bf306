//! The variances of the unbiased estimates of units, which stand beside their integer counts.
//!
//! An integer count is the nearest one that satisfies all constraints: it is biased, and has no known margin. The estimate of the same count
//! before rounding and without the lower bound of zero is unbiased, and its variance is that of least squares.

use std::collections::HashMap;

use super::opened::{StatePass, Survey, Top, without_counts};
use crate::{
    error::Result,
    topdown::{
        gls::belief::{Belief, Descent},
        nmf::answers::ClassVariances,
    },
};

/// The variances of the requested units of a part of a state, by level and unit.
pub(super) type OfUnits = HashMap<(usize, usize), ClassVariances>;

impl Survey {
    /// The final estimate of a state: with the counts of the nation, if these are used.
    pub(super) fn last_of(&self, state: u32, own: &Belief, top: &Top) -> Belief {
        match top.nation.as_ref().and_then(|nation| Some((nation, &nation.roots.get(&state)?.belief))) {
            Some((nation, belief)) => Descent::new(&nation.belief, &nation.below, false).estimate(Some(belief)),
            None => own.clone(),
        }
    }

    /// The variances of the estimates of the requested units, for each part of a state with this final estimate.
    pub(super) fn unbiased(&self, state: u32, pass: &StatePass, last: &Belief, deepest: usize) -> Result<Vec<OfUnits>> {
        let descent = Descent::new(last, &pass.below, false);
        let mut of_parts = Vec::with_capacity(pass.parts.len());
        for (at, units) in pass.parts.iter().enumerate() {
            let risen = &pass.risen[at];
            let own = risen.root().ok_or_else(|| without_counts(&format!("the state {state:02}")))?;
            let (measured, mut found) = (self.counts(units, None), OfUnits::new());
            self.pass(units, &pass.shapes[at], &measured).down(
                risen,
                descent.estimate(Some(own)),
                deepest == units.tree.levels() - 1,
                |level, unit, belief| {
                    let wanted = self.settings.levels.contains(&(level + self.first()));
                    Ok(wanted.then(|| ((level, unit), self.answers.class_variances(&self.problem, belief))))
                },
                |own| {
                    found.extend(own);
                    Ok(())
                },
            )?;
            of_parts.push(found);
        }
        Ok(of_parts)
    }
}
