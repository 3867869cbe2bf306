//! The settings of a survey of noisy measurements.

use std::collections::BTreeMap;

use crate::topdown::nmf::{answers::TableLine, areas::Areas, truth::Truth, units::Constraints};

/// The request for a survey.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The constraints that are kept.
    pub constraints: Constraints,
    /// Exact totals by the number of the state.
    pub totals: BTreeMap<u32, i64>,
    /// Only these states, by number, each separately without the nation; all if `None`.
    pub states: Option<Vec<u32>>,
    /// The requested answers.
    pub wanted: Wanted,
    /// The levels whose units are answered, by their number in the release.
    pub levels: Vec<usize>,
    /// The requested areas.
    pub areas: AreaSource,
    /// The true counts in a rehearsal.
    pub truth: Option<Truth>,
    /// Non-negative integer counts instead of estimates, with these queries settled first, in this order.
    pub whole: Option<Vec<String>>,
    /// Whether files may be missing: estimates are made from the files present.
    pub incomplete: bool,
    /// Whether counts that do not fit each other are used nevertheless.
    pub despite_misfit: bool,
}

/// The requested answers.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// These queries of the release's attributes, each with all its counts.
    Queries(Vec<String>),
    /// The lines of all tables of P.L. 94-171 about persons.
    Pl94Tables,
    /// Sums over cells, a count each.
    Lines {
        /// The sums.
        lines: Vec<TableLine>,
        /// Whether they are over the second histogram of the release.
        is_beside: bool,
    },
}

/// The requested areas.
#[derive(Clone, Debug)]
pub enum AreaSource {
    /// None.
    None,
    /// Sets of blocks.
    Given(Areas),
    /// The tabulation units that share a number of leading digits, for each of these numbers.
    Digits(Vec<u32>),
}
