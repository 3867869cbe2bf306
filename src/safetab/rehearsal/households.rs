//! Trials of SafeTab-H: its published groups, which the totals select, against the truth; and synthetic totals for rehearsals.

use super::{
    errors::{Errors, StatedMargin},
    reports::OneRun,
    results::{RehearsedLevel, Strata, table_of},
    trials::Trials,
    truth::{LevelCounts, Truth},
};
use crate::{
    error::Result,
    noise::Streams,
    safetab::{
        groups::Specification,
        household_tables::HouseholdTopic,
        schema::{IterationLevel, Pass, PublishedTotal, RegionType},
        tabulate::{
            certificate,
            household_counts::{HOUSEHOLD_CELLS, HouseholdBatch, HouseholdTabulation},
            household_levels::{HouseholdLevel, HouseholdNoise, SelectedGroup},
        },
    },
};

/// The largest number of cells in a printed count.
const MOST_COPIES: usize = 5;
/// The number of tables of both topics.
const TABLES: usize = 6;
/// Synthetic totals have five persons for every two households.
const PERSONS_OF_TWO: i64 = 5;

/// A pass with its levels and the truth.
pub(super) struct HouseholdPass<'a> {
    pass: Pass,
    levels: &'a [HouseholdLevel],
    truth: Vec<&'a LevelCounts>,
    allow_negative_counts: bool,
    gathered: Vec<Gathered>,
}

/// The statistics of a level.
struct Gathered {
    /// By topic, and by the number of summed cells minus one.
    sums: [[Errors; MOST_COPIES]; 2],
    strata: Strata,
}

impl<'a> HouseholdPass<'a> {
    /// A pass before the first trial.
    pub(super) fn new(
        pass: Pass,
        levels: &'a [HouseholdLevel],
        truth: &'a Truth,
        allow_negative_counts: bool,
    ) -> HouseholdPass<'a> {
        let gathered = levels.iter().map(|_| Gathered { sums: Default::default(), strata: Strata::new(TABLES) });
        HouseholdPass {
            pass,
            levels,
            truth: levels.iter().map(|plan| truth.level(plan.region_type, plan.level)).collect(),
            allow_negative_counts,
            gathered: gathered.collect(),
        }
    }

    /// The results after all trials.
    pub(super) fn finish(self) -> Result<Vec<RehearsedLevel>> {
        let levels = self.levels.iter().zip(self.gathered).zip(self.truth);
        let finish = |((plan, gathered), truth): ((&HouseholdLevel, Gathered), &LevelCounts)| {
            let mut margins = Vec::new();
            for (topic, sums) in HouseholdTopic::ALL.into_iter().zip(gathered.sums) {
                let Some(HouseholdNoise { noise, .. }) = &plan.tables[topic as usize] else { continue };
                for (copies, errors) in (1..).zip(sums).filter(|(_, errors)| errors.count() > 0) {
                    let of = match copies {
                        1 => format!("{} cell", topic.name()),
                        _ => format!("{} sum of {copies}", topic.name()),
                    };
                    margins.push(StatedMargin::new(of, noise, copies, errors)?);
                }
            }
            let mut exact = truth.in_order();
            let is_empty = |group: &&SelectedGroup| !exact.cells(number_of(plan, group), &mut [0; HOUSEHOLD_CELLS]);
            let mut level = RehearsedLevel::of(plan, certificate::name(self.pass).to_string(), plan.level as usize);
            level.empty = plan.groups.iter().filter(is_empty).count() as u64;
            (level.margins, level.strata) = (margins, gathered.strata.finish());
            Ok(level)
        };
        levels.map(finish).collect()
    }
}

impl Trials for HouseholdPass<'_> {
    fn groups(&self) -> u64 {
        self.levels.iter().map(|plan| plan.groups.len() as u64).sum()
    }

    fn draw(
        &mut self,
        streams: &mut Streams,
        mut one_run: Option<&mut OneRun>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let with_sums = self.allow_negative_counts;
        for ((plan, truth), gathered) in self.levels.iter().zip(&self.truth).zip(&mut self.gathered) {
            let mut exact = truth.in_order();
            let tabulation = HouseholdTabulation::new(plan, self.allow_negative_counts, streams)?;
            tabulate(tabulation, plan, truth, &mut |batch| {
                progress(batch.groups.len() as u64);
                for (number, group) in batch.groups.iter().enumerate() {
                    let mut cells = [0; HOUSEHOLD_CELLS];
                    exact.cells(number_of(plan, group), &mut cells);
                    let seen = gathered.record(plan, (group, &cells), (&batch, number), with_sums)?;
                    if let Some(report) = one_run.as_deref_mut() {
                        let iteration = plan.iterations[group.iteration as usize].iteration;
                        let region = &plan.regions[group.region as usize];
                        report.household(region, plan.region_type, iteration, cells.iter().sum(), &seen)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The number of a group among all groups of its level, as in the truth.
fn number_of(plan: &HouseholdLevel, group: &SelectedGroup) -> u64 {
    u64::from(group.region) * plan.iterations.len() as u64 + u64::from(group.iteration)
}

/// Tabulates the truth of a level.
pub(super) fn tabulate(
    mut tabulation: HouseholdTabulation,
    plan: &HouseholdLevel,
    truth: &LevelCounts,
    publish: &mut dyn FnMut(HouseholdBatch) -> Result<()>,
) -> Result<()> {
    let width = plan.iterations.len() as u64;
    for (group, cell, count) in truth.iter() {
        tabulation.count(((group / width) as u32, (group % width) as u32), cell, count, publish)?;
    }
    tabulation.finish(publish)
}

impl Gathered {
    /// Adds the measurements of a group, and returns the errors of its measured cells, by topic.
    fn record(
        &mut self,
        plan: &HouseholdLevel,
        (group, cells): (&SelectedGroup, &[i64; HOUSEHOLD_CELLS]),
        (batch, number): (&HouseholdBatch, usize),
        with_sums: bool,
    ) -> Result<[Option<Vec<i128>>; 2]> {
        let size: i64 = cells.iter().sum();
        let stratum = self.strata.stratum(false, size.unsigned_abs());
        stratum.groups += 1;
        let mut seen = [None, None];
        for topic in HouseholdTopic::ALL {
            let Some((measured, noise)) = batch.measured(topic, number).zip(plan.tables[topic as usize].as_ref())
            else {
                continue;
            };
            let detail = usize::from(group.detail[topic as usize]);
            let table = &topic.tables()[detail];
            let mut exact = Vec::with_capacity(table.measured.len());
            topic.measured(table, &finest(topic, cells), &mut exact);
            stratum.tables[table_of(topic, detail)].add(measured, &exact, noise.noise.margin);
            let errors: Vec<i128> =
                measured.iter().zip(&exact).map(|(noisy, exact)| i128::from(*noisy) - i128::from(*exact)).collect();
            let sums = &mut self.sums[topic as usize];
            errors.iter().for_each(|error| sums[0].add(*error));
            if with_sums {
                let (mut noisy, mut truth) = (Vec::new(), Vec::new());
                topic.printed(table, measured, &mut noisy)?;
                topic.printed(table, &exact, &mut truth)?;
                for (place, cell) in table.printed.iter().enumerate() {
                    let copies = topic.parts(table, *cell);
                    if copies > 1 {
                        sums[copies - 1].add(i128::from(noisy[place]) - i128::from(truth[place]));
                    }
                }
            }
            seen[topic as usize] = Some(errors);
        }
        Ok(seen)
    }
}

/// The finest cells of a topic.
fn finest(topic: HouseholdTopic, cells: &[i64; HOUSEHOLD_CELLS]) -> Vec<i64> {
    let mut finest = vec![0; topic.finest()];
    for (cell, count) in cells.iter().enumerate() {
        finest[topic.cell((cell / 4 + 1) as u8, (cell % 4 + 1) as u8)] += count;
    }
    finest
}

/// Synthetic totals for rehearsals without a published T1: five persons for every two households, for all groups with households and for
/// all groups of nation and states.
pub(super) fn made_up_totals(
    specification: &Specification,
    truth: &Truth,
    (region_type, level): (RegionType, IterationLevel),
    regions: usize,
) -> Vec<PublishedTotal> {
    let width = specification.key_set(region_type.granularity(), level).len() as u64;
    let counts = truth.level(region_type, level);
    let total = |group: u64, households: i64| PublishedTotal {
        region: (group / width) as u32,
        iteration: (group % width) as u32,
        count: households.saturating_mul(PERSONS_OF_TWO) / 2,
    };
    if matches!(region_type, RegionType::Usa | RegionType::State | RegionType::PrState) {
        let mut exact = counts.in_order();
        let all = (0..regions as u64 * width).map(|group| {
            let mut cells = [0; HOUSEHOLD_CELLS];
            exact.cells(group, &mut cells);
            total(group, cells.iter().sum())
        });
        return all.collect();
    }
    let mut totals: Vec<(u64, i64)> = Vec::new();
    for (group, _, count) in counts.iter() {
        match totals.last_mut() {
            Some((last, sum)) if *last == group => *sum += count,
            _ => totals.push((group, count)),
        }
    }
    totals.into_iter().map(|(group, households)| total(group, households)).collect()
}
