//! Answers about pairs that are not symmetric: of each direction, and the larger of both.

use rug::{Float, Rational, float::Round};

use super::Evaluator;
use crate::{
    error::Result,
    loss::{
        answer::{self, Answer},
        engine::session::Session,
        limit::Limit,
        second::{Means, SecondEnclosure},
        stop::Stop,
    },
    numeric::{Enclosure, enclosure},
};

/// Answers requests about a composition in both directions: where a record is removed, and where it is added.
#[derive(Debug)]
pub struct DirectionsEvaluator {
    directions: [Evaluator; 2],
    /// Mean and standard deviation of the loss of a removed record, in doubles: for searches.
    mean_and_deviation_approx: (f64, f64),
    stop: Stop,
}

impl DirectionsEvaluator {
    /// The evaluator of these directions of one composition.
    pub(crate) fn new(directions: [Evaluator; 2], mean_and_deviation_approx: (f64, f64), stop: &Stop) -> Self {
        DirectionsEvaluator { directions, mean_and_deviation_approx, stop: stop.clone() }
    }

    /// A record that is removed, and one that is added.
    pub fn directions(&self) -> [&Evaluator; 2] {
        self.directions.each_ref()
    }

    /// A session of requests to both.
    pub(crate) fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    pub(crate) fn mean_and_deviation_approx(&self) -> (f64, f64) {
        self.mean_and_deviation_approx
    }

    /// The larger of both.
    pub(super) fn larger(&self, digits: u32, of: impl Fn(&Evaluator) -> Result<Answer>) -> Result<Answer> {
        let [remove, add] = self.directions();
        Ok(answer::larger(of(remove)?, of(add)?, digits))
    }

    /// The larger hockey stick, for epsilon >= 0.
    pub(crate) fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.larger(digits, |one| one.hockey_stick(epsilon, digits))
    }

    pub(crate) fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        let [remove, add] = self.directions().map(|one| one.ln_hockey_stick_approx(epsilon));
        Ok(remove?.max(add?))
    }

    pub(super) fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        let [remove, add] = self.directions().map(|one| one.second_hockey_stick(epsilon, None));
        let (remove, add) = (remove?, add?);
        Ok(SecondEnclosure { value: remove.value.max(&add.value), ..add })
    }

    /// Bounded below by lines: with the larger delta of both directions, f(alpha) is at least 1 - delta - exp(eps) alpha and exp(-eps) (1 - delta - alpha)
    /// for eps >= 0. Bounded above by that of perfect privacy.
    pub(crate) fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        const BITS: u32 = 64;
        const SLOPES: [(u32, u32); 6] = [(0, 1), (1, 4), (1, 1), (2, 1), (4, 1), (8, 1)];
        if let Some(known) = SecondEnclosure::at_ends(alpha)? {
            return Ok(known);
        }
        let trivial = SecondEnclosure::trivial_tradeoff(alpha);
        let mut lower = Float::new(BITS);
        for epsilon in SLOPES.map(Rational::from) {
            let exp = Enclosure::rational(&epsilon, BITS).exp();
            let rest = Enclosure::double(1.0, BITS).sub(&self.second_hockey_stick(&epsilon)?.value);
            let alpha = Enclosure::rational(alpha, BITS);
            for line in [rest.sub(&exp.mul(&alpha)), rest.sub(&alpha).div(&exp)] {
                lower = enclosure::larger(&lower, line.lower());
            }
        }
        let lower = Float::with_val_round(BITS, lower, Round::Down).0;
        let note = Some("for pairs that are not symmetric these means bound from one side only");
        Ok(SecondEnclosure { value: Enclosure::new(lower, trivial.value.upper().clone()), by: Means::Moments, note })
    }
}
