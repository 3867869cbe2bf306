//! The account of a mechanism: its privacy profile (delta as a function of epsilon), the inverse of it, and its trade-off function.

use rug::{Float, Rational};

use super::{
    composition::Composition,
    conversions,
    definition::Defined,
    epsilon, exact,
    tradeoff::{self, Losses},
};
use crate::{
    error::{Error, Result},
    law::{Direction, Law},
    loss::{
        answer::{Answer, Pair, Proof},
        evaluator::Evaluator,
        infinite::{InfiniteLoss, Target},
        parameter::{Delta, Epsilon, Rho},
        second::SecondEnclosure,
    },
    numeric::{Enclosure, parallel, precision, rational},
};

/// A mechanism, or the worst of many, with an exact privacy account: what the functions of this module need to know of it.
///
/// The profile delta(epsilon) is a supremum of functions P(S) - exp(epsilon) Q(S): it decreases, and it is convex in
/// exp(epsilon).
pub trait Account: Sync {
    /// The zCDP rho, in nats.
    fn rho(&self) -> Rho;

    /// The outcomes that only one of two neighbors can have; `None` where there are none. The zCDP rho is that of all other outcomes.
    fn infinite_loss(&self) -> Option<InfiniteLoss>;

    /// The zCDP rho, where it describes all outputs. An error where some have an infinite loss: no claim by rho alone is about these.
    fn rho_of_all(&self) -> Result<Rho> {
        match self.infinite_loss() {
            None => Ok(self.rho()),
            Some(infinite) => Err(Error::unsuitable(format!(
                "no claim by rho alone: it is about finite losses, and with probability {} an output occurs that only one of two neighbors can have, for which no zCDP holds",
                infinite.mass(12).shown(7)
            ))),
        }
    }

    /// An evaluator of the profile, for a series of requests.
    fn evaluator(&self) -> Evaluator;

    /// The trade-off function at the type I error alpha, from 0 to 1: the smallest type II error of any test of one neighbor against the
    /// other, to a relative width of about 10^-digits.
    fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Answer> {
        self.tradeoff_by(&self.evaluator(), alpha, digits)
    }

    /// The same by an evaluator of this account, which is faster from the second request on: it keeps its sieves, contours and enumerations. The
    /// answer is the same. An error for an alpha outside of [0, 1], and for the evaluator of an account of another kind.
    fn tradeoff_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer>;

    /// Where the pair of neighbors is not symmetric: the trade-off function of each direction by an evaluator of this account, of tests of absence against
    /// presence (a record that is removed), and of presence against absence. [`Account::tradeoff_by`] is the smaller.
    fn tradeoff_of_directions_by(
        &self,
        evaluator: &Evaluator,
        alpha: &Rational,
        digits: u32,
    ) -> Result<Option<[Answer; 2]>> {
        Direction::both(|direction| self.tradeoff_of_direction_by(evaluator, direction, alpha, digits))
    }

    /// The same of one direction alone.
    fn tradeoff_of_direction_by(
        &self,
        evaluator: &Evaluator,
        direction: Direction,
        alpha: &Rational,
        digits: u32,
    ) -> Result<Option<Answer>> {
        let answer = tradeoff::of_direction(&losses(self), evaluator, direction, alpha, digits)?;
        let of_one = |answer| {
            let answer = confirmed(self, answer, |defined, answer| {
                defined.confirmed_tradeoff_of(direction, alpha, answer, digits)
            })?;
            self.settled_type_two(Some(direction), alpha, answer, digits)
        };
        answer.map(of_one).transpose()
    }

    /// A type II error of tests of one direction, or of both, below the requested precision: the exact fraction where all outcomes are listed, as of tables.
    fn settled_type_two(
        &self,
        direction: Option<Direction>,
        alpha: &Rational,
        answer: Answer,
        digits: u32,
    ) -> Result<Answer> {
        settled(answer, digits, || {
            let [remove, add] = exact::type_two_of_directions(self.single()?, alpha)?;
            Some(match direction {
                None => remove.min(add),
                Some(direction) => direction.pick([remove, add]),
            })
        })
    }

    /// Where the pair of neighbors is not symmetric: the convex hull of the trade-off functions of both directions, which f-DP composes. It bounds both from below.
    fn tradeoff_hull_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Option<Answer>> {
        let hull = tradeoff::hull_of_directions(&losses(self), evaluator, alpha, digits)?;
        let listed = || exact::type_two_hull(self.single()?, alpha);
        hull.map(|answer| settled(answer, digits, listed)).transpose()
    }

    /// The same account with all noise multiplied by `factor`: variances times the factor, parameters of the discrete Laplace divided by
    /// it.
    fn with_noise_times(&self, factor: &Rational) -> Result<Self>
    where
        Self: Sized;

    /// Compositions among which are those with the largest moment at every order and the one with the largest loss: the account itself, or
    /// every block path, single or paired with itself.
    fn extremes(&self) -> Result<Vec<Composition>>;

    /// The composition itself, where every record changes the same counts.
    fn single(&self) -> Option<&Composition> {
        None
    }

    /// The question of which it is the account, with what follows from that alone; `None` where it is not known.
    fn defined(&self) -> Option<&Defined> {
        None
    }

    /// One composition that is about as private at this epsilon: the worst one to the precision of a few digits.
    fn representative(&self, epsilon: &Epsilon) -> Result<Composition>;

    /// delta(epsilon) = sup over events S of P(S) - exp(epsilon) Q(S), the hockey-stick divergence of the pair, to a
    /// relative width of 10^-digits (Su, Su & Wang, Lemma A.9 and (A.9), both terms). Epsilon in nats.
    fn delta<E>(&self, epsilon: E, digits: u32) -> Result<Answer>
    where
        E: TryInto<Epsilon>,
        Error: From<E::Error>,
    {
        self.delta_by(&self.evaluator(), epsilon, digits)
    }

    /// The same by an evaluator of this account, which is faster from the second request on. The answer is the same.
    fn delta_by<E>(&self, evaluator: &Evaluator, epsilon: E, digits: u32) -> Result<Answer>
    where
        E: TryInto<Epsilon>,
        Error: From<E::Error>,
    {
        let epsilon: Epsilon = epsilon.try_into()?;
        let answer = delta_alone(self, evaluator, &epsilon, digits)?;
        confirmed(self, answer, |defined, answer| defined.confirmed_delta(&epsilon, answer, digits))
    }

    /// A second enclosure of delta(epsilon): by the evaluator's means ([`Evaluator::second_hockey_stick`]), and by the definition of the mechanism where that is known. `leader` as there.
    fn second_delta(&self, evaluator: &Evaluator, epsilon: &Rational, leader: Option<Pair>) -> Result<SecondEnclosure> {
        let own = self.defined().and_then(|defined| defined.delta(epsilon));
        evaluator.second_hockey_stick(epsilon, leader)?.compared(own.as_ref())
    }

    /// The same of the trade-off function ([`Evaluator::second_tradeoff`]).
    fn second_tradeoff(
        &self,
        evaluator: &Evaluator,
        alpha: &Rational,
        leader: Option<Pair>,
    ) -> Result<SecondEnclosure> {
        let own = self.defined().and_then(|defined| defined.tradeoff(alpha));
        evaluator.second_tradeoff(alpha, leader)?.compared(own.as_ref())
    }

    /// A second enclosure of the epsilon at delta, by second enclosures of delta ([`Account::second_delta`]) near a first answer. The first
    /// answer is used only as the place of the search.
    fn second_epsilon(&self, evaluator: &Evaluator, delta: &Delta, first: &Answer) -> Result<SecondEnclosure> {
        let second_delta = |epsilon: &Rational| self.second_delta(evaluator, epsilon, first.pair());
        // Where the definition says nothing, those of samples bound from one side only.
        let has_lower = self.defined().is_some() || evaluator.has_second_lower_bounds();
        epsilon::second(&second_delta, has_lower, &self.rho(), self.infinite_loss().as_ref(), delta, first)
    }

    /// Epsilon at delta by the same methods alone, for accounts where all digits would take too long: both ends are proven, to a few
    /// digits or fewer.
    fn rough_epsilon(&self, delta: &Delta) -> Result<Answer> {
        const HALVINGS: u32 = 40;
        let evaluator = self.evaluator();
        // The concentrated bound holds for every account, so it is a ceiling.
        let ceiling = epsilon::ceiling(&self.rho(), self.infinite_loss().as_ref(), delta)?;
        let (mut lower, mut upper) = ([0.0, ceiling], [0.0, ceiling]);
        for _ in 0..HALVINGS {
            let halved = |[low, high]: [f64; 2]| low + (high - low) / 2.0;
            let at = |epsilon: f64| -> Result<Enclosure> {
                let epsilon = rational::from_f64(epsilon)?;
                Ok(evaluator.second_hockey_stick(&epsilon, None)?.value)
            };
            // delta(epsilon) >= delta proves a lower end, delta(epsilon) <= delta an upper one.
            let (low, high) = (halved(lower), halved(upper));
            if *at(low)?.lower() >= **delta {
                lower[0] = low
            } else {
                lower[1] = low
            }
            if *at(high)?.upper() <= **delta { upper[1] = high } else { upper[0] = high }
        }
        let value = Enclosure::double(lower[0], 64).hull(&Enclosure::double(upper[1], 64));
        let proof = Proof::bound("moments of the loss, and the comparison with continuous noise");
        Ok(Answer { met: false, value, proof })
    }

    /// ln delta(epsilon) in doubles: about 13 digits, an approximation without proof.
    fn ln_delta_approx<E>(&self, epsilon: E) -> Result<f64>
    where
        E: TryInto<Epsilon>,
        Error: From<E::Error>,
    {
        let epsilon: Epsilon = epsilon.try_into()?;
        self.evaluator().ln_hockey_stick_approx(&epsilon)
    }

    /// The smallest epsilon >= 0 with delta(epsilon) <= delta, proven from both sides to a relative width of
    /// 10^-digits: delta(lower) >= delta >= delta(upper). The method is that of the proof at the upper end.
    fn epsilon<D>(&self, delta: D, digits: u32) -> Result<Answer>
    where
        D: TryInto<Delta>,
        Error: From<D::Error>,
    {
        self.epsilon_by(&self.evaluator(), delta, digits)
    }

    /// The same by an evaluator of this account, which is faster from the second request on: it keeps its contours and enumerations. The
    /// answer is the same.
    fn epsilon_by<D>(&self, evaluator: &Evaluator, delta: D, digits: u32) -> Result<Answer>
    where
        D: TryInto<Delta>,
        Error: From<D::Error>,
    {
        let delta = delta.try_into()?;
        let answer = epsilon_alone(self, evaluator, &delta, digits)?;
        confirmed(self, answer, |defined, answer| defined.confirms_epsilon(&delta, &answer).map(|()| answer))
    }

    /// Where the pair of neighbors is not symmetric: the epsilon of each direction, a record that is removed and one that is added. That of the account is the
    /// larger.
    fn epsilon_of_directions(&self, delta: &Delta, digits: u32) -> Result<Option<[Answer; 2]>> {
        let evaluator = self.evaluator();
        let of = |direction, one: &Evaluator| {
            confirmed(self, epsilon_alone(self, one, delta, digits)?, |defined, answer| {
                defined.confirms_epsilon_of(direction, delta, &answer).map(|()| answer)
            })
        };
        Direction::both(|direction| evaluator.of_direction(direction, |one| of(direction, one)))
    }

    /// The same of delta(epsilon).
    fn delta_of_directions(&self, epsilon: &Epsilon, digits: u32) -> Result<Option<[Answer; 2]>> {
        let evaluator = self.evaluator();
        Direction::both(|direction| self.delta_of_direction_by(&evaluator, direction, epsilon, digits))
    }

    /// The same of one direction alone, by an evaluator of this account.
    fn delta_of_direction_by(
        &self,
        evaluator: &Evaluator,
        direction: Direction,
        epsilon: &Epsilon,
        digits: u32,
    ) -> Result<Option<Answer>> {
        evaluator.of_direction(direction, |one| {
            confirmed(self, delta_alone(self, one, epsilon, digits)?, |defined, answer| {
                defined.confirmed_delta_of(direction, epsilon, answer, digits)
            })
        })
    }

    /// The privacy profile at the given points, on all cores.
    fn curve<E>(&self, epsilons: &[E], digits: u32) -> Result<Vec<Point>>
    where
        E: TryInto<Epsilon> + Clone + Sync,
        Error: From<E::Error>,
    {
        let epsilons =
            epsilons.iter().map(|epsilon| Ok(epsilon.clone().try_into()?)).collect::<Result<Vec<Epsilon>>>()?;
        let evaluator = self.evaluator();
        parallel::try_map(&epsilons, |epsilon| self.point_by(&evaluator, epsilon.clone(), digits))
    }

    /// delta(epsilon) as one point of a curve, by contours that nearby points share. The last digits differ from those of
    /// [`Account::delta`]; they do not depend on the other points.
    fn delta_of_many(&self, evaluator: &Evaluator, epsilon: &Epsilon, digits: u32) -> Result<Answer> {
        let delta = evaluator.hockey_stick_of_many(epsilon, digits);
        delta.or_else(|error| by_bounds(self, evaluator, epsilon, error))
    }

    /// delta at epsilon by rho alone (Bun & Steinke), with the probability of an infinite loss where there is one: an upper bound.
    fn zcdp_delta(&self, epsilon: &Epsilon, digits: u32) -> Enclosure {
        zcdp_delta(self, epsilon, digits)
    }

    /// One point of the privacy profile, by an evaluator of this account.
    fn point_by(&self, evaluator: &Evaluator, epsilon: Epsilon, digits: u32) -> Result<Point> {
        let delta = self.delta_of_many(evaluator, &epsilon, digits)?;
        let delta = confirmed(self, delta, |defined, delta| defined.confirmed_delta(&epsilon, delta, digits))?;
        let zcdp_delta = self.zcdp_delta(&epsilon, digits);
        Ok(Point { epsilon, delta, zcdp_delta })
    }

    /// The trade-off function at the given type I errors, on all cores.
    fn tradeoff_curve(&self, alphas: &[Rational], digits: u32) -> Result<Vec<Answer>> {
        let evaluator = self.evaluator();
        parallel::try_map(alphas, |alpha| self.tradeoff_by(&evaluator, alpha, digits))
    }
}

/// delta(epsilon) by an evaluator of the account, or of one of its directions.
fn delta_alone(
    account: &(impl Account + ?Sized),
    evaluator: &Evaluator,
    epsilon: &Epsilon,
    digits: u32,
) -> Result<Answer> {
    evaluator.delta(epsilon, digits).or_else(|error| by_bounds(account, evaluator, epsilon, error))
}

/// Epsilon at delta, likewise.
fn epsilon_alone(
    account: &(impl Account + ?Sized),
    evaluator: &Evaluator,
    delta: &Delta,
    digits: u32,
) -> Result<Answer> {
    if let (Evaluator::Directions(_), Some(infinite)) = (evaluator, account.infinite_loss()) {
        // Refused with the largest probability of all directions and choices, if that is certainly larger.
        match infinite.clone().fewest().target(delta, digits) {
            Err(Error::InfiniteLoss { .. }) => return Err(infinite.too_small(delta)),
            target => drop(target?),
        }
    }
    if let Some(samples) = account.single().filter(|composition| composition.is_sampled())
        && let Some(distance) = distance_of_samples(samples)?
        && *distance.upper() <= **delta
    {
        // delta(0) <= delta already: no search, which is slow where rates are small.
        let proof = Proof::bound("delta(0) is at most the sum of the total variation distances of all steps");
        return Ok(Answer { met: true, value: Enclosure::double(0.0, 64), proof });
    }
    match epsilon::by(evaluator, &account.rho(), delta, digits) {
        Ok(answer) if answer.met => Ok(answer),
        // delta(0) is the same in both directions, where it is exactly delta no enclosure decides.
        Ok(answer) if *answer.value.lower() == 0 && is_exactly_at_most(account, delta) => {
            let proof = Proof::bound("delta(0) is at most delta, as an exact fraction");
            Ok(Answer { met: true, value: Enclosure::double(0.0, 64), proof })
        }
        Err(error) if !error.is_beyond_reach() => Err(error),
        other => within_standard_accounts(account, delta, other),
    }
}

/// Whether delta(0) is a fraction that is known, and at most delta.
fn is_exactly_at_most(account: &(impl Account + ?Sized), delta: &Delta) -> bool {
    let both = account.single().and_then(|composition| exact::delta(composition, &Rational::from(1)));
    both.is_some_and(|both| both.iter().all(|own| *own <= **delta))
}

/// A bound on the total variation distance of steps on Poisson samples, and of continuous Gaussian noise beside them: the sum over all steps of rate times the distance
/// of the noise. `None` for other noise.
///
/// With probability rate a step is that of a record in the sample, or of one of a group, else both laws are the same; and distances of independent outputs add up.
fn distance_of_samples(samples: &Composition) -> Result<Option<Enclosure>> {
    const DIGITS: u32 = 15;
    let mut sum = Enclosure::double(0.0, 64);
    for counts in samples.counts() {
        let (rate, rho) = match (counts.phase().map(|phase| phase.dominating()), &counts.law) {
            (Some(phase), _) => (phase.rate, phase.sigma2.recip() / 2_u32),
            (None, Law::Gaussian { sigma2 }) => {
                (Rational::from(1), Rational::from(counts.shift).square() / sigma2 / 2_u32)
            }
            (None, _) => return Ok(None),
        };
        let rho = Rho::new(rho)?;
        let distance = conversions::GaussianProfile::new(rho).delta(&Rational::new(), DIGITS);
        let steps = Enclosure::rational(&(rate * counts.count), 64);
        sum = sum.add(&distance.mul(&steps));
    }
    Ok(Some(sum))
}

/// An answer about the whole account beside what follows from the definition, where that is known.
fn confirmed(
    account: &(impl Account + ?Sized),
    answer: Answer,
    by: impl FnOnce(&Defined, Answer) -> Result<Answer>,
) -> Result<Answer> {
    match account.defined() {
        Some(defined) => by(defined, answer),
        None => Ok(answer),
    }
}

fn losses(account: &(impl Account + ?Sized)) -> Losses {
    Losses { rho: account.rho().to_f64(), infinite: account.infinite_loss() }
}

/// Intersects an epsilon below the requested precision with the smallest standard account, which is an upper bound. Where nothing else was proven, the
/// answer is from zero to that bound, or the error if there is none.
fn within_standard_accounts(account: &(impl Account + ?Sized), delta: &Delta, found: Result<Answer>) -> Result<Answer> {
    let Some((bound, name)) = standard_bound(account, delta)? else { return found };
    let proof = || Proof::bound(format!("what was proven within the limit of effort, and {name} at the upper end"));
    // epsilon = 0 is exact.
    let to_bound =
        |lower: Float| Answer { met: bound == 0, value: Enclosure::new(lower, bound.clone()), proof: proof() };
    match found {
        Ok(answer) if *answer.value.upper() <= bound => Ok(answer),
        // lower <= epsilon <= bound.
        Ok(answer) if *answer.value.lower() <= bound => Ok(to_bound(answer.value.lower().clone())),
        Ok(_) => Err(Error::Contradiction { what: "an epsilon, and the upper bound by a standard account" }),
        // 0 <= epsilon <= bound.
        Err(_) => Ok(to_bound(Float::with_val(64, 0))),
    }
}

/// The smallest upper bound on the epsilon at delta by a standard account that can be computed here, with its name: the largest loss, zCDP at the best
/// order, or RDP. `None` if none has one. Where some losses are infinite, zCDP and RDP have delta less their probability for the others.
fn standard_bound(account: &(impl Account + ?Sized), delta: &Delta) -> Result<Option<(Float, &'static str)>> {
    const DIGITS: u32 = 15;
    const BITS: u32 = 64;
    let extremes = account.extremes()?;
    let largest: Option<Vec<Rational>> = extremes.iter().map(Composition::largest_finite_loss).collect();
    let largest = largest.and_then(|all| all.into_iter().max()).map(|loss| Enclosure::rational(&loss, BITS));
    let mut bounds = vec![(largest, "the largest loss")];
    let finite = match account.infinite_loss().map(|infinite| infinite.target(delta, DIGITS)).transpose()? {
        None => Some(delta.clone()),
        // epsilon falls as delta rises: the least delta gives the upper bound.
        Some(Target::At(delta) | Target::Between { least: delta, .. }) => Some(delta),
        Some(Target::Zero) => None,
    };
    if let Some(delta) = finite {
        bounds.push((conversions::zcdp_epsilon_best_order(&account.rho(), &delta).ok(), "zCDP (best order)"));
        bounds.push((conversions::renyi_epsilon_of_worst(&extremes, &delta).ok().map(|best| best.epsilon), "RDP"));
    }
    let upper = |epsilon: Enclosure| epsilon.clamp(0.0, f64::INFINITY).upper().clone();
    let all = bounds.into_iter().filter_map(|(epsilon, name)| Some((upper(epsilon?), name)));
    Ok(all.filter(|(bound, _)| bound.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0)))
}

/// Encloses delta(epsilon) where it cannot be computed, by what is known without the losses: zCDP (Bun & Steinke, Proposition 1.3, solved for delta), the
/// largest loss, and the second enclosure, which has a lower end as well. Other errors are returned.
fn by_bounds(
    account: &(impl Account + ?Sized),
    evaluator: &Evaluator,
    epsilon: &Epsilon,
    error: Error,
) -> Result<Answer> {
    const DIGITS: u32 = 15;
    if !error.is_beyond_reach() {
        return Err(error);
    }
    let zero = Enclosure::double(0.0, 64);
    let is_beyond = |one: &Composition| one.largest_finite_loss().is_some_and(|largest| largest <= **epsilon);
    let most = match account.extremes()?.iter().all(is_beyond) {
        // No finite loss is above epsilon.
        true => account.infinite_loss().map_or(zero.clone(), |infinite| infinite.delta(&zero, DIGITS)),
        false => zcdp_delta(account, epsilon, DIGITS),
    };
    let second = evaluator.second_hockey_stick(epsilon, None)?.value;
    let value = most.hull(&zero).clamp(0.0, 1.0).meet(&second);
    let value = value.ok_or(Error::Contradiction { what: "delta, by its bounds and by the second enclosure" })?;
    Ok(Answer {
        value,
        proof: Proof::bound(
            "the bounds by zCDP, the largest loss and the second enclosure: the losses are beyond the reach of every engine",
        ),
        met: false,
    })
}

/// A type II error below the requested precision: the exact fraction, where all outcomes are listed.
fn settled(answer: Answer, digits: u32, listed: impl FnOnce() -> Option<Rational>) -> Result<Answer> {
    if answer.met {
        return Ok(answer);
    }
    let Some(exact) = listed() else { return Ok(answer) };
    if !answer.value.contains(&exact) {
        return Err(Error::Contradiction { what: "a type II error (by an engine and by all outcomes)" });
    }
    let value = Enclosure::rational(&exact, precision::bits(digits, 64));
    Ok(Answer { met: true, value, proof: Proof::bound("all outcomes are listed: the error is an exact fraction") })
}

/// delta by rho alone, with the outcomes that only one of two neighbors can have.
fn zcdp_delta(account: &(impl Account + ?Sized), epsilon: &Epsilon, digits: u32) -> Enclosure {
    let finite = conversions::zcdp_delta(&account.rho(), epsilon, digits);
    account.infinite_loss().map_or(finite.clone(), |infinite| infinite.delta(&finite, digits))
}

impl Account for Composition {
    /// For a composition that is not symmetric, the infinite losses of the direction in which they have the larger probability.
    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        match self.directions() {
            Some(directions) => directions.infinite_loss(),
            None => self.loss().infinite_loss(),
        }
    }

    fn rho(&self) -> Rho {
        Composition::rho(self).clone()
    }

    fn evaluator(&self) -> Evaluator {
        if let Some(sampled) = self.sampled_evaluator() {
            return Evaluator::Sampled(Box::new(sampled));
        }
        if let Some(both) = self.directions_evaluator() {
            return Evaluator::Directions(Box::new(both));
        }
        let of = |one: &Composition| Evaluator::Sum(Box::new(one.loss_evaluator()));
        let finite = match (self.uniform_evaluator(), self.below()) {
            (Some(uniform), _) => Evaluator::Uniform(Box::new(uniform)),
            (None, Some(below)) => Evaluator::Between(Box::new([of(&below), of(self)])),
            (None, None) => of(self),
        };
        finite.beside(self.infinite_loss())
    }

    fn tradeoff_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        let answer = tradeoff::by(self, evaluator, alpha, digits)?;
        let answer = confirmed(self, answer, |defined, answer| defined.confirmed_tradeoff(alpha, answer, digits))?;
        self.settled_type_two(None, alpha, answer, digits)
    }

    fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        self.with_noise_of_all_times(factor)
    }

    fn extremes(&self) -> Result<Vec<Composition>> {
        Ok(vec![self.clone()])
    }

    fn single(&self) -> Option<&Composition> {
        Some(self)
    }

    fn defined(&self) -> Option<&Defined> {
        self.question()
    }

    fn representative(&self, _: &Epsilon) -> Result<Composition> {
        Ok(self.clone())
    }
}

/// A point of the privacy profile.
#[derive(Clone, Debug)]
pub struct Point {
    /// The requested epsilon, in nats.
    pub epsilon: Epsilon,
    /// delta(epsilon).
    pub delta: Answer,
    /// delta by zero-concentrated differential privacy, with the conversion of Bun & Steinke.
    pub zcdp_delta: Enclosure,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Counts;

    #[test]
    fn renyi_orders_sit_between_the_exact_account_and_zcdp() {
        for sigma2 in ["0.2x3", "1x4", "5x10"] {
            let composition = Composition::new([sigma2.parse().unwrap()]).unwrap();
            let delta: Delta = "1e-8".parse().unwrap();
            let exact = composition.epsilon(&delta, 12).unwrap().value;
            let renyi = conversions::renyi_epsilon(&composition, &delta).unwrap().epsilon;
            let zcdp = conversions::zcdp_epsilon_optimal(composition.rho(), &delta).unwrap().epsilon;
            assert!(exact.upper() < renyi.lower(), "{sigma2}");
            assert!(renyi.lower() <= zcdp.upper(), "{sigma2}");
        }
    }

    /// Without time for any step, the answer is from zero to the smallest standard account: RDP for samples, whose rho ignores the sampling.
    #[test]
    fn no_epsilon_is_above_a_standard_account() {
        let delta: Delta = "1e-5".parse().unwrap();
        let sampled = Counts::parse_sampled("0.01:gaussian:1x1000").unwrap();
        let laplace = Counts::parse_discrete_laplace("0.5x3").unwrap();
        for (counts, at_most) in [(sampled, 2.2), (laplace, 1.5)] {
            let composition = Composition::new([counts]).unwrap();
            let exact = composition.epsilon(&delta, 12).unwrap().value;
            let (bound, name) = standard_bound(&composition, &delta).unwrap().unwrap();
            // The truth is between the ends of the exact account: with three Laplace counts RDP agrees with it to 13 digits.
            assert!(*exact.lower() <= bound && bound <= at_most, "{name}: {bound}");
            let answer = within_standard_accounts(&composition, &delta, Err(Error::OutOfTime)).unwrap();
            assert!(*answer.value.lower() == 0 && *answer.value.upper() == bound && !answer.met);
            let wide = Enclosure::double(0.25, 64).hull(&Enclosure::double(900.0, 64));
            let wide = Answer { value: wide, proof: Proof::bound("a test"), met: false };
            let answer = within_standard_accounts(&composition, &delta, Ok(wide)).unwrap();
            assert!(*answer.value.lower() == 0.25 && *answer.value.upper() == bound);
            // What excludes a proven bound is a fault of the program.
            let false_one = Answer { value: Enclosure::double(900.0, 64), proof: Proof::bound("a test"), met: false };
            assert!(within_standard_accounts(&composition, &delta, Ok(false_one)).is_err());
        }
    }
}
