//! Algorithms 1 and 2 of SafeTab-P (2024 paper) over the groups of one level, in batches of bounded size.
//!
//! The groups are those of the specification and the geography: every entity with every iteration. A group without records has zero counts
//! with the same noise; otherwise its absence would reveal that it is empty.

use super::{
    levels::TabulatedLevel,
    workload::{CELLS, Cells, called_for, sums},
};
use crate::{
    error::{Error, Result},
    noise::{Sampler, Streams},
    safetab::tables::PublishedTable,
};

/// The number of groups that are tabulated together.
const BATCH: usize = 1 << 15;

/// The noisy counts of consecutive groups.
#[derive(Debug, Default)]
pub struct GroupBatch {
    /// The number of the first group: entity times the number of iterations, plus iteration.
    pub first: u64,
    /// The table that each group gets; `None` if it is suppressed.
    pub tables: Vec<Option<PublishedTable>>,
    /// The offset of the counts of each group.
    starts: Vec<usize>,
    counts: Vec<i64>,
}

impl GroupBatch {
    /// The noisy counts of a group of the batch: its total, or its cells, males first.
    pub fn counts(&self, group: usize) -> &[i64] {
        let width = self.tables[group].map_or(0, |table| table.noisy_cells() as usize);
        &self.counts[self.starts[group]..][..width]
    }

    /// The counts before suppression: a suppressed group has its noisy total. For rehearsals only.
    pub fn measured(&self, group: usize) -> &[i64] {
        let end = self.starts.get(group + 1).copied().unwrap_or(self.counts.len());
        &self.counts[self.starts[group]..end]
    }
}

/// The tabulation of one level, from exact to noisy counts.
pub struct Tabulation<'a> {
    plan: &'a TabulatedLevel,
    allow_negative_counts: bool,
    total_only: Sampler,
    stage_1: Sampler,
    stage_2: Sampler,
    /// The finest cells of the groups of the current batch.
    cells: Vec<Cells>,
    first: u64,
}

impl<'a> Tabulation<'a> {
    /// A tabulation without counts so far.
    pub fn new(plan: &'a TabulatedLevel, allow_negative_counts: bool) -> Result<Self> {
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
        let length = (self.plan.groups() - first).min(BATCH as u64) as usize;
        self.first = first;
        self.cells.clear();
        self.cells.resize(length, [0; CELLS]);
    }

    /// Counts `count` persons in a cell of a group. Groups must come in ascending order; skipped groups are empty.
    pub fn count(
        &mut self,
        (region, iteration): (u32, u32),
        cell: usize,
        count: i64,
        streams: &mut Streams,
        publish: &mut dyn FnMut(GroupBatch) -> Result<()>,
    ) -> Result<()> {
        let group = u64::from(region) * self.plan.iterations.len() as u64 + u64::from(iteration);
        while group >= self.first + self.cells.len() as u64 {
            self.publish(streams, publish)?;
        }
        self.cells[(group - self.first) as usize][cell] += count;
        Ok(())
    }

    /// Tabulates all remaining groups.
    pub fn finish(mut self, streams: &mut Streams, publish: &mut dyn FnMut(GroupBatch) -> Result<()>) -> Result<()> {
        while !self.cells.is_empty() {
            self.publish(streams, publish)?;
        }
        Ok(())
    }

    fn publish(&mut self, streams: &mut Streams, publish: &mut dyn FnMut(GroupBatch) -> Result<()>) -> Result<()> {
        let batch = self.batch(streams)?;
        publish(batch)?;
        self.begin(self.first + self.cells.len() as u64);
        Ok(())
    }

    fn batch(&self, streams: &mut Streams) -> Result<GroupBatch> {
        let plan = self.plan;
        let width = plan.iterations.len() as u64;
        let detailed_only: Vec<bool> = (self.first..)
            .take(self.cells.len())
            .map(|group| plan.iterations[(group % width) as usize].detailed_only)
            .collect();
        let totals_only = detailed_only.iter().filter(|only| **only).count();
        let mut batch = GroupBatch { first: self.first, ..GroupBatch::default() };

        // Stage 1, for the groups with two stages. Its noisy totals choose the workload and are not kept.
        let mut stage_1 = drawn(&self.stage_1, self.cells.len() - totals_only, streams).into_iter();
        for (cells, &only) in self.cells.iter().zip(&detailed_only) {
            let table = match only {
                true => PublishedTable::Total,
                false => {
                    let noisy = add(cells.iter().sum(), stage_1.next())?;
                    called_for(noisy, &plan.thresholds)
                }
            };
            batch.starts.push(batch.counts.len());
            sums(table, cells, &mut batch.counts);
            batch.tables.push(Some(table));
        }

        // Stage 2; and the whole budget for the detailed-only groups, which have one count each.
        let mut stage_2 = drawn(&self.stage_2, batch.counts.len() - totals_only, streams).into_iter();
        let mut total_only = drawn(&self.total_only, totals_only, streams).into_iter();
        for (group, &only) in detailed_only.iter().enumerate() {
            let end = batch.starts.get(group + 1).copied().unwrap_or(batch.counts.len());
            let counts = &mut batch.counts[batch.starts[group]..end];
            let noise = if only { &mut total_only } else { &mut stage_2 };
            for count in counts.iter_mut() {
                *count = add(*count, noise.next())?;
            }
            if let (Some(thresholds), [total]) = (plan.suppression, &*counts)
                && *total <= thresholds[usize::from(!only)]
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

    use super::super::levels::CountNoise;
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
