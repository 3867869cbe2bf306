//! The facts that every law of noise provides.

use rug::Rational;

use super::{
    finite::Finite,
    shape::{Exponent, Shape},
    uniform::Uniform,
};
use crate::error::Result;

/// Both ends of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Range {
    pub least: Rational,
    pub most: Rational,
}

impl Range {
    /// From a fraction to a whole number.
    pub(super) fn new(least: (u32, u32), most: u64) -> Self {
        Range { least: Rational::from(least), most: Rational::from(most) }
    }
}

/// How the size of the noise grows with the parameter of a law.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// The parameter is in proportion to the noise, as a scale.
    Scale,
    /// It is in proportion to the square of the noise, as a variance; noise `factor` times as large has `factor` times the variance.
    Variance,
    /// It is in proportion to one over the noise, as an epsilon.
    Inverse,
}

/// The facts that every law provides. Shifts are the integers by which neighbors move a count.
pub(super) trait Facts<'a> {
    /// Its name in words, as in "discrete Gaussian noise"; and that in files, options and certificates.
    fn names(&self) -> [&'static str; 2];

    /// In words in place of parameters, where it has none.
    fn label(&self) -> Option<&'a str> {
        None
    }

    /// The name and the value of its parameter: the one that changes where there is to be more noise. One for a law by its masses, which has none.
    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("scale", Rational::ONE)
    }

    /// The names and values of its other parameters.
    fn others(&self) -> Vec<(&'static str, Rational)> {
        Vec::new()
    }

    /// Whether it stands for every mechanism with some guarantee: it is taken as given under each neighbor relation.
    fn is_guarantee(&self) -> bool {
        false
    }

    /// Whether it sees a random part of the records.
    fn is_sampled(&self) -> bool {
        false
    }

    /// Whether each of two neighbors is to the other as the other is to it.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// Whether every loss of one count is zero or infinite.
    fn has_no_finite_loss(&self, shift: u64) -> bool {
        self.largest_loss(shift).is_some_and(|largest| largest == 0)
    }

    /// The variance proxy of Gaussian noise, discrete or continuous.
    fn sigma2(&self) -> Option<&'a Rational> {
        None
    }

    /// Whether the noise is on the real line.
    fn is_continuous(&self) -> bool {
        false
    }

    /// An error unless the parameter is in the range of an account.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The largest shift of an account.
    fn most_shift(&self) -> u64;

    /// How the size of the noise grows with its parameter, and the range of the parameter in which noise is searched; `None` where there is no more of the same noise.
    fn growth(&self) -> Option<(Growth, Range)> {
        None
    }

    /// The parameter with which the noise is `factor` times as large: of a Gaussian its variance, of a Laplace its scale.
    fn parameter_times(&self, factor: &Rational) -> Rational {
        let parameter = self.parameter().1;
        match self.growth() {
            None => parameter.clone(),
            Some((Growth::Inverse, _)) => Rational::from(parameter / factor),
            Some(_) => Rational::from(parameter * factor),
        }
    }

    /// The factors for which the noise stays in the range of an account: one alone where there is no more of the same noise.
    fn factors(&self) -> Range {
        let parameter = self.parameter().1;
        match self.growth() {
            None => Range { least: Rational::from(1), most: Rational::from(1) },
            Some((Growth::Inverse, Range { least, most })) => {
                Range { least: parameter / most, most: parameter / least }
            }
            Some((_, Range { least, most })) => Range { least: least / parameter, most: most / parameter },
        }
    }

    /// The factor by which rho falls when the noise grows by `factor`.
    fn rho_divisor(&self, factor: &Rational) -> Rational {
        match self.growth() {
            None => Rational::from(1),
            Some((Growth::Variance, _)) => factor.clone(),
            Some(_) => factor.clone().square(),
        }
    }

    /// The rho of zero-concentrated differential privacy that one count spends, given that its loss is finite: with a largest loss of l it is l^2 / 2
    /// (Bun & Steinke 2016, Proposition 1.4).
    fn rho(&self, shift: u64) -> Rational {
        self.largest_loss(shift).unwrap_or_default().square() / 2_u32
    }

    /// Whether rho is a formula of the parameters: of masses, losses are logarithms, and rho is an upper bound.
    fn has_exact_rho(&self) -> bool {
        true
    }

    /// The largest loss of one count that is finite; `None` where losses are unbounded.
    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        self.finite(shift).map(|finite| finite.largest)
    }

    /// Whether losses that are finite have a largest one.
    fn is_bounded(&self) -> bool {
        self.largest_loss(1).is_some()
    }

    /// Whether its losses are few of very many multiples of their common step.
    fn is_listed(&self) -> bool {
        false
    }

    /// Whether some outcomes are possible for one neighbor only.
    fn has_infinite_loss(&self) -> bool {
        false
    }

    /// The losses of one count with their masses, where they are finitely many; `None` where losses are unbounded.
    fn finite(&self, _: u64) -> Option<Finite> {
        None
    }

    /// The losses of one count where they are uniform once they are tilted. Those of `finite` are then of a pair that is at most as private.
    fn uniform(&self, _: u64) -> Option<Uniform> {
        None
    }

    /// How many losses `finite` has.
    fn losses(&self, shift: u64) -> Option<u64> {
        self.finite(shift).map(|finite| finite.masses.len() as u64)
    }

    /// 1 / variance of the noise, or of the continuous noise of the same shape: an approximation for weights.
    fn precision_approx(&self) -> Rational {
        Rational::from(1)
    }

    /// The exponent; `None` for noise that is not on the integers, or not unbounded.
    fn exponent(&self) -> Option<Exponent> {
        None
    }

    /// The masses of one draw; `None` for noise that is not on the integers, or not known.
    fn shape(&self) -> Option<Shape> {
        self.exponent().map(|exponent| Shape::Exponential { exponent, bound: None })
    }

    /// An error unless the parameter is in the range of the exact samplers.
    fn check_sampled(&self) -> Result<()> {
        self.check()
    }

    /// The change of the loss of one count when its noise changes by one, where the loss is linear; the step between losses where it is not.
    fn weight(&self, shift: u64) -> Rational {
        self.finite(shift).map(|finite| finite.step).unwrap_or_default()
    }
}
