//! The highest supporting line in doubles: an approximation that determines where lines are placed and how many digits of their heights
//! cancel.

use rug::Rational;

use super::lines::Lines;
use crate::{
    error::Result,
    loss::engine::Tolerance,
    numeric::{extremum, rational},
};

/// The highest line, in doubles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Top {
    pub(super) eps: f64,
    /// The distance at which a line is lower by about its own height, extrapolated from the curvature at the smaller `distance`.
    pub(super) scale: f64,
    pub(super) distance: f64,
    /// The number of digits of its height that cancel, and ln of the height.
    pub(super) lost: f64,
    pub(super) ln_height: f64,
}

impl Top {
    /// The digits of the profile that are needed for this number of digits of a height.
    pub(super) fn needed(self, digits: u32) -> u32 {
        digits + 1 + self.lost.round() as u32
    }
}

impl Lines<'_> {
    /// The highest line in doubles: by Brent's method, and then by parabolas through three points at decreasing distances.
    pub(super) fn top_approx(&self) -> Result<Top> {
        const ROUNDS: usize = 40;
        let height = |eps| self.ln_height_approx(eps);
        let mut middle = self.highest_approx(1e-6, height)?;
        let mut distance = self.spread() * 3e-5;
        for _ in 0..ROUNDS {
            let (x, y, z) = (height(middle - distance)?, height(middle)?, height(middle + distance)?);
            let fall = 2.0 * y - x - z;
            let step = (z - x) / (2.0 * fall);
            // Closer points would only show rounding errors of doubles.
            if fall.is_nan() || fall <= 1e-8 {
                let scale = distance / (fall.max(1e-13) / 2.0).sqrt();
                let is_resolved = fall > 1e-11 && step.abs() < 3.0;
                let eps = if is_resolved { middle + step * distance } else { middle };
                return self.top_with_height(eps, scale, distance);
            }
            let step = step.clamp(-3.0, 3.0);
            middle += step * distance;
            distance *= if step.abs() >= 1.0 { step.abs() } else { (4.0 * step.abs()).clamp(1e-2, 0.5) };
        }
        self.top_with_height(middle, distance * 1e4, distance)
    }

    /// The same with an approximation of the height.
    fn top_with_height(&self, eps: f64, scale: f64, distance: f64) -> Result<Top> {
        const MOST: f64 = 30.0;
        let (height, known_to) = self.height_approx(eps)?;
        // A height that is zero in doubles loses all their digits, and more.
        let lost = if height > 0.0 { libm::log10(known_to / height).clamp(0.0, MOST) } else { MOST };
        let ln_height =
            if height > 0.0 { libm::log(height) } else { libm::log(known_to) - MOST * std::f64::consts::LN_10 };
        Ok(Top { eps, scale, distance, lost, ln_height: ln_height + eps.min(0.0) })
    }

    /// ln of delta(|eps|), in doubles. 1 - delta is compared with exp(eps) alpha, or with alpha.
    fn ln_delta_approx(&self, eps: f64) -> Result<f64> {
        const NEGLIGIBLE: f64 = 1e-14;
        let negligible = NEGLIGIBLE * self.alpha.to_f64() * libm::exp(eps.max(0.0));
        let tolerance = Tolerance { negligible, ..Tolerance::OF_VALUE };
        self.source.ln_approx(&rational::from_f64(eps)?, &self.session, tolerance)
    }

    /// The height of the line of slope -exp(eps), divided by the slope for the mirrored lines, in doubles; and the number whose relative
    /// error it inherits. For a small delta that is delta itself, because 1 - alpha is known exactly.
    pub(super) fn height_approx(&self, eps: f64) -> Result<(f64, f64)> {
        let (alpha, most) = (self.alpha.to_f64(), Rational::from(1 - self.alpha).to_f64());
        let ln_delta = self.ln_delta_approx(eps)?;
        // For small 1 - delta, ln delta is about -(1 - delta).
        let (delta, rest) = (libm::exp(ln_delta), -libm::expm1(ln_delta));
        let height = match (eps >= 0.0, delta < 0.5) {
            (true, true) => most - delta - libm::expm1(eps) * alpha,
            (true, false) => rest - libm::exp(eps) * alpha,
            (false, true) => most - delta,
            (false, false) => rest - alpha,
        };
        Ok((height, delta.min(rest)))
    }

    /// ln of the height of the line of slope -exp(eps), in doubles. For a negative height it is far below every logarithm, and lower for
    /// larger absolute values, so that heights next to zero can be compared on either side.
    fn ln_height_approx(&self, eps: f64) -> Result<f64> {
        const NEGATIVE: f64 = -4e9;
        let (height, _) = self.height_approx(eps)?;
        let ln = libm::log(height.abs().max(f64::MIN_POSITIVE)) + eps.min(0.0);
        Ok(if height > 0.0 { ln } else { NEGATIVE - ln })
    }

    /// The largest absolute loss that is considered.
    pub(super) fn reach(&self) -> f64 {
        self.rho + 16.0 * self.rho.sqrt() + 1.0
    }

    /// The standard deviation of losses, or a small share of their mean if they are nearly constant.
    pub(super) fn spread(&self) -> f64 {
        let (mean, deviation) = self.source.mean_and_deviation_approx();
        deviation.max(1e-6 * mean)
    }

    /// The eps of the largest height, to about this share of the standard deviation of losses. Under Q their mean is minus that under P.
    pub(super) fn highest_approx(&self, share: f64, height: impl Fn(f64) -> Result<f64>) -> Result<f64> {
        let (reach, spread) = (self.reach(), self.spread());
        let (mean, _) = self.source.mean_and_deviation_approx();
        let around = extremum::uphill(-mean, spread, -reach, reach, &height)?;
        extremum::highest(around, spread * share, &height)
    }
}
