//! A release as data: its levels, queries, paths and mixes.

use rug::Rational;

use super::{
    neighbors::{Changed, Neighbors},
    schema,
};
use crate::{
    account::{Counts, compared::PrintedFigure},
    error::{Error, Result},
    loss::law::Law,
};

/// A query, or several alike.
#[derive(Clone, Debug)]
pub struct Query {
    /// Its name.
    pub name: String,
    /// The zCDP rho of each.
    pub rho: Rational,
    /// The law of the noise on each of its counts.
    pub law: Law,
    /// How many queries alike there are.
    pub times: u64,
    /// How many cells of it one record is in.
    pub cells: u64,
    /// By how much one record changes each of these cells.
    pub shift: u64,
    /// How often a changed record changes each of these cells.
    pub changed: Changed,
    /// The kind of groups that alone it is asked of, at a level with a [`Mix`]; `None` for all others.
    pub kind: Option<String>,
}

impl Query {
    /// The variance proxy of its discrete Gaussian noise; noise of another law is refused.
    pub fn sigma2(&self) -> Result<&Rational> {
        self.law.discrete_sigma2().ok_or_else(|| {
            let needed = "discrete Gaussian noise is needed, which has a variance proxy sigma2";
            Error::unsuitable(format!("the query {:?} has {} noise: {needed}", self.name, self.law.described()))
        })
    }

    /// What a change of one record reveals by all queries alike; `None` where none of their counts moves.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Option<Counts>> {
        self.counts_times(self.changed.times(neighbors)?)
    }

    /// All counts of all queries alike, each so many times.
    pub(crate) fn counts_times(&self, each: u64) -> Result<Option<Counts>> {
        if each == 0 {
            return Ok(None);
        }
        let count = self.times.saturating_mul(self.cells).saturating_mul(each);
        Counts::new(self.law.clone(), count, self.shift).map(Some)
    }
}

/// A geolevel.
#[derive(Clone, Debug)]
pub struct GeoLevel {
    /// Its name.
    pub name: String,
    /// Its zCDP rho.
    pub rho: Rational,
    /// Its queries.
    pub queries: Vec<Query>,
}

impl GeoLevel {
    /// What all queries of one kind spend, those without a kind first: parts of a level that each record divides its groups among
    /// spend its budget each.
    pub(crate) fn sums(queries: &[Query]) -> Vec<Rational> {
        let mut kinds: Vec<&Option<String>> = queries.iter().map(|query| &query.kind).collect();
        kinds.sort();
        kinds.dedup();
        let spent = |kind: &Option<String>| {
            let of_kind = queries.iter().filter(|query| query.kind == *kind);
            of_kind.fold(Rational::new(), |sum, query| sum + Rational::from(&query.rho * query.times))
        };
        kinds.into_iter().map(spent).collect()
    }

    /// What queries spend together; where they are of several kinds, those of the kind that spends most.
    pub(crate) fn spent(queries: &[Query]) -> Rational {
        GeoLevel::sums(queries).into_iter().max().unwrap_or_default()
    }

    /// Whether it has queries of one kind of groups alone.
    pub(crate) fn has_kinds(&self) -> bool {
        self.queries.iter().any(|query| query.kind.is_some())
    }

    /// What a change of one record reveals at this level; of a level with kinds by all of these at once, which no record is in.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Vec<Counts>> {
        self.queries.iter().filter_map(|query| query.counts(neighbors).transpose()).collect()
    }
}

/// The paths from the root to a block on an optimized spine: each bypasses a set of levels, whose rho moves to the next
/// kept level above.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Where the sets come from.
    pub note: String,
    /// The sets of bypassed levels, one for each path, as indices of levels.
    pub dropped: Vec<Vec<usize>>,
}

/// A release of noisy counts: what was asked at which level, with which budget.
///
/// ```
/// use dp_assay::{account::Account, release::Release};
/// let dhc = Release::find("su-su-wang-2025")?;
/// let state = dhc.composition(&["State"], None)?;
/// let epsilon = state.epsilon("1e-11", 12)?.value;
/// assert!(epsilon.shown(6) == "10.1254");
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Release {
    /// The name by which it is found.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Where its figures come from.
    pub source: String,
    /// Its own neighbor relation.
    pub neighbors: Neighbors,
    /// Its zCDP rho.
    pub rho: Rational,
    /// Its geolevels, root first.
    pub levels: Vec<GeoLevel>,
    /// Epsilons that were published for it, with its own noise and neighbor relation.
    pub published: Vec<Published>,
    /// Whether only the budget is known, and not how a record changes the counts.
    pub budget_only: bool,
    /// The constraint of noisy measurement files whose counts add up to the exact total of the root and of states.
    pub exact_total: Option<String>,
    /// Which levels an optimized spine bypasses; `None` for a release without such a spine.
    pub paths: Option<Paths>,
    /// The levels at which a record's groups are of two kinds.
    pub mixes: Vec<Mix>,
    /// The histogram that the queries are asked of; `None` if the file does not say.
    pub schema: Option<schema::Schema>,
    /// The SHA-256 of the text it was read from; `None` where it was read from none, or has other noise than that.
    pub sha256: Option<String>,
}

/// Levels at which so many of a record's groups are of one kind, and all others of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// What the levels are, together.
    pub name: String,
    /// The levels, by their place in the release.
    pub levels: Vec<usize>,
    /// How many groups a record is in.
    pub groups: u64,
    /// The kind of some of them: that of the queries which are asked of these groups alone.
    pub kind: String,
    /// At most so many of them are of that kind.
    pub most: u64,
}

/// An epsilon that was published for a release, or for some of its levels together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The levels, in the order of the release; none for all of them.
    pub levels: Vec<String>,
    /// What was printed.
    pub figure: PrintedFigure,
}
