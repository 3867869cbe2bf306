//! Ledgers: releases about the same records, as a TOML file.
//!
//! | field | meaning |
//! | --- | --- |
//! | `name`, `title`, `source` | its name and its source |
//! | `rule` | the releases that compose, in words |
//! | `[[population]]` `name`, `neighbors`, `releases` | records of one kind, the relation of their account, and the releases (bundled names, or files beside the ledger) that one record enters |

use std::path::Path;

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{
    Changed, Neighbors, Release,
    bundled::{LEDGERS, find_text, place_beside},
};
use crate::{
    account::{
        Composition, Rho,
        ledger::{Entry, Ledger},
    },
    error::{Error, Result},
    io::toml_reader::TomlReader,
    loss::family::Units,
};

/// A ledger file, read.
#[derive(Clone, Debug)]
pub struct LedgerFile {
    /// Its name.
    pub name: String,
    /// Its description, in a line.
    pub title: String,
    /// The releases that compose.
    pub rule: String,
    /// The populations, each with its own account.
    pub populations: Vec<Population>,
}

/// Records of one kind and the releases that one of them enters.
#[derive(Clone, Debug)]
pub struct Population {
    /// The kind of the records.
    pub name: String,
    /// The relation of the account.
    pub neighbors: Neighbors,
    /// The releases.
    pub releases: Vec<Release>,
    /// The name of each release if it is bundled, or its path.
    pub places: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    title: String,
    source: Spanned<String>,
    rule: Spanned<String>,
    #[serde(rename = "population")]
    populations: Vec<Spanned<RawPopulation>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPopulation {
    name: Spanned<String>,
    neighbors: Spanned<String>,
    releases: Vec<Spanned<String>>,
}

impl LedgerFile {
    /// The bundled ledger of this name, or the one in the file of this path.
    pub fn find(name_or_path: &str) -> Result<LedgerFile> {
        LedgerFile::parse(&find_text(name_or_path, LEDGERS, "ledger")?, name_or_path)
    }

    /// The text of the bundled ledger of this name, with its comments, or of the file of this path.
    pub fn text(name_or_path: &str) -> Result<String> {
        find_text(name_or_path, LEDGERS, "ledger")
    }

    /// Reads a ledger from the text of a TOML file; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<LedgerFile> {
        let reader = TomlReader::new(file, text);
        let raw: Raw = reader.toml()?;
        for text in [&raw.source, &raw.rule] {
            if text.get_ref().trim().is_empty() {
                return Err(reader.refuse(text.span().start, "must not be empty"));
            }
        }
        if raw.populations.is_empty() {
            return Err(reader.refuse_file("a ledger needs at least one [[population]]"));
        }
        reader.no_duplicates(raw.populations.iter().map(|population| &population.get_ref().name), "population")?;
        let populations = raw.populations.iter().map(|raw| population(&reader, raw)).collect::<Result<_>>()?;
        Ok(LedgerFile { name: raw.name, title: raw.title, rule: raw.rule.into_inner(), populations })
    }
}

fn population(reader: &TomlReader, raw: &Spanned<RawPopulation>) -> Result<Population> {
    let at = raw.span().start;
    let raw = raw.get_ref();
    let neighbors = Neighbors::read(reader, &raw.neighbors)?;
    if raw.releases.is_empty() {
        return Err(reader.refuse(at, format!("the population {:?} needs at least one release", raw.name.get_ref())));
    }
    reader.no_duplicates(raw.releases.iter(), "release")?;
    let mut releases = Vec::new();
    let place = |name: &Spanned<String>| place_beside(name.get_ref(), Path::new(reader.file()));
    let places = raw.releases.iter().map(place).collect();
    for name in &raw.releases {
        let refuse = |why: String| reader.refuse(name.span().start, why);
        let release = Release::find_beside(name.get_ref(), Path::new(reader.file()))
            .map_err(|error| refuse(error.to_string()))?;
        if neighbors == Neighbors::AddRemove && release.neighbors == Neighbors::Bounded {
            return Err(refuse(format!(
                "{} protects a change of one record and publishes its total without noise, so it says nothing about one \
                 record more or less; use neighbors = \"bounded\"",
                release.name
            )));
        }
        releases.push(release);
    }
    Ok(Population { name: raw.name.get_ref().clone(), neighbors, releases, places })
}

impl Population {
    /// The account of the population.
    pub fn ledger(&self) -> Result<Ledger> {
        let entries = self.releases.iter().map(|release| self.entry(release)).collect::<Result<_>>()?;
        let units = if self.has_sides() { Units::Pairs } else { Units::Single };
        Ledger::new(entries, units)
    }

    /// Whether a release's own guarantee is about another relation than the population's.
    pub fn converts(&self, release: &Release) -> bool {
        release.neighbors != self.neighbors
    }

    /// Whether the counts of a changed record are a pair, those that it leaves and those that it enters. Counts that are given for
    /// bounded neighbors are both at once; then every release is treated in this way.
    fn has_sides(&self) -> bool {
        let mut queries = self.releases.iter().flat_map(|release| &release.levels).flat_map(|level| &level.queries);
        self.neighbors == Neighbors::Bounded && queries.all(|query| query.changed != Changed::AsGiven)
    }

    fn entry(&self, release: &Release) -> Result<Entry> {
        let name = release.name.clone();
        if release.budget_only {
            // A change is one record less and one more, so a budget for one of these is spent twice.
            let times = if self.converts(release) { 2_u32 } else { 1 };
            let rho = Rho::new(Rational::from(&release.rho * times))?;
            return Ok(Entry { name, paths: Vec::new(), mixes: Vec::new(), rho });
        }
        let (names, paths): (Vec<String>, Vec<Composition>) = self.ways(release)?.into_iter().unzip();
        if paths.len() > 1 && self.neighbors == Neighbors::Bounded && !self.has_sides() {
            let expected = "a population without counts_as_given: its counts have no side that a record leaves or enters, as block paths and \
                            mixes of groups need it";
            return Err(Error::malformed("the release", &name, expected));
        }
        let largest = paths.iter().map(Composition::rho).max().ok_or(Error::EmptyComposition)?;
        let sides = if self.has_sides() { 2_u32 } else { 1 };
        let rho = Rho::new(Rational::from(&**largest * sides))?;
        let mixes = if release.mixes.is_empty() { Vec::new() } else { names };
        Ok(Entry { name, paths, mixes, rho })
    }

    /// The counts that a record enters, in each of several ways or in one; one side of a pair if counts have sides.
    fn ways(&self, release: &Release) -> Result<Vec<(String, Composition)>> {
        if release.paths.is_some() {
            let paths = release.path_compositions()?;
            return Ok(paths.into_iter().map(|path| (String::new(), path)).collect());
        }
        let all = release.places(&[] as &[&str])?;
        if !release.mixes.is_empty() {
            return release.mixes_at(&all, self.neighbors);
        }
        let (neighbors, has_sides) = (self.neighbors, self.has_sides());
        let times = move |changed: Changed| match has_sides {
            true => changed.times_a_side(neighbors),
            false => changed.times(neighbors),
        };
        Ok(vec![(String::new(), release.composition_times(&all, neighbors, &times)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_ledger_spends_what_its_releases_spend() {
        let file = LedgerFile::find("us-2020-persons").unwrap();
        assert_eq!(file.populations.len(), 2);
        for population in &file.populations {
            for (entry, release) in population.ledger().unwrap().entries().iter().zip(&population.releases) {
                assert_eq!(entry.paths.is_empty(), release.budget_only);
                // Two sides of a changed record.
                assert!(
                    entry.paths.iter().all(|path| entry.rho == Rational::from(&**path.rho() * 2_u32)),
                    "{}",
                    entry.name
                );
                let doubled = release.neighbors == Neighbors::AddRemove;
                assert_eq!(entry.rho, release.rho.clone() * if doubled { 2_u32 } else { 1 });
            }
        }
    }

    #[test]
    fn a_file_that_breaks_a_rule_is_refused_with_its_line() {
        let good = "name='a'\ntitle='a'\nsource='a'\nrule='r'\n[[population]]\nname='p'\nneighbors='bounded'\nreleases=['dhc-persons-us']\n";
        assert!(LedgerFile::parse(good, "f").is_ok());
        for (from, to, line) in [
            ("rule='r'", "rule=''", 4),
            ("rule='r'", "rules='r'", 4),
            ("'bounded'", "'none'", 7),
            ("'bounded'", "'add-remove'", 8),
            ("['dhc-persons-us']", "[]", 5),
            ("['dhc-persons-us']", "['dhc-persons-us', 'dhc-persons-us']", 8),
            ("'dhc-persons-us'", "'nosuch'", 8),
        ] {
            match LedgerFile::parse(&good.replace(from, to), "f") {
                Err(Error::DataFile { line: at, .. }) => assert_eq!(at, line, "{to}"),
                other => panic!("{to}: {other:?}"),
            }
        }
    }
}
