//! The two directions of a composition that is not symmetric: a record that is removed, and one that is added.
//!
//! Each direction is one sum for all counts: the first hypothesis of every count against the second, or the other way round. The delta of the composition is
//! the larger of both, never one that takes the worse direction of each count. Where the data decide which of several pairs a count has, as the row of a
//! perturbation table, it is the largest over all choices. Losses that have no common lattice are rounded up and down, and the truth
//! lies between the answers for both ([`outcomes`](crate::law)).

use std::sync::Arc;

use rug::Rational;

use crate::{
    error::{Error, Result},
    law::{Direction, Group, Law, Rounding},
    loss::{
        evaluator::{DirectionsEvaluator, Evaluator, UniformEvaluator},
        infinite::InfiniteLoss,
        stop::Stop,
        sum::LossSum,
        uniform::UniformSum,
    },
    numeric::Enclosure,
};

/// The losses of one direction, rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OneWay {
    above: LossSum,
    below: LossSum,
    /// Where some losses are uniform once they are tilted, as with continuous Laplace noise: that sum with all other losses rounded down, and up.
    uniform: Option<[UniformSum; 2]>,
}

/// Both directions of a composition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directions {
    /// For each choice of pairs where the data decide: where the record is removed, and where it is added. One where they decide nothing.
    ways: Vec<[OneWay; 2]>,
    /// Of pairs that are at most as private as those of all choices, where `ways` are not all choices.
    dominating: Option<[OneWay; 2]>,
}

/// All choices are evaluated where they are no more than this; else the same for all equal counts, and a bound on all others.
const MOST_WAYS: usize = 24;

/// The term of equal counts in one direction.
pub(super) fn group(counts: &Group, rounding: Rounding, direction: Direction) -> Group {
    match counts.law.rounded(counts.shift, rounding, direction) {
        Some(law) => Group { law, shift: 1, copies: counts.copies },
        None => Group { law: counts.law.without_sampling(), ..counts.clone() },
    }
}

/// The terms in place of that of a law that is not symmetric: symmetric laws that are together at most as private.
pub(super) fn dominating(counts: &Group) -> Result<Vec<Group>> {
    let of = |(law, shift)| group(&Group { law, shift, copies: counts.copies }, Rounding::Up, Direction::Remove);
    Ok(match counts.law.dominating(counts.shift)? {
        Some(laws) => laws.into_iter().map(of).collect(),
        None => vec![group(counts, Rounding::Up, Direction::Remove)],
    })
}

impl OneWay {
    /// Of these terms, for the bound above and for that below.
    fn new([above, below]: [&[Group]; 2], direction: Direction) -> Result<Self> {
        let sum = |terms: &[Group], rounding| LossSum::new(terms.iter().map(|term| group(term, rounding, direction)));
        let uniform = |terms: &[Group], rounding| UniformSum::of(terms, rounding, direction);
        let uniform = uniform(below, Rounding::Down)?.zip(uniform(above, Rounding::Up)?);
        let (above, below) = (sum(above, Rounding::Up)?, sum(below, Rounding::Down)?);
        Ok(OneWay { above, below, uniform: uniform.map(|(below, above)| [below, above]) })
    }

    fn evaluator(&self, stop: &Stop) -> Evaluator {
        let finite = || {
            let [below, above] = [&self.below, &self.above].map(|sum| sum.evaluator().until(stop));
            match &self.uniform {
                Some(both) => Evaluator::Uniform(Box::new(UniformEvaluator::new(both.clone(), [below, above], stop))),
                None => Evaluator::Between(Box::new([below, above].map(|one| Evaluator::Sum(Box::new(one))))),
            }
        };
        let beside = |finite: Evaluator, infinite: Option<InfiniteLoss>| match infinite {
            Some(infinite) => Evaluator::Infinite(Box::new(finite), infinite),
            None => finite,
        };
        let [least, most] = [&self.below, &self.above].map(LossSum::infinite_loss);
        if least == most {
            return beside(finite(), most);
        }
        // Each end has the probability of its own pair: that of the larger one bounds nothing from below, and with it a finite loss is smaller.
        let of_one = |sum: &LossSum, infinite| {
            let own = match &self.uniform {
                Some(_) => finite(),
                None => Evaluator::Sum(Box::new(sum.evaluator().until(stop))),
            };
            beside(own, infinite)
        };
        Evaluator::Between(Box::new([of_one(&self.below, least), of_one(&self.above, most)]))
    }

    /// The outcomes of infinite loss, with the least and the largest probability that they may have.
    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        let most = self.above.infinite_loss()?;
        Some(most.or_fewer(self.below.infinite_loss()))
    }

    /// ln E[exp(s L)] for s > 0, with losses on no lattice rounded up.
    fn ln_mgf(&self, s: &Rational, bits: u32) -> Enclosure {
        match &self.uniform {
            Some([_, above]) => above.ln_mgf(s, bits),
            None => self.above.ln_mgf(s, bits),
        }
    }
}

/// The ways to divide equal counts among some laws.
fn divisions(copies: u64, laws: usize) -> Vec<Vec<u64>> {
    match laws {
        0 => Vec::new(),
        1 => vec![vec![copies]],
        _ => (0..=copies)
            .flat_map(|first| {
                divisions(copies - first, laws - 1).into_iter().map(move |rest| [vec![first], rest].concat())
            })
            .collect(),
    }
}

/// The number of these, in doubles.
fn count_of_divisions(copies: u64, laws: usize) -> f64 {
    (1..laws).fold(1.0, |count, k| count * (copies as f64 + k as f64) / k as f64)
}

/// Every choice of one alternative for each term, as the terms that result; and whether these are all choices of single counts.
fn choices(terms: &[Group], rounding: Rounding) -> Result<(Vec<Vec<Group>>, bool)> {
    type Alternatives<'a> = (&'a Group, Vec<(Law, u64)>);
    let alternatives: Vec<Alternatives> = (terms.iter())
        .map(|term| Ok((term, term.law.alternatives(term.shift, rounding)?.unwrap_or_default())))
        .collect::<Result<_>>()?;
    let of = |(term, laws): &Alternatives| count_of_divisions(term.copies, laws.len());
    let all = alternatives.iter().map(of).product::<f64>() <= MOST_WAYS as f64;
    let mut ways: Vec<Vec<Group>> = vec![Vec::new()];
    for (term, laws) in alternatives {
        let only = |k: usize| (0..laws.len()).map(|at| if at == k { term.copies } else { 0 }).collect();
        let divided: Vec<Vec<u64>> =
            if all { divisions(term.copies, laws.len()) } else { (0..laws.len()).map(only).collect() };
        let of_division = |copies: &Vec<u64>| -> Vec<Group> {
            let each = laws.iter().zip(copies).filter(|(_, copies)| **copies > 0);
            each.map(|((law, shift), copies)| Group { law: law.clone(), shift: *shift, copies: *copies }).collect()
        };
        let options =
            if laws.is_empty() { vec![vec![term.clone()]] } else { divided.iter().map(of_division).collect() };
        if ways.len() * options.len() > MOST_WAYS * MOST_WAYS {
            let expected = format!("at most {} choices", MOST_WAYS * MOST_WAYS);
            let what = "the number of choices of rows of perturbation tables, and of new keys";
            return Err(Error::out_of_range(what, ways.len() * options.len(), &expected));
        }
        ways = ways.iter().flat_map(|way| options.iter().map(move |option| [&way[..], option].concat())).collect();
    }
    Ok((ways, all))
}

/// Terms that are at most as private as every choice: of a perturbation table the dominating pair, of an unknown key both a new one and a known one.
fn of_every_choice(terms: &[Group]) -> Result<Vec<Group>> {
    let of = |term: &Group| match &term.law {
        Law::UnknownKey(_) => {
            let laws = term.law.alternatives(term.shift, Rounding::Up)?.unwrap_or_default();
            Ok(laws.into_iter().map(|(law, shift)| Group { law, shift, copies: term.copies }).collect())
        }
        _ => Ok(vec![term.clone()]),
    };
    Ok(terms.iter().map(of).collect::<Result<Vec<Vec<Group>>>>()?.concat())
}

impl Directions {
    /// Of these counts; `None` where each of them is symmetric.
    pub(super) fn of(terms: &[Group]) -> Result<Option<Arc<Self>>> {
        if terms.iter().all(|term| term.law.is_symmetric()) {
            return Ok(None);
        }
        let both = |above: &[Group], below: &[Group]| -> Result<[OneWay; 2]> {
            let [remove, add] = Direction::ALL.map(|direction| OneWay::new([above, below], direction));
            Ok([remove?, add?])
        };
        let ((above, are_all), (below, _)) = (choices(terms, Rounding::Up)?, choices(terms, Rounding::Down)?);
        let every = of_every_choice(terms)?;
        let dominating = if are_all { None } else { Some(both(&every, &every)?) };
        let ways = above.iter().zip(&below).map(|(above, below)| both(above, below)).collect::<Result<_>>()?;
        Ok(Some(Arc::new(Directions { ways, dominating })))
    }

    pub(super) fn evaluator(&self, stop: &Stop) -> DirectionsEvaluator {
        let of_direction = |at: usize| {
            let mut ways: Vec<Evaluator> = self.ways.iter().map(|way| way[at].evaluator(stop)).collect();
            let largest = if ways.len() == 1 { ways.remove(0) } else { Evaluator::Largest(ways) };
            match &self.dominating {
                None => largest,
                Some(above) => Evaluator::Between(Box::new([largest, above[at].evaluator(stop)])),
            }
        };
        let outline = self.ways[0][0].above.evaluator().mean_and_deviation_approx();
        DirectionsEvaluator::new([of_direction(0), of_direction(1)], outline, stop)
    }

    fn all(&self) -> impl Iterator<Item = &OneWay> {
        self.ways.iter().flatten().chain(self.dominating.iter().flatten())
    }

    /// The outcomes of infinite loss, of the direction and the choice in which they have the largest probability.
    pub(crate) fn infinite_loss(&self) -> Option<InfiniteLoss> {
        const DIGITS: u32 = 15;
        let with_mass = |infinite: InfiniteLoss| (infinite.mass(DIGITS).upper().clone(), infinite);
        let all = self.all().filter_map(OneWay::infinite_loss).map(with_mass);
        all.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, infinite)| infinite)
    }

    /// The largest finite loss of any direction and choice, rounded up, and at least zero; `None` where losses are unbounded.
    pub(super) fn largest_finite_loss(&self) -> Option<Rational> {
        let largest = |one: &OneWay| (*one.above.rho() == 0).then(|| one.above.offset().clone());
        self.all().try_fold(Rational::new(), |most, one| Some(most.max(largest(one)?)))
    }

    /// ln E[exp(s L)] for s > 0, where it is largest, with losses rounded up.
    pub(super) fn ln_mgf(&self, s: &Rational, bits: u32) -> Enclosure {
        let all = self.all().map(|one| one.ln_mgf(s, bits));
        all.reduce(|most, next| most.max(&next)).unwrap_or_else(|| Enclosure::double(0.0, bits))
    }

    /// The same in doubles, to a few digits.
    pub(super) fn ln_mgf_approx(&self, s: f64) -> f64 {
        let of = |one: &OneWay| match &one.uniform {
            Some([_, above]) => above.ln_mgf_approx(s),
            None => one.above.ln_mgf_approx(s),
        };
        self.all().map(of).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_are_counted() {
        for (copies, laws) in [(1, 1), (3, 2), (4, 3), (2, 5)] {
            let all = divisions(copies, laws);
            assert_eq!(all.len() as f64, count_of_divisions(copies, laws).round(), "{copies} {laws}");
            assert!(all.iter().all(|division| division.iter().sum::<u64>() == copies && division.len() == laws));
        }
    }
}
