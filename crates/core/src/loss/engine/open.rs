//! The engine of open contours: many copies of losses without a common lattice.

use std::sync::Arc;

use super::{Cost, Engine, Tolerance, machine, request::Prepared, session::Session};
use crate::{
    error::{Error, Result},
    loss::{answer::Answer, contour::Contours, open::Open},
};

/// Its name.
pub(crate) const NAME: &str = "open contour";

/// The trapezoid rule on a contour without an end.
#[derive(Debug)]
pub(crate) struct OpenContour(Open);

impl OpenContour {
    /// `None` for a sum that it does not serve.
    pub(crate) fn new(contours: &Arc<Contours>) -> Option<Self> {
        Open::new(contours).map(OpenContour)
    }
}

impl Engine for OpenContour {
    fn name(&self) -> &'static str {
        NAME
    }

    fn cost(&self, request: &Prepared, session: &Session, _: f64) -> Cost {
        let is_served = request.epsilon().is_some() && !request.period().is_short();
        if !is_served || session.has_failed(self.name(), request.digits()) {
            return Cost::NotServed;
        }
        Cost::seconds(self.0.seconds(&request.question, request.digits()).max(machine::QUICK.next_up()))
    }

    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer> {
        match self.0.hockey_stick(&request.question, request.digits()) {
            Err(error) if !error.is_fatal() => {
                session.failed(self.name(), request.digits());
                Err(Error::NoLattice)
            }
            answer => answer,
        }
    }

    fn approximate(&self, request: &Prepared, _: &Session, _: Tolerance) -> Result<Option<f64>> {
        const DIGITS: u32 = 12;
        Ok(request.epsilon().and_then(|_| self.0.ln_approx(&request.question, DIGITS)))
    }
}
