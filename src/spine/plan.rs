//! What a spine is built from, as a TOML file, and the files that come of it.
//!
//! | field | meaning |
//! | --- | --- |
//! | `settings` | `redistricting-persons`, `redistricting-units` or `dhc` |
//! | `privacy` | `zcdp` (default) or `pure` |
//! | `release` | a bundled release or its file, whose levels and shares of rho are taken, for `zcdp` only; or else |
//! | `[[level]]` `name`, `proportion` | the levels from the nation to the block with their shares, which sum to exactly one |
//! | `tract_groups` | true for a level of tract groups between county and tract (default false) |
//! | `fanout_cutoff`, `bypass_cutoff` | in place of those of production |
//! | `[[entities]]` `kind`, `file`, `column`, `block` | a block assignment file beside the plan, the heading of its codes and, where it is unusual, of its blocks |

use std::{
    fs,
    path::{Path, PathBuf},
};

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{
    blocks::{Blocks, EntityColumn, EntityKind, Mismatch},
    bypass::{self, Privacy, Spine},
    hierarchy::Tree,
    optimize::{self, Entities, SpineSettings},
    osed,
};
use crate::{
    error::{Error, Result, did_you_mean},
    files::file_error,
    release::Release,
    toml_reader::{Exact, TomlReader},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    settings: Spanned<String>,
    privacy: Option<Spanned<String>>,
    release: Option<Spanned<String>>,
    #[serde(default, rename = "level")]
    levels: Vec<Spanned<LevelFile>>,
    tract_groups: Option<Spanned<bool>>,
    fanout_cutoff: Option<u32>,
    bypass_cutoff: Option<u32>,
    #[serde(default)]
    entities: Vec<EntitiesFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    name: String,
    proportion: Spanned<Exact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntitiesFile {
    kind: Spanned<String>,
    file: PathBuf,
    column: String,
    block: Option<String>,
}

/// A plan, checked.
pub struct SpinePlan {
    settings: SpineSettings,
    privacy: Privacy,
    tract_groups: bool,
    levels: Vec<(String, Rational)>,
    release: Option<Release>,
    /// The release as the plan names it.
    release_name: Option<String>,
    entities: Vec<(EntityKind, PathBuf, EntitiesFile)>,
}

/// A spine that was built, and how far the entities were and are from it.
pub struct BuiltSpine {
    /// The blocks.
    pub blocks: Blocks,
    /// The names of the levels.
    pub names: Vec<String>,
    /// The rule by which units were bypassed, and so the noise that is meant.
    pub privacy: Privacy,
    /// The spine after bypassing.
    pub spine: Spine,
    /// The entities, kind by kind.
    pub entities: Entities,
    /// The distance of each entity from the standard census spine.
    pub before: Vec<Vec<u32>>,
    /// The distance of each entity from the optimized spine.
    pub after: Vec<Vec<u32>>,
    /// The blocks that are in only one of two files.
    pub mismatches: Vec<Mismatch>,
    /// The release with the paths of this spine, where the plan names one.
    pub release: Option<Release>,
    /// The kinds of entities that the plan names and its settings do not use.
    pub unused: Vec<EntityKind>,
}

impl SpinePlan {
    /// Reads a plan; files that it names are looked for beside it.
    pub fn read(path: &Path) -> Result<SpinePlan> {
        let text = fs::read_to_string(path).map_err(|why| file_error(path, why))?;
        let file = path.display().to_string();
        let reader = TomlReader::new(&file, &text);
        let raw: PlanFile = reader.toml()?;
        let at = |place: usize| {
            let reader = &reader;
            move |why: Error| reader.refuse(place, why.to_string())
        };
        let settings_at = raw.settings.span().start;
        let mut settings = SpineSettings::production(raw.settings.get_ref()).map_err(at(settings_at))?;
        settings.fanout_cutoff = raw.fanout_cutoff.unwrap_or(settings.fanout_cutoff);
        settings.bypass_cutoff = raw.bypass_cutoff.unwrap_or(settings.bypass_cutoff);
        let privacy = match &raw.privacy {
            None => Privacy::Concentrated,
            Some(name) => Privacy::read(&reader, name, settings.bypass_cutoff)?,
        };
        if let (Privacy::Pure { .. }, Some(name), Some(release)) = (privacy, &raw.privacy, &raw.release) {
            let why = format!(
                "privacy = \"pure\" does not fit the release {:?}, whose budget is a rho of zCDP: give the shares of a pure \
                 epsilon as [[level]]",
                release.get_ref()
            );
            return Err(reader.refuse(name.span().start, why));
        }
        let tract_groups = raw.tract_groups.as_ref().is_some_and(|groups| *groups.get_ref());
        if let Some(groups) = raw.tract_groups.as_ref().filter(|_| tract_groups && settings.has_prims()) {
            return Err(reader.refuse(groups.span().start, "a spine with prims has no tract groups"));
        }
        let (release, levels, place) = match (&raw.release, &raw.levels[..]) {
            (Some(_), [level, ..]) => {
                return Err(reader.refuse(level.span().start, "either a release or levels, not both"));
            }
            (Some(name), []) => {
                let place = name.span().start;
                let release = Release::find(name.get_ref()).map_err(at(place))?;
                let share = |rho: &Rational| Rational::from(rho / &release.rho);
                let levels = release.levels.iter().map(|level| (level.name.clone(), share(&level.rho))).collect();
                (Some(release), levels, place)
            }
            (None, levels) => {
                let place = levels.first().map_or(usize::MAX, |level| level.span().start);
                let named = levels.iter().map(|level| {
                    let level = level.get_ref();
                    Ok((level.name.clone(), reader.number(&level.proportion)?))
                });
                (None, named.collect::<Result<Vec<_>>>()?, place)
            }
        };
        let proportions: Vec<Rational> = levels.iter().map(|(_, share)| share.clone()).collect();
        let expected = settings.levels() + usize::from(tract_groups);
        bypass::check_proportions(&proportions, expected).map_err(at(place))?;
        let release_name = raw.release.as_ref().map(|name| name.get_ref().clone());
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut entities = Vec::new();
        for file in raw.entities {
            let kind = EntityKind::ALL.iter().find(|kind| kind.name() == file.kind.get_ref()).ok_or_else(|| {
                let names = EntityKind::ALL.map(EntityKind::name);
                let near = did_you_mean(file.kind.get_ref(), names);
                let why = format!("kind = {:?}{near}: expected one of {}", file.kind.get_ref(), names.join(", "));
                reader.refuse(file.kind.span().start, why)
            })?;
            entities.push((*kind, folder.join(&file.file), file));
        }
        Ok(SpinePlan { settings, privacy, tract_groups, levels, release, release_name, entities })
    }

    /// What the plan reads besides itself: its release, bundled or a file, and the files of entities.
    pub fn inputs(&self) -> Vec<String> {
        let files = self.entities.iter().map(|(_, path, _)| path.display().to_string());
        self.release_name.iter().cloned().chain(files).collect()
    }

    /// Builds, optimizes, measures and bypasses.
    pub fn build(&self, mut blocks: Blocks) -> Result<BuiltSpine> {
        let mut mismatches = Vec::new();
        for (kind, path, file) in &self.entities {
            mismatches.push(blocks.attach(*kind, path, file.block.as_deref(), &file.column)?);
        }
        let entities = Entities::of(&blocks, &self.settings);
        let columns: Vec<&EntityColumn> = entities.columns.iter().map(|(_, column)| column).collect();
        let before = osed::all_distances(&Tree::census(&blocks), &columns);
        let tree = optimize::optimized(&blocks, &entities, &self.settings, self.tract_groups);
        let after = osed::all_distances(&tree, &columns);
        let (names, proportions) = self.levels.iter().cloned().unzip();
        let spine = Spine::new(tree, proportions, self.privacy)?;
        let release = self.release.as_ref().map(|release| spine.release(release)).transpose()?;
        let kinds = self.entities.iter().map(|(kind, ..)| *kind);
        let unused = kinds.filter(|kind| !self.settings.uses(*kind)).collect();
        let privacy = self.privacy;
        Ok(BuiltSpine { blocks, names, privacy, spine, entities, before, after, mismatches, release, unused })
    }
}

impl BuiltSpine {
    /// What the root of a variance is multiplied by for counts: 1 / sqrt(rho), where the plan's release says how large rho is.
    pub fn counts_per_root_approx(&self) -> Option<f64> {
        let release = self.release.as_ref().filter(|_| self.privacy == Privacy::Concentrated)?;
        Some(release.rho.to_f64().sqrt().recip())
    }

    /// The distances before and after of all entities that have blocks.
    pub fn distances(&self) -> Vec<(u32, u32)> {
        let pairs = self.before.iter().flatten().zip(self.after.iter().flatten());
        pairs.filter(|(before, _)| **before > 0).map(|(before, after)| (*before, *after)).collect()
    }
}
