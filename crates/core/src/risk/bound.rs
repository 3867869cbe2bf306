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
//! The posterior after events and of single outputs: [`events`](super::events), [`outputs`](super::outputs).

use std::cmp::Ordering;

use rug::Rational;

pub use super::posterior_at;
use super::{
    check_prior,
    events::{posterior_by_rho, posterior_of_events},
};
use crate::{
    account::{
        Account, Answer, Delta, Rho,
        compared::{Conversion, pure_epsilon},
        conversions,
    },
    error::{Error, Result},
    law::Direction,
    numeric::{Enclosure, precision::bits},
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
    /// The largest posterior after any event that has at least probability delta if it is true that the record is there, or that it is not.
    pub posterior_of_events: Answer,
    /// The same from rho alone.
    pub posterior_by_zcdp: Enclosure,
    /// The posterior that outputs exceed with probability at most delta, from rho alone; 1 where some losses are infinite, of which rho says nothing.
    pub posterior_of_outputs_by_zcdp: Enclosure,
    /// Bounds from pure DP alone; `None` if losses are unbounded.
    pub pure: Option<PureBound>,
    /// The exact epsilon at delta; infinite where none is finite.
    pub epsilon: Enclosure,
    /// The epsilon at delta that zCDP implies (Bun & Steinke 2016, Proposition 1.3); infinite where none is finite.
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
    fn of_account(account: &impl Account, prior: &Rational, digits: u32) -> Result<Option<PureBound>> {
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

/// All bounds for an adversary with this prior; bounds on the posterior after events of at least probability delta.
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
    let epsilon = known.epsilon.map_or_else(|| finite_or_none(account.epsilon(delta, digits)), Ok)?;
    let distance = || account.delta(Rational::new(), digits).map(|answer| answer.value);
    let infinite = account.infinite_loss();
    let zcdp_epsilon = match Conversion::BunSteinke.epsilon(account, delta, digits + 4) {
        Ok(Some(epsilon)) => epsilon,
        Ok(None) | Err(Error::InfiniteLoss { .. }) => none_finite(),
        Err(error) => return Err(error),
    };
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
        posterior_of_events: posterior_of_events(account, prior, delta, digits)?,
        posterior_by_zcdp: posterior_by_rho((&rho, &by_rho), infinite.as_ref(), prior, delta, digits)?,
        posterior_of_outputs_by_zcdp: match &infinite {
            None => posterior_at(prior, &zcdp_epsilon),
            Some(_) => Enclosure::double(1.0, 64),
        },
        pure: PureBound::of_account(account, prior, digits)?,
        epsilon,
        zcdp_epsilon,
    })
}

/// The epsilon where none is finite: some outputs are impossible without the record, and have a larger probability than delta.
fn none_finite() -> Enclosure {
    Enclosure::double(f64::INFINITY, 64)
}

/// An epsilon, infinite where none is finite at this delta. Correct decision and advantage need none, and exist.
fn finite_or_none(found: Result<Answer>) -> Result<Enclosure> {
    match found {
        Ok(answer) => Ok(answer.value),
        Err(Error::InfiniteLoss { .. }) => Ok(none_finite()),
        Err(error) => Err(error),
    }
}

/// The largest probability of a correct decision without any output: that of a blind guess, max(p, 1 - p).
pub fn blind_guess(prior: &Rational) -> Rational {
    both_ways(prior).0
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
        account.delta_of_direction_by(&evaluator, direction, &epsilon.clone().try_into()?, digits)
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
    if epsilon.upper().is_infinite() {
        return Enclosure::double(1.0, 64);
    }
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
