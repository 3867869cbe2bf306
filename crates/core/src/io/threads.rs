//! The number of threads: one for each core, or as many as RAYON_NUM_THREADS sets, and no more than the system allows. Code that makes
//! a pool checks here first, so that calls that must not fail do not find it missing.

use std::{
    env,
    sync::mpsc::channel,
    thread::{self, Builder},
};

use crate::error::{Error, Result};

/// The variable that sets the number of threads.
pub const VARIABLE: &str = "RAYON_NUM_THREADS";
/// The largest number of threads, unless there are more cores.
const MOST: usize = 256;
/// The address space of a thread: its stack, and the 64 MB that the allocator reserves for it.
const EACH: u64 = 72 << 20;

/// The requested number of threads; `None` if the variable is missing, empty or 0, which means one for each core.
pub fn asked() -> Result<Option<usize>> {
    env::var_os(VARIABLE).map_or(Ok(None), |text| number(&text.to_string_lossy()))
}

/// The number of threads to make for this request.
pub fn wanted(requested: Option<usize>) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    requested.unwrap_or(cores).min(MOST.max(cores))
}

fn number(text: &str) -> Result<Option<usize>> {
    let digits = text.trim();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let shown: String = text.chars().take(40).collect();
        let expected = "a number of threads: 1, 2, 3, ...; 0 or nothing for as many as there are cores";
        return Err(Error::malformed(VARIABLE, shown, expected));
    }
    // A number that is too long to hold is too large.
    let number = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(usize::MAX) };
    Ok((number > 0).then_some(number))
}

/// How many of the wanted threads are available: all are started at a time, and ended again.
pub fn available(wanted: usize) -> usize {
    let room = room().map_or(wanted, |bytes| usize::try_from(bytes / EACH).unwrap_or(wanted));
    let (mut made, mut handles) = (0, Vec::new());
    for _ in 0..wanted.min(room) {
        let (end, ended) = channel::<()>();
        // Each waits until its sender is gone.
        let wait = move || {
            let _ = ended.recv();
        };
        match Builder::new().spawn(wait) {
            Ok(handle) => handles.push((end, handle)),
            Err(_) => break,
        }
        made += 1;
    }
    for (end, handle) in handles {
        drop(end);
        // A thread that could not run does not count.
        made -= usize::from(handle.join().is_err());
    }
    made
}

/// The remaining address space, if the system limits it and reports the limit.
fn room() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let used = std::fs::read_to_string("/proc/self/status").ok()?;
    let used = used.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used: u64 = used.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(used << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads_are_read_whole_or_refused() {
        assert_eq!(number("3").unwrap(), Some(3));
        assert_eq!((number("0").unwrap(), number("").unwrap(), number(" ").unwrap()), (None, None, None));
        let many = number("99999999999999999999999").unwrap();
        assert!(many == Some(usize::MAX) && wanted(many) < 100_000);
        for wrong in ["abc", "-1", "1.5", "2 3", "0x4"] {
            assert!(number(wrong).unwrap_err().to_string().contains("1, 2, 3"), "{wrong}");
        }
    }

    #[test]
    fn threads_that_are_started_are_available() {
        assert_eq!((available(2), available(0)), (2, 0));
    }
}
