//! ln M(s), M(s) = E[exp(s L)] under P, at real s, by closed forms in doubles.
//!
//! - Gaussian noise of m = n mu^2 and sigma2 adds rho (s + s^2), rho = m / (2 sigma2).
//! - Discrete Gaussian noise also multiplies by (theta(s) / theta(0))^n, theta(s) = 1 + 2 sum_k q^(k^2) cos(2 pi k mu s),
//!   q = exp(-2 pi^2 sigma2). For large sigma2 the ratio is bounded, for small sigma2 it is summed on the other side of Poisson summation.
//! - Bounded noise has finitely many losses, whose masses times exp(s loss) are summed.

use std::f64::consts::PI;

use rug::Rational;

use super::between::{Between, WIDENING};
use crate::{law::Finite, loss::sum::LossSum};

/// Closed forms of ln E[exp(s L)] at real s.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    /// sum n mu^2 / (2 sigma2) over all Gaussian groups.
    pub(super) rho: f64,
    /// Upper bound on what the theta functions of large noise subtract from the logarithm: sum n ln((1 + x) / (1 - x)).
    ripple: f64,
    /// Discrete Gaussians of small noise, whose theta functions are summed.
    small: Vec<Theta>,
    bounded: Vec<Few>,
    /// The largest loss; `None` where a group is Gaussian.
    pub(super) largest: Option<f64>,
    /// The number of groups, which is the number of summands of the sums above.
    groups: f64,
}

/// A group of finitely many losses.
#[derive(Clone, Debug)]
struct Few {
    /// The losses from the largest down, and ln of their masses up to a constant.
    terms: Vec<(f64, f64)>,
    /// The largest size of a loss.
    largest_size: f64,
    /// The largest of the numbers that these logarithms were made of.
    size: f64,
    /// ln of the sum of these masses.
    ln_total: f64,
    copies: f64,
}

/// A Gaussian group in doubles.
#[derive(Clone, Copy, Debug)]
struct Terms {
    sigma2: f64,
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
        let (mut rho, mut ripple, mut small, mut bounded) = (0.0, 0.0, Vec::new(), Vec::new());
        let mut is_bounded = true;
        for group in sum.groups() {
            if let Some(one) = group.law.finite(group.shift) {
                bounded.push(Few::new(&one, group.copies)?);
                continue;
            }
            is_bounded = false;
            let terms = Terms::new(group.law.sigma2()?, group.shift, group.copies)?;
            rho += terms.copies * terms.shift * terms.shift / (2.0 * terms.sigma2);
            if group.law.is_continuous() {
                continue;
            }
            if terms.sigma2 < SUMMED_BELOW {
                small.push(Theta::new(terms));
            } else {
                // ln((1 + x) / (1 - x)) <= 2 x / (1 - x)
                let x = theta_bound(terms.sigma2);
                ripple += terms.copies * 2.0 * x / (1.0 - x);
            }
        }
        let groups = sum.groups().len() as f64;
        // Of one direction of a pair a largest loss may be below zero: the widening is one of sizes.
        let (all, sizes) =
            bounded.iter().map(Few::largest).fold((0.0, 0.0), |(all, sizes), one| (all + one, sizes + one.abs()));
        let largest = is_bounded.then_some(all + sizes * widening(groups));
        Some(Moments { rho, ripple, small, bounded, largest, groups })
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Moments {
            rho: self.rho + other.rho,
            ripple: self.ripple + other.ripple,
            small: [&self.small[..], &other.small].concat(),
            bounded: [&self.bounded[..], &other.bounded].concat(),
            largest: self
                .largest
                .zip(other.largest)
                .map(|(one, other)| one + other + (one.abs() + other.abs()) * WIDENING),
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
        let bounded = self.bounded.iter().map(|few| (few.copies, few.ln_mgf(s)));
        // Each of the sums so far is at most the sum of all sizes, and is rounded once a group.
        let of_one_count = OF_ONE_COUNT + self.groups * f64::EPSILON;
        for (copies, (ln, size)) in small.chain(bounded) {
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
        self.rho.sqrt() + self.bounded.iter().map(|one| one.copies.sqrt() * one.largest_size).sum::<f64>()
    }

    /// The largest sum of bounded losses: for choosing.
    pub(super) fn largest_bounded(&self) -> f64 {
        self.bounded.iter().map(|one| one.copies * one.largest_size).sum()
    }
}

/// The relative widening of a sum over this number of groups.
pub(super) fn widening(groups: f64) -> f64 {
    WIDENING * (1.0 + groups / FEW_GROUPS)
}

/// Upper bound on |2 sum_k q^(k^2) cos(..)| for q = exp(-2 pi^2 v): 2 (q + q^4 + q^7 + ..) = 2 q / (1 - q^3), as k^2 >= 3 k - 2.
pub(super) fn theta_bound(v: f64) -> f64 {
    // The exponent is off by 2^-50 of it, which is below 1e-9 wherever q is a double; where it is none, MIN_POSITIVE is above it.
    let q = libm::exp(-2.0 * PI * PI * v) * (1.0 + 1e-9) + f64::MIN_POSITIVE;
    2.0 * q / (1.0 - q * q * q) * (1.0 + 1e-9)
}

impl Theta {
    fn new(terms: Terms) -> Self {
        // Left out are x with (x^2 - |x|) / (2 sigma2) >= 72, from reach (reach + 1) >= 72 / half: two falling series from exp(-72).
        const CUT: f64 = 72.0;
        let half = 0.5 / terms.sigma2;
        let reach = (1..9).find(|reach| f64::from(reach * (reach + 1)) >= CUT / half).unwrap_or(9);
        let theta = Theta { terms, half, reach, ln_at_zero: 0.0 };
        Theta { ln_at_zero: libm::log(theta.sum(0.0)), ..theta }
    }

    /// sum_x exp(-(x^2 - 2 x away) / (2 sigma2)) for |away| <= 1/2: every exponent is at most zero.
    fn sum(&self, away: f64) -> f64 {
        let term = |x: i32| libm::exp(-self.half * (f64::from(x * x) - 2.0 * f64::from(x) * away));
        (-self.reach..=self.reach).map(term).sum()
    }

    /// ln of sum_x exp(-(x - m)^2 / (2 sigma2)) over the same at m = 0, with m = s shift, and the size of its terms. A change of m by d changes the
    /// logarithm by at most d / (2 sigma2), because the mean of x - m is within 1/2: that pays for the rounding of m.
    fn ln_ratio(&self, s: f64) -> (f64, f64) {
        let m = s * self.terms.shift;
        let away = m - m.round();
        let ln = -self.half * away * away + libm::log(self.sum(away)) - self.ln_at_zero;
        (ln, 1.0 + ln.abs() + 4.0 * self.half * (1.0 + m.abs()))
    }
}

impl Terms {
    /// `None` where sigma2 is out of range.
    fn new(sigma2: &Rational, shift: u64, copies: u64) -> Option<Self> {
        let sigma2 = sigma2.to_f64();
        is_in_range(sigma2).then_some(Terms { sigma2, shift: shift as f64, copies: copies as f64 })
    }
}

fn is_in_range(parameter: f64) -> bool {
    (LEAST_PARAMETER..=1.0 / LEAST_PARAMETER).contains(&parameter)
}

impl Few {
    /// `None` where losses are out of range.
    fn new(one: &Finite, copies: u64) -> Option<Self> {
        let (largest_size, step) = (one.size().to_f64(), one.step.to_f64());
        if !is_in_range(largest_size) || !is_in_range(step) {
            return None;
        }
        let mut size = 1.0_f64;
        let mut terms = Vec::with_capacity(one.masses.len());
        for (k, mass) in one.masses.iter().enumerate() {
            let (factor, exponent) = (mass.factor.ln_approx(), mass.exponent.to_f64());
            size = size.max(factor.abs() + exponent.abs());
            // Of the exact loss: the difference of two doubles would lose digits next to zero.
            terms.push((one.loss(k).to_f64(), factor - exponent));
        }
        let few = Few { terms, size, ln_total: 0.0, copies: copies as f64, largest_size };
        let ln_total = few.ln_sum(0.0);
        (size.is_finite() && ln_total.is_finite()).then_some(Few { ln_total, ..few })
    }

    /// The largest loss of all copies.
    fn largest(&self) -> f64 {
        self.copies * self.terms.first().map_or(0.0, |(loss, _)| *loss)
    }

    /// ln of the sum of the masses times exp(s loss).
    fn ln_sum(&self, s: f64) -> f64 {
        let exponents = || self.terms.iter().map(|(loss, ln)| ln + s * loss);
        let peak = exponents().fold(f64::NEG_INFINITY, f64::max);
        peak + libm::log(exponents().map(|exponent| libm::exp(exponent - peak)).sum::<f64>())
    }

    /// ln E[exp(s L)] of one count, and the size of its terms. Every exponent is off by a few roundings of the largest number in it, and the logarithm
    /// of a sum of exponentials by no more; a sum of many terms is rounded once each.
    fn ln_mgf(&self, s: f64) -> (f64, f64) {
        let ln = self.ln_sum(s) - self.ln_total;
        let largest = self.largest_size;
        let roundings = 1.0 + self.terms.len() as f64 * f64::EPSILON / OF_ONE_COUNT;
        (ln, (1.0 + ln.abs() + 2.0 * self.size + self.ln_total.abs() + 4.0 * s.abs() * largest) * roundings)
    }
}
