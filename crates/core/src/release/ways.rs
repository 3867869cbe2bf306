//! The ways in which one record can enter the counts of a release, of which an account takes the worst: block paths of an
//! optimized spine, or mixes of groups.

use std::sync::Arc;

use super::Neighbors;
use crate::{
    account::{Composition, Whole, paths::WorstPath},
    error::Result,
    loss::{answer::Answer, family::Units},
};

/// The names of the kinds of ways.
pub(super) const BLOCK_PATHS: &str = "block paths";
pub(super) const MIXES: &str = "mixes of groups";

/// The names of the ways, and those that an answer mentions.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The kind of the ways.
    what: &'static str,
    /// Each of them.
    each: Vec<String>,
    /// The number of ways, or pairs of ways.
    count: usize,
    /// Whether a changed record leaves one way and enters another.
    in_pairs: bool,
}

impl Names {
    /// All of them, with their number.
    pub(super) fn all(&self) -> String {
        let pairs = if self.in_pairs { "pairs of " } else { "" };
        format!("{} {pairs}{}", self.count, self.what)
    }

    /// The ways that determine an answer, in words; `None` if the answer names none.
    pub(super) fn deciding(&self, answer: &Answer) -> Option<String> {
        let (p, q) = answer.pair()?;
        Some(match self.in_pairs {
            true if p == q => format!("{}, for both records, the worst of {}", self.each.get(p)?, self.all()),
            true => format!("{} and {}, the worst of {}", self.each.get(p)?, self.each.get(q)?, self.all()),
            false => format!("{}, the worst of {}", self.each.get(p)?, self.all()),
        })
    }
}

/// The worst of all ways, each with its name, under a relation; with what every pair of them has besides.
pub(super) fn worst(
    what: &'static str,
    ways: Vec<(String, Composition)>,
    beside: Option<Composition>,
    neighbors: Neighbors,
) -> Result<(WorstPath, Arc<Names>)> {
    let (each, ways): (Vec<String>, Vec<Composition>) = ways.into_iter().unzip();
    let in_pairs = neighbors == Neighbors::Bounded;
    let worst = match beside {
        Some(beside) => WorstPath::pairs_beside(ways, beside)?,
        None => WorstPath::new(ways, if in_pairs { Units::Pairs } else { Units::Single })?,
    };
    let count = worst.count();
    Ok((worst, Arc::new(Names { what, each, count, in_pairs })))
}

/// All noise of a subject. With mixes of groups some of it may be in no record's `total`: the first mix has no
/// group of the kind, the last one the largest number.
pub(super) fn noise(total: &Composition, whole: &Whole, names: Option<&Names>) -> Result<Composition> {
    match (whole, names) {
        (Whole::WorstPath(worst), Some(names)) if names.what == MIXES => {
            let ends = worst.paths().first().into_iter().chain(worst.paths().last()).chain(worst.beside());
            Composition::new(ends.flat_map(|way| way.counts().iter().cloned()))
        }
        (Whole::Composition(_) | Whole::WorstPath(_) | Whole::ManyWays(_), _) => Ok(total.clone()),
    }
}
