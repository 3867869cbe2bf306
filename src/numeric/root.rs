//! Certified inverses of decreasing functions and certified minima of convex ones: searched by any means, proven at
//! the points that the search ends on.

use rug::{Float, Rational, float::Round};

use super::{
    enclosure::{Certainty, Enclosure},
    precision, rational,
};
use crate::error::{Error, Result};

/// A positive decreasing function on [0, infinity), in two qualities.
#[derive(Clone, Copy, Debug)]
pub struct Decreasing<A, E> {
    /// ln of the function, in doubles: for searching only.
    pub ln_approx: A,
    /// An enclosure of the function, of relative width 10^-digits where it can be had.
    pub enclose: E,
}

/// The root of a decreasing function, proven: f(lower) >= target >= f(upper).
#[derive(Clone, Debug)]
pub struct Root {
    /// The interval that holds the root. It is [0, 0] where f(0) <= target already.
    pub value: Enclosure,
    /// Whether the relative width 10^-digits was met.
    pub met: bool,
}

/// Roots are not bracketed where they may be larger: there a single enclosure of the function can take minutes.
const HIGHEST: f64 = 1e6;

/// So many digits more are asked for where an attempt to prove a root has failed.
const MORE_DIGITS: u32 = 2;

/// Encloses inf { x >= 0 : f(x) <= target } for a decreasing f and a `ceiling` beyond which f is known to be below the
/// target.
pub fn decreasing_root<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    match narrow(f, target, ceiling, digits) {
        // Somewhere on the way not even an approximation was to be had: a wide interval, in place of none.
        Err(error) if error.is_beyond_reach() && ceiling < HIGHEST => bracket(f, target, ceiling, digits),
        root => root,
    }
}

/// The same from Newton's steps; an error where the function cannot be told on the way.
fn narrow<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    // Each step gains nine digits or so: the slope is known that well.
    let attempts = 12 + digits as usize / 8;
    let bits = precision::bits(digits, 40);
    let ln_target = Enclosure::rational(target, bits + 40).ln();
    let zero = Rational::new();
    // Up to so many digits nothing is refined, and a slope serves to choose the accuracy only.
    const UNREFINED: u32 = 12;
    let (start, about) = search(f, ln_target.approximate(), ceiling)?;
    if start == 0.0 {
        return root_near_zero(f, target, ceiling, digits);
    }
    // The slope of ln f near the root: every later step divides by it, so its own error only slows the convergence.
    let slope = match about.filter(|_| digits <= UNREFINED) {
        Some(slope) => slope,
        None => slope_at(f, start)?,
    };
    if !slope.is_finite() {
        return bisect(f, target, ceiling, digits);
    }
    let mut slope = slope.min(-f64::MIN_POSITIVE);

    let mut middle = Float::with_val(bits, start);
    let mut half_width = Float::with_val(bits, start * 0.2) * Float::with_val(bits, -f64::from(digits)).exp10();
    let mut refined = digits <= UNREFINED;
    let mut met = true;
    // Where an attempt fails, the next one asks for a few digits more.
    let mut more = 0;
    for attempt in 0..attempts {
        // Proving a distance w from the root takes f to a relative accuracy of about w |slope|.
        let gain = Float::with_val(53, &half_width * slope).abs();
        let accuracy = (-gain.log10().to_f64() + 1.0).clamp(3.0, 1e6) as u32 + more;
        let at = exact(&middle)?;
        if !refined {
            let value = (f.enclose)(&at, accuracy)?;
            let step = value.ln().sub(&ln_target).div(&Enclosure::double(-slope, bits));
            let step: Float = Float::with_val(bits, step.lower() + step.upper()) / 2;
            middle += &step;
            if !middle.is_finite() {
                break;
            }
            // No step comes closer than the function can be enclosed.
            let width = relative_width(&value) / -slope;
            if width > half_width.to_f64() {
                half_width = Float::with_val(bits, width * 1.01);
                (met, refined) = (false, true);
                continue;
            }
            refined = step.abs() < half_width.clone() / 4 || attempt + 4 > attempts;
            continue;
        }
        // Of few bits, so that the ends are exact in those of the middle and one more.
        let half = exact(&Float::with_val(8, &half_width))?;
        let (lower, upper) = (Rational::from(&at - &half), Rational::from(&at + &half));
        let at_lower = if lower > 0 { Some((f.enclose)(&lower, accuracy)?) } else { None };
        let at_upper = (f.enclose)(&upper, accuracy)?;
        let lower_holds = at_lower.as_ref().is_none_or(|value| *value.lower() >= *target);
        if lower_holds && *at_upper.upper() <= *target {
            let lower = if lower <= 0 { zero } else { lower };
            let end = |end: &Rational| Enclosure::rational(end, bits + 1);
            return Ok(Root { value: end(&lower).hull(&end(&upper)), met });
        }
        // Both ends know the slope where it matters: far from a kink, or on the short edge of a staircase.
        if let Some(at_lower) = at_lower
            && let fall = at_lower.ln().sub(&at_upper.ln())
            && *fall.lower() > 0
        {
            let local = fall.div(&Enclosure::rational(&Rational::from(&upper - &lower), 64)).approximate();
            slope = if local.is_normal() { -local } else { slope };
        }
        more += MORE_DIGITS;
        // If the function cannot be enclosed more sharply, the width of its enclosure says how closely the root can be
        // placed. Otherwise try nearer to the root, and then a wider interval. Every result is valid; one that is wider
        // than asked says so.
        let width = relative_width(&(f.enclose)(&at, accuracy)?) / -slope;
        if width > half_width.to_f64() {
            half_width = Float::with_val(bits, width * 1.01);
            (met, refined) = (false, true);
            continue;
        }
        refined = attempt % 2 == 1;
        if refined {
            half_width *= 10;
            met = false;
        }
    }
    bisect(f, target, ceiling, digits)
}

/// The slope of ln f, to about nine digits.
fn slope_at<A: Fn(&Rational) -> Result<f64>, E>(f: &Decreasing<A, E>, x: f64) -> Result<f64> {
    let nudge = (x * 1e-5).max(1e-300);
    let far = rational::from_f64((x - nudge).max(0.0))?;
    let ln_far = (f.ln_approx)(&far)?;
    let slope_from = |near: f64| -> Result<f64> {
        let near = rational::from_f64(near)?;
        Ok(((f.ln_approx)(&near)? - ln_far) / Rational::from(&near - &far).to_f64())
    };
    let slope = slope_from(x + nudge)?;
    // f may be zero just behind the root, as it is behind the largest of bounded losses.
    if slope.is_finite() { Ok(slope) } else { slope_from(x) }
}

/// The exact value of a float that a search ended on.
fn exact(value: &Float) -> Result<Rational> {
    value.to_rational().ok_or(Error::NotFinite { value: value.to_f64() })
}

/// The root by halving, each step proven: slow, and right where the function is a staircase.
fn bisect<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    let bits = precision::bits(digits, 40);
    let (mut lower, mut upper) = (Rational::new(), rational::from_f64(ceiling)?);
    let bracket =
        |lower: &Rational, upper: &Rational| Enclosure::rational(lower, bits).hull(&Enclosure::rational(upper, bits));
    for _ in 0..bits + 20 {
        let middle = exact(&Float::with_val(bits, Rational::from(&lower + &upper) / 2_u32))?;
        let mut side = Certainty::Undecided;
        for accuracy in [6, digits.max(12), 3 * digits.max(12)] {
            side = (f.enclose)(&middle, accuracy)?.at_most(target);
            if side != Certainty::Undecided {
                break;
            }
        }
        match side {
            Certainty::Yes => upper = middle,
            Certainty::No => lower = middle,
            Certainty::Undecided => break,
        }
        if bracket(&lower, &upper).is_tight(digits) {
            break;
        }
    }
    let value = bracket(&lower, &upper);
    Ok(Root { met: value.is_tight(digits), value })
}

/// The narrowest interval that a few enclosures of the function prove to hold the root, where they may be as wide as they like:
/// between the last point known to be above the target and the first known to be at most it.
fn bracket<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    const EVALUATIONS: usize = 5;
    let (mut lower, mut upper) = (Rational::new(), rational::from_f64(ceiling)?);
    // Between these no side was settled.
    let mut undecided: Option<(Rational, Rational)> = None;
    for round in 0..EVALUATIONS {
        let (from, to) = match &undecided {
            None => (&lower, &upper),
            Some((first, _)) if round % 2 == 0 => (&lower, first),
            Some((_, last)) => (last, &upper),
        };
        let middle = exact(&Float::with_val(64, Rational::from(from + to) / 2_u32))?;
        let side = match (f.enclose)(&middle, digits.min(3)) {
            Ok(value) => value.at_most(target),
            Err(error) if error.is_beyond_reach() => Certainty::Undecided,
            Err(error) => return Err(error),
        };
        match side {
            Certainty::Yes => upper = middle,
            Certainty::No => lower = middle,
            Certainty::Undecided => {
                let (first, last) = undecided.unwrap_or_else(|| (middle.clone(), middle.clone()));
                undecided = Some((first.min(middle.clone()), last.max(middle)));
            }
        }
    }
    let bits = precision::bits(digits, 40);
    let value = Enclosure::rational(&lower, bits).hull(&Enclosure::rational(&upper, bits));
    Ok(Root { met: value.is_tight(digits), value })
}

/// (upper - lower) / lower, approximately.
fn relative_width(value: &Enclosure) -> f64 {
    (Float::with_val(64, value.upper() - value.lower()) / value.lower()).to_f64().abs()
}

/// The root of a function that starts at its target or so close above it that doubles cannot tell.
fn root_near_zero<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    if *(f.enclose)(&Rational::new(), digits)?.upper() <= *target {
        return Ok(Root { value: Enclosure::double(0.0, 64), met: true });
    }
    bisect(f, target, ceiling, digits)
}

/// The root in doubles, zero where f(0) is at the target or below: secants, kept in the bracket by regula falsi with the Illinois
/// weight and by bisection. ln f falls like a parabola far out, so that the root of -ln f is nearly linear there: secants are taken of it.
/// With the slope of ln f there to a few digits, where the last secant tells it.
fn search<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    ln_target: f64,
    ceiling: f64,
) -> Result<(f64, Option<f64>)> {
    /// Where a function is smooth, so many secants do.
    const FREE: usize = 10;
    const PATIENCE: usize = 3;
    let ln_f = |x: f64| (f.ln_approx)(&rational::from_f64(x)?);
    let at_zero = ln_f(0.0)?;
    if at_zero - ln_target <= 1e-10 {
        return Ok((0.0, None));
    }
    let straight = |ln_f: f64| if at_zero <= 0.0 { -(-ln_f).clamp(0.0, f64::INFINITY).sqrt() } else { ln_f };
    let target = straight(ln_target);
    let at = |x: f64| -> Result<f64> { Ok(straight(ln_f(x)?) - target) };
    let (mut low, mut high) = (0.0, ceiling);
    let (mut f_low, mut f_high) = (straight(at_zero) - target, at(high)?);
    let inside = |x: &f64, low: f64, high: f64| low < *x && *x < high;
    let (mut before, mut next, mut steepness_before) = ((low, f_low), None, f64::NAN);
    // The bracket of the last few rounds: secants that do not halve it in so many meet a staircase.
    let mut widths = [f64::INFINITY; PATIENCE];
    for round in 0..200 {
        let width = std::mem::replace(&mut widths[round % PATIENCE], high - low);
        let stuck = round >= FREE && high - low > width / 2.0;
        let illinois = (low * f_high - high * f_low) / (f_high - f_low);
        let by_secants = [next, Some(illinois)].into_iter().flatten().find(|x| inside(x, low, high));
        let x = by_secants.filter(|_| !stuck).unwrap_or(low + (high - low) / 2.0);
        let f_x = at(x)?;
        if f_x == 0.0 || (high - low) <= 4.0 * f64::EPSILON * high || f_x.abs() < 2e-15 * target.abs().max(1.0) {
            return Ok((x, None));
        }
        // The Illinois rule: an end that stays twice has its value halved.
        if f_x > 0.0 {
            (low, f_low) = (x, f_x);
            f_high /= 2.0;
        } else {
            (high, f_high) = (x, f_x);
            f_low /= 2.0;
        }
        // The secant through the last two points. Where f is smooth on the scale of x, its root is off by about the product of both
        // distances, relative to x: below that another evaluation would only see the noise of doubles.
        let steepness = (f_x - before.1) / (x - before.0);
        let step = f_x * (x - before.0) / (f_x - before.1);
        // Next to a kink the last two secants tell different slopes, and neither is that of the root.
        let steady = !(steepness / steepness_before > 4.0 || steepness_before / steepness > 4.0);
        if (step / x * (x - before.0) / x).abs() < 1e-15 && steady && inside(&(x - step), low, high) {
            // The derivative of the square is twice the root's.
            let slope = if at_zero <= 0.0 { -2.0 * target * steepness } else { steepness };
            return Ok((x - step, Some(slope)));
        }
        (before, next, steepness_before) = ((x, f_x), Some(x - step), steepness);
    }
    Ok((low + (high - low) / 2.0, None))
}

/// Encloses the minimum over (left, infinity) of a convex function from three of its values.
///
/// `at` encloses the function. The search runs in doubles on the midpoints; then, with a < b < c around the best
/// point found, f(a) > f(b) and f(c) > f(b) prove that the minimum lies in [a, c], and convexity bounds it from
/// below: on [b, c] the function is at least the continuation of the chord through a and b, on [a, b] that of the
/// chord through b and c. The upper end is f(b). Every choice of a, b, c that passes the test is sound; the distance
/// shrinks the gap quadratically.
///
/// `None` where the test fails at every distance, as for a function whose minimum is at the end of the range.
pub fn convex_minimum(left: f64, start: f64, at: impl Fn(&Rational) -> Enclosure) -> Option<Enclosure> {
    let approximately = |x: f64| rational::from_f64(x).map_or(f64::NAN, |x| at(&x).approximate());
    let best = golden_section(left, start, approximately);
    let width = best - left;
    // From the closest neighbors that can be told apart to ones that surely can.
    for exponent in [-40, -34, -28, -22, -16, -10, -6, -4] {
        let (reach, middle) = (rational::from_f64(width * 2f64.powi(exponent)).ok()?, rational::from_f64(best).ok()?);
        let (fa, fb, fc) = (at(&Rational::from(&middle - &reach)), at(&middle), at(&Rational::from(&middle + &reach)));
        if !(fa.lower() > fb.upper() && fc.lower() > fb.upper()) {
            continue;
        }
        // With equal distances the chord through a and b falls by at most f(a) - f(b) over [b, c], and likewise.
        let bits = fb.lower().prec();
        let fall = |outer: &Enclosure| Float::with_val_round(bits, outer.upper() - fb.lower(), Round::Up).0;
        let most = fall(&fa).max(&fall(&fc));
        let lower = Float::with_val_round(bits, fb.lower() - most, Round::Down).0;
        return Some(Enclosure::new(lower, fb.upper().clone()));
    }
    None
}

/// A point near the minimum of a convex function on (left, infinity), by widening and golden section in the logarithm
/// of the distance from `left`.
pub(crate) fn golden_section(left: f64, start: f64, f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let at = |u: f64| f(left + u.exp());
    let middle = (start - left).max(1e-12).ln();
    let (mut low, mut high) = (middle - 2.0, middle + 2.0);
    while at(low) < at(low + 1.0) && low > -80.0 {
        low -= 4.0;
    }
    while at(high) < at(high - 1.0) && high < 80.0 {
        high += 4.0;
    }
    let (mut p, mut q) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut fp, mut fq) = (at(p), at(q));
    for _ in 0..60 {
        if fp <= fq {
            (high, q, fq) = (q, p, fp);
            p = high - RATIO * (high - low);
            fp = at(p);
        } else {
            (low, p, fp) = (p, q, fq);
            q = low + RATIO * (high - low);
            fq = at(q);
        }
    }
    left + ((low + high) / 2.0).exp()
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

    /// exp(-x), which nothing but its logarithm's integer part is known of, and not even that approximately: the root is enclosed all
    /// the same.
    #[test]
    fn what_is_hardly_known_has_a_wide_root() {
        let unknown = || Error::Unsweepable { step: "0".into(), needed: "1".into(), budget: "0".into() };
        for (target, known) in [("1e-3", true), ("1e-12", true), ("1/2", true), ("1e-3", false)] {
            let enclose = |x: &Rational, _| match known {
                true => {
                    let whole = x.to_f64().floor();
                    Ok(Enclosure::double(-whole - 1.0, 80).exp().hull(&Enclosure::double(-whole, 80).exp()))
                }
                false => Err(unknown()),
            };
            let f = Decreasing { ln_approx: |_: &Rational| Err(unknown()), enclose };
            let target = rational::parse(target).unwrap();
            let root = decreasing_root(&f, &target, 40.0, 12).unwrap();
            let truth = Enclosure::rational(&target, 80).ln().negate();
            assert!(root.value.overlaps(&truth) && !root.met, "{root:?}");
            let width = root.value.upper().to_f64() - root.value.lower().to_f64();
            assert!(width < if known { 6.0 } else { 41.0 }, "{target}: {root:?}");
        }
    }

    /// 1 - exp(x - 4) up to 4, then zero: the root for a small target is next to the end, where no slope is found to the right.
    #[test]
    fn a_root_next_to_the_end_of_the_support() {
        let falls = |x: &Rational, bits: u32| Enclosure::rational(&Rational::from(x - 4), bits).exp_m1().negate();
        let f = Decreasing {
            ln_approx: |x: &Rational| Ok(if *x < 4 { falls(x, 64).ln().approximate() } else { f64::NEG_INFINITY }),
            enclose: |x: &Rational, digits: u32| {
                Ok(if *x < 4 { falls(x, precision::bits(digits, 60)) } else { Enclosure::double(0.0, 64) })
            },
        };
        for digits in [6, 12, 20, 40] {
            let target = Rational::from((1, 10_000_000_000_u64));
            let root = decreasing_root(&f, &target, 9.0, digits).unwrap();
            let truth = Enclosure::rational(&(1 - target), 300).ln().add(&Enclosure::double(4.0, 300));
            assert!(root.met && root.value.is_tight(digits) && root.value.overlaps(&truth), "{digits}: {root:?}");
        }
    }

    /// A staircase of steps 110 apart, each over an edge of 0.07, with the root on an edge: no slope between steps is that of the edge.
    #[test]
    fn a_root_on_the_short_edge_of_a_staircase() {
        // ln f = -100 k - 50 (1 + tanh((x - 110 k - 55) / 0.07)), k the step that x is on.
        let ln_f = |x: &Rational, bits: u32| {
            let k = Rational::from(x / 110_u32).floor().to_f64();
            let at = (x - rational::from_f64(110.0 * k + 55.0).unwrap()) * 200_u32 / 7_u32;
            // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
            let one = Enclosure::double(1.0, bits);
            let share = one.div(&one.add(&Enclosure::rational(&at, bits).negate().exp()));
            Enclosure::double(-100.0 * k, bits).sub(&share.mul(&Enclosure::double(100.0, bits)))
        };
        let f = Decreasing {
            ln_approx: |x: &Rational| Ok(ln_f(x, 64).approximate()),
            enclose: |x: &Rational, digits: u32| Ok(ln_f(x, precision::bits(digits, 60)).exp()),
        };
        for (k, depth) in [(0, 30), (3, 77), (1500, 5)] {
            // exp(-100 k - depth), a rational next to it.
            let target = Float::with_val(200, -100 * k - depth).exp().to_rational().unwrap();
            for digits in [6, 12, 30] {
                let root = decreasing_root(&f, &target, 170_000.0, digits).unwrap();
                assert!(root.met && root.value.is_tight(digits), "{k} {digits}: {root:?}");
                let (lower, upper) = (root.value.lower_rational().unwrap(), root.value.upper_rational().unwrap());
                assert!(*ln_f(&lower, 300).exp().upper() >= target && *ln_f(&upper, 300).exp().lower() <= target);
            }
        }
    }

    /// Values in doubles are off by a few units in the last place. The search ends where only that is left to see.
    #[test]
    fn the_search_evaluates_a_noisy_function_a_few_times_only() {
        for (target, ceiling) in [(-23.0, 60.0), (-3.0, 9.0), (-700.0, 50.0), (-1e-3, 4.0)] {
            let evaluations = std::cell::Cell::new(0);
            let noisy = |x: &Rational| {
                evaluations.set(evaluations.get() + 1);
                let x = x.to_f64();
                let noise = 1.0 + 1e-14 * (x * 1e9).sin();
                Ok(-(x + x * x / 2.0) * noise)
            };
            let f = Decreasing { ln_approx: noisy, enclose: |_: &Rational, _| Ok(Enclosure::double(1.0, 64)) };
            let (root, slope) = search(&f, target, ceiling).unwrap();
            assert!(slope.is_none_or(|slope| (slope / -(1.0 + root) - 1.0).abs() < 1e-3), "{target}: {slope:?}");
            let truth = (1.0 - 2.0 * target).sqrt() - 1.0;
            assert!((root / truth - 1.0).abs() < 1e-13, "{target}: {root} {truth}");
            assert!(evaluations.get() < 16, "{target}: {}", evaluations.get());
        }
    }

    #[test]
    fn a_minimum_at_the_end_is_not_claimed() {
        let falling = |x: &Rational| Enclosure::rational(&(Rational::from(1) / x), 80);
        assert!(convex_minimum(0.0, 1.0, falling).is_none());
    }
}
