//! Ctrl-C: unfinished files are removed, and the program ends with status 130 (143 for a request to terminate).

/// Waits for signals while the work runs.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        iterator::Signals,
    };

    // A program in the background of a script often has to ignore Ctrl-C, which is meant for the script.
    let wanted: Vec<i32> = [SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // Without this handler the system ends the program at once: unfinished files stay, under names that mark them.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    // The same if no thread can be started for it.
    let _ = std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            super::progress::end();
            // A thread that waits for others waits until the program has ended.
            let _waits = dp_assay::interrupt_remote();
            // No unfinished file can be created or finished while this is held.
            let _held = dp_assay::remove_unfinished();
            std::process::exit(128 + signal);
        }
    });
}

/// This system has no such signal; it ends the program.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether the parent process requested that a signal be ignored, if the system reports it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
