//! The trade-off function from the privacy profile, by duality: f(alpha) is the supremum over eps of
//!
//! ```text
//! 1 - delta(eps) - exp(eps) alpha,    and of the mirrored lines: delta(-eps) = 1 - exp(-eps) (1 - delta(eps)).
//! ```
//!
//! Let E = exp(eps), with eps of either sign. The line of slope -E has the height phi(E) = 1 - delta - E alpha, which is concave in E
//! because delta is convex in it. So every height is a lower bound of f, and a few of them bound all others from above:
//!
//! ```text
//! phi(E) <= phi(b) + (phi(b) - phi(a)) (E - b) / (b - a)    for a < b <= E, and the same mirrored.
//! ```
//!
//! Between two neighboring slopes the bounds from the left and from the right intersect in a *peak*. Beyond the outermost slope only one of
//! them remains; no line that is positive at alpha is steeper than 1 / alpha, because none is above 1 at zero. The next line is placed at
//! the highest peak. Where heights are smooth, the gap shrinks with the square of the distances. In a corner of f (where the heights are
//! flat) and at a kink of phi (losses on a coarse lattice) the peaks are attained. If losses can be enumerated around the maximum, two
//! lines and the [`kinks`] between them suffice.

mod closing;
mod kinks;
mod line;
mod lines;
mod peak;
mod top;

use std::cell::RefCell;

use rug::{Float, Rational};

pub(super) use self::lines::{Lines, OneWay, Source};
use self::{
    closing::Closing,
    line::{Line, width},
    peak::{Peak, between, beyond},
    top::Top,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Proof},
        evaluator::SumEvaluator,
        limit::Limit,
    },
    numeric::{Enclosure, enclosure, precision, rational},
};

/// The name of the function in a contradiction.
pub(super) const TRADEOFF: &str = "the trade-off function";

/// The largest number of lines.
const MOST_LINES: usize = 60;
/// The search ends when this number of heights has fewer digits than requested.
const MOST_UNMET: usize = 6;
/// Up to this number of digits doubles place the highest line well enough.
const OF_DOUBLES: u32 = 16;
/// Bits of a loss beyond those of its height, because lines come close to each other.
const EPS_BITS: u32 = 160;
/// Additional bits of heights, which are extrapolated to lines with a much smaller slope.
const SLOPE_BITS: u32 = 1024;
/// If the noise of a peak exceeds the width of the heights it is extrapolated from by this factor, another line is needed there, not more
/// digits.
const MOST_DRAWN_ON: u32 = 64;
/// A line may have up to this number of additional digits at little cost.
const FEW_DIGITS: u32 = 4;
/// The largest number of additional digits for heights that cancel.
const MOST_MORE_DIGITS: u32 = 150;

/// The eps of the supporting line that is highest at alpha, in doubles; negative for the mirrored lines.
#[cfg(feature = "mechanisms")]
pub(crate) fn epsilon(composition: &super::Composition, alpha: &Rational) -> Result<f64> {
    epsilon_by(&composition.loss_evaluator(), composition.rho().to_f64(), alpha)
}

/// The same by the evaluator of its losses, for a composition of this zCDP rho.
pub(super) fn epsilon_by(evaluator: &SumEvaluator, rho: f64, alpha: &Rational) -> Result<f64> {
    let lines = Lines::new(Source::Sum(evaluator), rho, alpha, OF_DOUBLES);
    lines.highest_approx(1e-9, |eps| {
        let (height, _) = lines.height_approx(eps)?;
        Ok(if eps >= 0.0 { height } else { height * libm::exp(eps) })
    })
}

impl<'a> Lines<'a> {
    /// The lines of a composition with this zCDP rho, for this number of digits.
    pub(super) fn new(source: Source<'a>, rho: f64, alpha: &'a Rational, digits: u32) -> Self {
        let session = source.session(Limit::of_digits(digits));
        Lines { source, alpha, rho, may_list: false, session, drawn: RefCell::default(), digits }
    }

    /// The same lines with a limit of effort.
    pub(super) fn until(self, limit: Limit) -> Self {
        Lines { session: self.source.session(limit), ..self }
    }

    /// The same lines, except that an enumeration that would certify the heights of lines may certify the function itself: one search
    /// instead of many lines.
    pub(super) fn or_lists(self) -> Self {
        Lines { may_list: true, ..self }
    }

    /// f(alpha), to about 10^-digits of it.
    pub(super) fn enclose(&self) -> Result<Enclosure> {
        Ok(self.answer()?.0)
    }

    /// f(alpha) and the method: to about 10^-digits of it if `MOST_LINES` lines and the limit of effort suffice, otherwise the best enclosure so
    /// far.
    pub(super) fn answer(&self) -> Result<(Enclosure, Proof)> {
        match self.found(self.digits) {
            Err(Error::OutOfTime) => Ok((self.known()?, Proof::lines())),
            answer => answer,
        }
    }

    /// The enclosure of f(alpha) by all lines so far: from the highest line to the highest peak, and never above 1 - alpha.
    fn known(&self) -> Result<Enclosure> {
        let bits = precision::bits(self.digits, 64);
        let trivial = Enclosure::double(0.0, bits).hull(&self.most(bits));
        let lines = self.drawn.borrow();
        let lower =
            lines.iter().fold(trivial.lower().clone(), |lower, line| enclosure::larger(&lower, line.height.lower()));
        let upper = if lines.len() < 2 { trivial.upper().clone() } else { self.highest_peak(&lines).height };
        proven(lower, enclosure::smaller(trivial.upper(), &upper))
    }

    fn found(&self, digits: u32) -> Result<(Enclosure, Proof)> {
        let bits = precision::bits(digits, 64);
        let mut top = self.top_approx()?;
        let mut between = self.between_kinks(top, digits)?;
        if between.is_none() && digits > OF_DOUBLES && self.source.step().is_some() {
            // Where doubles were not precise enough, lines to a few digits locate the maximum.
            if let Some(proven) = self.top_by_lines(top)? {
                top = proven;
                between = self.between_kinks(top, digits)?;
            }
        }
        // 0 <= f <= 1 - alpha always.
        let known = Enclosure::double(0.0, bits).hull(&self.most(bits));
        let known = between.map_or(Some(known.clone()), |value| value.meet(&known));
        let known = known.ok_or(Error::Contradiction { what: TRADEOFF })?;
        if known.is_tight(digits) {
            return Ok((known, Proof::lines()));
        }
        // Up to this number of digits three lines suffice.
        if let Some(evaluator) = self.source.sum().filter(|_| self.may_list && digits > OF_DOUBLES) {
            let at = rational::from_f64(top.eps.abs())?;
            let listed = evaluator.tradeoff_in_place_of_lines(self.alpha, &at, digits, &self.session)?;
            if let Some(Answer { value, met: true, proof }) = listed {
                let value = value.meet(&known).ok_or(Error::Contradiction { what: TRADEOFF })?;
                return Ok((value, proof));
            }
        }
        let needed = top.needed(digits);
        let (mut lower, mut upper) = (known.lower().clone(), known.upper().clone());
        let mut lines =
            if self.source.is_staircase() { self.spread_out(top, digits)? } else { self.around_top(top, digits)? };
        for _ in 0..MOST_LINES {
            for line in &lines {
                lower = enclosure::larger(&lower, line.height.lower());
            }
            let peak = self.highest_peak(&lines);
            upper = enclosure::smaller(&upper, &peak.height);
            let value = proven(lower.clone(), upper.clone())?;
            // If the profile itself cannot be more precise, further lines do not help.
            let limited = lines[peak.from.0..peak.from.1].iter().any(|line| line.limits(&value));
            let unmet = lines.iter().filter(|line| !line.met).count();
            if value.is_tight(digits) || limited || unmet >= MOST_UNMET || lines.len() >= MOST_LINES {
                return Ok((value, Proof::lines()));
            }
            if let Some((at, more)) = unsure(&lines, &peak, &value, digits) {
                lines[at] = self.line(lines[at].exact.clone(), more)?;
                continue;
            }
            // As many digits as the most precise line has, which may share an enumeration.
            let finest = lines.iter().map(|line| line.digits).fold(needed, u32::max);
            let wanted = if finest < needed + FEW_DIGITS { finest } else { needed };
            for next in peak.next {
                let next = self.at_a_loss(&next, &lines)?;
                insert(&mut lines, self.line(next, wanted)?);
            }
        }
        Ok((proven(lower, upper)?, Proof::lines()))
    }

    /// The maximum by lines to as many digits as doubles hold, three at a time: the next three are placed at the vertex of the parabola
    /// through the last three. `None` if that does not converge.
    fn top_by_lines(&self, top: Top) -> Result<Option<Top>> {
        const MOST_ROUNDS: usize = 6;
        const FARTHEST: f64 = 1e4;
        let wanted = OF_DOUBLES + top.lost.ceil() as u32;
        let (mut eps, mut distance) = (top.eps, top.distance);
        for _ in 0..MOST_ROUNDS {
            let at = |side: f64| self.line(rational::from_f64(eps + side * distance)?, wanted);
            let around = [at(-1.0)?, at(0.0)?, at(1.0)?];
            let Some(shift) = vertex(&around).map(|shift| shift.to_f64()) else { return Ok(None) };
            if shift.abs() <= 1.0 {
                return Ok(Some(Top { eps: eps + shift * distance, distance, ..top }));
            }
            if shift.abs() > FARTHEST {
                return Ok(None);
            }
            eps += shift * distance;
            distance = distance.max(shift.abs() * distance / 64.0);
        }
        Ok(None)
    }

    /// Lines on both sides of the highest one, far from it and near: where heights are linear between few losses, the lines of neighboring pieces meet at them,
    /// and no parabola is a guide.
    fn spread_out(&self, top: Top, digits: u32) -> Result<Vec<Line>> {
        const SIDES: [f64; 9] = [-8.0, -3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0, 8.0];
        const LEAST: f64 = 0.1;
        let spread = self.spread().clamp(LEAST, 1.0 / LEAST);
        let middle = if top.eps.is_finite() { top.eps } else { 0.0 };
        let mut lines = Vec::new();
        for side in SIDES {
            insert(&mut lines, self.line(rational::from_f64(middle + side * spread)?, top.needed(digits))?);
        }
        Ok(lines)
    }

    /// Lines next to the highest one, three at a time. The next three are placed at the vertex of the parabola through the last three,
    /// closer together by the error of the parabola, down to the distance at which the bounds between three lines meet.
    fn around_top(&self, top: Top, digits: u32) -> Result<Vec<Line>> {
        const MOST_ROUNDS: usize = 10;
        if digits <= OF_DOUBLES {
            return self.around_top_of_doubles(top, digits);
        }
        let bits = precision::bits(2 * digits, 64);
        let mut eps = Float::with_val(bits, top.eps);
        let mut closing = Closing::new(&top, digits);
        let mut lines: Vec<Line> = Vec::with_capacity(MOST_LINES);
        for _ in 0..MOST_ROUNDS {
            let (ratio, wanted) = (closing.ratio(), closing.wanted(&top));
            let distance = Float::with_val(bits, &closing.away * top.scale);
            if self.source.step().is_some_and(|step| distance < *step) {
                // Between losses phi is linear, so its maximum is at one of them.
                for loss in self.losses_around(&eps)? {
                    insert(&mut lines, self.line(loss, digits + 1 + top.lost.ceil() as u32)?);
                }
                break;
            }
            let at = |side: f64| self.line_near(&(Float::with_val(bits, &distance * side) + &eps), wanted);
            let around = [at(-1.0)?, at(0.0)?, at(1.0)?];
            let (shift, noise, met) = (vertex(&around), around[1].noise(), around.iter().all(|line| line.met));
            around.into_iter().for_each(|line| insert(&mut lines, line));
            if ratio > 16.0 {
                for side in [-ratio.sqrt(), ratio.sqrt()] {
                    insert(&mut lines, at(side)?);
                }
            }
            // If the heights do not fit a parabola, the bounds decide.
            let Some(shift) = shift.filter(|shift| shift.is_finite() && *shift.as_abs() < 1e4) else { break };
            if !closing.next(&shift.clone().abs(), noise, met) {
                break;
            }
            eps += shift * distance;
        }
        Ok(lines)
    }

    /// The same to the digits of doubles: three lines, moved where doubles were less precise than they claim.
    fn around_top_of_doubles(&self, top: Top, digits: u32) -> Result<Vec<Line>> {
        const MOST_MOVES: usize = 2;
        const FARTHEST: f64 = 1e4;
        let bits = precision::bits(2 * digits, 64);
        let mut eps = Float::with_val(bits, top.eps);
        let closer = 10_f64.powi(-(digits as i32)).sqrt() * 0.35 * top.scale;
        let distance = Float::with_val(bits, closer.clamp(top.distance * 1e-4, top.distance));
        // Use the digits of an existing enumeration if they suffice.
        let prepared = |evaluator: &SumEvaluator| evaluator.digits_prepared(&self.session);
        let (needed, listed) = (top.needed(digits), self.source.sum().map_or(0, prepared));
        let wanted = if (needed..needed + FEW_DIGITS).contains(&listed) { listed } else { needed };
        let mut lines = Vec::new();
        for _ in 0..=MOST_MOVES {
            let at = |side: i32| self.line_near(&(Float::with_val(bits, &distance * side) + &eps), wanted);
            let around = [at(-1)?, at(0)?, at(1)?];
            let shift = vertex(&around).map(|shift| shift.to_f64());
            around.into_iter().for_each(|line| insert(&mut lines, line));
            // These lines place the next ones.
            let Some(shift) = shift.filter(|shift| shift.abs() > 1.0 && shift.abs() < FARTHEST) else { break };
            eps += Float::with_val(bits, &distance * shift);
        }
        Ok(lines)
    }

    /// Whether no loss of either law lies strictly between two losses; then delta, and so phi, is linear in E = exp(eps) there.
    fn is_linear(&self, from: &Rational, to: &Rational) -> bool {
        let Some(sum) = self.source.sum().map(SumEvaluator::sum) else { return false };
        sum.step().is_some() && sum.above(from) >= *to && sum.above(&Rational::from(-to)) >= Rational::from(-from)
    }

    /// The lattice losses next to a number, two on each side.
    fn losses_around(&self, eps: &Float) -> Result<Vec<Rational>> {
        let exact = eps.to_rational().ok_or(Error::NotFinite { value: eps.to_f64() })?;
        let Some(sum) = self.source.sum().map(SumEvaluator::sum) else { return Ok(vec![exact]) };
        let (below, above) = (sum.at_most(&exact), sum.above(&exact));
        let step = Rational::from(&above - &below);
        Ok(vec![Rational::from(&below - &step), below, above.clone(), above + step])
    }

    /// The nearest loss of the lattice: phi has its maximum at a loss, so a corner is reached and not only approached. The given place
    /// itself if there is no lattice, or already a line at that loss.
    fn at_a_loss(&self, eps: &Float, lines: &[Line]) -> Result<Rational> {
        let exact = eps.to_rational().ok_or(Error::NotFinite { value: eps.to_f64() })?;
        let Some(sum) = self.source.sum().map(SumEvaluator::sum).filter(|sum| sum.step().is_some()) else {
            return Ok(exact);
        };
        let (below, above) = (sum.at_most(&exact), sum.above(&exact));
        let is_first = Rational::from(&exact - &below) < Rational::from(&above - &exact);
        let nearest = if is_first { below } else { above };
        Ok(if lines.iter().any(|line| line.exact == nearest) { exact } else { nearest })
    }

    /// The highest peak of the bounds of phi by lines in increasing order of eps.
    fn highest_peak(&self, lines: &[Line]) -> Peak {
        let inner = (1..lines.len()).map(|right| {
            let peak = between(lines, right);
            let (b, c) = (&lines[right - 1], &lines[right]);
            if !self.is_linear(&b.exact, &c.exact) {
                return peak;
            }
            let at = if b.height.upper() >= c.height.upper() { right - 1 } else { right };
            let highest = &lines[at].height;
            if *highest.upper() >= peak.height {
                return peak;
            }
            let (height, noise) = (highest.upper().clone(), width(highest));
            Peak { height, noise, of: (at, at), from: (right - 1, right + 1), ..peak }
        });
        let (first, last) = (beyond(lines, false, self.alpha), beyond(lines, true, self.alpha));
        let higher = |highest: Peak, peak: Peak| if peak.height > highest.height { peak } else { highest };
        std::iter::once(last).chain(inner).fold(first, higher)
    }

    /// 1 - alpha, an upper bound on every height.
    fn most(&self, bits: u32) -> Enclosure {
        Enclosure::rational(&Rational::from(1 - self.alpha), bits)
    }

    /// The line that supports f at the loss eps: with slope -exp(eps).
    fn line_near(&self, eps: &Float, digits: u32) -> Result<Line> {
        self.line(eps.to_rational().ok_or(Error::NotFinite { value: eps.to_f64() })?, digits)
    }

    /// The line at exactly this loss.
    fn line(&self, exact: Rational, digits: u32) -> Result<Line> {
        // Heights have terms in common that cancel, so they need more bits than digits.
        let bits = precision::bits(digits, 64) + SLOPE_BITS;
        let slope = Enclosure::rational(&exact, bits).exp();
        let Answer { value: delta, met, .. } = self.source.hockey_stick(&exact, digits, &self.session)?;
        let alpha = Enclosure::rational(self.alpha, bits);
        // 1 - delta(eps) - exp(eps) alpha; or exp(-eps) (1 - delta(eps) - alpha).
        let height = match (exact >= 0, *delta.upper() < 0.5) {
            (true, true) => self.most(bits).sub(&delta).sub(&Enclosure::rational(&exact, bits).exp_m1().mul(&alpha)),
            (true, false) => Enclosure::double(1.0, bits).sub(&delta).sub(&slope.mul(&alpha)),
            (false, true) => slope.mul(&self.most(bits).sub(&delta)),
            (false, false) => slope.mul(&Enclosure::double(1.0, bits).sub(&delta).sub(&alpha)),
        };
        let line = Line { eps: Float::with_val(bits + EPS_BITS, &exact), exact, digits, met, slope, height };
        insert(&mut self.drawn.borrow_mut(), line.clone());
        Ok(line)
    }
}

/// The vertex of the parabola through the heights of three equidistant lines, relative to the middle one, in units of their distance.
fn vertex(lines: &[Line]) -> Option<Float> {
    let [a, b, c] = lines else { return None };
    let bits = b.slope.lower().prec();
    let middle = |line: &Line| Float::with_val(bits, line.height.lower() + line.height.upper()) / 2_u32;
    let (a, b, c) = (middle(a), middle(b), middle(c));
    let fall: Float = b * 2_u32 - &a - &c;
    (fall > 0).then(|| (c - a) / (fall * 2_u32))
}

/// Inserts a line into lines in increasing order of eps, unless a line with the same loss has as many digits.
fn insert(lines: &mut Vec<Line>, line: Line) {
    let place = lines.partition_point(|other| other.exact < line.exact);
    match lines.get_mut(place).filter(|other| other.exact == line.exact) {
        None => lines.insert(place, line),
        Some(other) if other.digits < line.digits => *other = line,
        Some(_) => {}
    }
}

/// The line of a peak with the least precise height, if only that makes the peak so high; and the digits to request.
fn unsure(lines: &[Line], peak: &Peak, value: &Enclosure, digits: u32) -> Option<(usize, u32)> {
    let scale = if *value.lower() > 0 {
        Float::with_val(64, -f64::from(digits)).exp10() * Float::with_val(64, value.lower())
    } else {
        Float::with_val(64, value.upper()) / 1000_u32
    };
    let above = Float::with_val(64, &peak.height - value.lower());
    let lines = [peak.of.0, peak.of.1].map(|at| (at, &lines[at]));
    let widest = |a: &Line, b: &Line| width(&a.height).total_cmp(&width(&b.height));
    let (_, worst) = lines.into_iter().max_by(|a, b| widest(a.1, b.1))?;
    // An extrapolation far beyond two lines needs another line there.
    let is_far = peak.noise > width(&worst.height) * MOST_DRAWN_ON;
    if is_far || Float::with_val(64, &peak.noise * 4_u32) < above {
        return None;
    }
    // A line that did not reach its requested digits will not reach more.
    let (at, line) = lines.into_iter().filter(|(_, line)| line.met).max_by(|a, b| widest(a.1, b.1))?;
    let excess = (width(&line.height) * 8_u32 / scale).log10().to_f64();
    // If the height is far too imprecise, another line helps more.
    let more = (line.digits + excess.clamp(0.0, 1e6) as u32 + 1).max(digits + 1);
    (excess > 0.0 && more > line.digits && more <= digits + MOST_MORE_DIGITS).then_some((at, more))
}

/// The enclosure with these ends, which were proven separately; an error if they contradict each other.
pub(super) fn proven(lower: Float, upper: Float) -> Result<Enclosure> {
    if lower <= upper { Ok(Enclosure::new(lower, upper)) } else { Err(Error::Contradiction { what: TRADEOFF }) }
}

/// The height at alpha of the line of slope -exp(epsilon) that supports every function with this largest delta(|epsilon|).
pub(super) fn line(delta: &Enclosure, epsilon: &Rational, alpha: &Rational, bits: u32) -> Enclosure {
    let rest = Enclosure::double(1.0, bits).sub(delta);
    let (exp, alpha) = (Enclosure::rational(&epsilon.clone().abs(), bits).exp(), Enclosure::rational(alpha, bits));
    // 1 - delta(eps) - exp(eps) alpha; or exp(-eps) (1 - delta(eps) - alpha).
    if *epsilon >= 0 { rest.sub(&exp.mul(&alpha)) } else { rest.sub(&alpha).div(&exp) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Composition, Counts},
        loss::limit,
    };

    /// The function from supporting lines, against enumerations: of fine noise, of coarse beside fine, and of coarse noise alone.
    #[test]
    fn lines_and_enumerations_agree() {
        for (groups, digits) in [
            (vec!["1000000x3"], 5),
            (vec!["1000000x3"], 30),
            (vec!["5x10", "2x1"], 40),
            (vec!["20000003/7x3", "5000001x1"], 22),
            (vec!["0.02x2", "4000003/7x1", "5000001x1"], 12),
            (vec!["1/20x4@2", "26216x1@2"], 12),
            (vec!["5x10"], 12),
            (vec!["3001/7x3", "4099/5x2", "1/3x2"], 40),
            (vec!["100003/7x3", "2001/5x2@2"], 30),
            (vec!["4001/9x2", "laplace 1/8x3", "laplace 5/4x2@2"], 34),
        ] {
            let counts = groups.iter().map(|counts| match counts.strip_prefix("laplace ") {
                Some(counts) => Counts::parse_discrete_laplace(counts).unwrap(),
                None => counts.parse().unwrap(),
            });
            let composition = Composition::new(counts).unwrap();
            let (evaluator, rho) = (composition.loss_evaluator(), composition.rho().to_f64());
            // Many digits are slow.
            for &alpha in if digits < 20 { &["1/2", "0.01", "0.99", "1e-12"][..] } else { &["0.01"] } {
                let alpha = rational::parse(alpha).unwrap();
                let lines = Lines::new(Source::Sum(&evaluator), rho, &alpha, digits).enclose().unwrap();
                let listed = evaluator.tradeoff(&alpha, 12, false).unwrap().unwrap().value;
                assert!(lines.overlaps(&listed) && listed.is_tight(12), "{groups:?} {alpha}: {lines:?} {listed:?}");
                assert!(lines.is_tight(digits), "{groups:?} {alpha}: {lines:?} {listed:?}");
            }
        }
    }

    /// After any limit the answer is the enclosure proven by then: at first 0 <= f <= 1 - alpha, in the end all digits.
    #[test]
    fn lines_out_of_time_give_what_was_proven_by_then() {
        for (groups, alpha) in [(["20000003/7x3", "5000001x1"], "0.3"), (["1/20x4@2", "26216x1@2"], "1e-5")] {
            let composition = Composition::new(groups.iter().map(|counts| counts.parse().unwrap())).unwrap();
            let (evaluator, rho) = (composition.loss_evaluator(), composition.rho().to_f64());
            let alpha = rational::parse(alpha).unwrap();
            let listed = evaluator.tradeoff(&alpha, 12, false).unwrap().unwrap().value;
            let (mut some, mut all) = (0, 0);
            for looks in 0..1_000 {
                let lines = || Lines::new(Source::Sum(&evaluator), rho, &alpha, 18).enclose().unwrap();
                let (value, left) = limit::tests::after(looks, lines);
                assert!(value.overlaps(&listed), "{groups:?} {looks}: {value:?} {listed:?}");
                let trivial = *value.lower() == 0 && value.upper().to_f64() >= Rational::from(1 - &alpha).to_f64();
                assert!(trivial || looks > 0, "{groups:?}: {value:?}");
                some += u32::from(!trivial && !value.is_tight(18));
                if left > 0 {
                    assert!(value.is_tight(18), "{groups:?} {looks}: {value:?}");
                    all += 1;
                    break;
                }
            }
            assert!(some > 0 && all == 1, "{groups:?}: {some} {all}");
        }
    }
}
