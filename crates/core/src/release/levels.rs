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
    /// The number of queries like it.
    pub times: u64,
    /// The number of its cells that contain one record.
    pub cells: u64,
    /// By how much one record changes each of these cells.
    pub shift: u64,
    /// Whether `shift` is a number of rows that one record moves at most, into cells of any choice.
    pub free_rows: bool,
    /// How often a changed record changes each of these cells.
    pub changed: Changed,
    /// The kind of groups to which it is limited, at a level with a [`Mix`]; `None` for all others.
    pub kind: Option<String>,
}

impl Query {
    /// One count with noise of this law, which a record changes by one, and a changed record twice.
    pub(super) fn of_law(name: String, law: Law) -> Query {
        Query {
            name,
            rho: Rational::new(),
            law,
            times: 1,
            cells: 1,
            shift: 1,
            free_rows: false,
            changed: Changed::Twice,
            kind: None,
        }
    }

    /// The variance proxy of its discrete Gaussian noise; refuses noise of another law.
    pub fn sigma2(&self) -> Result<&Rational> {
        self.law.discrete_sigma2().ok_or_else(|| {
            let needed = "discrete Gaussian noise is needed, which has a variance proxy sigma2";
            Error::unsuitable(format!("the query {:?} has {} noise: {needed}", self.name, self.law.described()))
        })
    }

    /// The counts of all queries like it that a change of one record affects, as [`Composition::for_changed_records`](crate::account::Composition::for_changed_records) composes them; none if none of
    /// their counts changes.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Vec<Counts>> {
        self.counts_times(self.changed.times(neighbors)?)
    }

    /// All counts of all queries like it, each counted `each` times: twice where a record leaves one and enters another.
    pub(crate) fn counts_times(&self, each: u64) -> Result<Vec<Counts>> {
        if each == 0 {
            return Ok(Vec::new());
        }
        if self.law.is_sampled() && each != 1 {
            return Err(Error::unsuitable(
                "a record that changes under Poisson sampling: use the neighbor relation add-remove",
            ));
        }
        let counts = Counts::new(self.law.clone(), self.times.saturating_mul(self.cells), self.shift)?;
        let counts = if self.free_rows { counts.with_free_rows()? } else { counts };
        if each == 1 { Ok(vec![counts]) } else { counts.left_and_entered() }
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
    /// The budgets of all queries of one kind, those without a kind first: kinds among which each record divides its groups
    /// spend the budget of the level each.
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

    /// The budget of all queries together; if they are of several kinds, that of the kind that spends most.
    pub(crate) fn spent(queries: &[Query]) -> Rational {
        GeoLevel::sums(queries).into_iter().max().unwrap_or_default()
    }

    /// Whether it has queries about one kind of groups alone.
    #[doc(hidden)]
    pub fn has_kinds(&self) -> bool {
        self.queries.iter().any(|query| query.kind.is_some())
    }

    /// The counts at this level that a change of one record affects; at a level with kinds those of all kinds at once, which no record has.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Vec<Counts>> {
        let each = self.queries.iter().map(|query| query.counts(neighbors)).collect::<Result<Vec<_>>>()?;
        Ok(each.concat())
    }
}

/// The paths from the root to a block on an optimized spine: each bypasses a set of levels, whose rho goes to the next
/// kept level above.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The source of the sets.
    pub note: String,
    /// The sets of bypassed levels, one for each path, as indices of levels.
    pub dropped: Vec<Vec<usize>>,
}

/// A release of noisy counts: its queries at each level, and their budgets.
///
/// ```
/// # use dp_assay_core as dp_assay;
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
    /// Its description, in a line.
    pub title: String,
    /// The source of its figures.
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
    /// The levels that an optimized spine bypasses; `None` for a release without such a spine.
    pub paths: Option<Paths>,
    /// The levels at which a record's groups are of two kinds.
    pub mixes: Vec<Mix>,
    /// The histogram of the queries; `None` if the file does not state it.
    pub schema: Option<schema::Schema>,
    /// The SHA-256 of the text from which it was read; `None` if it was not read, or its noise was changed.
    pub sha256: Option<String>,
}

impl Release {
    /// A release of these levels, `[name, title, source]`, without paths, mixes, histogram and published figures; its rho is the sum of theirs.
    pub(super) fn of_levels(about: [&str; 3], neighbors: Neighbors, levels: Vec<GeoLevel>) -> Release {
        let [name, title, source] = about.map(String::from);
        Release {
            name,
            title,
            source,
            neighbors,
            rho: levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho),
            levels,
            published: Vec::new(),
            budget_only: false,
            exact_total: None,
            paths: None,
            mixes: Vec::new(),
            schema: None,
            sha256: None,
        }
    }
}

/// Levels at which some of a record's groups are of one kind, and all others of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mix {
    /// The name of these levels together.
    pub name: String,
    /// The levels, by their index in the release.
    pub levels: Vec<usize>,
    /// The number of groups of a record.
    pub groups: u64,
    /// The kind of some of them: that of the queries about these groups alone.
    pub kind: String,
    /// The largest number of groups of that kind.
    pub most: u64,
}

/// An epsilon that was published for a release, or for some of its levels together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The levels, in the order of the release; none for all of them.
    pub levels: Vec<String>,
    /// The printed value.
    pub figure: PrintedFigure,
}
