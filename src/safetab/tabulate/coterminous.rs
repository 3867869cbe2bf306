//! Coterminous geographies: entities of different types that consist of the same blocks publish the same counts.
//!
//! The 2024 paper (Section 5.3.3, Algorithm 4) describes this step; the public code lacks it. From the paper: in every set of coterminous
//! population groups the one with the highest summary level that is not suppressed gives all its counts to the others, which lose their
//! own. The paper leaves open, and this program chooses: the order of the levels is a setting; two entities are coterminous if their blocks
//! with land are the same (AREALAND above 0, or LWBLKTYP not W), because the bureau also treats entities that differ only by water as one.
//! If the GRF-C has neither column, or an entity has no land, all its blocks must be the same. The step runs last and uses only noisy
//! counts and public geography, so it costs no privacy.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::safetab::{
    schema::{Geography, RegionType},
    tables::PublishedTable,
};

/// An entity: the index of its type among those of the pass, and its index among the entities of the type.
pub type Entity = (usize, u32);

/// The sets of entities of some types that consist of the same blocks, each with at least two.
pub fn sets(geography: &Geography, types: &[RegionType]) -> Vec<Vec<Entity>> {
    let counts: Vec<usize> = types.iter().map(|region_type| geography.entities(*region_type).len()).collect();
    let region = |block: u32, place: usize| geography.region(block, types[place]);
    sets_of(&counts, geography.len() as u32, region, |block| geography.has_land(block))
}

/// The same for types with these numbers of entities and blocks with these numbers: `region` is the entity of a type that contains a block.
pub(in crate::safetab) fn sets_of(
    counts: &[usize],
    blocks: u32,
    region: impl Fn(u32, usize) -> Option<u32>,
    has_land: impl Fn(u32) -> bool,
) -> Vec<Vec<Entity>> {
    let mut entities: HashMap<(bool, [u8; 32]), Vec<Entity>> = HashMap::new();
    for (place, &count) in counts.iter().enumerate() {
        // All blocks of each entity, and those with land.
        let mut all: Vec<Sha256> = vec![Sha256::new(); count];
        let mut land: Vec<Option<Sha256>> = vec![None; count];
        for block in 0..blocks {
            let Some(region) = region(block, place) else { continue };
            all[region as usize].update(block.to_le_bytes());
            if has_land(block) {
                land[region as usize].get_or_insert_default().update(block.to_le_bytes());
            }
        }
        for (region, (all, land)) in (0..).zip(all.into_iter().zip(land)) {
            let key = (land.is_some(), land.unwrap_or(all).finalize().into());
            entities.entry(key).or_default().push((place, region));
        }
    }
    let mut sets: Vec<Vec<Entity>> = entities.into_values().filter(|set| set.len() > 1).collect();
    sets.sort_unstable();
    sets
}

/// The counts that a group publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published<T = PublishedTable> {
    /// Its table.
    pub table: T,
    /// Its noisy counts.
    pub counts: Vec<i64>,
    /// The margin of error of each of them, at 95 %.
    pub margin: i64,
}

/// Sets of coterminous entities, and the counts that their groups have published so far. Levels must come in order, highest first.
#[derive(Debug)]
pub struct Coterminous<T = PublishedTable> {
    /// The set of every entity that shares its blocks with another. An entity is the type's index in the order and its number.
    sets: HashMap<Entity, usize>,
    groups: HashMap<(usize, u32), State<T>>,
    replaced: u64,
}

/// The state of a set of coterminous groups: one iteration of a set of entities.
#[derive(Debug)]
enum State<T> {
    /// So far all groups are suppressed: these.
    Waiting(Vec<Entity>),
    /// One group was published, and all that follow publish the same counts.
    Donor(Published<T>),
}

impl<T: Clone> Default for Coterminous<T> {
    /// No entity shares its blocks with another.
    fn default() -> Self {
        Coterminous::new([])
    }
}

impl<T: Clone> Coterminous<T> {
    /// From the sets of entities that consist of the same blocks; each has at least two.
    pub fn new(sets: impl IntoIterator<Item = Vec<Entity>>) -> Self {
        let sets = sets.into_iter().enumerate();
        let sets = sets.flat_map(|(set, entities)| entities.into_iter().map(move |entity| (entity, set))).collect();
        Coterminous { sets, groups: HashMap::new(), replaced: 0 }
    }

    /// Whether the entity shares its blocks with another.
    pub fn holds(&self, entity: Entity) -> bool {
        self.sets.contains_key(&entity)
    }

    /// Whether no entity shares its blocks with another.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The number of groups that publish the counts of another one.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// Takes the counts that a group of a coterminous entity would publish, `None` if it is suppressed. Returns the counts to publish now:
    /// for itself, and for groups of higher levels that waited for a donor. The iteration is a number that the groups of entities share if
    /// they count the same persons.
    pub fn publish(
        &mut self,
        entity: Entity,
        iteration: u32,
        own: Option<Published<T>>,
    ) -> Vec<(Entity, Published<T>)> {
        let Some(&set) = self.sets.get(&entity) else {
            return own.map(|own| (entity, own)).into_iter().collect();
        };
        let state = self.groups.entry((set, iteration)).or_insert_with(|| State::Waiting(Vec::new()));
        match (state, own) {
            (State::Donor(donor), _) => {
                self.replaced += 1;
                vec![(entity, donor.clone())]
            }
            (State::Waiting(waiting), None) => {
                waiting.push(entity);
                Vec::new()
            }
            (state @ State::Waiting(_), Some(own)) => {
                let State::Waiting(waiting) = std::mem::replace(state, State::Donor(own.clone())) else {
                    return Vec::new();
                };
                self.replaced += waiting.len() as u64;
                waiting.into_iter().chain([entity]).map(|entity| (entity, own.clone())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(count: i64) -> Published {
        Published { table: PublishedTable::Total, counts: vec![count], margin: 0 }
    }

    /// Algorithm 4 as printed, over all sets at once.
    fn by_definition(own: &[Option<i64>]) -> Vec<Option<i64>> {
        let mut data = own.to_vec();
        for r in 0..data.len() {
            if let Some(counts) = data[r] {
                data.iter_mut().for_each(|other| *other = Some(counts));
            }
        }
        data
    }

    #[test]
    fn published_counts_follow_the_algorithm() {
        for mask in 0..1 << 4 {
            let own: Vec<Option<i64>> = (0..4).map(|r| (mask >> r & 1 == 1).then_some(100 + r)).collect();
            let mut coterminous = Coterminous::new([(0..4).map(|r| (r, 7)).collect::<Vec<_>>()]);
            let mut found = vec![None; 4];
            for (r, own) in own.iter().enumerate() {
                for (entity, published) in coterminous.publish((r, 7), 1234, own.map(total)) {
                    assert!(found[entity.0].replace(published.counts[0]).is_none(), "published twice");
                }
            }
            // The loop of the algorithm continues below the donor; by then all have its data.
            assert_eq!(found, by_definition(&own));
            let given = found.iter().filter(|count| count.is_some()).count() as u64;
            assert_eq!(coterminous.replaced(), given.saturating_sub(1));
        }
    }

    #[test]
    fn water_is_ignored_if_the_geography_distinguishes_it() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.json");
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab/config.json");
        std::fs::copy(example, &config).unwrap();
        let mut report = crate::safetab::schema::ValidationReport::new();
        let config = crate::safetab::schema::SafeTabConfig::read(&config, &mut report).unwrap();
        // County 001 has a tract of land and a tract of water, county 003 two of land, county 005 two of water.
        let rows =
            [("001", 100, 7), ("001", 200, 0), ("003", 100, 5), ("003", 200, 6), ("005", 100, 0), ("005", 200, 0)];
        let read = |columns: &str, row: &dyn Fn(u32) -> String| {
            let mut text = format!("TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE{columns}\n");
            rows.iter().for_each(|(county, tract, land)| {
                text += &format!("01|{county}|{tract:06}|1000|99999|9999{}\n", row(*land));
            });
            let path = folder.path().join("GRF-C.txt");
            std::fs::write(&path, text).unwrap();
            let mut report = crate::safetab::schema::ValidationReport::new();
            let geography = Geography::read(&path, &config, &mut report).unwrap();
            (geography, report)
        };
        let types = [RegionType::County, RegionType::Tract];
        let area = |land: u32| format!("|{land}|9");
        let kind = |land: u32| format!("|{}", if land > 0 { "L" } else { "W" });
        // The order of the tracts is 001: 0 and 1, 003: 2 and 3.
        let by_land = vec![vec![(0, 0), (1, 0)]];
        assert_eq!(sets(&read("|AREALAND|AREAWATER", &area).0, &types), by_land);
        assert_eq!(sets(&read("|LWBLKTYP", &kind).0, &types), by_land);
        assert_eq!(sets(&read("", &|_| String::new()).0, &types), Vec::<Vec<Entity>>::new());
        assert!(read("|AREALAND|X", &|_| "|-1|x".to_string()).1.to_string().contains("square metres"));
        assert!(read("|LWBLKTYP", &|_| "|X".to_string()).1.to_string().contains("L, W or B"));
    }

    #[test]
    fn others_publish_their_own() {
        let mut coterminous = Coterminous::new([vec![(1, 0), (2, 3)]]);
        assert!(!coterminous.holds((0, 0)) && coterminous.holds((2, 3)));
        assert_eq!(coterminous.publish((0, 0), 1, Some(total(5))), [((0, 0), total(5))]);
        assert_eq!(coterminous.publish((0, 1), 1, None), []);
        assert_eq!(coterminous.publish((1, 0), 1, Some(total(8))), [((1, 0), total(8))]);
        // Another iteration is another set of groups.
        assert_eq!(coterminous.publish((2, 3), 2, Some(total(9))), [((2, 3), total(9))]);
        assert_eq!(coterminous.publish((2, 3), 1, Some(total(6))), [((2, 3), total(8))]);
    }
}
