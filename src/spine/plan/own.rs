//! The plan of a spine over a custom hierarchy.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::{
    built::{BuiltSpine, Ground},
    shares::{LevelFile, Shares, check_pure},
};
use crate::{
    error::Result,
    io::toml_reader::TomlReader,
    spine::{bypass::Privacy, optimize::Entities, own::Hierarchy},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPlanFile {
    privacy: Option<Spanned<String>>,
    release: Option<Spanned<String>>,
    #[serde(default, rename = "level")]
    levels: Vec<Spanned<LevelFile>>,
    bypass: Option<bool>,
    bypass_cutoff: Option<Spanned<u32>>,
}

/// A checked plan of a custom hierarchy.
pub struct OwnPlan {
    privacy: Privacy,
    bypasses: bool,
    shares: Shares,
}

impl OwnPlan {
    /// Reads a plan.
    pub fn read(path: &Path) -> Result<OwnPlan> {
        let text = crate::io::reading::read_text(path)?;
        let file = crate::error::shown(path);
        let reader = TomlReader::new(&file, &text);
        let raw: OwnPlanFile = reader.toml()?;
        let bypasses = raw.bypass.unwrap_or(true);
        let cutoff = raw.bypass_cutoff.as_ref().map(|cutoff| *cutoff.get_ref());
        let privacy = match &raw.privacy {
            None => Privacy::Concentrated,
            Some(name) => Privacy::read(&reader, name, cutoff.unwrap_or(0))?,
        };
        let place = raw.bypass_cutoff.as_ref().or(None).map(|cutoff| cutoff.span().start);
        match (privacy, &raw.privacy, place) {
            (Privacy::Concentrated, _, Some(place)) => {
                let why = "bypass_cutoff goes with privacy = \"pure\": under zCDP units with one child are bypassed";
                return Err(reader.refuse(place, why));
            }
            (Privacy::Pure { .. }, Some(name), None) if bypasses => {
                let why = "privacy = \"pure\" needs bypass_cutoff, the largest fan-out that a bypass may leave, or bypass = false";
                return Err(reader.refuse(name.span().start, why));
            }
            _ => {}
        }
        check_pure(&reader, privacy, raw.privacy.as_ref(), raw.release.as_ref())?;
        let shares = Shares::read(&reader, raw.release.as_ref(), &raw.levels)?;
        shares.check(shares.levels.len()).map_err(|why| reader.refuse(shares.place, why.to_string()))?;
        let names: Vec<&String> = shares.levels.iter().map(|(name, _)| name).collect();
        if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            let why = format!("the level {:?} occurs twice: each is a column of the units", names[twice]);
            return Err(reader.refuse(shares.place, why));
        }
        Ok(OwnPlan { privacy, bypasses, shares })
    }

    /// The other inputs of the plan: its release, bundled or a file.
    pub fn inputs(&self) -> Vec<String> {
        self.shares.release_name.iter().cloned().collect()
    }

    /// The names of the levels, from the root.
    pub fn levels(&self) -> Vec<String> {
        self.shares.levels.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Bypasses units of a hierarchy with these levels.
    pub fn build(&self, hierarchy: &Hierarchy) -> Result<BuiltSpine> {
        let (names, spine, release) = self.shares.spine(hierarchy.tree.clone(), self.privacy, self.bypasses)?;
        let ground = Ground::Own(hierarchy.ids_on(&spine.tree));
        Ok(BuiltSpine {
            ground,
            names,
            privacy: self.privacy,
            spine,
            entities: Entities::none(),
            before: Vec::new(),
            after: Vec::new(),
            mismatches: Vec::new(),
            release,
            unused: Vec::new(),
            has_nation: false,
        })
    }
}
