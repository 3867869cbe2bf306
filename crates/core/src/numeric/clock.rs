//! The clock of last resort.
//!
//! An answer ends by its effort, which is counted: the clock decides nothing as long as the prices of steps are right to within a factor of
//! [`TIMES`]. It stops what has used more processor time than that, because a step was priced far too low or the machine is far too slow. The digits of
//! such an answer may depend on the machine, so it has a status of its own, "stopped".
//!
//! ```
//! # use dp_assay_core as dp_assay;
//! use std::{sync::atomic::{AtomicU64, Ordering}, time::Duration};
//! use dp_assay::{account::{Account, Composition}, numeric::clock};
//!
//! // On a machine on which every step takes an hour, the first bounds are all that there is.
//! static SECONDS: AtomicU64 = AtomicU64::new(0);
//! clock::set(|| Duration::from_secs(SECONDS.fetch_add(3600, Ordering::Relaxed)));
//! let epsilon = Composition::new(["2.5x3".parse()?, "40/3x7".parse()?])?.epsilon("1e-10", 30)?;
//! assert!(clock::has_stopped() && epsilon.status() == "stopped");
//! assert!(epsilon.value.lower() < epsilon.value.upper());
//! # Ok::<(), dp_assay::Error>(())
//! ```

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// What has used this many times its effort is stopped.
pub const TIMES: u32 = 10;

/// The processor time of the whole process.
static CLOCK: OnceLock<fn() -> Duration> = OnceLock::new();
/// The effort of all threads, in billionths of a second; at least: work inside of work is counted for both.
static SPENT_BY_ALL: AtomicU64 = AtomicU64::new(0);
static HAS_STOPPED: AtomicBool = AtomicBool::new(false);

/// Sets the clock of this process: a function that returns its processor time. A process without one stops nothing, such as a server, which answers several
/// requests at a time.
pub fn set(clock: fn() -> Duration) {
    // The first one holds.
    let _ = CLOCK.set(clock);
}

/// Whether the clock has stopped an answer of this process.
pub fn has_stopped() -> bool {
    HAS_STOPPED.load(Ordering::Relaxed)
}

/// Notes what a thread spends.
pub(super) fn spent(billionths: u64) {
    if CLOCK.get().is_some() {
        SPENT_BY_ALL.fetch_add(billionths, Ordering::Relaxed);
    }
}

/// The processor time and the effort of the process when an answer began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    time: Duration,
    effort: Duration,
}

impl Begun {
    /// Now.
    pub fn now() -> Self {
        let effort = Duration::from_nanos(SPENT_BY_ALL.load(Ordering::Relaxed));
        Begun { time: CLOCK.get().map_or(Duration::ZERO, |clock| clock()), effort }
    }

    /// Whether the process has since then used more than [`TIMES`] the effort that an answer may take, and more than [`TIMES`] what all its
    /// answers have spent.
    pub fn is_stopped(self, may_take: Duration) -> bool {
        if CLOCK.get().is_none() {
            return false;
        }
        let is_stopped = Begun::now().is_beyond(self, may_take);
        if is_stopped {
            HAS_STOPPED.store(true, Ordering::Relaxed);
        }
        is_stopped
    }

    fn is_beyond(self, begun: Begun, may_take: Duration) -> bool {
        let effort = self.effort.saturating_sub(begun.effort).max(may_take);
        self.time.saturating_sub(begun.time) > effort.saturating_mul(TIMES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_used_ten_times_its_effort_is_beyond() {
        let at = |time, effort| Begun { time: Duration::from_secs(time), effort: Duration::from_secs(effort) };
        let (begun, may_take) = (at(100, 50), Duration::from_secs(20));
        assert!(!at(300, 50).is_beyond(begun, may_take) && at(301, 50).is_beyond(begun, may_take));
        // Sixty answers beside this one have spent 20 s each.
        assert!(!at(1500, 1250).is_beyond(begun, may_take) && at(12_101, 1250).is_beyond(begun, may_take));
        // A process without a clock stops nothing.
        assert!(!Begun::default().is_stopped(Duration::ZERO) && !has_stopped());
    }
}
