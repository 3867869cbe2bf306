//! Epsilon from delta: the root of the privacy profile, proven from both sides.
//!
//! The profile of a family is the largest of its units' profiles, so its epsilon is the largest of theirs. One unit, the leader, has its
//! own root enclosed to all digits. At the upper end of that root every other unit is shown to have a profile of at most delta, nearly all
//! of them at once and in doubles. A unit for which this fails becomes the leader.

use std::{cell::RefCell, collections::BTreeMap, f64::consts::LN_10};

use rug::{Float, Rational};

use super::{
    conversions,
    kinks::{Between, End},
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{self, Answer, Pair, Proof},
        engine::{Tolerance, session::Session},
        evaluator::{Evaluator, FamilyEvaluator, Profile, SumEvaluator, Together},
        infinite::{InfiniteLoss, Target},
        limit::Limit,
        parameter::{Delta, Rho},
        second::{Means, SecondEnclosure},
        upper,
    },
    numeric::{
        Enclosure, precision, rational,
        root::{self, Decreasing, Hints, Stretch},
    },
};

/// Digits of a first root, which only locates the leading unit.
const FIRST_DIGITS: u32 = 6;

/// The largest number of units that may lead, one after the other.
const MOST_LEADERS: usize = 24;

/// The smallest epsilon >= 0 with delta(epsilon) <= delta, to a relative width of 10^-digits.
pub(super) fn by(evaluator: &Evaluator, rho: &Rho, delta: &Delta, digits: u32) -> Result<Answer> {
    if let Some(answer) = evaluator.with_directions(|both| of_largest(&both, rho, delta, digits))? {
        return Ok(answer);
    }
    // The concentrated bound holds for every account, so it is a ceiling.
    let ceiling = || conversions::zcdp_epsilon(rho, delta, 15).upper().to_f64().next_up();
    let request = || Request { delta, ceiling: ceiling(), digits };
    match evaluator {
        Evaluator::Infinite(finite, infinite) => beside_infinite(finite, infinite, rho, delta, digits),
        Evaluator::Between(both) => {
            let [below, above] = both.each_ref().map(|one| by(one, rho, delta, digits));
            // Of the pair that is at most as private no epsilon is finite, of the other one is.
            if let (Ok(_), Err(Error::InfiniteLoss { mass, .. })) = (&below, &above) {
                let apart = format!("a delta of at least {mass} has an epsilon");
                return Err(Error::undecided("delta", delta, &apart));
            }
            answer::between(below?, above?, digits)
        }
        Evaluator::AtMost(bound) => Ok(upper::answer(bound.epsilon(delta)?, bound.proof(), digits)),
        Evaluator::Directions(_) | Evaluator::Largest(_) => {
            of_largest(&evaluator.parts().iter().collect::<Vec<_>>(), rho, delta, digits)
        }
        // Where samples are rare, central moments give a far lower ceiling.
        Evaluator::Sampled(sampled) => {
            let above = sampled.epsilon_above(delta);
            let ceiling = above.map_or_else(ceiling, |above| above.min(ceiling()));
            Request { delta, ceiling, digits }.of_one(&**sampled)
        }
        Evaluator::Uniform(uniform) => request().of_one(&**uniform),
        Evaluator::Sum(sum) => request().of_one(&**sum),
        // delta at eps + by of losses rounded up is at most the true one at eps.
        Evaluator::Rounded(sum, by) => {
            let Answer { value, met, proof } = request().of_one(&**sum)?;
            let bits = value.lower().prec().max(128);
            let lowest = value.sub(&Enclosure::rational(by, bits)).max(&Enclosure::double(0.0, bits));
            let value = value.hull(&lowest);
            Ok(Answer { met: met && (value.is_tight(digits) || *value.upper() == 0), value, proof })
        }
        Evaluator::Family(family) => match request().of_largest(family) {
            // A sweep over all units may work where that of a single unit does not: a wider answer instead of none.
            Ok(None) => request().by_root_of(&**family),
            Err(error) if error.is_beyond_reach() => request().by_root_of(&**family),
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
        },
    }
}

/// The largest epsilon of two directions, or of all choices. That of another is not computed where its delta is small enough at that of the leader.
fn of_largest(all: &[&Evaluator], rho: &Rho, delta: &Delta, digits: u32) -> Result<Answer> {
    const FEW: u32 = 3;
    let mut leader: Option<Answer> = None;
    for one in all {
        let at = leader.as_ref().and_then(|leader| leader.value.upper_rational().filter(|_| leader.met));
        let is_smaller = |at: &Rational| -> Result<bool> {
            for digits in [FEW, digits] {
                if *one.delta(at, digits)?.value.upper() <= **delta {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        if let Some(at) = at
            && is_smaller(&at)?
        {
            continue;
        }
        let own = by(one, rho, delta, digits)?;
        leader = Some(match leader {
            None => own,
            Some(leader) => answer::larger(leader, own, digits),
        });
    }
    leader.ok_or(Error::EmptyComposition)
}

/// The epsilon of the losses that are finite, at the delta that infinite ones leave for them.
fn beside_infinite(
    finite: &Evaluator,
    infinite: &InfiniteLoss,
    rho: &Rho,
    delta: &Delta,
    digits: u32,
) -> Result<Answer> {
    match infinite.target(delta, digits)? {
        Target::At(delta) => by(finite, rho, &delta, digits),
        Target::Between { least, most } => {
            // epsilon falls as delta rises.
            let (lower, upper) = (by(finite, rho, &most, digits)?, by(finite, rho, &least, digits)?);
            let value = lower.value.hull(&upper.value);
            Ok(Answer { met: value.is_tight(digits) || *value.upper() == 0, value, proof: upper.proof })
        }
        Target::Zero => match largest_loss(finite, digits) {
            Some(value) => {
                // Where no finite loss is above zero, delta is that probability from epsilon = 0 on.
                let value = value.max(&Enclosure::double(0.0, precision::bits(digits, 64)));
                Ok(Answer {
                    met: value.is_tight(digits) || *value.upper() == 0,
                    value,
                    proof: Proof::bound("the largest loss that is finite: delta is the probability of an infinite one"),
                })
            }
            None => Err(infinite.too_small(delta)),
        },
    }
}

/// The largest loss: the profile is zero from there on, and positive before it. `None` where losses are unbounded, or not those of one sum.
fn largest_loss(evaluator: &Evaluator, digits: u32) -> Option<Enclosure> {
    match evaluator {
        Evaluator::Sum(sum) if *sum.sum().rho() == 0 => {
            Some(Enclosure::rational(sum.sum().offset(), precision::bits(digits, 64)))
        }
        Evaluator::Rounded(sum, by) if *sum.sum().rho() == 0 => {
            let real = |x: &Rational| Enclosure::rational(x, precision::bits(digits, 64));
            let largest = real(sum.sum().offset());
            Some(real(&Rational::from(sum.sum().offset() - by)).hull(&largest))
        }
        Evaluator::Between(both) => {
            let [below, above] = both.each_ref().map(|one| largest_loss(one, digits));
            Some(below?.hull(&above?))
        }
        Evaluator::Uniform(uniform) => {
            uniform.largest_loss().map(|largest| Enclosure::rational(&largest, precision::bits(digits, 64)))
        }
        _ => None,
    }
}

/// An upper bound on the epsilon at delta, by rho alone.
pub(super) fn ceiling(rho: &Rho, infinite: Option<&InfiniteLoss>, delta: &Delta) -> Result<f64> {
    const DIGITS: u32 = 15;
    let of = |delta: &Delta| conversions::zcdp_epsilon(rho, delta, DIGITS).upper().to_f64().next_up();
    Ok(match infinite.map(|infinite| infinite.target(delta, DIGITS)).transpose()? {
        None => of(delta),
        Some(Target::At(delta) | Target::Between { least: delta, .. }) => of(&delta),
        // There epsilon is the largest finite loss, and rho does not bound that of a sum.
        Some(Target::Zero) => f64::MAX,
    })
}

/// The smallest epsilon >= 0 with delta(epsilon) <= delta by the second enclosures of delta alone: the nearest of some epsilons above the `first`
/// answer where they prove at most delta, and of some below where they prove at least delta.
pub(super) fn second(
    second_delta: &dyn Fn(&Rational) -> Result<SecondEnclosure>,
    has_lower: bool,
    rho: &Rho,
    infinite: Option<&InfiniteLoss>,
    delta: &Delta,
    first: &Answer,
) -> Result<SecondEnclosure> {
    /// Steps relative to the first answer: few, because each is a second enclosure of delta.
    const STEPS: [f64; 6] = [0.01, 0.04, 0.12, 0.35, 0.9, 10.0];
    let target = &**delta;
    // By moments as well, in closed form: no epsilon is above.
    let ceiling = ceiling(rho, infinite, delta)?;
    let second = |epsilon: f64| second_delta(&rational::from_f64(epsilon)?);
    let (from, to) = first.value.doubles();
    let (mut upper, mut found) = (ceiling, None);
    for epsilon in STEPS.iter().map(|step| to + step * to.max(1e-3)).take_while(|epsilon| *epsilon < ceiling) {
        let at = second(epsilon)?;
        if *at.value.upper() <= *target {
            (upper, found) = (epsilon, Some(at));
            break;
        }
    }
    let mut lower = 0.0;
    let below = STEPS.iter().map(|step| from * (1.0 - step)).take_while(|epsilon| *epsilon > 0.0);
    for epsilon in below.filter(|_| has_lower) {
        let at = second(epsilon)?;
        if *at.value.lower() >= *target {
            (lower, found) = (epsilon, found.or(Some(at)));
            break;
        }
    }
    if lower > upper {
        return Err(Error::Contradiction { what: "a second epsilon, whose own ends" });
    }
    let value = Enclosure::new(Float::with_val(64, lower), Float::with_val(64, upper));
    let (by, compared) = found.map_or((Means::Zcdp, None), |found| (found.by, found.note));
    let note = match (lower == 0.0 && from > 0.0, upper == ceiling) {
        (false, false) => compared,
        (true, false) => Some("the lower end is zero: these means are too weak here"),
        (false, true) => Some("the upper end is that of zCDP: these means are too weak here"),
        (true, true) => Some("the ends are zero and that of zCDP: these means are too weak here"),
    };
    Ok(SecondEnclosure { value, by, note })
}

/// The largest number of losses between two points of a profile that are enumerated, approximately.
const MOST_LOSSES: f64 = 2e5;
/// Upper limit of the losses found by an enumeration, as a multiple of the predicted number.
const CROWDED: f64 = 4.0;
/// A stretch is lengthened at most `FURTHEST` times, and only while it is predicted to have fewer losses than this.
const FEW_LOSSES: f64 = 2e4;
const FURTHEST: f64 = 1e12;

/// Where the estimate of ln delta is below `FAR` ln(target) - `FURTHER`, the estimate is used as it is.
const FAR: f64 = 3.0;
const FURTHER: f64 = 300.0;

/// Additional digits for comparing a unit with delta at the leader's root: delta changes by more than epsilon.
const GUARD_DIGITS: u32 = 2;

/// A privacy profile whose root is searched: certified values, and approximations for the search.
trait Searched {
    /// Encloses the hockey stick at epsilon to `digits` digits. All steps to one epsilon share a session.
    fn enclose(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<Answer>;
    /// An approximation of its logarithm; a mere estimate where that is far from the one sought.
    fn ln_approx(&self, epsilon: &Rational, session: &Session, ln_target: f64) -> Result<f64>;
    /// The hockey stick by means that share no code with those of `enclose`.
    fn second(&self, epsilon: &Rational) -> Result<SecondEnclosure>;
    /// A session of requests, to be answered by the deadline.
    fn begin(&self, deadline: Limit) -> Session;
    /// The evaluator, for a single sum.
    fn sum(&self) -> Option<&SumEvaluator> {
        None
    }
    /// Start and step of the search for the epsilon of this delta; `None` where they do not matter.
    fn around(&self, _: &Delta) -> Option<(f64, f64)> {
        None
    }
}

impl<P: Profile> Searched for P {
    fn enclose(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<Answer> {
        if session.deadline().is_over() { Err(Error::OutOfTime) } else { self.hockey_stick(epsilon, digits) }
    }

    fn ln_approx(&self, epsilon: &Rational, _: &Session, ln_target: f64) -> Result<f64> {
        self.ln_hockey_stick_near(epsilon, Some(ln_target))
    }

    fn second(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        self.second_hockey_stick(epsilon)
    }

    fn begin(&self, deadline: Limit) -> Session {
        self.session(deadline)
    }
}

impl Searched for FamilyEvaluator {
    fn enclose(&self, epsilon: &Rational, digits: u32, _: &Session) -> Result<Answer> {
        self.hockey_stick(epsilon, digits)
    }

    fn ln_approx(&self, epsilon: &Rational, _: &Session, _: f64) -> Result<f64> {
        self.ln_hockey_stick_approx(epsilon)
    }

    fn second(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        self.second_hockey_stick(epsilon, Pair::default())
    }

    fn begin(&self, deadline: Limit) -> Session {
        self.session(deadline)
    }
}

impl Searched for SumEvaluator {
    fn enclose(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<Answer> {
        self.hockey_stick_together(epsilon, digits, Together::Root, session)
    }

    fn ln_approx(&self, epsilon: &Rational, session: &Session, ln_target: f64) -> Result<f64> {
        let far = FAR * ln_target - FURTHER;
        self.ln_hockey_stick_approx_together(epsilon, session, Tolerance { far, ..Tolerance::OF_VALUE })
    }

    fn second(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        self.second_hockey_stick(epsilon)
    }

    fn begin(&self, deadline: Limit) -> Session {
        self.session(deadline)
    }

    fn sum(&self) -> Option<&SumEvaluator> {
        Some(self)
    }

    /// A staircase profile is slow to evaluate far from the root. The start treats the loss as Gaussian: it exceeds its mean by this number
    /// of deviations with probability delta.
    fn around(&self, delta: &Delta) -> Option<(f64, f64)> {
        let (mean, deviation) = self.has_steps().then(|| self.mean_and_deviation_approx())?;
        let ln = -Enclosure::rational(delta, 64).ln().approximate();
        let far = (2.0 * ln).sqrt();
        let far = if far > 1.5 { far - (libm::log(far) + 0.92) / far } else { 0.0 };
        let (start, step) = (mean + far * deviation, deviation / (1.0 + far));
        (start.is_finite() && step > 1e-9 * start).then_some((start, step))
    }
}

/// A request for epsilon.
struct Request<'a> {
    delta: &'a Delta,
    /// Upper bound on epsilon.
    ceiling: f64,
    digits: u32,
}

impl Request<'_> {
    fn of_one(&self, evaluator: &impl Searched) -> Result<Answer> {
        let answer = self.by_root_of(evaluator)?;
        if *answer.value.upper() != 0 {
            return Ok(answer);
        }
        Ok(Answer { proof: Proof::bound("delta(0) is below delta already"), ..answer })
    }

    /// The root of one profile.
    fn by_root_of(&self, evaluator: &impl Searched) -> Result<Answer> {
        // The last answer is nearly always the proof at the upper end.
        let last: RefCell<Option<(Rational, Answer)>> = RefCell::default();
        let session = evaluator.begin(Limit::of_digits(self.digits));
        let enclose = |epsilon: &Rational, digits| {
            let answer = evaluator.enclose(epsilon, digits, &session)?;
            let value = answer.value.clone();
            last.replace(Some((epsilon.clone(), answer)));
            Ok(value)
        };
        let ln_target = Enclosure::rational(self.delta, 64).ln().approximate();
        let ln_approx = |epsilon: &Rational| evaluator.ln_approx(epsilon, &session, ln_target);
        let profile = Decreasing { ln_approx, enclose };
        let within = |stretch: &Stretch| {
            let found = self.root_within(evaluator, stretch, &session)?;
            let Some((lower, upper, proof)) = found else { return Ok(None) };
            last.replace(Some((upper.clone(), proof)));
            Ok(Some((lower, upper)))
        };
        let hints = Hints { around: evaluator.around(self.delta), within: Some(&within) };
        let root = root::decreasing_root_with(&profile, self.delta, self.ceiling, hints, self.digits)?;
        self.confirm(evaluator, &root.value)?;
        let upper = upper_end(&root.value)?;
        let proof = match last.take() {
            Some((epsilon, proof)) if epsilon == upper => proof.proof,
            _ => match evaluator.enclose(&upper, self.digits, &session) {
                Ok(proof) => proof.proof,
                Err(Error::OutOfTime) => {
                    Proof::bound("what was proven within the limit of effort, beside the bound by zCDP or by moments")
                }
                Err(error) if error.is_beyond_reach() => Proof::bound(
                    "the bound by zCDP or by moments alone: the losses are beyond the reach of every engine",
                ),
                Err(error) => return Err(error),
            },
        };
        Ok(Answer { value: root.value, proof, met: root.met })
    }

    /// Refuses ends that the second enclosures of the profile there exclude: delta(lower) >= delta >= delta(upper).
    fn confirm(&self, evaluator: &impl Searched, root: &Enclosure) -> Result<()> {
        let target = &**self.delta;
        let is_excluded = |end: Option<Rational>, excludes: fn(&Enclosure, &Rational) -> bool| -> Result<bool> {
            match end {
                // An end at zero is none that was proven, and there is no profile below.
                Some(end) if end > 0 => Ok(excludes(&evaluator.second(&end)?.value, target)),
                _ => Ok(false),
            }
        };
        let below = is_excluded(root.lower().to_rational(), |second, target| *second.upper() < *target)?;
        let above = is_excluded(root.upper_rational(), |second, target| *second.lower() > *target)?;
        if below || above {
            return Err(Error::Contradiction {
                what: "an epsilon (by an engine and by the second enclosure of delta there)",
            });
        }
        Ok(())
    }

    /// Two points around the root, and the answer at the end of a stretch of the profile, from the values at both ends and the losses
    /// between them, as long as these are few. `None` where the profile is quick to evaluate, or where they do not locate the root.
    fn root_within(
        &self,
        evaluator: &impl Searched,
        stretch: &Stretch,
        session: &Session,
    ) -> Result<Option<(Rational, Rational, Answer)>> {
        let Some(sum) = evaluator.sum().filter(|sum| sum.is_quicker_between(session)) else { return Ok(None) };
        let (known, value) = stretch.from;
        // A mass m changes delta by at most m (E_b - E_a) / 4.
        let ln_error = |a: &Rational, b: &Rational| {
            let ln_apart = Float::with_val(64, Rational::from(b - a)).ln().to_f64();
            value.ln().approximate() - f64::from(stretch.digits) * LN_10 - b.to_f64() - ln_apart
        };
        let ends = |to: &Rational| if known < to { (known.clone(), to.clone()) } else { (to.clone(), known.clone()) };
        let (a, b) = ends(stretch.to);
        let Some(crowd) = sum.predicted_between(&a, &b, ln_error(&a, &b)) else { return Ok(None) };
        if crowd.points > MOST_LOSSES {
            return Ok(None);
        }
        // A stretch far narrower than the distance between losses is lengthened before the enumeration.
        let further = Rational::from_f64((FEW_LOSSES / crowd.points.max(1e-300)).clamp(1.0, FURTHEST));
        let further = further.map(|further| known + Rational::from(stretch.to - known) * further);
        let to = further.filter(|to| *to > 0).unwrap_or_else(|| stretch.to.clone());
        let (a, b) = ends(&to);
        let Some(interval) = sum.losses_between(&a, &b, ln_error(&a, &b), CROWDED * MOST_LOSSES, session) else {
            return Ok(None);
        };
        let proof = evaluator.enclose(&to, stretch.digits, session)?;
        let (value, other) = (value.clone().negate(), proof.value.clone().negate());
        let (of_a, of_b) = if *known < to { (&value, &other) } else { (&other, &value) };
        let (a, b) = (End { loss: &a, value: of_a }, End { loss: &b, value: of_b });
        let level = Rational::from(-&**self.delta);
        let found = Between::new(a, b, &interval, stretch.digits).crossing(&level, stretch.half_width, stretch.bits);
        Ok(found.map(|(lower, upper)| (lower, upper, proof)))
    }

    /// The root of one unit's profile.
    fn of_unit(&self, family: &FamilyEvaluator, pair: Pair, digits: u32) -> Result<Answer> {
        Request { digits, ..*self }.by_root_of(&*family.unit(pair)?)
    }

    /// The largest root of all units; `None` if more than `MOST_LEADERS` units would have to lead.
    fn of_largest(&self, family: &FamilyEvaluator) -> Result<Option<Answer>> {
        // Every unit's root is close to the largest one, so the leader there is nearly always the final leader.
        let first = self.of_unit(family, (0, 0), FIRST_DIGITS)?;
        let mut leader = family.leader(&upper_end(&first.value)?)?;
        let mut roots: BTreeMap<Pair, Answer> = BTreeMap::new();
        let mut value: Option<Enclosure> = None;
        while roots.len() < MOST_LEADERS {
            let root = self.of_unit(family, leader, self.digits)?;
            // The largest of all roots is at least each of them, so it is at least the largest of those known.
            let highest = value.map_or(root.value.clone(), |value| value.max(&root.value));
            roots.insert(leader, root);
            // Delta decreases, so the profiles of earlier leaders are at most delta at this end, too.
            let known: Vec<Pair> = roots.keys().copied().collect();
            let above = family.above(&upper_end(&highest)?, self.delta, self.digits + GUARD_DIGITS, &known)?;
            let Some(next) = above.pair else { return Ok(self.largest(highest, roots, above.contenders)) };
            (leader, value) = (next, Some(highest));
        }
        Ok(None)
    }

    /// The answer for the largest of some roots.
    fn largest(&self, value: Enclosure, roots: BTreeMap<Pair, Answer>, contenders: usize) -> Option<Answer> {
        let (pair, root) = roots.into_iter().max_by(|a, b| a.1.value.upper().total_cmp(b.1.value.upper()))?;
        let proof = root.proof.of_pair(pair, contenders.max(1));
        let met = root.met && value.is_tight(self.digits) || *value.upper() == 0;
        Some(Answer { value, proof, met })
    }
}

/// The upper end of a root.
fn upper_end(root: &Enclosure) -> Result<Rational> {
    root.upper_rational().ok_or(Error::Unbounded { what: "epsilon" })
}

#[cfg(test)]
mod tests;
