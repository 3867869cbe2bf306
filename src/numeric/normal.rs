//! The standard normal law in doubles: approximations, for choices that are proven elsewhere and for intervals that are called approximate.

use std::f64::consts::SQRT_2;

use rug::Float;

/// The probability below z, to about 15 digits also in the lower tail.
pub fn lower_approx(z: f64) -> f64 {
    Float::with_val(64, -z / SQRT_2).erfc().to_f64() / 2.0
}

/// The z below which the probability is p, for 0 < p < 1; within 40 standard deviations.
pub fn quantile_approx(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..70 {
        let middle = f64::midpoint(low, high);
        if lower_approx(middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
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
}
