//! SafeTab-P: counts of detailed race and ethnicity groups, the Detailed DHC-A (Tumult Labs and the Census Bureau, 2021
//! and 2024).
//!
//! [`schema`] reads and checks the bureau's files, [`groups`] says which population groups there are and to which of
//! them a person belongs, [`synthetic`] invents persons to rehearse with.

pub mod groups;
pub mod schema;
pub mod synthetic;
