//! The trade-off function from the privacy profile, by duality: f(alpha) is the supremum over eps of
//!
//! ```text
//! 1 - delta(eps) - exp(eps) alpha,    and of the mirrored lines: delta(-eps) = 1 - exp(-eps) (1 - delta(eps)).
//! ```
//!
//! With E = exp(eps), of either sign of eps, the height phi(E) = 1 - delta - E alpha of the line of slope -E is concave in E, because
//! delta is convex in it. So every height is a lower bound of f, and a few of them bound all others from above:
//!
//! ```text
//! phi(E) <= phi(b) + (phi(b) - phi(a)) (E - b) / (b - a)    for a < b <= E, and the same mirrored.
//! ```
//!
//! Between two neighboring slopes the bounds from the left and from the right meet in a peak, beyond the outermost one of them is
//! left; no line above zero at alpha is steeper than 1 / alpha, because none is above one at zero. The next line is the one of the
//! highest peak. Where heights are smooth what is left shrinks as the square of the distances, in a corner of f (the heights are flat
//! there) and at a kink of phi (losses on a coarse lattice) the peaks are met as well.

use rug::{Float, Rational, float::Round};

use super::Composition;
use crate::{
    error::{Error, Result},
    loss::evaluator::SumEvaluator,
    numeric::{Enclosure, enclosure, precision, rational},
};

/// How a contradiction names the function.
pub(super) const TRADEOFF: &str = "the trade-off function";

/// So many lines are asked for at most.
const MOST_LINES: usize = 60;
/// So many digits more than asked for are given to heights that cancel.
const MOST_MORE_DIGITS: u32 = 150;

/// The eps whose supporting line is highest at alpha, found in doubles; negative for the mirrored lines.
pub(crate) fn epsilon(composition: &Composition, alpha: &Rational) -> Result<f64> {
    let evaluator = composition.loss_evaluator();
    let lines = Lines::new(&evaluator, composition.rho().to_f64(), alpha);
    let alpha = alpha.to_f64();
    lines.highest_approx(60, |eps| {
        let rest = 1.0 - evaluator.ln_hockey_stick_approx(&rational::from_f64(eps.abs())?)?.exp();
        Ok(if eps >= 0.0 { rest - eps.exp() * alpha } else { (rest - alpha) * eps.exp() })
    })
}

/// The supporting lines at a type I error.
pub(super) struct Lines<'a> {
    evaluator: &'a SumEvaluator,
    /// The type I error, between 0 and 1.
    alpha: &'a Rational,
    /// The zCDP rho, in doubles: how far losses reach, for searching.
    rho: f64,
}

/// A line below the trade-off function.
#[derive(Clone, Debug)]
struct Line {
    eps: Float,
    /// The digits that the profile was asked for.
    digits: u32,
    /// exp(eps), minus the slope.
    slope: Enclosure,
    /// At alpha.
    height: Enclosure,
}

/// At least what phi reaches between two lines, or beyond the outermost; and where the next line would be.
#[derive(Debug)]
struct Peak {
    height: Float,
    /// The lines that it was found from: from the first, before the second.
    from: (usize, usize),
    next: Float,
}

impl<'a> Lines<'a> {
    /// The lines of a composition of this zCDP.
    pub(super) fn new(evaluator: &'a SumEvaluator, rho: f64, alpha: &'a Rational) -> Self {
        Lines { evaluator, alpha, rho }
    }

    /// f(alpha), to about 10^-digits of it where that takes no more than so many lines.
    pub(super) fn enclose(&self, digits: u32) -> Result<Enclosure> {
        let bits = precision::bits(digits, 64);
        let (middle, distance) = self.top_approx(digits)?;
        let mut lines = Vec::with_capacity(MOST_LINES);
        for side in [-1.0, 0.0, 1.0] {
            lines.push(self.line(&Float::with_val(bits, middle + side * distance), digits + 1)?);
        }
        let mut lower = Float::new(bits);
        // f <= 1 - alpha always.
        let mut upper = Enclosure::rational(&Rational::from(1 - self.alpha), bits).upper().clone();
        for _ in lines.len()..MOST_LINES {
            for line in &lines {
                lower = enclosure::larger(&lower, line.height.lower());
            }
            let peak = self.highest_peak(&lines);
            upper = enclosure::smaller(&upper, &peak.height);
            let value = proven(lower.clone(), upper.clone())?;
            if value.is_tight(digits) {
                return Ok(value);
            }
            if let Some((at, more)) = unsure(&lines, &peak, &value, digits) {
                lines[at] = self.line(&lines[at].eps, more)?;
                continue;
            }
            let next = self.line(&peak.next, digits + 1)?;
            let at = lines.partition_point(|line| line.eps < next.eps);
            lines.insert(at, next);
        }
        proven(lower, upper)
    }

    /// The highest peak of the bounds of phi by lines in increasing order of eps.
    fn highest_peak(&self, lines: &[Line]) -> Peak {
        let inner = (1..lines.len()).map(|right| between(lines, right));
        let (first, last) = (beyond(lines, false, self.alpha), beyond(lines, true, self.alpha));
        let higher = |highest: Peak, peak: Peak| if peak.height > highest.height { peak } else { highest };
        std::iter::once(last).chain(inner).fold(first, higher)
    }

    /// The line that supports f at the loss eps: with slope -exp(eps).
    fn line(&self, eps: &Float, digits: u32) -> Result<Line> {
        let exact = eps.to_rational().ok_or(Error::NotFinite { value: eps.to_f64() })?;
        // What two heights have in common cancels: a few more bits than digits.
        let bits = precision::bits(digits, 64);
        let slope = Enclosure::rational(&exact, bits).exp();
        let delta = self.evaluator.hockey_stick(&exact.clone().abs(), digits)?.value;
        let rest = Enclosure::double(1.0, bits).sub(&delta);
        let alpha = Enclosure::rational(self.alpha, bits);
        // 1 - delta(eps) - exp(eps) alpha; or exp(-eps) (1 - delta(eps) - alpha).
        let height = if exact >= 0 { rest.sub(&slope.mul(&alpha)) } else { slope.mul(&rest.sub(&alpha)) };
        Ok(Line { eps: eps.clone(), digits, slope, height })
    }

    /// The eps of the highest line, and how far from it the lines around are to be, both in doubles: by golden section, and then by
    /// parabolas through three points.
    fn top_approx(&self, digits: u32) -> Result<(f64, f64)> {
        const ROUNDS: usize = 40;
        let height = |eps| self.ln_height_approx(eps);
        let mut middle = self.highest_approx(26, height)?;
        let mut distance = self.reach() * 1e-5;
        for _ in 0..ROUNDS {
            let (x, y, z) = (height(middle - distance)?, height(middle)?, height(middle + distance)?);
            let fall = 2.0 * y - x - z;
            // Closer points would only see the noise of doubles.
            if fall.is_nan() || fall <= 1e-8 {
                let closer = (10_f64.powi(-(digits.min(300) as i32)) / fall.max(1e-13)).sqrt() * 0.5;
                return Ok((middle, distance * closer.clamp(1e-4, 1.0)));
            }
            let step = ((z - x) / (2.0 * fall)).clamp(-3.0, 3.0);
            middle += step * distance;
            distance *= if step.abs() >= 1.0 { step.abs() } else { (4.0 * step.abs()).clamp(1e-2, 0.5) };
        }
        Ok((middle, distance))
    }

    /// ln of the height of the line of slope -exp(eps), in doubles; far below any logarithm, and falling with the height, where that
    /// is negative.
    fn ln_height_approx(&self, eps: f64) -> Result<f64> {
        const NEGATIVE: f64 = -1e12;
        let alpha = self.alpha.to_f64();
        // ln delta is minus one minus delta where that is small.
        let rest = -self.evaluator.ln_hockey_stick_approx(&rational::from_f64(eps.abs())?)?.exp_m1();
        let (height, ln_scale) = if eps >= 0.0 { (rest - eps.exp() * alpha, 0.0) } else { (rest - alpha, eps) };
        Ok(if height > 0.0 { height.ln() + ln_scale } else { NEGATIVE - (-height * ln_scale.exp()).ln_1p() })
    }

    /// How far from zero losses are looked for.
    fn reach(&self) -> f64 {
        self.rho + 16.0 * self.rho.sqrt() + 1.0
    }

    /// The eps of the largest height, by so many rounds of golden section.
    fn highest_approx(&self, rounds: u32, height: impl Fn(f64) -> Result<f64>) -> Result<f64> {
        let (mut low, mut high) = (-self.reach(), self.reach());
        for _ in 0..rounds {
            let (p, q) = (low + (high - low) * 0.382, low + (high - low) * 0.618);
            if height(p)? >= height(q)? {
                high = q;
            } else {
                low = p;
            }
        }
        Ok((low + high) / 2.0)
    }
}

/// At least (phi(b) - phi(a))_+ / |E_b - E_a|: by how much a slope phi grows beyond b as seen from a. `None` where the slopes cannot be
/// told apart.
fn growth(a: &Line, b: &Line) -> Option<Enclosure> {
    let (first, last) = if a.eps < b.eps { (a, b) } else { (b, a) };
    let apart = last.slope.sub(&first.slope);
    let zero = Enclosure::double(0.0, apart.lower().prec());
    (*apart.lower() > 0).then(|| b.height.sub(&a.height).max(&zero).div(&apart))
}

/// The peak between the lines `right - 1` and `right`.
///
/// One bound grows to the right and the other to the left: whatever slope E is chosen between, phi is at most the larger of both there.
fn between(lines: &[Line], right: usize) -> Peak {
    let (b, c) = (&lines[right - 1], &lines[right]);
    let from_left = right.checked_sub(2).and_then(|a| growth(&lines[a], b));
    let from_right = lines.get(right + 1).and_then(|d| growth(d, c));
    let bits = b.slope.lower().prec().max(c.slope.lower().prec());
    let apart = c.slope.sub(&b.slope);
    let middle = |value: &Enclosure| Float::with_val(bits, value.lower() + value.upper()) / 2_u32;
    // Where both bounds are the same, as a share of the way.
    let share = match (&from_left, &from_right) {
        (Some(left), Some(right)) => {
            let (left, right, apart) = (middle(left), middle(right), middle(&apart));
            let share = (middle(&c.height.sub(&b.height)) / &apart + &right) / Float::with_val(bits, &left + &right);
            if share.is_finite() { share.clamp(&0, &1) } else { Float::with_val(bits, 0.5) }
        }
        (None, Some(_)) => Float::new(bits),
        (Some(_), None) => Float::with_val(bits, 1),
        (None, None) => Float::with_val(bits, 0.5),
    };
    let way = |share: &Float| apart.mul(&Enclosure::new(share.clone(), share.clone()));
    let bound = |line: &Line, growth: Option<Enclosure>, way: Enclosure| match growth {
        Some(growth) => line.height.add(&growth.mul(&way)).upper().clone(),
        None => Float::with_val(bits, rug::float::Special::Infinity),
    };
    // Rounded up, so that nothing lies between the two.
    let rest = Float::with_val_round(bits, 1_u32 - &share, Round::Up).0;
    // At a share of zero the bound from the left says nothing that is not said by the line itself, and so at one.
    let of_left = if share == 0 { b.height.upper().clone() } else { bound(b, from_left, way(&share)) };
    let of_right = if rest == 0 { c.height.upper().clone() } else { bound(c, from_right, way(&rest)) };
    // Not next to a line that is there.
    let share = share.clamp(&0.05, &0.95);
    let next = Float::with_val(bits, &c.eps - &b.eps) * share + &b.eps;
    Peak {
        height: enclosure::larger(&of_left, &of_right),
        from: (right.saturating_sub(2), (right + 2).min(lines.len())),
        next,
    }
}

/// The peak beyond the last line, or before the first: E is at least 0, and at most 1 / alpha where a line is above zero.
fn beyond(lines: &[Line], last: bool, alpha: &Rational) -> Peak {
    let n = lines.len();
    let (inner, outer) = if last { (&lines[n - 2], &lines[n - 1]) } else { (&lines[1], &lines[0]) };
    let bits = outer.slope.lower().prec();
    let zero = Enclosure::double(0.0, bits);
    let way = if last {
        Enclosure::rational(&Rational::from(alpha.recip_ref()), bits).sub(&outer.slope).max(&zero)
    } else {
        outer.slope.clone()
    };
    let height = match growth(inner, outer) {
        Some(growth) => outer.height.add(&growth.mul(&way)).upper().clone(),
        None => Float::with_val(bits, rug::float::Special::Infinity),
    };
    // Four times as far as all lines reach.
    let reach = Float::with_val(bits, &lines[n - 1].eps - &lines[0].eps) * 4_u32;
    let next = if last { reach + &outer.eps } else { Float::with_val(bits, &outer.eps - reach) };
    Peak { height, from: if last { (n - 2, n) } else { (0, 2) }, next }
}

/// The line of a peak whose height is known worst, if it is not known well enough to say more; and the digits to ask for.
fn unsure(lines: &[Line], peak: &Peak, value: &Enclosure, digits: u32) -> Option<(usize, u32)> {
    let width = |line: &Line| Float::with_val(64, line.height.upper() - line.height.lower());
    let scale = if *value.lower() > 0 {
        Float::with_val(64, -f64::from(digits)).exp10() * Float::with_val(64, value.lower())
    } else {
        Float::with_val(64, value.upper()) / 1000_u32
    };
    // A line far below the peak says little, and needs to be known little.
    let excess = |line: &Line| {
        let below = Float::with_val(64, value.upper() - line.height.upper()).abs() / 100_u32;
        (width(line) / enclosure::larger(&(scale.clone() / 8_u32), &below)).log10().to_f64()
    };
    let of_peak = (peak.from.0..peak.from.1).map(|at| (at, excess(&lines[at])));
    let (at, excess) = of_peak.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let more = if excess.is_finite() { excess.max(0.0) as u32 + 2 } else { 8 };
    let more = (lines[at].digits + more).min(digits + MOST_MORE_DIGITS);
    (excess > 0.0 && more > lines[at].digits).then_some((at, more))
}

/// Two ends that were proven apart.
pub(super) fn proven(lower: Float, upper: Float) -> Result<Enclosure> {
    if lower <= upper { Ok(Enclosure::new(lower, upper)) } else { Err(Error::Contradiction { what: TRADEOFF }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The function from supporting lines, against lists of atoms: of fine noise, of coarse beside fine, and of coarse noise alone.
    #[test]
    fn lines_enclose_what_lists_answer() {
        for (groups, digits) in [
            (vec!["1000000x3"], 5),
            (vec!["0.02x2", "4000003/7x1", "5000001x1"], 12),
            (vec!["1/20x4@2", "26216x1@2"], 12),
            (vec!["5x10"], 12),
        ] {
            let counts = groups.iter().map(|counts| counts.parse().unwrap());
            let composition = Composition::new(counts).unwrap();
            let (evaluator, rho) = (composition.loss_evaluator(), composition.rho().to_f64());
            for alpha in ["1/2", "0.01", "0.99", "1e-12"] {
                let alpha = rational::parse(alpha).unwrap();
                let lines = Lines::new(&evaluator, rho, &alpha).enclose(digits).unwrap();
                let listed = evaluator.tradeoff(&alpha, 12, false).unwrap().unwrap().value;
                assert!(lines.overlaps(&listed) && listed.is_tight(12), "{groups:?} {alpha}: {lines:?} {listed:?}");
                assert!(lines.is_tight(digits), "{groups:?} {alpha}: {lines:?} {listed:?}");
            }
        }
    }
}
