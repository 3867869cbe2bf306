//! An upper bound in doubles on the factor that a group of noise terms contributes at a height.
//!
//! |F(t)| <= psi(d) / psi(0) with d the distance of w t to 2 pi Z and psi(d) = sum over k in Z of
//! exp(-sigma2 (d - 2 pi k)^2 / 2): a theta function, even, of period 2 pi and decreasing on [0, pi] (Lemma A.4 of Su, Su
//! & Wang by the Jacobi triple product).

use std::f64::consts::PI;

use super::theta;
use crate::numeric::halving::bisect;

/// A group with the facts that the sieve uses: approximate values suffice because every bound keeps a margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactorBound {
    pub sigma2: f64,
    pub weight: f64,
    pub copies: f64,
    /// Whether the noise is on the integers; continuous noise only decays.
    pub periodic: bool,
}

/// Below this variance proxy a factor is bounded by one only: its windows cover most of the period anyway. The error bounds of a single sum rely on
/// that for all coarse groups.
const SMALLEST_SIGMA2: f64 = theta::DIRECT_BELOW;

/// The precision of a distance: pi 2^-40.
const HALVINGS: u32 = 40;

/// The same with the numbers that do not depend on the height.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    pub(super) bound: FactorBound,
    /// 2 pi sigma2.
    a: f64,
    /// Lower bound on ln psi(0).
    at_zero: f64,
    /// Upper bound on the terms |k| >= 2.
    rest: f64,
}

impl Prepared {
    pub(super) fn new(bound: FactorBound) -> Self {
        let a = 2.0 * PI * bound.sigma2;
        let (at_zero, rest) = (libm::log1p(2.0 * libm::exp(-a * PI)), 2.1 * libm::exp(-2.0 * PI * a));
        Prepared { bound, a, at_zero, rest }
    }

    /// See [`FactorBound::ln_factor`].
    pub(super) fn ln_factor(&self, d: f64) -> f64 {
        let FactorBound { sigma2, copies, periodic, .. } = self.bound;
        if !periodic {
            return -copies * sigma2 * d * d / 2.0;
        }
        if sigma2 < SMALLEST_SIGMA2 {
            return 0.0;
        }
        let a = self.a;
        if a * (PI - d) > 40.0 {
            // The other terms are at most 4.1 exp(-40), which is less than the rounding errors.
            return (copies * (-sigma2 * d * d / 2.0 + 2e-15)).min(0.0);
        }
        let others = libm::exp(-a * (PI - d)) + libm::exp(-a * (PI + d)) + self.rest;
        // The last term covers the rounding errors of the difference, which the copies multiply.
        (copies * (-sigma2 * d * d / 2.0 + libm::log1p(others) - self.at_zero + 1e-15)).min(0.0)
    }
}

impl FactorBound {
    /// Upper bound on copies ln(psi(d) / psi(0)) for every distance of at least d in [0, pi].
    ///
    /// With the term k = 0 taken out, psi(d) = exp(-sigma2 d^2 / 2) (1 + sum over k != 0 of
    /// exp(-2 pi sigma2 (pi k^2 - k d))). The terms k = 1 and -1 are kept; for |k| >= 2 and d <= pi the exponent is
    /// at most -2 pi^2 sigma2 (k^2 - |k|), so they add less than 2.1 exp(-4 pi^2 sigma2) when sigma2 >= 0.3. And
    /// psi(0) > 1 + 2 exp(-2 pi^2 sigma2). Since psi decreases, the bound at d holds for all larger distances.
    pub(super) fn ln_factor(&self, d: f64) -> f64 {
        Prepared::new(*self).ln_factor(d)
    }

    /// The distance to 2 pi Z beyond which this group alone is below exp(-cut); `None` if it never is.
    pub(super) fn reach(&self, cut: f64) -> Option<f64> {
        if !self.periodic {
            return None;
        }
        let prepared = Prepared::new(*self);
        if prepared.ln_factor(PI) > -cut {
            return None;
        }
        // Where the other terms of psi do not matter the distance is known: the first point of the grid that the halving below would find is searched
        // near it.
        let alone = (2.0 * (cut / self.copies + 2e-15) / self.sigma2).sqrt();
        let step = PI * 2f64.powi(-(HALVINGS as i32));
        if 2.0 * PI * self.sigma2 * (PI - alone) > 41.0 {
            let near = (-2..=2).map(|k| ((alone / step).ceil() + f64::from(k)) * step);
            let mut near = near.map(|d| (d, prepared.ln_factor(d) <= -cut));
            if let Some((_, false)) = near.next()
                && let Some((d, _)) = near.find(|(_, outside)| *outside)
            {
                return Some(d);
            }
        }
        let is_outside = |d: f64| prepared.ln_factor(d) <= -cut;
        Some(bisect([0.0, PI], HALVINGS, |d| !is_outside(d))[1])
    }

    pub(super) fn period(&self) -> f64 {
        2.0 * PI / self.weight
    }

    /// Upper bound on the mean of the factor over its period: the left Riemann sum of a decreasing function.
    pub(super) fn mean(&self) -> f64 {
        const STEPS: u32 = 64;
        let prepared = Prepared::new(*self);
        // Finer near zero, where a sharp factor has its mass.
        let at = |step: u32| PI * (f64::from(step) / f64::from(STEPS)).powi(3);
        let parts =
            (0..STEPS).map(|step| (at(step + 1) - at(step)) * libm::exp(prepared.ln_factor(at(step)) * (1.0 - 1e-6)));
        parts.sum::<f64>() / PI
    }

    /// Lower bound on the distance of w t to 2 pi Z, or to 0 for continuous noise, over t in [from, to].
    pub(super) fn nearest(&self, from: f64, to: f64) -> f64 {
        if !self.periodic {
            return from * self.weight;
        }
        let period = self.period();
        let distance = |t: f64| (t - (t / period).round() * period).abs();
        let crosses = (from / period).ceil() <= (to / period).floor();
        if crosses {
            return 0.0;
        }
        // The error of t / period and of the product is a few units in the last place of t.
        let slack = to * 2f64.powi(-48);
        ((distance(from).min(distance(to)) - slack).max(0.0) * self.weight).min(PI)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rug::Rational;

    use super::*;
    use crate::loss::{law::Group, testing::groups};

    /// The bounds of groups of discrete Gaussian noise, with their exact weights.
    pub(in crate::loss) fn with_weights(texts: &[&str]) -> Vec<(FactorBound, Rational)> {
        let bound = |group: &Group| {
            let (sigma2, weight, copies) = (group.law.parameter().to_f64(), group.weight(), group.copies as f64);
            (FactorBound { sigma2, weight: weight.to_f64(), copies, periodic: true }, weight)
        };
        groups(texts).iter().map(bound).collect()
    }

    /// |F(t)|^copies by its definition: sum over x of p(x) exp(i w t x).
    pub(in crate::loss) fn factor_by_definition(bound: &FactorBound, t: f64) -> f64 {
        let reach = (12.0 * bound.sigma2.sqrt()).ceil() as i64 + 2;
        let (mut top, mut bottom) = (0.0, 0.0);
        for x in -reach..=reach {
            let mass = (-(x * x) as f64 / (2.0 * bound.sigma2)).exp();
            top += mass * (bound.weight * t * x as f64).cos();
            bottom += mass;
        }
        (top / bottom).abs().powf(bound.copies)
    }

    /// The distance that is found directly, against the factor on both sides of it.
    #[test]
    fn the_reach_is_the_first_distance_below_the_cut() {
        let step = PI * 2f64.powi(-(HALVINGS as i32));
        for sigma2 in [0.31, 0.8, 5.0, 4096.0] {
            let bound = FactorBound { sigma2, weight: 1.0, copies: 3.0, periodic: true };
            for cut in [1e-9, 0.1, 1.0, 12.0, 40.0, 1e3, 1e6] {
                let Some(reach) = bound.reach(cut) else {
                    assert!(bound.ln_factor(PI) > -cut);
                    continue;
                };
                assert!(bound.ln_factor(reach) <= -cut && bound.ln_factor(reach - 1.5 * step) > -cut, "{sigma2} {cut}");
            }
        }
    }

    #[test]
    fn the_factor_is_bounded_at_its_distance_and_beyond() {
        for sigma2 in [0.31, 1.0, 5.0] {
            let bound = FactorBound { sigma2, weight: 1.0, copies: 3.0, periodic: true };
            for k in 0..=60 {
                let d = PI * f64::from(k) / 60.0;
                let truth = factor_by_definition(&bound, d).ln();
                assert!(bound.ln_factor(d) >= truth - 1e-9 * truth.abs() || truth < -60.0, "{sigma2} {d}");
                if (0.5..60.0).contains(&-truth) && sigma2 > 0.9 && d < 2.5 {
                    assert!(bound.ln_factor(d) <= truth * 0.98, "not tight at {sigma2} {d}");
                }
            }
        }
    }
}
