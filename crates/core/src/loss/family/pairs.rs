//! Lists of pairs of members, in half the memory that pairs of places take: there may be very many.

use std::sync::Arc;

use crate::loss::answer::Pair;

/// Pairs in order, shared and never copied.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs(Arc<[(u32, u32)]>);

/// The indices of a pair in a family, which has at most [`Pairs::MOST_MEMBERS`] members.
fn narrow((p, q): Pair) -> (u32, u32) {
    (p as u32, q as u32)
}

fn wide(&(p, q): &(u32, u32)) -> Pair {
    (p as usize, q as usize)
}

impl Pairs {
    /// The largest number of members with indices that fit.
    pub(super) const MOST_MEMBERS: usize = u32::MAX as usize;

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> Pair {
        wide(&self.0[index])
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Pair> {
        self.0.iter().map(wide)
    }

    /// Runs of pairs with the same first member: it, and the second ones.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, impl ExactSizeIterator<Item = usize> + Send)> {
        let second = |&(_, q): &(u32, u32)| q as usize;
        self.0.chunk_by(|a, b| a.0 == b.0).map(move |run| (run[0].0 as usize, run.iter().map(second)))
    }

    /// The members of these pairs, in order. There may be very many pairs, but not many members.
    pub(super) fn members(&self) -> Vec<usize> {
        let mut among = vec![false; self.iter().map(|(p, q)| p.max(q) + 1).max().unwrap_or(0)];
        self.iter().for_each(|(p, q)| (among[p], among[q]) = (true, true));
        (0..among.len()).filter(|&member| among[member]).collect()
    }
}

impl FromIterator<Pair> for Pairs {
    fn from_iter<I: IntoIterator<Item = Pair>>(pairs: I) -> Self {
        Pairs(pairs.into_iter().map(narrow).collect())
    }
}
