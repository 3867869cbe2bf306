//! Seconds: what single steps of the engines take on one processor, and the thresholds of time that follow.
//!
//! They decide which engine is tried first, and so how long an answer takes; no digit of an enclosure's proof depends on them. They are fixed
//! numbers, the same on every machine, so that the choice is. `scripts/measure/measure-costs` measures those of steps beside the numbers here; thresholds are
//! chosen.

/// An engine that is predicted to take no longer is tried before the costs of others are predicted: that would take as long.
pub(crate) const QUICK: f64 = 0.002;
/// An enumeration for a value of a trade-off function that takes no longer is preferred to supporting lines.
pub(crate) const AT_ONCE: f64 = 0.02;
/// An enumeration that takes longer is tried after a contour of unknown cost.
pub(crate) const MOST_OF_ENUMERATION: f64 = 1.5;

/// Gaussian smoothing that takes longer is not begun, nor any engine that is called by its name.
pub(crate) const MOST_OF_ANY: f64 = 4.0;

/// A window that a sieve examines.
pub(crate) const PER_WINDOW: f64 = 1e-7;
/// A node of a contour in doubles.
pub(crate) const PER_ROUGH_NODE: f64 = 4e-7;

/// A node of a contour of which the factors are kept.
pub(crate) const PER_KEPT_NODE: f64 = 1e-7;
/// What a request to the engines takes at least.
pub(crate) const OF_A_REQUEST: f64 = 2e-5;

/// A node of a contour, for each group: in sums of two doubles, and in balls over MPFR.
pub(crate) const PER_FACTOR: f64 = 2e-6;
pub(crate) const PER_FACTOR_OF_MANY_BITS: f64 = 2e-5;

/// A factor at a node of a contour with losses that have a density, and a product of their closed form.
pub(crate) const PER_UNIFORM_FACTOR: f64 = 5e-6;
pub(crate) const PER_UNIFORM_PRODUCT: f64 = 2e-7;
/// A product of complex integers in the moments of samples, and a power of such a moment; contours of samples that take longer have fewer digits.
pub(crate) const PER_PRODUCT: f64 = 3e-9;
pub(crate) const PER_POWER: f64 = 4e-7;
pub(crate) const MOST_OF_SAMPLES: f64 = 4.0;
/// The closed form of Gaussian noise, over MPFR.
pub(crate) const PER_CLOSED_FORM: f64 = 2e-5;
/// The share of the price of a factor that a state of the moments of a sample takes in balls: one product and one sum.
pub(crate) const SHARE_OF_A_STATE: f64 = 1.0 / 30.0;

/// A loss that is turned to a height, in doubles.
pub(crate) const PER_TURN: f64 = 4e-9;

/// The same of the contour with continuous noise; a loss from which that is taken away, and a step of the search for such losses.
pub(crate) const PER_SMOOTHED_FACTOR: f64 = 1e-6;
pub(crate) const PER_POINT: f64 = 3.5e-6;
pub(crate) const PER_STEP_TO_A_POINT: f64 = 1e-7;

/// A loss of a long list of which few matter.
pub(crate) const PER_LISTED: f64 = 1e-7;
/// A request to the remaining groups of a conditioning: by a short period of a contour; the same with more digits than two doubles hold; and at
/// least, by any other engine.
pub(crate) const OF_SHORT_PERIOD: f64 = 2e-4;
pub(crate) const OF_SHORT_PERIOD_OF_MANY_BITS: f64 = 4e-3;
pub(crate) const LEAST_OF_REMAINING: f64 = 1e-3;

/// A list of a conditioning that is made again with a finer cut: where other ways to condition are left to try, and where none is.
pub(crate) const FINER_LIST_AT_FIRST: f64 = 0.01;
pub(crate) const FINER_LIST: f64 = 0.5;
