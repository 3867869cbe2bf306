//! Randomized response: the true one of K answers with probability e^epsilon / (e^epsilon + K - 1), else one of the others, each with the same
//! probability (Warner 1965; Kairouz, Bonawitz & Ramage 2016). Neighbors have two different true answers.

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    finite::{Factor, Finite, Infinite, Mass},
    guarantee,
    shape::Shape,
};
use crate::error::{Error, Result};

/// The name in files.
pub(super) const KEY: &str = "randomized-response";

/// The largest number of answers.
const MOST_ANSWERS: u64 = 1_000_000_000_000;

pub(super) struct RandomizedResponse<'a> {
    pub epsilon: &'a Rational,
    pub answers: u64,
}

impl<'a> Facts<'a> for RandomizedResponse<'a> {
    fn names(&self) -> [&'static str; 2] {
        ["randomized response", KEY]
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("epsilon", self.epsilon)
    }

    fn others(&self) -> Vec<(&'static str, Rational)> {
        vec![("answers", Rational::from(self.answers))]
    }

    /// The pair is that of two true answers, under each neighbor relation.
    fn is_guarantee(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        if !(2..=MOST_ANSWERS).contains(&self.answers) {
            return Err(Error::out_of_range("the number of answers", self.answers, "2 to 10^12"));
        }
        guarantee::check_epsilon(self.epsilon, "epsilon of randomized response")
    }

    /// People who change together change one answer each: that is more answers, not a larger change of one.
    fn most_shift(&self) -> u64 {
        1
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        guarantee::growth()
    }

    /// The true answer has loss epsilon, the neighbor's has -epsilon, and K - 2 others have none.
    fn finite(&self, _: u64) -> Option<Finite> {
        let (largest, others) = (self.epsilon.clone(), self.answers.saturating_sub(2));
        let ends = [Mass::exp(Rational::new()), Mass::exp(largest.clone())];
        let between = Mass { exponent: largest.clone(), factor: Factor::Exactly(Rational::from(others)) };
        let [first, last] = ends;
        let (step, masses) = match others {
            0 => (Rational::from(&largest * 2_u32), vec![first, last]),
            _ => (largest.clone(), vec![first, between, last]),
        };
        Some(Finite { largest, step, masses, places: None, infinite: Infinite::Never })
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Response { epsilon: self.epsilon.clone(), answers: self.answers })
    }

    /// That of the continuous Laplace of scale 1 / epsilon.
    fn precision_approx(&self) -> Rational {
        self.epsilon.clone().square() / 2_u32
    }
}
