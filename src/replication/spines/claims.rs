//! What can be asked about geographic spines, as data.

use serde::{Deserialize, Serialize};

/// What can be asked about spines.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SpineClaim {
    /// Whether a bypass that Theorem 2 allows raises no variance: for up to so many children and all whole shares
    /// of the unit and its children up to `shares`.
    #[serde(rename = "theorem-2")]
    Theorem2 {
        /// The largest number of children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// The most children that a unit may have for a bypass to raise no variance, if it has the same share as its children.
    MostChildrenAtEqualShares {},
    /// Whether with Gaussian noise a bypass raises the unit's own variance if it has two children or more, and changes
    /// no variance if it has one.
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
        /// Which formula.
        formula: Remark1Formula,
    },
    /// Whether the two variances of Remark 1 compare as Theorem 2 decides.
    #[serde(rename = "remark-1-decides")]
    Remark1Decides {},
    /// Whether the smallest possible maximum fan-out of a tract of n blocks and its block groups is the square root of n, rounded
    /// up, for all n up to a number.
    FewestFanout {
        /// The number.
        most: u64,
    },
    /// The smallest possible maximum fan-out of a tract of n blocks.
    FewestFanoutOf {
        /// The blocks.
        blocks: u64,
    },
    /// By how much the largest block group of the production runs exceeds the cutoff in a tract of n blocks.
    LargestBlockGroup {
        /// The settings.
        settings: String,
        /// The blocks.
        blocks: usize,
    },
    /// Whether (4.1) to (4.4) give the fewest units that make an entity, by trying all coefficients.
    OsedIsTheFewest {},
    /// Whether an entity that is a unit of the spine has distance one.
    OsedOfUnits {},
    /// Whether the privacy loss of every pair of neighbors is within the budget, by changing every record to every other one.
    Privacy {
        /// Whether units are bypassed (Theorem 3) or not (Theorem 1).
        bypassed: bool,
        /// Pure differential privacy, else zCDP.
        pure: bool,
    },
    /// Whether a count changed by `shift` with noise N_Z(0, shift^2 / (2 rho)) has Renyi divergences of at most rho times the
    /// order, at these orders.
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
    /// Whether independent counts `SIGMA2@SHIFT` have Renyi divergences of at most rho times the order, rho being half the sum of
    /// shift^2 / sigma^2.
    #[serde(rename = "lemma-3")]
    Lemma3 {
        /// The counts.
        counts: Vec<String>,
        /// The orders, above 1.
        orders: Vec<String>,
    },
    /// The variance of a rescaled error of Section 2.4.
    RescaledVariance {
        /// With Laplace noise, else Gaussian.
        pure: bool,
    },
    /// Whether the sums of diag(alpha) W are one, for the queries of Figure 2.
    SumsAreOne {
        /// Those of the rows, else of the columns.
        rows: bool,
    },
    /// Whether the shares along every path sum to one after bypassing.
    PathSums {},
    /// Whether the matrix of the proof of Theorem 2 has no negative eigenvalue exactly if the theorem's condition holds.
    #[serde(rename = "theorem-2-matrix")]
    Theorem2Matrix {
        /// The largest number of children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// Whether with equal shares a bypass of a unit with so many children lowers the variance of every query.
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
    /// How many units a tract of n blocks and its block groups are at the smallest possible maximum fan-out.
    UnitsOfFewestFanout {
        /// The blocks.
        blocks: u64,
    },
    /// Whether the levels of one release are those of another without the first.
    LevelsBelow {
        /// The release with one level more.
        upper: String,
        /// The other.
        lower: String,
    },
    /// Whether each cell of the histogram counts in exactly one count of every query group of a release.
    OneCountPerCell {
        /// The release.
        release: String,
    },
    /// Whether the units u < U of a level are all that carry a share.
    UnitsBelowTheLast {},
    /// Whether S z in (3.3) can be formed for the strategy of Figure 2.
    EstimatorAsPrinted {},
    /// The scale of the errors after they are multiplied by gamma alpha epsilon.
    RescaledScale {},
    /// Whether the block of A' diag(gamma_0^2 - gamma_1^2) A is D as printed.
    SignOfD {},
    /// Whether T D T' can be formed for b blocks and c children.
    ReductionOfD {
        /// The blocks.
        blocks: u64,
        /// The children.
        children: u64,
    },
    /// Whether Algorithm 2 ends with distances that are no larger for every entity of a county, and smaller for some.
    #[serde(rename = "algorithm-2")]
    Algorithm2 {
        /// The tracts of the county.
        tracts: u32,
        /// By how much a group may exceed their square root.
        fanout_cutoff: usize,
        /// With the spine set to the one that is tested, where that is no worse.
        assigns: bool,
    },
    /// Whether after one pass from below no unit is left to bypass, below the root.
    OnePass {},
    /// Whether Theorem 2's rule bypasses at least the units with one child.
    PureBypassesMore {},
    /// How many levels a release has.
    Levels {
        /// The release.
        release: String,
    },
    /// How many strong-MCD states the production settings name.
    StrongMcdStates {},
    /// How many kinds of entities bound a block group; areas are divisions and places.
    EntityKinds {
        /// The settings.
        settings: String,
    },
    /// Whether all these releases have one budget.
    SameBudget {
        /// The releases.
        releases: Vec<String>,
    },
    /// Whether all these releases have levels of the same names.
    SameLevels {
        /// The releases.
        releases: Vec<String>,
    },
    /// How many sets of some of so many races there are.
    RaceCombinations {
        /// The races.
        races: u32,
    },
    /// A sum of exact numbers.
    Sum {
        /// The numbers.
        terms: Vec<String>,
    },
    /// Whether discrete noise has less variance than the continuous one of the same parameter.
    DiscreteVariesLess {
        /// Variance proxies, or scales of Laplace noise.
        parameters: Vec<String>,
        /// Laplace noise, else Gaussian.
        pure: bool,
    },
    /// Whether two-sided geometric noise makes a bypass worth while that Theorem 2's rule refuses.
    DiscreteNoiseAltersTheRule {
        /// The children, each with the share of the unit.
        children: u32,
        /// One over the scale of the noise at that share.
        share: String,
    },
    /// Whether bounded neighbors are told apart less well if the noise is rho-zCDP for bounded neighbors than for unbounded ones.
    BoundedIsStronger {
        /// The rhos.
        rhos: Vec<String>,
    },
    /// Whether a changed record moves the answers of a query group of a geolevel by ones, and at most two of them.
    ChangesAreOnes {},
    /// Whether a marginal of the first and last of three attributes is I (x) 1' (x) I.
    MarginalIsAKroneckerProduct {
        /// How many values the attributes have.
        sizes: [usize; 3],
    },
    /// Whether the trace of W V W' is that of W' W V.
    TracesAgree {},
    /// Whether both ways to bypass a unit have one A' diag(gamma^2) A.
    BypassesHaveOneGram {
        /// The largest number of children.
        children: usize,
        /// The largest share.
        shares: u64,
    },
    /// A value that needs data which are not bundled.
    NeedsData {
        /// Which data.
        needed: String,
    },
}

/// The formulas of Remark 1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remark1Formula {
    /// 2 / gamma\[l\]^2: the parent's own answer.
    Parent,
    /// 2c / gamma\[l+1\]^2: the sum of the children's.
    Children,
    /// 2c / (c gamma\[l\]^2 + gamma\[l+1\]^2): both.
    Both,
    /// 2c / (gamma\[l+1\] + gamma\[l\])^2: the children after the bypass.
    Bypassed,
}
