//! What to account for: the arguments that all accounting commands share.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use dp_assay::{
    account::{Composition, Counts},
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
    /// Everything composed.
    pub total: Composition,
}

impl Subject {
    /// Reads the release and the counts and composes them.
    pub fn resolve(&self) -> Result<Resolved> {
        let given = self.neighbors.map(Neighbors::from);
        let singles: Vec<Counts> = (self.discrete_gaussian.iter())
            .map(|text| text.parse().with_context(|| format!("--discrete-gaussian {text}")))
            .collect::<Result<_>>()?;
        let release = self.release.as_deref().map(Release::find).transpose().context("--release")?;
        if release.is_none() && singles.is_empty() {
            bail!("nothing to account for: give --release NAME or --discrete-gaussian SIGMA2[xCOUNT][@SHIFT]");
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
            titles.push(format!("discrete Gaussian {}", shown.join(" + ")));
            let composition = Composition::new(singles)?;
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
        let levels = if parts.len() > 1 { parts } else { Vec::new() };
        let group = if self.group == 1 { String::new() } else { format!(", groups of {}", self.group) };
        Ok(Resolved { title: titles.join(" + ") + &group, neighbors, levels, total })
    }
}
