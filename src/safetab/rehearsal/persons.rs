//! Trials of SafeTab-P: the counts published by its two stages, suppression and coterminous regions, against the truth.

use serde_json::json;

use super::{
    errors::{Errors, StatedMargin, SuppressedSize},
    reports::OneRun,
    results::{CoterminousEffect, RehearsedLevel, SIZES, Strata},
    truth::{LevelCounts, Truth},
};
use crate::{
    error::Result,
    noise::Streams,
    safetab::{
        schema::{Geography, IterationCode, Pass, RegionType},
        tables::PublishedTable,
        tabulate::{
            certificate,
            certified_level::CertifiedLevel,
            coterminous::{self, Coterminous, Entity, Published},
            levels::TabulatedLevel,
            two_stage::{GroupBatch, Tabulation},
            workload::{CELLS, sums},
        },
    },
};

/// The number of summed cells in the counts with a stated margin: a cell, one sex over 4, 9 and 23 ages, and both sexes.
const COPIES: [(u32, &str); 7] = [
    (1, "cell or total"),
    (4, "sex of 4 ages"),
    (9, "sex of 9 ages"),
    (23, "sex of 23 ages"),
    (8, "total of 4 ages"),
    (18, "total of 9 ages"),
    (46, "total of 23 ages"),
];

/// A pass with its levels and the truth.
pub(super) struct PersonPass<'a> {
    pass: Pass,
    /// The highest summary level is first.
    types: &'a [RegionType],
    levels: &'a [TabulatedLevel],
    truth: Vec<&'a LevelCounts>,
    sets: Vec<Vec<Entity>>,
    allow_negative_counts: bool,
    gathered: Vec<Gathered>,
}

/// The statistics of a level.
struct Gathered {
    /// The totals of detailed-only groups.
    total_only: Errors,
    /// Indexed by the number of cells, as in [`COPIES`].
    sums: [Errors; COPIES.len()],
    strata: Strata,
    /// By size, the number of groups and of suppressed groups; detailed-only groups are last.
    sizes: [[(u64, u64); SIZES + 1]; 2],
    coterminous: CoterminousEffect,
    /// By group, one more than the most detailed table that was published; 0 if none was.
    most_detail: Vec<u8>,
}

impl<'a> PersonPass<'a> {
    /// A pass before the first trial.
    pub(super) fn new(
        (pass, types): (Pass, &'a [RegionType]),
        levels: &'a [TabulatedLevel],
        geography: &Geography,
        truth: &'a Truth,
        allow_negative_counts: bool,
    ) -> Self {
        let gathered = levels.iter().map(|plan| Gathered {
            total_only: Errors::default(),
            sums: Default::default(),
            strata: Strata::new(PublishedTable::ALL.len()),
            sizes: [[(0, 0); SIZES + 1]; 2],
            coterminous: CoterminousEffect::default(),
            most_detail: vec![0; plan.groups() as usize],
        });
        PersonPass {
            pass,
            types,
            levels,
            truth: levels.iter().map(|plan| truth.level(plan.region_type, plan.level)).collect(),
            sets: coterminous::sets(geography, types),
            allow_negative_counts,
            gathered: gathered.collect(),
        }
    }

    /// The number of groups with noise in a trial.
    pub(super) fn groups(&self) -> u64 {
        self.levels.iter().map(TabulatedLevel::groups).sum()
    }

    /// Draws noise for all levels once. Writes the published groups to `one_run`, if given. Calls `progress` with the number of groups.
    pub(super) fn draw(
        &mut self,
        streams: &mut Streams,
        mut one_run: Option<&mut OneRun>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let mut coterminous = Coterminous::new(self.sets.iter().cloned());
        for place in 0..self.levels.len() {
            let levels = self.levels;
            let (plan, truth) = (&levels[place], self.truth[place]);
            let mut exact = truth.in_order();
            let mut tabulation = Tabulation::new(plan, self.allow_negative_counts)?;
            let mut publish = |batch: GroupBatch| {
                progress(batch.tables.len() as u64);
                for number in 0..batch.tables.len() {
                    let group = batch.first + number as u64;
                    let mut cells = [0; CELLS];
                    exact.cells(group, &mut cells);
                    self.record(place, (group, &cells), (&batch, number), &mut coterminous, one_run.as_deref_mut())?;
                }
                Ok(())
            };
            let width = plan.iterations.len() as u64;
            for (group, cell, count) in truth.iter() {
                let key = ((group / width) as u32, (group % width) as u32);
                tabulation.count(key, cell, count, streams, &mut publish)?;
            }
            tabulation.finish(streams, &mut publish)?;
        }
        Ok(())
    }

    /// Adds the measurements of a group, and its newly published counts.
    fn record(
        &mut self,
        place: usize,
        (group, cells): (u64, &[i64; CELLS]),
        (batch, number): (&GroupBatch, usize),
        coterminous: &mut Coterminous,
        one_run: Option<&mut OneRun>,
    ) -> Result<()> {
        let levels = self.levels;
        let plan = &levels[place];
        let width = plan.iterations.len() as u64;
        let (region, iteration) = ((group / width) as u32, plan.iterations[(group % width) as usize]);
        let only = iteration.detailed_only;
        let size: i64 = cells.iter().sum();
        let (table, measured) = (batch.tables[number], batch.measured(number));
        self.gathered[place].measure(only, table, measured, cells, self.allow_negative_counts);
        let entity = self.types.iter().position(|kind| *kind == plan.region_type).map(|kind| (kind, region));
        let Some(entity) = entity.filter(|entity| coterminous.holds(*entity)) else {
            return match table {
                None => Ok(()),
                Some(table) => {
                    let margin = plan.margin(only);
                    self.publish(place, (group, cells), (table, measured, margin), one_run)
                }
            };
        };
        let own = table.map(|table| Published { table, counts: measured.to_vec(), margin: plan.margin(only) });
        let own_total: Option<i64> = own.as_ref().map(|own| own.counts.iter().sum());
        let before = coterminous.replaced();
        let published = coterminous.publish(entity, iteration.iteration.number().into(), own);
        // If every newly published count is a replacement, the counts came from an earlier group; else from this one.
        let replaced = coterminous.replaced() - before == published.len() as u64;
        let mut one_run = one_run;
        for (other, published) in published {
            let given: i128 = published.counts.iter().map(|count| i128::from(*count)).sum();
            let counts = (published.table, &published.counts[..], published.margin);
            if other == entity {
                if replaced {
                    self.gathered[place].coterminous.replace(size.into(), own_total.map(i128::from), given);
                }
                self.publish(place, (group, cells), counts, one_run.as_deref_mut())?;
            } else if let Some((place, group)) = self.group_of(place, other, iteration.iteration) {
                let mut cells = [0; CELLS];
                self.truth[place].add_to(group, &mut cells);
                let size = cells.iter().map(|count| i128::from(*count)).sum();
                self.gathered[place].coterminous.replace(size, None, given);
                self.publish(place, (group, &cells), counts, one_run.as_deref_mut())?;
            }
        }
        Ok(())
    }

    /// The group of an entity of another type and an iteration, at the same level of iterations as `place`.
    fn group_of(&self, place: usize, (kind, region): Entity, iteration: IterationCode) -> Option<(usize, u64)> {
        let level = self.levels[place].level;
        let same = |plan: &TabulatedLevel| plan.region_type == self.types[kind] && plan.level == level;
        let place = self.levels.iter().position(same)?;
        let iterations = &self.levels[place].iterations;
        let found = iterations.binary_search_by_key(&iteration, |key| key.iteration).ok()?;
        Some((place, u64::from(region) * iterations.len() as u64 + found as u64))
    }

    /// Adds the published counts of a group.
    fn publish(
        &mut self,
        place: usize,
        (group, cells): (u64, &[i64; CELLS]),
        (table, counts, margin): (PublishedTable, &[i64], i64),
        one_run: Option<&mut OneRun>,
    ) -> Result<()> {
        let plan = &self.levels[place];
        let width = plan.iterations.len() as u64;
        let iteration = plan.iterations[(group % width) as usize];
        let gathered = &mut self.gathered[place];
        let mut exact = Vec::with_capacity(CELLS);
        sums(table, cells, &mut exact);
        let size: i64 = cells.iter().sum();
        let stratum = gathered.strata.stratum(iteration.detailed_only, size.unsigned_abs());
        stratum.tables[table as usize].add(counts, &exact, margin);
        let most = &mut gathered.most_detail[group as usize];
        *most = (*most).max(table as u8 + 1);
        match one_run {
            None => Ok(()),
            Some(report) => {
                let region = &plan.regions[(group / width) as usize];
                report.person(region, plan.region_type, iteration.iteration, size, table, counts, &exact)
            }
        }
    }

    /// The results after all trials.
    pub(super) fn finish(self) -> Result<Vec<(RehearsedLevel, Vec<u8>)>> {
        let levels = self.levels.iter().zip(self.gathered).zip(self.truth);
        let finish = |((plan, gathered), truth): ((&TabulatedLevel, Gathered), &LevelCounts)| {
            let most_detail = gathered.most_detail;
            let mut margins = Vec::new();
            if gathered.total_only.count() > 0 {
                let of = "detailed-only total".to_string();
                margins.push(StatedMargin::new(of, &plan.total_only, 1, gathered.total_only)?);
            }
            for ((copies, of), errors) in COPIES.iter().zip(gathered.sums).filter(|(_, errors)| errors.count() > 0) {
                margins.push(StatedMargin::new((*of).to_string(), &plan.stage_2, *copies, errors)?);
            }
            let mut suppression = Vec::new();
            for (only, threshold) in [false, true].into_iter().zip(plan.suppression.iter().flat_map(|[a, b]| [b, a])) {
                let (noise, stage_1) = match only {
                    true => (&plan.total_only, None),
                    false => (&plan.stage_2, Some((&plan.stage_1, plan.thresholds[0]))),
                };
                let sizes = (0..).zip(gathered.sizes[usize::from(only)]);
                for (size, (groups, suppressed)) in sizes.filter(|(_, (groups, _))| *groups > 0) {
                    let seen = (size, groups, suppressed);
                    suppression.push((only, SuppressedSize::new(seen, noise, *threshold, stage_1)?));
                }
            }
            let level = RehearsedLevel {
                pass: certificate::name(self.pass).to_string(),
                name: plan.name(),
                region_type: plan.region_type.name().to_string(),
                level: json!(plan.level.number()),
                kind: plan.level as usize,
                groups: plan.groups(),
                empty: plan.groups() - truth.inhabited(),
                margins,
                strata: gathered.strata.finish(),
                suppression,
                coterminous: Some(gathered.coterminous),
            };
            Ok((level, most_detail))
        };
        levels.map(finish).collect()
    }
}

impl Gathered {
    /// Adds the measured counts of a group, before suppression and replacement. Their sums are added only if they have the stated noise,
    /// that is, if negative counts are allowed.
    fn measure(
        &mut self,
        only: bool,
        table: Option<PublishedTable>,
        measured: &[i64],
        cells: &[i64; CELLS],
        with_sums: bool,
    ) {
        let size: i64 = cells.iter().sum();
        let stratum = self.strata.stratum(only, size.unsigned_abs());
        stratum.groups += 1;
        stratum.suppressed += u64::from(table.is_none());
        if let Some((groups, suppressed)) = self.sizes[usize::from(only)].get_mut(size.unsigned_abs() as usize) {
            *groups += 1;
            *suppressed += u64::from(table.is_none());
        }
        let table = table.unwrap_or(PublishedTable::Total);
        let mut exact = Vec::with_capacity(CELLS);
        sums(table, cells, &mut exact);
        let error = |(noisy, exact): (&i64, &i64)| i128::from(*noisy) - i128::from(*exact);
        let errors: Vec<i128> = measured.iter().zip(&exact).map(error).collect();
        let into = if only { &mut self.total_only } else { &mut self.sums[0] };
        errors.iter().for_each(|error| into.add(*error));
        let ages = table.ages().len();
        if ages == 0 || !with_sums {
            return;
        }
        let kind = table as usize;
        errors.chunks_exact(ages).for_each(|sex| self.sums[kind].add(sex.iter().sum()));
        self.sums[3 + kind].add(errors.iter().sum());
    }
}

impl CoterminousEffect {
    /// Counts a group of this size that publishes the total of another group instead of its own, which is `None` if it is suppressed.
    fn replace(&mut self, size: i128, own: Option<i128>, given: i128) {
        self.replaced += 1;
        match own {
            None => self.filled += 1,
            Some(own) => {
                self.contradicted += u64::from(own != given);
                self.own.add(own - size);
                self.given.add(given - size);
            }
        }
    }
}
