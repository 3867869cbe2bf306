//! The lattice on which the losses of a composition are put: as fine as the digits need and the computation allows.

use rug::Rational;

use super::{
    super::number::unprovable,
    cells::{Counts, REACH},
};
use crate::error::{Error, Result};

/// The distance of an end, in units of its number, at which a finer lattice is not needed, and the one at which a lattice is too coarse: three
/// digits of an epsilon, two of a delta.
const CLOSE: f64 = 5e-5;
const FAR: f64 = 1e-3;
/// The norms are multiples of an exponent that grows with the step: rounded up, they divide all masses by exp(LOST) at most, 9 of 30 bits.
const LOST: f64 = 6.0;
/// The largest number of products of all walks of a file: two and a half minutes for Rocq, or some more where most of the work are the
/// exponentials of many tables, each counted as 3000.
pub(super) const MOST_PRODUCTS: f64 = 6e8;
const EXPONENTIAL: f64 = 3e3;
/// The tilted gain falls by exp(-FALL) on a circle, which is as long as some deviations of the loss, too; a window has more of them.
const FALL: f64 = 34.0;
const CIRCLE: f64 = 4.4;
const WINDOW: f64 = 10.0;
/// The finest lattice is that of step 2^-FINEST.
const FINEST: u32 = 40;

/// A lattice with the lengths of its rows, what it would cost and give.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    power: u32,
    pub(super) step: Rational,
    pub(super) tilt: Rational,
    pub(super) circle: usize,
    pub(super) window: usize,
    /// Products of the walk of an upper end and of those of a test, with all else counted as products.
    pub(super) above: f64,
    test: f64,
    /// The distance of an end, in units of its number.
    distance: f64,
    /// All masses are divided by exp(lost), about.
    lost: f64,
}

/// The number that a file is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About {
    Epsilon,
    /// delta at an epsilon.
    Delta,
}

impl About {
    /// Distances of epsilon are in this unit. ln(delta) falls by about the tilt in one unit of epsilon.
    fn unit(self, epsilon: f64, tilt: f64) -> f64 {
        match self {
            About::Epsilon => epsilon,
            About::Delta => 10.0 / tilt,
        }
    }
}

impl Plan {
    /// The coarsest lattice that is close, else the finest that is not too much work for all ends of a file.
    pub(super) fn new(counts: &[Counts], epsilon: f64, about: About, ends: u32) -> Result<Plan> {
        let all_ends = |plan: &Plan| plan.products() * f64::from(ends);
        let mut best: Option<Plan> = None;
        for plan in Plan::all(counts, epsilon, about) {
            if all_ends(&plan) > MOST_PRODUCTS {
                break;
            }
            let enough = plan.is_within(CLOSE);
            best = Some(plan);
            if enough {
                break;
            }
        }
        match best {
            Some(plan) if plan.is_within(FAR) => Ok(plan),
            _ => Err(too_long(all_ends(&Plan::coarsest(counts, epsilon, about)?))),
        }
    }

    /// The coarsest lattice that keeps enough digits.
    pub(super) fn coarsest(counts: &[Counts], epsilon: f64, about: About) -> Result<Plan> {
        let none = || {
            unprovable(
                "would take too long here: the lattice of the losses is too fine, and enough digits need one of a step below 2^-40",
            )
        };
        Plan::all(counts, epsilon, about).find(|plan| plan.is_within(FAR)).ok_or_else(none)
    }

    /// For an epsilon: from this lattice on to another, each half as wide as the one before.
    pub(super) fn up_to(&self, finest: &Plan, counts: &[Counts], epsilon: f64) -> impl Iterator<Item = Plan> {
        (self.power..=finest.power).map(move |power| Plan::at(counts, epsilon, About::Epsilon, power))
    }

    /// Products of all three walks.
    pub(super) fn products(&self) -> f64 {
        self.above + self.test
    }

    /// Whether the ends come as near as a relative distance.
    fn is_within(&self, distance: f64) -> bool {
        self.distance <= distance && self.lost <= LOST
    }

    /// From the coarsest.
    fn all(counts: &[Counts], epsilon: f64, about: About) -> impl Iterator<Item = Plan> {
        (0..=FINEST).map(move |power| Plan::at(counts, epsilon, about, power))
    }

    fn at(counts: &[Counts], epsilon: f64, about: About, power: u32) -> Plan {
        let rho: f64 = counts.iter().map(|one| one.copies as f64 * rho(one)).sum();
        let tilt = saddle(rho, epsilon);
        let (c, step, deviation) = (tilt.to_f64(), libm::exp2(-f64::from(power)), (2.0 * rho).sqrt());
        let circle = ((FALL / c).max(CIRCLE * deviation) / step).ceil();
        let window = (WINDOW * deviation / step).ceil();
        let (mut entries, mut tables, mut copies) = (0.0, 0.0, 0.0);
        for one in counts {
            let sigma2 = one.sigma2.to_f64();
            let outputs = 2.0 * REACH * sigma2.sqrt() + 4.0;
            let width = outputs * one.shift as f64 / (sigma2 * step) + 2.0;
            copies += one.copies as f64;
            entries += one.copies as f64 * width;
            // The exponentials of outputs and of the normalizing sum, and each place's search among the outputs.
            tables += (2.0 * EXPONENTIAL + width) * outputs;
        }
        Plan {
            power,
            step: Rational::from((1, 1_u64 << power)),
            tilt,
            circle: circle as usize,
            window: window as usize,
            above: entries * circle + tables,
            test: entries * (circle + window) + 2.0 * tables,
            // To split a loss between points h apart adds h^2 / 6 to its variance on average, and a variance v moves epsilon by (c + 1) v / 2.
            distance: (c + 1.0) * copies * step * step / 12.0 / about.unit(epsilon, c),
            // Half a unit for each copy; a unit is c^2 h / 2.
            lost: copies * c * c * step / 4.0,
        }
    }
}

/// The refusal of this many products.
pub(super) fn too_long(products: f64) -> Error {
    unprovable(&format!(
        "would take too long here: the lattice of the losses is too fine, and coarser ones that keep enough digits are {:.0} million products; \
         {:.0} million are the limit",
        (products / 1e6).ceil(),
        MOST_PRODUCTS / 1e6,
    ))
}

/// rho of one count.
fn rho(counts: &Counts) -> f64 {
    (counts.shift as f64).powi(2) / (2.0 * counts.sigma2.to_f64())
}

/// The tilt c > 0 at which the mean loss rho (1 + 2 c) is epsilon + 1 / c.
fn saddle(rho: f64, epsilon: f64) -> Rational {
    let beyond = epsilon - rho;
    let c = (beyond + (beyond * beyond + 8.0 * rho).sqrt()) / (4.0 * rho);
    let c = (c.min(1e9) * 1024.0).round().max(1.0);
    Rational::from((c as u64, 1024_u32))
}
