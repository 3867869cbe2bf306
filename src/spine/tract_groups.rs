//! Tract groups that follow the entities: the greedy merging of Algorithm 2 (Cumings-Menon et al.).

use std::collections::{BTreeMap, HashMap};

use super::{blocks::EntityColumn, hierarchy::Tree, osed};

/// A tract group during merging: its tracts, and for each entity that it touches the sums of c and c' over them.
struct Group {
    tracts: Vec<u32>,
    sums: BTreeMap<u32, [u32; 2]>,
}

impl Group {
    /// c and c' of an entity in the group, or in the union of two groups.
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

/// Inserts tract groups between counties and tracts, for the entities of these columns. A county with n tracts has at
/// most `most(n)` tracts in a group.
///
/// This is the greedy merging of Algorithm 2: two groups of a county are merged if the descending distances do not
/// become lexicographically larger and the fan-out allows it, until nothing changes.
///
/// Entities whose distance is at most `threshold` while each tract is a group of its own are ignored. A county that no
/// other entity touches gets the largest allowed groups of consecutive tracts.
///
/// Only entities that touch the county can change, and equal elements of two descending vectors do not affect their
/// order. So a trial compares the old and new distances only of those that changed.
pub(super) fn group_tracts(
    tree: &mut Tree,
    columns: &[(String, EntityColumn)],
    threshold: u32,
    most: impl Fn(usize) -> usize,
) {
    let state_of = tree.parents(COUNTY);
    let (mut counties, mut sums) = ungrouped(tree, columns, &state_of);
    if threshold > 0 {
        let is_far = |entity: u32| osed::step(sums.in_nation[entity as usize])[0] > threshold;
        let kept: Vec<bool> = (0..sums.in_nation.len() as u32).map(is_far).collect();
        sums.in_county.iter_mut().for_each(|own| own.retain(|entity, _| kept[*entity as usize]));
        counties.iter_mut().flatten().for_each(|group| group.sums.retain(|entity, _| kept[*entity as usize]));
    }
    loop {
        let mut changed = false;
        for (county, groups) in counties.iter_mut().enumerate() {
            let most = most(tree.children(COUNTY, county).len());
            let mut first = 0;
            while first < groups.len() {
                let mut second = first + 1;
                while second < groups.len() {
                    let (one, two) = (&groups[first], &groups[second]);
                    let fits = one.tracts.len() + two.tracts.len() <= most;
                    let merged = if fits { sums.after_merging(county, state_of[county], one, two) } else { None };
                    let Some(merged) = merged else {
                        second += 1;
                        continue;
                    };
                    changed = true;
                    sums.set(county, state_of[county], merged);
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

/// The level of the counties.
const COUNTY: usize = 2;

/// The sums of c and c' of each entity over the children of each county and each state that it touches, and of the
/// nation.
struct DistanceSums {
    in_county: Vec<BTreeMap<u32, [u32; 2]>>,
    in_state: HashMap<(u32, u32), [u32; 2]>,
    in_nation: Vec<[u32; 2]>,
}

/// An entity with its sums in a county, its state and the nation.
type EntitySums = (u32, [[u32; 2]; 3]);

impl DistanceSums {
    /// The sums of all entities that touch a county after a merge of two of its groups; `None` if the merge makes the
    /// descending distances lexicographically larger.
    fn after_merging(&self, county: usize, state: u32, one: &Group, two: &Group) -> Option<Vec<EntitySums>> {
        let (mut old, mut new, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for (entity, sums) in &self.in_county[county] {
            let apart = [one.step(None, *entity), two.step(None, *entity)];
            let both = [apart[0][0] + apart[1][0], apart[0][1] + apart[1][1]];
            let county_sums = replace(*sums, both, one.step(Some(two), *entity));
            let above = self.in_state[&(*entity, state)];
            let state_sums = replace(above, osed::step(*sums), osed::step(county_sums));
            let nation = self.in_nation[*entity as usize];
            let nation_sums = replace(nation, osed::step(above), osed::step(state_sums));
            let distances = (osed::step(nation)[0], osed::step(nation_sums)[0]);
            if distances.0 != distances.1 {
                old.push(distances.0);
                new.push(distances.1);
            }
            merged.push((*entity, [county_sums, state_sums, nation_sums]));
        }
        old.sort_unstable_by(|a, b| b.cmp(a));
        new.sort_unstable_by(|a, b| b.cmp(a));
        (new <= old).then_some(merged)
    }

    fn set(&mut self, county: usize, state: u32, merged: Vec<EntitySums>) {
        for (entity, [county_sums, state_sums, nation_sums]) in merged {
            self.in_county[county].insert(entity, county_sums);
            self.in_state.insert((entity, state), state_sums);
            self.in_nation[entity as usize] = nation_sums;
        }
    }
}

/// Each tract of each county as a group of its own, and the resulting sums.
fn ungrouped(tree: &Tree, columns: &[(String, EntityColumn)], state_of: &[u32]) -> (Vec<Vec<Group>>, DistanceSums) {
    let county_of = tree.parents(COUNTY + 1);
    let mut counties: Vec<Vec<Group>> = (0..tree.units(COUNTY))
        .map(|county| {
            let tracts = tree.children(COUNTY, county);
            tracts.map(|tract| Group { tracts: vec![tract as u32], sums: BTreeMap::new() }).collect()
        })
        .collect();
    let mut in_county: Vec<BTreeMap<u32, [u32; 2]>> = vec![BTreeMap::new(); counties.len()];
    let mut in_state: HashMap<(u32, u32), [u32; 2]> = HashMap::new();
    let mut in_nation: Vec<[u32; 2]> = Vec::new();
    for (_, column) in columns {
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
    (counties, DistanceSums { in_county, in_state, in_nation })
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
