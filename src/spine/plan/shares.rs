//! The levels of a plan and their shares of the budget.

use std::path::Path;

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use crate::{
    error::{Error, Result},
    io::toml_reader::{Exact, TomlReader},
    release::{Release, covers_state, place_beside},
    spine::{
        blocks::Blocks,
        bypass::{self, Privacy, Spine},
        hierarchy::Tree,
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelFile {
    pub(super) name: String,
    pub(super) proportion: Spanned<Exact>,
}

/// Levels with their shares.
pub(super) struct Shares {
    pub(super) levels: Vec<(String, Rational)>,
    pub(super) release: Option<Release>,
    /// The path of the release from the working directory.
    pub(super) release_name: Option<String>,
    /// The position of the release or levels in the plan.
    pub(super) place: usize,
}

/// Refuses a release, whose budget is a rho, for a spine under pure differential privacy.
pub(super) fn check_pure(
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
    pub(super) fn read(
        reader: &TomlReader,
        release: Option<&Spanned<String>>,
        levels: &[Spanned<LevelFile>],
    ) -> Result<Shares> {
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
    pub(super) fn check_states(&self, blocks: &Blocks) -> Result<()> {
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

    pub(super) fn check(&self, levels: usize) -> Result<()> {
        let proportions: Vec<Rational> = self.levels.iter().map(|(_, share)| share.clone()).collect();
        bypass::check_proportions(&proportions, levels)
    }

    /// The names of the levels, the spine over a tree, and the release with its paths.
    pub(super) fn spine(
        &self,
        tree: Tree,
        privacy: Privacy,
        bypasses: bool,
    ) -> Result<(Vec<String>, Spine, Option<Release>)> {
        let (names, proportions) = self.levels.iter().cloned().unzip();
        let spine = match bypasses {
            true => Spine::new(tree, proportions, privacy)?,
            false => Spine::without_bypassing(tree, proportions)?,
        };
        let release = self.release.as_ref().map(|release| spine.release(release)).transpose()?;
        Ok((names, spine, release))
    }
}
