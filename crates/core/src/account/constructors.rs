//! Counts of every law of noise by typed parameters: `Counts::laplace("10", 5, 1)?` is `5` counts with noise of scale 10, each changed by at most 1.
//!
//! Parameters are exact: the text of a number, a rational, or a type of [`parameter`](crate::law::parameter). Each constructor refuses what is out of the
//! range of its law. `count` is the number of counts, answers, keys, steps or mechanisms; `shift` is the largest change of one count by a record.

use std::sync::Arc;

use rug::Rational;

use super::Counts;
use crate::{
    error::{Error, Result},
    law::{
        Changes, Law, NoiseTable, Pair, PerturbationTable, UnknownKey,
        parameter::{Delta, Epsilon, Exact, Sigma2},
    },
};

/// The exact number of an argument.
fn exact<P, Q>(number: Q) -> Result<Rational>
where
    Q: TryInto<P>,
    Error: From<Q::Error>,
    Rational: From<P>,
{
    Ok(Rational::from(number.try_into()?))
}

impl Counts {
    /// Counts with noise N_Z(0, sigma2): sigma2 from 10^-6 to 10^18, 1 to 10^12 counts, shifts from 1 to 10^6; anything else is an error.
    pub fn discrete_gaussian<S>(sigma2: S, count: u64, shift: u64) -> Result<Self>
    where
        S: TryInto<Sigma2>,
        Error: From<S::Error>,
    {
        Counts::new(Law::DiscreteGaussian { sigma2: exact::<Sigma2, _>(sigma2)? }, count, shift)
    }

    /// Numbers with continuous noise N(0, sigma2); the same ranges.
    pub fn gaussian<S>(sigma2: S, count: u64, shift: u64) -> Result<Self>
    where
        S: TryInto<Sigma2>,
        Error: From<S::Error>,
    {
        Counts::new(Law::Gaussian { sigma2: exact::<Sigma2, _>(sigma2)? }, count, shift)
    }

    /// Steps of DP-SGD: noise N(0, sigma2) on the sum over a fresh Poisson sample, which has each record with probability `rate`, above 0 and at most 1. For
    /// a clipping norm of 1 sigma2 is the square of the noise multiplier.
    pub fn sampled_gaussian<R, S>(rate: R, sigma2: S, steps: u64) -> Result<Self>
    where
        R: TryInto<Exact>,
        S: TryInto<Sigma2>,
        Error: From<R::Error> + From<S::Error>,
    {
        let (rate, sigma2) = (exact::<Exact, _>(rate)?, exact::<Sigma2, _>(sigma2)?);
        Counts::new(Law::SampledGaussian { rate, sigma2 }, steps, 1)
    }

    /// Counts with discrete Laplace (two-sided geometric) noise of mass proportional to exp(-epsilon |x|): epsilon from 10^-6 to 10^3,
    /// shifts from 1 to 1000. Anything else is an error.
    pub fn discrete_laplace<E>(epsilon: E, count: u64, shift: u64) -> Result<Self>
    where
        E: TryInto<Exact>,
        Error: From<E::Error>,
    {
        Counts::new(Law::DiscreteLaplace { epsilon: exact::<Exact, _>(epsilon)? }, count, shift)
    }

    /// Numbers with continuous Laplace noise of density exp(-|x| / scale) / (2 scale).
    pub fn laplace<S>(scale: S, count: u64, shift: u64) -> Result<Self>
    where
        S: TryInto<Exact>,
        Error: From<S::Error>,
    {
        Counts::new(Law::Laplace { scale: exact::<Exact, _>(scale)? }, count, shift)
    }

    /// Counts with discrete Laplace noise on -bound, ..., bound.
    pub fn truncated_laplace<E>(epsilon: E, bound: u64, count: u64, shift: u64) -> Result<Self>
    where
        E: TryInto<Exact>,
        Error: From<E::Error>,
    {
        Counts::new(Law::TruncatedLaplace { epsilon: exact::<Exact, _>(epsilon)?, bound }, count, shift)
    }

    /// Counts with discrete Gaussian noise on -bound, ..., bound.
    pub fn truncated_gaussian<S>(sigma2: S, bound: u64, count: u64, shift: u64) -> Result<Self>
    where
        S: TryInto<Sigma2>,
        Error: From<S::Error>,
    {
        Counts::new(Law::TruncatedGaussian { sigma2: exact::<Sigma2, _>(sigma2)?, bound }, count, shift)
    }

    /// Counts with staircase noise: stairs of `period` values that fall by exp(-epsilon), the first of `first` values on each side of 0.
    pub fn staircase<E>(epsilon: E, period: u64, first: u64, count: u64, shift: u64) -> Result<Self>
    where
        E: TryInto<Exact>,
        Error: From<E::Error>,
    {
        let epsilon = exact::<Exact, _>(epsilon)?;
        Counts::new(Law::Staircase { epsilon, period, first, changes: Changes::Exactly }, count, shift)
    }

    /// Answers of randomized response: the true one of `answers` with probability e^epsilon / (e^epsilon + answers - 1), else one of the others.
    pub fn randomized_response<E>(epsilon: E, answers: u64, count: u64) -> Result<Self>
    where
        E: TryInto<Exact>,
        Error: From<E::Error>,
    {
        Counts::new(Law::RandomizedResponse { epsilon: exact::<Exact, _>(epsilon)?, answers }, count, 1)
    }

    /// Counts with noise of finitely many masses.
    pub fn table(noise: NoiseTable, count: u64, shift: u64) -> Result<Self> {
        Counts::new(Law::Table(Arc::new(noise)), count, shift)
    }

    /// Two hypotheses by the probabilities of their outcomes, each mechanism independent of the others.
    pub fn pair(pair: Pair, count: u64) -> Result<Self> {
        Counts::new(Law::Pair(Arc::new(pair)), count, 1)
    }

    /// Cells of the cell-key method.
    pub fn perturbation(table: PerturbationTable, count: u64, shift: u64) -> Result<Self> {
        Counts::new(Law::Perturbation(Arc::new(table)), count, shift)
    }

    /// Keys that are shown if their noisy count reaches a threshold.
    pub fn unknown_key(keys: UnknownKey, count: u64, shift: u64) -> Result<Self> {
        Counts::new(Law::UnknownKey(Arc::new(keys)), count, shift)
    }

    /// Any mechanisms of bounded range epsilon, as the exponential mechanism.
    pub fn bounded_range<E>(epsilon: E, count: u64) -> Result<Self>
    where
        E: TryInto<Exact>,
        Error: From<E::Error>,
    {
        Counts::new(Law::BoundedRange { epsilon: exact::<Exact, _>(epsilon)? }, count, 1)
    }

    /// Any epsilon-DP mechanisms.
    pub fn pure<E>(epsilon: E, count: u64) -> Result<Self>
    where
        E: TryInto<Epsilon>,
        Error: From<E::Error>,
    {
        Counts::new(Law::Pure { epsilon: exact::<Epsilon, _>(epsilon)? }, count, 1)
    }

    /// Any (epsilon, delta)-DP mechanisms.
    pub fn approximate<E, D>(epsilon: E, delta: D, count: u64) -> Result<Self>
    where
        E: TryInto<Epsilon>,
        D: TryInto<Delta>,
        Error: From<E::Error> + From<D::Error>,
    {
        let (epsilon, delta) = (exact::<Epsilon, _>(epsilon)?, exact::<Delta, _>(delta)?);
        Counts::new(Law::Approximate { epsilon, delta }, count, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// Each constructor makes what the text of the option of its law does.
    #[test]
    fn typed_counts_are_those_of_the_options() {
        let option = |key: &str, text: &str| Counts::parse(key, text).unwrap();
        let both = [
            (Counts::discrete_gaussian("5/2", 3, 2), option("discrete-gaussian", "5/2x3@2")),
            (Counts::gaussian("5/2", 3, 2), option("gaussian", "5/2x3@2")),
            (
                Counts::sampled_gaussian("1/100", "0.81", 1000),
                Counts::parse_sampled("0.01:gaussian:0.81x1000").unwrap(),
            ),
            (Counts::discrete_laplace("1/2", 3, 2), option("discrete-laplace", "1/2x3@2")),
            (Counts::laplace("10", 3, 2), option("laplace", "10x3@2")),
            (Counts::truncated_laplace("1/2", 40, 3, 2), option("truncated-laplace", "1/2:40x3@2")),
            (Counts::truncated_gaussian("5", 20, 3, 2), option("truncated-gaussian", "5:20x3@2")),
            (Counts::staircase("1", 4, 2, 3, 2), option("staircase", "1:4:2x3@2")),
            (Counts::randomized_response("1", 5, 3), option("randomized-response", "1:5x3")),
            (Counts::bounded_range("1/3", 7), option("exponential", "1/3x7")),
            (Counts::pure("1/3", 7), option("pure", "1/3x7")),
            (Counts::approximate("1/3", "1e-9", 7), option("approximate", "1/3:1e-9x7")),
            (
                Counts::unknown_key(
                    UnknownKey::new("laplace", parse("2").unwrap(), parse("30").unwrap()).unwrap(),
                    4,
                    1,
                ),
                Counts::parse_unknown_key("laplace:2:30x4").unwrap(),
            ),
        ];
        for (typed, text) in both {
            assert_eq!(typed.unwrap(), text);
        }
    }

    /// Masses are given as lists: their counts have the losses of the list, and ranges are those of the law.
    #[test]
    fn lists_of_masses_are_counts_and_ranges_are_kept() {
        let third = || parse("1/3").unwrap();
        let noise = NoiseTable::new("thirds", [-1, 0, 1].map(|value| (value, third()))).unwrap();
        assert_eq!(Counts::table(noise, 2, 1).unwrap().count, 2);
        let pair =
            Pair::new("halves", [("1/2", "1/4"), ("1/2", "3/4")].map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap())));
        assert_eq!(Counts::pair(pair.unwrap(), 6).unwrap().count, 6);
        let refused = |made: Result<Counts>| made.unwrap_err().to_string();
        assert!(refused(Counts::laplace("0", 1, 1)).contains("out of range"));
        assert!(refused(Counts::sampled_gaussian("1.5", "1", 1)).contains("out of range"));
        assert!(refused(Counts::truncated_gaussian("5", 20, 0, 1)).contains("count"));
    }
}
