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

/// The target of the noise.
pub enum Goal {
    /// The same for every part.
    Promise(Promise),
    /// For each part the number with which it is compared, at the delta that is shown.
    Compared(Against),
}

/// The request, the same for every part.
pub struct Request {
    /// The target of the noise.
    pub goal: Goal,
    /// The delta at which epsilons are shown.
    pub delta: Delta,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether to find the deltas at which the calibrated noise is within the published curve.
    pub crossings: bool,
    /// Whether the profiles are drawn.
    pub curves: bool,
}

/// All levels with their calibrated noise, composed.
pub struct Together {
    /// Their epsilon.
    pub epsilon: Answer,
    /// The epsilon that the goal means for the whole with the present noise.
    pub target: Enclosure,
    /// The account or figure of that target, unless the goal is the same for all.
    pub compared: Option<Compared>,
}

/// All results.
pub struct Found {
    /// Each level; or all composed, with one factor.
    pub rows: Vec<Row>,
    /// All calibrated levels composed, if there are several.
    pub together: Option<Together>,
    /// Empty unless queries were requested.
    pub queries: Vec<CalibratedQuery>,
}

/// A grid with the default decimals if none are given.
pub fn grid_with(grid_of: GridOf, decimals: Option<u32>) -> (GridOf, u32) {
    let usual = if grid_of == GridOf::Factor { FACTOR_DECIMALS } else { DECIMALS };
    (grid_of, decimals.unwrap_or(usual))
}

/// The parts that are calibrated one by one.
pub fn parts(subject: &Resolved) -> Vec<Part> {
    subject.parts_or(subject::whole_name(subject))
}

/// Default decimals of a calibrated sigma2, and of a common factor.
pub const DECIMALS: u32 = 2;

pub const FACTOR_DECIMALS: u32 = 4;

impl Together {
    /// Whether all of them together meet the target of the whole.
    pub fn keeps(&self) -> Certainty {
        self.epsilon.value.below(&self.target)
    }
}

/// The variances before and after, and the resulting privacy.
pub struct Row {
    /// The name of the level or part.
    pub name: String,
    /// The factor on the grid, or the factor that puts the smallest sigma2 on the grid.
    pub factor: Rational,
    /// The factor of the next smaller grid point, disproved.
    pub before: Option<Rational>,
    /// Every sigma2, smallest first.
    pub variances: Vec<Rational>,
    pub epsilon: Answer,
    pub target: Enclosure,
    /// The account or figure of the target, unless the target was given.
    pub compared: Option<Compared>,
    pub stretches: Option<Vec<Stretch>>,
    /// The profiles before and after, if they are drawn.
    pub curves: Option<CalibratedCurves>,
}
