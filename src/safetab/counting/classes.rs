//! Classes of codes: combinations of codes that belong to the same iterations.

use std::{collections::HashMap, sync::Arc};

use foldhash::fast::FixedState;

use crate::{
    error::Result,
    safetab::{
        groups::Specification,
        schema::{Combination, Granularity, IterationCode, IterationLevel},
    },
};

/// The indices of the iterations of a class in the key sets, by granularity and level: one list after the other, preceded by the ends of
/// all lists. There can be millions of classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lists(Arc<[u32]>);

impl Lists {
    const COUNT: usize = Granularity::ALL.len() * IterationLevel::ALL.len();

    fn index(granularity: Granularity, level: IterationLevel) -> usize {
        granularity as usize * IterationLevel::ALL.len() + level as usize
    }

    /// The iterations of a granularity and level, ascending.
    pub fn list(&self, granularity: Granularity, level: IterationLevel) -> &[u32] {
        let index = Lists::index(granularity, level);
        let begin = index.checked_sub(1).map_or(Lists::COUNT, |before| self.0[before] as usize);
        &self.0[begin..self.0[index] as usize]
    }
}

/// The classes of the combinations seen so far, numbered in the order of their appearance.
pub(in crate::safetab) struct Classes<'a> {
    specification: &'a Specification,
    /// The iterations of each granularity and level, ascending.
    keys: [[Vec<IterationCode>; 2]; 2],
    of_combination: HashMap<u128, u32, FixedState>,
    of_lists: HashMap<Lists, u32, FixedState>,
    lists: Vec<Lists>,
    /// The last combination and its class: neighboring records of a file are often alike.
    last: Option<(u128, u32)>,
}

impl<'a> Classes<'a> {
    /// No classes yet.
    pub fn new(specification: &'a Specification) -> Self {
        let codes = |granularity, level| {
            specification.key_set(granularity, level).into_iter().map(|key| key.iteration).collect()
        };
        Classes {
            specification,
            keys: Granularity::ALL.map(|granularity| IterationLevel::ALL.map(|level| codes(granularity, level))),
            of_combination: HashMap::default(),
            of_lists: HashMap::default(),
            lists: Vec::new(),
            last: None,
        }
    }

    /// The class of a packed combination.
    pub fn class(&mut self, packed: u128) -> Result<u32> {
        if let Some((last, class)) = self.last
            && last == packed
        {
            return Ok(class);
        }
        let class = match self.of_combination.get(&packed) {
            Some(class) => *class,
            None => {
                let class = self.classify(&Combination::unpack(packed))?;
                self.of_combination.insert(packed, class);
                class
            }
        };
        self.last = Some((packed, class));
        Ok(class)
    }

    /// The class of a combination.
    #[cold]
    pub fn classify(&mut self, combination: &Combination) -> Result<u32> {
        let mut lists = vec![0; Lists::COUNT];
        for granularity in Granularity::ALL {
            for level in IterationLevel::ALL {
                let keys = &self.keys[granularity as usize][level as usize];
                let place = |code| keys.binary_search(code).ok().map(|place| place as u32);
                let codes = self.specification.iterations(combination, granularity, level)?;
                lists.extend(codes.iter().filter_map(place));
                lists[Lists::index(granularity, level)] = lists.len() as u32;
            }
        }
        let lists = Lists(lists.into());
        let next = self.lists.len() as u32;
        let class = *self.of_lists.entry(lists.clone()).or_insert(next);
        if class == next {
            self.lists.push(lists);
        }
        Ok(class)
    }

    /// The number of classes.
    #[cfg(feature = "cluster")]
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// The iterations of each class.
    pub(super) fn into_lists(self) -> Vec<Lists> {
        self.lists
    }
}
