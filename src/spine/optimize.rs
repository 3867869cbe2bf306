//! The optimized spine: block groups, tract groups and tract subsets that follow the entities (Cumings-Menon et al.,
//! Algorithm 2 and section 6), below the AIAN spine of their Figure 1.
//!
//! The tree order is: inside AIAN areas or not, state, county, prim (where prims cut the spine), tract. Within a tract
//! the blocks inside one combination of entities are grouped by GEOID in runs of at most int(sqrt(n) + fanout_cutoff) +
//! 1, n the number of blocks of the tract. This is the production code's limit; the paper says sqrt(n) + fanout_cutoff.
//! Tract groups are the paper's greedy merging, over all entities; the production code first chunks tracts with equal
//! entities and omits entities that are already close to the spine. Tract subset groups are runs of the tract subsets
//! of a prim.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    blocks::{Blocks, EntityColumn, EntityKind},
    hierarchy::Tree,
    tract_groups::group_tracts,
};
use crate::{
    error::{Error, Result},
    io::toml_reader::TomlReader,
};

const PRODUCTION: &str = include_str!("../../data/spines/production-2020.toml");

#[derive(Deserialize)]
struct File {
    fanout_cutoff: u32,
    bypass_cutoff: u32,
    strong_mcd_states: Vec<String>,
    aian_ranges: Vec<[u32; 2]>,
    variant: BTreeMap<String, Variant>,
}

#[derive(Deserialize)]
struct Variant {
    entities: Vec<String>,
    prims: bool,
}

/// The settings of an optimized spine.
#[derive(Clone, Debug)]
pub struct SpineSettings {
    /// The name of the production variant.
    pub name: String,
    /// The maximum number of blocks of a block group in excess of the square root of the number in its tract.
    pub fanout_cutoff: u32,
    /// The largest fan-out of the parent after a bypass, under pure differential privacy.
    pub bypass_cutoff: u32,
    /// Tract groups ignore entities whose distance is at most this before any grouping.
    pub entity_threshold: u32,
    /// Whether, inside AIAN areas, the areas replace counties.
    pub redefine_counties: bool,
    strong_mcd_states: Vec<u64>,
    aian_ranges: Vec<[u32; 2]>,
    entities: Vec<String>,
    prims: bool,
}

impl SpineSettings {
    /// The named settings of the 2020 production runs: `redistricting-persons`, `redistricting-units`, `dhc`.
    pub fn production(name: &str) -> Result<SpineSettings> {
        let bundled = |why: String| Error::DataFile { file: "production-2020".into(), line: 0, column: 0, why };
        let mut file: File = TomlReader::new("production-2020", PRODUCTION).toml()?;
        let known: Vec<String> = file.variant.keys().cloned().collect();
        let variant = file.variant.remove(name);
        let variant =
            variant.ok_or_else(|| Error::unknown("spine", name, "the settings of the production runs are", known))?;
        let states = file.strong_mcd_states.iter().map(|state| state.parse());
        let strong_mcd_states =
            states.collect::<std::result::Result<_, _>>().map_err(|_| bundled("a state is two digits".into()))?;
        Ok(SpineSettings {
            name: name.to_string(),
            fanout_cutoff: file.fanout_cutoff,
            bypass_cutoff: file.bypass_cutoff,
            entity_threshold: 0,
            redefine_counties: false,
            strong_mcd_states,
            aian_ranges: file.aian_ranges,
            entities: variant.entities,
            prims: variant.prims,
        })
    }

    /// The number of levels of the spine without tract groups.
    pub fn levels(&self) -> usize {
        if self.prims { 8 } else { 6 }
    }

    /// Whether prims cut the spine; such a spine has no tract groups.
    pub fn has_prims(&self) -> bool {
        self.prims
    }

    /// The strong-MCD states, whose areas are minor civil divisions.
    pub fn strong_mcd_states(&self) -> &[u64] {
        &self.strong_mcd_states
    }

    /// The kinds of entities that bound a block group.
    pub fn entities(&self) -> &[String] {
        &self.entities
    }

    /// Sets whether optimized block groups follow census block groups too.
    pub fn target_block_groups(&mut self, target: bool) {
        self.entities.retain(|name| name != BLOCK_GROUP);
        if target {
            self.entities.push(BLOCK_GROUP.to_string());
        }
    }

    /// Whether entities of a kind shape the spine or are measured on it.
    pub fn uses(&self, kind: EntityKind) -> bool {
        let bounds = |name: &str| self.entities.iter().any(|known| known == name);
        match kind {
            // Every spine is measured on these areas.
            EntityKind::Aian | EntityKind::Mcd | EntityKind::Place => true,
            EntityKind::Gq => bounds("gq"),
            EntityKind::Unified | EntityKind::Secondary | EntityKind::Elementary => bounds("school"),
            EntityKind::Prim => self.prims,
        }
    }

    /// The maximum number of children: int(sqrt(n) + fanout_cutoff).
    pub fn most(&self, n: usize) -> usize {
        n.isqrt() + self.fanout_cutoff as usize
    }
}

/// The kind of census block groups among the entities of a setting.
const BLOCK_GROUP: &str = "block-group";

/// The off-spine entities of a setting: columns over the blocks with their names.
pub struct Entities {
    /// The entities that block groups follow, and those that are levels of the spine, each kind under its name.
    pub columns: Vec<(String, EntityColumn)>,
    /// The number of columns, from the first, that block groups follow.
    bounding: usize,
    aian: usize,
    area: usize,
    prim: Option<usize>,
}

impl Entities {
    /// No entities.
    pub(super) fn none() -> Entities {
        Entities { columns: Vec::new(), bounding: 0, aian: 0, area: 0, prim: None }
    }

    /// The entities of these blocks under these settings.
    ///
    /// The area of a block is its minor civil division in the strong-MCD states outside AIAN areas, and its place
    /// elsewhere. If prims are not given, the area within its county replaces the prim: an approximation of the list
    /// that the Bureau used.
    pub fn of_blocks(blocks: &Blocks, settings: &SpineSettings) -> Entities {
        let none = EntityColumn { codes: vec![0; blocks.geoids().len()], names: vec![String::new()] };
        let known = |kind| blocks.column(kind).cloned().unwrap_or_else(|| none.clone());
        let mut aian = known(EntityKind::Aian);
        let chosen: Vec<bool> = (aian.names.iter())
            .map(|name| {
                name.parse().is_ok_and(|code: u32| settings.aian_ranges.iter().any(|[a, b]| (*a..=*b).contains(&code)))
            })
            .collect();
        for code in aian.codes.iter_mut().filter(|code| !chosen[**code as usize]) {
            *code = 0;
        }
        let mut area = known(EntityKind::Mcd);
        let place = known(EntityKind::Place);
        for (row, code) in area.codes.iter_mut().enumerate() {
            let state = blocks.geoids()[row] / 10_u64.pow(13);
            if aian.codes[row] > 0 || !settings.strong_mcd_states.contains(&state) {
                *code = match place.codes[row] {
                    0 => 0,
                    place => place + area.names.len() as u32 - 1,
                };
            }
        }
        area.names.extend(place.names.into_iter().skip(1));
        let mut columns = Vec::new();
        for name in &settings.entities {
            match name.as_str() {
                "aian" => columns.push(("aian".to_string(), aian.clone())),
                "area" => columns.push(("area".to_string(), area.clone())),
                "gq" => columns.push(("gq".to_string(), known(EntityKind::Gq))),
                "school" => {
                    for kind in [EntityKind::Unified, EntityKind::Secondary, EntityKind::Elementary] {
                        columns.push((kind.name().to_string(), known(kind)));
                    }
                }
                _ => columns.push(("block-group".to_string(), block_groups(blocks))),
            }
        }
        let bounding = columns.len();
        let mut find = |name: &str, column: EntityColumn| {
            columns.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                columns.push((name.to_string(), column));
                columns.len() - 1
            })
        };
        let (aian, area) = (find("aian", aian), find("area", area));
        let prim = blocks.column(EntityKind::Prim).filter(|_| settings.prims).map(|prim| find("prim", prim.clone()));
        Entities { columns, bounding, aian, area, prim }
    }

    /// Makes the blocks of each state outside all entities of a kind an entity of their own, for kinds of areas that
    /// contain some block. This affects distances only, not the spine.
    pub(super) fn count_outside(&mut self, blocks: &Blocks) {
        let is_area = |name: &str| name != "gq" && name != BLOCK_GROUP;
        for (_, column) in self.columns.iter_mut().filter(|(name, column)| is_area(name) && column.names.len() > 1) {
            let mut numbers: BTreeMap<u64, u32> = BTreeMap::new();
            for (code, geoid) in column.codes.iter_mut().zip(blocks.geoids()).filter(|(code, _)| **code == 0) {
                let state = geoid / 10_u64.pow(13);
                let names = &mut column.names;
                *code = *numbers.entry(state).or_insert_with(|| {
                    names.push(format!("{state:02}:outside"));
                    names.len() as u32 - 1
                });
            }
        }
    }

    fn aian(&self) -> &[u32] {
        &self.columns[self.aian].1.codes
    }

    fn prim(&self) -> &[u32] {
        &self.columns[self.prim.unwrap_or(self.area)].1.codes
    }
}

/// The block groups of the standard census spine.
fn block_groups(blocks: &Blocks) -> EntityColumn {
    let mut column = EntityColumn { codes: Vec::with_capacity(blocks.geoids().len()), names: vec![String::new()] };
    let mut last = None;
    for geoid in blocks.geoids() {
        let group = geoid / 1000;
        if last != Some(group) {
            column.names.push(format!("{group:012}"));
            last = Some(group);
        }
        column.codes.push(column.names.len() as u32 - 1);
    }
    column
}

/// The optimized spine of all levels: nation, state, county, (tract group), tract, block group, block; or nation, state,
/// county, prim, tract subset group, tract subset, block group, block.
pub fn optimized(blocks: &Blocks, entities: &Entities, settings: &SpineSettings, tract_groups: bool) -> Tree {
    let redefined = settings.redefine_counties;
    let mut tree =
        if settings.prims { prim_spine(blocks, entities, redefined) } else { aian_spine(blocks, entities, redefined) };
    if settings.prims {
        tree.insert(3, |tree, prim, order, sizes| {
            let subsets = tree.children(3, prim);
            push_runs(subsets.len(), settings.most(subsets.len()) + 1, sizes);
            order.extend(subsets.map(|subset| subset as u32));
        });
    }
    let tract = tree.levels() - 2;
    tree.insert(tract, |tree, tract_unit, order, sizes| {
        let places = tree.children(tract, tract_unit);
        let most = settings.most(places.len()) + 1;
        let start = order.len();
        order.extend(places.map(|place| place as u32));
        let columns = &entities.columns[..entities.bounding];
        let combination = |place: u32| {
            let row = tree.order()[place as usize] as usize;
            columns.iter().map(move |(_, column)| column.codes[row])
        };
        // Places ascend by GEOID within a tract, and the stable sort keeps that order within a combination.
        order[start..].sort_by(|a, b| combination(*a).cmp(combination(*b)));
        for run in order[start..].chunk_by(|a, b| combination(*a).eq(combination(*b))) {
            push_runs(run.len(), most, sizes);
        }
    });
    if tract_groups && !settings.prims {
        let columns = &entities.columns[..entities.bounding];
        group_tracts(&mut tree, columns, settings.entity_threshold, |tracts| settings.most(tracts));
    }
    tree
}

/// Figure 1 without block groups: nation, state inside and outside AIAN areas, county, tract, block.
fn aian_spine(blocks: &Blocks, entities: &Entities, redefined: bool) -> Tree {
    let (geoids, aian) = (blocks.geoids(), entities.aian());
    let key = |row: u32| {
        let (geoid, area) = (geoids[row as usize], aian[row as usize]);
        let state = u64::from(area > 0) * 100 + geoid / 10_u64.pow(13);
        [state, county(geoid, area, redefined), geoid / 10_u64.pow(4)]
    };
    let mut order: Vec<u32> = (0..geoids.len() as u32).collect();
    order.sort_by_key(|row| key(*row));
    Tree::over(order, 5, |a, b| first_difference(&key(a), &key(b)))
}

/// Nation, state inside and outside AIAN areas, county, prim, tract subset, block.
fn prim_spine(blocks: &Blocks, entities: &Entities, redefined: bool) -> Tree {
    let (geoids, aian, prims) = (blocks.geoids(), entities.aian(), entities.prim());
    let key = |row: u32| {
        let (geoid, area) = (geoids[row as usize], u64::from(aian[row as usize]));
        let state = u64::from(area > 0) * 100 + geoid / 10_u64.pow(13);
        // A tract subset lies in one tract, one prim and one AIAN area.
        let subset = u128::from(geoid / 10_u64.pow(4)) << 32 | u128::from(area);
        let county = county(geoid, area as u32, redefined);
        [u128::from(state), u128::from(county), u128::from(prims[row as usize]), subset]
    };
    let mut order: Vec<u32> = (0..geoids.len() as u32).collect();
    order.sort_by_key(|row| key(*row));
    Tree::over(order, 6, |a, b| first_difference(&key(a), &key(b)))
}

/// The county of a block; inside an AIAN area with redefined counties, that area.
fn county(geoid: u64, area: u32, redefined: bool) -> u64 {
    if redefined && area > 0 { u64::from(area) } else { geoid / 10_u64.pow(10) }
}

/// The highest level, from 1, in which two blocks lie in different units.
fn first_difference<T: PartialEq, const N: usize>(a: &[T; N], b: &[T; N]) -> usize {
    1 + a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(N)
}

fn push_runs(count: usize, most: usize, sizes: &mut Vec<u32>) {
    for start in (0..count).step_by(most) {
        sizes.push((count - start).min(most) as u32);
    }
}
