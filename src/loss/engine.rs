//! The engines, by name.

/// What answers a question about one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Contour,
    Atoms,
    Smoothed,
    /// By a list that is longer than where a split is preferred.
    LongSplit,
}
