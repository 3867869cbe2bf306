//! Matrices shared by units of one level with the same variances and the same zeros.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use super::{matrix::Matrix, problem::Shape};
use crate::{
    error::{Error, Result},
    topdown::precise::FAR,
};

/// A matrix for each sector.
pub(super) type Matrices = Arc<Vec<Matrix>>;

/// Information matrices and their inverses, each computed once for units with the same measurements.
#[derive(Default)]
pub(super) struct Patterns {
    known: HashMap<(usize, Vec<u32>, usize), Matrices>,
    /// The number of stored numbers.
    numbers: usize,
    /// The least and the largest variance so far.
    ends: Option<(f32, f32)>,
}

/// Refuses variances that are too far apart for doubles.
fn check_apart(ends: &mut Option<(f32, f32)>, variances: &[f32]) -> Result<()> {
    let least = variances.iter().copied().fold(f32::INFINITY, f32::min);
    let most = variances.iter().copied().fold(0.0, f32::max);
    let (least, most) = ends.map_or((least, most), |ends| (ends.0.min(least), ends.1.max(most)));
    if !variances.is_empty() {
        *ends = Some((least, most));
        // The comparison is false for NaN.
        let is_near = f64::from(most) <= FAR * f64::from(least);
        if !is_near {
            let given = format!("{most:e} / {least:e}");
            let expected = "at most 1e8: estimates in doubles would be wrong in every digit of the smaller ones";
            return Err(Error::out_of_range("the ratio of the variances of the noise", given, expected));
        }
    }
    Ok(())
}

/// Information above the leaves is cached up to this number of numbers, 128 MB, and recomputed beyond it.
const KEPT_NUMBERS: usize = 1 << 24;

impl Patterns {
    /// The matrices of a unit of a level with these variances and this shape; `make` computes them at the first such
    /// unit.
    pub(super) fn matrices(
        &mut self,
        (level, variances): (usize, &[f32]),
        shape: &Shape,
        is_leaf: bool,
        make: impl FnOnce() -> Result<Vec<Matrix>>,
    ) -> Result<Matrices> {
        check_apart(&mut self.ends, variances)?;
        let bits = variances.iter().map(|variance| variance.to_bits()).collect();
        match self.known.entry((level, bits, shape.number)) {
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
