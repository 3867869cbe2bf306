//! A point of the trade-off function: three values of epsilon whose lines enclose it (theorem H of `proofs/README.md`).
//!
//! f(alpha) is the greatest height 1 - delta(eps) - exp(eps) alpha of a line, a concave function of exp(eps). If the middle one of three
//! heights is the greatest, no line is higher than the adjacent chords allow.

use rug::{Float, Rational, ops::Pow};

use super::{
    claim::TOO_MANY_MIXES,
    direction::{delta_of, ln_delta_of, opposite},
    ends,
};
use crate::{
    account::{Account, Whole, supporting},
    error::{Error, Result},
    law::Direction,
    loss::evaluator::Evaluator,
    numeric::{Enclosure, rational},
};

/// Bits of the heights, which are differences.
const BITS: u32 = 512;
/// Digits of a delta in addition to those of the claim.
const MORE: u32 = 8;
/// Digits of an enclosure by points, in addition to those of the claim, which are enough.
const TIGHTER: u32 = 3;

/// Three values of epsilon, and the enclosure that they prove.
#[derive(Clone, Debug)]
pub(super) struct Points {
    /// In increasing order; negative ones are those of mirrored lines.
    pub epsilons: [Rational; 3],
    /// The enclosure.
    pub value: Enclosure,
    /// The allowed absolute error of bounds of delta.
    pub room: f64,
}

/// The reason why no three lines prove an enclosure.
const NO_LINES: &str = "no three lines are found of which the middle one is the highest at this alpha";

/// exp(eps) up to rounding, and both ends of the height of the line, by those of delta.
struct Line {
    exp: Float,
    lower: Float,
    upper: Float,
}

/// A trade-off function at a type I error: that of both directions, or the least P(not S) where Q(S) <= alpha with P the law of one.
pub(super) struct Function<'a> {
    pub whole: &'a Whole,
    pub direction: Option<Direction>,
    pub alpha: &'a Rational,
    /// Of several units, whether the least function of a single one is meant: it is not below that of the larger delta of all, which no unit need have.
    pub is_of_one: bool,
}

impl Function<'_> {
    /// The direction whose delta a line has: of negative eps, which are mirrored, that of the other.
    fn direction_at(&self, is_mirrored: bool) -> Option<Direction> {
        if is_mirrored { self.direction.map(opposite) } else { self.direction }
    }

    /// The unit whose function is meant: the one with the largest delta at the middle line, as for the hints of a lower end.
    fn unit_at(&self, center: &Rational, digits: u32) -> Result<Option<Whole>> {
        let Whole::WorstPath(worst) = self.whole else { return Ok(None) };
        if !self.is_of_one {
            return Ok(None);
        }
        let pair = worst.evaluator().hockey_stick(&center.clone().abs(), digits + ends::MORE)?.pair();
        pair.map(|pair| Ok(Whole::Composition(worst.composition(pair)?))).transpose()
    }
}

impl Points {
    /// The points around the greatest height that enclose f(alpha) most closely, to about 10^-digits of it.
    pub(super) fn around(function: &Function, digits: u32) -> Result<Points> {
        let &Function { whole, alpha, .. } = function;
        if *alpha <= 0 || *alpha >= 1 {
            let expected =
                "a type I error above 0 and below 1, because the lines of a proof touch the function between its ends";
            return Err(Error::out_of_range("alpha", rational::display(alpha), expected));
        }
        let evaluator = whole.evaluator();
        let line = |epsilon: &Rational, own: Option<&Whole>| -> Result<Line> {
            let direction = function.direction_at(*epsilon < 0);
            let of = |evaluator: &Evaluator| delta_of(evaluator, direction, &epsilon.clone().abs(), digits + MORE);
            // Upper bounds are about all units, lower ones about the one that is meant.
            let delta = of(&evaluator)?;
            let least = own
                .map(|own| of(&own.evaluator()))
                .transpose()?
                .map_or(delta.lower().clone(), |own| own.lower().clone());
            let exp = Float::with_val(BITS, epsilon).exp();
            let height = |delta: &Float| {
                let rest = Float::with_val(BITS, 1) - Float::with_val(BITS, delta);
                if *epsilon >= 0 { rest - exp.clone() * alpha } else { exp.clone() * (rest - alpha) }
            };
            let (lower, upper) = (height(delta.upper()), height(&least));
            Ok(Line { exp, lower, upper })
        };
        let has_many_units = matches!(whole, Whole::WorstPath(_));
        let mut best: Option<Points> = None;
        for center in centers(function)? {
            let own = function.unit_at(&center, digits)?;
            let line = |epsilon: &Rational| line(epsilon, own.as_ref());
            let middle = line(&center)?;
            for decimals in 1..=digits + 4 {
                let width = Rational::from((1, rug::Integer::from(rug::Integer::u_pow_u(10, decimals))));
                let epsilons = [Rational::from(&center - &width), center.clone(), Rational::from(&center + &width)];
                let found = enclosed(epsilons.clone(), [&line(&epsilons[0])?, &middle, &line(&epsilons[2])?]);
                let closer = |points: &Points| best.as_ref().is_none_or(|best| points.width() < best.width());
                let Some(points) = found.filter(closer) else { continue };
                // Lines that are closer together need more work of a checker, for each unit.
                if has_many_units && points.value.is_tight(digits + TIGHTER) {
                    return Ok(points);
                }
                best = Some(points);
            }
        }
        best.ok_or_else(|| Error::Unprovable { why: NO_LINES.into() })
    }

    /// Whether its lower end is above that of other points by more than the requested digits.
    pub(super) fn is_above(&self, other: &Points, digits: u32) -> bool {
        let gap = self.value.lower().clone() - other.value.lower();
        gap * Float::with_val(BITS, 10).pow(digits) > *self.value.lower()
    }

    fn width(&self) -> Float {
        self.value.upper().clone() - self.value.lower()
    }
}

/// The enclosure of three lines; `None` if the middle one is not proven to be the highest: lines that are too close differ by less than the errors of delta.
fn enclosed(epsilons: [Rational; 3], [x, y, z]: [&Line; 3]) -> Option<Points> {
    let least = y.lower.clone() - x.upper.clone().max(&z.upper);
    if least <= 0 || y.lower <= 0 {
        return None;
    }
    let (before, after) = (y.exp.clone() - &x.exp, z.exp.clone() - &y.exp);
    let (left, right) = (y.upper.clone() - &x.lower, y.upper.clone() - &z.lower);
    let above = (left * &after / &before).max(&(right * &before / &after));
    let upper = y.upper.clone() + above;
    // A quarter of the margin: the errors of a checker's bounds are beside those of the digits of delta.
    let room = least.to_f64() / 4.0;
    Some(Points { epsilons, value: Enclosure::new(y.lower.clone(), upper), room })
}

/// The likely places of the greatest height: from a search in doubles, at the nearest loss, where lines meet on a lattice, and of several units where their deltas do.
fn centers(function: &Function) -> Result<Vec<Rational>> {
    let &Function { whole, alpha, .. } = function;
    let mut own = match whole {
        Whole::Composition(one) => one.clone(),
        Whole::WorstPath(worst) => worst.composition((0, 0))?,
        Whole::ManyWays(_) => return Err(Error::Unprovable { why: TOO_MANY_MIXES.to_string() }),
    };
    if !own.is_symmetric() {
        return Ok(vec![highest_approx(function)?]);
    }
    let mut centers = Vec::new();
    // Far fewer digits than those of a double suffice for a value that is not a loss.
    let scale = 1_u64 << 40;
    let short =
        |epsilon: &Rational| Rational::from((Rational::from(epsilon * scale).round().into_numer_denom().0, scale));
    for _ in 0..2 {
        // Beyond one half doubles know the complement of alpha better.
        let epsilon = match *alpha > Rational::from((1, 2)) {
            true => highest_approx(function)?,
            false => rational::from_f64(supporting::epsilon(&own, alpha)?)?,
        };
        let half = own.loss().step().map(|step| Rational::from(step / 2_u32)).unwrap_or_default();
        let loss = own.loss().at_most(&Rational::from(&epsilon + &half));
        centers = vec![short(&epsilon), loss];
        let Whole::WorstPath(worst) = whole else { break };
        let at = epsilon.abs();
        let Some(pair) = worst.evaluator().hockey_stick(&at, 6)?.pair() else { break };
        own = worst.composition(pair)?;
    }
    if matches!(whole, Whole::WorstPath(_)) && !function.is_of_one {
        // The highest line may be where another unit has the largest delta, between the highest ones of both.
        centers.push(short(&highest_approx(function)?));
    }
    centers.dedup();
    Ok(centers)
}

/// The place of the greatest height in doubles: the height rises and falls once, as it is concave in exp(eps).
fn highest_approx(function: &Function) -> Result<Rational> {
    /// No finite loss of few counts is so large.
    const FAR: f64 = 100.0;
    let evaluator = function.whole.evaluator();
    let (alpha, complement) = (function.alpha.to_f64(), Rational::from(1 - function.alpha).to_f64());
    let height = |epsilon: f64| -> Result<f64> {
        let direction = function.direction_at(epsilon < 0.0);
        let delta = libm::exp(ln_delta_of(&evaluator, direction, &rational::from_f64(epsilon.abs())?)?);
        let scale = libm::exp(epsilon);
        Ok(if epsilon >= 0.0 { 1.0 - delta - scale * alpha } else { scale * (complement - delta) })
    };
    let (mut low, mut high) = (-FAR, FAR);
    for _ in 0..100 {
        let third = (high - low) / 3.0;
        if height(low + third)? < height(high - third)? { low += third } else { high -= third }
    }
    rational::from_f64(f64::midpoint(low, high))
}
