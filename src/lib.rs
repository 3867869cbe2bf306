//! A certified privacy accountant for counts published with lattice noise, proven on the 2020 US Census.
//!
//! Every number that leaves this library as a result is an [`Enclosure`](numeric::Enclosure): `lower <= truth <=
//! upper`, by construction. Quantities enter as exact rationals. What is only an approximation says so in its name.
//!
//! ```
//! use dp_assay::{account::Composition, numeric::rational::parse, release::Release};
//!
//! // How private is the whole release, all eight geolevels together, at delta = 1e-10?
//! let release = Release::find("su-su-wang-2025")?;
//! let everything = release.composition(&[] as &[&str], None)?;
//! let epsilon = everything.epsilon(&parse("1e-10")?, 12)?.value;
//! assert!(*epsilon.lower() > 20.3246 && *epsilon.upper() < 20.3247);
//!
//! // And a mechanism of your own: 3 counts with variance proxy 2.5, 7 with 40/3, each changed by 1.
//! let own = Composition::new(["2.5x3".parse()?, "40/3x7".parse()?])?;
//! let delta = own.delta(&parse("4")?, 20)?.value;
//! assert!(delta.is_tight(20));
//! # Ok::<(), dp_assay::Error>(())
//! ```
//!
//! # The rooms
//!
//! - [`numeric`]: exact rationals in, enclosures out: balls over MPFR, the contour integral and its error bounds.
//! - [`noise`]: the distributions that are added to counts, and exact samplers of them from secure randomness.
//! - [`account`]: compositions, the privacy profile delta(epsilon) and back, trade-off functions, calibration, and the
//!   conversions that others use.
//! - [`release`]: geolevels, queries and budgets of real releases, and the composition they amount to.
//! - [`risk`]: what an adversary learns from noisy counts: posteriors, decisions, and what none can exceed.
//! - [`evidence`]: published values as data, recomputed and judged; published tables and figures drawn again; the report.
//! - [`spine`]: the geographic hierarchy: off-spine distances, optimized block groups, bypassing, and block paths; noise on
//!   its units, and estimates from it.
//! - [`evidence`]: published values as data, recomputed and judged.
//!
//! A lower room never calls a higher one.
//!
//! # What is proven where
//!
//! | statement | function | test |
//! | --- | --- | --- |
//! | the profile is one contour integral, with both terms (numerics, section 1; Su, Su & Wang, Lemma A.9) | [`hockey_stick`](numeric::sum::LossSum::hockey_stick) | `tests/enclosures.rs`, `tests/allocations.rs`: convolution, enumeration, Theorems A.7 and A.8 |
//! | the trapezoid rule adds only non-negative terms, each bounded | [`numeric::contour`] | the same, at three precisions |
//! | factors are small outside windows (Fact A.14, Lemma A.4) | [`numeric::sieve`] | its unit tests: no height above the target is lost |
//! | both sides of Jacobi's identity are one function | [`numeric::theta`] | `noise`: masses, tails and moments across the switch |
//! | an epsilon is proven from both sides | [`Composition::epsilon`](account::Composition::epsilon) | `tests/enclosures.rs`: inversion, monotonicity |
//! | the trade-off function is piecewise linear between certified knots (Section A.7) | [`tradeoff`](account::Composition::tradeoff) | `tests/tradeoff.rs`: duality, convexity, symmetry |
//! | rho-zCDP implies epsilon by the best order, and no order does better (Canonne, Kamath & Steinke, Corollary 13) | [`zcdp_epsilon_optimal`](account::conversions::zcdp_epsilon_optimal) | `account::conversions` |
//! | all pairs of block paths share one contour | [`largest`](numeric::family::Family::largest) | `numeric::family`: every pair by itself |
//! | one count, and the sum of n copies, in closed form (Theorems A.7 and A.8, (A.5), (A.6)) | [`closed_forms`](account::closed_forms) | `account::closed_forms`: the contour, convolution |
//! | the sum of copies is near a density, and by how much (Theorem A.11, Appendix C, (A.8)) | [`Residual`](account::residual::Residual) | `account::residual`: the leading image |
//! | off-center sums, bias, characteristic functions (Lemma A.4, Propositions A.5 and A.6, (A.3)) | [`off_center`](noise::off_center) | `noise::off_center`: by definition, the triple product |
//! | Boole's rule and its error budget (Section A.6, Appendix D) | [`Boole`](numeric::boole::Boole) | `numeric::boole`, `evidence::pipeline`: enumeration, the contour |
//! | the trade-off function that zCDP implies | [`zcdp_tradeoff`](account::conversions::zcdp_tradeoff) | `account::conversions`: no line of a grid exceeds it |
//! | expected errors of counts, cut at zero or not | [`Cut`](noise::error::Cut) | `noise::error`: enumeration |
//! | noise on a grid is private enough, and the next value below is not | [`least_on_grid`](account::calibrate::least_on_grid) | `account::calibrate` |
//! | one curve is below another at every delta of a range: convex in exp(epsilon) against concave in the logarithm | [`account::crossing`] | its unit tests: points the proof did not choose |
//! | no allocation has less weighted error: data processing and weak duality | [`least_possible`](account::allocate::least_possible) | `account::allocate`: exchanges of noise between queries |
//! | a sample has exactly the law: random digits decide only where a proven bound does | [`noise::table`], [`noise::rejection`] | their unit tests: all words of reduced size; `tests/samplers.rs` |
//! | under a seed the samples do not depend on threads or platform | [`noise::Streams`] | `noise::stream`, `noise::random` (RFC 8439), `tests/samplers.rs` |
//! | the largest probability of a correct decision is a point of the profile | [`most_correct`](risk::bound::most_correct) | `tests/risk.rs`: against one count's own decisions |
//! | all outputs of two levels are summed, and what is not visited is added (Kazan & Reiter, Section 4.3) | [`correct_decision`](risk::hierarchical::Hierarchy::correct_decision) | `tests/risk.rs`: enumeration |
//! | the marginal posterior is Mellin's integral of the logistic function | [`marginal`](risk::single::Attack::marginal) | `tests/risk.rs`: sums over outputs |
//! | off-spine distances are true minima; every path of a spine sums to exactly one; Theorem 2 | [`spine::osed`], [`spine::bypass`] | `tests/spine.rs`: all coefficients tried, path by path, dense matrices |
//! | noise by a unit's share spends the budget on every path (Cumings-Menon et al., Theorems 1 and 3) | [`Mechanism`](spine::measure::Mechanism) | `tests/measure.rs`: every change of a record, count by count |
//! | the two-pass estimate is least squares, and its variances are (3.4), for trees and Kronecker products | [`spine::estimate`], [`spine::variance`], [`spine::kronecker`] | `tests/estimate.rs`: dense matrices in exact fractions; `tests/rhode_island.rs` |
//!
//! # What is assumed
//!
//! - MPFR rounds as it documents: its basic operations and elementary functions are correctly rounded.
//! - The machine's doubles follow IEEE 754, and the standard library's `exp`, `exp_m1` and `ln_1p` of doubles err by
//!   less than 10^-12 relative. They bound radii and windows, never a reported midpoint.
//! - The noise that was added is the noise that was declared: independent draws of exactly N_Z(0, sigma2). For noise drawn
//!   by [`noise`] that is proven, up to this: the words of ChaCha20, keyed by the operating system, stand for random
//!   digits.

pub mod account;
pub mod error;
pub mod evidence;
mod files;
pub mod noise;
pub mod numeric;
pub mod release;
pub mod risk;
pub mod spine;

pub use error::{Error, Result};

/// README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
