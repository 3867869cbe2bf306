//! What is calibrated, and what was found.

use dp_assay::{
    account::{
        Answer, Delta,
        compared::{Against, Compared},
        crossing::Stretch,
        promise::{GridOf, Promise},
    },
    chart::curves::CalibratedCurves,
    numeric::{Certainty, Enclosure},
    release::subject::Part,
};
use rug::Rational;

use crate::cli::{
    queries::CalibratedQuery,
    subject::{self, Resolved},
};

/// What the noise has to keep.
pub enum Goal {
    /// The same for every part.
    Promise(Promise),
    /// What each part is compared with, at the delta that is shown.
    Compared(Against),
}

/// What is asked of every part.
pub struct Request {
    /// What the noise has to keep.
    pub goal: Goal,
    /// The delta at which epsilons are shown.
    pub delta: Delta,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether it is said where the calibrated noise is within the published curve.
    pub crossings: bool,
    /// Whether the profiles are drawn.
    pub curves: bool,
}

/// All levels with their calibrated noise, composed.
pub struct Together {
    /// Their epsilon.
    pub epsilon: Answer,
    /// The epsilon that the goal means for the whole as it is.
    pub target: Enclosure,
    /// What that target is, unless the goal is the same for all.
    pub compared: Option<Compared>,
}

/// Everything that is asked for.
pub struct Found {
    /// Each level; or all composed, with one factor.
    pub rows: Vec<Row>,
    /// All calibrated levels composed, where there are several.
    pub together: Option<Together>,
    /// Empty unless queries were asked for.
    pub queries: Vec<CalibratedQuery>,
}

/// A grid with the usual decimals where none are given.
pub fn grid_with(grid_of: GridOf, decimals: Option<u32>) -> (GridOf, u32) {
    let usual = if grid_of == GridOf::Factor { FACTOR_DECIMALS } else { DECIMALS };
    (grid_of, decimals.unwrap_or(usual))
}

/// The parts that are calibrated one by one.
pub fn parts(subject: &Resolved) -> Vec<Part> {
    subject.parts_or(subject::whole_name(subject))
}

/// Decimals of a calibrated sigma2, and of a common factor, where none are asked for.
pub const DECIMALS: u32 = 2;

pub const FACTOR_DECIMALS: u32 = 4;

impl Together {
    /// Whether all of them together keep the target of the whole.
    pub fn keeps(&self) -> Certainty {
        self.epsilon.value.below(&self.target)
    }
}

/// The variances before and after, and what they promise.
pub struct Row {
    /// What it is.
    pub name: String,
    /// The factor on the grid, or the factor that puts the smallest sigma2 on it.
    pub factor: Rational,
    /// The factor of the next smaller grid point, disproved.
    pub before: Option<Rational>,
    /// Every sigma2 that occurs, smallest first.
    pub variances: Vec<Rational>,
    pub epsilon: Answer,
    pub target: Enclosure,
    /// What the target is, unless it was given.
    pub compared: Option<Compared>,
    pub stretches: Option<Vec<Stretch>>,
    /// The profiles before and after, where they are drawn.
    pub curves: Option<CalibratedCurves>,
}
