//! Claims about SafeTab, as data.

use serde::{Deserialize, Serialize};

use super::{
    renyi::Renyi,
    settings::{Budgets, CountKind, PersonGroups},
};
use crate::safetab::{cell_noise::NoiseKind, tables::PublishedTable};

/// The recomputation of a value about SafeTab. Budgets and probabilities are text: exact numbers. A `rho` or an
/// `epsilon` is the total of a level; gamma, stability and delta are those of the paper's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SafetabClaim {
    /// A sum of exact numbers.
    Sum {
        /// The numbers.
        terms: Vec<String>,
    },
    /// The budget of a level by the papers' formula for its margin.
    FormulaBudget {
        /// The noise.
        mechanism: NoiseLaw,
        /// The margin.
        moe: u32,
        /// The part of the budget.
        part: BudgetPart,
    },
    /// The same with stability / gamma instead of stability / (1 - gamma).
    TextBudget {
        /// The margin.
        moe: u32,
    },
    /// A part of a rounded total, with 1.96^2 / 2 instead of 1.92 for Gaussian noise.
    RoundedBudget {
        /// The noise.
        mechanism: NoiseLaw,
        /// The margin.
        moe: u32,
        /// The decimals of the total.
        decimals: u32,
        /// Whether the total is truncated instead of rounded.
        #[serde(default)]
        cut: bool,
        /// The part of the budget.
        part: BudgetPart,
    },
    /// A part of a given total, times the number of records that differ.
    Share {
        /// The total.
        total: String,
        /// The part of the budget.
        part: BudgetPart,
        /// 1, or 2 for bounded neighbors.
        records: u32,
    },
    /// The least budget of a level, rounded to `decimals`, whose exact margin is at most a target.
    LeastBudget {
        /// The noise.
        mechanism: NoiseLaw,
        /// The margin.
        moe: u32,
        /// The decimals of the total.
        decimals: u32,
    },
    /// The exact margin of a count of a level.
    Margin {
        /// The noise.
        mechanism: NoiseLaw,
        /// The total budget.
        budget: String,
        /// The kind of count.
        count: CountKind,
    },
    /// The exact margin of the geometric mechanism with a scale b = 1 / epsilon.
    MarginOfScale {
        /// b.
        scale: String,
    },
    /// The coverage of a margin, in percent.
    Coverage {
        /// The noise.
        mechanism: NoiseLaw,
        /// The total budget; if absent, by the papers' formula for the target, not rounded.
        budget: Option<String>,
        /// The target margin of that formula.
        target: Option<u32>,
        /// The kind of count.
        count: CountKind,
        /// The margin; if absent, that of the formula.
        moe: Option<i64>,
    },
    /// The coverage of a margin, in percent, with its budget by the formula.
    FormulaCoverage {
        /// The noise.
        mechanism: NoiseLaw,
        /// The margin.
        moe: u32,
    },
    /// rho + 2 sqrt(rho ln(1 / delta)) of all levels.
    Analytic {},
    /// The conversion of rho at the best order of the paper's grid.
    Experimental {},
    /// The conversion of the geometric mechanism's Renyi divergences at the best order of the paper's grid.
    GeometricRenyi {
        /// The divergence.
        renyi: Renyi,
        /// The kinds of groups that contain a person.
        groups: PersonGroups,
        /// Another stability.
        stability: Option<u32>,
    },
    /// Whether the divergence of Lemma 8 is an upper bound on the true one.
    LemmaHolds {
        /// The order.
        order: String,
        /// The epsilon of a count.
        epsilon: String,
    },
    /// The exact epsilon of all levels.
    Exact {
        /// The noise.
        mechanism: NoiseLaw,
        /// The budgets.
        budgets: Budgets,
        /// The kinds of groups that contain a person.
        groups: PersonGroups,
    },
    /// The difference between the first and the second value, in percent of the first.
    Gain {
        /// The first.
        first: Box<SafetabClaim>,
        /// The second.
        second: Box<SafetabClaim>,
    },
    /// The reduction of the noise of a count with another stability, at the same budget, in percent.
    NoiseGain {
        /// The number of race codes before.
        from: u32,
        /// The number of race codes after.
        to: u32,
    },
    /// The stability for a number of race codes.
    Stability {
        /// The number of race codes.
        race_codes: u32,
    },
    /// The threshold of suppression.
    Threshold {
        /// The rho of the level.
        rho: String,
    },
    /// The probability that an empty group is suppressed, in percent.
    Suppressed {
        /// The rho of the level.
        rho: String,
        /// Whether suppression applies only to counts below the threshold, not to counts equal to it.
        below: bool,
    },
    /// Whether groups whose size is the same share of the threshold are treated the same at two budgets.
    Alike {
        /// The rho of both levels.
        rhos: [String; 2],
        /// The size as a share of the threshold.
        fraction: String,
        /// Compares their bias as a share of the threshold; otherwise their probability of suppression.
        bias: bool,
    },
    /// Whether formula (13) is the bias.
    BiasFormula {
        /// The rho of the level.
        rho: String,
        /// The number of people.
        size: u64,
        /// Reads phi and Phi as the masses of the noise itself; otherwise as those of the continuous normal distribution.
        discrete: bool,
    },
    /// The bias of a published total, or formula (13) for it.
    Bias {
        /// The rho of the level.
        rho: String,
        /// The number of people.
        size: u64,
        /// As it is computed.
        by: BiasBy,
    },
    /// The number of levels of the paper.
    Levels {},
    /// The number of levels with groups of which only the total is published.
    TotalOnlyLevels {},
    /// Whether each tail of the discrete Gaussian is at most that of the continuous one starting one integer before
    /// (Proposition 1).
    BelowContinuous {
        /// The variance proxies.
        sigma2: Vec<String>,
        /// Tails from 1 to this number.
        most: i64,
    },
    /// Whether `P[X > y]` of the geometric mechanism is exp(-y / b) / (1 + exp(1 / b)).
    TailByFormula {
        /// Values of exp(-1 / b).
        ratios: Vec<String>,
        /// Checks y from 0 to this number.
        most: u32,
    },
    /// The probability that the noise of a level is within the formula's margin of a number, in percent.
    Interval {
        /// The noise.
        mechanism: NoiseLaw,
        /// The total budget.
        budget: String,
        /// The kind of count.
        count: CountKind,
        /// The number.
        center: i64,
    },
    /// Whether the geometric mechanism's Renyi divergences are at most epsilon^2 / 2 times the order.
    HalfSquare {
        /// The epsilons of a count.
        epsilons: Vec<String>,
        /// The orders, above 1.
        orders: Vec<String>,
    },
    /// The epsilon by zCDP with epsilon^2 / 2 for each count of the geometric mechanism, at the best order of the
    /// paper's grid.
    GeometricZcdp {},
    /// Whether the bias falls with the size of a group, and stays above zero.
    BiasFalls {
        /// The rho of the level.
        rho: String,
        /// Sizes from 0 to this multiple of the threshold.
        times: u64,
    },
    /// Whether the Renyi divergences of independent counts of the geometric mechanism add up.
    DivergencesAdd {
        /// Their epsilons.
        epsilons: Vec<String>,
        /// The orders, above 1.
        orders: Vec<String>,
    },
    /// Whether `SafeTab[Geometric]` with the printed totals satisfies Theorem 2 at an order.
    TheoremTwo {
        /// The order, above 1.
        order: String,
    },
    /// Whether equation (5) gives delta at the epsilon of equation (6).
    #[serde(rename = "equations-5-and-6")]
    Equations5And6 {
        /// The divergences.
        taus: Vec<String>,
        /// The orders, above 1.
        orders: Vec<String>,
        /// The delta.
        delta: String,
    },
    /// Whether rho + sqrt(4 rho ln(1 / delta)) is above the conversion at the best order.
    SimpleIsLooser {
        /// The rhos.
        rhos: Vec<String>,
        /// The deltas.
        deltas: Vec<String>,
    },
    /// Whether the loss of the discrete Gaussian exceeds each epsilon at some output.
    NoPureEpsilon {
        /// The rhos.
        rhos: Vec<String>,
        /// The epsilons.
        epsilons: Vec<String>,
    },
    /// Whether tails of the geometric mechanism are within the bounds of Lemma 13 and (34).
    #[serde(rename = "lemma-13")]
    Lemma13 {
        /// Values of exp(-1 / b).
        ratios: Vec<String>,
        /// Checks y from minus this number to this number.
        most: i32,
    },
    /// Whether the masses of the geometric mechanism sum to 1.
    MassesSumToOne {
        /// Values of exp(-1 / b).
        ratios: Vec<String>,
        /// The masses beyond this number are summed in closed form.
        most: i32,
    },
    /// Whether a condition on each single output makes a count with this noise private.
    SingleOutputsSuffice {
        /// The variance proxy.
        sigma2: String,
        /// The epsilon.
        epsilon: String,
        /// The delta.
        delta: String,
    },
    /// The factor by which the noise of a count grows with its sensitivity, at the same rho.
    NoiseGrowth {
        /// The change of the count by a record.
        sensitivity: u64,
        /// The factor of the variance proxy; otherwise of the scale sigma.
        of_variance: bool,
    },
    /// Whether one query with the summed sensitivity takes more budget than all queries composed; for geometric noise,
    /// whether it takes the same.
    OneQueryCosts {
        /// The sensitivities.
        parts: Vec<u64>,
        /// The noise.
        mechanism: NoiseLaw,
    },
    /// The budget that all counts of a person spend with the printed totals.
    Spent {
        /// The noise.
        mechanism: NoiseLaw,
        /// The kinds of groups that contain a person.
        groups: PersonGroups,
        /// Whether the person is changed instead of added.
        #[serde(default)]
        changed: bool,
    },
    /// The rho of one group divided by its budget, if one record is added and one is removed.
    OfGroup {
        /// Whether only its total is published.
        total_only: bool,
        /// Whether both records are in it; otherwise one is.
        both: bool,
    },
    /// Whether an empty group is unlikely to reach the threshold of sex by age.
    EmptyIsUnlikely {
        /// The total rho and the threshold of each kind of level.
        levels: Vec<(String, i64)>,
        /// The probability that counts as unlikely.
        within: String,
    },
    /// Whether margins of error fall with the budget.
    MarginFalls {
        /// The totals.
        budgets: Vec<String>,
    },
    /// Whether the divergence of two outputs is at most the sum of Lemma 3 (2024).
    #[serde(rename = "lemma-3")]
    Lemma3 {
        /// Probabilities are multiples of 1 / `parts`.
        parts: u32,
        /// The largest order.
        most: u32,
    },
    /// Whether the divergence does not grow if outputs are merged.
    ProcessingAddsNothing {
        /// Probabilities are multiples of 1 / `parts`.
        parts: u32,
        /// The largest order.
        most: u32,
    },
    /// A value that needs data that are not bundled.
    NeedsData {
        /// The missing data.
        needed: String,
    },
    /// The number of counts in a table, or the number of its age bins.
    Counts {
        /// The table.
        table: TableName,
        /// The number of age bins; otherwise of all counts.
        ages: bool,
    },
    /// Whether the printed age bins cover every age once, and are the tabulated ones.
    Ages {
        /// The table.
        table: TableName,
        /// The bins.
        bins: Vec<String>,
    },
}

/// A computation of a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BiasBy {
    /// The mean of the noise itself beyond the threshold.
    Exact,
    /// Formula (13) with the continuous normal distribution.
    Continuous,
    /// Formula (13) with the masses of the discrete Gaussian noise.
    Discrete,
}

/// The law of the noise.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseLaw {
    /// The discrete Gaussian.
    DiscreteGaussian,
    /// The two-sided geometric.
    Geometric,
}

impl From<NoiseLaw> for NoiseKind {
    fn from(noise: NoiseLaw) -> NoiseKind {
        match noise {
            NoiseLaw::DiscreteGaussian => NoiseKind::DiscreteGaussian,
            NoiseLaw::Geometric => NoiseKind::Geometric,
        }
    }
}

/// A part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetPart {
    /// The whole budget.
    Total,
    /// The part of step 2.
    Step2,
}

/// A table of the data product.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub enum TableName {
    /// Total population.
    T01001,
    /// Sex by 4 ages.
    T02001,
    /// Sex by 9 ages.
    T02002,
    /// Sex by 23 ages.
    T02003,
}

impl TableName {
    /// The table itself.
    pub fn table(self) -> PublishedTable {
        match self {
            TableName::T01001 => PublishedTable::Total,
            TableName::T02001 => PublishedTable::SexAge4,
            TableName::T02002 => PublishedTable::SexAge9,
            TableName::T02003 => PublishedTable::SexAge23,
        }
    }
}
