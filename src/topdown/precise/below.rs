//! Vectors and matrices by sector, and the children of a unit together.

use std::sync::Arc;

use rug::Float;

use super::algebra::Square;

/// A matrix for each sector.
pub(super) type Matrices = Arc<Vec<Square>>;

/// A vector for each sector.
pub(super) type Vectors = Vec<Vec<Float>>;

/// The children of a unit together.
pub(super) struct Below {
    /// The sum of the covariances of the children that have one.
    pub(super) covariance: Matrices,
    /// Its inverse, if every child has a covariance.
    pub(super) inverse: Option<Matrices>,
}
