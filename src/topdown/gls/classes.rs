//! The variances of counts: sums over sets of values, attribute by attribute, in the coordinates of the sectors. All
//! counts of a class have the same variance in every unit.

use super::{
    axis::{Axis, Class, Kind},
    basis::Basis,
    matrix::Matrix,
    number::Number,
};

/// The indicator of a set of values of one attribute: its nonzero even coordinates, and the square of its length in
/// each other subspace, by number.
#[derive(Clone, Debug)]
pub(super) struct Functional<N> {
    even: Vec<(u32, N)>,
    squares: Vec<N>,
}

impl<N: Number> Functional<N> {
    /// The indicator of a value of a class.
    pub(super) fn of_value(axis: &Axis, class: usize) -> Self {
        let own = &axis.classes[class];
        let size = N::of(own.size as f64);
        let others = |many: usize| N::of(1.0).less(&N::of(many as f64).inverse());
        let square = |kind: &Kind| match kind {
            Kind::Within(point) if *point == own.point => others(own.size),
            Kind::Between(other) if *other as usize == class => size.inverse().times(&others(own.cells.len())),
            _ => N::of(0.0),
        };
        let even = vec![(class as u32, N::of(own.values()).root().inverse())];
        Functional { even, squares: axis.kinds.iter().map(square).collect() }
    }

    /// The indicator of any set of values.
    pub(super) fn of_set(axis: &Axis, selected: &[bool]) -> Self {
        let mut even = Vec::new();
        for (number, class) in (0..).zip(&axis.classes) {
            let values = class.cells.iter().flat_map(|cell| &axis.cells[*cell as usize]);
            let sum = values.filter(|value| selected[**value as usize]).count() as f64;
            if sum == class.values() {
                even.push((number, N::of(sum).root()));
            } else if sum > 0.0 {
                even.push((number, N::of(sum).over(&N::of(class.values()).root())));
            }
        }
        Functional { squares: axis.kinds.iter().map(|kind| inner(axis, kind, selected, selected)).collect(), even }
    }

    /// The product of the coordinates of rows with those of an attribute with this number of classes.
    fn times(&self, rows: &[(u32, N)], classes: usize) -> Vec<(u32, N)> {
        let next = |(row, factor): &(u32, N)| {
            let own = self.even.iter().map(|(class, own)| (row * classes as u32 + class, factor.times(own)));
            own.collect::<Vec<_>>()
        };
        rows.iter().flat_map(next).collect()
    }
}

/// The product of the indicators of two sets of values of one attribute, in a subspace other than the even one.
fn inner<N: Number>(axis: &Axis, kind: &Kind, first: &[bool], second: &[bool]) -> N {
    let size = |cell: &Vec<u32>, inside: &dyn Fn(usize) -> bool| {
        cell.iter().filter(|value| inside(**value as usize)).count() as f64
    };
    let counts = |class: &Class| -> Vec<[f64; 3]> {
        let cells = class.cells.iter().map(|cell| &axis.cells[*cell as usize]);
        let of = |cell: &Vec<u32>| {
            [size(cell, &|at| first[at]), size(cell, &|at| second[at]), size(cell, &|at| first[at] && second[at])]
        };
        cells.map(of).collect()
    };
    // Integers until the division, so that this is exactly zero for sets of whole cells, and between cells for even sets.
    match kind {
        Kind::Even => N::of(0.0),
        Kind::Within(point) => {
            let mut sum = N::of(0.0);
            for class in axis.classes.iter().filter(|class| class.point == *point) {
                let size = class.size as f64;
                let mut own = N::of(0.0);
                for [a, b, both] in counts(class) {
                    own += &N::of(size * both - a * b).over(&N::of(size));
                }
                sum += &own;
            }
            sum
        }
        Kind::Between(class) => {
            let class = &axis.classes[*class as usize];
            let own = counts(class);
            let sum = |of: usize| own.iter().map(|counts| counts[of]).sum::<f64>();
            let products: f64 = own.iter().map(|[a, b, _]| a * b).sum();
            N::of(own.len() as f64 * products - sum(0) * sum(1)).over(&N::of(class.values()))
        }
    }
}

/// Two counts: for each sector where neither is zero, their even coordinates and the product of their other parts.
#[derive(Clone, Debug)]
pub struct CountPair {
    parts: Vec<PairPart>,
}

/// The part of a pair in a sector.
#[derive(Clone, Debug)]
struct PairPart {
    sector: usize,
    weight: f64,
    /// The rows of the first count with their coordinates, and those of the second.
    rows: [Vec<(u32, f64)>; 2],
}

impl CountPair {
    /// Two sums over the cells whose values are selected, attribute by attribute.
    pub fn of_sets(basis: &Basis, first: &[Vec<bool>], second: &[Vec<bool>]) -> CountPair {
        let functionals = [first, second].map(|selected| {
            let axes = basis.axes.iter().zip(selected);
            axes.map(|(axis, selected)| Functional::of_set(axis, selected)).collect::<Vec<Functional<f64>>>()
        });
        let products: Vec<Vec<f64>> = (basis.axes.iter().zip(first).zip(second))
            .map(|((axis, first), second)| axis.kinds.iter().map(|kind| inner(axis, kind, first, second)).collect())
            .collect();
        let mut parts = Vec::new();
        for (choice, slots) in basis.slots.iter().enumerate().filter(|(_, slots)| !slots.is_empty()) {
            let (mut weight, mut rest) = (1.0, choice);
            let mut rows = [vec![(0_u32, 1.0_f64)], vec![(0, 1.0)]];
            for (at, axis) in basis.axes.iter().enumerate() {
                let kind = rest % axis.kinds.len();
                rest /= axis.kinds.len();
                if kind > 0 {
                    weight *= products[at][kind];
                    continue;
                }
                for (rows, own) in rows.iter_mut().zip(&functionals) {
                    *rows = own[at].times(rows, axis.classes.len());
                }
            }
            if weight == 0.0 {
                continue;
            }
            let mut of_sector: std::collections::BTreeMap<usize, [Vec<(u32, f64)>; 2]> = Default::default();
            for (which, rows) in rows.into_iter().enumerate() {
                for (row, factor) in rows {
                    let (sector, row) = slots[row as usize];
                    of_sector.entry(sector as usize).or_default()[which].push((row, factor));
                }
            }
            parts.extend(of_sector.into_iter().map(|(sector, rows)| PairPart { sector, weight, rows }));
        }
        CountPair { parts }
    }

    /// The covariance of the first count with the second, from the covariance matrices of the sectors: their rows are
    /// those of the first, their columns those of the second.
    pub fn covariance(&self, matrices: &[Matrix], rows: impl Fn(usize, u32) -> Option<u32>) -> f64 {
        let (mut covariance, mut terms) = (0.0, 0.0_f64);
        for PairPart { sector, weight, rows: both } in &self.parts {
            let [first, second] = both.each_ref().map(|own| -> Vec<(usize, f64)> {
                own.iter().filter_map(|(row, factor)| Some((rows(*sector, *row)? as usize, *factor))).collect()
            });
            for (row, a) in &first {
                for (column, b) in &second {
                    let term = weight * a * b * matrices[*sector].at(*row, *column);
                    covariance += term;
                    terms += term.abs();
                }
            }
        }
        if covariance.abs() <= f64::FIXED * terms { 0.0 } else { covariance }
    }
}

/// Counts with the same variance: for each sector where they are not zero, their even coordinates and the square of
/// their length in the other subspaces.
#[derive(Clone, Debug)]
pub struct CountClass<N = f64> {
    parts: Vec<ClassPart<N>>,
}

/// The part of a class in a sector.
#[derive(Clone, Debug)]
struct ClassPart<N> {
    sector: usize,
    /// The square of the length in the other subspaces.
    weight: N,
    /// The rows with their coordinates.
    rows: Vec<(u32, N)>,
}

impl<N: Number> CountClass<N> {
    /// The sum over the cells whose values are selected, attribute by attribute; the selection may divide cells and
    /// classes.
    pub fn of_sets(basis: &Basis, selected: &[Vec<bool>]) -> Self {
        let functional = |(axis, selected): (&Axis, &Vec<bool>)| Functional::of_set(axis, selected);
        CountClass::new(basis, &basis.axes.iter().zip(selected).map(functional).collect::<Vec<_>>())
    }

    pub(super) fn new(basis: &Basis, functionals: &[Functional<N>]) -> Self {
        let zero = N::of(0.0);
        let mut parts: Vec<ClassPart<N>> = Vec::new();
        for (choice, slots) in basis.slots.iter().enumerate().filter(|(_, slots)| !slots.is_empty()) {
            let (mut weight, mut rows, mut rest) = (N::of(1.0), vec![(0, N::of(1.0))], choice);
            for (axis, own) in basis.axes.iter().zip(functionals) {
                let kind = rest % axis.kinds.len();
                rest /= axis.kinds.len();
                if kind > 0 {
                    weight *= &own.squares[kind];
                } else {
                    rows = own.times(&rows, axis.classes.len());
                }
                if weight == zero {
                    break;
                }
            }
            if weight > zero {
                let first = parts.len();
                for (row, factor) in rows {
                    let (sector, row) = slots[row as usize];
                    let sector = sector as usize;
                    match parts[first..].iter_mut().find(|part| part.sector == sector) {
                        Some(part) => part.rows.push((row, factor)),
                        None => parts.push(ClassPart { sector, weight: weight.clone(), rows: vec![(row, factor)] }),
                    }
                }
            }
        }
        CountClass { parts }
    }

    /// The variance of each count of the class, from the covariance matrices of the sectors; `rows` maps the rows of a
    /// sector to rows of its matrix, `None` for zero rows.
    pub fn variance(&self, covariance: &[Matrix<N>], rows: impl Fn(usize, u32) -> Option<u32>) -> N {
        let (mut variance, mut terms) = (N::of(0.0), N::of(0.0));
        for ClassPart { sector, weight, rows: functional } in &self.parts {
            let there: Vec<(usize, &N)> =
                (functional.iter()).filter_map(|(row, factor)| Some((rows(*sector, *row)? as usize, factor))).collect();
            for (row, a) in &there {
                let a = weight.times(a);
                for (column, b) in &there {
                    let term = a.times(b).times(&covariance[*sector].row(*row)[*column]);
                    variance += &term;
                    terms += &term.size();
                }
            }
        }
        if variance <= N::of(N::FIXED).times(&terms) { N::of(0.0) } else { variance }
    }

    /// Its coordinates in the sector where all attributes are even, which contains the total.
    pub(super) fn coarse(&self) -> &[(u32, N)] {
        self.parts.first().map_or(&[], |part| &part.rows)
    }
}
