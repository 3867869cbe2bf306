//! Newton's method on the logarithm of a decreasing function, with a proof at both ends of what it finds.

use std::cell::RefCell;

use rug::{Float, Rational};

use super::{
    super::{enclosure::Enclosure, precision},
    function::{Decreasing, Hints, Root, Sides, Stretch, Within, exact, relative_width},
    search::{FEW_DIGITS, is_off, search, slope_at},
};
use crate::error::Result;

/// The error of ln of the function in doubles, and of its certified value to a few digits.
pub(super) const OF_DOUBLES: f64 = 2e-15;
const OF_FEW_DIGITS: f64 = 1e-6;

/// Up to this number of digits the root in doubles is proven at once, and the slope only determines the precision.
const UNREFINED: u32 = 12;

/// The number of failures after which the interval is widened.
const MOST_FAILED: u32 = 4;

/// If the root is within this number of half widths of the place tried, the slope locates it well enough.
const FEW_WIDTHS: u32 = 50;

/// The number of additional digits after a failed attempt to prove a root.
const MORE_DIGITS: u32 = 2;

/// The root by Newton's method; `None` if it does not converge, an error if the function cannot be evaluated on the way.
pub(super) fn narrow<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    (ceiling, hints): (f64, Hints),
    sides: &RefCell<Sides>,
    digits: u32,
) -> Result<Option<Root>> {
    // Each step gains about nine digits, the precision of the slope.
    let attempts = 12 + digits as usize / 8;
    let Some(Start { at, slope }) = start(f, target, (ceiling, hints.around), digits)? else {
        return root_near_zero(f, target, digits);
    };
    if !slope.is_finite() {
        return Ok(None);
    }
    let bits = precision::bits(digits, 40);
    let mut newton = Newton {
        f,
        target,
        ln_target: Enclosure::rational(target, bits + 40).ln(),
        within: hints.within,
        sides,
        bits,
        slope: slope.min(-f64::MIN_POSITIVE),
        middle: Float::with_val(bits, at),
        half_width: Float::with_val(bits, at * 0.2) * Float::with_val(bits, -f64::from(digits)).exp10(),
        is_refined: digits <= UNREFINED,
        met: true,
        limited: false,
        more: 0,
        failed: 0,
        before: None,
        step_before: None,
    };
    for attempt in 0..attempts {
        let step = if newton.is_refined { newton.prove()? } else { newton.approach(attempt + 4 > attempts)? };
        match step {
            Step::Next => {}
            Step::Found(root) => return Ok(Some(root)),
            Step::LeftToBisection => return Ok(None),
        }
    }
    Ok(None)
}

/// The start of Newton's method: a root in doubles with the slope of ln f there.
struct Start {
    at: f64,
    slope: f64,
}

/// `None` if the root in doubles is zero.
fn start<A: Fn(&Rational) -> Result<f64>, E: Fn(&Rational, u32) -> Result<Enclosure>>(
    f: &Decreasing<A, E>,
    target: &Rational,
    (ceiling, around): (f64, Option<(f64, f64)>),
    digits: u32,
) -> Result<Option<Start>> {
    let ln_target = Enclosure::rational(target, precision::bits(digits, 80)).ln().approximate();
    let (at, about) = search(&f.ln_approx, ln_target, ceiling, around, OF_DOUBLES)?;
    if at == 0.0 {
        return Ok(None);
    }
    if let Some((_, step)) = around
        && is_off(f, at, ln_target)?
    {
        let ln_f = |x: &Rational| Ok((f.enclose)(x, FEW_DIGITS)?.ln().approximate());
        let (at, _) = search(&ln_f, ln_target, ceiling, Some((at, step)), OF_FEW_DIGITS)?;
        return Ok(Some(Start { at, slope: slope_at(&ln_f, at)? }));
    }
    let slope = match about.filter(|_| digits <= UNREFINED) {
        Some(slope) => slope,
        None => slope_at(&f.ln_approx, at)?,
    };
    Ok(Some(Start { at, slope }))
}

/// Newton's method on ln f. Whatever its state, it returns only what values of f at both ends prove.
struct Newton<'a, A, E> {
    f: &'a Decreasing<A, E>,
    target: &'a Rational,
    ln_target: Enclosure,
    within: Option<Within<'a>>,
    sides: &'a RefCell<Sides>,
    bits: u32,
    /// The slope of ln f near the root, negative. Every step divides by it, so its error only slows the convergence.
    slope: f64,
    middle: Float,
    half_width: Float,
    /// Whether the middle is close enough for a proof.
    is_refined: bool,
    /// Whether the width was reached, and, if not, whether the precision of the function itself is the reason.
    met: bool,
    limited: bool,
    /// Additional digits after failed attempts, and their number.
    more: u32,
    failed: u32,
    /// The start of the last step with ln f there, and the length of the step.
    before: Option<(Rational, Enclosure)>,
    step_before: Option<Float>,
}

/// The outcome of one step of Newton's method.
enum Step {
    Next,
    Found(Root),
    LeftToBisection,
}

impl<A, E: Fn(&Rational, u32) -> Result<Enclosure>> Newton<'_, A, E> {
    /// A proof at the distance w from the root needs f to a relative precision of about w |slope|.
    fn accuracy(&self) -> u32 {
        let gain = Float::with_val(53, &self.half_width * self.slope).abs();
        (-gain.log10().to_f64() + 1.0).clamp(3.0, 1e6) as u32 + self.more
    }

    /// The length of a step from a point with this ln f.
    fn step(&self, ln: &Enclosure) -> Float {
        let step = ln.sub(&self.ln_target).div(&Enclosure::double(-self.slope, self.bits));
        Float::with_val(self.bits, step.lower() + step.upper()) / 2
    }

    fn found(&self, lower: &Rational, upper: &Rational) -> Step {
        let end = |end: &Rational| Enclosure::rational(end, self.bits + 1);
        Step::Found(Root { value: end(lower).hull(&end(upper)), met: self.met })
    }

    /// A step towards the root; `hurry` ends the approach with it.
    fn approach(&mut self, hurry: bool) -> Result<Step> {
        let at = exact(&self.middle)?;
        let accuracy = self.accuracy();
        let value = (self.f.enclose)(&at, accuracy)?;
        let ln = value.ln();
        // Close to a kink the slope from a distance is not that of the root, and steps by it may diverge.
        if let Some((steepest, flattest)) = self.before.take().and_then(|(x, ln_x)| secant(&x, &ln_x, &at, &ln)) {
            self.slope = (steepest + flattest) / 2.0;
        }
        let step = self.step(&ln);
        if let Some((lower, upper)) = self.in_known_stretch((&at, &value), &step, accuracy)? {
            return Ok(self.found(&lower, &upper));
        }
        self.before = Some((at, ln));
        self.middle += &step;
        if !self.middle.is_finite() {
            return Ok(Step::LeftToBisection);
        }
        self.middle = self.sides.borrow().inside(self.middle.clone(), &self.half_width);
        // No step comes closer than the width of the enclosure. If a wrong slope requested too few digits, request again.
        let width = relative_width(&value) / -self.slope;
        if width > self.half_width.to_f64() {
            if !value.is_tight(accuracy) {
                self.half_width = Float::with_val(self.bits, width * 1.01);
                (self.met, self.limited, self.is_refined) = (false, true, true);
            }
            return Ok(Step::Next);
        }
        // The slope improves with each step, so the next step is expected to be shorter at least by the same ratio. If that is wrong,
        // the proof at the ends fails.
        let size = step.abs();
        let before = self.step_before.replace(size.clone());
        let next = before.map_or(size.clone(), |before| &size * (size.clone() / before));
        self.is_refined = next < self.half_width.clone() / 4 || hurry;
        Ok(Step::Next)
    }

    /// The two ends by additional knowledge about the stretch from a point over twice the step.
    fn in_known_stretch(
        &self,
        from: (&Rational, &Enclosure),
        step: &Float,
        digits: u32,
    ) -> Result<Option<(Rational, Rational)>> {
        let Some(within) = self.within.filter(|_| step.is_finite()) else {
            return Ok(None);
        };
        let reach = step.clone().abs() * 2_u32 + self.half_width.clone() * 4_u32;
        let to = exact(&Float::with_val(self.bits, &self.middle + reach.copysign(step)))?;
        let half_width = &exact(&Float::with_val(8, &self.half_width))?;
        within(&Stretch { from, to: &to, half_width, digits, bits: self.bits })
    }

    /// A proof at both ends of the interval around the middle, or a new middle or width.
    fn prove(&mut self) -> Result<Step> {
        let at = exact(&self.middle)?;
        let accuracy = self.accuracy();
        // Few bits, so that the ends are exact in one bit more than the middle has.
        let half = exact(&Float::with_val(8, &self.half_width))?;
        let (lower, upper) = (Rational::from(&at - &half), Rational::from(&at + &half));
        let at_lower = if lower > 0 { Some((self.f.enclose)(&lower, accuracy)?) } else { None };
        let at_upper = (self.f.enclose)(&upper, accuracy)?;
        let lower_holds = at_lower.as_ref().is_none_or(|value| *value.lower() >= *self.target);
        if lower_holds && *at_upper.upper() <= *self.target {
            // A few bisections narrow it further.
            if !self.met && !self.limited {
                return Ok(Step::LeftToBisection);
            }
            return Ok(self.found(&lower.max(Rational::new()), &upper));
        }
        self.more += MORE_DIGITS;
        self.failed += 1;
        // If the function cannot be enclosed more precisely, the width of its enclosure determines how closely the root can be located.
        // Otherwise try closer to the root, and then a wider interval. Every result is valid; `met` is false if it is wider than requested.
        let is_precise = at_lower.iter().chain([&at_upper]).all(|value| value.is_tight(accuracy));
        let widest = at_lower.iter().chain([&at_upper]).map(relative_width).fold(0.0, f64::max) / -self.slope;
        if !is_precise && widest.is_finite() && widest > self.half_width.to_f64() {
            self.half_width = Float::with_val(self.bits, widest * 1.01);
            (self.met, self.limited) = (false, true);
        } else if self.failed > MOST_FAILED {
            self.half_width *= 10;
            self.met = false;
        } else {
            self.move_by_ends((&lower, at_lower), (&upper, &at_upper));
        }
        Ok(Step::Next)
    }

    /// Moves the middle: the values at both ends give the local slope, far from a kink or on the short edge of a staircase, and the place of
    /// the root.
    fn move_by_ends(
        &mut self,
        (lower, at_lower): (&Rational, Option<Enclosure>),
        (upper, at_upper): (&Rational, &Enclosure),
    ) {
        let ln_upper = at_upper.ln();
        if let Some(local) = at_lower.and_then(|at_lower| secant(lower, &at_lower.ln(), upper, &ln_upper)) {
            self.slope = self.slope.clamp(local.0, local.1);
        }
        let moved: Float = self.step(&ln_upper) + upper;
        // Approach again only if the root is far away.
        self.is_refined = false;
        if moved.is_finite() {
            let moved = self.sides.borrow().inside(moved, &self.half_width);
            let distance = Float::with_val(64, &moved - &self.middle).abs();
            self.is_refined = distance < self.half_width.clone() * FEW_WIDTHS;
            self.middle = moved;
        }
    }
}

/// The steepest and the flattest mean slope of ln f between two points, from its values there; `None` if these do not prove that it
/// decreases.
fn secant(x: &Rational, ln_x: &Enclosure, y: &Rational, ln_y: &Enclosure) -> Option<(f64, f64)> {
    let slope = ln_y.sub(ln_x).div(&Enclosure::rational(&Rational::from(y - x), 64));
    let (steepest, flattest) = (slope.lower().to_f64(), slope.upper().to_f64());
    (flattest < 0.0 && steepest.is_normal() && flattest.is_normal()).then_some((steepest, flattest))
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
