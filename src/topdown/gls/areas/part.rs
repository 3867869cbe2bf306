//! The part of an area in a unit: a linear function of the unit's estimate.

use std::sync::Arc;

use crate::topdown::gls::{
    belief::{Belief, Below, add_part, apply},
    matrix::{Factor, Matrix},
    number::{Number, add},
    problem::Shape,
};

/// The part of an area in a unit, given the unit's final estimate.
#[derive(Clone, Debug)]
pub enum AreaPart<N = f64> {
    /// This multiple of the unit: 1 if all of the unit belongs to the area.
    Multiple(f64),
    /// Another linear function of its parts.
    Some(Box<Linear<N>>),
}

/// A z + k with the covariance R, on the shape of the unit.
#[derive(Clone, Debug)]
pub struct Linear<N = f64> {
    pub(super) factors: Vec<Matrix<N>>,
    rest: Vec<Matrix<N>>,
    constant: Vec<N>,
}

impl AreaPart {
    /// Its numbers: A and R sector by sector, and k. Of a multiple, only that; `None` for all of the unit.
    pub fn numbers(&self) -> Option<[Vec<f64>; 3]> {
        let linear = match self {
            AreaPart::Multiple(1.0) => return None,
            AreaPart::Multiple(multiple) => return Some([vec![*multiple], Vec::new(), Vec::new()]),
            AreaPart::Some(linear) => linear,
        };
        let all = |matrices: &[Matrix]| matrices.iter().flat_map(|matrix| matrix.entries.iter().copied()).collect();
        Some([all(&linear.factors), all(&linear.rest), linear.constant.clone()])
    }

    /// From its numbers on the shape of the unit; `None` if their number is wrong.
    pub fn of_numbers(shape: &Shape, numbers: Option<[Vec<f64>; 3]>) -> Option<AreaPart> {
        let Some([factors, rest, constant]) = numbers else { return Some(AreaPart::Multiple(1.0)) };
        if let ([multiple], [], []) = (&factors[..], &rest[..], &constant[..]) {
            return Some(AreaPart::Multiple(*multiple));
        }
        let entries: usize = shape.sizes().map(|size| size * size).sum();
        if factors.len() != entries || rest.len() != entries || constant.len() != shape.len() {
            return None;
        }
        let matrices = |mut entries: &[f64]| {
            let next = |size: usize| {
                let (own, others) = entries.split_at(size * size);
                entries = others;
                Matrix { rows: size, columns: size, entries: own.to_vec() }
            };
            shape.sizes().map(next).collect()
        };
        let (factors, rest) = (matrices(&factors), matrices(&rest));
        Some(AreaPart::Some(Box::new(Linear { factors, rest, constant })))
    }
}

impl<N: Number> AreaPart<N> {
    /// The estimate of the area's sum, from the unit's final estimate.
    pub fn estimate(&self, last: &Belief<N>) -> Belief<N> {
        let linear = match self {
            AreaPart::Multiple(1.0) => return last.clone(),
            AreaPart::Multiple(multiple) => return multiplied(last, *multiple),
            AreaPart::Some(linear) => linear,
        };
        let mut x = apply(&last.shape, &linear.factors, &last.x);
        add(&mut x, &linear.constant);
        let covariance = (linear.factors.iter().zip(&linear.rest).zip(last.covariance.iter()))
            .map(|((a, r), f)| {
                let mut sum = a.times(f).times(&a.transposed());
                sum.add(1.0, r);
                sum.symmetric()
            })
            .collect();
        Belief { shape: last.shape.clone(), x, covariance: Arc::new(covariance) }
    }
}

/// A multiple of an estimate.
fn multiplied<N: Number>(belief: &Belief<N>, multiple: f64) -> Belief<N> {
    let multiple = N::of(multiple);
    let x = belief.x.iter().map(|x| multiple.times(x)).collect();
    let square = multiple.times(&multiple);
    let covariance = belief.covariance.iter().map(|own| own.scaled(&square)).collect();
    Belief { shape: belief.shape.clone(), x, covariance: Arc::new(covariance) }
}

/// The accumulated parts of an area in the children of a unit.
#[derive(Clone, Debug)]
pub struct Touched<N = f64> {
    shape: Arc<Shape>,
    /// The multiple that the area has of its first child, and the number of children of which it has the same one.
    multiple: f64,
    alike: usize,
    /// T.
    pub(super) products: Vec<Matrix<N>>,
    /// The sum of R_c + A_c C_c A_c'.
    squares: Vec<Matrix<N>>,
    /// The sum of k_c + A_c x_c.
    means: Vec<N>,
    /// A of the child without an estimate.
    open: Option<Vec<Matrix<N>>>,
}

impl<N: Number> Touched<N> {
    /// No children yet, of a unit of this shape.
    pub fn new(shape: Arc<Shape>) -> Self {
        let zeros = || shape.rows.iter().map(|rows| Matrix::zero(rows.len(), rows.len())).collect::<Vec<_>>();
        let means = vec![N::of(0.0); shape.len];
        Touched { multiple: 1.0, alike: 0, products: zeros(), squares: zeros(), means, open: None, shape }
    }

    fn count(&mut self, multiple: f64) {
        if self.alike == 0 {
            self.multiple = multiple;
        }
        self.alike += usize::from(self.multiple == multiple);
    }

    /// The multiple that the area has of the unit with this number of children, if it has the same one of each.
    pub(super) fn as_multiple(&self, children: usize) -> Option<f64> {
        (self.alike == children).then_some(self.multiple)
    }

    /// Adds the part of the area in a child with an estimate.
    pub fn add(&mut self, part: &AreaPart<N>, child: &Belief<N>) {
        let places = child.shape.places_in(&self.shape);
        match part {
            AreaPart::Multiple(multiple) => {
                self.count(*multiple);
                let multiple = N::of(*multiple);
                let square = multiple.times(&multiple);
                let mean: Vec<N> = child.x.iter().map(|x| multiple.times(x)).collect();
                add_part(&self.shape, &mut self.means, &child.shape, &mean);
                for (sector, places) in places.iter().enumerate() {
                    self.products[sector].add_at(&multiple, &child.covariance[sector], places);
                    self.squares[sector].add_at(&square, &child.covariance[sector], places);
                }
            }
            AreaPart::Some(linear) => {
                let mut mean = apply(&child.shape, &linear.factors, &child.x);
                add(&mut mean, &linear.constant);
                let one = N::of(1.0);
                add_part(&self.shape, &mut self.means, &child.shape, &mean);
                for (sector, places) in places.iter().enumerate() {
                    let product = linear.factors[sector].times(&child.covariance[sector]);
                    self.squares[sector].add_at(&one, &product.times(&linear.factors[sector].transposed()), places);
                    self.squares[sector].add_at(&one, &linear.rest[sector], places);
                    self.products[sector].add_at(&one, &product, places);
                }
            }
        }
    }

    /// Adds the part of the area in the child without an estimate, which has the shape of its parent.
    pub fn add_open(&mut self, part: &AreaPart<N>) {
        match part {
            AreaPart::Multiple(multiple) => {
                self.count(*multiple);
                let own = |rows: &Vec<u32>| Matrix::identity(rows.len()).scaled(&N::of(*multiple));
                self.open = Some(self.shape.rows.iter().map(own).collect());
            }
            AreaPart::Some(linear) => {
                add(&mut self.means, &linear.constant);
                self.squares.iter_mut().zip(&linear.rest).for_each(|(sum, rest)| sum.add(1.0, rest));
                self.open = Some(linear.factors.clone());
            }
        }
    }

    /// A: of the child without an estimate, if there is one.
    pub(super) fn factors(&self, below: &Below<N>, open: bool) -> Vec<Matrix<N>> {
        if open {
            let zeros = || self.squares.iter().map(|rest| Matrix::zero(rest.rows, rest.rows)).collect();
            return self.open.clone().unwrap_or_else(zeros);
        }
        let factor = |(v, t): (Matrix<N>, &Matrix<N>)| {
            // A' = V^- T', as V is symmetric.
            let mut transposed = t.transposed();
            Factor::new(&v).solve(&mut transposed.entries, t.rows);
            transposed.transposed()
        };
        below.covariance().into_iter().zip(&self.products).map(factor).collect()
    }

    /// The part of the area in the unit with this number of children; `open` means that one of them has no estimate.
    pub fn join(self, below: &Below<N>, children: usize, open: bool) -> AreaPart<N> {
        if let Some(multiple) = self.as_multiple(children) {
            return AreaPart::Multiple(multiple);
        }
        let factors = self.factors(below, open);
        let mut rest = self.squares;
        let all = below.covariance();
        for (sector, rest) in rest.iter_mut().enumerate() {
            let (a, t) = (&factors[sector], &self.products[sector]);
            let across = t.times(&a.transposed());
            rest.add(-1.0, &across);
            if open {
                rest.add(-1.0, &across.transposed());
                rest.add(1.0, &a.times(&all[sector]).times(&a.transposed()));
            }
        }
        let mut constant = self.means;
        let shared = apply(&self.shape, &factors, &below.x);
        constant.iter_mut().zip(&shared).for_each(|(k, s)| *k -= s);
        let rest = rest.into_iter().map(Matrix::symmetric).collect();
        AreaPart::Some(Box::new(Linear { factors, rest, constant }))
    }
}
