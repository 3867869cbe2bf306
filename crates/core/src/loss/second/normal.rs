//! Profile, tail and quantile of the normal distribution in doubles.

use std::f64::consts::PI;

use super::between::{Between, WIDENING};

/// The privacy profile of Gaussian noise of this rho at any epsilon: with x = (epsilon -+ rho) / sqrt(2 rho), phi the normal density and
/// R(x) = P[N > x] / phi(x), it is phi(x_1) (R(x_1) - R(x_2)), because exp(epsilon) phi(x_2) = phi(x_1).
///
/// epsilon - rho is off by 2^-52 of epsilon + rho, which is not bounded here where both are large: the caller moves epsilon by more.
pub(super) fn profile(rho: f64, epsilon: f64) -> Between {
    let width = (2.0 * rho).sqrt();
    let (near, far) = ((epsilon - rho) / width, (epsilon + rho) / width);
    let density = libm::exp(-near * near / 2.0) / (2.0 * PI).sqrt();
    let tail = |x: f64| if x >= 0.0 { density * mills(x) } else { 1.0 - density * mills(-x) };
    // Left of -rho the second term is exp(epsilon) less its own complement.
    let second = if far >= 0.0 { density * mills(far) } else { libm::exp(epsilon) - density * mills(-far) };
    let value = tail(near) - second;
    // The exponent is off by a little of its size, and the terms by a little of theirs.
    let off = (1.0 + near * near) * WIDENING * (tail(near).abs() + second.abs() + density);
    // `max` and `min` pass over a NaN: then nothing is known.
    Between { lower: (value - off).max(0.0), upper: (value + off + f64::MIN_POSITIVE).min(1.0) }
}

/// P[N > x] / phi(x) for x >= 0, to a relative 10^-13 or so: near zero sqrt(pi / 2) exp(x^2 / 2) - sum of x^(2 k + 1) / (2 k + 1)!!, of which at most
/// 28.5 and 28.1 differ by 0.35; further out the continued fraction 1 / (x + 1 / (x + 2 / (x + 3 / ...))), from its end. At x = 2.5 the 60 terms end
/// below 10^-30, and 120 levels at about exp(-2 x sqrt(2 120)) = 10^-33.
pub(super) fn mills(x: f64) -> f64 {
    const NEAR: f64 = 2.5;
    if x < NEAR {
        let (mut term, mut sum) = (x, x);
        for k in 1..60 {
            term *= x * x / f64::from(2 * k + 1);
            sum += term;
            if term < sum * 1e-18 {
                break;
            }
        }
        return (PI / 2.0).sqrt() * libm::exp(x * x / 2.0) - sum;
    }
    // Neighboring levels n lie on both sides and differ by less than a relative n! / x^(2 n), 20! / 20^40 = 10^-33.
    let levels = if x < 20.0 { 120 } else { 20 };
    (1..=levels).rev().fold(x, |fraction, k| x + f64::from(k) / fraction).recip()
}

/// ln P[N > x].
pub(super) fn ln_upper_tail(x: f64) -> f64 {
    if x >= 0.0 {
        libm::log(mills(x)) - x * x / 2.0 - libm::log(2.0 * PI) / 2.0
    } else {
        libm::log1p(-libm::exp(-x * x / 2.0) * mills(-x) / (2.0 * PI).sqrt())
    }
}

/// The x of ln P[N > x] = ln_size up to halving, rounded down or up as requested; infinite where there is none. `ln_size` is off by at least
/// 10^-9 of its size already, far more than `ln_upper_tail` errs by.
pub(super) fn quantile(ln_size: f64, down: bool) -> f64 {
    if ln_size >= 0.0 {
        return f64::NEG_INFINITY;
    }
    // P[N > x] <= exp(-x^2 / 2) for x >= 0.
    let (mut low, mut high) = (-40.0, 2.0 + (-2.0 * ln_size).sqrt());
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if ln_upper_tail(middle) > ln_size { low = middle } else { high = middle }
    }
    if down { low } else { high }
}
