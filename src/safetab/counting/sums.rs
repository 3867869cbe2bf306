//! The sums of tallies over the atoms of each region, by group and cell, on another thread.

use std::{sync::mpsc::sync_channel, thread};

use super::tallies::{Tallies, Tally};
use crate::error::{Error, Result};

/// The number of counts that one thread passes to another at a time, and the number of such batches that may wait: three megabytes.
const HANDED: usize = 1 << 15;
const WAITING: usize = 4;

/// A callback for a count: region and iteration (by their indices), cell and count.
pub(in crate::safetab) type SeeCount<'a> = dyn FnMut(u32, u32, usize, i64) -> Result<()> + 'a;

/// Such a count between threads.
type Handed = (u32, u32, usize, i64);

/// The counts of one population group level.
pub(in crate::safetab) struct LevelSums<'a, G> {
    /// The tallies of all atoms.
    pub tallies: &'a Tallies,
    /// The regions with the atoms inside, sorted.
    pub inside: Vec<(u32, u32)>,
    /// The number of groups of a region.
    pub groups: usize,
    /// The number of cells of a group.
    pub cells: usize,
    /// The groups of the records of a tally, each once, and their cell.
    pub groups_of: G,
}

impl<'g, G: Fn(&Tally) -> (&'g [u32], usize) + Sync + Send> LevelSums<'_, G> {
    /// Calls `see` with the nonzero counts in ascending order of region, group and cell. They are summed on another thread.
    pub fn each_count(&self, see: &mut SeeCount) -> Result<()> {
        let (hand, handed) = sync_channel::<Vec<Handed>>(WAITING);
        thread::scope(|scope| {
            let adding = thread::Builder::new().spawn_scoped(scope, move || {
                // If the receiver is gone, the other thread has an error of its own.
                self.add_up(&mut |counts| hand.send(counts).is_ok())
            });
            let adding = adding.map_err(|why| Error::Engine { why: format!("no thread to add up on: {why}") })?;
            // Moved, so that after an error nobody waits.
            let seen = handed
                .into_iter()
                .flatten()
                .try_for_each(|(region, group, cell, count)| see(region, group, cell, count));
            let added = adding.join().unwrap_or_else(|fault| std::panic::resume_unwind(fault));
            seen.and(added)
        })
    }

    /// Sends the counts, several regions at a time, until the receiver is gone.
    fn add_up(&self, hand: &mut dyn FnMut(Vec<Handed>) -> bool) -> Result<()> {
        let cells = self.cells;
        let mut sums = vec![0_i64; self.groups * cells];
        let mut touched: Vec<usize> = Vec::new();
        let mut bytes = Vec::new();
        let mut counts: Vec<Handed> = Vec::with_capacity(HANDED);
        for atoms in self.inside.chunk_by(|(a, _), (b, _)| a == b) {
            for (_, atom) in atoms {
                for tally in self.tallies.of_atom(*atom, &mut bytes)? {
                    let tally = tally?;
                    let (groups, cell) = (self.groups_of)(&tally);
                    for &group in groups {
                        let place = group as usize * cells + cell;
                        if sums[place] == 0 {
                            touched.push(place);
                        }
                        sums[place] += tally.n as i64;
                    }
                }
            }
            touched.sort_unstable();
            for place in touched.drain(..) {
                let count = std::mem::take(&mut sums[place]);
                counts.push((atoms[0].0, (place / cells) as u32, place % cells, count));
                if counts.len() == HANDED && !hand(std::mem::replace(&mut counts, Vec::with_capacity(HANDED))) {
                    return Ok(());
                }
            }
        }
        hand(counts);
        Ok(())
    }
}
