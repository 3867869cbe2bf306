//! The windows of several groups, intersected: the heights at which the product of their factors may exceed a target.
//!
//! A group is below the target except in windows around the multiples of its period, and so is a bundle of groups that repeat together. The windows
//! are intersected, the rarest first, and the remaining pieces are halved until the product of all groups decides.

use std::cell::Cell;

use super::{
    factor_bound::{FactorBound, Prepared},
    lobes::Lobes,
    survivors::Survivor,
};

/// The sweep has examined as many windows as its budget allows.
pub(super) struct BudgetReached;

/// The least integer >= 0 that is not below x, as a double. Below 2^63 a conversion truncates, and above 2^52 every double is
/// whole: no call of the mathematical library, which older processors need for `ceil`.
fn first_integer(x: f64) -> f64 {
    if x >= 4_503_599_627_370_496.0 {
        return x;
    }
    let whole = x.max(0.0) as i64 as f64;
    if whole < x { whole + 1.0 } else { whole }
}

/// Windows that repeat after `period`: all that lie around a multiple of it, relative to that multiple and in order.
#[derive(Clone, Debug)]
pub(super) struct Comb {
    pub(super) period: f64,
    pub(super) windows: Vec<(f64, f64)>,
}

impl Comb {
    /// The number of windows per unit of height.
    pub(super) fn density(&self) -> f64 {
        self.windows.len() as f64 / self.period
    }
}

/// The intersection of the windows for one target.
pub(super) struct Windows {
    bounds: Vec<Prepared>,
    /// Those of the bundles and of the groups that have any, the rarest first.
    combs: Vec<Comb>,
    cut: f64,
    resolution: f64,
    /// The number of windows and pieces examined, and its limit.
    pub(super) looked_at: u64,
    budget: u64,
    /// The survivors so far.
    pub(super) survivors: Vec<Survivor>,
}

impl Windows {
    /// For the target exp(-cut), with the windows of some bundles for it or for a lower one. Pieces shorter than the
    /// resolution are not divided further.
    pub(super) fn new(bounds: &[FactorBound], bundles: &[Comb], cut: f64, resolution: f64) -> Self {
        let of_group = |bound: &FactorBound| {
            let half_width = bound.reach(cut)? / bound.weight;
            Some(Comb { period: bound.period(), windows: vec![(-half_width, half_width)] })
        };
        let mut combs: Vec<Comb> = bounds.iter().filter_map(of_group).chain(bundles.iter().cloned()).collect();
        combs.sort_by(|a, b| a.density().total_cmp(&b.density()));
        let bounds = bounds.iter().copied().map(Prepared::new).collect();
        Windows { bounds, combs, cut, resolution, looked_at: 0, budget: u64::MAX, survivors: Vec::new() }
    }

    /// With a budget of windows and pieces, of which some are spent.
    pub(super) fn within(self, looked_at: u64, budget: u64) -> Self {
        Windows { looked_at, budget, ..self }
    }

    /// Adds the survivors among the heights from `from` to `to`.
    pub(super) fn intersect(&mut self, from: f64, to: f64) -> Result<(), BudgetReached> {
        self.intersect_from(0, from, to)
    }

    /// The same within some lobes; `None` where these cannot be enumerated.
    pub(super) fn intersect_lobes(&mut self, lobes: &Lobes) -> Option<Result<(), BudgetReached>> {
        let listed = Cell::new(0);
        let most = self.budget.saturating_sub(self.looked_at);
        let mut count = || {
            listed.set(listed.get() + 1);
            if listed.get() > most { Err(BudgetReached) } else { Ok(()) }
        };
        let result = lobes.each(&mut count, &mut |from, to| self.refine(from, to));
        self.looked_at += listed.get();
        result
    }

    fn count(&mut self) -> Result<(), BudgetReached> {
        self.looked_at += 1;
        if self.looked_at > self.budget { Err(BudgetReached) } else { Ok(()) }
    }

    /// Intersects [from, to] with the combs from `place` on.
    fn intersect_from(&mut self, place: usize, from: f64, to: f64) -> Result<(), BudgetReached> {
        self.count()?;
        let Some(comb) = self.combs.get(place) else {
            return self.refine(from, to);
        };
        let period = comb.period;
        let (Some(&(lowest, _)), Some(&(_, highest))) = (comb.windows.first(), comb.windows.last()) else {
            return Ok(());
        };
        // The ends of the windows were found to 10^-9 of their lengths, and multiples of the period have errors of a few units in the last place of
        // the height.
        let margin = period * 1e-9 + to * 2f64.powi(-48);
        if (to - from) / period > self.budget as f64 {
            return Err(BudgetReached);
        }
        let mut k = first_integer((from - highest - margin) / period * (1.0 - 1e-12));
        while k * period + lowest - margin <= to {
            // Windows do not overlap, so that those before this one end below.
            let mut index = self.combs[place].windows.partition_point(|(_, high)| k * period + high + margin < from);
            while let Some(&(low, high)) = self.combs[place].windows.get(index) {
                if k * period + low - margin > to {
                    break;
                }
                let (start, end) = ((k * period + low - margin).max(from), (k * period + high + margin).min(to));
                if start <= end {
                    self.intersect_from(place + 1, start, end)?;
                }
                index += 1;
            }
            k += 1.0;
        }
        Ok(())
    }

    /// Halves [from, to] until the product of all groups decides.
    fn refine(&mut self, from: f64, to: f64) -> Result<(), BudgetReached> {
        self.count()?;
        let bound: f64 = self.bounds.iter().map(|group| group.ln_factor(group.bound.nearest(from, to))).sum();
        if bound <= -self.cut {
            return Ok(());
        }
        let middle = from + (to - from) / 2.0;
        if to - from <= self.resolution || middle <= from || middle >= to {
            self.survivors.push(Survivor { from, to, ln_bound: bound });
            return Ok(());
        }
        self.refine(from, middle)?;
        self.refine(middle, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_integer_is_the_ceiling() {
        let halves = (-40..4000).map(|k| f64::from(k) / 7.0);
        let large = [52, 53, 62, 63, 64, 1000].map(|k| 2f64.powi(k));
        let around = |x: f64| [x.next_down(), x, x.next_up()];
        for x in halves.chain(large).flat_map(around).chain([f64::MIN, f64::MAX, f64::INFINITY, 0.5, -0.5]) {
            assert_eq!(first_integer(x), x.ceil().max(0.0), "{x}");
        }
    }
}
