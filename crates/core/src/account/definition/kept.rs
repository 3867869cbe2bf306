//! What is remembered between definitions: the levels and queries of one release have counts in common, and some of them all counts.
//!
//! Every value is a function of its key alone, so memory changes no enclosure, only its time.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// A few values by their keys, the oldest of which are dropped.
pub(super) struct Kept<K, V> {
    values: Mutex<VecDeque<(K, V)>>,
    most: usize,
}

impl<K, V: Clone> Kept<K, V> {
    pub(super) const fn new(most: usize) -> Self {
        Kept { values: Mutex::new(VecDeque::new()), most }
    }

    pub(super) fn found(&self, is_it: impl Fn(&K) -> bool) -> Option<V> {
        // A thread that panics leaves every stored value whole.
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value.clone())
    }

    pub(super) fn keep(&self, key: K, value: V) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= self.most {
            values.pop_front();
        }
        values.push_back((key, value));
    }
}
