//! Certified inverses of decreasing functions: searched by any means, proven at the points that the search ends on.

use std::cell::RefCell;

use rug::{Float, Rational};

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

/// What is off in ln of the function in doubles, and as it is proven to a few digits.
const OF_DOUBLES: f64 = 2e-15;
const OF_FEW_DIGITS: f64 = 1e-6;
const FEW_DIGITS: u32 = 6;

/// After so many failures the interval is made wider.
const MOST_FAILED: u32 = 4;
/// A root that is no further than so many half widths from where it was looked for is placed well enough by its slope.
const FEW_WIDTHS: u32 = 50;

/// So many digits more are asked for where an attempt to prove a root has failed.
const MORE_DIGITS: u32 = 2;

/// What else is known of a function.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hints<'a> {
    /// Where the search begins, and by steps of which size: where the function is quicker to evaluate there than far from its root.
    pub(crate) around: Option<(f64, f64)>,
    /// Two points around the root, proven, in a stretch of which more is known than the values at its ends; `None` where that does not help.
    pub(crate) within: Option<Within<'a>>,
}

type Within<'a> = &'a dyn Fn(&Stretch) -> Result<Option<(Rational, Rational)>>;

/// From a point whose value is known to another beyond the root.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) from: (&'a Rational, &'a Enclosure),
    pub(crate) to: &'a Rational,
    /// How far from the root the two points are to be, and the digits that the function has to be known to for that.
    pub(crate) half_width: &'a Rational,
    pub(crate) digits: u32,
    /// The middle between the two points has so many bits.
    pub(crate) bits: u32,
}

/// Encloses inf { x >= 0 : f(x) <= target } for a decreasing f and a `ceiling` beyond which f is known to be below the
/// target.
pub fn decreasing_root<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    ceiling: f64,
    digits: u32,
) -> Result<Root> {
    decreasing_root_with(f, target, ceiling, Hints::default(), digits)
}

/// The same where more is known of the function.
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
        // Somewhere on the way not even an approximation was to be had. Between two points that were settled halving goes on; else
        // there is a wide interval, in place of none.
        Err(error) if error.is_beyond_reach() && sides.borrow().are_found(ceiling) => None,
        Err(error) if error.is_beyond_reach() && ceiling < HIGHEST => return bracket(&f, target, &sides, digits),
        narrowed => narrowed?,
    };
    narrowed.map_or_else(|| bisect(&f, target, &sides, digits), Ok)
}

/// What all enclosures so far prove about the root: it is at least `lower` and at most `upper`.
#[derive(Clone, Debug)]
struct Sides {
    lower: Rational,
    upper: Rational,
}

impl Sides {
    /// An enclosure of the function at x.
    fn learn(&mut self, x: &Rational, value: &Enclosure, target: &Rational) {
        match value.at_most(target) {
            Certainty::Yes if *x < self.upper => self.upper.clone_from(x),
            Certainty::No if *x > self.lower => self.lower.clone_from(x),
            Certainty::Yes | Certainty::No | Certainty::Undecided => {}
        }
    }

    /// Whether both are of points that the function was asked at.
    fn are_found(&self, ceiling: f64) -> bool {
        self.lower > 0 && self.upper < ceiling
    }

    /// A point that is further from both than `slack`, and not between them, is the middle in place of it.
    fn inside(&self, x: Float, slack: &Float) -> Float {
        let reach = Float::with_val(x.prec(), slack);
        if Float::with_val(x.prec(), &x + &reach) >= self.lower && Float::with_val(x.prec(), &x - &reach) <= self.upper
        {
            return x;
        }
        Float::with_val(x.prec(), Rational::from(&self.lower + &self.upper) / 2_u32)
    }

    /// The interval between them; an error if they exclude each other.
    fn root(&self, digits: u32) -> Result<Root> {
        if self.lower > self.upper {
            return Err(Error::Contradiction { what: "the root of a decreasing function" });
        }
        let bits = precision::bits(digits, 40);
        let value = Enclosure::rational(&self.lower, bits).hull(&Enclosure::rational(&self.upper, bits));
        Ok(Root { met: value.is_tight(digits), value })
    }
}

/// The same from Newton's steps; `None` where they lead nowhere, an error where the function cannot be told on the way.
fn narrow<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    (ceiling, hints): (f64, Hints),
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Option<Root>> {
    // Each step gains nine digits or so: the slope is known that well.
    let attempts = 12 + digits as usize / 8;
    let bits = precision::bits(digits, 40);
    let ln_target = Enclosure::rational(target, bits + 40).ln();
    let zero = Rational::new();
    // Up to so many digits nothing is refined, and a slope serves to choose the accuracy only.
    const UNREFINED: u32 = 12;
    let (mut start, about) = search(&f.ln_approx, ln_target.approximate(), ceiling, hints.around, OF_DOUBLES)?;
    if start == 0.0 {
        return root_near_zero(f, target, digits);
    }
    // The slope of ln f near the root: every later step divides by it, so its own error only slows the convergence.
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
    // Whether the interval had to be wider than asked, and whether that is because the function itself is told no better.
    let (mut met, mut limited) = (true, false);
    // Where an attempt fails, the next one asks for a few digits more.
    let (mut more, mut failed) = (0, 0);
    // Where the last step came from, and ln f there; and how long it was.
    let mut before: Option<(Rational, Enclosure)> = None;
    let mut step_before: Option<Float> = None;
    for attempt in 0..attempts {
        // Proving a distance w from the root takes f to a relative accuracy of about w |slope|.
        let gain = Float::with_val(53, &half_width * slope).abs();
        let accuracy = (-gain.log10().to_f64() + 1.0).clamp(3.0, 1e6) as u32 + more;
        let at = exact(&middle)?;
        if !refined {
            let value = (f.enclose)(&at, accuracy)?;
            let ln = value.ln();
            // Next to a kink the slope from afar is not that of the root, and steps by it may lead away.
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
            // No step comes closer than the function can be enclosed; one that was asked by a wrong slope is asked again.
            let width = relative_width(&value) / -slope;
            if width > half_width.to_f64() {
                if !value.is_tight(accuracy) {
                    half_width = Float::with_val(bits, width * 1.01);
                    (met, limited, refined) = (false, true, true);
                }
                continue;
            }
            // Slopes only get better, so the next step is shorter by as much as this one at least. Where that is wrong the ends say so.
            let size = step.abs();
            let next = step_before.replace(size.clone()).map_or(size.clone(), |before| &size * (size.clone() / before));
            refined = next < half_width.clone() / 4 || attempt + 4 > attempts;
            continue;
        }
        // Of few bits, so that the ends are exact in those of the middle and one more.
        let half = exact(&Float::with_val(8, &half_width))?;
        let (lower, upper) = (Rational::from(&at - &half), Rational::from(&at + &half));
        let at_lower = if lower > 0 { Some((f.enclose)(&lower, accuracy)?) } else { None };
        let at_upper = (f.enclose)(&upper, accuracy)?;
        let lower_holds = at_lower.as_ref().is_none_or(|value| *value.lower() >= *target);
        if lower_holds && *at_upper.upper() <= *target {
            // A few halvings more narrow it.
            if !met && !limited {
                return Ok(None);
            }
            let lower = if lower <= 0 { zero } else { lower };
            let end = |end: &Rational| Enclosure::rational(end, bits + 1);
            return Ok(Some(Root { value: end(&lower).hull(&end(&upper)), met }));
        }
        more += MORE_DIGITS;
        failed += 1;
        // If the function cannot be enclosed more sharply, the width of its enclosure says how closely the root can be
        // placed. Otherwise try nearer to the root, and then a wider interval. Every result is valid; one that is wider
        // than asked says so.
        let told = at_lower.iter().chain([&at_upper]).all(|value| value.is_tight(accuracy));
        let widest = at_lower.iter().chain([&at_upper]).map(relative_width).fold(0.0, f64::max) / -slope;
        if !told && widest.is_finite() && widest > half_width.to_f64() {
            half_width = Float::with_val(bits, widest * 1.01);
            (met, limited) = (false, true);
            continue;
        }
        if failed > MOST_FAILED {
            half_width *= 10;
            met = false;
            continue;
        }
        // Both ends know the slope where it matters: far from a kink, or on the short edge of a staircase. And where the root is: only where
        // that is far away it is looked at again.
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

/// The steepest and the flattest slope that ln f may have between two points on average, from its values there; `None` where these do not
/// tell that it falls.
fn secant(x: &Rational, ln_x: &Enclosure, y: &Rational, ln_y: &Enclosure) -> Option<(f64, f64)> {
    let slope = ln_y.sub(ln_x).div(&Enclosure::rational(&Rational::from(y - x), 64));
    let (steepest, flattest) = (slope.lower().to_f64(), slope.upper().to_f64());
    (flattest < 0.0 && steepest.is_normal() && flattest.is_normal()).then_some((steepest, flattest))
}

/// Whether a root that was found in doubles is none: a proof to a few digits puts the function far from its target there, and a little further on the
/// side of the root as well. Approximations may be off where a function is a staircase.
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
    // f may be zero just behind the root, as it is behind the largest of bounded losses.
    if slope.is_finite() { Ok(slope) } else { slope_from(x) }
}

/// The exact value of a float that a search ended on.
fn exact(value: &Float) -> Result<Rational> {
    value.to_rational().ok_or(Error::NotFinite { value: value.to_f64() })
}

/// The root by halving what is known of it, each step proven: slow, and right where the function is a staircase.
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

/// The narrowest interval that a few more enclosures of the function prove to hold the root, where they may be as wide as they like:
/// between the last point known to be above the target and the first known to be at most it.
fn bracket<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Root> {
    const EVALUATIONS: usize = 5;
    // Between these no side was settled.
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

/// The root of a function that starts at its target or so close above it that doubles cannot tell.
fn root_near_zero<A, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    digits: u32,
) -> Result<Option<Root>> {
    let is_zero = *(f.enclose)(&Rational::new(), digits)?.upper() <= *target;
    Ok(is_zero.then(|| Root { value: Enclosure::double(0.0, 64), met: true }))
}

/// A point where the function is above the target, or zero, and one where it is not, or the ceiling, with its values: from `start` by
/// steps that grow.
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

/// The root in doubles, zero where f(0) is at the target or below: secants, kept in the bracket by regula falsi with the Illinois
/// weight and by bisection. ln f falls like a parabola far out, so that the root of -ln f is nearly linear there: secants are taken of it.
/// With the slope of ln f there to a few digits, where the last secant tells it.
///
/// It ends where ln f is as close to its target as it is known, `noise` of it.
fn search(
    ln_f: &impl Fn(&Rational) -> Result<f64>,
    ln_target: f64,
    ceiling: f64,
    around: Option<(f64, f64)>,
    noise: f64,
) -> Result<(f64, Option<f64>)> {
    /// Where a function is smooth, so many secants do.
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
    // The bracket of the last few rounds: secants that do not halve it in so many meet a staircase.
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
            let slope = if at_low <= 0.0 { -2.0 * target * steepness } else { steepness };
            return Ok((x - step, Some(slope)));
        }
        (before, next, steepness_before) = ((x, f_x), Some(x - step), steepness);
    }
    Ok((low + (high - low) / 2.0, None))
}

#[cfg(test)]
mod tests;
