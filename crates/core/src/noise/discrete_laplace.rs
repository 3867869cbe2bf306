//! The discrete Laplace (two-sided geometric) distribution on the integers (Ghosh, Roughgarden & Sundararajan 2009;
//! Canonne, Kamath & Steinke 2020, Definition 4), in closed form.

use rug::Rational;

use super::{
    discrete_gaussian::GUARD,
    quantile::{depth_approx, quantile},
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, precision, rational},
};

/// The distribution with mass proportional to p^|x| at every integer x, where p = exp(-epsilon).
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{noise::DiscreteLaplace, numeric::rational::parse};
/// let noise = DiscreteLaplace::new(parse("1")?)?;
/// // (1 - p) / (1 + p) = tanh(1/2)
/// assert!((noise.mass(0, 15).approximate() - 0.46211715726).abs() < 1e-11);
/// assert_eq!(noise.quantile(&parse("0.975")?)?, 3);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    epsilon: Rational,
}

/// epsilon is accepted from 10^-9 to 10^6.
fn check_epsilon(epsilon: &Rational) -> Result<()> {
    if *epsilon < Rational::from((1, 1_000_000_000)) || *epsilon > 1_000_000 {
        let expected = "a parameter above 0, from 1e-9 to 1e6";
        return Err(Error::out_of_range("epsilon of the discrete Laplace", rational::display(epsilon), expected));
    }
    Ok(())
}

impl DiscreteLaplace {
    /// The distribution of parameter epsilon, the privacy loss of a change by one; from 10^-9 to 10^6.
    pub fn new(epsilon: Rational) -> Result<Self> {
        check_epsilon(&epsilon)?;
        Ok(DiscreteLaplace { epsilon })
    }

    /// The parameter.
    pub fn epsilon(&self) -> &Rational {
        &self.epsilon
    }

    /// p^n = exp(-epsilon n), with additional bits, as many as the integer part of the exponent has.
    fn power(&self, n: u64, bits: u32) -> Enclosure {
        let exponent = -Rational::from(&self.epsilon * n);
        let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
        Enclosure::rational(&exponent, bits + size).exp()
    }

    /// 1 - p, to a relative width of about 2^-bits.
    fn gap(&self, bits: u32) -> Enclosure {
        // expm1 keeps its relative precision for small epsilon, and for large epsilon 1 - p is close to 1.
        Enclosure::rational(&Rational::from(-&self.epsilon), bits).exp_m1().negate()
    }

    /// 1 + p.
    fn sum(&self, bits: u32) -> Enclosure {
        self.power(1, bits).add(&Enclosure::double(1.0, bits))
    }

    /// `P[X = x]` = p^|x| (1 - p) / (1 + p), to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        self.power(x.unsigned_abs(), bits).mul(&self.gap(bits)).div(&self.sum(bits))
    }

    /// `P[X <= x]`, to a relative width of 10^-digits, far into the lower tail.
    pub fn cdf(&self, x: i64, digits: u32) -> Enclosure {
        // X and -X have one law.
        self.upper_tail(-i128::from(x), digits)
    }

    /// `P[X >= x]`, to a relative width of 10^-digits, far into the upper tail.
    pub fn survival(&self, x: i64, digits: u32) -> Enclosure {
        self.upper_tail(i128::from(x), digits)
    }

    /// p^x / (1 + p) for x >= 0, by the sum of a geometric series, and 1 - p^(1 - x) / (1 + p) otherwise, where the
    /// subtracted number is at most 1/2, so that no digits cancel.
    fn upper_tail(&self, x: i128, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        let beyond = |n: i128| self.power(n as u64, bits).div(&self.sum(bits));
        if x >= 0 { beyond(x) } else { Enclosure::double(1.0, bits).sub(&beyond(1 - x)) }
    }

    /// The smallest integer x with `P[X <= x]` >= p, proven: for the next smaller value it is below p. For 0 < p < 1.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        // P[X >= t] <= exp(-epsilon t) bounds the answer on both sides.
        let reach = (depth_approx(p) / self.epsilon.to_f64() * 1.001).ceil() + 2.0;
        quantile(p, reach, |x, digits| Ok(self.survival(x, digits)))
    }

    /// `E[X] = 0`, exactly, by symmetry.
    pub fn mean(&self) -> Rational {
        Rational::new()
    }

    /// `Var[X]` = 2 p / (1 - p)^2, to a relative width of 10^-digits.
    pub fn variance(&self, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        let gap = self.gap(bits);
        self.power(1, bits).mul(&Enclosure::double(2.0, bits)).div(&gap.mul(&gap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn laplace(epsilon: &str) -> DiscreteLaplace {
        DiscreteLaplace::new(parse(epsilon).unwrap()).unwrap()
    }

    #[test]
    fn masses_sum_to_the_tails_and_to_the_variance() {
        for epsilon in ["0.1", "1", "7/3", "40"] {
            let noise = laplace(epsilon);
            let zero = || Enclosure::double(0.0, 150);
            let (mut sum, mut square) = (zero(), zero());
            for x in -1200..=1200_i64 {
                let mass = noise.mass(x, 40);
                sum = sum.add(&mass);
                square = square.add(&mass.mul(&Enclosure::double((x * x) as f64, 150)));
                if x.abs() < 40 {
                    let cdf = noise.cdf(x, 30);
                    // The truncated mass is below exp(-120).
                    assert!((cdf.div(&sum).approximate() - 1.0).abs() < 1e-14, "{epsilon} {x}");
                    assert!(cdf.is_tight(30) && cdf.upper() >= sum.lower());
                    let both = cdf.add(&noise.survival(x + 1, 30));
                    assert!(both.contains(&Rational::from(1)));
                }
            }
            let variance = noise.variance(20);
            assert!(variance.is_tight(20), "{epsilon}");
            assert!((variance.approximate() / square.approximate() - 1.0).abs() < 1e-14, "{epsilon}");
        }
    }

    #[test]
    fn quantiles_are_the_smallest_that_reach() {
        for epsilon in ["1e-9", "0.3", "5", "1000"] {
            let noise = laplace(epsilon);
            for p in ["1e-30", "0.025", "0.3", "0.5", "0.975", "0.9999"] {
                let p = parse(p).unwrap();
                let x = noise.quantile(&p).unwrap();
                assert!(*noise.cdf(x, 25).upper() >= p && *noise.cdf(x - 1, 25).lower() < p, "{epsilon} {p}");
            }
        }
        assert!(laplace("1").quantile(&parse("1").unwrap()).is_err());
    }

    #[test]
    fn epsilon_out_of_range_is_refused() {
        for epsilon in ["0", "-1", "1e-10", "1e7"] {
            let message = DiscreteLaplace::new(parse(epsilon).unwrap()).unwrap_err().to_string();
            assert!(message.contains("epsilon"), "{message}");
        }
    }
}
