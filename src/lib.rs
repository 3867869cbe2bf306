//! A certified privacy accountant for counts published with integer noise, proven on the 2020 US Census.
//!
//! Every number that this library returns as a result is an [`Enclosure`](numeric::Enclosure): `lower <= truth <=
//! upper`, by construction. Inputs are exact rationals. An approximation is named `..._approx`, or its type states it.
//!
//! ```
//! use dp_assay::{account::{Account, Composition}, release::Release};
//!
//! // How private is the whole release, all eight geolevels together, at delta = 1e-10?
//! let release = Release::find("su-su-wang-2025")?;
//! let everything = release.composition(&[] as &[&str], None)?;
//! let epsilon = everything.epsilon("1e-10", 12)?;
//! assert_eq!(format!("{:.6}", epsilon.value), "[20.3246, 20.3247]");
//!
//! // And a mechanism of your own: 3 counts with variance proxy 2.5, 7 with 40/3, each changed by 1.
//! let own = Composition::new(["2.5x3".parse()?, "40/3x7".parse()?])?;
//! let delta = own.delta("4", 20)?;
//! assert!(delta.met && delta.value.is_tight(20));
//! # Ok::<(), dp_assay::Error>(())
//! ```
//!
//! `use dp_assay::prelude::*;` brings the names that most programs need.
//!
//! # The rooms
//!
//! From the bottom up; a lower room never calls a higher one.
//!
//! - [`numeric`]: exact rationals, intervals with directed ends, complex balls over MPFR. It is independent of privacy.
//! - [`law`]: the laws of noise, one file each, and groups of equal counts.
//! - [`loss`]: the privacy loss and its sums: the contour integral, its error bounds, the sieve, and the worst of many pairs.
//! - [`noise`]: distributions of noise, and exact samplers from secure randomness.
//! - [`audit`]: whether integers are draws of a declared law: tests with proven p-values.
//! - [`draws`]: one draw for one budget: the log, the key and the folder of an incomplete release.
//! - [`account`]: compositions, the privacy profile delta(epsilon) and its inverse, trade-off functions, calibration, allocation,
//!   and the standard conversions.
//! - [`release`]: geolevels, queries and budgets of real releases, and their compositions.
//! - [`risk`]: the information that noisy counts give an adversary: posteriors, decisions, and the limit for any adversary.
//! - [`spine`]: the geographic hierarchy: off-spine distances, optimized block groups, bypassing, and block paths.
//! - [`topdown`]: noisy measurements on a spine, and estimates from them.
//! - [`safetab`]: SafeTab-P and SafeTab-H, the counts of the Detailed DHC-A and DHC-B: files and population groups, noise, suppression,
//!   tuning from budget to error, and a release from persons or households.
//! - [`ledger`]: releases about the same people as a file, with a log of what was added.
//! - [`certificate`]: a certified number with the hints from which another program proves it again.
//! - [`csv_reader`]: the one reader of CSV, strict and streaming.
//! - [`chart`]: drawings as SVG.
//! - [`provenance`]: the program, command line and inputs of an answer or a file.
//! - [`replication`]: published values as data, recomputed and judged; published tables and figures drawn again; the report.
//! - [`deployments`]: published privacy parameters of real deployments, judged, and entries of the public registry.
//! - [`document`]: texts of headings, paragraphs, lists and tables, and a renderer for each form.
//! - [`memo`]: a memo that an auditor signs: a statement, its numbers, certificates, and the hashes of all files.
//! - [`sheet`]: a release in the forms of others: the points of NIST SP 800-226, and an entry of the Deployments Registry.
//!
//! The chapter [`proofs`] has the proofs and the assumptions. ARCHITECTURE.md describes how the rooms work together, and
//! docs/guide has a chapter for each task.

// Tests compare with the functions of the C library as well.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod chart;
#[cfg(feature = "mechanisms")]
pub mod deployments;
#[cfg(feature = "mechanisms")]
pub mod ledger;
#[cfg(feature = "mechanisms")]
pub mod memo;
pub mod proofs;
#[cfg(feature = "mechanisms")]
pub mod replication;
#[cfg(feature = "mechanisms")]
pub mod safetab;
#[cfg(feature = "mechanisms")]
pub mod sheet;
#[cfg(feature = "mechanisms")]
pub mod spine;
#[cfg(feature = "mechanisms")]
pub mod topdown;

#[cfg(feature = "mechanisms")]
pub(crate) use dp_assay_core::io;
pub use dp_assay_core::{
    Error, Result, account, audit, error, law, loss, noise, numeric, prelude, reading, release, risk, rug, threads,
};
#[cfg(feature = "mechanisms")]
pub use dp_assay_core::{
    certificate, csv_reader, document, draws, interrupt_remote, is_decoding, provenance, remove_unfinished,
};

/// The numbers of unit tests and integration tests are made in one place, which imports this crate by its name.
#[cfg(test)]
extern crate self as dp_assay;
#[cfg(test)]
#[path = "../tests/common/numbers.rs"]
mod numbers;

/// The code of README and of the guide, run as tests.
#[cfg(all(doctest, feature = "cli"))]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../docs/guide/library.md")]
    struct Library;
}
