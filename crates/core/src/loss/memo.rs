//! Values by key that are remembered between requests, for all threads.
//!
//! A value is a function of its key alone, so that memory changes no answer, only its time. It is made without the lock: two threads
//! may make the same one, which is better than one that waits, and the first one stored serves both. The lock is held for look-ups only; a thread
//! that panics leaves every stored value whole, so a poisoned lock is no error.

use std::{
    collections::HashMap,
    convert::Infallible,
    fmt::{self, Debug, Formatter},
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::numeric::effort;

/// Values by their keys; the oldest are dropped where there is a limit.
pub(crate) struct Memo<K, V> {
    kept: Mutex<Kept<K, V>>,
    limit: Limit<V>,
}

/// The values of a memo.
struct Kept<K, V> {
    /// Each value with the number of those stored before it.
    values: HashMap<K, (u64, V)>,
    stored: u64,
}

/// The weight of a value in any unit; it may change while the value is kept.
type Weight<V> = fn(&V) -> usize;

/// The most that a memo holds; a value that exceeds it alone is kept alone.
struct Limit<V> {
    /// The largest number of values.
    values: usize,
    /// The largest total weight, and the weight of a value.
    weight: Option<(usize, Weight<V>)>,
    /// No value is dropped from this many or fewer, as they may be in use.
    in_use: fn() -> usize,
}

impl<V> Default for Limit<V> {
    /// No limit.
    fn default() -> Self {
        Limit { values: usize::MAX, weight: None, in_use: || 0 }
    }
}

impl<K, V> Default for Memo<K, V> {
    /// Without a limit.
    fn default() -> Self {
        Memo::within(Limit::default())
    }
}

impl<K, V> Debug for Memo<K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("values", &lock(&self.kept).values.len()).finish_non_exhaustive()
    }
}

impl<K, V> Memo<K, V> {
    fn within(limit: Limit<V>) -> Self {
        Memo { kept: Mutex::new(Kept { values: HashMap::new(), stored: 0 }), limit }
    }

    /// With at most this many values.
    pub(crate) fn of_at_most(values: usize) -> Self {
        Memo::within(Limit { values, ..Limit::default() })
    }

    /// The same with at most this total weight.
    pub(crate) fn weighing_at_most(self, most: usize, weight: Weight<V>) -> Self {
        Memo::within(Limit { weight: Some((most, weight)), ..self.limit })
    }

    /// The same, which drops none of this many values or fewer, even if they exceed a limit.
    pub(crate) fn with_in_use(self, in_use: fn() -> usize) -> Self {
        Memo::within(Limit { in_use, ..self.limit })
    }

    /// The total weight of its values; zero where they have none.
    pub(crate) fn weight(&self) -> usize {
        self.limit.held(&lock(&self.kept).values)
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// The value of a key, if it is remembered.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        lock(&self.kept).values.get(key).map(|(_, value)| value.clone())
    }

    /// The value of a key, made if need be.
    pub(crate) fn get_or_make(&self, key: K, make: impl FnOnce(&K) -> V) -> V {
        let Ok(value) = self.get_or_try(key, |key| Ok::<V, Infallible>(make(key)));
        value
    }

    /// The same for a value that may be impossible to make; the error is not remembered.
    pub(crate) fn get_or_try<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<V, E> {
        if let Some(known) = self.get(&key) {
            return Ok(known);
        }
        // Which thread makes it is left to chance: its effort counts where it is used.
        let made = effort::apart(effort::spent(), || make(&key)).0?;
        Ok(self.store(key, made))
    }

    /// The value stored first for a key: this one, after the oldest others that leave no room for it are dropped, unless there is one.
    fn store(&self, key: K, value: V) -> V {
        let mut kept = lock(&self.kept);
        if let Some((_, first)) = kept.values.get(&key) {
            return first.clone();
        }
        while self.limit.leaves_no_room(&kept.values, &value) {
            let oldest = kept.values.values().map(|(number, _)| *number).min();
            kept.values.retain(|_, (number, _)| Some(*number) != oldest);
        }
        let number = kept.stored;
        kept.stored += 1;
        kept.values.insert(key, (number, value.clone()));
        value
    }
}

impl<V> Limit<V> {
    /// Whether an old value has to be dropped before a new one is stored.
    fn leaves_no_room<K>(&self, values: &HashMap<K, (u64, V)>, new: &V) -> bool {
        let is_too_heavy =
            || self.weight.is_some_and(|(most, weight)| self.held(values).saturating_add(weight(new)) > most);
        values.len() > (self.in_use)() && (values.len() >= self.values || is_too_heavy())
    }

    /// The total weight of some values.
    fn held<K>(&self, values: &HashMap<K, (u64, V)>) -> usize {
        self.weight
            .map_or(0, |(_, weight)| values.values().map(|(_, value)| weight(value)).fold(0, usize::saturating_add))
    }
}

/// Locks what threads share; a poisoned lock is no error where what it guards is whole after every step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        panic,
        sync::{
            Arc, Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use super::*;

    /// The keys from 0 to 9 that are remembered.
    fn known(memo: &Memo<u32, usize>) -> Vec<u32> {
        (0..10).filter(|key| memo.get(key).is_some()).collect()
    }

    /// Eight threads that all make the value at the same time, as the lock is not held, get the same one.
    #[test]
    fn the_first_value_stored_serves_all_threads() {
        const THREADS: usize = 8;
        let (memo, made, all) = (Memo::default(), AtomicUsize::new(0), Barrier::new(THREADS));
        let make = |_: &u32| {
            all.wait();
            Arc::new(made.fetch_add(1, Ordering::SeqCst))
        };
        let values: Vec<Arc<usize>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| memo.get_or_make(7, make))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.load(Ordering::SeqCst), THREADS);
        assert!(values.iter().all(|value| Arc::ptr_eq(value, &values[0])));
        let again = memo.get_or_make(7, |_| panic!("it is remembered"));
        assert!(Arc::ptr_eq(&again, &values[0]));
    }

    #[test]
    fn an_error_is_not_remembered() {
        let memo = Memo::<u32, u32>::default();
        assert_eq!(memo.get_or_try(1, |_| Err("too large")), Err("too large"));
        assert_eq!(memo.get(&1), None);
        assert_eq!(memo.get_or_try(1, |key| Ok::<u32, &str>(key + 1)), Ok(2));
        assert_eq!(memo.get_or_try(1, |_| Err("too large")), Ok(2));
    }

    #[test]
    fn the_oldest_values_are_dropped() {
        let memo = Memo::of_at_most(3);
        for key in [4, 1, 3, 1, 4, 2] {
            memo.get_or_make(key, |key| *key as usize);
        }
        assert_eq!(known(&memo), [1, 2, 3], "a look-up makes no value younger");
    }

    #[test]
    fn heavy_values_are_dropped_until_the_new_one_has_room() {
        let memo = Memo::of_at_most(4).weighing_at_most(100, |weight| *weight);
        let store = |key, weight| memo.get_or_make(key, |_| weight);
        for (key, weight) in [(0, 40), (1, 30), (2, 30)] {
            store(key, weight);
        }
        assert_eq!((known(&memo), memo.weight()), (vec![0, 1, 2], 100));
        store(3, 50);
        assert_eq!((known(&memo), memo.weight()), (vec![2, 3], 80));
        store(4, 500);
        assert_eq!((known(&memo), memo.weight()), (vec![4], 500), "one that exceeds the limit is kept alone");
        store(5, usize::MAX);
        store(6, 1);
        assert_eq!((known(&memo), memo.weight()), (vec![6], 1));
    }

    #[test]
    fn values_in_use_are_not_dropped() {
        let memo = Memo::of_at_most(usize::MAX).weighing_at_most(10, |weight| *weight).with_in_use(|| 2);
        for key in 0..5 {
            memo.get_or_make(key, |_| 8);
            assert!(known(&memo).len() <= 3 && known(&memo).contains(&key));
        }
        assert_eq!(known(&memo), [2, 3, 4]);
    }

    /// Also one that makes other values of the same memo, and one after a panic.
    #[test]
    fn values_are_made_without_the_lock() {
        fn sum(memo: &Memo<u32, u64>, n: u32) -> u64 {
            memo.get_or_make(n, |n| if *n == 0 { 0 } else { sum(memo, n - 1) + u64::from(*n) })
        }
        let memo = Memo::default();
        assert_eq!(sum(&memo, 100), 5050);
        assert!(format!("{memo:?}").contains("101"));
        let panics = || memo.get_or_make(101, |_| panic!("on purpose"));
        assert!(panic::catch_unwind(panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(sum(&memo, 101), 5151);
    }
}
