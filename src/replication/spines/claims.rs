//! Claims about geographic spines, as data.

use serde::{Deserialize, Serialize};

/// A claim about spines.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SpineClaim {
    /// Whether a bypass that Theorem 2 allows increases no variance: for up to `children` children and all integer
    /// shares of the unit and its children up to `shares`.
    #[serde(rename = "theorem-2")]
    Theorem2 {
        /// The largest number of children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// The maximum number of children of a unit for which a bypass increases no variance, if it has the same share as
    /// its children.
    MostChildrenAtEqualShares {},
    /// Whether with Gaussian noise a bypass increases the unit's own variance if it has two children or more, and
    /// changes no variance if it has one.
    ZcdpBypass {
        /// The largest number of children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// The variance of one count of a unit, with scale 2 / (epsilon gamma).
    LaplaceVariance {
        /// The epsilon.
        epsilon: String,
        /// The share.
        gamma: String,
    },
    /// Whether a formula of Remark 1 is the variance of the parent's total, in units of 4 / epsilon^2.
    #[serde(rename = "remark-1")]
    Remark1 {
        /// The formula.
        formula: Remark1Formula,
    },
    /// Whether the two variances of Remark 1 are ordered as Theorem 2 predicts.
    #[serde(rename = "remark-1-decides")]
    Remark1Decides {},
    /// Whether the smallest possible maximum fan-out of a tract of n blocks and its block groups is the square root of
    /// n, rounded up, for all n up to `most`.
    FewestFanout {
        /// The largest n.
        most: u64,
    },
    /// The smallest possible maximum fan-out of a tract of n blocks.
    FewestFanoutOf {
        /// The number of blocks.
        blocks: u64,
    },
    /// The difference between the largest block group of the production runs and the cutoff, in a tract of n blocks.
    LargestBlockGroup {
        /// The settings.
        settings: String,
        /// The number of blocks.
        blocks: usize,
    },
    /// Whether (4.1) to (4.4) give the minimum number of units that form an entity, by trying all coefficients.
    OsedIsTheFewest {},
    /// Whether an entity that is a unit of the spine has distance 1.
    OsedOfUnits {},
    /// Whether the privacy loss of every pair of neighbors is within the budget, by changing every record to every
    /// other one.
    Privacy {
        /// Whether units are bypassed (Theorem 3) or not (Theorem 1).
        bypassed: bool,
        /// Pure differential privacy; otherwise zCDP.
        pure: bool,
    },
    /// Whether a count changed by `shift` with noise N_Z(0, shift^2 / (2 rho)) has Renyi divergences of at most rho
    /// times the order, at these orders.
    #[serde(rename = "lemma-2")]
    Lemma2 {
        /// The rhos.
        rhos: Vec<String>,
        /// The shifts.
        shifts: Vec<u64>,
        /// The orders, above 1.
        orders: Vec<String>,
    },
    /// Whether a count changed by at most D with two-sided geometric noise of scale D / epsilon has losses of at most epsilon.
    #[serde(rename = "lemma-1")]
    Lemma1 {
        /// The epsilons.
        epsilons: Vec<String>,
        /// The largest changes D.
        shifts: Vec<i64>,
    },
    /// Whether independent counts `EPSILON@SHIFT` have losses of at most the sum of |shift| epsilon.
    #[serde(rename = "lemma-3-pure")]
    Lemma3Pure {
        /// The counts.
        counts: Vec<String>,
    },
    /// Whether independent counts `SIGMA2@SHIFT` have Renyi divergences of at most rho times the order; rho is half the
    /// sum of shift^2 / sigma^2.
    #[serde(rename = "lemma-3")]
    Lemma3 {
        /// The counts.
        counts: Vec<String>,
        /// The orders, above 1.
        orders: Vec<String>,
    },
    /// The variance of a rescaled error of Section 2.4.
    RescaledVariance {
        /// Laplace noise; otherwise Gaussian.
        pure: bool,
    },
    /// Whether the sums of diag(alpha) W are 1, for the queries of Figure 2.
    SumsAreOne {
        /// The sums of rows; otherwise of columns.
        rows: bool,
    },
    /// Whether the shares along every path sum to 1 after bypassing.
    PathSums {},
    /// Whether the matrix in the proof of Theorem 2 has no negative eigenvalue exactly if the theorem's condition
    /// holds.
    #[serde(rename = "theorem-2-matrix")]
    Theorem2Matrix {
        /// The largest number of children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// Whether, with equal shares, a bypass of a unit with these numbers of children lowers the variance of every
    /// query.
    EveryQueryGains {
        /// The numbers of children.
        children: Vec<u64>,
    },
    /// Whether bypassing a unit with one child lowers the variance of the answers that are used.
    #[serde(rename = "observation-1")]
    Observation1 {
        /// The largest share.
        shares: u64,
    },
    /// The number of units of a tract of n blocks and its block groups at the smallest possible maximum fan-out.
    UnitsOfFewestFanout {
        /// The number of blocks.
        blocks: u64,
    },
    /// Whether the levels of one release are those of another without the first.
    LevelsBelow {
        /// The release with one more level.
        upper: String,
        /// The other release.
        lower: String,
    },
    /// Whether each cell of the histogram contributes to exactly one count of every query group of a release.
    OneCountPerCell {
        /// The release.
        release: String,
    },
    /// Whether only the units u < U of a level carry a share.
    UnitsBelowTheLast {},
    /// Whether S z in (3.3) is defined for the strategy of Figure 2.
    EstimatorAsPrinted {},
    /// The scale of the errors after they are multiplied by gamma alpha epsilon.
    RescaledScale {},
    /// Whether the block of A' diag(gamma_0^2 - gamma_1^2) A is D as printed.
    SignOfD {},
    /// Whether T D T' is defined for b blocks and c children.
    ReductionOfD {
        /// The number of blocks.
        blocks: u64,
        /// The number of children.
        children: u64,
    },
    /// Whether Algorithm 2 ends with distances that are no larger for every entity of a county, and smaller for some.
    #[serde(rename = "algorithm-2")]
    Algorithm2 {
        /// The number of tracts of the county.
        tracts: u32,
        /// The maximum size of a group in excess of the square root of that number.
        fanout_cutoff: usize,
        /// With an assignment of the tested spine if it is no worse.
        assigns: bool,
    },
    /// Whether no unit below the root remains to be bypassed after one pass from below.
    OnePass {},
    /// Whether Theorem 2's rule bypasses all units with one child, and possibly more.
    PureBypassesMore {},
    /// The number of levels of a release.
    Levels {
        /// The release.
        release: String,
    },
    /// The number of strong-MCD states in the production settings.
    StrongMcdStates {},
    /// The number of kinds of entities that bound a block group; areas are divisions and places.
    EntityKinds {
        /// The settings.
        settings: String,
    },
    /// Whether all these releases have the same budget.
    SameBudget {
        /// The releases.
        releases: Vec<String>,
    },
    /// Whether all these releases have levels with the same names.
    SameLevels {
        /// The releases.
        releases: Vec<String>,
    },
    /// The number of nonempty sets of races.
    RaceCombinations {
        /// The number of races.
        races: u32,
    },
    /// A sum of exact numbers.
    Sum {
        /// The numbers.
        terms: Vec<String>,
    },
    /// Whether discrete noise has less variance than continuous noise with the same parameter.
    DiscreteVariesLess {
        /// Variance proxies, or scales of Laplace noise.
        parameters: Vec<String>,
        /// Laplace noise; otherwise Gaussian.
        pure: bool,
    },
    /// Whether with two-sided geometric noise a bypass lowers the variance although Theorem 2's rule refuses it.
    DiscreteNoiseAltersTheRule {
        /// The number of children, each with the share of the unit.
        children: u32,
        /// The inverse of the noise scale at that share.
        share: String,
    },
    /// Whether bounded neighbors are less distinguishable with noise that is rho-zCDP for bounded neighbors than with
    /// noise that is rho-zCDP for unbounded ones.
    BoundedIsStronger {
        /// The rhos.
        rhos: Vec<String>,
    },
    /// Whether a changed record changes at most two answers of a query group of a geolevel, each by 1.
    ChangesAreOnes {},
    /// Whether a marginal of the first and last of three attributes is I (x) 1' (x) I.
    MarginalIsAKroneckerProduct {
        /// The number of values of each attribute.
        sizes: [usize; 3],
    },
    /// Whether the traces of W V W' and W' W V are equal.
    TracesAgree {},
    /// Whether both ways to bypass a unit have the same A' diag(gamma^2) A.
    BypassesHaveOneGram {
        /// The largest number of children.
        children: usize,
        /// The largest share.
        shares: u64,
    },
    /// A value that needs data that are not bundled.
    NeedsData {
        /// The missing data.
        needed: String,
    },
}

/// The formulas of Remark 1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remark1Formula {
    /// 2 / gamma\[l\]^2: from the parent's own answer.
    Parent,
    /// 2c / gamma\[l+1\]^2: from the sum of the children's answers.
    Children,
    /// 2c / (c gamma\[l\]^2 + gamma\[l+1\]^2): from both.
    Both,
    /// 2c / (gamma\[l+1\] + gamma\[l\])^2: the children after the bypass.
    Bypassed,
}
