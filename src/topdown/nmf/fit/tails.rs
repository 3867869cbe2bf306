//! Tails of the chi-square and the normal law, and their proven bounds.

use rug::Float;

/// Upper bound on the relative error of sums in doubles and of variances rounded to floats: statistics are reduced by
/// it before a decision.
const ROUNDING: f64 = 1e-6;

/// An upper bound on the logarithm of P(T >= t) for a sum T of n squares as above.
pub(super) fn ln_tail_bound(n: u64, t: f64) -> f64 {
    let n = n as f64;
    let ratio = t * (1.0 - ROUNDING) / n;
    // At a ratio of at most 1 the bound is 1.
    if ratio > 1.0 { -(n / 2.0) * (ratio - 1.0 - ratio.ln()) } else { 0.0 }
}

/// An upper bound on the logarithm of P(|r| >= z s), given z^2.
pub(super) fn ln_largest_bound(z2: f64) -> f64 {
    (2_f64.ln() - z2 * (1.0 - ROUNDING) / 2.0).min(0.0)
}

/// The probability of more than t under the chi-square law with n degrees of freedom: an approximation.
pub(super) fn chi_square_tail_approx(n: u64, t: f64) -> f64 {
    const PRECISION: u32 = 64;
    // With this many degrees of freedom the cube root is normal to four digits (Wilson & Hilferty 1931).
    const MANY: u64 = 2000;
    if n == 0 {
        return 1.0;
    }
    if n <= MANY {
        return upper_gamma_share_approx(n as f64 / 2.0, t / 2.0);
    }
    let spread = 2.0 / (9.0 * n as f64);
    let z = ((t / n as f64).cbrt() - (1.0 - spread)) / spread.sqrt();
    (Float::with_val(PRECISION, z / 2_f64.sqrt()).erfc() / 2_u32).to_f64()
}

/// The upper regularized incomplete gamma function with parameter a at x, in doubles: by the series of its complement
/// up to x = a + 1, above by the continued fraction (Abramowitz & Stegun 6.5.29 and 6.5.31).
fn upper_gamma_share_approx(a: f64, x: f64) -> f64 {
    const MOST_TERMS: u32 = 10_000;
    const SMALL: f64 = 1e-15;
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    let ln_gamma = Float::with_val(64, a).ln_gamma().to_f64();
    let front = (a * x.ln() - x - ln_gamma).exp();
    if front == 0.0 && x > a {
        return 0.0;
    }
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MOST_TERMS {
            term *= x / (a + f64::from(k));
            sum += term;
            if term < sum * SMALL {
                break;
            }
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    // Evaluated from its beginning, by Lentz's method.
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for k in 1..MOST_TERMS {
        let k = f64::from(k);
        let step = -k * (k - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        fraction *= d * c;
        if (d * c - 1.0).abs() < SMALL {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_tables_and_are_below_their_bounds() {
        // Chi-square tables: 3.841 at one degree, 18.307 at ten, 124.342 at a hundred.
        for (n, t) in [(1, 3.841_459), (10, 18.307_04), (100, 124.342_11)] {
            assert!((chi_square_tail_approx(n, t) - 0.05).abs() < 1e-6, "{n}");
        }
        // Both methods agree where they meet.
        let (near, far) = (chi_square_tail_approx(2000, 2200.0), chi_square_tail_approx(2001, 2201.0));
        assert!((near / far - 1.0).abs() < 0.02, "{near} {far}");
        for n in [1, 5, 60, 1000, 100_000] {
            for factor in [1.01, 1.5, 4.0, 100.0] {
                let t = n as f64 * factor;
                let tail = chi_square_tail_approx(n, t);
                assert!(ln_tail_bound(n, t).exp() >= tail * 0.999, "{n} {factor}");
            }
        }
        assert_eq!((ln_tail_bound(7, 3.0), ln_largest_bound(0.5)), (0.0, 0.0));
        assert!(ln_largest_bound(100.0) < -49.0);
    }
}
