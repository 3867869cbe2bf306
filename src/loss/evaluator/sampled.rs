//! Answers about noise on Poisson samples: of each direction, and the larger of both.

use rug::Rational;

use crate::{
    error::Result,
    loss::{
        answer::Answer,
        engine::session::Session,
        gaussian,
        limit::Limit,
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
    stop: Stop,
}

/// Digits of second enclosures.
const SECOND_DIGITS: u32 = 15;
/// Why they bound from one side only.
const ONE_SIDE: &str = "the same noise without sampling, which is at most as private";

impl SampledEvaluator {
    /// An evaluator of these losses, which refuses every further request once `stop` is set.
    pub(crate) fn new(sum: SampledSum, stop: &Stop) -> Self {
        SampledEvaluator { sum, stop: stop.clone() }
    }

    pub(crate) fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    /// The hockey stick where a record is removed, and where it is added, for epsilon >= 0.
    pub fn directions(&self, epsilon: &Rational, digits: u32) -> Result<[Answer; 2]> {
        super::check_epsilon(epsilon)?;
        self.stop.check()?;
        let of = |direction| self.sum.hockey_stick(direction, Side::Delta, epsilon, digits, &self.stop);
        Ok([of(Direction::Remove)?, of(Direction::Add)?])
    }

    /// The larger of both.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let [remove, add] = self.directions(epsilon, digits)?;
        let value = remove.value.max(&add.value);
        let leader = if remove.value.upper() >= add.value.upper() { remove } else { add };
        Ok(Answer { met: value.is_tight(digits) || *value.upper() == 0, value, ..leader })
    }

    /// Its logarithm in doubles, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.stop.check()?;
        let of = |direction| self.sum.ln_hockey_stick_approx(direction, epsilon, &self.stop);
        Ok(of(Direction::Remove)?.max(of(Direction::Add)?))
    }

    /// At most that of the same noise without sampling, in closed form.
    pub fn second_hockey_stick(&self, epsilon: &Rational) -> SecondEnclosure {
        let value = Enclosure::double(0.0, 64).hull(&self.sum.above(epsilon, SECOND_DIGITS));
        SecondEnclosure { value, by: Means::Closed, note: Some(ONE_SIDE) }
    }

    /// At least that of the same noise without sampling, and at most that of perfect privacy.
    pub fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        if let Some(known) = SecondEnclosure::at_ends(alpha)? {
            return Ok(known);
        }
        let least = gaussian::tradeoff(&self.sum.rho_without_sampling(), alpha, SECOND_DIGITS)?;
        let most = Enclosure::rational(&Rational::from(1 - alpha), 64);
        Ok(SecondEnclosure { value: least.hull(&most), by: Means::Closed, note: Some(ONE_SIDE) })
    }
}
