//! The seconds of a window that a sieve examines: for `scripts/measure/measure-costs`.

use super::{Sweep, factor_bounds};
use crate::loss::{testing::sum, timed::least_per_step};

/// A window, for sums of groups whose weights have no common multiple of moderate size.
pub(in crate::loss) fn per_window() -> Vec<f64> {
    const BUDGET: u64 = 200_000;
    const CUT: f64 = 40.0;
    const RESOLUTION: f64 = 0.01;
    const END: f64 = 1e12;
    let of_groups = |groups: &[&str]| {
        let (bounds, weights) = factor_bounds(&sum(groups));
        least_per_step(|| {
            let mut sweep = Sweep::new((&bounds, &weights, &Default::default()), 1.0, CUT, RESOLUTION, END);
            sweep.advance(END, BUDGET);
            let of_octaves = sweep.octaves.last().map_or(0, |octave| octave.looked_at);
            // The windows of an octave that was given up are examined as well.
            sweep.refused.unwrap_or(of_octaves) as f64
        })
    };
    [
        &["500/73x10", "2500/137x6"][..],
        &["2003/7x40", "1009/5x3", "1/3x2"],
        &["40990001/4099x5", "30000/7x3"],
        &["1/3x2", "7/5x4", "19/11x3", "23/13x1"],
    ]
    .map(of_groups)
    .into()
}
