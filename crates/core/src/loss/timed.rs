//! The least seconds of a step of some work: for `scripts/measure/measure-costs`.

use std::time::{Duration, Instant};

/// Work is timed again until it has taken this long in all, and at most this often; the least time counts.
const ENOUGH: Duration = Duration::from_millis(300);
const MOST_RUNS: u32 = 40;

/// The least seconds of a step, of work that returns the number of its steps.
pub(super) fn least_per_step(mut work: impl FnMut() -> f64) -> f64 {
    let (mut least, mut total) = (f64::INFINITY, Duration::ZERO);
    for _ in 0..MOST_RUNS {
        let began = Instant::now();
        let steps = work();
        let took = began.elapsed();
        least = least.min(took.as_secs_f64() / steps);
        total += took;
        if total >= ENOUGH {
            break;
        }
    }
    least
}
