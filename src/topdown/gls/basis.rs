//! Coordinates in which the information matrices of all queries fall into small blocks: the sectors.
//!
//! A query is a Kronecker product over the attributes of: the identity I, the total 1', or the group sums of a partition.
//! For an attribute with d values let the coarse partition be the common refinement of every partition that occurs, the
//! identity left out; it has K cells, of sizes g. R^d is the sum of the coarse space (functions that are constant on the
//! cells, with the orthonormal basis 1_cell / sqrt(g)) and its complement (functions that sum to zero on every cell). In
//! A'A the identity acts as 1 on both; a total or a group sum vanishes on the complement, and acts on the coarse space as the
//! sum of w w' over the groups, where w is sqrt(g) on the cells of the group.
//!
//! So the sum over queries of A'A / v falls into sectors: for a set of attributes the complement there and the coarse space
//! elsewhere. A sector is one dense matrix of the size of the product of K over its coarse attributes, the same for each of
//! its columns, which are the product of d - K over the others. For P.L. 94-171 without constraints that is eight
//! matrices of 3 x 3 and eight numbers, in place of one matrix of 2016 x 2016.
//!
//! The change of coordinates is orthonormal and its own inverse: on each cell the reflection that exchanges
//! 1_cell / sqrt(g) with the first unit vector. The first value of a cell then carries its coarse coordinate.

use crate::error::{Error, Result};

/// The largest dense matrix of a sector.
pub const MOST_ROWS: usize = 2048;

/// How a query treats an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// It sums over all values.
    Total,
    /// It keeps every value.
    Whole,
    /// It keeps groups of values: the group of each value, numbered from 0.
    Groups(Vec<u32>),
}

impl Part {
    /// How many groups it has, over an attribute of `size` values.
    pub fn groups(&self, size: usize) -> usize {
        match self {
            Part::Total => 1,
            Part::Whole => size,
            Part::Groups(group_of) => group_of.iter().max().map_or(0, |most| *most as usize + 1),
        }
    }

    /// The group of a value.
    pub fn group_of(&self, value: usize) -> usize {
        match self {
            Part::Total => 0,
            Part::Whole => value,
            Part::Groups(group_of) => group_of[value] as usize,
        }
    }
}

/// An attribute with its coarse partition.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The values of each coarse cell, ascending.
    pub(super) cells: Vec<Vec<u32>>,
    /// The coarse cell of each value.
    pub(super) cell_of: Vec<u32>,
}

impl Axis {
    pub(super) fn size(&self) -> usize {
        self.cell_of.len()
    }

    /// How many coordinates the complement has.
    fn rest(&self) -> usize {
        self.size() - self.cells.len()
    }
}

/// The coordinates of a sector: a table with a row for each combination of coarse cells and a column for each combination
/// of coordinates of the complement, row by row from `start` on.
#[derive(Clone, Debug)]
pub(super) struct Sector {
    /// Which attributes are in their complement, as bits.
    pub(super) complement: u32,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) start: usize,
}

/// The sectors of a histogram.
#[derive(Clone, Debug)]
pub struct Basis {
    pub(super) axes: Vec<Axis>,
    pub(super) sectors: Vec<Sector>,
    /// For each cell of the histogram, row-major, the coordinate that its place holds after the reflections.
    pub(super) place: Vec<u32>,
}

impl Basis {
    /// The sectors for queries over attributes of these sizes; attributes in `single`, as bits, have single values as coarse
    /// cells, because constraints tell their values apart.
    pub fn new<'a>(sizes: &[usize], queries: impl Iterator<Item = &'a [Part]> + Clone, single: u32) -> Result<Basis> {
        let axis = |(at, size): (usize, &usize)| {
            let mut keys: Vec<Vec<u32>> = vec![Vec::new(); *size];
            for part in queries.clone().map(|query| &query[at]) {
                if let Part::Groups(group_of) = part {
                    keys.iter_mut().zip(group_of).for_each(|(key, group)| key.push(*group));
                }
            }
            if single >> at & 1 == 1 {
                keys.iter_mut().zip(0..).for_each(|(key, value)| key.push(value));
            }
            let mut cells: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
            let mut cell_of = Vec::with_capacity(*size);
            for (value, key) in (0..).zip(keys) {
                let found = cells.iter().position(|(known, _)| *known == key);
                let cell = found.unwrap_or_else(|| {
                    cells.push((key, Vec::new()));
                    cells.len() - 1
                });
                cells[cell].1.push(value);
                cell_of.push(cell as u32);
            }
            Axis { cells: cells.into_iter().map(|(_, values)| values).collect(), cell_of }
        };
        let axes: Vec<Axis> = sizes.iter().enumerate().map(axis).collect();
        let mut sectors = Vec::new();
        let mut start = 0;
        for complement in 0..1_u32 << axes.len() {
            let (mut rows, mut columns) = (1, 1);
            for (at, axis) in axes.iter().enumerate() {
                if complement >> at & 1 == 1 { columns *= axis.rest() } else { rows *= axis.cells.len() }
            }
            if columns > 0 {
                sectors.push(Sector { complement, rows, columns, start });
                start += rows * columns;
            }
            if rows > MOST_ROWS {
                let expected = format!("at most {MOST_ROWS}: fewer recodes, or constraints on fewer attributes");
                return Err(Error::out_of_range("the rows of a matrix of least squares", rows, &expected));
            }
        }
        let place = places(&axes, &sectors);
        Ok(Basis { axes, sectors, place })
    }

    /// How many coordinates there are: the cells of the histogram.
    pub fn cells(&self) -> usize {
        self.place.len()
    }

    /// Reflects along the attributes of a tensor that are kept whole, `sizes` being its sizes: forth or back.
    pub(super) fn reflect(&self, tensor: &mut [f64], sizes: &[usize], whole: &[bool]) {
        let mut inner = tensor.len();
        for ((axis, size), whole) in self.axes.iter().zip(sizes).zip(whole) {
            inner /= size;
            if *whole {
                for slab in tensor.chunks_exact_mut(inner * size) {
                    reflect_slab(axis, slab, inner);
                }
            }
        }
    }
}

/// The reflection along one attribute, for `inner` tensors side by side.
fn reflect_slab(axis: &Axis, slab: &mut [f64], inner: usize) {
    let mut sums = Vec::new();
    for cell in axis.cells.iter().filter(|cell| cell.len() > 1) {
        let scale = (cell.len() as f64).sqrt().recip();
        // With v = 1 / sqrt(g) - e, v'v = 2 (1 - 1 / sqrt(g)): x - 2 v v'x / v'v.
        let beta = (1.0 - scale).recip();
        let first = cell[0] as usize * inner;
        if inner == 1 {
            let sum: f64 = cell.iter().map(|value| slab[*value as usize]).sum();
            let step = beta * (sum * scale - slab[first]) * scale;
            cell[1..].iter().for_each(|value| slab[*value as usize] -= step);
            slab[first] = sum * scale;
            continue;
        }
        // A row of tensors at a time: the inner loops have no strides.
        sums.clear();
        sums.resize(inner, 0.0);
        for value in cell {
            let start = *value as usize * inner;
            sums.iter_mut().zip(&slab[start..start + inner]).for_each(|(sum, x): (&mut f64, _)| *sum += x);
        }
        for (sum, x) in sums.iter_mut().zip(&mut slab[first..first + inner]) {
            let scaled = *sum * scale;
            *sum = beta * (scaled - *x) * scale;
            *x = scaled;
        }
        for value in &cell[1..] {
            let start = *value as usize * inner;
            slab[start..start + inner].iter_mut().zip(&sums).for_each(|(x, step)| *x -= step);
        }
    }
}

/// Where the coordinates stand: for each cell of the histogram the place in its sector.
fn places(axes: &[Axis], sectors: &[Sector]) -> Vec<u32> {
    // For each value of an attribute whether it carries a coordinate of the complement, and its number there or among cells.
    let coordinates = |axis: &Axis| -> Vec<(bool, u32)> {
        let mut rest = 0;
        let of = |(value, cell): (u32, &u32)| {
            if axis.cells[*cell as usize][0] == value {
                return (false, *cell);
            }
            rest += 1;
            (true, rest - 1)
        };
        (0..).zip(&axis.cell_of).map(of).collect()
    };
    let by_axis: Vec<Vec<(bool, u32)>> = axes.iter().map(coordinates).collect();
    let total: usize = axes.iter().map(Axis::size).product();
    (0..total)
        .map(|cell| {
            let (mut complement, mut row, mut column) = (0_u32, 0, 0);
            let mut rest = total;
            for (at, axis) in axes.iter().enumerate() {
                rest /= axis.size();
                match by_axis[at][cell / rest % axis.size()] {
                    (true, number) => {
                        complement |= 1 << at;
                        column = column * axis.rest() + number as usize;
                    }
                    (false, number) => row = row * axis.cells.len() + number as usize,
                }
            }
            // Every combination of coordinates that occurs has a sector.
            let sector = sectors.iter().find(|sector| sector.complement == complement);
            sector.map_or(0, |sector| (sector.start + row * sector.columns + column) as u32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recodes_split_an_attribute_and_totals_do_not() {
        let queries = [
            vec![Part::Total, Part::Whole],
            vec![Part::Groups(vec![0, 1, 1, 2]), Part::Total],
            vec![Part::Groups(vec![0, 0, 1, 1]), Part::Total],
        ];
        let basis = Basis::new(&[4, 3], queries.iter().map(|query| &query[..]), 0).unwrap();
        // {0} {1} {2} {3}: the common refinement.
        assert_eq!(basis.axes[0].cells.len(), 4);
        assert_eq!(basis.axes[1].cells, [vec![0, 1, 2]]);
        let shapes: Vec<(usize, usize)> = basis.sectors.iter().map(|sector| (sector.rows, sector.columns)).collect();
        assert_eq!(shapes, [(4, 1), (4, 2)]);
        let mut places = basis.place.clone();
        places.sort_unstable();
        assert_eq!(places, (0..12).collect::<Vec<u32>>());
        assert!(Basis::new(&[50, 50], queries[..1].iter().map(|query| &query[..]), 3).is_err());
    }

    #[test]
    fn a_reflection_is_orthonormal_and_its_own_inverse() {
        let queries = [vec![Part::Groups(vec![0, 1, 1, 0, 1]), Part::Whole]];
        let basis = Basis::new(&[5, 4], queries.iter().map(|query| &query[..]), 0).unwrap();
        let tensor: Vec<f64> = (0..20_u32).map(|cell| f64::from(cell * cell % 7)).collect();
        let mut turned = tensor.clone();
        basis.reflect(&mut turned, &[5, 4], &[true, true]);
        let norm = |tensor: &[f64]| tensor.iter().map(|x| x * x).sum::<f64>();
        approx::assert_relative_eq!(norm(&turned), norm(&tensor), max_relative = 1e-12);
        basis.reflect(&mut turned, &[5, 4], &[true, true]);
        turned.iter().zip(&tensor).for_each(|(a, b)| approx::assert_abs_diff_eq!(*a, *b, epsilon = 1e-12));
    }
}
