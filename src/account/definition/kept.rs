//! What is remembered between definitions: the levels and queries of one release have counts in common, and some of them all counts.
//!
//! Every value is a function of its key alone, so memory changes no enclosure, only its time.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::{Both, Definition, grid::OnGrid, listed, listed::Listed};
use crate::law::Law;

/// A few values by their keys, the oldest of which are dropped.
struct Kept<K, V> {
    values: Mutex<VecDeque<(K, V)>>,
    most: usize,
}

impl<K, V: Clone> Kept<K, V> {
    const fn new(most: usize) -> Self {
        Kept { values: Mutex::new(VecDeque::new()), most }
    }

    fn found(&self, is_it: impl Fn(&K) -> bool) -> Option<V> {
        // A thread that panics leaves every stored value whole.
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value.clone())
    }

    fn keep(&self, key: K, value: V) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= self.most {
            values.pop_front();
        }
        values.push_back((key, value));
    }
}

/// The pairs of a count, each with the number of records that make the change; `None` where they are not listed.
pub(super) type Pairs = Option<Arc<Vec<(u64, Arc<Listed>)>>>;

static PAIRS: Kept<(Law, u64, u64, bool), Pairs> = Kept::new(64);

/// As [`listed::pairs`].
pub(super) fn pairs(law: &Law, shift: u64, one: u64, is_exact: bool) -> Pairs {
    let is_it = |key: &(Law, u64, u64, bool)| (key.1, key.2, key.3) == (shift, one, is_exact) && key.0 == *law;
    PAIRS.found(is_it).unwrap_or_else(|| {
        let all = listed::pairs(law, shift, one, is_exact);
        let all =
            all.map(|all| Arc::new(all.into_iter().map(|(records, listed)| (records, Arc::new(listed))).collect()));
        PAIRS.keep((law.clone(), shift, one, is_exact), all.clone());
        all
    })
}

/// Outcomes, the bits of the step of their grid and of the number of points, and the number of counts.
type PowerKey = (Arc<Listed>, u64, u64, u64);

static POWERS: Kept<PowerKey, Option<OnGrid>> = Kept::new(128);
/// Sums of more points are not remembered: they would take much memory.
const MOST_POINTS: usize = 5_000;

/// The sum of equal counts on a grid of this step, made if need be.
pub(super) fn power(
    listed: &Arc<Listed>,
    (step, points): (f64, f64),
    copies: u64,
    make: impl Fn() -> Option<OnGrid>,
) -> Option<OnGrid> {
    // The key holds the outcomes, so that no others have their address.
    let is_it = |key: &PowerKey| {
        Arc::ptr_eq(&key.0, listed) && (key.1, key.2, key.3) == (step.to_bits(), points.to_bits(), copies)
    };
    POWERS.found(is_it).unwrap_or_else(|| {
        let made = make();
        if made.as_ref().is_some_and(|made| made.points() > MOST_POINTS) {
            return made;
        }
        POWERS.keep((Arc::clone(listed), step.to_bits(), points.to_bits(), copies), made.clone());
        made
    })
}

/// What follows from a definition, computed once it is requested.
pub(super) type Ways = Arc<OnceLock<Option<Vec<Both>>>>;

static WAYS: Kept<Definition, Ways> = Kept::new(32);

/// That of an equal definition, if there was one. What follows from many routes is not remembered: it would take much memory.
pub(super) fn ways(definition: &Definition) -> Ways {
    if !definition.routes.is_empty() {
        return Ways::default();
    }
    WAYS.found(|key| key == definition).unwrap_or_else(|| {
        let ways = Ways::default();
        WAYS.keep(definition.clone(), Arc::clone(&ways));
        ways
    })
}
