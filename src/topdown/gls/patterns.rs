//! Matrices shared by units of one level with the same variances and the same zeros.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use super::{matrix::Matrix, number::Number, problem::Shape};
use crate::error::Result;

/// A matrix for each sector.
pub(super) type Matrices<N> = Arc<Vec<Matrix<N>>>;

/// Of what units share: a level, variances, and zeros.
type Pattern<N> = (usize, Vec<<N as Number>::Key>, usize);

/// Information matrices and their inverses, each computed once for units with the same measurements.
pub(super) struct Patterns<N: Number> {
    known: HashMap<Pattern<N>, Matrices<N>>,
    /// The number of stored numbers.
    numbers: usize,
    /// The least and the largest variance so far.
    ends: Option<[N::Variance; 2]>,
}

/// Information above the leaves is cached up to this number of numbers, 128 MB, and recomputed beyond it.
const KEPT_NUMBERS: usize = 1 << 24;

impl<N: Number> Patterns<N> {
    /// None yet.
    pub(super) fn new() -> Self {
        Patterns { known: HashMap::new(), numbers: 0, ends: None }
    }

    /// The matrices of a unit of a level with these variances and this shape; `make` computes them at the first such
    /// unit.
    pub(super) fn matrices(
        &mut self,
        (level, variances): (usize, &[N::Variance]),
        shape: &Shape,
        is_leaf: bool,
        make: impl FnOnce() -> Result<Vec<Matrix<N>>>,
    ) -> Result<Matrices<N>> {
        N::check_apart(&mut self.ends, variances)?;
        let keys = variances.iter().map(N::key).collect();
        match self.known.entry((level, keys, shape.number)) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(free) => {
                let made = Arc::new(make()?);
                // Leaves share their matrices, so that their sum has one term for each matrix.
                let more: usize = made.iter().map(|matrix| matrix.entries.len()).sum();
                if is_leaf || self.numbers + more <= KEPT_NUMBERS {
                    self.numbers += more;
                    free.insert(made.clone());
                }
                Ok(made)
            }
        }
    }
}
