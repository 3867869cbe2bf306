//! Matrices that units of one level share which have the same variances and the same zeros.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use super::{matrix::Matrix, problem::Shape};
use crate::error::Result;

/// A matrix for each sector.
pub(super) type Matrices = Arc<Vec<Matrix>>;

/// Information matrices and their inverses, each made once for units that measure alike.
#[derive(Default)]
pub(super) struct Patterns {
    known: HashMap<(usize, Vec<u32>, usize), Matrices>,
    /// How many numbers they have.
    numbers: usize,
}

/// Information above the leaves is kept up to so many numbers, 128 MB, and made again beyond.
const KEPT_NUMBERS: usize = 1 << 24;

impl Patterns {
    /// Those of a unit of a level with these variances and this shape; `make` makes them, if no unit like it came before.
    pub(super) fn of(
        &mut self,
        (level, variances): (usize, &[f32]),
        shape: &Shape,
        is_leaf: bool,
        make: impl FnOnce() -> Result<Vec<Matrix>>,
    ) -> Result<Matrices> {
        let bits = variances.iter().map(|variance| variance.to_bits()).collect();
        match self.known.entry((level, bits, shape.number)) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(free) => {
                let made = Arc::new(make()?);
                // Leaves share theirs, so that their sum has one term for each of them.
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
