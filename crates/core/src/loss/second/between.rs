//! Doubles with a bound for their roundings.

use crate::numeric::Enclosure;

/// By how much every bound is widened, relative to the sizes of its terms: a thousand roundings of 2^-50.
pub(super) const WIDENING: f64 = 1e-12;

/// A number in doubles between two others. An end that is not a number says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Between {
    /// Encloses the exponential, cut to [0, 1].
    pub(super) fn exp(self) -> Enclosure {
        let upper = if self.upper.is_nan() { 0.0 } else { self.upper.min(0.0) };
        let lower = if self.lower.is_nan() { f64::NEG_INFINITY } else { self.lower };
        // Ends in the wrong order say nothing: `Enclosure::new` makes them the whole line.
        Enclosure::new(exp_of(lower).lower().clone(), exp_of(upper).upper().clone()).clamp(0.0, 1.0)
    }
}

/// Encloses exp(x), which may be far below every double.
fn exp_of(x: f64) -> Enclosure {
    if x == f64::NEG_INFINITY { Enclosure::double(0.0, 64) } else { Enclosure::double(x, 64).exp() }
}

/// The smallest value that a golden-section search finds in a range: any value of a bound is a bound. Infinite where none is a number.
pub(super) fn least(bound: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const STEPS: u32 = 28;
    let (mut x, mut y) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut of_x, mut of_y) = (bound(x), bound(y));
    let mut found = f64::INFINITY;
    for _ in 0..STEPS {
        // `min` takes the number where the other one is a NaN.
        found = found.min(of_x).min(of_y);
        if of_x <= of_y || of_y.is_nan() {
            (high, y, of_y) = (y, x, of_x);
            x = high - GOLDEN * (high - low);
            of_x = bound(x);
        } else {
            (low, x, of_x) = (x, y, of_y);
            y = low + GOLDEN * (high - low);
            of_y = bound(y);
        }
    }
    found
}
