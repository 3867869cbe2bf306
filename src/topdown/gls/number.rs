//! The numbers of least squares: doubles, and [long numbers](crate::topdown::precise) for variances that differ by many orders of magnitude.

use std::{
    fmt::Debug,
    hash::Hash,
    ops::{AddAssign, DivAssign, MulAssign, SubAssign},
};

use crate::{
    error::{Error, Result},
    topdown::precise::FAR,
};

/// A number of estimates and covariances.
pub trait Number:
    Clone
    + Debug
    + PartialOrd
    + Send
    + Sync
    + 'static
    + for<'a> AddAssign<&'a Self>
    + for<'a> SubAssign<&'a Self>
    + for<'a> MulAssign<&'a Self>
    + for<'a> DivAssign<&'a Self>
{
    /// The variance of the noise of a count.
    type Variance: Clone + Debug + Send + Sync;

    /// A key that equal variances share.
    type Key: Eq + Hash;

    /// A pivot below this fraction of its own diagonal entry is zero: the remainder is rounding error.
    const CUT: f64;

    /// A variance below this fraction of the sum of absolute terms is zero: constraints fix the count.
    const FIXED: f64;

    /// The number that is equal to a double.
    fn of(value: f64) -> Self;

    /// The square root.
    fn root(&self) -> Self;

    /// The absolute value.
    fn size(&self) -> Self;

    /// Adds a multiple of a number.
    fn add_multiple(&mut self, factor: f64, other: &Self);

    /// Adds a product.
    fn add_product(&mut self, a: &Self, b: &Self);

    /// Subtracts a product.
    fn subtract_product(&mut self, a: &Self, b: &Self);

    /// The inverse of a variance.
    fn precision(variance: &Self::Variance) -> Self;

    /// The key of a variance.
    fn key(variance: &Self::Variance) -> Self::Key;

    /// Refuses variances that are too far apart for these numbers; `ends` are the least and the largest one so far.
    fn check_apart(ends: &mut Option<[Self::Variance; 2]>, variances: &[Self::Variance]) -> Result<()>;

    /// One divided by the number.
    fn inverse(&self) -> Self {
        Self::of(1.0).over(self)
    }

    /// The product with a number.
    fn times(&self, other: &Self) -> Self {
        let mut product = self.clone();
        product *= other;
        product
    }

    /// The quotient by a number.
    fn over(&self, other: &Self) -> Self {
        let mut quotient = self.clone();
        quotient /= other;
        quotient
    }

    /// The difference from a number.
    fn less(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        difference -= other;
        difference
    }
}

/// Adds numbers to other numbers, elementwise.
pub(super) fn add<N: Number>(to: &mut [N], from: &[N]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// The inner product of two vectors.
pub(super) fn dot<'n, N: Number>(a: impl IntoIterator<Item = &'n N>, b: impl IntoIterator<Item = &'n N>) -> N {
    let mut sum = N::of(-0.0);
    a.into_iter().zip(b).for_each(|(a, b)| sum.add_product(a, b));
    sum
}

impl Number for f64 {
    type Variance = f32;
    type Key = u32;

    // Constraints are exact, so a direction has either the variance of noise or none.
    const CUT: f64 = 1e-11;
    const FIXED: f64 = 1e-11;

    fn of(value: f64) -> f64 {
        value
    }

    fn root(&self) -> f64 {
        self.sqrt()
    }

    fn size(&self) -> f64 {
        self.abs()
    }

    fn add_multiple(&mut self, factor: f64, other: &f64) {
        *self += factor * other;
    }

    fn add_product(&mut self, a: &f64, b: &f64) {
        *self += a * b;
    }

    fn subtract_product(&mut self, a: &f64, b: &f64) {
        *self -= a * b;
    }

    fn precision(variance: &f32) -> f64 {
        f64::from(*variance).recip()
    }

    fn key(variance: &f32) -> u32 {
        variance.to_bits()
    }

    fn check_apart(ends: &mut Option<[f32; 2]>, variances: &[f32]) -> Result<()> {
        let least = variances.iter().copied().fold(f32::INFINITY, f32::min);
        let most = variances.iter().copied().fold(0.0, f32::max);
        let (least, most) = ends.map_or((least, most), |ends| (ends[0].min(least), ends[1].max(most)));
        if !variances.is_empty() {
            *ends = Some([least, most]);
            // The comparison is false for NaN.
            let is_near = f64::from(most) <= FAR * f64::from(least);
            if !is_near {
                let given = format!("{most:e} / {least:e}");
                let expected = "at most 1e8: estimates in doubles would be wrong in every digit of the smaller ones";
                return Err(Error::out_of_range("the ratio of the variances of the noise", given, expected));
            }
        }
        Ok(())
    }
}
