//! The covariances of two areas.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::part::{AreaPart, Touched};
use crate::topdown::gls::{
    belief::{Belief, Below},
    matrix::Matrix,
    number::Number,
    problem::Shape,
};

/// The pairs of areas whose covariances are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pairs {
    /// None.
    #[default]
    None,
    /// These, the smaller number first.
    Listed(BTreeSet<(u32, u32)>),
    /// All.
    All,
}

impl Pairs {
    /// Those among some areas.
    pub(super) fn among(&self, mut areas: Vec<u32>) -> Vec<(u32, u32)> {
        areas.sort_unstable();
        match self {
            Pairs::None => Vec::new(),
            Pairs::Listed(listed) => {
                let is_there = |area: &u32| areas.binary_search(area).is_ok();
                listed.iter().filter(|(first, second)| is_there(first) && is_there(second)).copied().collect()
            }
            Pairs::All => {
                let with = |(at, first): (usize, &u32)| {
                    let first = *first;
                    areas[at + 1..].iter().map(move |second| (first, *second)).collect::<Vec<_>>()
                };
                areas.iter().enumerate().flat_map(with).collect()
            }
        }
    }
}

/// R of each pair of areas; zero for the others.
pub type Rests<N = f64> = BTreeMap<(u32, u32), Vec<Matrix<N>>>;

/// The covariance of the parts of two areas in a unit whose estimate has this covariance.
pub fn covariance<N: Number>(
    unit: &Belief<N>,
    first: &AreaPart<N>,
    second: &AreaPart<N>,
    rest: Option<&Vec<Matrix<N>>>,
) -> Vec<Matrix<N>> {
    let of_sector = |(sector, own): (usize, &Matrix<N>)| {
        let left = match first {
            AreaPart::Multiple(multiple) => own.scaled(&N::of(*multiple)),
            AreaPart::Some(linear) => linear.factors[sector].times(own),
        };
        let mut product = match second {
            AreaPart::Multiple(1.0) => left,
            AreaPart::Multiple(multiple) => left.scaled(&N::of(*multiple)),
            AreaPart::Some(linear) => left.times(&linear.factors[sector].transposed()),
        };
        if let Some(rest) = rest {
            product.add(1.0, &rest[sector]);
        }
        product
    };
    unit.covariance.iter().enumerate().map(of_sector).collect()
}

/// The sum of R_cij + A_ci C_c A_cj' over children.
#[derive(Clone, Debug)]
pub(super) struct TouchedPair<N> {
    shape: Arc<Shape>,
    pub(super) squares: Vec<Matrix<N>>,
}

impl<N: Number> TouchedPair<N> {
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        let squares = shape.rows.iter().map(|rows| Matrix::zero(rows.len(), rows.len())).collect();
        TouchedPair { shape, squares }
    }

    /// Adds a child with an estimate.
    pub(super) fn add(
        &mut self,
        child: &Belief<N>,
        first: &AreaPart<N>,
        second: &AreaPart<N>,
        rest: Option<&Vec<Matrix<N>>>,
    ) {
        let places = child.shape.places_in(&self.shape);
        let products = covariance(child, first, second, rest);
        for ((sum, own), places) in self.squares.iter_mut().zip(&products).zip(&places) {
            sum.add_at(&N::of(1.0), own, places);
        }
    }

    /// R of the pair in the unit, of which neither area has all.
    pub(super) fn join(self, below: &Below<N>, first: &Touched<N>, second: &Touched<N>, open: bool) -> Vec<Matrix<N>> {
        let (a, b) = (first.factors(below, open), second.factors(below, open));
        let all = below.covariance();
        let mut rest = self.squares;
        for (sector, rest) in rest.iter_mut().enumerate() {
            rest.add(-1.0, &first.products[sector].times(&b[sector].transposed()));
            if open {
                rest.add(-1.0, &a[sector].times(&second.products[sector].transposed()));
                rest.add(1.0, &a[sector].times(&all[sector]).times(&b[sector].transposed()));
            }
        }
        rest
    }
}
