//! What least squares knows before it sees a count: the sectors, the queries of each level, and which cells may be zero by
//! constraint.

use std::{collections::HashMap, sync::Arc};

use super::{
    basis::{Basis, Part},
    matrix::{Factor, Matrix},
    query::{CountClass, SectorQuery},
};
use crate::error::{Error, Result};

/// The matrices of all queries together have at most so many numbers: a gigabyte.
const MOST_NUMBERS: usize = 1 << 27;

/// Queries over a histogram, level by level.
#[derive(Debug)]
pub struct Problem {
    /// The coordinates.
    pub basis: Basis,
    levels: Vec<Vec<LevelQuery>>,
    /// The sizes of the attributes whose values constraints tell apart; 1 for the others.
    single_sizes: Vec<usize>,
    /// For each row of each sector the point of the attributes that constraints tell apart.
    points: Vec<Vec<u32>>,
    /// The functional of the total, on rows of the first sector.
    total: Vec<(u32, f64)>,
}

#[derive(Debug)]
struct LevelQuery {
    query: SectorQuery,
    /// A'A in each sector.
    information: Vec<Matrix>,
}

/// Which combinations of the values that constraints tell apart may be above zero, as bits.
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

    /// Keeps the points that another set has too.
    pub fn intersect(&mut self, other: &Free) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    /// Takes the points of another set in.
    pub fn unite(&mut self, other: &Free) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// Its bits, as words.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The set of these words, of the same size as this one; `None` if they are not so many.
    pub fn of_words(&self, words: Vec<u64>) -> Option<Free> {
        (words.len() == self.0.len()).then_some(Free(words))
    }

    /// A set without points, of the same size.
    pub fn none(&self) -> Free {
        Free(vec![0; self.0.len()])
    }
}

/// The coordinates that are not zero by constraint, and how they are stored: sector by sector a table with the rows that
/// are left.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    /// Shapes of one [`Shapes`] are equal if their numbers are.
    pub number: usize,
    /// The rows of each sector that are left.
    pub(super) rows: Vec<Vec<u32>>,
    /// Where each sector starts.
    pub(super) starts: Vec<usize>,
    /// The columns of each sector.
    pub(super) columns: Vec<usize>,
    /// How many coordinates are left.
    pub(super) len: usize,
}

impl Shape {
    /// How many coordinates are left.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many rows are left in each sector.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(Vec::len)
    }

    /// The coordinates of a sector.
    pub(super) fn range(&self, sector: usize) -> std::ops::Range<usize> {
        self.starts[sector]..self.starts[sector] + self.rows[sector].len() * self.columns[sector]
    }

    /// Where the rows of this shape stand among those of one that has them all, sector by sector.
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

    /// Where a row of a sector stands; `None` if it is zero.
    pub(super) fn row(&self, sector: usize, row: u32) -> Option<u32> {
        self.rows[sector].binary_search(&row).ok().map(|at| at as u32)
    }
}

/// The shapes that occur, each made once.
#[derive(Debug, Default)]
pub struct Shapes {
    known: HashMap<Free, Arc<Shape>>,
}

impl Shapes {
    /// The shape of a set of free points.
    pub fn of(&mut self, problem: &Problem, free: &Free) -> Arc<Shape> {
        if let Some(shape) = self.known.get(free) {
            return shape.clone();
        }
        let shape = Arc::new(problem.shape(free, self.known.len()));
        self.known.insert(free.clone(), shape.clone());
        shape
    }
}

impl Problem {
    /// The problem of queries for each level, over attributes of these sizes. `answers` are other queries that will be
    /// answered; the attributes of `single`, as bits, are told apart value by value by constraints.
    pub fn new(sizes: &[usize], levels: &[Vec<Vec<Part>>], answers: &[Vec<Part>], single: u32) -> Result<Problem> {
        let all = levels.iter().flatten().chain(answers).map(|parts| &parts[..]);
        let basis = Basis::new(sizes, all, single)?;
        let each: usize = basis.sectors.iter().map(|sector| sector.rows * sector.rows).sum();
        let queries: usize = levels.iter().map(Vec::len).sum();
        if each.saturating_mul(queries) > MOST_NUMBERS {
            let rows = basis.sectors.iter().map(|sector| sector.rows).max().unwrap_or(0);
            let expected = format!(
                "at most {MOST_NUMBERS} in all: recodes whose common refinement has fewer groups, here matrices of {rows} rows"
            );
            return Err(Error::out_of_range("the numbers in the matrices of least squares", each * queries, &expected));
        }
        let level = |queries: &Vec<Vec<Part>>| {
            let query = |parts: &Vec<Part>| {
                let query = SectorQuery::new(&basis, parts);
                LevelQuery { information: query.information(&basis), query }
            };
            queries.iter().map(query).collect()
        };
        let levels = levels.iter().map(level).collect();
        let is_single = |at: usize| single >> at & 1 == 1;
        let single_sizes = sizes.iter().enumerate().map(|(at, size)| if is_single(at) { *size } else { 1 }).collect();
        let points = basis.sectors.iter().map(|sector| points(&basis, sector, single)).collect();
        let totals = vec![Part::Total; sizes.len()];
        let (_, classes) = SectorQuery::new(&basis, &totals).classes(&basis);
        let total = classes.first().map_or(Vec::new(), |class| class.coarse().to_vec());
        Ok(Problem { basis, levels, single_sizes, points, total })
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The queries of a level.
    pub fn queries(&self, level: usize) -> impl ExactSizeIterator<Item = &SectorQuery> {
        self.levels[level].iter().map(|known| &known.query)
    }

    /// All points free.
    pub fn all_free(&self) -> Free {
        let points: usize = self.single_sizes.iter().product();
        let mut words = vec![u64::MAX; points.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), points % 64) {
            *last = (1 << rest) - 1;
        }
        Free(words)
    }

    /// The points that have these values; attributes that constraints do not tell apart are left alone.
    pub fn points_with(&self, selected: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let total: usize = self.single_sizes.iter().product();
        let has = |point: usize| {
            let mut rest = total;
            self.single_sizes.iter().enumerate().all(|(at, size)| {
                rest /= size;
                *size == 1 || selected(at, point / rest % size)
            })
        };
        (0..total).filter(|point| has(*point)).collect()
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

    /// The information of a unit's own counts, in each sector on the rows of its shape: `variances` has the variance of the
    /// counts of each query of the level.
    pub fn information(&self, level: usize, variances: &[f32], shape: &Shape) -> Vec<Matrix> {
        let sector = |(sector, rows): (usize, &Vec<u32>)| {
            let size = self.basis.sectors[sector].rows;
            let mut sum = Matrix::zero(size, size);
            for (known, variance) in self.levels[level].iter().zip(variances) {
                sum.add(f64::from(*variance).recip(), &known.information[sector]);
            }
            if rows.len() == size { sum } else { sum.part(rows) }
        };
        shape.rows.iter().enumerate().map(sector).collect()
    }

    /// Whether the counts of a unit determine every coordinate.
    pub(super) fn is_determined(&self, information: &[Matrix]) -> bool {
        information.iter().all(|matrix| Factor::new(matrix).is_regular())
    }

    /// The right side of a unit's normal equations on its shape: the sum of A'y / v. `counts` has the counts of all queries of
    /// the level, one after the other, and is used up; `scratch` as many numbers as there are cells.
    pub fn right_side(
        &self,
        level: usize,
        variances: &[f32],
        counts: &mut [f64],
        scratch: &mut [f64],
        shape: &Shape,
    ) -> Vec<f64> {
        scratch.fill(0.0);
        let mut start = 0;
        for (known, variance) in self.levels[level].iter().zip(variances) {
            let end = start + known.query.counts();
            known.query.add_transposed(&self.basis, f64::from(*variance).recip(), &mut counts[start..end], scratch);
            start = end;
        }
        self.kept(shape, scratch)
    }

    /// The coordinates of a shape, from all coordinates.
    pub fn kept(&self, shape: &Shape, all: &[f64]) -> Vec<f64> {
        let mut kept = Vec::with_capacity(shape.len);
        for (sector, rows) in self.basis.sectors.iter().zip(&shape.rows) {
            for row in rows {
                let start = sector.start + *row as usize * sector.columns;
                kept.extend_from_slice(&all[start..start + sector.columns]);
            }
        }
        kept
    }

    /// The coordinates of a shape among all coordinates, zeros elsewhere.
    pub fn expand(&self, shape: &Shape, x: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.basis.cells()];
        for (number, (sector, rows)) in self.basis.sectors.iter().zip(&shape.rows).enumerate() {
            for (row, from) in rows.iter().zip(x[shape.range(number)].chunks_exact(sector.columns)) {
                let start = sector.start + *row as usize * sector.columns;
                all[start..start + sector.columns].copy_from_slice(from);
            }
        }
        all
    }

    /// The functional of the total on the rows of the first sector of a shape.
    pub(super) fn total_on(&self, shape: &Shape) -> Vec<f64> {
        let of = |row: &u32| self.total.iter().find(|(at, _)| at == row).map_or(0.0, |(_, factor)| *factor);
        shape.rows[0].iter().map(of).collect()
    }

    /// How many counts a unit of a level has.
    pub fn counts(&self, level: usize) -> usize {
        self.levels[level].iter().map(|known| known.query.counts()).sum()
    }

    /// The variance of a count of a class under covariances on a shape.
    pub fn variance(&self, class: &CountClass, shape: &Shape, covariance: &[Matrix]) -> f64 {
        class.variance(covariance, |sector, row| shape.row(sector, row))
    }

    /// Refuses a level whose queries leave some combination of cells untold, though they say something of others in the same
    /// sector: estimates would not be unique there.
    pub fn check_level(&self, level: usize, name: &str) -> Result<()> {
        let ones = vec![1.0_f32; self.levels[level].len()];
        let mut shapes = Shapes::default();
        let shape = shapes.of(self, &self.all_free());
        let information = self.information(level, &ones, &shape);
        if !self.is_determined(&information) {
            let expected = "queries that together determine every cell, as \"detailed\" does";
            let names = format!("{} queries", self.levels[level].len());
            return Err(Error::out_of_range(&format!("the queries of the level {name:?}"), names, expected));
        }
        Ok(())
    }
}

/// The point of each row of a sector.
fn points(basis: &Basis, sector: &super::basis::Sector, single: u32) -> Vec<u32> {
    let mut points = vec![0_u32];
    for (at, axis) in basis.axes.iter().enumerate().filter(|(at, _)| sector.complement >> at & 1 == 0) {
        let cells = axis.cells.len() as u32;
        let next =
            |point: u32| (0..cells).map(move |cell| if single >> at & 1 == 1 { point * cells + cell } else { point });
        points = points.into_iter().flat_map(next).collect();
    }
    points
}
