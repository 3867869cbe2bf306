//! Answers about sums with continuous Laplace noise, or mechanisms of bounded range.

use rug::Rational;

use super::{profile::Profile, sum::SumEvaluator};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{self, Answer},
        engine::{request::check_epsilon, session::Session},
        limit::Limit,
        second::SecondEnclosure,
        stop::Stop,
        uniform::UniformSum,
    },
};

/// Answers requests about such a sum, whose pair is symmetric unless it is one direction.
#[derive(Debug)]
pub struct UniformEvaluator {
    /// With all other losses that have no lattice rounded down and up; one where these are exact.
    sums: Vec<UniformSum>,
    /// Of sums of finitely many losses that are at least as private, and at most: for second enclosures.
    rounded: Box<[SumEvaluator; 2]>,
    stop: Stop,
}

impl UniformEvaluator {
    /// The evaluator of such a sum, with other losses rounded down and up, and of sums of finitely many losses around it.
    pub(crate) fn new([below, above]: [UniformSum; 2], rounded: [SumEvaluator; 2], stop: &Stop) -> Self {
        let sums = if below == above { vec![above] } else { vec![below, above] };
        UniformEvaluator { sums, rounded: Box::new(rounded), stop: stop.clone() }
    }

    /// The largest loss, where losses are bounded.
    pub(crate) fn largest_loss(&self) -> Option<Rational> {
        self.sums.last().and_then(UniformSum::largest_loss)
    }
}

impl Profile for UniformEvaluator {
    fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    fn mean_and_deviation_approx(&self) -> (f64, f64) {
        self.sums[0].mean_and_deviation_approx()
    }

    fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        self.stop.check()?;
        let of = |sum: &UniformSum| sum.hockey_stick(epsilon, digits, &self.stop);
        match &self.sums[..] {
            [below, above] => answer::between(of(below)?, of(above)?, digits),
            [one, ..] => of(one),
            [] => Err(Error::EmptyComposition),
        }
    }

    fn ln_hockey_stick_near(&self, epsilon: &Rational, _: Option<f64>) -> Result<f64> {
        self.stop.check()?;
        let Some(sum) = self.sums.last() else { return Err(Error::EmptyComposition) };
        sum.ln_hockey_stick_approx(epsilon, &self.stop)
    }

    /// Between those of the sums of finitely many losses.
    fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        let [below, above] = self.rounded.each_ref().map(|one| one.second_hockey_stick(epsilon));
        Ok(below?.or(above?))
    }

    /// The same of the trade-off function.
    fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        let [below, above] = self.rounded.each_ref().map(|one| one.second_tradeoff(alpha));
        Ok(below?.or(above?))
    }
}
