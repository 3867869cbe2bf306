//! One function for each of many items, on all threads.
//!
//! Results stand in the order of the items, and an error is that of the first item that fails, whatever the number of threads. A call compiles
//! little more than its own function: the division of the work among threads is compiled once, for indices.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;

use super::effort::{self, Effort};
use crate::error::Result;

/// f(item) of each item.
pub fn map<I: Sync, T: Send>(items: &[I], f: impl Fn(&I) -> T + Sync) -> Vec<T> {
    map_indices(items.len(), |index| f(&items[index]))
}

/// f(item) of each item, or the error of the first item that fails.
///
/// # Errors
/// Those of f. Items after a failed one may be left out.
pub fn try_map<I: Sync, T: Send>(items: &[I], f: impl Fn(&I) -> Result<T> + Sync) -> Result<Vec<T>> {
    until_error(items.len(), |index| f(&items[index]))
}

/// f(item) of each item, or the error of the first item that fails, of any type.
///
/// # Errors
/// Those of f. Items after a failed one may be left out.
pub fn try_map_any<I: Sync, T: Send, E: Send>(
    items: &[I],
    f: impl Fn(&I) -> std::result::Result<T, E> + Sync,
) -> std::result::Result<Vec<T>, E> {
    until_error(items.len(), |index| f(&items[index]))
}

/// f(0), f(1), ..., f(count - 1).
pub fn map_indices<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (results, efforts): (Vec<T>, Vec<Effort>) = with_efforts(count, f).into_iter().unzip();
    efforts.into_iter().for_each(effort::spend);
    results
}

/// Both results, on two threads.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let begun = effort::spent();
    let ((a, of_a), (b, of_b)) = rayon::join(|| effort::apart(begun, a), || effort::apart(begun, b));
    effort::spend(of_a);
    effort::spend(of_b);
    (a, b)
}

/// f(0), f(1), ..., f(count - 1), each with its effort.
fn with_efforts<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<(T, Effort)> {
    let begun = effort::spent();
    let results: Vec<Mutex<Option<(T, Effort)>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each_index(count, &|index| {
        let result = effort::apart(begun, || f(index));
        *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// f(0), f(1), ..., f(count - 1), or the error of the smallest index that fails.
///
/// # Errors
/// Those of f. Indices after a failed one may be left out.
pub fn try_map_indices<T: Send>(count: usize, f: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    until_error(count, f)
}

fn until_error<T: Send, E: Send>(
    count: usize,
    f: impl Fn(usize) -> std::result::Result<T, E> + Sync,
) -> std::result::Result<Vec<T>, E> {
    let first_failed = AtomicUsize::new(usize::MAX);
    let unless_later = |index: usize| {
        if index > first_failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = f(index);
        if result.is_err() {
            first_failed.fetch_min(index, Ordering::Relaxed);
        }
        Some(result)
    };
    // An index that is left out is larger than one that failed, and that is found before. Whether others after that one were done is left to chance.
    let mut results = Vec::with_capacity(count);
    for (result, effort) in with_efforts(count, unless_later) {
        let Some(result) = result else { continue };
        effort::spend(effort);
        results.push(result?);
    }
    Ok(results)
}

fn for_each_index(count: usize, f: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(f);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..10_000).rev().collect();
        assert_eq!(map(&items, |item| item * item), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert_eq!(
            try_map(&items, |item| Ok(item + 1)).unwrap(),
            items.iter().map(|item| item + 1).collect::<Vec<_>>()
        );
        assert!(map(&[], |item: &u64| *item).is_empty());
        assert!(try_map_indices(0, Ok).unwrap().is_empty());
    }

    #[test]
    fn the_error_is_that_of_the_first_item_that_fails() {
        for first in [0, 1, 499, 998] {
            let fails = |index: usize| {
                if index >= first && index % 3 != 1 || index == first {
                    Err(Error::fault(index.to_string()))
                } else {
                    Ok(index)
                }
            };
            for _ in 0..50 {
                let error = try_map_indices(1000, fails).unwrap_err();
                assert_eq!(error.to_string(), Error::fault(first.to_string()).to_string());
            }
        }
    }
}
