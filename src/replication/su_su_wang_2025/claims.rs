//! What only Su, Su & Wang define, as data: their residual, their error budget, and statements of their appendices.

use serde::Deserialize;

/// What can be asked about the paper's own methods and statements.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SuSuWangClaim {
    /// sup over y of the residual of Theorem A.11.
    ResidualSupremum {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
    },
    /// Appendix C's bound for it.
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
    /// What the masses of Theorem A.8 add up to with the coefficients as printed.
    TwoFoldTotal {
        /// The variance proxy.
        sigma2: String,
    },
    /// The ratio of the masses at n and 0 by (A.5) as printed, over the true ratio.
    SumExponent {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies n.
        copies: u64,
    },
    /// By how many percent the expected squared error of a level's counts falls with less noise.
    SquaredErrorReduction {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
    },
    /// The same of the expected absolute error.
    AbsoluteErrorReduction {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
    },
    /// A value that needs data which are not bundled.
    NeedsData {
        /// Which data.
        needed: String,
    },
    /// The exact epsilon of a level with its noise reduced by a percentage.
    EpsilonAtReduction {
        /// The geolevel.
        level: String,
        /// The percentage.
        percent: String,
        /// The delta.
        delta: String,
    },
    /// Whether the gain of a level, its zCDP epsilon less the exact one, grows with delta along these.
    GainGrows {
        /// The geolevel.
        level: String,
        /// The deltas, increasing.
        deltas: Vec<String>,
        /// The gain in percent, else in nats.
        percent: bool,
    },
    /// Whether the gain grows with the number of counts of one noise, along these.
    GainGrowsWithCounts {
        /// The variance proxy.
        sigma2: String,
        /// The numbers of counts, increasing.
        counts: Vec<u64>,
        /// The delta.
        delta: String,
        /// The gain in percent, else in nats.
        percent: bool,
    },
    /// The error of replacing all masses by densities, Proposition A.12.
    BudgetE0 {
        /// The decimals to which the variance proxies are rounded; exact if absent.
        decimals: Option<u32>,
    },
    /// The measure beyond six times the threshold, Proposition A.13.
    BudgetE1 {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// Only the largest group's part, instead of the sum.
        largest: Option<bool>,
    },
    /// The bound for the integral beyond 1/100, Fact A.14.
    BudgetE2 {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// The bound for Boole's rule, Fact A.15.
    BudgetE3 {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// The panels.
        panels: u64,
    },
    /// The bound for an absolute moment of the sum, D.4.
    Moment {
        /// Its order, 1 to 6.
        order: u32,
    },
    /// The bound for the sixth derivative, D.4.
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
}
