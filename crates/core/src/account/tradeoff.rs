//! The trade-off function: the smallest type II error of any test of P against Q at a given type I error.
//!
//! With Q the null hypothesis, the best tests reject where the privacy loss L = ln dP/dQ is large. On a lattice of losses f is linear
//! between the knots
//!
//! `(alpha, beta) = (Q[L > l], P[L <= l])`, l on the lattice,
//!
//! with slope -exp(l) from `Q[L > l]` to `Q[L >= l]`. The pair is symmetric, so `P[L <= l] = Q[L >= -l]`. Both coordinates are therefore
//! tails of one kind ([`SumEvaluator::tilted_tail`]), with relative precision however small they are.
//!
//! Where the sum over the lattice is too expensive, f comes from the privacy profile by duality (`supporting`).
//!
//! A pair that is not symmetric has two functions, one for each direction: the smallest type II error of any test is the smaller of both. Their convex hull,
//! which f-DP composes, can be below either.

use rug::Rational;

use super::{
    Composition,
    supporting::{Lines, OneWay, Source, TRADEOFF, proven},
};
use crate::{
    error::{Error, Result},
    law::Direction,
    loss::{
        answer::{self, Answer, Proof, as_precise_as_possible},
        evaluator::{Evaluator, SumEvaluator, Ways},
        infinite::InfiniteLoss,
        limit::Limit,
        second::SecondEnclosure,
        sum::LossSum,
    },
    numeric::{Enclosure, enclosure, precision, rational},
};

/// A knot of the trade-off function.
#[derive(Clone, Debug)]
pub struct Knot {
    /// The lattice loss l of the test that rejects for L > l, in nats.
    pub loss: Rational,
    /// Its type I error `Q[L > l]`.
    pub alpha: Enclosure,
    /// Its type II error `P[L <= l]`.
    pub beta: Enclosure,
}

impl Composition {
    /// The knot of the test that rejects for losses above `loss`, which is rounded down to the lattice. An error if a term is continuous, or losses are
    /// infinite or on no lattice.
    pub fn knot(&self, loss: &Rational, digits: u32) -> Result<Knot> {
        self.check_symmetric("knots")?;
        if self.has_rounded_losses() || self.loss().infinite_loss().is_some() {
            return Err(Error::unsuitable(
                "knots are those of losses that are finite and on a lattice: request f(alpha)",
            ));
        }
        knot(&self.loss_evaluator(), loss, digits)
    }

    /// The knot at zeta of Section A.7's parametric form: the test that rejects where the sum over all counts of X / sigma2 exceeds zeta
    /// (in nats; the paper's zeta times 2 rho / n), for counts of shift one. Its errors are alpha(zeta) = `P[sum > zeta]` and beta(zeta) =
    /// `P[sum <= zeta - 2 rho]`; under the null hypothesis the loss is that sum minus rho.
    pub fn knot_at(&self, zeta: &Rational, digits: u32) -> Result<Knot> {
        self.knot(&Rational::from(zeta - &**self.rho()), digits)
    }

    /// f(alpha) for 0 < alpha < 1 from supporting lines of the profile only, even if another method would do: for comparing methods. An
    /// error for an alpha outside of [0, 1].
    pub fn tradeoff_by_lines(&self, alpha: &Rational, digits: u32) -> Result<Answer> {
        check_alpha(alpha)?;
        if let Some(sampled) = self.sampled_evaluator() {
            return hull(&Losses::of_composition(self), Source::Profile(&sampled), alpha, digits);
        }
        if let Some(both) = self.directions_evaluator() {
            return hull(&Losses::of_composition(self), Source::Profile(&both), alpha, digits);
        }
        if self.has_rounded_losses() {
            return Err(Error::NoLattice);
        }
        let evaluator = self.loss_evaluator();
        let of_finite = |alpha: &Rational| -> Result<Answer> {
            let value =
                Lines::new(Source::Sum(&evaluator), self.rho().to_f64(), alpha, digits).enclose()?.clamp(0.0, 1.0);
            evaluator.second_tradeoff(alpha)?.confirms(&value, SECOND)?;
            Ok(Answer { met: value.is_tight(digits), value, proof: Proof::lines() })
        };
        match self.loss().infinite_loss() {
            Some(infinite) => with_infinite(&infinite, alpha, digits, of_finite),
            None => of_finite(alpha),
        }
    }
}

/// The knot of the test that rejects for losses above `loss`, which is rounded down to the lattice.
fn knot(evaluator: &SumEvaluator, loss: &Rational, digits: u32) -> Result<Knot> {
    let sum = evaluator.sum();
    let loss = sum.at_most(loss);
    let alpha = evaluator.tilted_tail(&sum.above(&loss), digits)?.value;
    let beta = evaluator.tilted_tail(&Rational::from(-&loss), digits)?.value;
    Ok(Knot { loss, alpha, beta })
}

/// f(alpha) of a composition, the smallest type II error at type I error alpha, for 0 <= alpha <= 1 (Su, Su & Wang, Section A.7), by its evaluator.
///
/// The relative width is about 10^-digits between knots and may be larger close to one, where f is a small difference.
pub(super) fn by(composition: &Composition, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
    check_alpha(alpha)?;
    let losses = Losses::of_composition(composition);
    let both = Direction::both(|direction| of_direction(&losses, evaluator, direction, alpha, digits))?;
    if let Some([remove, add]) = both {
        return Ok(answer::smaller(remove, add, digits));
    }
    match evaluator {
        Evaluator::Infinite(finite, infinite) => {
            with_infinite(infinite, alpha, digits, |alpha| of_finite(composition, finite, alpha, digits))
        }
        finite => of_finite(composition, finite, alpha, digits),
    }
}

/// f(alpha) of the losses that are finite, of a symmetric pair: between those of two compositions where they are on no common lattice.
pub(super) fn of_finite(
    composition: &Composition,
    evaluator: &Evaluator,
    alpha: &Rational,
    digits: u32,
) -> Result<Answer> {
    match evaluator {
        Evaluator::Sum(sum) => of_sum(sum, composition, alpha, digits),
        Evaluator::Uniform(uniform) => {
            by_lines_alone(Source::Profile(&**uniform), composition.rho().to_f64(), alpha, digits)
        }
        Evaluator::Between(both) => {
            let [below, above] = &**both;
            let own = of_finite(composition, above, alpha, digits)?;
            // A pair that is at most as private has a trade-off function that is nowhere higher.
            answer::between(own, of_finite(composition, below, alpha, digits)?, digits)
        }
        _ => Err(of_another_account()),
    }
}

/// f(alpha) by the evaluator of a sum that is that of a composition, or close to it.
pub(super) fn of_sum(sum: &SumEvaluator, composition: &Composition, alpha: &Rational, digits: u32) -> Result<Answer> {
    Curve { evaluator: sum, rho: composition.rho().to_f64() }.at(alpha, digits)
}

/// The fault of an evaluator that was not made from the account that it is to answer for.
pub(super) fn of_another_account() -> Error {
    Error::unsuitable("a trade-off function by the evaluator of another account")
}

/// What the trade-off functions of a pair that is not symmetric need to know of its account.
pub(super) struct Losses {
    /// The zCDP rho, in doubles: how far losses reach, for searching.
    pub(super) rho: f64,
    /// The outcomes that only one of two neighbors can have, of the direction in which they are more probable.
    pub(super) infinite: Option<InfiniteLoss>,
}

impl Losses {
    fn of_composition(composition: &Composition) -> Self {
        let infinite = match composition.directions() {
            Some(directions) => directions.infinite_loss(),
            None => composition.loss().infinite_loss(),
        };
        Losses { rho: composition.rho().to_f64(), infinite }
    }
}

/// The source of both directions of a pair that is not symmetric; `None` of a symmetric one.
fn source_of_both(evaluator: &Evaluator) -> Option<Source<'_>> {
    match evaluator {
        Evaluator::Sampled(sampled) if !sampled.is_of_one_direction() => Some(Source::Profile(&**sampled)),
        Evaluator::Directions(both) => Some(Source::Profile(&**both)),
        _ => None,
    }
}

/// The convex hull of both directions of a pair that is not symmetric; `None` of a symmetric one.
pub(super) fn hull_of_directions(
    of: &Losses,
    evaluator: &Evaluator,
    alpha: &Rational,
    digits: u32,
) -> Result<Option<Answer>> {
    check_alpha(alpha)?;
    source_of_both(evaluator).map(|source| hull(of, source, alpha, digits)).transpose()
}

/// f(alpha) of one direction of a pair that is not symmetric: tests of the second hypothesis against the first, as of absence against presence where a record
/// is removed, or the other way round. `None` of a symmetric pair.
pub(super) fn of_direction(
    of: &Losses,
    evaluator: &Evaluator,
    direction: Direction,
    alpha: &Rational,
    digits: u32,
) -> Result<Option<Answer>> {
    check_alpha(alpha)?;
    let Some(both) = source_of_both(evaluator) else { return Ok(None) };
    let of_way = |[remove, add]: [&Evaluator; 2]| {
        let [own, opposite] = direction.pick([[remove, add], [add, remove]]);
        of_one_way(OneWay { own, opposite, both: &both }, of.rho, alpha, digits)
    };
    evaluator.with_directions(|directions| {
        let ways = Ways::of(directions);
        let least = ways.all.iter().map(|way| of_way(*way));
        let least = least.reduce(|least, next| Ok(answer::smaller(least?, next?, digits)));
        let least = least.ok_or(Error::EmptyComposition)??;
        match ways.dominating {
            None => Ok(least),
            // A pair that is at most as private has a trade-off function that is nowhere higher.
            Some(way) => answer::between(of_way(way)?, least, digits),
        }
    })
}

/// f(alpha) of one pair of laws in one direction.
fn of_one_way(way: OneWay, rho: f64, alpha: &Rational, digits: u32) -> Result<Answer> {
    let one = Enclosure::double(1.0, precision::bits(digits, 64));
    // A test without false reports reports what is impossible under the second hypothesis. From the probability on of all that is possible under the first, a
    // test that reports all of it is never wrong about it.
    let (shown, hidden) = (way.own.infinite_mass(digits), way.opposite.infinite_mass(digits));
    if *alpha == 0 && shown.as_ref().is_some_and(|mass| *mass.upper() > 0) {
        let value = shown.map_or(one.clone(), |mass| one.sub(&mass)).clamp(0.0, 1.0);
        let why = "the probability of all outcomes that the other neighbor can have as well";
        return Ok(Answer::immediate(value, why));
    }
    if hidden.is_some_and(|mass| *one.sub(&mass).upper() <= *alpha) {
        let why = "all outcomes that one neighbor can have are a test of this type I error";
        return Ok(Answer::immediate(Enclosure::double(0.0, 64), why));
    }
    by_lines_alone(Source::OneWay(way), rho, alpha, digits)
}

/// The convex hull of both directions of a pair that is not symmetric, such as noise on Poisson samples: what f-DP composes. It is nowhere above either of
/// them.
///
/// Both directions bound the mechanism, so its function is the convex hull of the smaller of two functions, one of which is the
/// inverse of the other: that of the larger of both profiles (Dong, Roth & Su 2022, Section 2.3).
fn hull(of: &Losses, source: Source, alpha: &Rational, digits: u32) -> Result<Answer> {
    // At alpha = 0 it is the limit from above, the complement s of the probability of an infinite loss; and it ends at alpha = s, because it is its own
    // inverse.
    if let Some(infinite) = &of.infinite
        && source.is_staircase()
        && (*alpha == 0 || infinite.alpha(alpha, digits).is_none())
    {
        let of_finite = |_: &Rational| Ok(Answer::immediate(Enclosure::double(1.0, 64), "1 - alpha at alpha = 0"));
        let answer = with_infinite(infinite, alpha, digits, of_finite)?;
        second_of(source, alpha)?.confirms(&answer.value, SECOND)?;
        return Ok(answer);
    }
    by_lines_alone(source, of.rho, alpha, digits)
}

/// f at alpha = 0 and 1, where every test that never errs in one way always errs in the other: the most extreme tests are best.
///
/// For Gaussian noise every outcome is possible under both laws. For bounded losses the test is that at the end of their range, with the same result.
pub(super) fn at_ends(alpha: &Rational, digits: u32) -> Option<Answer> {
    let why = "the trade-off function of every pair is 1 - alpha at alpha = 0 and 1";
    let is_end = *alpha == 0 || *alpha == 1;
    is_end.then(|| Answer::immediate(trivial(alpha, digits), why))
}

/// 1 - alpha, which no trade-off function exceeds.
fn trivial(alpha: &Rational, digits: u32) -> Enclosure {
    Enclosure::rational(&Rational::from(1 - alpha), precision::bits(digits, 64))
}

/// f(alpha) from supporting lines, for 0 <= alpha <= 1.
fn by_lines_alone(source: Source, rho: f64, alpha: &Rational, digits: u32) -> Result<Answer> {
    if let Some(known) = at_ends(alpha, digits) {
        return Ok(known);
    }
    let trivial = trivial(alpha, digits);
    let lines = Lines::new(source, rho, alpha, digits);
    let (value, proof) = match lines.answer() {
        Err(error) if error.is_beyond_reach() => {
            let why = "the bound 1 - alpha alone: the losses are beyond the reach of every engine";
            (Enclosure::double(0.0, 64).hull(&trivial), Proof::bound(why))
        }
        answer => answer?,
    };
    let value = value.clamp(0.0, 1.0);
    second_of(source, alpha)?.confirms(&value, SECOND)?;
    Ok(Answer { met: value.is_tight(digits), value, proof })
}

/// The second enclosure; of one direction that of both, whose hull is nowhere above it.
fn second_of(source: Source, alpha: &Rational) -> Result<SecondEnclosure> {
    match source {
        Source::Profile(profile) => profile.second_tradeoff(alpha),
        Source::OneWay(one) => second_of(*one.both, alpha),
        Source::Sum(sum) => sum.second_tradeoff(alpha),
    }
}

/// f(alpha) = s f'(alpha / s) with the trade-off function f' of the losses that are finite, which falls, and the probability s that all are.
pub(super) fn with_infinite(
    infinite: &InfiniteLoss,
    alpha: &Rational,
    digits: u32,
    finite: impl Fn(&Rational) -> Result<Answer>,
) -> Result<Answer> {
    check_alpha(alpha)?;
    let Some([least, most]) = infinite.alpha(alpha, digits) else {
        let why = "the outcomes that one neighbor cannot have, and all others, are a test of this type I error";
        return Ok(Answer::immediate(Enclosure::double(0.0, 64), why));
    };
    let of_most = finite(&most)?;
    let value = if least == most { of_most.value } else { of_most.value.hull(&finite(&least)?.value) };
    let value = infinite.tradeoff(&value, digits);
    Ok(Answer { met: value.is_tight(digits), value, proof: of_most.proof })
}

/// The number of times that the two knots around a type I error are moved apart before the search gives up.
const MOST_WIDENINGS: u32 = 6;

pub(super) fn check_alpha(alpha: &Rational) -> Result<()> {
    if *alpha < 0 || *alpha > 1 {
        return Err(Error::out_of_range("alpha", rational::display(alpha), "a type I error from 0 to 1"));
    }
    Ok(())
}

/// The name of the fault if both enclosures exclude each other.
pub(super) const SECOND: &str = "a trade-off function (by an engine and by the second enclosure)";

/// The trade-off function of one sum.
struct Curve<'a> {
    evaluator: &'a SumEvaluator,
    /// The zCDP rho, in doubles: how far losses reach, for searching.
    rho: f64,
}

impl Curve<'_> {
    fn at(&self, alpha: &Rational, digits: u32) -> Result<Answer> {
        let limit = Limit::of_digits(digits);
        let is_met = |answer: &Answer, fewer| answer.value.is_tight(fewer);
        match as_precise_as_possible(digits, limit, is_met, |digits| self.evaluate(alpha, digits, limit)) {
            Err(error) if error.is_beyond_reach() => {
                let value = Enclosure::double(0.0, 64).hull(&trivial(alpha, digits));
                let proof = Proof::bound("the bound 1 - alpha alone: the losses are beyond the reach of every engine");
                Ok(Answer { value, proof, met: false })
            }
            Ok(answer) => {
                self.evaluator.second_tradeoff(alpha)?.confirms(&answer.value, SECOND)?;
                Ok(answer)
            }
            Err(error) => Err(error),
        }
    }

    /// f(alpha) for one requested precision, without a second attempt at fewer digits.
    fn evaluate(&self, alpha: &Rational, digits: u32, limit: Limit) -> Result<Answer> {
        let bits = precision::bits(digits, 64);
        if let Some(known) = at_ends(alpha, digits) {
            return Ok(known);
        }
        let trivial = trivial(alpha, digits);
        if self.sum().is_zero() {
            return Ok(Answer::immediate(
                trivial,
                "every outcome that both neighbors can have is equally likely under both",
            ));
        }
        if let Some(answer) = self.evaluator.tradeoff(alpha, digits, true)?.filter(|answer| answer.met) {
            return Ok(answer);
        }
        let by_lines =
            || Lines::new(Source::Sum(self.evaluator), self.rho, alpha, digits).until(limit).or_lists().answer();
        let (value, proof) = match self.sum().step().filter(|_| self.evaluator.has_knots(digits)) {
            None => by_lines()?,
            Some(step) => match self.by_knots_of_enough(alpha, step, digits, limit) {
                Ok(Some(value)) => (value, Proof::knots()),
                Ok(None) => by_lines()?,
                Err(error) if error.is_beyond_reach() => by_lines()?,
                Err(error) => return Err(error),
            },
        };
        // 0 <= f <= 1 - alpha always.
        let value =
            value.meet(&Enclosure::double(0.0, bits).hull(&trivial)).ok_or(Error::Contradiction { what: TRADEOFF })?;
        let value = value.clamp(0.0, 1.0);
        if value.is_tight(digits) {
            return Ok(Answer { met: true, value, proof });
        }
        // Close to a knot, or to alpha = 1, tails are too imprecise; an enumeration knows the knots.
        let Some(listed) = self.evaluator.tradeoff(alpha, digits, false)? else {
            return Ok(Answer { met: false, value, proof });
        };
        let both = value.meet(&listed.value).ok_or(Error::Contradiction { what: TRADEOFF })?;
        let proof = if listed.met { listed.proof } else { proof };
        Ok(Answer { met: both.is_tight(digits), value: both, proof })
    }

    fn sum(&self) -> &LossSum {
        self.evaluator.sum()
    }

    /// f(alpha) from knots, with enough additional digits of the tails to make up for cancellation: close to alpha = 1 those that 1 - alpha
    /// loses, otherwise a few. `None` if the knots around alpha were not found.
    fn by_knots_of_enough(
        &self,
        alpha: &Rational,
        step: &Rational,
        digits: u32,
        limit: Limit,
    ) -> Result<Option<Enclosure>> {
        const MORE: [u32; 3] = [0, 3, 12];
        const FEW: f64 = 4.0;
        let lost = -ln_approx(&Rational::from(1 - alpha)) / std::f64::consts::LN_10;
        let needed = digits + if lost < FEW { 0 } else { lost as u32 };
        let mut known: Option<Enclosure> = None;
        for more in MORE {
            let Some(value) = self.by_knots(alpha, step, needed + more, limit)? else { break };
            let value = known.map_or_else(|| Some(value.clone()), |known| known.meet(&value));
            let value = value.ok_or(Error::Contradiction { what: TRADEOFF })?;
            let is_met = value.is_tight(digits);
            known = Some(value);
            if is_met || limit.is_over() {
                break;
            }
        }
        Ok(known)
    }

    fn by_knots(&self, alpha: &Rational, step: &Rational, digits: u32, limit: Limit) -> Result<Option<Enclosure>> {
        let bits = precision::bits(digits, 64);
        let near = self.loss_at(alpha, step)?;
        let target = Enclosure::rational(alpha, bits);
        // Widen [low, high] until alpha is proven to lie in [Q[L > high], Q[L >= low]]; one step usually suffices.
        let mut reach = Rational::new();
        for _ in 0..MOST_WIDENINGS {
            let low = knot(self.evaluator, &(Rational::from(&near - &reach) - step), digits)?;
            let high = knot(self.evaluator, &Rational::from(&near + &reach), digits)?;
            if high.alpha.upper() <= target.lower() && target.upper() <= low.alpha.lower() {
                return between(&low, &high, &self.sum().above(&low.loss), &target).map(Some);
            }
            // Tails without a single certain digit locate nothing.
            if limit.is_over() || !(low.alpha.is_tight(1) && high.alpha.is_tight(1)) {
                break;
            }
            reach = if reach == 0 { step.clone() } else { reach * 2_u32 };
        }
        Ok(None)
    }

    /// A lattice loss l with `Q[L > l] <= alpha < Q[L >= l]`, found in doubles: correct except where they are nearly equal.
    fn loss_at(&self, alpha: &Rational, step: &Rational) -> Result<Rational> {
        let (ln_alpha, ln_rest) = (ln_approx(alpha), ln_approx(&Rational::from(1 - alpha)));
        let rho = self.rho;
        // Under Q the loss is sub-Gaussian of mean about -rho and variance proxy 2 rho.
        let spread = (4.0 * rho * (-ln_alpha.min(ln_rest).min(-1.0) + 50.0)).sqrt() + step.to_f64();
        let (mut low, mut high) = (-rho - spread, -rho + spread);
        // Whether Q[L >= l] > alpha, for a loss l. For alpha close to 1, doubles compare the complements: Q[L < l] = P[L > -l].
        let is_above = |loss: &Rational| -> Result<bool> {
            if ln_alpha < ln_rest {
                return Ok(self.evaluator.ln_tilted_tail_approx(loss)? > ln_alpha);
            }
            Ok(self.evaluator.ln_upper_tail_approx(&self.sum().above(&Rational::from(-loss)))? < ln_rest)
        };
        for _ in 0..70 {
            let middle = low + (high - low) / 2.0;
            if is_above(&self.sum().above(&rational::from_f64(middle)?))? {
                low = middle;
            } else {
                high = middle;
            }
            if high - low < step.to_f64() / 64.0 {
                break;
            }
        }
        // The smallest lattice point l with Q[L > l] <= alpha is at most `high` and above `low`.
        let candidate = self.sum().at_most(&rational::from_f64(high)?);
        let falls_short = is_above(&candidate)?;
        Ok(if falls_short { candidate } else { candidate - step })
    }
}

/// ln of a positive number, in doubles.
fn ln_approx(number: &Rational) -> f64 {
    Enclosure::rational(number, 64).ln().approximate()
}

/// Encloses f at alpha in [high.alpha, low.alpha]. Every line of slope -exp(l) through the knots of the lattice point l supports the convex
/// f from below; the chord of the two knots bounds it from above. For neighboring knots, line and chord coincide.
fn between(low: &Knot, high: &Knot, first: &Rational, alpha: &Enclosure) -> Result<Enclosure> {
    let bits = alpha.lower().prec();
    // From the lower right knot: beta_low + exp(l) (alpha_low - alpha), a sum of two non-negative numbers.
    let slope = Enclosure::rational(first, bits).exp();
    let rise = low.alpha.sub(alpha).clamp(0.0, 1.0);
    let line = low.beta.add(&slope.mul(&rise));
    if first >= &high.loss {
        // And from the upper left knot, which is more precise on its side; both enclose f.
        let fall = alpha.sub(&high.alpha).clamp(0.0, 1.0);
        let other = high.beta.sub(&slope.mul(&fall));
        return line.meet(&other).ok_or(Error::Contradiction { what: TRADEOFF });
    }
    let slope_high = Enclosure::rational(&high.loss, bits).exp();
    let other = high.beta.sub(&slope_high.mul(&alpha.sub(&high.alpha)));
    let share = alpha.sub(&high.alpha).div(&low.alpha.sub(&high.alpha));
    let chord = high.beta.sub(&share.mul(&high.beta.sub(&low.beta)));
    proven(enclosure::larger(line.lower(), other.lower()), chord.upper().clone())
}

#[cfg(test)]
mod tests {
    use rug::Float;

    use super::*;

    /// Ends that exclude each other are an error; neither is adjusted.
    #[test]
    fn ends_that_contradict_each_other_are_an_error() {
        let float = |value: f64| Float::with_val(64, value);
        assert!(matches!(proven(float(0.3), float(0.2)), Err(Error::Contradiction { .. })));
        assert_eq!(*proven(float(0.2), float(0.2)).unwrap().upper(), 0.2);
        let exact = |value: f64| Enclosure::double(value, 64);
        // A knot whose type II error is above the chord to the next one.
        let knot = |loss: i32, alpha, beta| Knot { loss: Rational::from(loss), alpha: exact(alpha), beta: exact(beta) };
        let (low, high) = (knot(0, 0.5, 0.3), knot(1, 0.25, 0.9));
        assert!(matches!(between(&low, &high, &Rational::from(1), &exact(0.4)), Err(Error::Contradiction { .. })));
    }

    /// Knots close to alpha = 1, where doubles only resolve 1 - alpha, against supporting lines.
    #[test]
    fn knots_close_to_one_are_found() {
        for counts in ["1000000x3", "40x30"] {
            let composition = Composition::new([counts.parse().unwrap()]).unwrap();
            let evaluator = composition.loss_evaluator();
            let curve = Curve { evaluator: &evaluator, rho: composition.rho().to_f64() };
            let step = curve.sum().step().unwrap();
            for alpha in ["0.999", "0.99999999999999", "0.9999999999999999999999999"] {
                let alpha = rational::parse(alpha).unwrap();
                let knots = curve.by_knots_of_enough(&alpha, step, 20, Limit::NONE).unwrap().unwrap();
                let lines = composition.tradeoff_by_lines(&alpha, 12).unwrap().value;
                assert!(knots.is_tight(20) && lines.is_tight(12), "{counts} {alpha}: {knots:?} {lines:?}");
                assert!(knots.overlaps(&lines), "{counts} {alpha}: {knots:?} {lines:?}");
            }
        }
    }
}
