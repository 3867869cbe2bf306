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
    law::{Alternative, Direction, Group, Law, Rounding},
    loss::{
        evaluator::{DirectionsEvaluator, Evaluator, SampledEvaluator, UniformEvaluator},
        infinite::InfiniteLoss,
        sampled::SampledSum,
        stop::Stop,
        sum::LossSum,
        uniform::UniformSum,
    },
    numeric::Enclosure,
};

/// The losses of one direction, rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OneWay {
    direction: Direction,
    /// The noise of samples without sampling.
    above: LossSum,
    below: LossSum,
    finite: Finite,
}

/// The finite losses that are not in a sum of listed losses, with all others rounded down, and up.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finite {
    /// There are none.
    Listed,
    /// Some are uniform once they are tilted, as with continuous Laplace noise.
    Uniform(Box<[UniformSum; 2]>),
    /// Some noise is on Poisson samples.
    Sampled(Box<[SampledSum; 2]>),
}

/// Both directions of a composition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directions {
    /// For each choice of pairs where the data decide: where the record is removed, and where it is added. One where they decide nothing.
    ways: Vec<[OneWay; 2]>,
    /// Of pairs that are at most as private as those of all choices, where `ways` are not all choices.
    dominating: Option<[OneWay; 2]>,
    /// Whether some law has outcomes that only one of two neighbors can have. Where none has, an infinite loss stands for values that are not listed, and is an error alone.
    has_infinite_loss: bool,
}

/// All choices are evaluated where they are no more than this; else the same for all equal counts, and a bound on all others.
const MOST_WAYS: usize = 24;

/// Whether noise of this law is a part of the sum of samples: that on samples, and continuous Gaussian noise.
pub(super) fn is_in_samples(law: &Law) -> bool {
    matches!(law, Law::SampledGaussian { .. } | Law::Gaussian { .. })
}

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
    /// One direction of these terms, for the bound above and for that below, beside samples.
    fn new([above, below]: [&[Group]; 2], samples: Option<&SampledSum>, direction: Direction) -> Result<Self> {
        let sum = |terms: &[Group], rounding| LossSum::new(terms.iter().map(|term| group(term, rounding, direction)));
        let finite = match samples {
            Some(samples) => {
                let beside = |terms: &[Group], rounding| -> Result<SampledSum> {
                    let others: Vec<Group> = terms.iter().filter(|term| !is_in_samples(&term.law)).cloned().collect();
                    Ok(samples.clone().beside(UniformSum::collected(&others, rounding, direction)?))
                };
                Finite::Sampled(Box::new([beside(below, Rounding::Down)?, beside(above, Rounding::Up)?]))
            }
            None => {
                let uniform = |terms: &[Group], rounding| UniformSum::of_terms(terms, rounding, direction);
                let both = uniform(below, Rounding::Down)?.zip(uniform(above, Rounding::Up)?);
                both.map_or(Finite::Listed, |(below, above)| Finite::Uniform(Box::new([below, above])))
            }
        };
        Ok(OneWay { direction, above: sum(above, Rounding::Up)?, below: sum(below, Rounding::Down)?, finite })
    }

    fn evaluator(&self, stop: &Stop) -> Evaluator {
        let [least, most] = [&self.below, &self.above].map(LossSum::infinite_loss);
        if least == most {
            return self.finite(stop).beside(most);
        }
        // Each end has the probability of its own pair: that of the larger one bounds nothing from below, and with it a finite loss is smaller.
        let [below, above] = self.finite_ends(stop);
        Evaluator::Between(Box::new([below.beside(least), above.beside(most)]))
    }

    /// Of the finite losses.
    fn finite(&self, stop: &Stop) -> Evaluator {
        match &self.finite {
            Finite::Uniform(both) => self.uniform(both, stop),
            Finite::Listed if let Some(by) = self.above.raised_from(&self.below) => {
                Evaluator::Rounded(Box::new(self.above.evaluator().until(stop)), by)
            }
            // Nothing was rounded.
            Finite::Sampled(both) if both[0] == both[1] => self.sampled(&both[1], stop),
            Finite::Sampled(_) | Finite::Listed => Evaluator::Between(Box::new(self.finite_ends(stop))),
        }
    }

    /// Of the finite losses rounded down, and up.
    fn finite_ends(&self, stop: &Stop) -> [Evaluator; 2] {
        match &self.finite {
            Finite::Uniform(both) => [self.uniform(both, stop), self.uniform(both, stop)],
            Finite::Sampled(both) => both.each_ref().map(|sum| self.sampled(sum, stop)),
            Finite::Listed => {
                [&self.below, &self.above].map(|sum| Evaluator::Sum(Box::new(sum.evaluator().until(stop))))
            }
        }
    }

    fn sampled(&self, sum: &SampledSum, stop: &Stop) -> Evaluator {
        Evaluator::Sampled(Box::new(SampledEvaluator::of_one(sum.clone(), self.direction, stop)))
    }

    fn uniform(&self, both: &[UniformSum; 2], stop: &Stop) -> Evaluator {
        let rounded = [&self.below, &self.above].map(|sum| sum.evaluator().until(stop));
        Evaluator::Uniform(Box::new(UniformEvaluator::new(both.clone(), rounded, stop)))
    }

    /// The outcomes of infinite loss, with the least and the largest probability that they may have.
    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        let most = self.above.infinite_loss()?;
        Some(most.or_fewer(self.below.infinite_loss()))
    }

    /// ln E[exp(s L)] for s > 0, with losses on no lattice rounded up.
    fn ln_mgf(&self, s: &Rational, bits: u32) -> Enclosure {
        match &self.finite {
            Finite::Uniform(both) => both[1].ln_mgf(s, bits),
            Finite::Sampled(both) => both[1].ln_mgf_of(self.direction, s),
            Finite::Listed => self.above.ln_mgf(s, bits),
        }
    }

    /// The same in doubles, to a few digits; of samples that of a removed record, which is not smaller.
    fn ln_mgf_approx(&self, s: f64) -> f64 {
        match &self.finite {
            Finite::Uniform(both) => both[1].ln_mgf_approx(s),
            Finite::Sampled(both) => both[1].ln_mgf_approx(s),
            Finite::Listed => self.above.ln_mgf_approx(s),
        }
    }

    /// Mean and standard deviation of the loss in doubles, for searches.
    fn mean_and_deviation_approx(&self) -> (f64, f64) {
        match &self.finite {
            Finite::Sampled(both) => both[1].mean_and_deviation_approx(),
            Finite::Uniform(_) | Finite::Listed => self.above.evaluator().mean_and_deviation_approx(),
        }
    }
}

/// The ways to divide the changes by one record among some laws, by how many of them each count of a law takes: the number of counts of each law. What is left over
/// is too few for any of them.
fn divisions(changes: u64, records: &[u64]) -> Vec<Vec<u64>> {
    let Some((each, others)) = records.split_first() else { return vec![Vec::new()] };
    let counts = changes / each;
    let least = if others.is_empty() { counts } else { 0 };
    let of = |count: u64| {
        divisions(changes - count * each, others).into_iter().map(move |rest| [vec![count], rest].concat())
    };
    (least..=counts).flat_map(of).collect()
}

/// The number of these, in doubles, and at least that where it is large.
fn count_of_divisions(changes: u64, records: &[u64]) -> f64 {
    let largest = records.iter().copied().max().unwrap_or(1);
    if records.len() < 2 || changes / largest > MOST_WAYS as u64 {
        let laws = records.len().max(1);
        return (1..laws).fold(1.0, |count, k| count * (changes as f64 + k as f64) / k as f64);
    }
    divisions(changes, records).len() as f64
}

/// Two rows of a perturbation table, and the cells that have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The name of the table.
    pub table: String,
    /// The true counts without the records, and with them.
    pub counts: [u64; 2],
    /// The number of cells.
    pub cells: u64,
    /// Whether these are cells that a changed record enters, where others are left.
    pub is_entered: bool,
}

impl Rows {
    /// Those of a perturbation table; `None` for other laws.
    pub(super) fn of_law(law: &Law, counts: [u64; 2], cells: u64) -> Option<Rows> {
        let Law::Perturbation(table) = law else { return None };
        Some(Rows { table: table.title().to_string(), counts, cells, is_entered: table.is_reversed() })
    }
}

/// One alternative for each count: the terms that result, and the rows of those that have perturbation tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub terms: Vec<Group>,
    pub rows: Vec<Rows>,
}

/// Every choice of one alternative for each term; and whether these are all choices of single counts.
pub(super) fn choices(terms: &[Group], rounding: Rounding) -> Result<(Vec<Choice>, bool)> {
    // Those that take the most records first, so that single records take what others leave.
    let of_term = |term: &Group| {
        let mut laws = term.law.alternatives(term.shift, rounding)?.unwrap_or_default();
        laws.sort_by_key(|law| std::cmp::Reverse(law.records));
        let records: Vec<u64> = laws.iter().map(|law| law.records).collect();
        Ok((laws, records))
    };
    let alternatives = terms.iter().map(of_term).collect::<Result<Vec<_>>>()?;
    let of = |(term, (_, records)): (&Group, &(_, Vec<u64>))| count_of_divisions(term.copies, records);
    let all = terms.iter().zip(&alternatives).map(of).product::<f64>() <= MOST_WAYS as f64;
    let mut ways: Vec<Choice> = vec![Choice::default()];
    for (term, (laws, records)) in terms.iter().zip(alternatives) {
        let only = |k: usize| {
            let mut counts = vec![0; laws.len()];
            counts[k] = term.copies / records[k];
            // Of one record: the last.
            *counts.last_mut().unwrap_or(&mut 0) += term.copies % records[k];
            counts
        };
        let divided: Vec<Vec<u64>> =
            if all { divisions(term.copies, &records) } else { (0..laws.len()).map(only).collect() };
        let of_division = |copies: &Vec<u64>| -> Choice {
            let each = || laws.iter().zip(copies.iter().copied()).filter(|(_, copies)| *copies > 0);
            let of = |(one, copies): (&Alternative, u64)| Group { law: one.law.clone(), shift: one.shift, copies };
            let rows = each().filter_map(|(one, cells)| Rows::of_law(&term.law, one.rows?, cells));
            Choice { terms: each().map(of).collect(), rows: rows.collect() }
        };
        let options = match laws.is_empty() {
            true => vec![Choice { terms: vec![term.clone()], rows: Vec::new() }],
            false => divided.iter().map(of_division).collect(),
        };
        if ways.len() * options.len() > MOST_WAYS * MOST_WAYS {
            let expected = format!("at most {} choices", MOST_WAYS * MOST_WAYS);
            let what = "the number of choices of changes of tables, rows of perturbation tables, and new keys";
            return Err(Error::out_of_range(what, ways.len() * options.len(), &expected));
        }
        let with = |way: &Choice, option: &Choice| Choice {
            terms: [&way.terms[..], &option.terms].concat(),
            rows: [&way.rows[..], &option.rows].concat(),
        };
        ways = ways.iter().flat_map(|way| options.iter().map(|option| with(way, option))).collect();
    }
    Ok((ways, all))
}

/// Terms that are at most as private as every choice.
fn of_every_choice(terms: &[Group]) -> Result<Vec<Group>> {
    let of = |term: &Group| -> Result<Vec<Group>> {
        let all = term.law.of_every_choice(term.shift, term.copies)?;
        Ok(all.into_iter().map(|(law, shift, copies)| Group { law, shift, copies }).collect())
    };
    Ok(terms.iter().map(of).collect::<Result<Vec<Vec<Group>>>>()?.concat())
}

impl Directions {
    /// The directions of these counts; `None` where each of them is symmetric.
    pub(super) fn of_terms(terms: &[Group]) -> Result<Option<Arc<Self>>> {
        if terms.iter().all(|term| term.law.is_symmetric()) { Ok(None) } else { Self::beside(terms, None).map(Some) }
    }

    /// The directions of all these counts, of which the noise on samples, and continuous Gaussian noise beside it, is given as a sum.
    pub(super) fn beside(terms: &[Group], samples: Option<&SampledSum>) -> Result<Arc<Self>> {
        let both = |above: &[Group], below: &[Group]| -> Result<[OneWay; 2]> {
            let [remove, add] = Direction::ALL.map(|direction| OneWay::new([above, below], samples, direction));
            Ok([remove?, add?])
        };
        let ((above, are_all), (below, _)) = (choices(terms, Rounding::Up)?, choices(terms, Rounding::Down)?);
        let every = of_every_choice(terms)?;
        let dominating = if are_all { None } else { Some(both(&every, &every)?) };
        let ways = above.iter().zip(&below).map(|(above, below)| both(&above.terms, &below.terms));
        let ways = ways.collect::<Result<_>>()?;
        let has_infinite_loss = terms.iter().any(|term| term.law.has_infinite_loss());
        Ok(Arc::new(Directions { ways, dominating, has_infinite_loss }))
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
        let outline = self.ways[0][0].mean_and_deviation_approx();
        DirectionsEvaluator::new([of_direction(0), of_direction(1)], outline, stop)
    }

    fn all(&self) -> impl Iterator<Item = &OneWay> {
        self.ways.iter().flatten().chain(self.dominating.iter().flatten())
    }

    /// The outcomes of infinite loss, of the direction and the choice in which they have the largest probability. Where not all choices are evaluated, they are at
    /// least as probable as in these and at most as in the pairs that dominate all.
    pub(crate) fn infinite_loss(&self) -> Option<InfiniteLoss> {
        const DIGITS: u32 = 15;
        if !self.has_infinite_loss {
            return None;
        }
        let with_mass = |infinite: InfiniteLoss| (infinite.mass(DIGITS).upper().clone(), infinite);
        let largest = |all: &mut dyn Iterator<Item = &OneWay>| {
            let all = all.filter_map(OneWay::infinite_loss).map(with_mass);
            all.reduce(|most, next| if next.0 > most.0 { next } else { most }).map(|(_, infinite)| infinite)
        };
        let of_ways = largest(&mut self.ways.iter().flatten());
        match &self.dominating {
            None => of_ways,
            Some(dominating) => {
                let most = largest(&mut dominating.iter())?;
                Some(most.or_fewer(of_ways.map(InfiniteLoss::fewest)))
            }
        }
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
        self.all().map(|one| one.ln_mgf_approx(s)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Account, Composition, Counts},
        law::{Law, Pair},
        numeric::rational::parse,
    };

    fn key(text: &str) -> Composition {
        Composition::new([Counts::parse_unknown_key(text).unwrap()]).unwrap()
    }

    fn of_pair(outcomes: &[(&str, &str)], count: u64) -> Composition {
        let outcomes = outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap()));
        let law = Law::Pair(Arc::new(Pair::new("pair.csv", outcomes).unwrap()));
        Composition::new([Counts::new(law, count, 1).unwrap()]).unwrap()
    }

    /// A new key stays hidden with the probability r = exp(-201) / 2: found with 1 - r, and a known key has a loss of at most one.
    #[test]
    fn keys_that_are_nearly_always_shown_have_two_directions() {
        const BITS: u32 = 400;
        let hidden = Enclosure::rational(&Rational::from(-201), BITS).exp().times_power_of_two(-1);
        let account = key("laplace:1:-200");
        let epsilon = crate::account::Epsilon::new(Rational::from(250)).unwrap();
        let [remove, add] = account.delta_of_directions(&epsilon, 12).unwrap().unwrap();
        let shown = Enclosure::double(1.0, BITS).sub(&hidden);
        assert!(remove.value.lower() <= shown.lower() && shown.upper() <= remove.value.upper(), "{}", remove.value);
        // Before, both ends were one.
        assert!(*add.value.lower() == 0 && *add.value.upper() <= 1e-12, "{}", add.value);
        let beta = account.tradeoff(&Rational::new(), 12).unwrap().value;
        assert!(beta.lower() <= hidden.lower() && hidden.upper() <= beta.upper() && *beta.upper() < 1e-12, "{beta}");
        // Two bounds contradicted each other.
        assert!(key("discrete-laplace:1:-200").delta("100", 12).is_ok());
    }

    /// The one finite loss of the pair is zero, so that no sum of losses is left beside Laplace noise: delta is 1/2 and half of that of the noise.
    #[test]
    fn a_pair_without_a_finite_loss_stands_beside_continuous_laplace_noise() {
        let laplace = Composition::new([Counts::parse("laplace", "2x2").unwrap()]).unwrap();
        // Two directions that differ.
        let pair = of_pair(&[("1/2", "1/4"), ("1/2", "0"), ("0", "3/4")], 1);
        let equal = of_pair(&[("1/2", "1/2"), ("1/2", "0"), ("0", "1/2")], 1);
        for epsilon in ["0", "1/10", "3/4"].map(|epsilon| parse(epsilon).unwrap()) {
            let own = laplace.delta(epsilon.clone(), 12).unwrap().value;
            let half = Enclosure::double(0.5, 64).add(&own.times_power_of_two(-1));
            let found = equal.compose(&laplace).unwrap().delta(epsilon.clone(), 12).unwrap().value;
            assert!(found.overlaps(&half) && found.is_tight(10), "{found} {half}");
            assert!(pair.compose(&laplace).unwrap().delta(epsilon, 12).is_ok());
        }
    }

    /// At epsilon = 1 no known key has so large a loss, so delta is the mass of the tail: q^39 / (1 + q) with q = exp(-1/2).
    #[test]
    fn a_new_key_is_enclosed_at_every_number_of_digits() {
        const BITS: u32 = 1500;
        let q = Enclosure::rational(&parse("-1/2").unwrap(), BITS).exp();
        let above = Enclosure::rational(&parse("-39/2").unwrap(), BITS).exp();
        let truth = above.div(&q.add(&Enclosure::double(1.0, BITS)));
        for digits in [12, 48, 80, 150] {
            let delta = key("discrete-laplace:1/2:40").delta("1", digits).unwrap();
            assert!(delta.value.lower() <= truth.lower() && truth.upper() <= delta.value.upper(), "{digits}");
            assert!(delta.met, "{digits}");
            let mass = key("discrete-laplace:1/2:40").infinite_loss().unwrap().mass(digits);
            assert!(mass.lower() <= truth.lower() && truth.upper() <= mass.upper(), "{digits}");
        }
    }

    /// Beside samples delta is the sum over the outcomes of the pair, each with the samples alone: in both directions, with outcomes that one neighbor alone can have.
    #[test]
    fn pairs_that_are_not_symmetric_stand_beside_samples() {
        let samples = Composition::new([Counts::parse_sampled("0.1:gaussian:1x20").unwrap()]).unwrap();
        let one = |direction: Direction, epsilon: f64| {
            let epsilon = crate::account::Epsilon::new(crate::numeric::rational::from_f64(epsilon).unwrap()).unwrap();
            let both = samples.delta_of_directions(&epsilon, 12).unwrap().unwrap();
            direction.pick(both).value.approximate()
        };
        // Below zero: 1 - exp(x) + exp(x) times that of -x in the other direction.
        let alone = |[own, other]: [Direction; 2], epsilon: f64| match epsilon >= 0.0 {
            true => one(own, epsilon),
            false => -libm::expm1(epsilon) + libm::exp(epsilon) * one(other, -epsilon),
        };
        let outcomes = [("1/2", "1/4"), ("1/4", "1/2"), ("1/4", "0"), ("0", "1/4")];
        let masses = outcomes.map(|(p, q)| (parse(p).unwrap().to_f64(), parse(q).unwrap().to_f64()));
        let beside = of_pair(&outcomes, 1).compose(&samples).unwrap();
        assert!(beside.is_sampled() && !beside.is_symmetric());
        for epsilon in ["0", "1/2", "2"].map(|epsilon| parse(epsilon).unwrap()) {
            let both = beside.delta_of_directions(&crate::account::Epsilon::new(epsilon.clone()).unwrap(), 10);
            let both = both.unwrap().unwrap();
            for (way, value) in
                [[Direction::Remove, Direction::Add], [Direction::Add, Direction::Remove]].iter().zip(both)
            {
                let each = masses.map(|(p, q)| way[0].pick([(p, q), (q, p)]));
                let each = each.iter().map(|(p, q)| match *q > 0.0 && *p > 0.0 {
                    true => p * alone(*way, epsilon.to_f64() - libm::log(p / q)),
                    false => *p,
                });
                let own: f64 = each.sum();
                let value = value.value;
                assert!(value.is_tight(9) && (value.approximate() - own).abs() < 1e-8 * own, "{epsilon} {value} {own}");
            }
        }
    }

    /// Laws of every kind have an account beside samples, which is at most as private as each of both alone.
    #[test]
    fn every_law_composes_with_samples() {
        let samples = Composition::new([Counts::parse_sampled("0.01:gaussian:1x100").unwrap()]).unwrap();
        let delta: crate::account::Delta = "1e-5".parse().unwrap();
        let alone = samples.epsilon(&delta, 6).unwrap().value;
        for (law, text) in [
            ("approximate", "0.1:1e-7"),
            ("truncated-laplace", "1:20"),
            ("truncated-gaussian", "10:30"),
            ("staircase", "0.5:4:2@3"),
            ("exponential", "0.1x3"),
            ("randomized-response", "1:5x2"),
        ] {
            let other = Composition::new([Counts::parse(law, text).unwrap()]).unwrap();
            let both = other.compose(&samples).unwrap().epsilon(&delta, 6).unwrap();
            let other = other.epsilon(&delta, 6).unwrap().value;
            assert!(both.met, "{law}: {}", both.value);
            assert!(both.value.upper() >= alone.lower() && both.value.upper() >= other.lower(), "{law}");
        }
        let key = key("laplace:2:30").compose(&samples).unwrap().epsilon(&delta, 6).unwrap();
        assert!(key.met && key.value.upper() >= alone.lower());
    }

    /// A pair whose only finite loss is below zero: delta is 1/3 at every epsilon, 5/9 for two of them.
    #[test]
    fn epsilon_at_the_probability_of_an_infinite_loss_is_at_least_zero() {
        let n = [("1/3", "0"), ("2/3", "1")];
        for (count, delta) in [(1, parse("1/3").unwrap()), (2, parse("5/9").unwrap())] {
            let delta = crate::account::Delta::try_from(&delta).unwrap();
            let epsilon = of_pair(&n, count).epsilon(&delta, 12).unwrap();
            assert!(*epsilon.value.lower() == 0 && *epsilon.value.upper() < 1e-9, "{}", epsilon.value);
        }
        let third = crate::account::Delta::try_from(&parse("1/3").unwrap()).unwrap();
        let all = of_pair(&[("1/3", "0"), ("1/3", "1/2"), ("1/3", "1/2")], 1);
        let epsilon = all.epsilon(&third, 12).unwrap().value;
        assert!(*epsilon.lower() == 0 && *epsilon.upper() < 1e-9, "{epsilon}");
    }

    /// With an infinite loss f(0) is what its probability leaves: 2/3, not 1.
    #[test]
    fn the_second_enclosure_of_the_end_of_a_tradeoff_contains_it() {
        let account = of_pair(&[("1/3", "0"), ("1/3", "1/2"), ("1/3", "1/4"), ("0", "1/4")], 1);
        let truth = parse("2/3").unwrap();
        for (alpha, truth) in [(Rational::new(), truth), (Rational::from(1), Rational::new())] {
            assert!(account.tradeoff(&alpha, 12).unwrap().value.contains(&truth));
            let second = account.evaluator().second_tradeoff(&alpha, None).unwrap();
            assert!(second.value.contains(&truth), "{}", second.value);
        }
    }

    #[test]
    fn divisions_are_counted() {
        for (changes, records) in
            [(1, &[1][..]), (3, &[1, 1]), (4, &[1, 1, 1]), (2, &[1; 5]), (5, &[3, 1]), (6, &[3, 2, 1]), (9, &[2, 2, 1])]
        {
            let all = divisions(changes, records);
            assert_eq!(all.len() as f64, count_of_divisions(changes, records).round(), "{changes} {records:?}");
            let sum = |counts: &Vec<u64>| counts.iter().zip(records).map(|(count, each)| count * each).sum::<u64>();
            assert!(all.iter().all(|counts| sum(counts) == changes && counts.len() == records.len()));
        }
        assert_eq!(divisions(5, &[3, 1]), [[0, 5], [1, 2]]);
        assert!(count_of_divisions(1_000_000_000_000, &[2, 1]) > MOST_WAYS as f64);
    }
}
