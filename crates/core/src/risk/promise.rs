//! Promises in the terms of risk, and the points of the privacy profile or of the trade-off function that decide them.
//!
//! | promise | holds if and only if |
//! | --- | --- |
//! | the advantage of every adversary is at most A | delta(0) <= A |
//! | every test with type I error alpha has a type II error of beta or more | f(alpha) >= beta |
//! | no adversary with prior q decides correctly with probability above P | delta(epsilon) <= (P - M) / m at epsilon = ln(M / m) |
//! | no event of probability d or more lifts the posterior from q above P | f(1 - d) >= d odds(q) / odds(P) |
//! | outputs whose posterior exceeds P for prior q have probability d or less | `P[L > l]` <= d at l = ln(odds(P) / odds(q)), for every change of a record |
//!
//! with M = max(q, 1 - q) and m = min(q, 1 - q). All are equivalences: see [`bound`](super::bound), [`events`](super::events) and [`outputs`](super::outputs). Where
//! the pair of neighbors is not symmetric, f is the smaller of both directions, the correct decision is that of the direction of its prior, and all others
//! have the larger profile. The last is not monotone in the noise: losses of noise on the integers lie on a lattice.

use rug::Rational;

use super::{
    bound::{deciding_direction, most_correct},
    check_length, check_prior,
    events::posterior_of_events,
    odds,
    outputs::least_posterior_of_outputs,
};
use crate::{
    account::{
        Account, Answer, Delta, Epsilon,
        outputs::least_exceeded,
        promise::{Promise, changes, tangent},
    },
    error::{Error, Result},
    loss::answer::Proof,
    numeric::{Certainty, Enclosure, rational},
    release::{Neighbors, Unit},
};

/// A promise in the terms of risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RiskPromise {
    /// The advantage of every adversary (true positives less false positives) is at most this.
    Advantage(Rational),
    /// Every test of type I error alpha has a type II error of beta or more.
    TypeTwoError {
        /// The type I error.
        alpha: Rational,
        /// The least type II error.
        beta: Rational,
    },
    /// Every adversary with this prior decides correctly with at most this probability.
    CorrectDecision {
        /// The adversary's prior probability that the record is in the data.
        prior: Rational,
        /// The largest probability of a correct decision.
        most: Rational,
        /// The neighbor relation: of a pair that is not symmetric it determines the direction.
        neighbors: Neighbors,
    },
    /// No event that has at least probability delta if the record is there lifts the posterior of an adversary with this prior above this; the same of absence at that prior of absence.
    Posterior {
        /// The adversary's prior probability.
        prior: Rational,
        /// The largest posterior.
        most: Rational,
        /// The least probability of the events.
        delta: Delta,
    },
    /// Outputs whose posterior exceeds this for an adversary with this prior have at most probability delta.
    PosteriorOfOutputs {
        /// The adversary's prior probability.
        prior: Rational,
        /// The posterior.
        most: Rational,
        /// The probability of the outputs that are excepted.
        delta: Delta,
    },
}

impl RiskPromise {
    /// An advantage above 0 and below 1. Anything else is an error.
    pub fn advantage(most: Rational) -> Result<Self> {
        if most <= 0 || most >= 1 {
            let expected = "above 0 (no noise reveals nothing at all) and below 1 (no noise is needed)";
            return Err(Error::out_of_range("the advantage", rational::display(&most), expected));
        }
        check_length("the advantage", &most)?;
        Ok(RiskPromise::Advantage(most))
    }

    /// Errors with 0 < alpha, 0 < beta and alpha + beta < 1. Anything else is an error.
    pub fn type_two_error(alpha: Rational, beta: Rational) -> Result<Self> {
        check_length("alpha", &alpha)?;
        check_length("beta", &beta)?;
        Promise::tradeoff(alpha.clone(), beta.clone())?;
        Ok(RiskPromise::TypeTwoError { alpha, beta })
    }

    /// A probability above that with which the adversary is right without any output, max(prior, 1 - prior), and below 1.
    pub fn correct_decision(prior: Rational, most: Rational, neighbors: Neighbors) -> Result<Self> {
        check_prior(&prior)?;
        let without = prior.clone().max(Rational::from(1 - &prior));
        if most <= without || most >= 1 {
            let expected = format!(
                "above {}, the probability without any output for this prior, and below 1",
                rational::display(&without)
            );
            return Err(Error::out_of_range("the posterior", rational::display(&most), &expected));
        }
        check_length("the posterior", &most)?;
        Ok(RiskPromise::CorrectDecision { prior, most, neighbors })
    }

    /// A posterior above the prior and below 1.
    pub fn posterior(prior: Rational, most: Rational, delta: Delta) -> Result<Self> {
        check_prior(&prior)?;
        if most <= prior || most >= 1 {
            let expected = format!("above the prior, {}, and below 1", rational::display(&prior));
            return Err(Error::out_of_range("the posterior", rational::display(&most), &expected));
        }
        check_length("the posterior", &most)?;
        Ok(RiskPromise::Posterior { prior, most, delta })
    }

    /// A posterior of single outputs, above the prior and below 1.
    pub fn posterior_of_outputs(prior: Rational, most: Rational, delta: Delta) -> Result<Self> {
        Self::posterior(prior.clone(), most.clone(), delta.clone())?;
        Ok(RiskPromise::PosteriorOfOutputs { prior, most, delta })
    }

    /// This promise as one about the privacy profile or the trade-off function.
    pub fn promise(&self) -> Result<Promise> {
        Ok(match self {
            RiskPromise::Advantage(most) => {
                Promise::Epsilon { delta: Delta::new(most.clone())?, epsilon: "0".parse()? }
            }
            RiskPromise::TypeTwoError { alpha, beta } => Promise::tradeoff(alpha.clone(), beta.clone())?,
            RiskPromise::CorrectDecision { prior, most, neighbors } => {
                let direction = deciding_direction(prior, *neighbors);
                let other = Rational::from(1 - prior);
                let (larger, smaller) = if *prior >= other { (prior.clone(), other) } else { (other, prior.clone()) };
                // M + m delta(ln(M / m)) <= most
                let delta = Delta::new(Rational::from(most - &larger) / &smaller)?;
                let ratio = larger / smaller;
                let epsilon = Enclosure::rational(&ratio, BITS).ln();
                let ratio = Some(ratio);
                match direction {
                    Some(direction) => Promise::OneWay { delta, epsilon, ratio, direction },
                    None => Promise::Known { delta, epsilon, ratio },
                }
            }
            RiskPromise::Posterior { prior, most, delta } => {
                let (alpha, beta) = errors_of_events(prior, most, delta);
                Promise::tradeoff(alpha, beta)?
            }
            RiskPromise::PosteriorOfOutputs { prior, most, delta } => {
                // q r / (1 - q + q r) <= most
                Promise::Outputs { delta: delta.clone(), ratio: odds(most) / odds(prior) }
            }
        })
    }

    /// Points of the privacy profile around the promise, for noise whose pair of neighbors is symmetric.
    pub fn points(&self) -> Result<Points> {
        if let RiskPromise::TypeTwoError { alpha, beta } = self {
            return Ok(Points { enough: line_through(alpha, beta)?, necessary: None });
        }
        if let RiskPromise::Posterior { prior, most, delta } = self {
            let (alpha, beta) = errors_of_events(prior, most, delta);
            // P(S) - r Q(S) <= 0 at r = odds(P) / odds(q) where P(S) >= d, and at most d elsewhere.
            let epsilon = Enclosure::rational(&(odds(most) / odds(prior)), BITS).ln();
            let above = epsilon.upper_rational().ok_or(Error::Unbounded { what: "the target epsilon" })?;
            let necessary = Some((Epsilon::new(above)?, delta.clone()));
            return Ok(Points { enough: line_through(&alpha, &beta)?, necessary });
        }
        if let RiskPromise::PosteriorOfOutputs { .. } = self {
            let why = "allocate works with the privacy profile, which does not bound the posterior of outputs: use --of events";
            return Err(Error::unsuitable(why));
        }
        let (epsilon, delta) = match self.promise()? {
            Promise::Epsilon { delta, epsilon } => (Enclosure::rational(&epsilon, BITS), delta),
            Promise::Known { delta, epsilon, .. } | Promise::OneWay { delta, epsilon, .. } => (epsilon, delta),
            _ => return Err(Error::Unbounded { what: "the target epsilon" }),
        };
        let end = |end: Option<Rational>| -> Result<Epsilon> {
            Epsilon::new(end.ok_or(Error::Unbounded { what: "the target epsilon" })?.max(Rational::new()))
        };
        // The profile falls: delta(upper) <= delta(epsilon) <= delta(lower).
        let (lower, upper) = (end(epsilon.lower_rational())?, end(epsilon.upper_rational())?);
        Ok(Points { enough: (lower, delta.clone()), necessary: Some((upper, delta)) })
    }

    /// An error for a promise about outputs of several releases: which of their counts change together decides, and is not declared.
    pub fn check_repeat(&self, repeat: u64) -> Result<()> {
        if repeat == 1 || !matches!(self, RiskPromise::PosteriorOfOutputs { .. }) {
            return Ok(());
        }
        Err(Error::unsuitable(format!(
            "the posterior of outputs of {repeat} releases: releases of the same counts change the same ones, which is not listed. Give all counts as those of one \
             release, as in 5x{repeat} for 5"
        )))
    }

    /// The risk of an account in the terms of the promise: the value that the promise bounds.
    pub fn value(&self, account: &impl Account, digits: u32) -> Result<Answer> {
        match self {
            RiskPromise::Advantage(_) => account.delta(Rational::new(), digits),
            RiskPromise::TypeTwoError { alpha, .. } => account.tradeoff(alpha, digits),
            RiskPromise::CorrectDecision { prior, neighbors, .. } => most_correct(account, prior, *neighbors, digits),
            RiskPromise::Posterior { prior, delta, .. } => posterior_of_events(account, prior, delta, digits),
            RiskPromise::PosteriorOfOutputs { prior, delta, .. } => {
                let exceeded = least_exceeded(&changes(account)?, delta)?;
                let proof = Proof::bound("the tail of the privacy loss of every change");
                Ok(Answer { met: exceeded.is_least, value: least_posterior_of_outputs(prior, &exceeded), proof })
            }
        }
    }

    /// The bound that is promised: a lower one for a type II error, an upper one for all others.
    pub fn target(&self) -> &Rational {
        match self {
            RiskPromise::Advantage(most)
            | RiskPromise::CorrectDecision { most, .. }
            | RiskPromise::Posterior { most, .. }
            | RiskPromise::PosteriorOfOutputs { most, .. } => most,
            RiskPromise::TypeTwoError { beta, .. } => beta,
        }
    }

    /// Whether a value, such as that of [`RiskPromise::value`], keeps the promise.
    pub fn kept_by(&self, value: &Enclosure) -> Certainty {
        match self {
            RiskPromise::TypeTwoError { beta, .. } if *value.lower() >= *beta => Certainty::Yes,
            RiskPromise::TypeTwoError { beta, .. } if *value.upper() < *beta => Certainty::No,
            RiskPromise::TypeTwoError { .. } => Certainty::Undecided,
            RiskPromise::Advantage(most)
            | RiskPromise::CorrectDecision { most, .. }
            | RiskPromise::Posterior { most, .. }
            | RiskPromise::PosteriorOfOutputs { most, .. } => value.at_most(most),
        }
    }

    /// The name of the value that is bounded.
    pub fn name(&self) -> &'static str {
        match self {
            RiskPromise::Advantage(_) => "advantage",
            RiskPromise::TypeTwoError { .. } => "beta",
            RiskPromise::CorrectDecision { .. } => "correct decision",
            RiskPromise::Posterior { .. } | RiskPromise::PosteriorOfOutputs { .. } => "posterior",
        }
    }

    /// The key of that value in JSON.
    pub fn key(&self) -> &'static str {
        match self {
            RiskPromise::Advantage(_) => "advantage",
            RiskPromise::TypeTwoError { .. } => "beta",
            RiskPromise::CorrectDecision { .. } => "correct_decision",
            RiskPromise::Posterior { .. } | RiskPromise::PosteriorOfOutputs { .. } => "posterior",
        }
    }

    /// The promise in words, about this unit: of a group every sentence says so.
    pub fn in_words(&self, unit: &Unit) -> String {
        let shown = rational::display;
        let of_group = if unit.group == 1 { String::new() } else { format!(" about {}", unit.records()) };
        match self {
            RiskPromise::Advantage(most) => {
                format!("the advantage{of_group} of every adversary is at most {}", shown(most))
            }
            RiskPromise::TypeTwoError { alpha, beta } => {
                let (alpha, beta) = (shown(alpha), shown(beta));
                format!("every test{of_group} with type I error {alpha} has a type II error of {beta} or more")
            }
            RiskPromise::CorrectDecision { prior, most, .. } => format!(
                "every adversary with prior {} decides correctly{of_group} with probability {} or less",
                shown(prior),
                shown(most)
            ),
            RiskPromise::Posterior { prior, most, delta } => {
                let (prior, most, delta) = (shown(prior), shown(most), shown(delta));
                match (unit.neighbors, unit.group) {
                    (Neighbors::AddRemove, 1) => format!(
                        "no event that has at least probability {delta} if the record is there lifts the posterior from {prior} above {most}; the same of its absence at that prior of absence"
                    ),
                    (Neighbors::AddRemove, group) => format!(
                        "no event that has at least probability {delta} if the records of a group of up to {group} are there lifts the posterior from {prior} above {most}; the same of their absence at that prior of absence"
                    ),
                    (Neighbors::Bounded, _) => format!(
                        "no event that has at least probability {delta} under one of two possibilities about {} lifts the posterior of that one from {prior} above {most}",
                        unit.records()
                    ),
                }
            }
            RiskPromise::PosteriorOfOutputs { prior, most, delta } => format!(
                "with prior {} no posterior{of_group} exceeds {}, except on outputs of total probability {} or less",
                shown(prior),
                shown(most),
                shown(delta)
            ),
        }
    }
}

/// Points of the privacy profile that stand for a promise.
#[derive(Clone, Debug)]
pub struct Points {
    /// delta(epsilon) at most delta implies the promise.
    pub enough: (Epsilon, Delta),
    /// The promise implies delta(epsilon) at most delta; `None` if no such point is known.
    pub necessary: Option<(Epsilon, Delta)>,
}

/// The type I error 1 - d, and the least type II error with which no event of probability d or more lifts the posterior above `most`: d odds(q) / odds(P).
fn errors_of_events(prior: &Rational, most: &Rational, delta: &Delta) -> (Rational, Rational) {
    (Rational::from(1 - &**delta), odds(prior) / odds(most) * &**delta)
}

/// A point of the profile whose supporting line of the trade-off function passes through (alpha, beta) or above: f(alpha) >= 1 - delta(epsilon) - exp(epsilon) alpha
/// >= beta. With alpha > beta the two errors are exchanged: f is its own inverse, so that f(beta) >= alpha implies f(alpha) >= beta.
///
/// The slope is that of continuous Gaussian noise through the point, with which other noise of the same power spends a little more than it has to.
fn line_through(alpha: &Rational, beta: &Rational) -> Result<(Epsilon, Delta)> {
    let (alpha, beta) = if alpha <= beta { (alpha, beta) } else { (beta, alpha) };
    let near = tangent(alpha, beta)?.0.lower_rational().ok_or(Error::Unbounded { what: "the target epsilon" })?;
    for slope in [near, Rational::new()] {
        let rise = Enclosure::rational(&slope, BITS).exp().mul(&Enclosure::rational(alpha, BITS));
        let room = Enclosure::rational(&Rational::from(1 - beta), BITS).sub(&rise);
        // Rounded down: delta <= 1 - beta - exp(epsilon) alpha. At epsilon = 0 that is 1 - alpha - beta > 0.
        if let Some(delta) = room.lower_rational().filter(|delta| *delta > 0) {
            return Ok((Epsilon::new(slope)?, Delta::new(delta)?));
        }
    }
    Err(Error::Unbounded { what: "the target epsilon" })
}

/// Bits of a logarithm of odds.
const BITS: u32 = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{
        Composition, Counts,
        promise::{Grid, calibrate},
    };

    fn number(text: &str) -> Rational {
        rational::parse(text).unwrap()
    }

    fn promises() -> Vec<RiskPromise> {
        vec![
            RiskPromise::advantage(number("0.05")).unwrap(),
            RiskPromise::advantage(number("0.9")).unwrap(),
            RiskPromise::type_two_error(number("0.05"), number("0.8")).unwrap(),
            RiskPromise::type_two_error(number("0.7"), number("0.1")).unwrap(),
            RiskPromise::correct_decision(number("1/2"), number("0.6"), Neighbors::AddRemove).unwrap(),
            RiskPromise::correct_decision(number("0.9"), number("0.95"), Neighbors::AddRemove).unwrap(),
            RiskPromise::correct_decision(number("0.01"), number("0.991"), Neighbors::AddRemove).unwrap(),
            RiskPromise::posterior(number("1/2"), number("0.9"), "1e-9".parse().unwrap()).unwrap(),
        ]
    }

    /// The least noise keeps the promise and the next smaller does not, by a direct evaluation of the risk at both.
    #[test]
    fn the_least_noise_keeps_the_promise_and_the_next_smaller_does_not() {
        for counts in ["5x10", "5x10@2"] {
            let account = Composition::new([counts.parse::<Counts>().unwrap()]).unwrap();
            for promise in promises() {
                let grid = Grid::sigma2(2);
                let found = calibrate(&account, &promise.promise().unwrap(), grid).unwrap();
                let value = promise.value(&found.account, 8).unwrap().value;
                assert_eq!(promise.kept_by(&value), Certainty::Yes, "{promise:?}: {value}");
                let before = account.with_noise_times(&found.before.unwrap()).unwrap();
                let value = promise.value(&before, 8).unwrap().value;
                assert_eq!(promise.kept_by(&value), Certainty::No, "{promise:?}: {value}");
            }
        }
    }

    /// One randomized answer with probability of truth 3/4: its advantage is 1/2, its trade-off function has the one knot (1/4, 1/4), and with a prior of 0.9
    /// the answer is ignored.
    #[test]
    fn the_risk_of_a_randomized_answer_is_that_of_its_two_outcomes() {
        // ln 3 from above and below, so that both ends enclose the value.
        let response =
            |epsilon: &str| Composition::new([Counts::parse("randomized-response", epsilon).unwrap()]).unwrap();
        let (below, above) = (response("1.0986122886681"), response("1.0986122886682"));
        for (promise, truth) in [
            (RiskPromise::advantage(number("0.3")).unwrap(), "0.5"),
            (RiskPromise::type_two_error(number("1/4"), number("0.1")).unwrap(), "0.25"),
            (RiskPromise::correct_decision(number("1/2"), number("0.6"), Neighbors::AddRemove).unwrap(), "0.75"),
            (RiskPromise::correct_decision(number("0.9"), number("0.95"), Neighbors::AddRemove).unwrap(), "0.9"),
        ] {
            for account in [&below, &above] {
                let value = promise.value(account, 9).unwrap().value;
                let (low, high) = (number(truth) - number("1e-9"), number(truth) + number("1e-9"));
                assert!(*value.lower() >= low && *value.upper() <= high, "{promise:?}: {value}");
            }
        }
    }

    /// Noise that keeps the sufficient point keeps the promise, and noise that keeps the promise keeps the necessary point.
    #[test]
    fn the_points_of_the_profile_enclose_the_promise() {
        let account = Composition::new(["5x10".parse::<Counts>().unwrap()]).unwrap();
        for promise in promises() {
            let Points { enough, necessary } = promise.points().unwrap();
            let grid = Grid::sigma2(2);
            let (delta, epsilon) = (enough.1.clone(), enough.0.clone());
            let least = |promise: &Promise| calibrate(&account, promise, grid).unwrap().factor;
            let (sufficient, own) = (least(&Promise::Epsilon { delta, epsilon }), least(&promise.promise().unwrap()));
            assert!(sufficient >= own, "{promise:?}");
            assert!(Rational::from(&sufficient / &own) < number("1.01"), "{promise:?}: {sufficient} {own}");
            match necessary {
                Some((epsilon, delta)) => assert!(least(&Promise::Epsilon { delta, epsilon }) <= own, "{promise:?}"),
                None => assert!(matches!(promise, RiskPromise::TypeTwoError { .. })),
            }
        }
    }

    #[test]
    fn impossible_promises_are_refused() {
        let delta: Delta = "1e-9".parse().unwrap();
        for (refused, says) in [
            (RiskPromise::advantage(number("0")), "above 0"),
            (RiskPromise::advantage(number("1")), "below 1"),
            (RiskPromise::type_two_error(number("0.4"), number("0.6")), "below 1"),
            (RiskPromise::type_two_error(number("0"), number("0.6")), "alpha"),
            (RiskPromise::type_two_error(number("0.1"), number("1.5")), "beta"),
            (RiskPromise::correct_decision(number("0.7"), number("0.7"), Neighbors::AddRemove), "above 0.7"),
            (RiskPromise::correct_decision(number("0.2"), number("0.8"), Neighbors::AddRemove), "above 0.8"),
            (RiskPromise::correct_decision(number("1"), number("0.8"), Neighbors::AddRemove), "prior"),
            (RiskPromise::posterior(number("0.2"), number("0.2"), delta.clone()), "above the prior"),
            (RiskPromise::posterior(number("0.2"), number("1"), delta), "below 1"),
        ] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
