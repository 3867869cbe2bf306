//! The distribution of noise on the integers, for every law.

use rug::Rational;

use super::{BoundedNoise, DiscreteGaussian, DiscreteLaplace, StaircaseNoise};
use crate::{
    error::{Error, Result},
    law::{Law, Shape},
    numeric::Enclosure,
};

/// Masses, tails, quantiles and moments of noise on the integers.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// The exponent is quadratic.
    Gaussian(DiscreteGaussian),
    /// The exponent is linear.
    Laplace(DiscreteLaplace),
    /// The masses are those of stairs.
    Staircase(StaircaseNoise),
    /// It is on finitely many integers.
    Bounded(BoundedNoise),
}

impl Distribution {
    /// That of a law; an error for noise on the real line, for mechanisms that do not add noise, and for a parameter out of the range of the samplers.
    pub fn of_law(law: &Law) -> Result<Self> {
        Ok(match law.shape()? {
            Shape::Exponential { exponent, bound: Some(bound) } => {
                Distribution::Bounded(BoundedNoise::truncated(exponent, bound))
            }
            Shape::Exponential { exponent, bound: None } if exponent.curvature > 0 => {
                Distribution::Gaussian(DiscreteGaussian::new(exponent.curvature.recip())?)
            }
            Shape::Exponential { exponent, bound: None } => {
                Distribution::Laplace(DiscreteLaplace::new(exponent.slope)?)
            }
            Shape::Staircase { epsilon, period, first } => {
                Distribution::Staircase(StaircaseNoise::new(epsilon, period, first))
            }
            Shape::Listed(rows) => Distribution::Bounded(BoundedNoise::listed(rows)),
            Shape::Response { .. } => {
                return Err(Error::unsuitable(format!("{law} gives answers and adds no noise to counts")));
            }
        })
    }

    /// `P[X = x]`, to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        match self {
            Distribution::Gaussian(noise) => noise.mass(x, digits),
            Distribution::Laplace(noise) => noise.mass(x, digits),
            Distribution::Staircase(noise) => noise.mass(x, digits),
            Distribution::Bounded(noise) => noise.mass(x, digits),
        }
    }

    /// `P[X <= x]`, to a relative width of 10^-digits.
    pub fn cdf(&self, x: i64, digits: u32) -> Result<Enclosure> {
        match self {
            Distribution::Gaussian(noise) => noise.cdf(x, digits),
            Distribution::Laplace(noise) => Ok(noise.cdf(x, digits)),
            Distribution::Staircase(noise) => Ok(noise.cdf(x, digits)),
            Distribution::Bounded(noise) => Ok(noise.cdf(x, digits)),
        }
    }

    /// `P[X >= x]`, to a relative width of 10^-digits.
    pub fn survival(&self, x: i64, digits: u32) -> Result<Enclosure> {
        match self {
            Distribution::Gaussian(noise) => noise.survival(x, digits),
            Distribution::Laplace(noise) => Ok(noise.survival(x, digits)),
            Distribution::Staircase(noise) => Ok(noise.survival(x, digits)),
            Distribution::Bounded(noise) => Ok(noise.survival(x, digits)),
        }
    }

    /// The smallest integer x with P[X <= x] >= p, proven. For 0 < p < 1.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        match self {
            Distribution::Gaussian(noise) => noise.quantile(p),
            Distribution::Laplace(noise) => noise.quantile(p),
            Distribution::Staircase(noise) => noise.quantile(p),
            Distribution::Bounded(noise) => noise.quantile(p),
        }
    }

    /// `E[X]`, exactly: zero unless a table is not symmetric about zero.
    pub fn mean(&self) -> Rational {
        match self {
            Distribution::Gaussian(noise) => noise.mean(),
            Distribution::Laplace(noise) => noise.mean(),
            Distribution::Staircase(_) => Rational::new(),
            Distribution::Bounded(noise) => noise.mean(),
        }
    }

    /// `Var[X]`, to a relative width of 10^-digits.
    pub fn variance(&self, digits: u32) -> Enclosure {
        match self {
            Distribution::Gaussian(noise) => noise.variance(digits),
            Distribution::Laplace(noise) => noise.variance(digits),
            Distribution::Staircase(noise) => noise.variance(digits),
            Distribution::Bounded(noise) => noise.variance(digits),
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
        let gaussian = Distribution::of_law(&Law::DiscreteGaussian { sigma2: sigma2.clone() }).unwrap();
        let laplace = Distribution::of_law(&Law::DiscreteLaplace { epsilon: epsilon.clone() }).unwrap();
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
        let continuous = Distribution::of_law(&Law::Gaussian { sigma2 }).unwrap_err().to_string();
        assert!(continuous.contains("continuous Gaussian of variance 7/3"), "{continuous}");
    }
}
