//! The optimized spine: block groups, tract groups and tract subsets that follow the entities (Cumings-Menon et al.,
//! Algorithm 2 and section 6), below the AIAN spine of their Figure 1.
//!
//! The tree order is: inside AIAN areas or not, state, county, prim (where prims cut the spine), tract. Within a tract the
//! blocks inside one combination of entities go together, by GEOID, in runs of at most int(sqrt(n) + fanout_cutoff) + 1,
//! n the blocks of the tract. The production code's number is taken where the paper says sqrt(n) + fanout_cutoff.
//! Tract groups are the paper's greedy merging, over all entities; the production code first chunks tracts with equal
//! entities and leaves out entities that are close. Tract subset groups are runs of the tract subsets of a prim.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::{
    blocks::{Blocks, EntityColumn, EntityKind},
    hierarchy::Tree,
    osed,
};
use crate::{
    error::{Error, Result},
    toml_reader::TomlReader,
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

/// How a spine is optimized.
#[derive(Clone, Debug)]
pub struct SpineSettings {
    /// The name of the production variant.
    pub name: String,
    /// By how much the blocks of a block group may exceed the square root of those of its tract.
    pub fanout_cutoff: u32,
    /// The largest fan-out that a bypass may leave to the parent, under pure differential privacy.
    pub bypass_cutoff: u32,
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
        let known = file.variant.keys().cloned().collect::<Vec<_>>().join(", ");
        let variant = file.variant.remove(name);
        let variant = variant.ok_or_else(|| Error::UnknownName { kind: "spine", name: name.to_string(), known })?;
        let states = file.strong_mcd_states.iter().map(|state| state.parse());
        let strong_mcd_states =
            states.collect::<std::result::Result<_, _>>().map_err(|_| bundled("a state is two digits".into()))?;
        Ok(SpineSettings {
            name: name.to_string(),
            fanout_cutoff: file.fanout_cutoff,
            bypass_cutoff: file.bypass_cutoff,
            strong_mcd_states,
            aian_ranges: file.aian_ranges,
            entities: variant.entities,
            prims: variant.prims,
        })
    }

    /// How many levels the spine has, tract groups aside.
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

    /// At most so many children: int(sqrt(n) + fanout_cutoff).
    pub fn most(&self, n: usize) -> usize {
        n.isqrt() + self.fanout_cutoff as usize
    }
}

/// The off-spine entities of a setting: columns over the blocks with their names.
pub struct Entities {
    /// The entities that block groups follow, and those that the spine has by itself, each kind under its name.
    pub columns: Vec<(String, EntityColumn)>,
    /// How many of the columns, from the first, block groups follow.
    bounding: usize,
    aian: usize,
    area: usize,
    prim: Option<usize>,
}

impl Entities {
    /// The entities of these blocks under these settings.
    ///
    /// The area of a block is its minor civil division in the strong-MCD states outside AIAN areas, else its place. Where
    /// prims are not given, the area within its county stands for the prim: a stand-in for the list that the Bureau used.
    pub fn of(blocks: &Blocks, settings: &SpineSettings) -> Entities {
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
    let mut tree = if settings.prims { prim_spine(blocks, entities) } else { aian_spine(blocks, entities) };
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
        // Places ascend by GEOID within a tract, and the sort keeps that order within a combination.
        order[start..].sort_by(|a, b| combination(*a).cmp(combination(*b)));
        for run in order[start..].chunk_by(|a, b| combination(*a).eq(combination(*b))) {
            push_runs(run.len(), most, sizes);
        }
    });
    if tract_groups && !settings.prims {
        group_tracts(&mut tree, entities, settings);
    }
    tree
}

/// Figure 1 without block groups: nation, state inside and outside AIAN areas, county, tract, block.
fn aian_spine(blocks: &Blocks, entities: &Entities) -> Tree {
    let (geoids, aian) = (blocks.geoids(), entities.aian());
    let key = |row: u32| {
        let geoid = geoids[row as usize];
        let inside = aian[row as usize] > 0;
        [u64::from(inside) * 100 + geoid / 10_u64.pow(13), geoid / 10_u64.pow(10), geoid / 10_u64.pow(4)]
    };
    let mut order: Vec<u32> = (0..geoids.len() as u32).collect();
    order.sort_by_key(|row| aian[*row as usize] > 0);
    Tree::over(order, 5, |a, b| parting(&key(a), &key(b)))
}

/// Nation, state inside and outside AIAN areas, county, prim, tract subset, block.
fn prim_spine(blocks: &Blocks, entities: &Entities) -> Tree {
    let (geoids, aian, prims) = (blocks.geoids(), entities.aian(), entities.prim());
    let key = |row: u32| {
        let (geoid, area) = (geoids[row as usize], u64::from(aian[row as usize]));
        let state = u64::from(area > 0) * 100 + geoid / 10_u64.pow(13);
        // A tract subset is of one tract, one prim and one AIAN area.
        let subset = u128::from(geoid / 10_u64.pow(4)) << 32 | u128::from(area);
        [u128::from(state), u128::from(geoid / 10_u64.pow(10)), u128::from(prims[row as usize]), subset]
    };
    let mut order: Vec<u32> = (0..geoids.len() as u32).collect();
    order.sort_by_key(|row| key(*row));
    Tree::over(order, 6, |a, b| parting(&key(a), &key(b)))
}

/// The highest level, from 1, whose units part two blocks.
fn parting<T: PartialEq, const N: usize>(a: &[T; N], b: &[T; N]) -> usize {
    1 + a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(N)
}

fn push_runs(count: usize, most: usize, sizes: &mut Vec<u32>) {
    for start in (0..count).step_by(most) {
        sizes.push((count - start).min(most) as u32);
    }
}

/// A tract group while groups are merged: its tracts, and for each entity that it touches the sums of c and c' over them.
struct Group {
    tracts: Vec<u32>,
    sums: BTreeMap<u32, [u32; 2]>,
}

impl Group {
    /// c and c' of an entity in the group, or in both of two groups.
    fn step(&self, other: Option<&Group>, entity: u32) -> [u32; 2] {
        // A tract that is not touched has c' = 1.
        let sums = |group: &Group| *group.sums.get(&entity).unwrap_or(&[0, group.tracts.len() as u32]);
        let (one, two) = (sums(self), other.map_or([0, 0], sums));
        osed::step([one[0] + two[0], one[1] + two[1]])
    }
}

/// The sums over the children of a unit with one child's values replaced.
fn replace(sums: [u32; 2], old: [u32; 2], new: [u32; 2]) -> [u32; 2] {
    [sums[0] + new[0] - old[0], sums[1] + new[1] - old[1]]
}

/// The greedy merging of Algorithm 2: two groups of a county become one where the descending distances do not become
/// lexicographically larger and the fan-out allows, until nothing changes.
///
/// Only entities that touch the county can change, and elements that two descending vectors share do not bear on their
/// order, so a trial compares the old and new distances of those that changed.
fn group_tracts(tree: &mut Tree, entities: &Entities, settings: &SpineSettings) {
    const COUNTY: usize = 2;
    let county_of = tree.parents(COUNTY + 1);
    let state_of = tree.parents(COUNTY);
    let mut counties: Vec<Vec<Group>> = (0..tree.units(COUNTY))
        .map(|county| {
            let tracts = tree.children(COUNTY, county);
            tracts.map(|tract| Group { tracts: vec![tract as u32], sums: BTreeMap::new() }).collect()
        })
        .collect();
    // The sums of c and c' over the children of each touched county, each touched state, and the nation.
    let mut in_county: Vec<BTreeMap<u32, [u32; 2]>> = vec![BTreeMap::new(); counties.len()];
    let mut in_state: HashMap<(u32, u32), [u32; 2]> = HashMap::new();
    let mut in_nation: Vec<[u32; 2]> = Vec::new();
    for (_, column) in &entities.columns[..entities.bounding] {
        for tracts in osed::touched_at(tree, column, COUNTY + 1) {
            let entity = in_nation.len() as u32;
            in_nation.push([0, tree.units(1) as u32]);
            for (tract, c) in tracts {
                let county = county_of[tract as usize] as usize;
                let group = &mut counties[county][tract as usize - tree.children(COUNTY, county).start];
                group.sums.insert(entity, c);
                let untouched = [0, tree.children(COUNTY, county).len() as u32];
                let sums = in_county[county].entry(entity).or_insert(untouched);
                *sums = replace(*sums, [0, 1], c);
            }
        }
    }
    for (county, sums) in in_county.iter().enumerate() {
        let state = state_of[county];
        for (entity, sums) in sums {
            let untouched = [0, tree.children(1, state as usize).len() as u32];
            let above = in_state.entry((*entity, state)).or_insert(untouched);
            *above = replace(*above, [0, 1], osed::step(*sums));
        }
    }
    for ((entity, _), sums) in &in_state {
        let nation = &mut in_nation[*entity as usize];
        *nation = replace(*nation, [0, 1], osed::step(*sums));
    }
    loop {
        let mut changed = false;
        for (county, groups) in counties.iter_mut().enumerate() {
            let most = settings.most(tree.children(COUNTY, county).len());
            let state = state_of[county];
            let mut first = 0;
            while first < groups.len() {
                let mut second = first + 1;
                while second < groups.len() {
                    let (one, two) = (&groups[first], &groups[second]);
                    if one.tracts.len() + two.tracts.len() > most {
                        second += 1;
                        continue;
                    }
                    let (mut old, mut new, mut moves) = (Vec::new(), Vec::new(), Vec::new());
                    for (entity, sums) in &in_county[county] {
                        let apart = [one.step(None, *entity), two.step(None, *entity)];
                        let both = [apart[0][0] + apart[1][0], apart[0][1] + apart[1][1]];
                        let county_sums = replace(*sums, both, one.step(Some(two), *entity));
                        let above = in_state[&(*entity, state)];
                        let state_sums = replace(above, osed::step(*sums), osed::step(county_sums));
                        let nation = in_nation[*entity as usize];
                        let nation_sums = replace(nation, osed::step(above), osed::step(state_sums));
                        let distances = (osed::step(nation)[0], osed::step(nation_sums)[0]);
                        if distances.0 != distances.1 {
                            old.push(distances.0);
                            new.push(distances.1);
                        }
                        moves.push((*entity, county_sums, state_sums, nation_sums));
                    }
                    old.sort_unstable_by(|a, b| b.cmp(a));
                    new.sort_unstable_by(|a, b| b.cmp(a));
                    if new > old {
                        second += 1;
                        continue;
                    }
                    changed = true;
                    for (entity, county_sums, state_sums, nation_sums) in moves {
                        in_county[county].insert(entity, county_sums);
                        in_state.insert((entity, state), state_sums);
                        in_nation[entity as usize] = nation_sums;
                    }
                    let absorbed = groups.remove(second);
                    merge(&mut groups[first], absorbed);
                }
                first += 1;
            }
        }
        if !changed {
            break;
        }
    }
    tree.insert(COUNTY, |_, county, order, sizes| {
        for group in &counties[county] {
            order.extend(&group.tracts);
            sizes.push(group.tracts.len() as u32);
        }
    });
}

fn merge(group: &mut Group, absorbed: Group) {
    let lengths = [group.tracts.len() as u32, absorbed.tracts.len() as u32];
    for sums in group.sums.values_mut() {
        sums[1] += lengths[1];
    }
    for (entity, other) in absorbed.sums {
        let sums = group.sums.entry(entity).or_insert([0, lengths[0] + lengths[1]]);
        *sums = replace(*sums, [0, lengths[1]], other);
    }
    group.tracts.extend(absorbed.tracts);
    group.tracts.sort_unstable();
}
