//! SafeTab-P: counts of detailed race and ethnicity groups, the Detailed DHC-A (Tumult Labs and the Census Bureau, 2021
//! and 2024).
//!
//! [`schema`] reads and checks the bureau's files, [`groups`] says which population groups there are and to which of
//! them a person belongs. With the feature `tabulate`, the module of that name makes a release of persons.

pub mod groups;
pub mod schema;
#[cfg(feature = "tabulate")]
pub mod tabulate;
