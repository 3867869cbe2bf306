//! The privacy profile: delta as a function of epsilon and back.

use rayon::prelude::*;
use rug::Rational;

use super::{Composition, conversions};
use crate::{
    error::{Error, Result},
    loss::answer::{Certificate, Certified},
    numeric::{
        Enclosure, rational,
        root::{self, Decreasing},
    },
};

/// The largest epsilon that is accounted for, in nats.
const MOST_EPSILON: u64 = 1_000_000_000_000_000;

/// An epsilon that is proven from both sides: delta(lower) >= delta >= delta(upper).
#[derive(Clone, Debug)]
pub struct Epsilon {
    /// The enclosure, in nats.
    pub value: Enclosure,
    /// Whether the asked relative width was met.
    pub met: bool,
    /// How delta at the upper end was certified; nothing where delta(0) is below the target already.
    pub certificate: Option<Certificate>,
}

/// A point of the privacy profile.
#[derive(Clone, Debug)]
pub struct Point {
    /// The epsilon asked for, in nats.
    pub epsilon: Rational,
    /// delta(epsilon).
    pub delta: Enclosure,
    /// delta by zero-concentrated differential privacy, as Bun & Steinke convert it.
    pub zcdp_delta: Enclosure,
}

/// Refuses deltas that no question can have.
pub fn check_delta(delta: &Rational) -> Result<()> {
    if *delta <= 0 || *delta >= 1 {
        let expected = "a probability 0 < delta < 1 (at delta = 0 no Gaussian noise has a finite epsilon)";
        return Err(Error::out_of_range("delta", rational::display(delta), expected));
    }
    Ok(())
}

/// Refuses epsilons that no question can have.
pub fn check_epsilon(epsilon: &Rational) -> Result<()> {
    if *epsilon < 0 || *epsilon > MOST_EPSILON {
        return Err(Error::out_of_range("epsilon", rational::display(epsilon), "0 <= epsilon <= 1e15"));
    }
    Ok(())
}

impl Composition {
    /// delta(epsilon) = sup over events S of P(S) - exp(epsilon) Q(S), the hockey-stick divergence of the pair, to a
    /// relative width of 10^-digits (Su, Su & Wang, Lemma A.9 and (A.9), both terms). Epsilon in nats.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<Certified> {
        check_epsilon(epsilon)?;
        self.loss().hockey_stick(epsilon, digits)
    }

    /// ln delta(epsilon) in doubles: about 13 digits, an approximation without proof.
    pub fn ln_delta_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.loss().ln_hockey_stick_approx(epsilon)
    }

    /// The smallest epsilon >= 0 with delta(epsilon) <= delta, proven from both sides to a relative width of
    /// 10^-digits.
    pub fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Epsilon> {
        check_delta(delta)?;
        // The concentrated bound holds for every discrete Gaussian, so it is a ceiling.
        let ceiling = conversions::zcdp_epsilon(self.rho(), delta, 15).upper().to_f64().next_up();
        let root = root::decreasing_root(self, delta, ceiling, digits)?;
        let upper = root.value.upper().to_rational().unwrap_or_default();
        let proof = (upper > 0).then(|| self.loss().hockey_stick(&upper, digits)).transpose()?;
        Ok(Epsilon { value: root.value, met: root.met, certificate: proof.map(|proof| proof.certificate) })
    }

    /// The privacy profile at the given points, on all cores.
    pub fn curve(&self, epsilons: &[Rational], digits: u32) -> Result<Vec<Point>> {
        let point = |epsilon: &Rational| {
            Ok(Point {
                epsilon: epsilon.clone(),
                delta: self.delta(epsilon, digits)?.value,
                zcdp_delta: conversions::zcdp_delta(self.rho(), epsilon, digits),
            })
        };
        epsilons.par_iter().map(point).collect()
    }
}

impl Decreasing for Composition {
    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_delta_approx(epsilon)
    }

    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<Enclosure> {
        Ok(self.loss().hockey_stick(epsilon, digits)?.value)
    }
}
