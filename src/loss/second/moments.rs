//! ln M(s), M(s) = E[exp(s L)] under P, at real s, by closed forms in doubles.
//!
//! - Gaussian noise of m = n mu^2 and sigma2 adds rho (s + s^2), rho = m / (2 sigma2).
//! - Discrete Gaussian noise also multiplies by (theta(s) / theta(0))^n, theta(s) = 1 + 2 sum_k q^(k^2) cos(2 pi k mu s),
//!   q = exp(-2 pi^2 sigma2). For large sigma2 the ratio is bounded, for small sigma2 it is summed on the other side of Poisson summation.
//! - Discrete Laplace noise has mu + 1 losses: a geometric series.

use std::f64::consts::PI;

use rug::Rational;

use super::between::{Between, WIDENING};
use crate::loss::{
    law::{Group, Law},
    sum::LossSum,
};

/// Closed forms of ln E[exp(s L)] at real s.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// sum n mu^2 / (2 sigma2) over all Gaussian groups.
    pub(super) rho: f64,
    /// Upper bound on what the theta functions of large noise subtract from the logarithm: sum n ln((1 + x) / (1 - x)).
    ripple: f64,
    /// Discrete Gaussians of small noise, whose theta functions are summed.
    small: Vec<Theta>,
    laplace: Vec<Terms>,
    /// The largest loss; `None` where a group is Gaussian.
    pub(super) largest: Option<f64>,
    /// The number of groups: so many summands have the sums above.
    groups: f64,
}

/// A group in doubles: its sigma2 or epsilon.
#[derive(Clone, Copy, Debug)]
struct Terms {
    parameter: f64,
    shift: f64,
    copies: f64,
}

/// A discrete Gaussian group of small noise.
#[derive(Clone, Copy, Debug)]
struct Theta {
    terms: Terms,
    /// 1 / (2 sigma2).
    half: f64,
    /// The sum has the terms up to this distance from the nearest integer.
    reach: i32,
    /// ln sum_x exp(-x^2 / (2 sigma2)).
    ln_at_zero: f64,
}

/// From this sigma2 on the theta function is bounded, below it is summed: 2 exp(-2 pi^2 / 2) = 0.0001.
const SUMMED_BELOW: f64 = 0.5;

/// The least parameter, and one over the largest. Beside at most 2^64 copies and shifts of at most 2^64, with tilts between 10^-11 and 10^11, no
/// product leaves 10^-200 to 10^200.
const LEAST_PARAMETER: f64 = 1e-60;

/// A few dozen roundings of 2^-50, for the logarithm of one count, which its copies multiply.
const OF_ONE_COUNT: f64 = 2e-14;

/// Groups whose sums the widenings pay for as they are.
const FEW_GROUPS: f64 = 1000.0;

impl Moments {
    /// `None` where a parameter is out of range.
    pub(super) fn new(sum: &LossSum) -> Option<Self> {
        let (mut rho, mut ripple, mut small, mut laplace) = (0.0, 0.0, Vec::new(), Vec::new());
        let mut is_bounded = true;
        for Group { law, shift, copies } in sum.groups() {
            let terms = Terms::new(law.parameter(), *shift, *copies)?;
            let of_gaussian = terms.copies * terms.shift * terms.shift / (2.0 * terms.parameter);
            match law {
                Law::Gaussian { .. } => rho += of_gaussian,
                Law::DiscreteGaussian { .. } => {
                    rho += of_gaussian;
                    if terms.parameter < SUMMED_BELOW {
                        small.push(Theta::new(terms));
                    } else {
                        // ln((1 + x) / (1 - x)) <= 2 x / (1 - x)
                        let x = theta_bound(terms.parameter);
                        ripple += terms.copies * 2.0 * x / (1.0 - x);
                    }
                }
                Law::DiscreteLaplace { .. } => laplace.push(terms),
            }
            is_bounded &= law.has_bounded_loss();
        }
        let groups = sum.groups().len() as f64;
        let all = laplace.iter().map(|terms| terms.copies * terms.shift * terms.parameter).sum::<f64>();
        let largest = is_bounded.then_some(all * (1.0 + widening(groups)));
        Some(Moments { rho, ripple, small, laplace, largest, groups })
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Moments {
            rho: self.rho + other.rho,
            ripple: self.ripple + other.ripple,
            small: [&self.small[..], &other.small].concat(),
            laplace: [&self.laplace[..], &other.laplace].concat(),
            largest: self.largest.zip(other.largest).map(|(one, other)| (one + other) * (1.0 + WIDENING)),
            groups: self.groups + other.groups,
        }
    }

    /// ln E[exp(s L)].
    pub(super) fn ln_mgf(&self, s: f64) -> Between {
        let widening = widening(self.groups);
        // s + s^2 is off by 2^-52 of |s| + s^2, also next to -1.
        let mut middle = self.rho * (s + s * s);
        let mut off = widening * self.rho * (s.abs() + s * s);
        let small = self.small.iter().map(|theta| (theta.terms.copies, theta.ln_ratio(s)));
        let laplace = self.laplace.iter().map(|terms| (terms.copies, terms.ln_laplace(s)));
        // Each of the sums so far is at most the sum of all sizes, and is rounded once a group.
        let of_one_count = OF_ONE_COUNT + self.groups * f64::EPSILON;
        for (copies, (ln, size)) in small.chain(laplace) {
            middle += copies * ln;
            off += copies * of_one_count * size;
        }
        let off = off + widening * middle.abs() + f64::MIN_POSITIVE;
        Between { lower: middle - self.ripple * (1.0 + widening) - off, upper: middle + off }
    }

    /// Its middle, for choosing.
    pub(super) fn middle(&self, s: f64) -> f64 {
        let Between { lower, upper } = self.ln_mgf(s);
        (lower + upper) / 2.0
    }

    /// About the standard deviation of the bounded losses, plus that of the others: for choosing.
    pub(super) fn scale(&self) -> f64 {
        self.rho.sqrt() + self.laplace.iter().map(|one| one.copies.sqrt() * one.shift * one.parameter).sum::<f64>()
    }

    /// The largest sum of bounded losses: for choosing.
    pub(super) fn largest_bounded(&self) -> f64 {
        self.laplace.iter().map(|one| one.copies * one.shift * one.parameter).sum()
    }
}

/// The relative widening of sums over so many groups.
pub(super) fn widening(groups: f64) -> f64 {
    WIDENING * (1.0 + groups / FEW_GROUPS)
}

/// Upper bound on |2 sum_k q^(k^2) cos(..)| for q = exp(-2 pi^2 v): 2 (q + q^4 + q^7 + ..) = 2 q / (1 - q^3), as k^2 >= 3 k - 2.
pub(super) fn theta_bound(v: f64) -> f64 {
    // The exponent is off by 2^-50 of it, which is below 1e-9 wherever q is a double; where it is none, MIN_POSITIVE is above it.
    let q = (-2.0 * PI * PI * v).exp() * (1.0 + 1e-9) + f64::MIN_POSITIVE;
    2.0 * q / (1.0 - q * q * q) * (1.0 + 1e-9)
}

impl Theta {
    fn new(terms: Terms) -> Self {
        // Left out are x with (x^2 - |x|) / (2 sigma2) >= 72, from reach (reach + 1) >= 72 / half: two falling series from exp(-72).
        const CUT: f64 = 72.0;
        let half = 0.5 / terms.parameter;
        let reach = (1..9).find(|reach| f64::from(reach * (reach + 1)) >= CUT / half).unwrap_or(9);
        let theta = Theta { terms, half, reach, ln_at_zero: 0.0 };
        Theta { ln_at_zero: theta.sum(0.0).ln(), ..theta }
    }

    /// sum_x exp(-(x^2 - 2 x away) / (2 sigma2)) for |away| <= 1/2: every exponent is at most zero.
    fn sum(&self, away: f64) -> f64 {
        let term = |x: i32| (-self.half * (f64::from(x * x) - 2.0 * f64::from(x) * away)).exp();
        (-self.reach..=self.reach).map(term).sum()
    }

    /// ln of sum_x exp(-(x - m)^2 / (2 sigma2)) over the same at m = 0, with m = s shift, and the size of its terms. A change of m by d changes the
    /// logarithm by at most d / (2 sigma2), because the mean of x - m is within 1/2: that pays for the rounding of m.
    fn ln_ratio(&self, s: f64) -> (f64, f64) {
        let m = s * self.terms.shift;
        let away = m - m.round();
        let ln = -self.half * away * away + self.sum(away).ln() - self.ln_at_zero;
        (ln, 1.0 + ln.abs() + 4.0 * self.half * (1.0 + m.abs()))
    }
}

impl Terms {
    /// `None` where the parameter is out of range.
    fn new(parameter: &Rational, shift: u64, copies: u64) -> Option<Self> {
        let parameter = parameter.to_f64();
        let is_in_range = (LEAST_PARAMETER..=1.0 / LEAST_PARAMETER).contains(&parameter);
        is_in_range.then_some(Terms { parameter, shift: shift as f64, copies: copies as f64 })
    }

    /// ln E[exp(s L)] of one discrete Laplace count, and the size of its terms: with a = epsilon (1 + 2 s) the sum over the losses
    /// epsilon (shift - 2 x) is exp(s epsilon shift) (1 + (1 - q) (exp(-a) + ... + exp(-a (shift - 1))) + exp(-a shift)) / (1 + q), a geometric series.
    fn ln_laplace(&self, s: f64) -> (f64, f64) {
        let Terms { parameter: epsilon, shift, .. } = *self;
        let a = epsilon * (1.0 + 2.0 * s);
        // Relative to the larger end, the series is the same from both ends.
        let peak = (-a * shift).max(0.0);
        let series = if a == 0.0 { shift - 1.0 } else { -(-a.abs() * (shift - 1.0)).exp_m1() / a.abs().exp_m1() };
        let ends = 1.0 + (-a.abs() * shift).exp();
        let ln = (ends - (-epsilon).exp_m1() * series).ln() - (-epsilon).exp().ln_1p();
        // a shift is off by 2^-51 of epsilon shift (1 + 2 |s|), and the logarithm by no more.
        (s * epsilon * shift + peak + ln, 1.0 + ln.abs() + epsilon * shift * (1.0 + 4.0 * s.abs()))
    }
}
