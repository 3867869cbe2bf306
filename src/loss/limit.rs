//! The time limit of an answer.
//!
//! Some requests are out of reach of every engine, and no plan predicts all of them. So no new step is begun for an answer after its time limit: the
//! best enclosure so far is returned, valid but below the requested precision. Its width is the one property of an answer that depends on the
//! machine; an answer within the limit does not.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// No new step of an answer begins after this number of seconds, up to a certain number of digits; for more digits the limit grows as the time of a
/// multiplication.
const SECONDS: f64 = 20.0;
const DIGITS: f64 = 40.0;

/// The time limit of one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(Option<Instant>);

impl Limit {
    /// No limit.
    pub(crate) const NONE: Limit = Limit(None);

    /// The limit of an answer to this number of digits that is begun now.
    pub(crate) fn of(digits: u32) -> Limit {
        Limit(Instant::now().checked_add(Duration::from_secs_f64(Self::seconds(digits))))
    }

    fn seconds(digits: u32) -> f64 {
        SECONDS * (f64::from(digits) / DIGITS).max(1.0).powi(2)
    }

    /// Whether the time is over.
    pub(crate) fn is_over(self) -> bool {
        #[cfg(test)]
        if let Some(is_over) = tests::counted() {
            return is_over;
        }
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// An error if the time is over.
    pub(crate) fn check(self) -> Result<()> {
        if self.is_over() { Err(Error::OutOfTime) } else { Ok(()) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// Whether all checks of a limit are used up, where they are counted; reduces the count by one.
    pub(super) fn counted() -> Option<bool> {
        LEFT.get().map(|left| {
            LEFT.set(Some(left.saturating_sub(1)));
            left == 0
        })
    }

    /// Computes an answer for which every limit of this thread is over after `looks` checks, independently of time; also returns the number of
    /// checks left.
    pub(crate) fn after<T>(looks: u32, answer: impl FnOnce() -> T) -> (T, u32) {
        LEFT.set(Some(looks));
        let answer = answer();
        (answer, LEFT.take().unwrap())
    }

    /// The limit is over in time, and longer for more digits.
    #[test]
    fn limits_are_over_in_time() {
        let now = |limit: Limit| limit.0.unwrap().saturating_duration_since(Instant::now());
        assert!(!Limit::NONE.is_over() && !Limit::of(12).is_over() && now(Limit::of(40)) <= Duration::from_secs(20));
        assert!(now(Limit::of(400)) > Duration::from_secs(1000));
        assert!(Limit(Some(Instant::now())).is_over());
        assert!(Limit::of(u32::MAX).check().is_ok());
        assert!(matches!(after(0, || Limit::NONE.check()), (Err(Error::OutOfTime), 0)));
    }
}
