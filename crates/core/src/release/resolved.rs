//! A resolved subject: its parts, its queries and its compositions.

use std::sync::Arc;

use rug::Rational;

use super::{
    accounted::{SINGLES, Subject},
    neighbors::Neighbors,
    unit::Unit,
    ways::{self, Names},
};
use crate::{
    account::{
        Account, Answer, Composition, Counts, Delta, Rho, Stop,
        compared::{Against, Compared, PrintedFigure},
        conditions,
        paths::{Whole, WorstPath},
    },
    error::{Error, Result},
    law::Law,
    numeric::rational,
};

/// The note on a release whose counts are counted twice.
pub const TAKEN_TWICE: &str = "Every count of the release is counted twice: a changed record leaves one cell and enters another. For a query with \
                               a single cell, which no record leaves, this is an upper bound (moves = 0 in a release file states that it does \
                               not move).";

/// The same where some queries are guarantees.
const COUNTS_TAKEN_TWICE: &str = "Every count of the release is counted twice: a changed record leaves one cell and enters another. A guarantee for bounded \
                                  neighbors is counted once; one for add-remove covers a changed record as two, with twice its epsilon. For a query with a \
                                  single cell, which no record leaves, this is an upper bound (moves = 0 in a release file states that it does not move).";

/// The note on Poisson samples. Sampled noise refuses bounded neighbors and has no rows, so no other note is left out.
const SAMPLED: &str = "Poisson samples: the losses of a removed and of an added record differ. Epsilon, delta and type II errors are those of the worse; power and correct \
                       decisions are of tests whether the record is present. rho, and every account by it, ignores the sampling, so that it is a far larger upper bound.";

/// The note on several releases of counts of which the data decide how they change.
const REPEATED: &str = "Each release is taken to be of counts of its own, with the worst change in each: an upper bound for releases of the same counts again.";

/// The note on queries whose rows move freely.
const ROWS: &str = "Queries with rows: one record moves at most that many rows, into cells of any choice; all in one cell is proven to be the \
                    worst, and is accounted for: an upper bound for any other change.";

/// The same under bounded neighbors.
const ROWS_TWICE: &str = "Every count of the release is counted twice: a changed record leaves one cell and enters another. Of a query with rows \
                          at most that many leave and at most that many enter, in cells of any choice; all in one cell on each side is \
                          proven to be the worst, and is accounted for: an upper bound for any other change.";

/// A subject and its compositions.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// A line that describes it.
    pub title: String,
    /// The neighbor relation in force.
    pub neighbors: Neighbors,
    /// The number of records that differ between neighbors, at most.
    pub group: u64,
    /// The number of releases of everything, each with noise of its own.
    pub repeat: u64,
    /// How often counts are counted, the largest number of all: twice under bounded neighbors, unless the counts are given for these.
    pub taken: u64,
    /// Whether counts of a release are counted twice.
    pub(super) is_release_twice: bool,
    /// The queries that do not change under the relation, which are left out: `LEVEL / QUERY`.
    pub unmoved: Vec<String>,
    /// The requested levels of the release, each alone, and then the counts given one by one; empty if there
    /// is only one part.
    pub levels: Vec<Part>,
    /// The queries of these levels, and the counts given one by one, each alone.
    pub queries: Vec<QueryPart>,
    /// Everything composed; for a release with paths, on the path that drops nothing, and for one with mixes, of one mix.
    pub total: Composition,
    /// The whole account: everything composed, or the worst of all block paths or mixes of groups.
    pub whole: Whole,
    /// The names of the ways of which the whole is the worst.
    pub(super) names: Option<Arc<Names>>,
    /// The SHA-256 of the text of the release.
    pub(super) release_sha256: Option<String>,
    /// The figures that were published for the whole, at any delta.
    pub(super) figures: Vec<PrintedFigure>,
    /// The subject from which it was resolved, if it has parts: they may be scaled one by one.
    pub(super) subject: Option<Box<Subject>>,
    /// Why releases that are composed may be more private than their account.
    pub(super) releases_may_be_more_private: Option<&'static str>,
    /// The conditions under which the account of composed releases holds, in sentences.
    pub(super) conditions: Vec<String>,
    /// The word for one of its parts: a level, or a release.
    pub part_word: &'static str,
}

/// The subject of a certified number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certified {
    /// The declared mechanism.
    Mechanism,
    /// The worst of the mechanisms with the declared guarantees.
    WorstOfGuarantees,
    /// An account that is a bound for the mechanism.
    Account,
}

/// Several releases about the same people, composed.
pub struct Together {
    /// A line that describes them.
    pub title: String,
    /// The neighbor relation.
    pub neighbors: Neighbors,
    /// Everything composed.
    pub whole: Whole,
    /// Each release alone, under its name.
    pub parts: Vec<(String, Whole)>,
    /// Every noise of theirs, with the name of its release.
    pub counts: Vec<(String, Counts)>,
    /// Why they may be more private than their account.
    pub may_be_more_private: Option<&'static str>,
    /// The conditions under which the account holds, in sentences.
    pub conditions: Vec<String>,
}

impl Together {
    /// The releases as a subject.
    pub fn resolved(self) -> Result<Resolved> {
        let is_one = self.parts.len() == 1;
        let query = |(release, counts): (String, Counts)| {
            let composition = Composition::new([counts.clone()])?;
            Ok(QueryPart {
                level: Some(release).filter(|_| !is_one),
                name: counts.to_string(),
                times: 1,
                counts,
                composition,
            })
        };
        let queries: Vec<QueryPart> = self.counts.into_iter().map(query).collect::<Result<_>>()?;
        let part = |(name, whole): (String, Whole)| {
            Ok(Part { name, total: one_way(&whole)?, whole, names: None, figures: Vec::new() })
        };
        let levels: Vec<Part> = self.parts.into_iter().map(part).collect::<Result<_>>()?;
        let total = one_way(&self.whole)?;
        Ok(Resolved {
            levels: if levels.len() > 1 { levels } else { Vec::new() },
            queries,
            whole: self.whole,
            releases_may_be_more_private: self.may_be_more_private,
            conditions: self.conditions,
            part_word: "release",
            ..Resolved::of_composition(self.title, self.neighbors, total)
        })
    }
}

/// Whether noise is known by a guarantee alone, which mechanisms with less loss have as well.
#[doc(hidden)]
pub fn is_guarantee(law: &Law) -> bool {
    matches!(law, Law::Pure { .. } | Law::Approximate { .. } | Law::BoundedRange { .. })
}

/// The composition, or that of one way.
fn one_way(whole: &Whole) -> Result<Composition> {
    match whole {
        Whole::Composition(one) => Ok(one.clone()),
        Whole::WorstPath(worst) => worst.composition((0, 0)),
        Whole::ManyWays(many) => one_way(many.some()),
    }
}

/// A part of the composition: a level of a release, or the counts given one by one; or the whole.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// All its counts composed; for a level with a mix of groups, of one mix.
    pub total: Composition,
    /// Its account: all its counts composed, or the worst of all ways in which a record enters it.
    pub whole: Whole,
    /// The names of the ways.
    pub(super) names: Option<Arc<Names>>,
    /// The figures that were published for it, at any delta.
    pub(super) figures: Vec<PrintedFigure>,
}

impl Part {
    /// Its budget: the same in every mix.
    pub fn rho(&self) -> Rho {
        self.whole.rho()
    }

    /// The mix of groups that determines an answer about it, in words.
    pub fn deciding(&self, answer: &Answer) -> Option<String> {
        self.names.as_ref()?.deciding(answer)
    }

    /// The figures that were published for it, at any delta.
    pub fn figures(&self) -> &[PrintedFigure] {
        &self.figures
    }

    /// The number with which it is compared.
    pub fn compared(&self, against: Against, delta: &Delta, digits: u32) -> Result<Compared> {
        Compared::of_account(&self.whole, &self.figures, against, delta, digits)
    }

    fn until(&self, stop: &Stop) -> Part {
        Part { total: self.total.until(stop), whole: self.whole.until(stop), ..self.clone() }
    }

    /// All its noise.
    pub fn noise(&self) -> Result<Composition> {
        ways::noise(&self.total, &self.whole, self.names.as_deref())
    }

    /// The same with other noise, for which nothing was published.
    fn with_noise_times(&self, factor: &Rational) -> Result<Part> {
        let (total, whole) = (self.total.with_noise_times(factor)?, self.whole.with_noise_times(factor)?);
        Ok(Part { total, whole, figures: Vec::new(), ..self.clone() })
    }
}

/// A query, with all that are like it, or counts given one by one, with its account alone.
#[derive(Clone, Debug)]
pub struct QueryPart {
    /// Its level; `None` for counts given one by one.
    pub level: Option<String>,
    /// Its name, or the counts as written.
    pub name: String,
    /// The number of queries like it, including this one.
    pub times: u64,
    /// Its counts that one record, or the group, changes: of all queries like it, in all repetitions.
    pub counts: Counts,
    /// These counts as a mechanism of their own.
    pub composition: Composition,
}

impl Resolved {
    /// All block paths or mixes of groups, if the whole is the worst of them.
    pub fn worst(&self) -> Option<&WorstPath> {
        match &self.whole {
            Whole::Composition(_) | Whole::ManyWays(_) => None,
            Whole::WorstPath(worst) => Some(worst),
        }
    }

    /// A single composition, under a title.
    pub fn of_composition(title: String, neighbors: Neighbors, composition: Composition) -> Resolved {
        Resolved {
            title,
            neighbors,
            group: 1,
            repeat: 1,
            taken: neighbors.cells(),
            is_release_twice: false,
            unmoved: Vec::new(),
            levels: Vec::new(),
            queries: Vec::new(),
            total: composition.clone(),
            whole: Whole::Composition(composition),
            names: None,
            release_sha256: None,
            figures: Vec::new(),
            subject: None,
            releases_may_be_more_private: None,
            conditions: Vec::new(),
            part_word: "level",
        }
    }

    /// An account under a title, of which only this is known.
    #[doc(hidden)]
    pub fn of_whole(title: String, neighbors: Neighbors, whole: Whole) -> Result<Resolved> {
        Ok(Resolved { whole: whole.clone(), ..Resolved::of_composition(title, neighbors, one_way(&whole)?) })
    }

    /// The SHA-256 of the text of the release from which it was made: `None` if that is no file, or the noise is not that of the file.
    pub fn release_sha256(&self) -> Option<&str> {
        self.release_sha256.as_deref()
    }

    /// The same, made from the text of this SHA-256.
    #[doc(hidden)]
    pub fn made_from(self, release_sha256: Option<String>) -> Resolved {
        Resolved { release_sha256, ..self }
    }

    /// The parts of the composition, each alone under its name; empty if there is only one.
    pub fn parts(&self) -> Vec<Resolved> {
        let part = |part: &Part| Resolved {
            title: format!("{}, {}", self.title, part.name),
            levels: Vec::new(),
            queries: self
                .queries
                .iter()
                .filter(|query| query.level.as_deref().unwrap_or(SINGLES) == part.name)
                .cloned()
                .collect(),
            total: part.total.clone(),
            whole: part.whole.clone(),
            names: part.names.clone(),
            figures: part.figures.clone(),
            release_sha256: self.release_sha256.clone().filter(|_| part.name != SINGLES),
            subject: None,
            is_release_twice: self.is_release_twice && part.name != SINGLES,
            ..self.clone()
        };
        self.levels.iter().map(part).collect()
    }

    /// The parts that are compared, calibrated or drawn one by one: the levels, or the whole under a name if there is only one part.
    pub fn parts_or(&self, whole: &str) -> Vec<Part> {
        if self.levels.is_empty() { vec![self.as_part(whole)] } else { self.levels.clone() }
    }

    /// The whole under a name.
    pub fn as_part(&self, name: &str) -> Part {
        Part {
            name: name.to_string(),
            total: self.total.clone(),
            whole: self.whole.clone(),
            names: self.names.clone(),
            figures: self.figures.clone(),
        }
    }

    /// The figures that were published for the whole, at any delta.
    pub fn figures(&self) -> &[PrintedFigure] {
        &self.figures
    }

    /// The number with which the whole is compared.
    pub fn compared(&self, against: Against, delta: &Delta, digits: u32) -> Result<Compared> {
        Compared::of_account(&self.whole, &self.figures, against, delta, digits)
    }

    /// Whether some of the noise is known by a guarantee alone, so that numbers about it are upper bounds of the risk: the mechanism may spend less. An answer
    /// of randomized response is a mechanism, and attains its pair.
    pub fn is_known_by_guarantee(&self) -> bool {
        self.queries.iter().any(|query| is_guarantee(&query.counts.law))
    }

    /// Whom the account is about.
    pub fn unit(&self) -> Unit {
        Unit { neighbors: self.neighbors, group: self.group, repeat: self.repeat }
    }

    /// Why the mechanism may be more private than the account, in words; `None` if the account is that of the declared mechanism.
    pub fn may_be_more_private(&self) -> Option<&'static str> {
        if self.is_known_by_guarantee() {
            return Some(match self.is_release_twice {
                false => {
                    "some of the noise is known by a guarantee alone, which a mechanism with less loss has as well"
                }
                true => {
                    "some of the noise is known by a guarantee alone, which a mechanism with less loss has as well, and a changed record is counted as leaving and entering each query, \
                     where it may do neither"
                }
            });
        }
        if let Some(why) = self.releases_may_be_more_private {
            return Some(why);
        }
        if self.repeats_a_choice() {
            return Some("each release may be of other counts, and releases of the same counts have less loss");
        }
        self.is_release_twice.then_some(
            "a query with a single cell, if there is one, is counted like all others, and no record leaves it",
        )
    }

    /// The mechanisms that are known, composed, where guarantees alone make the account an upper bound. `None` where something else does, or where
    /// nothing beside the guarantees is released.
    pub fn without_guarantees(&self) -> Result<Option<Composition>> {
        let other = self.is_release_twice || self.releases_may_be_more_private.is_some() || self.repeats_a_choice();
        if other || !self.is_known_by_guarantee() || self.worst().is_some() {
            return Ok(None);
        }
        let known = self.total.counts().iter().filter(|counts| !is_guarantee(&counts.law)).cloned().collect::<Vec<_>>();
        if known.is_empty() { Ok(None) } else { Composition::new(known).map(Some) }
    }

    /// The subject of an exact number, after "certified": the mechanism, the worst one with the guarantees, or the account alone.
    pub fn certified_for(&self) -> Certified {
        // A pair attains each guarantee. Of several mechanisms of bounded range, and of a guarantee for groups, the account is a bound.
        let is_range = |query: &QueryPart| query.counts.law.key() == "exponential";
        let is_one = self.total.counts().iter().map(|counts| counts.count).sum::<u64>() == 1;
        // So it is where a query is counted twice: no record leaves a single cell, and a changed record is not two in the worst mechanism.
        let is_bound = self.is_release_twice || self.repeats_a_choice() || self.releases_may_be_more_private.is_some();
        // A guarantee for one record more or less covers a change, or several records, in steps, of which no mechanism may attain the bound.
        let release = self.subject.as_deref().and_then(|subject| subject.release.as_ref());
        let is_in_steps = |query: &QueryPart| is_guarantee(&query.counts.law) && query.counts.shift > 1;
        let has_steps =
            release.is_some_and(|release| release.neighbors != self.neighbors) || self.queries.iter().any(is_in_steps);
        let is_attained = self.group == 1 && !is_bound && !has_steps && (is_one || !self.queries.iter().any(is_range));
        match (self.is_known_by_guarantee(), self.may_be_more_private()) {
            (true, _) if is_attained => Certified::WorstOfGuarantees,
            (_, Some(_)) => Certified::Account,
            (_, None) => Certified::Mechanism,
        }
    }

    /// Whether several releases have counts of which the data decide how they change: the account takes the worst for each release.
    fn repeats_a_choice(&self) -> bool {
        self.repeat > 1 && self.total.counts().iter().any(|counts| counts.law.has_alternatives())
    }

    /// This subject, which may be more private than its account for this reason as well.
    pub fn at_most_as_private(self, why: Option<&'static str>) -> Self {
        Resolved { releases_may_be_more_private: self.releases_may_be_more_private.or(why), ..self }
    }

    /// All noise.
    pub fn noise(&self) -> Result<Composition> {
        ways::noise(&self.total, &self.whole, self.names.as_deref())
    }

    /// Everything composed again, with the noise of each part multiplied by its own factor, in the order of the parts; for a release
    /// with paths or mixes the worst of these.
    pub fn with_noise_of_parts_times(&self, factors: &[Rational]) -> Result<Resolved> {
        let Some(subject) = self.subject.as_deref().filter(|_| factors.len() == self.levels.len()) else {
            let (given, parts) = (factors.len(), self.levels.len());
            return Err(Error::conflict(format!("{given} factors for {parts} parts: give one for each part")));
        };
        let factor = |name: &str| {
            let part = self.levels.iter().zip(factors).find(|(own, _)| own.name == name);
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

    /// This subject with all noise multiplied by `factor`: variances times the factor, parameters of the discrete Laplace divided
    /// by it.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Resolved> {
        Ok(Resolved {
            title: format!("{}, all noise times {}", self.title, rational::display(factor)),
            levels: self.levels.iter().map(|part| part.with_noise_times(factor)).collect::<Result<_>>()?,
            queries: self.queries.iter().map(|query| query.with_noise_times(factor)).collect::<Result<_>>()?,
            total: self.total.with_noise_times(factor)?,
            whole: self.whole.with_noise_times(factor)?,
            release_sha256: None,
            // Published figures are about other noise.
            figures: Vec::new(),
            subject: None,
            ..self.clone()
        })
    }

    /// This subject, whose requests end with [`Error::Stopped`] once `stop` is set.
    pub fn until(&self, stop: &Stop) -> Resolved {
        let query = |query: &QueryPart| QueryPart { composition: query.composition.until(stop), ..query.clone() };
        Resolved {
            levels: self.levels.iter().map(|part| part.until(stop)).collect(),
            queries: self.queries.iter().map(query).collect(),
            total: self.total.until(stop),
            whole: self.whole.until(stop),
            ..self.clone()
        }
    }

    /// The block paths, or the mix of groups, that determine an answer about the whole, in words.
    pub fn deciding_pair(&self, answer: &Answer) -> Option<String> {
        self.names.as_ref()?.deciding(answer)
    }

    /// The composition that determines an answer about the whole: of several ways the one, or the pair of them, that the answer names.
    pub fn deciding_composition(&self, answer: &Answer) -> Result<Composition> {
        match (&self.whole, answer.pair()) {
            (Whole::WorstPath(worst), Some(pair)) => worst.composition(pair),
            (Whole::WorstPath(_), None) | (Whole::Composition(_) | Whole::ManyWays(_), _) => Ok(self.total.clone()),
        }
    }

    /// The ways of which the whole is the worst, with their number, as in `136 pairs of block paths`.
    pub fn ways(&self) -> Option<String> {
        self.names.as_ref().map(|names| names.all())
    }

    /// This subject beside releases of which the account holds under these conditions.
    pub fn under(mut self, conditions: &[String]) -> Resolved {
        self.conditions.extend_from_slice(conditions);
        self
    }

    /// The conditions under which the account holds, in sentences: of its counts, and of releases that are composed. Every answer states them.
    pub fn conditions(&self) -> Vec<String> {
        let mut all = conditions::of_counts(self.queries.iter().map(|query| &query.counts).chain(self.total.counts()));
        let of_releases = self.conditions.iter().filter(|condition| !all.contains(condition));
        let of_releases: Vec<String> = of_releases.cloned().collect();
        all.extend(of_releases);
        all
    }

    /// The note on an answer about a release under bounded neighbors whose counts are counted twice, or whose rows move freely; and the conditions under which
    /// the answer holds.
    pub fn note(&self) -> Option<String> {
        let all: Vec<String> = self.note_on_counts().map(String::from).into_iter().chain(self.conditions()).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    fn note_on_counts(&self) -> Option<&'static str> {
        let has_guarantee = self.queries.iter().any(|query| query.counts.law.is_guarantee());
        let has_rows = self.queries.iter().any(|query| query.counts.free_rows);
        if self.total.is_sampled() {
            return Some(SAMPLED);
        }
        if self.repeats_a_choice() {
            return Some(REPEATED);
        }
        match (self.is_release_twice, has_rows) {
            (true, true) => Some(ROWS_TWICE),
            (true, false) => Some(if has_guarantee { COUNTS_TAKEN_TWICE } else { TAKEN_TWICE }),
            (false, true) => Some(ROWS),
            (false, false) => None,
        }
    }
}

impl QueryPart {
    /// Its name, and the number of queries like it.
    pub fn shown(&self) -> String {
        if self.times == 1 { self.name.clone() } else { format!("{} ({} of them)", self.name, self.times) }
    }

    /// Its level and its name.
    pub fn place(&self) -> String {
        match &self.level {
            Some(level) => format!("{level} / {}", self.shown()),
            None => self.shown(),
        }
    }

    /// This part with all noise multiplied by `factor`.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<QueryPart> {
        let (counts, composition) = (self.counts.with_noise_times(factor)?, self.composition.with_noise_times(factor)?);
        Ok(QueryPart { counts, composition, ..self.clone() })
    }
}
