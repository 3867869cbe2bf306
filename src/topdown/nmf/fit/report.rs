//! Report on the residuals of a folder: statistics, p-values and the proven bound.

use std::collections::BTreeMap;

use super::{
    residuals::{FitPlan, Key, Row, Tally},
    tails::{ln_largest_bound, ln_tail_bound},
};
use crate::{
    audit::asymptotic::chi_square_tail_approx,
    topdown::nmf::{labels::Labels, names::Names},
};

/// A folder with a corrected p-value below this does not fit.
pub const THRESHOLD: f64 = 1e-9;

/// Residuals of a level and query, or of all queries of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct FitRow {
    /// The level of the parents.
    pub level: String,
    /// The query; `exact total` for exact totals, `least squares` for the queries of single units.
    pub query: String,
    /// The number of residuals: the degrees of freedom.
    pub residuals: u64,
    /// The sum of their squares over their variances.
    pub chi_square: f64,
    /// The probability of a larger sum under normal noise: an approximation.
    pub p_asymptotic: f64,
    /// Upper bound on the logarithm of the probability of a larger sum, for any counts.
    pub ln_p: f64,
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
    /// The residual in standard deviations.
    pub fn z(&self) -> f64 {
        self.residual / self.std_dev
    }

    /// A description in words.
    pub fn words(&self) -> String {
        let unit = if self.unit.is_empty() { self.level.clone() } else { format!("{} {}", self.level, self.unit) };
        let cells = if self.cells.is_empty() { String::new() } else { format!(" ({})", self.cells) };
        let (residual, z) = (self.residual, self.z());
        let than = if self.query == EXACT { "its exact total" } else { "its own count" };
        format!(
            "{unit}, {}{cells}: the sum below it is {residual:+} from {than}, {z:+.1} standard deviations",
            self.query
        )
    }
}

/// The name of the comparison with exact totals.
const EXACT: &str = "exact total";
/// The name of the comparison of the queries of single units.
const LEAST_SQUARES: &str = "least squares";

/// The fit of a folder.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// By level and query, from the root.
    pub rows: Vec<FitRow>,
    /// By level: children and parents, all queries together, and exact totals by themselves. Residuals of a row share no noisy count.
    pub levels: Vec<FitRow>,
    /// By level: the least squares of the counts of each unit alone, whose queries answer the same cells.
    pub within: Vec<FitRow>,
    /// The largest residual, if there is any.
    pub largest: Option<LargestResidual>,
    /// The number of tests in the corrected p-value: statistics and residuals.
    pub tests: u64,
    /// The least of the bounds of single tests, as a natural logarithm.
    ln_least: f64,
    /// Upper bound on the natural logarithm of the corrected p-value, for any counts.
    pub ln_p: f64,
    /// The test with the least bound, in words.
    pub worst: String,
}

/// The sums of the rows of each level. An exact total is compared with counts that are in the residuals of its level as well: it is a row of its own.
fn sums_by_level(rows: &[&Row], plan: &FitPlan) -> Vec<Row> {
    let mut by_level: BTreeMap<(usize, bool), Row> = BTreeMap::new();
    for row in rows {
        let is_exact = row.key == plan.exact();
        let all =
            by_level.entry((row.level, is_exact)).or_insert(Row { level: row.level, key: row.key, ..Row::default() });
        all.residuals += row.residuals;
        all.statistic += row.statistic;
        all.bounded += row.bounded;
    }
    by_level.into_values().collect()
}

impl FitReport {
    /// The fit from all residuals.
    pub fn new(plan: &FitPlan, names: &Names, tally: &Tally) -> FitReport {
        let query = |key: usize| match plan.keys.get(key) {
            Some(key) => key.name.clone(),
            None if key == plan.exact() => EXACT.to_string(),
            None => LEAST_SQUARES.to_string(),
        };
        let mut sorted = tally.rows.clone();
        sorted.sort_by_key(|row| (row.level, row.key));
        let row = |row: &Row| FitRow {
            level: names.levels[row.level].clone(),
            query: query(row.key),
            residuals: row.residuals,
            chi_square: row.statistic,
            p_asymptotic: chi_square_tail_approx(row.residuals, row.statistic),
            ln_p: ln_tail_bound(row.residuals, row.bounded),
        };
        let (inside, between): (Vec<&Row>, Vec<&Row>) = sorted.iter().partition(|row| row.key == plan.least_squares());
        let by_level = sums_by_level(&between, plan);
        let level = |all: &Row| match row(all) {
            exact if all.key == plan.exact() => exact,
            other => FitRow { query: String::new(), ..other },
        };
        // A statistic of least squares is one test; of the others every residual is one, too.
        let of_row = |row: &Row| if row.key == plan.least_squares() { 1 } else { row.residuals + 1 };
        let tests = sorted.iter().map(of_row).sum::<u64>();
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
        let ln_least = least.map_or(0.0, |(ln_p, _)| ln_p);
        let worst = match least {
            None => String::new(),
            Some((_, Some(row))) => format!("{} {}", names.levels[row.level], query(row.key)),
            Some((_, None)) => largest.as_ref().map_or_else(String::new, LargestResidual::words),
        };
        FitReport {
            rows: sorted.iter().map(row).collect(),
            levels: by_level.iter().map(level).collect(),
            within: inside.into_iter().map(level).collect(),
            largest,
            tests,
            ln_least,
            ln_p: corrected(ln_least, tests),
            worst,
        }
    }

    /// With the residuals of exact totals of areas, each of which is one more test.
    pub(in crate::topdown::nmf) fn with_areas(mut self, areas: &[AreaResidual]) -> FitReport {
        if areas.is_empty() {
            return self;
        }
        self.tests += areas.len() as u64;
        for area in areas {
            let largest = area.largest();
            if area.ln_p() < self.ln_least {
                (self.ln_least, self.worst) = (area.ln_p(), largest.words());
            }
            if self.largest.as_ref().is_none_or(|known| known.z().abs() < largest.z().abs()) {
                self.largest = Some(largest);
            }
        }
        self.ln_p = corrected(self.ln_least, self.tests);
        // Each total is compared with what the earlier ones left, so that the squares add up as those of independent normals.
        let sum = |square: &dyn Fn(&AreaResidual) -> f64| areas.iter().map(square).sum::<f64>();
        let (residuals, chi_square) = (areas.len() as u64, sum(&AreaResidual::square));
        let row = FitRow {
            level: AREA.to_string(),
            query: EXACT.to_string(),
            residuals,
            chi_square,
            p_asymptotic: chi_square_tail_approx(residuals, chi_square),
            ln_p: ln_tail_bound(residuals, sum(&|area| area.bounded)),
        };
        self.levels.push(row.clone());
        self.rows.push(row);
        self
    }

    /// Whether such residuals have a probability below the threshold under the declared noise laws.
    pub fn is_misfit(&self) -> bool {
        self.ln_p < libm::log(THRESHOLD)
    }

    /// Upper bound on the corrected p-value; 0 if it is too small for a double.
    pub fn p_bound(&self) -> f64 {
        libm::exp(self.ln_p)
    }

    /// The bound as displayed.
    pub fn p_shown(&self) -> String {
        match self.ln_p {
            ln_p if ln_p >= -0.005 => "1".to_string(),
            ln_p if ln_p > -230.0 => format!("{:.1e}", libm::exp(ln_p)),
            ln_p => format!("1e{:.0}", (ln_p / std::f64::consts::LN_10).ceil()),
        }
    }

    /// All residuals in words: their number and their mean square. That of each is 1, so that 1 is expected of the mean as well; residuals of
    /// neighboring levels share noisy counts, so that their sum has no chi-square law.
    pub fn mean_square(&self) -> String {
        let (residuals, squares) =
            self.levels.iter().fold((0, 0.0), |sum: (u64, f64), row| (sum.0 + row.residuals, sum.1 + row.chi_square));
        match residuals {
            0 => "no residuals".to_string(),
            1 => format!("1 residual with a square of {squares:.3} variances (1 expected)"),
            many => {
                format!("{many} residuals with a mean square of {:.3} variances (1 expected)", squares / many as f64)
            }
        }
    }

    /// Whether noisy counts were compared with others.
    pub fn is_empty(&self) -> bool {
        self.levels.iter().all(|row| row.residuals == 0)
    }
}

/// A bound on a probability, times the number of tests.
fn corrected(ln_p: f64, tests: u64) -> f64 {
    (ln_p + libm::log(tests.max(1) as f64)).min(0.0)
}

/// The name of the level of areas.
const AREA: &str = "area";

/// The exact total of an area beside the one that the noisy counts give, with all earlier totals.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::topdown::nmf) struct AreaResidual {
    /// The number of the area.
    pub(in crate::topdown::nmf) area: u32,
    /// Its name.
    pub(in crate::topdown::nmf) name: String,
    /// The total that the noisy counts give, minus the exact one.
    pub(in crate::topdown::nmf) residual: f64,
    /// Its variance.
    pub(in crate::topdown::nmf) variance: f64,
    /// Lower bound on the square of the residual over the parameter that bounds its tails.
    pub(in crate::topdown::nmf) bounded: f64,
}

impl AreaResidual {
    fn square(&self) -> f64 {
        self.residual * self.residual / self.variance
    }

    /// Upper bound on the logarithm of the probability of such a residual, before correction. The residual is a weighted sum of
    /// counts, each with E exp(t X) <= exp(t^2 sigma^2 / 2), so P(|r| >= z s) <= 2 exp(-z^2 / 2) holds for it as for single counts.
    pub(in crate::topdown::nmf) fn ln_p(&self) -> f64 {
        ln_largest_bound(self.bounded)
    }

    fn largest(&self) -> LargestResidual {
        LargestResidual {
            level: AREA.to_string(),
            unit: self.name.clone(),
            query: EXACT.to_string(),
            cells: String::new(),
            residual: self.residual,
            std_dev: self.variance.sqrt(),
        }
    }
}

/// The counts of a query in a sum, in words.
fn cells(names: &Names, key: &Key, sum: usize) -> String {
    if key.counts != key.sums {
        return format!("a sum of {} of its {} counts", key.size(sum), key.counts);
    }
    Labels::stored(names.schema(), &key.name).map(|labels| labels.words(sum)).unwrap_or_default()
}
