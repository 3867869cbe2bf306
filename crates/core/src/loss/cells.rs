//! A fixed grid of real parts for contours that many requests share.
//!
//! A contour need not pass through its request's saddle point. With K = 2 rho + 1/c^2 for the curvature of ln |M kappa| on the real axis, the
//! integrand of a contour at distance d from the saddle point is about exp(K d^2 / 2) times as large as on the best one, which costs digits of the
//! sum and a few more nodes. So a step of the grid is a constant times 1 / sqrt(K): the points are equally spaced in the integral of sqrt(K),
//!
//! g(c) = sqrt(1 + x^2) - asinh(1 / x), x = c sqrt(2 rho),
//!
//! which increases from minus to plus infinity. Nothing here needs a proof: every real part gives a true enclosure.
//!
//! The contours themselves are remembered by their points, for one sum (`shared`) and for a family (`family::shared`).

use std::sync::Arc;

use super::{memo::Memo, search::few_bits};
use crate::{error::Result, numeric::halving::bisect};

/// The step of the grid in g: a saddle point is at most half of it away, so that the integrand is at most exp(1/8) times as large.
const STEP: f64 = 1.0;

/// A point of the grid, and the saddle points that are closer to it than to any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Cell(i64);

impl Cell {
    /// The cell of a saddle point; `None` where doubles do not resolve it.
    pub(crate) fn of_saddle(saddle: f64, rho: f64) -> Option<Self> {
        let place = (place(saddle * (2.0 * rho).sqrt()) / STEP).round();
        (place.abs() < 1e15).then_some(Cell(place as i64))
    }

    /// The real part of the contour, of few bits.
    pub(crate) fn real_part(self, rho: f64) -> f64 {
        few_bits(self.at(0.0, rho))
    }

    /// The smallest and the largest saddle point of the cell.
    pub(crate) fn ends(self, rho: f64) -> (f64, f64) {
        (self.at(-0.5, rho), self.at(0.5, rho))
    }

    fn at(self, steps: f64, rho: f64) -> f64 {
        let place = (self.0 as f64 + steps) * STEP;
        inverse(place) / (2.0 * rho).sqrt()
    }
}

/// Contours by their cell and by digits; `None` for a cell without one.
#[derive(Debug)]
pub(crate) struct ByCell<T> {
    known: Memo<(Cell, u32), Option<Arc<T>>>,
}

impl<T> Default for ByCell<T> {
    /// Without a limit.
    fn default() -> Self {
        ByCell { known: Memo::default() }
    }
}

impl<T> ByCell<T> {
    /// With at most this total weight, unless as many as there are threads weigh more: those may be in use.
    pub(crate) fn weighing_at_most(most: usize, weight: fn(&Option<Arc<T>>) -> usize) -> Self {
        ByCell { known: Memo::default().weighing_at_most(most, weight).with_in_use(rayon::current_num_threads) }
    }

    /// The contour of the cell of a saddle point, made if need be; `None` where there is none.
    pub(crate) fn value(
        &self,
        saddle: f64,
        rho: f64,
        digits: u32,
        make: impl FnOnce(Cell) -> Result<Option<T>>,
    ) -> Result<Option<Arc<T>>> {
        let Some(cell) = Cell::of_saddle(saddle, rho) else { return Ok(None) };
        self.known.get_or_try((cell, digits), |(cell, _)| Ok(make(*cell)?.map(Arc::new)))
    }
}

/// The epsilon whose saddle point on an unbounded contour is c: where rho (1 + 2 c) - epsilon - 1/c - 1/(c + 1) is zero.
pub(crate) fn threshold(c: f64, rho: f64) -> f64 {
    rho * (1.0 + 2.0 * c) - 1.0 / c - 1.0 / (c + 1.0)
}

fn place(x: f64) -> f64 {
    (1.0 + x * x).sqrt() - libm::asinh(1.0 / x)
}

/// The x > 0 at this place, by bisection of its logarithm.
fn inverse(wanted: f64) -> f64 {
    libm::exp(bisect([-700.0, 700.0], 64, |ln| place(libm::exp(ln)) < wanted)[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adjacent cells meet, each holds its own point, and the saddle points between belong to them.
    #[test]
    fn the_cells_cover_all_saddle_points() {
        for rho in [1e-18, 0.3, 3.65, 1e9] {
            for index in [-40, -3, 0, 1, 12, 900] {
                let cell = Cell(index);
                let (low, high) = cell.ends(rho);
                assert!(low < cell.real_part(rho) && cell.real_part(rho) < high, "{cell:?} {rho}");
                assert!((high / Cell(index + 1).ends(rho).0 - 1.0).abs() < 1e-9);
                for saddle in [low * 1.000_001, (low * high).sqrt(), high * 0.999_999] {
                    assert_eq!(Cell::of_saddle(saddle, rho), Some(cell));
                }
            }
        }
        assert_eq!((Cell::of_saddle(f64::NAN, 1.0), Cell::of_saddle(1e300, 1.0)), (None, None));
    }
}
