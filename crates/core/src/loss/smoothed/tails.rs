//! Tails of the tilted masses of fine groups by their energy.

use rug::Rational;

use crate::{
    loss::atoms::coarse::exact_exponent,
    numeric::{
        Enclosure,
        field::Real,
        precision,
        twofold::{self, TwofoldBall},
    },
};

/// The approximate energy beyond which the tilted masses of this number of fine groups are exp(-needed) in all.
pub(super) fn energy_beyond(dimension: usize, needed: f64) -> f64 {
    let dimension = dimension as f64;
    let mut energy = needed.max(dimension);
    for _ in 0..8 {
        let ratio: f64 = 2.0 * energy / dimension;
        energy = (needed + dimension * (0.5 + libm::log(ratio.max(1.0)) / 2.0 + 0.25)).max(dimension);
    }
    energy
}

/// Upper bound on those masses: exp(-E + k / 2) (2 E / k)^(k / 2) 1.25^k.
pub(super) fn beyond_energy(dimension: usize, energy: f64, bits: u32) -> Enclosure {
    let real = |x: f64| Enclosure::double(x, bits);
    let (dimension, energy) = (dimension as f64, real(energy));
    let ratio = energy.mul(&real(2.0)).div(&real(dimension)).ln().mul(&real(dimension / 2.0));
    let ln = ratio.sub(&energy).add(&real(dimension / 2.0)).add(&real(1.25).ln().mul(&real(dimension)));
    ln.exp()
}

/// exp(-x) to about this number of digits.
pub(super) fn exp_of_minus(x: &Rational, digits: u32) -> Enclosure {
    // Up to there, sums of two doubles lose no digits to underflow, and few to the size of the argument.
    const MOST: u32 = 500;
    let minus = Rational::from(-x);
    if digits <= twofold::ball::MOST_DIGITS && *x < MOST {
        return TwofoldBall::rational(&minus, ()).exp().enclosure();
    }
    exact_exponent(&minus, precision::bits(digits, 24)).exp()
}
