//! Least squares for all query groups at once, by the Kronecker structure of the queries.
//!
//! For each attribute of n values the identity I and the all-ones matrix J commute, so the space of histograms splits
//! into orthogonal parts, one for each set S of attributes: the projection P_S is the Kronecker product of I - J/n for
//! the attributes in S and J/n for the others. The normal equations of (3.2) and (3.3) split accordingly, for any query
//! groups of each level: each part is one scalar problem over the tree.
//!
//! In numbers: let m_S be the marginal over S minus its means along every attribute of S. A query group that keeps the
//! attributes T, with precision w for each count, measures m_S for every subset S of T: by the centered marginal of its
//! answers, with precision w / (product of n over T \ S). These precisions add up over the query groups of a unit. The
//! tree is solved for each S with weights that are the same for all cells of m_S, and
//!
//! the marginal over T = sum over S in T of m_S / (product of n over T \ S).
//!
//! The parts are independent. One cell of m_S has the variance v_S times the product of 1 - 1/n over S, with v_S the
//! variance of the scalar problem. So one count of the marginal over T has the variance
//!
//! sum over S in T of v_S (product over S of 1 - 1/n) (product over T \ S of 1/n^2).
//!
//! Query groups with recodes do not commute with the others: the estimate does not use them, and
//! [`Kronecker::left_out`] names them.

use rug::Rational;

use super::{
    estimate::least_squares_approx,
    measure::MeasurementPlan,
    variance::{Quantity, Variances},
};
use crate::{
    error::{Error, Result},
    release::schema::Schema,
};

/// Maximum number of attributes: n attributes have 2^n subsets.
const MOST_ATTRIBUTES: usize = 12;

/// The query groups of a mechanism, split into parts.
#[derive(Debug)]
pub struct Kronecker<'a> {
    plan: &'a MeasurementPlan<'a>,
    sizes: Vec<usize>,
    /// For each level and query, the set of attributes that it keeps, as bits; `None` for a recode.
    kept: Vec<Vec<Option<u32>>>,
}

impl<'a> Kronecker<'a> {
    /// The parts of a mechanism over its schema.
    pub fn new(plan: &'a MeasurementPlan<'a>, schema: &Schema) -> Result<Self> {
        let sizes: Vec<usize> = schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
        if let Some(beside) = &schema.beside {
            return Err(Error::unsuitable(format!(
                "the release has two histograms, {:?} beside the first: two are estimated from noisy measurement files, as `assay measure \
                 --files nmf` writes them",
                beside.name
            )));
        }
        if sizes.len() > MOST_ATTRIBUTES || schema.cells() != plan.cells() {
            let expected = format!("at most {MOST_ATTRIBUTES}, with as many cells as the plan has");
            return Err(Error::out_of_range("the number of attributes", sizes.len(), &expected));
        }
        let bits = |whole: &Vec<bool>| whole.iter().enumerate().map(|(at, kept)| u32::from(*kept) << at).sum();
        let of_level = |asked: &Vec<super::measure::PlannedQuery>| {
            asked.iter().map(|asked| asked.group.whole.as_ref().map(bits)).collect()
        };
        let kept = plan.levels().iter().map(of_level).collect();
        Ok(Kronecker { plan, sizes, kept })
    }

    /// The names of the query groups with recodes, which the estimate does not use.
    pub fn left_out(&self) -> Vec<&str> {
        let asked = self.plan.levels().iter().zip(&self.kept).flat_map(|(asked, kept)| asked.iter().zip(kept));
        let mut names: Vec<&str> =
            asked.filter(|(_, kept)| kept.is_none()).map(|(asked, _)| asked.group.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The product of the sizes of a set of attributes.
    fn product(&self, set: u32) -> u64 {
        self.sizes.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, size)| *size as u64).product()
    }

    /// The precision of m_S in a unit that carries the shares of `carried` levels: the sum over the query groups that
    /// keep S, with 1 / sigma2 for Gaussian noise and epsilon^2 / 2 for Laplace noise; `None` if no query group
    /// measures m_S.
    pub fn precision(&self, set: u32, level: usize, carried: usize) -> Option<Rational> {
        let asked = self.plan.levels()[level].iter().zip(&self.kept[level]);
        let terms = asked.filter_map(|(asked, kept)| {
            let kept = (*kept)?;
            let each = asked.law(carried)?.precision_approx();
            (kept & set == set).then(|| each / self.product(kept & !set))
        });
        terms.reduce(|sum, term| sum + term)
    }

    /// The variances of the scalar problem of a set, in any arithmetic to which `exact` converts a rational.
    pub fn variances<Q: Quantity>(&self, set: u32, exact: impl Fn(&Rational) -> Q) -> Result<Variances<Q>> {
        let spine = self.plan.spine();
        let kind = |level: usize, unit: usize| spine.carried(level, unit) as u32;
        Variances::new(&spine.tree, kind, |level, carried| {
            self.precision(set, level, carried as usize).map(|precision| exact(&precision))
        })
    }

    /// The variance of one count of the marginal over a set of attributes; `of` takes the variance of a unit or of a
    /// set of blocks from each part's variances.
    pub fn variance<Q: Quantity>(
        &self,
        marginal: u32,
        exact: impl Fn(&Rational) -> Q,
        of: impl Fn(&Variances<Q>) -> Q,
    ) -> Result<Q> {
        let mut sum = Q::whole(0);
        for set in subsets(marginal) {
            let factors = self.sizes.iter().enumerate().filter(|(at, _)| marginal >> at & 1 == 1).map(|(at, size)| {
                let size = Rational::from(*size as u64);
                if set >> at & 1 == 1 { 1_u32 - size.recip() } else { (size.clone() * size).recip() }
            });
            let factor = factors.fold(Rational::from(1), |product, factor| product * factor);
            if factor > 0 {
                sum = sum.plus(&of(&self.variances(set, &exact)?).times(&exact(&factor)));
            }
        }
        Ok(sum)
    }

    /// The least-squares histograms of all units, in doubles: approximations. For each level and query `noisy` has the
    /// noisy counts of all units, any values for units without a share. The result has for each level the cells of all
    /// units, one unit after the other.
    pub fn estimate_approx(&self, noisy: &[Vec<Vec<f64>>]) -> Result<Vec<Vec<f64>>> {
        let tree = &self.plan.spine().tree;
        let spine = self.plan.spine();
        let cells = self.plan.cells();
        let all = (1_u32 << self.sizes.len()) - 1;
        let mut estimates: Vec<Vec<f64>> =
            (0..tree.levels()).map(|level| vec![0.0; tree.units(level) * cells]).collect();
        for set in subsets(all) {
            let width = self.product(set) as usize;
            // An attribute with one value has no part of its own.
            if self.sizes.iter().enumerate().any(|(at, size)| set >> at & 1 == 1 && *size == 1) {
                continue;
            }
            let weights = self.weights(set);
            let mut measured = Vec::with_capacity(tree.levels());
            for level in 0..tree.levels() {
                let mut numbers = vec![0.0; tree.units(level) * width];
                for (query, kept) in self.kept[level].iter().enumerate() {
                    let Some(kept) = kept.filter(|kept| kept & set == set) else { continue };
                    let to = self.projection(kept, set);
                    let counts = self.product(kept) as usize;
                    let rest = self.product(kept & !set) as f64;
                    for unit in 0..tree.units(level) {
                        let carried = spine.carried(level, unit);
                        let Some(law) = self.plan.levels()[level][query].law(carried) else { continue };
                        // The share of this query group in the precision of m_S.
                        let weight = law.precision_approx().to_f64() / rest / weights[level][carried];
                        let own = &mut numbers[unit * width..(unit + 1) * width];
                        let from = &noisy[level][query][unit * counts..(unit + 1) * counts];
                        for (value, to) in from.iter().zip(&to) {
                            own[*to as usize] += weight * value;
                        }
                    }
                }
                for own in numbers.chunks_mut(width) {
                    self.center(set, own);
                }
                measured.push(numbers);
            }
            let precision = |level: usize, unit: usize| weights[level][spine.carried(level, unit)];
            let parts = least_squares_approx(tree, width, precision, &measured)?;
            let from = self.projection(all, set);
            let rest = self.product(all & !set) as f64;
            for (estimates, parts) in estimates.iter_mut().zip(&parts) {
                for (own, part) in estimates.chunks_mut(cells).zip(parts.chunks(width)) {
                    own.iter_mut().zip(&from).for_each(|(cell, from)| *cell += part[*from as usize] / rest);
                }
            }
        }
        Ok(estimates)
    }

    /// The precision of m_S by level and by the number of levels whose shares a unit carries, in doubles.
    fn weights(&self, set: u32) -> Vec<Vec<f64>> {
        let levels = self.plan.levels().len();
        let of = |level: usize, carried: usize| self.precision(set, level, carried).map_or(0.0, |exact| exact.to_f64());
        (0..levels).map(|level| (0..=levels - level).map(|carried| of(level, carried)).collect()).collect()
    }

    /// For each cell of the marginal over `from`, its cell of the marginal over the subset `to`.
    fn projection(&self, from: u32, to: u32) -> Vec<u32> {
        let mut cells = vec![0];
        for (at, size) in self.sizes.iter().enumerate().filter(|(at, _)| from >> at & 1 == 1) {
            let kept = to >> at & 1 == 1;
            let next =
                |cell: u32| (0..*size as u32).map(move |value| if kept { cell * *size as u32 + value } else { cell });
            cells = cells.into_iter().flat_map(next).collect();
        }
        cells
    }

    /// Subtracts the means along each attribute from a marginal over S.
    fn center(&self, set: u32, cells: &mut [f64]) {
        let mut inner = cells.len();
        for (_, size) in self.sizes.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1) {
            inner /= size;
            for block in cells.chunks_mut(inner * size) {
                for offset in 0..inner {
                    let along = || (0..*size).map(move |value| value * inner + offset);
                    let mean = along().map(|at| block[at]).sum::<f64>() / *size as f64;
                    along().for_each(|at| block[at] -= mean);
                }
            }
        }
    }
}

/// All subsets of a set of bits.
fn subsets(of: u32) -> impl Iterator<Item = u32> {
    (0..=of).filter(move |set| set & !of == 0)
}
