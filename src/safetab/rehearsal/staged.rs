//! Trials of a level in one or two stages, against the truth: what is common to SafeTab-P and to a country's own specification.

use super::{
    errors::{Errors, StatedMargin, SuppressedSize},
    results::{RehearsedLevel, SIZES, Strata},
    truth::LevelCounts,
};
use crate::{
    error::Result,
    noise::Streams,
    safetab::tabulate::{
        certified_level::CertifiedLevel,
        two_stage::{GroupBatch, StagedLevel, Tabulation},
    },
};

/// A kind of counts with a stated margin: sums of a number of measured cells.
pub(super) struct CountKind {
    pub(super) name: String,
    pub(super) cells: u32,
    /// Whether it is of groups with a sole table.
    pub(super) of_sole: bool,
}

/// A level in one or two stages that is rehearsed.
pub(super) trait RehearsedStages: StagedLevel + CertifiedLevel {
    /// The kinds of its counts: the first of groups with a sole table and the first of other groups are single cells.
    fn count_kinds(&self) -> Vec<CountKind>;

    /// The sums of a table that have a stated margin: each kind, by its number, is of all runs of this many cells.
    fn sums_of(&self, table: Self::Table) -> Vec<(usize, usize)>;

    /// The number of a table among all of the run, coarsest first.
    fn number_of(&self, table: Self::Table) -> usize;

    /// The noisy total from which a group gets its second table, if it has two stages.
    fn first_threshold(&self) -> Option<i64>;
}

/// A group with its noisy counts in one trial.
pub(super) struct Drawn<'d, T> {
    pub(super) group: u64,
    /// Whether it has a sole table.
    pub(super) sole: bool,
    /// The exact counts of its finest cells.
    pub(super) cells: &'d [i64],
    /// Its table; `None` if it is suppressed.
    pub(super) table: Option<T>,
    /// Its noisy counts before suppression.
    pub(super) measured: &'d [i64],
}

/// The statistics of a level.
pub(super) struct StagedErrors<'a, L> {
    plan: &'a L,
    truth: &'a LevelCounts,
    /// The errors of each kind of counts.
    errors: Vec<(CountKind, Errors)>,
    /// The kind of a cell: of a group that has no sole table, and of one that has.
    of_cell: [usize; 2],
    strata: Strata,
    /// By size, the number of groups and of suppressed groups; groups with a sole table are last.
    sizes: [[(u64, u64); SIZES + 1]; 2],
}

/// Draws noise for all groups of a level once, and passes them to `see`. Calls `progress` with the number of groups.
pub(super) fn draw<L: StagedLevel>(
    (plan, truth): (&L, &LevelCounts),
    allow_negative_counts: bool,
    streams: &mut Streams,
    progress: &mut dyn FnMut(u64),
    see: &mut dyn FnMut(Drawn<L::Table>) -> Result<()>,
) -> Result<()> {
    let width = plan.width() as u64;
    let mut exact = truth.in_order();
    let mut cells = vec![0; plan.cells()];
    let mut tabulation = Tabulation::new(plan, allow_negative_counts)?;
    let mut publish = |batch: GroupBatch<L::Table>| {
        progress(batch.tables.len() as u64);
        for (number, table) in batch.tables.iter().enumerate() {
            let group = batch.first + number as u64;
            cells.fill(0);
            exact.cells(group, &mut cells);
            let sole = plan.sole_table((group % width) as usize).is_some();
            see(Drawn { group, sole, cells: &cells, table: *table, measured: batch.measured(number) })?;
        }
        Ok(())
    };
    for (group, cell, count) in truth.iter() {
        let key = ((group / width) as u32, (group % width) as u32);
        tabulation.count(key, cell, count, streams, &mut publish)?;
    }
    tabulation.finish(streams, &mut publish)
}

impl<T> Drawn<'_, T> {
    /// The true total.
    pub(super) fn size(&self) -> i64 {
        self.cells.iter().sum()
    }
}

impl<'a, L: RehearsedStages> StagedErrors<'a, L> {
    /// No errors yet, of a run with this number of tables.
    pub(super) fn new(plan: &'a L, truth: &'a LevelCounts, tables: usize) -> Self {
        let kinds = plan.count_kinds();
        let of_cell = |sole: bool| kinds.iter().position(|kind| kind.of_sole == sole).unwrap_or_default();
        StagedErrors {
            plan,
            truth,
            of_cell: [false, true].map(of_cell),
            errors: kinds.into_iter().map(|kind| (kind, Errors::default())).collect(),
            strata: Strata::new(tables),
            sizes: [[(0, 0); SIZES + 1]; 2],
        }
    }

    /// Adds the measured counts of a group, before suppression and replacement. Sums of cells are added only if they have the stated noise,
    /// that is, if negative counts are allowed.
    pub(super) fn measure(&mut self, drawn: &Drawn<L::Table>, with_sums: bool) {
        let size = drawn.size().unsigned_abs();
        let is_suppressed = u64::from(drawn.table.is_none());
        let stratum = self.strata.stratum(drawn.sole, size);
        stratum.groups += 1;
        stratum.suppressed += is_suppressed;
        if let Some((groups, suppressed)) = self.sizes[usize::from(drawn.sole)].get_mut(size as usize) {
            *groups += 1;
            *suppressed += is_suppressed;
        }
        // What is suppressed has the first table, a total.
        let table = drawn.table.unwrap_or_else(|| self.plan.called_for(i64::MIN));
        let mut exact = Vec::with_capacity(drawn.measured.len());
        self.plan.sums(table, drawn.cells, &mut exact);
        let error = |(noisy, exact): (&i64, &i64)| i128::from(*noisy) - i128::from(*exact);
        let errors: Vec<i128> = drawn.measured.iter().zip(&exact).map(error).collect();
        let of_cell = &mut self.errors[self.of_cell[usize::from(drawn.sole)]].1;
        errors.iter().for_each(|error| of_cell.add(*error));
        if with_sums && !drawn.sole {
            for (kind, cells) in self.plan.sums_of(table) {
                errors.chunks_exact(cells).for_each(|cells| self.errors[kind].1.add(cells.iter().sum()));
            }
        }
    }

    /// Adds the published counts of a group, and returns the exact ones.
    pub(super) fn publish(
        &mut self,
        (sole, cells): (bool, &[i64]),
        (table, counts, margin): (L::Table, &[i64], i64),
    ) -> Vec<i64> {
        let mut exact = Vec::with_capacity(counts.len());
        self.plan.sums(table, cells, &mut exact);
        let stratum = self.strata.stratum(sole, cells.iter().sum::<i64>().unsigned_abs());
        stratum.tables[self.plan.number_of(table)].add(counts, &exact, margin);
        exact
    }

    /// The results after all trials, of a pass with this name and of groups of this kind.
    pub(super) fn finish(self, pass: String, kind: usize) -> Result<RehearsedLevel> {
        let [whole, stage_1, stage_2] = self.plan.noise();
        let noise = |sole: bool| if sole { whole } else { stage_2 };
        let mut level = RehearsedLevel::of(self.plan, pass, kind);
        level.empty = level.groups - self.truth.inhabited();
        level.strata = self.strata.finish();
        for (kind, errors) in self.errors.into_iter().filter(|(_, errors)| errors.count() > 0) {
            level.margins.push(StatedMargin::new(kind.name, noise(kind.of_sole), kind.cells, errors)?);
        }
        for sole in [false, true] {
            let Some(threshold) = self.plan.suppressed_to(sole) else { continue };
            let first = self.plan.first_threshold().filter(|_| !sole).map(|first| (stage_1, first));
            let sizes = (0..).zip(self.sizes[usize::from(sole)]).filter(|(_, (groups, _))| *groups > 0);
            for (size, (groups, suppressed)) in sizes {
                let size = SuppressedSize::new((size, groups, suppressed), noise(sole), threshold, first)?;
                level.suppression.push((sole, size));
            }
        }
        Ok(level)
    }
}
