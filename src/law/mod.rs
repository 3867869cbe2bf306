//! The laws of noise, one file each, with all that other rooms need to know of a law; and groups of equal counts, the terms of a sum of privacy losses.
//!
//! | file | law |
//! | --- | --- |
//! | `discrete_gaussian` | N_Z(0, sigma2), mass proportional to exp(-x^2 / (2 sigma2)) at every integer |
//! | `gaussian` | N(0, sigma2) on the real line |
//! | `discrete_laplace` | mass proportional to exp(-epsilon \|x\|) at every integer |
//! | [`theta`] | the factor of a group in the moment generating function, and its bounds |
//! | [`parameter`] | epsilon, delta, rho and sigma2, checked once when they are made |
//!
//! [`Facts`] lists what a law has to say: its name and its parameter for files, options and certificates; the ranges of an account; how much it
//! spends; the form of its exponent for samplers. No other room matches on a law, so that a new law is a new file and a row of `of_law!`.

mod discrete_gaussian;
mod discrete_laplace;
mod gaussian;
pub mod parameter;
pub mod theta;

use std::fmt;

use rug::Rational;

use crate::{
    error::{Error, Result},
    numeric::rational,
};
use discrete_gaussian::DiscreteGaussian;
use discrete_laplace::DiscreteLaplace;
use gaussian::Gaussian;

/// The law of the noise of one term, and with it the law of ln p(X) / p(X - shift).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// N_Z(0, sigma2) on the integers.
    DiscreteGaussian {
        /// The variance proxy.
        sigma2: Rational,
    },
    /// N(0, sigma2) on the real line.
    Gaussian {
        /// The variance.
        sigma2: Rational,
    },
    /// Mass proportional to exp(-epsilon |x|) at every integer x: two-sided geometric noise.
    DiscreteLaplace {
        /// The parameter in the exponent: the privacy loss of a change by one.
        epsilon: Rational,
    },
}

/// The exponent of a law on the integers with mass proportional to exp(-(slope |x| + curvature |x| (|x| - 1) / 2)).
///
/// N_Z(0, sigma2) has slope 1 / (2 sigma2) and curvature 1 / sigma2, since m + m (m - 1) = m^2; the discrete Laplace has slope epsilon and
/// curvature 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exponent {
    /// The slope at zero, above 0.
    pub slope: Rational,
    /// By how much the slope grows with each step, at least 0.
    pub curvature: Rational,
}

/// Both ends of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub least: Rational,
    pub most: Rational,
}

/// What a law says of itself. Shifts are the integers by which neighbors move a count.
trait Facts<'a> {
    /// In words, as in "discrete Gaussian noise".
    fn name(&self) -> &'static str;

    /// In files, options and certificates.
    fn key(&self) -> &'static str;

    /// The name and the value of its parameter.
    fn parameter(&self) -> (&'static str, &'a Rational);

    /// The law with another parameter.
    fn with_parameter(&self, parameter: Rational) -> Law;

    /// The variance proxy of Gaussian noise, discrete or continuous.
    fn sigma2(&self) -> Option<&'a Rational> {
        None
    }

    /// Whether the noise is on the real line.
    fn is_continuous(&self) -> bool {
        false
    }

    /// An error unless the parameter is in the range of an account.
    fn check(&self) -> Result<()>;

    /// The largest shift of an account.
    fn most_shift(&self) -> u64;

    /// The parameter with which the noise is `factor` times as large: of a Gaussian its variance, of a Laplace its scale.
    fn parameter_times(&self, factor: &Rational) -> Rational;

    /// The factors for which the noise stays in the range of an account.
    fn factors(&self) -> Range;

    /// By what rho is divided where the noise is `factor` times as large.
    fn rho_divisor(&self, factor: &Rational) -> Rational;

    /// The rho of zero-concentrated differential privacy that one count spends.
    fn rho(&self, shift: u64) -> Rational;

    /// The largest loss of one count; `None` where losses are unbounded.
    fn largest_loss(&self, shift: u64) -> Option<Rational>;

    /// 1 / variance of the noise, or of the continuous noise of the same shape: an approximation for weights.
    fn precision_approx(&self) -> Rational;

    /// The exponent; `None` for noise that is not on the integers.
    fn exponent(&self) -> Option<Exponent>;

    /// An error unless the parameter is in the range of the exact samplers.
    fn check_sampled(&self) -> Result<()>;

    /// The change of the loss of one count when its noise changes by one, where the loss is linear; the step between losses where it is not.
    fn weight(&self, shift: u64) -> Rational;
}

/// An expression about the facts of a law: the one place that lists all laws.
macro_rules! of_law {
    ($law:expr, $facts:ident => $value:expr) => {
        match $law {
            Law::DiscreteGaussian { sigma2 } => {
                let $facts = DiscreteGaussian { sigma2 };
                $value
            }
            Law::Gaussian { sigma2 } => {
                let $facts = Gaussian { sigma2 };
                $value
            }
            Law::DiscreteLaplace { epsilon } => {
                let $facts = DiscreteLaplace { epsilon };
                $value
            }
        }
    };
}

impl Law {
    /// The names of all laws in files, the default first.
    pub const KEYS: [&str; 3] = [discrete_gaussian::KEY, discrete_laplace::KEY, gaussian::KEY];

    /// The law with this name in files and this parameter; `None` for other names.
    pub fn named(key: &str, parameter: Rational) -> Option<Law> {
        Some(match key {
            discrete_gaussian::KEY => Law::DiscreteGaussian { sigma2: parameter },
            discrete_laplace::KEY => Law::DiscreteLaplace { epsilon: parameter },
            gaussian::KEY => Law::Gaussian { sigma2: parameter },
            _ => return None,
        })
    }

    /// The name in words, as in "discrete Gaussian noise".
    pub fn name(&self) -> &'static str {
        of_law!(self, facts => facts.name())
    }

    /// The name in words, beside that of another law: "continuous Gaussian" where there is a discrete one.
    pub(crate) fn described(&self) -> String {
        format!("{}{}", if self.is_continuous() { "continuous " } else { "" }, self.name())
    }

    /// The name in files, options and certificates.
    pub fn key(&self) -> &'static str {
        of_law!(self, facts => facts.key())
    }

    /// The name of the parameter: sigma2 or epsilon.
    pub fn parameter_name(&self) -> &'static str {
        of_law!(self, facts => facts.parameter().0)
    }

    /// The value of the parameter.
    pub fn parameter(&self) -> &Rational {
        of_law!(self, facts => facts.parameter().1)
    }

    /// The law with another parameter.
    pub fn with_parameter(&self, parameter: Rational) -> Law {
        of_law!(self, facts => facts.with_parameter(parameter))
    }

    /// The variance proxy sigma2 of Gaussian noise, discrete or continuous; `None` for other noise.
    pub fn sigma2(&self) -> Option<&Rational> {
        of_law!(self, facts => facts.sigma2())
    }

    /// The variance proxy sigma2 of discrete Gaussian noise; `None` for other noise.
    pub fn discrete_sigma2(&self) -> Option<&Rational> {
        self.sigma2().filter(|_| !self.is_continuous())
    }

    /// Whether the noise is on the real line.
    pub fn is_continuous(&self) -> bool {
        of_law!(self, facts => facts.is_continuous())
    }

    /// Whether the privacy loss of one count has a largest value.
    pub fn has_bounded_loss(&self) -> bool {
        self.largest_loss(1).is_some()
    }

    /// An error unless the parameter is in the range of an account.
    pub(crate) fn check(&self) -> Result<()> {
        of_law!(self, facts => facts.check())
    }

    /// The largest shift of an account.
    pub(crate) fn most_shift(&self) -> u64 {
        of_law!(self, facts => facts.most_shift())
    }

    /// The law of noise that is `factor` times as large: of a Gaussian the variance, of a Laplace the scale. Its parameter may be out of range.
    pub(crate) fn times(&self, factor: &Rational) -> Law {
        of_law!(self, facts => facts.with_parameter(facts.parameter_times(factor)))
    }

    /// The factors for which the noise stays in the range of an account.
    pub(crate) fn factors(&self) -> Range {
        of_law!(self, facts => facts.factors())
    }

    /// By what rho is divided where the noise is `factor` times as large.
    pub(crate) fn rho_divisor(&self, factor: &Rational) -> Rational {
        of_law!(self, facts => facts.rho_divisor(factor))
    }

    /// The rho of zero-concentrated differential privacy that one count spends.
    pub(crate) fn rho(&self, shift: u64) -> Rational {
        of_law!(self, facts => facts.rho(shift))
    }

    /// The largest privacy loss of one count; `None` where losses are unbounded.
    pub(crate) fn largest_loss(&self, shift: u64) -> Option<Rational> {
        of_law!(self, facts => facts.largest_loss(shift))
    }

    /// 1 / variance of the noise, or of the continuous noise of the same shape: an approximation for weights.
    pub(crate) fn precision_approx(&self) -> Rational {
        of_law!(self, facts => facts.precision_approx())
    }

    /// The exponent; `None` for noise that is not on the integers.
    pub(crate) fn exponent(&self) -> Option<Exponent> {
        of_law!(self, facts => facts.exponent())
    }

    /// The exponent of noise that can be drawn exactly; an error for all other noise.
    pub(crate) fn sampled_exponent(&self) -> Result<Exponent> {
        of_law!(self, facts => facts.check_sampled())?;
        self.exponent().ok_or_else(|| {
            let parameter = rational::display(self.parameter());
            let law = format!("the continuous {} of variance {parameter}", self.name());
            Error::unsuitable(format!("{law} cannot be drawn exactly: noise on the integers can"))
        })
    }
}

/// The name in words with the exact parameter: "discrete Gaussian 5".
impl fmt::Display for Law {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} {}", self.name(), rational::display(self.parameter()))
    }
}

/// `copies` independent terms of one law, each moved by an integer `shift` between the two hypotheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The law of the noise.
    pub law: Law,
    /// The integer by which one count moves.
    pub shift: u64,
    /// The number of independent terms.
    pub copies: u64,
}

impl Group {
    /// The change of the loss of one term when the noise changes by one, where that is linear: shift / sigma2 for Gaussian laws, twice the parameter
    /// for the discrete Laplace.
    pub(crate) fn weight(&self) -> Rational {
        of_law!(&self.law, facts => facts.weight(self.shift))
    }

    /// copies shift^2 / (2 sigma2) for Gaussian laws, else zero.
    pub(crate) fn rho(&self) -> Rational {
        if self.law.has_bounded_loss() { Rational::new() } else { self.zcdp() }
    }

    /// The rho of zero-concentrated differential privacy of all copies.
    pub(crate) fn zcdp(&self) -> Rational {
        self.law.rho(self.shift) * self.copies
    }

    /// The largest loss of all copies of a bounded law, else zero.
    pub(crate) fn largest(&self) -> Rational {
        self.law.largest_loss(self.shift).map_or_else(Rational::new, |loss| loss * self.copies)
    }
}
