//! The logarithm of a complex number, in each arithmetic.

use num_complex::Complex64;

use super::fixed::{Length, Powers};
use crate::{
    error::Result,
    loss::stop::Stop,
    numeric::{
        Enclosure,
        ball::{Ball, ComplexBall},
        complex_double,
        field::{Field, Real},
        rational,
        twofold::{ComplexTwofold, TwofoldBall},
    },
};

/// The precision of an arithmetic.
pub(super) type Precision<F> = <<F as Field>::Real as Real>::Precision;

/// A field whose real numbers can be had from enclosures and returned as such.
pub(super) trait Arithmetic: Field {
    /// A number that contains the enclosed one.
    fn real(value: &Enclosure, precision: Precision<Self>) -> Self::Real;
    /// A double, exactly.
    fn double(x: f64, precision: Precision<Self>) -> Self::Real {
        exact(x, precision)
    }
    /// The enclosure of a number.
    fn enclosure(value: &Self::Real) -> Enclosure;
    /// The principal logarithm of a number off the negative axis and zero.
    fn ln(&self, precision: Precision<Self>) -> Self;
    /// The factors of nodes, prepared for sums.
    type Powers;
    /// Of factors z with |z| <= 1, for this number of powers.
    fn powers(factors: Vec<Self>, count: usize, length: Length, precision: Precision<Self>) -> Self::Powers;
    /// The sums over all nodes of w z^k, for k from zero up to a count.
    fn sums(powers: &Self::Powers, weights: Vec<Self>, count: usize, stop: &Stop) -> Result<Vec<Self>>;
}

/// A double, exactly; zero for one that is no number, which no caller has.
pub(super) fn exact<R: Real>(x: f64, precision: R::Precision) -> R {
    R::rational(&rational::from_f64(x).unwrap_or_default(), precision)
}

/// The imaginary part.
pub(super) fn im<F: Field>(z: &F, precision: Precision<F>) -> F::Real {
    z.mul(&F::new(exact(0.0, precision), exact(-1.0, precision))).re()
}

/// exp(z).
pub(super) fn exp<F: Field>(z: &F, precision: Precision<F>) -> F {
    F::cis(&im(z, precision)).scale(&z.re().exp())
}

/// One step of Newton's method from the logarithm in doubles, with the series of ln(1 + d) for the small d that is left.
///
/// y = y0 + ln(z exp(-y0)) holds up to a multiple of 2 pi i. That is zero: both y0 and the principal logarithm are principal values to within the
/// rounding of doubles, and |ln(1 + d)| < 0.1.
fn ln_of_ball<F: Arithmetic>(z: &F, precision: Precision<F>) -> F {
    let near = complex_double::ln(Complex64::new(z.re().approximate(), im(z, precision).approximate()));
    let first = F::new(exact(near.re, precision), exact(near.im, precision));
    let minus = |z: &F| F::new(z.re().neg(), im(z, precision).neg());
    let one = F::new(exact(1.0, precision), exact(0.0, precision));
    let rest = z.mul(&exp(&minus(&first), precision)).add(&minus(&one));
    let size = |x: &F::Real| {
        let (low, high) = F::enclosure(x).doubles();
        low.abs().max(high.abs())
    };
    // |d| <= |re d| + |im d|
    let most = (size(&rest.re()) + size(&im(&rest, precision))).next_up();
    if most.is_nan() || most > 1e-6 {
        return first.with_error(f64::INFINITY);
    }
    let terms = (f64::from(F::working_bits(precision)) * std::f64::consts::LN_2 / -libm::log(most.max(1e-30))).ceil()
        as i64
        + 1;
    // d - d^2 / 2 + d^3 / 3 - ... by Horner's rule.
    let mut sum = F::new(exact(0.0, precision), exact(0.0, precision));
    for k in (1..=terms).rev() {
        let sign = if k % 2 == 0 { -1 } else { 1 };
        let coefficient = F::new(F::Real::ratio(sign, k, precision), exact(0.0, precision));
        sum = sum.add(&coefficient);
        sum = sum.mul(&rest);
    }
    // The terms left out are at most |d|^(k + 1) / (1 - |d|) <= 2 |d|^(k + 1).
    first.add(&sum).with_error((terms + 1) as f64 * libm::log(most.max(1e-300)) + 1.0)
}

impl Arithmetic for ComplexTwofold {
    fn real(value: &Enclosure, (): ()) -> TwofoldBall {
        TwofoldBall::of_enclosure(value)
    }
    fn double(x: f64, (): ()) -> TwofoldBall {
        TwofoldBall::double(x)
    }
    fn enclosure(value: &TwofoldBall) -> Enclosure {
        value.enclosure()
    }
    fn ln(&self, (): ()) -> Self {
        ln_of_ball(self, ())
    }
    type Powers = Powers;
    fn powers(factors: Vec<Self>, count: usize, length: Length, (): ()) -> Powers {
        Powers::of_factors(&factors, count, length)
    }
    fn sums(powers: &Powers, weights: Vec<Self>, count: usize, stop: &Stop) -> Result<Vec<Self>> {
        powers.sums(weights, count, stop)
    }
}

impl Arithmetic for ComplexBall {
    fn real(value: &Enclosure, bits: u32) -> Ball {
        Ball::of_enclosure(value, bits)
    }
    fn enclosure(value: &Ball) -> Enclosure {
        value.enclosure()
    }
    fn ln(&self, bits: u32) -> Self {
        ln_of_ball(self, bits)
    }
    type Powers = Vec<ComplexBall>;
    fn powers(factors: Vec<Self>, _count: usize, _length: Length, _bits: u32) -> Vec<ComplexBall> {
        factors
    }
    fn sums(factors: &Vec<ComplexBall>, mut states: Vec<Self>, count: usize, stop: &Stop) -> Result<Vec<Self>> {
        let mut sums = Vec::with_capacity(count);
        let Some(rest) = factors.len().checked_sub(1) else { return Ok(sums) };
        while sums.len() < count {
            stop.check()?;
            sums.push(states.iter().skip(1).take(rest).fold(states[0].clone(), |sum, state| sum.add(state)));
            states.iter_mut().zip(factors).for_each(|(state, factor)| *state = state.mul(factor));
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use rug::{Float, Rational};

    use super::*;

    use crate::numeric::rational::parse;

    /// exp(ln z) holds z, and both arithmetics agree with the logarithm in doubles.
    #[test]
    fn the_logarithm_is_that_of_doubles_and_inverse_to_exp() {
        let parts = [("0.99", "1e-9"), ("1e-6", "0.3"), ("123.5", "77"), ("0.5", "0")];
        for (re, im_part) in parts {
            let (a, b): (Rational, Rational) = (parse(re).unwrap(), parse(im_part).unwrap());
            let doubles = Complex64::new(a.to_f64(), b.to_f64()).ln();
            let fine = ComplexBall::new(Ball::rational(&a, 200), Ball::rational(&b, 200));
            let quick = ComplexTwofold::new(TwofoldBall::rational(&a, ()), TwofoldBall::rational(&b, ()));
            let (of_fine, of_quick) = (fine.ln(200), quick.ln(()));
            for (fine, quick, near) in [
                (of_fine.re().enclosure(), of_quick.re().enclosure(), doubles.re),
                (im(&of_fine, 200).enclosure(), im(&of_quick, ()).enclosure(), doubles.im),
            ] {
                let width = Float::with_val(64, quick.upper() - quick.lower());
                assert!(fine.overlaps(&quick) && width < 1e-28, "{fine} {quick}");
                assert!((fine.approximate() - near).abs() <= 1e-15 * near.abs().max(1.0), "{fine} {near}");
            }
            let back = exp(&of_fine, 200);
            assert!(back.re().enclosure().contains(&a) && im(&back, 200).enclosure().contains(&b));
        }
    }
}
