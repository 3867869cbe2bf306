//! Algorithms 1 and 2 of SafeTab-P (2024 paper) over the groups of one level, in batches of bounded size.
//!
//! The groups are those of the specification and the geography: every entity with every iteration. A group without records has zero counts
//! with the same noise; otherwise its absence would reveal that it is empty.
//!
//! A level is anything that is a [`StagedLevel`]: of the bureau's files ([`TabulatedLevel`]), or of a country's own specification.

use super::{
    levels::{CountNoise, TabulatedLevel},
    workload::{CELLS, called_for, sums},
};
use crate::{
    error::{Error, Result},
    noise::{Sampler, Streams},
    safetab::tables::PublishedTable,
};

/// The number of groups that are tabulated together.
const BATCH: usize = 1 << 15;

/// A level whose groups are tabulated in one or two stages: every region with the same groups, in the same order.
///
/// Each table counts every record of a group in exactly one cell. The account depends on it.
pub trait StagedLevel {
    /// A table that a group may get.
    type Table: Copy;

    /// The number of groups of all regions.
    fn groups(&self) -> u64;

    /// The number of groups of a region.
    fn width(&self) -> usize;

    /// The table that a group gets without stage 1, with the whole budget; `None` if a noisy total chooses its table.
    fn sole_table(&self, place: usize) -> Option<Self::Table>;

    /// The noise of a cell of such a table, of the total of stage 1, and of a cell of stage 2.
    fn noise(&self) -> [&CountNoise; 3];

    /// The margin of error of a published cell of a group, at 95 %.
    fn margin(&self, has_sole_table: bool) -> i64 {
        self.noise()[if has_sole_table { 0 } else { 2 }].margin
    }

    /// The number of finest cells, of which all tables are sums.
    fn cells(&self) -> usize;

    /// The table for a noisy total of stage 1.
    fn called_for(&self, noisy_total: i64) -> Self::Table;

    /// Appends the counts of a table.
    fn sums(&self, table: Self::Table, cells: &[i64], out: &mut Vec<i64>);

    /// The largest published total that is suppressed, of a group with or without a sole table; `None` if none is.
    fn suppressed_to(&self, has_sole_table: bool) -> Option<i64>;
}

impl StagedLevel for TabulatedLevel {
    type Table = PublishedTable;

    fn groups(&self) -> u64 {
        TabulatedLevel::groups(self)
    }

    fn width(&self) -> usize {
        self.iterations.len()
    }

    fn sole_table(&self, place: usize) -> Option<PublishedTable> {
        self.iterations[place].detailed_only.then_some(PublishedTable::Total)
    }

    fn noise(&self) -> [&CountNoise; 3] {
        [&self.total_only, &self.stage_1, &self.stage_2]
    }

    fn cells(&self) -> usize {
        CELLS
    }

    fn called_for(&self, noisy_total: i64) -> PublishedTable {
        called_for(noisy_total, &self.thresholds)
    }

    fn sums(&self, table: PublishedTable, cells: &[i64], out: &mut Vec<i64>) {
        sums(table, cells, out);
    }

    fn suppressed_to(&self, has_sole_table: bool) -> Option<i64> {
        self.suppression.map(|thresholds| thresholds[usize::from(!has_sole_table)])
    }
}

/// The noisy counts of consecutive groups.
#[derive(Debug)]
pub struct GroupBatch<T = PublishedTable> {
    /// The number of the first group: entity times the number of iterations, plus iteration.
    pub first: u64,
    /// The table that each group gets; `None` if it is suppressed.
    pub tables: Vec<Option<T>>,
    /// The offset of the counts of each group.
    starts: Vec<usize>,
    counts: Vec<i64>,
}

impl<T> GroupBatch<T> {
    fn new(first: u64) -> Self {
        GroupBatch { first, tables: Vec::new(), starts: Vec::new(), counts: Vec::new() }
    }

    /// The noisy counts of a group of the batch: its total, or its cells, of the bureau males first. None if it is suppressed.
    pub fn counts(&self, group: usize) -> &[i64] {
        if self.tables[group].is_some() { self.measured(group) } else { &[] }
    }

    /// The counts before suppression: a suppressed group has its noisy total. For rehearsals only.
    pub fn measured(&self, group: usize) -> &[i64] {
        let end = self.starts.get(group + 1).copied().unwrap_or(self.counts.len());
        &self.counts[self.starts[group]..end]
    }
}

/// The tabulation of one level, from exact to noisy counts.
pub struct Tabulation<'a, L: StagedLevel = TabulatedLevel> {
    plan: &'a L,
    allow_negative_counts: bool,
    sole: Sampler,
    stage_1: Sampler,
    stage_2: Sampler,
    /// The number of groups in a whole batch.
    batch: usize,
    /// The finest cells of the groups of the current batch, one group after the other.
    cells: Vec<i64>,
    /// The number of its groups.
    length: usize,
    first: u64,
}

impl<'a, L: StagedLevel> Tabulation<'a, L> {
    /// A tabulation without counts so far.
    pub fn new(plan: &'a L, allow_negative_counts: bool) -> Result<Self> {
        let [sole, stage_1, stage_2] = plan.noise();
        let mut tabulation = Tabulation {
            plan,
            allow_negative_counts,
            sole: sole.sampler()?,
            stage_1: stage_1.sampler()?,
            stage_2: stage_2.sampler()?,
            // Groups with many cells come in smaller batches.
            batch: (BATCH * CELLS / plan.cells().max(CELLS)).max(1),
            cells: Vec::new(),
            length: 0,
            first: 0,
        };
        tabulation.begin(0);
        Ok(tabulation)
    }

    fn begin(&mut self, first: u64) {
        self.length = (self.plan.groups() - first).min(self.batch as u64) as usize;
        self.first = first;
        self.cells.clear();
        self.cells.resize(self.length * self.plan.cells(), 0);
    }

    /// Counts `count` persons in a cell of a group. Groups must come in ascending order; skipped groups are empty.
    pub fn count(
        &mut self,
        (region, iteration): (u32, u32),
        cell: usize,
        count: i64,
        streams: &mut Streams,
        publish: &mut dyn FnMut(GroupBatch<L::Table>) -> Result<()>,
    ) -> Result<()> {
        let group = u64::from(region) * self.plan.width() as u64 + u64::from(iteration);
        while group >= self.first + self.length as u64 {
            self.publish(streams, publish)?;
        }
        self.cells[(group - self.first) as usize * self.plan.cells() + cell] += count;
        Ok(())
    }

    /// Tabulates all remaining groups.
    pub fn finish(
        mut self,
        streams: &mut Streams,
        publish: &mut dyn FnMut(GroupBatch<L::Table>) -> Result<()>,
    ) -> Result<()> {
        while self.length > 0 {
            self.publish(streams, publish)?;
        }
        Ok(())
    }

    fn publish(
        &mut self,
        streams: &mut Streams,
        publish: &mut dyn FnMut(GroupBatch<L::Table>) -> Result<()>,
    ) -> Result<()> {
        let batch = self.batch(streams)?;
        publish(batch)?;
        self.begin(self.first + self.length as u64);
        Ok(())
    }

    fn batch(&self, streams: &mut Streams) -> Result<GroupBatch<L::Table>> {
        let plan = self.plan;
        let width = plan.width() as u64;
        let sole: Vec<Option<L::Table>> =
            (self.first..).take(self.length).map(|group| plan.sole_table((group % width) as usize)).collect();
        let staged = sole.iter().filter(|table| table.is_none()).count();
        let mut batch = GroupBatch::new(self.first);

        // Stage 1, for the groups with two stages. Its noisy totals choose the workload and are not kept.
        let mut stage_1 = drawn(&self.stage_1, staged, streams).into_iter();
        let mut of_sole = 0;
        for (cells, &only) in self.cells.chunks_exact(plan.cells()).zip(&sole) {
            let table = match only {
                Some(table) => table,
                None => plan.called_for(add(cells.iter().sum(), stage_1.next())?),
            };
            let start = batch.counts.len();
            batch.starts.push(start);
            plan.sums(table, cells, &mut batch.counts);
            of_sole += if only.is_some() { batch.counts.len() - start } else { 0 };
            batch.tables.push(Some(table));
        }

        // Stage 2; and the whole budget for the groups with a sole table.
        let mut stage_2 = drawn(&self.stage_2, batch.counts.len() - of_sole, streams).into_iter();
        let mut whole = drawn(&self.sole, of_sole, streams).into_iter();
        for (group, only) in sole.iter().map(Option::is_some).enumerate() {
            let end = batch.starts.get(group + 1).copied().unwrap_or(batch.counts.len());
            let counts = &mut batch.counts[batch.starts[group]..end];
            let noise = if only { &mut whole } else { &mut stage_2 };
            for count in counts.iter_mut() {
                *count = add(*count, noise.next())?;
            }
            if let (Some(threshold), [total]) = (plan.suppressed_to(only), &*counts)
                && *total <= threshold
            {
                batch.tables[group] = None;
            }
            if !self.allow_negative_counts {
                counts.iter_mut().for_each(|count| *count = (*count).max(0));
            }
        }
        Ok(batch)
    }
}

/// Fresh noise.
fn drawn(sampler: &Sampler, length: usize, streams: &mut Streams) -> Vec<i64> {
    let mut noise = vec![0; length];
    streams.fill(sampler, &mut noise);
    noise
}

/// A count with its noise; without noise an error, never the exact count.
fn add(count: i64, noise: Option<i64>) -> Result<i64> {
    noise.and_then(|noise| count.checked_add(noise)).ok_or(Error::Overflow { position: 0, count })
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::super::levels::{CountNoise, KnownPersons};
    use super::*;
    use crate::{
        loss::law::Law,
        noise::DiscreteGaussian,
        numeric::rational::parse,
        safetab::{
            groups::TabulatedIteration,
            schema::{IterationCode, IterationLevel, RegionType},
        },
    };

    fn noise(sigma2: &str) -> CountNoise {
        CountNoise { law: Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() }, margin: 0 }
    }

    /// Entities with 50 iterations, every fifth of them detailed-only.
    fn plan(regions: usize) -> TabulatedLevel {
        let code = |number: usize| IterationCode::read(format!("{number:04}").as_bytes()).unwrap();
        TabulatedLevel {
            region_type: RegionType::State,
            level: IterationLevel::Two,
            budget: Rational::from(1),
            stability: 9,
            total_only: noise("2"),
            stage_1: noise("30"),
            stage_2: noise("7/2"),
            thresholds: [20, 100, 1000],
            suppression: None,
            known: KnownPersons::default(),
            iterations: (0..50).map(|i| TabulatedIteration { iteration: code(i), detailed_only: i % 5 == 0 }).collect(),
            regions: (0..regions).map(|i| i.to_string()).collect(),
        }
    }

    /// Tabulates groups, each with the cells of `count`, and calls the callback with every group's number and noisy counts.
    fn run(
        plan: &TabulatedLevel,
        count: impl Fn(u64) -> i64,
        mut see: impl FnMut(u64, Option<PublishedTable>, &[i64]),
    ) {
        let mut streams = Streams::with_insecure_seed(5);
        let mut tabulation = Tabulation::new(plan, true).unwrap();
        let mut next = 0;
        let mut publish = |batch: GroupBatch| {
            assert_eq!(batch.first, next);
            for (i, &table) in batch.tables.iter().enumerate() {
                see(next, table, batch.counts(i));
                next += 1;
            }
            Ok(())
        };
        for group in 0..plan.groups() {
            let key = ((group / 50) as u32, (group % 50) as u32);
            // In two cells of different sexes, if the group is not empty.
            let all = count(group);
            for (cell, part) in [(3, all / 3), (40, all - all / 3)] {
                if part != 0 {
                    tabulation.count(key, cell, part, &mut streams, &mut publish).unwrap();
                }
            }
        }
        tabulation.finish(&mut streams, &mut publish).unwrap();
        assert_eq!(next, plan.groups());
    }

    /// Pearson's statistic of samples of N_Z(0, sigma2) on the bins -r..=r and both tails, with 2 r + 2 degrees of freedom.
    fn chi2(samples: &[i64], sigma2: &str, r: i64) -> f64 {
        let law = DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap();
        let n = samples.len() as f64;
        let term = |seen: usize, p: f64| (seen as f64 - n * p).powi(2) / (n * p);
        let count = |test: &dyn Fn(i64) -> bool| samples.iter().filter(|&&x| test(x)).count();
        let middle: f64 = (-r..=r).map(|x| term(count(&|y| y == x), law.mass(x, 10).approximate())).sum();
        let tail = law.survival(r + 1, 10).unwrap().approximate();
        middle + term(count(&|x| x > r), tail) + term(count(&|x| x < -r), tail)
    }

    #[test]
    fn empty_groups_have_the_noise_of_their_stage() {
        let plan = plan(4000);
        let (mut only, mut staged) = (Vec::new(), Vec::new());
        run(
            &plan,
            |_| 0,
            |group, table, counts| {
                if group % 5 == 0 {
                    assert_eq!(table, Some(PublishedTable::Total));
                    only.extend(counts);
                } else if table == Some(PublishedTable::Total) {
                    staged.extend(counts);
                }
            },
        );
        // 200000 groups; stage 1 sends hardly any empty group on. The probability that a chi-square variable with 14 (20) degrees of
        // freedom exceeds 60 (70) is below 10^-6.
        assert!(only.len() == 40_000 && staged.len() > 159_000);
        assert!(chi2(&only, "2", 6) < 60.0, "{}", chi2(&only, "2", 6));
        assert!(chi2(&staged, "7/2", 9) < 70.0, "{}", chi2(&staged, "7/2", 9));
    }

    #[test]
    fn stage_1_chooses_and_stage_2_counts() {
        let plan = plan(2000);
        // Exactly at the second threshold: slightly more than half of the groups reach it.
        let mut workloads = [0_usize; 4];
        let mut noise = Vec::new();
        run(
            &plan,
            |_| 100,
            |group, table, counts| {
                if group % 5 == 0 {
                    return;
                }
                let table = table.unwrap();
                workloads[table as usize] += 1;
                if table == PublishedTable::SexAge9 {
                    // Both cells lie in males from 15 to 17 and females of 65 and 66.
                    let mut exact = vec![0; 18];
                    (exact[1], exact[9 + 7]) = (33, 67);
                    noise.extend(counts.iter().zip(exact).map(|(noisy, exact)| noisy - exact));
                }
            },
        );
        let (all, up) = (workloads.iter().sum::<usize>() as f64, workloads[2] as f64);
        let p = DiscreteGaussian::new(parse("30").unwrap()).unwrap().survival(0, 10).unwrap().approximate();
        assert!((up - all * p).abs() < 4.9 * (all * p * (1.0 - p)).sqrt(), "{workloads:?}");
        assert_eq!((workloads[0], workloads[3]), (0, 0));
        assert!(chi2(&noise, "7/2", 9) < 70.0);
    }

    #[test]
    fn suppression_keeps_what_exceeds_the_threshold_and_negative_counts_can_go() {
        let suppressed = TabulatedLevel { suppression: Some([2, 3]), ..plan(200) };
        let (mut kept, mut gone) = (0, 0);
        run(
            &suppressed,
            |group| (group % 4) as i64,
            |group, table, counts| match table {
                None => gone += 1,
                // A group that stage 1 sends on has ages and is never suppressed.
                Some(PublishedTable::SexAge4 | PublishedTable::SexAge9 | PublishedTable::SexAge23) => {
                    assert!(group % 5 > 0)
                }
                Some(PublishedTable::Total) => {
                    kept += 1;
                    assert!(counts[0] > if group % 5 == 0 { 2 } else { 3 });
                }
            },
        );
        assert!(kept > 1000 && gone > 1000);
        let mut streams = Streams::with_insecure_seed(1);
        let plan = plan(10);
        let tabulation = Tabulation::new(&plan, false).unwrap();
        let mut least = Vec::new();
        let mut publish = |batch: GroupBatch| {
            least.extend((0..500).map(|i| batch.counts(i)[0]));
            Ok(())
        };
        tabulation.finish(&mut streams, &mut publish).unwrap();
        assert!(least.iter().all(|&count| count >= 0) && least.contains(&0) && least.iter().any(|&count| count > 0));
    }
}
