//! Groups whose noise is fine: the masses of their sums are those of a Gaussian, up to a factor close to 1.
//!
//! With v = n sigma2 >= 4, sigma2 >= 2 and q = exp(-2 pi^2 sigma2) the sum X of n discrete Gaussians has
//!
//! ```text
//! P[X = x] = exp(-x^2 / (2 v)) / sqrt(2 pi v) (1 + e),    |e| <= 2 n q^(1 - 1/n) + (2.2 n^2 + 5 n) q,    n sqrt(q) <= 1/100,
//! ```
//!
//! without the first term where n = 1.
//!
//! Proof. With y = (x_1, ..., x_n) - x / n in each coordinate, |x_1|^2 + ... + |x_n|^2 = x^2 / n + |y|^2, and y runs through a translate of
//! the lattice of integer vectors of sum zero. Its dual is the projection of Z^n along (1, ..., 1), so by Poisson's formula the sum of
//! exp(-|y|^2 / (2 sigma2)) is (2 pi sigma2)^((n - 1) / 2) / sqrt(n) times 1 + e', with |e'| at most the sum of q^(|w|^2) over all w != 0 of that
//! projection. Each w is that of an integer vector z whose sum s is at most n / 2 in size, for (1, ..., 1) has the sum n; and
//! |w|^2 = |z|^2 - s^2 / n >= |z|^2 / 2, because s^2 / n <= |s| / 2 <= |z|^2 / 2. The 2 n vectors of length one have |w|^2 = 1 - 1/n. The others
//! add at most theta(sqrt q)^n - 1 - 2 n sqrt(q) <= 2.1 n^2 q + 2.1 n q^2, theta(r) the sum of r^(k^2). The n normalisers are
//! sqrt(2 pi sigma2) (1 + e''), 0 <= e'' <= 2.02 q.
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

pub(super) mod ripple;

use std::f64::consts::PI;

use super::law::Group;

/// The smallest sigma2 of noise that counts as fine, and the smallest variance of the sum.
const LEAST_SIGMA2: f64 = 2.0;
const LEAST_VARIANCE: f64 = 4.0;
/// Upper bound on n sqrt(q).
const MOST: f64 = 0.01;

/// Upper bound on ln |e|, the relative error of the masses of a group. `None` if the noise is not fine, or not discrete Gaussian.
pub(super) fn ln_off(group: &Group) -> Option<f64> {
    let sigma2 = group.law.discrete_sigma2()?;
    let (sigma2, n) = (sigma2.to_f64(), group.copies as f64);
    // The last factor covers the rounding errors.
    let ln_q = -2.0 * PI * PI * sigma2 * (1.0 - 1e-9);
    let is_fine = sigma2 >= LEAST_SIGMA2 && n * sigma2 >= LEAST_VARIANCE && n * libm::exp(ln_q / 2.0) <= MOST;
    let others = libm::log(2.2 * n * n + 5.0 * n) + ln_q;
    let of_one = if group.copies == 1 { f64::NEG_INFINITY } else { libm::log(2.0 * n) + ln_q * (1.0 - 1.0 / n) };
    let (small, large) = (others.min(of_one), others.max(of_one));
    is_fine.then(|| large + libm::log1p(libm::exp(small - large)) + 1e-9)
}

#[cfg(test)]
mod tests {
    use rug::Float;

    use super::*;
    use crate::loss::testing::group;

    /// Masses of convolutions against the Gaussian, in 400 bits.
    #[test]
    fn masses_are_within_their_error_bound() {
        const BITS: u32 = 400;
        let mut tight = 0;
        for (sigma2, copies) in [(4, 1), (2, 2), (2, 3), (3, 4), (2, 7), (3, 16), (5, 2)] {
            let most = ln_off(&group(&format!("{sigma2}x{copies}"))).unwrap();
            let reach = 60 * sigma2;
            let one: Vec<Float> =
                (-reach..=reach).map(|x: i32| (Float::with_val(BITS, -x * x) / (2 * sigma2)).exp()).collect();
            let normaliser = one.iter().fold(Float::new(BITS), |sum, mass| sum + mass);
            let mut masses = vec![Float::with_val(BITS, 1)];
            for _ in 0..copies {
                let mut next = vec![Float::new(BITS); masses.len() + one.len() - 1];
                for (i, mass) in masses.iter().enumerate() {
                    for (j, other) in one.iter().enumerate() {
                        next[i + j] += Float::with_val(BITS, mass * other) / &normaliser;
                    }
                }
                // Masses far from the middle are not compared.
                let spare = next.len().saturating_sub(one.len()) / 2;
                masses = next[spare..next.len() - spare].to_vec();
            }
            let variance = sigma2 * copies;
            let middle = masses.len() / 2;
            let mut largest = f64::NEG_INFINITY;
            for x in 0..12_i32 {
                let gaussian = (Float::with_val(BITS, -x * x) / (2 * variance)).exp()
                    / (Float::with_val(BITS, rug::float::Constant::Pi) * (2 * variance)).sqrt();
                let off = Float::with_val(BITS, &masses[middle + x as usize] / gaussian) - 1_u32;
                largest = largest.max(off.abs().ln().to_f64());
            }
            assert!(largest <= most, "{sigma2} x {copies}: {largest} {most}");
            tight += i32::from(largest > most - 3.0);
        }
        assert!(tight >= 5, "{tight}");
    }

    #[test]
    fn coarse_noise_is_not_fine() {
        assert!(ln_off(&group("19/10x100")).is_none() && ln_off(&group("3")).is_none());
        assert!(ln_off(&group("2x10000000")).is_none());
        assert!(ln_off(&group("discrete-laplace:1x9")).is_none());
    }
}
