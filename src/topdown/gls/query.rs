//! A query in the coordinates of the sectors: what its counts add to the normal equations, its answer to an estimate, and the
//! variances of its counts.

use super::{
    basis::{Basis, Part},
    matrix::Matrix,
};

/// A query over the attributes of a basis, whose coarse partitions refine its groups.
#[derive(Clone, Debug)]
pub struct SectorQuery {
    /// How many groups it has of each attribute.
    pub sizes: Vec<usize>,
    parts: Vec<Part>,
    whole: Vec<bool>,
    /// Which count of the reflected answer goes to which coordinate, with which factor.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    count: u32,
    place: u32,
    factor: f64,
}

impl SectorQuery {
    /// The query of these parts, one for each attribute.
    pub fn new(basis: &Basis, parts: &[Part]) -> SectorQuery {
        let sizes: Vec<usize> = basis.axes.iter().zip(parts).map(|(axis, part)| part.groups(axis.size())).collect();
        let whole: Vec<bool> = parts.iter().map(|part| *part == Part::Whole).collect();
        let mut entries = vec![(0_u32, 0_u32, 1.0_f64)];
        for ((axis, part), size) in basis.axes.iter().zip(parts).zip(&sizes) {
            // For each value that carries a coordinate of the query: its place on the axis, the group and the factor.
            let own: Vec<(u32, u32, f64)> = match part {
                Part::Whole => (0..axis.size() as u32).map(|value| (value, value, 1.0)).collect(),
                _ => (axis.cells.iter())
                    .map(|cell| (part.group_of(cell[0] as usize) as u32, cell[0], (cell.len() as f64).sqrt()))
                    .collect(),
            };
            let (size, values) = (*size as u32, axis.size() as u32);
            let next = |(count, place, factor): &(u32, u32, f64)| {
                let (count, place, factor) = (*count, *place, *factor);
                let with = move |(group, value, own): &(u32, u32, f64)| {
                    (count * size + group, place * values + value, factor * own)
                };
                own.iter().map(with).collect::<Vec<_>>()
            };
            entries = entries.iter().flat_map(next).collect();
        }
        let entry = |(count, cell, factor): (u32, u32, f64)| Entry { count, place: basis.place[cell as usize], factor };
        SectorQuery { sizes, parts: parts.to_vec(), whole, entries: entries.into_iter().map(entry).collect() }
    }

    /// How many counts it has.
    pub fn counts(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Adds A'y, times a weight, to a vector of coordinates. `counts` is used up.
    pub fn add_transposed(&self, basis: &Basis, weight: f64, counts: &mut [f64], to: &mut [f64]) {
        basis.reflect(counts, &self.sizes, &self.whole);
        for entry in &self.entries {
            to[entry.place as usize] += weight * entry.factor * counts[entry.count as usize];
        }
    }

    /// The answer A x to a vector of coordinates.
    pub fn answer(&self, basis: &Basis, x: &[f64]) -> Vec<f64> {
        let mut counts = vec![0.0; self.counts()];
        for entry in &self.entries {
            counts[entry.count as usize] += entry.factor * x[entry.place as usize];
        }
        basis.reflect(&mut counts, &self.sizes, &self.whole);
        counts
    }

    /// A'A in each sector: the Kronecker product of what the parts are on coarse spaces. A sector in whose complement there
    /// is an attribute that is not kept whole has zero.
    pub fn information(&self, basis: &Basis) -> Vec<Matrix> {
        let sector = |sector: &super::basis::Sector| {
            let mut product = Matrix::identity(1);
            for (at, (axis, part)) in basis.axes.iter().zip(&self.parts).enumerate() {
                if sector.complement >> at & 1 == 1 {
                    if *part != Part::Whole {
                        return Matrix::zero(sector.rows, sector.rows);
                    }
                    continue;
                }
                let cells = axis.cells.len();
                let mut own = Matrix::identity(cells);
                if *part != Part::Whole {
                    let group = |cell: usize| part.group_of(axis.cells[cell][0] as usize);
                    for (at, entry) in own.entries.iter_mut().enumerate() {
                        let (row, column) = (at / cells, at % cells);
                        let size = (axis.cells[row].len() * axis.cells[column].len()) as f64;
                        *entry = if group(row) == group(column) { size.sqrt() } else { 0.0 };
                    }
                }
                product = kronecker(&product, &own);
            }
            product
        };
        basis.sectors.iter().map(sector).collect()
    }

    /// For each count the number of its class: counts of one class have the same variance in every unit.
    pub fn classes(&self, basis: &Basis) -> (Vec<u32>, Vec<CountClass>) {
        // By attribute: for each group its class, and one functional for each class.
        let mut class_of = vec![0_u32];
        let mut classes = vec![Vec::<Functional>::new()];
        for ((axis, part), size) in basis.axes.iter().zip(&self.parts).zip(&self.sizes) {
            let (own_class, own): (Vec<u32>, Vec<Functional>) = match part {
                Part::Whole => {
                    (axis.cell_of.clone(), axis.cells.iter().enumerate().map(Functional::of_value).collect())
                }
                _ => {
                    let group = |group| Functional::of_group(axis, part, group);
                    ((0..*size as u32).collect(), (0..*size).map(group).collect())
                }
            };
            let many = own.len() as u32;
            class_of = class_of.iter().flat_map(|class| own_class.iter().map(move |own| class * many + own)).collect();
            let extended = |so_far: &Vec<Functional>| {
                own.iter().map(|own| [&so_far[..], std::slice::from_ref(own)].concat()).collect::<Vec<_>>()
            };
            classes = classes.iter().flat_map(extended).collect();
        }
        (class_of, classes.iter().map(|parts| CountClass::new(basis, parts)).collect())
    }
}

fn kronecker(a: &Matrix, b: &Matrix) -> Matrix {
    let mut product = Matrix::zero(a.rows * b.rows, a.columns * b.columns);
    for row in 0..product.rows {
        for column in 0..product.columns {
            product.entries[row * product.columns + column] =
                a.at(row / b.rows, column / b.columns) * b.at(row % b.rows, column % b.columns);
        }
    }
    product
}

/// The indicator of a group of values of one attribute: its coordinates in the coarse space that are not zero, and the
/// square of its length in the complement.
#[derive(Clone, Debug)]
struct Functional {
    coarse: Vec<(u32, f64)>,
    complement: f64,
}

impl Functional {
    /// That of a value of a cell.
    fn of_value((cell, values): (usize, &Vec<u32>)) -> Functional {
        let size = values.len() as f64;
        Functional { coarse: vec![(cell as u32, size.sqrt().recip())], complement: 1.0 - size.recip() }
    }

    /// That of any set of values.
    fn of_set(axis: &super::basis::Axis, selected: &[bool]) -> Functional {
        let (mut coarse, mut complement) = (Vec::new(), 0.0);
        for (at, cell) in (0..).zip(&axis.cells) {
            let own = cell.iter().filter(|value| selected[**value as usize]).count() as f64;
            if own > 0.0 {
                let size = cell.len() as f64;
                coarse.push((at, own / size.sqrt()));
                complement += own * (size - own) / size;
            }
        }
        Functional { coarse, complement }
    }

    /// That of a group of whole cells.
    fn of_group(axis: &super::basis::Axis, part: &Part, group: usize) -> Functional {
        let cells = (0..).zip(&axis.cells).filter(|(_, cell)| part.group_of(cell[0] as usize) == group);
        let coarse = cells.map(|(at, cell)| (at, (cell.len() as f64).sqrt())).collect();
        Functional { coarse, complement: 0.0 }
    }
}

/// Counts that have the same variance: for each sector where they are not zero, their coarse coordinates and the square of
/// their length in the complement.
#[derive(Clone, Debug)]
pub struct CountClass {
    parts: Vec<ClassPart>,
}

/// What a class has of a sector.
#[derive(Clone, Debug)]
struct ClassPart {
    sector: usize,
    /// The square of the length in the complement.
    weight: f64,
    /// The coarse rows with their coordinates.
    rows: Vec<(u32, f64)>,
}

/// Below this part of the sum of absolute terms a variance is zero: constraints fix the count.
const FIXED: f64 = 1e-11;

impl CountClass {
    /// The sum over the cells whose values are selected, attribute by attribute; the coarse partitions may be cut across.
    pub fn of_sets(basis: &Basis, selected: &[Vec<bool>]) -> CountClass {
        let functional = |(axis, selected): (&super::basis::Axis, &Vec<bool>)| Functional::of_set(axis, selected);
        CountClass::new(basis, &basis.axes.iter().zip(selected).map(functional).collect::<Vec<_>>())
    }

    fn new(basis: &Basis, functionals: &[Functional]) -> CountClass {
        let mut parts = Vec::new();
        for (number, sector) in basis.sectors.iter().enumerate() {
            let (mut weight, mut rows) = (1.0, vec![(0_u32, 1.0_f64)]);
            for (at, (axis, own)) in basis.axes.iter().zip(functionals).enumerate() {
                if sector.complement >> at & 1 == 1 {
                    weight *= own.complement;
                    continue;
                }
                let cells = axis.cells.len() as u32;
                let next = |(row, factor): &(u32, f64)| {
                    let (row, factor) = (*row, *factor);
                    own.coarse.iter().map(move |(cell, own)| (row * cells + cell, factor * own)).collect::<Vec<_>>()
                };
                rows = rows.iter().flat_map(next).collect();
            }
            if weight > 0.0 {
                parts.push(ClassPart { sector: number, weight, rows });
            }
        }
        CountClass { parts }
    }

    /// The variance of each count of the class, from the covariance matrices of the sectors; `rows` says where the rows of a
    /// sector stand in its matrix, `None` for those that are zero.
    pub fn variance(&self, covariance: &[Matrix], rows: impl Fn(usize, u32) -> Option<u32>) -> f64 {
        let (mut variance, mut terms) = (0.0, 0.0);
        for ClassPart { sector, weight, rows: functional } in &self.parts {
            let there: Vec<(usize, f64)> = (functional.iter())
                .filter_map(|(row, factor)| Some((rows(*sector, *row)? as usize, *factor)))
                .collect();
            for (row, a) in &there {
                for (column, b) in &there {
                    let term = weight * a * b * covariance[*sector].at(*row, *column);
                    variance += term;
                    terms += term.abs();
                }
            }
        }
        if variance <= FIXED * terms { 0.0 } else { variance }
    }

    /// Its coordinates in a sector without columns of a complement: those of the total among them.
    pub(super) fn coarse(&self) -> &[(u32, f64)] {
        self.parts.first().map_or(&[], |part| &part.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A, written out.
    fn dense(sizes: &[usize], parts: &[Part]) -> Matrix {
        let cells: usize = sizes.iter().product();
        let groups: Vec<usize> = sizes.iter().zip(parts).map(|(size, part)| part.groups(*size)).collect();
        let mut matrix = Matrix::zero(groups.iter().product(), cells);
        for cell in 0..cells {
            let (mut rest, mut count) = (cells, 0);
            for ((size, part), groups) in sizes.iter().zip(parts).zip(&groups) {
                rest /= size;
                count = count * groups + part.group_of(cell / rest % size);
            }
            matrix.entries[count * cells + cell] = 1.0;
        }
        matrix
    }

    #[test]
    fn queries_in_sectors_are_the_queries_written_out() {
        let sizes = [4, 3, 2];
        let queries = [
            vec![Part::Groups(vec![0, 1, 1, 0]), Part::Whole, Part::Total],
            vec![Part::Groups(vec![1, 0, 0, 1]), Part::Groups(vec![0, 1, 0]), Part::Whole],
            vec![Part::Total, Part::Total, Part::Total],
            vec![Part::Whole, Part::Whole, Part::Whole],
        ];
        let basis = Basis::new(&sizes, queries.iter().map(|query| &query[..]), 0).unwrap();
        // The coordinates of each unit vector: the columns of the change of coordinates.
        let detailed = SectorQuery::new(&basis, &queries[3]);
        let coordinates = |raw: &[f64]| {
            let mut to = vec![0.0; 24];
            detailed.add_transposed(&basis, 1.0, &mut raw.to_vec(), &mut to);
            to
        };
        let raw: Vec<f64> = (0..24_u32).map(|cell| f64::from(cell * 5 % 11)).collect();
        let x = coordinates(&raw);
        for parts in &queries {
            let (query, dense) = (SectorQuery::new(&basis, parts), dense(&sizes, parts));
            let mut expected = vec![0.0; query.counts()];
            super::super::matrix::multiply_add(&dense, &raw, 1, &mut expected);
            let answer = query.answer(&basis, &x);
            answer.iter().zip(&expected).for_each(|(a, b)| approx::assert_abs_diff_eq!(*a, *b, epsilon = 1e-10));
            // A'A x, by counts and by the matrices of the sectors.
            let mut by_counts = vec![0.0; 24];
            query.add_transposed(&basis, 1.0, &mut expected, &mut by_counts);
            let mut by_sectors = vec![0.0; 24];
            for (sector, matrix) in basis.sectors.iter().zip(query.information(&basis)) {
                let at = sector.start..sector.start + sector.rows * sector.columns;
                super::super::matrix::multiply_add(&matrix, &x[at.clone()], sector.columns, &mut by_sectors[at]);
            }
            by_counts.iter().zip(&by_sectors).for_each(|(a, b)| approx::assert_abs_diff_eq!(*a, *b, epsilon = 1e-9));
            // With identities as covariances a count has the number of its cells.
            let (class_of, classes) = query.classes(&basis);
            let identities: Vec<Matrix> = basis.sectors.iter().map(|sector| Matrix::identity(sector.rows)).collect();
            for (count, class) in class_of.iter().enumerate() {
                let cells: f64 = dense.row(count).iter().sum();
                let variance = classes[*class as usize].variance(&identities, |_, row| Some(row));
                approx::assert_relative_eq!(variance, cells, max_relative = 1e-12);
            }
            // A set that cuts across cells has as many cells as it has.
            let sets = [vec![true, true, false, false], vec![true, false, true], vec![true, true]];
            let variance = CountClass::of_sets(&basis, &sets).variance(&identities, |_, row| Some(row));
            approx::assert_relative_eq!(variance, 8.0, max_relative = 1e-12);
        }
    }
}
