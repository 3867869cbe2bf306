//! Releases: levels of geography, queries, budgets and a neighbor relation, and the composition they amount to.
//!
//! A release is a TOML file of exact fractions (`data/releases/*.toml` are bundled):
//!
//! | field | meaning |
//! | --- | --- |
//! | `name`, `title`, `source` | what it is called, and where each figure comes from |
//! | `neighbors` | `add-remove` (one record more or less) or `bounded` (one record changed) |
//! | `rho` | the zCDP budget of the whole release |
//! | `sigma2_times_rho` | sigma2 = this / rho of the query: 1/2 for add-remove, 1 for bounded, 1/2 times the cells |
//! | `[[level]]` `name`, `proportion` or `rho` | a geolevel and its share of the budget, relative or absolute |
//! | `[[level.query]]` `name`, `proportion` or `rho`, `times`, `cells` | a query and its share of the level; so many like it (default 1); so many cells that one record touches in it (default 1) |
//!
//! All shares must add up exactly, and the noise must spend exactly the declared rho under the release's own neighbor
//! relation: a file that breaks a rule is refused with its line.

mod file;

use std::path::Path;

use rug::Rational;

use crate::{
    account::{Composition, Counts},
    error::{Error, Result},
};

/// The bundled releases, as they stand in data/releases.
const BUNDLED: &[(&str, &str)] = &[("su-su-wang-2025", include_str!("../../data/releases/su-su-wang-2025.toml"))];

/// Which data sets are neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbors {
    /// One record more or less: it leaves or enters one cell of each query.
    AddRemove,
    /// One record changed: it leaves one cell and enters another.
    Bounded,
}

impl Neighbors {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Neighbors::AddRemove => "add-remove",
            Neighbors::Bounded => "bounded",
        }
    }

    /// How many cells of a query differ for each cell that a record is in.
    fn cells(self) -> u64 {
        match self {
            Neighbors::AddRemove => 1,
            Neighbors::Bounded => 2,
        }
    }
}

/// A query, or several alike.
#[derive(Clone, Debug)]
pub struct Query {
    /// Its name.
    pub name: String,
    /// The zCDP rho of each.
    pub rho: Rational,
    /// The variance proxy of the noise on each of its counts.
    pub sigma2: Rational,
    /// How many queries alike there are.
    pub times: u64,
    /// How many cells of it one record is in.
    pub cells: u64,
}

/// A geolevel.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Its zCDP rho.
    pub rho: Rational,
    /// Its queries.
    pub queries: Vec<Query>,
}

impl Level {
    /// What a change of one record reveals at this level.
    pub fn counts(&self, neighbors: Neighbors) -> Result<Vec<Counts>> {
        (self.queries.iter())
            .map(|query| {
                let count = query.times.saturating_mul(query.cells).saturating_mul(neighbors.cells());
                Counts::discrete_gaussian(query.sigma2.clone(), count, 1)
            })
            .collect()
    }
}

/// A release of noisy counts: what was asked at which level, with which budget.
///
/// ```
/// use dp_assay::{numeric::rational::parse, release::Release};
/// let dhc = Release::find("su-su-wang-2025")?;
/// let state = dhc.composition(&["State"], None)?;
/// let epsilon = state.epsilon(&parse("1e-11")?, 12)?.value;
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
    pub levels: Vec<Level>,
}

impl Release {
    /// All bundled releases.
    pub fn bundled() -> Result<Vec<Release>> {
        BUNDLED.iter().map(|(name, text)| Release::parse(text, name)).collect()
    }

    /// The bundled release of this name, or the one in the file of this path.
    pub fn find(name_or_path: &str) -> Result<Release> {
        if let Some((name, text)) = BUNDLED.iter().find(|(name, _)| *name == name_or_path) {
            return Release::parse(text, name);
        }
        let path = Path::new(name_or_path);
        if !path.exists() {
            let known = BUNDLED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownRelease { name: name_or_path.to_string(), known });
        }
        let text = std::fs::read_to_string(path)
            .map_err(|why| Error::File { path: path.to_path_buf(), why: why.to_string() })?;
        Release::parse(&text, name_or_path)
    }

    /// Reads a release from the text of a TOML file; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<Release> {
        file::parse(text, file)
    }

    /// The level of this name.
    pub fn level(&self, name: &str) -> Result<&Level> {
        self.levels.iter().find(|level| level.name == name).ok_or_else(|| Error::UnknownLevel {
            level: name.to_string(),
            release: self.name.clone(),
            known: self.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// What the named levels reveal together, or all levels where none is named; under the release's own neighbor
    /// relation or another.
    pub fn composition(&self, levels: &[impl AsRef<str>], neighbors: Option<Neighbors>) -> Result<Composition> {
        let neighbors = neighbors.unwrap_or(self.neighbors);
        let chosen: Vec<&Level> = if levels.is_empty() {
            self.levels.iter().collect()
        } else {
            levels.iter().map(|name| self.level(name.as_ref())).collect::<Result<_>>()?
        };
        let counts: Vec<Vec<Counts>> = chosen.iter().map(|level| level.counts(neighbors)).collect::<Result<_>>()?;
        Composition::new(counts.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_releases_are_found_under_their_own_names() {
        for ((key, _), release) in BUNDLED.iter().zip(Release::bundled().unwrap()) {
            assert_eq!(*key, release.name);
            assert_eq!(*release.composition(&[] as &[&str], None).unwrap().rho(), release.rho);
        }
    }

    #[test]
    fn the_release_of_the_paper_has_its_levels_and_noise() {
        let release = Release::find("su-su-wang-2025").unwrap();
        assert_eq!(release.levels.len(), 8);
        let state = release.level("State").unwrap();
        assert_eq!(state.queries[0].sigma2, crate::numeric::rational::parse("10/2.0002").unwrap());
        let bounded = release.composition(&["State"], Some(Neighbors::Bounded)).unwrap();
        assert_eq!(*bounded.rho(), state.rho.clone() * 2_u32);
        assert!(matches!(release.level("Moon"), Err(Error::UnknownLevel { .. })));
        assert!(matches!(Release::find("nosuch"), Err(Error::UnknownRelease { .. })));
    }
}
