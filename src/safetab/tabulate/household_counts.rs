//! The noisy counts of households of all groups of one level, in batches of bounded size.
//!
//! The groups are those with a published total, empty or not. The total chooses the measured cells; every measured cell gets independent
//! noise, and all other cells are sums of noisy ones.

use super::household_levels::{HouseholdLevel, SelectedGroup};
use crate::{
    error::{Error, Result},
    noise::{Sampler, Streams},
    safetab::household_tables::HouseholdTopic,
};

/// The number of groups that are tabulated together.
const BATCH: usize = 1 << 15;
/// The largest number of finest cells of a topic.
const FINEST: usize = 5;
/// The number of cells by which households are counted: types times tenures.
pub const HOUSEHOLD_CELLS: usize = 20;

/// The type, 1 to 5, and the tenure, 1 to 4, of a cell.
fn household_of(cell: usize) -> (u8, u8) {
    ((cell / 4 + 1) as u8, (cell % 4 + 1) as u8)
}

/// The counts of the measured cells of consecutive groups.
#[derive(Debug)]
pub struct HouseholdBatch<'a> {
    /// The groups.
    pub groups: &'a [SelectedGroup],
    /// For T3 and T4: the offsets of the cells of each group, and the cells; `None` for a table that is not run.
    measured: [Option<(Vec<usize>, Vec<i64>)>; 2],
}

impl HouseholdBatch<'_> {
    /// The measured cells of a group of the batch; `None` if the table is not run.
    pub fn measured(&self, topic: HouseholdTopic, group: usize) -> Option<&[i64]> {
        let (starts, cells) = self.measured[topic as usize].as_ref()?;
        let detail = self.groups[group].detail[topic as usize];
        let width = topic.tables()[usize::from(detail)].measured.len();
        cells.get(starts[group]..starts[group] + width)
    }
}

/// The noise added to the exact counts.
struct Noise<'a> {
    /// The samplers of T3 and T4.
    samplers: [Option<Sampler>; 2],
    streams: &'a mut Streams,
    allow_negative_counts: bool,
}

/// The tabulation of one level, from exact to noisy counts.
pub struct HouseholdTabulation<'a> {
    plan: &'a HouseholdLevel,
    /// `None` for the truth, only for data that are not confidential.
    noise: Option<Noise<'a>>,
    /// The first group of the current batch.
    first: usize,
    /// The finest cells of its groups, by topic.
    finest: Vec<[[i64; FINEST]; 2]>,
}

impl<'a> HouseholdTabulation<'a> {
    /// A tabulation without counts so far.
    pub fn new(plan: &'a HouseholdLevel, allow_negative_counts: bool, streams: &'a mut Streams) -> Result<Self> {
        let mut samplers = [None, None];
        for (sampler, table) in samplers.iter_mut().zip(&plan.tables) {
            *sampler = table.as_ref().map(|table| table.noise.sampler()).transpose()?;
        }
        Ok(HouseholdTabulation::with(plan, Some(Noise { samplers, streams, allow_negative_counts })))
    }

    /// A tabulation without noise: for rehearsals and comparisons, never for confidential records.
    pub fn exact(plan: &'a HouseholdLevel) -> Self {
        HouseholdTabulation::with(plan, None)
    }

    fn with(plan: &'a HouseholdLevel, noise: Option<Noise<'a>>) -> Self {
        let mut tabulation = HouseholdTabulation { plan, noise, first: 0, finest: Vec::new() };
        tabulation.begin(0);
        tabulation
    }

    fn begin(&mut self, first: usize) {
        self.first = first;
        self.finest.clear();
        self.finest.resize((self.plan.groups.len() - first).min(BATCH), [[0; FINEST]; 2]);
    }

    fn groups(&self) -> &'a [SelectedGroup] {
        &self.plan.groups[self.first..self.first + self.finest.len()]
    }

    /// Counts `count` households in a cell of a group. Groups must come in ascending order; skipped groups are empty, and groups without a
    /// total are ignored.
    pub fn count(
        &mut self,
        key: (u32, u32),
        cell: usize,
        count: i64,
        publish: &mut dyn FnMut(HouseholdBatch) -> Result<()>,
    ) -> Result<()> {
        let key_of = |group: &SelectedGroup| (group.region, group.iteration);
        while self.groups().last().is_some_and(|last| key_of(last) < key) {
            self.publish(publish)?;
        }
        let Ok(place) = self.groups().binary_search_by_key(&key, key_of) else { return Ok(()) };
        let (household_type, tenure) = household_of(cell);
        for topic in HouseholdTopic::ALL {
            self.finest[place][topic as usize][topic.cell(household_type, tenure)] += count;
        }
        Ok(())
    }

    /// Tabulates all remaining groups.
    pub fn finish(mut self, publish: &mut dyn FnMut(HouseholdBatch) -> Result<()>) -> Result<()> {
        while !self.finest.is_empty() {
            self.publish(publish)?;
        }
        Ok(())
    }

    fn publish(&mut self, publish: &mut dyn FnMut(HouseholdBatch) -> Result<()>) -> Result<()> {
        let mut measured = [None, None];
        for topic in HouseholdTopic::ALL {
            if self.plan.tables[topic as usize].is_some() {
                measured[topic as usize] = Some(self.measure(topic)?);
            }
        }
        publish(HouseholdBatch { groups: self.groups(), measured })?;
        self.begin(self.first + self.finest.len());
        Ok(())
    }

    /// The measured cells of a topic, with noise.
    fn measure(&mut self, topic: HouseholdTopic) -> Result<(Vec<usize>, Vec<i64>)> {
        let (mut starts, mut cells) = (Vec::new(), Vec::new());
        for (group, finest) in self.groups().iter().zip(&self.finest) {
            starts.push(cells.len());
            let table = &topic.tables()[usize::from(group.detail[topic as usize])];
            topic.measured(table, &finest[topic as usize][..topic.finest()], &mut cells);
        }
        if let Some(Noise { samplers, streams, allow_negative_counts }) = &mut self.noise {
            let refused = || Error::fault(format!("the table {} has groups and no noise", topic.name()));
            let sampler = samplers[topic as usize].as_ref().ok_or_else(refused)?;
            let mut noise = vec![0; cells.len()];
            streams.fill(sampler, &mut noise);
            for (cell, noise) in cells.iter_mut().zip(noise) {
                let noisy = cell.checked_add(noise).ok_or(Error::Overflow { position: 0, count: *cell })?;
                *cell = if *allow_negative_counts { noisy } else { noisy.max(0) };
            }
        }
        Ok((starts, cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::law::Law,
        noise::DiscreteGaussian,
        safetab::schema::{IterationLevel, Privacy, RegionType},
    };

    /// A level with this number of regions and 10 iterations each; every third group has no total, and T3 has all details.
    fn plan(regions: u32) -> HouseholdLevel {
        let budgets = ["1", "1/2"];
        let mut plan = HouseholdLevel::for_tests(
            Privacy::ZeroConcentrated,
            RegionType::County,
            IterationLevel::Two,
            budgets,
            9,
            10,
        );
        plan.regions = (0..regions).map(|region| format!("{region:05}")).collect();
        let keys = (0..regions).flat_map(|region| (0..10).map(move |iteration| (region, iteration)));
        let group = |(number, (region, iteration)): (u32, (u32, u32))| SelectedGroup {
            region,
            iteration,
            detail: [(number % 4) as u8, (number % 2) as u8],
        };
        plan.groups = (0..).zip(keys).filter(|(number, _)| number % 3 > 0).map(group).collect();
        plan
    }

    /// Tabulates groups, each key with 7 households of type 3 that rent, and 5 of type 4 with a mortgage.
    fn run(tabulation: HouseholdTabulation, regions: u32, mut see: impl FnMut(&HouseholdBatch, usize)) {
        let mut tabulation = tabulation;
        let mut publish = |batch: HouseholdBatch| {
            (0..batch.groups.len()).for_each(|group| see(&batch, group));
            Ok(())
        };
        for key in (0..regions).flat_map(|region| (0..10).map(move |iteration| (region, iteration))) {
            tabulation.count(key, 2 * 4 + 2, 7, &mut publish).unwrap();
            tabulation.count(key, 3 * 4, 5, &mut publish).unwrap();
        }
        tabulation.finish(&mut publish).unwrap();
    }

    #[test]
    fn without_noise_every_detail_has_its_cells() {
        // More than one batch.
        let plan = plan(6000);
        let mut seen = Vec::new();
        run(HouseholdTabulation::exact(&plan), 6000, |batch, group| {
            let selected = batch.groups[group];
            seen.push(selected);
            let expected: &[i64] =
                [&[12][..], &[7, 5], &[0, 7, 5, 0], &[0, 0, 7, 5, 0]][usize::from(selected.detail[0])];
            assert_eq!(batch.measured(HouseholdTopic::Type, group).unwrap(), expected);
            let expected: &[i64] = [&[12][..], &[5, 0, 7]][usize::from(selected.detail[1])];
            assert_eq!(batch.measured(HouseholdTopic::Tenure, group).unwrap(), expected);
        });
        assert_eq!(seen, plan.groups);
    }

    #[test]
    fn noise_has_the_law_of_its_table() {
        let plan = plan(3000);
        let mut streams = Streams::with_insecure_seed(9);
        let mut noise: [Vec<i64>; 2] = [Vec::new(), Vec::new()];
        run(HouseholdTabulation::new(&plan, true, &mut streams).unwrap(), 3000, |batch, group| {
            for topic in HouseholdTopic::ALL {
                let total: i64 = batch.measured(topic, group).unwrap().iter().sum();
                if batch.groups[group].detail[topic as usize] == 0 {
                    noise[topic as usize].push(total - 12);
                }
            }
        });
        for (table, noise) in plan.tables.iter().flatten().zip(noise) {
            let Law::DiscreteGaussian { sigma2 } = &table.noise.law else { unreachable!() };
            let law = DiscreteGaussian::new(sigma2.clone()).unwrap();
            let n = noise.len() as f64;
            assert!(n > 4000.0);
            let term = |seen: usize, p: f64| (seen as f64 - n * p).powi(2) / (n * p);
            let middle: f64 =
                (-4..=4).map(|x| term(noise.iter().filter(|&&y| y == x).count(), law.mass(x, 10).approximate())).sum();
            let tail = law.survival(5, 10).unwrap().approximate();
            let tails = term(noise.iter().filter(|&&x| x > 4).count(), tail)
                + term(noise.iter().filter(|&&x| x < -4).count(), tail);
            // The probability that a chi-square variable with 10 degrees of freedom exceeds 50 is below 10^-6.
            assert!(middle + tails < 50.0, "{}", middle + tails);
        }
    }

    #[test]
    fn negative_cells_can_be_cut_and_tables_left_out() {
        let mut plan = plan(500);
        plan.tables[1] = None;
        let mut streams = Streams::with_insecure_seed(1);
        let mut least = i64::MAX;
        let tabulation = HouseholdTabulation::new(&plan, false, &mut streams).unwrap();
        let mut publish = |batch: HouseholdBatch| {
            for group in 0..batch.groups.len() {
                assert!(batch.measured(HouseholdTopic::Tenure, group).is_none());
                let cells = batch.measured(HouseholdTopic::Type, group).unwrap();
                least = cells.iter().fold(least, |least, cell| least.min(*cell));
            }
            Ok(())
        };
        tabulation.finish(&mut publish).unwrap();
        assert_eq!(least, 0);
    }
}
