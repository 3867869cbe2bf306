//! Answers about noise on Poisson samples: of each direction, and the larger of both.

use rug::{Float, Rational};

use super::profile::Profile;
use crate::{
    error::Result,
    loss::{
        answer::{self, Answer},
        engine::{request::check_epsilon, session::Session},
        gaussian,
        limit::Limit,
        parameter::Delta,
        sampled::{Direction, SampledSum, Side},
        second::{Means, SecondEnclosure},
        stop::Stop,
    },
    numeric::Enclosure,
};

/// Answers requests about noise on Poisson samples.
#[derive(Debug)]
pub struct SampledEvaluator {
    sum: SampledSum,
    /// The only direction that counts; `None` for the larger of both.
    only: Option<Direction>,
    stop: Stop,
}

/// From here on a hockey stick is taken from its complement.
const HALF: f64 = 0.5;
/// Digits of second enclosures.
const SECOND_DIGITS: u32 = 15;
/// Why they bound from one side only.
const ONE_SIDE: &str = "with Poisson sampling these means bound from one side only";

impl SampledEvaluator {
    /// An evaluator of these losses, which refuses every further request once `stop` is set.
    pub(crate) fn new(sum: SampledSum, stop: &Stop) -> Self {
        SampledEvaluator { sum, only: None, stop: stop.clone() }
    }

    /// An evaluator of one direction of these losses.
    pub(crate) fn of_one(sum: SampledSum, direction: Direction, stop: &Stop) -> Self {
        SampledEvaluator { sum, only: Some(direction), stop: stop.clone() }
    }

    /// An evaluator of each direction: where a record is removed, and where it is added.
    pub(crate) fn directions(&self) -> [SampledEvaluator; 2] {
        let of = |direction| SampledEvaluator { sum: self.sum.clone(), only: Some(direction), stop: self.stop.clone() };
        [of(Direction::Remove), of(Direction::Add)]
    }

    /// Whether it is about one direction only.
    pub(crate) fn is_of_one_direction(&self) -> bool {
        self.only.is_some()
    }

    fn of_direction(&self, direction: Direction, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        let side = |side| self.sum.hockey_stick(direction, side, epsilon, digits, &self.stop);
        let delta = side(Side::Delta)?;
        if *delta.value.lower() < HALF {
            return Ok(delta);
        }
        // Near one the complement is as precise.
        let rest = side(Side::Complement)?;
        let value = Enclosure::double(1.0, rest.value.lower().prec()).sub(&rest.value);
        answer::both(Ok(delta), Ok(Answer { value, ..rest }), digits)
    }

    /// An epsilon below 1 at which delta is proven to be at most this one, where samples are rare.
    pub(crate) fn epsilon_above(&self, delta: &Delta) -> Option<f64> {
        self.sum.epsilon_above(delta)
    }
}

impl Profile for SampledEvaluator {
    fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        if let Some(direction) = self.only {
            return self.of_direction(direction, epsilon, digits);
        }
        /// Digits of a direction that is nearly always the smaller.
        const FEW: u32 = 3;
        let remove = self.of_direction(Direction::Remove, epsilon, digits)?;
        if digits > FEW && self.of_direction(Direction::Add, epsilon, FEW)?.value.upper() <= remove.value.lower() {
            return Ok(remove);
        }
        let add = self.of_direction(Direction::Add, epsilon, digits)?;
        Ok(answer::larger(remove, add, digits))
    }

    fn ln_hockey_stick_near(&self, epsilon: &Rational, near: Option<f64>) -> Result<f64> {
        self.stop.check()?;
        let of = |direction| self.sum.ln_hockey_stick_approx(direction, epsilon, near, &self.stop);
        match self.only {
            Some(direction) => of(direction),
            None => Ok(of(Direction::Remove)?.max(of(Direction::Add)?)),
        }
    }

    fn mean_and_deviation_approx(&self) -> (f64, f64) {
        self.sum.mean_and_deviation_approx()
    }

    /// At most that of the same noise without sampling, in closed form, and at most the bound by moments of integer order.
    fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        let without_sampling = self.sum.above(epsilon, SECOND_DIGITS);
        let by_moments = self.sum.above_by_moments(epsilon);
        let least = Float::new(64);
        let (upper, by) = if by_moments < *without_sampling.upper() {
            (by_moments, Means::Moments)
        } else {
            (without_sampling.upper().clone(), Means::Unsampled)
        };
        Ok(SecondEnclosure { value: Enclosure::new(least, upper), by, note: Some(ONE_SIDE) })
    }

    /// Bounded below by that of the same noise without sampling, and above by that of perfect privacy.
    fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        if let Some(known) = SecondEnclosure::at_ends(alpha)? {
            return Ok(known);
        }
        let least = match self.sum.is_beside_others() {
            // No closed form is known.
            true => Enclosure::double(0.0, 64),
            false => gaussian::tradeoff(&self.sum.rho_without_sampling(), alpha, SECOND_DIGITS)?,
        };
        let most = Enclosure::rational(&Rational::from(1 - alpha), 64);
        Ok(SecondEnclosure { value: least.hull(&most), by: Means::Unsampled, note: Some(ONE_SIDE) })
    }
}
