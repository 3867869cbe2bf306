//! The least-squares problem without its counts: the sectors, the queries of each level, and the cells that constraints
//! may make zero.

use std::{collections::HashMap, sync::Arc};

use super::{
    basis::{Basis, Part},
    classes::{CountClass, CountPair},
    matrix::{Factor, Matrix},
    number::Number,
    query::SectorQuery,
};
use crate::error::{Error, Result};

/// Maximum number of numbers in a covariance: a gigabyte.
const MOST_NUMBERS: usize = 1 << 27;
/// Maximum number of combinations of values that constraints distinguish.
const MOST_POINTS: usize = 1 << 14;

/// Queries over a histogram, level by level.
#[derive(Debug)]
pub struct Problem<N = f64> {
    /// The coordinates.
    pub basis: Basis,
    levels: Vec<Vec<Arc<SectorQuery<N>>>>,
    /// For each row of each sector, its point of the attributes, as constraints distinguish them.
    points: Vec<Vec<u32>>,
    /// The functional of the total, on rows of the first sector.
    total: Vec<(u32, N)>,
    /// The information that each leaf has beside its counts; none by default.
    prior: Option<N>,
}

/// The points that may be above zero, as bits. A point is a combination of the groups of values that constraints
/// distinguish.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Free(Vec<u64>);

impl Free {
    /// Whether a point is free.
    pub fn has(&self, point: usize) -> bool {
        self.0[point / 64] >> (point % 64) & 1 == 1
    }

    /// Makes a point zero.
    pub fn remove(&mut self, point: usize) {
        self.0[point / 64] &= !(1 << (point % 64));
    }

    /// Keeps only the points that the other set has too.
    pub fn intersect(&mut self, other: &Free) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    /// Adds the points of another set.
    pub fn unite(&mut self, other: &Free) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// The bits, as words.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The set with these words, of the same size as this one; `None` if their number differs.
    pub fn of_words(&self, words: Vec<u64>) -> Option<Free> {
        (words.len() == self.0.len()).then_some(Free(words))
    }

    /// A set without points, of the same size.
    pub fn none(&self) -> Free {
        Free(vec![0; self.0.len()])
    }
}

/// The coordinates that constraints do not make zero, and their storage: sector by sector a table with the remaining
/// rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    /// Shapes from the same [`Shapes`] are equal if their numbers are.
    pub number: usize,
    /// The remaining rows of each sector.
    pub(super) rows: Vec<Vec<u32>>,
    /// The start of each sector.
    pub(super) starts: Vec<usize>,
    /// The columns of each sector.
    pub(super) columns: Vec<usize>,
    /// The number of remaining coordinates.
    pub(super) len: usize,
}

impl Shape {
    /// The number of remaining coordinates.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no coordinate remains.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of remaining rows in each sector.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(Vec::len)
    }

    /// The number of columns of each sector.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().copied()
    }

    /// The coordinates of a sector.
    pub(in crate::topdown) fn range(&self, sector: usize) -> std::ops::Range<usize> {
        self.starts[sector]..self.starts[sector] + self.rows[sector].len() * self.columns[sector]
    }

    /// The positions of the rows of this shape among those of a shape that contains them, sector by sector.
    pub(super) fn places_in(&self, whole: &Shape) -> Vec<Vec<u32>> {
        let place = |(own, whole): (&Vec<u32>, &Vec<u32>)| {
            let mut at = 0;
            let mut place = |row: &u32| {
                at += whole[at..].iter().position(|other| other == row).unwrap_or(0);
                at as u32
            };
            own.iter().map(&mut place).collect()
        };
        self.rows.iter().zip(&whole.rows).map(place).collect()
    }

    /// The position of a row of a sector; `None` if it is zero.
    pub(super) fn row(&self, sector: usize, row: u32) -> Option<u32> {
        self.rows[sector].binary_search(&row).ok().map(|at| at as u32)
    }
}

/// The shapes that occur, each constructed once.
#[derive(Debug, Default)]
pub struct Shapes {
    known: HashMap<Free, Arc<Shape>>,
}

impl Shapes {
    /// The shape of a set of free points.
    pub fn shape<N: Number>(&mut self, problem: &Problem<N>, free: &Free) -> Arc<Shape> {
        if let Some(shape) = self.known.get(free) {
            return shape.clone();
        }
        let shape = Arc::new(problem.shape(free, self.known.len()));
        self.known.insert(free.clone(), shape.clone());
        shape
    }
}

impl Problem {
    /// The problem with queries for each level, over attributes of these sizes. `answers` are further queries to be
    /// answered; constraints distinguish the groups of `apart`, attribute by attribute.
    pub fn new(sizes: &[usize], levels: &[Vec<Vec<Part>>], answers: &[Vec<Part>], apart: &[Part]) -> Result<Problem> {
        Problem::over(sizes, levels, answers, apart, false)
    }

    /// The problem if nothing else will be answered: sectors on which these answers do not act are omitted.
    pub fn for_answers(
        sizes: &[usize],
        levels: &[Vec<Vec<Part>>],
        answers: &[Vec<Part>],
        apart: &[Part],
    ) -> Result<Problem> {
        Problem::over(sizes, levels, answers, apart, true)
    }

    /// The covariance of two counts, under covariances of two sums on a shape.
    pub fn covariance(&self, pair: &CountPair, shape: &Shape, matrices: &[Matrix]) -> f64 {
        pair.covariance(matrices, |sector, row| shape.row(sector, row))
    }

    /// Whether the queries of a level determine every combination of cells on which the answers act.
    pub fn is_level_determined(&self, level: usize) -> bool {
        let ones = vec![1.0_f32; self.levels[level].len()];
        let shape = Shapes::default().shape(self, &self.all_free());
        self.is_determined(&self.information(level, &ones, &shape))
    }

    /// Refuses a level whose queries do not determine some combination of cells on which the answers act.
    pub fn check_level(&self, level: usize, name: &str) -> Result<()> {
        match self.is_level_determined(level) {
            true => Ok(()),
            false => Err(undetermined(&format!("the level {name:?}"))),
        }
    }
}

impl<N: Number> Problem<N> {
    /// The problem; `restricted` to the sectors on which the answers act.
    pub(in crate::topdown) fn over(
        sizes: &[usize],
        levels: &[Vec<Vec<Part>>],
        answers: &[Vec<Part>],
        apart: &[Part],
        restricted: bool,
    ) -> Result<Self> {
        let all = levels.iter().flatten().chain(answers).map(|parts| &parts[..]);
        let basis = Basis::new(sizes, all, apart, restricted.then_some(answers))?;
        let each: usize = basis.rows().map(|rows| rows * rows).sum();
        if each > MOST_NUMBERS {
            let rows = basis.rows().max().unwrap_or(0);
            let expected = format!(
                "at most {MOST_NUMBERS} in all: recodes whose common refinement has fewer groups, here matrices of {rows} rows"
            );
            return Err(Error::out_of_range("the number of entries of the matrices of least squares", each, &expected));
        }
        let combinations = basis.axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.points));
        if combinations.is_none_or(|combinations| combinations > MOST_POINTS) {
            let shown: Vec<String> = basis.axes.iter().map(|axis| axis.points.to_string()).collect();
            let expected = format!("at most {MOST_POINTS} in all");
            let what = "the number of combinations of values that constraints distinguish";
            return Err(Error::out_of_range(what, shown.join(" x "), &expected));
        }
        // Most levels have the same queries.
        let mut known: HashMap<&[Part], Arc<SectorQuery<N>>> = HashMap::new();
        let mut query = |parts| known.entry(parts).or_insert_with(|| Arc::new(SectorQuery::new(&basis, parts))).clone();
        let levels = levels.iter().map(|queries| queries.iter().map(|parts| query(&parts[..])).collect()).collect();
        let points = basis.sectors.iter().map(|sector| points(&basis, sector)).collect();
        let totals = vec![Part::Total; sizes.len()];
        let (_, classes) = SectorQuery::new(&basis, &totals).classes(&basis);
        let total = classes.first().map_or(Vec::new(), |class| class.coarse().to_vec());
        Ok(Problem { basis, levels, points, total, prior: None })
    }

    /// The partition of the values of each attribute that constraints distinguish.
    pub fn apart(&self) -> Vec<Part> {
        self.basis.axes.iter().map(|axis| axis.apart.clone()).collect()
    }

    /// The number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The queries of a level.
    pub fn queries(&self, level: usize) -> impl ExactSizeIterator<Item = &SectorQuery<N>> {
        self.levels[level].iter().map(|query| &**query)
    }

    /// All points free.
    pub fn all_free(&self) -> Free {
        let points: usize = self.basis.axes.iter().map(|axis| axis.points).product();
        let mut words = vec![u64::MAX; points.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), points % 64) {
            *last = (1 << rest) - 1;
        }
        Free(words)
    }

    /// The number of cells of a histogram in each point.
    pub fn point_cells(&self) -> Vec<usize> {
        let mut all = vec![1];
        for axis in &self.basis.axes {
            let mut own = vec![0; axis.points];
            (0..axis.size()).for_each(|value| own[axis.apart.group_of(value)] += 1);
            all =
                all.into_iter().flat_map(|cells| own.iter().map(move |own| cells * own).collect::<Vec<_>>()).collect();
        }
        all
    }

    /// For each point, its first values, attribute by attribute.
    pub fn first_values(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for axis in &self.basis.axes {
            let first = |point| (0..axis.size()).find(|value| axis.apart.group_of(*value) == point).unwrap_or(0);
            let first: Vec<usize> = (0..axis.points).map(first).collect();
            let next =
                |before: Vec<usize>| first.iter().map(move |own| [&before[..], &[*own]].concat()).collect::<Vec<_>>();
            all = all.into_iter().flat_map(next).collect();
        }
        all
    }

    /// The points all of whose values are selected, attribute by attribute, and those with only some selected.
    pub fn points_with(&self, selected: impl Fn(usize, usize) -> bool) -> (Vec<usize>, Vec<usize>) {
        let mut whole = vec![(0_usize, true)];
        for (at, axis) in self.basis.axes.iter().enumerate() {
            let (mut of, mut own) = (vec![0_u32; axis.points], vec![0_u32; axis.points]);
            for value in 0..axis.size() {
                let point = axis.apart.group_of(value);
                of[point] += 1;
                own[point] += u32::from(selected(at, value));
            }
            let next = |(before, all): (usize, bool)| {
                let points = of.iter().zip(&own).enumerate().filter(|(_, (_, own))| **own > 0);
                let next = points.map(|(point, (of, own))| (before * axis.points + point, all && of == own));
                next.collect::<Vec<_>>()
            };
            whole = whole.into_iter().flat_map(next).collect();
        }
        let (all, some): (Vec<_>, Vec<_>) = whole.into_iter().partition(|(_, all)| *all);
        let points = |of: Vec<(usize, bool)>| of.into_iter().map(|(point, _)| point).collect();
        (points(all), points(some))
    }

    fn shape(&self, free: &Free, number: usize) -> Shape {
        let rows = |points: &Vec<u32>| {
            let rows = (0..).zip(points).filter(|(_, point)| free.has(**point as usize));
            rows.map(|(row, _)| row).collect::<Vec<u32>>()
        };
        let rows: Vec<Vec<u32>> = self.points.iter().map(rows).collect();
        let columns: Vec<usize> = self.basis.sectors.iter().map(|sector| sector.columns).collect();
        let (mut starts, mut len) = (Vec::with_capacity(rows.len()), 0);
        for (rows, columns) in rows.iter().zip(&columns) {
            starts.push(len);
            len += rows.len() * columns;
        }
        Shape { number, rows, starts, columns, len }
    }

    /// The information of a unit's own counts, in each sector on the rows of its shape: `variances` has the variance of
    /// the counts of each query of the level.
    pub fn information(&self, level: usize, variances: &[N::Variance], shape: &Shape) -> Vec<Matrix<N>> {
        let sector = |(sector, rows): (usize, &Vec<u32>)| {
            let mut sum = Matrix::zero(rows.len(), rows.len());
            for (query, variance) in self.levels[level].iter().zip(variances) {
                query.add_information(&self.basis, sector, N::precision(variance), rows, &mut sum);
            }
            sum
        };
        shape.rows.iter().enumerate().map(sector).collect()
    }

    /// With this information about every coordinate of each leaf, beside its counts.
    pub(in crate::topdown) fn with_prior(self, information: Option<N>) -> Self {
        Problem { prior: information, ..self }
    }

    /// Adds the information that a leaf has beside its counts.
    pub(super) fn add_prior(&self, information: &mut [Matrix<N>]) {
        if let Some(prior) = &self.prior {
            information.iter_mut().for_each(|matrix| matrix.add(1.0, &Matrix::identity(matrix.rows).scaled(prior)));
        }
    }

    /// Whether the counts of a unit determine every coordinate.
    pub(super) fn is_determined(&self, information: &[Matrix<N>]) -> bool {
        information.iter().all(|matrix| Factor::new(matrix).is_regular())
    }

    /// The right side of a unit's normal equations on its shape: the sum of A'y / v. `counts` has the counts of all
    /// queries of the level, one query after the other, and is overwritten; `scratch` must hold one number per
    /// coordinate.
    pub fn right_side(
        &self,
        level: usize,
        variances: &[N::Variance],
        counts: &mut [N],
        scratch: &mut [N],
        shape: &Shape,
    ) -> Vec<N> {
        scratch.fill(N::of(0.0));
        let mut start = 0;
        for (query, variance) in self.levels[level].iter().zip(variances) {
            let end = start + query.counts();
            query.add_transposed(N::precision(variance), &mut counts[start..end], scratch);
            start = end;
        }
        self.kept(shape, scratch)
    }

    /// The coordinates of a shape, taken from all coordinates.
    pub fn kept(&self, shape: &Shape, all: &[N]) -> Vec<N> {
        let mut kept = Vec::with_capacity(shape.len);
        for (sector, rows) in self.basis.sectors.iter().zip(&shape.rows) {
            for row in rows {
                let start = sector.start + *row as usize * sector.columns;
                kept.extend_from_slice(&all[start..start + sector.columns]);
            }
        }
        kept
    }

    /// All coordinates, with those of a shape and zeros elsewhere.
    pub fn expand(&self, shape: &Shape, x: &[N]) -> Vec<N> {
        let mut all = vec![N::of(0.0); self.basis.coordinates()];
        for (number, (sector, rows)) in self.basis.sectors.iter().zip(&shape.rows).enumerate() {
            for (row, from) in rows.iter().zip(x[shape.range(number)].chunks_exact(sector.columns)) {
                let start = sector.start + *row as usize * sector.columns;
                all[start..start + sector.columns].clone_from_slice(from);
            }
        }
        all
    }

    /// The functional of the total on the rows of the first sector of a shape.
    pub(in crate::topdown) fn total_on(&self, shape: &Shape) -> Vec<N> {
        let own = |row: &u32| self.total.iter().find(|(at, _)| at == row);
        let of = |row: &u32| own(row).map_or(N::of(0.0), |(_, factor)| factor.clone());
        shape.rows[0].iter().map(of).collect()
    }

    /// The number of counts of a unit of a level.
    pub fn counts(&self, level: usize) -> usize {
        self.levels[level].iter().map(|query| query.counts()).sum()
    }

    /// The variance of a count of a class under covariances on a shape.
    pub fn variance(&self, class: &CountClass<N>, shape: &Shape, covariance: &[Matrix<N>]) -> N {
        class.variance(covariance, |sector, row| shape.row(sector, row))
    }
}

/// The point of each row of a sector.
fn points(basis: &Basis, sector: &super::basis::Sector) -> Vec<u32> {
    let point = |combination: &Vec<u32>| {
        let own = basis.axes.iter().zip(&sector.kinds).zip(combination);
        own.fold(0, |point, ((axis, kind), class)| point * axis.points as u32 + axis.point(*kind, *class as usize))
    };
    sector.combinations.iter().map(point).collect()
}

/// The error about a unit or level, named in words, whose queries leave some cell open.
pub fn undetermined(whose: &str) -> Error {
    Error::unsuitable(format!("the queries of {whose} do not determine every cell, as \"detailed\" does"))
}
