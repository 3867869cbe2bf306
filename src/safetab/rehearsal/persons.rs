//! Trials of SafeTab-P: the counts published by its two stages, suppression and coterminous regions, against the truth.

use super::{
    reports::OneRun,
    results::{CoterminousEffect, RehearsedLevel},
    staged::{self, CountKind, Drawn, RehearsedStages, StagedErrors},
    trials::Trials,
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
            coterminous::{self, Coterminous, Entity, Published},
            levels::TabulatedLevel,
            two_stage::StagedLevel,
            workload::CELLS,
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

impl RehearsedStages for TabulatedLevel {
    fn count_kinds(&self) -> Vec<CountKind> {
        let sole = CountKind { name: "detailed-only total".to_string(), cells: 1, of_sole: true };
        let others = COPIES.map(|(cells, name)| CountKind { name: name.to_string(), cells, of_sole: false });
        [sole].into_iter().chain(others).collect()
    }

    fn sums_of(&self, table: PublishedTable) -> Vec<(usize, usize)> {
        let (number, ages) = (table as usize, table.ages().len());
        if ages == 0 { Vec::new() } else { vec![(1 + number, ages), (4 + number, 2 * ages)] }
    }

    fn number_of(&self, table: PublishedTable) -> usize {
        table as usize
    }

    fn first_threshold(&self) -> Option<i64> {
        Some(self.thresholds[0])
    }
}

/// A pass with its levels and the truth.
pub(super) struct PersonPass<'a> {
    pass: Pass,
    /// The highest summary level is first.
    types: &'a [RegionType],
    levels: &'a [TabulatedLevel],
    truth: Vec<&'a LevelCounts>,
    sets: Vec<Vec<Entity>>,
    allow_negative_counts: bool,
    gathered: Vec<Gathered<'a>>,
}

/// The statistics of a level.
struct Gathered<'a> {
    errors: StagedErrors<'a, TabulatedLevel>,
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
        let truth: Vec<&LevelCounts> = levels.iter().map(|plan| truth.level(plan.region_type, plan.level)).collect();
        let gathered = levels.iter().zip(&truth).map(|(plan, truth)| Gathered {
            errors: StagedErrors::new(plan, truth, PublishedTable::ALL.len()),
            coterminous: CoterminousEffect::default(),
            most_detail: vec![0; plan.groups() as usize],
        });
        PersonPass {
            pass,
            types,
            levels,
            sets: coterminous::sets(geography, types),
            allow_negative_counts,
            gathered: gathered.collect(),
            truth,
        }
    }

    /// Adds the measurements of a group, and its newly published counts.
    fn record(
        &mut self,
        place: usize,
        drawn: &Drawn<PublishedTable>,
        coterminous: &mut Coterminous,
        mut one_run: Option<&mut OneRun>,
    ) -> Result<()> {
        let plan = &self.levels[place];
        let width = plan.iterations.len() as u64;
        let (group, cells, measured) = (drawn.group, drawn.cells, drawn.measured);
        let (region, iteration) = ((group / width) as u32, plan.iterations[(group % width) as usize]);
        self.gathered[place].errors.measure(drawn, self.allow_negative_counts);
        let margin = plan.margin(drawn.sole);
        let entity = self.types.iter().position(|kind| *kind == plan.region_type).map(|kind| (kind, region));
        let Some(entity) = entity.filter(|entity| coterminous.holds(*entity)) else {
            return match drawn.table {
                None => Ok(()),
                Some(table) => self.publish(place, (group, cells), (table, measured, margin), one_run),
            };
        };
        let own = drawn.table.map(|table| Published { table, counts: measured.to_vec(), margin });
        let own_total: Option<i64> = own.as_ref().map(|own| own.counts.iter().sum());
        let before = coterminous.replaced();
        let published = coterminous.publish(entity, iteration.iteration.number().into(), own);
        // If every newly published count is a replacement, the counts came from an earlier group; else from this one.
        let replaced = coterminous.replaced() - before == published.len() as u64;
        for (other, published) in published {
            let given: i128 = published.counts.iter().map(|count| i128::from(*count)).sum();
            let counts = (published.table, &published.counts[..], published.margin);
            if other == entity {
                if replaced {
                    self.gathered[place].coterminous.replace(drawn.size().into(), own_total.map(i128::from), given);
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
        (group, cells): (u64, &[i64]),
        (table, counts, margin): (PublishedTable, &[i64], i64),
        one_run: Option<&mut OneRun>,
    ) -> Result<()> {
        let plan = &self.levels[place];
        let width = plan.iterations.len() as u64;
        let iteration = plan.iterations[(group % width) as usize];
        let gathered = &mut self.gathered[place];
        let exact = gathered.errors.publish((iteration.detailed_only, cells), (table, counts, margin));
        let most = &mut gathered.most_detail[group as usize];
        *most = (*most).max(table as u8 + 1);
        match one_run {
            None => Ok(()),
            Some(report) => {
                let (region, size) = (&plan.regions[(group / width) as usize], cells.iter().sum());
                report.person(region, plan.region_type, iteration.iteration, size, table, counts, &exact)
            }
        }
    }

    /// The results after all trials.
    pub(super) fn finish(self) -> Result<Vec<(RehearsedLevel, Vec<u8>)>> {
        let pass = certificate::name(self.pass);
        let finish = |(plan, gathered): (&TabulatedLevel, Gathered)| {
            let mut level = gathered.errors.finish(pass.to_string(), plan.level as usize)?;
            level.coterminous = Some(gathered.coterminous);
            Ok((level, gathered.most_detail))
        };
        self.levels.iter().zip(self.gathered).map(finish).collect()
    }
}

impl Trials for PersonPass<'_> {
    fn groups(&self) -> u64 {
        self.levels.iter().map(TabulatedLevel::groups).sum()
    }

    fn draw(
        &mut self,
        streams: &mut Streams,
        mut one_run: Option<&mut OneRun>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let mut coterminous = Coterminous::new(self.sets.iter().cloned());
        for (place, plan) in self.levels.iter().enumerate() {
            let (of, allow) = ((plan, self.truth[place]), self.allow_negative_counts);
            staged::draw(of, allow, streams, progress, &mut |drawn| {
                self.record(place, &drawn, &mut coterminous, one_run.as_deref_mut())
            })?;
        }
        Ok(())
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
