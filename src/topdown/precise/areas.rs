//! Sums over sets of leaves in long floating-point numbers, as in [`gls::areas`](crate::topdown::gls::areas).

use std::{collections::BTreeMap, ops::Range};

use rug::Float;

use super::{
    algebra::{Square, add, subtract},
    below::{Below, Vectors},
    long,
    space::Space,
};
use crate::{spine::hierarchy::Tree, topdown::gls::areas::LeafShare};

/// The part of an area in a unit, given the unit's final estimate z.
#[derive(Clone, Debug)]
pub(super) enum AreaPart {
    /// All of the unit.
    Whole,
    /// A z + k with the covariance R, sector by sector.
    Some { factors: Vec<Square>, rest: Vec<Square>, constant: Vectors },
}

/// By unit and area, at one level.
#[derive(Debug)]
pub(super) struct Areas(BTreeMap<(usize, u32), AreaPart>);

/// The estimate of a child from its subtree alone.
type Child<'c> = (&'c [Square], &'c Vectors);

impl AreaPart {
    /// The estimate of the area's sum and its covariance, from the unit's final estimate.
    pub(super) fn of_final(&self, space: &Space, x: &[Vec<Float>], covariance: &[Square]) -> (Vectors, Vec<Square>) {
        let AreaPart::Some { factors, rest, constant } = self else { return (x.to_vec(), covariance.to_vec()) };
        let mut sum = applied(space, factors, x);
        sum.iter_mut().zip(constant).for_each(|(sum, constant)| add(sum, constant));
        let both = factors.iter().zip(covariance).zip(rest);
        let covariance = both.map(|((a, own), rest)| a.times(own).times(&a.transposed()).plus(1, rest)).collect();
        (sum, covariance)
    }
}

fn applied(space: &Space, matrices: &[Square], x: &[Vec<Float>]) -> Vectors {
    matrices.iter().zip(x).zip(&space.sectors).map(|((matrix, x), sector)| matrix.apply(x, sector.columns)).collect()
}

fn zeros(space: &Space) -> Vec<Square> {
    space.sectors.iter().map(|sector| Square::zero(sector.rows)).collect()
}

fn no_counts(space: &Space) -> Vectors {
    space.sectors.iter().map(|sector| vec![long(0.0); sector.rows * sector.columns]).collect()
}

impl Areas {
    /// The shares of leaves that areas have.
    pub(super) fn of_leaves(space: &Space, in_area: &BTreeMap<usize, Vec<LeafShare>>) -> Areas {
        let part = |share: &LeafShare| {
            if share.weight == 1.0 {
                return AreaPart::Whole;
            }
            let weight = long(share.weight);
            let factors = space.sectors.iter().map(|sector| Square::identity(sector.rows).scaled(&weight)).collect();
            AreaPart::Some { factors, rest: zeros(space), constant: no_counts(space) }
        };
        let leaf = |(leaf, shares): (&usize, &Vec<LeafShare>)| {
            shares.iter().map(|share| ((*leaf, share.area), part(share))).collect::<Vec<_>>()
        };
        Areas(in_area.iter().flat_map(leaf).collect())
    }

    /// The parts of areas in the root.
    pub(super) fn of_root(self) -> Vec<(u32, AreaPart)> {
        self.0.into_iter().map(|((_, area), part)| (area, part)).collect()
    }

    /// The parts of areas in the units of a level, from those in its children.
    pub(super) fn joined<'c>(
        self,
        space: &Space,
        tree: &Tree,
        level: usize,
        child: &dyn Fn(usize) -> Option<Child<'c>>,
        below: &dyn Fn(usize) -> Option<&'c Below>,
    ) -> Areas {
        if self.0.is_empty() {
            return self;
        }
        let parents = tree.parents(level + 1);
        let mut of_unit: BTreeMap<(usize, u32), Vec<(usize, AreaPart)>> = BTreeMap::new();
        for ((unit, area), part) in self.0 {
            of_unit.entry((parents[unit] as usize, area)).or_default().push((unit, part));
        }
        let join = |((unit, area), parts): ((usize, u32), Vec<(usize, AreaPart)>)| {
            let children = tree.children(level, unit);
            let is_whole =
                parts.len() == children.len() && parts.iter().all(|(_, part)| matches!(part, AreaPart::Whole));
            let part = match below(unit) {
                Some(below) if !is_whole => join(space, children, &parts, child, below),
                _ => AreaPart::Whole,
            };
            ((unit, area), part)
        };
        Areas(of_unit.into_iter().map(join).collect())
    }
}

fn join<'c>(
    space: &Space,
    children: Range<usize>,
    parts: &[(usize, AreaPart)],
    child: &dyn Fn(usize) -> Option<Child<'c>>,
    below: &Below,
) -> AreaPart {
    let (zeros, vectors) = (|| zeros(space), || no_counts(space));
    // T, the sum of R_c + A_c C_c A_c', and that of k_c + A_c x_c.
    let (mut products, mut rest, mut constant) = (zeros(), zeros(), vectors());
    let mut open_factors = None;
    for (number, part) in parts {
        let identity = || space.sectors.iter().map(|sector| Square::identity(sector.rows)).collect::<Vec<_>>();
        let (factors, own_rest, own_constant) = match part {
            AreaPart::Whole => (identity(), zeros(), vectors()),
            AreaPart::Some { factors, rest, constant } => (factors.clone(), rest.clone(), constant.clone()),
        };
        constant.iter_mut().zip(&own_constant).for_each(|(sum, own)| add(sum, own));
        rest = rest.into_iter().zip(&own_rest).map(|(sum, own)| sum.plus(1, own)).collect();
        let Some((covariance, x)) = child(*number) else {
            open_factors = Some(factors);
            continue;
        };
        let own: Vec<Square> = factors.iter().zip(covariance).map(|(a, own)| a.times(own)).collect();
        let squares = own.iter().zip(&factors).map(|(product, a)| product.times(&a.transposed()));
        rest = rest.into_iter().zip(squares).map(|(sum, own)| sum.plus(1, &own)).collect();
        products = products.into_iter().zip(&own).map(|(sum, own)| sum.plus(1, own)).collect();
        constant.iter_mut().zip(&applied(space, &factors, x)).for_each(|(sum, own)| add(sum, own));
    }
    let mut sum = vectors();
    for (_, x) in children.filter_map(child) {
        sum.iter_mut().zip(x).for_each(|(sum, x)| add(sum, x));
    }
    let factors: Vec<Square> = match &below.inverse {
        Some(inverse) => products.iter().zip(inverse.iter()).map(|(t, inverse)| t.times(inverse)).collect(),
        None => open_factors.unwrap_or_else(zeros),
    };
    let rest = rest.into_iter().enumerate().map(|(at, rest)| {
        let across = products[at].times(&factors[at].transposed());
        let rest = rest.plus(-1, &across);
        match &below.inverse {
            Some(_) => rest,
            None => {
                let all = factors[at].times(&below.covariance[at]).times(&factors[at].transposed());
                rest.plus(-1, &across.transposed()).plus(1, &all)
            }
        }
    });
    let rest = rest.collect();
    constant.iter_mut().zip(&applied(space, &factors, &sum)).for_each(|(constant, sum)| subtract(constant, sum));
    AreaPart::Some { factors, rest, constant }
}
