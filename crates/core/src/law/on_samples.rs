//! Noise on the counts of a Poisson sample: every record is in the sample with the probability `rate`, independently, and the law's noise is added to what the
//! sample's records count, also where none of them counts.
//!
//! # The pair
//!
//! Let p be the law of the output where the record is in the sample, and q where it is not. With the record the output is the mixture m = (1 - g) q + g p; without it, q. So
//! a removed record has the likelihood ratio r = 1 - g + g p / q and the probabilities m, an added one 1 / r and q. Hockey sticks of the mixture follow from those of p
//! against q: for gamma >= 1 - g, that of m against gamma q is g times that of p against (gamma - 1 + g) / g q, and below it is 1 - gamma; the other way round it is
//! likewise one of q against a multiple of p. So a pair p, q that dominates others does so on samples as well: of log-concave noise that of the largest change.
//!
//! An answer of randomized response is that of the value 0 where a record is absent or not in the sample: otherwise the number of answers reveals who takes part.
//!
//! # What is rounded
//!
//! Of tables and pairs everything is a fraction. Other masses are irrational: the probabilities that a loss is at least l, from the largest loss down, are rounded to
//! multiples of 2^-BITS, up for an upper bound and down for a lower one. A hockey stick rises with each of them, in every composition, as it rises with the
//! losses. Of unbounded noise the values beyond +-X are left out, of which 2^-BITS bounds the probability: as an infinite loss for the upper bound, and
//! taken together as one output, which no test distinguishes better, for the lower one.

use rug::{Integer, Rational};

use super::{
    Law,
    facts::{Facts, Growth, Range},
    finite::Finite,
    likelihoods::Direction,
    outcomes::Outcomes,
    responses::Rounding,
    sampled::Sampled,
    theta,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// Probabilities are rounded to multiples of 2^-BITS.
const BITS: u32 = 256;
/// Bits of enclosures before.
const MORE_BITS: u32 = BITS + 128;
/// The largest variance proxy of which all values are listed.
const MOST_SIGMA2: u32 = 10_000;
/// The largest shift of an account.
const MOST_SHIFT: u64 = 1_000;

/// An output that both hypotheses can have: the exact loss of p against q, none where only q can have it, with the probabilities of both.
struct Output {
    loss: Option<Rational>,
    p: Enclosure,
    q: Enclosure,
}

/// The outputs of one count, and bounds on all others.
struct Outputs {
    /// From the largest loss down.
    all: Vec<Output>,
    /// The probability of outputs that only p can have.
    alone: Enclosure,
    /// Outputs of larger losses that are not listed: upper bounds on their probabilities under p and q, and a lower bound under q. All smaller losses that are not listed are
    /// what is missing of one.
    above: Option<[Enclosure; 3]>,
    /// Whether there are smaller losses that are not listed.
    has_below: bool,
}

impl Sampled<Law> {
    /// Noise of this law on samples of this rate, below one. An error for a law of which there is no account, or a rate out of range.
    pub fn new(rate: Rational, law: Law) -> Result<Self> {
        if kinds_of(&law).is_none() {
            let why = format!(
                "{} on a sample of the records: there is an account for gaussian, discrete-gaussian, discrete-laplace, truncated-gaussian, truncated-laplace, randomized-response and table",
                law.in_words()
            );
            return Err(Error::unsuitable(why));
        }
        if rate < Rational::from((1, 1_000_000_000_u64)) || rate > 1 {
            return Err(Error::out_of_range("rate", rational::display(&rate), "a probability from 10^-9 to 1"));
        }
        Ok(Sampled::of(rate, law))
    }

    /// The laws whose counts have an account on samples.
    fn kinds(&self) -> [&'static str; 2] {
        kinds_of(self.law()).unwrap_or(["Poisson-sampled", "sampled"])
    }

    /// The key of its law and the text of its numbers.
    pub(super) fn text(&self) -> String {
        let label = self.law().label().map(String::from);
        let numbers = || {
            let first = rational::display(self.law().parameter());
            let others = self.law().other_parameters().into_iter().map(|(_, value)| rational::display(&value));
            [first].into_iter().chain(others).collect::<Vec<_>>().join(":")
        };
        format!("{}:{}:{}", rational::display(self.rate()), self.law().key(), label.unwrap_or_else(numbers))
    }

    /// The largest value of unbounded noise that is listed. Beyond x = X + shift the terms of E[exp(s L)] are at most those of exp((s + 1) (2 x - shift) shift / (2 sigma2)) q(x): with
    /// (s + 1) shift <= X / 4 their sum is below exp(-X^2 / (4 sigma2)) < 2^-128.
    pub(crate) fn listed_up_to(&self) -> Option<u64> {
        self.law()
            .finite(1)
            .is_none()
            .then(|| self.law().sigma2())
            .flatten()
            .map(|sigma2| reach(sigma2.to_f64()) as u64)
    }

    /// The losses of one direction for a change by the shift, rounded.
    pub(super) fn outcomes(&self, shift: u64, rounding: Rounding, direction: Direction) -> Outcomes {
        if let Some(likelihoods) = self.law().likelihoods(shift) {
            return likelihoods.on_samples(self.rate()).towards(direction).outcomes(rounding);
        }
        let outputs = self.outputs(shift);
        let real = |x: &Rational| Enclosure::rational(x, MORE_BITS);
        let (rate, rest) = (real(self.rate()), real(&Rational::from(1 - self.rate())));
        let ratio = |loss: &Option<Rational>| match loss {
            Some(loss) => rest.add(&rate.mul(&real(loss).exp())),
            None => rest.clone(),
        };
        let mixed = |p: &Enclosure, q: &Enclosure| rate.mul(p).add(&rest.mul(q));
        let zero = || Enclosure::double(0.0, MORE_BITS);
        let mut losses: Vec<(Enclosure, Enclosure)> = match direction {
            Direction::Remove => outputs.all.iter().map(|one| (ratio(&one.loss).ln(), mixed(&one.p, &one.q))).collect(),
            Direction::Add => {
                outputs.all.iter().rev().map(|one| (ratio(&one.loss).ln().negate(), one.q.clone())).collect()
            }
        };
        let mut infinite = if direction == Direction::Remove { rate.mul(&outputs.alone) } else { zero() };
        // Losses that are not listed, of outputs with a smaller loss of p against q.
        let lowest = || rest.ln();
        if outputs.has_below {
            match (direction, rounding) {
                // They are at least ln(1 - g).
                (Direction::Remove, Rounding::Down) => losses.push((lowest(), zero())),
                // They are at most -ln(1 - g): what is missing of one is the larger of both sides.
                (Direction::Add, Rounding::Up) => {
                    let listed = losses.iter().fold(zero(), |sum, (_, mass)| sum.add(mass));
                    let missing = Enclosure::double(1.0, MORE_BITS).sub(&listed).clamp(0.0, 1.0);
                    losses.insert(0, (lowest().negate(), missing));
                }
                // Taken together with the last one.
                _ => {}
            }
        }
        if let Some([p, q, least]) = &outputs.above {
            match (direction, rounding) {
                (Direction::Remove, Rounding::Up) => infinite = infinite.add(&mixed(p, q)),
                // Taken together: ln of at least the least q over at most the mixture.
                (Direction::Add, Rounding::Down) => losses.push((least.div(&mixed(p, q)).ln(), zero())),
                _ => {}
            }
        }
        Outcomes::of_tails(&losses, &infinite, rounding, BITS)
    }

    /// The larger number of both directions, of losses rounded up.
    fn larger(&self, shift: u64, of: impl Fn(&Outcomes) -> Rational) -> Rational {
        let [remove, add] = Direction::ALL.map(|direction| of(&self.outcomes(shift, Rounding::Up, direction)));
        remove.max(add)
    }

    /// The outputs of one count that changes by the shift.
    fn outputs(&self, shift: u64) -> Outputs {
        let none = Enclosure::double(0.0, MORE_BITS);
        if let Some(finite) = self.law().finite(shift) {
            let alone = finite.infinite_mass(MORE_BITS);
            let common = Enclosure::double(1.0, MORE_BITS).sub(&alone);
            let masses = finite.masses(MORE_BITS);
            let of = |(k, mass): (usize, &Enclosure)| {
                let (loss, p) = (finite.loss(k), mass.mul(&common));
                let q = p.mul(&Enclosure::rational(&-loss.clone(), MORE_BITS).exp());
                Output { loss: Some(loss), p, q }
            };
            let mut all: Vec<Output> = masses.iter().enumerate().map(of).collect();
            // The pair is symmetric.
            if finite.exact_infinite_mass().is_none_or(|mass| mass > 0) {
                all.push(Output { loss: None, p: none, q: alone.clone() });
            }
            return Outputs { all, alone, above: None, has_below: false };
        }
        let Some(sigma2) = self.law().sigma2() else {
            return Outputs { all: Vec::new(), alone: none, above: None, has_below: false };
        };
        let total = theta::gaussian_sum(sigma2, MORE_BITS);
        let exponent = |x: &Integer| -Rational::from(x.clone().square()) / sigma2 / 2_u32;
        let mass = |x: &Integer| Enclosure::rational(&exponent(x), MORE_BITS).exp().div(&total);
        let (shift, last) = (Integer::from(shift), Integer::from(reach(sigma2.to_f64()) as u64));
        // Outputs x from -X to X + shift, with p(x) = f(x - shift), q(x) = f(x), and the loss (2 x - shift) shift / (2 sigma2).
        let width = Integer::from(&last * 2_u32 + &shift);
        let first = Integer::from(&last + &shift);
        let output = |k: u64| {
            let x = Integer::from(&first - k);
            let twice = Integer::from(&x * 2_u32) - &shift;
            let loss = Rational::from(twice * &shift) / sigma2 / 2_u32;
            Output { loss: Some(loss), p: mass(&Integer::from(&x - &shift)), q: mass(&x) }
        };
        let all = (0..=width.to_u64().unwrap_or(0)).map(output).collect();
        // Beyond x >= 0 masses fall by exp(-(2 x + 1) / (2 sigma2)) or more from value to value: their sum is at most the first over one less that.
        let beyond = |x: &Integer| {
            let next = Integer::from(x + 1_u32);
            let fall = Rational::from(Integer::from(&next * 2_u32) + 1_u32) / sigma2 / 2_u32;
            mass(&next).div(&Enclosure::rational(&-fall, MORE_BITS).exp_m1().negate())
        };
        let above = [beyond(&last), beyond(&first), mass(&Integer::from(&first + 1_u32))];
        Outputs { all, alone: none, above: Some(above), has_below: true }
    }
}

/// X with exp(-X^2 / (2 sigma2)) below 2^-(BITS + 8).
fn reach(sigma2: f64) -> f64 {
    (2.0 * sigma2 * f64::from(BITS + 8) * std::f64::consts::LN_2).sqrt().ceil() + 1.0
}

/// Its name in words on samples, and that in files; `None` of laws that have no account.
fn kinds_of(law: &Law) -> Option<[&'static str; 2]> {
    Some(match law {
        Law::DiscreteGaussian { .. } => ["Poisson-sampled discrete Gaussian", "sampled-discrete-gaussian"],
        Law::DiscreteLaplace { .. } => ["Poisson-sampled discrete Laplace", "sampled-discrete-laplace"],
        Law::TruncatedGaussian { .. } => ["Poisson-sampled truncated discrete Gaussian", "sampled-truncated-gaussian"],
        Law::TruncatedLaplace { .. } => ["Poisson-sampled truncated discrete Laplace", "sampled-truncated-laplace"],
        Law::RandomizedResponse { .. } => ["Poisson-sampled randomized response", "sampled-randomized-response"],
        Law::Table(_) => ["Poisson-sampled tabulated", "sampled-table"],
        // A change of a table, of which the data decide.
        Law::Pair(_) => ["Poisson-sampled pair of hypotheses", "sampled-pair"],
        _ => return None,
    })
}

impl<'a> Facts<'a> for &'a Sampled<Law> {
    fn names(&self) -> [&'static str; 2] {
        self.kinds()
    }

    fn label(&self) -> Option<&'a str> {
        self.law().label()
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        (self.law().parameter_name(), self.law().parameter())
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        let mut others = self.law().other_parameters();
        others.push(("rate", self.rate().clone()));
        others
    }

    fn is_sampled(&self) -> bool {
        true
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        if self.law().sigma2().is_some_and(|sigma2| *sigma2 > MOST_SIGMA2) {
            let shown = rational::display(self.law().parameter());
            let expected = format!("at most {MOST_SIGMA2} on samples; beyond, the account of gaussian is close");
            return Err(Error::out_of_range("sigma2", shown, &expected));
        }
        self.law().check()
    }

    fn most_shift(&self) -> u64 {
        self.law().most_shift().min(MOST_SHIFT)
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        let (growth, range) = self.law().growth()?;
        let most = if self.law().sigma2().is_some() { Rational::from(MOST_SIGMA2) } else { range.most };
        Some((growth, Range { most, ..range }))
    }

    /// That of the same noise without sampling; where some outputs are possible for one neighbor only, the larger of both directions: on samples they have a finite loss.
    fn rho(&self, shift: u64) -> Rational {
        match self.law().has_infinite_loss() {
            true => self.larger(shift, |outcomes| outcomes.rho(1)),
            false => self.law().rho(shift),
        }
    }

    fn has_exact_rho(&self) -> bool {
        false
    }

    /// That of the same noise without sampling, as both hypotheses are mixtures of one law and one of the two without it; or else as for rho.
    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        let own = self.law().largest_loss(shift)?;
        let of_both = || self.larger(shift, |outcomes| outcomes.largest_loss(1).unwrap_or_default());
        Some(if self.law().has_infinite_loss() { own.max(of_both()) } else { own })
    }

    fn has_infinite_loss(&self) -> bool {
        self.law().has_infinite_loss()
    }

    /// Those of a pair that is at most as private, where a record is removed.
    fn finite(&self, shift: u64) -> Option<Finite> {
        self.law().largest_loss(shift)?;
        (&self.outcomes(shift, Rounding::Up, Direction::Remove)).finite(1)
    }

    fn precision_approx(&self) -> Rational {
        self.law().precision_approx()
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use super::*;
    use crate::{
        account::{Account, Composition, Counts},
        numeric::rational::parse,
    };

    fn account(text: &str) -> Composition {
        Composition::new([Counts::parse_sampled(text).unwrap()]).unwrap()
    }

    /// The output with the record in the sample and without it, in doubles.
    type Both = BTreeMap<i64, (f64, f64)>;

    fn moved(mass: impl Fn(i64) -> f64, shift: i64, reach: i64) -> Both {
        let total: f64 = (-reach..=reach).map(&mass).sum();
        let at = |x: i64| if x.abs() <= reach { mass(x) / total } else { 0.0 };
        (-reach..=reach + shift).map(|x| (x, (at(x - shift), at(x)))).collect()
    }

    /// The hockey stick of some independent steps by all of their outputs, where a record is removed and where it is added.
    fn by_outputs(both: &Both, rate: f64, steps: usize, epsilon: f64) -> [f64; 2] {
        let one: Vec<(f64, f64)> = both.values().map(|(p, q)| (rate * p + (1.0 - rate) * q, *q)).collect();
        let mut all = vec![(1.0, 1.0)];
        for _ in 0..steps {
            all = all.iter().flat_map(|(p, q)| one.iter().map(move |(m, n)| (p * m, q * n))).collect();
        }
        let excess = |p: f64, q: f64| (p - libm::exp(epsilon) * q).max(0.0);
        [all.iter().map(|(p, q)| excess(*p, *q)).sum(), all.iter().map(|(p, q)| excess(*q, *p)).sum()]
    }

    /// Up to three steps of every law, in both directions, beside sums over all outputs.
    #[test]
    fn steps_agree_with_sums_over_all_outputs() {
        let response = |epsilon: f64, answers: i64| -> Both {
            let all = libm::exp(epsilon) + (answers - 1) as f64;
            let (high, low) = (libm::exp(epsilon) / all, 1.0 / all);
            (0..answers).map(|x| (x, (if x == 1 { high } else { low }, if x == 0 { high } else { low }))).collect()
        };
        let gaussian = |sigma2: f64| move |x: i64| libm::exp(-(x * x) as f64 / (2.0 * sigma2));
        let laplace = |epsilon: f64| move |x: i64| libm::exp(-epsilon * x.abs() as f64);
        let mut compared = 0;
        for (text, both, rate) in [
            ("0.1:discrete-gaussian:1", moved(gaussian(1.0), 1, 12), 0.1),
            ("0.3:discrete-gaussian:3@2", moved(gaussian(3.0), 2, 20), 0.3),
            ("0.01:discrete-gaussian:0.1", moved(gaussian(0.1), 1, 5), 0.01),
            ("0.1:discrete-laplace:0.5", moved(laplace(0.5), 1, 80), 0.1),
            ("0.5:discrete-laplace:1@3", moved(laplace(1.0), 3, 45), 0.5),
            ("0.2:truncated-laplace:1/2:4", moved(laplace(0.5), 1, 4), 0.2),
            ("0.2:truncated-gaussian:2:3@2", moved(gaussian(2.0), 2, 3), 0.2),
            ("0.25:randomized-response:1", response(1.0, 2), 0.25),
            ("0.25:randomized-response:2:5", response(2.0, 5), 0.25),
        ] {
            for steps in 1..=if both.len() < 60 { 3 } else { 1 } {
                let (law, shift) = text.split_once('@').unwrap_or((text, "1"));
                let own = account(&format!("{law}x{steps}@{shift}"));
                for epsilon in ["0", "0.05", "0.4", "1.5"] {
                    let all = by_outputs(&both, rate, steps, parse(epsilon).unwrap().to_f64());
                    let epsilon = crate::account::Epsilon::new(parse(epsilon).unwrap()).unwrap();
                    let found = own.delta_of_directions(&epsilon, 12).unwrap().unwrap();
                    for (answer, expected) in found.iter().zip(all) {
                        let (least, most) = (answer.value.lower().to_f64(), answer.value.upper().to_f64());
                        let room = 1e-11 * expected + 1e-15;
                        assert!(
                            least - room <= expected && expected <= most + room,
                            "{text} {steps}: {answer:?} {expected}"
                        );
                        assert!(answer.met || most < 1e-60, "{text} {steps}: {answer:?}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 120, "{compared}");
    }

    /// A sample of all records is none; a table on samples is the pair of its mixtures; groups and a changed record are refused.
    #[test]
    fn samples_of_all_records_are_none_and_tables_are_pairs() {
        assert_eq!(account("1:discrete-laplace:0.5x3").counts(), [Counts::parse("discrete-laplace", "0.5x3").unwrap()]);
        let rows = [(-1, (1, 4)), (0, (1, 2)), (1, (1, 4))].map(|(value, mass)| (value, Rational::from(mass)));
        let table = Law::Table(Arc::new(super::super::NoiseTable::new("table", rows).unwrap()));
        let sampled = Law::Sampled(Arc::new(Sampled::new(Rational::from((1, 3)), table).unwrap()));
        let sampled = Composition::new([Counts::new(sampled, 4, 1).unwrap()]).unwrap();
        // With the record: -1, 0, 1 and 2 with 1/6, 5/12, 1/3 and 1/12; without: 1/4, 1/2, 1/4 and 0.
        let outcomes = [((1, 6), (1, 4)), ((5, 12), (1, 2)), ((1, 3), (1, 4)), ((1, 12), (0, 1))];
        let outcomes = outcomes.map(|(p, q)| (Rational::from(p), Rational::from(q)));
        let pair = Law::Pair(Arc::new(super::super::Pair::new("pair", outcomes).unwrap()));
        let pair = Composition::new([Counts::new(pair, 4, 1).unwrap()]).unwrap();
        for epsilon in ["0", "0.3", "1"] {
            let [own, other] = [&sampled, &pair].map(|one| one.delta(epsilon, 12).unwrap().value);
            assert!(own.overlaps(&other) && own.is_tight(12), "{own} {other}");
        }
        assert!(sampled.for_groups_of(2).is_err() && sampled.for_changed_records().is_err());
        assert!(sampled.is_sampled() && sampled.infinite_loss().is_some());
    }

    /// Unbounded noise has no largest loss and no infinite one, although its list ends; and its Renyi divergences are those of all values.
    #[test]
    fn lists_of_unbounded_noise_claim_no_more_than_their_values() {
        let own = account("0.1:discrete-gaussian:1x20");
        assert!(own.pure_epsilon().is_none() && own.infinite_loss().is_none());
        for order in ["1/2", "3", "20", "1000"] {
            let s = parse(order).unwrap();
            let moment = own.ln_mgf(&s, 200);
            // ln of the sum over all values of m (m / q)^s.
            let (at, size) = (s.to_f64(), 40 * 20);
            let ln_q = |x: i64| -(x * x) as f64 / 2.0;
            let term = |x: i64| {
                let ratio = libm::log(0.9 + 0.1 * libm::exp((x as f64 - 0.5).min(700.0)));
                let ln_ratio = if x > 600 { libm::log(0.1) + x as f64 - 0.5 } else { ratio };
                ln_q(x) + (at + 1.0) * ln_ratio
            };
            let most = (-size..4 * size).map(term).fold(f64::NEG_INFINITY, f64::max);
            let ln_sum = |of: &dyn Fn(i64) -> f64, most: f64| {
                most + libm::log((-size..4 * size).map(|x| libm::exp(of(x) - most)).sum())
            };
            let expected = 20.0 * (ln_sum(&term, most) - ln_sum(&ln_q, 0.0));
            let room = 1e-9 * expected.abs() + 1e-9;
            let (least, upper) = (moment.lower().to_f64(), moment.upper().to_f64());
            assert!(least - room <= expected && expected <= upper + room, "{order}: {moment} {expected}");
        }
    }

    /// An output that only one neighbor can have without sampling has the finite loss -ln(1 - g) with it: rho, the largest loss and what follows from both cover it.
    #[test]
    fn rho_covers_the_losses_that_only_samples_have() {
        for text in ["0.9:truncated-laplace:1/2:3", "0.99:truncated-laplace:1/10:1", "0.5:truncated-gaussian:4:3@2"] {
            let own = account(text);
            let largest = Enclosure::rational(&own.largest_finite_loss().unwrap(), 64);
            let rate = parse(text.split(':').next().unwrap()).unwrap();
            let of_sample = Enclosure::rational(&(1 - rate), 64).ln().negate();
            assert!(largest.upper() >= of_sample.lower(), "{text}: {largest} {of_sample}");
            for order in ["1/100", "1", "5", "50"] {
                let s = parse(order).unwrap();
                let most = Enclosure::rational(&((&s + s.clone().square()) * Rational::clone(own.rho())), 64);
                assert!(own.ln_mgf(&s, 128).lower() <= most.upper(), "{text} {order}");
            }
        }
        // A rate so close to one that the probability of an infinite loss rounds up to one.
        let rate = format!("0.{}", "9".repeat(100));
        assert!(account(&format!("{rate}:truncated-laplace:1:3@9")).delta("1", 12).is_ok());
    }

    /// Where the noise is not little, thousands of steps have the epsilon of continuous noise of the same variance to many digits.
    #[test]
    fn many_steps_agree_with_continuous_noise() {
        for (rate, sigma2, steps, epsilon) in [("0.01", "4", 1000, "0.5"), ("0.02", "5", 400, "0.3")] {
            let of = |law: &str| account(&format!("{rate}:{law}:{sigma2}x{steps}")).delta(epsilon, 8).unwrap().value;
            let [discrete, continuous] = ["discrete-gaussian", "gaussian"].map(of);
            let ratio = discrete.div(&continuous);
            assert!(*ratio.lower() > 1.0 - 1e-7 && *ratio.upper() < 1.0 + 1e-7, "{discrete} {continuous}");
        }
    }
}
