//! Upper bounds on the risk from any adversary with any side knowledge, from the exact privacy of a release.
//!
//! Given the outputs, an adversary decides whether the target is in the data; their prior probability for it is p. Let
//! P be the law of the outputs with the target and Q without. The decision "yes" on an event S is correct with
//! probability p P(S) + (1 - p) (1 - Q(S)), which is 1 - ((1 - p) alpha + p beta) with alpha = Q(S) and beta = 1 -
//! P(S). Its maximum over all S is
//!
//! 1 - min over alpha of [(1 - p) alpha + p f(alpha)] = (1 - p) + p sup_S [P(S) - ((1 - p) / p) Q(S)]
//!
//! with f the trade-off function. For p <= 1/2 the supremum is delta(ln((1 - p) / p)), a point of the privacy profile of P against Q: a record that is
//! removed. For p > 1/2 exchange P and Q: a record that is added. So every prior has
//!
//! most correct = max(p, 1 - p) + min(p, 1 - p) delta(|ln(p / (1 - p))|)
//!
//! with the profile of that direction; a symmetric pair has only one. Where one of two values of a record is decided, either of both can be the first, and
//! the larger profile counts.
//!
//! The adversary who knows everything but the target and computes the posterior attains it. At p = 1/2 it is (1 +
//! advantage) / 2; the advantage is delta(0), the total variation distance of P and Q.
//!
//! The posterior odds after an output are the prior odds times exp(L). Gaussian noise leaves L unbounded, so no
//! posterior below 1 holds for every output. Two bounds with exceptions remain. With epsilon the exact value at delta,
//! P(S) - delta <= e^epsilon Q(S) for every event S: once delta is subtracted from its probability, no event lifts the posterior above p e^epsilon /
//! (1 - p + p e^epsilon). This says nothing about single outputs, because delta may be a part of the probability of each: the outputs whose
//! posterior is larger can have a probability well above delta. The second bound is about them: the posterior that is exceeded with probability at
//! most delta, from the tail of L.

use std::{cell::Cell, cmp::Ordering};

use rug::{Float, Rational, float::Round};

use super::{check_prior, odds};
use crate::{
    account::{
        Account, Answer, Composition, Delta, Rho,
        compared::{Conversion, pure_epsilon},
        conversions,
    },
    error::{Error, Result},
    law::Direction,
    loss::{evaluator::Evaluator, infinite::Target},
    numeric::{Certainty, Enclosure, enclosure, precision::bits, rational},
    release::Neighbors,
};

/// Upper bounds on the risk from any adversary.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The largest probability of a correct decision; for a family of pairs, with the pair that attains it.
    pub correct: Answer,
    /// The same from (epsilon, delta) alone, with the exact epsilon.
    pub correct_by_epsilon: Enclosure,
    /// The same from rho alone: with [`conversions::zcdp_hockey_stick`] in place of the profile.
    pub correct_by_zcdp: Enclosure,
    /// The same from the single pair (epsilon, delta) that zCDP implies: much larger than the bound from rho.
    pub correct_by_zcdp_pair: Enclosure,
    /// The total variation distance.
    pub advantage: Enclosure,
    /// The same from rho alone: [`conversions::zcdp_total_variation`]; where some losses are infinite, by
    /// [`conversions::kl_total_variation`] of the others.
    pub advantage_by_zcdp: Enclosure,
    /// The largest posterior of events, once delta is subtracted from their probability, with the exact epsilon.
    pub posterior: Enclosure,
    /// The same with the epsilon that zCDP implies.
    pub posterior_by_zcdp: Enclosure,
    /// Bounds from pure DP alone; `None` if losses are unbounded.
    pub pure: Option<PureBound>,
    /// The exact epsilon at delta.
    pub epsilon: Enclosure,
    /// The epsilon at delta that zCDP implies (Bun & Steinke 2016, Proposition 1.3).
    pub zcdp_epsilon: Enclosure,
}

/// Upper bounds that pure DP implies.
#[derive(Clone, Debug)]
pub struct PureBound {
    /// The largest loss.
    pub epsilon: Enclosure,
    /// The largest probability of a correct decision.
    pub correct: Enclosure,
    /// The largest total variation distance, (e^epsilon - 1) / (e^epsilon + 1).
    pub advantage: Enclosure,
    /// The largest posterior, after any output.
    pub posterior: Enclosure,
}

impl PureBound {
    fn of(account: &impl Account, prior: &Rational, digits: u32) -> Result<Option<PureBound>> {
        let Some(epsilon) = pure_epsilon(account)? else { return Ok(None) };
        let epsilon = Enclosure::rational(&epsilon, bits(digits, 64));
        let none = Rational::new();
        let advantage = advantage_of(&most_correct_by_pair(&epsilon, &none, &Rational::from((1, 2))));
        Ok(Some(PureBound {
            correct: most_correct_by_pair(&epsilon, &none, prior),
            posterior: posterior_at(prior, &epsilon),
            advantage,
            epsilon,
        }))
    }
}

/// Results of an earlier query of the same account with the same digits: epsilon does not depend on the prior, and the
/// correct decision does not depend on delta.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The exact epsilon at the same delta.
    pub epsilon: Option<Enclosure>,
    /// The largest probability of a correct decision at the same prior.
    pub correct: Option<Answer>,
    /// The total variation distance.
    pub advantage: Option<Enclosure>,
}

/// All bounds for an adversary with this prior; bounds on the posterior of events once delta is subtracted from their probability.
pub fn bound(
    account: &impl Account,
    prior: &Rational,
    neighbors: Neighbors,
    delta: &Delta,
    digits: u32,
) -> Result<Bound> {
    bound_knowing(account, prior, neighbors, delta, digits, Known::default())
}

/// As [`bound`], with some of the results known.
pub fn bound_knowing(
    account: &impl Account,
    prior: &Rational,
    neighbors: Neighbors,
    delta: &Delta,
    digits: u32,
    known: Known,
) -> Result<Bound> {
    check_prior(prior)?;
    let epsilon = known.epsilon.map_or_else(|| account.epsilon(delta, digits).map(|answer| answer.value), Ok)?;
    let distance = || account.delta(Rational::new(), digits).map(|answer| answer.value);
    let infinite = account.infinite_loss();
    let zcdp_epsilon = Conversion::BunSteinke.epsilon(account, delta, digits + 4)?;
    let zcdp_epsilon = zcdp_epsilon.ok_or(Error::Unbounded { what: "the epsilon that rho gives at this delta" })?;
    let rho = account.rho();
    let with_infinite = |finite: Enclosure| match &infinite {
        Some(infinite) => infinite.delta(&finite, digits + 4),
        None => finite,
    };
    // rho of finite losses bounds one direction alone: outputs that one data set cannot have are left out of the other law.
    let by_rho = match &infinite {
        None => conversions::zcdp_total_variation(&rho, digits + 4),
        Some(_) => conversions::kl_total_variation(&rho, digits + 4),
    };
    Ok(Bound {
        correct: known.correct.map_or_else(|| most_correct(account, prior, neighbors, digits), Ok)?,
        correct_by_epsilon: most_correct_by_epsilon(&epsilon, delta, prior),
        correct_by_zcdp: most_correct_by(prior, digits, |ln_odds| {
            Ok(with_infinite(conversions::zcdp_hockey_stick(&rho, &by_rho, ln_odds, digits + 4)?))
        })?,
        correct_by_zcdp_pair: most_correct_by_epsilon(&zcdp_epsilon, delta, prior),
        advantage: known.advantage.map_or_else(distance, Ok)?,
        advantage_by_zcdp: with_infinite(by_rho.clone()),
        posterior: posterior_at(prior, &epsilon),
        posterior_by_zcdp: posterior_at(prior, &zcdp_epsilon),
        pure: PureBound::of(account, prior, digits)?,
        epsilon,
        zcdp_epsilon,
    })
}

/// The largest probability of a correct decision of any adversary with this prior: max(p, 1 - p) + min(p, 1 - p)
/// delta(|ln(p / (1 - p))|), with the profile of the direction that decides ([`deciding_direction`]).
pub fn most_correct(account: &impl Account, prior: &Rational, neighbors: Neighbors, digits: u32) -> Result<Answer> {
    check_prior(prior)?;
    let (larger, smaller) = both_ways(prior);
    let bits = bits(digits, 64);
    let ln = ln_odds(&larger, &smaller, bits + 32);
    let end = |end: Option<Rational>| {
        end.map(|end| end.max(Rational::new())).ok_or(Error::Unbounded { what: "the prior's odds" })
    };
    // delta falls: its value at ln lies between its values at the ends of an enclosure of ln.
    let (low, high) = (end(ln.lower_rational())?, end(ln.upper_rational())?);
    let direction = deciding_direction(prior, neighbors);
    let from_above = delta_of(account, direction, &low, digits)?;
    let delta = if low == high {
        from_above.value
    } else {
        from_above.value.hull(&delta_of(account, direction, &high, digits)?.value)
    };
    let bits = bits.max(delta.lower().prec());
    let value =
        Enclosure::rational(&larger, bits).add(&Enclosure::rational(&smaller, bits).mul(&delta)).clamp(0.0, 1.0);
    Ok(Answer { met: value.is_tight(digits), value, proof: from_above.proof })
}

/// The direction whose profile has the largest probability of a correct decision, where the pair of neighbors is not symmetric; `None` where it is the
/// larger of both.
///
/// With p < 1/2 the adversary says "no" but on an event S, and gains p P(S) - (1 - p) Q(S): a record that is removed. With p > 1/2 they say "yes" but on an
/// event S, and gain (1 - p) Q(S) - p P(S): a record that is added. At p = 1/2 both are the same. Where the record has one of two values, either may be
/// the first.
pub fn deciding_direction(prior: &Rational, neighbors: Neighbors) -> Option<Direction> {
    match (neighbors, prior.cmp(&Rational::from((1, 2)))) {
        (Neighbors::Bounded, _) | (Neighbors::AddRemove, Ordering::Equal) => None,
        (Neighbors::AddRemove, Ordering::Less) => Some(Direction::Remove),
        (Neighbors::AddRemove, Ordering::Greater) => Some(Direction::Add),
    }
}

/// delta(epsilon) of one direction, or the larger of both.
fn delta_of(account: &impl Account, direction: Option<Direction>, epsilon: &Rational, digits: u32) -> Result<Answer> {
    let of_one = |direction: Direction| {
        let evaluator = account.evaluator();
        evaluator.of_direction(direction, |one| account.delta_by(one, epsilon, digits))
    };
    match direction.map(of_one).transpose()?.flatten() {
        Some(answer) => Ok(answer),
        None => account.delta(epsilon, digits),
    }
}

/// max(p, 1 - p) and min(p, 1 - p).
fn both_ways(prior: &Rational) -> (Rational, Rational) {
    let rest = Rational::from(1 - prior);
    if *prior > rest { (prior.clone(), rest) } else { (rest, prior.clone()) }
}

fn ln_odds(larger: &Rational, smaller: &Rational, bits: u32) -> Enclosure {
    Enclosure::rational(&Rational::from(larger / smaller), bits).ln()
}

/// The largest probability of a correct decision that rho-zCDP alone allows: as [`most_correct`], with the bound on
/// delta that follows from rho. The result encloses that bound.
pub fn most_correct_by_rho(rho: &Rho, prior: &Rational, digits: u32) -> Result<Enclosure> {
    let distance = conversions::zcdp_total_variation(rho, digits + 4);
    most_correct_by(prior, digits, |ln_odds| conversions::zcdp_hockey_stick(rho, &distance, ln_odds, digits + 4))
}

/// The same for any bound on the profile at ln of the odds.
fn most_correct_by(
    prior: &Rational,
    digits: u32,
    profile: impl Fn(&Enclosure) -> Result<Enclosure>,
) -> Result<Enclosure> {
    check_prior(prior)?;
    let (larger, smaller) = both_ways(prior);
    let bits = bits(digits, 64);
    let delta = profile(&ln_odds(&larger, &smaller, bits + 32))?;
    Ok(Enclosure::rational(&larger, bits).add(&Enclosure::rational(&smaller, bits).mul(&delta)).clamp(0.0, 1.0))
}

/// The largest probability of a correct decision that (epsilon, delta) alone allows, from its trade-off function max(0,
/// 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)). Its corners are at alpha = 0, 1 - delta and (1 -
/// delta) / (1 + e^epsilon).
pub fn most_correct_by_epsilon(epsilon: &Enclosure, delta: &Delta, prior: &Rational) -> Enclosure {
    most_correct_by_pair(epsilon, delta, prior)
}

/// The same, also for delta = 0.
fn most_correct_by_pair(epsilon: &Enclosure, delta: &Rational, prior: &Rational) -> Enclosure {
    let bits = epsilon.lower().prec().max(64) + 64;
    let real = |x: &Rational| Enclosure::rational(x, bits);
    let one = Enclosure::double(1.0, bits);
    let rest = real(&Rational::from(1 - delta));
    let corner = rest.div(&one.add(&epsilon.exp()));
    // p f + (1 - p) alpha is linear between the corners, so its minimum is at one of them.
    let ends = [rest.mul(&real(prior)), rest.mul(&real(&Rational::from(1 - prior)))];
    let least = ends.iter().fold(corner, |least, end| smaller(&least, end));
    one.sub(&least).clamp(0.0, 1.0)
}

fn smaller(a: &Enclosure, b: &Enclosure) -> Enclosure {
    a.clone().negate().max(&b.clone().negate()).negate()
}

/// 2 correct - 1, for the probability of a correct decision at prior 1/2.
fn advantage_of(correct: &Enclosure) -> Enclosure {
    let bits = correct.lower().prec();
    correct.mul(&Enclosure::double(2.0, bits)).sub(&Enclosure::double(1.0, bits)).clamp(0.0, 1.0)
}

/// p e^epsilon / (1 - p + p e^epsilon).
pub fn posterior_at(prior: &Rational, epsilon: &Enclosure) -> Enclosure {
    let bits = epsilon.lower().prec().max(64) + 64;
    let widened = epsilon.add(&Enclosure::double(0.0, bits));
    let odds = Enclosure::rational(&odds(prior), bits).mul(&widened.exp());
    Enclosure::double(1.0, bits).add(&odds.recip()).recip()
}

/// An epsilon that the privacy loss exceeds with probability at most delta, whether or not the target is in the data:
/// `P[L > epsilon] <= delta`, proven.
///
/// `P[L > epsilon]` is the larger of the two probabilities: `Q[L > epsilon] = E_P[exp(-L); L > epsilon]` is at most
/// exp(-epsilon) times it. If the losses lie on a lattice whose tail can be computed, the tail gives epsilon. Otherwise
/// a later point of the profile gives a bound, and so does zCDP; `exact` is the epsilon at delta.
pub fn exceeded_epsilon(
    account: &impl Account,
    losses: Option<&Composition>,
    delta: &Delta,
    exact: &Enclosure,
) -> Result<Exceeded> {
    // Given that no loss is infinite, the loss exceeds the result with at most the probability that is left of delta.
    let infinite = account.infinite_loss();
    let delta = &match infinite.as_ref().map(|infinite| infinite.target(delta, 12)).transpose()? {
        None => delta.clone(),
        Some(Target::At(delta) | Target::Between { least: delta, .. }) => delta,
        Some(Target::Zero) => return Ok(Exceeded { epsilon: exact.upper().clone(), by_tail: false, is_least: false }),
    };
    if let Some(composition) = losses {
        match by_tail(composition, delta) {
            Err(Error::NoLattice) => {}
            Err(error) if error.is_beyond_reach() => {}
            other => return other,
        }
    }
    // Markov's inequality for exp(s L) with ln E[exp(s L)] <= rho (s + s^2), at the best s:
    // P[L > epsilon] <= exp(-(epsilon - rho)^2 / (4 rho)) = delta.
    let rho = account.rho();
    let mut epsilon = conversions::zcdp_epsilon(&rho, delta, 20).upper().clone();
    // (1 - exp(e - epsilon)) P[L > epsilon] <= delta(e) for e < epsilon, so P is at most delta for epsilon = e - ln(1 -
    // delta(e) / delta). At delta(e) = delta / 4, about, both terms have similar size. There the profile falls by
    // exp(-c) per unit, c = (epsilon - rho) / (2 rho).
    let near = exact.upper().to_f64();
    let fall = ((near - rho.to_f64()) / (2.0 * rho.to_f64())).max(0.05);
    let later = rational::from_f64(near + 4_f64.ln() / fall)?;
    let at_later = match account.evaluator() {
        Evaluator::Infinite(finite, _) => finite.delta(&later, 6)?,
        _ => account.delta(&later, 6)?,
    };
    let ratio = at_later.value.div(&Enclosure::rational(delta, 64));
    if *ratio.upper() < 1 {
        let rest = Enclosure::double(1.0, 64).sub(&ratio);
        let by_profile = Enclosure::rational(&later, 64).sub(&rest.ln());
        epsilon = enclosure::smaller(&epsilon, by_profile.upper());
    }
    Ok(Exceeded { epsilon, by_tail: false, is_least: false })
}

/// An epsilon with `P[L > epsilon] <= delta`.
#[derive(Clone, Debug)]
pub struct Exceeded {
    /// The epsilon, in nats.
    pub epsilon: Float,
    /// Whether it comes from the tail itself; otherwise from the profile or zCDP.
    pub by_tail: bool,
    /// Whether it is proven that no smaller loss satisfies the inequality.
    pub is_least: bool,
}

/// The least lattice loss l with `P[L > l] <= delta`.
fn by_tail(composition: &Composition, delta: &Delta) -> Result<Exceeded> {
    // Of losses that are rounded up the tail is no bound: their masses are moved as well. Pairs that are not symmetric have other losses.
    if composition.below().is_some() || !composition.is_symmetric() {
        return Err(Error::NoLattice);
    }
    let loss = composition.loss();
    let evaluator = composition.loss_evaluator();
    // Where every common output is equally likely for both neighbors, there is no lattice: the one finite loss is zero.
    let step = loss.step().filter(|_| !loss.groups().is_empty()).ok_or(Error::NoLattice)?;
    let certainty = |l: &Rational| -> Result<Certainty> {
        for digits in [6, 12, 24] {
            let tail = evaluator.upper_tail(&loss.above(l), digits)?.value;
            match tail.at_most(delta) {
                Certainty::Undecided => {}
                decided => return Ok(decided),
            }
        }
        Ok(Certainty::Undecided)
    };
    // An undecided point counts as not satisfying the inequality: the result still satisfies it, but is not proven to
    // be the least.
    let is_least = Cell::new(true);
    let holds = |l: &Rational| -> Result<bool> {
        let certainty = certainty(l)?;
        if certainty == Certainty::Undecided {
            is_least.set(false);
        }
        Ok(certainty == Certainty::Yes)
    };
    // L is sub-Gaussian about rho with variance proxy 2 rho: at rho + 2 sqrt(rho ln(1 / delta)) the tail is below delta.
    let ceiling = conversions::zcdp_epsilon(composition.rho(), delta, 15).upper().to_f64().next_up();
    let (mut below, mut at) =
        (loss.at_most(&-Rational::from(composition.rho().clone())), loss.above(&rational::from_f64(ceiling)?));
    // Far below, the tail is close to 1; a delta close to 1 may exceed it.
    let mut is_bracketed = false;
    for _ in 0..60 {
        if !holds(&below)? {
            is_bracketed = true;
            break;
        }
        at = below.clone();
        below = loss.at_most(&(Rational::from(&below * 2_u32) - step));
    }
    while Rational::from(&at - &below) > *step {
        let middle = loss.at_most(&(Rational::from(&at + &below) / 2_u32));
        if holds(&middle)? { at = middle } else { below = middle }
    }
    // If the bisection never evaluates `at` itself, the result is the ceiling, which the zCDP bound proves.
    let epsilon = Float::with_val_round(128, &at, Round::Up).0;
    Ok(Exceeded { epsilon, by_tail: true, is_least: is_least.get() && is_bracketed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{account::Counts, numbers::number};

    /// For a delta closer to a tail than the digits computed resolve, the loss satisfies the inequality but is not
    /// proven to be the least.
    #[test]
    fn an_undecided_tail_is_not_reported_as_least() {
        let counts: Counts = "5x3".parse().unwrap();
        let composition = Composition::new([counts]).unwrap();
        let loss = composition.loss();
        let exact = Enclosure::double(4.0, 64);
        let of = |delta: &Rational| by_tail(&composition, &Delta::new(delta.clone()).unwrap()).unwrap();
        let plain = of(&number("0.001"));
        assert!(plain.by_tail && plain.is_least);
        let at = loss.at_most(&number("2"));
        let tail = composition.loss_evaluator().upper_tail(&loss.above(&at), 60).unwrap().value;
        let between = (tail.lower_rational().unwrap() + tail.upper_rational().unwrap()) / 2_u32;
        let next_to = of(&between);
        assert!(next_to.by_tail && !next_to.is_least && next_to.epsilon > at, "{next_to:?}");
        let other = exceeded_epsilon(&composition, None, &"0.001".parse().unwrap(), &exact).unwrap();
        assert!(!other.by_tail && !other.is_least);
    }
}
