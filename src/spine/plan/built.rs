//! A spine that was built.

use crate::{
    release::Release,
    spine::{
        blocks::{Blocks, EntityKind, Mismatch},
        bypass::{Privacy, Spine},
        geoids::Geoids,
        optimize::Entities,
        own::{OwnIds, UnitIds},
    },
};

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
                UnitIds::Census(Geoids::of_tree(&self.spine.tree, &self.names, geoids))
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
