//! Long numbers as those of least squares.

use rug::{Float, Integer};

use super::{BITS, long};
use crate::{error::Result, topdown::gls::number::Number};

impl Number for Float {
    type Variance = Float;
    type Key = Option<(Integer, i32)>;

    // Far below the ratio of any two variances, with that of the prior, and far above rounding errors.
    const CUT: f64 = 1e-150;
    const FIXED: f64 = 1e-150;

    fn of(value: f64) -> Float {
        long(value)
    }

    fn root(&self) -> Float {
        self.clone().sqrt()
    }

    fn size(&self) -> Float {
        self.clone().abs()
    }

    fn add_multiple(&mut self, factor: f64, other: &Float) {
        *self += Float::with_val(BITS, other * factor);
    }

    fn add_product(&mut self, a: &Float, b: &Float) {
        *self += a * b;
    }

    fn subtract_product(&mut self, a: &Float, b: &Float) {
        *self -= a * b;
    }

    fn precision(variance: &Float) -> Float {
        Float::with_val(BITS, variance.recip_ref())
    }

    fn key(variance: &Float) -> Self::Key {
        variance.to_integer_exp()
    }

    fn check_apart(_: &mut Option<[Float; 2]>, _: &[Float]) -> Result<()> {
        Ok(())
    }
}
