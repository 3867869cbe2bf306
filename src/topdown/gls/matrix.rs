//! Small dense matrices, stored row by row, and the factorization of possibly singular matrices.

use super::number::{Number, dot};

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<N = f64> {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The entries, one row after the other.
    pub entries: Vec<N>,
}

impl<N: Number> Matrix<N> {
    /// A matrix of zeros.
    pub fn zero(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, entries: vec![N::of(0.0); rows * columns] }
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        let mut matrix = Matrix::zero(size, size);
        (0..size).for_each(|at| matrix.entries[at * size + at] = N::of(1.0));
        matrix
    }

    /// An entry.
    pub fn at(&self, row: usize, column: usize) -> N {
        self.entries[row * self.columns + column].clone()
    }

    /// A row.
    pub fn row(&self, row: usize) -> &[N] {
        &self.entries[row * self.columns..(row + 1) * self.columns]
    }

    fn row_mut(&mut self, row: usize) -> &mut [N] {
        &mut self.entries[row * self.columns..(row + 1) * self.columns]
    }

    /// The product with another matrix.
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Matrix::zero(self.rows, other.columns);
        multiply_add(self, &other.entries, other.columns, &mut product.entries);
        product
    }

    /// A multiple.
    pub fn scaled(&self, factor: &N) -> Self {
        let entries = self.entries.iter().map(|entry| factor.times(entry)).collect();
        Matrix { rows: self.rows, columns: self.columns, entries }
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        let mut other = Matrix::zero(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                other.entries[column * self.rows + row] = self.at(row, column);
            }
        }
        other
    }

    /// Adds a multiple of a matrix of the same shape.
    pub fn add(&mut self, factor: f64, other: &Self) {
        self.entries.iter_mut().zip(&other.entries).for_each(|(to, from)| to.add_multiple(factor, from));
    }

    /// Adds a multiple of a matrix with fewer rows and columns: its row and column i are added at `places[i]`.
    pub fn add_at(&mut self, factor: &N, other: &Self, places: &[u32]) {
        for (row, to_row) in places.iter().enumerate() {
            for (column, to_column) in places.iter().enumerate() {
                let to = &mut self.entries[*to_row as usize * self.columns + *to_column as usize];
                to.add_product(factor, &other.entries[row * other.columns + column]);
            }
        }
    }

    /// The rows and columns of these places.
    pub fn part(&self, places: &[u32]) -> Self {
        let entries =
            places.iter().flat_map(|row| places.iter().map(|column| self.at(*row as usize, *column as usize)));
        Matrix { rows: places.len(), columns: places.len(), entries: entries.collect() }
    }

    /// The mean of the matrix and its transpose: for a product that is symmetric except for rounding errors.
    pub fn symmetric(mut self) -> Self {
        let half = N::of(0.5);
        for row in 0..self.rows {
            for column in 0..row {
                let mut mean = self.at(row, column);
                mean += &self.entries[column * self.columns + row];
                mean *= &half;
                self.entries[row * self.columns + column] = mean.clone();
                self.entries[column * self.columns + row] = mean;
            }
        }
        self
    }
}

/// Adds `matrix` times a matrix with `columns` columns, given row by row, to `product`.
pub fn multiply_add<N: Number>(matrix: &Matrix<N>, other: &[N], columns: usize, product: &mut [N]) {
    let zero = N::of(0.0);
    for (row, to) in product.chunks_exact_mut(columns.max(1)).enumerate() {
        for (factor, from) in matrix.row(row).iter().zip(other.chunks_exact(columns.max(1))) {
            if *factor != zero {
                to.iter_mut().zip(from).for_each(|(to, from)| to.add_product(factor, from));
            }
        }
    }
}

/// A symmetric matrix without negative eigenvalues as L L'. Rows that depend on earlier ones have a zero on the
/// diagonal of L, and zeros below it.
#[derive(Clone, Debug)]
pub struct Factor<N = f64> {
    lower: Matrix<N>,
}

impl<N: Number> Factor<N> {
    /// The factorization, without row exchanges; pivots below [`Number::CUT`] times their diagonal entry count as zero.
    pub fn new(matrix: &Matrix<N>) -> Self {
        let size = matrix.rows;
        let (zero, cut) = (N::of(0.0), N::of(N::CUT));
        let mut lower = Matrix::zero(size, size);
        for row in 0..size {
            let (done, rest) = lower.entries.split_at_mut(row * size);
            let own = &mut rest[..size];
            for column in 0..row {
                let other = &done[column * size..(column + 1) * size];
                let pivot = &other[column];
                if *pivot > zero {
                    own[column] = matrix.at(row, column).less(&dot(&own[..column], &other[..column])).over(pivot);
                }
            }
            let diagonal = matrix.at(row, row);
            let pivot = diagonal.less(&dot(&own[..row], &own[..row]));
            own[row] = if pivot > cut.times(&diagonal) { pivot.root() } else { zero.clone() };
        }
        Factor { lower }
    }

    /// Whether no pivot is zero.
    pub fn is_regular(&self) -> bool {
        (0..self.lower.rows).all(|at| self.lower.at(at, at) > N::of(0.0))
    }

    /// L.
    pub fn lower(&self) -> &Matrix<N> {
        &self.lower
    }

    /// Replaces B, which has `columns` columns, by A^- B: the inverse on the rows with a pivot, and zero on the others.
    /// If the columns of B are combinations of those of A, so that A X = B has a solution, this is one.
    pub fn solve(&self, other: &mut [N], columns: usize) {
        let zero = N::of(0.0);
        self.solve_lower(other, columns);
        for row in (0..self.lower.rows).rev() {
            let (above, below) = other.split_at_mut((row + 1) * columns);
            let own = &mut above[row * columns..];
            let pivot = self.lower.at(row, row);
            if pivot <= zero {
                own.fill(zero.clone());
                continue;
            }
            for (at, from) in below.chunks_exact(columns).enumerate() {
                let factor = self.lower.at(row + 1 + at, row);
                // A row without a pivot was set to zero.
                own.iter_mut().zip(from).for_each(|(to, from)| to.subtract_product(&factor, from));
            }
            own.iter_mut().for_each(|to| *to /= &pivot);
        }
    }

    /// Replaces B by L^- B, with zeros in the rows without a pivot.
    pub fn solve_lower(&self, other: &mut [N], columns: usize) {
        let zero = N::of(0.0);
        for row in 0..self.lower.rows {
            let (above, below) = other.split_at_mut(row * columns);
            let own = &mut below[..columns];
            let pivot = self.lower.at(row, row);
            if pivot <= zero {
                own.fill(zero.clone());
                continue;
            }
            for (factor, from) in self.lower.row(row)[..row].iter().zip(above.chunks_exact(columns)) {
                if *factor != zero {
                    own.iter_mut().zip(from).for_each(|(to, from)| to.subtract_product(factor, from));
                }
            }
            own.iter_mut().for_each(|to| *to /= &pivot);
        }
    }

    /// A^-, as [`solve`](Factor::solve) of the identity.
    pub fn inverse(&self) -> Matrix<N> {
        let size = self.lower.rows;
        let mut inverse = Matrix::identity(size);
        self.solve(&mut inverse.entries, size);
        inverse
    }
}

/// The covariance after combining an estimate of covariance C with independent measurements of information M: (C^-1 +
/// M)^-1, also for singular C. With C = Q Q' it is Q (I + Q'MQ)^-1 Q', a product of a matrix and its transpose, without
/// subtractions.
pub fn combined<N: Number>(covariance: &Matrix<N>, information: &Matrix<N>) -> Matrix<N> {
    let factor = Factor::new(covariance);
    let lower = factor.lower();
    let size = covariance.rows;
    let mut inner = lower.transposed().times(&information.times(lower)).symmetric();
    inner.add(1.0, &Matrix::identity(size));
    // W' = T^-1 Q' for I + Q'MQ = T T'.
    let mut other = lower.transposed();
    Factor::new(&inner).solve_lower(&mut other.entries, size);
    let mut product: Matrix<N> = Matrix::zero(size, size);
    for row in other.entries.chunks_exact(size.max(1)) {
        for (at, factor) in row.iter().enumerate() {
            product.row_mut(at).iter_mut().zip(row).for_each(|(to, from)| to.add_product(factor, from));
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    fn random(size: usize, rank: usize, seed: u64) -> Matrix {
        let mut numbers = Numbers(seed);
        let mut half = Matrix::zero(size, rank);
        half.entries.iter_mut().for_each(|entry| *entry = numbers.below(1000) as f64 / 1000.0 - 0.5);
        half.times(&half.transposed())
    }

    fn close(a: &Matrix, b: &Matrix, tolerance: f64) -> bool {
        a.entries.iter().zip(&b.entries).all(|(a, b)| (a - b).abs() < tolerance)
    }

    #[test]
    fn nonsingular_matrices_are_inverted_and_singular_ones_solve_consistent_systems() {
        let regular = random(6, 9, 1);
        let factor = Factor::new(&regular);
        assert!(factor.is_regular());
        assert!(close(&regular.times(&factor.inverse()), &Matrix::identity(6), 1e-9));
        let singular = random(6, 3, 2);
        let factor = Factor::new(&singular);
        assert!(!factor.is_regular());
        // A A^- A = A: the columns of A are in its range.
        let again = singular.times(&factor.inverse()).times(&singular);
        assert!(close(&again, &singular, 1e-10));
    }

    #[test]
    fn combining_adds_the_informations() {
        let (covariance, information) = (random(5, 8, 3), random(5, 2, 4));
        let mut sum = Factor::new(&covariance).inverse();
        sum.add(1.0, &information);
        assert!(close(&combined(&covariance, &information), &Factor::new(&sum).inverse(), 1e-9));
        // C - C (C + M^-1)^-1 C for a singular C.
        let (covariance, information) = (random(5, 3, 5), random(5, 8, 6));
        let mut sum = Factor::new(&information).inverse();
        sum.add(1.0, &covariance);
        let mut expected = covariance.clone();
        expected.add(-1.0, &covariance.times(&Factor::new(&sum).inverse()).times(&covariance));
        assert!(close(&combined(&covariance, &information), &expected, 1e-10));
    }
}
