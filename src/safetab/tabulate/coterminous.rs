//! Coterminous geographies: entities of different types that are made of the same blocks publish the same counts.
//!
//! The 2024 paper (Section 5.3.3, Algorithm 4) describes this step; the public code has none. Taken from the paper: in
//! every set of coterminous population groups the one of the highest summary level that is not suppressed gives its
//! counts, all of them, to the others, which lose their own. Chosen here, where the paper is silent: the order of the
//! levels is that of [`Pass::region_types`](crate::safetab::schema::Pass::region_types), nation to tract, then place
//! and area; two entities are coterminous where the blocks of the GRF-C are the same. (The bureau also counts entities
//! as such that differ by water only. The GRF-C does not tell water, so they are not found.) It runs last and sees
//! nothing but noisy counts and public geography, so it costs no privacy.

use std::collections::HashMap;

use crate::safetab::tables::PublishedTable;

/// An entity: the position of its type among those of the pass, and its position among the entities of the type.
pub type Entity = (usize, u32);

/// What a group publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its table.
    pub table: PublishedTable,
    /// Its noisy counts.
    pub counts: Vec<i64>,
}

/// Sets of coterminous entities, and what their groups have published so far. Levels must come highest first.
#[derive(Debug, Default)]
pub struct Coterminous {
    /// The set of every entity that shares its blocks with another: the type's index in the order, the entity's number.
    sets: HashMap<Entity, usize>,
    groups: HashMap<(usize, u16), State>,
    replaced: u64,
}

/// A set of coterminous groups, one iteration of a set of entities.
#[derive(Debug)]
enum State {
    /// Only suppressed groups came so far: these.
    Waiting(Vec<Entity>),
    /// One group was published, and all that follow publish the same.
    Donor(Published),
}

impl Coterminous {
    /// From the sets of entities that are made of the same blocks; each has two at least.
    pub fn new(sets: impl IntoIterator<Item = Vec<Entity>>) -> Self {
        let sets = sets.into_iter().enumerate();
        let sets = sets.flat_map(|(set, entities)| entities.into_iter().map(move |entity| (entity, set))).collect();
        Coterminous { sets, ..Coterminous::default() }
    }

    /// Whether the entity shares its blocks with another.
    pub fn holds(&self, entity: Entity) -> bool {
        self.sets.contains_key(&entity)
    }

    /// Whether no entity shares its blocks with another.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// How many groups publish the counts of another one.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// Takes what a group of a coterminous entity would publish, `None` if it is suppressed, and returns what is published
    /// now: for itself, and for groups of higher levels that waited for a donor.
    pub fn publish(&mut self, entity: Entity, iteration: u16, own: Option<Published>) -> Vec<(Entity, Published)> {
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
        Published { table: PublishedTable::Total, counts: vec![count] }
    }

    /// Algorithm 4 as it is printed, over all sets at once.
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
    fn what_is_published_is_that_of_the_algorithm() {
        for mask in 0..1 << 4 {
            let own: Vec<Option<i64>> = (0..4).map(|r| (mask >> r & 1 == 1).then_some(100 + r)).collect();
            let mut coterminous = Coterminous::new([(0..4).map(|r| (r, 7)).collect::<Vec<_>>()]);
            let mut found = vec![None; 4];
            for (r, own) in own.iter().enumerate() {
                for (entity, published) in coterminous.publish((r, 7), 1234, own.map(total)) {
                    assert!(found[entity.0].replace(published.counts[0]).is_none(), "published twice");
                }
            }
            // The loop of the algorithm goes on below the donor, whose data all have by then.
            assert_eq!(found, by_definition(&own));
            let given = found.iter().filter(|count| count.is_some()).count() as u64;
            assert_eq!(coterminous.replaced(), given.saturating_sub(1));
        }
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
