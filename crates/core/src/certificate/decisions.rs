//! Decisions between the two data sets of a pair, and posteriors of events: of one direction or of both (theorem P of `proofs/README.md`).

use rug::{Rational, ops::Pow};

use super::{
    claim::{Claim, Ends, Question},
    direction::opposite,
    ends::{MORE, Outward},
    hints::Hints,
    outputs::{self, Asked},
    parts::{self, Aim, lower_hints},
    points::{Function, Points},
};
use crate::{
    account::{Account, Answer, Delta, Epsilon, Whole},
    error::{Error, Result},
    law::Direction,
    numeric::{Enclosure, rational},
    release::{Neighbors, subject::Resolved},
    risk,
};

/// A claim with the hints that prove its ends.
pub(super) struct Found {
    pub claim: Claim,
    pub lower: Vec<Hints>,
    pub upper: Vec<Hints>,
    pub points: Option<Vec<Rational>>,
}

/// The certified delta at an epsilon, of one direction or the larger of both.
pub(super) fn certified_delta(
    whole: &Whole,
    direction: Option<Direction>,
    epsilon: &Epsilon,
    digits: u32,
) -> Result<Answer> {
    let evaluator = whole.evaluator();
    let of_one = |direction| whole.delta_of_direction_by(&evaluator, direction, epsilon, digits);
    match direction.map(of_one).transpose()?.flatten() {
        Some(answer) => Ok(answer),
        None => whole.delta_by(&evaluator, epsilon.clone(), digits),
    }
}

/// The largest probability of a correct decision, where the prior is that of the direction's first data set; the larger of both without a direction.
pub(super) fn correct(whole: &Whole, prior: &Rational, direction: Option<Direction>, digits: u32) -> Result<Answer> {
    match direction {
        Some(Direction::Remove) => risk::bound::most_correct(whole, prior, Neighbors::AddRemove, digits),
        Some(Direction::Add) => {
            risk::bound::most_correct(whole, &Rational::from(1 - prior), Neighbors::AddRemove, digits)
        }
        None => risk::bound::most_correct(whole, prior, Neighbors::Bounded, digits),
    }
}

/// An enclosure of a number that may be of one direction: delta, a decision, a posterior of events, or a point of the trade-off function. Of both directions that is
/// the smaller function.
#[doc(hidden)]
pub fn value_of(whole: &Whole, question: &Question, direction: Option<Direction>, digits: u32) -> Result<Enclosure> {
    Ok(match question {
        Question::Delta { epsilon } => certified_delta(whole, direction, epsilon, digits)?.value,
        Question::Decision { prior } => correct(whole, prior, direction, digits)?.value,
        Question::Events { prior, probability } => posterior(whole, prior, probability, direction, digits)?,
        Question::Outputs { prior, probability } => {
            outputs::value(whole, Asked { prior, probability, direction }, digits)?
        }
        Question::Beta { alpha } => {
            let evaluator = whole.evaluator();
            let of_one = |direction| whole.tradeoff_of_direction_by(&evaluator, direction, alpha, digits);
            match direction.map(of_one).transpose()?.flatten() {
                Some(answer) => answer.value,
                None => whole.tradeoff_by(&evaluator, alpha, digits)?.value,
            }
        }
        other => return Err(Error::fault(format!("a number {} was requested of one direction", other.about()))),
    })
}

/// Hints for the largest probability of a correct decision: one value of the profile for each end.
pub(super) fn of_decision(
    subject: &Resolved,
    prior: &Rational,
    direction: Option<Direction>,
    digits: u32,
) -> Result<Found> {
    let whole = &subject.whole;
    let value = correct(whole, prior, direction, digits + MORE)?.value;
    let Outward { lower, upper, room } = Outward::new(&value, digits)?;
    let ends = Ends { lower, upper: upper.min(Rational::from(1)) };
    let claim = Claim::new(subject, Question::Decision { prior: prior.clone() }, ends)?.in_direction(direction)?;
    let blind = risk::bound::blind_guess(prior);
    let other = Rational::from(1 - &blind);
    let epsilon = rational::from_f64(Enclosure::rational(&Rational::from(&blind / &other), 64).ln().approximate())?;
    // The errors of delta may be an eighth of the room, of which the smaller prior is the share.
    let ln_error = libm::log((room / other).to_f64() / 8.0);
    // No loss may be as large as this epsilon: then any small delta is as good an aim.
    let ln_delta = whole.evaluator().ln_hockey_stick_approx(&epsilon)?.max(ln_error);
    let aim = Aim { epsilon: &epsilon, ln_delta, ln_error };
    let upper = parts::all(&claim.paths, aim)?;
    let is_better = claim.ends.lower > blind;
    let lower = if is_better { vec![lower_hints(&claim.paths, whole, aim, digits)?] } else { Vec::new() };
    Ok(Found { claim, lower, upper, points: None })
}

/// The largest posterior after events of at least this probability, where the prior is that of the direction's first data set.
pub(super) fn posterior(
    whole: &Whole,
    prior: &Rational,
    probability: &Delta,
    direction: Option<Direction>,
    digits: u32,
) -> Result<Enclosure> {
    let value = risk::events::posterior_of_events_in(whole, direction, prior, probability, digits)?.value;
    if value.is_tight(digits) || matches!(whole, Whole::Composition(_)) {
        return Ok(value);
    }
    // Where the largest delta changes from one unit to another, three lines about all of them may bound it more closely.
    let alpha = Rational::from(1 - &**probability);
    let function = Function { whole, direction: direction.map(opposite), alpha: &alpha, is_of_one: false };
    match Points::around(&function, digits) {
        Ok(points) => Ok(value.min(&after(prior, probability, &points.value))),
        Err(Error::Unprovable { .. }) => Ok(value),
        Err(error) => Err(error),
    }
}

/// The posterior after an event of this probability, from the least probability of such an event under the second data set.
fn after(prior: &Rational, probability: &Delta, against: &Enclosure) -> Enclosure {
    let real = |value: Rational| Enclosure::rational(&value, against.lower().prec());
    let joint = real(Rational::from(prior * &**probability));
    joint.div(&joint.add(&real(Rational::from(1 - prior)).mul(&against.clone().clamp(0.0, 1.0))))
}

/// Hints for it: the least probability of such an event under the second data set is a point of the other direction's trade-off function.
pub(super) fn of_events(
    subject: &Resolved,
    (prior, probability): (&Rational, &Delta),
    direction: Option<Direction>,
    digits: u32,
) -> Result<Found> {
    risk::check_prior(prior)?;
    let question = Question::Events { prior: prior.clone(), probability: probability.clone() };
    // Refused before anything is computed.
    let ends = Ends { lower: Rational::new(), upper: Rational::from(1) };
    let mut claim = Claim::new(subject, question, ends)?.in_direction(direction)?;
    let alpha = Rational::from(1 - &**probability);
    let of =
        |is_of_one| Function { whole: &subject.whole, direction: direction.map(opposite), alpha: &alpha, is_of_one };
    let one = Points::around(&of(true), digits);
    // Where the largest delta changes from one unit to another, no unit need have the function of all: it bounds the posterior from above alone.
    let all = match &one {
        Ok(one) if one.value.is_tight(digits) => None,
        Err(error) if error.is_fatal() => None,
        _ if claim.paths.units().len() == 1 => None,
        _ => Some(Points::around(&of(false), digits)),
    };
    let (function, found) = match (one, all) {
        (one, None) => (of(true), one),
        (Err(_), Some(all)) => (of(false), all),
        (Ok(one), Some(Ok(all))) if all.is_above(&one, digits) => (of(false), Ok(all)),
        (one, Some(_)) => (of(true), one),
    };
    let Points { epsilons, value: against, room } = found?;
    let (rest, joint) = (Rational::from(1 - prior), Rational::from(prior * &**probability));
    // d posterior / d a is -(1 - p) p d / (p d + (1 - p) a)^2.
    let slope = (joint.to_f64() * rest.to_f64()) / (joint.to_f64() + rest.to_f64() * against.approximate()).pow(2);
    let outward = Outward::new(&after(prior, probability, &against), digits)?;
    let lower = if function.is_of_one { outward.lower } else { Rational::new() };
    claim.ends = Ends { lower, upper: outward.upper.min(Rational::from(1)) };
    let error = room.min(outward.room.to_f64() / slope) / 16.0;
    proven_at(&function, claim, epsilons, error, digits)
}

/// The hints of a claim about a trade-off function, from its three points and the error that its deltas may have.
pub(super) fn proven_at(
    function: &Function,
    claim: Claim,
    epsilons: [Rational; 3],
    error: f64,
    digits: u32,
) -> Result<Found> {
    let (whole, epsilon) = (function.whole, epsilons[1].clone().abs());
    let ln_delta = whole.evaluator().ln_hockey_stick_approx(&epsilon)?;
    let aim = Aim { epsilon: &epsilon, ln_delta, ln_error: libm::log(error) };
    let upper = parts::all(&claim.paths, aim)?;
    let lower = match function.is_of_one {
        true => vec![lower_hints(&claim.paths, whole, aim, digits)?],
        false => parts::lower_hints_at(&claim.paths, whole, (aim, &epsilons), digits)?,
    };
    Ok(Found { claim, lower, upper, points: Some(epsilons.into()) })
}
