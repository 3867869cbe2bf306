//! The distribution of noise on the integers, for every law.

use rug::Rational;

use super::{DiscreteGaussian, DiscreteLaplace};
use crate::{
    error::Result,
    law::{Exponent, Law},
    numeric::Enclosure,
};

/// Masses, tails, quantiles and moments of a law on the integers, by the shape of its exponent.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// The exponent is quadratic.
    Gaussian(DiscreteGaussian),
    /// The exponent is linear.
    Laplace(DiscreteLaplace),
}

impl Distribution {
    /// That of a law; an error for noise on the real line, and for a parameter out of the range of the samplers.
    pub fn of(law: &Law) -> Result<Self> {
        let Exponent { slope, curvature } = law.sampled_exponent()?;
        Ok(if curvature > 0 {
            Distribution::Gaussian(DiscreteGaussian::new(curvature.recip())?)
        } else {
            Distribution::Laplace(DiscreteLaplace::new(slope)?)
        })
    }

    /// `P[X = x]`, to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        match self {
            Distribution::Gaussian(noise) => noise.mass(x, digits),
            Distribution::Laplace(noise) => noise.mass(x, digits),
        }
    }

    /// The smallest integer x with P[X <= x] >= p, proven. For 0 < p < 1.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        match self {
            Distribution::Gaussian(noise) => noise.quantile(p),
            Distribution::Laplace(noise) => noise.quantile(p),
        }
    }

    /// `Var[X]`, to a relative width of 10^-digits.
    pub fn variance(&self, digits: u32) -> Enclosure {
        match self {
            Distribution::Gaussian(noise) => noise.variance(digits),
            Distribution::Laplace(noise) => noise.variance(digits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn the_distribution_of_a_law_is_that_of_its_name() {
        let (sigma2, epsilon) = (parse("7/3").unwrap(), parse("3/10").unwrap());
        let gaussian = Distribution::of(&Law::DiscreteGaussian { sigma2: sigma2.clone() }).unwrap();
        let laplace = Distribution::of(&Law::DiscreteLaplace { epsilon: epsilon.clone() }).unwrap();
        let named = (DiscreteGaussian::new(sigma2.clone()).unwrap(), DiscreteLaplace::new(epsilon).unwrap());
        let p = parse("39/40").unwrap();
        assert_eq!(gaussian.quantile(&p).unwrap(), named.0.quantile(&p).unwrap());
        assert_eq!(laplace.quantile(&p).unwrap(), named.1.quantile(&p).unwrap());
        assert!(
            gaussian.variance(20).overlaps(&named.0.variance(30))
                && gaussian.mass(3, 20).overlaps(&named.0.mass(3, 30))
        );
        assert!(
            laplace.variance(20).overlaps(&named.1.variance(30)) && laplace.mass(3, 20).overlaps(&named.1.mass(3, 30))
        );
        let continuous = Distribution::of(&Law::Gaussian { sigma2 }).unwrap_err().to_string();
        assert!(continuous.contains("continuous Gaussian of variance 7/3"), "{continuous}");
    }
}
