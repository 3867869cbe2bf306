//! Claims that only Su, Su & Wang make, as data: their residual, their error budget, and statements of their
//! appendices.

use serde::{Deserialize, Serialize};

/// A claim about the paper's own methods and statements.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SuSuWangClaim {
    /// sup over y of the residual of Theorem A.11.
    ResidualSupremum {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
    },
    /// Appendix C's bound on it.
    ResidualBound {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
    },
    /// One of the three parts of that bound.
    ResidualOmega {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
        /// 1, 2 or 3.
        index: u8,
    },
    /// Whether (A.8) holds at every level, at the exact epsilon of a delta.
    ApproximationHolds {
        /// The delta.
        delta: String,
        /// With the limits of the sums as (A.8) prints them, instead of those of Theorem A.11.
        as_printed: bool,
    },
    /// The total of the masses of Theorem A.8 with the coefficients as printed.
    TwoFoldTotal {
        /// The variance proxy.
        sigma2: String,
    },
    /// The ratio of the masses at n and 0 by (A.5) as printed, divided by the true ratio.
    SumExponent {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies n.
        copies: u64,
    },
    /// The reduction of the expected squared error of a level's counts with less noise, in percent.
    SquaredErrorReduction {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
    },
    /// The same for the expected absolute error.
    AbsoluteErrorReduction {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
    },
    /// A value that needs data that are not bundled.
    NeedsData {
        /// The missing data.
        needed: String,
    },
    /// Whether the gain of a level, its zCDP epsilon minus the exact one, grows with delta along these.
    GainGrows {
        /// The geolevel.
        level: String,
        /// The deltas, increasing.
        deltas: Vec<String>,
        /// The gain in percent; otherwise in nats.
        percent: bool,
    },
    /// Whether the gain grows with the number of counts with the same noise, along these.
    GainGrowsWithCounts {
        /// The variance proxy.
        sigma2: String,
        /// The numbers of counts, increasing.
        counts: Vec<u64>,
        /// The delta.
        delta: String,
        /// The gain in percent; otherwise in nats.
        percent: bool,
    },
    /// The error of replacing all masses by densities, Proposition A.12.
    BudgetE0 {
        /// The number of decimals to which the variance proxies are rounded; exact if absent.
        decimals: Option<u32>,
    },
    /// The measure beyond six times the threshold, Proposition A.13.
    BudgetE1 {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// Only the largest group's part instead of the sum.
        largest: Option<bool>,
    },
    /// The bound on the integral beyond 1/100, Fact A.14.
    BudgetE2 {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// The bound on the error of Boole's rule, Fact A.15.
    BudgetE3 {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// The number of panels.
        panels: u64,
    },
    /// The bound on an absolute moment of the sum, D.4.
    Moment {
        /// Its order, 1 to 6.
        order: u32,
    },
    /// The bound on the sixth derivative, D.4.
    SixthDerivative {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// Whether the characteristic function is below a level from some t to pi.
    SievedFrom {
        /// The t.
        from: String,
        /// The level.
        level: String,
    },
    /// Whether the factor of one geolevel alone is below a level on an interval.
    SievedBy {
        /// The geolevel.
        level_of: String,
        /// The lower end.
        from: String,
        /// The upper end.
        to: String,
        /// The level.
        level: String,
    },
    /// `P[|S| > w B]` of the sum of copies.
    TwoSidedTail {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
        /// The w.
        widths: u32,
    },
    /// Whether each level, and all levels together, are within their own zCDP curve at every delta of a range.
    OwnWithin {
        /// The least delta.
        from: String,
        /// The greatest.
        to: String,
    },
    /// Whether levels with reduced noise are within the zCDP curve of their own noise at every delta of a range.
    ReducedWithin {
        /// Each level and its reduced variance proxy.
        reduced: Vec<[String; 2]>,
        /// The least delta.
        from: String,
        /// The greatest.
        to: String,
    },
    /// Whether they exceed it at every delta of a range.
    ReducedBeyond {
        /// Each level and its reduced variance proxy.
        reduced: Vec<[String; 2]>,
        /// The least delta.
        from: String,
        /// The greatest.
        to: String,
    },
    /// The delta at which a level with reduced noise crosses the zCDP curve of its own noise.
    ReducedCrossing {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
        /// Selects the crossing nearest to this delta.
        near: String,
    },
    /// Whether a level with its noise reduced by a percentage crosses the zCDP curve of its own noise.
    ScaledCrosses {
        /// The geolevel.
        level: String,
        /// The percentage.
        percent: String,
        /// The least delta.
        from: String,
        /// The greatest.
        to: String,
    },
    /// Whether all levels together, with their noise reduced by a percentage, are within the zCDP curve of their own
    /// noise on a range.
    WholeScaledWithin {
        /// The percentage.
        percent: String,
        /// The least delta.
        from: String,
        /// The greatest.
        to: String,
    },
    /// The number of draws at which a printed reduction lies one standard deviation from the expected one.
    DrawsOfDeviation {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
        /// The printed percentage.
        printed: String,
        /// For absolute errors; otherwise for squared ones.
        absolute: bool,
    },
    /// One of the two parts of Omega_2, 4 or 5, by its bound.
    ResidualPart {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
        /// 4 or 5.
        index: u8,
    },
    /// Omega_5 itself, the integral.
    ResidualIntegral {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
    },
    /// exp(x).
    Exponential {
        /// x.
        x: String,
    },
    /// delta / exp(epsilon).
    SecondTermLimit {
        /// The delta.
        delta: String,
        /// The epsilon.
        epsilon: String,
    },
    /// 1 / x.
    Reciprocal {
        /// x.
        x: String,
    },
    /// 100 (1 - value / whole), of two printed numbers.
    PercentBelow {
        /// The smaller number.
        value: String,
        /// The larger number.
        whole: String,
    },
    /// The part of E0 from the residuals, E2^(0).
    BudgetWindows {
        /// The number of decimals to which the variance proxies are rounded; exact if absent.
        decimals: Option<u32>,
    },
    /// All errors of the first term: E0 + E1 + E2 + E3.
    BudgetTotal {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// The number of panels of Boole's rule.
        panels: u64,
        /// The number of decimals to which the variance proxies of E0 are rounded; exact if absent.
        decimals: Option<u32>,
    },
    /// All errors of a sum from `first` to `last`: E0, the measure beyond, E2, E3.
    SumTotal {
        /// The first value.
        first: i64,
        /// The last value.
        last: i64,
        /// The number of panels of Boole's rule.
        panels: u64,
    },
    /// 5 t_epsilon L, the number of cosines of the kernel.
    KernelTerms {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// pi times the bound on the sixth derivative.
    SixthDerivativeSum {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// Upper bound on the excess of a group's total measure over 1.
    MeasureExcess {},
    /// The share of the budget of a group of Table 3, in percent.
    Share {
        /// The group, from 1.
        group: usize,
    },
    /// The number of counts of a group of Table 3, or of all groups.
    GroupCopies {
        /// The group, from 1.
        group: Option<usize>,
    },
    /// The sum over all counts of their group's share.
    SharesTotal {},
}
