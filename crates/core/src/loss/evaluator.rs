//! The evaluator: answers requests about one sum or one family, and keeps what later requests can reuse.
//!
//! A [`LossSum`](super::sum::LossSum) and a [`Family`](super::family::Family) are plain values. An evaluator is made from one of them, answers any
//! number of requests, and is dropped. Its memory saves time only: the answer to a request is the same to the last digit for all requests
//! before it, and concurrently on other threads (see the documentation of `sieve`).
//!
//! One sum is answered by a contour or by enumeration, among other engines. The contour serves where all nodes of a period are quickly summed, or
//! where enumeration would take more losses than the contour takes nodes: many groups. Enumeration serves where groups are few or losses bounded,
//! because there the characteristic function does not decay and the contour has no end. Both costs are predicted. If an engine does not reach the
//! requested precision, another follows: both enclose the truth, and so does the intersection of their enclosures.
//!
//! The largest over a family is answered by the contour that all its pairs share. If that does not separate the largest from the others sharply
//! enough, the pairs that may attain it are answered one by one.

mod family;
mod profile;
mod sampled;
mod sum;
mod uniform;

use std::{slice, sync::Arc};

use rug::{Float, Rational, float::Round};

use super::{
    answer::{self, Answer, Pair},
    engine::{request::check_epsilon, session::Session},
    infinite::{InfiniteLoss, Target},
    limit::Limit,
    parameter::Delta,
    second::{Means, SecondEnclosure},
    stop::Stop,
    upper::{self, UpperProfile},
};
use crate::{
    error::{Error, Result},
    law::Direction,
    numeric::{Certainty, Enclosure, enclosure},
};
pub use family::{Above, FamilyEvaluator};
pub(crate) use profile::Profile;
pub use sampled::SampledEvaluator;
pub use sum::SumEvaluator;
pub(crate) use sum::Together;
pub use uniform::UniformEvaluator;

/// Answers requests about the hockey sticks of one sum, or about the largest over a family.
#[derive(Debug)]
pub enum Evaluator {
    /// The evaluator of one sum.
    Sum(Box<SumEvaluator>),
    /// The evaluator of a family: the largest over its units.
    Family(Box<FamilyEvaluator>),
    /// The evaluator of noise on Poisson samples: the larger of both directions.
    Sampled(Box<SampledEvaluator>),
    /// The evaluator of a sum with continuous Laplace noise, or mechanisms of bounded range.
    Uniform(Box<UniformEvaluator>),
    /// Any of these, beside outcomes that only one of two neighbors can have.
    Infinite(Box<Evaluator>, InfiniteLoss),
    /// Between that of a pair that is at least as private, and that of one that is at most as private.
    Between(Box<[Evaluator; 2]>),
    /// The evaluator of a sum whose losses are rounded up, all together by at most this much: between its hockey stick that much further, and here.
    Rounded(Box<SumEvaluator>, Rational),
    /// The largest of some, of which there is at least one.
    Largest(Vec<Evaluator>),
    /// The evaluator of pairs that are not symmetric: the larger of both directions, each of the whole composition.
    Directions(Box<DirectionsEvaluator>),
    /// A bound on the profiles of many pairs.
    AtMost(Arc<dyn UpperProfile>),
}

/// How requests for the same hockey stick differ: one alone, one where the complement of an answer close to 1 may be less precise, and one of many close to one
/// another.
#[derive(Clone, Copy)]
enum Asked {
    Alone,
    Delta,
    OfMany,
}

impl Evaluator {
    /// With infinite losses, if there are any, beside its own.
    pub(crate) fn beside(self, infinite: Option<InfiniteLoss>) -> Evaluator {
        match infinite {
            Some(infinite) => Evaluator::Infinite(Box::new(self), infinite),
            None => self,
        }
    }

    /// The parts that it is made of: what infinite losses are beside, both ends, or those of which it is the largest.
    pub(crate) fn parts(&self) -> &[Evaluator] {
        match self {
            Evaluator::Infinite(finite, _) => slice::from_ref(&**finite),
            Evaluator::Between(both) => &**both,
            Evaluator::Largest(all) => all,
            Evaluator::Directions(both) => &both.directions,
            Evaluator::Sum(_)
            | Evaluator::Rounded(..)
            | Evaluator::Sampled(_)
            | Evaluator::Uniform(_)
            | Evaluator::Family(_)
            | Evaluator::AtMost(_) => &[],
        }
    }

    /// Where the pair of neighbors is not symmetric: an answer from both directions, a record that is removed and one that is added. All else is about the
    /// larger of both.
    pub(crate) fn with_directions<T>(&self, answer: impl FnOnce([&Evaluator; 2]) -> Result<T>) -> Result<Option<T>> {
        match self {
            Evaluator::Sampled(both) if !both.is_of_one_direction() => {
                answer(both.directions().map(|one| Evaluator::Sampled(Box::new(one))).each_ref()).map(Some)
            }
            Evaluator::Directions(both) => answer(both.directions.each_ref()).map(Some),
            _ => Ok(None),
        }
    }

    /// An answer for one direction alone.
    pub fn of_direction<T>(
        &self,
        direction: Direction,
        answer: impl FnOnce(&Evaluator) -> Result<T>,
    ) -> Result<Option<T>> {
        self.with_directions(|both| answer(direction.pick(both)))
    }

    /// The probability of outcomes that the second hypothesis cannot have, of one direction; `None` where all losses are finite.
    pub(crate) fn infinite_mass(&self, digits: u32) -> Option<Enclosure> {
        match self {
            Evaluator::Infinite(_, infinite) => Some(infinite.mass(digits)),
            // Between that of one pair, or none, and that of the other.
            Evaluator::Between(both) => {
                let [below, above] = both.each_ref().map(|one| one.infinite_mass(digits));
                let above = above?;
                Some(below.unwrap_or_else(|| Enclosure::double(0.0, above.lower().prec())).hull(&above))
            }
            Evaluator::Directions(_) => None,
            _ => {
                let all = self.parts().iter().filter_map(|one| one.infinite_mass(digits));
                all.reduce(|most, next| most.max(&next))
            }
        }
    }

    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0: that of the sum, or the largest of the
    /// family. The relative width is at most 10^-digits unless `met` is false.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.answer(Asked::Alone, epsilon, digits)
    }

    /// The hockey stick where the complement of an answer close to 1 may be less precise.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.answer(Asked::Delta, epsilon, digits)
    }

    /// The hockey stick, quicker for many requests: requests close to one another share contours. The answers have other last digits, and do not depend on
    /// what else is requested.
    pub fn hockey_stick_of_many(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.answer(Asked::OfMany, epsilon, digits)
    }

    fn answer(&self, asked: Asked, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let of = |one: &Evaluator| one.answer(asked, epsilon, digits);
        match (self, asked) {
            (Evaluator::Infinite(finite, infinite), _) => Ok(of(finite)?.with_infinite_loss(infinite, digits)),
            (Evaluator::Between(both), _) => between(both, digits, of),
            (Evaluator::Directions(_) | Evaluator::Largest(_), _) => {
                largest(self.parts(), of, |most, next| answer::larger(most, next, digits))
            }
            (Evaluator::Sum(sum), Asked::Alone) => sum.hockey_stick(epsilon, digits),
            (Evaluator::Sum(sum), Asked::Delta) => sum.delta(epsilon, digits),
            (Evaluator::Sum(sum), Asked::OfMany) => sum.hockey_stick_of_many(epsilon, digits),
            // L <= L_up <= L + by: (1 - exp(eps + by - L_up))_+ <= (1 - exp(eps - L))_+ <= (1 - exp(eps - L_up))_+.
            (Evaluator::Rounded(sum, by), _) => {
                let of = |epsilon: &Rational| match asked {
                    Asked::Alone => sum.hockey_stick(epsilon, digits),
                    Asked::Delta => sum.delta(epsilon, digits),
                    Asked::OfMany => sum.hockey_stick_of_many(epsilon, digits),
                };
                answer::between(of(&Rational::from(epsilon + by))?, of(epsilon)?, digits)
            }
            (Evaluator::Family(family), Asked::OfMany) => family.hockey_stick_of_many(epsilon, digits),
            (Evaluator::Family(family), _) => family.hockey_stick(epsilon, digits),
            (Evaluator::Sampled(sampled), _) => sampled.hockey_stick(epsilon, digits),
            (Evaluator::Uniform(uniform), _) => uniform.hockey_stick(epsilon, digits),
            (Evaluator::AtMost(bound), _) => Ok(upper::answer(bound.hockey_stick(epsilon)?, bound.proof(), digits)),
        }
    }

    /// Whether the hockey-stick divergence is at most delta, by an enclosure to this number of digits. Exactly delta is decided too, where delta is the probability of an
    /// infinite loss as an exact fraction and no finite loss exceeds epsilon.
    pub(crate) fn is_at_most(&self, epsilon: &Rational, delta: &Delta, digits: u32) -> Result<Certainty> {
        match self {
            // delta(epsilon) = (1 - s) + s delta'(epsilon) <= delta if and only if delta'(epsilon) is at most the target.
            Evaluator::Infinite(finite, infinite) => match infinite.target(delta, digits) {
                Ok(Target::At(target)) => finite.is_at_most(epsilon, &target, digits),
                Ok(Target::Zero) => Ok(finite.hockey_stick(epsilon, digits)?.value.at_most(&Rational::new())),
                Err(Error::InfiniteLoss { .. }) => Ok(Certainty::No),
                Ok(Target::Between { .. }) | Err(Error::Undecided { .. }) => {
                    Ok(self.hockey_stick(epsilon, digits)?.value.at_most(delta))
                }
                Err(error) => Err(error),
            },
            // That of the first <= delta(epsilon) <= that of the second.
            Evaluator::Between(both) => {
                let [below, above] = &**both;
                Ok(match above.is_at_most(epsilon, delta, digits)? {
                    Certainty::Yes => Certainty::Yes,
                    _ if below.is_at_most(epsilon, delta, digits)? == Certainty::No => Certainty::No,
                    _ => Certainty::Undecided,
                })
            }
            Evaluator::Rounded(sum, by) => {
                let of = |epsilon: &Rational| -> Result<Certainty> {
                    Ok(sum.hockey_stick(epsilon, digits)?.value.at_most(delta))
                };
                Ok(match of(epsilon)? {
                    Certainty::Yes => Certainty::Yes,
                    _ if of(&Rational::from(epsilon + by))? == Certainty::No => Certainty::No,
                    _ => Certainty::Undecided,
                })
            }
            Evaluator::Directions(_) | Evaluator::Largest(_) => {
                let mut every = Certainty::Yes;
                for one in self.parts() {
                    match one.is_at_most(epsilon, delta, digits)? {
                        Certainty::No => return Ok(Certainty::No),
                        Certainty::Undecided => every = Certainty::Undecided,
                        Certainty::Yes => {}
                    }
                }
                Ok(every)
            }
            _ => Ok(self.hockey_stick(epsilon, digits)?.value.at_most(delta)),
        }
    }

    /// Whether its second enclosures bound from below: those of noise on samples do not.
    pub(crate) fn has_second_lower_bounds(&self) -> bool {
        !matches!(self, Evaluator::Sampled(_)) && self.parts().iter().all(Evaluator::has_second_lower_bounds)
    }

    /// Whether some outcomes are possible for one of two neighbors only.
    fn has_infinite_loss(&self) -> bool {
        matches!(self, Evaluator::Infinite(..)) || self.parts().iter().any(Evaluator::has_infinite_loss)
    }

    /// The hockey stick by a method that shares no code with the engines that certify it: to a few digits, or fewer than one. `leader`: of a family, a unit
    /// that attains the largest as far as is known.
    pub fn second_hockey_stick(&self, epsilon: &Rational, leader: Option<Pair>) -> Result<SecondEnclosure> {
        check_epsilon(epsilon)?;
        let of = |one: &Evaluator| one.second_hockey_stick(epsilon, leader);
        match self {
            Evaluator::Infinite(finite, infinite) => Ok(of(finite)?.with_infinite_loss(infinite)),
            Evaluator::Between(both) => {
                let [below, above] = both.each_ref().map(of);
                Ok(below?.or(above?))
            }
            Evaluator::Directions(_) | Evaluator::Largest(_) => largest(self.parts(), of, SecondEnclosure::larger),
            Evaluator::Sum(sum) => sum.second_hockey_stick(epsilon),
            Evaluator::Rounded(sum, by) => {
                let further = sum.second_hockey_stick(&Rational::from(epsilon + by))?;
                Ok(further.or(sum.second_hockey_stick(epsilon)?))
            }
            Evaluator::Sampled(sampled) => sampled.second_hockey_stick(epsilon),
            Evaluator::Uniform(uniform) => uniform.second_hockey_stick(epsilon),
            Evaluator::Family(family) => family.second_hockey_stick(epsilon, leader.unwrap_or_default()),
            Evaluator::AtMost(_) => Ok(SecondEnclosure::trivial()),
        }
    }

    /// The trade-off function by the same means, for 0 <= alpha <= 1. `leader`: of a family, a unit whose own is the least as far as is known.
    pub fn second_tradeoff(&self, alpha: &Rational, leader: Option<Pair>) -> Result<SecondEnclosure> {
        match self {
            Evaluator::Infinite(finite, infinite) => second_tradeoff(finite, infinite, alpha, leader),
            Evaluator::Between(both) => {
                let [below, above] = both.each_ref().map(|one| one.second_tradeoff(alpha, leader));
                Ok(below?.or(above?))
            }
            Evaluator::Directions(both) => both.second_tradeoff(alpha),
            // Of a part of a pair that is not symmetric, of which no trade-off function is requested, and of a bound from above.
            Evaluator::Largest(_) | Evaluator::AtMost(_) => Ok(SecondEnclosure::trivial_tradeoff(alpha)),
            Evaluator::Sum(sum) => sum.second_tradeoff(alpha),
            // No trade-off function is requested of one direction of a pair.
            Evaluator::Rounded(..) => Ok(SecondEnclosure::trivial_tradeoff(alpha)),
            Evaluator::Sampled(sampled) => sampled.second_tradeoff(alpha),
            Evaluator::Uniform(uniform) => uniform.second_tradeoff(alpha),
            Evaluator::Family(family) => family.second_tradeoff(alpha, leader.unwrap_or_default()),
        }
    }

    /// The logarithm of the hockey stick in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        let of = |one: &Evaluator| one.ln_hockey_stick_approx(epsilon);
        match self {
            Evaluator::Infinite(finite, infinite) => Ok(infinite.ln_approx(of(finite)?)),
            Evaluator::Between(both) => of(&both[1]),
            Evaluator::Directions(_) | Evaluator::Largest(_) => largest(self.parts(), of, f64::max),
            Evaluator::Sum(sum) | Evaluator::Rounded(sum, _) => sum.ln_hockey_stick_approx(epsilon),
            Evaluator::Sampled(sampled) => sampled.ln_hockey_stick_near(epsilon, None),
            Evaluator::Uniform(uniform) => uniform.ln_hockey_stick_near(epsilon, None),
            Evaluator::Family(family) => family.ln_hockey_stick_approx(epsilon),
            Evaluator::AtMost(bound) => Ok(bound.ln_approx(epsilon)),
        }
    }
}

/// Both directions of a pair that is not symmetric: a record that is removed, and one that is added.
pub(crate) struct Ways<'a> {
    /// For each choice of laws that the data can make; one where they choose nothing.
    pub(crate) all: Vec<[&'a Evaluator; 2]>,
    /// Of a pair that is at most as private as those of all choices, where `all` are not all.
    pub(crate) dominating: Option<[&'a Evaluator; 2]>,
}

impl<'a> Ways<'a> {
    /// Those of which both directions are made.
    pub(crate) fn of(both: [&'a Evaluator; 2]) -> Self {
        let (most, dominating) = match both {
            [Evaluator::Between(remove), Evaluator::Between(add)] if matches!(remove[0], Evaluator::Largest(_)) => {
                ([&remove[0], &add[0]], Some([&remove[1], &add[1]]))
            }
            both => (both, None),
        };
        let all = match most {
            [Evaluator::Largest(remove), Evaluator::Largest(add)] => {
                remove.iter().zip(add).map(|(remove, add)| [remove, add]).collect()
            }
            both => vec![both],
        };
        Ways { all, dominating }
    }
}

/// Answers requests about a composition in both directions: where a record is removed, and where it is added.
#[derive(Debug)]
pub struct DirectionsEvaluator {
    directions: [Evaluator; 2],
    /// Mean and standard deviation of the loss of a removed record, in doubles: for searches.
    mean_and_deviation_approx: (f64, f64),
    stop: Stop,
}

impl DirectionsEvaluator {
    /// The evaluator of these directions of one composition.
    pub(crate) fn new(directions: [Evaluator; 2], mean_and_deviation_approx: (f64, f64), stop: &Stop) -> Self {
        DirectionsEvaluator { directions, mean_and_deviation_approx, stop: stop.clone() }
    }
}

impl Profile for DirectionsEvaluator {
    fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let of = |one: &Evaluator| one.hockey_stick(epsilon, digits);
        largest(&self.directions, of, |remove, add| answer::larger(remove, add, digits))
    }

    fn ln_hockey_stick_near(&self, epsilon: &Rational, _: Option<f64>) -> Result<f64> {
        largest(&self.directions, |one| one.ln_hockey_stick_approx(epsilon), f64::max)
    }

    fn mean_and_deviation_approx(&self) -> (f64, f64) {
        self.mean_and_deviation_approx
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        let of = |one: &Evaluator| one.second_hockey_stick(epsilon, None);
        largest(&self.directions, of, SecondEnclosure::larger)
    }

    /// Bounded below by lines: with the larger delta of both directions, f(alpha) is at least 1 - delta - exp(eps) alpha and exp(-eps) (1 - delta - alpha)
    /// for eps >= 0. Bounded above by that of perfect privacy.
    fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        const BITS: u32 = 64;
        const SLOPES: [(u32, u32); 6] = [(0, 1), (1, 4), (1, 1), (2, 1), (4, 1), (8, 1)];
        // Where only one hypothesis can have some outcomes, f(0) is below one.
        if let Some(known) = SecondEnclosure::at_ends(alpha)?
            && (*alpha == 1 || !self.directions.iter().any(Evaluator::has_infinite_loss))
        {
            return Ok(known);
        }
        let trivial = SecondEnclosure::trivial_tradeoff(alpha);
        let mut lower = Float::new(BITS);
        for epsilon in SLOPES.map(Rational::from) {
            let exp = Enclosure::rational(&epsilon, BITS).exp();
            let rest = Enclosure::double(1.0, BITS).sub(&self.second_hockey_stick(&epsilon)?.value);
            let alpha = Enclosure::rational(alpha, BITS);
            for line in [rest.sub(&exp.mul(&alpha)), rest.sub(&alpha).div(&exp)] {
                lower = enclosure::larger(&lower, line.lower());
            }
        }
        let lower = Float::with_val_round(BITS, lower, Round::Down).0;
        let note = Some("for pairs that are not symmetric these means bound from one side only");
        Ok(SecondEnclosure { value: Enclosure::new(lower, trivial.value.upper().clone()), by: Means::Moments, note })
    }
}

/// Between that of a pair that is at least as private, and that of one that is at most as private; from zero where the first is beyond reach and the second a bound.
fn between(both: &[Evaluator; 2], digits: u32, of: impl Fn(&Evaluator) -> Result<Answer>) -> Result<Answer> {
    let [below, above] = both;
    match (of(below), above) {
        (Err(error), Evaluator::AtMost(_)) if error.is_beyond_reach() => {
            let above = of(above)?;
            // 0 <= delta.
            Ok(Answer { value: above.value.hull(&Enclosure::double(0.0, 64)), met: false, ..above })
        }
        (own, _) => answer::between(own?, of(above)?, digits),
    }
}

/// The largest of the answers of some, of which there is at least one.
fn largest<T>(all: &[Evaluator], of: impl Fn(&Evaluator) -> Result<T>, larger: impl Fn(T, T) -> T) -> Result<T> {
    all[1..].iter().try_fold(of(&all[0])?, |most, next| Ok(larger(most, of(next)?)))
}

/// f(alpha) = s f'(alpha / s) by the second enclosures of f', which falls.
fn second_tradeoff(
    finite: &Evaluator,
    infinite: &InfiniteLoss,
    alpha: &Rational,
    leader: Option<Pair>,
) -> Result<SecondEnclosure> {
    const DIGITS: u32 = 15;
    let Some([least, most]) = infinite.alpha(alpha, DIGITS) else {
        return Ok(SecondEnclosure { value: Enclosure::double(0.0, 64), by: Means::Closed, note: None });
    };
    let of_most = finite.second_tradeoff(&most, leader)?;
    let of_least = if least == most { of_most.clone() } else { finite.second_tradeoff(&least, leader)? };
    let value = infinite.tradeoff(&of_most.value.hull(&of_least.value), DIGITS);
    Ok(SecondEnclosure { value, ..of_most })
}

#[cfg(test)]
mod tests;
