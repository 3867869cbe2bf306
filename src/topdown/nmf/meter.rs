//! How far a survey is, in bytes of the files that it reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Who is told how far the work is: how much is done, of how much.
pub type At<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// What is done of the whole work.
pub(super) struct Meter<'a> {
    at: &'a At<'a>,
    of: u64,
    done: AtomicU64,
}

impl<'a> Meter<'a> {
    /// Nothing done of so many bytes; files that are read twice count twice.
    pub(super) fn new(at: &'a At<'a>, of: u64) -> Meter<'a> {
        Meter { at, of, done: AtomicU64::new(0) }
    }

    /// Work on files of so many bytes, which hold so many units.
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
    /// So many more units are done.
    pub(super) fn see(&self, units: usize) {
        let more = units as u64 * self.per_unit;
        let done = self.meter.done.fetch_add(more, Ordering::Relaxed) + more;
        (self.meter.at)(done, self.meter.of);
    }
}
