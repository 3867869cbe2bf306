//! The supporting lines at one type I error, and what they share.

use std::cell::RefCell;

use rug::Rational;

use super::line::Line;
use crate::loss::{engine::session::Session, evaluator::SumEvaluator};

/// The supporting lines at a type I error.
pub(in crate::account) struct Lines<'a> {
    pub(super) evaluator: &'a SumEvaluator,
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
