//! Proven bounds on the tails of sums of squares, and of the largest residual.

/// Upper bound on the relative error of sums in doubles and of variances rounded to floats: statistics are reduced by
/// it before a decision.
const ROUNDING: f64 = 1e-6;

/// An upper bound on the logarithm of P(T >= t) for a sum T of n squares as above.
pub(in crate::topdown::nmf) fn ln_tail_bound(n: u64, t: f64) -> f64 {
    let n = n as f64;
    let ratio = t * (1.0 - ROUNDING) / n;
    // At a ratio of at most 1 the bound is 1.
    if ratio > 1.0 { -(n / 2.0) * (ratio - 1.0 - libm::log(ratio)) } else { 0.0 }
}

/// An upper bound on the logarithm of P(|r| >= z s), given z^2.
pub(super) fn ln_largest_bound(z2: f64) -> f64 {
    (libm::log(2_f64) - z2 * (1.0 - ROUNDING) / 2.0).min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::asymptotic::chi_square_tail_approx;

    #[test]
    fn tails_are_below_their_bounds() {
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
