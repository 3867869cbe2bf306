//! SafeTab-P: counts of detailed race and ethnicity groups, the Detailed DHC-A (Tumult Labs and the Census Bureau, 2021
//! and 2024).
//!
//! [`schema`] reads and checks the bureau's files, [`groups`] says which population groups there are and to which of
//! them a person belongs, [`synthetic`] invents persons to rehearse with. [`cell`] is the noise of one cell and of sums
//! of cells, [`postprocess`] what is done to noisy counts before they are published, and [`tuning`] the way from a budget
//! to margins of error and back, for a whole plan of levels. With the feature `tabulate`, the module of that name makes a
//! release of persons.
//!
//! ```
//! use dp_assay::safetab::{
//!     groups::Specification,
//!     schema::{Findings, Granularity, Level, Settings},
//! };
//!
//! let folder = std::path::Path::new("data/examples/safetab");
//! let mut findings = Findings::new();
//! if let Some(settings) = Settings::read(&folder.join("config.json"), &mut findings)
//!     && let Some(specification) = Specification::read(folder, &settings, &mut findings)
//! {
//!     // The most population groups of one level that a person can be in, by which noise is scaled.
//!     assert_eq!(specification.stability(Granularity::Coarse, Level::Two), 9);
//! }
//! findings.into_result()?;
//! # Ok::<(), dp_assay::Error>(())
//! ```

pub mod cell;
pub mod groups;
pub mod postprocess;
pub mod schema;
pub mod synthetic;
#[cfg(feature = "tabulate")]
pub mod tabulate;
pub mod tuning;
