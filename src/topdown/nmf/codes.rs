//! Census variable codes, such as `P1_003N`: sums over cells of the histogram, from public definitions in `data/tables`.
//!
//! | file | content |
//! | --- | --- |
//! | [`book`] | the codes of a product, chosen by code or table, with labels |
//! | `definitions` | the definitions of lines and tables, and their repetitions for populations |
//! | `product` | the products, their histograms and files |
//! | `not_formed` | the codes that cannot be formed, with the reasons |
//! | [`confidence`] | confidence levels and their normal quantiles |
//! | `nonnegative` | intervals that respect that no count is negative |
//! | [`places`] | the names of states, counties, tracts, block groups and blocks |
//! | [`sheet`] | files of estimates by code, in long and wide form |

pub mod book;
pub mod confidence;
mod definitions;
mod nonnegative;
mod not_formed;
pub mod places;
mod product;
pub mod sheet;

#[cfg(test)]
mod book_tests;
#[cfg(test)]
mod table_tests;
