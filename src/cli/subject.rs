//! What to account for: the arguments that all accounting commands share.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use dp_assay::{
    account::{Composition, Counts, Epsilon, paths::WorstPath, profile::Point},
    loss::{answer::Certified, family::Units},
    numeric::Enclosure,
    release::{Neighbors, Release},
};
use rayon::prelude::*;
use rug::Rational;

/// What to account for; several are composed.
#[derive(Args)]
pub struct Subject {
    /// A bundled release (`assay releases` lists them) or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE")]
    release: Option<String>,
    /// Only this geolevel of the release (repeatable); all levels composed where none is named
    #[arg(long, value_name = "NAME", requires = "release")]
    level: Vec<String>,
    /// COUNT counts with discrete Gaussian noise of variance proxy SIGMA2, each changed by SHIFT (repeatable)
    #[arg(long, value_name = "SIGMA2[xCOUNT][@SHIFT]", allow_hyphen_values = true)]
    discrete_gaussian: Vec<String>,
    /// COUNT counts with two-sided geometric noise of mass proportional to exp(-EPSILON |x|) (repeatable)
    #[arg(long, value_name = "EPSILON[xCOUNT][@SHIFT]", allow_hyphen_values = true)]
    discrete_laplace: Vec<String>,
    /// COUNT counts with continuous Gaussian noise of variance SIGMA2, for comparison (repeatable)
    #[arg(long, value_name = "SIGMA2[xCOUNT][@SHIFT]", allow_hyphen_values = true)]
    gaussian: Vec<String>,
    /// Which data sets are neighbors, in place of the release's own relation; add-remove for single counts
    #[arg(long, value_enum)]
    neighbors: Option<Relation>,
    /// Groups of K people who leave or enter together: every shift times K
    #[arg(long, value_name = "K", default_value_t = 1)]
    group: u64,
}

/// How exact numbers are asked for and answers are written.
#[derive(Args)]
pub struct Format {
    /// Enclosures of relative width at most 10^-D
    #[arg(long, value_name = "D", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=250))]
    pub digits: u32,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Relation {
    AddRemove,
    Bounded,
}

impl From<Relation> for Neighbors {
    fn from(relation: Relation) -> Neighbors {
        match relation {
            Relation::AddRemove => Neighbors::AddRemove,
            Relation::Bounded => Neighbors::Bounded,
        }
    }
}

/// A subject, read.
pub struct Resolved {
    /// A line that says what it is.
    pub title: String,
    /// The neighbor relation in force.
    pub neighbors: Neighbors,
    /// The levels of the release that were asked for, each alone; empty where there is only one part.
    pub levels: Vec<(String, Composition)>,
    /// Everything composed; for a release with paths, on the path that drops nothing.
    pub total: Composition,
    /// All block paths, for a whole release that has them, and the release.
    pub worst: Option<(WorstPath, Release)>,
}

/// An answer that may be that of a pair of paths, with the pair in words.
pub struct Worst<T> {
    pub value: T,
    pub pair: Option<String>,
}

/// A point of the profile, with the numbers of the pair of paths that decides it.
pub type DecidedPoint = (Point, Option<(usize, usize)>);

impl Resolved {
    /// The exact epsilon of the whole: that of the worst pair of paths where there are paths.
    pub fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Worst<Epsilon>> {
        let Some((worst, release)) = &self.worst else {
            return Ok(Worst { value: self.total.epsilon(delta, digits)?, pair: None });
        };
        let (value, pair) = worst.epsilon(delta, digits)?;
        Ok(Worst { value, pair: Some(in_words(release, pair, worst)) })
    }

    /// The exact delta of the whole.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<Worst<Certified>> {
        let Some((worst, release)) = &self.worst else {
            return Ok(Worst { value: self.total.delta(epsilon, digits)?, pair: None });
        };
        let answer = worst.delta(epsilon, digits)?;
        let value = Certified { value: answer.value, certificate: answer.certificate, met: answer.met };
        Ok(Worst { value, pair: Some(in_words(release, answer.pair, worst)) })
    }

    /// The trade-off function of the whole at the given type I errors.
    pub fn tradeoff(&self, alphas: &[Rational], digits: u32) -> dp_assay::Result<Vec<Enclosure>> {
        match &self.worst {
            None => self.total.tradeoff_curve(alphas, digits),
            Some((worst, _)) => alphas.par_iter().map(|alpha| Ok(worst.tradeoff(alpha, digits)?.0)).collect(),
        }
    }

    /// The privacy profile of the whole, with the pair that decides each point.
    pub fn curve(&self, epsilons: &[Rational], digits: u32) -> Result<Vec<DecidedPoint>> {
        let Some((worst, _)) = &self.worst else {
            return Ok(self.total.curve(epsilons, digits)?.into_iter().map(|point| (point, None)).collect());
        };
        let points = worst.curve(epsilons, digits)?;
        Ok(points.into_iter().map(|(point, (p, q))| (point, Some((p + 1, q + 1)))).collect())
    }
}

/// The paths of a pair by their numbers and by what they drop.
pub fn in_words(release: &Release, (p, q): (usize, usize), worst: &WorstPath) -> String {
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

impl Subject {
    /// Reads the release and the counts and composes them.
    pub fn resolve(&self) -> Result<Resolved> {
        let given = self.neighbors.map(Neighbors::from);
        let read = |name: &'static str, texts: &[String], parse: fn(&str) -> dp_assay::Result<Counts>| {
            let read = |text: &String| parse(text).with_context(|| format!("{name} {text}"));
            texts.iter().map(read).collect::<Result<Vec<Counts>>>()
        };
        let singles = [
            read("--discrete-gaussian", &self.discrete_gaussian, str::parse)?,
            read("--discrete-laplace", &self.discrete_laplace, Counts::parse_discrete_laplace)?,
            read("--gaussian", &self.gaussian, Counts::parse_gaussian)?,
        ]
        .concat();
        let release = self.release.as_deref().map(Release::find).transpose().context("--release")?;
        if release.is_none() && singles.is_empty() {
            bail!(
                "nothing to account for: give --release NAME, or counts as in --discrete-gaussian SIGMA2[xCOUNT][@SHIFT]"
            );
        }
        let neighbors = given.or(release.as_ref().map(|release| release.neighbors)).unwrap_or(Neighbors::AddRemove);
        let mut titles: Vec<String> = Vec::new();
        let mut parts: Vec<(String, Composition)> = Vec::new();
        if let Some(release) = &release {
            let names: Vec<String> = if self.level.is_empty() {
                titles.push(format!("{}: {}", release.name, release.title));
                release.levels.iter().map(|level| level.name.clone()).collect()
            } else {
                titles.push(format!("{}: {}", release.name, self.level.join(", ")));
                self.level.clone()
            };
            if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
                bail!("--level {}: named twice; each level is counted once", twice.1);
            }
            for name in names {
                let composition = release.composition(&[&name], Some(neighbors)).context("--level")?;
                parts.push((name, composition));
            }
        }
        if !singles.is_empty() {
            let shown: Vec<String> = singles.iter().map(ToString::to_string).collect();
            titles.push(shown.join(" + "));
            let composition = Composition::new(singles.iter().cloned())?;
            let composition = match neighbors {
                Neighbors::AddRemove => composition,
                Neighbors::Bounded => composition.for_changed_records()?,
            };
            parts.push(("counts given".to_string(), composition));
        }
        for (_, part) in &mut parts {
            if self.group != 1 {
                *part = part.for_groups_of(self.group).context("--group")?;
            }
        }
        let total = Composition::new(parts.iter().flat_map(|(_, part)| part.counts().iter().cloned()))?;
        let whole = release.filter(|release| release.paths.is_some() && self.level.is_empty());
        let worst = whole
            .map(|release| -> Result<(WorstPath, Release)> {
                let with_singles = |path: Composition| {
                    let all = path.counts().iter().chain(&singles).cloned();
                    Composition::new(all)?.for_groups_of(self.group)
                };
                let paths = release.path_compositions()?.into_iter().map(with_singles);
                let units = if neighbors == Neighbors::Bounded { Units::Pairs } else { Units::Single };
                Ok((WorstPath::new(paths.collect::<dp_assay::Result<_>>()?, units)?, release))
            })
            .transpose()?;
        let levels = if parts.len() > 1 { parts } else { Vec::new() };
        let group = if self.group == 1 { String::new() } else { format!(", groups of {}", self.group) };
        Ok(Resolved { title: titles.join(" + ") + &group, neighbors, levels, total, worst })
    }
}
