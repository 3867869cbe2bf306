//! What can be asked about disclosure risk, as data.

use serde::{Deserialize, Serialize};

/// What recomputes a value about disclosure risk. A rho, a prior or a share is text: an exact number.
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
    /// The probability of a noisy count less the known one, if the target counts or not.
    Output {
        /// The rho of the count.
        rho: String,
        /// The noisy count less the known one.
        noisy: i64,
        /// Whether the target counts.
        present: bool,
    },
    /// The posterior probability (3.1).
    Posterior {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
        /// The noisy count less the known one.
        noisy: i64,
    },
    /// The posterior probability over the prior (3.2).
    Ratio {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
        /// The noisy count less the known one.
        noisy: i64,
    },
    /// The marginal posterior (3.3).
    Marginal {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// The marginal posterior over the prior (3.4).
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
    /// The posterior probability after counts of two levels, prior 1/2 and uniform: of `X_1 = 1`, or of one value of X_2.
    TwoLevels {
        /// Their rho.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: Option<i64>,
        /// Of X_1 = 0 in place of X_1 = 1.
        absent: Option<bool>,
    },
    /// The same probability in the limit of the sampler that draws `X_1` without the constraint.
    SamplerLimit {
        /// Their rho.
        rhos: [String; 2],
        /// How many other groups there are.
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
        /// How many other groups there are.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The prior of X_2.
        upper: UpperPrior,
        /// Which probability.
        part: DecisionPart,
    },
    /// The decision by the limit of the sampler that draws `X_1` without the constraint, over all outputs with `X_1 = 1`.
    SamplerDecision {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_2.
        x2: i64,
        /// Which probability.
        part: DecisionPart,
    },
    /// Whether the decision with two levels is right more often than with the lowest alone.
    DecisionGains {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
    },
    /// The probability that the noisy x_2 and y_1 lie in a rectangle.
    Region {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The first and the last x_2.
        x2: [i64; 2],
        /// The first and the last y_1.
        y1: [i64; 2],
    },
    /// s less the variance of the discrete Gaussian of variance proxy s.
    VarianceDeficit {
        /// The variance proxy.
        s: String,
    },
    /// Whether the marginal posterior after post-processing is below the one before, for every published count.
    PostprocessingLowers {
        /// The rho of the lowest level.
        rho: String,
        /// How many other groups there are.
        others: u64,
        /// The greatest published count.
        most: i64,
    },
    /// Whether it comes closer to the one before with every published count.
    PostprocessingCloser {
        /// The rho of the lowest level.
        rho: String,
        /// How many other groups there are.
        others: u64,
        /// The greatest published count.
        most: i64,
    },
    /// The least noisy count less the known one at which the adversary of one count decides for the target.
    Threshold {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// Whether the posterior is above the prior at a noisy count and below it at the count before: so it is on either side of
    /// them, since it grows with the noisy count.
    PriorBetween {
        /// The rho of the count.
        rho: String,
        /// The prior probabilities.
        priors: Vec<String>,
        /// The noisy count less the known one.
        noisy: i64,
    },
    /// Whether the marginal posterior grows with rho, along these.
    MarginalGrows {
        /// The prior probabilities.
        priors: Vec<String>,
        /// The least rho.
        from: String,
        /// The step from each rho to the next.
        step: String,
        /// How many there are.
        count: u32,
    },
    /// Whether the decision with two levels is that of the lowest level alone wherever the noisy count is at least one number or at
    /// most another, for all outputs in a rectangle.
    DecisionUnchanged {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// At least this noisy count: for the target.
        above: i64,
        /// At most this: against it.
        below: i64,
        /// The first and the last x2.
        x2: [i64; 2],
        /// The first and the last y1.
        y1: [i64; 2],
        /// By the limit of the sampler that draws `X_1` without the constraint.
        sampler: Option<bool>,
    },
    /// Whether the probabilities of a correct decision for several true x2 differ by at most so much, at each of some rho of the
    /// level above.
    DecisionsSimilar {
        /// The rho of the lowest level.
        rho: String,
        /// Those of the level above.
        above: Vec<String>,
        /// How many other groups there are.
        others: u64,
        /// The true x2.
        uppers: Vec<i64>,
        /// The difference.
        within: String,
    },
    /// Whether the decision is right more often at one true x2 than at each of others.
    DecisionLargest {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The one.
        x2: i64,
        /// The others.
        than: Vec<i64>,
    },
    /// Whether the marginal posterior grows with the number of levels of the settings, and most at the second, for all priors.
    LevelsGain {
        /// Only the second statement, else the first.
        most_at_second: bool,
    },
    /// How many standard deviations of independent draws a printed percentage lies from the sampler's limit.
    SamplerDeviations {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: usize,
        /// The printed percentage.
        printed: String,
        /// The draws.
        draws: u32,
    },
    /// A number that rests on data or on a program of the paper's own.
    NeedsData {
        /// Which.
        needed: String,
    },
}

/// The prior of X_2.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpperPrior {
    /// The same for every count, without end.
    Uniform,
    /// The same for every count up to this one.
    UpTo(i64),
    /// This count for certain.
    Point(i64),
}

/// Which probability of a decision.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionPart {
    /// That it is right.
    Correct,
    /// That it is right when the lowest level alone is wrong.
    Gained,
    /// That it is wrong when the lowest level alone is right.
    Lost,
    /// The gain less the loss.
    Net,
}
