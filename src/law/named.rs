//! Laws by their names in files and options, and the text of their parameters.

use rug::Rational;

use super::{
    Law, bounded_range, discrete_gaussian, discrete_laplace, gaussian, guarantee, laplace, randomized_response,
    sampled_gaussian, truncated,
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

impl Law {
    /// The name in files of Poisson-sampled Gaussian noise.
    pub const SAMPLED_KEY: &str = sampled_gaussian::KEY;

    /// The names of all laws in files, the default first.
    pub const KEYS: [&str; 11] = [
        discrete_gaussian::KEY,
        discrete_laplace::KEY,
        gaussian::KEY,
        laplace::KEY,
        sampled_gaussian::KEY,
        truncated::LAPLACE,
        truncated::GAUSSIAN,
        randomized_response::KEY,
        bounded_range::KEY,
        guarantee::PURE,
        guarantee::APPROXIMATE,
    ];

    /// The law with this name in files and the parameters that `given` finds by their names; `None` for other names. An error for a parameter that is
    /// not found is that of `given`.
    pub fn named(key: &str, mut given: impl FnMut(&'static str) -> Result<Rational>) -> Option<Result<Law>> {
        let mut law = || -> Result<Option<Law>> {
            Ok(Some(match key {
                discrete_gaussian::KEY => Law::DiscreteGaussian { sigma2: given("sigma2")? },
                discrete_laplace::KEY => Law::DiscreteLaplace { epsilon: given("epsilon")? },
                gaussian::KEY => Law::Gaussian { sigma2: given("sigma2")? },
                laplace::KEY => Law::Laplace { scale: given("scale")? },
                sampled_gaussian::KEY => Law::SampledGaussian { sigma2: given("sigma2")?, rate: given("rate")? },
                truncated::LAPLACE => {
                    Law::TruncatedLaplace { epsilon: given("epsilon")?, bound: whole("bound", &given("bound")?)? }
                }
                truncated::GAUSSIAN => {
                    Law::TruncatedGaussian { sigma2: given("sigma2")?, bound: whole("bound", &given("bound")?)? }
                }
                randomized_response::KEY => Law::RandomizedResponse {
                    epsilon: given("epsilon")?,
                    answers: whole("answers", &given("answers")?)?,
                },
                bounded_range::KEY => Law::BoundedRange { epsilon: given("epsilon")? },
                guarantee::PURE => Law::Pure { epsilon: given("epsilon")? },
                guarantee::APPROXIMATE => Law::Approximate { epsilon: given("epsilon")?, delta: given("delta")? },
                _ => return Ok(None),
            }))
        };
        law().transpose()
    }

    /// The law with this name in files ([`Law::KEYS`]) and the text of its parameters, as in `1/2:40` for `truncated-laplace`. An error for other forms.
    pub fn parse(key: &str, parameters: &str) -> Result<Law> {
        let (mut parts, mut names) = (parameters.split(':'), Vec::new());
        let law = Law::named(key, |name| {
            names.push(name.to_uppercase());
            match parts.next() {
                Some(part) => rational::parse(part),
                // Two, unless others are given.
                None if name == "answers" => Ok(Rational::from(2)),
                None => Err(Error::malformed(key, parameters, &format!("{}, as in 1:5", names.join(":")))),
            }
        });
        let law = law.ok_or_else(|| Error::unknown("law", key, "there are", Law::KEYS))??;
        if let Some(more) = parts.next() {
            let expected =
                format!("{} and no more, as in {}", names.join(":"), if names.len() > 1 { "1:5" } else { "5" });
            return Err(Error::malformed("a further parameter", more, &expected));
        }
        Ok(law)
    }
}

/// A parameter that counts something.
fn whole(name: &str, value: &Rational) -> Result<u64> {
    let whole = value.is_integer().then(|| value.numer().to_u64()).flatten();
    whole.ok_or_else(|| Error::malformed(name, rational::display(value), "a positive whole number"))
}
