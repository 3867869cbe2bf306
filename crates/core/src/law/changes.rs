//! Changes of one count of which the data decide: by every amount up to the shift, and of every row of a table.
//!
//! Of noise that is log-concave the largest change is the worst ([`group`](crate::account)). Of all other noise a smaller one can be worse at some epsilon, or at every
//! one: a table of the values 0 and 2 shows a change by 1 for certain, and one by 2 half the time. So the pairs of all changes count.
//!
//! # Pairs that do not matter, and the dominating pair
//!
//! A test of one pair rejects with probability a under the second hypothesis and b under the first; the best tests are a concave function b(a), which is
//! linear between the vertices that the likelihood ratios give in falling order. If that of one pair is nowhere below that of another, the other is a
//! function of the outcome of the first (Blackwell 1953), and no choice of changes needs it, unless it takes fewer records. The smallest concave function that is
//! nowhere below that of any pair is again that of a pair with finitely many outcomes. It bounds every choice in every composition, also where later
//! choices depend on earlier outcomes.

use rug::Rational;

use super::likelihoods::Likelihoods;
use crate::error::{Error, Result};

/// The largest number of probabilities of all pairs that are compared.
const MOST_COMPARED: u64 = 1_000_000;

/// By how much records change one count, of those that differ between neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Changes {
    /// By exactly the shift.
    Exactly,
    /// By some amount from 1 to the shift, which the data decide: each record of a group by at most `one`.
    UpTo {
        /// The largest change by one record.
        one: u64,
    },
}

/// A pair of hypotheses about one count, and how many records it takes to change the count so far.
pub(super) struct Change<T> {
    /// Where the pair is from.
    pub at: T,
    pub records: u64,
    pub pair: Likelihoods,
}

impl Changes {
    /// The changes, in increasing order, each with the number of records that it takes.
    pub(super) fn up_to(self, shift: u64) -> impl Iterator<Item = (u64, u64)> {
        let (from, one) = match self {
            Changes::Exactly => (shift, shift),
            Changes::UpTo { one } => (1, one),
        };
        (from..=shift).map(move |change| (change, change.div_ceil(one.max(1))))
    }

    /// An error where the pairs of all changes, each of `entries` probabilities, are too many to compare.
    pub(super) fn check(self, name: &str, shift: u64, entries: usize) -> Result<()> {
        let compared = if self == Changes::Exactly { 0 } else { shift.saturating_mul(entries as u64) };
        if compared > MOST_COMPARED {
            let what = format!("{name}: the number of probabilities of all changes from 1 to {shift}");
            let expected = format!(
                "at most {MOST_COMPARED}: a smaller change can be worse, so that all are compared. Give a smaller SHIFT, or @={shift} for a change by exactly {shift}"
            );
            return Err(Error::out_of_range(&what, compared, &expected));
        }
        Ok(())
    }
}

/// The pairs that some choice may need: none of them is a function of the outcome of another that takes as few records.
pub(super) fn undominated<T>(changes: impl IntoIterator<Item = Change<T>>) -> Vec<Change<T>> {
    let mut kept: Vec<(Change<T>, Vec<Vertex>)> = Vec::new();
    for own in changes {
        let vertices = own.pair.best_tests();
        if kept.iter().any(|(other, above)| other.records <= own.records && is_above(above, &vertices)) {
            continue;
        }
        kept.retain(|(other, below)| !(own.records <= other.records && is_above(&vertices, below)));
        kept.push((own, vertices));
    }
    kept.into_iter().map(|(change, _)| change).collect()
}

/// The pair that is at most as private as each of these, in every composition.
pub(super) fn envelope<T>(changes: &[Change<T>]) -> Likelihoods {
    let mut points: Vec<Vertex> = changes.iter().flat_map(|change| change.pair.best_tests()).collect();
    points.sort();
    // The upper hull, from left to right: a point is dropped where it is not above the line between its neighbors.
    let mut hull: Vec<Vertex> = Vec::new();
    for point in points {
        while let [.., first, second] = &hull[..] {
            let rises = |from: &Vertex, to: &Vertex| (Rational::from(&to.0 - &from.0), Rational::from(&to.1 - &from.1));
            let ((a, b), (c, d)) = (rises(first, second), rises(first, &point));
            // second is above the line from first to point where b / a > d / c.
            if Rational::from(&b * &c) > Rational::from(&d * &a) {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    let rise = |ends: &[Vertex]| (Rational::from(&ends[1].1 - &ends[0].1), Rational::from(&ends[1].0 - &ends[0].0));
    Likelihoods::of_outcomes(hull.windows(2).map(rise))
}

/// The largest rho of these pairs and of the one that bounds them, so that it is an upper bound for an account of either.
pub(super) fn largest_rho<T>(changes: &[Change<T>]) -> Rational {
    changes.iter().map(|change| change.pair.rho()).fold(envelope(changes).rho(), Rational::max)
}

/// A test: its probabilities to reject under the second and under the first hypothesis.
type Vertex = (Rational, Rational);

/// Whether the best tests of one pair are nowhere worse than those of another, by their vertices: it is enough at those of the other, between which its
/// function is linear, because that of the one is concave.
pub(super) fn is_above(one: &[Vertex], other: &[Vertex]) -> bool {
    other.iter().all(|(a, b)| {
        let after = one.partition_point(|(x, _)| x <= a);
        // The last vertex at or left of a; there may be two at zero, of which the later is higher.
        let Some(before) = after.checked_sub(1).map(|before| &one[before]) else { return false };
        match one.get(after) {
            None => before.1 >= *b,
            Some(next) => {
                let share = Rational::from(a - &before.0) / Rational::from(&next.0 - &before.0);
                Rational::from(&next.1 - &before.1) * share + &before.1 >= *b
            }
        }
    })
}
