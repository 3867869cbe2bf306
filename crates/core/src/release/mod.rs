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
//! | `noise_multiplier` | of steps of DP-SGD (`sampled-gaussian`), in place of sigma2: its square root |
//! | `epsilon` | the parameter of discrete Laplace noise, of mass proportional to exp(-epsilon abs(x)) |
//! | `times` | the number of queries like it (default 1) |
//! | `cells` | the number of its cells that one record affects (default 1) |
//! | `sensitivity` | the shift: by how much one record changes each of these cells (default 1) |
//! | `rows` | instead of `cells` and `sensitivity`: the number of rows of the query that one record moves at most, into cells of any choice; under bounded neighbors that many leave and that many enter ([`free_rows`](crate::account::free_rows)) |
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
//! | `unit` | whom an account is about, in words: a record or a group of them |
//! | `mod.rs` | a release, its levels and queries, and the composition of the counts that one record enters |
//! | `file`, `schema_file` | the TOML form and its rules |
//! | `levels` | a release as data: its levels, queries, paths and mixes |
//! | `bundled` | the releases and ledgers that come with the program |
//! | `own_recodes` | recodes of a user's own, in a file beside a release |
//! | `published` | published figures of a release |
//! | `written` | a release as such a file |
//! | [`schema`] | the histogram, and its query groups |
//! | `question` | what one record changes in a release, by which the account of the release is confirmed |
//! | [`subject`] | a mechanism to account for: a release, or counts given one by one |
//! | `accounted`, `resolved` | this mechanism as it was given, and its parts, queries and compositions |
//! | `calibrated` | a subject with other noise as a release of its own |
//! | `budgets` | the same queries with the budget divided differently among the levels |
//! | `derived` | the same release with other noise, or several times |
//! | [`columns`] | a release of the margins of a table, from the names and sizes of its columns |
//! | [`input`] | the release of a job, by name or in memory, and its record in a provenance |
//! | [`query_targets`] | the queries of a planned release, with weights and accuracy targets |

mod accounted;
mod budgets;
mod bundled;
mod calibrated;
pub mod columns;
mod derived;
mod file;
#[cfg(feature = "mechanisms")]
pub mod input;
mod levels;
mod mixes;
mod neighbors;
mod own_recodes;
mod published;
pub mod query_targets;
mod question;
mod resolved;
pub mod schema;
mod schema_file;
pub mod subject;
mod unit;
mod ways;
mod written;

use std::path::{Path, PathBuf};

use rug::Rational;

use self::bundled::{BUNDLED, NO_FILE};
#[cfg(feature = "mechanisms")]
#[doc(hidden)]
pub use self::bundled::{LEDGERS, covers_state};
#[doc(hidden)]
pub use self::bundled::{find_text, place_beside};
#[cfg(feature = "mechanisms")]
#[doc(hidden)]
pub use self::resolved::is_guarantee;
pub use self::{
    bundled::bundled_text,
    levels::{GeoLevel, Mix, Paths, Published, Query, Release},
    neighbors::{Changed, Neighbors},
    unit::Unit,
};
use crate::{
    account::{Composition, Counts},
    error::{Error, Result},
};

impl Release {
    /// All bundled releases.
    pub fn bundled() -> Result<Vec<Release>> {
        BUNDLED.iter().map(|(name, text)| Release::parse(text, name)).collect()
    }

    /// The bundled release of this name, or the one in the file of this path.
    pub fn find(name_or_path: &str) -> Result<Release> {
        let text = find_text(name_or_path, BUNDLED, "release")?;
        if text.trim_start().starts_with('{') {
            let why = "is JSON, and a release file is TOML; a certificate of a SafeTab run is entered into a ledger (safetab = its path)";
            return Err(Error::File { path: PathBuf::from(name_or_path), why: why.to_string() });
        }
        Release::parse(&text, name_or_path)
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
        include_str!(concat!(env!("ASSAY_FILES"), "/data/templates/release.toml"))
    }

    /// This release with only the named levels, in the order of the release; with all of them if none is named. Without some of
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
        Ok(self.path_counts_by_query(dropped)?.into_iter().flat_map(|(_, _, counts)| counts).collect())
    }

    /// The counts that one record enters on a path without these levels: of each query, with the number of its level.
    #[doc(hidden)]
    pub fn path_counts_by_query(&self, dropped: &[usize]) -> Result<Vec<(usize, &Query, Vec<Counts>)>> {
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
            for query in &level.queries {
                let own = query.counts(Neighbors::AddRemove)?;
                let own = own.iter().map(|counted| counted.with_noise_times(&factor)).collect::<Result<_>>()?;
                counts.push((index, query, own));
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
    #[doc(hidden)]
    pub fn composition_times(
        &self,
        places: &[usize],
        neighbors: Neighbors,
        times: &dyn Fn(Changed) -> Result<u64>,
    ) -> Result<Composition> {
        let counts = self.counts_of(places, &self.typical(places), neighbors, times)?;
        let unmoved = self.unmoved(places, neighbors);
        if counts.is_empty() && !unmoved.is_empty() {
            return Err(Error::NothingMoves { relation: neighbors.name(), queries: unmoved.join(", ") });
        }
        Composition::new(counts)
    }
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
