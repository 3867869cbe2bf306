//! Spaces of linear functions with exact fractions: which sums of cells some counts determine.

use rug::Rational;

/// A space of linear functions of some numbers, by its reduced row echelon form. Equal spaces have equal forms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    columns: usize,
    rows: Vec<Vec<Rational>>,
    /// The column of the leading one of each row.
    pivots: Vec<usize>,
}

impl Space {
    /// The space that some functions span.
    pub fn of_functions(columns: usize, functions: impl IntoIterator<Item = Vec<Rational>>) -> Space {
        let mut space = Space { columns, rows: Vec::new(), pivots: Vec::new() };
        for function in functions {
            if space.is_full() {
                break;
            }
            space.add(function);
        }
        space
    }

    /// Its dimension.
    pub fn dimension(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has all functions.
    pub fn is_full(&self) -> bool {
        self.rows.len() == self.columns
    }

    /// The functions of its basis.
    pub fn basis(&self) -> &[Vec<Rational>] {
        &self.rows
    }

    /// Subtracts from a function its part along the basis: nothing remains if and only if it is in the space.
    fn rest(&self, mut function: Vec<Rational>) -> Vec<Rational> {
        for (row, pivot) in self.rows.iter().zip(&self.pivots) {
            let factor = function[*pivot].clone();
            subtract(&mut function, &factor, row);
        }
        function
    }

    fn add(&mut self, function: Vec<Rational>) {
        let mut rest = self.rest(function);
        let Some(pivot) = rest.iter().position(|entry| *entry != 0) else { return };
        let scale = rest[pivot].clone();
        rest.iter_mut().for_each(|entry| *entry /= &scale);
        for row in &mut self.rows {
            let factor = row[pivot].clone();
            subtract(row, &factor, &rest);
        }
        let at = self.pivots.partition_point(|other| *other < pivot);
        self.rows.insert(at, rest);
        self.pivots.insert(at, pivot);
    }

    /// Whether a function is in the space.
    pub fn contains(&self, function: &[Rational]) -> bool {
        self.is_full() || self.rest(function.to_vec()).iter().all(|entry| *entry == 0)
    }

    /// The coefficients of a function of the space in its basis: its values at the pivots.
    pub fn coefficients(&self, function: &[Rational]) -> Vec<Rational> {
        self.pivots.iter().map(|pivot| function[*pivot].clone()).collect()
    }

    /// The space that both span together.
    pub fn joined(&self, other: &Space) -> Space {
        match (self.is_full() || other.rows.is_empty(), other.is_full() || self.rows.is_empty()) {
            (true, _) => self.clone(),
            (_, true) => other.clone(),
            _ => Space::of_functions(self.columns, self.rows.iter().chain(&other.rows).cloned()),
        }
    }

    /// The functions that are in both.
    pub fn met(&self, other: &Space) -> Space {
        match (self.is_full() || other.rows.is_empty() || self == other, other.is_full() || self.rows.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => self.complement().joined(&other.complement()).complement(),
        }
    }

    /// The functions orthogonal to all of the space.
    fn complement(&self) -> Space {
        let free = (0..self.columns).filter(|column| !self.pivots.contains(column));
        let function = |column: usize| {
            let mut function = unit(self.columns, column);
            for (row, pivot) in self.rows.iter().zip(&self.pivots) {
                function[*pivot] = Rational::from(-&row[column]);
            }
            function
        };
        Space::of_functions(self.columns, free.map(function))
    }
}

/// The function of one number.
fn unit(columns: usize, at: usize) -> Vec<Rational> {
    (0..columns).map(|column| Rational::from(u32::from(column == at))).collect()
}

fn subtract(from: &mut [Rational], factor: &Rational, row: &[Rational]) {
    if *factor != 0 {
        for (entry, other) in from.iter_mut().zip(row).filter(|(_, other)| **other != 0) {
            *entry -= Rational::from(factor * other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Numbers;

    fn drawn(numbers: &mut Numbers, many: u64) -> Space {
        let functions: Vec<Vec<Rational>> = (0..numbers.below(many + 1))
            .map(|_| (0..5).map(|_| Rational::from(numbers.below(3) as i64 - 1)).collect())
            .collect();
        Space::of_functions(5, functions)
    }

    /// dim(A + B) + dim(A and B) = dim A + dim B, and membership, for random spaces.
    #[test]
    fn sums_and_intersections_have_the_right_dimensions_and_members() {
        let mut numbers = Numbers(3);
        for _ in 0..300 {
            let (a, b) = (drawn(&mut numbers, 4), drawn(&mut numbers, 5));
            let (joined, met) = (a.joined(&b), a.met(&b));
            assert_eq!(joined.dimension() + met.dimension(), a.dimension() + b.dimension());
            assert!(a.basis().iter().chain(b.basis()).all(|function| joined.contains(function)));
            assert!(met.basis().iter().all(|function| a.contains(function) && b.contains(function)));
            assert_eq!((a.joined(&b), a.met(&b)), (b.joined(&a), b.met(&a)));
            for function in a.basis() {
                let own = joined.coefficients(function);
                let mut sum = vec![Rational::new(); 5];
                joined
                    .basis()
                    .iter()
                    .zip(&own)
                    .for_each(|(row, factor)| subtract(&mut sum, &Rational::from(-factor), row));
                assert_eq!(sum, *function);
            }
            assert_eq!(a.is_full(), (0..5).all(|at| a.contains(&unit(5, at))));
        }
        assert!(
            Space::of_functions(3, (0..3).map(|at| unit(3, at))).is_full()
                && Space::of_functions(3, []).dimension() == 0
        );
    }
}
