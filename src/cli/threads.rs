//! The threads that all work is shared out to, made before any work is begun.

use anyhow::{Result, bail};
use dp_assay::threads::{VARIABLE, asked, available, wanted};

/// Makes them: fewer where the system gives no more, down to the one that asks.
pub fn start() -> Result<()> {
    let asked = asked()?;
    let wanted = wanted(asked);
    let there = available(wanted);
    match asked {
        Some(asked) if wanted < asked => {
            eprintln!("assay: {VARIABLE}: {wanted} threads in place of {asked}: no more are made")
        }
        Some(asked) if there < asked => {
            eprintln!("assay: {VARIABLE}: {} of {asked} threads: the system gives no more", there.max(1));
        }
        _ => {}
    }
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads);
    // Where there are fewer than were wanted, one is not made: the work is done by the thread that asks for it.
    let made = match there {
        0 => pool(1).use_current_thread().build_global(),
        1 if wanted > 1 => pool(1).use_current_thread().build_global(),
        there => pool(there).build_global(),
    };
    made.or_else(|why| bail!("no threads to work with: {why}; a limit of processes or of memory is too low"))
}

/// Refuses work that needs so many threads beside this one where the system does not give them.
pub fn check(needed: usize) -> Result<()> {
    let there = available(needed);
    if there < needed {
        bail!(
            "{needed} threads are needed, and the system gives {there}: a limit of processes or of memory is too low"
        );
    }
    Ok(())
}
