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

mod own;

use std::path::{Path, PathBuf};

pub use own::OwnPlan;
use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{
    blocks::{Blocks, EntityColumn, EntityKind, Mismatch},
    bypass::{self, Privacy, Spine},
    geoids::Geoids,
    hierarchy::Tree,
    optimize::{self, Entities, SpineSettings},
    osed,
    own::{OwnIds, UnitIds},
};
use crate::{
    error::{Error, Result, unknown},
    release::{Release, covers_state, place_beside},
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

/// Levels with their shares.
struct Shares {
    levels: Vec<(String, Rational)>,
    release: Option<Release>,
    /// The path of the release from the working directory.
    release_name: Option<String>,
    /// The position of the release or levels in the plan.
    place: usize,
}

/// The units that a spine was built over.
pub enum Ground {
    /// Blocks of the census.
    Census(Blocks),
    /// A custom hierarchy: the ids of the units, after bypassing.
    Own(OwnIds),
}

/// A spine that was built, and the distances of the entities before and after.
pub struct BuiltSpine {
    /// The blocks, or the units of a custom hierarchy.
    pub ground: Ground,
    /// The names of the levels.
    pub names: Vec<String>,
    /// The privacy that determined the bypassing rule, and so the noise to use.
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
    /// The release with the paths of this spine, if the plan names one.
    pub release: Option<Release>,
    /// The kinds of entities that the plan names and its settings ignore.
    pub unused: Vec<EntityKind>,
    /// Whether the root of a census spine is above the states.
    pub has_nation: bool,
}

impl SpinePlan {
    /// Reads a plan; paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<SpinePlan> {
        let text = crate::reading::read_text(path)?;
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
        let mut entities = Entities::of(&blocks, &self.settings);
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

/// Refuses a release, whose budget is a rho, for a spine under pure differential privacy.
fn check_pure(
    reader: &TomlReader,
    privacy: Privacy,
    named: Option<&Spanned<String>>,
    release: Option<&Spanned<String>>,
) -> Result<()> {
    let (Privacy::Pure { .. }, Some(name), Some(release)) = (privacy, named, release) else { return Ok(()) };
    let why = format!(
        "privacy = \"pure\" does not fit the release {:?}, whose budget is a rho of zCDP: give the shares of a pure epsilon as \
         [[level]]",
        release.get_ref()
    );
    Err(reader.refuse(name.span().start, why))
}

impl Shares {
    fn read(reader: &TomlReader, release: Option<&Spanned<String>>, levels: &[Spanned<LevelFile>]) -> Result<Shares> {
        match (release, levels) {
            (Some(_), [level, ..]) => Err(reader.refuse(level.span().start, "either a release or levels, not both")),
            (Some(name), []) => {
                let place = name.span().start;
                let naming = Path::new(reader.file());
                let found = Release::find_beside(name.get_ref(), naming);
                let found = found.map_err(|why| reader.refuse(place, why.to_string()))?;
                let release_name = Some(place_beside(name.get_ref(), naming));
                let share = |rho: &Rational| Rational::from(rho / &found.rho);
                let levels = found.levels.iter().map(|level| (level.name.clone(), share(&level.rho))).collect();
                Ok(Shares { levels, release: Some(found), release_name, place })
            }
            (None, levels) => {
                let place = levels.first().map_or(usize::MAX, |level| level.span().start);
                let named = levels.iter().map(|level| {
                    let level = level.get_ref();
                    Ok((level.name.clone(), reader.number(&level.proportion)?))
                });
                let levels = named.collect::<Result<Vec<_>>>()?;
                Ok(Shares { levels, release: None, release_name: None, place })
            }
        }
    }

    /// Refuses blocks outside the plan's release: its account would be that of another release.
    fn check_states(&self, blocks: &Blocks) -> Result<()> {
        let Some(name) = &self.release_name else { return Ok(()) };
        let state = |geoid: u64| geoid / 10_u64.pow(13);
        let other = blocks.geoids().iter().find(|geoid| !covers_state(name, state(**geoid)));
        other.map_or(Ok(()), |geoid| {
            let expected = match name.strip_suffix("-us") {
                Some(of) => format!("blocks of the states and the District of Columbia, which {name} is about; {of}-pr is about Puerto Rico"),
                None => format!("blocks of Puerto Rico (72), which {name} is about"),
            };
            let block = format!("{geoid:015} of the state {:02}", state(*geoid));
            Err(Error::conflict(format!("the block {block} does not belong to the release: expected {expected}")))
        })
    }

    fn check(&self, levels: usize) -> Result<()> {
        let proportions: Vec<Rational> = self.levels.iter().map(|(_, share)| share.clone()).collect();
        bypass::check_proportions(&proportions, levels)
    }

    /// The names of the levels, the spine over a tree, and the release with its paths.
    fn spine(&self, tree: Tree, privacy: Privacy, bypasses: bool) -> Result<(Vec<String>, Spine, Option<Release>)> {
        let (names, proportions) = self.levels.iter().cloned().unzip();
        let spine = match bypasses {
            true => Spine::new(tree, proportions, privacy)?,
            false => Spine::without_bypassing(tree, proportions)?,
        };
        let release = self.release.as_ref().map(|release| spine.release(release)).transpose()?;
        Ok((names, spine, release))
    }
}

impl BuiltSpine {
    /// The blocks, if the spine was built over census blocks.
    pub fn blocks(&self) -> Option<&Blocks> {
        match &self.ground {
            Ground::Census(blocks) => Some(blocks),
            Ground::Own(_) => None,
        }
    }

    /// The ids of its units.
    pub fn ids(&self) -> UnitIds {
        match &self.ground {
            Ground::Census(blocks) => {
                let rows = self.spine.tree.order().iter();
                let geoids = rows.map(|row| blocks.geoids()[*row as usize]).collect();
                UnitIds::Census(Geoids::of(&self.spine.tree, &self.names, geoids))
            }
            Ground::Own(ids) => UnitIds::Own(ids.clone()),
        }
    }

    /// The factor from the square root of a variance to counts, 1 / sqrt(rho), if the plan's release gives rho.
    pub fn counts_per_root_approx(&self) -> Option<f64> {
        let release = self.release.as_ref().filter(|_| self.privacy == Privacy::Concentrated)?;
        Some(release.rho.to_f64().sqrt().recip())
    }

    /// The distances, before and after, of all entities that have blocks.
    pub fn distances(&self) -> Vec<(u32, u32)> {
        let pairs = self.before.iter().flatten().zip(self.after.iter().flatten());
        pairs.filter(|(before, _)| **before > 0).map(|(before, after)| (*before, *after)).collect()
    }
}
