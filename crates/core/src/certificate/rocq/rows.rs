//! Rows with one more count: the additions of `proofs/rocq/Rows.v`, in units of 2^-30.

/// No entry of a row, and no sum of a table, may be above 2: then no sum of products overflows.
pub(super) const TOP: u64 = 1 << 31;
/// Bits of rows and tables.
pub(super) const BITS: u32 = 30;
/// The fewest bits of all other numbers of a file with infinite losses.
pub(super) const INFINITE_BITS: u32 = 128;

/// A circle with one more count, rounded up. `tail` bounds the tilted mass outside of the table; `from(i)` is the entry that the place `i`
/// of the table brings to entry 0.
pub(super) fn on_circle(row: &[u64], table: &[u64], tail: u64, from: impl Fn(usize) -> usize) -> Vec<u64> {
    let largest = row.iter().copied().max().unwrap_or(0);
    let mut sums = vec![tail * largest; row.len()];
    for (i, &mass) in table.iter().enumerate().filter(|&(_, &mass)| mass > 0) {
        let (head, rest) = row.split_at(from(i));
        for (sum, &entry) in sums.iter_mut().zip(rest.iter().chain(head)) {
            *sum += mass * entry;
        }
    }
    sums.into_iter().map(|sum| (sum >> BITS) + 1).collect()
}

/// A window with one more count, rounded down: what leaves it is left out. `from(i)` as on a circle, nothing if it is far outside.
pub(super) fn in_window(row: &[u64], table: &[u64], from: impl Fn(usize) -> Option<i64>) -> Vec<u64> {
    let mut sums = vec![0; row.len()];
    for (i, &mass) in table.iter().enumerate().filter(|&(_, &mass)| mass > 0) {
        let Some(moved) = from(i).filter(|moved| moved.unsigned_abs() < row.len() as u64) else { continue };
        let (from, to) = (moved.max(0) as usize, moved.min(0).unsigned_abs() as usize);
        for (sum, &entry) in sums[to..].iter_mut().zip(&row[from..]) {
            *sum += mass * entry;
        }
    }
    sums.into_iter().map(|sum| sum >> BITS).collect()
}
