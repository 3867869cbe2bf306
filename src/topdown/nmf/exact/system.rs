//! Totals and the counts that they add up, and the reasons that exclude them.

use rug::Integer;

/// A count of some blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Count {
    /// The totals in which it is, each once.
    pub(in super::super) of: Vec<usize>,
    /// The least that it can be.
    pub(in super::super) lower: Integer,
    /// The most that it can be, if there is a bound.
    pub(in super::super) upper: Option<Integer>,
}

/// Exact totals, and the counts that they add up.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct System {
    /// The exact totals.
    pub(in super::super) totals: Vec<Integer>,
    /// The counts.
    pub(in super::super) counts: Vec<Count>,
}

/// Why no whole counts have the totals. Terms are totals by their numbers, each taken a number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Contradiction {
    /// The sum of the terms is below the least that the bounds of the counts leave it.
    Below {
        /// The combination.
        terms: Vec<(usize, Integer)>,
        /// Its value by the totals.
        sum: Integer,
        /// The least value that the bounds of the counts allow.
        least: Integer,
    },
    /// The terms count each count a multiple of `divisor` times, and their sum is none.
    Fraction {
        /// The combination.
        terms: Vec<(usize, Integer)>,
        /// Its value by the totals.
        sum: Integer,
        /// The number that divides what it counts.
        divisor: Integer,
    },
    /// No whole counts within their bounds have the totals, by a search through all of them.
    NoWholeCounts,
}

/// The terms with a factor other than zero.
pub(super) fn terms(factors: Vec<Integer>) -> Vec<(usize, Integer)> {
    factors.into_iter().enumerate().filter(|(_, factor)| *factor != 0).collect()
}

impl Count {
    /// How often a combination of totals counts it.
    pub(super) fn times(&self, factors: &[Integer]) -> Integer {
        self.of.iter().map(|total| &factors[*total]).sum()
    }
}
