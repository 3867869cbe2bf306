//! Census variable codes, such as `P1_003N`: sums over cells of the histogram, from public definitions in `data/tables`.
//!
//! | file | content |
//! | --- | --- |
//! | [`book`] | the codes of a product, chosen by code or table, with labels |
//! | [`confidence`] | confidence levels and their normal quantiles |
//! | `nonnegative` | intervals that respect that no count is negative |
//! | [`places`] | the names of states, counties, tracts, block groups and blocks |
//! | [`sheet`] | files of estimates by code, in long and wide form |

pub mod book;
pub mod confidence;
mod nonnegative;
pub mod places;
pub mod sheet;
