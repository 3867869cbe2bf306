//! The mechanism to account for: a release or some of its levels, counts given one by one, a neighbor relation, and the number of people who act
//! together; and its compositions.

use std::sync::Arc;

use rug::Rational;

use super::{
    Changed, Neighbors, Release,
    ways::{self, Names},
};
pub use super::{
    accounted::{SINGLES, Subject},
    resolved::{Certified, Part, QueryPart, Resolved, TAKEN_TWICE, Together},
};
use crate::{
    account::{
        Account, Answer, Composition, Counts, Delta,
        compared::PrintedFigure,
        definition::Definition,
        paths::{Whole, WorstPath},
    },
    error::{Error, Result, visible},
    numeric::{Enclosure, parallel},
};

/// The name in errors about counts as given.
pub const AS_GIVEN: &str = "counts as given";

impl Subject {
    /// This subject with all noise multiplied by `factor`.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Subject> {
        let release = self.release.as_ref().map(|release| release.with_noise_times(factor)).transpose()?;
        let singles = self.singles.iter().map(|single| single.with_noise_times(factor)).collect::<Result<_>>()?;
        Ok(Subject { release, singles, ..self.clone() })
    }

    /// This subject released `times` times, each time with noise of its own, as part of another subject that is released once.
    pub fn repeated(&self, times: u64) -> Result<Subject> {
        let release = self.release.as_ref().map(|release| release.repeated(times)).transpose()?;
        let singles = self.singles.iter().map(|single| single.repeated(times)).collect::<Result<_>>()?;
        Ok(Subject { release, singles, ..self.clone() })
    }

    /// Each part alone, in the order of [`Resolved::levels`]: the levels of the release, and the counts given one by one.
    pub fn parts(&self) -> Vec<Subject> {
        // Alone they have the relation of their release.
        let neighbors = self.neighbors.or(self.release.as_ref().map(|release| release.neighbors));
        let moves = |release: &Release, name: &String| {
            let still = |query: &super::Query| query.changed == Changed::Never;
            let level = release.levels.iter().find(|level| level.name == *name);
            neighbors != Some(Neighbors::Bounded) || level.is_none_or(|level| !level.queries.iter().all(still))
        };
        let all = |release: &Release| {
            let names: Vec<String> = match self.levels.as_slice() {
                [] => release.levels.iter().map(|level| level.name.clone()).collect(),
                named => named.to_vec(),
            };
            names.into_iter().filter(|name| moves(release, name)).collect()
        };
        let levels: Vec<String> = self.release.as_ref().map(all).unwrap_or_default();
        let of_level = |level: String| Subject {
            levels: vec![level],
            singles: Vec::new(),
            counts_as_given: false,
            ..self.clone()
        };
        let singles = Subject { release: None, levels: Vec::new(), neighbors, ..self.clone() };
        levels.into_iter().map(of_level).chain((!self.singles.is_empty()).then_some(singles)).collect()
    }

    /// The epsilon at delta of a record that moves every count this many times as far, for each of these sizes: of one that contributes several
    /// times, or of several people. Infinite for a size for which no epsilon is finite. An error where
    /// none is finite for any size, and for a size that is beyond the largest shift of a count.
    pub fn epsilon_by_shift(&self, sizes: &[u64], delta: &Delta, digits: u32) -> Result<Vec<Answer>> {
        let of = |size: &u64| {
            let group = self.group.saturating_mul(*size);
            Subject { group, ..self.clone() }.resolve()
        };
        // One after the other, so that the first size that is out of range is the error.
        let each = sizes.iter().map(of).collect::<Result<Vec<Resolved>>>()?;
        let found = parallel::try_map(&each, |resolved| match resolved.whole.epsilon(delta, digits) {
            Err(error @ Error::InfiniteLoss { .. }) => Ok(Err(error)),
            answer => answer.map(Ok),
        })?;
        // A size for which no epsilon is finite has an infinite one beside sizes for which one is.
        let has_finite = found.iter().any(Result::is_ok);
        let infinite = |error: Error| match has_finite {
            true => Ok(Answer::immediate(
                Enclosure::double(f64::INFINITY, 64),
                "outputs of infinite loss alone are more probable than delta",
            )),
            false => Err(error),
        };
        found.into_iter().map(|answer| answer.or_else(infinite)).collect()
    }

    /// The neighbor relation: as given, or that of the release, or add-remove.
    pub fn relation(&self) -> Neighbors {
        let own = self.release.as_ref().map(|release| release.neighbors);
        self.neighbors.or(own).unwrap_or(Neighbors::AddRemove)
    }

    /// Composes it. Refuses a subject of nothing, and levels that the release does not have or that are named twice.
    pub fn resolve(self) -> Result<Resolved> {
        let neighbors = self.relation();
        let singles = self.singles_under(neighbors)?;
        let mut parts: Vec<Part> = Vec::new();
        let (mut unmoved, mut ways) = (Vec::new(), None);
        if let Some(release) = &self.release {
            let places = release.places(&self.levels)?;
            unmoved = release.unmoved(&places, neighbors);
            for place in &places {
                parts.extend(self.level(release, *place, neighbors)?);
            }
            if parts.is_empty() {
                // States why nothing is left.
                release.composition(&self.levels, Some(neighbors))?;
            }
            ways = self.ways(release, &places, neighbors)?;
        }
        if let Some(total) = singles {
            let (name, whole) = (SINGLES.to_string(), Whole::Composition(total.clone()));
            parts.push(Part { name, total, whole, names: None, figures: Vec::new() });
        }
        let queries = self.queries(neighbors)?;
        let total = Composition::new(parts.iter().flat_map(|part| part.total.counts().iter().cloned()))?;
        let question = match &self.release {
            None => Some(self.definition(&self.singles, neighbors)),
            Some(release) => self.question(&release.places(&self.levels)?, true, neighbors),
        };
        let (whole, names) = match ways {
            None => (Whole::Composition(total.clone()).compared_with(question), None),
            Some((worst, names)) => (Whole::WorstPath(worst).compared_with(question), Some(names)),
        };
        let levels = if parts.len() > 1 { parts } else { Vec::new() };
        let (title, [of_release, of_singles]) = (self.title(neighbors, &unmoved), self.taken(neighbors)?);
        let (taken, is_release_twice) = (of_release.max(of_singles).unwrap_or(1), of_release == Some(2));
        let figures = if self.singles.is_empty() { self.figures_of(&self.levels, neighbors) } else { Vec::new() };
        let release_sha256 = self.release.as_ref().and_then(|release| release.sha256.clone());
        let (group, repeat) = (self.group, self.repeat);
        let subject = (!levels.is_empty()).then(|| Box::new(self));
        Ok(Resolved {
            group,
            repeat,
            taken,
            is_release_twice,
            unmoved,
            levels,
            queries,
            whole,
            names,
            release_sha256,
            figures,
            subject,
            ..Resolved::of_composition(title, neighbors, total)
        })
    }

    /// The figures that were published for levels of the release: for one person, once, under the release's own relation.
    fn figures_of(&self, levels: &[impl AsRef<str>], neighbors: Neighbors) -> Vec<PrintedFigure> {
        let is_own = |release: &&Release| release.neighbors == neighbors && self.group == 1 && self.repeat == 1;
        self.release.as_ref().filter(is_own).map_or_else(Vec::new, |release| release.figures_of(levels))
    }

    /// A line that describes it, and how often single counts are counted.
    fn title(&self, neighbors: Neighbors, unmoved: &[String]) -> String {
        let mut titles: Vec<String> = Vec::new();
        if let Some(release) = &self.release {
            let shown = if self.levels.is_empty() { release.title.clone() } else { self.levels.join(", ") };
            titles.push(format!("{}: {shown}", release.name));
        }
        if !self.singles.is_empty() {
            let singles = self.singles.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ");
            let each = if self.singles.len() == 1 { "" } else { "each " };
            let guarantees = self.singles.iter().filter(|single| single.law.is_guarantee()).count();
            titles.push(match (neighbors, self.counts_as_given) {
                _ if guarantees == self.singles.len() => format!("{singles}, as given for {} neighbors", neighbors.name()),
                (Neighbors::Bounded, false) if guarantees > 0 => format!(
                    "{singles}, guarantees as given for bounded neighbors and all others twice: a record leaves one count and enters another"
                ),
                (Neighbors::AddRemove, _) => singles,
                (Neighbors::Bounded, true) => format!("{singles}, counts as given for bounded neighbors"),
                (Neighbors::Bounded, false) => {
                    format!(
                        "{singles}, {each}twice under bounded neighbors: a record leaves one count and enters another"
                    )
                }
            });
        }
        let still = match unmoved {
            [] => String::new(),
            [one] => format!(", without {one:?}, which does not move under bounded neighbors"),
            several => format!(", without {} queries that do not move under bounded neighbors", several.len()),
        };
        let group = if self.group == 1 { String::new() } else { format!(", groups of {}", self.group) };
        let repeat = if self.repeat == 1 { String::new() } else { format!(", released {} times", self.repeat) };
        visible(&(titles.join(" + ") + &still + &group + &repeat))
    }

    /// How a changed record changes single counts.
    fn changed(&self) -> Changed {
        if self.counts_as_given { Changed::AsGiven } else { Changed::Twice }
    }

    /// How often counts that were given one by one are counted.
    fn times(&self, single: &Counts, neighbors: Neighbors) -> Result<u64> {
        if single.law.is_guarantee() { Changed::Guaranteed } else { self.changed() }.times(neighbors)
    }

    /// How often counts of the release are counted, and counts given one by one: the largest number of all.
    fn taken(&self, neighbors: Neighbors) -> Result<[Option<u64>; 2]> {
        let times = self.singles.iter().map(|single| self.times(single, neighbors)).collect::<Result<Vec<u64>>>()?;
        let singles = times.into_iter().max();
        let of_release = |release: &Release| release.only(&self.levels)?.times_each_count(neighbors);
        Ok([self.release.as_ref().map(of_release).transpose()?, singles])
    }

    /// The counts given one by one, composed, each as often as it is counted; `None` if there are none.
    fn singles_under(&self, neighbors: Neighbors) -> Result<Option<Composition>> {
        if self.singles.is_empty() {
            let nothing = || {
                Err(Error::conflict(format!(
                    "{AS_GIVEN} are counts given one by one, as in 5x10, and there are none: a release file says counts_as_given itself"
                )))
            };
            return if self.counts_as_given { nothing() } else { Ok(None) };
        }
        self.under(&self.singles, neighbors).map(Some)
    }

    /// The composition of counts given one by one under a relation, of all of them or of one alone: the only place that decides which pairs of laws they are.
    fn under(&self, singles: &[Counts], neighbors: Neighbors) -> Result<Composition> {
        let times = self.changed().times(neighbors)?;
        let once = Composition::new(singles.iter().cloned())?;
        let is_changed = neighbors == Neighbors::Bounded && once.is_sampled();
        let all = if times == 2 || is_changed { once.for_changed_records()? } else { once };
        Ok(self.multiplied(&all)?.defined_by(self.definition(singles, neighbors)))
    }

    /// The question of which that is the account.
    fn definition(&self, singles: &[Counts], neighbors: Neighbors) -> Definition {
        let is_changed = neighbors == Neighbors::Bounded && !self.counts_as_given;
        Definition { group: self.group, repeat: self.repeat, ..Definition::of_counts(singles.to_vec(), is_changed) }
    }

    /// The same for the whole group and all repetitions.
    fn multiplied(&self, part: &Composition) -> Result<Composition> {
        let part = if self.group == 1 { part.clone() } else { part.for_groups_of(self.group)? };
        if self.repeat == 1 { Ok(part) } else { part.repeated(self.repeat) }
    }

    /// The requested queries, each alone, and the counts given one by one; for a query about one kind of groups the largest
    /// number of counts that a record can be in.
    fn queries(&self, neighbors: Neighbors) -> Result<Vec<QueryPart>> {
        let part = |level: Option<&str>, name: String, times: u64, composition: Composition| {
            let count = composition.counts().iter().fold(0_u64, |all, counts| all.saturating_add(counts.count));
            let counts = Counts { count, ..composition.counts()[0].clone() };
            QueryPart { level: level.map(String::from), name, times, counts, composition }
        };
        let mut queries = Vec::new();
        if let Some(release) = &self.release {
            for (place, level) in release.levels.iter().enumerate() {
                let included = self.levels.is_empty() || self.levels.contains(&level.name);
                for query in level.queries.iter().filter(|_| included) {
                    let counts = release.query_counts(place, query, neighbors)?;
                    if !counts.is_empty() {
                        let composition = self.multiplied(&Composition::new(counts)?)?;
                        let composition = match self.question_of_query(place, query, neighbors) {
                            Some(question) => composition.defined_by(question),
                            None => composition,
                        };
                        queries.push(part(Some(&level.name), query.name.clone(), query.times, composition));
                    }
                }
            }
        }
        for single in &self.singles {
            queries.push(part(None, single.to_string(), 1, self.under(std::slice::from_ref(single), neighbors)?));
        }
        Ok(queries)
    }

    /// A level of the release alone; `None` if no count of it changes.
    fn level(&self, release: &Release, place: usize, neighbors: Neighbors) -> Result<Option<Part>> {
        let (name, places) = (release.levels[place].name.clone(), [place]);
        if release.budget_only {
            return Err(Error::BudgetOnly { release: release.name.clone() });
        }
        let counts =
            release.counts_of(&places, &release.typical(&places), neighbors, &|changed| changed.times(neighbors))?;
        if counts.is_empty() {
            return Ok(None);
        }
        let total = self.multiplied(&Composition::new(counts)?)?;
        let figures = self.figures_of(&[&name], neighbors);
        let question = self.question(&places, false, neighbors);
        if release.mix_of(place).is_none() {
            let whole = Whole::Composition(total.clone()).compared_with(question);
            return Ok(Some(Part { name, whole, total, names: None, figures }));
        }
        let (worst, names) = self.mixes(release, &places, neighbors, false)?;
        let whole = Whole::WorstPath(worst).compared_with(question);
        Ok(Some(Part { name, total, whole, names: Some(names), figures }))
    }

    /// All ways of a record through these levels, if there are several, each with the counts given one by one.
    fn ways(
        &self,
        release: &Release,
        places: &[usize],
        neighbors: Neighbors,
    ) -> Result<Option<(WorstPath, Arc<Names>)>> {
        if release.paths.is_some() && self.levels.is_empty() {
            let dropped = |path: usize| match release.dropped_names(path) {
                names if names.is_empty() => format!("path {} (drops no level)", path + 1),
                names => format!("path {} (drops {})", path + 1, names.join(", ")),
            };
            let paths = release.path_compositions()?.into_iter().enumerate().map(|(path, of)| (dropped(path), of));
            return self.worst(ways::BLOCK_PATHS, paths.collect(), neighbors, true).map(Some);
        }
        match places.iter().any(|place| release.mix_of(*place).is_some()) {
            true => self.mixes(release, places, neighbors, true).map(Some),
            false => Ok(None),
        }
    }

    fn mixes(
        &self,
        release: &Release,
        places: &[usize],
        neighbors: Neighbors,
        with_singles: bool,
    ) -> Result<(WorstPath, Arc<Names>)> {
        self.worst(ways::MIXES, release.mixes_at(places, neighbors)?, neighbors, with_singles)
    }

    /// The worst of all ways, for the whole group and all repetitions; with the counts given one by one, if requested.
    fn worst(
        &self,
        what: &'static str,
        ways: Vec<(String, Composition)>,
        neighbors: Neighbors,
        with_singles: bool,
    ) -> Result<(WorstPath, Arc<Names>)> {
        // Of one record more or less a way is the whole: what is given for two neighbors is part of it. A pair of ways has it once, beside both.
        let is_beside =
            |single: &&Counts| neighbors == Neighbors::Bounded && (self.counts_as_given || single.law.is_guarantee());
        let singles = if with_singles { &self.singles[..] } else { &[] };
        let (beside, singles): (Vec<&Counts>, Vec<&Counts>) = singles.iter().partition(is_beside);
        let beside = match beside.is_empty() {
            true => None,
            false => Some(self.multiplied(&Composition::new(beside.into_iter().cloned())?)?),
        };
        let with_singles = |(name, way): (String, Composition)| {
            let all = way.counts().iter().chain(singles.iter().copied()).cloned();
            Ok((name, self.multiplied(&Composition::new(all)?)?))
        };
        ways::worst(what, ways.into_iter().map(with_singles).collect::<Result<_>>()?, beside, neighbors)
    }
}

#[cfg(test)]
mod tests;
