//! The cost of a request with continuous noise of one scale, predicted in doubles.

use std::f64::consts::{LN_2, LN_10, PI};

use super::{
    parts::{Fine, Parts},
    state::{DEARER, MORE_DIGITS, MOST_LISTED, Prediction, Smoothed},
};
use crate::{
    loss::{atoms::coarse, engine::machine},
    numeric::{lattice, twofold},
};

/// At most this many points are found, which are held together: each takes about 150 bytes.
const MOST_FOUND: f64 = 3e6;
/// The number of windows examined for a node beyond the main lobe, and for an octave; and the number of steps for an enumerated loss.
const WINDOWS_OF_NODE: f64 = 40.0;
const WINDOWS_OF_OCTAVE: f64 = 10_000.0;
const OF_TARGET: f64 = 100.0;

/// The volume of a ball.
fn ball(dimension: usize, radius: f64) -> f64 {
    lattice::ball(dimension) * radius.powi(dimension as i32)
}

/// The part of the heights up to `top` that the windows of the groups leave, and the number of windows: beside the windows around zero, where all are
/// aligned, those of further multiples, which the windows of the others cover by chance. Of each group the period and the half width of its windows; the
/// rarest come first. `step` is that of all losses.
fn windows(mut combs: Vec<(f64, f64)>, top: f64, step: Option<f64>) -> (f64, f64) {
    combs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let width = |&(period, around): &(f64, f64)| (2.0 * around).min(period);
    let by_chance = |combs: &[(f64, f64)]| {
        let shares = combs.iter().map(|comb| width(comb) / comb.0).product::<f64>();
        shares * ball(combs.len(), 1.0) / 2f64.powi(combs.len() as i32)
    };
    let (mut aligned, mut side, mut looks) = (top, 0.0, 0.0);
    for (at, comb) in combs.iter().enumerate() {
        let windows = ((aligned + comb.1) / comb.0).floor();
        side += windows * width(comb) * by_chance(&combs[at + 1..]);
        looks += windows;
        aligned = aligned.min(comb.1);
    }
    // At multiples of the period of all losses every group is aligned.
    if let (Some(step), Some(narrowest)) = (step, combs.last()) {
        side += (top * step / (2.0 * PI)).floor() * width(narrowest);
    }
    (side, looks)
}

impl Smoothed {
    /// At the scale 2^-k under a tilt, in doubles, from the volumes of ellipsoids: see the module.
    pub(super) fn predict(&self, parts: &Parts, k: i32, tilt: f64, digits: u32) -> Prediction {
        let too_long = Prediction { k, seconds: f64::INFINITY, heights: f64::INFINITY };
        let s = 2f64.powi(-k);
        let own: Vec<f64> = parts.fine.iter().map(Fine::deviation).collect();
        let fine = own.iter().map(|r| r * r).sum::<f64>().sqrt();
        let all = self.outline.deviation(tilt);
        let nats = f64::from(digits) * LN_10;
        let energy = (nats + 8.0 + libm::log(s / fine.min(1.0))).max(6.0);
        let radius = (2.0 * energy).sqrt();
        let dimension = own.len();
        // Points in a slice of the ellipsoid, for each enumerated loss. Most of an ellipsoid is close to its surface, where points weigh least: a
        // twelfth is summed.
        let listed = parts
            .listed
            .as_ref()
            .map_or(1.0, |(sum, outline)| coarse::predicted(sum, outline, tilt, (energy / LN_2) as u32 + 4));
        if listed > MOST_LISTED {
            return too_long;
        }
        let deviations: Vec<f64> = parts.fine.iter().map(|one| one.variance.to_f64().sqrt()).collect();
        let slice = deviations.iter().product::<f64>() * ball(dimension - 1, radius) * 2.0 * radius * s / fine;
        let found = listed.max(1.0) * slice * (3.0 * fine / all).min(1.0);
        if found > MOST_FOUND {
            return too_long;
        }
        let points = found / 12.0 + 1.0;
        // And in the ellipsoid that is searched.
        let share = 1.0 / (dimension as f64 - 1.0).max(1.0);
        let axes =
            deviations.iter().map(|deviation| deviation * (2.0 * (1.0 + share) * energy).sqrt()).product::<f64>();
        let looked_at =
            ball(dimension, 1.0) * axes / (1.0 + 2.0 * share * energy * (fine / (s * radius)).powi(2)).sqrt();
        let looked_at = listed.max(1.0) * (looked_at + OF_TARGET);
        let top = radius / s;
        let comb = |(one, r): (&Fine, &f64)| (2.0 * PI / one.step.to_f64(), radius / r);
        let combs = parts.fine.iter().zip(&own).map(comb).collect();
        let (side, mut looks) = windows(combs, top, self.sum.step().map(|step| step.to_f64()));
        let spacing = PI / ((2.0 * (nats + 5.0)).sqrt() * all);
        let (heights, side) = (side, side / spacing);
        let main = (2.0 * (nats + 5.0)).sqrt() / all / spacing;
        if dimension > 1 {
            looks = looks.min(side * WINDOWS_OF_NODE + libm::log2(top * all).max(0.0) * WINDOWS_OF_OCTAVE);
        }
        if top / spacing > 2f64.powi(60) || side > self.most_nodes() as f64 * 0.75 {
            return too_long;
        }
        // In sums of two doubles, as most nodes are where the kernel has fallen far enough.
        let of_node = machine::PER_SMOOTHED_FACTOR * self.sum.groups().len() as f64;
        let of_main = if digits + MORE_DIGITS <= twofold::ball::MOST_DIGITS { of_node } else { 10.0 * of_node };
        let of_points = points * machine::PER_POINT * (1.0 + f64::from(digits) / 40.0);
        let seconds = side * of_node
            + main * of_main
            + looks * machine::PER_WINDOW
            + of_points
            + looked_at * machine::PER_STEP_TO_A_POINT;
        Prediction { k, seconds: if self.is_of_few() { seconds } else { seconds * DEARER }, heights }
    }
}
