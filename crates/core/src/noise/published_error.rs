//! The expected error of a count that is published with noise, unclamped or clamped at zero.
//!
//! A count y >= 0 is published as y + X, X of law N_Z(0, sigma2), or clamped as max(0, y + X). The expected squared and
//! absolute errors are sums over the masses, truncated with a bound from the sub-Gaussian tail.

use std::collections::BTreeMap;

use rug::Rational;

use super::DiscreteGaussian;
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, precision, rational},
};

/// Errors are summed over the masses up to this sigma2.
const MOST_SIGMA2: u32 = 100_000_000;

/// The expected errors of a published count.
#[derive(Clone, Debug)]
pub struct ExpectedErrors {
    /// `E[(published - y)^2]`.
    pub squared: Enclosure,
    /// `E|published - y|`.
    pub absolute: Enclosure,
}

/// The expected errors of max(0, y + X) for one noise and every true count y.
#[derive(Clone, Debug)]
pub struct ClampedErrors {
    /// For y = 0, 1, ...: `E[X^2; X >= -y] + y^2 P[X < -y]`, and the same with absolute values; constant beyond the last.
    errors: Vec<ExpectedErrors>,
}

/// The effect of one noise on a list of counts, on average over the list.
#[derive(Clone, Debug)]
pub struct ErrorsOfCounts {
    /// The errors of y + X.
    pub plain: ExpectedErrors,
    /// The errors of max(0, y + X).
    pub clamped: ExpectedErrors,
    /// `E[max(0, y + X)] - y`, which is at least 0; y + X has no bias.
    pub clamped_bias: Enclosure,
    /// The least m with `P[|X| <= m]` of at least 95 %.
    pub margin: i64,
    /// The same for max(0, y + X), if the list has a single count.
    pub clamped_margin: Option<i64>,
}

impl ErrorsOfCounts {
    /// The errors of true counts, each with its number of occurrences, to about 10^-digits of the errors without clamping; for
    /// sigma2 up to 1e8 and at least one count.
    pub fn new(noise: &DiscreteGaussian, counts: &BTreeMap<u64, u64>, digits: u32) -> Result<Self> {
        if *noise.sigma2() > MOST_SIGMA2 {
            let expected = "a variance proxy up to 1e8: errors are summed over the masses";
            return Err(Error::out_of_range("sigma2", rational::display(noise.sigma2()), expected));
        }
        let total: Rational = counts.values().fold(Rational::new(), |sum, times| sum + times);
        if total == 0 {
            return Err(Error::missing("the list of counts is empty: give at least one true count"));
        }
        let clamped = ClampedErrors::new(noise, digits + 3);
        let bits = precision::bits(digits, 64).max(200);
        let real = |value: u64| Enclosure::rational(&Rational::from(value), bits);
        let mean = |part: &dyn Fn(&ExpectedErrors) -> Enclosure| {
            let sum = (counts.iter()).fold(Enclosure::double(0.0, bits), |sum, (y, times)| {
                sum.add(&part(clamped.at(*y)).mul(&real(*times)))
            });
            sum.div(&Enclosure::rational(&total, bits))
        };
        let plain = clamped.unclamped();
        let squared = mean(&|errors| errors.squared.clone());
        let absolute = mean(&|errors| errors.absolute.clone());
        // E[max(0, y + X)] - y = E[X; X > 0] - E[min(|X|, y); X < 0], and the absolute error is their sum; without clamping both
        // are E|X| / 2. So the bias is the amount by which clamping reduces the absolute error, and it is at least 0.
        let clamped_bias = plain.absolute.sub(&absolute).clamp(0.0, f64::INFINITY);
        let margin = noise.quantile(&Rational::from((39, 40)))?;
        let single = counts.keys().next().filter(|_| total == 1);
        // |max(0, y + X) - y| <= m is |X| <= m for m < y, and X <= m from m = y on.
        let clamped_margin = single
            .map(|y| -> Result<i64> {
                let y = i64::try_from(*y).unwrap_or(i64::MAX);
                Ok(margin.min(y.max(noise.quantile(&Rational::from((19, 20)))?)))
            })
            .transpose()?;
        Ok(ErrorsOfCounts {
            plain,
            clamped: ExpectedErrors { squared, absolute },
            clamped_bias,
            margin,
            clamped_margin,
        })
    }
}

/// `E|X|` = 2 sum over x >= 1 of x `P[X = x]`, to a relative width of about 10^-digits.
pub fn absolute_error(noise: &DiscreteGaussian, digits: u32) -> Enclosure {
    ClampedErrors::new(noise, digits).unclamped().absolute
}

impl ClampedErrors {
    /// The errors of all counts under one noise, to about 10^-digits of the errors without clamping.
    pub fn new(noise: &DiscreteGaussian, digits: u32) -> Self {
        let bits = precision::bits(digits, 40);
        let number = |value: i64| Enclosure::rational(&Rational::from(value), bits);
        // exp(-Y^2 / (2 sigma2)) = 2^-(bits + 20)
        let sigma2 = noise.sigma2().to_f64();
        let reach = (2.0 * sigma2 * f64::from(bits + 20) * std::f64::consts::LN_2).sqrt().ceil() as i64 + 2;
        let masses: Vec<Enclosure> = (0..=reach).map(|x| noise.mass(x, digits + 8)).collect();
        // Beyond the reach Y, with P[X >= x] <= exp(-x^2 / (2 sigma2)) and summation by parts: sum over x > Y of x^2 P[X = x]
        // = (Y + 1)^2 P[X > Y] + sum over x > Y of (2 x + 1) P[X > x] <= ((Y + 1)^2 + 2 sigma2) exp(-Y^2 / (2 sigma2)),
        // since 2 u exp(-u^2 / (2 sigma2)) falls from sigma on; (Y + 1 + sigma2)^2 times 4 is more.
        let exponent = -Rational::from(reach).square() / Rational::from(noise.sigma2() * 2_u32);
        let size = Rational::from(noise.sigma2() + (reach + 1)).square() * 4_u32;
        let beyond = Enclosure::rational(&exponent, bits + 16).exp().mul(&Enclosure::rational(&size, bits));
        let rest = Enclosure::double(0.0, bits).hull(&beyond);
        // From the far end: P[X > y], E[X; X > y] and E[X^2; X > y], X symmetric.
        let mut tails = vec![[rest.clone(), rest.clone(), rest]];
        for x in (1..=reach).rev() {
            let mass = &masses[x as usize];
            let last = tails[tails.len() - 1].clone();
            let terms = [mass.clone(), mass.mul(&number(x)), mass.mul(&number(x * x))];
            tails.push([0, 1, 2].map(|k| last[k].add(&terms[k])));
        }
        tails.reverse();
        // tails[y] belongs to X > y; the half X > 0 is never clamped.
        let half = tails[0].clone();
        let errors = (0..=reach)
            .map(|y| {
                let tail = &tails[y as usize];
                let (count, square) = (number(y), number(y * y));
                // E[X^2; -y <= X < 0] + y^2 P[X < -y] is the half less its tail, plus y^2 times the tail's probability.
                let lower = |k: usize, at: &Enclosure| half[k].sub(&tail[k]).add(&at.mul(&tail[0]));
                ExpectedErrors { squared: half[2].add(&lower(2, &square)), absolute: half[1].add(&lower(1, &count)) }
            })
            .collect();
        ClampedErrors { errors }
    }

    /// The errors of max(0, y + X).
    pub fn at(&self, y: u64) -> &ExpectedErrors {
        // Beyond the last, the effect of clamping is smaller than the width of the enclosure.
        let last = self.errors.len() - 1;
        &self.errors[usize::try_from(y).map_or(last, |y| y.min(last))]
    }

    /// The errors of y + X.
    pub fn unclamped(&self) -> ExpectedErrors {
        self.errors[self.errors.len() - 1].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn errors_agree_with_enumeration() {
        for sigma2 in ["0.3", "5", "456.62"] {
            let noise = DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap();
            let clamped = ClampedErrors::new(&noise, 15);
            let reach = (14.0 * noise.sigma2().to_f64().sqrt()) as i64 + 4;
            let masses: Vec<f64> = (0..=reach).map(|x| noise.mass(x, 17).approximate()).collect();
            let mean = |error: &dyn Fn(i64) -> f64| -> f64 {
                (-reach..=reach).map(|x| masses[x.unsigned_abs() as usize] * error(x)).sum()
            };
            for y in [0_i64, 1, 2, 7, 30, 1000] {
                let published = |x: i64| ((y + x).max(0) - y) as f64;
                let (squared, absolute) = (mean(&|x| published(x).powi(2)), mean(&|x| published(x).abs()));
                let at = clamped.at(y as u64);
                assert!((at.squared.approximate() / squared - 1.0).abs() < 1e-12, "{sigma2} {y}");
                assert!((at.absolute.approximate() / absolute - 1.0).abs() < 1e-12, "{sigma2} {y}");
                assert!(at.squared.is_tight(14) && at.absolute.is_tight(14), "{sigma2} {y}");
            }
            assert!(clamped.unclamped().squared.overlaps(&noise.variance(15)), "{sigma2}");
        }
    }

    #[test]
    fn errors_of_a_list_are_the_means_of_those_of_its_counts() {
        let noise = DiscreteGaussian::new(parse("9").unwrap()).unwrap();
        let of = |counts: &[(u64, u64)]| ErrorsOfCounts::new(&noise, &counts.iter().copied().collect(), 12);
        let (zero, three, both) = (of(&[(0, 1)]).unwrap(), of(&[(3, 1)]).unwrap(), of(&[(0, 1), (3, 2)]).unwrap());
        let mean = (zero.clamped.squared.approximate() + 2.0 * three.clamped.squared.approximate()) / 3.0;
        assert!((both.clamped.squared.approximate() / mean - 1.0).abs() < 1e-12);
        // A count of zero can only be published as zero or more: half of the absolute error remains, as bias.
        assert!(zero.clamped_bias.overlaps(&zero.clamped.absolute));
        assert_eq!((zero.margin, zero.clamped_margin, both.clamped_margin), (6, Some(5), None));
        assert!(of(&[]).is_err() && of(&[(4, 0)]).is_err());
        let wide = DiscreteGaussian::new(parse("1e9").unwrap()).unwrap();
        assert!(ErrorsOfCounts::new(&wide, &BTreeMap::from([(0, 1)]), 12).is_err());
    }

    #[test]
    fn clamping_at_zero_never_increases_the_squared_error() {
        let clamped = ClampedErrors::new(&DiscreteGaussian::new(parse("9").unwrap()).unwrap(), 20);
        let plain = clamped.unclamped();
        for y in 0..30 {
            assert!(clamped.at(y).squared.lower() <= plain.squared.upper());
            assert!(clamped.at(y).squared.lower() <= clamped.at(y + 1).squared.upper());
        }
        // For a true count of zero half of the squared error remains.
        let half = clamped.at(0).squared.mul(&Enclosure::double(2.0, 100));
        assert!(half.overlaps(&plain.squared));
    }
}
