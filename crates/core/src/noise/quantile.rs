//! Quantiles of symmetric laws on the integers, by certified comparisons.

use rug::Rational;

use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// The smallest integer x with `P[X <= x]` >= p, proven: for the next smaller value it is below p. `reach` bounds the answer on both
/// sides; `tail(x, digits)` encloses `P[X >= x]`, for a law in which X and -X have the same distribution.
#[doc(hidden)]
pub fn quantile(p: &Rational, reach: f64, tail: impl Fn(i64, u32) -> Result<Enclosure>) -> Result<i64> {
    if *p <= 0 || *p >= 1 {
        return Err(Error::out_of_range("the probability of a quantile", rational::display(p), "0 < p < 1"));
    }
    // A reach that is NaN is refused as well.
    if !reach.is_finite() || reach > 4e18 {
        return Err(Error::out_of_range(
            "the probability of a quantile",
            rational::display(p),
            "a quantile below 4e18",
        ));
    }
    // P[X <= x] >= p if and only if P[X >= -x] >= p if and only if P[X >= x + 1] <= 1 - p: the smaller of both
    // probabilities is compared, so that tails keep their digits.
    let rest = Rational::from(1 - p);
    let reaches = |x: i64| -> Result<bool> {
        let mut digits = 20;
        loop {
            let (tail, threshold, lower) =
                if x < 0 { (tail(-x, digits)?, p, true) } else { (tail(x + 1, digits)?, &rest, false) };
            if tail.lower() > threshold {
                return Ok(lower);
            }
            if tail.upper() < threshold {
                return Ok(!lower);
            }
            if tail.lower() == tail.upper() {
                return Ok(true);
            }
            // Tails are transcendental, so p never equals one, but here it is within 10^-digits of one.
            digits *= 2;
            if digits > 1500 {
                let apart = "it must differ from every P[X <= x] by a relative difference above 10^-1000";
                return Err(Error::undecided("the probability of a quantile", rational::display(p), apart));
            }
        }
    };
    let (mut below, mut at) = (-(reach as i64), reach as i64);
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if reaches(middle)? { at = middle } else { below = middle }
    }
    Ok(at)
}

/// -ln of the smaller of p and 1 - p, an approximation.
#[doc(hidden)]
pub fn depth_approx(p: &Rational) -> f64 {
    use rug::Float;
    let rest = Rational::from(1 - p);
    let smaller = if *p < rest { p } else { &rest };
    -Float::with_val(64, smaller).ln().to_f64()
}
