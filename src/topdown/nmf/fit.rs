//! Whether the noisy counts of a folder fit each other: the sum of the counts of a unit's children differs from the
//! counts of the unit by noise of a known law. A level whose values are a hundred times too large, a damaged count, two
//! vintages in one folder or a missing state leave residuals that noise does not explain.
//!
//! For a query with counts y_c of the children and y_p of the parent a residual is r = sum of y_c - y_p. Its variance
//! is the sum of all their variances, as the release gives them. A bypassed unit has no counts: the sum over its
//! children replaces them. Queries with many counts are folded: count i is added to sum number i modulo 64, so that a
//! query takes the memory of 64 numbers.
//!
//! Each pair (level, query) gives two statements. Its statistic, the sum of r^2 / Var(r) over all units and counts,
//! approximately has a chi-square law with one degree of freedom per residual (residuals of a level are independent: no two share
//! a noisy count; those of neighboring levels do, and an exact total shares them with its level, so that all together are
//! described by their mean square alone). The p-value from this law is called asymptotic. The decision uses a proven bound: noise on the
//! integers with parameter sigma^2 has E exp(t X) <= exp(t^2 sigma^2 / 2) (Canonne, Kamath & Steinke 2020, Corollary
//! 17), and so has a residual with s^2, the sum of all sigma^2. Then, with an auxiliary standard normal variable g, E
//! exp(l r^2 / s^2) = E exp(sqrt(2 l) g r / s) <= E exp(l g^2) = (1 - 2 l)^(-1/2) for 0 <= l < 1/2, as if r were
//! normal. By Markov's inequality at the best l, for n residuals and T their sum of r^2 / s^2,
//!
//! P(T >= t) <= exp(-(n / 2) (t / n - 1 - ln(t / n))) for t >= n,   P(|r| >= z s) <= 2 exp(-z^2 / 2).
//!
//! The queries of a unit answer the same cells, so that its counts are compared with each other as well: by the least
//! sum of squares over all cells, see `within`, with the same bound.
//!
//! An exact total of an area is compared with the total that all noisy counts and the earlier totals give, a weighted sum of
//! counts: one more residual.
//!
//! The least of all these bounds, times the number of tests (Bonferroni), is the corrected p-value; below 1e-9 the
//! folder does not fit.

mod report;
mod residuals;
mod tails;
mod within;

pub(in crate::topdown::nmf) use report::AreaResidual;
pub use report::{FitReport, FitRow, LargestResidual, THRESHOLD};
pub use residuals::{FitPlan, Stand, StateFit, Tally, Walk};
pub(in crate::topdown::nmf) use tails::ln_tail_bound;
