//! What can be asked about SafeTab, as data.

use serde::{Deserialize, Serialize};

use super::{
    renyi::Renyi,
    settings::{Budgets, CountKind, PersonGroups},
};
use crate::safetab::{cell_noise::NoiseKind, tables::PublishedTable};

/// What recomputes a value about SafeTab. Budgets and probabilities are text: exact numbers. A `rho` or an `epsilon` is
/// the total of a level; gamma, stability and delta are those of the paper's settings.
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
        /// Which part of it.
        part: BudgetPart,
    },
    /// The same with stability / gamma in place of stability / (1 - gamma).
    TextBudget {
        /// The margin.
        moe: u32,
    },
    /// A part of a rounded total: 1.96^2 / 2 in place of 1.92 for Gaussian noise.
    RoundedBudget {
        /// The noise.
        mechanism: NoiseLaw,
        /// The margin.
        moe: u32,
        /// Decimals of the total.
        decimals: u32,
        /// Whether the total is cut and not rounded.
        #[serde(default)]
        cut: bool,
        /// Which part of it.
        part: BudgetPart,
    },
    /// A part of a given total, times the number of records that differ.
    Share {
        /// The total.
        total: String,
        /// Which part of it.
        part: BudgetPart,
        /// 1, or 2 for bounded neighbors.
        records: u32,
    },
    /// The least budget of a level, of so many decimals, whose exact margin is at most a target.
    LeastBudget {
        /// The noise.
        mechanism: NoiseLaw,
        /// The margin.
        moe: u32,
        /// Decimals of the total.
        decimals: u32,
    },
    /// The exact margin of a count of a level.
    Margin {
        /// The noise.
        mechanism: NoiseLaw,
        /// The total budget.
        budget: String,
        /// Which count.
        count: CountKind,
    },
    /// The exact margin of the geometric mechanism with a scale b = 1 / epsilon.
    MarginOfScale {
        /// b.
        scale: String,
    },
    /// What a margin covers, in percent.
    Coverage {
        /// The noise.
        mechanism: NoiseLaw,
        /// The total budget.
        budget: String,
        /// Which count.
        count: CountKind,
        /// The margin; that of the formula if absent.
        moe: Option<i64>,
    },
    /// What a margin covers, in percent, with the budget that the formula gives for it.
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
        /// Which divergence.
        renyi: Renyi,
        /// What groups a person can be in.
        groups: PersonGroups,
        /// Another stability.
        stability: Option<u32>,
    },
    /// Whether the divergence of Lemma 8 is at least the true one.
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
        /// Which budgets.
        budgets: Budgets,
        /// What groups a person can be in.
        groups: PersonGroups,
    },
    /// By how many percent the second is below the first.
    Gain {
        /// The first.
        first: Box<SafetabClaim>,
        /// The second.
        second: Box<SafetabClaim>,
    },
    /// By how many percent the noise of a count is less with another stability, at the same budget.
    NoiseGain {
        /// The race codes before.
        from: u32,
        /// The race codes after.
        to: u32,
    },
    /// The stability for a number of race codes.
    Stability {
        /// The race codes.
        race_codes: u32,
    },
    /// The threshold of suppression.
    Threshold {
        /// The rho of the level.
        rho: String,
    },
    /// How likely an empty group is suppressed, in percent.
    Suppressed {
        /// The rho of the level.
        rho: String,
        /// Whether counts below the threshold are suppressed, and not those equal to it.
        below: bool,
    },
    /// Whether groups whose size is the same share of the threshold fare the same at two budgets.
    Alike {
        /// The rho of both levels.
        rhos: [String; 2],
        /// The size as a share of the threshold.
        fraction: String,
        /// Compares their bias as a share of the threshold, else their probability of suppression.
        bias: bool,
    },
    /// Whether formula (13) is the bias, up to a relative error.
    BiasFormula {
        /// The rho of the level.
        rho: String,
        /// How many people.
        size: u64,
        /// The relative error.
        within: String,
    },
    /// How many levels the paper has.
    Levels {},
    /// How many levels have groups that are published by their totals only.
    TotalOnlyLevels {},
    /// Whether tails of the discrete Gaussian are at most those of the continuous one a whole number before (Proposition 1).
    BelowContinuous {
        /// The variance proxies.
        sigma2: Vec<String>,
        /// Tails from 1 to this.
        most: i64,
    },
    /// Whether `P[X > y]` of the geometric mechanism is exp(-y / b) / (1 + exp(1 / b)).
    TailByFormula {
        /// Values of exp(-1 / b).
        ratios: Vec<String>,
        /// From 0 to this y.
        most: u32,
    },
    /// How likely the noise of a level is within the margin of the formula around a number, in percent.
    Interval {
        /// The noise.
        mechanism: NoiseLaw,
        /// The total budget.
        budget: String,
        /// Which count.
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
    /// By zCDP with epsilon^2 / 2 for each count of the geometric mechanism, at the best order of the paper's grid.
    GeometricZcdp {},
    /// Whether the bias falls with the size of a group, and stays above zero.
    BiasFalls {
        /// The rho of the level.
        rho: String,
        /// Sizes from 0 to so many times the threshold.
        times: u64,
    },
    /// Whether independent counts of the geometric mechanism have the sum of their Renyi divergences.
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
    /// Whether the discrete Gaussian has a loss above each epsilon.
    NoPureEpsilon {
        /// The rhos.
        rhos: Vec<String>,
        /// The epsilons.
        epsilons: Vec<String>,
    },
    /// Whether tails of the geometric mechanism are within Lemma 13 and (34).
    #[serde(rename = "lemma-13")]
    Lemma13 {
        /// Values of exp(-1 / b).
        ratios: Vec<String>,
        /// From minus this y to this y.
        most: i32,
    },
    /// Whether the masses of the geometric mechanism have the sum one.
    MassesSumToOne {
        /// Values of exp(-1 / b).
        ratios: Vec<String>,
        /// Those beyond this number in closed form.
        most: i32,
    },
    /// Whether a condition on each output alone makes a count with this noise private.
    SingleOutputsSuffice {
        /// The variance proxy.
        sigma2: String,
        /// The epsilon.
        epsilon: String,
        /// The delta.
        delta: String,
    },
    /// By which factor the noise of a count grows with its sensitivity, at the same rho.
    NoiseGrowth {
        /// By how much a record changes it.
        sensitivity: u64,
        /// Of the variance proxy, else of the scale sigma.
        of_variance: bool,
    },
    /// Whether one query of the summed sensitivity takes more budget than all queries composed; as much with geometric noise.
    OneQueryCosts {
        /// The sensitivities.
        parts: Vec<u64>,
        /// The noise.
        mechanism: NoiseLaw,
    },
    /// What all counts of a person spend with the printed totals.
    Spent {
        /// The noise.
        mechanism: NoiseLaw,
        /// What groups a person can be in.
        groups: PersonGroups,
        /// Whether the person is changed, not added.
        #[serde(default)]
        changed: bool,
    },
    /// The rho of one group over its budget, if one record is added and one is taken away.
    OfGroup {
        /// Whether only its total is published.
        total_only: bool,
        /// Whether both records are in it, else one.
        both: bool,
    },
    /// Whether an empty group is unlikely to reach the threshold of sex by age.
    EmptyIsUnlikely {
        /// The total rho and the threshold of each kind of level.
        levels: Vec<(String, i64)>,
        /// What is unlikely.
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
        /// Probabilities are multiples of one over this.
        parts: u32,
        /// The largest order.
        most: u32,
    },
    /// Whether the divergence does not grow where outputs are taken for one.
    ProcessingAddsNothing {
        /// Probabilities are multiples of one over this.
        parts: u32,
        /// The largest order.
        most: u32,
    },
    /// A value that needs data which are not bundled.
    NeedsData {
        /// Which data.
        needed: String,
    },
    /// How many counts a table prints, or how many bins of age it has.
    Counts {
        /// The table.
        table: TableName,
        /// Counts bins of age, else all counts.
        ages: bool,
    },
    /// Whether bins of age as printed cover every age once, and are those that are tabulated.
    Ages {
        /// The table.
        table: TableName,
        /// The bins.
        bins: Vec<String>,
    },
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

/// Which part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetPart {
    /// All of it.
    Total,
    /// That of step 2.
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
