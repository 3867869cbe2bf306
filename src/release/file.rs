//! The TOML form of a release and its rules.

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{
    GeoLevel, Neighbors, Paths, Query, Release,
    schema_file::{self, AttributeFile, RecodeFile, SelectionFile},
};
use crate::{error::Result, numeric::rational, toml_reader::TomlReader};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseFile {
    name: Spanned<String>,
    title: String,
    source: Spanned<String>,
    neighbors: Spanned<String>,
    rho: Spanned<String>,
    sigma2_times_rho: Spanned<String>,
    #[serde(default)]
    budget_only: bool,
    #[serde(rename = "level")]
    levels: Vec<Spanned<LevelFile>>,
    paths: Option<Spanned<PathsFile>>,
    #[serde(default, rename = "attribute")]
    attributes: Vec<AttributeFile>,
    #[serde(default, rename = "recode")]
    recodes: Vec<RecodeFile>,
    #[serde(default, rename = "selection")]
    selections: Vec<SelectionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathsFile {
    note: String,
    droppable: Vec<Spanned<String>>,
    dropped: Option<Vec<Spanned<Vec<String>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    name: Spanned<String>,
    proportion: Option<Spanned<String>>,
    rho: Option<Spanned<String>>,
    #[serde(rename = "query")]
    queries: Vec<Spanned<QueryFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryFile {
    name: Spanned<String>,
    proportion: Option<Spanned<String>>,
    rho: Option<Spanned<String>>,
    #[serde(default = "one")]
    times: u64,
    #[serde(default = "one")]
    cells: u64,
}

fn one() -> u64 {
    1
}

pub(super) fn parse(text: &str, file: &str) -> Result<Release> {
    let reader = TomlReader::new(file, text);
    let raw = reader.toml()?;
    ReleaseReader(&reader).release(raw)
}

/// Reads the parts of a release and checks its rules.
struct ReleaseReader<'a>(&'a TomlReader<'a>);

impl ReleaseReader<'_> {
    /// The rho of a part: a proportion of the whole, or given absolutely; exactly one of the two.
    fn share(
        &self,
        at: usize,
        what: &str,
        whole: &Rational,
        proportion: Option<&Spanned<String>>,
        rho: Option<&Spanned<String>>,
    ) -> Result<Rational> {
        match (proportion, rho) {
            (Some(proportion), None) => Ok(self.0.positive(proportion, &format!("the proportion of {what}"))? * whole),
            (None, Some(rho)) => self.0.positive(rho, &format!("the rho of {what}")),
            _ => Err(self.0.refuse(at, format!("{what} needs either a proportion or a rho"))),
        }
    }

    fn adds_up(&self, at: usize, sum: &Rational, whole: &Rational, what: &str) -> Result<()> {
        if sum == whole {
            return Ok(());
        }
        let share = rational::display(&Rational::from(sum / whole));
        let why = format!("{what} add up to {share} of the whole, but must add up to exactly 1");
        Err(self.0.refuse(at, why))
    }

    fn release(&self, raw: ReleaseFile) -> Result<Release> {
        for text in [&raw.name, &raw.source] {
            if text.get_ref().trim().is_empty() {
                return Err(self.0.refuse(text.span().start, "a release needs a name and the source of its figures"));
            }
        }
        let neighbors = Neighbors::read(self.0, &raw.neighbors)?;
        let rho = self.0.positive(&raw.rho, "rho")?;
        let factor = self.0.positive(&raw.sigma2_times_rho, "sigma2_times_rho")?;
        self.0.no_duplicates(raw.levels.iter().map(|level| &level.get_ref().name), "level")?;
        let levels: Vec<GeoLevel> =
            (raw.levels.iter()).map(|level| self.level(level, &rho, &factor, neighbors)).collect::<Result<_>>()?;
        if levels.is_empty() {
            return Err(self.0.refuse(0, "a release needs at least one [[level]]"));
        }
        let sum = levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        self.adds_up(raw.rho.span().start, &sum, &rho, "the shares of the levels")?;
        let paths = raw.paths.as_ref().map(|paths| self.paths(paths, &levels)).transpose()?;
        let schema = schema_file::schema(self.0, &raw.attributes, &raw.recodes, &raw.selections)?;
        Ok(Release {
            paths,
            schema,
            budget_only: raw.budget_only,
            name: raw.name.into_inner(),
            title: raw.title,
            source: raw.source.into_inner(),
            neighbors,
            rho,
            levels,
        })
    }

    fn paths(&self, raw: &Spanned<PathsFile>, levels: &[GeoLevel]) -> Result<Paths> {
        /// All subsets of more levels would be too many pairs.
        const MOST_DROPPABLE: usize = 7;
        let (at, paths) = (raw.span().start, raw.get_ref());
        let index = |name: &str, at: usize| {
            let found = levels.iter().position(|level| level.name == name).filter(|&index| index > 0);
            found.ok_or_else(|| {
                self.0.refuse(at, format!("{name:?} is not a level below the first, which keeps its own"))
            })
        };
        self.0.no_duplicates(paths.droppable.iter(), "droppable level")?;
        let droppable: Vec<usize> =
            (paths.droppable.iter()).map(|name| index(name.get_ref(), name.span().start)).collect::<Result<_>>()?;
        if droppable.len() > MOST_DROPPABLE {
            return Err(self.0.refuse(at, format!("at most {MOST_DROPPABLE} levels can be droppable")));
        }
        let Some(sets) = &paths.dropped else {
            let subset = |bits: usize| (0..droppable.len()).filter(move |k| bits >> k & 1 == 1);
            let subsets = (0..1 << droppable.len()).map(|bits| subset(bits).map(|k| droppable[k]).collect());
            return Ok(Paths { note: paths.note.clone(), dropped: subsets.collect() });
        };
        let mut dropped: Vec<Vec<usize>> = Vec::new();
        for set in sets {
            let at = set.span().start;
            let mut indices: Vec<usize> = set.get_ref().iter().map(|name| index(name, at)).collect::<Result<_>>()?;
            if let Some(fixed) = indices.iter().find(|index| !droppable.contains(index)) {
                return Err(self.0.refuse(at, format!("{:?} is not among the droppable levels", levels[*fixed].name)));
            }
            indices.sort_unstable();
            if indices.windows(2).any(|pair| pair[0] == pair[1]) || dropped.contains(&indices) {
                return Err(self.0.refuse(at, "a level or a set of dropped levels occurs twice"));
            }
            dropped.push(indices);
        }
        if dropped.is_empty() {
            return Err(self.0.refuse(at, "dropped names no path; the empty set [] is the path that drops nothing"));
        }
        Ok(Paths { note: paths.note.clone(), dropped })
    }

    fn level(
        &self,
        raw: &Spanned<LevelFile>,
        whole: &Rational,
        factor: &Rational,
        neighbors: Neighbors,
    ) -> Result<GeoLevel> {
        let (at, level) = (raw.get_ref().name.span().start, raw.get_ref());
        let what = format!("the level {:?}", level.name.get_ref());
        let rho = self.share(at, &what, whole, level.proportion.as_ref(), level.rho.as_ref())?;
        self.0.no_duplicates(level.queries.iter().map(|query| &query.get_ref().name), "query")?;
        let queries: Vec<Query> =
            (level.queries.iter()).map(|query| self.query(query, &rho, factor, neighbors)).collect::<Result<_>>()?;
        let sum = queries.iter().fold(Rational::new(), |sum, query| sum + Rational::from(&query.rho * query.times));
        self.adds_up(at, &sum, &rho, &format!("the shares of the queries of {what}"))?;
        Ok(GeoLevel { name: level.name.get_ref().clone(), rho, queries })
    }

    fn query(
        &self,
        raw: &Spanned<QueryFile>,
        whole: &Rational,
        factor: &Rational,
        neighbors: Neighbors,
    ) -> Result<Query> {
        let (at, query) = (raw.get_ref().name.span().start, raw.get_ref());
        let what = format!("the query {:?}", query.name.get_ref());
        if query.times == 0 || query.cells == 0 {
            return Err(self.0.refuse(at, format!("{what}: times and cells must be at least 1")));
        }
        let rho = self.share(at, &what, whole, query.proportion.as_ref(), query.rho.as_ref())?;
        // `cells` counts that change by 1 each spend cells / (2 sigma2), under bounded neighbors twice that.
        let needed = Rational::from((query.cells, 2_u32)) * neighbors.cells();
        if *factor != needed {
            let why = format!(
                "{what}: with {} cells a record and {} neighbors, sigma2_times_rho must be {needed} for the noise to spend the declared rho; it is {factor}",
                query.cells,
                neighbors.name(),
            );
            return Err(self.0.refuse(at, why));
        }
        let sigma2 = Rational::from(factor / &rho);
        Ok(Query { name: query.name.get_ref().clone(), rho, sigma2, times: query.times, cells: query.cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"name = "two"
title = "Two levels"
source = "made up for a test"
neighbors = "add-remove"
rho = "1"
sigma2_times_rho = "1/2"

[[level]]
name = "A"
proportion = "1/3"
[[level.query]]
name = "q"
proportion = "1"

[[level]]
name = "B"
rho = "2/3"
[[level.query]]
name = "q"
proportion = "1/4"
times = 4
"#;

    fn refused(change: impl Fn(&str) -> String) -> String {
        parse(&change(GOOD), "two.toml").expect_err("the file was accepted").to_string()
    }

    #[test]
    fn a_good_file_is_read_exactly() {
        let release = parse(GOOD, "two.toml").unwrap();
        assert_eq!(release.levels[1].queries[0].sigma2, 3);
        assert_eq!(*release.composition(&[] as &[&str], None).unwrap().rho(), 1);
    }

    #[test]
    fn every_broken_rule_is_refused_with_its_line() {
        for (from, to, says) in [
            ("title =", "titel =", "line 2"),
            ("name = \"B\"", "name = \"A\"", "line 16, column 8: the level \"A\" occurs twice"),
            ("proportion = \"1/3\"", "proportion = \"1/4\"", "add up to 11/12"),
            ("proportion = \"1/4\"", "proportion = \"1/5\"", "line 16"),
            ("source = \"made up for a test\"\n", "", "missing field `source`"),
            ("made up for a test", " ", "source"),
            ("\"1/3\"", "\"1/0\"", "line 10, column 14"),
            ("\"1/3\"", "\"-1/3\"", "above 0"),
            ("\"1/3\"", "0.333", "line 10"),
            ("times = 4", "times = 0", "at least 1"),
            ("times = 4", "times = 4\ncells = 9", "sigma2_times_rho must be 9/2"),
            ("add-remove", "swap", "line 4, column 13"),
            ("rho = \"2/3\"", "rho = \"2/3\"\nproportion = \"2/3\"", "either a proportion or a rho"),
            ("sigma2_times_rho = \"1/2\"", "sigma2_times_rho = \"1\"", "1/2"),
            ("[[level]]", "[[level", "line 8"),
            ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = [\"C\"]\n", "line 24, column 14"),
            ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = [\"A\"]\n", "below the first"),
            ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = []\ndropped = [[\"B\"]]\n", "not among"),
            ("times = 4\n", "times = 4\n[paths]\nnote = \"n\"\ndroppable = [\"B\"]\ndropped = [[], []]\n", "twice"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let message = refused(|good| good.replacen(from, to, 1));
            assert!(message.contains(says) && message.contains("two.toml"), "{from} -> {to}: {message}");
        }
    }
}
