//! How long an answer may take.
//!
//! Some questions are beyond reach of every engine, and no plan foretells all of them. So nothing more is begun for an answer once its time is
//! over: what was proven by then is returned, a valid enclosure that is wider than asked. How wide is the one thing about an answer that depends on the
//! machine; what ends in time does not.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Seconds after which an answer is the best interval proven so far, for up to so many digits; for more, as numbers of as many digits take to
/// multiply.
const SECONDS: f64 = 20.0;
const DIGITS: f64 = 40.0;

/// The time of one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(Option<Instant>);

impl Limit {
    /// None at all.
    pub(crate) const NONE: Limit = Limit(None);

    /// Of an answer to so many digits that is begun now.
    pub(crate) fn of(digits: u32) -> Limit {
        Limit(Instant::now().checked_add(Duration::from_secs_f64(Self::seconds(digits))))
    }

    fn seconds(digits: u32) -> f64 {
        SECONDS * (f64::from(digits) / DIGITS).max(1.0).powi(2)
    }

    /// Whether it is over.
    pub(crate) fn is_over(self) -> bool {
        #[cfg(test)]
        if let Some(is_over) = tests::counted() {
            return is_over;
        }
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// Refused where it is over.
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

    /// Whether all looks at a limit are used up, where they are counted; one less is left.
    pub(super) fn counted() -> Option<bool> {
        LEFT.get().map(|left| {
            LEFT.set(Some(left.saturating_sub(1)));
            left == 0
        })
    }

    /// What is answered where every limit of this thread is over after so many looks at one, whatever the time; and how many are left.
    pub(crate) fn after<T>(looks: u32, answer: impl FnOnce() -> T) -> (T, u32) {
        LEFT.set(Some(looks));
        let answer = answer();
        (answer, LEFT.take().unwrap())
    }

    /// Time passes, and is longer for more digits.
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
