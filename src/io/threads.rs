//! How many threads can work: as many as there are cores, or as RAYON_NUM_THREADS says, and no more than the system gives. Whoever makes
//! a pool asks here first, so that no call that must not fail finds that there is none.

use std::{
    env,
    sync::mpsc::channel,
    thread::{self, Builder},
};

use crate::error::{Error, Result};

/// The variable that asks for a number of threads.
pub const VARIABLE: &str = "RAYON_NUM_THREADS";
/// No more are made than this, or than there are cores.
const MOST: usize = 256;
/// What a thread may take of the space for addresses: its stack, and the 64 MB that the allocator reserves for it.
const EACH: u64 = 72 << 20;

/// How many threads are asked for; none where the variable is not there, empty or 0, which is as many as there are cores.
pub fn asked() -> Result<Option<usize>> {
    env::var_os(VARIABLE).map_or(Ok(None), |text| number(&text.to_string_lossy()))
}

/// How many are made of those that are asked for.
pub fn wanted(asked: Option<usize>) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or(cores).min(MOST.max(cores))
}

fn number(text: &str) -> Result<Option<usize>> {
    let digits = text.trim();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let shown: String = text.chars().take(40).collect();
        let expected = "a number of threads: 1, 2, 3, ...; 0 or nothing for as many as there are cores";
        return Err(Error::malformed(VARIABLE, shown, expected));
    }
    // A number too long to hold is too many.
    let number = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(usize::MAX) };
    Ok((number > 0).then_some(number))
}

/// How many threads of those that are wanted can be had: tried, all at a time, and ended again.
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
        // A thread that could not run is none.
        made -= usize::from(handle.join().is_err());
    }
    made
}

/// How much of the space for addresses is left, where the system limits it and says so.
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
    fn threads_that_are_tried_are_there() {
        assert_eq!((available(2), available(0)), (2, 0));
    }
}
