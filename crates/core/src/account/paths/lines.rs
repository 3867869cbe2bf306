//! The trade-off function of many pairs of paths, between supporting lines and the functions of single pairs.

use rug::{Float, Rational};

use super::WorstPath;
use crate::{
    account::{
        profile::Account,
        supporting::{self, TRADEOFF, line},
        tradeoff,
    },
    error::{Error, Result},
    loss::{
        answer::{Answer, Pair, Proof},
        evaluator::{Evaluator, FamilyEvaluator},
    },
    numeric::{Enclosure, precision, rational},
};

impl WorstPath {
    /// The trade-off function of the losses that are finite.
    pub(super) fn tradeoff_of_finite(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        const ROUNDS: usize = 2;
        /// Enclosures wider than this many times the line and the function of a pair leave room between the two.
        const WIDER: u32 = 4;
        if let Some(known) = tradeoff::at_ends(alpha, digits) {
            return Ok(known);
        }
        let (family, first, bits) = (family_of(evaluator)?, (0, 0), precision::bits(digits, 64));
        // The highest line of a first pair gives the eps at which to look for the worst pair. Lines of all type I errors share contours.
        let near = self.highest_line(family, first, alpha)?;
        let mut pair = family.leader_near(&near.clone().abs(), digits)?;
        let (mut lower, mut pairs) = (Enclosure::double(0.0, bits), vec![first]);
        for _ in 0..ROUNDS {
            pairs.push(pair);
            let epsilon = if pair == first { near.clone() } else { self.highest_line(family, pair, alpha)? };
            let worst = evaluator.hockey_stick_of_many(&epsilon.clone().abs(), digits)?;
            lower = lower.max(&line(&worst.value, &epsilon, alpha, bits));
            let leader = worst.pair().unwrap_or_default();
            if std::mem::replace(&mut pair, leader) == leader {
                break;
            }
        }
        pairs.push(pair);
        // Every line is below f, and f is below every pair's own function: that of the worst pair, and where this leaves room, those of the others.
        let (zero, mut value) = (Enclosure::double(0.0, 64), lower.clone().clamp(0.0, 1.0));
        value = value.hull(&Enclosure::double(1.0, 64));
        while let Some(next) = pairs.pop() {
            pairs.retain(|other| *other != next);
            let upper = self.tradeoff_of_pair(family, next, alpha, digits)?;
            value = value.meet(&zero.hull(&upper)).ok_or(Error::Contradiction { what: TRADEOFF })?;
            let width = |value: &Enclosure| Float::with_val(64, value.upper() - value.lower());
            if width(&value) <= (width(&lower) + width(&upper)) * WIDER {
                break;
            }
        }
        evaluator.second_tradeoff(alpha, Some(pair))?.confirms(&value, tradeoff::SECOND)?;
        let proof = Proof::lines().of_pair(pair, 1);
        Ok(Answer { met: value.is_tight(digits), value, proof })
    }

    /// The eps of the supporting line of a pair that is highest at alpha, in doubles. Where losses have a lattice it is the nearest of them: there lines meet.
    fn highest_line(&self, family: &FamilyEvaluator, pair: Pair, alpha: &Rational) -> Result<Rational> {
        let (unit, [p, q]) = (family.unit(pair)?, [pair.0, pair.1].map(|path| self.paths[path].rho().to_f64()));
        let beside = self.beside.as_ref().map_or(0.0, |beside| beside.rho().to_f64());
        let rho = if self.in_pairs() { p + q + beside } else { p };
        let epsilon = rational::from_f64(supporting::epsilon_by(&unit, rho, alpha)?)?;
        let half = unit.sum().step().map(|step| Rational::from(step / 2_u32)).unwrap_or_default();
        Ok(unit.sum().at_most(&(epsilon + half)))
    }

    /// f(alpha) of one pair.
    fn tradeoff_of_pair(
        &self,
        family: &FamilyEvaluator,
        pair: Pair,
        alpha: &Rational,
        digits: u32,
    ) -> Result<Enclosure> {
        let own = self.composition(pair)?;
        if !own.is_uniform() && own.below().is_none() {
            return Ok(tradeoff::of_sum(&*family.unit(pair)?, &own, alpha, digits)?.value);
        }
        // In place of some losses the family has those of a pair that is at most as private.
        let evaluator = own.evaluator();
        let finite = if let Evaluator::Infinite(finite, _) = &evaluator { finite } else { &evaluator };
        Ok(tradeoff::of_finite(&own, finite, alpha, digits)?.value)
    }
}

/// The evaluator of all pairs; of losses on no common lattice, that of those rounded up.
fn family_of(evaluator: &Evaluator) -> Result<&FamilyEvaluator> {
    match evaluator {
        Evaluator::Family(family) => Ok(family),
        Evaluator::Between(both) => family_of(&both[1]),
        _ => Err(tradeoff::of_another_account()),
    }
}
