//! The tables and figures of Su, Su & Wang (2025).
//!
//! The paper calls the exact account "ours", and rho-zCDP converted by Bun & Steinke "the Bureau's"; this module uses
//! descriptive names. A user's release is compared with its published figure or the smallest standard account. Values
//! that the paper prints, such as the reduced noise of its Table 1, are read from data/published; all others are
//! computed.

mod counts;
mod inputs;
mod profiles;
mod tables;
mod tradeoffs;

use super::{item::ItemRow, own::Parameter};

/// The parameters of level by level figures.
const LEVELS: &[Parameter] = &[Parameter::Release, Parameter::Level, Parameter::Range, Parameter::Points];
const MATCHED: &[Parameter] =
    &[Parameter::Release, Parameter::Level, Parameter::Delta, Parameter::Range, Parameter::Points];
const AT_DELTAS: &[Parameter] = &[Parameter::Release, Parameter::Level, Parameter::Delta];
const COUNTS: &[Parameter] = &[Parameter::Release, Parameter::Delta, Parameter::Sigma2, Parameter::Counts];
const COPIES: &[Parameter] = &[Parameter::Sigma2, Parameter::Copies];
const PROFILE: &[Parameter] = &[Parameter::Sigma2, Parameter::Copies, Parameter::Range, Parameter::Points];
const SHARES: &[Parameter] = &[Parameter::Release, Parameter::Level];

pub(super) const ITEMS: &[ItemRow] = &[
    ("figure-2", "privacy profiles of the eight geolevels", LEVELS, profiles::figure_2),
    ("figure-3", "epsilon of the geolevels at two deltas", AT_DELTAS, profiles::figure_3),
    ("figure-4", "trade-off functions of the eight geolevels", MATCHED, tradeoffs::figure_4),
    ("figure-5", "privacy profiles with reduced noise", MATCHED, profiles::figure_5),
    ("figure-6", "expected errors of population counts", COUNTS, counts::figure_6),
    ("figure-7", "privacy profile of all geolevels together", MATCHED, profiles::figure_7),
    ("figure-8", "expected errors of nine block counts", COUNTS, counts::figure_8),
    ("figure-10", "the sum of two draws and its approximation", COPIES, tables::figure_10),
    ("figure-11", "privacy profiles of 1890 counts", PROFILE, profiles::figure_11),
    ("figure-12", "trade-off function of all geolevels together", MATCHED, tradeoffs::figure_12),
    ("figure-13", "where the curves of County cross", MATCHED, tradeoffs::figure_13),
    ("figure-14", "by how much epsilon is lower, in nats", LEVELS, profiles::figure_14),
    ("figure-15", "by how much epsilon is lower, in percent", LEVELS, profiles::figure_15),
    ("table-1", "the noise that matches the Bureau's epsilon", AT_DELTAS, tables::table_1),
    ("table-2", "the residual of the approximation", COPIES, tables::table_2),
    ("table-3", "shares of the budget and numbers of counts", SHARES, tables::table_3),
];
