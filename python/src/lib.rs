//! The Python package `dp_assay`: the classes of its module `_native`, which call the library and decide nothing themselves.
//!
//! | file | content |
//! | --- | --- |
//! | `numbers` | numbers from Python, exactly, and Fractions back |
//! | `enclosure` | the class Enclosure |
//! | `failure` | errors of the library as ValueError |
//! | `work` | work outside of the interpreter: threads, interrupts, forks |
//! | `pickled` | counts as text for pickles, whose law has no text of the command line |
//! | `account` | the classes Account and Composition and their methods |
//! | `calibrate` | calibration and allocation |
//! | `sought` | one number of a mechanism that meets a target |
//! | `noise` | DiscreteGaussian, DiscreteLaplace, Gaussian; samples into numpy |
//! | `laws` | mechanisms that are accounted for and not drawn: Pure, BoundedRange, Approximate, RandomizedResponse, Laplace, TruncatedLaplace, TruncatedGaussian, Staircase, RandomRounding, SampledGaussian |
//! | `tables` | mechanisms by their masses, from rows or files: NoiseTable, PerturbationTable, Pair; and UnknownKey |
//! | `release` | Release and Ledger |
//! | `risk` | attacks, and bounds for all adversaries |
//! | `replication` | published values, verified |
//! | `topdown` | measuring and estimating on a spine, and from noisy measurement files |

mod account;
mod calibrate;
mod enclosure;
mod failure;
mod laws;
mod noise;
mod numbers;
mod pickled;
mod release;
mod replication;
mod risk;
mod sought;
mod tables;
mod topdown;
mod work;

/// The Rust part of the package dp_assay.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::{
        account::{Account, Composition, restored as restored_account, zcdp_delta, zcdp_epsilon},
        calibrate::allocate,
        enclosure::Enclosure,
        laws::{
            Approximate, BoundedRange, Laplace, Pure, RandomRounding, RandomizedResponse, SampledGaussian, Staircase,
            TruncatedGaussian, TruncatedLaplace,
        },
        noise::{DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerNoise},
        numbers::exact,
        release::{Ledger, Release, releases, restored as restored_ledger},
        replication::verified_rows,
        risk::{Attack, HierarchicalAttack, posterior_at},
        sought::find_number,
        tables::{NoiseTable, Pair, PerturbationTable, UnknownKey},
        topdown::{estimate, estimate_nmf, measure},
    };
    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
