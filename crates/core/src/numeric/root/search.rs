//! The search for a root in doubles, which proves nothing.

use rug::Rational;

use super::{
    super::{enclosure::Enclosure, rational},
    function::Decreasing,
};
use crate::error::Result;

/// The digits of enclosures that check and replace doubles.
pub(super) const FEW_DIGITS: u32 = 6;

/// A bracket in doubles, from `start` by growing steps: a point where the function is above the target, or zero; and one where it is not,
/// or the ceiling; with the values there.
pub(super) fn ends_around(
    start: f64,
    step: f64,
    ceiling: f64,
    ln_target: f64,
    ln_f: impl Fn(f64) -> Result<f64>,
) -> Result<((f64, f64), (f64, f64))> {
    const GROWTH: f64 = 3.0;
    let at = |x: f64| -> Result<(f64, f64)> { Ok((x, ln_f(x)?)) };
    let (mut here, mut step) = (at(start.clamp(0.0, ceiling))?, step);
    let rises = here.1 <= ln_target;
    loop {
        let next = at(if rises { (here.0 - step).max(0.0) } else { (here.0 + step).min(ceiling) })?;
        if rises && (next.1 > ln_target || next.0 == 0.0) {
            return Ok((next, here));
        }
        if !rises && (next.1 <= ln_target || next.0 == ceiling) {
            return Ok((here, next));
        }
        (here, step) = (next, GROWTH * step);
    }
}

/// The root in doubles, and the slope of ln f there to a few digits if the last secant gives it. The root is zero if f(0) is at most the
/// target. The method is the secant method, kept in the bracket by regula falsi with the Illinois rule and by bisection. Far out ln f is
/// nearly a parabola, so the square root of -ln f is nearly linear; the secants are those of this square root.
///
/// The search ends when ln f is within `noise`, its relative error, of its target.
pub(super) fn search(
    ln_f: &impl Fn(&Rational) -> Result<f64>,
    ln_target: f64,
    ceiling: f64,
    around: Option<(f64, f64)>,
    noise: f64,
) -> Result<(f64, Option<f64>)> {
    /// For a smooth function this number of secants suffices.
    const FREE: usize = 10;
    const PATIENCE: usize = 3;
    let ln_f = |x: f64| ln_f(&rational::from_f64(x)?);
    let ((mut low, at_low), (mut high, at_high)) = match around {
        Some((start, step)) => ends_around(start, step, ceiling, ln_target, ln_f)?,
        None => ((0.0, ln_f(0.0)?), (ceiling, ln_f(ceiling)?)),
    };
    if low == 0.0 && at_low - ln_target <= 1e-10 {
        return Ok((0.0, None));
    }
    let straight = |ln_f: f64| if at_low <= 0.0 { -(-ln_f).clamp(0.0, f64::INFINITY).sqrt() } else { ln_f };
    let target = straight(ln_target);
    let at = |x: f64| -> Result<f64> { Ok(straight(ln_f(x)?) - target) };
    let (mut f_low, mut f_high) = (straight(at_low) - target, straight(at_high) - target);
    let inside = |x: &f64, low: f64, high: f64| low < *x && *x < high;
    let (mut before, mut next, mut steepness_before) = ((low, f_low), None, f64::NAN);
    // The widths of the bracket in the last rounds: if these rounds do not halve it, the function is a staircase.
    let mut widths = [f64::INFINITY; PATIENCE];
    for round in 0..200 {
        let width = std::mem::replace(&mut widths[round % PATIENCE], high - low);
        let stuck = round >= FREE && high - low > width / 2.0;
        let illinois = (low * f_high - high * f_low) / (f_high - f_low);
        let by_secants = [next, Some(illinois)].into_iter().flatten().find(|x| inside(x, low, high));
        let x = by_secants.filter(|_| !stuck).unwrap_or(low + (high - low) / 2.0);
        let f_x = at(x)?;
        if f_x == 0.0 || (high - low) <= 4.0 * f64::EPSILON * high || f_x.abs() < noise * target.abs().max(1.0) {
            return Ok((x, None));
        }
        // The Illinois rule: the value at an end that stays twice is halved.
        if f_x > 0.0 {
            (low, f_low) = (x, f_x);
            f_high /= 2.0;
        } else {
            (high, f_high) = (x, f_x);
            f_low /= 2.0;
        }
        // The secant through the last two points. If f is smooth on the scale of x, the relative error of its root is about the product of
        // both relative distances; below that another evaluation would only show rounding errors of doubles.
        let steepness = (f_x - before.1) / (x - before.0);
        let step = f_x * (x - before.0) / (f_x - before.1);
        // Close to a kink the last two secants have different slopes, and neither is that of the root.
        let steady = !(steepness / steepness_before > 4.0 || steepness_before / steepness > 4.0);
        if (step / x * (x - before.0) / x).abs() < 1e-15 && steady && inside(&(x - step), low, high) {
            // The derivative of the square is twice the root times the derivative of the root.
            let slope = if at_low <= 0.0 { -2.0 * target * steepness } else { steepness };
            return Ok((x - step, Some(slope)));
        }
        (before, next, steepness_before) = ((x, f_x), Some(x - step), steepness);
    }
    Ok((low + (high - low) / 2.0, None))
}

/// Whether a root found in doubles is wrong: enclosures to a few digits show the function far from its target there, and also slightly
/// farther towards the root. Approximations may be wrong where a function is a staircase.
pub(super) fn is_off<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    root: f64,
    ln_target: f64,
) -> Result<bool> {
    const FAR: f64 = 1e-3;
    const FURTHER: f64 = 1e-9;
    let above = |x: f64| -> Result<f64> {
        Ok((f.enclose)(&rational::from_f64(x)?, FEW_DIGITS)?.ln().approximate() - ln_target)
    };
    let side: f64 = match above(root) {
        Err(error) if error.is_beyond_reach() => return Ok(false),
        side => side?,
    };
    Ok(side.abs() > FAR && above(root + (root * FURTHER).copysign(side))? * side > 0.0)
}

/// The slope of ln f, to about nine digits.
pub(super) fn slope_at(ln_f: &impl Fn(&Rational) -> Result<f64>, x: f64) -> Result<f64> {
    let nudge = (x * 1e-5).max(1e-300);
    let far = rational::from_f64((x - nudge).max(0.0))?;
    let ln_far = ln_f(&far)?;
    let slope_from = |near: f64| -> Result<f64> {
        let near = rational::from_f64(near)?;
        Ok((ln_f(&near)? - ln_far) / Rational::from(&near - &far).to_f64())
    };
    let slope = slope_from(x + nudge)?;
    // f may be zero just beyond the root, for example beyond the largest of bounded losses.
    if slope.is_finite() { Ok(slope) } else { slope_from(x) }
}
