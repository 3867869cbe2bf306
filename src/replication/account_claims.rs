//! Claims about the privacy account of a release or of counts, as data.
//!
//! A claim has a question, its `kind`, and a subject. `KINDS` lists all questions.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use rug::Rational;
use serde_json::{Map, Value, json};
use toml::Spanned;

use crate::{
    account::{Composition, Counts, Delta, Epsilon, Rho},
    error::{Result, unknown},
    io::files::file_error,
    io::toml_node::Fields,
    law::Law,
    numeric::rational,
    release::{Neighbors, Release, bundled_text, place_beside, subject::Subject},
    risk::check_prior,
};

/// A question about an account, and its subject.
#[derive(Clone, Debug)]
pub struct AccountClaim {
    /// The kind of question.
    pub kind: &'static Kind,
    /// The question.
    pub question: Question,
    /// The subject.
    pub about: About,
}

/// The queried quantity.
#[derive(Clone, Debug)]
pub enum Question {
    /// The exact epsilon at a delta, in nats.
    Epsilon(Delta),
    /// The exact delta at an epsilon.
    Delta(Epsilon),
    /// The smallest type II error at a type I error.
    Tradeoff(Rational),
    /// The rho of zero-concentrated differential privacy.
    Rho,
    /// epsilon = rho + 2 sqrt(rho ln(1 / delta)).
    ZcdpEpsilon(Delta),
    /// delta = exp(-(epsilon - rho)^2 / (4 rho)).
    ZcdpDelta(Epsilon),
    /// The epsilon that rho implies by the best order (Canonne, Kamath & Steinke 2020, Corollary 13).
    OptimalOrderEpsilon(Delta),
    /// The epsilon that the exact Renyi divergences imply by the same conversion.
    RenyiEpsilon(Delta),
    /// The epsilon of continuous Gaussian noise with the same rho: mu = sqrt(2 rho).
    GdpEpsilon(Delta),
    /// The delta of the same noise.
    GdpDelta(Epsilon),
    /// The epsilon of pure differential privacy.
    PureEpsilon,
    /// The variance proxy that all counts share.
    Sigma2,
    /// The reduction of the exact epsilon from the zCDP epsilon, in percent.
    EpsilonReduction(Delta),
    /// Whether the exact epsilon is below the zCDP epsilon at every delta, for each level and for all levels together.
    BelowZcdp(Vec<Delta>),
    /// The variance proxy at which the exact epsilon equals the zCDP epsilon of the counts' own noise.
    MatchedSigma2(Delta),
    /// The reduction of that variance proxy from the counts' own, in percent.
    NoiseReduction(Delta),
    /// The reduction of all variances, in percent, at which the exact epsilon equals the zCDP epsilon.
    OverallReduction(Delta),
    /// The same with `P[L > epsilon]` in place of delta(epsilon), the bound without the second term; optionally with
    /// another target epsilon.
    OverallReductionOneTerm(Delta, Option<Rational>),
    /// The largest probability of a correct decision of any adversary with this prior.
    CorrectDecision(Rational),
    /// The total variation distance of the outputs with and without a record.
    Advantage,
    /// The largest posterior for this prior after any event that has at least probability delta if the record is there; the same of its absence at that prior of absence.
    Posterior(Rational, Delta),
}

impl Question {
    /// Whether the answer is beside a number that follows from rho or from moments, which say nothing of infinite losses.
    pub(super) fn compares_with_rho(&self) -> bool {
        matches!(
            self,
            Question::RenyiEpsilon(_)
                | Question::EpsilonReduction(_)
                | Question::BelowZcdp(_)
                | Question::MatchedSigma2(_)
                | Question::NoiseReduction(_)
                | Question::OverallReduction(_)
                | Question::OverallReductionOneTerm(..)
        )
    }
}

impl AccountClaim {
    /// The computation: the kind, and everything that the result depends on, by name.
    pub fn asked(&self) -> Map<String, Value> {
        let mut asked = Map::from_iter([("kind".to_string(), json!(self.kind.name))]);
        let given = self.question.given().into_iter();
        asked.extend(given.map(|(name, value)| (name.to_string(), value)));
        asked.extend(self.about.named(self.kind.is_about_rho));
        asked
    }
}

/// The kind of quantity that answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// An epsilon, in nats.
    Nats,
    /// A rho.
    Rho,
    /// A variance proxy.
    Sigma2,
    /// A probability.
    Probability,
    /// A percentage.
    Percent,
    /// Whether something holds.
    Statement,
}

impl Question {
    /// Whether the answer is a rational number that is known exactly.
    pub fn is_exact(&self) -> bool {
        matches!(self, Question::Rho | Question::Sigma2 | Question::PureEpsilon)
    }

    /// The parameters of the question, by their names in files.
    fn given(&self) -> Vec<(&'static str, Value)> {
        let exact = |value: &Rational| json!(rational::display(value));
        match self {
            Question::Epsilon(delta)
            | Question::ZcdpEpsilon(delta)
            | Question::OptimalOrderEpsilon(delta)
            | Question::RenyiEpsilon(delta)
            | Question::GdpEpsilon(delta)
            | Question::EpsilonReduction(delta)
            | Question::MatchedSigma2(delta)
            | Question::NoiseReduction(delta)
            | Question::OverallReduction(delta) => vec![("delta", json!(delta.to_string()))],
            Question::Delta(epsilon) | Question::ZcdpDelta(epsilon) | Question::GdpDelta(epsilon) => {
                vec![("epsilon", json!(epsilon.to_string()))]
            }
            Question::Tradeoff(alpha) => vec![("alpha", exact(alpha))],
            Question::BelowZcdp(deltas) => {
                vec![("deltas", deltas.iter().map(ToString::to_string).collect())]
            }
            Question::OverallReductionOneTerm(delta, target) => {
                let target = target.iter().map(|target| ("target", exact(target)));
                std::iter::once(("delta", json!(delta.to_string()))).chain(target).collect()
            }
            Question::CorrectDecision(prior) => vec![("prior", exact(prior))],
            Question::Posterior(prior, delta) => vec![("prior", exact(prior)), ("delta", json!(delta.to_string()))],
            Question::Rho | Question::PureEpsilon | Question::Sigma2 | Question::Advantage => Vec::new(),
        }
    }
}

/// A kind of question.
#[derive(Debug)]
pub struct Kind {
    /// Its name in files.
    pub name: &'static str,
    /// The kind of quantity that answers the question.
    pub measure: Measure,
    /// Whether the answer depends on rho alone.
    pub(super) is_about_rho: bool,
    /// Reads the fields of the question.
    read: fn(&mut Fields) -> Result<Question>,
}

/// A kind of question about a whole account.
const fn kind(name: &'static str, measure: Measure, read: fn(&mut Fields) -> Result<Question>) -> Kind {
    Kind { name, measure, is_about_rho: false, read }
}

/// A kind of question whose answer depends on rho alone.
const fn of_rho(name: &'static str, measure: Measure, read: fn(&mut Fields) -> Result<Question>) -> Kind {
    Kind { is_about_rho: true, ..kind(name, measure, read) }
}

/// Every question by its `kind`.
pub(super) const KINDS: &[Kind] = &[
    kind("epsilon", Measure::Nats, |fields| Ok(Question::Epsilon(fields.needed("delta")?))),
    kind("delta", Measure::Probability, |fields| Ok(Question::Delta(fields.needed("epsilon")?))),
    kind("tradeoff", Measure::Probability, |fields| Ok(Question::Tradeoff(probability(fields, "alpha")?))),
    of_rho("rho", Measure::Rho, |_| Ok(Question::Rho)),
    of_rho("zcdp-epsilon", Measure::Nats, |fields| Ok(Question::ZcdpEpsilon(fields.needed("delta")?))),
    of_rho("zcdp-delta", Measure::Probability, |fields| Ok(Question::ZcdpDelta(fields.needed("epsilon")?))),
    of_rho("optimal-order-epsilon", Measure::Nats, |fields| Ok(Question::OptimalOrderEpsilon(fields.needed("delta")?))),
    kind("renyi-epsilon", Measure::Nats, |fields| Ok(Question::RenyiEpsilon(fields.needed("delta")?))),
    of_rho("gdp-epsilon", Measure::Nats, |fields| Ok(Question::GdpEpsilon(fields.needed("delta")?))),
    of_rho("gdp-delta", Measure::Probability, |fields| Ok(Question::GdpDelta(fields.needed("epsilon")?))),
    kind("pure-epsilon", Measure::Nats, |_| Ok(Question::PureEpsilon)),
    kind("sigma2", Measure::Sigma2, |_| Ok(Question::Sigma2)),
    kind("epsilon-reduction", Measure::Percent, |fields| Ok(Question::EpsilonReduction(fields.needed("delta")?))),
    kind("below-zcdp", Measure::Statement, |fields| Ok(Question::BelowZcdp(deltas(fields)?))),
    kind("matched-sigma2", Measure::Sigma2, |fields| Ok(Question::MatchedSigma2(fields.needed("delta")?))),
    kind("noise-reduction", Measure::Percent, |fields| Ok(Question::NoiseReduction(fields.needed("delta")?))),
    kind("overall-reduction", Measure::Percent, |fields| Ok(Question::OverallReduction(fields.needed("delta")?))),
    kind("overall-reduction-one-term", Measure::Percent, |fields| {
        let target =
            fields.number("target", "an epsilon from 0 to 1000 to meet", |value| (0..=1000).contains(value))?;
        Ok(Question::OverallReductionOneTerm(fields.needed("delta")?, target))
    }),
    kind("correct-decision", Measure::Probability, |fields| Ok(Question::CorrectDecision(prior(fields)?))),
    kind("advantage", Measure::Probability, |_| Ok(Question::Advantage)),
    kind("posterior", Measure::Probability, |fields| Ok(Question::Posterior(prior(fields)?, fields.needed("delta")?))),
];

/// Former names of kinds.
const ALIASES: &[(&str, &str)] = &[("release-rho", "rho"), ("release-zcdp-epsilon", "zcdp-epsilon")];

fn probability(fields: &mut Fields, name: &'static str) -> Result<Rational> {
    let given = fields.number(name, "a probability from 0 to 1", |value| (0..=1).contains(value))?;
    given.ok_or_else(|| fields.missing(name, "0.05"))
}

fn prior(fields: &mut Fields) -> Result<Rational> {
    let given = fields.number("prior", "a probability 0 < prior < 1", |value| check_prior(value).is_ok())?;
    given.ok_or_else(|| fields.missing("prior", "\"1/2\""))
}

fn deltas(fields: &mut Fields) -> Result<Vec<Delta>> {
    let deltas = fields.read_each("deltas", str::parse)?;
    if deltas.is_empty() { Err(fields.missing("deltas", "[\"1e-5\", \"1e-10\"]")) } else { Ok(deltas) }
}

/// The subject of a claim: a release or a part of it, counts, or a rho alone.
#[derive(Clone, Debug)]
pub struct About {
    /// The rho, if nothing else is known.
    pub rho: Option<Rho>,
    release: Option<Arc<Release>>,
    levels: Vec<String>,
    queries: Vec<String>,
    singles: Vec<Counts>,
    neighbors: Option<Neighbors>,
    counts_as_given: bool,
    group: u64,
    repeat: u64,
}

impl About {
    /// The parts to compose; of a release only the named queries, if some are named.
    pub fn subject(&self) -> Subject {
        let mut levels = self.levels.clone();
        let release = self.release.as_deref().map(|release| {
            if self.queries.is_empty() {
                return release.clone();
            }
            let part = self.queries_of(release);
            levels.retain(|name| part.levels.iter().any(|level| level.name == *name));
            part
        });
        let (singles, neighbors, counts_as_given) = (self.singles.clone(), self.neighbors, self.counts_as_given);
        Subject { release, levels, singles, neighbors, counts_as_given, group: self.group, repeat: self.repeat }
    }

    /// The release, if the claim is about a part of it alone, under the release's neighbor relation: the rho is known
    /// even for a release of which only the budget is known.
    pub fn release_alone(&self) -> Option<Result<Release>> {
        let release = self.release.as_deref()?;
        let own = self.neighbors.is_none_or(|neighbors| neighbors == release.neighbors);
        let alone = self.singles.is_empty() && own && self.group == 1 && self.repeat == 1;
        alone.then(|| self.queries_of(release).only(&self.levels))
    }

    /// The parts of the subject by name: the release and its levels and queries, counts, neighbors, groups,
    /// repetitions, and the total number of counts that a record changes. Block paths do not matter for questions about
    /// rho alone.
    fn named(&self, is_about_rho: bool) -> Vec<(String, Value)> {
        if let Some(rho) = &self.rho {
            return vec![("rho".to_string(), json!(rational::display(rho)))];
        }
        let mut named: Vec<(&str, Value)> = Vec::new();
        if let Some(release) = &self.release {
            let is_worst =
                self.levels.is_empty() && self.queries.is_empty() && release.paths.is_some() && !is_about_rho;
            let levels = match self.levels.as_slice() {
                [] if is_worst => "all levels, on the worst block path".to_string(),
                [] => "all levels".to_string(),
                levels => levels.join(" + "),
            };
            named.extend([("release", json!(release.name)), ("level", json!(levels))]);
        }
        if !self.queries.is_empty() {
            named.push(("queries", json!(self.queries)));
        }
        if !self.singles.is_empty() {
            named.push(("own_counts", self.singles.iter().map(ToString::to_string).collect()));
        }
        let own = self.release.as_ref().map(|release| release.neighbors);
        let neighbors = self.neighbors.or(own).unwrap_or(Neighbors::AddRemove);
        named.push(("neighbors", json!(neighbors.name())));
        let times = [("group", self.group), ("repeat", self.repeat)];
        named.extend(times.into_iter().filter(|(_, times)| *times != 1).map(|(name, times)| (name, json!(times))));
        named.extend(self.number_of_counts().map(|count| ("counts", json!(count))));
        named.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }

    /// The number of counts that one record changes, all levels and repetitions together; the largest over all mixes of groups.
    /// `None` if only a budget is known.
    fn number_of_counts(&self) -> Option<u128> {
        let mut subject = self.subject();
        if subject.levels.is_empty() {
            // With all levels named, no block path omits one.
            subject.levels =
                subject.release.iter().flat_map(|release| &release.levels).map(|level| level.name.clone()).collect();
        }
        let resolved = subject.resolve().ok()?;
        let number = |one: &Composition| one.counts().iter().map(|counts| u128::from(counts.count)).sum::<u128>();
        match resolved.worst() {
            None => Some(number(&resolved.total)),
            Some(worst) => {
                let sides = if worst.in_pairs() { 2 } else { 1 };
                worst.paths().iter().map(|way| sides * number(way)).max()
            }
        }
    }

    /// The release restricted to the named queries, at every level that has some.
    fn queries_of(&self, release: &Release) -> Release {
        if self.queries.is_empty() {
            return release.clone();
        }
        let mut part = Release { paths: None, mixes: Vec::new(), published: Vec::new(), ..release.clone() };
        part.levels.retain_mut(|level| {
            let chosen = self.levels.is_empty() || self.levels.contains(&level.name);
            level.queries.retain(|query| self.queries.contains(&query.name));
            level.rho =
                level.queries.iter().fold(Rational::new(), |sum, query| sum + Rational::from(&query.rho * query.times));
            chosen && !level.queries.is_empty()
        });
        part.rho = part.levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        part
    }
}

/// The releases of the claims of a file, each read once.
#[derive(Debug, Default)]
pub struct Releases {
    /// Relative paths start from this folder.
    folder: PathBuf,
    known: BTreeMap<String, Arc<Release>>,
    /// The files that were read, as paths from the working directory.
    files: Vec<String>,
}

impl Releases {
    /// No releases yet; relative paths start from this folder.
    pub fn in_folder(folder: PathBuf) -> Self {
        Releases { folder, ..Releases::default() }
    }

    /// The bundled releases and the named files, as paths from the working directory.
    pub fn into_names(self) -> Vec<String> {
        self.files
    }

    /// A release by its bundled name or by the path of its file.
    pub(crate) fn find(&mut self, name: &str) -> Result<Arc<Release>> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let place = self.place(name);
        if bundled_text(&place).is_none() && Path::new(&place).exists() && !Path::new(&place).is_file() {
            return Err(file_error(Path::new(&place), "is no file: give the TOML file of a release"));
        }
        let release = Arc::new(Release::find(&place)?);
        self.files.push(place);
        self.known.insert(name.to_string(), release.clone());
        Ok(release)
    }

    /// A bundled name unchanged, or a path from the working directory.
    pub(super) fn place(&self, name: &str) -> String {
        place_beside(name, &self.folder.join("published.toml"))
    }
}

/// Reads a claim of this kind; `None` if no kind has that name. `own` is the default release.
pub(super) fn read(
    kind: &str,
    mut fields: Fields,
    own: Option<&Arc<Release>>,
    releases: &mut Releases,
) -> Result<Option<AccountClaim>> {
    let kind = ALIASES.iter().find(|(alias, _)| *alias == kind).map_or(kind, |(_, name)| name);
    let Some(kind) = KINDS.iter().find(|known| known.name == kind) else { return Ok(None) };
    let question = (kind.read)(&mut fields)?;
    let about = about(&mut fields, kind.is_about_rho, own, releases)?;
    fields.finish()?;
    Ok(Some(AccountClaim { kind, question, about }))
}

/// The subject of an account without a question, with a rho alone allowed: of a deployment.
pub(crate) fn read_subject(mut fields: Fields, releases: &mut Releases) -> Result<About> {
    let about = about(&mut fields, true, None, releases)?;
    fields.finish()?;
    Ok(about)
}

/// Reads the subject of a claim.
fn about(
    fields: &mut Fields,
    is_about_rho: bool,
    own: Option<&Arc<Release>>,
    releases: &mut Releases,
) -> Result<About> {
    let named = match fields.text("release")? {
        None => None,
        Some(name) => {
            Some(releases.find(name.get_ref()).map_err(|error| fields.refuse_field("release", &name, error))?)
        }
    };
    let levels = [fields.texts("level")?, fields.texts("levels")?].concat();
    let queries = [fields.texts("query")?, fields.texts("queries")?].concat();
    let mut singles = Vec::new();
    for key in Law::keys().filter(|key| *key != Law::SAMPLED_KEY) {
        singles.extend(fields.read_each(key, |text| Counts::parse(key, text))?);
    }
    singles.extend(fields.read_each("sampled", Counts::parse_sampled)?);
    let neighbors = fields.text("neighbors")?.map(|name| Neighbors::read(fields.reader(), &name)).transpose()?;
    let counts_as_given = fields.flag("counts-as-given")?;
    let (group, repeat) = (fields.times("group")?, fields.times("repeat")?);
    let rho: Option<Rho> = if is_about_rho { fields.quantity("rho")? } else { None };
    let whole_own = singles.is_empty() && rho.is_none();
    let is_part = !levels.is_empty() || !queries.is_empty();
    let release = named.or_else(|| if whole_own || is_part { own.cloned() } else { None });
    if rho.is_some() && (release.is_some() || !singles.is_empty() || neighbors.is_some() || group != 1 || repeat != 1) {
        return Err(fields.refuse("rho excludes release, counts, neighbors, group and repeat"));
    }
    match &release {
        Some(release) => check_parts(fields, release, &levels, &queries)?,
        None if is_part => {
            return Err(fields
                .refuse("levels and queries are those of a release: name it, as in release = \"pl94-persons-us\""));
        }
        None if whole_own => {
            return Err(fields.refuse(
                "no release and no counts are named: name a release, as in release = \"pl94-persons-us\", or counts, as in \
             discrete-gaussian = \"5x10\" for SIGMA2xCOUNT@SHIFT",
            ));
        }
        None => {}
    }
    let plain = |names: Vec<Spanned<String>>| names.into_iter().map(Spanned::into_inner).collect();
    Ok(About {
        rho,
        release,
        levels: plain(levels),
        queries: plain(queries),
        singles,
        neighbors,
        counts_as_given,
        group,
        repeat,
    })
}

/// Refuses levels and queries that the release does not have, and levels named twice.
fn check_parts(
    fields: &Fields,
    release: &Release,
    levels: &[Spanned<String>],
    queries: &[Spanned<String>],
) -> Result<()> {
    for (index, name) in levels.iter().enumerate() {
        release.level(name.get_ref()).map_err(|error| fields.refuse_field("level", name, error))?;
        if levels[..index].contains(name) {
            return Err(fields.refuse_field("level", name, format!("{:?} is named twice", name.get_ref())));
        }
    }
    let chosen = || {
        let named = |name: &String| levels.is_empty() || levels.iter().any(|level| level.get_ref() == name);
        release.levels.iter().filter(move |level| named(&level.name)).flat_map(|level| &level.queries)
    };
    for name in queries {
        if chosen().any(|query| query.name == *name.get_ref()) {
            continue;
        }
        let mut known: Vec<&str> = chosen().map(|query| query.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let has = format!("the release {} has", release.name);
        return Err(fields.refuse_field("query", name, unknown("query", name.get_ref(), &has, known)));
    }
    Ok(())
}
