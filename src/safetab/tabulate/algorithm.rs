//! Algorithms 1 and 2 of SafeTab-P (2024 paper) over the groups of one level, in pieces of bounded size.
//!
//! The groups are those of the specification and the geography: every entity with every iteration. A group without
//! records has zeros like any other count and gets the same noise, or its absence would tell that it is empty.

use super::{
    plan::LevelPlan,
    statistics::{CELLS, Cells, Statistics},
};
use crate::{
    error::{Error, Result},
    noise::{Sampler, Streams},
};

/// Groups that are tabulated together.
const PIECE: usize = 1 << 15;

/// The noisy counts of consecutive groups.
#[derive(Debug, Default)]
pub struct Piece {
    /// The number of the first group: entity times the number of iterations, plus iteration.
    pub first: u64,
    /// What each group gets; nothing where it is suppressed.
    pub statistics: Vec<Option<Statistics>>,
    /// Where the counts of each group begin.
    starts: Vec<usize>,
    counts: Vec<i64>,
}

impl Piece {
    /// The noisy counts of a group of the piece: its total, or its cells, males first.
    pub fn counts(&self, group: usize) -> &[i64] {
        let width = self.statistics[group].map_or(0, Statistics::width);
        &self.counts[self.starts[group]..][..width]
    }
}

/// One level on its way from counts to noisy counts.
pub struct Tabulation<'a> {
    plan: &'a LevelPlan,
    allow_negative_counts: bool,
    total_only: Sampler,
    stage_1: Sampler,
    stage_2: Sampler,
    /// The finest cells of the groups of the present piece.
    cells: Vec<Cells>,
    first: u64,
}

impl<'a> Tabulation<'a> {
    /// Nothing counted yet.
    pub fn new(plan: &'a LevelPlan, allow_negative_counts: bool) -> Result<Self> {
        let mut tabulation = Tabulation {
            plan,
            allow_negative_counts,
            total_only: plan.total_only.sampler()?,
            stage_1: plan.stage_1.sampler()?,
            stage_2: plan.stage_2.sampler()?,
            cells: Vec::new(),
            first: 0,
        };
        tabulation.begin(0);
        Ok(tabulation)
    }

    fn begin(&mut self, first: u64) {
        let length = (self.plan.groups() - first).min(PIECE as u64) as usize;
        self.first = first;
        self.cells.clear();
        self.cells.resize(length, [0; CELLS]);
    }

    /// Counts `count` persons in a cell of a group. Groups come in ascending order; those that are passed over are empty.
    pub fn count(
        &mut self,
        (region, iteration): (u32, u32),
        cell: usize,
        count: i64,
        streams: &mut Streams,
        publish: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        let group = u64::from(region) * self.plan.iterations.len() as u64 + u64::from(iteration);
        while group >= self.first + self.cells.len() as u64 {
            self.publish(streams, publish)?;
        }
        self.cells[(group - self.first) as usize][cell] += count;
        Ok(())
    }

    /// Tabulates all groups that are left.
    pub fn finish(mut self, streams: &mut Streams, publish: &mut dyn FnMut(Piece) -> Result<()>) -> Result<()> {
        while !self.cells.is_empty() {
            self.publish(streams, publish)?;
        }
        Ok(())
    }

    fn publish(&mut self, streams: &mut Streams, publish: &mut dyn FnMut(Piece) -> Result<()>) -> Result<()> {
        let piece = self.piece(streams)?;
        publish(piece)?;
        self.begin(self.first + self.cells.len() as u64);
        Ok(())
    }

    fn piece(&self, streams: &mut Streams) -> Result<Piece> {
        let plan = self.plan;
        let width = plan.iterations.len() as u64;
        let detailed_only: Vec<bool> =
            (self.first..).take(self.cells.len()).map(|group| plan.iterations[(group % width) as usize].detailed_only).collect();
        let totals_only = detailed_only.iter().filter(|only| **only).count();
        let mut piece = Piece { first: self.first, ..Piece::default() };

        // Stage 1, for the groups that have two. Its noisy totals choose and are forgotten.
        let mut stage_1 = drawn(&self.stage_1, self.cells.len() - totals_only, streams).into_iter();
        for (cells, &only) in self.cells.iter().zip(&detailed_only) {
            let statistics = match only {
                true => Statistics::Total,
                false => {
                    let noisy = add(cells.iter().sum(), stage_1.next().unwrap_or_default())?;
                    Statistics::of(noisy, &plan.thresholds)
                }
            };
            piece.starts.push(piece.counts.len());
            statistics.sums(cells, &mut piece.counts);
            piece.statistics.push(Some(statistics));
        }

        // Stage 2, and the whole budget for the detailed-only groups, which have one count each.
        let mut stage_2 = drawn(&self.stage_2, piece.counts.len() - totals_only, streams).into_iter();
        let mut total_only = drawn(&self.total_only, totals_only, streams).into_iter();
        for (group, &only) in detailed_only.iter().enumerate() {
            let end = piece.starts.get(group + 1).copied().unwrap_or(piece.counts.len());
            let counts = &mut piece.counts[piece.starts[group]..end];
            let noise = if only { &mut total_only } else { &mut stage_2 };
            for (count, noise) in counts.iter_mut().zip(noise) {
                *count = add(*count, noise)?;
            }
            if let (Some(thresholds), [total]) = (plan.suppression, &*counts)
                && *total <= thresholds[usize::from(!only)]
            {
                piece.statistics[group] = None;
            }
            if !self.allow_negative_counts {
                counts.iter_mut().for_each(|count| *count = (*count).max(0));
            }
        }
        Ok(piece)
    }
}

/// Fresh noise.
fn drawn(sampler: &Sampler, length: usize, streams: &mut Streams) -> Vec<i64> {
    let mut noise = vec![0; length];
    streams.fill(sampler, &mut noise);
    noise
}

/// A count with its noise.
fn add(count: i64, noise: i64) -> Result<i64> {
    count.checked_add(noise).ok_or(Error::Overflow { position: 0, count })
}
