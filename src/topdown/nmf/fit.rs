//! Whether the noisy counts of a folder fit each other: the sum of the counts of a unit's children differs from the
//! counts of the unit by noise of a known law. A level whose values are a hundred times too large, a damaged count, two
//! vintages in one folder or a missing state leave residuals that noise does not explain.
//!
//! For a query with counts y_c of the children and y_p of the parent a residual is r = sum of y_c - y_p. Its variance
//! is the sum of all their variances, as the release gives them. A bypassed unit has no counts: the sum over its
//! children replaces them. Queries with many counts are folded: count i is added to sum number i modulo 64, so that a
//! query takes the memory of 64 numbers.
//!
//! Each pair (level, query) gives two statements. Its statistic, the sum of r^2 / Var(r) over all units and counts,
//! approximately has a chi-square law with one degree of freedom per residual (residuals are independent: no two share
//! a noisy count). The p-value from this law is called asymptotic. The decision uses a proven bound: noise on the
//! integers with parameter sigma^2 has E exp(t X) <= exp(t^2 sigma^2 / 2) (Canonne, Kamath & Steinke 2020, Corollary
//! 17), and so has a residual with s^2, the sum of all sigma^2. Then, with an auxiliary standard normal variable g, E
//! exp(l r^2 / s^2) = E exp(sqrt(2 l) g r / s) <= E exp(l g^2) = (1 - 2 l)^(-1/2) for 0 <= l < 1/2, as if r were
//! normal. By Markov's inequality at the best l, for n residuals and T their sum of r^2 / s^2,
//!
//! P(T >= t) <= exp(-(n / 2) (t / n - 1 - ln(t / n))) for t >= n,   P(|r| >= z s) <= 2 exp(-z^2 / 2).
//!
//! The least of all these bounds, times the number of tests (Bonferroni), is the corrected p-value; below 1e-9 the
//! folder does not fit.

use std::collections::BTreeMap;

use rug::Float;
use serde::{Deserialize, Serialize};

use super::{
    labels::Labels,
    names::Names,
    noise::{NO_NOISE, Noise},
    units::PartUnits,
};
use crate::topdown::gls::{basis::Part, pass::UnitCounts};

/// A folder with a corrected p-value below this does not fit.
pub const THRESHOLD: f64 = 1e-9;
/// Maximum number of sums of a query.
const MOST_SUMS: usize = 64;
/// Upper bound on the relative error of sums in doubles and of variances rounded to floats: statistics are reduced by
/// it before a decision.
const ROUNDING: f64 = 1e-6;

/// A query of any level.
#[derive(Clone, Debug)]
struct Key {
    name: String,
    parts: Vec<Part>,
    counts: usize,
    sums: usize,
    /// The start of its sums among those of a unit.
    place: usize,
}

impl Key {
    /// The number of counts in a sum.
    fn size(&self, sum: usize) -> f64 {
        (self.counts / self.sums + usize::from(sum < self.counts % self.sums)) as f64
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.place..self.place + self.sums
    }
}

/// The compared queries: those that levels have in common.
#[derive(Clone, Debug)]
pub struct FitPlan {
    keys: Vec<Key>,
    width: usize,
    /// For each level its queries: the number of the key, and the start of its counts among those of a unit.
    levels: Vec<Vec<(usize, usize)>>,
}

impl FitPlan {
    /// The plan for the queries of all levels that are read.
    pub fn new(names: &Names) -> FitPlan {
        let mut plan = FitPlan { keys: Vec::new(), width: 0, levels: Vec::new() };
        for level in 0..names.levels.len() {
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
    values: Vec<f64>,
    /// For each query variance and parameter, if there are counts.
    noise: Vec<Option<(f64, f64)>>,
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
struct Row {
    /// The level of the parents.
    level: usize,
    /// The query; the number after the last one means exact totals.
    key: usize,
    residuals: u64,
    /// The sum of r^2 over variances.
    statistic: f64,
    /// The sum of r^2 over the parameters sigma^2.
    bounded: f64,
}

/// The largest residual, in standard deviations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Largest {
    level: usize,
    key: usize,
    /// The sum of the query.
    sum: usize,
    unit: String,
    residual: f64,
    variance: f64,
    /// r^2 over the sum of all sigma^2.
    bounded: f64,
}

/// Residuals by level and query.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    rows: Vec<Row>,
    largest: Option<Largest>,
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
            self.add((level, plan.keys.len()), unit.as_bytes(), std::iter::once((sum - total as f64, noise)));
        }
    }

    /// Compares the counts of a unit with the representative of those below it.
    pub fn unit(
        &mut self,
        plan: &FitPlan,
        level: usize,
        name: &str,
        unit: &UnitCounts,
        noise: &[Noise],
        below: &Stand,
    ) {
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
    fn of(&self, plan: &FitPlan, unit: usize, key: usize, children: u32) -> Option<(&[f64], Noise)> {
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
            if let Some((values, noise)) = self.below.of(plan, unit, key, children) {
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
    pub fn see(&mut self, level: usize, unit: &UnitCounts, noise: &[Noise]) {
        while self.level > level {
            self.rise();
        }
        let (plan, own) = (self.plan, unit.unit);
        let (children, parent) = (self.children(own), self.parents[own] as usize);
        let asked = &plan.levels[self.first + level];
        for ((key, start), noise) in asked.iter().zip(noise) {
            let about = &plan.keys[*key];
            FitPlan::fold(about, &unit.counts[*start..start + about.counts], &mut self.folded);
            if let Some((sums, below)) = self.below.of(plan, own, *key, children) {
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
        let noise = keys.map(|key| self.below.of(self.plan, 0, key, 1).map(|(_, noise)| (noise.variance, noise.proxy)));
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

/// Residuals of a level and query, or of all queries of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct FitRow {
    /// The level of the parents.
    pub level: String,
    /// The query; `exact total` for exact totals.
    pub query: String,
    /// The number of residuals: the degrees of freedom.
    pub residuals: u64,
    /// The sum of their squares over their variances.
    pub chi_square: f64,
    /// The probability of a larger sum under normal noise: an approximation.
    pub p_asymptotic: f64,
}

/// The largest residual in standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct LargestResidual {
    /// The level of the unit.
    pub level: String,
    /// The code of the unit; empty for the nation.
    pub unit: String,
    /// The query.
    pub query: String,
    /// The count, in words; empty for a total.
    pub cells: String,
    /// The sum of the children's counts minus the unit's own.
    pub residual: f64,
    /// Its standard deviation.
    pub std_dev: f64,
}

impl LargestResidual {
    /// A description in words.
    pub fn words(&self) -> String {
        let unit = if self.unit.is_empty() { self.level.clone() } else { format!("{} {}", self.level, self.unit) };
        let cells = if self.cells.is_empty() { String::new() } else { format!(" ({})", self.cells) };
        let (residual, z) = (self.residual, self.residual / self.std_dev);
        let than = if self.query == EXACT { "its exact total" } else { "its own count" };
        format!(
            "{unit}, {}{cells}: the sum below it is {residual:+} from {than}, {z:+.1} standard deviations",
            self.query
        )
    }
}

/// The name of the comparison with exact totals.
const EXACT: &str = "exact total";

/// The fit of a folder.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// By level and query, from the root.
    pub rows: Vec<FitRow>,
    /// By level.
    pub levels: Vec<FitRow>,
    /// The largest residual, if there is any.
    pub largest: Option<LargestResidual>,
    /// The number of tests in the corrected p-value: statistics and residuals.
    pub tests: u64,
    /// Upper bound on the natural logarithm of the corrected p-value, for any counts.
    pub ln_p: f64,
    /// The test with the least bound, in words.
    pub worst: String,
}

impl FitReport {
    /// The fit from all residuals.
    pub fn new(plan: &FitPlan, names: &Names, tally: &Tally) -> FitReport {
        let query = |key: usize| plan.keys.get(key).map_or(EXACT.to_string(), |key| key.name.clone());
        let mut sorted = tally.rows.clone();
        sorted.sort_by_key(|row| (row.level, row.key));
        let row = |row: &Row| FitRow {
            level: names.levels[row.level].clone(),
            query: query(row.key),
            residuals: row.residuals,
            chi_square: row.statistic,
            p_asymptotic: chi_square_tail_approx(row.residuals, row.statistic),
        };
        let mut by_level: BTreeMap<usize, (u64, f64)> = BTreeMap::new();
        for row in &sorted {
            let all = by_level.entry(row.level).or_default();
            *all = (all.0 + row.residuals, all.1 + row.statistic);
        }
        let level = |(level, (residuals, chi_square)): (usize, (u64, f64))| FitRow {
            level: names.levels[level].clone(),
            query: String::new(),
            residuals,
            chi_square,
            p_asymptotic: chi_square_tail_approx(residuals, chi_square),
        };
        let tests = sorted.iter().map(|row| row.residuals + 1).sum::<u64>();
        let largest = tally.largest.as_ref().map(|largest| LargestResidual {
            level: names.levels[largest.level].clone(),
            unit: largest.unit.clone(),
            query: query(largest.key),
            cells: plan.keys.get(largest.key).map_or(String::new(), |key| cells(names, key, largest.sum)),
            residual: largest.residual,
            std_dev: largest.variance.sqrt(),
        });
        let of_rows = sorted.iter().map(|row| (ln_tail_bound(row.residuals, row.bounded), Some(row)));
        let of_largest = tally.largest.iter().map(|largest| (ln_largest_bound(largest.bounded), None));
        let least = of_rows.chain(of_largest).min_by(|a, b| a.0.total_cmp(&b.0));
        let ln_p = least.map_or(0.0, |(ln_p, _)| (ln_p + (tests.max(1) as f64).ln()).min(0.0));
        let worst = match least {
            None => String::new(),
            Some((_, Some(row))) => format!("{} {}", names.levels[row.level], query(row.key)),
            Some((_, None)) => largest.as_ref().map_or_else(String::new, LargestResidual::words),
        };
        FitReport {
            rows: sorted.iter().map(row).collect(),
            levels: by_level.into_iter().map(level).collect(),
            largest,
            tests,
            ln_p,
            worst,
        }
    }

    /// Whether such residuals have a probability below the threshold under the declared noise laws.
    pub fn is_misfit(&self) -> bool {
        self.ln_p < THRESHOLD.ln()
    }

    /// Upper bound on the corrected p-value; 0 if it is too small for a double.
    pub fn p_bound(&self) -> f64 {
        self.ln_p.exp()
    }

    /// The bound as displayed.
    pub fn p_shown(&self) -> String {
        match self.ln_p {
            ln_p if ln_p >= -0.005 => "1".to_string(),
            ln_p if ln_p > -230.0 => format!("{:.1e}", ln_p.exp()),
            ln_p => format!("1e{:.0}", (ln_p / std::f64::consts::LN_10).ceil()),
        }
    }

    /// The degrees of freedom and the statistic of all levels together.
    pub fn whole(&self) -> (u64, f64) {
        self.levels.iter().fold((0, 0.0), |sum, row| (sum.0 + row.residuals, sum.1 + row.chi_square))
    }
}

/// The counts of a query in a sum, in words.
fn cells(names: &Names, key: &Key, sum: usize) -> String {
    if key.counts != key.sums {
        return format!("a sum of {} of its {} counts", key.size(sum), key.counts);
    }
    Labels::stored(names.schema(), &key.name).map(|labels| labels.words(sum)).unwrap_or_default()
}

/// An upper bound on the logarithm of P(T >= t) for a sum T of n squares as above.
fn ln_tail_bound(n: u64, t: f64) -> f64 {
    let n = n as f64;
    let ratio = t * (1.0 - ROUNDING) / n;
    // At a ratio of at most 1 the bound is 1.
    if ratio > 1.0 { -(n / 2.0) * (ratio - 1.0 - ratio.ln()) } else { 0.0 }
}

/// An upper bound on the logarithm of P(|r| >= z s), given z^2.
fn ln_largest_bound(z2: f64) -> f64 {
    (2_f64.ln() - z2 * (1.0 - ROUNDING) / 2.0).min(0.0)
}

/// The probability of more than t under the chi-square law with n degrees of freedom: an approximation.
fn chi_square_tail_approx(n: u64, t: f64) -> f64 {
    const PRECISION: u32 = 64;
    // With this many degrees of freedom the cube root is normal to four digits (Wilson & Hilferty 1931).
    const MANY: u64 = 2000;
    if n == 0 {
        return 1.0;
    }
    if n <= MANY {
        return upper_gamma_share_approx(n as f64 / 2.0, t / 2.0);
    }
    let spread = 2.0 / (9.0 * n as f64);
    let z = ((t / n as f64).cbrt() - (1.0 - spread)) / spread.sqrt();
    (Float::with_val(PRECISION, z / 2_f64.sqrt()).erfc() / 2_u32).to_f64()
}

/// The upper regularized incomplete gamma function with parameter a at x, in doubles: by the series of its complement
/// up to x = a + 1, above by the continued fraction (Abramowitz & Stegun 6.5.29 and 6.5.31).
fn upper_gamma_share_approx(a: f64, x: f64) -> f64 {
    const MOST_TERMS: u32 = 10_000;
    const SMALL: f64 = 1e-15;
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    let ln_gamma = Float::with_val(64, a).ln_gamma().to_f64();
    let front = (a * x.ln() - x - ln_gamma).exp();
    if front == 0.0 && x > a {
        return 0.0;
    }
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MOST_TERMS {
            term *= x / (a + f64::from(k));
            sum += term;
            if term < sum * SMALL {
                break;
            }
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    // Evaluated from its beginning, by Lentz's method.
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for k in 1..MOST_TERMS {
        let k = f64::from(k);
        let step = -k * (k - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        fraction *= d * c;
        if (d * c - 1.0).abs() < SMALL {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_tables_and_are_below_their_bounds() {
        // Chi-square tables: 3.841 at one degree, 18.307 at ten, 124.342 at a hundred.
        for (n, t) in [(1, 3.841_459), (10, 18.307_04), (100, 124.342_11)] {
            assert!((chi_square_tail_approx(n, t) - 0.05).abs() < 1e-6, "{n}");
        }
        // Both methods agree where they meet.
        let (near, far) = (chi_square_tail_approx(2000, 2200.0), chi_square_tail_approx(2001, 2201.0));
        assert!((near / far - 1.0).abs() < 0.02, "{near} {far}");
        for n in [1, 5, 60, 1000, 100_000] {
            for factor in [1.01, 1.5, 4.0, 100.0] {
                let t = n as f64 * factor;
                let tail = chi_square_tail_approx(n, t);
                assert!(ln_tail_bound(n, t).exp() >= tail * 0.999, "{n} {factor}");
            }
        }
        assert_eq!((ln_tail_bound(7, 3.0), ln_largest_bound(0.5)), (0.0, 0.0));
        assert!(ln_largest_bound(100.0) < -49.0);
    }

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
