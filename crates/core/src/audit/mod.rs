//! Audit of noise: tests, with proven p-values, whether integers are independent draws of a declared law.
//!
//! The input is pure noise: integers of any program, or noisy counts whose true values are known. One pass fills tallies of fixed size;
//! every test then has a p-value that is proven: an upper bound on the probability, under the declared law, of data at least as far
//! from it. Exact binomial sums and Chernoff bounds are evaluated with all roundings upward, so no test rejects true noise more often
//! than its level. Holm's correction over all tests decides; chi-square and moments are shown beside it and decide nothing.
//!
//! | file | content |
//! | --- | --- |
//! | [`declared`] | the declared law: enclosures of its masses and tails, and those of sums of draws |
//! | `bins` | intervals of integers, and whole-numbered scores on them |
//! | [`proven`] | upper bounds on probabilities: binomial tails, sums of scores, signs |
//! | [`tally`] | tallies of draws: a histogram, products of pairs |
//! | [`repeats`] | stretches that occur twice: a reused stream |
//! | [`asymptotic`] | tails of the chi-square law, approximations |
//! | [`battery`] | the tests of a tally |
//! | [`verdict`] | Holm's correction, and the verdict in words |
//! | [`interval`] | the interval of the law's parameter that the draws leave |
//! | [`power`] | the deviations that a number of draws shows |
//! | [`report`] | all of this for one stream of draws |
//! | [`read`] | integers from a file, one per line |
//! | [`black_box`] | lower bounds on epsilon from outputs of any program, with a record and without it |
//! | [`refutation`] | the power of these bounds, before anything is drawn |
//! | [`runs`] | these outputs, one run per line |

pub mod asymptotic;
pub mod battery;
mod bins;
pub mod black_box;
pub mod declared;
pub mod interval;
#[cfg(test)]
mod planted;
pub mod power;
pub mod proven;
pub mod read;
pub mod refutation;
pub mod repeats;
pub mod report;
pub mod runs;
pub mod tally;
pub mod verdict;

pub use battery::{Audited, Shown, Test, Tested};
pub use declared::Declared;
pub use report::Report;
pub use tally::{Pairs, Stream, Tally};
pub use verdict::Verdict;
