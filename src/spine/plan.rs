//! The plan of a spine, a TOML file, and the spine built from it.
//!
//! | field | meaning |
//! | --- | --- |
//! | `settings` | `redistricting-persons`, `redistricting-units` or `dhc` |
//! | `privacy` | `zcdp` (default) or `pure` |
//! | `release` | a bundled release or its file, relative to the plan, which gives the levels and shares of rho, for `zcdp` only; or instead |
//! | `[[level]]` `name`, `proportion` | the levels from the nation to the block with their shares, which sum to exactly 1 |
//! | `tract_groups` | true for a level of tract groups between county and tract (default false) |
//! | `fanout_cutoff`, `bypass_cutoff` | replace the production values |
//! | `target_orig_bgs` | whether block groups follow census block groups too (production: only in the DHC) |
//! | `redefine_counties` | `nowhere` (default, production) or `everywhere`: American Indian areas replace counties inside them |
//! | `entity_threshold` | tract groups ignore entities with at most this distance before grouping (default 0: none) |
//! | `count_outside` | true to count the blocks of each state outside all entities of a kind as an entity in distances (default false) |
//! | `bypass` | false to bypass no unit (default true) |
//! | `[[entities]]` `kind`, `file`, `column`, `block` | a block assignment file beside the plan, the heading of its codes and, if it is unusual, of its blocks |
//!
//! Levels without a nation, one fewer than the settings have, give the spine of one state: Puerto Rico's.
//!
//! The plan of a custom hierarchy, [`OwnPlan`], has only `privacy`, `release` or levels, `bypass` and `bypass_cutoff`;
//! its levels are the columns of the file of units.

mod built;
mod own;
mod shares;

use std::path::{Path, PathBuf};

pub use built::{BuiltSpine, Ground};
pub use own::OwnPlan;
use serde::Deserialize;
use toml::Spanned;

use super::{
    blocks::{Blocks, EntityColumn, EntityKind},
    bypass::Privacy,
    hierarchy::Tree,
    optimize::{self, Entities, SpineSettings},
    osed,
};
use crate::{
    error::{Error, Result, unknown},
    io::toml_reader::TomlReader,
};
use shares::{LevelFile, Shares, check_pure};

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
    bypass: Option<bool>,
    target_orig_bgs: Option<bool>,
    redefine_counties: Option<Spanned<String>>,
    entity_threshold: Option<u32>,
    count_outside: Option<bool>,
    #[serde(default)]
    entities: Vec<EntitiesFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntitiesFile {
    kind: Spanned<String>,
    file: PathBuf,
    column: String,
    block: Option<String>,
}

/// A checked plan.
pub struct SpinePlan {
    settings: SpineSettings,
    privacy: Privacy,
    tract_groups: bool,
    has_nation: bool,
    bypasses: bool,
    counts_outside: bool,
    shares: Shares,
    entities: Vec<(EntityKind, PathBuf, EntitiesFile)>,
}

impl SpinePlan {
    /// Reads a plan; paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<SpinePlan> {
        let text = crate::io::reading::read_text(path)?;
        let file = crate::error::shown(path);
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
        settings.entity_threshold = raw.entity_threshold.unwrap_or(0);
        if let Some(target) = raw.target_orig_bgs {
            settings.target_block_groups(target);
        }
        if let Some(name) = &raw.redefine_counties {
            settings.redefine_counties = match name.get_ref().as_str() {
                "nowhere" => false,
                "everywhere" => true,
                other => {
                    let why = format!("redefine_counties = {other:?}: expected \"nowhere\" or \"everywhere\"");
                    return Err(reader.refuse(name.span().start, why));
                }
            };
        }
        let privacy = match &raw.privacy {
            None => Privacy::Concentrated,
            Some(name) => Privacy::read(&reader, name, settings.bypass_cutoff)?,
        };
        check_pure(&reader, privacy, raw.privacy.as_ref(), raw.release.as_ref())?;
        let tract_groups = raw.tract_groups.as_ref().is_some_and(|groups| *groups.get_ref());
        if let Some(groups) = raw.tract_groups.as_ref().filter(|_| tract_groups && settings.has_prims()) {
            return Err(reader.refuse(groups.span().start, "a spine with prims has no tract groups"));
        }
        let shares = Shares::read(&reader, raw.release.as_ref(), &raw.levels)?;
        let expected = settings.levels() + usize::from(tract_groups);
        // Without the nation there is one level fewer.
        let has_nation = shares.levels.len() + 1 != expected;
        shares.check(expected - usize::from(!has_nation)).map_err(at(shares.place))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut entities = Vec::new();
        for file in raw.entities {
            let kind = EntityKind::ALL.iter().find(|kind| kind.name() == file.kind.get_ref()).ok_or_else(|| {
                let names = EntityKind::ALL.map(EntityKind::name);
                let why = unknown("kind of entity", file.kind.get_ref(), "there are", names);
                reader.refuse(file.kind.span().start, why)
            })?;
            entities.push((*kind, folder.join(&file.file), file));
        }
        let bypasses = raw.bypass.unwrap_or(true);
        let counts_outside = raw.count_outside.unwrap_or(false);
        Ok(SpinePlan { settings, privacy, tract_groups, has_nation, bypasses, counts_outside, shares, entities })
    }

    /// The other inputs of the plan: its release, bundled or a file, and the entity files.
    pub fn inputs(&self) -> Vec<String> {
        let files = self.entities.iter().map(|(_, path, _)| path.display().to_string());
        self.shares.release_name.iter().cloned().chain(files).collect()
    }

    /// Builds and optimizes the spine, measures distances and bypasses units.
    pub fn build(&self, mut blocks: Blocks) -> Result<BuiltSpine> {
        self.shares.check_states(&blocks)?;
        let mut mismatches = Vec::new();
        for (kind, path, file) in &self.entities {
            mismatches.push(blocks.attach(*kind, path, file.block.as_deref(), &file.column)?);
        }
        let mut entities = Entities::of_blocks(&blocks, &self.settings);
        let mut census = Tree::census(&blocks);
        let mut tree = optimize::optimized(&blocks, &entities, &self.settings, self.tract_groups);
        if !self.has_nation {
            // A state with American Indian areas has two units below the nation.
            if tree.units(1) != 1 {
                let expected = "exactly 1: the plan's levels have no nation above the states";
                return Err(Error::out_of_range("the number of units of states", tree.units(1), expected));
            }
            (tree, census) = (tree.without_root(), census.without_root());
        }
        if self.counts_outside {
            entities.count_outside(&blocks);
        }
        let columns: Vec<&EntityColumn> = entities.columns.iter().map(|(_, column)| column).collect();
        let before = osed::all_distances(&census, &columns);
        let after = osed::all_distances(&tree, &columns);
        let (names, spine, release) = self.shares.spine(tree, self.privacy, self.bypasses)?;
        let kinds = self.entities.iter().map(|(kind, ..)| *kind);
        let unused = kinds.filter(|kind| !self.settings.uses(*kind)).collect();
        let (privacy, ground, has_nation) = (self.privacy, Ground::Census(blocks), self.has_nation);
        Ok(BuiltSpine {
            ground,
            names,
            privacy,
            spine,
            entities,
            before,
            after,
            mismatches,
            release,
            unused,
            has_nation,
        })
    }
}
