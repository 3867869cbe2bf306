//! Answers requests about the largest hockey stick of a family.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rug::{Float, Rational, float::Round};

use super::sum::SumEvaluator;
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Pair, Proof},
        engine::{request::check_epsilon, session::Session},
        family::{CommonContour, Family},
        limit::Limit,
        memo::Memo,
        second::{Second, SecondEnclosure},
        stop::Stop,
    },
    numeric::{Enclosure, parallel, rational},
};

/// Digits at which the unit with the largest hockey stick stands out, but for near ties.
const FEW_DIGITS: u32 = 10;

/// At most this many pairs are answered one by one where the common contour does not determine the largest sharply enough.
const MOST_CONTENDERS: usize = 64;

/// At most this many units have their second enclosures evaluated for one answer.
const MOST_SECOND: usize = 300;

/// Why one end is missing where there are more.
const TOO_MANY: &str =
    "the second enclosures of all units, more than 300, would take too long: it bounds from one side, by one unit";

/// At most this many are searched for those of the same law.
const MOST_COMPARED: usize = 4096;

/// The units of a family that may exceed a target.
#[derive(Clone, Debug)]
pub struct Above {
    /// The largest of those that are not shown to be at most the target.
    pub pair: Option<Pair>,
    /// The number of units that doubles could not distinguish from the target.
    pub contenders: usize,
}

/// Answers requests about the largest hockey stick of a family.
#[derive(Debug)]
pub struct FamilyEvaluator {
    family: Arc<Family>,
    common: CommonContour,
    /// The evaluators of single units that were needed.
    alone: Memo<Pair, Arc<SumEvaluator>>,
    /// The second enclosure of what each member adds, and of what is beside all pairs.
    second: OnceLock<(Vec<Second>, Option<Second>)>,
    stop: Stop,
}

impl FamilyEvaluator {
    /// An evaluator with nothing kept yet.
    pub fn new(family: Arc<Family>) -> Self {
        let common = CommonContour::new(Arc::clone(&family));
        FamilyEvaluator { common, family, alone: Memo::default(), second: OnceLock::new(), stop: Stop::default() }
    }

    /// This evaluator, which refuses every further request once `stop` is set.
    pub fn until(self, stop: &Stop) -> Self {
        FamilyEvaluator { stop: stop.clone(), alone: Memo::default(), ..self }
    }

    /// A session of requests, to be answered by the deadline.
    pub(crate) fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    /// An evaluator of one unit that is not kept: many units may need a sweep each, which would fill the memory.
    fn forgotten(&self, pair: Pair) -> Result<SumEvaluator> {
        Ok(SumEvaluator::new(self.family.sum(pair)?).until(&self.stop))
    }

    /// The evaluator of one unit.
    pub fn unit(&self, pair: Pair) -> Result<Arc<SumEvaluator>> {
        self.alone.get_or_try(pair, |_| Ok(Arc::new(self.forgotten(pair)?)))
    }

    /// The largest hockey-stick divergence of all units, with a relative width of 10^-digits unless `met` is false.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        self.confirmed(epsilon, self.largest(epsilon, digits)?)
    }

    /// A largest hockey stick that the second enclosures of the units do not exclude: that of the named unit is not above it, and not all of them are
    /// below.
    fn confirmed(&self, epsilon: &Rational, answer: Answer) -> Result<Answer> {
        const WHAT: &str = "the largest hockey-stick divergence of a family (by an engine and by the second enclosure)";
        let of_leader = self.second_of(answer.pair().unwrap_or_default(), epsilon)?.value;
        let is_above = of_leader.lower() > answer.value.upper();
        let is_below = || -> Result<bool> {
            Ok(of_leader.upper() < answer.value.lower()
                && self.second_hockey_stick(epsilon, answer.pair().unwrap_or_default())?.value.upper()
                    < answer.value.lower())
        };
        if is_above || is_below()? { Err(Error::Contradiction { what: WHAT }) } else { Ok(answer) }
    }

    fn second_of(&self, pair: Pair, epsilon: &Rational) -> Result<SecondEnclosure> {
        self.second_unit(pair, |unit| unit.hockey_stick(epsilon))
    }

    fn second_unit<T>(&self, (p, q): Pair, of: impl Fn(&Second) -> T) -> T {
        let of_all = || (self.family.each_member(Second::new), self.family.beside().map(Second::new));
        let (members, beside) = self.second.get_or_init(of_all);
        match (self.family.is_in_pairs(), beside) {
            (false, _) => of(&members[p]),
            (true, None) => of(&members[p].and(&members[q])),
            (true, Some(beside)) => of(&members[p].and(&members[q]).and(beside)),
        }
    }

    /// The largest hockey stick by a method that shares no code with the engines that certify it. Of very many units the named one gives the lower
    /// bound, and the only upper bound is 1.
    pub fn second_hockey_stick(&self, epsilon: &Rational, leader: Pair) -> Result<SecondEnclosure> {
        let of_leader = self.second_of(leader, epsilon)?;
        if self.count() > MOST_SECOND {
            let value = of_leader.value.hull(&Enclosure::double(1.0, 64));
            return Ok(SecondEnclosure { value, note: Some(TOO_MANY), ..of_leader });
        }
        let all = self.family.each_unit_in_parallel().map(|pair| Ok(self.second_of(pair, epsilon)?.value));
        let all = all.collect::<Result<Vec<Enclosure>>>()?;
        let value = all.iter().fold(of_leader.value.clone(), |largest, next| largest.max(next));
        Ok(SecondEnclosure { value, ..of_leader })
    }

    /// The trade-off function of the family by the same means, for 0 <= alpha <= 1: at most that of the unit named, and at least every line that all
    /// units are above. Of very many units nothing bounds it from below.
    pub fn second_tradeoff(&self, alpha: &Rational, leader: Pair) -> Result<SecondEnclosure> {
        if let Some(known) = SecondEnclosure::at_ends(alpha)? {
            return Ok(known);
        }
        let of_leader = self.second_unit(leader, |unit| unit.tradeoff(alpha))?;
        let zero = Enclosure::double(0.0, 64);
        if self.count() > MOST_SECOND {
            return Ok(SecondEnclosure { value: of_leader.value.hull(&zero), note: Some(TOO_MANY), ..of_leader });
        }
        let (one, alpha) = (Enclosure::double(1.0, 64), Enclosure::rational(alpha, 64));
        // Slopes around that of the chord from (alpha, f) to (1, 0) of the unit named, and the steepest that is not below zero at alpha.
        let slope = libm::log(of_leader.value.approximate() / (1.0 - alpha.approximate()));
        let steepest = -libm::log(alpha.approximate());
        let mut lower = zero.clone();
        for epsilon in [slope, steepest / 2.0, steepest - 1.0].into_iter().filter(|epsilon| epsilon.is_finite()) {
            let epsilon = rational::from_f64(epsilon)?;
            let size = Rational::from(epsilon.abs_ref());
            let rest = one.sub(&self.second_hockey_stick(&size, leader)?.value);
            let exp = Enclosure::rational(&size, 64).exp();
            // f(alpha) >= 1 - delta(eps) - exp(eps) alpha, and the mirrored line for the other sign of eps.
            let line = if epsilon >= 0 { rest.sub(&exp.mul(&alpha)) } else { rest.sub(&alpha).div(&exp) };
            lower = lower.max(&Enclosure::new(line.lower().clone(), line.lower().clone()));
        }
        let most = Enclosure::new(zero.lower().clone(), of_leader.value.upper().clone());
        let value = lower.hull(&one).meet(&most).ok_or(Error::Contradiction { what: "a second trade-off function" })?;
        Ok(SecondEnclosure { value, note: None, ..of_leader })
    }

    /// How many units there are.
    fn count(&self) -> usize {
        self.family.count()
    }

    fn largest(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        let Some((largest, contenders)) = self.common.by_one_contour(epsilon, digits)? else {
            return largest_of(&self.family.units(), |pair| self.unit(pair), epsilon, digits);
        };
        let met = largest.value.is_tight(digits);
        let count = contenders.len();
        let by_common =
            Answer { value: largest.value, proof: Proof::from(largest.proof).of_pair(largest.pair, count), met };
        if met || count > MOST_COMPARED {
            return Ok(by_common);
        }
        let different = self.family.of_different_laws(contenders)?;
        if different.len() > MOST_CONTENDERS {
            return Ok(by_common);
        }
        let refined = largest_of(&different, |pair| self.unit(pair), epsilon, digits)?;
        let width = |x: &Enclosure| Float::with_val(64, x.upper() - x.lower());
        let narrower = width(&refined.value) < width(&by_common.value);
        Ok(if refined.met || narrower { refined } else { by_common })
    }

    /// The largest hockey-stick divergence, quicker for many requests: by contours that requests close to one another share, where they serve.
    pub fn hockey_stick_of_many(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        self.stop.check()?;
        match Error::unless_fatal(self.common.by_shared_contour(epsilon, digits))?.flatten() {
            Some((largest, contenders)) if largest.value.is_tight(digits) => {
                self.confirmed(epsilon, largest.into_answer(contenders.len()))
            }
            _ => self.hockey_stick(epsilon, digits),
        }
    }

    /// The largest hockey-stick divergence to many more digits: the common contour determines which units may be the largest, and each of them is answered by its own
    /// evaluator, at any number.
    pub fn hockey_stick_one_by_one(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        let forgotten = |pair: Pair| Ok(Arc::new(self.forgotten(pair)?));
        let answer = match self.common.by_one_contour(epsilon, digits)? {
            Some((largest, contenders)) if largest.value.is_tight(digits) => largest.into_answer(contenders.len()),
            Some((_, contenders)) => largest_of(&contenders, forgotten, epsilon, digits)?,
            None => largest_of(&self.family.units(), forgotten, epsilon, digits)?,
        };
        self.confirmed(epsilon, answer)
    }

    /// A unit that attains the largest hockey stick at epsilon, as far as doubles resolve it: an approximation.
    pub fn leader(&self, epsilon: &Rational) -> Result<Pair> {
        self.stop.check()?;
        if let Some((_, pair)) = self.common.largest_approx(epsilon)? {
            return Ok(pair);
        }
        let largest = largest_of(&self.family.units(), |pair| self.unit(pair), epsilon, FEW_DIGITS)?;
        Ok(largest.pair().unwrap_or_default())
    }

    /// The same at an epsilon close to this one, for many requests: that of the contour for this number of digits which requests close to one another share, where
    /// there is one.
    pub(crate) fn leader_near(&self, epsilon: &Rational, digits: u32) -> Result<Pair> {
        self.stop.check()?;
        match Error::unless_fatal(self.common.leader_of_shared_contour(epsilon, digits))?.flatten() {
            Some(pair) => Ok(pair),
            None => self.leader(epsilon),
        }
    }

    /// The units that may exceed `target` at epsilon, except those of the same law as a unit that is `known` not to.
    pub fn above(&self, epsilon: &Rational, target: &Rational, digits: u32, known: &[Pair]) -> Result<Above> {
        self.stop.check()?;
        let floor = Float::with_val_round(128, target, Round::Down).0;
        let exceeds = |pair: &Pair, digits| -> Result<Option<(Pair, Enclosure)>> {
            let value = self.forgotten(*pair)?.hockey_stick(epsilon, digits)?.value;
            Ok((*value.upper() > *target).then_some((*pair, value)))
        };
        let contenders = match self.common.may_exceed(epsilon, &floor, digits)? {
            Some(contenders) => contenders,
            None => {
                let few = self.family.each_unit_in_parallel().map(|pair| exceeds(&pair, FEW_DIGITS));
                few.filter_map(Result::transpose).map(|found| Ok(found?.0)).collect::<Result<_>>()?
            }
        };
        self.confirm_others_below(epsilon, target, &contenders)?;
        let mut different = self.family.of_different_laws(known.iter().chain(&contenders).copied())?;
        different.retain(|pair| !known.contains(pair));
        let exceeding = parallel::try_map(&different, |pair| exceeds(pair, digits))?;
        let largest = exceeding.into_iter().flatten().max_by(|a, b| a.1.lower().total_cmp(b.1.lower()));
        Ok(Above { pair: largest.map(|(pair, _)| pair), contenders: contenders.len() })
    }

    /// Refuses to ignore a unit whose second enclosure is above the target, in families small enough to check each unit.
    fn confirm_others_below(&self, epsilon: &Rational, target: &Rational, contenders: &[Pair]) -> Result<()> {
        if self.count() > MOST_SECOND {
            return Ok(());
        }
        let is_above = |pair: &Pair| Ok(*self.second_of(*pair, epsilon)?.value.lower() > *target);
        let others: Vec<Pair> = self.family.units().into_iter().filter(|pair| !contenders.contains(pair)).collect();
        let what = "the delta of a unit of a family (by an engine and by the second enclosure)";
        let above = parallel::try_map(&others, is_above)?;
        if above.contains(&true) { Err(Error::Contradiction { what }) } else { Ok(()) }
    }

    /// Every unit's hockey stick, to about the requested digits.
    pub fn all(&self, epsilon: &Rational, digits: u32) -> Result<Vec<(Pair, Enclosure)>> {
        self.stop.check()?;
        if let Some(all) = self.common.all_by_one_contour(epsilon, digits)? {
            return Ok(all);
        }
        let each = |pair: Pair| Ok((pair, self.unit(pair)?.hockey_stick(epsilon, digits)?.value));
        self.family.each_unit_in_parallel().map(each).collect()
    }

    /// ln of the largest of all units in doubles, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.stop.check()?;
        if let Some((ln, _)) = self.common.largest_approx(epsilon)? {
            return Ok(ln);
        }
        let each = |pair: Pair| self.unit(pair)?.ln_hockey_stick_approx(epsilon);
        let all: Vec<f64> = self.family.each_unit_in_parallel().map(each).collect::<Result<_>>()?;
        Ok(all.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// The largest of the given units, each evaluated alone. The first of those with the greatest lower end is named.
fn largest_of(
    units: &[Pair],
    unit: impl Fn(Pair) -> Result<Arc<SumEvaluator>> + Sync,
    epsilon: &Rational,
    digits: u32,
) -> Result<Answer> {
    let each = |pair: &Pair| Ok((*pair, unit(*pair)?.hockey_stick(epsilon, digits)?));
    let answers = parallel::try_map(units, each)?;
    let ahead = |best: &Answer, next: &Answer| next.value.lower() > best.value.lower();
    let best = answers.iter().reduce(|best, next| if ahead(&best.1, &next.1) { next } else { best });
    let (pair, best) = best.ok_or(Error::EmptyComposition)?;
    let value = answers.iter().fold(best.value.clone(), |value, (_, answer)| value.max(&answer.value));
    let contenders = answers.iter().filter(|(_, answer)| answer.value.upper() >= value.lower()).count();
    let met = value.is_tight(digits) || answers.iter().all(|(_, answer)| answer.met);
    let proof = best.proof.clone().of_pair(*pair, contenders);
    Ok(Answer { value, proof, met })
}
