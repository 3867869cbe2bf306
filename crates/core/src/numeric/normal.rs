//! The standard normal law in doubles: approximations, for choices that are proven elsewhere and for intervals that are called approximate.

use std::f64::consts::{LN_2, PI, SQRT_2};

use rug::Float;

/// The probability below z, to about 15 digits also in the lower tail.
pub fn lower_approx(z: f64) -> f64 {
    Float::with_val(64, -z / SQRT_2).erfc().to_f64() / 2.0
}

/// The z below which the probability is p, for 0 < p < 1.
pub fn quantile_approx(p: f64) -> f64 {
    -upper_quantile_approx(libm::log(p))
}

/// The z above which the probability is exp(ln), for ln < 0; also where exp(ln) is no double.
pub fn upper_quantile_approx(ln: f64) -> f64 {
    const MOST_STEPS: u32 = 100;
    // P[Z > z] <= exp(-z^2 / 2) for z >= 0, and 1/2 at zero: the quantile is not above the start. ln P[Z > z] is concave and falls, so
    // every step of Newton's method from above stays above.
    let mut z = (-2.0 * ln).max(0.0).sqrt();
    if ln > -LN_2 {
        z = 0.0;
    }
    for _ in 0..MOST_STEPS {
        let tail = Float::with_val(64, z / SQRT_2).erfc() / 2_u32;
        let ln_tail = tail.ln().to_f64();
        let hazard = libm::exp(-z * z / 2.0 - ln_tail) / (2.0 * PI).sqrt();
        let step = (ln - ln_tail) / hazard;
        z -= step;
        if step.abs() <= 1e-14 * z.abs().max(1.0) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_probabilities() {
        for (p, z) in [(0.975, 1.959_963_984_540_054), (0.5, 0.0), (1e-9, -5.997_807_015_007_687)] {
            assert!((quantile_approx(p) - z).abs() < 1e-9, "{p}");
            assert!((lower_approx(z) / p - 1.0).abs() < 1e-9, "{z}");
        }
    }

    /// Bisection of the tail, which needs no derivative, from the smallest probabilities to nearly one.
    #[test]
    fn quantiles_of_extreme_probabilities_agree_with_bisection() {
        for ln in [-1e-9, -1e-3, -LN_2, -0.7, -1.0, -10.0, -100.0, -700.0, -1800.0] {
            let ln_tail = |z: f64| (Float::with_val(64, z / SQRT_2).erfc() / 2_u32).ln().to_f64();
            let (mut below, mut above) = (-40.0, 80.0);
            for _ in 0..100 {
                let middle = f64::midpoint(below, above);
                if ln_tail(middle) > ln { below = middle } else { above = middle }
            }
            let z = upper_quantile_approx(ln);
            assert!((z - below).abs() <= 1e-7 * z.abs().max(1.0), "{ln}: {z} {below}");
        }
    }
}
