//! Small dense symmetric matrices of long numbers.

use rug::{Assign, Float};

use super::{BITS, long};

/// A square matrix, row by row.
#[derive(Clone, Debug)]
pub struct Square {
    /// The number of rows and columns.
    pub size: usize,
    /// The entries.
    pub entries: Vec<Float>,
}

impl Square {
    /// Zeros.
    pub fn zero(size: usize) -> Square {
        Square { size, entries: vec![long(0.0); size * size] }
    }

    /// The identity.
    pub fn identity(size: usize) -> Square {
        let mut own = Square::zero(size);
        (0..size).for_each(|at| own.entries[at * size + at].assign(1));
        own
    }

    /// An entry.
    pub fn at(&self, row: usize, column: usize) -> &Float {
        &self.entries[row * self.size + column]
    }

    /// The sum with a multiple of another matrix.
    pub fn plus(mut self, factor: i32, other: &Square) -> Square {
        self.entries
            .iter_mut()
            .zip(&other.entries)
            .for_each(|(own, other)| *own += Float::with_val(BITS, other * factor));
        self
    }

    /// A multiple.
    pub fn scaled(mut self, factor: &Float) -> Square {
        self.entries.iter_mut().for_each(|entry| *entry *= factor);
        self
    }

    /// The product with another matrix.
    pub fn times(&self, other: &Square) -> Square {
        Square { size: self.size, entries: self.apply(&other.entries, other.size) }
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Square {
        let entries = (0..self.size).flat_map(|row| (0..self.size).map(move |column| self.at(column, row).clone()));
        Square { size: self.size, entries: entries.collect() }
    }

    /// The product with a matrix with this number of columns, row by row.
    pub fn apply(&self, other: &[Float], columns: usize) -> Vec<Float> {
        let mut product = vec![long(0.0); self.size * columns];
        for (row, to) in product.chunks_exact_mut(columns.max(1)).enumerate() {
            for (at, from) in other.chunks_exact(columns.max(1)).enumerate() {
                let factor = self.at(row, at);
                if !factor.is_zero() {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
                }
            }
        }
        product
    }

    /// The inverse of a symmetric positive definite matrix, without row exchanges. `None` if a pivot is not above zero.
    pub fn inverse(&self) -> Option<Square> {
        let size = self.size;
        let (mut left, mut right) = (self.clone(), Square::identity(size));
        for pivot in 0..size {
            if *left.at(pivot, pivot) <= 0 {
                return None;
            }
            let scale = Float::with_val(BITS, left.at(pivot, pivot).recip_ref());
            let own = pivot * size..(pivot + 1) * size;
            for matrix in [&mut left, &mut right] {
                matrix.entries[own.clone()].iter_mut().for_each(|entry| *entry *= &scale);
            }
            for row in (0..size).filter(|row| *row != pivot) {
                let factor = left.at(row, pivot).clone();
                if factor.is_zero() {
                    continue;
                }
                for matrix in [&mut left, &mut right] {
                    for column in 0..size {
                        let step = Float::with_val(BITS, &factor * &matrix.entries[pivot * size + column]);
                        matrix.entries[row * size + column] -= step;
                    }
                }
            }
        }
        Some(right)
    }
}

/// Adds numbers to other numbers, elementwise.
pub fn add(to: &mut [Float], from: &[Float]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// Subtracts numbers from other numbers, elementwise.
pub fn subtract(to: &mut [Float], from: &[Float]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to -= from);
}
