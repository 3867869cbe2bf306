//! Posteriors that outputs exceed with at most a probability, by the delta of one epsilon (theorem P of `proofs/README.md`).
//!
//! For every l above epsilon, (1 - exp(epsilon - L))_+ is at least 1 - exp(epsilon - l) where L > l, and its mean is delta(epsilon):
//!
//! `P[L > l] <= delta(epsilon) / (1 - exp(epsilon - l))`.
//!
//! Infinite losses are among those above l. Unlike a tail, delta does not grow by post-processing, nor by a smaller change where the pair is the worst: the bound
//! holds for all that is computed from the outputs, for every change of a record, and for guarantees. It is an upper end alone.

use rug::{Float, Rational};

use super::{
    claim::{Claim, Ends, Question},
    direction::{delta_of, ln_delta_of},
    ends::{MORE, Outward},
    hints::Hints,
    parts::{self, Aim},
};
use crate::{
    account::{Account, Delta, Whole, outputs},
    error::{Error, Result},
    law::Direction,
    numeric::{Certainty, Enclosure, rational},
    release::subject::Resolved,
    risk,
};

/// Bits of a posterior, beside those of its digits.
const BITS: u32 = 128;
/// Steps of the search for the best epsilon, each of which leaves two thirds.
const STEPS: u32 = 60;
/// No epsilon of a checker is larger.
const FAR: f64 = 8192.0;

/// A claim, the hints for the delta of its epsilon, and that epsilon.
pub(super) struct Found {
    pub claim: Claim,
    pub upper: Vec<Hints>,
    pub epsilon: Rational,
}

/// The question about a posterior: the prior of the direction's first data set, the probability of the outputs that exceed it, and the direction, or both.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub prior: &'a Rational,
    pub probability: &'a Delta,
    pub direction: Option<Direction>,
}

/// The posterior that follows from the delta of an epsilon.
struct Bound {
    epsilon: Rational,
    delta: Float,
    posterior: Enclosure,
}

/// Hints for it: one value of the profile.
pub(super) fn of_outputs(subject: &Resolved, asked: Asked, digits: u32) -> Result<Found> {
    risk::check_prior(asked.prior)?;
    let question = Question::Outputs { prior: asked.prior.clone(), probability: asked.probability.clone() };
    // Refused before anything is computed.
    let ends = Ends { lower: Rational::new(), upper: Rational::from(1) };
    let mut claim = Claim::new(subject, question, ends)?.in_direction(asked.direction)?;
    let whole = &subject.whole;
    let none = |why: &str| Error::Unprovable { why: why.to_string() };
    let bound = bound(whole, asked, digits)?
        .ok_or_else(|| none("no posterior of outputs below 1 follows: delta is nowhere below the probability"))?;
    let Outward { upper, room, .. } = Outward::new(&bound.posterior, digits)?;
    if upper >= 1 {
        return Err(none("the posterior that outputs exceed rounds up to 1: more digits are needed"));
    }
    claim.ends.upper = upper;
    // d posterior / d delta is t (1 - t) / (probability - delta).
    let rest = Enclosure::double(1.0, BITS.max(4 * digits + 64)).sub(&bound.posterior).approximate();
    let (t, left) = (bound.posterior.approximate(), asked.probability.to_f64() - bound.delta.to_f64());
    let error = left * (room.to_f64() / (t * rest)).min(1.0) / 8.0;
    let ln_error = libm::log(error);
    // No loss may be as large as this epsilon: then any small delta is as good an aim.
    let ln_delta = whole.evaluator().ln_hockey_stick_approx(&bound.epsilon)?.max(ln_error);
    let upper = parts::all(&claim.paths, Aim { epsilon: &bound.epsilon, ln_delta, ln_error })?;
    Ok(Found { claim, upper, epsilon: bound.epsilon })
}

/// An upper bound on a posterior that outputs exceed with at most this probability, as an enclosure from 0 on; 1 if none is below it.
pub(super) fn value(whole: &Whole, asked: Asked, digits: u32) -> Result<Enclosure> {
    let upper = match bound(whole, asked, digits)? {
        Some(bound) => bound.posterior.clamp(0.0, 1.0),
        None => Enclosure::double(1.0, BITS),
    };
    Ok(Enclosure::double(0.0, upper.upper().prec()).hull(&upper))
}

/// Whether a posterior is one that outputs exceed with at most this probability: yes by its bound, no by the outputs of the change themselves.
pub(super) fn holds(whole: &Whole, asked: Asked, posterior: &Rational, digits: u32) -> Result<Certainty> {
    if *posterior >= 1 || value(whole, asked, digits)?.at_most(posterior) == Certainty::Yes {
        return Ok(Certainty::Yes);
    }
    let Whole::Composition(change) = whole else { return Ok(Certainty::Undecided) };
    let odds = |chance: &Rational| chance / Rational::from(1 - chance);
    let ratio = odds(posterior) / odds(asked.prior);
    if ratio <= 0 {
        return Ok(Certainty::No);
    }
    match outputs::keeps_in(change, &ratio, asked.probability, asked.direction) {
        Ok(Certainty::No) => Ok(Certainty::No),
        Ok(_) | Err(Error::NoLattice) => Ok(Certainty::Undecided),
        Err(error) => Err(error),
    }
}

/// The posterior of the best epsilon; `None` where delta is nowhere below the probability.
fn bound(whole: &Whole, asked: Asked, digits: u32) -> Result<Option<Bound>> {
    let Some(epsilon) = best_epsilon(whole, asked)? else { return Ok(None) };
    let evaluator = whole.evaluator();
    let delta = delta_of(&evaluator, asked.direction, &epsilon, digits + MORE)?.upper().clone();
    let bits = BITS.max(4 * digits + 64);
    let share = Enclosure::new(delta.clone(), delta.clone()).div(&Enclosure::rational(asked.probability, bits));
    if *share.upper() >= 1 {
        return Ok(None);
    }
    // P[L > l] is at most the probability from exp(l) = exp(epsilon) / (1 - delta / probability) on.
    let ratio = Enclosure::rational(&epsilon, bits).exp().div(&Enclosure::double(1.0, bits).sub(&share));
    let with = ratio.mul(&Enclosure::rational(asked.prior, bits));
    let rest = Enclosure::rational(&Rational::from(1 - asked.prior), bits);
    // 1 / (1 + rest / with) rises with each of its parts, once.
    let one = Enclosure::double(1.0, bits);
    let posterior = one.div(&one.add(&rest.div(&with)));
    Ok(Some(Bound { epsilon, delta, posterior }))
}

/// About the epsilon with the least exp(epsilon) / (1 - delta(epsilon) / probability): as a function of exp(epsilon) that falls and rises once, because delta is
/// convex. Any epsilon proves a bound.
fn best_epsilon(whole: &Whole, asked: Asked) -> Result<Option<Rational>> {
    let evaluator = whole.evaluator();
    let ln_probability = libm::log(asked.probability.to_f64());
    let ln_ratio = |epsilon: f64| -> Result<f64> {
        let ln_delta = ln_delta_of(&evaluator, asked.direction, &rational::from_f64(epsilon)?)?;
        let share = libm::exp(ln_delta - ln_probability);
        Ok(if share < 1.0 { epsilon - libm::log1p(-share) } else { f64::INFINITY })
    };
    let mut start = 0.5;
    let mut high = loop {
        let end = ln_ratio(start)?;
        if end.is_finite() {
            break end.min(FAR);
        }
        if start >= FAR {
            return Ok(None);
        }
        start *= 2.0;
    };
    let mut low = 0.0;
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        let [left, right] = [ln_ratio(low + third)?, ln_ratio(high - third)?];
        if left.is_finite() && left <= right { high -= third } else { low += third }
    }
    // Where two losses are apart, the least is at a loss.
    let near = rational::from_f64(high)?;
    let mut all = vec![near.clone()];
    if let Whole::Composition(one) = whole
        && let Some(step) = one.loss().step()
    {
        let loss = one.loss().at_most(&(&near + Rational::from(step / 2_u32)));
        all.extend((loss >= 0).then_some(loss));
    }
    let mut best: Option<(f64, Rational)> = None;
    for epsilon in all {
        let ratio = ln_ratio(epsilon.to_f64())?;
        if ratio.is_finite() && best.as_ref().is_none_or(|(least, _)| ratio <= *least) {
            best = Some((ratio, epsilon));
        }
    }
    Ok(best.map(|(_, epsilon)| short(epsilon)))
}

/// An upper bound of an epsilon, with far fewer digits than those of a double, unless it has few.
fn short(epsilon: Rational) -> Rational {
    let scale = 1_u64 << 40;
    match epsilon.denom().significant_bits() <= 40 {
        true => epsilon,
        false => Rational::from((Rational::from(&epsilon * scale).ceil().into_numer_denom().0, scale)),
    }
}
