//! The engine that adds a little continuous noise, and corrects for it.

use std::sync::{Arc, OnceLock};

use rug::Rational;

use super::{Cost, Engine, machine, request::Prepared, session::Session};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        smoothed::{Crowd, Interval, Smoothed},
        sum::LossSum,
    },
    numeric::effort::{self, Effort},
};

/// Its name.
pub(crate) const NAME: &str = "smoothing";

/// A sum with and without a little continuous noise.
#[derive(Debug)]
pub(crate) struct WithNoise {
    sum: LossSum,
    /// `None` inside if a term is continuous or there are many groups.
    smoothed: OnceLock<Option<Smoothed>>,
}

impl WithNoise {
    pub(crate) fn new(sum: &LossSum) -> Arc<Self> {
        Arc::new(WithNoise { sum: sum.clone(), smoothed: OnceLock::new() })
    }

    fn get(&self) -> Option<&Smoothed> {
        self.smoothed.get_or_init(|| effort::apart(effort::spent(), || Smoothed::new(&self.sum)).0).as_ref()
    }

    /// The seconds of a request; `None` where it would take too long, or no group is fine.
    pub(crate) fn seconds(&self, request: &Prepared) -> Option<f64> {
        self.get()?.seconds(request.epsilon()?, request.digits())
    }

    /// The losses strictly between two with their masses under Q, known to about exp(ln_error) in all, where groups are fine; `None` where
    /// that would take too long, or more than `most` are found.
    pub(crate) fn between(
        &self,
        from: &Rational,
        to: &Rational,
        ln_error: f64,
        most: f64,
        session: &Session,
    ) -> Option<Interval> {
        self.get()?.between(from, to, ln_error, most, session.stop())
    }

    /// The number of such losses, predicted.
    pub(crate) fn predicted_between(&self, from: &Rational, to: &Rational, ln_error: f64) -> Option<Crowd> {
        self.get()?.predicted_between(from, to, ln_error)
    }
}

/// Gaussian smoothing.
#[derive(Debug)]
pub(crate) struct Smoothing(pub Arc<WithNoise>);

impl Engine for Smoothing {
    fn name(&self) -> &'static str {
        NAME
    }

    fn cost(&self, request: &Prepared, session: &Session, _: f64) -> Cost {
        if session.has_failed(self.name(), request.digits()) {
            return Cost::NotServed;
        }
        self.0.seconds(request).map_or(Cost::NotServed, Cost::seconds)
    }

    /// By the contour that the session holds of a request close to this one, else by one of its own.
    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        let (Some(smoothed), Some(epsilon)) = (self.0.get(), request.epsilon()) else { return Err(Error::NoLattice) };
        let digits = request.digits();
        if let Some(answer) = smoothed.by_session(epsilon, digits, session) {
            return Ok(answer);
        }
        match smoothed.hockey_stick(epsilon, digits, session) {
            Ok(Some(answer)) => {
                effort::spend(Effort::of_seconds(self.0.seconds(request).unwrap_or(machine::MOST_OF_ANY)));
                Ok(answer)
            }
            Err(error) if error.is_fatal() => Err(error),
            Ok(None) | Err(_) => {
                session.failed(self.name(), digits);
                Err(Error::NoLattice)
            }
        }
    }
}
