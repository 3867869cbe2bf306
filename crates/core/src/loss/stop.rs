//! Stopping: a request whose answer is no longer wanted ends at the next point that it would evaluate.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::error::{Error, Result};

/// A request to stop a computation. The caller keeps a clone and sets it; the evaluators of an account that was given one
/// ([`Composition::until`](crate::account::Composition::until)) check it before every point that they evaluate, and return [`Error::Stopped`] from
/// then on.
///
/// It changes no answer, and so is no part of a value: any two of them are equal. The default is never set.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{Error, account::{Account, Composition, Stop}};
/// let stop = Stop::new();
/// let level = Composition::new(["5x10".parse()?])?.until(&stop);
/// assert!(level.epsilon("1e-11", 6).is_ok());
/// stop.set();
/// assert!(matches!(level.epsilon("1e-11", 6), Err(Error::Stopped)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    /// A stop that can be set, and is not set yet.
    pub fn new() -> Stop {
        Stop(Some(Arc::default()))
    }

    /// Whether it can be set.
    pub(crate) fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// Stops every computation that checks this one or a clone of it. No effect on the default.
    pub fn set(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was set.
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// An error if it was set.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::Stopped) } else { Ok(()) }
    }
}

impl PartialEq for Stop {
    fn eq(&self, _: &Stop) -> bool {
        true
    }
}

impl Eq for Stop {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_never_set_and_clones_are_set_together() {
        let (never, stop) = (Stop::default(), Stop::new());
        never.set();
        let other = stop.clone();
        assert!(!never.is_set() && !other.is_set() && other.check().is_ok());
        stop.set();
        assert!(other.is_set() && matches!(other.check(), Err(Error::Stopped)));
    }
}
