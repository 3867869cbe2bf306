//! The masses of noise on the integers, up to their sum: all that samplers and distributions need to know of a law.

use rug::Rational;

/// The exponent of a law on the integers with mass proportional to exp(-(slope |x| + curvature |x| (|x| - 1) / 2)).
///
/// N_Z(0, sigma2) has slope 1 / (2 sigma2) and curvature 1 / sigma2, since m + m (m - 1) = m^2; the discrete Laplace has slope epsilon and
/// curvature 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exponent {
    /// The slope at zero, above 0.
    pub slope: Rational,
    /// By how much the slope grows with each step, at least 0.
    pub curvature: Rational,
}

/// The masses of one draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// By an exponent, on -bound, ..., bound, or on all integers.
    Exponential {
        /// The exponent.
        exponent: Exponent,
        /// The largest absolute value; `None` on all integers.
        bound: Option<u64>,
    },
    /// With mass in proportion to exp(-epsilon floor((|x| + period - first) / period)) at every integer x.
    Staircase {
        /// The logarithm of the ratio of two stairs, above 0.
        epsilon: Rational,
        /// The number of values of a stair on one side, at least 1.
        period: u64,
        /// The number of values of the first stair from zero on, from 1 to the period.
        first: u64,
    },
    /// By a list of values in increasing order, with probabilities above zero that add up to one.
    Listed(Vec<(i64, Rational)>),
    /// The difference between the given answer and the true one, modulo the number of answers: zero with probability
    /// 1 / (1 + (answers - 1) exp(-epsilon)), and each of 1, ..., answers - 1 with the same probability.
    Response {
        /// The logarithm of the ratio of both probabilities, above 0.
        epsilon: Rational,
        /// The number of answers, at least 2.
        answers: u64,
    },
}
