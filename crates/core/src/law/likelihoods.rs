//! The likelihood ratios of two hypotheses with finitely many outcomes, exactly.
//!
//! Outcomes of one likelihood ratio count as one: no test distinguishes them better. Outcomes that only one hypothesis can have are taken together.

use std::collections::BTreeMap;

use rug::Rational;

use super::{
    facts::Facts,
    outcomes::Outcomes,
    responses::{Responses, Rounding},
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// The largest number of outcomes of a file.
pub(super) const MOST_VALUES: usize = 100_000;
/// The largest number of likelihood ratios: their logarithms are enumerated.
const MOST_RATIOS: usize = 2000;

/// Which of two neighbors has the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The first: the record is removed.
    Remove,
    /// The second: the record is added.
    Add,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Remove, Direction::Add];

    /// The one of two answers, for a record that is removed and for one that is added, that is about this direction.
    pub(crate) fn pick<T>(self, [remove, add]: [T; 2]) -> T {
        match self {
            Direction::Remove => remove,
            Direction::Add => add,
        }
    }

    /// The answers for both, where there are any.
    pub(crate) fn both<T>(of: impl Fn(Direction) -> Result<Option<T>>) -> Result<Option<[T; 2]>> {
        let [remove, add] = Direction::ALL.map(of);
        Ok(remove?.zip(add?).map(|(remove, add)| [remove, add]))
    }
}

/// The likelihood ratios p / q that both hypotheses can have, with the probability p of each, and the probabilities of all other outcomes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Likelihoods {
    /// Each ratio above zero, in increasing order, with its probability under the first hypothesis.
    ratios: BTreeMap<Rational, Rational>,
    /// The probability of outcomes that only the first hypothesis can have, and only the second.
    infinite: [Rational; 2],
}

impl Likelihoods {
    /// Those of these outcomes, each with its probability under both hypotheses.
    pub(super) fn of_outcomes(outcomes: impl IntoIterator<Item = (Rational, Rational)>) -> Self {
        let (mut ratios, mut infinite) = (BTreeMap::new(), [Rational::new(), Rational::new()]);
        for (p, q) in outcomes {
            if q == 0 {
                infinite[0] += p;
            } else if p == 0 {
                infinite[1] += q;
            } else {
                *ratios.entry(Rational::from(&p / &q)).or_insert_with(Rational::new) += p;
            }
        }
        Likelihoods { ratios, infinite }
    }

    /// The outcomes with their probabilities under both hypotheses, those of one ratio taken together.
    pub(super) fn outcomes_of_both(&self) -> Vec<(Rational, Rational)> {
        let [first, second] = &self.infinite;
        let ends = [(first.clone(), Rational::new()), (Rational::new(), second.clone())];
        let common = self.ratios.iter().map(|(ratio, p)| (p.clone(), Rational::from(p / ratio)));
        common.chain(ends.into_iter().filter(|(p, q)| *p > 0 || *q > 0)).collect()
    }

    /// Where the record takes part with this probability alone: the first hypothesis becomes a mixture of both.
    pub(super) fn on_samples(&self, rate: &Rational) -> Self {
        let mixed = |(p, q): (Rational, Rational)| {
            let with_record = Rational::from(&p * rate) + Rational::from(1 - rate) * &q;
            (with_record, q)
        };
        Likelihoods::of_outcomes(self.outcomes_of_both().into_iter().map(mixed))
    }

    /// The number of ratios.
    pub(super) fn len(&self) -> usize {
        self.ratios.len()
    }

    /// The probability of outcomes that only the first hypothesis can have.
    pub(super) fn infinite(&self) -> &Rational {
        &self.infinite[0]
    }

    /// Whether every common outcome is as likely under both hypotheses.
    pub(super) fn is_trivial(&self) -> bool {
        self.ratios.keys().all(|ratio| *ratio == 1)
    }

    /// Whether each hypothesis is to the other as the other is to it: a ratio has the probability under the first that its inverse has under the
    /// second. Then both directions have one profile, in every composition.
    pub(super) fn is_symmetric(&self) -> bool {
        let mirrored = |(ratio, p): (&Rational, &Rational)| {
            let inverse = Rational::from(ratio.recip_ref());
            // q of the inverse ratio is its p over that ratio.
            self.ratios.get(&inverse).is_some_and(|of_inverse| Rational::from(of_inverse * ratio) == *p)
        };
        self.infinite[0] == self.infinite[1] && self.ratios.iter().all(mirrored)
    }

    /// The same with the hypotheses exchanged.
    pub(super) fn reversed(&self) -> Self {
        let reversed =
            |(ratio, p): (&Rational, &Rational)| (Rational::from(ratio.recip_ref()), Rational::from(p / ratio));
        let [first, second] = &self.infinite;
        Likelihoods { ratios: self.ratios.iter().map(reversed).collect(), infinite: [second.clone(), first.clone()] }
    }

    /// The ratios of one direction.
    pub(super) fn towards(&self, direction: Direction) -> Self {
        match direction {
            Direction::Remove => self.clone(),
            Direction::Add => self.reversed(),
        }
    }

    /// Of a symmetric pair: the mixture of randomized responses, with losses rounded.
    pub(super) fn responses(&self, rounding: Rounding) -> Responses {
        let finite = Rational::from(1 - self.infinite());
        let mut weights: BTreeMap<Rational, Rational> = BTreeMap::new();
        for (ratio, p) in &self.ratios {
            let ratio = if *ratio < 1 { Rational::from(ratio.recip_ref()) } else { ratio.clone() };
            *weights.entry(ratio).or_default() += Rational::from(p / &finite);
        }
        Responses::new(&weights.into_iter().collect::<Vec<_>>(), self.infinite().clone(), rounding)
    }

    /// The vertices of the best tests, in increasing order: the probabilities to reject under the second and under the first hypothesis, of the tests that
    /// reject from a likelihood ratio on.
    pub(super) fn best_tests(&self) -> Vec<(Rational, Rational)> {
        let mut test = (Rational::new(), Rational::new());
        let mut vertices = vec![test.clone()];
        let mut and = |q: Rational, p: &Rational| {
            test = (&test.0 + q, Rational::from(&test.1 + p));
            vertices.push(test.clone());
        };
        if self.infinite[0] > 0 {
            and(Rational::new(), &self.infinite[0]);
        }
        for (ratio, p) in self.ratios.iter().rev() {
            and(Rational::from(p / ratio), p);
        }
        if self.infinite[1] > 0 {
            and(self.infinite[1].clone(), &Rational::new());
        }
        vertices
    }

    /// The losses of the first hypothesis against the second, rounded.
    pub(super) fn outcomes(&self, rounding: Rounding) -> Outcomes {
        Outcomes::new(&self.ratios, &self.infinite, rounding)
    }

    /// An error where there are too many. There may be none: then every loss is infinite.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        if self.len() > MOST_RATIOS {
            let expected = format!("at most {MOST_RATIOS} different likelihood ratios");
            return Err(Error::out_of_range(
                &format!("{name}: the number of likelihood ratios"),
                self.len(),
                &expected,
            ));
        }
        Ok(())
    }

    /// The largest finite loss of both directions, rounded up.
    pub(super) fn largest_loss(&self) -> Option<Rational> {
        let of = |direction| (&self.towards(direction).outcomes(Rounding::Up)).largest_loss(1);
        Direction::ALL.into_iter().filter_map(of).max()
    }

    /// The larger rho of both directions.
    pub(super) fn rho(&self) -> Rational {
        let of = |direction| (&self.towards(direction).outcomes(Rounding::Up)).rho(1);
        Direction::ALL.into_iter().map(of).max().unwrap_or_default()
    }

    /// A symmetric pair that is at most as private: randomized response of the largest loss of either direction, beside the larger probability of an
    /// infinite one. It is dominated by no less, because at that loss the profile of both directions is at most that probability (Murtagh & Vadhan 2016,
    /// Lemma 3.2).
    pub(super) fn dominating(&self) -> Responses {
        let larger = |ratio: &Rational| if *ratio < 1 { Rational::from(ratio.recip_ref()) } else { ratio.clone() };
        let ends = [self.ratios.keys().next(), self.ratios.keys().next_back()];
        let largest = ends.into_iter().flatten().map(larger).max().unwrap_or_else(|| Rational::from(1));
        let infinite = self.infinite.iter().max().cloned().unwrap_or_default();
        if largest == 1 {
            return Responses::of_least_loss(infinite);
        }
        Responses::new(&[(largest, Rational::from(1))], infinite, Rounding::Up)
    }
}

/// An error unless probabilities add up to exactly one.
pub(super) fn check_sum<'a>(name: &str, what: &str, masses: impl Iterator<Item = &'a Rational>) -> Result<()> {
    let sum: Rational = masses.sum();
    if sum == 1 {
        return Ok(());
    }
    let apart = Enclosure::rational(&Rational::from(&sum - 1_u32).abs(), 64).shown(6);
    let side = if sum > 1 { "more" } else { "less" };
    let (what, verb) =
        if what == "its masses" { (what.to_string(), "add") } else { (format!("its column {what}"), "adds") };
    Err(Error::unsuitable(format!(
        "{name}: {what} {verb} up to {}, which is {apart} {side} than 1: probabilities must add up to exactly 1, as fractions such as 1/3 can",
        rational::display(&sum)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn likelihoods(outcomes: &[(&str, &str)]) -> Likelihoods {
        Likelihoods::of_outcomes(outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap())))
    }

    #[test]
    fn symmetry_is_that_of_ratios_and_not_of_places() {
        // Randomized response whose likely answers are each split in two, at different places.
        assert!(likelihoods(&[("1/2", "1/6"), ("1/8", "3/8"), ("1/4", "1/12"), ("1/8", "3/8")]).is_symmetric());
        assert!(!likelihoods(&[("1/2", "1/4"), ("1/2", "3/4")]).is_symmetric());
        assert!(!likelihoods(&[("1/2", "1/2"), ("1/2", "1/4"), ("0", "1/4")]).is_symmetric());
        assert!(likelihoods(&[("1/2", "1/2"), ("1/2", "0"), ("0", "1/2")]).is_symmetric());
    }

    #[test]
    fn reversing_exchanges_the_hypotheses() {
        let own = likelihoods(&[("1/2", "1/4"), ("1/4", "3/8"), ("1/4", "0"), ("0", "3/8")]);
        assert_eq!(own.reversed(), likelihoods(&[("1/4", "1/2"), ("3/8", "1/4"), ("0", "1/4"), ("3/8", "0")]));
        assert_eq!(own.reversed().reversed(), own);
        assert_eq!(*own.reversed().infinite(), parse("3/8").unwrap());
    }
}
