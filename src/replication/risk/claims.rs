//! Claims about disclosure risk, as data.

use serde::{Deserialize, Serialize};

/// The recomputation of a value about disclosure risk. A rho, a prior or a share is text: an exact number.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RiskClaim {
    /// The product of a total, the share of a level and the share of a query.
    QueryRho {
        /// The total rho.
        total: String,
        /// The level's share.
        level: String,
        /// The query's share of the level.
        query: String,
    },
    /// rho + 2 sqrt(rho ln(1 / delta)).
    ZcdpEpsilon {
        /// The rho.
        rho: String,
        /// The delta.
        delta: String,
    },
    /// The product of the numbers of values of some variables.
    Cells {
        /// The numbers of values.
        values: Vec<u64>,
    },
    /// The sum of the counts of the histogram among the settings.
    HistogramTotal {},
    /// The probability of a noisy count minus the known count, if the target is in the group or not.
    Output {
        /// The rho of the count.
        rho: String,
        /// The noisy count minus the known count.
        noisy: i64,
        /// Whether the target is in the group.
        present: bool,
    },
    /// The posterior probability (3.1).
    Posterior {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
        /// The noisy count minus the known count.
        noisy: i64,
    },
    /// The posterior probability divided by the prior (3.2).
    Ratio {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
        /// The noisy count minus the known count.
        noisy: i64,
    },
    /// The marginal posterior (3.3).
    Marginal {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// The marginal posterior divided by the prior (3.4).
    MarginalRatio {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// The probability of a correct decision (3.6).
    Correct {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// The posterior probability from counts of two levels, with prior 1/2 and uniform above: of `X_1 = 1`, or of one
    /// value of X_2.
    TwoLevels {
        /// Their rho.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: Option<i64>,
        /// For X_1 = 0 instead of X_1 = 1.
        absent: Option<bool>,
    },
    /// The same probability in the limit of the sampler that draws `X_1` without the constraint.
    SamplerLimit {
        /// Their rho.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: Option<usize>,
    },
    /// The decision over all outputs with prior 1/2.
    Decision {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The prior of X_2.
        upper: UpperPrior,
        /// The requested probability.
        part: DecisionPart,
    },
    /// The decision by the limit of the sampler that draws `X_1` without the constraint, over all outputs with `X_1 = 1`.
    SamplerDecision {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// The true x_2.
        x2: i64,
        /// The requested probability.
        part: DecisionPart,
    },
    /// Whether the decision from two levels is correct more often than the decision from the lowest level alone.
    DecisionGains {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The decision by the limit of the sampler that draws `X_1` without the constraint.
        sampler: Option<bool>,
    },
    /// The probability that the noisy x_2 and y_1 lie in a rectangle.
    Region {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The first and the last x_2.
        x2: [i64; 2],
        /// The first and the last y_1.
        y1: [i64; 2],
    },
    /// s minus the variance of the discrete Gaussian with variance proxy s.
    VarianceDeficit {
        /// The variance proxy.
        s: String,
    },
    /// Whether post-processing lowers the marginal posterior, for every published count.
    PostprocessingLowers {
        /// The rho of the lowest level.
        rho: String,
        /// The number of other groups.
        others: u64,
        /// The greatest published count.
        most: i64,
    },
    /// Whether the marginal posterior after post-processing comes closer to the one before with every published count.
    PostprocessingCloser {
        /// The rho of the lowest level.
        rho: String,
        /// The number of other groups.
        others: u64,
        /// The greatest published count.
        most: i64,
    },
    /// The least noisy count minus the known count at which the adversary with one count decides for the target.
    Threshold {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// Whether the posterior is above the prior at a noisy count and below it at the count before. The posterior grows
    /// with the noisy count, so this determines its side of the prior at every count.
    PriorBetween {
        /// The rho of the count.
        rho: String,
        /// The prior probabilities.
        priors: Vec<String>,
        /// The noisy count minus the known count.
        noisy: i64,
    },
    /// Whether the marginal posterior grows with rho, along a grid of rho.
    MarginalGrows {
        /// The prior probabilities.
        priors: Vec<String>,
        /// The least rho.
        from: String,
        /// The step from each rho to the next.
        step: String,
        /// The number of rho.
        count: u32,
    },
    /// Whether the decision from two levels equals that of the lowest level alone at noisy counts at or above one
    /// number and at or below another, for all outputs in a rectangle.
    DecisionUnchanged {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// The decision is for the target at this noisy count and above.
        above: i64,
        /// The decision is against the target at this noisy count and below.
        below: i64,
        /// The first and the last x2.
        x2: [i64; 2],
        /// The first and the last y1.
        y1: [i64; 2],
        /// The decision by the limit of the sampler that draws `X_1` without the constraint.
        sampler: Option<bool>,
    },
    /// Whether the probabilities of a correct decision for several true x2 differ by at most `within`, at each given
    /// rho of the level above.
    DecisionsSimilar {
        /// The rho of the lowest level.
        rho: String,
        /// Several rho of the level above.
        above: Vec<String>,
        /// The number of other groups.
        others: u64,
        /// The true x2.
        uppers: Vec<i64>,
        /// The largest difference allowed.
        within: String,
        /// The decision by the limit of the sampler that draws `X_1` without the constraint.
        sampler: Option<bool>,
    },
    /// Whether the decision is correct more often at one true x2 than at each of several others.
    DecisionLargest {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// The one true x2.
        x2: i64,
        /// The other true x2.
        than: Vec<i64>,
        /// The decision by the limit of the sampler that draws `X_1` without the constraint.
        sampler: Option<bool>,
    },
    /// Whether, for all priors, the marginal posterior grows with the number of levels of the settings, and grows most
    /// at the second level.
    LevelsGain {
        /// Checks the second statement only; otherwise the first.
        most_at_second: bool,
    },
    /// The distance of a printed percentage from the sampler's limit, in standard deviations of independent draws.
    SamplerDeviations {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// The number of other groups.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: usize,
        /// The printed percentage.
        printed: String,
        /// The number of draws.
        draws: u32,
    },
    /// A number that needs data or a program of the paper's authors.
    NeedsData {
        /// The missing data or program.
        needed: String,
    },
}

/// The prior of X_2.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpperPrior {
    /// Uniform on all counts, without an upper end.
    Uniform,
    /// Uniform on the counts up to this one.
    UpTo(i64),
    /// This count with probability 1.
    Point(i64),
}

/// The requested probability of a decision.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionPart {
    /// That it is correct.
    Correct,
    /// That it is correct when the decision from the lowest level alone is wrong.
    Gained,
    /// That it is wrong when the decision from the lowest level alone is correct.
    Lost,
    /// The gain minus the loss.
    Net,
}
