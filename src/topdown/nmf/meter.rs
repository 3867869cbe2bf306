//! The progress of a survey, in bytes of the files that it reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// A progress callback: receives the finished amount and the total.
pub type At<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// The finished part of the whole work.
pub(super) struct Meter<'a> {
    at: &'a At<'a>,
    of: u64,
    done: AtomicU64,
}

impl<'a> Meter<'a> {
    /// Nothing finished of `of` bytes; files that are read twice count twice.
    pub(super) fn new(at: &'a At<'a>, of: u64) -> Meter<'a> {
        Meter { at, of, done: AtomicU64::new(0) }
    }

    /// Work on files with `bytes` bytes, which hold `units` units.
    pub(super) fn phase(&self, bytes: u64, units: usize) -> Phase<'_> {
        Phase { meter: self, per_unit: bytes / (units as u64).max(1) }
    }
}

/// Work on some files, unit by unit.
#[derive(Clone, Copy)]
pub struct Phase<'a> {
    meter: &'a Meter<'a>,
    per_unit: u64,
}

impl Phase<'_> {
    /// Adds finished units.
    pub(super) fn observe(&self, units: usize) {
        let more = units as u64 * self.per_unit;
        let done = self.meter.done.fetch_add(more, Ordering::Relaxed) + more;
        (self.meter.at)(done, self.meter.of);
    }
}
