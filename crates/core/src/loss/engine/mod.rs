//! Engines: the ways to enclose a number of a sum of privacy losses, and the scheduler that chooses among them.
//!
//! | file | content |
//! | --- | --- |
//! | `request` | the requested functional and its precision |
//! | `scheduler` | the order in which engines are tried, for proofs and for approximations in doubles |
//! | `session` | the state that close requests share: contours, the engine that answered, the remaining time |
//! | `machine` | the seconds that single steps take |
//! | `contour` | [`contour`](super::contour): an integral by the trapezoid rule |
//! | `enumeration` | [`atoms`](super::atoms): all losses with their masses |
//! | `conditioning` | [`split`](super::split): the losses of the coarse groups, and the profile of the remaining ones at each |
//! | `smoothing` | [`smoothed`](super::smoothed): a contour with continuous noise, and the losses near the threshold |
//! | `reduction` | [`merged`](super::merged): groups of nearly the same step, taken as one |
//! | `open` | [`open`](super::open): a contour without an end, for many copies of losses that have no common lattice |
//! | `moments` | a bound by one moment of the loss |

pub(crate) mod conditioning;
pub(crate) mod contour;
pub(crate) mod enumeration;
pub(crate) mod machine;
pub(crate) mod moments;
pub(crate) mod open;
pub(crate) mod reduction;
pub(crate) mod request;
pub(crate) mod scheduler;
pub(crate) mod session;
pub(crate) mod smoothing;

use std::fmt;

use rug::Rational;

use self::{request::Prepared, session::Session};
use crate::{error::Result, loss::answer::Answer};

/// The cost of a request. It is predicted and never timed, so the choice of an engine is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cost {
    /// The engine does not serve this request.
    NotServed,
    /// To predict it would take longer than half the seconds at which it would be preferred.
    Unknown,
    /// Predicted seconds: of this request alone, and of each one where the work that is done once is shared.
    Seconds { alone: f64, shared: f64 },
}

impl Cost {
    /// At once: the engine is tried before costs of others are looked at.
    pub(crate) const NOTHING: Cost = Cost::seconds(0.0);

    /// A request that shares nothing.
    pub(crate) const fn seconds(seconds: f64) -> Cost {
        Cost::Seconds { alone: seconds, shared: seconds }
    }
}

/// How precise an approximation has to be, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// The complement is as precise, relative to itself, unless it is at most this.
    pub(crate) negligible: f64,
    /// Below this logarithm an estimate serves.
    pub(crate) far: f64,
    /// A computation that is predicted to take longer is not begun.
    pub(crate) most_seconds: f64,
}

impl Tolerance {
    /// The complement does not matter.
    pub(crate) const OF_VALUE: Tolerance =
        Tolerance { negligible: 1.0, far: f64::NEG_INFINITY, most_seconds: f64::INFINITY };
}

/// A way to enclose a number of one sum. All enclosures hold the truth: which engine answers is a matter of time and width alone.
pub(crate) trait Engine: fmt::Debug + Send + Sync {
    /// Its name, in `explain` and in JSON.
    fn name(&self) -> &'static str;

    /// Whether it answers by another evaluator, of a simpler sum.
    fn is_reduction(&self) -> bool {
        false
    }

    /// The cost of a request. `worth`: the seconds of another engine; if the prediction takes longer than half of them, the cost is unknown. The
    /// intermediate results that it keeps change no answer.
    fn cost(&self, request: &Prepared, session: &Session, worth: f64) -> Cost;

    /// Encloses the number. The answer may be wider than requested, and says so.
    fn enclose(&self, request: &Prepared, session: &Session) -> Result<Answer>;

    /// ln of the number in doubles, an approximation without proof; `None` where it does not serve, or does not settle it.
    fn approximate(&self, request: &Prepared, session: &Session, tolerance: Tolerance) -> Result<Option<f64>> {
        let _ = (request, session, tolerance);
        Ok(None)
    }

    /// The trade-off function at alpha, in one search; `None` where it cannot.
    fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Option<Answer>> {
        let _ = (alpha, digits);
        Ok(None)
    }
}
