//! Groups whose noise is fine: the masses of their sums are those of a Gaussian, up to a factor next to one.
//!
//! With v = n sigma2 the sum X of n discrete Gaussians of sigma2 >= 4 has
//!
//! ```text
//! P[X = x] = exp(-x^2 / (2 v)) / sqrt(2 pi v) (1 + e),    |e| <= 5 n exp(-pi^2 sigma2).
//! ```
//!
//! Proof. The m-th convolution multiplies exp(-x^2 / (2 m sigma2)) and exp(-y^2 / (2 sigma2)); completing the square leaves the sum of
//! exp(-(k - u)^2 / (2 tau)) over all integers k, tau = sigma2 m / (m + 1) >= sigma2 / 2. By Poisson's formula that is
//! sqrt(2 pi tau) (1 + e'), |e'| <= 2.02 exp(-2 pi^2 tau). So is each of the n normalisers, with sigma2 for tau. The product of the
//! square roots is that of the assertion, and 2 n factors 1 + e' of |e'| <= q = 2.02 exp(-pi^2 sigma2) or their inverses are
//! 1 + e with |e| <= 2.2 n q where n q <= 1/10.
//!
//! # The tilted law
//!
//! Tilting by c multiplies all these masses by the exponential of something linear in x. With w(x) = exp(-(x - m)^2 / (2 v)) and
//! m = c n shift the tilted mass is w(x) (1 + e) over the sum of all of these; the sum of w over the integers is sqrt(2 pi v)
//! up to a factor 1 + e'', |e''| <= |e|, by Poisson's formula again. So
//!
//! ```text
//! P_c[X = x] >= w(x) / sqrt(2 pi v) (1 - 3 |e|),
//! ```
//!
//! because (1 - e) / (1 + e)^2 >= 1 - 3 e. One term has E[exp(c L)] = exp(rho (c + c^2)) T(c shift) / T(0) with T(a) the sum of
//! exp(-(x - a)^2 / (2 sigma2)), which is largest at zero and, by the same formula, off from sqrt(2 pi sigma2) by a factor
//! 1 + e', |e'| <= 2.02 exp(-2 pi^2 sigma2): so n ln (T(c shift) / T(0)) lies between -|e| and 0.

use std::f64::consts::PI;

use super::law::{Group, Law};

/// The smallest sigma2 of noise that is called fine: the bound needs 4.
const LEAST_SIGMA2: f64 = 4.0;
/// And n q <= 1/10, with much to spare.
const LARGEST_LN_OFF: f64 = -5.0;

/// At least ln |e|, which bounds how much the masses of a group are off. `None` if the noise is not fine, or not discrete Gaussian.
pub(super) fn ln_off(group: &Group) -> Option<f64> {
    let Law::DiscreteGaussian { sigma2 } = &group.law else { return None };
    let sigma2 = sigma2.to_f64();
    // The last factor pays for the roundings.
    let ln_off = (5.0 * group.copies as f64).ln() - PI * PI * sigma2 * (1.0 - 1e-9);
    (sigma2 >= LEAST_SIGMA2 && ln_off <= LARGEST_LN_OFF).then_some(ln_off)
}
