//! What is asked of a folder of noisy measurements.

use std::collections::BTreeMap;

use crate::topdown::nmf::{areas::Areas, truth::Truth, units::Constraints};

/// What is asked of a folder.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which constraints are kept.
    pub constraints: Constraints,
    /// Exact totals by the number of the state.
    pub totals: BTreeMap<u32, i64>,
    /// Only these states, by number, each for itself without the nation; all if `None`.
    pub states: Option<Vec<u32>>,
    /// What is answered.
    pub wanted: Wanted,
    /// The levels whose units are answered for, by their number in the release.
    pub levels: Vec<usize>,
    /// The areas that are answered for.
    pub areas: AreaSource,
    /// The true counts in a rehearsal.
    pub truth: Option<Truth>,
    /// Non-negative whole counts instead of estimates, in the order of these queries.
    pub whole: Option<Vec<String>>,
    /// Whether files may be missing: estimates are made from what is there.
    pub incomplete: bool,
    /// Whether counts may not fit each other: estimates are made all the same.
    pub despite_misfit: bool,
}

/// What is answered.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// These queries of the release's attributes, each with all its counts.
    Queries(Vec<String>),
    /// The lines of the tables of P.L. 94-171 about persons.
    Pl94Tables,
}

/// Which areas are answered for.
#[derive(Clone, Debug)]
pub enum AreaSource {
    /// None.
    None,
    /// Sets of blocks.
    Given(Areas),
    /// The tabulation units that have so many digits in common, for each of these numbers.
    Digits(Vec<u32>),
}
