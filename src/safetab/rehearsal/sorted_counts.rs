//! Counts by key, in memory that is bounded.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// The most keys that are counted: with 16 bytes each, and two and a half times that while they are sorted, 2.7 GB.
const MOST: usize = 1 << 26;
/// New keys are sorted into the others when there are so many, or half as many as the others.
const LEAST: usize = 1 << 20;

/// Counts by key while they are added up.
#[derive(Default)]
pub(super) struct SortedCounts {
    /// Ascending, each key once.
    sums: Vec<(u64, u64)>,
    /// In any order.
    new: Vec<(u64, u64)>,
}

impl SortedCounts {
    /// Adds to the count of a key; an error where there are too many keys.
    pub(super) fn add(&mut self, key: u64, count: u64) -> Result<()> {
        self.new.push((key, count));
        match self.new.len() >= LEAST.max(self.sums.len() / 2) {
            true => self.merge(),
            false => Ok(()),
        }
    }

    /// The counts in ascending order of their keys.
    pub(super) fn finish(mut self) -> Result<Vec<(u64, u64)>> {
        self.merge()?;
        self.sums.shrink_to_fit();
        Ok(self.sums)
    }

    fn merge(&mut self) -> Result<()> {
        self.new.par_sort_unstable_by_key(|(key, _)| *key);
        let mut merged = Vec::with_capacity(self.sums.len() + self.new.len());
        let (mut old, mut new) = (self.sums.iter().copied().peekable(), self.new.drain(..).peekable());
        loop {
            let next = match (old.peek(), new.peek()) {
                (Some((a, _)), Some((b, _))) if a <= b => old.next(),
                (_, Some(_)) => new.next(),
                (_, None) => old.next(),
            };
            let Some((key, count)) = next else { break };
            match merged.last_mut() {
                Some((last, sum)) if *last == key => *sum += count,
                _ => merged.push((key, count)),
            }
        }
        if merged.len() > MOST {
            let allowed = format!("at most {MOST} different ones: rehearse with fewer records or a smaller geography");
            return Err(Error::out_of_range("the counts of a rehearsal", merged.len(), &allowed));
        }
        drop(new);
        self.sums = merged;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn sums_are_those_of_a_map() {
        let mut counts = SortedCounts::default();
        let mut expected = BTreeMap::new();
        // More keys than are held unsorted, most of them several times.
        for i in 0..3 * LEAST as u64 + 7 {
            let key = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 43;
            counts.add(key, i % 3).unwrap();
            *expected.entry(key).or_insert(0) += i % 3;
        }
        assert!(counts.finish().unwrap() == expected.into_iter().collect::<Vec<_>>());
        assert!(SortedCounts::default().finish().unwrap().is_empty());
    }
}
