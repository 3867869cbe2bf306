//! What can be asked about disclosure risk, as data.

use serde::Deserialize;

/// What recomputes a value about disclosure risk. A rho, a prior or a share is text: an exact number.
#[derive(Clone, Debug, Deserialize)]
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
}

/// The prior of X_2.
#[derive(Clone, Copy, Debug, Deserialize)]
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
#[derive(Clone, Copy, Debug, Deserialize)]
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
