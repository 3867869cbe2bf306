//! What is accounted for: a release or some of its levels, counts given one by one, a neighbor relation, and how many people act
//! together; and the compositions that this amounts to.

use rug::Rational;

use super::{Neighbors, Release};
use crate::{
    account::{
        Account, Answer, Composition, Counts, Delta, Stop,
        compared::{Against, Compared, PrintedFigure},
        paths::{Whole, WorstPath},
    },
    error::{Error, Result},
    loss::family::Units,
    numeric::rational,
};

/// What to account for; all of it is composed.
///
/// ```
/// use dp_assay::{account::Account, release::{Release, subject::Subject}};
/// let subject = Subject {
///     release: Some(Release::find("su-su-wang-2025")?),
///     levels: vec!["State".to_string()],
///     singles: vec!["5x10".parse()?],
///     ..Subject::default()
/// };
/// let resolved = subject.resolve()?;
/// assert_eq!(resolved.levels.len(), 2);
/// assert!(resolved.whole.epsilon("1e-11", 8)?.met);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subject {
    /// A release.
    pub release: Option<Release>,
    /// The geolevels of it that count; all of them where none is named.
    pub levels: Vec<String>,
    /// Counts given one by one.
    pub singles: Vec<Counts>,
    /// Neighbor relation; overrides the release's own [default: the release's, or add-remove].
    pub neighbors: Option<Neighbors>,
    /// So many people leave or enter together: every shift times this.
    pub group: u64,
    /// So many times all of it is released, each time with noise of its own.
    pub repeat: u64,
}

impl Default for Subject {
    /// Nothing yet, for one person, once.
    fn default() -> Self {
        Subject { release: None, levels: Vec::new(), singles: Vec::new(), neighbors: None, group: 1, repeat: 1 }
    }
}

/// A subject and its compositions.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// A line that says what it is.
    pub title: String,
    /// The neighbor relation in force.
    pub neighbors: Neighbors,
    /// The levels of the release that were asked for, each alone, and then the counts given one by one; empty where there
    /// is only one part.
    pub levels: Vec<(String, Composition)>,
    /// The queries of these levels, and the counts given one by one, each alone.
    pub queries: Vec<QueryPart>,
    /// Everything composed; for a release with paths, on the path that drops nothing.
    pub total: Composition,
    /// What is accounted for as a whole: everything composed, or the worst of all block paths.
    pub whole: Whole,
    /// The release, if the whole is the worst of its block paths.
    paths_of: Option<Release>,
    /// What was published for the whole, at whatever delta.
    figures: Vec<PrintedFigure>,
    /// What was published for the parts, beside their names.
    figures_of_parts: Vec<(String, PrintedFigure)>,
    /// What it was resolved from, if it has parts: they may be scaled one by one.
    subject: Option<Box<Subject>>,
}

/// A query, with all that are like it, or counts given one by one: what it reveals alone.
#[derive(Clone, Debug)]
pub struct QueryPart {
    /// Its level; `None` for counts given one by one.
    pub level: Option<String>,
    /// Its name, or the counts as they are written.
    pub name: String,
    /// How many queries are like it, this one included.
    pub times: u64,
    /// Its counts that one record, or the group, changes: of all queries like it, in all repetitions.
    pub counts: Counts,
    /// These counts as a mechanism of their own.
    pub composition: Composition,
}

/// The part of counts given one by one.
pub const SINGLES: &str = "counts given";

impl Resolved {
    /// All block paths, if the whole is the worst of them.
    pub fn worst(&self) -> Option<&WorstPath> {
        match &self.whole {
            Whole::Composition(_) => None,
            Whole::WorstPath(worst) => Some(worst),
        }
    }

    /// One composition as it is, under a title.
    pub fn of_composition(title: String, neighbors: Neighbors, composition: Composition) -> Resolved {
        Resolved {
            title,
            neighbors,
            levels: Vec::new(),
            queries: Vec::new(),
            total: composition.clone(),
            whole: Whole::Composition(composition),
            paths_of: None,
            figures: Vec::new(),
            figures_of_parts: Vec::new(),
            subject: None,
        }
    }

    /// The parts that are composed, each alone under its name; empty where there is only one.
    pub fn parts(&self) -> Vec<Resolved> {
        let part = |(name, part): &(String, Composition)| Resolved {
            title: format!("{}, {name}", self.title),
            neighbors: self.neighbors,
            levels: Vec::new(),
            queries: self
                .queries
                .iter()
                .filter(|query| query.level.as_deref().unwrap_or(SINGLES) == name)
                .cloned()
                .collect(),
            total: part.clone(),
            whole: Whole::Composition(part.clone()),
            paths_of: None,
            figures: self.figures_of_part(name),
            figures_of_parts: Vec::new(),
            subject: None,
        };
        self.levels.iter().map(part).collect()
    }

    /// What was published for the whole, at whatever delta.
    pub fn figures(&self) -> &[PrintedFigure] {
        &self.figures
    }

    /// What was published for a part by its name; for the whole where there is only one part.
    pub fn figures_of_part(&self, name: &str) -> Vec<PrintedFigure> {
        if self.levels.is_empty() {
            return self.figures.clone();
        }
        let of_part = self.figures_of_parts.iter().filter(|(part, _)| part == name);
        of_part.map(|(_, figure)| figure.clone()).collect()
    }

    /// What the whole is compared with.
    pub fn compared(&self, against: Against, delta: &Delta, digits: u32) -> Result<Compared> {
        Compared::of(&self.whole, &self.figures, against, delta, digits)
    }

    /// What a part is compared with.
    pub fn compared_part(
        &self,
        name: &str,
        part: &Composition,
        against: Against,
        delta: &Delta,
        digits: u32,
    ) -> Result<Compared> {
        Compared::of(part, &self.figures_of_part(name), against, delta, digits)
    }

    /// Everything composed again, with the noise of each part multiplied by its own factor, in the order of the parts; for a release
    /// with paths the worst of these.
    pub fn with_noise_of_parts_times(&self, factors: &[Rational]) -> Result<Resolved> {
        let Some(subject) = self.subject.as_deref().filter(|_| factors.len() == self.levels.len()) else {
            let expected = format!("one for each of the {} parts", self.levels.len());
            return Err(Error::out_of_range("the number of factors", factors.len(), &expected));
        };
        let factor = |name: &str| {
            let part = self.levels.iter().zip(factors).find(|((own, _), _)| own == name);
            part.map(|(_, factor)| factor)
        };
        let mut subject = subject.clone();
        if let Some(release) = &mut subject.release {
            release.scale_levels(|name| factor(name).cloned())?;
        }
        if let Some(factor) = factor(SINGLES) {
            subject.singles =
                subject.singles.iter().map(|counts| counts.with_noise_times(factor)).collect::<Result<_>>()?;
        }
        Ok(subject.resolve()?.until(self.total.stop()))
    }

    /// The same with all noise multiplied by `factor`: variances times the factor, parameters of the discrete Laplace divided
    /// by it.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Resolved> {
        let scaled = |(name, part): &(String, Composition)| Ok((name.clone(), part.with_noise_times(factor)?));
        Ok(Resolved {
            title: format!("{}, all noise times {}", self.title, rational::display(factor)),
            neighbors: self.neighbors,
            levels: self.levels.iter().map(scaled).collect::<Result<_>>()?,
            queries: self.queries.iter().map(|query| query.with_noise_times(factor)).collect::<Result<_>>()?,
            total: self.total.with_noise_times(factor)?,
            whole: self.whole.with_noise_times(factor)?,
            paths_of: self.paths_of.clone(),
            // What was published is about other noise.
            figures: Vec::new(),
            figures_of_parts: Vec::new(),
            subject: None,
        })
    }

    /// The same, whose questions end with [`Error::Stopped`] once `stop` is set.
    pub fn until(&self, stop: &Stop) -> Resolved {
        let query = |query: &QueryPart| QueryPart { composition: query.composition.until(stop), ..query.clone() };
        Resolved {
            levels: self.levels.iter().map(|(name, part)| (name.clone(), part.until(stop))).collect(),
            queries: self.queries.iter().map(query).collect(),
            total: self.total.until(stop),
            whole: self.whole.until(stop),
            ..self.clone()
        }
    }

    /// The pair of paths that decides an answer about the whole, in words.
    pub fn deciding_pair(&self, answer: &Answer) -> Option<String> {
        Some(in_words(self.paths_of.as_ref()?, answer.pair()?, self.worst()?))
    }
}

/// The paths of a pair by their numbers and by what they drop.
fn in_words(release: &Release, (p, q): (usize, usize), worst: &WorstPath) -> String {
    let drops = |path: usize| match release.dropped_names(path) {
        names if names.is_empty() => format!("path {} (drops no level)", path + 1),
        names => format!("path {} (drops {})", path + 1, names.join(", ")),
    };
    if worst.in_pairs() {
        format!("{} and {}, the worst of {} pairs of block paths", drops(p), drops(q), worst.count())
    } else {
        format!("{}, the worst of {} block paths", drops(p), worst.count())
    }
}

impl QueryPart {
    /// Its name, and how many are like it.
    pub fn shown(&self) -> String {
        if self.times == 1 { self.name.clone() } else { format!("{} ({} of them)", self.name, self.times) }
    }

    /// The same with all noise multiplied by `factor`.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<QueryPart> {
        let (counts, composition) = (self.counts.with_noise_times(factor)?, self.composition.with_noise_times(factor)?);
        Ok(QueryPart { counts, composition, ..self.clone() })
    }
}

impl Subject {
    /// The same with all noise multiplied by `factor`.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Subject> {
        let release = self.release.as_ref().map(|release| release.with_noise_times(factor)).transpose()?;
        let singles = self.singles.iter().map(|single| single.with_noise_times(factor)).collect::<Result<_>>()?;
        Ok(Subject { release, singles, ..self.clone() })
    }

    /// The same, all of it so many times, each time with noise of its own: as part of another subject that is there once.
    pub fn repeated(&self, times: u64) -> Result<Subject> {
        let release = self.release.as_ref().map(|release| release.repeated(times)).transpose()?;
        let singles = self.singles.iter().map(|single| single.repeated(times)).collect::<Result<_>>()?;
        Ok(Subject { release, singles, ..self.clone() })
    }

    /// Each part alone, in the order of [`Resolved::levels`]: the levels of the release, and the counts given one by one.
    pub fn parts(&self) -> Vec<Subject> {
        let all = |release: &Release| match self.levels.as_slice() {
            [] => release.levels.iter().map(|level| level.name.clone()).collect(),
            named => named.to_vec(),
        };
        let levels: Vec<String> = self.release.as_ref().map(all).unwrap_or_default();
        let of_level = |level: String| Subject { levels: vec![level], singles: Vec::new(), ..self.clone() };
        // Alone they have the relation of the release that they are beside.
        let neighbors = self.neighbors.or(self.release.as_ref().map(|release| release.neighbors));
        let singles = Subject { release: None, levels: Vec::new(), neighbors, ..self.clone() };
        levels.into_iter().map(of_level).chain((!self.singles.is_empty()).then_some(singles)).collect()
    }

    /// Composes it. Refused are a subject of nothing, and levels that the release does not have or that are named twice.
    pub fn resolve(self) -> Result<Resolved> {
        let own = self.release.as_ref().map(|release| release.neighbors);
        let neighbors = self.neighbors.or(own).unwrap_or(Neighbors::AddRemove);
        let mut titles: Vec<String> = Vec::new();
        let mut parts: Vec<(String, Composition)> = Vec::new();
        if let Some(release) = &self.release {
            let shown = if self.levels.is_empty() { release.title.clone() } else { self.levels.join(", ") };
            titles.push(format!("{}: {shown}", release.name));
            parts.extend(self.levels_of(release, neighbors)?);
        }
        if !self.singles.is_empty() {
            titles.push(self.singles.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + "));
            let composition = Composition::new(self.singles.iter().cloned())?;
            let composition = match neighbors {
                Neighbors::AddRemove => composition,
                Neighbors::Bounded => composition.for_changed_records()?,
            };
            parts.push((SINGLES.to_string(), composition));
        }
        for (_, part) in &mut parts {
            *part = self.multiplied(part)?;
        }
        let queries = self.queries(neighbors)?;
        let total = Composition::new(parts.iter().flat_map(|(_, part)| part.counts().iter().cloned()))?;
        let paths_of = self.release.as_ref().filter(|release| release.paths.is_some() && self.levels.is_empty());
        let whole = match paths_of {
            None => Whole::Composition(total.clone()),
            Some(release) => Whole::WorstPath(self.worst_path(release, neighbors)?),
        };
        let paths_of = paths_of.cloned();
        let (figures, figures_of_parts) = self.figures(neighbors, &parts);
        let levels = if parts.len() > 1 { parts } else { Vec::new() };
        let group = if self.group == 1 { String::new() } else { format!(", groups of {}", self.group) };
        let repeat = if self.repeat == 1 { String::new() } else { format!(", released {} times", self.repeat) };
        let title = titles.join(" + ") + &group + &repeat;
        let subject = (!levels.is_empty()).then(|| Box::new(self));
        Ok(Resolved { title, neighbors, levels, queries, total, whole, paths_of, figures, figures_of_parts, subject })
    }

    /// What was published for all of it, and for its parts: for one person, once, under the release's own relation.
    fn figures(
        &self,
        neighbors: Neighbors,
        parts: &[(String, Composition)],
    ) -> (Vec<PrintedFigure>, Vec<(String, PrintedFigure)>) {
        let is_own = |release: &&Release| release.neighbors == neighbors && self.group == 1 && self.repeat == 1;
        let Some(release) = self.release.as_ref().filter(is_own) else { return Default::default() };
        let whole = if self.singles.is_empty() { release.figures_of(&self.levels) } else { Vec::new() };
        let of_part = |(name, _): &(String, Composition)| {
            let figures = if name == SINGLES { Vec::new() } else { release.figures_of(&[name]) };
            figures.into_iter().map(|figure| (name.clone(), figure)).collect::<Vec<_>>()
        };
        (whole, parts.iter().flat_map(of_part).collect())
    }

    /// The same for the whole group and all repetitions.
    fn multiplied(&self, part: &Composition) -> Result<Composition> {
        let part = if self.group == 1 { part.clone() } else { part.for_groups_of(self.group)? };
        if self.repeat == 1 { Ok(part) } else { part.repeated(self.repeat) }
    }

    /// The queries that were asked for, each alone, and the counts given one by one.
    fn queries(&self, neighbors: Neighbors) -> Result<Vec<QueryPart>> {
        let part = |level: Option<&str>, name: String, times: u64, counts: Counts| -> Result<QueryPart> {
            let composition = self.multiplied(&Composition::new([counts])?)?;
            let counts = composition.counts()[0].clone();
            Ok(QueryPart { level: level.map(String::from), name, times, counts, composition })
        };
        let mut queries = Vec::new();
        for level in self.release.iter().flat_map(|release| &release.levels) {
            if self.levels.is_empty() || self.levels.contains(&level.name) {
                for query in &level.queries {
                    let counts = query.counts(neighbors)?;
                    queries.push(part(Some(&level.name), query.name.clone(), query.times, counts)?);
                }
            }
        }
        for single in &self.singles {
            let changed =
                Counts::new(single.law.clone(), single.count.saturating_mul(neighbors.cells()), single.shift)?;
            queries.push(part(None, single.to_string(), 1, changed)?);
        }
        Ok(queries)
    }

    /// The levels of the release that were asked for, each alone.
    fn levels_of(&self, release: &Release, neighbors: Neighbors) -> Result<Vec<(String, Composition)>> {
        let names: Vec<&String> = match self.levels.as_slice() {
            [] => release.levels.iter().map(|level| &level.name).collect(),
            named => named.iter().collect(),
        };
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(Error::out_of_range("level", twice, "each level named once; it is counted once"));
        }
        let level = |name: &String| Ok((name.clone(), release.composition(&[name], Some(neighbors))?));
        names.into_iter().map(level).collect()
    }

    /// All block paths of a release, with the counts given one by one on each.
    fn worst_path(&self, release: &Release, neighbors: Neighbors) -> Result<WorstPath> {
        let with_singles = |path: Composition| {
            let all = path.counts().iter().chain(&self.singles).cloned();
            self.multiplied(&Composition::new(all)?)
        };
        let paths = release.path_compositions()?.into_iter().map(with_singles);
        let units = if neighbors == Neighbors::Bounded { Units::Pairs } else { Units::Single };
        WorstPath::new(paths.collect::<Result<_>>()?, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(matches!(named(&["Moon"]).resolve(), Err(Error::UnknownLevel { .. })));
        let twice = named(&["State", "State"]).resolve().unwrap_err().to_string();
        assert!(twice.contains("State") && twice.contains("once"), "{twice}");
        assert!(matches!(of("sdhc-pr").resolve(), Err(Error::BudgetOnly { .. })));
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
}
