//! The supporting lines at one type I error, and what they share.

use std::cell::RefCell;

use rug::Rational;

use super::line::Line;
use crate::{
    error::Result,
    loss::{
        answer::Answer,
        engine::{Tolerance, session::Session},
        evaluator::{Evaluator, Profile, SumEvaluator, Together},
        limit::Limit,
    },
};

/// The profile that lines are drawn from.
#[derive(Clone, Copy)]
pub(in crate::account) enum Source<'a> {
    /// Of a symmetric pair.
    Sum(&'a SumEvaluator),
    /// Of a symmetric pair with continuous Laplace noise or mechanisms of bounded range; or of a pair that is not symmetric, infinite losses included: the
    /// larger of both directions. The function is then the convex hull of those of both.
    Profile(&'a dyn Profile),
    /// Of one direction of such a pair: its own function.
    OneWay(OneWay<'a>),
}

/// One direction of a pair of laws P and Q: the tests of Q against P.
///
/// With E = exp(eps) the line of slope -E has the height 1 - sup_S [P(S) - E Q(S)] - E alpha. For E >= 1 the supremum is a point of the profile of P against Q.
/// For E < 1 it is 1 - E + E delta', with the profile delta' of Q against P at 1 / E: the event S and its complement have one sum.
#[derive(Clone, Copy)]
pub(in crate::account) struct OneWay<'a> {
    /// The profile of P against Q.
    pub(in crate::account) own: &'a Evaluator,
    /// The profile of Q against P.
    pub(in crate::account) opposite: &'a Evaluator,
    /// Both directions at once.
    pub(in crate::account) both: &'a Source<'a>,
}

impl<'a> OneWay<'a> {
    /// The profile that has the line at this loss.
    fn at(self, loss: &Rational) -> &'a Evaluator {
        if *loss < 0 { self.opposite } else { self.own }
    }
}

impl<'a> Source<'a> {
    pub(super) fn session(self, limit: Limit) -> Session {
        match self {
            Source::Sum(sum) => sum.session(limit),
            Source::Profile(profile) => profile.session(limit),
            Source::OneWay(one) => one.both.session(limit),
        }
    }

    /// The evaluator of a sum of symmetric losses, if it is one.
    pub(super) fn sum(self) -> Option<&'a SumEvaluator> {
        match self {
            Source::Sum(sum) => Some(sum),
            Source::Profile(_) | Source::OneWay(_) => None,
        }
    }

    /// Whether the heights of lines may be linear between few losses that are not known here.
    pub(in crate::account) fn is_staircase(self) -> bool {
        match self {
            Source::Sum(_) => false,
            Source::Profile(profile) => profile.has_steps(),
            Source::OneWay(one) => one.both.is_staircase(),
        }
    }

    /// The lattice of the losses.
    pub(super) fn step(self) -> Option<&'a Rational> {
        self.sum().and_then(|evaluator| evaluator.sum().step())
    }

    /// delta(|loss|) of the line at this loss.
    pub(super) fn hockey_stick(self, loss: &Rational, digits: u32, session: &Session) -> Result<Answer> {
        let epsilon = &loss.clone().abs();
        match self {
            Source::Sum(sum) => sum.hockey_stick_together(epsilon, digits, Together::Lines, session),
            Source::Profile(profile) => profile.hockey_stick(epsilon, digits),
            Source::OneWay(one) => one.at(loss).hockey_stick(epsilon, digits),
        }
    }

    /// The same as a logarithm in doubles.
    pub(super) fn ln_approx(self, loss: &Rational, session: &Session, tolerance: Tolerance) -> Result<f64> {
        let epsilon = &loss.clone().abs();
        match self {
            Source::Sum(sum) => sum.ln_hockey_stick_approx_together(epsilon, session, tolerance),
            Source::Profile(profile) => profile.ln_hockey_stick_near(epsilon, None),
            Source::OneWay(one) => one.at(loss).ln_hockey_stick_approx(epsilon),
        }
    }

    pub(super) fn mean_and_deviation_approx(self) -> (f64, f64) {
        match self {
            Source::Sum(sum) => sum.mean_and_deviation_approx(),
            Source::Profile(profile) => profile.mean_and_deviation_approx(),
            Source::OneWay(one) => one.both.mean_and_deviation_approx(),
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
