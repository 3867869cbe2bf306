//! A family with the sieves of its sums, by which the nodes of the common contour are chosen.

use std::{collections::HashMap, sync::Arc};

use super::members::{Family, Units};
use crate::{
    error::Result,
    loss::{answer::Pair, memo::Memo, sieve::SumSieve, sum::LossSum},
};

/// A value at each of some nodes.
pub(super) type ByNode<T> = HashMap<i64, T, foldhash::fast::FixedState>;

/// Sorts nodes and leaves each of them once.
pub(super) fn each_once(nodes: &mut Vec<i64>) {
    nodes.sort_unstable();
    nodes.dedup();
}

/// A family with the sieves of its sums.
#[derive(Debug)]
pub(super) struct SievedFamily {
    pub(super) family: Arc<Family>,
    /// The sieves of twice each member; of each member where units are single.
    pub(super) doubles: Vec<Arc<SumSieve>>,
    /// The sieves of the units that were needed one by one.
    units: Memo<Pair, Arc<SumSieve>>,
}

impl SievedFamily {
    /// A family with nothing swept yet.
    pub(super) fn new(family: Arc<Family>) -> Self {
        let bundles = Arc::default();
        let sieve = |sum: &LossSum| Arc::new(SumSieve::sharing(sum, &bundles));
        // No factor of what is beside all pairs is above its value on the axis: the bounds of the members hold with it.
        let doubles = match family.units {
            Units::Pairs => family.members.iter().map(|member| sieve(&member.twice())).collect(),
            Units::Single => family.members.iter().map(|member| sieve(member)).collect(),
        };
        SievedFamily { family, doubles, units: Memo::default() }
    }

    /// The sieve of one unit.
    pub(super) fn unit(&self, pair: Pair) -> Result<Arc<SumSieve>> {
        self.units.get_or_try(pair, |&(p, q)| {
            Ok(match self.family.units {
                Units::Pairs if p == q => Arc::clone(&self.doubles[p]),
                Units::Pairs => {
                    let doubles = [&self.doubles[p], &self.doubles[q]].map(Arc::clone);
                    Arc::new(SumSieve::of_halves(&self.family.sum(pair)?, doubles))
                }
                Units::Single => Arc::new(SumSieve::new(&self.family.sum(pair)?)),
            })
        })
    }
}
