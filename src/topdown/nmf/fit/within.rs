//! Least squares within a unit: its queries answer the same cells, so their counts differ by noise alone.
//!
//! For counts y of a unit, variances v and the matrix A of its queries, T is the least sum of (y - A x)^2 / v over all x. If one query
//! answers every cell, A has the rank of the number of cells, and T approximately has a chi-square law with as many degrees of freedom as
//! there are counts less cells. The proven bound: with weights W = 1 / v, T = e' M e for the noise e, where M = W^(1/2) P W^(1/2) and P
//! projects on a space of that dimension n. Noise with parameters s, in units of their roots, is h with E exp(u'h) <= exp(|u|^2 / 2); then
//! E exp(l T) <= det(1 - 2 l S^(1/2) M S^(1/2))^(-1/2) by an auxiliary normal vector, and no eigenvalue is above c, the largest s / v. So
//! T / c has the bounds of a sum of n squares in [`super`].
//!
//! T is no different if A x is subtracted from the counts for any x: here for the noisy cells themselves. All that is left is noise, so that
//! nothing large cancels, and the differences of whole numbers are exact below 2^53.

use std::sync::Arc;

use crate::topdown::{
    gls::{
        basis::Part,
        matrix::{Factor, Matrix, multiply_add},
        problem::{Problem, Shape, Shapes},
    },
    nmf::{
        names::{NamedQuery, Names},
        noise::Noise,
    },
};

/// Histograms with more cells are not compared within units: the persons and households of the DHC.
const MOST_CELLS: usize = 1 << 14;
/// Upper bound on the relative error of sums of fewer than 2^22 terms in doubles.
const ROUNDING: f64 = 1.0 / (1_u64 << 30) as f64;
/// Upper bound on the relative error, in the norm, of at most 32 reflections along attributes of at most 2^14 values.
const TURNING: f64 = 1.0 / (1_u64 << 34) as f64;

/// The queries of a level.
#[derive(Debug)]
pub(super) struct Within {
    problem: Problem,
    shape: Arc<Shape>,
    /// The query that answers every cell, and the start of its counts.
    cells: (usize, usize),
    /// The other queries, those with the most counts first.
    others: Vec<Coarser>,
    counts: usize,
    freedom: u64,
}

/// A query whose counts are sums of those of another one.
#[derive(Debug)]
struct Coarser {
    /// The start of its counts.
    start: usize,
    /// The number of the finer query among those before it; `None` for the cells.
    finer: Option<usize>,
    /// For each count of the finer query, the count that it belongs to.
    count_of: Vec<u32>,
    counts: usize,
}

/// The matrices of units whose counts have the same noise.
#[derive(Debug)]
struct Prepared {
    noise: Vec<Noise>,
    variances: Vec<f32>,
    information: Vec<Matrix>,
    factors: Vec<Factor>,
    /// The largest of all parameters over variances, rounded up.
    ratio: f64,
    /// The weight of a cell's own count.
    weight: f64,
    /// Upper bound on the error of T in doubles, over the sum of squares before the fit.
    rounding: f64,
}

/// The matrices that were needed so far, by level and noise.
#[derive(Debug, Default)]
pub(super) struct Inside {
    known: Vec<(usize, Prepared)>,
    scratch: Scratch,
}

/// Numbers that are overwritten.
#[derive(Debug, Default)]
struct Scratch {
    left: Vec<f64>,
    sums: Vec<Vec<f64>>,
    coordinates: Vec<f64>,
}

impl Within {
    /// The queries of a level; `None` if there is nothing to compare: no query answers every cell, it is the only one, or there are too
    /// many cells.
    pub(super) fn new(names: &Names, level: usize) -> Option<Within> {
        let (sizes, queries) = (&names.sizes, names.queries(level));
        let cells: usize = sizes.iter().product();
        let whole = queries.iter().position(|query| query.parts.iter().all(|part| *part == Part::Whole))?;
        if queries.len() < 2 || cells > MOST_CELLS {
            return None;
        }
        let parts: Vec<Vec<Part>> = queries.iter().map(|query| query.parts.clone()).collect();
        let apart = vec![Part::Total; sizes.len()];
        let problem = Problem::new(sizes, &[parts], &[], &apart).ok()?;
        let shape = Shapes::default().shape(&problem, &problem.all_free());
        let start = |at: usize| queries[..at].iter().map(NamedQuery::counts).sum::<usize>();
        let mut order: Vec<usize> = (0..queries.len()).filter(|at| *at != whole).collect();
        order.sort_by_key(|at| std::cmp::Reverse(queries[*at].counts()));
        let counts_of: Vec<Vec<u32>> = order.iter().map(|at| counts_of(sizes, &queries[*at].parts)).collect();
        let mut others: Vec<Coarser> = Vec::new();
        for (own, at) in order.iter().enumerate() {
            // The query with the fewest counts that is finer.
            let found = (0..own).rev().find_map(|finer| Some((finer, joined(&counts_of[finer], &counts_of[own])?)));
            let (finer, count_of) =
                found.map_or_else(|| (None, counts_of[own].clone()), |(finer, count_of)| (Some(finer), count_of));
            others.push(Coarser { start: start(*at), finer, count_of, counts: queries[*at].counts() });
        }
        let counts = start(queries.len());
        // A query that answers every cell has the rank of the number of cells.
        let freedom = (counts - cells) as u64;
        Some(Within { problem, shape, cells: (whole, start(whole)), others, counts, freedom })
    }

    /// The degrees of freedom of a unit.
    pub(super) fn freedom(&self) -> u64 {
        self.freedom
    }

    /// The matrices for units with this noise, query by query.
    fn prepare(&self, noise: &[Noise]) -> Prepared {
        let variances: Vec<f32> = noise.iter().map(|noise| noise.variance as f32).collect();
        let information = self.problem.information(0, &variances, &self.shape);
        let factors = information.iter().map(Factor::new).collect();
        let ratio = noise.iter().zip(&variances).map(|(noise, variance)| noise.proxy / f64::from(*variance));
        let ratio = ratio.fold(0.0, f64::max) * (1.0 + 4.0 * f64::EPSILON);
        let weight = f64::from(variances[self.cells.0]).recip();
        // No eigenvalue of N is above the largest sum of magnitudes in a row, nor below the weight of a cell's own count. An error of b of this
        // share of its norm is in the norm of N^-1 at most the root of their quotient times that share of |y|, and moves b' N^-1 b, which is
        // at most |y|^2, by no more than three times as much.
        let rows = |matrix: &Matrix| {
            (0..matrix.rows).map(|row| matrix.row(row).iter().map(|entry| entry.abs()).sum::<f64>()).fold(0.0, f64::max)
        };
        let largest = information.iter().map(rows).fold(weight, f64::max);
        let rounding = 3.0 * TURNING * (largest / weight).sqrt() + ROUNDING;
        Prepared { noise: noise.to_vec(), variances, information, factors, ratio, weight, rounding }
    }

    /// T of a unit, and a lower bound on T / c.
    fn statistic(&self, with: &Prepared, counts: &[f64], scratch: &mut Scratch) -> (f64, f64) {
        self.subtract_cells(counts, scratch);
        let (mut squares, mut start) = (0.0, 0);
        for (query, variance) in self.problem.queries(0).zip(&with.variances) {
            let own = &scratch.left[start..start + query.counts()];
            squares += own.iter().map(|left| left * left).sum::<f64>() / f64::from(*variance);
            start += query.counts();
        }
        scratch.coordinates.resize(self.problem.basis.coordinates(), 0.0);
        let Scratch { left, coordinates, .. } = scratch;
        let right = self.problem.right_side(0, &with.variances, left, coordinates, &self.shape);
        let mut solved = right.clone();
        let mut product = vec![0.0; right.len()];
        let mut start = 0;
        for ((matrix, factor), columns) in with.information.iter().zip(&with.factors).zip(self.shape.columns()) {
            let range = start..start + matrix.rows * columns;
            start = range.end;
            factor.solve(&mut solved[range.clone()], columns);
            multiply_add(matrix, &solved[range.clone()], columns, &mut product[range]);
        }
        // For any x, with N = A'WA, b = A'Wy and g = b - N x: the sum of squares is |y|^2 - b'x - x'g, and the least one is smaller by
        // g' N^-1 g, at most |g|^2 over the weight of a cell's own count, as N is at least that weight.
        let (mut fitted, mut size, mut moved, mut gap) = (0.0, 0.0, 0.0, 0.0);
        for ((x, b), product) in solved.iter().zip(&right).zip(&product) {
            let g = b - product;
            fitted += b * x;
            size += (b * x).abs();
            moved += (x * g).abs();
            gap += g * g;
        }
        let least = squares - fitted - moved - gap / with.weight - with.rounding * squares - ROUNDING * size;
        ((squares - fitted).max(0.0), (least / with.ratio).max(0.0))
    }

    /// The counts less those that the noisy cells would have.
    fn subtract_cells(&self, counts: &[f64], scratch: &mut Scratch) {
        let Scratch { left, sums, .. } = scratch;
        left.clear();
        left.extend_from_slice(&counts[..self.counts]);
        sums.resize_with(self.others.len(), Vec::new);
        let cells = &counts[self.cells.1..];
        for (at, own) in self.others.iter().enumerate() {
            let (before, rest) = sums.split_at_mut(at);
            let (finer, to) = (own.finer.map_or(cells, |finer| &before[finer][..]), &mut rest[0]);
            to.clear();
            to.resize(own.counts, 0.0);
            // A group without values has a count that belongs to none.
            for (count, value) in own.count_of.iter().zip(finer) {
                if let Some(to) = to.get_mut(*count as usize) {
                    *to += value;
                }
            }
            left[own.start..own.start + own.counts].iter_mut().zip(&*to).for_each(|(left, sum)| *left -= sum);
        }
        left[self.cells.1..self.cells.1 + self.problem.basis.cells()].fill(0.0);
    }
}

impl Inside {
    /// T of the counts of a unit of a level, and a lower bound on T / c.
    pub(super) fn statistic(&mut self, level: usize, within: &Within, counts: &[f64], noise: &[Noise]) -> (f64, f64) {
        let at = self.known.iter().position(|(of, known)| *of == level && known.noise == noise);
        let at = at.unwrap_or_else(|| {
            self.known.push((level, within.prepare(noise)));
            self.known.len() - 1
        });
        within.statistic(&self.known[at].1, counts, &mut self.scratch)
    }
}

/// For each cell the count of a query that it belongs to.
fn counts_of(sizes: &[usize], parts: &[Part]) -> Vec<u32> {
    let mut all = vec![0_u32];
    for (size, part) in sizes.iter().zip(parts) {
        let groups = part.groups(*size) as u32;
        let next = |before: &u32| {
            let before = before * groups;
            (0..*size).map(move |value| before + part.group_of(value) as u32)
        };
        all = all.iter().flat_map(next).collect();
    }
    all
}

/// For each count of a finer query the count of a coarser one; `None` if cells of one count belong to different ones.
fn joined(finer: &[u32], coarser: &[u32]) -> Option<Vec<u32>> {
    let many = finer.iter().max().map_or(0, |most| *most as usize + 1);
    let mut found = vec![u32::MAX; many];
    for (fine, coarse) in finer.iter().zip(coarser) {
        let known = &mut found[*fine as usize];
        if *known != u32::MAX && known != coarse {
            return None;
        }
        *known = *coarse;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_coarser_queries_are_sums_of_finer_ones() {
        let (whole, two, total) = (Part::Whole, Part::Groups(vec![0, 1, 1]), Part::Total);
        let of = |a: &Part, b: &Part| counts_of(&[3, 2], &[a.clone(), b.clone()]);
        assert_eq!(of(&whole, &total), [0, 0, 1, 1, 2, 2]);
        assert_eq!(of(&two, &whole), [0, 1, 2, 3, 2, 3]);
        assert_eq!(joined(&of(&whole, &total), &of(&two, &total)), Some(vec![0, 1, 1]));
        assert_eq!(joined(&of(&two, &whole), &of(&total, &whole)), Some(vec![0, 1, 0, 1]));
        assert_eq!(joined(&of(&two, &total), &of(&whole, &total)), None);
        assert_eq!(joined(&of(&whole, &total), &of(&total, &whole)), None);
    }
}
