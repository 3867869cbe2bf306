//! The sources of draws of pure noise.

use rug::Rational;

use crate::audit::{Shown, interval::Interval};

/// The source of draws of pure noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Counts of cells that constraints make zero.
    Zeros,
    /// Sums of a query's counts, minus an exact total.
    Totals,
    /// Sums of a query's counts over all parts of a state, minus its exact total.
    StateTotals,
    /// Counts that must agree with each other: children with their parent.
    Consistency,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Zeros => "zeros",
            Kind::Totals => "totals",
            Kind::StateTotals => "state totals",
            Kind::Consistency => "consistency",
        }
    }
}

/// The draws of one law in a folder.
#[derive(Clone, Debug)]
pub struct Source {
    /// The level.
    pub level: String,
    /// The query.
    pub query: String,
    /// The number of levels whose shares the units carry; 0 for sums over units.
    pub carried: usize,
    /// The kind of pure noise.
    pub kind: Kind,
    /// The parameter of the noise of one count; `None` for sums over units.
    pub sigma2: Option<Rational>,
    /// Approximations; `None` where no law is enumerated.
    pub shown: Option<Shown>,
    /// Factors on sigma2 that are not rejected: all intervals of a folder together hold except with the false alarm
    /// rate.
    pub interval: Option<Interval>,
    /// Observed and declared masses, as [`crate::audit::Audited::masses_approx`].
    pub masses: Vec<(i64, f64, f64, f64)>,
}
