//! The TOML form of a release and its rules.

mod ways;

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{
    Changed, GeoLevel, Neighbors, Query, Release,
    published::{self, OneOrMany, PublishedFile},
    schema_file::{self, AttributeFile, RecodeFile, SelectionFile},
};
use crate::{
    account::Counts,
    error::Result,
    io::toml_reader::{Exact, TomlReader},
    loss::law::Law,
    numeric::rational,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseFile {
    name: Spanned<String>,
    title: String,
    source: Spanned<String>,
    neighbors: Spanned<String>,
    counts_as_given: Option<Spanned<bool>>,
    rho: Option<Spanned<Exact>>,
    sigma2_times_rho: Option<Spanned<Exact>>,
    #[serde(default)]
    published: OneOrMany<PublishedFile>,
    #[serde(default)]
    budget_only: bool,
    exact_total: Option<Spanned<String>>,
    #[serde(rename = "level")]
    levels: Vec<Spanned<LevelFile>>,
    paths: Option<Spanned<PathsFile>>,
    #[serde(default, rename = "mix")]
    mixes: Vec<Spanned<MixFile>>,
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
struct MixFile {
    name: Spanned<String>,
    levels: Vec<Spanned<String>>,
    groups: Spanned<Exact>,
    kind: Spanned<String>,
    most: Spanned<Exact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    name: Spanned<String>,
    proportion: Option<Spanned<Exact>>,
    rho: Option<Spanned<Exact>>,
    #[serde(rename = "query")]
    queries: Vec<Spanned<QueryFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryFile {
    name: Spanned<String>,
    proportion: Option<Spanned<Exact>>,
    rho: Option<Spanned<Exact>>,
    law: Option<Spanned<String>>,
    sigma2: Option<Spanned<Exact>>,
    epsilon: Option<Spanned<Exact>>,
    delta: Option<Spanned<Exact>>,
    bound: Option<Spanned<Exact>>,
    rate: Option<Spanned<Exact>>,
    answers: Option<Spanned<Exact>>,
    scale: Option<Spanned<Exact>>,
    times: Option<Spanned<Exact>>,
    cells: Option<Spanned<Exact>>,
    #[serde(alias = "shift")]
    sensitivity: Option<Spanned<Exact>>,
    rows: Option<Spanned<Exact>>,
    moves: Option<Spanned<Exact>>,
    kind: Option<Spanned<String>>,
}

pub(super) fn parse(text: &str, file: &str) -> Result<Release> {
    let reader = TomlReader::new(file, text);
    let raw = reader.toml()?;
    let release = ReleaseReader(&reader).release(raw)?;
    Ok(Release { sha256: hash(text), ..release })
}

/// The SHA-256 of a file's text, which certificates name; none in a library without the readers and writers of files.
#[cfg(feature = "mechanisms")]
fn hash(text: &str) -> Option<String> {
    Some(crate::io::provenance::sha256_of_text(text))
}

#[cfg(not(feature = "mechanisms"))]
fn hash(_: &str) -> Option<String> {
    None
}

/// Reads the parts of a release and checks its rules.
struct ReleaseReader<'a>(&'a TomlReader<'a>);

/// The common properties of the queries of a file.
struct Common {
    neighbors: Neighbors,
    /// sigma2 times rho of a query, if the file states it.
    factor: Option<Rational>,
    /// How often a changed record changes a count, by default.
    changed: Changed,
}

/// A part of a budget: its name, its place, and the whole of its proportion.
struct Part<'p> {
    at: usize,
    what: String,
    whole: Option<&'p Rational>,
    of_whole: &'static str,
}

impl ReleaseReader<'_> {
    /// The rho of a part: a proportion of the whole, or absolute; `None` if neither is given.
    fn share(
        &self,
        part: &Part,
        proportion: Option<&Spanned<Exact>>,
        rho: Option<&Spanned<Exact>>,
    ) -> Result<Option<Rational>> {
        let what = &part.what;
        match (proportion, rho) {
            (Some(proportion), None) => {
                let share = self.0.positive(proportion, &format!("the proportion of {what}"))?;
                let Some(whole) = part.whole else {
                    let why = format!("the proportion of {what} is one of what? give the rho of {}", part.of_whole);
                    return Err(self.0.refuse(proportion.span().start, why));
                };
                Ok(Some(share * whole))
            }
            (None, Some(rho)) => self.0.positive(rho, &format!("the rho of {what}")).map(Some),
            (None, None) => Ok(None),
            (Some(_), Some(_)) => {
                Err(self.0.refuse(part.at, format!("{what} has either a proportion or a rho, not both")))
            }
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
        let given = |field: &Option<Spanned<Exact>>, what: &str| {
            field.as_ref().map(|field| self.0.positive(field, what)).transpose()
        };
        let whole = given(&raw.rho, "rho")?;
        let neighbors = Neighbors::read(self.0, &raw.neighbors)?;
        let changed = self.counts_as_given(raw.counts_as_given.as_ref(), neighbors)?;
        let common = Common { neighbors, factor: given(&raw.sigma2_times_rho, "sigma2_times_rho")?, changed };
        self.0.no_duplicates(raw.levels.iter().map(|level| &level.get_ref().name), "level")?;
        let levels: Vec<GeoLevel> =
            raw.levels.iter().map(|level| self.level(level, whole.as_ref(), &common)).collect::<Result<_>>()?;
        if levels.is_empty() {
            return Err(self.0.refuse(0, "a release needs at least one [[level]]"));
        }
        let sum = levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        if let (Some(whole), Some(field)) = (&whole, &raw.rho) {
            self.adds_up(field.span().start, &sum, whole, "the shares of the levels")?;
        }
        let paths = raw.paths.as_ref().map(|paths| self.paths(paths, &levels)).transpose()?;
        if let Some(paths) = &raw.paths {
            self.moves_as_paths_do(paths.span().start, &levels)?;
        }
        let mixes = self.mixes(&raw, &levels)?;
        let schema = schema_file::schema(self.0, &raw.attributes, &raw.recodes, &raw.selections)?;
        if let Some(name) = raw.exact_total.as_ref().filter(|name| schema.is_none() || name.get_ref().is_empty()) {
            let why =
                "exact_total is the name of a constraint on the histogram, whose [[attribute]] are missing, or no name";
            return Err(self.0.refuse(name.span().start, why));
        }
        Ok(Release {
            paths,
            mixes,
            schema,
            published: published::read(self.0, &raw.published.0, &levels)?,
            budget_only: raw.budget_only,
            exact_total: raw.exact_total.map(Spanned::into_inner),
            name: raw.name.into_inner(),
            title: raw.title,
            source: raw.source.into_inner(),
            neighbors: common.neighbors,
            rho: sum,
            levels,
            sha256: None,
        })
    }

    /// The effect of `counts_as_given` on every count.
    fn counts_as_given(&self, field: Option<&Spanned<bool>>, neighbors: Neighbors) -> Result<Changed> {
        match (field, neighbors) {
            (Some(given), Neighbors::AddRemove) if *given.get_ref() => {
                let why = "counts_as_given is for neighbors = \"bounded\": a record more or less takes every count once anyway";
                Err(self.0.refuse(given.span().start, why))
            }
            (Some(given), Neighbors::Bounded) if *given.get_ref() => Ok(Changed::AsGiven),
            (Some(_) | None, Neighbors::AddRemove | Neighbors::Bounded) => Ok(Changed::Twice),
        }
    }

    /// How often a changed record changes a count of a query with `cells` cells: as the file states for all, or never.
    fn changed(&self, query: &QueryFile, what: &str, cells: u64, common: &Common) -> Result<Changed> {
        let Some(field) = &query.moves else { return Ok(common.changed) };
        let at = field.span().start;
        if self.0.number(field)? != 0 {
            let why = format!(
                "{what}: moves must be 0, where a changed record never leaves its cell; without it every cell is counted twice under bounded \
                 neighbors, once for the cell that the record leaves and once for the one that it enters"
            );
            return Err(self.0.refuse(at, why));
        }
        if cells != 1 {
            let why = format!(
                "{what}: moves = 0 is about the single cell that a record never leaves, and not about {cells} cells"
            );
            return Err(self.0.refuse(at, why));
        }
        if common.changed == Changed::AsGiven {
            let why = format!("{what}: with counts_as_given, a query whose counts do not move is left out of the file");
            return Err(self.0.refuse(at, why));
        }
        let share = query.proportion.as_ref().or(query.rho.as_ref());
        if let (Some(share), Neighbors::Bounded) = (share, common.neighbors) {
            let why = format!(
                "{what}: with moves = 0 and bounded neighbors it spends nothing: give its noise, and no share of the budget"
            );
            return Err(self.0.refuse(share.span().start, why));
        }
        Ok(Changed::Never)
    }

    fn level(&self, raw: &Spanned<LevelFile>, whole: Option<&Rational>, common: &Common) -> Result<GeoLevel> {
        let (name, level) = (&raw.get_ref().name, raw.get_ref());
        let (at, what) = (name.span().start, format!("the level {:?}", name.get_ref()));
        let part = Part { at, what: what.clone(), whole, of_whole: "the release, or of the level" };
        let rho = self.share(&part, level.proportion.as_ref(), level.rho.as_ref())?;
        self.0.no_duplicates(level.queries.iter().map(|query| &query.get_ref().name), "query")?;
        let queries: Vec<Query> =
            level.queries.iter().map(|query| self.query(query, rho.as_ref(), common)).collect::<Result<_>>()?;
        if queries.is_empty() {
            return Err(self.0.refuse(at, format!("{what} needs at least one [[level.query]]")));
        }
        let sums = GeoLevel::sums(&queries);
        let sum = sums.first().cloned().unwrap_or_default();
        for other in &sums[1..] {
            self.adds_up(at, other, &sum, &format!("the shares of the queries of each kind of {what}"))?;
        }
        if let Some(rho) = &rho {
            self.adds_up(at, &sum, rho, &format!("the shares of the queries of {what}"))?;
        }
        Ok(GeoLevel { name: name.get_ref().clone(), rho: sum, queries })
    }

    fn query(&self, raw: &Spanned<QueryFile>, whole: Option<&Rational>, common: &Common) -> Result<Query> {
        let (at, query) = (raw.get_ref().name.span().start, raw.get_ref());
        let what = format!("the query {:?}", query.name.get_ref());
        let whole_number = |field: &Option<Spanned<Exact>>, name: &str| {
            self.0.whole_or(field.as_ref(), 1, 1, &format!("{what}: {name}"))
        };
        let (times, cells) = (whole_number(&query.times, "times")?, whole_number(&query.cells, "cells")?);
        let (shift, free_rows) = self.shift(query, &what)?;
        let changed = self.changed(query, &what, cells, common)?;
        let taken = changed.times(common.neighbors)?;
        // `cells` counts that change by `shift` each spend cells shift^2 / (2 sigma2), each as often as it is counted.
        let needed = Rational::from(cells) * Rational::from(shift).square() * taken / 2_u32;
        let part = Part { at, what: what.clone(), whole, of_whole: "its level, or of the query" };
        let declared = self.share(&part, query.proportion.as_ref(), query.rho.as_ref())?;
        let law = self.law(query, declared.as_ref(), &needed)?;
        if law.is_sampled() && common.neighbors != Neighbors::AddRemove {
            return Err(self.0.refuse(
                at,
                format!("{what}: Poisson samples are accounted for under neighbors = \"add-remove\" only"),
            ));
        }
        if law.is_sampled() && cells != 1 {
            let why = format!(
                "{what}: the cells of a record enter a Poisson sample together, which is not the same as steps of their own: give cells = 1 with the change \
                 of the whole sum as sensitivity, and the number of steps as times"
            );
            return Err(self.0.refuse(at, why));
        }
        // A guarantee is about two neighbors, for every change between them.
        let changed = if law.is_guarantee() { Changed::Guaranteed } else { changed };
        let taken = changed.times(common.neighbors)?;
        if let Some(factor) =
            common.factor.as_ref().filter(|factor| taken > 0 && **factor != needed && is_gaussian(&law))
        {
            let moved = if shift == 1 { String::new() } else { format!(", each changed by {shift},") };
            let why = format!(
                "{what}: with {cells} cells a record{moved} and {} neighbors, sigma2_times_rho must be {needed} for the noise to spend the declared rho; it is {factor}",
                common.neighbors.name(),
            );
            return Err(self.0.refuse(at, why));
        }
        let counts = Counts::new(law.clone(), cells.saturating_mul(taken.max(1)), shift)
            .and_then(|counts| if free_rows { counts.with_free_rows() } else { Ok(counts) })
            .map_err(|why| self.0.refuse(at, format!("{what}: {why}")))?;
        let rho = if taken == 0 { Rational::new() } else { counts.rho() };
        if let Some(declared) = declared.filter(|declared| *declared != rho) {
            let (spent, declared) = (rational::display(&rho), rational::display(&declared));
            let why = format!("{what}: its noise spends rho = {spent}, and not {declared}: give one of them");
            return Err(self.0.refuse(at, why));
        }
        let (name, kind) = (query.name.get_ref().clone(), query.kind.as_ref().map(|kind| kind.get_ref().clone()));
        Ok(Query { name, rho, law, times, cells, shift, free_rows, changed, kind })
    }

    /// By how much one record changes a cell, or the number of rows that it moves at most, and whether it is that.
    fn shift(&self, query: &QueryFile, what: &str) -> Result<(u64, bool)> {
        let Some(rows) = &query.rows else {
            let shift = self.0.whole_or(query.sensitivity.as_ref(), 1, 1, &format!("{what}: sensitivity"))?;
            return Ok((shift, false));
        };
        let beside = [("cells", &query.cells), ("sensitivity", &query.sensitivity), ("moves", &query.moves)];
        if let Some((name, Some(field))) = beside.into_iter().find(|(_, field)| field.is_some()) {
            let why = format!("{what}: rows move among any of its cells by any number: give rows without {name}");
            return Err(self.0.refuse(field.span().start, why));
        }
        Ok((self.0.whole(rows, 1, &format!("{what}: rows"))?, true))
    }

    /// The law of the noise: with the given parameter, or with the sigma2 that spends the declared rho, which is
    /// `needed` / rho.
    fn law(&self, query: &QueryFile, declared: Option<&Rational>, needed: &Rational) -> Result<Law> {
        let (at, what) = (query.name.span().start, format!("the query {:?}", query.name.get_ref()));
        let (name, name_at) =
            query.law.as_ref().map_or((Law::KEYS[0], at), |law| (law.get_ref().as_str(), law.span().start));
        let mut taken: Vec<&str> = Vec::new();
        let law = Law::named(name, |parameter| {
            taken.push(parameter);
            let field = query.parameters().into_iter().find_map(|(name, field)| field.filter(|_| name == parameter));
            if let Some(field) = field {
                return self.0.positive(field, &format!("{parameter} of {what}"));
            }
            // The sigma2 that spends the declared rho.
            match declared.filter(|_| parameter == "sigma2" && is_of_rho(name)) {
                Some(rho) => Ok(Rational::from(needed / rho)),
                None if parameter == "sigma2" && is_of_rho(name) => {
                    Err(self.0.refuse(at, format!("{what} needs a sigma2, or else either a proportion or a rho")))
                }
                None => Err(self.0.refuse(at, format!("{what}: law = {name:?} needs its {parameter}"))),
            }
        });
        let Some(law) = law else {
            let [first, others @ .., last] = Law::KEYS;
            let others: String = others.iter().map(|key| format!(", {key:?}")).collect();
            return Err(self.0.refuse(name_at, format!("law = {name:?}: expected {first:?}{others} or {last:?}")));
        };
        let misplaced = query
            .parameters()
            .into_iter()
            .find_map(|(name, field)| Some((name, field.filter(|_| !taken.contains(&name))?)));
        match misplaced {
            None => law,
            Some((other, field)) => {
                let why = format!("{what}: law = {name:?} has no {other}: give its {}", taken.join(" and its "));
                Err(self.0.refuse(field.span().start, why))
            }
        }
    }
}

impl QueryFile {
    /// The parameters of laws by their names.
    fn parameters(&self) -> [(&'static str, Option<&Spanned<Exact>>); 7] {
        [
            ("sigma2", self.sigma2.as_ref()),
            ("epsilon", self.epsilon.as_ref()),
            ("delta", self.delta.as_ref()),
            ("bound", self.bound.as_ref()),
            ("rate", self.rate.as_ref()),
            ("answers", self.answers.as_ref()),
            ("scale", self.scale.as_ref()),
        ]
    }
}

/// Whether rho determines the variance of the law of this name: not where records are sampled.
fn is_of_rho(key: &str) -> bool {
    key != Law::SAMPLED_KEY
}

/// Whether rho and the variance are in inverse proportion.
fn is_gaussian(law: &Law) -> bool {
    law.sigma2().is_some()
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
        assert_eq!(*release.levels[1].queries[0].sigma2().unwrap(), 3);
        assert_eq!(*release.composition(&[] as &[&str], None).unwrap().rho(), 1);
    }

    /// Noise that is given directly: no budget is declared, and every number is plain.
    const OWN: &str = r#"name = "own"
title = "A mechanism of one's own"
source = "made up for a test"
neighbors = "bounded"

[[level]]
name = "State"
[[level.query]]
name = "total"
sigma2 = 2.5
times = 3
sensitivity = 2
[[level.query]]
name = "by age"
law = "discrete-laplace"
epsilon = 0.1
cells = 2

[[level]]
name = "County"
rho = 0.5
[[level.query]]
name = "total"
law = "gaussian"
proportion = 1
"#;

    #[test]
    fn noise_may_be_given_in_place_of_a_budget() {
        let release = parse(OWN, "own.toml").unwrap();
        let [state, county] = &release.levels[..] else { panic!("{release:?}") };
        // Two cells that change by 2: 2 * 4 / (2 * 2.5), and 2 * 2 cells of loss 0.1: 4 * 0.1^2 / 2.
        assert_eq!((&state.queries[0].rho, &state.queries[1].rho), (&Rational::from((8, 5)), &Rational::from((1, 50))));
        assert_eq!(state.rho, Rational::from((24, 5)) + Rational::from((1, 50)));
        assert_eq!(county.queries[0].law, Law::Gaussian { sigma2: Rational::from(2) });
        assert_eq!(release.rho, Rational::from(&state.rho + &county.rho));
        let composition = release.composition(&[] as &[&str], None).unwrap();
        assert_eq!(*composition.rho(), release.rho);
        assert_eq!(composition.counts()[0].to_string(), "discrete Gaussian 2.5x6@2");
        assert!(state.queries[0].sigma2().is_ok() && state.queries[1].sigma2().is_err());
        // The same noise with its rho.
        let both = OWN.replace("sigma2 = 2.5", "sigma2 = 2.5\nrho = 1.6").replace("sensitivity", "shift");
        assert_eq!(parse(&both, "own.toml").unwrap().rho, release.rho);
        let paths = parse(&(OWN.to_string() + "[paths]\nnote = \"n\"\ndroppable = [\"County\"]\n"), "own.toml");
        assert!(paths.unwrap_err().to_string().contains("line 26"));
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
            ("\"1/3\"", "0.333", "line 5, column 7: the shares of the levels add up to"),
            ("\"1/3\"", "[0.333]", "line 10, column 14"),
            ("rho = \"1\"\n", "", "line 9, column 14: the proportion of the level \"A\" is one of what? give the rho"),
            ("rho = \"2/3\"\n", "", "line 19, column 14: the proportion of the query \"q\""),
            ("times = 4", "times = 4\nsigma2 = 3.5", "its noise spends rho = 1/7, and not 1/6"),
            ("times = 4", "times = 4\nepsilon = 1", "line 22, column 11"),
            (
                "times = 4",
                "times = 4\nsensitivity = 2",
                "each changed by 2, and add-remove neighbors, sigma2_times_rho must be 2",
            ),
            ("times = 4", "times = 4\nsensitivity = 1.5", "a whole number, at least 1"),
            ("times = 4", "times = 4\nlaw = \"cauchy\"", "line 22, column 7: law = \"cauchy\": expected"),
            ("times = 4", "times = 4\nlaw = \"laplace\"", "needs its scale"),
            ("times = 4", "times = 4\nlaw = \"discrete-laplace\"", "needs its epsilon"),
            ("times = 4", "times = 4\nlaw = \"discrete-laplace\"\nsigma2 = 3", "line 23, column 10"),
            ("proportion = \"1/4\"\ntimes = 4", "times = 4", "needs a sigma2"),
            ("proportion = \"1/4\"\ntimes = 4", "sigma2 = 1e-9", "line 19, column 8: the query \"q\": sigma2 = 1e-9"),
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

    /// A mechanism under bounded neighbors, in which no record leaves the only cell of the first query.
    const STILL: &str = r#"name = "still"
title = "A total that does not move"
source = "made up for a test"
neighbors = "substitution"

[[level]]
name = "US"
[[level.query]]
name = "total"
sigma2 = 10
moves = 0

[[level]]
name = "State"
[[level.query]]
name = "total"
sigma2 = 10
"#;

    #[test]
    fn a_query_that_a_changed_record_never_leaves_spends_nothing() {
        let release = parse(STILL, "still.toml").unwrap();
        assert_eq!(release.neighbors, Neighbors::Bounded);
        assert_eq!((release.levels[0].rho.clone(), release.rho.clone()), (Rational::new(), Rational::from((1, 10))));
        let rho = |neighbors| release.composition(&[] as &[&str], Some(neighbors)).unwrap().rho().clone();
        // Added or removed it moves both.
        assert_eq!(
            (rho(Neighbors::Bounded), rho(Neighbors::AddRemove)),
            ("0.1".parse().unwrap(), "0.1".parse().unwrap())
        );
        assert!(release.composition(&["US"], None).unwrap_err().to_string().contains("epsilon is 0"));
        let again = parse(&release.to_toml(), "again.toml").unwrap();
        assert_eq!((again.rho, again.levels[0].queries[0].changed), (release.rho.clone(), Changed::Never));
        // The same counts, described for the relation.
        let given = STILL.replace("moves = 0\n", "").replace("\"substitution\"", "\"bounded\"\ncounts_as_given = true");
        let given = parse(&given, "given.toml").unwrap();
        assert_eq!(given.rho, Rational::from((1, 10)));
        assert!(given.composition(&["US"], Some(Neighbors::AddRemove)).is_err());
        assert_eq!(parse(&given.to_toml(), "again.toml").unwrap().rho, given.rho);
        assert!(
            release.shares_budget(Neighbors::Bounded).is_err() && release.shares_budget(Neighbors::AddRemove).is_ok()
        );
        for (from, to, says) in [
            ("moves = 0", "moves = 1", "line 11, column 9: the query \"total\": moves must be 0"),
            ("moves = 0", "moves = 0\ncells = 2", "the single cell"),
            ("moves = 0", "moves = 0\nrho = 0.1", "spends nothing"),
            ("\"substitution\"", "\"bounded\"\ncounts_as_given = true", "with counts_as_given"),
            ("\"substitution\"", "\"unbounded\"\ncounts_as_given = true", "line 5, column 19: counts_as_given is for"),
            (
                "[[level]]\nname = \"State\"",
                "[paths]\nnote = \"n\"\ndroppable = [\"State\"]\n[[level]]\nname = \"State\"",
                "moves = 0",
            ),
            ("substitution", "bound", "line 4, column 13: neighbors = \"bound\": expected add-remove"),
        ] {
            assert!(STILL.contains(from), "{from}");
            let message = parse(&STILL.replacen(from, to, 1), "still.toml").expect_err(to).to_string();
            assert!(message.contains(says), "{to}: {message}");
        }
    }

    #[test]
    fn rows_move_into_cells_of_any_choice() {
        let text = |query: &str| {
            format!(
                "name = \"n\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"add-remove\"\n[[level]]\nname = \"US\"\n\
                 [[level.query]]\nname = \"q\"\n{query}"
            )
        };
        let release = parse(&text("rows = 22\nrho = \"1/2\"\n"), "f").unwrap();
        let query = &release.levels[0].queries[0];
        assert_eq!((query.sigma2().unwrap(), query.shift, query.free_rows), (&Rational::from(484), 22, true));
        let counts = query.counts(Neighbors::Bounded).unwrap().unwrap();
        assert_eq!((counts.count, counts.shift, counts.free_rows), (2, 22, true));
        let again = parse(&release.to_toml(), "again").unwrap();
        assert!(again.levels[0].queries[0].free_rows && again.rho == release.rho);
        for (query, says) in [
            ("rows = 22\nsigma2 = 87\n", "line 8, column 8: the query \"q\": sigma2 = 87 is out of range: at least 88"),
            ("rows = 0\nrho = 1\n", "line 9, column 8"),
            ("rows = 2\ncells = 2\nrho = 1\n", "line 10, column 9: the query \"q\": rows move among any of its cells"),
            ("rows = 2\nsensitivity = 2\nrho = 1\n", "give rows without sensitivity"),
            ("rows = 2\nmoves = 0\nrho = 1\n", "give rows without moves"),
            ("rows = 2\nlaw = \"discrete-laplace\"\nepsilon = 1\n", "discrete Gaussian noise"),
        ] {
            let message = parse(&text(query), "f").expect_err(query).to_string();
            assert!(message.contains(says), "{query}: {message}");
        }
    }

    /// Two kinds of groups; either spends the budget of the level.
    const MIXED: &str = r#"name = "mixed"
title = "Groups of two kinds"
source = "made up for a test"
neighbors = "add-remove"

[[mix]]
name = "the nation"
levels = ["US"]
groups = 3
kind = "short"
most = 2

[[level]]
name = "US"
rho = "3/2"
[[level.query]]
name = "stages"
cells = 3
times = 2
rho = "3/4"
[[level.query]]
name = "once"
kind = "short"
cells = 3
rho = "3/2"

[[level]]
name = "State"
[[level.query]]
name = "total"
sigma2 = 5
"#;

    #[test]
    fn either_kind_of_groups_spends_the_budget_of_its_level() {
        let release = parse(MIXED, "mixed.toml").unwrap();
        assert_eq!(
            (release.levels[0].rho.clone(), release.rho.clone()),
            (Rational::from((3, 2)), Rational::from((8, 5)))
        );
        let mixes = release.mixes_at(&[0, 1], Neighbors::AddRemove).unwrap();
        assert_eq!(mixes.len(), 3);
        assert!(mixes.iter().all(|(_, mix)| **mix.rho() == release.rho), "{mixes:?}");
        assert_eq!(mixes[2].0, "2 of 3 groups short at the nation");
        let counts: Vec<String> = mixes[1].1.counts().iter().map(ToString::to_string).collect();
        assert_eq!(counts, ["discrete Gaussian 2x4@1", "discrete Gaussian 1x1@1", "discrete Gaussian 5x1@1"]);
        let again = parse(&release.to_toml(), "again.toml").unwrap();
        assert_eq!((&again.mixes, &again.rho), (&release.mixes, &release.rho));
        assert_eq!(release.only(&["State"]).unwrap().mixes, []);
        assert!(release.shares_budget(Neighbors::AddRemove).is_err());
        for (from, to, says) in [
            ("most = 2", "most = 4", "line 11, column 8: most = 4 is more than the 3 groups"),
            ("most = 2", "most = 0", "at least 1"),
            ("levels = [\"US\"]", "levels = [\"Moon\"]", "\"Moon\" is not a level of this release: US, State"),
            ("levels = [\"US\"]", "levels = []", "at least one level"),
            (
                "levels = [\"US\"]",
                "levels = [\"US\", \"State\"]",
                "line 30, column 8: the query \"total\" has cells = 1",
            ),
            ("kind = \"short\"\nmost", "kind = \"long\"\nmost", "the query \"once\" is of kind = \"short\""),
            ("groups = 3", "groups = 4", "the query \"stages\" has cells = 3"),
            ("rho = \"3/2\"\n\n", "rho = \"1\"\n\n", "of each kind of the level \"US\" add up to 2/3"),
            (
                "[[mix]]\nname = \"the nation\"\nlevels = [\"US\"]\ngroups = 3\nkind = \"short\"\nmost = 2\n",
                "",
                "no [[mix]] names its level",
            ),
            (
                "sigma2 = 5\n",
                "sigma2 = 5\n[paths]\nnote = \"n\"\ndroppable = [\"State\"]\n",
                "either [[mix]] or [paths]",
            ),
        ] {
            assert!(MIXED.contains(from), "{from}");
            let message = parse(&MIXED.replacen(from, to, 1), "mixed.toml").expect_err(to).to_string();
            assert!(message.contains(says), "{to}: {message}");
        }
        let many = MIXED.replace("groups = 3", "groups = 200").replace("most = 2", "most = 200");
        assert!(parse(&many, "mixed.toml").unwrap_err().to_string().contains("at most 128"));
    }
}
