//! From a budget to margins of error, sizes and privacy, and back: an exact version of the SafeTEx tool (2024, Section 6.3).
//!
//! | file | subject |
//! | --- | --- |
//! | `level` | [`GroupLevel`]: one level, the noise of its stages and their margins of error |
//! | [`formulas`] | the closed formulas of both papers for the same, for comparison |
//! | `least_budget` | [`least_budget`]: the least budget for a margin |
//! | [`plan`] | a TOML file of levels |
//! | [`epsilons`] | the exact epsilon of a person, for a level and for a plan |
//! | [`answers`] | the results for a level of a plan |
//!
//! A level of budget B and stability s gives every population group B / s. A group whose total only is published spends all of it on one
//! count. Any other group spends gamma B / s on the total of stage 1, which chooses the table, and the remaining share on each cell of that
//! table in stage 2 (2021 and 2024, Algorithms 1 and 2). Margins are at the papers' level of 95 %.

pub mod answers;
pub mod epsilons;
pub mod formulas;
mod least_budget;
mod level;
pub mod plan;

pub use least_budget::{LeastBudget, MOST_DECIMALS, least_budget, least_whole_budget};
pub use level::{GroupLevel, Stage, TableMargins, margin_level, stability};
