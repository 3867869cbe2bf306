//! Ctrl-C: what is unfinished is removed, and the program ends with status 130 (143 where it is told to terminate).

/// Waits for signals beside the work.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        iterator::Signals,
    };

    // A program in the background of a script is often told to ignore Ctrl-C, which is meant for the script.
    let wanted: Vec<i32> = [SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // Without the watch the system ends the program at once: what is unfinished stays, under names that say so.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    // Nor without a thread to watch on.
    let _ = std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            super::progress::end();
            // Whoever waits for others waits until the program has ended.
            let _waits = dp_assay::interrupt_remote();
            // Nothing unfinished can begin or be finished while this is held.
            let _held = dp_assay::remove_unfinished();
            std::process::exit(128 + signal);
        }
    });
}

/// There is no such signal here; the system ends the program.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether whoever started the program asked that a signal be ignored, where the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
