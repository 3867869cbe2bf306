//! Effort: the priced steps that an answer has taken, in seconds of one processor as they are priced, not as they pass.
//!
//! Steps are counted where they are taken: nodes of contours, terms of sums, windows of a sieve, points of a convolution, at the prices of
//! the engines. So the effort of an answer, and whatever depends on it, is the same on every machine, on any number of threads, and beside any other work. Work that was
//! remembered from an earlier request is counted as if it were done again.
//!
//! Each thread counts its own steps. A task of [`parallel`](super::parallel) begins with the count of the thread that began it, and that thread adds the
//! efforts of all its tasks in the end.

use std::cell::Cell;

use super::clock;

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// An effort, in billionths of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort(u64);

impl Effort {
    /// That of a number of steps, each of a price in seconds.
    pub(crate) fn of_steps(steps: f64, price: f64) -> Effort {
        // Above zero, and saturated: a step of an answer is never free.
        Effort((steps * price * 1e9).ceil().max(1.0) as u64)
    }

    /// The effort of a number of seconds.
    pub(crate) fn of_seconds(seconds: f64) -> Effort {
        Effort::of_steps(1.0, seconds)
    }

    /// In seconds, approximately.
    pub fn seconds_approx(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The sum of both.
    pub fn and(self, other: Effort) -> Effort {
        Effort(self.0.saturating_add(other.0))
    }

    /// What is left of it after another.
    pub(crate) fn since(self, other: Effort) -> Effort {
        Effort(self.0.saturating_sub(other.0))
    }
}

/// What this thread has spent so far.
pub(crate) fn spent() -> Effort {
    Effort(SPENT.get())
}

/// The result of a task, and its effort.
pub fn of_task<T>(task: impl FnOnce() -> T) -> (T, Effort) {
    let before = spent();
    let result = task();
    (result, spent().since(before))
}

/// Spends an effort.
pub(crate) fn spend(effort: Effort) {
    clock::spent(effort.0);
    SPENT.set(SPENT.get().saturating_add(effort.0));
}

/// The result of a task and its effort. It begins with the count `from`; the count of this thread stays as it was, because a thread that waits for one task may
/// take over another.
#[doc(hidden)]
pub fn apart<T>(from: Effort, task: impl FnOnce() -> T) -> (T, Effort) {
    let own = SPENT.replace(from.0);
    let result = task();
    let effort = spent().since(from);
    SPENT.set(own);
    (result, effort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::parallel;

    /// Tasks begin where their thread was, their efforts add up, and the sum does not depend on the number of threads.
    #[test]
    fn the_effort_does_not_depend_on_the_threads() {
        let of_nested = |outer: usize| {
            spend(Effort::of_steps(outer as f64, 1e-3));
            let seen = parallel::map_indices(20, |inner| {
                spend(Effort::of_steps((inner * outer) as f64, 1e-6));
                spent()
            });
            (seen, spent())
        };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let before = spent();
                let seen = parallel::map_indices(30, of_nested);
                let seen: Vec<_> = seen
                    .into_iter()
                    .map(|(inner, own)| {
                        (inner.iter().map(|one| one.since(before)).collect::<Vec<_>>(), own.since(before))
                    })
                    .collect();
                (seen, spent().since(before))
            })
        };
        let once = run(1);
        assert!(once == run(2) && once == run(7));
        assert!(once.1.seconds_approx() > 0.43);
    }

    /// An item that fails ends the answer; those after it, which may be left out, are not counted.
    #[test]
    fn items_after_a_failed_one_are_not_counted() {
        let items: Vec<usize> = (0..1000).collect();
        for _ in 0..20 {
            let before = spent();
            let result = parallel::try_map_any(&items, |item| {
                spend(Effort::of_steps(1.0, 1e-3));
                if *item == 400 { Err(()) } else { Ok(()) }
            });
            assert!(result.is_err());
            assert_eq!(spent().since(before), Effort::of_steps(401.0, 1e-3));
        }
    }
}
