//! Tails of the chi-square law: approximations, shown beside proven p-values. They decide nothing.

use rug::Float;

use crate::numeric::normal::lower_approx;

/// The probability of more than t under the chi-square law with n degrees of freedom: an approximation.
pub fn chi_square_tail_approx(n: u64, t: f64) -> f64 {
    // With this many degrees of freedom the cube root is normal to four digits (Wilson & Hilferty 1931).
    const MANY: u64 = 2000;
    if n == 0 {
        return 1.0;
    }
    if n <= MANY {
        return upper_gamma_share_approx(n as f64 / 2.0, t / 2.0);
    }
    let spread = 2.0 / (9.0 * n as f64);
    let z = (libm::cbrt(t / n as f64) - (1.0 - spread)) / spread.sqrt();
    lower_approx(-z)
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
    let front = libm::exp(a * libm::log(x) - x - ln_gamma);
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
    fn tails_agree_with_tables() {
        // Chi-square tables: 3.841 at one degree, 18.307 at ten, 124.342 at a hundred.
        for (n, t) in [(1, 3.841_459), (10, 18.307_04), (100, 124.342_11)] {
            assert!((chi_square_tail_approx(n, t) - 0.05).abs() < 1e-6, "{n}");
        }
        // Both methods agree where they meet.
        let (near, far) = (chi_square_tail_approx(2000, 2200.0), chi_square_tail_approx(2001, 2201.0));
        assert!((near / far - 1.0).abs() < 0.02, "{near} {far}");
    }
}
