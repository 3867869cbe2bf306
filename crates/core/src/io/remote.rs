//! Work of other processes for this one, which must be stopped when this process ends.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

type Interrupt = Box<dyn Fn() + Send>;

/// How to interrupt the present work of other processes. A signal reaches the process and no value in it, so a handler can
/// find it only here; no answer depends on it.
static REMOTE: Mutex<BTreeMap<u64, Interrupt>> = Mutex::new(BTreeMap::new());

fn remote() -> MutexGuard<'static, BTreeMap<u64, Interrupt>> {
    REMOTE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Interrupts the work of other processes for this one, such as a count on a cluster, for a program that has to terminate. While the
/// returned value is held, threads that wait for that work continue to wait: end the program before dropping it.
pub fn interrupt_remote() -> impl Sized {
    let held = remote();
    held.values().for_each(|interrupt| interrupt());
    held
}

/// Work of other processes while this value lives.
#[cfg(feature = "cluster")]
#[doc(hidden)]
pub struct Remote(u64);

#[cfg(feature = "cluster")]
impl Remote {
    /// Registers how it is interrupted.
    #[doc(hidden)]
    pub fn new(interrupt: impl Fn() + Send + 'static) -> Self {
        let mut all = remote();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, Box::new(interrupt));
        Remote(number)
    }
}

#[cfg(feature = "cluster")]
impl Drop for Remote {
    fn drop(&mut self) {
        remote().remove(&self.0);
    }
}
