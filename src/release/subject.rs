//! The mechanism to account for: a release or some of its levels, counts given one by one, a neighbor relation, and the number of people who act
//! together; and its compositions.

use std::sync::Arc;

use rayon::prelude::*;
use rug::Rational;

use super::{
    Changed, Neighbors, Release,
    ways::{self, Names},
};
pub use super::{
    accounted::{SINGLES, Subject},
    resolved::{Part, QueryPart, Resolved, TAKEN_TWICE},
};
use crate::{
    account::{
        Account, Answer, Composition, Counts, Delta,
        compared::PrintedFigure,
        paths::{Whole, WorstPath},
    },
    error::{Error, Result},
};

/// The name in errors about counts as given.
pub const AS_GIVEN: &str = "counts as given";

impl Subject {
    /// The same with all noise multiplied by `factor`.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Subject> {
        let release = self.release.as_ref().map(|release| release.with_noise_times(factor)).transpose()?;
        let singles = self.singles.iter().map(|single| single.with_noise_times(factor)).collect::<Result<_>>()?;
        Ok(Subject { release, singles, ..self.clone() })
    }

    /// The same released `times` times, each time with noise of its own, as part of another subject that is released once.
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
    /// times, or of several people. An error for a size that is beyond the largest shift of a count.
    pub fn epsilon_by_shift(&self, sizes: &[u64], delta: &Delta, digits: u32) -> Result<Vec<Answer>> {
        let of = |size: &u64| {
            let group = self.group.saturating_mul(*size);
            Subject { group, ..self.clone() }.resolve()
        };
        // One after the other, so that the first size that is out of range is the error.
        let each = sizes.iter().map(of).collect::<Result<Vec<Resolved>>>()?;
        each.par_iter().map(|resolved| resolved.whole.epsilon(delta, digits)).collect()
    }

    /// Composes it. Refuses a subject of nothing, and levels that the release does not have or that are named twice.
    pub fn resolve(self) -> Result<Resolved> {
        let own = self.release.as_ref().map(|release| release.neighbors);
        let neighbors = self.neighbors.or(own).unwrap_or(Neighbors::AddRemove);
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
        let (whole, names) = match ways {
            None => (Whole::Composition(total.clone()), None),
            Some((worst, names)) => (Whole::WorstPath(worst), Some(names)),
        };
        let levels = if parts.len() > 1 { parts } else { Vec::new() };
        let (title, [of_release, of_singles]) = (self.title(neighbors, &unmoved), self.taken(neighbors)?);
        let (taken, is_release_twice) = (of_release.max(of_singles).unwrap_or(1), of_release == Some(2));
        let figures = if self.singles.is_empty() { self.figures_of(&self.levels, neighbors) } else { Vec::new() };
        let release_sha256 = self.release.as_ref().and_then(|release| release.sha256.clone());
        let subject = (!levels.is_empty()).then(|| Box::new(self));
        Ok(Resolved {
            title,
            neighbors,
            taken,
            is_release_twice,
            unmoved,
            levels,
            queries,
            total,
            whole,
            names,
            release_sha256,
            figures,
            subject,
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
        titles.join(" + ") + &still + &group + &repeat
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
            let expected = "counts given one by one, as in 5x10; a release file says counts_as_given itself";
            let nothing = || Err(Error::malformed(AS_GIVEN, "true without counts", expected));
            return if self.counts_as_given { nothing() } else { Ok(None) };
        }
        let times = self.changed().times(neighbors)?;
        let once = Composition::new(self.singles.iter().cloned())?;
        let is_changed = neighbors == Neighbors::Bounded && once.is_sampled();
        let all = if times == 2 || is_changed { once.for_changed_records()? } else { once };
        self.multiplied(&all).map(Some)
    }

    /// The same for the whole group and all repetitions.
    fn multiplied(&self, part: &Composition) -> Result<Composition> {
        let part = if self.group == 1 { part.clone() } else { part.for_groups_of(self.group)? };
        if self.repeat == 1 { Ok(part) } else { part.repeated(self.repeat) }
    }

    /// The requested queries, each alone, and the counts given one by one; for a query about one kind of groups the largest
    /// number of counts that a record can be in.
    fn queries(&self, neighbors: Neighbors) -> Result<Vec<QueryPart>> {
        let part = |level: Option<&str>, name: String, times: u64, counts: Counts| -> Result<QueryPart> {
            let composition = self.multiplied(&Composition::new([counts])?)?;
            let counts = composition.counts()[0].clone();
            Ok(QueryPart { level: level.map(String::from), name, times, counts, composition })
        };
        let mut queries = Vec::new();
        if let Some(release) = &self.release {
            for (place, level) in release.levels.iter().enumerate() {
                let included = self.levels.is_empty() || self.levels.contains(&level.name);
                for query in level.queries.iter().filter(|_| included) {
                    if let Some(counts) = release.query_counts(place, query, neighbors)? {
                        queries.push(part(Some(&level.name), query.name.clone(), query.times, counts)?);
                    }
                }
            }
        }
        for single in &self.singles {
            let times = self.times(single, neighbors)?;
            let changed = Counts::new(single.law.clone(), single.count.saturating_mul(times), single.shift)?;
            queries.push(part(None, single.to_string(), 1, changed)?);
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
        if release.mix_of(place).is_none() {
            return Ok(Some(Part { name, whole: Whole::Composition(total.clone()), total, names: None, figures }));
        }
        let (worst, names) = self.mixes(release, &places, neighbors, false)?;
        Ok(Some(Part { name, total, whole: Whole::WorstPath(worst), names: Some(names), figures }))
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

    /// The worst of all ways, for the whole group and all repetitions; each with the counts given one by one, if requested.
    fn worst(
        &self,
        what: &'static str,
        ways: Vec<(String, Composition)>,
        neighbors: Neighbors,
        with_singles: bool,
    ) -> Result<(WorstPath, Arc<Names>)> {
        if with_singles && self.counts_as_given {
            let expected = "a release whose counts every record enters in the same way: a pair of ways has no side for counts that are given for \
                            both; give them as for one record more or less, or account for them apart";
            return Err(Error::malformed(AS_GIVEN, format!("beside {what}"), expected));
        }
        let singles = if with_singles { &self.singles[..] } else { &[] };
        let with_singles = |(name, way): (String, Composition)| {
            let all = way.counts().iter().chain(singles).cloned();
            Ok((name, self.multiplied(&Composition::new(all)?)?))
        };
        ways::worst(what, ways.into_iter().map(with_singles).collect::<Result<_>>()?, neighbors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;

    fn of(release: &str) -> Subject {
        Subject { release: Some(Release::find(release).unwrap()), ..Subject::default() }
    }

    #[test]
    fn a_subject_of_nothing_and_of_unknown_or_repeated_levels_is_refused() {
        assert!(matches!(Subject::default().resolve(), Err(Error::EmptyComposition)));
        let named = |levels: &[&str]| Subject {
            levels: levels.iter().map(|name| name.to_string()).collect(),
            ..of("su-su-wang-2025")
        };
        assert!(matches!(named(&["Moon"]).resolve(), Err(Error::Unknown { kind: "level", .. })));
        let twice = named(&["State", "State"]).resolve().unwrap_err().to_string();
        assert!(twice.contains("State") && twice.contains("once"), "{twice}");
        let budget_only = Release::parse(include_str!("../../tests/common/budget-only.toml"), "f").unwrap();
        let budget_only = Subject { release: Some(budget_only), ..Subject::default() };
        assert!(matches!(budget_only.resolve(), Err(Error::BudgetOnly { .. })));
        assert!(Subject { group: u64::MAX, ..of("su-su-wang-2025") }.resolve().is_err());
    }

    #[test]
    fn derived_subjects_and_parts_are_those_of_their_compositions() {
        let half = Rational::from((1, 2));
        let singles = vec!["5x10@2".parse().unwrap(), Counts::parse_discrete_laplace("0.1x3").unwrap()];
        for (name, levels) in [("dhc-units-us", vec![]), ("pl94-persons-us", vec!["State", "County"])] {
            let levels = levels.into_iter().map(String::from).collect();
            let subject = Subject { levels, group: 2, singles: singles.clone(), ..of(name) };
            let whole = subject.clone().resolve().unwrap();
            let thrice = subject.repeated(3).unwrap().resolve().unwrap();
            assert_eq!(thrice.total.counts(), whole.total.repeated(3).unwrap().counts());
            let rho = Account::rho(&thrice.whole);
            assert_eq!(*rho, Rational::from(&*Account::rho(&whole.whole) * 3_u32));
            let scaled = subject.with_noise_times(&half).unwrap().resolve().unwrap();
            let known = whole.with_noise_times(&half).unwrap();
            assert_eq!(scaled.total.counts(), known.total.counts());
            assert_eq!(Account::rho(&scaled.whole), Account::rho(&known.whole));
            let (parts, known) = (subject.parts(), whole.parts());
            assert_eq!(parts.len(), known.len());
            for (part, known) in parts.into_iter().zip(known) {
                let part = part.resolve().unwrap();
                assert_eq!((part.total.counts(), part.neighbors), (known.total.counts(), known.neighbors));
            }
        }
    }

    #[test]
    fn counts_given_one_by_one_are_composed_with_every_path_and_relation() {
        let single: Counts = "5x10".parse().unwrap();
        let with = |neighbors| {
            Subject { singles: vec![single.clone()], neighbors, ..of("pl94-persons-us") }.resolve().unwrap()
        };
        let (bounded, add) = (with(None), with(Some(Neighbors::AddRemove)));
        assert_eq!((bounded.neighbors, add.neighbors), (Neighbors::Bounded, Neighbors::AddRemove));
        assert_eq!((bounded.worst().unwrap().count(), add.worst().unwrap().count()), (136, 16));
        let rho = Release::find("pl94-persons-us").unwrap().rho;
        // Twice the counts of one record, once for the cell it leaves and once for the one it enters.
        assert_eq!(Account::rho(&bounded.whole), rho.clone() + 2_u32);
        assert_eq!(Account::rho(&add.whole), rho / 2_u32 + 1_u32);
        assert_eq!(add.parts().len(), add.levels.len());
        let noisier = add.with_noise_times(&Rational::from(2)).unwrap();
        assert_eq!(*noisier.total.rho(), Rational::from(&**add.total.rho() / 2_u32));
        assert_eq!(Account::rho(&noisier.whole), Rational::from(&*Account::rho(&add.whole) / 2_u32));
        let answer = bounded.whole.delta("5", 6).unwrap();
        assert!(bounded.deciding_pair(&answer).unwrap().contains("the worst of 136 pairs"));
    }

    #[test]
    fn queries_add_up_to_their_levels_and_repetitions_multiply() {
        let singles: Vec<Counts> = vec!["5x10@2".parse().unwrap(), Counts::parse_discrete_laplace("0.1x3").unwrap()];
        let of = |release: &str, repeat, group, neighbors| {
            Subject { singles: singles.clone(), repeat, group, neighbors, ..of(release) }.resolve().unwrap()
        };
        let once = of("dhc-units-us", 1, 1, None);
        for (release, neighbors) in [("dhc-units-us", None), ("pl94-persons-us", Some(Neighbors::AddRemove))] {
            let all = of(release, 3, 2, neighbors);
            let sum = all.queries.iter().fold(Rational::new(), |sum, query| sum + &**query.composition.rho());
            assert_eq!(sum, **all.total.rho(), "{release}");
            for part in all.parts() {
                let own = part.queries.iter().fold(Rational::new(), |sum, query| sum + &**query.composition.rho());
                assert_eq!(own, **part.total.rho(), "{}", part.title);
            }
            assert!(all.title.ends_with(", groups of 2, released 3 times"), "{}", all.title);
        }
        let thrice = of("dhc-units-us", 3, 1, None);
        assert_eq!(**thrice.total.rho(), Rational::from(&**once.total.rho() * 3_u32));
        assert_eq!(Account::rho(&thrice.whole), Rational::from(&*Account::rho(&once.whole) * 3_u32));
        assert!(Subject { repeat: 0, ..self::of("dhc-units-us") }.resolve().is_err());
        let noisier = once.with_noise_times(&Rational::from(2)).unwrap();
        assert_eq!(noisier.queries[0].composition.counts()[0], noisier.queries[0].counts);
    }

    #[test]
    fn counts_are_taken_twice_under_bounded_neighbors_unless_they_are_given_for_these() {
        let of = |counts_as_given, neighbors| {
            let singles = vec![Counts::parse_discrete_laplace("0.5@2").unwrap()];
            Subject { singles, neighbors, counts_as_given, ..Subject::default() }.resolve()
        };
        let twice = of(false, Some(Neighbors::Bounded)).unwrap();
        assert!(
            twice
                .title
                .ends_with("0.5x1@2, twice under bounded neighbors: a record leaves one count and enters another"),
            "{}",
            twice.title
        );
        assert_eq!((twice.taken, twice.queries[0].counts.count), (2, 2));
        let given = of(true, Some(Neighbors::Bounded)).unwrap();
        assert!(given.title.ends_with("counts as given for bounded neighbors"), "{}", given.title);
        assert_eq!((given.taken, given.queries[0].counts.count, given.total.counts()[0].count), (1, 1, 1));
        // One value moved by 2 with noise of parameter 1/2: one nat at most.
        assert_eq!(given.total.pure_epsilon(), Some(Rational::from(1)));
        assert!(of(true, None).is_err() && of(false, None).unwrap().taken == 1);
        let beside = |release: &str| {
            let singles = vec!["5x2".parse().unwrap()];
            Subject { singles, counts_as_given: true, neighbors: Some(Neighbors::Bounded), ..self::of(release) }
                .resolve()
        };
        assert!(beside("pl94-units-us").unwrap_err().to_string().contains("beside block paths"));
        let mixed = beside("su-su-wang-2025").unwrap();
        assert_eq!(mixed.levels.last().unwrap().total.counts()[0].count, 2);
        assert!(Subject { counts_as_given: true, ..self::of("su-su-wang-2025") }.resolve().is_err());
    }

    /// Beside a mix a query that does not move is on neither side of a change; and all noise is known of a mix of one group, too.
    #[test]
    fn a_mix_beside_a_query_that_does_not_move() {
        let text = "name = 'm'\ntitle = 't'\nsource = 's'\nneighbors = 'bounded'\n\
                    [[mix]]\nname = 'all'\nlevels = ['A']\ngroups = 1\nkind = 'short'\nmost = 1\n\
                    [[level]]\nname = 'A'\n[[level.query]]\nname = 'twice'\nsigma2 = 2\ntimes = 2\n\
                    [[level.query]]\nname = 'once'\nkind = 'short'\nsigma2 = 1\n\
                    [[level]]\nname = 'US'\n[[level.query]]\nname = 'total'\nsigma2 = 3\nmoves = 0\n";
        let release = Release::parse(text, "m.toml").unwrap();
        assert_eq!(release.rho, 1);
        let of =
            |neighbors| Subject { release: Some(release.clone()), neighbors, ..Subject::default() }.resolve().unwrap();
        let bounded = of(None);
        assert_eq!(*Account::rho(&bounded.whole), 1);
        assert_eq!(bounded.unmoved, ["US / total"]);
        for pair in [(0, 0), (0, 1), (1, 1)] {
            let counts = bounded.worst().unwrap().composition(pair).unwrap();
            assert!(counts.counts().iter().all(|counts| !counts.to_string().contains("Gaussian 3x")), "{counts:?}");
        }
        let variances = |of: &Resolved| crate::account::promise::variances(&of.noise().unwrap()).unwrap();
        assert_eq!(variances(&bounded), [1, 2].map(Rational::from));
        assert_eq!(variances(&of(Some(Neighbors::AddRemove))), [1, 2, 3].map(Rational::from));
    }

    /// The mix that decides is the largest of all mixes, each accounted for alone.
    #[test]
    fn a_release_with_groups_of_two_kinds_is_as_private_as_its_worst_mix() {
        let text = "name = 'm'\ntitle = 't'\nsource = 's'\nneighbors = 'add-remove'\n\
                    [[mix]]\nname = 'all'\nlevels = ['A', 'B']\ngroups = 3\nkind = 'short'\nmost = 3\n\
                    [[level]]\nname = 'A'\n[[level.query]]\nname = 'stages'\ncells = 3\ntimes = 2\nrho = 0.75\n\
                    [[level.query]]\nname = 'once'\nkind = 'short'\ncells = 3\nrho = 1.5\n\
                    [[level]]\nname = 'B'\n[[level.query]]\nname = 'long'\ncells = 3\nrho = 1.5\n\
                    [[level.query]]\nname = 'once'\nkind = 'short'\ncells = 3\nrho = 1.5\n";
        let release = Release::parse(text, "m.toml").unwrap();
        let largest = |level: Option<&str>, pairs: bool| {
            let counts = |short: u32, of: &str| {
                let part = |level, text: String| Some(text).filter(|_| of == level || of == "both");
                let some = |count: u32, sigma2: u32| if count == 0 { None } else { Some(format!("{sigma2}x{count}")) };
                let long = 3 - short;
                let a = [some(2 * long, 2), some(short, 1)].into_iter().flatten().filter_map(|text| part("A", text));
                let b = [some(3, 1)].into_iter().flatten().filter_map(|text| part("B", text));
                a.chain(b).map(|text| text.parse().unwrap()).collect::<Vec<Counts>>()
            };
            let of = level.unwrap_or("both");
            let all = (0..=3).flat_map(|p| (p..=3).map(move |q| (p, q))).filter(|(p, q)| pairs || p == q);
            let each = all.map(|(p, q)| {
                let both = if pairs { [counts(p, of), counts(q, of)].concat() } else { counts(p, of) };
                Composition::new(both).unwrap().epsilon("1e-6", 12).unwrap().value
            });
            each.reduce(|a, b| a.max(&b)).unwrap()
        };
        for (neighbors, ways) in
            [(Neighbors::AddRemove, "4 mixes of groups"), (Neighbors::Bounded, "10 pairs of mixes of groups")]
        {
            let subject = Subject { release: Some(release.clone()), neighbors: Some(neighbors), ..Subject::default() };
            let found = subject.resolve().unwrap();
            assert_eq!(found.ways().as_deref(), Some(ways));
            let epsilon = found.whole.epsilon("1e-6", 12).unwrap();
            let alone = largest(None, neighbors == Neighbors::Bounded);
            assert!(epsilon.met && epsilon.value.overlaps(&alone), "{epsilon:?} {alone:?}");
            assert!(found.deciding_pair(&epsilon).unwrap().contains("of 3 groups short at all"));
            for part in &found.levels {
                let epsilon = part.whole.epsilon("1e-6", 12).unwrap();
                let alone = largest(Some(&part.name), neighbors == Neighbors::Bounded);
                assert!(epsilon.value.overlaps(&alone), "{}: {epsilon:?} {alone:?}", part.name);
                assert!(part.deciding(&epsilon).unwrap().ends_with(ways));
            }
        }
    }
}
