//! Disclosure risk: what an adversary who knows almost everything learns from noisy counts (Kazan & Reiter 2023).
//!
//! A target t belongs to a small group, for example a block. The adversary knows everybody else in it. So the group's
//! count of a combination of characteristics is m without the target or m + 1 with it, and the adversary's prior
//! probability for m + 1 is p. Counts are published with noise N_Z(0, 1 / (2 rho)).
//!
//! | file | content |
//! | --- | --- |
//! | [`single`] | risk from one noisy count, or from one at each of several levels or releases |
//! | `marginal` | the posterior averaged over all outputs |
//! | `average` | averages over all outputs of a few counts, as a sum over these |
//! | `few` | decisions from several counts whose noise takes few values |
//! | [`others`] | the exact noise of a sum over d other groups |
//! | [`hierarchical`] | the additional risk from counts of the groups above and beside |
//! | [`decision`] | how often the adversary who uses those counts decides correctly, over all outputs |
//! | `chain` | the same for three or more levels |
//! | `enumeration`, `threshold` | the tables for that sum, and the count from which the adversary decides for the target |
//! | [`postprocess`] | the risk that remains after the counts have been made consistent |
//! | [`bound`] | upper bounds for every adversary |
//! | [`events`] | the posterior after any event of a given probability |
//! | [`outputs`] | the posterior of single outputs, with few exceptions |
//! | [`curve`] | the risk from the best test of each type I error |
//! | [`promise`] | promises in the terms of risk, for calibration |
//!
//! The room `replication` holds the sampler that the paper uses in place of the exact posterior, and the
//! curves of the paper's figures.
//!
//! The formulas do not depend on the meaning of the prior. The probability that t has the characteristics, that t
//! answered at all, that t answered truly, or that an unknown variable of t has a given value: each is the same attack
//! under another name of p (Section S1.2).

mod average;
pub mod bound;
mod chain;
pub mod curve;
pub mod decision;
mod enumeration;
pub mod events;
mod few;
pub mod hierarchical;
mod marginal;
pub mod others;
pub mod outputs;
pub mod postprocess;
pub mod promise;
pub mod single;
mod threshold;

use rug::{Float, Rational};

use crate::{
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::{Enclosure, rational},
};

/// Refuses priors outside (0, 1).
pub fn check_prior(prior: &Rational) -> Result<()> {
    if *prior <= 0 || *prior >= 1 {
        return Err(Error::out_of_range("the prior", rational::display(prior), "a probability above 0 and below 1"));
    }
    check_length("the prior", prior)
}

/// Refuses numbers so long that exact arithmetic with them would be slow.
fn check_length(what: &str, value: &Rational) -> Result<()> {
    const MOST_DIGITS: u32 = 1000;
    // log2(10) < 3.33.
    let bits = value.numer().significant_bits().max(value.denom().significant_bits());
    if bits > MOST_DIGITS * 333 / 100 {
        let shown = format!("{} to {bits} bits", value.to_f64());
        return Err(Error::out_of_range(
            what,
            shown,
            "a number of at most 1000 digits above and below its fraction bar",
        ));
    }
    Ok(())
}

/// The noise N_Z(0, 1 / (2 rho)) that spends rho on one count, for rho from 1e-17 to 5e5.
pub fn noise(rho: &Rational) -> Result<DiscreteGaussian> {
    check_rho(rho)?;
    DiscreteGaussian::new(Rational::from(1) / Rational::from(rho * 2_u32))
}

#[doc(hidden)]
pub fn check_rho(rho: &Rational) -> Result<()> {
    // 1 / (2 rho) from 10^-6 to 5 * 10^16, the range in which the noise lattice can be computed.
    let (least, most) = (Rational::from((1, 100_000_000_000_000_000_u64)), Rational::from(500_000));
    if *rho < least || *rho > most {
        let expected = "above 0, from 1e-17 to 5e5 (at rho = 0 nothing is published, without noise everything is)";
        return Err(Error::out_of_range("rho", rational::display(rho), expected));
    }
    check_length("rho", rho)
}

/// p / (1 - p).
#[doc(hidden)]
pub fn odds(prior: &Rational) -> Rational {
    prior / Rational::from(1 - prior)
}

/// The ends of an enclosure of a real number as exact numbers; `what` names the number if one of them is infinite.
fn exact_ends(value: &Enclosure, what: &str) -> Result<(Rational, Rational)> {
    let end =
        |end: &Float| end.to_rational().ok_or_else(|| Error::unsuitable(format!("{what} has no finite bound ({end})")));
    Ok((end(value.lower())?, end(value.upper())?))
}

/// Encloses exp(exponent) to about `bits` bits, for exponents of any size.
#[doc(hidden)]
pub fn exp(exponent: &Rational, bits: u32) -> Enclosure {
    let size = libm::log2(exponent.to_f64().abs()).clamp(0.0, 300.0) as u32;
    Enclosure::rational(exponent, bits + size + 4).exp()
}

/// p e^epsilon / (1 - p + p e^epsilon).
pub fn posterior_at(prior: &Rational, epsilon: &Enclosure) -> Enclosure {
    let bits = epsilon.lower().prec().max(64) + 64;
    let widened = epsilon.add(&Enclosure::double(0.0, bits));
    let odds = Enclosure::rational(&odds(prior), bits).mul(&widened.exp());
    Enclosure::double(1.0, bits).add(&odds.recip()).recip()
}

/// The posterior probability after evidence L: 1 / (1 + exp(-L) (1 - p) / p).
pub(crate) fn posterior(prior: &Rational, evidence: &Rational, bits: u32) -> Enclosure {
    let against = Enclosure::rational(&(Rational::from(1) / odds(prior)), bits + 8);
    let ratio = exp(&-evidence.clone(), bits + 8).mul(&against);
    Enclosure::double(1.0, bits + 8).add(&ratio).recip()
}

/// The least index below `end` at which a monotone condition holds, or `end`.
fn first_true(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// Widens the upper end by an upper bound on a truncation error.
#[doc(hidden)]
pub fn plus_at_most(value: &Enclosure, left_out: &Enclosure) -> Enclosure {
    let zero = Enclosure::double(0.0, left_out.lower().prec());
    value.add(&zero.hull(left_out))
}

/// Widens both ends by an upper bound on an error of either sign.
pub(crate) fn plus_or_minus(value: &Enclosure, error: &Enclosure) -> Enclosure {
    value.add(&error.clone().negate().hull(error))
}
