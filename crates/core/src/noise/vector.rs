//! A vector of counts with independent noise on each: SafeTab-P's base mechanism (Algorithm 3, `NoisyCount`), and the
//! same with discrete Laplace noise.

use rug::Rational;

use super::{Distribution, Sampler, Streams};
use crate::{
    error::{Error, Result},
    loss::law::Law,
    numeric::rational,
};

/// Independent noise of one law on every coordinate of a vector of counts.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{noise::{Streams, VectorMechanism}, numeric::rational::parse};
/// // Neighbors change one coordinate by one: rho-zCDP needs N_Z(0, 1 / (2 rho)).
/// let mechanism = VectorMechanism::for_rho(&parse("1/10")?)?;
/// let noisy = mechanism.release(&[120, 0, 31], &mut Streams::from_system()?)?;
/// assert_eq!(noisy.len(), 3);
/// assert_eq!(mechanism.counts(1, 1)?.rho(), parse("1/10")?);
/// // A changed record leaves one coordinate and enters another.
/// assert_eq!(mechanism.counts(2, 1)?.rho(), parse("1/5")?);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Debug)]
pub struct VectorMechanism {
    sampler: Sampler,
}

impl VectorMechanism {
    /// With noise of any law on the integers; an error for randomized response, which adds no noise.
    pub fn new(law: Law) -> Result<Self> {
        Distribution::of_law(&law)?;
        Ok(VectorMechanism { sampler: Sampler::new(law)? })
    }

    /// Discrete Gaussian noise of sigma2 = 1 / (2 rho): rho-zCDP for neighbors of Euclidean distance one.
    pub fn for_rho(rho: &Rational) -> Result<Self> {
        let sigma2 = Rational::from(positive("rho", rho)? * 2_u32).recip();
        VectorMechanism::new(Law::DiscreteGaussian { sigma2 })
    }

    /// Discrete Laplace noise of parameter epsilon: epsilon-DP for neighbors whose distances add up to one.
    pub fn for_pure_epsilon(epsilon: &Rational) -> Result<Self> {
        VectorMechanism::new(Law::DiscreteLaplace { epsilon: positive("epsilon", epsilon)?.clone() })
    }

    /// The law of the noise on each coordinate.
    pub fn law(&self) -> &Law {
        self.sampler.law()
    }

    /// The sampler of one coordinate's noise.
    pub fn sampler(&self) -> &Sampler {
        &self.sampler
    }

    /// The counts with fresh noise.
    pub fn release(&self, counts: &[i64], streams: &mut Streams) -> Result<Vec<i64>> {
        let mut noisy = counts.to_vec();
        streams.add_noise(&self.sampler, &mut noisy)?;
        Ok(noisy)
    }
}

fn positive<'a>(name: &str, value: &'a Rational) -> Result<&'a Rational> {
    if *value > 0 { Ok(value) } else { Err(Error::out_of_range(name, rational::display(value), "a number above 0")) }
}
