//! The residuals of a folder: unit by unit, folded and summed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::within::{Inside, Within};
use crate::topdown::gls::{basis::Part, pass::UnitCounts};
use crate::topdown::nmf::{
    names::Names,
    noise::{NO_NOISE, Noise},
    units::PartUnits,
};

/// Maximum number of sums of a query.
const MOST_SUMS: usize = 64;

/// A query of any level.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
    pub(super) counts: usize,
    pub(super) sums: usize,
    /// The start of its sums among those of a unit.
    pub(super) place: usize,
}

impl Key {
    /// The number of counts in a sum.
    pub(super) fn size(&self, sum: usize) -> f64 {
        (self.counts / self.sums + usize::from(sum < self.counts % self.sums)) as f64
    }

    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.place..self.place + self.sums
    }
}

/// The compared queries: those that levels have in common.
#[derive(Clone, Debug)]
pub struct FitPlan {
    pub(super) keys: Vec<Key>,
    pub(super) width: usize,
    /// For each level its queries: the number of the key, and the start of its counts among those of a unit.
    pub(super) levels: Vec<Vec<(usize, usize)>>,
    /// For each level the comparison of a unit's own queries.
    within: Vec<Option<Arc<Within>>>,
}

impl FitPlan {
    /// The plan for the queries of all levels that are read.
    pub fn new(names: &Names) -> FitPlan {
        let mut plan = FitPlan { keys: Vec::new(), width: 0, levels: Vec::new(), within: Vec::new() };
        for level in 0..names.levels.len() {
            // Most levels have the same queries.
            let parts = |level: usize| names.queries(level).iter().map(|query| &query.parts).collect::<Vec<_>>();
            let same = (0..level).find(|other| parts(*other) == parts(level));
            plan.within.push(match same {
                Some(same) => plan.within[same].clone(),
                None => Within::new(names, level).map(Arc::new),
            });
            let (mut own, mut start) = (Vec::new(), 0);
            for query in names.queries(level) {
                let known = plan.keys.iter().position(|key| key.parts == query.parts);
                let key = known.unwrap_or_else(|| {
                    let (counts, place) = (query.counts(), plan.width);
                    let sums = counts.min(MOST_SUMS);
                    plan.width += sums;
                    let (name, parts) = (query.name.clone(), query.parts.clone());
                    plan.keys.push(Key { name, parts, counts, sums, place });
                    plan.keys.len() - 1
                });
                own.push((key, start));
                start += query.counts();
            }
            plan.levels.push(own);
        }
        plan
    }

    /// The number in place of a query for exact totals.
    pub(super) fn exact(&self) -> usize {
        self.keys.len()
    }

    /// The number in place of a query for least squares within units.
    pub(super) fn least_squares(&self) -> usize {
        self.keys.len() + 1
    }

    /// The sums of a query of a unit.
    fn fold(key: &Key, counts: &[f64], to: &mut Vec<f64>) {
        to.clear();
        to.resize(key.sums, 0.0);
        for chunk in counts.chunks(key.sums) {
            to.iter_mut().zip(chunk).for_each(|(to, count)| *to += count);
        }
    }
}

/// The representative of the counts of a unit: its own counts, or the sums of those below it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stand {
    pub(super) values: Vec<f64>,
    /// For each query variance and parameter, if there are counts.
    pub(super) noise: Vec<Option<(f64, f64)>>,
}

impl Stand {
    /// The sum over several units; without the queries that some of them lack.
    pub fn sum<'a>(stands: impl Iterator<Item = &'a Stand>) -> Stand {
        stands.fold(Stand::default(), |mut sum, own| {
            if sum.noise.is_empty() {
                return own.clone();
            }
            sum.values.iter_mut().zip(&own.values).for_each(|(sum, value)| *sum += value);
            let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
            let both = sum.noise.iter().zip(&own.noise);
            sum.noise = both.map(|(a, b)| a.zip(*b).map(|(a, b)| add(a, b))).collect();
            sum
        })
    }

    /// The total, by the query with the least noise.
    fn total(&self, plan: &FitPlan) -> Option<(f64, Noise)> {
        let of_key = |(key, noise): (&Key, &Option<(f64, f64)>)| {
            let (variance, proxy) = (*noise)?;
            let sum: f64 = self.values[key.range()].iter().sum();
            Some((sum, Noise { variance, proxy }.times(key.counts as f64)))
        };
        let all = plan.keys.iter().zip(&self.noise).filter_map(of_key);
        all.min_by(|a, b| a.1.variance.total_cmp(&b.1.variance))
    }
}

/// The sums over the residuals of a level and query.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Row {
    /// The level of the parents.
    pub(super) level: usize,
    /// The query; the number after the last one means exact totals, and the next one least squares within units.
    pub(super) key: usize,
    pub(super) residuals: u64,
    /// The sum of r^2 over variances.
    pub(super) statistic: f64,
    /// The sum of r^2 over the parameters sigma^2.
    pub(super) bounded: f64,
}

/// The largest residual, in standard deviations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Largest {
    pub(super) level: usize,
    pub(super) key: usize,
    /// The sum of the query.
    pub(super) sum: usize,
    pub(super) unit: String,
    pub(super) residual: f64,
    pub(super) variance: f64,
    /// r^2 over the sum of all sigma^2.
    pub(super) bounded: f64,
}

/// Residuals by level and query.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub(super) rows: Vec<Row>,
    pub(super) largest: Option<Largest>,
}

impl Tally {
    fn row(&mut self, level: usize, key: usize) -> &mut Row {
        let at = self.rows.iter().position(|row| (row.level, row.key) == (level, key));
        let at = at.unwrap_or_else(|| {
            self.rows.push(Row { level, key, ..Row::default() });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    /// Adds the residuals of a unit for one query, with their noise.
    fn add(&mut self, (level, key): (usize, usize), unit: &[u8], residuals: impl Iterator<Item = (f64, Noise)>) {
        let mut new = Row { level, key, ..Row::default() };
        for (sum, (residual, noise)) in residuals.enumerate() {
            let (square, variance) = (residual * residual, noise.variance);
            let bounded = square / noise.proxy;
            new.residuals += 1;
            new.statistic += square / variance;
            new.bounded += bounded;
            if self.largest.as_ref().is_none_or(|known| bounded > known.bounded) {
                let unit = String::from_utf8_lossy(unit).to_string();
                self.largest = Some(Largest { level, key, sum, unit, residual, variance, bounded });
            }
        }
        self.join_row(&new);
    }

    fn join_row(&mut self, new: &Row) {
        let row = self.row(new.level, new.key);
        row.residuals += new.residuals;
        row.statistic += new.statistic;
        row.bounded += new.bounded;
    }

    /// Adds the residuals of another tally.
    pub fn join(&mut self, other: &Tally) {
        other.rows.iter().for_each(|row| self.join_row(row));
        let bounded = |tally: &Tally| tally.largest.as_ref().map_or(-1.0, |largest| largest.bounded);
        if bounded(other) > bounded(self) {
            self.largest = other.largest.clone();
        }
    }

    /// Compares an exact total with the noisy counts.
    pub fn exact_total(&mut self, plan: &FitPlan, level: usize, unit: &str, stand: &Stand, total: i64) {
        if let Some((sum, noise)) = stand.total(plan) {
            self.add((level, plan.exact()), unit.as_bytes(), std::iter::once((sum - total as f64, noise)));
        }
    }

    /// Compares the queries of a unit with each other.
    fn own(&mut self, plan: &FitPlan, level: usize, unit: &UnitCounts, noise: &[Noise], inside: &mut Inside) {
        if let Some(within) = &plan.within[level] {
            let (statistic, bounded) = inside.statistic(level, within, &unit.counts, noise);
            let key = plan.least_squares();
            self.join_row(&Row { level, key, residuals: within.freedom(), statistic, bounded });
        }
    }

    /// Compares the counts of a unit with each other, and with the representative of those below it.
    pub fn unit(
        &mut self,
        plan: &FitPlan,
        level: usize,
        name: &str,
        unit: &UnitCounts,
        noise: &[Noise],
        below: &Stand,
    ) {
        self.own(plan, level, unit, noise, &mut Inside::default());
        let mut folded = Vec::new();
        for ((key, start), own) in plan.levels[level].iter().zip(noise) {
            let about = &plan.keys[*key];
            if let Some(Some((variance, proxy))) = below.noise.get(*key) {
                FitPlan::fold(about, &unit.counts[*start..start + about.counts], &mut folded);
                let all = Noise { variance: *variance, proxy: *proxy }.plus(*own);
                let pairs = folded.iter().zip(&below.values[about.range()]).enumerate();
                let residuals = pairs.map(|(sum, (value, below))| (below - value, all.times(about.size(sum))));
                self.add((level, *key), name.as_bytes(), residuals);
            }
        }
    }
}

/// The sums over the children of the units of a level.
#[derive(Default)]
struct LevelSums {
    values: Vec<f64>,
    noise: Vec<Noise>,
    /// The number of children with counts or a representative.
    have: Vec<u32>,
}

impl LevelSums {
    fn new(plan: &FitPlan, units: usize) -> LevelSums {
        let keys = units * plan.keys.len();
        LevelSums { values: vec![0.0; units * plan.width], noise: vec![NO_NOISE; keys], have: vec![0; keys] }
    }

    fn add(&mut self, plan: &FitPlan, unit: usize, key: usize, values: &[f64], noise: Noise) {
        let at = unit * plan.width + plan.keys[key].place;
        self.values[at..at + values.len()].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        let at = unit * plan.keys.len() + key;
        self.noise[at] = self.noise[at].plus(noise);
        self.have[at] += 1;
    }

    /// The sums of a query over `children` children, if all of them have it.
    fn sums_of(&self, plan: &FitPlan, unit: usize, key: usize, children: u32) -> Option<(&[f64], Noise)> {
        let at = unit * plan.keys.len() + key;
        let start = unit * plan.width + plan.keys[key].place;
        let complete = children > 0 && self.have.get(at) == Some(&children);
        complete.then(|| (&self.values[start..start + plan.keys[key].sums], self.noise[at]))
    }
}

/// A part of a state, whose units are read from the lowest level upwards.
pub struct Walk<'a> {
    plan: &'a FitPlan,
    units: &'a PartUnits,
    /// The level of the part among those of the release.
    first: usize,
    level: usize,
    parents: Vec<u32>,
    seen: Vec<bool>,
    /// The sums over the children of the units of this level, and of the level above.
    below: LevelSums,
    above: LevelSums,
    folded: Vec<f64>,
    inside: Inside,
    tally: Tally,
}

impl<'a> Walk<'a> {
    /// No units yet.
    pub fn new(plan: &'a FitPlan, units: &'a PartUnits, first: usize) -> Walk<'a> {
        let level = units.codes.len() - 1;
        let mut walk = Walk {
            plan,
            units,
            first,
            level,
            parents: Vec::new(),
            seen: Vec::new(),
            below: LevelSums::default(),
            above: LevelSums::default(),
            folded: Vec::new(),
            inside: Inside::default(),
            tally: Tally::default(),
        };
        walk.begin();
        walk
    }

    fn begin(&mut self) {
        self.seen = vec![false; self.units.codes[self.level].len()];
        self.parents = if self.level == 0 { vec![0] } else { self.units.tree.parents(self.level) };
        let above = self.level.checked_sub(1).map_or(1, |above| self.units.codes[above].len());
        self.above = LevelSums::new(self.plan, above);
    }

    fn children(&self, unit: usize) -> u32 {
        let is_lowest = self.level + 1 == self.units.codes.len();
        if is_lowest { 0 } else { self.units.tree.children(self.level, unit).len() as u32 }
    }

    /// Passes the representative of a unit to the level above, except for some queries.
    fn pass_on(&mut self, unit: usize, besides: &[(usize, usize)]) {
        let (plan, children, parent) = (self.plan, self.children(unit), self.parents[unit] as usize);
        for key in (0..plan.keys.len()).filter(|key| besides.iter().all(|(own, _)| own != key)) {
            if let Some((values, noise)) = self.below.sums_of(plan, unit, key, children) {
                self.above.add(plan, parent, key, values, noise);
            }
        }
    }

    fn rise(&mut self) {
        for unit in 0..self.seen.len() {
            if !self.seen[unit] {
                self.pass_on(unit, &[]);
            }
        }
        self.below = std::mem::take(&mut self.above);
        if self.level > 0 {
            self.level -= 1;
            self.begin();
        }
    }

    /// Adds a unit of this level or of one above it; `noise` is the noise of each query of the level.
    pub fn observe(&mut self, level: usize, unit: &UnitCounts, noise: &[Noise]) {
        while self.level > level {
            self.rise();
        }
        let (plan, own) = (self.plan, unit.unit);
        let (children, parent) = (self.children(own), self.parents[own] as usize);
        self.tally.own(plan, self.first + level, unit, noise, &mut self.inside);
        let asked = &plan.levels[self.first + level];
        for ((key, start), noise) in asked.iter().zip(noise) {
            let about = &plan.keys[*key];
            FitPlan::fold(about, &unit.counts[*start..start + about.counts], &mut self.folded);
            if let Some((sums, below)) = self.below.sums_of(plan, own, *key, children) {
                let all = below.plus(*noise);
                let pairs = self.folded.iter().zip(sums).enumerate();
                let residuals = pairs.map(|(sum, (value, below))| (below - value, all.times(about.size(sum))));
                self.tally.add((self.first + level, *key), self.units.codes[level].get(own), residuals);
            }
            self.above.add(plan, parent, *key, &self.folded, *noise);
        }
        self.pass_on(own, asked);
        self.seen[own] = true;
    }

    /// All residuals, and the representative of the part.
    pub fn finish(mut self) -> (Tally, Stand) {
        while self.level > 0 {
            self.rise();
        }
        self.rise();
        let keys = 0..self.plan.keys.len();
        let noise =
            keys.map(|key| self.below.sums_of(self.plan, 0, key, 1).map(|(_, noise)| (noise.variance, noise.proxy)));
        let noise = noise.collect();
        (self.tally, Stand { values: self.below.values, noise })
    }
}

/// The kept data of a state for the fit of the whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StateFit {
    /// Its residuals.
    pub tally: Tally,
    /// The representative of each of its parts.
    pub parts: Vec<Stand>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_queries_keep_all_their_counts() {
        let key = Key { name: "q".into(), parts: Vec::new(), counts: 130, sums: 64, place: 0 };
        let counts: Vec<f64> = (0..130).map(f64::from).collect();
        let mut folded = Vec::new();
        FitPlan::fold(&key, &counts, &mut folded);
        assert_eq!((folded[0], folded[1], folded[63]), (0.0 + 64.0 + 128.0, 1.0 + 65.0 + 129.0, 63.0 + 127.0));
        assert_eq!((0..64).map(|sum| key.size(sum)).sum::<f64>(), 130.0);
        assert_eq!((key.size(0), key.size(2)), (3.0, 2.0));
    }
}
