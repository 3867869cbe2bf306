//! A law of noise, one of all kinds, and the answers of its facts.

use std::{fmt, sync::Arc};

use rug::Rational;

use super::{
    bounded_range::BoundedRange,
    changes::Changes,
    discrete_laplace::DiscreteLaplace,
    facts::{Facts, Growth, Range},
    finite::Finite,
    gaussian::{self, Gaussian},
    guarantee::Guarantee,
    laplace::Laplace,
    outcomes::Outcomes,
    pair::Pair,
    perturbation::PerturbationTable,
    randomized_response::RandomizedResponse,
    responses::{Responses, Rounding},
    sampled::Sampled,
    shape::{Exponent, Shape},
    staircase::Staircase,
    table::NoiseTable,
    truncated::{self, Truncated},
    uniform::Uniform,
    unknown_key::{KeyNoise, UnknownKey},
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

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
    /// N(0, sigma2) on a Poisson sample of the records.
    SampledGaussian {
        /// The probability of each record to be in the sample.
        rate: Rational,
        /// The variance.
        sigma2: Rational,
    },
    /// Noise of another law on the counts of a Poisson sample of the records.
    Sampled(Arc<Sampled<Law>>),
    /// Mass proportional to exp(-epsilon |x|) at every integer x: two-sided geometric noise.
    DiscreteLaplace {
        /// The parameter in the exponent: the privacy loss of a change by one.
        epsilon: Rational,
    },
    /// Density exp(-|x| / scale) / (2 scale) on the real line.
    Laplace {
        /// The scale: the mean of |x|.
        scale: Rational,
    },
    /// A discrete Laplace law on -bound, ..., bound, renormalized.
    TruncatedLaplace {
        /// The parameter in the exponent.
        epsilon: Rational,
        /// The largest absolute value.
        bound: u64,
    },
    /// N_Z(0, sigma2) on -bound, ..., bound, renormalized.
    TruncatedGaussian {
        /// The variance proxy of the law that is truncated.
        sigma2: Rational,
        /// The largest absolute value.
        bound: u64,
    },
    /// Mass in proportion to exp(-epsilon floor((|x| + period - first) / period)) at every integer x.
    Staircase {
        /// The privacy loss of a change by one period.
        epsilon: Rational,
        /// The number of values of a stair on one side.
        period: u64,
        /// The number of values of the first stair from zero on.
        first: u64,
        /// By how much records change a count: several ways to share out the changes of a group are compared.
        changes: Changes,
    },
    /// The true one of several answers with probability e^epsilon / (e^epsilon + answers - 1), else one of the others.
    RandomizedResponse {
        /// The largest privacy loss.
        epsilon: Rational,
        /// The number of answers.
        answers: u64,
    },
    /// A finite table of masses.
    Table(Arc<NoiseTable>),
    /// Two hypotheses by the probabilities of their outcomes.
    Pair(Arc<Pair>),
    /// A perturbation table of the cell-key method.
    Perturbation(Arc<PerturbationTable>),
    /// Keys that are shown if their noisy count reaches a threshold.
    UnknownKey(Arc<UnknownKey>),
    /// A mixture of randomized responses, in place of a law whose losses have no common lattice.
    Responses(Arc<Responses>),
    /// One direction of a pair that is not symmetric, in place of that law.
    Outcomes(Arc<Outcomes>),
    /// Any mechanism of bounded range, as the exponential mechanism.
    BoundedRange {
        /// The largest difference of two losses.
        epsilon: Rational,
    },
    /// Any epsilon-DP mechanism.
    Pure {
        /// Its guarantee.
        epsilon: Rational,
    },
    /// Any (epsilon, delta)-DP mechanism.
    Approximate {
        /// The epsilon of its guarantee.
        epsilon: Rational,
        /// The delta of its guarantee.
        delta: Rational,
    },
}

/// An expression about the facts of a law: the one place that lists all laws.
macro_rules! of_law {
    (@ $facts:ident = $law:expr => $value:expr) => {{
        let $facts = $law;
        $value
    }};
    ($law:expr, $facts:ident => $value:expr) => {
        match $law {
            Law::DiscreteGaussian { sigma2 } => of_law!(@ $facts = Gaussian::discrete(sigma2) => $value),
            Law::Gaussian { sigma2 } => of_law!(@ $facts = Gaussian::continuous(sigma2) => $value),
            Law::SampledGaussian { rate, sigma2 } => of_law!(@ $facts = Gaussian::sampled(rate, sigma2) => $value),
            Law::Sampled(sampled) => of_law!(@ $facts = &**sampled => $value),
            Law::DiscreteLaplace { epsilon } => of_law!(@ $facts = DiscreteLaplace { epsilon } => $value),
            Law::Laplace { scale } => of_law!(@ $facts = Laplace { scale } => $value),
            Law::BoundedRange { epsilon } => of_law!(@ $facts = BoundedRange { epsilon } => $value),
            Law::TruncatedLaplace { epsilon, bound } => {
                let names = ["truncated discrete Laplace", truncated::LAPLACE];
                let $facts = Truncated { of: DiscreteLaplace { epsilon }, names, bound: *bound };
                $value
            }
            Law::TruncatedGaussian { sigma2, bound } => {
                let names = ["truncated discrete Gaussian", truncated::GAUSSIAN];
                let $facts = Truncated { of: Gaussian::discrete(sigma2), names, bound: *bound };
                $value
            }
            Law::Staircase { epsilon, period, first, changes } => {
                let $facts = Staircase { epsilon, period: *period, first: *first, changes: *changes };
                $value
            }
            Law::RandomizedResponse { epsilon, answers } => {
                of_law!(@ $facts = RandomizedResponse { epsilon, answers: *answers } => $value)
            }
            Law::Table(table) => of_law!(@ $facts = &**table => $value),
            Law::Pair(pair) => of_law!(@ $facts = &**pair => $value),
            Law::Perturbation(table) => of_law!(@ $facts = &**table => $value),
            Law::UnknownKey(keys) => of_law!(@ $facts = &**keys => $value),
            Law::Responses(responses) => of_law!(@ $facts = &**responses => $value),
            Law::Outcomes(outcomes) => of_law!(@ $facts = &**outcomes => $value),
            Law::Pure { epsilon } => of_law!(@ $facts = Guarantee { epsilon, delta: None } => $value),
            Law::Approximate { epsilon, delta } => {
                of_law!(@ $facts = Guarantee { epsilon, delta: Some(delta) } => $value)
            }
        }
    };
}

impl Law {
    /// The name in words, as in "discrete Gaussian noise".
    pub fn name(&self) -> &'static str {
        of_law!(self, facts => facts.names()[0])
    }

    /// Its description: "discrete Laplace noise", "pure DP".
    pub fn in_words(&self) -> String {
        if self.is_guarantee() { self.name().to_string() } else { format!("{} noise", self.described()) }
    }

    /// The name in words, beside that of another law: "continuous Gaussian" where there is a discrete one.
    pub(crate) fn described(&self) -> String {
        format!("{}{}", if self.is_continuous() { "continuous " } else { "" }, self.name())
    }

    /// The name in files, options and certificates.
    pub fn key(&self) -> &'static str {
        of_law!(self, facts => facts.names()[1])
    }

    /// The name of the parameter: sigma2 or epsilon.
    pub fn parameter_name(&self) -> &'static str {
        of_law!(self, facts => facts.parameter().0)
    }

    /// The value of the parameter.
    pub fn parameter(&self) -> &Rational {
        of_law!(self, facts => facts.parameter().1)
    }

    /// The names and values of its other parameters.
    pub fn other_parameters(&self) -> Vec<(&'static str, Rational)> {
        of_law!(self, facts => facts.others())
    }

    /// Whether it stands for every mechanism with some guarantee, or for its own pair of hypotheses: it is taken as given under each neighbor relation.
    pub fn is_guarantee(&self) -> bool {
        of_law!(self, facts => facts.is_guarantee())
    }

    /// Whether it sees a random part of the records. Its facts are those of the same noise without sampling.
    pub fn is_sampled(&self) -> bool {
        of_law!(self, facts => facts.is_sampled())
    }

    /// The law with another parameter; the same for a law that has none.
    pub fn with_parameter(&self, parameter: Rational) -> Law {
        let mut law = self.clone();
        match &mut law {
            Law::DiscreteGaussian { sigma2 }
            | Law::Gaussian { sigma2 }
            | Law::SampledGaussian { sigma2, .. }
            | Law::TruncatedGaussian { sigma2, .. } => {
                *sigma2 = parameter;
            }
            Law::DiscreteLaplace { epsilon }
            | Law::TruncatedLaplace { epsilon, .. }
            | Law::Staircase { epsilon, .. }
            | Law::RandomizedResponse { epsilon, .. }
            | Law::BoundedRange { epsilon }
            | Law::Pure { epsilon }
            | Law::Approximate { epsilon, .. } => *epsilon = parameter,
            Law::Laplace { scale } => *scale = parameter,
            Law::Sampled(sampled) => *sampled = Arc::new(sampled.with_law(sampled.law().with_parameter(parameter))),
            Law::Table(_)
            | Law::Pair(_)
            | Law::Perturbation(_)
            | Law::UnknownKey(_)
            | Law::Responses(_)
            | Law::Outcomes(_) => {}
        }
        law
    }

    /// The variance proxy sigma2 of Gaussian noise, discrete or continuous; `None` for other noise.
    pub fn sigma2(&self) -> Option<&Rational> {
        of_law!(self, facts => facts.sigma2())
    }

    /// The variance proxy sigma2 of discrete Gaussian noise; `None` for other noise.
    pub fn discrete_sigma2(&self) -> Option<&Rational> {
        self.sigma2().filter(|_| !self.is_continuous())
    }

    /// Whether it is noise of a scale, added to every true count alike and symmetric about 0.
    pub fn is_symmetric_noise(&self) -> bool {
        // A sum over a sample is a share of the true one; an answer depends on the true one; of a guarantee the noise is not known.
        self.has_scale() && !self.is_sampled() && !self.is_guarantee()
    }

    /// Whether the noise is on the real line.
    pub fn is_continuous(&self) -> bool {
        of_law!(self, facts => facts.is_continuous())
    }

    /// Whether the privacy loss of one count has a largest value, among those that are finite.
    pub fn has_bounded_loss(&self) -> bool {
        of_law!(self, facts => facts.is_bounded())
    }

    /// The losses of one count with their masses, where they are finitely many.
    pub(crate) fn finite(&self, shift: u64) -> Option<Finite> {
        of_law!(self, facts => facts.finite(shift))
    }

    /// The losses of one count where they are uniform once they are tilted, beside atoms at both ends; `None` for all other laws.
    pub(crate) fn uniform(&self, shift: u64) -> Option<Uniform> {
        of_law!(self, facts => facts.uniform(shift))
    }

    /// Whether each of two neighbors is to the other as the other is to it: both directions then have one profile. Poisson-sampled noise is not listed here.
    pub fn is_symmetric(&self) -> bool {
        of_law!(self, facts => facts.is_symmetric())
    }

    /// Whether every loss of one count is zero or infinite.
    pub(crate) fn has_no_finite_loss(&self, shift: u64) -> bool {
        of_law!(self, facts => facts.has_no_finite_loss(shift))
    }

    /// Whether its losses are few of very many multiples of their common step.
    #[doc(hidden)]
    pub fn is_listed(&self) -> bool {
        of_law!(self, facts => facts.is_listed())
    }

    /// Whether some outcomes are possible for one neighbor only.
    pub fn has_infinite_loss(&self) -> bool {
        of_law!(self, facts => facts.has_infinite_loss())
    }

    /// Whether no outcome is possible for both neighbors: every loss of one count is infinite.
    #[cfg(feature = "mechanisms")]
    pub(crate) fn has_no_common_outcome(&self, shift: u64) -> bool {
        self.finite(shift).and_then(|finite| finite.exact_infinite_mass()).is_some_and(|mass| mass == 1)
    }

    /// The change of the loss when the noise changes by one, where that is linear.
    pub(super) fn weight(&self, shift: u64) -> Rational {
        of_law!(self, facts => facts.weight(shift))
    }

    /// How many losses one count has, where they are finitely many.
    pub(crate) fn losses(&self, shift: u64) -> Option<u64> {
        of_law!(self, facts => facts.losses(shift))
    }

    /// An error unless the parameter is in the range of an account.
    pub(crate) fn check(&self) -> Result<()> {
        of_law!(self, facts => facts.check())
    }

    /// An error where neighbors have too many different losses at this shift.
    pub(crate) fn check_shift(&self, shift: u64) -> Result<()> {
        match self {
            Law::Table(table) => table.check_shift(shift),
            Law::Perturbation(table) => table.check_shift(shift),
            Law::UnknownKey(keys) => keys.new_key(shift, Rounding::Up).map(|_| ()),
            Law::Sampled(sampled) => sampled.law().check_shift(shift),
            _ => Ok(()),
        }
    }

    /// The largest shift of an account.
    pub(crate) fn most_shift(&self) -> u64 {
        of_law!(self, facts => facts.most_shift())
    }

    /// The law of noise that is `factor` times as large: of a Gaussian the variance, of a Laplace the scale. Its parameter may be out of range.
    pub(crate) fn times(&self, factor: &Rational) -> Law {
        self.with_parameter(of_law!(self, facts => facts.parameter_times(factor)))
    }

    /// Whether there can be more of the same noise: a table has its masses and no scale.
    #[doc(hidden)]
    pub fn has_scale(&self) -> bool {
        let Range { least, most } = self.factors();
        least < most
    }

    /// How the size of the noise grows with its parameter.
    pub(super) fn growth(&self) -> Option<(Growth, Range)> {
        of_law!(self, facts => facts.growth())
    }

    /// The factors for which the noise stays in the range of an account.
    #[doc(hidden)]
    pub fn factors(&self) -> Range {
        of_law!(self, facts => facts.factors())
    }

    /// The factor by which rho falls when the noise grows by `factor`.
    pub(crate) fn rho_divisor(&self, factor: &Rational) -> Rational {
        of_law!(self, facts => facts.rho_divisor(factor))
    }

    /// The rho of zero-concentrated differential privacy that one count spends.
    pub(crate) fn rho(&self, shift: u64) -> Rational {
        of_law!(self, facts => facts.rho(shift))
    }

    /// Whether rho is a formula of the parameters: of tables, pairs, cell keys and unknown keys, whose losses are logarithms, it is an upper bound.
    pub fn has_exact_rho(&self) -> bool {
        of_law!(self, facts => facts.has_exact_rho())
    }

    /// The largest privacy loss of one count; `None` where losses are unbounded.
    pub(crate) fn largest_loss(&self, shift: u64) -> Option<Rational> {
        of_law!(self, facts => facts.largest_loss(shift))
    }

    /// 1 / variance of the noise, or of the continuous noise of the same shape: an approximation for weights.
    #[doc(hidden)]
    pub fn precision_approx(&self) -> Rational {
        of_law!(self, facts => facts.precision_approx())
    }

    /// The exponent of the masses, within the bound where there is one; `None` where they have none.
    pub(crate) fn exponent(&self) -> Option<Exponent> {
        match of_law!(self, facts => facts.shape()) {
            Some(Shape::Exponential { exponent, .. }) => Some(exponent),
            _ => None,
        }
    }

    /// The masses of one draw; an error for noise that cannot be drawn exactly, or has a parameter out of the range of the samplers.
    pub fn shape(&self) -> Result<Shape> {
        of_law!(self, facts => facts.check_sampled())?;
        of_law!(self, facts => facts.shape()).ok_or_else(|| {
            let law = match self.is_continuous() {
                true => {
                    let what = if self.sigma2().is_some() { "variance" } else { self.parameter_name() };
                    format!("the continuous {} of {what} {}", self.name(), rational::display(self.parameter()))
                }
                false => self.to_string(),
            };
            Error::unsuitable(format!(
                "{law} cannot be drawn exactly: discrete Gaussian, discrete Laplace, truncated, staircase and tabulated noise and randomized response can"
            ))
        })
    }

    /// Its name, where it is given by a table.
    pub fn label(&self) -> Option<&str> {
        of_law!(self, facts => facts.label())
    }
}

/// The law of the noise on the counts of keys.
impl From<&KeyNoise> for Law {
    fn from(noise: &KeyNoise) -> Law {
        match noise.clone() {
            KeyNoise::DiscreteLaplace(epsilon) => Law::DiscreteLaplace { epsilon },
            KeyNoise::DiscreteGaussian(sigma2) => Law::DiscreteGaussian { sigma2 },
            KeyNoise::Laplace(scale) => Law::Laplace { scale },
            KeyNoise::Gaussian(sigma2) => Law::Gaussian { sigma2 },
        }
    }
}

/// The name in words with the exact parameters: "discrete Gaussian 5", "approximate DP 1:1e-9".
impl fmt::Display for Law {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if let Law::Sampled(sampled) = self {
            return write!(out, "{} {}", self.name(), sampled.text());
        }
        if let Some(label) = self.label() {
            let noise = if self.is_guarantee() { "" } else { " noise" };
            return write!(out, "{}{noise} {label} ", self.name());
        }
        if let Law::SampledGaussian { rate, sigma2 } = self {
            let (rate, sigma2) = (rational::display(rate), rational::display(sigma2));
            return write!(out, "{} {rate}:{}:{sigma2}", self.name(), gaussian::CONTINUOUS);
        }
        write!(out, "{} {}", self.name(), rational::display(self.parameter()))?;
        self.other_parameters().iter().try_for_each(|(_, value)| write!(out, ":{}", rational::display(value)))
    }
}
