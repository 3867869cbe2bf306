//! The discrete Gaussian N_Z(0, sigma2) on the integers (Canonne, Kamath & Steinke, Definition 1; Su, Su & Wang,
//! Section 2).

use rug::{Integer, Rational};

use super::quantile::{depth_approx, quantile};
use crate::{
    error::Result,
    loss::{
        law::{Group, Law},
        parameter::Sigma2,
        sum::LossSum,
        theta,
    },
    numeric::{Enclosure, precision},
};

/// Bits of precision in addition to the requested digits.
pub(super) const GUARD: u32 = 24;

/// The distribution with mass exp(-x^2 / (2 sigma2)) / sum over i of exp(-i^2 / (2 sigma2)) at every integer x.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{noise::DiscreteGaussian, numeric::rational::parse};
/// let noise = DiscreteGaussian::new(parse("5")?)?;
/// let mass = noise.mass(0, 15);
/// assert!((mass.approximate() - 0.178412411615277).abs() < 1e-12);
/// assert_eq!(noise.quantile(&parse("0.975")?)?, 4);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    sigma2: Rational,
    /// rho + X / sigma2: the tails of X are tails of this sum.
    sum: LossSum,
}

impl DiscreteGaussian {
    /// The distribution of variance proxy sigma2, from 10^-6 to 10^18.
    pub fn new(sigma2: Rational) -> Result<Self> {
        Sigma2::try_from(&sigma2)?;
        let sum = LossSum::new([Group { law: Law::DiscreteGaussian { sigma2: sigma2.clone() }, shift: 1, copies: 1 }])?;
        Ok(DiscreteGaussian { sigma2, sum })
    }

    /// The variance proxy.
    pub fn sigma2(&self) -> &Rational {
        &self.sigma2
    }

    /// P[X = x], to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        // exp turns the relative rounding error of the exponent into an absolute one, so the exponent gets additional bits, as many
        // as its integer part has.
        let exponent = -Rational::from(x).square() / Rational::from(&self.sigma2 * 2_u32);
        let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
        let bits = precision::bits(digits, GUARD);
        Enclosure::rational(&exponent, bits + size).exp().div(&theta::gaussian_sum(&self.sigma2, bits))
    }

    /// P[X <= x], to a relative width of 10^-digits, far into the lower tail.
    pub fn cdf(&self, x: i64, digits: u32) -> Result<Enclosure> {
        // X and -X have one law: P[X <= x] = P[X >= -x].
        self.upper_tail(-Integer::from(x), digits)
    }

    /// P[X >= x], to a relative width of 10^-digits, far into the upper tail.
    pub fn survival(&self, x: i64, digits: u32) -> Result<Enclosure> {
        self.upper_tail(Integer::from(x), digits)
    }

    fn upper_tail(&self, x: Integer, digits: u32) -> Result<Enclosure> {
        // P[X >= x] = P[L >= rho + x / sigma2] for L = rho + X / sigma2, exactly on the lattice.
        let z = Rational::from(x) / &self.sigma2 + self.sum.rho();
        Ok(self.sum.evaluator().upper_tail(&z, digits)?.value)
    }

    /// The smallest integer x with P[X <= x] >= p, proven: for the next smaller value it is below p. For 0 < p < 1.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        // P[X >= t] <= exp(-t^2 / (2 sigma2)) bounds the answer on both sides.
        let reach = ((2.0 * self.sigma2.to_f64() * depth_approx(p)).sqrt() * 1.001).ceil() + 2.0;
        quantile(p, reach, |x, digits| self.survival(x, digits))
    }

    /// `E[X] = 0`, exactly, by symmetry (Proposition A.5 for integer centers).
    pub fn mean(&self) -> Rational {
        Rational::new()
    }

    /// `Var[X]`, to a relative width of 10^-digits.
    pub fn variance(&self, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        if self.sigma2 < Rational::from((1, 2)) {
            // 2 sum over x >= 1 of x^2 exp(-x^2 / (2 sigma2)) / theta: nothing is subtracted, so no digits cancel.
            let a = Enclosure::rational(&(Rational::from(1) / Rational::from(&self.sigma2 * 2_u32)), bits + 64);
            let moment = theta::weighted_theta(&a, bits, |x| x * x).mul(&Enclosure::double(2.0, bits));
            return moment.div(&theta::theta3(&a, bits));
        }
        // The deficit is below sigma2, so the widths only add up.
        Enclosure::rational(&self.sigma2, bits).sub(&self.variance_deficit(digits))
    }

    /// `sigma2 - Var[X] > 0`, to a relative width of 10^-digits however small it is, for sigma2 >= 1/(2 pi^2).
    ///
    /// With q = exp(-2 pi^2 sigma2), the second derivative of ln theta at zero gives
    /// `sigma2 - Var[X]` = 8 pi^2 sigma2^2 (sum over k >= 1 of k^2 q^(k^2)) / theta_3(0, q): Fact A.3 of Su, Su & Wang
    /// bounds it.
    pub fn variance_deficit(&self, digits: u32) -> Enclosure {
        // The exponent 2 pi^2 sigma2 loses as many bits as its integer part has.
        let size = libm::log2(20.0 * self.sigma2.to_f64()).max(0.0) as u32;
        let bits = precision::bits(digits, GUARD) + size;
        let pi = Enclosure::pi(bits);
        let pi2 = pi.mul(&pi);
        let a = pi2.mul(&Enclosure::rational(&Rational::from(&self.sigma2 * 2_u32), bits));
        let scale = pi2.mul(&Enclosure::rational(&(Rational::from(self.sigma2.square_ref()) * 8_u32), bits));
        scale.mul(&theta::weighted_theta(&a, bits, |k| k * k)).div(&theta::theta3(&a, bits))
    }

    /// Encloses ln E[exp(u X)] for a real u, about 10^-digits wide in absolute terms.
    pub fn ln_mgf(&self, u: &Rational, digits: u32) -> Enclosure {
        // ln E[exp(x L)] = x rho + ln E[exp((x / sigma2) X)].
        let x = Rational::from(u * &self.sigma2);
        let shift = Enclosure::rational(&Rational::from(&x * self.sum.rho()), precision::bits(digits, GUARD) + 64);
        self.sum.ln_mgf(&x, precision::bits(digits, GUARD)).sub(&shift)
    }

    /// Encloses E[exp(u X)] for a real u.
    pub fn mgf(&self, u: &Rational, digits: u32) -> Enclosure {
        self.ln_mgf(u, digits).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::number;

    fn gaussian(sigma2: &str) -> DiscreteGaussian {
        DiscreteGaussian::new(number(sigma2)).unwrap()
    }

    #[test]
    fn masses_sum_to_one_and_to_the_tails() {
        for sigma2 in ["0.001", "0.2", "0.31", "1", "5", "456.62"] {
            let noise = gaussian(sigma2);
            let reach = (45.0 * number(sigma2).to_f64().sqrt()) as i64 + 2;
            let mut sum = Enclosure::double(0.0, 150);
            for x in -reach..=reach {
                sum = sum.add(&noise.mass(x, 40));
                if x % 7 == 0 && x.abs() < reach / 6 {
                    let cdf = noise.cdf(x, 30).unwrap();
                    assert!(cdf.overlaps(&sum) && cdf.is_tight(30), "{sigma2} {x}");
                }
            }
            assert!((sum.approximate() - 1.0).abs() < 1e-15);
            assert!(*sum.lower() <= 1, "{sigma2}");
        }
    }

    #[test]
    fn tails_far_out_keep_their_digits() {
        let noise = gaussian("5");
        let far = noise.survival(100, 20).unwrap();
        // The first masses of the tail: later ones are below exp(-(201)/10) of the first each.
        let head = (100..130).fold(Enclosure::double(0.0, 120), |sum, x| sum.add(&noise.mass(x, 30)));
        assert!(far.is_tight(20) && far.upper() >= head.lower());
        assert!((far.div(&head).approximate() - 1.0).abs() < 1e-12);
        assert!(noise.survival(-100, 20).unwrap().at_most(&Rational::from(1)) == crate::numeric::Certainty::Yes);
    }

    #[test]
    fn quantiles_are_the_smallest_that_reach() {
        for sigma2 in ["0.05", "5", "456.62", "1e12"] {
            let noise = gaussian(sigma2);
            for p in ["1e-30", "0.025", "0.3", "0.5", "0.975", "0.9999"] {
                let p = number(p);
                let x = noise.quantile(&p).unwrap();
                assert!(*noise.cdf(x, 25).unwrap().upper() >= p, "{sigma2} {p}");
                assert!(*noise.cdf(x - 1, 25).unwrap().lower() < p, "{sigma2} {p}");
            }
        }
        assert_eq!(gaussian("1e18").quantile(&number("0.5")).unwrap(), 0);
        assert!(gaussian("5").quantile(&number("1")).is_err());
    }

    /// Fact A.3 of Su, Su & Wang at the ends of its ranges, and both formulas of the variance against each other.
    #[test]
    fn the_variance_is_just_below_sigma2() {
        for (sigma2, bound) in [("4.25", "5.8e-34"), ("5.0000001", "2.8e-40"), ("10.0000001", "1.5e-82")] {
            let deficit = gaussian(sigma2).variance_deficit(15);
            assert!(deficit.is_tight(15) && *deficit.lower() > 0 && *deficit.upper() < number(bound), "{sigma2}");
            assert!(*deficit.lower() > number(bound) / 2_u32, "the published bound is not far off at {sigma2}");
        }
        for sigma2 in ["0.3", "0.49", "0.51", "1"] {
            let noise = gaussian(sigma2);
            let direct = (1..60).fold(Enclosure::double(0.0, 150), |sum, x| {
                sum.add(&noise.mass(x, 35).mul(&Enclosure::double((2 * x * x) as f64, 150)))
            });
            let variance = noise.variance(20);
            assert!(
                variance.is_tight(20) && variance.overlaps(&direct)
                    || (variance.approximate() - direct.approximate()).abs() < 1e-15
            );
        }
        assert_eq!(gaussian("5").mean(), 0);
    }

    #[test]
    fn the_moment_generating_function_agrees_with_its_sum() {
        for sigma2 in ["0.01", "0.29", "0.31", "2", "50"] {
            let noise = gaussian(sigma2);
            for u in ["0", "0.3", "-1.7"] {
                let u = number(u);
                let reach = (60.0 * number(sigma2).to_f64().sqrt()) as i64 + 3;
                let sum = (-reach..=reach).fold(Enclosure::double(0.0, 150), |sum, x| {
                    let power = Enclosure::rational(&Rational::from(&u * x), 150).exp();
                    sum.add(&noise.mass(x, 35).mul(&power))
                });
                let mgf = noise.mgf(&u, 25);
                assert!(mgf.is_tight(20), "{sigma2} {u} {mgf:?}");
                assert!((mgf.approximate() / sum.approximate() - 1.0).abs() < 1e-14, "{sigma2} {u}");
                assert!(*mgf.upper() >= *sum.lower());
            }
        }
    }

    #[test]
    fn sigma2_out_of_range_is_refused() {
        for sigma2 in ["0", "-1", "1e-7", "1e19"] {
            let message = DiscreteGaussian::new(number(sigma2)).unwrap_err().to_string();
            assert!(message.contains("sigma2"), "{message}");
        }
    }
}
