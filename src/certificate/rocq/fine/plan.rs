//! The lattice on which the losses of a composition are put: as fine as the digits need and the computation allows.

use rug::Rational;

use super::{
    super::number::unprovable,
    cells::{Counts, REACH},
};
use crate::error::Result;

/// The relative distance of an end at which a finer lattice is not needed, and the one at which a lattice is too coarse: three digits.
const CLOSE: f64 = 5e-5;
const FAR: f64 = 1e-3;
/// The norms are multiples of an exponent that grows with the step: rounded up, they divide all masses by exp(LOST) at most, 9 of 30 bits.
const LOST: f64 = 6.0;
/// The largest number of products of the three walks together: two and a half minutes for Rocq. An exponential takes it as long as 3000.
const MOST_PRODUCTS: f64 = 6e8;
const EXPONENTIAL: f64 = 3e3;
/// The tilted gain falls by exp(-FALL) on a circle, which is as long as some deviations of the loss, too; a window has more of them.
const FALL: f64 = 34.0;
const CIRCLE: f64 = 4.4;
const WINDOW: f64 = 10.0;
/// The finest lattice is that of step 2^-FINEST.
const FINEST: u32 = 40;

/// A lattice with the lengths of its rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) step: Rational,
    pub(super) tilt: Rational,
    pub(super) circle: usize,
    pub(super) window: usize,
}

/// What a lattice would cost, and give.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Forecast {
    /// Products of all walks, with all else counted as products.
    products: f64,
    /// The relative distance of an end from epsilon.
    distance: f64,
    /// All masses are divided by exp(lost), about.
    lost: f64,
    circle: f64,
    window: f64,
}

impl Forecast {
    /// Whether the ends come as near as a relative distance.
    fn is_within(&self, distance: f64) -> bool {
        self.distance <= distance && self.lost <= LOST
    }
}

impl Plan {
    /// The coarsest lattice that is close, else the finest that is not too much work.
    pub(super) fn new(counts: &[Counts], epsilon: f64) -> Result<Plan> {
        let rho: f64 = counts.iter().map(|one| one.copies as f64 * rho(one)).sum();
        let tilt = saddle(rho, epsilon);
        let all = (0..=FINEST)
            .map(|power| (power, forecast(counts, epsilon, tilt.to_f64(), rho, (-f64::from(power)).exp2())));
        let mut best: Option<(u32, Forecast)> = None;
        for (power, one) in all {
            if one.products.is_nan() || one.products > MOST_PRODUCTS {
                break;
            }
            best = Some((power, one));
            if one.is_within(CLOSE) {
                break;
            }
        }
        match best {
            Some((power, one)) if one.is_within(FAR) => Ok(Plan {
                step: Rational::from((1, 1_u64 << power)),
                tilt,
                circle: one.circle as usize,
                window: one.window as usize,
            }),
            _ => Err(refusal(counts, epsilon, tilt.to_f64(), rho)),
        }
    }
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

/// To split a loss between points h apart adds h^2 / 6 to its variance on average, and a variance v moves epsilon by (c + 1) v / 2.
fn forecast(counts: &[Counts], epsilon: f64, c: f64, rho: f64, step: f64) -> Forecast {
    let deviation = (2.0 * rho).sqrt();
    let circle = ((FALL / c).max(CIRCLE * deviation) / step).ceil();
    let window = (WINDOW * deviation / step).ceil();
    let (mut products, mut copies) = (0.0, 0.0);
    for one in counts {
        let sigma2 = one.sigma2.to_f64();
        let outputs = 2.0 * REACH * sigma2.sqrt() + 4.0;
        let width = outputs * one.shift as f64 / (sigma2 * step) + 2.0;
        copies += one.copies as f64;
        products += one.copies as f64 * width * (2.0 * circle + window);
        // Three tables: the exponentials of outputs and of the normalizing sum, and each place's search among the outputs.
        products += 3.0 * (2.0 * EXPONENTIAL + width) * outputs;
    }
    let distance = (c + 1.0) * copies * step * step / (12.0 * epsilon);
    // Half a unit for each copy; a unit is c^2 step / 2.
    let lost = copies * c * c * step / 4.0;
    Forecast { products, distance, lost, circle, window }
}

/// Says how much work the lattice would be that keeps three digits.
fn refusal(counts: &[Counts], epsilon: f64, c: f64, rho: f64) -> crate::error::Error {
    let mut lattices = (0..=FINEST).map(|power| forecast(counts, epsilon, c, rho, (-f64::from(power)).exp2()));
    match lattices.find(|one| one.is_within(FAR)) {
        Some(one) => unprovable(&format!(
            "would take too long here: the lattice of the losses is too fine, and a coarser one that keeps three digits is {:.0} million products; \
             {:.0} million are the limit",
            (one.products / 1e6).ceil(),
            MOST_PRODUCTS / 1e6,
        )),
        None => unprovable(
            "would take too long here: the lattice of the losses is too fine, and three digits need one of a step below 2^-40",
        ),
    }
}
