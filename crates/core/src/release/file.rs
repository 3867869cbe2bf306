//! The TOML form of a release and its rules.

mod query_file;
mod ways;

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use self::query_file::{NOISE_MULTIPLIER, QueryFile};
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
        let Some(field) = query.number("moves") else { return Ok(common.changed) };
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
        let share = query.number("proportion").or(query.number("rho"));
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
        let whole_number = |name: &str| self.0.whole_or(query.number(name), 1, 1, &format!("{what}: {name}"));
        let (times, cells) = (whole_number("times")?, whole_number("cells")?);
        let (shift, free_rows) = self.shift(query, &what)?;
        let changed = self.changed(query, &what, cells, common)?;
        let taken = changed.times(common.neighbors)?;
        // `cells` counts that change by `shift` each spend cells shift^2 / (2 sigma2), each as often as it is counted.
        let needed = Rational::from(cells) * Rational::from(shift).square() * taken / 2_u32;
        let part = Part { at, what: what.clone(), whole, of_whole: "its level, or of the query" };
        let declared = self.share(&part, query.number("proportion"), query.number("rho"))?;
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
        let Some(rows) = query.number("rows") else {
            let shift = self.0.whole_or(query.number("sensitivity"), 1, 1, &format!("{what}: sensitivity"))?;
            return Ok((shift, false));
        };
        let beside = ["cells", "sensitivity", "moves"];
        if let Some((name, field)) = beside.into_iter().find_map(|name| Some((name, query.number(name)?))) {
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
            query.law.as_ref().map_or((Law::DEFAULT_KEY, at), |law| (law.get_ref().as_str(), law.span().start));
        let multiplier = query.number(NOISE_MULTIPLIER);
        if let Some(field) = multiplier.filter(|_| name != Law::SAMPLED_KEY || query.number("sigma2").is_some()) {
            let own = Law::SAMPLED_KEY;
            let why = format!("{what}: {NOISE_MULTIPLIER} stands in place of sigma2, its square, where law = {own:?}");
            return Err(self.0.refuse(field.span().start, why));
        }
        let positive = |field| self.0.positive(field, &format!("{NOISE_MULTIPLIER} of {what}"));
        let multiplier = multiplier.map(positive).transpose()?;
        let mut taken: Vec<&str> = Vec::new();
        let law = Law::named(name, |parameter| {
            taken.push(parameter);
            if let Some(multiplier) = multiplier.as_ref().filter(|_| parameter == "sigma2") {
                return Ok(multiplier.clone().square());
            }
            if let Some(field) = query.number(parameter) {
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
            let known: Vec<String> = Law::keys().map(|key| format!("{key:?}")).collect();
            return Err(self.0.refuse(name_at, format!("law = {name:?}: expected one of {}", known.join(", "))));
        };
        match query.parameters().find(|(name, _)| !taken.contains(name)) {
            None => law,
            Some((other, field)) => {
                let why = format!("{what}: law = {name:?} has no {other}: give its {}", taken.join(" and its "));
                Err(self.0.refuse(field.span().start, why))
            }
        }
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
mod tests;
