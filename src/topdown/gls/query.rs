//! A query in the coordinates of the sectors: its contribution to the normal equations, and its answer from an
//! estimate.

use super::{
    axis::{Axis, Class, Kind},
    basis::{Basis, NOWHERE, Part},
    classes::{CountClass, Functional},
    matrix::Matrix,
    number::{Number, add},
};

/// A query over the attributes of a basis, whose cells refine its groups.
#[derive(Clone, Debug)]
pub struct SectorQuery<N = f64> {
    /// The number of groups of each attribute.
    pub sizes: Vec<usize>,
    parts: Vec<Part>,
    turns: Vec<Turn>,
    /// The map from counts after the turns to coordinates, with a factor.
    entries: Vec<Entry<N>>,
    /// By attribute, A'A on the even functions, row by row over its classes.
    even: Vec<Vec<N>>,
    /// Whether all sectors on which it acts are kept.
    pub(in crate::topdown) is_complete: bool,
}

/// The operation on the counts along an attribute before they are mapped to coordinates.
#[derive(Clone, Debug)]
enum Turn {
    /// The reflection of each of these sets of groups, one after the other.
    Reflect(Vec<Vec<u32>>),
    /// The sum over the groups of each class, divided by the square root of their number: no other coordinates are
    /// kept.
    Fold(Vec<Vec<u32>>),
}

#[derive(Clone, Debug)]
struct Entry<N> {
    count: u32,
    place: u32,
    factor: N,
}

/// From a group of an attribute to the place of a value: group, value, factor.
type Step<N> = (u32, u32, N);

/// The turn of the counts along an attribute, their number after it, and the map from them to coordinates.
fn along<N: Number>(axis: &Axis, part: &Part, is_even: bool) -> (Turn, usize, Vec<Step<N>>) {
    let first = |cell: u32| axis.cells[cell as usize][0];
    if *part == Part::Whole {
        let values = |class: &Class| {
            let own = class.cells.iter().flat_map(|cell| &axis.cells[*cell as usize]).copied();
            own.collect::<Vec<u32>>()
        };
        if is_even && axis.classes.len() < axis.size() {
            let classes = (0..).zip(&axis.classes);
            let steps = classes.map(|(number, class)| (number, first(class.cells[0]), N::of(1.0))).collect();
            return (Turn::Fold(axis.classes.iter().map(values).collect()), axis.classes.len(), steps);
        }
        let cells = axis.cells.iter().filter(|cell| cell.len() > 1).cloned();
        let classes = axis.classes.iter().filter(|class| class.cells.len() > 1);
        let classes = classes.map(|class| class.cells.iter().map(|cell| first(*cell)).collect());
        let steps = (0..axis.size() as u32).map(|value| (value, value, N::of(1.0))).collect();
        return (Turn::Reflect(cells.chain(classes).collect()), axis.size(), steps);
    }
    let (mut reflected, mut steps) = (Vec::new(), Vec::new());
    for class in &axis.classes {
        let groups = class.cells.iter().map(|cell| part.group_of(first(*cell) as usize) as u32);
        if !axis.is_alone(part, class) {
            let group = part.group_of(first(class.cells[0]) as usize) as u32;
            steps.push((group, first(class.cells[0]), N::of(class.values()).root()));
        } else if is_even {
            let factor = N::of(class.size as f64).over(&N::of(class.cells.len() as f64)).root();
            steps.extend(groups.map(|group| (group, first(class.cells[0]), factor.clone())));
        } else {
            let groups: Vec<u32> = groups.collect();
            let factor = N::of(class.size as f64).root();
            steps.extend(groups.iter().zip(&class.cells).map(|(group, cell)| (*group, first(*cell), factor.clone())));
            reflected.push(groups);
        }
    }
    (Turn::Reflect(reflected), part.groups(axis.size()), steps)
}

impl<N: Number> SectorQuery<N> {
    /// The query of these parts, one for each attribute.
    pub fn new(basis: &Basis, parts: &[Part]) -> Self {
        let sizes: Vec<usize> = basis.axes.iter().zip(parts).map(|(axis, part)| part.groups(axis.size())).collect();
        let mut turns = Vec::with_capacity(parts.len());
        let mut entries = vec![(0_u32, 0_u32, N::of(1.0))];
        for ((axis, part), is_even) in basis.axes.iter().zip(parts).zip(&basis.is_even) {
            let (turn, size, own) = along(axis, part, *is_even);
            turns.push(turn);
            let (size, values) = (size as u32, axis.size() as u32);
            let next = |(count, place, factor): &Step<N>| {
                let with =
                    |(group, value, own): &Step<N>| (count * size + group, place * values + value, factor.times(own));
                own.iter().map(with).collect::<Vec<_>>()
            };
            entries = entries.iter().flat_map(next).collect();
        }
        let entry = |(count, cell, factor): Step<N>| Entry { count, place: basis.place[cell as usize], factor };
        let all: Vec<Entry<N>> = entries.into_iter().map(entry).collect();
        let is_folded = turns.iter().any(|turn| matches!(turn, Turn::Fold(_)));
        let is_complete = !is_folded && all.iter().all(|entry| entry.place != NOWHERE);
        let entries = all.into_iter().filter(|entry| entry.place != NOWHERE).collect();
        let even = basis.axes.iter().zip(parts).map(|(axis, part)| axis.even(part)).collect();
        SectorQuery { sizes, parts: parts.to_vec(), turns, entries, even, is_complete }
    }

    /// The number of counts.
    pub fn counts(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Adds A'y, times a weight, to a vector of coordinates. `counts` is overwritten.
    pub fn add_transposed(&self, weight: N, counts: &mut [N], to: &mut [N]) {
        if self.entries.is_empty() {
            return;
        }
        let (mut outer, mut inner, mut rows) = (1, counts.len(), Vec::new());
        for (turn, size) in self.turns.iter().zip(&self.sizes) {
            inner /= size;
            let counts = &mut counts[..outer * size * inner];
            match turn {
                Turn::Reflect(sets) => {
                    sets.iter().for_each(|set| reflect(set, counts, *size, inner, &mut rows));
                    outer *= size;
                }
                Turn::Fold(classes) => {
                    fold(classes, counts, *size, inner, &mut rows);
                    outer *= classes.len();
                }
            }
        }
        for entry in &self.entries {
            to[entry.place as usize].add_product(&weight.times(&entry.factor), &counts[entry.count as usize]);
        }
    }

    /// The answer A x for a vector of coordinates, which must have all sectors on which the query acts.
    pub fn answer(&self, x: &[N]) -> Vec<N> {
        assert!(!self.turns.iter().any(|turn| matches!(turn, Turn::Fold(_))), "a sector of the query is left out");
        let mut counts = vec![N::of(0.0); self.counts()];
        for entry in &self.entries {
            counts[entry.count as usize].add_product(&entry.factor, &x[entry.place as usize]);
        }
        let (mut inner, mut rows) = (counts.len(), Vec::new());
        for (turn, size) in self.turns.iter().zip(&self.sizes) {
            inner /= size;
            if let Turn::Reflect(sets) = turn {
                // Each reflection is its own inverse.
                sets.iter().rev().for_each(|set| reflect(set, &mut counts, *size, inner, &mut rows));
            }
        }
        counts
    }

    /// Adds A'A in a sector, times a weight, on some of its rows: the Kronecker product of the actions of the parts on
    /// the subspaces.
    pub fn add_information(&self, basis: &Basis, sector: usize, weight: N, rows: &[u32], to: &mut Matrix<N>) {
        let sector = &basis.sectors[sector];
        let (mut scalar, mut even) = (1.0, Vec::new());
        for (at, (axis, kind)) in basis.axes.iter().zip(&sector.kinds).enumerate() {
            match kind {
                Kind::Even => even.push((at, axis.classes.len(), &self.even[at])),
                other => scalar *= axis.scalar(&self.parts[at], *other),
            }
        }
        if scalar == 0.0 {
            return;
        }
        for (row, to) in rows.iter().zip(to.entries.chunks_exact_mut(rows.len().max(1))) {
            let own = &sector.combinations[*row as usize];
            for (column, to) in rows.iter().zip(to) {
                let other = &sector.combinations[*column as usize];
                let mut product = N::of(scalar);
                for (at, many, matrix) in &even {
                    product *= &matrix[own[*at] as usize * many + other[*at] as usize];
                }
                to.add_product(&weight, &product);
            }
        }
    }

    /// For each count the number of its class: counts of one class have the same variance in every unit.
    pub fn classes(&self, basis: &Basis) -> (Vec<u32>, Vec<CountClass<N>>) {
        // By attribute: for each group its class, and one functional for each class.
        let mut class_of = vec![0_u32];
        let mut classes = vec![Vec::<Functional<N>>::new()];
        for ((axis, part), size) in basis.axes.iter().zip(&self.parts).zip(&self.sizes) {
            let (own_class, own): (Vec<u32>, Vec<Functional<N>>) = match part {
                Part::Whole => {
                    let class = |cell: &u32| axis.class_of[*cell as usize];
                    let functional = |class| Functional::of_value(axis, class);
                    (axis.cell_of.iter().map(class).collect(), (0..axis.classes.len()).map(functional).collect())
                }
                _ => {
                    let is_in =
                        |group| (0..axis.size()).map(|value| part.group_of(value) == group).collect::<Vec<bool>>();
                    let group = |group| Functional::of_set(axis, &is_in(group));
                    ((0..*size as u32).collect(), (0..*size).map(group).collect())
                }
            };
            let many = own.len() as u32;
            class_of = class_of.iter().flat_map(|class| own_class.iter().map(move |own| class * many + own)).collect();
            let extended = |so_far: &Vec<Functional<N>>| {
                own.iter().map(|own| [&so_far[..], std::slice::from_ref(own)].concat()).collect::<Vec<_>>()
            };
            classes = classes.iter().flat_map(extended).collect();
        }
        (class_of, classes.iter().map(|parts| CountClass::new(basis, parts)).collect())
    }
}

/// The reflection that exchanges the even function on a set of groups of one attribute with the first of its unit
/// vectors, for `inner` tensors side by side. `sums` is scratch space.
fn reflect<N: Number>(set: &[u32], tensor: &mut [N], size: usize, inner: usize, sums: &mut Vec<N>) {
    let scale = N::of(set.len() as f64).root().inverse();
    // With v = 1 / sqrt(g) - e, v'v = 2 (1 - 1 / sqrt(g)): x - 2 v v'x / v'v.
    let beta = N::of(1.0).less(&scale).inverse();
    let step = |scaled: &N, x: &N| scaled.less(x).times(&beta).times(&scale);
    for slab in tensor.chunks_exact_mut(inner * size) {
        let first = set[0] as usize * inner;
        if inner == 1 {
            let mut scaled = N::of(-0.0);
            set.iter().for_each(|value| scaled += &slab[*value as usize]);
            scaled *= &scale;
            let step = step(&scaled, &slab[first]);
            set[1..].iter().for_each(|value| slab[*value as usize] -= &step);
            slab[first] = scaled;
            continue;
        }
        // A row of tensors at a time, so that the inner loops have stride 1.
        sums.clear();
        sums.resize(inner, N::of(0.0));
        for value in set {
            let start = *value as usize * inner;
            add(sums, &slab[start..start + inner]);
        }
        for (sum, x) in sums.iter_mut().zip(&mut slab[first..first + inner]) {
            let scaled = sum.times(&scale);
            *sum = step(&scaled, x);
            *x = scaled;
        }
        for value in &set[1..] {
            let start = *value as usize * inner;
            slab[start..start + inner].iter_mut().zip(&*sums).for_each(|(x, step)| *x -= step);
        }
    }
}

/// Replaces the values of a tensor by the even coordinates of the classes of one attribute, slab by slab.
fn fold<N: Number>(classes: &[Vec<u32>], tensor: &mut [N], size: usize, inner: usize, sums: &mut Vec<N>) {
    for slab in 0..tensor.len() / (inner * size) {
        let from = slab * inner * size;
        sums.clear();
        sums.resize(inner * classes.len(), N::of(0.0));
        for (class, sums) in classes.iter().zip(sums.chunks_exact_mut(inner)) {
            for value in class {
                let start = from + *value as usize * inner;
                add(sums, &tensor[start..start + inner]);
            }
            let scale = N::of(class.len() as f64).root().inverse();
            sums.iter_mut().for_each(|sum| *sum *= &scale);
        }
        let to = slab * inner * classes.len();
        tensor[to..to + sums.len()].clone_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A as a dense matrix.
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
    fn queries_in_sectors_agree_with_dense_matrices() {
        let sizes = [4, 3, 2];
        let queries = [
            vec![Part::Groups(vec![0, 1, 1, 0]), Part::Whole, Part::Total],
            vec![Part::Groups(vec![1, 0, 0, 1]), Part::Groups(vec![0, 1, 0]), Part::Whole],
            vec![Part::Total, Part::Total, Part::Total],
            vec![Part::Whole, Part::Whole, Part::Whole],
        ];
        let apart = [Part::Total, Part::Total, Part::Total];
        let basis = Basis::new(&sizes, queries.iter().map(|query| &query[..]), &apart, None).unwrap();
        // The coordinates of each unit vector: the columns of the change of coordinates.
        let detailed = SectorQuery::new(&basis, &queries[3]);
        let coordinates = |raw: &[f64]| {
            let mut to = vec![0.0; 24];
            detailed.add_transposed(1.0, &mut raw.to_vec(), &mut to);
            to
        };
        let raw: Vec<f64> = (0..24_u32).map(|cell| f64::from(cell * 5 % 11)).collect();
        let x = coordinates(&raw);
        for parts in &queries {
            let (query, dense) = (SectorQuery::new(&basis, parts), dense(&sizes, parts));
            let mut expected = vec![0.0; query.counts()];
            super::super::matrix::multiply_add(&dense, &raw, 1, &mut expected);
            let answer = query.answer(&x);
            answer.iter().zip(&expected).for_each(|(a, b)| approx::assert_abs_diff_eq!(*a, *b, epsilon = 1e-10));
            // A'A x, by counts and by the matrices of the sectors.
            let mut by_counts = vec![0.0; 24];
            query.add_transposed(1.0, &mut expected, &mut by_counts);
            let mut by_sectors = vec![0.0; 24];
            for (number, sector) in basis.sectors.iter().enumerate() {
                let rows: Vec<u32> = (0..sector.rows() as u32).collect();
                let mut matrix = Matrix::zero(rows.len(), rows.len());
                query.add_information(&basis, number, 1.0, &rows, &mut matrix);
                let at = sector.start..sector.start + sector.rows() * sector.columns;
                super::super::matrix::multiply_add(&matrix, &x[at.clone()], sector.columns, &mut by_sectors[at]);
            }
            by_counts.iter().zip(&by_sectors).for_each(|(a, b)| approx::assert_abs_diff_eq!(*a, *b, epsilon = 1e-9));
            // With identities as covariances the variance of a count is the number of its cells.
            let (class_of, classes) = query.classes(&basis);
            let identities: Vec<Matrix> = basis.rows().map(Matrix::identity).collect();
            for (count, class) in class_of.iter().enumerate() {
                let cells: f64 = dense.row(count).iter().sum();
                let variance = classes[*class as usize].variance(&identities, |_, row| Some(row));
                approx::assert_relative_eq!(variance, cells, max_relative = 1e-12);
            }
            // For a set that divides cells it is also the number of its cells.
            let sets = [vec![true, true, false, false], vec![true, false, true], vec![true, true]];
            let variance = CountClass::of_sets(&basis, &sets).variance(&identities, |_, row| Some(row));
            approx::assert_relative_eq!(variance, 8.0, max_relative = 1e-12);
        }
    }
}
