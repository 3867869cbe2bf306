//! The limit of an answer's effort.
//!
//! Some requests are out of reach of every engine, and no plan predicts all of them. So no new step is begun for an answer whose effort has reached
//! its limit: the best enclosure so far is returned, valid but below the requested precision. The effort is counted ([`effort`](crate::numeric)), so an answer is the
//! same on every machine. A clock stops only what has used ten times that ([`clock`](crate::numeric::clock)).

use std::time::Duration;

use crate::{
    error::{Error, Result},
    numeric::{
        clock,
        effort::{self, Effort},
    },
};

/// No new step of an answer begins after an effort of this number of seconds, up to a certain number of digits; for more digits the limit grows as the
/// price of a multiplication.
const SECONDS: f64 = 20.0;
const DIGITS: f64 = 40.0;

/// The limit of one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(Option<End>);

/// The count of this thread from which on no step begins, what the answer may take, and when it began.
#[derive(Clone, Copy, Debug)]
struct End {
    end: Effort,
    may_take: Effort,
    begun: clock::Begun,
}

impl Limit {
    /// No limit.
    pub(crate) const NONE: Limit = Limit(None);

    /// The limit of an answer to this number of digits that is begun now.
    pub(crate) fn of_digits(digits: u32) -> Limit {
        let may_take = Effort::of_seconds(Self::seconds(digits));
        Limit(Some(End { end: effort::spent().and(may_take), may_take, begun: clock::Begun::now() }))
    }

    fn seconds(digits: u32) -> f64 {
        SECONDS * (f64::from(digits) / DIGITS).max(1.0).powi(2)
    }

    /// Whether it is reached.
    pub(crate) fn is_over(self) -> bool {
        #[cfg(test)]
        if let Some(is_over) = tests::counted() {
            return is_over;
        }
        self.0.is_some_and(|limit| {
            effort::spent() >= limit.end
                || limit.begun.is_stopped(Duration::from_secs_f64(limit.may_take.seconds_approx()))
        })
    }

    /// An error if it is reached.
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

    /// Computes an answer for which every limit of this thread is over after `looks` checks, independently of its effort; also returns the number of
    /// checks left.
    pub(crate) fn after<T>(looks: u32, answer: impl FnOnce() -> T) -> (T, u32) {
        LEFT.set(Some(looks));
        let answer = answer();
        (answer, LEFT.take().unwrap())
    }

    /// The limit is reached by what is spent, and higher for more digits.
    #[test]
    fn limits_are_reached_by_what_is_spent() {
        let (few, many) = (Limit::of_digits(40), Limit::of_digits(400));
        assert!(!Limit::NONE.is_over() && !few.is_over());
        effort::spend(Effort::of_steps(19.0, 1.0));
        assert!(!few.is_over());
        effort::spend(Effort::of_steps(1.0, 1.0));
        assert!(few.is_over() && !many.is_over() && !Limit::of_digits(12).is_over());
        effort::spend(Effort::of_steps(1980.0, 1.0));
        assert!(many.is_over() && !Limit::NONE.is_over());
        assert!(Limit::of_digits(u32::MAX).check().is_ok());
        assert!(matches!(after(0, || Limit::NONE.check()), (Err(Error::OutOfTime), 0)));
    }
}
