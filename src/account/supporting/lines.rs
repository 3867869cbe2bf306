//! The supporting lines at one type I error, and what they share.

use std::cell::RefCell;

use rug::Rational;

use super::line::Line;
use crate::{
    error::Result,
    loss::{
        answer::Answer,
        engine::{Tolerance, session::Session},
        evaluator::{DirectionsEvaluator, SampledEvaluator, SumEvaluator, Together, UniformEvaluator},
        limit::Limit,
    },
};

/// The profile that lines are drawn from.
#[derive(Clone, Copy)]
pub(in crate::account) enum Source<'a> {
    /// Of a symmetric pair.
    Sum(&'a SumEvaluator),
    /// Of a symmetric pair with continuous Laplace noise, or mechanisms of bounded range.
    Uniform(&'a UniformEvaluator),
    /// Of noise on Poisson samples, whose pair is not symmetric: the larger of both directions. The function is then the convex hull of those of both.
    Sampled(&'a SampledEvaluator),
    /// The same of other pairs that are not symmetric, infinite losses included.
    Directions(&'a DirectionsEvaluator),
}

impl<'a> Source<'a> {
    pub(super) fn session(self, limit: Limit) -> Session {
        match self {
            Source::Sum(sum) => sum.session(limit),
            Source::Uniform(uniform) => uniform.session(limit),
            Source::Sampled(sampled) => sampled.session(limit),
            Source::Directions(both) => both.session(limit),
        }
    }

    /// The evaluator of a sum of symmetric losses, if it is one.
    pub(super) fn sum(self) -> Option<&'a SumEvaluator> {
        match self {
            Source::Sum(sum) => Some(sum),
            Source::Uniform(_) | Source::Sampled(_) | Source::Directions(_) => None,
        }
    }

    /// Whether the heights of lines may be linear between few losses that are not known here.
    pub(super) fn is_staircase(self) -> bool {
        matches!(self, Source::Directions(_))
    }

    /// The lattice of the losses.
    pub(super) fn step(self) -> Option<&'a Rational> {
        self.sum().and_then(|evaluator| evaluator.sum().step())
    }

    pub(super) fn hockey_stick(self, epsilon: &Rational, digits: u32, session: &Session) -> Result<Answer> {
        match self {
            Source::Sum(sum) => sum.hockey_stick_together(epsilon, digits, Together::Lines, session),
            Source::Uniform(uniform) => uniform.hockey_stick(epsilon, digits),
            Source::Sampled(sampled) => sampled.hockey_stick(epsilon, digits),
            Source::Directions(both) => both.hockey_stick(epsilon, digits),
        }
    }

    pub(super) fn ln_approx(self, epsilon: &Rational, session: &Session, tolerance: Tolerance) -> Result<f64> {
        match self {
            Source::Sum(sum) => sum.ln_hockey_stick_approx_together(epsilon, session, tolerance),
            Source::Uniform(uniform) => uniform.ln_hockey_stick_approx(epsilon),
            Source::Sampled(sampled) => sampled.ln_hockey_stick_approx(epsilon),
            Source::Directions(both) => both.ln_hockey_stick_approx(epsilon),
        }
    }

    pub(super) fn mean_and_deviation_approx(self) -> (f64, f64) {
        match self {
            Source::Sum(sum) => sum.mean_and_deviation_approx(),
            Source::Uniform(uniform) => uniform.mean_and_deviation_approx(),
            Source::Sampled(sampled) => sampled.mean_and_deviation_approx(),
            Source::Directions(both) => both.mean_and_deviation_approx(),
        }
    }
}

/// The supporting lines at a type I error.
pub(in crate::account) struct Lines<'a> {
    pub(super) source: Source<'a>,
    /// The type I error, between 0 and 1.
    pub(super) alpha: &'a Rational,
    /// The zCDP rho, in doubles: how far losses reach, for searching.
    pub(super) rho: f64,
    /// Whether an enumeration may certify the function itself.
    pub(super) may_list: bool,
    /// The session that neighboring lines share.
    pub(super) session: Session,
    /// All lines so far, in increasing order of eps.
    pub(super) drawn: RefCell<Vec<Line>>,
    /// The requested number of digits.
    pub(super) digits: u32,
}
