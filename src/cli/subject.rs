//! What to account for: the arguments that all accounting commands share.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use dp_assay::{
    account::{
        Answer, Composition, Counts,
        paths::{Whole, WorstPath},
    },
    loss::family::Units,
    release::{Neighbors, Release},
};

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
    /// What is accounted for as a whole: everything composed, or the worst of all block paths.
    pub whole: Whole,
    /// The release, if the whole is the worst of its block paths.
    paths_of: Option<Release>,
}

impl Resolved {
    /// All block paths, if the whole is the worst of them.
    pub fn worst(&self) -> Option<&WorstPath> {
        match &self.whole {
            Whole::Composition(_) => None,
            Whole::WorstPath(worst) => Some(worst),
        }
    }

    /// The pair of paths that decides an answer about the whole, in words.
    pub fn deciding_pair(&self, answer: &Answer) -> Option<String> {
        Some(in_words(self.paths_of.as_ref()?, answer.pair()?, self.worst()?))
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
        let singles = self.singles()?;
        let release = self.release.as_deref().map(Release::find).transpose().context("--release")?;
        if release.is_none() && singles.is_empty() {
            bail!(
                "nothing to account for: give --release NAME, or counts as in --discrete-gaussian SIGMA2[xCOUNT][@SHIFT]"
            );
        }
        let own = release.as_ref().map(|release| release.neighbors);
        let neighbors = self.neighbors.map(Neighbors::from).or(own).unwrap_or(Neighbors::AddRemove);
        let mut titles: Vec<String> = Vec::new();
        let mut parts: Vec<(String, Composition)> = Vec::new();
        if let Some(release) = &release {
            let shown = if self.level.is_empty() { release.title.clone() } else { self.level.join(", ") };
            titles.push(format!("{}: {shown}", release.name));
            parts.extend(self.levels_of(release, neighbors)?);
        }
        if !singles.is_empty() {
            titles.push(singles.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + "));
            let composition = Composition::new(singles.iter().cloned())?;
            let composition = match neighbors {
                Neighbors::AddRemove => composition,
                Neighbors::Bounded => composition.for_changed_records()?,
            };
            parts.push(("counts given".to_string(), composition));
        }
        for (_, part) in parts.iter_mut().filter(|_| self.group != 1) {
            *part = part.for_groups_of(self.group).context("--group")?;
        }
        let total = Composition::new(parts.iter().flat_map(|(_, part)| part.counts().iter().cloned()))?;
        let paths_of = release.filter(|release| release.paths.is_some() && self.level.is_empty());
        let whole = match &paths_of {
            None => Whole::Composition(total.clone()),
            Some(release) => Whole::WorstPath(self.worst_path(release, &singles, neighbors)?),
        };
        let levels = if parts.len() > 1 { parts } else { Vec::new() };
        let group = if self.group == 1 { String::new() } else { format!(", groups of {}", self.group) };
        Ok(Resolved { title: titles.join(" + ") + &group, neighbors, levels, total, whole, paths_of })
    }

    /// The counts that were given one by one.
    fn singles(&self) -> Result<Vec<Counts>> {
        let read = |name: &'static str, texts: &[String], parse: fn(&str) -> dp_assay::Result<Counts>| {
            let read = |text: &String| parse(text).with_context(|| format!("{name} {text}"));
            texts.iter().map(read).collect::<Result<Vec<Counts>>>()
        };
        Ok([
            read("--discrete-gaussian", &self.discrete_gaussian, str::parse)?,
            read("--discrete-laplace", &self.discrete_laplace, Counts::parse_discrete_laplace)?,
            read("--gaussian", &self.gaussian, Counts::parse_gaussian)?,
        ]
        .concat())
    }

    /// The levels of the release that were asked for, each alone.
    fn levels_of(&self, release: &Release, neighbors: Neighbors) -> Result<Vec<(String, Composition)>> {
        let names: Vec<String> = if self.level.is_empty() {
            release.levels.iter().map(|level| level.name.clone()).collect()
        } else {
            self.level.clone()
        };
        if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            bail!("--level {}: named twice; each level is counted once", twice.1);
        }
        let level = |name: String| {
            let composition = release.composition(&[&name], Some(neighbors)).context("--level")?;
            Ok((name, composition))
        };
        names.into_iter().map(level).collect()
    }

    /// All block paths of a release, with the counts given one by one on each.
    fn worst_path(&self, release: &Release, singles: &[Counts], neighbors: Neighbors) -> Result<WorstPath> {
        let with_singles = |path: Composition| {
            let all = path.counts().iter().chain(singles).cloned();
            Composition::new(all)?.for_groups_of(self.group)
        };
        let paths = release.path_compositions()?.into_iter().map(with_singles);
        let units = if neighbors == Neighbors::Bounded { Units::Pairs } else { Units::Single };
        Ok(WorstPath::new(paths.collect::<dp_assay::Result<_>>()?, units)?)
    }
}
