//! Comparison of discrete with continuous Gaussian noise: where all noise is Gaussian, discrete or not, and no sigma2 is small.
//!
//! Let s be the sigma2 of a discrete Gaussian, 0 < v < s, q = exp(-2 pi^2 v), and x = 2 q / (1 - q^3), so that |2 sum_k q^(k^2) cos(..)| <= x.
//!
//! - Added to N_Z(0, s), continuous noise N(0, t) with v = s t / (s + t) gives a density between (1 - x) / (1 + x) and 1 + x times that of
//!   N(0, s + t), s + t = s^2 / (s - v), by Poisson summation. Data processing: the sum reveals no more than N_Z(0, s).
//! - N(0, s - v), rounded to the integer z with probability proportional to exp(-(z - y)^2 / (2 v)) from y, has masses between (1 - x) / (1 + x)
//!   and 1 + x times those of N_Z(0, s), up or down: N_Z(0, s) reveals little more than N(0, s - v).
//!
//! Both commute with integer shifts. With N counts in all, A = ((1 - x) / (1 + x))^N, B = (1 + x)^N and the profile delta_G and the trade-off
//! function f_G of Gaussian differential privacy, of which delta_G rises with rho and f_G falls,
//!
//! ```text
//! A delta_G(eps + ln(B / A); rho_low)  <= delta(eps) <= B delta_G(eps - ln(B / A); rho_high)
//! A f_G(alpha / A; rho_high)           <= f(alpha)   <= B f_G(alpha / B; rho_low)
//! rho_low = sum_i m_i (s_i - v) / (2 s_i^2),   rho_high = sum_i m_i / (2 (s_i - v)),   m_i = n_i mu_i^2,
//! ```
//!
//! because (A p - exp(eps) B q)_+ integrates to A times the hockey stick of order exp(eps) B / A.

use std::f64::consts::PI;

use super::{
    between::{Between, WIDENING},
    moments::{theta_bound, widening},
    normal::{ln_upper_tail, profile, quantile},
};
use crate::loss::{law::Group, sum::LossSum};

/// The Gaussian groups of a sum that has no others.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    /// (m_i, s_i) of the discrete groups.
    discrete: Vec<(f64, f64)>,
    /// sum of m_i / (2 s_i) over the continuous ones, and how many groups these are.
    continuous: f64,
    others: f64,
    /// How many counts have discrete noise, and the least sigma2 of these.
    copies: f64,
    least: f64,
}

/// How far the two laws may differ, and the two rhos.
#[derive(Clone, Copy, Debug)]
struct Apart {
    /// Upper bounds on ln B and -ln A.
    ln_above: f64,
    ln_below: f64,
    rho_low: f64,
    rho_high: f64,
}

impl Comparison {
    /// `None` where there is other noise, or discrete noise too small to be compared. Parameters are within the range of `Moments`.
    pub(super) fn new(sum: &LossSum) -> Option<Self> {
        // v >= LEAST_SIGMA2 / 2, so that x < 0.05.
        const LEAST_SIGMA2: f64 = 0.4;
        let mut all = Comparison { discrete: vec![], continuous: 0.0, others: 0.0, copies: 0.0, least: f64::INFINITY };
        for Group { law, shift, copies } in sum.groups() {
            let moved = *copies as f64 * (*shift as f64).powi(2);
            let sigma2 = law.sigma2()?.to_f64();
            if law.has_bounded_loss() {
                return None;
            }
            if law.is_continuous() {
                all.continuous += moved / (2.0 * sigma2);
                all.others += 1.0;
            } else {
                all.discrete.push((moved, sigma2));
                all.copies += *copies as f64;
                all.least = all.least.min(sigma2);
            }
        }
        (!all.discrete.is_empty() && all.least >= LEAST_SIGMA2).then_some(all)
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Comparison {
            discrete: [&self.discrete[..], &other.discrete].concat(),
            continuous: self.continuous + other.continuous,
            others: self.others + other.others,
            copies: self.copies + other.copies,
            least: self.least.min(other.least),
        }
    }

    /// For choosing.
    fn rho(&self) -> f64 {
        self.discrete.iter().map(|(m, s)| m / (2.0 * s)).sum::<f64>() + self.continuous
    }

    /// The laws for a v that makes their difference matter little to a tail that falls by exp(-slope) a nat.
    fn apart(&self, slope: f64) -> Apart {
        const MATTERS: f64 = 0.005;
        let wanted = libm::log(4.0 * self.copies * (1.0 + slope.max(0.0)) / MATTERS) / (2.0 * PI * PI);
        // s - v >= s / 2, so that the difference keeps its digits.
        let v = wanted.min(self.least / 2.0);
        let x = theta_bound(v);
        let widening = widening(self.discrete.len() as f64 + self.others);
        let low = self.discrete.iter().map(|(m, s)| m * (s - v) / (2.0 * s * s)).sum::<f64>() + self.continuous;
        let high = self.discrete.iter().map(|(m, s)| m / (2.0 * (s - v))).sum::<f64>() + self.continuous;
        Apart {
            // ln(1 + x) <= x, ln((1 + x) / (1 - x)) <= 2 x / (1 - x).
            ln_above: self.copies * x * (1.0 + widening),
            ln_below: self.copies * 2.0 * x / (1.0 - x) * (1.0 + widening),
            rho_low: low * (1.0 - widening),
            rho_high: high * (1.0 + widening),
        }
    }

    /// ln delta, for epsilon >= 0.
    pub(super) fn hockey_stick(&self, epsilon: f64) -> Between {
        let rho = self.rho();
        let Apart { ln_above, ln_below, rho_low, rho_high } = self.apart((epsilon - rho) / (2.0 * rho));
        let moved = ln_above + ln_below;
        // Also what `profile` needs of epsilon -+ rho: both are known to a relative 10^-12 of epsilon.
        let off = 2.0 * WIDENING * (epsilon + moved);
        // The widening of `profile` is 10^-12 (1 + near^2) with near^2 / 2 about the size of the logarithm: it pays for the roundings of ln, too.
        Between {
            lower: libm::log(profile(rho_low, epsilon + moved + off).lower) - ln_below,
            upper: libm::log(profile(rho_high, epsilon - moved - off).upper) + ln_above,
        }
    }

    /// ln f(alpha), alpha = exp(ln_alpha).
    pub(super) fn tradeoff(&self, ln_alpha: f64) -> Between {
        let rho = self.rho();
        let Apart { ln_above, ln_below, rho_low, rho_high } = self.apart((ln_alpha.abs() / rho).sqrt());
        // f_G(a) = P[N <= z - mu] with P[N > z] = a: z at or below that of alpha / A, at or above that of alpha / B.
        let off = 1e-9 * (1.0 + ln_alpha.abs());
        let at_most = quantile(ln_alpha + ln_below + off, true);
        let at_least = quantile(ln_alpha - ln_above - off, false);
        let f = |z: f64, rho: f64| {
            let mu = (2.0 * rho).sqrt();
            // The logarithm falls by about |mu - z| for each that mu - z rises by.
            (ln_upper_tail(mu - z), WIDENING * (1.0 + (mu.abs() + z.abs()).powi(2)))
        };
        let (low, off_low) = f(at_most, rho_high);
        let (high, off_high) = f(at_least, rho_low);
        Between { lower: low - off_low - ln_below, upper: high + off_high + ln_above }
    }
}
