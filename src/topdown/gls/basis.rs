//! Coordinates in which the information matrices of all queries fall into small blocks: the sectors.
//!
//! A query is a Kronecker product over the attributes of: the identity I, the total 1', or the group sums of a
//! partition. Each attribute splits into subspaces (`gls::axis`) on which all its parts act simply: by a small matrix
//! on the even functions, with a row for each class of values, and by a number on the others. So the sum over queries
//! of A'A / v splits into sectors. For each choice of one subspace per attribute there is one dense matrix over the
//! combinations of classes of the even attributes, the same for each of its columns, which are the coordinates of the
//! other attributes. Rows that no query connects, directly or through other rows, belong to separate sectors.
//!
//! For P.L. 94-171 without constraints these are eight matrices of 3 x 3 and eight numbers, instead of one matrix of
//! 2016 x 2016. For the persons of the DHC, with 1,227,744 cells, no matrix has more than 156 rows, and none more than
//! 768 if constraints distinguish ages and relationships.
//!
//! A requested answer may need only some sectors: the total needs the first one. The others are then omitted, including
//! their counts. This loses nothing, because no query connects two sectors.
//!
//! The change of coordinates is orthonormal: for each cell the reflection that exchanges 1_cell / sqrt(g) with the
//! first unit vector, and then the analogous reflection for the cells of a class. Then the first value of a class
//! carries its even coordinate.

use std::collections::{BTreeMap, HashMap};

pub use super::axis::Part;
use super::axis::{Axis, Kind};
use crate::error::{Error, Result};

/// The largest dense matrix of a sector.
pub const MOST_ROWS: usize = 2048;
/// The largest number of sectors.
const MOST_SECTORS: usize = 1 << 17;
/// The place of an omitted coordinate.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The sums of rows of a sector that a query counts, each with the number of counts that it is divided among.
pub(in crate::topdown) type CountedSums = Vec<(Vec<usize>, u64)>;

/// The coordinates of a sector: a table with a row for each combination of classes and a column for each combination of
/// coordinates of the attributes that are not even, stored row by row from `start` on.
#[derive(Clone, Debug)]
pub(super) struct Sector {
    /// The subspace of each attribute.
    pub(super) kinds: Vec<Kind>,
    /// The combination of classes of each row: their numbers, attribute by attribute, 0 for attributes that are not
    /// even.
    pub(super) combinations: Vec<Vec<u32>>,
    pub(super) columns: usize,
    pub(super) start: usize,
}

impl Sector {
    pub(super) fn rows(&self) -> usize {
        self.combinations.len()
    }
}

/// The sectors of a histogram.
#[derive(Clone, Debug)]
pub struct Basis {
    pub(super) axes: Vec<Axis>,
    pub(super) sectors: Vec<Sector>,
    /// For each choice of subspaces, the first attribute fastest: sector and row of each of its combinations of
    /// classes, row-major. Empty for omitted choices.
    pub(super) slots: Vec<Vec<(u32, u32)>>,
    /// For each cell of the histogram, row-major, the coordinate that is at its place after the reflections.
    pub(super) place: Vec<u32>,
    /// By attribute: whether all kept sectors have its subspace of even functions.
    pub(super) is_even: Vec<bool>,
}

impl Basis {
    /// The sectors for queries over attributes of these sizes; constraints distinguish the groups of `apart`, attribute
    /// by attribute. If `answers` are given, which must be among the queries, only sectors on which they act are kept.
    pub fn new<'a>(
        sizes: &[usize],
        queries: impl Iterator<Item = &'a [Part]> + Clone,
        apart: &[Part],
        answers: Option<&[Vec<Part>]>,
    ) -> Result<Basis> {
        let axis = |(at, size): (usize, &usize)| Axis::new(*size, queries.clone().map(|query| &query[at]), &apart[at]);
        let axes: Vec<Axis> = sizes.iter().enumerate().map(axis).collect();
        let choices = axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.kinds.len()));
        let choices = choices.filter(|choices| *choices <= MOST_SECTORS).ok_or_else(|| {
            let expected = format!("at most {MOST_SECTORS} in all: fewer recodes, or fewer attributes");
            let kinds: Vec<String> = axes.iter().map(|axis| axis.kinds.len().to_string()).collect();
            Error::out_of_range("the number of sectors of least squares", kinds.join(" x "), &expected)
        })?;
        let mut distinct: Vec<&[Part]> = Vec::new();
        for query in queries {
            if !distinct.contains(&query) {
                distinct.push(query);
            }
        }
        let mut basis = Basis {
            sectors: Vec::new(),
            slots: vec![Vec::new(); choices],
            place: Vec::new(),
            is_even: vec![true; axes.len()],
            axes,
        };
        for choice in 0..choices {
            basis.add(choice, &distinct, answers)?;
        }
        basis.place = basis.places();
        Ok(basis)
    }

    /// Adds the sectors of a choice of subspaces on which queries act, if answers do; an error where one has too many rows.
    fn add(&mut self, choice: usize, queries: &[&[Part]], answers: Option<&[Vec<Part>]>) -> Result<()> {
        let kinds = self.kinds(choice);
        let acts = |query: &[Part]| self.acts(query, &kinds);
        if answers.is_some_and(|answers| !answers.iter().any(|query| acts(query))) {
            return Ok(());
        }
        let acting: Vec<&[Part]> = queries.iter().copied().filter(|query| acts(query)).collect();
        let columns = self.columns(&kinds);
        let combinations = self.combinations(&kinds);
        let component_of = self.components(&kinds, &combinations, &acting);
        let (first, mut start) = (self.sectors.len(), self.coordinates());
        for (combination, component) in combinations.into_iter().zip(component_of) {
            if first + component == self.sectors.len() {
                let (kinds, combinations) = (kinds.clone(), Vec::new());
                self.sectors.push(Sector { kinds, combinations, columns, start: 0 });
            }
            let sector = &mut self.sectors[first + component];
            self.slots[choice].push(((first + component) as u32, sector.rows() as u32));
            sector.combinations.push(combination);
        }
        for sector in &mut self.sectors[first..] {
            sector.start = start;
            start += sector.rows() * columns;
            if sector.rows() > MOST_ROWS {
                let expected = format!("at most {MOST_ROWS}: fewer recodes, or constraints on fewer attributes");
                let what = "the number of rows of a matrix of least squares";
                return Err(Error::out_of_range(what, sector.rows(), &expected));
            }
        }
        kinds.iter().zip(&mut self.is_even).for_each(|(kind, even)| *even &= *kind == Kind::Even);
        Ok(())
    }

    /// The number of cells of the histogram.
    pub fn cells(&self) -> usize {
        self.place.len()
    }

    /// The number of kept coordinates: the cells of the histogram, if no sector is omitted.
    pub fn coordinates(&self) -> usize {
        self.sectors.last().map_or(0, |sector| sector.start + sector.rows() * sector.columns)
    }

    /// The number of rows of the matrix of each sector.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        self.sectors.iter().map(Sector::rows)
    }

    /// The sums of coordinates of a sector that a query counts, each by its rows and the number of counts that it is
    /// divided among; none where the query does not act. For this a coordinate is the sum over the values of its classes:
    /// the orthonormal one times the square root of their number, which changes no span.
    pub(in crate::topdown) fn sums(&self, sector: usize, query: &[Part]) -> CountedSums {
        let sector = &self.sectors[sector];
        if !self.acts(query, &sector.kinds) {
            return Vec::new();
        }
        let mut sums: BTreeMap<Vec<usize>, (Vec<usize>, u64)> = BTreeMap::new();
        for (row, combination) in sector.combinations.iter().enumerate() {
            let (mut key, mut shares) = (Vec::with_capacity(query.len()), 1);
            for (((axis, part), kind), class) in self.axes.iter().zip(query).zip(&sector.kinds).zip(combination) {
                if *kind == Kind::Even {
                    key.push(axis.block(part, *class as usize));
                    shares *= axis.shares(part, *class as usize);
                }
            }
            sums.entry(key).or_insert((Vec::new(), shares)).0.push(row);
        }
        sums.into_values().collect()
    }

    /// The subspaces of a choice.
    pub(super) fn kinds(&self, choice: usize) -> Vec<Kind> {
        let mut rest = choice;
        let kind = |axis: &Axis| {
            let kind = axis.kinds[rest % axis.kinds.len()];
            rest /= axis.kinds.len();
            kind
        };
        self.axes.iter().map(kind).collect()
    }

    /// Whether a query acts on the functions of a choice of subspaces.
    fn acts(&self, query: &[Part], kinds: &[Kind]) -> bool {
        self.axes.iter().zip(query).zip(kinds).all(|((axis, part), kind)| axis.scalar(part, *kind) > 0.0)
    }

    fn columns(&self, kinds: &[Kind]) -> usize {
        let rest = self.axes.iter().zip(kinds).filter(|(_, kind)| **kind != Kind::Even);
        rest.map(|(axis, kind)| axis.dimension(*kind)).product()
    }

    /// The combinations of classes of the even attributes, row-major.
    fn combinations(&self, kinds: &[Kind]) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for (axis, kind) in self.axes.iter().zip(kinds) {
            let many = if *kind == Kind::Even { axis.classes.len() as u32 } else { 1 };
            let next = |before: Vec<u32>| (0..many).map(move |class| [&before[..], &[class]].concat());
            all = all.into_iter().flat_map(next).collect();
        }
        all
    }

    /// The sets of combinations that queries connect, numbered in the order of appearance. Exact totals connect all
    /// even ones.
    fn components(&self, kinds: &[Kind], combinations: &[Vec<u32>], queries: &[&[Part]]) -> Vec<usize> {
        if kinds.iter().all(|kind| *kind == Kind::Even) {
            return vec![0; combinations.len()];
        }
        let mut above: Vec<usize> = (0..combinations.len()).collect();
        let root = |above: &[usize], mut at: usize| {
            while above[at] != at {
                at = above[at];
            }
            at
        };
        for query in queries {
            let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
            for (row, combination) in combinations.iter().enumerate() {
                let block = |((axis, part), (kind, class)): ((&Axis, &Part), (&Kind, &u32))| match kind {
                    Kind::Even => axis.block(part, *class as usize),
                    Kind::Within(_) | Kind::Between(_) => 0,
                };
                let key = self.axes.iter().zip(*query).zip(kinds.iter().zip(combination)).map(block).collect();
                let other = *known.entry(key).or_insert(row);
                let (a, b) = (root(&above, row), root(&above, other));
                above[a.max(b)] = a.min(b);
            }
        }
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let number = |row: usize| {
            let next = numbers.len();
            *numbers.entry(root(&above, row)).or_insert(next)
        };
        (0..combinations.len()).map(number).collect()
    }

    /// The places of the coordinates: for each cell of the histogram its place in its sector.
    fn places(&self) -> Vec<u32> {
        // For each value of an attribute the number of its subspace, and its number in that subspace.
        let coordinates = |axis: &Axis| -> Vec<(usize, usize)> {
            let mut next = vec![0; axis.kinds.len()];
            let of = |(value, cell): (u32, &u32)| {
                let class = axis.class_of[*cell as usize];
                let own = &axis.classes[class as usize];
                let kind = if axis.cells[*cell as usize][0] != value {
                    Kind::Within(own.point)
                } else if own.cells[0] == *cell {
                    return (0, class as usize);
                } else {
                    Kind::Between(class)
                };
                let number = axis.kinds.iter().position(|known| *known == kind).unwrap_or(0);
                next[number] += 1;
                (number, next[number] - 1)
            };
            (0..).zip(&axis.cell_of).map(of).collect()
        };
        let by_axis: Vec<Vec<(usize, usize)>> = self.axes.iter().map(coordinates).collect();
        let total: usize = self.axes.iter().map(Axis::size).product();
        (0..total)
            .map(|cell| {
                let (mut choice, mut radix, mut combination, mut column) = (0, 1, 0, 0);
                let mut rest = total;
                for (axis, own) in self.axes.iter().zip(&by_axis) {
                    rest /= axis.size();
                    let (kind, number) = own[cell / rest % axis.size()];
                    choice += radix * kind;
                    radix *= axis.kinds.len();
                    match axis.kinds[kind] {
                        Kind::Even => combination = combination * axis.classes.len() + number,
                        other => column = column * axis.dimension(other) + number,
                    }
                }
                self.slots[choice].get(combination).map_or(NOWHERE, |(sector, row)| {
                    let sector = &self.sectors[*sector as usize];
                    (sector.start + *row as usize * sector.columns + column) as u32
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: [Part; 2] = [Part::Total, Part::Total];

    fn shapes(basis: &Basis) -> Vec<(usize, usize)> {
        basis.sectors.iter().map(|sector| (sector.rows(), sector.columns)).collect()
    }

    #[test]
    fn recodes_divide_an_attribute_and_totals_do_not() {
        let queries = [
            vec![Part::Total, Part::Whole],
            vec![Part::Groups(vec![0, 1, 1, 2]), Part::Total],
            vec![Part::Groups(vec![0, 0, 1, 2]), Part::Total],
        ];
        let each = || queries.iter().map(|query| &query[..]);
        let basis = Basis::new(&[4, 3], each(), &NOTHING, None).unwrap();
        // {0} {1} {2} {3}: the common refinement. No two of them are exchangeable.
        assert_eq!((basis.axes[0].cells.len(), basis.axes[0].classes.len()), (4, 4));
        assert_eq!(basis.axes[1].cells, [vec![0, 1, 2]]);
        assert_eq!(shapes(&basis), [(4, 1), (4, 2)]);
        let mut places = basis.place.clone();
        places.sort_unstable();
        assert_eq!(places, (0..12).collect::<Vec<u32>>());
        // An answer about the first attribute needs only the sector in which the other is even.
        let basis = Basis::new(&[4, 3], each(), &NOTHING, Some(&queries[1..2])).unwrap();
        assert_eq!((shapes(&basis), basis.coordinates(), basis.cells()), (vec![(4, 1)], 4, 12));
        assert_eq!(basis.place.iter().filter(|place| **place != NOWHERE).count(), 4);
        assert!(Basis::new(&[50, 50], each().take(0), &[Part::Whole, Part::Whole], None).is_err());
    }

    #[test]
    fn rows_that_no_query_connects_are_separate_sectors() {
        let halves = Part::Groups(vec![0, 0, 0, 1, 1]);
        let fine = Part::Groups(vec![0, 1, 1, 2, 2]);
        let queries = [vec![halves, Part::Whole], vec![fine, Part::Total], vec![Part::Whole, Part::Whole]];
        let basis = Basis::new(&[5, 2], queries.iter().map(|query| &query[..]), &NOTHING, None).unwrap();
        // {0} {1, 2} {3, 4}: connected by the total, and then by the halves alone.
        assert_eq!(shapes(&basis), [(3, 1), (1, 2), (2, 1), (1, 1), (1, 2)]);
    }
}
