//! Certified minima of convex functions, proven from three values around the result of a search; and searches in doubles.

use rug::{Float, Rational, float::Round};

use super::{enclosure::Enclosure, halving, rational};
use crate::error::Result;

/// Encloses the minimum over (left, infinity) of a convex function from three of its values.
///
/// `at` encloses the function. The search uses the midpoints in doubles. Then, with a < b < c around the best point found, f(a) > f(b) and
/// f(c) > f(b) prove that the minimum lies in [a, c], and convexity bounds it from below: on [b, c] the function is at least the extension
/// of the chord through a and b, and on [a, b] that of the chord through b and c. The upper end is f(b). Every choice of a, b, c that
/// passes the test gives a valid enclosure; its width shrinks with the square of the distance.
///
/// `None` if the test fails at every distance, for example for a function whose minimum is at the end of the range.
pub fn convex_minimum(left: f64, start: f64, at: impl Fn(&Rational) -> Enclosure) -> Option<Enclosure> {
    let approximately = |x: f64| rational::from_f64(x).map_or(f64::NAN, |x| at(&x).approximate());
    convex_minimum_near(left, minimum_beyond(left, start, approximately), at)
}

/// The same around a point that a search has found.
pub(crate) fn convex_minimum_near(left: f64, best: f64, at: impl Fn(&Rational) -> Enclosure) -> Option<Enclosure> {
    let width = best - left;
    // From the closest neighbors with distinguishable values to ones that are certainly distinguishable.
    for exponent in [-40, -34, -28, -22, -16, -10, -6, -4] {
        let (reach, middle) = (rational::from_f64(width * 2f64.powi(exponent)).ok()?, rational::from_f64(best).ok()?);
        let (fa, fb, fc) = (at(&Rational::from(&middle - &reach)), at(&middle), at(&Rational::from(&middle + &reach)));
        if !(fa.lower() > fb.upper() && fc.lower() > fb.upper()) {
            continue;
        }
        // At equal distances the chord through a and b falls by at most f(a) - f(b) over [b, c]; the same holds on the other side.
        let bits = fb.lower().prec();
        let fall = |outer: &Enclosure| Float::with_val_round(bits, outer.upper() - fb.lower(), Round::Up).0;
        let most = fall(&fa).max(&fall(&fc));
        let lower = Float::with_val_round(bits, fb.lower() - &most, Round::Down).0;
        return Some(Enclosure::new(lower, fb.upper().clone()));
    }
    None
}

/// Three points around the maximum of a unimodal function, from `start` by growing steps, clamped to the range from `low` to `high`.
pub(crate) fn uphill(
    start: f64,
    step: f64,
    low: f64,
    high: f64,
    f: impl Fn(f64) -> Result<f64>,
) -> Result<[(f64, f64); 3]> {
    const GROWTH: f64 = 2.0;
    let at = |x: f64| -> Result<(f64, f64)> { Ok((x, f(x)?)) };
    let (mut behind, mut here) = (at((start - step).max(low))?, at(start)?);
    let mut step = step;
    if behind.1 > here.1 {
        (behind, here, step) = (here, behind, -step);
    }
    loop {
        let ahead = at((here.0 + step).clamp(low, high))?;
        let rises = ahead.1 > here.1;
        if !rises || ahead.0 == low || ahead.0 == high {
            return Ok(if step > 0.0 { [behind, here, ahead] } else { [ahead, here, behind] });
        }
        (behind, here, step) = (here, ahead, GROWTH * step);
    }
}

/// The maximum between three points, in doubles, by Brent's method: steps to the vertex of the parabola through the best three points, and
/// golden section steps if these do not shrink. If three points have equal values, any of them.
pub(crate) fn highest(around: [(f64, f64); 3], tolerance: f64, f: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    const ROUNDS: usize = 80;
    const GOLDEN: f64 = 0.381_966_011_250_105_1;
    let [(mut low, f_low), mut best, (mut high, f_high)] = around;
    let ends = ((low, f_low), (high, f_high));
    let (mut second, mut third) = if f_low > f_high { ends } else { (ends.1, ends.0) };
    let (mut step, mut step_before) = (high - low, high - low);
    for _ in 0..ROUNDS {
        let middle = low + (high - low) / 2.0;
        let is_flat = best.1 == second.1 && best.1 == third.1;
        if is_flat || (best.0 - middle).abs() + (high - low) / 2.0 <= 2.0 * tolerance {
            break;
        }
        // The vertex of the parabola, as a step from the best point.
        let (r, q) = ((best.0 - second.0) * (best.1 - third.1), (best.0 - third.0) * (best.1 - second.1));
        let parabola = ((best.0 - third.0) * q - (best.0 - second.0) * r) / (2.0 * (r - q));
        let next = best.0 + parabola;
        let shrinks = parabola.abs() < step_before.abs() / 2.0;
        (step_before, step) = if shrinks && next > low && next < high {
            (step, parabola)
        } else {
            let far = if best.0 < middle { high - best.0 } else { low - best.0 };
            (far, GOLDEN * far)
        };
        // Close to an end, a step towards the other side is more informative.
        if best.0 + step - low < 2.0 * tolerance || high - best.0 - step < 2.0 * tolerance {
            step = tolerance.copysign(middle - best.0);
        }
        let x = best.0 + if step.abs() >= tolerance { step } else { tolerance.copysign(step) };
        let here = (x, f(x)?);
        if here.1 >= best.1 {
            if x > best.0 {
                low = best.0
            } else {
                high = best.0
            }
            (third, second, best) = (second, best, here);
        } else {
            if x > best.0 {
                high = x
            } else {
                low = x
            }
            if here.1 >= second.1 || second.0 == best.0 {
                (third, second) = (second, here);
            } else if here.1 >= third.1 || third.0 == best.0 || third.0 == second.0 {
                third = here;
            }
        }
    }
    Ok(best.0)
}

/// A point near the minimum of a convex function on (left, infinity), by bracketing and golden section in the logarithm of the distance
/// from `left`.
pub(crate) fn minimum_beyond(left: f64, start: f64, f: impl Fn(f64) -> f64) -> f64 {
    let at = |u: f64| f(left + libm::exp(u));
    let middle = libm::log((start - left).max(1e-12));
    let (mut low, mut high) = (middle - 2.0, middle + 2.0);
    while at(low) < at(low + 1.0) && low > -80.0 {
        low -= 4.0;
    }
    while at(high) < at(high - 1.0) && high < 80.0 {
        high += 4.0;
    }
    left + libm::exp(halving::golden_section([low, high], 60, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_parabola_and_of_a_hyperbola() {
        // x + 4 / x has its minimum 4 at 2.
        let sum = |x: &Rational| Enclosure::rational(&(Rational::from(x) + Rational::from(4) / x), 120);
        let minimum = convex_minimum(0.0, 1.0, sum).unwrap();
        assert!(minimum.contains(&Rational::from(4)) && minimum.is_tight(12), "{minimum:?}");
        let parabola = |x: &Rational| Enclosure::rational(&(Rational::from(x - 70).square() + 3), 120);
        let minimum = convex_minimum(1.0, 2.0, parabola).unwrap();
        assert!(minimum.contains(&Rational::from(3)) && minimum.is_tight(10), "{minimum:?}");
    }

    /// Smooth maxima, a corner and a jump, found from a distance with few evaluations.
    #[test]
    fn the_maximum_of_unimodal_functions() {
        let top = 0.3;
        let functions: [fn(f64) -> f64; 4] = [
            |x| -(x - 0.3) * (x - 0.3),
            |x| -(x - 0.3).abs(),
            |x| (x - 0.3) - (x - 0.3).exp(),
            |x| if x < 0.3 { x } else { -1000.0 * x },
        ];
        for (f, most) in functions.iter().zip([20, 60, 25, 60]) {
            for start in [-40.0, 0.0, 25.0] {
                let evaluations = std::cell::Cell::new(0);
                let at = |x: f64| {
                    evaluations.set(evaluations.get() + 1);
                    Ok(f(x))
                };
                let around = uphill(start, 1.0, -100.0, 100.0, at).unwrap();
                assert!(around[0].0 < top + 1e-9 && around[2].0 > top - 1e-9, "{around:?}");
                let found = highest(around, 1e-7, at).unwrap();
                assert!((found - top).abs() < 1e-6, "{found}");
                assert!(evaluations.get() <= most, "{}", evaluations.get());
            }
        }
        // At an end of the range, and for a constant function.
        assert!(highest(uphill(0.0, 1.0, -5.0, 5.0, Ok).unwrap(), 1e-6, Ok).unwrap() > 4.99);
        let evaluations = std::cell::Cell::new(0);
        let same = |_| {
            evaluations.set(evaluations.get() + 1);
            Ok(1.0)
        };
        assert!(highest(uphill(0.0, 1.0, -5.0, 5.0, same).unwrap(), 1e-6, same).unwrap().abs() <= 5.0);
        assert!(evaluations.get() <= 5, "{}", evaluations.get());
    }

    #[test]
    fn a_minimum_at_the_end_is_not_claimed() {
        let falling = |x: &Rational| Enclosure::rational(&(Rational::from(1) / x), 80);
        assert!(convex_minimum(0.0, 1.0, falling).is_none());
    }
}
