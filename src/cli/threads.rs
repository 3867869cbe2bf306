//! The threads that share all work, made before any work begins.

use anyhow::{Result, bail};
use dp_assay::threads::{VARIABLE, asked, available, wanted};

/// Makes them: fewer if the system allows no more, at least the calling thread.
pub fn start() -> Result<()> {
    let requested = asked()?;
    let wanted = wanted(requested);
    let there = available(wanted);
    match requested {
        Some(requested) if wanted < requested => {
            eprintln!("assay: {VARIABLE}: {wanted} threads in place of {requested}: no more are made")
        }
        Some(requested) if there < requested => {
            eprintln!("assay: {VARIABLE}: {} of {requested} threads: the system gives no more", there.max(1));
        }
        _ => {}
    }
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads);
    // If there are fewer than were wanted, one is not made: the calling thread does its work.
    let made = match there {
        0 => pool(1).use_current_thread().build_global(),
        1 if wanted > 1 => pool(1).use_current_thread().build_global(),
        there => pool(there).build_global(),
    };
    made.or_else(|why| bail!("no threads to work with: {why}; a limit of processes or of memory is too low"))
}

/// Refuses work that needs more threads than the system allows.
pub fn check(needed: usize) -> Result<()> {
    let there = available(needed);
    if there < needed {
        bail!(
            "{needed} threads are needed, and the system gives {there}: a limit of processes or of memory is too low"
        );
    }
    Ok(())
}
