//! Certified inverses of decreasing functions: found by any search, proven at the points where it ends.

use std::cell::RefCell;

use rug::{Float, Rational};

use super::{
    enclosure::{Certainty, Enclosure},
    precision, rational,
};
use crate::error::{Error, Result};

/// A positive decreasing function on [0, infinity): an approximation and certified values.
#[derive(Clone, Copy, Debug)]
pub struct Decreasing<A, E> {
    /// ln of the function, in doubles: for the search only.
    pub ln_approx: A,
    /// An enclosure of the function at a number of digits, of relative width 10^-digits if that can be reached.
    pub enclose: E,
}

/// The root of a decreasing function, proven: f(lower) >= target >= f(upper).
#[derive(Clone, Debug)]
pub struct Root {
    /// The interval that contains the root; [0, 0] if f(0) <= target.
    pub value: Enclosure,
    /// Whether the relative width 10^-digits was reached.
    pub met: bool,
}

/// Roots that may be larger are not bracketed: a single enclosure of the function can take minutes there.
const HIGHEST: f64 = 1e6;

/// The error of ln of the function in doubles, and of its certified value to a few digits.
const OF_DOUBLES: f64 = 2e-15;
const OF_FEW_DIGITS: f64 = 1e-6;
const FEW_DIGITS: u32 = 6;

/// The number of failures after which the interval is widened.
const MOST_FAILED: u32 = 4;
/// If the root is within this number of half widths of the place tried, the slope locates it well enough.
const FEW_WIDTHS: u32 = 50;

/// The number of additional digits after a failed attempt to prove a root.
const MORE_DIGITS: u32 = 2;

/// Additional knowledge about a function.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hints<'a> {
    /// Start and step of the search, if the function is faster to evaluate there than far from its root.
    pub(crate) around: Option<(f64, f64)>,
    /// Two points around the root, with proof, in a stretch about which more is known than the values at its ends; `None` if that does not
    /// help.
    pub(crate) within: Option<Within<'a>>,
}

type Within<'a> = &'a dyn Fn(&Stretch) -> Result<Option<(Rational, Rational)>>;

/// From a point with a known value to another point beyond the root.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) from: (&'a Rational, &'a Enclosure),
    pub(crate) to: &'a Rational,
    /// The required distance of the two points from the root, and the digits of the function that this needs.
    pub(crate) half_width: &'a Rational,
    pub(crate) digits: u32,
    /// The number of bits of the middle between the two points.
    pub(crate) bits: u32,
}

/// Encloses inf { x >= 0 : f(x) <= target } for a decreasing f and a `ceiling` beyond which f is known to be below the target. An error if
/// the enclosures of f contradict each other.
pub fn decreasing_root<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    decreasing_root_with(f, target, ceiling, Hints::default(), digits)
}

/// The same with additional knowledge about the function.
pub(crate) fn decreasing_root_with<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    hints: Hints,
    digits: u32,
) -> Result<Root> {
    let sides = RefCell::new(Sides { lower: Rational::new(), upper: rational::from_f64(ceiling)? });
    let enclose = |x: &Rational, digits: u32| {
        let value = (f.enclose)(x, digits)?;
        sides.borrow_mut().learn(x, &value, target);
        Ok(value)
    };
    let f = Decreasing { ln_approx: &f.ln_approx, enclose };
    let narrowed = match narrow(&f, target, (ceiling, hints), &sides, digits) {
        // At some point not even an approximation could be computed. Bisection continues between two evaluated points; otherwise the result
        // is a wide interval.
        Err(error) if error.is_beyond_reach() && sides.borrow().are_found(ceiling) => None,
        Err(error) if error.is_beyond_reach() && ceiling < HIGHEST => return bracket(&f, target, &sides, digits),
        narrowed => narrowed?,
    };
    narrowed.map_or_else(|| bisect(&f, target, &sides, digits), Ok)
}

/// The bounds on the root by all enclosures so far: `lower` <= root <= `upper`.
#[derive(Clone, Debug)]
struct Sides {
    lower: Rational,
    upper: Rational,
}

impl Sides {
    /// Updates the bounds by an enclosure of the function at x.
    fn learn(&mut self, x: &Rational, value: &Enclosure, target: &Rational) {
        match value.at_most(target) {
            Certainty::Yes if *x < self.upper => self.upper.clone_from(x),
            Certainty::No if *x > self.lower => self.lower.clone_from(x),
            Certainty::Yes | Certainty::No | Certainty::Undecided => {}
        }
    }

    /// Whether both bounds come from evaluations.
    fn are_found(&self, ceiling: f64) -> bool {
        self.lower > 0 && self.upper < ceiling
    }

    /// The given point, or the middle if it is outside of the bounds by more than `slack`.
    fn inside(&self, x: Float, slack: &Float) -> Float {
        let reach = Float::with_val(x.prec(), slack);
        if Float::with_val(x.prec(), &x + &reach) >= self.lower && Float::with_val(x.prec(), &x - &reach) <= self.upper
        {
            return x;
        }
        Float::with_val(x.prec(), Rational::from(&self.lower + &self.upper) / 2_u32)
    }

    /// The interval between the bounds; an error if they exclude each other.
    fn root(&self, digits: u32) -> Result<Root> {
        if self.lower > self.upper {
            return Err(Error::Contradiction { what: "the root of a decreasing function" });
        }
        let bits = precision::bits(digits, 40);
        let value = Enclosure::rational(&self.lower, bits).hull(&Enclosure::rational(&self.upper, bits));
        Ok(Root { met: value.is_tight(digits), value })
    }
}

/// The root by Newton's method; `None` if it does not converge, an error if the function cannot be evaluated on the way.
fn narrow<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    (ceiling, hints): (f64, Hints),
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Option<Root>> {
    // Each step gains about nine digits, the precision of the slope.
    let attempts = 12 + digits as usize / 8;
    let bits = precision::bits(digits, 40);
    let ln_target = Enclosure::rational(target, bits + 40).ln();
    let zero = Rational::new();
    // Up to this number of digits nothing is refined, and the slope only determines the precision.
    const UNREFINED: u32 = 12;
    let (mut start, about) = search(&f.ln_approx, ln_target.approximate(), ceiling, hints.around, OF_DOUBLES)?;
    if start == 0.0 {
        return root_near_zero(f, target, digits);
    }
    // The slope of ln f near the root. Every later step divides by it, so its error only slows the convergence.
    let slope = match hints.around {
        Some((_, step)) if is_off(f, start, ln_target.approximate())? => {
            let ln_f = |x: &Rational| Ok((f.enclose)(x, FEW_DIGITS)?.ln().approximate());
            (start, _) = search(&ln_f, ln_target.approximate(), ceiling, Some((start, step)), OF_FEW_DIGITS)?;
            slope_at(&ln_f, start)?
        }
        _ => match about.filter(|_| digits <= UNREFINED) {
            Some(slope) => slope,
            None => slope_at(&f.ln_approx, start)?,
        },
    };
    if !slope.is_finite() {
        return Ok(None);
    }
    let mut slope = slope.min(-f64::MIN_POSITIVE);

    let mut middle = Float::with_val(bits, start);
    let mut half_width = Float::with_val(bits, start * 0.2) * Float::with_val(bits, -f64::from(digits)).exp10();
    let mut refined = digits <= UNREFINED;
    // Whether the width was reached, and, if not, whether the precision of the function itself is the reason.
    let (mut met, mut limited) = (true, false);
    // Additional digits after failed attempts, and their number.
    let (mut more, mut failed) = (0, 0);
    // The start of the last step with ln f there, and the length of the step.
    let mut before: Option<(Rational, Enclosure)> = None;
    let mut step_before: Option<Float> = None;
    for attempt in 0..attempts {
        // A proof at the distance w from the root needs f to a relative precision of about w |slope|.
        let gain = Float::with_val(53, &half_width * slope).abs();
        let accuracy = (-gain.log10().to_f64() + 1.0).clamp(3.0, 1e6) as u32 + more;
        let at = exact(&middle)?;
        if !refined {
            let value = (f.enclose)(&at, accuracy)?;
            let ln = value.ln();
            // Close to a kink the slope from a distance is not that of the root, and steps by it may diverge.
            if let Some((steepest, flattest)) = before.take().and_then(|(x, ln_x)| secant(&x, &ln_x, &at, &ln)) {
                slope = (steepest + flattest) / 2.0;
            }
            let step = ln.sub(&ln_target).div(&Enclosure::double(-slope, bits));
            let step: Float = Float::with_val(bits, step.lower() + step.upper()) / 2;
            if let Some(within) = hints.within.filter(|_| step.is_finite()) {
                let reach = step.clone().abs() * 2_u32 + half_width.clone() * 4_u32;
                let to = exact(&Float::with_val(bits, &middle + reach.copysign(&step)))?;
                let half_width = &exact(&Float::with_val(8, &half_width))?;
                let stretch = Stretch { from: (&at, &value), to: &to, half_width, digits: accuracy, bits };
                if let Some((lower, upper)) = within(&stretch)? {
                    let end = |end: &Rational| Enclosure::rational(end, bits + 1);
                    return Ok(Some(Root { value: end(&lower).hull(&end(&upper)), met }));
                }
            }
            before = Some((at, ln));
            middle += &step;
            if !middle.is_finite() {
                break;
            }
            middle = sides.borrow().inside(middle, &half_width);
            // No step comes closer than the width of the enclosure. If a wrong slope requested too few digits, request again.
            let width = relative_width(&value) / -slope;
            if width > half_width.to_f64() {
                if !value.is_tight(accuracy) {
                    half_width = Float::with_val(bits, width * 1.01);
                    (met, limited, refined) = (false, true, true);
                }
                continue;
            }
            // The slope improves with each step, so the next step is expected to be shorter at least by the same ratio. If that is wrong,
            // the proof at the ends fails.
            let size = step.abs();
            let next = step_before.replace(size.clone()).map_or(size.clone(), |before| &size * (size.clone() / before));
            refined = next < half_width.clone() / 4 || attempt + 4 > attempts;
            continue;
        }
        // Few bits, so that the ends are exact in one bit more than the middle has.
        let half = exact(&Float::with_val(8, &half_width))?;
        let (lower, upper) = (Rational::from(&at - &half), Rational::from(&at + &half));
        let at_lower = if lower > 0 { Some((f.enclose)(&lower, accuracy)?) } else { None };
        let at_upper = (f.enclose)(&upper, accuracy)?;
        let lower_holds = at_lower.as_ref().is_none_or(|value| *value.lower() >= *target);
        if lower_holds && *at_upper.upper() <= *target {
            // A few bisections narrow it further.
            if !met && !limited {
                return Ok(None);
            }
            let lower = if lower <= 0 { zero } else { lower };
            let end = |end: &Rational| Enclosure::rational(end, bits + 1);
            return Ok(Some(Root { value: end(&lower).hull(&end(&upper)), met }));
        }
        more += MORE_DIGITS;
        failed += 1;
        // If the function cannot be enclosed more precisely, the width of its enclosure determines how closely the root can be located.
        // Otherwise try closer to the root, and then a wider interval. Every result is valid; `met` is false if it is wider than requested.
        let is_precise = at_lower.iter().chain([&at_upper]).all(|value| value.is_tight(accuracy));
        let widest = at_lower.iter().chain([&at_upper]).map(relative_width).fold(0.0, f64::max) / -slope;
        if !is_precise && widest.is_finite() && widest > half_width.to_f64() {
            half_width = Float::with_val(bits, widest * 1.01);
            (met, limited) = (false, true);
            continue;
        }
        if failed > MOST_FAILED {
            half_width *= 10;
            met = false;
            continue;
        }
        // The values at both ends give the local slope, far from a kink or on the short edge of a staircase, and the place of the root.
        // Refine again only if the root is far away.
        let ln_upper = at_upper.ln();
        if let Some(local) = at_lower.and_then(|at_lower| secant(&lower, &at_lower.ln(), &upper, &ln_upper)) {
            slope = slope.clamp(local.0, local.1);
        }
        let step = ln_upper.sub(&ln_target).div(&Enclosure::double(-slope, bits));
        let moved: Float = Float::with_val(bits, step.lower() + step.upper()) / 2 + upper;
        if !moved.is_finite() {
            refined = false;
            continue;
        }
        let moved = sides.borrow().inside(moved, &half_width);
        refined = Float::with_val(64, &moved - &middle).abs() < half_width.clone() * FEW_WIDTHS;
        middle = moved;
    }
    Ok(None)
}

/// The steepest and the flattest mean slope of ln f between two points, from its values there; `None` if these do not prove that it
/// decreases.
fn secant(x: &Rational, ln_x: &Enclosure, y: &Rational, ln_y: &Enclosure) -> Option<(f64, f64)> {
    let slope = ln_y.sub(ln_x).div(&Enclosure::rational(&Rational::from(y - x), 64));
    let (steepest, flattest) = (slope.lower().to_f64(), slope.upper().to_f64());
    (flattest < 0.0 && steepest.is_normal() && flattest.is_normal()).then_some((steepest, flattest))
}

/// Whether a root found in doubles is wrong: enclosures to a few digits show the function far from its target there, and also slightly
/// farther towards the root. Approximations may be wrong where a function is a staircase.
fn is_off<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
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
fn slope_at(ln_f: &impl Fn(&Rational) -> Result<f64>, x: f64) -> Result<f64> {
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

/// The exact value of a float.
fn exact(value: &Float) -> Result<Rational> {
    value.to_rational().ok_or(Error::NotFinite { value: value.to_f64() })
}

/// The root by bisection between the bounds, with a proof at each step: slow, but correct where the function is a staircase.
fn bisect<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Root> {
    let bits = precision::bits(digits, 40);
    for _ in 0..bits + 20 {
        let known = sides.borrow().clone();
        if known.root(digits)?.met {
            break;
        }
        let middle = exact(&(Float::with_val(bits, known.lower + known.upper) / 2_u32))?;
        let mut side = Certainty::Undecided;
        for accuracy in [6, digits.max(12), 3 * digits.max(12)] {
            side = match (f.enclose)(&middle, accuracy) {
                Ok(value) => value.at_most(target),
                Err(error) if error.is_beyond_reach() => break,
                Err(error) => return Err(error),
            };
            if side != Certainty::Undecided {
                break;
            }
        }
        if side == Certainty::Undecided {
            break;
        }
    }
    sides.borrow().root(digits)
}

/// An interval around the root from a few more enclosures of the function, which may be wide: between the last point proven to be above the
/// target and the first proven to be at most the target.
fn bracket<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Root> {
    const EVALUATIONS: usize = 5;
    // No point between these was decided.
    let mut undecided: Option<(Rational, Rational)> = None;
    for round in 0..EVALUATIONS {
        let known = sides.borrow().clone();
        let (from, to) = match &undecided {
            None => (&known.lower, &known.upper),
            Some((first, _)) if round % 2 == 0 => (&known.lower, first),
            Some((_, last)) => (last, &known.upper),
        };
        let middle = exact(&Float::with_val(64, Rational::from(from + to) / 2_u32))?;
        let side = match (f.enclose)(&middle, digits.min(3)) {
            Ok(value) => value.at_most(target),
            Err(error) if error.is_beyond_reach() => Certainty::Undecided,
            Err(error) => return Err(error),
        };
        if side == Certainty::Undecided {
            let (first, last) = undecided.unwrap_or_else(|| (middle.clone(), middle.clone()));
            undecided = Some((first.min(middle.clone()), last.max(middle)));
        }
    }
    sides.borrow().root(digits)
}

/// (upper - lower) / lower, approximately.
fn relative_width(value: &Enclosure) -> f64 {
    (Float::with_val(64, value.upper() - value.lower()) / value.lower()).to_f64().abs()
}

/// The root of a function that starts at its target, or above it by less than doubles resolve.
fn root_near_zero<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    digits: u32,
) -> Result<Option<Root>> {
    let is_zero = *(f.enclose)(&Rational::new(), digits)?.upper() <= *target;
    Ok(is_zero.then(|| Root { value: Enclosure::double(0.0, 64), met: true }))
}

/// A bracket in doubles, from `start` by growing steps: a point where the function is above the target, or zero; and one where it is not,
/// or the ceiling; with the values there.
fn ends_around(
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
fn search(
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

#[cfg(test)]
mod tests;
