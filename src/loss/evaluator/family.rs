//! Answers about the largest hockey stick of a family.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rayon::prelude::*;
use rug::{Float, Rational, float::Round};

use super::sum::SumEvaluator;
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Method, Pair},
        family::{CommonContour, Family},
        stop::Stop,
    },
    numeric::Enclosure,
};

/// Digits that tell which unit is the largest, but for near ties.
const FEW_DIGITS: u32 = 10;

/// How many pairs are answered one by one where the common contour does not tell the largest sharply enough.
const MOST_CONTENDERS: usize = 64;

/// How many are looked through for those of one law.
const MOST_COMPARED: usize = 4096;

/// The units of a family that may exceed a target.
#[derive(Clone, Debug)]
pub struct Above {
    /// The largest of those that are not shown to be at most the target.
    pub pair: Option<Pair>,
    /// How many could not be told from the target in doubles.
    pub contenders: usize,
}

/// Answers questions about the largest hockey stick of a family.
#[derive(Debug)]
pub struct FamilyEvaluator {
    family: Arc<Family>,
    common: CommonContour,
    /// The evaluators of the units that were needed by themselves.
    alone: Mutex<HashMap<Pair, Arc<SumEvaluator>>>,
    stop: Stop,
}

impl FamilyEvaluator {
    /// An evaluator that remembers nothing yet.
    pub fn new(family: Arc<Family>) -> Self {
        let common = CommonContour::new(Arc::clone(&family));
        FamilyEvaluator { common, family, alone: Mutex::default(), stop: Stop::default() }
    }

    /// The same, which answers nothing more once `stop` is set.
    pub fn until(self, stop: &Stop) -> Self {
        FamilyEvaluator { stop: stop.clone(), alone: Mutex::default(), ..self }
    }

    /// An evaluator of one unit that is not kept: many units may need a sweep each, which would fill the memory.
    fn forgotten(&self, pair: Pair) -> Result<SumEvaluator> {
        Ok(SumEvaluator::new(self.family.sum(pair)?).until(&self.stop))
    }

    /// The evaluator of one unit.
    pub fn unit(&self, pair: Pair) -> Result<Arc<SumEvaluator>> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evaluator) = alone.get(&pair) {
            return Ok(Arc::clone(evaluator));
        }
        let evaluator = Arc::new(self.forgotten(pair)?);
        alone.insert(pair, Arc::clone(&evaluator));
        Ok(evaluator)
    }

    /// The largest hockey-stick divergence of all units, with a relative width of 10^-digits unless the answer says that
    /// it was not met.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        let Some((largest, contenders)) = self.common.by_one_contour(epsilon, digits)? else {
            return largest_of(&self.family.units(), |pair| self.unit(pair), epsilon, digits);
        };
        let met = largest.value.is_tight(digits);
        let (count, method) = (contenders.len(), Box::new(Method::Contour(largest.proof)));
        let by_common = Answer {
            value: largest.value,
            method: Method::Worst { pair: largest.pair, contenders: count, method },
            met,
        };
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

    /// The same, quicker where many are asked for: by contours that neighboring questions share, where they serve.
    pub fn hockey_stick_of_many(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        match self.common.by_shared_contour(epsilon, digits) {
            Ok(Some((largest, contenders))) if largest.value.is_tight(digits) => {
                Ok(largest.into_answer(contenders.len()))
            }
            _ => self.hockey_stick(epsilon, digits),
        }
    }

    /// The same for many more digits: the common contour tells which units may be the largest, and each of
    /// them is answered by itself, however many they are.
    pub fn hockey_stick_one_by_one(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        let forgotten = |pair: Pair| Ok(Arc::new(self.forgotten(pair)?));
        match self.common.by_one_contour(epsilon, digits)? {
            Some((largest, contenders)) if largest.value.is_tight(digits) => Ok(largest.into_answer(contenders.len())),
            Some((_, contenders)) => largest_of(&contenders, forgotten, epsilon, digits),
            None => largest_of(&self.family.units(), forgotten, epsilon, digits),
        }
    }

    /// A unit that attains the largest hockey stick at epsilon, as far as doubles tell: an approximation.
    pub fn leader(&self, epsilon: &Rational) -> Result<Pair> {
        self.stop.check()?;
        if let Some((_, pair)) = self.common.largest_approx(epsilon)? {
            return Ok(pair);
        }
        let largest = largest_of(&self.family.units(), |pair| self.unit(pair), epsilon, FEW_DIGITS)?;
        Ok(largest.pair().unwrap_or_default())
    }

    /// Which units may exceed `target` at epsilon, beside those of the same law as a unit that is `known` not to.
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
                let few = self.family.units().into_par_iter().map(|pair| exceeds(&pair, FEW_DIGITS));
                few.filter_map(Result::transpose).map(|found| Ok(found?.0)).collect::<Result<_>>()?
            }
        };
        let mut different = self.family.of_different_laws(known.iter().chain(&contenders).copied())?;
        different.retain(|pair| !known.contains(pair));
        let exceeding = different.par_iter().map(|pair| exceeds(pair, digits)).filter_map(Result::transpose);
        let largest =
            exceeding.collect::<Result<Vec<_>>>()?.into_iter().max_by(|a, b| a.1.lower().total_cmp(b.1.lower()));
        Ok(Above { pair: largest.map(|(pair, _)| pair), contenders: contenders.len() })
    }

    /// Every unit's hockey stick, to about the asked digits.
    pub fn all(&self, epsilon: &Rational, digits: u32) -> Result<Vec<(Pair, Enclosure)>> {
        self.stop.check()?;
        if let Some(all) = self.common.all_by_one_contour(epsilon, digits)? {
            return Ok(all);
        }
        let each = |pair: &Pair| Ok((*pair, self.unit(*pair)?.hockey_stick(epsilon, digits)?.value));
        self.family.units().par_iter().map(each).collect()
    }

    /// ln of the largest of all units in doubles, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.stop.check()?;
        if let Some((ln, _)) = self.common.largest_approx(epsilon)? {
            return Ok(ln);
        }
        let each = |pair: &Pair| self.unit(*pair)?.ln_hockey_stick_approx(epsilon);
        let all: Vec<f64> = self.family.units().par_iter().map(each).collect::<Result<_>>()?;
        Ok(all.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// The largest of the units asked for, each by itself. The first of those with the greatest lower end is named.
fn largest_of(
    units: &[Pair],
    unit: impl Fn(Pair) -> Result<Arc<SumEvaluator>> + Sync,
    epsilon: &Rational,
    digits: u32,
) -> Result<Answer> {
    let each = |pair: &Pair| Ok((*pair, unit(*pair)?.hockey_stick(epsilon, digits)?));
    let answers = units.par_iter().map(each).collect::<Result<Vec<_>>>()?;
    let ahead = |best: &Answer, next: &Answer| next.value.lower() > best.value.lower();
    let best = answers.iter().reduce(|best, next| if ahead(&best.1, &next.1) { next } else { best });
    let (pair, best) = best.ok_or(Error::EmptyComposition)?;
    let value = answers.iter().fold(best.value.clone(), |value, (_, answer)| value.max(&answer.value));
    let contenders = answers.iter().filter(|(_, answer)| answer.value.upper() >= value.lower()).count();
    let met = value.is_tight(digits) || answers.iter().all(|(_, answer)| answer.met);
    let method = Method::Worst { pair: *pair, contenders, method: Box::new(best.method.clone()) };
    Ok(Answer { value, method, met })
}
