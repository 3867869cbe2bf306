//! Releases: levels of geography, queries, budgets and a neighbor relation, and their composition.
//!
//! A release is a TOML file of exact numbers (`data/releases/*.toml` are bundled), plain as `0.1` and `1e-3` or fractions in
//! quotes as `"104/4099"`:
//!
//! | field | meaning |
//! | --- | --- |
//! | `name`, `title`, `source` | its name and description, and the source of each figure |
//! | `neighbors` | `add-remove` (one record more or less; also `unbounded`, `add-delete`) or `bounded` (one record changed; also `replace-one`, `replace`, `change-one`, `substitution`) |
//! | `counts_as_given` | true if `cells` are already those that differ between bounded neighbors, and are not counted twice (default false) |
//! | `rho` | the zCDP budget of the whole release (default: the sum of its levels) |
//! | `sigma2_times_rho` | an optional check: sigma2 = this / rho of the query, 1/2 for add-remove, 1 for bounded, times the cells and the square of the sensitivity |
//! | `[[level]]` `name`, `proportion` or `rho` | a geolevel and its share of the budget, relative or absolute (default: the sum of its queries) |
//! | `[[level.query]]` `name` | a query, with its share of the level, its noise, or both: |
//! | `proportion` or `rho` | its share, relative or absolute |
//! | `law` | `discrete-gaussian` (default), `discrete-laplace`, or `gaussian` for comparison |
//! | `sigma2` | the variance proxy of Gaussian noise (default: the one that spends its rho) |
//! | `epsilon` | the parameter of discrete Laplace noise, of mass proportional to exp(-epsilon abs(x)) |
//! | `times` | the number of queries like it (default 1) |
//! | `cells` | the number of its cells that one record affects (default 1) |
//! | `sensitivity` | the shift: by how much one record changes each of these cells (default 1) |
//! | `moves` | 0 if a changed record never leaves its one cell of the query, so that no count of it changes under bounded neighbors; otherwise every cell is counted twice |
//! | `kind` | at a level of a `[[mix]]`: the query is about the groups of this kind alone (default: about all others) |
//! | `[[mix]]` `name`, `levels`, `groups`, `kind`, `most` | a record is in `groups` groups of these levels, of which 0 to `most` are of the kind: queries of either kind spend the whole budget of a level, and the account is that of the worst mix |
//! | `budget_only` | true if it is not known how a record changes the counts: the release then has no exact account |
//! | `[[attribute]]`, `[[recode]]` | the histogram of the queries, or two histograms, for drawing: see [`schema`] |
//! | `[[published]]` | an epsilon that was published for the release, or `published = { .. }` for one: |
//! | `epsilon`, `delta`, `by` | the printed number, in quotes as it was printed, its delta (none for `pure`), and the conversion: `zcdp` (Bun-Steinke), `best-order`, `rdp` or `pure` |
//! | `levels`, `source` | the levels that it covers together (default: all), and where and by whom it was printed |
//! | `exact_total` | the constraint of noisy measurement files whose counts add up to the exact total of the root and of states, although single counts may be adjusted |
//! | `[paths]` `note`, `droppable`, `dropped` | the levels that an optimized spine may bypass, and the sets of them that occur (all subsets if absent) |
//!
//! All shares must add up exactly, and the noise must spend exactly the declared rho under the release's own neighbor
//! relation: a file that breaks a rule is refused with its line.
//!
//! | file | content |
//! | --- | --- |
//! | `neighbors` | the neighbor relations, their names, and how often a changed record changes a count |
//! | `mixes`, `ways` | mixes of the groups of a record, and the worst of all ways in which it enters the counts |
//! | `mod.rs` | a release, its levels and queries, and the composition of the counts that one record enters |
//! | `file`, `schema_file` | the TOML form and its rules |
//! | `published` | published figures of a release |
//! | `written` | a release as such a file |
//! | [`schema`] | the histogram, and its query groups |
//! | [`ledger`] | the releases about the same records |
//! | [`subject`] | a mechanism to account for: a release, or counts given one by one |
//! | `budgets` | the same queries with the budget divided differently among the levels |
//! | `derived` | the same release with other noise, or several times |
//! | [`query_targets`] | the queries of a planned release, with weights and accuracy targets |

mod budgets;
mod derived;
mod file;
pub mod ledger;
mod mixes;
mod neighbors;
mod published;
pub mod query_targets;
pub mod schema;
mod schema_file;
pub mod subject;
mod ways;
mod written;

use std::path::Path;

use rug::Rational;

pub use self::{
    mixes::Mix,
    neighbors::{Changed, Neighbors},
    published::Published,
};
use crate::{
    account::{Composition, Counts},
    error::{Error, Result},
    loss::law::Law,
    reading::read_text,
};

/// Pairs each name with the text of its file in data/releases.
macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../data/releases/", $name, ".toml")))),*]
    };
}

/// The bundled releases, from data/releases.
const BUNDLED: &[(&str, &str)] = bundled![
    "pl94-persons-us",
    "pl94-persons-pr",
    "pl94-units-us",
    "pl94-units-pr",
    "dhc-persons-us",
    "dhc-persons-pr",
    "dhc-units-us",
    "dhc-units-pr",
    "dhc-demo-persons-us",
    "dhc-demo-persons-pr",
    "dhc-demo-units-us",
    "dhc-demo-units-pr",
    "ddhca-us",
    "ddhca-pr",
    "ddhcb-us",
    "ddhcb-pr",
    "sdhc-us",
    "sdhc-pr",
    "su-su-wang-2025",
];

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
    /// How often a changed record changes each of these cells.
    pub changed: Changed,
    /// The kind of groups to which it is limited, at a level with a [`Mix`]; `None` for all others.
    pub kind: Option<String>,
}

impl Query {
    /// The variance proxy of its discrete Gaussian noise; refuses noise of another law.
    pub fn sigma2(&self) -> Result<&Rational> {
        self.law.discrete_sigma2().ok_or_else(|| {
            let needed = "discrete Gaussian noise is needed, which has a variance proxy sigma2";
            Error::unsuitable(format!("the query {:?} has {} noise: {needed}", self.name, self.law.described()))
        })
    }

    /// The counts of all queries like it that a change of one record affects; `None` if none of their counts changes.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Option<Counts>> {
        self.counts_times(self.changed.times(neighbors)?)
    }

    /// All counts of all queries like it, each counted `each` times.
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
    pub(crate) fn has_kinds(&self) -> bool {
        self.queries.iter().any(|query| query.kind.is_some())
    }

    /// The counts at this level that a change of one record affects; at a level with kinds those of all kinds at once, which no record has.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Vec<Counts>> {
        self.queries.iter().filter_map(|query| query.counts(neighbors).transpose()).collect()
    }
}

/// A release of noisy counts: its queries at each level, and their budgets.
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

/// The paths from the root to a block on an optimized spine: each bypasses a set of levels, whose rho goes to the next
/// kept level above.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The source of the sets.
    pub note: String,
    /// The sets of bypassed levels, one for each path, as indices of levels.
    pub dropped: Vec<Vec<usize>>,
}

impl Release {
    /// All bundled releases.
    pub fn bundled() -> Result<Vec<Release>> {
        BUNDLED.iter().map(|(name, text)| Release::parse(text, name)).collect()
    }

    /// The bundled release of this name, or the one in the file of this path.
    pub fn find(name_or_path: &str) -> Result<Release> {
        Release::parse(&find_text(name_or_path, BUNDLED, "release")?, name_or_path)
    }

    /// The release that a file names: the bundled one of this name, or that in the file of this path, which is relative to the file that
    /// names it. A bundled name is never a file.
    pub fn find_beside(name_or_path: &str, naming: &Path) -> Result<Release> {
        Release::find(&place_beside(name_or_path, naming)).map_err(|why| match why {
            Error::File { path, why } if why == NO_FILE => {
                let why = format!("{NO_FILE}; a path in a file is relative to the folder of that file");
                Error::File { path, why }
            }
            other => other,
        })
    }

    /// The text of the bundled release of this name, with its comments, or of the file of this path.
    pub fn text(name_or_path: &str) -> Result<String> {
        find_text(name_or_path, BUNDLED, "release")
    }

    /// A file to start a release of one's own from: every field with a comment. It is itself a release.
    pub fn template() -> &'static str {
        include_str!("../../data/templates/release.toml")
    }

    /// The same with only the named levels, in the order of the release; with all of them if none is named. Without some of
    /// its levels a release has no paths.
    pub fn only(&self, levels: &[impl AsRef<str>]) -> Result<Release> {
        if levels.is_empty() {
            return Ok(self.clone());
        }
        levels.iter().try_for_each(|name| self.level(name.as_ref()).map(|_| ()))?;
        let named = |level: &&GeoLevel| levels.iter().any(|name| name.as_ref() == level.name);
        let kept: Vec<GeoLevel> = self.levels.iter().filter(named).cloned().collect();
        let paths = self.paths.clone().filter(|_| kept.len() == self.levels.len());
        let rho = kept.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        let names: Vec<&str> = kept.iter().map(|level| level.name.as_str()).collect();
        let published = self.published_among(&names);
        let place = |level: &usize| kept.iter().position(|kept| kept.name == self.levels[*level].name);
        let remaining = |mix: &Mix| Mix { levels: mix.levels.iter().filter_map(place).collect(), ..mix.clone() };
        let mixes = self.mixes.iter().map(remaining).filter(|mix| !mix.levels.is_empty()).collect();
        Ok(Release { levels: kept, paths, mixes, rho, published, ..self.clone() })
    }

    /// Reads a release from the text of a TOML file; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<Release> {
        file::parse(text, file)
    }

    /// The level of this name.
    pub fn level(&self, name: &str) -> Result<&GeoLevel> {
        self.levels.iter().find(|level| level.name == name).ok_or_else(|| {
            let has = format!("the release {} has", self.name);
            Error::unknown("level", name, &has, self.levels.iter().map(|level| &level.name))
        })
    }

    /// The counts that one record enters on each path, in the order of the file: the composition of all its counts when it is added.
    ///
    /// A dropped level's rho goes to the next kept level above, which keeps its own division among queries. Empty for a
    /// release without paths.
    pub fn path_compositions(&self) -> Result<Vec<Composition>> {
        let Some(paths) = &self.paths else { return Ok(Vec::new()) };
        paths.dropped.iter().map(|dropped| Composition::new(self.path_counts(dropped)?)).collect()
    }

    fn path_counts(&self, dropped: &[usize]) -> Result<Vec<Counts>> {
        if !dropped.is_empty() {
            // If a level carries another's rho, its noise is known only for discrete Gaussian noise.
            self.levels.iter().flat_map(|level| &level.queries).try_for_each(|query| query.sigma2().map(|_| ()))?;
        }
        let mut counts = Vec::new();
        for (index, level) in self.levels.iter().enumerate() {
            if dropped.contains(&index) {
                continue;
            }
            let absorbed = (index + 1..self.levels.len()).take_while(|below| dropped.contains(below));
            let rho = absorbed.fold(level.rho.clone(), |sum, below| sum + &self.levels[below].rho);
            // More rho by a factor is less noise by the same factor.
            let factor = Rational::from(&level.rho / &rho);
            for counted in level.counts(Neighbors::AddRemove)? {
                counts.push(counted.with_noise_times(&factor)?);
            }
        }
        Ok(counts)
    }

    /// The names of the levels that a path drops.
    pub fn dropped_names(&self, path: usize) -> Vec<&str> {
        let sets = self.paths.as_ref().and_then(|paths| paths.dropped.get(path));
        sets.map_or_else(Vec::new, |set| set.iter().map(|&index| self.levels[index].name.as_str()).collect())
    }

    /// The composition of the named levels, or of all levels if none is named; under the release's own neighbor
    /// relation or another. For a release with mixes it is that of one mix, with groups of both kinds:
    /// [`subject::Subject`] takes the worst.
    pub fn composition(&self, levels: &[impl AsRef<str>], neighbors: Option<Neighbors>) -> Result<Composition> {
        if self.budget_only {
            return Err(Error::BudgetOnly { release: self.name.clone() });
        }
        let (neighbors, places) = (neighbors.unwrap_or(self.neighbors), self.places(levels)?);
        self.composition_times(&places, neighbors, &|changed| changed.times(neighbors))
    }

    /// The same, each count counted `times` times.
    fn composition_times(
        &self,
        places: &[usize],
        neighbors: Neighbors,
        times: &dyn Fn(Changed) -> Result<u64>,
    ) -> Result<Composition> {
        let counts = self.counts_of(places, &self.typical(places), times)?;
        let unmoved = self.unmoved(places, neighbors);
        if counts.is_empty() && !unmoved.is_empty() {
            return Err(Error::NothingMoves { relation: neighbors.name(), queries: unmoved.join(", ") });
        }
        Composition::new(counts)
    }
}

/// The text of the bundled release or ledger of this name.
pub fn bundled_text(name: &str) -> Option<&'static str> {
    BUNDLED.iter().chain(ledger::BUNDLED).find(|(known, _)| *known == name).map(|(_, text)| *text)
}

const NO_FILE: &str = "no such file";

/// A name in a file as seen from the working directory: a bundled name unchanged, a path relative to the folder of the file that names it.
pub(crate) fn place_beside(name: &str, naming: &Path) -> String {
    let beside = naming.parent().unwrap_or(Path::new("")).join(name);
    let is_path = name.contains(['/', '\\']) || name.ends_with(".toml") || beside.exists();
    if bundled_text(name).is_none() && is_path { beside.display().to_string() } else { name.to_string() }
}

/// Whether a bundled release covers blocks of a state: those whose names end in `-us` cover the states and the District of Columbia,
/// those in `-pr` Puerto Rico. Others, and files, may cover any state.
#[cfg(feature = "mechanisms")]
pub(crate) fn covers_state(name: &str, state: u64) -> bool {
    match bundled_text(name) {
        Some(_) if name.ends_with("-us") => state <= 56,
        Some(_) if name.ends_with("-pr") => state == 72,
        _ => true,
    }
}

/// The text of a bundled file, or of the one at a path.
fn find_text(name_or_path: &str, bundled: &[(&str, &str)], kind: &'static str) -> Result<String> {
    if let Some((_, text)) = bundled.iter().find(|(name, _)| *name == name_or_path) {
        return Ok(text.to_string());
    }
    let path = Path::new(name_or_path);
    let is_path = name_or_path.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "toml");
    if !path.exists() && is_path {
        return Err(Error::File { path: path.to_path_buf(), why: NO_FILE.to_string() });
    }
    if !path.exists() {
        let has = "there is no file of this name, and bundled are";
        return Err(Error::unknown(kind, name_or_path, has, bundled.iter().map(|(name, _)| *name)));
    }
    read_text(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_releases_are_found_under_their_own_names() {
        for ((key, _), release) in BUNDLED.iter().zip(Release::bundled().unwrap()) {
            assert_eq!(*key, release.name);
            let composition = release.composition(&[] as &[&str], None);
            assert_eq!(composition.is_err(), release.budget_only, "{key}");
            assert!(composition.is_ok_and(|all| *all.rho() == release.rho) || release.budget_only, "{key}");
            // Dividing the budget among levels loses none: both sides of a changed record spend it all.
            for path in release.path_compositions().unwrap() {
                assert_eq!(Rational::from(&**path.rho() * 2_u32), release.rho, "{key}");
            }
        }
    }

    #[test]
    fn the_template_is_a_release() {
        let release = Release::parse(Release::template(), "template").unwrap();
        assert!(release.schema.is_some() && release.levels.len() > 1);
        assert!(release.composition(&[] as &[&str], None).is_ok());
    }

    #[test]
    fn the_paths_of_dhc_persons_are_the_published_ones() {
        let release = Release::find("dhc-persons-us").unwrap();
        let paths = release.path_compositions().unwrap();
        assert_eq!(paths.len(), 43);
        assert!(release.dropped_names(12).is_empty(), "path 13 drops nothing");
        // All 16 subsets of the levels that P.L. 94-171 may drop.
        assert_eq!(Release::find("pl94-persons-us").unwrap().path_compositions().unwrap().len(), 16);
    }

    #[test]
    fn the_release_of_the_paper_has_its_levels_and_noise() {
        let release = Release::find("su-su-wang-2025").unwrap();
        assert_eq!(release.levels.len(), 8);
        let state = release.level("State").unwrap();
        assert_eq!(*state.queries[0].sigma2().unwrap(), crate::numeric::rational::parse("10/2.0002").unwrap());
        let bounded = release.composition(&["State"], Some(Neighbors::Bounded)).unwrap();
        assert_eq!(*bounded.rho(), state.rho.clone() * 2_u32);
        let two = release.only(&["Block", "State"]).unwrap();
        assert_eq!(two.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>(), ["State", "Block"]);
        assert_eq!(two.rho, Rational::from(&state.rho + &release.level("Block").unwrap().rho));
        assert!(matches!(release.only(&["Moon"]), Err(Error::Unknown { kind: "level", .. })));
        assert!(matches!(release.level("Moon"), Err(Error::Unknown { kind: "level", .. })));
        assert!(matches!(Release::find("nosuch"), Err(Error::Unknown { kind: "release", .. })));
    }
}
