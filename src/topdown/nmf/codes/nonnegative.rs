//! Intervals of counts that respect that no count is negative, by the order of likelihood ratios (Feldman & Cousins 1998, section IV.B).
//!
//! The estimate x of a count m >= 0 has a normal error of standard deviation 1. The values x that an m accepts are those of the largest ratio of
//! likelihoods L(m) / L(max(x, 0)), with a probability of 1 - a together, and the interval of x has all m that accept it. So it holds every count
//! with probability 1 - a, whatever the count is, it is never empty, and for x above twice the usual quantile it is the usual interval. An interval that is
//! cut off at zero has the same probability, but shrinks to nothing below the estimates that errors allow.
//!
//! ln of the ratio is -(x - m)^2 / 2 for x >= 0, and x m - m^2 / 2 below, so the accepted values reach from x_1 to x_2 with
//!
//! ```text
//! x_2 = m + d,    x_1 = m - d if that is not negative, else (m^2 - d^2) / (2 m),    P[x_1 - m <= Z <= d] = 1 - a.
//! ```
//!
//! Both grow with m, so one end of an interval is the m with x_1 = x, the other that with x_2 = x.

use super::confidence::Confidence;
use crate::numeric::{halving, normal::lower_approx};

/// The two ends of the interval of an estimate with a standard deviation, in doubles: an approximation, and under a normal error.
pub(super) fn interval_approx(estimate: f64, deviation: f64, confidence: &Confidence) -> (f64, f64) {
    if deviation == 0.0 {
        return (estimate.max(0.0), estimate.max(0.0));
    }
    let x = estimate / deviation;
    let z = confidence.quantile();
    let probability = 1.0 - 2.0 * lower_approx(-z);
    let upper = if x >= 0.0 { x + z } else { upper(x, z, probability) };
    let lower = match () {
        () if x >= 2.0 * z => x - z,
        // The m = 0 accepts everything below its one-sided quantile.
        () if lower_approx(x) <= probability => 0.0,
        () => lower(x, probability),
    };
    (lower * deviation, upper * deviation)
}

/// The m with x_1 = x for x < 0: d^2 = m^2 - 2 x m.
fn upper(x: f64, z: f64, probability: f64) -> f64 {
    let accepted = |m: f64| lower_approx((m * m - 2.0 * x * m).sqrt()) - lower_approx(x - m);
    // At m = z already -d < x_1 - m, so that more than the usual probability is accepted.
    bisect(0.0, z, |m| accepted(m) < probability)
}

/// The m with x_2 = x for x below twice the quantile: d = x - m.
fn lower(x: f64, probability: f64) -> f64 {
    let accepted = |m: f64| lower_approx(x - m) - lower_approx((m * m - (x - m).powi(2)) / (2.0 * m) - m);
    // The values up to x that m accepts lose probability as m grows.
    bisect(0.0, x, |m| accepted(m) > probability)
}

/// The place where a condition ends that holds from the first number on.
fn bisect(from: f64, to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let [low, high] = halving::bisect([from, to], 60, holds);
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidence(text: &str) -> Confidence {
        text.parse().unwrap()
    }

    /// The conditions solved by another program, to two digits as in Table X of Feldman & Cousins; and intervals scale with the deviation.
    #[test]
    fn intervals_are_those_of_the_conditions() {
        for (x, percent, lower, upper) in [
            (-3.0, "90", 0.0, 0.26),
            (-1.0, "90", 0.0, 0.81),
            (0.0, "90", 0.0, 1.64),
            (1.0, "90", 0.0, 2.64),
            (2.5, "90", 0.945, 4.145),
            (-2.0, "95", 0.0, 0.62),
            (1.8, "95", 0.16, 3.76),
            (3.1, "95", 1.22, 5.06),
            (-1.0, "99", 0.0, 1.684),
        ] {
            let (a, b) = interval_approx(x, 1.0, &confidence(percent));
            assert!((a - lower).abs() < 0.006 && (b - upper).abs() < 0.006, "{x} at {percent}: {a} {b}");
            let (twice_a, twice_b) = interval_approx(2.0 * x, 2.0, &confidence(percent));
            assert!((twice_a - 2.0 * a).abs() < 1e-9 && (twice_b - 2.0 * b).abs() < 1e-9);
        }
        assert_eq!(interval_approx(-0.5, 0.0, &confidence("95")), (0.0, 0.0));
        assert_eq!(interval_approx(7.0, 0.0, &confidence("95")), (7.0, 7.0));
    }

    /// Every count is in the interval of its estimate with the stated probability: the estimates whose interval holds it are one stretch, of that
    /// probability.
    #[test]
    fn intervals_hold_every_count_with_their_probability() {
        for (percent, probability) in [("90", 0.9), ("95", 0.95), ("99", 0.99)] {
            let confidence = self::confidence(percent);
            for m in [0.0, 0.01, 0.3, 1.0, 1.7, 2.5, 4.0, 9.0] {
                let holds = |x: f64| {
                    let (lower, upper) = interval_approx(x, 1.0, &confidence);
                    lower <= m && m <= upper
                };
                let first = bisect(m - 45.0, m, |x| !holds(x));
                let last = bisect(m, m + 9.0, holds);
                let covered = lower_approx(last - m) - lower_approx(first - m);
                // At zero everything below is held.
                assert!((covered - probability).abs() < 1e-6, "{percent} {m}: {covered}, {first} to {last}");
                let inside = (1..40).map(|k| first + (last - first) * f64::from(k) / 40.0);
                assert!(inside.into_iter().all(holds), "{percent} {m}");
            }
        }
    }
}
